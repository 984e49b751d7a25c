/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raid-op.c - operations on stripes: locks, commands to drives, phases.
 *
 * An operation goes through PHASE_PLAN, PHASE_READ and PHASE_WRITE; run_op() is
 * the only place that changes the phase.  Knows which drives have failed; knows
 * nothing of time (raid.c).
 */
#include "raid-internal.h"

#include <glib.h>

#include "pool.h"
#include "simtime.h"

void raid_free_op(gpointer data)
{
    Op *op = data;

    raid_plan_clear(&op->plan);
    g_free(op);
}

/* ---- operations: records, locks ------------------------------------------ */

Op *raid_new_op(Raid *r, OpKind kind, uint32_t tag)
{
    Op *op = r->free_ops;
    RaidPlan plan;

    if (op) {
        r->free_ops = op->next;
    } else {
        op = g_new0(Op, 1);
        raid_plan_init(&op->plan);
        g_ptr_array_add(r->ops, op);
    }
    plan = op->plan;
    *op = (Op){.kind = kind, .tag = tag, .plan = plan};
    return op;
}

/* It goes on when raid_run_ready() comes to it: no operation runs inside
 * another. */
void raid_make_runnable(Raid *r, Op *op)
{
    op->next = NULL;
    if (r->runnable) {
        r->last_runnable->next = op;
    } else {
        r->runnable = op;
    }
    r->last_runnable = op;
}

static gpointer lock_key(const Raid *r, const Op *op)
{
    return GSIZE_TO_POINTER(op->row * r->layout->n_groups + op->group + 1);
}

/* false: another one holds it, and op becomes runnable when its turn comes. */
static bool take_lock(Raid *r, Op *op)
{
    gpointer key = lock_key(r, op);
    Op *holder = g_hash_table_lookup(r->locks, key);

    op->locked = true;
    op->waiting = NULL;
    op->last_waiting = op;
    if (!holder) {
        g_hash_table_insert(r->locks, key, op);
        return true;
    }
    r->stats.lock_waits += op->kind != OP_REBUILD;
    holder->last_waiting->waiting = op;
    holder->last_waiting = op;
    return false;
}

static void drop_lock(Raid *r, Op *op)
{
    gpointer key = lock_key(r, op);
    Op *heir = op->waiting;

    op->locked = false;
    if (!heir) {
        g_hash_table_remove(r->locks, key);
        return;
    }
    if (heir != op->last_waiting) {
        heir->last_waiting = op->last_waiting;
    }
    g_hash_table_insert(r->locks, key, heir);
    raid_make_runnable(r, heir);
}

/* ---- parts: commands to drives ------------------------------------------- */

void raid_note_member(Raid *r, const Member *m)
{
    uint32_t i = (uint32_t)(m - r->member);

    if (m->failed && m->n_in_flight == 0) {
        drive_clock_stop(&r->clock, i);
    } else {
        drive_clock_note(&r->clock, i, m->ssd);
    }
}

IlistLinks raid_part_links(const Raid *r)
{
    return ILIST_CHAIN(r->part, Part, next);
}

void raid_submit_waiting(Raid *r, Member *m)
{
    while (m->n_in_flight < r->queue_depth && !ififo_is_empty(&m->waiting)) {
        uint32_t i = ififo_pop(raid_part_links(r), &m->waiting);
        int err = ssd_submit(m->ssd, r->now_ns, &r->part[i].cmd);

        g_assert(err == 0);
        r->part[i].submitted = true;
        m->n_in_flight++;
        raid_note_member(r, m);
    }
}

static void send(Raid *r, Op *op, uint32_t drive, uint32_t role,
                 const SsdCmd *cmd)
{
    Member *m = &r->member[drive];
    uint32_t i;

    r->part = pool_grow(r->part, raid_part_links(r), &r->free_part, &r->n_parts,
                        r->queue_depth);
    i = pool_take(raid_part_links(r), &r->free_part);
    r->part[i] = (Part){.op = op, .drive = drive, .role = role, .cmd = *cmd};
    r->part[i].cmd.tag = i;
    op->n_left++;
    ififo_push(raid_part_links(r), &m->waiting, i);
    raid_submit_waiting(r, m);
}

/* Where a chunk of the operation's stripe is.  A chunk whose rebuild is under
 * way counts as lost, but for the rebuild itself. */
static uint32_t place(Raid *r, const Op *op, uint32_t role)
{
    RaidFailure *current = &r->failure[r->current];
    uint64_t n_rebuilt = current->n_rebuilt;
    uint32_t drive;

    for (uint32_t i = 0; op->kind != OP_REBUILD && i < r->n_rebuilds; i++) {
        if (r->rebuilds[i] == op->row) {
            current->n_rebuilt = MIN(n_rebuilt, op->row);
        }
    }
    drive = raid_layout_place(r->layout, r->failure, r->n_failures, op->row,
                              op->group, role);
    current->n_rebuilt = n_rebuilt;
    return drive;
}

/* Send the reads, or the writes, of the plan.  false: there are none. */
static bool issue(Raid *r, Op *op, const GArray *parts, SsdOp what)
{
    uint64_t base = op->row * r->layout->chunk_blocks;
    bool any = false;

    for (unsigned i = 0; i < parts->len; i++) {
        const RaidPart *part = &g_array_index(parts, RaidPart, i);
        uint32_t drive = place(r, op, part->role);
        SsdCmd cmd = {
            .op = what, .lba = base + part->first, .nblocks = part->n};

        if (drive == RAID_NO_DRIVE || r->member[drive].failed) {
            continue; /* it failed after the plan was made */
        }
        if (what == SSD_OP_WRITE) {
            cmd.version = ++r->version;
            cmd.fua = op->fua;
            cmd.stream = op->stream;
        }
        if (op->kind != OP_REBUILD) {
            r->stats.parts_read += what == SSD_OP_READ;
            r->stats.parts_written += what == SSD_OP_WRITE;
        }
        send(r, op, drive, part->role, &cmd);
        any = true;
    }
    return any;
}

static void issue_flush(Raid *r, Op *op)
{
    SsdCmd cmd = {.op = op->shutdown ? SSD_OP_SHUTDOWN : SSD_OP_FLUSH};

    for (uint32_t i = 0; i < r->layout->n_drives; i++) {
        if (!r->member[i].failed) {
            send(r, op, i, 0, &cmd);
        }
    }
}

/* ---- operations: their way ----------------------------------------------- */

static RaidChunks chunks_of(Raid *r, const Op *op)
{
    RaidChunks c = {.prefer = 0};
    uint32_t least = UINT32_MAX;

    for (uint32_t role = 0; role < r->layout->width; role++) {
        uint32_t drive = place(r, op, role);
        uint64_t bit = 1ULL << role;

        if (drive == RAID_NO_DRIVE || r->member[drive].failed) {
            continue;
        }
        c.writable |= bit;
        if (op->unreadable & bit) {
            continue;
        }
        c.readable |= bit;
        if (r->member[drive].n_in_flight < least) {
            least = r->member[drive].n_in_flight;
            c.prefer = role; /* the drive with the fewest commands */
        }
    }
    return c;
}

static void make_plan(Raid *r, Op *op)
{
    RaidChunks c = chunks_of(r, op);
    const RaidLayout *l = r->layout;

    switch (op->kind) {
    case OP_READ:
        raid_plan_read(l, &c, op->first, op->n, &op->plan);
        break;
    case OP_WRITE:
        raid_plan_write(l, &c, op->first, op->n, &op->plan);
        break;
    case OP_TRIM:
        raid_plan_trim(l, &c, op->first, op->n, &op->plan);
        break;
    default:
        c.readable &= ~(1ULL << op->role);
        raid_plan_rebuild(l, &c, op->role, &op->plan);
        break;
    }
}

/* A read takes no lock as long as it computes nothing. */
static bool needs_lock(const Op *op)
{
    return op->kind != OP_READ || op->plan.rebuilt || op->plan.writes->len > 0;
}

static void count_plan(Raid *r, const Op *op)
{
    if (op->kind == OP_WRITE) {
        r->stats.updates[op->plan.update]++;
    } else if (op->kind == OP_READ) {
        r->stats.rebuilt_reads += op->plan.rebuilt;
        r->stats.repaired += op->plan.writes->len;
    } else if (op->kind == OP_TRIM && op->plan.writes->len == 0) {
        r->stats.ignored_trim_bytes += op->n * r->block_bytes;
    }
}

static void add_cost(SsdBreakdown *sum, const SsdBreakdown *more)
{
#define ADD_COST(name, help) sum->name##_ns += more->name##_ns;
    SSD_COSTS(ADD_COST)
#undef ADD_COST
}

static uint64_t sum_of(const SsdBreakdown *cost)
{
    uint64_t sum = 0;

#define SUM_COST(name, help) sum += cost->name##_ns;
    SSD_COSTS(SUM_COST)
#undef SUM_COST
    return sum;
}

OpKind raid_op_kind(SsdOp op)
{
    switch (op) {
    case SSD_OP_READ:
        return OP_READ;
    case SSD_OP_WRITE:
        return OP_WRITE;
    case SSD_OP_TRIM:
        return OP_TRIM;
    default:
        return OP_FLUSH;
    }
}

/* Stripes follow each other group by group, then row by row. */
void raid_more_ops(Raid *r, uint32_t tag)
{
    Whole *w = &r->whole[tag];
    uint64_t stripe_blocks =
        (uint64_t)r->layout->n_data * r->layout->chunk_blocks;

    while (w->next < w->end && w->n_ops < STRIPES_AT_ONCE) {
        Op *op = raid_new_op(r, raid_op_kind(w->cmd.op), tag);
        uint64_t stripe = w->next / stripe_blocks;

        op->row = stripe / r->layout->n_groups;
        op->group = (uint32_t)(stripe % r->layout->n_groups);
        op->first = w->next % stripe_blocks;
        op->n = MIN(stripe_blocks - op->first, w->end - w->next);
        op->fua = w->cmd.fua;
        op->stream = w->cmd.stream;
        w->next += op->n;
        w->n_ops++;
        raid_make_runnable(r, op);
    }
}

/* Time that no drive accounts for, waiting for locks and for places in queues,
 * counts as firmware: that of the array's controller. */
static void end_command(Raid *r, uint32_t tag)
{
    Whole *w = &r->whole[tag];
    SsdCompletion done = {.tag = tag,
                          .submit_ns = w->submit_ns,
                          .complete_ns = r->now_ns,
                          .status = w->status,
                          .bad_lba = w->bad_lba,
                          .cost = w->cost};

    done.cost.firmware_ns += r->now_ns - w->submit_ns - sum_of(&w->cost);
    g_assert(r->first_ready + r->n_ready < r->queue_depth);
    r->ready[r->first_ready + r->n_ready++] = done;
}

static void end_rebuild(Raid *r, const Op *op, bool lost)
{
    uint32_t to = place(r, op, op->role);
    uint32_t i = 0;

    if (lost) {
        r->stats.lost_chunks++;
    } else if (to != RAID_NO_DRIVE && !r->member[to].failed) {
        r->stats.rebuilt_bytes +=
            (uint64_t)r->layout->chunk_blocks * r->block_bytes;
    }
    while (r->rebuilds[i] != op->row) {
        i++;
    }
    r->rebuilds[i] = r->rebuilds[--r->n_rebuilds];
}

/* Too few chunks of the stripe are left for what was written to be read. */
static bool written_in_vain(Raid *r, const Op *op)
{
    RaidChunks c = chunks_of(r, op);

    return (unsigned)__builtin_popcountll(c.writable) < r->layout->n_data;
}

static void end_op(Raid *r, Op *op)
{
    uint32_t tag = op->tag;
    Whole *w = tag == NO_TAG ? NULL : &r->whole[tag];
    bool lost =
        op->plan.lost || (op->kind == OP_WRITE && written_in_vain(r, op));

    if (op->kind == OP_REBUILD) {
        end_rebuild(r, op, lost);
    } else if (lost) {
        r->stats.lost++;
        if (w->status == SSD_STATUS_OK) {
            w->status = op->kind == OP_READ ? SSD_STATUS_UNRECOVERED_READ
                                            : SSD_STATUS_WRITE_FAULT;
            w->bad_lba = w->cmd.lba;
        }
    }
    if (op->locked) {
        drop_lock(r, op);
    }
    op->next = r->free_ops;
    r->free_ops = op;
    if (w) {
        w->cost = op->cost;
        w->n_ops--;
        raid_more_ops(r, tag);
        if (w->n_ops == 0) {
            end_command(r, tag);
        }
    }
}

/* The reads have ended, all of them well: write. */
static void write_phase(Raid *r, Op *op)
{
    g_assert(op->plan.writes->len == 0 ||
             g_hash_table_lookup(r->locks, lock_key(r, op)) == op);
    op->phase = PHASE_WRITE;
    count_plan(r, op);
    if (!issue(r, op, op->plan.writes,
               op->kind == OP_TRIM ? SSD_OP_TRIM : SSD_OP_WRITE)) {
        end_op(r, op);
    }
}

static void plan_phase(Raid *r, Op *op)
{
    op->phase = PHASE_PLAN;
    op->again = false;
    if (op->kind == OP_FLUSH) {
        op->phase = PHASE_WRITE;
        issue_flush(r, op);
        if (op->n_left == 0) {
            end_op(r, op);
        }
        return;
    }
    if (op->kind == OP_REBUILD && (place(r, op, op->role) == RAID_NO_DRIVE ||
                                   r->member[place(r, op, op->role)].failed)) {
        op->plan.lost = false; /* the spare chunk has gone, too */
        g_array_set_size(op->plan.writes, 0);
        end_op(r, op);
        return;
    }
    make_plan(r, op);
    if (op->plan.lost) {
        end_op(r, op);
        return;
    }
    if (!op->locked && needs_lock(op) && !take_lock(r, op)) {
        return; /* it comes here again when it has the lock */
    }
    op->phase = PHASE_READ;
    if (!issue(r, op, op->plan.reads, SSD_OP_READ)) {
        write_phase(r, op);
    }
}

static void run_op(Raid *r, Op *op)
{
    add_cost(&op->cost, &op->last);
    op->last = (SsdBreakdown){.firmware_ns = 0};
    if (op->phase == PHASE_PLAN || op->again) {
        plan_phase(r, op);
    } else if (op->phase == PHASE_READ) {
        write_phase(r, op);
    } else {
        end_op(r, op);
    }
}

void raid_run_ready(Raid *r)
{
    while (r->runnable) {
        Op *op = r->runnable;

        r->runnable = op->next;
        run_op(r, op);
    }
}

/* ---- failures of drives -------------------------------------------------- */

void raid_part_left(Raid *r, Op *op)
{
    if (--op->n_left == 0) {
        raid_make_runnable(r, op);
    }
}

/* Parts that wait for the drive, or are under way there, are lost. */
void raid_lose_parts(Raid *r, uint32_t drive)
{
    Member *m = &r->member[drive];

    for (uint32_t i = 0; i < r->n_parts; i++) {
        Part *part = &r->part[i];
        Op *op = part->op;

        if (!op || part->drive != drive) {
            continue;
        }
        part->op = NULL;
        op->again |= op->phase == PHASE_READ;
        raid_part_left(r, op);
    }
    while (!ififo_is_empty(&m->waiting)) {
        pool_give(raid_part_links(r), &r->free_part,
                  ififo_pop(raid_part_links(r), &m->waiting));
    }
}
