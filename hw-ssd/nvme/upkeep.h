/* SPDX-License-Identifier: GPL-2.0-or-later */
/* upkeep.h - periodic work. */
#ifndef VSSD_NVME_UPKEEP_H
#define VSSD_NVME_UPKEEP_H

#include "nvme-internal.h"

/* If it is time for it; true: the drive has got work, or a command has ended.
 * And when it will be. */
bool nvme_upkeep(NvmeCtrl *ctrl);
uint64_t nvme_upkeep_ns(const NvmeCtrl *ctrl);

#endif
