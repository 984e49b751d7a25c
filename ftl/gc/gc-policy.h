/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-policy.h - how a victim of garbage collection is chosen: one const struct
 * in one file for each policy; policy.c lists them, docs/adding.md explains how
 * to add one.
 */
#ifndef VSSD_FTL_GC_POLICY_H
#define VSSD_FTL_GC_POLICY_H

#include "layers.h"
#if FTL_LAYER < FTL_GC
#error "ftl/gc is above this component: docs/architecture.md"
#endif

#include "ssd-internal.h"

struct GcPolicy {
    const char *name;
    const char *help;
    bool by_age; /* it asks for ages: keep AgeTrees */
    /* Required.  A FULL block of the plane to clean (not one in SLC mode), or
     * NONE if none would gain anything.  Changes nothing but the order of
     * Plane.oldest.  Blocks that gain less than a program (gc_gains()) only if
     * there is no other.  How full a block is gc_valid() says: with ftl.gc_unit
     * that goes for all of its stripe. */
    uint32_t (*pick)(Ssd *ssd, uint32_t plane);

    /* Optional, for ssd_check().  Does pick find the same block as a search
     * over the plane?  Changes nothing that is saved. */
    bool (*check)(Ssd *ssd, uint32_t plane, GError **error);
};

/* For policies that found nothing: the fewest valid units, whatever it gains. */
uint32_t gc_greedy_pick(Ssd *ssd, uint32_t plane);
/* With ftl.gc_unit: GcPolicy.check() of the stripe that it finds. */
bool gc_greedy_check(Ssd *ssd, uint32_t plane, GError **error);

/* The policy of the configuration, from outside or of the list. */
const GcPolicy *gc_choose_policy(const Ssd *ssd);

extern const GcPolicy *const gc_policies[];       /* NULL at the end */
extern const GcPolicy gc_greedy;
extern const GcPolicy gc_cost_benefit;
extern const GcPolicy gc_fifo;
extern const GcPolicy gc_random;
extern const GcPolicy gc_d_choices;
extern const GcPolicy gc_windowed_greedy;

#endif
