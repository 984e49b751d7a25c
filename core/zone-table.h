/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zone-table.h - which zones of a drive are open or active, and the streams of
 * these (NVM Express Zoned Namespace Command Set 1.1, section 2.1.1).
 *
 * The rules that hosts with and without NVMe share: hw-ssd/nvme/zone/zones.c,
 * lib/zoned.c.  Knows nothing of write pointers, commands or time.
 */
#ifndef VSSD_CORE_ZONE_TABLE_H
#define VSSD_CORE_ZONE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/* As the Zone State field has them (section 2.1.1.3). */
typedef enum ZoneState {
    ZONE_EMPTY = 0x1,
    ZONE_IMPLICIT = 0x2, /* open */
    ZONE_EXPLICIT = 0x3,
    ZONE_CLOSED = 0x4,
    ZONE_READ_ONLY = 0xd,
    ZONE_FULL = 0xe,
    ZONE_OFFLINE = 0xf,
} ZoneState;

#define ZONE_MOST_STREAMS 64
#define ZONE_NO_STREAM    UINT16_MAX

/* A member of the host's record of a zone.  A new one is ZONE_NEW.  The table
 * has its address: a copy of the table needs its owners set. */
typedef struct ZoneBase {
    uint64_t opened; /* order of implicit opens */
    uint16_t stream; /* of the drive, or ZONE_NO_STREAM */
    uint8_t state;   /* ZoneState */
} ZoneBase;

#define ZONE_NEW ((ZoneBase){.stream = ZONE_NO_STREAM, .state = ZONE_EMPTY})

/* The host sets streams and limits; all else begins with 0. */
typedef struct ZoneTable {
    ZoneBase *owner[ZONE_MOST_STREAMS]; /* by stream, or NULL */
    uint64_t opens;                     /* implicit ones, ever */
    uint32_t n_streams;                 /* up to ZONE_MOST_STREAMS */
    uint32_t max_open, max_active;      /* from 1 on */
    uint32_t n_open;                    /* implicitly and explicitly */
    uint32_t n_active;
} ZoneTable;

static inline bool zone_is_open(uint64_t state)
{
    return state == ZONE_IMPLICIT || state == ZONE_EXPLICIT;
}

static inline bool zone_is_active(uint64_t state)
{
    return zone_is_open(state) || state == ZONE_CLOSED;
}

/* The stream that the zone has, or would get; ZONE_NO_STREAM: none is free. */
uint16_t zone_stream(const ZoneTable *t, const ZoneBase *zone);

typedef enum ZoneLack {
    ZONE_LACKS_NOTHING,
    ZONE_LACKS_ACTIVE, /* as many zones are active as may be */
    ZONE_LACKS_STREAM, /* fewer are; others still have their streams */
    ZONE_LACKS_OPEN,   /* as many as may be are open, all explicitly */
} ZoneLack;

/* Are there resources for the zone to be open, or only active? */
ZoneLack zone_lacks(const ZoneTable *t, const ZoneBase *zone, bool open);

/*
 * To an active state only after zone_lacks(): the zone takes a stream.  Another
 * zone may be closed for it, the one that was opened implicitly first.
 * ZONE_IMPLICIT is for a write: an explicitly open zone stays so.  A zone that
 * is no longer active has its stream until zone_give_stream().
 */
void zone_set_state(ZoneTable *t, ZoneBase *zone, ZoneState state);
void zone_give_stream(ZoneTable *t, ZoneBase *zone);

/* A zone that was saved.  false: its numbers contradict each other, or those
 * of zones before it; nothing has changed. */
bool zone_load(ZoneTable *t, ZoneBase *zone, uint64_t state, uint64_t stream,
               uint64_t opened);

static inline bool zone_limits_hold(const ZoneTable *t)
{
    return t->n_open <= t->max_open && t->n_active <= t->max_active;
}

/* Before zones are loaded: none is active or has a stream.  The records of
 * zones are the caller's. */
void zone_forget_all(ZoneTable *t);

#endif
