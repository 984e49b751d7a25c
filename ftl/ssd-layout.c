/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ssd-layout.c - sizes that follow from a configuration: units, spare blocks,
 * streams, metadata.
 *
 * Knows what each option takes of a plane.  Knows nothing of a running drive.
 */
#include "fdp-config.h"
#include "latency-config.h"
#include "numtable.h"
#include "outside-config.h"
#include "preloaded.h"
#include "slc-config.h"
#include "ssd-config.h"
#include "ssd-internal.h"
#include "superblock-config.h"
#include "zones-config.h"

#include <inttypes.h>

#define fail(error, ...) opt_fail(error, OPT_ERROR_COMBINATION, __VA_ARGS__)

/* The option that gave the user capacity, and its value. */
static char *room_option(const SsdConfig *cfg)
{
    return cfg->capacity
               ? g_strdup_printf("ftl.capacity=%" PRIu64, cfg->capacity)
               : g_strdup_printf("ftl.op_percent=%.4g", cfg->op_ppm / 1e4);
}

static bool fit_free(const SsdConfig *cfg, const char *key, uint32_t blocks,
                     uint32_t most, GError **error)
{
    g_autofree char *room = room_option(cfg);

    return blocks <= most ||
           fail(error,
                "%s: %u free blocks per plane, at most %u can be kept "
                "free with %s",
                key, blocks, most, room);
}

static bool layout_gc(const SsdConfig *cfg, SsdLayout *l, GError **error)
{
    uint64_t blocks = cfg->nand.blocks - cfg->nand.slc_blocks;
    uint32_t slack_blocks = (l->spare_blocks - l->busy_blocks) / 2;
    uint32_t most = l->spare_blocks - (l->busy_blocks - 1) - slack_blocks;

    l->slack_units = (uint64_t)slack_blocks * l->data_units;
    l->gc_low_blocks = (uint32_t)(blocks * cfg->gc_low_ppm / 1000000);
    l->gc_low_blocks = MAX(l->gc_low_blocks, l->gc_free_blocks + 1);
    l->gc_high_blocks = (uint32_t)(blocks * cfg->gc_high_ppm / 1000000);
    l->gc_high_blocks = MAX(l->gc_high_blocks, l->gc_low_blocks + 1);
    l->gc_soft_blocks = (uint32_t)(blocks * cfg->gc_soft_ppm / 1000000);
    l->slc_dynamic_blocks = (uint32_t)(blocks * cfg->slc_dynamic_ppm / 1000000);
    return fit_free(cfg, "ftl.gc_high", l->gc_high_blocks, most, error) &&
           fit_free(cfg, "ftl.gc_soft", l->gc_soft_blocks, most, error) &&
           latency_layout(cfg, l, error) &&
           fit_free(cfg, "latency.free", l->window_blocks, most, error);
}

/* Streams, and their part of a plane's blocks; see SsdLayout. */
static void layout_streams(const SsdConfig *cfg, SsdLayout *l)
{
    uint32_t plane_open;

    l->n_handles = cfg->ruhs    ? cfg->ruhs
                   : cfg->zoned ? zones_streams(l)
                                : cfg->streams + 1 + fdp_own_streams(cfg);
    l->held_stream = l->zrwa_units ? l->n_handles - 1 : UINT32_MAX;
    l->n_groups = cfg->ruhs ? cfg->groups : 1;
    l->n_streams = l->n_handles * l->n_groups;
    l->group_planes = l->n_planes / l->n_groups;
    l->whole_rows = superblock_row(cfg) > 1;
    l->row_planes = l->whole_rows ? superblock_row(cfg)
                    : l->n_streams == 1 || !ssd_alloc_in_rows(cfg->alloc) ? 0
                    : cfg->nand.multi_plane ? cfg->nand.planes
                                            : 1;
    l->set_planes = superblock_width(cfg);
    l->row_pages = l->row_planes;
    if (l->parity_dies) {
        l->row_pages -= l->row_planes / l->parity_dies;
    }
    fdp_classes(cfg, l);
    l->slc_handles = slc_streams(cfg, l);
    l->slc_some =
        l->slc_handles != UINT64_MAX >> (SSD_MOST_STREAMS - l->n_handles);
    l->n_gc_classes = l->n_stream_classes;
    l->cold_class =
        cfg->wear == SSD_WEAR_STATIC ? l->n_gc_classes++ : UINT32_MAX;
    l->meta_class = l->n_meta_pages ? l->n_gc_classes++ : UINT32_MAX;
    l->n_aside = ssd_alloc_draws_block(cfg->alloc) ? cfg->random_blocks - 1 : 0;
    l->n_open =
        l->n_streams + (l->n_meta_pages > 0) + l->n_gc_classes + l->n_aside;
    plane_open = l->n_open - l->n_streams + l->n_handles;
    l->gc_free_blocks = l->n_gc_classes;
    /* Blocks open for zones are of their capacity. */
    l->busy_blocks =
        cfg->zoned ? zones_busy_blocks(cfg) : plane_open + 2 * l->n_gc_classes;
    /* So that gc_low and gc_high find room between these and the slack. */
    l->min_spare_blocks = l->busy_blocks + 2 * (l->gc_free_blocks + 1);
    if (l->n_meta_pages && cfg->nand.slc_blocks) {
        /* While one in SLC mode is emptied, metadata waits for one more. */
        l->min_spare_blocks += 2;
    }
}

/*
 * The saved pages take 8 bytes for each logical unit, and each unit of the
 * translation pages, in blocks of its own: twice as many as it fills, one that
 * is written in each plane and one that is free.
 */
static void layout_saved(const SsdConfig *cfg, SsdLayout *l)
{
    uint64_t program = cfg->nand.page_bytes * l->pages_per_program;
    uint64_t per_block =
        (uint64_t)l->n_planes * cfg->nand.pages / l->pages_per_program;

    if (cfg->recovery == SSD_RECOVERY_CAPACITORS) {
        return;
    }
    l->saved_units = (uint32_t)(program / SAVED_ENTRY_BYTES);
    l->n_saved =
        (uint32_t)((l->user_units + l->meta_units + l->saved_units - 1) /
                   l->saved_units) +
        1;
    l->saved_blocks =
        2 + (uint32_t)((2 * l->n_saved + per_block - 1) / per_block);
    l->n_saved_flights = MIN(2 * l->n_planes, 256);
}

/* Bytes of an entry in a translation page: a physical address. */
static uint32_t map_entry_bytes(const SsdLayout *l)
{
    return l->raw_units < UINT32_MAX ? 4 : 8;
}

/* Pages of the drive's own, and their part of a plane. */
static void layout_meta(const SsdConfig *cfg, SsdLayout *l)
{
    uint64_t program = (uint64_t)l->units_per_program * cfg->unit_bytes;
    uint32_t copies = cfg->parity ? 2 : 1; /* media/mirror.c */

    if (ssd_map_in_nand(cfg->mapper)) {
        l->map_entries = (uint32_t)(program / map_entry_bytes(l));
        l->n_map_pages =
            (uint32_t)((l->user_units + l->map_entries - 1) / l->map_entries);
    }
    l->cache_entry_bytes = 2 * map_entry_bytes(l);
    l->n_meta_pages = copies * l->n_map_pages;
    l->meta_units = (uint64_t)l->n_meta_pages * l->units_per_program;
    l->meta_share_units = (uint64_t)l->units_per_program * copies *
                          ((l->n_map_pages + l->n_planes - 1) / l->n_planes);
}

/* A one-shot program takes several pages of a plane.  Consecutive pages of a
 * stream go to as many dies as there are, as long as the rows that are filled
 * side by side take at most half of the buffer.  Where data in the buffer is
 * safe, they wait for each other. */
static void layout_deal(const SsdConfig *cfg, SsdLayout *l)
{
    uint32_t planes = l->whole_rows ? l->row_planes : 1;
    uint32_t units = (l->whole_rows ? l->row_pages : 1) * l->units_per_program;
    uint64_t most = l->n_slots / 2 / l->n_streams / units;

    if (l->pages_per_program == 1 || !ssd_alloc_in_rows(cfg->alloc) ||
        ssd_map_least_logs(cfg->mapper) > 0) {
        return;
    }
    l->deal_rows = (uint32_t)MIN(l->group_planes / planes, most);
    l->deal_units = units;
    l->deal_waits = l->deal_rows > 0 && cfg->plp && cfg->nand.slc_blocks == 0 &&
                    cfg->slc_dynamic_ppm == 0;
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
    return b == 0 ? a : gcd(b, a % b);
}

/* A preload goes round the planes, or rows are dealt, so many at a time of all.
 * With one order for the whole drive, no pages beside the host's, and no tables
 * by unit but those that preloaded.h computes. */
static void layout_preload(const SsdConfig *cfg, SsdLayout *l)
{
    uint32_t n = 1;

    if (l->n_saved > 0 || l->n_groups > 1 || l->meta_units > 0 ||
        l->plain_units > 0 || cfg->parity ||
        ssd_map_least_logs(cfg->mapper) > 0) {
        return;
    }
    if (l->deal_rows > 0) {
        uint32_t rows = l->n_planes / (l->deal_units / l->units_per_program);

        n = l->deal_rows / gcd(l->deal_rows, rows);
    }
    if ((uint64_t)n * l->units_per_program * l->n_planes <= PRELOADED_MOST &&
        l->units_per_block <= PRELOADED_MOST) {
        l->preload_programs = n;
    }
}

static bool no_spare(const SsdConfig *cfg, const SsdLayout *l, uint64_t spare,
                     GError **error)
{
    g_autofree char *room = room_option(cfg);

    if (ssd_alloc_draws_block(cfg->alloc)) {
        return fail(error,
                    "ftl.random_blocks=%u: needs %u spare blocks in "
                    "each plane, there are %" PRIu64 " (more ftl.op_percent)",
                    cfg->random_blocks, l->min_spare_blocks, spare);
    }
    if (l->n_streams > 1 && !cfg->hot_cold && !outside_streams(cfg)) {
        return fail(error,
                    "%s=%u: needs %u spare blocks in each plane, there "
                    "are %" PRIu64 " (more ftl.op_percent%s)",
                    cfg->ruhs ? "fdp.ruhs" : "streams.max",
                    cfg->ruhs ? cfg->ruhs : cfg->streams, l->min_spare_blocks,
                    spare,
                    l->n_stream_classes > 1 ? ", or streams.gc=merge" : "");
    }
    return fail(
        error,
        "%s: leaves %" PRIu64
        " spare blocks of %u in each plane, at least %u are "
        "needed%s%s%s",
        room, spare, cfg->nand.blocks - cfg->nand.slc_blocks - l->saved_blocks,
        l->min_spare_blocks,
        cfg->wear == SSD_WEAR_STATIC ? " (fewer without "
                                       "ftl.wear=static)"
                                     : "",
        l->n_map_pages ? " (fewer with ftl.map=page)" : "",
        l->parity_dies ? " (more are left without superblock.parity)" : "");
}

static uint64_t user_units(const SsdConfig *cfg, uint64_t physical_units)
{
    return cfg->capacity ? cfg->capacity / cfg->unit_bytes
                         : (uint64_t)((unsigned __int128)physical_units *
                                      1000000 / (1000000 + cfg->op_ppm));
}

/*
 * A log-block map: each plane has a data block for each of its logical blocks,
 * its log blocks, one to merge into, and one that is being erased meanwhile.
 * Pages go round the planes by their address.
 */
static bool layout_logs(const SsdConfig *cfg, SsdLayout *l, GError **error)
{
    uint64_t programs =
        (l->user_units + l->units_per_program - 1) / l->units_per_program;
    uint64_t of_plane = (programs + l->n_planes - 1) / l->n_planes;
    uint32_t per_block = cfg->nand.pages / l->pages_per_program;
    uint64_t logical = (of_plane + per_block - 1) / per_block;
    uint64_t spare = cfg->nand.blocks - MIN(logical, cfg->nand.blocks);
    uint32_t logs = MAX(cfg->log_blocks, ssd_map_least_logs(cfg->mapper));
    g_autofree char *room = room_option(cfg);

    if (spare < logs + 2) {
        return fail(error,
                    "%s: leaves %" PRIu64 " spare blocks of %u in each "
                    "plane, ftl.map=%s needs %u log blocks and 2",
                    room, spare, cfg->nand.blocks, ssd_map_name(cfg->mapper),
                    logs);
    }
    l->logical_blocks = (uint32_t)logical;
    l->log_blocks = cfg->log_blocks ? logs : (uint32_t)spare - 2;
    l->spare_blocks = (uint32_t)spare;
    l->min_spare_blocks = l->log_blocks + 2;
    l->busy_blocks = 1;
    l->gc_high_blocks = 1;
    if (l->units_per_program > 1) {
        /* Pages are full if there is something to choose from in each plane. */
        l->ready_units =
            MIN(l->n_slots / 2, l->n_planes * l->units_per_program);
        l->ready_units = MAX(l->ready_units, l->units_per_program);
    }
    return true;
}

/* A slot whose room is another's already lives on until its page is programmed:
 * so many pages per plane may be under way, and as many wait for another try.
 */
static uint32_t leaving_slots(const SsdConfig *cfg, const SsdLayout *l)
{
    return cfg->free_at == SSD_FREE_AT_DATA_IN
               ? 2 * ssd_alloc_depth(cfg) * l->n_planes * l->units_per_program
               : 0;
}

bool ssd_layout(const SsdConfig *cfg, SsdLayout *l, GError **error)
{
    /* Blocks in SLC mode are a cache beside the capacity. */
    uint32_t blocks = cfg->nand.blocks - cfg->nand.slc_blocks;
    uint64_t share_blocks;

    *l = (SsdLayout){
        .units_per_page = (uint32_t)(cfg->nand.page_bytes / cfg->unit_bytes),
        .n_planes = cfg->nand.channels * cfg->nand.chips * cfg->nand.dies *
                    cfg->nand.planes,
        .n_slots = (uint32_t)(cfg->buffer_bytes /
                              (cfg->unit_bytes + ssd_buffer_overhead(cfg))),
    };
    l->pages_per_program = cfg->nand.one_shot ? cfg->nand.cell + 1 : 1;
    l->units_per_program = l->units_per_page * l->pages_per_program;
    l->units_per_block = l->units_per_page * cfg->nand.pages;
    l->slot_records = l->n_slots + leaving_slots(cfg, l);
    l->raw_units =
        (uint64_t)l->n_planes * cfg->nand.blocks * l->units_per_block;
    l->wide = cfg->wide_tables || l->raw_units > NUMTABLE_NARROW_MOST;
    l->parity_dies = superblock_parity_dies(cfg);
    l->data_units = l->units_per_block;
    if (l->parity_dies) { /* parity is no room for anything else */
        l->data_units -= l->units_per_block / l->parity_dies;
    }
    l->user_units =
        user_units(cfg, (uint64_t)l->n_planes * blocks * l->data_units);
    l->share_units = (l->user_units + l->n_planes - 1) / l->n_planes;
    if (cfg->zoned && !zones_layout(cfg, l, blocks, error)) {
        return false;
    }
    l->ready_units = l->units_per_program;
    layout_meta(cfg, l);
    share_blocks = (l->share_units + l->meta_share_units + l->data_units - 1) /
                   l->data_units;
    layout_streams(cfg, l);
    layout_deal(cfg, l);
    layout_saved(cfg, l);
    layout_preload(cfg, l);
    blocks -= MIN(blocks, l->saved_blocks);
    if (ssd_map_least_logs(cfg->mapper) > 0) {
        return layout_logs(cfg, l, error);
    }
    if (blocks < share_blocks + l->min_spare_blocks) {
        return no_spare(cfg, l, blocks - MIN(blocks, share_blocks), error);
    }
    l->spare_blocks = blocks - (uint32_t)share_blocks;
    return layout_gc(cfg, l, error);
}
