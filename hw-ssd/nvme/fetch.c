/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fetch.c - fetching entries from submission queues, in turn.
 *
 * Several entries are fetched in one DMA.  Knows when the controller may take
 * more; knows nothing of the meaning of commands (dispatch.c).  A queue that
 * the machine cannot reach by DMA is fatal (CSTS.CFS).
 */
#include "nvme-internal.h"
#include "memory/dma.h"
#include "registers/registers.h"
#include "cmd-faults.h"
#include "dispatch.h"
#include "fetch.h"
#include "fused.h"
#include "ring.h"

/* The I/O queues wait while the drive or the store has no place for more. */
static bool may_fetch(NvmeCtrl *ctrl, const NvmeSq *sq)
{
    if (!sq->live || sq->head == sq->tail || sq->cq->wait_first) {
        return false;
    }
    return !sq->id || (!ctrl->sub->requests.starved_first &&
                       ctrl->sub->slots.in_use < ctrl->sub->slots.n &&
                       ctrl->sub->kv_ops < ctrl->sub->slots.n &&
                       !payload_congested(ctrl->payload));
}

static int read_entries(NvmeCtrl *ctrl, const NvmeSq *sq, uint32_t at,
                        NvmeSqe *sqe, unsigned n)
{
    ctrl->sub->count.sq_dma_reads++;
    nvme_dma_rmb(); /* the tail was read, maybe from guest memory */
    if (nvme_dma_read(ctrl, sq->addr + (uint64_t)at * NVME_SQE_BYTES, sqe,
                      n * NVME_SQE_BYTES)) {
        nvme_set_fatal(ctrl);
        return -1;
    }
    for (unsigned i = 0; G_BYTE_ORDER == G_BIG_ENDIAN && i < n; i++) {
        for (unsigned d = 0; d < 16; d++) {
            sqe[i].dw[d] = GUINT32_FROM_LE(sqe[i].dw[d]);
        }
    }
    return 0;
}

/* An entry with FUSE set, and what it is to be fused with: the next of those
 * that were read, or the next of the queue. */
static unsigned take_fused(NvmeCtrl *ctrl, NvmeSq *sq, const NvmeSqe *sqe,
                           unsigned n)
{
    uint32_t next = ring_after(sq->head, sq->size);
    NvmeSqe second;

    if (n > 1 || next == sq->tail || nvme_sqe_fuse(sqe) != NVME_FUSE_FIRST) {
        return nvme_fused_take(ctrl, sq, sqe, n > 1 ? &sqe[1] : NULL);
    }
    return read_entries(ctrl, sq, next, &second, 1)
               ? 0
               : nvme_fused_take(ctrl, sq, sqe, &second);
}

/* Is the entry one of a pair, may it have to wait for one, or meet a rule? */
static bool is_special(const NvmeCtrl *ctrl, const NvmeSq *sq,
                       const NvmeSqe *sqe)
{
    return ((ctrl->sub->requests.locks || sqe->dw[0] & NVME_FUSE_BITS) &&
            sq->id) ||
           ctrl->sub->faults;
}

/* How many entries it has taken; 0: later. */
static unsigned take_special(NvmeCtrl *ctrl, NvmeSq *sq, const NvmeSqe *sqe,
                             unsigned n)
{
    if (ctrl->sub->requests.locks && sq->id && nvme_fused_blocks(ctrl, sqe)) {
        return 0;
    }
    if (sqe->dw[0] & NVME_FUSE_BITS && sq->id) {
        return take_fused(ctrl, sq, sqe, n);
    }
    sq->head = ring_after(sq->head, sq->size);
    nvme_faults_execute(ctrl, sq, sqe);
    return 1;
}

/* Take up to max entries that follow each other in memory; return how many.
 * *more is false if the next one has to wait for other commands. */
static unsigned fetch_some(NvmeCtrl *ctrl, NvmeSq *sq, unsigned max, bool *more)
{
    NvmeSqe sqe[NVME_FETCH_BATCH];
    unsigned n = (sq->tail > sq->head ? sq->tail : sq->size) - sq->head;

    n = MIN(n, MIN(max, NVME_FETCH_BATCH));
    if (sq->id) {
        n = MIN(n, ctrl->sub->slots.n - ctrl->sub->slots.in_use);
    }
    if (read_entries(ctrl, sq, sq->head, sqe, n)) {
        return 0;
    }
    for (unsigned i = 0, taken; i < n; i += taken) {
        taken = 1;
        if (G_UNLIKELY(is_special(ctrl, sq, &sqe[i]))) {
            taken = take_special(ctrl, sq, &sqe[i], n - i);
            if (!taken) {
                *more = false;
                return i;
            }
        } else {
            sq->head = ring_after(sq->head, sq->size);
            nvme_execute(ctrl, sq, &sqe[i]);
        }
        if (!sq->live || !nvme_running(ctrl) ||
            ctrl->sub->run_bytes >= NVME_RUN_BYTES) {
            /* An admin command or a fatal error stopped it, or it is enough for
             * now: the rest is read again. */
            return MIN(i + taken, n);
        }
        if (sq->id && payload_congested(ctrl->payload)) {
            return MIN(i + taken, n); /* read again when there is room */
        }
    }
    return n;
}

/* Up to `most` entries of a queue; returns how many. */
static inline unsigned fetch_queue(NvmeCtrl *ctrl, NvmeSq *sq, unsigned most,
                                   unsigned *budget)
{
    unsigned left = MIN(most, *budget);
    unsigned fetched = 0;
    bool more = true;

    while (left && more && nvme_running(ctrl) && may_fetch(ctrl, sq)) {
        unsigned n = fetch_some(ctrl, sq, left, &more);

        fetched += n;
        left -= n;
        *budget -= n;
        if (ctrl->sub->run_bytes >= NVME_RUN_BYTES) {
            *budget = 0;
            break;
        }
    }
    return fetched;
}

/* ---- weighted round robin with urgent priority class --------------------- */

/*
 * Base 1.4, 4.13.2.  The admin queue comes before the urgent class, and that
 * before the others, which have credits: one for each command that they may
 * have in this round.  A round ends when no class has both credits and entries.
 */

static bool in_class(const NvmeSq *sq, unsigned class)
{
    return sq->live && sq->id && sq->priority == class;
}

static bool class_waits(const NvmeCtrl *ctrl, unsigned class)
{
    for (unsigned i = 1; i <= ctrl->queues.max_sqid; i++) {
        const NvmeSq *sq = &ctrl->queues.sq[i];

        if (in_class(sq, class) && sq->head != sq->tail &&
            !sq->cq->wait_first) {
            return true;
        }
    }
    return false;
}

/* Once around the queues of a class. */
static unsigned fetch_class(NvmeCtrl *ctrl, unsigned class, unsigned burst,
                            unsigned most, unsigned *budget)
{
    unsigned nsq = ctrl->queues.max_sqid + 1;
    unsigned first = ctrl->queues.class_next[class];
    unsigned fetched = 0;

    for (unsigned k = 0; k < nsq && most > fetched && *budget; k++) {
        NvmeSq *sq = &ctrl->queues.sq[(first + k) % nsq];

        if (in_class(sq, class)) {
            unsigned n =
                fetch_queue(ctrl, sq, MIN(burst, most - fetched), budget);

            fetched += n;
            if (n) {
                ctrl->queues.class_next[class] = (sq->id + 1) % nsq;
            }
        }
    }
    return fetched;
}

/* HPW, MPW, LPW of feature 01h are less 1. */
static unsigned weight(const NvmeCtrl *ctrl, unsigned class)
{
    static const unsigned shift[] = {
        [NVME_PRIORITY_HIGH] = 24,
        [NVME_PRIORITY_MEDIUM] = 16,
        [NVME_PRIORITY_LOW] = 8,
    };

    return (ctrl->features.value[NVME_FEAT_ARBITRATION] >> shift[class] &
            0xff) +
           1;
}

static void maybe_next_round(NvmeCtrl *ctrl)
{
    uint16_t *credit = ctrl->queues.credit;

    for (unsigned c = NVME_PRIORITY_HIGH; c < NVME_PRIORITIES; c++) {
        if (credit[c] && class_waits(ctrl, c)) {
            return;
        }
    }
    for (unsigned c = NVME_PRIORITY_HIGH; c < NVME_PRIORITIES; c++) {
        credit[c] = (uint16_t)weight(ctrl, c);
    }
}

static bool fetch_weighted(NvmeCtrl *ctrl, unsigned burst, unsigned *budget)
{
    bool any = fetch_queue(ctrl, &ctrl->queues.sq[0], burst, budget) > 0;

    any |=
        fetch_class(ctrl, NVME_PRIORITY_URGENT, burst, UINT32_MAX, budget) > 0;
    if (any) {
        return true; /* there may be more of these */
    }
    maybe_next_round(ctrl);
    for (unsigned c = NVME_PRIORITY_HIGH;
         c < NVME_PRIORITIES && nvme_running(ctrl); c++) {
        unsigned n;

        while (
            (n = fetch_class(ctrl, c, burst, ctrl->queues.credit[c], budget))) {
            ctrl->queues.credit[c] -= (uint16_t)n;
            any = true;
        }
    }
    return any;
}

/* ---- round robin --------------------------------------------------------- */

/*
 * Each queue has a burst in each round.  The admin queue begins it: a driver
 * that deletes a queue may have taken back its memory and its shadow doorbell
 * before (libvfn does), and then the drive must not fetch from there.
 */
bool nvme_fetch(NvmeCtrl *ctrl, unsigned *budget)
{
    unsigned ab = ctrl->features.value[NVME_FEAT_ARBITRATION] & 7;
    unsigned burst = ab == 7 ? NVME_RUN_BUDGET : 1U << ab;
    unsigned n = ctrl->queues.max_sqid;
    bool any;

    if (NVME_CC_AMS(ctrl->regs.cc) == NVME_AMS_WEIGHTED) {
        return fetch_weighted(ctrl, burst, budget);
    }
    any = fetch_queue(ctrl, &ctrl->queues.sq[0], burst, budget) > 0;
    for (unsigned k = 0; k < n && *budget && nvme_running(ctrl); k++) {
        NvmeSq *sq = &ctrl->queues.sq[(ctrl->queues.next_sq + k) % n + 1];

        any |= fetch_queue(ctrl, sq, burst, budget) > 0;
    }
    ctrl->queues.next_sq = n ? (ctrl->queues.next_sq + 1) % n : 0;
    return any;
}
