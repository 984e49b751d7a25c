/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wear.c - wear levelling: which free block is used next, and when cold data
 * must leave a block that is hardly worn.
 *
 * Knows how worn blocks are; knows nothing of how a block is emptied (gc.c).
 *
 * Blocks are compared by the cycles that they have consumed (wear_cycles()): a
 * block of the dynamic SLC cache goes from mode to mode, and a cycle in SLC
 * mode wears it less.  Blocks of nand.slc_blocks have a rating of their own and
 * never change their mode; they take turns (Plane.slc_free is a queue) and are
 * no part of what this file compares.  "Erased" below is in these cycles.
 *
 * Dynamic: host data is hotter than copies of GC, which has
 * outlived a block's other units.  So the host gets the free block that was
 * erased least, GC the one that was erased most.
 *
 * Static: data that is never overwritten keeps its block from wearing.  When a
 * block is erased that has over ftl.wear_spread more erases than the least worn
 * of its plane that has long been FULL, the latter is emptied: its data goes to
 * a worn block, by the rule above, and the block that it leaves to the host. It
 * does not share blocks with copies of GC (gc_class()), or its blocks would be
 * collected time and again for the few units in them that are not cold.  As one
 * erase calls for one move at most, there is always a worn block for moved
 * units. The idea of exchanging the two extremes at a threshold is that of
 * L.-P. Chang, "On efficient wear leveling for large-scale flash-memory storage
 * systems", SAC 2007 (cold-data migration); its pools are not modelled.
 */
#include "check.h"
#include "gc/age-tree.h"
#include "gc/wear.h"
#include "lazymem.h"
#include "media/blocks.h"
#include "media/media-internal.h"
#include "ssd-internal.h"
#include "media/media.h"

/* The free blocks of a plane in tournament trees by block: a node has the block
 * that was erased least, and the one that was erased most; of equal ones that
 * which has been free longest.  Rebuilt on use if it is not up to date. */
struct PlaneWear {
    uint32_t *least; /* 1 is the root; leaves from Gc.wear_size on; or NONE */
    uint32_t *most;
    uint64_t freed; /* blocks, up to now */
    bool made;
    /* A block that was erased least of all that are not bad, and how often; NONE: one is
     * to be found. */
    uint32_t block;
    uint32_t erases;
};

void wear_init(Ssd *ssd)
{
    if (ssd->cfg->wear == SSD_WEAR_FIFO) {
        return;
    }
    invariant(!ssd->gc->wear);
    ssd->gc->wear_size = 2;
    while (ssd->gc->wear_size < ssd->geo->blocks_per_plane) {
        ssd->gc->wear_size *= 2;
    }
    ssd->gc->wear_order = lazy_new(uint64_t, ssd->geo->n_blocks);
    ssd->gc->wear = g_new0(PlaneWear, ssd->l.n_planes);
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        ssd->gc->wear[i].least =
            lazy_new(uint32_t, 2 * (size_t)ssd->gc->wear_size);
        ssd->gc->wear[i].most =
            lazy_new(uint32_t, 2 * (size_t)ssd->gc->wear_size);
    }
    wear_forget(ssd);
}

void wear_destroy(Ssd *ssd)
{
    for (uint32_t i = 0; ssd->gc->wear && i < ssd->l.n_planes; i++) {
        lazy_free(ssd->gc->wear[i].least, 2 * (size_t)ssd->gc->wear_size,
                  sizeof(uint32_t));
        lazy_free(ssd->gc->wear[i].most, 2 * (size_t)ssd->gc->wear_size,
                  sizeof(uint32_t));
    }
    if (ssd->gc->wear) {
        lazy_free(ssd->gc->wear_order, ssd->geo->n_blocks, sizeof(uint64_t));
    }
    g_free(ssd->gc->wear);
}

void wear_forget(Ssd *ssd)
{
    for (uint32_t i = 0; ssd->gc->wear && i < ssd->l.n_planes; i++) {
        ssd->gc->wear[i].made = false;
        ssd->gc->wear[i].block = NONE;
    }
}

/* ---- free blocks --------------------------------------------------------- */

/* Which of two, or NONE, was erased less, or (most) more. */
static uint32_t better(const Ssd *ssd, uint32_t a, uint32_t b, bool most)
{
    uint32_t of_a;
    uint32_t of_b;

    if (a == NONE || b == NONE) {
        return a == NONE ? b : a;
    }
    of_a = wear_cycles(ssd, a);
    of_b = wear_cycles(ssd, b);
    if (of_a == of_b) {
        return ssd->gc->wear_order[a] < ssd->gc->wear_order[b] ? a : b;
    }
    return (of_a < of_b) != most ? a : b;
}

static void set_free(Ssd *ssd, uint32_t block, bool is_free)
{
    PlaneWear *w = &ssd->gc->wear[block_plane(ssd, block)];
    uint32_t i = ssd->gc->wear_size + nand_block_in_plane(ssd->geo, block);

    invariant((w->least[i] == block) != is_free);
    invariant(w->least[i] == w->most[i]);
    w->least[i] = is_free ? block : NONE;
    w->most[i] = w->least[i];
    for (i /= 2; i > 0; i /= 2) {
        w->least[i] = better(ssd, w->least[2 * i], w->least[2 * i + 1], false);
        w->most[i] = better(ssd, w->most[2 * i], w->most[2 * i + 1], true);
    }
}

static void make(Ssd *ssd, uint32_t plane)
{
    PlaneWear *w = &ssd->gc->wear[plane];
    uint32_t b = plane_at(ssd, plane)->free.head;

    invariant(plane < ssd->l.n_planes);
    for (uint32_t i = 0; i < 2 * ssd->gc->wear_size; i++) {
        w->least[i] = NONE;
        w->most[i] = NONE;
    }
    for (uint32_t i = 0; i < plane_at(ssd, plane)->free.n; i++) {
        invariant(block_state(ssd, b) == BLOCK_FREE);
        ssd->gc->wear_order[b] = w->freed++;
        set_free(ssd, b, true);
        b = block_at(ssd, b)->next;
    }
    invariant((w->least[1] == NONE) == (plane_at(ssd, plane)->free.n == 0));
    w->made = true;
}

void wear_freed(Ssd *ssd, uint32_t block)
{
    PlaneWear *w =
        ssd->gc->wear ? &ssd->gc->wear[block_plane(ssd, block)] : NULL;

    invariant(block < ssd->geo->n_blocks);
    if (w && w->made) {
        ssd->gc->wear_order[block] = w->freed++;
        set_free(ssd, block, true);
    }
}

void wear_taken(Ssd *ssd, uint32_t block)
{
    invariant(block < ssd->geo->n_blocks);
    if (ssd->gc->wear && ssd->gc->wear[block_plane(ssd, block)].made) {
        set_free(ssd, block, false);
    }
}

/* Blocks of nand.slc_blocks may take all that the host writes, so that nothing
 * but copies comes into other blocks: must these take the least worn free
 * block, too? */
static bool copies_take_least(const Ssd *ssd, const PlaneWear *w)
{
    return ssd->geo->slc_blocks > 0 && ssd->cfg->wear == SSD_WEAR_STATIC &&
           wear_cycles(ssd, w->most[1]) - wear_cycles(ssd, w->least[1]) >
               ssd->cfg->wear_spread;
}

uint32_t wear_choose_free(Ssd *ssd, uint32_t plane, OpenKind kind)
{
    const PlaneWear *w = ssd->gc->wear ? &ssd->gc->wear[plane] : NULL;

    invariant(plane_at(ssd, plane)->free.n > 0);
    invariant(plane < ssd->l.n_planes);
    if (!w) {
        return plane_at(ssd, plane)->free.head;
    }
    if (!w->made) {
        make(ssd, plane);
    }
    return kind == OPEN_GC && !copies_take_least(ssd, w) ? w->most[1]
                                                         : w->least[1];
}

/* ---- static levelling ---------------------------------------------------- */

void wear_erased(Ssd *ssd, uint32_t block)
{
    GcPlane *g = &ssd->gc->plane[block_plane(ssd, block)];
    uint32_t erases = wear_cycles(ssd, block);

    invariant(block < ssd->geo->n_blocks);
    if (nand_block_is_cache(ssd->geo, block)) {
        return;
    }
    g->most_erased = MAX(g->most_erased, erases);
    if (ssd->cfg->wear == SSD_WEAR_STATIC && !media_is_read_only(ssd) &&
        erases > g->least_erased &&
        erases - g->least_erased > ssd->cfg->wear_spread) {
        g->wear_due = erases;
    }
}

/* The first block of the plane from there on that is not bad, and is erased no more
 * than so often; NONE: there is none. */
static uint32_t next_least(const Ssd *ssd, uint32_t plane, uint32_t from,
                           uint32_t erases)
{
    uint32_t end = (plane + 1) * ssd->geo->blocks_per_plane;

    for (uint32_t b = from; b < end; b++) {
        if (block_state(ssd, b) != BLOCK_BAD && wear_cycles(ssd, b) <= erases) {
            return b;
        }
    }
    return NONE;
}

/*
 * Erases only become more, and a bad block stays bad: those before the one that was
 * found last are erased more often than it was, and while it is as it was there is
 * none below.  So the blocks are gone through once for each step that the least of
 * them makes.
 */
static uint32_t count_least(Ssd *ssd, uint32_t plane)
{
    uint32_t first = plane * ssd->geo->blocks_per_plane + ssd->geo->slc_blocks;
    PlaneWear *l = &ssd->gc->wear[plane];
    uint32_t found = NONE;

    invariant(plane < ssd->l.n_planes);
    if (l->block != NONE) {
        l->block = next_least(ssd, plane, l->block, l->erases);
    }
    if (l->block == NONE) {
        found = next_least(ssd, plane, first, UINT32_MAX);
        l->erases = UINT32_MAX;
    }
    while (found != NONE) {
        l->block = found;
        l->erases = wear_cycles(ssd, found);
        found = l->erases == 0
                    ? NONE
                    : next_least(ssd, plane, found + 1, l->erases - 1);
    }
    invariant(l->block == NONE || block_plane(ssd, l->block) == plane);
    return MIN(l->erases, ssd->gc->plane[plane].most_erased);
}

/*
 * Among the blocks that have been FULL longest, half of them: recently filled
 * ones may be hot, however little they are worn, and are soon erased.
 */
uint32_t wear_victim(Ssd *ssd, uint32_t plane)
{
    GcPlane *g = &ssd->gc->plane[plane];
    uint32_t limit = g->wear_due - MIN(g->wear_due, ssd->cfg->wear_spread);
    uint32_t found;

    if (!wear_wants(ssd, plane)) {
        return NONE;
    }
    invariant(ssd->cfg->wear == SSD_WEAR_STATIC);
    found = age_tree_least_erased(ssd, plane, ssd->geo->blocks_per_plane / 2,
                                  limit);
    g->least_erased = count_least(ssd, plane);
    g->wear_due = 0;
    invariant(found == NONE || block_plane(ssd, found) == plane);
    return found;
}

static bool check_least(const Ssd *ssd, uint32_t plane, GError **error)
{
    const PlaneWear *w = &ssd->gc->wear[plane];
    uint32_t first = plane * ssd->geo->blocks_per_plane;

    for (uint32_t b = first + ssd->geo->slc_blocks;
         w->block != NONE && b < first + ssd->geo->blocks_per_plane; b++) {
        uint32_t erases = wear_cycles(ssd, b);

        CHECK(
            block_state(ssd, b) == BLOCK_BAD ||
                (erases >= w->erases && (b >= w->block || erases > w->erases)),
            "block %u: erased %u times, block %u at least %u", b, erases,
            w->block, w->erases);
    }
    return true;
}

bool wear_check(const Ssd *ssd, uint32_t plane, GError **error)
{
    const Plane *p = plane_at(ssd, plane);
    const PlaneWear *w = ssd->gc->wear ? &ssd->gc->wear[plane] : NULL;
    uint32_t least = NONE;
    uint32_t most = NONE;
    uint32_t prev = NONE;
    uint32_t b = p->free.head;

    if (!w || !w->made) {
        return true;
    }
    for (uint32_t i = 0; i < p->free.n; i++) {
        CHECK(block_at(ssd, b)->prev == prev &&
                  w->least[ssd->gc->wear_size +
                           nand_block_in_plane(ssd->geo, b)] == b,
              "block %u: is free, after %u", b, prev);
        if (least == NONE || wear_cycles(ssd, b) < wear_cycles(ssd, least)) {
            least = b;
        }
        if (most == NONE || wear_cycles(ssd, b) > wear_cycles(ssd, most)) {
            most = b;
        }
        prev = b;
        b = block_at(ssd, b)->next;
    }
    CHECK(w->least[1] == least && w->most[1] == most,
          "plane %u: %u and %u are the free blocks erased least and most by the "
          "tree, %u and %u by the list", plane, w->least[1], w->most[1], least,
          most);
    return check_least(ssd, plane, error);
}

static uint32_t percent_of(uint64_t cycles, uint32_t blocks, uint32_t start,
                           uint32_t rated)
{
    return blocks && rated
               ? (uint32_t)(((double)cycles / blocks + start) * 100 / rated)
               : 0;
}

uint32_t wear_percent_used(const Ssd *ssd, uint64_t erases)
{
    const NandConfig *n = &ssd->cfg->nand;
    uint32_t cache = ssd->geo->slc_blocks * ssd->geo->n_planes;
    uint64_t cycles[2] = {0}; /* of other blocks; of nand.slc_blocks */

    invariant(cache < ssd->geo->n_blocks);
    if (!ssd->geo->has_slc) {
        return percent_of(erases, ssd->geo->n_blocks, n->start_cycles,
                          n->rated_cycles);
    }
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        cycles[nand_block_is_cache(ssd->geo, b)] +=
            nand_wear_cycles(ssd->nand, b);
    }
    return MAX(
        percent_of(cycles[0], ssd->geo->n_blocks - cache, n->start_cycles,
                   n->rated_cycles),
        percent_of(cycles[1], cache, n->start_cycles, n->slc_rated_cycles));
}
