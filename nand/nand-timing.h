/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-timing.h - how long each phase of a NAND operation takes, by itself.
 *
 * Pure functions of the configuration, in picoseconds, each rounded up once;
 * docs/timing-model.md has the formulas.  Cycle counts are those of the ONFI
 * command definitions (ONFI 4.0, section 5): a page is addressed by 2 column and
 * 3 row cycles, a block by 3 row cycles.
 */
#ifndef VSSD_NAND_TIMING_H
#define VSSD_NAND_TIMING_H

#include "nand.h"

#define NAND_MAX_PAGE_TYPES 4
#define NAND_SLC_MODE NAND_MAX_PAGE_TYPES /* row of a block in SLC mode */

/* Busy times of every interface: between the planes of a multi-plane command
 * (tDBSY, tPLxBSY; 500 ns as in MQSim), and when cache and page register swap
 * (tCBSY, tRCBSY, tPCBSY; 1 us is a guess). */
#define NAND_DBSY_PS (500 * PS_PER_NS)
#define NAND_CBSY_PS (1000 * PS_PER_NS)

typedef struct NandTiming {
    /* Bus. */
    uint64_t read_cmd_ps;    /* 00h, 5 address, 30h */
    uint64_t read_out_ps;    /* before data: tRR, and tCCS + 05h-E0h if several
                                planes wait with data */
    uint64_t change_ps;      /* 06h, 5 address, E0h, tCCS: select a plane */
    uint64_t program_cmd_ps; /* 80h, 5 address, tADL, 10h */
    uint64_t erase_cmd_ps;   /* 60h, 3 address, D0h */
    uint64_t status_ps;      /* 70h, tWHR, one transfer; 0: not polled */
    uint64_t burst_ps;       /* preamble and postamble of a data burst */
    uint64_t page_ps;        /* transfer of a whole page, burst included */

    /* Array, tWB included; by page type. */
    uint64_t read_ps[NAND_MAX_PAGE_TYPES + 1];
    uint64_t program_ps[NAND_MAX_PAGE_TYPES + 1];
    uint64_t erase_ps;
    uint64_t slc_erase_ps;
    bool wears; /* program_ps and erase_ps change with wear */

    uint32_t n_page_types;
    uint32_t bus_width_bytes;
    uint32_t page_bytes;
    uint32_t mt_s;
    uint64_t ps_per_byte;
} NandTiming;

/* cfg must have passed nand_config_check(). */
void nand_timing_init(NandTiming *t, const NandConfig *cfg);

/* Data in or out, burst included; 0 bytes take no time. */
uint64_t nand_data_ps(const NandTiming *t, uint32_t bytes);

/*
 * The time of a program (else of an erase) of a block after so many
 * program/erase cycles of `rated` (0: it does not wear), when it takes ps in a
 * new one; rounded up once.
 */
uint64_t nand_worn_ps(const NandConfig *cfg, bool program, uint64_t ps,
                      uint64_t cycles, uint32_t rated);

/* Load the timing parameters of an interface into cfg. */
void nand_timing_preset(NandConfig *cfg);

#endif
