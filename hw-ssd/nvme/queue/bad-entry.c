/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bad-entry.c - scripted faults of a completion entry (docs/faults.md).
 *
 * Knows the fields of an entry; cmd-faults.c says which entry, completion.c
 * posts it.
 */
#include "queue/bad-entry.h"

void nvme_spoil_entry(NvmeCq *cq, uint8_t fault)
{
    NvmeCqEntry *e = &cq->batch[cq->nbatch - 1];

    switch (fault) {
    case NVME_FAULT_CID: /* all bits: no driver has so many commands */
        e->cid ^= 0xffff;
        break;
    case NVME_FAULT_SQHD:
        e->sqhd ^= 0xffff;
        break;
    case NVME_FAULT_PHASE:
        e->status ^= nvme_le16(1);
        cq->bad_phases |= 1U << (cq->nbatch - 1);
        break;
    default:
        break;
    }
}

bool nvme_entry_again(NvmeRequest *req)
{
    bool again = req->fault == NVME_FAULT_DUPLICATE;

    req->fault = again ? NVME_FAULT_NONE : req->fault;
    req->modelled &= !again; /* its lateness was counted */
    return again;
}
