/* SPDX-License-Identifier: GPL-2.0-or-later */
/* swarm-zones.h - the host of a random zoned drive. */
#ifndef VSSD_TESTS_FTL_SWARM_ZONES_H
#define VSSD_TESTS_FTL_SWARM_ZONES_H

#include "prng.h"
#include "ref.h"

typedef struct ZoneHost ZoneHost;

/* NULL: the drive has no zones. */
ZoneHost *zone_host_new(Ref *ref);
void zone_host_free(ZoneHost *h);

/* Write up to that many units to a zone; now and then finish or reset one. */
void zone_host_write(ZoneHost *h, Prng *r, uint32_t most_units, bool fua);

/* Writes have been torn by a power cut or an abort: write pointers go back to
 * the end of the data, and interrupted resets begin again. */
void zone_host_torn(ZoneHost *h);

#endif
