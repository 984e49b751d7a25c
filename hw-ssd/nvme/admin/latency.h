/* SPDX-License-Identifier: GPL-2.0-or-later */
/* latency.h - Predictable Latency Mode of the only NVM set. */
#ifndef VSSD_NVME_LATENCY_H
#define VSSD_NVME_LATENCY_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ADMIN
#error "hw-ssd/nvme/admin is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Has the drive windows (latency.window)? */
bool nvme_has_latency(const NvmeCtrl *ctrl);

/* Functions for the rows of features 13h and 14h. */
uint16_t nvme_latency_get_config(NvmeCtrl *ctrl, NvmeRequest *req,
                                 const NvmeSqe *sqe, bool current);
uint16_t nvme_latency_set_config(NvmeCtrl *ctrl, NvmeRequest *req,
                                 const NvmeSqe *sqe);
uint16_t nvme_latency_get_window(NvmeCtrl *ctrl, NvmeRequest *req,
                                 const NvmeSqe *sqe, bool current);
uint16_t nvme_latency_set_window(NvmeCtrl *ctrl, NvmeRequest *req,
                                 const NvmeSqe *sqe);

/* The mode is off: at the beginning, and after a reset. */
void nvme_latency_reset(NvmeCtrl *ctrl);

/* Leave the deterministic window if a limit has been passed; note events.  When
 * to look again without a command. */
void nvme_latency_look(NvmeCtrl *ctrl);
uint64_t nvme_latency_ns(const NvmeCtrl *ctrl);

/* Log pages 0Ah and 0Bh; the host has read the former. */
void nvme_fill_latency(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                       void *page);
void nvme_fill_latency_events(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                              uint64_t i, void *page);
uint16_t nvme_latency_begin_log(NvmeCtrl *ctrl, const NvmeSqe *sqe, bool *only);
void nvme_latency_clear(NvmeCtrl *ctrl);

/* Of a stream that was loaded. */
bool nvme_latency_ok(const NvmeCtrl *ctrl);

#endif
