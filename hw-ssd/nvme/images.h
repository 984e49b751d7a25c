/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * images.h - how the bytes of a drive are spread over its images: one image for
 * all of it, or one for each namespace.
 *
 * With several, namespace n is all of image n, and the host cannot create or
 * delete namespaces.  A namespace then has one place in the drive for good, so
 * an offset in the drive says which image has it.
 *
 * With metadata there is one image: the blocks come first, so that it is that
 * of a drive without metadata; then the metadata (nvme_store_bytes()); then a
 * head of NVME_HEAD_BYTES, the last ones of the image, which says how it is
 * divided.  An image without a head gets one if it is zero where the metadata
 * will be.
 *
 * Knows sizes and places; who holds the images reads and writes them
 * (hw-ssd/qemu/nodes.c and metadata.c, hw-ssd/vfio-user/image.c).
 */
#ifndef VSSD_NVME_IMAGES_H
#define VSSD_NVME_IMAGES_H

#include "nvme.h"

#define NVME_MAX_IMAGES 8
#define NVME_HEAD_BYTES 4096

typedef struct NvmePlace {
    uint64_t start; /* in the drive, in bytes */
    uint64_t bytes; /* UINT64_MAX: all that follow */
} NvmePlace;

typedef struct NvmeImages {
    unsigned n;
    NvmePlace place[NVME_MAX_IMAGES];
} NvmeImages;

/* A part of a range of the drive, in one image. */
typedef struct NvmePiece {
    unsigned image;
    uint64_t offset; /* in the image */
    uint64_t bytes;  /* of the range */
    uint64_t there;  /* of these, from the beginning, in the image; no namespace
                        has the others */
} NvmePiece;

/* Of several images, with their sizes in place[].bytes, which are rounded down
 * to blocks: NvmeConfig.namespaces (g_free). */
char *nvme_images_namespaces(NvmeImages *images, uint32_t block_bytes);

/* The controller has its namespaces: where the images begin.  false: they do
 * not fit, and *error says why of "it", the drive. */
bool nvme_images_place(NvmeImages *images, const NvmeCtrl *ctrl,
                       uint32_t block_bytes, GError **error);

/* The first part of a range of the drive. */
NvmePiece nvme_images_find(const NvmeImages *images, uint64_t offset,
                           uint64_t bytes);

/* Blocks of the drive for which an image has room, with their metadata (0:
 * none); 0: not for one. */
uint64_t nvme_image_blocks(uint64_t image_bytes, uint32_t block_bytes,
                           uint32_t metadata);

uint64_t nvme_image_head_at(uint64_t image_bytes);

/* The head of an image. */
void nvme_image_make_head(uint8_t head[NVME_HEAD_BYTES], uint64_t nblocks,
                          uint32_t block_bytes, uint32_t metadata);

/* What the image has at that place: *known: a head, of such a drive.  false: of
 * another drive, *error says of which. */
bool nvme_image_check_head(const uint8_t head[NVME_HEAD_BYTES],
                           uint64_t nblocks, uint32_t block_bytes,
                           uint32_t metadata, bool *known, GError **error);

#endif
