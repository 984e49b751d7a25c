/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zone-table.c - which zones are open or active, and their streams; see
 * zone-table.h.
 */
#include "zone-table.h"

#include <glib.h>
#include <string.h>

uint16_t zone_stream(const ZoneTable *t, const ZoneBase *zone)
{
    uint16_t i = 0;

    if (zone->stream != ZONE_NO_STREAM) {
        return zone->stream;
    }
    while (i < t->n_streams && t->owner[i]) {
        i++;
    }
    return i < t->n_streams ? i : ZONE_NO_STREAM;
}

/* NULL: none is open implicitly.  Active zones have streams. */
static ZoneBase *oldest_implicit(const ZoneTable *t)
{
    ZoneBase *oldest = NULL;

    for (uint32_t i = 0; i < t->n_streams; i++) {
        ZoneBase *zone = t->owner[i];

        if (zone && zone->state == ZONE_IMPLICIT &&
            (!oldest || zone->opened < oldest->opened)) {
            oldest = zone;
        }
    }
    return oldest;
}

ZoneLack zone_lacks(const ZoneTable *t, const ZoneBase *zone, bool open)
{
    if (!zone_is_active(zone->state)) {
        if (t->n_active >= t->max_active) {
            return ZONE_LACKS_ACTIVE;
        }
        if (zone_stream(t, zone) == ZONE_NO_STREAM) {
            return ZONE_LACKS_STREAM;
        }
    }
    return open && !zone_is_open(zone->state) && t->n_open >= t->max_open &&
                   !oldest_implicit(t)
               ? ZONE_LACKS_OPEN
               : ZONE_LACKS_NOTHING;
}

static void put(ZoneTable *t, ZoneBase *zone, ZoneState state)
{
    t->n_open += zone_is_open(state) - zone_is_open(zone->state);
    t->n_active += zone_is_active(state) - zone_is_active(zone->state);
    zone->state = (uint8_t)state;
}

void zone_set_state(ZoneTable *t, ZoneBase *zone, ZoneState state)
{
    if (zone_is_open(state) && !zone_is_open(zone->state) &&
        t->n_open >= t->max_open) {
        put(t, oldest_implicit(t), ZONE_CLOSED);
    }
    if (state == ZONE_IMPLICIT && zone_is_open(zone->state)) {
        return;
    }
    if (zone_is_active(state)) {
        zone->stream = zone_stream(t, zone);
        g_assert(zone->stream != ZONE_NO_STREAM);
        t->owner[zone->stream] = zone;
    }
    if (state == ZONE_IMPLICIT) {
        zone->opened = ++t->opens;
    }
    put(t, zone, state);
}

void zone_give_stream(ZoneTable *t, ZoneBase *zone)
{
    if (zone->stream != ZONE_NO_STREAM) {
        t->owner[zone->stream] = NULL;
        zone->stream = ZONE_NO_STREAM;
    }
}

static bool is_state(uint64_t state)
{
    return (state >= ZONE_EMPTY && state <= ZONE_CLOSED) ||
           (state >= ZONE_READ_ONLY && state <= ZONE_OFFLINE);
}

bool zone_load(ZoneTable *t, ZoneBase *zone, uint64_t state, uint64_t stream,
               uint64_t opened)
{
    bool has = stream != ZONE_NO_STREAM;

    if (!is_state(state) || opened > t->opens ||
        (has ? stream >= t->n_streams || t->owner[stream]
             : zone_is_active(state))) {
        return false;
    }
    *zone = (ZoneBase){opened, (uint16_t)stream, ZONE_EMPTY};
    put(t, zone, (ZoneState)state);
    if (has) {
        t->owner[stream] = zone;
    }
    return true;
}

void zone_forget_all(ZoneTable *t)
{
    memset(t->owner, 0, sizeof(t->owner));
    t->n_open = 0;
    t->n_active = 0;
}
