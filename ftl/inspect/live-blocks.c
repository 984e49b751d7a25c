/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live-blocks.c - the superblocks of a drive as cells of a map: state, valid
 * units, age, erases.
 *
 * With superblock.width, superblock i of a set is the one that has block i of
 * the set's first plane; what has none there is in no cell.  Else each block is
 * one.  A drive has a million blocks, and a picture has 100 us: each picture
 * looks at the next cells only, by turns.
 */
#include "inspect/live-blocks.h"

#include "media/blocks.h"
#include "media/superblock.h"
#include "ssd-internal.h"

#define MOST_CELLS 16384

/* To be looked at in one picture: blocks at least. */
#define BLOCKS_A_PICTURE 4096

struct LiveCells {
    const Ssd *ssd;
    uint32_t n;        /* cells */
    uint32_t per_cell; /* superblocks; the last one may have fewer */
    uint32_t at_once;  /* cells of a picture */
    uint32_t next;
};

/* Sums over the blocks of a cell. */
typedef struct Sums {
    uint32_t n_blocks;
    uint32_t n[N_LIVE_CELL_STATES];
    uint64_t units, valid;
    uint64_t age, erases;
} Sums;

uint32_t live_n_superblocks(const Ssd *ssd)
{
    return superblock_sets(ssd) * ssd->geo->blocks_per_plane;
}

LiveCells *live_cells_new(const Ssd *ssd)
{
    LiveCells *c = g_new0(LiveCells, 1);
    uint32_t all = live_n_superblocks(ssd);

    c->ssd = ssd;
    c->per_cell = (all + MOST_CELLS - 1) / MOST_CELLS;
    c->n = (all + c->per_cell - 1) / c->per_cell;
    c->at_once = BLOCKS_A_PICTURE / (ssd->l.set_planes * c->per_cell);
    c->at_once = MIN(MAX(c->at_once, 1), c->n);
    return c;
}

void live_cells_free(LiveCells *c)
{
    g_free(c);
}

uint32_t live_n_cells(const LiveCells *c)
{
    return c->n;
}

uint32_t live_cell_superblocks(const LiveCells *c)
{
    return c->per_cell;
}

uint32_t live_cell_rounds(const LiveCells *c)
{
    return (c->n + c->at_once - 1) / c->at_once;
}

/* ---- a cell -------------------------------------------------------------- */

static LiveCellState state_of(BlockState state)
{
    static const uint8_t of[N_BLOCK_STATES] = {
        [BLOCK_FREE] = LIVE_CELL_FREE,     [BLOCK_OPEN] = LIVE_CELL_OPEN,
        [BLOCK_CLOSING] = LIVE_CELL_OPEN,  [BLOCK_FULL] = LIVE_CELL_FULL,
        [BLOCK_VICTIM] = LIVE_CELL_VICTIM, [BLOCK_ERASING] = LIVE_CELL_VICTIM,
        [BLOCK_BAD] = LIVE_CELL_BAD,       [BLOCK_SAVED] = LIVE_CELL_FULL,
        [BLOCK_LOST] = LIVE_CELL_FULL,     [BLOCK_MAPPED] = LIVE_CELL_FULL,
    };

    return (LiveCellState)of[state];
}

static void add_block(const Ssd *ssd, uint32_t block, Sums *s)
{
    const Block *b = block_at(ssd, block);
    LiveCellState state = state_of(block_state(ssd, block));
    const Plane *plane = plane_at(ssd, block_plane(ssd, block));

    s->n_blocks++;
    s->n[state]++;
    s->units += ssd->l.units_per_page * nand_block_pages(ssd->geo, block);
    s->valid += b->valid;
    s->age += state == LIVE_CELL_FULL ? plane->clock - b->mtime : 0;
    s->erases += nand_erase_count(ssd->nand, block);
}

static void add_superblock(const Ssd *ssd, uint32_t superblock, Sums *s)
{
    uint32_t set = superblock / ssd->geo->blocks_per_plane;
    uint32_t first =
        superblock_planes(ssd, set)[0] * ssd->geo->blocks_per_plane +
        superblock % ssd->geo->blocks_per_plane;
    uint32_t block = first;

    do {
        add_block(ssd, block, s);
        block = superblock_next(ssd, block);
    } while (block != first);
}

static LiveCellState most_frequent(const Sums *s)
{
    unsigned most = 0;

    for (unsigned i = 1; i < N_LIVE_CELL_STATES; i++) {
        most = s->n[i] > s->n[most] ? i : most;
    }
    return (LiveCellState)most;
}

static void look(const LiveCells *c, uint32_t cell, const LiveCellRows *rows)
{
    uint32_t first = cell * c->per_cell;
    uint32_t end = MIN(first + c->per_cell, live_n_superblocks(c->ssd));
    uint32_t full;
    Sums s = {0};

    for (uint32_t i = first; i < end; i++) {
        add_superblock(c->ssd, i, &s);
    }
    full = MAX(s.n[LIVE_CELL_FULL], 1);
    rows->state[cell] = (uint8_t)most_frequent(&s);
    rows->valid[cell] = (uint8_t)(MIN(s.valid, s.units) * 255 / s.units);
    rows->age[cell] = (uint32_t)MIN(s.age / full, UINT32_MAX);
    rows->erases[cell] = (uint32_t)(s.erases / s.n_blocks);
}

/* ---- the next cells ------------------------------------------------------ */

static void look_at(LiveCells *c, uint32_t n, const LiveCellRows *rows)
{
    for (; n > 0; n--) {
        look(c, c->next, rows);
        c->next = c->next + 1 < c->n ? c->next + 1 : 0;
    }
}

void live_cells_next(LiveCells *c, const LiveCellRows *rows)
{
    look_at(c, c->at_once, rows);
}

void live_cells_all(LiveCells *c, const LiveCellRows *rows)
{
    look_at(c, c->n, rows);
}
