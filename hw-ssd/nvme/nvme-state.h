/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvme-state.h - the rows of saved members, for a test. */
#ifndef VSSD_NVME_NVME_STATE_H
#define VSSD_NVME_NVME_STATE_H

#include "rooms.h"
#if NVME_ROOM < ROOM_CORE
#error "the core of hw-ssd/nvme is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* NULL: there are no more. */
const StateStruct *nvme_state_struct(unsigned i);

#endif
