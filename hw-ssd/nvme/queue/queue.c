/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queue.c - opening and closing queues, and their entries in the shadow
 * doorbell and EventIdx pages.
 *
 * Queue memory is contiguous (CAP.CQR).  Knows queues; completion.c,
 * doorbell.c and fetch.c know their entries.
 */
#include "nvme-internal.h"
#include "memory/dma.h"
#include "queue/completion.h"
#include "queue/queue.h"
#include "queue/request.h"
#include "queue/steps.h"
#include "queue/shadow.h"

void nvme_queue_init(NvmeCtrl *ctrl)
{
    for (unsigned i = 0; i < NVME_MAX_QUEUES; i++) {
        ctrl->queues.sq[i].id = i;
        ctrl->queues.cq[i].id = i;
    }
}

/* ---- shadow doorbells ---------------------------------------------------- */

/*
 * The guest rings when it passes EventIdx.  One behind the place where it
 * stands is passed last: once around the queue.
 */
static uint32_t one_behind(uint32_t value)
{
    return (value - 1) & 0xffff;
}

/*
 * value is the position of the queue. It goes to the guest's entry too: the
 * old value belongs to an earlier queue, or was never written.  The head of an
 * I/O completion queue is looked up when it matters.
 */
static void shadow_open(NvmeCtrl *ctrl, NvmeShadow *s, unsigned index,
                        uint32_t value)
{
    bool quiet = index > 1 && index % 2 == 1;
    uint32_t le = GUINT32_TO_LE(value);

    *s = (NvmeShadow){
        .on = ctrl->queues.shadow_on,
        .last = value,
        .event_idx = ~value,
        .db_addr = ctrl->queues.shadow_db + 4ULL * index,
        .ei_addr = ctrl->queues.shadow_ei + 4ULL * index,
    };
    if (s->on) {
        nvme_dma_write(ctrl, s->db_addr, &le, sizeof(le));
        nvme_shadow_event_idx(ctrl, s, quiet ? one_behind(value) : value);
    }
}

void nvme_shadow_config(NvmeCtrl *ctrl, uint64_t db, uint64_t ei)
{
    ctrl->queues.shadow_on = true;
    if (ctrl->machine->shadows) {
        ctrl->machine->shadows(ctrl->opaque, true);
    }
    ctrl->queues.shadow_db = db;
    ctrl->queues.shadow_ei = ei;
    for (unsigned i = 0; i < NVME_MAX_QUEUES; i++) {
        if (ctrl->queues.sq[i].live) {
            shadow_open(ctrl, &ctrl->queues.sq[i].shadow, 2 * i,
                        ctrl->queues.sq[i].tail);
        }
        if (ctrl->queues.cq[i].live) {
            shadow_open(ctrl, &ctrl->queues.cq[i].shadow, 2 * i + 1,
                        ctrl->queues.cq[i].head);
        }
    }
}

/* ---- opening and closing ------------------------------------------------- */

void nvme_cq_open(NvmeCtrl *ctrl, unsigned id, uint64_t addr, uint32_t size,
                  unsigned vector, bool ien, bool in_cmb)
{
    NvmeCq *cq = &ctrl->queues.cq[id];

    *cq = (NvmeCq){
        .live = true,
        .ien = ien,
        .in_cmb = in_cmb,
        .phase = 1,
        .id = id,
        .vector = vector,
        .size = size,
        .addr = addr,
    };
    ctrl->queues.n_io += id != 0;
    ctrl->queues.max_cqid = MAX(ctrl->queues.max_cqid, id);
    shadow_open(ctrl, &cq->shadow, 2 * id + 1, 0);
}

void nvme_sq_open(NvmeCtrl *ctrl, unsigned id, unsigned cqid, uint64_t addr,
                  uint32_t size, uint8_t priority, bool in_cmb)
{
    NvmeSq *sq = &ctrl->queues.sq[id];
    NvmeCq *cq = &ctrl->queues.cq[cqid];

    *sq = (NvmeSq){
        .live = true,
        .in_cmb = in_cmb,
        .priority = priority,
        .id = id,
        .cq = cq,
        .size = size,
        .addr = addr,
    };
    sq->list.sq_next = &sq->list;
    sq->list.sq_prev = &sq->list;
    cq->nsqs++;
    ctrl->queues.n_io += id != 0;
    ctrl->queues.max_sqid = MAX(ctrl->queues.max_sqid, id);
    shadow_open(ctrl, &sq->shadow, 2 * id, 0);
}

/* Completions of sq that wait for room. */
static void drop_waiting(NvmeCtrl *ctrl, NvmeSq *sq)
{
    NvmeCq *cq = sq->cq;
    NvmeRequest *keep = NULL;
    NvmeRequest **tail = &keep;
    NvmeRequest *next;

    cq->wait_last = NULL;
    for (NvmeRequest *req = cq->wait_first; req; req = next) {
        next = req->next;
        if (req->sq == sq) {
            nvme_request_free(ctrl, req);
        } else {
            req->next = NULL;
            *tail = req;
            tail = &req->next;
            cq->wait_last = req;
        }
    }
    cq->wait_first = keep;
}

static void sq_close(NvmeCtrl *ctrl, NvmeSq *sq)
{
    drop_waiting(ctrl, sq);
    while (sq->list.sq_next != &sq->list) {
        nvme_request_orphan(ctrl, sq->list.sq_next);
    }
    sq->live = false;
    sq->cq->nsqs--;
    sq->cq = NULL;
    ctrl->queues.n_io -= sq->id != 0;
    while (ctrl->queues.max_sqid &&
           !ctrl->queues.sq[ctrl->queues.max_sqid].live) {
        ctrl->queues.max_sqid--;
    }
}

/*
 * Commands of the queue end as aborted, before the Delete does.  Their parts
 * in the drive may still take effect: the Delete waits for that, so that it
 * cannot happen behind the back of a later command (Base 1.4, 5.6).  It does
 * not wait for the store.
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
            stand_in->work = r->work;
            stand_in->nsid = r->nsid;
            stand_in->posted = true;
            stand_in->status = NVME_SC_ABORT_SQ_DELETED;
            ctrl->sub->life.n_io++;
            nvme_request_abort(ctrl, r);
            if (r->in_drive) {
                if (r->deletion) { /* a Preempt and Abort waits no longer */
                    nvme_request_part_done(r->deletion->ctrl, r->deletion);
                }
                r->deletion = deletion;
                deletion->pending++;
            }
            nvme_request_orphan(ctrl, r);
            nvme_request_complete(ctrl, stand_in);
        }
    }
}

void nvme_sq_delete(NvmeCtrl *ctrl, unsigned id, NvmeRequest *deletion)
{
    abort_queue(ctrl, &ctrl->queues.sq[id], deletion);
    sq_close(ctrl, &ctrl->queues.sq[id]);
}

void nvme_cq_close(NvmeCtrl *ctrl, unsigned id)
{
    NvmeCq *cq = &ctrl->queues.cq[id];

    g_assert(cq->nsqs == 0 && !cq->wait_first);
    nvme_cq_write_out(ctrl, cq);
    cq->live = false;
    ctrl->queues.n_io -= cq->id != 0;
    while (ctrl->queues.max_cqid &&
           !ctrl->queues.cq[ctrl->queues.max_cqid].live) {
        ctrl->queues.max_cqid--;
    }
    if (cq->asserted) {
        cq->asserted = false;
        nvme_update_pin(ctrl);
    }
}

void nvme_queues_close(NvmeCtrl *ctrl)
{
    for (unsigned i = 0; i < NVME_MAX_QUEUES; i++) {
        if (ctrl->queues.sq[i].live) {
            sq_close(ctrl, &ctrl->queues.sq[i]);
        }
    }
    for (unsigned i = 0; i < NVME_MAX_QUEUES; i++) {
        if (ctrl->queues.cq[i].live) {
            ctrl->queues.cq[i].nbatch = 0; /* a reset: nothing more is posted */
            nvme_cq_close(ctrl, i);
        }
    }
    ctrl->queues.shadow_on = false;
    if (ctrl->machine->shadows) {
        ctrl->machine->shadows(ctrl->opaque, false);
    }
    nvme_update_pin(ctrl);
}
