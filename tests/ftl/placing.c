/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * placing.c - which plane each allocation policy takes: by hand on an idle
 * drive, and against a slow model of the policy's source on a busy one.
 */
#include <math.h>
#include <string.h>

#include "media/media-internal.h"
#include "media/media.h"
#include "nand.h"
#include "outside.h"
#include "placement/placement.h"
#include "busy.h"

enum {
    CHANNELS = 2,
    CHIPS = 2,
    DIES = 2,
    PLANES = 2,
    N_DIES = CHANNELS * CHIPS * DIES,
    N_PLANES = N_DIES * PLANES,
};

static Ssd *drive(const char *alloc)
{
    g_autofree char *more = g_strdup_printf("ftl.alloc=%s", alloc);

    return busy_drive(more);
}

static uint64_t units(const Ssd *ssd)
{
    return ssd->l.user_units;
}

static uint32_t plane_of(const Ssd *ssd, uint64_t unit)
{
    uint64_t entry = ssd->nand_entry(ssd, unit);

    g_assert_cmpuint(entry, !=, 0);
    return block_plane(ssd, ppu_block(ssd, entry - 1));
}

/* Write the unit on an idle drive; the plane that it went to. */
static uint32_t written_to(Ssd *ssd, uint64_t *now_ns, uint64_t unit)
{
    *now_ns += 1000;
    g_assert_cmpint(busy_submit(ssd, *now_ns, SSD_OP_WRITE, unit), ==, 0);
    busy_drain(ssd, now_ns);
    return plane_of(ssd, unit);
}

/* ---- idle drives --------------------------------------------------------- */

/* The tokens of Hu et al.: each visit moves the token of its channels, chips,
 * dies and planes by one, so that the k-th visit of a die is in plane k % 2. */
static void test_dynamic_idle(void)
{
    Ssd *ssd = drive("dynamic");
    uint64_t now_ns = 0;

    for (uint32_t i = 0; i < 3 * N_PLANES; i++) {
        uint32_t channel = i % 2;
        uint32_t chip = i / 2 % 2;
        uint32_t die = i / 4 % 2;
        uint32_t plane = i / 8 % 2;

        g_assert_cmpuint(written_to(ssd, &now_ns, i), ==,
                         ((channel * CHIPS + chip) * DIES + die) * PLANES +
                             plane);
    }
    ssd_destroy(ssd);
}

static void test_stripe_idle(void)
{
    Ssd *ssd = drive("stripe");
    uint64_t now_ns = 0;

    for (uint32_t i = 0; i < 3 * N_PLANES; i++) {
        g_assert_cmpuint(written_to(ssd, &now_ns, i * 7 % units(ssd)), ==,
                         ssd->media->stripe_plane[i % N_PLANES]);
    }
    ssd_destroy(ssd);
}

static void test_static_idle(void)
{
    Ssd *ssd = drive("static");
    uint64_t now_ns = 0;
    Prng rng;

    prng_seed(&rng, 3, 3);
    for (uint32_t i = 0; i < 3 * N_PLANES; i++) {
        uint64_t unit = prng_below(&rng, units(ssd));

        g_assert_cmpuint(written_to(ssd, &now_ns, unit), ==,
                         ssd->media->stripe_plane[unit % N_PLANES]);
    }
    ssd_destroy(ssd);
}

/* All planes as often, within five standard deviations, and a plane follows
 * itself no more often than chance has it. */
static void test_random_idle(void)
{
    enum { N = 3200 };
    Ssd *ssd = drive("random");
    uint32_t count[N_PLANES] = {0};
    uint32_t same = 0;
    uint32_t before = NONE;
    uint64_t now_ns = 0;

    for (uint32_t i = 0; i < N; i++) {
        uint32_t plane = written_to(ssd, &now_ns, i % units(ssd));

        count[plane]++;
        same += plane == before;
        before = plane;
    }
    for (uint32_t i = 0; i < N_PLANES; i++) {
        g_assert_cmpuint(count[i], >, N / N_PLANES - 70);
        g_assert_cmpuint(count[i], <, N / N_PLANES + 70);
    }
    g_assert_cmpuint(same, >, N / N_PLANES - 70);
    g_assert_cmpuint(same, <, N / N_PLANES + 70);
    ssd_destroy(ssd);
}

/* Is the unit in its plane's block that was written to last before? */
static bool same_block(Ssd *ssd, uint64_t unit, uint32_t *last)
{
    uint32_t block = ppu_block(ssd, ssd->nand_entry(ssd, unit) - 1);
    uint32_t *of_plane = &last[block_plane(ssd, block)];
    bool same = *of_plane == block;

    *of_plane = block;
    return same;
}

/* Open blocks of the plane that hold something: the host's, and those that are
 * set aside. */
static uint32_t n_open(const Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);

    g_assert_true(p->n_aside == 0 || p->open[0].block != NONE);
    return (p->open[0].block != NONE) + p->n_aside;
}

/* First versions as DL's; later ones in all planes as often, and there in all
 * open blocks: the next page of a plane goes to the block of the last one in a
 * quarter of the cases. */
static void test_random_block_idle(void)
{
    enum { N = 3200, BLOCKS = 4, DATA = 64 };
    Ssd *ssd = drive("random-block;ftl.random_blocks=4");
    uint32_t in_plane[N_PLANES] = {0};
    uint32_t last[N_PLANES];
    uint32_t same = 0;
    uint32_t most = 0;
    uint64_t now_ns = 0;

    memset(last, 0xff, sizeof(last));
    for (uint64_t unit = 0; unit < DATA; unit++) {
        g_assert_cmpuint(written_to(ssd, &now_ns, unit), ==,
                         ssd->media->stripe_plane[unit % N_PLANES]);
    }
    for (uint32_t i = 0; i < N; i++) {
        uint64_t unit = i % DATA;
        uint32_t plane = written_to(ssd, &now_ns, unit);

        in_plane[plane]++;
        same += same_block(ssd, unit, last);
        most = MAX(most, n_open(ssd, plane));
    }
    for (uint32_t i = 0; i < N_PLANES; i++) {
        g_assert_cmpuint(in_plane[i], >, N / N_PLANES - 70);
        g_assert_cmpuint(in_plane[i], <, N / N_PLANES + 70);
    }
    g_assert_cmpuint(same, >, N / BLOCKS - 150);
    g_assert_cmpuint(same, <, N / BLOCKS + 150);
    g_assert_cmpuint(most, ==, BLOCKS);
    ssd_destroy(ssd);
}

/* As long as fewer blocks are open than may be, each page of a plane goes to
 * any block with a free page, open or free. */
static void test_any_block(void)
{
    enum { BLOCKS = 25, PAGES = 16 };
    Ssd *ssd = drive("random-block;ftl.random_blocks=25");
    double blocks =
        plane_at(ssd, 0)->free.n - plane_reserve(ssd, plane_at(ssd, 0));
    double expected = N_PLANES * blocks * (1 - pow(1 - 1 / blocks, PAGES));
    uint64_t now_ns = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < N_PLANES * PAGES; i++) {
        written_to(ssd, &now_ns, i % 16);
    }
    for (uint32_t i = 0; i < N_PLANES; i++) {
        n += n_open(ssd, i);
        g_assert_cmpuint(n_open(ssd, i), <=, BLOCKS);
    }
    g_assert_cmpfloat(n, >, 0.9 * expected);
    g_assert_cmpfloat(n, <, 1.1 * expected);
    ssd_destroy(ssd);
}

/* ---- busy drives --------------------------------------------------------- */

typedef struct Tokens {
    uint32_t channel;
    uint32_t chip[CHANNELS];
    uint32_t die[CHANNELS * CHIPS];
    uint32_t plane[N_DIES];
} Tokens;

static Tokens tokens_of(const Ssd *ssd)
{
    const Outside *o = ssd->outside[VSSD_POLICY_ALLOC];
    Tokens t;

    g_assert_cmpuint(o->state_bytes, ==, sizeof(t));
    memcpy(&t, o->view.state, sizeof(t));
    return t;
}

static uint32_t n_loaded; /* looks that found no idle chip */

/* Twice the operations of the chip's dies, and one for a busy channel;
 * UINT64_MAX: no plane of the chip accepts a page. */
static uint64_t chip_cost(const Ssd *ssd, uint32_t channel, uint32_t chip)
{
    uint32_t first = (channel * CHIPS + chip) * DIES * PLANES;
    uint64_t cost = nand_channel_busy(ssd->nand, channel);
    bool accepts = false;

    for (uint32_t i = 0; i < DIES * PLANES; i++) {
        accepts |= plane_accepts(ssd, first + i);
        cost += i % PLANES ? 0 : 2 * nand_die_load(ssd->nand, first + i);
    }
    return accepts ? cost : UINT64_MAX;
}

/* By all chips, each with its distance from the tokens: the least cost, of
 * equal ones the nearest. */
static uint32_t slow_dynamic(const Ssd *ssd, Tokens *t)
{
    uint64_t best_cost = UINT64_MAX;
    uint32_t best = NONE;

    for (uint32_t i = 0; i < CHANNELS * CHIPS; i++) {
        uint32_t channel = (t->channel + i / CHIPS) % CHANNELS;
        uint32_t chip = (t->chip[channel] + i % CHIPS) % CHIPS;
        uint64_t cost = chip_cost(ssd, channel, chip);

        if (cost < best_cost) {
            best_cost = cost;
            best = channel * CHIPS + chip;
        }
    }
    if (best == NONE) {
        return NONE;
    }
    n_loaded += best_cost > 0;
    t->channel = (best / CHIPS + 1) % CHANNELS;
    t->chip[best / CHIPS] = (best + 1) % CHIPS;
    for (uint32_t i = 0; i < DIES * PLANES; i++) {
        uint32_t die = (t->die[best] + i / PLANES) % DIES;
        uint32_t *token = &t->plane[best * DIES + die];
        uint32_t plane = (*token + i % PLANES) % PLANES;

        if (plane_accepts(ssd, (best * DIES + die) * PLANES + plane)) {
            *token = (plane + 1) % PLANES;
            t->die[best] = (die + 1) % DIES;
            return (best * DIES + die) * PLANES + plane;
        }
    }
    g_assert_not_reached();
}

static void look_dynamic(Ssd *ssd, Prng *rng)
{
    Tokens t = tokens_of(ssd);
    uint32_t wanted = slow_dynamic(ssd, &t);
    Tokens found;

    (void)rng;
    g_assert_cmpuint(alloc_pick(ssd, 0, 0), ==, wanted);
    found = tokens_of(ssd);
    g_assert_cmpint(memcmp(&t, &found, sizeof(t)), ==, 0);
}

static void test_dynamic_busy(void)
{
    n_loaded = 0;
    /* Reads keep the chips busy; a page that waited would leave no plane that
     * accepts one. */
    busy_run(drive("dynamic"), 16, 7000, look_dynamic);
    g_assert_cmpuint(n_loaded, >, 1000);
}

static struct {
    uint32_t own, sibling, waits, forced; /* looks, by the step that decided */
} dl;

/* Millionths: the share of the plane's invalid space that is not in free
 * blocks. */
static uint32_t indicator(const Ssd *ssd, uint32_t plane)
{
    uint32_t per = ssd->geo->blocks_per_plane;
    uint64_t invalid = 0;
    uint64_t in_free = 0;

    for (uint32_t b = plane * per; b < (plane + 1) * per; b++) {
        const Block *block = &ssd->media->block[b];

        invalid += ssd->l.units_per_block - block->valid;
        in_free += block->state == BLOCK_FREE ? ssd->l.units_per_block : 0;
    }
    return in_free >= invalid
               ? 0
               : (uint32_t)((invalid - in_free) * 1000000 / invalid);
}

/* DL_algo, section III: (1) the plane of the old version, (2) another of its
 * die, (3) GC in the one with the highest indicator. */
static void look_dl(Ssd *ssd, Prng *rng)
{
    uint64_t unit = prng_below(rng, units(ssd));
    uint32_t home = plane_of(ssd, unit);
    uint32_t other = home ^ 1;
    bool clean = indicator(ssd, home) < ssd->cfg->dl_threshold_ppm;
    bool other_clean = indicator(ssd, other) < ssd->cfg->dl_threshold_ppm;
    uint32_t found;

    found = alloc_pick(ssd, unit, 0);
    if (clean && plane_accepts(ssd, home)) {
        g_assert_cmpuint(found, ==, home);
        dl.own++;
    } else if (other_clean && plane_accepts(ssd, other)) {
        g_assert_cmpuint(found, ==, other);
        dl.sibling++;
    } else if (clean || other_clean) {
        g_assert_false(ssd->work.any & 1U << WORK_GC_FORCE);
        if (found == NONE) {
            g_assert_cmpuint(ssd->placement->alloc_waits_for, ==,
                             clean ? home : other);
            dl.waits++;
        }
    } else {
        uint32_t worst = indicator(ssd, home) == indicator(ssd, other)
                             ? MIN(home, other)
                         : indicator(ssd, home) > indicator(ssd, other) ? home
                                                                        : other;

        g_assert_cmpuint(work_take(&ssd->work, WORK_GC_FORCE), ==, worst);
        dl.forced++;
    }
    ssd->placement->alloc_waits_for = NONE;
}

static void test_dl_busy(void)
{
    memset(&dl, 0, sizeof(dl));
    busy_run(drive("dl;ftl.dl_threshold=35%"), 2, 80000, look_dl);
    busy_run(drive("dl;ftl.dl_threshold=85%"), 2, 40000, look_dl);
    busy_run(drive("dl;ftl.dl_threshold=97%"), 2, 40000, look_dl);
    g_test_message("own %u, sibling %u, waits %u, forced %u", dl.own,
                   dl.sibling, dl.waits, dl.forced);
    g_assert_cmpuint(dl.own, >, 100);
    g_assert_cmpuint(dl.sibling, >, 100);
    g_assert_cmpuint(dl.waits, >, 10);
    g_assert_cmpuint(dl.forced, >, 100);
}

/* Data that has no old version goes round the planes by address. */
static void test_dl_first(void)
{
    Ssd *ssd = drive("dl");
    uint64_t now_ns = 0;

    for (uint32_t i = 0; i < 2 * N_PLANES; i++) {
        uint64_t unit = i * 5 % units(ssd);

        g_assert_cmpuint(written_to(ssd, &now_ns, unit), ==,
                         ssd->media->stripe_plane[unit % N_PLANES]);
    }
    ssd_destroy(ssd);
}

/* A state may be forged: blocks that no drive like it sets aside. */
static void test_forged_aside(void)
{
    Ssd *ssd = drive("stripe");
    uint64_t now_ns = 0;
    Plane *p = &ssd->media->plane[written_to(ssd, &now_ns, 0)];

    g_assert_true(ssd_check(ssd, NULL));
    g_assert_true(p->open[0].block != NONE);
    p->n_aside = 1;
    g_assert_false(ssd_check(ssd, NULL));
    p->n_aside = 0;
    ssd_destroy(ssd);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/placing/dynamic-idle", test_dynamic_idle);
    g_test_add_func("/placing/stripe-idle", test_stripe_idle);
    g_test_add_func("/placing/static-idle", test_static_idle);
    g_test_add_func("/placing/random-idle", test_random_idle);
    g_test_add_func("/placing/random-block-idle", test_random_block_idle);
    g_test_add_func("/placing/any-block", test_any_block);
    g_test_add_func("/placing/forged-aside", test_forged_aside);
    g_test_add_func("/placing/dynamic-busy", test_dynamic_busy);
    g_test_add_func("/placing/dl-busy", test_dl_busy);
    g_test_add_func("/placing/dl-first", test_dl_first);
    return g_test_run();
}
