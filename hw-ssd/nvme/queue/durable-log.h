/* SPDX-License-Identifier: GPL-2.0-or-later */
/* durable-log.h - the log of durable data (docs/durable-log-format.md). */
#ifndef VSSD_NVME_DURABLE_LOG_H
#define VSSD_NVME_DURABLE_LOG_H

#include "rooms.h"
#if NVME_ROOM < ROOM_QUEUE
#error "hw-ssd/nvme/queue is above this room: docs/architecture.md"
#endif

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "nvme.h"

typedef struct NvmeDurableLog NvmeDurableLog;

/* A drive of nblocks.  NULL: *error says why the file cannot be written. */
NvmeDurableLog *nvme_durable_log_new(const char *path, uint32_t block_bytes,
                                     uint64_t nblocks, GError **error);

/* Writes the rest.  false: the file is not complete, *error says why. */
bool nvme_durable_log_free(NvmeDurableLog *log, GError **error);

/* From now_ns on, a power cut leaves this in the blocks; data NULL: zeroes. */
void nvme_durable_log_data(NvmeDurableLog *log, uint64_t now_ns, uint64_t lba,
                           uint64_t nblocks, const uint8_t *data);

/* The start or the end of an I/O command. */
void nvme_durable_log_command(NvmeDurableLog *log, uint64_t now_ns,
                              const NvmeTrace *t);

#endif
