/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regs.h - the controller registers. */
#ifndef VSSD_NVME_REGS_H
#define VSSD_NVME_REGS_H

#include "nvme-internal.h"

/* CSTS.RDY, if it is asked for and the drive is. */
void nvme_look_ready(NvmeCtrl *ctrl);

#endif
