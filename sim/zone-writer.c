/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zone-writer.c - see zone-writer.h. */
#include "zone-writer.h"

static void take_zone(ZoneWriter *w, uint32_t place)
{
    w->place[place].zone = w->first + w->next;
    w->place[place].done = 0;
    w->next = (w->next + 1) % w->n;
}

bool zone_writer_init(ZoneWriter *w, uint64_t zone_bytes, uint64_t offset,
                      uint64_t size, uint32_t n_places, uint64_t part)
{
    uint64_t first = (offset + zone_bytes - 1) / zone_bytes;
    uint64_t end = (offset + size) / zone_bytes;

    *w = (ZoneWriter){
        .zone_bytes = zone_bytes,
        .part = part && part < zone_bytes ? part : zone_bytes,
        .first = first,
        .n = end > first ? end - first : 0,
        .n_places = n_places,
    };
    if (w->n < n_places || n_places > ZONE_WRITER_MOST) {
        return false;
    }
    for (uint32_t i = 0; i < n_places; i++) {
        take_zone(w, i);
    }
    return true;
}

uint64_t zone_writer_next(ZoneWriter *w, uint32_t place, uint64_t nbytes)
{
    uint64_t zone = w->place[place].zone;
    uint64_t at = zone * w->zone_bytes + w->place[place].done;

    w->place[place].done += nbytes;
    if (w->place[place].done >= w->part) {
        w->to_finish = w->part < w->zone_bytes ? zone + 1 : 0;
        take_zone(w, place);
    }
    return at;
}

bool zone_writer_finish(ZoneWriter *w, uint64_t *offset)
{
    if (w->to_finish == 0) {
        return false;
    }
    *offset = (w->to_finish - 1) * w->zone_bytes;
    w->to_finish = 0;
    return true;
}
