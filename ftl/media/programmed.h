/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * programmed.h - how much the array has programmed for each stream.
 *
 * In mapping units: data, padding and parity.  A stream of l.n_streams stands
 * for no single one.  The sum over all of them is the pages that the array has
 * counted as programmed (NandStats.ops), at any time.
 */
#ifndef VSSD_FTL_PROGRAMMED_H
#define VSSD_FTL_PROGRAMMED_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "ssd-internal.h"

void programmed_init(Ssd *ssd);
void programmed_destroy(Ssd *ssd);
void programmed_reset(Ssd *ssd);

/* The array has ended the program or copyback, and has counted it: whatever
 * its status. */
void programmed_count(Ssd *ssd, const NandOp *op);

/* Units since the drive was made; since the last ssd_reset_stats(). */
uint64_t programmed_units(const Ssd *ssd, uint32_t stream);
uint64_t programmed_since(const Ssd *ssd, uint32_t stream);

#endif
