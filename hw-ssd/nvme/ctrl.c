/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctrl.c - the controller's life, its run loop, and requests on their way
 * through the drive and the payload.
 *
 * Knows steps, places in the drive and when a request is done; knows nothing
 * of opcodes (admin.c, io.c) or of where completions go (queue.c).
 */
#include "nvme-internal.h"

#include <errno.h>
#include <inttypes.h>

#include "options.h"

#define REQUEST_SLAB 64
#define DONE_BATCH 64

/* ---- requests ----------------------------------------------------------- */

NvmeRequest *nvme_request_new(NvmeCtrl *ctrl)
{
    NvmeRequest *req = ctrl->free_requests;

    if (!req) {
        NvmeRequest *slab = g_new0(NvmeRequest, REQUEST_SLAB);

        g_ptr_array_add(ctrl->request_slabs, slab);
        for (int i = REQUEST_SLAB - 1; i >= 0; i--) {
            slab[i].next = ctrl->free_requests;
            ctrl->free_requests = &slab[i];
        }
        req = slab;
    }
    ctrl->free_requests = req->next;
    memset(req, 0, offsetof(NvmeRequest, small_steps));
    req->used = true;
    req->steps = req->small_steps;
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

void nvme_request_put_bufs(NvmeCtrl *ctrl, NvmeRequest *req)
{
    if (req->buf) {
        payload_buf_put(ctrl->payload, req->buf, req->buf_bytes);
        req->buf = NULL;
    }
    if (req->compare) {
        payload_buf_put(ctrl->payload, req->compare, req->buf_bytes);
        req->compare = NULL;
    }
}

void nvme_request_free(NvmeCtrl *ctrl, NvmeRequest *req)
{
    bool io = !req->admin && !req->shutdown;

    nvme_request_cancel_steps(ctrl, req);
    request_unlink(req);
    nvme_request_put_bufs(ctrl, req);
    nvme_sg_free(ctrl, &req->sg);
    if (req->steps != req->small_steps) {
        g_free(req->steps);
        req->steps = req->small_steps;
    }
    if (io && --ctrl->nio_requests == 0) {
        ctrl->busy_ns += ctrl->now_ns - ctrl->busy_since_ns;
    }
    req->used = false;
    req->next = ctrl->free_requests;
    ctrl->free_requests = req;
}

uint64_t nvme_busy_ns(const NvmeCtrl *ctrl)
{
    return ctrl->busy_ns +
           (ctrl->nio_requests ? ctrl->now_ns - ctrl->busy_since_ns : 0);
}

void nvme_request_orphan(NvmeCtrl *ctrl, NvmeRequest *req)
{
    request_unlink(req);
    nvme_request_cancel_steps(ctrl, req);
    if (!req->pending && !req->starved) {
        nvme_request_free(ctrl, req);
    }
}

NvmeStep *nvme_add_step(NvmeRequest *req, SsdOp op, uint64_t lba,
                        uint32_t nblocks)
{
    NvmeStep *step = &req->steps[req->nsteps++];

    *step = (NvmeStep){ .op = op, .lba = lba, .nblocks = nblocks };
    return step;
}

/* Steps that the drive has not got will not be done. */
void nvme_request_cancel_steps(NvmeCtrl *ctrl, NvmeRequest *req)
{
    for (unsigned i = req->next_step; i < req->nsteps; i++) {
        payload_write_drop(ctrl->payload, req->steps[i].entries);
    }
    req->nsteps = req->next_step;
}

static void request_fail(NvmeCtrl *ctrl, NvmeRequest *req, uint16_t status)
{
    if (!req->status) {
        req->status = status;
    }
    nvme_request_cancel_steps(ctrl, req);
}

/* ---- steps -------------------------------------------------------------- */

/* What the payload must know before the drive gets the step. */
static void step_begin(NvmeCtrl *ctrl, NvmeStep *step)
{
    if (step->op == SSD_OP_WRITE) {
        step->id = ++ctrl->next_version;
        payload_write_commit(ctrl->payload, step->entries, step->id);
        step->entries = NULL;
    } else if (step->op == SSD_OP_TRIM) {
        step->id = payload_trim_begin(ctrl->payload, step->lba, step->nblocks);
    }
}

static void step_end(NvmeCtrl *ctrl, NvmeStep *step, bool ok)
{
    if (step->op == SSD_OP_WRITE) {
        payload_write_end(ctrl->payload, step->lba, step->nblocks);
        if (!ok) {
            payload_write_failed(ctrl->payload, step->lba, step->nblocks,
                                 step->id);
        }
    } else if (step->op == SSD_OP_TRIM) {
        payload_trim_end(ctrl->payload, step->id, ok, step->zeroes);
    }
}

static uint32_t slot_get(NvmeCtrl *ctrl, NvmeRequest *req, uint32_t step)
{
    uint32_t tag = ctrl->free_slot;

    ctrl->free_slot = ctrl->slots[tag].next_free;
    ctrl->slots[tag].req = req;
    ctrl->slots[tag].step = step;
    ctrl->slots_in_use++;
    req->in_drive++;
    return tag;
}

static void slot_put(NvmeCtrl *ctrl, uint32_t tag)
{
    ctrl->slots[tag].req->in_drive--;
    ctrl->slots[tag].req = NULL;
    ctrl->slots[tag].next_free = ctrl->free_slot;
    ctrl->free_slot = tag;
    ctrl->slots_in_use--;
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
        .stream = step->close ? step->stream : req->stream,
        .nblocks = step->nblocks,
        .lba = step->lba,
    };
    req->pending++;
    ret = ssd_submit(ctrl->ssd, ctrl->now_ns, &cmd);
    if (ret) {
        slot_put(ctrl, tag);
        step_end(ctrl, step, false);
        req->pending--;
        request_fail(ctrl, req,
                     ret == -ENODEV ? NVME_SC_POWER_LOSS : NVME_SC_INTERNAL);
    }
}

static void starve(NvmeCtrl *ctrl, NvmeRequest *req)
{
    req->starved = true;
    req->next = NULL;
    if (ctrl->starved_first) {
        ctrl->starved_last->next = req;
    } else {
        ctrl->starved_first = req;
    }
    ctrl->starved_last = req;
}

/* Is there a place for the next step, if there is one? */
static bool has_place(const NvmeCtrl *ctrl, const NvmeRequest *req)
{
    if (req->next_step == req->nsteps) {
        return true;
    }
    return ctrl->free_slot != ctrl->nslots &&
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

static bool feed_starved(NvmeCtrl *ctrl)
{
    bool any = false;

    while (ctrl->starved_first && has_place(ctrl, ctrl->starved_first)) {
        NvmeRequest *req = ctrl->starved_first;

        ctrl->starved_first = req->next;
        req->starved = false;
        req->pending++;
        nvme_request_start(ctrl, req);
        nvme_request_part_done(ctrl, req);
        any = true;
    }
    return any;
}

void nvme_request_part_done(NvmeCtrl *ctrl, NvmeRequest *req)
{
    if (--req->pending || req->starved) {
        return;
    }
    if (req->barrier && !req->status && (req->sq || req->shutdown)) {
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
    bool any = req->next_step < req->nsteps;

    nvme_request_cancel_steps(ctrl, req);
    for (uint32_t tag = 0; tag < ctrl->nslots; tag++) {
        if (ctrl->slots[tag].req == req) {
            any |= ssd_abort(ctrl->ssd, ctrl->now_ns, tag);
        }
    }
    req->aborted |= any;
    if (any && !req->status) {
        req->status = NVME_SC_ABORT_REQUESTED;
    }
    return any;
}

/* ---- completion --------------------------------------------------------- */

/* May the same command succeed when it is sent again? */
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
        .work = nvme_work_of(req),
        .refused = req->refused,
        .bytes = req->bytes,
        .fetch_ns = req->fetch_ns,
    };

    ctrl->machine->trace(ctrl->opaque, &t);
}

static void shutdown_done(NvmeCtrl *ctrl, NvmeRequest *req)
{
    if (ctrl->shutdown_req == req) {
        ctrl->shutdown_req = NULL;
        ctrl->shutdown_clean = !req->status;
        ctrl->csts = (ctrl->csts & ~NVME_CSTS_SHST_MASK) | NVME_CSTS_SHST_DONE;
    }
}

void nvme_request_complete(NvmeCtrl *ctrl, NvmeRequest *req)
{
    if (req->shutdown) {
        shutdown_done(ctrl, req);
    }
    if (!req->sq) {
        nvme_request_free(ctrl, req);
        return;
    }
    if (req->status) {
        uint16_t code = req->status & NVME_SC_CODE_MASK;

        ctrl->commands_failed++;
        req->status = code | NVME_SC_MORE;
        req->status |= worth_retrying(code) ? 0 : NVME_SC_DNR;
        nvme_log_error(ctrl, req->sq->id, req, req->status);
    }
    if (ctrl->machine->trace) {
        trace(ctrl, req);
    }
    nvme_post(ctrl, req);
}

static void step_completed(NvmeCtrl *ctrl, const SsdCompletion *c)
{
    NvmeSlot *slot = &ctrl->slots[c->tag];
    NvmeRequest *req = slot->req;
    NvmeStep *step = &req->steps[slot->step];

    slot_put(ctrl, c->tag);
    step_end(ctrl, step, c->status == SSD_STATUS_OK);
    if (req->deletion && !req->in_drive) {
        nvme_request_part_done(ctrl, req->deletion);
        req->deletion = NULL;
    }
    if (c->status != SSD_STATUS_OK) {
        ctrl->media_errors += c->status == SSD_STATUS_UNRECOVERED_READ ||
                              c->status == SSD_STATUS_WRITE_FAULT;
        if (c->status == SSD_STATUS_UNRECOVERED_READ) {
            req->lba = c->bad_lba; /* for the error log */
        }
        request_fail(ctrl, req, nvme_status_of(c->status));
    }
    req->complete_ns = MAX(req->complete_ns, c->complete_ns);
    req->modelled = true;
    nvme_request_part_done(ctrl, req);
}

static bool drain_drive(NvmeCtrl *ctrl)
{
    SsdCompletion done[DONE_BATCH];
    size_t n;
    bool any = false;

    do {
        n = ssd_advance(ctrl->ssd, ctrl->now_ns, done, DONE_BATCH);
        if (ctrl->drive_lost) {
            nvme_disable(ctrl); /* nothing more reaches the guest */
        }
        for (size_t i = 0; i < n; i++) {
            step_completed(ctrl, &done[i]);
        }
        any |= n > 0;
    } while (n == DONE_BATCH);
    nvme_look_at_health(ctrl);
    return any;
}

/* ---- payload and drive call back ---------------------------------------- */

static void read_done(void *opaque, PayloadRead *rd)
{
    NvmeRequest *req = rd->owner;

    nvme_io_read_done(opaque, req);
    nvme_request_part_done(opaque, req);
}

static void barrier_done(void *opaque, PayloadBarrier *b, int ret)
{
    NvmeCtrl *ctrl = opaque;
    NvmeRequest *req = b->owner;

    if (ret) {
        ctrl->media_errors++;
        req->status = NVME_SC_WRITE_FAULT;
        nvme_check_health(ctrl);
    }
    nvme_request_part_done(ctrl, req);
}

static const PayloadClient payload_client = {
    .read_done = read_done,
    .barrier_done = barrier_done,
};

static void host_programmed(void *opaque, uint64_t lpn, uint64_t version)
{
    NvmeCtrl *ctrl = opaque;

    payload_programmed(ctrl->payload, lpn, version);
}

static void host_superseded(void *opaque, uint64_t lpn, uint64_t version)
{
    NvmeCtrl *ctrl = opaque;

    payload_superseded(ctrl->payload, lpn, version);
}

static void host_power_lost(void *opaque)
{
    NvmeCtrl *ctrl = opaque;

    ctrl->drive_lost = true;
}

static void host_moving(void *opaque, uint32_t stream, uint64_t lpn,
                        uint32_t nunits)
{
    nvme_fdp_moving(opaque, stream, lpn, nunits);
}

const SsdHostOps *nvme_host_ops(void)
{
    static const SsdHostOps ops = {
        .programmed = host_programmed,
        .superseded = host_superseded,
        .power_lost = host_power_lost,
        .moving = host_moving,
    };

    return &ops;
}

/* ---- the run loop ------------------------------------------------------- */

bool nvme_run(NvmeCtrl *ctrl, uint64_t now_ns)
{
    unsigned budget = NVME_RUN_BUDGET;
    bool again, payload_more;

    ctrl->now_ns = MAX(now_ns, ctrl->now_ns);
    ctrl->more = false;
    ctrl->run_bytes = 0;
    if (nvme_running(ctrl)) {
        nvme_read_shadows(ctrl);
    }
    do {
        again = drain_drive(ctrl);
        nvme_look_ready(ctrl);
        nvme_upkeep(ctrl);
        payload_more = payload_kick(ctrl->payload);
        again |= feed_starved(ctrl);
        if (nvme_running(ctrl) && !ctrl->held) {
            again |= nvme_fetch(ctrl, &budget);
        }
        if (ctrl->drive_lost && ctrl->powered) {
            nvme_power_cut(ctrl, now_ns);
            return false;
        }
    } while (again && budget);
    if (nvme_running(ctrl)) {
        ctrl->more = !nvme_run_end(ctrl);
    }
    ctrl->more |= !budget;
    ctrl->more &= !ctrl->held;
    ctrl->more |= payload_more;
    nvme_upkeep(ctrl); /* when is it to be called again? */
    return ctrl->more;
}

uint64_t nvme_next_event_ns(const NvmeCtrl *ctrl)
{
    if (ctrl->more || ctrl->drive_lost) {
        return ctrl->now_ns;
    }
    return MIN(MIN(ssd_next_event_ns(ctrl->ssd), nvme_upkeep_ns(ctrl)),
               nvme_coalescing_deadline_ns(ctrl));
}

void nvme_store_done(NvmeCtrl *ctrl, uint64_t now_ns, NvmeStoreReq *req,
                     int ret)
{
    ctrl->now_ns = MAX(now_ns, ctrl->now_ns);
    payload_store_done(ctrl->payload, req, ret);
    ctrl->more = true;
}

unsigned nvme_store_in_flight(const NvmeCtrl *ctrl)
{
    return payload_store_in_flight(ctrl->payload);
}

bool nvme_pin_level(const NvmeCtrl *ctrl)
{
    return ctrl->pin_level;
}

uint64_t nvme_now_ns(const NvmeCtrl *ctrl)
{
    return ctrl->now_ns;
}

const Hist *nvme_lateness(const NvmeCtrl *ctrl)
{
    return ctrl->lateness;
}

/* ---- power -------------------------------------------------------------- */

void nvme_power_cut(NvmeCtrl *ctrl, uint64_t now_ns)
{
    if (!ctrl->powered) {
        return;
    }
    ctrl->now_ns = MAX(now_ns, ctrl->now_ns);
    drain_drive(ctrl);
    nvme_disable(ctrl);
    feed_starved(ctrl);
    ssd_power_cut(ctrl->ssd, ctrl->now_ns);
    drain_drive(ctrl);
    feed_starved(ctrl);
    payload_power_cut(ctrl->payload);
    ctrl->unsafe_shutdowns += !ctrl->shutdown_clean;
    ctrl->shutdown_clean = true;
    ctrl->powered = false;
    ctrl->drive_lost = false;
    payload_kick(ctrl->payload);
    if (ctrl->machine->power_lost) {
        ctrl->machine->power_lost(ctrl->opaque);
    }
}

bool nvme_powered(const NvmeCtrl *ctrl)
{
    return ctrl->powered;
}

void nvme_power_on(NvmeCtrl *ctrl, uint64_t now_ns)
{
    if (ctrl->powered) {
        return;
    }
    ctrl->now_ns = MAX(now_ns, ctrl->now_ns);
    ctrl->powered = true;
    ctrl->power_cycles++;
    ssd_power_on(ctrl->ssd, ctrl->now_ns);
    nvme_reset(ctrl, ctrl->now_ns);
}

/* ---- life --------------------------------------------------------------- */

NvmeCtrl *nvme_new(const NvmeMachine *machine, const NvmeStore *store,
                   void *opaque)
{
    NvmeCtrl *ctrl = g_new0(NvmeCtrl, 1);

    ctrl->machine = machine;
    ctrl->opaque = opaque;
    ctrl->payload = payload_new(store, opaque, &payload_client, ctrl);
    ctrl->request_slabs = g_ptr_array_new_with_free_func(g_free);
    ctrl->sg_pool = g_ptr_array_new_with_free_func(g_free);
    ctrl->lateness = g_new(Hist, 1);
    hist_init(ctrl->lateness);
    ctrl->shutdown_clean = true;
    ctrl->power_cycles = 1;
    ctrl->housekeep_ns = SSD_TIME_NEVER;
    ctrl->retry_ns = SSD_TIME_NEVER;
    nvme_queue_init(ctrl);
    return ctrl;
}

static bool check_text(const char *name, const char *s, size_t max,
                       GError **error)
{
    size_t n = s ? strlen(s) : 0;

    for (size_t i = 0; i < n; i++) {
        if (s[i] < 0x20 || s[i] > 0x7e) {
            n = 0;
        }
    }
    if (n < 1 || n > max) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                    "%s=%s: allowed are 1..%zu printable ASCII characters",
                    name, s ? s : "", max);
        return false;
    }
    return true;
}

bool nvme_serial_ok(const char *serial, GError **error)
{
    return check_text("serial", serial, 20, error);
}

static bool check_number(const char *name, uint64_t v, uint64_t min,
                         uint64_t max, GError **error)
{
    if (v < min || v > max) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                    "%s=%" PRIu64 ": allowed %" PRIu64 "..%" PRIu64, name, v,
                    min, max);
        return false;
    }
    return true;
}

static bool check_config(const NvmeConfig *cfg, const SsdInfo *info,
                         GError **error)
{
    return nvme_serial_ok(cfg->serial, error) &&
           check_text("model", cfg->model, 40, error) &&
           check_text("firmware", cfg->firmware, 8, error) &&
           check_number("controller identifier", cfg->cntlid, 0, 0xffef,
                        error) &&
           check_number("queues", cfg->n_queues, 1, 64, error) &&
           check_number("vectors", cfg->n_vectors, 1, NVME_MAX_VECTORS,
                        error) &&
           check_number("queue_size", cfg->queue_size, 2, 65536, error) &&
           check_number("mdts", cfg->mdts, 1, 10, error) &&
           check_number("backlog", cfg->backlog, NVME_BACKLOG_MIN,
                        NVME_BACKLOG_MAX, error) &&
           check_number("blocks of the namespace", cfg->nblocks, 1,
                        info->nblocks, error);
}

static void make_slots(NvmeCtrl *ctrl, uint32_t n)
{
    ctrl->nslots = n;
    ctrl->slots = g_new0(NvmeSlot, n);
    for (uint32_t i = 0; i < n; i++) {
        ctrl->slots[i].next_free = i + 1;
    }
    ctrl->free_slot = 0;
}

bool nvme_attach(NvmeCtrl *ctrl, Ssd *ssd, const NvmeConfig *cfg,
                 GError **error)
{
    const SsdInfo *info = ssd_info(ssd);

    if (!check_config(cfg, info, error)) {
        return false;
    }
    ctrl->ssd = ssd;
    ctrl->cfg = *cfg;
    g_strlcpy(ctrl->serial, cfg->serial, sizeof(ctrl->serial));
    g_strlcpy(ctrl->model, cfg->model, sizeof(ctrl->model));
    g_strlcpy(ctrl->firmware, cfg->firmware, sizeof(ctrl->firmware));
    ctrl->cfg.serial = ctrl->serial;
    ctrl->cfg.model = ctrl->model;
    ctrl->cfg.firmware = ctrl->firmware;
    ctrl->block_bytes = info->block_bytes;
    ctrl->block_shift = g_bit_nth_lsf(info->block_bytes, -1);
    ctrl->unit_blocks = info->unit_bytes / info->block_bytes;
    ctrl->max_bytes = 1ULL << (cfg->mdts + NVME_PAGE_BITS);
    payload_attach(ctrl->payload, ssd, cfg->nblocks);
    payload_set_limit(ctrl->payload, cfg->backlog);
    make_slots(ctrl, info->queue_depth);
    nvme_streams_init(ctrl);
    ctrl->powered = true;
    ctrl->next_version = ssd_last_version(ssd);
    nvme_reset(ctrl, ssd_now_ns(ssd));
    return true;
}

/* Those that the drive, or a barrier, would have ended: they have buffers. */
static void free_unfinished(NvmeCtrl *ctrl)
{
    for (unsigned i = 0; i < ctrl->request_slabs->len; i++) {
        NvmeRequest *slab = g_ptr_array_index(ctrl->request_slabs, i);

        for (unsigned k = 0; k < REQUEST_SLAB; k++) {
            if (slab[k].used) {
                nvme_request_free(ctrl, &slab[k]);
            }
        }
    }
}

void nvme_free(NvmeCtrl *ctrl)
{
    if (ctrl->ssd) {
        nvme_queues_close(ctrl);
    }
    free_unfinished(ctrl);
    payload_free(ctrl->payload);
    g_ptr_array_free(ctrl->request_slabs, TRUE);
    g_ptr_array_free(ctrl->sg_pool, TRUE);
    g_free(ctrl->slots);
    g_free(ctrl->lateness);
    g_free(ctrl);
}
