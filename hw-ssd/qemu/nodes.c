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
