/* SPDX-License-Identifier: GPL-2.0-or-later */
/* directives.h - Directive Send and Receive, directives in writes. */
#ifndef VSSD_NVME_DIRECTIVES_H
#define VSSD_NVME_DIRECTIVES_H

#include "rooms.h"
#if NVME_ROOM < ROOM_PLACEMENT
#error "hw-ssd/nvme/placement is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

static inline bool nvme_has_fdp(const NvmeCtrl *ctrl)
{
    return ctrl->sub->fdp.ruhs > 0;
}

static inline bool nvme_has_directives(const NvmeCtrl *ctrl)
{
    return ctrl->sub->streams.max || ctrl->sub->fdp.ruhs;
}

uint16_t nvme_directive_send(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe);
uint16_t nvme_directive_receive(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe);

/* The directive of a Write or Write Zeroes sets req->stream; it may open a
 * stream.  Status code. */
uint16_t nvme_take_directive(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe);

#endif
