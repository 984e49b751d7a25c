/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parts.h - structures of registers/. */
#ifndef VSSD_NVME_REGISTERS_PARTS_H
#define VSSD_NVME_REGISTERS_PARTS_H

#include <stdint.h>

typedef struct NvmeRegs {
    uint64_t asq;
    uint64_t acq;
    uint32_t cc;
    uint32_t csts;
    uint32_t intms;
    uint32_t aqa;
    uint32_t page_bits; /* of CC.MPS, while enabled */
} NvmeRegs;

#endif
