/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fdp-handles.c - placement identifiers, and the placement handles of each
 * namespace (Base 2.1, sections 8.1.10 and 5.1.20, Namespace Management).
 *
 * A placement identifier is a reclaim group, in its RGIF most significant bits,
 * and a placement handle.  The list of the namespace makes a reclaim unit
 * handle of that; this handle of this group is one stream of the drive.
 *
 * Knows lists and numbers; knows nothing of data and commands.
 */
#include "nvme-internal.h"
#include "placement/fdp-handles.h"
#include "namespace/namespace.h"

static unsigned n_groups(const NvmeCtrl *ctrl)
{
    return ssd_info(ctrl->ssd)->groups;
}

/* ---- configurations ------------------------------------------------------ */

/* All handles, half as many, and so on to one. */
unsigned nvme_fdp_config_ruhs(const NvmeCtrl *ctrl, unsigned i)
{
    return ctrl->sub->fdp.ruhs >> i;
}

unsigned nvme_fdp_n_configs(const NvmeCtrl *ctrl)
{
    unsigned n = 1;

    while (nvme_fdp_config_ruhs(ctrl, n)) {
        n++;
    }
    return n;
}

bool nvme_fdp_on(const NvmeCtrl *ctrl)
{
    return ctrl->sub->fdp_units && !ctrl->sub->fdp_units->disabled;
}

unsigned nvme_fdp_ruhs(const NvmeCtrl *ctrl)
{
    return nvme_fdp_on(ctrl)
               ? nvme_fdp_config_ruhs(ctrl, ctrl->sub->fdp_units->config)
               : 0;
}

/* ---- identifiers --------------------------------------------------------- */

unsigned nvme_fdp_rgif(const NvmeCtrl *ctrl)
{
    unsigned bits = 0;

    while (1U << bits < n_groups(ctrl)) {
        bits++;
    }
    return bits;
}

static const NvmeFdpList *list_of(const NvmeCtrl *ctrl, const NvmeNamespace *ns)
{
    return &ctrl->sub->fdp_units->list[ns->nsid - 1];
}

unsigned nvme_fdp_n_handles(const NvmeCtrl *ctrl, const NvmeNamespace *ns)
{
    return nvme_fdp_on(ctrl) ? list_of(ctrl, ns)->n : 0;
}

unsigned nvme_fdp_handle(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                         unsigned placement)
{
    return list_of(ctrl, ns)->handle[placement];
}

bool nvme_fdp_places(const NvmeCtrl *ctrl, const NvmeNamespace *ns)
{
    return nvme_fdp_on(ctrl) && !list_of(ctrl, ns)->off;
}

void nvme_fdp_set_places(NvmeCtrl *ctrl, const NvmeNamespace *ns, bool on)
{
    ctrl->sub->fdp_units->list[ns->nsid - 1].off = !on;
}

uint16_t nvme_fdp_pid(const NvmeCtrl *ctrl, unsigned group, unsigned placement)
{
    unsigned bits = nvme_fdp_rgif(ctrl);

    return (uint16_t)(bits ? group << (16 - bits) | placement : placement);
}

bool nvme_fdp_stream(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                     uint16_t pid, uint16_t *stream)
{
    unsigned bits = nvme_fdp_rgif(ctrl);
    unsigned group = bits ? pid >> (16 - bits) : 0;
    unsigned placement = pid & ((1U << (16 - bits)) - 1);

    if (group >= n_groups(ctrl) || placement >= nvme_fdp_n_handles(ctrl, ns)) {
        return false;
    }
    *stream = (uint16_t)(group * ctrl->sub->fdp.ruhs +
                         nvme_fdp_handle(ctrl, ns, placement));
    return true;
}

bool nvme_fdp_pid_of(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                     uint32_t stream, uint16_t *pid)
{
    unsigned n = ns ? nvme_fdp_n_handles(ctrl, ns) : 0;

    for (unsigned i = 0; i < n && stream < n_groups(ctrl) * ctrl->sub->fdp.ruhs;
         i++) {
        if (nvme_fdp_handle(ctrl, ns, i) == stream % ctrl->sub->fdp.ruhs) {
            *pid = nvme_fdp_pid(ctrl, stream / ctrl->sub->fdp.ruhs, i);
            return true;
        }
    }
    return false;
}

/* ---- lists --------------------------------------------------------------- */

unsigned nvme_fdp_ruha(const NvmeCtrl *ctrl, unsigned ruh)
{
    unsigned ruha = NVME_RUHA_UNUSED;

    for (uint32_t nsid = 1; nsid <= ctrl->sub->namespaces.n; nsid++) {
        const NvmeNamespace *ns = nvme_ns_existing(ctrl, nsid);
        unsigned n = ns ? nvme_fdp_n_handles(ctrl, ns) : 0;

        for (unsigned i = 0; i < n; i++) {
            if (nvme_fdp_handle(ctrl, ns, i) == ruh) {
                if (!list_of(ctrl, ns)->of_controller) {
                    return NVME_RUHA_HOST;
                }
                ruha = NVME_RUHA_CONTROLLER;
            }
        }
    }
    return ruha;
}

/* A handle that nobody has; else one that was chosen before; else the first. */
static unsigned choose_handle(const NvmeCtrl *ctrl)
{
    static const unsigned wanted[] = {NVME_RUHA_UNUSED, NVME_RUHA_CONTROLLER};

    for (unsigned k = 0; k < G_N_ELEMENTS(wanted); k++) {
        for (unsigned ruh = 0; ruh < nvme_fdp_ruhs(ctrl); ruh++) {
            if (nvme_fdp_ruha(ctrl, ruh) == wanted[k]) {
                return ruh;
            }
        }
    }
    return 0;
}

static bool has_handle(const NvmeFdpList *list, unsigned ruh)
{
    return memchr(list->handle, (int)ruh, list->n) != NULL;
}

uint16_t nvme_fdp_take_list(NvmeCtrl *ctrl, const NvmeIdNamespace *id)
{
    NvmeNsHandles d;
    NvmeFdpList *list;
    unsigned n;

    if (!ctrl->sub->fdp_units) {
        return 0;
    }
    memcpy(&d, id, sizeof(d));
    list = &ctrl->sub->fdp_units->wanted;
    n = nvme_le16(d.nphndls);
    *list = (NvmeFdpList){.n = 0};
    if (!nvme_fdp_on(ctrl)) {
        return n ? NVME_SC_FDP_DISABLED : 0;
    }
    if (n > nvme_fdp_ruhs(ctrl)) {
        return NVME_SC_PLACEMENT_LIST;
    }
    if (n == 0) {
        list->handle[list->n++] = (uint8_t)choose_handle(ctrl);
        list->of_controller = true;
    }
    for (unsigned i = 0; i < n; i++) {
        unsigned ruh = nvme_le16(d.phndl[i]);

        if (ruh >= nvme_fdp_ruhs(ctrl) || has_handle(list, ruh) ||
            nvme_fdp_ruha(ctrl, ruh) == NVME_RUHA_CONTROLLER) {
            return NVME_SC_PLACEMENT_LIST;
        }
        list->handle[list->n++] = (uint8_t)ruh;
    }
    return 0;
}

void nvme_fdp_give_list(NvmeCtrl *ctrl, uint32_t nsid)
{
    if (ctrl->sub->fdp_units) {
        ctrl->sub->fdp_units->list[nsid - 1] = ctrl->sub->fdp_units->wanted;
    }
}

void nvme_fdp_init(NvmeCtrl *ctrl)
{
    const SsdInfo *info = ssd_info(ctrl->ssd);

    ctrl->sub->fdp = (NvmeFdp){.ruhs = info->ruhs};
    if (!info->ruhs) {
        return;
    }
    if (!ctrl->sub->fdp_units) {
        ctrl->sub->fdp_units = g_new0(NvmeFdpUnits, 1);
    }
    *ctrl->sub->fdp_units = (NvmeFdpUnits){.config = 0};
    for (unsigned i = 0; i < NVME_MAX_NAMESPACES; i++) {
        NvmeFdpList *list = &ctrl->sub->fdp_units->list[i];
        uint16_t handle[NVME_MAX_RUHS];

        list->n = (uint8_t)ssd_placement_handles(ctrl->ssd, i, handle);
        for (unsigned k = 0; k < list->n; k++) {
            list->handle[k] = (uint8_t)handle[k];
        }
    }
}

void nvme_fdp_free(NvmeCtrl *ctrl)
{
    g_free(ctrl->sub->fdp_units);
}

/* ---- loading ------------------------------------------------------------- */

static bool list_ok(const NvmeCtrl *ctrl, const NvmeFdpList *list)
{
    if (list->n > ctrl->sub->fdp.ruhs || list->off > 1 ||
        list->of_controller > 1) {
        return false;
    }
    for (unsigned k = 0; k < list->n; k++) {
        if (list->handle[k] >= ctrl->sub->fdp.ruhs) {
            return false;
        }
    }
    return true;
}

bool nvme_fdp_units_ok(const NvmeCtrl *ctrl)
{
    const NvmeFdpUnits *u = ctrl->sub->fdp_units;
    bool good = true;

    if (!u) {
        return true;
    }
    for (unsigned i = 0; i < NVME_MAX_NAMESPACES; i++) {
        good &= list_ok(ctrl, &u->list[i]);
    }
    for (unsigned i = 0; i < NVME_MAX_RUHS; i++) {
        good &= u->began_ns[i] <= ctrl->sub->now_ns;
    }
    return good && list_ok(ctrl, &u->wanted) && u->disabled <= 1 &&
           u->config < nvme_fdp_n_configs(ctrl);
}
