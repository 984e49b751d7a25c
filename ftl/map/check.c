/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check.c - the members of map/, and the map (Component.check).
 */
#include "bitmap.h"
#include "buffer/buffer-internal.h"
#include "check.h"
#include "lazymem.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "media/media.h"
#include "media/spare.h"

/* Sums over the units of the map. */
typedef struct MapSums {
    uint64_t in_nand, mapped;
} MapSums;

static bool check_unit(const Ssd *ssd, uint64_t lpn, MapSums *n, GError **error)
{
    uint64_t now = l2p_get(&ssd->l2p, lpn);
    uint64_t entry;

    n->mapped += lpn < ssd->l.user_units && map_holds(ssd, lpn);
    if (map_is_buffered(now)) {
        const Slot *s = &ssd->buffer->slot[map_slot(now)];

        CHECK(s->state != SLOT_FREE && s->lpn == lpn,
              "lpn %" PRIu64 ": its slot holds lpn %" PRIu64 " in state %d",
              lpn, s->lpn, s->state);
    }
    entry = map_nand_entry(ssd, lpn);
    if (entry == 0) {
        return true;
    }
    n->in_nand++;
    CHECK(entry - 1 < ssd->l.raw_units, "lpn %" PRIu64 ": entry %" PRIu64, lpn,
          entry);
    CHECK(unit_is_valid(ssd, entry - 1),
          "lpn %" PRIu64 ": ppu %" PRIu64 " is not valid", lpn, entry - 1);
    CHECK(spare_lpn(ssd, entry - 1) == lpn,
          "lpn %" PRIu64 ": the spare area of ppu %" PRIu64 " says %" PRIu64,
          lpn, entry - 1, spare_lpn(ssd, entry - 1));
    return true;
}

static uint64_t count_valid(const Ssd *ssd)
{
    const uint64_t *valid = ssd->media->valid;
    uint64_t words = bitmap_words(ssd->l.raw_units);
    uint64_t n = 0;
    LazyWalk w;

    lazy_walk_begin(&w, valid, words * sizeof(*valid));
    for (uint64_t i = lazy_walk_next(&w, 0) / sizeof(*valid); i < words;
         i = lazy_walk_next(&w, (i + 1) * sizeof(*valid)) / sizeof(*valid)) {
        n += (uint64_t)__builtin_popcountll(valid[i]);
    }
    lazy_walk_end(&w);
    return n;
}

static bool check_map(const Ssd *ssd, GError **error)
{
    const NumTable *t = &ssd->l2p.entry;
    uint64_t valid = count_valid(ssd);
    MapSums n = {0};
    bool good = true;
    LazyWalk w;

    numtable_walk(t, &w);
    for (uint64_t lpn = numtable_next(t, &w, 0); lpn < t->n && good;
         lpn = numtable_next(t, &w, lpn + 1)) {
        good = check_unit(ssd, lpn, &n, error);
    }
    lazy_walk_end(&w);
    if (!good) {
        return false;
    }
    CHECK(valid == n.in_nand,
          "%" G_GUINT64_FORMAT " valid units, %" G_GUINT64_FORMAT
          " mapped to NAND",
          valid, n.in_nand);
    CHECK(n.mapped == ssd->l2p.mapped_units,
          "%" G_GUINT64_FORMAT " units mapped, %" G_GUINT64_FORMAT " counted",
          n.mapped, ssd->l2p.mapped_units);
    return true;
}

/* Does any block have a command that waits for its erase? */
static bool has_resets(const Ssd *ssd)
{
    const Map *map = ssd->map;
    bool any = false;

    for (uint32_t i = 0; map->resets && i < ssd->l.n_planes; i++) {
        any |= map->resets[i] > 0;
    }
    for (uint32_t b = 0; map->reset_of && b < ssd->geo->n_blocks; b++) {
        any |= map->reset_of[b] > 0;
    }
    return any;
}

bool map_check(const Ssd *ssd, bool at_rest, GError **error)
{
    bool own = ssd->map->policy->own_blocks != NULL;

    CHECK(!at_rest ||
              (ssd->map->n_trim_left == 0 && ssd->map->trims.head == NONE),
          "trims under way");
    CHECK(!at_rest || !has_resets(ssd), "resets of zones under way");
    for (uint32_t b = 0; b < ssd->geo->n_blocks && !own; b++) {
        CHECK(block_state(ssd, b) != BLOCK_MAPPED,
              "a block of a log-block map");
    }
    return check_map(ssd, error) && trim_check(ssd, error) &&
           (!ssd->map->policy->check ||
            ssd->map->policy->check(ssd, at_rest, error));
}
