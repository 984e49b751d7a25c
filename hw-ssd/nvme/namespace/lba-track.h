/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lba-track.h - blocks that the controller knows it may not be able to read. */
#ifndef VSSD_NVME_LBA_TRACK_H
#define VSSD_NVME_LBA_TRACK_H

#include "rooms.h"
#if NVME_ROOM < ROOM_NAMESPACE
#error "hw-ssd/nvme/namespace is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* A read has failed, or the host has made them so; the drive's blocks. */
void nvme_lba_note(NvmeCtrl *ctrl, uint64_t lba, uint32_t nblocks);

void nvme_lba_forget_range(NvmeCtrl *ctrl, uint64_t lba, uint64_t nblocks);

/* They were written, or trimmed. */
static inline void nvme_lba_forget(NvmeCtrl *ctrl, uint64_t lba,
                                   uint64_t nblocks)
{
    if (G_UNLIKELY(ctrl->sub->lba_track.n)) {
        nvme_lba_forget_range(ctrl, lba, nblocks);
    }
}

/* The host will be told of all. */
void nvme_lba_told(NvmeCtrl *ctrl);

/* Of a stream that was loaded. */
bool nvme_lba_track_ok(const NvmeCtrl *ctrl);

#endif
