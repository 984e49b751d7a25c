/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zone-writer.h - where the writes of a generator go on a drive with zones:
 * from the start of a zone to its end, several zones in turns.
 *
 * Knows places and bytes; the player resets a zone that is written again.
 */
#ifndef VSSD_SIM_ZONE_WRITER_H
#define VSSD_SIM_ZONE_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#define ZONE_WRITER_MOST 62 /* zones at a time */

typedef struct ZoneWriter {
    uint64_t zone_bytes; /* 0: the drive has no zones */
    uint64_t part;       /* bytes of a zone that are written */
    uint64_t first;      /* zone */
    uint64_t n;          /* zones */
    uint64_t next;       /* zone, from first on, that no place has had */
    uint32_t n_places;
    uint32_t turn;
    struct {
        uint64_t zone;
        uint64_t done; /* bytes */
    } place[ZONE_WRITER_MOST];
    uint64_t to_finish; /* a zone of which only a part is written, + 1; or 0 */
} ZoneWriter;

/* Zones that are wholly in the range, n_places of them at a time, up to `part`
 * bytes of each (0: all).  false: there are fewer. */
bool zone_writer_init(ZoneWriter *w, uint64_t zone_bytes, uint64_t offset,
                      uint64_t size, uint32_t n_places, uint64_t part);

/* The offset of the next write, at that place. */
uint64_t zone_writer_next(ZoneWriter *w, uint32_t place, uint64_t nbytes);

/* The start of a zone that is to be finished now; false: none is. */
bool zone_writer_finish(ZoneWriter *w, uint64_t *offset);

#endif
