/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory.h - does a filled drive fit into the memory of this machine? */
#ifndef VSSD_SIM_MEMORY_H
#define VSSD_SIM_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "ssd.h"

/* Bytes that a new process may touch without swap, by the kernel's estimate
 * and the limit of the control group; UINT64_MAX: nothing says so. */
uint64_t memory_available(void);

/* false: *error names the option `what`, the memory and a way out.  Tables of
 * a drive take memory only where they are touched; a fill touches them all. */
bool memory_suffices(const SsdInfo *info, uint64_t available, const char *what,
                     GError **error);

#endif
