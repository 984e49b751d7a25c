/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virtualization.c - Virtualization Management (Base 2.1, 5.2.6): the host
 * distributes the flexible resources of a primary controller, and puts its
 * secondary controllers Online and Offline.
 *
 * Knows the actions and their errors; secondary.c knows who has what, reset.c
 * what a change of state resets.
 */
#include "nvme-internal.h"
#include "admin/reset.h"
#include "admin/secondary.h"
#include "admin/virtualization.h"

/* Dwords 10 and 11. */
typedef struct Action {
    uint16_t cntlid;
    unsigned type; /* of the resources */
    unsigned n;    /* of them */
} Action;

/*
 * Resources of a type that the controller has not are "a range of controller
 * resources that does not exist", as are those that others use.  most: that one
 * controller may have; available: those that it has, and free ones.
 */
static uint16_t check_resources(const Action *a, unsigned most,
                                unsigned available)
{
    if (a->n > most) {
        return NVME_SC_RESOURCE_COUNT;
    }
    return a->n > available ? NVME_SC_RESOURCE_ID : 0;
}

/* From the next reset on that is not by CC.EN; kept without power. */
static uint16_t allocate_primary(NvmeSubsys *sub, NvmeRequest *req,
                                 const Action *a)
{
    NvmeVirtualization *v = &sub->virtualization;
    uint16_t status;

    if (a->cntlid != sub->first.cfg.cntlid) {
        return NVME_SC_CONTROLLER_ID;
    }
    if (a->type >= NVME_RESOURCES) {
        return NVME_SC_RESOURCE_ID;
    }
    status = check_resources(a, nvme_primary_most(sub, a->type),
                             v->primary[a->type] +
                                 nvme_resources_free(sub, a->type));
    if (!status) {
        v->wanted[a->type] = a->n;
        req->dw0 = a->n;
    }
    return status;
}

static uint16_t assign(NvmeSubsys *sub, NvmeRequest *req, const Action *a)
{
    NvmeSecondary *s = nvme_secondary_find(sub, a->cntlid);
    uint16_t status;

    if (!s) {
        return NVME_SC_CONTROLLER_ID;
    }
    if (a->type >= NVME_RESOURCES) {
        return NVME_SC_RESOURCE_ID;
    }
    if (s->online) {
        return NVME_SC_SECONDARY_STATE;
    }
    status = check_resources(a, sub->virtualization.most[a->type],
                             s->assigned[a->type] +
                                 nvme_resources_free(sub, a->type));
    if (!status) {
        s->assigned[a->type] = a->n;
        req->dw0 = a->n;
    }
    return status;
}

static uint16_t go_offline(NvmeSubsys *sub, NvmeRequest *req, const Action *a)
{
    NvmeSecondary *s = nvme_secondary_find(sub, a->cntlid);

    if (!s) {
        return NVME_SC_CONTROLLER_ID;
    }
    nvme_secondary_offline(s);
    return 0;
}

/* The command may come while the primary is being shut down. */
static uint16_t go_online(NvmeSubsys *sub, NvmeRequest *req, const Action *a)
{
    NvmeSecondary *s = nvme_secondary_find(sub, a->cntlid);

    if (!s) {
        return NVME_SC_CONTROLLER_ID;
    }
    if (!s->online && (!nvme_secondary_ready(s) ||
                       sub->first.regs.csts & NVME_CSTS_SHST_MASK)) {
        return NVME_SC_SECONDARY_STATE;
    }
    nvme_secondary_online(s);
    return 0;
}

uint16_t nvme_virtualization_management(NvmeCtrl *ctrl, NvmeRequest *req,
                                        const NvmeSqe *sqe)
{
    static uint16_t (*const actions[16])(NvmeSubsys *, NvmeRequest *,
                                         const Action *) = {
        [0x1] = allocate_primary,
        [0x7] = go_offline,
        [0x8] = assign,
        [0x9] = go_online,
    };
    Action a = {
        .cntlid = sqe->dw[10] >> 16,
        .type = sqe->dw[10] >> 8 & 7,
        .n = sqe->dw[11] & 0xffff,
    };
    unsigned act = sqe->dw[10] & 0xf;

    return actions[act] ? actions[act](ctrl->sub, req, &a)
                        : NVME_SC_INVALID_FIELD;
}
