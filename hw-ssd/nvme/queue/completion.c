/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * completion.c - completion queues: posting entries, waiting for room, the head
 * that the guest has come to, interrupts.
 *
 * Completions of one run leave together with one interrupt.  Knows nothing of
 * the meaning of commands.  A head out of range goes to the files above
 * (NvmeCqClient).
 *
 * Order in guest memory, for processors that keep none by themselves: the data
 * of a command, then its completion entry, then the phase bit of that entry,
 * then the interrupt.  Several entries leave together; a host consumes them in
 * turn, so only the phase bit of the first must come last.
 */
#include "nvme-internal.h"
#include "memory/dma.h"
#include "queue/bad-entry.h"
#include "bitmap.h"
#include "queue/completion.h"
#include "registers/registers.h"
#include "queue/request.h"
#include "ring.h"
#include "queue/shadow.h"

/* Command identifier, status and phase bit: the last dword of an entry. */
#define CQE_DW3 offsetof(NvmeCqEntry, cid)

/* ---- the head ------------------------------------------------------------ */

void nvme_cq_set_head(NvmeCtrl *ctrl, NvmeCq *cq, uint32_t head)
{
    uint32_t posted = (cq->tail + cq->size - cq->head) % cq->size;

    if (head >= cq->size || (head + cq->size - cq->head) % cq->size > posted) {
        ctrl->queue_client->bad_doorbell(ctrl, true);
        return;
    }
    cq->head = head;
    cq->dirty = true; /* room for waiting completions; the pin may fall */
}

void nvme_cq_read_shadow(NvmeCtrl *ctrl, NvmeCq *cq)
{
    NvmeShadow *s = &cq->shadow;
    uint32_t value;

    if (!s->on || !cq->id || nvme_dma_read(ctrl, s->db_addr, &value, 4)) {
        return;
    }
    value = GUINT32_FROM_LE(value);
    if (value != s->last) {
        nvme_dma_rmb(); /* entries up to there are free now */
        s->used = true;
        s->last = value;
        nvme_cq_set_head(ctrl, cq, value);
    }
}

/* Have the guest ring when it moves the head, which may be now. */
static void watch_head(NvmeCtrl *ctrl, NvmeCq *cq)
{
    if (cq->shadow.on) {
        nvme_shadow_event_idx(ctrl, &cq->shadow, cq->head);
        __atomic_thread_fence(
            __ATOMIC_SEQ_CST); /* as in nvme_arm_doorbells() */
        nvme_cq_read_shadow(ctrl, cq);
    }
}

/* ---- entries ------------------------------------------------------------- */

static bool cq_full(const NvmeCq *cq)
{
    return ring_after(cq->tail, cq->size) == cq->head;
}

/* The controller's copy of the head may be old: read the guest's shadow. */
static bool cq_has_room(NvmeCtrl *ctrl, NvmeCq *cq)
{
    if (cq_full(cq)) {
        nvme_cq_read_shadow(ctrl, cq);
    }
    if (cq_full(cq)) {
        watch_head(ctrl, cq);
    }
    return !cq_full(cq);
}

void nvme_cq_write_out(NvmeCtrl *ctrl, NvmeCq *cq)
{
    uint32_t first = (cq->tail + cq->size - cq->nbatch) % cq->size;
    uint64_t addr = cq->addr + (uint64_t)first * NVME_CQE_BYTES;
    NvmeCqEntry *first_cqe = &cq->batch[0];
    uint16_t hide = nvme_le16(!(cq->bad_phases & 1)); /* it is not to be seen */

    if (!cq->nbatch) {
        return;
    }
    nvme_dma_wmb();
    first_cqe->status ^= hide; /* not yet */
    if (nvme_dma_write(ctrl, addr, first_cqe, cq->nbatch * NVME_CQE_BYTES)) {
        nvme_set_fatal(ctrl);
    }
    nvme_dma_wmb();
    first_cqe->status ^= hide;
    if (nvme_dma_write(ctrl, addr + CQE_DW3, (uint8_t *)first_cqe + CQE_DW3,
                       4)) {
        nvme_set_fatal(ctrl);
    }
    cq->nbatch = 0;
    cq->bad_phases = 0;
}

static void cq_put(NvmeCtrl *ctrl, NvmeCq *cq, NvmeRequest *req)
{
    cq->batch[cq->nbatch++] = (NvmeCqEntry){
        .dw0 = nvme_le32(req->dw0),
        .dw1 = nvme_le32(req->dw1),
        .sqhd = nvme_le16(req->sq->head),
        .sqid = nvme_le16(req->sq->id),
        .cid = nvme_le16(req->cid),
        .status = nvme_le16(req->status << 1 | cq->phase),
    };
    if (G_UNLIKELY(req->fault)) {
        nvme_spoil_entry(cq, req->fault);
    }
    if (req->modelled) {
        hist_add(ctrl->sub->lateness, ctrl->sub->now_ns - req->complete_ns);
    }
    if (!cq->unsignalled++) {
        cq->first_ns = ctrl->sub->now_ns;
    }
    if (++cq->tail == cq->size) {
        cq->phase ^= 1;
    }
    if (cq->tail == cq->size || cq->nbatch == NVME_CQE_BATCH) {
        nvme_cq_write_out(ctrl, cq);
        cq->tail = cq->tail == cq->size ? 0 : cq->tail;
    }
    cq->dirty = true;
    if (G_UNLIKELY(req->fault) && nvme_entry_again(req) &&
        cq_has_room(ctrl, cq)) {
        cq_put(ctrl, cq, req);
    }
}

void nvme_wait_for_room(NvmeCq *cq, NvmeRequest *req)
{
    req->next = NULL;
    if (cq->wait_first) {
        cq->wait_last->next = req;
    } else {
        cq->wait_first = req;
    }
    cq->wait_last = req;
}

void nvme_post(NvmeCtrl *ctrl, NvmeRequest *req)
{
    NvmeCq *cq = req->sq->cq;

    req->posted = true;
    if (G_UNLIKELY(req->fault == NVME_FAULT_LOSE)) {
        nvme_request_free(ctrl, req);
        return;
    }
    if (!cq->wait_first && cq_has_room(ctrl, cq)) {
        cq_put(ctrl, cq, req);
        nvme_request_free(ctrl, req);
        return;
    }
    nvme_wait_for_room(cq, req);
}

static void cq_post_waiting(NvmeCtrl *ctrl, NvmeCq *cq)
{
    while (cq->wait_first && cq_has_room(ctrl, cq)) {
        NvmeRequest *req = cq->wait_first;

        cq->wait_first = req->next;
        cq_put(ctrl, cq, req);
        nvme_request_free(ctrl, req);
    }
}

bool nvme_write_completions(NvmeCtrl *ctrl)
{
    bool fresh = false;

    for (unsigned i = 0; i <= ctrl->queues.max_cqid; i++) {
        NvmeCq *cq = &ctrl->queues.cq[i];

        if (cq->live && cq->dirty) {
            bool waited = cq->wait_first;

            cq->dirty = false;
            if (cq->asserted) {
                watch_head(ctrl, cq);
            }
            cq_post_waiting(ctrl, cq);
            nvme_cq_write_out(ctrl, cq);
            /* Its submission queues were not fetched from meanwhile. */
            fresh |= waited && !cq->wait_first;
        }
    }
    return fresh;
}

/* ---- interrupts ---------------------------------------------------------- */

void nvme_update_pin(NvmeCtrl *ctrl)
{
    bool level = false;
    bool msix = ctrl->machine->msix_enabled(ctrl->opaque);

    for (unsigned i = 0; i <= ctrl->queues.max_cqid && !msix; i++) {
        NvmeCq *cq = &ctrl->queues.cq[i];

        if (cq->live && cq->asserted) {
            cq->asserted = cq->head != cq->tail;
            level |= cq->asserted && cq->vector < 32 &&
                     !(ctrl->regs.intms >> cq->vector & 1);
        }
    }
    if (level != ctrl->pin_level) {
        ctrl->pin_level = level;
        ctrl->machine->pin(ctrl->opaque, level);
    }
}

void nvme_raise_pin_again(NvmeCtrl *ctrl)
{
    if (ctrl->pin_level) {
        ctrl->machine->pin(ctrl->opaque, false);
        ctrl->machine->pin(ctrl->opaque, true);
    }
}

/* Interrupt Coalescing (feature 08h): time in units of 100 us. */
static uint64_t coalescing_ns(const NvmeCtrl *ctrl, const NvmeCq *cq)
{
    uint32_t f = ctrl->features.value[NVME_FEAT_COALESCING];
    bool off = !cq->id || ctrl->features.vector_config[cq->vector] & 0x10000;

    return off || !(f & 0xff) ? 0 : (f >> 8 & 0xff) * 100000ULL;
}

static bool cq_due(const NvmeCtrl *ctrl, const NvmeCq *cq)
{
    uint64_t wait_ns = coalescing_ns(ctrl, cq);
    uint32_t threshold =
        (ctrl->features.value[NVME_FEAT_COALESCING] & 0xff) + 1;

    return !wait_ns || cq->unsignalled >= threshold ||
           ctrl->sub->now_ns - cq->first_ns >= wait_ns;
}

/* A controller with a fatal status (CSTS.CFS) sends no interrupt any more. */
uint64_t nvme_coalescing_deadline_ns(const NvmeCtrl *ctrl)
{
    uint64_t at_ns = SSD_TIME_NEVER;

    if (!nvme_running(ctrl) ||
        !(ctrl->features.value[NVME_FEAT_COALESCING] & 0xff00)) {
        return at_ns;
    }
    for (unsigned i = 1; i <= ctrl->queues.max_cqid; i++) {
        const NvmeCq *cq = &ctrl->queues.cq[i];

        if (cq->live && cq->ien && cq->unsignalled) {
            at_ns = MIN(at_ns, cq->first_ns + coalescing_ns(ctrl, cq));
        }
    }
    return at_ns;
}

void nvme_raise_interrupts(NvmeCtrl *ctrl)
{
    bool msix = ctrl->machine->msix_enabled(ctrl->opaque);
    uint64_t sent[2] = {0, 0};
    bool pin = ctrl->pin_level;

    for (unsigned i = 0; i <= ctrl->queues.max_cqid; i++) {
        NvmeCq *cq = &ctrl->queues.cq[i];
        unsigned v = cq->vector;

        if (!cq->live || !cq->unsignalled || (cq->ien && !cq_due(ctrl, cq))) {
            continue;
        }
        cq->unsignalled = 0;
        if (!cq->ien) {
            continue;
        }
        cq->asserted = !msix;
        pin |= cq->asserted;
        if (cq->asserted) {
            watch_head(ctrl, cq); /* the pin falls with the head */
        }
        if (msix && !bitmap_test(sent, v)) {
            bitmap_set(sent, v);
            if (G_UNLIKELY(ctrl->sub->faults) &&
                !ctrl->queue_client->message(ctrl, v)) {
                continue;
            }
            ctrl->sub->count.interrupts++;
            ctrl->machine->msix(ctrl->opaque, v);
        }
    }
    if (pin) {
        nvme_update_pin(ctrl);
    }
}
