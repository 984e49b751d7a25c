/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dead-die.c - a die fails before, in, or after a checkpoint, and then the
 * power goes: what comes back, with parity across dies and without.
 *
 * With it, all that parity covers; without it, all but what was on the die.
 * What is lost is reported as such: a read of it fails.
 */
#include <glib/gstdio.h>
#include <string.h>

#include "journal/journal-internal.h"
#include "media/media-internal.h"
#include "media/parity.h"
#include "media/spare.h"
#include "ref-times.h"
#include "simtime.h"
#include "ssd-internal.h"

#define MS   NS_PER_MS
#define DEAD 1 /* the die */

/* Four dies of two planes. */
#define DRIVE                                                                  \
    "nand.channels=2;nand.chips=1;nand.dies=2;nand.planes=2;"                  \
    "nand.multi_plane=on;nand.blocks=60;nand.pages=16;nand.page_size=16KiB;"   \
    "ftl.op_percent=150%;buffer.size=1MiB;host.queue_depth=32;"                \
    "superblock.row=8;superblock.width=8;ftl.recovery=checkpoint;"             \
    "ftl.checkpoint_interval=200;"
#define WRITES 6000

typedef enum Phase {
    BEFORE, /* the next checkpoint begins soon */
    DURING, /* one has begun */
    AFTER,  /* it has ended */
    N_PHASES,
} Phase;

static const char *const phase_names[] = {"before", "during", "after"};

static Ref *drive(const char *more, uint64_t dead_ns)
{
    g_autofree char *rule = g_strdup_printf(
        "time=%" G_GUINT64_FORMAT "ns die=%d -> dead", dead_ns, DEAD);
    g_autofree char *path = dead_ns ? ref_faults_file(rule) : NULL;
    g_autofree char *all =
        g_strconcat(DRIVE, more, path ? ";faults=" : NULL, path, NULL);
    Ref *r = ref_new(ref_config(all), true);

    r->faults = path != NULL;
    if (path) {
        g_unlink(path);
    }
    return r;
}

/* Random writes of a unit, each by itself; a flush now and then. */
static void one_write(Ref *r, Prng *rng, unsigned i)
{
    ref_one(r, SSD_OP_WRITE, prng_below(rng, r->n_units) * UNIT, UNIT, false);
    if (i % 50 == 0) {
        ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    }
}

/* When a late checkpoint is at that phase, in the run without a fault. */
static uint64_t instant_of(const char *more, Phase phase)
{
    Ref *r = drive(more, 0);
    uint64_t at_ns = 0;
    uint64_t begun = 0;
    Prng rng;

    prng_seed(&rng, 4, 4);
    for (unsigned i = 0; i < WRITES && at_ns == 0; i++) {
        const Saved *s = &r->ssd->journal->saved_queue;
        uint64_t before_ns = r->now_ns;

        one_write(r, &rng, i);
        if (i < WRITES / 2) {
            begun = s->n_begun;
        } else if (phase == BEFORE && s->n_begun > begun) {
            at_ns = before_ns;
        } else if (phase == DURING && s->n_begun > begun &&
                   s->n_ended < s->n_begun) {
            at_ns = r->now_ns;
        } else if (phase == AFTER && s->n_begun > begun &&
                   s->n_ended == s->n_begun) {
            at_ns = r->now_ns;
        }
    }
    g_assert_cmpuint(at_ns, >, 0);
    ref_finish(r);
    ref_free(r);
    return at_ns;
}

static bool is_on_die(const Ssd *ssd, uint64_t ppu)
{
    return block_plane(ssd, ppu_block(ssd, ppu)) / ssd->geo->planes_per_die ==
           DEAD;
}

/* Write until the die has failed, and so many times more. */
static void write_past(Ref *r, uint64_t dead_ns, unsigned more)
{
    Prng rng;

    prng_seed(&rng, 4, 4);
    for (unsigned i = 0; r->now_ns < dead_ns || more > 0; i++) {
        more -= r->now_ns >= dead_ns && more > 0;
        one_write(r, &rng, i);
    }
}

/* ---- with parity --------------------------------------------------------- */

/* Reads of each unit end as the drive's tables say; units that are lost. */
static unsigned read_all(Ref *r)
{
    const Ssd *ssd = r->ssd;
    uint64_t other[SSD_MOST_ROW_PLANES];
    unsigned lost = 0;
    uint32_t n;

    for (uint64_t lpn = 0; lpn < r->n_units; lpn++) {
        uint64_t entry = l2p_get(&ssd->l2p, lpn);
        bool good;
        SsdCompletion c;

        if (entry == 0 || map_is_buffered(entry)) {
            continue;
        }
        good = !spare_poisoned(ssd, entry - 1) &&
               (!is_on_die(ssd, entry - 1) ||
                (ssd->l.parity_dies &&
                 parity_others(ssd, ppu_page(ssd, entry - 1), other, &n)));
        c = ref_one(r, SSD_OP_READ, lpn * UNIT, UNIT, false);
        g_assert_cmpint(c.status, ==,
                        good ? SSD_STATUS_OK : SSD_STATUS_UNRECOVERED_READ);
        lost += !good;
    }
    return lost;
}

static uint64_t count(const Ref *r, const char *member)
{
    return stat_of(r->ssd, "\"parity\":", member);
}

/* All comes back but what no parity covered: late pages, and those whose parity
 * was in memory when the power went. */
static void protected(const char *more, Phase phase, unsigned after)
{
    g_autofree char *all = g_strconcat("superblock.parity=on;", more, NULL);
    uint64_t dead_ns = instant_of(all, phase);
    Ref *r = drive(all, dead_ns);
    uint64_t bare;
    unsigned lost;

    write_past(r, dead_ns, after);
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    bare = count(r, "late_pages") + 3 * count(r, "open_stripes");
    ref_power_cycle(r);
    lost = read_all(r);
    g_test_message("%s %s a checkpoint, %u writes later: %u units lost, "
                   "%" G_GUINT64_FORMAT " pages without cover",
                   more, phase_names[phase], after, lost, bare);
    g_assert_cmpuint(lost, <=, 4 * bare);
    ref_verify(r);
    write_past(r, 0, 3000);
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    g_assert_cmpuint(count(r, "lost_dies"), ==, 1);
    g_assert_false(r->ssd->media->read_only);
    ref_pass(r, 10000 * MS);
    ref_power_cycle(r);
    for (uint32_t p = 2 * DEAD; p < 2 * DEAD + 2; p++) {
        g_assert_cmpuint(r->ssd->media->plane[p].valid, ==, 0);
    }
    read_all(r);
    ref_verify(r);
    ref_free(r);
}

static void test_protected(void)
{
    for (Phase phase = BEFORE; phase < N_PHASES; phase++) {
      protected
        ("", phase, 0);
      protected
        ("", phase, 40);
      protected
        ("", phase, 1000);
      protected
        ("ftl.map=dftl;ftl.map_cache=512", phase, 200);
    }
}

/* ---- without ------------------------------------------------------------- */

/* The power goes at once: what was on the die is lost, and nothing else. */
static void lost_at_once(Phase phase)
{
    uint64_t dead_ns = instant_of("", phase);
    Ref *r = drive("", dead_ns);
    const Ssd *ssd = r->ssd;
    g_autofree bool *on_die = g_new0(bool, r->n_units);
    uint64_t before, expect = 0;

    write_past(r, dead_ns - 1, 0);
    ref_power_cycle(r);
    for (uint64_t lpn = 0; lpn < r->n_units; lpn++) {
        uint64_t entry = l2p_get(&ssd->l2p, lpn);

        g_assert_false(entry && map_is_buffered(entry));
        on_die[lpn] = entry && is_on_die(ssd, entry - 1);
        expect += on_die[lpn];
    }
    g_assert_cmpuint(expect, >, r->n_units / 8);
    before = stat_of(ssd, "\"media\":", "uncorrectable_reads");
    for (uint64_t lpn = 0; lpn < r->n_units; lpn++) {
        SsdCompletion c = ref_one(r, SSD_OP_READ, lpn * UNIT, UNIT, false);

        g_assert_cmpint(c.status, ==,
                        on_die[lpn] ? SSD_STATUS_UNRECOVERED_READ
                                    : SSD_STATUS_OK);
    }
    g_assert_cmpuint(stat_of(ssd, "\"media\":", "uncorrectable_reads") - before,
                     ==, expect);
    ref_verify(r);
    ref_free(r);
}

/* The host writes on: what GC moved off the die is marked, and stays lost. */
static void lost_later(Phase phase)
{
    uint64_t dead_ns = instant_of("", phase);
    Ref *r = drive("", dead_ns);

    write_past(r, dead_ns, 300);
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    ref_power_cycle(r);
    g_assert_cmpuint(read_all(r), >, r->n_units / 8);
    ref_verify(r);
    ref_free(r);
}

static void test_lost(void)
{
    for (Phase phase = BEFORE; phase < N_PHASES; phase++) {
        lost_at_once(phase);
        lost_later(phase);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/dead-die/protected", test_protected);
    g_test_add_func("/dead-die/lost", test_lost);
    return g_test_run();
}
