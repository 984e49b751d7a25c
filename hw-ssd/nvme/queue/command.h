/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command.h - tables of commands. */
#ifndef VSSD_NVME_COMMAND_H
#define VSSD_NVME_COMMAND_H

#include "rooms.h"
#if NVME_ROOM < ROOM_QUEUE
#error "hw-ssd/nvme/queue is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Of log page 05h; the scope (Base 2.0) is that of the namespace for I/O
 * commands, and of the controller for others that name no scope. */
#define NVME_EFFECT_SUPPORTED          0x1
#define NVME_EFFECT_CHANGES_DATA       0x2
#define NVME_EFFECT_CHANGES_NS         0x4
#define NVME_EFFECT_CHANGES_NS_LIST    0x8
#define NVME_EFFECT_CHANGES_CONTROLLER 0x10
/* CSE: alone for its namespace; for all. */
#define NVME_EFFECT_ALONE_NS           (1U << 16)
#define NVME_EFFECT_ALONE              (2U << 16)
#define NVME_EFFECT_SCOPE_NS           (1U << 20)
#define NVME_EFFECT_SCOPE_CONTROLLER   (1U << 21)
#define NVME_EFFECT_SCOPE_NVM_SET      (1U << 22)
#define NVME_EFFECT_SCOPE_GROUP        (1U << 23)
#define NVME_EFFECT_SCOPE_SUBSYSTEM    (1U << 25)
#define NVME_EFFECT_SCOPES             0x03f00000U

/* Only controllers with directives, or with FDP, have the command. */
#define NVME_ONLY_DIRECTIVES 0x80000000U
#define NVME_ONLY_FDP        0x40000000U
/* Only one whose host manages namespaces. */
#define NVME_ONLY_MANAGED    0x20000000U

/* Only one of a subsystem with several. */
#define NVME_ONLY_MULTI 0x04000000U

/* Only a primary controller. */
#define NVME_ONLY_PRIMARY 0x2000U

/* Only one with zones; only one without.  With zones.conventional the drive has
 * both, and it is the namespace that counts (dispatch.c). */
#define NVME_ONLY_ZONED 0x10000000U
#define NVME_NOT_ZONED  0x08000000U

/* Only a drive that has no zones at all. */
#define NVME_NO_ZONES 0x1000U

/*
 * A command.  run() returns a status code; with success it may have set
 * req->waiting or steps, and is then completed later.
 */
typedef struct NvmeCommand {
    uint8_t opcode;
    const char *name;
    uint16_t (*run)(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);
    /* The same of a namespace with metadata; NULL: run() knows none. */
    uint16_t (*with_metadata)(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe);
    uint32_t effects; /* NVME_EFFECT_... and NVME_ONLY_... */
    NvmeWork work;
    const char *help; /* for docs/nvme-support.md */
} NvmeCommand;

typedef struct NvmeCommandTable {
    const NvmeCommand *row;
    unsigned n;
} NvmeCommandTable;

#endif
