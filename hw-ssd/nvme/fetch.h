/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fetch.h - fetching entries from submission queues. */
#ifndef VSSD_NVME_FETCH_H
#define VSSD_NVME_FETCH_H

#include "rooms.h"
#if NVME_ROOM < ROOM_CORE
#error "the core of hw-ssd/nvme is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* At most *budget entries, which shrinks.  true: something was fetched. */
bool nvme_fetch(NvmeCtrl *ctrl, unsigned *budget);

#endif
