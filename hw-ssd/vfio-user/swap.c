/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * swap.c - the images of namespaces, with several --image, at run time
 * (docs/namespaces.md).
 *
 * Knows the order of things; image.c opens and closes images, and the
 * controller knows namespaces.
 */
#include <string.h>

#include "server.h"

#define IDENTITY ";identity="

static bool refuse_swap(GError **error, const char *format, ...)
    G_GNUC_PRINTF(2, 3);

static bool refuse_swap(GError **error, const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list ap;

    va_start(ap, format);
    text = g_strdup_vprintf(format, ap);
    va_end(ap);
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "vssd: %s", text);
    return false;
}

static bool may_swap(const Server *s, uint64_t nsid, bool has, GError **error)
{
    const NvmeOptions *opt = &s->opt->drive;
    const char *without = opt->oplog         ? "--oplog"
                          : opt->durable_log ? "--durable_log"
                                             : NULL;

    if (without) {
        return refuse_swap(error, "no other images with %s", without);
    }
    if (s->images.n < 2) {
        return refuse_swap(error, "with one --image it stays");
    }
    if (nsid - 1 >= s->images.n) {
        return refuse_swap(error,
                           "namespace %" G_GUINT64_FORMAT ": allowed 1..%u",
                           nsid, s->images.n);
    }
    if ((s->images.place[nsid - 1].bytes > 0) != has) {
        return refuse_swap(error,
                           "namespace %" G_GUINT64_FORMAT " has %s image", nsid,
                           has ? "no" : "an");
    }
    return true;
}

/* ---- remove -------------------------------------------------------------- */

static bool has_blocks(const Server *s, unsigned nsid)
{
    uint64_t first, n;

    return !nvme_namespace_place(s->ctrl, nsid, &first, &n) || n > 0;
}

/* Of a drive at rest.  What the guest has trimmed is freed in the image first,
 * as far as there is time. */
static bool take_out(Server *s, unsigned nsid, GError **error)
{
    if (!nvme_refused_bytes(s->ctrl)) {
        vfio_rest_free_trimmed(s);
    }
    if (!nvme_namespace_remove(s->ctrl, nsid, error)) {
        g_prefix_error(error, "vssd: ");
        return false;
    }
    vfio_rest_settle(s);
    if (has_blocks(s, nsid)) {
        return refuse_swap(
            error, "namespace %u: the drive cannot free its data", nsid);
    }
    vfio_image_remove(s, nsid - 1);
    return true;
}

bool vfio_swap_remove(Server *s, uint64_t nsid, GError **error)
{
    bool ok;

    if (!may_swap(s, nsid, true, error)) {
        return false;
    }
    vfio_rest_begin(s);
    ok = take_out(s, nsid, error);
    vfio_rest_end(s);
    return ok;
}

/* ---- insert -------------------------------------------------------------- */

typedef struct Insert {
    uint64_t nsid;
    char *image; /* g_free */
    bool new_identity;
} Insert;

static bool parse(const char *text, Insert *in, GError **error)
{
    char *end;
    const char *identity;

    in->nsid = g_ascii_strtoull(text, &end, 10);
    if (end == text || *end != '=') {
        return refuse_swap(error,
                           "namespace-insert=%s: allowed is N=FILE, "
                           "N=FILE" IDENTITY "keep|new",
                           text);
    }
    end++;
    identity = strstr(end, IDENTITY);
    in->new_identity = identity && g_str_equal(identity, IDENTITY "new");
    if (identity && !in->new_identity &&
        !g_str_equal(identity, IDENTITY "keep")) {
        return refuse_swap(
            error, "namespace-insert=%s: identity: allowed keep, new", text);
    }
    in->image = identity ? g_strndup(end, identity - end) : g_strdup(end);
    return true;
}

/* Of a drive at rest. */
static bool put_in(Server *s, const Insert *in, GError **error)
{
    uint32_t block_bytes = ssd_info(s->ssd)->block_bytes;
    unsigned i = in->nsid - 1;
    uint64_t room = nvme_namespace_room(s->ctrl, in->nsid) * block_bytes;

    if (!vfio_image_insert(s, i, in->image, room, error)) {
        g_prefix_error(error, "vssd: ");
        return false;
    }
    if (!vfio_preload_image(s, i, error)) {
        vfio_image_remove(s, i);
        g_prefix_error(error, "vssd: ");
        return false;
    }
    nvme_namespace_insert(s->ctrl, in->nsid,
                          s->images.place[i].bytes / block_bytes,
                          in->new_identity);
    return true;
}

bool vfio_swap_insert(Server *s, const char *text, GError **error)
{
    Insert in = {0};
    bool ok = parse(text, &in, error) && may_swap(s, in.nsid, false, error);

    if (ok) {
        vfio_rest_begin(s);
        ok = put_in(s, &in, error);
        vfio_rest_end(s);
    }
    g_free(in.image);
    return ok;
}
