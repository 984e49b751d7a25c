/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd-faults.h - scripted faults of commands, interrupts and controllers, of
 * one subsystem.  NvmeSubsys.faults is NULL while there is no rule and no
 * command waits.
 */
#ifndef VSSD_NVME_CMD_FAULTS_H
#define VSSD_NVME_CMD_FAULTS_H

#include "rooms.h"
#if NVME_ROOM < ROOM_CORE
#error "the core of hw-ssd/nvme is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* The rules of a new drive's file.  false: *error is "path:line: reason". */
bool nvme_faults_load(NvmeCtrl *ctrl, const char *path, GError **error);
void nvme_faults_free(NvmeSubsys *sub);

/* Begin the command, or what a rule makes of it. */
void nvme_faults_execute(NvmeCtrl *ctrl, NvmeSq *sq, const NvmeSqe *sqe);

/* NvmeQueueClient.message */
bool nvme_faults_message(NvmeCtrl *ctrl, unsigned vector);

/* Do what is due; true: there may be more.  When something is due next. */
bool nvme_faults_look(NvmeSubsys *sub);
uint64_t nvme_faults_ns(const NvmeSubsys *sub);

/* The clock is set back. */
void nvme_faults_rebase(NvmeSubsys *sub, uint64_t by_ns);

#endif
