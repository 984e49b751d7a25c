/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map-outside.h - private to dftl.c and map-outside.c. */
#ifndef VSSD_FTL_MAP_OUTSIDE_H
#define VSSD_FTL_MAP_OUTSIDE_H

#include "layers.h"
#if FTL_LAYER != FTL_MAP && FTL_LAYER != FTL_ALL
#error "private to ftl/map: docs/architecture.md"
#endif

#include "ssd-internal.h"

/* The tables of dftl.c have been made: a policy from outside orders its cache,
 * if there is one. */
void map_outside_init(Ssd *ssd);

/* The cache has been emptied. */
void map_outside_forget(Ssd *ssd);

#endif
