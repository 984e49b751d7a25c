/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-devices.h - the devices that a trace names: which are played, and the
 * address space of each.
 */
#ifndef VSSD_SIM_TRACE_DEVICES_H
#define VSSD_SIM_TRACE_DEVICES_H

#include "trace.h"

typedef struct TraceDevices TraceDevices;

/* wanted: as TraceOptions.device, and outlives them.  kernel: numbers are
 * major << 20 | minor. */
TraceDevices *trace_devices_new(const char *wanted, bool kernel);
void trace_devices_free(TraceDevices *d);

/* Is the record of the device that is wanted? */
bool trace_devices_want(TraceDevices *d, const TraceRecord *rec);

/* The address space of the record's device; false: more devices than anybody
 * has. */
bool trace_devices_space(TraceDevices *d, const TraceRecord *rec,
                         uint32_t *space);

uint32_t trace_devices_n(const TraceDevices *d);
uint64_t trace_devices_number(const TraceDevices *d, uint32_t space);

/* As people name it; g_free(). */
char *trace_devices_name(const TraceDevices *d, uint32_t space);

/* The first of those that were not wanted, with commas between; g_free(). */
char *trace_devices_others(const TraceDevices *d);

#endif
