/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * erase-job.c - removing user data from the drive, step by step, for Format NVM
 * and Sanitize.
 *
 *   DRAIN   commands that were taken before it end
 *   TRIM    the drive unmaps the range
 *   COMMIT  that becomes durable; the store has zeroes in place of the payload
 *   PURGE   every block of the array that holds something is erased
 *   FILL    a pass of an overwrite, a piece at a time; the data is the pattern
 *   SETTLE  the pass is in NAND and in the store
 *
 * After the passes the first steps are taken again, unless the pattern is to
 * stay.  The record of the job is kept without power, as if the drive had it in
 * NVRAM.  A power cut sends the job back: a pass begins again, all else with
 * TRIM, so a job has ended only after an uninterrupted end of it.
 *
 * Knows ranges and phases; format.c and sanitize.c know who may start a job and
 * what its end means.
 */
#include "nvme-internal.h"
#include "erase/erase-job.h"
#include "namespace/namespace.h"
#include "queue/request.h"
#include "simtime.h"
#include "ssd-purge.h"
#include "queue/steps.h"

#define POLL_NS     NS_PER_MS
#define STAND_NS    NS_PER_S   /* of a purge that makes no progress */
#define CHUNK_BYTES (1U << 20) /* of a pass, at a time */
#define STEP_BYTES  (128U << 10)

/* ---- what is to be erased ------------------------------------------------ */

/* The drive's blocks that a job may have to erase: whole mapping units. */
static uint64_t all_blocks(const NvmeCtrl *ctrl)
{
    const NvmeNamespaces *all = &ctrl->sub->namespaces;

    return all->managed
               ? (uint64_t)all->n_granules * all->granule_blocks
               : ctrl->cfg.nblocks / ctrl->unit_blocks * ctrl->unit_blocks;
}

/* Is the granule of the job? */
static bool has_granule(const NvmeCtrl *ctrl, uint32_t i)
{
    const NvmeEraseJob *job = &ctrl->sub->erase;
    const NvmeNamespace *ns;

    if (job->sanitize) {
        return true;
    }
    ns = nvme_ns_existing(ctrl, ctrl->sub->namespaces.owner[i]);
    return ns && (job->nsid == ns->nsid ||
                  (job->nsid == NVME_NSID_ALL && ns->attached));
}

static void add_trims(NvmeRequest *req, uint64_t lba, uint64_t nblocks,
                      uint64_t unit)
{
    uint64_t most = UINT32_MAX / unit * unit;

    while (nblocks) {
        uint64_t n = MIN(nblocks, most);

        nvme_add_step(req, SSD_OP_TRIM, lba, (uint32_t)n)->zeroes = true;
        lba += n;
        nblocks -= n;
    }
}

static void add_granules(NvmeCtrl *ctrl, NvmeRequest *req)
{
    const NvmeNamespaces *all = &ctrl->sub->namespaces;

    for (uint32_t i = 0; i < all->n_granules;) {
        uint32_t first = i++;

        if (!has_granule(ctrl, first)) {
            continue;
        }
        while (i < all->n_granules && has_granule(ctrl, i)) {
            i++;
        }
        add_trims(req, (uint64_t)first * all->granule_blocks,
                  (uint64_t)(i - first) * all->granule_blocks,
                  all->granule_blocks);
    }
}

/* ---- steps --------------------------------------------------------------- */

static void fail(NvmeCtrl *ctrl, uint16_t status)
{
    ctrl->sub->erase.status = status;
    ctrl->sub->erase.phase = NVME_ERASE_ENDED;
    ssd_purge_stop(ctrl->ssd);
}

/* What comes after the range is gone. */
static uint8_t after_erase(const NvmeEraseJob *job)
{
    return job->pass < job->passes ? NVME_ERASE_FILL : NVME_ERASE_ENDED;
}

static void advance(NvmeCtrl *ctrl)
{
    NvmeEraseJob *job = &ctrl->sub->erase;

    switch (job->phase) {
    case NVME_ERASE_TRIM:
        job->phase = NVME_ERASE_COMMIT;
        break;
    case NVME_ERASE_COMMIT:
        job->phase = job->purges ? NVME_ERASE_PURGE : after_erase(job);
        break;
    case NVME_ERASE_FILL:
        job->next += CHUNK_BYTES >> ctrl->block_shift;
        if (job->next >= all_blocks(ctrl)) {
            job->next = 0;
            job->phase = NVME_ERASE_SETTLE;
        }
        break;
    case NVME_ERASE_SETTLE:
        job->pass++;
        job->phase = job->pass < job->passes ? NVME_ERASE_FILL
                     : job->keeps            ? NVME_ERASE_ENDED
                                             : NVME_ERASE_TRIM;
        break;
    default:
        g_assert_not_reached();
    }
}

static void step_done(NvmeCtrl *ctrl, NvmeRequest *req)
{
    if (ctrl->sub->erase_req != req) {
        return; /* of a time before a power cut */
    }
    ctrl->sub->erase_req = NULL;
    if (req->status == NVME_SC_POWER_LOSS) {
        return; /* nvme_erase_power_on() follows */
    }
    if (req->status) {
        fail(ctrl, req->status);
    } else {
        advance(ctrl);
    }
}

static NvmeRequest *begin_step(NvmeCtrl *ctrl)
{
    NvmeRequest *req = nvme_request_new(ctrl);

    req->admin = true;
    req->done = step_done;
    req->pending = 1;
    ctrl->sub->erase_req = req;
    return req;
}

static void send_step(NvmeCtrl *ctrl, NvmeRequest *req)
{
    nvme_request_start(ctrl, req);
    nvme_request_part_done(ctrl, req);
}

/* The blocks behind the last whole unit of a drive that is no multiple of one.
 */
static void add_tail(NvmeCtrl *ctrl, NvmeRequest *req)
{
    uint64_t first = all_blocks(ctrl);
    uint32_t n = (uint32_t)(ctrl->cfg.nblocks - first);
    PayloadEntry *cursor;
    NvmeStep *step;
    uint8_t *piece;
    size_t bytes;

    if (ctrl->sub->namespaces.managed || !n) {
        return;
    }
    step = nvme_add_step(req, SSD_OP_WRITE, first, n);
    step->inside = true;
    step->entries = payload_write_new(ctrl->payload, first, n);
    cursor = step->entries;
    while ((piece = payload_write_piece(ctrl->payload, &cursor, &bytes))) {
        memset(piece, 0, bytes);
    }
}

static void trim(NvmeCtrl *ctrl)
{
    NvmeRequest *req = begin_step(ctrl);

    if (ctrl->sub->namespaces.managed) {
        add_granules(ctrl, req);
    } else {
        add_trims(req, 0, all_blocks(ctrl), ctrl->unit_blocks);
        add_tail(ctrl, req);
    }
    send_step(ctrl, req);
}

/* SHUTDOWN is a flush that no option switches off. */
static void commit(NvmeCtrl *ctrl)
{
    NvmeRequest *req = begin_step(ctrl);

    req->barrier = true;
    nvme_add_step(req, SSD_OP_SHUTDOWN, 0, 0);
    send_step(ctrl, req);
}

/* ---- the passes of an overwrite ------------------------------------------ */

static void fill_piece(uint8_t *p, size_t bytes, uint32_t pattern)
{
    for (size_t i = 0; i < bytes; i += sizeof(pattern)) {
        put_le32(p + i, pattern);
    }
}

static void add_fill(NvmeCtrl *ctrl, NvmeRequest *req, uint64_t lba, uint32_t n)
{
    const NvmeEraseJob *job = &ctrl->sub->erase;
    bool inverted = job->inverts && job->pass % 2;
    NvmeStep *step = nvme_add_step(req, SSD_OP_WRITE, lba, n);
    PayloadEntry *cursor;
    uint8_t *piece;
    size_t bytes;

    step->inside = true;
    step->entries = payload_write_new(ctrl->payload, lba, n);
    cursor = step->entries;
    while ((piece = payload_write_piece(ctrl->payload, &cursor, &bytes))) {
        fill_piece(piece, bytes, inverted ? ~job->pattern : job->pattern);
    }
}

/* The next piece of the pass. */
static void fill(NvmeCtrl *ctrl)
{
    uint64_t lba = ctrl->sub->erase.next;
    uint64_t end =
        MIN(lba + (CHUNK_BYTES >> ctrl->block_shift), all_blocks(ctrl));
    uint32_t most = STEP_BYTES >> ctrl->block_shift;
    NvmeRequest *req = begin_step(ctrl);

    while (lba < end) {
        uint32_t n = (uint32_t)MIN(most, end - lba);

        add_fill(ctrl, req, lba, n);
        lba += n;
    }
    send_step(ctrl, req);
}

static bool try_fill(NvmeCtrl *ctrl)
{
    if (payload_refuses(ctrl->payload)) {
        ctrl->sub->life.media_errors++;
        fail(ctrl, NVME_SC_WRITE_FAULT);
        return true;
    }
    if (payload_congested(ctrl->payload)) {
        return false; /* the store's next completion brings it on */
    }
    fill(ctrl);
    return true;
}

/* ---- drain and purge ----------------------------------------------------- */

/* Does a command touch what the job erases? */
static bool concerns(const NvmeCtrl *ctrl, const NvmeRequest *r)
{
    return r != ctrl->sub->format_req && r != ctrl->sub->erase_req &&
           (ctrl->sub->erase.sanitize || !r->ns || r->opcode == NVME_IO_COPY ||
            nvme_is_formatting(ctrl, r->ns->nsid));
}

static bool queues_are_drained(const NvmeCtrl *ctrl)
{
    for (unsigned i = 1; i <= ctrl->queues.max_sqid; i++) {
        const NvmeSq *sq = &ctrl->queues.sq[i];

        for (const NvmeRequest *r = sq->list.sq_next;
             sq->live && r != &sq->list; r = r->sq_next) {
            if (!r->posted && concerns(ctrl, r)) {
                return false;
            }
        }
    }
    return true;
}

static bool is_drained(const NvmeCtrl *ctrl)
{
    for (uint32_t i = 0; i < ctrl->sub->slots.n; i++) {
        const NvmeRequest *r = ctrl->sub->slots.slot[i].req;

        if (r && concerns(ctrl, r)) {
            return false;
        }
    }
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        if (!queues_are_drained(c)) {
            return false;
        }
    }
    return !ctrl->sub->ns_job.req && !ctrl->sub->erase_client->works(ctrl->sub);
}

/* A purge that has no room to move data stands still.  It may have to wait for
 * other commands, so it has some time. */
static bool stands_still(NvmeCtrl *ctrl, const SsdPurge *p)
{
    if (!p->stands || p->left != ctrl->sub->erase_left) {
        ctrl->sub->erase_since_ns = ctrl->sub->now_ns;
    }
    ctrl->sub->erase_left = p->left;
    return ctrl->sub->now_ns - ctrl->sub->erase_since_ns > STAND_NS;
}

/* true: it has begun, or ended. */
static bool purge(NvmeCtrl *ctrl)
{
    SsdPurge p = ssd_purge_progress(ctrl->ssd);

    if (!p.on) {
        ctrl->sub->erase_since_ns = ctrl->sub->now_ns;
        ssd_purge(ctrl->ssd, ctrl->sub->now_ns);
        return true;
    }
    if (p.left && stands_still(ctrl, &p)) {
        fail(ctrl, NVME_SC_INTERNAL);
        return true;
    }
    if (p.left) {
        return false;
    }
    ssd_purge_stop(ctrl->ssd);
    if (p.failed) {
        fail(ctrl, NVME_SC_WRITE_FAULT);
    } else {
        ctrl->sub->erase.phase = after_erase(&ctrl->sub->erase);
    }
    return true;
}

/* ---- the job ------------------------------------------------------------- */

/* A controller that is held comes to rest: it ends a command, which a host
 * waits for; a sanitize operation goes on later. */
static bool rests(const NvmeCtrl *ctrl)
{
    return ctrl->sub->held && !ctrl->sub->format_req;
}

/* What other rooms have in memory goes with the data. */
static void forget_all(NvmeCtrl *ctrl)
{
    for (uint32_t i = 0; i < ctrl->sub->namespaces.n; i++) {
        const NvmeNamespace *ns = &ctrl->sub->namespaces.table[i];

        if (ctrl->sub->erase.sanitize || nvme_is_formatting(ctrl, ns->nsid)) {
            ctrl->sub->erase_client->forget(ctrl->sub, ns);
        }
    }
}

static bool job_goes_on(NvmeCtrl *ctrl)
{
    switch (ctrl->sub->erase.phase) {
    case NVME_ERASE_DRAIN:
        if (!is_drained(ctrl)) {
            return false;
        }
        forget_all(ctrl);
        ctrl->sub->erase.phase = NVME_ERASE_TRIM;
        return true;
    case NVME_ERASE_TRIM:
        trim(ctrl);
        return true;
    case NVME_ERASE_COMMIT:
    case NVME_ERASE_SETTLE:
        commit(ctrl);
        return true;
    case NVME_ERASE_PURGE:
        return purge(ctrl);
    case NVME_ERASE_FILL:
        return try_fill(ctrl);
    default:
        return false;
    }
}

static bool may_go_on(const NvmeCtrl *ctrl)
{
    return nvme_erase_is_on(ctrl) && !ctrl->sub->erase_req &&
           ctrl->sub->powered && !ctrl->sub->drive_lost && ssd_ready(ctrl->ssd);
}

bool nvme_erase_look(NvmeCtrl *ctrl)
{
    if (!may_go_on(ctrl)) {
        return false;
    }
    if (rests(ctrl)) {
        ssd_purge_stop(ctrl->ssd);
        return false;
    }
    ctrl->sub->erase.progress =
        MAX(ctrl->sub->erase.progress, nvme_erase_progress(ctrl));
    return job_goes_on(ctrl);
}

uint64_t nvme_erase_ns(const NvmeCtrl *ctrl)
{
    return nvme_erase_is_on(ctrl) && !ctrl->sub->erase_req &&
                   ctrl->sub->powered && !rests(ctrl)
               ? ctrl->sub->now_ns + POLL_NS
               : SSD_TIME_NEVER;
}

void nvme_erase_start(NvmeCtrl *ctrl, const NvmeEraseJob *job)
{
    g_assert(!nvme_erase_is_on(ctrl) && !ctrl->sub->erase_req);
    ctrl->sub->erase = *job;
    ctrl->sub->erase.phase = NVME_ERASE_DRAIN;
    nvme_upkeep_wake(ctrl->sub);
}

void nvme_erase_power_on(NvmeCtrl *ctrl)
{
    NvmeEraseJob *job = &ctrl->sub->erase;

    ctrl->sub->erase_req = NULL;
    job->next = 0;
    switch (job->phase) {
    case NVME_ERASE_FILL:
    case NVME_ERASE_SETTLE:
        job->phase = NVME_ERASE_FILL;
        break;
    case NVME_ERASE_COMMIT:
    case NVME_ERASE_PURGE:
        job->phase = NVME_ERASE_TRIM;
        break;
    default:
        break;
    }
}

/* ---- progress and time --------------------------------------------------- */

uint64_t nvme_erase_estimate_ns(const NvmeCtrl *ctrl, bool purges,
                                unsigned passes)
{
    return (purges ? ssd_purge_ns(ctrl->ssd) : 0) +
           passes * ssd_fill_ns(ctrl->ssd);
}

/* The purge's share of all, and how much of that is done. */
static double purge_done(const NvmeCtrl *ctrl)
{
    SsdPurge p = ssd_purge_progress(ctrl->ssd);

    return ctrl->sub->erase.phase == NVME_ERASE_PURGE && p.on && p.total
               ? 1.0 - (double)p.left / p.total
               : 0;
}

static double part_done(const NvmeCtrl *ctrl)
{
    const NvmeEraseJob *job = &ctrl->sub->erase;
    double purge_ns = (double)nvme_erase_estimate_ns(ctrl, job->purges, 0) + 1;
    double pass_ns = (double)nvme_erase_estimate_ns(ctrl, false, 1);
    unsigned erases = 1 + (job->passes && !job->keeps);
    double all = erases * purge_ns + job->passes * pass_ns;
    bool first = job->pass == 0 && job->phase != NVME_ERASE_FILL &&
                 job->phase != NVME_ERASE_SETTLE;
    double done = (first ? 0 : purge_ns) + purge_done(ctrl) * purge_ns;

    done += job->pass * pass_ns;
    if (job->phase == NVME_ERASE_SETTLE) {
        done += pass_ns;
    } else if (job->phase == NVME_ERASE_FILL) {
        done += pass_ns * (double)job->next / (double)MAX(all_blocks(ctrl), 1);
    }
    return done / all;
}

uint32_t nvme_erase_progress(const NvmeCtrl *ctrl)
{
    double done = part_done(ctrl) * 65536;

    return MAX(ctrl->sub->erase.progress, (uint32_t)CLAMP(done, 0, 65535));
}

/* ---- a stream that was loaded -------------------------------------------- */

bool nvme_erase_ok(const NvmeCtrl *ctrl)
{
    const NvmeEraseJob *job = &ctrl->sub->erase;

    return job->phase < NVME_ERASE_PHASES && job->sanitize <= 1 &&
           job->purges <= ssd_can_purge(ctrl->ssd) && job->inverts <= 1 &&
           job->keeps <= 1 && job->passes <= NVME_ERASE_MOST_PASSES &&
           job->pass <= job->passes && job->next <= all_blocks(ctrl) &&
           job->status <= NVME_SC_CODE_MASK &&
           nvme_ns_format(ctrl, job->format) &&
           (job->phase != NVME_ERASE_PURGE || job->purges) &&
           ((job->phase != NVME_ERASE_FILL &&
             job->phase != NVME_ERASE_SETTLE) ||
            job->pass < job->passes) &&
           (job->sanitize || job->phase == NVME_ERASE_NONE ||
            job->nsid == NVME_NSID_ALL ||
            (job->nsid && job->nsid <= ctrl->sub->namespaces.n));
}
