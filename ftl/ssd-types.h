/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ssd-types.h - types of all components of ftl/: numbers, events, lists of
 * indices.
 *
 * lpn counts mapping units of the host, ppu those of the array:
 * ppu = page * units_per_page + unit within the page.
 */
#ifndef VSSD_FTL_SSD_TYPES_H
#define VSSD_FTL_SSD_TYPES_H

#include <inttypes.h>

#include "eventq.h"
#include "ilist.h"
#include "nand.h"
#include "simtime.h"
#include "ssd-config.h"
#include "ssd-power.h"
#include "ssd.h"

#define NONE ILIST_NONE

/* No lpn, ppu or page: these have 64 bits, unlike indices, and another NONE. */
#define NO_UNIT UINT64_MAX
#define NO_PAGE UINT64_MAX

/* Events of the drive; the array's own come first. */
enum {
    SSD_EVENT_CMD_START = NAND_N_EVENTS, /* firmware, and link of a write */
    SSD_EVENT_CMD_DATA,                  /* DRAM access has ended */
    SSD_EVENT_CMD_DONE,
    SSD_EVENT_FLUSH_TICK, /* buffer.flush_interval */
    SSD_EVENT_FAULT,      /* a rule cuts the power now */
    SSD_EVENT_BACKGROUND, /* index: BackgroundEvent */
    SSD_EVENT_RECOVERED,  /* index: a step of recovery has nothing to read */
    SSD_EVENT_TRIM,       /* the next step of TRIMs */
    SSD_EVENT_RESET,      /* the reset of a zone is recorded */
    SSD_EVENT_ROW_WAIT, /* superblock.row_wait; index: a stream, or behind them
                           a plane where GC waits */
    SSD_EVENT_CMD_MAPPED,  /* firmware knows what it has read of the map */
    SSD_EVENT_CMD_FETCHED, /* from the host's queue */
    SSD_EVENT_CMD_END,     /* the completion is at the host */
    SSD_EVENT_CMD_HMB,     /* map entries have come from the host's memory */
    SSD_EVENT_COPY,        /* index: of Controller.copy */
    SSD_EVENT_COUNTERS,    /* firmware saves counters */
};

/* A partly filled row waits (row-wait.h). */
typedef struct RowWait {
    uint64_t until_ps; /* SIM_NEVER: nothing waits */
    uint64_t late;     /* of GC: pages that have waited long enough */
    uint64_t armed;    /* 1: an event is under way */
} RowWait;

/* Slots in the order of a list; the ends are NONE when it is empty. */
typedef IlistN SlotList;

/* State of a stream in the buffer (buffer/stream-queue.c). */
typedef struct StreamQueue {
    SlotList due, fresh; /* its DIRTY slots, oldest first: those that must not
                            wait for a full page, and the others */
    uint32_t n_victims;  /* of those due, victims and due for no other reason */
    uint32_t n_unsafe;   /* slots whose newest data is not in NAND */
    uint32_t n_dealt;    /* of the fresh ones, the first, that are in the order
                            of their rows (buffer/deal.c) */
} StreamQueue;

/* Pages that must be programmed again, because their program failed. */
typedef Ififo JobFifo;

/* Commands, through Cmd.next. */
typedef Ififo CmdFifo;

typedef struct Age Age;

/* The shared parts of the host's path (host/), and its wait for room. */
typedef enum HostPart {
    HOST_LINK_IN,
    HOST_LINK_OUT,
    HOST_CORES,
    HOST_DRAM,
    HOST_BUFFER,
    N_HOST_PARTS,
} HostPart;

/* What rows of the statistics count of temperature and power (thermal/). */
typedef struct HeatSums {
    uint64_t controller_nj;
    uint64_t n_throttled[2];
    uint64_t n_wakes;
    TimeSum warning_ps;
    TimeSum critical_ps;
    TimeSum throttled_ps[2];
    TimeSum wake_ps;
    TimeSum state_ps[SSD_POWER_STATES];
} HeatSums;

/* How they were used, summed over commands and cores. */
typedef struct HostUse {
    TimeSum busy_ps[N_HOST_PARTS]; /* of the buffer: a command waits for room */
    TimeSum wait_ps[N_HOST_PARTS];
    TimeSum gc_busy_ps; /* of the cores' busy time, that for GC; on a core that
                           GC shares it counts from when it is booked */
} HostUse;

/* The components (layers.h). */
typedef struct Controller Controller;
typedef struct Media Media;
typedef struct Journal Journal;
typedef struct Placement Placement;
typedef struct Buffer Buffer;
typedef struct Map Map;
typedef struct Gc Gc;
typedef struct HostPath HostPath;
typedef struct Thermal Thermal;
typedef struct Heat Heat; /* thermal/ */
typedef struct Power Power;


/* Work that one component asks of another; see wake.h. */
typedef enum SsdWork {
    WORK_PARITY,     /* of a plane: program the parity of stripes
                        (superblock.parity) */
    WORK_META,       /* of a plane: program the drive's own pages that wait */
    WORK_GC_RELEASE, /* of a block: an empty victim may be erased now */
    WORK_GC_FORCE,   /* of a plane: collect a block, however many are free */
    WORK_GC,     /* of a plane: start garbage collection, or go on with it */
    WORK_HOST,   /* of the drive: room in the buffer may have become free */
    WORK_BUFFER, /* of the drive: program due units */
    WORK_BUFFER_WAITS, /* the same, if it has found no plane */
    N_WORKS,
} SsdWork;

typedef struct Outside Outside;     /* outside.h */
typedef struct PlaneWear PlaneWear; /* gc/wear.c */
typedef struct MapPolicy MapPolicy;

#endif
