/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dftl.c - the map on demand: translation pages in NAND, some entries in
 * memory.
 *
 * Source: A. Gupta, Y. Kim and B. Urgaonkar, "DFTL", ASPLOS 2009, section 3.
 * The map is in translation pages, which are metadata (meta.c); where they
 * are, the global translation directory, is in memory, and so is a cached
 * mapping table of ftl.map_cache bytes (cmt.c).
 *
 * Knows which entries are in the cache and which are dirty.  The addresses
 * themselves are in L2p.entry, the model's own copy: this file decides only
 * the cost of a lookup.
 *
 *   lookup   a command needs the entry of each unit that is not in the buffer.
 *            With ftl.hmb, what has left the cache is in the host's memory.
 *            One that is not cached is read from its translation page; whoever
 *            misses in the same page waits for the same read
 *   evict    a dirty entry that has to go is written back: its translation page
 *            is read and programmed again, with all dirty entries of it.  The
 *            command that needed the place waits for it
 *   update   a programmed unit's entry becomes dirty, and comes back if it has
 *            left.  GC and trims dirty entries that are cached; the pages of
 *            the others are "stale", and are written once for each victim, or
 *            later, when there is room that the host does not wait for
 *
 * Only commands of the host wait here, and none waits for another command:
 * reads depend on nothing, and programs wait for GC only, which does not wait
 * for the map.  So there is no deadlock.
 */
#include "buffer/buffer-internal.h"
#include "commands.h"
#include "controller/controller.h"
#include "journal/journal.h"
#include "journal/known.h"
#include "lazymem.h"
#include "map/cmt-order.h"
#include "map/dftl.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "media/aged-ops.h"
#include "media/lost-die.h"
#include "media/media-internal.h"
#include "pool.h"
#include "ssd-internal.h"
#include "media/media.h"
#include "media/spare.h"

/* Evicted entries that may wait to be written before writes of the host wait. */
#define MOST_EVICTED 64

/* Pages that are written for GC's sake, in each plane at a time. */
#define STALE_WRITES_PER_PLANE 2

static const PageFifo no_pages = {.head = NONE, .tail = NONE};

/* The NAND page, of those that a translation page takes, with the entry. */
static uint32_t part_of(const Ssd *ssd, uint64_t lpn)
{
    return lpn % ssd->l.map_entries /
           (ssd->l.map_entries / ssd->l.pages_per_program);
}

static IlistLinks page_chain(const Dftl *d)
{
    return ILIST_CHAIN(d->page, DftlPage, next);
}

static void fifo_add(Dftl *d, PageFifo *f, uint32_t page)
{
    ififo_push(page_chain(d), f, page);
}

static uint32_t fifo_take(Dftl *d, PageFifo *f)
{
    return ififo_pop(page_chain(d), f);
}

static void dftl_page_begins(Ssd *ssd, uint32_t page);
static void dftl_page_written(Ssd *ssd, uint32_t page);

/* ---- who waits ----------------------------------------------------------- */

static IlistLinks waiter_chain(const Dftl *d)
{
    return ILIST_CHAIN(d->waiter, DftlWaiter, next);
}

static void wait_for(Ssd *ssd, uint32_t *list, DftlWaiter w)
{
    Dftl *d = ssd->map->policy_data;
    uint32_t i;

    invariant(w.cmd < ssd->commands.n_cmds);
    d->waiter = pool_grow(d->waiter, waiter_chain(d), &d->free_waiter,
                          &d->n_waiters, 64);
    i = pool_take(waiter_chain(d), &d->free_waiter);
    d->waiter[i] = w;
    istack_push(waiter_chain(d), list, i);
    ssd->commands.cmd[w.cmd].map_pending++;
}

/* The command need wait no longer for one thing. */
static void settle(Ssd *ssd, uint32_t cmd)
{
    invariant(ssd->commands.cmd[cmd].map_pending > 0);
    if (--ssd->commands.cmd[cmd].map_pending == 0) {
        cmd_map_ready(ssd, cmd);
    }
}

/* Take the first of a list; false: there is none. */
static bool take_waiter(Dftl *d, uint32_t *list, DftlWaiter *w)
{
    uint32_t i = istack_pop(waiter_chain(d), list);

    if (i == NONE) {
        return false;
    }
    *w = d->waiter[i];
    pool_give(waiter_chain(d), &d->free_waiter, i);
    return true;
}

static void settle_all(Ssd *ssd, uint32_t *list)
{
    Dftl *d = ssd->map->policy_data;
    uint32_t taken = istack_reverse(waiter_chain(d), *list); /* oldest first */
    DftlWaiter w;

    *list = NONE;
    while (take_waiter(d, &taken, &w)) {
        settle(ssd, w.cmd);
    }
}

/* ---- dirty entries ------------------------------------------------------- */

static IlistLinks dirty_links(const Dftl *d)
{
    return ILIST_LINKS(d->cmt.entry, CmtEntry, dirty_next, dirty_prev);
}

static void make_dirty(Ssd *ssd, uint32_t i)
{
    Dftl *d = ssd->map->policy_data;
    CmtEntry *e = &d->cmt.entry[i];
    DftlPage *p = page_at(d, page_of(ssd, e->lpn));

    if (e->dirty) {
        return;
    }
    e->dirty = true;
    ihead_push(dirty_links(d), &p->dirty, i);
}

static void make_clean(Ssd *ssd, uint32_t i)
{
    Dftl *d = ssd->map->policy_data;
    CmtEntry *e = &d->cmt.entry[i];

    if (!e->dirty) {
        return;
    }
    e->dirty = false;
    ihead_remove(dirty_links(d), &page_at(d, page_of(ssd, e->lpn))->dirty, i);
}

/* ---- translation pages --------------------------------------------------- */

/* Read a part of the page, if it is not being read already. */
static void load(Ssd *ssd, uint32_t page, uint32_t part)
{
    Dftl *d = ssd->map->policy_data;
    uint32_t units = ssd->l.units_per_page;

    invariant(page < ssd->l.n_map_pages && part < ssd->l.pages_per_program);
    if (!(page_at(d, page)->loading >> part & 1)) {
        page_at(d, page)->loading |= (uint8_t)(1U << part);
        meta_read(ssd, page, part * units, units, META_MAP,
                  page * ssd->l.pages_per_program + part);
    }
}

/* Its old copy is in memory: program the page again. */
static void write_page(Ssd *ssd, uint32_t page)
{
    Dftl *d = ssd->map->policy_data;

    invariant(page_at(d, page)->loading == 0);
    invariant(page_at(d, page)->state == PAGE_READING);
    page_at(d, page)->state = PAGE_WAITING;
    if (media_cannot_program(ssd)) {
        dftl_page_begins(ssd, page);
        dftl_page_written(ssd, page);
    } else {
        meta_write(ssd, page, META_MAP);
    }
}

/* Write the page back, with all that is known of it then. */
static void write_back(Ssd *ssd, uint32_t page, bool for_gc)
{
    Dftl *d = ssd->map->policy_data;
    DftlPage *p = page_at(d, page);

    invariant(page < ssd->l.n_map_pages);
    if (p->state != PAGE_IDLE) {
        return; /* pages being programmed now come to dftl_page_written() */
    }
    p->state = PAGE_READING;
    p->for_gc = for_gc;
    if (for_gc) {
        d->n_writes[meta_plane(ssd, page)]++;
        d->stats.writes_gc++;
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
    Dftl *d = ssd->map->policy_data;
    const Plane *p = plane_at(ssd, plane);

    while (d->ready[plane].head != NONE && !media_cannot_program(ssd) &&
           d->n_writes[plane] < STALE_WRITES_PER_PLANE &&
           (!ssd->buffer->pump_waits || p->free.n > p->gc_low_blocks ||
            plane_is_lost(ssd, plane))) {
        uint32_t page = fifo_take(d, &d->ready[plane]);

        invariant(page_at(d, page)->listed);
        page_at(d, page)->listed = false;
        if (page_at(d, page)->stale) {
            write_back(ssd, page, true);
        }
    }
}

/* The contents of the page are final: all known entries. */
static void dftl_page_begins(Ssd *ssd, uint32_t page)
{
    Dftl *d = ssd->map->policy_data;
    DftlPage *p = page_at(d, page);

    invariant(page < ssd->l.n_map_pages);
    invariant(p->state == PAGE_WAITING || p->state == PAGE_WRITING);
    p->state = PAGE_WRITING;
    while (p->dirty != NONE) {
        make_clean(ssd, p->dirty);
    }
    invariant(d->n_stale >= p->stale);
    d->n_stale -= p->stale;
    p->stale = false;
    invariant(d->n_evicted >= p->evicted);
    d->n_evicted -= p->evicted;
    p->evicted = 0;
    *istack_end(waiter_chain(d), &p->sent) = p->writers;
    p->writers = NONE;
}

static void list_ready(Ssd *ssd, uint32_t page)
{
    Dftl *d = ssd->map->policy_data;

    invariant(page < ssd->l.n_map_pages && page_at(d, page)->stale);
    if (!page_at(d, page)->listed) {
        page_at(d, page)->listed = true;
        fifo_add(d, &d->ready[meta_plane(ssd, page)], page);
    }
}

static void dftl_page_written(Ssd *ssd, uint32_t page)
{
    Dftl *d = ssd->map->policy_data;
    DftlPage *p = page_at(d, page);
    uint32_t plane = meta_plane(ssd, page);

    invariant(page < ssd->l.n_map_pages && p->state == PAGE_WRITING);
    invariant(d->n_writes[plane] >= p->for_gc);
    d->n_writes[plane] -= p->for_gc;
    p->for_gc = false;
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

/* ---- the cache ----------------------------------------------------------- */

/* Make room for an entry.  The command, if there is one, waits until the
 * evicted entry is in NAND. */
static void evict(Ssd *ssd, uint32_t cmd)
{
    Dftl *d = ssd->map->policy_data;
    uint32_t i, page;
    bool dirty;

    if (cmt_used(&d->cmt) < d->cmt.most) {
        return;
    }
    i = order_victim(ssd);
    invariant(cmt_is_used(&d->cmt, i));
    page = page_of(ssd, d->cmt.entry[i].lpn);
    dirty = d->cmt.entry[i].dirty;
    make_clean(ssd, i);
    hmb_put(&d->hmb, d->cmt.entry[i].lpn, d->hmb_room);
    cmt_remove(&d->cmt, i);
    if (!dirty) {
        d->stats.evictions_clean++;
        return;
    }
    d->stats.evictions_dirty++;
    page_at(d, page)->evicted++;
    d->n_evicted++;
    if (cmd != NONE) {
        wait_for(ssd, &page_at(d, page)->writers, (DftlWaiter){.cmd = cmd});
    }
    write_back(ssd, page, false);
}

/* The entry comes into the cache, clean; it is not there yet. */
static uint32_t insert(Ssd *ssd, uint64_t lpn, uint32_t cmd)
{
    Dftl *d = ssd->map->policy_data;
    uint32_t i;

    evict(ssd, cmd);
    hmb_take(&d->hmb, lpn);
    i = cmt_insert(&d->cmt, lpn);
    order_insert(ssd, i);
    return i;
}

/* A part has been read: the entries that the command wanted, and if it goes on
 * where the cache has an entry, some more. */
static void insert_loaded(Ssd *ssd, const DftlWaiter *w)
{
    Dftl *d = ssd->map->policy_data;
    uint32_t per_part = ssd->l.map_entries / ssd->l.pages_per_program;
    uint64_t end = (uint64_t)w->lpn + w->n;

    invariant((uint64_t)w->lpn + w->n <= ssd->l.user_units);
    invariant(w->n > 0);
    if (ssd->cfg->map_prefetch > 0 && w->lpn > 0 &&
        cmt_find(&d->cmt, w->lpn - 1) != NONE) {
        end = MIN(end + ssd->cfg->map_prefetch,
                  (uint64_t)(w->lpn / per_part + 1) * per_part);
        end = MIN(end, ssd->l.user_units);
    }
    for (uint64_t lpn = w->lpn; lpn < end; lpn++) {
        if (cmt_find(&d->cmt, lpn) == NONE) {
            insert(ssd, lpn, w->cmd);
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
        istack_push(waiter_chain(d), &taken,
                    istack_unlink(waiter_chain(d), link));
    }
    return taken;
}

static void dftl_page_read(Ssd *ssd, uint32_t cookie)
{
    Dftl *d = ssd->map->policy_data;
    uint32_t page = cookie / ssd->l.pages_per_program;
    uint32_t part = cookie % ssd->l.pages_per_program;
    DftlPage *p = page_at(d, page);
    uint32_t taken = take_loaders(d, p, part);
    DftlWaiter w;

    invariant(page < ssd->l.n_map_pages);
    invariant(p->loading >> part & 1);
    p->loading &= (uint8_t)~(1U << part);
    if (p->state == PAGE_READING && p->loading == 0) {
        write_page(ssd, page);
    }
    while (take_waiter(d, &taken, &w)) {
        insert_loaded(ssd, &w);
        settle(ssd, w.cmd);
    }
}

/* ---- lookups ------------------------------------------------------------- */

/*
 * The entry must be read from its translation page.  It need not where the cache
 * has it; nor does a command need one of a unit that is in the buffer, or whose
 * translation page, as the directory says, has never been written.
 */
static bool misses(Ssd *ssd, uint64_t lpn, uint64_t *in_hmb)
{
    Dftl *d = ssd->map->policy_data;
    uint32_t i;

    if (map_is_buffered(l2p_get(&ssd->l2p, lpn))) {
        return false;
    }
    i = cmt_find(&d->cmt, lpn);
    if (i != NONE) {
        d->stats.lookups++;
        d->stats.hits++;
        order_used(ssd, i);
        return false;
    }
    if (!meta_in_nand(ssd, page_of(ssd, lpn))) {
        return false;
    }
    d->stats.lookups++;
    d->stats.misses++;
    if (hmb_holds(&d->hmb, lpn)) {
        d->stats.hmb_hits++;
        (*in_hmb)++;
        return false;
    }
    return true;
}

/* Entries come from the memory of the host, all at once. */
static void fetch(Ssd *ssd, uint32_t cmd, uint64_t entries)
{
    uint64_t ps =
        link_read_host(ssd, ssd->now_ps, entries * ssd->l.cache_entry_bytes);

    ssd->commands.cmd[cmd].map_pending++;
    controller_pend(ssd);
    eventq_push(&ssd->events, ps + ssd->cfg->t_hmb_ps, SSD_EVENT_CMD_HMB, cmd);
}

/* They are there: they go into the cache, unless they have changed meanwhile.
 */
static void dftl_fetched(Ssd *ssd, uint32_t cmd)
{
    Dftl *d = ssd->map->policy_data;
    const SsdCmd *req = &ssd->commands.cmd[cmd].req;
    uint64_t last = (req->lba + req->nblocks - 1) >> ssd->block_shift;

    for (uint64_t lpn = req->lba >> ssd->block_shift; lpn <= last; lpn++) {
        if (hmb_take(&d->hmb, lpn)) {
            insert(ssd, lpn, cmd);
        }
    }
    controller_unpend(ssd);
    settle(ssd, cmd);
}

/* Wait for the entries of a run of units, all in one part. */
static void miss(Ssd *ssd, DftlWaiter *run)
{
    Dftl *d = ssd->map->policy_data;
    uint32_t page = page_of(ssd, run->lpn);

    if (run->n == 0) {
        return;
    }
    invariant(run->part < ssd->l.pages_per_program);
    wait_for(ssd, &page_at(d, page)->loaders, *run);
    ssd->commands.cmd[run->cmd].map_misses++;
    d->stats.reads += !(page_at(d, page)->loading >> run->part & 1);
    load(ssd, page, run->part);
    run->n = 0;
}

static void add_miss(Ssd *ssd, DftlWaiter *run, uint64_t lpn)
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
    Dftl *d = ssd->map->policy_data;
    const SsdCmd *req = &ssd->commands.cmd[cmd].req;
    uint64_t last = (req->lba + req->nblocks - 1) >> ssd->block_shift;
    DftlWaiter run = {.cmd = cmd};
    uint64_t in_hmb = 0;

    invariant(cmd < ssd->commands.n_cmds);
    invariant(ssd->commands.cmd[cmd].map_pending == 0);
    for (uint64_t lpn = req->lba >> ssd->block_shift; lpn <= last; lpn++) {
        if (misses(ssd, lpn, &in_hmb)) {
            add_miss(ssd, &run, lpn);
        }
    }
    miss(ssd, &run);
    if (in_hmb > 0) {
        fetch(ssd, cmd, in_hmb);
    }
    if (req->op == SSD_OP_WRITE && d->n_evicted >= MOST_EVICTED) {
        wait_for(ssd, &d->throttled, (DftlWaiter){.cmd = cmd});
    }
    return ssd->commands.cmd[cmd].map_pending == 0;
}

static bool dftl_knows(const Ssd *ssd, uint64_t lpn)
{
    const Dftl *d = ssd->map->policy_data;

    return cmt_find(&d->cmt, lpn) != NONE ||
           !meta_in_nand(ssd, page_of(ssd, lpn));
}

/* ---- updates ------------------------------------------------------------- */

static void make_stale(Dftl *d, uint32_t page)
{
    DftlPage *p = page_at(d, page);

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

static void dftl_changed(Ssd *ssd, uint64_t lpn, MapChange why)
{
    Dftl *d = ssd->map->policy_data;
    uint32_t i;

    if (media_cannot_program(ssd) || age_is_on(ssd)) {
        return;
    }
    i = cmt_find(&d->cmt, lpn);
    if (i == NONE && why == MAP_PROGRAMMED) {
        i = insert(ssd, lpn, NONE);
    }
    if (i != NONE) {
        make_dirty(ssd, i);
    } else {
        hmb_take(&d->hmb, lpn); /* it is of the old place */
        make_stale(d, page_of(ssd, lpn));
    }
}

static void dftl_changes_end(Ssd *ssd)
{
    Dftl *d = ssd->map->policy_data;

    while (d->gathered.head != NONE) {
        uint32_t page = fifo_take(d, &d->gathered);

        invariant(page_at(d, page)->listed);
        page_at(d, page)->listed = false;
        if (page_at(d, page)->stale) {
            list_ready(ssd, page);
            write_stale(ssd, meta_plane(ssd, page));
        }
    }
}

static void dftl_aged(Ssd *ssd, uint64_t lpn, bool aged)
{
    meta_preload(ssd, page_of(ssd, lpn), META_MAP, aged);
}

/* ---- creation and power -------------------------------------------------- */

/* The cache is empty, and nothing is under way. */
static void forget(Ssd *ssd)
{
    Dftl *d = ssd->map->policy_data;

    invariant(ssd->l.n_map_pages > 0);
    lazy_clear(d->page, ssd->l.n_map_pages, sizeof(*d->page));
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
    Dftl *d = ssd->map->policy_data;

    invariant(!ssd->powered);
    cmt_clear(&d->cmt);
    order_forget(ssd);
    hmb_clear(&d->hmb); /* the memory of the host is gone, too */
    forget(ssd);
}

/* Has the unit changed since its translation page was written, by spare areas
 * and journal pages? */
static bool is_behind(const Ssd *ssd, uint64_t lpn, uint64_t low)
{
    uint64_t entry = l2p_get(&ssd->l2p, lpn);

    if (entry) {
        return page_seq(ssd, ppu_page(ssd, entry - 1)) > low;
    }
    return ssd->journal->floor[lpn] > 0 &&
           ssd->journal->saved_page[lpn / ssd->l.saved_units].seq > low;
}

/* Translation pages that are older than a change that recovery has found are
 * written again, when there is room. */
static void dftl_recovered(Ssd *ssd)
{
    uint32_t page = NONE;
    uint64_t low = 0;
    KnownWalk w;
    uint64_t lpn;

    known_begin(ssd, &w);
    lpn = known_next(&w, 0);
    while (lpn < ssd->l.user_units) {
        if (page_of(ssd, lpn) != page) {
            page = page_of(ssd, lpn);
            low = meta_low_seq(ssd, page);
        }
        if (is_behind(ssd, lpn, low)) {
            make_stale(ssd->map->policy_data, page);
            lpn = (uint64_t)(page + 1) * ssd->l.map_entries - 1;
        }
        lpn = known_next(&w, lpn + 1);
    }
    known_end(&w);
    dftl_changes_end(ssd);
}

static void dftl_set_host_memory(Ssd *ssd, uint64_t bytes)
{
    Dftl *d = ssd->map->policy_data;

    d->hmb_room = (uint32_t)MIN(bytes / ssd->l.cache_entry_bytes, d->hmb.most);
    hmb_shrink(&d->hmb, d->hmb_room);
}

static const MetaClient dftl_pages = {
    .begins = dftl_page_begins,
    .written = dftl_page_written,
    .read = dftl_page_read,
};

static void dftl_init(Ssd *ssd)
{
    Dftl *d = g_new0(Dftl, 1);
    uint64_t most = ssd->cfg->map_cache_bytes / ssd->l.cache_entry_bytes;

    invariant(!ssd->map->policy_data);
    ssd->map->policy_data = d;
    cmt_init(&d->cmt, (uint32_t)MIN(most, ssd->l.user_units));
    order_init(ssd);
    most = ssd->cfg->hmb_bytes / ssd->l.cache_entry_bytes;
    hmb_init(&d->hmb, MIN(most, ssd->l.user_units));
    d->hmb_room = d->hmb.most;
    d->page = lazy_new(DftlPage, ssd->l.n_map_pages);
    d->ready = g_new(PageFifo, ssd->l.n_planes);
    d->n_writes = g_new(uint32_t, ssd->l.n_planes);
    forget(ssd);
    ssd->map->policy_bytes = (d->cmt.most + d->hmb.most) * sizeof(CmtEntry) +
                             d->cmt.n_buckets * sizeof(uint32_t) +
                             ssd->l.n_map_pages * sizeof(DftlPage);
    meta_set_client(ssd, META_MAP, &dftl_pages);
}

static void dftl_destroy(Ssd *ssd)
{
    Dftl *d = ssd->map->policy_data;

    cmt_destroy(&d->cmt);
    hmb_destroy(&d->hmb);
    lazy_free(d->page, ssd->l.n_map_pages, sizeof(*d->page));
    g_free(d->waiter);
    g_free(d->ready);
    g_free(d->n_writes);
    g_free(d);
}

static void dftl_reset_stats(Ssd *ssd)
{
    Dftl *d = ssd->map->policy_data;

    d->stats.most_stale = d->n_stale;
}

const MapPolicy map_dftl = {
    .name = "dftl",
    .help = "every unit by itself, the map in NAND, part of it cached (DFTL)",
    .in_nand = true,
    .init = dftl_init,
    .destroy = dftl_destroy,
    .lookup = dftl_lookup,
    .fetched = dftl_fetched,
    .knows = dftl_knows,
    .changed = dftl_changed,
    .changes_end = dftl_changes_end,
    .room = write_stale,
    .aged = dftl_aged,
    .power_lost = dftl_power_lost,
    .set_host_memory = dftl_set_host_memory,
    .recovered = dftl_recovered,
    .state = dftl_state,
    .check = dftl_check,
    .stats = &dftl_stats,
    .reset_stats = dftl_reset_stats,
};
