/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buffer-internal.h - the DRAM buffer: slots, policies, flush barriers, early
 * flush.
 *
 * Knows units on their way from the host to NAND and back; does not know
 * commands but by their numbers.
 */
#ifndef VSSD_FTL_BUFFER_INTERNAL_H
#define VSSD_FTL_BUFFER_INTERNAL_H

#include "layers.h"
#if FTL_LAYER < FTL_BUFFER
#error "ftl/buffer is above this component: docs/architecture.md"
#endif

#include "ssd-types.h"
#include "vssd-policy.h"

typedef enum SlotState {
    SLOT_FREE,
    SLOT_LOADING,     /* a read of its unit from NAND is under way */
    SLOT_CLEAN,       /* same as the copy in NAND */
    SLOT_FILLING,     /* waits for the rest of its unit to be read from NAND */
    SLOT_BLOCKED,     /* an older version of the unit is being programmed */
    SLOT_DIRTY,       /* may be programmed at any time */
    SLOT_PROGRAMMING, /* part of a page on its way to NAND */
    N_SLOT_STATES,
} SlotState;

/* Of a slot: is the newest data of its unit not in NAND? */
static inline bool state_is_unsafe(unsigned state)
{
    return state > SLOT_CLEAN;
}

/*
 * One unit in the buffer.  Per lpn there is at most one slot that is not
 * PROGRAMMING, and at most one that is; the map leads to the newer.
 *
 * The records that follow SLOT_FREE, LOADING and CLEAN in the list of states
 * are of units whose newest data is not in NAND: each belongs to an epoch.
 */
typedef struct Slot {
    uint64_t lpn;
    uint64_t source;     /* LOADING, FILLING: the ppu that is read */
    uint32_t next, prev; /* free list; list of the buffer policy */
    uint32_t after, before; /* DIRTY: list of the stream, due or fresh;
                               LOADING, FILLING: the next slot of the same
                               read, and the command it is for (or NONE) */
    uint32_t older;      /* BLOCKED: the slot being programmed */
    uint32_t newer;      /* PROGRAMMING: the slot that waits for it;
                            LOADING, FILLING: not used */
    uint64_t old_entry;  /* map entry (0 or ppu + 1) of the copy in NAND that
                            stays valid until this slot is programmed; kept
                            by the oldest slot of the lpn */
    uint32_t waiters;    /* commands to be told when the slot is durable */
    uint32_t epoch;      /* of flush, at creation */
    uint64_t version;
    uint8_t state; /* SlotState */
    uint8_t stream;
    bool force;    /* a command waits for it: do not wait for a full page */
    bool poison;   /* part of the unit could not be read and is lost */
    bool whole;    /* the host has written all of it */
    bool dead;     /* trimmed while it could not be freed: reads as unmapped */
    bool listed;   /* the policy has it in its lists */
    bool evict;    /* chosen as victim: free it as soon as it is in NAND */
    bool sent;     /* PROGRAMMING: its data has crossed the bus */
    bool released; /* its room is another unit's already */
    bool early;    /* on its way to NAND by early flush */
    bool early_done; /* was, and has not been written again */
    uint32_t list;   /* of the policy: in which of Buffer.list it is */
} Slot;

typedef enum WaitFor {
    WAIT_DURABLE,
    WAIT_DATA_IN, /* until its data has crossed the bus, no longer */
    WAIT_LOADED,  /* a READ: until the unit has been read from NAND */
} WaitFor;

/* A command that waits for a slot. */
typedef struct Waiter {
    uint32_t cmd;
    uint32_t next;
    uint8_t what; /* WaitFor */
} Waiter;

/*
 * A flush barrier.  Slots made since the barrier before it carry its number;
 * it is reached when no slot of it or of an earlier one is left.
 */
typedef struct Epoch {
    uint32_t left; /* slots not yet durable */
    uint32_t cmd;  /* the command to complete, or NONE */
} Epoch;

typedef struct BufferStats {
    uint64_t read_hits;
    uint64_t read_misses;
    uint64_t write_hits;
    uint64_t write_misses;
    uint64_t clean_evictions;
    uint64_t dirty_evictions;
    uint64_t early_flushes;
    uint64_t rewrites_after_flush;
} BufferStats;

/* When to flush before there is a need; see buffer.c. */
typedef struct EarlyFlush {
    uint32_t threshold_ppm; /* share of slots that may be dirty */
    uint32_t limit;         /* the same, in slots */
    uint32_t busy;          /* slots on their way */
    uint32_t writes;        /* commands since the last adjustment */
    uint32_t evictions, last_evictions; /* of dirty slots: since then, and in
                                           the period before */
    uint32_t rewrites, last_rewrites;   /* of slots flushed early */
} EarlyFlush;

/* Callbacks about units to the components above; NULL: none. */
typedef struct BufferClient {
    /* The unit is in NAND at a new place. */
    void (*programmed)(Ssd *ssd, uint64_t lpn);
} BufferClient;

typedef struct Buffer {
    const BufferClient *client;
    const VssdBufferPolicy *policy;
    OF_BUFFER Slot *slot;
    uint32_t n_slot_records; /* l.n_slots, and some for released ones */
    uint32_t free_slot;
    uint32_t n_free_slots; /* units for which there is room */
    uint32_t n_released;   /* slots in use whose room counts as free */
    uint32_t n_unsafe;     /* slots whose newest data is not in NAND */
    uint32_t n_dirty;      /* slots that are DIRTY */
    uint32_t n_must; /* of those, how many must not wait for a full page */
    OF_BUFFER SlotList *list; /* of the buffer policy */
    uint32_t n_lists;
    uint32_t n_listed;   /* slots in them */
    uint32_t n_evicting; /* victims that are not free yet */
    uint32_t n_victims;  /* of those, DIRTY and due for no other reason */
    uint32_t n_promised; /* sum of Cmd.promised */
    EarlyFlush early;
    uint64_t last_version;
    CmdFifo waiting; /* writes that wait for slots */
    bool pump_waits; /* write_pump() has found no plane for due units */
    uint32_t stream_cursor;
    uint64_t dirty_streams; /* as bits: those with DIRTY slots */
    /* Total time in which a full page was ready and only GC could have made room
     * for it. */
    uint64_t stall_ps;
    uint64_t stalled_since_ps; /* or SIM_NEVER */
    JobFifo redo;    /* pages of the host that failed, to be programmed again */
    CmdFifo closing; /* FLUSHes that pad a zone (close.c) */
    OF_BUFFER Waiter *waiter;
    uint32_t n_waiters;
    uint32_t free_waiter;
    /* By number, masked; not a Ring of core: slots name epochs by number. */
    OF_BUFFER Epoch *epoch; /* first_epoch..cur_epoch */
    uint32_t epoch_mask;
    uint32_t first_epoch, cur_epoch;
    bool tick_armed;
    OF_BUFFER RowWait *row_wait; /* by stream: write-rows.c; NULL without
                                    superblock.row, and for a cache */
    OF_BUFFER uint32_t *deal;    /* deal.c: slots that it puts in order; NULL if
                                    it does not */
    OF_BUFFER Slot *
        kept; /* without power, buffer.plp: the former contents of the buffer */
    uint32_t n_kept;
    BufferStats stats;
} Buffer;

/* Is the buffer a cache?  Else it has only data on its way to NAND. */
static inline bool buffer_caches(const Buffer *b)
{
    return b->policy->victim != NULL;
}

#endif
