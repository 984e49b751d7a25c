/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench-nand.c - vssd-bench-nand: speed of the array's model, cost of each of
 * its features, and scaling of the modelled throughput.  Prints JSON.
 *
 * "speed" and "features" are in processor time of one core and depend on the
 * machine; "scaling" is in modelled time and does not.
 */
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "nand.h"
#include "player.h"
#include "prng.h"
#include "ssd-report.h"
#include "ssd-setup.h"
#include "walltime.h"
#include "workload.h"

/* The array of profiles/c64.ini, with fewer blocks. */
#define ARRAY                                                                  \
    "nand.channels=8;nand.chips=4;nand.dies=2;nand.planes=2;nand.blocks=32;"   \
    "nand.pages=64;nand.page_size=4KiB;nand.read=75us;nand.program=750us;"     \
    "nand.erase=3800us;nand.command=290ns;nand.bus_mt_s=333;"

#define DEPTH 4 /* operations waiting or running per die */
#define REPEATS 3

/* ---- an array kept busy -------------------------------------------------- */

typedef enum Mix {
    MIX_READ,
    MIX_PROGRAM, /* block after block, each erased before */
    MIX_BOTH,    /* three reads to a program */
} Mix;

static const char *const mix_names[] = {"read", "program", "mixed"};

typedef struct Load {
    Nand *nand;
    const NandGeometry *geo;
    EventQueue q;
    Prng rng;
    Mix mix;
    uint32_t *page; /* by plane: pages programmed, in the half that is written */
    uint32_t *turn; /* by die: plane that is next */
    uint64_t left;
    uint64_t n_done;
    uint64_t n_draws;
} Load;

static uint32_t first_page(const Load *l, uint32_t plane)
{
    return plane * l->geo->blocks_per_plane * l->geo->pages_per_block;
}

/* The lower half of each plane holds data, the upper half is written. */
static uint32_t half(const Load *l)
{
    return l->geo->blocks_per_plane / 2 * l->geo->pages_per_block;
}

static NandOp next_read(Load *l, uint32_t plane)
{
    return (NandOp){
        .kind = NAND_READ,
        .ppa = {first_page(l, plane) +
                (uint32_t)prng_below(&l->rng, half(l))},
        .bytes = l->geo->page_bytes,
    };
}

static NandOp next_program(Load *l, uint32_t plane)
{
    uint32_t pages = l->geo->pages_per_block;
    uint32_t at = l->page[plane] % (half(l) / pages * (pages + 1));
    uint32_t block = at / (pages + 1);
    uint32_t step = at % (pages + 1); /* 0: erase; else page step - 1 */

    l->page[plane]++;
    return (NandOp){
        .kind = step ? NAND_PROGRAM : NAND_ERASE,
        .ppa = {first_page(l, plane) + half(l) + block * pages +
                (step ? step - 1 : 0)},
        .bytes = l->geo->page_bytes,
    };
}

static void submit_next(Load *l, uint32_t die, uint64_t now_ps)
{
    uint32_t plane = die * l->geo->planes_per_die +
                     l->turn[die]++ % l->geo->planes_per_die;
    NandOp op;

    if (l->left == 0) {
        return;
    }
    l->left--;
    if (l->mix == MIX_READ || (l->mix == MIX_BOTH && l->n_draws++ % 4)) {
        op = next_read(l, plane);
    } else {
        op = next_program(l, plane);
    }
    op.cookie = die;
    nand_submit(l->nand, &op, now_ps);
}

static void op_done(void *opaque, const NandOp *op, uint64_t now_ps)
{
    Load *l = opaque;

    l->n_done++;
    submit_next(l, op->cookie, now_ps);
}

static void set_nand(NandConfig *cfg, const char *options)
{
    g_auto(GStrv) parts = g_strsplit(options, ";", -1);
    GError *error = NULL;

    for (char **part = parts; *part; part++) {
        g_auto(GStrv) kv = g_strsplit(*part, "=", 2);
        const OptDesc *d;

        if (**part) {
            d = opt_find(nand_options, nand_n_options, kv[0]);
            g_assert(d);
            if (!opt_set(cfg, d, kv[1], &error)) {
                g_error("%s", error->message);
            }
        }
    }
}

static void load_init(Load *l, const NandConfig *cfg, Mix mix, uint64_t n)
{
    *l = (Load){.mix = mix, .left = n};
    eventq_init(&l->q);
    prng_seed(&l->rng, 1, 1);
    l->nand = nand_create(cfg, &l->q, op_done, l);
    l->geo = nand_geometry(l->nand);
    l->page = g_new0(uint32_t, l->geo->n_planes);
    l->turn = g_new0(uint32_t, l->geo->n_dies);
    for (uint32_t plane = 0; plane < l->geo->n_planes; plane++) {
        for (uint32_t i = 0; i < half(l); i++) {
            nand_preload_page(l->nand, (NandPpa){first_page(l, plane) + i});
        }
    }
}

static void load_destroy(Load *l)
{
    nand_destroy(l->nand);
    eventq_destroy(&l->q);
    g_free(l->page);
    g_free(l->turn);
}

/* Nanoseconds of processor time that an operation of the load takes. */
static double ns_per_op(const char *options, Mix mix, uint64_t n)
{
    NandConfig cfg;
    uint64_t start;
    double ns;
    Load l;

    nand_config_defaults(&cfg);
    set_nand(&cfg, ARRAY);
    set_nand(&cfg, options);
    load_init(&l, &cfg, mix, n);
    start = cpu_ns();
    for (uint32_t k = 0; k < DEPTH * l.geo->n_dies; k++) {
        submit_next(&l, k % l.geo->n_dies, 0);
    }
    while (eventq_next_ps(&l.q) != SIM_NEVER) {
        Event e = eventq_pop(&l.q);

        nand_event(l.nand, &e);
    }
    ns = (double)(cpu_ns() - start) / (double)l.n_done;
    load_destroy(&l);
    return ns;
}

static void speed_json(JsonWriter *w, uint64_t n)
{
    json_open(w, "nand_ops_per_s", '{');
    for (Mix m = MIX_READ; m <= MIX_BOTH; m++) {
        double best = ns_per_op("", m, n);

        for (int i = 1; i < REPEATS; i++) {
            best = MIN(best, ns_per_op("", m, n));
        }
        json_double(w, mix_names[m], 1e9 / best);
    }
    json_close(w, '}');
}

/* ---- features ------------------------------------------------------------ */

static const struct {
    const char *name;
    const char *options;
} features[] = {
    {"onfi cycles", "nand.interface=nv-ddr2"},
    {"status poll", "nand.interface=nv-ddr2;nand.status_poll=on"},
    {"page types", "nand.cell=tlc;nand.pages=66;nand.read_2=90us"},
    {"multi-plane", "nand.multi_plane=on"},
    {"cache read and program", "nand.cache_read=on;nand.cache_program=on"},
    {"read first", "nand.schedule=read-first"},
    {"read first with deadline", "nand.schedule=read-first-deadline"},
    {"host first", "nand.schedule=host-first"},
    {"suspend", "nand.suspend=both"},
    {"ecc decoder", "nand.ecc_decode=1us"},
    {"plane locks", "nand.lock=plane"},
    {"bit errors and retries", "media.errors=on"},
    /* Drawn, and too rare to come: the load does not go round bad blocks. */
    {"failures", "media.program_fail=1e-15;media.erase_fail=1e-15"},
    {"history", "nand.history=1000"},
};

/*
 * Time of an operation of the mixed load with the feature and without:
 * measured in turns, since other work slows the machine now and then; the best
 * of each.
 */
static void feature_json(JsonWriter *w, const char *name, const char *options,
                         uint64_t n)
{
    double with = 0;
    double without = 0;

    for (int i = 0; i < REPEATS; i++) {
        double a = ns_per_op("", MIX_BOTH, n);
        double b = ns_per_op(options, MIX_BOTH, n);

        without = i ? MIN(without, a) : a;
        with = i ? MIN(with, b) : b;
    }
    json_open(w, NULL, '{');
    json_string(w, "feature", name);
    json_double(w, "ns_with", with);
    json_double(w, "ns_without", without);
    json_double(w, "ratio", with / without);
    json_close(w, '}');
}

static void features_json(JsonWriter *w, uint64_t n)
{
    json_open(w, "features", '[');
    for (size_t i = 0; i < G_N_ELEMENTS(features); i++) {
        feature_json(w, features[i].name, features[i].options, n);
    }
    json_close(w, ']');
}

/* ---- scaling ------------------------------------------------------------- */

typedef struct Point {
    double iops;
    double die; /* utilization */
    double bus;
} Point;

/*
 * Reads or writes in order of a drive whose controller takes no time, so they
 * go round the dies; enough of them in flight that none runs dry.  (At random
 * addresses dies run dry now and then: tests/sim/golden.c compares that with
 * queueing theory.)
 */
static Point point(uint32_t channels, uint32_t dies, bool write, uint64_t n)
{
    g_autofree char *set = g_strdup_printf(
        ARRAY "nand.channels=%u;nand.chips=1;nand.dies=%u;ftl.op_percent=60;"
        "host.firmware=0;host.link_mb_s=0;host.complete_at=program;"
        "buffer.access=0;buffer.size=64MiB;host.queue_depth=65536",
        channels, dies);
    g_autofree char *text = NULL;
    SsdConfig *cfg = ssd_config_new();
    PlayerConfig player = {.wrap = false};
    RequestSource source;
    GError *error = NULL;
    Player *p;
    Ssd *ssd;
    Workload *w;
    Point at;

    if (!ssd_config_set(cfg, set, &error) ||
        !(ssd = ssd_create(cfg, NULL, NULL, &error))) {
        g_error("%s", error->message);
    }
    p = player_new(ssd, &player);
    text = g_strdup_printf("rw=%s bs=4k iodepth=%u number_ios=%" G_GUINT64_FORMAT,
                           write ? "write" : "read", 32 * channels * dies,
                           n * channels * dies);
    player_fill(p, write ? PLAYER_FILL_NONE : PLAYER_FILL_PRELOAD, 1, &error);
    w = workload_new(text, ssd_info(ssd)->nblocks * 512, 512, 1, &error);
    if (!w) {
        g_error("%s", error->message);
    }
    source = workload_source(w);
    if (!player_run(p, &source, &error)) {
        g_error("%s", error->message);
    }
    at.iops = (double)player_result(p)->n_requests * 1e9 /
              (double)player_result(p)->sim_ns;
    ssd_utilization(ssd, &at.bus, &at.die);
    workload_free(w);
    player_free(p);
    ssd_destroy(ssd);
    ssd_config_free(cfg);
    return at;
}

static void point_json(JsonWriter *w, uint32_t channels, uint32_t dies,
                       const Point *at, const Point *one)
{
    json_open(w, NULL, '{');
    json_u64(w, "channels", channels);
    json_u64(w, "dies", dies);
    json_double(w, "iops", at->iops);
    /* Share of one die on one channel, times their number. */
    json_double(w, "linear", at->iops / (one->iops * channels * dies));
    json_double(w, "bus_utilization", at->bus);
    json_double(w, "die_utilization", at->die);
    json_string(w, "bottleneck", at->bus > 0.97 ? "bus" : "dies");
    json_close(w, '}');
}

static void scaling_json(JsonWriter *w, uint64_t n)
{
    json_open(w, "scaling", '{');
    for (int write = 0; write <= 1; write++) {
        Point one = point(1, 1, write, n);

        json_open(w, write ? "write" : "read", '[');
        for (uint32_t channels = 1; channels <= 16; channels *= 2) {
            Point at = point(channels, 1, write, n);

            point_json(w, channels, 1, &at, &one);
        }
        for (uint32_t dies = 2; dies <= 8; dies *= 2) {
            Point at = point(1, dies, write, n);

            point_json(w, 1, dies, &at, &one);
        }
        json_close(w, ']');
    }
    json_close(w, '}');
}

int main(int argc, char **argv)
{
    g_autoptr(GString) out = g_string_new(NULL);
    JsonWriter w = {.out = out};
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    bool scaling = argc > 1 && strcmp(argv[1], "--scaling") == 0;
    bool speed = argc > 1 && strcmp(argv[1], "--speed") == 0;

    if (argc > 2 || (argc > 1 && !quick && !scaling && !speed)) {
        fprintf(stderr,
                "usage: vssd-bench-nand [--quick | --speed | --scaling]\n");
        return 1;
    }
    json_open(&w, NULL, '{');
    if (!scaling) {
        speed_json(&w, quick ? 100000 : 3000000);
        features_json(&w, quick ? 100000 : 1000000);
    }
    if (!speed) {
        scaling_json(&w, quick || scaling ? 1000 : 4000);
    }
    json_close(&w, '}');
    printf("%s\n", out->str);
    return 0;
}
