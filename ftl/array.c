/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * array.c - the array as a component: made from the options, and the end of
 * each operation is handed to the component that it belongs to.
 */
#include "check.h"
#include "component.h"
#include "controller/controller.h"
#include "buffer/flush.h"
#include "buffer/reads.h"
#include "commands.h"
#include "gc/gc-policy.h"
#include "gc/gc.h"
#include "gc/purge.h"
#include "host/ahead.h"
#include "host/host.h"
#include "journal/journal.h"
#include "journal/saved.h"
#include "media/jobs.h"
#include "media/lost-die.h"
#include "media/media.h"
#include "media/parity.h"
#include "media/parity-pump.h"
#include "media/programmed.h"
#include "media/rebuild.h"
#include "power/power.h"
#include "wake.h"

/* ---- ends of operations -------------------------------------------------- */

static void host_op_read(Ssd *ssd, const NandOp *op)
{
    if (op->cookie & COOKIE_SLOT) {
        buffer_loaded(ssd, op->cookie & ~COOKIE_SLOT, op);
    } else if (op->cookie & AHEAD_COOKIE) {
        ahead_read_done(ssd, op);
    } else {
        cmd_read_done(ssd, op->cookie, op);
    }
}

/* Data has been read, or rebuilt. */
static inline void data_read(Ssd *ssd, const NandOp *op)
{
    if (op->cause == NAND_CAUSE_META) {
        recovery_read_done(ssd, op);
    } else if (cause_is_copy(op->cause)) {
        if (!copy_waits(ssd, op)) {
            ssd->copies->read_done(ssd, op);
        }
    } else if (op->cause != NAND_CAUSE_HOST) {
        dram_share(ssd, op->bytes);
        meta_read_done(ssd, op);
    } else {
        host_op_read(ssd, op);
    }
}

/* With superblock.parity. */
static void stripe_read(Ssd *ssd, const NandOp *op)
{
    NandOp own = *op;

    if (rebuild_is_read(ssd, op)) {
        if (rebuild_read_done(ssd, &own)) {
            data_read(ssd, &own);
        }
    } else if (op->status != NAND_UNCORRECTABLE || !rebuild_takes(op) ||
               !rebuild_begin(ssd, &own)) {
        data_read(ssd, &own);
    }
}

static void read_done(Ssd *ssd, const NandOp *op)
{
    ssd->inspect.count.register_hits += op->in_register;
    if (ssd->gc->history) {
        refresh_read(ssd, op);
    }
    if (ssd->l.parity_dies) {
        stripe_read(ssd, op);
    } else {
        data_read(ssd, op);
    }
    if (ssd->cfg->gc_preempt && nand_for_host(op)) {
        gc_resume(ssd, op->ppa.page);
    }
}

static void op_done(void *opaque, const NandOp *op, uint64_t now_ps)
{
    Ssd *ssd = opaque;
    uint32_t block = page_block(ssd, op->ppa.page);

    live_note_op(ssd->inspect.slow, op, now_ps);
    switch (op->kind) {
    case NAND_READ:
        read_done(ssd, op);
        break;
    case NAND_PROGRAM:
    case NAND_COPYBACK:
        programmed_count(ssd, op);
        if (op->kind == NAND_COPYBACK) {
            copy_inside(ssd);
        }
        if (media_may_fail(ssd) && op->status == NAND_OK) {
            lost_die_note(ssd, block_plane(ssd, block), false);
        }
        if (op->cause == NAND_CAUSE_META) {
            saved_program_done(ssd, op);
        } else if (op->status == NAND_FAILED) {
            failure_program_done(ssd, op->cookie);
        } else if (job_at(ssd, op->cookie)->parity) {
            parity_done(ssd, op->cookie);
        } else if (job_at(ssd, op->cookie)->gc) {
            ssd->copies->page_done(ssd, op->cookie);
        } else if (job_at(ssd, op->cookie)->meta) {
            meta_page_done(ssd, op->cookie);
        } else {
            close_page_done(ssd, op->cookie);
            write_page_done(ssd, op->cookie);
        }
        break;
    case NAND_ERASE:
        if (op->cause == NAND_CAUSE_META) {
            saved_erase_done(ssd, op);
        } else if (op->status == NAND_FAILED) {
            purge_erased(ssd, block, false);
            failure_erase_done(ssd, block);
        } else {
            purge_erased(ssd, block, true);
            ssd->copies->erase_done(ssd, block);
        }
        ssd_wake(ssd, WORK_BUFFER, 0);
        break;
    default:
        g_assert_not_reached();
    }
}

static void op_data_in(void *opaque, const NandOp *op, uint64_t now_ps)
{
    Ssd *ssd = opaque;

    if (op->cause != NAND_CAUSE_META && !job_at(ssd, op->cookie)->gc &&
        !job_at(ssd, op->cookie)->parity && !job_at(ssd, op->cookie)->meta) {
        write_page_data_in(ssd, op->cookie);
    }
}

/* ---- life ---------------------------------------------------------------- */

static unsigned log2_of(uint64_t power_of_two)
{
    invariant(power_of_two > 0 && (power_of_two & (power_of_two - 1)) == 0);
    return (unsigned)__builtin_ctzll(power_of_two);
}

static void init_shifts(Ssd *ssd)
{
    ssd->unit_shift = log2_of(ssd->cfg->unit_bytes);
    ssd->block_shift = log2_of(ssd->cfg->unit_bytes / ssd->cfg->block_bytes);
    ssd->page_units_shift = log2_of(ssd->l.units_per_page);
    ssd->first_unit_parts =
        UINT64_MAX >>
        (NAND_PAGE_PARTS - MAX(NAND_PAGE_PARTS >> ssd->page_units_shift, 1));
    invariant(ssd->first_unit_parts != 0);
}

/* GC of another plane may have waited for the channel. */
static void channel_released(void *opaque, uint32_t channel)
{
    Ssd *ssd = opaque;
    uint32_t n = ssd->l.n_planes / ssd->geo->n_channels;

    for (uint32_t i = channel * n; i < (channel + 1) * n; i++) {
        ssd_wake(ssd, WORK_GC, i);
    }
}

/* ftl.gc_urgent: reads may suspend as long as no write is urgent. */
static bool may_suspend(void *opaque, uint64_t now_ps)
{
    return !host_writes_urgent(opaque, now_ps);
}

static bool create(Ssd *ssd, GError **error)
{
    SsdConfig *cfg = ssd->cfg;

    (void)error;
    cfg->nand.seed = cfg->seed;
    ssd->nand = nand_create(&cfg->nand, &ssd->events, op_done, ssd);
    nand_set_protected(ssd->nand, cfg->plp);
    if (cfg->complete_at == SSD_COMPLETE_AT_DATA_IN ||
        cfg->free_at == SSD_FREE_AT_DATA_IN) {
        nand_on_data_in(ssd->nand, op_data_in);
    }
    if (cfg->t_urgent_ps > 0) {
        nand_on_suspend(ssd->nand, may_suspend);
    }
    if (cfg->nand.gc_hold) {
        nand_on_released(ssd->nand, channel_released);
    }
    if (ssd->l.slc_dynamic_blocks > 0) {
        nand_allow_slc(ssd->nand);
    }
    ssd->geo = nand_geometry(ssd->nand);
    invariant(ssd->geo->n_planes == ssd->l.n_planes);
    init_shifts(ssd);
    work_init(&ssd->work, ssd->l.n_planes, ssd->geo->n_blocks);
    return true;
}

static void destroy(Ssd *ssd)
{
    work_destroy(&ssd->work);
    nand_destroy(ssd->nand); /* and the geometry */
}

static bool state(Ssd *ssd, State *s)
{
    return nand_state(ssd->nand, s);
}

static bool check(const Ssd *ssd, bool at_rest, GError **error)
{
    for (size_t i = 0; i < eventq_count(&ssd->events); i++) {
        const Event *e = eventq_get(&ssd->events, i);

        CHECK(event_kind(e) != NAND_EVENT_RETRY ||
                  event_index(e) < nand_units(ssd->nand),
              "an event");
    }
    return (!at_rest || nand_rest_check(ssd->nand, error)) &&
           nand_check(ssd->nand, error);
}

static void options_changed(Ssd *ssd, const SsdConfig *before)
{
    (void)before;
    nand_set_options(ssd->nand, &ssd->cfg->nand, ssd->now_ps);
}

const Component array_component = {
    .create = create,
    .destroy = destroy,
    .options_changed = options_changed,
    .rows = nand_state_struct,
    .state = state,
    .check = check,
};
