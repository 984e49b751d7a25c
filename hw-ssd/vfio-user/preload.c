/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * preload.c - data that is in an image is on the drive, as if written long ago.
 *
 * Knows ranges of images and blocks of the drive.
 */
#include "server.h"

/* Of one image, which has blocks first..end-1 of the drive. */
static bool preload_blocks(Server *s, unsigned i, uint64_t first, uint64_t end,
                           GError **error)
{
    uint32_t block = ssd_info(s->ssd)->block_bytes;
    GError *fault = NULL;
    uint64_t at = 0, bytes;

    while (vfio_image_next_data(s, i, &at, &bytes, &fault)) {
        uint64_t begin = first + at / block;
        uint64_t stop = MIN(first + (at + bytes + block - 1) / block, end);
        int ret;

        if (begin >= end) {
            break;
        }
        ret = nvme_preload(s->ctrl, begin, stop - begin);
        if (ret < 0) {
            g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                        "--image %s: the drive has no room for its data: %s",
                        vfio_image_name(s, i), g_strerror(-ret));
            return false;
        }
        at += bytes;
    }
    if (fault) {
        g_propagate_error(error, fault);
    }
    return !fault;
}

bool vfio_preload(Server *s, uint64_t nblocks, GError **error)
{
    uint32_t block = ssd_info(s->ssd)->block_bytes;

    for (unsigned i = 0; i < s->images.n; i++) {
        const NvmePlace *p = &s->images.place[i];
        uint64_t first = p->start / block;

        if (!preload_blocks(s, i, first,
                            first + MIN(nblocks - first, p->bytes / block),
                            error)) {
            return false;
        }
    }
    return true;
}

bool vfio_preload_image(Server *s, unsigned i, GError **error)
{
    const NvmePlace *p = &s->images.place[i];
    uint32_t block = ssd_info(s->ssd)->block_bytes;

    return preload_blocks(s, i, p->start / block, (p->start + p->bytes) / block,
                          error);
}
