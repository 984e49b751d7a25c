/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-policy.h - how a victim of garbage collection is chosen: a VssdPolicy in
 * one file for each policy; policy.c lists them, docs/adding-policy.md explains
 * how to add one.
 */
#ifndef VSSD_FTL_GC_POLICY_H
#define VSSD_FTL_GC_POLICY_H

#include "layers.h"
#if FTL_LAYER < FTL_GC
#error "ftl/gc is above this component: docs/architecture.md"
#endif

#include "ssd-internal.h"
#include "vssd-policy.h"

/* gc_NAME, from its name as an option, its help, and members of VssdGcPolicy.
 */
#define GC_POLICY(id, option, text, ...)                                       \
    const VssdPolicy gc_##id = {                                               \
        .abi = VSSD_POLICY_ABI,                                                \
        .kind = VSSD_POLICY_GC,                                                \
        .size = sizeof(VssdPolicy),                                            \
        .name = option,                                                        \
        .help = text,                                                          \
        .gc =                                                                  \
            &(const VssdGcPolicy){.size = sizeof(VssdGcPolicy), __VA_ARGS__},  \
    }

/* The policy of the drive: that from outside, or else the listed one. */
void gc_policy_init(Ssd *ssd, const VssdPolicy *listed);

/* For ssd_check(): do the searches by trees find the same as a look at all
 * blocks of the plane?  Changes nothing that is saved. */
bool gc_check_searches(Ssd *ssd, uint32_t plane, GError **error);

extern const VssdPolicy *const gc_policies[]; /* NULL at the end */
extern const VssdPolicy gc_greedy;
extern const VssdPolicy gc_cost_benefit;
extern const VssdPolicy gc_fifo;
extern const VssdPolicy gc_random;
extern const VssdPolicy gc_d_choices;
extern const VssdPolicy gc_windowed_greedy;

#endif
