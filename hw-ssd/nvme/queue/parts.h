/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parts.h - structures of queue/: commands on their way, and queues. */
#ifndef VSSD_NVME_QUEUE_PARTS_H
#define VSSD_NVME_QUEUE_PARTS_H

#include "memory/parts.h"
#include "namespace/parts.h"
#include "nvme-defs.h"
#include "payload/payload.h"
#include "rooms.h"

#define NVME_MAX_QUEUES  65 /* the admin queue and 64 */
#define NVME_MAX_VECTORS 65
#define NVME_CQE_BATCH   16

typedef struct NvmeSq NvmeSq;
typedef struct NvmeCq NvmeCq;

/* One command for the drive. */
typedef struct NvmeStep {
    SsdOp op;
    bool zeroes;            /* TRIM: of Write Zeroes */
    bool close;             /* FLUSH: of the stream, which ends */
    bool inside;            /* READ, WRITE: no data of the host */
    bool marks;             /* WRITE: of Write Uncorrectable */
    uint16_t stream;        /* only then; WRITE goes by the request's */
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
    NVME_READ_PROTECTED, /* where NvmeRequest.received() puts it */
} NvmeReadFor;

struct NvmeRequest {
    NvmeRequest *next;    /* free list, starved list, completion queue's list */
    NvmeRequest *sq_next; /* of the queue's requests, circular */
    NvmeRequest *sq_prev;
    NvmeCtrl *ctrl; /* that got it */
    NvmeSq *sq;     /* NULL: an orphan, its queue is gone */
    uint16_t cid;
    uint8_t opcode;
    uint8_t work; /* NvmeWork; of a command that there is */
    bool admin;
    bool fua;       /* WRITE steps: complete once durable */
    bool append;    /* they are of a Zone Append */
    bool barrier;   /* ends with a barrier of the payload */
    bool unflushed; /* which does not make the store flush */
    bool waiting;   /* Async Event Request: for an event */
    bool starved;   /* in the list that waits for places in the drive */
    bool aborted;
    bool posted;     /* done, and waits for room in the completion queue */
    bool shutdown;   /* the controller's own, for CC.SHN */
    bool used;       /* not in the free list */
    bool internal;   /* READ steps: of the controller itself */
    bool delayed;    /* by a scripted fault: it has not begun */
    uint8_t fault;   /* of its completion: bad-entry.h */
    uint16_t status; /* code; 0 so far */
    uint32_t pending;
    uint32_t in_drive;     /* steps that the drive has */
    NvmeRequest *deletion; /* of its queue, or a Preempt and Abort: waits until
                              in_drive is 0; or NULL */
    uint32_t dw0;
    uint32_t dw1;
    uint32_t nsid;
    const NvmeNamespace *ns; /* of nsid; NULL: none that is attached */
    uint64_t lba;            /* of the namespace, as nblocks */
    uint32_t nblocks;
    uint16_t stream; /* of the drive, for WRITE steps */
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
    /* Called once before it completes, or goes; or NULL. */
    void (*ends)(NvmeCtrl *ctrl, NvmeRequest *req);
    struct NvmeKvOp *kv; /* of a namespace of key-value pairs, or NULL */
    bool modelled;       /* complete_ns is set */

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
    size_t buf_done;        /* NVME_READ_TO_COPY: of these, written */
    uint8_t *compare;       /* the host's side; payload_buf_get() */
    NvmeMetadata *metadata; /* of a namespace with metadata, or NULL */
    /* With NVME_READ_PROTECTED: all is in buf.  Status code. */
    uint16_t (*received)(NvmeCtrl *ctrl, NvmeRequest *req);
    PayloadRead rd;
    PayloadBarrier bar;
};

/* A place in the drive's queue; its index is the tag. */
typedef struct NvmeSlot {
    NvmeRequest *req;
    uint32_t step;
    uint32_t next_free;
} NvmeSlot;

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
    bool dirty; /* has something for the end of the run */
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

/*
 * Callbacks of queue/ to the rooms above it.
 * bad_doorbell: what the guest rings is not a doorbell of a queue, or its value
 * (flag) is out of range; it is ignored.  The hook may post to the admin
 * completion queue.
 * message: with NvmeSubsys.faults only; false: the message is not sent.
 * may_go: may the step, which is of a zone, go to the drive now?
 * zone_step_end: such a step has ended, or never began.
 * drained: the drive has ended a step, with NvmeNsJob.draining only.
 */
typedef struct NvmeQueueClient {
    void (*bad_doorbell)(NvmeCtrl *ctrl, bool value);
    bool (*message)(NvmeCtrl *ctrl, unsigned vector);
    bool (*zone_step_may_go)(const NvmeCtrl *ctrl, const NvmeStep *step);
    void (*zone_step_end)(NvmeCtrl *ctrl, const NvmeStep *step,
                          NvmeStepEnd how);
    void (*drained)(NvmeCtrl *ctrl);
} NvmeQueueClient;

/* Queues, by number. */
typedef struct NvmeQueues {
    NvmeSq sq[NVME_MAX_QUEUES];
    NvmeCq cq[NVME_MAX_QUEUES];
    unsigned max_sqid; /* the greatest live one, or 0 */
    unsigned max_cqid;
    unsigned n_io;    /* live I/O queues of both kinds */
    unsigned next_sq; /* where the next round of arbitration begins */
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

/* A command that creates or deletes namespaces; one at a time. */
typedef struct NvmeNsJob {
    NvmeRequest *req; /* NULL: there is none */
    bool draining;    /* it waits for commands of deleted namespaces */
} NvmeNsJob;

/* ---- error-log.c --------------------------------------------------------- */

#define NVME_ERROR_ENTRIES 64

typedef struct NvmeErrorEntry {
    uint64_t count;
    uint16_t sqid;
    uint16_t cid;
    uint16_t status; /* as in the completion, phase bit 0 */
    uint16_t location;
    uint32_t nsid;
    uint64_t lba;
} NvmeErrorEntry;

/* Errors since the beginning: error i is entry i % NVME_ERROR_ENTRIES. */
typedef struct NvmeErrorLog {
    NvmeErrorEntry entry[NVME_ERROR_ENTRIES];
    uint64_t specific[NVME_ERROR_ENTRIES]; /* of the command, by its status */
    uint64_t n;
} NvmeErrorLog;

#endif
