/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ns-state.h - the table of namespaces as a part of a stream. */
#ifndef VSSD_NVME_NS_STATE_H
#define VSSD_NVME_NS_STATE_H

#include "rooms.h"
#if NVME_ROOM < ROOM_CORE
#error "the core of hw-ssd/nvme is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"
#include "state.h"

/* Save or load it; checks every number. */
bool nvme_ns_state(State *s, NvmeCtrl *ctrl);

#endif
