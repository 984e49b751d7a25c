/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * statistics.c - a reset of the statistics changes each row as its kind
 * requires.
 */
#include <string.h>

#include "inspect/inspect.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-report.h"

static const char *const drives[] = {
    "nand.multi_plane=on;nand.planes=2",
    "ftl.map=dftl;ftl.op_percent=200%;ftl.map_cache=1KiB",
    "ftl.map=bast;ftl.op_percent=200%",
    "ftl.recovery=scan;ftl.op_percent=200%",
    "streams.max=2;streams.gc=merge;ftl.op_percent=200%;media.errors=on",
    ("ftl.idle=1ms;ftl.op_percent=200%;ftl.gc_soft=20%;"
     "buffer.policy=cflru-ef;nand.energy_read=1;nand.energy_program=2"),
    ("ftl.op_percent=200%;thermal.resistance=5;thermal.capacitance=0.001;"
     "power.active=8000;power.idle=1000;thermal.warning=30;thermal.critical=31;"
     "thermal.throttle_1=30;thermal.throttle_2=40;nand.energy_read=100;"
     "power.states=8000:0:0/100:10:50:idle;power.idle_after=100us"),
};

/* The JSON of a row alone. */
static char *text_of(const StatTable *t, size_t row, const void *ctx)
{
    StatTable one = {&t->row[row], 1, t->set, t->n_sets};
    GString *s = g_string_new(NULL);
    JsonWriter w = {.out = s};

    stats_write(&one, ctx, &w);
    return g_string_free(s, FALSE);
}

static GPtrArray *texts_of(const StatTable *t, const void *ctx)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(g_free);

    for (size_t i = 0; i < t->n_rows; i++) {
        g_ptr_array_add(all, text_of(t, i, ctx));
    }
    return all;
}

/* Whether there is a number other than 0 outside of names. */
static bool counted(const char *json)
{
    bool in_name = false;

    for (; *json; json++) {
        in_name ^= *json == '"';
        if (!in_name && *json >= '1' && *json <= '9') {
            return true;
        }
    }
    return false;
}

/* How many rows were reset that had counted. */
static unsigned compare(const StatTable *t, const GPtrArray *before,
                        const GPtrArray *after)
{
    unsigned n = 0;

    for (size_t i = 0; i < t->n_rows; i++) {
        const StatRow *r = &t->row[i];
        const char *was = before->pdata[i];
        const char *is = after->pdata[i];

        if (r->type == STAT_PART) {
            continue;
        }
        if (r->reset != STAT_RESET) {
            g_assert_cmpstr(is, ==, was);
        } else if (counted(is) && strcmp(r->path, "most_stale_pages") != 0) {
            g_error("%s: %s after a reset", r->path, is);
        }
        n += r->reset == STAT_RESET && counted(was);
    }
    return n;
}

/* Values of all rows, of the drive and of its map. */
static void look(const Ssd *ssd, GPtrArray *found[3])
{
    const StatTable *map = ssd->map->policy->stats;
    DriveStats v;

    drive_stats_init(&v, ssd);
    found[0] = texts_of(&ssd_stats, &v);
    found[1] = texts_of(&ssd_head_stats, &v);
    found[2] = map ? texts_of(map, ssd) : NULL;
    drive_stats_clear(&v);
}

static void forget(GPtrArray *found[3])
{
    for (unsigned i = 0; i < 3; i++) {
        g_clear_pointer(&found[i], g_ptr_array_unref);
    }
}

static Ref *used(const char *options)
{
    Ref *r = ref_new(ref_config(options), true);
    Prng rng;

    r->faults = true;
    prng_seed(&rng, 1, 1);
    for (int i = 0; i < 6000; i++) {
        uint64_t lba = prng_below(&rng, r->info->nblocks / 8) * 8;

        ref_do(r, i % 5 == 4 ? SSD_OP_READ : SSD_OP_WRITE, lba, 8, false);
    }
    ref_drain(r);
    return r;
}

static void test_kinds(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(drives); i++) {
        Ref *r = used(drives[i]);
        GPtrArray *before[3];
        GPtrArray *after[3];
        unsigned n;

        look(r->ssd, before);
        ssd_reset_stats(r->ssd);
        look(r->ssd, after);
        n = compare(&ssd_stats, before[0], after[0]) +
            compare(&ssd_head_stats, before[1], after[1]);
        if (before[2]) {
            n += compare(r->ssd->map->policy->stats, before[2], after[2]);
        }
        g_test_message("%s: %u rows", drives[i], n);
        g_assert_cmpuint(n, >, 40);
        forget(before);
        forget(after);
        ref_free(r);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/statistics/kinds", test_kinds);
    return g_test_run();
}
