/* SPDX-License-Identifier: GPL-2.0-or-later */
/* uncorrectable.h - the Write Uncorrectable command. */
#ifndef VSSD_NVME_UNCORRECTABLE_H
#define VSSD_NVME_UNCORRECTABLE_H

#include "rooms.h"
#if NVME_ROOM < ROOM_DATA
#error "hw-ssd/nvme/data is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

uint16_t nvme_write_uncorrectable(NvmeCtrl *ctrl, NvmeRequest *req,
                                  const NvmeSqe *sqe);

#endif
