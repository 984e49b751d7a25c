/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * failures.c - treatment of pages and blocks whose program or erase fails.
 *
 * Knows the order in which the other components go on, and when the drive gives
 * up.  Does not know why an operation failed.
 *
 * A failed program is done again elsewhere, with the same units: the host's in
 * any plane, GC's in its own.  Slots stay PROGRAMMING meanwhile, so the
 * order of the versions of a unit is still that of their slots.  The block
 * is closed, emptied by GC and retired.  A block whose erase fails is empty and
 * retired at once.
 *
 * When a plane has fewer than SsdLayout.min_spare_blocks left, the drive is
 * read-only: it still programs accepted data, and GC still runs. If a program
 * or erase fails then, or if no work in flight can make room for waiting data,
 * the drive fails: data in the buffer stays there, readable, until the power
 * goes.
 */
#include "buffer/flush.h"
#include "controller/controller.h"
#include "gc/gc.h"
#include "host/host.h"
#include "journal/journal.h"
#include "map/map.h"
#include "map/reset.h"
#include "media/jobs.h"
#include "media/lost-die.h"
#include "media/media.h"
#include "media/owned.h"
#include "media/parity-pump.h"
#include "media/parity.h"
#include "media/spare.h"
#include "media/superblock.h"
#include "media/victims.h"
#include "placement/placement.h"
#include "power/power.h"
#include "ssd-internal.h"
#include "wake.h"

static void give_up(Ssd *ssd)
{
    invariant(!media_cannot_program(ssd));
    media_give_up(ssd);
    meta_give_up(ssd);
    write_fail_waiters(ssd);
    close_give_up(ssd);
    host_fail_waiting(ssd);
    reset_give_up(ssd);
    invariant(media_is_read_only(ssd) && media_cannot_program(ssd));
    invariant(!meta_waits(ssd));
}

static void lose_block(Ssd *ssd, uint32_t block)
{
    if (bad_lose_block(ssd, block) && !media_cannot_program(ssd)) {
        give_up(ssd);
    }
}

/* A program or erase of the plane has failed.  true: its die is lost, or was
 * before, and has no room to lose. */
static bool lose_die(Ssd *ssd, uint32_t plane)
{
    if (lost_die_note(ssd, plane, true)) {
        if (!lost_die_begin(ssd, plane)) {
            media_set_read_only(ssd);
        }
        meta_dies_lost(ssd);
        for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
            ssd_wake(ssd, WORK_GC, i);
        }
    }
    return plane_is_lost(ssd, plane);
}

static void forget_page(Ssd *ssd, uint64_t ppa)
{
    invariant(ppa < ssd->geo->n_pages);
    spare_blank(ssd, ppa << ssd->page_units_shift,
                block_program_units(ssd, ppa));
}

void failure_program_done(Ssd *ssd, uint32_t j)
{
    uint32_t plane = job_at(ssd, j)->plane;
    uint32_t block = page_block(ssd, job_at(ssd, j)->ppa);

    invariant(j < ssd->media->n_jobs);
    invariant(media_may_fail(ssd));
    invariant(job_at(ssd, j)->state == JOB_PLACED);
    parity_page_lost(ssd, job_at(ssd, j)->ppa);
    forget_page(ssd, job_at(ssd, j)->ppa);
    if (!lose_die(ssd, plane) && !block_has_failed(ssd, block)) {
        block_mark_bad(ssd, block);
        lose_block(ssd, block);
    }
    if (job_at(ssd, j)->parity) {
        parity_failed(ssd, j);
    } else if (job_at(ssd, j)->gc) {
        gc_page_failed(ssd, j);
    } else if (job_at(ssd, j)->meta) {
        meta_page_failed(ssd, j);
    } else {
        close_page_done(ssd, j);
        write_page_failed(ssd, j);
    }
    block_page_done(ssd, block);
    plane_update(ssd, plane);
    ssd_wake(ssd, WORK_GC, plane);
    ssd_wake(ssd, WORK_META, plane);
    ssd_wake(ssd, WORK_BUFFER, 0);
}

void failure_erase_done(Ssd *ssd, uint32_t block)
{
    uint32_t plane = block_plane(ssd, block);

    invariant(media_may_fail(ssd));
    invariant(block_state(ssd, block) == BLOCK_ERASING);
    block_erase_failed(ssd, block);
    if (!lose_die(ssd, plane)) {
        lose_block(ssd, block);
    }
    plane_update(ssd, plane);
    ssd_wake(ssd, WORK_META, plane);
    map_room(ssd, plane);
    ssd_wake(ssd, WORK_GC, plane);
}

/* Does something in memory have to go to NAND now? */
static bool pages_wait(const Ssd *ssd)
{
    return ssd->buffer->redo.head != NONE || queue_waits(ssd) ||
           ssd->buffer->waiting.head != NONE || meta_waits(ssd);
}

/* Nothing is under way in NAND or on the way there, and something waits for it.
 */
static bool stands_still(const Ssd *ssd)
{
    return !media_cannot_program(ssd) && nand_load(ssd->nand) == 0 &&
           controller_at_rest(ssd) && pages_wait(ssd) &&
           !(superblock_is_whole(ssd) && gc_row_waits(ssd));
}

bool failure_looks_for_way(Ssd *ssd)
{
    if (!stands_still(ssd)) {
        return false;
    }
    invariant(media_may_fail(ssd));
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        ssd_wake(ssd, WORK_META, i);
        ssd_wake(ssd, WORK_GC, i);
    }
    ssd_wake(ssd, WORK_BUFFER, 0);
    return true;
}

void failure_give_up(Ssd *ssd)
{
    if (stands_still(ssd)) {
        give_up(ssd);
    }
}
