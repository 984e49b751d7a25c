/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * preload.c - what the image holds when the drive begins: the ranges that its
 * nodes report as data.
 */
#include "qemu/osdep.h"
#include "block/block_int-common.h"
#include "qapi/error.h"
#include "system/block-backend.h"

#include "vssd.h"

/* Of one node, which has `end` bytes of the drive from `start` on. */
static bool preload_node(VssdDev *s, BlockBackend *blk, uint64_t start,
                         int64_t end, uint64_t *data_bytes, Error **errp)
{
    uint32_t block_bytes = ssd_info(s->ssd)->block_bytes;
    uint64_t base = start / block_bytes;
    int64_t at = 0;

    while (at < end) {
        int64_t n;
        int ret;

        ret = bdrv_block_status_above(blk_bs(blk), NULL, at, end - at, &n, NULL,
                                      NULL);
        if (ret < 0 || n <= 0) {
            error_setg_errno(errp, ret < 0 ? -ret : EIO,
                             "vssd: cannot read the allocation map of the "
                             "drive's image at byte %" PRId64,
                             at);
            return false;
        }
        if (!(ret & BDRV_BLOCK_ZERO)) {
            uint64_t first = at / block_bytes;
            uint64_t last =
                MIN(DIV_ROUND_UP(at + n, block_bytes), end / block_bytes);

            *data_bytes += n;
            ret = nvme_preload(s->ctrl, base + first, last - first);
            if (ret < 0) {
                error_setg_errno(errp, -ret,
                                 "vssd: the drive of '%s' has no "
                                 "room for the data of the image",
                                 s->prop.opt.state ? s->prop.opt.state
                                                   : s->prop.profile);
                return false;
            }
        }
        at += n;
    }
    return true;
}

bool vssd_store_preload(VssdDev *s, uint64_t nblocks, uint64_t *data_bytes,
                        Error **errp)
{
    int64_t all = nblocks * ssd_info(s->ssd)->block_bytes;

    g_assert(bql_locked());
    *data_bytes = 0;
    for (unsigned i = 0; i < s->store.images.n; i++) {
        const NvmePlace *p = &s->store.images.place[i];

        if (!preload_node(s, s->store.blk[i], p->start, MIN(all, p->bytes),
                          data_bytes, errp)) {
            return false;
        }
    }
    return true;
}

bool vssd_store_preload_image(VssdDev *s, unsigned i, Error **errp)
{
    const NvmePlace *p = &s->store.images.place[i];
    uint64_t data_bytes = 0;

    g_assert(bql_locked());
    return preload_node(s, s->store.blk[i], p->start, p->bytes, &data_bytes,
                        errp);
}
