/* SPDX-License-Identifier: GPL-2.0-or-later */
/* persistent-events.h - the Persistent Event log. */
#ifndef VSSD_NVME_PERSISTENT_EVENTS_H
#define VSSD_NVME_PERSISTENT_EVENTS_H

#include "rooms.h"
#if NVME_ROOM < ROOM_HEALTH
#error "hw-ssd/nvme/health is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Types of events (Base 2.0, Persistent Event Log). */
enum {
    NVME_PEL_SMART = 0x01,
    NVME_PEL_FIRMWARE = 0x02,
    NVME_PEL_TIMESTAMP = 0x03,
    NVME_PEL_RESET = 0x04,
    NVME_PEL_HARDWARE = 0x05,
    NVME_PEL_NAMESPACE = 0x06,
    NVME_PEL_FORMAT_START = 0x07,
    NVME_PEL_FORMAT_END = 0x08,
    NVME_PEL_SANITIZE_START = 0x09,
    NVME_PEL_SANITIZE_END = 0x0a,
    NVME_PEL_TELEMETRY = 0x0c,
    NVME_PEL_THERMAL = 0x0d,
};

/* An event happens; n bytes of data, at most 512. */
void nvme_persistent_event(NvmeCtrl *ctrl, uint8_t type, const void *data,
                           size_t n);

/* The controller is ready, after power came or a reset; or power goes without a
 * shutdown. */
void nvme_pel_ready(NvmeCtrl *ctrl);
void nvme_pel_unsafe_shutdown(NvmeCtrl *ctrl);

/* Events of the media and of critical warnings, if there are new ones. */
void nvme_pel_note(NvmeCtrl *ctrl);

static inline void nvme_pel_look(NvmeCtrl *ctrl)
{
    const NvmePersistentEvents *p = &ctrl->sub->pel;

    if (G_UNLIKELY(p->media_errors != ctrl->sub->life.media_errors ||
                   p->health != ctrl->events.health)) {
        nvme_pel_note(ctrl);
    }
}

/* A reset releases the reporting context. */
void nvme_pel_reset(NvmeCtrl *ctrl);

/* Of a stream that was loaded. */
bool nvme_pel_ok(const NvmeCtrl *ctrl);

/* Functions for the row of the table in log-pages.c. */
uint64_t nvme_pel_bytes(const NvmeCtrl *ctrl);
uint16_t nvme_pel_begin(NvmeCtrl *ctrl, const NvmeSqe *sqe, bool *only);
void nvme_fill_pel(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                   void *page);

#endif
