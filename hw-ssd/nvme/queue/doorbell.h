/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doorbell.h - doorbell registers and shadow doorbells. */
#ifndef VSSD_NVME_DOORBELL_H
#define VSSD_NVME_DOORBELL_H

#include "rooms.h"
#if NVME_ROOM < ROOM_QUEUE
#error "hw-ssd/nvme/queue is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* A register write, from NVME_REG_DOORBELLS on. */
void nvme_doorbell(NvmeCtrl *ctrl, uint64_t offset, uint32_t value);

/* Look at the tails of I/O queues in the shadow. */
void nvme_read_shadows(NvmeCtrl *ctrl);

/* Ask for a doorbell after the next change of an I/O queue; true: there was one
 * already. */
bool nvme_arm_doorbells(NvmeCtrl *ctrl);

#endif
