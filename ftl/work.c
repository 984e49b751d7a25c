/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * work.c - the marks of work that is to be done after an event.
 *
 * Knows numbers of planes and blocks; does not know the kind of work
 * (settle.c).
 */
#include "settle.h"

static void queue_init(WorkQueue *q, uint32_t n)
{
    invariant(n > 0 && n < LAST_MARK);
    *q = (WorkQueue){.next = g_new0(uint32_t, n), .head = NONE, .n = n};
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
        g_free(w->queue[i].next);
    }
}

void work_mark(Work *w, SsdWork work, uint32_t index)
{
    WorkQueue *q = &w->queue[work];

    invariant(index < q->n);
    if (q->next[index] != 0) {
        return;
    }
    q->next[index] = LAST_MARK;
    if (q->head == NONE) {
        q->head = index;
        w->any |= 1U << work;
    } else {
        q->next[q->tail] = index + 1;
    }
    q->tail = index;
}

uint32_t work_take(Work *w, SsdWork work)
{
    WorkQueue *q = &w->queue[work];
    uint32_t index = q->head;
    uint32_t next;

    if (index == NONE) {
        return NONE;
    }
    next = q->next[index];
    q->next[index] = 0;
    if (next == LAST_MARK) {
        q->head = NONE;
        w->any &= ~(1U << work);
    } else {
        q->head = next - 1;
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
