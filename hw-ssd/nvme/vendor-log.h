/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vendor-log.h - the layout of the drive's own log pages (docs/streams-guest.md).
 *
 * Shared by the controller (log-vendor.c) and the tools in the guest
 * (guest-tools/): nothing but the standard's integer types.  All numbers are
 * little-endian, all fields naturally aligned.  nvme-cli fetches the pages raw:
 *
 *   nvme get-log /dev/nvme0 --log-id=0xc0 --log-len=512 --raw-binary
 */
#ifndef VSSD_VENDOR_LOG_H
#define VSSD_VENDOR_LOG_H

#include <stdint.h>

#define VSSD_LOG_DRIVE   0xc0 /* one VssdLogDrive */
#define VSSD_LOG_STREAMS 0xc1 /* VssdLogDrive.nstreams + 1 VssdLogStream */
#define VSSD_LOG_PLACE   0xc2 /* VssdLogDrive.units VssdLogPlace */

#define VSSD_LOG_MAGIC "VSSD"
/* Of all three pages.  Version 1 had entries of 64 bytes in C1h. */
#define VSSD_LOG_VERSION 2

/* The drive, and its statistics since their reset. */
typedef struct VssdLogDrive {
    char magic[4];
    uint16_t version;
    uint16_t nstreams;    /* of the model; 1: it knows none but stream 0 */
    uint32_t block_bytes; /* of a logical block */
    uint32_t unit_bytes;  /* the mapping unit */
    uint32_t page_bytes;
    uint32_t read_only; /* 1: worn out */
    uint64_t erase_bytes; /* of an erase block */
    uint64_t raw_bytes;   /* of all erase blocks */
    uint64_t units;       /* that the host sees */
    uint64_t host_bytes_read;
    uint64_t host_bytes_written;
    uint64_t nand_reads; /* pages */
    uint64_t nand_programs;
    uint64_t nand_erases; /* blocks */
    uint64_t nand_bytes_written;
    uint64_t read_retries;
    uint64_t uncorrectable_reads;
    uint64_t program_failures;
    uint64_t erase_failures;
    uint64_t grown_bad_blocks;
    uint64_t max_erase_count;
    uint64_t mean_erase_count_milli; /* thousandths */
    uint64_t waf_milli; /* NAND bytes written / host bytes, thousandths */
    uint64_t spare_percent;
    uint64_t reserved[43];
} VssdLogDrive;

/* A stream of the model, since the drive was made; units of unit_bytes. */
#define VSSD_LOG_NO_ID 0xffff

typedef struct VssdLogStream {
    uint16_t stream; /* nstreams: no single one, as metadata, and blocks that GC
                        filled from several */
    uint16_t id;     /* by which the host knows it now (DSPEC), or NO_ID */
    uint32_t open_blocks;
    uint64_t host_bytes_written;
    uint64_t host_units;   /* programmed for the host */
    uint64_t padded_units; /* programmed empty beside them */
    uint64_t copied_units; /* programmed again by GC */
    uint64_t victims;      /* blocks chosen for GC */
    uint64_t victim_valid_units;
    uint64_t erases;
    uint64_t nand_bytes_written; /* pages of the host and of GC with their
                                    padding, and parity; the sum of all entries
                                    is that of all programmed pages */
    uint64_t reserved[7];
} VssdLogStream;

/* Where a unit is.  Entry i, at offset 16 * i, is that of the unit of blocks
 * i * unit_bytes / block_bytes and following. */
enum {
    VSSD_PLACE_NOWHERE = 0, /* never written, or trimmed */
    VSSD_PLACE_BUFFER = 1,  /* the newest data is not in NAND yet */
    VSSD_PLACE_NAND = 2,
};

typedef struct VssdLogPlace {
    uint8_t where;
    uint8_t reserved;
    uint16_t stream;       /* of the model: of the unit's last write */
    uint32_t erase_block;  /* if in NAND, as the following */
    uint32_t page;         /* in the erase block */
    uint16_t block_stream; /* whose units the erase block takes; nstreams: of
                              several */
    uint16_t reserved2;
} VssdLogPlace;

_Static_assert(sizeof(VssdLogDrive) == 512, "VssdLogDrive");
_Static_assert(sizeof(VssdLogStream) == 128, "VssdLogStream");
_Static_assert(sizeof(VssdLogPlace) == 16, "VssdLogPlace");

#endif
