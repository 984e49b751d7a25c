/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * play.c - commands of libvssd: one by one, and whole arrays.
 *
 * Knows instants, places in the queue and completions; knows nothing of how a
 * drive was made.
 */
#include "lib-internal.h"
#include "ssd-save.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Elements in their first version: callers have these members at least. */
#define REQUEST_LEAST    sizeof(VssdRequest)
#define COMPLETION_LEAST VSSD_COMPLETION_SHORT

/* Requests whose table entries are fetched meanwhile: see ssd_hint(). */
#define AHEAD 16

G_STATIC_ASSERT((int)VSSD_READ == SSD_OP_READ &&
                (int)VSSD_WRITE == SSD_OP_WRITE &&
                (int)VSSD_TRIM == SSD_OP_TRIM &&
                (int)VSSD_FLUSH == SSD_OP_FLUSH &&
                (int)VSSD_SHUTDOWN == SSD_OP_SHUTDOWN &&
                (int)VSSD_SHUTDOWN + 1 == SSD_N_OPS);
G_STATIC_ASSERT(VSSD_ZONE_CLOSE - VSSD_ZONE_APPEND ==
                (int)ZONE_CLOSE - ZONE_APPEND);
G_STATIC_ASSERT((int)VSSD_OK == SSD_STATUS_OK &&
                (int)VSSD_UNRECOVERED_READ == SSD_STATUS_UNRECOVERED_READ &&
                (int)VSSD_WRITE_FAULT == SSD_STATUS_WRITE_FAULT &&
                (int)VSSD_READ_ONLY == SSD_STATUS_READ_ONLY &&
                (int)VSSD_ABORTED == SSD_STATUS_ABORTED &&
                (int)VSSD_POWER_LOSS == SSD_STATUS_POWER_LOSS);
G_STATIC_ASSERT(sizeof(SsdBreakdown) == VSSD_N_COSTS * sizeof(uint64_t));

LIB_EXPORT const char *vssd_cost_name(unsigned i)
{
    static const char *const names[] = {
#define COST_NAME(name, help) #name,
        SSD_COSTS(COST_NAME)
#undef COST_NAME
    };

    return i < G_N_ELEMENTS(names) ? names[i] : NULL;
}

/* ---- completions --------------------------------------------------------- */

/* Of a drive with zones: the command has ended.  The first block of an append;
 * 0: it is none. */
static uint64_t end_in_zone(VssdDrive *d, uint64_t tag)
{
    const LibZoneCmd *c = g_hash_table_lookup(d->zone_cmds, &tag);
    uint64_t lba = c ? c->lba : 0;

    if (c) {
        zoned_ended(d->zones, c->number);
        g_hash_table_remove(d->zone_cmds, &tag);
    }
    return lba;
}

/* As many bytes of it as the caller's element has; to: or NULL. */
static inline void store(VssdDrive *d, void *to, size_t bytes,
                         const SsdCompletion *c)
{
    uint64_t appended = G_UNLIKELY(d->zones) ? end_in_zone(d, c->tag) : 0;
    VssdCompletion out = {
        .tag = c->tag,
        .submit_ns = c->submit_ns,
        .complete_ns = c->complete_ns,
        .bad_lba =
            c->status == SSD_STATUS_UNRECOVERED_READ ? c->bad_lba : appended,
        .status = c->status,
    };

    if (!to) {
        return;
    }
    if (G_LIKELY(bytes == VSSD_COMPLETION_SHORT)) {
        memcpy(to, &out, VSSD_COMPLETION_SHORT);
        return;
    }
    memcpy(out.cost_ns, &c->cost, sizeof(out.cost_ns));
    memcpy(to, &out, MIN(bytes, sizeof(out)));
}

static int check_completion_bytes(VssdDrive *d, size_t bytes)
{
    return bytes >= COMPLETION_LEAST
               ? 0
               : lib_fail(d, -EINVAL, "completion_bytes=%zu: at least %zu",
                          bytes, (size_t)COMPLETION_LEAST);
}

LIB_EXPORT uint64_t vssd_now(const VssdDrive *d)
{
    return ssd_now_ns(d->ssd);
}

LIB_EXPORT uint64_t vssd_next_event(const VssdDrive *d)
{
    return ssd_next_event_ns(d->ssd);
}

LIB_EXPORT int64_t vssd_advance(VssdDrive *d, uint64_t now_ns, void *done,
                                size_t max, size_t completion_bytes)
{
    size_t stored = 0;
    int r = check_completion_bytes(d, completion_bytes);

    r = r ? r : lib_check_instant(d, now_ns);
    if (r < 0) {
        return r;
    }
    for (;;) {
        SsdCompletion part[64];
        size_t n = ssd_advance(d->ssd, now_ns, part,
                               MIN(max - stored, G_N_ELEMENTS(part)));

        for (size_t i = 0; i < n; i++) {
            store(d, (char *)done + (stored + i) * completion_bytes,
                  completion_bytes, &part[i]);
        }
        stored += n;
        d->in_flight -= MIN(n, d->in_flight);
        if (n < G_N_ELEMENTS(part)) {
            break;
        }
    }
    lib_live_look(d);
    return (int64_t)stored;
}

/* ---- commands ------------------------------------------------------------ */

static inline SsdCmd command(VssdDrive *d, const VssdRequest *r, uint64_t tag)
{
    return (SsdCmd){
        .tag = tag,
        .version = d->last_version + 1,
        .op = (SsdOp)r->op,
        .fua = r->flags & VSSD_FUA,
        .stream = r->stream,
        .nblocks = r->nblocks,
        .lba = r->lba,
    };
}

/* What the drive said of a request; -EAGAIN stays without a message. */
static int refused(VssdDrive *d, const VssdRequest *r, int err)
{
    const SsdInfo *info = ssd_info(d->ssd);

    if (err == -EBUSY) {
        return -EAGAIN;
    }
    if (err == -ENODEV) {
        return lib_fail(d, err, "the power is off");
    }
    if (r->op == VSSD_WRITE && r->stream >= info->host_streams) {
        return lib_fail(d, err, "stream=%u: allowed 0..%u", r->stream,
                        info->host_streams - 1);
    }
    return lib_fail(d, err,
                    "lba=%" PRIu64 " nblocks=%u: allowed 1 or more of "
                    "0..%" PRIu64,
                    r->lba, r->nblocks, info->nblocks - 1);
}

static inline int check_request(VssdDrive *d, const VssdRequest *r)
{
    if (r->op > VSSD_ZONE_CLOSE || (r->op > VSSD_SHUTDOWN && !d->zones)) {
        return lib_fail(d, -EINVAL, "op=%u: allowed 0..%u%s", r->op,
                        d->zones ? VSSD_ZONE_CLOSE : VSSD_SHUTDOWN,
                        d->zones ? "" : ", the drive has no zones");
    }
    if (d->zones && (r->op == VSSD_TRIM || r->stream)) {
        return lib_fail(d, -EINVAL, "%s: the drive has zones (VSSD_ZONE_RESET)",
                        r->stream ? "stream" : "trim");
    }
    if (r->flags & ~VSSD_FUA) {
        return lib_fail(d, -EINVAL, "flags=0x%x: allowed VSSD_FUA", r->flags);
    }
    return 0;
}

static ZoneAct act_of(unsigned op)
{
    return op > VSSD_SHUTDOWN ? (ZoneAct)(op - VSSD_ZONE_APPEND + ZONE_APPEND)
                              : ZONE_PLAIN;
}

static void remember(VssdDrive *d, const SsdCmd *cmd, uint32_t number)
{
    LibZoneCmd *c = g_new(LibZoneCmd, 1);

    *c = (LibZoneCmd){cmd->tag, cmd->append ? cmd->lba : 0, number};
    g_hash_table_replace(d->zone_cmds, &c->tag, c);
}

/* The same for a drive with zones. */
static int submit_to_zone(VssdDrive *d, uint64_t now_ns, const VssdRequest *r,
                          SsdCmd *cmd)
{
    ZoneAct act = act_of(r->op);
    char why[ZONE_WHY_BYTES];
    uint32_t number;
    int err;

    if (act != ZONE_PLAIN) {
        cmd->op = SSD_OP_WRITE;
    }
    switch (zoned_ask(d->zones, act, cmd, why)) {
    case ZONE_REFUSED:
        return lib_fail(d, -EPERM, "%s", why);
    case ZONE_WAITS:
        return -EAGAIN;
    case ZONE_GOES:
        break;
    }
    err = ssd_submit(d->ssd, now_ns, cmd);
    if (err < 0) {
        return refused(d, r, err);
    }
    number = zoned_given(d->zones, act, cmd);
    if (number) {
        remember(d, cmd, number);
    }
    d->last_version += cmd->op == SSD_OP_WRITE;
    d->in_flight++;
    return 0;
}

LIB_EXPORT int vssd_get_zone(VssdDrive *d, uint64_t lba, VssdZone *zone)
{
    uint32_t i;
    ZoneInfo info;

    if (!d->zones) {
        return lib_fail(d, -ENOTSUP, "the drive has no zones");
    }
    i = zoned_at(d->zones, lba);
    if (i == zoned_count(d->zones)) {
        return lib_fail(d, -EINVAL, "lba=%" PRIu64 ": there is no such zone",
                        lba);
    }
    info = zoned_zone(d->zones, i);
    *zone = (VssdZone){info.start, info.written, info.state, 0};
    return 0;
}

static inline int submit(VssdDrive *d, uint64_t now_ns, const VssdRequest *r,
                         uint64_t tag)
{
    SsdCmd cmd = command(d, r, tag);
    int err;

    if (G_UNLIKELY(d->zones)) {
        return submit_to_zone(d, now_ns, r, &cmd);
    }
    err = ssd_submit(d->ssd, now_ns, &cmd);

    if (G_UNLIKELY(err < 0)) {
        return refused(d, r, err);
    }
    d->last_version += r->op == VSSD_WRITE;
    d->in_flight++;
    return 0;
}

LIB_EXPORT int vssd_submit(VssdDrive *d, uint64_t now_ns,
                           const VssdRequest *request, uint64_t tag)
{
    int r = lib_check_instant(d, now_ns);

    r = r ? r : check_request(d, request);
    r = r ? r : submit(d, now_ns, request, tag);
    d->used = d->used || r == 0;
    return r;
}

LIB_EXPORT int vssd_abort(VssdDrive *d, uint64_t now_ns, uint64_t tag)
{
    int r = lib_check_instant(d, now_ns);

    if (r < 0) {
        return r;
    }
    /* A write that had no effect would leave a gap in its zone. */
    return d->zones ? 0 : ssd_abort(d->ssd, now_ns, tag);
}

/* ---- arrays -------------------------------------------------------------- */

typedef struct Play {
    VssdDrive *d;
    const char *request;
    size_t request_bytes;
    size_t n;
    uint32_t depth;
    char *done; /* or NULL */
    size_t completion_bytes;
    size_t next;      /* request to be submitted */
    size_t completed; /* requests */
    uint64_t now_ns;
    int error;  /* nothing more is submitted */
    bool waits; /* for a zone: for the end of a command */
} Play;

static inline VssdRequest request_at(const Play *p, size_t i)
{
    VssdRequest r;

    memcpy(&r, p->request + i * p->request_bytes, sizeof(r));
    return r;
}

/* Blocks beyond the drive are refused later, with their request. */
static void hint(const Play *p, size_t i, bool soon)
{
    if (i < p->n) {
        uint64_t lba = request_at(p, i).lba;

        if (lba < ssd_info(p->d->ssd)->nblocks) {
            ssd_hint(p->d->ssd, lba, soon);
        }
    }
}

/* Submit what may start now. */
static void offer(Play *p)
{
    while (p->next < p->n && p->d->in_flight < p->depth && !p->error) {
        VssdRequest r = request_at(p, p->next);

        if (r.time_ns > p->now_ns) {
            return;
        }
        hint(p, p->next + AHEAD, false);
        hint(p, p->next + AHEAD / 2, true);
        p->error = check_request(p->d, &r);
        p->error = p->error ? p->error : submit(p->d, p->now_ns, &r, p->next);
        p->waits = p->error == -EAGAIN && p->d->zones;
        if (p->waits) {
            p->error = 0;
            return;
        }
        p->next += !p->error;
    }
}

static void collect(Play *p)
{
    SsdCompletion done[64];
    size_t n;

    do {
        n = ssd_advance(p->d->ssd, p->now_ns, done, G_N_ELEMENTS(done));
        for (size_t i = 0; i < n && (p->done || p->d->zones); i++) {
            store(p->d,
                  p->done ? p->done + done[i].tag * p->completion_bytes : NULL,
                  p->completion_bytes, &done[i]);
        }
        p->completed += n;
        p->d->in_flight -= n;
    } while (n == G_N_ELEMENTS(done));
}

/* When something can happen next. */
static uint64_t wake_ns(const Play *p)
{
    if (p->next < p->n && p->d->in_flight < p->depth && !p->error &&
        !p->waits) {
        return request_at(p, p->next).time_ns;
    }
    return MAX(ssd_wait(p->d->ssd, VSSD_TIME_MAX), p->now_ns);
}

static void run_all(Play *p)
{
    for (;;) {
        offer(p);
        if (p->d->in_flight == 0 && (p->next == p->n || p->error)) {
            return;
        }
        p->now_ns = wake_ns(p);
        if (p->now_ns > VSSD_TIME_MAX) {
            p->error = lib_fail(p->d, -ERANGE,
                                "modelled time ends after 212 "
                                "days");
            p->now_ns = VSSD_TIME_MAX;
            collect(p);
            return;
        }
        collect(p);
        lib_live_passed(p->d);
    }
}

static int check_play(VssdDrive *d, size_t request_bytes, const void *done,
                      size_t completion_bytes)
{
    if (request_bytes < REQUEST_LEAST) {
        return lib_fail(d, -EINVAL, "request_bytes=%zu: at least %zu",
                        request_bytes, (size_t)REQUEST_LEAST);
    }
    if (d->in_flight > 0) {
        return lib_fail(d, -EBUSY, "play: %" PRIu64 " commands are in flight",
                        d->in_flight);
    }
    return done ? check_completion_bytes(d, completion_bytes) : 0;
}

LIB_EXPORT int64_t vssd_play(VssdDrive *d, const void *requests,
                             size_t request_bytes, size_t n, uint32_t depth,
                             void *done, size_t completion_bytes)
{
    uint32_t most = ssd_info(d->ssd)->queue_depth;
    Play p = {
        .d = d,
        .request = requests,
        .request_bytes = request_bytes,
        .n = n,
        .depth = depth ? MIN(depth, most) : most,
        .done = done,
        .completion_bytes = completion_bytes,
        .now_ns = ssd_now_ns(d->ssd),
    };
    int r = check_play(d, request_bytes, done, completion_bytes);

    if (r < 0) {
        return r;
    }
    d->used = d->used || n > 0;
    g_clear_pointer(&d->message, g_free);
    run_all(&p);
    if (p.error) {
        g_autofree char *why = g_steal_pointer(&d->message);

        lib_fail(d, 0, "request %zu: %s", p.next, why ? why : "no room");
    }
    return (int64_t)p.completed;
}
