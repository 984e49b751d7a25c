/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-create.c - an array is made and given back.
 */
#include "nand-internal.h"

#include "lazymem.h"

static void init_geometry(Nand *n)
{
    const NandConfig *cfg = &n->cfg;
    NandGeometry *g = &n->geo;

    g->n_channels = cfg->channels;
    g->dies_per_channel = cfg->chips * cfg->dies;
    g->n_dies = cfg->channels * g->dies_per_channel;
    g->planes_per_die = cfg->planes;
    g->n_planes = g->n_dies * cfg->planes;
    g->blocks_per_plane = cfg->blocks;
    g->pages_per_block = cfg->pages;
    g->n_blocks = g->n_planes * cfg->blocks;
    g->n_pages = (uint64_t)g->n_blocks * cfg->pages;
    g->page_bytes = (uint32_t)cfg->page_bytes;
    g->pages_per_program = cfg->one_shot ? cfg->cell + 1 : 1;
    g->slc_blocks = cfg->slc_blocks;
    g->has_slc = cfg->slc_blocks > 0;
    g->slc_pages = cfg->pages / (cfg->cell + 1);
    g->by_pages_per_block = divider(g->pages_per_block);
    g->by_blocks_per_plane = divider(g->blocks_per_plane);
    g->by_planes_per_die = divider(g->planes_per_die);
    n->planes_per_channel = cfg->planes * g->dies_per_channel;
    n->planes_per_unit = cfg->lock == NAND_LOCK_CHIP ? cfg->planes * cfg->dies
                         : cfg->lock == NAND_LOCK_DIE ? cfg->planes
                                                      : 1;
    n->n_units = g->n_planes / n->planes_per_unit;
    n->n_places = n->n_units + (cfg->async_reads ? g->n_planes : 0);
    invariant(g->n_planes % n->planes_per_unit == 0);
    invariant(g->pages_per_block % g->pages_per_program == 0);
    invariant(g->slc_blocks < g->blocks_per_plane);
}

void nand_set_idle(Nand *n)
{
    for (uint32_t i = 0; i < n->n_places; i++) {
        n->unit[i] = (Unit){
            .array = NONE,
            .loading = NONE,
            .out = NONE,
            .suspended = NONE,
        };
    }
    for (uint32_t i = 0; i < n->geo.n_channels; i++) {
        n->channel[i].waiting = IFIFO_EMPTY;
        n->channel[i].commands = IFIFO_EMPTY;
        n->channel[i].owner = NONE;
        n->channel[i].ecc_free_ps = 0;
    }
    for (uint32_t i = 0; n->in_register && i < n->geo.n_planes; i++) {
        n->in_register[i] = 0;
    }
    if (n->hold) {
        nand_hold_forget(n);
    }
    n->free_op = NONE;
    n->n_op = 0;
    nand_queue_forget(n);
}

Nand *nand_create(const NandConfig *cfg, EventQueue *q, NandDone *done,
                  void *opaque)
{
    Nand *n = g_new0(Nand, 1);

    invariant(q && done);
    n->cfg = *cfg;
    n->q = q;
    n->done = done;
    n->opaque = opaque;
    n->sched = sched_policies[cfg->sched];
    nand_timing_init(&n->timing, cfg);
    init_geometry(n);
    n->unit = g_new(Unit, n->n_places);
    n->die = g_new0(Die, n->geo.n_dies);
    n->channel = g_new0(Channel, n->geo.n_channels);
    n->hold = cfg->gc_hold ? g_new(Hold, n->geo.n_channels) : NULL;
    n->plane_busy_ps = g_new0(TimeSum, n->geo.n_planes);
    n->in_register =
        cfg->register_hits ? g_new(uint64_t, n->geo.n_planes) : NULL;
    n->block = lazy_new(BlockWear, n->geo.n_blocks);
    lazy_spread(n->block, n->geo.n_blocks, sizeof(BlockWear));
    n->media = media_new(&n->cfg, &n->geo);
    nand_queue_init(n);
    nand_set_idle(n);
    n->history = nand_history_new(cfg->history);
    return n;
}

void nand_destroy(Nand *n)
{
    if (!n) {
        return;
    }
    media_free(n->media);
    lazy_free(n->block, n->geo.n_blocks, sizeof(*n->block));
    nand_slc_destroy(n);
    nand_history_free(n->history);
    g_free(n->hold);
    g_free(n->plane_busy_ps);
    g_free(n->in_register);
    g_free(n->channel);
    g_free(n->die);
    g_free(n->unit);
    nand_queue_destroy(n);
    g_free(n->op);
    g_free(n);
}

void nand_set_faults(Nand *n, Faults *faults, void (*cut)(void *opaque))
{
    invariant(!faults || cut);
    n->faults = faults;
    n->cut = cut;
}

void nand_set_protected(Nand *n, bool is_protected)
{
    n->ends_programs = is_protected;
}

void nand_on_data_in(Nand *n, NandDone *data_in)
{
    invariant(data_in && n->load == 0);
    n->data_in = data_in;
}

void nand_on_suspend(Nand *n, NandMaySuspend *may)
{
    invariant(may && n->load == 0);
    n->may_suspend = may;
}

void nand_on_released(Nand *n, NandReleased *released)
{
    invariant(released && n->load == 0);
    n->released = released;
}

const NandGeometry *nand_geometry(const Nand *n)
{
    return &n->geo;
}
