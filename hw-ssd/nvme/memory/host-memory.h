/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host-memory.h - the Host Memory Buffer. */
#ifndef VSSD_NVME_HOST_MEMORY_H
#define VSSD_NVME_HOST_MEMORY_H

#include "rooms.h"
#if NVME_ROOM < ROOM_MEMORY
#error "hw-ssd/nvme/memory is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Functions for the row of feature 0Dh. */
bool nvme_has_host_memory(const NvmeCtrl *ctrl);
uint16_t nvme_host_memory_get(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe, bool current);
uint16_t nvme_host_memory_set(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe);

/* The drive has none: at the beginning, and after a reset. */
void nvme_host_memory_reset(NvmeCtrl *ctrl);

/* The drive has it as the feature says, after a load. */
void nvme_host_memory_apply(NvmeCtrl *ctrl);

/* Fields of Identify Controller. */
void nvme_identify_host_memory(const NvmeCtrl *ctrl, NvmeIdController *id);

#endif
