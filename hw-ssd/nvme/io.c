/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io.c - the commands of the NVM command set: their checks, and their steps in
 * the drive and the payload.
 */
#include "nvme-internal.h"
#include "queue/cancel.h"
#include "admin/commands.h"
#include "data/copy.h"
#include "data/data.h"
#include "data/protected.h"
#include "placement/directives.h"
#include "placement/fdp.h"
#include "kv/kv.h"
#include "namespace/atomic.h"
#include "namespace/namespace.h"
#include "memory/prp.h"
#include "queue/request.h"
#include "reservation/reservation.h"
#include "data/uncorrectable.h"
#include "data/verify.h"
#include "zone/zone-report.h"
#include "zone/zone-send.h"
#include "zone/zones.h"

#define DSM_MAX_RANGES 256
#define DSM_DEALLOCATE 0x4

/* Context attributes of a range. */
#define DSM_SEQUENTIAL_READ  0x100
#define DSM_ACCESS_FREQUENCY 0xf /* Access Frequency, bits 3:0 */

static uint16_t io_flush(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    if (!req->ns && req->nsid != NVME_NSID_ALL) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    if (G_UNLIKELY(ctrl->sub->kv_all) && req->nsid == NVME_NSID_ALL) {
        return nvme_kv_flush_all(ctrl, req);
    }
    req->barrier = true;
    nvme_add_step(req, SSD_OP_FLUSH, 0, 0);
    return 0;
}

static uint16_t write_range(NvmeCtrl *ctrl, NvmeRequest *req,
                            const NvmeSqe *sqe, bool append)
{
    uint16_t status = 0;

    if (nvme_is_zoned(req->ns)) {
        status = nvme_zone_check_write(ctrl, req, append);
    }
    if (!status) {
        status = nvme_map(ctrl, &req->sg, sqe, req->bytes, false);
    }
    if (!status) {
        nvme_set_durability(ctrl, req, nvme_wants_fua(sqe));
        status = nvme_add_write(ctrl, req, nvme_drive_first(req),
                                nvme_drive_blocks(req), NVME_FROM_HOST);
    }
    /* Last: a stream, or a zone, is opened by a Write that has its data. */
    if (!status) {
        status = nvme_take_directive(ctrl, req, sqe);
    }
    if (!status && nvme_is_zoned(req->ns)) {
        nvme_zone_write(ctrl, req);
    }
    return status;
}

static uint16_t io_write(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint16_t status = nvme_take_range(ctrl, req, sqe, true);

    return status ? status : write_range(ctrl, req, sqe, false);
}

/* The completion has the first block that it wrote. */
static uint16_t io_zone_append(NvmeCtrl *ctrl, NvmeRequest *req,
                               const NvmeSqe *sqe)
{
    uint16_t status = nvme_take_range(ctrl, req, sqe, true);

    if (!status && req->bytes > nvme_zone_append_most(ctrl)) {
        status = NVME_SC_INVALID_FIELD;
    }
    req->append = true;
    return status ? status : write_range(ctrl, req, sqe, true);
}

static uint16_t io_read(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint16_t status = nvme_take_read_range(ctrl, req, sqe);

    if (!status) {
        status = nvme_map(ctrl, &req->sg, sqe, req->bytes, true);
    }
    if (!status) {
        req->buf_bytes = req->bytes;
        req->buf = payload_buf_get(ctrl->payload, req->buf_bytes);
        nvme_start_read(ctrl, req, nvme_wants_fua(sqe));
    }
    return status;
}

static uint16_t io_compare(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint16_t status = nvme_take_read_range(ctrl, req, sqe);

    if (!status) {
        status = nvme_map(ctrl, &req->sg, sqe, req->bytes, false);
    }
    if (!status) {
        req->buf_bytes = req->bytes;
        req->buf = payload_buf_get(ctrl->payload, req->buf_bytes);
        req->compare = payload_buf_get(ctrl->payload, req->buf_bytes);
        status = nvme_sg_read(ctrl, &req->sg, req->compare, req->buf_bytes);
    }
    if (!status) {
        nvme_start_read(ctrl, req, nvme_wants_fua(sqe));
    }
    return status;
}

/* TRIM steps for whole units, each as long as a step may be. */
static void add_trims(NvmeCtrl *ctrl, NvmeRequest *req, uint64_t first,
                      uint64_t nblocks, bool zeroes)
{
    uint64_t most = UINT32_MAX / ctrl->unit_blocks * ctrl->unit_blocks;

    while (nblocks) {
        uint64_t lba;
        uint64_t n = nvme_ns_piece(req->ns, first, MIN(nblocks, most), &lba);

        nvme_add_step(req, SSD_OP_TRIM, lba, (uint32_t)n)->zeroes = zeroes;
        first += n;
        nblocks -= n;
    }
}

/* More than a unit that a power cut must not tear: one write of zeroes. */
static bool must_be_whole(const NvmeCtrl *ctrl, const NvmeRequest *req,
                          uint64_t first, uint64_t nblocks)
{
    return nblocks > ctrl->unit_blocks &&
           nvme_atomic_is_whole(ctrl, req->ns, first, nblocks);
}

/* Whole units are deallocated, and so read as zeroes; the rest at either end
 * is written, to the stream of the directive. */
static uint16_t io_write_zeroes(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe)
{
    /* WZSL: with metadata it may be data. */
    uint16_t status = nvme_take_range(ctrl, req, sqe, ctrl->cfg.metadata > 0);
    uint64_t start, end, first, whole;

    if (!status) {
        status = nvme_take_directive(ctrl, req, sqe);
    }
    if (status) {
        return status;
    }
    start = nvme_drive_first(req);
    end = start + nvme_drive_blocks(req);
    first = nvme_whole_units(ctrl, start, end - start, &whole);
    nvme_set_durability(ctrl, req, nvme_wants_fua(sqe));
    if (!whole || must_be_whole(ctrl, req, start, end - start)) {
        return nvme_add_write(ctrl, req, start, end - start, NVME_FROM_ZEROES);
    }
    if (first > start) {
        status =
            nvme_add_write(ctrl, req, start, first - start, NVME_FROM_ZEROES);
    }
    add_trims(ctrl, req, first, whole, true);
    if (!status && end > first + whole) {
        status = nvme_add_write(ctrl, req, first + whole, end - first - whole,
                                NVME_FROM_ZEROES);
    }
    return status;
}

static uint16_t io_protected_write_zeroes(NvmeCtrl *ctrl, NvmeRequest *req,
                                          const NvmeSqe *sqe)
{
    return nvme_protected_has_zeroes(req, sqe)
               ? nvme_protected_write_zeroes(ctrl, req, sqe)
               : io_write_zeroes(ctrl, req, sqe);
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

static void deallocate(NvmeCtrl *ctrl, NvmeRequest *req, const DsmRange *range)
{
    unsigned shift = req->ns->drive_shift;
    uint64_t whole;
    uint64_t first = nvme_whole_units(
        ctrl, range->lba << shift, (range->end - range->lba) << shift, &whole);

    add_trims(ctrl, req, first, whole, false);
    req->bytes += whole << ctrl->block_shift;
}

/* Access Frequency (NVM Command Set 1.1, 3.3.3): only how often the range is
 * written matters to the drive, not how often it is read. */
static void hint_frequency(NvmeCtrl *ctrl, const NvmeRequest *req,
                           const NvmeDsmRange *r)
{
    static const struct {
        bool there;
        SsdWriteRate rate;
    } said[] = {
        [1] = {true, SSD_WRITES_UNKNOWN}, /* typical */
        [2] = {true, SSD_WRITES_SELDOM},  /* infrequent, and so are reads */
        [3] = {true, SSD_WRITES_SELDOM},  /* infrequent, reads are frequent */
        [4] = {true, SSD_WRITES_OFTEN},   /* frequent, reads are infrequent */
        [5] = {true, SSD_WRITES_OFTEN},   /* frequent, and so are reads */
    };
    unsigned i = nvme_le32(r->attributes) & DSM_ACCESS_FREQUENCY;
    unsigned shift = req->ns->drive_shift;

    if (i < G_N_ELEMENTS(said) && said[i].there) {
        nvme_ns_expect_writes(ctrl, req->ns, nvme_le64(r->slba) << shift,
                              (uint64_t)nvme_le32(r->nlb) << shift,
                              said[i].rate);
    }
}

static void hint(NvmeCtrl *ctrl, const NvmeRequest *req, const NvmeDsmRange *r)
{
    uint64_t lba;

    /* The range will be read in order: the drive reads ahead of its
     * beginning. */
    if (nvme_le32(r->attributes) & DSM_SEQUENTIAL_READ && nvme_le32(r->nlb)) {
        nvme_ns_piece(req->ns, nvme_le64(r->slba) << req->ns->drive_shift, 1,
                      &lba);
        ssd_expect_reads(ctrl->ssd, ctrl->sub->now_ns, lba);
    }
    hint_frequency(ctrl, req, r);
}

/* The cost of the command follows from the blocks that it names, not from how
 * often it names them. */
static uint16_t io_dsm(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    NvmeDsmRange data[DSM_MAX_RANGES];
    DsmRange range[DSM_MAX_RANGES];
    unsigned n = (sqe->dw[10] & 0xff) + 1;
    uint16_t status;

    if (!req->ns) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    status = nvme_from_host(ctrl, sqe, data, n * sizeof(data[0]));
    if (status) {
        return status;
    }
    for (unsigned i = 0; i < n; i++) {
        uint64_t lba = nvme_le64(data[i].slba);
        uint32_t nblocks = nvme_le32(data[i].nlb);

        if (!nvme_ns_has(req->ns, lba, nblocks)) {
            return NVME_SC_LBA_RANGE;
        }
        range[i] = (DsmRange){ lba, lba + nblocks };
    }
    if (!(sqe->dw[11] & DSM_DEALLOCATE)) {
        for (unsigned i = 0; ctrl->cfg.dsm_hints && i < n; i++) {
            hint(ctrl, req, &data[i]);
        }
        return 0;
    }
    if (req->ns->protect) {
        return NVME_SC_NS_PROTECTED;
    }
    n = merge_ranges(range, n);
    for (unsigned i = 0; i < n; i++) {
        deallocate(ctrl, req, &range[i]);
    }
    return 0;
}

static const NvmeCommand io_commands[] = {
    {.opcode = NVME_IO_READ,
     .name = "Read",
     .run = io_read,
     .with_metadata = nvme_protected_read,
     .effects = NVME_EFFECT_SUPPORTED,
     .work = NVME_WORK_READ,
     .help = "FUA; PRINFO and tags where the namespace has protection "
             "information, else ignored, here and in the others"},
    {.opcode = NVME_IO_WRITE,
     .name = "Write",
     .run = io_write,
     .with_metadata = nvme_protected_write,
     .effects = NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_DATA,
     .work = NVME_WORK_WRITE,
     .help =
         "FUA; always FUA while the volatile write cache is off; directives"},
    {.opcode = NVME_IO_FLUSH,
     .name = "Flush",
     .run = io_flush,
     .effects = NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_DATA,
     .work = NVME_WORK_FLUSH,
     .help = "one namespace, or FFFFFFFFh"},
    {.opcode = NVME_IO_WRITE_UNCORRECTABLE,
     .name = "Write Uncorrectable",
     .run = nvme_write_uncorrectable,
     .effects =
         NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_DATA | NVME_NOT_ZONED,
     .work = NVME_WORK_WRITE,
     .help = "at most MDTS (WUSL); reads of the blocks fail with Unrecovered "
             "Read Error until they are written; directives"},
    {.opcode = NVME_IO_COMPARE,
     .name = "Compare",
     .run = io_compare,
     .with_metadata = nvme_protected_compare,
     .effects = NVME_EFFECT_SUPPORTED,
     .work = NVME_WORK_READ,
     .help = "alone, or fused with the Write behind it, within one mapping "
             "unit (NACWU)"},
    {.opcode = NVME_IO_WRITE_ZEROES,
     .name = "Write Zeroes",
     .run = io_write_zeroes,
     .with_metadata = io_protected_write_zeroes,
     .effects =
         NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_DATA | NVME_NOT_ZONED,
     .work = NVME_WORK_WRITE,
     .help = "whole mapping units are deallocated, with the Deallocate bit "
             "or without, the rest is written; with PRACT and without the bit "
             "all is written, with protection information; directives"},
    {.opcode = NVME_IO_DSM,
     .name = "Dataset Management",
     .run = io_dsm,
     .effects =
         NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_DATA | NVME_NOT_ZONED,
     .work = NVME_WORK_TRIM,
     .help = "deallocate, whole mapping units; up to 256 ranges; attributes as "
             "above"},
    {.opcode = NVME_IO_VERIFY,
     .name = "Verify",
     .run = nvme_verify,
     .with_metadata = nvme_protected_verify,
     .effects = NVME_EFFECT_SUPPORTED,
     .work = NVME_WORK_READ,
     .help = "at most MDTS (VSL); reads the medium, without the host link"},
    {.opcode = NVME_IO_RESERVATION_REGISTER,
     .name = "Reservation Register",
     .run = nvme_reservation_register,
     .effects = NVME_EFFECT_SUPPORTED | NVME_ONLY_MULTI,
     .help = "with controllers=: Register, Unregister, Replace; IEKEY, CPTPL; "
             "64 hosts"},
    {.opcode = NVME_IO_RESERVATION_REPORT,
     .name = "Reservation Report",
     .run = nvme_reservation_report,
     .effects = NVME_EFFECT_SUPPORTED | NVME_ONLY_MULTI,
     .help = "with controllers=: both data structures, by the size of the Host "
             "Identifier"},
    {.opcode = NVME_IO_RESERVATION_ACQUIRE,
     .name = "Reservation Acquire",
     .run = nvme_reservation_acquire,
     .effects = NVME_EFFECT_SUPPORTED | NVME_ONLY_MULTI,
     .help = "with controllers=: Acquire, Preempt, Preempt and Abort; the six "
             "types"},
    {.opcode = NVME_IO_RESERVATION_RELEASE,
     .name = "Reservation Release",
     .run = nvme_reservation_release,
     .effects = NVME_EFFECT_SUPPORTED | NVME_ONLY_MULTI,
     .help = "with controllers=: Release, Clear"},
    {.opcode = NVME_IO_CANCEL,
     .name = "Cancel",
     .run = nvme_cancel,
     .effects = NVME_EFFECT_SUPPORTED,
     .help = "one command or all of the queue that the drive has not begun; "
             "aborts are deferred"},
    {.opcode = NVME_IO_COPY,
     .name = "Copy",
     .run = nvme_copy,
     .effects =
         NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_DATA | NVME_NOT_ZONED,
     .work = NVME_WORK_WRITE,
     .help = "up to 128 source ranges, together at most MDTS; formats 0h and "
             "1h, and 2h and 3h once the host has enabled them; inside the "
             "drive, without the host link; FUA; directives"},
    {.opcode = NVME_IO_MGMT_RECEIVE,
     .name = "I/O Management Receive",
     .run = nvme_io_mgmt_receive,
     .effects = NVME_EFFECT_SUPPORTED | NVME_ONLY_FDP,
     .help = "with fdp.ruhs: Reclaim Unit Handle Status"},
    {.opcode = NVME_IO_MGMT_SEND,
     .name = "I/O Management Send",
     .run = nvme_io_mgmt_send,
     .effects = NVME_EFFECT_SUPPORTED | NVME_ONLY_FDP,
     .help = "with fdp.ruhs: Reclaim Unit Handle Update"},
    {.opcode = NVME_IO_ZONE_SEND,
     .name = "Zone Management Send",
     .run = nvme_zone_send,
     .effects =
         NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_DATA | NVME_ONLY_ZONED,
     .help =
         "with zones.enabled: Open, Close, Finish, Reset, Offline, Set Zone "
         "Descriptor Extension; Select All; with zones.zrwa Open with an area, "
         "Flush Explicit ZRWA Range"},
    {.opcode = NVME_IO_ZONE_RECEIVE,
     .name = "Zone Management Receive",
     .run = nvme_zone_receive,
     .effects = NVME_EFFECT_SUPPORTED | NVME_ONLY_ZONED,
     .help = "with zones.enabled: Report Zones, Extended Report Zones; partial "
             "reports; filters by state"},
    {.opcode = NVME_IO_ZONE_APPEND,
     .name = "Zone Append",
     .run = io_zone_append,
     .effects =
         NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_DATA | NVME_ONLY_ZONED,
     .work = NVME_WORK_WRITE,
     .help = "with zones.enabled: at most zones.append_max (ZASL)"},
};

const NvmeCommandTable nvme_io_commands = {
    io_commands, G_N_ELEMENTS(io_commands)
};
