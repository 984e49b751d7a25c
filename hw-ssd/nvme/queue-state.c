/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queue-state.c - the queues of a controller, and the commands that wait in
 * them, as a stream of bytes, and back.
 *
 * Of a controller at rest (rest.c) a command is an Asynchronous Event Request,
 * or a completion that waits for room, and a short record says all of it.
 *
 * A stream may be forged: all is checked before the controller may use it.
 */
#include "nvme-internal.h"
#include "memory/cmb.h"
#include "queue/completion.h"
#include "memory/pmr.h"
#include "queue-state.h"
#include "queue/request.h"

#include "state.h"

#define VALUE(m) STATE_NUMBER_ROW(NvmeCq, m)
#define KEPT(m)  STATE_UNSAVED_ROW(NvmeCq, m)

static const StateRow cq_rows[] = {
    VALUE(live),     VALUE(ien),       VALUE(asserted),
    KEPT(in_cmb), /* follows from the address */
    KEPT(dirty),     VALUE(phase),     KEPT(id),
    VALUE(vector),   VALUE(size),      VALUE(head),
    VALUE(tail),     VALUE(addr),      KEPT(nsqs),
    VALUE(shadow),   KEPT(wait_first), /* records */
    KEPT(wait_last), KEPT(nbatch),     VALUE(unsignalled),
    VALUE(first_ns), KEPT(bad_phases), KEPT(batch),
};

#undef VALUE
#undef KEPT
#define VALUE(m) STATE_NUMBER_ROW(NvmeSq, m)
#define KEPT(m)  STATE_UNSAVED_ROW(NvmeSq, m)

static const StateRow sq_rows[] = {
    VALUE(live), KEPT(in_cmb),  VALUE(priority),
    KEPT(id),    KEPT(cq), /* its number goes before */
    VALUE(size), VALUE(head),   VALUE(tail),
    VALUE(addr), VALUE(shadow), KEPT(list), /* records */
};

#undef VALUE
#undef KEPT

#define STRUCT(type, rows) {#type, rows, G_N_ELEMENTS(rows), sizeof(type)}

const StateStruct nvme_cq_struct = STRUCT(NvmeCq, cq_rows);
const StateStruct nvme_sq_struct = STRUCT(NvmeSq, sq_rows);

/* ---- commands ------------------------------------------------------------ */

/* A command that waits: for an event, or for room for its completion. */
typedef struct Waiting {
    uint64_t sqid;
    uint64_t cid;
    uint64_t opcode;
    uint64_t admin;
    uint64_t event; /* waits for one */
    uint64_t status;
    uint64_t dw0;
    uint64_t modelled;
    uint64_t complete_ns;
} Waiting;

static bool save_request(State *s, const NvmeRequest *req)
{
    Waiting w = {
        .sqid = req->sq->id,
        .cid = req->cid,
        .opcode = req->opcode,
        .admin = req->admin,
        .event = req->waiting,
        .status = req->status,
        .dw0 = req->dw0 | (uint64_t)req->dw1 << 32,
        .modelled = req->modelled,
        .complete_ns = req->complete_ns,
    };

    return state_record(s, &w, sizeof(w));
}

static bool save_requests(State *s, const NvmeCtrl *ctrl)
{
    uint64_t n = ctrl->events.naer;

    for (unsigned i = 0; i < NVME_MAX_QUEUES; i++) {
        for (const NvmeRequest *r = ctrl->queues.cq[i].wait_first;
             ctrl->queues.cq[i].live && r; r = r->next) {
            n++;
        }
    }
    state_u64(s, &n);
    for (unsigned i = 0; i < ctrl->events.naer; i++) {
        save_request(s, ctrl->events.aer[i]);
    }
    for (unsigned i = 0; i < NVME_MAX_QUEUES; i++) {
        for (const NvmeRequest *r = ctrl->queues.cq[i].wait_first;
             ctrl->queues.cq[i].live && r; r = r->next) {
            save_request(s, r);
        }
    }
    return !s->error;
}

static void put_request(NvmeCtrl *ctrl, const Waiting *w)
{
    NvmeRequest *req = nvme_request_new(ctrl);

    req->cid = (uint16_t)w->cid;
    req->opcode = (uint8_t)w->opcode;
    req->admin = w->admin;
    req->status = (uint16_t)w->status;
    req->dw0 = (uint32_t)w->dw0;
    req->dw1 = w->dw0 >> 32;
    req->modelled = w->modelled;
    req->complete_ns = w->complete_ns;
    req->waiting = w->event;
    req->posted = !w->event;
    ctrl->sub->life.n_io += !w->admin;
    nvme_request_link(&ctrl->queues.sq[w->sqid], req);
    if (w->event) {
        ctrl->events.aer[ctrl->events.naer++] = req;
    } else {
        nvme_wait_for_room(req->sq->cq, req);
    }
}

/* More than the queue has entries: one is free once it has been fetched. */
static bool load_requests(State *s, NvmeCtrl *ctrl)
{
    uint64_t n = 0;

    state_u64(s, &n);
    for (uint64_t i = 0; !s->error && i < n; i++) {
        Waiting w;

        if (!state_record(s, &w, sizeof(w))) {
            return false;
        }
        if (w.sqid >= NVME_MAX_QUEUES || !ctrl->queues.sq[w.sqid].live ||
            w.cid > UINT16_MAX || w.opcode > UINT8_MAX || w.admin > 1 ||
            w.event > 1 || w.status > UINT16_MAX ||
            (w.dw0 > UINT32_MAX && !ctrl->sub->zones.n) || w.modelled > 1 ||
            w.complete_ns > ctrl->sub->now_ns || w.admin != (w.sqid == 0) ||
            (w.event && (!w.admin || ctrl->events.naer == NVME_AERL))) {
            return state_fail(s, "it is damaged: a command");
        }
        put_request(ctrl, &w);
    }
    return !s->error;
}

bool nvme_waiting_state(State *s, NvmeCtrl *ctrl)
{
    return s->loading ? load_requests(s, ctrl) : save_requests(s, ctrl);
}

/* ---- queues -------------------------------------------------------------- */

static bool is_flag(const bool *flag)
{
    uint8_t v;

    memcpy(&v, flag, 1);
    return v <= 1;
}

static bool ring_ok(const NvmeCtrl *ctrl, unsigned id, uint32_t size,
                    uint32_t head, uint32_t tail)
{
    uint32_t most = id ? ctrl->cfg.queue_size : 4096;

    return id <= ctrl->cfg.n_queues && size >= 2 && size <= most &&
           head < size && tail < size;
}

static bool shadow_ok(const NvmeShadow *s)
{
    return is_flag(&s->on) && is_flag(&s->used);
}

static bool load_cq(State *s, NvmeCtrl *ctrl, unsigned id)
{
    NvmeCq *cq = &ctrl->queues.cq[id];

    if (!state_values(s, &nvme_cq_struct, cq)) {
        cq->live = false; /* whatever it has become */
        return false;
    }
    if (is_flag(&cq->live) && !cq->live) {
        *cq = (NvmeCq){.id = cq->id};
        return true;
    }
    if (!is_flag(&cq->live) || !is_flag(&cq->ien) || !is_flag(&cq->asserted) ||
        cq->phase > 1 || cq->vector >= ctrl->cfg.n_vectors ||
        !ring_ok(ctrl, id, cq->size, cq->head, cq->tail) ||
        !shadow_ok(&cq->shadow) || cq->first_ns > ctrl->sub->now_ns) {
        cq->live = false;
        return state_fail(s, "it is damaged: a completion queue");
    }
    cq->dirty = true;
    nvme_cmb_check_queue(ctrl, cq->addr, (uint64_t)cq->size * NVME_CQE_BYTES,
                         true, &cq->in_cmb);
    ctrl->queues.n_io += id != 0;
    ctrl->queues.max_cqid = MAX(ctrl->queues.max_cqid, id);
    return true;
}

static bool load_sq(State *s, NvmeCtrl *ctrl, unsigned id)
{
    NvmeSq *sq = &ctrl->queues.sq[id];
    uint64_t cqid = 0;

    if (!state_u64(s, &cqid) || !state_values(s, &nvme_sq_struct, sq)) {
        sq->live = false;
        return false;
    }
    if (is_flag(&sq->live) && !sq->live) {
        *sq = (NvmeSq){.id = sq->id};
        return true;
    }
    if (!is_flag(&sq->live) || cqid >= NVME_MAX_QUEUES ||
        !ctrl->queues.cq[cqid].live || (id == 0) != (cqid == 0) ||
        !ring_ok(ctrl, id, sq->size, sq->head, sq->tail) ||
        !shadow_ok(&sq->shadow) || sq->priority >= NVME_PRIORITIES) {
        sq->live = false;
        return state_fail(s, "it is damaged: a submission queue");
    }
    sq->cq = &ctrl->queues.cq[cqid];
    sq->cq->nsqs++;
    nvme_cmb_check_queue(ctrl, sq->addr, (uint64_t)sq->size * NVME_SQE_BYTES,
                         false, &sq->in_cmb);
    sq->list.sq_next = &sq->list;
    sq->list.sq_prev = &sq->list;
    ctrl->queues.n_io += id != 0;
    ctrl->queues.max_sqid = MAX(ctrl->queues.max_sqid, id);
    return true;
}

static bool load_queues(State *s, NvmeCtrl *ctrl)
{
    nvme_cmb_loaded(ctrl); /* where they are */
    nvme_pmr_loaded(ctrl);
    for (unsigned i = 0; i < NVME_MAX_QUEUES; i++) {
        if (!load_cq(s, ctrl, i)) {
            return false;
        }
    }
    for (unsigned i = 0; i < NVME_MAX_QUEUES; i++) {
        if (!load_sq(s, ctrl, i)) {
            return false;
        }
    }
    return true;
}

static bool save_queues(State *s, const NvmeCtrl *ctrl)
{
    for (unsigned i = 0; i < NVME_MAX_QUEUES; i++) {
        state_values(s, &nvme_cq_struct, (void *)&ctrl->queues.cq[i]);
    }
    for (unsigned i = 0; i < NVME_MAX_QUEUES; i++) {
        uint64_t cqid = ctrl->queues.sq[i].live ? ctrl->queues.sq[i].cq->id : 0;

        state_u64(s, &cqid);
        state_values(s, &nvme_sq_struct, (void *)&ctrl->queues.sq[i]);
    }
    return !s->error;
}

/* A controller that is not ready has no queues; one that is, the first. */
static bool check_queues(State *s, const NvmeCtrl *ctrl)
{
    bool ready = ctrl->regs.csts & NVME_CSTS_RDY;

    if (ctrl->queues.sq[0].live != ready || ctrl->queues.cq[0].live != ready ||
        (!ready && ctrl->queues.n_io) || (ready && !ctrl->sub->powered)) {
        return state_fail(s, "it is damaged: the queues");
    }
    return true;
}

bool nvme_queues_state(State *s, NvmeCtrl *ctrl)
{
    return s->loading ? load_queues(s, ctrl) && check_queues(s, ctrl)
                      : save_queues(s, ctrl);
}
