/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prp.h - guest memory of a command: from PRPs or an SGL to pieces. */
#ifndef VSSD_NVME_PRP_H
#define VSSD_NVME_PRP_H

#include "rooms.h"
#if NVME_ROOM < ROOM_MEMORY
#error "hw-ssd/nvme/memory is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"
#include "memory/sg.h"

/* The data of a command, by PRPs or by an SGL.  Status code; 0: sg describes
 * bytes bytes. */
uint16_t nvme_map(NvmeCtrl *ctrl, NvmeSg *sg, const NvmeSqe *sqe,
                  uint64_t bytes, bool to_host);

/* The data of a command at once: map, move, forget.  Status code. */
uint16_t nvme_to_host(NvmeCtrl *ctrl, const NvmeSqe *sqe, const void *buf,
                      size_t len);
uint16_t nvme_from_host(NvmeCtrl *ctrl, const NvmeSqe *sqe, void *buf,
                        size_t len);

/* As much of a structure as the host asks for, zeroes beyond its end. */
uint16_t nvme_to_host_padded(NvmeCtrl *ctrl, const NvmeSqe *sqe,
                             const void *buf, size_t len, uint64_t wanted);

#endif
