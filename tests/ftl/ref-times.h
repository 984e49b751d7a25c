/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ref-times.h - the times of ref_config(), for tests that work latencies out by
 * hand, and checks of one command.
 *
 * In ns: firmware F of a command; a unit of 4 KiB over the link L, to or from
 * DRAM B; a command of the array C; a unit over the bus U, a page of 16 KiB X;
 * tR, tPROG.  A block of the host has 512 bytes.
 */
#ifndef VSSD_TESTS_FTL_REF_TIMES_H
#define VSSD_TESTS_FTL_REF_TIMES_H

#include <string.h>

#include "json.h"
#include "ref.h"
#include "ssd-report.h"
#include "ssd-setup.h"

#define F     3000ULL
#define L     1000ULL
#define B     500ULL
#define C     200ULL
#define U     10240ULL
#define X     40960ULL
#define TR    50000ULL
#define TPROG 500000ULL

#define UNIT 8 /* blocks */

static inline uint64_t latency(const SsdCompletion *c)
{
    return c->complete_ns - c->submit_ns;
}

static inline void same_cost(const SsdCompletion *c, SsdBreakdown want)
{
    g_assert_cmpmem(&c->cost, sizeof(c->cost), &want, sizeof(want));
}

/* A whole number in the JSON text of the statistics: the first member of that
 * name behind the text `after`. */
static inline uint64_t stat_of(const Ssd *ssd, const char *after,
                               const char *member)
{
    g_autofree char *name = g_strdup_printf("\"%s\":", member);
    g_autoptr(GString) json = g_string_new(NULL);
    JsonWriter w = {.out = json};
    const char *at;

    ssd_stats_json(ssd, &w, NULL);
    at = strstr(json->str, after);
    g_assert_nonnull(at);
    at = strstr(at, name);
    g_assert_nonnull(at);
    return g_ascii_strtoull(at + strlen(name), NULL, 10);
}

/* The options are refused, and the line says so. */
static inline void refused(const char *options, const char *says)
{
    SsdConfig *cfg = ref_config(options);
    g_autoptr(GError) error = NULL;

    g_assert_false(ssd_config_check(cfg, &error));
    g_assert_nonnull(strstr(error->message, says));
    ssd_config_free(cfg);
}

#endif
