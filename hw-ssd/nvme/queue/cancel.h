/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cancel.h - the Cancel command. */
#ifndef VSSD_NVME_CANCEL_H
#define VSSD_NVME_CANCEL_H

#include "rooms.h"
#if NVME_ROOM < ROOM_QUEUE
#error "hw-ssd/nvme/queue is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

uint16_t nvme_cancel(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);

#endif
