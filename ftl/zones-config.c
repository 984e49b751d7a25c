/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zones-config.c - zones on superblocks: options and sizes.
 *
 * A zone is a row of blocks, one of each plane (zone_superblocks of them, if
 * zones.capacity is larger).  The host writes it in order, through a stream of
 * its own with ftl.alloc=in-order, so it fills exactly these blocks as long
 * as nothing is programmed twice and nothing is padded.  Options that do either
 * are refused.  A reset leaves the blocks empty, and they are erased at once
 * (map/reset.c); GC has nothing to copy.
 *
 * Limits: an active zone holds up to a program unit less one mapping unit in
 * the buffer.  Half of the buffer is for that; NVM Express Zoned Namespace
 * Command Set 1.1, section 2.1.1.4.1, Active and Open Resources.
 *
 * With zones.conventional there is a space without zones behind them, with a
 * stream of its own.  All spare blocks serve its GC: zones need none.  A plane
 * holds no more of it than its share and the slack (plane_has_share()), so
 * what the host overwrites there never takes the blocks of a zone.
 *
 * Units of a Zone Random Write Area stay in the buffer until they are committed
 * (buffer/commit.c): as many areas as fit into the other half.
 */
#include "zones-config.h"

#include "options.h"
#include "superblock-config.h"

#include <inttypes.h>

/* Blocks of a plane beside those of zones: one open for GC, one that GC
 * empties, one free. */
#define BUSY_BLOCKS  3
#define MOST_STREAMS 64 /* Buffer.dirty_streams */
#define MOST_ACTIVE  62
#define MOST_ZONES   (1U << 20)
#define MOST_UNITS   (1U << 28) /* of a zone: a command has 32 bits of blocks */

#define fail(error, ...) opt_fail(error, OPT_ERROR_COMBINATION, __VA_ARGS__)

/* The first option that zones do not go with, as it would have to be. */
static const char *needs(const SsdConfig *cfg)
{
    const struct {
        bool wrong;
        const char *need;
    } rule[] = {
        {!cfg->plp, "buffer.plp=on"},
        {cfg->unit_bytes > 4096, "ftl.unit of at most 4096"},
        {strcmp(ssd_alloc_name(cfg->alloc), "in-order") != 0,
         "ftl.alloc=in-order"},
        {strcmp(ssd_map_name(cfg->mapper), "page") != 0, "ftl.map=page"},
        {strcmp(ssd_buffer_name(cfg->buffer), "fifo") != 0,
         "buffer.policy=fifo"},
        {cfg->complete_at != SSD_COMPLETE_AT_BUFFER, "host.complete_at=buffer"},
        {cfg->flush_interval_ps > 0, "buffer.flush_interval=0"},
        {cfg->row_padding, "superblock.padding=off"},
        {cfg->streams > 0, "streams.max=0"},
        {cfg->ruhs > 0, "fdp.ruhs=0"},
        {cfg->hot_cold, "ftl.hot_cold=off"},
        {cfg->outside[VSSD_POLICY_PLACEMENT] != NULL, "ftl.placement=host"},
        {cfg->nand.slc_blocks > 0, "nand.slc_blocks=0"},
        {cfg->slc_dynamic_ppm > 0, "ftl.slc_dynamic=0"},
        {cfg->wear == SSD_WEAR_STATIC, "ftl.wear=fifo or dynamic"},
        {cfg->gc_soft_ppm > 0, "ftl.gc_soft=0"},
        {cfg->t_gc_period_ps > 0, "ftl.gc_period=0"},
        {cfg->gc_pace != SSD_GC_PACE_LATE, "ftl.gc_pace=late"},
        {cfg->refresh_reads || cfg->refresh_hours || cfg->refresh_retries ||
             cfg->read_reclaim,
         "no refresh (ftl.refresh_..., ftl.read_reclaim)"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(rule); i++) {
        if (rule[i].wrong) {
            return rule[i].need;
        }
    }
    return NULL;
}

/* An option of zones that is set although there are none. */
static const char *lonely(const SsdConfig *cfg)
{
    return cfg->zone_capacity          ? "zones.capacity"
           : cfg->zone_size            ? "zones.size"
           : cfg->zones_active         ? "zones.max_active"
           : cfg->zones_open           ? "zones.max_open"
           : cfg->zone_append          ? "zones.append_max"
           : cfg->zone_extension       ? "zones.extension"
           : cfg->zone_zrwa            ? "zones.zrwa"
           : cfg->zone_conventional    ? "zones.conventional"
           : cfg->t_zone_record_ps     ? "zones.reset_record"
           : cfg->t_zone_unit_ps       ? "zones.reset_unit"
           : cfg->t_append_ps          ? "zones.append_time"
           : cfg->zone_finish_ps       ? "zones.finish_after"
           : cfg->zone_reset_ps        ? "zones.reset_after"
           : cfg->zone_finish_limit_ps ? "zones.finish_limit"
                                       : NULL;
}

static bool is_power_of_two(uint64_t v)
{
    return v && (v & (v - 1)) == 0;
}

/* Sizes of Zone Random Write Areas by themselves. */
static bool check_zrwa(const SsdConfig *cfg, GError **error)
{
    if (!cfg->zone_zrwa && (cfg->zone_zrwa_granule || cfg->zones_zrwa)) {
        return fail(error, "%s: needs zones.zrwa",
                    cfg->zones_zrwa ? "zones.max_zrwa"
                                    : "zones.zrwa_granularity");
    }
    return cfg->zone_zrwa_granule % cfg->unit_bytes == 0 ||
           fail(error,
                "zones.zrwa_granularity=%" PRIu64 ": must be a multiple of "
                "ftl.unit=%" PRIu64,
                cfg->zone_zrwa_granule, cfg->unit_bytes);
}

static uint32_t seconds(uint64_t ps)
{
    return (uint32_t)(ps / (NS_PER_S * PS_PER_NS));
}

/* The standard has whole seconds, and a limit only with the recommendation. */
static bool check_limits(const SsdConfig *cfg, GError **error)
{
    const struct {
        uint64_t ps;
        const char *key;
    } limit[] = {
        {cfg->zone_finish_ps, "zones.finish_after"},
        {cfg->zone_finish_limit_ps, "zones.finish_limit"},
        {cfg->zone_reset_ps, "zones.reset_after"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(limit); i++) {
        if (limit[i].ps % (NS_PER_S * PS_PER_NS)) {
            return fail(error, "%s: must be whole seconds, at most 8640000",
                        limit[i].key);
        }
    }
    return !cfg->zone_finish_limit_ps || cfg->zone_finish_ps ||
           fail(error, "zones.finish_limit: needs zones.finish_after");
}

bool zones_check(const SsdConfig *cfg, GError **error)
{
    const char *key = lonely(cfg);

    if (!cfg->zoned) {
        return !key || fail(error, "%s: needs zones.enabled=on", key);
    }
    if (needs(cfg)) {
        return fail(error, "zones.enabled=on: needs %s", needs(cfg));
    }
    if (cfg->zone_capacity % cfg->unit_bytes) {
        return fail(error,
                    "zones.capacity=%" PRIu64 ": must be a multiple of "
                    "ftl.unit=%" PRIu64,
                    cfg->zone_capacity, cfg->unit_bytes);
    }
    if (cfg->zone_conventional % cfg->unit_bytes) {
        return fail(error,
                    "zones.conventional=%" PRIu64 ": must be a multiple of "
                    "ftl.unit=%" PRIu64,
                    cfg->zone_conventional, cfg->unit_bytes);
    }
    if (cfg->zone_append &&
        (!is_power_of_two(cfg->zone_append) || cfg->zone_append < 8192)) {
        return fail(error,
                    "zones.append_max=%" PRIu64 ": must be 0 or a power of "
                    "two of 8192 or more",
                    cfg->zone_append);
    }
    return check_limits(cfg, error) && check_zrwa(cfg, error);
}

static uint64_t next_power_of_two(uint64_t v)
{
    uint64_t p = 1;

    while (p < v) {
        p *= 2;
    }
    return p;
}

/* Capacity and stride of a zone. */
static bool layout_sizes(const SsdConfig *cfg, SsdLayout *l, GError **error)
{
    uint64_t superblock = (uint64_t)l->n_planes * l->data_units;
    uint64_t capacity =
        cfg->zone_capacity ? cfg->zone_capacity / cfg->unit_bytes : superblock;
    uint64_t stride = cfg->zone_size ? cfg->zone_size / cfg->unit_bytes
                                     : next_power_of_two(capacity);

    if (capacity > MOST_UNITS) {
        return fail(error,
                    "zones.capacity=%" PRIu64 ": allowed are %u mapping units, "
                    "%" PRIu64 " bytes",
                    capacity * cfg->unit_bytes, MOST_UNITS,
                    MOST_UNITS * cfg->unit_bytes);
    }
    if (!is_power_of_two(stride) || stride < capacity ||
        cfg->zone_size % cfg->unit_bytes) {
        return fail(error,
                    "zones.size=%" PRIu64 ": must be a power of two, at least "
                    "zones.capacity, %" PRIu64 " bytes",
                    cfg->zone_size, capacity * cfg->unit_bytes);
    }
    l->zone_units = capacity;
    l->zone_stride = stride;
    l->zone_superblocks = (uint32_t)((capacity + superblock - 1) / superblock);
    return true;
}

/*
 * Half of the buffer holds the areas, one that a write goes beyond, and as much
 * again for the write.  Identify has 16 bits for their blocks.
 */
static bool layout_zrwa(const SsdConfig *cfg, SsdLayout *l, GError **error)
{
    uint64_t granule = cfg->zone_zrwa_granule
                           ? cfg->zone_zrwa_granule / cfg->unit_bytes
                           : l->units_per_program;
    uint64_t units = cfg->zone_zrwa / cfg->unit_bytes;
    uint64_t most;

    if (!cfg->zone_zrwa) {
        return true;
    }
    if (cfg->zone_zrwa % (granule * cfg->unit_bytes) || units == 0 ||
        units > MIN(l->zone_units, UINT16_MAX)) {
        return fail(error,
                    "zones.zrwa=%" PRIu64 ": must be a multiple of "
                    "zones.zrwa_granularity, %" PRIu64 " bytes, up to the "
                    "capacity of a zone and 65535 mapping units",
                    cfg->zone_zrwa, granule * cfg->unit_bytes);
    }
    most = l->n_slots / 2 / units;
    if (most < 3 || cfg->zones_zrwa > MIN(most - 2, l->zones_active)) {
        return fail(error,
                    "zones.max_zrwa=%u: buffer.size=%" PRIu64 " has room for "
                    "%" PRIu64 " areas of zones.zrwa=%" PRIu64 ", half of it "
                    "less two, and zones.max_active is %u",
                    cfg->zones_zrwa, cfg->buffer_bytes, most < 3 ? 0 : most - 2,
                    cfg->zone_zrwa, l->zones_active);
    }
    l->zrwa_units = (uint32_t)units;
    l->zrwa_granule = (uint32_t)granule;
    l->zones_zrwa = cfg->zones_zrwa ? cfg->zones_zrwa
                                    : (uint32_t)MIN(most - 2, l->zones_active);
    return true;
}

static bool layout_limits(const SsdConfig *cfg, SsdLayout *l, GError **error)
{
    uint32_t row = superblock_row(cfg);
    uint32_t most = l->n_slots / 2 / (row * l->units_per_program);

    if (most == 0 || cfg->zones_active > most) {
        return fail(error,
                    "zones.max_active=%u: buffer.size=%" PRIu64 " has room for "
                    "%u active zones, half of it with a %s each",
                    cfg->zones_active, cfg->buffer_bytes, most,
                    row > 1 ? "row" : "program unit");
    }
    l->zones_active = cfg->zones_active
                          ? cfg->zones_active
                          : MIN(MIN(most, MOST_ACTIVE), l->n_zones);
    l->zones_open = cfg->zones_open ? cfg->zones_open : l->zones_active;
    if (l->zones_open > l->zones_active) {
        return fail(error,
                    "zones.max_open=%u: allowed 1..%u (zones.max_active)",
                    l->zones_open, l->zones_active);
    }
    return layout_zrwa(cfg, l, error);
}

bool zones_layout(const SsdConfig *cfg, SsdLayout *l, uint32_t blocks,
                  GError **error)
{
    uint64_t superblock = (uint64_t)l->n_planes * l->data_units;
    uint64_t plain = cfg->zone_conventional / cfg->unit_bytes;
    uint64_t spare = zones_busy_blocks(cfg) + 2 * (1 + 1);
    uint64_t taken = spare + (plain + superblock - 1) / superblock;
    uint64_t fit;

    if (!layout_sizes(cfg, l, error)) {
        return false;
    }
    fit = MIN((l->user_units - MIN(l->user_units, plain)) / superblock,
              blocks - MIN(blocks, taken));
    l->n_zones = (uint32_t)MIN(fit / l->zone_superblocks, MOST_ZONES);
    if (l->n_zones == 0) {
        return fail(error,
                    "zones.enabled=on: no zone of %u blocks of each plane fits "
                    "beside %" PRIu64 " spare ones (nand.blocks=%u, "
                    "ftl.op_percent%s)",
                    l->zone_superblocks, taken, cfg->nand.blocks,
                    plain ? ", zones.conventional" : "");
    }
    l->plain_first = l->n_zones * l->zone_units;
    l->plain_units = plain;
    l->plain_share = (plain + l->n_planes - 1) / l->n_planes;
    l->user_units = l->plain_first + plain;
    l->share_units =
        (uint64_t)l->n_zones * l->zone_superblocks * l->data_units +
        l->plain_share;
    return layout_limits(cfg, l, error);
}

uint32_t zones_busy_blocks(const SsdConfig *cfg)
{
    return BUSY_BLOCKS + (cfg->zone_conventional > 0);
}

uint32_t zones_streams(SsdLayout *l)
{
    uint32_t held = l->zrwa_units > 0;
    uint32_t plain = l->plain_units > 0;
    uint32_t n = MIN(2 * l->zones_active, MOST_STREAMS - held - plain);

    l->plain_stream = plain ? n : 0;
    return n + plain + held;
}

void zones_info(const SsdConfig *cfg, const SsdLayout *l, SsdZones *zones)
{
    uint64_t superblock = (uint64_t)l->n_planes * l->data_units;
    uint64_t blocks = cfg->unit_bytes / cfg->block_bytes;

    if (!cfg->zoned) {
        return;
    }
    *zones = (SsdZones){
        .n = l->n_zones,
        .capacity = l->zone_units * blocks,
        .size = l->zone_stride * blocks,
        .max_active = l->zones_active,
        .max_open = l->zones_open,
        .extension = cfg->zone_extension * 64,
        .append_bytes = cfg->zone_append,
        .whole = l->zone_units == superblock * l->zone_superblocks,
        .records = cfg->t_zone_record_ps > 0,
        .zrwa = l->zrwa_units * blocks,
        .zrwa_granule = l->zrwa_granule * blocks,
        .max_zrwa = l->zones_zrwa,
        .held_stream = l->held_stream,
        .conventional = l->plain_units * blocks,
        .finish_s = seconds(cfg->zone_finish_ps),
        .finish_limit_s = seconds(cfg->zone_finish_limit_ps),
        .reset_s = seconds(cfg->zone_reset_ps),
    };
}
