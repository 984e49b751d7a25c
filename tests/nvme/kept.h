/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kept.h - what a controller keeps without power, as bytes, for tests. */
#ifndef VSSD_TESTS_NVME_KEPT_H
#define VSSD_TESTS_NVME_KEPT_H

#include "host.h"

/* To be freed with free(). */
static inline char *kept_save(Host *h, size_t *n)
{
    GError *error = NULL;
    char *bytes = NULL;
    FILE *f = open_memstream(&bytes, n);

    g_assert_true(nvme_save_kept(h->ctrl, f, &error));
    g_assert_no_error(error);
    fclose(f);
    return bytes;
}

/* A new drive with what was kept.  NULL: *error says why not. */
static inline Host *kept_load(const HostOptions *o, char *bytes, size_t n,
                              GError **error)
{
    Host *h = host_new(o);
    FILE *f = fmemopen(bytes, n, "rb");
    bool namespaces;
    bool ok = nvme_load_kept(h->ctrl, f, &namespaces, error);

    fclose(f);
    if (!ok) {
        host_free(h);
        return NULL;
    }
    return h;
}

static inline void kept_is_refused(const HostOptions *o, char *bytes, size_t n,
                                   const char *why)
{
    GError *error = NULL;

    g_assert_null(kept_load(o, bytes, n, &error));
    g_assert_nonnull(strstr(error->message, why));
    g_clear_error(&error);
}

/* A byte is another one, about 200 times: each is refused. */
static inline void kept_is_checked(const HostOptions *o, char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i += n / 200 + 1) {
        bytes[i] ^= 0x55;
        kept_is_refused(o, bytes, n, "");
        bytes[i] ^= 0x55;
    }
}

#endif
