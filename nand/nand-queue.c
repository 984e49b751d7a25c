/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-queue.c - waiting operations: their pool, and which is next.
 *
 * Knows the order that operations on one block must keep, and which of them may
 * be one multi-plane command; nand-sched.c knows the preference of the policy.
 *
 * An operation is blocked only by operations on its own blocks, and the policy
 * prefers the first of a class.  So an operation is in a list of its class and
 * in lists of its blocks, and to choose one takes as many steps as there are
 * classes, however many wait.  Reads that nothing blocks (for suspend), and
 * possible further planes of a command, are in heaps by their order: the
 * pairing heap of Fredman, Sedgewick, Sleator and Tarjan (Algorithmica 1(1),
 * 1986), whose steps grow as the logarithm.
 *
 * Most operations find an empty queue.  One that waits alone is in no list.
 */
#include "nand-internal.h"

#include <string.h>

#include "lazymem.h"

/* Lists and heaps name an operation by its place + 1, so that tables of zeroes
 * are empty ones. */
#define EMPTY ZLIST_NONE
G_STATIC_ASSERT(EMPTY - 1 == NONE);

/* ---- lists in order of arrival: the first one's prev is the last --------- */

static WaitLink *link_of(const Nand *n, WaitList which, uint32_t i)
{
    return &n->wait[i - 1].link[which];
}

static IlistLinks links(const Nand *n, WaitList which)
{
    size_t at = offsetof(Wait, link) + which * sizeof(WaitLink);

    return (IlistLinks){
        .base = (char *)n->wait,
        .stride = sizeof(Wait),
        .next = at + offsetof(WaitLink, next),
        .prev = at + offsetof(WaitLink, prev),
    };
}

static void push(Nand *n, uint32_t *head, WaitList which, uint32_t i)
{
    zlist_push_tail(links(n, which), head, i);
}

static void push_front(Nand *n, uint32_t *head, WaitList which, uint32_t i)
{
    zlist_push_head(links(n, which), head, i);
}

static void unlink_from(Nand *n, uint32_t *head, WaitList which, uint32_t i)
{
    zlist_remove(links(n, which), head, i);
}

static int64_t order(const Nand *n, uint32_t i)
{
    return n->op[i - 1].order;
}

/* ---- heaps by order ------------------------------------------------------ */

static WaitNode *node_of(const Nand *n, WaitHeap which, uint32_t i)
{
    return &n->wait[i - 1].node[which];
}

/* Of two heaps, neither of them empty, one. */
static uint32_t meld(Nand *n, WaitHeap which, uint32_t a, uint32_t b)
{
    WaitNode *top;
    WaitNode *sub;

    invariant(a != b);
    if (order(n, b) < order(n, a)) {
        uint32_t c = a;

        a = b;
        b = c;
    }
    top = node_of(n, which, a);
    sub = node_of(n, which, b);
    sub->prev = a;
    sub->next = top->child;
    if (top->child != EMPTY) {
        node_of(n, which, top->child)->prev = b;
    }
    top->child = b;
    return a;
}

/* Of a chain of siblings one heap: in pairs, then from the last pair on. */
static uint32_t meld_pairs(Nand *n, WaitHeap which, uint32_t first)
{
    uint32_t pairs = EMPTY; /* linked through prev */
    uint32_t heap;

    while (first != EMPTY) {
        uint32_t a = first;
        uint32_t b = node_of(n, which, a)->next;

        first = b == EMPTY ? EMPTY : node_of(n, which, b)->next;
        heap = b == EMPTY ? a : meld(n, which, a, b);
        node_of(n, which, heap)->prev = pairs;
        pairs = heap;
    }
    heap = pairs;
    if (heap != EMPTY) {
        pairs = node_of(n, which, heap)->prev;
    }
    while (pairs != EMPTY) {
        uint32_t before = node_of(n, which, pairs)->prev;

        heap = meld(n, which, heap, pairs);
        pairs = before;
    }
    if (heap != EMPTY) {
        node_of(n, which, heap)->prev = EMPTY;
        node_of(n, which, heap)->next = EMPTY;
    }
    return heap;
}

static void heap_add(Nand *n, uint32_t *root, WaitHeap which, uint32_t i)
{
    *node_of(n, which, i) = (WaitNode){.in = true};
    *root = *root == EMPTY ? i : meld(n, which, *root, i);
}

static void heap_drop(Nand *n, uint32_t *root, WaitHeap which, uint32_t i)
{
    WaitNode *x = node_of(n, which, i);
    uint32_t rest = meld_pairs(n, which, x->child);

    invariant(x->in);
    x->in = false;
    if (*root == i) {
        *root = rest;
        return;
    }
    if (node_of(n, which, x->prev)->child == i) {
        node_of(n, which, x->prev)->child = x->next;
    } else {
        node_of(n, which, x->prev)->next = x->next;
    }
    if (x->next != EMPTY) {
        node_of(n, which, x->next)->prev = x->prev;
    }
    if (rest != EMPTY) {
        *root = meld(n, which, *root, rest);
    }
}

/* ---- blocking operations ------------------------------------------------ */

static uint32_t source_block(const Nand *n, const NandOp *op)
{
    return nand_page_block(&n->geo, op->from.page);
}

static WaitList block_list(const NandOp *op)
{
    return op->kind == NAND_READ ? WAIT_READS : WAIT_OTHERS;
}

/* The first of the list, if it comes before best. */
static uint32_t sooner(const Nand *n, uint32_t best, uint32_t head)
{
    return head != EMPTY && order(n, head) < order(n, best) ? head : best;
}

/*
 * Of the operations that change the read's block the first one that it must not
 * overtake; EMPTY: there is none.  Reads of a block that pass programs keep
 * behind one that cannot, so that those that wait are the last ones of the
 * list.
 */
static uint32_t change_in_the_way(const Nand *n, const WaitBlock *b, uint32_t i)
{
    uint32_t k = b->head[WAIT_OTHERS];

    if (!nand_reads_pass(n)) {
        return k;
    }
    if (b->held != EMPTY && order(n, b->held) < order(n, i)) {
        i = b->held;
    }
    while (k != EMPTY && order(n, k) < order(n, i) &&
           n->op[k - 1].kind == NAND_PROGRAM &&
           !nand_same_word_line(n, &n->op[k - 1], &n->op[i - 1])) {
        k = link_of(n, WAIT_OTHERS, k)->next;
    }
    return k;
}

/*
 * The first waiting operation that must not be overtaken by i; i if none. Reads
 * may change places, and may pass programs of other word lines
 * (nand_reads_pass()).  Others keep their order on the block that they change,
 * and so does a copyback with changes of the block that it reads.
 */
static uint32_t first_in_the_way(const Nand *n, uint32_t i)
{
    const NandOp *op = &n->op[i - 1];
    const WaitBlock *b = &n->wait_block[op->block];
    bool reads = op->kind == NAND_READ;
    uint32_t change = reads ? change_in_the_way(n, b, i) : b->head[WAIT_OTHERS];
    uint32_t best = sooner(n, sooner(n, i, change), b->head[WAIT_SOURCES]);

    if (!reads) {
        best = sooner(n, best, b->head[WAIT_READS]);
    }
    if (op->kind == NAND_COPYBACK) {
        b = &n->wait_block[source_block(n, op)];
        best = sooner(n, sooner(n, best, b->head[WAIT_OTHERS]),
                      b->head[WAIT_READS]);
    }
    return best;
}

/* An operation in a queue that will be read again, once it is decoded. */
static bool not_yet(const Nand *n, uint32_t i)
{
    return n->op[i - 1].phase == PHASE_ECC;
}

/* ---- those that nothing is in the way of --------------------------------- */

/* The heap of possible further planes of a command with the operation. */
static uint32_t *joinable_of(const Nand *n, const NandOp *op, uint32_t plane)
{
    uint32_t page = nand_page_in_block(&n->geo, op->ppa.page);
    bool any_page = op->kind == NAND_ERASE ||
                    (op->kind == NAND_PROGRAM && n->cfg.composite) ||
                    (op->kind == NAND_READ &&
                     (n->cfg.independent_reads || n->cfg.async_reads));
    size_t row = (size_t)plane * n->geo.pages_per_block + (any_page ? 0 : page);

    invariant(plane < n->geo.n_planes);
    G_STATIC_ASSERT(NAND_READ < NAND_JOIN_KINDS &&
                    NAND_PROGRAM < NAND_JOIN_KINDS &&
                    NAND_ERASE < NAND_JOIN_KINDS);
    return &n->joinable[row * NAND_JOIN_KINDS + op->kind];
}

static void set_free(Nand *n, uint32_t i)
{
    const NandOp *op = &n->op[i - 1];

    if (not_yet(n, i)) {
        return;
    }
    if (n->cfg.suspend != NAND_SUSPEND_OFF && sched_may_suspend(n->sched, op)) {
        heap_add(n, &n->unit_queue[op->unit].reads, HEAP_READS, i);
    }
    if (n->joinable && op->kind != NAND_COPYBACK) {
        heap_add(n, joinable_of(n, op, op->plane), HEAP_JOINABLE, i);
    }
}

static void unset_free(Nand *n, uint32_t i)
{
    const NandOp *op = &n->op[i - 1];

    if (node_of(n, HEAP_READS, i)->in) {
        heap_drop(n, &n->unit_queue[op->unit].reads, HEAP_READS, i);
    }
    if (node_of(n, HEAP_JOINABLE, i)->in) {
        heap_drop(n, joinable_of(n, op, op->plane), HEAP_JOINABLE, i);
    }
}

/* The operation has come. */
static void not_free_yet(Nand *n, uint32_t i)
{
    node_of(n, HEAP_READS, i)->in = false;
    node_of(n, HEAP_JOINABLE, i)->in = false;
}

/* An operation has left the block's lists: which ones are free now?  Of reads,
 * those up to WaitBlock.held; of the others, none but the first. */
static void look_at_block(Nand *n, uint32_t block)
{
    WaitBlock *b = &n->wait_block[block];
    uint32_t first = b->head[WAIT_OTHERS];

    invariant(block < n->geo.n_blocks);
    while (b->held != EMPTY && first_in_the_way(n, b->held) == b->held) {
        set_free(n, b->held);
        b->held = link_of(n, WAIT_READS, b->held)->next;
    }
    if (first != EMPTY && !node_of(n, HEAP_JOINABLE, first)->in &&
        first_in_the_way(n, first) == first) {
        set_free(n, first);
    }
}

/* The operation has just been put into its lists, behind all others. */
static void look_at_new(Nand *n, uint32_t i)
{
    const NandOp *op = &n->op[i - 1];

    if (first_in_the_way(n, i) == i) {
        set_free(n, i);
    } else if (op->kind == NAND_READ &&
               n->wait_block[op->block].held == EMPTY) {
        n->wait_block[op->block].held = i;
    }
}

/* ---- into the queue, and out of it --------------------------------------- */

static uint32_t *class_head(const Nand *n, uint32_t i)
{
    const NandOp *op = &n->op[i - 1];
    unsigned class = n->sched->class_of ? n->sched->class_of(op) : 0;

    return &n->unit_queue[op->unit].first[class];
}

static void enlist(Nand *n, uint32_t i)
{
    const NandOp *op = &n->op[i - 1];
    WaitList list = block_list(op);

    push(n, class_head(n, i), WAIT_CLASS, i);
    if (n->in_order) {
        return;
    }
    push(n, &n->wait_block[op->block].head[list], list, i);
    if (op->kind == NAND_COPYBACK) {
        push(n, &n->wait_block[source_block(n, op)].head[WAIT_SOURCES],
             WAIT_SOURCES, i);
    }
    if (n->uses_heaps) {
        not_free_yet(n, i);
        look_at_new(n, i);
    }
}

static void delist(Nand *n, uint32_t i)
{
    const NandOp *op = &n->op[i - 1];
    WaitBlock *b = &n->wait_block[op->block];
    WaitList list = block_list(op);

    unlink_from(n, class_head(n, i), WAIT_CLASS, i);
    if (n->in_order) {
        return;
    }
    unlink_from(n, &b->head[list], list, i);
    if (op->kind == NAND_COPYBACK) {
        unlink_from(n, &n->wait_block[source_block(n, op)].head[WAIT_SOURCES],
                    WAIT_SOURCES, i);
    }
    if (n->uses_heaps) {
        unset_free(n, i);
        look_at_block(n, op->block);
        if (op->kind == NAND_COPYBACK) {
            look_at_block(n, source_block(n, op));
        }
    }
}

/* The operation that waits alone goes into its lists: another one comes. */
static void enlist_only(Nand *n, UnitQueue *q)
{
    if (q->only != EMPTY) {
        enlist(n, q->only);
        q->only = EMPTY;
    }
}

void nand_queue_add_more(Nand *n, UnitQueue *q, uint32_t op)
{
    invariant(op < n->n_op);
    enlist_only(n, q);
    enlist(n, op + 1);
}

void nand_queue_take_listed(Nand *n, uint32_t op)
{
    invariant(n->op[op].phase != PHASE_FREE);
    invariant(op < n->n_op);
    delist(n, op + 1);
}

void nand_queue_add_first(Nand *n, uint32_t op)
{
    const NandOp *o = &n->op[op];
    UnitQueue *q = &n->unit_queue[o->unit];
    WaitBlock *b = &n->wait_block[o->block];

    invariant(n->media && !n->in_order);
    invariant(op < n->n_op);
    invariant(o->kind == NAND_READ);
    n->op[op].order = --n->first_order;
    q->n++;
    enlist_only(n, q);
    not_free_yet(n, op + 1);
    push_front(n, &b->head[WAIT_READS], WAIT_READS, op + 1);
    if (n->uses_heaps && b->head[WAIT_OTHERS] != EMPTY) {
        unset_free(n, b->head[WAIT_OTHERS]); /* the read is in its way */
    }
}

void nand_queue_ready(Nand *n, uint32_t op)
{
    uint32_t i = op + 1;
    uint32_t *head = class_head(n, i);
    uint32_t next = *head;

    invariant(op < n->n_op);
    while (next != EMPTY && order(n, next) < order(n, i)) {
        next = link_of(n, WAIT_CLASS, next)->next;
    }
    if (next == EMPTY) {
        push(n, head, WAIT_CLASS, i);
    } else {
        zlist_insert(links(n, WAIT_CLASS), head, next, i);
    }
    if (n->uses_heaps) {
        set_free(n, i); /* reads alone are before it */
    }
}

/* ---- which is next ------------------------------------------------------- */

/* The policy's choice, in the way of which others may be; EMPTY: there is none. */
static uint32_t best_of_unit(const Nand *n, const UnitQueue *q, uint64_t now_ps)
{
    uint32_t best = q->first[0];
    unsigned best_rank = 0;

    if (!n->sched->rank) {
        return best;
    }
    best = EMPTY;
    for (unsigned class = 0; class < SCHED_CLASSES; class++) {
        uint32_t i = q->first[class];
        unsigned rank;

        if (i == EMPTY) {
            continue;
        }
        rank = n->sched->rank(&n->cfg, &n->op[i - 1], now_ps);
        if (best == EMPTY || rank < best_rank ||
            (rank == best_rank && order(n, i) < order(n, best))) {
            best = i;
            best_rank = rank;
        }
    }
    return best;
}

uint32_t nand_pick_listed(const Nand *n, const UnitQueue *q, uint64_t now_ps)
{
    uint32_t i = best_of_unit(n, q, now_ps);
    uint32_t k;

    if (i == EMPTY) {
        return NONE;
    }
    while ((k = first_in_the_way(n, i)) != i) {
        i = k;
    }
    return not_yet(n, i) ? NONE : i - 1;
}

uint32_t nand_pick_held(const Nand *n, const UnitQueue *q)
{
    uint32_t best = EMPTY;
    uint32_t k;

    invariant(n->hold);
    if (q->only != EMPTY) {
        return nand_hold_lets(n, &n->op[q->only - 1]) ? q->only - 1 : NONE;
    }
    for (unsigned class = 0; class < SCHED_CLASSES; class ++) {
        uint32_t i = q->first[class];

        while (i != EMPTY && !nand_hold_lets(n, &n->op[i - 1])) {
            i = link_of(n, WAIT_CLASS, i)->next;
        }
        best = best == EMPTY ? i : sooner(n, best, i);
    }
    if (best == EMPTY) {
        return NONE;
    }
    while ((k = first_in_the_way(n, best)) != best) {
        best = k;
    }
    return not_yet(n, best) ? NONE : best - 1;
}

uint32_t nand_pick_read(const Nand *n, const Unit *u)
{
    const UnitQueue *q = &n->unit_queue[u - n->unit];

    if (q->only != EMPTY) {
        return sched_may_suspend(n->sched, &n->op[q->only - 1]) ? q->only - 1
                                                                : NONE;
    }
    return q->reads - 1;
}

uint32_t nand_first_read(const Nand *n, uint32_t plane)
{
    static const NandOp read = {.kind = NAND_READ};

    return *joinable_of(n, &read, plane) - 1;
}

/* ---- multi-plane commands ------------------------------------------------ */

static uint32_t first_joinable(const Nand *n, uint32_t leader, uint32_t plane)
{
    const NandOp *op = &n->op[leader];
    uint32_t i = *joinable_of(n, op, plane);

    if (i == EMPTY ||
        (n->slc_mode && nand_block_is_slc(&n->geo, op->block) !=
                            nand_block_is_slc(&n->geo, n->op[i - 1].block))) {
        return NONE;
    }
    return i - 1;
}

/* The planes of the leader's die that may take part: each by its first operation. */
static uint32_t die_joinable(const Nand *n, uint32_t leader, uint32_t *joined)
{
    const NandOp *op = &n->op[leader];
    uint32_t first = op->die * n->geo.planes_per_die;
    uint32_t end = first + n->geo.planes_per_die;
    uint32_t found = 0;

    invariant(leader < n->n_op);
    if (n->planes_per_unit < n->geo.planes_per_die) {
        first = op->unit * n->planes_per_unit;
        end = first + n->planes_per_unit;
    }
    for (uint32_t p = first; p < end; p++) {
        uint32_t i = p == op->plane ? NONE : first_joinable(n, leader, p);

        if (i != NONE) {
            invariant(found < NAND_MOST_JOINED);
            joined[found++] = i;
        }
    }
    return found;
}

/* The operations that run with the leader, in order of arrival. */
static uint32_t find_joinable(const Nand *n, uint32_t leader, uint32_t *joined)
{
    bool composite = n->cfg.composite && n->op[leader].kind != NAND_READ;
    uint32_t found;

    if (!composite && !n->cfg.multi_plane) {
        return 0; /* a read of a drive whose programs are composite */
    }
    found = composite
                ? nand_composite_joinable(n, leader, first_joinable, joined)
                : die_joinable(n, leader, joined);
    for (uint32_t j = 1; j < found; j++) {
        uint32_t i = joined[j];
        uint32_t k = j;

        for (; k > 0 && n->op[i].order < n->op[joined[k - 1]].order; k--) {
            joined[k] = joined[k - 1];
        }
        joined[k] = i;
    }
    return found;
}

void nand_gather_joinable(Nand *n, Unit *u, uint32_t leader)
{
    UnitQueue *q = &n->unit_queue[u - n->unit];
    uint32_t joined[NAND_MOST_JOINED];
    uint32_t last = leader;
    uint32_t found = 0;

    invariant(leader < n->n_op);
    if (q->n > 0 && n->op[leader].kind != NAND_COPYBACK) {
        enlist_only(n, q);
        found = find_joinable(n, leader, joined);
    }
    for (uint32_t k = 0; k < found; k++) {
        uint32_t i = joined[k];

        nand_queue_take(n, i);
        n->op[last].next_joined = i;
        n->op[i].leader = leader;
        n->op[i].group = n->op[leader].id;
        n->op[i].grouped = true;
        last = i;
    }
    n->op[leader].grouped = found > 0;
    n->stats.multi_plane += found > 0;
}

/* ---- made, emptied, given back ------------------------------------------- */

static size_t n_joinable(const Nand *n)
{
    return (size_t)n->geo.n_planes * n->geo.pages_per_block * NAND_JOIN_KINDS;
}

/* Which indexes of waiting operations the options need. */
static void choose_lists(Nand *n)
{
    n->uses_heaps = n->joinable || n->cfg.suspend != NAND_SUSPEND_OFF;
    n->in_order =
        !n->uses_heaps && !n->sched->rank && !n->media && !n->cfg.gc_hold;
}

void nand_queue_init(Nand *n)
{
    invariant(!n->unit_queue);
    n->unit_queue = g_new0(UnitQueue, n->n_units);
    n->wait_block = lazy_new(WaitBlock, n->geo.n_blocks);
    n->joinable = n->cfg.multi_plane || n->cfg.async_reads || n->cfg.composite
                      ? lazy_new(uint32_t, n_joinable(n))
                      : NULL;
    choose_lists(n);
}

void nand_queue_options(Nand *n)
{
    choose_lists(n);
    nand_queue_rebuild(n);
}

void nand_queue_destroy(Nand *n)
{
    g_free(n->wait);
    g_free(n->unit_queue);
    lazy_free(n->wait_block, n->geo.n_blocks, sizeof(*n->wait_block));
    lazy_free(n->joinable, n_joinable(n), sizeof(*n->joinable));
}

void nand_queue_forget(Nand *n)
{
    memset(n->unit_queue, 0, n->n_units * sizeof(*n->unit_queue));
    lazy_clear(n->wait_block, n->geo.n_blocks, sizeof(*n->wait_block));
    lazy_clear(n->joinable, n_joinable(n), sizeof(*n->joinable));
    n->first_order = 0;
}

static int by_order(const void *a, const void *b, void *nand)
{
    int64_t x = order(nand, *(const uint32_t *)a);
    int64_t y = order(nand, *(const uint32_t *)b);

    return x < y ? -1 : x > y;
}

/* A file may contain any value; nand_rest_check() checks it later. */
static bool waits(const Nand *n, const NandOp *op)
{
    return (op->phase == PHASE_DIE_WAIT ||
            (op->phase == PHASE_ECC && op->again)) &&
           op->kind < NAND_N_KINDS && op->unit < n->n_units &&
           op->plane < n->geo.n_planes && op->block < n->geo.n_blocks &&
           op->from.page < n->geo.n_pages;
}

void nand_queue_rebuild(Nand *n)
{
    g_autofree uint32_t *all = g_new(uint32_t, n->n_op + 1);
    uint32_t found = 0;

    nand_queue_forget(n);
    g_free(n->wait);
    n->wait = g_new(Wait, n->n_op);
    for (uint32_t i = 0; i < n->n_op; i++) {
        if (waits(n, &n->op[i])) {
            all[found++] = i + 1;
        }
    }
    g_qsort_with_data(all, (int)found, sizeof(*all), by_order, n);
    for (uint32_t k = 0; k < found; k++) {
        const NandOp *op = &n->op[all[k] - 1];
        WaitList list = block_list(op);

        n->first_order = MIN(n->first_order, op->order);
        n->unit_queue[op->unit].n++;
        if (not_yet(n, all[k])) {
            not_free_yet(n, all[k]);
            push(n, &n->wait_block[op->block].head[list], list, all[k]);
        } else {
            enlist(n, all[k]);
        }
    }
}

void nand_pool_grow(Nand *n)
{
    G_STATIC_ASSERT(PHASE_FREE == 0);
    n->op = pool_grow(n->op, nand_op_chain(n), &n->free_op, &n->n_op, 64);
    n->wait = g_renew(Wait, n->wait, n->n_op);
}
