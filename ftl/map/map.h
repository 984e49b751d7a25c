/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map.h - the map, and TRIM. */
#ifndef VSSD_FTL_MAP_H
#define VSSD_FTL_MAP_H

#include "layers.h"
#if FTL_LAYER < FTL_MAP
#error "ftl/map is above this component: docs/architecture.md"
#endif

#include "bitmap.h"
#include "buffer/buffer-internal.h"
#include "map/map-policy.h"
#include "map/map-internal.h"
#include "ssd-internal.h"

/* ---- map.c ------------------------------------------------------------- */

/* Does the map lead to something?  A TRIM under way may have overtaken it
 * (trim_covers()). */
static inline bool map_holds(const Ssd *ssd, uint64_t lpn)
{
    uint64_t entry = l2p_get(&ssd->l2p, lpn);

    return map_is_buffered(entry) ? !ssd->buffer->slot[map_slot(entry)].dead
                                  : entry != 0;
}

/* The newest version of lpn that the map knows; 0 if unmapped. */
uint64_t map_version(const Ssd *ssd, uint64_t lpn);

/* Trim: lpn reads as unmapped from now on. */
void map_trim(Ssd *ssd, uint64_t lpn);

/* The map entry of the copy in NAND that is current (0: none). */
uint64_t map_nand_entry(const Ssd *ssd, uint64_t lpn);

/* The mapping scheme hears that the unit's copy in NAND is elsewhere. */
static inline void map_changed(Ssd *ssd, uint64_t lpn, MapChange why)
{
    if (ssd->map->policy->changed && lpn < ssd->l.user_units) {
        ssd->map->policy->changed(ssd, lpn, why);
    }
}

static inline void map_changes_end(Ssd *ssd)
{
    if (ssd->map->policy->changes_end) {
        ssd->map->policy->changes_end(ssd);
    }
}

/* Notifications of the buffer about units; if the policy uses them. */
extern const BufferClient map_buffer_client;

/* A victim has been erased, or would have been. */
static inline void map_room(Ssd *ssd, uint32_t plane)
{
    map_changes_end(ssd);
    if (ssd->map->policy->room) {
        ssd->map->policy->room(ssd, plane);
    }
}

/* Let the copy of a unit that GC has moved be the current one, if the
 * old one still is; true: it was. */
bool map_move(Ssd *ssd, uint64_t from_ppu, uint64_t to_ppu);

/* ---- trim.c ------------------------------------------------------------ */

void trim_init(Ssd *ssd);
void trim_destroy(Ssd *ssd);
uint32_t trim_words(const Ssd *ssd); /* of L2p.group_used and Map.trim_left */

/* The TRIM begins to act; the next step of those under way; they are no more. */
void trim_start(Ssd *ssd, uint32_t cmd);
void trim_event(Ssd *ssd);
void trim_power_lost(Ssd *ssd);

/* Is the unit trimmed, while the map does not say so yet? */
static inline bool trim_covers(const Ssd *ssd, uint64_t lpn)
{
    uint64_t group = lpn >> ssd->l2p.group_shift;

    return bitmap_test(ssd->map->trim_left, group);
}

/* The map is about to be asked for units first..last, or changed. */
void trim_settle(Ssd *ssd, uint64_t first, uint64_t last);

static inline void trim_before(Ssd *ssd, uint64_t first, uint64_t last)
{
    if (G_UNLIKELY(ssd->map->n_trim_left > 0)) {
        trim_settle(ssd, first, last);
    }
}

bool trim_check(const Ssd *ssd, GError **error);

/* ---- dftl.c ------------------------------------------------------------ */

extern const StateStruct dftl_struct, dftl_page_struct, cmt_struct;

/* ---- check.c ------------------------------------------------------------- */

/* Component.check. */
bool map_check(const Ssd *ssd, bool at_rest, GError **error);

#endif
