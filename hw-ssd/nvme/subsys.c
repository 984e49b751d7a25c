/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * subsys.c - further controllers of the NVM subsystem, secondary ones among
 * them: adding and removing one.
 *
 * Knows what a controller has for itself and what it takes over from the first
 * one; knows nothing of commands.
 */
#include "nvme-internal.h"
#include "ctrl.h"
#include "admin/lba-status.h"
#include "namespace/namespace.h"
#include "queue/request.h"
#include "admin/reset.h"
#include "admin/secondary.h"
#include "health/self-test.h"
#include "zone/zone-report.h"

#include "options.h"

static bool refuse(GError **error, uint16_t cntlid, const char *why)
{
    g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE, "controller %u: %s", cntlid,
                why);
    return false;
}

/* Places of secondary controllers are for them alone. */
static bool has_place(const NvmeSubsys *sub, uint16_t cntlid, GError **error)
{
    unsigned most = MAX(sub->first.cfg.controllers, 1) - sub->virtualization.n;
    g_autofree char *why = NULL;
    unsigned n = 0;

    NVME_FOR_EACH_CTRL(sub, c)
    {
        n += !c->secondary;
    }
    if (n < most) {
        return true;
    }
    why = g_strdup_printf("the drive has controllers=%u, and no place is free",
                          most);
    return refuse(error, cntlid, why);
}

static bool is_free(const NvmeSubsys *sub, uint16_t cntlid, GError **error)
{
    if (cntlid > 0xffef) {
        return refuse(error, cntlid, "allowed 0..65519");
    }
    if (nvme_find_ctrl(sub, cntlid)) {
        return refuse(error, cntlid, "the drive has one of that number");
    }
    return true;
}

uint16_t nvme_cntlid(const NvmeCtrl *ctrl)
{
    return ctrl->cfg.cntlid;
}

uint16_t nvme_free_cntlid(const NvmeCtrl *first, uint32_t from, uint16_t most)
{
    uint16_t id = (uint16_t)(1 + (from + most - 1) % most);

    g_assert(most > NVME_MAX_CTRLS);
    while (nvme_find_ctrl(first->sub, id)) {
        id = (uint16_t)(1 + id % most);
    }
    return id;
}

/* To the first place without a controller: the places before it are taken. */
static void link_ctrl(NvmeSubsys *sub, NvmeCtrl *ctrl)
{
    unsigned i = 0;

    while (sub->ctrl[i]) {
        i++;
    }
    ctrl->index = i;
    ctrl->next = sub->ctrl[i - 1]->next;
    sub->ctrl[i - 1]->next = ctrl;
    sub->ctrl[i] = ctrl;
    sub->n_ctrls = MAX(sub->n_ctrls, i + 1);
}

static void unlink_ctrl(NvmeSubsys *sub, NvmeCtrl *ctrl)
{
    NvmeCtrl *before = &sub->first;

    while (before->next != ctrl) {
        before = before->next;
    }
    before->next = ctrl->next;
    sub->ctrl[ctrl->index] = NULL;
    while (!sub->ctrl[sub->n_ctrls - 1]) {
        sub->n_ctrls--;
    }
}

static void take_over(NvmeCtrl *ctrl, const NvmeCtrl *first)
{
    const unsigned *private = first->sub->virtualization.private;

    ctrl->cfg = first->cfg; /* but for what the host gave the first one */
    ctrl->cfg.n_queues = private[NVME_RESOURCE_VQ] - 1;
    ctrl->cfg.n_vectors = private[NVME_RESOURCE_VI];
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

static NvmeCtrl *add(NvmeSubsys *sub, const NvmeMachine *machine, void *opaque,
                     uint16_t cntlid)
{
    NvmeCtrl *ctrl = g_new0(NvmeCtrl, 1);

    ctrl->sub = sub;
    nvme_ctrl_init(ctrl, machine, opaque);
    take_over(ctrl, &sub->first);
    ctrl->cfg.cntlid = cntlid;
    link_ctrl(sub, ctrl);
    nvme_clear_changed_zones(ctrl); /* those of one that had its place */
    attach_all(ctrl);
    nvme_reset(ctrl, sub->now_ns);
    return ctrl;
}

NvmeCtrl *nvme_add_controller(NvmeCtrl *first, const NvmeMachine *machine,
                              void *opaque, uint16_t cntlid, GError **error)
{
    NvmeSubsys *sub = first->sub;

    if (!is_free(sub, cntlid, error) || !has_place(sub, cntlid, error)) {
        return NULL;
    }
    return add(sub, machine, opaque, cntlid);
}

NvmeCtrl *nvme_add_secondary(NvmeCtrl *first, const NvmeMachine *machine,
                             void *opaque, uint16_t cntlid, uint16_t vfn,
                             GError **error)
{
    NvmeSubsys *sub = first->sub;
    NvmeSecondary *s = nvme_secondary_of_vf(sub, vfn);

    g_assert(!s->ctrl);
    if (!is_free(sub, cntlid, error)) {
        return NULL;
    }
    s->ctrl = add(sub, machine, opaque, cntlid);
    s->ctrl->secondary = s;
    nvme_secondary_release(s);
    return s->ctrl;
}

void nvme_secondary_enable(NvmeCtrl *ctrl, uint64_t now_ns, bool on)
{
    ctrl->sub->now_ns = MAX(now_ns, ctrl->sub->now_ns);
    ctrl->secondary->there = on;
    if (!on) {
        nvme_secondary_offline(ctrl->secondary);
    }
}

unsigned nvme_vectors(const NvmeCtrl *ctrl)
{
    return MAX(ctrl->cfg.n_vectors, 1);
}

unsigned nvme_primary_most_vectors(const NvmeCtrl *first)
{
    return first->sub->virtualization.private[NVME_RESOURCE_VI] +
           nvme_primary_most(first->sub, NVME_RESOURCE_VI);
}

unsigned nvme_secondary_most_vectors(const NvmeCtrl *first)
{
    return first->sub->virtualization.most[NVME_RESOURCE_VI];
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
    unlink_ctrl(sub, ctrl);
    sub->next_ctrl %= sub->n_ctrls;
    sub->more = true;
    if (ctrl->secondary) {
        *ctrl->secondary = (NvmeSecondary){0};
    }
    g_free(ctrl);
}
