/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dispatch.h - taking one entry of a submission queue. */
#ifndef VSSD_NVME_DISPATCH_H
#define VSSD_NVME_DISPATCH_H

#include "nvme-internal.h"

void nvme_execute(NvmeCtrl *ctrl, NvmeSq *sq, const NvmeSqe *sqe);

#endif
