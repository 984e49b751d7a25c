/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * policy.c - the lists of policies.  A policy that is not listed here does not
 * exist; one that is listed is an option value, is documented, and is tested.
 */
#include "buffer/buffer-policy.h"
#include "gc/gc-policy.h"
#include "map/map-policy.h"
#include "outside.h"
#include "placement/alloc-policy.h"
#include "ssd-internal.h"
#include "ssd-report.h"

const VssdPolicy *const gc_policies[] = {
    &gc_greedy,    &gc_cost_benefit,    &gc_fifo, &gc_random,
    &gc_d_choices, &gc_windowed_greedy, NULL,
};

const VssdPolicy *const alloc_policies[] = {
    &alloc_stripe, &alloc_static,   &alloc_dynamic,      &alloc_dl,
    &alloc_random, &alloc_in_order, &alloc_random_block, NULL,
};

const VssdPolicy *const buffer_policies[] = {
    &buf_fifo,        &buf_none,      &buf_lru,   &buf_cflru,   &buf_cflru_ef,
    &buf_cflru_ef_sc, &buf_fab,       &buf_bplru, &buf_ccf_lru, &buf_prlru,
    &buf_prlru_ef,    &buf_clock_dnv, NULL,
};

const MapPolicy *const map_policies[] = {
    &map_page,
    &map_dftl,
    &map_bast,
    &map_fast,
    NULL,
};

uint32_t ssd_map_least_logs(unsigned i)
{
    const OwnBlocks *own = map_policies[i]->own_blocks;

    return own ? own->least_logs : 0;
}

uint32_t ssd_map_lacks(unsigned map)
{
    return map_policies[map]->lacks;
}

const char *ssd_map_name(unsigned i)
{
    return map_policies[i] ? map_policies[i]->name : NULL;
}

const StatTable *ssd_map_stats(unsigned map, const char **name)
{
    *name = ssd_map_name(map);
    return *name ? map_policies[map]->stats : NULL;
}

bool ssd_map_in_nand(unsigned policy)
{
    return map_policies[policy]->in_nand;
}

const char *ssd_gc_name(unsigned i)
{
    return gc_policies[i] ? gc_policies[i]->name : NULL;
}

const char *ssd_alloc_name(unsigned i)
{
    return alloc_policies[i] ? alloc_policies[i]->name : NULL;
}

bool ssd_alloc_draws_block(unsigned policy)
{
    return alloc_policies[policy]->alloc->draws_block;
}

bool ssd_alloc_in_rows(unsigned policy)
{
    return alloc_policies[policy]->alloc->rows != VSSD_ROWS_NONE;
}

const char *ssd_buffer_name(unsigned i)
{
    return buffer_policies[i] ? buffer_policies[i]->name : NULL;
}

/* The policy of the configuration. */
static const VssdPolicy *chosen(const SsdConfig *cfg, VssdPolicyKind kind,
                                const VssdPolicy *listed)
{
    return cfg->outside[kind] ? cfg->outside[kind]->policy : listed;
}

uint32_t ssd_buffer_overhead(const SsdConfig *cfg)
{
    return chosen(cfg, VSSD_POLICY_BUFFER, buffer_policies[cfg->buffer])
        ->buffer->slot_bytes;
}

uint32_t ssd_alloc_depth(const SsdConfig *cfg)
{
    return chosen(cfg, VSSD_POLICY_ALLOC, alloc_policies[cfg->alloc])
        ->alloc->depth;
}
