/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sanitize.c - the Sanitize command and Sanitize operations (Base 2.0, Sanitize
 * command; Sanitize Operations; log page 81h, Sanitize Status).
 *
 * The command starts a job (erase-job.c) and completes at once.  The operation
 * goes on over resets and without power.  It ends with an asynchronous event.
 *
 * A failed operation leaves the controller in a failure mode, in which user
 * data cannot be reached: until another one succeeds or, if the failed one
 * allowed that (AUSE), until the host leaves the mode (Exit Failure Mode).
 *
 * No-Deallocate After Sanitize keeps the pattern of an overwrite.  After the
 * other two actions there is nothing to keep: blocks are deallocated.  With
 * sanitize_nodas=off the drive refuses the bit or, in the warning mode of
 * feature 17h, deallocates and says so.
 *
 * Knows which commands are processed meanwhile; erase-job.c does the work.
 */
#include "nvme-internal.h"
#include "health/events.h"
#include "namespace/namespace.h"
#include "health/persistent-events.h"
#include "memory/pmr.h"
#include "erase/sanitize.h"
#include "health/self-test.h"
#include "simtime.h"
#include "ssd-purge.h"
#include "ssd-report.h"
#include "placement/streams.h"

enum {
    ACT_EXIT_FAILURE = 1,
    ACT_BLOCK_ERASE = 2,
    ACT_OVERWRITE = 3,
    ACT_CRYPTO_ERASE = 4,
};

#define CAP_CRYPTO    0x1U
#define CAP_BLOCK     0x2U
#define CAP_OVERWRITE 0x4U
#define CAP_NDI       (1U << 29) /* No-Deallocate Inhibited */
#define CAP_UNTOUCHED (1U << 30) /* NODMMAS 01b: the media is left as it is */

#define DW10_ACTION(dw10) ((dw10) & 7)
#define DW10_AUSE         (1U << 3)
#define DW10_PASSES(dw10) ((dw10) >> 4 & 0xf) /* 0: 16 */
#define DW10_INVERT       (1U << 8)
#define DW10_NDAS         (1U << 9)
#define DW10_EMVS         (1U << 10) /* Enter Media Verification */

#define NODRM_WARNING 1 /* feature 17h */

uint32_t nvme_sanitize_capabilities(const NvmeCtrl *ctrl)
{
    if (ctrl->sub->zones.n > 0) {
        return 0; /* there is no Sanitize command */
    }
    return CAP_CRYPTO |
           (ssd_can_purge(ctrl->ssd) ? CAP_BLOCK | CAP_OVERWRITE : 0) |
           (ctrl->cfg.no_nodas ? CAP_NDI : 0) | CAP_UNTOUCHED;
}

/* ---- the command --------------------------------------------------------- */

static bool has_action(const NvmeCtrl *ctrl, unsigned action)
{
    uint32_t cap = nvme_sanitize_capabilities(ctrl);

    switch (action) {
    case ACT_EXIT_FAILURE:
        return true;
    case ACT_BLOCK_ERASE:
        return cap & CAP_BLOCK;
    case ACT_OVERWRITE:
        return cap & CAP_OVERWRITE;
    case ACT_CRYPTO_ERASE:
        return cap & CAP_CRYPTO;
    default:
        return false;
    }
}

static bool any_protected(const NvmeCtrl *ctrl)
{
    for (uint32_t i = 0; i < ctrl->sub->namespaces.n; i++) {
        if (ctrl->sub->namespaces.table[i].protect) {
            return true;
        }
    }
    return false;
}

/* Base 2.1, 5.1.22: what refuses a Sanitize of any action. */
static uint16_t check_drive(const NvmeCtrl *ctrl)
{
    static const uint16_t pending[] = {
        [NVME_RESET_CONTROLLER] = NVME_SC_FW_RESET,
        [NVME_RESET_CONVENTIONAL] = NVME_SC_FW_CONVENTIONAL_RESET,
        [NVME_RESET_SUBSYSTEM] = NVME_SC_FW_SUBSYSTEM_RESET,
    };
    const NvmeFirmware *f = &ctrl->sub->firmware_store;

    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        if (nvme_has_pmr(c) && c->pmr.ctl) {
            return NVME_SC_SANITIZE_PMR;
        }
    }
    if (any_protected(ctrl)) {
        return NVME_SC_NS_PROTECTED;
    }
    return f->next ? pending[f->by] : 0;
}

static uint16_t check(const NvmeCtrl *ctrl, uint32_t dw10)
{
    bool warns = ctrl->features.value[NVME_FEAT_SANITIZE] & NODRM_WARNING;

    if (!has_action(ctrl, DW10_ACTION(dw10)) || dw10 & DW10_EMVS ||
        (dw10 & DW10_NDAS && ctrl->cfg.no_nodas && !warns)) {
        return NVME_SC_INVALID_FIELD;
    }
    if (ctrl->sub->sanitize.failure == NVME_SANITIZE_RESTRICTED &&
        dw10 & DW10_AUSE) {
        return NVME_SC_SANITIZE_FAILED;
    }
    return check_drive(ctrl);
}

static uint16_t exit_failure(NvmeCtrl *ctrl)
{
    uint16_t status = check_drive(ctrl);

    if (status) {
        return status;
    }
    if (ctrl->sub->sanitize.failure == NVME_SANITIZE_RESTRICTED) {
        return NVME_SC_SANITIZE_FAILED;
    }
    ctrl->sub->sanitize.failure = NVME_SANITIZE_FINE;
    return 0;
}

static void start(NvmeCtrl *ctrl, uint32_t dw10, uint32_t dw11)
{
    unsigned action = DW10_ACTION(dw10);
    unsigned passes = DW10_PASSES(dw10) ? DW10_PASSES(dw10) : 16;
    bool overwrites = action == ACT_OVERWRITE;
    NvmePelSanitizeStart event = {
        .sanicap = nvme_le32(nvme_sanitize_capabilities(ctrl)),
        .cdw10 = nvme_le32(dw10),
        .cdw11 = nvme_le32(dw11),
    };
    NvmeEraseJob job = {
        .sanitize = true,
        .nsid = NVME_NSID_ALL,
        .dw10 = dw10,
        .purges = action != ACT_CRYPTO_ERASE,
        .passes = overwrites ? (uint8_t)passes : 0,
        .inverts = overwrites && dw10 & DW10_INVERT,
        .keeps = overwrites && dw10 & DW10_NDAS && !ctrl->cfg.no_nodas,
        .pattern = dw11,
    };

    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        nvme_self_test_end(c, NVME_DST_SANITIZE);
        nvme_notice_clear(c, NVME_LOG_SANITIZE);
    }
    nvme_streams_reset_all(ctrl->sub);
    nvme_erase_start(ctrl, &job);
    ctrl->sub->sanitize.status = NVME_SANITIZE_RUNS;
    ctrl->sub->sanitize.passes = 0;
    ctrl->sub->sanitize.failure = NVME_SANITIZE_FINE;
    ctrl->sub->sanitize.dw10 = dw10;
    nvme_persistent_event(ctrl, NVME_PEL_SANITIZE_START, &event, sizeof(event));
}

uint16_t nvme_sanitize(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint32_t dw10 = sqe->dw[10];
    uint16_t status;

    if (DW10_ACTION(dw10) == ACT_EXIT_FAILURE) {
        return exit_failure(ctrl);
    }
    status = check(ctrl, dw10);
    if (!status) {
        start(ctrl, dw10, sqe->dw[11]);
    }
    return status;
}

/* ---- the end ------------------------------------------------------------- */

static void settle_granules(NvmeCtrl *ctrl, bool keeps)
{
    /* The pattern is data; else there is none. */
    if (keeps) {
        nvme_ns_regrant(ctrl, NVME_GRANULE_FREE, NVME_GRANULE_DIRTY);
    } else {
        nvme_ns_regrant(ctrl, NVME_GRANULE_DIRTY, NVME_GRANULE_FREE);
    }
}

static uint16_t sstat(const NvmeCtrl *ctrl)
{
    const NvmeSanitize *s = &ctrl->sub->sanitize;
    bool done = s->status == NVME_SANITIZE_DONE ||
                s->status == NVME_SANITIZE_DEALLOCATED;
    bool erased =
        s->clean_version == ctrl->sub->next_version &&
        (done || (s->status == NVME_SANITIZE_NEVER && ssd_is_empty(ctrl->ssd)));

    return (uint16_t)(s->status | s->passes << 3 | (erased ? 1 << 8 : 0));
}

static void tell(NvmeCtrl *ctrl)
{
    NvmeSanitize *s = &ctrl->sub->sanitize;
    NvmePelSanitizeEnd event = {
        .progress = 0xffff,
        .status = nvme_le16(sstat(ctrl)),
    };

    nvme_persistent_event(ctrl, NVME_PEL_SANITIZE_END, &event, sizeof(event));
    nvme_notice_all(ctrl->sub, s->status == NVME_SANITIZE_DEALLOCATED
                                   ? NVME_NOTICE_DEALLOCATED
                                   : NVME_NOTICE_SANITIZED);
}

bool nvme_sanitize_look(NvmeCtrl *ctrl)
{
    NvmeEraseJob job = ctrl->sub->erase;
    NvmeSanitize *s = &ctrl->sub->sanitize;

    if (!job.sanitize) {
        return false;
    }
    s->passes = MIN(job.pass, 31);
    if (job.phase != NVME_ERASE_ENDED) {
        return false;
    }
    ctrl->sub->erase = (NvmeEraseJob){.phase = NVME_ERASE_NONE};
    if (job.status) {
        s->status = NVME_SANITIZE_FAILED;
        s->failure = job.dw10 & DW10_AUSE ? NVME_SANITIZE_UNRESTRICTED
                                          : NVME_SANITIZE_RESTRICTED;
    } else {
        s->status = job.dw10 & DW10_NDAS && ctrl->cfg.no_nodas
                        ? NVME_SANITIZE_DEALLOCATED
                        : NVME_SANITIZE_DONE;
        s->clean_version = ctrl->sub->next_version;
        settle_granules(ctrl, job.keeps);
    }
    tell(ctrl);
    return true;
}

/* ---- other commands meanwhile -------------------------------------------- */

/* Base 2.0, Sanitize Operations: Admin Commands Allowed.  Of vendor-specific
 * log pages those that hold no user data. */
static bool log_is_allowed(uint8_t lid)
{
    static const uint8_t allowed[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05,
                                      0x09, 0x0d, 0x12, 0x13, 0x80, 0x81};

    for (unsigned i = 0; i < G_N_ELEMENTS(allowed); i++) {
        if (allowed[i] == lid) {
            return true;
        }
    }
    return lid >= 0xc0;
}

static bool admin_is_allowed(const NvmeCtrl *ctrl, const NvmeSqe *sqe)
{
    switch (nvme_sqe_opcode(sqe)) {
    case NVME_ADM_DELETE_SQ:
    case NVME_ADM_CREATE_SQ:
    case NVME_ADM_DELETE_CQ:
    case NVME_ADM_CREATE_CQ:
    case NVME_ADM_IDENTIFY:
    case NVME_ADM_ABORT:
    case NVME_ADM_GET_FEATURES:
    case NVME_ADM_ASYNC_EVENT:
    case NVME_ADM_KEEP_ALIVE:
    case NVME_ADM_DOORBELL_BUFFER:
        return true;
    case NVME_ADM_SET_FEATURES: /* not of what is being erased */
        return (sqe->dw[10] & 0xff) != 0x84;
    case NVME_ADM_GET_LOG_PAGE:
        return log_is_allowed(sqe->dw[10] & 0xff);
    case NVME_ADM_SANITIZE:
        return ctrl->sub->sanitize.failure != NVME_SANITIZE_FINE;
    default:
        return false;
    }
}

/* What changes, moves or reads the namespaces that are being formatted. */
static bool disturbs_format(const NvmeCtrl *ctrl, const NvmeRequest *req,
                            const NvmeSqe *sqe)
{
    switch (req->opcode) {
    case NVME_ADM_FORMAT:
    case NVME_ADM_SANITIZE:
    case NVME_ADM_NS_MANAGEMENT:
    case NVME_ADM_NS_ATTACHMENT:
    case NVME_ADM_SELF_TEST:
    case NVME_ADM_GET_LBA_STATUS:
        return true;
    case NVME_ADM_SET_FEATURES:
        return (sqe->dw[10] & 0xff) == 0x84;
    default:
        return false;
    }
}

uint16_t nvme_sanitize_refuses(const NvmeCtrl *ctrl, const NvmeRequest *req,
                               const NvmeSqe *sqe)
{
    bool formats = nvme_erase_is_on(ctrl) && !ctrl->sub->erase.sanitize;

    if (formats) {
        return req->admin ? (disturbs_format(ctrl, req, sqe)
                                 ? NVME_SC_FORMAT_IN_PROGRESS
                                 : 0)
               : nvme_is_formatting(ctrl, req->nsid)
                   ? NVME_SC_FORMAT_IN_PROGRESS
                   : 0;
    }
    if (req->admin && admin_is_allowed(ctrl, sqe)) {
        return 0;
    }
    return nvme_erase_is_on(ctrl) ? NVME_SC_SANITIZE_IN_PROGRESS
                                  : NVME_SC_SANITIZE_FAILED;
}

/* ---- the log, and the state ---------------------------------------------- */

static uint32_t seconds(const NvmeCtrl *ctrl, bool purges, unsigned passes)
{
    uint64_t ns = nvme_erase_estimate_ns(ctrl, purges, passes);

    return nvme_le32(
        (uint32_t)MIN((ns + NS_PER_S - 1) / NS_PER_S, UINT32_MAX - 1));
}

void nvme_fill_sanitize_log(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                            uint64_t i, void *page)
{
    bool purges = ssd_can_purge(ctrl->ssd);
    NvmeSanitizeLog *log = page;

    log->sprog =
        ctrl->sub->sanitize.status == NVME_SANITIZE_RUNS
            ? nvme_le16((uint16_t)MIN(nvme_erase_progress(ctrl), 0xfffe))
            : 0xffff;
    log->sstat = nvme_le16(sstat(ctrl));
    log->scdw10 = nvme_le32(ctrl->sub->sanitize.dw10);
    log->overwrite_s = purges ? seconds(ctrl, true, 16) : UINT32_MAX;
    log->block_erase_s = purges ? seconds(ctrl, true, 0) : UINT32_MAX;
    log->crypto_erase_s = 0;
    log->overwrite_nd_s = UINT32_MAX; /* only with NODMMAS 10b */
    log->block_erase_nd_s = UINT32_MAX;
    log->crypto_erase_nd_s = UINT32_MAX;
}

bool nvme_sanitize_ok(const NvmeCtrl *ctrl)
{
    const NvmeSanitize *s = &ctrl->sub->sanitize;
    bool runs = nvme_erase_is_on(ctrl) && ctrl->sub->erase.sanitize;

    return s->status <= NVME_SANITIZE_DEALLOCATED && s->passes <= 31 &&
           s->failure <= NVME_SANITIZE_UNRESTRICTED &&
           (s->status == NVME_SANITIZE_RUNS) == runs &&
           (!s->failure || s->status == NVME_SANITIZE_FAILED);
}
