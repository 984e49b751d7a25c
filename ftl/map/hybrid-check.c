/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hybrid-check.c - check of the tables of a log-block map.
 */
#include "check.h"
#include "map/hybrid.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "media/media.h"
#include "media/spare.h"
#include "ssd-internal.h"

static uint32_t n_logical(const Ssd *ssd)
{
    return ssd->l.n_planes * ssd->l.logical_blocks;
}

static bool is_mapped(const Ssd *ssd, uint32_t block, uint32_t plane)
{
    return block < ssd->geo->n_blocks && block_plane(ssd, block) == plane &&
           block_state(ssd, block) == BLOCK_MAPPED;
}

static bool is_record(const Ssd *ssd, uint32_t log, uint32_t plane)
{
    return log / ssd->l.log_blocks == plane;
}

static bool none_or_record(const Ssd *ssd, uint32_t log, uint32_t plane)
{
    return log == NONE || is_record(ssd, log, plane);
}

/* Each block has one place at most. */
static bool claim(uint8_t *seen, uint32_t block, GError **error)
{
    CHECK(!(seen[block / 8] >> (block % 8) & 1),
          "block %u is in two places of the log-block map", block);
    seen[block / 8] |= (uint8_t)(1U << (block % 8));
    return true;
}

/* Units of the block belong to the logical block, at their offset if it is a data
 * block (those of pages from first on). */
static bool check_units(const Ssd *ssd, uint32_t block, uint32_t logical,
                        bool at_offset, uint32_t first, GError **error)
{
    for (uint32_t i = 0; i < ssd->l.units_per_block; i++) {
        uint64_t ppu = block_ppu(ssd, block) + i;
        LogicalPage at;

        if (!unit_is_valid(ssd, ppu)) {
            continue;
        }
        at = logical_place(ssd, spare_lpn(ssd, ppu));
        CHECK(at.logical == logical,
              "block %u of logical block %u holds a unit of %u", block, logical,
              at.logical);
        CHECK(!at_offset ||
                  at.page * ssd->l.units_per_program + at.unit == i,
              "block %u holds a unit of page %u at %u", block, at.page, i);
        CHECK(at.page >= first,
              "data block %u holds page %u, the log block has it in order",
              block, at.page);
    }
    return true;
}

/* From which page on the data block may hold something: an own log block that
 * is in order holds the pages before that. */
static uint32_t first_of_data(const Ssd *ssd, uint32_t logical)
{
    uint32_t log = ssd->map->log_of[logical];
    const LogBlock *l = &ssd->map->log_block[log];

    return log != NONE && l->in_order && block_at(ssd, l->block)->pending == 0
               ? hybrid_next(ssd, l->block)
               : 0;
}

static bool check_logical(const Ssd *ssd, uint32_t logical, uint8_t *seen,
                          GError **error)
{
    uint32_t data = ssd->map->data_block[logical];
    uint32_t log = ssd->map->log_of[logical];
    uint32_t plane = logical / ssd->l.logical_blocks;

    CHECK((data == NONE || is_mapped(ssd, data, plane)) &&
              none_or_record(ssd, log, plane),
          "logical block %u: block %u, log block %u", logical, data, log);
    CHECK(log == NONE || (ssd->map->log_block[log].block != NONE &&
                          ssd->map->log_block[log].logical == logical),
          "logical block %u: log block %u belongs to %u", logical, log,
          ssd->map->log_block[log].logical);
    return data == NONE ||
           (claim(seen, data, error) &&
            check_units(ssd, data, logical, true, first_of_data(ssd, logical),
                        error));
}

static bool check_log(const Ssd *ssd, uint32_t log, uint8_t *seen,
                      GError **error)
{
    const LogBlock *l = &ssd->map->log_block[log];

    CHECK(l->block != NONE && is_mapped(ssd, l->block,
                                        log / ssd->l.log_blocks),
          "log block %u has no block", log);
    CHECK(l->logical == NONE ? !l->in_order
                             : ssd->map->log_of[l->logical] == log,
          "log block %u of logical block %u is not its", log, l->logical);
    return claim(seen, l->block, error) &&
           (l->logical == NONE ||
            check_units(ssd, l->block, l->logical, l->in_order, 0, error));
}

/* Each record is in the list, free, or the sequential one. */
static bool check_logs(const Ssd *ssd, uint32_t plane, uint8_t *seen,
                       GError **error)
{
    const PlaneLogs *p = &ssd->map->plane[plane].logs;
    uint32_t sequential = p->sequential;
    uint32_t older = NONE;
    uint32_t n_free = 0;
    uint32_t log = p->list.head;

    for (uint32_t n = 0; n < p->list.n; n++) {
        CHECK(is_record(ssd, log, plane) &&
                  ssd->map->log_block[log].older == older && log != sequential,
              "the list of log blocks of plane %u", plane);
        if (!check_log(ssd, log, seen, error)) {
            return false;
        }
        older = log;
        log = ssd->map->log_block[log].newer;
    }
    CHECK(log == NONE && p->list.tail == older,
          "the list of log blocks of plane %u", plane);
    CHECK(none_or_record(ssd, sequential, plane),
          "the sequential log block of plane %u", plane);
    if (sequential != NONE &&
        (ssd->map->log_block[sequential].logical == NONE ||
         !check_log(ssd, sequential, seen, error))) {
        CHECK(error && *error, "the sequential log block of plane %u", plane);
        return false;
    }
    for (log = p->free; log != NONE; log = ssd->map->log_block[log].newer) {
        CHECK(is_record(ssd, log, plane) &&
                  ssd->map->log_block[log].block == NONE &&
                  n_free < ssd->l.log_blocks,
              "the list of free log blocks of plane %u", plane);
        n_free++;
    }
    CHECK(p->list.n + (sequential != NONE) + n_free == ssd->l.log_blocks,
          "plane %u: %u log blocks listed, %u free, of %u", plane, p->list.n,
          n_free, ssd->l.log_blocks);
    CHECK(ssd->placement->plane[plane].starved == merge_active(ssd, plane),
          "plane %u: merging %d", plane, merge_active(ssd, plane));
    return true;
}

/* Every block is free, being erased, or has its place. */
static bool check_blocks(const Ssd *ssd, uint8_t *seen, GError **error)
{
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        const Merge *m = &ssd->map->plane[i].logs.merge;

        if (m->log != NONE && m->kind == MERGE_FULL && m->to != NONE &&
            !claim(seen, m->to, error)) {
            return false;
        }
    }
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        unsigned state = block_state(ssd, b);
        bool placed = seen[b / 8] >> (b % 8) & 1;

        CHECK(placed == (state == BLOCK_MAPPED) &&
                  (placed || state == BLOCK_FREE || state == BLOCK_ERASING),
              "block %u in state %u, in the log-block map: %d", b, state,
              placed);
    }
    return true;
}

bool hybrid_check(const Ssd *ssd, bool at_rest, GError **error)
{
    g_autofree uint8_t *seen = g_malloc0(ssd->geo->n_blocks / 8 + 1);

    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        const Merge *m = &ssd->map->plane[i].logs.merge;

        CHECK(!at_rest || (m->log == NONE && !m->begun),
              "plane %u: a merge is under way", i);
    }
    for (uint32_t i = 0; i < n_logical(ssd); i++) {
        if (!check_logical(ssd, i, seen, error)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (!check_logs(ssd, i, seen, error)) {
            return false;
        }
    }
    return check_blocks(ssd, seen, error);
}
