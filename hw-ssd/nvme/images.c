/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * images.c - which image has an offset of the drive, and the head of an image
 * with metadata (images.h).
 */
#include "images.h"

#include <inttypes.h>
#include <string.h>

#include "options.h"

#define HEAD_MAGIC "vssd metadata\0\0"

/* Little-endian. */
typedef struct Head {
    char magic[16];
    uint32_t version; /* 1 */
    uint32_t metadata;
    uint32_t block_bytes;
    uint32_t reserved;
    uint64_t nblocks;
} Head;

G_STATIC_ASSERT(sizeof(Head) == 40);

/* ---- places -------------------------------------------------------------- */

char *nvme_images_namespaces(NvmeImages *images, uint32_t block_bytes)
{
    GString *text = g_string_new(NULL);

    for (unsigned i = 0; i < images->n; i++) {
        NvmePlace *p = &images->place[i];

        p->bytes -= p->bytes % block_bytes;
        g_string_append_printf(text, "%s%" PRIu64, i ? ";" : "", p->bytes);
    }
    return g_string_free(text, FALSE);
}

static bool place_one(NvmeImages *images, unsigned i, const NvmeCtrl *ctrl,
                      uint32_t block_bytes, GError **error)
{
    NvmePlace *p = &images->place[i];
    const NvmePlace *before = i ? p - 1 : NULL;
    uint64_t first, nblocks;

    if (!nvme_namespace_place(ctrl, i + 1, &first, &nblocks) ||
        nblocks * block_bytes != p->bytes ||
        (before && first * block_bytes < before->start + before->bytes)) {
        return opt_fail(error, OPT_ERROR_COMBINATION,
                        "its namespace %u has not the size of image %u, or its "
                        "place",
                        i + 1, i + 1);
    }
    p->start = first * block_bytes;
    return true;
}

bool nvme_images_place(NvmeImages *images, const NvmeCtrl *ctrl,
                       uint32_t block_bytes, GError **error)
{
    uint64_t first, nblocks;

    if (images->n == 1) {
        return true;
    }
    for (unsigned i = 0; i < images->n; i++) {
        if (!place_one(images, i, ctrl, block_bytes, error)) {
            return false;
        }
    }
    if (nvme_namespace_place(ctrl, images->n + 1, &first, &nblocks)) {
        return opt_fail(error, OPT_ERROR_COMBINATION,
                        "it has a namespace %u, and there is no image %u",
                        images->n + 1, images->n + 1);
    }
    return true;
}

/* The last image that begins at or before the offset. */
NvmePiece nvme_images_find(const NvmeImages *images, uint64_t offset,
                           uint64_t bytes)
{
    unsigned i = images->n - 1;
    const NvmePlace *p;
    NvmePiece piece;

    while (i && images->place[i].start > offset) {
        i--;
    }
    p = &images->place[i];
    if (i + 1 < images->n) {
        bytes = MIN(bytes, p[1].start - offset);
    }
    piece =
        (NvmePiece){.image = i, .offset = offset - p->start, .bytes = bytes};
    piece.there =
        piece.offset < p->bytes ? MIN(bytes, p->bytes - piece.offset) : 0;
    return piece;
}

/* ---- metadata ------------------------------------------------------------ */

uint64_t nvme_image_head_at(uint64_t image_bytes)
{
    return image_bytes - image_bytes % NVME_HEAD_BYTES - NVME_HEAD_BYTES;
}

uint64_t nvme_image_blocks(uint64_t image_bytes, uint32_t block_bytes,
                           uint32_t metadata)
{
    uint64_t n;

    if (!metadata) {
        return image_bytes / block_bytes;
    }
    if (image_bytes < 2ULL * NVME_HEAD_BYTES) {
        return 0;
    }
    n = nvme_image_head_at(image_bytes) / (block_bytes + metadata);
    return n - n % (NVME_HEAD_BYTES / block_bytes);
}

void nvme_image_make_head(uint8_t head[NVME_HEAD_BYTES], uint64_t nblocks,
                          uint32_t block_bytes, uint32_t metadata)
{
    const Head own = {
        .magic = HEAD_MAGIC,
        .version = GUINT32_TO_LE(1),
        .metadata = GUINT32_TO_LE(metadata),
        .block_bytes = GUINT32_TO_LE(block_bytes),
        .nblocks = GUINT64_TO_LE(nblocks),
    };

    memset(head, 0, NVME_HEAD_BYTES);
    memcpy(head, &own, sizeof(own));
}

bool nvme_image_check_head(const uint8_t head[NVME_HEAD_BYTES],
                           uint64_t nblocks, uint32_t block_bytes,
                           uint32_t metadata, bool *known, GError **error)
{
    uint8_t own[NVME_HEAD_BYTES];
    Head found;

    memcpy(&found, head, sizeof(found));
    nvme_image_make_head(own, nblocks, block_bytes, metadata);
    *known = memcmp(found.magic, HEAD_MAGIC, sizeof(found.magic)) == 0;
    return !*known || memcmp(own, head, sizeof(found)) == 0 ||
           opt_fail(error, OPT_ERROR_COMBINATION,
                    "metadata=%u: the image is of a drive with metadata=%u, "
                    "%" PRIu64 " blocks of %u bytes",
                    metadata, GUINT32_FROM_LE(found.metadata),
                    GUINT64_FROM_LE(found.nblocks),
                    GUINT32_FROM_LE(found.block_bytes));
}
