/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parts.h - structures of namespace/: namespaces, and blocks that may be
 * unreadable. */
#ifndef VSSD_NVME_NAMESPACE_PARTS_H
#define VSSD_NVME_NAMESPACE_PARTS_H

#include "nvme-defs.h"
#include "nvme.h"
#include "rooms.h"

#define NVME_MAX_NAMESPACES 256

/* ---- lba-track.c --------------------------------------------------------- */

#define NVME_LBA_RANGES 64

typedef struct NvmeLbaRange {
    uint64_t lba; /* of the drive */
    uint64_t end;
} NvmeLbaRange;

typedef struct NvmeLbaTrack {
    uint32_t n;
    uint16_t generation;
    uint8_t fresh; /* the host has not been told of all */
    uint8_t reserved;
    uint64_t told_ns; /* 0: never */
    NvmeLbaRange range[NVME_LBA_RANGES];
} NvmeLbaTrack;

/* ---- namespace.c --------------------------------------------------------- */

/* Of a logical block of a namespace (NVM Command Set 1.0, Metadata Region and
 * End-to-end Data Protection). */
typedef struct NvmeProtection {
    uint16_t meta_bytes;  /* 0: none */
    bool guard64;         /* 64b guard; else 16b */
    bool qualified;       /* its kind of guard is named by QPIF; else by PIF */
    uint8_t storage_bits; /* STS, of the storage and reference space */
    uint8_t type;         /* of protection information, 1..3; 0: none */
    bool first;    /* in the first bytes of the metadata; else the last */
    bool extended; /* the metadata follows its block; else MPTR */
} NvmeProtection;

/* All of the drive is one NVM set, of one endurance group. */
#define NVME_ONLY_SET   1
#define NVME_ONLY_GROUP 1

/* States of feature 84h (Base 1.4, 5.21.1.28). */
typedef enum NvmeProtect {
    NVME_PROTECT_NONE,
    NVME_PROTECT_ON,
    NVME_PROTECT_POWER_CYCLE, /* until the next power cycle */
    NVME_PROTECT_PERMANENT,
    NVME_N_PROTECTS,
} NvmeProtect;

/* Successful commands of a namespace, by NvmeWork. */
typedef struct NvmeNsCounts {
    uint64_t commands[NVME_N_WORKS];
    uint64_t bytes[NVME_N_WORKS];
    uint64_t failed; /* commands of all kinds */
} NvmeNsCounts;

struct NvmeNamespace {
    uint32_t nsid;
    bool exists;
    uint32_t attached; /* to controllers, by index; 0 without exists */
    bool shared;       /* NMIC bit 0, as the host wanted it */
    uint8_t format;
    uint8_t protect;      /* NvmeProtect */
    uint32_t block_bytes; /* of a logical block: the LBA format */
    uint32_t block_shift;
    uint32_t drive_shift; /* a block is 1 << drive_shift blocks of the drive */
    NvmeProtection protection;
    uint64_t nblocks;        /* NSZE */
    uint64_t serial;         /* no other namespace of the drive has or had it */
    uint64_t eui64;          /* 0: none */
    uint32_t error_recovery; /* feature 05h: TLER, NVME_DULBE */
    uint64_t base;           /* the drive's address of its first block */
    uint64_t run; /* so many of the drive's blocks follow each other there */
    uint32_t *granule; /* of the drive; NULL: all is one run */
    uint32_t n_granules;
    uint32_t granule_blocks; /* of the drive, in a granule */
    uint64_t granule_base;   /* the drive's address of the first granule */
    uint64_t zone_size; /* as the following, in the drive's blocks; 0: it is not
                           zoned */
    uint64_t zone_capacity; /* of them, those that the drive has */
    bool kv;                /* of key-value pairs */
    struct NvmeKv *index;   /* its own; NULL: not yet needed */
    NvmeNsCounts count;
};

/* ---- atomic.c ------------------------------------------------------------ */

/* What is promised of writes, as numbers of blocks; NvmeAtomic has fields. */
typedef struct NvmeAtomicBlocks {
    uint32_t awun;
    uint32_t awupf;
    uint32_t nawun;
    uint32_t nawupf;
    uint32_t nabsn; /* distance of boundaries; 0: there are none */
    uint32_t nabspf;
    uint32_t nabo; /* the first one */
} NvmeAtomicBlocks;

/* ---- namespace.c, and what others keep of a namespace ---------------------
 */

/* Owner of a granule: an NSID, or one of these. */
#define NVME_GRANULE_FREE  0
#define NVME_GRANULE_DIRTY 0xffff /* its namespace is gone, its data is not */

/*
 * The namespaces of the subsystem.  The drive's blocks are divided into
 * granules of equal size; a namespace owns whole ones.
 */
typedef struct NvmeNamespaces {
    OF_ROOM_NAMESPACE NvmeNamespace *table; /* by NSID - 1 */
    uint32_t n;                             /* NN: the greatest NSID */
    bool managed; /* by the host; else there is one, without granules */
    bool any_kv;  /* the drive has the Key Value Command Set */
    uint32_t granule_blocks;
    uint32_t n_granules;
    uint64_t base;  /* the drive's address of the first one */
    uint32_t zoned; /* NSID of the one that has the zones; 0: none has */
    OF_ROOM_NAMESPACE uint16_t *owner;
    uint64_t created; /* how many were, ever */
} NvmeNamespaces;

/* What one is to be. */
typedef struct NvmeNsForm {
    uint64_t nblocks; /* 0: none is wanted */
    uint8_t format;
    bool extended; /* as FLBAS bit 4 */
    uint8_t dps;
    bool shared;
    bool kv;
    bool zoned; /* it gets all zones, and no granules */
} NvmeNsForm;

#endif
