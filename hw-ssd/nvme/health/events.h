/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events.h - asynchronous events. */
#ifndef VSSD_NVME_EVENTS_H
#define VSSD_NVME_EVENTS_H

#include "rooms.h"
#if NVME_ROOM < ROOM_HEALTH
#error "hw-ssd/nvme/health is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Asynchronous Event Request: req->waiting. */
uint16_t nvme_async_event(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);
bool nvme_event_abort(NvmeCtrl *ctrl, NvmeRequest *req);

/* Something has happened: NVME_EVENT_... of both kinds. */
void nvme_event(NvmeCtrl *ctrl, unsigned type, unsigned info);
void nvme_deliver_events(NvmeCtrl *ctrl);
/* Report dw0 to a request, whatever it says.  false: there is no request. */
bool nvme_event_raw(NvmeCtrl *ctrl, uint32_t dw0);

/* The same of a notice, NVME_NOTICE_..., that the host has enabled. */
void nvme_notice(NvmeCtrl *ctrl, unsigned notice);
/* To these controllers, as bits: a namespace that the host sees has changed, by
 * its attachment, its size or its format. */
void nvme_notice_ns(NvmeSubsys *sub, uint32_t ctrls, uint32_t nsid);
/* To all controllers. */
void nvme_notice_all(NvmeSubsys *sub, unsigned notice);
/* A log page has been read that notices go with. */
void nvme_notice_clear(NvmeCtrl *ctrl, uint8_t lid);

/* A reset: nothing is pending or masked. */
void nvme_events_reset(NvmeCtrl *ctrl);
/* The requests for events go with their queue. */
void nvme_events_forget(NvmeCtrl *ctrl);

/* Its log page has been read: the event is cleared, and the next one counts. */
void nvme_event_clear(NvmeCtrl *ctrl, unsigned type);

/* Compare the critical warnings with those that were reported. */
void nvme_check_health(NvmeCtrl *ctrl);
/* The same of all controllers, if the health of the drive or that of the
 * payload has changed. */
void nvme_look_at_health(NvmeSubsys *sub);

#endif
