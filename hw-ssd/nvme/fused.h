/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fused.h - pairs of commands that are executed as one. */
#ifndef VSSD_NVME_FUSED_H
#define VSSD_NVME_FUSED_H

#include "rooms.h"
#if NVME_ROOM < ROOM_CORE
#error "the core of hw-ssd/nvme is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Is a command of an I/O queue, that may change this data, to wait for a pair
 * in flight? */
bool nvme_fused_blocks(const NvmeCtrl *ctrl, const NvmeSqe *sqe);

/* Take an entry that has FUSE set, from an I/O queue, with the entry behind it
 * (NULL: there is none).  Returns how many of the two it has taken. */
unsigned nvme_fused_take(NvmeCtrl *ctrl, NvmeSq *sq, const NvmeSqe *first,
                         const NvmeSqe *second);

#endif
