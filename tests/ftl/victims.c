/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * victims.c - which block each GC policy takes: by a slow look at all blocks of
 * a plane, between any two commands of a random load.
 */
#include "gc/gc-private.h"
#include "media/media-internal.h"
#include "busy.h"

#define WINDOW 5

static uint32_t n_chosen; /* looks where a policy had two blocks or more */

/* Since when each block is full, in looks; 0: it is not. */
static uint32_t filled[16 * 64];
static uint32_t n_looks;

static bool is_full(const Ssd *ssd, uint32_t block)
{
    return ssd->media->block[block].state == BLOCK_FULL;
}

static bool gains(const Ssd *ssd, uint32_t block)
{
    return is_full(ssd, block) &&
           ssd->media->block[block].valid < ssd->l.units_per_block;
}

/* Blocks of the plane that a victim may be taken from. */
static unsigned n_gaining(const Ssd *ssd, uint32_t plane)
{
    uint32_t per = ssd->geo->blocks_per_plane;
    unsigned n = 0;

    for (uint32_t b = plane * per; b < (plane + 1) * per; b++) {
        n += gains(ssd, b);
    }
    n_chosen += n > 1;
    return n;
}

static uint32_t least_valid(const Ssd *ssd, uint32_t plane)
{
    uint32_t per = ssd->geo->blocks_per_plane;
    uint32_t least = UINT32_MAX;

    for (uint32_t b = plane * per; b < (plane + 1) * per; b++) {
        if (gains(ssd, b)) {
            least = MIN(least, ssd->media->block[b].valid);
        }
    }
    return least;
}

static void look_greedy(Ssd *ssd, Prng *rng)
{
    uint32_t plane = (uint32_t)prng_below(rng, ssd->l.n_planes);

    if (n_gaining(ssd, plane)) {
        uint32_t found = gc_pick(ssd, plane);

        g_assert_cmpuint(found, !=, NONE);
        g_assert_true(is_full(ssd, found));
        g_assert_cmpuint(ssd->media->block[found].valid, ==,
                         least_valid(ssd, plane));
    }
}

/* (1 - u) age / (1 + u), section 3.6 of the paper; u: the valid share. */
static double benefit(const Ssd *ssd, uint32_t block)
{
    const Block *b = &ssd->media->block[block];
    double u = (double)b->valid / ssd->l.units_per_block;
    uint32_t plane = block / ssd->geo->blocks_per_plane;
    double age = (uint32_t)(ssd->media->plane[plane].clock - b->mtime) + 1.0;

    return (1 - u) * age / (1 + u);
}

static void look_cost_benefit(Ssd *ssd, Prng *rng)
{
    uint32_t plane = (uint32_t)prng_below(rng, ssd->l.n_planes);
    uint32_t per = ssd->geo->blocks_per_plane;
    uint32_t found;

    if (!n_gaining(ssd, plane)) {
        return;
    }
    found = gc_pick(ssd, plane);
    g_assert_cmpuint(found, !=, NONE);
    for (uint32_t b = plane * per; b < (plane + 1) * per; b++) {
        if (gains(ssd, b)) {
            g_assert_cmpfloat(benefit(ssd, found), >=,
                              benefit(ssd, b) * (1 - 1e-9));
        }
    }
}

/* Note which blocks have become full; of those that the preload filled, the
 * drive says the order. */
static void note_filled(const Ssd *ssd)
{
    for (uint32_t i = 0; n_looks < ssd->geo->n_blocks && i < ssd->l.n_planes;
         i++) {
        for (uint32_t b = ssd->media->plane[i].by_age.head; b != NONE;
             b = ssd->media->block[b].newer) {
            filled[b] = ++n_looks;
        }
    }
    n_looks = MAX(n_looks, ssd->geo->n_blocks) + 1;
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        if (!is_full(ssd, b)) {
            filled[b] = 0;
        } else if (!filled[b]) {
            filled[b] = n_looks;
        }
    }
}

/* So many full blocks of the plane were filled before this one. */
static unsigned n_older(const Ssd *ssd, uint32_t block, bool only_gaining)
{
    uint32_t per = ssd->geo->blocks_per_plane;
    uint32_t first = block / per * per;
    unsigned n = 0;

    for (uint32_t b = first; b < first + per; b++) {
        n += filled[b] && filled[b] < filled[block] &&
             (!only_gaining || gains(ssd, b));
    }
    return n;
}

/* A block that gains nothing when its turn comes has another turn after all
 * others, so it counts as filled now. */
static void renew_older(Ssd *ssd, uint32_t block)
{
    uint32_t per = ssd->geo->blocks_per_plane;
    uint32_t first = block / per * per;

    for (uint32_t b = first; b < first + per; b++) {
        if (filled[b] && filled[b] < filled[block]) {
            filled[b] = n_looks;
        }
    }
}

static void look_fifo(Ssd *ssd, Prng *rng)
{
    uint32_t plane = (uint32_t)prng_below(rng, ssd->l.n_planes);

    note_filled(ssd);
    if (n_gaining(ssd, plane)) {
        uint32_t found = gc_pick(ssd, plane);

        g_assert_true(gains(ssd, found));
        g_assert_cmpuint(n_older(ssd, found, true), ==, 0);
        renew_older(ssd, found);
    }
}

static void look_window(Ssd *ssd, Prng *rng)
{
    uint32_t plane = (uint32_t)prng_below(rng, ssd->l.n_planes);
    uint32_t per = ssd->geo->blocks_per_plane;
    uint32_t least = UINT32_MAX;
    unsigned n = 0;

    note_filled(ssd);
    for (uint32_t b = plane * per; b < (plane + 1) * per; b++) {
        if (filled[b] && n_older(ssd, b, false) < WINDOW) {
            least = MIN(least, ssd->media->block[b].valid);
            n++;
        }
    }
    /* More: several were filled between two looks. */
    if (n <= WINDOW && least < ssd->l.units_per_block) {
        uint32_t found = gc_pick(ssd, plane);

        g_assert_cmpuint(ssd->media->block[found].valid, ==, least);
        g_assert_cmpuint(n_older(ssd, found, false), <, WINDOW);
        n_chosen++;
    }
}

static void run(const char *gc, void (*look)(Ssd *ssd, Prng *rng))
{
    g_autofree char *more = g_strdup_printf(
        "ftl.gc=%s;ftl.gc_window=%u;ftl.alloc=stripe", gc, WINDOW);

    n_chosen = 0;
    n_looks = 0;
    memset(filled, 0, sizeof(filled));
    busy_run(busy_drive(more), 2, 40000, look);
    g_assert_cmpuint(n_chosen, >, 5000);
}

static void test_greedy(void)
{
    run("greedy", look_greedy);
}

static void test_cost_benefit(void)
{
    run("cost-benefit", look_cost_benefit);
}

static void test_fifo(void)
{
    run("fifo", look_fifo);
}

static void test_window(void)
{
    run("windowed-greedy", look_window);
}

static uint64_t most_erased, n_moved;

static void look_wear(Ssd *ssd, Prng *rng)
{
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        most_erased = MAX(most_erased, nand_wear_cycles(ssd->nand, b));
    }
    n_moved = ssd->gc->background_stats.wear_victims;
}

/* Random writes wear all blocks alike: static levelling has nothing to move. */
static void test_even_wear(void)
{
    busy_run(busy_drive("nand.channels=1;nand.chips=1;nand.dies=1;"
                        "nand.planes=1;nand.blocks=32;ftl.wear=static;"
                        "ftl.wear_spread=30"),
             1, 2000000, look_wear);
    g_test_message("%u erases at most, %u blocks moved", (unsigned)most_erased,
                   (unsigned)n_moved);
    g_assert_cmpuint(most_erased, >, 40);
    g_assert_cmpuint(n_moved, ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/victims/greedy", test_greedy);
    g_test_add_func("/victims/cost-benefit", test_cost_benefit);
    g_test_add_func("/victims/fifo", test_fifo);
    g_test_add_func("/victims/windowed-greedy", test_window);
    g_test_add_func("/victims/even-wear", test_even_wear);
    return g_test_run();
}
