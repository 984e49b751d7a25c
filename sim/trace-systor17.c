/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-systor17.c - the format of the SYSTOR '17 traces.
 *
 * C. Lee et al., "Understanding Storage Traffic Characteristics on Enterprise
 * Virtual Desktop Infrastructure", SYSTOR 2017; distributed by SNIA IOTTA.
 * Six fields: seconds, response in seconds (may be empty), R or W, logical
 * unit, offset and size in bytes.  The first line names the columns.  Lines are
 * in the order in which requests ended.
 */
#include <string.h>

#include "blk-kind.h"
#include "fields.h"
#include "trace.h"

static bool systor_headed(const char *line)
{
    return g_ascii_strncasecmp(line, "timestamp,response,", 19) == 0;
}

static const char *systor_parse(void *state, const char *line, TraceRecord *out)
{
    const char *s = line;
    const char *text;
    const char *reason;
    size_t len;

    if (!field_time(&s, 1000000000, &out->at_ns) || !field_char(&s, ',')) {
        return systor_headed(line) ? trace_skip
                                   : "field 1 is not a time in seconds";
    }
    if (!field_text(&s, ',', &text, &len)) {
        return "fewer than 6 fields";
    }
    if (!field_text(&s, ',', &text, &len)) {
        return "field 3 is not R or W";
    }
    reason = blk_word(text, len, "field 3 is not R or W", out);
    if (reason) {
        return reason;
    }
    if (!field_u64(&s, &out->device) || !field_char(&s, ',')) {
        return "field 4 is not the number of a logical unit";
    }
    if (!field_u64(&s, &out->offset) || !field_char(&s, ',')) {
        return "field 5 is not an offset in bytes";
    }
    if (!field_u64(&s, &out->nbytes) || !field_char(&s, '\0')) {
        return "field 6 is not a size in bytes, or is not the last";
    }
    blk_complete(out);
    return NULL;
}

const TraceFormat trace_systor17 = {
    .name = "systor17",
    .help = "seconds,response,R|W,unit,offset,size",
    .parse = systor_parse,
    .headed = systor_headed,
    .ends = true,
    .since_ns = 315532800ULL * 1000000000, /* 1980 */
    .units = {1000000000, 1, 1},
};
