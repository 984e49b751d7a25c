/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buffer-policy.h - which unit leaves the buffer: a VssdPolicy in one file for
 * each policy; policy.c lists them, docs/adding-policy.md explains how to add
 * one.
 *
 * Two kinds.  A write buffer, which has no victim(), holds only data on its way
 * to NAND, in order of arrival, and evicts units as soon as they fill a page;
 * it needs no functions.  A cache gets every slot that it may evict, whatever
 * its state, and chooses a victim when there is no room; written units stay,
 * clean.  Everything must be done in time that does not grow with the buffer.
 */
#ifndef VSSD_FTL_BUFFER_POLICY_H
#define VSSD_FTL_BUFFER_POLICY_H

#include "layers.h"
#if FTL_LAYER < FTL_BUFFER
#error "ftl/buffer is above this component: docs/architecture.md"
#endif

#include "ssd-internal.h"
#include "vssd-policy.h"

/* buf_NAME, from its name as an option, its help, and members of VssdPolicy;
 * and its part, from members of VssdBufferPolicy. */
#define BUFFER_POLICY(id, option, text, ...)                                   \
    const VssdPolicy buf_##id = {                                              \
        .abi = VSSD_POLICY_ABI,                                                \
        .kind = VSSD_POLICY_BUFFER,                                            \
        .size = sizeof(VssdPolicy),                                            \
        .name = option,                                                        \
        .help = text,                                                          \
        __VA_ARGS__,                                                           \
    }
#define BUFFER_PART(...)                                                       \
    .buffer = &(const VssdBufferPolicy)                                        \
    {                                                                          \
        .size = sizeof(VssdBufferPolicy), __VA_ARGS__                          \
    }

extern const VssdPolicy *const buffer_policies[]; /* NULL at the end */
extern const VssdPolicy buf_fifo;
extern const VssdPolicy buf_none;
extern const VssdPolicy buf_lru;
extern const VssdPolicy buf_cflru;
extern const VssdPolicy buf_cflru_ef;
extern const VssdPolicy buf_cflru_ef_sc;
extern const VssdPolicy buf_fab;
extern const VssdPolicy buf_bplru;
extern const VssdPolicy buf_ccf_lru;
extern const VssdPolicy buf_prlru;
extern const VssdPolicy buf_prlru_ef;
extern const VssdPolicy buf_clock_dnv;

#endif
