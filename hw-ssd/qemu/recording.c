/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording.c - trace=FILE: a trace of the guest's commands (docs/traces.md).
 *
 * The model writes the file; this says when it begins, when it must be whole,
 * and when it ends.  QEMU does not take its devices apart when it ends, so the
 * end is that of the process.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/notify.h"
#include "system/system.h"

#include "ssd-report.h"
#include "vssd.h"

/* What is missing stays missing. */
static void complain(GError *error)
{
    if (error) {
        error_report("vssd: %s", error->message);
        g_error_free(error);
        vssd_end_as_failure();
    }
}

static void close_at_exit(Notifier *n, void *data)
{
    VssdDev *s = container_of(n, VssdDev, file.trace_exit);
    GError *error = NULL;

    if (vssd_lock(s)) {
        ssd_trace_close(s->ssd, &error);
        vssd_unlock(s);
    }
    complain(error);
}

bool vssd_recording_begin(VssdDev *s, Error **errp)
{
    GError *error = NULL;

    if (!s->prop.opt.trace) {
        return true;
    }
    if (!ssd_trace_open(s->ssd, s->prop.opt.trace, s->prop.profile, &error)) {
        error_setg(errp, "vssd: %s", error->message);
        g_error_free(error);
        return false;
    }
    s->file.trace_exit.notify = close_at_exit;
    qemu_add_exit_notifier(&s->file.trace_exit);
    return true;
}

void vssd_recording_flush(VssdDev *s)
{
    GError *error = NULL;

    g_assert(vssd_has_lock(s));
    ssd_trace_flush(s->ssd, &error);
    complain(error);
}

void vssd_recording_end(VssdDev *s)
{
    GError *error = NULL;

    if (s->file.trace_exit.notify) {
        qemu_remove_exit_notifier(&s->file.trace_exit);
        s->file.trace_exit.notify = NULL;
    }
    if (s->ssd) {
        ssd_trace_close(s->ssd, &error);
    }
    complain(error);
}
