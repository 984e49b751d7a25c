/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-ascii.c - five columns: time, device, first sector, sectors, kind.
 *
 * DiskSim's ASCII format (J. Bucy et al., "The DiskSim Simulation Environment
 * Version 4.0 Reference Manual", CMU-PDL-08-101, section 3.5; times in
 * milliseconds, bit 0 of the flags is a read) and those that were made from it:
 * SSDSim's and MQSim's, in nanoseconds, with 0 for a write and 1 for a read.
 */
#include "fields.h"
#include "simtime.h"
#include "trace.h"

/* The columns behind the time. */
static inline const char *four(const char *s, TraceRecord *out)
{
    uint64_t sector, nsectors, kind;

    if (!field_space(&s)) {
        return "field 1 is not a time";
    }
    if (!field_u64(&s, &out->device) || !field_space(&s)) {
        return "field 2 is not a device number";
    }
    if (!field_u64(&s, &sector) || !field_space(&s) ||
        sector > UINT64_MAX / TRACE_SECTOR_BYTES) {
        return "field 3 is not the address of a sector";
    }
    if (!field_u64(&s, &nsectors) || !field_space(&s) ||
        nsectors == 0 || nsectors > UINT32_MAX / TRACE_SECTOR_BYTES) {
        return "field 4 is not a number of sectors, 1..8388607";
    }
    if (!field_u64(&s, &kind) || !field_char(&s, '\0')) {
        return "field 5 is not 0 (write) or 1 (read), or is not the last";
    }
    out->op = kind & 1 ? SSD_OP_READ : SSD_OP_WRITE;
    out->offset = sector * TRACE_SECTOR_BYTES;
    out->nbytes = nsectors * TRACE_SECTOR_BYTES;
    return NULL;
}

static const char *ns_parse(void *state, const char *line, TraceRecord *out)
{
    const char *s = line;

    field_space(&s);
    if (!field_u64(&s, &out->at_ns) || *s == '.' || out->at_ns == UINT64_MAX) {
        return "field 1 is not a time in whole nanoseconds";
    }
    return four(s, out);
}

static const char *ms_parse(void *state, const char *line, TraceRecord *out)
{
    const char *s = line;

    field_space(&s);
    if (!field_time(&s, NS_PER_MS, &out->at_ns)) {
        return "field 1 is not a time";
    }
    return four(s, out);
}

const TraceFormat trace_ssdsim = {
    .name = "ssdsim",
    .help = "nanoseconds device sector sectors 0(write)|1(read)",
    .parse = ns_parse,
};

const TraceFormat trace_mqsim = {
    .name = "mqsim",
    .help = "the same as ssdsim, and detected as such",
    .parse = ns_parse,
};

const TraceFormat trace_disksim = {
    .name = "disksim",
    .help = "milliseconds device sector sectors 0(write)|1(read)",
    .parse = ms_parse,
};
