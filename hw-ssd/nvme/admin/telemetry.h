/* SPDX-License-Identifier: GPL-2.0-or-later */
/* telemetry.h - the telemetry log pages. */
#ifndef VSSD_NVME_TELEMETRY_H
#define VSSD_NVME_TELEMETRY_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ADMIN
#error "hw-ssd/nvme/admin is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Functions for rows of the table in log-pages.c. */
uint64_t nvme_telemetry_host_bytes(const NvmeCtrl *ctrl);
uint64_t nvme_telemetry_own_bytes(const NvmeCtrl *ctrl);
uint16_t nvme_telemetry_begin(NvmeCtrl *ctrl, const NvmeSqe *sqe, bool *only);
void nvme_fill_telemetry(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                         void *page);

/* The host has read the controller's log, and a new capture may replace it. */
void nvme_telemetry_release(NvmeCtrl *ctrl);

/* Capture, if there is a new error of the media or a new critical warning. */
void nvme_telemetry_note(NvmeCtrl *ctrl);

static inline void nvme_telemetry_look(NvmeCtrl *ctrl)
{
    const NvmeTelemetry *t = &ctrl->sub->telemetry;

    if (G_UNLIKELY(t->media_errors != ctrl->sub->life.media_errors ||
                   t->health != ctrl->events.health)) {
        nvme_telemetry_note(ctrl);
    }
}

/* Of a stream that was loaded. */
bool nvme_telemetry_ok(const NvmeCtrl *ctrl);

#endif
