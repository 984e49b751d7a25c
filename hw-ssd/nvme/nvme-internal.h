/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-internal.h - the controller's structures, for the files of this folder.
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
#include "nvme.h"
#include "payload/payload.h"

#define NVME_MAX_QUEUES 65 /* the admin queue and 64 */
#define NVME_MAX_VECTORS 65
#define NVME_AERL 4        /* Async Event Requests outstanding */
#define NVME_ACL 4
#define NVME_ERROR_ENTRIES 64
#define NVME_CQE_BATCH 16
#define NVME_FETCH_BATCH 16
#define NVME_RUN_BUDGET 256 /* commands that one nvme_run() takes */
/* After so many bytes of data it takes no further command. */
#define NVME_RUN_BYTES (4U << 20)
#define NVME_TEMPERATURE_K 313 /* not modelled: 40 degrees Celsius, always */
#define NVME_WCTEMP_K 343
#define NVME_CCTEMP_K 353

typedef struct NvmeRequest NvmeRequest;
typedef struct NvmeSq NvmeSq;
typedef struct NvmeCq NvmeCq;

/* ---- guest memory (prp.c) ----------------------------------------------- */

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
    NvmeSeg small[NVME_SG_SMALL];
} NvmeSg;

void nvme_sg_init(NvmeSg *sg);
void nvme_sg_free(NvmeCtrl *ctrl, NvmeSg *sg);

/* Status code; 0: sg describes bytes bytes. */
uint16_t nvme_prp_map(NvmeCtrl *ctrl, NvmeSg *sg, uint64_t prp1, uint64_t prp2,
                      uint64_t bytes);

/* Move the next len bytes.  Status code. */
uint16_t nvme_sg_read(NvmeCtrl *ctrl, NvmeSg *sg, void *buf, size_t len);
uint16_t nvme_sg_write(NvmeCtrl *ctrl, NvmeSg *sg, const void *buf, size_t len);

/* The data of an admin command at once: map, move, forget. */
uint16_t nvme_to_host(NvmeCtrl *ctrl, const NvmeSqe *sqe, const void *buf,
                      size_t len);
uint16_t nvme_from_host(NvmeCtrl *ctrl, const NvmeSqe *sqe, void *buf,
                        size_t len);

/* As much of a structure as the host asks for, zeroes beyond its end. */
uint16_t nvme_to_host_padded(NvmeCtrl *ctrl, const NvmeSqe *sqe,
                             const void *buf, size_t len, uint64_t wanted);

/* ---- requests ----------------------------------------------------------- */

/* One command for the drive. */
typedef struct NvmeStep {
    SsdOp op;
    bool zeroes;     /* TRIM: of Write Zeroes */
    bool close;      /* FLUSH: of the stream, which ends */
    uint16_t stream; /* only then; WRITE goes by the request's */
    uint32_t nblocks;
    uint64_t lba;
    PayloadEntry *entries; /* WRITE: until it is submitted */
    uint64_t id;           /* WRITE: version; TRIM: payload_trim_begin()'s */
} NvmeStep;

#define NVME_STEPS_SMALL 3

struct NvmeRequest {
    NvmeRequest *next; /* free list, starved list, completion queue's list */
    NvmeRequest *sq_next; /* of the queue's requests, circular */
    NvmeRequest *sq_prev;
    NvmeSq *sq; /* NULL: an orphan, its queue is gone */
    uint16_t cid;
    uint8_t opcode;
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
    uint16_t status; /* code; 0 so far */
    uint32_t pending;
    uint32_t in_drive;     /* steps that the drive has */
    NvmeRequest *deletion; /* of its queue: waits until in_drive is 0, or NULL */
    uint32_t dw0;
    uint32_t nsid;
    uint64_t lba;
    uint32_t nblocks;
    uint16_t stream;      /* of the drive, for WRITE steps */
    uint64_t fetch_ns;
    uint64_t bytes;       /* of the namespace that it is about */
    bool refused;         /* with its first look */
    uint64_t complete_ns; /* of the last step, by the model */
    bool modelled;        /* complete_ns is set */

    unsigned nsteps;
    unsigned next_step;
    NvmeStep *steps; /* small_steps, or g_new */
    NvmeStep small_steps[NVME_STEPS_SMALL];

    NvmeSg sg;
    uint8_t *buf; /* payload_buf_get() */
    size_t buf_bytes;
    uint8_t *compare; /* the host's side; payload_buf_get() */
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
    uint8_t batch[NVME_CQE_BATCH][NVME_CQE_BYTES];
};

struct NvmeSq {
    bool live;
    uint16_t id;
    NvmeCq *cq;
    uint32_t size;
    uint32_t head;
    uint32_t tail;
    uint64_t addr;
    NvmeShadow shadow;
    NvmeRequest list; /* head of the circular list of its requests */
};

/* ---- logs and events ---------------------------------------------------- */

typedef struct NvmeErrorEntry {
    uint64_t count;
    uint16_t sqid;
    uint16_t cid;
    uint16_t status; /* as in the completion, phase bit 0 */
    uint16_t location;
    uint32_t nsid;
    uint64_t lba;
} NvmeErrorEntry;

/* Kinds of asynchronous events, clause 5.2; index of NvmeCtrl.event_*. */
enum {
    NVME_EVENT_ERROR = 0,
    NVME_EVENT_SMART = 1,
    NVME_EVENT_TYPES = 2,
};
enum {
    NVME_EVENT_BAD_DOORBELL = 0,
    NVME_EVENT_BAD_DOORBELL_VALUE = 1,
    NVME_EVENT_SMART_RELIABILITY = 0,
    NVME_EVENT_SMART_TEMPERATURE = 1,
    NVME_EVENT_SMART_SPARE = 2,
};

/* Critical warnings of the SMART log. */
#define NVME_WARN_SPARE       0x01
#define NVME_WARN_TEMPERATURE 0x02
#define NVME_WARN_RELIABILITY 0x04
#define NVME_WARN_READ_ONLY   0x08

/* Available spare below this share is worth a warning, in %. */
#define NVME_SPARE_THRESHOLD 10

#define NVME_FEATURE_SLOTS 16

/* ---- placement (directives.c, fdp.c) ------------------------------------ */

#define NVME_MAX_STREAMS 63
#define NVME_MAX_RUHS 64

/* An open stream; the drive's stream is its index + 1. */
typedef struct NvmeStream {
    uint16_t id;   /* the host's; 0: not open */
    uint64_t used; /* NvmeStreams.clock at the last write */
} NvmeStream;

typedef struct NvmeStreams {
    unsigned max; /* 0: the drive has none, or has FDP */
    bool enabled;
    unsigned allocated; /* for the namespace alone */
    unsigned open;
    uint64_t clock;
    NvmeStream stream[NVME_MAX_STREAMS];
} NvmeStreams;

#define NVME_FDP_EVENTS 63 /* of the log, which has a header of that size */

/* For the host, or of the controller: each kind has its log. */
enum { NVME_FDP_CONTROLLER_LOG, NVME_FDP_HOST_LOG, NVME_FDP_LOGS };

typedef struct NvmeFdpEvent {
    uint8_t type;
    bool has_handle; /* pid and ruh are known */
    uint16_t pid;
    uint16_t ruh;
    uint8_t timestamp[8];
    uint16_t nblocks_moved; /* Media Reallocated: FFFFh: so many or more */
    uint64_t lba;           /* one of them */
} NvmeFdpEvent;

typedef struct NvmeFdpLog {
    NvmeFdpEvent event[NVME_FDP_EVENTS];
    uint64_t nevents; /* since the beginning */
} NvmeFdpLog;

typedef struct NvmeFdp {
    unsigned ruhs; /* 0: the drive has no FDP */
    bool placement; /* the Data Placement directive is enabled */
    uint8_t wanted[NVME_MAX_RUHS]; /* events: bits by place in their table */
    NvmeFdpLog log[NVME_FDP_LOGS];
} NvmeFdp;

/* ---- the controller ----------------------------------------------------- */

struct NvmeCtrl {
    const NvmeMachine *machine;
    void *opaque;
    NvmeConfig cfg;
    char serial[21];
    char model[41];
    char firmware[9];
    Ssd *ssd;
    Payload *payload;
    uint32_t block_bytes;
    uint32_t block_shift;
    uint32_t unit_blocks;
    uint64_t max_bytes; /* of one transfer */

    /* registers */
    bool powered;
    bool drive_lost; /* the drive has lost its power, we do not know yet */
    bool held; /* no command is fetched */
    uint32_t cc;
    uint32_t csts;
    uint32_t intms;
    uint32_t aqa;
    uint64_t asq;
    uint64_t acq;
    uint32_t page_bits; /* of CC.MPS, while enabled */

    uint64_t now_ns;
    bool more; /* the last run stopped early, or the store has done something */
    uint64_t run_bytes; /* of data, moved since the run began */
    bool pin_level;

    NvmeSq sq[NVME_MAX_QUEUES];
    NvmeCq cq[NVME_MAX_QUEUES];
    unsigned max_sqid; /* the greatest live one, or 0 */
    unsigned max_cqid;
    unsigned nio_queues; /* live I/O queues of both kinds */
    unsigned next_sq;  /* where the next round of arbitration begins */
    bool shadow_on;
    uint64_t shadow_db;
    uint64_t shadow_ei;

    NvmeRequest *free_requests;
    NvmeRequest *starved_first;
    NvmeRequest *starved_last;
    GPtrArray *request_slabs;
    GPtrArray *sg_pool;
    NvmeSlot *slots;
    uint32_t nslots;
    uint32_t free_slot; /* nslots: none */
    uint32_t slots_in_use;
    uint64_t next_version;

    /* features */
    uint32_t feature[NVME_FEATURE_SLOTS];
    uint32_t vector_config[NVME_MAX_VECTORS];
    uint64_t timestamp_ms;
    uint64_t timestamp_at_ns;
    bool timestamp_set;
    uint8_t host_id[16];

    NvmeStreams streams;
    NvmeFdp fdp;

    /* events and logs */
    NvmeRequest *aer[NVME_AERL];
    unsigned naer;
    bool event_pending[NVME_EVENT_TYPES];
    bool event_masked[NVME_EVENT_TYPES];
    uint8_t event_info[NVME_EVENT_TYPES];
    uint8_t warned; /* critical warnings that events were sent for */
    uint64_t health; /* what nvme_look_at_health() has seen last */
    NvmeErrorEntry errors[NVME_ERROR_ENTRIES];
    uint64_t nerrors;

    /* what is done now and then (upkeep.c) */
    uint64_t housekeep_ns; /* SSD_TIME_NEVER: nothing to do; so is the next */
    uint64_t retry_ns;
    uint64_t retry_wait_ns; /* until retry_ns, from the time before */

    /* life */
    uint64_t busy_since_ns;
    uint64_t busy_ns;
    uint64_t nio_requests; /* in flight */
    NvmeRequest *shutdown_req;
    uint64_t power_on_ns;  /* of the present period */
    uint64_t power_cycles;
    uint64_t unsafe_shutdowns;
    bool shutdown_clean;
    bool enabling; /* CC.EN is set, and the drive is not ready yet */
    uint64_t media_errors;

    /* statistics */
    Hist *lateness;
    uint64_t commands_admin;
    uint64_t commands_io;
    uint64_t commands_failed;
    uint64_t doorbell_writes;
    uint64_t sq_dma_reads;
    uint64_t interrupts;
};

/* ctrl.c */
NvmeRequest *nvme_request_new(NvmeCtrl *ctrl);
NvmeStep *nvme_add_step(NvmeRequest *req, SsdOp op, uint64_t lba,
                        uint32_t nblocks);
/* The command came through this queue. */
void nvme_request_link(NvmeSq *sq, NvmeRequest *req);
/* Give the steps that fit to the drive; the rest waits for its completions. */
void nvme_request_start(NvmeCtrl *ctrl, NvmeRequest *req);
/* One of the pending parts has ended. */
void nvme_request_part_done(NvmeCtrl *ctrl, NvmeRequest *req);
/* Post the completion with req->status. */
void nvme_request_complete(NvmeCtrl *ctrl, NvmeRequest *req);
void nvme_request_free(NvmeCtrl *ctrl, NvmeRequest *req);
/* Its data has been moved: give the buffers back. */
void nvme_request_put_bufs(NvmeCtrl *ctrl, NvmeRequest *req);
/* Its queue goes away: it ends on its own, silently. */
void nvme_request_orphan(NvmeCtrl *ctrl, NvmeRequest *req);
void nvme_request_cancel_steps(NvmeCtrl *ctrl, NvmeRequest *req);
/* Ask the drive to end it early; true: it will. */
bool nvme_request_abort(NvmeCtrl *ctrl, NvmeRequest *req);
bool nvme_serial_ok(const char *serial, GError **error);
uint64_t nvme_busy_ns(const NvmeCtrl *ctrl);

/* queue.c */
void nvme_queue_init(NvmeCtrl *ctrl);
void nvme_sq_open(NvmeCtrl *ctrl, unsigned id, NvmeCq *cq, uint64_t addr,
                  uint32_t size);
void nvme_cq_open(NvmeCtrl *ctrl, unsigned id, uint64_t addr, uint32_t size,
                  unsigned vector, bool ien);
void nvme_sq_close(NvmeCtrl *ctrl, NvmeSq *sq);
void nvme_cq_close(NvmeCtrl *ctrl, NvmeCq *cq);
void nvme_queues_close(NvmeCtrl *ctrl);
void nvme_doorbell(NvmeCtrl *ctrl, uint64_t offset, uint32_t value);
void nvme_post(NvmeCtrl *ctrl, NvmeRequest *req);
/* true: something was fetched. */
bool nvme_fetch(NvmeCtrl *ctrl, unsigned *budget);
/* Write completions out and raise interrupts; false: there is more to fetch. */
bool nvme_run_end(NvmeCtrl *ctrl);
void nvme_read_shadows(NvmeCtrl *ctrl);
void nvme_shadow_config(NvmeCtrl *ctrl, uint64_t db, uint64_t ei);
void nvme_update_pin(NvmeCtrl *ctrl);
uint64_t nvme_coalescing_deadline_ns(const NvmeCtrl *ctrl);
void nvme_set_fatal(NvmeCtrl *ctrl);

/*
 * Guest memory is written and read by processors that need not see one order.
 * After an index was read from there, before what it says is there is read or
 * written over; and before an index, or a phase bit, that says what is there.
 */
static inline void nvme_dma_rmb(void)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static inline void nvme_dma_wmb(void)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline bool nvme_running(const NvmeCtrl *ctrl)
{
    return ctrl->powered &&
           (ctrl->csts & (NVME_CSTS_RDY | NVME_CSTS_CFS)) == NVME_CSTS_RDY;
}

/* Completions of the queue wait for room: this one, too. */
void nvme_wait_for_room(NvmeCq *cq, NvmeRequest *req);

/* rest.c */
bool nvme_at_rest(const NvmeCtrl *ctrl);

/* upkeep.c: if it is time for it; and when it will be */
void nvme_upkeep(NvmeCtrl *ctrl);
uint64_t nvme_upkeep_ns(const NvmeCtrl *ctrl);

/* nvme-state.c: for a test */
const StateStruct *nvme_state_struct(unsigned i);

/* regs.c */
void nvme_disable(NvmeCtrl *ctrl);
/* CSTS.RDY, if it is asked for and the drive is. */
void nvme_look_ready(NvmeCtrl *ctrl);
uint64_t nvme_cap(const NvmeCtrl *ctrl);

/*
 * A command set is a table.  run() returns a status code; with success it may
 * have set req->waiting or steps, and is then completed later.
 */
typedef struct NvmeCommand {
    uint8_t opcode;
    const char *name;
    uint16_t (*run)(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);
    uint32_t effects; /* of log page 05h, and NVME_ONLY_... */
    const char *help; /* for docs/nvme-support.md */
} NvmeCommand;

/* Only controllers with directives, or with FDP, have the command. */
#define NVME_ONLY_DIRECTIVES 0x80000000U
#define NVME_ONLY_FDP 0x40000000U

/* As log page 05h has it; 0: the controller does not have the command. */
uint32_t nvme_command_effects(const NvmeCtrl *ctrl, const NvmeCommand *c);

/* admin.c, io.c */
const NvmeCommand *nvme_admin_commands(unsigned *n);
const NvmeCommand *nvme_io_commands(unsigned *n);
/* Take one entry of a queue. */
void nvme_execute(NvmeCtrl *ctrl, NvmeSq *sq, const NvmeSqe *sqe);
bool nvme_is_io_nsid(uint32_t nsid);
NvmeWork nvme_work_of(const NvmeRequest *req);
/* Read data has arrived: hand it to the guest, or compare. */
void nvme_io_read_done(NvmeCtrl *ctrl, NvmeRequest *req);
uint16_t nvme_status_of(SsdStatus status);

/* directives.c */
uint16_t nvme_directive_send(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe);
uint16_t nvme_directive_receive(NvmeCtrl *ctrl, NvmeRequest *req,
                                const NvmeSqe *sqe);
bool nvme_has_directives(const NvmeCtrl *ctrl);
/* The directive of a Write or Write Zeroes sets req->stream; it may open a
 * stream. */
uint16_t nvme_take_directive(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe);
void nvme_streams_init(NvmeCtrl *ctrl);
/* A Controller Level Reset: disabled, nothing open or allocated. */
void nvme_streams_reset(NvmeCtrl *ctrl);

/* fdp.c */
bool nvme_has_fdp(const NvmeCtrl *ctrl);
/* The drive's stream for a placement identifier of a Write. */
uint16_t nvme_fdp_place(NvmeCtrl *ctrl, uint16_t pid);
/* The drive moves nunits units of a block of a stream of its own. */
void nvme_fdp_moving(NvmeCtrl *ctrl, uint32_t stream, uint64_t lpn,
                     uint32_t nunits);
uint16_t nvme_io_mgmt_receive(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe);
uint16_t nvme_io_mgmt_send(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe);
void nvme_fdp_fill_group(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                         uint8_t *page);
void nvme_fdp_fill_configs(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                           uint8_t *page);
void nvme_fdp_fill_usage(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                         uint8_t *page);
void nvme_fdp_fill_statistics(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                              uint8_t *page);
void nvme_fdp_fill_events(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                          uint8_t *page);
/* Features 1Dh and 1Eh. */
uint16_t nvme_fdp_get_mode(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe);
uint16_t nvme_fdp_set_mode(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe);
uint16_t nvme_fdp_get_events(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe, bool current);
uint16_t nvme_fdp_set_events(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe);

/* identify.c */
uint16_t nvme_identify(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe);

/* features.c */
enum {
    NVME_FEAT_ARBITRATION,
    NVME_FEAT_POWER,
    NVME_FEAT_TEMP_OVER,
    NVME_FEAT_TEMP_UNDER,
    NVME_FEAT_ERROR_RECOVERY,
    NVME_FEAT_VWC,
    NVME_FEAT_COALESCING,
    NVME_FEAT_ATOMICITY,
    NVME_FEAT_EVENTS,
};
void nvme_features_reset(NvmeCtrl *ctrl);
/* As Get Features 0Eh has it: 8 bytes. */
void nvme_timestamp(const NvmeCtrl *ctrl, uint8_t *data);
uint16_t nvme_get_features(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe);
uint16_t nvme_set_features(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe);

/* log-pages.c */
uint16_t nvme_get_log_page(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe);
void nvme_log_error(NvmeCtrl *ctrl, unsigned sqid, const NvmeRequest *req,
                    uint16_t status);
uint8_t nvme_critical_warning(const NvmeCtrl *ctrl);

/* events.c */
uint16_t nvme_async_event(NvmeCtrl *ctrl, NvmeRequest *req,
                          const NvmeSqe *sqe);
void nvme_deliver_events(NvmeCtrl *ctrl);
void nvme_event(NvmeCtrl *ctrl, unsigned type, unsigned info);
/* Its log page has been read: the event is cleared, and the next one counts. */
void nvme_event_clear(NvmeCtrl *ctrl, unsigned type);
/* Compare the critical warnings with those that were reported. */
void nvme_check_health(NvmeCtrl *ctrl);
/* The same if the drive's health or that of the payload has changed. */
void nvme_look_at_health(NvmeCtrl *ctrl);
bool nvme_event_abort(NvmeCtrl *ctrl, NvmeRequest *req);

/* Rows of the tables of docs/nvme-support.md. */
void nvme_document_identify(GString *out);
void nvme_document_features(GString *out);
void nvme_document_logs(GString *out);

/* log-vendor.c.  0: there is no such page. */
uint64_t nvme_vendor_log_bytes(const NvmeCtrl *ctrl, uint8_t id);
/* offset + bytes is within the page. */
void nvme_vendor_log_read(const NvmeCtrl *ctrl, uint8_t id, uint64_t offset,
                          uint8_t *to, uint64_t bytes);
void nvme_document_vendor_logs(GString *out);

#endif
