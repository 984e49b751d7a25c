/* SPDX-License-Identifier: GPL-2.0-or-later */
/* power-states.h - temperature and power as the host sees and sets them. */
#ifndef VSSD_NVME_POWER_STATES_H
#define VSSD_NVME_POWER_STATES_H

#include "nvme-internal.h"

/* Has the drive power states of its own; does it go to them by itself (feature
 * 0Ch); has it a temperature (feature 10h)? */
bool nvme_has_power_states(const NvmeCtrl *ctrl);
bool nvme_has_idle_states(const NvmeCtrl *ctrl);
bool nvme_has_heat(const NvmeCtrl *ctrl);

/* Of Identify Controller. */
void nvme_identify_power(const NvmeCtrl *ctrl, NvmeIdController *id);

/* Rows of the table of features. */
uint16_t nvme_power_get(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe,
                        bool current);
uint16_t nvme_power_set(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);
uint16_t nvme_apst_get(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe,
                       bool current);
uint16_t nvme_apst_set(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);
uint16_t nvme_hctm_set(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);

/* A reset of the controller ends the settings of the host. */
void nvme_power_reset(NvmeCtrl *ctrl);

#endif
