/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live.c - the clock of live.h. */
#include "live.h"

#include "simtime.h"
#include "walltime.h"

/* Instants of the player between two looks at the clock: well below a
 * picture's time, and most of them without a look. */
#define EVERY 64

static uint64_t host_ns(void)
{
    return (uint64_t)wall_us() * NS_PER_US;
}

SimLive *sim_live_new(Ssd *ssd, const char *path, GError **error)
{
    SimLive *l = g_new0(SimLive, 1);

    l->ssd = ssd;
    if (!ssd_live_open(ssd, path, &l->host, host_ns(), error)) {
        g_clear_pointer(&l, g_free);
    }
    return l;
}

void sim_live_look(SimLive *l)
{
    l->left = EVERY;
    ssd_live_update(l->ssd, host_ns());
}

bool sim_live_end(SimLive *l, GError **error)
{
    bool ok = !l || ssd_live_close(l->ssd, host_ns(), error);

    g_free(l);
    return ok;
}
