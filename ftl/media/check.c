/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check.c - the members of media/ (Component.check).
 */
#include "bitmap.h"
#include "check.h"
#include "media/aside.h"
#include "media/life.h"
#include "media/media.h"
#include "media/parity.h"
#include "media/plain.h"
#include "media/slc-cache.h"
#include "media/spare.h"
#include "media/superblock.h"

/* ---- spare areas --------------------------------------------------------- */

static bool spare_ok(const Ssd *ssd, uint64_t ppu)
{
    const NumTable *t = &ssd->media->spare_lpn;
    uint64_t spare = numtable_get(t, ppu) & t->mask;

    return spare <= ssd->l.user_units ||
           spare - ssd->l.user_units <=
               (saved_has_block(ssd, ppu_block(ssd, ppu)) ? ssd->l.n_saved
                                                          : ssd->l.meta_units);
}

/* ---- blocks -------------------------------------------------------------- */

/* Valid units of the block's from..end - 1. */
static uint32_t count_units(const Ssd *ssd, uint32_t b, uint32_t from,
                            uint32_t end)
{
    const Preloaded *p = &ssd->preloaded;
    uint64_t first = block_ppu(ssd, b);
    uint32_t filled = p->on ? MIN(MAX(p->filled[b], from), end) : from;

    return filled - from +
           (uint32_t)bitmap_count(ssd->media->valid, first + filled,
                                  first + end) -
           (uint32_t)bitmap_count(ssd->media->valid, first + from,
                                  first + filled);
}

static bool check_units(const Ssd *ssd, uint32_t b, GError **error)
{
    const Block *block = &ssd->media->block[b];
    uint32_t n = ssd->l.units_per_block;
    uint32_t written = nand_next_page(ssd->nand, b) * ssd->l.units_per_page;
    /* Of one that is blank, map/ finds a unit that is valid. */
    uint32_t valid = written > 0 ? count_units(ssd, b, 0, n) : 0;

    CHECK(written == 0 || count_units(ssd, b, written, n) == 0,
          "block %u: a unit is valid, not written", b);
    CHECK(valid == block->valid, "block %u: %u valid, counted %u", b, valid,
          block->valid);
    CHECK(valid == 0 ||
              (block->state != BLOCK_FREE && block->state != BLOCK_ERASING &&
               block->state != BLOCK_BAD),
          "block %u: free, bad or being erased, with %u valid units", b, valid);
    return true;
}

static bool check_block(const Ssd *ssd, uint32_t b, bool at_rest,
                        GError **error)
{
    const Block *block = &ssd->media->block[b];

    CHECK(!at_rest ||
              (block->state != BLOCK_CLOSING &&
               (block->state != BLOCK_ERASING || !ssd->powered) &&
               (block->state == BLOCK_ERASING || block->state == BLOCK_LOST ||
                block->state == BLOCK_VICTIM || block->pending == 0)),
          "block %u: work in state %u, %u pages pending", b, block->state,
          block->pending);
    CHECK(block->state != BLOCK_FREE || nand_next_page(ssd->nand, b) == 0,
          "block %u: free, and written", b);
    CHECK(!slc_is_dynamic(ssd, b) ||
              (block->state != BLOCK_FREE && block->state != BLOCK_SAVED &&
               block->state != BLOCK_MAPPED),
          "block %u: in SLC mode, in state %u", b, block->state);
    return check_units(ssd, b, error);
}

/* ---- lists of blocks ----------------------------------------------------- */

/* What the states of a plane's blocks say. */
typedef struct PlaneSums {
    uint32_t in_state[N_BLOCK_STATES];
    uint32_t full_slc; /* FULL, in SLC mode */
    uint32_t retiring, folding, slc;
    uint64_t valid;
} PlaneSums;

static void count_block(const Ssd *ssd, uint32_t b, PlaneSums *n)
{
    const Block *block = &ssd->media->block[b];
    BlockState state = block->state;

    n->in_state[state]++;
    n->valid += block->valid;
    n->full_slc += state == BLOCK_FULL && nand_block_is_slc(ssd->geo, b);
    n->retiring += state == BLOCK_FULL && block->bad;
    n->folding += state == BLOCK_VICTIM && nand_block_is_cache(ssd->geo, b);
    n->slc += slc_is_dynamic(ssd, b) && state != BLOCK_ERASING &&
              state != BLOCK_LOST && state != BLOCK_BAD;
}

/* n blocks from the head on, through next: FREE ones before the block end. */
static bool check_free_list(const Ssd *ssd, uint32_t plane, const IlistN *l,
                            uint32_t n, uint32_t end, GError **error)
{
    uint32_t last = NONE;
    uint32_t b = l->head;

    for (uint32_t k = 0; k < n; k++) {
        CHECK(in_plane(ssd, b, plane) && b < end &&
                  ssd->media->block[b].state == BLOCK_FREE &&
                  (k == 0 || ssd->media->block[b].prev == last),
              "plane %u: block %u in a list of free blocks", plane, b);
        last = b;
        b = ssd->media->block[b].next;
    }
    CHECK(n == 0 || last == l->tail,
          "plane %u: the end of a list of free blocks", plane);
    return true;
}

static bool check_free(const Ssd *ssd, uint32_t plane, const PlaneSums *sums,
                       GError **error)
{
    const Plane *p = &ssd->media->plane[plane];
    uint32_t first = plane * ssd->geo->blocks_per_plane;
    uint32_t end = first + ssd->geo->blocks_per_plane;
    uint32_t n = 0;

    CHECK(p->next_fresh >= first + ssd->geo->slc_blocks &&
              p->next_fresh <= end && p->n_fresh <= p->free.n &&
              (p->n_fresh == 0 ||
               (p->n_fresh < p->free.n && ssd->cfg->wear == SSD_WEAR_FIFO)),
          "plane %u: blocks never taken", plane);
    for (uint32_t b = p->next_fresh; b < end; b++) {
        bool is_free = ssd->media->block[b].state == BLOCK_FREE;

        CHECK(p->n_fresh == 0 || is_free || !block_is_good(ssd, b),
              "plane %u: block %u was never taken, and is not free", plane, b);
        n += is_free && block_is_good(ssd, b);
    }
    CHECK(n == p->n_fresh, "plane %u: %u blocks never taken, counted %u", plane,
          n, p->n_fresh);
    CHECK(p->free.n <= sums->in_state[BLOCK_FREE] &&
              p->free.n + p->slc_free.n == sums->in_state[BLOCK_FREE],
          "plane %u: %u and %u of %u free blocks listed", plane, p->free.n,
          p->slc_free.n, sums->in_state[BLOCK_FREE]);
    return check_free_list(ssd, plane, &p->free, p->free.n - p->n_fresh,
                           p->n_fresh > 0 ? p->next_fresh : end, error) &&
           check_free_list(ssd, plane, &p->slc_free, p->slc_free.n,
                           first + ssd->geo->slc_blocks, error);
}

static bool check_by_age(const Ssd *ssd, uint32_t plane, uint32_t n,
                         GError **error)
{
    const Plane *p = &ssd->media->plane[plane];
    uint32_t prev = NONE;
    uint32_t b = p->by_age.head;

    for (uint32_t k = 0; k < n; k++) {
        CHECK(in_plane(ssd, b, plane) &&
                  ssd->media->block[b].state == BLOCK_FULL &&
                  !nand_block_is_slc(ssd->geo, b) &&
                  ssd->media->block[b].older == prev,
              "plane %u: block %u in the list by age", plane, b);
        prev = b;
        b = ssd->media->block[b].newer;
    }
    CHECK(b == NONE && p->by_age.tail == prev,
          "plane %u: the end of the list by age", plane);
    return true;
}

static bool check_buckets(const Ssd *ssd, uint32_t plane, uint32_t n,
                          GError **error)
{
    const Plane *p = &ssd->media->plane[plane];
    uint32_t listed = 0;

    for (uint32_t v = 0; v <= ssd->l.units_per_block; v++) {
        uint32_t prev = NONE;

        for (uint32_t b = p->bucket[v]; b != NONE;
             b = ssd->media->block[b].next) {
            CHECK(in_plane(ssd, b, plane) && listed < n &&
                      ssd->media->block[b].state == BLOCK_FULL &&
                      ssd->media->block[b].valid == v &&
                      ssd->media->block[b].prev == prev &&
                      !nand_block_is_slc(ssd->geo, b),
                  "plane %u: block %u in bucket %u", plane, b, v);
            CHECK(v >= p->min_valid, "plane %u: min_valid %u, block with %u",
                  plane, p->min_valid, v);
            prev = b;
            listed++;
        }
    }
    CHECK(listed == n, "plane %u: %u of %u full blocks in buckets", plane,
          listed, n);
    return true;
}

static bool check_slc_full(const Ssd *ssd, uint32_t plane, uint32_t n,
                           GError **error)
{
    const Plane *p = &ssd->media->plane[plane];
    uint32_t prev = NONE;
    uint32_t b = p->slc_full.head;

    for (uint32_t k = 0; k < n; k++) {
        CHECK(in_plane(ssd, b, plane) && ssd->media->block[b].prev == prev &&
                  ssd->media->block[b].state == BLOCK_FULL &&
                  nand_block_is_slc(ssd->geo, b),
              "plane %u: block %u in the list of full SLC blocks", plane, b);
        prev = b;
        b = ssd->media->block[b].next;
    }
    CHECK(b == NONE && p->slc_full.tail == prev,
          "plane %u: the end of the list of full SLC blocks", plane);
    return true;
}

/* Each open block is open for one, at the page where the array is. */
static bool check_open(const Ssd *ssd, uint32_t plane, uint32_t n,
                       GError **error)
{
    const Plane *p = &ssd->media->plane[plane];
    uint32_t n_open = 0;
    uint32_t n_host_open = 0;

    for (uint32_t k = 0; k < ssd->l.n_open; k++) {
        const Open *o = &p->open[k];

        if (o->block == NONE) {
            continue;
        }
        CHECK(in_plane(ssd, o->block, plane) &&
                  ssd->media->block[o->block].state == BLOCK_OPEN &&
                  o->next_page < nand_block_pages(ssd->geo, o->block) &&
                  o->next_page == nand_next_page(ssd->nand, o->block),
              "plane %u: open block %u at page %u", plane, o->block,
              o->next_page);
        for (uint32_t j = 0; j < k; j++) {
            CHECK(p->open[j].block != o->block,
                  "plane %u: block %u is open twice", plane, o->block);
        }
        n_open++;
    }
    for (uint32_t k = 0; k < ssd->l.n_streams; k++) {
        n_host_open += open_takes_data(ssd, plane, k);
    }
    CHECK(n_open == n, "plane %u: %u of %u open blocks", plane, n_open, n);
    CHECK(p->n_aside <= ssd->l.n_aside, "plane %u: %u open blocks set aside",
          plane, p->n_aside);
    CHECK(p->n_aside == 0 || p->open[0].block != NONE,
          "plane %u: %u open blocks set aside, and none for the host", plane,
          p->n_aside);
    for (uint32_t k = 0; k < ssd->l.n_aside; k++) {
        CHECK((p->open[aside_first(ssd) + k].block != NONE) == (k < p->n_aside),
              "plane %u: %u open blocks set aside, not the one at %u", plane,
              p->n_aside, k);
    }
    CHECK(n_host_open == p->n_host_open,
          "plane %u: %u open for the host, counted %u", plane, n_host_open,
          p->n_host_open);
    return true;
}

/* Each block is in exactly one place: count the places. */
static bool check_lists(const Ssd *ssd, uint32_t plane, GError **error)
{
    uint32_t first = plane * ssd->geo->blocks_per_plane;
    const Plane *p = &ssd->media->plane[plane];
    PlaneSums n = {.valid = 0};
    uint32_t full;

    for (uint32_t i = 0; i < ssd->geo->blocks_per_plane; i++) {
        count_block(ssd, first + i, &n);
    }
    full = n.in_state[BLOCK_FULL] - n.full_slc;
    CHECK(p->erases == (ssd->powered ? n.in_state[BLOCK_ERASING] : 0),
          "plane %u: %u of %u blocks are being erased", plane, p->erases,
          n.in_state[BLOCK_ERASING]);
    CHECK(n.retiring == p->n_retiring && n.folding == p->n_folding &&
              n.slc == p->n_slc,
          "plane %u: %u blocks to retire, counted %u; %u victims in SLC mode, "
          "counted %u; %u dynamic blocks in SLC mode, counted %u",
          plane, n.retiring, p->n_retiring, n.folding, p->n_folding, n.slc,
          p->n_slc);
    CHECK(n.valid == p->valid,
          "plane %u: %" PRIu64 " valid units, counted %" PRIu64, plane, n.valid,
          p->valid);
    return check_free(ssd, plane, &n, error) &&
           check_by_age(ssd, plane, full, error) &&
           check_buckets(ssd, plane, full, error) &&
           check_slc_full(ssd, plane, n.full_slc, error) &&
           check_open(ssd, plane, n.in_state[BLOCK_OPEN], error);
}

static bool check_plane(const Ssd *ssd, uint32_t plane, bool at_rest,
                        GError **error)
{
    const Plane *p = &ssd->media->plane[plane];

    CHECK(!at_rest ||
              (p->host_programs == 0 && p->erases == 0 && p->n_held == 0),
          "plane %u: operations are in flight", plane);
    CHECK(p->gc_low_blocks < p->gc_high_blocks, "plane %u: its room", plane);
    CHECK(p->last_gc_block == NONE || in_plane(ssd, p->last_gc_block, plane),
          "plane %u: block %u of GC", plane, p->last_gc_block);
    return check_lists(ssd, plane, error);
}

/* ---- the component ------------------------------------------------------- */

/* Units of separate streams are in separate blocks. */
static bool check_streams(const Ssd *ssd, GError **error)
{
    for (uint64_t ppu = 0; ssd->media->spare_stream && ppu < ssd->l.raw_units;
         ppu++) {
        uint32_t of = ssd->media->block[ppu_block(ssd, ppu)].stream;

        CHECK(unit_stream(ssd, ppu) < ssd->l.n_streams,
              "the stream of ppu %" PRIu64, ppu);
        CHECK(!unit_is_valid(ssd, ppu) || of == ssd->l.n_streams ||
                  of == unit_stream(ssd, ppu),
              "ppu %" PRIu64 " of stream %u in a block of stream %u", ppu,
              unit_stream(ssd, ppu), of);
    }
    return true;
}

static bool check_jobs(const Ssd *ssd, bool at_rest, GError **error)
{
    const Media *m = ssd->media;

    if (at_rest) {
        CHECK(!m->cut_due, "the power goes");
        CHECK_POOL(m->rebuilds.free, m->rebuilds.n, m->rebuilds.rebuild,
                   m->rebuilds.under_way == 0);
        CHECK_POOL(m->free_job, m->n_jobs, m->job,
                   m->job[at].state == JOB_FREE);
    }
    CHECK(m->preload_next <= ssd->l.raw_units - m->preload_left, "the preload");
    return true;
}

bool media_check(const Ssd *ssd, bool at_rest, GError **error)
{
    const Media *m = ssd->media;

    CHECK(!at_rest || all_numbers(ssd, &m->spare_lpn, spare_ok),
          "a spare area");
    CHECK(m->valid[ssd->l.raw_units / 64] >> (ssd->l.raw_units % 64) == 0,
          "valid units");
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        if (!check_block(ssd, b, at_rest, error)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (!check_plane(ssd, i, at_rest, error)) {
            return false;
        }
    }
    return check_jobs(ssd, at_rest, error) && check_streams(ssd, error) &&
           plain_check(ssd, error) && superblocks_check(ssd, error) &&
           parity_check(ssd, error);
}
