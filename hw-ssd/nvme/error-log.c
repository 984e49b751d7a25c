/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * error-log.c - the Error Information log (clause 5.14.1.1).
 */
#include "nvme-internal.h"
#include "error-log.h"

#define ERROR_ENTRY_BYTES 64

void nvme_log_error(NvmeCtrl *ctrl, unsigned sqid, const NvmeRequest *req,
                    uint16_t status)
{
    NvmeErrorEntry *e = &ctrl->errors[ctrl->nerrors++ % NVME_ERROR_ENTRIES];

    *e = (NvmeErrorEntry){
        .count = ctrl->nerrors,
        .sqid = sqid,
        .cid = req ? req->cid : 0xffff,
        .status = status << 1,
        .location = 0xffff, /* not one parameter */
        .nsid = req ? req->nsid : 0,
        .lba = req && !req->admin ? req->lba : 0,
    };
}

void nvme_fill_error_log(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                         uint8_t *page)
{
    uint64_t n = MIN(ctrl->nerrors, NVME_ERROR_ENTRIES);

    for (uint64_t i = 0; i < n; i++) { /* the newest first */
        const NvmeErrorEntry *e =
            &ctrl->errors[(ctrl->nerrors - 1 - i) % NVME_ERROR_ENTRIES];
        uint8_t *p = page + i * ERROR_ENTRY_BYTES;

        put_le64(p, e->count);
        put_le16(p + 8, e->sqid);
        put_le16(p + 10, e->cid);
        put_le16(p + 12, e->status);
        put_le16(p + 14, e->location);
        put_le64(p + 16, e->lba);
        put_le32(p + 24, e->nsid);
    }
}
