/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * component.h - the life of a component: what it does when the drive is made,
 * loses power, gets it back, and ends.
 *
 * Each component has one table, in its own folder (component.c).  components.c
 * lists them all in order, from the bottom up, and goes through the list; the
 * drive as a whole (ssd.c, power/power.c) knows the list only.
 */
#ifndef VSSD_FTL_COMPONENT_H
#define VSSD_FTL_COMPONENT_H

#include "layers.h"
#include "ssd-internal.h"
#include "state.h"

/* NULL: nothing to do. */
typedef struct Component {
    /* Upwards: the components below are there.  false: *error is set, and
     * nothing of this component is left. */
    bool (*create)(Ssd *ssd, GError **error);
    /* Downwards: those above are gone. */
    void (*destroy)(Ssd *ssd);
    /* The power has gone; downwards, and before the array learns of it: what
     * runs is dropped.  The records of those below still say what that was. */
    void (*power_dropped)(Ssd *ssd);
    /* Upwards, and after the array: what remains is put in order.  Those below
     * are as they will be when the power is back. */
    void (*power_settled)(Ssd *ssd);
    /* The power is back; upwards. */
    void (*power_on)(Ssd *ssd);
    /* Options with OptDesc.running may have other values than before had;
     * upwards.  What follows from them is computed again, and work that they
     * bring or take away is marked or forgotten. */
    void (*options_changed)(Ssd *ssd, const SsdConfig *before);
    /* Statistics count from now on; downwards. */
    void (*reset_stats)(Ssd *ssd);
    /* Its structs whose members are listed; NULL past the last. */
    const StateStruct *(*rows)(unsigned i);
    /* Save the component, or load it; upwards.  What follows from members is
     * computed again at the end of a load.  false: there is an error. */
    bool (*state)(Ssd *ssd, State *s);
    /* Can each member be used as what it is, and do they agree with each other
     * and with those below?  Upwards.  The drive may come from a forged stream,
     * so a number that the rows do not limit is looked at before it is used.
     * at_rest: nothing is under way.  false: *error, in one line. */
    bool (*check)(const Ssd *ssd, bool at_rest, GError **error);
} Component;

extern const Component drive_component, array_component, outside_component,
    controller_component, media_component, journal_component,
    placement_component, buffer_component, map_component, gc_component,
    thermal_component, host_component, power_component, inspect_component;

/* ---- components.c ------------------------------------------------------- */

/* Make all of them.  false: *error is set, and none is left. */
bool components_create(Ssd *ssd, GError **error);
void components_destroy(Ssd *ssd);
void components_power_dropped(Ssd *ssd);
void components_power_settled(Ssd *ssd);
void components_power_on(Ssd *ssd);
void components_options_changed(Ssd *ssd, const SsdConfig *before);
void components_reset_stats(Ssd *ssd);
bool components_state(Ssd *ssd, State *s);
bool components_check(const Ssd *ssd, bool at_rest, GError **error);

/* The structs of all whose members are listed to be saved, for a test; NULL
 * past the last. */
const StateStruct *components_rows(unsigned i);

#endif
