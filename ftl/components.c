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
    /* the clock, the map, the records of commands */
    &drive_component,
    /* puts its events into the queue of the drive */
    &array_component,
    /* policies are told the shape of the array */
    &outside_component,
    /* link, cores and DRAM serve all above */
    &controller_component,
    /* blocks: those that the array has, without its bad ones */
    &media_component,
    /* takes its blocks from media/ */
    &journal_component,
    /* planes and streams for pages in the blocks of media/ */
    &placement_component,
    /* its slots wait in the queues of streams of placement/ */
    &buffer_component,
    /* gives placement/ and buffer/ its callbacks */
    &map_component,
    /* asks the map who empties blocks; media/ and placement/ hear of it */
    &gc_component,
    /* takes the energy of all below */
    &thermal_component,
    /* its commands are the first to end in a power cut */
    &host_component,
    /* begins recovery when all others have power */
    &power_component,
    /* its logs end before what they watch; a reset zeroes the counts of
     * the host, from which journal/ counts */
    &inspect_component,
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

void components_options_changed(Ssd *ssd, const SsdConfig *before)
{
    invariant(ssd->powered);
    for (size_t i = 0; i < N_COMPONENTS; i++) {
        if (components[i]->options_changed) {
            components[i]->options_changed(ssd, before);
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

bool components_state(Ssd *ssd, State *s)
{
    for (size_t i = 0; i < N_COMPONENTS; i++) {
        if (components[i]->state && !components[i]->state(ssd, s)) {
            return false;
        }
    }
    return true;
}

const StateStruct *components_rows(unsigned i)
{
    for (size_t k = 0; k < N_COMPONENTS; k++) {
        const Component *c = components[k];

        for (unsigned own = 0; c->rows && c->rows(own); own++) {
            if (i-- == 0) {
                return c->rows(own);
            }
        }
    }
    return NULL;
}

bool components_check(const Ssd *ssd, bool at_rest, GError **error)
{
    for (size_t i = 0; i < N_COMPONENTS; i++) {
        if (components[i]->check &&
            !components[i]->check(ssd, at_rest, error)) {
            return false;
        }
    }
    return true;
}
