/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copy.c - the Copy command (NVM Command Set 1.0, Copy command; 1.1 for source
 * ranges of other namespaces, formats 2h and 3h).
 *
 * The drive reads all source ranges, then writes the destination, and no data
 * crosses the host link.  A command that fails has written nothing, so dword 0
 * of its completion is 0: no source range was copied.
 *
 * Formats 2h and 3h are there once the host has enabled them (Base 2.1, Host
 * Behavior Support, CDFE).
 */
#include "nvme-internal.h"
#include "data/copy.h"
#include "data/data.h"
#include "data/unwritten.h"
#include "placement/directives.h"
#include "erase/erase-job.h"
#include "namespace/namespace.h"
#include "metadata/metadata.h"
#include "memory/prp.h"
#include "queue/request.h"
#include "reservation/reservation.h"
#include "zone/zones.h"

#define FORMATS_WITH_NSID 0xc

static bool has_nsid(unsigned format)
{
    return FORMATS_WITH_NSID >> format & 1;
}

static uint16_t check_format(const NvmeCtrl *ctrl, unsigned format)
{
    bool there = nvme_copy_formats(ctrl) >> format & 1;
    bool enabled =
        !has_nsid(format) || ctrl->features.copy_formats >> format & 1;

    return there && enabled ? 0 : NVME_SC_INVALID_FIELD;
}

static bool overlap(const NvmeRange *a, const NvmeRange *b)
{
    return a->ns == b->ns && a->first < b->first + b->nblocks &&
           b->first < a->first + a->nblocks;
}

/* A source is of one zone, and within its capacity. */
static uint16_t check_zone(const NvmeCtrl *ctrl, const NvmeRange *r)
{
    uint16_t status = nvme_zone_check_read(ctrl, r->first, r->nblocks);

    return !status && nvme_zone_backed(ctrl, r->first, r->nblocks) < r->nblocks
               ? NVME_SC_ZONE_BOUNDARY
               : status;
}

/* In blocks of the namespace. */
static uint16_t take_source(const NvmeCtrl *ctrl, const NvmeRequest *req,
                            const NvmeCopyRange *r, bool other, NvmeRange *out)
{
    uint32_t nsid = other ? nvme_le32(r->snsid) : req->nsid;
    uint64_t unwritten;
    uint16_t status;

    *out = (NvmeRange){
        .ns = nvme_ns_find(ctrl, nsid),
        .first = nvme_le64(r->slba),
        .nblocks = (uint64_t)nvme_le16(r->nlb) + 1,
    };
    if (!out->ns) {
        return nvme_ns_missing(ctrl, nsid);
    }
    if (nvme_is_formatting(ctrl, nsid)) {
        return NVME_SC_FORMAT_IN_PROGRESS;
    }
    if (ctrl->sub->n_reserved &&
        !nvme_reservation_allows(ctrl, out->ns, false)) {
        return NVME_SC_RESERVATION_CONFLICT;
    }
    if (out->ns->kv || !nvme_metadata_same(out->ns, req->ns)) {
        return NVME_SC_INCOMPATIBLE_NS;
    }
    if (out->nblocks > nvme_copy_most(ctrl, req->ns)) {
        return NVME_SC_COMMAND_SIZE;
    }
    if (!nvme_ns_has(out->ns, out->first, out->nblocks)) {
        return NVME_SC_LBA_RANGE;
    }
    status = nvme_is_zoned(out->ns) ? check_zone(ctrl, out) : 0;
    return status ? status
                  : nvme_check_written(ctrl, out->ns, out->first, out->nblocks,
                                       &unwritten);
}

static NvmePiSource source_of(const NvmeRange *r)
{
    return (NvmePiSource){
        .lba = r->first,
        .nblocks = (uint32_t)r->nblocks,
    };
}

/* All source ranges; req->nblocks is their sum. */
static uint16_t take_sources(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe, NvmeRange *range, unsigned n)
{
    unsigned format = sqe->dw[12] >> 8 & 0xf;
    size_t step = format & 1 ? NVME_COPY_RANGE_LONG : sizeof(NvmeCopyRange);
    uint8_t data[NVME_COPY_RANGES * NVME_COPY_RANGE_LONG];
    uint16_t status = nvme_from_host(ctrl, sqe, data, n * step);
    uint64_t sum = 0;

    for (unsigned i = 0; i < n && !status; i++) {
        NvmeCopyRange r;

        memcpy(&r, data + i * step, sizeof(r));
        status = take_source(ctrl, req, &r, has_nsid(format), &range[i]);
        sum += range[i].nblocks;
        if (!status && req->metadata) {
            nvme_metadata_copy_source(req, sqe, source_of(&range[i]),
                                      data + i * step);
        }
    }
    if (!status && sum > nvme_copy_most(ctrl, req->ns)) {
        status = NVME_SC_COMMAND_SIZE;
    }
    req->nblocks = (uint32_t)sum;
    return status;
}

static uint16_t check_destination(const NvmeRequest *req,
                                  const NvmeRange *range, unsigned n)
{
    NvmeRange to = {req->ns, req->lba, req->nblocks};

    if (!nvme_ns_has(req->ns, req->lba, req->nblocks)) {
        return NVME_SC_LBA_RANGE;
    }
    for (unsigned i = 0; i < n; i++) {
        if (overlap(&range[i], &to)) {
            return NVME_SC_OVERLAPPING_IO;
        }
    }
    return 0;
}

/* All of it has been read. */
static uint16_t write_copy(NvmeCtrl *ctrl, NvmeRequest *req)
{
    uint16_t status = req->metadata ? nvme_metadata_copied(ctrl, req) : 0;

    if (!status) {
        status = nvme_add_write(ctrl, req, nvme_drive_first(req),
                                nvme_drive_blocks(req), NVME_FROM_BUFFER);
    }
    if (!status && req->metadata) {
        nvme_metadata_fill(ctrl, req);
    }
    nvme_request_put_bufs(ctrl, req);
    return status;
}

static void read_sources(NvmeCtrl *ctrl, NvmeRequest *req, NvmeRange *range,
                         unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        range[i].first <<= range[i].ns->drive_shift;
        range[i].nblocks <<= range[i].ns->drive_shift;
    }
    req->bytes = (uint64_t)req->nblocks << req->ns->block_shift;
    req->buf_bytes = (size_t)req->bytes;
    req->buf = payload_buf_get(ctrl->payload, req->buf_bytes);
    req->buf_done = 0;
    req->read_for = NVME_READ_TO_COPY;
    payload_keep_bytes(ctrl->payload, req->buf_bytes);
    req->then = write_copy;
    nvme_prepare_reads(ctrl, req, range, n);
    if (req->metadata) {
        nvme_metadata_attach(ctrl, req);
    }
    nvme_start_prepared(ctrl, req);
}

uint16_t nvme_copy(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    unsigned n = (sqe->dw[12] & 0xff) + 1;
    NvmeRange range[NVME_COPY_RANGES];
    uint16_t status;

    req->lba = nvme_sqe_slba(sqe);
    if (!req->ns) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    status = check_format(ctrl, sqe->dw[12] >> 8 & 0xf);
    if (!status && n > NVME_COPY_RANGES) {
        status = NVME_SC_COMMAND_SIZE;
    }
    if (!status && req->ns->protection.meta_bytes) {
        status = nvme_metadata_copy_begin(ctrl, req, sqe, n);
    }
    if (!status) {
        status = take_sources(ctrl, req, sqe, range, n);
    }
    if (!status) {
        status = check_destination(req, range, n);
    }
    if (!status && req->metadata) {
        status = nvme_metadata_copy_ready(ctrl, req);
    }
    if (!status) {
        status = nvme_take_directive(ctrl, req, sqe);
    }
    if (!status) {
        nvme_set_durability(ctrl, req, nvme_wants_fua(sqe));
        read_sources(ctrl, req, range, n);
    }
    return status;
}
