/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fdp.h - Flexible Data Placement. */
#ifndef VSSD_NVME_FDP_H
#define VSSD_NVME_FDP_H

#include "rooms.h"
#if NVME_ROOM < ROOM_PLACEMENT
#error "hw-ssd/nvme/placement is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* The drive's stream for a command that writes, by its placement identifier, or
 * without one. */
uint16_t nvme_fdp_place(NvmeCtrl *ctrl, const NvmeRequest *req, uint16_t pid);
uint16_t nvme_fdp_place_default(NvmeCtrl *ctrl, const NvmeRequest *req);

/* The drive has filled the stream's reclaim unit, and begins the next. */
void nvme_fdp_unit_begun(NvmeCtrl *ctrl, uint32_t stream);

/* The stream's group is full: its data goes to another one. */
void nvme_fdp_overflowed(NvmeCtrl *ctrl, uint32_t stream);

/* The power is back. */
void nvme_fdp_power_on(NvmeCtrl *ctrl);

/* Commands. */
uint16_t nvme_io_mgmt_receive(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe);
uint16_t nvme_io_mgmt_send(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe);

/* Feature 1Dh. */
uint16_t nvme_fdp_get_mode(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe,
                           bool current);
uint16_t nvme_fdp_set_mode(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe);

/*
 * fdp-state.c: placement handles, selected events and their logs beside a saved
 * drive, if there is anything to save (kept-state.c).
 */
bool nvme_fdp_has_state(const NvmeCtrl *ctrl);
bool nvme_save_fdp(const NvmeCtrl *ctrl, FILE *out, GError **error);
bool nvme_load_fdp(NvmeCtrl *ctrl, FILE *in, GError **error);

/* Is each flag of a loaded stream 0 or 1? */
bool nvme_fdp_logs_ok(const NvmeFdp *f);

#endif
