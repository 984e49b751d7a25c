/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * durable.c - durable_log=FILE: all that becomes durable
 * (docs/powercut-campaign.md).
 *
 * The controller writes the file; this says when it begins and ends.  QEMU ends
 * without taking its devices apart, so the log is completed in an exit
 * notifier.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/notify.h"
#include "system/system.h"

#include "vssd.h"

/* Does nothing when there is no log any more. */
static void end_log(VssdDev *s)
{
    GError *error = NULL;

    if (!vssd_lock(s)) {
        return;
    }
    if (!nvme_durable_log_close(s->ctrl, &error)) {
        error_report("vssd: %s", error->message);
        g_error_free(error);
        vssd_end_as_failure();
    }
    vssd_unlock(s);
}

static void qemu_ends(Notifier *notifier, void *data)
{
    end_log(container_of(notifier, VssdDev, file.durable_exit));
}

bool vssd_durable_open(VssdDev *s, Error **errp)
{
    GError *error = NULL;

    if (s->prop.opt.durable_log &&
        !nvme_durable_log_open(s->ctrl, s->prop.opt.durable_log, &error)) {
        error_setg(errp, "vssd: %s", error->message);
        g_error_free(error);
        return false;
    }
    return true;
}

void vssd_durable_init(VssdDev *s)
{
    if (s->prop.opt.durable_log) {
        s->file.durable_exit.notify = qemu_ends;
        qemu_add_exit_notifier(&s->file.durable_exit);
    }
}

void vssd_durable_stop(VssdDev *s)
{
    if (s->prop.opt.durable_log) {
        qemu_remove_exit_notifier(&s->file.durable_exit);
        end_log(s);
    }
}
