/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand.c - channels, dies and planes as contended resources.
 *
 * An operation waits for its unit (a die; a chip or a plane with nand.lock),
 * runs through its phases there, and takes the channel for each bus phase:
 *
 *   read      command (bus), tR (cell), [status], data out (bus)
 *   program   command and data in (bus), tPROG (cell), [status]
 *   erase     command (bus), tBERS (cell), [status]
 *   copyback  as a read without data out, then as a program without data in
 *
 * Operations that run as one multi-plane command form a group: a leader and
 * its mates.  Their bus phases follow one another, their cell phase is one.
 *
 * A unit has three places.  `array` is the group that loads, occupies the array
 * or has just left it; `loading` is a program that fills the cache register
 * meanwhile (cache program); `out` is a read whose data leaves the cache
 * register while the array may read on (cache read).
 *
 * How long each phase takes is nand-timing.c's business, which operation is next is
 * nand-sched.c's, and the rules of the medium are in nand-rules.c.
 */
#include "nand-internal.h"

#include "lazymem.h"

/* ---- queues ---------------------------------------------------------------- */

static void list_push(Nand *n, OpList *l, uint32_t i)
{
    n->op[i].next = NONE;
    if (l->head == NONE) {
        l->head = i;
    } else {
        n->op[l->tail].next = i;
    }
    l->tail = i;
}

static void list_push_front(Nand *n, OpList *l, uint32_t i)
{
    n->op[i].next = l->head;
    if (l->head == NONE) {
        l->tail = i;
    }
    l->head = i;
}

static void list_remove(Nand *n, OpList *l, uint32_t i)
{
    uint32_t prev = NONE;

    for (uint32_t k = l->head; k != i; k = n->op[k].next) {
        prev = k;
    }
    if (prev == NONE) {
        l->head = n->op[i].next;
    } else {
        n->op[prev].next = n->op[i].next;
    }
    if (l->tail == i) {
        l->tail = prev;
    }
}

static void pool_grow(Nand *n)
{
    uint32_t old = n->n_op;

    n->n_op = old ? old * 2 : 64;
    n->op = g_renew(NandOp, n->op, n->n_op);
    for (uint32_t i = n->n_op; i-- > old;) {
        n->op[i].phase = PHASE_FREE;
        n->op[i].next = n->free_op;
        n->free_op = i;
    }
}

static uint32_t pool_take(Nand *n)
{
    uint32_t i;

    if (n->free_op == NONE) {
        pool_grow(n);
    }
    i = n->free_op;
    n->free_op = n->op[i].next;
    return i;
}

static void pool_give(Nand *n, uint32_t i)
{
    n->op[i].phase = PHASE_FREE;
    n->op[i].next = n->free_op;
    n->free_op = i;
}

/* ---- accounts -------------------------------------------------------------- */

static const uint8_t time_of_phase[N_PHASES] = {
    [PHASE_FREE] = NAND_TIME_DIE_WAIT,
    [PHASE_DIE_WAIT] = NAND_TIME_DIE_WAIT,
    [PHASE_TURN] = NAND_TIME_BUS_WAIT,
    [PHASE_BUS_WAIT] = NAND_TIME_BUS_WAIT,
    [PHASE_BUS] = NAND_TIME_BUS,
    [PHASE_LOADED] = NAND_TIME_DIE_WAIT,
    [PHASE_GAP] = NAND_TIME_CELL,
    [PHASE_CELL] = NAND_TIME_CELL,
    [PHASE_SUSPENDING] = NAND_TIME_DIE_WAIT,
    [PHASE_SUSPENDED] = NAND_TIME_DIE_WAIT,
    [PHASE_READY] = NAND_TIME_BUS_WAIT,
    [PHASE_ECC] = NAND_TIME_ECC,
};

static void enter(Nand *n, uint32_t i, Phase phase, uint64_t now_ps)
{
    NandOp *op = &n->op[i];
    uint64_t ps = now_ps - op->mark_ps;
    NandTime t = time_of_phase[op->phase];

    op->time_ps[t] += ps;
    if (op->phase == PHASE_CELL) {
        n->plane_busy_ps[op->plane] += ps;
    }
    if (G_UNLIKELY(n->watch)) {
        nand_watch_phase(n, op, now_ps);
    }
    op->mark_ps = now_ps;
    op->phase = phase;
}

static void enter_group(Nand *n, uint32_t leader, Phase phase, uint64_t now_ps)
{
    for (uint32_t i = leader; i != NONE; i = n->op[i].mate) {
        enter(n, i, phase, now_ps);
    }
}

/* A read that the host waits for. */
static bool of_host(const NandOp *op)
{
    return op->kind == NAND_READ && op->cause == NAND_CAUSE_HOST;
}

/* One more, or one less, operation holds something of the die. */
static void die_hold(Nand *n, const NandOp *op, uint64_t now_ps)
{
    Die *d = &n->die[op->die];

    if (d->holders++ == 0) {
        d->since_ps = now_ps;
    }
}

static void die_let_go(Nand *n, const NandOp *op, uint64_t now_ps)
{
    Die *d = &n->die[op->die];

    d->load--;
    if (--d->holders == 0) {
        d->busy_ps += now_ps - d->since_ps;
        n->stats.die_busy_ps += now_ps - d->since_ps;
    }
}

/* ---- the channel ------------------------------------------------------------ */

static uint64_t bus_phase_ps(const Nand *n, const NandOp *op)
{
    const NandTiming *t = &n->timing;

    switch (op->step) {
    case STEP_IN:
        switch (op->kind) {
        case NAND_READ:
            return t->read_cmd_ps;
        case NAND_PROGRAM:
            return nand_block_program(&n->geo, op->block) *
                   (t->program_cmd_ps + nand_data_ps(t, op->bytes));
        case NAND_COPYBACK:
            return op->second ? t->program_cmd_ps : t->read_cmd_ps;
        default:
            return t->erase_cmd_ps;
        }
    case STEP_STATUS:
        return t->status_ps;
    default:
        return t->read_out_ps + nand_data_ps(t, op->bytes) +
               (op->grouped ? t->change_ps : 0);
    }
}

static void bus_grant(Nand *n, uint32_t c, uint32_t i, uint64_t now_ps)
{
    Channel *ch = &n->channel[c];
    uint64_t ps;

    enter(n, i, PHASE_BUS, now_ps);
    ps = bus_phase_ps(n, &n->op[i]);
    ch->owner = i;
    ch->busy_ps += ps;
    ch->until_ps = now_ps + ps;
    n->stats.bus_busy_ps += ps;
    eventq_push(n->q, now_ps + ps, NAND_EVENT_BUS_DONE, i);
}

/*
 * A command that waits behind a transfer keeps its die from working, for want
 * of some hundred nanoseconds; and once two dies have met on the channel, they
 * would meet in every round.
 */
static bool carries_data(const NandOp *op)
{
    return op->step == STEP_OUT ||
           (op->step == STEP_IN && op->kind == NAND_PROGRAM);
}

static void bus_ask(Nand *n, uint32_t i, Step step, uint64_t now_ps)
{
    uint32_t c = n->op[i].channel;

    n->op[i].step = (uint8_t)step;
    enter(n, i, PHASE_BUS_WAIT, now_ps);
    if (n->channel[c].owner == NONE) {
        bus_grant(n, c, i, now_ps);
    } else if (carries_data(&n->op[i])) {
        list_push(n, &n->channel[c].waiting, i);
    } else {
        list_push(n, &n->channel[c].commands, i);
    }
}

/* An operation in a queue that will be read again, once it is decoded. */
static bool not_yet(const Nand *n, uint32_t i)
{
    return n->op[i].phase == PHASE_ECC;
}

/* The operation of the list that the policy puts first; NONE: there is none. */
static uint32_t best_of(const Nand *n, const OpList *l, uint64_t now_ps)
{
    uint32_t best = l->head;
    unsigned best_rank;

    while (best != NONE && not_yet(n, best)) {
        best = n->op[best].next;
    }
    if (best == NONE || !n->sched->rank || n->op[best].next == NONE) {
        return best;
    }
    best_rank = n->sched->rank(&n->cfg, &n->op[best], now_ps);
    for (uint32_t i = n->op[best].next; i != NONE; i = n->op[i].next) {
        unsigned rank = n->sched->rank(&n->cfg, &n->op[i], now_ps);

        if (rank < best_rank && !not_yet(n, i)) {
            best_rank = rank;
            best = i;
        }
    }
    return best;
}

static void bus_release(Nand *n, uint32_t c, uint64_t now_ps)
{
    Channel *ch = &n->channel[c];
    OpList *list = ch->commands.head == NONE ? &ch->waiting : &ch->commands;
    uint32_t next = best_of(n, list, now_ps);

    ch->owner = NONE;
    if (next != NONE) {
        list_remove(n, list, next);
        bus_grant(n, c, next, now_ps);
    }
}

/* ---- choosing what a unit does next ----------------------------------------- */

static bool touches(const Nand *n, const NandOp *op, uint32_t block)
{
    return op->block == block ||
           (op->kind == NAND_COPYBACK &&
            op->from.page / n->geo.pages_per_block == block);
}

/* May b, which came later, go before a? */
static bool may_overtake(const Nand *n, const NandOp *b, const NandOp *a)
{
    if (a->kind == NAND_READ && b->kind == NAND_READ) {
        return true;
    }
    return !touches(n, a, b->block) && !touches(n, b, a->block);
}

/* The first waiting operation that must not be overtaken by i; i if none. */
static uint32_t first_in_the_way(const Nand *n, const Unit *u, uint32_t i)
{
    for (uint32_t k = u->waiting.head; k != i; k = n->op[k].next) {
        if (!may_overtake(n, &n->op[i], &n->op[k])) {
            return k;
        }
    }
    return i;
}

static uint32_t pick(const Nand *n, const Unit *u, uint64_t now_ps)
{
    uint32_t i = best_of(n, &u->waiting, now_ps);

    while (i != NONE && i != u->waiting.head) {
        uint32_t k = first_in_the_way(n, u, i);

        if (k == i) {
            break;
        }
        i = k;
    }
    return i != NONE && not_yet(n, i) ? NONE : i;
}

/* The first waiting read that may go before all that came before it. */
static uint32_t pick_read(const Nand *n, const Unit *u)
{
    for (uint32_t i = u->waiting.head; i != NONE; i = n->op[i].next) {
        if (n->op[i].kind == NAND_READ && !not_yet(n, i) &&
            first_in_the_way(n, u, i) == i) {
            return i;
        }
    }
    return NONE;
}

/* May i join the group as one more plane of the same command? */
static bool may_join(const Nand *n, uint32_t leader, uint32_t i)
{
    const NandOp *a = &n->op[leader];
    const NandOp *b = &n->op[i];
    uint32_t pages = n->geo.pages_per_block;

    if (a->kind != b->kind || a->kind == NAND_COPYBACK ||
        a->die != b->die) {
        return false;
    }
    for (uint32_t k = leader; k != NONE; k = n->op[k].mate) {
        if (n->op[k].plane == b->plane) {
            return false;
        }
    }
    return a->kind == NAND_ERASE ||
           (a->kind == NAND_READ && n->cfg.independent_reads) ||
           a->ppa.page % pages == b->ppa.page % pages;
}

static void gather_mates(Nand *n, Unit *u, uint32_t leader)
{
    uint32_t last = leader;
    uint32_t next;

    for (uint32_t i = u->waiting.head; i != NONE; i = next) {
        next = n->op[i].next;
        if (!not_yet(n, i) && may_join(n, leader, i) &&
            first_in_the_way(n, u, i) == i) {
            list_remove(n, &u->waiting, i);
            n->op[last].mate = i;
            n->op[i].leader = leader;
            n->op[i].group = n->op[leader].id;
            n->op[i].grouped = true;
            last = i;
        }
    }
    n->op[leader].grouped = last != leader;
    n->stats.multi_plane += last != leader;
}

/* Take a waiting operation, and what may run with it, out of the queue. */
static uint32_t take(Nand *n, Unit *u, uint32_t i, uint64_t now_ps)
{
    list_remove(n, &u->waiting, i);
    n->op[i].leader = i;
    n->op[i].group = n->op[i].id;
    if (n->cfg.multi_plane) {
        gather_mates(n, u, i);
    }
    for (uint32_t k = i; k != NONE; k = n->op[k].mate) {
        enter(n, k, PHASE_TURN, now_ps);
        die_hold(n, &n->op[k], now_ps);
    }
    return i;
}

/* ---- the unit ----------------------------------------------------------------- */

static void unit_step(Nand *n, Unit *u, uint64_t now_ps);

/* Row of the timing tables: by page type, and a last one for SLC mode. */
static uint32_t page_type(const Nand *n, uint32_t block, NandPpa ppa)
{
    uint32_t page = ppa.page - block * n->geo.pages_per_block;

    if (nand_block_is_slc(&n->geo, block)) {
        return NAND_SLC_MODE;
    }
    return n->timing.n_page_types == 1 ? 0 : page % n->timing.n_page_types;
}

static uint64_t cell_ps(const Nand *n, const NandOp *op)
{
    const NandTiming *t = &n->timing;

    switch (op->kind) {
    case NAND_READ:
        return t->read_ps[page_type(n, op->block, op->ppa)];
    case NAND_PROGRAM:
        return t->program_ps[page_type(n, op->block, op->ppa)];
    case NAND_COPYBACK:
        return op->second ? t->program_ps[page_type(n, op->block, op->ppa)]
                          : t->read_ps[page_type(
                                n, op->from.page / n->geo.pages_per_block,
                                op->from)];
    default:
        return t->erase_ps;
    }
}

FaultPlace nand_place(const Nand *n, const NandOp *op)
{
    uint32_t block = op->ppa.page / n->geo.pages_per_block;
    uint32_t plane = block / n->geo.blocks_per_plane;

    return (FaultPlace){
        .kind = op->kind,
        .cause = op->cause,
        .channel = plane / n->planes_per_channel,
        .die = plane / n->geo.planes_per_die,
        .plane = plane % n->geo.planes_per_die,
        .block = block % n->geo.blocks_per_plane,
        .page = op->ppa.page % n->geo.pages_per_block,
    };
}

/* Scripted faults that show when the array takes the operation up. */
static uint64_t faulty_cell_ps(Nand *n, const NandOp *op, uint64_t ps,
                               uint64_t now_ps)
{
    FaultPlace place = nand_place(n, op);

    if (op->cut) {
        n->cut(n->opaque);
    }
    if (op->stretch_milli) {
        ps = fault_stretch(ps, op->stretch_milli);
    }
    return faults_stretch(n->faults, &place, now_ps, ps);
}

static void decree_faults(Nand *n, NandOp *op, uint64_t now_ps)
{
    FaultPlace place = nand_place(n, op);
    FaultEffect e = {.cut = op->cut, .stretch_milli = op->stretch_milli};

    faults_op(n->faults, &place, now_ps, &e);
    op->cut = e.cut;
    op->stretch_milli = e.stretch_milli;
    op->fail = op->fail || e.fail;
    if (e.uncorrectable) {
        op->bad_parts = op->parts ? op->parts : UINT64_MAX;
    }
}

/* The array works on the group, whose slowest member counts. */
static void cell_start(Nand *n, uint32_t leader, uint64_t extra_ps,
                       uint64_t now_ps)
{
    NandOp *op = &n->op[leader];
    uint64_t ps = 0;

    for (uint32_t i = leader; i != NONE; i = n->op[i].mate) {
        uint64_t own_ps = cell_ps(n, &n->op[i]);

        if (n->op[i].retries) {
            own_ps += n->cfg.t_retry_ps;
        }
        if (n->faults) {
            own_ps = faulty_cell_ps(n, &n->op[i], own_ps, now_ps);
        }
        ps = MAX(ps, own_ps);
    }
    enter_group(n, leader, PHASE_CELL, now_ps);
    op->cell_start_ps = now_ps;
    op->cell_end_ps = now_ps + ps + extra_ps;
    eventq_push(n->q, op->cell_end_ps, NAND_EVENT_CELL_DONE, leader);
}

static uint64_t bus_bytes(const Nand *n, const NandOp *op)
{
    switch (op->kind) {
    case NAND_READ:
        return op->bytes;
    case NAND_PROGRAM:
        return (uint64_t)op->bytes *
               nand_block_program(&n->geo, op->block);
    default:
        return 0;
    }
}

/* How did it end? */
static void settle(Nand *n, NandOp *op)
{
    if (op->kind == NAND_READ) {
        op->status = op->bad_parts ? NAND_UNCORRECTABLE : NAND_OK;
        n->stats.uncorrectable += op->bad_parts != 0;
        return;
    }
    if (op->fail ||
        (n->media && media_op_fails(n->media, op,
                                    n->block[op->block].erase_count))) {
        op->status = NAND_FAILED;
        if (op->kind == NAND_ERASE) {
            n->stats.erase_failures++;
        } else {
            n->stats.program_failures++;
        }
    }
}

static void finish_op(Nand *n, uint32_t i, uint64_t now_ps)
{
    bool left = n->op[i].phase == PHASE_ECC; /* the die already */
    NandOp op;

    enter(n, i, PHASE_FREE, now_ps);
    op = n->op[i]; /* the callback may grow the pool */
    settle(n, &op);
    nand_rules_done(n, &op, now_ps);
    if (G_UNLIKELY(n->watch)) {
        n->watch->done(n->watch_opaque, &op, now_ps);
    }
    n->load--;
    n->die[op.die].host_reads -= of_host(&op);
    n->stats.ops[op.kind][op.cause] +=
        op.kind == NAND_PROGRAM ? nand_block_program(&n->geo, op.block)
                                : 1;
    n->stats.bus_bytes[op.cause] += bus_bytes(n, &op);
    for (int t = 0; t < NAND_N_TIMES; t++) {
        n->stats.time_ps[op.cause][t] += op.time_ps[t];
    }
    if (!left) {
        die_let_go(n, &op, now_ps);
    }
    pool_give(n, i);
    n->done(n->opaque, &op, now_ps);
}

/* The group has left the unit; tell the owner, then see what is next. */
static void finish_group(Nand *n, Unit *u, uint32_t leader, uint64_t now_ps)
{
    uint32_t next;

    for (uint32_t i = leader; i != NONE; i = next) {
        next = n->op[i].mate;
        finish_op(n, i, now_ps);
    }
    unit_step(n, u, now_ps);
}

static void begin(Nand *n, uint32_t leader, uint64_t now_ps)
{
    bus_ask(n, leader, STEP_IN, now_ps);
}

/* Could a read go through the array while another's data leaves? */
static bool may_read_on(const Nand *n, const NandOp *op)
{
    return n->cfg.cache_read && op->kind == NAND_READ;
}

/* Could a program fill the cache register while the array programs? */
static bool may_load(const Nand *n, const Unit *u, const NandOp *op)
{
    return n->cfg.cache_program && op->kind == NAND_PROGRAM &&
           u->loading == NONE && u->out == NONE && u->suspended == NONE &&
           n->op[u->array].kind == NAND_PROGRAM &&
           n->op[u->array].phase == PHASE_CELL;
}

static void resume(Nand *n, Unit *u, uint64_t now_ps)
{
    uint32_t leader = u->suspended;
    NandOp *op = &n->op[leader];

    u->suspended = NONE;
    u->array = leader;
    enter_group(n, leader, PHASE_CELL, now_ps);
    op->cell_start_ps = now_ps;
    op->cell_end_ps = now_ps + op->left_ps + n->cfg.t_resume_ps;
    eventq_push(n->q, op->cell_end_ps, NAND_EVENT_CELL_DONE, leader);
}

/* What is suspended goes on at the latest after nand.write_deadline. */
static bool overdue(const Nand *n, const Unit *u, uint64_t now_ps)
{
    return now_ps - n->op[u->suspended].mark_ps > n->cfg.write_deadline_ps;
}

/* The array is free: the loaded program, a waiting operation, or the one that
 * was suspended.  true: something was started. */
static bool fill_array(Nand *n, Unit *u, uint64_t now_ps)
{
    uint32_t i;

    if (u->loading != NONE) {
        u->array = u->loading;
        u->loading = NONE;
        if (n->op[u->array].phase == PHASE_LOADED) {
            cell_start(n, u->array, n->cfg.t_cbsy_ps, now_ps);
        }
        return true;
    }
    i = u->suspended == NONE ? pick(n, u, now_ps) : NONE;
    if (u->suspended != NONE && !overdue(n, u, now_ps)) {
        i = pick_read(n, u);
    }
    if (i == NONE) {
        if (u->suspended == NONE || u->out != NONE) {
            return false;
        }
        resume(n, u, now_ps);
        return true;
    }
    if (u->out != NONE) {
        if (!may_read_on(n, &n->op[i])) {
            return false;
        }
        n->stats.cached++;
    }
    u->array = take(n, u, i, now_ps);
    begin(n, i, now_ps);
    return true;
}

static bool fill_loading(Nand *n, Unit *u, uint64_t now_ps)
{
    uint32_t i = pick(n, u, now_ps);

    if (i == NONE || !may_load(n, u, &n->op[i])) {
        return false;
    }
    n->stats.cached++;
    u->loading = take(n, u, i, now_ps);
    begin(n, i, now_ps);
    return true;
}

static void unit_step(Nand *n, Unit *u, uint64_t now_ps)
{
    if (u->array == NONE && !fill_array(n, u, now_ps)) {
        return;
    }
    if (n->cfg.cache_program) {
        fill_loading(n, u, now_ps);
    }
}

/* ---- suspend ------------------------------------------------------------------ */

static bool may_suspend_kind(const Nand *n, const NandOp *op)
{
    switch (n->cfg.suspend) {
    case NAND_SUSPEND_ERASE:
        return op->kind == NAND_ERASE;
    case NAND_SUSPEND_PROGRAM:
        return op->kind == NAND_PROGRAM;
    case NAND_SUSPEND_BOTH:
        return op->kind == NAND_ERASE || op->kind == NAND_PROGRAM;
    default:
        return false;
    }
}

/* A read waits: suspend what the array does, now or as soon as it may be. */
static void try_suspend(Nand *n, uint32_t unit, uint64_t now_ps)
{
    Unit *u = &n->unit[unit];
    NandOp *op;
    uint64_t allowed_ps;

    if (n->cfg.suspend == NAND_SUSPEND_OFF || u->array == NONE ||
        u->loading != NONE || u->suspended != NONE ||
        pick_read(n, u) == NONE) {
        return;
    }
    op = &n->op[u->array];
    if (op->phase != PHASE_CELL || !may_suspend_kind(n, op) ||
        op->suspends >= n->cfg.suspend_limit) {
        return;
    }
    allowed_ps = op->cell_start_ps + n->cfg.t_min_run_ps;
    if (op->cell_end_ps <= MAX(now_ps, allowed_ps) + n->cfg.t_suspend_ps) {
        return; /* it will be done sooner */
    }
    if (now_ps < allowed_ps) {
        eventq_push(n->q, allowed_ps, NAND_EVENT_RETRY, unit);
        return;
    }
    op->left_ps = op->cell_end_ps - now_ps;
    op->suspends++;
    n->stats.suspends++;
    enter_group(n, u->array, PHASE_SUSPENDING, now_ps);
    op->cell_end_ps = now_ps + n->cfg.t_suspend_ps;
    eventq_push(n->q, op->cell_end_ps, NAND_EVENT_CELL_DONE, u->array);
}

static void suspended(Nand *n, Unit *u, uint64_t now_ps)
{
    enter_group(n, u->array, PHASE_SUSPENDED, now_ps);
    u->suspended = u->array;
    u->array = NONE;
    unit_step(n, u, now_ps);
}

/* ---- phases ------------------------------------------------------------------- */

/* Data of a read leaves, member by member. */
static void go_out(Nand *n, Unit *u, uint64_t now_ps)
{
    uint32_t leader = u->array;

    u->array = NONE;
    u->out = leader;
    enter_group(n, leader, PHASE_TURN, now_ps);
    if (n->cfg.cache_read) {
        unit_step(n, u, now_ps); /* the next command goes before the data */
    }
    bus_ask(n, leader, STEP_OUT, now_ps);
}

static void after_cell(Nand *n, Unit *u, uint32_t leader, uint64_t now_ps)
{
    NandOp *op = &n->op[leader];

    if (op->kind == NAND_READ) {
        if (u->out == NONE) {
            go_out(n, u, now_ps);
        } else {
            enter_group(n, leader, PHASE_READY, now_ps);
        }
    } else if (op->kind == NAND_COPYBACK && !op->second) {
        op->second = true;
        bus_ask(n, leader, STEP_IN, now_ps);
    } else {
        u->array = NONE;
        finish_group(n, u, leader, now_ps);
    }
}

static void in_done(Nand *n, Unit *u, uint32_t i, uint64_t now_ps)
{
    uint32_t mate = n->op[i].mate;
    uint32_t leader = n->op[i].leader;

    if (n->data_in && n->op[i].kind == NAND_PROGRAM) {
        NandOp op = n->op[i];

        n->data_in(n->opaque, &op, now_ps);
    }

    if (mate != NONE) {
        /* tDBSY, then the next plane of the command. */
        enter(n, i, PHASE_TURN, now_ps);
        enter(n, mate, PHASE_GAP, now_ps);
        n->op[mate].cell_end_ps = now_ps + n->cfg.t_dbsy_ps;
        eventq_push(n->q, n->op[mate].cell_end_ps, NAND_EVENT_CELL_DONE, mate);
        return;
    }
    if (leader == u->loading) {
        enter_group(n, leader, PHASE_LOADED, now_ps);
    } else {
        bool swap = u->out != NONE && n->op[leader].kind == NAND_READ;

        cell_start(n, leader, swap ? n->cfg.t_cbsy_ps : 0, now_ps);
        if (n->cfg.cache_program) {
            fill_loading(n, u, now_ps);
        }
        try_suspend(n, (uint32_t)(u - n->unit), now_ps);
    }
}

/*
 * ECC will give up on a read: it goes to the front of its unit's queue, from
 * where it keeps its block from being erased, even while it is being decoded.
 */
static void queue_again(Nand *n, Unit *u, uint32_t i)
{
    NandOp *op = &n->op[i];

    n->stats.read_retries++;
    op->mate = NONE;
    op->grouped = false;
    list_push_front(n, &u->waiting, i);
}

static void read_again(Nand *n, uint32_t i, uint64_t now_ps)
{
    n->op[i].again = false;
    n->die[n->op[i].die].load++;
    enter(n, i, PHASE_DIE_WAIT, now_ps);
}

static bool must_read_again(Nand *n, NandOp *op, uint64_t now_ps)
{
    uint32_t block = op->block;

    return n->media && media_read_again(n->media, op, block,
                                        n->block[block].erase_count, now_ps);
}

/*
 * The data has left the die; the channel's decoder took its codewords as they
 * came.  Each takes t_ecc; the last one came now, the first when it had crossed
 * the bus, and the decoder may have been at work on another page then.
 */
static void decode(Nand *n, uint32_t i, uint64_t now_ps)
{
    NandOp *op = &n->op[i];
    Channel *ch = &n->channel[op->channel];
    uint32_t cw = (uint32_t)n->cfg.codeword_bytes;
    uint64_t words = (op->bytes + cw - 1) / cw;
    uint64_t rest_ps = nand_data_ps(&n->timing, op->bytes) -
                       nand_data_ps(&n->timing, MIN(cw, op->bytes));
    uint64_t start_ps = MAX(ch->ecc_free_ps, now_ps - rest_ps);

    die_let_go(n, op, now_ps);
    op->cell_end_ps = MAX(start_ps + words * n->cfg.t_ecc_ps,
                          now_ps + n->cfg.t_ecc_ps);
    ch->ecc_free_ps = op->cell_end_ps;
    enter(n, i, PHASE_ECC, now_ps);
    eventq_push(n->q, op->cell_end_ps, NAND_EVENT_CELL_DONE, i);
}

static void out_done(Nand *n, Unit *u, uint32_t i, uint64_t now_ps)
{
    uint32_t mate = n->op[i].mate;
    bool again = must_read_again(n, &n->op[i], now_ps);

    if (mate == NONE) {
        u->out = NONE;
    } else {
        u->out = mate;
        bus_ask(n, mate, STEP_OUT, now_ps);
    }
    if (again) {
        queue_again(n, u, i);
    }
    n->op[i].again = again;
    if (n->cfg.t_ecc_ps && n->op[i].bytes > 0) {
        decode(n, i, now_ps);
    } else if (again) {
        die_let_go(n, &n->op[i], now_ps);
        read_again(n, i, now_ps);
    } else {
        finish_op(n, i, now_ps);
    }
    if (mate != NONE) {
        return;
    }
    if (u->array != NONE && n->op[u->array].phase == PHASE_READY) {
        go_out(n, u, now_ps);
    }
    unit_step(n, u, now_ps);
}

static void bus_done(Nand *n, uint32_t i, uint64_t now_ps)
{
    NandOp *op = &n->op[i];
    Unit *u = &n->unit[op->unit];
    uint32_t c = op->channel;
    Step step = op->step;

    switch (step) {
    case STEP_IN:
        in_done(n, u, i, now_ps);
        bus_release(n, c, now_ps);
        break;
    case STEP_STATUS:
        bus_release(n, c, now_ps);
        enter(n, i, PHASE_READY, now_ps);
        after_cell(n, u, i, now_ps);
        break;
    default:
        out_done(n, u, i, now_ps); /* and with it the die's next command */
        bus_release(n, c, now_ps);
        break;
    }
}

static void cell_done(Nand *n, uint32_t i, uint64_t now_ps)
{
    NandOp *op = &n->op[i];
    Unit *u = &n->unit[op->unit];

    if (op->cell_end_ps != now_ps) {
        return; /* it was suspended meanwhile */
    }
    switch (op->phase) {
    case PHASE_GAP:
        bus_ask(n, i, STEP_IN, now_ps);
        break;
    case PHASE_SUSPENDING:
        suspended(n, u, now_ps);
        break;
    case PHASE_ECC:
        if (op->again) {
            read_again(n, i, now_ps);
            unit_step(n, u, now_ps);
            try_suspend(n, op->unit, now_ps);
        } else {
            finish_op(n, i, now_ps);
        }
        break;
    case PHASE_CELL:
        if (n->timing.status_ps) {
            enter_group(n, i, PHASE_TURN, now_ps);
            bus_ask(n, i, STEP_STATUS, now_ps);
        } else {
            after_cell(n, u, i, now_ps);
        }
        break;
    default:
        break; /* likewise */
    }
}

void nand_event(Nand *n, const Event *e)
{
    switch (event_kind(e)) {
    case NAND_EVENT_BUS_DONE:
        bus_done(n, event_index(e), e->at_ps);
        break;
    case NAND_EVENT_CELL_DONE:
        cell_done(n, event_index(e), e->at_ps);
        break;
    case NAND_EVENT_RETRY:
        try_suspend(n, event_index(e), e->at_ps);
        break;
    default:
        g_assert_not_reached();
    }
}

/* ---- submission ------------------------------------------------------------------ */

void nand_submit(Nand *n, const NandOp *request, uint64_t now_ps)
{
    uint32_t block = request->ppa.page / n->geo.pages_per_block;
    uint32_t plane = block / n->geo.blocks_per_plane;
    uint32_t die = plane / n->geo.planes_per_die;
    uint32_t i;
    NandOp *op;
    Unit *u;

    i = pool_take(n);
    op = &n->op[i];
    *op = (NandOp){
        .kind = request->kind,
        .cause = request->cause,
        .ppa = request->ppa,
        .from = request->from,
        .bytes = request->kind == NAND_ERASE ? 0 : request->bytes,
        .cookie = request->cookie,
        .parts = request->parts,
        .bad_parts = request->bad_parts,
        .fail = request->fail,
        .cut = request->cut,
        .stretch_milli = request->stretch_milli,
        .block = block,
        .plane = plane,
        .die = die,
        .channel = die / n->geo.dies_per_channel,
        .unit = plane / n->planes_per_unit,
        .mate = NONE,
        .phase = PHASE_DIE_WAIT,
        .id = ++n->last_id,
        .submit_ps = now_ps,
        .mark_ps = now_ps,
    };
    nand_rules_submit(n, op, now_ps);
    if (G_UNLIKELY(n->watch)) {
        n->watch->submit(n->watch_opaque, op, now_ps);
    }
    u = &n->unit[op->unit];
    if (n->faults) {
        decree_faults(n, op, now_ps);
    }
    n->load++;
    n->die[die].load++;
    n->die[die].host_reads += of_host(op);
    list_push(n, &u->waiting, i);
    unit_step(n, u, now_ps);
    if (request->kind == NAND_READ) {
        try_suspend(n, (uint32_t)(u - n->unit), now_ps);
    }
}

/* ---- create and destroy ------------------------------------------------------------ */

static void init_geometry(Nand *n)
{
    const NandConfig *cfg = &n->cfg;
    NandGeometry *g = &n->geo;

    g->n_channels = cfg->channels;
    g->dies_per_channel = cfg->chips * cfg->dies;
    g->n_dies = cfg->channels * g->dies_per_channel;
    g->planes_per_die = cfg->planes;
    g->n_planes = g->n_dies * cfg->planes;
    g->blocks_per_plane = cfg->blocks;
    g->pages_per_block = cfg->pages;
    g->n_blocks = g->n_planes * cfg->blocks;
    g->n_pages = g->n_blocks * cfg->pages;
    g->page_bytes = (uint32_t)cfg->page_bytes;
    g->pages_per_program = cfg->one_shot ? cfg->cell + 1 : 1;
    g->slc_blocks = cfg->slc_blocks;
    g->slc_pages = cfg->pages / (cfg->cell + 1);
    n->planes_per_channel = cfg->planes * g->dies_per_channel;
    n->planes_per_unit = cfg->lock == NAND_LOCK_CHIP ? cfg->planes * cfg->dies
                         : cfg->lock == NAND_LOCK_DIE ? cfg->planes
                                                      : 1;
    n->n_units = g->n_planes / n->planes_per_unit;
}

static void init_idle(Nand *n)
{
    for (uint32_t i = 0; i < n->n_units; i++) {
        n->unit[i] = (Unit){
            .waiting = {NONE, NONE},
            .array = NONE,
            .loading = NONE,
            .out = NONE,
            .suspended = NONE,
        };
    }
    for (uint32_t i = 0; i < n->geo.n_channels; i++) {
        n->channel[i].waiting = (OpList){NONE, NONE};
        n->channel[i].commands = (OpList){NONE, NONE};
        n->channel[i].owner = NONE;
        n->channel[i].ecc_free_ps = 0;
    }
    n->free_op = NONE;
    n->n_op = 0;
}

Nand *nand_create(const NandConfig *cfg, EventQueue *q, NandDone *done,
                  void *opaque)
{
    Nand *n = g_new0(Nand, 1);

    n->cfg = *cfg;
    n->q = q;
    n->done = done;
    n->opaque = opaque;
    n->sched = sched_policies[cfg->sched];
    nand_timing_init(&n->timing, cfg);
    init_geometry(n);
    n->unit = g_new(Unit, n->n_units);
    n->die = g_new0(Die, n->geo.n_dies);
    n->channel = g_new0(Channel, n->geo.n_channels);
    n->plane_busy_ps = g_new0(uint64_t, n->geo.n_planes);
    n->block = lazy_new(BlockWear, n->geo.n_blocks);
    n->media = media_new(&n->cfg, &n->geo);
    init_idle(n);
    n->history = nand_history_new(cfg->history);
    return n;
}

void nand_destroy(Nand *n)
{
    if (!n) {
        return;
    }
    media_free(n->media);
    lazy_free(n->block, n->geo.n_blocks, sizeof(*n->block));
    nand_history_free(n->history);
    g_free(n->plane_busy_ps);
    g_free(n->channel);
    g_free(n->die);
    g_free(n->unit);
    g_free(n->op);
    g_free(n);
}

void nand_set_faults(Nand *n, Faults *faults, void (*cut)(void *opaque))
{
    n->faults = faults;
    n->cut = cut;
}

void nand_on_data_in(Nand *n, NandDone *data_in)
{
    n->data_in = data_in;
}

const NandGeometry *nand_geometry(const Nand *n)
{
    return &n->geo;
}

const NandStats *nand_stats(const Nand *n)
{
    return &n->stats;
}

uint32_t nand_load(const Nand *n)
{
    return n->load;
}

uint32_t nand_die_load(const Nand *n, uint32_t plane)
{
    return n->die[plane / n->geo.planes_per_die].load;
}

uint32_t nand_host_reads(const Nand *n, uint32_t plane)
{
    return n->die[plane / n->geo.planes_per_die].host_reads;
}

bool nand_channel_busy(const Nand *n, uint32_t channel)
{
    return n->channel[channel].owner != NONE;
}

uint64_t nand_die_busy_ps(const Nand *n, uint32_t die, uint64_t now_ps)
{
    const Die *d = &n->die[die];

    return d->busy_ps + (d->holders ? now_ps - d->since_ps : 0);
}

void nand_get_busy(const Nand *n, uint64_t now_ps, const NandBusy *busy)
{
    for (uint32_t c = 0; c < n->geo.n_channels; c++) {
        const Channel *ch = &n->channel[c];

        busy->channel[c] = ch->busy_ps -
                           (ch->owner == NONE ? 0 : ch->until_ps - now_ps);
    }
    for (uint32_t i = 0; i < n->geo.n_dies; i++) {
        busy->die[i] = nand_die_busy_ps(n, i, now_ps);
    }
    for (uint32_t p = 0; p < n->geo.n_planes; p++) {
        busy->plane[p] = n->plane_busy_ps[p];
    }
    for (uint32_t i = 0; i < n->n_op; i++) {
        if (n->op[i].phase == PHASE_CELL) {
            busy->plane[n->op[i].plane] += now_ps - n->op[i].mark_ps;
        }
    }
}

/* What the power cut stops was busy up to now, and not longer. */
static void account_cut(Nand *n, uint64_t now_ps)
{
    for (uint32_t c = 0; c < n->geo.n_channels; c++) {
        Channel *ch = &n->channel[c];

        if (ch->owner != NONE) {
            ch->busy_ps -= ch->until_ps - now_ps;
            n->stats.bus_busy_ps -= ch->until_ps - now_ps;
        }
    }
    for (uint32_t i = 0; i < n->n_op; i++) {
        if (n->op[i].phase == PHASE_CELL) {
            n->plane_busy_ps[n->op[i].plane] += now_ps - n->op[i].mark_ps;
        }
    }
}

void nand_power_cut(Nand *n, uint64_t now_ps)
{
    nand_rules_power_cut(n);
    account_cut(n, now_ps);
    for (uint32_t i = 0; i < n->geo.n_dies; i++) {
        Die *d = &n->die[i];

        if (d->holders) {
            d->busy_ps += now_ps - d->since_ps;
            n->stats.die_busy_ps += now_ps - d->since_ps;
        }
        d->holders = 0;
        d->load = 0;
        d->host_reads = 0;
    }
    n->load = 0;
    if (n->media) {
        media_power_off(n->media);
    }
    g_clear_pointer(&n->op, g_free);
    init_idle(n);
}
