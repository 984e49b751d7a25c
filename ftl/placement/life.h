/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * life.h - allocation and streams from set-up to the drive's end.
 *
 * For ssd.c, and for power/ (what is lost with the power).
 */
#ifndef VSSD_FTL_PLACEMENT_LIFE_H
#define VSSD_FTL_PLACEMENT_LIFE_H

#include "layers.h"
#if FTL_LAYER < FTL_PLACEMENT
#error "ftl/placement is above this component: docs/architecture.md"
#endif

#include "placement/placement-internal.h"
#include "ssd-internal.h"

/* When the drive is made: who places pages in place of the policy. */
void placement_set_placer(Ssd *ssd, const Placer *placer);

void alloc_init(Ssd *ssd);
void alloc_destroy(Ssd *ssd);

/* Streams that the drive chooses.  The power has taken what is known. */
void chooser_init(Ssd *ssd);
void chooser_destroy(Ssd *ssd);
void chooser_forget(Ssd *ssd);

void stream_init(Ssd *ssd);
void stream_destroy(Ssd *ssd);

#endif
