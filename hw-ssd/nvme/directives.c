/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * directives.c - Directive Send and Receive, and directives in writes (Base
 * 2.2, section 8.1.8, Directives).
 *
 * Knows which stream identifiers of the host are open and which stream of the
 * drive each has; knows nothing of where the drive puts them.  One namespace
 * and one host: exclusive resources are a limit of their own, and "the
 * subsystem's" streams are the namespace's as long as it has none.  A stream is
 * opened by a Write or a Write Zeroes; when there is no room, the one that was
 * written least recently is closed.
 */
#include "nvme-internal.h"
#include "directives.h"
#include "fdp.h"
#include "fdp-handles.h"
#include "namespace.h"
#include "prp.h"

/* ---- streams ------------------------------------------------------------ */

void nvme_streams_init(NvmeCtrl *ctrl)
{
    const SsdInfo *info = ssd_info(ctrl->ssd);

    ctrl->sub->streams = (NvmeStreams){
        .max = info->ruhs || info->zones.n ? 0 : info->host_streams - 1,
    };
    nvme_fdp_init(ctrl);
}

static void close_stream(NvmeCtrl *ctrl, unsigned i)
{
    NvmeStreams *s = &ctrl->sub->streams;

    if (s->stream[i].id) {
        s->stream[i].id = 0;
        s->open--;
        ssd_stream_close(ctrl->ssd, ctrl->sub->now_ns, i + 1);
    }
}

static void close_all(NvmeCtrl *ctrl)
{
    for (unsigned i = 0; i < ctrl->sub->streams.max; i++) {
        close_stream(ctrl, i);
    }
}

void nvme_streams_reset(NvmeCtrl *ctrl)
{
    close_all(ctrl);
    ctrl->sub->streams.enabled = false;
    ctrl->sub->streams.allocated = 0;
}

/* How many the namespace may have open. */
static unsigned limit(const NvmeStreams *s)
{
    return s->allocated ? s->allocated : s->max;
}

static unsigned find_stream(const NvmeStreams *s, uint16_t id)
{
    unsigned i = 0;

    while (i < s->max && s->stream[i].id != id) {
        i++;
    }
    return i;
}

static unsigned least_recent(const NvmeStreams *s)
{
    unsigned least = s->max;

    for (unsigned i = 0; i < s->max; i++) {
        if (s->stream[i].id && (least == s->max || s->stream[i].used <
                                                       s->stream[least].used)) {
            least = i;
        }
    }
    return least;
}

/* The drive's stream of an identifier; it is open from now on. */
static uint16_t use_stream(NvmeCtrl *ctrl, uint16_t id)
{
    NvmeStreams *s = &ctrl->sub->streams;
    unsigned i = find_stream(s, id);

    if (i == s->max) {
        if (s->open == limit(s)) {
            close_stream(ctrl, least_recent(s));
        }
        i = find_stream(s, 0);
        s->stream[i].id = id;
        s->open++;
    }
    s->stream[i].used = ++s->clock;
    return (uint16_t)(i + 1);
}

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

    if ((!ctrl->sub->streams.enabled && !places) || type == NVME_DIR_IDENTIFY) {
        if (ctrl->sub->fdp.ruhs) {
            req->stream = nvme_fdp_place_default(ctrl, req);
        }
        return 0; /* both fields are ignored */
    }
    if (type == NVME_DIR_STREAMS && ctrl->sub->streams.enabled) {
        req->stream = spec ? use_stream(ctrl, spec) : 0;
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
    NvmeDirectives d = { 0 };

    d.supported[0] = 1 << NVME_DIR_IDENTIFY |
                     (ctrl->sub->streams.max ? 1 << NVME_DIR_STREAMS : 0) |
                     (nvme_fdp_on(ctrl) ? 1 << NVME_DIR_PLACEMENT : 0);
    d.enabled[0] = 1 << NVME_DIR_IDENTIFY |
                   (ctrl->sub->streams.enabled ? 1 << NVME_DIR_STREAMS : 0) |
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
        if (!on) {
            nvme_streams_reset(ctrl);
        }
        ctrl->sub->streams.enabled = on;
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
    const SsdInfo *info = ssd_info(ctrl->ssd);
    uint64_t sgs = info->reclaim_bytes / info->program_bytes;
    NvmeStreamParameters d = {
        .msl = nvme_le16(s->max),
        .nssa = nvme_le16(s->max - s->allocated),
        .nsso = nvme_le16(s->allocated ? 0 : s->open),
        .sws = nvme_le32(info->program_bytes / ctrl->block_bytes),
        .sgs = nvme_le16(MIN(sgs, UINT16_MAX)),
    };

    if (req->nsid != NVME_NSID_ALL) {
        d.nsa = nvme_le16(s->allocated);
        d.nso = nvme_le16(s->open);
    }
    return give(ctrl, sqe, &d, sizeof(d));
}

/* FFFFFFFFh: the streams that use no exclusive resources. */
static uint16_t streams_status(NvmeCtrl *ctrl, NvmeRequest *req,
                               const NvmeSqe *sqe)
{
    const NvmeStreams *s = &ctrl->sub->streams;
    uint16_t d[1 + NVME_MAX_STREAMS] = { 0 }; /* how many, which */
    unsigned n = 0;
    uint16_t last = 0;
    bool none = req->nsid == NVME_NSID_ALL && s->allocated;

    while (!none && n < s->open) { /* in numerical order */
        uint16_t next = UINT16_MAX;

        for (unsigned i = 0; i < s->max; i++) {
            if (s->stream[i].id > last) {
                next = MIN(next, s->stream[i].id);
            }
        }
        d[1 + n++] = nvme_le16(next);
        last = next;
    }
    d[0] = nvme_le16(n);
    return nvme_to_host_padded(ctrl, sqe, d, sizeof(d),
                               ((uint64_t)sqe->dw[10] + 1) * 4);
}

/* Streams that are open stay so, as far as there are resources for them. */
static uint16_t streams_allocate(NvmeCtrl *ctrl, NvmeRequest *req,
                                 const NvmeSqe *sqe)
{
    NvmeStreams *s = &ctrl->sub->streams;

    if (s->allocated) {
        return NVME_SC_INVALID_FIELD;
    }
    s->allocated = MIN(sqe->dw[12] & 0xffff, s->max);
    while (s->open > limit(s)) {
        close_stream(ctrl, least_recent(s));
    }
    req->dw0 = s->allocated;
    return 0;
}

static uint16_t streams_release_id(NvmeCtrl *ctrl, NvmeRequest *req,
                                   const NvmeSqe *sqe)
{
    uint16_t id = sqe->dw[11] >> 16;
    unsigned i = find_stream(&ctrl->sub->streams, id);

    if (id && i < ctrl->sub->streams.max) {
        close_stream(ctrl, i);
    }
    return 0; /* nor is it an error if it is not open */
}

static uint16_t streams_release(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe)
{
    if (ctrl->sub->streams.allocated) {
        close_all(ctrl);
        ctrl->sub->streams.allocated = 0;
    }
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
    { NVME_ADM_DIRECTIVE_RECEIVE, NVME_DIR_IDENTIFY,
      NVME_DIR_RECEIVE_PARAMETERS, false, identify_parameters },
    { NVME_ADM_DIRECTIVE_SEND, NVME_DIR_IDENTIFY, NVME_DIR_SEND_ENABLE, true,
      identify_enable },
    { NVME_ADM_DIRECTIVE_RECEIVE, NVME_DIR_STREAMS,
      NVME_DIR_RECEIVE_PARAMETERS, true, streams_parameters },
    { NVME_ADM_DIRECTIVE_RECEIVE, NVME_DIR_STREAMS, NVME_DIR_RECEIVE_STATUS,
      true, streams_status },
    { NVME_ADM_DIRECTIVE_RECEIVE, NVME_DIR_STREAMS, NVME_DIR_RECEIVE_ALLOCATE,
      false, streams_allocate },
    { NVME_ADM_DIRECTIVE_SEND, NVME_DIR_STREAMS, NVME_DIR_SEND_RELEASE_ID,
      false, streams_release_id },
    { NVME_ADM_DIRECTIVE_SEND, NVME_DIR_STREAMS, NVME_DIR_SEND_RELEASE, false,
      streams_release },
};

static uint16_t directive(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint8_t operation = sqe->dw[11];
    uint8_t type = sqe->dw[11] >> 8;

    if (req->nsid != NVME_NSID_ALL && !req->ns) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    if (type == NVME_DIR_STREAMS && !ctrl->sub->streams.enabled) {
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
