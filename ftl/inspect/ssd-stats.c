/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ssd-stats.c - counters and histograms, as structs and as JSON
 * (docs/results.md).
 */
#include "buffer/buffer-policy.h"
#include "buffer/buffer.h"
#include "gc/gc-private.h"
#include "gc/gc.h"
#include "inspect/inspect.h"
#include "map/hybrid.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "media/media.h"
#include "placement/placement.h"
#include "power/power.h"
#include "ssd-internal.h"

#include <string.h>

static const char *const op_names[SSD_N_OPS + 1] = {
    "read", "write", "trim", "flush", "shutdown", "all",
};

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
    return ssd->media->read_only;
}

uint64_t ssd_health(const Ssd *ssd)
{
    return (uint64_t)ssd->media->n_grown_bad << 1 | ssd->media->read_only;
}

uint32_t ssd_spare_percent(const Ssd *ssd)
{
    uint32_t least = ssd->l.min_spare_blocks;
    uint32_t most = ssd->l.spare_blocks - least;
    uint32_t left = most;

    if (most == 0) {
        return ssd->media->read_only ? 0 : 100;
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        uint32_t spare = ssd->media->plane[i].spare_blocks;

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
    c->read_only = ssd->media->read_only;
}

void ssd_get_counters(const Ssd *ssd, SsdCounters *c)
{
    uint64_t erases = 0;
    uint64_t slc_erases = 0;

    *c = ssd->inspect.counters;
    c->nand_reads = ops_of_kind(ssd, NAND_READ);
    c->nand_programs = ops_of_kind(ssd, NAND_PROGRAM);
    c->nand_erases = ops_of_kind(ssd, NAND_ERASE);
    c->nand_bytes_written = c->nand_programs * ssd->geo->page_bytes;
    c->copied_units = ssd->inspect.gc_copied_units;
    fill_media_counters(ssd, c);
    c->max_erase_count = 0;
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        uint32_t n = nand_erase_count(ssd->nand, b);

        erases += n;
        slc_erases += nand_block_is_slc(ssd->geo, b) ? n : 0;
        c->max_erase_count = MAX(c->max_erase_count, n);
    }
    c->mean_erase_count = (double)erases / ssd->geo->n_blocks;
    c->percent_used = wear_percent_used(ssd, erases - slc_erases);
    c->waf = c->host_bytes_written ? (double)c->nand_bytes_written /
                                         (double)c->host_bytes_written
                                   : 0;
}

const Hist *ssd_latency(const Ssd *ssd, SsdOp op)
{
    return &ssd->inspect.latency[op];
}

void ssd_reset_stats(Ssd *ssd)
{
    for (int i = 0; i <= SSD_N_OPS; i++) {
        hist_init(&ssd->inspect.latency[i]);
    }
    memset(&ssd->inspect.counters, 0, sizeof(ssd->inspect.counters));
    memset(&ssd->buffer->stats, 0, sizeof(ssd->buffer->stats));
    memset(&ssd->gc->background_stats, 0, sizeof(ssd->gc->background_stats));
    memset(&ssd->map->merge_stats, 0, sizeof(ssd->map->merge_stats));
    ssd->inspect.nand_base = *nand_stats(ssd->nand);
    accounts_reset(ssd);
    ssd->inspect.stats_since_ps = ssd->now_ps;
    ssd->inspect.gc_copied_units = 0;
    ssd->gc->n_victims = 0;
    ssd->gc->victim_units = 0;
    ssd->gc->victim_valid = 0;
    ssd->gc->n_stripes = 0;
    ssd->gc->stripe_blocks = 0;
    numbers_reset(ssd);
    ssd->inspect.padded_units = 0;
    stream_reset_stats(ssd);
    if (ssd->map->policy->reset_stats) {
        ssd->map->policy->reset_stats(ssd);
    }
}

static void cause_json(const Ssd *ssd, JsonWriter *w, const char *key,
                       NandCause cause)
{
    json_open(w, key, '{');
    json_u64(w, "reads", ops_of(ssd, NAND_READ, cause));
    json_u64(w, "programs", ops_of(ssd, NAND_PROGRAM, cause));
    json_u64(w, "erases", ops_of(ssd, NAND_ERASE, cause));
    json_close(w, '}');
}

/* Bytes programmed for each cause per byte of the host; they add up to waf. */
static void waf_json(const Ssd *ssd, JsonWriter *w, const SsdCounters *c)
{
    double page = ssd->geo->page_bytes;
    double host = (double)c->host_bytes_written;

    json_open(w, "waf_by_cause", '{');
#define WAF_JSON(upper, lower)                                                 \
    json_double(w, #lower,                                                     \
                host > 0 ? (double)ops_of(ssd, NAND_PROGRAM,                   \
                                          NAND_CAUSE_##upper) *                \
                               page / host                                     \
                         : 0);
    NAND_CAUSES(WAF_JSON)
#undef WAF_JSON
    json_close(w, '}');
}

/* Operations that shared their command with other planes. */
static void joined_json(const Ssd *ssd, JsonWriter *w)
{
    const uint64_t *now = nand_stats(ssd->nand)->joined;
    const uint64_t *base = ssd->inspect.nand_base.joined;

    json_open(w, "multi_plane", '{');
    json_u64(w, "reads", now[NAND_READ] - base[NAND_READ]);
    json_u64(w, "programs", now[NAND_PROGRAM] - base[NAND_PROGRAM]);
    json_u64(w, "erases", now[NAND_ERASE] - base[NAND_ERASE]);
    json_close(w, '}');
}

static void nand_json(const Ssd *ssd, JsonWriter *w, const SsdCounters *c)
{
    json_open(w, "nand", '{');
    json_u64(w, "reads", c->nand_reads);
    json_u64(w, "programs", c->nand_programs);
    json_u64(w, "erases", c->nand_erases);
    json_open(w, "by_cause", '{');
#define CAUSE_JSON(upper, lower) cause_json(ssd, w, #lower, NAND_CAUSE_##upper);
    NAND_CAUSES(CAUSE_JSON)
#undef CAUSE_JSON
    json_close(w, '}');
    joined_json(ssd, w);
    json_u64(w, "max_erase_count", c->max_erase_count);
    json_double(w, "mean_erase_count", c->mean_erase_count);
    json_u64(w, "percent_used", c->percent_used);
    numbers_wear_json(ssd, w);
    accounts_json(ssd, w);
    json_close(w, '}');
}

static void media_json(JsonWriter *w, const SsdCounters *c)
{
    json_open(w, "media", '{');
    json_u64(w, "read_retries", c->read_retries);
    json_u64(w, "uncorrectable_reads", c->uncorrectable_reads);
    json_u64(w, "program_failures", c->program_failures);
    json_u64(w, "erase_failures", c->erase_failures);
    json_u64(w, "factory_bad_blocks", c->factory_bad_blocks);
    json_u64(w, "grown_bad_blocks", c->grown_bad_blocks);
    json_u64(w, "spare_percent", c->spare_percent);
    json_bool(w, "read_only", c->read_only);
    json_close(w, '}');
}

static void buffer_json(const Ssd *ssd, JsonWriter *w)
{
    const BufferStats *b = &ssd->buffer->stats;

    json_open(w, "buffer", '{');
    json_string(w, "policy", ssd->buffer->policy->name);
    json_u64(w, "hits", b->read_hits + b->write_hits);
    json_u64(w, "misses", b->read_misses + b->write_misses);
    json_u64(w, "read_hits", b->read_hits);
    json_u64(w, "read_misses", b->read_misses);
    json_u64(w, "write_hits", b->write_hits);
    json_u64(w, "write_misses", b->write_misses);
    json_u64(w, "clean_evictions", b->clean_evictions);
    json_u64(w, "dirty_evictions", b->dirty_evictions);
    json_u64(w, "early_flushes", b->early_flushes);
    json_u64(w, "rewrites_after_flush", b->rewrites_after_flush);
    json_double(w, "threshold", ssd->buffer->early.threshold_ppm / 1e6);
    json_u64(w, "units", ssd->l.n_slots);
    json_u64(w, "units_used", ssd->l.n_slots - ssd->buffer->n_free_slots);
    json_u64(w, "units_dirty", ssd->buffer->n_unsafe);
    json_u64(w, "padded_units", ssd->inspect.padded_units);
    numbers_buffer_json(ssd, w);
    json_close(w, '}');
}

static void gc_json(const Ssd *ssd, JsonWriter *w)
{
    uint64_t n_free = 0;

    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        n_free += ssd->media->plane[i].free.n;
    }
    json_open(w, "gc", '{');
    json_u64(w, "victims", ssd->gc->n_victims);
    json_u64(w, "copied_units", ssd->inspect.gc_copied_units);
    json_u64(w, "stripes", ssd->gc->n_stripes);
    json_u64(w, "stripe_blocks", ssd->gc->stripe_blocks);
    json_u64(w, "free_blocks", n_free);
    json_u64(w, "mapped_units", ssd->l2p.mapped_units);
    numbers_gc_json(ssd, w);
    json_close(w, '}');
}

static void map_json(const Ssd *ssd, JsonWriter *w)
{
    json_open(w, "map", '{');
    json_string(w, "scheme", ssd->map->policy->name);
    if (ssd->map->policy->json) {
        ssd->map->policy->json(ssd, w);
    }
    json_close(w, '}');
}

void ssd_stats_json_drive(const Ssd *ssd, JsonWriter *w)
{
    SsdCounters c;

    ssd_get_counters(ssd, &c);
    json_u64(w, "host_bytes_read", c.host_bytes_read);
    json_u64(w, "host_bytes_written", c.host_bytes_written);
    json_double(w, "waf", c.waf);
    waf_json(ssd, w, &c);
    nand_json(ssd, w, &c);
    media_json(w, &c);
    gc_json(ssd, w);
    merge_json(ssd, w);
    background_json(ssd, w);
    recovery_json(ssd, w);
    buffer_json(ssd, w);
    map_json(ssd, w);
    stream_json(ssd, w);
}

void ssd_stats_json(const Ssd *ssd, JsonWriter *w, const char *key)
{
    uint64_t ns = (ssd->now_ps - ssd->inspect.stats_since_ps) / PS_PER_NS;
    uint64_t n = ssd->inspect.latency[SSD_N_OPS].n;

    json_open(w, key, '{');
    json_u64(w, "schema_version", 1);
    json_string(w, "profile", ssd->cfg->profile ? ssd->cfg->profile : "");
    json_u64(w, "seed", ssd->cfg->seed);
    json_u64(w, "requests", n);
    json_u64(w, "sim_ns", ns);
    json_double(w, "iops", ns ? (double)n * 1e9 / (double)ns : 0);
    json_open(w, "latency_ns", '{');
    for (int i = SSD_N_OPS; i >= 0; i--) {
        json_hist(w, op_names[i], &ssd->inspect.latency[i]);
    }
    json_close(w, '}');
    ssd_stats_json_drive(ssd, w);
    json_close(w, '}');
}
