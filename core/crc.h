/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crc.h - the CRCs of end-to-end data protection.
 *
 * Knows bytes.  Eight tables, made at the first use, take eight bytes a step
 * (M. E. Kounavis, F. L. Berry, "A systematic approach to building high
 * performance software-based CRC generators", ISCC 2005).  Any thread may call.
 */
#ifndef VSSD_CORE_CRC_H
#define VSSD_CORE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Go on with the CRC of what comes before p; 0 at the beginning. */

/* SCSI Block Commands 4, T10 DIF guard: polynomial 8BB7h; of "123456789"
 * D0DBh. */
uint16_t crc16_t10dif(uint16_t crc, const void *p, size_t n);

/* NVM Command Set Specification 1.0, 64b CRC definition; of "123456789"
 * AE8B14860A799888h. */
uint64_t crc64_nvme(uint64_t crc, const void *p, size_t n);

#endif
