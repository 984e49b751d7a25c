/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steps.h - the way of a request through the drive and the payload. */
#ifndef VSSD_NVME_STEPS_H
#define VSSD_NVME_STEPS_H

#include "rooms.h"
#if NVME_ROOM < ROOM_QUEUE
#error "hw-ssd/nvme/queue is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* There are n places in the drive's queue.  Once. */
void nvme_slots_init(NvmeCtrl *ctrl, uint32_t n);

/* Give the steps that fit to the drive; the rest waits for its completions. */
void nvme_request_start(NvmeCtrl *ctrl, NvmeRequest *req);

/* Go on with those that wait; true: there was one. */
bool nvme_feed_starved(NvmeCtrl *ctrl);

/* The drive has completed a step. */
void nvme_step_completed(NvmeSubsys *sub, const SsdCompletion *c);

/* One of the pending parts has ended; after the last one the request completes,
 * behind a barrier of the payload if it asks for one. */
void nvme_request_part_done(NvmeCtrl *ctrl, NvmeRequest *req);

/* Post the completion with req->status. */
void nvme_request_complete(NvmeCtrl *ctrl, NvmeRequest *req);

/* Ask the drive to end it early; true: it will. */
bool nvme_request_abort(NvmeCtrl *ctrl, NvmeRequest *req);

#endif
