/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-protect.h - protection information in commands of the guest.
 *
 * The drive makes it and strips it, so buffers are as without.  It is checked
 * in each read: data that has lost its own metadata ends as a failed command.
 */
#ifndef VSSD_TESTS_NVME_PROTECT_H
#define VSSD_TESTS_NVME_PROTECT_H

#include "nvme-defs.h"

/* An I/O command for a drive with metadata=8 and pi=1. */
static inline void fuzz_protect(NvmeSqe *sqe)
{
    const unsigned all = NVME_PRCHK_GUARD | NVME_PRCHK_APP | NVME_PRCHK_REF;
    unsigned info = 0;

    switch (nvme_sqe_opcode(sqe)) {
    case NVME_IO_READ:
    case NVME_IO_WRITE:
        info = NVME_PRACT | all;
        break;
    case NVME_IO_VERIFY:
    case NVME_IO_COMPARE: /* with whatever is at MPTR, 0 */
        info = all;
        break;
    case NVME_IO_WRITE_ZEROES:
        info = NVME_PRACT;
        break;
    case NVME_IO_COPY: /* the reference tags of its sources are 0 */
        info = NVME_PRACT;
        sqe->dw[12] |= (NVME_PRACT | NVME_PRCHK_GUARD) << 12;
        break;
    default:
        return;
    }
    sqe->dw[12] |= info << 26;
    sqe->dw[14] = sqe->dw[10];
}

#endif
