/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reasons.c - why a block of a plane is emptied next, and which.
 *
 * Knows the order of the reasons.  Each has a row: which block is the victim?
 * And a term: may there be one in the plane?  The parts of gc/ answer for
 * theirs; knows nothing of how a block is emptied (gc.c).
 */
#include "gc/reasons.h"

#include "gc/gc-policy.h"
#include "gc/gc-private.h"
#include "gc/gc-unit.h"
#include "gc/gc.h"
#include "gc/pace.h"
#include "gc/purge.h"
#include "gc/wear.h"
#include "journal/journal.h"
#include "media/lost-die.h"
#include "media/media.h"
#include "media/slc-cache.h"
#include "placement/placement.h"

typedef struct Reason {
    uint32_t (*victim)(Ssd *ssd, uint32_t plane); /* NONE: none now */
    NandCause cause;
    bool needs_room; /* a free block that the host could have */
    bool idle;       /* it pauses when the host comes back */
} Reason;

/* ---- bad blocks ---------------------------------------------------------- */

static bool bad_wants(const Ssd *ssd, uint32_t plane)
{
    return plane_at(ssd, plane)->n_retiring > 0;
}

/* Emptying one takes room and gives none back. */
static uint32_t bad_victim(Ssd *ssd, uint32_t plane)
{
    uint32_t block = plane * ssd->geo->blocks_per_plane;
    uint32_t next = ssd->gc->plane[plane].next;

    if (!bad_wants(ssd, plane)) {
        return NONE;
    }
    if (next != NONE && block_has_failed(ssd, next)) {
        return next; /* others of its superblock wait for it */
    }
    while (block_state(ssd, block) != BLOCK_FULL ||
           !block_has_failed(ssd, block)) {
        block++;
    }
    invariant(block_plane(ssd, block) == plane);
    return block;
}

/* ---- room ---------------------------------------------------------------- */

/* A dynamic block in SLC mode is a victim like others, of which GC takes the
 * first one if that has fewer valid units. */
static uint32_t cheaper_fold(const Ssd *ssd, uint32_t plane, uint32_t block)
{
    uint32_t slc = slc_oldest(ssd, plane_at(ssd, plane));

    return slc != NONE && (block == NONE || !gc_gains(ssd, block) ||
                           block_valid(ssd, slc) < block_valid(ssd, block))
               ? slc
               : block;
}

static bool room_wants(const Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);

    return gc_has_empty(ssd, p) || plane_load(ssd, plane)->active ||
           p->free.n <= p->gc_low_blocks || meta_is_short(ssd, plane);
}

/* A victim that gains room; NONE: GC is over, or nothing would gain. */
static uint32_t room_victim(Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);
    GcPlane *g = &ssd->gc->plane[plane];
    const GcLoad *load = gc_load(ssd, plane);
    uint32_t block;

    if (p->free.n + p->erases + g->held >= p->gc_high_blocks &&
        !meta_is_short(ssd, plane)) {
        pace_active(ssd, plane, false);
    }
    if (gc_has_empty(ssd, p)) {
        return gc_waits_for_unit(ssd, plane) ? NONE : p->bucket[0];
    }
    if ((!load->active && !g->forced) || gc_waits_for_unit(ssd, plane)) {
        return NONE;
    }
    g->forced = false;
    if (gc_leaves_data(ssd, p)) {
        return NONE;
    }
    if (gc_costs_nothing(ssd, p)) {
        return p->bucket[0]; /* costs no copy: no policy could do better */
    }
    block = gc_pick(ssd, plane);
    if (superblocks_are_on(ssd) && plane_is_short(ssd, p) &&
        (block == NONE || !gc_gains(ssd, block))) {
        ssd->gc->alone = true;
        block = gc_pick(ssd, plane);
        ssd->gc->alone = false;
    }
    block = cheaper_fold(ssd, plane, block);
    /* Less to gain is worth it only when there is no choice. */
    if (block != NONE && !gc_gains(ssd, block) &&
        p->free.n > plane_reserve(ssd, p)) {
        return NONE;
    }
    return block;
}

/* ---- the SLC cache ------------------------------------------------------- */

static bool fold_wants(const Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);

    return ssd->geo->has_slc && slc_wants_fold(ssd, p);
}

/* A block in SLC mode to be emptied into others, oldest first: only while
 * GC needs no room. */
static uint32_t fold_victim(Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);

    return p->free.n > p->gc_low_blocks && fold_wants(ssd, plane)
               ? p->slc_full.head
               : NONE;
}

/* ---- all of them --------------------------------------------------------- */

/* In the order in which they are asked for a victim. */
static const Reason reasons[] = {
    {bad_victim, NAND_CAUSE_GC, .needs_room = true},
    {reclaim_victim, NAND_CAUSE_REFRESH, .needs_room = true},
    {unit_answer, NAND_CAUSE_GC, .needs_room = false},
    {room_victim, NAND_CAUSE_GC, .needs_room = false},
    {wear_victim, NAND_CAUSE_WEAR, .needs_room = true},
    {purge_victim, NAND_CAUSE_REFRESH, .needs_room = true},
    {fold_victim, NAND_CAUSE_GC, .needs_room = false},
    {background_fold_victim, NAND_CAUSE_GC, .idle = true},
    {background_refresh_victim, NAND_CAUSE_REFRESH, .idle = true},
    {background_victim, NAND_CAUSE_GC, .idle = true},
};

/* A term for each row, and one for the two of background_wants(): the host asks
 * at each page, and calls through the table would cost more than the answers.
 */
bool reasons_want(const Ssd *ssd, uint32_t plane)
{
    invariant(plane < ssd->l.n_planes);
    return bad_wants(ssd, plane) || reclaim_wants(ssd, plane) ||
           unit_wants(ssd, plane) || room_wants(ssd, plane) ||
           wear_wants(ssd, plane) || purge_wants(ssd, plane) ||
           fold_wants(ssd, plane) || background_folds(ssd, plane) ||
           background_wants(ssd, plane);
}

uint32_t reasons_victim(Ssd *ssd, uint32_t plane, NandCause *cause)
{
    const Plane *p = plane_at(ssd, plane);
    bool room = p->free.n > plane_reserve(ssd, p) || plane_is_lost(ssd, plane);

    invariant(plane < ssd->l.n_planes);
    for (size_t i = 0; i < G_N_ELEMENTS(reasons); i++) {
        const Reason *r = &reasons[i];
        uint32_t block = r->needs_room && !room ? NONE : r->victim(ssd, plane);

        if (block != NONE) {
            ssd->gc->plane[plane].background = r->idle;
            *cause =
                r->victim == unit_answer ? unit_cause(ssd, block) : r->cause;
            return block;
        }
    }
    return NONE;
}
