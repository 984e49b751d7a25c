/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virtualization.h - the command Virtualization Management. */
#ifndef VSSD_NVME_VIRTUALIZATION_H
#define VSSD_NVME_VIRTUALIZATION_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ADMIN
#error "hw-ssd/nvme/admin is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

uint16_t nvme_virtualization_management(NvmeCtrl *ctrl, NvmeRequest *req,
                                        const NvmeSqe *sqe);

#endif
