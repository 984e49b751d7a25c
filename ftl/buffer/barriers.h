/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * barriers.h - flush barriers (barriers.c): each slot belongs to the epoch in
 * which it became dirty.
 */
#ifndef VSSD_FTL_BUFFER_BARRIERS_H
#define VSSD_FTL_BUFFER_BARRIERS_H

#include "layers.h"
#if FTL_LAYER != FTL_BUFFER && FTL_LAYER != FTL_ALL
#error "private to ftl/buffer: docs/architecture.md"
#endif

#include "buffer/buffer-internal.h"
#include "ssd-internal.h"

/* End the epoch of the slots made so far, for which the command waits (NONE:
 * none does); fail the commands that wait. */
void write_begin_epoch(Ssd *ssd, uint32_t cmd);
void write_fail_barriers(Ssd *ssd);

/* The slot begins, and ceases, to count for the current barrier. */
void write_join_epoch(Ssd *ssd, Slot *s);
void write_leave_epoch(Ssd *ssd, Slot *s);

/* The next periodic flush, if there are any and none is to come. */
void write_arm_tick(Ssd *ssd);

/* The interval has changed: forget the tick that is armed, and arm another one
 * if something is dirty. */
void write_arm_tick_again(Ssd *ssd);

/* Complete the barriers that have been reached. */
void write_epochs_advance(Ssd *ssd);

#endif
