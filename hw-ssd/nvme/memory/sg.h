/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sg.h - pieces of guest memory. */
#ifndef VSSD_NVME_SG_H
#define VSSD_NVME_SG_H

#include "rooms.h"
#if NVME_ROOM < ROOM_MEMORY
#error "hw-ssd/nvme/memory is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* In place of an address: bytes for the host that it does not want. */
#define NVME_SG_NOWHERE UINT64_MAX

void nvme_sg_init(NvmeSg *sg);
void nvme_sg_free(NvmeCtrl *ctrl, NvmeSg *sg);

/* One more piece; a list has at most NVME_SG_LARGE. */
void nvme_sg_add(NvmeCtrl *ctrl, NvmeSg *sg, uint64_t addr, uint32_t len);

/* Move the next len bytes.  Status code. */
uint16_t nvme_sg_read(NvmeCtrl *ctrl, NvmeSg *sg, void *buf, size_t len);
uint16_t nvme_sg_write(NvmeCtrl *ctrl, NvmeSg *sg, const void *buf, size_t len);

#endif
