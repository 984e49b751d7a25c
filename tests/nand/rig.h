/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rig.h - an array with an event queue of its own, for tests.
 *
 * Geometry: 2 channels x 2 chips x 1 die x 2 planes, 16 blocks of 4 pages of
 * 16 KiB.  Planes 0, 1 are one die, 2, 3 the other die of channel 0; planes
 * 4 to 7 are channel 1.
 */
#ifndef VSSD_TESTS_NAND_RIG_H
#define VSSD_TESTS_NAND_RIG_H

#include <math.h>

#include "nand.h"

#define RIG_MAX_DONE 65536

typedef struct Rig {
    NandConfig cfg;
    EventQueue q;
    Nand *nand;
    NandOp done[RIG_MAX_DONE]; /* in order of completion */
    uint64_t done_ps[RIG_MAX_DONE];
    unsigned n_done;
    uint64_t now_ps; /* of the last event */
    bool check; /* nand_check() after each event */
} Rig;

static inline void rig_done(void *opaque, const NandOp *op, uint64_t now_ps)
{
    Rig *r = opaque;

    g_assert_cmpuint(r->n_done, <, RIG_MAX_DONE);
    r->done_ps[r->n_done] = now_ps;
    r->done[r->n_done++] = *op;
}

static inline void rig_set(NandConfig *cfg, const char *key, const char *value)
{
    const OptDesc *d = opt_find(nand_options, nand_n_options, key);
    GError *error = NULL;

    g_assert_nonnull(d);
    opt_set(cfg, d, value, &error);
    g_assert_no_error(error);
}

/* options: "key=value;key=value". */
static inline void rig_set_all(NandConfig *cfg, const char *options)
{
    g_auto(GStrv) parts = g_strsplit(options, ";", -1);

    for (char **p = parts; *p; p++) {
        g_auto(GStrv) kv = g_strsplit(*p, "=", 2);

        rig_set(cfg, kv[0], kv[1]);
    }
}

static inline void rig_config(NandConfig *cfg)
{
    nand_config_defaults(cfg);
    rig_set_all(cfg, "nand.channels=2;nand.chips=2;nand.dies=1;nand.planes=2;"
                     "nand.blocks=16;nand.pages=4;nand.read=50us;"
                     "nand.program=500us;nand.erase=3ms;nand.command=200ns;"
                     "nand.bus_mt_s=400");
}

/* The same with errors that come from media.base alone. */
static inline void rig_media_config(NandConfig *cfg, const char *base)
{
    rig_config(cfg);
    rig_set_all(cfg, "media.errors=on;media.wear=0;media.retention=0;"
                     "media.disturb=0");
    rig_set(cfg, "media.base", base);
}

static inline Rig *rig_new(const NandConfig *cfg)
{
    Rig *r = g_new0(Rig, 1);

    if (cfg) {
        r->cfg = *cfg;
    } else {
        rig_config(&r->cfg);
    }
    g_assert_true(nand_config_check(&r->cfg, NULL));
    eventq_init(&r->q);
    r->nand = nand_create(&r->cfg, &r->q, rig_done, r);
    return r;
}

/* With options on top of rig_config(). */
static inline Rig *rig_with(const char *options)
{
    NandConfig cfg;

    rig_config(&cfg);
    rig_set_all(&cfg, options);
    return rig_new(&cfg);
}

/* The array refuses such options, on top of rig_config(), and says `name`. */
static inline void rig_refused(const char *options, const char *name)
{
    NandConfig cfg;
    GError *error = NULL;

    rig_config(&cfg);
    rig_set_all(&cfg, options);
    g_assert_false(nand_config_check(&cfg, &error));
    g_assert_nonnull(strstr(error->message, name));
    g_error_free(error);
}

static inline void rig_free(Rig *r)
{
    nand_destroy(r->nand);
    eventq_destroy(&r->q);
    g_free(r);
}

static inline uint32_t rig_page(const Rig *r, uint32_t plane, uint32_t block,
                                uint32_t page)
{
    return (plane * r->cfg.blocks + block) * r->cfg.pages + page;
}

static inline void rig_submit(Rig *r, uint64_t now_ns, NandOpKind kind,
                              uint32_t page, uint32_t bytes)
{
    NandOp op = {
        .kind = kind,
        .cause = NAND_CAUSE_HOST,
        .ppa = {page},
        .bytes = bytes,
        .cookie = page,
    };

    nand_submit(r->nand, &op, now_ns * PS_PER_NS);
}

/* Run the events up to and including now_ns. */
static inline void rig_run(Rig *r, uint64_t now_ns)
{
    while (eventq_next_ps(&r->q) <= now_ns * PS_PER_NS) {
        Event e = eventq_pop(&r->q);
        GError *error = NULL;

        r->now_ps = e.at_ps;
        nand_event(r->nand, &e);
        if (r->check) {
            nand_check(r->nand, &error);
            g_assert_no_error(error);
        }
    }
}

static inline void rig_run_all(Rig *r)
{
    rig_run(r, SIM_MAX_NS);
}

/* One operation on a page of 16 KiB, 1 ns after the last event; it, when it has
 * ended. */
static inline const NandOp *rig_do(Rig *r, NandOpKind kind, uint32_t page)
{
    rig_submit(r, r->now_ps / PS_PER_NS + 1, kind, page, 16384);
    rig_run_all(r);
    return &r->done[r->n_done - 1];
}

static inline const NandOp *rig_read(Rig *r, uint32_t page)
{
    return rig_do(r, NAND_READ, page);
}

/* Sums of busy time over channels, and over dies, up to now. */
static inline TimeSum rig_bus_busy_ps(const Rig *r)
{
    const NandGeometry *g = nand_geometry(r->nand);
    g_autofree TimeSum *all =
        g_new(TimeSum, g->n_channels + g->n_dies + g->n_planes);
    NandBusy busy = {.channel = all,
                     .die = all + g->n_channels,
                     .plane = all + g->n_channels + g->n_dies};
    TimeSum sum = 0;

    nand_get_busy(r->nand, r->now_ps, &busy);
    for (uint32_t i = 0; i < g->n_channels; i++) {
        sum += busy.channel[i];
    }
    return sum;
}

static inline TimeSum rig_die_busy_ps(const Rig *r)
{
    TimeSum sum = 0;

    for (uint32_t i = 0; i < nand_geometry(r->nand)->n_dies; i++) {
        sum += nand_die_busy_ps(r->nand, i, r->now_ps);
    }
    return sum;
}

/* Pages 0..n-1 of a block hold data, without modelled time. */
static inline void rig_preload(Rig *r, uint32_t plane, uint32_t block,
                               uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        nand_preload_page(r->nand, (NandPpa){rig_page(r, plane, block, i)});
    }
}

/* a and b differ by no more than the tolerance. */
static inline void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) {
        g_error("%.17g should be %.17g", a, b);
    }
}

#endif
