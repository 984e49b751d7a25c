/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * background.c - background GC: the work of the drive while the host is idle.
 *
 * Knows when idle time begins, and which blocks are worth emptying in it: those
 * that gain room, up to ftl.gc_soft of free blocks, and those whose data needs
 * a refresh (refresh.c), and those of the SLC cache.  Knows nothing of how a
 * block is emptied (gc.c).
 *
 * The host is idle if no command has run for ftl.idle.  A scan looks at each
 * block once, and continues in the next idle time where the host has cut it
 * short.  Between two windows of predictable latency GC makes room for the next
 * one whether the host is idle or not (hold.c).
 */
#include "gc/gc-policy.h"
#include "gc/gc-private.h"
#include "gc/gc.h"
#include "gc/hold.h"
#include "gc/periodic.h"
#include "media/blocks.h"
#include "media/media-internal.h"
#include "ssd-internal.h"
#include "wake.h"
#include "media/media.h"

static void push(Ssd *ssd, uint64_t at_ps, BackgroundEvent event)
{
    eventq_push(&ssd->events, MAX(at_ps, ssd->now_ps), SSD_EVENT_BACKGROUND,
                event);
}

/* ---- idle time ---------------------------------------------------------- */

static void arm_idle(Ssd *ssd)
{
    if (!ssd->gc->background.idle_armed) {
        ssd->gc->background.idle_armed = true;
        push(ssd, ssd->gc->background.quiet_ps + ssd->cfg->t_idle_ps,
             BACKGROUND_IDLE);
    }
}

static void arm_scan(Ssd *ssd)
{
    if (refresh_is_on(ssd) && !ssd->gc->background.scan_armed) {
        ssd->gc->background.scan_armed = true;
        push(ssd, ssd->gc->background.scan_ps, BACKGROUND_SCAN);
    }
}

static void arm_fold(Ssd *ssd)
{
    if (!ssd->gc->background.fold_armed) {
        ssd->gc->background.fold_armed = true;
        push(ssd, ssd->gc->background.quiet_ps + ssd->cfg->t_slc_fold_ps,
             BACKGROUND_FOLD);
    }
}

void background_quiet(Ssd *ssd)
{
    ssd->gc->background.quiet_ps = ssd->now_ps;
    if (ssd->powered && (ssd->l.gc_soft_blocks > 0 || refresh_is_on(ssd))) {
        arm_idle(ssd);
    }
    if (ssd->powered && ssd->cfg->t_slc_fold_ps > 0) {
        arm_fold(ssd);
    }
    invariant(ssd->gc->background.quiet_ps <= ssd->now_ps);
}

void background_soft(Ssd *ssd)
{
    if (ssd->l.gc_soft_blocks > 0 && ssd->commands.running == 0 &&
        !ssd->gc->background.idle) {
        arm_idle(ssd);
    }
}

void background_stop(Ssd *ssd)
{
    ssd->gc->background.idle = false;
    ssd->gc->background.folds = false;
}

void background_power_lost(Ssd *ssd)
{
    ssd->gc->background.idle = false;
    ssd->gc->background.idle_armed = false;
    ssd->gc->background.scan_armed = false;
    ssd->gc->background.folds = false;
    ssd->gc->background.fold_armed = false;
}

static void pump_all(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        ssd_wake(ssd, WORK_GC, i);
    }
}

static void begin_idle(Ssd *ssd)
{
    Background *b = &ssd->gc->background;

    b->idle_armed = false;
    if (ssd->commands.running > 0) {
        return; /* comes again when the last of them ends */
    }
    if (ssd->now_ps < b->quiet_ps + ssd->cfg->t_idle_ps) {
        arm_idle(ssd);
        return;
    }
    b->idle = true;
    arm_scan(ssd);
    pump_all(ssd);
}

static void begin_scan(Ssd *ssd)
{
    ssd->gc->background.scan_armed = false;
    if (!ssd->gc->background.idle) {
        return; /* comes again with the next idle time */
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        ssd->gc->plane[i].scanned = 0;
    }
    ssd->gc->background.scan_ps = ssd->now_ps + ssd->cfg->scan_interval_ps;
    arm_scan(ssd);
    pump_all(ssd);
}

static void begin_fold(Ssd *ssd)
{
    Background *b = &ssd->gc->background;

    b->fold_armed = false;
    if (ssd->commands.running > 0) {
        return; /* comes again when the last of them ends */
    }
    if (ssd->now_ps < b->quiet_ps + ssd->cfg->t_slc_fold_ps) {
        arm_fold(ssd);
        return;
    }
    b->folds = true;
    pump_all(ssd);
}

void background_event(Ssd *ssd, BackgroundEvent event)
{
    static void (*const begin[])(Ssd *) = {
        [BACKGROUND_IDLE] = begin_idle,
        [BACKGROUND_SCAN] = begin_scan,
        [BACKGROUND_FOLD] = begin_fold,
        [BACKGROUND_PERIOD] = periodic_event,
    };

    invariant(event < G_N_ELEMENTS(begin));
    begin[event](ssd);
}

/* ---- victims ------------------------------------------------------------- */

/* Is there room for work that needs none? */
static bool has_time(const Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);

    return !media_is_read_only(ssd) && p->free.n > p->gc_low_blocks;
}

/* First those of the cache, then those without data, which can serve it. */
uint32_t background_fold_victim(Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);

    if (!background_folds(ssd, plane) || !has_time(ssd, plane)) {
        return NONE;
    }
    if (p->slc_full.head != NONE) {
        return p->slc_full.head;
    }
    return ssd->l.slc_dynamic_blocks > 0 && !gc_waits_for_unit(ssd, plane) &&
                   gc_costs_nothing(ssd, p)
               ? p->bucket[0]
               : NONE;
}

/* The next block of the scan that needs a refresh. */
uint32_t background_refresh_victim(Ssd *ssd, uint32_t plane)
{
    GcPlane *g = &ssd->gc->plane[plane];
    uint32_t n = refresh_is_on(ssd) ? ssd->geo->blocks_per_plane : 0;

    if (!background_wants(ssd, plane) || !has_time(ssd, plane)) {
        return NONE;
    }
    while (g->scanned < n) {
        uint32_t block = plane * ssd->geo->blocks_per_plane + g->scanned++;

        if (block_state(ssd, block) == BLOCK_FULL &&
            refresh_needs(ssd, block)) {
            return block;
        }
    }
    return NONE;
}

uint32_t background_victim(Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);
    uint32_t wanted = hold_prepares(ssd)
                          ? MAX(p->gc_soft_blocks, ssd->l.window_blocks)
                          : p->gc_soft_blocks;
    uint32_t block;

    if (!background_wants(ssd, plane) || !has_time(ssd, plane) ||
        p->free.n + p->erases + ssd->gc->plane[plane].held >= wanted ||
        gc_waits_for_unit(ssd, plane)) {
        return NONE;
    }
    block = gc_costs_nothing(ssd, p) ? p->bucket[0] : gc_pick(ssd, plane);
    return block != NONE && gc_gains(ssd, block) ? block : NONE;
}
