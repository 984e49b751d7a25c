/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zone-state.h - zones as a stream of bytes, and back. */
#ifndef VSSD_NVME_ZONE_STATE_H
#define VSSD_NVME_ZONE_STATE_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ZONE
#error "hw-ssd/nvme/zone is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"
#include "state.h"

/* Nothing, if the drive has no zones. */
bool nvme_zones_state(State *s, NvmeCtrl *ctrl);

#endif
