/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-queue-check.c - the expected result of nand-queue.c, by a search over
 * all operations.
 *
 * This defines its choices. It takes O(n^2) steps for n waiting operations, so
 * it is for tests (nand_check()).
 */
#include "nand-internal.h"

#define fail(error, ...) opt_fail(error, OPT_ERROR_VALUE, __VA_ARGS__)

static bool touches(const Nand *n, const NandOp *op, uint32_t block)
{
    return op->block == block ||
           (op->kind == NAND_COPYBACK &&
            nand_page_block(&n->geo, op->from.page) == block);
}

/* May b, which came later, go before a? */
static bool may_overtake(const Nand *n, const NandOp *b, const NandOp *a)
{
    if (a->kind == NAND_READ && b->kind == NAND_READ) {
        return true;
    }
    if (b->kind == NAND_READ && a->kind == NAND_PROGRAM && nand_reads_pass(n) &&
        a->block == b->block) {
        return !nand_same_word_line(n, a, b);
    }
    return !touches(n, a, b->block) && !touches(n, b, a->block);
}

/* The operations of a unit that wait, in their order. */
typedef struct Waiting {
    uint32_t *op;
    uint32_t n;
} Waiting;

static int by_order(const void *a, const void *b, void *nand)
{
    const Nand *n = nand;
    int64_t x = n->op[*(const uint32_t *)a].order;
    int64_t y = n->op[*(const uint32_t *)b].order;

    return x < y ? -1 : x > y;
}

static Waiting waiting(const Nand *n, uint32_t unit)
{
    Waiting w = {.op = g_new(uint32_t, n->n_op + 1)};

    for (uint32_t i = 0; i < n->n_op; i++) {
        const NandOp *op = &n->op[i];

        if ((op->phase == PHASE_DIE_WAIT ||
             (op->phase == PHASE_ECC && op->again)) && op->unit == unit) {
            w.op[w.n++] = i;
        }
    }
    g_qsort_with_data(w.op, (int)w.n, sizeof(*w.op), by_order, (void *)n);
    return w;
}

/* The first of those before k that k must not overtake; k if none. */
static uint32_t before(const Nand *n, const Waiting *w, uint32_t k)
{
    for (uint32_t i = 0; i < k; i++) {
        if (!may_overtake(n, &n->op[w->op[k]], &n->op[w->op[i]])) {
            return i;
        }
    }
    return k;
}

/* The same; but a read stays behind the block's reads that cannot go. */
static uint32_t in_the_way(const Nand *n, const Waiting *w, uint32_t k)
{
    const NandOp *op = &n->op[w->op[k]];

    for (uint32_t r = 0; op->kind == NAND_READ && r < k; r++) {
        const NandOp *other = &n->op[w->op[r]];

        if (other->kind == NAND_READ && other->block == op->block &&
            before(n, w, r) != r) {
            return before(n, w, r);
        }
    }
    return before(n, w, k);
}

static bool ready(const Nand *n, const Waiting *w, uint32_t k)
{
    return n->op[w->op[k]].phase != PHASE_ECC;
}

static uint32_t pick(const Nand *n, const Waiting *w, uint64_t now_ps)
{
    uint32_t best = NONE;
    unsigned best_rank = 0;

    for (uint32_t k = 0; k < w->n; k++) {
        const NandOp *op = &n->op[w->op[k]];
        unsigned rank = n->sched->rank && !nand_is_held(n, op->channel)
                            ? n->sched->rank(&n->cfg, op, now_ps)
                            : 0;

        if (ready(n, w, k) && nand_hold_lets(n, op) &&
            (best == NONE || rank < best_rank)) {
            best = k;
            best_rank = rank;
        }
    }
    while (best != NONE && in_the_way(n, w, best) != best) {
        best = in_the_way(n, w, best);
    }
    return best == NONE || !ready(n, w, best) ? NONE : w->op[best];
}

static uint32_t pick_read(const Nand *n, const Waiting *w)
{
    for (uint32_t k = 0; k < w->n; k++) {
        if (sched_may_suspend(n->sched, &n->op[w->op[k]]) && ready(n, w, k) &&
            in_the_way(n, w, k) == k) {
            return w->op[k];
        }
    }
    return NONE;
}

/* The heaps of possible further planes have the expected sizes. */
static bool check_joinable(const Nand *n, const Waiting *w, GError **error)
{
    for (uint32_t k = 0; n->joinable && w->n > 1 && k < w->n; k++) {
        uint32_t i = w->op[k];
        bool is_free = n->op[i].kind != NAND_COPYBACK && ready(n, w, k) &&
                       in_the_way(n, w, k) == k;
        bool in = n->wait[i].node[HEAP_JOINABLE].in;

        if (n->unit_queue[n->op[i].unit].only == 0 && in != is_free) {
            return fail(error, "operation %u: %s be a further plane", i,
                        is_free ? "could" : "could not");
        }
    }
    return true;
}

/* An instant that is not after the present one. */
static uint64_t latest_ps(const Nand *n)
{
    uint64_t ps = 0;

    for (uint32_t i = 0; i < n->n_op; i++) {
        ps = n->op[i].phase == PHASE_FREE ? ps : MAX(ps, n->op[i].mark_ps);
    }
    return ps;
}

bool nand_queue_check(const Nand *n, GError **error)
{
    uint64_t now_ps = latest_ps(n);

    for (uint32_t u = 0; u < n->n_units; u++) {
        Waiting w = waiting(n, u);
        G_GNUC_UNUSED g_autofree uint32_t *op = w.op; /* freed */
        uint32_t best = pick(n, &w, now_ps);
        uint32_t read = pick_read(n, &w);

        if (n->unit_queue[u].n != w.n) {
            return fail(error, "unit %u: %u wait, counted %u", u,
                        n->unit_queue[u].n, w.n);
        }
        if (nand_pick(n, &n->unit[u], now_ps) != best) {
            return fail(error, "unit %u: operation %u is next, not %u", u, best,
                        nand_pick(n, &n->unit[u], now_ps));
        }
        if (n->cfg.suspend != NAND_SUSPEND_OFF &&
            nand_pick_read(n, &n->unit[u]) != read) {
            return fail(error, "unit %u: read %u is next, not %u", u, read,
                        nand_pick_read(n, &n->unit[u]));
        }
        if (!check_joinable(n, &w, error)) {
            return false;
        }
    }
    return true;
}
