/* SPDX-License-Identifier: GPL-2.0-or-later */
/* upkeep.h - periodic work. */
#ifndef VSSD_NVME_UPKEEP_H
#define VSSD_NVME_UPKEEP_H

#include "rooms.h"
#if NVME_ROOM < ROOM_CORE
#error "the core of hw-ssd/nvme is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* If it is time for it; true: the drive has got work, or a command has ended.
 * And when it will be. */
bool nvme_upkeep_work(NvmeCtrl *ctrl);
uint64_t nvme_upkeep_ns(const NvmeCtrl *ctrl);

/* The same.  With most hosts nothing waits, most of the time. */
static inline bool nvme_upkeep(NvmeCtrl *ctrl)
{
    return G_UNLIKELY(!ctrl->sub->upkeep.quiet ||
                      payload_wants_upkeep(ctrl->payload)) &&
           nvme_upkeep_work(ctrl);
}

#endif
