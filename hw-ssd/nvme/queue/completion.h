/* SPDX-License-Identifier: GPL-2.0-or-later */
/* completion.h - completion queues and interrupts. */
#ifndef VSSD_NVME_COMPLETION_H
#define VSSD_NVME_COMPLETION_H

#include "rooms.h"
#if NVME_ROOM < ROOM_QUEUE
#error "hw-ssd/nvme/queue is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Post the completion of the request and free it, now or when there is room. */
void nvme_post(NvmeCtrl *ctrl, NvmeRequest *req);

/* Completions of the queue wait for room: this one, too. */
void nvme_wait_for_room(NvmeCq *cq, NvmeRequest *req);

/* The guest has consumed entries up to head, as it says, or as its shadow says.
 * A head out of range goes to NvmeQueueClient.bad_doorbell(). */
void nvme_cq_set_head(NvmeCtrl *ctrl, NvmeCq *cq, uint32_t head);
void nvme_cq_read_shadow(NvmeCtrl *ctrl, NvmeCq *cq);

/* Entries of the batch go to guest memory. */
void nvme_cq_write_out(NvmeCtrl *ctrl, NvmeCq *cq);

/* The same for all queues, and completions that waited for room.  true: a queue
 * has room again, and its submission queues may be fetched from. */
bool nvme_write_completions(NvmeCtrl *ctrl);

/* Signal completions that are in guest memory; one message per vector. */
void nvme_raise_interrupts(NvmeCtrl *ctrl);
void nvme_update_pin(NvmeCtrl *ctrl);
/* The host has taken entries, and others are left: the pin falls and rises.  An
 * interrupt controller that looks at edges alone would not tell of them. */
void nvme_raise_pin_again(NvmeCtrl *ctrl);

/* When coalesced completions are to be signalled; SSD_TIME_NEVER: none are. */
uint64_t nvme_coalescing_deadline_ns(const NvmeCtrl *ctrl);

#endif
