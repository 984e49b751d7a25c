/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metadata.c - is the image divided for metadata (images.h)?  A new one is.
 *
 * Knows the image; what the bytes mean is the controller's business.
 */
#include <string.h>

#include "server.h"

#define CHUNK_BYTES (1ULL << 20)

static bool is_zero(const uint8_t *buf, size_t n)
{
    return n == 0 || (buf[0] == 0 && memcmp(buf, buf + 1, n - 1) == 0);
}

/* *zero: so is the range; it is not looked at if it was not before. */
static int read_is_zero(Server *s, uint64_t at, uint64_t n, uint8_t *buf,
                        bool *zero)
{
    int ret = 0;

    while (n && ret == 0 && *zero) {
        uint64_t piece = MIN(n, CHUNK_BYTES);

        ret = vfio_image_move(s, false, at, buf, piece);
        *zero = ret < 0 || is_zero(buf, piece);
        at += piece;
        n -= piece;
    }
    return ret;
}

/* *zero: the image reads as zeroes from there to its end. */
static int is_zero_from(Server *s, uint64_t at, bool *zero, GError **error)
{
    g_autofree uint8_t *buf = g_malloc(CHUNK_BYTES);
    uint64_t n;
    int ret = 0;

    *zero = true;
    while (ret == 0 && *zero && vfio_image_next_data(s, 0, &at, &n, error)) {
        ret = read_is_zero(s, at, n, buf, zero);
        at += n;
    }
    return ret;
}

static bool fail(const Server *s, int ret, GError **error)
{
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO,
                "--metadata=%u: cannot prepare the image %s: %s",
                s->opt->drive.metadata, s->opt->images[0], g_strerror(-ret));
    return false;
}

static bool make_room(Server *s, uint64_t nblocks, uint64_t bytes,
                      GError **error)
{
    uint32_t metadata = s->opt->drive.metadata;
    uint64_t at = nblocks * s->opt->block;
    uint8_t head[NVME_HEAD_BYTES];
    GError *fault = NULL;
    bool zero;
    int ret = is_zero_from(s, at, &zero, &fault);

    if (fault) {
        g_propagate_error(error, fault);
        return false;
    }
    if (ret == 0 && !zero) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "--metadata=%u: the image has data in its last "
                    "%" G_GUINT64_FORMAT " bytes, where the metadata would be: "
                    "enlarge the image by as much",
                    metadata, bytes - at);
        return false;
    }
    nvme_image_make_head(head, nblocks, s->opt->block, metadata);
    if (ret == 0) {
        ret = vfio_image_move(s, true, nvme_image_head_at(bytes), head,
                              sizeof(head));
    }
    return ret == 0 || fail(s, ret, error);
}

bool vfio_metadata_open(Server *s, uint64_t nblocks, GError **error)
{
    uint64_t bytes = vfio_image_bytes(s);
    uint8_t head[NVME_HEAD_BYTES];
    bool known;
    int ret;

    if (!s->opt->drive.metadata) {
        return true;
    }
    ret = vfio_image_move(s, false, nvme_image_head_at(bytes), head,
                          sizeof(head));
    if (ret < 0) {
        return fail(s, ret, error);
    }
    if (!nvme_image_check_head(head, nblocks, s->opt->block,
                               s->opt->drive.metadata, &known, error)) {
        g_prefix_error(error, "--");
        return false;
    }
    return known || make_room(s, nblocks, bytes, error);
}
