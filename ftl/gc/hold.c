/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hold.c - windows of predictable latency: in one, the drive does no work of
 * its own choice (ssd-window.h; NVM Express Base 2.0, Predictable Latency
 * Mode).
 *
 * Knows when the work can wait, and how much the host can write meanwhile;
 * knows nothing of how the work is done (gc.c), nor of commands and their
 * limits (hw-ssd/nvme/admin/latency.c).
 *
 * A hold is of the whole drive.  It ends when a plane has no free block left
 * for the host.  So in each plane the host fills the pages of its open block
 * and all free blocks but those that GC needs; it takes the last one of them
 * with the first page that ends the hold:
 *
 *     pages = left + (free - reserve - 1) * pages of a block
 *
 * Planes are filled in turns, so the drive takes as many pages in each plane
 * as the one that has the least room.  Several streams may each leave a block
 * partly filled, so with them the blocks count that all but one could waste.
 *
 * The time to prepare a window is that of the copies for its room, if each
 * victim has the mean share u of valid data: u / (1 - u) copies for each unit
 * gained (X.-Y. Hu et al., "Write amplification analysis in flash-based solid
 * state drives", SYSTOR 2009, section 3), with planes of a die one by one.
 */
#include "gc/gc-private.h"
#include "gc/gc.h"
#include "gc/hold.h"
#include "gc/pace.h"
#include "gc/purge.h"
#include "journal/journal.h"
#include "media/media.h"
#include "placement/placement.h"
#include "simtime.h"
#include "ssd-window.h"
#include "wake.h"

static void look_everywhere(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        ssd_wake(ssd, WORK_GC, i);
    }
    ssd_wake(ssd, WORK_BUFFER, 0);
}

/* The host need not wait for GC that does not run. */
static void let_host_go(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        pace_active(ssd, i, false);
        plane_update(ssd, i);
    }
}

void hold_set(Ssd *ssd, SsdWindow window)
{
    invariant(window < SSD_N_WINDOWS);
    if (!ssd->powered || ssd->window == window) {
        return;
    }
    ssd->window = window;
    ssd->window_end = SSD_WINDOW_END_NONE;
    if (window == SSD_WINDOW_HOLD) {
        ssd->inspect.count.windows++;
        let_host_go(ssd);
    }
    look_everywhere(ssd);
}

static void end_hold(Ssd *ssd, SsdWindowEnd why)
{
    ssd->window = SSD_WINDOW_PREPARE;
    ssd->window_end = why;
    ssd->inspect.count.windows_ended++;
    look_everywhere(ssd);
}

static bool is_urgent(const Ssd *ssd, uint32_t plane)
{
    return ssd->gc->plane[plane].forced ||
           plane_at(ssd, plane)->n_retiring > 0 || meta_is_short(ssd, plane) ||
           purge_is_on(ssd);
}

bool hold_keeps(Ssd *ssd, uint32_t plane)
{
    if (G_LIKELY(ssd->window != SSD_WINDOW_HOLD)) {
        return false;
    }
    if (plane_is_short(ssd, plane_at(ssd, plane))) {
        end_hold(ssd, SSD_WINDOW_END_ROOM);
    } else if (is_urgent(ssd, plane)) {
        end_hold(ssd, SSD_WINDOW_END_URGENT);
    }
    return ssd->window == SSD_WINDOW_HOLD;
}

/* ---- how much fits ------------------------------------------------------- */

/* Units that the host can program into free blocks of the plane, of which so
 * many are free. */
static uint64_t free_units(const Ssd *ssd, uint32_t free, uint32_t reserve)
{
    uint32_t taken = reserve + ssd->l.n_handles + ssd->l.n_aside;

    return free > taken ? (uint64_t)(free - taken) * ssd->l.data_units : 0;
}

/* Those left in its open block; with one stream. */
static uint64_t open_units(const Ssd *ssd, uint32_t plane)
{
    const Open *o = &plane_at(ssd, plane)->open[open_index(ssd, OPEN_HOST, 0)];

    if (ssd->l.n_streams > 1 || ssd->l.n_aside > 0 || o->block == NONE ||
        nand_block_is_slc(ssd->geo, o->block)) {
        return 0;
    }
    return (uint64_t)open_pages_left(ssd, plane,
                                     open_index(ssd, OPEN_HOST, 0)) *
           ssd->l.units_per_page;
}

static uint64_t room_bytes(const Ssd *ssd)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        const Plane *p = plane_at(ssd, i);
        uint64_t units =
            plane_is_short(ssd, p)
                ? 0
                : open_units(ssd, i) +
                      free_units(ssd, p->free.n, plane_reserve(ssd, p));

        least = MIN(least, units);
    }
    return least * ssd->l.n_planes << ssd->unit_shift;
}

void ssd_window_state(const Ssd *ssd, SsdWindowState *state)
{
    *state = (SsdWindowState){
        .now = ssd->window,
        .end = ssd->window_end,
        .room_bytes = room_bytes(ssd),
        .read_bytes = ssd->inspect.counters.host_bytes_read,
    };
}

/* ---- what the configuration promises ------------------------------------- */

/* As many as all dies read one after the other in the window; with
 * ftl.refresh_reads no more than make one block due. */
static uint64_t most_reads(const Ssd *ssd)
{
    const NandConfig *n = &ssd->cfg->nand;
    uint64_t dies = ssd->l.n_planes / ssd->geo->planes_per_die;
    uint64_t pages =
        dies * (ssd->cfg->latency_window_ps / MAX(n->t_read_ps, 1));

    if (ssd->cfg->refresh_reads) {
        pages = MIN(pages, (uint64_t)ssd->cfg->refresh_reads * n->pages);
    }
    return pages * 4096; /* the standard counts reads of 4 KiB */
}

/* To gain so many blocks in each plane. */
static uint64_t prepare_ns(const Ssd *ssd, uint32_t blocks)
{
    const NandConfig *n = &ssd->cfg->nand;
    uint64_t all = (uint64_t)n->blocks * ssd->l.data_units;
    uint64_t valid = MIN(ssd->l.share_units, all - 1);
    uint64_t copy_ps = n->t_read_ps * ssd->l.pages_per_program + n->t_prog_ps;
    uint64_t programs = n->pages / ssd->l.pages_per_program;
    uint64_t block_ns =
        (copy_ps * programs / PS_PER_NS) * valid / (all - valid);

    block_ns += n->t_erase_ps / PS_PER_NS * all / (all - valid);
    return block_ns * blocks * ssd->geo->planes_per_die;
}

void ssd_window_plan(const Ssd *ssd, SsdWindowPlan *plan)
{
    uint32_t reserve = ssd->media->free_for_gc;
    uint32_t free = ssd->l.window_blocks;

    *plan = (SsdWindowPlan){0};
    if (free == 0) {
        return;
    }
    plan->window_ns = ssd->cfg->latency_window_ps / PS_PER_NS;
    plan->read_bytes = most_reads(ssd);
    plan->write_bytes = free_units(ssd, free, reserve) * ssd->l.n_planes
                        << ssd->unit_shift;
    plan->prepare_ns = prepare_ns(ssd, free - reserve);
    plan->prepare_least_ns = prepare_ns(ssd, 1);
}
