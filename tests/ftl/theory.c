/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * theory.c - write amplification against closed forms, and victim policies
 * against each other, on a drive of one plane that takes no time.
 *
 * Uniform random writes of single units, a being physical / user capacity, n
 * units per block.  A block that is collected holds on average v valid units,
 * and the write amplification is n / (n - v).
 *
 * FIFO: from when a block is filled until it is collected all others are
 * filled, too.  Of these a U units (U: those of the user) a share 1 - v / n is
 * written by the host, each to the same place with probability 1 / U; so a unit
 * stays valid with probability v / n = exp(-a (1 - v / n)), whence
 *
 *     A = a / (a + W(-a exp(-a))),       W: Lambert's function
 *
 * P. Desnoyers, "Analytic Modeling of SSD Write Performance", SYSTOR 2012 (LRU
 * GC); so already J. Menon, "A Performance Comparison of RAID-5 and
 * Log-Structured Arrays", HPDC 1995.
 *
 * Greedy: blocks lose their valid units one by one, in proportion to how many
 * they have; in the steady state the number of blocks with i valid units goes
 * with 1 / i, from n down to those that are collected.  With the sum of 1 / i
 * as a logarithm
 *
 *     y = -(n / a) W(-b exp(-b)), b = a (1 + 1 / (2 n)),   v = y - 1 / 2
 *
 * Desnoyers, ibid. (greedy GC).  For large n both are the form of
 * L. Xiang, B. Kurkoski, "An Improved Analytic Expression for Write
 * Amplification in NAND Flash", ICNC 2012 (arXiv:1110.4245).
 *
 * d-choices: of d blocks drawn at random the one with the fewest valid units is
 * collected (d = 1: random).  Let F(i) be the share of blocks with i valid
 * units or more, F(1) + ... + F(n) = n / a.  In the steady state as many blocks
 * fall below i by writes of the host as victims have fewer than i, so with a
 * constant c
 *
 *     i (F(i) - F(i + 1)) = c (1 - P(i)),   A = c a
 *
 * where P(i) is the probability that all of d blocks have i or more.  Blocks
 * without an invalid unit are not drawn: P(i) = ((F(i) - F(n)) / (1 - F(n)))^d.
 * B. Van Houdt, "A Mean Field Model for a Class of Garbage Collection
 * Algorithms in Flash-Based Solid State Drives", SIGMETRICS 2013.
 *
 * Hot and cold data apart: each stream is a drive of its own, with its share of
 * the physical capacity.  Greedy victims of all blocks make v the same in both
 * streams, hence a, and A is that of uniform writes.  The least A has the split
 * that minimizes f A(a_hot) + (1 - f) A(a_cold).  P. Desnoyers, "Analytic
 * Models of SSD Write Performance", ACM Transactions on Storage 10(2), 2014,
 * section 6.
 *
 * The formulas have no blocks that are free, open or being collected, so these
 * are taken off the physical capacity (RESERVE).
 */
#include <math.h>

#include "media/media-internal.h"
#include "prng.h"
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-setup.h"

#define BLOCKS 1600
#define PAGES  32

/* 2 to 3 free (ftl.gc_low, ftl.gc_high), two half full that are open, one being
 * collected. */
#define RESERVE 4.5

/* The branch of W that is not -a, for a > 1: Newton from 0. */
static double lambert(double x)
{
    double w = 0;

    for (int i = 0; i < 100; i++) {
        w -= (w * exp(w) - x) / (exp(w) * (w + 1));
    }
    return w;
}

static double fifo_waf(double a)
{
    return a / (a + lambert(-a * exp(-a)));
}

static double greedy_waf(double a)
{
    double b = a * (1 + 1.0 / (2 * PAGES));
    double y = -(PAGES / a) * lambert(-b * exp(-b));

    return PAGES / (PAGES - (y - 0.5));
}

/* F(i) from F(i + 1): what rises with it is equal to what falls. */
static double next_share(double above, double full, double c, unsigned i,
                         unsigned d)
{
    double low = above;
    double high = 1;

    for (int k = 0; k < 60; k++) {
        double f = (low + high) / 2;

        if (i * (f - above) < c * (1 - pow((f - full) / (1 - full), d))) {
            low = f;
        } else {
            high = f;
        }
    }
    return low;
}

static unsigned n_choices; /* d */

static double choices_waf(double a)
{
    double low = 1 / a; /* of c: A is 1 at least, and at most n */
    double high = PAGES / a;

    for (int k = 0; k < 60; k++) {
        double c = (low + high) / 2;
        double full = MIN(c / PAGES, 1 - 1e-9);
        double sum = full;
        double f = full;

        for (unsigned i = PAGES - 1; i > 0; i--) {
            f = next_share(f, full, c, i, n_choices);
            sum += f;
        }
        if (sum < PAGES / a) {
            low = c;
        } else {
            high = c;
        }
    }
    return low * a;
}

/* ---- a drive and a host -------------------------------------------------- */

static Ssd *drive_of(const char *options)
{
    SsdConfig *cfg = ssd_config_new();
    GError *error = NULL;

    ssd_config_set(cfg, options, &error);
    g_assert_no_error(error);
    return ref_drive(cfg);
}

static bool hot_cold; /* of the next drives */
static bool hinted;   /* the host says which data is hot, and which is not */
static bool streams;  /* of the next drives: the host writes hot data to one */

static Ssd *drive(const char *gc, double op_percent)
{
    char op[G_ASCII_DTOSTR_BUF_SIZE];
    g_autofree char *options = g_strdup_printf(
        "nand.channels=1;nand.dies=1;nand.planes=1;nand.blocks=%d;"
        "nand.pages=%d;nand.page_size=4KiB;nand.read=0;nand.program=0;"
        "nand.erase=0;nand.command=0;nand.bus_mt_s=0;nand.bus_ns_per_byte=0;"
        "buffer.size=16KiB;buffer.access=0;host.firmware=0;host.link_mb_s=0;"
        "ftl.gc_low=0%%;ftl.gc_high=0%%;ftl.gc=%s;ftl.op_percent=%s;"
        "ftl.hot_cold=%s;streams.max=%d",
        BLOCKS, PAGES, gc, g_ascii_dtostr(op, sizeof(op), op_percent),
        hot_cold ? "on" : "off", streams);

    return drive_of(options);
}

/* hot_percent of the writes go to as much of the drive as the others leave. */
static void write_some(Ssd *ssd, Prng *rng, uint64_t n, uint32_t hot_percent)
{
    uint64_t all = ssd_info(ssd)->nblocks;
    uint64_t hot = all * (100 - hot_percent) / 100;

    for (uint64_t i = 0; i < n; i++) {
        bool cold = prng_below(rng, 100) >= hot_percent;
        uint64_t to = cold ? prng_below(rng, all - hot) + hot
                           : prng_below(rng, hot);
        SsdCmd cmd = {
            .tag = i,
            .op = SSD_OP_WRITE,
            .lba = hot_percent ? to : prng_below(rng, all),
            .nblocks = 1,
            .stream = streams && !cold,
        };
        SsdCompletion done;

        g_assert_cmpint(ssd_submit(ssd, 0, &cmd), ==, 0);
        g_assert_cmpuint(ssd_advance(ssd, 0, &done, 1), ==, 1);
    }
}

/* The hot data as write_some() has it, but for a piece of 16 units. */
static void tell_rates(Ssd *ssd, uint32_t hot_percent)
{
    uint64_t all = ssd_info(ssd)->nblocks;
    uint64_t hot = all * (100 - hot_percent) / 100;

    g_assert_cmpuint(ssd_info(ssd)->hint_bytes, ==,
                     16 * ssd_info(ssd)->unit_bytes);
    g_assert_cmpint(ssd_expect_writes(ssd, 0, 0, hot, SSD_WRITES_OFTEN), ==, 0);
    g_assert_cmpint(
        ssd_expect_writes(ssd, 0, hot, all - hot, SSD_WRITES_SELDOM), ==, 0);
}

static double measure_once(const char *gc, double op_percent,
                           uint32_t hot_percent)
{
    Ssd *ssd = drive(gc, op_percent);
    uint64_t user = ssd_info(ssd)->nblocks;
    SsdCounters c;
    Prng rng;

    prng_seed(&rng, 6, 6);
    if (hinted) {
        tell_rates(ssd, hot_percent);
    }
    g_assert_cmpint(ssd_preload(ssd, 0, user), ==, 0);
    /* Skewed writes need longer to the steady state. */
    write_some(ssd, &rng, (hot_percent ? 3 : 2) * user, hot_percent);
    ssd_reset_stats(ssd);
    write_some(ssd, &rng, user, hot_percent);
    ssd_get_counters(ssd, &c);
    ssd_destroy(ssd);
    return c.waf;
}

/* In the steady state.  A result that several tests use is measured once: it is
 * the same to the last bit. */
static double measure(const char *gc, double op_percent, uint32_t hot_percent)
{
    static GHashTable *known;
    char *key =
        g_strdup_printf("%s %g %" G_GUINT32_FORMAT " %d %d %d", gc, op_percent,
                        hot_percent, hot_cold, streams, hinted);
    double *waf;

    if (!known) {
        known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    }
    waf = g_hash_table_lookup(known, key);
    if (waf) {
        g_free(key);
        return *waf;
    }
    waf = g_new(double, 1);
    *waf = measure_once(gc, op_percent, hot_percent);
    g_hash_table_insert(known, key, waf);
    return *waf;
}

/* ---- tests --------------------------------------------------------------- */

static const double ops[] = {7, 15, 28};

static double alpha(double op_percent)
{
    double physical = BLOCKS - RESERVE;

    return physical / BLOCKS * (1 + op_percent / 100);
}

static void compare_from(size_t i, const char *gc, double closed_form(double))
{
    for (; i < G_N_ELEMENTS(ops); i++) {
        double measured = measure(gc, ops[i], 0);
        double expected = closed_form(alpha(ops[i]));

        g_test_message("%s, %g %%: %.3f, closed form %.3f (%+.2f %%)", gc,
                       ops[i], measured, expected,
                       (measured / expected - 1) * 100);
        g_assert_cmpfloat_with_epsilon(measured / expected, 1, 0.03);
    }
}

static void compare(const char *gc, double closed_form(double))
{
    compare_from(0, gc, closed_form);
}

static void test_fifo(void)
{
    compare("fifo", fifo_waf);
}

static void test_greedy(void)
{
    compare("greedy", greedy_waf);
}

static void test_choices(void)
{
    n_choices = 1;
    compare_from(1, "random", choices_waf);
    n_choices = 2;
    compare_from(1, "d-choices;ftl.gc_choices=2", choices_waf);
    n_choices = 10; /* the default of ftl.gc_choices */
    compare_from(1, "d-choices", choices_waf);
}

/* With so many choices the form is that of greedy. */
static void test_many_choices(void)
{
    n_choices = 400;
    for (size_t i = 0; i < G_N_ELEMENTS(ops); i++) {
        g_assert_cmpfloat_with_epsilon(
            choices_waf(alpha(ops[i])) / greedy_waf(alpha(ops[i])), 1, 0.02);
    }
}

/* The least sum of both streams' writes: f of the writes go to 1 - f of the
 * user's units. */
static double separate_waf(double a, double f)
{
    double best = INFINITY;

    for (double s = 0.001; s < 1; s += 0.001) { /* of the spare, to the hot */
        double hot = 1 + s * (a - 1) / (1 - f);
        double cold = 1 + (1 - s) * (a - 1) / f;

        best = MIN(best, f * greedy_waf(hot) + (1 - f) * greedy_waf(cold));
    }
    return best;
}

/* Nine writes in ten go to a tenth of the drive, which is a stream of its own:
 * greedy does no better than under uniform writes, and no policy better than
 * the best split. */
static void test_separate(void)
{
    double best, greedy, cost_benefit, uniform;

    streams = true;
    greedy = measure("greedy", 15, 90);
    cost_benefit = measure("cost-benefit", 15, 90);
    streams = false;
    /* Each stream has its open blocks, two and a half more than one has. */
    uniform = greedy_waf((BLOCKS - RESERVE - 2.5) / BLOCKS * 1.15);
    best = separate_waf((BLOCKS - RESERVE - 2.5) / BLOCKS * 1.15, 0.9);
    g_test_message("90/10 in two streams: greedy %.3f (uniform %.3f), "
                   "cost-benefit %.3f, best split %.3f",
                   greedy, uniform, cost_benefit, best);
    g_assert_cmpfloat_with_epsilon(greedy / uniform, 1, 0.05);
    g_assert_cmpfloat(cost_benefit, <, greedy);
    g_assert_cmpfloat(cost_benefit, >, 0.99 * best);
}

/* The known order under uniform writes: the more a policy looks at, the less it
 * copies. */
static void test_order(void)
{
    double fifo = measure("fifo", 15, 0);
    double windowed = measure("windowed-greedy", 15, 0);
    double random = measure("random", 15, 0);
    double choices = measure("d-choices", 15, 0);
    double greedy = measure("greedy", 15, 0);

    g_test_message("random %.3f, fifo %.3f, windowed %.3f, d-choices %.3f, "
                   "greedy %.3f",
                   random, fifo, windowed, choices, greedy);
    g_assert_cmpfloat(greedy, <, choices);
    g_assert_cmpfloat(choices, <, random);
    g_assert_cmpfloat(greedy, <, windowed);
    g_assert_cmpfloat(windowed, <, fifo);
    g_assert_cmpfloat(fifo, <, random);
}

/* Nine writes in ten go to a tenth of the drive. */
static void test_skew(void)
{
    double greedy = measure("greedy", 15, 90);
    double cost_benefit = measure("cost-benefit", 15, 90);

    g_test_message("90/10: greedy %.3f, cost-benefit %.3f", greedy,
                   cost_benefit);
    g_assert_cmpfloat(cost_benefit, <, greedy);
}

/* Hot and cold units apart: a tenth less to write under skew, and hardly more
 * where there is nothing to tell apart. */
static void test_hot_cold(void)
{
    double together = measure("greedy", 15, 90);
    double even = measure("greedy", 15, 0);
    double apart, even_apart;

    hot_cold = true;
    apart = measure("greedy", 15, 90);
    even_apart = measure("greedy", 15, 0);
    hot_cold = false;
    g_test_message("90/10: together %.3f, apart %.3f; uniform: %.3f, %.3f",
                   together, apart, even, even_apart);
    g_assert_cmpfloat(apart, <, 0.9 * together);
    g_assert_cmpfloat(even_apart, <, 1.02 * even);
}

/* A host that says which units are hot does as well as one that writes them to
 * a stream of their own, and better than the counters, which first have to
 * learn it and then mistake some. */
static void test_hot_hints(void)
{
    double counted, told, by_stream;

    hot_cold = true;
    counted = measure("greedy", 15, 90);
    hinted = true;
    told = measure("greedy", 15, 90);
    hot_cold = hinted = false;
    streams = true;
    by_stream = measure("greedy", 15, 90);
    streams = false;
    g_test_message("90/10: counted %.3f, told %.3f, by streams %.3f", counted,
                   told, by_stream);
    g_assert_cmpfloat(told, <, 0.99 * counted);
    g_assert_cmpfloat(fabs(told - by_stream), <, 0.01 * by_stream);
}

/*
 * DL_algo puts a new version where the old one was, so each plane keeps its
 * units; at random, planes drift apart.  S. Zertal, "A Data Layout Strategy to
 * Enhance the Internal SSD Parallelism", IJAEE 5(1), 2015, Figure 2.  Returned:
 * the largest difference between two planes over their mean, in valid units.
 */
static double imbalance(const char *alloc)
{
    g_autofree char *options = g_strdup_printf(
        "nand.channels=1;nand.dies=8;nand.planes=2;nand.blocks=120;"
        "nand.pages=16;nand.page_size=4KiB;nand.read=0;nand.program=0;"
        "nand.erase=0;nand.command=0;nand.bus_mt_s=0;nand.bus_ns_per_byte=0;"
        "buffer.size=16KiB;buffer.access=0;host.firmware=0;host.link_mb_s=0;"
        "ftl.op_percent=28%%;ftl.alloc=%s", alloc);
    Ssd *ssd = drive_of(options);
    uint64_t user = ssd_info(ssd)->nblocks;
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    Prng rng;

    prng_seed(&rng, 9, 9);
    g_assert_cmpint(ssd_preload(ssd, 0, user), ==, 0);
    write_some(ssd, &rng, 5 * user, 0);
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        least = MIN(least, ssd->media->plane[i].valid);
        most = MAX(most, ssd->media->plane[i].valid);
    }
    ssd_destroy(ssd);
    return (double)(most - least) * 16 / (double)user;
}

static void test_balance(void)
{
    double dl = imbalance("dl");
    double random = imbalance("random");

    g_test_message("largest difference of planes: dl %.4f, random %.4f of the "
                   "mean", dl, random);
    g_assert_cmpfloat(dl, <, 0.02);
    g_assert_cmpfloat(random, >, 4 * dl);
    g_assert_cmpfloat(random, >, 0.02);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/theory/fifo", test_fifo);
    g_test_add_func("/theory/greedy", test_greedy);
    g_test_add_func("/theory/d-choices", test_choices);
    g_test_add_func("/theory/many-choices", test_many_choices);
    g_test_add_func("/theory/separate", test_separate);
    g_test_add_func("/theory/order", test_order);
    g_test_add_func("/theory/skew", test_skew);
    g_test_add_func("/theory/hot-cold", test_hot_cold);
    g_test_add_func("/theory/hot-hints", test_hot_hints);
    g_test_add_func("/theory/balance", test_balance);
    return g_test_run();
}
