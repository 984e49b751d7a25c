/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-spc.c - the SPC format of the UMass traces (Financial1, WebSearch1).
 *
 * Storage Performance Council, "SPC Trace File Format Specification", revision
 * 1.0.1: application storage unit, address in blocks of 512 bytes, size in
 * bytes, R or W, seconds since the start; more fields may follow.
 */
#include "blk-kind.h"
#include "fields.h"
#include "trace.h"

static const char *spc_parse(void *state, const char *line, TraceRecord *out)
{
    const char *s = line;
    const char *text;
    const char *reason;
    size_t len;
    uint64_t sector;

    if (!field_u64(&s, &out->device) || !field_char(&s, ',')) {
        return "field 1 is not the number of a storage unit";
    }
    if (!field_u64(&s, &sector) || !field_char(&s, ',') ||
        sector > UINT64_MAX / TRACE_SECTOR_BYTES) {
        return "field 2 is not an address in blocks";
    }
    if (!field_u64(&s, &out->nbytes) || !field_char(&s, ',')) {
        return "field 3 is not a size in bytes";
    }
    if (!field_text(&s, ',', &text, &len)) {
        return "field 4 is not R or W";
    }
    reason = blk_word(text, len, "field 4 is not R or W", out);
    if (reason) {
        return reason;
    }
    if (!field_time(&s, 1000000000, &out->at_ns) ||
        (*s != ',' && !field_char(&s, '\0'))) {
        return "field 5 is not a time in seconds";
    }
    out->offset = sector * TRACE_SECTOR_BYTES;
    blk_complete(out);
    return NULL;
}

const TraceFormat trace_spc = {
    .name = "spc",
    .help = "unit,address/512,size,R|W,seconds",
    .parse = spc_parse,
    .units = {1000000000, TRACE_SECTOR_BYTES, 1},
};
