/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow.h - a queue's entry in the EventIdx page (Base 1.4, section 7.13).
 */
#ifndef VSSD_NVME_SHADOW_H
#define VSSD_NVME_SHADOW_H

#include "rooms.h"
#if NVME_ROOM < ROOM_QUEUE
#error "hw-ssd/nvme/queue is above this room: docs/architecture.md"
#endif

#include "memory/dma.h"
#include "nvme-internal.h"

/* Have the guest ring when it passes value. */
static inline void nvme_shadow_event_idx(NvmeCtrl *ctrl, NvmeShadow *s,
                                         uint32_t value)
{
    uint32_t le = GUINT32_TO_LE(value);

    if (s->event_idx != value) {
        s->event_idx = value;
        nvme_dma_write(ctrl, s->ei_addr, &le, sizeof(le));
    }
}

#endif
