/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * controller.h - cores, host link, DRAM.
 *
 * A call that returns uint64_t is one service: it reserves a part and returns
 * the instant, in ps of the drive's clock, at which the service ends.  The
 * service begins at from_ps (now, if there is no such argument) or when the
 * part has ended those of earlier calls.  link_data_ps() and dram_access_ps()
 * return a duration, and reserve nothing.
 */
#ifndef VSSD_FTL_CONTROLLER_H
#define VSSD_FTL_CONTROLLER_H

#include "layers.h"
#if FTL_LAYER < FTL_CONTROLLER
#error "ftl/controller is above this component: docs/architecture.md"
#endif

#include "controller/controller-internal.h"
#include "ssd-internal.h"

/* Allocate the parts, all free; free them. */
void controller_init(Ssd *ssd);
void controller_destroy(Ssd *ssd);

/* Power off: all parts are free now, and pages of copies in them are lost. */
void controller_power_lost(Ssd *ssd);

/* Use of the parts since the drive was made, in ps, without service after now.
 * It can become less, when a service is reserved that begins later.
 * HOST_BUFFER is 0; host_use() has it. */
HostUse controller_use(const Ssd *ssd);

/* Count an event that completes a copy or an access to the map; it has come.
 * Calls pair up. */
void controller_pend(Ssd *ssd);
void controller_unpend(Ssd *ssd);

/* Is no such event outstanding?  Part of the check that a drive is at rest. */
static inline bool controller_at_rest(const Ssd *ssd)
{
    return ssd->controller->pending == 0;
}

/* ---- cores.c ----------------------------------------------------------- */

/* Firmware of that duration, in ps, begins now (at from_ps), or when a core is
 * free.  With host.cores=0 it begins at once. */
uint64_t core_run(Ssd *ssd, uint64_t ps);
uint64_t core_run_at(Ssd *ssd, uint64_t from_ps, uint64_t ps);

/* The same for GC, on its own core with ftl.gc_core. */
uint64_t core_run_gc(Ssd *ssd, uint64_t ps);

/* ---- copies.c ---------------------------------------------------------- */

/* The array has read a page for GC (op, copied here).  true: firmware or DRAM
 * take time for it, and SSD_EVENT_COPY with an index for copy_take() comes.
 * false: go on with it now. */
bool copy_waits(Ssd *ssd, const NandOp *op);

/* The operation of that event, which the caller owns; once for each event. */
NandOp copy_take(Ssd *ssd, uint32_t copy);

/* The array has moved a page by itself (copyback): work for a core, for which
 * nobody waits. */
void copy_inside(Ssd *ssd);

/* ---- link.c ------------------------------------------------------------ */

/* Duration of so many bytes on the link, in ps, without packets; 0: the link
 * takes no time. */
uint64_t link_data_ps(const Ssd *ssd, uint64_t bytes);

/* Bytes of data that are ready at from_ps cross the link, toward the drive
 * (with host.pcie_mps after read requests and the round trip); toward the
 * host. */
uint64_t link_from_host(Ssd *ssd, uint64_t from_ps, uint64_t bytes);
/* A write without data of the host comes behind those before it, and before
 * those behind it: writes enter the buffer in the order of their versions. */
uint64_t link_behind(Ssd *ssd, uint64_t from_ps);
uint64_t link_to_host(Ssd *ssd, uint64_t from_ps, uint64_t bytes);

/* Bytes of host memory that the controller itself reads: queue entries, lists,
 * the map in the host memory buffer.  They do not wait for transfers. */
uint64_t link_read_host(Ssd *ssd, uint64_t from_ps, uint64_t bytes);

/* host.pcie_nvme: the doorbell of a command and its entry in the queue; its PRP
 * list, if a command of so many bytes has one (else from_ps); the entry of its
 * completion and the interrupt, after which the other doorbell follows, for
 * which the command does not wait. */
uint64_t link_fetch_command(Ssd *ssd);
uint64_t link_fetch_list(Ssd *ssd, uint64_t from_ps, uint64_t bytes);
uint64_t link_complete(Ssd *ssd, uint64_t from_ps);

/* ---- dram.c ------------------------------------------------------------ */

/* So many mapping units of a write of the host, received at from_ps, enter DRAM
 * after those of earlier writes. */
uint64_t dram_enter(Ssd *ssd, uint64_t from_ps, uint64_t units);

/* Move units at the rate of buffer.mb_s, which all moves share; it is not 0. */
uint64_t dram_move(Ssd *ssd, uint64_t units);

/* A command whose last access to DRAM ends at from_ps (0: none) moves so many
 * units more to or from DRAM.  Without buffer.mb_s this reserves nothing:
 * commands do not wait for each other. */
uint64_t dram_end(Ssd *ssd, uint64_t from_ps, uint64_t units);

/* Move so many map entries of buffer.map_bytes at buffer.mb_s. */
uint64_t dram_map(Ssd *ssd, uint64_t entries);

/* Move bytes of GC, of the map or of programs at buffer.mb_s, with
 * buffer.shared; without it they take no time: now. */
uint64_t dram_share(Ssd *ssd, uint64_t bytes);

/* Duration of the access to one unit, in ps, without its move. */
static inline uint64_t dram_access_ps(const Ssd *ssd)
{
    return ssd->controller->dram_unit_ps - ssd->controller->dram_move_ps;
}

#endif
