/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvme-features.h - Get and Set Features. */
#ifndef VSSD_NVME_FEATURES_H
#define VSSD_NVME_FEATURES_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ADMIN
#error "hw-ssd/nvme/admin is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

void nvme_features_reset(NvmeCtrl *ctrl);
uint16_t nvme_get_features(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe);
uint16_t nvme_set_features(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe);

/* Rows of docs/nvme-support.md. */
void nvme_document_features(GString *out);

/* Are the saved values, as loaded from a stream, ones that can be set? */
bool nvme_features_saved_ok(const NvmeCtrl *ctrl);

/* Log page 12h. */
void nvme_fill_feature_effects(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                               uint64_t i, void *page);

#endif
