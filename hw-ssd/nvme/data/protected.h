/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * protected.h - I/O commands of a namespace with metadata, in place of those of
 * other namespaces (NvmeCommand.with_metadata).
 */
#ifndef VSSD_NVME_PROTECTED_H
#define VSSD_NVME_PROTECTED_H

#include "rooms.h"
#if NVME_ROOM < ROOM_DATA
#error "hw-ssd/nvme/data is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

uint16_t nvme_protected_write(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe);
uint16_t nvme_protected_read(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe);
uint16_t nvme_protected_compare(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe);
uint16_t nvme_protected_verify(NvmeCtrl *ctrl, NvmeRequest *req,
                               const NvmeSqe *sqe);

/* Write Zeroes whose zeroes are data, because of their protection information;
 * any other one is as of a namespace without metadata. */
bool nvme_protected_has_zeroes(const NvmeRequest *req, const NvmeSqe *sqe);
uint16_t nvme_protected_write_zeroes(NvmeCtrl *ctrl, NvmeRequest *req,
                                     const NvmeSqe *sqe);

#endif
