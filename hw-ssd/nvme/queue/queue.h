/* SPDX-License-Identifier: GPL-2.0-or-later */
/* queue.h - opening and closing queues. */
#ifndef VSSD_NVME_QUEUE_H
#define VSSD_NVME_QUEUE_H

#include "rooms.h"
#if NVME_ROOM < ROOM_QUEUE
#error "hw-ssd/nvme/queue is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

void nvme_queue_init(NvmeCtrl *ctrl);
void nvme_sq_open(NvmeCtrl *ctrl, unsigned id, unsigned cqid, uint64_t addr,
                  uint32_t size, uint8_t priority, bool in_cmb);
void nvme_cq_open(NvmeCtrl *ctrl, unsigned id, uint64_t addr, uint32_t size,
                  unsigned vector, bool ien, bool in_cmb);
/* Its commands end as aborted, and the Delete waits for their parts in the
 * drive. */
void nvme_sq_delete(NvmeCtrl *ctrl, unsigned id, NvmeRequest *deletion);
void nvme_cq_close(NvmeCtrl *ctrl, unsigned id);
void nvme_queues_close(NvmeCtrl *ctrl);

/* Doorbell Buffer Config: the addresses of both pages. */
void nvme_shadow_config(NvmeCtrl *ctrl, uint64_t db, uint64_t ei);

#endif
