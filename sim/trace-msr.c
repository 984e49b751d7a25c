/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-msr.c - the format of the MSR Cambridge traces.
 *
 * D. Narayanan et al., "Write Off-Loading: Practical Power Management for
 * Enterprise Storage", FAST 2008; the files are distributed by SNIA IOTTA.
 * Seven fields: time in ticks of 100 ns, host name, disk number, Read or
 * Write, offset and size in bytes, response time (which is not used).
 * A line of the names of the columns may come first.
 */
#include <string.h>

#include "blk-kind.h"
#include "fields.h"
#include "trace.h"

#define TICK_NS 100

typedef struct MsrState {
    bool begun;
    char host[64]; /* of the first request */
} MsrState;

/* Disks of the same number are different ones of several hosts; those of the
 * first have the number alone.  s is behind the host and the number. */
static void take_disk(MsrState *state, const char *host, size_t len,
                      const char *s, TraceRecord *out)
{
    size_t known = MIN(len, sizeof(state->host) - 1);

    if (!state->begun) {
        state->begun = true;
        memcpy(state->host, host, known);
    } else if (strncmp(state->host, host, known) != 0 ||
               state->host[known] != '\0') {
        out->device ^= field_hash(host, len);
        out->name = host;
        out->name_len = (size_t)(s - host);
    }
}

static bool msr_headed(const char *line)
{
    return g_ascii_strncasecmp(line, "timestamp,host", 14) == 0;
}

static const char *msr_parse(void *state, const char *line, TraceRecord *out)
{
    const char *s = line;
    const char *host;
    const char *text;
    const char *reason;
    size_t len;
    uint64_t ignored;

    if (!field_time(&s, TICK_NS, &out->at_ns) || !field_char(&s, ',')) {
        return msr_headed(line) ? trace_skip : "field 1 is not a time";
    }
    if (!field_text(&s, ',', &host, &len)) {
        return "fewer than 7 fields";
    }
    if (!field_u64(&s, &out->device) || *s != ',') {
        return "field 3 is not a disk number";
    }
    take_disk(state, host, len, s++, out);
    if (!field_text(&s, ',', &text, &len)) {
        return "field 4 is not Read or Write";
    }
    reason = blk_word(text, len, "field 4 is not Read or Write", out);
    if (reason) {
        return reason;
    }
    if (!field_u64(&s, &out->offset) || !field_char(&s, ',')) {
        return "field 5 is not an offset in bytes";
    }
    if (!field_u64(&s, &out->nbytes) || !field_char(&s, ',') ||
        out->nbytes > UINT32_MAX ||
        (out->nbytes == 0 && out->op != SSD_OP_FLUSH && !out->flush_before)) {
        return "field 6 is not a size, 1..4294967295 bytes";
    }
    if (!field_u64(&s, &ignored) || !field_char(&s, '\0')) {
        return "field 7 is not a response time, or is not the last";
    }
    blk_complete(out);
    return NULL;
}

const TraceFormat trace_msr = {
    .name = "msr",
    .help = "time/100ns,host,disk,Read|Write,offset,size,response",
    .state_bytes = sizeof(MsrState),
    .parse = msr_parse,
    .headed = msr_headed,
    .since_ns = 11960000000ULL * 1000000000, /* 1980; the clock is of 1601 */
    .host_field = 1,
    .units = {TICK_NS, 1, 1},
};
