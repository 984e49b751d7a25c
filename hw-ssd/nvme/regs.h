/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regs.h - the controller registers. */
#ifndef VSSD_NVME_REGS_H
#define VSSD_NVME_REGS_H

#include "rooms.h"
#if NVME_ROOM < ROOM_CORE
#error "the core of hw-ssd/nvme is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* CSTS.RDY, if it is asked for and the drive is. */
void nvme_look_ready(NvmeCtrl *ctrl);

#endif
