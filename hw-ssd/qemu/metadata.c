/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metadata.c - is the image divided for metadata (images.h)?  A new one is.
 *
 * Knows the node; what the bytes mean is the controller's business.
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "qemu/cutils.h"
#include "block/block.h"
#include "qapi/error.h"
#include "system/block-backend.h"

#include "vssd.h"

#define CHUNK_BYTES (1 * MiB)

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

static bool make_room(VssdDev *s, uint64_t nblocks, int64_t image_bytes,
                      Error **errp)
{
    uint32_t block_bytes = s->prop.conf.logical_block_size;
    uint64_t at = nblocks * block_bytes;
    uint8_t head[NVME_HEAD_BYTES];
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
    nvme_image_make_head(head, nblocks, block_bytes, s->prop.opt.metadata);
    if (ret >= 0) {
        ret = blk_pwrite(s->prop.conf.blk, nvme_image_head_at(image_bytes),
                         sizeof(head), head, 0);
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
    uint8_t head[NVME_HEAD_BYTES];
    GError *error = NULL;
    bool known;
    int ret;

    if (!s->prop.opt.metadata || s->incoming) {
        return true;
    }
    ret = blk_pread(s->prop.conf.blk, nvme_image_head_at(image_bytes),
                    sizeof(head), head, 0);
    if (ret < 0) {
        error_setg_errno(errp, -ret, "vssd: cannot read the end of the image");
        return false;
    }
    if (!nvme_image_check_head(head, nblocks, s->prop.conf.logical_block_size,
                               s->prop.opt.metadata, &known, &error)) {
        error_setg(errp, "vssd: %s", error->message);
        g_error_free(error);
        return false;
    }
    return known || make_room(s, nblocks, image_bytes, errp);
}
