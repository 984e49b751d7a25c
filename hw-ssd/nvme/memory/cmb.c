/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmb.c - the controller memory buffer (Base 2.0, sections 3.1.3.11 to 3.1.3.16
 * and 8.5): memory of the drive that the host writes through a BAR, for queues,
 * lists and data.
 *
 * With CAP.CMBS the host first enables the registers (CMBMSC.CRE), then tells
 * the controller its address (CBA, CMSE).  Before NVMe 1.4 there was no
 * CMBMSC: the buffer is always on, at the address of the BAR.
 *
 * CMBMSC survives a reset by CC.EN, but no other.  The content survives every
 * reset, and is lost with the power.
 *
 * Knows registers and places; knows nothing of commands.
 */
#include "nvme-internal.h"
#include "memory/cmb.h"
#include "memory/window.h"

#include <inttypes.h>

#include "options.h"

#define CMB_BAR 2
#define CMB_MIN (1ULL << 20)
#define CMB_MAX (1ULL << 30)

#define UNIT_SHIFT 12 /* CMBSZ.SZU 0: units of 4 KiB */

/* Low half of CMBMSC. */
#define MSC_CRE  0x1U
#define MSC_CMSE 0x2U
#define MSC_CBA  (~0xfffULL)

#define STS_CBAI 0x1U

/* CMBLOC: data pointers and commands may be in different places.  Clear are:
 * queues, lists or data in both kinds of memory (CQMMS, CDPMLS, CDMMMS). */
#define LOC_CDPCILS 0x40U

static const struct {
    const char *name;
    uint8_t bit; /* of CMBSZ */
} uses[] = {
    {"sqs", NVME_CMB_SQS}, {"cqs", NVME_CMB_CQS}, {"lists", NVME_CMB_LISTS},
    {"rds", NVME_CMB_RDS}, {"wds", NVME_CMB_WDS},
};

/* ---- configuration ------------------------------------------------------- */

/* sqs+cqs+lists+rds+wds, in any order; 0: it is none of these. */
static uint8_t parse_uses(const char *text)
{
    g_auto(GStrv) word = g_strsplit(text, "+", -1);
    uint8_t bits = 0;

    for (unsigned i = 0; word[i]; i++) {
        uint8_t bit = 0;

        for (unsigned k = 0; k < G_N_ELEMENTS(uses); k++) {
            bit |= g_str_equal(word[i], uses[k].name) ? uses[k].bit : 0;
        }
        if (!bit || bits & bit) {
            return 0;
        }
        bits |= bit;
    }
    return bits;
}

static bool is_power_of_two(uint64_t v)
{
    return v && !(v & (v - 1));
}

bool nvme_cmb_check_config(const NvmeConfig *cfg, GError **error)
{
    if (cfg->cmb_bytes &&
        (cfg->cmb_bytes < CMB_MIN || cfg->cmb_bytes > CMB_MAX ||
         !is_power_of_two(cfg->cmb_bytes))) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                    "cmb=%" PRIu64 ": allowed 1M..1G, a power of two",
                    cfg->cmb_bytes);
        return false;
    }
    if (cfg->cmb_uses && !cfg->cmb_bytes) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                    "cmb_uses=%s: it needs cmb=SIZE", cfg->cmb_uses);
        return false;
    }
    if (cfg->cmb_legacy && !cfg->cmb_bytes) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                    "legacy_cmb=on: it needs cmb=SIZE");
        return false;
    }
    if (cfg->cmb_uses && !parse_uses(cfg->cmb_uses)) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                    "cmb_uses=%s: allowed are some of sqs+cqs+lists+rds+wds, "
                    "each once",
                    cfg->cmb_uses);
        return false;
    }
    return true;
}

void nvme_cmb_init(NvmeCtrl *ctrl)
{
    const NvmeConfig *cfg = &ctrl->cfg;
    NvmeWindow *w = &ctrl->window[NVME_AT_CMB];

    if (!cfg->cmb_bytes) {
        return;
    }
    *w = (NvmeWindow){
        .mem = cfg->cmb,
        .bytes = cfg->cmb_bytes,
        .bar = CMB_BAR,
        .follows = cfg->cmb_legacy,
    };
    ctrl->cmb.uses = NVME_CMB_ALL;
    if (cfg->cmb_uses) {
        ctrl->cmb.uses = parse_uses(cfg->cmb_uses);
    }
}

/* ---- registers ----------------------------------------------------------- */

uint64_t nvme_cmb_cap(const NvmeCtrl *ctrl)
{
    return nvme_has_cmb(ctrl) && !ctrl->cfg.cmb_legacy ? 1ULL << 57 : 0;
}

/* May the host see CMBLOC and CMBSZ, and the memory? */
static bool shown(const NvmeCtrl *ctrl)
{
    return ctrl->cfg.cmb_legacy || ctrl->cmb.msc & MSC_CRE;
}

static bool used(const NvmeCtrl *ctrl)
{
    return ctrl->cfg.cmb_legacy ||
           (ctrl->cmb.msc & (MSC_CRE | MSC_CMSE)) == (MSC_CRE | MSC_CMSE);
}

/* The registers say so. */
static void apply(NvmeCtrl *ctrl)
{
    if (used(ctrl)) {
        nvme_window_open(ctrl, NVME_AT_CMB, ctrl->cmb.msc & MSC_CBA);
    } else {
        nvme_window_close(ctrl, NVME_AT_CMB);
    }
    nvme_window_show(ctrl, NVME_AT_CMB, ctrl->sub->powered && shown(ctrl));
}

uint32_t nvme_cmb_reg_read(const NvmeCtrl *ctrl, uint64_t offset)
{
    const NvmeWindow *w = &ctrl->window[NVME_AT_CMB];

    if (!w->mem) {
        return 0;
    }
    switch (offset) {
    case NVME_REG_CMBLOC:
        return shown(ctrl) ? LOC_CDPCILS | CMB_BAR : 0;
    case NVME_REG_CMBSZ:
        return shown(ctrl) ? (uint32_t)(w->bytes >> UNIT_SHIFT) << 12 |
                                 (uint32_t)ctrl->cmb.uses
                           : 0;
    case NVME_REG_CMBMSC:
        return (uint32_t)ctrl->cmb.msc;
    case NVME_REG_CMBMSC + 4:
        return ctrl->cmb.msc >> 32;
    case NVME_REG_CMBSTS:
        return used(ctrl) && !w->on ? STS_CBAI : 0;
    default: /* CMBEBS, CMBSWTP: not reported */
        return 0;
    }
}

void nvme_cmb_reg_write(NvmeCtrl *ctrl, uint64_t offset, uint32_t value)
{
    bool high = offset == NVME_REG_CMBMSC + 4;
    uint64_t kept = high ? 0xffffffffULL : ~0xffffffffULL;

    if (!nvme_cmb_cap(ctrl) || (offset != NVME_REG_CMBMSC && !high)) {
        return;
    }
    ctrl->cmb.msc = (ctrl->cmb.msc & kept) | (uint64_t)value << (high ? 32 : 0);
    ctrl->cmb.msc &= MSC_CBA | MSC_CRE | MSC_CMSE;
    apply(ctrl);
}

void nvme_cmb_reset(NvmeCtrl *ctrl)
{
    if (nvme_has_cmb(ctrl)) {
        ctrl->cmb.msc = 0;
        apply(ctrl);
    }
}

void nvme_cmb_power(NvmeCtrl *ctrl)
{
    if (nvme_has_cmb(ctrl)) {
        nvme_window_clear(ctrl, NVME_AT_CMB);
        nvme_cmb_reset(ctrl);
    }
}

void nvme_cmb_loaded(NvmeCtrl *ctrl)
{
    if (nvme_has_cmb(ctrl)) {
        ctrl->cmb.msc &= MSC_CBA | MSC_CRE | MSC_CMSE;
        apply(ctrl);
    }
}

/* ---- places -------------------------------------------------------------- */

uint16_t nvme_cmb_check_queue(const NvmeCtrl *ctrl, uint64_t addr,
                              uint64_t bytes, bool completions, bool *in_cmb)
{
    uint8_t use = completions ? NVME_CMB_CQS : NVME_CMB_SQS;
    NvmeAt where =
        ctrl->windows_on ? nvme_window_find(ctrl, addr, bytes) : NVME_AT_HOST;

    *in_cmb = where == NVME_AT_CMB;
    if (where == NVME_AT_PMR) {
        return NVME_SC_INVALID_FIELD;
    }
    return where == NVME_AT_EDGE || (*in_cmb && !(ctrl->cmb.uses & use))
               ? NVME_SC_INVALID_CMB
               : 0;
}

uint16_t nvme_cmb_check_list(const NvmeCtrl *ctrl, NvmeSg *sg, uint64_t addr,
                             uint64_t bytes)
{
    NvmeAt where;
    bool first = !sg->has_list;

    if (!ctrl->windows_on) {
        return 0;
    }
    where = nvme_window_find(ctrl, addr, bytes);
    sg->has_list = true;
    if (where == NVME_AT_PMR) {
        return NVME_SC_INVALID_FIELD;
    }
    if (where == NVME_AT_EDGE ||
        (!first && (where == NVME_AT_CMB) != sg->list_in_cmb) ||
        (where == NVME_AT_CMB && !(ctrl->cmb.uses & NVME_CMB_LISTS))) {
        return NVME_SC_INVALID_CMB;
    }
    sg->list_in_cmb = where == NVME_AT_CMB;
    return 0;
}

uint16_t nvme_cmb_check_data(const NvmeCtrl *ctrl, NvmeSg *sg, bool to_host)
{
    uint8_t use = to_host ? NVME_CMB_RDS : NVME_CMB_WDS;
    unsigned n = 0;
    unsigned in_cmb = 0;
    unsigned in_pmr = 0;

    for (unsigned i = 0; ctrl->windows_on && i < sg->n; i++) {
        const NvmeSeg *seg = &sg->seg[i];
        NvmeAt where;

        if (seg->addr == UINT64_MAX) { /* NVME_SG_NOWHERE */
            continue;
        }
        where = nvme_window_find(ctrl, seg->addr, seg->len);
        if (where == NVME_AT_EDGE) {
            return NVME_SC_INVALID_CMB;
        }
        n++;
        in_cmb += where == NVME_AT_CMB;
        in_pmr += where == NVME_AT_PMR;
    }
    if (in_cmb && (in_cmb != n || !(ctrl->cmb.uses & use))) {
        return NVME_SC_INVALID_CMB;
    }
    sg->in_drive = n && in_cmb + in_pmr == n;
    return 0;
}

uint8_t nvme_cmb_parts(const NvmeRequest *req)
{
    const NvmeSq *sq = req->sq;
    uint8_t parts = 0;

    parts |= sq && sq->in_cmb ? SSD_IN_CMB_ENTRY : 0;
    parts |= sq && sq->cq->in_cmb ? SSD_IN_CMB_COMPLETION : 0;
    parts |= req->sg.list_in_cmb ? SSD_IN_CMB_LIST : 0;
    parts |= req->sg.in_drive ? SSD_IN_CMB_DATA : 0;
    return parts;
}
