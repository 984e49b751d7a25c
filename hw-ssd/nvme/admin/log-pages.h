/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-pages.h - the Get Log Page command. */
#ifndef VSSD_NVME_LOG_PAGES_H
#define VSSD_NVME_LOG_PAGES_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ADMIN
#error "hw-ssd/nvme/admin is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

uint16_t nvme_get_log_page(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe);

/* Rows of docs/nvme-support.md. */
void nvme_document_logs(GString *out);

#endif
