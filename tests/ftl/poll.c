/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * poll.c - when and how often the caller polls changes nothing.
 *
 * One schedule of commands with fixed times is played to equal drives by
 * callers that poll in different ways: at every event, rarely, at random, one
 * completion at a time, never between two commands, and by ssd_wait().  Every
 * completion with its costs, their order, what the keeper of the payload hears,
 * and the statistics must be the same.
 */
#include <string.h>

#include "buffer/buffer-policy.h"
#include "prng.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-setup.h"

#define N 4000

typedef enum Style {
    STYLE_EXACT,
    STYLE_COARSE,
    STYLE_RANDOM,
    STYLE_ONE_BY_ONE,
    STYLE_NEVER,
    STYLE_EXTRA, /* also asks ssd_next_event_ns(), ssd_mapped() all the time */
    STYLE_WAIT,  /* leaves it to ssd_wait() */
    N_STYLES,
} Style;

typedef struct Entry {
    uint64_t at_ns;
    SsdCmd cmd;
    bool abort; /* asked for at at_ns, right after submission */
} Entry;

typedef struct Drive {
    Ssd *ssd;
    Style style;
    uint64_t now_ns;
    Prng rng;
    GArray *done;
    GString *heard;
    GString *stats;
    unsigned n_refused;
} Drive;

static void programmed(void *opaque, uint64_t lpn, uint64_t version)
{
    g_string_append_printf(((Drive *)opaque)->heard,
                           "p%" PRIu64 ".%" PRIu64 " ", lpn, version);
}

static void superseded(void *opaque, uint64_t lpn, uint64_t version)
{
    g_string_append_printf(((Drive *)opaque)->heard,
                           "s%" PRIu64 ".%" PRIu64 " ", lpn, version);
}

static const SsdHostOps host_ops = {
    .programmed = programmed,
    .superseded = superseded,
};

static void fetch(Drive *d, size_t most)
{
    SsdCompletion done[16];
    size_t n;

    most = MIN(most, G_N_ELEMENTS(done));
    do {
        n = ssd_advance(d->ssd, d->now_ns, done, most);
        g_array_append_vals(d->done, done, (guint)n);
    } while (n == most && d->style != STYLE_ONE_BY_ONE);
}

static void pass_until(Drive *d, uint64_t end_ns)
{
    while (d->now_ns < end_ns) {
        uint64_t next_ns = end_ns;

        switch (d->style) {
        case STYLE_EXACT:
        case STYLE_EXTRA:
            next_ns = ssd_next_event_ns(d->ssd);
            break;
        case STYLE_WAIT:
            next_ns = ssd_wait(d->ssd, end_ns);
            break;
        case STYLE_COARSE:
            next_ns = (d->now_ns / 777777 + 1) * 777777;
            break;
        case STYLE_RANDOM:
            next_ns = d->now_ns + prng_below(&d->rng, 90000);
            break;
        case STYLE_ONE_BY_ONE:
            next_ns = d->now_ns + 20000;
            break;
        default:
            break;
        }
        d->now_ns = CLAMP(next_ns, d->now_ns, end_ns);
        if (d->style != STYLE_NEVER) {
            fetch(d, d->style == STYLE_ONE_BY_ONE ? 1 : 16);
        }
        if (d->style == STYLE_EXTRA) {
            ssd_mapped(d->ssd, prng_below(&d->rng, 100), NULL);
            ssd_next_event_ns(d->ssd);
        }
    }
}

static void play(Drive *d, const Entry *schedule, const char *options,
                 Style style)
{
    SsdConfig *cfg = ssd_config_new();
    GError *error = NULL;
    JsonWriter w;

    *d = (Drive){
        .style = style,
        .done = g_array_new(false, false, sizeof(SsdCompletion)),
        .heard = g_string_new(NULL),
        .stats = g_string_new(NULL),
    };
    prng_seed(&d->rng, 1, style);
    ssd_config_set(cfg, options, &error);
    g_assert_no_error(error);
    d->ssd = ssd_create(cfg, &host_ops, d, &error);
    g_assert_no_error(error);
    ssd_config_free(cfg);
    ssd_preload(d->ssd, 0, ssd_info(d->ssd)->nblocks);
    for (unsigned i = 0; i < N; i++) {
        const Entry *e = &schedule[i];
        int ret;

        pass_until(d, e->at_ns);
        ret = ssd_submit(d->ssd, d->now_ns, &e->cmd);
        d->n_refused += ret == -EBUSY;
        if (e->abort) {
            ssd_abort(d->ssd, d->now_ns, e->cmd.tag);
        }
    }
    pass_until(d, d->now_ns + 60 * NS_PER_S);
    d->style = STYLE_EXACT;
    fetch(d, 16);
    w = (JsonWriter){.out = d->stats};
    ssd_stats_json(d->ssd, &w, NULL);
    ssd_destroy(d->ssd);
}

static void clear(Drive *d)
{
    g_array_free(d->done, true);
    g_string_free(d->heard, true);
    g_string_free(d->stats, true);
}

static uint64_t capacity_blocks(const char *options)
{
    SsdConfig *cfg = ssd_config_new();
    Ssd *ssd;
    uint64_t n;

    ssd_config_set(cfg, options, NULL);
    ssd = ssd_create(cfg, NULL, NULL, NULL);
    n = ssd_info(ssd)->nblocks;
    ssd_destroy(ssd);
    ssd_config_free(cfg);
    return n;
}

static Entry *make_schedule(const char *options, uint64_t seed)
{
    Entry *s = g_new0(Entry, N);
    uint64_t nblocks = capacity_blocks(options);
    uint64_t at_ns = 0;
    Prng r;

    prng_seed(&r, seed, 5);
    for (unsigned i = 0; i < N; i++) {
        uint64_t kind = prng_below(&r, 100);
        SsdCmd *c = &s[i].cmd;

        if (prng_below(&r, 3)) {
            at_ns += prng_below(&r, prng_below(&r, 20) ? 100000 : 8000000);
        }
        s[i].at_ns = at_ns;
        s[i].abort = prng_below(&r, 20) == 0;
        c->tag = i;
        c->version = i + 1;
        c->op = kind < 55   ? SSD_OP_WRITE
                : kind < 90 ? SSD_OP_READ
                : kind < 97 ? SSD_OP_TRIM
                            : SSD_OP_FLUSH;
        c->fua = prng_below(&r, 20) == 0;
        c->nblocks = 1 + (uint32_t)prng_below(&r, 64);
        c->lba = prng_below(&r, nblocks - c->nblocks);
    }
    return s;
}

static void compare(const Drive *a, const Drive *b)
{
    g_assert_cmpuint(a->n_refused, ==, b->n_refused);
    g_assert_cmpuint(a->done->len, ==, b->done->len);
    g_assert_cmpuint(a->done->len, ==, N - a->n_refused);
    for (unsigned i = 0; i < a->done->len; i++) {
        const SsdCompletion *x = &g_array_index(a->done, SsdCompletion, i);
        const SsdCompletion *y = &g_array_index(b->done, SsdCompletion, i);

        g_assert_cmpuint(x->tag, ==, y->tag);
        g_assert_cmpuint(x->submit_ns, ==, y->submit_ns);
        g_assert_cmpuint(x->complete_ns, ==, y->complete_ns);
        g_assert_cmpint(x->status, ==, y->status);
        g_assert_cmpmem(&x->cost, sizeof(x->cost), &y->cost, sizeof(y->cost));
    }
    g_assert_cmpstr(a->heard->str, ==, b->heard->str);
    g_assert_cmpstr(a->stats->str, ==, b->stats->str);
}

static void all_styles(gconstpointer options)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        g_autofree Entry *schedule = make_schedule(options, seed);
        Drive first;

        play(&first, schedule, options, 0);
        for (Style s = 1; s < N_STYLES; s++) {
            Drive d;

            play(&d, schedule, options, s);
            compare(&first, &d);
            clear(&d);
        }
        clear(&first);
    }
}

#define SMALL                                                                  \
    "nand.channels=2;nand.chips=1;nand.dies=1;nand.planes=1;nand.blocks=24;"   \
    "nand.pages=8;nand.program=300us;ftl.op_percent=70%;buffer.size=256KiB;"

#define UPKEEP                                                                 \
    "nand.blocks=40;nand.read=10us;nand.program=20us;nand.erase=50us;"         \
    "ftl.gc_soft=15%;ftl.idle=5us;ftl.gc_preempt=on;"                          \
    "ftl.wear=static;ftl.wear_spread=1;media.errors=on;media.base=1e-4;"       \
    "media.preload_hours=5;ftl.refresh_hours=1;ftl.refresh_reads=1;"           \
    "ftl.scan_interval=1ms"

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/poll/plain", SMALL, all_styles);
    g_test_add_data_func("/poll/tick", SMALL "buffer.flush_interval=300us",
                         all_styles);
    g_test_add_data_func("/poll/at-program", SMALL "host.complete_at=program",
                         all_styles);
    g_test_add_data_func("/poll/busy", SMALL "host.queue_depth=3", all_styles);
    g_test_add_data_func("/poll/odd-times",
                         SMALL "host.link_mb_s=3333;nand.bus_mt_s=333;"
                               "host.firmware=1.001ns;buffer.access=333ps",
                         all_styles);
    g_test_add_data_func("/poll/no-time",
                         SMALL "host.link_mb_s=0;nand.bus_ns_per_byte=0;"
                               "host.firmware=0;buffer.access=0;nand.read=0;"
                               "nand.program=0;nand.erase=0;nand.command=0",
                         all_styles);
    g_test_add_data_func("/poll/dram", SMALL "buffer.mb_s=333", all_styles);
    g_test_add_data_func("/poll/dram-cache",
                         SMALL "buffer.mb_s=333;buffer.policy=lru", all_styles);
    g_test_add_data_func("/poll/upkeep", SMALL UPKEEP, all_styles);
    g_test_add_data_func("/poll/dftl",
                         SMALL "nand.blocks=60;nand.page_size=1KiB;"
                               "ftl.unit=512;nand.ecc_codeword=512;"
                               "buffer.size=16KiB;ftl.map=dftl;"
                               "ftl.map_cache=256;ftl.map_prefetch=4",
                         all_styles);
    g_test_add_data_func("/poll/bast", SMALL "ftl.map=bast;ftl.log_blocks=2",
                         all_styles);
    g_test_add_data_func("/poll/fast", SMALL "ftl.map=fast;ftl.unit=16KiB",
                         all_styles);
    for (int i = 0; buffer_policies[i]; i++) {
        const char *policy = buffer_policies[i]->name;
        g_autofree char *name = g_strconcat("/poll/", policy, NULL);

        g_test_add_data_func_full(
            name,
            g_strconcat(SMALL "buffer.early_threshold=10%;"
                              "buffer.early_adapt=20;buffer.policy=",
                        policy, NULL),
            all_styles, g_free);
    }
    return g_test_run();
}
