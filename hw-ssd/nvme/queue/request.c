/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request.c - the record of a command: memory, the list of its queue, its steps
 * and its buffers.
 *
 * Knows the members of a request; knows nothing of its way (steps.c), of
 * opcodes, or of where completions go.
 */
#include "nvme-internal.h"
#include "memory/sg.h"
#include "queue/request.h"

#define REQUEST_SLAB 64

void nvme_requests_init(NvmeCtrl *ctrl)
{
    ctrl->sub->requests.slabs = g_ptr_array_new_with_free_func(g_free);
    ctrl->sub->requests.sg_pool = g_ptr_array_new_with_free_func(g_free);
}

NvmeRequest *nvme_request_new(NvmeCtrl *ctrl)
{
    NvmeRequest *req = ctrl->sub->requests.free;

    if (!req) {
        NvmeRequest *slab = g_new0(NvmeRequest, REQUEST_SLAB);

        g_ptr_array_add(ctrl->sub->requests.slabs, slab);
        for (int i = REQUEST_SLAB - 1; i >= 0; i--) {
            slab[i].next = ctrl->sub->requests.free;
            ctrl->sub->requests.free = &slab[i];
        }
        req = slab;
    }
    ctrl->sub->requests.free = req->next;
    memset(req, 0, offsetof(NvmeRequest, small_steps));
    req->used = true;
    req->ctrl = ctrl;
    req->steps = req->small_steps;
    req->step_room = NVME_STEPS_SMALL;
    req->buf = NULL;
    req->compare = NULL;
    nvme_sg_init(&req->sg);
    return req;
}

void nvme_request_link(NvmeSq *sq, NvmeRequest *req)
{
    req->sq = sq;
    req->sq_next = &sq->list;
    req->sq_prev = sq->list.sq_prev;
    req->sq_prev->sq_next = req;
    sq->list.sq_prev = req;
}

static void request_unlink(NvmeRequest *req)
{
    if (req->sq) {
        req->sq_prev->sq_next = req->sq_next;
        req->sq_next->sq_prev = req->sq_prev;
        req->sq = NULL;
    }
}

void nvme_request_lock(NvmeCtrl *ctrl, NvmeRequest *req)
{
    req->locks = true;
    req->lock_next = ctrl->sub->requests.locks;
    ctrl->sub->requests.locks = req;
}

static void request_unlock(NvmeCtrl *ctrl, NvmeRequest *req)
{
    NvmeRequest **at = &ctrl->sub->requests.locks;

    while (*at != req) {
        at = &(*at)->lock_next;
    }
    *at = req->lock_next;
}

void nvme_request_put_bufs(NvmeCtrl *ctrl, NvmeRequest *req)
{
    if (req->buf) {
        if (req->read_for == NVME_READ_TO_COPY) {
            payload_free_bytes(ctrl->payload, req->buf_bytes);
        }
        payload_buf_put(ctrl->payload, req->buf, req->buf_bytes);
        req->buf = NULL;
    }
    if (req->compare) {
        payload_buf_put(ctrl->payload, req->compare, req->buf_bytes);
        req->compare = NULL;
    }
}

void nvme_ns_job_begin(NvmeRequest *req)
{
    req->ctrl->sub->ns_job.req = req;
}

void nvme_ns_job_wait(NvmeRequest *req)
{
    req->ctrl->sub->ns_job.draining = true;
    req->pending++;
}

void nvme_ns_job_drained(NvmeSubsys *sub)
{
    sub->ns_job.draining = false;
}

void nvme_ns_job_end(NvmeSubsys *sub)
{
    sub->ns_job.req = NULL;
}

void nvme_request_free(NvmeCtrl *ctrl, NvmeRequest *req)
{
    bool io = !req->admin && !req->shutdown;

    nvme_request_tell_end(ctrl, req);
    nvme_request_cancel_steps(ctrl, req);
    request_unlink(req);
    nvme_request_put_bufs(ctrl, req);
    nvme_sg_free(ctrl, &req->sg);
    if (req->steps != req->small_steps) {
        g_free(req->steps);
        req->steps = req->small_steps;
    }
    if (G_UNLIKELY(req->reads)) {
        g_free(req->reads);
        req->reads = NULL;
    }
    if (req->locks) { /* the only ones with an entry */
        request_unlock(ctrl, req);
        g_free(req->sqe);
        req->sqe = NULL;
    }
    g_clear_pointer(&req->job, g_free);
    if (io && --ctrl->sub->life.n_io == 0) {
        ctrl->sub->life.busy_ns +=
            ctrl->sub->now_ns - ctrl->sub->life.busy_since_ns;
    }
    if (G_UNLIKELY(ctrl->sub->ns_job.req == req)) {
        nvme_ns_job_end(ctrl->sub); /* it did not come to its end */
    }
    req->used = false;
    req->next = ctrl->sub->requests.free;
    ctrl->sub->requests.free = req;
}

uint64_t nvme_busy_ns(const NvmeCtrl *ctrl)
{
    return ctrl->sub->life.busy_ns +
           (ctrl->sub->life.n_io
                ? ctrl->sub->now_ns - ctrl->sub->life.busy_since_ns
                : 0);
}

void nvme_request_orphan(NvmeCtrl *ctrl, NvmeRequest *req)
{
    request_unlink(req);
    nvme_request_cancel_steps(ctrl, req);
    if (!req->pending && !req->starved) {
        nvme_request_free(ctrl, req);
    }
}

static G_NO_INLINE NvmeStep *add_with_room(NvmeRequest *req, SsdOp op,
                                           uint64_t lba, uint32_t nblocks)
{
    NvmeStep *own = req->steps == req->small_steps ? NULL : req->steps;

    req->step_room *= 2;
    req->steps = g_renew(NvmeStep, own, req->step_room);
    if (!own) {
        memcpy(req->steps, req->small_steps, sizeof(req->small_steps));
    }
    return nvme_add_step(req, op, lba, nblocks);
}

NvmeStep *nvme_add_step(NvmeRequest *req, SsdOp op, uint64_t lba,
                        uint32_t nblocks)
{
    NvmeStep *step;

    if (G_UNLIKELY(req->nsteps == req->step_room)) {
        return add_with_room(req, op, lba, nblocks);
    }
    step = &req->steps[req->nsteps++];
    *step = (NvmeStep){.op = op, .lba = lba, .nblocks = nblocks};
    return step;
}

void nvme_request_cancel_steps(NvmeCtrl *ctrl, NvmeRequest *req)
{
    for (unsigned i = req->next_step; i < req->nsteps; i++) {
        payload_write_drop(ctrl->payload, req->steps[i].entries);
        if (G_UNLIKELY(req->steps[i].zone)) {
            ctrl->queue_client->zone_step_end(ctrl, &req->steps[i],
                                              NVME_STEP_DROPPED);
        }
    }
    req->nsteps = req->next_step;
}

void nvme_requests_free_used(NvmeCtrl *ctrl)
{
    for (unsigned i = 0; i < ctrl->sub->requests.slabs->len; i++) {
        NvmeRequest *slab = g_ptr_array_index(ctrl->sub->requests.slabs, i);

        for (unsigned k = 0; k < REQUEST_SLAB; k++) {
            if (slab[k].used) {
                nvme_request_free(ctrl, &slab[k]);
            }
        }
    }
}

void nvme_requests_pass(NvmeCtrl *from, NvmeCtrl *to)
{
    for (unsigned i = 0; i < from->sub->requests.slabs->len; i++) {
        NvmeRequest *slab = g_ptr_array_index(from->sub->requests.slabs, i);

        for (unsigned k = 0; k < REQUEST_SLAB; k++) {
            if (slab[k].used && slab[k].ctrl == from) {
                g_assert(!slab[k].sq);
                slab[k].ctrl = to;
                slab[k].done = NULL;
            }
        }
    }
}

void nvme_requests_destroy(NvmeCtrl *ctrl)
{
    g_ptr_array_free(ctrl->sub->requests.slabs, TRUE);
    g_ptr_array_free(ctrl->sub->requests.sg_pool, TRUE);
}
