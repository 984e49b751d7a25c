/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drive.c - the members of Ssd itself, below all components: events, the map
 * from logical to physical units, the records of commands.
 */
#include "component.h"

static bool create(Ssd *ssd, GError **error)
{
    uint64_t units = ssd->l.user_units + ssd->l.meta_units;

    (void)error;
    invariant(!ssd->l2p.entry.element);
    invariant(ssd->l.wide || ssd->l.raw_units <= NUMTABLE_NARROW_MOST);
    eventq_init(&ssd->events);
    ssd->l2p.entry = numtable_new(units, ssd->l.wide);
    numtable_spread(&ssd->l2p.entry);
    ssd->commands.free_cmd = NONE;
    ssd->powered = true;
    return true;
}

static void destroy(Ssd *ssd)
{
    g_free(ssd->commands.cmd);
    numtable_free(&ssd->l2p.entry);
    eventq_destroy(&ssd->events);
}

const Component drive_component = {
    .create = create,
    .destroy = destroy,
};
