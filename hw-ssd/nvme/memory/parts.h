/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parts.h - structures of memory/: guest memory of a command, and memory of the
 * drive. */
#ifndef VSSD_NVME_MEMORY_PARTS_H
#define VSSD_NVME_MEMORY_PARTS_H

#include "nvme.h"

/* ---- sg.c ---------------------------------------------------------------- */

typedef struct NvmeSeg {
    uint64_t addr;
    uint32_t len;
} NvmeSeg;

#define NVME_SG_SMALL 4
#define NVME_SG_LARGE 1026

/* The pieces of guest memory of one command. */
typedef struct NvmeSg {
    NvmeSeg *seg; /* small, or one of the controller's pool */
    unsigned n;
    unsigned idx;     /* cursor: the next byte to move */
    uint32_t done;    /* within seg[idx] */
    bool in_drive;    /* all of it is in memory of the drive: CMB or PMR */
    bool has_list;    /* described by a list */
    bool list_in_cmb; /* which is there */
    NvmeSeg small[NVME_SG_SMALL];
} NvmeSg;

/* ---- host-memory.c ------------------------------------------------------- */

typedef struct NvmeHostMemory {
    bool on;
    uint32_t pages;   /* of CC.MPS */
    uint64_t list;    /* of pieces, in the host's memory */
    uint32_t entries; /* of the list */
} NvmeHostMemory;

/* ---- window.c, cmb.c, pmr.c ---------------------------------------------- */

/* Where an address of the host leads to; index of NvmeCtrl.window. */
typedef enum NvmeAt {
    NVME_AT_HOST,
    NVME_AT_CMB,
    NVME_AT_PMR,
    NVME_AT_EDGE, /* across the border of one */
} NvmeAt;

typedef struct NvmeWindow {
    uint8_t *mem; /* the machine's; NULL: the drive has none */
    uint64_t bytes;
    uint64_t base; /* the host's address of it */
    bool on;       /* the controller uses it at that address */
    bool follows;  /* the address is that of the BAR, wherever it is */
    uint8_t bar;
} NvmeWindow;

typedef struct NvmeCmb {
    uint64_t msc;  /* CMBMSC */
    uint64_t uses; /* bits of CMBSZ */
} NvmeCmb;

typedef struct NvmePmr {
    uint64_t msc; /* PMRMSCU and PMRMSCL */
    uint32_t ctl;
    uint32_t failed; /* 1: writes may not be persistent */
} NvmePmr;

#endif
