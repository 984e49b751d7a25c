/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raid.c - commands to an array with redundancy.
 *
 * Knows stripes, locks and failures; where chunks are (raid-layout.c) and which
 * of them an operation takes (raid-plan.c) it does not know.  All drives are
 * run up to the same instant, event by event, so a write follows its reads at
 * the instant at which they end.
 */
#include "raid.h"

#include <string.h>
#include <glib.h>

#include "ilist.h"
#include "pool.h"
#include "simtime.h"
#include "ssd-save.h"

/* Stripes of one command that are under way at a time: a bound on memory. */
#define STRIPES_AT_ONCE 32

#define NO_TAG UINT32_MAX

typedef enum OpKind { OP_READ, OP_WRITE, OP_TRIM, OP_FLUSH, OP_REBUILD } OpKind;

typedef enum OpPhase { PHASE_PLAN, PHASE_READ, PHASE_WRITE } OpPhase;

/* What one command, or the rebuild, does to one stripe. */
typedef struct Op Op;
struct Op {
    OpKind kind;
    uint32_t tag; /* of the command; NO_TAG: the rebuild's */
    uint64_t row;
    uint32_t group;
    uint64_t first, n; /* blocks of the stripe's data */
    uint32_t role;     /* OP_REBUILD: the lost chunk */
    bool fua;
    bool shutdown; /* OP_FLUSH */
    uint16_t stream;

    RaidPlan plan;
    OpPhase phase;
    bool locked;
    uint64_t unreadable; /* roles that their drive could not read */
    bool again;          /* a part was lost: plan again */
    uint32_t n_left;     /* parts under way */
    SsdBreakdown cost;   /* of the phases that have ended */
    SsdBreakdown last;   /* of the part that ended last */
    Op *next;            /* runnable, or free */
    Op *waiting;         /* for the lock, behind this one */
    Op *last_waiting;    /* of the holder of a lock: end of its list */
};

/* A command to one drive. */
typedef struct Part {
    Op *op; /* NULL: free, or nobody waits for it */
    uint32_t drive;
    uint32_t role;
    bool submitted;
    SsdCmd cmd;
    uint32_t next; /* waiting for a place in the drive's queue, or free */
} Part;

typedef struct Member {
    Ssd *ssd;
    bool failed;
    uint32_t n_in_flight;
    Ififo waiting; /* parts */
} Member;

/* A host command. */
typedef struct Whole {
    uint64_t submit_ns;
    SsdCmd cmd;
    uint64_t next, end; /* blocks that no Op has yet */
    uint32_t n_ops;
    SsdStatus status;
    uint64_t bad_lba;
    SsdBreakdown cost; /* of the Op that ended last */
} Whole;

struct Raid {
    RaidLayout *layout;
    RaidConfig cfg;
    RaidFault *fault; /* at_ns by the drives' clock; SSD_TIME_NEVER: past */
    Member member[RAID_MAX_DRIVES];
    uint32_t queue_depth; /* of a drive, and of the array */
    uint32_t block_bytes;
    uint64_t now_ns;
    uint64_t version;

    RaidFailure failure[RAID_MAX_DRIVES];
    uint32_t n_failures;
    uint32_t current; /* failure whose chunks are being rebuilt */
    uint64_t rebuilds[RAID_MAX_REBUILD_DEPTH]; /* rows under way */
    uint32_t n_rebuilds;
    uint64_t pace_ns;          /* no row is begun before */
    uint64_t rebuild_begun_ns; /* if rebuilding */
    bool rebuilding;

    GHashTable *locks; /* stripe + 1 -> the Op that holds it */
    Op *runnable, *last_runnable;
    GPtrArray *ops; /* all of them, owned */
    Op *free_ops;
    Part *part;
    uint32_t n_parts, free_part;
    Whole *whole;         /* by tag */
    SsdCompletion *ready; /* oldest first */
    size_t first_ready, n_ready;
    RaidStats stats;
};

/* ---- set-up -------------------------------------------------------------- */

static void free_op(gpointer data)
{
    Op *op = data;

    raid_plan_clear(&op->plan);
    g_free(op);
}

Raid *raid_new(Ssd *const *drive, RaidLayout *layout, const RaidConfig *cfg)
{
    Raid *r = g_new0(Raid, 1);
    const SsdInfo *info = ssd_info(drive[0]);

    r->layout = layout;
    r->cfg = *cfg;
    r->fault = g_new0(RaidFault, cfg->n_faults);
    for (unsigned i = 0; i < cfg->n_faults; i++) {
        r->fault[i] = (RaidFault){cfg->fault[i].drive, SSD_TIME_NEVER};
    }
    r->cfg.fault = g_memdup2(cfg->fault, cfg->n_faults * sizeof(*cfg->fault));
    for (uint32_t i = 0; i < layout->n_drives; i++) {
        r->member[i] = (Member){.ssd = drive[i], .waiting = IFIFO_EMPTY};
        r->now_ns = MAX(r->now_ns, ssd_now_ns(drive[i]));
        r->version = MAX(r->version, ssd_last_version(drive[i]));
    }
    r->queue_depth = info->queue_depth;
    r->block_bytes = info->block_bytes;
    r->locks = g_hash_table_new(NULL, NULL);
    r->ops = g_ptr_array_new_with_free_func(free_op);
    r->free_part = ILIST_NONE;
    r->whole = g_new0(Whole, r->queue_depth);
    r->ready = g_new0(SsdCompletion, r->queue_depth);
    return r;
}

void raid_free(Raid *r)
{
    if (r) {
        g_ptr_array_unref(r->ops);
        g_hash_table_unref(r->locks);
        raid_layout_free(r->layout);
        g_free((RaidFault *)r->cfg.fault);
        g_free(r->fault);
        g_free(r->part);
        g_free(r->whole);
        g_free(r->ready);
        g_free(r);
    }
}

const RaidLayout *raid_layout(const Raid *r)
{
    return r->layout;
}

void raid_begin(Raid *r, uint64_t now_ns)
{
    r->stats = (RaidStats){.n_failed = 0};
    r->rebuild_begun_ns = now_ns;
    for (unsigned i = 0; i < r->cfg.n_faults; i++) {
        r->fault[i].at_ns = now_ns + r->cfg.fault[i].at_ns;
    }
}

RaidStats raid_stats(const Raid *r)
{
    RaidStats s = r->stats;

    s.rebuilding = r->rebuilding;
    if (r->rebuilding) {
        s.rebuild_ns += r->now_ns - r->rebuild_begun_ns;
    }
    return s;
}

bool raid_rebuilding(const Raid *r)
{
    return r->rebuilding;
}

bool raid_failed(const Raid *r, uint32_t drive)
{
    return r->member[drive].failed;
}

/* ---- operations: records, locks ------------------------------------------ */

static Op *new_op(Raid *r, OpKind kind, uint32_t tag)
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

/* It goes on when run_ready() comes to it: no operation runs inside another. */
static void make_runnable(Raid *r, Op *op)
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
    make_runnable(r, heir);
}

/* ---- parts: commands to drives ------------------------------------------- */

static IlistLinks part_links(const Raid *r)
{
    return ILIST_CHAIN(r->part, Part, next);
}

static void submit_waiting(Raid *r, Member *m)
{
    while (m->n_in_flight < r->queue_depth && !ififo_is_empty(&m->waiting)) {
        uint32_t i = ififo_pop(part_links(r), &m->waiting);
        int err = ssd_submit(m->ssd, r->now_ns, &r->part[i].cmd);

        g_assert(err == 0);
        r->part[i].submitted = true;
        m->n_in_flight++;
    }
}

static void send(Raid *r, Op *op, uint32_t drive, uint32_t role,
                 const SsdCmd *cmd)
{
    Member *m = &r->member[drive];
    uint32_t i;

    r->part = pool_grow(r->part, part_links(r), &r->free_part, &r->n_parts,
                        r->queue_depth);
    i = pool_take(part_links(r), &r->free_part);
    r->part[i] = (Part){.op = op, .drive = drive, .role = role, .cmd = *cmd};
    r->part[i].cmd.tag = i;
    op->n_left++;
    ififo_push(part_links(r), &m->waiting, i);
    submit_waiting(r, m);
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

static void more_ops(Raid *r, uint32_t tag);

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
        more_ops(r, tag);
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

static void run_ready(Raid *r)
{
    while (r->runnable) {
        Op *op = r->runnable;

        r->runnable = op->next;
        run_op(r, op);
    }
}

/* ---- failures ------------------------------------------------------------ */

static void part_left(Raid *r, Op *op)
{
    if (--op->n_left == 0) {
        make_runnable(r, op);
    }
}

/* Parts that wait for the drive, or are under way there, are lost. */
static void lose_parts(Raid *r, uint32_t drive)
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
        part_left(r, op);
    }
    while (!ififo_is_empty(&m->waiting)) {
        pool_give(part_links(r), &r->free_part,
                  ififo_pop(part_links(r), &m->waiting));
    }
}

static void begin_rebuild(Raid *r)
{
    if (!r->rebuilding) {
        r->rebuilding = true;
        r->rebuild_begun_ns = r->now_ns;
        r->pace_ns = r->now_ns;
    }
}

static void fail(Raid *r, uint32_t drive)
{
    Member *m = &r->member[drive];

    if (m->failed) {
        return;
    }
    m->failed = true;
    r->stats.n_failed++;
    r->failure[r->n_failures++] = (RaidFailure){.drive = drive};
    lose_parts(r, drive);
    begin_rebuild(r);
}

static void due_faults(Raid *r)
{
    for (unsigned i = 0; i < r->cfg.n_faults; i++) {
        if (r->fault[i].at_ns <= r->now_ns) {
            r->fault[i].at_ns = SSD_TIME_NEVER;
            fail(r, r->fault[i].drive);
        }
    }
}

/* ---- rebuild ------------------------------------------------------------- */

/* The chunk of a row that was on the drive when it failed.  false: none that is
 * in use. */
static bool lost_chunk(const Raid *r, uint64_t row, uint32_t *group,
                       uint32_t *role)
{
    uint32_t drive = r->failure[r->current].drive;

    for (*group = 0; *group < r->layout->n_groups; (*group)++) {
        for (*role = 0; *role < r->layout->width; (*role)++) {
            if (raid_layout_place(r->layout, r->failure, r->current, row,
                                  *group, *role) == drive) {
                return true;
            }
        }
    }
    return false;
}

static void rebuild_row(Raid *r)
{
    uint64_t row = r->failure[r->current].n_rebuilt++;
    uint32_t group, role, to;
    Op *op;

    if (!lost_chunk(r, row, &group, &role)) {
        return;
    }
    to = raid_layout_place(r->layout, r->failure, r->current + 1, row, group,
                           role);
    if (to == RAID_NO_DRIVE) {
        r->stats.unspared_chunks++;
        return;
    }
    op = new_op(r, OP_REBUILD, NO_TAG);
    op->row = row;
    op->group = group;
    op->role = role;
    r->rebuilds[r->n_rebuilds++] = row;
    if (r->cfg.rebuild_bytes_s) {
        uint64_t bytes = (uint64_t)r->layout->chunk_blocks * r->block_bytes;

        r->pace_ns = MAX(r->pace_ns, r->now_ns) +
                     bytes * NS_PER_S / r->cfg.rebuild_bytes_s;
    }
    make_runnable(r, op);
}

static bool wants_row(const Raid *r)
{
    return r->current < r->n_failures &&
           r->failure[r->current].n_rebuilt < r->layout->n_rows &&
           r->n_rebuilds < r->cfg.rebuild_depth;
}

/* A row can begin at once, or the rebuild of a failure, or of all, has ended.
 */
static bool rebuild_is_due(const Raid *r)
{
    return r->rebuilding &&
           (wants_row(r) ? r->pace_ns <= r->now_ns : r->n_rebuilds == 0);
}

/* One failure after the other; without spare chunks there is nothing to do. */
static void continue_rebuild(Raid *r)
{
    while (r->current < r->n_failures) {
        RaidFailure *f = &r->failure[r->current];

        if (r->layout->n_spares == 0 && f->n_rebuilt < r->layout->n_rows) {
            r->stats.unspared_chunks += r->layout->n_rows;
            f->n_rebuilt = r->layout->n_rows;
        }
        while (wants_row(r) && r->pace_ns <= r->now_ns) {
            rebuild_row(r);
        }
        if (f->n_rebuilt < r->layout->n_rows || r->n_rebuilds > 0) {
            return;
        }
        r->current++;
    }
    if (r->rebuilding) {
        r->rebuilding = false;
        r->stats.rebuild_ns += r->now_ns - r->rebuild_begun_ns;
    }
}

/* ---- time ---------------------------------------------------------------- */

/* A drive refused a write: it is worn out, or its media failed. */
static bool refused_write(const SsdCompletion *c, const Part *part)
{
    return c->status != SSD_STATUS_OK && part->cmd.op != SSD_OP_READ;
}

static void part_ended(Raid *r, const SsdCompletion *c)
{
    Part part = r->part[c->tag];
    Member *m = &r->member[part.drive];
    Op *op = part.op;

    r->part[c->tag].op = NULL;
    pool_give(part_links(r), &r->free_part, (uint32_t)c->tag);
    m->n_in_flight--;
    if (op) {
        op->last = c->cost;
        if (part.cmd.op == SSD_OP_READ && c->status != SSD_STATUS_OK) {
            op->unreadable |= 1ULL << part.role;
            op->again = true;
        }
        part_left(r, op);
    }
    if (refused_write(c, &part)) {
        fail(r, part.drive);
    }
    if (!m->failed) {
        submit_waiting(r, m);
    }
}

static void collect(Raid *r)
{
    SsdCompletion done[64];

    for (uint32_t i = 0; i < r->layout->n_drives; i++) {
        Member *m = &r->member[i];
        size_t n;

        if (m->failed && m->n_in_flight == 0) {
            continue;
        }
        do {
            n = ssd_advance(m->ssd, r->now_ns, done, G_N_ELEMENTS(done));
            for (size_t k = 0; k < n; k++) {
                part_ended(r, &done[k]);
            }
        } while (n == G_N_ELEMENTS(done));
    }
}

static uint64_t next_own_ns(const Raid *r)
{
    uint64_t next_ns = SSD_TIME_NEVER;

    for (uint32_t i = 0; i < r->layout->n_drives; i++) {
        const Member *m = &r->member[i];

        if (!m->failed || m->n_in_flight > 0) {
            next_ns = MIN(next_ns, ssd_next_event_ns(m->ssd));
        }
    }
    for (unsigned i = 0; i < r->cfg.n_faults; i++) {
        next_ns = MIN(next_ns, r->fault[i].at_ns);
    }
    if (wants_row(r)) {
        next_ns = MIN(next_ns, r->pace_ns);
    } else if (rebuild_is_due(r)) {
        next_ns = r->now_ns;
    }
    return next_ns == SSD_TIME_NEVER ? next_ns : MAX(next_ns, r->now_ns);
}

/* What happens up to now_ns, instant by instant. */
static void run(Raid *r, uint64_t now_ns)
{
    uint64_t next_ns;

    while ((next_ns = next_own_ns(r)) <= now_ns) {
        r->now_ns = next_ns;
        collect(r);
        due_faults(r);
        do {
            continue_rebuild(r);
            run_ready(r);
        } while (rebuild_is_due(r));
    }
    r->now_ns = MAX(r->now_ns, now_ns);
}

uint64_t raid_next_event_ns(const Raid *r)
{
    return r->n_ready > 0 ? r->ready[r->first_ready].complete_ns
                          : next_own_ns(r);
}

size_t raid_advance(Raid *r, uint64_t now_ns, SsdCompletion *done, size_t max)
{
    size_t n;

    run(r, now_ns);
    n = MIN(r->n_ready, max);
    memcpy(done, r->ready + r->first_ready, n * sizeof(*done));
    r->n_ready -= n;
    memmove(r->ready, r->ready + r->first_ready + n,
            r->n_ready * sizeof(*done));
    r->first_ready = 0;
    return n;
}

uint64_t raid_rebase_most_ns(const Raid *r)
{
    uint64_t most_ns = r->now_ns;

    for (uint32_t i = 0; i < r->layout->n_drives; i++) {
        most_ns = MIN(most_ns, ssd_rebase_most_ns(r->member[i].ssd));
    }
    if (r->rebuilding) {
        most_ns = MIN(most_ns, MIN(r->rebuild_begun_ns, r->pace_ns));
    }
    for (uint32_t i = 0; i < r->queue_depth; i++) {
        if (r->whole[i].n_ops > 0) {
            most_ns = MIN(most_ns, r->whole[i].submit_ns);
        }
    }
    return most_ns;
}

void raid_rebase(Raid *r, uint64_t by_ns)
{
    g_assert(r->n_ready == 0 && !r->runnable);
    for (uint32_t i = 0; i < r->layout->n_drives; i++) {
        bool ok = ssd_rebase(r->member[i].ssd, by_ns);

        g_assert(ok);
    }
    for (unsigned i = 0; i < r->cfg.n_faults; i++) {
        r->fault[i].at_ns -= r->fault[i].at_ns == SSD_TIME_NEVER ? 0 : by_ns;
    }
    for (uint32_t i = 0; i < r->queue_depth; i++) {
        r->whole[i].submit_ns -= MIN(r->whole[i].submit_ns, by_ns);
    }
    r->now_ns -= by_ns;
    r->pace_ns -= MIN(r->pace_ns, by_ns);
    r->rebuild_begun_ns -= MIN(r->rebuild_begun_ns, by_ns);
}

/* ---- commands ------------------------------------------------------------ */

static OpKind kind_of(SsdOp op)
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
static void more_ops(Raid *r, uint32_t tag)
{
    Whole *w = &r->whole[tag];
    uint64_t stripe_blocks =
        (uint64_t)r->layout->n_data * r->layout->chunk_blocks;

    while (w->next < w->end && w->n_ops < STRIPES_AT_ONCE) {
        Op *op = new_op(r, kind_of(w->cmd.op), tag);
        uint64_t stripe = w->next / stripe_blocks;

        op->row = stripe / r->layout->n_groups;
        op->group = (uint32_t)(stripe % r->layout->n_groups);
        op->first = w->next % stripe_blocks;
        op->n = MIN(stripe_blocks - op->first, w->end - w->next);
        op->fua = w->cmd.fua;
        op->stream = w->cmd.stream;
        w->next += op->n;
        w->n_ops++;
        make_runnable(r, op);
    }
}

void raid_submit(Raid *r, uint64_t now_ns, const SsdCmd *cmd)
{
    uint32_t tag = (uint32_t)cmd->tag;
    Whole *w = &r->whole[tag];

    run(r, now_ns);
    *w = (Whole){.submit_ns = now_ns, .cmd = *cmd};
    if (kind_of(cmd->op) == OP_FLUSH) {
        Op *op = new_op(r, OP_FLUSH, tag);

        op->shutdown = cmd->op == SSD_OP_SHUTDOWN;
        w->n_ops = 1;
        make_runnable(r, op);
    } else {
        w->next = cmd->lba;
        w->end = cmd->lba + cmd->nblocks;
        more_ops(r, tag);
    }
    run_ready(r);
}
