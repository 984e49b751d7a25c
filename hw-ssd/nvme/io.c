/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io.c - the commands of the NVM command set: their checks, and their steps in
 * the drive and the payload.
 *
 * Data moves when a command is taken: a WRITE's payload is in the overlay, and
 * a READ's in guest memory, before the drive has worked out when the command
 * completes.  Guest memory is read once.
 */
#include "nvme-internal.h"
#include "command.h"
#include "directives.h"
#include "fdp.h"
#include "namespace.h"
#include "prp.h"
#include "request.h"

#define DSM_MAX_RANGES 256
#define DSM_DEALLOCATE 0x4

static bool in_namespace(const NvmeCtrl *ctrl, uint64_t lba, uint64_t nblocks)
{
    return lba <= ctrl->cfg.nblocks && nblocks <= ctrl->cfg.nblocks - lba;
}

/* The fields that commands with one range share.  PRINFO is ignored: the
 * namespace is not formatted for end-to-end data protection. */
static uint16_t take_range(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe,
                           bool has_data)
{
    req->lba = nvme_sqe_slba(sqe);
    req->nblocks = (sqe->dw[12] & 0xffff) + 1;
    req->bytes = (uint64_t)req->nblocks << ctrl->block_shift;
    if (!nvme_is_io_nsid(req->nsid)) {
        return NVME_SC_INVALID_NSID;
    }
    if (has_data &&
        (uint64_t)req->nblocks << ctrl->block_shift > ctrl->max_bytes) {
        return NVME_SC_INVALID_FIELD;
    }
    if (!in_namespace(ctrl, req->lba, req->nblocks)) {
        return NVME_SC_LBA_RANGE;
    }
    return 0;
}

static uint16_t map_data(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    return nvme_map(ctrl, &req->sg, sqe,
                    (uint64_t)req->nblocks << ctrl->block_shift, false);
}

/* With the volatile write cache off, every write is a FUA write. */
static bool wants_fua(const NvmeCtrl *ctrl, const NvmeSqe *sqe)
{
    return sqe->dw[12] >> 30 & 1 || !(ctrl->features.value[NVME_FEAT_VWC] & 1);
}

/*
 * When a write is done.  A drive that keeps its buffer promises that accepted
 * data survives, and hosts send it no Flush: so the store has the data
 * before the guest is told, and the end of this process loses none of it.
 */
static void set_durability(const NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe)
{
    req->fua = wants_fua(ctrl, sqe);
    req->barrier = req->fua || ssd_info(ctrl->ssd)->keeps_buffer;
    req->unflushed = !req->fua;
}

static uint16_t io_flush(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    if (!req->ns && req->nsid != NVME_NSID_ALL) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    req->barrier = true;
    nvme_add_step(req, SSD_OP_FLUSH, 0, 0);
    return 0;
}

/* Fill the entries of a WRITE from guest memory, or with zeroes. */
static uint16_t fill(NvmeCtrl *ctrl, NvmeRequest *req, PayloadEntry *list,
                     bool zeroes)
{
    PayloadEntry *cursor = list;
    uint16_t status = 0;
    uint8_t *piece;
    size_t bytes;

    while (!status &&
           (piece = payload_write_piece(ctrl->payload, &cursor, &bytes))) {
        if (zeroes) {
            memset(piece, 0, bytes);
        } else {
            status = nvme_sg_read(ctrl, &req->sg, piece, bytes);
        }
    }
    return status;
}

static uint16_t add_write(NvmeCtrl *ctrl, NvmeRequest *req, uint64_t lba,
                          uint32_t nblocks, bool zeroes)
{
    NvmeStep *step;

    if (payload_refuses(ctrl->payload)) {
        ctrl->life.media_errors++;
        return NVME_SC_WRITE_FAULT;
    }
    step = nvme_add_step(req, SSD_OP_WRITE, lba, nblocks);
    step->entries = payload_write_new(ctrl->payload, lba, nblocks);
    return fill(ctrl, req, step->entries, zeroes);
}

static uint16_t io_write(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint16_t status = take_range(ctrl, req, sqe, true);

    if (!status) {
        status = map_data(ctrl, req, sqe);
    }
    if (!status) {
        set_durability(ctrl, req, sqe);
        status = add_write(ctrl, req, req->lba, req->nblocks, false);
    }
    /* Last: a stream is opened by a Write that has its data. */
    return status ? status : nvme_take_directive(ctrl, req, sqe);
}

void nvme_io_read_done(NvmeCtrl *ctrl, NvmeRequest *req)
{
    uint16_t status = 0;

    if (!req->sq) {
        return;
    }
    if (req->rd.ret) {
        ctrl->life.media_errors++;
        status = NVME_SC_UNRECOVERED_READ;
    } else if (req->compare) {
        status = memcmp(req->buf, req->compare,
                        (size_t)req->nblocks << ctrl->block_shift)
                     ? NVME_SC_COMPARE_FAILURE
                     : 0;
    } else {
        status = nvme_sg_write(ctrl, &req->sg, req->buf,
                               (size_t)req->nblocks << ctrl->block_shift);
    }
    nvme_request_put_bufs(ctrl, req);
    if (!req->status) {
        req->status = status;
    }
}

static void start_read(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    if (sqe->dw[12] >> 30 & 1) { /* FUA: the data read must be durable */
        nvme_add_step(req, SSD_OP_FLUSH, 0, 0);
        req->barrier = true;
    }
    nvme_add_step(req, SSD_OP_READ, req->lba, req->nblocks);
    req->rd = (PayloadRead){
        .lba = req->lba,
        .nblocks = req->nblocks,
        .buf = req->buf,
        .held_bytes = req->compare ? 2 * req->buf_bytes : req->buf_bytes,
        .owner = req,
    };
    if (payload_read(ctrl->payload, &req->rd)) {
        nvme_io_read_done(ctrl, req);
    } else {
        req->pending++;
    }
}

static uint16_t io_read(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint16_t status = take_range(ctrl, req, sqe, true);

    if (!status) {
        status = map_data(ctrl, req, sqe);
    }
    if (!status) {
        req->buf_bytes = (size_t)req->nblocks << ctrl->block_shift;
        req->buf = payload_buf_get(ctrl->payload, req->buf_bytes);
        start_read(ctrl, req, sqe);
    }
    return status;
}

static uint16_t io_compare(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint16_t status = take_range(ctrl, req, sqe, true);

    if (!status) {
        status = map_data(ctrl, req, sqe);
    }
    if (!status) {
        req->buf_bytes = (size_t)req->nblocks << ctrl->block_shift;
        req->buf = payload_buf_get(ctrl->payload, req->buf_bytes);
        req->compare = payload_buf_get(ctrl->payload, req->buf_bytes);
        status = nvme_sg_read(ctrl, &req->sg, req->compare, req->buf_bytes);
    }
    if (!status) {
        start_read(ctrl, req, sqe);
    }
    return status;
}

/* The whole mapping units of a range; *nblocks is 0 if there are none. */
static uint64_t whole_units(const NvmeCtrl *ctrl, uint64_t lba,
                            uint64_t nblocks, uint64_t *whole)
{
    uint64_t unit = ctrl->unit_blocks;
    uint64_t first = (lba + unit - 1) / unit * unit;
    uint64_t end = (lba + nblocks) / unit * unit;

    *whole = end > first ? end - first : 0;
    return first;
}

/* Whole units are deallocated, and so read as zeroes; the rest at either end
 * is written, to the stream of the directive. */
static uint16_t io_write_zeroes(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe)
{
    uint16_t status = take_range(ctrl, req, sqe, false);
    uint64_t end = req->lba + req->nblocks;
    uint64_t whole;
    uint64_t first = whole_units(ctrl, req->lba, req->nblocks, &whole);

    if (!status) {
        status = nvme_take_directive(ctrl, req, sqe);
    }
    if (status) {
        return status;
    }
    set_durability(ctrl, req, sqe);
    if (!whole) {
        return add_write(ctrl, req, req->lba, req->nblocks, true);
    }
    if (first > req->lba) {
        status = add_write(ctrl, req, req->lba, first - req->lba, true);
    }
    nvme_add_step(req, SSD_OP_TRIM, first, whole)->zeroes = true;
    if (!status && end > first + whole) {
        status = add_write(ctrl, req, first + whole, end - first - whole, true);
    }
    return status;
}

typedef struct DsmRange {
    uint64_t lba;
    uint64_t end;
} DsmRange;

static int by_lba(const void *a, const void *b)
{
    const DsmRange *x = a;
    const DsmRange *y = b;

    return x->lba < y->lba ? -1 : x->lba > y->lba;
}

/* Sort them, and make one of those that overlap or touch; returns how many are
 * left. */
static unsigned merge_ranges(DsmRange *range, unsigned n)
{
    unsigned last = 0;

    qsort(range, n, sizeof(*range), by_lba);
    for (unsigned i = 1; i < n; i++) {
        if (range[i].lba <= range[last].end) {
            range[last].end = MAX(range[last].end, range[i].end);
        } else {
            range[++last] = range[i];
        }
    }
    return n ? last + 1 : 0;
}

/* As many steps as the length of one allows. */
static void add_trims(NvmeCtrl *ctrl, NvmeRequest *req, const DsmRange *range)
{
    uint64_t most = UINT32_MAX / ctrl->unit_blocks * ctrl->unit_blocks;
    uint64_t whole;
    uint64_t lba =
        whole_units(ctrl, range->lba, range->end - range->lba, &whole);

    for (uint64_t n; whole; lba += n, whole -= n) {
        n = MIN(whole, most);
        nvme_add_step(req, SSD_OP_TRIM, lba, n);
        req->bytes += n << ctrl->block_shift;
    }
}

/* The cost of the command follows from the blocks that it names, not from how
 * often it names them. */
static uint16_t io_dsm(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    NvmeDsmRange data[DSM_MAX_RANGES];
    DsmRange range[DSM_MAX_RANGES];
    unsigned n = (sqe->dw[10] & 0xff) + 1;
    unsigned most;
    uint16_t status;

    if (!nvme_is_io_nsid(req->nsid)) {
        return NVME_SC_INVALID_NSID;
    }
    status = nvme_from_host(ctrl, sqe, data, n * sizeof(data[0]));
    if (status) {
        return status;
    }
    for (unsigned i = 0; i < n; i++) {
        uint64_t lba = nvme_le64(data[i].slba);
        uint32_t nblocks = nvme_le32(data[i].nlb);

        if (!in_namespace(ctrl, lba, nblocks)) {
            return NVME_SC_LBA_RANGE;
        }
        range[i] = (DsmRange){ lba, lba + nblocks };
    }
    if (!(sqe->dw[11] & DSM_DEALLOCATE)) {
        return 0;
    }
    most = 2 * n + 1; /* steps: all whole units, and the partial ends */
    if (most > NVME_STEPS_SMALL) {
        req->steps = g_new(NvmeStep, most);
    }
    n = merge_ranges(range, n);
    for (unsigned i = 0; i < n; i++) {
        add_trims(ctrl, req, &range[i]);
    }
    return 0;
}

static const NvmeCommand io_commands[] = {
    { .opcode = NVME_IO_READ, .name = "Read",
      .run = io_read, .effects = NVME_EFFECT_SUPPORTED,
      .work = NVME_WORK_READ,
      .help = "FUA; PRINFO is ignored, here and in the others" },
    { .opcode = NVME_IO_WRITE, .name = "Write",
      .run = io_write,
      .effects = NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_DATA,
      .work = NVME_WORK_WRITE,
      .help = "FUA; always FUA while the volatile write cache is off; directives" },
    { .opcode = NVME_IO_FLUSH, .name = "Flush",
      .run = io_flush,
      .effects = NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_DATA,
      .work = NVME_WORK_FLUSH,
      .help = "one namespace, or FFFFFFFFh" },
    { .opcode = NVME_IO_COMPARE, .name = "Compare",
      .run = io_compare, .effects = NVME_EFFECT_SUPPORTED,
      .work = NVME_WORK_READ,
      .help = "not fused" },
    { .opcode = NVME_IO_WRITE_ZEROES, .name = "Write Zeroes",
      .run = io_write_zeroes,
      .effects = NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_DATA,
      .work = NVME_WORK_WRITE,
      .help = "whole mapping units are deallocated, the rest is written; "
              "directives" },
    { .opcode = NVME_IO_DSM, .name = "Dataset Management",
      .run = io_dsm,
      .effects = NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_DATA,
      .work = NVME_WORK_TRIM,
      .help = "deallocate, whole mapping units; other attributes are hints without "
              "effect; up to 256 ranges" },
    { .opcode = NVME_IO_MGMT_RECEIVE, .name = "I/O Management Receive",
      .run = nvme_io_mgmt_receive,
      .effects = NVME_EFFECT_SUPPORTED | NVME_ONLY_FDP,
      .help = "with fdp.ruhs: Reclaim Unit Handle Status" },
    { .opcode = NVME_IO_MGMT_SEND, .name = "I/O Management Send",
      .run = nvme_io_mgmt_send,
      .effects = NVME_EFFECT_SUPPORTED | NVME_ONLY_FDP,
      .help = "with fdp.ruhs: Reclaim Unit Handle Update" },
};

const NvmeCommandTable nvme_io_commands = {
    io_commands, G_N_ELEMENTS(io_commands)
};
