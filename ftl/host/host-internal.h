/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host-internal.h - host commands: link, firmware, DRAM and completions.
 *
 * Knows commands; does not know where data goes.
 */
#ifndef VSSD_FTL_HOST_INTERNAL_H
#define VSSD_FTL_HOST_INTERNAL_H

#include "layers.h"
#if FTL_LAYER < FTL_HOST
#error "ftl/host is above this component: docs/architecture.md"
#endif

#include "ssd-types.h"

/* Callbacks of power/ to commands; required, all of them. */
typedef struct HostGate {
    /* The drive is not ready: the command is kept until it is. */
    bool (*waits)(Ssd *ssd, uint32_t cmd);
    /* A rule of the fault script cuts the power now. */
    void (*cut)(Ssd *ssd);
} HostGate;

typedef struct HostPath {
    const HostGate *gate;
    CmdFifo done;
    uint64_t link_in_ps; /* host link is busy until, toward the drive */
    uint64_t link_out_ps;
    uint64_t dram_in_ps; /* DRAM is busy with writes until */
    uint64_t dram_free_ps; /* buffer.mb_s: DRAM moves data until */
    OF_HOST uint64_t *core_ps;   /* by core: busy until */
    uint64_t link_num, link_den; /* ps = bytes * num / den; den 0: no time */
    HostUse use; /* with what is booked after now; host_use() is up to now */
    uint64_t room_since_ps; /* since then a command waits for room, if any */
    uint64_t gate_ps;       /* throttling lets no data pass until */
} HostPath;

#endif
