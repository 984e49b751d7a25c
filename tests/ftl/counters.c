/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters.c - ftl.counters_interval: the counters that a power cut takes. */
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "ssd-setup.h"

#define MS   1000000ULL
#define UNIT 4096ULL
#define SCAN "ftl.op_percent=120;ftl.recovery=scan;"
#define EACH SCAN "ftl.counters_interval=10ms"

static void write_units(Ref *r, uint64_t n)
{
    ref_one(r, SSD_OP_WRITE, 0, (uint32_t)(n * r->unit_blocks), false);
}

/* Writes, and units of them, that firmware does not know of. */
static void check_lost(const Ref *r, uint64_t writes, uint64_t units)
{
    SsdCounters all, known;

    ssd_get_counters(r->ssd, &all);
    ssd_known_counters(r->ssd, &known);
    g_assert_cmpuint(all.commands[SSD_OP_WRITE] - known.commands[SSD_OP_WRITE],
                     ==, writes);
    g_assert_cmpuint(all.host_bytes_written - known.host_bytes_written, ==,
                     units * UNIT);
    g_assert_cmpuint(known.commands[SSD_OP_READ], ==,
                     all.commands[SSD_OP_READ]);
}

/* What came since the last interval is lost, and the time since then. */
static void test_cut(void)
{
    Ref *r = ref_new(ref_config(EACH), false);
    uint64_t lost_ns;

    write_units(r, 8);
    check_lost(r, 0, 0);
    ref_pass(r, 20 * MS);
    write_units(r, 3);
    lost_ns = (r->now_ns - r->base_ns) % (10 * MS);
    ref_power_cycle(r);
    check_lost(r, 1, 3);
    g_assert_cmpuint(ssd_uncounted_ns(r->ssd), ==, lost_ns);
    write_units(r, 5);
    ref_pass(r, 20 * MS);
    ref_power_cycle(r);
    check_lost(r, 1, 3);
    write_units(r, 2);
    ref_power_cycle(r);
    check_lost(r, 2, 5);
    ssd_reset_stats(r->ssd);
    check_lost(r, 0, 0);
    ref_finish(r);
    ref_free(r);
}

/* Times that cuts lose add up. */
static void test_lost_time(void)
{
    Ref *r = ref_new(ref_config(EACH), false);
    uint64_t first_ns;

    ref_pass(r, 19 * MS);
    ref_power_cycle(r);
    first_ns = ssd_uncounted_ns(r->ssd);
    g_assert_cmpuint(first_ns, >=, 9 * MS);
    ref_pass(r, 2 * MS);
    ref_power_cycle(r);
    g_assert_cmpuint(ssd_uncounted_ns(r->ssd), >=, first_ns + 2 * MS);
    ref_finish(r);
    ref_free(r);
}

/* What one cut has taken the next one does not take again, nor what was saved
 * before; and no time without power. */
static void test_two_cuts(void)
{
    Ref *r = ref_new(ref_config(EACH), false);
    SsdCounters all, known;
    uint64_t lost_ns;

    write_units(r, 2);
    ref_one(r, SSD_OP_READ, 0, 1, false);
    ref_pass(r, 20 * MS);
    write_units(r, 3);
    ref_one(r, SSD_OP_READ, 0, 1, false);
    ref_power_cycle(r);
    lost_ns = ssd_uncounted_ns(r->ssd);
    ssd_power_cut(r->ssd, r->now_ns - r->base_ns);
    r->now_ns += 7 * MS;
    ssd_power_on(r->ssd, r->now_ns - r->base_ns);
    ref_power_cycle(r);
    ssd_get_counters(r->ssd, &all);
    ssd_known_counters(r->ssd, &known);
    g_assert_cmpuint(all.commands[SSD_OP_READ], ==,
                     known.commands[SSD_OP_READ] + 1);
    g_assert_cmpuint(all.commands[SSD_OP_WRITE], ==,
                     known.commands[SSD_OP_WRITE] + 1);
    g_assert_cmpuint(all.host_bytes_read, >, known.host_bytes_read);
    g_assert_cmpuint(all.host_bytes_written, ==,
                     known.host_bytes_written + 3 * UNIT);
    g_assert_cmpuint(ssd_uncounted_ns(r->ssd) - lost_ns, <, 7 * MS);
    ref_finish(r);
    ref_free(r);
}

/* A shutdown saves the counters. */
static void test_shutdown(void)
{
    Ref *r = ref_new(ref_config(EACH), false);

    write_units(r, 3);
    ref_one(r, SSD_OP_SHUTDOWN, 0, 0, false);
    ref_power_cycle(r);
    check_lost(r, 0, 0);
    ref_finish(r);
    ref_free(r);
}

/* Without the option a cut takes none. */
static void test_off(void)
{
    Ref *r = ref_new(ref_config(SCAN), false);

    write_units(r, 3);
    ref_power_cycle(r);
    check_lost(r, 0, 0);
    g_assert_cmpuint(ssd_uncounted_ns(r->ssd), ==, 0);
    ref_finish(r);
    ref_free(r);
}

static void test_refused(void)
{
    SsdConfig *cfg = ref_config("ftl.counters_interval=1s");
    GError *error = NULL;

    g_assert_false(ssd_config_check(cfg, &error));
    g_assert_cmpstr(error->message, ==,
                    "ftl.recovery=capacitors: not with "
                    "ftl.counters_interval=1s");
    g_clear_error(&error);
    ssd_config_free(cfg);
}

/* A copy of the drive, with its clock set back, loses the same. */
static void test_copied(void)
{
    Ref *r = ref_new(ref_config(EACH), false);

    r->replace_permille = 1000;
    ref_pass(r, 33 * MS);
    write_units(r, 8);
    ref_pass(r, 20 * MS);
    write_units(r, 3);
    g_assert_cmpuint(r->n_cloned + r->n_loaded, >, 0);
    ref_power_cycle(r);
    check_lost(r, 1, 3);
    g_assert_cmpuint(ssd_uncounted_ns(r->ssd), <, 10 * MS);
    ref_finish(r);
    ref_free(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/counters/cut", test_cut);
    g_test_add_func("/counters/lost-time", test_lost_time);
    g_test_add_func("/counters/two-cuts", test_two_cuts);
    g_test_add_func("/counters/shutdown", test_shutdown);
    g_test_add_func("/counters/off", test_off);
    g_test_add_func("/counters/refused", test_refused);
    g_test_add_func("/counters/copied", test_copied);
    return g_test_run();
}
