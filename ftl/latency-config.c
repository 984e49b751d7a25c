/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latency-config.c - windows of predictable latency: options and sizes.
 *
 * GC is held back plane by plane (gc/hold.c).  Maps that empty blocks by
 * themselves are refused.
 */
#include "latency-config.h"

#include "options.h"

#include <inttypes.h>

#define LEAST_WINDOW_PS 1000000000ULL /* the standard counts milliseconds */

#define fail(error, ...) opt_fail(error, OPT_ERROR_COMBINATION, __VA_ARGS__)

static const char *needs(const SsdConfig *cfg)
{
    return ssd_map_least_logs(cfg->mapper) ? "ftl.map=page or dftl"
           : cfg->zoned                    ? "zones.enabled=off"
                                           : NULL;
}

bool latency_check(const SsdConfig *cfg, GError **error)
{
    if (!cfg->latency_window_ps) {
        return true;
    }
    if (needs(cfg)) {
        return fail(error, "latency.window: needs %s", needs(cfg));
    }
    return cfg->latency_window_ps >= LEAST_WINDOW_PS ||
           fail(error, "latency.window=%" PRIu64 "ns: allowed 0 or 1ms..1h",
                cfg->latency_window_ps / 1000);
}

bool latency_layout(const SsdConfig *cfg, SsdLayout *l, GError **error)
{
    uint64_t blocks = cfg->nand.blocks - cfg->nand.slc_blocks;
    /* Beside those that GC needs, one more if programs may fail, and those
     * that the streams have open. */
    uint32_t least = l->gc_free_blocks + 1 + l->n_handles + l->n_aside + 1;

    l->window_blocks = 0;
    if (!cfg->latency_window_ps) {
        return true;
    }
    l->window_blocks = (uint32_t)(blocks * cfg->latency_free_ppm / 1000000);
    least = MAX(least, l->gc_high_blocks);
    return l->window_blocks >= least ||
           fail(error,
                "latency.free=%.4g%%: %u free blocks per plane, a window needs "
                "at least %u",
                cfg->latency_free_ppm / 1e4, l->window_blocks, least);
}
