/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nand-internal.h - shared by the files of nand/. */
#ifndef VSSD_NAND_INTERNAL_H
#define VSSD_NAND_INTERNAL_H

#include "nand.h"
#include "nand-faults.h"
#include "nand-reliability.h"
#include "nand-sched.h"
#include "nand-timing.h"
#include "pool.h"
#include "short-way.h"

#define NONE ILIST_NONE

typedef enum Phase {
    PHASE_FREE, /* the pool entry holds no operation */
    PHASE_DIE_WAIT,
    PHASE_TURN, /* granted; another member of the group has its bus phase */
    PHASE_BUS_WAIT,
    PHASE_BUS,
    PHASE_LOADED, /* cache program: loaded, waits for the array */
    PHASE_GAP,    /* tDBSY before its turn */
    PHASE_CELL,
    PHASE_SUSPENDING,
    PHASE_SUSPENDED,
    PHASE_READY, /* out of the array; the cache register is taken */
    PHASE_ECC,   /* out of the die; being decoded */
    N_PHASES,
} Phase;

/* A request for the channel. */
typedef enum Step {
    STEP_IN, /* command and address, and the data of a program */
    STEP_STATUS,
    STEP_OUT, /* the data of a read */
} Step;

typedef enum NandLock {
    NAND_LOCK_DIE,
    NAND_LOCK_PLANE,
    NAND_LOCK_CHIP,
} NandLock;

typedef enum NandArbitration {
    NAND_ARBITRATION_PHASE,
    NAND_ARBITRATION_GROUP,
} NandArbitration;

typedef enum NandSuspend {
    NAND_SUSPEND_OFF,
    NAND_SUSPEND_ERASE,
    NAND_SUSPEND_PROGRAM,
    NAND_SUSPEND_BOTH,
} NandSuspend;

/* Operations that wait for a channel, linked through NandOp.next. */
typedef Ififo OpList;

/* ---- operations that wait for their unit: nand-queue.c ------------------- */

/* The lists that a waiting operation is in: of its class; of its block, with the
 * other reads or with all that are not reads; a copyback also of the block that
 * it reads. */
typedef enum WaitList {
    WAIT_READS,
    WAIT_OTHERS,
    WAIT_SOURCES,
    N_BLOCK_LISTS,
    WAIT_CLASS = N_BLOCK_LISTS,
    N_WAIT_LISTS,
} WaitList;

typedef enum WaitHeap {
    HEAP_READS,
    HEAP_JOINABLE,
    N_WAIT_HEAPS,
} WaitHeap;

typedef struct WaitLink {
    uint32_t prev, next;
} WaitLink;

typedef struct WaitNode {
    uint32_t child;
    uint32_t next, prev; /* siblings; of the first one, the parent */
    bool in;
} WaitNode;

/* By place in the pool. */
typedef struct Wait {
    WaitLink link[N_WAIT_LISTS];
    WaitNode node[N_WAIT_HEAPS];
} Wait;

/* By block: the lists; and the first read that something is in the way of,
 * behind which the block's other reads wait. */
typedef struct WaitBlock {
    uint32_t head[N_BLOCK_LISTS];
    uint32_t held;
} WaitBlock;

/* By unit. */
typedef struct UnitQueue {
    uint32_t n;
    uint32_t only;                 /* waits alone, and is in no list */
    uint32_t first[SCHED_CLASSES]; /* of those not being decoded */
    uint32_t reads; /* heap of those that nothing is in the way of; empty
                       without nand.suspend */
} UnitQueue;

#define NAND_MOST_JOINED 64 /* planes of a command: of a die, or of a chip */
#define NAND_JOIN_KINDS  3  /* of operations that multi-plane commands do */

/* See nand.c; each place names a group by its leader, or NONE. */
typedef struct Unit {
    uint32_t array;
    uint32_t loading;
    uint32_t out; /* the member whose data leaves */
    uint32_t suspended;
} Unit;

typedef struct Die {
    uint32_t load;    /* operations submitted and not done */
    uint32_t holders; /* of those, granted */
    uint32_t host_reads; /* submitted and not done */
    uint64_t since_ps;
    TimeSum busy_ps;
} Die;

typedef struct Channel {
    OpList waiting;
    OpList commands; /* wait, too, and carry no data: they go first */
    uint32_t owner; /* operation on the bus, or NONE */
    uint64_t until_ps; /* while there is an owner: when it ends */
    uint64_t ecc_free_ps; /* when the decoder has finished its queue */
    TimeSum busy_ps;      /* including the owner's */
} Channel;

/* A channel that GC of a plane has alone; with nand.gc_hold. */
typedef struct Hold {
    uint32_t plane; /* or NONE */
    uint32_t n_ops; /* of GC, of that plane, submitted and not done */
} Hold;

typedef struct BlockWear {
    uint16_t next_page; /* as nand_next_page() */
    uint16_t in_array;  /* programs queued or running */
    uint32_t erase_count;
} BlockWear;

typedef struct NandHistory NandHistory;

struct Nand {
    NandConfig cfg;
    NandGeometry geo;
    NandTiming timing;
    const SchedPolicy *sched;
    uint32_t planes_per_channel;
    uint32_t planes_per_unit;
    uint32_t n_units;
    uint32_t n_places; /* elements of Nand.unit: n_units, and with
                          nand.async_reads one for each plane */
    EventQueue *q;
    NandDone *done;
    NandDone *data_in; /* or NULL */
    NandReleased *released;      /* or NULL */
    NandMaySuspend *may_suspend; /* or NULL */
    void *opaque;

    NandOp *op; /* pool; index is the operation's name */
    uint32_t n_op;
    uint32_t free_op;
    int64_t first_order; /* no operation's NandOp.order is below it */

    /* Index of waiting operations (nand-queue.c); follows from the pool. */
    Wait *wait;
    UnitQueue *unit_queue;
    WaitBlock *wait_block;
    uint32_t *joinable; /* heaps by plane, page of a block and kind; NULL
                        without nand.multi_plane, async_reads and composite */
    bool in_order;   /* the first one is always the next: no lists of blocks */
    bool uses_heaps; /* heaps of those that nothing is in the way of */

    Unit *unit;
    Die *die;
    Channel *channel;
    Hold *hold; /* by channel; NULL without nand.gc_hold */
    TimeSum *plane_busy_ps;
    uint64_t *in_register; /* nand.register_hits, else NULL; by plane: the page
                              that was read last, + 1; 0: none */
    BlockWear *block;
    uint64_t *slc_mode;   /* these two: NULL without nand_allow_slc() */
    uint32_t *slc_erases; /* by block: those of its erases in SLC mode */
    NandMedia *media; /* NULL: the medium has no errors */
    Faults *faults;   /* the owner's; NULL: none */
    void (*cut)(void *opaque);
    bool ends_programs; /* nand_set_protected() */
    uint32_t load; /* operations submitted and not done */
    NandStats stats;
    uint64_t last_id;
    const NandWatch *watch; /* or NULL */
    void *watch_opaque;
    NandHistory *history; /* or NULL; nand-history.c */
};

/* ---- nand-create.c ------------------------------------------------------- */

/* Nothing is in flight; the pool is empty. */
void nand_set_idle(Nand *n);

/* ---- nand-slc.c ---------------------------------------------------------- */

void nand_slc_destroy(Nand *n);

/* An erase of the block has ended: it leaves SLC mode. */
void nand_slc_erased(Nand *n, uint32_t block);

/* What the block's cycles are relative to. */
uint32_t nand_rated_cycles(const Nand *n, uint32_t block);

/* Is the mode of each block one that it can have? */
bool nand_slc_check(const Nand *n);

/* ---- nand-queue.c -------------------------------------------------------- */

/* Are the two pages, of the same block, of one word line? */
static inline bool nand_same_word_line(const Nand *n, const NandOp *a,
                                       const NandOp *b)
{
    uint32_t pages =
        nand_block_is_slc(&n->geo, a->block) ? 1 : n->timing.n_page_types;

    return nand_page_in_block(&n->geo, a->ppa.page) / pages ==
           nand_page_in_block(&n->geo, b->ppa.page) / pages;
}

/* May reads go before programs of other word lines of their block?  In an array
 * that can suspend programs a read of any page may follow, but of the word line
 * that is being programmed. */
static inline bool nand_reads_pass(const Nand *n)
{
    return n->cfg.suspend == NAND_SUSPEND_PROGRAM ||
           n->cfg.suspend == NAND_SUSPEND_BOTH;
}

void nand_queue_init(Nand *n);

/* nand.suspend has changed: indexes of waiting operations are made again. */
void nand_queue_options(Nand *n);
void nand_queue_destroy(Nand *n);

/* Nothing waits any more. */
void nand_queue_forget(Nand *n);

/* The pool has been loaded. */
void nand_queue_rebuild(Nand *n);

/* Operations may move. */
void nand_pool_grow(Nand *n);

/* A read waits again, as the first one, but is being decoded; that has ended. */
void nand_queue_add_first(Nand *n, uint32_t op);
void nand_queue_ready(Nand *n, uint32_t op);

/* The first waiting read that may go before all that came before it; with
 * nand.suspend only. */
uint32_t nand_pick_read(const Nand *n, const Unit *u);

/* Take the operations that may run with the leader out of the unit's queue. */
void nand_gather_joinable(Nand *n, Unit *u, uint32_t leader);

/* For those below: where more than one waits. */
void nand_queue_add_more(Nand *n, UnitQueue *q, uint32_t op);
void nand_queue_take_listed(Nand *n, uint32_t op);
uint32_t nand_pick_listed(const Nand *n, const UnitQueue *q, uint64_t now_ps);

/* The first waiting operation of the plane that may be in one command with the
 * leader, as far as kind, order and mode go; NONE: there is none. */
typedef uint32_t NandFirstJoinable(const Nand *n, uint32_t leader,
                                   uint32_t plane);

/* nand-composite.c: the operations that join the leader, in any order, at most
 * NAND_MOST_JOINED; with nand.composite, and no read leads. */
uint32_t nand_composite_joinable(const Nand *n, uint32_t leader,
                                 NandFirstJoinable *first_joinable,
                                 uint32_t *joined);

/* ---- nand-hold.c: with nand.gc_hold; else these are not called ----------- */

/* Nothing is held. */
void nand_hold_forget(Nand *n);
void nand_hold_submitted(Nand *n, const NandOp *op);
/* The operation, and what its owner did then, has ended.  true: its channel is
 * held no longer, or by another plane. */
bool nand_hold_done(Nand *n, const NandOp *op);
bool nand_hold_check(const Nand *n, GError **error);

/* Does GC have the channel alone? */
static inline bool nand_is_held(const Nand *n, uint32_t channel)
{
    return n->hold && n->hold[channel].plane != NONE;
}

/* May the operation begin, as far as that goes? */
static inline bool nand_hold_lets(const Nand *n, const NandOp *op)
{
    return !nand_is_held(n, op->channel) ||
           (op->cause == NAND_CAUSE_GC &&
            op->plane == n->hold[op->channel].plane);
}

/* nand-queue.c: the first operation of a unit that may begin, or what must go
 * before it on its block; NONE: there is none. */
uint32_t nand_pick_held(const Nand *n, const UnitQueue *q);

/* The first waiting read of the plane that may start; with nand.async_reads.
 * NONE: there is none, or it waits alone in its queue. */
uint32_t nand_first_read(const Nand *n, uint32_t plane);

/* nand-queue-check.c: do the lists and heaps give the same result as a search
 * over all waiting operations? */
bool nand_queue_check(const Nand *n, GError **error);

/* ---- nand-bus.c ---------------------------------------------------------- */

/* The channel for a bus phase, now or when it is free. */
void nand_bus_ask(Nand *n, uint32_t i, Step step, uint64_t now_ps);
/* With nand.arbitration=group: does the channel stay with a command, whose
 * phase on the bus has ended, through tDBSY?  Then the next member has it. */
bool nand_bus_keeps(const Nand *n, const NandOp *op);
void nand_bus_keep(Nand *n, uint32_t next, uint64_t now_ps);
/* For nand_bus_release(): where others wait. */
void nand_bus_pass_on(Nand *n, uint32_t c, uint64_t group, uint64_t now_ps);

/* ---- nand-async.c: with nand.async_reads --------------------------------- */

/* The places of a plane's own reads. */
static inline Unit *nand_plane_unit(const Nand *n, uint32_t plane)
{
    return &n->unit[n->n_units + plane];
}

/* The places that the operation goes through. */
static inline Unit *nand_unit_of(const Nand *n, const NandOp *op)
{
    return n->cfg.async_reads && op->kind == NAND_READ
               ? nand_plane_unit(n, op->plane)
               : &n->unit[op->unit];
}

/* A waiting read of the die that its plane can start; next is what the policy
 * puts first (NONE: nothing).  NONE: no read may start. */
uint32_t nand_async_pick(const Nand *n, uint32_t next);

/* Is a read under way in a plane of the unit? */
bool nand_async_busy(const Nand *n, const Unit *u);

/* ---- nand-cell.c --------------------------------------------------------- */

/* Pages of the page's word line that were programmed before it, by programs of
 * their own. */
uint32_t nand_lower_pages(const Nand *n, uint32_t block, NandPpa ppa);

/* Scripted faults that an operation meets when it is submitted. */
void nand_decree_faults(Nand *n, NandOp *op, uint64_t now_ps);
/* What the group leaves in the registers of its planes is no page that could be
 * read from there. */
void nand_lose_registers(Nand *n, uint32_t leader);

/* The array works on the group, whose slowest member counts. */
void nand_cell_start(Nand *n, uint32_t leader, uint64_t extra_ps,
                     uint64_t now_ps);

/* nand-history.c: the operations of late, for nand.history. */
NandHistory *nand_history_new(uint32_t n_ops);
void nand_history_free(NandHistory *h);
/* Those before the new zero of the clock get it as their instant. */
void nand_history_rebase(NandHistory *h, uint64_t by_ps);
void nand_history_submit(NandHistory *h, const NandOp *op, uint64_t now_ps);
void nand_history_done(NandHistory *h, const NandOp *op, uint64_t now_ps);

/* History of operations on a block, oldest first, a line each. */
char *nand_history_of_block(const NandHistory *h, const NandGeometry *g,
                            uint32_t block);

/* nand-rules.c: state of the medium. */
void nand_rules_submit(Nand *n, const NandOp *op, uint64_t now_ps);
void nand_rules_done(Nand *n, const NandOp *op, uint64_t now_ps);
void nand_rules_power_cut(Nand *n);

/* nand-watch.c: the phase of op ends now; n->watch is set. */
void nand_watch_phase(const Nand *n, const NandOp *op, uint64_t now_ps);

/* ---- queues, the pool, and phases: inline, they are most of the work ----- */

/* An operation of the pool waits for its unit from now on, as the last one. */
static inline void nand_queue_add(Nand *n, uint32_t op)
{
    UnitQueue *q = &n->unit_queue[n->op[op].unit];

    n->op[op].order = (int64_t)n->op[op].id;
    if (q->n++ == 0) {
        q->only = op + 1;
    } else {
        nand_queue_add_more(n, q, op);
    }
}

/* It does not any more. */
static inline void nand_queue_take(Nand *n, uint32_t op)
{
    UnitQueue *q = &n->unit_queue[n->op[op].unit];

    invariant(q->n > 0);
    q->n--;
    if (q->only == op + 1) {
        q->only = 0;
    } else {
        nand_queue_take_listed(n, op);
    }
}

/* The operation of a unit that the policy puts first, and that overtakes none on
 * its block; NONE: there is none, or it is being decoded. */
static inline uint32_t nand_pick(const Nand *n, const Unit *u, uint64_t now_ps)
{
    const UnitQueue *q = &n->unit_queue[u - n->unit];

    if (G_UNLIKELY(n->hold) &&
        nand_is_held(n, (uint32_t)(u - n->unit) * n->planes_per_unit /
                            n->planes_per_channel)) {
        return nand_pick_held(n, q);
    }
    return q->only || q->n == 0 ? q->only - 1 : nand_pick_listed(n, q, now_ps);
}

static inline IlistLinks nand_op_chain(const Nand *n)
{
    return ILIST_CHAIN(n->op, NandOp, next);
}

/* An operation's place in the pool, which may move for it. */
static inline uint32_t nand_pool_take(Nand *n)
{
    if (n->free_op == NONE) {
        nand_pool_grow(n);
    }
    return pool_take(nand_op_chain(n), &n->free_op);
}

static inline void nand_pool_give(Nand *n, uint32_t i)
{
    n->op[i].phase = PHASE_FREE;
    pool_give(nand_op_chain(n), &n->free_op, i);
}

/* The transfer is over, of an operation of the group (NandOp.group): whoever is
 * next has the channel. */
static inline void nand_bus_release(Nand *n, uint32_t c, uint64_t group,
                                    uint64_t now_ps)
{
    Channel *ch = &n->channel[c];

    ch->owner = NONE;
    if (ch->commands.head != NONE || ch->waiting.head != NONE) {
        nand_bus_pass_on(n, c, group, now_ps);
    }
}

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

#define TO(phase) (1U << PHASE_##phase)
/* Which phases may follow; the first one, DIE_WAIT, is set by nand_submit(). */
static const uint16_t legal_phase[N_PHASES] = {
    [PHASE_FREE] = 0,
    [PHASE_DIE_WAIT] = TO(TURN),
    /* As a member of a group it shares the work that the others have done. */
    [PHASE_TURN] = TO(TURN) | TO(BUS_WAIT) | TO(GAP) | TO(LOADED) | TO(CELL) |
                   TO(READY) | TO(FREE),
    [PHASE_BUS_WAIT] = TO(BUS),
    [PHASE_BUS] = TO(TURN) | TO(LOADED) | TO(CELL) | TO(READY) | TO(ECC) |
                  TO(DIE_WAIT) | TO(FREE), /* DIE_WAIT: it is read again */
    [PHASE_LOADED] = TO(CELL),
    [PHASE_GAP] = TO(BUS_WAIT),
    /* BUS_WAIT: the second half of a copyback. */
    [PHASE_CELL] =
        TO(TURN) | TO(BUS_WAIT) | TO(SUSPENDING) | TO(READY) | TO(FREE),
    [PHASE_SUSPENDING] = TO(SUSPENDED),
    [PHASE_SUSPENDED] = TO(CELL),
    [PHASE_READY] = TO(TURN) | TO(BUS_WAIT) | TO(READY) | TO(FREE),
    [PHASE_ECC] = TO(DIE_WAIT) | TO(FREE),
};
#undef TO

/* The operation's phase ends, and another begins; asserts that it may. */
static inline void nand_enter_op(Nand *n, NandOp *op, Phase phase,
                                 uint64_t now_ps)
{
    uint64_t ps = now_ps - op->mark_ps;
    NandTime t = time_of_phase[op->phase];

    invariant(legal_phase[op->phase] >> phase & 1);
    invariant(now_ps >= op->mark_ps);
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

static inline void nand_enter(Nand *n, uint32_t i, Phase phase, uint64_t now_ps)
{
    nand_enter_op(n, &n->op[i], phase, now_ps);
}

static inline void nand_enter_group(Nand *n, uint32_t leader, Phase phase,
                                    uint64_t now_ps)
{
    for (uint32_t i = leader; i != NONE; i = n->op[i].next_joined) {
        nand_enter(n, i, phase, now_ps);
    }
}

#endif
