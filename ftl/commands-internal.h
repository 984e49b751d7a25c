/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commands-internal.h - the records of host commands.
 *
 * Below every component: those that work for a command account their time in
 * its record, and keep it in lists.  host/ decides the rest.
 */
#ifndef VSSD_FTL_COMMANDS_INTERNAL_H
#define VSSD_FTL_COMMANDS_INTERNAL_H

#include "ssd-types.h"

typedef enum CmdPhase {
    CMD_FREE,
    CMD_SUBMITTED, /* before it has any effect */
    CMD_RUNNING,
    CMD_ENDING, /* its work is done, its completion is not at the host yet */
    CMD_DONE,   /* its completion waits to be fetched */
    N_CMD_PHASES,
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
    uint64_t stall_ps;    /* Buffer.stall_ps at mark_ps */
    uint64_t firmware_ps; /* time of and for a core */
    uint64_t data_ps;     /* READ that is RUNNING: when the part that comes from
                             DRAM is there; others: DRAM time before they begin */
    uint64_t complete_ps;
    uint64_t cost_ps[N_COSTS];
    uint64_t bad_lba;   /* READ: first uncorrectable block, or NO_LBA */
    uint64_t next_lpn;  /* READ, WRITE: next unit to look up, or to put into
                           the buffer; as Saved.waiting and Map.trims require */
    uint64_t room_lpn;  /* waits for room: from here on none is promised yet */
    uint32_t promised;  /* room that others must not take */
    uint32_t pending;   /* READ: NAND operations and slots being loaded; WRITE:
                           slots to be durable */
    uint32_t map_pending; /* READ, WRITE: units that the mapping scheme waits
                             for, before anything else is done */
    uint32_t next;      /* free list, list of those waiting for room, FIFO of
                           completions */
    bool waits;         /* for room */
    bool linked;  /* READ, WRITE, with buffer.mb_s: its turn in DRAM before
                     it begins is known; a WRITE is over the link */
    bool trimmed; /* a unit of it was, before it was in NAND; TRIM with
                     SsdCmd.erase: all of its units are unmapped */
    uint8_t phase;      /* CmdPhase */
    uint8_t status;     /* SsdStatus */
    uint32_t map_misses; /* READ, WRITE: of map_pending, reads of the map */
} Cmd;

#define NO_LBA UINT64_MAX

/* Required, all of them. */
typedef struct CmdOps {
    /* The command ends now. */
    void (*finish)(Ssd *ssd, uint32_t cmd, SsdStatus status);
    /* It need wait no longer for one of its slots. */
    void (*slot_settled)(Ssd *ssd, uint32_t cmd);
    /* A READ: a unit that another one was loading is there, or cannot be read. */
    void (*load_settled)(Ssd *ssd, uint32_t cmd, uint64_t lpn, bool bad);
    /* A READ: an operation of the array for it has ended. */
    void (*read_done)(Ssd *ssd, uint32_t cmd, const NandOp *op);
    /* It knows where its units are (Cmd.map_pending is 0 again). */
    void (*map_ready)(Ssd *ssd, uint32_t cmd);
} CmdOps;

typedef struct Commands {
    const CmdOps *ops; /* of host/ */
    Cmd *cmd;
    uint32_t n_cmds;
    uint32_t free_cmd;
    uint64_t last_serial;
    uint32_t running; /* submitted and not yet completed */
    bool submitted;   /* the first ssd_submit() has been */
} Commands;

#endif
