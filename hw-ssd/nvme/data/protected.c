/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * protected.c - I/O commands of a namespace with metadata.
 *
 * What they have in common with those of other namespaces is in data.c, which
 * knows nothing of metadata; what becomes of the metadata is in metadata.c.
 */
#include "nvme-internal.h"
#include "data/data.h"
#include "data/protected.h"
#include "data/unwritten.h"
#include "memory/prp.h"
#include "metadata/metadata.h"
#include "placement/directives.h"
#include "queue/request.h"

static uint16_t take_metadata(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe)
{
    uint16_t status = nvme_take_range(ctrl, req, sqe, true);

    return status ? status : nvme_metadata_take(ctrl, req, sqe);
}

static uint16_t take_to_read(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe)
{
    uint16_t status = take_metadata(ctrl, req, sqe);

    return status ? status : nvme_check_request(ctrl, req);
}

static void put_all(NvmeCtrl *ctrl, NvmeRequest *req)
{
    nvme_metadata_put(ctrl, req);
    nvme_request_put_bufs(ctrl, req);
}

/* ---- writes -------------------------------------------------------------- */

static uint16_t add_write(NvmeCtrl *ctrl, NvmeRequest *req, NvmeDataFrom from)
{
    uint16_t status = nvme_add_write(ctrl, req, nvme_drive_first(req),
                                     nvme_drive_blocks(req), from);

    if (!status) {
        nvme_metadata_fill(ctrl, req);
    }
    return status;
}

uint16_t nvme_protected_write(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe)
{
    uint16_t status = take_metadata(ctrl, req, sqe);

    if (!status) {
        status =
            nvme_map(ctrl, &req->sg, sqe, req->metadata->link_bytes, false);
    }
    if (!status) {
        status = nvme_metadata_receive(ctrl, req);
    }
    if (!status) {
        nvme_set_durability(ctrl, req, nvme_wants_fua(sqe));
        status = add_write(ctrl, req, NVME_FROM_HOST_BUFFER);
    }
    if (status) {
        return status;
    }
    put_all(ctrl, req);
    /* Last: a stream is opened by a Write that has its data. */
    return nvme_take_directive(ctrl, req, sqe);
}

bool nvme_protected_has_zeroes(const NvmeRequest *req, const NvmeSqe *sqe)
{
    return nvme_metadata_makes_zeroes(req, sqe);
}

uint16_t nvme_protected_write_zeroes(NvmeCtrl *ctrl, NvmeRequest *req,
                                     const NvmeSqe *sqe)
{
    uint16_t status = take_metadata(ctrl, req, sqe);

    if (!status) {
        status = nvme_take_directive(ctrl, req, sqe);
    }
    if (!status) {
        nvme_set_durability(ctrl, req, nvme_wants_fua(sqe));
        nvme_metadata_zeroes(ctrl, req);
        status = add_write(ctrl, req, NVME_FROM_ZEROES);
    }
    if (!status) {
        put_all(ctrl, req);
    }
    return status;
}

/* ---- reads --------------------------------------------------------------- */

static void start_read(NvmeCtrl *ctrl, NvmeRequest *req, bool fua)
{
    NvmeRange range = {req->ns, nvme_drive_first(req), nvme_drive_blocks(req)};

    if (fua) {
        nvme_read_durable(req);
    }
    req->read_for = NVME_READ_PROTECTED;
    req->received = nvme_metadata_received;
    nvme_prepare_reads(ctrl, req, &range, 1);
    nvme_metadata_attach(ctrl, req);
    nvme_start_prepared(ctrl, req);
}

static void get_buf(NvmeCtrl *ctrl, NvmeRequest *req)
{
    req->buf_bytes = (size_t)req->bytes;
    req->buf = payload_buf_get(ctrl->payload, req->buf_bytes);
}

uint16_t nvme_protected_read(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe)
{
    uint16_t status = take_to_read(ctrl, req, sqe);

    if (!status) {
        status = nvme_map(ctrl, &req->sg, sqe, req->metadata->link_bytes, true);
    }
    if (!status) {
        get_buf(ctrl, req);
        start_read(ctrl, req, nvme_wants_fua(sqe));
    }
    return status;
}

uint16_t nvme_protected_compare(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe)
{
    uint16_t status = take_to_read(ctrl, req, sqe);

    if (!status) {
        status =
            nvme_map(ctrl, &req->sg, sqe, req->metadata->link_bytes, false);
    }
    if (!status) {
        get_buf(ctrl, req);
        req->compare = payload_buf_get(ctrl->payload, req->buf_bytes);
        status = nvme_metadata_receive(ctrl, req);
    }
    if (!status) {
        start_read(ctrl, req, nvme_wants_fua(sqe));
    }
    return status;
}

uint16_t nvme_protected_verify(NvmeCtrl *ctrl, NvmeRequest *req,
                               const NvmeSqe *sqe)
{
    uint16_t status = take_to_read(ctrl, req, sqe);

    if (!status) {
        get_buf(ctrl, req);
        start_read(ctrl, req, nvme_wants_fua(sqe));
    }
    return status;
}
