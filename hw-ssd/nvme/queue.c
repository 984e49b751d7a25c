/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queue.c - submission and completion queues: doorbells and shadow doorbells,
 * fetching entries, posting completions, interrupts.
 *
 * Queue memory is contiguous (CAP.CQR).  Several entries are fetched in one
 * DMA, and completions of one run leave together with one interrupt.  Knows
 * nothing of what commands mean.
 *
 * Shadow doorbells (clause 7.13): the guest writes a queue's tail or head to
 * memory, and rings the register only if that passes the value that the
 * controller wrote to EventIdx.  A register write counts while the guest has
 * not begun to use the shadow of that queue; the admin queue is always driven
 * by its registers.
 *
 * A queue that the machine cannot reach by DMA is fatal (CSTS.CFS).
 *
 * Order in guest memory, for processors that keep none by themselves: the data
 * of a command, then its completion entry, then the phase bit of that entry,
 * then the interrupt.  Several entries leave together; a host consumes them in
 * turn, so only the phase bit of the first must come last.
 */
#include "nvme-internal.h"

/* Of a completion entry (clause 4.6): command identifier, phase and status. */
#define CQE_DW3 12
#define CQE_PHASE_BYTE 14

void nvme_set_fatal(NvmeCtrl *ctrl)
{
    ctrl->csts |= NVME_CSTS_CFS;
}

static int dma_read(NvmeCtrl *ctrl, uint64_t addr, void *buf, size_t len)
{
    return ctrl->machine->dma_read(ctrl->opaque, addr, buf, len);
}

static int dma_write(NvmeCtrl *ctrl, uint64_t addr, const void *buf, size_t len)
{
    return ctrl->machine->dma_write(ctrl->opaque, addr, buf, len);
}

/* ---- shadow doorbells --------------------------------------------------- */

static void write_event_idx(NvmeCtrl *ctrl, NvmeShadow *s, uint32_t value)
{
    uint32_t le = GUINT32_TO_LE(value);

    if (s->event_idx != value) {
        s->event_idx = value;
        dma_write(ctrl, s->ei_addr, &le, sizeof(le));
    }
}

/*
 * The guest rings when it passes EventIdx.  One behind the place where it
 * stands is passed last: once around the queue.
 */
static uint32_t one_behind(uint32_t value)
{
    return (value - 1) & 0xffff;
}

/*
 * value is where the queue stands.  It goes to the guest's entry too: what was
 * there belongs to an earlier queue, or was never written.  The head of an I/O
 * completion queue is looked up when it matters.
 */
static void shadow_open(NvmeCtrl *ctrl, NvmeShadow *s, unsigned index,
                        uint32_t value)
{
    bool quiet = index > 1 && index % 2 == 1;

    uint32_t le = GUINT32_TO_LE(value);

    *s = (NvmeShadow){
        .on = ctrl->shadow_on,
        .last = value,
        .event_idx = ~value,
        .db_addr = ctrl->shadow_db + 4ULL * index,
        .ei_addr = ctrl->shadow_ei + 4ULL * index,
    };
    if (s->on) {
        dma_write(ctrl, s->db_addr, &le, sizeof(le));
        write_event_idx(ctrl, s, quiet ? one_behind(value) : value);
    }
}

void nvme_shadow_config(NvmeCtrl *ctrl, uint64_t db, uint64_t ei)
{
    ctrl->shadow_on = true;
    ctrl->shadow_db = db;
    ctrl->shadow_ei = ei;
    for (unsigned i = 0; i < NVME_MAX_QUEUES; i++) {
        if (ctrl->sq[i].live) {
            shadow_open(ctrl, &ctrl->sq[i].shadow, 2 * i, ctrl->sq[i].tail);
        }
        if (ctrl->cq[i].live) {
            shadow_open(ctrl, &ctrl->cq[i].shadow, 2 * i + 1,
                        ctrl->cq[i].head);
        }
    }
}

static void set_tail(NvmeCtrl *ctrl, NvmeSq *sq, uint32_t tail)
{
    if (tail >= sq->size) {
        nvme_event(ctrl, NVME_EVENT_ERROR, NVME_EVENT_BAD_DOORBELL_VALUE);
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
    unsigned n = ctrl->max_sqid;

    if (!ctrl->shadow_on || !n) {
        return;
    }
    /* From the tail of queue 1 to that of queue n. */
    if (dma_read(ctrl, ctrl->shadow_db + 8, entry, 8 * n - 4)) {
        return;
    }
    for (unsigned i = 1; i <= n; i++) {
        if (ctrl->sq[i].live) {
            shadow_tail_seen(ctrl, &ctrl->sq[i],
                             GUINT32_FROM_LE(entry[2 * (i - 1)]));
        }
    }
}

/* Ask for a doorbell after the next change of an I/O queue; true: there was one
 * already. */
static bool arm_doorbells(NvmeCtrl *ctrl)
{
    uint32_t le;

    for (unsigned i = 1; i <= ctrl->max_sqid; i++) {
        NvmeSq *sq = &ctrl->sq[i];
        NvmeShadow *s = &sq->shadow;

        if (!sq->live || !s->on || s->event_idx == sq->tail) {
            continue;
        }
        write_event_idx(ctrl, s, sq->tail);
        /* The guest writes its tail, then reads EventIdx: one of the two
         * must see the other's write. */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        if (!dma_read(ctrl, s->db_addr, &le, sizeof(le))) {
            shadow_tail_seen(ctrl, sq, GUINT32_FROM_LE(le));
        }
        if (sq->head != sq->tail) {
            return true;
        }
    }
    return false;
}

/* ---- doorbell registers ------------------------------------------------- */

/* The guest has consumed entries up to head. */
static void set_head(NvmeCtrl *ctrl, NvmeCq *cq, uint32_t head)
{
    uint32_t posted = (cq->tail + cq->size - cq->head) % cq->size;

    if (head >= cq->size || (head + cq->size - cq->head) % cq->size > posted) {
        nvme_event(ctrl, NVME_EVENT_ERROR, NVME_EVENT_BAD_DOORBELL_VALUE);
        return;
    }
    cq->head = head;
    cq->dirty = true; /* room for what waits; the pin may fall */
}

static void shadow_head_read(NvmeCtrl *ctrl, NvmeCq *cq)
{
    NvmeShadow *s = &cq->shadow;
    uint32_t value;

    if (!s->on || !cq->id || dma_read(ctrl, s->db_addr, &value, 4)) {
        return;
    }
    value = GUINT32_FROM_LE(value);
    if (value != s->last) {
        nvme_dma_rmb(); /* entries up to there are free now */
        s->used = true;
        s->last = value;
        set_head(ctrl, cq, value);
    }
}

/* Have the guest ring when it moves the head, which may be now. */
static void watch_head(NvmeCtrl *ctrl, NvmeCq *cq)
{
    if (cq->shadow.on) {
        write_event_idx(ctrl, &cq->shadow, cq->head);
        __atomic_thread_fence(__ATOMIC_SEQ_CST); /* as in arm_doorbells() */
        shadow_head_read(ctrl, cq);
    }
}

/* The shadows of the admin queues are not read, since most drivers do not write
 * them.  For one that does, EventIdx follows, so that every change rings. */
static void follow_admin(NvmeCtrl *ctrl, NvmeShadow *s, uint32_t value)
{
    if (s->on) {
        write_event_idx(ctrl, s, value);
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
    if (dma_read(ctrl, sq->shadow.db_addr, &shadow, sizeof(shadow))) {
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
    shadow_head_read(ctrl, cq);
    if (!cq->id || !cq->shadow.used || value >= cq->size) {
        set_head(ctrl, cq, value);
    }
    if (!cq->asserted || cq->head != cq->tail) {
        return;
    }
    nvme_update_pin(ctrl);
}

void nvme_doorbell(NvmeCtrl *ctrl, uint64_t offset, uint32_t value)
{
    unsigned index = (offset - NVME_REG_DOORBELLS) / 4;
    unsigned id = index / 2;

    if (!nvme_running(ctrl)) {
        return;
    }
    ctrl->doorbell_writes++;
    if (index % 2 == 0 && id < NVME_MAX_QUEUES && ctrl->sq[id].live) {
        sq_doorbell(ctrl, &ctrl->sq[id], value);
    } else if (index % 2 == 1 && id < NVME_MAX_QUEUES && ctrl->cq[id].live) {
        cq_doorbell(ctrl, &ctrl->cq[id], value);
    } else {
        nvme_event(ctrl, NVME_EVENT_ERROR, NVME_EVENT_BAD_DOORBELL);
    }
}

/* ---- fetching ----------------------------------------------------------- */

/* The I/O queues wait while the drive or the store has no place for more. */
static bool may_fetch(NvmeCtrl *ctrl, const NvmeSq *sq)
{
    if (!sq->live || sq->head == sq->tail || sq->cq->wait_first) {
        return false;
    }
    return !sq->id || (!ctrl->starved_first &&
                       ctrl->slots_in_use < ctrl->nslots &&
                       !payload_congested(ctrl->payload));
}

/* Take up to max entries that follow each other in memory; return how many. */
static unsigned fetch_some(NvmeCtrl *ctrl, NvmeSq *sq, unsigned max)
{
    NvmeSqe sqe[NVME_FETCH_BATCH];
    unsigned n = (sq->tail > sq->head ? sq->tail : sq->size) - sq->head;

    n = MIN(n, MIN(max, NVME_FETCH_BATCH));
    if (sq->id) {
        n = MIN(n, ctrl->nslots - ctrl->slots_in_use);
    }
    ctrl->sq_dma_reads++;
    nvme_dma_rmb(); /* the tail was read, maybe from guest memory */
    if (dma_read(ctrl, sq->addr + (uint64_t)sq->head * NVME_SQE_BYTES, sqe,
                 n * NVME_SQE_BYTES)) {
        nvme_set_fatal(ctrl);
        return 0;
    }
    for (unsigned i = 0; i < n; i++) {
        for (unsigned d = 0; G_BYTE_ORDER == G_BIG_ENDIAN && d < 16; d++) {
            sqe[i].dw[d] = GUINT32_FROM_LE(sqe[i].dw[d]);
        }
        sq->head = sq->head + 1 == sq->size ? 0 : sq->head + 1;
        nvme_execute(ctrl, sq, &sqe[i]);
        if (!sq->live || !nvme_running(ctrl) ||
            ctrl->run_bytes >= NVME_RUN_BYTES) {
            /* An admin command or a fatal error stopped it, or it is enough for
             * now: the rest is read again. */
            return i + 1;
        }
        if (sq->id && payload_congested(ctrl->payload)) {
            return i + 1; /* the others are read again when there is room */
        }
    }
    return n;
}

bool nvme_fetch(NvmeCtrl *ctrl, unsigned *budget)
{
    unsigned ab = ctrl->feature[NVME_FEAT_ARBITRATION] & 7;
    unsigned burst = ab == 7 ? NVME_RUN_BUDGET : 1U << ab;
    unsigned nsq = ctrl->max_sqid + 1;
    bool any = false;

    for (unsigned k = 0; k < nsq && *budget && nvme_running(ctrl); k++) {
        NvmeSq *sq = &ctrl->sq[(ctrl->next_sq + k) % nsq];
        unsigned left = MIN(burst, *budget);

        while (left && nvme_running(ctrl) && may_fetch(ctrl, sq)) {
            unsigned n = fetch_some(ctrl, sq, left);

            any |= n > 0;
            left -= n;
            *budget -= n;
            if (ctrl->run_bytes >= NVME_RUN_BYTES) {
                *budget = 0;
                break;
            }
        }
    }
    ctrl->next_sq = (ctrl->next_sq + 1) % nsq;
    return any;
}

/* ---- completions -------------------------------------------------------- */

static bool cq_full(const NvmeCq *cq)
{
    return (cq->tail + 1 == cq->size ? 0 : cq->tail + 1) == cq->head;
}

/* The head that the controller knows may be old: the guest's shadow tells. */
static bool cq_has_room(NvmeCtrl *ctrl, NvmeCq *cq)
{
    if (cq_full(cq)) {
        shadow_head_read(ctrl, cq);
    }
    if (cq_full(cq)) {
        watch_head(ctrl, cq);
    }
    return !cq_full(cq);
}

static void cq_write_out(NvmeCtrl *ctrl, NvmeCq *cq)
{
    uint32_t first = (cq->tail + cq->size - cq->nbatch) % cq->size;
    uint64_t addr = cq->addr + (uint64_t)first * NVME_CQE_BYTES;
    uint8_t *cqe = cq->batch[0];

    if (!cq->nbatch) {
        return;
    }
    nvme_dma_wmb();
    cqe[CQE_PHASE_BYTE] ^= 1; /* not yet */
    if (dma_write(ctrl, addr, cqe, cq->nbatch * NVME_CQE_BYTES)) {
        nvme_set_fatal(ctrl);
    }
    nvme_dma_wmb();
    cqe[CQE_PHASE_BYTE] ^= 1;
    if (dma_write(ctrl, addr + CQE_DW3, cqe + CQE_DW3, 4)) {
        nvme_set_fatal(ctrl);
    }
    cq->nbatch = 0;
}

static void cq_put(NvmeCtrl *ctrl, NvmeCq *cq, NvmeRequest *req)
{
    uint8_t *cqe = cq->batch[cq->nbatch++];

    put_le32(cqe, req->dw0);
    put_le32(cqe + 4, 0);
    put_le16(cqe + 8, req->sq->head);
    put_le16(cqe + 10, req->sq->id);
    put_le16(cqe + 12, req->cid);
    put_le16(cqe + 14, req->status << 1 | cq->phase);
    if (req->modelled) {
        hist_add(ctrl->lateness, ctrl->now_ns - req->complete_ns);
    }
    if (!cq->unsignalled++) {
        cq->first_ns = ctrl->now_ns;
    }
    if (++cq->tail == cq->size) {
        cq->phase ^= 1;
    }
    if (cq->tail == cq->size || cq->nbatch == NVME_CQE_BATCH) {
        cq_write_out(ctrl, cq);
        cq->tail = cq->tail == cq->size ? 0 : cq->tail;
    }
    cq->dirty = true;
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

/* ---- interrupts --------------------------------------------------------- */

void nvme_update_pin(NvmeCtrl *ctrl)
{
    bool level = false;
    bool msix = ctrl->machine->msix_enabled(ctrl->opaque);

    for (unsigned i = 0; i <= ctrl->max_cqid && !msix; i++) {
        NvmeCq *cq = &ctrl->cq[i];

        if (cq->live && cq->asserted) {
            cq->asserted = cq->head != cq->tail;
            level |= cq->asserted && cq->vector < 32 &&
                     !(ctrl->intms >> cq->vector & 1);
        }
    }
    if (level != ctrl->pin_level) {
        ctrl->pin_level = level;
        ctrl->machine->pin(ctrl->opaque, level);
    }
}

/* Interrupt coalescing (clause 5.21.1.8): time in units of 100 us. */
static uint64_t coalescing_ns(const NvmeCtrl *ctrl, const NvmeCq *cq)
{
    uint32_t f = ctrl->feature[NVME_FEAT_COALESCING];
    bool off = !cq->id || ctrl->vector_config[cq->vector] & 0x10000;

    return off || !(f & 0xff) ? 0 : (f >> 8 & 0xff) * 100000ULL;
}

static bool cq_due(const NvmeCtrl *ctrl, const NvmeCq *cq)
{
    uint64_t wait_ns = coalescing_ns(ctrl, cq);
    uint32_t threshold = (ctrl->feature[NVME_FEAT_COALESCING] & 0xff) + 1;

    return !wait_ns || cq->unsignalled >= threshold ||
           ctrl->now_ns - cq->first_ns >= wait_ns;
}

/* A controller that has given up (CSTS.CFS) sends no interrupt any more. */
uint64_t nvme_coalescing_deadline_ns(const NvmeCtrl *ctrl)
{
    uint64_t at_ns = SSD_TIME_NEVER;

    if (!nvme_running(ctrl) || !(ctrl->feature[NVME_FEAT_COALESCING] & 0xff00)) {
        return at_ns;
    }
    for (unsigned i = 1; i <= ctrl->max_cqid; i++) {
        const NvmeCq *cq = &ctrl->cq[i];

        if (cq->live && cq->ien && cq->unsignalled) {
            at_ns = MIN(at_ns, cq->first_ns + coalescing_ns(ctrl, cq));
        }
    }
    return at_ns;
}

/* Signal completions that are in guest memory; one message per vector. */
static void raise_interrupts(NvmeCtrl *ctrl)
{
    bool msix = ctrl->machine->msix_enabled(ctrl->opaque);
    uint64_t sent[2] = { 0, 0 };
    bool pin = ctrl->pin_level;

    for (unsigned i = 0; i <= ctrl->max_cqid; i++) {
        NvmeCq *cq = &ctrl->cq[i];
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
        if (msix && !(sent[v / 64] >> (v % 64) & 1)) {
            sent[v / 64] |= 1ULL << (v % 64);
            ctrl->interrupts++;
            ctrl->machine->msix(ctrl->opaque, v);
        }
    }
    if (pin) {
        nvme_update_pin(ctrl);
    }
}

bool nvme_run_end(NvmeCtrl *ctrl)
{
    bool fresh = false;

    for (unsigned i = 0; i <= ctrl->max_cqid; i++) {
        NvmeCq *cq = &ctrl->cq[i];

        if (cq->live && cq->dirty) {
            bool waited = cq->wait_first;

            cq->dirty = false;
            if (cq->asserted) {
                watch_head(ctrl, cq);
            }
            cq_post_waiting(ctrl, cq);
            cq_write_out(ctrl, cq);
            /* Its submission queues were not fetched from meanwhile. */
            fresh |= waited && !cq->wait_first;
        }
    }
    if (ctrl->csts & NVME_CSTS_CFS) {
        return true;
    }
    raise_interrupts(ctrl);
    if (ctrl->shadow_on) {
        fresh |= arm_doorbells(ctrl);
    }
    return !fresh;
}

/* ---- opening and closing ------------------------------------------------ */

void nvme_queue_init(NvmeCtrl *ctrl)
{
    for (unsigned i = 0; i < NVME_MAX_QUEUES; i++) {
        ctrl->sq[i].id = i;
        ctrl->cq[i].id = i;
    }
}

void nvme_cq_open(NvmeCtrl *ctrl, unsigned id, uint64_t addr, uint32_t size,
                  unsigned vector, bool ien)
{
    NvmeCq *cq = &ctrl->cq[id];

    *cq = (NvmeCq){
        .live = true,
        .ien = ien,
        .phase = 1,
        .id = id,
        .vector = vector,
        .size = size,
        .addr = addr,
    };
    ctrl->nio_queues += id != 0;
    ctrl->max_cqid = MAX(ctrl->max_cqid, id);
    shadow_open(ctrl, &cq->shadow, 2 * id + 1, 0);
}

void nvme_sq_open(NvmeCtrl *ctrl, unsigned id, NvmeCq *cq, uint64_t addr,
                  uint32_t size)
{
    NvmeSq *sq = &ctrl->sq[id];

    *sq = (NvmeSq){
        .live = true,
        .id = id,
        .cq = cq,
        .size = size,
        .addr = addr,
    };
    sq->list.sq_next = &sq->list;
    sq->list.sq_prev = &sq->list;
    cq->nsqs++;
    ctrl->nio_queues += id != 0;
    ctrl->max_sqid = MAX(ctrl->max_sqid, id);
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

void nvme_sq_close(NvmeCtrl *ctrl, NvmeSq *sq)
{
    drop_waiting(ctrl, sq);
    while (sq->list.sq_next != &sq->list) {
        nvme_request_orphan(ctrl, sq->list.sq_next);
    }
    sq->live = false;
    sq->cq->nsqs--;
    sq->cq = NULL;
    ctrl->nio_queues -= sq->id != 0;
    while (ctrl->max_sqid && !ctrl->sq[ctrl->max_sqid].live) {
        ctrl->max_sqid--;
    }
}

void nvme_cq_close(NvmeCtrl *ctrl, NvmeCq *cq)
{
    g_assert(cq->nsqs == 0 && !cq->wait_first);
    cq_write_out(ctrl, cq);
    cq->live = false;
    ctrl->nio_queues -= cq->id != 0;
    while (ctrl->max_cqid && !ctrl->cq[ctrl->max_cqid].live) {
        ctrl->max_cqid--;
    }
    if (cq->asserted) {
        cq->asserted = false;
        nvme_update_pin(ctrl);
    }
}

void nvme_queues_close(NvmeCtrl *ctrl)
{
    for (unsigned i = 0; i < NVME_MAX_QUEUES; i++) {
        if (ctrl->sq[i].live) {
            nvme_sq_close(ctrl, &ctrl->sq[i]);
        }
    }
    for (unsigned i = 0; i < NVME_MAX_QUEUES; i++) {
        if (ctrl->cq[i].live) {
            ctrl->cq[i].nbatch = 0; /* a reset: nothing more is posted */
            nvme_cq_close(ctrl, &ctrl->cq[i]);
        }
    }
    ctrl->shadow_on = false;
    nvme_update_pin(ctrl);
}
