/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sanitize.h - the Sanitize command, its log page, and what it forbids. */
#ifndef VSSD_NVME_SANITIZE_H
#define VSSD_NVME_SANITIZE_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ERASE
#error "hw-ssd/nvme/erase is above this room: docs/architecture.md"
#endif

#include "erase/erase-job.h"
#include "nvme-internal.h"

/* Sanitize command. */
uint16_t nvme_sanitize(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);

/* The job has ended; true: it had. */
bool nvme_sanitize_look(NvmeCtrl *ctrl);

/* Must a command end, because a sanitize operation or a format is in progress
 * or a sanitize operation has failed?  Status code; 0: it need not. */
uint16_t nvme_sanitize_refuses(const NvmeCtrl *ctrl, const NvmeRequest *req,
                               const NvmeSqe *sqe);

/* Are there commands that nvme_sanitize_refuses()? */
static inline bool nvme_sanitize_restricts(const NvmeCtrl *ctrl)
{
    return nvme_erase_is_on(ctrl) || ctrl->sub->sanitize.failure;
}

/* SANICAP. */
uint32_t nvme_sanitize_capabilities(const NvmeCtrl *ctrl);

/* Of a stream that was loaded. */
bool nvme_sanitize_ok(const NvmeCtrl *ctrl);

/* Log page 81h. */
void nvme_fill_sanitize_log(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                            uint64_t i, void *page);

#endif
