/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * model.c - an aged drive as copies of a small one that was aged.
 *
 * GC chooses among the blocks of a plane or of a superblock, and uniform random
 * writes treat all planes alike.  So a drive of fewer dies has the same steady
 * state in each of its planes.  Blocks of fewer pages have it too, as long as
 * they have many units: the mean-field limit of B. Van Houdt, "A mean field
 * model for a class of garbage collection algorithms in flash-based SSDs",
 * SIGMETRICS 2013.  Such a drive, the model, is played; this file lays out the
 * large one in one pass.
 *
 * Each plane is a copy of one of the model's: state, erases and age of each
 * block, its superblock and its part of valid units.  Which units of a block
 * are valid is drawn, and so is the order of logical units: both are uniform
 * after random writes.  Between two copies the model is written on, so that
 * planes differ in how far GC is.  What GC of the model has under way, units
 * that wait for a full page, is as good as done: its victims are free.
 *
 * Knows no policy.  Does not know when the model is steady.
 */
#include <errno.h>

#include "gc/gc-private.h"
#include "gc/gc.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "media/blocks.h"
#include "media/life.h"
#include "media/media.h"
#include "media/spare.h"
#include "media/superblock.h"
#include "outside.h"
#include "permute.h"
#include "placement/placement.h"
#include "ssd-internal.h"
#include "ssd-save.h"
#include "ssd-setup.h"

#define PURPOSE_LAYOUT 0x6c61796f75740000ULL

/* Units of a block of the model, at least, if the drive's has as many: with
 * more, WAF changes by less than 1 % (tests/ftl/model.c). */
#define MODEL_BLOCK_UNITS 256
/* Units of the model, at least: its WAF is a mean over that many. */
#define MODEL_UNITS       (1U << 16)
/* A model that is a larger part of the drive saves too little. */
#define MODEL_PART        8
/* This part of the model's units is written while copies of it are made: GC
 * goes from ftl.gc_low to ftl.gc_high and back several times. */
#define MODEL_WRITTEN     16
/* nand.dies, at most. */
#define MODEL_DIES        64

#define BATCH 64

/* ---- the model ----------------------------------------------------------- */

/* Does only the number of dies and pages matter?  Not with data that belongs to
 * planes or to blocks of its own, nor with a policy that nobody here knows. */
static bool has_model(const Ssd *ssd)
{
    const SsdLayout *l = &ssd->l;
    const MapPolicy *map = ssd->map->policy;

    for (unsigned kind = 0; kind < VSSD_POLICY_KINDS; kind++) {
        if (ssd->outside[kind] && ssd->outside[kind]->from) {
            return false;
        }
    }
    return !map->own_blocks && !map->aged && !ssd->placement->policy->by_unit &&
           !ssd->geo->has_slc && l->n_streams == 1 && l->n_groups == 1 &&
           l->n_saved == 0 && l->n_zones == 0 && l->parity_dies == 0 &&
           ssd->media->n_factory_bad == 0 && !ssd->media->may_fail;
}

/* Can superblocks, or rows, of so many planes be in the model? */
static bool size_fits(const Ssd *ssd, uint32_t size, uint32_t planes)
{
    return size == ssd->l.n_planes || size <= 1 || planes % size == 0;
}

static uint32_t model_pages(const Ssd *ssd)
{
    const NandConfig *n = &ssd->cfg->nand;
    uint32_t line = n->cell + 1;
    uint32_t pages =
        (MODEL_BLOCK_UNITS + ssd->l.units_per_page - 1) / ssd->l.units_per_page;

    return MIN((pages + line - 1) / line * line, n->pages);
}

/* The fewest dies that give the model enough units; 0: there are too few. */
static uint32_t model_dies(const Ssd *ssd, uint32_t pages)
{
    uint32_t n = ssd->geo->n_dies;
    uint64_t die_units = (uint64_t)ssd->geo->planes_per_die *
                         ssd->geo->blocks_per_plane * pages *
                         ssd->l.units_per_page;

    for (uint32_t dies = 1; dies <= n && dies <= MODEL_DIES; dies++) {
        uint32_t planes = dies * ssd->geo->planes_per_die;

        if (n % dies == 0 && dies * die_units >= MODEL_UNITS &&
            size_fits(ssd, ssd->l.set_planes, planes) &&
            size_fits(ssd, ssd->l.row_planes, planes)) {
            return dies * die_units * MODEL_PART <= ssd->l.raw_units ? dies : 0;
        }
    }
    return 0;
}

static SsdConfig *model_config(const Ssd *ssd, uint32_t dies, uint32_t pages)
{
    SsdConfig *cfg = ssd_config_copy(ssd->cfg);
    uint32_t planes = dies * cfg->nand.planes;
    uint64_t raw =
        (uint64_t)planes * cfg->nand.blocks * pages * ssd->l.units_per_page;

    g_clear_pointer(&cfg->faults, g_free);
    cfg->nand.channels = 1;
    cfg->nand.chips = 1;
    cfg->nand.dies = dies;
    cfg->nand.pages = pages;
    cfg->capacity =
        (uint64_t)((unsigned __int128)cfg->capacity * raw / ssd->l.raw_units);
    if (ssd->l.set_planes == ssd->l.n_planes) {
        cfg->superblock_width = planes;
    }
    if (ssd->l.row_planes == ssd->l.n_planes) {
        cfg->superblock_row = planes;
    }
    return cfg;
}

/* Are their planes alike, but for the size of blocks? */
static bool is_like(const Ssd *ssd, const Ssd *model)
{
    const SsdLayout *a = &ssd->l;
    const SsdLayout *b = &model->l;

    return a->spare_blocks == b->spare_blocks &&
           a->gc_low_blocks == b->gc_low_blocks &&
           a->gc_high_blocks == b->gc_high_blocks && a->n_open == b->n_open &&
           ssd->geo->blocks_per_plane == model->geo->blocks_per_plane &&
           ssd->geo->planes_per_die == model->geo->planes_per_die &&
           (a->set_planes == b->set_planes ||
            (a->set_planes == a->n_planes && b->set_planes == b->n_planes));
}

Ssd *ssd_model(const Ssd *ssd)
{
    uint32_t pages = model_pages(ssd);
    uint32_t dies = has_model(ssd) ? model_dies(ssd, pages) : 0;
    SsdConfig *cfg = dies > 0 ? model_config(ssd, dies, pages) : NULL;
    Ssd *model = cfg ? ssd_create(cfg, NULL, NULL, NULL) : NULL;

    ssd_config_free(cfg);
    if (model && !is_like(ssd, model)) {
        g_clear_pointer(&model, ssd_destroy);
    }
    return model;
}

/* ---- laying out the drive ------------------------------------------------ */

typedef struct Layout {
    Ssd *ssd;
    Ssd *model;
    uint32_t *plane; /* by plane: the model's of which it is a copy */
    Permutation order;
    Prng rng;
    uint64_t placed; /* units so far */
    uint64_t passed; /* valid units of the model so far, once for each copy */
    uint64_t ppu[BATCH];
    uint32_t n;
} Layout;

/* The model's plane at the same place of a superblock. */
static uint32_t plane_of_model(const Layout *y, uint32_t plane)
{
    const Ssd *m = y->model;
    uint32_t place = y->ssd->media->superblocks.place[plane];
    uint32_t set = place / y->ssd->l.set_planes % superblock_sets(m);
    uint32_t in_set = place % y->ssd->l.set_planes % m->l.set_planes;

    return superblock_planes(m, set)[in_set];
}

static uint32_t block_of_model(const Layout *y, uint32_t block)
{
    uint32_t n = y->ssd->geo->blocks_per_plane;

    return y->plane[block / n] * n + block % n;
}

/* The block of the plane that is a copy of the model's. */
static uint32_t copy_of(const Layout *y, uint32_t plane, uint32_t block)
{
    uint32_t n = y->ssd->geo->blocks_per_plane;

    return block == NONE ? NONE : plane * n + block % n;
}

static uint32_t scaled_pages(const Layout *y, uint32_t pages)
{
    uint32_t program = y->ssd->l.pages_per_program;

    return (uint32_t)((uint64_t)pages * y->ssd->geo->pages_per_block /
                      y->model->geo->pages_per_block) /
           program * program;
}

/* The units whose places have been collected, the next ones of the order. */
static void put_batch(Layout *y)
{
    Ssd *ssd = y->ssd;
    Media *m = ssd->media;
    uint64_t lpn[BATCH];

    for (uint32_t i = 0; i < y->n; i++) {
        lpn[i] = permute(&y->order, y->placed + i);
        numtable_prefetch(&ssd->l2p.entry, lpn[i]);
    }
    for (uint32_t i = 0; i < y->n; i++) {
        numtable_set(&m->spare_lpn, y->ppu[i], lpn[i] + 1);
        if (m->spare_version) {
            m->spare_version[y->ppu[i]] = ssd->buffer->last_version + 1 + i;
        }
        l2p_set(&ssd->l2p, lpn[i], y->ppu[i] + 1);
        bitmap_set(m->valid, y->ppu[i]);
    }
    ssd->buffer->last_version += y->n;
    ssd->l2p.mapped_units += y->n;
    y->placed += y->n;
    y->n = 0;
}

/* So many of the first `room` units of the block are valid, each as likely. */
static void put_units(Layout *y, uint32_t block, uint32_t valid, uint32_t room)
{
    uint64_t first = block_ppu(y->ssd, block);

    block_count_preloaded(y->ssd, block, valid);
    for (; valid > 0; first++, room--) {
        if (prng_below(&y->rng, room) < valid) {
            y->ppu[y->n++] = first;
            valid--;
        }
        if (y->n == BATCH) {
            put_batch(y);
        }
    }
    put_batch(y);
}

/* Units of the drive that are placed when so many of the copies' are. */
static uint64_t share(const Layout *y, uint64_t passed)
{
    uint64_t all =
        y->model->l.user_units * (y->ssd->l.n_planes / y->model->l.n_planes);

    return (uint64_t)((unsigned __int128)passed * y->ssd->l.user_units / all);
}

/* A block, filled on by open (an open_index()) if that is not NONE.  A victim
 * has been erased, and the units that GC would have copied from it are in those
 * that follow. */
static void lay_block(Layout *y, uint32_t block, uint32_t open)
{
    Ssd *ssd = y->ssd;
    uint32_t of = block_of_model(y, block);
    bool victim = block_state(y->model, of) == BLOCK_VICTIM;
    uint32_t pages =
        victim ? 0 : scaled_pages(y, nand_next_page(y->model->nand, of));
    uint32_t room = pages << ssd->page_units_shift;

    nand_age_block(ssd->nand, block,
                   nand_erase_count(y->model->nand, of) + victim, pages,
                   ssd->now_ps);
    y->passed += block_valid(y->model, of);
    put_units(y, block, (uint32_t)MIN(share(y, y->passed) - y->placed, room),
              room);
    ssd->media->block[block].stream = block_at(y->model, of)->stream;
    block_found(ssd, block, open);
    ssd->media->block[block].mtime =
        scaled_pages(y, block_at(y->model, of)->mtime);
    if (pages > 0) {
        refresh_opened(ssd, block);
    }
}

static void lay_victims(Layout *y, uint32_t plane)
{
    uint32_t first = plane * y->ssd->geo->blocks_per_plane;

    for (uint32_t i = 0; i < y->ssd->geo->blocks_per_plane; i++) {
        uint32_t of = block_of_model(y, first + i);

        if (block_state(y->model, of) == BLOCK_VICTIM) {
            lay_block(y, first + i, NONE);
        }
    }
}

static void lay_plane(Layout *y, uint32_t plane)
{
    const Plane *from = plane_at(y->model, y->plane[plane]);
    Plane *p = &y->ssd->media->plane[plane];
    uint32_t b;

    for (b = from->by_age.head; b != NONE; b = block_at(y->model, b)->newer) {
        lay_block(y, copy_of(y, plane, b), NONE);
    }
    for (uint32_t k = 0; k < y->ssd->l.n_open; k++) {
        if (from->open[k].block != NONE) {
            lay_block(y, copy_of(y, plane, from->open[k].block), k);
        }
    }
    b = from->free.head;
    for (uint32_t i = 0; i < from->free.n; i++) {
        lay_block(y, copy_of(y, plane, b), NONE);
        b = block_at(y->model, b)->next;
    }
    lay_victims(y, plane);
    p->clock = scaled_pages(y, from->clock);
    p->last_gc_block = copy_of(y, plane, from->last_gc_block);
    y->ssd->gc->plane[plane].most_erased =
        y->model->gc->plane[y->plane[plane]].most_erased;
    y->ssd->gc->plane[plane].least_erased =
        y->model->gc->plane[y->plane[plane]].least_erased;
}

/* The least block of its superblock: a name for it. */
static uint32_t superblock_name(const Ssd *ssd, uint32_t block)
{
    uint32_t least = block;

    for (uint32_t b = superblock_next(ssd, block); b != block;
         b = superblock_next(ssd, b)) {
        least = MIN(least, b);
    }
    return least;
}

/* Blocks of a set of planes are of one superblock if the model's are. */
static void lay_rings(Layout *y, uint32_t set, uint32_t *with)
{
    Superblocks *s = &y->ssd->media->superblocks;
    const uint32_t *planes = superblock_planes(y->ssd, set);
    uint32_t n = y->ssd->geo->blocks_per_plane;

    for (uint32_t b = 0; b < y->model->geo->n_blocks; b++) {
        with[b] = NONE;
    }
    for (uint32_t i = 0; i < y->ssd->l.set_planes; i++) {
        for (uint32_t b = planes[i] * n; b < (planes[i] + 1) * n; b++) {
            uint32_t *other =
                &with[superblock_name(y->model, block_of_model(y, b))];

            if (*other != NONE) {
                s->next[b] = s->next[*other];
                s->next[*other] = b;
            }
            *other = b;
        }
    }
}

/* The newest superblock of the plane, for each who opens blocks. */
static void lay_newest(Layout *y, uint32_t plane)
{
    Superblocks *s = &y->ssd->media->superblocks;
    const Superblocks *from = &y->model->media->superblocks;
    uint32_t n = y->ssd->l.n_open;

    for (uint32_t k = 0; k < n; k++) {
        uint32_t of = y->plane[plane] * n + k;

        s->serial[plane * n + k] = from->serial[of];
        s->newest[plane * n + k] = copy_of(y, plane, from->newest[of]);
    }
}

static void lay_set(Layout *y, uint32_t set, uint32_t *with)
{
    const uint32_t *planes = superblock_planes(y->ssd, set);

    if (superblocks_are_on(y->ssd)) {
        lay_rings(y, set, with);
    }
    for (uint32_t i = 0; i < y->ssd->l.set_planes; i++) {
        if (superblocks_are_on(y->ssd)) {
            lay_newest(y, planes[i]);
        }
        lay_plane(y, planes[i]);
    }
}

/* The model at another moment: a part of it is written on until all copies have
 * been made. */
static int write_on(Layout *y)
{
    uint32_t copies = y->ssd->l.n_planes / y->model->l.n_planes;
    uint64_t n = y->model->l.user_units / MODEL_WRITTEN / copies;
    g_autofree uint64_t *lpn = g_new(uint64_t, 2 * n + 1);

    n = prng_below(&y->rng, 2 * n + 1);
    for (uint64_t i = 0; i < n; i++) {
        lpn[i] = prng_below(&y->rng, y->model->l.user_units);
    }
    return ssd_age(y->model, lpn, n);
}

/* One copy of the model after the other. */
static int lay_sets(Layout *y)
{
    g_autofree uint32_t *with = g_new(uint32_t, y->model->geo->n_blocks);
    int ret = 0;

    for (uint32_t i = 0; i < superblock_sets(y->ssd) && ret == 0; i++) {
        if (i > 0 && i % superblock_sets(y->model) == 0) {
            ret = write_on(y);
        }
        lay_set(y, i, with);
    }
    return ret;
}

/* Every block of the model is in one of the lists that lay_plane() walks. */
static bool is_used_up(const Ssd *model)
{
    for (uint32_t i = 0; i < model->l.n_planes; i++) {
        if (plane_at(model, i)->n_fresh > 0) {
            return false;
        }
    }
    return ssd_at_rest(model) && model->l2p.mapped_units == model->l.user_units;
}

static void note_used(Ssd *ssd)
{
    for (uint64_t lpn = 0; lpn < ssd->l.user_units;
         lpn += 1ULL << ssd->l2p.group_shift) {
        l2p_note_used(&ssd->l2p, lpn);
    }
}

/* What no block had room for. */
static int put_rest(Layout *y)
{
    uint64_t n = y->ssd->l.user_units - y->placed;
    g_autofree uint64_t *lpn = g_new(uint64_t, n);

    for (uint64_t i = 0; i < n; i++) {
        lpn[i] = permute(&y->order, y->placed + i);
    }
    return ssd_age(y->ssd, lpn, n);
}

int ssd_age_as(Ssd *ssd, Ssd *model)
{
    Layout y = {
        .ssd = ssd,
        .model = model,
        .order = permutation(ssd->l.user_units, ssd->cfg->seed),
    };
    int ret;

    if (ssd->l2p.mapped_units > 0 || ssd->inspect.log || !is_like(ssd, model) ||
        !is_used_up(model)) {
        return -EINVAL;
    }
    prng_seed(&y.rng, ssd->cfg->seed, PURPOSE_LAYOUT);
    y.plane = g_new(uint32_t, ssd->l.n_planes);
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        y.plane[i] = plane_of_model(&y, i);
    }
    gc_forget(ssd);
    block_forget_all(ssd);
    note_used(ssd);
    ret = lay_sets(&y);
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        plane_update(ssd, i);
    }
    ret = ret < 0 ? ret : put_rest(&y);
    g_free(y.plane);
    return ret;
}
