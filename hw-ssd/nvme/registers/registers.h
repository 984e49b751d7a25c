/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registers.h - the values of a controller's registers; memory/ has those of
 * its memory. */
#ifndef VSSD_NVME_REGISTERS_H
#define VSSD_NVME_REGISTERS_H

#include "rooms.h"
#if NVME_ROOM < ROOM_REGISTERS
#error "hw-ssd/nvme/registers is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* As the host writes it: INTMS, INTMC, CC, CSTS, AQA, ASQ or ACQ, or the upper
 * half of one. */
void nvme_regs_write(NvmeCtrl *ctrl, uint64_t offset, uint32_t value);

/* The controller is enabled, as CC and AQA say; is disabled; is reset. */
void nvme_regs_enable(NvmeCtrl *ctrl);
void nvme_regs_disable(NvmeCtrl *ctrl);
void nvme_regs_reset(NvmeCtrl *ctrl);

/* Bits of CSTS; its field SHST. */
void nvme_csts_set(NvmeCtrl *ctrl, uint32_t bits);
void nvme_csts_clear(NvmeCtrl *ctrl, uint32_t bits);
void nvme_csts_shutdown(NvmeCtrl *ctrl, uint32_t state);

/* CSTS.CFS: the controller takes no command until it is reset. */
void nvme_set_fatal(NvmeCtrl *ctrl);

#endif
