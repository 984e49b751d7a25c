/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lba-status.h - the Get LBA Status command, log page 0Eh. */
#ifndef VSSD_NVME_LBA_STATUS_H
#define VSSD_NVME_LBA_STATUS_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ADMIN
#error "hw-ssd/nvme/admin is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Get LBA Status command. */
uint16_t nvme_get_lba_status(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe);

/* Go on with a scan, tell the host of what is new; true: something happened.
 * When it is to be called again, at the latest. */
bool nvme_lba_status_look(NvmeCtrl *ctrl);
uint64_t nvme_lba_status_ns(const NvmeCtrl *ctrl);

/* The power has gone: a scan ends. */
void nvme_lba_status_power_lost(NvmeCtrl *ctrl);

/* Log page 0Eh, and its length. */
void nvme_fill_lba_status_log(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                              uint64_t i, void *page);

#endif
