/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slc-config.c - options of the SLC cache: which can be combined, and which
 * streams use it.
 *
 * Knows options and the layout.  Knows nothing of a running drive.
 */
#include "slc-config.h"

#include <string.h>

#include "fdp-config.h"
#include "options.h"
#include "ssd-internal.h"

#define fail(error, ...) opt_fail(error, OPT_ERROR_COMBINATION, __VA_ARGS__)

/* ---- streams ------------------------------------------------------------- */

/* Streams from..to, as bits. */
static uint64_t bits(uint64_t from, uint64_t to)
{
    return UINT64_MAX >> (63 - to) & UINT64_MAX << from;
}

/* 3, or 3-5; false: anything else. */
static bool read_range(const char *text, uint64_t *mask)
{
    g_auto(GStrv) end = g_strsplit(text, "-", -1);
    uint32_t n = g_strv_length(end);
    guint64 from;
    guint64 to;

    if (n < 1 || n > 2 ||
        !g_ascii_string_to_unsigned(end[0], 10, 0, SSD_MOST_STREAMS - 1, &from,
                                    NULL) ||
        !g_ascii_string_to_unsigned(end[n - 1], 10, from, SSD_MOST_STREAMS - 1,
                                    &to, NULL)) {
        return false;
    }
    *mask |= bits(from, to);
    return true;
}

/* false: the text is not a value of the option. */
static bool read_streams(const char *text, uint64_t *mask)
{
    g_auto(GStrv) range = g_strsplit(text ? text : "", "/", -1);

    *mask = 0;
    if (g_strcmp0(text, "all") == 0) {
        *mask = UINT64_MAX;
        return true;
    }
    if (g_strcmp0(text, "none") == 0) {
        return true;
    }
    if (g_strcmp0(text, "default") == 0) {
        *mask = 1;
        return true;
    }
    for (char **r = range; *r; r++) {
        if (!read_range(*r, mask)) {
            return false;
        }
    }
    return range[0] != NULL;
}

bool slc_streams_ok(const char *text, GError **error)
{
    uint64_t mask;

    if (read_streams(text, &mask)) {
        return true;
    }
    g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                "ftl.slc_streams=%.80s: allowed all, none, default, or streams "
                "0..%u and ranges of them with / between",
                text, SSD_MOST_STREAMS - 1);
    return false;
}

uint64_t slc_streams(const SsdConfig *cfg, const SsdLayout *l)
{
    uint64_t mask;

    read_streams(cfg->slc_streams, &mask);
    return mask & bits(0, l->n_handles - 1);
}

/* ---- combinations -------------------------------------------------------- */

/* Streams of the host's writes, 0 included. */
static uint32_t n_streams(const SsdConfig *cfg)
{
    return cfg->ruhs ? cfg->ruhs : cfg->streams + 1 + fdp_own_streams(cfg);
}

static bool check_streams(const SsdConfig *cfg, bool any, GError **error)
{
    uint32_t n = n_streams(cfg);
    uint64_t mask;

    read_streams(cfg->slc_streams, &mask);
    if (mask == UINT64_MAX) {
        return true;
    }
    if (!any) {
        return fail(error,
                    "ftl.slc_streams=%s: needs an SLC cache (nand.slc_blocks "
                    "or ftl.slc_dynamic)",
                    cfg->slc_streams);
    }
    if (mask & ~bits(0, n - 1)) {
        return fail(error,
                    "ftl.slc_streams=%s: allowed 0..%u (streams.max, fdp.ruhs "
                    "and ftl.hot_cold give the streams)",
                    cfg->slc_streams, n - 1);
    }
    if (cfg->slc_when_full == SSD_SLC_FOLD && n > 1 &&
        !ssd_alloc_in_rows(cfg->alloc)) {
        return fail(error,
                    "ftl.slc_streams=%s: with ftl.slc_when_full=fold needs "
                    "ftl.alloc=stripe or in-order (it is %s)",
                    cfg->slc_streams, ssd_alloc_name(cfg->alloc));
    }
    return true;
}

bool slc_config_check(const SsdConfig *cfg, GError **error)
{
    bool any = cfg->nand.slc_blocks > 0 || cfg->slc_dynamic_ppm > 0;

    if (cfg->slc_dynamic_ppm > 0 && cfg->nand.cell == 0) {
        return fail(error, "ftl.slc_dynamic: with nand.cell=slc every block "
                           "is in SLC mode");
    }
    if (cfg->slc_dynamic_ppm > 0 &&
        cfg->nand.pages < 4 * (cfg->nand.cell + 1)) {
        return fail(error, "ftl.slc_dynamic: nand.pages must be 4 word lines "
                           "or more");
    }
    if (cfg->slc_dynamic_ppm == 0 && cfg->slc_share_ppm < 1000000) {
        return fail(error, "ftl.slc_share: needs ftl.slc_dynamic above 0%%");
    }
    if (!any && (cfg->slc_when_full != SSD_SLC_DIRECT || cfg->t_slc_fold_ps)) {
        return fail(error,
                    "%s: needs an SLC cache (nand.slc_blocks or "
                    "ftl.slc_dynamic)",
                    cfg->t_slc_fold_ps ? "ftl.slc_fold_delay"
                                       : "ftl.slc_when_full=fold");
    }
    if (cfg->slc_when_full == SSD_SLC_FOLD && cfg->slc_fold_at_ppm == 0) {
        return fail(error, "ftl.slc_when_full=fold: needs ftl.slc_fold_at "
                           "above 0%%");
    }
    return check_streams(cfg, any, error);
}
