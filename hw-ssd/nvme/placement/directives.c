/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * directives.c - Directive Send and Receive, and directives in writes (Base
 * 2.2, section 8.1.8, Directives).
 *
 * Knows the operations and their fields; streams.c knows which streams are
 * open, and whose they are.
 */
#include "nvme-internal.h"
#include "placement/directives.h"
#include "placement/fdp.h"
#include "placement/fdp-handles.h"
#include "namespace/namespace.h"
#include "memory/prp.h"
#include "placement/streams.h"

/* ---- directives in I/O commands ----------------------------------------- */

uint16_t nvme_take_directive(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe)
{
    /* Bit 23 is another one of Write Zeroes (NVM Command Set 1.1,
     * section 3.3.8, Command Dword 12). */
    unsigned mask = req->opcode == NVME_IO_WRITE_ZEROES ? 0x7 : 0xf;
    unsigned type = sqe->dw[12] >> 20 & mask;
    uint16_t spec = sqe->dw[13] >> 16;

    bool places = ctrl->sub->fdp.ruhs && nvme_fdp_places(ctrl, req->ns);

    if ((!nvme_streams_enabled(ctrl) && !places) || type == NVME_DIR_IDENTIFY) {
        if (ctrl->sub->fdp.ruhs) {
            req->stream = nvme_fdp_place_default(ctrl, req);
        }
        return 0; /* both fields are ignored */
    }
    if (type == NVME_DIR_STREAMS && nvme_streams_enabled(ctrl)) {
        req->stream = spec ? nvme_stream_use(ctrl, spec) : 0;
        return 0;
    }
    if (type == NVME_DIR_PLACEMENT && places) {
        req->stream = nvme_fdp_place(ctrl, req, spec);
        return 0;
    }
    return NVME_SC_INVALID_FIELD;
}

/* ---- Identify ----------------------------------------------------------- */

/* As much of the structure as is asked for (NUMD), and no more than it has
 * (Base 2.2, section 5.1.6, Directive Receive command). */
static uint16_t give(NvmeCtrl *ctrl, const NvmeSqe *sqe, const void *d,
                     size_t bytes)
{
    uint64_t wanted = ((uint64_t)sqe->dw[10] + 1) * 4;

    return wanted > ctrl->max_bytes
               ? NVME_SC_INVALID_FIELD
               : nvme_to_host(ctrl, sqe, d, (size_t)MIN(wanted, bytes));
}

static uint16_t identify_parameters(NvmeCtrl *ctrl, NvmeRequest *req,
                                    const NvmeSqe *sqe)
{
    NvmeDirectives d = {0};

    d.supported[0] = 1 << NVME_DIR_IDENTIFY |
                     (ctrl->sub->streams.max ? 1 << NVME_DIR_STREAMS : 0) |
                     (nvme_fdp_on(ctrl) ? 1 << NVME_DIR_PLACEMENT : 0);
    d.enabled[0] = 1 << NVME_DIR_IDENTIFY |
                   (nvme_streams_enabled(ctrl) ? 1 << NVME_DIR_STREAMS : 0) |
                   (ctrl->sub->fdp.ruhs && nvme_fdp_places(ctrl, req->ns)
                        ? 1 << NVME_DIR_PLACEMENT
                        : 0);
    d.persistent[0] = nvme_fdp_on(ctrl) ? 1 << NVME_DIR_PLACEMENT : 0;
    return give(ctrl, sqe, &d, sizeof(d));
}

static uint16_t identify_enable(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe)
{
    bool on = sqe->dw[12] & 1;
    unsigned type = sqe->dw[12] >> 8 & 0xff;

    if (type == NVME_DIR_STREAMS && ctrl->sub->streams.max) {
        nvme_streams_enable(ctrl, on);
        return 0;
    }
    if (type == NVME_DIR_PLACEMENT && nvme_fdp_on(ctrl)) {
        if (req->nsid == NVME_NSID_ALL) {
            return NVME_SC_INVALID_NSID;
        }
        nvme_fdp_set_places(ctrl, req->ns, on);
        return 0;
    }
    return NVME_SC_INVALID_FIELD;
}

/* ---- Streams ------------------------------------------------------------ */

static uint16_t streams_parameters(NvmeCtrl *ctrl, NvmeRequest *req,
                                   const NvmeSqe *sqe)
{
    const NvmeStreams *s = &ctrl->sub->streams;
    const NvmeStreamHost *host = nvme_streams_host(ctrl);
    const SsdInfo *info = ssd_info(ctrl->ssd);
    uint64_t sgs = info->reclaim_bytes / info->program_bytes;
    NvmeStreamParameters d = {
        .msl = nvme_le16((uint16_t)s->max),
        .nssa = nvme_le16((uint16_t)nvme_streams_shared(s)),
        .nsso = nvme_le16((uint16_t)nvme_streams_shared_open(s)),
        .sws = nvme_le32(info->program_bytes / ctrl->block_bytes),
        .sgs = nvme_le16(MIN(sgs, UINT16_MAX)),
    };

    if (req->nsid != NVME_NSID_ALL) {
        d.nsa = nvme_le16((uint16_t)host->allocated);
        d.nso = nvme_le16((uint16_t)host->open);
    }
    return give(ctrl, sqe, &d, sizeof(d));
}

/* FFFFFFFFh: the host's streams that use no exclusive resources. */
static uint16_t streams_status(NvmeCtrl *ctrl, NvmeRequest *req,
                               const NvmeSqe *sqe)
{
    const NvmeStreamHost *host = nvme_streams_host(ctrl);
    uint16_t d[1 + NVME_MAX_STREAMS] = {0}; /* how many, which */
    bool none = req->nsid == NVME_NSID_ALL && host->allocated;
    unsigned n = 0;

    while (!none && n < host->open) { /* in numerical order */
        uint16_t last = nvme_le16(d[n]);

        d[1 + n] = nvme_le16(nvme_streams_next(ctrl, n ? last : 0));
        n++;
    }
    d[0] = nvme_le16((uint16_t)n);
    return nvme_to_host_padded(ctrl, sqe, d, sizeof(d),
                               ((uint64_t)sqe->dw[10] + 1) * 4);
}

static uint16_t streams_allocate(NvmeCtrl *ctrl, NvmeRequest *req,
                                 const NvmeSqe *sqe)
{
    if (nvme_streams_host(ctrl)->allocated) {
        return NVME_SC_INVALID_FIELD;
    }
    req->dw0 = nvme_streams_allocate(ctrl, sqe->dw[12] & 0xffff);
    return 0;
}

/* Nor is it an error if it is not open. */
static uint16_t streams_release_id(NvmeCtrl *ctrl, NvmeRequest *req,
                                   const NvmeSqe *sqe)
{
    nvme_stream_release(ctrl, sqe->dw[11] >> 16);
    return 0;
}

static uint16_t streams_release(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe)
{
    nvme_streams_release(ctrl);
    return 0;
}

/* ---- the commands ------------------------------------------------------- */

typedef struct Operation {
    uint8_t opcode;
    uint8_t type;
    uint8_t operation;
    bool all; /* takes FFFFFFFFh */
    uint16_t (*run)(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);
} Operation;

static const Operation operations[] = {
    {NVME_ADM_DIRECTIVE_RECEIVE, NVME_DIR_IDENTIFY, NVME_DIR_RECEIVE_PARAMETERS,
     false, identify_parameters},
    {NVME_ADM_DIRECTIVE_SEND, NVME_DIR_IDENTIFY, NVME_DIR_SEND_ENABLE, true,
     identify_enable},
    {NVME_ADM_DIRECTIVE_RECEIVE, NVME_DIR_STREAMS, NVME_DIR_RECEIVE_PARAMETERS,
     true, streams_parameters},
    {NVME_ADM_DIRECTIVE_RECEIVE, NVME_DIR_STREAMS, NVME_DIR_RECEIVE_STATUS,
     true, streams_status},
    {NVME_ADM_DIRECTIVE_RECEIVE, NVME_DIR_STREAMS, NVME_DIR_RECEIVE_ALLOCATE,
     false, streams_allocate},
    {NVME_ADM_DIRECTIVE_SEND, NVME_DIR_STREAMS, NVME_DIR_SEND_RELEASE_ID, false,
     streams_release_id},
    {NVME_ADM_DIRECTIVE_SEND, NVME_DIR_STREAMS, NVME_DIR_SEND_RELEASE, false,
     streams_release},
};

static uint16_t directive(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint8_t operation = sqe->dw[11];
    uint8_t type = sqe->dw[11] >> 8;

    if (req->nsid != NVME_NSID_ALL && !req->ns) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    if (type == NVME_DIR_STREAMS && !nvme_streams_enabled(ctrl)) {
        return NVME_SC_INVALID_FIELD;
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(operations); i++) {
        const Operation *o = &operations[i];

        if (o->opcode == req->opcode && o->type == type &&
            o->operation == operation) {
            return req->nsid == NVME_NSID_ALL && !o->all
                       ? NVME_SC_INVALID_FIELD
                       : o->run(ctrl, req, sqe);
        }
    }
    return NVME_SC_INVALID_FIELD;
}

uint16_t nvme_directive_send(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe)
{
    return directive(ctrl, req, sqe);
}

uint16_t nvme_directive_receive(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe)
{
    return directive(ctrl, req, sqe);
}
