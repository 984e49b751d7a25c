/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zoned.h - the zones of a drive for a host without NVMe: libvssd, vssd-sim.
 *
 * States, write pointers and limits as in the Zoned Namespace Command Set 1.1,
 * section 2.1.1, of zones that fill their blocks and have no Zone Random Write
 * Area.  A zone is a stream of the drive (ssd.h): this table says which, and
 * turns an action on a zone into a command of the drive.
 *
 * Of each command the caller asks, gives it to the drive, says that the drive
 * took it, and later that it has ended.
 */
#ifndef VSSD_ZONED_H
#define VSSD_ZONED_H

#include <stdio.h>

#include "ssd.h"

typedef struct Zoned Zoned;

typedef enum ZoneAct {
    ZONE_PLAIN,  /* READ, WRITE at the write pointer, FLUSH */
    ZONE_APPEND, /* WRITE: lba is any block of the zone, then the one written */
    ZONE_RESET,  /* lba is any block of the zone, as for those below */
    ZONE_FINISH,
    ZONE_OPEN,
    ZONE_CLOSE,
    ZONE_N_ACTS,
} ZoneAct;

typedef enum ZoneGo {
    ZONE_GOES,   /* the command of the drive is in *cmd */
    ZONE_WAITS,  /* until a command in flight for the zone has ended */
    ZONE_REFUSED /* why has a line */
} ZoneGo;

#define ZONE_WHY_BYTES 160

/* NULL: the drive has no zones.  *error: it has some of another kind. */
Zoned *zoned_new(const SsdInfo *info, GError **error);
Zoned *zoned_copy(const Zoned *z);
void zoned_free(Zoned *z);

/* Nothing changes.  cmd->op is that of ZONE_PLAIN; all members but those of the
 * place are set. */
ZoneGo zoned_ask(const Zoned *z, ZoneAct act, SsdCmd *cmd, char *why);

/* The drive took the command that the last zoned_ask() gave.  A number that is
 * to be returned when it has ended; 0: that need not be. */
uint32_t zoned_given(Zoned *z, ZoneAct act, const SsdCmd *cmd);
void zoned_ended(Zoned *z, uint32_t number);

/* Blocks of the drive that are preloaded: whole zones, or false. */
bool zoned_preload(Zoned *z, uint64_t lba, uint64_t nblocks);

typedef struct ZoneInfo {
    uint32_t state;    /* VssdZoneState (vssd.h) */
    uint64_t start;    /* first block */
    uint64_t capacity; /* blocks */
    uint64_t written;  /* of them: the write pointer */
} ZoneInfo;

uint32_t zoned_count(const Zoned *z);
ZoneInfo zoned_zone(const Zoned *z, uint32_t i);

/* The zone of a block below SsdInfo.nblocks, or of behind them. */
uint32_t zoned_at(const Zoned *z, uint64_t lba);

/* Behind a saved drive, of which no command is in flight.  NULL: *error names
 * the fault of "it", the stream. */
bool zoned_save(const Zoned *z, FILE *out, GError **error);
bool zoned_load(Zoned *z, FILE *in, GError **error);

#endif
