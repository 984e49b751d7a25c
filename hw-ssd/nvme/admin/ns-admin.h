/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ns-admin.h - commands and features that manage namespaces. */
#ifndef VSSD_NVME_NS_ADMIN_H
#define VSSD_NVME_NS_ADMIN_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ADMIN
#error "hw-ssd/nvme/admin is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

uint16_t nvme_ns_management(NvmeCtrl *ctrl, NvmeRequest *req,
                            const NvmeSqe *sqe);
uint16_t nvme_ns_attachment(NvmeCtrl *ctrl, NvmeRequest *req,
                            const NvmeSqe *sqe);

/* Feature 84h. */
uint16_t nvme_ns_get_protect(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe, bool current);
uint16_t nvme_ns_set_protect(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe);
/* Of the controller, for tables. */
bool nvme_ns_managed(const NvmeCtrl *ctrl);

/* Feature 05h. */
uint16_t nvme_ns_get_recovery(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe, bool current);
uint16_t nvme_ns_set_recovery(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe);

/* A reset; the power comes back. */
void nvme_ns_reset(NvmeCtrl *ctrl);
void nvme_ns_power_on(NvmeCtrl *ctrl);

/* The drive has ended a step, with NvmeNsJob.draining: the job goes on
 * once it has none of a namespace that is gone. */
void nvme_ns_drained(NvmeCtrl *ctrl);

/* Log page 04h; it was read. */
void nvme_ns_clear_changed(NvmeCtrl *ctrl);
void nvme_ns_fill_changed(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                          void *page);

#endif
