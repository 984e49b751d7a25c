/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * secondary.c - secondary controllers and the flexible resources of their
 * primary (Base 2.1, 8.2.6, Virtualization Enhancements): who has how many, and
 * what Identify says of it.
 *
 * A VQ resource is a submission and a completion queue, the admin queues
 * included; a VI resource is an interrupt vector.  The queues and vectors of
 * the configuration are private resources of the primary.  The flexible ones
 * come in addition: each is the primary's, a secondary's, or free.
 *
 * Knows numbers; knows nothing of commands, and resets nothing.
 */
#include "nvme-internal.h"
#include "admin/secondary.h"

#include "options.h"

#define MOST_SECONDARIES (NVME_MAX_CTRLS - 1)

/* Resources of a controller that can use all its queues and vectors. */
static const uint16_t most_used[NVME_RESOURCES] = {
    [NVME_RESOURCE_VQ] = NVME_MAX_QUEUES,
    [NVME_RESOURCE_VI] = NVME_MAX_VECTORS,
};

/* Resources that a secondary needs: the admin queues and a pair for I/O; vector
 * 0. */
static const uint16_t least[NVME_RESOURCES] = {
    [NVME_RESOURCE_VQ] = 2,
    [NVME_RESOURCE_VI] = 1,
};

/* ---- configuration ------------------------------------------------------ */

typedef struct Wanted {
    const char *name[2]; /* of the options: in all, of one secondary */
    unsigned flexible;
    unsigned most;
} Wanted;

static Wanted wanted_of(const NvmeConfig *cfg, unsigned type)
{
    if (type == NVME_RESOURCE_VQ) {
        return (Wanted){{"sriov_vq_flexible", "sriov_vq_per_vf"},
                        cfg->vq_flexible,
                        cfg->vq_per_secondary};
    }
    return (Wanted){{"sriov_vi_flexible", "sriov_vi_per_vf"},
                    cfg->vi_flexible,
                    cfg->vi_per_secondary};
}

/* The options, or what they are by default: each secondary may have as many as
 * the primary. */
static void resources_of(const NvmeConfig *cfg, unsigned type,
                         unsigned *flexible, unsigned *most)
{
    Wanted w = wanted_of(cfg, type);
    unsigned own =
        type == NVME_RESOURCE_VQ ? cfg->n_queues + 1 : cfg->n_vectors;

    *most = w.most ? w.most : MAX(own, least[type]);
    *flexible = w.flexible ? w.flexible : cfg->secondaries * *most;
    if (!w.most) {
        *most = MIN(*most, *flexible);
    }
}

static bool check(const char *name, unsigned v, unsigned min, unsigned max,
                  GError **error)
{
    if (v < min || v > max) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE, "%s=%u: allowed %u..%u",
                    name, v, min, max);
        return false;
    }
    return true;
}

static bool check_type(const NvmeConfig *cfg, unsigned type, GError **error)
{
    Wanted w = wanted_of(cfg, type);
    unsigned flexible, most;

    if (!cfg->secondaries && (w.flexible || w.most)) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_COMBINATION,
                    "%s=%u: needs sriov_vfs", w.name[w.most > 0],
                    w.most ? w.most : w.flexible);
        return false;
    }
    if ((w.most &&
         !check(w.name[1], w.most, least[type], most_used[type], error)) ||
        (w.flexible && !check(w.name[0], w.flexible, least[type],
                              MOST_SECONDARIES * most_used[type], error))) {
        return false;
    }
    resources_of(cfg, type, &flexible, &most);
    if (most > flexible) {
        g_set_error(error, OPT_ERROR, OPT_ERROR_COMBINATION,
                    "%s=%u: more than %s=%u", w.name[1], most, w.name[0],
                    flexible);
        return false;
    }
    return true;
}

bool nvme_secondaries_ok(const NvmeConfig *cfg, GError **error)
{
    unsigned others = MAX(cfg->controllers, 1);

    return check("sriov_vfs", cfg->secondaries, 0, NVME_MAX_CTRLS - others,
                 error) &&
           check_type(cfg, NVME_RESOURCE_VQ, error) &&
           check_type(cfg, NVME_RESOURCE_VI, error);
}

void nvme_secondaries_init(NvmeCtrl *first)
{
    NvmeVirtualization *v = &first->sub->virtualization;

    v->n = first->cfg.secondaries;
    v->private[NVME_RESOURCE_VQ] = first->cfg.n_queues + 1;
    v->private[NVME_RESOURCE_VI] = first->cfg.n_vectors;
    for (unsigned type = 0; v->n && type < NVME_RESOURCES; type++) {
        resources_of(&first->cfg, type, &v->flexible[type], &v->most[type]);
    }
}

/* ---- secondary controllers ---------------------------------------------- */

NvmeSecondary *nvme_secondary_of_vf(NvmeSubsys *sub, uint16_t vfn)
{
    g_assert(vfn >= 1 && vfn <= sub->virtualization.n);
    return &sub->virtualization.secondary[vfn - 1];
}

NvmeSecondary *nvme_secondary_find(NvmeSubsys *sub, uint16_t cntlid)
{
    for (unsigned i = 0; i < sub->virtualization.n; i++) {
        NvmeSecondary *s = &sub->virtualization.secondary[i];

        if (s->ctrl && s->ctrl->cfg.cntlid == cntlid) {
            return s;
        }
    }
    return NULL;
}

bool nvme_secondary_ready(const NvmeSecondary *s)
{
    bool enough = true;

    for (unsigned type = 0; type < NVME_RESOURCES; type++) {
        enough &= s->assigned[type] >= least[type];
    }
    return enough && s->there;
}

void nvme_secondary_release(NvmeSecondary *s)
{
    memset(s->assigned, 0, sizeof(s->assigned));
    if (s->ctrl) {
        s->ctrl->cfg.n_queues = 0;
        s->ctrl->cfg.n_vectors = 0;
    }
}

void nvme_secondary_use(NvmeSecondary *s)
{
    s->ctrl->cfg.n_queues = s->assigned[NVME_RESOURCE_VQ] - 1;
    s->ctrl->cfg.n_vectors = s->assigned[NVME_RESOURCE_VI];
}

/* ---- accounting --------------------------------------------------------- */

unsigned nvme_secondaries_assigned(const NvmeSubsys *sub, unsigned type)
{
    unsigned n = 0;

    for (unsigned i = 0; i < sub->virtualization.n; i++) {
        n += sub->virtualization.secondary[i].assigned[type];
    }
    return n;
}

unsigned nvme_resources_free(const NvmeSubsys *sub, unsigned type)
{
    const NvmeVirtualization *v = &sub->virtualization;
    unsigned used = v->primary[type] + nvme_secondaries_assigned(sub, type);

    g_assert(used <= v->flexible[type]);
    return v->flexible[type] - used;
}

unsigned nvme_primary_most(const NvmeSubsys *sub, unsigned type)
{
    const NvmeVirtualization *v = &sub->virtualization;

    return MIN(v->flexible[type], most_used[type] - v->private[type]);
}

void nvme_primary_apply(NvmeSubsys *sub)
{
    NvmeVirtualization *v = &sub->virtualization;

    if (v->n) {
        memcpy(v->primary, v->wanted, sizeof(v->primary));
        sub->first.cfg.n_queues =
            v->private[NVME_RESOURCE_VQ] + v->primary[NVME_RESOURCE_VQ] - 1;
        sub->first.cfg.n_vectors =
            v->private[NVME_RESOURCE_VI] + v->primary[NVME_RESOURCE_VI];
    }
}

/* ---- Identify ----------------------------------------------------------- */

static void put_resources(const NvmeSubsys *sub, unsigned type,
                          NvmeIdResources *r)
{
    const NvmeVirtualization *v = &sub->virtualization;

    r->total = nvme_le32(v->flexible[type]);
    r->assigned = nvme_le32(nvme_secondaries_assigned(sub, type));
    r->primary = nvme_le16(v->primary[type]);
    r->private = nvme_le16(v->private[type]);
    r->most = nvme_le16(v->most[type]);
    r->granularity = nvme_le16(1);
}

uint16_t nvme_identify_primary(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                               void *data)
{
    NvmeIdPrimary *id = data;

    if (!nvme_is_primary(ctrl)) {
        return NVME_SC_INVALID_FIELD;
    }
    id->cntlid = nvme_le16(ctrl->cfg.cntlid);
    id->crt = 1 << NVME_RESOURCE_VQ | 1 << NVME_RESOURCE_VI;
    put_resources(ctrl->sub, NVME_RESOURCE_VQ, &id->vq);
    put_resources(ctrl->sub, NVME_RESOURCE_VI, &id->vi);
    return 0;
}

/* The secondary with the lowest identifier from `from` on; NULL: none. */
static const NvmeSecondary *next_secondary(const NvmeSubsys *sub, uint32_t from)
{
    const NvmeSecondary *next = NULL;

    for (unsigned i = 0; i < sub->virtualization.n; i++) {
        const NvmeSecondary *s = &sub->virtualization.secondary[i];

        if (s->ctrl && s->ctrl->cfg.cntlid >= from &&
            (!next || s->ctrl->cfg.cntlid < next->ctrl->cfg.cntlid)) {
            next = s;
        }
    }
    return next;
}

/* From the identifier in CNTID on. */
uint16_t nvme_identify_secondaries(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                   void *data)
{
    const NvmeVirtualization *v = &ctrl->sub->virtualization;
    NvmeSecondaryList *list = data;
    const NvmeSecondary *s;
    uint32_t from = sqe->dw[10] >> 16;

    if (!nvme_is_primary(ctrl)) {
        return NVME_SC_INVALID_FIELD;
    }
    while ((s = next_secondary(ctrl->sub, from))) {
        list->entry[list->n++] = (NvmeSecondaryEntry){
            .scid = nvme_le16(s->ctrl->cfg.cntlid),
            .pcid = nvme_le16(ctrl->cfg.cntlid),
            .scs = s->online,
            .vfn = nvme_le16((uint16_t)(s - v->secondary + 1)),
            .nvq = nvme_le16(s->assigned[NVME_RESOURCE_VQ]),
            .nvi = nvme_le16(s->assigned[NVME_RESOURCE_VI]),
        };
        from = s->ctrl->cfg.cntlid + 1;
    }
    return 0;
}
