/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dftl.c - the map on demand: translation pages in NAND, some entries in memory.
 *
 * Source: A. Gupta, Y. Kim and B. Urgaonkar, "DFTL", ASPLOS 2009, section 3.
 * The map lies in translation pages, which are metadata (meta.c); where they are,
 * the global translation directory, is in memory, and so is a cached mapping
 * table of ftl.map_cache bytes (cmt.c).
 *
 * Knows which entries are in the cache and which are dirty.  The addresses
 * themselves are in Ssd.map, the model's own truth: this file decides what it
 * costs to know them, and nothing else.
 *
 *   lookup   a command needs the entry of each unit that is not in the buffer.
 *            One that is not cached is read from its translation page; whoever
 *            misses in the same page waits for the same read
 *   evict    a dirty entry that has to go is written back: its translation page
 *            is read and programmed anew, with all dirty entries of it.  The
 *            command that needed the place waits for it
 *   update   a programmed unit's entry becomes dirty, and comes back if it has
 *            left.  Cleaning and trims dirty entries that are cached; the pages of
 *            the others are "stale", and are written once for each victim, or
 *            later, when there is room that the host does not wait for
 *
 * Nobody but a command of the host ever waits here, and never for another
 * command: reads end by themselves, and programs wait for cleaning only, which
 * waits for nothing of this.  So it cannot come to a standstill.
 */
#include "ftl.h"

#include "cmt.h"

#define CACHE_ENTRY_BYTES 8 /* a unit's number and its address */

/* Evicted entries that may wait to be written before writes of the host wait. */
#define MOST_EVICTED 64

/* Pages that are written for cleaning's sake, in each plane at a time. */
#define STALE_WRITES_PER_PLANE 2

typedef enum PageState {
    PAGE_IDLE,
    PAGE_READING, /* to be written back, first its old copy */
    PAGE_WAITING, /* for room */
    PAGE_WRITING,
    N_PAGE_STATES,
} PageState;

/* A translation page. */
typedef struct DftlPage {
    uint32_t dirty;   /* its cached entries that are, or NONE */
    uint32_t loaders; /* waiters: for a part to be read */
    uint32_t writers; /* for the next time that it is programmed */
    uint32_t sent;    /* for the program under way */
    uint32_t evicted; /* entries that left dirty and are not yet written */
    uint32_t next;    /* in the list of stale pages */
    uint8_t state;    /* PageState */
    uint8_t loading;  /* bits: parts (NAND pages) that are being read */
    uint8_t stale;  /* it has entries to be updated that are not in the cache */
    uint8_t listed; /* it is in a list of stale pages */
    uint8_t for_cleaning; /* why it is written */
} DftlPage;

/* A command that waits, for entries lpn..lpn + n - 1 of a part. */
typedef struct DftlWaiter {
    uint32_t cmd;
    uint32_t lpn, n;
    uint32_t part;
    uint32_t next; /* free list; list of the page */
} DftlWaiter;

typedef struct PageFifo {
    uint32_t head, tail;
} PageFifo;

typedef struct DftlStats {
    uint64_t lookups, hits, misses;
    uint64_t evictions_clean, evictions_dirty;
    uint64_t reads;           /* of translation pages, for lookups */
    uint64_t writes_host;     /* that evictions called for, */
    uint64_t writes_cleaning; /* and cleaning or trims */
    uint64_t most_stale;      /* pages at a time */
} DftlStats;

typedef struct Dftl {
    Cmt cmt;
    DftlPage *page; /* l.n_map_pages of them */
    DftlWaiter *waiter;
    uint32_t n_waiters;
    uint32_t free_waiter;
    uint32_t throttled; /* waiters: writes, until fewer evicted entries wait */
    uint32_t n_evicted; /* entries that left dirty and are not yet written */
    uint32_t n_stale;   /* pages */
    PageFifo gathered;  /* stale pages, until the victim has been emptied */
    PageFifo *ready;    /* by plane: those that may be written */
    uint32_t *n_writes; /* by plane: of them, being written */
    DftlStats stats;
} Dftl;

static const PageFifo no_pages = {NONE, NONE};

static uint32_t page_of(const Ssd *ssd, uint32_t lpn)
{
    return lpn / ssd->l.map_entries;
}

/* The NAND page, of those that a translation page takes, with the entry. */
static uint32_t part_of(const Ssd *ssd, uint32_t lpn)
{
    return lpn % ssd->l.map_entries /
           (ssd->l.map_entries / ssd->l.pages_per_program);
}

static void fifo_add(Dftl *d, PageFifo *f, uint32_t page)
{
    d->page[page].next = NONE;
    if (f->head == NONE) {
        f->head = page;
    } else {
        d->page[f->tail].next = page;
    }
    f->tail = page;
}

static uint32_t fifo_take(Dftl *d, PageFifo *f)
{
    uint32_t page = f->head;

    f->head = d->page[page].next;
    return page;
}

/* ---- who waits ------------------------------------------------------------------ */

static void waiters_grow(Dftl *d)
{
    uint32_t old = d->n_waiters;

    d->n_waiters = old ? old * 2 : 64;
    d->waiter = g_renew(DftlWaiter, d->waiter, d->n_waiters);
    for (uint32_t i = d->n_waiters; i-- > old;) {
        d->waiter[i] = (DftlWaiter){.next = d->free_waiter};
        d->free_waiter = i;
    }
}

static void wait_for(Ssd *ssd, uint32_t *list, DftlWaiter w)
{
    Dftl *d = ssd->map_data;
    uint32_t i;

    if (d->free_waiter == NONE) {
        waiters_grow(d);
    }
    i = d->free_waiter;
    d->free_waiter = d->waiter[i].next;
    w.next = *list;
    d->waiter[i] = w;
    *list = i;
    ssd->cmd[w.cmd].map_pending++;
}

/* The command need wait no longer for one thing. */
static void settle(Ssd *ssd, uint32_t cmd)
{
    if (--ssd->cmd[cmd].map_pending == 0) {
        host_map_ready(ssd, cmd);
    }
}

/* In the order in which they came. */
static uint32_t reversed(Dftl *d, uint32_t list)
{
    uint32_t result = NONE;

    while (list != NONE) {
        uint32_t next = d->waiter[list].next;

        d->waiter[list].next = result;
        result = list;
        list = next;
    }
    return result;
}

/* Take the first of a list; false: there is none. */
static bool take_waiter(Dftl *d, uint32_t *list, DftlWaiter *w)
{
    uint32_t i = *list;

    if (i == NONE) {
        return false;
    }
    *w = d->waiter[i];
    *list = w->next;
    d->waiter[i].next = d->free_waiter;
    d->free_waiter = i;
    return true;
}

static void settle_all(Ssd *ssd, uint32_t *list)
{
    Dftl *d = ssd->map_data;
    uint32_t taken = reversed(d, *list);
    DftlWaiter w;

    *list = NONE;
    while (take_waiter(d, &taken, &w)) {
        settle(ssd, w.cmd);
    }
}

/* ---- dirty entries ---------------------------------------------------------------- */

static void make_dirty(Ssd *ssd, uint32_t i)
{
    Dftl *d = ssd->map_data;
    CmtEntry *e = &d->cmt.entry[i];
    DftlPage *p = &d->page[page_of(ssd, e->lpn)];

    if (e->dirty) {
        return;
    }
    e->dirty = true;
    e->dirty_prev = NONE;
    e->dirty_next = p->dirty;
    if (p->dirty != NONE) {
        d->cmt.entry[p->dirty].dirty_prev = i;
    }
    p->dirty = i;
}

static void make_clean(Ssd *ssd, uint32_t i)
{
    Dftl *d = ssd->map_data;
    CmtEntry *e = &d->cmt.entry[i];

    if (!e->dirty) {
        return;
    }
    e->dirty = false;
    if (e->dirty_prev == NONE) {
        d->page[page_of(ssd, e->lpn)].dirty = e->dirty_next;
    } else {
        d->cmt.entry[e->dirty_prev].dirty_next = e->dirty_next;
    }
    if (e->dirty_next != NONE) {
        d->cmt.entry[e->dirty_next].dirty_prev = e->dirty_prev;
    }
}

/* ---- translation pages ------------------------------------------------------------ */

/* Read a part of the page, if it is not being read already. */
static void load(Ssd *ssd, uint32_t page, uint32_t part)
{
    Dftl *d = ssd->map_data;
    uint32_t units = ssd->l.units_per_page;

    if (!(d->page[page].loading >> part & 1)) {
        d->page[page].loading |= (uint8_t)(1U << part);
        meta_read(ssd, page, part * units, units, META_MAP,
                  page * ssd->l.pages_per_program + part);
    }
}

/* Its old copy is in memory: program the page anew. */
static void write_page(Ssd *ssd, uint32_t page)
{
    Dftl *d = ssd->map_data;

    d->page[page].state = PAGE_WAITING;
    if (ssd->given_up) {
        dftl_page_begins(ssd, page);
        dftl_page_written(ssd, page);
    } else {
        meta_write(ssd, page, META_MAP);
    }
}

/* Write the page back, with all that is known of it then. */
static void write_back(Ssd *ssd, uint32_t page, bool for_cleaning)
{
    Dftl *d = ssd->map_data;
    DftlPage *p = &d->page[page];

    if (p->state != PAGE_IDLE) {
        return; /* what is being programmed now comes to dftl_page_written() */
    }
    p->state = PAGE_READING;
    p->for_cleaning = for_cleaning;
    if (for_cleaning) {
        d->n_writes[meta_plane(ssd, page)]++;
        d->stats.writes_cleaning++;
    } else {
        d->stats.writes_host++;
    }
    for (uint32_t k = 0; k < ssd->l.pages_per_program && meta_in_nand(ssd, page);
         k++) {
        load(ssd, page, k);
    }
    if (p->loading == 0) {
        write_page(ssd, page);
    }
}

/* Write the stale pages of a plane for which there is room that the host does
 * not wait for. */
static void write_stale(Ssd *ssd, uint32_t plane)
{
    Dftl *d = ssd->map_data;
    const Plane *p = &ssd->plane[plane];

    while (d->ready[plane].head != NONE && !ssd->given_up &&
           d->n_writes[plane] < STALE_WRITES_PER_PLANE &&
           (!ssd->pump_waits || p->n_free > p->gc_low_blocks)) {
        uint32_t page = fifo_take(d, &d->ready[plane]);

        d->page[page].listed = false;
        if (d->page[page].stale) {
            write_back(ssd, page, true);
        }
    }
}

/* What the page is to hold is settled: everything that is known. */
void dftl_page_begins(Ssd *ssd, uint32_t page)
{
    Dftl *d = ssd->map_data;
    DftlPage *p = &d->page[page];
    uint32_t *end = &p->sent;

    p->state = PAGE_WRITING;
    while (p->dirty != NONE) {
        make_clean(ssd, p->dirty);
    }
    d->n_stale -= p->stale;
    p->stale = false;
    d->n_evicted -= p->evicted;
    p->evicted = 0;
    while (*end != NONE) {
        end = &d->waiter[*end].next;
    }
    *end = p->writers;
    p->writers = NONE;
}

static void list_ready(Ssd *ssd, uint32_t page)
{
    Dftl *d = ssd->map_data;

    if (!d->page[page].listed) {
        d->page[page].listed = true;
        fifo_add(d, &d->ready[meta_plane(ssd, page)], page);
    }
}

void dftl_page_written(Ssd *ssd, uint32_t page)
{
    Dftl *d = ssd->map_data;
    DftlPage *p = &d->page[page];
    uint32_t plane = meta_plane(ssd, page);

    d->n_writes[plane] -= p->for_cleaning;
    p->for_cleaning = false;
    p->state = PAGE_IDLE;
    if (p->evicted > 0) {
        write_back(ssd, page, false);
    } else if (p->stale) {
        list_ready(ssd, page);
    }
    settle_all(ssd, &p->sent);
    if (d->n_evicted < MOST_EVICTED) {
        settle_all(ssd, &d->throttled);
    }
    write_stale(ssd, plane);
}

/* ---- the cache -------------------------------------------------------------------- */

/* Make room for an entry.  The command, if there is one, waits until what had to
 * go is in NAND. */
static void evict(Ssd *ssd, uint32_t cmd)
{
    Dftl *d = ssd->map_data;
    uint32_t i = cmt_victim(&d->cmt);
    uint32_t page;
    bool dirty;

    if (i == NONE) {
        return;
    }
    page = page_of(ssd, d->cmt.entry[i].lpn);
    dirty = d->cmt.entry[i].dirty;
    make_clean(ssd, i);
    cmt_remove(&d->cmt, i);
    if (!dirty) {
        d->stats.evictions_clean++;
        return;
    }
    d->stats.evictions_dirty++;
    d->page[page].evicted++;
    d->n_evicted++;
    if (cmd != NONE) {
        wait_for(ssd, &d->page[page].writers, (DftlWaiter){.cmd = cmd});
    }
    write_back(ssd, page, false);
}

/* The entry comes into the cache, clean; it is not there yet. */
static uint32_t insert(Ssd *ssd, uint32_t lpn, uint32_t cmd)
{
    Dftl *d = ssd->map_data;

    evict(ssd, cmd);
    return cmt_insert(&d->cmt, lpn);
}

/* A part has been read: the entries that the command wanted, and if it goes on
 * where the cache has an entry, some more. */
static void insert_loaded(Ssd *ssd, const DftlWaiter *w)
{
    Dftl *d = ssd->map_data;
    uint32_t per_part = ssd->l.map_entries / ssd->l.pages_per_program;
    uint64_t end = (uint64_t)w->lpn + w->n;

    if (ssd->cfg->map_prefetch > 0 && w->lpn > 0 &&
        cmt_find(&d->cmt, w->lpn - 1) != NONE) {
        end = MIN(end + ssd->cfg->map_prefetch,
                  (uint64_t)(w->lpn / per_part + 1) * per_part);
        end = MIN(end, ssd->l.user_units);
    }
    for (uint64_t lpn = w->lpn; lpn < end; lpn++) {
        if (cmt_find(&d->cmt, (uint32_t)lpn) == NONE) {
            insert(ssd, (uint32_t)lpn, w->cmd);
        }
    }
}

/* Those that wait for the part, taken out of the page's list, in order. */
static uint32_t take_loaders(Dftl *d, DftlPage *p, uint32_t part)
{
    uint32_t *link = &p->loaders;
    uint32_t taken = NONE;

    while (*link != NONE) {
        uint32_t i = *link;

        if (d->waiter[i].part != part) {
            link = &d->waiter[i].next;
            continue;
        }
        *link = d->waiter[i].next;
        d->waiter[i].next = taken;
        taken = i;
    }
    return taken;
}

void dftl_page_read(Ssd *ssd, uint32_t cookie)
{
    Dftl *d = ssd->map_data;
    uint32_t page = cookie / ssd->l.pages_per_program;
    uint32_t part = cookie % ssd->l.pages_per_program;
    DftlPage *p = &d->page[page];
    uint32_t taken = take_loaders(d, p, part);
    DftlWaiter w;

    p->loading &= (uint8_t)~(1U << part);
    if (p->state == PAGE_READING && p->loading == 0) {
        write_page(ssd, page);
    }
    while (take_waiter(d, &taken, &w)) {
        insert_loaded(ssd, &w);
        settle(ssd, w.cmd);
    }
}

/* ---- lookups ---------------------------------------------------------------------- */

/* Does looking the unit up cost anything?  The buffer knows what is in it, and
 * the directory which translation pages there are. */
static bool needs_entry(const Ssd *ssd, uint32_t lpn)
{
    return !map_is_buffered(ssd->map[lpn]) &&
           meta_in_nand(ssd, page_of(ssd, lpn));
}

/* The entry is in the cache. */
static bool hits(Ssd *ssd, uint32_t lpn)
{
    Dftl *d = ssd->map_data;
    uint32_t i = cmt_find(&d->cmt, lpn);

    d->stats.lookups++;
    if (i == NONE) {
        d->stats.misses++;
        return false;
    }
    d->stats.hits++;
    cmt_touch(&d->cmt, i);
    return true;
}

/* Wait for the entries of a run of units, all in one part. */
static void miss(Ssd *ssd, DftlWaiter *run)
{
    Dftl *d = ssd->map_data;
    uint32_t page = page_of(ssd, run->lpn);

    if (run->n == 0) {
        return;
    }
    wait_for(ssd, &d->page[page].loaders, *run);
    d->stats.reads += !(d->page[page].loading >> run->part & 1);
    load(ssd, page, run->part);
    run->n = 0;
}

static void add_miss(Ssd *ssd, DftlWaiter *run, uint32_t lpn)
{
    bool goes_on = run->n > 0 && run->lpn + run->n == lpn &&
                   page_of(ssd, run->lpn) == page_of(ssd, lpn) &&
                   run->part == part_of(ssd, lpn);

    if (!goes_on) {
        miss(ssd, run);
        run->lpn = lpn;
        run->part = part_of(ssd, lpn);
    }
    run->n++;
}

static bool dftl_lookup(Ssd *ssd, uint32_t cmd)
{
    Dftl *d = ssd->map_data;
    const SsdCmd *req = &ssd->cmd[cmd].req;
    uint64_t last = (req->lba + req->nblocks - 1) >> ssd->block_shift;
    DftlWaiter run = {.cmd = cmd};

    for (uint64_t lpn = req->lba >> ssd->block_shift; lpn <= last; lpn++) {
        if (needs_entry(ssd, (uint32_t)lpn) && !hits(ssd, (uint32_t)lpn)) {
            add_miss(ssd, &run, (uint32_t)lpn);
        }
    }
    miss(ssd, &run);
    if (req->op == SSD_OP_WRITE && d->n_evicted >= MOST_EVICTED) {
        wait_for(ssd, &d->throttled, (DftlWaiter){.cmd = cmd});
    }
    return ssd->cmd[cmd].map_pending == 0;
}

/* ---- updates ---------------------------------------------------------------------- */

static void make_stale(Dftl *d, uint32_t page)
{
    DftlPage *p = &d->page[page];

    if (p->stale) {
        return;
    }
    p->stale = true;
    d->n_stale++;
    d->stats.most_stale = MAX(d->stats.most_stale, d->n_stale);
    if (!p->listed) {
        p->listed = true;
        fifo_add(d, &d->gathered, page);
    }
}

static void dftl_changed(Ssd *ssd, uint32_t lpn, MapChange why)
{
    Dftl *d = ssd->map_data;
    uint32_t i;

    if (ssd->given_up || age_is_on(ssd)) {
        return;
    }
    i = cmt_find(&d->cmt, lpn);
    if (i == NONE && why == MAP_PROGRAMMED) {
        i = insert(ssd, lpn, NONE);
    }
    if (i != NONE) {
        make_dirty(ssd, i);
    } else {
        make_stale(d, page_of(ssd, lpn));
    }
}

static void dftl_changes_end(Ssd *ssd)
{
    Dftl *d = ssd->map_data;

    while (d->gathered.head != NONE) {
        uint32_t page = fifo_take(d, &d->gathered);

        d->page[page].listed = false;
        if (d->page[page].stale) {
            list_ready(ssd, page);
            write_stale(ssd, meta_plane(ssd, page));
        }
    }
}

static void dftl_aged(Ssd *ssd, uint32_t lpn, bool aged)
{
    meta_preload(ssd, page_of(ssd, lpn), META_MAP, aged);
}

/* ---- creation, power, state --------------------------------------------------------- */

/* The cache is empty, and nothing is under way. */
static void forget(Ssd *ssd)
{
    Dftl *d = ssd->map_data;

    for (uint32_t i = 0; i < ssd->l.n_map_pages; i++) {
        d->page[i] = (DftlPage){
            .dirty = NONE,
            .loaders = NONE,
            .writers = NONE,
            .sent = NONE,
        };
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        d->ready[i] = no_pages;
        d->n_writes[i] = 0;
    }
    g_clear_pointer(&d->waiter, g_free);
    d->n_waiters = 0;
    d->free_waiter = NONE;
    d->throttled = NONE;
    d->n_evicted = 0;
    d->n_stale = 0;
    d->gathered = no_pages;
}

static void dftl_power_lost(Ssd *ssd)
{
    Dftl *d = ssd->map_data;

    cmt_clear(&d->cmt);
    forget(ssd);
}

static void dftl_init(Ssd *ssd)
{
    Dftl *d = g_new0(Dftl, 1);
    uint64_t most = ssd->cfg->map_cache_bytes / CACHE_ENTRY_BYTES;

    ssd->map_data = d;
    cmt_init(&d->cmt, (uint32_t)MIN(most, ssd->l.user_units));
    d->page = g_new(DftlPage, ssd->l.n_map_pages);
    d->ready = g_new(PageFifo, ssd->l.n_planes);
    d->n_writes = g_new(uint32_t, ssd->l.n_planes);
    forget(ssd);
    ssd->map_bytes = d->cmt.most * sizeof(CmtEntry) +
                     d->cmt.n_buckets * sizeof(uint32_t) +
                     ssd->l.n_map_pages * sizeof(DftlPage);
}

static void dftl_destroy(Ssd *ssd)
{
    Dftl *d = ssd->map_data;

    cmt_destroy(&d->cmt);
    g_free(d->page);
    g_free(d->waiter);
    g_free(d->ready);
    g_free(d->n_writes);
    g_free(d);
}

enum {
    N_ENTRIES,
    N_BUCKETS,
    N_PAGES,
    N_WAITERS,
    N_PLANES,
    N_COUNTS,
};

static const StateRow dftl_rows[] = {
    STATE_KEPT_ROW(Dftl, cmt), /* has rows of its own */
    STATE_TABLE_ROW(Dftl, page, N_PAGES),
    STATE_POOL_ROW(Dftl, waiter, N_WAITERS),
    STATE_VALUE_ROW(Dftl, n_waiters),
    STATE_VALUE_ROW(Dftl, free_waiter),
    STATE_VALUE_ROW(Dftl, throttled),
    STATE_VALUE_ROW(Dftl, n_evicted),
    STATE_VALUE_ROW(Dftl, n_stale),
    STATE_VALUE_ROW(Dftl, gathered),
    STATE_TABLE_ROW(Dftl, ready, N_PLANES),
    STATE_TABLE_ROW(Dftl, n_writes, N_PLANES),
    STATE_VALUE_ROW(Dftl, stats),
};

static const StateRow cmt_rows[] = {
    STATE_TABLE_ROW(Cmt, entry, N_ENTRIES),
    STATE_TABLE_ROW(Cmt, bucket, N_BUCKETS),
    STATE_KEPT_ROW(Cmt, most),
    STATE_KEPT_ROW(Cmt, n_buckets),
    STATE_VALUE_ROW(Cmt, n_made),
    STATE_VALUE_ROW(Cmt, free),
    STATE_VALUE_ROW(Cmt, list),
};

const StateStruct dftl_struct = {"Dftl", dftl_rows, G_N_ELEMENTS(dftl_rows),
                                 sizeof(Dftl)};
const StateStruct cmt_struct = {"Cmt", cmt_rows, G_N_ELEMENTS(cmt_rows),
                                sizeof(Cmt)};

static bool dftl_state(Ssd *ssd, State *s)
{
    Dftl *d = ssd->map_data;
    uint64_t counts[N_COUNTS] = {
        [N_ENTRIES] = d->cmt.most,
        [N_BUCKETS] = d->cmt.n_buckets,
        [N_PAGES] = ssd->l.n_map_pages,
        [N_PLANES] = ssd->l.n_planes,
    };

    if (!state_values(s, &cmt_struct, &d->cmt) ||
        !state_values(s, &dftl_struct, d)) {
        return false;
    }
    counts[N_WAITERS] = d->n_waiters;
    return state_tables(s, &cmt_struct, &d->cmt, counts) &&
           state_tables(s, &dftl_struct, d, counts);
}

/* ---- checks ------------------------------------------------------------------------- */

#define CHECK(condition, what)                                                 \
    do {                                                                       \
        if (!(condition)) {                                                    \
            g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE, "the map: %s",      \
                        what);                                                 \
            return false;                                                      \
        }                                                                      \
    } while (0)

/* Every dirty entry is in the list of its page, once. */
static bool check_dirty(const Ssd *ssd, GError **error)
{
    const Dftl *d = ssd->map_data;
    uint32_t dirty = 0;
    uint32_t listed = 0;

    for (int k = 0; k < CMT_SEGMENTS; k++) {
        for (uint32_t i = d->cmt.list[k].head; i != NONE;
             i = d->cmt.entry[i].next) {
            dirty += d->cmt.entry[i].dirty;
        }
    }
    for (uint32_t p = 0; p < ssd->l.n_map_pages; p++) {
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
    const Dftl *d = ssd->map_data;
    uint32_t last = NONE;

    for (uint32_t p = f->head; p != NONE; p = d->page[p].next) {
        CHECK(p < ssd->l.n_map_pages && (*n)++ < ssd->l.n_map_pages &&
                  d->page[p].listed,
              "stale pages");
        last = p;
    }
    CHECK(f->head == NONE || f->tail == last, "stale pages");
    return true;
}

static bool check_pages(const Ssd *ssd, GError **error)
{
    const Dftl *d = ssd->map_data;
    bool rests = ssd_at_rest(ssd);
    uint32_t evicted = 0;
    uint32_t listed = 0;
    uint32_t stale = 0;
    uint32_t in_lists = 0;

    for (uint32_t i = 0; i < ssd->l.n_map_pages; i++) {
        const DftlPage *p = &d->page[i];

        CHECK(p->state < N_PAGE_STATES && p->stale <= 1 && p->listed <= 1 &&
                  p->for_cleaning <= 1,
              "a translation page");
        CHECK(!rests || (p->state == PAGE_IDLE && p->loading == 0 &&
                         p->loaders == NONE && p->writers == NONE &&
                         p->sent == NONE && p->evicted == 0 &&
                         !p->for_cleaning),
              "something waits for a translation page, and nothing happens");
        CHECK(!p->stale || p->listed || p->state != PAGE_IDLE,
              "a stale page is forgotten");
        evicted += p->evicted;
        stale += p->stale;
        listed += p->listed;
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        CHECK(!rests || d->n_writes[i] == 0, "pages being written");
        if (!check_fifo(ssd, &d->ready[i], &in_lists, error)) {
            return false;
        }
    }
    CHECK(check_fifo(ssd, &d->gathered, &in_lists, NULL), "stale pages");
    CHECK(evicted == d->n_evicted && stale == d->n_stale && listed == in_lists,
          "counts of translation pages");
    return true;
}

static bool check_waiters(const Ssd *ssd, GError **error)
{
    const Dftl *d = ssd->map_data;
    uint32_t n_free = 0;

    for (uint32_t i = d->free_waiter; i != NONE; i = d->waiter[i].next) {
        CHECK(i < d->n_waiters && n_free++ < d->n_waiters, "who waits");
    }
    CHECK(!ssd_at_rest(ssd) ||
              (n_free == d->n_waiters && d->throttled == NONE),
          "who waits");
    return true;
}

static bool dftl_check(const Ssd *ssd, GError **error)
{
    const Dftl *d = ssd->map_data;

    CHECK(cmt_check(&d->cmt, ssd->l.user_units), "the cache");
    return check_dirty(ssd, error) && check_pages(ssd, error) &&
           check_waiters(ssd, error);
}

/* ---- statistics --------------------------------------------------------------------- */

static void dftl_json(const Ssd *ssd, JsonWriter *w)
{
    const Dftl *d = ssd->map_data;
    const DftlStats *s = &d->stats;

    json_u64(w, "cache_entries", d->cmt.most);
    json_u64(w, "cache_used", cmt_used(&d->cmt));
    json_u64(w, "lookups", s->lookups);
    json_u64(w, "hits", s->hits);
    json_u64(w, "misses", s->misses);
    json_u64(w, "clean_evictions", s->evictions_clean);
    json_u64(w, "dirty_evictions", s->evictions_dirty);
    json_u64(w, "translation_pages", ssd->l.n_map_pages);
    json_u64(w, "entries_per_page", ssd->l.map_entries);
    json_u64(w, "lookup_reads", s->reads);
    json_u64(w, "writes_for_host", s->writes_host);
    json_u64(w, "writes_for_cleaning", s->writes_cleaning);
    json_u64(w, "stale_pages", d->n_stale);
    json_u64(w, "most_stale_pages", s->most_stale);
}

static void dftl_reset_stats(Ssd *ssd)
{
    Dftl *d = ssd->map_data;

    d->stats = (DftlStats){.most_stale = d->n_stale};
}

const MapPolicy map_dftl = {
    .name = "dftl",
    .help = "every unit by itself, the map in NAND, part of it cached (DFTL)",
    .in_nand = true,
    .init = dftl_init,
    .destroy = dftl_destroy,
    .lookup = dftl_lookup,
    .changed = dftl_changed,
    .changes_end = dftl_changes_end,
    .room = write_stale,
    .aged = dftl_aged,
    .power_lost = dftl_power_lost,
    .state = dftl_state,
    .check = dftl_check,
    .json = dftl_json,
    .reset_stats = dftl_reset_stats,
};
