/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * faulty.c - scripted faults where they meet logical blocks and the power.
 *
 * Knows which blocks of the host an operation of the array carries (by its
 * spare areas), and so the blocks of a rule with lba=.  All other rules are
 * matched inside the array.
 */
#include "controller/controller.h"
#include "media/aged-ops.h"
#include "media/faulty.h"
#include "media/media.h"
#include "media/spare.h"
#include "ssd-internal.h"

static uint32_t part_bytes(const Ssd *ssd)
{
    return ssd->geo->page_bytes / NAND_PAGE_PARTS;
}

/* Parts that hold bytes from..to - 1 of a page. */
static uint64_t parts_between(const Ssd *ssd, uint32_t from, uint32_t to)
{
    uint32_t first = from / part_bytes(ssd);
    uint32_t n = (to - 1) / part_bytes(ssd) - first + 1;

    invariant(from < to && to <= ssd->geo->page_bytes);
    return (n == NAND_PAGE_PARTS ? UINT64_MAX : (1ULL << n) - 1) << first;
}

static uint32_t byte_of_unit(const Ssd *ssd, uint64_t ppu)
{
    return (uint32_t)(ppu & (ssd->l.units_per_page - 1)) << ssd->unit_shift;
}

uint64_t unit_first_lba(const Ssd *ssd, uint64_t ppu, uint64_t parts)
{
    uint64_t lba = (uint64_t)spare_lpn(ssd, ppu) << ssd->block_shift;
    uint32_t from = byte_of_unit(ssd, ppu);
    uint32_t byte = (uint32_t)__builtin_ctzll(parts & unit_parts(ssd, ppu)) *
                    part_bytes(ssd);

    invariant(parts & unit_parts(ssd, ppu));
    invariant(ppu < ssd->l.raw_units);
    return byte > from ? lba + (byte - from) / ssd->info.block_bytes : lba;
}

uint64_t unit_lba_parts(const Ssd *ssd, uint64_t ppu, uint64_t first,
                        uint64_t last)
{
    uint64_t lba = (uint64_t)spare_lpn(ssd, ppu) << ssd->block_shift;
    uint64_t end = lba + (1ULL << ssd->block_shift) - 1;
    uint32_t from = byte_of_unit(ssd, ppu);

    invariant(ppu < ssd->l.raw_units);
    if (numtable_get(&ssd->media->spare_lpn, ppu) == SPARE_NONE ||
        end < first || lba > last) {
        return 0;
    }
    first = MAX(first, lba) - lba;
    last = MIN(last, end) - lba;
    return parts_between(ssd, from + (uint32_t)first * ssd->info.block_bytes,
                         from + (uint32_t)(last + 1) * ssd->info.block_bytes);
}

/* The operation's part of the blocks: parts, or for programs just not 0. */
static uint64_t carried(const Ssd *ssd, const NandOp *op, uint64_t first,
                        uint64_t last)
{
    uint32_t n = op->kind == NAND_PROGRAM
                     ? block_program_units(ssd, op->ppa.page)
                     : ssd->l.units_per_page;
    uint64_t ppu = op->ppa.page << ssd->page_units_shift;
    uint64_t parts = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (op->kind != NAND_READ || op->parts & unit_parts(ssd, ppu + i)) {
            parts |= unit_lba_parts(ssd, ppu + i, first, last);
        }
    }
    return parts;
}

static void apply_lba_rules(Ssd *ssd, NandOp *op)
{
    FaultPlace place = nand_place(ssd->nand, op);

    for (unsigned i = 0; i < faults_lba_rules(ssd->media->faults); i++) {
        FaultEffect e = {.stretch_milli = op->stretch_milli};
        uint64_t first;
        uint64_t last;
        uint64_t parts;

        if (!faults_lba_range(ssd->media->faults, i, &place, ssd->now_ps,
                              &first, &last)) {
            continue;
        }
        parts = carried(ssd, op, first, last);
        if (parts == 0) {
            continue;
        }
        faults_lba_match(ssd->media->faults, i, ssd->now_ps, &e);
        op->fail = op->fail || e.fail;
        op->cut = op->cut || e.cut;
        op->stretch_milli = e.stretch_milli;
        op->bad_parts |= e.uncorrectable ? parts : 0;
    }
}

void faulty_submit(Ssd *ssd, NandOp *op)
{
    if (age_takes(ssd, op)) {
        return;
    }
    if (ssd->media->faults && faults_lba_rules(ssd->media->faults) > 0) {
        apply_lba_rules(ssd, op);
    }
    if (op->kind == NAND_PROGRAM && ssd->cfg->dram_shared) {
        /* Its data leaves DRAM while it crosses the bus: nobody waits. */
        dram_share(ssd, (uint64_t)op->bytes *
                            nand_block_program(ssd->geo,
                                               page_block(ssd, op->ppa.page)));
    }
    nand_submit(ssd->nand, op, ssd->now_ps);
}

bool faulty_cmd(Ssd *ssd)
{
    return ssd->media->faults && faults_cmd(ssd->media->faults, ssd->now_ps);
}

void faulty_cut(void *opaque)
{
    Ssd *ssd = opaque;

    invariant(ssd->media->faults);
    ssd->media->cut_due = true;
}

static bool is_no_fault(void *opaque, const Event *e)
{
    (void)opaque;
    return event_kind(e) != SSD_EVENT_FAULT;
}

void faulty_rearm(Ssd *ssd)
{
    eventq_filter(&ssd->events, is_no_fault, NULL);
    if (ssd->powered) {
        faulty_arm(ssd);
    }
}

void faulty_arm(Ssd *ssd)
{
    uint64_t at_ps = ssd->media->faults
                         ? faults_next_cut_ps(ssd->media->faults, ssd->now_ps)
                         : SIM_NEVER;

    invariant(ssd->powered);
    if (at_ps != SIM_NEVER) {
        eventq_push(&ssd->events, at_ps, SSD_EVENT_FAULT, 0);
    }
}
