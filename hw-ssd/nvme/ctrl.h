/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctrl.h - the limits of a configuration. */
#ifndef VSSD_NVME_CTRL_H
#define VSSD_NVME_CTRL_H

#include "rooms.h"
#if NVME_ROOM < ROOM_CORE
#error "the core of hw-ssd/nvme is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* A new controller of a subsystem; ctrl->sub is set. */
void nvme_ctrl_init(NvmeCtrl *ctrl, const NvmeMachine *machine, void *opaque);

#endif
