/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fdp-config.c - options of streams and Flexible Data Placement: reclaim
 * groups, the size of reclaim units, isolation and placement handles by
 * configuration.
 *
 * Knows options and the layout.  Knows nothing of a running drive, nor of NVMe.
 */
#include "fdp-config.h"

#include <inttypes.h>
#include <string.h>

#include "options.h"
#include "outside-config.h"
#include "simtime.h"
#include "ssd-internal.h"
#include "superblock-config.h"

#define fail(error, ...) opt_fail(error, OPT_ERROR_COMBINATION, __VA_ARGS__)

/* ---- isolation ----------------------------------------------------------- */

static bool is_given(const char *text)
{
    return text && *text;
}

/* The handles that are initially isolated, as bits; how many words there are.
 * 0: one is wrong, or there are too many. */
static uint32_t read_isolation(const char *text, uint64_t *initial)
{
    g_auto(GStrv) word = g_strsplit(text, "/", -1);
    uint32_t n = g_strv_length(word);

    *initial = 0;
    for (uint32_t i = 0; i < SSD_MOST_STREAMS; i++) {
        const char *w = n ? word[MIN(i, n - 1)] : "";

        if (strcmp(w, "initial") != 0 && strcmp(w, "persistent") != 0) {
            return 0;
        }
        *initial |= (uint64_t)(*w == 'i') << i;
    }
    return n <= SSD_MOST_STREAMS ? n : 0;
}

uint32_t fdp_own_streams(const SsdConfig *cfg)
{
    return cfg->hot_cold + outside_streams(cfg);
}

uint64_t fdp_initial(const SsdConfig *cfg)
{
    uint64_t handles =
        cfg->ruhs ? UINT64_MAX >> (SSD_MOST_STREAMS - cfg->ruhs) : UINT64_MAX;
    bool merge = cfg->streams_gc == SSD_STREAMS_GC_MERGE || cfg->zoned;
    uint64_t initial = merge ? UINT64_MAX : 0;

    if (cfg->ruhs && is_given(cfg->isolation)) {
        read_isolation(cfg->isolation, &initial);
    }
    return initial & handles;
}

void fdp_classes(const SsdConfig *cfg, SsdLayout *l)
{
    uint64_t initial = fdp_initial(cfg);
    uint32_t mixed = UINT32_MAX; /* the class of initially isolated handles */

    l->n_stream_classes = 0;
    for (uint32_t i = 0; i < l->n_handles; i++) {
        uint32_t class = l->n_stream_classes;

        if (initial >> i & 1 && mixed != UINT32_MAX) {
            class = mixed;
            l->of_class[class] = SSD_OF_SEVERAL;
        } else {
            l->of_class[class] = (uint8_t)i;
            l->n_stream_classes++;
            mixed = initial >> i & 1 ? class : mixed;
        }
        for (uint32_t g = 0; g < l->n_groups; g++) {
            l->class_of[g * l->n_handles + i] = (uint8_t)class;
        }
    }
}

/* ---- reclaim groups and units -------------------------------------------- */

uint64_t fdp_ru_bytes(const SsdConfig *cfg, const SsdLayout *l)
{
    uint64_t least = l->data_units * cfg->unit_bytes * l->group_planes;

    return cfg->ruhs && cfg->ru_bytes ? cfg->ru_bytes : least;
}

static bool check_groups(const SsdConfig *cfg, GError **error)
{
    uint32_t dies = cfg->nand.channels * cfg->nand.chips * cfg->nand.dies;

    if (cfg->groups == 1) {
        return true;
    }
    if (dies % cfg->groups != 0) {
        return fail(error, "fdp.groups=%u: must divide the number of dies, %u",
                    cfg->groups, dies);
    }
    if (cfg->groups * cfg->ruhs > SSD_MOST_STREAMS) {
        return fail(error, "fdp.groups=%u: with fdp.ruhs=%u allowed 1..%u",
                    cfg->groups, cfg->ruhs, SSD_MOST_STREAMS / cfg->ruhs);
    }
    if (!ssd_alloc_in_rows(cfg->alloc)) {
        return fail(error, "fdp.groups=%u: needs ftl.alloc=stripe or in-order",
                    cfg->groups);
    }
    return true;
}

static bool check_ru_size(const SsdConfig *cfg, GError **error)
{
    uint64_t planes = (uint64_t)cfg->nand.channels * cfg->nand.chips *
                      cfg->nand.dies * cfg->nand.planes / cfg->groups;
    uint64_t block = cfg->nand.page_bytes * cfg->nand.pages;
    uint32_t parity_dies = superblock_parity_dies(cfg);
    uint64_t unit;

    if (parity_dies) {
        block -= block / parity_dies;
    }
    unit = block * planes;
    if (cfg->ru_bytes % unit != 0 ||
        cfg->ru_bytes / unit > cfg->nand.blocks - cfg->nand.slc_blocks) {
        return fail(error,
                    "fdp.ru_size=%" PRIu64 ": must be 0 or a multiple of "
                    "%" PRIu64 " (an erase block in each plane of a group), "
                    "at most %" PRIu64,
                    cfg->ru_bytes, unit,
                    unit * (cfg->nand.blocks - cfg->nand.slc_blocks));
    }
    return true;
}

/* ---- placement handles of namespaces ------------------------------------- */

/* 0:2:5, each below n and there once; UINT32_MAX: anything else. */
static uint32_t read_list(const char *text, uint32_t n, uint16_t *handle)
{
    g_auto(GStrv) part = g_strsplit(text, ":", -1);
    uint64_t seen = 0;
    uint32_t k = 0;

    for (; part[k]; k++) {
        guint64 v;

        if (k == SSD_MOST_STREAMS ||
            !g_ascii_string_to_unsigned(part[k], 10, 0, n - 1, &v, NULL) ||
            seen >> v & 1) {
            return UINT32_MAX;
        }
        seen |= 1ULL << v;
        handle[k] = (uint16_t)v;
    }
    return k ? k : UINT32_MAX;
}

uint32_t fdp_handles(const SsdConfig *cfg, uint32_t i, uint16_t *handle)
{
    g_auto(GStrv) list = g_strsplit(cfg->handles ? cfg->handles : "", "/", -1);

    if (i < g_strv_length(list)) {
        return read_list(list[i], cfg->ruhs, handle);
    }
    for (uint32_t k = 0; k < cfg->ruhs; k++) {
        handle[k] = (uint16_t)k;
    }
    return cfg->ruhs;
}

static bool isolation_wrong(const char *text, uint32_t most, GError **error)
{
    g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                "fdp.isolation=%.80s: allowed persistent and initial, 1..%u of "
                "them with / between",
                text, most);
    return false;
}

bool fdp_isolation_ok(const char *text, GError **error)
{
    uint64_t initial;

    return !is_given(text) || read_isolation(text, &initial) ||
           isolation_wrong(text, SSD_MOST_STREAMS, error);
}

bool fdp_handles_ok(const char *text, uint32_t ruhs, GError **error)
{
    g_auto(GStrv) list = g_strsplit(text ? text : "", "/", -1);
    uint16_t handle[SSD_MOST_STREAMS];

    for (uint32_t i = 0; list[i]; i++) {
        if (read_list(list[i], ruhs, handle) == UINT32_MAX) {
            g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE,
                        "fdp.handles=%.80s: allowed handles 0..%u, each once, "
                        "with : between, and / between namespaces",
                        text, ruhs - 1);
            return false;
        }
    }
    return true;
}

/* Blocks that are set aside are not those of a superblock, nor of a stream. */
static bool random_block_fits(const SsdConfig *cfg, GError **error)
{
    return !ssd_alloc_draws_block(cfg->alloc) ||
           (!cfg->ruhs && !cfg->streams && fdp_own_streams(cfg) == 0 &&
            !cfg->zoned && superblock_width(cfg) == 1 &&
            superblock_row(cfg) <= 1) ||
           fail(error,
                "ftl.alloc=%s: needs streams.max=0, fdp.ruhs=0, "
                "ftl.hot_cold=off, no ftl.placement, no zones and "
                "superblock.width=plane: it draws the open block",
                ssd_alloc_name(cfg->alloc));
}

static bool check_streams(const SsdConfig *cfg, GError **error)
{
    if (cfg->ruhs && cfg->streams) {
        return fail(error,
                    "fdp.ruhs=%u: needs streams.max=0 (it is %u): a "
                    "drive has streams or reclaim unit handles",
                    cfg->ruhs, cfg->streams);
    }
    if (cfg->hot_cold && (cfg->ruhs || cfg->streams)) {
        return fail(error,
                    "ftl.hot_cold=on: needs streams.max=0 and "
                    "fdp.ruhs=0: either the host assigns streams, or the "
                    "drive does");
    }
    if (outside_streams(cfg) > 0 &&
        (cfg->ruhs || cfg->streams || cfg->hot_cold)) {
        return fail(error, "ftl.placement: a policy from outside needs "
                           "streams.max=0, fdp.ruhs=0 and ftl.hot_cold=off: it "
                           "assigns the streams");
    }
    return random_block_fits(cfg, error);
}

bool fdp_check(const SsdConfig *cfg, GError **error)
{
    const char *key = cfg->groups != 1           ? "fdp.groups"
                      : cfg->ru_bytes            ? "fdp.ru_size"
                      : cfg->ru_limit_ps         ? "fdp.ru_time_limit"
                      : is_given(cfg->isolation) ? "fdp.isolation"
                      : is_given(cfg->handles)   ? "fdp.handles"
                                                 : NULL;
    uint64_t initial;

    if (!check_streams(cfg, error)) {
        return false;
    }
    if (!cfg->ruhs) {
        return !key || fail(error, "%s: needs fdp.ruhs of 1 or more", key);
    }
    if (is_given(cfg->isolation) &&
        read_isolation(cfg->isolation, &initial) > cfg->ruhs) {
        return isolation_wrong(cfg->isolation, cfg->ruhs, error);
    }
    if (cfg->ru_limit_ps % (NS_PER_S * PS_PER_NS) != 0) {
        return fail(error, "fdp.ru_time_limit: must be whole seconds, at most "
                           "86400");
    }
    return check_groups(cfg, error) && check_ru_size(cfg, error) &&
           fdp_handles_ok(cfg->handles, cfg->ruhs, error);
}
