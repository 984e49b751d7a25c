/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fdp.h - Flexible Data Placement. */
#ifndef VSSD_NVME_FDP_H
#define VSSD_NVME_FDP_H

#include "nvme-internal.h"

/* The drive's stream for a placement identifier of a Write. */
uint16_t nvme_fdp_place(NvmeCtrl *ctrl, uint32_t nsid, uint16_t pid);

/* The drive moves nunits units of a block of a stream of its own. */
void nvme_fdp_moving(NvmeCtrl *ctrl, uint32_t stream, uint64_t lpn,
                     uint32_t nunits);

/* Commands. */
uint16_t nvme_io_mgmt_receive(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe);
uint16_t nvme_io_mgmt_send(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe);

/* Log pages 09h and 20h to 23h, as LogPage.fill. */
void nvme_fdp_fill_group(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                         uint64_t i, void *page);
void nvme_fdp_fill_configs(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                           uint64_t i, void *page);
void nvme_fdp_fill_usage(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                         uint64_t i, void *page);
void nvme_fdp_fill_statistics(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                              uint64_t i, void *page);
void nvme_fdp_fill_events(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                          uint64_t i, void *page);

/* Features 1Dh and 1Eh. */
uint16_t nvme_fdp_get_mode(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe, bool current);
uint16_t nvme_fdp_set_mode(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe);
uint16_t nvme_fdp_get_events(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe, bool current);
uint16_t nvme_fdp_set_events(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe);

#endif
