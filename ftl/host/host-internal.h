/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host-internal.h - host commands: link, firmware, DRAM and completions.
 *
 * Knows commands; does not know where data goes.
 */
#ifndef VSSD_FTL_HOST_INTERNAL_H
#define VSSD_FTL_HOST_INTERNAL_H

#include "ssd-types.h"

typedef enum CmdPhase {
    CMD_FREE,
    CMD_SUBMITTED, /* before it has any effect */
    CMD_RUNNING,
    CMD_DONE, /* its completion waits to be fetched */
} CmdPhase;

typedef enum CostIndex {
#define COST_INDEX(name, help) COST_##name,
    SSD_COSTS(COST_INDEX)
#undef COST_INDEX
    N_COSTS,
} CostIndex;

typedef struct Cmd {
    SsdCmd req;
    uint64_t serial;      /* counts submissions, from 1 */
    uint64_t submit_ps;
    uint64_t mark_ps;     /* up to here cost_ps accounts for the time */
    uint64_t stall_ps;    /* HostPath.stall_ps at mark_ps */
    uint64_t firmware_ps; /* time of and for a core */
    uint64_t data_ps;     /* READ: when the part that comes from DRAM is there;
                             WRITE: DRAM time */
    uint64_t complete_ps;
    uint64_t cost_ps[N_COSTS];
    uint64_t bad_lba;   /* READ: first uncorrectable block, or NO_LBA */
    uint64_t next_lpn;  /* READ, WRITE: next unit to look up, or to put into
                           the buffer; what Saved.waiting and Map.trims say */
    uint64_t room_lpn;  /* waits for room: from here on none is promised yet */
    uint32_t promised;  /* room that others must not take */
    uint32_t pending;   /* READ: NAND operations and slots being loaded; WRITE:
                           slots to be durable */
    uint32_t map_pending; /* READ, WRITE: what the mapping scheme waits for,
                             before anything else is done */
    uint32_t next;      /* free list, list of those waiting for room, FIFO of
                           completions */
    bool waits;         /* for room */
    bool linked;        /* WRITE, with buffer.mb_s: it is over the link */
    bool trimmed;       /* a unit of it was, before it was in NAND */
    uint8_t phase;      /* CmdPhase */
    uint8_t status;     /* SsdStatus */
} Cmd;

#define NO_LBA UINT64_MAX

/* What the power says to commands; required, all of them. */
typedef struct HostGate {
    /* The drive is not ready: the command is kept until it is. */
    bool (*waits)(Ssd *ssd, uint32_t cmd);
    /* A rule of the fault script cuts the power now. */
    void (*cut)(Ssd *ssd);
} HostGate;

typedef struct HostPath {
    const HostGate *gate;
    Cmd *cmd;
    uint32_t n_cmds;
    uint32_t free_cmd;
    uint64_t last_serial;
    uint32_t running;   /* submitted and not yet completed */
    CmdFifo waiting;    /* writes that wait for slots */
    CmdFifo done;
    uint64_t link_in_ps; /* host link is busy until, toward the drive */
    uint64_t link_out_ps;
    uint64_t dram_in_ps; /* DRAM is busy with writes until */
    uint64_t dram_free_ps; /* buffer.mb_s: DRAM moves data until */
    uint64_t *core_ps;   /* by core: busy until */
    uint64_t link_num, link_den; /* ps = bytes * num / den; den 0: no time */
    /* Total time in which a full page was ready and only cleaning could have
     * made room for it. */
    uint64_t stall_ps;
    uint64_t stalled_since_ps; /* or SIM_NEVER */
} HostPath;

#endif
