/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace-units.c - read and tell the units of a trace. */
#include "trace-units.h"

#include <string.h>

#include "fields.h"
#include "request.h"
#include "simtime.h"

static const struct {
    const char *name;
    uint64_t ns;
} times[] = {
    {"ns", 1},         {"100ns", 100},  {"us", NS_PER_US},
    {"ms", NS_PER_MS}, {"s", NS_PER_S},
};

static bool read_time(const char *text, uint64_t *ns)
{
    for (size_t i = 0; i < G_N_ELEMENTS(times); i++) {
        if (strcmp(text, times[i].name) == 0) {
            *ns = times[i].ns;
            return true;
        }
    }
    return false;
}

/* One "name=value"; false if it is not known, or given twice. */
static bool read_unit(const char *part, TraceUnits *units)
{
    const char *value = strchr(part, '=');
    size_t len = value ? (size_t)(value - part) : 0;
    uint64_t *bytes = NULL;

    if (len == 4 && memcmp(part, "time", len) == 0) {
        return !units->time_ns && read_time(value + 1, &units->time_ns);
    }
    if (len == 7 && memcmp(part, "address", len) == 0) {
        bytes = &units->address_bytes;
    } else if (len == 4 && memcmp(part, "size", len) == 0) {
        bytes = &units->size_bytes;
    }
    return bytes && !*bytes &&
           field_whole(value + 1, 1, TRACE_UNITS_MAX_BYTES, bytes);
}

bool trace_units_read(const char *text, TraceUnits *units, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    bool ok = parts[0] != NULL;

    *units = (TraceUnits){0};
    for (unsigned i = 0; ok && parts[i]; i++) {
        ok = read_unit(parts[i], units);
    }
    if (!ok) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                    "--units=%s: allowed time=ns|100ns|us|ms|s, "
                    "address=BYTES and size=BYTES (1..%d), each once, with "
                    "commas between",
                    text, TRACE_UNITS_MAX_BYTES);
    }
    return ok;
}

TraceUnits trace_units_of(const TraceUnits *own, const TraceUnits *given)
{
    return (TraceUnits){
        .time_ns = given->time_ns ? given->time_ns : own->time_ns,
        .address_bytes =
            given->address_bytes ? given->address_bytes : own->address_bytes,
        .size_bytes = given->size_bytes ? given->size_bytes : own->size_bytes,
    };
}

const char *trace_units_time(uint64_t time_ns)
{
    for (size_t i = 0; i < G_N_ELEMENTS(times); i++) {
        if (times[i].ns == time_ns) {
            return times[i].name;
        }
    }
    return "unknown";
}
