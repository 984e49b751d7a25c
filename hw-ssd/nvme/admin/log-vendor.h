/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-vendor.h - the drive's own log pages. */
#ifndef VSSD_NVME_LOG_VENDOR_H
#define VSSD_NVME_LOG_VENDOR_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ADMIN
#error "hw-ssd/nvme/admin is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* As LogPage.count. */
uint64_t nvme_vendor_streams(const SsdInfo *info); /* and one for the mixed */
uint64_t nvme_vendor_units(const SsdInfo *info);

/* Log pages C0h to C2h (vendor-log.h), as LogPage.fill. */
void nvme_vendor_fill_drive(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                            uint64_t i, void *item);
void nvme_vendor_fill_stream(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                             uint64_t i, void *item);
void nvme_vendor_fill_place(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                            uint64_t i, void *item);

#endif
