/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * remap.c - where the parts of several address spaces go.
 *
 * Compaction keeps one bit for each chunk, in regions of 256; regions that are
 * not touched cost nothing.
 */
#include "remap.h"

#include "bitmap.h"

#include <glib.h>

#define REGION_CHUNKS 256
#define REGION_WORDS  (REGION_CHUNKS / BITMAP_WORD)

/* Whole spaces begin at multiples of this. */
#define ALIGN_BYTES (1U << 20)

#define MAX_BYTES (1ULL << 62)

typedef struct Region {
    uint64_t index; /* in its space */
    uint32_t space;
    uint64_t before; /* chunks of all regions before this one */
    uint64_t touched[REGION_WORDS];
} Region;

struct Remap {
    uint32_t chunk_bytes;
    GHashTable *regions; /* set of Region *, until closed */
    Region **sorted;
    size_t n_regions;
    const Region *last; /* the one found last: adjacent addresses are common */
    uint64_t total_bytes;

    GArray *end; /* by space, uint64_t: its extent; then where it begins */
};

static guint region_hash(gconstpointer p)
{
    const Region *r = p;
    uint64_t h = (r->index * 0x9e3779b97f4a7c15ULL) ^
                 ((uint64_t)r->space * 0xc2b2ae3d27d4eb4fULL);

    return (guint)(h >> 32);
}

static gboolean region_equal(gconstpointer a, gconstpointer b)
{
    const Region *x = a;
    const Region *y = b;

    return x->index == y->index && x->space == y->space;
}

static int region_order(const void *a, const void *b)
{
    const Region *x = *(Region *const *)a;
    const Region *y = *(Region *const *)b;

    if (x->space != y->space) {
        return x->space < y->space ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

Remap *remap_new(uint32_t chunk_bytes)
{
    Remap *r = g_new0(Remap, 1);

    r->chunk_bytes = chunk_bytes;
    r->regions =
        g_hash_table_new_full(region_hash, region_equal, g_free, NULL);
    r->end = g_array_new(FALSE, TRUE, sizeof(uint64_t));
    return r;
}

void remap_free(Remap *r)
{
    if (r) {
        g_hash_table_destroy(r->regions);
        g_array_free(r->end, TRUE);
        g_free(r->sorted);
        g_free(r);
    }
}

static Region *region_get(Remap *r, uint32_t space, uint64_t index)
{
    Region key = {.index = index, .space = space};
    Region *found = g_hash_table_lookup(r->regions, &key);

    if (!found) {
        found = g_memdup2(&key, sizeof(key));
        g_hash_table_add(r->regions, found);
    }
    return found;
}

void remap_note(Remap *r, uint32_t space, uint64_t offset, uint64_t nbytes)
{
    if (!r->chunk_bytes) {
        uint64_t *end;

        if (space >= r->end->len) {
            g_array_set_size(r->end, space + 1);
        }
        end = &g_array_index(r->end, uint64_t, space);
        *end = MAX(*end, offset + nbytes);
        return;
    }
    if (nbytes == 0) {
        return;
    }
    for (uint64_t c = offset / r->chunk_bytes;
         c <= (offset + nbytes - 1) / r->chunk_bytes; c++) {
        Region *region = region_get(r, space, c / REGION_CHUNKS);
        unsigned bit = c % REGION_CHUNKS;

        bitmap_set(region->touched, bit);
    }
}

static void close_spaces(Remap *r)
{
    uint64_t at = 0;

    for (unsigned i = 0; i < r->end->len; i++) {
        uint64_t *end = &g_array_index(r->end, uint64_t, i);
        uint64_t size = *end;

        *end = at;
        at = MIN(at + size, MAX_BYTES); /* no drive is that large anyway */
        r->total_bytes = at;
        at += (ALIGN_BYTES - at % ALIGN_BYTES) % ALIGN_BYTES;
    }
}

static uint64_t count_bits(const Region *region, unsigned below)
{
    uint64_t n = 0;

    for (unsigned w = 0; w < below / 64; w++) {
        n += (unsigned)__builtin_popcountll(region->touched[w]);
    }
    if (below % 64) {
        n += (unsigned)__builtin_popcountll(region->touched[below / 64] &
                                            ((1ULL << (below % 64)) - 1));
    }
    return n;
}

void remap_close(Remap *r)
{
    guint n;
    uint64_t before = 0;

    if (!r->chunk_bytes) {
        close_spaces(r);
        return;
    }
    r->sorted = (Region **)g_hash_table_get_keys_as_array(r->regions, &n);
    r->n_regions = n;
    qsort(r->sorted, n, sizeof(*r->sorted), region_order);
    for (size_t i = 0; i < n; i++) {
        r->sorted[i]->before = before;
        before += count_bits(r->sorted[i], REGION_CHUNKS);
    }
    r->total_bytes = before * r->chunk_bytes;
}

uint64_t remap_offset(Remap *r, uint32_t space, uint64_t offset)
{
    Region key = {.space = space};
    uint64_t chunk;

    if (!r->chunk_bytes) {
        return g_array_index(r->end, uint64_t, space) + offset;
    }
    chunk = offset / r->chunk_bytes;
    key.index = chunk / REGION_CHUNKS;
    if (!r->last || !region_equal(r->last, &key)) {
        r->last = g_hash_table_lookup(r->regions, &key);
        g_assert(r->last);
    }
    return (r->last->before + count_bits(r->last, chunk % REGION_CHUNKS)) *
               r->chunk_bytes +
           offset % r->chunk_bytes;
}

uint64_t remap_bytes(const Remap *r)
{
    return r->total_bytes;
}
