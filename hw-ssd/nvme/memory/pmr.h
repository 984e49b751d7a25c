/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmr.h - the persistent memory region. */
#ifndef VSSD_NVME_PMR_H
#define VSSD_NVME_PMR_H

#include "rooms.h"
#if NVME_ROOM < ROOM_MEMORY
#error "hw-ssd/nvme/memory is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

bool nvme_pmr_check_config(const NvmeConfig *cfg, GError **error);
void nvme_pmr_init(NvmeCtrl *ctrl);

static inline bool nvme_has_pmr(const NvmeCtrl *ctrl)
{
    return ctrl->window[NVME_AT_PMR].mem;
}

/* Registers PMRCAP to PMRMSCU; the bit of CAP.  Reading PMRSTS is the barrier:
 * then all writes that came before it are persistent. */
uint32_t nvme_pmr_reg_read(NvmeCtrl *ctrl, uint64_t offset);
void nvme_pmr_reg_write(NvmeCtrl *ctrl, uint64_t offset, uint32_t value);
uint64_t nvme_pmr_cap(const NvmeCtrl *ctrl);

/* Every reset but that of CC.EN, and the loss of power; the registers have been
 * loaded. */
void nvme_pmr_reset(NvmeCtrl *ctrl);
void nvme_pmr_loaded(NvmeCtrl *ctrl);

#endif
