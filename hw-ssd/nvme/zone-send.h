/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zone-send.h - Zone Management Send, and the jobs of zones. */
#ifndef VSSD_NVME_ZONE_SEND_H
#define VSSD_NVME_ZONE_SEND_H

#include "nvme-internal.h"

uint16_t nvme_zone_send(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);

/* Start what zones still need of the drive, and tell the host of zones that
 * changed by themselves. */
void nvme_zones_look(NvmeCtrl *ctrl);

#endif
