/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dftl-state.c - the tables of the map on demand: saved, checked, counted.
 *
 * A loaded stream may be forged, so each number is checked before use.
 */
#include "lazymem.h"
#include "map/dftl.h"
#include "map/map.h"
#include "ssd-internal.h"

/* ---- saved --------------------------------------------------------------- */

enum {
    N_ENTRIES,
    N_BUCKETS,
    N_PAGES,
    N_WAITERS,
    N_PLANES,
    /* bounds only: */
    N_STATES,
    N_HMB,
    N_COUNTS,
};

static const StateRow page_rows[] = {
    STATE_NUMBER_ROW(DftlPage, dirty), /* these four: dftl_check() */
    STATE_NUMBER_ROW(DftlPage, loaders),
    STATE_NUMBER_ROW(DftlPage, writers),
    STATE_NUMBER_ROW(DftlPage, sent),
    STATE_NUMBER_ROW(DftlPage, evicted),
    STATE_LINK_ROW(DftlPage, next, N_PAGES),
    STATE_INDEX_ROW(DftlPage, state, N_STATES),
    STATE_NUMBER_ROW(DftlPage, loading),
    STATE_VALUE_ROW(DftlPage, stale),
    STATE_VALUE_ROW(DftlPage, listed),
    STATE_VALUE_ROW(DftlPage, for_gc),
};

const StateStruct dftl_page_struct = STATE_STRUCT(DftlPage, page_rows);

static const StateRow dftl_rows[] = {
    STATE_UNSAVED_ROW(Dftl, cmt), /* has rows of its own */
    STATE_TABLE_OF_ROW(Dftl, page, N_PAGES, dftl_page_struct),
    STATE_POOL_ROW(Dftl, waiter, N_WAITERS),
    STATE_NUMBER_ROW(Dftl, n_waiters),
    STATE_LINK_ROW(Dftl, free_waiter, N_WAITERS),
    STATE_LINK_ROW(Dftl, throttled, N_WAITERS),
    STATE_NUMBER_ROW(Dftl, n_evicted),
    STATE_NUMBER_ROW(Dftl, n_stale),
    STATE_VALUE_ROW(Dftl, gathered),
    STATE_TABLE_ROW(Dftl, ready, N_PLANES),
    STATE_TABLE_ROW(Dftl, n_writes, N_PLANES),
    STATE_VALUE_ROW(Dftl, stats),
    STATE_UNSAVED_ROW(Dftl, hmb), /* as cmt */
    STATE_COUNT_ROW(Dftl, hmb_room, N_HMB),
};

static const StateRow cmt_rows[] = {
    STATE_TABLE_ROW(Cmt, entry, N_ENTRIES),
    STATE_TABLE_ROW(Cmt, bucket, N_BUCKETS),
    STATE_UNSAVED_ROW(Cmt, most),
    STATE_UNSAVED_ROW(Cmt, n_buckets),
    STATE_COUNT_ROW(Cmt, n_made, N_ENTRIES),
    STATE_COUNT_ROW(Cmt, free, N_ENTRIES),
    STATE_VALUE_ROW(Cmt, list),
};

const StateStruct dftl_struct = {"Dftl", dftl_rows, G_N_ELEMENTS(dftl_rows),
                                 sizeof(Dftl)};
const StateStruct cmt_struct = {"Cmt", cmt_rows, G_N_ELEMENTS(cmt_rows),
                                sizeof(Cmt)};

bool dftl_state(Ssd *ssd, State *s)
{
    Dftl *d = ssd->map->policy_data;
    uint64_t counts[N_COUNTS] = {
        [N_ENTRIES] = d->cmt.most,      [N_BUCKETS] = d->cmt.n_buckets,
        [N_PAGES] = ssd->l.n_map_pages, [N_PLANES] = ssd->l.n_planes,
        [N_STATES] = N_PAGE_STATES,     [N_HMB] = d->hmb.most,
    };

    if (!state_values(s, &cmt_struct, &d->cmt) ||
        !state_values(s, &dftl_struct, d)) {
        return false;
    }
    counts[N_WAITERS] = d->n_waiters;
    if (!state_tables(s, &cmt_struct, &d->cmt, counts) ||
        !state_tables(s, &dftl_struct, d, counts)) {
        return false;
    }
    counts[N_ENTRIES] = d->hmb.most;
    counts[N_BUCKETS] = d->hmb.n_buckets;
    return d->hmb.most == 0 || (state_values(s, &cmt_struct, &d->hmb) &&
                                state_tables(s, &cmt_struct, &d->hmb, counts));
}

/* ---- checks -------------------------------------------------------------- */

#define CHECK(condition, what)                                                 \
    do {                                                                       \
        if (!(condition)) {                                                    \
            g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE, "the map: %s",      \
                        what);                                                 \
            return false;                                                      \
        }                                                                      \
    } while (0)

/* The first page from i on that is used; n_map_pages: none is. */
static uint64_t next_page(const Ssd *ssd, LazyWalk *w, uint64_t i)
{
    const Dftl *d = ssd->map->policy_data;

    i = lazy_walk_index(w, i, sizeof(*d->page));
    while (i < ssd->l.n_map_pages && !page_is_used(&d->page[i])) {
        i = lazy_walk_index(w, i + 1, sizeof(*d->page));
    }
    return i;
}

/* Every dirty entry is in the list of its page, once. */
static bool check_dirty(const Ssd *ssd, LazyWalk *w, GError **error)
{
    const Dftl *d = ssd->map->policy_data;
    uint32_t dirty = 0;
    uint32_t listed = 0;

    for (int k = 0; k < CMT_LISTS; k++) {
        for (uint32_t i = d->cmt.list[k].head; i != NONE;
             i = d->cmt.entry[i].next) {
            dirty += d->cmt.entry[i].dirty;
        }
    }
    for (uint64_t p = next_page(ssd, w, 0); p < ssd->l.n_map_pages;
         p = next_page(ssd, w, p + 1)) {
        uint32_t prev = NONE;

        for (uint32_t i = d->page[p].dirty; i != NONE;
             i = d->cmt.entry[i].dirty_next) {
            CHECK(i < d->cmt.n_made && listed++ < dirty &&
                      d->cmt.entry[i].dirty &&
                      d->cmt.entry[i].dirty_prev == prev &&
                      page_of(ssd, d->cmt.entry[i].lpn) == p &&
                      cmt_find(&d->cmt, d->cmt.entry[i].lpn) == i,
                  "dirty entries of a page");
            prev = i;
        }
    }
    CHECK(listed == dirty, "dirty entries");
    return true;
}

static bool check_fifo(const Ssd *ssd, const PageFifo *f, uint32_t *n,
                       GError **error)
{
    const Dftl *d = ssd->map->policy_data;
    uint32_t last = NONE;

    for (uint32_t p = f->head; p != NONE; p = d->page[p].next) {
        CHECK(p < ssd->l.n_map_pages && (*n)++ < ssd->l.n_map_pages &&
                  page_is_used(&d->page[p]) && d->page[p].listed,
              "stale pages");
        last = p;
    }
    CHECK(f->head == NONE || f->tail == last, "stale pages");
    return true;
}

static bool check_pages(const Ssd *ssd, LazyWalk *w, bool at_rest,
                        GError **error)
{
    const Dftl *d = ssd->map->policy_data;
    uint32_t evicted = 0;
    uint32_t listed = 0;
    uint32_t stale = 0;
    uint32_t in_lists = 0;

    for (uint64_t i = next_page(ssd, w, 0); i < ssd->l.n_map_pages;
         i = next_page(ssd, w, i + 1)) {
        const DftlPage *p = &d->page[i];

        CHECK(!at_rest || (p->state == PAGE_IDLE && p->loading == 0 &&
                           p->loaders == NONE && p->writers == NONE &&
                           p->sent == NONE && p->evicted == 0 && !p->for_gc),
              "something waits for a translation page, and nothing happens");
        CHECK(!p->stale || p->listed || p->state != PAGE_IDLE,
              "a stale page is forgotten");
        evicted += p->evicted;
        stale += p->stale;
        listed += p->listed;
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        CHECK(!at_rest || d->n_writes[i] == 0, "pages being written");
        if (!check_fifo(ssd, &d->ready[i], &in_lists, error)) {
            return false;
        }
    }
    CHECK(check_fifo(ssd, &d->gathered, &in_lists, NULL), "stale pages");
    CHECK(evicted == d->n_evicted && stale == d->n_stale && listed == in_lists,
          "counts of translation pages");
    return true;
}

static bool check_waiters(const Ssd *ssd, bool at_rest, GError **error)
{
    const Dftl *d = ssd->map->policy_data;
    uint32_t n_free = 0;

    for (uint32_t i = d->free_waiter; i != NONE; i = d->waiter[i].next) {
        CHECK(i < d->n_waiters && n_free++ < d->n_waiters, "who waits");
    }
    CHECK(!at_rest || (n_free == d->n_waiters && d->throttled == NONE),
          "who waits");
    return true;
}

bool dftl_check(const Ssd *ssd, bool at_rest, GError **error)
{
    const Dftl *d = ssd->map->policy_data;
    LazyWalk w;
    bool good;

    CHECK(cmt_check(&d->cmt, ssd->l.user_units), "the cache");
    CHECK(d->hmb.most == 0 || cmt_check(&d->hmb, ssd->l.user_units),
          "the host memory buffer");
    for (uint32_t i = 0; i < CMT_LISTS && d->hmb.most > 0; i++) {
        for (uint32_t k = d->cmt.list[i].head; k != NONE;
             k = d->cmt.entry[k].next) {
            CHECK(!hmb_holds(&d->hmb, d->cmt.entry[k].lpn),
                  "an entry is in the cache and in the host memory buffer");
        }
    }
    lazy_walk_begin(&w, d->page, ssd->l.n_map_pages * sizeof(*d->page));
    good = check_dirty(ssd, &w, error) && check_pages(ssd, &w, at_rest, error);
    lazy_walk_end(&w);
    return good && check_waiters(ssd, at_rest, error);
}

/* ---- statistics ---------------------------------------------------------- */

/* As SSD_STATS (ssd-stats.h), of an Ssd *v: P counts at a place in DftlStats.
 */
#define DFTL_STATS(P, V)                                                       \
    V(U64, cache_entries, "cache_entries", "entries", FIXED,                   \
      dftl(v)->cmt.most, "capacity of the mapping cache")                      \
    V(U64, cache_used, "cache_used", "entries", NOW, cmt_used(&dftl(v)->cmt),  \
      "entries in use")                                                        \
    P(lookups, "lookups", "units", lookups,                                    \
      "units that commands looked up: neither those in the buffer nor "        \
      "uncached ones without a translation page; `map.hits` + `map.misses`")   \
    P(hits, "hits", "units", hits, "lookups with a cached entry")              \
    P(misses, "misses", "units", misses, "lookups without a cached entry")     \
    P(hmb_hits, "hmb_hits", "units", hmb_hits,                                 \
      "of `map.misses`, those with an entry in the host memory buffer "        \
      "(`ftl.hmb`)")                                                           \
    V(U64, hmb_used, "hmb_used", "entries", NOW,                               \
      dftl(v)->hmb.most ? cmt_used(&dftl(v)->hmb) : 0,                         \
      "entries in the host memory buffer")                                     \
    P(clean_evictions, "clean_evictions", "entries", evictions_clean,          \
      "clean entries evicted")                                                 \
    P(dirty_evictions, "dirty_evictions", "entries", evictions_dirty,          \
      "dirty entries evicted, which were written first")                       \
    V(U64, translation_pages, "translation_pages", "pages", FIXED,             \
      v->l.n_map_pages, "translation pages of the whole map")                  \
    V(U64, entries_per_page, "entries_per_page", "entries", FIXED,             \
      v->l.map_entries, "entries in each")                                     \
    P(lookup_reads, "lookup_reads", "pages", reads,                            \
      "translation pages read for misses; fewer than the misses if several "   \
      "share one read. `nand.by_cause.map.reads` also has the reads before a " \
      "translation page is written")                                           \
    P(writes_for_host, "writes_for_host", "pages", writes_host,                \
      "translation pages written for evictions of dirty entries")              \
    P(writes_for_cleaning, "writes_for_cleaning", "pages", writes_gc,          \
      "translation pages written for uncached entries of units that GC moved " \
      "or a TRIM removed")                                                     \
    V(U64, stale_pages, "stale_pages", "pages", NOW, dftl(v)->n_stale,         \
      "translation pages that wait to be written for GC or TRIM")              \
    V(U64, most_stale_pages, "most_stale_pages", "pages", PEAK,                \
      dftl(v)->stats.most_stale,                                               \
      "the most at a time; a reset sets it to `map.stale_pages`")

static const Dftl *dftl(const Ssd *ssd)
{
    return ssd->map->policy_data;
}

#define PLACED_GET(id, path, unit, member, help)                               \
    STAT_FUNCTION(Ssd, COUNTER, id, &dftl(v)->stats.member)
#define PLACED_ROW(id, path, unit, member, help)                               \
    STAT_ROW(COUNTER, id, path, unit, RESET, NULL, help)
#define VALUE_GET(type, id, path, unit, reset, value, help)                    \
    STAT_FUNCTION(Ssd, type, id, value)
#define VALUE_ROW(type, id, path, unit, reset, value, help)                    \
    STAT_ROW(type, id, path, unit, reset, NULL, help)

DFTL_STATS(PLACED_GET, VALUE_GET)

static const StatRow rows[] = {DFTL_STATS(PLACED_ROW, VALUE_ROW)};

const StatTable dftl_stats = {rows, G_N_ELEMENTS(rows), NULL, 0};
