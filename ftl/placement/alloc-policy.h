/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc-policy.h - which plane a page of the host goes to: a VssdPolicy in one
 * file for each policy; policy.c lists them, docs/adding.md explains how to add
 * one.
 */
#ifndef VSSD_FTL_ALLOC_POLICY_H
#define VSSD_FTL_ALLOC_POLICY_H

#include "layers.h"
#if FTL_LAYER < FTL_PLACEMENT
#error "ftl/placement is above this component: docs/architecture.md"
#endif

#include "ssd-internal.h"
#include "vssd-policy.h"

/* alloc_NAME, from its name as an option, its help, and members of VssdPolicy;
 * and its part, from members of VssdAllocPolicy. */
#define ALLOC_POLICY(id, option, text, ...)                                    \
    const VssdPolicy alloc_##id = {                                            \
        .abi = VSSD_POLICY_ABI,                                                \
        .kind = VSSD_POLICY_ALLOC,                                             \
        .size = sizeof(VssdPolicy),                                            \
        .name = option,                                                        \
        .help = text,                                                          \
        __VA_ARGS__,                                                           \
    }
#define ALLOC_PART(...)                                                        \
    .alloc = &(const VssdAllocPolicy)                                          \
    {                                                                          \
        .size = sizeof(VssdAllocPolicy), __VA_ARGS__                           \
    }

/* VssdAllocPolicy.depth of a policy that does not look where there is room. */
#define ALLOC_DEEP 64

/* Of a policy whose state is a position of the stripe. */
static inline size_t alloc_cursor_bytes(const VssdShape *shape)
{
    return sizeof(uint32_t);
}

static inline bool alloc_cursor_ok(const void *state, const VssdShape *shape)
{
    return *(const uint32_t *)state < shape->planes;
}

/* The policy of the drive: that from outside, or else the listed one. */
void alloc_policy_init(Ssd *ssd, const VssdPolicy *listed);

extern const VssdPolicy *const alloc_policies[]; /* NULL at the end */
extern const VssdPolicy alloc_stripe;
extern const VssdPolicy alloc_static;
extern const VssdPolicy alloc_dynamic;
extern const VssdPolicy alloc_dl;
extern const VssdPolicy alloc_random;
extern const VssdPolicy alloc_random_block;
extern const VssdPolicy alloc_in_order;

#endif
