/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parts.h - structures of reservation/: reservations of namespaces. */
#ifndef VSSD_NVME_RESERVATION_PARTS_H
#define VSSD_NVME_RESERVATION_PARTS_H

#include "namespace/parts.h"

/* Hosts that may be registered with a namespace. */
#define NVME_MAX_REGISTRANTS 64

typedef struct NvmeRegistrant {
    uint8_t host_id[16]; /* 0h: of the controller alone */
    uint64_t key;
    uint16_t cntlid; /* of the controller that it has registered with */
    uint8_t used;    /* flags */
    uint8_t holds;   /* never with a type of all registrants: all do */
    uint8_t reserved[4];
} NvmeRegistrant;

/* Of a namespace; kept without power if ptpl is set. */
typedef struct NvmeReservation {
    uint32_t generation;
    uint8_t type; /* NVME_RESERVATION_... */
    uint8_t ptpl; /* flag: Persist Through Power Loss */
    uint8_t reserved[2];
    NvmeRegistrant registrant[NVME_MAX_REGISTRANTS];
} NvmeReservation;

#define NVME_RESERVATION_ENTRIES 64

typedef struct NvmeReservationEntry {
    uint64_t count;
    uint32_t nsid;
    uint8_t type;
    uint8_t reserved[3];
} NvmeReservationEntry;

/* Notifications that the host has not read, the oldest first. */
typedef struct NvmeReservationLog {
    uint64_t count; /* of the newest; 0: there was none */
    uint32_t n;
    uint8_t mask[NVME_MAX_NAMESPACES]; /* feature 82h, by NSID - 1 */
    uint8_t reserved[4];
    NvmeReservationEntry entry[NVME_RESERVATION_ENTRIES];
} NvmeReservationLog;

#endif
