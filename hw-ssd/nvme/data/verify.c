/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify.c - the Verify command (NVM Command Set 1.0, Verify command).
 *
 * The drive reads the blocks and decodes them, and none of the data crosses the
 * host link.  The store is read, too, so that its errors are found.
 */
#include "nvme-internal.h"
#include "data/data.h"
#include "data/verify.h"

uint16_t nvme_verify(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint16_t status = nvme_take_read_range(ctrl, req, sqe);

    if (!status) {
        req->read_for = NVME_READ_TO_VERIFY;
        req->buf_bytes = (size_t)req->bytes;
        req->buf = payload_buf_get(ctrl->payload, req->buf_bytes);
        nvme_start_read(ctrl, req, nvme_wants_fua(sqe));
    }
    return status;
}
