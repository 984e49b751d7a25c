/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * preloaded.h - where the first data of a large drive is, computed.
 *
 * A preload (state/preload.c) goes round the planes in a fixed order, so that
 * after a period each plane has had the same number of units: from the order
 * within one period and the blocks of each plane in their order, the place of
 * each unit follows.  The map and the spare areas then hold what is different
 * (numtable.h), and so does the bitmap of valid units.
 *
 * The order is not assumed: it is noted while the first period is written.
 * What is not put where the period says is stored, as without this file.  So is
 * everything on a drive whose tables are small (PRELOADED_LEAST).
 *
 * Below every component, as the map (l2p.h).
 */
#ifndef VSSD_FTL_PRELOADED_H
#define VSSD_FTL_PRELOADED_H

#include "divide.h"
#include "options.h"
#include "ssd-types.h"

/* Bytes of the tables by unit from which on the places are computed.  Below,
 * reading them takes less time than computing them. */
#define PRELOADED_LEAST (1ULL << 30)

/* Units of a period, and of a block, at most (divide.h). */
#define PRELOADED_MOST (1U << 24)

/* Of a unit of the period: its plane + 1 (0: it was not noted), and the unit
 * among those that the period puts there. */
typedef struct PreloadedPlace {
    uint32_t plane;
    uint32_t unit;
} PreloadedPlace;

typedef struct Preloaded {
    bool wanted; /* ssd_preload() on an empty drive turns it on */
    bool on;
    uint64_t base;     /* lpn of the first unit */
    uint64_t matched;  /* units in a row that were where they are computed */
    uint32_t n_planes; /* these follow from the layout */
    uint32_t n_blocks;
    uint32_t plane_units;  /* of a plane in a period */
    uint32_t period_units; /* of all planes */
    uint32_t block_units;
    uint32_t plane_blocks;
    Divider by_period, by_plane, by_block, by_plane_blocks;
    PreloadedPlace *place; /* by unit of the period */
    uint32_t *nth;         /* by block with filled > 0: which of its plane's */
    uint32_t *filled;      /* by block: so many units are where computed */
    uint32_t *unit;        /* place, inverted: by plane and unit of it; + 1 */
    uint32_t *block;       /* nth, inverted: by nth and plane; + 1 */
} Preloaded;

/* When a drive is made. */
void preloaded_init(Ssd *ssd);
void preloaded_destroy(Ssd *ssd);

/* Bytes that the tables of a drive with computed places take. */
uint64_t preloaded_bytes(const Ssd *ssd);

/* An empty drive gets its first unit.  The map has first values now; the spare
 * areas get theirs from media/ (spare_computed()). */
void preloaded_begin(Ssd *ssd, uint64_t lpn);

/* n units, of one page or program, are preloaded.  true: they are where they
 * are computed; false: they are to be stored. */
bool preloaded_take(Preloaded *p, uint64_t lpn, uint64_t ppu, uint32_t n);

/* Has the order of a whole period been seen twice, and does a period begin with
 * lpn? */
bool preloaded_repeats(const Preloaded *p, uint64_t lpn);

/* So many periods follow, without a look at each.  The block of each plane that
 * is being filled has room. */
void preloaded_skip(Preloaded *p, uint32_t block, uint32_t periods);
void preloaded_skipped(Preloaded *p, uint32_t periods);

/* ppu + 1 of the first data of a unit; lpn + 1 of that of a physical one; 0:
 * there is none.  As NumTableFirst. */
uint64_t preloaded_entry(const void *of, uint64_t lpn);
uint64_t preloaded_spare(const void *of, uint64_t ppu);

/* Was data preloaded there, where it is computed?  With `on` only. */
bool preloaded_has(const Preloaded *p, uint64_t ppu) G_GNUC_PURE;

/* Units in all for which that is so. */
uint64_t preloaded_units(const Preloaded *p);

/* Saved members have been loaded: before the tables, and after them.  false:
 * they are not of this drive. */
bool preloaded_loading(Ssd *ssd);
bool preloaded_loaded(Ssd *ssd);

#endif
