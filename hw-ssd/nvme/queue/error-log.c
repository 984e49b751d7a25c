/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * error-log.c - the Error Information log (LID 01h).
 */
#include "nvme-internal.h"
#include "queue/error-log.h"

void nvme_log_error(NvmeCtrl *ctrl, unsigned sqid, const NvmeRequest *req,
                    uint16_t status)
{
    uint64_t at = ctrl->error_log.n++ % NVME_ERROR_ENTRIES;

    ctrl->error_log.specific[at] = req ? req->specific : 0;
    ctrl->error_log.entry[at] = (NvmeErrorEntry){
        .count = ctrl->error_log.n,
        .sqid = sqid,
        .cid = req ? req->cid : 0xffff,
        .status = status << 1,
        .location = 0xffff, /* not one parameter */
        .nsid = req ? req->nsid : 0,
        .lba = req && !req->admin ? req->lba : 0,
    };
}

void nvme_fill_error_log(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                         void *page)
{
    NvmeErrorLogEntry *entry = page;
    uint64_t n = MIN(ctrl->error_log.n, NVME_ERROR_ENTRIES);

    for (uint64_t k = 0; k < n; k++) { /* the newest first */
        uint64_t at = (ctrl->error_log.n - 1 - k) % NVME_ERROR_ENTRIES;
        const NvmeErrorEntry *e = &ctrl->error_log.entry[at];

        entry[k] = (NvmeErrorLogEntry){
            .count = nvme_le64(e->count),
            .sqid = nvme_le16(e->sqid),
            .cid = nvme_le16(e->cid),
            .status = nvme_le16(e->status),
            .location = nvme_le16(e->location),
            .lba = nvme_le64(e->lba),
            .nsid = nvme_le32(e->nsid),
            .cs = nvme_le64(ctrl->error_log.specific[at]),
        };
    }
}
