/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-blk.c - traces of blktrace: blkparse's text, and the binary.
 *
 * blkparse(1), default output: device, CPU, sequence, seconds, process,
 * action, kind (RWBS), sector + sectors [process].  The binary record is struct
 * blk_io_trace of the kernel's interface (<linux/blktrace_api.h>), of either
 * byte order; records of several CPUs must have been merged (blkparse -d).
 *
 * One request passes through many actions; the one that counts is D (sent to
 * the device) where there is any, else Q (queued); --action names another.
 */
#include <string.h>

#include "fields.h"
#include "simtime.h"
#include "trace.h"

/* ---- text ---------------------------------------------------------------- */

/* "8,16" as one number. */
static bool take_device(const char **s, uint64_t *device)
{
    uint64_t major, minor;

    field_space(s);
    if (!field_u64(s, &major) || !field_char(s, ',') ||
        !field_u64(s, &minor) || major >= 1 << 12 || minor >= 1 << 20) {
        return false;
    }
    *device = major << 20 | minor;
    return true;
}

/* Device, CPU, sequence, time, process, action. */
static bool take_head(const char **s, TraceRecord *out, char *action)
{
    uint64_t ignored;

    if (!take_device(s, &out->device) || !field_space(s) ||
        !field_u64(s, &ignored) || !field_space(s) ||
        !field_u64(s, &ignored) || !field_space(s) ||
        !field_time(s, NS_PER_S, &out->at_ns) || !field_space(s) ||
        !field_u64(s, &ignored) || !field_space(s)) {
        return false;
    }
    *action = **s;
    *s = field_word_end(*s);
    return field_space(s);
}

/*
 * RWBS: an F before the data's letter is a flush, one behind it FUA; D is a
 * discard.  false: no data and no flush (N, say).
 */
static bool take_kind(const char **s, TraceRecord *out, bool *flush)
{
    bool data = false;

    *flush = false;
    for (; **s && **s != ' '; (*s)++) {
        switch (**s) {
        case 'F':
            *(data ? &out->fua : flush) = true;
            break;
        case 'R':
        case 'W':
        case 'D':
            data = true;
            op_from_text(*s, 1, &out->op);
            break;
        }
    }
    return data || *flush;
}

typedef struct BlkparseState {
    char action; /* which one is a request: D, Q or C */
    bool headed; /* a line with a request's head has been read */
} BlkparseState;

static const char *blkparse_parse(void *opaque, const char *line,
                                  TraceRecord *out)
{
    BlkparseState *state = opaque;
    const char *s = line;
    char action;
    uint64_t sector, nsectors;
    bool flush;

    if (!take_head(&s, out, &action)) {
        return state->headed ? trace_skip /* the summary at the end */
                             : "not: device cpu sequence seconds pid action";
    }
    state->headed = true;
    if (action != state->action || !take_kind(&s, out, &flush)) {
        return trace_skip;
    }
    if (!field_space(&s) || !field_u64(&s, &sector) || !field_space(&s) ||
        !field_char(&s, '+') || !field_space(&s) || !field_u64(&s, &nsectors)) {
        if (!flush) {
            return "not: sector + sectors";
        }
        nsectors = 0;
        sector = 0;
    }
    if (nsectors == 0) {
        out->op = SSD_OP_FLUSH;
        return flush ? NULL : trace_skip;
    }
    if (sector > UINT64_MAX / TRACE_SECTOR_BYTES ||
        nsectors > UINT32_MAX / TRACE_SECTOR_BYTES) {
        return "sector or sectors are too large";
    }
    out->offset = sector * TRACE_SECTOR_BYTES;
    out->nbytes = nsectors * TRACE_SECTOR_BYTES;
    return NULL;
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
        char action;

        if (take_head(&s, &rec, &action) && action == 'D') {
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
    .state_bytes = sizeof(BlkparseState),
    .parse = blkparse_parse,
    .begin = blkparse_begin,
};

/* ---- binary -------------------------------------------------------------- */

#define BLK_MAGIC   0x65617400U /* version in the low byte */
#define BLK_VERSION 7

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

/* Actions, and bits of the categories (shifted down by 16). */
enum { BLK_QUEUE = 1, BLK_ISSUE = 7, BLK_COMPLETE = 8 };
enum {
    BLK_WRITE = 1 << 1,
    BLK_FLUSH = 1 << 2,
    BLK_NOTIFY = 1 << 10,
    BLK_DISCARD = 1 << 13,
    BLK_FUA = 1 << 15,
};

static void swap_record(BlkRecord *r)
{
    r->magic = GUINT32_SWAP_LE_BE(r->magic);
    r->time_ns = GUINT64_SWAP_LE_BE(r->time_ns);
    r->sector = GUINT64_SWAP_LE_BE(r->sector);
    r->nbytes = GUINT32_SWAP_LE_BE(r->nbytes);
    r->action = GUINT32_SWAP_LE_BE(r->action);
    r->device = GUINT32_SWAP_LE_BE(r->device);
    r->n_more = GUINT16_SWAP_LE_BE(r->n_more);
}

typedef struct BlktraceState {
    char action;  /* which one is a request: D, Q or C */
    bool swapped; /* of the other byte order */
} BlktraceState;

static uint32_t wanted_action(const BlktraceState *state)
{
    return state->action == 'Q'   ? BLK_QUEUE
           : state->action == 'C' ? BLK_COMPLETE
                                  : BLK_ISSUE;
}

static const char *blk_request(const BlktraceState *state, const BlkRecord *r,
                               TraceRecord *out)
{
    uint32_t is = r->action >> 16;

    if ((is & BLK_NOTIFY) || (r->action & 0xffff) != wanted_action(state)) {
        return trace_skip;
    }
    out->at_ns = r->time_ns;
    out->device = r->device;
    if (r->nbytes == 0) {
        out->op = SSD_OP_FLUSH;
        return is & BLK_FLUSH ? NULL : trace_skip;
    }
    if (r->sector > UINT64_MAX / TRACE_SECTOR_BYTES) {
        return "the sector is too large";
    }
    out->op = is & BLK_DISCARD ? SSD_OP_TRIM
              : is & BLK_WRITE ? SSD_OP_WRITE
                               : SSD_OP_READ;
    out->fua = is & BLK_FUA;
    out->offset = r->sector * TRACE_SECTOR_BYTES;
    out->nbytes = r->nbytes;
    return NULL;
}

static InputRead blktrace_read(void *opaque, Input *in, TraceRecord *out,
                               const char **reason, GError **error)
{
    BlktraceState *state = opaque;
    BlkRecord r;
    InputRead got = input_bytes(in, &r, sizeof(r), error);

    if (got == INPUT_OK) {
        if (state->swapped) {
            swap_record(&r);
        }
        if (r.magic != (BLK_MAGIC | BLK_VERSION)) {
            *reason = "record without blktrace's magic number, version 7";
            return INPUT_BAD;
        }
        *reason = blk_request(state, &r, out);
        got = r.n_more ? input_bytes(in, NULL, r.n_more, error) : INPUT_OK;
        got = got == INPUT_END ? INPUT_BAD : got;
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

static void blktrace_begin(void *opaque, const TraceOptions *o,
                           const char *head, size_t n)
{
    BlktraceState *state = opaque;

    state->swapped = !is_magic(first_word(head, n));
    state->action = o->action ? o->action : 'Q';
    if (o->action) {
        return;
    }
    for (size_t at = 0; at + sizeof(BlkRecord) <= n;) {
        BlkRecord r;

        memcpy(&r, head + at, sizeof(r));
        if (state->swapped) {
            swap_record(&r);
        }
        if ((r.action & 0xffff) == BLK_ISSUE &&
            !(r.action >> 16 & BLK_NOTIFY)) {
            state->action = 'D';
            return;
        }
        at += sizeof(r) + r.n_more;
    }
}

const TraceFormat trace_blktrace = {
    .name = "blktrace",
    .help = "blktrace's binary records (blkparse -d merges those of the CPUs)",
    .uses = TRACE_USES_ACTION,
    .state_bytes = sizeof(BlktraceState),
    .read = blktrace_read,
    .detect = blktrace_detect,
    .begin = blktrace_begin,
};
