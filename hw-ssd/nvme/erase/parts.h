/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parts.h - structures of erase/: the job that erases user data, Sanitize. */
#ifndef VSSD_NVME_ERASE_PARTS_H
#define VSSD_NVME_ERASE_PARTS_H

#include "rooms.h"

/* ---- erase-job.c --------------------------------------------------------- */

typedef enum NvmeErasePhase {
    NVME_ERASE_NONE,
    NVME_ERASE_DRAIN,
    NVME_ERASE_TRIM,
    NVME_ERASE_COMMIT,
    NVME_ERASE_PURGE,
    NVME_ERASE_FILL,
    NVME_ERASE_SETTLE,
    NVME_ERASE_ENDED,
    NVME_ERASE_PHASES,
} NvmeErasePhase;

#define NVME_ERASE_MOST_PASSES 16

/* Kept without power. */
typedef struct NvmeEraseJob {
    uint8_t phase;     /* NvmeErasePhase */
    uint8_t sanitize;  /* of all; else Format NVM */
    uint8_t purges;    /* every block that holds something is erased */
    uint8_t passes;    /* of an overwrite */
    uint8_t pass;      /* so many are done */
    uint8_t inverts;   /* the pattern, in every second pass */
    uint8_t keeps;     /* the pattern stays */
    uint8_t format;    /* Format NVM: the LBA format at the end */
    uint16_t status;   /* ENDED */
    uint16_t progress; /* the highest so far, of 65536 */
    uint32_t nsid;
    uint32_t pattern;
    uint32_t dw10; /* of the command */
    uint64_t next; /* FILL: the drive's block */
} NvmeEraseJob;

/* Callbacks of erase-job.c to the rooms above it.  works: a room has something
 * under way that the job waits for.  forget: the data of a namespace goes, and
 * what is in memory with it. */
typedef struct NvmeEraseClient {
    bool (*works)(const NvmeSubsys *sub);
    void (*forget)(NvmeSubsys *sub, const NvmeNamespace *ns);
} NvmeEraseClient;

/* ---- sanitize.c ---------------------------------------------------------- */

/* Sanitize Status, bits 2:0. */
enum {
    NVME_SANITIZE_NEVER,
    NVME_SANITIZE_DONE,
    NVME_SANITIZE_RUNS,
    NVME_SANITIZE_FAILED,
    NVME_SANITIZE_DEALLOCATED, /* though the host wanted it not */
};

/* Failure mode. */
enum {
    NVME_SANITIZE_FINE,
    NVME_SANITIZE_RESTRICTED,
    NVME_SANITIZE_UNRESTRICTED,
};

/* Kept without power. */
typedef struct NvmeSanitize {
    uint8_t status;
    uint8_t failure;
    uint8_t passes; /* completed, of an overwrite */
    uint8_t reserved;
    uint32_t dw10;          /* of the last command */
    uint64_t clean_version; /* NvmeSubsys.next_version at the last success */
} NvmeSanitize;

#endif
