/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwritten.c - the error for blocks without data (NVM Command Set 1.0,
 * Deallocated or Unwritten Logical Blocks; DULBE of the Error Recovery
 * feature).
 *
 * The drive knows by mapping units: a unit of which one block is written counts
 * as written.  A zone has no data behind its capacity.
 */
#include "nvme-internal.h"
#include "data/data.h"
#include "data/unwritten.h"
#include "namespace/namespace.h"
#include "zone/zones.h"

/* The first of n blocks of the drive, in order there, whose unit is not mapped;
 * UINT64_MAX: there is none. */
static uint64_t find_in_piece(const NvmeCtrl *ctrl, uint64_t lba, uint64_t n)
{
    uint64_t end = lba + n;

    while (lba < end && ssd_mapped(ctrl->ssd, lba, NULL)) {
        lba += ctrl->unit_blocks - lba % ctrl->unit_blocks;
    }
    return lba < end ? lba : UINT64_MAX;
}

static uint16_t check(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                      uint64_t first, uint64_t nblocks, uint64_t *lba)
{
    uint64_t backed =
        nvme_is_zoned(ns) ? nvme_zone_backed(ctrl, first, nblocks) : nblocks;
    uint64_t from = first << ns->drive_shift;
    uint64_t left = backed << ns->drive_shift;

    while (left) {
        uint64_t at;
        uint64_t n = nvme_ns_piece(ns, from, left, &at);
        uint64_t found = find_in_piece(ctrl, at, n);

        if (found != UINT64_MAX) {
            *lba = nvme_ns_from_drive(ns, found);
            return NVME_SC_UNWRITTEN;
        }
        from += n;
        left -= n;
    }
    *lba = first + backed;
    return backed < nblocks ? NVME_SC_UNWRITTEN : 0;
}

uint16_t nvme_check_written(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                            uint64_t first, uint64_t nblocks, uint64_t *lba)
{
    return G_UNLIKELY(ns->error_recovery & NVME_DULBE)
               ? check(ctrl, ns, first, nblocks, lba)
               : 0;
}

uint16_t nvme_check_request(const NvmeCtrl *ctrl, NvmeRequest *req)
{
    return nvme_check_written(ctrl, req->ns, req->lba, req->nblocks, &req->lba);
}
