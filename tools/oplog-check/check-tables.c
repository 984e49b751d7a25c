/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check-tables.c - tables of the drive's size, which take memory in proportion
 * to what the log touches: logical units in chunks.
 *
 * A TRIM of a whole chunk that nothing has touched is one number.
 */
#include "check.h"

#include <stdlib.h>
#include <sys/mman.h>

void *take_table(uint64_t n, size_t bytes)
{
    void *p = MAP_FAILED;

    if (n < SIZE_MAX / bytes) {
        p = mmap(NULL, (n ? n : 1) * bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (p == MAP_FAILED) {
        unreadable("not enough memory for a drive of this size");
    }
    return p;
}

static uint64_t all_units(void)
{
    return k.h.user_units + k.h.meta_units;
}

/* The first unit behind the chunk. */
static uint64_t chunk_end(uint64_t chunk)
{
    uint64_t end = (chunk + 1) * CHUNK_UNITS;

    return end < all_units() ? end : all_units();
}

static void touch(uint64_t chunk)
{
    Chunk *c = &k.chunk[chunk];

    c->touched = true;
    if (k.n_touched == k.max_touched) {
        k.max_touched = k.max_touched ? 2 * k.max_touched : 1024;
        k.touched = realloc(k.touched, k.max_touched * sizeof(*k.touched));
        if (!k.touched) {
            unreadable("not enough memory");
        }
    }
    k.touched[k.n_touched++] = chunk;
    if (!c->trim_no) {
        return;
    }
    for (uint64_t u = chunk * CHUNK_UNITS; u < chunk_end(chunk); u++) {
        k.lpn[u].dropped = true;
        k.lpn[u].trim_no = c->trim_no;
    }
}

Lpn *unit_at(uint64_t lpn)
{
    if (!k.chunk[lpn / CHUNK_UNITS].touched) {
        touch(lpn / CHUNK_UNITS);
    }
    return &k.lpn[lpn];
}

static void trim_unit(Lpn *l)
{
    k.trimmed += l->placed != l->gen;
    l->placed = l->gen;
    l->clean = l->gen;
    l->dropped = true;
    l->trim_no = k.no;
    map_set(l, 0);
}

/* Is the unit the first of a chunk that ends at end or before, and of which
 * nothing was touched? */
static bool is_new_chunk(uint64_t u, uint64_t end)
{
    uint64_t chunk = u / CHUNK_UNITS;

    return u % CHUNK_UNITS == 0 && !k.chunk[chunk].touched &&
           chunk_end(chunk) <= end;
}

void trim_units(uint64_t first, uint64_t last)
{
    uint64_t u = first;

    while (u <= last) {
        if (is_new_chunk(u, last + 1)) {
            k.chunk[u / CHUNK_UNITS].trim_no = k.no;
            u = chunk_end(u / CHUNK_UNITS);
        } else {
            trim_unit(lpn_of(u++));
        }
    }
}

bool all_trimmed(uint64_t first, uint64_t end, uint64_t no, uint64_t *missing)
{
    uint64_t u = first;

    while (u < end) {
        bool as_new = is_new_chunk(u, end);

        *missing = u;
        if ((as_new ? k.chunk[u / CHUNK_UNITS].trim_no : unit_at(u)->trim_no) <=
            no) {
            return false;
        }
        u = as_new ? chunk_end(u / CHUNK_UNITS) : u + 1;
    }
    return true;
}

void each_touched(void (*fn)(Lpn *l))
{
    for (uint64_t i = 0; i < k.n_touched; i++) {
        uint64_t chunk = k.touched[i];

        for (uint64_t u = chunk * CHUNK_UNITS; u < chunk_end(chunk); u++) {
            fn(&k.lpn[u]);
        }
    }
}
