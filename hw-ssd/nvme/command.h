/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command.h - tables of commands. */
#ifndef VSSD_NVME_COMMAND_H
#define VSSD_NVME_COMMAND_H

#include "nvme-internal.h"

/* Of log page 05h. */
#define NVME_EFFECT_SUPPORTED    0x1
#define NVME_EFFECT_CHANGES_DATA 0x2

/* Only controllers with directives, or with FDP, have the command. */
#define NVME_ONLY_DIRECTIVES 0x80000000U
#define NVME_ONLY_FDP        0x40000000U

/*
 * A command.  run() returns a status code; with success it may have set
 * req->waiting or steps, and is then completed later.
 */
typedef struct NvmeCommand {
    uint8_t opcode;
    const char *name;
    uint16_t (*run)(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);
    uint32_t effects; /* NVME_EFFECT_... and NVME_ONLY_... */
    NvmeWork work;
    const char *help; /* for docs/nvme-support.md */
} NvmeCommand;

typedef struct NvmeCommandTable {
    const NvmeCommand *row;
    unsigned n;
} NvmeCommandTable;

extern const NvmeCommandTable nvme_admin_commands; /* admin.c */
extern const NvmeCommandTable nvme_io_commands;    /* io.c */

/* As log page 05h has it; 0: the controller does not have the command. */
static inline uint32_t nvme_command_effects(const NvmeCtrl *ctrl,
                                            const NvmeCommand *c)
{
    if ((c->effects & NVME_ONLY_DIRECTIVES && !nvme_has_directives(ctrl)) ||
        (c->effects & NVME_ONLY_FDP && !nvme_has_fdp(ctrl))) {
        return 0;
    }
    return c->effects & ~(NVME_ONLY_DIRECTIVES | NVME_ONLY_FDP);
}

#endif
