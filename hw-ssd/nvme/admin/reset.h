/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reset.h - resets of one controller; nvme_reset() is in nvme.h. */
#ifndef VSSD_NVME_RESET_H
#define VSSD_NVME_RESET_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ADMIN
#error "hw-ssd/nvme/admin is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* As CC.EN 1 to 0.  Of a primary controller: its secondaries go Offline. */
void nvme_disable(NvmeCtrl *ctrl);

/* Of one that is in that state already: only its resources go. */
void nvme_secondary_offline(NvmeSecondary *s);
void nvme_secondaries_offline(NvmeSubsys *sub);

/* It has the resources that it needs (nvme_secondary_ready()). */
void nvme_secondary_online(NvmeSecondary *s);

#endif
