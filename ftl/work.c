/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * work.c - the marks of work that is to be done after an event.
 *
 * Knows numbers of planes and blocks; does not know the kind of work
 * (settle.c).
 */
#include "bitmap.h"
#include "settle.h"

static void queue_init(WorkQueue *q, uint32_t n)
{
    invariant(n > 0);
    q->index = g_new(uint32_t, n);
    q->marked = g_new0(uint64_t, bitmap_words(n));
    q->ring = (Ring){.size = n};
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

    invariant(index < q->ring.size);
    if (bitmap_test(q->marked, index)) {
        return;
    }
    bitmap_set(q->marked, index);
    q->index[ring_push(&q->ring)] = index;
    w->any |= 1U << work;
}

uint32_t work_take(Work *w, SsdWork work)
{
    WorkQueue *q = &w->queue[work];
    uint32_t index;

    if (q->ring.n == 0) {
        return NONE;
    }
    index = q->index[ring_pop(&q->ring)];
    bitmap_clear(q->marked, index);
    if (q->ring.n == 0) {
        w->any &= ~(1U << work);
    }
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
