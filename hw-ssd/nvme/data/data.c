/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data.c - what I/O commands have in common: their range, reading it, and
 * writing it.
 *
 * Data moves when a command is taken: a WRITE's payload is in the overlay, and
 * a READ's in guest memory, before the drive has worked out when the command
 * completes.  Guest memory is read once.
 */
#include "nvme-internal.h"
#include "data/data.h"
#include "data/unwritten.h"
#include "namespace/atomic.h"
#include "namespace/lba-track.h"
#include "namespace/namespace.h"
#include "memory/sg.h"
#include "queue/bad-entry.h"
#include "queue/request.h"
#include "zone/zones.h"

void nvme_set_durability(const NvmeCtrl *ctrl, NvmeRequest *req, bool fua)
{
    /* With the volatile write cache off, every write is a FUA write. */
    req->fua = (fua || !(ctrl->features.value[NVME_FEAT_VWC] & 1)) &&
               G_LIKELY(req->fault != NVME_FAULT_NO_FUA);
    req->barrier = req->fua || ssd_info(ctrl->ssd)->keeps_buffer;
    req->unflushed = !req->fua;
}

/* Fill the entries of a WRITE. */
static uint16_t fill(NvmeCtrl *ctrl, NvmeRequest *req, PayloadEntry *list,
                     NvmeDataFrom from)
{
    PayloadEntry *cursor = list;
    uint16_t status = 0;
    uint8_t *piece;
    size_t bytes;

    if (from == NVME_FROM_MARKS) {
        payload_write_mark(ctrl->payload, list);
        return 0;
    }
    while (!status &&
           (piece = payload_write_piece(ctrl->payload, &cursor, &bytes))) {
        if (from == NVME_FROM_ZEROES) {
            memset(piece, 0, bytes);
        } else if (from != NVME_FROM_HOST) {
            memcpy(piece, req->buf + req->buf_done, bytes);
            req->buf_done += bytes;
            ctrl->sub->run_bytes += bytes;
        } else {
            status = nvme_sg_read(ctrl, &req->sg, piece, bytes);
        }
    }
    return status;
}

static bool is_of_host(NvmeDataFrom from)
{
    return from == NVME_FROM_HOST || from == NVME_FROM_HOST_BUFFER;
}

uint16_t nvme_add_write(NvmeCtrl *ctrl, NvmeRequest *req, uint64_t first,
                        uint64_t nblocks, NvmeDataFrom from)
{
    uint16_t status = 0;
    bool tears = nvme_atomic_tears_units(ctrl) && is_of_host(from) &&
                 !req->ns->kv &&
                 !nvme_atomic_is_whole(ctrl, req->ns, first, nblocks);

    if (payload_refuses(ctrl->payload)) {
        ctrl->sub->life.media_errors++;
        return NVME_SC_WRITE_FAULT;
    }
    while (nblocks && !status) {
        uint64_t lba;
        uint32_t n = (uint32_t)nvme_ns_piece(req->ns, first, nblocks, &lba);
        NvmeStep *step = nvme_add_step(req, SSD_OP_WRITE, lba, n);

        step->entries = payload_write_new(ctrl->payload, lba, n);
        if (G_UNLIKELY(tears)) {
            payload_write_may_tear(step->entries, 1U << req->ns->drive_shift);
        }
        step->inside = !is_of_host(from);
        step->marks = from == NVME_FROM_MARKS;
        status = fill(ctrl, req, step->entries, from);
        first += n;
        nblocks -= n;
    }
    return status;
}

/* Of several blocks, the first in the namespace is reported. */
static void note_mark(NvmeRequest *req, const PayloadRead *rd)
{
    uint64_t lba = nvme_ns_from_drive(req->ns, rd->bad_lba);

    req->lba = req->marked ? MIN(req->lba, lba) : lba;
    req->marked = true;
}

static uint16_t deliver(NvmeCtrl *ctrl, NvmeRequest *req)
{
    switch (req->read_for) {
    case NVME_READ_FOR_HOST:
        if (req->compare) {
            return memcmp(req->buf, req->compare, req->buf_bytes)
                       ? NVME_SC_COMPARE_FAILURE
                       : 0;
        }
        return nvme_sg_write(ctrl, &req->sg, req->buf, req->buf_bytes);
    case NVME_READ_VALUE:
        return nvme_sg_write(ctrl, &req->sg, req->buf, req->bytes);
    case NVME_READ_PROTECTED:
        return req->received(ctrl, req);
    default:
        return 0;
    }
}

void nvme_read_done(NvmeCtrl *ctrl, PayloadRead *rd)
{
    NvmeRequest *req = rd->owner;
    uint16_t status = 0;

    if (rd->marked) {
        note_mark(req, rd);
        nvme_lba_note(ctrl, rd->bad_lba, 1);
    }
    if (rd->ret) { /* for the piece that ends last */
        nvme_request_reads(req)->ret = rd->ret;
    }
    if (--req->reads_left || !req->sq) {
        return;
    }
    if (nvme_request_reads(req)->ret) {
        ctrl->sub->life.media_errors += !req->marked; /* by the host: no loss */
        status = NVME_SC_UNRECOVERED_READ;
    } else if (req->read_for == NVME_READ_TO_COPY) {
        return;
    } else {
        status = deliver(ctrl, req);
    }
    nvme_request_put_bufs(ctrl, req);
    if (!req->status) {
        req->status = status;
    }
}

/* A step of the drive, and a read of the payload. */
static inline void add_read(NvmeCtrl *ctrl, NvmeRequest *req, uint64_t lba,
                            uint64_t nblocks, uint8_t *buf)
{
    NvmeStep *step = nvme_add_step(req, SSD_OP_READ, lba, (uint32_t)nblocks);

    step->inside = req->read_for == NVME_READ_TO_VERIFY ||
                   req->read_for == NVME_READ_TO_COPY;
    nvme_request_reads(req)[req->reads_left++] = (PayloadRead){
        .lba = lba,
        .nblocks = (uint32_t)nblocks,
        .buf = buf,
        .held_bytes = (req->compare ? 2 : 1) * (nblocks << ctrl->block_shift),
        .owner = req,
    };
}

/* The same for each piece of a range; returns where the next one goes. */
static uint8_t *add_reads(NvmeCtrl *ctrl, NvmeRequest *req, NvmeRange range,
                          uint8_t *buf)
{
    while (range.nblocks) {
        uint64_t lba;
        uint64_t n = nvme_ns_piece(range.ns, range.first, range.nblocks, &lba);

        add_read(ctrl, req, lba, n, buf);
        buf += n << ctrl->block_shift;
        range.first += n;
        range.nblocks -= n;
    }
    return buf;
}

static inline void start_payload_read(NvmeCtrl *ctrl, NvmeRequest *req,
                                      PayloadRead *rd)
{
    if (payload_read(ctrl->payload, rd)) {
        nvme_read_done(ctrl, rd);
    } else {
        req->pending++;
    }
}

void nvme_prepare_reads(NvmeCtrl *ctrl, NvmeRequest *req,
                        const NvmeRange *range, unsigned n)
{
    uint8_t *buf = req->buf;
    unsigned pieces = 0;

    for (unsigned i = 0; i < n; i++) {
        pieces += nvme_ns_pieces(range[i].ns, range[i].first, range[i].nblocks);
    }
    if (pieces > 1) {
        req->reads = g_new(PayloadRead, pieces);
    }
    for (unsigned i = 0; i < n; i++) {
        buf = add_reads(ctrl, req, range[i], buf);
    }
}

void nvme_start_prepared(NvmeCtrl *ctrl, NvmeRequest *req)
{
    unsigned n = req->reads_left;

    for (unsigned i = 0; i < n; i++) {
        start_payload_read(ctrl, req, &nvme_request_reads(req)[i]);
    }
}

void nvme_start_reads(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeRange *range,
                      unsigned n)
{
    nvme_prepare_reads(ctrl, req, range, n);
    nvme_start_prepared(ctrl, req);
}

void nvme_read_durable(NvmeRequest *req)
{
    nvme_add_step(req, SSD_OP_FLUSH, 0, 0);
    req->barrier = true;
}

uint16_t nvme_take_read_range(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe)
{
    uint16_t status = nvme_take_range(ctrl, req, sqe, true);

    if (!status && nvme_is_zoned(req->ns)) {
        status = nvme_zone_check_read(ctrl, req->lba, req->nblocks);
    }
    return status ? status : nvme_check_request(ctrl, req);
}

/* Blocks that the drive has not read as zeroes; how many of its own it has. */
static uint64_t clip_to_zone(NvmeCtrl *ctrl, NvmeRequest *req)
{
    uint64_t backed = nvme_zone_backed(ctrl, req->lba, req->nblocks);

    memset(req->buf + (backed << req->ns->block_shift), 0,
           (req->nblocks - backed) << req->ns->block_shift);
    return backed << req->ns->drive_shift;
}

void nvme_start_read(NvmeCtrl *ctrl, NvmeRequest *req, bool fua)
{
    NvmeRange range = {
        req->ns,
        nvme_drive_first(req),
        nvme_drive_blocks(req),
    };
    uint64_t lba;

    if (fua) {
        nvme_read_durable(req);
    }
    if (nvme_is_zoned(req->ns)) {
        range.nblocks = clip_to_zone(ctrl, req);
        if (range.nblocks == 0) {
            req->rd = (PayloadRead){.owner = req};
            req->reads_left = 1;
            nvme_read_done(ctrl, &req->rd);
            return;
        }
    }
    if (nvme_ns_piece(req->ns, range.first, range.nblocks, &lba) ==
        range.nblocks) {
        add_read(ctrl, req, lba, range.nblocks, req->buf);
        start_payload_read(ctrl, req, &req->rd);
    } else {
        nvme_start_reads(ctrl, req, &range, 1);
    }
}

uint64_t nvme_whole_units(const NvmeCtrl *ctrl, uint64_t lba, uint64_t nblocks,
                          uint64_t *whole)
{
    uint64_t unit = ctrl->unit_blocks;
    uint64_t first = (lba + unit - 1) / unit * unit;
    uint64_t end = (lba + nblocks) / unit * unit;

    *whole = end > first ? end - first : 0;
    return first;
}
