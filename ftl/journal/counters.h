/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters.h - counters of the host that firmware saves now and then
 * (counters.c).  All do nothing without ftl.counters_interval.
 */
#ifndef VSSD_FTL_COUNTERS_H
#define VSSD_FTL_COUNTERS_H

#include "layers.h"
#if FTL_LAYER < FTL_JOURNAL
#error "ftl/journal is above this component: docs/architecture.md"
#endif

#include "ssd-internal.h"

/* A command has ended: what it counted is to be saved. */
void counters_changed(Ssd *ssd);

/* Save them now. */
void counters_save(Ssd *ssd);

/* SSD_EVENT_COUNTERS has come. */
void counters_event(Ssd *ssd);

void counters_power_lost(Ssd *ssd);
void counters_power_on(Ssd *ssd);

/* The counters have been set to 0. */
void counters_reset(Ssd *ssd);

#endif
