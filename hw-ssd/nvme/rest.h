/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rest.h - a controller at rest. */
#ifndef VSSD_NVME_REST_H
#define VSSD_NVME_REST_H

#include "rooms.h"
#if NVME_ROOM < ROOM_CORE
#error "the core of hw-ssd/nvme is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

bool nvme_at_rest(const NvmeCtrl *ctrl);

#endif
