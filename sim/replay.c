/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.c - repeat the calls of a recorded run, and compare the results.
 *
 * A drive ends its commands in an order that depends on nothing but the calls,
 * except for those that end at the same instant: a power cut ends them in the
 * order of its tables, which depends on when the host fetched earlier ones.  So
 * the file's records of ends are compared one by one with the drive's
 * completions, instant by instant.
 */
#include "replay.h"

#include <errno.h>
#include <string.h>

#include "record.h"
#include "simtime.h"
#include "ssd-window.h"

/* Nothing that is recorded is later (recorded.h); a day for late completions.
 */
#define LAST_NS (201ULL * 24 * 3600 * NS_PER_S)

/* A command in flight; its tag is its place in Replay.in_flight. */
typedef struct InFlight {
    Request req;
    uint64_t serial; /* 0: the place is free */
    uint64_t lba;
} InFlight;

typedef struct Replay {
    Recorded *from;
    Ssd *ssd;
    const PlayerConfig *cfg;
    PlayerResult *result;
    uint64_t now_ns;
    uint64_t start_ns; /* of the first command */
    uint64_t n_cmds;

    InFlight *in_flight;
    uint32_t *free_tag; /* stack */
    uint32_t n_free;
    uint32_t n_tags;

    SsdCompletion *done; /* returned, not yet compared: n_tags at most */
    size_t first_done, n_done;
    SsdIdleRule rule[SSD_POWER_STATES]; /* as recorded so far */
} Replay;

static void nothing(void *opaque, uint64_t lpn, uint64_t version)
{
}

const SsdHostOps replay_host = {
    .programmed = nothing,
    .superseded = nothing,
};

/* ---- differences --------------------------------------------------------- */

G_GNUC_PRINTF(3, 4)
static bool differs(const Replay *rp, GError **error, const char *format, ...)
{
    g_autofree char *what = NULL;
    va_list args;

    va_start(args, format);
    what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, SIM_ERROR, SIM_ERROR_DIFFERENT,
                "not as recorded, after %" G_GUINT64_FORMAT " commands: %s",
                rp->n_cmds, what);
    return false;
}

static char *describe_in_flight(const InFlight *f)
{
    return g_strdup_printf("command %" G_GUINT64_FORMAT " (%s, %" G_GUINT64_FORMAT
                           " bytes at %" G_GUINT64_FORMAT ", at %" G_GUINT64_FORMAT
                           " ns)",
                           f->serial, record_op_name(f->req.op), f->req.nbytes,
                           f->req.offset, f->req.at_ns);
}

/* ---- completions --------------------------------------------------------- */

/* Of those that end at the instant of the first one, bring this one forward. */
static void prefer(Replay *rp, uint64_t serial)
{
    SsdCompletion *first = &rp->done[rp->first_done];

    for (size_t i = rp->first_done; i < rp->n_done; i++) {
        SsdCompletion *c = &rp->done[i];

        if (c->complete_ns == first->complete_ns &&
            rp->in_flight[c->tag].serial == serial) {
            SsdCompletion found = *c;

            *c = *first;
            *first = found;
            return;
        }
    }
}

/* The next one of the drive, wherever in time it is; false: none will come. */
static bool next_done(Replay *rp, uint64_t serial, SsdCompletion *c)
{
    while (rp->first_done == rp->n_done) {
        uint64_t next_ns = MAX(ssd_next_event_ns(rp->ssd), rp->now_ns);

        if (rp->n_free == rp->n_tags || next_ns > LAST_NS) {
            return false;
        }
        rp->now_ns = next_ns;
        rp->first_done = 0;
        rp->n_done = ssd_advance(rp->ssd, next_ns, rp->done, rp->n_tags);
    }
    prefer(rp, serial);
    *c = rp->done[rp->first_done++];
    return true;
}

static void count_completion(Replay *rp, const SsdCompletion *c)
{
    PlayerResult *r = rp->result;
    const Request *req = &rp->in_flight[c->tag].req;

    hist_add(&r->latency[req->op], c->complete_ns - c->submit_ns);
    r->bytes[req->op] += req->nbytes;
    r->n_errors += c->status != SSD_STATUS_OK;
    r->n_status[c->status]++;
    r->sim_ns = c->complete_ns - rp->start_ns;
    if (rp->cfg->done) {
        PlayerDone d = {req, c, c->status, rp->start_ns,
                        req->at_ns - rp->start_ns};

        rp->cfg->done(rp->cfg->done_opaque, &d);
    }
    r->n_requests++;
    progress_add(rp->cfg->progress, 1);
}

static bool same(const RecordedItem *item, const SsdCompletion *c,
                 const InFlight *f)
{
    return item->serial == f->serial &&
           item->latency_ns == c->complete_ns - c->submit_ns &&
           item->status == c->status &&
           (item->status != SSD_STATUS_UNRECOVERED_READ ||
            item->bad_block == c->bad_lba - f->lba);
}

static bool check_done(Replay *rp, const RecordedItem *item, GError **error)
{
    g_autofree char *which = NULL;
    SsdCompletion c;
    InFlight *f;

    if (!next_done(rp, item->serial, &c)) {
        return differs(rp, error,
                       "recorded is the end of command %" G_GUINT64_FORMAT
                       ", but here none ends any more",
                       item->serial);
    }
    f = &rp->in_flight[c.tag];
    if (same(item, &c, f)) {
        count_completion(rp, &c);
        f->serial = 0;
        rp->free_tag[rp->n_free++] = (uint32_t)c.tag;
        return true;
    }
    which = describe_in_flight(f);
    if (item->serial != f->serial) {
        return differs(rp, error,
                       "recorded is the end of command %" G_GUINT64_FORMAT
                       ", here %s ends before it, after %" G_GUINT64_FORMAT
                       " ns",
                       item->serial, which, c.complete_ns - c.submit_ns);
    }
    return differs(rp, error,
                   "%s: recorded %s after %" G_GUINT64_FORMAT
                   " ns, here %s after %" G_GUINT64_FORMAT " ns",
                   which, record_status_name(item->status), item->latency_ns,
                   record_status_name(c.status), c.complete_ns - c.submit_ns);
}

/* ---- calls --------------------------------------------------------------- */

/* Everything that ended before this call has been compared. */
static bool come_to(Replay *rp, const RecordedItem *item, GError **error)
{
    if (item->at_ns < rp->now_ns) {
        return differs(rp, error,
                       "a call at %" G_GUINT64_FORMAT
                       " ns stands behind the end of a command at "
                       "%" G_GUINT64_FORMAT " ns",
                       item->at_ns, rp->now_ns);
    }
    rp->now_ns = item->at_ns;
    ssd_advance(rp->ssd, rp->now_ns, NULL, 0);
    return true;
}

static bool call_submit(Replay *rp, const RecordedItem *item, GError **error)
{
    uint32_t bytes = ssd_info(rp->ssd)->block_bytes;
    SsdCmd cmd = {
        .version = ++rp->n_cmds,
        .op = item->op,
        .fua = item->fua,
        .close = item->close,
        .internal = item->internal,
        .inside = item->inside,
        .stream = item->stream,
        .nblocks = (uint32_t)item->nblocks,
        .lba = item->lba,
    };
    int r = -EBUSY;

    if (rp->n_free) {
        cmd.tag = rp->free_tag[rp->n_free - 1];
        r = ssd_submit(rp->ssd, rp->now_ns, &cmd);
    }
    if (r < 0) {
        return differs(rp, error,
                       "the drive refuses command %" G_GUINT64_FORMAT
                       " (%s): %s",
                       item->serial, record_op_name(item->op), g_strerror(-r));
    }
    rp->n_free--;
    rp->start_ns = item->serial == 1 ? rp->now_ns : rp->start_ns;
    rp->in_flight[cmd.tag] = (InFlight){
        .req = {.at_ns = rp->now_ns,
                .offset = item->lba * bytes,
                .nbytes = item->nblocks * bytes,
                .op = item->op,
                .fua = item->fua,
                .stream = item->stream},
        .serial = item->serial,
        .lba = item->lba,
    };
    return true;
}

static bool call_abort(Replay *rp, const RecordedItem *item, GError **error)
{
    for (uint32_t tag = 0; tag < rp->n_tags; tag++) {
        if (rp->in_flight[tag].serial == item->serial &&
            ssd_abort(rp->ssd, rp->now_ns, tag)) {
            return true;
        }
    }
    return differs(rp, error,
                   "it is too late to abort command %" G_GUINT64_FORMAT,
                   item->serial);
}

static bool call_power(Replay *rp, const RecordedItem *item, GError **error)
{
    bool on = item->type == RECORDING_POWER_ON;

    if (on && ssd_powered(rp->ssd)) {
        return differs(rp, error, "the power comes back, and was never gone");
    }
    if (on) {
        ssd_power_on(rp->ssd, rp->now_ns);
    } else if (ssd_powered(rp->ssd)) {
        ssd_power_cut(rp->ssd, rp->now_ns);
        rp->result->n_power_cuts++;
    }
    return true;
}

/* The rule of the last state comes last, and all of them hold then. */
static void call_rule(Replay *rp, const RecordedItem *item)
{
    uint32_t n;

    ssd_power_states(rp->ssd, &n);
    rp->rule[item->number[0]] = (SsdIdleRule){
        .state = (uint32_t)item->number[1],
        .after_ns = item->number[2],
    };
    if (item->number[0] + 1 == n) {
        ssd_set_idle_rules(rp->ssd, rp->now_ns, rp->rule);
    }
}

static void call_setting(Replay *rp, const RecordedItem *item)
{
    const uint32_t limits[] = {(uint32_t)item->number[0],
                               (uint32_t)item->number[1]};

    switch (item->setting) {
    case RECORDING_POWER_STATE:
        ssd_set_power_state(rp->ssd, rp->now_ns, limits[0]);
        break;
    case RECORDING_IDLE_RULE:
        call_rule(rp, item);
        break;
    case RECORDING_OWN_RULES:
        ssd_set_idle_rules(rp->ssd, rp->now_ns, NULL);
        break;
    case RECORDING_LIMITS:
        ssd_set_heat_limits(rp->ssd, rp->now_ns, limits);
        break;
    case RECORDING_HOST_MEMORY:
        ssd_set_host_memory(rp->ssd, rp->now_ns, item->number[2]);
        break;
    case RECORDING_WINDOW:
        ssd_set_window(rp->ssd, rp->now_ns, (SsdWindow)item->number[0]);
        break;
    default:
        g_assert_not_reached();
    }
}

static bool call_end(Replay *rp, const RecordedItem *item, GError **error)
{
    if (rp->first_done < rp->n_done ||
        ssd_advance(rp->ssd, rp->now_ns, rp->done, 1) > 0) {
        return differs(rp, error, "at the end, more commands have ended");
    }
    if (rp->n_tags - rp->n_free != item->n_running) {
        return differs(rp, error,
                       "at the end, %u commands are in flight, recorded are "
                       "%" G_GUINT64_FORMAT,
                       rp->n_tags - rp->n_free, item->n_running);
    }
    return true;
}

static bool call(Replay *rp, const RecordedItem *item, GError **error)
{
    if (item->type == RECORDING_DONE) {
        return check_done(rp, item, error);
    }
    if (item->type == RECORDING_PRELOAD) {
        return ssd_preload(rp->ssd, item->lba, item->nblocks) == 0 ||
               differs(rp, error, "the drive is smaller");
    }
    if (!come_to(rp, item, error)) {
        return false;
    }
    switch (item->type) {
    case RECORDING_CMD:
        return call_submit(rp, item, error);
    case RECORDING_ABORT:
        return call_abort(rp, item, error);
    case RECORDING_POWER_CUT:
    case RECORDING_POWER_ON:
        return call_power(rp, item, error);
    case RECORDING_CLOSE:
        if (item->stream >= ssd_info(rp->ssd)->host_streams) {
            return differs(rp, error, "the drive has no stream %u",
                           item->stream);
        }
        ssd_stream_close(rp->ssd, rp->now_ns, item->stream);
        return true;
    case RECORDING_SETTING:
        call_setting(rp, item);
        return true;
    case RECORDING_END:
        return call_end(rp, item, error);
    default:
        g_assert_not_reached();
    }
}

/* ---- the run ------------------------------------------------------------- */

static bool fits(const Replay *rp, GError **error)
{
    const RecordedState *s = recorded_state(rp->from);
    const SsdInfo *info = ssd_info(rp->ssd);

    if (s->used) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                    "the recorded drive was not new when the trace began, so "
                    "its state is not known: play it without --check");
        return false;
    }
    if (s->nblocks != info->nblocks || s->block_bytes != info->block_bytes) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_DIFFERENT,
                    "the recorded drive has %" G_GUINT64_FORMAT
                    " blocks of %u bytes, this one %" G_GUINT64_FORMAT
                    " of %u: give the same profile, or none",
                    s->nblocks, s->block_bytes, info->nblocks,
                    info->block_bytes);
        return false;
    }
    return true;
}

bool replay_check(Recorded *from, Ssd *ssd, const PlayerConfig *cfg,
                  PlayerResult *result, GError **error)
{
    g_autoptr(GError) local = NULL;
    uint32_t n = ssd_info(ssd)->queue_depth;
    g_autofree InFlight *in_flight = g_new0(InFlight, n);
    g_autofree uint32_t *free_tag = g_new(uint32_t, n);
    g_autofree SsdCompletion *done = g_new(SsdCompletion, n);
    Replay rp = {
        .from = from,
        .ssd = ssd,
        .cfg = cfg,
        .result = result,
        .in_flight = in_flight,
        .free_tag = free_tag,
        .done = done,
        .n_tags = n,
    };
    RecordedItem item;

    *result = (PlayerResult){0};
    for (unsigned i = 0; i < SSD_N_OPS; i++) {
        hist_init(&result->latency[i]);
    }
    while (rp.n_free < n) {
        free_tag[rp.n_free] = n - 1 - rp.n_free;
        rp.n_free++;
    }
    if (!fits(&rp, error)) {
        return false;
    }
    while (recorded_read(from, &item, &local)) {
        if (!call(&rp, &item, error)) {
            return false;
        }
    }
    if (local) {
        g_propagate_error(error, g_steal_pointer(&local));
        return false;
    }
    if (rp.n_cmds == 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                    "the trace holds no request: there is nothing to check");
        return false;
    }
    return true;
}
