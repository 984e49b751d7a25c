/* SPDX-License-Identifier: GPL-2.0-or-later */
/* queue-state.h - the queues of a controller in a stream. */
#ifndef VSSD_NVME_QUEUE_STATE_H
#define VSSD_NVME_QUEUE_STATE_H

#include "rooms.h"
#if NVME_ROOM < ROOM_CORE
#error "the core of hw-ssd/nvme is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

#include "state.h"

/* Saved or loaded: the queues; then the commands in them.  Of a controller
 * whose registers have been loaded, and are checked. */
bool nvme_queues_state(State *s, NvmeCtrl *ctrl);
bool nvme_waiting_state(State *s, NvmeCtrl *ctrl);

extern const StateStruct nvme_cq_struct;
extern const StateStruct nvme_sq_struct;

#endif
