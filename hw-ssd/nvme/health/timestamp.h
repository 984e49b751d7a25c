/* SPDX-License-Identifier: GPL-2.0-or-later */
/* timestamp.h - the controller's clock as the host has set it. */
#ifndef VSSD_NVME_TIMESTAMP_H
#define VSSD_NVME_TIMESTAMP_H

#include "rooms.h"
#if NVME_ROOM < ROOM_HEALTH
#error "hw-ssd/nvme/health is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* As Get and Set Features 0Eh have it. */
void nvme_timestamp(const NvmeCtrl *ctrl, NvmeTimestamp *data);
void nvme_timestamp_set(NvmeCtrl *ctrl, const NvmeTimestamp *data);
void nvme_timestamp_reset(NvmeCtrl *ctrl);

#endif
