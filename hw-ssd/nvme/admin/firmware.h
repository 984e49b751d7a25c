/* SPDX-License-Identifier: GPL-2.0-or-later */
/* firmware.h - firmware images: download, commit, slots. */
#ifndef VSSD_NVME_FIRMWARE_H
#define VSSD_NVME_FIRMWARE_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ADMIN
#error "hw-ssd/nvme/admin is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Slot 1 has the image of the configuration; the others are empty.  Once. */
void nvme_firmware_init(NvmeCtrl *ctrl);

uint16_t nvme_firmware_download(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe);
uint16_t nvme_firmware_commit(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe);

/* An image that waits for a reset of this kind is active now, and pieces that
 * were downloaded are dropped.  After the queues have been closed. */
void nvme_firmware_reset(NvmeCtrl *ctrl, NvmeReset kind);

/* Is an activation under way, during which no command is processed; end it, if
 * it is time.  true: it has ended. */
static inline bool nvme_firmware_busy(const NvmeCtrl *ctrl)
{
    return ctrl->sub->activation != NULL;
}
bool nvme_firmware_look(NvmeCtrl *ctrl);

/* The revision that runs: 8 characters. */
const char *nvme_firmware_revision(const NvmeCtrl *ctrl);

/* Fields of Identify Controller. */
void nvme_identify_firmware(const NvmeCtrl *ctrl, NvmeIdController *id);

/* Of a stream that was loaded. */
bool nvme_firmware_ok(const NvmeCtrl *ctrl);

/* Log page 03h. */
void nvme_fill_firmware_log(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                            uint64_t i, void *page);

#endif
