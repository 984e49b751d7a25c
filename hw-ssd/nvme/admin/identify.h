/* SPDX-License-Identifier: GPL-2.0-or-later */
/* identify.h - the Identify command. */
#ifndef VSSD_NVME_IDENTIFY_H
#define VSSD_NVME_IDENTIFY_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ADMIN
#error "hw-ssd/nvme/admin is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

uint16_t nvme_identify(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);

/* Rows of docs/nvme-support.md. */
void nvme_document_identify(GString *out);

#endif
