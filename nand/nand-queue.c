/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-queue.c - waiting operations: lists, their pool, and which is next.
 *
 * Knows the order that operations on one block must keep, and which of them may
 * be one multi-plane command; what the policy prefers is nand-sched.c's.
 */
#include "nand-internal.h"

void nand_list_remove(Nand *n, OpList *l, uint32_t i)
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

void nand_pool_grow(Nand *n)
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

/* An operation in a queue that will be read again, once it is decoded. */
static bool not_yet(const Nand *n, uint32_t i)
{
    return n->op[i].phase == PHASE_ECC;
}

uint32_t nand_best_of(const Nand *n, const OpList *l, uint64_t now_ps)
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

uint32_t nand_pick(const Nand *n, const Unit *u, uint64_t now_ps)
{
    uint32_t i = nand_best_of(n, &u->waiting, now_ps);

    while (i != NONE && i != u->waiting.head) {
        uint32_t k = first_in_the_way(n, u, i);

        if (k == i) {
            break;
        }
        i = k;
    }
    return i != NONE && not_yet(n, i) ? NONE : i;
}

uint32_t nand_pick_read(const Nand *n, const Unit *u)
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

void nand_gather_mates(Nand *n, Unit *u, uint32_t leader)
{
    uint32_t last = leader;
    uint32_t next;

    for (uint32_t i = u->waiting.head; i != NONE; i = next) {
        next = n->op[i].next;
        if (!not_yet(n, i) && may_join(n, leader, i) &&
            first_in_the_way(n, u, i) == i) {
            nand_list_remove(n, &u->waiting, i);
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
