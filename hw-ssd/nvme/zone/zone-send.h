/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zone-send.h - Zone Management Send, and the jobs of zones. */
#ifndef VSSD_NVME_ZONE_SEND_H
#define VSSD_NVME_ZONE_SEND_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ZONE
#error "hw-ssd/nvme/zone is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

uint16_t nvme_zone_send(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);

/* The zoned namespace becomes write protected: active zones become Full (ZNS
 * 2.1.1.3), and req waits for what that programs. */
void nvme_zones_protect(NvmeCtrl *ctrl, NvmeRequest *req);

/* Start what zones still need of the drive, and tell the host of zones that
 * changed by themselves. */
void nvme_zones_look(NvmeCtrl *ctrl);

/* When a limit of a zone ends next, or SSD_TIME_NEVER; do then what follows.
 * true: zones have changed. */
uint64_t nvme_zones_due_ns(const NvmeSubsys *sub);
bool nvme_zones_due_look(NvmeCtrl *ctrl);

#endif
