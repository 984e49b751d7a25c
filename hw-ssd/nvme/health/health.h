/* SPDX-License-Identifier: GPL-2.0-or-later */
/* health.h - the drive's health, and its name. */
#ifndef VSSD_NVME_HEALTH_H
#define VSSD_NVME_HEALTH_H

#include "rooms.h"
#if NVME_ROOM < ROOM_HEALTH
#error "hw-ssd/nvme/health is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

uint8_t nvme_critical_warning(const NvmeCtrl *ctrl); /* NVME_WARN_... */

/* Composite temperature, and its warning and critical thresholds, in kelvins;
 * without a model NVME_TEMPERATURE_K, NVME_WCTEMP_K and NVME_CCTEMP_K. */
uint32_t nvme_kelvin(const NvmeCtrl *ctrl);
uint32_t nvme_warning_k(const NvmeCtrl *ctrl);
uint32_t nvme_critical_k(const NvmeCtrl *ctrl);

/* SUBNQN of Identify Controller: 256 bytes, which are zeroed. */
void nvme_subnqn(const NvmeCtrl *ctrl, uint8_t *p);

/* Log page 02h. */
void nvme_fill_health_log(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                          void *page);

#endif
