/* SPDX-License-Identifier: GPL-2.0-or-later */
/* data.h - ranges of I/O commands, and their data. */
#ifndef VSSD_NVME_DATA_H
#define VSSD_NVME_DATA_H

#include "rooms.h"
#if NVME_ROOM < ROOM_DATA
#error "hw-ssd/nvme/data is above this room: docs/architecture.md"
#endif

#include "namespace/namespace.h"
#include "nvme-internal.h"

/* What a write puts into its blocks. */
typedef enum NvmeDataFrom {
    NVME_FROM_HOST,
    NVME_FROM_ZEROES,
    NVME_FROM_MARKS,       /* uncorrectable */
    NVME_FROM_BUFFER,      /* req->buf */
    NVME_FROM_HOST_BUFFER, /* req->buf, which has been received */
} NvmeDataFrom;

/* The range of a command, in blocks of the drive from the beginning of its
 * namespace, as in all that follows. */
static inline uint64_t nvme_drive_first(const NvmeRequest *req)
{
    return req->lba << req->ns->drive_shift;
}

static inline uint64_t nvme_drive_blocks(const NvmeRequest *req)
{
    return (uint64_t)req->nblocks << req->ns->drive_shift;
}

/* The fields that commands with one range share.  PRINFO is ignored where the
 * namespace is not formatted for end-to-end data protection.  limited: by MDTS,
 * VSL or WUSL.  Status code. */
static inline uint16_t nvme_take_range(NvmeCtrl *ctrl, NvmeRequest *req,
                                       const NvmeSqe *sqe, bool limited)
{
    req->lba = nvme_sqe_slba(sqe);
    req->nblocks = (sqe->dw[12] & 0xffff) + 1;
    if (!req->ns) {
        req->bytes = (uint64_t)req->nblocks << ctrl->block_shift;
        return nvme_ns_missing(ctrl, req->nsid);
    }
    req->bytes = (uint64_t)req->nblocks << req->ns->block_shift;
    if (limited && req->bytes > ctrl->max_bytes) {
        return NVME_SC_INVALID_FIELD;
    }
    return nvme_ns_has(req->ns, req->lba, req->nblocks) ? 0 : NVME_SC_LBA_RANGE;
}

/* The same of a command that reads, which MDTS limits: within one zone. */
uint16_t nvme_take_read_range(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe);

static inline bool nvme_wants_fua(const NvmeSqe *sqe)
{
    return sqe->dw[12] >> 30 & 1;
}

/*
 * When a write is done.  A drive that keeps its buffer promises that accepted
 * data survives, and hosts send it no Flush: so the store has the data
 * before the guest is told, and the end of this process loses none of it.
 */
void nvme_set_durability(const NvmeCtrl *ctrl, NvmeRequest *req, bool fua);

/* Add a WRITE of the range; only data of the host crosses the link.  Status
 * code. */
uint16_t nvme_add_write(NvmeCtrl *ctrl, NvmeRequest *req, uint64_t first,
                        uint64_t nblocks, NvmeDataFrom from);

/* Read ranges, one behind the other, into req->buf. */
typedef struct NvmeRange {
    const NvmeNamespace *ns;
    uint64_t first;
    uint64_t nblocks;
} NvmeRange;

void nvme_start_reads(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeRange *range,
                      unsigned n);
/* The same in two steps: between them the reads of the request are known. */
void nvme_prepare_reads(NvmeCtrl *ctrl, NvmeRequest *req,
                        const NvmeRange *range, unsigned n);
void nvme_start_prepared(NvmeCtrl *ctrl, NvmeRequest *req);

/* The data that will be read must be durable. */
void nvme_read_durable(NvmeRequest *req);

/* Read the range of the request into req->buf.  fua: the data read must be
 * durable. */
void nvme_start_read(NvmeCtrl *ctrl, NvmeRequest *req, bool fua);

/* Read data has arrived: hand it to the guest, or compare. */
void nvme_read_done(NvmeCtrl *ctrl, PayloadRead *rd);

/* The whole mapping units of a range; *whole, in blocks, is 0 if there are
 * none. */
uint64_t nvme_whole_units(const NvmeCtrl *ctrl, uint64_t lba, uint64_t nblocks,
                          uint64_t *whole);

#endif
