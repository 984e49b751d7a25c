/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nodes.c - the block nodes of the drive: one for all of it, or one for each
 * namespace (drive=, drive2=, ... drive8=).
 *
 * With several, namespace n is all of node n, and the host cannot create or
 * delete namespaces.  A namespace then has one place in the drive for good, so
 * an offset in the drive says which node has it.
 *
 * Knows nodes and places; store.c knows requests.
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
    s->store.n_nodes = 1;
    for (unsigned i = 1; i < VSSD_MAX_NODES; i++) {
        if (!conf_of(s, i)->blk) {
            continue;
        }
        if (i != s->store.n_nodes) {
            error_setg(errp, "vssd: drive%u=ID needs drive%u=ID", i + 1, i);
            return false;
        }
        s->store.n_nodes++;
    }
    if (s->store.n_nodes > 1 && s->prop.opt.namespaces) {
        error_setg(errp, "vssd: namespaces= does not go with drive2=ID: each "
                         "node is one namespace");
        return false;
    }
    if (s->store.n_nodes > 1 && s->prop.opt.metadata) {
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
    for (unsigned i = 1; i < s->store.n_nodes; i++) {
        if (!open_node(s, i, errp)) {
            return false;
        }
    }
    for (unsigned i = 0; i < s->store.n_nodes; i++) {
        s->store.node[i] = (VssdNode){
            .blk = conf_of(s, i)->blk,
            .bytes = INT64_MAX,
        };
    }
    return true;
}

bool vssd_nodes_set_context(VssdDev *s, AioContext *ctx, Error **errp)
{
    for (unsigned i = 0; i < s->store.n_nodes; i++) {
        if (blk_set_aio_context(s->store.node[i].blk, ctx, errp) != 0) {
            return false;
        }
    }
    return true;
}

/* ---- places -------------------------------------------------------------- */

char *vssd_nodes_namespaces(VssdDev *s, Error **errp)
{
    uint32_t block_bytes = ssd_info(s->ssd)->block_bytes;
    g_autoptr(GString) text = g_string_new(NULL);

    for (unsigned i = 0; i < s->store.n_nodes; i++) {
        int64_t bytes = blk_getlength(s->store.node[i].blk);

        if (bytes < block_bytes) {
            error_setg(errp,
                       "vssd: the image of drive%u=%s is smaller than one "
                       "block of %" PRIu32 " bytes",
                       i + 1, blk_name(s->store.node[i].blk), block_bytes);
            return NULL;
        }
        s->store.node[i].bytes = QEMU_ALIGN_DOWN(bytes, block_bytes);
        g_string_append_printf(text, "%s%" PRIu64, i ? ";" : "",
                               s->store.node[i].bytes);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

bool vssd_nodes_place(VssdDev *s, const NvmeCtrl *ctrl, GError **error)
{
    uint64_t first, nblocks;
    uint64_t end = 0;

    if (s->store.n_nodes == 1) {
        return true;
    }
    for (unsigned i = 0; i < s->store.n_nodes; i++) {
        uint32_t block_bytes = ssd_info(s->ssd)->block_bytes;

        if (!nvme_namespace_place(ctrl, i + 1, &first, &nblocks) ||
            nblocks * block_bytes != s->store.node[i].bytes || first < end) {
            g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                        "its namespace %u has not the size of the image of "
                        "drive%u=%s, or its place",
                        i + 1, i + 1, blk_name(s->store.node[i].blk));
            return false;
        }
        s->store.node[i].start = first * block_bytes;
        end = first + nblocks;
    }
    if (nvme_namespace_place(ctrl, s->store.n_nodes + 1, &first, &nblocks)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "it has a namespace %u, and there is no drive%u=ID",
                    s->store.n_nodes + 1, s->store.n_nodes + 1);
        return false;
    }
    return true;
}

/* The last node that begins at or before the offset. */
VssdPiece vssd_nodes_find(VssdDev *s, uint64_t offset, uint64_t bytes)
{
    unsigned i = s->store.n_nodes - 1;
    const VssdNode *node;
    VssdPiece piece;

    while (i && s->store.node[i].start > offset) {
        i--;
    }
    node = &s->store.node[i];
    if (i + 1 < s->store.n_nodes) {
        bytes = MIN(bytes, s->store.node[i + 1].start - offset);
    }
    piece = (VssdPiece){
        .blk = node->blk,
        .offset = offset - node->start,
        .bytes = bytes,
    };
    piece.there =
        piece.offset < node->bytes ? MIN(bytes, node->bytes - piece.offset) : 0;
    return piece;
}
