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
    uint64_t walked; /* those that were preloaded where preloaded.h computes */
} MapSums;

static bool check_unit(const Ssd *ssd, uint64_t lpn, MapSums *n, GError **error)
{
    uint64_t now = l2p_get(&ssd->l2p, lpn);
    uint64_t entry;

    n->walked += ssd->preloaded.on && preloaded_entry(&ssd->preloaded, lpn) > 0;
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

/* ---- what is different from computed places (preloaded.h) ---------------- */

/* The bit of the unit is set: it became invalid, if it was preloaded there.
 * Then its logical unit is elsewhere. */
static bool bit_ok(const Ssd *ssd, uint64_t ppu)
{
    const Preloaded *p = &ssd->preloaded;

    return !p->on || !preloaded_has(p, ppu) ||
           map_nand_entry(ssd, preloaded_spare(p, ppu) - 1) != ppu + 1;
}

/* A spare area that was written: the map leads there, if its unit is valid. */
static bool spare_leads_back(const Ssd *ssd, uint64_t ppu)
{
    const Media *m = ssd->media;

    return !unit_is_valid(ssd, ppu) ||
           (numtable_get(&m->spare_lpn, ppu) != SPARE_NONE &&
            map_nand_entry(ssd, spare_lpn(ssd, ppu)) == ppu + 1);
}

/* ---- valid units --------------------------------------------------------- */

/* The same of a word of bits; n: units that it adds to those preloaded. */
static bool check_word(const Ssd *ssd, uint64_t i, uint64_t word, uint64_t *n)
{
    const Preloaded *p = &ssd->preloaded;
    bool good = true;

    *n += (uint64_t)__builtin_popcountll(word);
    for (; p->on && word; word &= word - 1) {
        uint64_t ppu = i * BITMAP_WORD + (uint64_t)__builtin_ctzll(word);

        *n -= 2ULL * preloaded_has(p, ppu);
        good = good && bit_ok(ssd, ppu);
    }
    return good;
}

static bool count_valid(const Ssd *ssd, uint64_t *n)
{
    const uint64_t *valid = ssd->media->valid;
    uint64_t words = bitmap_words(ssd->l.raw_units);
    bool good = true;
    LazyWalk w;

    *n = preloaded_units(&ssd->preloaded);
    lazy_walk_begin(&w, valid, words * sizeof(*valid));
    for (uint64_t i = lazy_walk_next(&w, 0) / sizeof(*valid); i < words;
         i = lazy_walk_next(&w, (i + 1) * sizeof(*valid)) / sizeof(*valid)) {
        good = check_word(ssd, i, valid[i], n) && good;
    }
    lazy_walk_end(&w);
    return good;
}

/* ---- the map ------------------------------------------------------------- */

/* While a TRIM is under way, a unit that was not touched may be mapped no
 * more. */
static uint64_t next_unit(const Ssd *ssd, LazyWalk *w, uint64_t lpn)
{
    return ssd->preloaded.on && ssd->map->n_trim_left > 0
               ? lpn
               : numtable_next(&ssd->l2p.entry, w, lpn);
}

static bool check_map(const Ssd *ssd, GError **error)
{
    const NumTable *t = &ssd->l2p.entry;
    const Media *m = ssd->media;
    uint64_t untouched = preloaded_units(&ssd->preloaded);
    MapSums n = {0};
    uint64_t valid;
    bool good = true;
    LazyWalk w;

    CHECK(count_valid(ssd, &valid) &&
              (!ssd->preloaded.on ||
               all_numbers(ssd, &m->spare_lpn, spare_leads_back)),
          "a unit that has left its place");
    numtable_walk(t, &w);
    for (uint64_t lpn = next_unit(ssd, &w, 0); lpn < t->n && good;
         lpn = next_unit(ssd, &w, lpn + 1)) {
        good = check_unit(ssd, lpn, &n, error);
    }
    lazy_walk_end(&w);
    if (!good) {
        return false;
    }
    untouched -= n.walked;
    n.in_nand += untouched;
    n.mapped += untouched;
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
