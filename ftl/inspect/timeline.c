/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline.c - take records of commands, operations and GC into a ring.
 *
 * Knows what is recorded, and the bounds: a window of time, and the memory of
 * the ring.  Does not know the format of the file (timeline-file.c).
 */
#include "filelock.h"
#include "inspect/timeline.h"
#include "buffer/buffer-internal.h"
#include "inspect/inspect.h"
#include "inspect/oplog.h"
#include "media/blocks.h"
#include "media/media-internal.h"
#include "ssd-internal.h"
#include "ssd-report.h"

#include <errno.h>
#include <string.h>

#define MIN_BYTES     (1ULL << 20)
#define MAX_BYTES     (16ULL << 30)
#define MOST_PS       (4800 * 3600 * NS_PER_S * PS_PER_NS)
#define FIRST_RECORDS 1024

struct Timeline {
    Ssd *ssd;
    FILE *file;
    FileLock *lock;
    char *path;
    SsdTimelineOptions options;
    uint64_t begin_ps;  /* of the drive's clock */
    uint64_t before_ns; /* passed before that: ssd_rebase() */
    TimelineRecord *record;
    size_t n_room;
    size_t most;
    uint64_t n_taken;                /* all; the ring has the last ones */
    GHashTable *victims;             /* block -> TimelineRecord, owned */
    uint64_t last[TIMELINE_N_KINDS]; /* of counters */
};

/* ---- the ring ------------------------------------------------------------ */

static uint64_t instant_ns(const Timeline *t, uint64_t ps)
{
    return ps < t->begin_ps ? 0 : t->before_ns + (ps - t->begin_ps) / PS_PER_NS;
}

static uint64_t now_ns(const Timeline *t)
{
    return instant_ns(t, t->ssd->now_ps);
}

static bool in_window(const Timeline *t, const TimelineRecord *r)
{
    const SsdTimelineOptions *o = &t->options;
    uint64_t from_ns = o->from_ps / PS_PER_NS;

    return r->to_ns >= from_ns &&
           (!o->for_ps || r->from_ns < from_ns + o->for_ps / PS_PER_NS);
}

static void take_record(Timeline *t, const TimelineRecord *r)
{
    if (!in_window(t, r)) {
        return;
    }
    if (t->n_taken == t->n_room && t->n_room < t->most) {
        t->n_room = MIN(t->n_room * 2, t->most);
        t->record = g_renew(TimelineRecord, t->record, t->n_room);
    }
    t->record[t->n_taken++ % t->n_room] = *r;
}

/* A counter, if its value is another one. */
static void take_value(Timeline *t, TimelineKind kind, uint64_t value)
{
    TimelineRecord r = {
        .from_ns = now_ns(t),
        .to_ns = now_ns(t),
        .value = value,
        .id = t->n_taken, /* the order of what happens at one instant */
        .kind = (uint8_t)kind,
    };

    if (t->last[kind] != value) {
        t->last[kind] = value;
        take_record(t, &r);
    }
}

/* ---- commands ------------------------------------------------------------ */

void timeline_cmd(Timeline *t, const Cmd *c)
{
    const SsdTimelineOptions *o = &t->options;
    TimelineRecord r = {
        .from_ns = instant_ns(t, c->submit_ps),
        .to_ns = now_ns(t),
        .value = c->req.lba,
        .serial = c->serial,
        .number = c->req.nblocks,
        .track = o->queue_of ? o->queue_of(o->opaque, c->req.tag) : 0,
        .kind = TIMELINE_QUEUE,
        .name = (uint8_t)(TIMELINE_NAME_READ + c->req.op),
        .category = NAND_CAUSE_HOST,
        .status = c->status,
    };

    G_STATIC_ASSERT(TIMELINE_NAME_SHUTDOWN - TIMELINE_NAME_READ ==
                    SSD_OP_SHUTDOWN);
    for (unsigned i = 0; i < N_COSTS; i++) {
        r.cost_ns[i] = (uint32_t)MIN(c->cost_ps[i] / PS_PER_NS, UINT32_MAX);
    }
    take_record(t, &r);
    take_value(t, TIMELINE_BUFFER, t->ssd->buffer->n_unsafe);
}

/* ---- the array ----------------------------------------------------------- */

static void take_levels(Timeline *t)
{
    take_value(t, TIMELINE_FREE, numbers_free_blocks(t->ssd));
    take_value(t, TIMELINE_BUFFER, t->ssd->buffer->n_unsafe);
}

static void op_submitted(void *opaque, const NandOp *op, uint64_t now_ps)
{
    if (op->kind != NAND_READ) {
        take_levels(opaque);
    }
}

static TimelineKind kind_of(NandSpan span)
{
    switch (span) {
    case NAND_SPAN_IN:
    case NAND_SPAN_STATUS:
    case NAND_SPAN_OUT:
        return TIMELINE_CHANNEL;
    case NAND_SPAN_ECC:
        return TIMELINE_DECODER;
    default:
        return TIMELINE_PLANE;
    }
}

static TimelineName name_of(const NandOp *op, NandSpan span)
{
    static const uint8_t of_span[] = {
        [NAND_SPAN_IN] = TIMELINE_NAME_IN,
        [NAND_SPAN_STATUS] = TIMELINE_NAME_STATUS,
        [NAND_SPAN_OUT] = TIMELINE_NAME_OUT,
        [NAND_SPAN_GAP] = TIMELINE_NAME_GAP,
        [NAND_SPAN_SUSPEND] = TIMELINE_NAME_SUSPEND,
        [NAND_SPAN_ECC] = TIMELINE_NAME_DECODE,
    };

    G_STATIC_ASSERT(TIMELINE_NAME_NAND_COPYBACK - TIMELINE_NAME_NAND_READ ==
                    NAND_COPYBACK);
    return span == NAND_SPAN_CELL ? TIMELINE_NAME_NAND_READ + op->kind
                                  : of_span[span];
}

static void op_span(void *opaque, const NandOp *op, NandSpan span,
                    uint64_t from_ps, uint64_t now_ps)
{
    Timeline *t = opaque;
    TimelineKind kind = kind_of(span);
    TimelineRecord r = {
        .from_ns = instant_ns(t, from_ps),
        .to_ns = instant_ns(t, now_ps),
        .value = nand_page_in_block(t->ssd->geo, op->ppa.page),
        .serial = oplog_owner(t->ssd, op),
        .id = op->id,
        .number = op->block,
        .track = kind == TIMELINE_PLANE ? op->plane : op->channel,
        .kind = (uint8_t)kind,
        .name = (uint8_t)name_of(op, span),
        .category = (uint8_t)op->cause,
    };

    take_record(t, &r);
}

static void end_victim(Timeline *t, uint32_t block)
{
    gpointer key = GUINT_TO_POINTER(block);
    TimelineRecord *r = g_hash_table_lookup(t->victims, key);

    if (r) {
        r->to_ns = now_ns(t);
        if (r->from_ns <= r->to_ns) { /* else an earlier state was loaded */
            take_record(t, r);
        }
        g_hash_table_remove(t->victims, key);
    }
}

static void op_ended(void *opaque, const NandOp *op, uint64_t now_ps)
{
    if (op->kind == NAND_ERASE) {
        end_victim(opaque, op->block);
    }
}

static const NandWatch watch = {
    .submit = op_submitted,
    .span = op_span,
    .done = op_ended,
};

/* ---- GC and power -------------------------------------------------------- */

void timeline_victim(Timeline *t, uint32_t block, NandCause cause)
{
    TimelineRecord *r = g_new0(TimelineRecord, 1);

    r->from_ns = now_ns(t);
    r->value = block_valid(t->ssd, block);
    r->number = block;
    r->track = nand_block_plane(t->ssd->geo, block);
    r->kind = TIMELINE_GC;
    r->name = TIMELINE_NAME_BLOCK;
    r->category = (uint8_t)cause;
    g_hash_table_insert(t->victims, GUINT_TO_POINTER(block), r);
}

void timeline_power(Timeline *t, bool on)
{
    TimelineRecord r = {
        .from_ns = now_ns(t),
        .to_ns = now_ns(t),
        .kind = TIMELINE_POWER,
        .name = on ? TIMELINE_NAME_POWER_ON : TIMELINE_NAME_POWER_CUT,
    };

    g_hash_table_remove_all(t->victims); /* they are chosen again */
    take_record(t, &r);
}

void timeline_rebase(Timeline *t, uint64_t by_ps)
{
    if (by_ps > t->begin_ps) {
        t->before_ns += (by_ps - t->begin_ps) / PS_PER_NS;
        t->begin_ps = 0;
    } else {
        t->begin_ps -= by_ps;
    }
}

/* ---- begin and end ------------------------------------------------------- */

#define ROW(...) OPT_ROW(SsdTimelineOptions, __VA_ARGS__)

const OptDesc ssd_timeline_options[SSD_TIMELINE_OPTIONS] = {
    /* clang-format off */
    ROW(TIME, uint64_t, from_ps, "timeline_from", 0, MOST_PS, "0", NULL,
        "the window of the timeline begins after this modelled time")
    ROW(TIME, uint64_t, for_ps, "timeline_for", 0, MOST_PS, "0", NULL,
        "the window is so long; 0: to the end")
    ROW(SIZE, uint64_t, bytes, "timeline_size", MIN_BYTES, MAX_BYTES, "64MiB",
        NULL, "memory for events; the newest ones are kept")
    /* clang-format on */
};

static bool cannot(const char *path, int err, GError **error)
{
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(err),
                "timeline %s: %s", path, g_strerror(err));
    return false;
}

bool ssd_timeline_open(Ssd *ssd, const char *path,
                       const SsdTimelineOptions *options, GError **error)
{
    FileLock *lock;
    Timeline *t;
    FILE *file;

    invariant(!ssd->inspect.timeline);
    if (ssd->inspect.log) {
        return opt_fail(error, OPT_ERROR_COMBINATION,
                        "timeline %s: not together with an operation log",
                        path);
    }
    file = filelock_open(path, &lock, error);
    if (!file) {
        g_prefix_error(error, "timeline ");
        return false;
    }
    t = g_new0(Timeline, 1);
    t->ssd = ssd;
    t->file = file;
    t->lock = lock;
    t->path = g_strdup(path);
    t->options = *options;
    t->begin_ps = ssd->now_ps;
    t->most = options->bytes / sizeof(TimelineRecord);
    t->n_room = FIRST_RECORDS;
    t->record = g_new(TimelineRecord, t->n_room);
    t->victims = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    memset(t->last, 0xff, sizeof(t->last));
    ssd->inspect.timeline = t;
    nand_watch(ssd->nand, &watch, t);
    return true;
}

static void timeline_free(Timeline *t)
{
    filelock_release(t->lock);
    g_hash_table_destroy(t->victims);
    g_free(t->record);
    g_free(t->path);
    g_free(t);
}

/* Say how many events the ring has not kept, in place of the oldest. */
static size_t kept(Timeline *t)
{
    size_t n = (size_t)MIN(t->n_taken, t->most);
    TimelineRecord *oldest = &t->record[t->n_taken % t->n_room];

    if (t->n_taken > t->most) {
        *oldest = (TimelineRecord){
            .from_ns = oldest->to_ns,
            .to_ns = oldest->to_ns,
            .value = t->n_taken - t->most + 1,
            .kind = TIMELINE_LOSS,
            .name = TIMELINE_NAME_DROPPED,
        };
    }
    return n;
}

bool ssd_timeline_close(Ssd *ssd, GError **error)
{
    Timeline *t = ssd->inspect.timeline;
    bool failed;
    int err;

    if (!t) {
        return true;
    }
    take_levels(t);
    nand_watch(ssd->nand, NULL, NULL);
    ssd->inspect.timeline = NULL;
    errno = 0;
    timeline_write(t->file, t->record, kept(t), ssd->geo->planes_per_die);
    failed = ferror(t->file);
    err = errno;
    if (fclose(t->file) != 0) {
        failed = true;
        err = errno;
    }
    if (failed) {
        cannot(t->path, err, error);
    }
    timeline_free(t);
    return !failed;
}
