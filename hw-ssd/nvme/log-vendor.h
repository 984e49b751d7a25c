/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-vendor.h - the drive's own log pages. */
#ifndef VSSD_NVME_LOG_VENDOR_H
#define VSSD_NVME_LOG_VENDOR_H

#include "nvme-internal.h"

/* 0: there is no such page. */
uint64_t nvme_vendor_log_bytes(const NvmeCtrl *ctrl, uint8_t id);

/* offset + bytes is within the page. */
void nvme_vendor_log_read(const NvmeCtrl *ctrl, uint8_t id, uint64_t offset,
                          uint8_t *to, uint64_t bytes);

void nvme_document_vendor_logs(GString *out);

#endif
