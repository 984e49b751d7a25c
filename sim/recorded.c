/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorded.c - from the bytes of a trace of the project's own to records.
 *
 * The file may be forged: each number is checked before use.
 */
#include "recorded.h"

#include <string.h>

#include "request.h"
#include "signature.h"
#include "simtime.h"
#include "ssd-setup.h"
#include "ssd-window.h"

/* The options of a drive take a few KiB. */
#define MAX_TEXT_BYTES (1 << 20)

#define MAX_BLOCKS (1ULL << 53) /* 2^62 bytes of 512 */

/* The model's own clock ends some days later (SIM_MAX_NS). */
#define MAX_NS (200ULL * 24 * 3600 * NS_PER_S)

static const char cut_off[] = "the file ends within a record";

/* ---- numbers ------------------------------------------------------------- */

/* The bytes of one record, with the first thing that went wrong. */
typedef struct Reading {
    Input *in;
    GError **error;
    InputRead result; /* INPUT_OK so far */
    const char *reason;
} Reading;

static void bad(Reading *rd, const char *reason)
{
    if (rd->result == INPUT_OK) {
        rd->result = INPUT_BAD;
        rd->reason = reason;
    }
}

static uint8_t take_byte(Reading *rd)
{
    uint8_t byte = 0;
    InputRead r;

    if (rd->result != INPUT_OK) {
        return 0;
    }
    r = input_bytes(rd->in, &byte, 1, rd->error);
    if (r == INPUT_ERROR) {
        rd->result = INPUT_ERROR;
    } else if (r != INPUT_OK) {
        bad(rd, cut_off);
    }
    return byte;
}

static uint64_t take_number(Reading *rd)
{
    uint64_t v = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = take_byte(rd);

        if (shift == 63 && byte > 1) {
            break;
        }
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            return v;
        }
    }
    bad(rd, "a number of more than 64 bits");
    return 0;
}

/* A distance from `from`, which is below 2^62. */
static uint64_t take_step(Reading *rd, uint64_t from)
{
    uint64_t v = take_number(rd);
    uint64_t distance = v >> 1;

    if (v & 1 ? distance > from : distance > MAX_BLOCKS) {
        bad(rd, "an address beyond the drive");
        return 0;
    }
    return v & 1 ? from - distance : from + distance;
}

/* ---- records ------------------------------------------------------------- */

static void take_instant(Reading *rd, RecordedState *s)
{
    uint64_t step_ns = take_number(rd);

    if (step_ns > MAX_NS || s->last_ns + step_ns > MAX_NS) {
        bad(rd, "an instant after 200 days");
        return;
    }
    s->last_ns += step_ns;
}

static void take_range(Reading *rd, const RecordedState *s, uint64_t *next,
                       RecordedItem *item)
{
    item->lba = take_step(rd, *next);
    item->nblocks = take_number(rd);
    if (item->nblocks == 0) {
        bad(rd, "a range of no blocks");
    }
    if (item->lba >= s->nblocks || item->nblocks > s->nblocks - item->lba) {
        bad(rd, "an address beyond the drive");
    }
    *next = item->lba + item->nblocks;
}

static void take_stream(Reading *rd, RecordedItem *item)
{
    uint64_t stream = take_number(rd);

    if (stream > UINT16_MAX) {
        bad(rd, "a stream above 65535");
    }
    item->stream = (uint16_t)stream;
}

static void take_serial(Reading *rd, const RecordedState *s, RecordedItem *item)
{
    uint64_t after = take_number(rd);

    if (after >= s->n_cmds) {
        bad(rd, "it tells of a command that never came");
        return;
    }
    item->serial = s->n_cmds - after;
}

static void take_cmd(Reading *rd, RecordedState *s, unsigned flags,
                     RecordedItem *item)
{
    unsigned op = flags & ~RECORDING_FUA;

    item->inside = op == RECORDING_INSIDE_READ || op == RECORDING_INSIDE_WRITE;
    if (item->inside) {
        op = op == RECORDING_INSIDE_READ ? SSD_OP_READ : SSD_OP_WRITE;
    }
    if (op >= SSD_N_OPS) {
        bad(rd, "no such command");
        return;
    }
    item->op = (SsdOp)op;
    item->close = op == SSD_OP_FLUSH && flags & RECORDING_ENDS;
    item->internal =
        item->inside && op == SSD_OP_READ && flags & RECORDING_INTERNAL;
    item->fua = flags & RECORDING_FUA && !item->close && !item->internal;
    take_instant(rd, s);
    if (op == SSD_OP_READ || op == SSD_OP_WRITE || op == SSD_OP_TRIM) {
        take_range(rd, s, &s->next_lba, item);
        if (item->nblocks > UINT32_MAX) {
            bad(rd, "a command of more than 2^32-1 blocks");
        }
    }
    if (op == SSD_OP_WRITE || item->close) {
        take_stream(rd, item);
    } else if (item->fua) {
        bad(rd, "FUA without a write");
    }
    item->serial = ++s->n_cmds;
}

static void take_done(Reading *rd, const RecordedState *s, unsigned flags,
                      RecordedItem *item)
{
    if (flags > SSD_STATUS_POWER_LOSS) {
        bad(rd, "no such status");
        return;
    }
    item->status = (SsdStatus)flags;
    take_serial(rd, s, item);
    item->latency_ns = take_number(rd);
    if (item->latency_ns > MAX_NS) {
        bad(rd, "a latency of more than 200 days");
    }
    if (flags == SSD_STATUS_UNRECOVERED_READ) {
        item->bad_block = take_number(rd);
    }
}

static void take_end(Reading *rd, RecordedState *s, RecordedItem *item)
{
    take_instant(rd, s);
    if (take_number(rd) != s->n_cmds) {
        bad(rd, "commands are missing: the end counts more or fewer");
    }
    item->n_running = take_number(rd);
    s->ended = true;
}

static void take_setting(Reading *rd, RecordedState *s, unsigned flags,
                         RecordedItem *item)
{
    uint64_t most = flags == RECORDING_LIMITS   ? UINT16_MAX
                    : flags == RECORDING_WINDOW ? SSD_N_WINDOWS - 1
                                                : SSD_POWER_STATES - 1;

    take_instant(rd, s);
    for (unsigned i = 0; i < 3; i++) {
        item->number[i] = take_number(rd);
    }
    if (flags >= RECORDING_N_SETTINGS || item->number[0] > most ||
        item->number[1] > most || item->number[2] > MAX_NS) {
        bad(rd, "a setting of the power states that there is not");
        return;
    }
    item->setting = (RecordingSetting)flags;
}

static void take_rest(Reading *rd, RecordedState *s, unsigned flags,
                      RecordedItem *item)
{
    switch (item->type) {
    case RECORDING_CMD:
        take_cmd(rd, s, flags, item);
        break;
    case RECORDING_DONE:
        take_done(rd, s, flags, item);
        break;
    case RECORDING_ABORT:
        take_instant(rd, s);
        take_serial(rd, s, item);
        break;
    case RECORDING_POWER_CUT:
    case RECORDING_POWER_ON:
        take_instant(rd, s);
        break;
    case RECORDING_CLOSE:
        take_instant(rd, s);
        take_stream(rd, item);
        break;
    case RECORDING_PRELOAD:
        if (s->n_cmds > 0 || s->last_ns > 0) {
            bad(rd, "data from the beginning, not at the beginning");
        }
        take_range(rd, s, &s->next_preload, item);
        break;
    case RECORDING_SETTING:
        take_setting(rd, s, flags, item);
        break;
    case RECORDING_END:
        take_end(rd, s, item);
        break;
    default:
        bad(rd, "no such type of record");
    }
}

InputRead recorded_next(RecordedState *s, Input *in, RecordedItem *item,
                        const char **reason, GError **error)
{
    Reading rd = {.in = in, .error = error, .result = INPUT_OK};
    uint8_t first;
    InputRead r = input_bytes(in, &first, 1, error);

    if (r != INPUT_OK) {
        return r;
    }
    *item = (RecordedItem){
        .type = (RecordingType)(first & ((1 << RECORDING_FLAG_SHIFT) - 1)),
    };
    if (s->ended) {
        bad(&rd, "something follows the end");
    } else {
        take_rest(&rd, s, first >> RECORDING_FLAG_SHIFT, item);
    }
    item->at_ns = s->last_ns;
    *reason = rd.reason;
    return rd.result;
}

/* ---- header -------------------------------------------------------------- */

static uint64_t fixed(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < bytes; i++) {
        v |= (uint64_t)p[i] << (8 * i);
    }
    return v;
}

bool recorded_detect(const char *head, size_t n)
{
    return n >= 8 && signature_is(head, RECORDING_SIGNATURE);
}

static InputRead take_text(Input *in, uint64_t bytes, GString *text,
                           const char **reason, GError **error)
{
    InputRead r;

    if (bytes > MAX_TEXT_BYTES) {
        *reason = "the header's text is longer than 1 MiB";
        return INPUT_BAD;
    }
    if (text) {
        g_string_set_size(text, bytes);
    }
    r = input_bytes(in, text ? text->str : NULL, bytes, error);
    *reason = "the file ends within its header";
    return r == INPUT_END ? INPUT_BAD : r;
}

InputRead recorded_head(RecordedState *s, Input *in, GString *text,
                        const char **reason, GError **error)
{
    uint8_t head[RECORDING_HEADER_BYTES];
    InputRead r = input_bytes(in, head, sizeof(head), error);

    *s = (RecordedState){0};
    *reason = "the file ends within its header";
    if (r != INPUT_OK) {
        return r == INPUT_END ? INPUT_BAD : r;
    }
    s->block_bytes = (uint32_t)fixed(head + 8, 4);
    s->used = fixed(head + 12, 4) & RECORDING_USED;
    s->nblocks = fixed(head + 16, 8);
    if (signature_is_early(head)) {
        *reason = SIGNATURE_EARLY;
    } else if (!recorded_detect((const char *)head, sizeof(head))) {
        *reason = "no trace of vssd: it begins otherwise";
    } else if (fixed(head + 12, 4) & ~(uint64_t)RECORDING_USED) {
        *reason = "made by another version of vssd";
    } else if (s->block_bytes != 512 && s->block_bytes != 4096) {
        *reason = "blocks of neither 512 nor 4096 bytes";
    } else if (s->nblocks == 0 || s->nblocks > MAX_BLOCKS) {
        *reason = "a drive of no size, or of more than 2^62 bytes";
    } else {
        return take_text(in, fixed(head + 24, 4), text, reason, error);
    }
    return INPUT_BAD;
}

/* ---- whole files --------------------------------------------------------- */

struct Recorded {
    Input *in;
    char *path;
    char *profile;
    GString *text;
    RecordedState state;
    uint64_t n_records;
};

static void damaged(const Recorded *r, const char *reason, GError **error)
{
    if (r->n_records) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                    "%s: record %" G_GUINT64_FORMAT ": %s", r->path,
                    r->n_records, reason);
    } else {
        g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE, "%s: %s", r->path,
                    reason);
    }
}

static char *first_line(const GString *text)
{
    const char *s = text->str;

    return g_str_has_prefix(s, "# ") ? g_strndup(s + 2, strcspn(s + 2, "\n"))
                                     : g_strdup("unknown");
}

static Recorded *recorded_new(Input *in, const char *path, GError **error)
{
    const char *reason;
    Recorded *r;
    InputRead got;

    if (!in) {
        return NULL;
    }
    r = g_new0(Recorded, 1);
    r->in = in;
    r->path = g_strdup(path);
    r->text = g_string_new(NULL);
    got = recorded_head(&r->state, in, r->text, &reason, error);
    if (got != INPUT_OK) {
        if (got == INPUT_BAD) {
            damaged(r, reason, error);
        }
        recorded_close(r);
        return NULL;
    }
    r->profile = first_line(r->text);
    return r;
}

Recorded *recorded_open(const char *path, GError **error)
{
    return recorded_new(input_open(path, error), path, error);
}

Recorded *recorded_from_memory(const void *data, size_t n, GError **error)
{
    return recorded_new(input_from_memory(data, n, error), "memory", error);
}

void recorded_close(Recorded *r)
{
    if (r) {
        input_close(r->in);
        g_string_free(r->text, TRUE);
        g_free(r->profile);
        g_free(r->path);
        g_free(r);
    }
}

bool recorded_is(const char *path)
{
    Input *in = input_is_pipe(path) ? NULL : input_open(path, NULL);
    const char *head = NULL;
    size_t n = 0;
    bool is;

    if (!in) {
        return false;
    }
    head = input_head(in, &n, NULL);
    is = head && recorded_detect(head, n);
    input_close(in);
    return is;
}

const RecordedState *recorded_state(const Recorded *r)
{
    return &r->state;
}

const char *recorded_profile(const Recorded *r)
{
    return r->profile;
}

bool recorded_config(const Recorded *r, SsdConfig *cfg, GError **error)
{
    g_auto(GStrv) lines = g_strsplit(r->text->str, "\n", -1);

    for (char **line = lines; *line; line++) {
        if (**line && **line != '#' && !ssd_config_set(cfg, *line, error)) {
            g_prefix_error(error, "%s: ", r->path);
            return false;
        }
    }
    return ssd_config_set_block_bytes(cfg, r->state.block_bytes, error);
}

bool recorded_read(Recorded *r, RecordedItem *item, GError **error)
{
    const char *reason = NULL;

    r->n_records++;
    switch (recorded_next(&r->state, r->in, item, &reason, error)) {
    case INPUT_OK:
        return true;
    case INPUT_BAD:
        damaged(r, reason, error);
        return false;
    default:
        return false;
    }
}

bool recorded_preload(const char *path, Ssd *ssd, GError **error)
{
    g_autoptr(GError) local = NULL;
    Recorded *r = recorded_open(path, error);
    RecordedItem item;

    if (!r) {
        return false;
    }
    while (recorded_read(r, &item, &local) && item.type == RECORDING_PRELOAD) {
        uint64_t nblocks = ssd_info(ssd)->nblocks;

        /* The drive may be smaller than the recorded one, or its blocks. */
        item.lba = item.lba * r->state.block_bytes / ssd_info(ssd)->block_bytes;
        item.nblocks =
            MAX(item.nblocks * r->state.block_bytes /
                    ssd_info(ssd)->block_bytes, 1);
        if (item.lba < nblocks) {
            ssd_preload(ssd, item.lba, MIN(item.nblocks, nblocks - item.lba));
        }
    }
    recorded_close(r);
    if (local) {
        g_propagate_error(error, g_steal_pointer(&local));
        return false;
    }
    return true;
}
