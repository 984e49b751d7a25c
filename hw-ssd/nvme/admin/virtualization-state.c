/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virtualization-state.c - who has which flexible resources, in a saved
 * controller; and those that the host has allocated to the primary controller,
 * as a stream of bytes beside a saved drive, and back.
 *
 * A stream may be forged: all is checked before the controller may use it.
 */
#include "nvme-internal.h"
#include "kept-parts.h"
#include "admin/secondary.h"

#include "state.h"

/* ---- in a saved controller ----------------------------------------------- */

void nvme_secondary_get(const NvmeCtrl *ctrl, NvmeSecondaryState *to)
{
    const NvmeVirtualization *v = &ctrl->sub->virtualization;
    const NvmeSecondary *s = ctrl->secondary;

    *to = (NvmeSecondaryState){.vfn = 0};
    if (s) {
        to->vfn = (uint64_t)(s - v->secondary) + 1;
        to->there = s->there;
        to->online = s->online;
        for (unsigned type = 0; type < NVME_RESOURCES; type++) {
            to->assigned[type] = s->assigned[type];
        }
    }
}

/* They are put one after the other: those that were put count already. */
static bool fits(const NvmeSubsys *sub, const NvmeSecondaryState *from)
{
    for (unsigned type = 0; type < NVME_RESOURCES; type++) {
        if (from->assigned[type] > sub->virtualization.most[type] ||
            from->assigned[type] > nvme_resources_free(sub, type)) {
            return false;
        }
    }
    return from->there <= 1 && from->online <= from->there;
}

bool nvme_secondary_put(NvmeCtrl *ctrl, const NvmeSecondaryState *from)
{
    NvmeVirtualization *v = &ctrl->sub->virtualization;
    NvmeSecondary *s = ctrl->secondary;

    if (!s || from->vfn != (uint64_t)(s - v->secondary) + 1) {
        return !s && !from->vfn;
    }
    nvme_secondary_release(s);
    if (!fits(ctrl->sub, from)) {
        return false;
    }
    for (unsigned type = 0; type < NVME_RESOURCES; type++) {
        s->assigned[type] = (uint16_t)from->assigned[type];
    }
    s->there = from->there;
    s->online = from->online;
    if (s->online && !nvme_secondary_ready(s)) {
        return false;
    }
    if (s->online) {
        nvme_secondary_use(s);
    }
    return true;
}

bool nvme_primary_loaded(NvmeSubsys *sub)
{
    NvmeVirtualization *v = &sub->virtualization;
    unsigned wanted[NVME_RESOURCES];

    for (unsigned type = 0; type < NVME_RESOURCES; type++) {
        unsigned most = v->n ? nvme_primary_most(sub, type) : 0;

        if (v->primary[type] > most || v->wanted[type] > most) {
            memset(v->primary, 0, sizeof(v->primary));
            memset(v->wanted, 0, sizeof(v->wanted));
            return false;
        }
    }
    memcpy(wanted, v->wanted, sizeof(wanted));
    memcpy(v->wanted, v->primary, sizeof(wanted));
    nvme_primary_apply(sub);
    memcpy(v->wanted, wanted, sizeof(wanted));
    return true;
}

/* ---- beside a saved drive ------------------------------------------------ */

bool nvme_has_primary_resources(const NvmeCtrl *ctrl)
{
    const NvmeVirtualization *v = &ctrl->sub->virtualization;

    return v->wanted[NVME_RESOURCE_VQ] || v->wanted[NVME_RESOURCE_VI];
}

static bool walk(State *s, uint64_t *wanted)
{
    if (!state_signature(s, KEPT_RESOURCES,
                         "it says nothing of flexible resources")) {
        return false;
    }
    for (unsigned type = 0; type < NVME_RESOURCES; type++) {
        state_u64(s, &wanted[type]);
    }
    return !s->error;
}

bool nvme_save_primary_resources(const NvmeCtrl *ctrl, FILE *out,
                                 GError **error)
{
    const NvmeVirtualization *v = &ctrl->sub->virtualization;
    uint64_t wanted[NVME_RESOURCES];
    State s;

    for (unsigned type = 0; type < NVME_RESOURCES; type++) {
        wanted[type] = v->wanted[type];
    }
    state_begin(&s, out, false);
    walk(&s, wanted);
    return state_end(&s, error);
}

/* The power has been off. */
bool nvme_load_primary_resources(NvmeCtrl *ctrl, FILE *in, GError **error)
{
    NvmeVirtualization *v = &ctrl->sub->virtualization;
    uint64_t wanted[NVME_RESOURCES] = {0};
    State s;

    if (!v->n) {
        g_set_error_literal(error, STATE_ERROR, 0,
                            "its drive has secondary controllers: give "
                            "sriov_vfs=");
        return false;
    }
    state_begin(&s, in, true);
    s.more = true;
    walk(&s, wanted);
    for (unsigned type = 0; !s.error && type < NVME_RESOURCES; type++) {
        if (wanted[type] > nvme_primary_most(ctrl->sub, type)) {
            state_fail(&s, "it is damaged, or of a drive with more flexible "
                           "resources");
        }
    }
    if (!state_end(&s, error)) {
        return false;
    }
    for (unsigned type = 0; type < NVME_RESOURCES; type++) {
        v->wanted[type] = (unsigned)wanted[type];
    }
    nvme_primary_apply(ctrl->sub);
    return true;
}
