/* SPDX-License-Identifier: GPL-2.0-or-later */
/* atomic.h - which writes are promised to be whole (atomic.c). */
#ifndef VSSD_NVME_ATOMIC_H
#define VSSD_NVME_ATOMIC_H

#include "rooms.h"
#if NVME_ROOM < ROOM_NAMESPACE
#error "hw-ssd/nvme/namespace is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Once the controller knows its drive, and its granules: choose what the
 * configuration leaves open.  false: *error names an option and its range. */
bool nvme_atomic_init(NvmeCtrl *ctrl, GError **error);

/* The same values in blocks of a namespace. */
NvmeAtomicBlocks nvme_atomic_of(const NvmeCtrl *ctrl, const NvmeNamespace *ns);

/* Does a power cut leave all of such a write, or nothing?  The range as
 * nvme_ns_piece() takes it. */
bool nvme_atomic_is_whole(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                          uint64_t first, uint64_t nblocks);

/* Does a power cut tear others inside of a mapping unit, too? */
static inline bool nvme_atomic_tears_units(const NvmeCtrl *ctrl)
{
    return ctrl->sub->atomic.nawupf < ctrl->unit_blocks;
}

#endif
