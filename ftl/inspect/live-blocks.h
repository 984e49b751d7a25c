/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live-blocks.h - the superblocks of a drive as cells of a map. */
#ifndef VSSD_FTL_INSPECT_LIVE_BLOCKS_H
#define VSSD_FTL_INSPECT_LIVE_BLOCKS_H

#include <stdint.h>

#include "ssd.h"

typedef struct LiveCells LiveCells;

/* The states of a cell, in the order of live_cell_names. */
typedef enum LiveCellState {
    LIVE_CELL_FREE,
    LIVE_CELL_OPEN,
    LIVE_CELL_FULL,
    LIVE_CELL_VICTIM,
    LIVE_CELL_BAD,
    N_LIVE_CELL_STATES,
} LiveCellState;

/* Where the values of a cell go, by cell. */
typedef struct LiveCellRows {
    uint8_t *state; /* LiveCellState: the most frequent one */
    uint8_t *valid; /* share of valid units, 0..255 */
    uint32_t *age;  /* pages of the host in its plane since data in it last
                       changed; these two are means of its blocks */
    uint32_t *erases;
} LiveCellRows;

LiveCells *live_cells_new(const Ssd *ssd);
void live_cells_free(LiveCells *c);

uint32_t live_n_superblocks(const Ssd *ssd);
uint32_t live_cell_superblocks(const LiveCells *c); /* of a cell */
uint32_t live_n_cells(const LiveCells *c);

/* Pictures until each cell has been looked at. */
uint32_t live_cell_rounds(const LiveCells *c);

/* Look at the next cells: a bounded number of blocks; or at all. */
void live_cells_next(LiveCells *c, const LiveCellRows *rows);
void live_cells_all(LiveCells *c, const LiveCellRows *rows);

#endif
