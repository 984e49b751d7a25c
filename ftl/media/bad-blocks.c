/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bad-blocks.c - what becomes of blocks and pages whose program or erase fails.
 *
 * Knows what is left of each plane, and when the drive's life ends.  Knows
 * nothing of why an operation failed.
 *
 * A failed program is done again elsewhere, with the same units: the host's in
 * any plane, cleaning's in its own.  Slots stay PROGRAMMING meanwhile, so the
 * order of the versions of a unit is that of their slots, as ever.  The block is
 * closed, emptied by cleaning and retired.  A block whose erase fails is empty
 * and retired at once.
 *
 * When a plane has fewer than SsdLayout.min_spare_blocks left, the drive is read-only:
 * it still programs what it has taken, and still cleans.  If a program or erase
 * fails then, or if nothing that is under way can make room for what waits, the
 * drive gives up: what is in the buffer stays there, readable, until the power
 * goes.
 */
#include "buffer/buffer.h"
#include "gc/gc.h"
#include "host/host.h"
#include "journal/journal.h"
#include "map/map.h"
#include "media/media.h"
#include "placement/placement.h"
#include "ssd-internal.h"

void job_fifo_push(Ssd *ssd, JobFifo *f, uint32_t j)
{
    ssd->media.job[j].next = NONE;
    if (f->head == NONE) {
        f->head = j;
    } else {
        ssd->media.job[f->tail].next = j;
    }
    f->tail = j;
}

uint32_t job_fifo_pop(Ssd *ssd, JobFifo *f)
{
    uint32_t j = f->head;

    f->head = ssd->media.job[j].next;
    return j;
}

/*
 * As layout_cleaning() in ssd-config.c, for the spare blocks that are left.
 * Where a block in SLC mode may be emptied and a program may fail meanwhile, the
 * host leaves two blocks more than the layout knows of (plane_reserve()): they
 * come out of the slack, and the marks of cleaning are above them.
 */
void plane_size(Ssd *ssd, uint32_t plane)
{
    Plane *p = &ssd->media.plane[plane];
    uint32_t spare = MAX(p->spare_blocks, ssd->l.min_spare_blocks);
    uint32_t more = ssd->media.may_fail && ssd->geo->slc_blocks > 0 ? 2 : 0;
    uint32_t slack_blocks = (spare - ssd->l.busy_blocks - more) / 2;
    uint32_t most = spare - (ssd->l.busy_blocks - 1) - slack_blocks;
    uint32_t low = ssd->l.gc_low_blocks;
    uint32_t high = ssd->l.gc_high_blocks;

    if (more > 0) {
        low = MAX(low, ssd->l.gc_free_blocks + more);
        high = MAX(high, low + 1);
    }
    p->slack_units = (uint64_t)slack_blocks * ssd->l.units_per_block;
    p->gc_high_blocks = MIN(high, most);
    p->gc_soft_blocks = MIN(ssd->l.gc_soft_blocks, most);
    p->gc_low_blocks = MIN(low, p->gc_high_blocks - 1);
}

bool bad_enough_left(const Ssd *ssd, GError **error)
{
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (ssd->media.plane[i].spare_blocks < ssd->l.min_spare_blocks) {
            g_set_error(error, OPT_ERROR, OPT_ERROR_COMBINATION,
                        "media.factory_bad=%.4g%%: leaves plane %u with %u "
                        "spare blocks, at least %u are needed (more "
                        "ftl.op_percent, or another seed)",
                        ssd->cfg->nand.factory_bad_ppm / 1e4, i,
                        ssd->media.plane[i].spare_blocks,
                        ssd->l.min_spare_blocks);
            return false;
        }
    }
    return true;
}

static void give_up(Ssd *ssd)
{
    ssd->media.read_only = true;
    ssd->media.given_up = true;
    meta_give_up(ssd);
    write_fail_waiters(ssd);
    host_fail_waiting(ssd);
}

static void lose_block(Ssd *ssd, uint32_t block)
{
    uint32_t plane = block_plane(ssd, block);
    Plane *p = &ssd->media.plane[plane];
    bool was_read_only = ssd->media.read_only;

    ssd->media.n_grown_bad++;
    block_count_lost(ssd, block);
    plane_size(ssd, plane);
    if (p->spare_blocks < ssd->l.min_spare_blocks) {
        ssd->media.read_only = true;
    }
    if (was_read_only && !ssd->media.given_up) {
        give_up(ssd);
    }
}

static void forget_page(Ssd *ssd, uint32_t ppa)
{
    uint32_t first = ppa << ssd->page_units_shift;

    for (uint32_t i = 0; i < block_program_units(ssd, ppa); i++) {
        ssd->media.spare_lpn[first + i] = SPARE_NONE;
    }
}

void bad_program_done(Ssd *ssd, uint32_t j)
{
    uint32_t plane = ssd->media.job[j].plane;
    uint32_t block = page_block(ssd, ssd->media.job[j].ppa);

    forget_page(ssd, ssd->media.job[j].ppa);
    if (!ssd->media.block[block].bad) {
        block_mark_bad(ssd, block);
        lose_block(ssd, block);
    }
    if (ssd->media.job[j].gc) {
        gc_page_failed(ssd, j);
    } else if (ssd->media.job[j].meta) {
        meta_page_failed(ssd, j);
    } else {
        ssd->media.job[j].ppa = NONE;
        ssd->media.plane[plane].host_programs--;
        job_fifo_push(ssd, &ssd->media.redo, j);
    }
    block_page_done(ssd, block);
    plane_update(ssd, plane);
    gc_kick(ssd, plane);
    meta_pump(ssd, plane);
    write_pump(ssd);
}

void bad_erase_done(Ssd *ssd, uint32_t block)
{
    uint32_t plane = block_plane(ssd, block);

    ssd->media.block[block].bad = true;
    block_retire(ssd, block);
    lose_block(ssd, block);
    plane_update(ssd, plane);
    meta_pump(ssd, plane);
    map_room(ssd, plane);
    gc_kick(ssd, plane);
}

bool bad_redo(Ssd *ssd)
{
    while (ssd->media.redo.head != NONE) {
        uint32_t slot = job_units(ssd, ssd->media.redo.head)[0];
        uint32_t plane =
            alloc_pick(ssd, ssd->buffer.slot[slot].lpn,
                       ssd->media.job[ssd->media.redo.head].stream);

        if (plane == NONE) {
            return false;
        }
        write_send(ssd, job_fifo_pop(ssd, &ssd->media.redo), plane);
    }
    return true;
}

/* Does something in memory have to go to NAND now? */
static bool pages_wait(const Ssd *ssd)
{
    return ssd->media.redo.head != NONE || stream_waits(ssd) ||
           ssd->host.waiting.head != NONE || meta_waits(ssd);
}

void bad_look_for_way(Ssd *ssd)
{
    if (ssd->media.given_up || nand_load(ssd->nand) > 0 || !pages_wait(ssd)) {
        return;
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        gc_kick(ssd, i);
        meta_pump(ssd, i);
    }
    write_pump(ssd);
    if (nand_load(ssd->nand) == 0 && pages_wait(ssd)) {
        give_up(ssd);
    }
}

bool bad_flush_fails(const Ssd *ssd)
{
    return ssd->media.given_up && ssd->buffer.n_unsafe > 0;
}
