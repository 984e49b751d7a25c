/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live.c - the live view of a drive of libvssd.
 *
 * Knows when the caller's clock is read; the drive makes the pictures.
 */
#include "lib-internal.h"

/* Steps of vssd_play() between two looks at the clock. */
#define EVERY 64

void lib_live_look(VssdDrive *d)
{
    LibLive *l = d->live;

    if (l) {
        l->left = EVERY;
        l->host_ns = l->monotonic_ns();
        ssd_live_update(d->ssd, l->host_ns);
    }
}

/* The clock is not read: a caller that destroys a drive may have lost it. */
bool lib_live_end(VssdDrive *d, GError **error)
{
    LibLive *l = g_steal_pointer(&d->live);
    bool ok = !l || ssd_live_close(d->ssd, l->host_ns, error);

    g_free(l);
    return ok;
}

bool lib_live_begin(VssdDrive *d, const char *path,
                    uint64_t (*monotonic_ns)(void), GError **error)
{
    LibLive *l = g_new0(LibLive, 1);

    l->monotonic_ns = monotonic_ns;
    l->host_ns = monotonic_ns();
    if (!ssd_live_open(d->ssd, path, &l->host, l->host_ns, error)) {
        g_free(l);
        return false;
    }
    d->live = l;
    return true;
}
