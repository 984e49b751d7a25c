/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cancel.c - the Cancel command (Base 2.1, Cancel command): one command of the
 * same submission queue, or all.
 *
 * A command that the drive has not begun ends soon after the Cancel, as
 * aborted. So every abort is a deferred one (dword 0 of the completion, 31:16),
 * and the count of immediate aborts (15:0) is 0.
 */
#include "nvme-internal.h"
#include "queue/cancel.h"
#include "namespace/namespace.h"
#include "queue/steps.h"

enum { CANCEL_ONE, CANCEL_ALL };

#define CID_ALL 0xffff

static uint16_t check(const NvmeCtrl *ctrl, const NvmeRequest *req,
                      unsigned action, uint16_t sqid, uint16_t cid)
{
    if (!req->ns && req->nsid != NVME_NSID_ALL) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    if (action > CANCEL_ALL || sqid != req->sq->id ||
        (action == CANCEL_ALL && cid != CID_ALL)) {
        return NVME_SC_INVALID_FIELD;
    }
    return action == CANCEL_ONE && cid == req->cid ? NVME_SC_INVALID_CID : 0;
}

uint16_t nvme_cancel(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    unsigned action = sqe->dw[11] & 3;
    uint16_t cid = sqe->dw[10] >> 16;
    uint16_t status = check(ctrl, req, action, sqe->dw[10] & 0xffff, cid);
    unsigned n = 0;

    for (NvmeRequest *r = req->sq->list.sq_next; !status && r != &req->sq->list;
         r = r->sq_next) {
        bool meant = (action == CANCEL_ALL || r->cid == cid) &&
                     (req->nsid == NVME_NSID_ALL || r->nsid == req->nsid);

        if (meant && r != req && !r->posted && !r->aborted) {
            n += nvme_request_abort(ctrl, r);
        }
    }
    req->dw0 = (uint32_t)MIN(n, UINT16_MAX) << 16;
    return status;
}
