/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * secondary.h - secondary controllers and the flexible resources of their
 * primary (Base 2.1, 8.2.6, Virtualization Enhancements).
 */
#ifndef VSSD_NVME_SECONDARY_H
#define VSSD_NVME_SECONDARY_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ADMIN
#error "hw-ssd/nvme/admin is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* Has it secondary controllers?  Is it one, and Offline? */
static inline bool nvme_is_primary(const NvmeCtrl *ctrl)
{
    return ctrl == &ctrl->sub->first && ctrl->sub->virtualization.n;
}

static inline bool nvme_is_offline(const NvmeCtrl *ctrl)
{
    return G_UNLIKELY(ctrl->secondary) && !ctrl->secondary->online;
}

/* Are the numbers of secondary controllers and resources possible?  false:
 * *error names the option and its range. */
bool nvme_secondaries_ok(const NvmeConfig *cfg, GError **error);

/* Of a drive that is attached: all resources are free. */
void nvme_secondaries_init(NvmeCtrl *first);

/* The place of virtual function vfn, 1..n. */
NvmeSecondary *nvme_secondary_of_vf(NvmeSubsys *sub, uint16_t vfn);

/* NULL: none has this identifier. */
NvmeSecondary *nvme_secondary_find(NvmeSubsys *sub, uint16_t cntlid);

/* Resources of a type that the secondaries have, and that nobody has. */
unsigned nvme_secondaries_assigned(const NvmeSubsys *sub, unsigned type);
unsigned nvme_resources_free(const NvmeSubsys *sub, unsigned type);

/* The most that the primary may have of a type, beside its private ones. */
unsigned nvme_primary_most(const NvmeSubsys *sub, unsigned type);

/* Has it what it needs to be Online? */
bool nvme_secondary_ready(const NvmeSecondary *s);

/* It has no resources any more; it has queues and vectors by its resources. */
void nvme_secondary_release(NvmeSecondary *s);
void nvme_secondary_use(NvmeSecondary *s);

/* From now on the primary has what the host wanted last. */
void nvme_primary_apply(NvmeSubsys *sub);

/* virtualization-state.c: the place of a controller as a saved one has it; all
 * 0 of one that is no secondary. */
typedef struct NvmeSecondaryState {
    uint64_t vfn;
    uint64_t there; /* this and the next one: flags */
    uint64_t online;
    uint64_t assigned[NVME_RESOURCES];
} NvmeSecondaryState;

void nvme_secondary_get(const NvmeCtrl *ctrl, NvmeSecondaryState *to);

/* Into a controller without queues.  false: it cannot be; others before it have
 * been put. */
bool nvme_secondary_put(NvmeCtrl *ctrl, const NvmeSecondaryState *from);

/* The rows of the primary's resources are loaded: it uses them.  false: they
 * cannot be. */
bool nvme_primary_loaded(NvmeSubsys *sub);

/* What the primary is to have, kept without power, as
 * kept-state.c calls it.  Loading takes effect at once. */
bool nvme_has_primary_resources(const NvmeCtrl *ctrl);
bool nvme_save_primary_resources(const NvmeCtrl *ctrl, FILE *out,
                                 GError **error);
bool nvme_load_primary_resources(NvmeCtrl *ctrl, FILE *in, GError **error);

/* CNS 14h and 15h, of a primary controller. */
uint16_t nvme_identify_primary(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                               void *data);
uint16_t nvme_identify_secondaries(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                   void *data);

#endif
