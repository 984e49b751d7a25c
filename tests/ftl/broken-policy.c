/* SPDX-License-Identifier: GPL-2.0-or-later */
/* broken-policy.c - a policy from outside that breaks the rule BREAKS, for
 * outside.c. */
#include <vssd-policy.h>

#define ABI         1
#define NO_FUNCTION 2
#define NO_PART     3
#define NAME        4
#define KIND        5
#define TOO_LARGE   6
#define GC_RANGE    10
#define GC_FREE     11
#define GC_NONE     12
#define GC_VIEW     13
#define GC_FAIL     14
#define GC_SCORE    15
#define ALLOC_RANGE 20
#define ALLOC_BUSY  21
#define ALLOC_NONE  22
#define BUF_RANGE   30
#define BUF_PINNED  31
#define BUF_NONE    32
#define BUF_FOLLOWS 33
#define BUF_LIST    34
#define BUF_EARLY   35
#define BUF_LISTS   36
#define PLACE_RANGE 40
#define MAP_RANGE   50
#define MAP_NONE    51

/* ---- gc ------------------------------------------------------------------ */

static uint32_t gc_pick(VssdView *v, uint32_t plane)
{
    uint32_t first = v->gc->oldest(v, plane);

    switch (BREAKS) {
    case GC_RANGE:
        return v->shape->blocks;
    case GC_FREE: /* of another plane: no candidate of this one */
        return plane == 0 ? v->shape->plane_blocks : 0;
    case GC_NONE:
        return VSSD_NONE;
    case GC_VIEW:
        v->gc->valid(v, v->shape->blocks + 7);
        return first;
    case GC_SCORE:
        return v->gc->best(v, plane);
    default:
        v->fail(v, "of its own will,\nin two lines");
        return first;
    }
}

static size_t state_bytes(const VssdShape *shape)
{
    (void)shape;
    return BREAKS == TOO_LARGE ? (size_t)VSSD_POLICY_STATE_MOST + 1 : 8;
}

static const VssdGcPolicy gc = {
    .size = sizeof(gc),
    .pick = BREAKS == NO_FUNCTION ? 0 : gc_pick,
};

/* ---- alloc --------------------------------------------------------------- */

static uint32_t alloc_pick(VssdView *v, uint64_t unit)
{
    (void)unit;
    switch (BREAKS) {
    case ALLOC_RANGE:
        return v->shape->planes;
    case ALLOC_BUSY:
        for (uint32_t i = 0; i < v->shape->planes; i++) {
            if (!v->alloc->accepts(v, i)) {
                return i;
            }
        }
        return v->alloc->stripe_plane(v, v->alloc->next_accepting(v, 0));
    default:
        return VSSD_NONE;
    }
}

static const VssdAllocPolicy alloc = {
    .size = sizeof(alloc), .depth = 1, .pick = alloc_pick};

/* ---- buffer -------------------------------------------------------------- */

static void buffer_insert(VssdView *v, uint32_t slot)
{
    v->list->move(v, slot, BREAKS == BUF_LIST ? VSSD_BUFFER_LISTS : 1);
}

static uint32_t buffer_victim(VssdView *v)
{
    switch (BREAKS) {
    case BUF_RANGE:
        return 1000000;
    case BUF_PINNED: /* a slot that is leaving, or free */
        for (uint32_t i = 0; i < v->shape->slots; i++) {
            uint32_t s = v->list->oldest(v, 1);

            while (s != VSSD_NONE && s != i) {
                s = v->list->newer(v, s);
            }
            if (s == VSSD_NONE) {
                return i;
            }
        }
        return v->list->oldest(v, 1);
    case BUF_FOLLOWS:
    case BUF_EARLY:
    case BUF_LISTS:
        return v->list->oldest(v, BREAKS != BUF_LISTS);
    default:
        return VSSD_NONE;
    }
}

static uint32_t buffer_follows(VssdView *v, uint64_t unit)
{
    (void)unit;
    return BREAKS == BUF_FOLLOWS ? v->shape->slot_numbers : VSSD_NONE;
}

static uint32_t buffer_early(VssdView *v)
{
    return BREAKS == BUF_EARLY ? v->shape->slot_numbers : VSSD_NONE;
}

static uint32_t buffer_lists(const VssdShape *shape)
{
    (void)shape;
    return BREAKS == BUF_LISTS ? 0 : VSSD_BUFFER_LISTS;
}

static const VssdBufferPolicy buffer = {
    .size = sizeof(buffer),
    .lists = buffer_lists,
    .insert = BREAKS == BUF_LISTS ? 0 : buffer_insert,
    .victim = buffer_victim,
    .follows = buffer_follows,
    .early = buffer_early,
};

/* ---- placement, map ------------------------------------------------------ */

static uint32_t stream(VssdView *v, uint64_t unit)
{
    (void)unit;
    return v->shape->streams;
}

static const VssdPlacementPolicy placement = {
    .size = sizeof(placement), .streams = 2, .stream = stream};

static void map_insert(VssdView *v, uint32_t entry)
{
    (void)v;
    (void)entry;
}

static uint32_t map_victim(VssdView *v)
{
    return BREAKS == MAP_NONE ? VSSD_NONE : v->shape->map_entries;
}

static const VssdMapPolicy map = {
    .size = sizeof(map), .insert = map_insert, .victim = map_victim};

const VssdPolicy vssd_policy = {
    .abi = VSSD_POLICY_ABI + (BREAKS == ABI),
    .kind = BREAKS == KIND         ? VSSD_POLICY_KINDS
            : BREAKS < ALLOC_RANGE ? VSSD_POLICY_GC
            : BREAKS < BUF_RANGE   ? VSSD_POLICY_ALLOC
            : BREAKS < PLACE_RANGE ? VSSD_POLICY_BUFFER
            : BREAKS < MAP_RANGE   ? VSSD_POLICY_PLACEMENT
                                   : VSSD_POLICY_MAP,
    .size = sizeof(vssd_policy),
    .name = BREAKS == NAME ? "two words" : "broken",
    .help = "breaks a rule",
    .state_bytes = state_bytes,
    .gc = BREAKS == NO_PART ? 0 : &gc,
    .alloc = &alloc,
    .buffer = &buffer,
    .placement = &placement,
    .map = &map,
};
