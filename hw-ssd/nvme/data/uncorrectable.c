/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uncorrectable.c - the Write Uncorrectable command (NVM Command Set 1.0, Write
 * Uncorrectable command).
 *
 * A write whose blocks carry a mark in place of data (payload/marks.c): it
 * costs what a write inside the drive costs, and is as durable as a write is.
 * It has no FUA bit.
 */
#include "nvme-internal.h"
#include "data/data.h"
#include "placement/directives.h"
#include "data/uncorrectable.h"

uint16_t nvme_write_uncorrectable(NvmeCtrl *ctrl, NvmeRequest *req,
                                  const NvmeSqe *sqe)
{
    uint16_t status = nvme_take_range(ctrl, req, sqe, true);

    if (!status) {
        nvme_set_durability(ctrl, req, false);
        status = nvme_add_write(ctrl, req, nvme_drive_first(req),
                                nvme_drive_blocks(req), NVME_FROM_MARKS);
    }
    return status ? status : nvme_take_directive(ctrl, req, sqe);
}
