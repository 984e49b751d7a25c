/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parity-pump.h - when parity is programmed (parity-pump.c). */
#ifndef VSSD_FTL_PARITY_PUMP_H
#define VSSD_FTL_PARITY_PUMP_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "media/media-internal.h"
#include "ssd-internal.h"

/* Program the parity of the stripes that are complete, in the plane and the
 * others of its die. */
void parity_pump(Ssd *ssd, uint32_t plane);

/* A program of parity has ended; has failed, and its block has been dealt with.
 */
void parity_done(Ssd *ssd, uint32_t job);
void parity_failed(Ssd *ssd, uint32_t job);

/* Is a program of parity under way in the plane? */
bool parity_in_flight(const Ssd *ssd, uint32_t plane);

#endif
