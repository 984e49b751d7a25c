/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-vssd.c - the project's own traces, as requests like any other's.
 *
 * Commands alone, but for those that end a stream, at the instants at which the
 * drive took them; replay.c plays such a file exactly.  A shutdown is a flush
 * here, and a trim that crosses a multiple of 2 GiB becomes several, none of
 * which ends within a block because of that.
 */
#include "recorded.h"
#include "trace.h"

#define TRIM_BYTES (2ULL << 30)

typedef struct VssdState {
    RecordedState recorded;
    bool headed;                     /* the header has been read */
    uint64_t trim_offset, trim_left; /* the rest of a long trim */
} VssdState;

static void next_part(VssdState *s, TraceRecord *out)
{
    uint64_t nbytes =
        MIN(s->trim_left, TRIM_BYTES - s->trim_offset % TRIM_BYTES);

    out->op = SSD_OP_TRIM;
    out->at_ns = s->recorded.last_ns;
    out->offset = s->trim_offset;
    out->nbytes = nbytes;
    s->trim_offset += nbytes;
    s->trim_left -= nbytes;
}

static const char *to_record(VssdState *s, const RecordedItem *item,
                             TraceRecord *out)
{
    uint32_t bytes = s->recorded.block_bytes;

    if (item->type != RECORDING_CMD || item->close) {
        return trace_skip;
    }
    if (item->op == SSD_OP_TRIM) {
        s->trim_offset = item->lba * bytes;
        s->trim_left = item->nblocks * bytes;
        next_part(s, out);
        return NULL;
    }
    out->op = item->op == SSD_OP_SHUTDOWN ? SSD_OP_FLUSH : item->op;
    out->at_ns = item->at_ns;
    out->offset = item->lba * bytes;
    out->nbytes = item->nblocks * bytes;
    out->fua = item->fua;
    out->stream = item->stream;
    return NULL;
}

static InputRead vssd_read(void *opaque, Input *in, TraceRecord *out,
                           const char **reason, GError **error)
{
    VssdState *s = opaque;
    RecordedItem item;
    InputRead r = INPUT_OK;

    if (s->trim_left) {
        next_part(s, out);
        return INPUT_OK;
    }
    if (!s->headed) {
        r = recorded_head(&s->recorded, in, NULL, reason, error);
        s->headed = true;
    }
    if (r == INPUT_OK) {
        r = recorded_next(&s->recorded, in, &item, reason, error);
    }
    if (r == INPUT_OK) {
        *reason = to_record(s, &item, out);
    }
    return r;
}

static TraceUnits vssd_units(const void *opaque)
{
    const VssdState *s = opaque;

    return (TraceUnits){1, s->recorded.block_bytes, s->recorded.block_bytes};
}

const TraceFormat trace_vssd = {
    .name = "vssd",
    .help = "recorded by trace= of the QEMU device or --record",
    .state_bytes = sizeof(VssdState),
    .read = vssd_read,
    .detect = recorded_detect,
    .taken = vssd_units,
};
