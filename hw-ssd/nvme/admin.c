/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * admin.c - taking an entry of a queue, and the admin commands that manage
 * queues.  Identify, features, logs and events have files of their own.
 */
#include "nvme-internal.h"

#define EFFECT_SUPPORTED 0x1

/* ---- queues ------------------------------------------------------------- */

static uint16_t check_new_queue(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                bool taken, uint32_t entry_shift,
                                uint32_t want_shift)
{
    uint16_t qid = sqe->dw[10] & 0xffff;
    uint32_t size = (sqe->dw[10] >> 16) + 1;

    if (qid == 0 || qid > ctrl->cfg.n_queues || taken) {
        return NVME_SC_QID_INVALID;
    }
    if (size < 2 || size > ctrl->cfg.queue_size || entry_shift != want_shift) {
        return NVME_SC_QUEUE_SIZE;
    }
    if (!(sqe->dw[11] & 1)) {
        return NVME_SC_INVALID_FIELD; /* CAP.CQR: must be contiguous */
    }
    if (nvme_sqe_prp1(sqe) & ((1ULL << ctrl->page_bits) - 1)) {
        return NVME_SC_PRP_OFFSET;
    }
    return 0;
}

static uint16_t admin_create_cq(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe)
{
    uint16_t qid = sqe->dw[10] & 0xffff;
    uint16_t vector = sqe->dw[11] >> 16;
    bool taken = qid < NVME_MAX_QUEUES && ctrl->cq[qid].live;
    uint16_t status = check_new_queue(ctrl, sqe, taken,
                                      NVME_CC_IOCQES(ctrl->cc),
                                      NVME_CQE_SHIFT);

    if (status) {
        return status;
    }
    if (vector >= ctrl->cfg.n_vectors ||
        (vector && !ctrl->machine->msix_enabled(ctrl->opaque))) {
        return NVME_SC_INTERRUPT_VECTOR;
    }
    nvme_cq_open(ctrl, qid, nvme_sqe_prp1(sqe), (sqe->dw[10] >> 16) + 1, vector,
                 sqe->dw[11] & 2);
    return 0;
}

static uint16_t admin_create_sq(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe)
{
    uint16_t qid = sqe->dw[10] & 0xffff;
    uint16_t cqid = sqe->dw[11] >> 16;
    bool taken = qid < NVME_MAX_QUEUES && ctrl->sq[qid].live;
    uint16_t status = check_new_queue(ctrl, sqe, taken,
                                      NVME_CC_IOSQES(ctrl->cc),
                                      NVME_SQE_SHIFT);

    if (status) {
        return status;
    }
    if (cqid == 0 || cqid > ctrl->cfg.n_queues) {
        return NVME_SC_QID_INVALID;
    }
    if (!ctrl->cq[cqid].live) {
        return NVME_SC_CQ_INVALID;
    }
    nvme_sq_open(ctrl, qid, &ctrl->cq[cqid], nvme_sqe_prp1(sqe),
                 (sqe->dw[10] >> 16) + 1);
    return 0;
}

/*
 * Commands of the queue end as aborted, before the Delete does.  What the drive
 * has of them may still take effect: the Delete waits for that, so that it
 * cannot happen behind the back of a later command (Base 1.4, 5.6).  It does not
 * wait for the store.
 */
static void abort_queue(NvmeCtrl *ctrl, NvmeSq *sq, NvmeRequest *deletion)
{
    NvmeRequest *next;

    for (NvmeRequest *r = sq->list.sq_next; r != &sq->list; r = next) {
        next = r->sq_next;
        if (r->posted) {
            continue;
        }
        if (r->pending || r->starved) {
            NvmeRequest *stand_in = nvme_request_new(ctrl);

            /* The drive still works on it: answer in its place. */
            nvme_request_link(sq, stand_in);
            stand_in->cid = r->cid;
            stand_in->opcode = r->opcode;
            stand_in->nsid = r->nsid;
            stand_in->posted = true;
            stand_in->status = NVME_SC_ABORT_SQ_DELETED;
            ctrl->nio_requests++;
            nvme_request_abort(ctrl, r);
            if (r->in_drive) {
                r->deletion = deletion;
                deletion->pending++;
            }
            nvme_request_orphan(ctrl, r);
            nvme_request_complete(ctrl, stand_in);
        }
    }
}

static uint16_t admin_delete_sq(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe)
{
    uint16_t qid = sqe->dw[10] & 0xffff;

    if (qid == 0 || qid >= NVME_MAX_QUEUES || !ctrl->sq[qid].live) {
        return NVME_SC_QID_INVALID;
    }
    abort_queue(ctrl, &ctrl->sq[qid], req);
    nvme_sq_close(ctrl, &ctrl->sq[qid]);
    return 0;
}

static uint16_t admin_delete_cq(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe)
{
    uint16_t qid = sqe->dw[10] & 0xffff;

    if (qid == 0 || qid >= NVME_MAX_QUEUES || !ctrl->cq[qid].live) {
        return NVME_SC_QID_INVALID;
    }
    if (ctrl->cq[qid].nsqs) {
        return NVME_SC_QUEUE_DELETION;
    }
    nvme_cq_close(ctrl, &ctrl->cq[qid]);
    return 0;
}

/* ---- others ------------------------------------------------------------- */

/* Dword 0 of the completion: bit 0 is set if nothing was aborted. */
static uint16_t admin_abort(NvmeCtrl *ctrl, NvmeRequest *req,
                            const NvmeSqe *sqe)
{
    uint16_t sqid = sqe->dw[10] & 0xffff;
    uint16_t cid = sqe->dw[10] >> 16;
    NvmeSq *sq = sqid < NVME_MAX_QUEUES ? &ctrl->sq[sqid] : NULL;

    req->dw0 = 1;
    if (!sq || !sq->live) {
        return 0;
    }
    for (NvmeRequest *r = sq->list.sq_next; r != &sq->list; r = r->sq_next) {
        if (r == req || r->cid != cid || r->posted) {
            continue;
        }
        if (r->waiting) {
            req->dw0 = nvme_event_abort(ctrl, r) ? 0 : 1;
        } else {
            req->dw0 = nvme_request_abort(ctrl, r) ? 0 : 1;
        }
        break;
    }
    return 0;
}

static uint16_t admin_doorbell_buffer(NvmeCtrl *ctrl, NvmeRequest *req,
                                      const NvmeSqe *sqe)
{
    uint64_t db = nvme_sqe_prp1(sqe);
    uint64_t ei = nvme_sqe_prp2(sqe);
    uint64_t mask = (1ULL << ctrl->page_bits) - 1;
    uint32_t probe;

    if (db & mask || ei & mask) {
        return NVME_SC_PRP_OFFSET;
    }
    if (db == ei) {
        return NVME_SC_INVALID_FIELD;
    }
    if (ctrl->machine->dma_read(ctrl->opaque, db, &probe, sizeof(probe)) ||
        ctrl->machine->dma_read(ctrl->opaque, ei, &probe, sizeof(probe))) {
        return NVME_SC_DATA_TRANSFER;
    }
    nvme_shadow_config(ctrl, db, ei);
    return 0;
}

static const NvmeCommand admin_commands[] = {
    { NVME_ADM_DELETE_SQ, "Delete I/O Submission Queue", admin_delete_sq,
      EFFECT_SUPPORTED, "outstanding commands end as aborted" },
    { NVME_ADM_CREATE_SQ, "Create I/O Submission Queue", admin_create_sq,
      EFFECT_SUPPORTED, "contiguous; any completion queue" },
    { NVME_ADM_GET_LOG_PAGE, "Get Log Page", nvme_get_log_page,
      EFFECT_SUPPORTED, "offset, 32-bit length, Retain Asynchronous Event" },
    { NVME_ADM_DELETE_CQ, "Delete I/O Completion Queue", admin_delete_cq,
      EFFECT_SUPPORTED, "" },
    { NVME_ADM_CREATE_CQ, "Create I/O Completion Queue", admin_create_cq,
      EFFECT_SUPPORTED, "contiguous; any interrupt vector" },
    { NVME_ADM_IDENTIFY, "Identify", nvme_identify, EFFECT_SUPPORTED, "" },
    { NVME_ADM_ABORT, "Abort", admin_abort, EFFECT_SUPPORTED,
      "I/O commands that the drive has not begun, and event requests" },
    { NVME_ADM_SET_FEATURES, "Set Features", nvme_set_features,
      EFFECT_SUPPORTED, "nothing is saveable" },
    { NVME_ADM_GET_FEATURES, "Get Features", nvme_get_features,
      EFFECT_SUPPORTED, "current, default, saved, capabilities" },
    { NVME_ADM_ASYNC_EVENT, "Asynchronous Event Request", nvme_async_event,
      EFFECT_SUPPORTED, "error and SMART events; 4 outstanding" },
    { NVME_ADM_DIRECTIVE_SEND, "Directive Send", nvme_directive_send,
      EFFECT_SUPPORTED | NVME_ONLY_DIRECTIVES,
      "with streams.max or fdp.ruhs: Enable; Streams: Release Identifier, "
      "Release Resources" },
    { NVME_ADM_DIRECTIVE_RECEIVE, "Directive Receive", nvme_directive_receive,
      EFFECT_SUPPORTED | NVME_ONLY_DIRECTIVES,
      "with streams.max or fdp.ruhs: Return Parameters; Streams: Get Status, "
      "Allocate Resources" },
    { NVME_ADM_DOORBELL_BUFFER, "Doorbell Buffer Config",
      admin_doorbell_buffer, EFFECT_SUPPORTED,
      "before or after the creation of queues" },
};

const NvmeCommand *nvme_admin_commands(unsigned *n)
{
    *n = G_N_ELEMENTS(admin_commands);
    return admin_commands;
}

/* ---- taking an entry ---------------------------------------------------- */

uint32_t nvme_command_effects(const NvmeCtrl *ctrl, const NvmeCommand *c)
{
    if ((c->effects & NVME_ONLY_DIRECTIVES && !nvme_has_directives(ctrl)) ||
        (c->effects & NVME_ONLY_FDP && !nvme_has_fdp(ctrl))) {
        return 0;
    }
    return c->effects & ~(NVME_ONLY_DIRECTIVES | NVME_ONLY_FDP);
}

static const NvmeCommand *find_command(const NvmeCtrl *ctrl,
                                       const NvmeCommand *table, unsigned n,
                                       uint8_t opcode)
{
    for (unsigned i = 0; i < n; i++) {
        if (table[i].opcode == opcode &&
            nvme_command_effects(ctrl, &table[i])) {
            return &table[i];
        }
    }
    return NULL;
}

static NvmeRequest *take(NvmeCtrl *ctrl, NvmeSq *sq, const NvmeSqe *sqe)
{
    NvmeRequest *req = nvme_request_new(ctrl);

    nvme_request_link(sq, req);
    req->opcode = nvme_sqe_opcode(sqe);
    req->cid = nvme_sqe_cid(sqe);
    req->nsid = sqe->dw[1];
    req->admin = sq->id == 0;
    req->fetch_ns = ctrl->now_ns;
    if (req->admin) {
        ctrl->commands_admin++;
        return req;
    }
    ctrl->commands_io++;
    if (ctrl->nio_requests++ == 0) {
        ctrl->busy_since_ns = ctrl->now_ns;
    }
    return req;
}

static uint16_t dispatch(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    unsigned n;
    const NvmeCommand *table =
        req->admin ? nvme_admin_commands(&n) : nvme_io_commands(&n);
    const NvmeCommand *command = find_command(ctrl, table, n, req->opcode);

    if (!command) {
        return NVME_SC_INVALID_OPCODE;
    }
    if (sqe->dw[0] & 0xc300) {
        return NVME_SC_INVALID_FIELD; /* fused, or an SGL */
    }
    return command->run(ctrl, req, sqe);
}

static void trace_start(NvmeCtrl *ctrl, const NvmeSqe *sqe,
                        const NvmeRequest *req)
{
    bool range = !req->admin && req->opcode != NVME_IO_FLUSH &&
                 req->opcode != NVME_IO_DSM &&
                 req->opcode != NVME_IO_MGMT_RECEIVE &&
                 req->opcode != NVME_IO_MGMT_SEND;
    NvmeTrace t = {
        .admin = req->admin,
        .opcode = req->opcode,
        .sqid = req->sq->id,
        .cid = req->cid,
        .nsid = req->nsid,
        .nblocks = range ? (sqe->dw[12] & 0xffff) + 1 : 0,
        .lba = range ? nvme_sqe_slba(sqe) : 0,
    };

    ctrl->machine->trace(ctrl->opaque, &t);
}

void nvme_execute(NvmeCtrl *ctrl, NvmeSq *sq, const NvmeSqe *sqe)
{
    NvmeRequest *req = take(ctrl, sq, sqe);
    uint16_t status;

    if (ctrl->machine->trace) {
        trace_start(ctrl, sqe, req);
    }
    req->pending = 1;
    status = dispatch(ctrl, req, sqe);
    if (status) {
        nvme_request_cancel_steps(ctrl, req);
        req->barrier = false;
        req->status = status;
        req->refused = true;
    } else if (req->waiting) {
        req->pending = 0;
        nvme_deliver_events(ctrl);
        return;
    }
    nvme_request_start(ctrl, req);
    nvme_request_part_done(ctrl, req);
}
