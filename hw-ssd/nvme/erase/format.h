/* SPDX-License-Identifier: GPL-2.0-or-later */
/* format.h - the Format NVM command. */
#ifndef VSSD_NVME_FORMAT_H
#define VSSD_NVME_FORMAT_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ERASE
#error "hw-ssd/nvme/erase is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Format NVM command. */
uint16_t nvme_format(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);

/* The job has ended: the namespaces have their format; true: it had. */
bool nvme_format_look(NvmeCtrl *ctrl);

/* FNA of Identify Controller; FPI of a namespace. */
uint8_t nvme_format_attributes(const NvmeCtrl *ctrl);
uint8_t nvme_format_progress(const NvmeCtrl *ctrl, uint32_t nsid);

#endif
