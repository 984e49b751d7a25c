/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kv-wait.c - the stages of commands of a key-value namespace, and what these
 * wait for.
 *
 * Commands for one key run in the order in which they came: any number that
 * read, or one that changes it.  A wake-up is a mark; nvme_kv_run_ready() goes
 * on with the command.  Knows nothing of the drive.
 */
#include "nvme-internal.h"
#include "kv/kv-index.h"
#include "kv/kv-wait.h"
#include "queue/steps.h"

/* ---- the end ------------------------------------------------------------- */

static void remove_from(NvmeKvOp **list, NvmeKvOp *op)
{
    while (*list != op) {
        list = &(*list)->next;
    }
    *list = op->next;
}

static void leave_key(NvmeKvOp *op)
{
    NvmeKvOp **at = &op->kv->holders;

    if (op->holds) {
        while (*at != op) {
            at = &(*at)->next_holder;
        }
        *at = op->next_holder;
        op->holds = false;
        nvme_kv_wake(op->kv, NVME_KV_FOR_KEY, 0);
    }
}

void nvme_kv_leave_tree(NvmeKvOp *op)
{
    kv_path_clear(&op->kv->tree, &op->path);
    if (op->turn) {
        op->turn = false;
        op->kv->in_turn--;
        nvme_kv_wake(op->kv, NVME_KV_FOR_TURN, 0);
    }
}

/* The index that it began with is gone. */
static bool is_lost(const NvmeKvOp *op)
{
    return op->life != op->kv->lives;
}

/* Not with the power, or with what a format erases: the index comes again. */
static bool goes_on(const NvmeKvOp *op)
{
    return op->if_gone && !op->kv->ns;
}

/* NvmeRequest.ends: the request completes, or goes without. */
static void end(NvmeCtrl *ctrl, NvmeRequest *req)
{
    NvmeKvOp *op = req->kv;
    NvmeSubsys *sub = ctrl->sub;

    req->kv = NULL;
    if (op->ready) {
        remove_from(&sub->kv_ready, op);
    } else if (op->waits) {
        remove_from(&op->kv->waiting, op);
    }
    nvme_kv_leave_tree(op);
    leave_key(op);
    for (uint32_t i = 0; op->taken && !is_lost(op) && i < op->n; i++) {
        kv_space_give_back(&op->kv->space, op->list[i]);
    }
    if (req->status == NVME_SC_UNRECOVERED_READ) {
        req->status = NVME_SC_KV_UNRECOVERED;
    }
    sub->kv_ops--;
    op->kv->n_ops--;
    g_free(op->list);
    g_free(op->old);
    g_free(op);
}

NvmeKvOp *nvme_kv_op_new(NvmeKv *kv, NvmeRequest *req, const NvmeKvStage *stage)
{
    NvmeKvOp *op = g_new0(NvmeKvOp, 1);

    op->kv = kv;
    op->req = req;
    op->stage = stage;
    op->seq = ++kv->seq;
    op->life = kv->lives;
    req->kv = op;
    req->ends = end;
    req->then = nvme_kv_go;
    kv->ctrl->sub->kv_ops++;
    kv->n_ops++;
    return op;
}

/* ---- stages -------------------------------------------------------------- */

uint16_t nvme_kv_go(NvmeCtrl *ctrl, NvmeRequest *req)
{
    NvmeKvOp *op = req->kv;

    while (*op->stage) {
        if (is_lost(op)) {
            if (!goes_on(op)) {
                return op->kv->lost_status;
            }
            op->life = op->kv->lives;
            op->stage = op->if_gone;
        }
        switch ((*op->stage)(ctrl, op)) {
        case NVME_KV_NEXT:
            op->stage++;
            break;
        case NVME_KV_JUMP:
            break;
        case NVME_KV_STEPS:
            op->stage++;
            req->then = nvme_kv_go;
            return 0;
        case NVME_KV_WAIT:
            req->then = nvme_kv_go;
            req->pending++; /* until nvme_kv_run_ready() */
            return 0;
        case NVME_KV_END:
            return op->status;
        }
    }
    return 0;
}

NvmeKvGo nvme_kv_wait(NvmeKvOp *op, NvmeKvReason reason)
{
    NvmeKvOp **at = &op->kv->waiting;

    while (*at && (*at)->seq < op->seq) {
        at = &(*at)->next;
    }
    op->next = *at;
    *at = op;
    op->waits = (uint8_t)reason;
    return NVME_KV_WAIT;
}

NvmeKvGo nvme_kv_as(NvmeKvOp *op, KvResult r)
{
    switch (r) {
    case KV_OK:
    case KV_ABSENT:
        return NVME_KV_NEXT;
    case KV_WAIT_PAGE:
        return nvme_kv_wait(op, NVME_KV_FOR_PAGE);
    case KV_WAIT_FRAME:
        return nvme_kv_wait(op, NVME_KV_FOR_FRAME);
    case KV_DAMAGED:
        op->kv->ctrl->sub->life.media_errors++;
        return nvme_kv_end(op, NVME_SC_KV_UNRECOVERED);
    case KV_FULL:
        break;
    }
    return nvme_kv_end(op, NVME_SC_CAPACITY_EXCEEDED);
}

/* ---- waking -------------------------------------------------------------- */

static void make_ready(NvmeSubsys *sub, NvmeKvOp *op)
{
    NvmeKvOp **at = &sub->kv_ready;

    while (*at) {
        at = &(*at)->next;
    }
    op->next = NULL;
    op->ready = true;
    *at = op;
}

void nvme_kv_wake(NvmeKv *kv, NvmeKvReason reason, uint32_t unit)
{
    NvmeKvOp **at = &kv->waiting;

    while (*at) {
        NvmeKvOp *op = *at;

        if (op->waits == reason &&
            (reason != NVME_KV_FOR_PAGE || op->path.unit == unit)) {
            *at = op->next;
            make_ready(kv->ctrl->sub, op);
        } else {
            at = &op->next;
        }
    }
}

void nvme_kv_end_all(NvmeKv *kv, uint16_t status)
{
    NvmeSubsys *sub = kv->ctrl->sub;

    kv->lives++;
    kv->lost_status = status;
    while (kv->waiting) {
        NvmeKvOp *op = kv->waiting;

        kv->waiting = op->next;
        make_ready(sub, op);
    }
    for (NvmeKvOp *op = sub->kv_ready; op; op = op->next) {
        if (op->kv == kv) {
            kv_path_clear(&kv->tree, &op->path);
            if (!op->req->status && !goes_on(op)) {
                op->req->status = status;
            }
        }
    }
}

bool nvme_kv_run_ready(NvmeSubsys *sub)
{
    bool any = sub->kv_ready != NULL;

    while (sub->kv_ready) {
        NvmeKvOp *op = sub->kv_ready;

        sub->kv_ready = op->next;
        op->ready = false;
        op->waits = NVME_KV_RUNS;
        nvme_request_part_done(op->req->ctrl, op->req);
    }
    return any;
}

/* ---- keys and turns ------------------------------------------------------ */

static bool conflict(const NvmeKvOp *a, const NvmeKvOp *b)
{
    return (a->changes || b->changes) && kv_key_compare(&a->key, &b->key) == 0;
}

/* Also with those that came before and wait, so that each has its turn. */
static bool is_free(const NvmeKvOp *op)
{
    for (const NvmeKvOp *o = op->kv->holders; o; o = o->next_holder) {
        if (conflict(op, o)) {
            return false;
        }
    }
    for (const NvmeKvOp *o = op->kv->waiting; o && o->seq < op->seq;
         o = o->next) {
        if (o->waits == NVME_KV_FOR_KEY && conflict(op, o)) {
            return false;
        }
    }
    return true;
}

NvmeKvGo nvme_kv_stage_key(NvmeCtrl *ctrl, NvmeKvOp *op)
{
    if (!is_free(op)) {
        return nvme_kv_wait(op, NVME_KV_FOR_KEY);
    }
    op->holds = true;
    op->next_holder = op->kv->holders;
    op->kv->holders = op;
    return NVME_KV_NEXT;
}

NvmeKvGo nvme_kv_stage_turn(NvmeCtrl *ctrl, NvmeKvOp *op)
{
    if (op->kv->in_turn == op->kv->turns) {
        return nvme_kv_wait(op, NVME_KV_FOR_TURN);
    }
    op->kv->in_turn++;
    op->turn = true;
    return NVME_KV_NEXT;
}
