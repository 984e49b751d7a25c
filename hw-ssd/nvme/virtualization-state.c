/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virtualization-state.c - the flexible resources that the host has allocated
 * to the primary controller, as a stream of bytes beside a saved drive, and
 * back.
 *
 * A stream may be forged: all is checked before the controller may use it.
 */
#include "nvme-internal.h"
#include "secondary.h"

#include "state.h"

#define MAGIC "VSSDVIR\0"

bool nvme_has_primary_resources(const NvmeCtrl *ctrl)
{
    const NvmeVirtualization *v = &ctrl->sub->virtualization;

    return v->wanted[NVME_RESOURCE_VQ] || v->wanted[NVME_RESOURCE_VI];
}

static bool walk(State *s, uint64_t *wanted)
{
    char magic[8];

    memcpy(magic, MAGIC, sizeof(magic));
    if (!state_bytes(s, magic, sizeof(magic))) {
        return false;
    }
    if (memcmp(magic, MAGIC, sizeof(magic)) != 0) {
        return state_fail(s, "it says nothing of flexible resources");
    }
    if (!state_version(s)) {
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
