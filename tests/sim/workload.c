/* SPDX-License-Identifier: GPL-2.0-or-later */
/* workload.c - fio's keywords: accepted, refused, and their requests. */
#include "workload.h"

#include <string.h>

#include "simtime.h"

#define CAPACITY (64ULL << 20)

static Workload *make(const char *text)
{
    g_autoptr(GError) error = NULL;
    Workload *w = workload_new(text, CAPACITY, 512, 1, &error);

    g_assert_no_error(error);
    return w;
}

static void refuse(const char *text, const char *says)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(workload_new(text, CAPACITY, 512, 1, &error));
    if (!strstr(error->message, says) || strchr(error->message, '\n')) {
        g_error("\"%s\": \"%s\" should say \"%s\"", text, error->message, says);
    }
}

static bool next(RequestSource *s, Request *req)
{
    g_autoptr(GError) error = NULL;
    RequestNext r = s->next(s->opaque, req, &error);

    g_assert_no_error(error);
    return r == REQUEST_OK;
}

static void test_refused(void)
{
    refuse("rw=randwrit", "rw=randwrit: allowed read, write, randread");
    refuse("bs=4q", "(4000); units are k, m, g, t, not 'q'");
    refuse("bs=100", "bs=100: allowed 512..1073741824 bytes, it is below 512");
    refuse("bs=2g", "bs=2g: allowed 512..1073741824 bytes, it is above 10737");
    refuse("bs=1000", "multiple of the drive's block of 512");
    refuse("bs=128m", "is more than size=");
    refuse("iodepth=0", "iodepth=0: allowed 1..65536");
    refuse("iodepth=65537", "iodepth=65537: allowed 1..65536");
    refuse("rwmixread=101", "rwmixread=101: allowed 0%..100%");
    refuse("size=65m", "size=65m: allowed multiples of 512 bytes up to");
    refuse("size=0", "size=0");
    refuse("size=101%", "size=101%: allowed 0%..100%, it is above 100%");
    refuse("size=1x", "k, m, g, t, not 'x', or 0%..100%");
    refuse("offset=64m", "offset=64m: must be a whole block");
    refuse("offset=100", "offset=100: must be a whole block");
    refuse("offset=32m size=33m", "size=33m: allowed multiples");
    refuse("number_ios=x", "number_ios=x: allowed");
    refuse("runtime=1parsec", "runtime=1parsec: allowed");
    refuse("rate_min=5", "unknown keyword \"rate_min\"");
    refuse("rw", "\"rw\" is not keyword=value");
    refuse("=read", "unknown keyword \"\"");
    refuse("bssplit=4k", "bssplit=4k: allowed size/percent");
    refuse("bssplit=4k/50", "the shares must add up to 100");
    refuse("bssplit=4k/50:8k/51", "the shares must add up to 100");
    refuse("bssplit=4k/0:8k/100", "bssplit=4k/0:8k/100: allowed");
    refuse("bssplit=0/100", "bssplit=0/100: allowed");
    refuse("bssplit=4k/100/1", "allowed size/percent");
    refuse("bssplit=1000/100", "bssplit=1000: must be a multiple");
    refuse("bs=4kib", "bs=4000: must be a multiple");
    refuse("bs=4ki", "bs=4ki: allowed 512..1073741824 bytes");
    refuse("bs=1.5k", "bs=1.5k: allowed");
    refuse("bs=1.5MiB", "bs=1.5MiB: allowed");
    refuse("size=64ki", "size=64ki: allowed bytes");
}

/* fio's suffixes are powers of 1024, and the other way round with an i. */
static void test_sizes(void)
{
    static const struct {
        const char *text;
        uint64_t nbytes;
    } t[] = {
        {"bs=4k", 4096},
        {"bs=4K", 4096},
        {"bs=4kb", 4096},
        {"bs=4KB", 4096},
        {"bs=512b", 512},
        {"bs=64kib", 64000},
        {"bs=64KiB", 64000},
        {"bs=1mb", 1048576},
        {"bs=16mib", 16000000},
        {"bssplit=16kb/100", 16384},
        {"bs=1m", 1048576},
        {"bs=512", 512},
        {"bs=8k size=50%", 8192},
        {"bssplit=16k/100", 16384},
        {"", 4096},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        Workload *w = make(t[i].text);
        RequestSource s = workload_source(w);
        Request req;

        g_assert_true(next(&s, &req));
        g_assert_cmpuint(req.nbytes, ==, t[i].nbytes);
        workload_free(w);
    }
}

static void test_source(void)
{
    Workload *w = make("iodepth=17 runtime=3");
    RequestSource s = workload_source(w);

    g_assert_cmpuint(s.iodepth, ==, 17);
    g_assert_cmpuint(s.runtime_ns, ==, 3 * NS_PER_S);
    workload_free(w);
    w = make("runtime=2m");
    g_assert_cmpuint(workload_source(w).runtime_ns, ==, 120 * NS_PER_S);
    workload_free(w);
    w = make("runtime=2MSEC");
    g_assert_cmpuint(workload_source(w).runtime_ns, ==, 2 * NS_PER_MS);
    workload_free(w);
    w = make("runtime=5ms");
    g_assert_cmpuint(workload_source(w).runtime_ns, ==, 5 * NS_PER_MS);
    workload_free(w);
}

/* In order, from offset to its end and again from the start. */
static void test_sequential(void)
{
    Workload *w = make("rw=write bs=3k offset=1m size=10k number_ios=7");
    RequestSource s = workload_source(w);
    static const uint64_t want[] = {0, 3072, 6144, 0, 3072, 6144, 0};
    Request req;

    for (size_t i = 0; i < 7; i++) {
        g_assert_true(next(&s, &req));
        g_assert_cmpint(req.op, ==, SSD_OP_WRITE);
        g_assert_cmpuint(req.offset, ==, (1 << 20) + want[i]);
    }
    g_assert_false(next(&s, &req));
    g_assert_false(next(&s, &req));
    workload_free(w);
}

/* Without a limit it ends after size bytes, as fio does. */
static void test_ends(void)
{
    static const struct {
        const char *text;
        unsigned n;
    } t[] = {
        {"bs=1m size=5m", 5},
        {"bs=1m size=5m io_size=12m", 12},
        {"bs=1m size=5m number_ios=3", 3},
        {"bs=1m", 64},
        {"bs=1m offset=60m", 4},
        {"bs=1m offset=25% size=25%", 16},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        Workload *w = make(t[i].text);
        RequestSource s = workload_source(w);
        unsigned n = 0;
        Request req;

        while (next(&s, &req)) {
            n++;
        }
        g_assert_cmpuint(n, ==, t[i].n);
        workload_free(w);
    }
}

/* Random addresses are multiples of bs, stay inside, and reach both ends. */
static void test_random(void)
{
    Workload *w = make("rw=randread bs=4k offset=8k size=40k "
                       "number_ios=10000");
    RequestSource s = workload_source(w);
    unsigned seen[10] = {0};
    Request req;

    while (next(&s, &req)) {
        uint64_t at = req.offset - 8192;

        g_assert_cmpuint(at % 4096, ==, 0);
        g_assert_cmpuint(at / 4096, <, 10);
        seen[at / 4096]++;
    }
    for (int i = 0; i < 10; i++) {
        g_assert_cmpuint(seen[i], >, 800);
        g_assert_cmpuint(seen[i], <, 1200);
    }
    workload_free(w);
}

static void count_mix(const char *text, unsigned n_ops[SSD_N_OPS])
{
    Workload *w = make(text);
    RequestSource s = workload_source(w);
    Request req;

    memset(n_ops, 0, SSD_N_OPS * sizeof(*n_ops));
    while (next(&s, &req)) {
        n_ops[req.op]++;
    }
    workload_free(w);
}

static void test_mix(void)
{
    unsigned n[SSD_N_OPS];

    count_mix("rw=randrw rwmixread=70 number_ios=10000", n);
    g_assert_cmpuint(n[SSD_OP_READ], >, 6800);
    g_assert_cmpuint(n[SSD_OP_READ], <, 7200);
    g_assert_cmpuint(n[SSD_OP_READ] + n[SSD_OP_WRITE], ==, 10000);
    count_mix("rw=rw rwmixread=100 number_ios=100", n);
    g_assert_cmpuint(n[SSD_OP_READ], ==, 100);
    count_mix("rw=readwrite rwmixread=0 number_ios=100", n);
    g_assert_cmpuint(n[SSD_OP_WRITE], ==, 100);
    count_mix("rw=randtrim number_ios=100", n);
    g_assert_cmpuint(n[SSD_OP_TRIM], ==, 100);
}

/* W W W F W W W F ...; the last flush comes even when the bytes are done. */
static void test_fsync(void)
{
    Workload *w = make("rw=write bs=4k size=24k fsync=3");
    RequestSource s = workload_source(w);
    Request req;

    for (int i = 0; i < 8; i++) {
        g_assert_true(next(&s, &req));
        g_assert_cmpint(req.op, ==, i % 4 == 3 ? SSD_OP_FLUSH : SSD_OP_WRITE);
    }
    g_assert_false(next(&s, &req));
    workload_free(w);
}

static void test_bssplit(void)
{
    Workload *w = make("rw=randwrite bssplit=4k/70:64k/20:512/10 "
                       "number_ios=10000");
    RequestSource s = workload_source(w);
    unsigned n4 = 0, n64 = 0, n512 = 0;
    Request req;

    while (next(&s, &req)) {
        g_assert_cmpuint(req.offset % 512, ==, 0);
        g_assert_cmpuint(req.offset + req.nbytes, <=, CAPACITY);
        n4 += req.nbytes == 4096;
        n64 += req.nbytes == 65536;
        n512 += req.nbytes == 512;
    }
    g_assert_cmpuint(n4 + n64 + n512, ==, 10000);
    g_assert_true(n4 > 6800 && n4 < 7200);
    g_assert_true(n64 > 1800 && n64 < 2200);
    workload_free(w);
}

/* One seed, one sequence; the mix does not change the addresses.  Reads by
 * themselves do not follow the order of writes before them. */
static void test_seeds(void)
{
    Workload *a = workload_new("rw=randwrite", CAPACITY, 512, 5, NULL);
    Workload *b = workload_new("rw=randrw", CAPACITY, 512, 5, NULL);
    Workload *c = workload_new("rw=randwrite", CAPACITY, 512, 6, NULL);
    Workload *d = workload_new("rw=randread", CAPACITY, 512, 5, NULL);
    RequestSource sd = workload_source(d);
    RequestSource sa = workload_source(a);
    RequestSource sb = workload_source(b);
    RequestSource sc = workload_source(c);
    unsigned same = 0;

    for (int i = 0; i < 1000; i++) {
        Request ra, rb, rc, rd;

        next(&sa, &ra);
        next(&sb, &rb);
        next(&sc, &rc);
        next(&sd, &rd);
        g_assert_cmpuint(ra.offset, ==, rb.offset);
        same += ra.offset == rc.offset;
        same += ra.offset == rd.offset;
    }
    g_assert_cmpuint(same, <, 20);
    workload_free(a);
    workload_free(b);
    workload_free(c);
    workload_free(d);
}

/* ---- open loop ----------------------------------------------------------- */

/* Mean of the intervals and mean of their squares, in units of the mean. */
static void intervals(const char *text, uint64_t n, double *mean_ns,
                      double *square, uint64_t *longest_ns)
{
    Workload *w = make(text);
    RequestSource s = workload_source(w);
    Request req;
    uint64_t last_ns = 0;
    double sum = 0;
    double sum2 = 0;

    g_assert_cmpuint(s.iodepth, ==, 0);
    *longest_ns = 0;
    for (uint64_t i = 0; i < n; i++) {
        double d;

        g_assert_true(next(&s, &req));
        g_assert_cmpuint(req.at_ns, >=, last_ns);
        d = (double)(req.at_ns - last_ns);
        *longest_ns = MAX(*longest_ns, req.at_ns - last_ns);
        last_ns = req.at_ns;
        sum += d;
        sum2 += d * d;
    }
    *mean_ns = sum / (double)(n - 1);
    *square = sum2 / (double)(n - 1) / (*mean_ns * *mean_ns);
    workload_free(w);
}

/*
 * Means within 2 % (Pareto: 15 %, its variance is infinite); E[x^2]/E[x]^2 is 1
 * for equal and 2 for exponential intervals.
 */
static void test_arrivals(void)
{
    double mean, square;
    uint64_t longest;

    intervals("rate_iops=1000 number_ios=100000", 100000, &mean, &square,
              &longest);
    g_assert_cmpuint(longest, ==, 1000000);
    g_assert_cmpfloat(mean, ==, 1e6);
    intervals("interval=1ms rate_process=poisson number_ios=100000", 100000,
              &mean, &square, &longest);
    g_assert_cmpfloat_with_epsilon(mean, 1e6, 2e4);
    g_assert_cmpfloat_with_epsilon(square, 2, 0.08);
    intervals("rate_iops=1000 rate_process=onoff on_time=10ms off_time=90ms "
              "number_ios=100000",
              100000, &mean, &square, &longest);
    g_assert_cmpfloat_with_epsilon(mean, 1e6, 2e4);
    g_assert_cmpuint(longest, >=, 90000000);
    g_assert_cmpfloat(square, >, 10);
    intervals("rate_iops=1000 rate_process=pareto number_ios=1000000", 1000000,
              &mean, &square, &longest);
    g_assert_cmpfloat_with_epsilon(mean, 1e6, 1.5e5);
    g_assert_cmpfloat(square, >, 10);
}

/* While off, nothing comes. */
static void test_off(void)
{
    Workload *w = make("rate_iops=1000 rate_process=onoff on_time=10ms "
                       "off_time=90ms number_ios=10000");
    RequestSource s = workload_source(w);
    Request req;

    while (next(&s, &req)) {
        g_assert_cmpuint(req.at_ns % 100000000, <=, 10000000);
    }
    workload_free(w);
}

/* ---- addresses ----------------------------------------------------------- */

/* Requests of 100000 at the most used page, and in the first tenth. */
static void heat(const char *text, unsigned *top, unsigned *tenth)
{
    Workload *w = make(text);
    RequestSource s = workload_source(w);
    g_autofree unsigned *count = g_new0(unsigned, CAPACITY / 4096);
    Request req;

    *top = *tenth = 0;
    while (next(&s, &req)) {
        unsigned page = (unsigned)(req.offset / 4096);

        count[page]++;
        *top = MAX(*top, count[page]);
        *tenth += page < CAPACITY / 4096 / 10;
    }
    workload_free(w);
}

/*
 * Zipf with theta = 1 over 16384 pages: the hottest takes 1 / H(16384) =
 * 1 / (ln 16384 + 0.5772) = 9.73 %; theta = 0.5: 1 / (2 sqrt(16384) - 1.46) =
 * 0.393 %.
 */
static void test_spread(void)
{
    unsigned top, tenth;

    heat("rw=randread number_ios=100000 random_distribution=zipf:1", &top,
         &tenth);
    g_assert_cmpuint(top, >, 9500);
    g_assert_cmpuint(top, <, 9950);
    heat("rw=randread number_ios=100000 random_distribution=zipf:0.5", &top,
         &tenth);
    g_assert_cmpuint(top, >, 340);
    g_assert_cmpuint(top, <, 450);
    heat("rw=randread number_ios=100000 random_distribution=zoned:80/10:20/90",
         &top, &tenth);
    g_assert_cmpuint(tenth, >, 79500);
    g_assert_cmpuint(tenth, <, 80500);
    heat("rw=randread number_ios=100000", &top, &tenth);
    g_assert_cmpuint(tenth, >, 9600);
    g_assert_cmpuint(tenth, <, 10400);
}

/* After a comma, where writes go. */
static void test_spread_of_writes(void)
{
    Workload *w = make("rw=randrw number_ios=100000 "
                       "random_distribution=zoned:80/10:20/90,zoned:30/10:70/90");
    RequestSource s = workload_source(w);
    unsigned all[2] = {0};
    unsigned tenth[2] = {0};
    Request req;

    while (next(&s, &req)) {
        bool write = req.op == SSD_OP_WRITE;

        all[write]++;
        tenth[write] += req.offset < CAPACITY / 10;
    }
    g_assert_cmpfloat_with_epsilon((double)tenth[0] / all[0], 0.8, 0.01);
    g_assert_cmpfloat_with_epsilon((double)tenth[1] / all[1], 0.3, 0.01);
    workload_free(w);
}

static void test_runs(void)
{
    Workload *w = make("rw=randwrite number_ios=10000 percentage_random=25");
    RequestSource s = workload_source(w);
    uint64_t end = UINT64_MAX;
    unsigned goes_on = 0;
    Request req;

    while (next(&s, &req)) {
        goes_on += req.offset == end;
        end = req.offset + req.nbytes;
    }
    g_assert_cmpuint(goes_on, >, 7300);
    g_assert_cmpuint(goes_on, <, 7700);
    workload_free(w);
}

/* Sizes of reads before the comma, of writes behind it. */
static void test_two_mixes(void)
{
    Workload *w = make("rw=randrw bssplit=4k/99.5:8k/0.5,64k/100 "
                       "number_ios=20000");
    RequestSource s = workload_source(w);
    unsigned n8k = 0;
    Request req;

    while (next(&s, &req)) {
        if (req.op == SSD_OP_WRITE) {
            g_assert_cmpuint(req.nbytes, ==, 65536);
        } else {
            n8k += req.nbytes == 8192;
        }
    }
    g_assert_cmpuint(n8k, >, 20);
    g_assert_cmpuint(n8k, <, 90);
    workload_free(w);
}

/* ---- descriptions -------------------------------------------------------- */

/* The description makes the same requests, with another seed given. */
static void test_replay(void)
{
    static const char *const texts[] = {
        "preset=oltp number_ios=3000",
        "preset=s1 number_ios=3000 size=32m",
        ("rw=randrw rwmixread=12.5% bssplit=512/10:4k/90,8k/100 "
         "random_distribution=zipf:0.9 percentage_random=60 iodepth=7 "
         "number_ios=3000 fsync=10 offset=1m size=20m"),
        ("rw=randwrite interval=1.5ms rate_process=pareto rate_alpha=1.25 "
         "runtime=2s number_ios=3000 random_distribution=zoned:70/1:30/99"),
    };

    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        Workload *a = make(texts[i]);
        g_autofree char *text = workload_describe(a);
        GError *error = NULL;
        Workload *b = workload_new(text, 2 * CAPACITY, 512, 99, &error);
        RequestSource sa = workload_source(a);
        RequestSource sb;
        Request ra, rb;

        g_assert_no_error(error);
        sb = workload_source(b);
        g_assert_cmpuint(sa.iodepth, ==, sb.iodepth);
        g_assert_cmpuint(sa.runtime_ns, ==, sb.runtime_ns);
        while (next(&sa, &ra)) {
            g_assert_true(next(&sb, &rb));
            g_assert_cmpmem(&ra, sizeof(ra), &rb, sizeof(rb));
        }
        g_assert_false(next(&sb, &rb));
        workload_free(a);
        workload_free(b);
    }
}

static void test_refused_rates(void)
{
    refuse("rate_iops=5 interval=1ms", "only without rate_iops");
    refuse("rate_process=bursts", "allowed linear, poisson, onoff, pareto");
    refuse("rate_process=pareto rate_alpha=1 rate_iops=1", "allowed above 1");
    refuse("random_distribution=zipf", "allowed random, zipf:THETA");
    refuse("random_distribution=zipf:0", "0 < THETA <= 10");
    refuse("random_distribution=zoned:50/50", "summing to 100");
    refuse("random_distribution=zoned:50/50:50/40", "summing to 100");
    refuse("random_distribution=zoned:50/0:50/100", "summing to 100");
    refuse("random_distribution=random,zipf", "allowed random, zipf:THETA");
    refuse("random_distribution=random,random,random", "one comma");
    refuse("random_distribution=", "allowed random, zipf:THETA");
    refuse("preset=s6", "allowed none, oltp, s1");
    refuse("bssplit=4k/100,4k/100,4k/100", "one comma");
    refuse("bssplit=4k/100,4k/99", "add up to 100");
    refuse("bssplit=", "bssplit");
}

/* What goes before a workload has no end, is of its kind, and draws addresses
 * of its own. */
static void test_before(void)
{
    Workload *w = workload_new("rw=randwrite bs=8k offset=1m size=4m "
                               "number_ios=100 rate_iops=1000",
                               1 << 30, 512, 7, NULL);
    Workload *all[] = {w, workload_before(w, WORKLOAD_LEADS),
                       workload_before(w, WORKLOAD_SETTLES)};
    uint64_t first[G_N_ELEMENTS(all)][100];

    for (unsigned i = 0; i < G_N_ELEMENTS(all); i++) {
        RequestSource s = workload_source(all[i]);

        g_assert_cmpuint(s.iodepth, ==, 0);
        for (unsigned k = 0; k < (i ? 1000 : 100); k++) {
            Request r;

            g_assert_cmpint(s.next(s.opaque, &r, NULL), ==, REQUEST_OK);
            g_assert_cmpuint(r.nbytes, ==, 8192);
            g_assert_cmpuint(r.at_ns, ==, k * 1000000ULL);
            g_assert_cmpuint(r.offset, >=, 1 << 20);
            g_assert_cmpuint(r.offset, <, 5 << 20);
            first[i][k % 100] = k < 100 ? r.offset : first[i][k % 100];
        }
    }
    for (unsigned i = 1; i < G_N_ELEMENTS(all); i++) {
        g_assert_cmpint(memcmp(first[0], first[i], sizeof(first[0])), !=, 0);
    }
    g_assert_cmpint(memcmp(first[1], first[2], sizeof(first[0])), !=, 0);
    g_assert_true(workload_writes(w));
    g_assert_cmpuint(workload_span(w), ==, 4 << 20);
    for (unsigned i = 0; i < G_N_ELEMENTS(all); i++) {
        workload_free(all[i]);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/workload/refused", test_refused);
    g_test_add_func("/workload/sizes", test_sizes);
    g_test_add_func("/workload/source", test_source);
    g_test_add_func("/workload/sequential", test_sequential);
    g_test_add_func("/workload/ends", test_ends);
    g_test_add_func("/workload/random", test_random);
    g_test_add_func("/workload/mix", test_mix);
    g_test_add_func("/workload/fsync", test_fsync);
    g_test_add_func("/workload/bssplit", test_bssplit);
    g_test_add_func("/workload/seeds", test_seeds);
    g_test_add_func("/workload/arrivals", test_arrivals);
    g_test_add_func("/workload/off", test_off);
    g_test_add_func("/workload/spread", test_spread);
    g_test_add_func("/workload/spread-of-writes", test_spread_of_writes);
    g_test_add_func("/workload/before", test_before);
    g_test_add_func("/workload/runs", test_runs);
    g_test_add_func("/workload/two-mixes", test_two_mixes);
    g_test_add_func("/workload/replay", test_replay);
    g_test_add_func("/workload/refused-rates", test_refused_rates);
    return g_test_run();
}
