/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run.c - running the controller: until it has nothing to do now, and when the
 * timer of its next instant has come.
 *
 * Any thread with the drive's lock may.  Knows the clock; knows nothing of
 * threads and of commands.
 */
#include "qemu/osdep.h"
#include "qemu/defer-call.h"
#include "qemu/error-report.h"
#include "trace.h"

#include "simtime.h"
#include "vssd.h"

/* nvme_run() calls in one go before the rest is left to the thread of run_ctx;
 * each is bounded in commands and in bytes. */
#define RUN_ROUNDS 5

/* With -icount: at one instant of virtual time, before that goes on.  More than
 * any queue holds; a guest may have commands that ring for the next. */
#define INSTANT_ROUNDS 256

/* After half of the range of the model's clock: set it back when the drive has
 * nothing to do, and begin a new one. */
static void keep_in_range(VssdDev *s)
{
    uint64_t by_ns = nvme_rebase(s->ctrl);

    if (by_ns) {
        s->clock.epoch_ns += by_ns;
        s->clock.now_ns -= by_ns;
        qatomic_set(&s->clock.timer_ns, SSD_TIME_NEVER);
        trace_vssd_rebased(s, by_ns);
    } else if (s->clock.now_ns >= SIM_LAST_NS) {
        warn_report_once("vssd: the drive's clock stands still: it has run for "
                         "212 days%s",
                         s->prop.opt.oplog || s->prop.opt.trace
                             ? ", and oplog= or trace= tells of "
                               "all of them"
                             : " without a rest");
    }
}

static void arm_timer(VssdDev *s)
{
    uint64_t next_ns, fire_ns;

    if (unlikely(s->clock.now_ns > SIM_MAX_NS / 2)) {
        keep_in_range(s);
    }
    next_ns = MAX(nvme_next_event_ns(s->ctrl), s->clock.now_ns + 1);

    /* A timer that fires early costs less than one that is often moved. */
    if (next_ns >= s->clock.timer_ns || next_ns >= SIM_MAX_NS) {
        return;
    }
    /* Later than now: QEMU calls timers until none has expired, and waits for
     * that when it stops the machine, with the clock standing. */
    fire_ns = MAX(next_ns - MIN(next_ns, vssd_lead(s)), s->clock.now_ns + 1);
    qatomic_set(&s->clock.timer_ns, next_ns);
    s->clock.timer_fire_ns = fire_ns;
    timer_mod_ns(s->clock.timer, s->clock.epoch_ns + fire_ns);
}

/*
 * With -icount: let each event happen at its own instant.  The virtual clock
 * steps by whole instructions, so it may stand some ns after the event that the
 * vCPU was stopped for.
 */
void vssd_catch_up(VssdDev *s)
{
    uint64_t now_ns, next_ns;
    unsigned round = 0;

    g_assert(vssd_has_lock(s));
    if (!s->serve.icount) {
        return;
    }
    now_ns = vssd_now(s);
    while (round < INSTANT_ROUNDS &&
           (next_ns = nvme_next_event_ns(s->ctrl)) < now_ns) {
        round = nvme_run(s->ctrl, next_ns) ? round + 1 : 0;
    }
}

/*
 * A round at this instant; true: there is more to do.  Its requests on the
 * image go to the host together, when the section ends.  With -icount submit()
 * awaits each request, so none may be held back.
 */
static bool run_round(VssdDev *s)
{
    bool together = !s->serve.icount;
    bool more;

    if (together) {
        defer_call_begin();
    }
    more = nvme_run(s->ctrl, vssd_now(s));
    if (together) {
        defer_call_end(); /* which may end requests */
    }
    return vssd_store_reap(s) || more;
}

void vssd_run(VssdDev *s)
{
    bool stopped =
        !s->serve.online || s->serve.stopped; /* and held: this has an end */
    unsigned left = s->serve.icount ? INSTANT_ROUNDS : RUN_ROUNDS;
    bool more;

    g_assert(vssd_has_lock(s));
    do {
        more = run_round(s);
    } while (more && (stopped || --left));
    if (stopped) {
        return;
    }
    if (more && !s->serve.icount) {
        vssd_run_later(s);
    } else {
        arm_timer(s);
    }
}

void vssd_serve(VssdDev *s)
{
    if (vssd_lock(s)) {
        vssd_catch_up(s);
        vssd_run(s);
        vssd_unlock(s);
    }
}

void vssd_serve_due(VssdDev *s)
{
    g_assert(vssd_has_lock(s));
    trace_vssd_timer(s, s->clock.timer_ns, s->clock.timer_fire_ns, vssd_now(s));
    qatomic_set(&s->clock.timer_ns, SSD_TIME_NEVER);
    vssd_catch_up(s);
    vssd_run(s);
}
