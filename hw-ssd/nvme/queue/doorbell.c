/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doorbell.c - doorbell registers and shadow doorbells.
 *
 * Shadow doorbells (Base 1.4, section 7.13): the guest writes a queue's tail or
 * head to memory, and rings the register only if that passes the value that the
 * controller wrote to EventIdx.  A register write counts while the guest has
 * not begun to use the shadow of that queue; the admin queue is always driven
 * by its registers.
 *
 * A value out of range is an error event, and is ignored.
 */
#include "nvme-internal.h"
#include "memory/dma.h"
#include "queue/completion.h"
#include "queue/doorbell.h"
#include "queue/shadow.h"

/* ---- tails --------------------------------------------------------------- */

static void set_tail(NvmeCtrl *ctrl, NvmeSq *sq, uint32_t tail)
{
    if (tail >= sq->size) {
        ctrl->queue_client->bad_doorbell(ctrl, true);
        return;
    }
    sq->tail = tail;
}

static void shadow_tail_seen(NvmeCtrl *ctrl, NvmeSq *sq, uint32_t value)
{
    if (value != sq->shadow.last) {
        sq->shadow.used = true;
        sq->shadow.last = value;
        set_tail(ctrl, sq, value);
    }
}

/* All tails in one DMA: the entries of a page follow each other. */
void nvme_read_shadows(NvmeCtrl *ctrl)
{
    uint32_t entry[2 * NVME_MAX_QUEUES];
    unsigned n = ctrl->queues.max_sqid;

    if (!ctrl->queues.shadow_on || !n) {
        return;
    }
    /* From the tail of queue 1 to that of queue n. */
    if (nvme_dma_read(ctrl, ctrl->queues.shadow_db + 8, entry, 8 * n - 4)) {
        return;
    }
    for (unsigned i = 1; i <= n; i++) {
        if (ctrl->queues.sq[i].live) {
            shadow_tail_seen(ctrl, &ctrl->queues.sq[i],
                             GUINT32_FROM_LE(entry[2 * (i - 1)]));
        }
    }
}

bool nvme_has_shadows(const NvmeCtrl *ctrl)
{
    return ctrl->queues.shadow_on;
}

bool nvme_tail_moved(NvmeCtrl *ctrl, unsigned sqid)
{
    const NvmeSq *sq = sqid < NVME_MAX_QUEUES ? &ctrl->queues.sq[sqid] : NULL;
    uint32_t le;

    return nvme_running(ctrl) && sq && sq->live && sq->shadow.on &&
           !nvme_dma_read(ctrl, sq->shadow.db_addr, &le, sizeof(le)) &&
           GUINT32_FROM_LE(le) != sq->shadow.last;
}

bool nvme_arm_doorbells(NvmeCtrl *ctrl)
{
    uint32_t le;

    for (unsigned i = 1; i <= ctrl->queues.max_sqid; i++) {
        NvmeSq *sq = &ctrl->queues.sq[i];
        NvmeShadow *s = &sq->shadow;

        if (!sq->live || !s->on || s->event_idx == sq->tail) {
            continue;
        }
        nvme_shadow_event_idx(ctrl, s, sq->tail);
        /* The guest writes its tail, then reads EventIdx: one of the two
         * must see the other's write. */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        if (!nvme_dma_read(ctrl, s->db_addr, &le, sizeof(le))) {
            shadow_tail_seen(ctrl, sq, GUINT32_FROM_LE(le));
        }
        if (sq->head != sq->tail) {
            return true;
        }
    }
    return false;
}

/* ---- registers ----------------------------------------------------------- */

/* The shadows of the admin queues are not read, since most drivers do not write
 * them.  For one that does, EventIdx follows, so that every change rings. */
static void follow_admin(NvmeCtrl *ctrl, NvmeShadow *s, uint32_t value)
{
    if (s->on) {
        nvme_shadow_event_idx(ctrl, s, value);
    }
}

static void sq_doorbell(NvmeCtrl *ctrl, NvmeSq *sq, uint32_t value)
{
    uint32_t shadow;

    if (!sq->id) {
        follow_admin(ctrl, &sq->shadow, value);
    }
    if (!sq->id || !sq->shadow.on) {
        set_tail(ctrl, sq, value);
        return;
    }
    if (nvme_dma_read(ctrl, sq->shadow.db_addr, &shadow, sizeof(shadow))) {
        set_tail(ctrl, sq, value); /* the fetch finds out whether DMA works */
        return;
    }
    shadow_tail_seen(ctrl, sq, GUINT32_FROM_LE(shadow));
    if (!sq->shadow.used || value >= sq->size) {
        set_tail(ctrl, sq, value);
    }
}

static void cq_doorbell(NvmeCtrl *ctrl, NvmeCq *cq, uint32_t value)
{
    if (!cq->id) {
        follow_admin(ctrl, &cq->shadow, value);
    }
    nvme_cq_read_shadow(ctrl, cq);
    if (!cq->id || !cq->shadow.used || value >= cq->size) {
        nvme_cq_set_head(ctrl, cq, value);
    }
    if (!cq->asserted) {
        return;
    }
    if (cq->head == cq->tail) {
        nvme_update_pin(ctrl);
    } else {
        nvme_raise_pin_again(ctrl);
    }
}

void nvme_doorbell(NvmeCtrl *ctrl, uint64_t offset, uint32_t value)
{
    unsigned index = (offset - NVME_REG_DOORBELLS) / 4;
    unsigned id = index / 2;

    if (!nvme_running(ctrl)) {
        return;
    }
    ctrl->sub->count.doorbell_writes++;
    if (index % 2 == 0 && id < NVME_MAX_QUEUES && ctrl->queues.sq[id].live) {
        sq_doorbell(ctrl, &ctrl->queues.sq[id], value);
    } else if (index % 2 == 1 && id < NVME_MAX_QUEUES &&
               ctrl->queues.cq[id].live) {
        cq_doorbell(ctrl, &ctrl->queues.cq[id], value);
    } else {
        ctrl->queue_client->bad_doorbell(ctrl, false);
    }
}
