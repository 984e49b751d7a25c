/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmr.c - the persistent memory region (Base 2.0, sections 3.1.3.20 to 3.1.3.26
 * and 8.14): memory of the drive that keeps its content without power.
 *
 * The host writes it through a BAR.  A read of PMRSTS (PMRCAP.PMRWBM bit 1) is
 * the barrier: all writes before it are then persistent, also against the end
 * of the host machine, as the machine has its file write them.  If that fails,
 * PMRSTS says so until the region is disabled.
 *
 * With PMRMSC the host tells the controller the address, so that commands may
 * have data there.  PMRCTL and PMRMSC survive a reset by CC.EN.
 */
#include "nvme-internal.h"
#include "memory/pmr.h"
#include "memory/window.h"

#include <inttypes.h>

#include "options.h"

#define PMR_BAR 4
#define PMR_MIN (64ULL << 10)
#define PMR_MAX (1ULL << 40)

#define CAP_RDS       (1U << 3)
#define CAP_WDS       (1U << 4)
#define CAP_BIR_SHIFT 5
#define CAP_WBM_STS   (1U << 11) /* PMRWBM bit 1: a read of PMRSTS */
#define CAP_PMRTO     (1U << 16) /* ready within one unit, of 500 ms */
#define CAP_CMSS      (1U << 24)

#define CTL_EN 0x1U

#define STS_ERR             0x1U
#define STS_NRDY            (1U << 8)
#define STS_HSTS_UNRELIABLE (3U << 9)
#define STS_CBAI            (1U << 12)

#define MSC_CMSE 0x2U
#define MSC_CBA  (~0xfffULL)

bool nvme_pmr_check_config(const NvmeConfig *cfg, GError **error)
{
    uint64_t n = cfg->pmr_bytes;

    if (n && (n < PMR_MIN || n > PMR_MAX || n & (n - 1))) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                    "pmr: size=%" PRIu64 ": allowed 64K..1T, a power of two",
                    n);
        return false;
    }
    return true;
}

void nvme_pmr_init(NvmeCtrl *ctrl)
{
    if (ctrl->cfg.pmr_bytes) {
        ctrl->window[NVME_AT_PMR] = (NvmeWindow){
            .mem = ctrl->cfg.pmr,
            .bytes = ctrl->cfg.pmr_bytes,
            .bar = PMR_BAR,
        };
    }
}

uint64_t nvme_pmr_cap(const NvmeCtrl *ctrl)
{
    return nvme_has_pmr(ctrl) ? 1ULL << 56 : 0;
}

/* ---- registers ----------------------------------------------------------- */

static void apply(NvmeCtrl *ctrl)
{
    const NvmePmr *p = &ctrl->pmr;

    if (p->ctl & CTL_EN && p->msc & MSC_CMSE) {
        nvme_window_open(ctrl, NVME_AT_PMR, p->msc & MSC_CBA);
    } else {
        nvme_window_close(ctrl, NVME_AT_PMR);
    }
    nvme_window_show(ctrl, NVME_AT_PMR, ctrl->sub->powered && p->ctl & CTL_EN);
}

/* The barrier. */
static uint32_t read_status(NvmeCtrl *ctrl)
{
    NvmePmr *p = &ctrl->pmr;
    bool bad_base = p->msc & MSC_CMSE && !ctrl->window[NVME_AT_PMR].on;

    if (!(p->ctl & CTL_EN)) {
        return STS_NRDY;
    }
    if (!ctrl->machine->pmr_sync(ctrl->opaque)) {
        p->failed = true;
    }
    return (p->failed ? STS_ERR | STS_HSTS_UNRELIABLE : 0) |
           (bad_base ? STS_CBAI : 0);
}

uint32_t nvme_pmr_reg_read(NvmeCtrl *ctrl, uint64_t offset)
{
    if (!nvme_has_pmr(ctrl)) {
        return 0;
    }
    switch (offset) {
    case NVME_REG_PMRCAP:
        return CAP_RDS | CAP_WDS | PMR_BAR << CAP_BIR_SHIFT | CAP_WBM_STS |
               CAP_PMRTO | CAP_CMSS;
    case NVME_REG_PMRCTL:
        return ctrl->pmr.ctl;
    case NVME_REG_PMRSTS:
        return read_status(ctrl);
    case NVME_REG_PMRMSCL:
        return (uint32_t)ctrl->pmr.msc;
    case NVME_REG_PMRMSCU:
        return ctrl->pmr.msc >> 32;
    default: /* PMREBS, PMRSWTP: not reported */
        return 0;
    }
}

void nvme_pmr_reg_write(NvmeCtrl *ctrl, uint64_t offset, uint32_t value)
{
    NvmePmr *p = &ctrl->pmr;

    if (!nvme_has_pmr(ctrl)) {
        return;
    }
    switch (offset) {
    case NVME_REG_PMRCTL:
        p->ctl = value & CTL_EN;
        p->failed &= p->ctl != 0;
        break;
    case NVME_REG_PMRMSCL:
        p->msc = (p->msc & ~0xffffffffULL) | value;
        break;
    case NVME_REG_PMRMSCU:
        p->msc = (p->msc & 0xffffffffULL) | (uint64_t)value << 32;
        break;
    default:
        return;
    }
    p->msc &= MSC_CBA | MSC_CMSE;
    apply(ctrl);
}

void nvme_pmr_reset(NvmeCtrl *ctrl)
{
    if (nvme_has_pmr(ctrl)) {
        ctrl->pmr = (NvmePmr){.ctl = 0};
        apply(ctrl);
    }
}

void nvme_pmr_loaded(NvmeCtrl *ctrl)
{
    if (nvme_has_pmr(ctrl)) {
        ctrl->pmr.ctl &= CTL_EN;
        ctrl->pmr.msc &= MSC_CBA | MSC_CMSE;
        apply(ctrl);
    }
}
