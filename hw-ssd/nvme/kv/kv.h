/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kv.h - commands of the Key Value Command Set, and its Identify structures. */
#ifndef VSSD_NVME_KV_H
#define VSSD_NVME_KV_H

#include "rooms.h"
#if NVME_ROOM < ROOM_KV
#error "hw-ssd/nvme/kv is above this room: docs/architecture.md"
#endif

#include "queue/command.h"
#include "nvme-internal.h"

/* Those of a namespace of key-value pairs, in place of nvme_io_commands. */
extern const NvmeCommandTable nvme_kv_commands;

/* Flush of all namespaces, after the commits of those with key-value pairs. */
uint16_t nvme_kv_flush_all(NvmeCtrl *ctrl, NvmeRequest *req);

/* Identify, CNS 05h (and 1Bh), 06h, 0Ah; there is one format, number 0. */
uint16_t nvme_identify_kv_namespace(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                    void *data);
uint16_t nvme_identify_kv_controller(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                     void *data);
uint16_t nvme_identify_kv_format(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                 void *data);

#endif
