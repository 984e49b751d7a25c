/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row-wait.c - the time limit of a partly filled row
 * (superblock.row_wait).
 *
 * Knows instants.  buffer/ and gc/ know the units that wait, and give the index
 * of the event.  There is at most one event for each RowWait: if a wait ends
 * before its event and another begins, the event comes too early for that one
 * and is scheduled again.
 */
#include "media/row-wait.h"

#include "ssd-internal.h"

void row_waits_init(RowWait *w, uint32_t n)
{
    for (uint32_t i = 0; w && i < n; i++) {
        w[i] = (RowWait){.until_ps = SIM_NEVER};
    }
}

static void arm(Ssd *ssd, RowWait *w, uint32_t index)
{
    w->armed = true;
    eventq_push(&ssd->events, w->until_ps, SSD_EVENT_ROW_WAIT, index);
}

void row_wait_begin(Ssd *ssd, RowWait *w, uint32_t index)
{
    if (w->until_ps != SIM_NEVER) {
        return;
    }
    w->until_ps = ssd->now_ps + ssd->cfg->row_wait_ps;
    if (!w->armed) {
        arm(ssd, w, index);
    }
}

uint64_t row_wait_end(const Ssd *ssd, RowWait *w)
{
    uint64_t until_ps = w->until_ps;

    w->until_ps = SIM_NEVER;
    return until_ps == SIM_NEVER
               ? 0
               : ssd->now_ps + ssd->cfg->row_wait_ps - until_ps;
}

bool row_wait_due(const Ssd *ssd, const RowWait *w)
{
    return w->until_ps != SIM_NEVER &&
           (int64_t)(w->until_ps - ssd->now_ps) <= 0;
}

bool row_wait_event(Ssd *ssd, RowWait *w, uint32_t index)
{
    w->armed = false;
    if (w->until_ps != SIM_NEVER && !row_wait_due(ssd, w)) {
        arm(ssd, w, index);
    }
    return row_wait_due(ssd, w);
}

void row_wait_rebase(RowWait *w, uint64_t by_ps)
{
    if (w->until_ps != SIM_NEVER) {
        w->until_ps -= by_ps; /* modulo 2^64: it may be before the new zero */
        w->until_ps -= w->until_ps == SIM_NEVER;
    }
}
