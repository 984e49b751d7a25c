/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * work.c - the marks of work that is to be done after an event.
 *
 * Knows numbers of planes and blocks; does not know what the work is (settle.c).
 */
#include "settle.h"

static void queue_init(WorkQueue *q, uint32_t n)
{
    q->index = g_new(uint32_t, n);
    q->marked = g_new0(uint64_t, n / 64 + 1);
    q->size = n;
}

void work_init(Work *w, uint32_t n_planes, uint32_t n_blocks)
{
    for (unsigned i = 0; i < WORK_HOST; i++) {
        queue_init(&w->queue[i], i == WORK_GC_RELEASE ? n_blocks : n_planes);
    }
}

void work_destroy(Work *w)
{
    for (unsigned i = 0; i < WORK_HOST; i++) {
        g_free(w->queue[i].index);
        g_free(w->queue[i].marked);
    }
}

void work_mark(Work *w, SsdWork work, uint32_t index)
{
    WorkQueue *q = &w->queue[work];
    uint32_t at;

    g_assert(index < q->size);
    if (q->marked[index / 64] >> (index % 64) & 1) {
        return;
    }
    q->marked[index / 64] |= 1ULL << (index % 64);
    at = q->head + q->n++;
    q->index[at < q->size ? at : at - q->size] = index;
    w->any |= 1U << work;
}

uint32_t work_take(Work *w, SsdWork work)
{
    WorkQueue *q = &w->queue[work];
    uint32_t index;

    if (q->n == 0) {
        w->any &= ~(1U << work);
        return NONE;
    }
    index = q->index[q->head++];
    q->head = q->head < q->size ? q->head : 0;
    q->n--;
    q->marked[index / 64] &= ~(1ULL << (index % 64));
    return index;
}

void work_forget(Work *w)
{
    for (unsigned i = 0; i < WORK_HOST; i++) {
        while (work_take(w, i) != NONE) {
        }
    }
    w->any = 0;
}
