/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sgl.h - scatter gather lists. */
#ifndef VSSD_NVME_SGL_H
#define VSSD_NVME_SGL_H

#include "rooms.h"
#if NVME_ROOM < ROOM_MEMORY
#error "hw-ssd/nvme/memory is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Data block descriptors, and those of segments, of one command. */
#define NVME_SGL_DESCRIPTORS 1024

/* The SGL of an entry.  Status code; 0: sg describes bytes bytes. */
uint16_t nvme_sgl_map(NvmeCtrl *ctrl, NvmeSg *sg, const NvmeSqe *sqe,
                      uint64_t bytes, bool to_host);

/* The same of metadata: its only descriptor is at an address. */
uint16_t nvme_sgl_map_metadata(NvmeCtrl *ctrl, NvmeSg *sg, uint64_t addr,
                               uint64_t bytes, bool to_host);

#endif
