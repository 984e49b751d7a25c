/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parts.h - structures of zone/: zones. */
#ifndef VSSD_NVME_ZONE_PARTS_H
#define VSSD_NVME_ZONE_PARTS_H

#include "nvme.h"
#include "zone-table.h"

/* What the controller says of a zone: bits of the Zone Attributes (ZNS 1.1,
 * Figure 37). */
enum {
    NVME_ZONE_FINISHED = 0x1,      /* Zone Finished by Controller */
    NVME_ZONE_SHOULD_FINISH = 0x2, /* Finish Zone Recommended */
    NVME_ZONE_SHOULD_RESET = 0x4,  /* Reset Zone Recommended */
};

typedef struct NvmeZone {
    ZoneBase base;
    uint64_t wp;      /* blocks from the start of the zone */
    uint64_t settled; /* writes, torn: blocks before this one have their data */
    uint32_t writes;  /* steps that the drive has, or will get */
    bool described;   /* it has a descriptor extension */
    bool torn;        /* a write did not come to its end: wp is to be found */
    bool resetting;   /* its blocks are to be trimmed, or being trimmed */
    bool finishing;   /* its stream is to be closed, or being closed */
    bool job;         /* one of the two is under way */
    bool zrwa;        /* it has a Zone Random Write Area, from wp on */
    bool holds;       /* the drive may hold blocks of it: from this one on: */
    uint32_t
        changed; /* listed in log page BFh of these controllers, by index */
    uint64_t held;
    int64_t since_ns; /* it is active since then, or full; may be before the
                         clock's 0 */
    uint8_t advice;   /* of these: NVME_ZONE_FINISHED */
} NvmeZone;

typedef struct NvmeZones {
    ZoneTable table;
    NvmeZone *zone;
    uint8_t *extension; /* extension_bytes for each zone */
    uint32_t n;         /* 0: the drive has none */
    uint32_t extension_bytes;
    uint64_t size; /* blocks of the namespace from a zone to the next one */
    uint64_t capacity;
    uint32_t drive_shift;  /* such a block is 1 << drive_shift of the drive's */
    uint64_t append_bytes; /* 0: as other commands */
    uint64_t zrwa;         /* blocks of a Zone Random Write Area, or 0 */
    uint64_t zrwa_granule;
    uint32_t max_zrwa;
    uint32_t n_zrwa;
    uint16_t held_stream; /* of the drive, of its blocks */
    uint64_t end; /* with zones.conventional: the drive's address of the space
                     behind them; else 0 */
    bool whole;   /* SsdZones.whole */
    bool records; /* SsdZones.records */
    uint32_t finish_s, finish_limit_s, reset_s; /* as SsdZones has them */
    uint64_t due_ns; /* no limit of a zone ends before; or SSD_TIME_NEVER */
    bool work;       /* a zone may have a job */
    bool report;     /* a zone has changed by itself */
} NvmeZones;

#endif
