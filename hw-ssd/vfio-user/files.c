/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.c - logs and traces beside the image: oplog, durable_log, timeline,
 * trace and the live view, from before the drive is told of any data to the end
 * of the process.
 *
 * The model and the controller write them; knows when they begin and end, and
 * when a picture of the live view may be due.
 */
#include "server.h"
#include "simtime.h"
#include "ssd-live.h"

static bool open_timeline(Server *s, GError **error)
{
    const NvmeOptions *o = &s->opt->drive;
    SsdTimelineOptions t = {.queue_of = nvme_queue_of, .opaque = s->ctrl};

    return nvme_options_timeline(o, &t, error) &&
           (!o->timeline || ssd_timeline_open(s->ssd, o->timeline, &t, error));
}

/* ---- the live view ------------------------------------------------------- */

static void wait_for_picture(Server *s);

static gboolean on_picture(gpointer opaque)
{
    wait_for_picture(opaque);
    return G_SOURCE_REMOVE;
}

static void wait_for_picture(Server *s)
{
    uint64_t now_ns = vfio_host_ns();
    uint64_t next_ns = ssd_live_update(s->ssd, now_ns);

    s->live_timer = 0;
    if (next_ns != SSD_TIME_NEVER) {
        s->live_timer = g_timeout_add(
            (guint)((next_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS), on_picture,
            s);
    }
}

static bool open_live(Server *s, GError **error)
{
    const char *path = s->opt->drive.live;

    if (path && !nvme_live_open(s->ctrl, path, vfio_host_ns(), error)) {
        return false;
    }
    wait_for_picture(s);
    return true;
}

static bool close_live(Server *s, GError **error)
{
    if (s->live_timer) {
        g_source_remove(s->live_timer);
        s->live_timer = 0;
    }
    return ssd_live_close(s->ssd, vfio_host_ns(), error);
}

/* ---- all of them --------------------------------------------------------- */

bool vfio_files_open(Server *s, GError **error)
{
    const NvmeOptions *o = &s->opt->drive;

    return (!o->trace ||
            ssd_trace_open(s->ssd, o->trace, s->opt->profile, error)) &&
           (!o->oplog || ssd_oplog_open(s->ssd, o->oplog, error)) &&
           open_timeline(s, error) &&
           (!o->durable_log ||
            nvme_durable_log_open(s->ctrl, o->durable_log, error)) &&
           open_live(s, error);
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
    GError *live = NULL;
    bool ok = say_error(ssd_trace_close(s->ssd, &trace), trace);

    ok &= say_error(close_live(s, &live), live);
    ok &= say_error(ssd_oplog_close(s->ssd, &oplog), oplog);
    ok &= say_error(ssd_timeline_close(s->ssd, &timeline), timeline);
    ok &= say_error(nvme_durable_log_close(s->ctrl, &durable), durable);
    return ok;
}
