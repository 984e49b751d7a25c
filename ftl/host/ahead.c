/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ahead.c - reading ahead of streams of reads.
 *
 * A stream is a series of reads, each of which begins where the one before
 * ended.  With host.read_streams streams, a new one replaces the one that was
 * least recently read.  After host.read_ahead_after reads in order, the drive
 * reads ahead into a window of host.read_ahead bytes, in DRAM beside the
 * buffer.  When the stream enters one half of the window, the drive reads the
 * next half: it reads whole pages, and at most one window that no command uses.
 *
 * Knows units and their windows.  A WRITE or a TRIM drops its units; a move by
 * GC does not.  A stream with reads of the array in flight is not replaced, so
 * the end of a read finds its units.
 */
#include "buffer/buffer-internal.h"
#include "commands.h"
#include "controller/controller.h"
#include "host/ahead.h"
#include "inspect/oplog.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "media/faulty.h"
#include "media/media.h"
#include "media/spare.h"
#include "pool.h"
#include "ssd-internal.h"

static IlistLinks waiter_chain(const Ahead *a)
{
    return ILIST_CHAIN(a->waiter, AheadWaiter, next);
}

void ahead_forget(Ssd *ssd)
{
    Ahead *a = &ssd->host->ahead;
    size_t n = (size_t)a->n_streams * ahead_window(ssd);

    for (uint32_t i = 0; i < a->n_streams; i++) {
        a->stream[i] = (AheadStream){.reads = 0};
    }
    for (size_t i = 0; i < n; i++) {
        a->unit[i] = (AheadUnit){.waiters = NONE};
    }
    g_clear_pointer(&a->waiter, g_free);
    a->n_waiters = 0;
    a->free_waiter = NONE;
}

void ahead_init(Ssd *ssd)
{
    Ahead *a = &ssd->host->ahead;

    a->free_waiter = NONE;
    if (ahead_window(ssd) == 0) {
        return;
    }
    a->n_streams = ssd->cfg->read_streams;
    a->stream = g_new(AheadStream, a->n_streams);
    a->unit = g_new(AheadUnit, (size_t)a->n_streams * ahead_window(ssd));
    ahead_forget(ssd);
}

void ahead_destroy(Ssd *ssd)
{
    g_free(ssd->host->ahead.stream);
    g_free(ssd->host->ahead.unit);
    g_free(ssd->host->ahead.waiter);
}

/* ---- units of a window --------------------------------------------------- */

static uint32_t unit_index(const Ssd *ssd, uint32_t stream, uint64_t lpn)
{
    uint32_t window = ahead_window(ssd);

    return stream * window + (uint32_t)(lpn % window);
}

/* The unit of a window with that lpn, read or being read; or NULL. */
static AheadUnit *find(Ssd *ssd, uint64_t lpn)
{
    Ahead *a = &ssd->host->ahead;

    for (uint32_t i = 0; i < a->n_streams; i++) {
        if (lpn >= a->stream[i].first && lpn < a->stream[i].end) {
            AheadUnit *u = &a->unit[unit_index(ssd, i, lpn)];

            if (u->state != AHEAD_NONE && !u->drop && u->lpn == lpn) {
                return u;
            }
        }
    }
    return NULL;
}

/* The stream has passed the unit, or its data is out of date. */
static void drop_unit(Ssd *ssd, AheadUnit *u)
{
    if (u->state == AHEAD_NONE || u->drop) {
        return;
    }
    ssd->inspect.count.read_ahead_wasted += !u->used;
    if (u->state == AHEAD_LOADING) {
        u->drop = true;
    } else {
        u->state = AHEAD_NONE;
    }
}

/* Units first..end - 1 of the window of a stream. */
static void drop_range(Ssd *ssd, uint32_t stream, uint64_t first, uint64_t end)
{
    Ahead *a = &ssd->host->ahead;

    first = MAX(first, a->stream[stream].first);
    end = MIN(end, a->stream[stream].end);
    for (; first < end; first++) {
        AheadUnit *u = &a->unit[unit_index(ssd, stream, first)];

        if (u->lpn == first) {
            drop_unit(ssd, u);
        }
    }
}

void ahead_drop(Ssd *ssd, uint64_t first, uint64_t last)
{
    for (uint32_t i = 0; i < ssd->host->ahead.n_streams; i++) {
        const AheadStream *s = &ssd->host->ahead.stream[i];

        if (first < s->end && last >= s->first) {
            drop_range(ssd, i, first, last + 1);
        }
    }
}

bool ahead_hit(Ssd *ssd, uint32_t cmd, uint64_t lpn)
{
    Ahead *a = &ssd->host->ahead;
    Cmd *c = &ssd->commands.cmd[cmd];
    AheadUnit *u = find(ssd, lpn);
    uint32_t w;

    invariant(cmd < ssd->commands.n_cmds);
    if (!u) {
        return false;
    }
    ssd->inspect.count.read_ahead_hits++;
    u->used = true;
    c->data_ps = dram_end(ssd, c->data_ps, 1);
    if (u->state == AHEAD_LOADING) {
        a->waiter = pool_grow(a->waiter, waiter_chain(a), &a->free_waiter,
                              &a->n_waiters, 16);
        w = pool_take(waiter_chain(a), &a->free_waiter);
        a->waiter[w].cmd = cmd;
        istack_push(waiter_chain(a), &u->waiters, w);
        c->pending++;
    }
    return true;
}

/* ---- reading ------------------------------------------------------------- */

/* Units in one physical page, in the order of their addresses. */
typedef struct AheadRun {
    uint32_t stream;
    uint64_t lpn; /* the first one */
    uint32_t units;
    uint64_t page;
    uint64_t parts;
} AheadRun;

static void run_send(Ssd *ssd, AheadRun *run)
{
    Ahead *a = &ssd->host->ahead;
    uint32_t first = unit_index(ssd, run->stream, run->lpn);
    NandOp op = {
        .kind = NAND_READ,
        .cause = NAND_CAUSE_HOST,
        .ppa = {run->page},
        .bytes = run->units << ssd->unit_shift,
        .cookie = AHEAD_COOKIE | first,
        .parts = run->parts,
    };

    if (run->units == 0) {
        return;
    }
    a->unit[first].run = run->units;
    a->stream[run->stream].loading += run->units;
    ssd->inspect.count.read_ahead_units += run->units;
    run->units = 0;
    run->parts = 0;
    faulty_submit(ssd, &op);
}

static void run_add(Ssd *ssd, AheadRun *run, uint64_t lpn, uint64_t ppu)
{
    if (run->units > 0 &&
        (run->page != ppu_page(ssd, ppu) || run->lpn + run->units != lpn)) {
        run_send(ssd, run);
    }
    if (run->units++ == 0) {
        run->lpn = lpn;
        run->page = ppu_page(ssd, ppu);
    }
    run->parts |= unit_parts(ssd, ppu);
}

/* Is the current data of the unit in NAND, and readable? */
static bool in_nand(const Ssd *ssd, uint64_t lpn)
{
    uint64_t entry = l2p_get(&ssd->l2p, lpn);

    return entry && !map_is_buffered(entry) && !trim_covers(ssd, lpn) &&
           !spare_poisoned(ssd, entry - 1);
}

static bool is_known(const Ssd *ssd, uint64_t lpn)
{
    return !ssd->map->policy->knows || ssd->map->policy->knows(ssd, lpn);
}

/* Read the unit, if its place in the window is free.  false: it is not, or its
 * map entry is not in DRAM, to which only a command of the host reads it. */
static bool read_unit(Ssd *ssd, AheadRun *run, uint64_t lpn)
{
    AheadUnit *u = &ssd->host->ahead.unit[unit_index(ssd, run->stream, lpn)];
    uint64_t entry = l2p_get(&ssd->l2p, lpn);

    if (u->state == AHEAD_LOADING || !is_known(ssd, lpn)) {
        return false;
    }
    *u = (AheadUnit){.waiters = NONE, .lpn = lpn};
    if (in_nand(ssd, lpn)) {
        u->state = AHEAD_LOADING;
        u->ppu = entry - 1;
        oplog_add(ssd->inspect.log, OPLOG_LOOKUP, OPLOG_IN_NAND, lpn,
                  ssd->now_ps, 0, entry - 1);
        run_add(ssd, run, lpn, entry - 1);
    }
    return true;
}

/* Move the window to the end of the stream's last read, and fill it. */
static void move_window(Ssd *ssd, uint32_t stream)
{
    AheadStream *s = &ssd->host->ahead.stream[stream];
    uint64_t at = s->next_lba >> ssd->block_shift;
    uint32_t half = ahead_window(ssd) / 2;
    uint64_t target = MIN((at / half + 2) * half, ssd->l.user_units);
    AheadRun run = {.stream = stream};

    drop_range(ssd, stream, 0, at);
    s->first = at;
    s->end = MAX(s->end, at);
    if (s->reads < ssd->cfg->read_ahead_after) {
        return;
    }
    while (s->end < target && read_unit(ssd, &run, s->end)) {
        s->end++;
    }
    run_send(ssd, &run);
}

/* ---- streams ------------------------------------------------------------- */

static bool continues(const Ssd *ssd, const AheadStream *s, uint64_t lba)
{
    /* Reads in flight at the same time may begin out of order. */
    bool near = s->reads >= ssd->cfg->read_ahead_after && lba > s->next_lba &&
                lba >> ssd->block_shift < s->end;

    return s->reads > 0 && (lba == s->next_lba || near);
}

/* The stream that a read continues, or the one that its new stream replaces;
 * NONE: all have reads of the array in flight. */
static uint32_t stream_of(const Ssd *ssd, uint64_t lba, bool *is_new)
{
    const Ahead *a = &ssd->host->ahead;
    uint32_t oldest = NONE;

    *is_new = false;
    for (uint32_t i = 0; i < a->n_streams; i++) {
        const AheadStream *s = &a->stream[i];

        if (continues(ssd, s, lba)) {
            return i;
        }
        if (s->loading == 0 &&
            (oldest == NONE || s->last_read < a->stream[oldest].last_read)) {
            oldest = i;
        }
    }
    *is_new = true;
    return oldest;
}

void ahead_note_read(Ssd *ssd, uint32_t cmd)
{
    const Cmd *c = &ssd->commands.cmd[cmd];
    Ahead *a = &ssd->host->ahead;
    AheadStream *s;
    uint32_t i;
    bool is_new;

    i = stream_of(ssd, c->req.lba, &is_new);
    if (i == NONE) {
        return;
    }
    s = &a->stream[i];
    if (is_new) {
        drop_range(ssd, i, 0, UINT64_MAX);
        *s = (AheadStream){.reads = 0};
    }
    s->reads += s->reads < UINT32_MAX;
    s->last_read = c->serial;
    s->next_lba = c->req.lba + c->req.nblocks;
    move_window(ssd, i);
}

void ahead_expect(Ssd *ssd, uint64_t lba)
{
    Ahead *a = &ssd->host->ahead;
    AheadStream *s;
    uint32_t i;
    bool is_new;

    invariant(lba < ssd->info.nblocks);
    i = stream_of(ssd, lba, &is_new);
    if (i == NONE) {
        return;
    }
    s = &a->stream[i];
    if (is_new) {
        drop_range(ssd, i, 0, UINT64_MAX);
        *s = (AheadStream){.next_lba = lba};
    }
    s->reads = MAX(s->reads, ssd->cfg->read_ahead_after);
    s->last_read = ssd->commands.last_serial;
    move_window(ssd, i);
}

/* ---- the end of a read --------------------------------------------------- */

/* The read of the unit that these commands wait for has ended. */
static void notify_waiters(Ssd *ssd, uint32_t waiters, uint64_t lpn, bool bad)
{
    Ahead *a = &ssd->host->ahead;

    waiters = istack_reverse(waiter_chain(a), waiters); /* oldest first */
    while (waiters != NONE) {
        uint32_t w = istack_pop(waiter_chain(a), &waiters);
        uint32_t cmd = a->waiter[w].cmd;

        pool_give(waiter_chain(a), &a->free_waiter, w);
        cmd_load_settled(ssd, cmd, lpn, bad);
    }
}

static void unit_read(Ssd *ssd, uint32_t index, const NandOp *op)
{
    AheadUnit *u = &ssd->host->ahead.unit[index];
    uint32_t waiters = u->waiters;
    bool bad = op->status == NAND_UNCORRECTABLE &&
               op->bad_parts & unit_parts(ssd, u->ppu);

    invariant(u->state == AHEAD_LOADING);
    u->state = u->drop || bad ? AHEAD_NONE : AHEAD_READY;
    u->drop = false;
    u->waiters = NONE;
    notify_waiters(ssd, waiters, u->lpn, bad);
}

void ahead_read_done(Ssd *ssd, const NandOp *op)
{
    uint32_t window = ahead_window(ssd);
    uint32_t first = op->cookie & ~AHEAD_COOKIE;
    uint32_t stream = first / window;
    uint32_t n = ssd->host->ahead.unit[first].run;

    invariant(stream < ssd->host->ahead.n_streams);
    invariant(ssd->host->ahead.stream[stream].loading >= n);
    ssd->host->ahead.stream[stream].loading -= n;
    if (ssd->controller->dram_move_ps) {
        dram_move(ssd, n);
    }
    for (uint32_t i = 0; i < n; i++) {
        unit_read(ssd, stream * window + (first % window + i) % window, op);
    }
}

/* ---- checks -------------------------------------------------------------- */

static bool check_unit(const Ssd *ssd, const AheadUnit *u)
{
    return u->state <= AHEAD_LOADING && u->drop <= 1 && u->used <= 1 &&
           u->run <= ahead_window(ssd) &&
           (u->state == AHEAD_LOADING || (u->waiters == NONE && !u->drop)) &&
           (u->state == AHEAD_NONE ||
            (u->lpn < ssd->l.user_units && u->ppu < ssd->l.raw_units));
}

bool ahead_check(const Ssd *ssd, GError **error)
{
    const Ahead *a = &ssd->host->ahead;
    uint32_t window = ahead_window(ssd);

    for (uint32_t i = 0; i < a->n_streams; i++) {
        const AheadStream *s = &a->stream[i];
        uint32_t loading = 0;

        for (uint32_t k = 0; k < window; k++) {
            const AheadUnit *u = &a->unit[i * window + k];

            if (!check_unit(ssd, u)) {
                return opt_fail(error, OPT_ERROR_VALUE,
                                "read-ahead: unit %u of stream %u", k, i);
            }
            loading += u->state == AHEAD_LOADING;
        }
        if (loading != s->loading || s->first > s->end ||
            s->end - s->first > window || s->end > ssd->l.user_units ||
            s->next_lba > ssd->info.nblocks) {
            return opt_fail(error, OPT_ERROR_VALUE,
                            "read-ahead: stream %u, %u units being read", i,
                            loading);
        }
    }
    return true;
}
