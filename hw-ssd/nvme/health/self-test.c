/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * self-test.c - Device Self-test (Base 2.0, Device Self-test command and
 * operations; log page 06h).
 *
 * A test looks at the controller's warnings, then reads the media through the
 * drive, in its background: one read at a time, with a pause after each.  A
 * short test reads samples, an extended one reads all of its namespaces.  The
 * data does not cross the host link.  Results survive power cycles, and an
 * extended test goes on after a reset or without power.
 *
 * Knows when the next read is due; the drive knows how long it takes.
 */
#include "nvme-internal.h"
#include "health/health.h"
#include "namespace/namespace.h"
#include "queue/request.h"
#include "health/self-test.h"
#include "queue/steps.h"

#include "simtime.h"

#define CODE_SHORT    0x1
#define CODE_EXTENDED 0x2
#define CODE_ABORT    0xf

/* Segments, by number in the log (Base 2.0, Device Self-test Operations:
 * an example of segments). */
#define SEGMENT_SMART 2
#define SEGMENT_MEDIA 7

#define VALID_NSID 0x1
#define VALID_LBA  0x2
#define VALID_SCT  0x4
#define VALID_SC   0x8

#define SHORT_READS   256
#define CHUNK_BYTES   (256U << 10)
/* After a read, and before the first one: tests of the controller. */
#define PAUSE_NS      (100 * NS_PER_US)
#define CONTROLLER_NS (100 * NS_PER_MS)
#define ESTIMATE_NS   (1 * NS_PER_MS) /* of a read and a pause, for EDSTT */

static uint32_t chunk_blocks(const NvmeCtrl *ctrl)
{
    return MAX(CHUNK_BYTES >> ctrl->block_shift, ctrl->unit_blocks);
}

/* Of a namespace, in blocks of the drive. */
static uint64_t drive_blocks(const NvmeNamespace *ns)
{
    uint64_t n = ns->nblocks << ns->drive_shift;

    return ns->zone_size ? n / ns->zone_size * ns->zone_capacity : n;
}

static uint64_t chunks_of(const NvmeCtrl *ctrl, const NvmeNamespace *ns)
{
    uint32_t n = chunk_blocks(ctrl);

    return (drive_blocks(ns) + n - 1) / n;
}

/* Does a test of this NSID read the namespace? */
static bool is_tested(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                      uint32_t nsid)
{
    return nvme_is_attached(ctrl, ns) &&
           (nsid == NVME_NSID_ALL || nsid == ns->nsid);
}

static uint64_t n_chunks(const NvmeCtrl *ctrl, uint32_t nsid)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < ctrl->sub->namespaces.n; i++) {
        const NvmeNamespace *ns = &ctrl->sub->namespaces.table[i];

        n += is_tested(ctrl, ns, nsid) ? chunks_of(ctrl, ns) : 0;
    }
    return n;
}

/* The namespace of a chunk; *chunk: within it. */
static const NvmeNamespace *find_chunk(NvmeCtrl *ctrl, uint64_t *chunk)
{
    for (uint32_t i = 0; i < ctrl->sub->namespaces.n; i++) {
        const NvmeNamespace *ns = &ctrl->sub->namespaces.table[i];

        if (!is_tested(ctrl, ns, ctrl->self_test.nsid)) {
            continue;
        }
        if (*chunk < chunks_of(ctrl, ns)) {
            return ns;
        }
        *chunk -= chunks_of(ctrl, ns);
    }
    return NULL;
}

uint16_t nvme_self_test_minutes(const NvmeCtrl *ctrl)
{
    uint64_t ns = CONTROLLER_NS + n_chunks(ctrl, NVME_NSID_ALL) * ESTIMATE_NS;

    return (uint16_t)MIN(ns / (60 * NS_PER_S) + 1, UINT16_MAX);
}

/* ---- results ------------------------------------------------------------- */

static void note_failure(NvmeSelfTest *t, uint8_t segment)
{
    if (!t->segment) {
        t->segment = segment;
    }
}

void nvme_self_test_end(NvmeCtrl *ctrl, uint8_t result)
{
    NvmeSelfTest *t = &ctrl->self_test;
    NvmeSelfTestResult *r = &t->result[t->n_results % NVME_DST_RESULTS];
    bool lba = t->segment == SEGMENT_MEDIA;

    if (!t->code) {
        return;
    }
    if (result == NVME_DST_PASSED && t->segment) {
        result = NVME_DST_FAILED;
    }
    *r = (NvmeSelfTestResult){
        .status = (uint8_t)(t->code << 4 | result),
        .segment = result == NVME_DST_FAILED ? t->segment : 0,
        .valid = lba ? VALID_NSID | VALID_LBA | VALID_SCT | VALID_SC : 0,
        .poh = nvme_le64(ctrl->sub->now_ns / (3600 * NS_PER_S)),
        .nsid = nvme_le32(lba ? t->bad_nsid : 0),
        .lba = nvme_le64(lba ? t->lba : 0),
        .sct = lba ? NVME_SC_UNRECOVERED_READ >> 8 : 0,
        .sc = lba ? NVME_SC_UNRECOVERED_READ & 0xff : 0,
    };
    t->n_results++;
    t->code = 0;
    if (ctrl->self_test_req) {
        NvmeRequest *req = ctrl->self_test_req;

        ctrl->self_test_req = NULL;
        nvme_request_abort(ctrl, req);
    }
}

/* ---- reads --------------------------------------------------------------- */

static void read_done(NvmeCtrl *ctrl, NvmeRequest *req)
{
    NvmeSelfTest *t = &ctrl->self_test;

    if (ctrl->self_test_req != req) {
        return; /* of a test that has ended */
    }
    ctrl->self_test_req = NULL;
    t->next_ns = ctrl->sub->now_ns + PAUSE_NS;
    if (req->status && req->status != NVME_SC_UNRECOVERED_READ) {
        return; /* the power has gone: again */
    }
    if (req->status && !t->segment) {
        t->segment = SEGMENT_MEDIA;
        t->lba = req->lba;
        t->bad_nsid = req->ns->nsid;
    }
    t->next++;
}

static void read_next(NvmeCtrl *ctrl)
{
    NvmeSelfTest *t = &ctrl->self_test;
    bool all = t->code == CODE_EXTENDED;
    uint64_t n = all ? chunk_blocks(ctrl) : ctrl->unit_blocks;
    unsigned __int128 most = n_chunks(ctrl, t->nsid);
    uint64_t chunk = all ? t->next : (uint64_t)(most * t->next / t->n);
    const NvmeNamespace *ns = find_chunk(ctrl, &chunk);
    NvmeRequest *req;
    uint64_t first;

    if (!ns) { /* it has gone */
        t->next = t->n;
        return;
    }
    first = chunk * chunk_blocks(ctrl);
    req = nvme_request_new(ctrl);
    req->admin = true;
    req->internal = true;
    req->ns = ns;
    req->done = read_done;
    req->pending = 1;
    ctrl->self_test_req = req;
    n = MIN(n, drive_blocks(ns) - first);
    while (n) {
        uint64_t lba;
        uint64_t piece = n;

        if (ns->zone_size) { /* the drive's blocks: zones without gaps */
            lba = first;
        } else {
            piece = nvme_ns_piece(ns, first, n, &lba);
        }
        nvme_add_step(req, SSD_OP_READ, lba, (uint32_t)piece);
        first += piece;
        n -= piece;
    }
    nvme_request_start(ctrl, req);
    nvme_request_part_done(ctrl, req);
}

static bool may_go_on(const NvmeCtrl *ctrl)
{
    return ctrl->self_test.code && !ctrl->self_test_req && !ctrl->sub->held &&
           nvme_running(ctrl);
}

bool nvme_self_test_look(NvmeCtrl *ctrl)
{
    NvmeSelfTest *t = &ctrl->self_test;

    if (!may_go_on(ctrl) || ctrl->sub->now_ns < t->next_ns) {
        return false;
    }
    if (t->next < t->n) {
        read_next(ctrl);
        return true;
    }
    nvme_self_test_end(ctrl, NVME_DST_PASSED);
    return false;
}

uint64_t nvme_self_test_ns(const NvmeCtrl *ctrl)
{
    return may_go_on(ctrl) ? ctrl->self_test.next_ns : SSD_TIME_NEVER;
}

/* ---- the command --------------------------------------------------------- */

/* NSID 0: the controller alone. */
static void start(NvmeCtrl *ctrl, uint8_t code, uint32_t nsid)
{
    NvmeSelfTest *t = &ctrl->self_test;
    uint64_t n = n_chunks(ctrl, nsid);

    t->code = code;
    nvme_upkeep_wake(ctrl->sub);
    t->segment = 0;
    t->lba = 0;
    t->next = 0;
    t->nsid = nsid;
    t->n = code == CODE_EXTENDED ? n : MIN(SHORT_READS, n);
    t->next_ns = ctrl->sub->now_ns + CONTROLLER_NS;
    if (nvme_critical_warning(ctrl) & ~NVME_WARN_TEMPERATURE) {
        note_failure(t, SEGMENT_SMART);
    }
}

uint16_t nvme_self_test(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint8_t code = sqe->dw[10] & 0xf;

    if (req->nsid && req->nsid != NVME_NSID_ALL && !req->ns) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    switch (code) {
    case CODE_SHORT:
    case CODE_EXTENDED:
        if (ctrl->self_test.code) {
            return NVME_SC_SELF_TEST;
        }
        start(ctrl, code, req->nsid);
        return 0;
    case CODE_ABORT:
        nvme_self_test_end(ctrl, NVME_DST_ABORTED);
        return 0;
    default:
        return NVME_SC_INVALID_FIELD;
    }
}

void nvme_self_test_reset(NvmeCtrl *ctrl)
{
    if (ctrl->self_test.code == CODE_SHORT) {
        nvme_self_test_end(ctrl, NVME_DST_RESET);
    }
}

/* ---- the log, and the state ---------------------------------------------- */

void nvme_fill_self_test_log(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                             uint64_t i, void *page)
{
    const NvmeSelfTest *t = &ctrl->self_test;
    NvmeSelfTestLog *log = page;
    uint64_t n = MIN(t->n_results, NVME_DST_RESULTS);

    log->current = t->code;
    log->percent = t->code && t->n
                       ? (uint8_t)((unsigned __int128)t->next * 100 / t->n)
                       : 0;
    for (uint64_t k = 0; k < NVME_DST_RESULTS; k++) {
        if (k < n) { /* the newest first */
            log->result[k] =
                t->result[(t->n_results - 1 - k) % NVME_DST_RESULTS];
        } else {
            log->result[k].status = NVME_DST_UNUSED;
        }
    }
}

bool nvme_self_test_ok(const NvmeCtrl *ctrl)
{
    const NvmeSelfTest *t = &ctrl->self_test;

    return t->code <= CODE_EXTENDED && t->n <= n_chunks(ctrl, t->nsid) &&
           t->next <= t->n && t->next_ns <= ctrl->sub->now_ns + CONTROLLER_NS;
}
