/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nodes.c - the block nodes of the drive: one for all of it, or one for each
 * namespace (drive=, drive2=, ... drive8=).
 *
 * Knows nodes; images.h knows which of them has an offset of the drive, store.c
 * knows requests.
 */
#include "qemu/osdep.h"
#include "block/block.h"
#include "qapi/error.h"
#include "system/block-backend.h"

#include "vssd.h"

static BlockConf *conf_of(VssdDev *s, unsigned i)
{
    return i ? &s->prop.more[i - 1] : &s->prop.conf;
}

/* ---- life ---------------------------------------------------------------- */

static bool count_nodes(VssdDev *s, Error **errp)
{
    s->store.images.n = 1;
    for (unsigned i = 1; i < NVME_MAX_IMAGES; i++) {
        if (!conf_of(s, i)->blk) {
            continue;
        }
        if (i != s->store.images.n) {
            error_setg(errp, "vssd: drive%u=ID needs drive%u=ID", i + 1, i);
            return false;
        }
        s->store.images.n++;
    }
    if (s->store.images.n > 1 && s->prop.opt.namespaces) {
        error_setg(errp, "vssd: namespaces= does not go with drive2=ID: each "
                         "node is one namespace");
        return false;
    }
    if (s->store.images.n > 1 && s->prop.opt.metadata) {
        error_setg(errp, "vssd: metadata=%u: not with drive2=ID",
                   s->prop.opt.metadata);
        return false;
    }
    return true;
}

static bool open_node(VssdDev *s, unsigned i, Error **errp)
{
    BlockConf *conf = conf_of(s, i);
    BlockBackend *blk = conf->blk;

    if (!blk_is_inserted(blk)) {
        error_setg(errp, "vssd: drive%u=%s has no medium", i + 1,
                   blk_name(blk));
        return false;
    }
    if (!blk_supports_write_perm(blk)) {
        error_setg(errp,
                   "vssd: the image of drive%u=%s is read-only: open it "
                   "read-write",
                   i + 1, blk_name(blk));
        return false;
    }
    *conf = s->prop.conf; /* werror=, rerror=, write-cache= */
    conf->blk = blk;
    return blkconf_apply_backend_options(conf, false, false, errp);
}

bool vssd_nodes_open(VssdDev *s, Error **errp)
{
    if (!count_nodes(s, errp)) {
        return false;
    }
    for (unsigned i = 1; i < s->store.images.n; i++) {
        if (!open_node(s, i, errp)) {
            return false;
        }
    }
    for (unsigned i = 0; i < s->store.images.n; i++) {
        s->store.blk[i] = conf_of(s, i)->blk;
        s->store.images.place[i].bytes = INT64_MAX;
    }
    return true;
}

bool vssd_nodes_set_context(VssdDev *s, AioContext *ctx, Error **errp)
{
    for (unsigned i = 0; i < s->store.images.n; i++) {
        if (blk_set_aio_context(s->store.blk[i], ctx, errp) != 0) {
            return false;
        }
    }
    return true;
}

/* ---- places -------------------------------------------------------------- */

char *vssd_nodes_namespaces(VssdDev *s, Error **errp)
{
    uint32_t block_bytes = ssd_info(s->ssd)->block_bytes;

    for (unsigned i = 0; i < s->store.images.n; i++) {
        int64_t bytes = blk_getlength(s->store.blk[i]);

        if (bytes < block_bytes) {
            error_setg(errp,
                       "vssd: the image of drive%u=%s is smaller than one "
                       "block of %" PRIu32 " bytes",
                       i + 1, blk_name(s->store.blk[i]), block_bytes);
            return NULL;
        }
        s->store.images.place[i].bytes = bytes;
    }
    return nvme_images_namespaces(&s->store.images, block_bytes);
}

bool vssd_nodes_place(VssdDev *s, const NvmeCtrl *ctrl, GError **error)
{
    return nvme_images_place(&s->store.images, ctrl,
                             ssd_info(s->ssd)->block_bytes, error);
}

/* ---- another image ------------------------------------------------------- */

bool vssd_nodes_check(VssdDev *s, uint64_t nsid, bool has, Error **errp)
{
    const NvmeImages *images = &s->store.images;

    if (images->n < 2) {
        error_setg(errp, "vssd: without drive2=ID the image stays");
        return false;
    }
    if (nsid - 1 >= images->n) {
        error_setg(errp, "vssd: namespace %" PRIu64 ": allowed 1..%u", nsid,
                   images->n);
        return false;
    }
    if ((images->place[nsid - 1].bytes > 0) != has) {
        error_setg(errp, "vssd: namespace %" PRIu64 " has %s image", nsid,
                   has ? "no" : "an");
        return false;
    }
    return true;
}

void vssd_nodes_remove(VssdDev *s, unsigned i)
{
    g_assert(bql_locked());
    blk_remove_bs(s->store.blk[i]);
    s->store.images.place[i].bytes = 0;
}

/* The size that a namespace has with the image; 0: none. */
static uint64_t usable_bytes(VssdDev *s, unsigned i, BlockDriverState *bs,
                             uint64_t room, Error **errp)
{
    uint32_t block_bytes = ssd_info(s->ssd)->block_bytes;
    int64_t bytes = bdrv_getlength(bs);

    if (bytes < block_bytes) {
        error_setg(errp,
                   "vssd: the image of node '%s' is smaller than one block of "
                   "%" PRIu32 " bytes",
                   bdrv_get_node_name(bs), block_bytes);
        return 0;
    }
    if (bytes > room) {
        error_setg(errp,
                   "vssd: the image of node '%s' has %" PRId64 " bytes, "
                   "namespace %u only %" PRIu64,
                   bdrv_get_node_name(bs), bytes, i + 1, room);
        return 0;
    }
    return QEMU_ALIGN_DOWN(bytes, block_bytes);
}

uint64_t vssd_nodes_insert(VssdDev *s, unsigned i, const char *node,
                           uint64_t room, Error **errp)
{
    ERRP_GUARD();
    BlockDriverState *bs = bdrv_find_node(node);
    uint64_t bytes;

    g_assert(bql_locked());
    if (!bs) {
        error_setg(errp, "vssd: there is no block node '%s'", node);
        return 0;
    }
    bytes = usable_bytes(s, i, bs, room, errp);
    if (!bytes) {
        return 0;
    }
    if (blk_insert_bs(s->store.blk[i], bs, errp) != 0) {
        error_prepend(errp, "vssd: ");
        return 0;
    }
    s->store.images.place[i].bytes = bytes;
    return bytes;
}

void vssd_nodes_refill(VssdDev *s)
{
    uint32_t block_bytes = ssd_info(s->ssd)->block_bytes;

    for (unsigned i = 0; i < s->store.images.n; i++) {
        uint64_t has = s->store.images.place[i].bytes / block_bytes;
        uint64_t first, n;

        if (nvme_namespace_place(s->ctrl, i + 1, &first, &n) && !n &&
            has <= nvme_namespace_room(s->ctrl, i + 1)) {
            nvme_namespace_insert(s->ctrl, i + 1, has, false);
        }
    }
}
