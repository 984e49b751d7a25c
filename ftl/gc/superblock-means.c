/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * superblock-means.c - the mean of valid units of each superblock
 * (superblock.width), and the least of a range of them.
 *
 * A superblock gets a slot of its set when all its blocks are FULL, and keeps
 * it until another block joins it.  Over the slots is a tournament tree: a node
 * has the least mean of its slots.  A block that loses a unit changes the nodes
 * above its superblock's slot up to the first that stays as it is.  Superblocks
 * become FULL in about the same order in each plane, so adjacent blocks in a
 * plane's list by age have adjacent slots, and the least mean of a few slots is
 * a good bound for all of them (age-tree.c).
 *
 * Follows from the superblocks (media/) and the states of blocks: it is rebuilt
 * on use if it is not up to date (a state was loaded, the power was
 * cut), and when its slots are used up.  Knows nothing of which superblock is
 * best.
 */
#include "check.h"
#include "gc/gc-internal.h"
#include "gc/superblock-means.h"
#include "lazymem.h"
#include "media/blocks.h"
#include "media/media-internal.h"
#include "media/superblock.h"
#include "ssd-internal.h"

#include <math.h>
#include <string.h>

typedef struct SuperblockSum {
    uint64_t valid; /* units */
    uint32_t n;     /* blocks; 0: not all of them are FULL */
} SuperblockSum;

typedef struct SetMeans {
    SuperblockSum *sum; /* by slot */
    double *least;      /* 1 is the root; slots from size on */
    uint32_t size;      /* slots, a power of two */
    uint32_t next;      /* slot */
    bool made;
} SetMeans;

struct SuperblockMeans {
    uint32_t *slot; /* by block, + 1; 0: none */
    SetMeans *set;  /* by superblock_set() */
};

static SetMeans *set_of(const Ssd *ssd, uint32_t plane)
{
    return &ssd->gc->superblock_means->set[superblock_set(ssd, plane)];
}

static SetMeans *set_of_block(const Ssd *ssd, uint32_t block)
{
    return set_of(ssd, block_plane(ssd, block));
}

void superblock_means_init(Ssd *ssd)
{
    if (!superblocks_are_on(ssd)) {
        return;
    }
    invariant(!ssd->gc->superblock_means);
    ssd->gc->superblock_means = g_new(SuperblockMeans, 1);
    ssd->gc->superblock_means->slot = lazy_new(uint32_t, ssd->geo->n_blocks);
    ssd->gc->superblock_means->set = g_new0(SetMeans, superblock_sets(ssd));
}

void superblock_means_destroy(Ssd *ssd)
{
    SuperblockMeans *m = ssd->gc->superblock_means;

    if (!m) {
        return;
    }
    for (uint32_t i = 0; i < superblock_sets(ssd); i++) {
        g_free(m->set[i].sum);
        g_free(m->set[i].least);
    }
    lazy_free(m->slot, ssd->geo->n_blocks, sizeof(*m->slot));
    g_free(m->set);
    g_free(m);
}

void superblock_means_forget(Ssd *ssd)
{
    for (uint32_t i = 0; ssd->gc->superblock_means && i < superblock_sets(ssd);
         i++) {
        ssd->gc->superblock_means->set[i].made = false;
    }
}

uint32_t superblock_means_slot(const Ssd *ssd, uint32_t block)
{
    invariant(block < ssd->geo->n_blocks);
    return ssd->gc->superblock_means->slot[block] - 1;
}

static void set_slot(Ssd *ssd, uint32_t block, uint32_t slot)
{
    invariant(block < ssd->geo->n_blocks);
    ssd->gc->superblock_means->slot[block] = slot + 1;
    if (block_state(ssd, block) == BLOCK_FULL) {
        ssd->gc->slot_client->moved(ssd, block);
    }
}

/* ---- the tree ------------------------------------------------------------ */

static double mean_of(const SuperblockSum *s)
{
    return s->n == 0 ? INFINITY : (double)s->valid / s->n;
}

static void set_sum(SetMeans *u, uint32_t slot, SuperblockSum sum)
{
    uint32_t i = u->size + slot;

    invariant(slot < u->size);
    u->sum[slot] = sum;
    u->least[i] = mean_of(&sum);
    for (i /= 2; i > 0; i /= 2) {
        double least = MIN(u->least[2 * i], u->least[2 * i + 1]);

        if (least == u->least[i]) {
            break;
        }
        u->least[i] = least;
    }
}

double superblock_means_least(const Ssd *ssd, uint32_t plane, uint32_t first,
                              uint32_t last)
{
    const SetMeans *u = set_of(ssd, plane);
    double least = INFINITY;

    invariant(plane < ssd->l.n_planes);
    if (first > last) {
        return INFINITY;
    }
    for (first += u->size, last += u->size; first <= last;
         first /= 2, last /= 2) {
        if (first % 2 == 1) {
            least = MIN(least, u->least[first]);
            first++;
        }
        if (last % 2 == 0) {
            least = MIN(least, u->least[last]);
            invariant(last > 0);
            last--;
        }
    }
    return least;
}

/* ---- superblocks
 * ------------------------------------------------------------- */

/* The superblock of the block; n is 0 if not each of its blocks is FULL. */
static SuperblockSum sum_up(const Ssd *ssd, uint32_t block)
{
    SuperblockSum sum = {0};
    uint32_t b = block;

    invariant(block < ssd->geo->n_blocks);
    do {
        if (block_state(ssd, b) != BLOCK_FULL) {
            return (SuperblockSum){0};
        }
        sum.valid += block_valid(ssd, b);
        sum.n++;
        b = superblock_next(ssd, b);
    } while (b != block);
    return sum;
}

static void set_slots(Ssd *ssd, uint32_t block, uint32_t slot)
{
    uint32_t b = block;

    do {
        set_slot(ssd, b, slot);
        b = superblock_next(ssd, b);
    } while (b != block);
}

/* A block has become FULL, or one that was not is of its superblock no more:
 * are all FULL now? */
static void look_at(Ssd *ssd, uint32_t block)
{
    SetMeans *u = set_of_block(ssd, block);
    SuperblockSum sum = sum_up(ssd, block);

    if (sum.n == 0) {
        return;
    }
    if (superblock_means_slot(ssd, block) == NONE) {
        if (u->next == u->size) {
            u->made = false;
            return;
        }
        set_slots(ssd, block, u->next++);
    }
    set_sum(u, superblock_means_slot(ssd, block), sum);
}

void superblock_means_full(Ssd *ssd, uint32_t block)
{
    invariant(block < ssd->geo->n_blocks);
    if (set_of_block(ssd, block)->made) {
        look_at(ssd, block);
    }
}

void superblock_means_victim(Ssd *ssd, uint32_t block)
{
    SetMeans *u = set_of_block(ssd, block);
    uint32_t slot = superblock_means_slot(ssd, block);

    invariant(block < ssd->geo->n_blocks);
    if (u->made && slot != NONE) {
        set_sum(u, slot, (SuperblockSum){0});
    }
}

void superblock_means_change(Ssd *ssd, uint32_t block, int by)
{
    SetMeans *u = set_of_block(ssd, block);
    uint32_t slot = superblock_means_slot(ssd, block);

    invariant(block < ssd->geo->n_blocks);
    if (u->made && slot != NONE && u->sum[slot].n > 0) {
        invariant(by >= 0 || u->sum[slot].valid >= (uint64_t)-by);
        set_sum(
            u, slot,
            (SuperblockSum){u->sum[slot].valid + (uint64_t)by, u->sum[slot].n});
    }
}

void superblock_means_joined(Ssd *ssd, uint32_t block)
{
    SetMeans *u = set_of_block(ssd, block);
    uint32_t slot = superblock_means_slot(ssd, superblock_next(ssd, block));

    invariant(block < ssd->geo->n_blocks);
    if (u->made && slot != NONE) {
        set_sum(u, slot, (SuperblockSum){0});
        set_slots(ssd, block, NONE);
    }
}

void superblock_means_left(Ssd *ssd, uint32_t block, uint32_t other)
{
    invariant(block < ssd->geo->n_blocks);
    ssd->gc->superblock_means->slot[block] = 0;
    if (set_of_block(ssd, block)->made && other != block) {
        look_at(ssd, other);
    }
}

/* ---- rebuild ------------------------------------------------------------ */

/* Slots for the superblocks of the planes, in about the order in which they
 * became FULL: how many there are. */
static uint32_t number_superblocks(Ssd *ssd, const uint32_t *planes)
{
    uint32_t n_blocks = ssd->geo->blocks_per_plane;
    g_autofree uint32_t *at = g_new(uint32_t, ssd->l.set_planes);
    uint32_t left = ssd->l.set_planes;
    uint32_t n = 0;

    for (uint32_t i = 0; i < ssd->l.set_planes; i++) {
        at[i] = plane_at(ssd, planes[i])->by_age.head;
        memset(&ssd->gc->superblock_means->slot[planes[i] * n_blocks], 0,
               n_blocks * sizeof(*ssd->gc->superblock_means->slot));
    }
    while (left > 0) {
        left = 0;
        for (uint32_t i = 0; i < ssd->l.set_planes; i++) {
            if (at[i] == NONE) {
                continue;
            }
            if (superblock_means_slot(ssd, at[i]) == NONE &&
                sum_up(ssd, at[i]).n > 0) {
                set_slots(ssd, at[i], n++);
            }
            at[i] = block_at(ssd, at[i])->newer;
            left++;
        }
    }
    return n;
}

static void make_room(SetMeans *u, uint32_t n)
{
    u->size = 2;
    while (u->size < n) {
        u->size *= 2;
    }
    u->sum = g_renew(SuperblockSum, u->sum, u->size);
    u->least = g_renew(double, u->least, 2 * (size_t)u->size);
    memset(u->sum, 0, u->size * sizeof(*u->sum));
}

static void add_blocks(const Ssd *ssd, SetMeans *u, uint32_t plane)
{
    uint32_t first = plane * ssd->geo->blocks_per_plane;

    for (uint32_t b = first; b < first + ssd->geo->blocks_per_plane; b++) {
        uint32_t slot = superblock_means_slot(ssd, b);

        if (slot != NONE) {
            u->sum[slot].valid += block_valid(ssd, b);
            u->sum[slot].n++;
        }
    }
}

static void make(Ssd *ssd, SetMeans *u, const uint32_t *planes)
{
    u->next = number_superblocks(ssd, planes);
    make_room(u, 2 * MAX(u->next, ssd->geo->blocks_per_plane));
    for (uint32_t i = 0; i < ssd->l.set_planes; i++) {
        add_blocks(ssd, u, planes[i]);
    }
    for (uint32_t i = 0; i < u->size; i++) {
        u->least[u->size + i] = mean_of(&u->sum[i]);
    }
    for (uint32_t i = u->size - 1; i > 0; i--) {
        u->least[i] = MIN(u->least[2 * i], u->least[2 * i + 1]);
    }
    invariant(u->next <= u->size);
    u->made = true;
}

void superblock_means_prepare(Ssd *ssd, uint32_t plane)
{
    const uint32_t *planes = superblock_planes(ssd, superblock_set(ssd, plane));

    invariant(plane < ssd->l.n_planes);
    if (set_of(ssd, plane)->made) {
        return;
    }
    for (uint32_t i = 0; i < ssd->l.set_planes; i++) {
        ssd->gc->slot_client->all_moved(ssd, planes[i]);
    }
    make(ssd, set_of(ssd, plane), planes);
}

/* ---- checks -------------------------------------------------------------- */

static bool check_block(const Ssd *ssd, uint32_t block, GError **error)
{
    const SetMeans *u = set_of_block(ssd, block);
    uint32_t slot = superblock_means_slot(ssd, block);
    SuperblockSum sum;

    if (!u->made || block_state(ssd, block) == BLOCK_BAD) {
        return true;
    }
    CHECK(slot == NONE || slot < u->next, "block %u: slot %u", block, slot);
    CHECK(slot == superblock_means_slot(ssd, superblock_next(ssd, block)),
          "block %u: slot %u, the next one of its superblock %u", block, slot,
          superblock_means_slot(ssd, superblock_next(ssd, block)));
    if (nand_block_is_slc(ssd->geo, block)) {
        return true;
    }
    sum = sum_up(ssd, block);
    CHECK(slot != NONE
              ? sum.n == u->sum[slot].n && sum.valid == u->sum[slot].valid
              : sum.n == 0,
          "block %u: superblock of %u FULL blocks with %" PRIu64
          " valid units, "
          "slot %u",
          block, sum.n, sum.valid, slot);
    return true;
}

bool superblock_means_check(const Ssd *ssd, GError **error)
{
    for (uint32_t b = 0; ssd->gc->superblock_means && b < ssd->geo->n_blocks;
         b++) {
        if (!check_block(ssd, b, error)) {
            return false;
        }
    }
    for (uint32_t k = 0; ssd->gc->superblock_means && k < superblock_sets(ssd);
         k++) {
        const SetMeans *u = &ssd->gc->superblock_means->set[k];

        for (uint32_t i = 1; u->made && i < 2 * u->size; i++) {
            CHECK(u->least[i] ==
                      (i < u->size ? MIN(u->least[2 * i], u->least[2 * i + 1])
                                   : mean_of(&u->sum[i - u->size])),
                  "set %u: node %u of the means of its superblocks", k, i);
        }
    }
    return true;
}
