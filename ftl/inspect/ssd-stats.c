/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ssd-stats.c - counters and histograms, as structs and as the tables of
 * statistics (ssd-stats.h, docs/results.md).
 */
#include "buffer/buffer-internal.h"
#include "hdr.h"
#include "buffer/buffer-policy.h"
#include "controller/controller-internal.h"
#include "gc/wear.h"
#include "inspect/inspect.h"
#include "journal/counters.h"
#include "journal/saved.h"
#include "map/hybrid.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "media/media-internal.h"
#include "media/media.h"
#include "media/parity.h"
#include "outside.h"
#include "placement/streams.h"
#include "power/power.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-sums.h"
#include "ssd-stats.h"
#include "thermal/thermal.h"

#include <string.h>

/* Operations of one kind since the last reset. */
static uint64_t ops_of_exactly(const Ssd *ssd, NandOpKind kind, NandCause cause)
{
    return nand_stats(ssd->nand)->ops[kind][cause] -
           ssd->inspect.nand_base.ops[kind][cause];
}

/* Pages and blocks: a copyback reads a page and programs one. */
static uint64_t ops_of(const Ssd *ssd, NandOpKind kind, NandCause cause)
{
    uint64_t n = ops_of_exactly(ssd, kind, cause);

    if (kind == NAND_READ || kind == NAND_PROGRAM) {
        n += ops_of_exactly(ssd, NAND_COPYBACK, cause);
    }
    return n;
}

static uint64_t ops_of_kind(const Ssd *ssd, NandOpKind kind)
{
    uint64_t n = 0;

    for (int c = 0; c < NAND_N_CAUSES; c++) {
        n += ops_of(ssd, kind, c);
    }
    return n;
}

bool ssd_read_only(const Ssd *ssd)
{
    return media_is_read_only(ssd);
}

uint64_t ssd_health(const Ssd *ssd)
{
    return (uint64_t)ssd->media->n_grown_bad << 1 | media_is_read_only(ssd);
}

uint32_t ssd_spare_percent(const Ssd *ssd)
{
    uint32_t least = ssd->l.min_spare_blocks;
    uint32_t most = ssd->l.spare_blocks - least;
    uint32_t left = most;

    if (most == 0) {
        return media_is_read_only(ssd) ? 0 : 100;
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        uint32_t spare = plane_at(ssd, i)->spare_blocks;

        left = MIN(left, spare - MIN(spare, least));
    }
    return left * 100 / most;
}

static void fill_media_counters(const Ssd *ssd, SsdCounters *c)
{
    const NandStats *s = nand_stats(ssd->nand);
    const NandStats *base = &ssd->inspect.nand_base;

    c->read_retries = s->read_retries - base->read_retries;
    c->uncorrectable_reads = s->uncorrectable - base->uncorrectable;
    c->program_failures = s->program_failures - base->program_failures;
    c->erase_failures = s->erase_failures - base->erase_failures;
    c->factory_bad_blocks = ssd->media->n_factory_bad;
    c->grown_bad_blocks = ssd->media->n_grown_bad;
    c->spare_percent = ssd_spare_percent(ssd);
    c->read_only = media_is_read_only(ssd);
}

/* All but those of erases over the life of the blocks. */
static void fill_counters(const Ssd *ssd, SsdCounters *c)
{
    *c = ssd->inspect.counters;
    c->nand_reads = ops_of_kind(ssd, NAND_READ);
    c->nand_programs = ops_of_kind(ssd, NAND_PROGRAM);
    c->nand_erases = ops_of_kind(ssd, NAND_ERASE);
    c->nand_bytes_written = c->nand_programs * ssd->geo->page_bytes;
    c->copied_units = ssd->inspect.count.gc_copied_units;
    fill_media_counters(ssd, c);
    c->waf = c->host_bytes_written
                 ? (double)c->nand_bytes_written / (double)c->host_bytes_written
                 : 0;
}

void ssd_get_counters(const Ssd *ssd, SsdCounters *c)
{
    uint64_t erases = 0;

    fill_counters(ssd, c);
    c->max_erase_count = 0;
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        uint32_t n = nand_erase_count(ssd->nand, b);

        erases += n;
        c->max_erase_count = MAX(c->max_erase_count, n);
    }
    c->mean_erase_count = (double)erases / ssd->geo->n_blocks;
    c->percent_used = wear_percent_used(ssd, erases);
}

void ssd_get_written(const Ssd *ssd, SsdWritten *w)
{
    *w = (SsdWritten){
        .host_bytes = ssd->inspect.counters.host_bytes_written,
        .nand_bytes = ops_of_kind(ssd, NAND_PROGRAM) * ssd->geo->page_bytes,
        .dirty_bytes = (uint64_t)ssd->buffer->n_unsafe << ssd->unit_shift,
        .free_blocks = numbers_free_blocks(ssd),
        .victim_valid = numbers_victim_mean(ssd),
    };
}

void ssd_known_counters(const Ssd *ssd, SsdCounters *c)
{
    const HostCounts *lost = &ssd->journal->counters.lost;

    ssd_get_counters(ssd, c);
    c->commands[SSD_OP_READ] -= lost->reads;
    c->commands[SSD_OP_WRITE] -= lost->writes;
    c->host_bytes_read -= lost->bytes_read;
    c->host_bytes_written -= lost->bytes_written;
}

uint64_t ssd_uncounted_ns(const Ssd *ssd)
{
    return (uint64_t)(ssd->journal->counters.lost_ps / PS_PER_NS);
}

const Hist *ssd_latency(const Ssd *ssd, SsdOp op)
{
    return &ssd->inspect.latency[op];
}

/* ---- values of the rows ---------------------------------------- */

static void init_heat(DriveStats *v, const Ssd *ssd)
{
    HeatSums *s;
    const HeatSums *base = &ssd->inspect.heat_base;

    v->heat = g_new(Heat, 1);
    *v->heat = thermal_now(ssd);
    s = &v->heat->sums;
    s->controller_nj -= base->controller_nj;
    s->warning_ps -= base->warning_ps;
    s->critical_ps -= base->critical_ps;
    for (unsigned i = 0; i < THERMAL_LEVELS; i++) {
        s->throttled_ps[i] -= base->throttled_ps[i];
        s->n_throttled[i] -= base->n_throttled[i];
    }
    s->n_wakes -= base->n_wakes;
    s->wake_ps -= base->wake_ps;
    for (unsigned i = 0; i < SSD_POWER_STATES; i++) {
        s->state_ps[i] -= base->state_ps[i];
    }
    v->nand_nj = accounts_total(&v->energy_sum);
    v->controller_nj = (double)s->controller_nj;
}

void drive_stats_init_brief(DriveStats *v, const Ssd *ssd)
{
    *v = (DriveStats){
        .ssd = ssd,
        .elapsed_ns = (uint64_t)(stats_elapsed_ps(ssd) / PS_PER_NS),
        .slc = slc_size(ssd),
    };
    fill_counters(ssd, &v->c);
    accounts_busy(ssd, &v->busy);
    ssd_utilization(ssd, &v->bus, &v->die);
    for (NandCause c = 0; c < NAND_N_CAUSES; c++) {
        v->energy[c] = accounts_energy(ssd, c);
        v->energy_sum.read += v->energy[c].read;
        v->energy_sum.program += v->energy[c].program;
        v->energy_sum.erase += v->energy[c].erase;
        v->energy_sum.bus += v->energy[c].bus;
    }
    v->use = accounts_use(ssd);
    explain_init(&v->explain, ssd);
    init_heat(v, ssd);
}

void drive_stats_init(DriveStats *v, const Ssd *ssd)
{
    drive_stats_init_brief(v, ssd);
    ssd_get_counters(ssd, &v->c);
    v->wear = g_new(uint32_t, ssd->geo->n_blocks);
    v->n_wear = numbers_wear(ssd, v->wear);
    numbers_by_valid(ssd, v->full_by_valid);
}

void drive_stats_clear(DriveStats *v)
{
    g_free(v->busy.channel);
    g_free(v->wear);
    g_free(v->heat);
}

/* Bytes programmed for a cause per byte of the host; they add up to waf. */
static double waf_of(const DriveStats *v, NandCause cause)
{
    double page = v->ssd->geo->page_bytes;
    double host = (double)v->c.host_bytes_written;

    return host > 0 ? (double)ops_of(v->ssd, NAND_PROGRAM, cause) * page / host
                    : 0;
}

/* Operations that shared their command with other planes. */
static uint64_t joined_of(const Ssd *ssd, NandOpKind kind)
{
    return nand_stats(ssd->nand)->joined[kind] -
           ssd->inspect.nand_base.joined[kind];
}

/* Reads with so many retries and one; the last one: or more. */
static uint64_t retried_of(const Ssd *ssd, unsigned i)
{
    return nand_stats(ssd->nand)->reads_by_retries[i] -
           ssd->inspect.nand_base.reads_by_retries[i];
}

static TimeSum time_of(const Ssd *ssd, NandCause cause, NandTime phase)
{
    return nand_stats(ssd->nand)->time_ps[cause][phase] -
           ssd->inspect.nand_base.time_ps[cause][phase];
}

/* The erase count that this share of the blocks does not exceed. */
static uint64_t wear_at(const DriveStats *v, uint64_t share, uint64_t of)
{
    return v->n_wear ? v->wear[(v->n_wear - 1) * share / of] : 0;
}

static uint64_t buffer_hits(const Ssd *ssd)
{
    return ssd->buffer->stats.read_hits + ssd->buffer->stats.write_hits;
}

static uint64_t buffer_misses(const Ssd *ssd)
{
    return ssd->buffer->stats.read_misses + ssd->buffer->stats.write_misses;
}

/* A value of numbers_sample_buffer(). */
static uint64_t buffer_then(const DriveStats *v, uint32_t point, uint32_t value)
{
    return v->ssd->inspect.buffer_series.point[point].value[value];
}

/* nJ in ns are W. */
static double mean_w(const DriveStats *v)
{
    return v->elapsed_ns
               ? (v->nand_nj + v->controller_nj) / (double)v->elapsed_ns
               : 0;
}

static double nj_per_byte(const DriveStats *v)
{
    double bytes =
        (double)v->c.host_bytes_read + (double)v->c.host_bytes_written;

    return bytes > 0 ? (v->nand_nj + v->controller_nj) / bytes : 0;
}

static double iops_of(const DriveStats *v)
{
    double n = (double)v->ssd->inspect.latency[SSD_N_OPS].n;

    return v->elapsed_ns ? n * 1e9 / (double)v->elapsed_ns : 0;
}

static void map_part(const void *ctx, JsonWriter *w)
{
    const Ssd *ssd = ctx;

    if (ssd->map->policy->stats) {
        stats_write(ssd->map->policy->stats, ssd, w);
    }
}

/* ---- sets ------------------------------------------------------------- */

static const char *cause_name(unsigned i)
{
    static const char *const names[NAND_N_CAUSES] = {
#define CAUSE_NAME(upper, lower) [NAND_CAUSE_##upper] = #lower,
        NAND_CAUSES(CAUSE_NAME)
#undef CAUSE_NAME
    };

    return names[i];
}

static const char *phase_name(unsigned i)
{
    static const char *const names[NAND_N_TIMES] = {
#define TIME_NAME(upper, lower) [NAND_TIME_##upper] = #lower,
        NAND_TIMES(TIME_NAME)
#undef TIME_NAME
    };

    return names[i];
}

static const char *merge_name(unsigned i)
{
    static const char *const names[N_MERGE_KINDS] = {
        [MERGE_SWITCH] = "switch",
        [MERGE_PARTIAL] = "partial",
        [MERGE_FULL] = "full",
    };

    return names[i];
}

static const char *cost_name(unsigned i)
{
    static const char *const names[N_COSTS] = {
#define COST_NAME(name, help) #name,
        SSD_COSTS(COST_NAME)
#undef COST_NAME
    };

    return names[i];
}

/* Backwards, as in the JSON text. */
static const char *op_name(unsigned i)
{
    static const char *const names[SSD_N_OPS + 1] = {
        "all", "shutdown", "flush", "trim", "write", "read",
    };

    return names[i];
}

void ssd_latency_log(const Ssd *ssd, GString *out)
{
    uint64_t elapsed_ns = (uint64_t)(stats_elapsed_ps(ssd) / PS_PER_NS);

    hdr_log_begin(out);
    for (unsigned i = 0; i <= SSD_N_OPS; i++) {
        hdr_log_add(out, op_name(i), 0, elapsed_ns,
                    &ssd->inspect.latency[SSD_N_OPS - i]);
    }
}

/* The number of elements of a list, from a DriveStats *v. */
#define COUNT(id, value)                                                       \
    static unsigned n_##id(const void *ctx)                                    \
    {                                                                          \
        const DriveStats *v = ctx;                                             \
                                                                               \
        return value;                                                          \
    }

COUNT(channels, v->ssd->geo->n_channels)
COUNT(dies, v->ssd->geo->n_dies)
COUNT(planes, v->ssd->geo->n_planes)
COUNT(samples, v->ssd->inspect.series.n)
COUNT(points, v->ssd->inspect.buffer_series.n)
COUNT(steps, recovery_n_steps(v->ssd))
COUNT(streams, v->ssd->l.n_streams)
COUNT(power_states, v->ssd->thermal->n_states)

static unsigned n_retries(const void *ctx)
{
    return NAND_RETRY_BINS;
}

static unsigned n_tenths(const void *ctx)
{
    return NUMBERS_TENTHS;
}

static const StatSet sets[] = {
    {"cause", "the cause of an operation of the array", NAND_N_CAUSES,
     cause_name, NULL},
    {"phase", "waits for the die and the channel, transfer, array, ECC",
     NAND_N_TIMES, phase_name, NULL},
    {"merge", "the kind of a merge ([mapping.md](mapping.md))", N_MERGE_KINDS,
     merge_name, NULL},
    {"op", "the kind of a command", SSD_N_OPS + 1, op_name, NULL},
    {"stage", "a part of the drive that commands pass", N_STAGES, stage_name,
     NULL},
    {"cost",
     "a part of the latency of a command "
     "([timing-model.md](timing-model.md))",
     N_COSTS, cost_name, NULL},
    {"channel", "each channel", 0, NULL, n_channels},
    {"die", "each die", 0, NULL, n_dies},
    {"plane", "each plane", 0, NULL, n_planes},
    {"tenth", "no valid unit up to one tenth of them, ..., all: 11 numbers", 0,
     NULL, n_tenths},
    {"retries", "1, 2, ... 15 retries, then 16 or more: 16 numbers", 0, NULL,
     n_retries},
    {"sample", "each sample, a pair: time and value", 0, NULL, n_samples},
    {"point", "each point of time; the arrays belong together", 0, NULL,
     n_points},
    {"step", "each step of the last recovery", 0, NULL, n_steps},
    {"stream", "each stream", 0, NULL, n_streams},
    {"state", "each power state", 0, NULL, n_power_states},
};

/* ---- the tables ------------------------------------------------------- */

static bool recovers(const void *ctx)
{
    const DriveStats *v = ctx;

    return saves(v->ssd);
}

static bool saves_counters(const void *ctx)
{
    const DriveStats *v = ctx;

    return v->ssd->cfg->counters_interval_ps > 0;
}

static const StatWhen when_saves_counters = {
    "with `ftl.counters_interval` ([power.md](power.md))", saves_counters};

static const StatWhen when_recovers = {
    "with `ftl.recovery` other than `capacitors` "
    "([recovery.md](recovery.md))",
    recovers};

static bool has_power(const void *ctx)
{
    const DriveStats *v = ctx;

    return v->ssd->thermal->on;
}

static bool has_slc(const void *ctx)
{
    const DriveStats *v = ctx;

    return v->ssd->geo->has_slc;
}

static const StatWhen when_slc = {"with `nand.slc_blocks` or `ftl.slc_dynamic` "
                                  "([slc-cache.md](slc-cache.md))",
                                  has_slc};

static const StatWhen when_power = {
    "with `thermal.resistance`, `power.active`, `power.idle` or "
    "`power.states` ([thermal.md](thermal.md))",
    has_power};

static bool has_heat(const void *ctx)
{
    const DriveStats *v = ctx;

    return v->ssd->thermal->heats;
}

static const StatWhen when_heat = {
    "with `thermal.resistance` ([thermal.md](thermal.md))", has_heat};

#define VALUE_GET(type, id, path, unit, reset, when, value, help)              \
    STAT_FUNCTION(DriveStats, type, id, value)
#define PLACED_GET(id, path, unit, when, place, help)                          \
    STAT_FUNCTION(DriveStats, COUNTER, id, place)
#define COUNTER_GET(id, path, unit, help)                                      \
    STAT_FUNCTION(DriveStats, COUNTER, id, &v->ssd->inspect.count.id)
#define SUM_GET(id, path, help)                                                \
    STAT_FUNCTION(DriveStats, TIME_COUNTER, id, &v->ssd->inspect.count.id)
#define VALUE_ROW(type, id, path, unit, reset, when, value, help)              \
    STAT_ROW(type, id, path, unit, reset, when, help)
#define PLACED_ROW(id, path, unit, when, place, help)                          \
    STAT_ROW(COUNTER, id, path, unit, RESET, when, help)
#define COUNTER_ROW(id, path, unit, help)                                      \
    STAT_ROW(COUNTER, id, path, unit, RESET, NULL, help)
#define SUM_ROW(id, path, help)                                                \
    STAT_ROW(TIME_COUNTER, id, path, "ns", RESET, NULL, help)

SSD_STATS(COUNTER_GET, SUM_GET, PLACED_GET, VALUE_GET)
SSD_HEAD_STATS(VALUE_GET)

static const StatRow rows[] = {
    SSD_STATS(COUNTER_ROW, SUM_ROW, PLACED_ROW, VALUE_ROW)};
static const StatRow head_rows[] = {SSD_HEAD_STATS(VALUE_ROW)};

const StatTable ssd_stats = {rows, G_N_ELEMENTS(rows), sets,
                             G_N_ELEMENTS(sets)};
const StatTable ssd_head_stats = {head_rows, G_N_ELEMENTS(head_rows), sets,
                                  G_N_ELEMENTS(sets)};

void ssd_stats_json_drive(const Ssd *ssd, JsonWriter *w)
{
    DriveStats v;

    drive_stats_init(&v, ssd);
    stats_write(&ssd_stats, &v, w);
    drive_stats_clear(&v);
}

void ssd_stats_gather(const Ssd *ssd, StatSums *into)
{
    DriveStats v;

    drive_stats_init(&v, ssd);
    stats_gather(&ssd_stats, &v, v.c.host_bytes_written, into);
    drive_stats_clear(&v);
}

void ssd_stats_json_sums(const Ssd *ssd, const StatSums *sums, JsonWriter *w)
{
    DriveStats v;

    drive_stats_init(&v, ssd);
    stats_write_sums(&ssd_stats, &v, sums, w);
    drive_stats_clear(&v);
}

void ssd_stats_members(const Ssd *ssd, JsonWriter *w)
{
    DriveStats v;

    drive_stats_init(&v, ssd);
    stats_write(&ssd_head_stats, &v, w);
    stats_write(&ssd_stats, &v, w);
    drive_stats_clear(&v);
}

void ssd_stats_json(const Ssd *ssd, JsonWriter *w, const char *key)
{
    json_open(w, key, '{');
    ssd_stats_members(ssd, w);
    json_close(w, '}');
}

/* The counters are those of the rows; the rest is where others begin. */
void inspect_reset(Ssd *ssd)
{
    DriveStats v = {.ssd = ssd};

    stats_reset(&ssd_stats, &v);
    for (int i = 0; i <= SSD_N_OPS; i++) {
        hist_init(&ssd->inspect.latency[i]);
    }
    memset(&ssd->inspect.counters, 0, sizeof(ssd->inspect.counters));
    ssd->inspect.nand_base = *nand_stats(ssd->nand);
    ssd->inspect.use_base = host_use(ssd);
    ssd->inspect.heat_base = thermal_now(ssd).sums;
    memset(&ssd->inspect.costs, 0, sizeof(ssd->inspect.costs));
    ssd->inspect.stats_since_ps = ssd->now_ps;
    accounts_reset(ssd);
    numbers_reset(ssd);
}
