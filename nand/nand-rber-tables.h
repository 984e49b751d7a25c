/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-rber-tables.h - the formulas of nand-rber.h and nand-variation.h with
 * their repeated parts computed once.
 *
 * Each answer is that of the formula, to the last bit.  The tables hold nothing
 * but what follows from the options and the drive's key; they are not saved.
 */
#ifndef VSSD_NAND_RBER_TABLES_H
#define VSSD_NAND_RBER_TABLES_H

#include "nand.h"

typedef struct RberTables RberTables;

/* cells: the drive's key of media_page_factor().  cfg and geo must outlive the
 * tables; free with rber_tables_free(). */
RberTables *rber_tables_new(const NandConfig *cfg, const NandGeometry *geo,
                            uint64_t cells);
void rber_tables_free(RberTables *t);

/* media_rber(). */
double rber_tables_rber(RberTables *t, double cycles, double age, double reads);

/* media_page_factor(). */
double rber_tables_factor(RberTables *t, uint32_t block, uint32_t page);

/* Is the probability that a codeword cannot be corrected at this raw bit error
 * rate (0..1) at most `limit`?  false: the tables do not show it. */
bool rber_tables_below(const RberTables *t, double rber, double limit);

#endif
