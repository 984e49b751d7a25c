/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.c - logs and traces beside the image: oplog, durable_log, timeline and
 * trace, from before the drive is told of any data to the end of the process.
 *
 * The model and the controller write them; knows when they begin and end.
 */
#include "server.h"

static bool open_timeline(Server *s, GError **error)
{
    const NvmeOptions *o = &s->opt->drive;
    SsdTimelineOptions t = {.queue_of = nvme_queue_of, .opaque = s->ctrl};

    return nvme_options_timeline(o, &t, error) &&
           (!o->timeline || ssd_timeline_open(s->ssd, o->timeline, &t, error));
}

bool vfio_files_open(Server *s, GError **error)
{
    const NvmeOptions *o = &s->opt->drive;

    return (!o->trace ||
            ssd_trace_open(s->ssd, o->trace, s->opt->profile, error)) &&
           (!o->oplog || ssd_oplog_open(s->ssd, o->oplog, error)) &&
           open_timeline(s, error) &&
           (!o->durable_log ||
            nvme_durable_log_open(s->ctrl, o->durable_log, error));
}

/* A file is named in the message of its own; all of them are ended. */
static bool say_error(bool ok, GError *error)
{
    if (!ok) {
        vfio_say(error->message);
        g_error_free(error);
    }
    return ok;
}

bool vfio_files_close(Server *s)
{
    GError *trace = NULL, *oplog = NULL, *timeline = NULL, *durable = NULL;
    bool ok = say_error(ssd_trace_close(s->ssd, &trace), trace);

    ok &= say_error(ssd_oplog_close(s->ssd, &oplog), oplog);
    ok &= say_error(ssd_timeline_close(s->ssd, &timeline), timeline);
    ok &= say_error(nvme_durable_log_close(s->ctrl, &durable), durable);
    return ok;
}
