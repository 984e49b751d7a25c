/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * subsys.c - further controllers of the NVM subsystem: adding and removing one.
 *
 * Knows what a controller has for itself and what it takes over from the first
 * one; knows nothing of commands.
 */
#include "nvme-internal.h"
#include "ctrl.h"
#include "lba-status.h"
#include "namespace.h"
#include "regs.h"
#include "request.h"
#include "self-test.h"

#include "options.h"

static bool refuse(GError **error, uint16_t cntlid, const char *why)
{
    g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE, "controller %u: %s", cntlid,
                why);
    return false;
}

static bool check(const NvmeSubsys *sub, uint16_t cntlid, GError **error)
{
    unsigned n = 0;

    if (cntlid > 0xffef) {
        return refuse(error, cntlid, "allowed 0..65519");
    }
    NVME_FOR_EACH_CTRL(sub, c)
    {
        if (c->cfg.cntlid == cntlid) {
            return refuse(error, cntlid, "the drive has one of that number");
        }
        n++;
    }
    if (n >= MAX(sub->first.cfg.controllers, 1)) {
        g_autofree char *why =
            g_strdup_printf("the drive has controllers=%u, and no place is "
                            "free",
                            MAX(sub->first.cfg.controllers, 1));

        return refuse(error, cntlid, why);
    }
    return true;
}

/* The first place without a controller. */
static unsigned free_place(NvmeSubsys *sub)
{
    unsigned i = 0;

    while (sub->ctrl[i]) {
        i++;
    }
    sub->n_ctrls = MAX(sub->n_ctrls, i + 1);
    return i;
}

static void take_over(NvmeCtrl *ctrl, const NvmeCtrl *first)
{
    ctrl->cfg = first->cfg;
    ctrl->cfg.cmb = NULL;
    ctrl->cfg.cmb_bytes = 0;
    ctrl->cfg.pmr = NULL;
    ctrl->cfg.pmr_bytes = 0;
    ctrl->ssd = first->ssd;
    ctrl->payload = first->payload;
    ctrl->block_bytes = first->block_bytes;
    ctrl->block_shift = first->block_shift;
    ctrl->unit_blocks = first->unit_blocks;
    ctrl->max_bytes = first->max_bytes;
}

static void attach_all(NvmeCtrl *ctrl)
{
    for (uint32_t i = 0; i < ctrl->sub->namespaces.n; i++) {
        NvmeNamespace *ns = &ctrl->sub->namespaces.table[i];

        if (ns->exists && ns->shared) {
            nvme_ns_attach(ctrl, ns, true);
        }
    }
}

NvmeCtrl *nvme_add_controller(NvmeCtrl *first, const NvmeMachine *machine,
                              void *opaque, uint16_t cntlid, GError **error)
{
    NvmeSubsys *sub = first->sub;
    NvmeCtrl *ctrl;

    if (!check(sub, cntlid, error)) {
        return NULL;
    }
    ctrl = g_new0(NvmeCtrl, 1);
    ctrl->sub = sub;
    ctrl->index = free_place(sub);
    nvme_ctrl_init(ctrl, machine, opaque);
    take_over(ctrl, &sub->first);
    ctrl->cfg.cntlid = cntlid;
    sub->ctrl[ctrl->index] = ctrl;
    attach_all(ctrl);
    nvme_reset(ctrl, sub->now_ns);
    return ctrl;
}

void nvme_remove_controller(NvmeCtrl *ctrl)
{
    NvmeSubsys *sub = ctrl->sub;

    g_assert(ctrl != &sub->first);
    nvme_self_test_end(ctrl, NVME_DST_ABORTED);
    nvme_lba_status_power_lost(ctrl);
    nvme_disable(ctrl);
    nvme_requests_pass(ctrl, &sub->first);
    for (uint32_t i = 0; i < sub->namespaces.n; i++) {
        nvme_ns_attach(ctrl, &sub->namespaces.table[i], false);
    }
    sub->ctrl[ctrl->index] = NULL;
    while (!sub->ctrl[sub->n_ctrls - 1]) {
        sub->n_ctrls--;
    }
    sub->next_ctrl %= sub->n_ctrls;
    sub->more = true;
    g_free(ctrl);
}
