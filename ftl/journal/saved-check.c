/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * saved-check.c - check of saved pages.
 *
 * A stream may be forged, so every number that is used as an index must be
 * looked at first.  Knows a drive at rest.
 */
#include "check.h"
#include "journal/journal.h"
#include "journal/saved.h"
#include "media/media.h"
#include "media/spare.h"

#define MOST_VERSION (1ULL << 48)
#define MOST_SEQ (1ULL << (SEQ_BITS - 1)) /* of programs, counted */

/* Recovery uses an entry if the page that it names is older than the
 * checkpoint: then that must hold the unit. */
static bool names_unit(const Ssd *ssd, uint64_t ppu, uint64_t lpn)
{
    uint64_t seq = page_seq(ssd, ppu_page(ssd, ppu));

    return seq == 0 || seq > ssd->journal->saved_low ||
           spare_lpn(ssd, ppu) == lpn;
}

static bool seq_ok(const Ssd *ssd, uint64_t page)
{
    uint64_t seq = ssd->media->spare_seq[page];

    return seq >> SEQ_BITS < ssd->l.n_open &&
           (block_state(ssd, page_block(ssd, page)) == BLOCK_SAVED ||
            (seq & SEQ_MASK) < MOST_SEQ);
}

static bool entry_ok(const Ssd *ssd, uint64_t lpn)
{
    uint64_t entry = ssd->journal->saved[lpn];
    uint64_t ppu = (entry & ~SAVED_MAPPED) - 1;

    return entry & SAVED_MAPPED
               ? ppu < ssd->l.raw_units && names_unit(ssd, ppu, lpn)
               : entry <= MOST_VERSION;
}

static bool floor_ok(const Ssd *ssd, uint64_t lpn)
{
    return ssd->journal->floor[lpn] <= MOST_VERSION;
}

static bool page_ok(const Ssd *ssd, uint64_t k)
{
    const SavedPage *sp = &ssd->journal->saved_page[k];

    return !sp->in_flight && sp->serial <= ssd->journal->saved_queue.serial &&
           (!saved_in_nand(sp) ||
            (sp->page < ssd->geo->n_pages &&
             sp->page % ssd->l.pages_per_program == 0 &&
             block_state(ssd, page_block(ssd, sp->page)) == BLOCK_SAVED &&
             saved_index(ssd, sp->page) == k));
}

/* Are all n elements of size bytes good?  Those never touched are. */
static bool all(const Ssd *ssd, const void *table, uint64_t n, size_t size,
                bool (*ok)(const Ssd *ssd, uint64_t i))
{
    bool good = true;
    LazyWalk w;

    lazy_walk_begin(&w, table, n * size);
    for (uint64_t i = lazy_walk_index(&w, 0, size); i < n && good;
         i = lazy_walk_index(&w, i + 1, size)) {
        good = ok(ssd, i);
    }
    lazy_walk_end(&w);
    return good;
}

/* When saved pages were written. */
static bool check_versions(const Ssd *ssd, GError **error)
{
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        uint64_t first = block_ppu(ssd, b);
        uint32_t n = block_state(ssd, b) == BLOCK_SAVED
                         ? nand_next_page(ssd->nand, b)
                         : 0;

        for (uint32_t i = 0; i < n; i++) {
            CHECK(unit_version(ssd,
                               first + ((uint64_t)i << ssd->page_units_shift)) <
                      MOST_SEQ,
                  "a spare area");
        }
    }
    return true;
}

static bool check_entries(const Ssd *ssd, GError **error)
{
    const Journal *j = ssd->journal;

    CHECK(all(ssd, ssd->media->spare_seq, ssd->geo->n_pages, sizeof(uint64_t),
              seq_ok),
          "a spare area");
    CHECK(all(ssd, j->saved, saved_map_units(ssd), sizeof(uint64_t), entry_ok),
          "a saved page");
    CHECK(all(ssd, j->floor, saved_map_units(ssd), sizeof(uint64_t), floor_ok),
          "a trim");
    CHECK(ssd->media->prog_seq < MOST_SEQ && j->saved_low < MOST_SEQ &&
              j->saved_queue.anchor_low < MOST_SEQ,
          "the count of programs");
    return check_versions(ssd, error);
}

/* How many saved pages count, by block. */
static uint32_t *count_live(const Ssd *ssd)
{
    uint32_t *live = g_new0(uint32_t, ssd->geo->n_blocks);
    const SavedPage *sp = ssd->journal->saved_page;
    LazyWalk w;

    lazy_walk_begin(&w, sp, ssd->l.n_saved * sizeof(*sp));
    for (uint64_t k = lazy_walk_index(&w, 0, sizeof(*sp)); k < ssd->l.n_saved;
         k = lazy_walk_index(&w, k + 1, sizeof(*sp))) {
        live[saved_in_nand(&sp[k]) ? page_block(ssd, sp[k].page) : 0] +=
            saved_in_nand(&sp[k]);
    }
    lazy_walk_end(&w);
    return live;
}

static bool check_pages(const Ssd *ssd, GError **error)
{
    g_autofree uint32_t *live = NULL;

    CHECK(all(ssd, ssd->journal->saved_page, ssd->l.n_saved, sizeof(SavedPage),
              page_ok),
          "a saved page");
    live = count_live(ssd);
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        const Block *block = block_at(ssd, b);

        CHECK((block->state == BLOCK_SAVED) ==
                  (saved_has_block(ssd, b) && block->state != BLOCK_BAD),
              "the blocks of saved pages");
        CHECK(block->state != BLOCK_LOST || !ssd->powered, "a lost block");
        CHECK(!block->held && !block->erasing, "a block that waits");
        CHECK(block->state != BLOCK_SAVED ||
                  (block->live == live[b] && block->pending == 0),
              "the blocks of saved pages");
    }
    return true;
}

static bool check_queue(const Ssd *ssd, GError **error)
{
    const Saved *q = &ssd->journal->saved_queue;
    uint32_t before = NONE;
    uint32_t n = 0;
    uint32_t n_queued = 0;
    const SavedPage *sp = ssd->journal->saved_page;
    LazyWalk w;

    lazy_walk_begin(&w, sp, ssd->l.n_saved * sizeof(*sp));
    for (uint64_t k = lazy_walk_index(&w, 0, sizeof(*sp)); k < ssd->l.n_saved;
         k = lazy_walk_index(&w, k + 1, sizeof(*sp))) {
        n_queued += sp[k].queued;
    }
    lazy_walk_end(&w);
    for (uint32_t k = q->queue.head; k != NONE;
         k = ssd->journal->saved_page[k].next, n++) {
        CHECK(k < ssd->l.n_saved && n < n_queued &&
                  ssd->journal->saved_page[k].queued,
              "the queue of saved pages");
        before = k;
    }
    CHECK(n == n_queued && q->queue.tail == before, "the queue of saved pages");
    CHECK(q->n_in_flight == 0 && q->n_erasing == 0 && q->victim == NONE &&
              q->held.head == NONE && q->waiting.head == NONE &&
              q->closing.head == NONE && q->n_begun == q->n_ended &&
              q->trim_serial <= q->serial && q->all_serial <= q->serial,
          "saved pages are under way");
    for (uint32_t f = 0; f < ssd->l.n_saved_flights; f++) {
        CHECK(ssd->journal->saved_flight[f].index == NONE,
              "saved pages are under way");
    }
    return true;
}

static bool check_open(const Ssd *ssd, GError **error)
{
    uint32_t n_free = 0;

    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        const Open *o = &ssd->journal->saved_open[i];

        CHECK(o->block == NONE ||
                  (o->block < ssd->geo->n_blocks &&
                   block_plane(ssd, o->block) == i &&
                   block_state(ssd, o->block) == BLOCK_SAVED &&
                   o->next_page > 0 &&
                   o->next_page < ssd->geo->pages_per_block &&
                   o->next_page % ssd->l.pages_per_program == 0 &&
                   o->next_page == nand_next_page(ssd->nand, o->block)),
              "an open block of saved pages");
    }
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        n_free += block_state(ssd, b) == BLOCK_SAVED &&
                  !block_has_failed(ssd, b) &&
                  nand_next_page(ssd->nand, b) == 0;
    }
    CHECK(!ssd->powered || n_free == ssd->journal->saved_queue.n_free,
          "free blocks of saved pages");
    return true;
}

bool saved_check(const Ssd *ssd, GError **error)
{
    return check_entries(ssd, error) && check_pages(ssd, error) &&
           check_queue(ssd, error) && check_open(ssd, error);
}
