/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-state.c - the array's part of a saved drive, as rows (core/state.h).
 *
 * Every member of Nand is listed: a test finds one that is not.  Operations in
 * flight are saved as they are, as a copy of a running drive needs them; a
 * state that comes from a file has none (nand_rest_check()).
 */
#include "nand-internal.h"

enum {
    N_OP,
    N_UNITS,
    N_DIES,
    N_CHANNELS,
    N_PLANES,
    N_BLOCKS,
    N_BLOCK_WORDS,
    N_COUNTS,
};

static const StateRow nand_rows[] = {
    STATE_UNSAVED_ROW(Nand, cfg),
    STATE_UNSAVED_ROW(Nand, geo),
    STATE_UNSAVED_ROW(Nand, timing),
    STATE_UNSAVED_ROW(Nand, sched),
    STATE_UNSAVED_ROW(Nand, planes_per_channel),
    STATE_UNSAVED_ROW(Nand, planes_per_unit),
    STATE_UNSAVED_ROW(Nand, n_units),
    STATE_UNSAVED_ROW(Nand, n_places),
    STATE_UNSAVED_ROW(Nand, q),
    STATE_UNSAVED_ROW(Nand, done),
    STATE_UNSAVED_ROW(Nand, data_in),
    STATE_UNSAVED_ROW(Nand, released),
    STATE_UNSAVED_ROW(Nand, may_suspend),
    STATE_UNSAVED_ROW(Nand, opaque),
    STATE_POOL_ROW(Nand, op, N_OP),
    STATE_NUMBER_ROW(Nand, n_op),
    STATE_LINK_ROW(Nand, free_op, N_OP),
    STATE_VALUE_ROW(Nand, first_order),
    STATE_UNSAVED_ROW(Nand, wait), /* worked out again */
    STATE_UNSAVED_ROW(Nand, unit_queue),
    STATE_UNSAVED_ROW(Nand, wait_block),
    STATE_UNSAVED_ROW(Nand, joinable),
    STATE_UNSAVED_ROW(Nand, in_order),
    STATE_UNSAVED_ROW(Nand, uses_heaps),
    STATE_TABLE_ROW(Nand, unit, N_UNITS),
    STATE_TABLE_ROW(Nand, die, N_DIES),
    STATE_TABLE_ROW(Nand, channel, N_CHANNELS),
    STATE_TABLE_ROW(Nand, hold, N_CHANNELS),
    STATE_TABLE_ROW(Nand, plane_busy_ps, N_PLANES),
    STATE_TABLE_ROW(Nand, in_register, N_PLANES),
    STATE_TABLE_ROW(Nand, block, N_BLOCKS),
    STATE_TABLE_ROW(Nand, slc_mode, N_BLOCK_WORDS),
    STATE_TABLE_ROW(Nand, slc_erases, N_BLOCKS),
    STATE_UNSAVED_ROW(Nand, media),  /* has rows of its own */
    STATE_UNSAVED_ROW(Nand, faults), /* the owner's */
    STATE_UNSAVED_ROW(Nand, cut),
    STATE_UNSAVED_ROW(Nand, ends_programs), /* the owner's */
    STATE_COUNT_ROW(Nand, load, N_OP),
    STATE_VALUE_ROW(Nand, stats),
    STATE_VALUE_ROW(Nand, last_id),
    STATE_UNSAVED_ROW(Nand, watch),
    STATE_UNSAVED_ROW(Nand, watch_opaque),
    STATE_UNSAVED_ROW(Nand, history), /* only for messages */
};

static const StateStruct nand_struct = {
    "Nand", nand_rows, G_N_ELEMENTS(nand_rows), sizeof(Nand),
};

const StateStruct *nand_state_struct(unsigned i)
{
    return i == 0 ? &nand_struct : i == 1 ? media_state_struct() : NULL;
}

bool nand_state(Nand *n, State *s)
{
    uint64_t counts[N_COUNTS];

    if (!state_values(s, &nand_struct, n)) {
        return false;
    }
    counts[N_OP] = n->n_op;
    counts[N_UNITS] = n->n_places;
    counts[N_DIES] = n->geo.n_dies;
    counts[N_CHANNELS] = n->geo.n_channels;
    counts[N_PLANES] = n->geo.n_planes;
    counts[N_BLOCKS] = n->geo.n_blocks;
    counts[N_BLOCK_WORDS] = bitmap_words(n->geo.n_blocks);
    if (!state_tables(s, &nand_struct, n, counts)) {
        return false;
    }
    if (s->loading) {
        nand_queue_rebuild(n);
    }
    return !n->media || media_state(n->media, s);
}

uint64_t nand_oldest_ps(const Nand *n, uint64_t most_ps)
{
    for (uint32_t i = 0; i < n->n_op; i++) {
        if (n->op[i].phase != PHASE_FREE) {
            most_ps = MIN(most_ps, n->op[i].submit_ps);
        }
    }
    return most_ps;
}

/* Those of phases that are over, or still to come, are not read. */
static void set_op_back(NandOp *op, uint64_t by_ps)
{
    op->submit_ps -= by_ps;
    op->mark_ps -= by_ps;
    op->cell_start_ps -= by_ps;
    op->cell_end_ps -= by_ps;
}

void nand_rebase(Nand *n, uint64_t by_ps)
{
    for (uint32_t i = 0; i < n->n_op; i++) {
        if (n->op[i].phase != PHASE_FREE) {
            set_op_back(&n->op[i], by_ps);
        }
    }
    for (uint32_t i = 0; i < n->geo.n_dies; i++) {
        n->die[i].since_ps -= by_ps; /* read while something holds it */
    }
    for (uint32_t i = 0; i < n->geo.n_channels; i++) {
        Channel *ch = &n->channel[i];

        ch->until_ps -= by_ps; /* read while there is an owner */
        ch->ecc_free_ps -= MIN(ch->ecc_free_ps, by_ps);
    }
    if (n->media) {
        media_rebase(n->media, by_ps);
    }
    if (n->history) {
        nand_history_rebase(n->history, by_ps);
    }
}

uint32_t nand_units(const Nand *n)
{
    return n->n_units;
}

/* ---- check --------------------------------------------------------------- */

/* Every operation of the pool is in the list of free ones, once. */
static bool all_free(const Nand *n)
{
    uint32_t i = n->free_op;
    uint32_t k;

    for (k = 0; k < n->n_op && i < n->n_op; k++) {
        if (n->op[i].phase != PHASE_FREE) {
            return false;
        }
        i = n->op[i].next;
    }
    return k == n->n_op && i == NONE;
}

static bool idle(const Nand *n)
{
    for (uint32_t i = 0; i < n->n_places; i++) {
        const Unit *u = &n->unit[i];

        if ((i < n->n_units && n->unit_queue[i].n > 0) || u->array != NONE ||
            u->loading != NONE || u->out != NONE || u->suspended != NONE) {
            return false;
        }
    }
    for (uint32_t i = 0; i < n->geo.n_channels; i++) {
        const Channel *c = &n->channel[i];

        if (c->waiting.head != NONE || c->commands.head != NONE ||
            c->owner != NONE) {
            return false;
        }
    }
    for (uint32_t i = 0; i < n->geo.n_dies; i++) {
        if (n->die[i].load || n->die[i].holders) {
            return false;
        }
    }
    return n->load == 0;
}

bool nand_rest_check(const Nand *n, GError **error)
{
    if (!all_free(n) || !idle(n)) {
        return opt_fail(error, OPT_ERROR_VALUE,
                        "operations of the array are in flight");
    }
    for (uint32_t b = 0; b < n->geo.n_blocks; b++) {
        if (n->block[b].in_array) {
            return opt_fail(error, OPT_ERROR_VALUE, "pages of a block");
        }
    }
    return !n->media || media_levels_sound(n->media) ||
           opt_fail(error, OPT_ERROR_VALUE, "levels of read retry");
}
