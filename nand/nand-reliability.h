/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-reliability.h - raw bit errors, ECC, read retry, failures of programs
 * and erases, bad blocks.
 *
 * The array's own state and draws, each purpose from a stream of its own; the
 * formulas are in nand-rber.h.
 */
#ifndef VSSD_NAND_RELIABILITY_H
#define VSSD_NAND_RELIABILITY_H

#include "nand-rber.h"

/* Values of media.paired_pages. */
typedef enum NandPaired {
    NAND_PAIRED_OFF,
    NAND_PAIRED_ON,
    NAND_PAIRED_BACKUP,
} NandPaired;

bool nand_media_check(const NandConfig *cfg, GError **error);

/* ---- state, private to nand/ --------------------------------------------- */

typedef struct NandMedia NandMedia;

/* NULL if nothing of it is switched on.  Both must outlive it. */
NandMedia *media_new(const NandConfig *cfg, const NandGeometry *geo);
void media_free(NandMedia *m);

/* Changes of state: the first page of a block is programmed (data_age_hours
 * ago), a page of it is copied to another block inside the array, it is erased,
 * the drive has been off. */
void media_programmed(NandMedia *m, uint32_t block, uint64_t now_ps,
                      double data_age_hours);
void media_copied(NandMedia *m, uint32_t from_block, uint32_t to_block);
void media_erased(NandMedia *m, uint32_t block);
void media_power_off(NandMedia *m);

/* The caller's clock is set back; time goes on. */
void media_rebase(NandMedia *m, uint64_t by_ps);

/* Wear of a block: see nand_wear_cycles() and nand_rated_cycles(). */
typedef struct MediaWear {
    uint32_t erases;
    uint64_t cycles;
    uint32_t rated;
} MediaWear;

/*
 * The data of a read has left the array, whose block is worn so far.  true: it
 * must be read again, and op->retries counts that; else op->bad_parts is final:
 * data lost by a scripted fault, and codewords that ECC cannot correct.
 */
bool media_read_again(NandMedia *m, NandOp *op, const MediaWear *wear,
                      uint64_t now_ps);

/* A program or erase ends: does it fail? */
bool media_op_fails(NandMedia *m, const NandOp *op, const MediaWear *wear);

bool media_factory_bad(const NandMedia *m, uint32_t block);
/* As nand_state() and nand_state_struct(). */
bool media_state(NandMedia *m, State *s);
const StateStruct *media_state_struct(void);

/* A torn program has destroyed the page; so it is of the copy that a copyback
 * makes; until the block is erased. */
void media_lose_page(NandMedia *m, NandPpa ppa);
void media_page_copied(NandMedia *m, NandPpa from, NandPpa to);
bool media_page_lost(const NandMedia *m, NandPpa ppa);
void media_each_lost_page(const NandMedia *m,
                          void (*lost)(void *opaque, NandPpa ppa),
                          void *opaque);

/* Is each recorded level at most media.retry_limit? */
bool media_levels_sound(const NandMedia *m);

void media_age_reads(NandMedia *m, uint32_t block, uint32_t n);
uint32_t media_read_count(const NandMedia *m, uint32_t block);
double media_data_hours(const NandMedia *m, uint32_t block, uint64_t now_ps);

#endif
