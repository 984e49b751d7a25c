/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dispatch.c - taking one entry of a submission queue: its request, its
 * command, and the start of it.
 *
 * Knows the tables of commands; admin.c and io.c execute the commands.
 */
#include "nvme-internal.h"
#include "namespace/namespace.h"
#include "admin/commands.h"
#include "data/data.h"
#include "dispatch.h"
#include "queue/durable-log.h"
#include "health/events.h"
#include "kv/kv.h"
#include "queue/request.h"
#include "reservation/reservation.h"
#include "erase/sanitize.h"
#include "queue/steps.h"
#include "zone/zones.h"

/* With zones.conventional: is the command one of the namespace's kind? */
static bool is_of_kind(const NvmeRequest *req, const NvmeCommand *c)
{
    return req->admin || !req->ns ||
           !(c->effects &
             (nvme_is_zoned(req->ns) ? NVME_NOT_ZONED : NVME_ONLY_ZONED));
}

static const NvmeCommand *find_command(const NvmeCtrl *ctrl,
                                       const NvmeRequest *req)
{
    bool kv = !req->admin && req->ns && req->ns->kv;
    const NvmeCommandTable *t =
        kv ? &nvme_kv_commands : ctrl->commands[req->admin];

    for (unsigned i = 0; i < t->n; i++) {
        if (t->row[i].opcode == req->opcode &&
            nvme_command_effects(ctrl, &t->row[i])) {
            return G_UNLIKELY(nvme_has_both(ctrl)) &&
                           !is_of_kind(req, &t->row[i])
                       ? NULL
                       : &t->row[i];
        }
    }
    return NULL;
}

static inline NvmeRequest *take_command(NvmeCtrl *ctrl, NvmeSq *sq,
                                        const NvmeSqe *sqe)
{
    NvmeRequest *req = nvme_request_new(ctrl);

    nvme_request_link(sq, req);
    req->opcode = nvme_sqe_opcode(sqe);
    req->cid = nvme_sqe_cid(sqe);
    req->nsid = sqe->dw[1];
    req->ns = nvme_ns_find(ctrl, req->nsid);
    req->admin = sq->id == 0;
    req->fetch_ns = ctrl->sub->now_ns;
    if (req->admin) {
        ctrl->sub->count.commands_admin++;
        return req;
    }
    ctrl->sub->count.commands_io++;
    if (ctrl->sub->life.n_io++ == 0) {
        ctrl->sub->life.busy_since_ns = ctrl->sub->now_ns;
    }
    return req;
}

/* I/O commands may have an SGL.  There is no metadata, so nothing is read of
 * its pointer. */
static bool takes_sgl(const NvmeCtrl *ctrl, const NvmeRequest *req,
                      const NvmeSqe *sqe)
{
    return ctrl->cfg.sgl && !req->admin && !nvme_sqe_fuse(sqe) &&
           (nvme_sqe_psdt(sqe) & 3) != 3;
}

static inline uint16_t dispatch(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe)
{
    const NvmeCommand *command = find_command(ctrl, req);

    if (!command) {
        return NVME_SC_INVALID_OPCODE;
    }
    req->work = command->work;
    if (G_UNLIKELY(nvme_sanitize_restricts(ctrl))) {
        uint16_t status = nvme_sanitize_refuses(ctrl, req, sqe);

        if (status) {
            return status;
        }
    }
    if (G_UNLIKELY(sqe->dw[0] & (NVME_FUSE_BITS | NVME_PSDT_BITS)) &&
        !takes_sgl(ctrl, req, sqe)) {
        return NVME_SC_INVALID_FIELD;
    }
    if (G_UNLIKELY(ctrl->sub->n_reserved)) {
        uint16_t status = nvme_reservation_check(ctrl, req, command->work, sqe);

        if (status) {
            return status;
        }
    }
    if (req->ns && req->ns->protect && command->work == NVME_WORK_WRITE) {
        return NVME_SC_NS_PROTECTED;
    }
    if (G_UNLIKELY(req->ns && req->ns->protection.meta_bytes) &&
        command->with_metadata) {
        return command->with_metadata(ctrl, req, sqe);
    }
    return command->run(ctrl, req, sqe);
}

static void trace_start(NvmeCtrl *ctrl, const NvmeSqe *sqe,
                        const NvmeRequest *req)
{
    bool range = !req->admin && !(req->ns && req->ns->kv) &&
                 req->opcode != NVME_IO_FLUSH && req->opcode != NVME_IO_DSM &&
                 req->opcode != NVME_IO_COPY && req->opcode != NVME_IO_CANCEL &&
                 req->opcode != NVME_IO_MGMT_RECEIVE &&
                 req->opcode != NVME_IO_MGMT_SEND;
    NvmeTrace t = {
        .admin = req->admin,
        .fua = range && nvme_wants_fua(sqe),
        .opcode = req->opcode,
        .sqid = req->sq->id,
        .cid = req->cid,
        .nsid = req->nsid,
        .nblocks = range ? (sqe->dw[12] & 0xffff) + 1 : 0,
        .lba = range ? nvme_sqe_slba(sqe) : 0,
        .prp = {sqe->dw[6] | (uint64_t)sqe->dw[7] << 32,
                sqe->dw[8] | (uint64_t)sqe->dw[9] << 32},
    };

    if (ctrl->machine->trace) {
        ctrl->machine->trace(ctrl->opaque, &t);
    }
    if (ctrl->sub->durable_log) {
        nvme_durable_log_command(ctrl->sub->durable_log, ctrl->sub->now_ns, &t);
    }
}

static inline NvmeRequest *take_traced(NvmeCtrl *ctrl, NvmeSq *sq,
                                       const NvmeSqe *sqe)
{
    NvmeRequest *req = take_command(ctrl, sq, sqe);

    if (ctrl->machine->trace || ctrl->sub->durable_log) {
        trace_start(ctrl, sqe, req);
    }
    return req;
}

static inline void begin_command(NvmeCtrl *ctrl, NvmeRequest *req,
                                 const NvmeSqe *sqe)
{
    uint16_t status;

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

void nvme_execute(NvmeCtrl *ctrl, NvmeSq *sq, const NvmeSqe *sqe)
{
    begin_command(ctrl, take_traced(ctrl, sq, sqe), sqe);
}

/* ---- in parts ------------------------------------------------------------ */

NvmeRequest *nvme_take(NvmeCtrl *ctrl, NvmeSq *sq, const NvmeSqe *sqe)
{
    return take_traced(ctrl, sq, sqe);
}

uint16_t nvme_dispatch(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    return dispatch(ctrl, req, sqe);
}

void nvme_begin(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    begin_command(ctrl, req, sqe);
}

void nvme_refuse(NvmeCtrl *ctrl, NvmeRequest *req, uint16_t status)
{
    req->status = status;
    req->refused = true;
    nvme_request_complete(ctrl, req);
}
