/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kv-wire.h - structures of the Key Value Command Set Specification 1.0. */
#ifndef VSSD_NVME_KV_WIRE_H
#define VSSD_NVME_KV_WIRE_H

#include <stdint.h>

/* Dword 11: bits 7:0 key length, 15:8 options. */
#define NVME_KV_STORE_MUST_EXIST  0x1 /* only if the key exists */
#define NVME_KV_STORE_MUST_BE_NEW 0x2 /* only if it does not */
#define NVME_KV_STORE_PLAIN       0x4 /* do not compress */
#define NVME_KV_RETRIEVE_PLAIN    0x1 /* do not decompress */

/* KV Format: Identify Namespace, CSI 01h. */
typedef struct NvmeKvFormat {
    uint16_t kml; /* the longest key, bytes */
    uint8_t reserved2;
    uint8_t rp;
    uint32_t vml; /* the longest value, bytes */
    uint32_t mnk; /* the most keys */
    uint32_t reserved12;
} NvmeKvFormat;

_Static_assert(sizeof(NvmeKvFormat) == 16, "NvmeKvFormat");

typedef struct NvmeIdKvNamespace {
    uint64_t nsze; /* bytes, as nuse */
    uint64_t reserved8;
    uint64_t nuse;
    uint8_t nsfeat;
    uint8_t nkvf; /* formats, 0's based */
    uint8_t nmic;
    uint8_t rescap;
    uint8_t fpi;
    uint8_t reserved29[3];
    uint32_t novg; /* granularity of values, bytes */
    uint32_t anagrpid;
    uint8_t reserved40[3];
    uint8_t nsattr;
    uint16_t nvmsetid;
    uint16_t endgid;
    uint8_t nguid[16];
    uint8_t eui64[8];
    NvmeKvFormat kvf[16];
    uint8_t reserved328[3512];
    uint8_t vs[256];
} NvmeIdKvNamespace;

_Static_assert(sizeof(NvmeIdKvNamespace) == 4096, "NvmeIdKvNamespace");

#endif
