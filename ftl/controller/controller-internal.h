/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * controller-internal.h - the parts of the controller that all work shares:
 * cores, host link, DRAM.
 *
 * Knows until when each part is busy; does not know what for.
 */
#ifndef VSSD_FTL_CONTROLLER_INTERNAL_H
#define VSSD_FTL_CONTROLLER_INTERNAL_H

#include "layers.h"
#if FTL_LAYER < FTL_CONTROLLER
#error "ftl/controller is above this component: docs/architecture.md"
#endif

#include "ssd-types.h"

typedef struct Controller {
    uint64_t link_in_ps; /* host link is busy until, toward the drive */
    uint64_t link_out_ps;
    uint64_t dram_in_ps;             /* DRAM is busy with writes until */
    uint64_t dram_free_ps;           /* buffer.mb_s: DRAM moves data until */
    OF_CONTROLLER uint64_t *core_ps; /* by core: busy until */
    uint64_t gc_core_ps;             /* the same of GC's own core */
    OF_CONTROLLER NandOp *copy; /* pool: pages that GC has read, while they wait
                                   for a core or for DRAM */
    uint32_t n_copies;
    uint32_t free_copy;
    uint32_t pending; /* copies, and accesses to the map, to be ended by an
                         event */
    uint64_t link_num, link_den; /* ps = bytes * num / den; den 0: no time */
    uint64_t dram_unit_ps;       /* an access, and moving the unit */
    uint64_t dram_move_ps;       /* of that, by buffer.mb_s; 0: takes no time */
    uint64_t dram_map_ps; /* the same for a map entry (buffer.map_bytes) */
    HostUse use; /* with what is booked after now; but of HOST_BUFFER */
} Controller;

#endif
