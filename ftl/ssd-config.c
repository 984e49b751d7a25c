/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ssd-config.c - profiles and options of a drive: read, check, print.
 *
 * Knows every option table of the model.  Knows nothing of a running drive.
 */
#include "nand-faults.h"
#include "fdp-config.h"
#include "nearest.h"
#include "needs.h"
#include "numtable.h"
#include "outside-config.h"
#include "slc-config.h"
#include "superblock-config.h"
#include "ssd-config.h"
#include "ssd-internal.h"
#include "ssd-setup.h"
#include "thermal/thermal.h"
#include "latency-config.h"
#include "zones-config.h"

#include <inttypes.h>
#include <string.h>

/* ---- rows that set others, too, or have a form --------------------------- */

static void size_by_share(void *base)
{
    SsdConfig *cfg = base;

    cfg->capacity = 0;
}

/* The link's rate is given in one of two ways. */
static void rate_by_number(void *base)
{
    SsdConfig *cfg = base;

    cfg->pcie_gen = cfg->link_mb_s ? 0 : cfg->pcie_gen;
}

static void rate_by_generation(void *base)
{
    SsdConfig *cfg = base;

    cfg->link_mb_s = cfg->pcie_gen ? 0 : cfg->link_mb_s;
}

static bool power_states_ok(const char *text, GError **error)
{
    SsdPowerState states[SSD_POWER_STATES];
    uint32_t n;

    return thermal_states(text, states, &n, error);
}

static bool handles_ok(const char *text, GError **error)
{
    return fdp_handles_ok(text, SSD_MOST_STREAMS, error);
}

/* ---- the table ----------------------------------------------------------- */

#define SSD_DESC(...) OPT_ROW(SsdConfig, __VA_ARGS__)

const OptDesc ssd_options[] = {SSD_OPTIONS(SSD_DESC)};
const size_t ssd_n_options = G_N_ELEMENTS(ssd_options);

#define fail(error, ...) opt_fail(error, OPT_ERROR_COMBINATION, __VA_ARGS__)

const char *ssd_complete_at_name(unsigned i)
{
    static const char *const names[] = {"buffer", "data-in", "program"};

    return i < G_N_ELEMENTS(names) ? names[i] : NULL;
}

const char *ssd_streams_gc_name(unsigned i)
{
    static const char *const names[] = {"separate", "merge"};

    return i < G_N_ELEMENTS(names) ? names[i] : NULL;
}

const char *ssd_wear_name(unsigned i)
{
    static const char *const names[] = {"fifo", "dynamic", "static"};

    return i < G_N_ELEMENTS(names) ? names[i] : NULL;
}

const char *ssd_recovery_name(unsigned i)
{
    static const char *const names[] = {"capacitors", "scan", "checkpoint"};

    return i < G_N_ELEMENTS(names) ? names[i] : NULL;
}

const char *ssd_slc_when_full_name(unsigned i)
{
    static const char *const names[] = {
        [SSD_SLC_DIRECT] = "direct",
        [SSD_SLC_FOLD] = "fold",
    };

    return i < G_N_ELEMENTS(names) ? names[i] : NULL;
}

const char *ssd_gc_pace_name(unsigned i)
{
    static const char *const names[] = {
        [SSD_GC_PACE_LATE] = "late",
        [SSD_GC_PACE_EVEN] = "even",
    };

    return i < G_N_ELEMENTS(names) ? names[i] : NULL;
}

const char *ssd_free_at_name(unsigned i)
{
    static const char *const names[] = {"program", "data-in"};

    return i < G_N_ELEMENTS(names) ? names[i] : NULL;
}

SsdConfig *ssd_config_new(void)
{
    SsdConfig *cfg = g_new0(SsdConfig, 1);

    cfg->block_bytes = 512;
    cfg->trim_group_shift = 10;
    cfg->trim_step = 16;
    nand_config_defaults(&cfg->nand);
    opt_set_defaults(cfg, ssd_options, ssd_n_options);
    return cfg;
}

void ssd_config_free(SsdConfig *cfg)
{
    if (cfg) {
        opt_clear(&cfg->nand, nand_options, nand_n_options);
        opt_clear(cfg, ssd_options, ssd_n_options);
        outside_config_clear(cfg);
        g_free(cfg->profile);
        g_free(cfg);
    }
}

SsdConfig *ssd_config_copy(const SsdConfig *cfg)
{
    SsdConfig *copy = g_new(SsdConfig, 1);

    *copy = *cfg;
    copy->profile = g_strdup(cfg->profile);
    opt_copied(copy, ssd_options, ssd_n_options);
    outside_config_copied(copy);
    return copy;
}

/* Options, and a value, that are now others: what to write in place of them. */
static const struct {
    const char *was, *instead;
} replaced[] = {
    {"ftl.superpage", "superblock.row, in planes"},
    {"ftl.superpage_wait", "superblock.row_wait"},
    {"ftl.flush_pad", "superblock.padding"},
    {"ftl.rain", "superblock.parity=on and superblock.width, in planes"},
    {"ftl.gc_unit", "superblock.width (plane, die, drive)"},
    {"ftl.close_open", "superblock.close_open"},
    {"ftl.alloc=superblock", "ftl.alloc=in-order"},
};

static bool is_replaced(const char *key, const char *value, GError **error)
{
    g_autofree char *both = g_strconcat(key, "=", value, NULL);

    for (size_t i = 0; i < G_N_ELEMENTS(replaced); i++) {
        const char *was = replaced[i].was;

        if (strcmp(was, key) == 0 || strcmp(was, both) == 0) {
            opt_fail(error, OPT_ERROR_UNKNOWN,
                     "%s: is now %s (docs/superblocks.md)", was,
                     replaced[i].instead);
            return true;
        }
    }
    return false;
}

/* false: *error names the option, and the one that may be meant. */
static bool no_option(const char *key, GError **error)
{
    Nearest near_one = nearest_to(key);
    g_autofree char *hint = NULL;

    for (size_t i = 0; i < nand_n_options; i++) {
        nearest_try_key(&near_one, nand_options[i].key);
    }
    for (size_t i = 0; i < ssd_n_options; i++) {
        nearest_try_key(&near_one, ssd_options[i].key);
    }
    hint = nearest_hint(&near_one, "");
    return opt_fail(error, OPT_ERROR_UNKNOWN,
                    "%s: no such option%s (docs/options.md lists them)", key,
                    hint);
}

static bool set_one(SsdConfig *cfg, const char *key, const char *value,
                    GError **error)
{
    const OptDesc *d = opt_find(nand_options, nand_n_options, key);
    bool taken;

    if (is_replaced(key, value, error)) {
        return false;
    }
    if (d) {
        return opt_set(&cfg->nand, d, value, error);
    }
    d = opt_find(ssd_options, ssd_n_options, key);
    if (d) {
        return outside_set(cfg, d, value, &taken, error) &&
               (taken || opt_set(cfg, d, value, error));
    }
    return no_option(key, error);
}

bool ssd_config_is_time(const char *key)
{
    const OptDesc *d = opt_find(nand_options, nand_n_options, key);

    if (!d) {
        d = opt_find(ssd_options, ssd_n_options, key);
    }
    return d && d->type == OPT_TIME;
}

static bool load_group(SsdConfig *cfg, GKeyFile *file, const char *group,
                       GError **error)
{
    g_auto(GStrv) names = g_key_file_get_keys(file, group, NULL, error);

    for (char **name = names; name && *name; name++) {
        g_autofree char *key = strcmp(group, "drive") == 0
                                   ? g_strdup(*name)
                                   : g_strdup_printf("%s.%s", group, *name);
        g_autofree char *value = g_key_file_get_value(file, group, *name,
                                                      error);

        if (!value || !set_one(cfg, key, g_strstrip(value), error)) {
            return false;
        }
    }
    return names != NULL;
}

bool ssd_config_load(SsdConfig *cfg, const char *path, GError **error)
{
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_auto(GStrv) groups = NULL;

    if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, error)) {
        g_prefix_error(error, "profile %s: ", path);
        return false;
    }
    groups = g_key_file_get_groups(file, NULL);
    for (char **group = groups; *group; group++) {
        if (!load_group(cfg, file, *group, error)) {
            g_prefix_error(error, "profile %s: ", path);
            return false;
        }
    }
    g_free(cfg->profile);
    cfg->profile = g_path_get_basename(path);
    if (g_str_has_suffix(cfg->profile, ".ini")) {
        cfg->profile[strlen(cfg->profile) - strlen(".ini")] = '\0';
    }
    return true;
}

bool ssd_config_set(SsdConfig *cfg, const char *options, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(options, ";", -1);

    for (char **part = parts; *part; part++) {
        char *equals;

        g_strstrip(*part);
        if (**part == '\0') {
            continue;
        }
        equals = strchr(*part, '=');
        if (!equals) {
            g_set_error(error, OPT_ERROR, OPT_ERROR_SYNTAX,
                        "%s: not of the form key=value", *part);
            return false;
        }
        *equals = '\0';
        if (!set_one(cfg, g_strchomp(*part), g_strchug(equals + 1), error)) {
            return false;
        }
    }
    return true;
}

bool ssd_config_set_block_bytes(SsdConfig *cfg, uint32_t bytes, GError **error)
{
    if (bytes != 512 && bytes != 4096) {
        return fail(error, "block size %u: allowed 512, 4096", bytes);
    }
    cfg->block_bytes = bytes;
    return true;
}

char *ssd_config_get(const SsdConfig *cfg, const char *key)
{
    const OptDesc *d = opt_find(nand_options, nand_n_options, key);

    if (d) {
        return opt_get(&cfg->nand, d);
    }
    d = opt_find(ssd_options, ssd_n_options, key);
    return d ? outside_get(cfg, d) : NULL;
}

/* ---- checks across options ----------------------------------------------- */

static bool check_upkeep(const SsdConfig *cfg, GError **error)
{
    if (cfg->refresh_reads && !cfg->nand.errors) {
        return fail(error, "ftl.refresh_reads=%u: needs media.errors=on, "
                    "without which reads disturb nothing", cfg->refresh_reads);
    }
    if (cfg->refresh_hours && !cfg->nand.errors) {
        return fail(error, "ftl.refresh_hours=%u: needs media.errors=on, "
                    "without which data does not age", cfg->refresh_hours);
    }
    if (cfg->refresh_retries && !cfg->nand.errors) {
        return fail(error, "ftl.refresh_retries=%u: needs media.errors=on, "
                    "without which nothing is read again",
                    cfg->refresh_retries);
    }
    if (cfg->read_reclaim && !cfg->nand.errors) {
        return fail(error,
                    "ftl.read_reclaim=%u: needs media.errors=on, "
                    "without which nothing is read again",
                    cfg->read_reclaim);
    }
    if (cfg->read_reclaim > cfg->nand.retry_limit + cfg->nand.soft_reads) {
        return fail(error,
                    "ftl.read_reclaim=%u: must be at most "
                    "media.retry_limit=%u and media.soft_reads=%u together",
                    cfg->read_reclaim, cfg->nand.retry_limit,
                    cfg->nand.soft_reads);
    }
    if (cfg->refresh_retries > cfg->nand.retry_limit) {
        return fail(error, "ftl.refresh_retries=%u: must be at most "
                    "media.retry_limit=%u", cfg->refresh_retries,
                    cfg->nand.retry_limit);
    }
    if (cfg->capacity && cfg->capacity < cfg->unit_bytes) {
        return fail(error, "ftl.capacity=%" PRIu64 ": must be 0 or at least "
                    "ftl.unit=%" PRIu64, cfg->capacity, cfg->unit_bytes);
    }
    return true;
}

/* Need of an option, if it has that value. */
typedef struct Asked {
    bool set;
    uint32_t need; /* SsdNeed */
    const char *key;
} Asked;

/* One line that names both options; NULL: they can be combined. */
static char *refusal(const SsdConfig *cfg, const char *policy, uint32_t lacks)
{
    const Asked asked[] = {
        {cfg->alloc != 0, NEED_ALLOC, "ftl.alloc"},
        {cfg->gc != 0, NEED_GC, "ftl.gc"},
        {outside_streams(cfg) > 0, NEED_STREAMS, "ftl.placement"},
        {superblock_width(cfg) > 1, NEED_SUPERBLOCKS, "superblock.width"},
        {cfg->gc_soft_ppm > 0, NEED_BACKGROUND, "ftl.gc_soft"},
        {cfg->t_gc_period_ps > 0, NEED_BACKGROUND, "ftl.gc_period"},
        {cfg->gc_pace != SSD_GC_PACE_LATE, NEED_GC, "ftl.gc_pace"},
        {cfg->gc_preempt, NEED_BACKGROUND, "ftl.gc_preempt"},
        {cfg->nand.gc_hold, NEED_GC, "nand.gc_hold"},
        {cfg->wear == SSD_WEAR_STATIC, NEED_STATIC_WEAR, "ftl.wear"},
        {cfg->refresh_reads > 0, NEED_REFRESH, "ftl.refresh_reads"},
        {cfg->refresh_hours > 0, NEED_REFRESH, "ftl.refresh_hours"},
        {cfg->refresh_retries > 0, NEED_REFRESH, "ftl.refresh_retries"},
        {cfg->read_reclaim > 0, NEED_REFRESH, "ftl.read_reclaim"},
        {cfg->hot_cold, NEED_STREAMS, "ftl.hot_cold"},
        {cfg->streams > 0, NEED_STREAMS, "streams.max"},
        {cfg->ruhs > 0, NEED_STREAMS, "fdp.ruhs"},
        {cfg->nand.slc_blocks > 0, NEED_SLC, "nand.slc_blocks"},
        {cfg->slc_dynamic_ppm > 0, NEED_SLC, "ftl.slc_dynamic"},
        {cfg->nand.copyback, NEED_COPYBACK, "nand.copyback"},
        {cfg->nand.factory_bad_ppm > 0, NEED_BAD_BLOCKS, "media.factory_bad"},
        {cfg->nand.program_fail > 0, NEED_BAD_BLOCKS, "media.program_fail"},
        {cfg->nand.erase_fail > 0, NEED_BAD_BLOCKS, "media.erase_fail"},
        {cfg->recovery != SSD_RECOVERY_CAPACITORS, NEED_RECOVERY,
         "ftl.recovery"},
        {cfg->plp, NEED_PLP, "buffer.plp"},
        {superblock_row(cfg) > 1, NEED_ALLOC, "superblock.row"},
        {cfg->close_open, NEED_CLOSE, "superblock.close_open"},
        {cfg->counters_interval_ps > 0, NEED_LOSSES, "ftl.counters_interval"},
    };
    g_autofree char *chosen = ssd_config_get(cfg, policy);

    for (size_t i = 0; i < G_N_ELEMENTS(asked); i++) {
        if (asked[i].set && asked[i].need & lacks) {
            g_autofree char *value = ssd_config_get(cfg, asked[i].key);

            return g_strdup_printf("%s=%s: not with %s=%s", policy, chosen,
                                   asked[i].key, value);
        }
    }
    return NULL;
}

uint32_t ssd_recovery_lacks(unsigned recovery)
{
    /* Capacitors that keep the buffer keep the map, too, and the counters. */
    return recovery == SSD_RECOVERY_CAPACITORS ? NEED_LOSSES : NEED_PLP;
}

static bool check_policies(const SsdConfig *cfg, GError **error)
{
    const struct {
        const char *key;
        uint32_t lacks;
    } chosen[] = {
        {"ftl.map", ssd_map_lacks(cfg->mapper)},
        {"ftl.recovery", ssd_recovery_lacks(cfg->recovery)},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(chosen); i++) {
        g_autofree char *line = refusal(cfg, chosen[i].key, chosen[i].lacks);

        if (line) {
            return fail(error, "%s", line);
        }
    }
    return true;
}

static bool check_logs(const SsdConfig *cfg, GError **error)
{
    uint32_t least = ssd_map_least_logs(cfg->mapper);

    if (least == 0) {
        return cfg->log_blocks == 0 ||
               fail(error, "ftl.log_blocks=%u: needs ftl.map=bast or fast",
                    cfg->log_blocks);
    }
    return cfg->log_blocks == 0 || cfg->log_blocks >= least ||
           fail(error, "ftl.log_blocks=%u: ftl.map=%s needs at least %u",
                cfg->log_blocks, ssd_map_name(cfg->mapper), least);
}

/* Entries of the cache, of 8 bytes at least, are numbered in 32 bits. */
static bool is_many_entries(uint64_t bytes, uint64_t raw_units)
{
    return MIN(bytes / 8, raw_units) > NUMTABLE_NARROW_MOST;
}

/* What has numbers of 32 bits: NAND pages with an entry of 8 bytes for each
 * unit, entries of the cache, groups of the buffer. */
static bool check_large(const SsdConfig *cfg, uint64_t raw_units,
                        GError **error)
{
    uint64_t group = cfg->group_bytes ? cfg->group_bytes
                                      : cfg->nand.page_bytes * cfg->nand.pages;
    bool dftl = ssd_map_in_nand(cfg->mapper);
    const struct {
        bool used;
        const char *key, *value;
        uint64_t units; /* of a thing with a number */
    } small[] = {
        {dftl, "ftl.map", ssd_map_name(cfg->mapper), cfg->nand.page_bytes / 8},
        {cfg->recovery != SSD_RECOVERY_CAPACITORS, "ftl.recovery",
         ssd_recovery_name(cfg->recovery), cfg->nand.page_bytes / 8},
        {dftl && is_many_entries(cfg->map_cache_bytes, raw_units),
         "ftl.map_cache", "more than 16GiB", 1},
        {dftl && is_many_entries(cfg->hmb_bytes, raw_units), "ftl.hmb",
         "more than 16GiB", 1},
        {true, "buffer.policy", ssd_buffer_name(cfg->buffer),
         MAX(group / cfg->unit_bytes, 1)},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(small); i++) {
        uint64_t most = small[i].units * NUMTABLE_NARROW_MOST;

        if (small[i].used && raw_units > most) {
            return fail(error,
                        "%s=%s: with at most %" PRIu64 " units, there are "
                        "%" PRIu64 " (larger ftl.unit)",
                        small[i].key, small[i].value, most, raw_units);
        }
    }
    return true;
}

static bool check_units(const SsdConfig *cfg, GError **error)
{
    uint64_t unit = cfg->unit_bytes;
    uint64_t raw_units = (uint64_t)cfg->nand.channels * cfg->nand.chips *
                         cfg->nand.dies * cfg->nand.planes * cfg->nand.blocks *
                         cfg->nand.pages * (cfg->nand.page_bytes / unit);
    uint64_t program = cfg->nand.page_bytes *
                       (cfg->nand.one_shot ? cfg->nand.cell + 1 : 1);
    uint32_t overhead = ssd_buffer_overhead(cfg);
    uint64_t slots = cfg->buffer_bytes / (unit + overhead);

    if (unit & (unit - 1) || unit > cfg->nand.page_bytes) {
        return fail(error,
                    "ftl.unit=%" PRIu64 ": must be a power of two, at most "
                    "nand.page_size=%" PRIu64,
                    unit, cfg->nand.page_bytes);
    }
    if (unit < cfg->block_bytes) {
        return fail(error,
                    "ftl.unit=%" PRIu64
                    ": must not be smaller than the logical block, %u",
                    unit, cfg->block_bytes);
    }
    if (raw_units >= 1ULL << SSD_UNIT_BITS) {
        return fail(error,
                    "ftl.unit=%" PRIu64 ": makes %" PRIu64
                    " units, allowed 1..%llu",
                    unit, raw_units, (1ULL << SSD_UNIT_BITS) - 1);
    }
    if (!check_large(cfg, raw_units, error)) {
        return false;
    }
    if (slots < program / unit || cfg->buffer_bytes / unit > 1U << 24) {
        return fail(error,
                    "buffer.size=%" PRIu64 ": allowed one program unit "
                    "(%" PRIu64 ")..16777216 units (%" PRIu64 ")",
                    cfg->buffer_bytes, program / unit * (unit + overhead),
                    unit << 24);
    }
    if (cfg->group_bytes % unit != 0) {
        return fail(error, "buffer.block=%" PRIu64 ": must be a multiple of "
                    "ftl.unit=%" PRIu64, cfg->group_bytes, unit);
    }
    if (cfg->atomic_bytes && !cfg->plp) {
        return fail(error, "buffer.atomic=%" PRIu64 ": needs buffer.plp=on",
                    cfg->atomic_bytes);
    }
    if (cfg->atomic_bytes > slots / 2 * unit) {
        return fail(error,
                    "buffer.atomic=%" PRIu64 ": allowed 0..%" PRIu64
                    ", half of the buffer",
                    cfg->atomic_bytes, slots / 2 * unit);
    }
    if (cfg->plp && cfg->ignore_flush) {
        return fail(error, "buffer.ignore_flush=on: not with buffer.plp=on, "
                    "which leaves a flush nothing to do");
    }
    if (cfg->plp && cfg->free_at == SSD_FREE_AT_DATA_IN) {
        return fail(error, "buffer.free_at=data-in: not with buffer.plp=on, "
                    "which keeps a unit until it is programmed");
    }
    if (cfg->nand.one_shot && cfg->nand.pages < 4 * (cfg->nand.cell + 1)) {
        return fail(error, "nand.pages=%u: with nand.one_shot a block needs "
                    "at least 4 word lines",
                    cfg->nand.pages);
    }
    return true;
}

bool ssd_config_faults(const SsdConfig *cfg, const SsdLayout *l,
                       Faults **faults, GError **error)
{
    const FaultLimits limits = {
        .n_channels = cfg->nand.channels,
        .n_dies = cfg->nand.channels * cfg->nand.chips * cfg->nand.dies,
        .planes_per_die = cfg->nand.planes,
        .blocks_per_plane = cfg->nand.blocks,
        .pages_per_block = cfg->nand.pages,
        .n_lbas = l->user_units * (cfg->unit_bytes / cfg->block_bytes),
    };

    *faults = NULL;
    if (!cfg->faults || *cfg->faults == '\0') {
        return true;
    }
    *faults = faults_load(cfg->faults, &limits, error);
    if (!*faults) {
        return false;
    }
    if (faults_is_empty(*faults)) { /* its rules are the host's */
        g_clear_pointer(faults, faults_free);
    }
    return true;
}

bool ssd_is_host_rule(const char *line)
{
    return faults_is_host_rule(line);
}

static bool check_faults(const SsdConfig *cfg, const SsdLayout *l,
                         GError **error)
{
    Faults *faults;
    bool fails;

    if (!ssd_config_faults(cfg, l, &faults, error)) {
        return false;
    }
    fails = faults && faults_may_fail(faults);
    faults_free(faults);
    return !fails || !(ssd_map_lacks(cfg->mapper) & NEED_BAD_BLOCKS) ||
           fail(error, "ftl.map=%s: not with faults=%s, where a program or an "
                "erase fails", ssd_map_name(cfg->mapper), cfg->faults);
}

static bool check_read_ahead(const SsdConfig *cfg, GError **error)
{
    return cfg->read_ahead == 0 ||
           (cfg->read_ahead % cfg->unit_bytes == 0 &&
            cfg->read_ahead >= 2 * cfg->unit_bytes) ||
           fail(error,
                "host.read_ahead=%" PRIu64 ": must be 0 or a multiple "
                "of ftl.unit=%" PRIu64 ", at least 2 of them",
                cfg->read_ahead, cfg->unit_bytes);
}

static bool check_dram(const SsdConfig *cfg, GError **error)
{
    if (cfg->dram_shared && !cfg->dram_mb_s) {
        return fail(error, "buffer.shared=on: needs buffer.mb_s, without which "
                           "DRAM has no bandwidth to share");
    }
    return !cfg->map_bytes || cfg->dram_mb_s ||
           fail(error,
                "buffer.map_bytes=%u: needs buffer.mb_s, without which "
                "DRAM takes no time for bytes",
                cfg->map_bytes);
}

static bool check_hmb(const SsdConfig *cfg, GError **error)
{
    return cfg->hmb_bytes == 0 ||
           (ssd_map_in_nand(cfg->mapper) && cfg->hmb_bytes >= 64) ||
           fail(error,
                "ftl.hmb=%" PRIu64 ": must be 0 or at least 64, and "
                "needs ftl.map=dftl, whose entries it holds",
                cfg->hmb_bytes);
}

static bool check_power_of_two(const char *key, uint32_t value, uint32_t least,
                               GError **error)
{
    return (value >= least && (value & (value - 1)) == 0) ||
           fail(error, "%s=%u: must be a power of two, at least %u", key, value,
                least);
}

static bool check_pcie(const SsdConfig *cfg, GError **error)
{
    if (cfg->pcie_rcb &&
        !check_power_of_two("host.pcie_rcb", cfg->pcie_rcb, 64, error)) {
        return false;
    }
    if (!cfg->pcie_mps) {
        return !cfg->pcie_nvme ||
               fail(error, "host.pcie_nvme=on: needs host.pcie_mps, without "
                           "which packets cost nothing");
    }
    return check_power_of_two("host.pcie_mps", cfg->pcie_mps, 128, error) &&
           check_power_of_two("host.pcie_mrrs", cfg->pcie_mrrs, 128, error);
}

bool ssd_config_check(const SsdConfig *cfg, GError **error)
{
    SsdLayout layout;

    return nand_config_check(&cfg->nand, error) && check_units(cfg, error) &&
           fdp_check(cfg, error) && check_upkeep(cfg, error) &&
           superblock_config_check(cfg, error) &&
           slc_config_check(cfg, error) && check_policies(cfg, error) &&
           zones_check(cfg, error) && latency_check(cfg, error) &&
           check_logs(cfg, error) && thermal_check(cfg, error) &&
           check_pcie(cfg, error) && check_read_ahead(cfg, error) &&
           check_dram(cfg, error) && check_hmb(cfg, error) &&
           ssd_layout(cfg, &layout, error) && check_faults(cfg, &layout, error);
}
