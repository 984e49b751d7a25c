/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live.c - live=FILE: pictures of the running drive (docs/live-format.md).
 *
 * Knows when a picture may be due, by the host's clock, which runs while the
 * machine is stopped, too; the model makes it.  The main loop's timer asks: a
 * picture needs no more than the drive's lock.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/timer.h"
#include "system/system.h"

#include "ssd-live.h"
#include "vssd.h"

static uint64_t host_ns(void)
{
    return (uint64_t)qemu_clock_get_ns(QEMU_CLOCK_REALTIME);
}

static void picture_cb(void *opaque)
{
    VssdDev *s = opaque;
    uint64_t next_ns = SSD_TIME_NEVER;

    if (vssd_lock(s)) {
        next_ns = ssd_live_update(s->ssd, host_ns());
        vssd_unlock(s);
    }
    if (next_ns != SSD_TIME_NEVER) {
        timer_mod_ns(s->file.live_timer, (int64_t)next_ns);
    }
}

/* Does nothing when the view has ended. */
static void end_view(VssdDev *s)
{
    GError *error = NULL;

    if (!vssd_lock(s)) {
        return;
    }
    if (!ssd_live_close(s->ssd, host_ns(), &error)) {
        error_report("vssd: %s", error->message);
        g_error_free(error);
        vssd_end_as_failure();
    }
    vssd_unlock(s);
}

static void qemu_ends(Notifier *notifier, void *data)
{
    end_view(container_of(notifier, VssdDev, file.live_exit));
}

bool vssd_live_open(VssdDev *s, Error **errp)
{
    const char *path = s->prop.opt.live;
    GError *error = NULL;

    if (path && s->incoming) {
        warn_report("vssd: live=%s: it is not written of a drive that comes "
                    "from another QEMU",
                    path);
        return true;
    }
    if (path && !nvme_live_open(s->ctrl, path, host_ns(), &error)) {
        error_setg(errp, "vssd: %s", error->message);
        g_error_free(error);
        return false;
    }
    return true;
}

void vssd_live_init(VssdDev *s)
{
    if (s->prop.opt.live) {
        s->file.live_timer = timer_new_ns(QEMU_CLOCK_REALTIME, picture_cb, s);
        timer_mod_ns(s->file.live_timer, (int64_t)host_ns());
        s->file.live_exit.notify = qemu_ends;
        qemu_add_exit_notifier(&s->file.live_exit);
    }
}

void vssd_live_stop(VssdDev *s)
{
    if (s->prop.opt.live) {
        qemu_remove_exit_notifier(&s->file.live_exit);
        timer_free(s->file.live_timer);
        s->file.live_timer = NULL;
        end_view(s);
    }
}
