/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-units.h - the units in which a trace counts: those of --units, and
 * those that were taken.
 */
#ifndef VSSD_SIM_TRACE_UNITS_H
#define VSSD_SIM_TRACE_UNITS_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

/* Of an option, 0: not given. */
typedef struct TraceUnits {
    uint64_t time_ns;
    uint64_t address_bytes;
    uint64_t size_bytes;
} TraceUnits;

#define TRACE_UNITS_MAX_BYTES (1 << 20)

/* "time=us,address=4096,size=512"; false: *error names the option and what is
 * allowed. */
bool trace_units_read(const char *text, TraceUnits *units, GError **error);

/* The units of `own`, but for those that `given` has. */
TraceUnits trace_units_of(const TraceUnits *own, const TraceUnits *given);

/* "ms", as --units names it; "unknown" if there is none. */
const char *trace_units_time(uint64_t time_ns);

#endif
