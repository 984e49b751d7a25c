/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metadata.h - commands for namespaces with metadata. */
#ifndef VSSD_NVME_METADATA_H
#define VSSD_NVME_METADATA_H

#include "rooms.h"
#if NVME_ROOM < ROOM_METADATA
#error "hw-ssd/nvme/metadata is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

/* One range that a Copy reads. */
typedef struct NvmePiSource {
    uint64_t lba; /* of the namespace, as nblocks */
    uint32_t nblocks;
    NvmePiTags tags;
} NvmePiSource;

/*
 * The fields of a command with one range, in a namespace with metadata, after
 * req->lba, nblocks and bytes.  Sets req->metadata if the command is about the
 * metadata.  Status code.
 */
uint16_t nvme_metadata_take(NvmeCtrl *ctrl, NvmeRequest *req,
                            const NvmeSqe *sqe);

/* What the data pointer of a command with one range describes. */
static inline uint64_t nvme_link_bytes(const NvmeRequest *req)
{
    return G_UNLIKELY(req->metadata) ? req->metadata->link_bytes : req->bytes;
}

/* Bytes of the host with each block of the drive, beside its data. */
uint16_t nvme_link_metadata(const NvmeRequest *req);

/* With req->metadata: */

/* Write: data to req->buf, and metadata, checked or made.  Compare: to
 * req->compare.  Status code. */
uint16_t nvme_metadata_receive(NvmeCtrl *ctrl, NvmeRequest *req);

/* Write Zeroes: make the metadata. */
void nvme_metadata_zeroes(NvmeCtrl *ctrl, NvmeRequest *req);

/* The data has been read: check it, and compare it or give it to the host.
 * Status code. */
uint16_t nvme_metadata_read(NvmeCtrl *ctrl, NvmeRequest *req);

/*
 * Copy.  begin: before the n ranges, which follow one by one, each with its
 * entry of the list; ready: the destination is known; copied: all is in
 * req->buf.  Status codes.
 */
uint16_t nvme_metadata_copy_begin(NvmeCtrl *ctrl, NvmeRequest *req,
                                  const NvmeSqe *sqe, unsigned n);
void nvme_metadata_copy_source(NvmeRequest *req, const NvmeSqe *sqe,
                               NvmePiSource source, const uint8_t *entry);
uint16_t nvme_metadata_copy_ready(NvmeCtrl *ctrl, NvmeRequest *req);
uint16_t nvme_metadata_copied(NvmeCtrl *ctrl, NvmeRequest *req);

/* Have blocks of both the same form? */
bool nvme_metadata_same(const NvmeNamespace *a, const NvmeNamespace *b);

#endif
