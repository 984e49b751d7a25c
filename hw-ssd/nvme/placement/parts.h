/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parts.h - structures of placement/: streams, Flexible Data Placement. */
#ifndef VSSD_NVME_PLACEMENT_PARTS_H
#define VSSD_NVME_PLACEMENT_PARTS_H

#include "namespace/parts.h"
#include "nvme-defs.h"

#define NVME_MAX_STREAMS 63
#define NVME_MAX_RUHS    64

/* An open stream; the drive's stream is its index + 1. */
typedef struct NvmeStream {
    uint16_t id;   /* the host's; 0: not open */
    uint16_t host; /* index of NvmeStreams.host */
    uint32_t reserved;
    uint64_t used; /* NvmeStreams.clock at the last write */
} NvmeStream;

/* A host that has enabled streams, or has resources of them. */
typedef struct NvmeStreamHost {
    uint8_t id[16]; /* Host Identifier; 0h: of one controller alone: */
    uint16_t cntlid;
    uint8_t there;      /* flag; all else is 0 without */
    uint8_t enabled;    /* flag */
    uint32_t allocated; /* for it alone */
    uint32_t open;
    uint32_t reserved;
} NvmeStreamHost;

#define NVME_STREAM_HOSTS 32 /* as many as there are controllers */

typedef struct NvmeStreams {
    uint64_t max; /* 0: the drive has none, or has FDP */
    uint64_t clock;
    NvmeStream stream[NVME_MAX_STREAMS];
    NvmeStreamHost host[NVME_STREAM_HOSTS];
} NvmeStreams;

#define NVME_FDP_EVENTS 63 /* of the log, which has a header of that size */

/* For the host, or of the controller: each kind has its log. */
enum { NVME_FDP_CONTROLLER_LOG, NVME_FDP_HOST_LOG, NVME_FDP_LOGS };

typedef struct NvmeFdpEvent {
    uint8_t type;
    bool has_handle; /* pid and ruh are known */
    uint16_t pid;
    uint16_t ruh;
    NvmeTimestamp timestamp;
    uint16_t nblocks_moved; /* Media Reallocated: FFFFh: so many or more */
    uint64_t lba; /* Media Reallocated: one of them, the drive's address; else
                     the namespace, 0: the first */
} NvmeFdpEvent;

typedef struct NvmeFdpLog {
    NvmeFdpEvent event[NVME_FDP_EVENTS];
    uint64_t nevents; /* since the beginning */
} NvmeFdpLog;

/* Placement handles of a namespace, and their reclaim unit handles. */
typedef struct NvmeFdpList {
    uint8_t n;
    uint8_t of_controller; /* flag: the host gave no list */
    uint8_t off;           /* flag: Data Placement is disabled */
    uint8_t handle[NVME_MAX_RUHS];
} NvmeFdpList;

typedef struct NvmeFdp {
    unsigned ruhs;                 /* 0: the drive has no FDP */
    uint8_t wanted[NVME_MAX_RUHS]; /* events: bits by place in their table */
    NvmeFdpLog log[NVME_FDP_LOGS];
} NvmeFdp;

/* Of a drive with FDP, in addition (fdp-handles.c). */
typedef struct NvmeFdpUnits {
    uint8_t disabled; /* flag: by feature 1Dh */
    uint8_t config;   /* the enabled one */
    /* By stream: when its reclaim unit was written first. */
    uint64_t began_ns[NVME_MAX_RUHS];
    NvmeFdpList list[NVME_MAX_NAMESPACES]; /* by NSID - 1 */
    NvmeFdpList wanted; /* of the namespace that Create makes */
} NvmeFdpUnits;

#endif
