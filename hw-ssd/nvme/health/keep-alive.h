/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep-alive.h - the Keep Alive command and its timer. */
#ifndef VSSD_NVME_KEEP_ALIVE_H
#define VSSD_NVME_KEEP_ALIVE_H

#include "rooms.h"
#if NVME_ROOM < ROOM_HEALTH
#error "hw-ssd/nvme/health is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

#define NVME_KAS 10 /* granularity of the timer, in 100 ms */

uint16_t nvme_keep_alive(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);

/* The timer restarts, or stops if the feature is 0. */
void nvme_keep_alive_start(NvmeCtrl *ctrl);
/* If the timer has ended, so does the controller's work. */
void nvme_keep_alive_look(NvmeCtrl *ctrl);

#endif
