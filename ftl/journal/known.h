/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * known.h - the units of which the drive knows anything.
 */
#ifndef VSSD_FTL_KNOWN_H
#define VSSD_FTL_KNOWN_H

#include "layers.h"
#if FTL_LAYER < FTL_JOURNAL
#error "ftl/journal is above this component: docs/architecture.md"
#endif

#include "journal/journal-internal.h"
#include "lazymem.h"
#include "ssd-internal.h"

/*
 * A walk over the units of which the map, the trims or the saved pages may say
 * something, in order; it takes time in proportion to them.
 *
 *   known_begin(ssd, &w);
 *   for (lpn = known_next(&w, 0); lpn < saved_map_units(ssd);
 *        lpn = known_next(&w, lpn + 1)) {
 *   }
 *   known_end(&w);
 */
typedef struct KnownWalk {
    LazyWalk table[3]; /* map, floor, saved */
    size_t bytes[3];   /* of an element */
    uint64_t next[3];  /* of each, the first index that is not behind yet */
} KnownWalk;

void known_begin(const Ssd *ssd, KnownWalk *w);
uint64_t known_next(KnownWalk *w, uint64_t lpn);
void known_end(KnownWalk *w);

#endif
