/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-unit.c - blocks of a superblock (superblock.width) that are emptied and
 * erased together.
 *
 * Knows nothing of how a block is emptied (gc.c) or of which superblock is
 * best: a policy asks gc_valid(), which is the mean over it.
 *
 * Copies go to the plane of the die that is behind, if the array can then
 * program two at a time.
 *
 * A plane that has chosen calls the others (GcPlane.next) to empty theirs, too,
 * and blocks that are empty wait for the others of the superblock, so that
 * planes of a die can be erased by one command.
 *
 * A plane never needs another one to continue. One below its low-water mark
 * skips victims that free no space in itself, chooses without regard to
 * superblocks if none is left, and erases its waiting blocks when it has no
 * page or victim left. It waits only until all planes have begun with the last
 * superblock, which they do when they have read their current victim.
 */
#include <string.h>

#include "check.h"
#include "gc/gc-private.h"
#include "gc/gc-unit.h"
#include "gc/gc.h"
#include "map/map-internal.h"
#include "media/media.h"
#include "media/lost-die.h"
#include "media/superblock.h"
#include "media/victims.h"
#include "placement/placement.h"
#include "ssd-internal.h"

void unit_init(Ssd *ssd)
{
    if (!superblocks_are_on(ssd)) {
        return;
    }
    invariant(!ssd->gc->held_first);
    ssd->gc->unit_called = g_new0(uint32_t, superblock_sets(ssd));
    ssd->gc->held_first = g_new(uint32_t, ssd->l.n_planes);
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        ssd->gc->held_first[i] = NONE;
    }
}

void unit_destroy(Ssd *ssd)
{
    g_free(ssd->gc->unit_called);
    g_free(ssd->gc->held_first);
}

double unit_mean_valid(const Ssd *ssd, uint32_t block)
{
    uint64_t valid = 0;
    uint32_t n = 0;
    uint32_t b = block;

    invariant(block < ssd->geo->n_blocks);
    do {
        if (block_state(ssd, b) != BLOCK_FULL) {
            return ssd->l.units_per_block;
        }
        valid += block_valid(ssd, b);
        n++;
        b = superblock_next(ssd, b);
    } while (b != block);
    return (double)valid / n;
}

/* ---- victims ------------------------------------------------------------- */

bool unit_is_called(const Ssd *ssd, uint32_t plane)
{
    invariant(plane < ssd->l.n_planes);
    return ssd->gc->unit_called[superblock_set(ssd, plane)] > 0;
}

/* The plane is called to take the block, or (NONE) no more. */
static void set_next(Ssd *ssd, uint32_t plane, uint32_t block)
{
    uint32_t *called = &ssd->gc->unit_called[superblock_set(ssd, plane)];
    uint32_t *next = &ssd->gc->plane[plane].next;

    invariant(plane < ssd->l.n_planes);
    invariant(*called >= (*next != NONE));
    invariant(block == NONE || block_plane(ssd, block) == plane);
    *called -= *next != NONE;
    *called += block != NONE;
    *next = block;
}

void unit_taken(Ssd *ssd, uint32_t block)
{
    uint32_t plane = block_plane(ssd, block);

    if (ssd->gc->plane[plane].next == block) {
        set_next(ssd, plane, NONE);
        ssd->gc->called = true; /* the next superblock can be chosen */
    }
}

void unit_call(Ssd *ssd, uint32_t block)
{
    uint32_t n = 1;

    invariant(block_state(ssd, block) == BLOCK_VICTIM);
    for (uint32_t b = superblock_next(ssd, block); b != block;
         b = superblock_next(ssd, b)) {
        uint32_t plane = block_plane(ssd, b);

        if (block_state(ssd, b) == BLOCK_FULL &&
            ssd->gc->plane[plane].next == NONE) {
            set_next(ssd, plane, b);
            n++;
        }
    }
    ssd->gc->called |= n > 1; /* it may be set: others wait to choose */
    ssd->inspect.count.gc_superblocks++;
    ssd->inspect.count.gc_superblock_blocks += n;
}

uint32_t unit_answer(Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);
    GcPlane *g = &ssd->gc->plane[plane];
    uint32_t block = g->next;

    invariant(plane < ssd->l.n_planes);
    if (block == NONE) {
        return NONE;
    }
    invariant(block_state(ssd, block) == BLOCK_FULL);
    invariant(block_plane(ssd, block) == plane);
    set_next(ssd, plane, NONE);
    ssd->gc->called = true; /* the next superblock can be chosen */
    ssd->gc->alone =
        true; /* the first victim of the superblock is FULL no more */
    if (plane_is_short(ssd, p) && !gc_gains(ssd, block)) {
        block = NONE;
    }
    ssd->gc->alone = false;
    return block;
}

NandCause unit_cause(const Ssd *ssd, uint32_t block)
{
    invariant(block < ssd->geo->n_blocks);
    for (uint32_t b = superblock_next(ssd, block);
         superblock_is_whole(ssd) && b != block; b = superblock_next(ssd, b)) {
        if (ssd->media->block[b].state == BLOCK_VICTIM &&
            ssd->media->block[b].cause == NAND_CAUSE_WEAR) {
            return NAND_CAUSE_WEAR;
        }
    }
    return NAND_CAUSE_GC;
}

/* ---- erases -------------------------------------------------------------- */

static bool is_empty(const Ssd *ssd, uint32_t block)
{
    const Block *b = block_at(ssd, block);

    invariant(block < ssd->geo->n_blocks);
    return b->state == BLOCK_VICTIM && b->valid == 0 && b->pending == 0 &&
           !b->bad && !b->held &&
           ssd->gc->plane[block_plane(ssd, block)].victim != block;
}

/* The empty victims of a plane are in a list, by number: there are few. */
static IlistLinks held_chain(const Ssd *ssd)
{
    return ILIST_CHAIN(ssd->media->block, Block, next);
}

static void hold(Ssd *ssd, uint32_t block)
{
    uint32_t plane = block_plane(ssd, block);
    uint32_t *at = &ssd->gc->held_first[plane];

    invariant(is_empty(ssd, block));
    while (*at < block) {
        at = ilist_next(held_chain(ssd), *at);
    }
    istack_push(held_chain(ssd), at, block);
    ssd->gc->plane[plane].held++;
}

static void let_go(Ssd *ssd, uint32_t block)
{
    uint32_t plane = block_plane(ssd, block);
    uint32_t *at = &ssd->gc->held_first[plane];

    invariant(ssd->gc->plane[plane].held > 0);
    while (*at != block) {
        at = ilist_next(held_chain(ssd), *at);
    }
    istack_unlink(held_chain(ssd), at);
    ssd->gc->plane[plane].held--;
}

void unit_hold_none(Ssd *ssd, uint32_t plane)
{
    while (ssd->gc->plane[plane].held > 0) {
        let_go(ssd, ssd->gc->held_first[plane]);
    }
}

static uint32_t die_of(const Ssd *ssd, uint32_t block)
{
    return block_plane(ssd, block) / ssd->geo->planes_per_die;
}

/* Does an empty block wait for the other one of its superblock?  With
 * superblock.row only for those of its die, with which it shares a command: a
 * block that waits is room that GC has gained and the host cannot use.  A
 * superblock that is whole waits for all. */
static bool are_erased_together(const Ssd *ssd, uint32_t a, uint32_t b)
{
    return !ssd->l.whole_rows || superblock_is_whole(ssd) ||
           die_of(ssd, a) == die_of(ssd, b);
}

/* Has the plane read copies for a page, or does such a page wait? */
static bool has_page(const Ssd *ssd, uint32_t plane)
{
    const uint32_t *staged_of = ssd->gc->plane[plane].staged_of;

    for (uint32_t k = 0; k < ssd->l.n_gc_classes; k++) {
        if (staged_of[k] >= ssd->l.units_per_program) {
            return true;
        }
    }
    return ssd->gc->row_wait[plane].until_ps != SIM_NEVER;
}

/* Will the plane empty blocks, or program copies, without others? */
static bool is_moving(const Ssd *ssd, uint32_t plane)
{
    const GcPlane *g = &ssd->gc->plane[plane];
    const GcLoad *load = plane_load(ssd, plane);

    return g->victim != NONE || g->next != NONE || load->reads > 0 ||
           load->programs > 0 || load->away > 0 || has_page(ssd, plane) ||
           g->yielded; /* it goes on after the reads of the host */
}

/* The reset of a zone waits for the block, and for no copies of other data. */
static bool is_of_reset(const Ssd *ssd, uint32_t block)
{
    return ssd->map->reset_of && ssd->map->reset_of[block];
}

/* Is another block of the superblock, which is to be erased with this one, on
 * its way to be empty? */
static bool waits(const Ssd *ssd, uint32_t block)
{
    for (uint32_t b = superblock_next(ssd, block); b != block;
         b = superblock_next(ssd, b)) {
        const Block *other = block_at(ssd, b);

        if (!are_erased_together(ssd, block, b) ||
            (is_of_reset(ssd, block) && other->valid + other->pending > 0)) {
            continue;
        }
        if (other->valid > 0 && plane_is_lost(ssd, block_plane(ssd, b))) {
            return true; /* it is to be rebuilt */
        }
        if ((other->state == BLOCK_VICTIM && !other->bad &&
             (other->cause == NAND_CAUSE_GC || superblock_is_whole(ssd)) &&
             !is_empty(ssd, b)) ||
            ssd->gc->plane[block_plane(ssd, b)].next == b) {
            return true;
        }
    }
    return false;
}

bool unit_holds(Ssd *ssd, uint32_t block)
{
    if ((block_cause(ssd, block) != NAND_CAUSE_GC &&
         !superblock_is_whole(ssd)) ||
        !waits(ssd, block)) {
        return false;
    }
    hold(ssd, block);
    return true;
}

/* Another block of the superblock that is empty, best of the same die. */
static uint32_t next_empty(const Ssd *ssd, uint32_t block)
{
    uint32_t found = NONE;

    for (uint32_t b = superblock_next(ssd, block); b != block;
         b = superblock_next(ssd, b)) {
        if (is_empty(ssd, b) && are_erased_together(ssd, block, b) &&
            (found == NONE || die_of(ssd, found) != die_of(ssd, block))) {
            found = b;
        }
    }
    return found;
}

void unit_erase(Ssd *ssd, uint32_t block)
{
    while (block_cause(ssd, block) == NAND_CAUSE_GC ||
           superblock_is_whole(ssd)) {
        uint32_t next = next_empty(ssd, block);
        bool more = next != NONE && ssd->cfg->nand.multi_plane &&
                    die_of(ssd, next) == die_of(ssd, block);

        if (next == NONE) {
            break;
        }
        block_start_erase(ssd, block, NAND_CAUSE_GC, more);
        let_go(ssd, next);
        block = next;
    }
    block_start_erase(ssd, block, block_cause(ssd, block), false);
}

void unit_release(Ssd *ssd, uint32_t plane)
{
    while (ssd->gc->plane[plane].held > 0) {
        uint32_t block = ssd->gc->held_first[plane];

        let_go(ssd, block);
        block_start_erase(ssd, block, block_cause(ssd, block), false);
    }
}

/* Does any plane that the block waits for go on?  Units that fill no page may
 * wait there for those of a next victim. */
static bool others_move(const Ssd *ssd, uint32_t block)
{
    for (uint32_t b = superblock_next(ssd, block); b != block;
         b = superblock_next(ssd, b)) {
        const Block *other = block_at(ssd, b);

        if ((other->valid > 0 || (other->state == BLOCK_VICTIM &&
                                  !other->held && !is_empty(ssd, b))) &&
            is_moving(ssd, block_plane(ssd, b))) {
            return true;
        }
    }
    return false;
}

bool unit_waits(const Ssd *ssd, uint32_t plane)
{
    uint32_t block =
        ssd->gc->plane[plane].held > 0 ? ssd->gc->held_first[plane] : NONE;

    for (; superblock_is_whole(ssd) && block != NONE;
         block = block_at(ssd, block)->next) {
        if (!waits(ssd, block) || !others_move(ssd, block)) {
            return false;
        }
    }
    return superblock_is_whole(ssd);
}

void unit_look_again(Ssd *ssd, uint32_t plane)
{
    uint32_t block =
        ssd->gc->plane[plane].held > 0 ? ssd->gc->held_first[plane] : NONE;

    if (!superblock_is_whole(ssd)) {
        unit_release(ssd, plane);
        return;
    }
    while (block != NONE) {
        uint32_t next = *ilist_next(held_chain(ssd), block);

        if (!waits(ssd, block) || !others_move(ssd, block)) {
            let_go(ssd, block);
            unit_erase(ssd, block);
            next = ssd->gc->plane[plane].held > 0 ? ssd->gc->held_first[plane]
                                                  : NONE;
        }
        block = next;
    }
}

void unit_stopped(Ssd *ssd, uint32_t plane)
{
    const uint32_t *planes = superblock_planes(ssd, superblock_set(ssd, plane));

    for (uint32_t k = 0; k < ssd->l.set_planes; k++) {
        uint32_t i = planes[k];
        const GcPlane *g = &ssd->gc->plane[i];

        if (g->held > 0 && g->victim == NONE &&
            plane_is_short(ssd, plane_at(ssd, i))) {
            unit_look_again(ssd, i);
        }
    }
}

void unit_count(Ssd *ssd)
{
    if (!superblocks_are_on(ssd)) {
        return;
    }
    invariant(ssd->gc->held_first);
    memset(ssd->gc->unit_called, 0,
           superblock_sets(ssd) * sizeof(*ssd->gc->unit_called));
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        ssd->gc->unit_called[superblock_set(ssd, i)] +=
            ssd->gc->plane[i].next != NONE;
        ssd->gc->plane[i].held = 0;
        ssd->gc->held_first[i] = NONE;
    }
    for (uint32_t b = ssd->geo->n_blocks; b-- > 0;) {
        if (is_empty(ssd, b)) {
            hold(ssd, b);
        }
    }
}

/* ---- copies -------------------------------------------------------------- */

bool unit_goes_by_die(const Ssd *ssd)
{
    return superblocks_are_on(ssd) && ssd->cfg->nand.multi_plane;
}

/* Programs that GC has made in the plane, for the class, since the drive was
 * new, if its planes had always been in step. */
static uint64_t place_in_superblock(const Ssd *ssd, uint32_t plane,
                                    uint32_t class)
{
    uint32_t k = open_index(ssd, OPEN_GC, class);
    const Open *o = &plane_at(ssd, plane)->open[k];
    uint64_t serial = superblock_newest(ssd, plane, k);

    invariant(plane < ssd->l.n_planes);
    return serial * ssd->geo->pages_per_block +
           (o->block == NONE ? ssd->geo->pages_per_block : o->next_page);
}

/* May copies of others take the pages of the plane?  Where superblocks are
 * whole its planes open and erase blocks in step, so an open block takes them,
 * too, as long as the plane has a free block for its own copies. */
static bool has_foreign_room(const Ssd *ssd, uint32_t plane, uint32_t class)
{
    const Plane *p = plane_at(ssd, plane);

    return !plane_is_short(ssd, p) ||
           (superblock_is_whole(ssd) && p->free.n >= plane_reserve(ssd, p) &&
            open_takes_data(ssd, plane, open_index(ssd, OPEN_GC, class)));
}

bool unit_takes_foreign(const Ssd *ssd, uint32_t plane, uint32_t class)
{
    const Plane *p = plane_at(ssd, plane);
    const GcLoad *load = plane_load(ssd, plane);
    uint64_t coming = (uint64_t)(p->host_programs + load->foreign + 1) *
                      ssd->l.units_per_program;

    return load->programs < GC_PROGRAMS_PER_PLANE &&
           !plane_is_lost(ssd, plane) && has_foreign_room(ssd, plane, class) &&
           !plane_has_share(ssd, plane, coming);
}

uint32_t unit_destination(const Ssd *ssd, uint32_t plane, uint32_t class)
{
    uint32_t n = ssd->geo->planes_per_die;
    uint32_t first = plane / n * n;
    uint32_t best = plane;

    invariant(plane < ssd->l.n_planes);
    if (!unit_goes_by_die(ssd) || class >= ssd->l.n_stream_classes) {
        return plane;
    }
    for (uint32_t i = first; i < first + n; i++) {
        if (i != plane && unit_takes_foreign(ssd, i, class) &&
            place_in_superblock(ssd, i, class) <
                place_in_superblock(ssd, best, class)) {
            best = i;
        }
    }
    return best;
}

/* ---- checks -------------------------------------------------------------- */

static bool check_held(const Ssd *ssd, uint32_t plane, GError **error)
{
    const GcPlane *g = &ssd->gc->plane[plane];
    uint32_t first = plane * ssd->geo->blocks_per_plane;
    uint32_t next = g->next;
    uint32_t held = 0;
    uint32_t listed = superblocks_are_on(ssd) && g->held > 0
                          ? ssd->gc->held_first[plane]
                          : NONE;

    CHECK(next == NONE || (next - first < ssd->geo->blocks_per_plane &&
                           block_state(ssd, next) == BLOCK_FULL),
          "plane %u: block %u is the next victim", plane, next);
    for (uint32_t i = 0; i < ssd->geo->blocks_per_plane; i++) {
        if (superblocks_are_on(ssd) && is_empty(ssd, first + i)) {
            CHECK(listed == first + i, "plane %u: block %u is empty and waits, "
                  "%u is in the list of such", plane, first + i, listed);
            listed = block_at(ssd, listed)->next;
            held++;
        }
    }
    CHECK(held == g->held,
          "plane %u: %u empty blocks wait to be erased, "
          "counted %u",
          plane, held, g->held);
    return true;
}

static bool check_called(const Ssd *ssd, uint32_t set, GError **error)
{
    const uint32_t *planes = superblock_planes(ssd, set);
    uint32_t n = 0;

    for (uint32_t i = 0; i < ssd->l.set_planes; i++) {
        n += ssd->gc->plane[planes[i]].next != NONE;
    }
    CHECK(n == ssd->gc->unit_called[set],
          "plane %u: %u planes of its set are called, %u counted", planes[0], n,
          ssd->gc->unit_called[set]);
    return true;
}

bool unit_check(const Ssd *ssd, GError **error)
{
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (!check_held(ssd, i, error)) {
            return false;
        }
    }
    for (uint32_t i = 0; superblocks_are_on(ssd) && i < superblock_sets(ssd);
         i++) {
        if (!check_called(ssd, i, error)) {
            return false;
        }
    }
    return true;
}
