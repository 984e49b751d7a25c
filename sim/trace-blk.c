/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-blk.c - traces of blktrace: blkparse's text, and the binary.
 *
 * blkparse(1), default output: device, CPU, sequence, seconds, process,
 * action, kind (RWBS), sector + sectors [process].  The binary record is struct
 * blk_io_trace of the kernel's interface (<linux/blktrace_api.h>), of either
 * byte order; records of several CPUs must have been merged (blkparse -d).
 * Tables name every action, category and letter: what is no request of the
 * device is left out and counted.
 *
 * One request passes through many actions; the one that counts is D (sent to
 * the device) where there is any, else Q (queued); --action names another.
 */
#include <string.h>

#include "blk-kind.h"
#include "fields.h"
#include "simtime.h"

/* Every action of the two forms: 0 in text, or in the binary, is of the other
 * alone.  Those of stages follow one request on its way. */
static const struct {
    uint16_t number;
    char text[3];
    TraceLeft left; /* if it is not the action that counts */
} actions[] = {
    {1, "Q", TRACE_LEFT_STAGES}, /* queued */
    {2, "M", TRACE_LEFT_STAGES}, /* merged behind another request */
    {3, "F", TRACE_LEFT_STAGES}, /* merged before it */
    {4, "G", TRACE_LEFT_STAGES}, /* allocated */
    {5, "S", TRACE_LEFT_STAGES}, /* waits for that */
    {6, "R", TRACE_LEFT_STAGES}, /* queued again */
    {7, "D", TRACE_LEFT_STAGES}, /* sent to the device */
    {8, "C", TRACE_LEFT_STAGES}, /* completed */
    {9, "P", TRACE_LEFT_NOTES},  /* the queue is plugged, unplugged */
    {10, "U", TRACE_LEFT_NOTES},
    {11, "UT", TRACE_LEFT_NOTES},  /* unplugged by the timer */
    {0, "T", TRACE_LEFT_NOTES},    /* the same, of old versions */
    {12, "I", TRACE_LEFT_STAGES},  /* inserted */
    {13, "X", TRACE_LEFT_STAGES},  /* split */
    {14, "B", TRACE_LEFT_STAGES},  /* bounced */
    {15, "A", TRACE_LEFT_STAGES},  /* remapped */
    {16, "a", TRACE_LEFT_STAGES},  /* aborted */
    {17, "d", TRACE_LEFT_NOTES},   /* data of a driver */
    {18, "ZP", TRACE_LEFT_STAGES}, /* a write waits for its zone */
    {19, "ZU", TRACE_LEFT_STAGES}, /* the zone is free for it */
    {20, "ZM", TRACE_LEFT_ZONES},  /* zone management */
    {0, "m", TRACE_LEFT_NOTES},    /* a message */
};

#define BLK_CGROUP 0x100 /* added to a number: 8 bytes of a cgroup follow */

static TraceLeft left_of_number(uint32_t number)
{
    for (size_t i = 0; number && i < G_N_ELEMENTS(actions); i++) {
        if (actions[i].number == number) {
            return actions[i].left;
        }
    }
    return TRACE_LEFT_UNKNOWN;
}

static TraceLeft left_of_text(const char *text, size_t n)
{
    for (size_t i = 0; i < G_N_ELEMENTS(actions); i++) {
        if (strlen(actions[i].text) == n &&
            memcmp(actions[i].text, text, n) == 0) {
            return actions[i].left;
        }
    }
    return TRACE_LEFT_UNKNOWN;
}

/* ---- text ---------------------------------------------------------------- */

/* A word of the line. */
typedef struct Action {
    const char *text;
    size_t n;
} Action;

static bool is_action(const Action *action, char letter)
{
    return action->n == 1 && action->text[0] == letter;
}

/* Device, CPU, sequence, time, process, action. */
static bool take_head(const char **s, TraceRecord *out, Action *action)
{
    uint64_t ignored;

    if (!blk_device(s, &out->device) || !field_space(s) ||
        !field_u64(s, &ignored) || !field_space(s) || !field_u64(s, &ignored) ||
        !field_space(s) || !field_time(s, NS_PER_S, &out->at_ns) ||
        !field_space(s) || !field_u64(s, &ignored) || !field_space(s)) {
        return false;
    }
    action->text = *s;
    *s = field_word_end(*s);
    action->n = (size_t)(*s - action->text);
    return field_space(s);
}

typedef struct BlkparseState {
    char action; /* which one is a request: D, Q or C */
    bool headed; /* a line with a request's head has been read */
    BlkRequeued requeued;
} BlkparseState;

/*
 * Behind RWBS: "sector + sectors"; without sectors nothing, at the end of a
 * request "sector"; of a command that is bytes "bytes (12 00 ...)" or
 * "(12 00 ...)", or "bytes" if none were recorded.
 */
static const char *take_range(const char **s, char action, BlkRequest *is,
                              uint64_t *sector, uint64_t *nsectors)
{
    bool number;

    field_space(s);
    *nsectors = 0;
    number = field_u64(s, sector);
    field_space(s);
    if (number && field_char(s, '+')) {
        field_space(s);
        return field_u64(s, nsectors) ? NULL : "not: sector + sectors";
    }
    if (**s == '(' || (number && action != 'C' && !is->flush)) {
        is->kind = BLK_LEFT_COMMANDS;
    } else if (**s != '[' && **s != '\0') {
        return "not: sector + sectors";
    }
    return NULL;
}

static const char *blkparse_parse(void *opaque, const char *line,
                                  TraceRecord *out)
{
    BlkparseState *state = opaque;
    const char *s = line;
    const char *fault;
    Action action;
    BlkRequest is;
    uint64_t sector = 0;
    uint64_t nsectors;
    bool again;

    if (!take_head(&s, out, &action)) {
        return state->headed ? trace_skip /* the summary at the end */
                             : "not: device cpu sequence seconds pid action";
    }
    state->headed = true;
    again = state->action == 'D' && is_action(&action, 'R');
    if (!again && !is_action(&action, state->action)) {
        return blk_leave(out, left_of_text(action.text, action.n));
    }
    is = blk_kind(&s);
    if (is.kind == BLK_LEFT_UNKNOWN) {
        return blk_leave(out, TRACE_LEFT_UNKNOWN);
    }
    fault = take_range(&s, state->action, &is, &sector, &nsectors);
    if (fault) {
        return again ? blk_leave(out, TRACE_LEFT_STAGES) : fault;
    }
    nsectors = MIN(nsectors, UINT64_MAX / TRACE_SECTOR_BYTES);
    if (again) {
        blk_requeue(&state->requeued, out->device, sector, nsectors);
        return blk_leave(out, TRACE_LEFT_STAGES);
    }
    if (blk_sent_again(&state->requeued, out->device, sector, nsectors)) {
        return blk_leave(out, TRACE_LEFT_STAGES);
    }
    return blk_to_record(&is, sector, nsectors * TRACE_SECTOR_BYTES, out);
}

/* Is there a D in the head? */
static void blkparse_begin(void *opaque, const TraceOptions *o,
                           const char *head, size_t n)
{
    BlkparseState *state = opaque;
    g_auto(GStrv) lines = NULL;

    state->action = o->action ? o->action : 'Q';
    if (o->action) {
        return;
    }
    lines = g_strsplit(head, "\n", -1);
    for (unsigned i = 0; lines[i]; i++) {
        g_autofree char *line = field_line(lines[i]);
        const char *s = line;
        TraceRecord rec;
        Action action;

        if (take_head(&s, &rec, &action) && is_action(&action, 'D')) {
            state->action = 'D';
            break;
        }
    }
}

const TraceFormat trace_blkparse = {
    .name = "blkparse",
    .help = "blkparse's text: device cpu sequence seconds pid action RWBS "
            "sector + sectors",
    .uses = TRACE_USES_ACTION,
    .kernel_devices = true,
    .state_bytes = sizeof(BlkparseState),
    .parse = blkparse_parse,
    .begin = blkparse_begin,
    .units = {NS_PER_S, TRACE_SECTOR_BYTES, TRACE_SECTOR_BYTES},
};

/* ---- binary -------------------------------------------------------------- */

#define BLK_MAGIC 0x65617400U /* version in the low byte */

enum { BLK_VERSION_1 = 7, BLK_VERSION_2 = 8 };

/* struct blk_io_trace, version 7. */
typedef struct BlkRecord {
    uint32_t magic;
    uint32_t sequence;
    uint64_t time_ns;
    uint64_t sector;
    uint32_t nbytes;
    uint32_t action; /* the action in the low half, categories above */
    uint32_t pid;
    uint32_t device;
    uint32_t cpu;
    uint16_t error;
    uint16_t n_more; /* bytes that follow */
} BlkRecord;

G_STATIC_ASSERT(sizeof(BlkRecord) == 48);

/* struct blk_io_trace2, version 8: behind the same first members. */
typedef struct BlkRest2 {
    uint32_t pid;
    uint64_t action;
    uint32_t device;
    uint32_t cpu;
    uint16_t error;
    uint16_t n_more;
    uint8_t unused[12];
} __attribute__((packed)) BlkRest2;

#define BLK_HEAD_BYTES offsetof(BlkRecord, action)

G_STATIC_ASSERT(BLK_HEAD_BYTES + sizeof(BlkRest2) == 64);

/* The parts of a record of either version that count. */
typedef struct BlkFields {
    uint64_t time_ns;
    uint64_t sector;
    uint32_t nbytes;
    uint32_t device;
    uint32_t cpu;
    uint16_t n_more;
    uint16_t number; /* of the action, without BLK_CGROUP */
    uint64_t is;     /* categories, as bits */
} BlkFields;

enum { BLK_QUEUE = 1, BLK_REQUEUE = 6, BLK_ISSUE = 7, BLK_COMPLETE = 8 };

/* Categories, as bits.  The others say how urgent a request is, or repeat the
 * action: SYNC 3, QUEUE 4, REQUEUE 5, ISSUE 6, COMPLETE 7, FS 8, AHEAD 11, META
 * 12, DRV_DATA 14. */
enum {
    BLK_FLUSH = 1 << 2,
    BLK_NOTIFY = 1 << 10,
    BLK_FUA = 1 << 15,
};

/* Those that say what a request is, the decisive one first. */
static const struct {
    uint32_t bit;
    BlkKind kind;
} categories[] = {
    {1 << 9, BLK_LEFT_COMMANDS}, /* PC: the command is bytes */
    {1 << 16, BLK_WRITES},       /* ZONE_APPEND; from here version 8 */
    {1 << 17, BLK_TRIM},         /* ZONE_RESET */
    {1 << 18, BLK_LEFT_ZONES},   /* ZONE_RESET_ALL */
    {1 << 19, BLK_LEFT_ZONES},   /* ZONE_FINISH */
    {1 << 20, BLK_LEFT_ZONES},   /* ZONE_OPEN */
    {1 << 21, BLK_LEFT_ZONES},   /* ZONE_CLOSE */
    {1 << 22, BLK_TRIM},         /* WRITE_ZEROES */
    {1 << 13, BLK_TRIM},         /* DISCARD */
    {1 << 1, BLK_WRITES},        /* WRITE */
    {1 << 0, BLK_READS},         /* READ */
    {1 << 2, BLK_FLUSHES},       /* FLUSH alone */
};

static uint16_t order16(uint16_t v, bool swapped)
{
    return swapped ? GUINT16_SWAP_LE_BE(v) : v;
}

static uint32_t order32(uint32_t v, bool swapped)
{
    return swapped ? GUINT32_SWAP_LE_BE(v) : v;
}

static uint64_t order64(uint64_t v, bool swapped)
{
    return swapped ? GUINT64_SWAP_LE_BE(v) : v;
}

static unsigned version_of(const BlkRecord *r, bool swapped)
{
    uint32_t magic = order32(r->magic, swapped);

    return (magic & ~0xffU) == BLK_MAGIC ? magic & 0xff : 0;
}

static size_t record_bytes(unsigned version)
{
    return version == BLK_VERSION_2 ? BLK_HEAD_BYTES + sizeof(BlkRest2)
                                    : sizeof(BlkRecord);
}

/* bytes: record_bytes() of them. */
static BlkFields fields_of(const uint8_t *bytes, unsigned version, bool swapped)
{
    BlkRecord r;
    BlkFields f;
    uint64_t action;

    memcpy(&r, bytes, sizeof(r));
    f = (BlkFields){
        .time_ns = order64(r.time_ns, swapped),
        .sector = order64(r.sector, swapped),
        .nbytes = order32(r.nbytes, swapped),
    };
    if (version == BLK_VERSION_2) {
        BlkRest2 rest;

        memcpy(&rest, bytes + BLK_HEAD_BYTES, sizeof(rest));
        action = order64(rest.action, swapped);
        f.device = order32(rest.device, swapped);
        f.cpu = order32(rest.cpu, swapped);
        f.n_more = order16(rest.n_more, swapped);
    } else {
        action = order32(r.action, swapped);
        f.device = order32(r.device, swapped);
        f.cpu = order32(r.cpu, swapped);
        f.n_more = order16(r.n_more, swapped);
    }
    f.number = action & 0xffff & ~BLK_CGROUP;
    f.is = action >> 16;
    return f;
}

typedef struct BlktraceState {
    char action;  /* which one is a request: D, Q or C */
    bool swapped; /* of the other byte order */
    BlkRequeued requeued;
} BlktraceState;

static uint32_t wanted_action(const BlktraceState *state)
{
    return state->action == 'Q'   ? BLK_QUEUE
           : state->action == 'C' ? BLK_COMPLETE
                                  : BLK_ISSUE;
}

static const char *blk_request(BlktraceState *state, const BlkFields *f,
                               TraceRecord *out)
{
    BlkRequest is = {.kind = BLK_LEFT_UNKNOWN,
                     .flush = f->is & BLK_FLUSH,
                     .fua = f->is & BLK_FUA};

    out->at_ns = f->time_ns;
    out->device = f->device;
    if (f->is & BLK_NOTIFY) {
        return blk_leave(out, TRACE_LEFT_NOTES);
    }
    if (f->number == BLK_REQUEUE && state->action == 'D') {
        blk_requeue(&state->requeued, f->device, f->sector, f->nbytes);
    }
    if (f->number != wanted_action(state)) {
        return blk_leave(out, left_of_number(f->number));
    }
    if (blk_sent_again(&state->requeued, f->device, f->sector, f->nbytes)) {
        return blk_leave(out, TRACE_LEFT_STAGES);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(categories); i++) {
        if (f->is & categories[i].bit) {
            is.kind = categories[i].kind;
            break;
        }
    }
    return blk_to_record(&is, f->sector, f->nbytes, out);
}

/* A record of either version.  INPUT_BAD with *reason. */
static InputRead read_fields(const BlktraceState *state, Input *in,
                             BlkFields *f, const char **reason, GError **error)
{
    uint8_t bytes[BLK_HEAD_BYTES + sizeof(BlkRest2)];
    BlkRecord r;
    InputRead got = input_bytes(in, bytes, sizeof(r), error);
    unsigned version;

    if (got != INPUT_OK) {
        return got;
    }
    memcpy(&r, bytes, sizeof(r));
    version = version_of(&r, state->swapped);
    if (version != BLK_VERSION_1 && version != BLK_VERSION_2) {
        *reason = "record without blktrace's magic number, version 7 or 8";
        return INPUT_BAD;
    }
    if (record_bytes(version) > sizeof(r)) {
        got = input_bytes(in, bytes + sizeof(r),
                          record_bytes(version) - sizeof(r), error);
    }
    if (got == INPUT_OK) {
        *f = fields_of(bytes, version, state->swapped);
    }
    return got == INPUT_END ? INPUT_BAD : got;
}

static InputRead blktrace_read(void *opaque, Input *in, TraceRecord *out,
                               const char **reason, GError **error)
{
    BlktraceState *state = opaque;
    BlkFields f;
    InputRead got = read_fields(state, in, &f, reason, error);

    if (got == INPUT_OK) {
        *reason = blk_request(state, &f, out);
        got = f.n_more ? input_bytes(in, NULL, f.n_more, error) : INPUT_OK;
        got = got == INPUT_END ? INPUT_BAD : got;
    } else if (got == INPUT_BAD && *reason) {
        return got;
    }
    if (got == INPUT_BAD) {
        *reason = "the file ends within a record";
    }
    return got;
}

static uint32_t first_word(const char *head, size_t n)
{
    uint32_t word = 0;

    if (n >= sizeof(word)) {
        memcpy(&word, head, sizeof(word));
    }
    return word;
}

static bool is_magic(uint32_t word)
{
    return (word & ~0xffU) == BLK_MAGIC;
}

static bool blktrace_detect(const char *head, size_t n)
{
    uint32_t word = first_word(head, n);

    return is_magic(word) || is_magic(GUINT32_SWAP_LE_BE(word));
}

/* The record at *at of the head, and *at of the next; false: no whole one. */
static bool head_fields(const char *head, size_t n, bool swapped, size_t *at,
                        BlkFields *f)
{
    BlkRecord r;
    unsigned version;

    if (*at > n || n - *at < sizeof(r)) {
        return false;
    }
    memcpy(&r, head + *at, sizeof(r));
    version = version_of(&r, swapped);
    if (n - *at < record_bytes(version)) {
        return false;
    }
    *f = fields_of((const uint8_t *)head + *at, version, swapped);
    *at += record_bytes(version) + f->n_more;
    return true;
}

static void blktrace_origin(const char *head, size_t n, TraceOrigin *out)
{
    bool swapped = !is_magic(first_word(head, n));
    BlkFields f;

    out->action = 'Q';
    for (size_t at = 0; head_fields(head, n, swapped, &at, &f);) {
        if (f.is & BLK_NOTIFY) {
            continue; /* of any CPU */
        }
        if (!out->device) {
            out->of_one_cpu = true;
            out->cpu = f.cpu;
            out->device = f.device;
        }
        out->of_one_cpu &= f.cpu == out->cpu;
        if (f.number == BLK_ISSUE) {
            out->action = 'D';
        }
    }
}

static void blktrace_begin(void *opaque, const TraceOptions *o,
                           const char *head, size_t n)
{
    BlktraceState *state = opaque;
    TraceOrigin origin = {0};

    state->swapped = !is_magic(first_word(head, n));
    blktrace_origin(head, n, &origin);
    state->action = o->action ? o->action : origin.action;
}

const TraceFormat trace_blktrace = {
    .name = "blktrace",
    .help = "blktrace's binary records (blkparse -d merges those of the CPUs)",
    .uses = TRACE_USES_ACTION,
    .kernel_devices = true,
    .state_bytes = sizeof(BlktraceState),
    .read = blktrace_read,
    .detect = blktrace_detect,
    .begin = blktrace_begin,
    .origin = blktrace_origin,
    .units = {1, TRACE_SECTOR_BYTES, 1},
};
