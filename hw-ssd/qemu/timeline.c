/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline.c - timeline=FILE: the drive's work over time (docs/timeline.md).
 *
 * Knows when the timeline begins and ends; the model keeps and writes it. QEMU
 * ends without taking its devices apart, so the file is written in an exit
 * notifier.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "system/system.h"

#include "ssd-report.h"
#include "vssd.h"

/* Does nothing when the file has been written. */
static void end_timeline(VssdDev *s)
{
    GError *error = NULL;

    if (!vssd_lock(s)) {
        return;
    }
    if (!ssd_timeline_close(s->ssd, &error)) {
        error_report("vssd: %s", error->message);
        g_error_free(error);
        vssd_end_as_failure();
    }
    vssd_unlock(s);
}

static void qemu_ends(Notifier *notifier, void *data)
{
    end_timeline(container_of(notifier, VssdDev, file.timeline_exit));
}

bool vssd_timeline_open(VssdDev *s, Error **errp)
{
    SsdTimelineOptions o = {.queue_of = nvme_queue_of, .opaque = s->ctrl};
    GError *error = NULL;

    if (!nvme_options_timeline(&s->prop.opt, &o, &error)) {
        error_setg(errp, "vssd: %s", error->message);
        g_error_free(error);
        return false;
    }
    if (s->prop.opt.timeline && s->incoming) {
        warn_report("vssd: timeline=%s: it is not written of a drive that "
                    "comes from another QEMU",
                    s->prop.opt.timeline);
        return true;
    }
    if (s->prop.opt.timeline &&
        !ssd_timeline_open(s->ssd, s->prop.opt.timeline, &o, &error)) {
        error_setg(errp, "vssd: %s", error->message);
        g_error_free(error);
        return false;
    }
    return true;
}

void vssd_timeline_init(VssdDev *s)
{
    if (s->prop.opt.timeline) {
        s->file.timeline_exit.notify = qemu_ends;
        qemu_add_exit_notifier(&s->file.timeline_exit);
    }
}

void vssd_timeline_stop(VssdDev *s)
{
    if (s->prop.opt.timeline) {
        qemu_remove_exit_notifier(&s->file.timeline_exit);
        end_timeline(s);
    }
}
