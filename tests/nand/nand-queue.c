/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-queue.c - long queues: random operations of every kind under every policy,
 * each choice compared with one that looks at all that waits (nand_check()), and
 * the time that an operation costs when thousands wait.
 */
#include "rig.h"

#include <time.h>

#include "prng.h"

#define PAGE 16384

/* ---- choices ------------------------------------------------------------- */

typedef struct Host {
    Rig *r;
    Prng rng;
    uint64_t now_ns;
    unsigned submitted;
} Host;

static void submit(Host *h, NandOpKind kind, uint32_t page, uint32_t from)
{
    NandOp op = {
        .kind = kind,
        .cause = prng_below(&h->rng, 2) ? NAND_CAUSE_HOST : NAND_CAUSE_GC,
        .ppa = {page},
        .from = {from},
        .bytes = PAGE,
        .more = prng_below(&h->rng, 8) == 0 && kind == NAND_ERASE,
    };
    GError *error = NULL;

    nand_submit(h->r->nand, &op, h->now_ns * PS_PER_NS);
    nand_check(h->r->nand, &error);
    g_assert_no_error(error);
    h->submitted++;
}

/* One operation that the rules allow, if the block that was drawn has one. */
static void submit_any(Host *h)
{
    const Rig *r = h->r;
    const NandGeometry *g = nand_geometry(r->nand);
    uint32_t plane = (uint32_t)prng_below(&h->rng, g->n_planes);
    uint32_t block = (uint32_t)prng_below(&h->rng, 4);
    uint32_t other = (block + 1) % 4;
    uint32_t b = plane * r->cfg.blocks + block;
    uint32_t next = nand_next_page(r->nand, b);
    uint32_t of_other = nand_next_page(r->nand, plane * r->cfg.blocks + other);

    switch (prng_below(&h->rng, 8)) {
    case 0:
    case 1:
        if (next < r->cfg.pages) {
            submit(h, NAND_PROGRAM, rig_page(r, plane, block, next), 0);
        }
        break;
    case 2:
        if (next < r->cfg.pages && of_other > 0) {
            uint32_t from = (uint32_t)prng_below(&h->rng, of_other);

            submit(h, NAND_COPYBACK, rig_page(r, plane, block, next),
                   rig_page(r, plane, other, from));
        }
        break;
    case 3:
        if (next == r->cfg.pages && nand_load(r->nand) == 0) {
            submit(h, NAND_ERASE, rig_page(r, plane, block, 0), 0);
        }
        break;
    default:
        if (next > 0) {
            submit(h, NAND_READ,
                   rig_page(r, plane, block,
                            (uint32_t)prng_below(&h->rng, next)), 0);
        }
    }
}

/* Bursts, so that queues grow, and time in between. */
static void play(const char *options, uint64_t seed)
{
    Host h = {.r = rig_with(options)};

    prng_seed(&h.rng, seed, 0);
    h.r->check = true;
    for (unsigned i = 0; i < 120; i++) {
        for (uint64_t n = prng_below(&h.rng, 24); n > 0; n--) {
            submit_any(&h);
        }
        h.now_ns += prng_below(&h.rng, 2000000);
        rig_run(h.r, h.now_ns);
        if (prng_below(&h.rng, 12) == 0) {
            rig_run_all(h.r);
            h.now_ns = MAX(h.now_ns, h.r->now_ps / PS_PER_NS + 1);
        }
    }
    /* A submission with `more` needs another one. */
    for (uint32_t p = 0; p < nand_geometry(h.r->nand)->n_planes; p++) {
        if (nand_next_page(h.r->nand, p * (uint32_t)h.r->cfg.blocks) > 0) {
            submit(&h, NAND_READ, rig_page(h.r, p, 0, 0), 0);
        }
    }
    rig_run_all(h.r);
    g_assert_cmpuint(h.submitted, >, 300);
    rig_free(h.r);
}

static void test_choices(void)
{
    static const char *const schedule[] = {
        "fifo", "read-first", "read-first-deadline", "host-first",
    };
    static const char *const features[] = {
        "nand.suspend=off",
        "nand.suspend=both",
        "nand.multi_plane=on",
        "nand.multi_plane=on;nand.independent_reads=on;nand.suspend=both",
        "nand.async_reads=on;nand.multi_plane=on;nand.suspend=both",
        "nand.multi_plane=on;nand.lock=chip;nand.dies=2;nand.suspend=program",
        ("nand.multi_plane=on;nand.lock=chip;nand.dies=2;nand.composite=on;"
         "nand.suspend=both"),
        "nand.lock=chip;nand.dies=2;nand.composite=on",
        "nand.lock=plane;nand.suspend=both",
        "nand.cache_read=on;nand.cache_program=on",
        ("nand.ecc_decode=30us;media.errors=on;media.base=0.009;"
         "nand.suspend=both;nand.multi_plane=on;nand.planes=4"),
    };

    for (size_t f = 0; f < G_N_ELEMENTS(features); f++) {
        for (size_t s = 0; s < G_N_ELEMENTS(schedule); s++) {
            g_autofree char *options =
                g_strdup_printf("%s;nand.write_deadline=3ms;nand.schedule=%s",
                                features[f], schedule[s]);

            g_test_message("%s", options);
            play(options, f * 8 + s);
        }
    }
}

/* ---- cost ---------------------------------------------------------------- */

#define OPS 40000

/* CPU time of an operation when `depth` wait for one die, in ns. */
static double cost_ns(const char *options, unsigned depth)
{
    g_autofree char *all = g_strdup_printf(
        "nand.channels=1;nand.chips=1;nand.blocks=1024;nand.pages=64;%s",
        options);
    Rig *r = rig_with(all);
    unsigned submitted = 0;
    Prng rng;
    clock_t begin;
    double ns;

    prng_seed(&rng, 1, 0);
    for (uint32_t b = 0; b < 1024; b++) {
        rig_preload(r, 0, b, 32);
        rig_preload(r, 1, b, 32);
    }
    begin = clock();
    while (r->n_done < OPS) {
        while (submitted < OPS && submitted - r->n_done < depth) {
            uint32_t plane = (uint32_t)prng_below(&rng, 2);
            uint32_t block = (uint32_t)prng_below(&rng, 1024);
            uint32_t next =
                nand_next_page(r->nand, plane * (uint32_t)r->cfg.blocks + block);
            bool program = next < 64 && prng_below(&rng, 8) == 0;
            uint32_t page = program ? next : (uint32_t)prng_below(&rng, 32);

            rig_submit(r, r->now_ps / PS_PER_NS + 1,
                       program ? NAND_PROGRAM : NAND_READ,
                       rig_page(r, plane, block, page), PAGE);
            submitted++;
        }
        rig_run(r, eventq_next_ps(&r->q) / PS_PER_NS + 1);
    }
    ns = (double)(clock() - begin) / CLOCKS_PER_SEC * 1e9 / OPS;
    rig_free(r);
    return ns;
}

/*
 * Linear search took some 50 to 600 times as long for 16,384 as for 16; a
 * logarithm gives 3.5, and memory that no longer fits into caches some more.
 */
static void test_cost(void)
{
    static const char *const options[] = {
        "nand.schedule=fifo",
        "nand.schedule=host-first",
        "nand.schedule=read-first-deadline;nand.suspend=both",
        "nand.schedule=fifo;nand.suspend=both;nand.suspend_limit=1000",
        "nand.multi_plane=on",
        "nand.multi_plane=on;nand.independent_reads=on;nand.suspend=both",
        "nand.async_reads=on;nand.multi_plane=on;nand.suspend=both",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
        double few = cost_ns(options[i], 16);
        double many = cost_ns(options[i], 16384);

        for (int again = 0; again < 2; again++) {
            few = MIN(few, cost_ns(options[i], 16));
            many = MIN(many, cost_ns(options[i], 16384));
        }
        g_test_message("%s: %.0f ns with 16 in the queue, %.0f with 16384",
                       options[i], few, many);
        g_assert_cmpfloat(many, <, 15 * few);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nand/queue/choices", test_choices);
    g_test_add_func("/nand/queue/cost", test_cost);
    return g_test_run();
}
