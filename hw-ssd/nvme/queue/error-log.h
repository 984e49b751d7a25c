/* SPDX-License-Identifier: GPL-2.0-or-later */
/* error-log.h - the Error Information log. */
#ifndef VSSD_NVME_ERROR_LOG_H
#define VSSD_NVME_ERROR_LOG_H

#include "rooms.h"
#if NVME_ROOM < ROOM_QUEUE
#error "hw-ssd/nvme/queue is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* req: NULL, or the command that has failed with status. */
void nvme_log_error(NvmeCtrl *ctrl, unsigned sqid, const NvmeRequest *req,
                    uint16_t status);

/* Log page 01h. */
void nvme_fill_error_log(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                         void *page);

#endif
