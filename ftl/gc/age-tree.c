/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * age-tree.c - the FULL blocks of a plane by age, where valid units alone do
 * not say which one is best: a policy weighs age against them
 * (ftl.gc=cost-benefit), those of the whole superblock count
 * (superblock.width), or how worn a block is (ftl.wear=static).
 *
 * A tournament tree over the blocks in the order of Plane.by_age: a node has
 * the fewest valid units of its blocks, and the time when the one that was left
 * alone longest was written.  No block of it scores more than these two
 * together, so the best one is found by looking at few nodes.  A block that
 * loses a unit changes the nodes above it up to the first that stays as it is,
 * mostly one or two.
 *
 * With superblock.width a node has the range of slots of its blocks'
 * superblocks, too (superblock-means.c), and no block of it scores more than
 * with the least mean of that range.  So a unit that is overwritten changes
 * nothing in the trees of the other planes.
 *
 * With ftl.wear=static a node has the number of its blocks, too, and the least
 * erases of one.
 *
 * Follows from the lists: it is rebuilt on use if it is not up to date (a state
 * was loaded, the power was cut), and when its places are used up.
 */
#include "check.h"
#include "gc/age-tree.h"
#include "gc/gc-private.h"
#include "gc/superblock-means.h"
#include "gc/wear.h"
#include "lazymem.h"
#include "media/blocks.h"
#include "media/media-internal.h"
#include "outside.h"
#include "ssd-internal.h"

#include <math.h>

#define NOTHING UINT32_MAX /* AgeNode.least: no block */

typedef struct AgeNode {
    uint32_t least;
    uint32_t mtime;
} AgeNode;

/* Slots of superblocks, see superblock_means_least(). */
typedef struct AgeSlots {
    uint32_t first, last;
} AgeSlots;

/* Blocks, and the least erases of one of them; NOTHING: there is none. */
typedef struct AgeWear {
    uint32_t n;
    uint32_t least;
} AgeWear;

#define NO_SLOTS ((AgeSlots){SLOTS_NONE_FIRST, SLOTS_NONE_LAST})

typedef struct PlaneAges {
    AgeNode *node;   /* 1 is the root; leaves from size on; or NULL */
    AgeSlots *slots; /* the same; NULL without Gc.superblock_means */
    AgeWear *wear;   /* the same; NULL without ftl.wear=static */
    uint32_t *block; /* by place */
    uint32_t next;   /* place */
    bool made;
} PlaneAges;

struct AgeTrees {
    uint32_t size;   /* places, a power of two, twice the blocks at least */
    uint32_t *place; /* by block */
    PlaneAges *plane;
};

void age_trees_init(Ssd *ssd)
{
    bool weighs = ssd->outside[VSSD_POLICY_GC]->policy->gc->score ||
                  ssd->gc->superblock_means;
    bool levels = ssd->cfg->wear == SSD_WEAR_STATIC;
    AgeTrees *t;

    if (!weighs && !levels) {
        return;
    }
    invariant(!ssd->gc->age_trees);
    t = g_new0(AgeTrees, 1);
    t->size = 2;
    while (t->size < 2 * ssd->geo->blocks_per_plane) {
        t->size *= 2;
    }
    t->place = lazy_new(uint32_t, ssd->geo->n_blocks);
    t->plane = g_new0(PlaneAges, ssd->l.n_planes);
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (weighs) {
            t->plane[i].node = lazy_new(AgeNode, 2 * (size_t)t->size);
        }
        if (levels) {
            t->plane[i].wear = lazy_new(AgeWear, 2 * (size_t)t->size);
        }
        t->plane[i].block = lazy_new(uint32_t, t->size);
        if (ssd->gc->superblock_means) {
            t->plane[i].slots = lazy_new(AgeSlots, 2 * (size_t)t->size);
        }
    }
    ssd->gc->age_trees = t;
}

void age_trees_destroy(Ssd *ssd)
{
    AgeTrees *t = ssd->gc->age_trees;

    if (!t) {
        return;
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        lazy_free(t->plane[i].node, 2 * (size_t)t->size, sizeof(AgeNode));
        lazy_free(t->plane[i].block, t->size, sizeof(uint32_t));
        lazy_free(t->plane[i].slots, 2 * (size_t)t->size, sizeof(AgeSlots));
        lazy_free(t->plane[i].wear, 2 * (size_t)t->size, sizeof(AgeWear));
    }
    lazy_free(t->place, ssd->geo->n_blocks, sizeof(*t->place));
    g_free(t->plane);
    g_free(t);
}

void age_trees_forget(Ssd *ssd)
{
    for (uint32_t i = 0; ssd->gc->age_trees && i < ssd->l.n_planes; i++) {
        ssd->gc->age_trees->plane[i].made = false;
    }
}

/* ---- nodes --------------------------------------------------------------- */

static AgeNode join(const Plane *p, const AgeNode *a, const AgeNode *b)
{
    if (a->least == NOTHING || b->least == NOTHING) {
        return a->least == NOTHING ? *b : *a;
    }
    return (AgeNode){
        .least = MIN(a->least, b->least),
        .mtime = p->clock - a->mtime >= p->clock - b->mtime ? a->mtime
                                                            : b->mtime,
    };
}

static void set_leaf(const Ssd *ssd, uint32_t plane, uint32_t place, AgeNode leaf)
{
    const AgeTrees *t = ssd->gc->age_trees;
    AgeNode *node = t->plane[plane].node;
    uint32_t i = t->size + place;

    if (!node) {
        return;
    }
    node[i] = leaf;
    for (i /= 2; i > 0; i /= 2) {
        AgeNode now =
            join(plane_at(ssd, plane), &node[2 * i], &node[2 * i + 1]);

        if (now.least == node[i].least && now.mtime == node[i].mtime) {
            break;
        }
        node[i] = now;
    }
}

static AgeSlots join_slots(const AgeSlots *a, const AgeSlots *b)
{
    return (AgeSlots){MIN(a->first, b->first), MAX(a->last, b->last)};
}

static void set_slots(const Ssd *ssd, uint32_t plane, uint32_t place,
                      AgeSlots leaf)
{
    const AgeTrees *t = ssd->gc->age_trees;
    AgeSlots *slots = t->plane[plane].slots;
    uint32_t i = t->size + place;

    if (!slots) {
        return;
    }
    slots[i] = leaf;
    for (i /= 2; i > 0; i /= 2) {
        AgeSlots now = join_slots(&slots[2 * i], &slots[2 * i + 1]);

        if (now.first == slots[i].first && now.last == slots[i].last) {
            break;
        }
        slots[i] = now;
    }
}

static AgeSlots slots_of(const Ssd *ssd, uint32_t block)
{
    uint32_t slot = superblock_means_slot(ssd, block);

    return slot == NONE ? NO_SLOTS : (AgeSlots){slot, slot};
}

static AgeWear join_wear(const AgeWear *a, const AgeWear *b)
{
    return (AgeWear){a->n + b->n, MIN(a->least, b->least)};
}

static void set_wear(const Ssd *ssd, uint32_t plane, uint32_t place,
                     AgeWear leaf)
{
    const AgeTrees *t = ssd->gc->age_trees;
    AgeWear *wear = t->plane[plane].wear;
    uint32_t i = t->size + place;

    if (!wear) {
        return;
    }
    wear[i] = leaf;
    for (i /= 2; i > 0; i /= 2) {
        wear[i] = join_wear(&wear[2 * i], &wear[2 * i + 1]);
    }
}

static AgeWear wear_of(const Ssd *ssd, uint32_t block)
{
    return (AgeWear){1, wear_cycles(ssd, block)};
}

static AgeNode leaf_of(const Ssd *ssd, uint32_t block)
{
    return (AgeNode){block_valid(ssd, block), block_at(ssd, block)->mtime};
}

static void clear(PlaneAges *a, uint32_t size)
{
    for (uint32_t i = 0; i < 2 * size; i++) {
        if (a->node) {
            a->node[i].least = NOTHING;
        }
        if (a->slots) {
            a->slots[i] = NO_SLOTS;
        }
        if (a->wear) {
            a->wear[i] = (AgeWear){0, NOTHING};
        }
    }
    a->next = 0;
}

static void make(Ssd *ssd, uint32_t plane)
{
    AgeTrees *t = ssd->gc->age_trees;
    PlaneAges *a = &t->plane[plane];
    const Plane *p = plane_at(ssd, plane);

    clear(a, t->size);
    for (uint32_t b = p->by_age.head; b != NONE; b = block_at(ssd, b)->newer) {
        invariant(a->next < t->size);
        t->place[b] = a->next;
        a->block[a->next] = b;
        if (a->node) {
            a->node[t->size + a->next] = leaf_of(ssd, b);
        }
        if (a->slots) {
            a->slots[t->size + a->next] = slots_of(ssd, b);
        }
        if (a->wear) {
            a->wear[t->size + a->next] = wear_of(ssd, b);
        }
        a->next++;
    }
    for (uint32_t i = t->size - 1; a->node && i > 0; i--) {
        a->node[i] = join(p, &a->node[2 * i], &a->node[2 * i + 1]);
    }
    for (uint32_t i = t->size - 1; a->slots && i > 0; i--) {
        a->slots[i] = join_slots(&a->slots[2 * i], &a->slots[2 * i + 1]);
    }
    for (uint32_t i = t->size - 1; a->wear && i > 0; i--) {
        a->wear[i] = join_wear(&a->wear[2 * i], &a->wear[2 * i + 1]);
    }
    a->made = true;
}

void age_tree_append(Ssd *ssd, uint32_t plane, uint32_t block)
{
    AgeTrees *t = ssd->gc->age_trees;
    PlaneAges *a = &t->plane[plane];

    invariant(plane < ssd->l.n_planes);
    invariant(block < ssd->geo->n_blocks);
    if (a->next == t->size) {
        a->made = false;
    }
    if (a->made) {
        invariant(block_state(ssd, block) == BLOCK_FULL);
        t->place[block] = a->next;
        a->block[a->next] = block;
        set_leaf(ssd, plane, a->next, leaf_of(ssd, block));
        if (a->slots) {
            set_slots(ssd, plane, a->next, slots_of(ssd, block));
        }
        set_wear(ssd, plane, a->next, wear_of(ssd, block));
        a->next++;
    }
}

void age_tree_remove(Ssd *ssd, uint32_t plane, uint32_t block)
{
    AgeTrees *t = ssd->gc->age_trees;

    invariant(plane < ssd->l.n_planes);
    invariant(block < ssd->geo->n_blocks);
    if (t->plane[plane].made) {
        invariant(t->plane[plane].block[t->place[block]] == block);
        set_leaf(ssd, plane, t->place[block], (AgeNode){.least = NOTHING});
        set_slots(ssd, plane, t->place[block], NO_SLOTS);
        set_wear(ssd, plane, t->place[block], (AgeWear){0, NOTHING});
    }
}

void age_tree_new_slot(Ssd *ssd, uint32_t block)
{
    AgeTrees *t = ssd->gc->age_trees;
    uint32_t plane = block_plane(ssd, block);

    invariant(block < ssd->geo->n_blocks);
    if (t->plane[plane].made) {
        set_slots(ssd, plane, t->place[block], slots_of(ssd, block));
    }
}

void age_tree_new_slots(Ssd *ssd, uint32_t plane)
{
    invariant(plane < ssd->l.n_planes);
    ssd->gc->age_trees->plane[plane].made = false;
}

void age_tree_change(Ssd *ssd, uint32_t plane, uint32_t block)
{
    AgeTrees *t = ssd->gc->age_trees;

    invariant(plane < ssd->l.n_planes);
    invariant(block < ssd->geo->n_blocks);
    if (t->plane[plane].made) {
        invariant(t->plane[plane].block[t->place[block]] == block);
        set_leaf(ssd, plane, t->place[block], leaf_of(ssd, block));
    }
}

/* ---- search -------------------------------------------------------------- */

typedef struct Search {
    const Ssd *ssd;
    uint32_t plane;
    const PlaneAges *ages;
    AgeScore score;
    VssdView *view;
    uint32_t most_valid;
    double best;
    uint32_t place; /* of the best */
} Search;

static double bound(const Search *s, uint32_t node)
{
    const AgeNode *n = &s->ages->node[node];
    double valid = n->least;
    uint32_t clock;

    if (n->least > s->most_valid) {
        return 0;
    }
    if (gc_by_superblock(s->ssd)) {
        valid =
            superblock_means_least(s->ssd, s->plane, s->ages->slots[node].first,
                                   s->ages->slots[node].last);
    }
    if (valid > s->most_valid) {
        return 0;
    }
    clock = plane_at(s->ssd, s->plane)->clock;
    return s->score(s->view, (double)(uint32_t)(clock - n->mtime) + 1, valid);
}

/* Of equal ones the first in the list counts.  first: place of the node's first
 * leaf; width: leaves. */
static void visit(Search *s, uint32_t node, double most, uint32_t first,
                  uint32_t width)
{
    double left;
    double right;

    if (most <= 0 || most < s->best || (most == s->best && first > s->place)) {
        return;
    }
    if (width == 1) {
        s->best = most;
        s->place = first;
        return;
    }
    width /= 2;
    left = bound(s, 2 * node);
    right = bound(s, 2 * node + 1);
    if (left >= right) {
        visit(s, 2 * node, left, first, width);
        visit(s, 2 * node + 1, right, first + width, width);
    } else {
        visit(s, 2 * node + 1, right, first + width, width);
        visit(s, 2 * node, left, first, width);
    }
}

uint32_t age_tree_best(Ssd *ssd, uint32_t plane, AgeScore score, VssdView *v)
{
    AgeTrees *t = ssd->gc->age_trees;
    Search s = {
        .ssd = ssd,
        .plane = plane,
        .ages = &t->plane[plane],
        .score = score,
        .view = v,
        .most_valid = gc_most_valid(ssd),
        .place = NONE,
    };

    invariant(plane < ssd->l.n_planes);
    if (gc_by_superblock(ssd)) {
        superblock_means_prepare(ssd, plane);
    }
    if (!s.ages->made) {
        make(ssd, plane);
    }
    visit(&s, 1, bound(&s, 1), 0, t->size);
    return s.place == NONE ? NONE : s.ages->block[s.place];
}

/* The least erases of the first n blocks. */
static uint32_t least_erased(const PlaneAges *a, uint32_t n)
{
    uint32_t least = NOTHING;
    uint32_t node = 1;

    while (n > 0 && a->wear[node].n > n) { /* not a leaf */
        const AgeWear *left = &a->wear[2 * node];

        if (left->n > n) {
            node = 2 * node;
        } else {
            least = MIN(least, left->least);
            invariant(n >= left->n);
            n -= left->n;
            node = 2 * node + 1;
        }
    }
    return n > 0 ? MIN(least, a->wear[node].least) : least;
}

uint32_t age_tree_least_erased(Ssd *ssd, uint32_t plane, uint32_t n,
                               uint32_t limit)
{
    AgeTrees *t = ssd->gc->age_trees;
    PlaneAges *a = &t->plane[plane];
    uint32_t node = 1;
    uint32_t least;

    invariant(a->wear);
    invariant(plane < ssd->l.n_planes);
    if (!a->made) {
        make(ssd, plane);
    }
    least = least_erased(a, n);
    if (least >= limit) {
        return NONE;
    }
    /* The first one erased so seldom is among the first n. */
    while (node < t->size) {
        node = a->wear[2 * node].least <= least ? 2 * node : 2 * node + 1;
    }
    return a->block[node - t->size];
}

/* ---- checks -------------------------------------------------------------- */

static bool check_leaf(const Ssd *ssd, uint32_t plane, uint32_t block,
                       GError **error)
{
    const AgeTrees *t = ssd->gc->age_trees;
    const PlaneAges *a = &t->plane[plane];
    uint32_t place = t->place[block];
    AgeNode leaf = leaf_of(ssd, block);

    CHECK(place < a->next && a->block[place] == block,
          "block %u: its place in the tree by age", block);
    CHECK(!a->node || (a->node[t->size + place].least == leaf.least &&
                       a->node[t->size + place].mtime == leaf.mtime),
          "block %u: its leaf in the tree by age", block);
    CHECK(!a->wear ||
              (a->wear[t->size + place].n == 1 &&
               a->wear[t->size + place].least == wear_cycles(ssd, block)),
          "block %u: its wear in the tree by age", block);
    if (a->slots) {
        AgeSlots slots = slots_of(ssd, block);

        CHECK(a->slots[t->size + place].first == slots.first &&
                  a->slots[t->size + place].last == slots.last,
              "block %u: its slots in the tree by age", block);
    }
    return true;
}

static bool check_nodes(const Ssd *ssd, uint32_t plane, GError **error)
{
    const AgeTrees *t = ssd->gc->age_trees;
    const PlaneAges *a = &t->plane[plane];

    for (uint32_t i = 1; a->made && i < t->size; i++) {
        CHECK(!a->node || a->node[i].least == MIN(a->node[2 * i].least,
                                                  a->node[2 * i + 1].least),
              "plane %u: node %u of the tree by age", plane, i);
        if (a->wear) {
            AgeWear now = join_wear(&a->wear[2 * i], &a->wear[2 * i + 1]);

            CHECK(a->wear[i].n == now.n && a->wear[i].least == now.least,
                  "plane %u: erases of node %u of the tree by age", plane, i);
        }
        if (a->slots) {
            AgeSlots now = join_slots(&a->slots[2 * i], &a->slots[2 * i + 1]);

            CHECK(a->slots[i].first == now.first && a->slots[i].last == now.last,
                  "plane %u: slots of node %u of the tree by age", plane, i);
        }
    }
    return true;
}

bool age_trees_check(const Ssd *ssd, GError **error)
{
    for (uint32_t i = 0; ssd->gc->age_trees && i < ssd->l.n_planes; i++) {
        uint32_t b = plane_at(ssd, i)->by_age.head;

        for (; ssd->gc->age_trees->plane[i].made && b != NONE;
             b = block_at(ssd, b)->newer) {
            if (!check_leaf(ssd, i, b, error)) {
                return false;
            }
        }
        if (!check_nodes(ssd, i, error)) {
            return false;
        }
    }
    return true;
}
