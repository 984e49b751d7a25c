/* SPDX-License-Identifier: GPL-2.0-or-later */
/* timestamp.h - the controller's clock as the host has set it. */
#ifndef VSSD_NVME_TIMESTAMP_H
#define VSSD_NVME_TIMESTAMP_H

#include "nvme-internal.h"

/* Its data structure, of 8 bytes, as Get Features 0Eh has it. */
void nvme_timestamp(const NvmeCtrl *ctrl, uint8_t *data);
void nvme_timestamp_set(NvmeCtrl *ctrl, const uint8_t *data);
void nvme_timestamp_reset(NvmeCtrl *ctrl);

#endif
