/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zone-wire.h - structures of the Zoned Namespace Command Set 1.1 in the memory
 * of the host: little-endian, as nvme-wire.h has the others.
 */
#ifndef VSSD_NVME_ZONE_WIRE_H
#define VSSD_NVME_ZONE_WIRE_H

#include "nvme-wire.h"

/* 3.4.2, Zone Management Receive: header of a report, and a descriptor. */
typedef struct NVME_PACKED NvmeZoneReportHeader {
    uint64_t nr_zones;
    uint8_t reserved8[56];
} NvmeZoneReportHeader;

NVME_WIRE_SIZE(NvmeZoneReportHeader, 64);

typedef struct NVME_PACKED NvmeZoneDescriptor {
    uint8_t zt;
    uint8_t zs; /* bits 7:4 */
    uint8_t za;
    uint8_t zai;
    uint8_t reserved4[4];
    uint64_t zcap;
    uint64_t zslba;
    uint64_t wp;
    uint8_t reserved32[32];
} NvmeZoneDescriptor;

NVME_WIRE_SIZE(NvmeZoneDescriptor, 64);
NVME_WIRE_AT(NvmeZoneDescriptor, wp, 24);

/* CNS 05h, CSI 2: 4.1.5.1; by LBA format in lbafe. */
typedef struct NVME_PACKED NvmeIdZonedNamespace {
    uint16_t zoc;
    uint16_t ozcs;
    uint32_t mar; /* less 1 */
    uint32_t mor; /* less 1 */
    uint32_t rrl;
    uint32_t frl;
    uint32_t rrl_more[3];
    uint32_t frl_more[3];
    uint32_t numzrwa;
    uint16_t zrwafg;
    uint16_t zrwasz;
    uint8_t zrwacap;
    uint8_t reserved53[2763];
    struct NVME_PACKED {
        uint64_t zsze;
        uint8_t zdes; /* 64 bytes */
        uint8_t reserved9[7];
    } lbafe[64];
    uint8_t vs[256];
} NvmeIdZonedNamespace;

NVME_WIRE_SIZE(NvmeIdZonedNamespace, 4096);
NVME_WIRE_AT(NvmeIdZonedNamespace, lbafe, 2816);

/* CNS 06h, CSI 2: 4.1.5.2. */
typedef struct NVME_PACKED NvmeIdZonedController {
    uint8_t zasl; /* 2^n pages of 4 KiB; 0: MDTS */
    uint8_t reserved1[4095];
} NvmeIdZonedController;

NVME_WIRE_SIZE(NvmeIdZonedController, 4096);

/* LID BFh: 4.1.4.1, Changed Zone List. */
typedef struct NVME_PACKED NvmeChangedZones {
    uint16_t n; /* FFFFh: more than fit */
    uint8_t reserved2[6];
    uint64_t zslba[511];
} NvmeChangedZones;

NVME_WIRE_SIZE(NvmeChangedZones, 4096);

#endif
