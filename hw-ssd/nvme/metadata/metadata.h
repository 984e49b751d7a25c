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
 * The fields of a command with one range, after req->lba, nblocks and bytes:
 * makes req->metadata.  Status code.
 */
uint16_t nvme_metadata_take(NvmeCtrl *ctrl, NvmeRequest *req,
                            const NvmeSqe *sqe);

/* Write Zeroes deallocates, or writes zeroes of its own; else it is a write
 * with protection information. */
bool nvme_metadata_makes_zeroes(const NvmeRequest *req, const NvmeSqe *sqe);

/* With req->metadata: */

/* It goes; NvmeRequest.ends, too. */
void nvme_metadata_put(NvmeCtrl *ctrl, NvmeRequest *req);

/* Write: data to req->buf, and metadata, checked or made.  Compare: to
 * req->compare.  Status code. */
uint16_t nvme_metadata_receive(NvmeCtrl *ctrl, NvmeRequest *req);

/* Write Zeroes: make the metadata. */
void nvme_metadata_zeroes(NvmeCtrl *ctrl, NvmeRequest *req);

/* The metadata of the WRITE steps, which have their data; and of reads that are
 * prepared. */
void nvme_metadata_fill(NvmeCtrl *ctrl, NvmeRequest *req);
void nvme_metadata_attach(NvmeCtrl *ctrl, NvmeRequest *req);

/* NvmeRequest.received: check the data, and compare it or give it to the host.
 * The metadata goes. */
uint16_t nvme_metadata_received(NvmeCtrl *ctrl, NvmeRequest *req);

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
