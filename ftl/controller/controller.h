/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * controller.h - cores, host link, DRAM: each call takes the part until the
 * instant it returns.
 */
#ifndef VSSD_FTL_CONTROLLER_H
#define VSSD_FTL_CONTROLLER_H

#include "layers.h"
#if FTL_LAYER < FTL_CONTROLLER
#error "ftl/controller is above this component: docs/architecture.md"
#endif

#include "controller/controller-internal.h"
#include "ssd-internal.h"

/* All parts are free. */
void controller_init(Ssd *ssd);
void controller_destroy(Ssd *ssd);
void controller_power_lost(Ssd *ssd);

/* How the parts were used up to now. */
HostUse controller_use(const Ssd *ssd);

/* An event is to come without which the drive does not get on; it has come. */
void controller_pend(Ssd *ssd);
void controller_unpend(Ssd *ssd);

/* Is there none? */
static inline bool controller_at_rest(const Ssd *ssd)
{
    return ssd->controller->pending == 0;
}

/* ---- cores.c ----------------------------------------------------------- */

/* Work of that duration begins now (at from_ps), or when a core is free. */
uint64_t core_run(Ssd *ssd, uint64_t ps);
uint64_t core_run_at(Ssd *ssd, uint64_t from_ps, uint64_t ps);

/* The same of GC, which may have a core of its own. */
uint64_t core_run_gc(Ssd *ssd, uint64_t ps);

/* ---- copies.c ---------------------------------------------------------- */

/* The array has read a page for GC.  true: the page goes through the controller
 * first, and SSD_EVENT_COPY comes. */
bool copy_waits(Ssd *ssd, const NandOp *op);

/* The operation of that event. */
NandOp copy_take(Ssd *ssd, uint32_t copy);

/* The array has moved a page by itself (copyback): work for a core, for which
 * nobody waits. */
void copy_inside(Ssd *ssd);

/* ---- link.c ------------------------------------------------------------ */

/* So many bytes on the link, without packets; 0: it takes no time. */
uint64_t link_data_ps(const Ssd *ssd, uint64_t bytes);

/* Data of the host that is ready at from_ps crosses the link, toward the drive;
 * toward the host. */
uint64_t link_from_host(Ssd *ssd, uint64_t from_ps, uint64_t bytes);
uint64_t link_to_host(Ssd *ssd, uint64_t from_ps, uint64_t bytes);

/* Some bytes of the host's memory, for the controller itself. */
uint64_t link_read_host(Ssd *ssd, uint64_t from_ps, uint64_t bytes);

/* host.pcie_nvme: the doorbell of a command and its entry in the queue; the
 * list of its pages, if it moves so many bytes; the entry of its completion and
 * the interrupt, and then, with nobody waiting, the other doorbell. */
uint64_t link_fetch_command(Ssd *ssd);
uint64_t link_fetch_list(Ssd *ssd, uint64_t from_ps, uint64_t bytes);
uint64_t link_complete(Ssd *ssd, uint64_t from_ps);

/* ---- dram.c ------------------------------------------------------------ */

/* Writes of the host enter DRAM one after another: so many units that are there
 * at from_ps. */
uint64_t dram_enter(Ssd *ssd, uint64_t from_ps, uint64_t units);

/* Move units at the rate of buffer.mb_s that all share. */
uint64_t dram_move(Ssd *ssd, uint64_t units);

/* A command whose last access to DRAM ends at from_ps (or now) puts there, or
 * takes from there, so many units more. */
uint64_t dram_end(Ssd *ssd, uint64_t from_ps, uint64_t units);

/* Look up, or change, so many entries of the map. */
uint64_t dram_map(Ssd *ssd, uint64_t entries);

/* buffer.shared: move data that is not on its way to or from the host. */
uint64_t dram_share(Ssd *ssd, uint64_t bytes);

/* DRAM time of one unit beyond moving it. */
static inline uint64_t dram_access_ps(const Ssd *ssd)
{
    return ssd->controller->dram_unit_ps - ssd->controller->dram_move_ps;
}

#endif
