/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * age.c - writes without modelled time, for a drive that starts used.
 *
 * Units go to pages that the allocation policy chooses, and GC runs as
 * ever (gc.c, the victim policy), but no time passes: operations of GC
 * end as soon as they are submitted, one after another.  The buffer, the links
 * and the controller are left out: each call writes its units in the order in
 * which they are given, a page's worth at a time.
 *
 * Nothing fails meanwhile: scripted faults and the error model wait for the
 * first command.
 */
#include "host/ahead.h"
#include "journal/counters.h"
#include "journal/saved.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "media/aged-ops.h"
#include "media/media.h"
#include "media/spare.h"
#include "placement/placement.h"
#include "placement/streams.h"
#include "ssd-internal.h"
#include "ssd-save.h"
#include "thermal/thermal.h"
#include "wake.h"

#include <errno.h>

#define PREFETCH_AHEAD 8

static void end_op(Ssd *ssd, const NandOp *op)
{
    age_op(ssd, op);
    if (op->cause == NAND_CAUSE_META) {
        if (op->kind == NAND_ERASE) {
            saved_erase_done(ssd, op);
        } else {
            saved_program_done(ssd, op);
        }
        return;
    }
    switch (op->kind) {
    case NAND_READ:
        ssd->copies->read_done(ssd, op);
        break;
    case NAND_ERASE:
        ssd->copies->erase_done(ssd, page_block(ssd, op->ppa.page));
        break;
    default:
        ssd->copies->page_done(ssd, op->cookie);
    }
}

static void end_ops(Ssd *ssd)
{
    Age *a = ssd->age;

    ssd_settle(ssd);
    while (a->n > 0) {
        NandOp op = a->op[a->first];

        a->first = (a->first + 1) & (a->capacity - 1);
        a->n--;
        end_op(ssd, &op);
        ssd_settle(ssd);
    }
    invariant(ssd->work.any == 0);
}

static void put_unit(Ssd *ssd, uint64_t lpn, uint64_t ppu, uint32_t stream)
{
    uint64_t old = l2p_get(&ssd->l2p, lpn);

    spare_write(ssd, ppu, lpn, ++ssd->buffer->last_version, stream);
    if (old) {
        block_clear_valid(ssd, old - 1);
    } else {
        ssd->l2p.mapped_units++;
    }
    l2p_set(&ssd->l2p, lpn, ppu + 1);
    l2p_note_used(&ssd->l2p, lpn);
    block_set_valid(ssd, ppu);
}

/* Program one page (the pages of one program) with up to n units; how many. */
static uint32_t put_page(Ssd *ssd, uint32_t plane, uint32_t stream,
                         const uint64_t *lpn, uint64_t n)
{
    NandOp op = {
        .kind = NAND_PROGRAM,
        .cause = NAND_CAUSE_HOST,
        .ppa = {block_take_page(ssd, plane, OPEN_HOST, stream)},
    };
    uint64_t first = page_ppu(ssd, op.ppa.page);
    uint32_t most = block_program_units(ssd, op.ppa.page);
    uint32_t used = (uint32_t)MIN(n, most);

    for (uint32_t i = 0; i < used; i++) {
        put_unit(ssd, lpn[i], first + i, stream);
    }
    spare_blank(ssd, first + used, most - used);
    age_op(ssd, &op);
    stream_programmed(ssd, stream, used, most - used);
    block_page_done(ssd, page_block(ssd, op.ppa.page));
    plane_charge_host(ssd, plane);
    plane_update(ssd, plane);
    return used;
}

/*
 * The same under a log-block map, which gives the place of the page. 0: work
 * that has to end first is in flight.
 */
static uint32_t put_logged(Ssd *ssd, const uint64_t *lpn, uint64_t n)
{
    const OwnBlocks *own = ssd->map->policy->own_blocks;
    g_autofree uint64_t *ppu = g_new(uint64_t, ssd->l.units_per_program);
    uint32_t most = ssd->l.units_per_program;
    uint32_t used;
    uint64_t first;
    NandOp op = {
        .kind = NAND_PROGRAM,
        .cause = NAND_CAUSE_HOST,
        .ppa = {own->age_page(ssd, lpn, n, ppu, &used)},
    };

    if (op.ppa.page == NO_PAGE) {
        return 0;
    }
    first = page_ppu(ssd, op.ppa.page);
    spare_blank(ssd, first, most);
    for (uint32_t i = 0; i < used; i++) {
        put_unit(ssd, lpn[i], ppu[i], 0);
    }
    age_op(ssd, &op);
    stream_programmed(ssd, 0, used, most - used);
    block_page_done(ssd, page_block(ssd, op.ppa.page));
    own->age_done(ssd, lpn[0]);
    return used;
}

/* The pages of the map are in NAND, too. */
static void put_map(Ssd *ssd, const uint64_t *lpn, uint32_t n)
{
    for (uint32_t i = 0; ssd->map->policy->aged && i < n; i++) {
        ssd->map->policy->aged(ssd, lpn[i], true);
    }
}

static bool in_buffer(const Ssd *ssd, const uint64_t *lpn, uint64_t n)
{
    for (uint64_t i = 0; i < n && ssd->buffer->n_free_slots != ssd->l.n_slots;
         i++) {
        if (map_is_buffered(l2p_get(&ssd->l2p, lpn[i]))) {
            return true;
        }
    }
    return false;
}

static bool ready(Ssd *ssd)
{
    if (!ssd_at_rest(ssd)) {
        return false;
    }
    if (!ssd->age) {
        ssd->age = g_new0(Age, 1);
        ssd->age->capacity = 4096;
        while (ssd->age->capacity < ssd->geo->n_blocks / 8 ||
               ssd->age->capacity < 8 * ssd->l.n_planes) {
            ssd->age->capacity *= 2;
        }
        ssd->age->op = g_new(NandOp, ssd->age->capacity);
    }
    return true;
}

static void fetch(const Ssd *ssd, const uint64_t *lpn, uint64_t n)
{
    /* Two looks, as ssd_hint(): the entry, and later its target. */
    if (n > PREFETCH_AHEAD) {
        numtable_prefetch(&ssd->l2p.entry, lpn[PREFETCH_AHEAD]);
    }
    if (n > PREFETCH_AHEAD / 2 && lpn[PREFETCH_AHEAD / 2] < ssd->l.user_units) {
        uint64_t entry = l2p_get(&ssd->l2p, lpn[PREFETCH_AHEAD / 2]);

        if (entry) {
            __builtin_prefetch(&ssd->media->valid[(entry - 1) / 64], 1);
            __builtin_prefetch(block_at(ssd, ppu_block(ssd, entry - 1)), 1);
        }
    }
}

static bool in_range(const Ssd *ssd, const uint64_t *lpn, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if (lpn[i] >= ssd->l.user_units) {
            return false;
        }
    }
    return true;
}

int ssd_age(Ssd *ssd, const uint64_t *lpn, uint64_t n)
{
    const OwnBlocks *own = ssd->map->policy->own_blocks;
    int ret = 0;

    if (!ssd->powered || ssd->inspect.log || !in_range(ssd, lpn, n)) {
        return !ssd->powered ? -ENODEV : -EINVAL;
    }
    if (in_buffer(ssd, lpn, n) || !ready(ssd)) {
        return -EBUSY;
    }
    ssd->inspect.counters.host_units_written += n;
    ssd->inspect.counters.host_bytes_written += n << ssd->unit_shift;
    stream_wrote(ssd, 0, n << ssd->block_shift);
    ssd->age->on = true;
    ahead_forget(ssd);
    for (uint64_t i = 0; i < n && own;) {
        uint32_t used = put_logged(ssd, lpn + i, n - i);

        invariant(used > 0 || ssd->age->n > 0);
        end_ops(ssd);
        i += used;
    }
    for (uint64_t i = 0; i < n && !own;) {
        uint32_t stream;
        uint32_t plane = media_is_read_only(ssd)
                             ? NONE
                             : alloc_pick_aged(ssd, lpn[i], &stream);
        uint32_t used;

        if (plane == NONE) {
            ret = -EROFS;
            break;
        }
        used = put_page(ssd, plane, stream, lpn + i, n - i);
        put_map(ssd, lpn + i, used);
        ssd_wake(ssd, WORK_GC, plane);
        end_ops(ssd);
        for (uint32_t k = 0; k < used; k++, i++) {
            fetch(ssd, lpn + i, n - i);
        }
    }
    invariant(ssd->age->n == 0);
    ssd->age->on = false;
    thermal_aged(ssd);
    ssd->placement->alloc_waits_for = NONE;
    counters_save(ssd);
    return ret;
}
