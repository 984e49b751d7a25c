/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oplog.c - the drive's operation log, from realize to the end of QEMU.
 *
 * Knows when the log begins and ends; the model writes it (docs/oplog.md). QEMU
 * ends without taking its devices apart, so the log is completed in an exit
 * notifier.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "system/system.h"

#include "ssd-report.h"
#include "vssd.h"

/* Does nothing when there is no log any more. */
static void end_log(VssdDev *s)
{
    GError *error = NULL;

    if (!vssd_lock(s)) {
        return;
    }
    if (!ssd_oplog_close(s->ssd, &error)) {
        error_report("vssd: %s", error->message);
        g_error_free(error);
        vssd_end_as_failure();
    }
    vssd_unlock(s);
}

static void qemu_ends(Notifier *notifier, void *data)
{
    end_log(container_of(notifier, VssdDev, file.oplog_exit));
}

bool vssd_oplog_open(VssdDev *s, Error **errp)
{
    GError *error = NULL;

    if (s->prop.opt.oplog &&
        !ssd_oplog_open(s->ssd, s->prop.opt.oplog, &error)) {
        error_setg(errp, "vssd: oplog: %s", error->message);
        g_error_free(error);
        return false;
    }
    return true;
}

void vssd_oplog_init(VssdDev *s)
{
    if (s->prop.opt.oplog) {
        s->file.oplog_exit.notify = qemu_ends;
        qemu_add_exit_notifier(&s->file.oplog_exit);
    }
}

void vssd_oplog_stop(VssdDev *s)
{
    if (s->prop.opt.oplog) {
        qemu_remove_exit_notifier(&s->file.oplog_exit);
        end_log(s);
    }
}
