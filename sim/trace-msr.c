/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-msr.c - the format of the MSR Cambridge traces.
 *
 * D. Narayanan et al., "Write Off-Loading: Practical Power Management for
 * Enterprise Storage", FAST 2008; the files are distributed by SNIA IOTTA.
 * Seven fields: time in ticks of 100 ns, host name, disk number, Read or
 * Write, offset and size in bytes, response time (which is not used).
 */
#include "trace.h"

#include <string.h>

/* A decimal number and what must come after it (',' or NUL). */
static bool take_number(const char **s, char end, uint64_t *out)
{
    const char *p = *s;
    uint64_t v = 0;

    if (!g_ascii_isdigit(*p)) {
        return false;
    }
    for (; g_ascii_isdigit(*p); p++) {
        unsigned digit = (unsigned)(*p - '0');

        if (v > (UINT64_MAX - digit) / 10) {
            return false;
        }
        v = v * 10 + digit;
    }
    if (*p != end) {
        return false;
    }
    *s = p + (end != '\0');
    *out = v;
    return true;
}

static bool take_type(const char **s, SsdOp *op)
{
    if (g_ascii_strncasecmp(*s, "read,", 5) == 0) {
        *op = SSD_OP_READ;
        *s += 5;
    } else if (g_ascii_strncasecmp(*s, "write,", 6) == 0) {
        *op = SSD_OP_WRITE;
        *s += 6;
    } else {
        return false;
    }
    return true;
}

static const char *msr_parse(const char *line, TraceLine *out)
{
    const char *s = line;
    uint64_t ignored;

    if (!take_number(&s, ',', &out->ticks)) {
        return "field 1 is not a time";
    }
    s = strchr(s, ',');
    if (!s) {
        return "fewer than 7 fields";
    }
    s++;
    if (!take_number(&s, ',', &ignored)) {
        return "field 3 is not a disk number";
    }
    if (!take_type(&s, &out->op)) {
        return "field 4 is not Read or Write";
    }
    if (!take_number(&s, ',', &out->offset)) {
        return "field 5 is not an offset in bytes";
    }
    if (!take_number(&s, ',', &out->nbytes) || out->nbytes == 0 ||
        out->nbytes > UINT32_MAX) {
        return "field 6 is not a size, 1..4294967295 bytes";
    }
    if (!take_number(&s, '\0', &ignored)) {
        return "field 7 is not a response time, or is not the last";
    }
    return NULL;
}

const TraceFormat trace_msr = {
    .name = "msr",
    .help = "time/100ns,host,disk,Read|Write,offset,size,response",
    .tick_ns = 100,
    .parse = msr_parse,
};
