/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters.c - what firmware knows of its own counters after a power cut.
 *
 * Firmware counts in memory and saves the counters in NAND at intervals and at
 * a shutdown.  A power cut takes them back to the last save: what was counted
 * since is lost.  Statistics keep the whole; the difference is here.  The pages
 * of these saves cost no time: they are a few in an hour.
 *
 * Knows when counters are saved; does not know who reports them.
 */
#include "journal/counters.h"

#include "journal/journal-internal.h"
#include "ssd-internal.h"

static bool is_on(const Ssd *ssd)
{
    return ssd->cfg->counters_interval_ps > 0;
}

static HostCounts counts_now(const Ssd *ssd)
{
    const SsdCounters *c = &ssd->inspect.counters;

    return (HostCounts){
        .reads = c->commands[SSD_OP_READ],
        .writes = c->commands[SSD_OP_WRITE],
        .bytes_read = c->host_bytes_read,
        .bytes_written = c->host_bytes_written,
    };
}

/* Since the last save; one comes at each interval, also without a change. */
static uint64_t since_save_ps(const Ssd *ssd)
{
    return (ssd->now_ps - ssd->journal->counters.saved_ps) %
           ssd->cfg->counters_interval_ps;
}

void counters_save(Ssd *ssd)
{
    CounterSaves *s = &ssd->journal->counters;

    if (is_on(ssd)) {
        s->saved = counts_now(ssd);
        s->saved_ps = ssd->now_ps;
    }
}

void counters_changed(Ssd *ssd)
{
    CounterSaves *s = &ssd->journal->counters;

    if (!is_on(ssd) || s->armed) {
        return;
    }
    invariant(ssd->powered);
    s->armed = 1;
    eventq_push(&ssd->events,
                ssd->now_ps + ssd->cfg->counters_interval_ps -
                    since_save_ps(ssd),
                SSD_EVENT_COUNTERS, 0);
}

void counters_event(Ssd *ssd)
{
    invariant(ssd->powered && ssd->journal->counters.armed);
    ssd->journal->counters.armed = 0;
    counters_save(ssd);
}

void counters_power_lost(Ssd *ssd)
{
    CounterSaves *s = &ssd->journal->counters;
    HostCounts now = counts_now(ssd);

    invariant(!ssd->powered);
    if (!is_on(ssd)) {
        return;
    }
    s->lost.reads += now.reads - s->saved.reads;
    s->lost.writes += now.writes - s->saved.writes;
    s->lost.bytes_read += now.bytes_read - s->saved.bytes_read;
    s->lost.bytes_written += now.bytes_written - s->saved.bytes_written;
    s->lost_ps += since_save_ps(ssd);
    s->armed = 0;
    counters_save(ssd); /* the next cut counts from here */
}

void counters_power_on(Ssd *ssd)
{
    invariant(ssd->powered && !ssd->journal->counters.armed);
    ssd->journal->counters.saved_ps = ssd->now_ps;
}

void counters_reset(Ssd *ssd)
{
    CounterSaves *s = &ssd->journal->counters;

    invariant(ssd->inspect.counters.host_bytes_written == 0);
    s->saved = (HostCounts){.reads = 0};
    s->lost = (HostCounts){.reads = 0};
}
