/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-internal.h - the controller and the NVM subsystem, for the files of this
 * folder.  Their parts are structures of the rooms (parts.h of each).
 *
 * The interface of a file is in NAME.h.  A file calls only files below
 * it (docs/architecture.md; tests/components.py).
 *
 * A command of the guest is a NvmeRequest from the moment its entry is fetched
 * until its completion is in the completion queue.  It may have several steps
 * for the drive (SsdOp), a read of the payload and a barrier; `pending` counts
 * the parts under way, and the one that ends last moves the request on.
 */
#ifndef VSSD_NVME_INTERNAL_H
#define VSSD_NVME_INTERNAL_H

#include "admin/parts.h"
#include "erase/parts.h"
#include "health/parts.h"
#include "hist.h"
#include "memory/parts.h"
#include "metadata/parts.h"
#include "namespace/parts.h"
#include "nvme-defs.h"
#include "nvme-stats.h"
#include "nvme.h"
#include "payload/payload.h"
#include "placement/parts.h"
#include "queue/parts.h"
#include "registers/parts.h"
#include "reservation/parts.h"
#include "rooms.h"
#include "zone/parts.h"

#define NVME_MAX_CTRLS     32 /* of a subsystem */
#define NVME_ACL           4
#define NVME_FETCH_BATCH   16
#define NVME_RUN_BUDGET    256 /* commands that one nvme_run() takes */
/* After so many bytes of data it takes no further command. */
#define NVME_RUN_BYTES     (4U << 20)
/* Without a model of the temperature: 40 degrees Celsius, always. */
#define NVME_TEMPERATURE_K 313
#define NVME_WCTEMP_K      343
#define NVME_CCTEMP_K      353

/* When housekeeping is next due (upkeep.c); SSD_TIME_NEVER: there is nothing to
 * do. */
typedef struct NvmeUpkeep {
    uint64_t housekeep_ns;
    uint64_t retry_ns;
    uint64_t retry_wait_ns; /* until retry_ns, from the time before */
    /* Nothing but the store was at work when upkeep.c looked, and nothing has
     * begun since: nvme_upkeep_wake(). */
    bool idle;
    bool quiet; /* and the store has nothing to do later either */
} NvmeUpkeep;

/* Power, busy time and SMART counters. */
typedef struct NvmeLife {
    uint64_t busy_since_ns;
    uint64_t busy_ns;
    uint64_t n_io;        /* in flight */
    uint64_t power_on_ns; /* of the present period */
    uint64_t power_cycles;
    uint64_t unsafe_shutdowns;
    uint64_t media_errors;
} NvmeLife;

/* The counters that rows of NVME_STATS make. */
#define MEMBER_OF_ROW(id, path, unit, reset, help) uint64_t id;
#define NO_MEMBER(...)
typedef struct NvmeCounts {
    NVME_STATS(MEMBER_OF_ROW, NO_MEMBER)
} NvmeCounts;
#undef MEMBER_OF_ROW
#undef NO_MEMBER

struct NvmeCtrl {
    NvmeSubsys *sub;
    NvmeCtrl *next;           /* of the subsystem, by index; NULL: none */
    unsigned index;           /* of NvmeSubsys.ctrl */
    NvmeSecondary *secondary; /* NULL: it is none */
    const NvmeMachine *machine;
    void *opaque;
    const NvmeQueueClient *queue_client;
    const struct NvmeCommandTable *commands[2]; /* of I/O; of admin queues */
    NvmeConfig cfg;
    char serial[21]; /* these three: of the first controller */
    char model[41];
    char firmware[9];
    Ssd *ssd; /* these and the following: as all controllers have them */
    Payload *payload;
    uint32_t block_bytes; /* of the drive, which SsdCmd counts */
    uint32_t block_shift;
    uint32_t unit_blocks;
    uint64_t max_bytes; /* of one transfer */

    OF_ROOM_MEMORY bool
        windows_on; /* an address may lead to the drive's memory */
    OF_ROOM_MEMORY NvmeWindow window[NVME_AT_EDGE];
    OF_ROOM_MEMORY NvmeCmb cmb;
    OF_ROOM_MEMORY NvmePmr pmr;
    uint32_t stuck_mask; /* scripted faults: bits of CSTS that do not change, */
    uint32_t stuck_csts; /* and what they read as */
    OF_ROOM_REGISTERS NvmeRegs regs;
    NvmeRequest *shutdown_req;
    bool pin_level;
    bool enabling;       /* CC.EN is set, and the drive is not ready yet */
    bool shutdown_clean; /* it is not enabled, or has been shut down */
    bool shutdown_waits; /* for commits of key-value namespaces */

    OF_ROOM_QUEUE NvmeQueues queues;
    NvmeFeatures features; /* of rooms, member by member */
    OF_ROOM_HEALTH NvmeEvents events;
    OF_ROOM_HEALTH NvmeNotices notices;
    OF_ROOM_RESERVATION NvmeReservationLog reservation_log;
    uint64_t changed_ns[NVME_MAX_NAMESPACES / 64]; /* log page 04h */
    OF_ROOM_QUEUE NvmeErrorLog error_log;
    OF_ROOM_HEALTH uint64_t keep_alive_ns; /* the end of the Keep Alive Timer */
    OF_ROOM_HEALTH NvmeSelfTest self_test;
    NvmeRequest *self_test_req; /* its read, or NULL */
    OF_ROOM_ADMIN NvmeLbaScan lba_scan;
    OF_ROOM_MEMORY NvmeHostMemory host_memory;
};

/*
 * The NVM subsystem: the drive, its namespaces, all that its controllers share,
 * and the first controller, which is there as long as the subsystem.
 */
struct NvmeSubsys {
    NvmeCtrl *ctrl[NVME_MAX_CTRLS]; /* ctrl[0] is &first; NULL: none */
    unsigned n_ctrls;               /* places of it that were used */
    unsigned next_ctrl;             /* that fetches first in the next round */

    bool powered;
    bool drive_lost; /* the drive has lost its power, we do not know yet */
    bool held;       /* no command is fetched */
    uint64_t now_ns;
    bool more; /* the last run stopped early, or the store has done something */
    uint64_t run_bytes; /* of data, moved since the run began */

    OF_ROOM_NAMESPACE NvmeNamespaces namespaces;
    OF_ROOM_NAMESPACE NvmeAtomicBlocks atomic; /* in blocks of the drive */
    OF_ROOM_QUEUE NvmeNsJob ns_job;
    OF_ROOM_ADMIN NvmeNsForm ns_wanted;  /* by the job */
    OF_ROOM_QUEUE NvmeRequests requests; /* of all controllers, as slots */
    OF_ROOM_QUEUE NvmeSlots slots;
    OF_ROOM_QUEUE uint64_t next_version; /* of written data */
    OF_ROOM_PLACEMENT NvmeStreams streams;
    OF_ROOM_PLACEMENT NvmeFdp fdp;
    OF_ROOM_PLACEMENT NvmeFdpUnits *fdp_units; /* NULL: the drive has no FDP */
    OF_ROOM_ZONE NvmeZones zones;
    OF_ROOM_RESERVATION NvmeReservation
        *reservations; /* by NSID - 1; NULL: the drive has none */
    OF_ROOM_RESERVATION uint32_t n_reserved; /* namespaces with a reservation */
    OF_ROOM_ADMIN NvmeVirtualization virtualization;
    GPtrArray *kv_all; /* NvmeKv of namespaces of key-value pairs; NULL: none */
    struct NvmeKvOp *kv_ready;          /* the oldest first */
    OF_ROOM_KV uint32_t kv_ops;         /* commands for them */
    void (*kv_after)(NvmeSubsys *sub);  /* once they are committed; or NULL */
    struct NvmeDurableLog *durable_log; /* NULL: there is none */
    bool told_read_only;
    NvmeUpkeep upkeep;
    NvmeLife life;
    const NvmeEraseClient *erase_client;
    OF_ROOM_ERASE NvmeEraseJob erase;
    OF_ROOM_ERASE uint32_t
        erase_left; /* blocks of a purge, at the last look at it */
    OF_ROOM_ERASE uint64_t erase_since_ns; /* it has stood still since */
    NvmeRequest *erase_req;                /* its step, or NULL */
    NvmeRequest *format_req; /* Format NVM that waits for it, or NULL */
    OF_ROOM_ERASE NvmeSanitize sanitize;
    OF_ROOM_NAMESPACE NvmeLbaTrack lba_track;
    OF_ROOM_ADMIN NvmeLatency latency;
    OF_ROOM_HEALTH NvmePersistentEvents pel;
    uint8_t *pel_events;  /* the oldest first */
    uint8_t *pel_context; /* header and events */
    unsigned pel_owner;   /* index of the controller that established it */
    OF_ROOM_ADMIN NvmeTelemetry telemetry;
    uint8_t *telemetry_data; /* of both logs, after their headers */
    OF_ROOM_ADMIN NvmeFirmware firmware_store;
    uint8_t *firmware_image; /* downloaded; NVME_FW_BYTES */
    NvmeRequest *activation; /* Firmware Commit that activates, or NULL */
    uint64_t activation_ns;  /* its end */

    struct NvmeFaults *faults; /* cmd-faults.c; NULL: there are no rules */
    unsigned last_fault;   /* number of the last rule, while there is none */
    uint32_t fault_kelvin; /* the temperature, by a rule; 0: by the drive */

    /* statistics */
    Hist *lateness;
    NvmeCounts count;
    GString *origin; /* members that never change; NULL: not written yet */
    struct NvmeLive *live; /* report.c; NULL: there is no live view */

    NvmeCtrl first;
};

/* All controllers of a subsystem, by index.  Most have one, in every run: the
 * list is linked, so that the step to the next one is a load. */
#define NVME_FOR_EACH_CTRL(sub, c)                                             \
    for (NvmeCtrl *c = (sub)->ctrl[0]; c; c = c->next)

/* NULL: there is none. */
static inline NvmeCtrl *nvme_find_ctrl(const NvmeSubsys *sub, uint16_t cntlid)
{
    NvmeCtrl *c = sub->ctrl[0];

    while (c && c->cfg.cntlid != cntlid) {
        c = c->next;
    }
    return c;
}

/* A part that upkeep.c looks at begins: each that makes others_work() true
 * calls this. */
static inline void nvme_upkeep_wake(NvmeSubsys *sub)
{
    sub->upkeep.idle = false;
    sub->upkeep.quiet = false;
}

static inline bool nvme_running(const NvmeCtrl *ctrl)
{
    return ctrl->sub->powered &&
           (ctrl->regs.csts & (NVME_CSTS_RDY | NVME_CSTS_CFS)) == NVME_CSTS_RDY;
}

static inline void nvme_notify(const NvmeCtrl *ctrl, NvmeTell what,
                               uint64_t number, uint64_t count)
{
    if (ctrl->machine->notify) {
        ctrl->machine->notify(ctrl->opaque, what, number, count);
    }
}

/* May the subsystem have several controllers? */
static inline bool nvme_is_multi(const NvmeCtrl *ctrl)
{
    return ctrl->cfg.controllers > 1;
}

#endif
