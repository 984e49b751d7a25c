/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fdp-events.h - events of Flexible Data Placement. */
#ifndef VSSD_NVME_FDP_EVENTS_H
#define VSSD_NVME_FDP_EVENTS_H

#include "rooms.h"
#if NVME_ROOM < ROOM_PLACEMENT
#error "hw-ssd/nvme/placement is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Base 2.1, section 5.1.12.1.31.  From 80h on the controller's, the others the
 * host's. */
enum {
    NVME_FDP_NOT_FULLY_WRITTEN = 0x00,
    NVME_FDP_TIME_LIMIT = 0x01,
    NVME_FDP_RESET = 0x02,
    NVME_FDP_INVALID_PID = 0x03,
    NVME_FDP_REALLOCATED = 0x80,
    NVME_FDP_IMPLICIT = 0x81,
};

/* Note the event, if the host wants it of the handle.  nsid 0: the namespace is
 * not known.  stream: of the drive. */
void nvme_fdp_note(NvmeCtrl *ctrl, uint8_t type, uint32_t nsid,
                   uint32_t stream);

/* The same, of an identifier that does not exist; stream takes its place. */
void nvme_fdp_note_invalid(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                           uint16_t pid, uint32_t stream);

/* The drive moves nunits units of a block of a stream of its own. */
void nvme_fdp_moving(NvmeCtrl *ctrl, uint32_t stream, uint64_t lpn,
                     uint32_t nunits);

/* Feature 1Eh. */
uint16_t nvme_fdp_get_events(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe, bool current);
uint16_t nvme_fdp_set_events(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe);

/* Log page 23h, as LogPage.fill. */
void nvme_fdp_fill_events(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                          void *page);

#endif
