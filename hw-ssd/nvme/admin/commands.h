/* SPDX-License-Identifier: GPL-2.0-or-later */
/* commands.h - the tables of commands, and which of them a controller has. */
#ifndef VSSD_NVME_COMMANDS_H
#define VSSD_NVME_COMMANDS_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ADMIN
#error "hw-ssd/nvme/admin is above this room: docs/architecture.md"
#endif

#include "admin/secondary.h"
#include "placement/directives.h"
#include "queue/command.h"

extern const NvmeCommandTable nvme_admin_commands; /* admin.c */
extern const NvmeCommandTable nvme_io_commands;    /* io.c */

/* As log page 05h has it; 0: the controller does not have the command. */
static inline uint32_t nvme_command_effects(const NvmeCtrl *ctrl,
                                            const NvmeCommand *c)
{
    if ((c->effects & NVME_ONLY_DIRECTIVES && !nvme_has_directives(ctrl)) ||
        (c->effects & NVME_ONLY_FDP && !nvme_has_fdp(ctrl)) ||
        (c->effects & NVME_ONLY_MANAGED &&
         (!ctrl->sub->namespaces.managed || ctrl->cfg.namespaces_fixed)) ||
        (c->effects & NVME_ONLY_ZONED && !ctrl->sub->zones.n) ||
        (c->effects & NVME_NOT_ZONED && ctrl->sub->zones.n &&
         !ctrl->sub->zones.end) ||
        (c->effects & NVME_NO_ZONES && ctrl->sub->zones.n) ||
        (c->effects & NVME_ONLY_MULTI && !nvme_is_multi(ctrl)) ||
        (c->effects & NVME_ONLY_PRIMARY && !nvme_is_primary(ctrl))) {
        return 0;
    }
    return c->effects & ~(NVME_ONLY_DIRECTIVES | NVME_ONLY_FDP |
                          NVME_ONLY_MANAGED | NVME_ONLY_ZONED | NVME_NOT_ZONED |
                          NVME_ONLY_MULTI | NVME_ONLY_PRIMARY | NVME_NO_ZONES);
}

#endif
