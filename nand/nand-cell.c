/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-cell.c - how long the array works on a command, and the scripted faults
 * that show then.
 */
#include "nand-internal.h"

/* Row of the timing tables: by page type, and a last one for SLC mode. */
static uint32_t page_type(const Nand *n, uint32_t block, NandPpa ppa)
{
    uint32_t page = (uint32_t)(ppa.page - nand_block_page(&n->geo, block));

    invariant(block < n->geo.n_blocks);
    if (nand_block_is_slc(&n->geo, block)) {
        return NAND_SLC_MODE;
    }
    return n->timing.n_page_types == 1 ? 0 : page % n->timing.n_page_types;
}

uint32_t nand_lower_pages(const Nand *n, uint32_t block, NandPpa ppa)
{
    uint32_t type = page_type(n, block, ppa);

    invariant(block < n->geo.n_blocks);
    return type == NAND_SLC_MODE || n->cfg.one_shot ? 0 : type;
}

/* What a program takes with media.paired_pages=backup: before, the page below
 * it is copied inside the array to a block in SLC mode. */
static uint64_t backup_ps(const Nand *n, const NandOp *op)
{
    uint32_t lower = n->cfg.paired_pages == NAND_PAIRED_BACKUP
                         ? nand_lower_pages(n, op->block, op->ppa)
                         : 0;

    return lower == 0 ? 0
                      : n->timing.read_ps[lower - 1] +
                            n->timing.program_ps[NAND_SLC_MODE];
}

static uint64_t cell_ps(const Nand *n, const NandOp *op)
{
    const NandTiming *t = &n->timing;

    switch (op->kind) {
    case NAND_READ:
        return t->read_ps[page_type(n, op->block, op->ppa)];
    case NAND_PROGRAM:
        return t->program_ps[page_type(n, op->block, op->ppa)];
    case NAND_COPYBACK:
        return op->second
                   ? t->program_ps[page_type(n, op->block, op->ppa)]
                   : t->read_ps[page_type(
                         n, nand_page_block(&n->geo, op->from.page), op->from)];
    default:
        return nand_block_is_slc(&n->geo, op->block) ? t->slc_erase_ps
                                                     : t->erase_ps;
    }
}

/* Is it about to program?  A copyback does so in its second half. */
static bool programs(const NandOp *op)
{
    return op->kind == NAND_PROGRAM ||
           (op->kind == NAND_COPYBACK && op->second);
}

static uint64_t worn_ps(const Nand *n, const NandOp *op, uint64_t ps)
{
    if (!programs(op) && op->kind != NAND_ERASE) {
        return ps;
    }
    return nand_worn_ps(&n->cfg, programs(op), ps,
                        nand_wear_cycles(n, op->block) +
                            (uint64_t)n->cfg.start_cycles,
                        nand_rated_cycles(n, op->block));
}

FaultPlace nand_place(const Nand *n, const NandOp *op)
{
    uint32_t block = nand_page_block(&n->geo, op->ppa.page);
    uint32_t plane = nand_block_plane(&n->geo, block);

    return (FaultPlace){
        .kind = op->kind,
        .cause = op->cause,
        .channel = plane / n->planes_per_channel,
        .die = nand_plane_die(&n->geo, plane),
        .plane = plane % n->geo.planes_per_die,
        .block = nand_block_in_plane(&n->geo, block),
        .page = nand_page_in_block(&n->geo, op->ppa.page),
    };
}

/* Scripted faults that show when the array takes the operation up. */
static uint64_t faulty_cell_ps(Nand *n, const NandOp *op, uint64_t ps,
                               uint64_t now_ps)
{
    FaultPlace place = nand_place(n, op);

    invariant(n->faults && n->cut);
    if (op->cut) {
        n->cut(n->opaque);
    }
    if (op->stretch_milli) {
        ps = fault_stretch(ps, op->stretch_milli);
    }
    return faults_stretch(n->faults, &place, now_ps, ps);
}

void nand_decree_faults(Nand *n, NandOp *op, uint64_t now_ps)
{
    FaultPlace place = nand_place(n, op);
    FaultEffect e = {.cut = op->cut, .stretch_milli = op->stretch_milli};

    invariant(n->faults);
    faults_op(n->faults, &place, now_ps, &e);
    op->cut = e.cut;
    op->stretch_milli = e.stretch_milli;
    op->fail = op->fail || (e.fail && op->kind != NAND_READ);
    if (e.uncorrectable && op->kind == NAND_READ) {
        op->bad_parts = op->parts ? op->parts : UINT64_MAX;
    }
}

/* A page in the register needs no array; one that is read again does. */
static uint64_t register_ps(Nand *n, NandOp *op, uint64_t ps)
{
    uint64_t *page = &n->in_register[op->plane];

    if (op->kind != NAND_READ) {
        *page = 0;
        return ps;
    }
    op->in_register = op->retries == 0 && *page == op->ppa.page + 1;
    *page = op->ppa.page + 1;
    return op->in_register ? 0 : ps;
}

void nand_lose_registers(Nand *n, uint32_t leader)
{
    for (uint32_t i = leader; n->in_register && i != NONE;
         i = n->op[i].next_joined) {
        n->in_register[n->op[i].plane] = 0;
    }
}

void nand_cell_start(Nand *n, uint32_t leader, uint64_t extra_ps,
                     uint64_t now_ps)
{
    NandOp *op = &n->op[leader];
    uint64_t ps = 0;

    for (uint32_t i = leader; i != NONE; i = n->op[i].next_joined) {
        uint64_t own_ps = cell_ps(n, &n->op[i]);

        if (G_UNLIKELY(n->timing.wears)) {
            own_ps = worn_ps(n, &n->op[i], own_ps);
        }
        if (G_UNLIKELY(n->cfg.paired_pages) && programs(&n->op[i])) {
            own_ps += backup_ps(n, &n->op[i]);
        }
        if (n->in_register) {
            own_ps = register_ps(n, &n->op[i], own_ps);
        }
        if (n->op[i].retries) {
            own_ps += n->cfg.t_retry_ps;
        }
        if (n->faults) {
            own_ps = faulty_cell_ps(n, &n->op[i], own_ps, now_ps);
        }
        ps = MAX(ps, own_ps);
    }
    nand_enter_group(n, leader, PHASE_CELL, now_ps);
    op->cell_start_ps = now_ps;
    op->cell_end_ps = now_ps + ps + extra_ps;
    eventq_push(n->q, op->cell_end_ps, NAND_EVENT_CELL_DONE, leader);
}
