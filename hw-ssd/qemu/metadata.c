/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metadata.c - the place of metadata in the image.
 *
 * The blocks come first, so that the image is that of a drive without metadata;
 * then the metadata (nvme_store_bytes()); then a head of 4096 bytes, the last
 * ones of the image, which says how it is divided.  An image without a head
 * gets one if it is zero where the metadata will be.
 *
 * Knows the layout; what the bytes mean is the controller's business.
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "qemu/cutils.h"
#include "block/block.h"
#include "qapi/error.h"
#include "system/block-backend.h"

#include "vssd.h"

#define HEAD_BYTES  4096
#define HEAD_MAGIC  "vssd metadata\0\0"
#define CHUNK_BYTES (1 * MiB)

/* Little-endian. */
typedef struct QEMU_PACKED Head {
    char magic[16];
    uint32_t version; /* 1 */
    uint32_t metadata;
    uint32_t block_bytes;
    uint32_t reserved;
    uint64_t nblocks;
} Head;

static uint64_t head_at(uint64_t image_bytes)
{
    return QEMU_ALIGN_DOWN(image_bytes, HEAD_BYTES) - HEAD_BYTES;
}

uint64_t vssd_metadata_blocks(uint64_t image_bytes, uint32_t block_bytes,
                              uint16_t metadata)
{
    uint64_t per_page = HEAD_BYTES / block_bytes;

    if (!metadata) {
        return image_bytes / block_bytes;
    }
    if (image_bytes < 2 * HEAD_BYTES) {
        return 0;
    }
    return QEMU_ALIGN_DOWN(head_at(image_bytes) / (block_bytes + metadata),
                           per_page);
}

static Head make_head(VssdDev *s, uint64_t nblocks)
{
    return (Head){
        .magic = HEAD_MAGIC,
        .version = cpu_to_le32(1),
        .metadata = cpu_to_le32(s->prop.opt.metadata),
        .block_bytes = cpu_to_le32(s->prop.conf.logical_block_size),
        .nblocks = cpu_to_le64(nblocks),
    };
}

/* A piece that the node does not know to be zero. */
static int read_is_zero(VssdDev *s, int64_t at, int64_t n, uint8_t *buf,
                        bool *zero)
{
    int ret = 0;

    while (n && ret >= 0 && *zero) {
        int64_t piece = MIN(n, CHUNK_BYTES);

        ret = blk_pread(s->prop.conf.blk, at, piece, buf, 0);
        *zero = ret < 0 || buffer_is_zero(buf, piece);
        at += piece;
        n -= piece;
    }
    return ret;
}

/* *zero: the image reads as zeroes from there to its end. */
static int is_zero_from(VssdDev *s, int64_t at, int64_t end, bool *zero)
{
    g_autofree uint8_t *buf = g_malloc(CHUNK_BYTES);
    int ret = 0;

    *zero = true;
    while (at < end && ret >= 0 && *zero) {
        int64_t n;

        ret = bdrv_block_status_above(blk_bs(s->prop.conf.blk), NULL, at,
                                      end - at, &n, NULL, NULL);
        if (ret >= 0 && n <= 0) {
            ret = -EIO;
        }
        if (ret >= 0 && !(ret & BDRV_BLOCK_ZERO)) {
            ret = read_is_zero(s, at, n, buf, zero);
        }
        at += n;
    }
    return MIN(ret, 0);
}

static bool make_room(VssdDev *s, const Head *own, uint64_t nblocks,
                      int64_t image_bytes, Error **errp)
{
    uint64_t at = nblocks * s->prop.conf.logical_block_size;
    g_autofree uint8_t *page = g_malloc0(HEAD_BYTES);
    bool zero;
    int ret = is_zero_from(s, at, image_bytes, &zero);

    if (ret >= 0 && !zero) {
        error_setg(errp,
                   "vssd: metadata=%u: the image has data in its last "
                   "%" PRIu64 " bytes, where the metadata would be: "
                   "enlarge the image by as much",
                   s->prop.opt.metadata, image_bytes - at);
        return false;
    }
    memcpy(page, own, sizeof(*own));
    if (ret >= 0) {
        ret = blk_pwrite(s->prop.conf.blk, head_at(image_bytes), HEAD_BYTES,
                         page, 0);
    }
    if (ret < 0) {
        error_setg_errno(errp, -ret,
                         "vssd: metadata=%u: cannot prepare the "
                         "image",
                         s->prop.opt.metadata);
        return false;
    }
    return true;
}

bool vssd_metadata_open(VssdDev *s, uint64_t nblocks, Error **errp)
{
    int64_t image_bytes = blk_getlength(s->prop.conf.blk);
    Head own = make_head(s, nblocks);
    bool known;
    Head head;
    int ret;

    if (!s->prop.opt.metadata || s->incoming) {
        return true;
    }
    ret = blk_pread(s->prop.conf.blk, head_at(image_bytes), sizeof(head), &head,
                    0);
    if (ret < 0) {
        error_setg_errno(errp, -ret, "vssd: cannot read the end of the image");
        return false;
    }
    known = memcmp(head.magic, own.magic, sizeof(head.magic)) == 0;
    if (known && memcmp(&head, &own, sizeof(head)) != 0) {
        error_setg(errp,
                   "vssd: metadata=%u: the image is of a drive with "
                   "metadata=%" PRIu32 ", %" PRIu64 " blocks of %" PRIu32
                   " bytes",
                   s->prop.opt.metadata, le32_to_cpu(head.metadata),
                   le64_to_cpu(head.nblocks), le32_to_cpu(head.block_bytes));
        return false;
    }
    return known || make_room(s, &own, nblocks, image_bytes, errp);
}
