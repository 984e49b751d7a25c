/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buffers.c - memory for the transfers of commands, kept for the next one.
 *
 * Knows sizes only.
 */
#include "payload-internal.h"

#include <string.h>

#include "lazymem.h"

#define BUF_MIN_BITS   12
#define BUF_KEEP_BYTES (4U << 20)

static unsigned buf_class(size_t bytes)
{
    unsigned c = 0;

    while (((size_t)1 << (BUF_MIN_BITS + c)) < bytes) {
        c++;
    }
    g_assert(c < BUF_CLASSES);
    return c;
}

void *payload_buf_get(Payload *p, size_t bytes)
{
    unsigned c = buf_class(bytes);
    void *buf = p->free_bufs[c];

    if (!buf) {
        return lazy_alloc(1, (size_t)1 << (BUF_MIN_BITS + c));
    }
    memcpy(&p->free_bufs[c], buf, sizeof(void *));
    p->nfree_bufs[c]--;
    return buf;
}

void payload_buf_put(Payload *p, void *buf, size_t bytes)
{
    unsigned c = buf_class(bytes);
    size_t size = (size_t)1 << (BUF_MIN_BITS + c);

    if (p->nfree_bufs[c] >= BUF_KEEP_BYTES / size + 1) {
        lazy_free(buf, 1, size);
        return;
    }
    memcpy(buf, &p->free_bufs[c], sizeof(void *));
    p->free_bufs[c] = buf;
    p->nfree_bufs[c]++;
}

void payload_bufs_free(Payload *p)
{
    for (unsigned c = 0; c < BUF_CLASSES; c++) {
        size_t size = (size_t)1 << (BUF_MIN_BITS + c);
        void *buf;

        while ((buf = p->free_bufs[c])) {
            memcpy(&p->free_bufs[c], buf, sizeof(void *));
            lazy_free(buf, 1, size);
        }
    }
}
