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
 * the other ones. Their bus phases follow one another, their cell phase is one.
 *
 * A unit has places.  `array` is the group that loads, occupies the array
 * or has just left it; `loading` is a program that fills the cache register
 * meanwhile (cache program); `out` is a read whose data leaves the cache
 * register while the array may read on (cache read).  A fourth, `suspended`,
 * is an operation that reads have suspended; its data, and that of a program
 * that was loading behind it, stay in the die.
 *
 * The channel is nand-bus.c, waiting operations and the choice of the next
 * nand-queue.c, the time in the array nand-cell.c; the rules of the medium are
 * in nand-rules.c.
 */
#include "nand-internal.h"

#include "nand-retry.h"

/* ---- accounts ------------------------------------------------------------ */

/* A read that the host waits for. */
static bool of_host(const NandOp *op)
{
    return op->kind == NAND_READ && nand_for_host(op);
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
    invariant(d->holders > 0);
    if (--d->holders == 0) {
        d->busy_ps += now_ps - d->since_ps;
    }
}

/* ---- the unit ------------------------------------------------------------ */

/* Take a waiting operation, and those that may run with it, out of the queue.
 */
static uint32_t take_waiting(Nand *n, Unit *u, uint32_t i, uint64_t now_ps)
{
    nand_queue_take(n, i);
    n->op[i].leader = i;
    n->op[i].group = n->op[i].id;
    if ((n->cfg.multi_plane || n->cfg.composite) &&
        !nand_is_held(n, n->op[i].channel) &&
        !(n->cfg.async_reads && n->op[i].kind == NAND_READ)) {
        nand_gather_joinable(n, u, i);
    }
    for (uint32_t k = i; k != NONE; k = n->op[k].next_joined) {
        nand_enter(n, k, PHASE_TURN, now_ps);
        die_hold(n, &n->op[k], now_ps);
    }
    return i;
}

static void unit_step(Nand *n, Unit *u, uint64_t now_ps);

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

/* Only of a read that was repeated, or began at a recorded level. */
static void count_retries(Nand *n, const NandOp *op)
{
    NandStats *s = &n->stats;

    if (op->retries) {
        s->reads_by_retries[MIN(op->retries, NAND_RETRY_BINS) - 1]++;
        s->soft_decodes += retry_is_soft(&n->cfg, op->retries);
    }
    if (op->first_level) {
        s->level_hits += op->retries == 0;
        s->level_misses += op->retries > 0;
    }
}

static MediaWear wear_of(const Nand *n, uint32_t block)
{
    return (MediaWear){
        .erases = n->block[block].erase_count,
        .cycles = nand_wear_cycles(n, block),
        .rated = nand_rated_cycles(n, block),
    };
}

static bool medium_fails(Nand *n, const NandOp *op)
{
    MediaWear wear = wear_of(n, op->block);

    return media_op_fails(n->media, op, &wear);
}

/* How did it end? */
static void settle(Nand *n, NandOp *op)
{
    if (op->kind == NAND_READ) {
        if (G_UNLIKELY(op->retries || op->first_level)) {
            count_retries(n, op);
        }
        op->bad_parts = op->strong ? 0 : op->bad_parts;
        op->status = op->bad_parts ? NAND_UNCORRECTABLE : NAND_OK;
        n->stats.uncorrectable += op->bad_parts != 0;
        return;
    }
    if (op->fail || (n->media && medium_fails(n, op))) {
        op->status = NAND_FAILED;
        if (op->kind == NAND_ERASE) {
            n->stats.erase_failures++;
        } else {
            n->stats.program_failures++;
        }
    }
}

/* Was a page of its word line copied before it? */
static bool had_backup(const Nand *n, const NandOp *op)
{
    return n->cfg.paired_pages == NAND_PAIRED_BACKUP &&
           (op->kind == NAND_PROGRAM || op->kind == NAND_COPYBACK) &&
           nand_lower_pages(n, op->block, op->ppa) > 0;
}

static void count_op(Nand *n, const NandOp *op)
{
    uint32_t pages = op->kind == NAND_PROGRAM
                         ? nand_block_program(&n->geo, op->block)
                         : 1;

    n->stats.ops[op->kind][op->cause] += pages;
    n->stats.joined[op->kind] += op->grouped ? pages : 0;
    if (G_UNLIKELY(n->cfg.paired_pages)) {
        n->stats.backups += had_backup(n, op);
    }
}

/* Each part by a statement of its own: a loop would cost more than the sums. */
static inline void count_times(Nand *n, const NandOp *op)
{
    TimeSum *sum = n->stats.time_ps[op->cause];

#define ADD_TIME(upper, lower)                                                 \
    sum[NAND_TIME_##upper] += op->time_ps[NAND_TIME_##upper];
    NAND_TIMES(ADD_TIME)
#undef ADD_TIME
}

/* What waited for the channel, whatever it is, may begin. */
static void channel_step(Nand *n, uint32_t channel, uint64_t now_ps)
{
    uint32_t units = n->planes_per_channel / n->planes_per_unit;

    for (uint32_t i = channel * units; i < (channel + 1) * units; i++) {
        unit_step(n, &n->unit[i], now_ps);
    }
    if (n->released) {
        n->released(n->opaque, channel);
    }
}

static void finish_op(Nand *n, uint32_t i, uint64_t now_ps)
{
    NandOp op = n->op[i];              /* the callback may grow the pool */
    bool left = op.phase == PHASE_ECC; /* the die already */

    nand_enter_op(n, &op, PHASE_FREE, now_ps);
    settle(n, &op);
    nand_rules_done(n, &op, now_ps);
    if (G_UNLIKELY(n->watch)) {
        n->watch->done(n->watch_opaque, &op, now_ps);
    }
    invariant(n->load > 0);
    n->load--;
    n->die[op.die].host_reads -= of_host(&op);
    count_op(n, &op);
    n->stats.bus_bytes[op.cause] += bus_bytes(n, &op);
    count_times(n, &op);
    if (!left) {
        die_let_go(n, &op, now_ps);
    }
    nand_pool_give(n, i);
    n->done(n->opaque, &op, now_ps);
    if (G_UNLIKELY(n->hold) && nand_hold_done(n, &op)) {
        channel_step(n, op.channel, now_ps);
    }
}

/* The group has left the unit; notify the owner, then choose the next one. */
static void finish_group(Nand *n, Unit *u, uint32_t leader, uint64_t now_ps)
{
    uint32_t next;

    for (uint32_t i = leader; i != NONE; i = next) {
        next = n->op[i].next_joined;
        finish_op(n, i, now_ps);
    }
    unit_step(n, u, now_ps);
}

static void group_begin(Nand *n, uint32_t leader, uint64_t now_ps)
{
    nand_bus_ask(n, leader, STEP_IN, now_ps);
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

    invariant(leader != NONE && n->op[leader].phase == PHASE_SUSPENDED);
    invariant(u->array == NONE);
    u->suspended = NONE;
    u->array = leader;
    nand_lose_registers(n, leader);
    nand_enter_group(n, leader, PHASE_CELL, now_ps);
    op->cell_start_ps = now_ps;
    op->cell_end_ps = now_ps + op->left_ps + n->cfg.t_resume_ps;
    eventq_push(n->q, op->cell_end_ps, NAND_EVENT_CELL_DONE, leader);
}

/* A suspended operation resumes after nand.write_deadline at the latest. */
static bool overdue(const Nand *n, const Unit *u, uint64_t now_ps)
{
    return now_ps - n->op[u->suspended].mark_ps > n->cfg.write_deadline_ps;
}

/* Does a member of the group change the cells that the read needs? */
static bool changes_cells_of(const Nand *n, uint32_t leader, const NandOp *read)
{
    for (uint32_t i = leader; i != NONE; i = n->op[i].next_joined) {
        const NandOp *op = &n->op[i];

        if (op->kind != NAND_READ && op->block == read->block &&
            (op->kind == NAND_ERASE || nand_same_word_line(n, op, read))) {
            return true;
        }
    }
    return false;
}

/* A read that may run beside what the array does or has suspended, and what is
 * loaded behind it.  One of the same cells waits, and with it the reads behind
 * it: their data is not in the cells yet, so owners seldom ask. */
static uint32_t read_beside(const Nand *n, const Unit *u)
{
    uint32_t i = nand_pick_read(n, u);

    if (i != NONE && (changes_cells_of(n, u->array, &n->op[i]) ||
                      changes_cells_of(n, u->suspended, &n->op[i]) ||
                      changes_cells_of(n, u->loading, &n->op[i]))) {
        return NONE;
    }
    return i;
}

static void try_suspend(Nand *n, uint32_t unit, uint64_t now_ps);

/* The array is free: the loaded program, a waiting operation, or the one that
 * was suspended, which goes before the program that was loaded behind it. true:
 * something was started. */
static bool fill_array(Nand *n, Unit *u, uint64_t now_ps)
{
    uint32_t i;

    if (u->loading != NONE && u->suspended == NONE) {
        u->array = u->loading;
        u->loading = NONE;
        if (n->op[u->array].phase == PHASE_LOADED) {
            nand_cell_start(n, u->array, NAND_CBSY_PS, now_ps);
            try_suspend(n, n->op[u->array].unit, now_ps);
        }
        return true;
    }
    i = u->suspended == NONE ? nand_pick(n, u, now_ps) : NONE;
    if (u->suspended != NONE && !overdue(n, u, now_ps)) {
        i = read_beside(n, u);
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
    u->array = take_waiting(n, u, i, now_ps);
    group_begin(n, i, now_ps);
    return true;
}

static bool fill_loading(Nand *n, Unit *u, uint64_t now_ps)
{
    uint32_t i = nand_pick(n, u, now_ps);

    if (i == NONE || !may_load(n, u, &n->op[i])) {
        return false;
    }
    n->stats.cached++;
    u->loading = take_waiting(n, u, i, now_ps);
    group_begin(n, i, now_ps);
    return true;
}

/* What goes next by the policy, and beside a suspended operation. */
static uint32_t next_of_unit(const Nand *n, const Unit *u, uint64_t now_ps)
{
    if (u->suspended == NONE) {
        return nand_pick(n, u, now_ps);
    }
    return overdue(n, u, now_ps) ? NONE : read_beside(n, u);
}

/* With nand.async_reads, while the array neither programs nor erases: start the
 * reads that planes can start.  A program or erase that is next waits until all
 * reads have left.  false: none is under way. */
static bool read_planes(Nand *n, Unit *u, uint64_t now_ps)
{
    uint32_t i;

    if (u->loading != NONE && u->suspended == NONE) {
        return false;
    }
    while ((i = nand_async_pick(n, next_of_unit(n, u, now_ps))) != NONE) {
        Unit *own = nand_plane_unit(n, n->op[i].plane);

        n->stats.cached += own->out != NONE;
        own->array = take_waiting(n, u, i, now_ps);
        group_begin(n, i, now_ps);
    }
    return nand_async_busy(n, u);
}

/* Is there something that the unit could begin or go on with? */
static inline bool has_next(const Nand *n, const Unit *u)
{
    return n->unit_queue[u - n->unit].n > 0 || u->loading != NONE ||
           u->suspended != NONE;
}

/* u: of the queue; places of a plane's reads follow from it. */
static void unit_step(Nand *n, Unit *u, uint64_t now_ps)
{
    if (SHORT_WAY && !has_next(n, u)) {
        return;
    }
    if (n->cfg.async_reads && u->array == NONE && read_planes(n, u, now_ps)) {
        return;
    }
    if (u->array == NONE && !fill_array(n, u, now_ps)) {
        return;
    }
    if (n->cfg.cache_program) {
        fill_loading(n, u, now_ps);
    }
}

/* ---- suspend ------------------------------------------------------------- */

static bool owner_allows(const Nand *n, uint64_t now_ps)
{
    return !n->may_suspend || n->may_suspend(n->opaque, now_ps);
}

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

/* A read waits: suspend the operation in the array, now or as soon as it may
 * be. */
static void try_suspend(Nand *n, uint32_t unit, uint64_t now_ps)
{
    Unit *u = &n->unit[unit];
    NandOp *op;
    uint64_t allowed_ps;

    invariant(unit < n->n_units);
    if (n->cfg.suspend == NAND_SUSPEND_OFF || u->array == NONE ||
        u->suspended != NONE || read_beside(n, u) == NONE) {
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
    if (!owner_allows(n, now_ps)) {
        return;
    }
    invariant(op->cell_end_ps > now_ps);
    op->left_ps = op->cell_end_ps - now_ps;
    op->suspends++;
    n->stats.suspends++;
    nand_enter_group(n, u->array, PHASE_SUSPENDING, now_ps);
    op->cell_end_ps = now_ps + n->cfg.t_suspend_ps;
    eventq_push(n->q, op->cell_end_ps, NAND_EVENT_CELL_DONE, u->array);
}

static void suspended(Nand *n, Unit *u, uint64_t now_ps)
{
    invariant(u->array != NONE && u->suspended == NONE);
    nand_enter_group(n, u->array, PHASE_SUSPENDED, now_ps);
    u->suspended = u->array;
    u->array = NONE;
    unit_step(n, u, now_ps);
}

/* ---- phases -------------------------------------------------------------- */

/* Data of a read leaves, member by member. */
static void go_out(Nand *n, Unit *u, uint64_t now_ps)
{
    uint32_t leader = u->array;

    u->array = NONE;
    u->out = leader;
    nand_enter_group(n, leader, PHASE_TURN, now_ps);
    if (n->cfg.cache_read) { /* the next command goes before the data */
        unit_step(n, &n->unit[n->op[leader].unit], now_ps);
    }
    nand_bus_ask(n, leader, STEP_OUT, now_ps);
}

static void after_cell(Nand *n, Unit *u, uint32_t leader, uint64_t now_ps)
{
    NandOp *op = &n->op[leader];

    if (op->kind == NAND_READ) {
        if (u->out == NONE) {
            go_out(n, u, now_ps);
        } else {
            nand_enter_group(n, leader, PHASE_READY, now_ps);
        }
    } else if (op->kind == NAND_COPYBACK && !op->second) {
        op->second = true;
        nand_bus_ask(n, leader, STEP_IN, now_ps);
    } else {
        u->array = NONE;
        finish_group(n, u, leader, now_ps);
    }
}

static void in_done(Nand *n, Unit *u, uint32_t i, uint64_t now_ps)
{
    uint32_t next = n->op[i].next_joined;
    uint32_t leader = n->op[i].leader;

    if (n->data_in && n->op[i].kind == NAND_PROGRAM) {
        NandOp op = n->op[i];

        n->data_in(n->opaque, &op, now_ps);
    }

    if (next != NONE) {
        /* tDBSY, then the next plane of the command. */
        nand_enter(n, i, PHASE_TURN, now_ps);
        nand_enter(n, next, PHASE_GAP, now_ps);
        n->op[next].cell_end_ps = now_ps + NAND_DBSY_PS;
        eventq_push(n->q, n->op[next].cell_end_ps, NAND_EVENT_CELL_DONE, next);
        return;
    }
    if (leader == u->loading) {
        nand_enter_group(n, leader, PHASE_LOADED, now_ps);
    } else {
        bool swap = u->out != NONE && n->op[leader].kind == NAND_READ;

        nand_cell_start(n, leader, swap ? NAND_CBSY_PS : 0, now_ps);
        if (n->cfg.cache_program && u == &n->unit[n->op[leader].unit]) {
            fill_loading(n, u, now_ps);
        }
        try_suspend(n, n->op[leader].unit, now_ps);
    }
}

/*
 * ECC will not correct a read: it goes to the front of its unit's queue, from
 * where it keeps its block from being erased, even while it is being decoded.
 */
static void queue_again(Nand *n, uint32_t i)
{
    NandOp *op = &n->op[i];

    invariant(op->kind == NAND_READ && n->media);
    n->stats.read_retries++;
    op->next_joined = NONE;
    op->grouped = false;
    nand_queue_add_first(n, i);
}

static void read_again(Nand *n, uint32_t i, uint64_t now_ps)
{
    invariant(n->op[i].kind == NAND_READ);
    n->op[i].again = false;
    n->die[n->op[i].die].load++;
    nand_enter(n, i, PHASE_DIE_WAIT, now_ps);
    nand_queue_ready(n, i);
}

static bool must_read_again(Nand *n, NandOp *op, uint64_t now_ps)
{
    MediaWear wear;

    if (!n->media || op->strong) {
        return false;
    }
    wear = wear_of(n, op->block);
    return media_read_again(n->media, op, &wear, now_ps);
}

/*
 * The data has left the die; the channel's decoder took its codewords as they
 * came.  Each takes t_ecc; the last one came now, the first when it had crossed
 * the bus, and the decoder may have been at work on another page then.
 */
/* Of a read that has just left the die: what soft decoding takes. */
static uint64_t soft_ps(const Nand *n, const NandOp *op)
{
    return n->cfg.soft_reads && op->retries == retry_last(&n->cfg)
               ? n->cfg.t_soft_ps
               : 0;
}

/* Is it decoded, and does that take time?  A sense for soft decoding is not,
 * but for the last. */
static bool is_decoded(const Nand *n, const NandOp *op)
{
    if (op->bytes == 0 ||
        (op->again && retry_only_senses(&n->cfg, op->retries - 1))) {
        return false;
    }
    return n->cfg.t_ecc_ps || soft_ps(n, op);
}

static void decode(Nand *n, uint32_t i, uint64_t now_ps)
{
    NandOp *op = &n->op[i];
    Channel *ch = &n->channel[op->channel];
    uint32_t cw = (uint32_t)n->cfg.codeword_bytes;
    uint64_t words = (op->bytes + cw - 1) / cw;
    uint64_t rest_ps = nand_data_ps(&n->timing, op->bytes) -
                       nand_data_ps(&n->timing, MIN(cw, op->bytes));
    uint64_t from_ps = now_ps - rest_ps;
    uint64_t start_ps = MAX(ch->ecc_free_ps, from_ps);

    die_let_go(n, op, now_ps);
    op->cell_end_ps =
        MAX(start_ps + words * n->cfg.t_ecc_ps, now_ps + n->cfg.t_ecc_ps) +
        soft_ps(n, op);
    ch->ecc_free_ps = op->cell_end_ps;
    n->stats.ecc_busy_ps += words * n->cfg.t_ecc_ps;
    n->stats.ecc_wait_ps += start_ps - from_ps;
    nand_enter(n, i, PHASE_ECC, now_ps);
    eventq_push(n->q, op->cell_end_ps, NAND_EVENT_CELL_DONE, i);
}

static void out_done(Nand *n, Unit *u, uint32_t i, uint64_t now_ps)
{
    uint32_t next = n->op[i].next_joined;
    uint32_t unit = n->op[i].unit;
    bool again = must_read_again(n, &n->op[i], now_ps);

    if (next == NONE) {
        u->out = NONE;
    } else {
        u->out = next;
        nand_bus_ask(n, next, STEP_OUT, now_ps);
    }
    if (again) {
        queue_again(n, i);
    }
    n->op[i].again = again;
    if (is_decoded(n, &n->op[i])) {
        decode(n, i, now_ps);
    } else if (again) {
        die_let_go(n, &n->op[i], now_ps);
        read_again(n, i, now_ps);
    } else {
        finish_op(n, i, now_ps);
    }
    if (next != NONE) {
        return;
    }
    if (u->array != NONE && n->op[u->array].phase == PHASE_READY) {
        go_out(n, u, now_ps);
    }
    unit_step(n, &n->unit[unit], now_ps);
}

static void bus_done(Nand *n, uint32_t i, uint64_t now_ps)
{
    NandOp *op = &n->op[i];
    Unit *u = nand_unit_of(n, op);
    uint32_t c = op->channel;
    uint64_t group = op->group;
    Step step = op->step;
    bool keep;

    invariant(i < n->n_op);
    switch (step) {
    case STEP_IN:
        keep = op->next_joined != NONE && nand_bus_keeps(n, op);
        if (keep) {
            nand_bus_keep(n, op->next_joined, now_ps);
        }
        in_done(n, u, i, now_ps);
        if (!keep) {
            nand_bus_release(n, c, group, now_ps);
        }
        break;
    case STEP_STATUS:
        nand_bus_release(n, c, group, now_ps);
        nand_enter(n, i, PHASE_READY, now_ps);
        after_cell(n, u, i, now_ps);
        break;
    default:
        out_done(n, u, i, now_ps); /* and with it the die's next command */
        nand_bus_release(n, c, group, now_ps);
        break;
    }
}

static void cell_done(Nand *n, uint32_t i, uint64_t now_ps)
{
    NandOp *op = &n->op[i];
    Unit *u = nand_unit_of(n, op);

    invariant(i < n->n_op);
    if (op->cell_end_ps != now_ps) {
        return; /* it was suspended meanwhile */
    }
    switch (op->phase) {
    case PHASE_GAP:
        nand_bus_ask(n, i, STEP_IN, now_ps);
        break;
    case PHASE_SUSPENDING:
        suspended(n, u, now_ps);
        break;
    case PHASE_ECC:
        if (op->again) {
            read_again(n, i, now_ps);
            unit_step(n, &n->unit[op->unit], now_ps);
            try_suspend(n, op->unit, now_ps);
        } else {
            finish_op(n, i, now_ps);
        }
        break;
    case PHASE_CELL:
        if (n->timing.status_ps) {
            nand_enter_group(n, i, PHASE_TURN, now_ps);
            nand_bus_ask(n, i, STEP_STATUS, now_ps);
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

/* ---- submission ---------------------------------------------------------- */

/* Does the unit do nothing, and wait for nothing? */
static inline bool unit_rests(const Nand *n, const Unit *u)
{
    return !has_next(n, u) && u->array == NONE && u->out == NONE;
}

/* Would unit_step() let the operation begin alone, as soon as it is in the
 * queue?  A plane of its own, and a channel that may be held, are its business.
 */
static inline bool begins_alone(const Nand *n, const Unit *u, const NandOp *op)
{
    return unit_rests(n, u) && !op->more && !n->cfg.async_reads && !n->hold;
}

/* It has the unit, and no time has passed since it was submitted. */
static void begin_alone(Nand *n, Unit *u, uint32_t i, uint64_t now_ps)
{
    NandOp *op = &n->op[i];

    op->order = (int64_t)op->id;
    op->leader = i;
    op->group = op->id;
    op->phase = PHASE_TURN;
    die_hold(n, op, now_ps);
    u->array = i;
    group_begin(n, i, now_ps);
}

void nand_hint_read(const Nand *n, uint64_t page)
{
    __builtin_prefetch(&n->block[nand_page_block(&n->geo, page)]);
}

void nand_submit(Nand *n, const NandOp *request, uint64_t now_ps)
{
    uint32_t block = nand_page_block(&n->geo, request->ppa.page);
    uint32_t plane = nand_block_plane(&n->geo, block);
    uint32_t die = nand_plane_die(&n->geo, plane);
    uint32_t i;
    NandOp *op;
    Unit *u;

    i = nand_pool_take(n);
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
        .strong = request->strong,
        .cut = request->cut,
        .stretch_milli = request->stretch_milli,
        .block = block,
        .plane = plane,
        .die = die,
        .channel = die / n->geo.dies_per_channel,
        .unit = plane / n->planes_per_unit,
        .next_joined = NONE,
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
    if (n->media && op->kind == NAND_READ &&
        media_page_lost(n->media, op->ppa)) {
        op->bad_parts = op->parts ? op->parts : UINT64_MAX;
    }
    if (n->faults) {
        nand_decree_faults(n, op, now_ps);
    }
    if (G_UNLIKELY(n->hold)) {
        nand_hold_submitted(n, op);
    }
    n->load++;
    n->die[die].load++;
    n->die[die].host_reads += of_host(op);
    if (SHORT_WAY && begins_alone(n, u, request)) {
        begin_alone(n, u, i, now_ps);
        return;
    }
    nand_queue_add(n, i);
    if (request->more) {
        return;
    }
    unit_step(n, u, now_ps);
    if (request->kind == NAND_READ) {
        try_suspend(n, (uint32_t)(u - n->unit), now_ps);
    }
}

void nand_set_options(Nand *n, const NandConfig *cfg, uint64_t now_ps)
{
    bool other = n->cfg.suspend != cfg->suspend;

    n->cfg.suspend = cfg->suspend;
    n->cfg.suspend_limit = cfg->suspend_limit;
    n->cfg.t_suspend_ps = cfg->t_suspend_ps;
    n->cfg.t_resume_ps = cfg->t_resume_ps;
    n->cfg.t_min_run_ps = cfg->t_min_run_ps;
    n->cfg.write_deadline_ps = cfg->write_deadline_ps;
    if (!other) {
        return;
    }
    nand_queue_options(n);
    for (uint32_t i = 0; i < n->n_units; i++) {
        unit_step(n, &n->unit[i], now_ps);
        try_suspend(n, i, now_ps);
    }
}

/* ---- queries of the owner ----------------------------------------------- */

const NandStats *nand_stats(const Nand *n)
{
    return &n->stats;
}

void nand_longest_read(const Nand *n, uint32_t bytes, uint64_t *bus_ps,
                       uint64_t *cell_ps)
{
    const NandTiming *t = &n->timing;
    uint64_t words = (bytes + n->cfg.codeword_bytes - 1) /
                     n->cfg.codeword_bytes;

    *cell_ps = words * n->cfg.t_ecc_ps;
    *bus_ps = t->read_cmd_ps + t->status_ps + t->read_out_ps + t->change_ps +
              nand_data_ps(t, bytes);
    for (uint32_t i = 0; i <= NAND_SLC_MODE; i++) {
        *cell_ps = MAX(*cell_ps, words * n->cfg.t_ecc_ps + t->read_ps[i]);
    }
}

uint32_t nand_load(const Nand *n)
{
    return n->load;
}

uint32_t nand_die_load(const Nand *n, uint32_t plane)
{
    invariant(plane < n->geo.n_planes);
    return n->die[nand_plane_die(&n->geo, plane)].load;
}

uint32_t nand_unit_planes(const Nand *n)
{
    return n->planes_per_unit;
}

uint32_t nand_host_reads(const Nand *n, uint32_t plane)
{
    invariant(plane < n->geo.n_planes);
    return n->die[nand_plane_die(&n->geo, plane)].host_reads;
}

bool nand_channel_busy(const Nand *n, uint32_t channel)
{
    invariant(channel < n->geo.n_channels);
    return n->channel[channel].owner != NONE || nand_is_held(n, channel);
}

TimeSum nand_die_busy_ps(const Nand *n, uint32_t die, uint64_t now_ps)
{
    const Die *d = &n->die[die];

    invariant(die < n->geo.n_dies);
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

/* Operations that the power cut stops were busy up to now. */
static void account_cut(Nand *n, uint64_t now_ps)
{
    for (uint32_t c = 0; c < n->geo.n_channels; c++) {
        Channel *ch = &n->channel[c];

        if (ch->owner != NONE) {
            ch->busy_ps -= ch->until_ps - now_ps;
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
    nand_set_idle(n);
    invariant(n->load == 0 && n->n_op == 0);
}
