/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pace.c - host writes at the pace at which GC frees room (ftl.gc_pace=even).
 *
 * While GC runs in a plane, host writes start at even distances: for each unit
 *
 *     t / n x L / 2F,    L / 2F from 1/2 to 2
 *
 * with t the time that GC of a plane is at work for a unit that it gains, n the
 * number of planes, F the free blocks of all planes, L the sum of ftl.gc_low
 * over them.  At F = L / 2 the host takes what GC gains; with more free blocks
 * it is faster, with fewer slower.  So a host that writes as fast as it can
 * leaves half of ftl.gc_low free: below ftl.gc_low each plane has work.
 *
 * With F > L, a host is slower than GC, which runs in a of the planes only. The
 * others need no gain: the distance is a / n of that.
 *
 * t is a mean over as many units as the planes have in a block of each: a
 * victim that gained e units in a time w changes it by (w - e x t) / those
 * units. Where GC waits, for a victim or for a page of another plane, the time
 * does not count: the host need not wait for it.
 *
 * Knows times and gains; knows nothing of commands, nor of the planes that do
 * not accept a page (placement/accepting.c), a rule that holds beside this one.
 */
#include "gc/pace.h"

#include "gc/gc-private.h"
#include "gc/gc.h"
#include "media/blocks.h"
#include "media/media-internal.h"
#include "placement/placement.h"

/* A victim is a small part of the mean also where planes are few. */
#define FEWEST_BLOCKS 8

/* t at most: no drive is so slow, but a sum of distances must not overflow. */
#define UNIT_MOST_PS (NS_PER_S * PS_PER_NS)

static bool is_on(const Ssd *ssd)
{
    return ssd->cfg->gc_pace == SSD_GC_PACE_EVEN;
}

void pace_active(Ssd *ssd, uint32_t plane, bool active)
{
    GcLoad *load = gc_load(ssd, plane);

    if (load->active == active) {
        return;
    }
    load->active = active;
    ssd->gc->pace.n_active += active ? 1 : -1;
}

void pace_forget(Ssd *ssd)
{
    ssd->gc->pace.n_active = 0;
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        ssd->gc->plane[i].pace_from_ps = SIM_NEVER;
        ssd->gc->plane[i].pace_busy_ps = 0;
        ssd->gc->plane[i].pace_earned = 0;
    }
}

void pace_rebase(Ssd *ssd, uint64_t by_ps)
{
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        uint64_t *from_ps = &ssd->gc->plane[i].pace_from_ps;

        *from_ps -= *from_ps == SIM_NEVER ? 0 : by_ps;
    }
}

static bool is_under_way(const Ssd *ssd, uint32_t plane)
{
    const GcLoad *load = plane_load(ssd, plane);

    return load->reads + load->programs + load->away +
               plane_at(ssd, plane)->erases >
           0;
}

void pace_look(Ssd *ssd, uint32_t plane)
{
    GcPlane *g = &ssd->gc->plane[plane];

    if (!is_on(ssd)) {
        return;
    }
    if (g->pace_from_ps != SIM_NEVER) {
        g->pace_busy_ps += ssd->now_ps - g->pace_from_ps;
    }
    g->pace_from_ps = is_under_way(ssd, plane) ? ssd->now_ps : SIM_NEVER;
}

void pace_page(Ssd *ssd, uint32_t plane)
{
    GcPlane *g = &ssd->gc->plane[plane];

    g->pace_earned += is_on(ssd) ? g->rate : 0;
}

static uint64_t distance_ps(const Ssd *ssd)
{
    const GcPace *pace = &ssd->gc->pace;
    uint64_t n = ssd->l.n_planes;
    uint64_t low = 0;
    uint64_t twice = 0; /* free blocks */

    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        low += plane_at(ssd, i)->gc_low_blocks;
        twice += 2 * plane_at(ssd, i)->free.n;
    }
    if (twice > 2 * low) { /* the others need no gain */
        n = n * n / MAX(pace->n_active, 1);
    }
    twice = CLAMP(twice, (low + 1) / 2, 2 * low);
    return (uint64_t)((unsigned __int128)pace->unit_ps * low / (twice * n));
}

void pace_victim(Ssd *ssd, uint32_t plane)
{
    GcPlane *g = &ssd->gc->plane[plane];
    GcPace *pace = &ssd->gc->pace;
    int64_t units =
        (int64_t)MAX(ssd->l.n_planes, FEWEST_BLOCKS) * ssd->l.units_per_block;
    __int128 late_ps;

    if (!is_on(ssd)) {
        return;
    }
    pace_look(ssd, plane);
    late_ps = (__int128)g->pace_busy_ps -
              ((__int128)g->pace_earned * pace->unit_ps >> 16);
    pace->unit_ps = (uint64_t)CLAMP((__int128)pace->unit_ps + late_ps / units,
                                    0, (__int128)UNIT_MOST_PS);
    pace->distance_ps = distance_ps(ssd);
    g->pace_busy_ps = 0;
    g->pace_earned = 0;
}

bool pace_ok(const Ssd *ssd)
{
    const GcPace *pace = &ssd->gc->pace;
    uint32_t n_active = 0;
    bool good =
        pace->unit_ps <= UNIT_MOST_PS && pace->distance_ps <= 2 * UNIT_MOST_PS;

    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        const GcPlane *g = &ssd->gc->plane[i];

        n_active += plane_load(ssd, i)->active;
        good = good && g->pace_busy_ps <= SIM_MAX_NS * PS_PER_NS &&
               g->pace_earned <= UINT64_MAX / 2 &&
               (g->pace_from_ps == SIM_NEVER || g->pace_from_ps <= ssd->now_ps);
    }
    return good && n_active == pace->n_active;
}

uint64_t pace_ps(const Ssd *ssd)
{
    return ssd->gc->pace.n_active > 0 ? ssd->gc->pace.distance_ps : 0;
}
