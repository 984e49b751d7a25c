/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verify.h - the Verify command. */
#ifndef VSSD_NVME_VERIFY_H
#define VSSD_NVME_VERIFY_H

#include "rooms.h"
#if NVME_ROOM < ROOM_DATA
#error "hw-ssd/nvme/data is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

uint16_t nvme_verify(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);

#endif
