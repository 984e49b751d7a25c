/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-internal.h - the controller's structures, for the files of this folder:
 * commands, queues, the controller and the subsystem (its parts: nvme-parts.h).
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

#include "hist.h"
#include "nvme-defs.h"
#include "nvme-parts.h"
#include "nvme-stats.h"
#include "nvme.h"
#include "payload/payload.h"

#define NVME_MAX_CTRLS     32 /* of a subsystem */
#define NVME_MAX_QUEUES 65 /* the admin queue and 64 */
#define NVME_MAX_VECTORS 65
#define NVME_ACL 4
#define NVME_CQE_BATCH 16
#define NVME_FETCH_BATCH 16
#define NVME_RUN_BUDGET 256 /* commands that one nvme_run() takes */
/* After so many bytes of data it takes no further command. */
#define NVME_RUN_BYTES (4U << 20)
/* Without a model of the temperature: 40 degrees Celsius, always. */
#define NVME_TEMPERATURE_K 313
#define NVME_WCTEMP_K 343
#define NVME_CCTEMP_K 353

typedef struct NvmeSq NvmeSq;
typedef struct NvmeCq NvmeCq;

/* ---- pieces of guest memory (prp.c) -------------------------------------- */

typedef struct NvmeSeg {
    uint64_t addr;
    uint32_t len;
} NvmeSeg;

#define NVME_SG_SMALL 4
#define NVME_SG_LARGE 1026

/* The pieces of guest memory of one command. */
typedef struct NvmeSg {
    NvmeSeg *seg; /* small, or one of the controller's pool */
    unsigned n;
    unsigned idx;  /* cursor: the next byte to move */
    uint32_t done; /* within seg[idx] */
    bool in_drive; /* all of it is in memory of the drive: CMB or PMR */
    bool has_list; /* described by a list */
    bool list_in_cmb; /* which is there */
    NvmeSeg small[NVME_SG_SMALL];
} NvmeSg;

/* ---- metadata of a command (metadata.c) -----------------------------------
 */

/* What protection information is checked for, or made of. */
typedef struct NvmePiTags {
    uint64_t ref; /* of the first block */
    uint64_t storage;
    uint16_t app;
    uint16_t app_mask;
    uint8_t check; /* NVME_PRCHK_... */
} NvmePiTags;

/* The metadata of one command.  format, block_bytes: of the namespace when the
 * command came. */
typedef struct NvmeMetadata {
    NvmeProtection format;
    uint32_t block_bytes;
    uint32_t room; /* of a block in meta */
    uint8_t *meta; /* as the payload has it; payload_buf_get() */
    size_t meta_bytes;
    size_t meta_done; /* of them, written */
    uint8_t *compare; /* the host's, or NULL; payload_buf_get() */
    size_t compare_bytes;
    uint64_t link_bytes; /* that the data pointer describes */
    bool of_host;        /* the host has the metadata, or gets it */
    bool act;            /* PRACT */
    NvmePiTags tags;
    NvmeSg sg; /* separate, and of_host: the host's metadata */
    struct NvmePiSource *source; /* Copy: its ranges, or NULL */
    unsigned n_sources;
} NvmeMetadata;

/* ---- requests ----------------------------------------------------------- */

/* One command for the drive. */
typedef struct NvmeStep {
    SsdOp op;
    bool zeroes;     /* TRIM: of Write Zeroes */
    bool close;      /* FLUSH: of the stream, which ends */
    bool inside;     /* READ, WRITE: no data of the host */
    bool marks;      /* WRITE: of Write Uncorrectable */
    uint16_t stream; /* only then; WRITE goes by the request's */
    uint8_t metadata_bytes; /* READ, WRITE: of the host, with each block */
    uint32_t nblocks;       /* of the drive, as lba */
    uint64_t lba;
    PayloadEntry *entries; /* WRITE: until it is submitted */
    uint64_t id;           /* WRITE: version; TRIM: payload_trim_begin()'s */
    uint32_t zone;         /* that it writes, or ends; + 1; 0: none */
    bool erase;            /* TRIM: of a zone, whose stream ends */
} NvmeStep;

/* How a step ended, for its zone. */
typedef enum NvmeStepEnd {
    NVME_STEP_DONE,
    NVME_STEP_DROPPED, /* without effect: aborted, or no power */
    NVME_STEP_FAILED,  /* the medium takes no more data */
} NvmeStepEnd;

#define NVME_STEPS_SMALL 3

/* Where data that is read goes. */
typedef enum NvmeReadFor {
    NVME_READ_FOR_HOST,  /* or a comparison with its data */
    NVME_READ_TO_VERIFY, /* nowhere */
    NVME_READ_TO_COPY,   /* it stays in NvmeRequest.buf */
    NVME_READ_VALUE,     /* NvmeRequest.bytes of it for the host */
} NvmeReadFor;

struct NvmeRequest {
    NvmeRequest *next; /* free list, starved list, completion queue's list */
    NvmeRequest *sq_next; /* of the queue's requests, circular */
    NvmeRequest *sq_prev;
    NvmeCtrl *ctrl; /* that got it */
    NvmeSq *sq; /* NULL: an orphan, its queue is gone */
    uint16_t cid;
    uint8_t opcode;
    uint8_t work; /* NvmeWork; of a command that there is */
    bool admin;
    bool fua;      /* WRITE steps: complete once durable */
    bool barrier;  /* ends with a barrier of the payload */
    bool unflushed; /* which does not make the store flush */
    bool waiting;  /* Async Event Request: for an event */
    bool starved;  /* in the list that waits for places in the drive */
    bool aborted;
    bool posted;   /* done, and waits for room in the completion queue */
    bool shutdown; /* the controller's own, for CC.SHN */
    bool used;     /* not in the free list */
    bool internal; /* READ steps: of the controller itself */
    bool delayed;  /* by a scripted fault: it has not begun */
    uint8_t fault; /* of its completion: bad-entry.h */
    uint16_t status; /* code; 0 so far */
    uint32_t pending;
    uint32_t in_drive;     /* steps that the drive has */
    NvmeRequest *deletion; /* of its queue, or a Preempt and Abort: waits until
                              in_drive is 0; or NULL */
    uint32_t dw0;
    uint32_t dw1;
    uint32_t nsid;
    NvmeNamespace *ns; /* of nsid; NULL: none that is attached */
    uint64_t lba;      /* of the namespace, as nblocks */
    uint32_t nblocks;
    uint16_t stream;      /* of the drive, for WRITE steps */
    uint64_t fetch_ns;
    uint64_t bytes;       /* of the namespace that it is about */
    uint64_t specific;    /* of its status, for the error log; or 0 */
    bool refused;         /* with its first look */
    uint8_t read_for;     /* NvmeReadFor */
    bool marked;          /* Write Uncorrectable has made the read fail */
    uint64_t complete_ns; /* of the last step, by the model */
    /* Of a request that is not in a queue: it has ended, and will be freed; or
     * NULL. */
    void (*done)(NvmeCtrl *ctrl, NvmeRequest *req);
    void *job; /* done()'s, until then; g_new */
    /* Of a namespace of key-value pairs (kv-wait.c), or NULL; kv_end() is
     * called before it completes, or goes. */
    struct NvmeKvOp *kv;
    void (*kv_end)(NvmeCtrl *ctrl, NvmeRequest *req);
    bool modelled;        /* complete_ns is set */

    /* Once all parts have ended, before the barrier; may add steps, and set it
     * again.  Not after a failure, nor of a request without a queue. */
    uint16_t (*then)(NvmeCtrl *ctrl, NvmeRequest *req);
    NvmeRequest *fused;     /* the second command of a pair, which waits */
    NvmeSqe *sqe;           /* of a command that has not begun, or NULL */
    bool locks;             /* nobody else changes its range: in the list of */
    NvmeRequest *lock_next; /* NvmeRequests.locks */

    unsigned nsteps;
    unsigned next_step;
    unsigned step_room;
    unsigned reads_left; /* pieces that the payload has not read */
    NvmeStep *steps;     /* small_steps, or g_new */
    PayloadRead *reads; /* g_new: one for each piece; NULL: there is rd alone */
    NvmeStep small_steps[NVME_STEPS_SMALL];

    NvmeSg sg;
    uint8_t *buf; /* payload_buf_get() */
    size_t buf_bytes;
    size_t buf_done;  /* NVME_READ_TO_COPY: of these, written */
    uint8_t *compare; /* the host's side; payload_buf_get() */
    NvmeMetadata *metadata; /* g_new: of a namespace with metadata, or NULL */
    PayloadRead rd;
    PayloadBarrier bar;
};

/* A place in the drive's queue; its index is the tag. */
typedef struct NvmeSlot {
    NvmeRequest *req;
    uint32_t step;
    uint32_t next_free;
} NvmeSlot;

/* ---- queues ------------------------------------------------------------- */

/* A queue's entries in the shadow doorbell and EventIdx pages. */
typedef struct NvmeShadow {
    bool on;
    bool used;     /* the guest has changed the value */
    uint32_t last; /* value seen last */
    uint32_t event_idx;
    uint64_t db_addr;
    uint64_t ei_addr;
} NvmeShadow;

struct NvmeCq {
    bool live;
    bool ien;
    bool asserted; /* pin: signalled, and not empty */
    bool in_cmb;
    bool dirty;    /* has something for the end of the run */
    uint8_t phase;
    uint16_t id;
    uint16_t vector;
    uint32_t size;
    uint32_t head;
    uint32_t tail;
    uint64_t addr;
    unsigned nsqs;
    NvmeShadow shadow;
    NvmeRequest *wait_first; /* for room */
    NvmeRequest *wait_last;
    unsigned nbatch;
    uint32_t unsignalled; /* entries since the last interrupt */
    uint64_t first_ns;    /* when the first of them was posted */
    uint32_t bad_phases;  /* bits by entry of batch: a scripted fault */
    NvmeCqEntry batch[NVME_CQE_BATCH];
};

/* Classes of I/O submission queues (QPRIO). */
enum {
    NVME_PRIORITY_URGENT,
    NVME_PRIORITY_HIGH,
    NVME_PRIORITY_MEDIUM,
    NVME_PRIORITY_LOW,
    NVME_PRIORITIES,
};

struct NvmeSq {
    bool live;
    bool in_cmb;
    uint8_t priority; /* looked at with weighted round robin only */
    uint16_t id;
    NvmeCq *cq;
    uint32_t size;
    uint32_t head;
    uint32_t tail;
    uint64_t addr;
    NvmeShadow shadow;
    NvmeRequest list; /* head of the circular list of its requests */
};

/* ---- the controller ----------------------------------------------------- */

/*
 * Callbacks of queue/ to the rooms above it.
 * bad_doorbell: a doorbell that the guest rings names no queue, or its value is
 * out of range, and is ignored; info: NVME_EVENT_BAD_....  The hook may post to
 * the admin completion queue.
 * message: with NvmeSubsys.faults only; false: the message is not sent.
 * may_go: may the step, which is of a zone, go to the drive now?
 * zone_step_end: such a step has ended, or never began.
 * drained: the drive has ended a step, with NvmeNamespaces.draining only.
 */
typedef struct NvmeQueueClient {
    void (*bad_doorbell)(NvmeCtrl *ctrl, unsigned info);
    bool (*message)(NvmeCtrl *ctrl, unsigned vector);
    bool (*zone_step_may_go)(const NvmeCtrl *ctrl, const NvmeStep *step);
    void (*zone_step_end)(NvmeCtrl *ctrl, const NvmeStep *step,
                          NvmeStepEnd how);
    void (*drained)(NvmeCtrl *ctrl);
} NvmeQueueClient;

/* Registers. */
typedef struct NvmeRegs {
    uint64_t asq;
    uint64_t acq;
    uint32_t cc;
    uint32_t csts;
    uint32_t intms;
    uint32_t aqa;
    uint32_t page_bits; /* of CC.MPS, while enabled */
} NvmeRegs;

/* Queues, by number. */
typedef struct NvmeQueues {
    NvmeSq sq[NVME_MAX_QUEUES];
    NvmeCq cq[NVME_MAX_QUEUES];
    unsigned max_sqid; /* the greatest live one, or 0 */
    unsigned max_cqid;
    unsigned n_io;     /* live I/O queues of both kinds */
    unsigned next_sq;  /* where the next round of arbitration begins */
    /* Weighted round robin, by class: where it goes on, and credits left. */
    uint16_t class_next[NVME_PRIORITIES];
    uint16_t credit[NVME_PRIORITIES];
    bool shadow_on;
    uint64_t shadow_db;
    uint64_t shadow_ei;
} NvmeQueues;

/* Requests, in use and not. */
typedef struct NvmeRequests {
    NvmeRequest *free;
    NvmeRequest *starved_first;
    NvmeRequest *starved_last;
    NvmeRequest *locks; /* those that lock their range */
    GPtrArray *slabs;
    GPtrArray *sg_pool;
} NvmeRequests;

/* Places in the drive's queue. */
typedef struct NvmeSlots {
    NvmeSlot *slot;
    uint32_t n;
    uint32_t free; /* the first free one, or ILIST_NONE */
    uint32_t in_use;
} NvmeSlots;

/* Values of features. */
typedef struct NvmeFeatures {
    uint32_t value[NVME_FEATURE_SLOTS];
    uint32_t vector_config[NVME_MAX_VECTORS];
    uint64_t timestamp_ms;
    uint64_t timestamp_at_ns;
    bool timestamp_set;
    uint8_t host_id[16];
    bool host_id_extended;           /* the host gave 128 bits */
    uint64_t apst[SSD_POWER_STATES]; /* feature 0Ch */
    bool apst_on;
    bool apst_set;                      /* by the host, on or off */
    uint32_t saved[NVME_FEATURE_SLOTS]; /* kept without power */
    uint32_t is_saved;                  /* slots of it, as bits */
    uint8_t behavior[3];                /* feature 16h: ACRE, ETDAS, LBAFEE */
    uint16_t copy_formats; /* feature 16h, CDFE: enabled formats of Copy */
} NvmeFeatures;

/* Asynchronous events. */
typedef struct NvmeEvents {
    NvmeRequest *aer[NVME_AERL];
    unsigned naer;
    bool pending[NVME_EVENT_TYPES];
    bool masked[NVME_EVENT_TYPES];
    uint8_t info[NVME_EVENT_TYPES];
    uint8_t warned; /* critical warnings that events were sent for */
    uint64_t health; /* state at the last nvme_look_at_health() */
} NvmeEvents;

/* Notices: each is masked for itself. */
typedef struct NvmeNotices {
    bool pending[NVME_N_NOTICES];
    bool masked[NVME_N_NOTICES];
} NvmeNotices;

/* Errors since the beginning: error i is entry i % NVME_ERROR_ENTRIES. */
typedef struct NvmeErrorLog {
    NvmeErrorEntry entry[NVME_ERROR_ENTRIES];
    uint64_t specific[NVME_ERROR_ENTRIES]; /* of the command, by its status */
    uint64_t n;
} NvmeErrorLog;

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
    uint64_t n_io;         /* in flight */
    uint64_t power_on_ns;  /* of the present period */
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

    bool windows_on; /* an address may lead to the drive's memory */
    NvmeWindow window[NVME_AT_EDGE];
    NvmeCmb cmb;
    NvmePmr pmr;
    uint32_t stuck_mask; /* scripted faults: bits of CSTS that do not change, */
    uint32_t stuck_csts; /* and what they read as */
    NvmeRegs regs;
    NvmeRequest *shutdown_req;
    bool pin_level;
    bool enabling;       /* CC.EN is set, and the drive is not ready yet */
    bool shutdown_clean; /* it is not enabled, or has been shut down */
    bool shutdown_waits; /* for commits of key-value namespaces */

    NvmeQueues queues;
    NvmeFeatures features;
    NvmeEvents events;
    NvmeNotices notices;
    NvmeReservationLog reservation_log;
    uint64_t changed_ns[NVME_MAX_NAMESPACES / 64]; /* log page 04h */
    NvmeErrorLog error_log;
    uint64_t keep_alive_ns; /* the end of the Keep Alive Timer */
    NvmeSelfTest self_test;
    NvmeRequest *self_test_req; /* its read, or NULL */
    NvmeLbaScan lba_scan;
    NvmeHostMemory host_memory;
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

    NvmeNamespaces namespaces;
    NvmeRequests requests; /* of all controllers, as slots */
    NvmeSlots slots;
    uint64_t next_version; /* of written data */
    NvmeStreams streams;
    NvmeFdp fdp;
    NvmeFdpUnits *fdp_units; /* NULL: the drive has no FDP */
    NvmeZones zones;
    NvmeReservation *reservations; /* by NSID - 1; NULL: the drive has none */
    uint32_t n_reserved;           /* namespaces with a reservation */
    NvmeVirtualization virtualization;
    GPtrArray *kv_all; /* NvmeKv of namespaces of key-value pairs; NULL: none */
    struct NvmeKvOp *kv_ready;          /* the oldest first */
    uint32_t kv_ops;                    /* commands for them */
    void (*kv_after)(NvmeSubsys *sub);  /* once they are committed; or NULL */
    struct NvmeDurableLog *durable_log; /* NULL: there is none */
    bool told_read_only;
    NvmeUpkeep upkeep;
    NvmeLife life;
    const NvmeEraseClient *erase_client;
    NvmeEraseJob erase;
    uint32_t erase_left;     /* blocks of a purge, at the last look at it */
    uint64_t erase_since_ns; /* it has stood still since */
    NvmeRequest *erase_req;  /* its step, or NULL */
    NvmeRequest *format_req; /* Format NVM that waits for it, or NULL */
    NvmeSanitize sanitize;
    NvmeLbaTrack lba_track;
    NvmeLatency latency;
    NvmePersistentEvents pel;
    uint8_t *pel_events;  /* the oldest first */
    uint8_t *pel_context; /* header and events */
    unsigned pel_owner;   /* index of the controller that established it */
    NvmeTelemetry telemetry;
    uint8_t *telemetry_data; /* of both logs, after their headers */
    NvmeFirmware firmware_store;
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

static inline void nvme_set_fatal(NvmeCtrl *ctrl)
{
    if (!(ctrl->regs.csts & NVME_CSTS_CFS)) {
        ctrl->regs.csts |= NVME_CSTS_CFS;
        nvme_notify(ctrl, NVME_TELL_FATAL, ctrl->cfg.cntlid, 1);
    }
}

static inline bool nvme_is_attached(const NvmeCtrl *ctrl,
                                    const NvmeNamespace *ns)
{
    return ns->attached >> ctrl->index & 1;
}

/* The namespace, if it is attached to the controller. */
static inline NvmeNamespace *nvme_ns_find(const NvmeCtrl *ctrl, uint32_t nsid)
{
    uint32_t i = nsid - 1;

    NvmeNamespace *ns = &ctrl->sub->namespaces.table[i];

    /* A host that enables only the NVM Command Set finds none of key-value
     * pairs. */
    return i < ctrl->sub->namespaces.n && nvme_is_attached(ctrl, ns) &&
                   !((ns->kv || ns->zone_size) &&
                     NVME_CC_CSS(ctrl->regs.cc) == 0)
               ? ns
               : NULL;
}

/* May the subsystem have several controllers? */
static inline bool nvme_is_multi(const NvmeCtrl *ctrl)
{
    return ctrl->cfg.controllers > 1;
}

/* Has it secondary controllers?  Is it one, and Offline? */
static inline bool nvme_is_primary(const NvmeCtrl *ctrl)
{
    return ctrl == &ctrl->sub->first && ctrl->sub->virtualization.n;
}

static inline bool nvme_is_offline(const NvmeCtrl *ctrl)
{
    return G_UNLIKELY(ctrl->secondary) && !ctrl->secondary->online;
}

static inline bool nvme_has_fdp(const NvmeCtrl *ctrl)
{
    return ctrl->sub->fdp.ruhs > 0;
}

static inline bool nvme_has_directives(const NvmeCtrl *ctrl)
{
    return ctrl->sub->streams.max || ctrl->sub->fdp.ruhs;
}

/* ---- guest memory -------------------------------------------------------- */

/* window.c: the memory of the drive, or of the machine. */
int nvme_window_read(NvmeCtrl *ctrl, uint64_t addr, void *buf, size_t len);
int nvme_window_write(NvmeCtrl *ctrl, uint64_t addr, const void *buf,
                      size_t len);

/* As NvmeMachine has them. */
static inline int nvme_dma_read(NvmeCtrl *ctrl, uint64_t addr, void *buf,
                                size_t len)
{
    if (G_UNLIKELY(ctrl->windows_on)) {
        return nvme_window_read(ctrl, addr, buf, len);
    }
    return ctrl->machine->dma_read(ctrl->opaque, addr, buf, len);
}

static inline int nvme_dma_write(NvmeCtrl *ctrl, uint64_t addr,
                                 const void *buf, size_t len)
{
    if (G_UNLIKELY(ctrl->windows_on)) {
        return nvme_window_write(ctrl, addr, buf, len);
    }
    return ctrl->machine->dma_write(ctrl->opaque, addr, buf, len);
}

/*
 * Guest memory is written and read by processors that need not see one order.
 * After an index was read from there, before the entries that it announces are
 * read or overwritten; and before an index or a phase bit announces entries.
 */
static inline void nvme_dma_rmb(void)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static inline void nvme_dma_wmb(void)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

#endif
