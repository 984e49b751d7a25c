/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * preloaded.c - where the first data of a large drive is, computed.
 *
 * Unit n of the preload is unit o = n % period of period q = n / period.  The
 * place of o names the plane and v, so that it is unit w = q * plane_units + v
 * of that plane: unit w % block_units of the plane's block w / block_units.
 */
#include "preloaded.h"

#include "lazymem.h"
#include "ssd-internal.h"

/* ---- set-up -------------------------------------------------------------- */

void preloaded_init(Ssd *ssd)
{
    Preloaded *p = &ssd->preloaded;
    uint32_t number = ssd->l.wide ? 8 : 4;

    if (ssd->l.preload_programs == 0) {
        return;
    }
    p->wanted =
        (ssd->l.user_units + ssd->l.raw_units) * number >= PRELOADED_LEAST;
    p->n_planes = ssd->l.n_planes;
    p->plane_blocks = ssd->cfg->nand.blocks;
    p->n_blocks = p->n_planes * p->plane_blocks;
    p->plane_units = ssd->l.preload_programs * ssd->l.units_per_program;
    p->period_units = p->n_planes * p->plane_units;
    p->block_units = ssd->l.units_per_block;
    p->by_period = divider(p->period_units);
    p->by_plane = divider(p->plane_units);
    p->by_block = divider(p->block_units);
    p->by_plane_blocks = divider(p->plane_blocks);
}

uint64_t preloaded_bytes(const Ssd *ssd)
{
    const Preloaded *p = &ssd->preloaded;

    return p->period_units * (sizeof(*p->place) + sizeof(*p->unit)) +
           p->n_blocks *
               (sizeof(*p->nth) + sizeof(*p->filled) + sizeof(*p->block));
}

static void turn_on(Ssd *ssd, uint64_t base)
{
    Preloaded *p = &ssd->preloaded;

    invariant(!p->on && p->period_units > 0);
    p->on = true;
    p->base = base;
    p->place = lazy_new(PreloadedPlace, p->period_units);
    p->unit = lazy_new(uint32_t, p->period_units);
    p->nth = lazy_new(uint32_t, p->n_blocks);
    p->filled = lazy_new(uint32_t, p->n_blocks);
    p->block = lazy_new(uint32_t, p->n_blocks);
    numtable_set_first(&ssd->l2p.entry, preloaded_entry, p);
}

void preloaded_destroy(Ssd *ssd)
{
    Preloaded *p = &ssd->preloaded;

    lazy_free(p->place, p->period_units, sizeof(*p->place));
    lazy_free(p->unit, p->period_units, sizeof(*p->unit));
    lazy_free(p->nth, p->n_blocks, sizeof(*p->nth));
    lazy_free(p->filled, p->n_blocks, sizeof(*p->filled));
    lazy_free(p->block, p->n_blocks, sizeof(*p->block));
}

/* ---- the preload --------------------------------------------------------- */

void preloaded_begin(Ssd *ssd, uint64_t lpn)
{
    invariant(ssd->l2p.mapped_units == 0);
    invariant(lpn < ssd->l.user_units);
    turn_on(ssd, lpn);
}

/* Units o..o + n - 1 of the period have these places, if none of them has
 * another. */
static void note(Preloaded *p, uint64_t o, uint32_t plane, uint32_t unit,
                 uint32_t n)
{
    uint32_t *of_plane = &p->unit[(uint64_t)plane * p->plane_units];

    for (uint32_t i = 0; i < n; i++) {
        if (o + i >= p->period_units || unit + i >= p->plane_units ||
            p->place[o + i].plane || of_plane[unit + i]) {
            return;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        p->place[o + i] = (PreloadedPlace){plane + 1, unit + i};
        of_plane[unit + i] = (uint32_t)(o + i + 1);
    }
}

/* Does the period put these units one after the other into that plane? */
static bool in_order(const Preloaded *p, uint64_t o, uint32_t plane, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (o + i >= p->period_units || p->place[o + i].plane != plane + 1 ||
            p->place[o + i].unit != p->place[o].unit + i) {
            return false;
        }
    }
    return true;
}

/* Is unit w of the plane this one of the block?  A block that begins becomes
 * the plane's next one. */
static bool is_there(Preloaded *p, uint32_t plane, uint64_t w, uint32_t block,
                     uint64_t unit)
{
    uint64_t nth = divide(p->by_block, w);
    uint32_t *at;

    if (nth >= p->plane_blocks || w - nth * p->block_units != unit ||
        unit != p->filled[block]) {
        return false;
    }
    at = &p->block[nth * p->n_planes + plane];
    if (*at == 0 && unit == 0) {
        *at = block + 1;
        p->nth[block] = (uint32_t)nth;
    }
    return *at == block + 1;
}

bool preloaded_take(Preloaded *p, uint64_t lpn, uint64_t ppu, uint32_t n)
{
    uint32_t block = (uint32_t)divide(p->by_block, ppu);
    uint32_t unit = (uint32_t)divide_rest(p->by_block, ppu);
    uint32_t plane = (uint32_t)divide(p->by_plane_blocks, block);
    uint64_t q = lpn < p->base ? 0 : divide(p->by_period, lpn - p->base);
    uint64_t o = lpn - p->base - q * p->period_units;

    if (q == 0 && lpn >= p->base) {
        note(p, o, plane, unit, n);
    }
    if (lpn < p->base || !in_order(p, o, plane, n) ||
        !is_there(p, plane, q * p->plane_units + p->place[o].unit, block,
                  unit)) {
        p->matched = 0;
        return false;
    }
    p->filled[block] += n;
    p->matched += n;
    return true;
}

bool preloaded_repeats(const Preloaded *p, uint64_t lpn)
{
    return p->on && p->matched >= 2ULL * p->period_units &&
           divide_rest(p->by_period, lpn - p->base) == 0;
}

void preloaded_skip(Preloaded *p, uint32_t block, uint32_t periods)
{
    p->filled[block] += periods * p->plane_units;
    invariant(p->filled[block] < p->block_units);
}

void preloaded_skipped(Preloaded *p, uint32_t periods)
{
    p->matched += (uint64_t)periods * p->period_units;
}

/* ---- places -------------------------------------------------------------- */

uint64_t preloaded_entry(const void *of, uint64_t lpn)
{
    const Preloaded *p = of;
    uint64_t q, w, nth, unit;
    PreloadedPlace at;
    uint32_t block;

    if (lpn < p->base) {
        return 0;
    }
    q = divide(p->by_period, lpn - p->base);
    at = p->place[lpn - p->base - q * p->period_units];
    w = q * p->plane_units + at.unit;
    nth = divide(p->by_block, w);
    if (at.plane == 0 || nth >= p->plane_blocks) {
        return 0;
    }
    block = p->block[nth * p->n_planes + at.plane - 1];
    unit = w - nth * p->block_units;
    return block == 0 || unit >= p->filled[block - 1]
               ? 0
               : (uint64_t)(block - 1) * p->block_units + unit + 1;
}

uint64_t preloaded_spare(const void *of, uint64_t ppu)
{
    const Preloaded *p = of;
    uint64_t block = divide(p->by_block, ppu);
    uint64_t unit = ppu - block * p->block_units;
    uint64_t plane, q, w;

    if (unit >= p->filled[block]) {
        return 0;
    }
    plane = divide(p->by_plane_blocks, block);
    w = (uint64_t)p->nth[block] * p->block_units + unit;
    q = divide(p->by_plane, w);
    /* The inverse is one more already. */
    return p->base + q * p->period_units +
           p->unit[plane * p->plane_units + w - q * p->plane_units];
}

bool preloaded_has(const Preloaded *p, uint64_t ppu)
{
    uint64_t block = divide(p->by_block, ppu);

    invariant(p->on);
    return ppu - block * p->block_units < p->filled[block];
}

uint64_t preloaded_units(const Preloaded *p)
{
    uint64_t n = 0;

    for (uint32_t b = 0; p->on && b < p->n_blocks; b++) {
        n += p->filled[b];
    }
    return n;
}

/* ---- saved state --------------------------------------------------------- */

bool preloaded_loading(Ssd *ssd)
{
    Preloaded *p = &ssd->preloaded;

    if (!p->on) {
        return true;
    }
    p->on = false;
    if (p->period_units == 0 || p->base >= ssd->l.user_units) {
        return false;
    }
    turn_on(ssd, p->base);
    return true;
}

/* Each place is that of one unit. */
static bool invert_places(Preloaded *p)
{
    for (uint32_t o = 0; o < p->period_units; o++) {
        PreloadedPlace at = p->place[o];
        uint32_t *unit;

        if (at.plane == 0) {
            continue;
        }
        if (at.plane > p->n_planes || at.unit >= p->plane_units) {
            return false;
        }
        unit = &p->unit[(uint64_t)(at.plane - 1) * p->plane_units + at.unit];
        if (*unit) {
            return false;
        }
        *unit = o + 1;
    }
    return true;
}

/* Are the units of the block units of the host?  The last of them, one for each
 * of the plane's in a period, have the highest numbers. */
static bool units_ok(const Ssd *ssd, uint32_t block)
{
    const Preloaded *p = &ssd->preloaded;
    uint32_t plane = (uint32_t)divide(p->by_plane_blocks, block);
    uint32_t n = p->filled[block];

    for (uint32_t i = n - MIN(n, p->plane_units); i < n; i++) {
        uint64_t w = (uint64_t)p->nth[block] * p->block_units + i;
        uint64_t v = divide_rest(p->by_plane, w);
        uint64_t ppu = (uint64_t)block * p->block_units + i;

        if (p->unit[(uint64_t)plane * p->plane_units + v] == 0 ||
            preloaded_spare(p, ppu) > ssd->l.user_units) {
            return false;
        }
    }
    return true;
}

bool preloaded_loaded(Ssd *ssd)
{
    Preloaded *p = &ssd->preloaded;

    if (!p->on) {
        return true;
    }
    if (!invert_places(p)) {
        return false;
    }
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        uint32_t plane = (uint32_t)divide(p->by_plane_blocks, b);
        uint32_t *at;

        if (p->filled[b] == 0) {
            continue;
        }
        if (p->filled[b] > p->block_units || p->nth[b] >= p->plane_blocks) {
            return false;
        }
        at = &p->block[(uint64_t)p->nth[b] * p->n_planes + plane];
        if (*at || !units_ok(ssd, b)) {
            return false;
        }
        *at = b + 1;
    }
    return true;
}
