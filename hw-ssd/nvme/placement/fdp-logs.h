/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fdp-logs.h - log pages of Flexible Data Placement. */
#ifndef VSSD_NVME_FDP_LOGS_H
#define VSSD_NVME_FDP_LOGS_H

#include "rooms.h"
#if NVME_ROOM < ROOM_PLACEMENT
#error "hw-ssd/nvme/placement is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* As LogPage.begin of 21h to 23h: they need FDP to be enabled. */
uint16_t nvme_fdp_begin_log(NvmeCtrl *ctrl, const NvmeSqe *sqe, bool *only);

/* Log pages 09h and 20h to 22h, as LogPage.fill. */
void nvme_fdp_fill_group(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                         void *page);
void nvme_fdp_fill_configs(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                           void *page);
void nvme_fdp_fill_usage(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                         void *page);
void nvme_fdp_fill_statistics(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                              uint64_t i, void *page);

/* Bytes of page 20h, at most. */
#define NVME_FDP_CONFIGS_BYTES 1024

#endif
