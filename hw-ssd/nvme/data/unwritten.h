/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unwritten.h - the error for blocks without data (DULBE). */
#ifndef VSSD_NVME_UNWRITTEN_H
#define VSSD_NVME_UNWRITTEN_H

#include "rooms.h"
#if NVME_ROOM < ROOM_DATA
#error "hw-ssd/nvme/data is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/*
 * May the range be read, which is in the namespace and counts its blocks?
 * Status code: NVME_SC_UNWRITTEN, if the namespace has DULBE and the drive has
 * no data of a block.  *lba is the first such block then.
 */
uint16_t nvme_check_written(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                            uint64_t first, uint64_t nblocks, uint64_t *lba);

/* The same of the range of the request; its error log entry names the block. */
uint16_t nvme_check_request(const NvmeCtrl *ctrl, NvmeRequest *req);

#endif
