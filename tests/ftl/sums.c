/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums.c - sums of durations beyond 64 bits: of picoseconds, and of
 * nanoseconds.
 *
 * A drive of one die reads a page in 8640 s, and the host keeps 256 reads in
 * flight.  All come at one instant, so the k-th waits for k others, and n of
 * them wait n (n - 1) / 2 times the time of one.  After five years these waits
 * are 644 years.
 */
#include <stdlib.h>
#include <string.h>

#include <glib/gstdio.h>

#include "inspect/inspect.h"
#include "ref-times.h"
#include "simtime.h"
#include "ssd-save.h"

#define DEPTH   256
#define BATCHES 72
#define CELL    (8640 * NS_PER_S)
#define ONE     (C + CELL + X) /* ns of the die */

static const char drive[] =
    "nand.channels=1;nand.chips=1;nand.dies=1;nand.planes=1;nand.blocks=80;"
    "nand.pages=32;ftl.unit=16KiB;host.queue_depth=256;nand.read=8640us;"
    "host.firmware=0;host.link_mb_s=0;host.cores=0;"
    "thermal.resistance=1;thermal.capacitance=1;thermal.ambient=80;"
    "thermal.warning=70;thermal.critical=90;power.idle=1000;"
    "power.states=8000:0:0/3000:10:10:idle;faults=";

static Ssd *slow_drive(const char *faults)
{
    g_autofree char *options = g_strconcat(drive, faults, NULL);
    Ssd *ssd = ref_drive(ref_config(options));

    ssd_preload(ssd, 0, ssd_info(ssd)->nblocks);
    return ssd;
}

/* Before each batch the clock is set back to 0. */
static void read_batch(Ssd *ssd, uint64_t *now_ns)
{
    SsdCompletion done[DEPTH];
    size_t n = 0;

    g_assert_true(ssd_rebase(ssd, ssd_rebase_most_ns(ssd)));
    *now_ns = ssd_now_ns(ssd);
    for (uint64_t i = 0; i < DEPTH; i++) {
        SsdCmd cmd = {.tag = i, .op = SSD_OP_READ, .lba = 4 * i, .nblocks = 4};

        g_assert_cmpint(ssd_submit(ssd, *now_ns, &cmd), ==, 0);
    }
    while (n < DEPTH) {
        n += ssd_advance(ssd, *now_ns, done + n, DEPTH - n);
        if (n < DEPTH) {
            *now_ns = MAX(*now_ns, ssd_next_event_ns(ssd));
        }
    }
}

/* All digits of a member of the statistics, behind the text `after`. */
static char *digits_of(const Ssd *ssd, const char *after, const char *member)
{
    g_autofree char *name = g_strdup_printf("\"%s\":", member);
    g_autoptr(GString) json = g_string_new(NULL);
    JsonWriter w = {.out = json};
    const char *at;

    ssd_stats_json(ssd, &w, NULL);
    at = strstr(json->str, after);
    g_assert_nonnull(at);
    at = strstr(at, name);
    g_assert_nonnull(at);
    at += strlen(name);
    at += *at == '[';
    return g_strndup(at, strspn(at, "0123456789"));
}

static char *digits(TimeSum v)
{
    g_autoptr(GString) s = g_string_new(NULL);
    JsonWriter w = {.out = s};

    json_u128(&w, NULL, v);
    return g_strdup(s->str);
}

static void same(const Ssd *ssd, const char *after, const char *member,
                 TimeSum ns)
{
    g_autofree char *found = digits_of(ssd, after, member);
    g_autofree char *wanted = digits(ns);

    g_test_message("%s %s: %s, wanted %s", after, member, found, wanted);
    g_assert_cmpstr(found, ==, wanted);
}

/* Of so many batches. */
static void check(const Ssd *ssd, uint64_t batches)
{
    TimeSum reads = batches * DEPTH;
    TimeSum waits = (TimeSum)batches * (DEPTH * (DEPTH - 1) / 2) * ONE;
    uint64_t warm_ns =
        stat_of(ssd, "\"thermal\":", "warning_ns"); /* whole steps */
    Explain e;

    same(ssd, "\"time_ns\":{\"host\":", "die_wait", waits);
    same(ssd, "\"time_ns\":{\"host\":", "cell", reads * CELL);
    same(ssd, "\"busy_ns\":", "channel", reads * (C + X));
    same(ssd, "\"busy_ns\":", "die", reads * ONE);
    same(ssd, "\"busy_ns\":", "plane", reads * CELL);
    same(ssd, "\"nand\":", "elapsed_ns", reads * ONE);
    same(ssd, "\"nand\":", "die_idle_ns", 0);
    same(ssd, "\"power\":", "state_ns", reads * ONE);
    same(ssd, "\"thermal\":", "critical_ns", 0);
    g_assert_true(reads * ONE < warm_ns + NS_PER_MS);
    g_assert_true(warm_ns < reads * ONE + NS_PER_MS);
    explain_init(&e, ssd);
    g_assert_cmpfloat_with_epsilon(e.cost_ns[COST_die_wait],
                                   (double)waits / (double)reads, 1);
    g_assert_cmpfloat_with_epsilon(e.in_flight, (DEPTH + 1) / 2.0, 1e-9);
    g_assert_cmpfloat_with_epsilon(e.stage[STAGE_DIES].utilization, 1, 1e-9);
    g_assert_cmpstr(e.bound_by, ==, "dies");
}

static Ssd *loaded(Ssd *ssd)
{
    GError *error = NULL;
    char *bytes = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&bytes, &n);
    Ssd *copy;

    ssd_save(ssd, f, &error);
    g_assert_no_error(error);
    fclose(f);
    f = fmemopen(bytes, n, "rb");
    copy = ssd_load(ssd->cfg, NULL, NULL, f, &error);
    g_assert_no_error(error);
    fclose(f);
    free(bytes);
    ssd_destroy(ssd);
    return copy;
}

static void play(Ssd *ssd, unsigned batches, uint64_t *now_ns)
{
    for (unsigned i = 0; i < batches; i++) {
        read_batch(ssd, now_ns);
    }
}

/* Sums pass 2^64, a saved state holds them, and a reset begins from there. */
static void test_years(void)
{
    g_autofree char *faults =
        ref_faults_file("on=read -> latency x1000000 always\n");
    Ssd *ssd = slow_drive(faults);
    uint64_t now_ns = 0;

    play(ssd, BATCHES / 2, &now_ns);
    ssd = loaded(ssd);
    check(ssd, BATCHES / 2);
    play(ssd, BATCHES - BATCHES / 2, &now_ns);
    g_assert_true((TimeSum)BATCHES * DEPTH * ONE * PS_PER_NS >> 64 > 0);
    g_assert_true((TimeSum)BATCHES * (DEPTH * (DEPTH - 1) / 2) * ONE >> 64 > 0);
    check(ssd, BATCHES);
    ssd_reset_stats(ssd);
    play(ssd, 1, &now_ns);
    check(ssd, 1);
    ssd_destroy(ssd);
    g_remove(faults);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sums/years", test_years);
    return g_test_run();
}
