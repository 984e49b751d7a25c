/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * components.c - the components of a drive in order, and what is done with all
 * of them.
 *
 * Knows the order; knows nothing of what a component does.
 */
#include "component.h"

/* From the bottom up (docs/architecture.md). */
static const Component *const components[] = {
    &drive_component,     /* clock, map, commands */
    &array_component,     /* needs the event queue */
    &outside_component,   /* policies are told the shape of the array */
    &controller_component,
    &media_component,     /* asks the array for bad blocks */
    &journal_component,   /* takes blocks of media/ */
    &placement_component,
    &buffer_component,    /* as many slots as the policy of placement/ needs */
    &map_component,       /* gives placement/ and buffer/ its callbacks */
    &gc_component,        /* asks the map who empties blocks */
    &thermal_component,
    &host_component,
    &power_component,
    &inspect_component,   /* its logs end before what they watch; a reset zeroes
                             the host's counts, from which journal/ counts */
};

#define N_COMPONENTS G_N_ELEMENTS(components)

/* The first n of them. */
static void destroy(Ssd *ssd, size_t n)
{
    while (n-- > 0) {
        if (components[n]->destroy) {
            components[n]->destroy(ssd);
        }
    }
}

bool components_create(Ssd *ssd, GError **error)
{
    for (size_t i = 0; i < N_COMPONENTS; i++) {
        if (components[i]->create && !components[i]->create(ssd, error)) {
            destroy(ssd, i);
            return false;
        }
    }
    return true;
}

void components_destroy(Ssd *ssd)
{
    destroy(ssd, N_COMPONENTS);
}

void components_power_dropped(Ssd *ssd)
{
    invariant(!ssd->powered);
    for (size_t i = N_COMPONENTS; i-- > 0;) {
        if (components[i]->power_dropped) {
            components[i]->power_dropped(ssd);
        }
    }
}

void components_power_settled(Ssd *ssd)
{
    invariant(!ssd->powered && nand_load(ssd->nand) == 0);
    for (size_t i = 0; i < N_COMPONENTS; i++) {
        if (components[i]->power_settled) {
            components[i]->power_settled(ssd);
        }
    }
}

void components_power_on(Ssd *ssd)
{
    invariant(ssd->powered);
    for (size_t i = 0; i < N_COMPONENTS; i++) {
        if (components[i]->power_on) {
            components[i]->power_on(ssd);
        }
    }
}

void components_reset_stats(Ssd *ssd)
{
    for (size_t i = N_COMPONENTS; i-- > 0;) {
        if (components[i]->reset_stats) {
            components[i]->reset_stats(ssd);
        }
    }
}
