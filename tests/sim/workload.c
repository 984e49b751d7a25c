/* SPDX-License-Identifier: GPL-2.0-or-later */
/* workload.c - fio's keywords: what is accepted, refused, and generated. */
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
    refuse("bs=4q", "bs=4q: allowed");
    refuse("bs=100", "bs=100: allowed 512B");
    refuse("bs=1000", "multiple of the drive's block of 512");
    refuse("bs=128m", "is more than size=");
    refuse("iodepth=0", "iodepth=0: allowed 1..65536");
    refuse("iodepth=65537", "iodepth=65537: allowed 1..65536");
    refuse("rwmixread=101", "rwmixread=101: allowed 0%..100%");
    refuse("size=65m", "size=65m: allowed multiples of 512 bytes up to");
    refuse("size=0", "size=0");
    refuse("size=101%", "size=101%: allowed 0%..100%");
    refuse("size=1x", "size=1x: allowed bytes");
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
}

/* fio's suffixes are powers of 1024. */
static void test_sizes(void)
{
    static const struct {
        const char *text;
        uint64_t nbytes;
    } t[] = {
        {"bs=4k", 4096},
        {"bs=4K", 4096},
        {"bs=4KiB", 4096},
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

/* One seed, one sequence; the mix does not change the addresses. */
static void test_seeds(void)
{
    Workload *a = workload_new("rw=randread", CAPACITY, 512, 5, NULL);
    Workload *b = workload_new("rw=randrw", CAPACITY, 512, 5, NULL);
    Workload *c = workload_new("rw=randread", CAPACITY, 512, 6, NULL);
    RequestSource sa = workload_source(a);
    RequestSource sb = workload_source(b);
    RequestSource sc = workload_source(c);
    unsigned same = 0;

    for (int i = 0; i < 1000; i++) {
        Request ra, rb, rc;

        next(&sa, &ra);
        next(&sb, &rb);
        next(&sc, &rc);
        g_assert_cmpuint(ra.offset, ==, rb.offset);
        same += ra.offset == rc.offset;
    }
    g_assert_cmpuint(same, <, 10);
    workload_free(a);
    workload_free(b);
    workload_free(c);
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
    return g_test_run();
}
