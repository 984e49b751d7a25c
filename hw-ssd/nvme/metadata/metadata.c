/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metadata.c - commands for namespaces with metadata: its transfer, and
 * protection information that is inserted, checked and stripped (NVM Command
 * Set Specification 1.0, Metadata Region and End-to-end Data Protection).
 *
 * Blocks and metadata of a command are in two buffers.  In that of the
 * metadata each block has the room that the payload keeps for it, of which the
 * format may use less; protection information is inverted there (pi.h).
 *
 * Knows the fields of the commands, and which of their steps carry metadata.
 */
#include "nvme-internal.h"
#include "metadata/pi.h"
#include "metadata/metadata.h"
#include "memory/sg.h"
#include "memory/sgl.h"
#include "queue/request.h"

#define STC (1U << 24) /* dword 12: Storage Tag Check; Copy: of the write */
#define STC_SOURCE (1U << 25)
#define DEAC       (1U << 25) /* Write Zeroes */

/* Blocks and metadata, row by row; a step of 0: the same row again. */
typedef struct Rows {
    uint8_t *data;
    size_t data_step;
    uint8_t *meta;
    size_t meta_step;
    uint32_t n;
} Rows;

static const NvmeProtection *format_of(const NvmeRequest *req)
{
    return &req->metadata->format;
}

/* ---- fields -------------------------------------------------------------- */

/* Dwords 3, 14 and 15. */
static NvmePiTags take_tags(const NvmeProtection *f, const NvmeSqe *sqe,
                            unsigned prchk, bool stc)
{
    NvmePiTags tags = {
        .app = (uint16_t)sqe->dw[15],
        .app_mask = (uint16_t)(sqe->dw[15] >> 16),
        .check = (uint8_t)(prchk & (NVME_PRACT - 1)),
    };

    nvme_pi_set_space(f, (uint64_t)sqe->dw[3] << 32 | sqe->dw[14], &tags);
    tags.check |= stc ? NVME_PRCHK_STORAGE : 0;
    return tags;
}

/* Type 1: the reference tag is that of the address.  Type 3 has none. */
static uint16_t check_ref(const NvmeProtection *f, const NvmePiTags *tags,
                          uint64_t lba)
{
    bool bad = f->type == 3 ||
               (f->type == 1 && tags->ref != (lba & nvme_pi_ref_mask(f)));

    return tags->check & NVME_PRCHK_REF && bad ? NVME_SC_INVALID_PI : 0;
}

static bool has_buffer(const NvmeRequest *req)
{
    return req->opcode == NVME_IO_READ || req->opcode == NVME_IO_WRITE ||
           req->opcode == NVME_IO_COMPARE;
}

/* MPTR: a contiguous buffer, or the SGL that describes it. */
static uint16_t map_metadata(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe, uint64_t bytes)
{
    uint64_t addr = nvme_sqe_mptr(sqe);

    if ((nvme_sqe_psdt(sqe) & 3) == 2) {
        return nvme_sgl_map_metadata(ctrl, &req->metadata->sg, addr, bytes,
                                     req->opcode == NVME_IO_READ);
    }
    if ((nvme_sqe_psdt(sqe) & 3) == 0 && addr & 3) {
        return NVME_SC_INVALID_FIELD;
    }
    if (addr + bytes < addr) {
        return NVME_SC_DATA_TRANSFER;
    }
    nvme_sg_add(ctrl, &req->metadata->sg, addr, (uint32_t)bytes);
    return 0;
}

/* Where PRACT leaves the host no metadata, it is not transferred. */
static uint16_t take_buffers(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe)
{
    const NvmeProtection *f = format_of(req);
    NvmeMetadata *p = req->metadata;
    uint64_t bytes = (uint64_t)req->nblocks * f->meta_bytes;

    p->of_host = !p->act || f->meta_bytes > nvme_pi_bytes(f);
    p->link_bytes = req->bytes + (p->of_host && f->extended ? bytes : 0);
    if (p->link_bytes > ctrl->max_bytes) {
        return NVME_SC_INVALID_FIELD;
    }
    return p->of_host && !f->extended ? map_metadata(ctrl, req, sqe, bytes) : 0;
}

void nvme_metadata_put(NvmeCtrl *ctrl, NvmeRequest *req)
{
    NvmeMetadata *p = req->metadata;

    req->metadata = NULL;
    req->ends = NULL;
    if (p->meta) {
        payload_buf_put(ctrl->payload, p->meta, p->meta_bytes);
    }
    if (p->compare) {
        payload_buf_put(ctrl->payload, p->compare, p->compare_bytes);
    }
    nvme_sg_free(ctrl, &p->sg);
    g_free(p->source);
    g_free(p);
}

static NvmeMetadata *metadata_new(const NvmeCtrl *ctrl, NvmeRequest *req)
{
    NvmeMetadata *p = g_new0(NvmeMetadata, 1);

    p->format = req->ns->protection;
    p->block_bytes = req->ns->block_bytes;
    p->room = (uint32_t)ctrl->cfg.metadata << req->ns->drive_shift;
    nvme_sg_init(&p->sg);
    p->link_bytes = req->bytes;
    req->metadata = p;
    req->ends = nvme_metadata_put;
    return p;
}

static void get_meta(NvmeCtrl *ctrl, NvmeRequest *req)
{
    NvmeMetadata *p = req->metadata;

    p->meta_bytes = (size_t)req->nblocks * p->room;
    p->meta = payload_buf_get(ctrl->payload, p->meta_bytes);
}

bool nvme_metadata_makes_zeroes(const NvmeRequest *req, const NvmeSqe *sqe)
{
    return req->ns->protection.type && sqe->dw[12] >> 26 & NVME_PRACT &&
           !(sqe->dw[12] & DEAC);
}

/* PRACT is for transfers. */
static uint16_t check_act(const NvmeRequest *req)
{
    bool alone =
        req->opcode == NVME_IO_VERIFY || req->opcode == NVME_IO_COMPARE;

    return req->metadata->act && alone ? NVME_SC_INVALID_PI : 0;
}

uint16_t nvme_metadata_take(NvmeCtrl *ctrl, NvmeRequest *req,
                            const NvmeSqe *sqe)
{
    const NvmeProtection *f = &req->ns->protection;
    unsigned prinfo = sqe->dw[12] >> 26 & 0xf;
    NvmeMetadata *p = metadata_new(ctrl, req);
    uint16_t status = 0;

    if (f->type) {
        p->act = prinfo & NVME_PRACT;
        p->tags = take_tags(f, sqe, prinfo, sqe->dw[12] & STC);
        status = check_ref(f, &p->tags, req->lba);
    }
    if (!status) {
        status = check_act(req);
    }
    if (!status && has_buffer(req)) {
        status = take_buffers(ctrl, req, sqe);
    }
    if (!status) {
        get_meta(ctrl, req);
    }
    return status;
}

/* Bytes of the host with each block of the drive, beside its data. */
static uint8_t link_metadata(const NvmeRequest *req)
{
    return req->metadata->of_host
               ? (uint8_t)(format_of(req)->meta_bytes >> req->ns->drive_shift)
               : 0;
}

void nvme_metadata_fill(NvmeCtrl *ctrl, NvmeRequest *req)
{
    NvmeMetadata *p = req->metadata;
    uint8_t *piece;
    size_t bytes;

    for (unsigned i = req->next_step; i < req->nsteps; i++) {
        NvmeStep *step = &req->steps[i];
        PayloadEntry *cursor = step->entries;

        step->metadata_bytes = step->inside ? 0 : link_metadata(req);
        while ((piece = payload_write_meta(ctrl->payload, &cursor, &bytes))) {
            memcpy(piece, p->meta + p->meta_done, bytes);
            p->meta_done += bytes;
        }
    }
}

void nvme_metadata_attach(NvmeCtrl *ctrl, NvmeRequest *req)
{
    PayloadRead *read = nvme_request_reads(req);

    for (unsigned i = req->next_step; i < req->nsteps; i++) {
        NvmeStep *step = &req->steps[i];

        if (step->op == SSD_OP_READ) {
            step->inside |= req->opcode == NVME_IO_VERIFY;
            step->metadata_bytes = step->inside ? 0 : link_metadata(req);
        }
    }
    for (unsigned i = 0; i < req->reads_left; i++) {
        size_t before = (size_t)(read[i].buf - req->buf) >> ctrl->block_shift;

        read[i].meta = req->metadata->meta + before * ctrl->cfg.metadata;
        read[i].held_bytes += (uint64_t)read[i].nblocks * ctrl->cfg.metadata;
    }
}

/* ---- rows ---------------------------------------------------------------- */

static void copy_rows(uint8_t *to, size_t to_step, const uint8_t *from,
                      size_t from_step, size_t bytes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        memcpy(to + i * to_step, from + i * from_step, bytes);
    }
}

static Rows rows_of(const NvmeRequest *req)
{
    return (Rows){
        .data = req->buf,
        .data_step = req->metadata->block_bytes,
        .meta = req->metadata->meta,
        .meta_step = req->metadata->room,
        .n = req->nblocks,
    };
}

/* To the form of the payload, and back. */
static void invert(const NvmeProtection *f, Rows rows)
{
    for (uint32_t i = 0; f->type && i < rows.n; i++) {
        nvme_pi_invert(f, rows.meta + i * rows.meta_step);
    }
}

static void make(const NvmeMetadata *p, Rows rows, NvmePiTags tags)
{
    const NvmeProtection *f = &p->format;

    for (uint32_t i = 0; i < rows.n; i++) {
        nvme_pi_make(f, rows.data + i * rows.data_step, p->block_bytes,
                     rows.meta + i * rows.meta_step, &tags);
        nvme_pi_next(f, &tags);
    }
}

/* *bad: the first block that is not as it should be. */
static uint16_t check(const NvmeMetadata *p, Rows rows, NvmePiTags tags,
                      uint32_t *bad)
{
    const NvmeProtection *f = &p->format;

    for (uint32_t i = 0; f->type && tags.check && i < rows.n; i++) {
        uint16_t status =
            nvme_pi_check(f, rows.data + i * rows.data_step, p->block_bytes,
                          rows.meta + i * rows.meta_step, &tags);

        if (status) {
            *bad = i;
            return status;
        }
        nvme_pi_next(f, &tags);
    }
    return 0;
}

static uint16_t check_all(NvmeRequest *req, Rows rows)
{
    uint32_t bad = 0;
    uint16_t status = check(req->metadata, rows, req->metadata->tags, &bad);

    req->lba += bad; /* of the error log */
    return status;
}

/* ---- guest memory -------------------------------------------------------- */

static uint16_t from_host(NvmeCtrl *ctrl, NvmeRequest *req, Rows to)
{
    const NvmeProtection *f = format_of(req);
    NvmeMetadata *p = req->metadata;
    size_t block = p->block_bytes;
    size_t step = f->extended ? block + f->meta_bytes : f->meta_bytes;
    size_t bytes = step * to.n;
    uint16_t status = 0;
    uint8_t *host;

    if (!p->of_host || !f->extended) {
        status = nvme_sg_read(ctrl, &req->sg, to.data, (size_t)req->bytes);
    }
    if (!p->of_host || status) {
        return status;
    }
    host = payload_buf_get(ctrl->payload, bytes);
    status = nvme_sg_read(ctrl, f->extended ? &req->sg : &p->sg, host, bytes);
    if (!status && f->extended) {
        copy_rows(to.data, block, host, step, block, to.n);
    }
    if (!status) {
        copy_rows(to.meta, to.meta_step, host + step - f->meta_bytes, step,
                  f->meta_bytes, to.n);
    }
    payload_buf_put(ctrl->payload, host, bytes);
    return status;
}

static uint16_t to_host(NvmeCtrl *ctrl, NvmeRequest *req, Rows from)
{
    const NvmeProtection *f = format_of(req);
    NvmeMetadata *p = req->metadata;
    size_t block = p->block_bytes;
    size_t step = f->extended ? block + f->meta_bytes : f->meta_bytes;
    size_t bytes = step * from.n;
    uint16_t status = 0;
    uint8_t *host;

    if (!p->of_host || !f->extended) {
        status = nvme_sg_write(ctrl, &req->sg, from.data, (size_t)req->bytes);
    }
    if (!p->of_host || status) {
        return status;
    }
    host = payload_buf_get(ctrl->payload, bytes);
    if (f->extended) {
        copy_rows(host, step, from.data, block, block, from.n);
    }
    copy_rows(host + step - f->meta_bytes, step, from.meta, from.meta_step,
              f->meta_bytes, from.n);
    status = nvme_sg_write(ctrl, f->extended ? &req->sg : &p->sg, host, bytes);
    payload_buf_put(ctrl->payload, host, bytes);
    return status;
}

/* ---- Write, Compare, Write Zeroes ---------------------------------------- */

static uint16_t receive_compare(NvmeCtrl *ctrl, NvmeRequest *req)
{
    NvmeMetadata *p = req->metadata;
    Rows to = rows_of(req);

    p->compare_bytes = (size_t)req->nblocks * format_of(req)->meta_bytes;
    p->compare = payload_buf_get(ctrl->payload, p->compare_bytes);
    to.data = req->compare;
    to.meta = p->compare;
    to.meta_step = format_of(req)->meta_bytes;
    return from_host(ctrl, req, to);
}

static uint16_t receive_write(NvmeCtrl *ctrl, NvmeRequest *req)
{
    NvmeMetadata *p = req->metadata;
    uint16_t status;
    Rows rows;

    req->buf_bytes = (size_t)req->bytes;
    req->buf = payload_buf_get(ctrl->payload, req->buf_bytes);
    req->buf_done = 0;
    memset(p->meta, 0, p->meta_bytes);
    rows = rows_of(req);
    status = from_host(ctrl, req, rows);
    if (!status && p->act) {
        make(req->metadata, rows, p->tags);
    } else if (!status) {
        status = check_all(req, rows);
    }
    invert(format_of(req), rows);
    return status;
}

uint16_t nvme_metadata_receive(NvmeCtrl *ctrl, NvmeRequest *req)
{
    return req->opcode == NVME_IO_COMPARE ? receive_compare(ctrl, req)
                                          : receive_write(ctrl, req);
}

void nvme_metadata_zeroes(NvmeCtrl *ctrl, NvmeRequest *req)
{
    size_t bytes = req->metadata->block_bytes;
    Rows rows = rows_of(req);

    rows.data = payload_buf_get(ctrl->payload, bytes);
    rows.data_step = 0;
    memset(rows.data, 0, bytes);
    memset(rows.meta, 0, req->metadata->meta_bytes);
    make(req->metadata, rows, req->metadata->tags);
    invert(format_of(req), rows);
    payload_buf_put(ctrl->payload, rows.data, bytes);
}

/* ---- reads --------------------------------------------------------------- */

/* All metadata but protection information, which is checked. */
static bool same_meta(const NvmeProtection *f, const uint8_t *a,
                      const uint8_t *b)
{
    unsigned at = nvme_pi_offset(f);
    unsigned behind = at + nvme_pi_bytes(f);

    return !memcmp(a, b, at) &&
           !memcmp(a + behind, b + behind, f->meta_bytes - behind);
}

static uint16_t compare(const NvmeRequest *req, Rows rows)
{
    const NvmeProtection *f = format_of(req);
    bool same = !memcmp(req->buf, req->compare, req->buf_bytes);

    for (uint32_t i = 0; same && i < rows.n; i++) {
        same = same_meta(f, rows.meta + i * rows.meta_step,
                         req->metadata->compare + (size_t)i * f->meta_bytes);
    }
    return same ? 0 : NVME_SC_COMPARE_FAILURE;
}

uint16_t nvme_metadata_received(NvmeCtrl *ctrl, NvmeRequest *req)
{
    Rows rows = rows_of(req);
    uint16_t status;

    invert(format_of(req), rows);
    status = check_all(req, rows);
    ctrl->sub->life.media_errors += status != 0;
    if (!status && req->opcode != NVME_IO_VERIFY) {
        status = req->compare ? compare(req, rows) : to_host(ctrl, req, rows);
    }
    nvme_metadata_put(ctrl, req);
    return status;
}

/* ---- Copy ---------------------------------------------------------------- */

bool nvme_metadata_same(const NvmeNamespace *a, const NvmeNamespace *b)
{
    const NvmeProtection *x = &a->protection;
    const NvmeProtection *y = &b->protection;

    return a->block_bytes == b->block_bytes && x->meta_bytes == y->meta_bytes &&
           x->guard64 == y->guard64 && x->storage_bits == y->storage_bits &&
           x->type == y->type && x->first == y->first;
}

/* Formats 1h and 3h have room for the tags of a 64-bit guard. */
static bool is_long(const NvmeSqe *sqe)
{
    return sqe->dw[12] >> 8 & 1;
}

uint16_t nvme_metadata_copy_begin(NvmeCtrl *ctrl, NvmeRequest *req,
                                  const NvmeSqe *sqe, unsigned n)
{
    const NvmeProtection *f = &req->ns->protection;
    unsigned read_info = sqe->dw[12] >> 12 & 0xf;
    unsigned write_info = sqe->dw[12] >> 26 & 0xf;
    NvmeMetadata *p = metadata_new(ctrl, req);

    p->source = g_new0(NvmePiSource, n);
    if (!f->type) {
        return 0;
    }
    p->act = write_info & NVME_PRACT;
    p->tags = take_tags(f, sqe, write_info, sqe->dw[12] & STC);
    if (is_long(sqe) != f->guard64) {
        return NVME_SC_INVALID_FORMAT;
    }
    return (read_info ^ write_info) & NVME_PRACT ? NVME_SC_INVALID_FIELD : 0;
}

static uint64_t space_of(const uint8_t *entry, bool is_long)
{
    uint64_t v = 0;

    if (!is_long) {
        return get_le32(entry + offsetof(NvmeCopyRange, lbrt));
    }
    for (unsigned i = 2; i < 10; i++) { /* the lower 64 of 80 bits */
        v = v << 8 | entry[NVME_COPY_LONG_TAGS + i];
    }
    return v;
}

void nvme_metadata_copy_source(NvmeRequest *req, const NvmeSqe *sqe,
                               NvmePiSource source, const uint8_t *entry)
{
    const uint8_t *app = entry + (is_long(sqe) ? NVME_COPY_LONG_APP
                                               : offsetof(NvmeCopyRange, lbat));
    NvmePiTags *tags = &source.tags;

    if (format_of(req)->type) {
        nvme_pi_set_space(format_of(req), space_of(entry, is_long(sqe)), tags);
        tags->app = get_le16(app);
        tags->app_mask = get_le16(app + 2);
        tags->check = sqe->dw[12] >> 12 & (NVME_PRACT - 1);
        tags->check |= sqe->dw[12] & STC_SOURCE ? NVME_PRCHK_STORAGE : 0;
    }
    req->metadata->source[req->metadata->n_sources++] = source;
}

uint16_t nvme_metadata_copy_ready(NvmeCtrl *ctrl, NvmeRequest *req)
{
    NvmeMetadata *p = req->metadata;
    uint16_t status = check_ref(format_of(req), &p->tags, req->lba);

    for (unsigned i = 0; i < p->n_sources && !status; i++) {
        status =
            check_ref(format_of(req), &p->source[i].tags, p->source[i].lba);
    }
    if (!status) {
        get_meta(ctrl, req);
    }
    return status;
}

/* Each source has its tags. */
static uint16_t check_sources(NvmeRequest *req, Rows rows)
{
    const NvmeMetadata *p = req->metadata;
    uint16_t status = 0;

    for (unsigned i = 0; i < p->n_sources && !status; i++) {
        const NvmePiSource *s = &p->source[i];
        uint32_t bad = 0;

        rows.n = s->nblocks;
        status = check(p, rows, s->tags, &bad);
        if (status) {
            req->lba = s->lba + bad;
        }
        rows.data += rows.n * rows.data_step;
        rows.meta += rows.n * rows.meta_step;
    }
    return status;
}

uint16_t nvme_metadata_copied(NvmeCtrl *ctrl, NvmeRequest *req)
{
    Rows rows = rows_of(req);
    uint16_t status;

    invert(format_of(req), rows);
    status = check_sources(req, rows);
    ctrl->sub->life.media_errors += status != 0;
    if (!status && req->metadata->act) {
        make(req->metadata, rows, req->metadata->tags);
    } else if (!status) {
        status = check_all(req, rows);
    }
    invert(format_of(req), rows);
    return status;
}
