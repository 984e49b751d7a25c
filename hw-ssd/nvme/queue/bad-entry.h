/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bad-entry.h - scripted faults of a completion entry. */
#ifndef VSSD_NVME_BAD_ENTRY_H
#define VSSD_NVME_BAD_ENTRY_H

#include "rooms.h"
#if NVME_ROOM < ROOM_QUEUE
#error "hw-ssd/nvme/queue is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* NvmeRequest.fault: what happens to the completion of a command; or to its
 * data. */
enum {
    NVME_FAULT_NONE,
    NVME_FAULT_STATUS, /* the status is a rule's, with its DNR and CRD */
    NVME_FAULT_LOSE,
    NVME_FAULT_DUPLICATE,
    NVME_FAULT_CID,
    NVME_FAULT_SQHD,
    NVME_FAULT_PHASE,
    NVME_FAULT_NO_FUA, /* it is not durable when it completes */
};

/* Spoil the newest entry of the batch, before it is written out. */
void nvme_spoil_entry(NvmeCq *cq, uint8_t fault);

/* Is the entry to be posted once more?  Not again after that. */
bool nvme_entry_again(NvmeRequest *req);

#endif
