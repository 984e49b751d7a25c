/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steps.c - the way of a request through the drive and the payload, to its
 * completion.
 *
 * Knows steps, places in the drive and when a request is done; knows nothing of
 * opcodes (admin.c, io.c) or of where completions go (completion.c).
 */
#include "nvme-internal.h"
#include "queue/bad-entry.h"
#include "memory/cmb.h"
#include "queue/completion.h"
#include "queue/durable-log.h"
#include "queue/error-log.h"
#include "namespace/lba-track.h"
#include "namespace/namespace.h"
#include "pool.h"
#include "registers/registers.h"
#include "queue/request.h"
#include "queue/steps.h"

#include <errno.h>

static IlistLinks slot_chain(const NvmeCtrl *ctrl)
{
    return ILIST_CHAIN(ctrl->sub->slots.slot, NvmeSlot, next_free);
}

void nvme_slots_init(NvmeCtrl *ctrl, uint32_t n)
{
    ctrl->sub->slots.n = n;
    ctrl->sub->slots.slot = g_new0(NvmeSlot, n);
    ctrl->sub->slots.free = ILIST_NONE;
    pool_add(slot_chain(ctrl), &ctrl->sub->slots.free, 0, n);
}

static void request_fail(NvmeCtrl *ctrl, NvmeRequest *req, uint16_t status)
{
    if (!req->status) {
        req->status = status;
    }
    nvme_request_cancel_steps(ctrl, req);
}

/* ---- steps --------------------------------------------------------------- */

/* Prepare the payload before the drive gets the step. */
static void step_begin(NvmeCtrl *ctrl, NvmeStep *step)
{
    if (step->op == SSD_OP_WRITE) {
        step->id = ++ctrl->sub->next_version;
        payload_write_commit(ctrl->payload, step->entries, step->id);
        step->entries = NULL;
    } else if (step->op == SSD_OP_TRIM) {
        step->id = payload_trim_begin(ctrl->payload, step->lba, step->nblocks);
    }
}

/* A failure that the medium has not caused leaves the zone as it was. */
static NvmeStepEnd zone_end(SsdStatus status)
{
    return status == SSD_STATUS_OK ? NVME_STEP_DONE
           : status == SSD_STATUS_WRITE_FAULT || status == SSD_STATUS_READ_ONLY
               ? NVME_STEP_FAILED
               : NVME_STEP_DROPPED;
}

static void step_end(NvmeCtrl *ctrl, NvmeStep *step, SsdStatus status,
                     uint64_t end_ns)
{
    bool ok = status == SSD_STATUS_OK;

    if (ok && (step->op == SSD_OP_WRITE || step->op == SSD_OP_TRIM)) {
        nvme_lba_forget(ctrl, step->lba, step->nblocks);
    }
    if (G_UNLIKELY(ok && step->marks)) {
        nvme_lba_note(ctrl, step->lba, step->nblocks);
    }
    if (step->op == SSD_OP_WRITE) {
        payload_write_end(ctrl->payload, step->lba, step->nblocks);
        if (!ok) {
            payload_write_failed(ctrl->payload, step->lba, step->nblocks,
                                 step->id);
        }
    } else if (step->op == SSD_OP_TRIM) {
        payload_trim_end(ctrl->payload, end_ns, step->id, ok, step->zeroes);
    }
    if (G_UNLIKELY(step->zone)) {
        ctrl->queue_client->zone_step_end(ctrl, step, zone_end(status));
    }
}

static uint32_t slot_get(NvmeCtrl *ctrl, NvmeRequest *req, uint32_t step)
{
    uint32_t tag = pool_take(slot_chain(ctrl), &ctrl->sub->slots.free);

    ctrl->sub->slots.slot[tag].req = req;
    ctrl->sub->slots.slot[tag].step = step;
    ctrl->sub->slots.in_use++;
    req->in_drive++;
    return tag;
}

static void slot_put(NvmeCtrl *ctrl, uint32_t tag)
{
    ctrl->sub->slots.slot[tag].req->in_drive--;
    ctrl->sub->slots.slot[tag].req = NULL;
    pool_give(slot_chain(ctrl), &ctrl->sub->slots.free, tag);
    ctrl->sub->slots.in_use--;
}

static void submit_next_step(NvmeCtrl *ctrl, NvmeRequest *req)
{
    uint32_t index = req->next_step++;
    NvmeStep *step = &req->steps[index];
    uint32_t tag = slot_get(ctrl, req, index);
    SsdCmd cmd;
    int ret;

    step_begin(ctrl, step);
    cmd = (SsdCmd){
        .tag = tag,
        .version = step->op == SSD_OP_WRITE ? step->id : 0,
        .op = step->op,
        .fua = step->op == SSD_OP_WRITE && req->fua,
        .close = step->close,
        .erase = step->erase,
        .append = req->append,
        .internal = req->internal,
        .inside = step->inside || req->internal,
        .in_cmb = G_UNLIKELY(ctrl->windows_on) ? nvme_cmb_parts(req) : 0,
        .stream = step->close || step->erase ? step->stream : req->stream,
        .metadata_bytes = step->metadata_bytes,
        .nblocks = step->nblocks,
        .lba = step->lba,
    };
    req->pending++;
    ret = ssd_submit(ctrl->ssd, ctrl->sub->now_ns, &cmd);
    if (ret) {
        slot_put(ctrl, tag);
        step_end(ctrl, step, SSD_STATUS_POWER_LOSS, ctrl->sub->now_ns);
        req->pending--;
        request_fail(ctrl, req,
                     ret == -ENODEV ? NVME_SC_POWER_LOSS : NVME_SC_INTERNAL);
    }
}

static void starve(NvmeCtrl *ctrl, NvmeRequest *req)
{
    req->starved = true;
    req->next = NULL;
    if (ctrl->sub->requests.starved_first) {
        ctrl->sub->requests.starved_last->next = req;
    } else {
        ctrl->sub->requests.starved_first = req;
    }
    ctrl->sub->requests.starved_last = req;
}

/* The data of a Write is to be seen at one instant: its steps begin together.
 */
static uint32_t places_wanted(const NvmeCtrl *ctrl, const NvmeRequest *req)
{
    bool begins = req->next_step == 0 && req->steps[0].op == SSD_OP_WRITE;

    return begins ? MIN(req->nsteps, ctrl->sub->slots.n) : 1;
}

/* Is there a place for the next step, if there is one? */
static bool has_place(const NvmeCtrl *ctrl, const NvmeRequest *req)
{
    if (req->next_step == req->nsteps) {
        return true;
    }
    if (G_UNLIKELY(req->steps[req->next_step].zone) &&
        !ctrl->queue_client->zone_step_may_go(ctrl,
                                              &req->steps[req->next_step])) {
        return false;
    }
    return ctrl->sub->slots.n - ctrl->sub->slots.in_use >=
               places_wanted(ctrl, req) &&
           (req->steps[req->next_step].op != SSD_OP_TRIM ||
            payload_trim_room(ctrl->payload));
}

void nvme_request_start(NvmeCtrl *ctrl, NvmeRequest *req)
{
    while (req->next_step < req->nsteps) {
        if (!has_place(ctrl, req)) {
            starve(ctrl, req);
            return;
        }
        submit_next_step(ctrl, req);
    }
}

bool nvme_feed_starved(NvmeCtrl *ctrl)
{
    bool any = false;

    while (ctrl->sub->requests.starved_first &&
           has_place(ctrl, ctrl->sub->requests.starved_first)) {
        NvmeRequest *req = ctrl->sub->requests.starved_first;

        ctrl->sub->requests.starved_first = req->next;
        req->starved = false;
        req->pending++;
        nvme_request_start(req->ctrl, req);
        nvme_request_part_done(req->ctrl, req);
        any = true;
    }
    return any;
}

static void steps_go_on(NvmeCtrl *ctrl, NvmeRequest *req)
{
    uint16_t (*then)(NvmeCtrl *ctrl, NvmeRequest *req) = req->then;
    uint16_t status;

    req->then = NULL;
    req->pending = 1;
    status = then(ctrl, req);
    if (status) {
        request_fail(ctrl, req, status);
    }
    nvme_request_start(ctrl, req);
    nvme_request_part_done(ctrl, req);
}

void nvme_request_part_done(NvmeCtrl *ctrl, NvmeRequest *req)
{
    if (--req->pending || req->starved) {
        return;
    }
    if (req->then && !req->status && req->sq) {
        steps_go_on(ctrl, req);
        return;
    }
    if (req->barrier && !req->status &&
        (req->sq || req->shutdown || req->done)) {
        req->barrier = false;
        req->pending++;
        req->bar.owner = req;
        req->bar.unflushed = req->unflushed;
        payload_barrier(ctrl->payload, &req->bar);
        return;
    }
    nvme_request_complete(ctrl, req);
}

bool nvme_request_abort(NvmeCtrl *ctrl, NvmeRequest *req)
{
    bool any = req->next_step < req->nsteps || req->delayed;

    nvme_request_cancel_steps(ctrl, req);
    for (uint32_t tag = 0; tag < ctrl->sub->slots.n; tag++) {
        if (ctrl->sub->slots.slot[tag].req == req) {
            any |= ssd_abort(ctrl->ssd, ctrl->sub->now_ns, tag);
        }
    }
    req->aborted |= any;
    if (any && !req->status) {
        req->status = NVME_SC_ABORT_REQUESTED;
    }
    return any;
}

/* ---- completion ---------------------------------------------------------- */

/*
 * May the same command succeed when it is sent again, to any controller of the
 * subsystem (Base 2.1, Completion Queue Entry: Status Field, Do Not Retry)?
 * Other hosts may end a reservation.  The size of the Host Identifier is one
 * for all controllers: a retry fails at each of them.
 */
static bool worth_retrying(uint16_t code)
{
    switch (code) {
    case NVME_SC_POWER_LOSS:
    case NVME_SC_INTERNAL:
    case NVME_SC_ABORT_REQUESTED:
    case NVME_SC_ABORT_SQ_DELETED:
    case NVME_SC_COMMAND_SEQUENCE:
    case NVME_SC_AER_LIMIT:
    case NVME_SC_QUEUE_DELETION:
    case NVME_SC_WRITE_FAULT:
    case NVME_SC_PREEMPT_ABORT:
    case NVME_SC_RESERVATION_CONFLICT:
    case NVME_SC_SANITIZE_IN_PROGRESS:
    case NVME_SC_FORMAT_IN_PROGRESS:
    case NVME_SC_SELF_TEST:
        return true;
    default:
        return false;
    }
}

static void trace(NvmeCtrl *ctrl, const NvmeRequest *req)
{
    NvmeTrace t = {
        .end = true,
        .admin = req->admin,
        .opcode = req->opcode,
        .sqid = req->sq->id,
        .cid = req->cid,
        .status = req->status,
        .nsid = req->nsid,
        .nblocks = req->nblocks,
        .lba = req->lba,
        .complete_ns = req->modelled ? req->complete_ns : 0,
        .work = req->work,
        .refused = req->refused,
        .bytes = req->bytes,
        .fetch_ns = req->fetch_ns,
    };

    if (ctrl->machine->trace) {
        ctrl->machine->trace(ctrl->opaque, &t);
    }
    if (ctrl->sub->durable_log) {
        nvme_durable_log_command(ctrl->sub->durable_log, ctrl->sub->now_ns, &t);
    }
}

static void shutdown_done(NvmeCtrl *ctrl, NvmeRequest *req)
{
    if (ctrl->shutdown_req == req) {
        ctrl->shutdown_req = NULL;
        ctrl->shutdown_clean = !req->status;
        nvme_csts_shutdown(ctrl, NVME_CSTS_SHST_DONE);
    }
}

/* Fused commands complete in order; the second fails with the first. */
static void complete_first(NvmeCtrl *ctrl, NvmeRequest *req)
{
    NvmeRequest *second = req->fused;

    req->fused = NULL;
    if (req->status) {
        request_fail(ctrl, second, NVME_SC_FAILED_FUSED);
    }
    nvme_request_complete(ctrl, req);
    nvme_request_part_done(ctrl, second);
}

void nvme_request_complete(NvmeCtrl *ctrl, NvmeRequest *req)
{
    if (req->fused) {
        complete_first(ctrl, req);
        return;
    }
    nvme_request_tell_end(ctrl, req);
    if (req->shutdown) {
        shutdown_done(ctrl, req);
    }
    if (!req->sq) {
        if (req->done) {
            req->done(ctrl, req);
        }
        nvme_request_free(ctrl, req);
        return;
    }
    if (req->status) {
        uint16_t given = req->status;
        uint16_t code = given & NVME_SC_CODE_MASK;

        ctrl->sub->count.commands_failed++;
        req->status = code | NVME_SC_MORE;
        req->status |= worth_retrying(code) ? 0 : NVME_SC_DNR;
        if (G_UNLIKELY(req->fault == NVME_FAULT_STATUS)) {
            req->status = given | NVME_SC_MORE;
        }
        nvme_log_error(ctrl, req->sq->id, req, req->status);
    }
    if (req->ns) {
        nvme_ns_count_command(ctrl, req->ns, req->work, req->bytes,
                              req->status == 0);
    }
    if (ctrl->machine->trace || ctrl->sub->durable_log) {
        trace(ctrl, req);
    }
    nvme_post(ctrl, req);
}

/* From the status of the drive to the Status Code of the standard. */
static uint16_t status_of(SsdStatus status)
{
    static const uint16_t code[] = {
        [SSD_STATUS_OK] = NVME_SC_SUCCESS,
        [SSD_STATUS_UNRECOVERED_READ] = NVME_SC_UNRECOVERED_READ,
        [SSD_STATUS_WRITE_FAULT] = NVME_SC_WRITE_FAULT,
        [SSD_STATUS_READ_ONLY] = NVME_SC_READ_ONLY,
        [SSD_STATUS_ABORTED] = NVME_SC_ABORT_REQUESTED,
        [SSD_STATUS_POWER_LOSS] = NVME_SC_POWER_LOSS,
    };

    return status < G_N_ELEMENTS(code) ? code[status] : NVME_SC_INTERNAL;
}

uint32_t nvme_queue_of(void *ctrl, uint64_t tag)
{
    const NvmeSubsys *sub = ((const NvmeCtrl *)ctrl)->sub;
    const NvmeRequest *req =
        tag < sub->slots.n ? sub->slots.slot[tag].req : NULL;

    return req && req->sq ? req->sq->id | (uint32_t)req->ctrl->cfg.cntlid << 16
                          : 0;
}

void nvme_step_completed(NvmeSubsys *sub, const SsdCompletion *c)
{
    NvmeSlot *slot = &sub->slots.slot[c->tag];
    NvmeRequest *req = slot->req;
    NvmeCtrl *ctrl = req->ctrl;
    NvmeStep *step = &req->steps[slot->step];

    slot_put(ctrl, c->tag);
    step_end(ctrl, step, c->status, c->complete_ns);
    if (ctrl->sub->ns_job.draining) {
        ctrl->queue_client->drained(ctrl);
    }
    if (req->deletion && !req->in_drive) {
        nvme_request_part_done(req->deletion->ctrl, req->deletion);
        req->deletion = NULL;
    }
    if (c->status != SSD_STATUS_OK) {
        ctrl->sub->life.media_errors +=
            c->status == SSD_STATUS_UNRECOVERED_READ ||
            c->status == SSD_STATUS_WRITE_FAULT;
        if (c->status == SSD_STATUS_UNRECOVERED_READ) {
            req->lba = nvme_ns_from_drive(req->ns, c->bad_lba);
            nvme_lba_note(ctrl, c->bad_lba, 1);
        }
        request_fail(ctrl, req, status_of(c->status));
    }
    if (ctrl->machine->trace_parts && req->sq) {
        ctrl->machine->trace_parts(ctrl->opaque, req->sq->id, req->cid, c);
    }
    req->complete_ns = MAX(req->complete_ns, c->complete_ns);
    req->modelled = true;
    nvme_request_part_done(ctrl, req);
}
