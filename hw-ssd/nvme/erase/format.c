/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * format.c - the Format NVM command (Base 2.0, Format NVM command).
 *
 * The command checks its arguments, starts a job (erase-job.c), and completes
 * with it.  Until then commands for the namespaces end with Format In Progress.
 * A reset ends the command, not the job; a power cut interrupts the job, which
 * goes on when the power is back.  The format of a namespace changes at the
 * end, at one instant.
 *
 * A User Data Erase (SES 1) erases every block of the array that holds
 * something, so data of other namespaces moves.  A drive that cannot do so, and
 * a Cryptographic Erase (SES 2), drop the map alone: no command of the host
 * leads to the old cells then, which stands for the loss of the key.
 */
#include "nvme-internal.h"
#include "erase/erase-job.h"
#include "health/events.h"
#include "erase/format.h"
#include "namespace/namespace.h"
#include "health/persistent-events.h"
#include "health/self-test.h"
#include "ssd-purge.h"
#include "ssd-report.h"
#include "queue/steps.h"

#define SES_NONE   0
#define SES_ERASE  1
#define SES_CRYPTO 2

#define FNA_CRYPTO 0x4
#define FPI_THERE  0x80

static unsigned format_of(uint32_t dw10)
{
    return (dw10 & 0xf) | (dw10 >> 12 & 3) << 4;
}

static unsigned erase_of(uint32_t dw10)
{
    return dw10 >> 9 & 7;
}

static bool in_scope(const NvmeNamespace *ns, uint32_t nsid)
{
    return ns->attached && (nsid == NVME_NSID_ALL || nsid == ns->nsid);
}

static bool any_protected(const NvmeCtrl *ctrl, uint32_t nsid)
{
    for (uint32_t i = 0; i < ctrl->sub->namespaces.n; i++) {
        const NvmeNamespace *ns = &ctrl->sub->namespaces.table[i];

        if (in_scope(ns, nsid) && ns->protect) {
            return true;
        }
    }
    return false;
}

/* DPS of the new format, from PI and PIL. */
static uint8_t protection_of(uint32_t dw10)
{
    return (uint8_t)((dw10 >> 5 & 7) | (dw10 >> 8 & 1) << 3);
}

/* MSET */
static bool is_extended(uint32_t dw10)
{
    return dw10 >> 4 & 1;
}

/* Without metadata there is no protection information, and MSET and PIL mean
 * nothing. */
static bool format_ok(const NvmeCtrl *ctrl, uint32_t dw10)
{
    NvmeFormat f;

    if (!nvme_ns_get_format(ctrl, format_of(dw10), &f)) {
        return false;
    }
    return f.protection.meta_bytes
               ? nvme_ns_check_protection(ctrl, format_of(dw10),
                                          is_extended(dw10),
                                          protection_of(dw10)) == 0
               : !(dw10 >> 5 & 7);
}

/* KV format 0 is the only one of namespaces of key-value pairs. */
static bool kv_formats_ok(const NvmeCtrl *ctrl, uint32_t nsid, uint32_t dw10)
{
    for (uint32_t i = 0; i < ctrl->sub->namespaces.n; i++) {
        const NvmeNamespace *ns = &ctrl->sub->namespaces.table[i];

        if (ns->kv && in_scope(ns, nsid) &&
            (format_of(dw10) || protection_of(dw10) || is_extended(dw10))) {
            return false;
        }
    }
    return true;
}

static uint16_t check(const NvmeCtrl *ctrl, const NvmeRequest *req,
                      uint32_t dw10)
{
    if (req->nsid != NVME_NSID_ALL && !req->ns) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    if (erase_of(dw10) > SES_CRYPTO) {
        return NVME_SC_INVALID_FIELD;
    }
    if (!format_ok(ctrl, dw10) || !kv_formats_ok(ctrl, req->nsid, dw10)) {
        return NVME_SC_INVALID_FORMAT;
    }
    if (any_protected(ctrl, req->nsid)) {
        return NVME_SC_NS_PROTECTED;
    }
    if (ctrl->sub->ns_job.req) {
        return NVME_SC_COMMAND_SEQUENCE;
    }
    return ssd_read_only(ctrl->ssd) ? NVME_SC_READ_ONLY : 0;
}

static void started(NvmeCtrl *ctrl)
{
    NvmePelFormatStart e = {
        .nsid = nvme_le32(ctrl->sub->erase.nsid),
        .fna = nvme_format_attributes(ctrl),
        .cdw10 = nvme_le32(ctrl->sub->erase.dw10),
    };

    nvme_persistent_event(ctrl, NVME_PEL_FORMAT_START, &e, sizeof(e));
}

uint16_t nvme_format(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint32_t dw10 = sqe->dw[10];
    uint16_t status = check(ctrl, req, dw10);
    NvmeEraseJob job = {
        .nsid = req->nsid,
        .format = (uint8_t)format_of(dw10),
        .purges = erase_of(dw10) == SES_ERASE && ssd_can_purge(ctrl->ssd),
        .dw10 = dw10,
    };

    if (status) {
        return status;
    }
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        nvme_self_test_end(c, NVME_DST_FORMAT);
    }
    nvme_erase_start(ctrl, &job);
    started(ctrl);
    ctrl->sub->format_req = req;
    req->pending++; /* until nvme_format_look() */
    return 0;
}

/* ---- the end ------------------------------------------------------------- */

static void apply(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                  const NvmeEraseJob *job)
{
    uint64_t nblocks = ns->nblocks;
    NvmeProtection was = ns->protection;
    uint8_t old = ns->format;

    nvme_ns_reformat(ctrl, ns, job->format, is_extended(job->dw10),
                     protection_of(job->dw10));
    nvme_ns_expect_writes(ctrl, ns, 0, ns->nblocks << ns->drive_shift,
                          SSD_WRITES_UNKNOWN);
    if (ns->format != old || ns->nblocks != nblocks ||
        ns->protection.type != was.type || ns->protection.first != was.first ||
        ns->protection.extended != was.extended) {
        nvme_notice_ns(ctrl->sub, ns->attached, ns->nsid);
    }
}

static void ended(NvmeCtrl *ctrl, const NvmeEraseJob *job)
{
    NvmePelFormatEnd e = {
        .nsid = nvme_le32(job->nsid),
        .smallest_fpi =
            job->status ? FPI_THERE | (uint8_t)(100 - job->progress / 656) : 0,
        .status = job->status != 0,
        .status_field = nvme_le32((uint32_t)job->status << 1),
    };

    nvme_persistent_event(ctrl, NVME_PEL_FORMAT_END, &e, sizeof(e));
}

bool nvme_format_look(NvmeCtrl *ctrl)
{
    NvmeEraseJob job = ctrl->sub->erase;
    NvmeRequest *req = ctrl->sub->format_req;

    if (job.phase != NVME_ERASE_ENDED || job.sanitize) {
        return false;
    }
    ctrl->sub->erase = (NvmeEraseJob){.phase = NVME_ERASE_NONE};
    for (uint32_t i = 0; !job.status && i < ctrl->sub->namespaces.n; i++) {
        const NvmeNamespace *ns = &ctrl->sub->namespaces.table[i];

        if (in_scope(ns, job.nsid)) {
            apply(ctrl, ns, &job);
        }
    }
    ended(ctrl, &job);
    ctrl->sub->format_req = NULL;
    if (req) {
        req->status = req->status ? req->status : job.status;
        nvme_request_part_done(req->ctrl, req);
    }
    return true;
}

/* ---- reports ------------------------------------------------------------- */

uint8_t nvme_format_attributes(const NvmeCtrl *ctrl)
{
    return FNA_CRYPTO;
}

uint8_t nvme_format_progress(const NvmeCtrl *ctrl, uint32_t nsid)
{
    uint32_t done;

    if (!nvme_is_formatting(ctrl, nsid)) {
        return FPI_THERE;
    }
    done = nvme_erase_progress(ctrl) * 100 / 65536;
    return (uint8_t)(FPI_THERE | (100 - MIN(done, 99)));
}
