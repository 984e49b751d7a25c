/* SPDX-License-Identifier: GPL-2.0-or-later */
/* copy.h - the Copy command, and its limits. */
#ifndef VSSD_NVME_COPY_H
#define VSSD_NVME_COPY_H

#include "rooms.h"
#if NVME_ROOM < ROOM_DATA
#error "hw-ssd/nvme/data is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

#define NVME_COPY_RANGES 128

uint16_t nvme_copy(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);

/* Blocks of one command, and of one range: MCL and MSSRL. */
static inline uint64_t nvme_copy_most(const NvmeCtrl *ctrl,
                                      const NvmeNamespace *ns)
{
    return MIN(ctrl->max_bytes >> ns->block_shift, UINT16_MAX);
}

/* OCFS: a bit for each format of source ranges. */
static inline uint16_t nvme_copy_formats(const NvmeCtrl *ctrl)
{
    return 0xf;
}

#endif
