/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-rules.c - the rules of the medium, and checks of the array's own tables.
 *
 * Erase before program; pages of a block in order; no second program; only
 * programmed pages are read.  Operations on one block keep their order
 * (nand.c), so the rules can be checked at submission.  A broken rule is the
 * owner's bug.
 */
#include "nand-internal.h"

static uint32_t block_of_page(const Nand *n, NandPpa ppa)
{
    return nand_page_block(&n->geo, ppa.page);
}

static G_GNUC_NORETURN void broken_rule(const Nand *n, const NandOp *op,
                                        const char *rule)
{
    static const char *const kind[] = {"read", "program", "erase", "copyback"};
    uint32_t block = block_of_page(n, op->ppa);
    g_autofree char *history = nand_history_of_block(n->history, &n->geo,
                                                     block);

    g_error("nand: %s of page %u, block %u (next page %u, %u in the array, "
            "erased %u times): %s%s",
            kind[op->kind], nand_page_in_block(&n->geo, op->ppa.page), block,
            n->block[block].next_page, n->block[block].in_array,
            n->block[block].erase_count, rule, history);
}

static void check_read(const Nand *n, const NandOp *op, NandPpa ppa)
{
    const BlockWear *b = &n->block[block_of_page(n, ppa)];

    if (nand_page_in_block(&n->geo, ppa.page) >= b->next_page && !op->strong) {
        broken_rule(n, op, "the page is not programmed");
    }
}

static void take_pages(Nand *n, const NandOp *op, uint32_t pages,
                       uint64_t now_ps)
{
    uint32_t block = block_of_page(n, op->ppa);
    BlockWear *b = &n->block[block];

    if (nand_page_in_block(&n->geo, op->ppa.page) != b->next_page ||
        b->next_page + pages > nand_block_pages(&n->geo, block)) {
        broken_rule(n, op, "pages must be programmed once, in order");
    }
    if (b->next_page == 0 && n->media) {
        media_programmed(n->media, block, now_ps, 0);
    }
    b->next_page += (uint16_t)pages;
    b->in_array++;
    n->stats.slc_programs += nand_block_is_slc(&n->geo, block);
}

void nand_rules_submit(Nand *n, const NandOp *op, uint64_t now_ps)
{
    BlockWear *b;

    if (n->history) {
        nand_history_submit(n->history, op, now_ps);
    }
    invariant(op->ppa.page < n->geo.n_pages);
    invariant(op->kind == NAND_ERASE || op->bytes <= n->geo.page_bytes);
    b = &n->block[op->block];
    switch (op->kind) {
    case NAND_READ:
        check_read(n, op, op->ppa);
        break;
    case NAND_PROGRAM:
        take_pages(n, op, nand_block_program(&n->geo, op->block), now_ps);
        break;
    case NAND_COPYBACK:
        check_read(n, op, op->from);
        if (block_of_page(n, op->from) / n->geo.blocks_per_plane !=
            nand_block_plane(&n->geo, op->block)) {
            broken_rule(n, op, "copyback must stay inside its plane");
        }
        take_pages(n, op, 1, now_ps);
        if (n->media) {
            media_copied(n->media, block_of_page(n, op->from), op->block);
        }
        break;
    case NAND_ERASE:
        if (b->in_array) {
            broken_rule(n, op, "programs of the block have not finished");
        }
        b->next_page = 0;
        break;
    default:
        g_assert_not_reached();
    }
}

void nand_rules_done(Nand *n, const NandOp *op, uint64_t now_ps)
{
    BlockWear *b = &n->block[op->block];

    if (n->history) {
        nand_history_done(n->history, op, now_ps);
    }
    if (op->kind == NAND_PROGRAM || op->kind == NAND_COPYBACK) {
        invariant(b->in_array > 0);
        b->in_array--;
        if (op->kind == NAND_COPYBACK && n->media) {
            media_page_copied(n->media, op->from, op->ppa);
        }
    } else if (op->kind == NAND_ERASE) {
        b->erase_count++; /* programs may be queued behind the erase */
        if (n->geo.has_slc) {
            nand_slc_erased(n, op->block);
        }
        if (op->status == NAND_FAILED) {
            b->next_page = (uint16_t)nand_block_pages(&n->geo, op->block);
        }
        if (n->media) {
            media_erased(n->media, op->block);
        }
    }
}

uint32_t nand_erase_count(const Nand *n, uint32_t block)
{
    invariant(block < n->geo.n_blocks);
    return n->block[block].erase_count;
}

bool nand_factory_bad(const Nand *n, uint32_t block)
{
    invariant(block < n->geo.n_blocks);
    return n->media && media_factory_bad(n->media, block);
}

uint32_t nand_read_count(const Nand *n, uint32_t block)
{
    invariant(block < n->geo.n_blocks);
    return n->media ? media_read_count(n->media, block) : 0;
}

double nand_data_hours(const Nand *n, uint32_t block, uint64_t now_ps)
{
    invariant(block < n->geo.n_blocks);
    return n->media ? media_data_hours(n->media, block, now_ps) : 0;
}

bool nand_page_lost(const Nand *n, NandPpa ppa)
{
    invariant(ppa.page < n->geo.n_pages);
    return n->media && media_page_lost(n->media, ppa);
}

void nand_each_lost_page(const Nand *n, void (*lost)(void *opaque, NandPpa ppa),
                         void *opaque)
{
    if (n->media) {
        media_each_lost_page(n->media, lost, opaque);
    }
}

uint32_t nand_next_page(const Nand *n, uint32_t block)
{
    invariant(block < n->geo.n_blocks);
    return n->block[block].next_page;
}

void nand_preload_pages(Nand *n, NandPpa ppa, uint32_t pages)
{
    BlockWear *b = &n->block[block_of_page(n, ppa)];

    invariant(nand_page_in_block(&n->geo, ppa.page) == b->next_page);
    if (b->next_page == 0 && n->media) {
        media_programmed(n->media, block_of_page(n, ppa), 0,
                         n->cfg.preload_hours);
    }
    invariant(b->in_array == 0);
    b->next_page += pages;
    invariant(b->next_page <= n->geo.pages_per_block);
}

/* ---- aging --------------------------------------------------------------- */

void nand_age(Nand *n, const NandOp *op, uint64_t now_ps)
{
    uint32_t block = block_of_page(n, op->ppa);
    uint32_t pages = 1;

    invariant(op->ppa.page < n->geo.n_pages);
    if (n->in_register) {
        n->in_register[nand_block_plane(&n->geo, block)] = 0;
    }
    switch (op->kind) {
    case NAND_READ:
        check_read(n, op, op->ppa);
        if (n->media) {
            media_age_reads(n->media, block, 1);
        }
        break;
    case NAND_ERASE:
        n->block[block].next_page = 0;
        n->block[block].erase_count++;
        if (n->geo.has_slc) {
            nand_slc_erased(n, block);
        }
        if (n->media) {
            media_erased(n->media, block);
        }
        break;
    case NAND_PROGRAM:
        pages = nand_block_program(&n->geo, block);
        take_pages(n, op, pages, now_ps);
        invariant(n->block[block].in_array > 0);
        n->block[block].in_array--;
        break;
    default:
        take_pages(n, op, pages, now_ps);
        invariant(n->block[block].in_array > 0);
        n->block[block].in_array--;
        if (n->media) {
            media_copied(n->media, block_of_page(n, op->from), block);
            media_page_copied(n->media, op->from, op->ppa);
        }
    }
    n->stats.ops[op->kind][op->cause] += pages;
}

void nand_age_block(Nand *n, uint32_t block, uint32_t erases, uint32_t pages,
                    uint64_t now_ps)
{
    BlockWear *b = &n->block[block];

    invariant(block < n->geo.n_blocks && pages <= n->geo.pages_per_block);
    invariant(b->next_page == 0 && b->in_array == 0 && !n->geo.has_slc);
    b->erase_count += erases;
    b->next_page = (uint16_t)pages;
    if (pages > 0 && n->media) {
        media_programmed(n->media, block, now_ps, 0);
    }
}

/* ---- power --------------------------------------------------------------- */

/* Was the array changing cells of the block for the operation? */
static bool in_cells(const NandOp *op)
{
    return (op->phase == PHASE_CELL || op->phase == PHASE_SUSPENDING ||
            op->phase == PHASE_SUSPENDED ||
            (op->step == STEP_STATUS &&
             (op->phase == PHASE_TURN || op->phase == PHASE_BUS_WAIT ||
              op->phase == PHASE_BUS))) &&
           (op->kind != NAND_COPYBACK || op->second);
}

/* The pages that share the cells with a torn one. */
static void lose_lower(Nand *n, const NandOp *op)
{
    uint32_t lower;

    if (n->cfg.paired_pages != NAND_PAIRED_ON || n->ends_programs) {
        return;
    }
    lower = nand_lower_pages(n, op->block, op->ppa);
    for (uint32_t i = 1; i <= lower; i++) {
        media_lose_page(n->media, (NandPpa){op->ppa.page - i});
    }
    n->stats.lost_pages += lower;
}

/*
 * State of the medium after a power cut stopped an operation.  Erases
 * come after all programs: a program queued behind an erase of its block has
 * not happened, and neither has the erase.
 */
static void cut_op(Nand *n, const NandOp *op)
{
    uint32_t page = nand_page_in_block(&n->geo, op->ppa.page);
    BlockWear *b = &n->block[op->block];

    if (op->kind == NAND_ERASE) {
        b->next_page = (uint16_t)nand_block_pages(&n->geo, op->block);
    } else if (op->kind != NAND_READ) {
        invariant(b->in_array > 0);
        b->in_array--;
        if (in_cells(op)) {
            lose_lower(n, op);
        } else if (page < b->next_page) {
            b->next_page = (uint16_t)page; /* never reached the array */
        }
    }
}

void nand_rules_power_cut(Nand *n)
{
    for (int erases = 0; erases <= 1; erases++) {
        for (uint32_t i = 0; i < n->n_op; i++) {
            if (n->op[i].phase != PHASE_FREE &&
                (n->op[i].kind == NAND_ERASE) == erases) {
                cut_op(n, &n->op[i]);
            }
        }
    }
}

/* ---- checks -------------------------------------------------------------- */

#define fail(error, ...) opt_fail(error, OPT_ERROR_VALUE, __VA_ARGS__)

static bool check_die(const Nand *n, uint32_t d, GError **error)
{
    uint32_t load = 0;
    uint32_t holders = 0;
    uint32_t host_reads = 0;

    for (uint32_t i = 0; i < n->n_op; i++) {
        const NandOp *op = &n->op[i];

        if (op->phase == PHASE_FREE ||
            nand_plane_die(&n->geo, op->plane) != d) {
            continue;
        }
        host_reads += op->kind == NAND_READ && nand_for_host(op);
        load += op->phase != PHASE_ECC;
        holders += op->phase != PHASE_ECC && op->phase != PHASE_DIE_WAIT;
    }
    if (load != n->die[d].load || holders != n->die[d].holders) {
        return fail(error, "die %u: load %u, counted %u; %u hold it, counted "
                    "%u", d, n->die[d].load, load, n->die[d].holders, holders);
    }
    if (host_reads != n->die[d].host_reads) {
        return fail(error, "die %u: %u reads of the host, counted %u", d,
                    n->die[d].host_reads, host_reads);
    }
    return true;
}

/* The array of a unit works on one command at a time; with nand.async_reads on
 * reads of several planes. */
static bool check_unit(const Nand *n, uint32_t unit, GError **error)
{
    uint32_t leader = NONE;

    for (uint32_t i = 0; i < n->n_op; i++) {
        const NandOp *op = &n->op[i];

        if (op->phase != PHASE_CELL || op->unit != unit) {
            continue;
        }
        if (leader != NONE && op->leader != leader &&
            (!n->cfg.async_reads || op->kind != NAND_READ ||
             n->op[leader].kind != NAND_READ ||
             n->op[leader].plane == op->plane)) {
            return fail(error, "unit %u: the array works on operations %u and "
                        "%u at once", unit, leader, op->leader);
        }
        leader = op->leader;
    }
    return true;
}

static bool check_channel(const Nand *n, uint32_t c, GError **error)
{
    uint32_t transfers = 0;

    for (uint32_t i = 0; i < n->n_op; i++) {
        transfers +=
            n->op[i].channel == c &&
            (n->op[i].phase == PHASE_BUS ||
             (n->op[i].phase == PHASE_GAP && n->channel[c].owner == i));
    }
    if (transfers != (n->channel[c].owner != NONE)) {
        return fail(error, "channel %u: %u transfers at once", c, transfers);
    }
    return true;
}

bool nand_check(const Nand *n, GError **error)
{
    for (uint32_t d = 0; d < n->geo.n_dies; d++) {
        if (!check_die(n, d, error)) {
            return false;
        }
    }
    for (uint32_t u = 0; u < n->n_units; u++) {
        if (!check_unit(n, u, error)) {
            return false;
        }
    }
    for (uint32_t c = 0; c < n->geo.n_channels; c++) {
        if (!check_channel(n, c, error)) {
            return false;
        }
    }
    for (uint32_t b = 0; b < n->geo.n_blocks; b++) {
        if (n->block[b].next_page > nand_block_pages(&n->geo, b)) {
            return fail(error, "block %u: next page %u", b,
                        n->block[b].next_page);
        }
    }
    if (!nand_slc_check(n)) {
        return fail(error, "the mode of a block, or its erases in SLC mode");
    }
    return (!n->hold || nand_hold_check(n, error)) &&
           nand_queue_check(n, error);
}
