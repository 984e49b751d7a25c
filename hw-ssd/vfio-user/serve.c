/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serve.c - who runs the controller, and when.
 *
 * The main loop runs it: after a register write, when modelled time has come,
 * and when image I/O has ended.  Between these it sleeps.  Knows the clock and
 * the loop; knows nothing of commands or messages.
 */
#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <glib-unix.h>

#include "server.h"
#include "simtime.h"

/* nvme_run() calls in one go before the loop looks at the client again. */
#define RUN_ROUNDS 5

/* The host's timers wake a thread late, by tens of microseconds on a virtual
 * machine.  So the timer is set that much earlier, and the rest is spun. */
#define LEAD_MAX_NS 50000

static void cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* ---- timer --------------------------------------------------------------- */

/* After half of the range of the model's clock: set it back when the drive has
 * nothing to do. */
static void keep_in_range(Server *s)
{
    uint64_t by_ns = nvme_rebase(s->ctrl);

    s->epoch_ns += by_ns;
    s->now_ns -= by_ns;
    if (by_ns) {
        s->timer_ns = SSD_TIME_NEVER;
    }
}

static void arm_timer(Server *s)
{
    uint64_t next_ns, fire_ns;
    struct itimerspec at = {0};

    if (s->now_ns > SIM_MAX_NS / 2) {
        keep_in_range(s);
    }
    next_ns = MAX(nvme_next_event_ns(s->ctrl), s->now_ns + 1);
    /* A timer that fires early costs less than one that is often moved. */
    if (next_ns >= s->timer_ns || next_ns >= SIM_MAX_NS) {
        return;
    }
    fire_ns = MAX(next_ns - MIN(next_ns, s->lead_ns), s->now_ns + 1);
    s->timer_ns = next_ns;
    s->timer_fire_ns = fire_ns;
    fire_ns += s->epoch_ns;
    at.it_value.tv_sec = fire_ns / NS_PER_S;
    at.it_value.tv_nsec = fire_ns % NS_PER_S;
    timerfd_settime(s->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

/* Follow the host's wake-up delay: quickly up, slowly down. */
static void learn_lead(Server *s, uint64_t late_ns)
{
    if (late_ns > s->lead_ns) {
        s->lead_ns += (MIN(late_ns, LEAD_MAX_NS) - s->lead_ns) / 4;
    } else {
        s->lead_ns -= (s->lead_ns - late_ns) / 32;
    }
}

static gboolean on_timer(gint fd, GIOCondition condition, gpointer opaque)
{
    Server *s = opaque;
    uint64_t woken_ns = vfio_host_ns() - s->epoch_ns;
    uint64_t count;

    if (read(fd, &count, sizeof(count)) < 0) {
        return G_SOURCE_CONTINUE; /* it was moved meanwhile */
    }
    if (woken_ns > s->timer_fire_ns) {
        learn_lead(s, woken_ns - s->timer_fire_ns);
    }
    while (vfio_host_ns() - s->epoch_ns < s->timer_ns &&
           s->timer_ns - s->timer_fire_ns <= LEAD_MAX_NS) {
        cpu_relax();
    }
    s->timer_ns = SSD_TIME_NEVER;
    vfio_serve_run(s);
    return G_SOURCE_CONTINUE;
}

/* ---- run ----------------------------------------------------------------- */

static gboolean on_more(gpointer opaque)
{
    Server *s = opaque;

    s->more = 0;
    vfio_serve_run(s);
    return G_SOURCE_REMOVE;
}

void vfio_serve_run(Server *s)
{
    unsigned left = RUN_ROUNDS;
    bool more;

    do {
        more = nvme_run(s->ctrl, vfio_now(s));
        more |= vfio_image_reap(s);
    } while (more && --left);
    vfio_irq_deliver_all(s);
    if (s->stopped) {
        return;
    }
    if (!more) {
        arm_timer(s);
    } else if (!s->more) {
        s->more = g_idle_add_full(G_PRIORITY_DEFAULT, on_more, s, NULL);
    }
}

static gboolean on_image(gint fd, GIOCondition condition, gpointer opaque)
{
    Server *s = opaque;
    uint64_t count;

    if (read(fd, &count, sizeof(count)) > 0) {
        vfio_serve_run(s);
    }
    return G_SOURCE_CONTINUE;
}

void vfio_serve_hold(Server *s, bool on)
{
    s->held = on;
    nvme_hold(s->ctrl, on);
    vfio_serve_run(s);
}

/* ---- life ---------------------------------------------------------------- */

bool vfio_serve_init(Server *s, GError **error)
{
    s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (s->timer_fd < 0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "no timer: %s",
                    g_strerror(errno));
        return false;
    }
    s->timer_ns = SSD_TIME_NEVER;
    s->epoch_ns = vfio_host_ns() - s->now_ns;
    g_unix_fd_add(s->timer_fd, G_IO_IN, on_timer, s);
    s->image_ended = g_unix_fd_add(vfio_image_fd(s), G_IO_IN, on_image, s);
    return true;
}

void vfio_serve_free(Server *s)
{
    if (s->more) {
        g_source_remove(s->more);
    }
    g_source_remove(s->image_ended);
    close(s->timer_fd);
}
