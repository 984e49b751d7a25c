/* SPDX-License-Identifier: GPL-2.0-or-later */
/* setup-memory.h - does a filled drive fit into the memory of this machine? */
#ifndef VSSD_LIB_SETUP_MEMORY_H
#define VSSD_LIB_SETUP_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "ssd.h"

/*
 * May so many blocks be filled?  Tables of a drive take memory only where they
 * are touched, and a fill touches them: it would end hours later, without
 * memory.  bytes: what they take when all of the drive is filled, memory_bytes
 * or preload_bytes.  false: *error names what fills, the memory, and the way
 * out.
 */
bool setup_memory_suffices(const SsdInfo *info, uint64_t nblocks,
                           uint64_t bytes, const char *what,
                           const char *way_out, GError **error);

#endif
