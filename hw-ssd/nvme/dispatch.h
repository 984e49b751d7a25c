/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dispatch.h - taking one entry of a submission queue. */
#ifndef VSSD_NVME_DISPATCH_H
#define VSSD_NVME_DISPATCH_H

#include "rooms.h"
#if NVME_ROOM < ROOM_CORE
#error "the core of hw-ssd/nvme is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

void nvme_execute(NvmeCtrl *ctrl, NvmeSq *sq, const NvmeSqe *sqe);

/* The same in parts: take its request, and begin with it or refuse it. */
NvmeRequest *nvme_take(NvmeCtrl *ctrl, NvmeSq *sq, const NvmeSqe *sqe);
/* The command's function alone, which may add steps.  Status code. */
uint16_t nvme_dispatch(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);
void nvme_begin(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);
void nvme_refuse(NvmeCtrl *ctrl, NvmeRequest *req, uint16_t status);

#endif
