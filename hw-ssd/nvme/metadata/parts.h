/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parts.h - structures of metadata/: metadata of a command. */
#ifndef VSSD_NVME_METADATA_PARTS_H
#define VSSD_NVME_METADATA_PARTS_H

#include "memory/parts.h"
#include "namespace/parts.h"

/* What protection information is checked for, or made of. */
typedef struct NvmePiTags {
    uint64_t ref; /* of the first block */
    uint64_t storage;
    uint16_t app;
    uint16_t app_mask;
    uint8_t check; /* NVME_PRCHK_... */
} NvmePiTags;

/* The metadata of one command.  format, block_bytes: of the namespace when the
 * command came. */
struct NvmeMetadata {
    NvmeProtection format;
    uint32_t block_bytes;
    uint32_t room; /* of a block in meta */
    uint8_t *meta; /* as the payload has it; payload_buf_get() */
    size_t meta_bytes;
    size_t meta_done; /* of them, written */
    uint8_t *compare; /* the host's, or NULL; payload_buf_get() */
    size_t compare_bytes;
    uint64_t link_bytes; /* that the data pointer describes */
    bool of_host;        /* the host has the metadata, or gets it */
    bool act;            /* PRACT */
    NvmePiTags tags;
    NvmeSg sg; /* separate, and of_host: the host's metadata */
    struct NvmePiSource *source; /* Copy: its ranges, or NULL */
    unsigned n_sources;
};

#endif
