/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * power-states.h - temperature and power as the host sees and sets them:
 * features 02h, 0Ch and 10h, clauses 5.21.1.2, 5.21.1.12 and 5.21.1.16.
 */
#ifndef VSSD_NVME_POWER_STATES_H
#define VSSD_NVME_POWER_STATES_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ADMIN
#error "hw-ssd/nvme/admin is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Has the drive power states of its own; does it go to them by itself (feature
 * 0Ch); has it a temperature (feature 10h)? */
bool nvme_has_power_states(const NvmeCtrl *ctrl);
bool nvme_has_idle_states(const NvmeCtrl *ctrl);
bool nvme_has_heat(const NvmeCtrl *ctrl);

/* Fill in the fields of Identify Controller: NPSS, the descriptors of power
 * states, APSTA, HCTMA, thresholds and limits of temperature (5.17.2.1). */
void nvme_identify_power(const NvmeCtrl *ctrl, NvmeIdController *id);

/*
 * Rows of the table of features.  They return 0 or a status: INVALID_FIELD for
 * a value that the clause does not allow, or the status of a transfer of guest
 * memory that failed; then nothing has changed.  current false: the default.
 */
uint16_t nvme_power_get(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe,
                        bool current);
uint16_t nvme_power_set(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);
uint16_t nvme_apst_get(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe,
                       bool current);
uint16_t nvme_apst_set(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);
uint16_t nvme_hctm_set(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);

/* A reset of the controller: power state 0, the drive's own idle rules and
 * limits. */
void nvme_power_reset(NvmeCtrl *ctrl);

/* Is it a value of Host Controlled Thermal Management; the current one takes
 * effect. */
bool nvme_hctm_ok(const NvmeCtrl *ctrl, uint32_t value);
void nvme_hctm_apply(NvmeCtrl *ctrl);

#endif
