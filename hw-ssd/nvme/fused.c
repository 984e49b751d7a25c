/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fused.c - Compare and Write as one operation (Base 1.4, Fused Operations; NVM
 * Command Set 1.0, Compare and Write).
 *
 * The Write begins when the Compare has ended in the drive.  From the
 * beginning of the one to the end of the other no command is taken that may
 * change the range; reads are taken, and find the data before or after.
 *
 * The range is in one mapping unit (NACWU): a power cut tears it as little as
 * any other write of a unit.
 */
#include "nvme-internal.h"
#include "namespace/namespace.h"
#include "dispatch.h"
#include "fused.h"
#include "queue/request.h"
#include "ring.h"
#include "queue/steps.h"

static uint64_t nblocks_of(const NvmeSqe *sqe)
{
    return (sqe->dw[12] & 0xffff) + 1;
}

static bool overlaps(const NvmeRequest *r, const NvmeSqe *sqe)
{
    uint64_t lba = nvme_sqe_slba(sqe);

    return r->nsid == sqe->dw[1] && lba < r->lba + r->nblocks &&
           (r->lba <= lba || r->lba - lba < nblocks_of(sqe));
}

bool nvme_fused_blocks(const NvmeCtrl *ctrl, const NvmeSqe *sqe)
{
    switch (nvme_sqe_opcode(sqe)) {
    case NVME_IO_READ:
    case NVME_IO_FLUSH:
    case NVME_IO_VERIFY:
    case NVME_IO_CANCEL:
        return false;
    case NVME_IO_WRITE:
    case NVME_IO_WRITE_ZEROES:
    case NVME_IO_WRITE_UNCORRECTABLE:
    case NVME_IO_COMPARE:
        for (const NvmeRequest *r = ctrl->sub->requests.locks; r;
             r = r->lock_next) {
            if (overlaps(r, sqe)) {
                return true;
            }
        }
        return false;
    default: /* its ranges are in guest memory */
        return true;
    }
}

/* The Compare has ended well. */
static uint16_t begin_second(NvmeCtrl *ctrl, NvmeRequest *req)
{
    NvmeSqe sqe = *req->sqe;

    sqe.dw[0] &= ~NVME_FUSE_BITS;
    return nvme_dispatch(ctrl, req, &sqe);
}

/* Status of the first command, and of the second; 0: they are a pair. */
static uint16_t check_pair(const NvmeCtrl *ctrl, const NvmeSqe *first,
                           const NvmeSqe *second, uint16_t *status)
{
    const NvmeNamespace *ns = nvme_ns_find(ctrl, first->dw[1]);
    uint64_t lba = nvme_sqe_slba(first);
    uint64_t last = lba + nblocks_of(first) - 1;
    uint64_t unit = ctrl->unit_blocks >> (ns ? ns->drive_shift : 0);

    *status = NVME_SC_INVALID_FIELD;
    if (nvme_sqe_opcode(second) != NVME_IO_WRITE ||
        first->dw[1] != second->dw[1] || lba != nvme_sqe_slba(second) ||
        nblocks_of(first) != nblocks_of(second)) {
        return NVME_SC_INVALID_FIELD;
    }
    *status = NVME_SC_FAILED_FUSED;
    return lba / unit == last / unit ? 0 : NVME_SC_ATOMIC_UNIT;
}

static void take_pair(NvmeCtrl *ctrl, NvmeSq *sq, const NvmeSqe *sqe1,
                      const NvmeSqe *sqe2)
{
    uint16_t status2;
    uint16_t status = check_pair(ctrl, sqe1, sqe2, &status2);
    NvmeRequest *first = nvme_take(ctrl, sq, sqe1);
    NvmeRequest *second = nvme_take(ctrl, sq, sqe2);
    NvmeSqe sqe = *sqe1;

    if (status) {
        nvme_refuse(ctrl, first, status);
        nvme_refuse(ctrl, second, status2);
        return;
    }
    second->sqe = g_memdup2(sqe2, sizeof(*sqe2));
    second->then = begin_second;
    second->pending = 1;
    second->lba = nvme_sqe_slba(sqe2);
    second->nblocks = (uint32_t)nblocks_of(sqe2);
    nvme_request_lock(ctrl, second);
    first->fused = second;
    sqe.dw[0] &= ~NVME_FUSE_BITS;
    nvme_begin(ctrl, first, &sqe);
}

static uint16_t status_alone(const NvmeSqe *sqe)
{
    unsigned fuse = nvme_sqe_fuse(sqe);
    uint8_t opcode = nvme_sqe_opcode(sqe);
    bool known = (fuse == NVME_FUSE_FIRST && opcode == NVME_IO_COMPARE) ||
                 (fuse == NVME_FUSE_SECOND && opcode == NVME_IO_WRITE);

    return known ? NVME_SC_MISSING_FUSED : NVME_SC_INVALID_FIELD;
}

unsigned nvme_fused_take(NvmeCtrl *ctrl, NvmeSq *sq, const NvmeSqe *first,
                         const NvmeSqe *second)
{
    bool pair = nvme_sqe_fuse(first) == NVME_FUSE_FIRST &&
                nvme_sqe_opcode(first) == NVME_IO_COMPARE && second &&
                nvme_sqe_fuse(second) == NVME_FUSE_SECOND;

    if (pair && ctrl->sub->requests.starved_first) {
        return 0; /* commands before it have not taken effect */
    }
    sq->head = ring_after(sq->head, sq->size);
    if (!pair) {
        nvme_refuse(ctrl, nvme_take(ctrl, sq, first), status_alone(first));
        return 1;
    }
    sq->head = ring_after(sq->head, sq->size);
    take_pair(ctrl, sq, first, second);
    return 2;
}
