/* SPDX-License-Identifier: GPL-2.0-or-later */
/* uncorrectable.h - the Write Uncorrectable command. */
#ifndef VSSD_NVME_UNCORRECTABLE_H
#define VSSD_NVME_UNCORRECTABLE_H

#include "nvme-internal.h"

uint16_t nvme_write_uncorrectable(NvmeCtrl *ctrl, NvmeRequest *req,
                                  const NvmeSqe *sqe);

#endif
