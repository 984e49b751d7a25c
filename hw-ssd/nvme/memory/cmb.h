/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmb.h - the controller memory buffer. */
#ifndef VSSD_NVME_CMB_H
#define VSSD_NVME_CMB_H

#include "rooms.h"
#if NVME_ROOM < ROOM_MEMORY
#error "hw-ssd/nvme/memory is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* false and *error if NvmeConfig.cmb... is out of range. */
bool nvme_cmb_check_config(const NvmeConfig *cfg, GError **error);

/* Once; the configuration is good. */
void nvme_cmb_init(NvmeCtrl *ctrl);

static inline bool nvme_has_cmb(const NvmeCtrl *ctrl)
{
    return ctrl->window[NVME_AT_CMB].mem;
}

/* Registers CMBLOC to CMBSWTP; the bit of CAP. */
uint32_t nvme_cmb_reg_read(const NvmeCtrl *ctrl, uint64_t offset);
void nvme_cmb_reg_write(NvmeCtrl *ctrl, uint64_t offset, uint32_t value);
uint64_t nvme_cmb_cap(const NvmeCtrl *ctrl);

/* Every reset but that of CC.EN; the power goes or comes; the registers have
 * been loaded. */
void nvme_cmb_reset(NvmeCtrl *ctrl);
void nvme_cmb_power(NvmeCtrl *ctrl);
void nvme_cmb_loaded(NvmeCtrl *ctrl);

/* May a queue be there?  Status code; 0: *in_cmb says where it is. */
uint16_t nvme_cmb_check_queue(const NvmeCtrl *ctrl, uint64_t addr,
                              uint64_t bytes, bool completions, bool *in_cmb);

/* May the list, or a part of it, be there?  May the data be where sg says?
 * Status code; 0: sg knows the place. */
uint16_t nvme_cmb_check_list(const NvmeCtrl *ctrl, NvmeSg *sg, uint64_t addr,
                             uint64_t bytes);
uint16_t nvme_cmb_check_data(const NvmeCtrl *ctrl, NvmeSg *sg, bool to_host);

/* Of a request: SsdCmd.in_cmb. */
uint8_t nvme_cmb_parts(const NvmeRequest *req);

#endif
