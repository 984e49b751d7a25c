/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-ascii.c - five columns: time, device, first sector, sectors, kind.
 *
 * DiskSim's ASCII format (J. Bucy et al., "The DiskSim Simulation Environment
 * Version 4.0 Reference Manual", CMU-PDL-08-101, section 3.5; times in
 * milliseconds, bit 0 of the flags is a read) and those that were made from it:
 * SSDSim's and MQSim's, in nanoseconds, with 0 for a write and 1 for a read.
 *
 * The lines do not tell which of them they are.  Whole times may be of any.  A
 * fraction is DiskSim's, but one that is finer than a microsecond may as well
 * be of seconds, which blkparse prints.  Some tools write bytes in place of
 * sectors, so addresses and sizes that are all multiples of 512 may be either.
 */
#include <string.h>

#include "fields.h"
#include "simtime.h"
#include "trace.h"

/* Of a fraction of milliseconds: down to a microsecond, and printf's %f. */
#define MS_DIGITS         3
#define MS_PRINTED_DIGITS 6

typedef struct AsciiState {
    TraceUnits units;
    uint64_t most_address, most_size; /* as numbers of the line */
} AsciiState;

static void set_units(AsciiState *state, const TraceOptions *o,
                      uint64_t time_ns)
{
    TraceUnits own = {time_ns, TRACE_SECTOR_BYTES, TRACE_SECTOR_BYTES};

    state->units = trace_units_of(&own, &o->units);
    state->most_address = UINT64_MAX / state->units.address_bytes;
    state->most_size = UINT32_MAX / state->units.size_bytes;
}

static void ns_begin(void *opaque, const TraceOptions *o, const char *head,
                     size_t n)
{
    set_units(opaque, o, 1);
}

static void ms_begin(void *opaque, const TraceOptions *o, const char *head,
                     size_t n)
{
    set_units(opaque, o, NS_PER_MS);
}

static TraceUnits ascii_units(const void *opaque)
{
    const AsciiState *state = opaque;

    return state->units;
}

/* The columns behind the time. */
static inline const char *four(const AsciiState *state, const char *s,
                               TraceRecord *out)
{
    uint64_t sector, nsectors, kind;

    if (!field_space(&s)) {
        return "field 1 is not a time";
    }
    if (!field_u64(&s, &out->device) || !field_space(&s)) {
        return "field 2 is not a device number";
    }
    if (!field_u64(&s, &sector) || !field_space(&s) ||
        sector > state->most_address) {
        return "field 3 is not the address of a sector";
    }
    if (!field_u64(&s, &nsectors) || !field_space(&s) || nsectors == 0 ||
        nsectors > state->most_size) {
        return "field 4 is not a number of sectors, 1 to 4 GiB";
    }
    if (!field_u64(&s, &kind) || !field_char(&s, '\0')) {
        return "field 5 is not 0 (write) or 1 (read), or is not the last";
    }
    out->op = kind & 1 ? SSD_OP_READ : SSD_OP_WRITE;
    out->offset = sector * state->units.address_bytes;
    out->nbytes = nsectors * state->units.size_bytes;
    return NULL;
}

static const char *ms_parse(void *opaque, const char *line, TraceRecord *out)
{
    const AsciiState *state = opaque;
    const char *s = line;

    field_space(&s);
    if (!field_time(&s, state->units.time_ns, &out->at_ns)) {
        return "field 1 is not a time";
    }
    return four(state, s, out);
}

static const char *ns_parse(void *opaque, const char *line, TraceRecord *out)
{
    const AsciiState *state = opaque;
    const char *s = line;

    if (state->units.time_ns != 1) {
        return ms_parse(opaque, line, out);
    }
    field_space(&s);
    if (!field_u64(&s, &out->at_ns) || *s == '.' || out->at_ns == UINT64_MAX) {
        return "field 1 is not a time in whole nanoseconds; --units=time=s, ms "
               "or us takes a fraction";
    }
    return four(state, s, out);
}

/* ---- more than one reading ----------------------------------------------- */

/* What the first lines have. */
typedef struct Seen {
    bool whole; /* no time has a fraction */
    bool fine;  /* a fraction may be of seconds */
    bool bytes; /* addresses and sizes may be in bytes */
} Seen;

static void look_at_time(const char *time, Seen *seen)
{
    const char *point = strchr(time, '.');
    size_t n = point ? strlen(point + 1) : 0;

    seen->whole &= !point;
    seen->fine |= n > MS_PRINTED_DIGITS;
    while (n > 0 && point[n] == '0') {
        n--;
    }
    seen->fine |= n > MS_DIGITS;
}

static void look(char *line, Seen *seen)
{
    g_auto(GStrv) word = g_strsplit_set(line, " \t", -1);
    unsigned n = 0;

    for (unsigned i = 0; word[i]; i++) {
        if (*word[i] == '\0') {
            continue;
        }
        if (n == 0) {
            look_at_time(word[i], seen);
        }
        if (n == 2 || n == 3) {
            seen->bytes &=
                g_ascii_strtoull(word[i], NULL, 10) % TRACE_SECTOR_BYTES == 0;
        }
        n++;
    }
}

/* The name of a format decides all. */
static char *ascii_doubt(const TraceOptions *o, char *const *lines)
{
    g_autoptr(GString) out = g_string_new(NULL);
    Seen seen = {.whole = true, .bytes = true};

    for (unsigned i = 0; lines[i]; i++) {
        look(lines[i], &seen);
    }
    if (!o->units.time_ns && seen.whole) {
        g_string_append(out, "whole times may be in ms (--format=disksim), in "
                             "ns (--format=ssdsim or mqsim), or in us "
                             "(--units=time=us)");
    } else if (!o->units.time_ns && seen.fine) {
        g_string_append(out, "times with so many digits may be in ms "
                             "(--units=time=ms) or in s (--units=time=s)");
    }
    if (!o->units.address_bytes && !o->units.size_bytes && seen.bytes) {
        g_string_append_printf(out,
                               "%saddresses and sizes may be in sectors "
                               "(--units=address=512,size=512) or in bytes "
                               "(--units=address=1,size=1)",
                               out->len ? "; " : "");
    }
    return out->len && !o->format ? g_strdup(out->str) : NULL;
}

const TraceFormat trace_disksim = {
    .name = "disksim",
    .help = "milliseconds device sector sectors 0(write)|1(read)",
    .uses = TRACE_USES_UNITS,
    .state_bytes = sizeof(AsciiState),
    .parse = ms_parse,
    .begin = ms_begin,
    .taken = ascii_units,
    .doubt = ascii_doubt,
};

const TraceFormat trace_ssdsim = {
    .name = "ssdsim",
    .help = "nanoseconds device sector sectors 0(write)|1(read)",
    .uses = TRACE_USES_UNITS,
    .state_bytes = sizeof(AsciiState),
    .parse = ns_parse,
    .begin = ns_begin,
    .taken = ascii_units,
    .doubt = ascii_doubt,
};

const TraceFormat trace_mqsim = {
    .name = "mqsim",
    .help = "the same as ssdsim",
    .uses = TRACE_USES_UNITS,
    .state_bytes = sizeof(AsciiState),
    .parse = ns_parse,
    .begin = ns_begin,
    .taken = ascii_units,
    .doubt = ascii_doubt,
};
