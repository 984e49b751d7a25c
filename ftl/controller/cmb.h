/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmb.h - the way over the link of parts of a command that are in a controller
 * memory buffer (SsdCmd.in_cmb).
 *
 * The host has written them by posted writes: they take the link, and there is
 * no request and no round trip.  Times as in controller.h.
 */
#ifndef VSSD_FTL_CONTROLLER_CMB_H
#define VSSD_FTL_CONTROLLER_CMB_H

#include "layers.h"
#if FTL_LAYER < FTL_CONTROLLER
#error "ftl/controller is above this component: docs/architecture.md"
#endif

#include "controller/controller.h"

/* The doorbell and the entry; the PRP list; data of a write; the interrupt of a
 * completion whose entry the host reads later. */
uint64_t link_take_command(Ssd *ssd);
uint64_t link_take_list(Ssd *ssd, uint64_t from_ps, uint64_t bytes);
uint64_t link_take_data(Ssd *ssd, uint64_t from_ps, uint64_t bytes);
uint64_t link_complete_inside(Ssd *ssd, uint64_t from_ps);

#endif
