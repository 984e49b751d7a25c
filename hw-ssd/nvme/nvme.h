/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme.h - an NVMe controller in plain C, in front of one modelled drive.
 *
 * Knows the NVMe registers, queues, commands, features and log pages (NVM
 * Express Base Specification 1.4 and NVM Command Set), and keeps the payload
 * that the drive has not yet programmed (payload.c).  Knows nothing of QEMU,
 * PCI configuration space, threads or clocks: it is driven by four calls
 * (register write, register read, run, store done) and speaks to its machine
 * through NvmeMachine (DMA, interrupts) and NvmeStore (where bytes rest).
 *
 * Threads: one at a time per controller; the caller locks.
 * Time:    now_ns as in ssd.h: given by the caller, never decreasing.
 * Guests:  nothing that a guest writes to registers, doorbells, queues, PRPs
 *          or data may abort the process, block it, or reach outside the
 *          namespace.  Guest memory is read once per field.
 */
#ifndef VSSD_NVME_H
#define VSSD_NVME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/uio.h>
#include <glib.h>

#include "json.h"
#include "ssd.h"
#include "stats.h"

typedef struct NvmeCtrl NvmeCtrl;

/* Effect of a command on the data of the namespace. */
typedef enum NvmeWork {
    NVME_WORK_NONE,
    NVME_WORK_READ,
    NVME_WORK_WRITE,
    NVME_WORK_FLUSH,
    NVME_WORK_TRIM,
    NVME_N_WORKS,
} NvmeWork;

/* The start or the end of one command, for those who watch. */
typedef struct NvmeTrace {
    bool end;
    bool admin;
    bool fua; /* I/O commands with that bit */
    uint8_t opcode;
    uint16_t sqid;
    uint16_t cid;
    uint16_t status; /* end: as in the completion, without the phase bit */
    uint32_t nsid;
    uint32_t nblocks; /* I/O commands with a range, else 0 */
    uint64_t lba;
    uint64_t prp[2];      /* start: PRP1 and PRP2, or the SGL descriptor */
    uint64_t complete_ns; /* end: by the model; 0: it had no part in it */
    NvmeWork work;        /* this and the following: end */
    bool refused;         /* refused: nothing was tried */
    uint64_t bytes;       /* asked for; READ, WRITE, TRIM */
    uint64_t fetch_ns;    /* when it was fetched */
} NvmeTrace;

/* What NvmeMachine.notify is told. */
typedef enum NvmeNotice {
    NVME_TELL_READ_ONLY, /* the drive takes no writes any more */
    NVME_TELL_FATAL,     /* CSTS.CFS of the controller is set */
    NVME_TELL_RULE,      /* a rule has fired; number: which, count: how often */
    NVME_TELL_NAMESPACE, /* it came, went or changed; number: its NSID */
} NvmeTell;

/*
 * Callbacks to the machine around the controller. All are leaf calls: they
 * must not call the controller.
 */
typedef struct NvmeMachine {
    /* Copy len bytes between guest physical memory and buf.  0, or -EFAULT if
     * any byte of the range is not ordinary RAM. */
    int (*dma_read)(void *opaque, uint64_t addr, void *buf, size_t len);
    int (*dma_write)(void *opaque, uint64_t addr, const void *buf, size_t len);

    /* Send message `vector` (MSI-X, edge).  Only when msix_enabled(). */
    void (*msix)(void *opaque, unsigned vector);

    /* Drive the INTx pin.  Called on changes only; when MSI-X is on, only to
     * lower it. */
    void (*pin)(void *opaque, bool level);

    bool (*msix_enabled)(void *opaque);

    /* Optional (NULL): the drive has lost its power, by nvme_power_cut() or by
     * a scripted fault. */
    void (*power_lost)(void *opaque);

    /*
     * For a drive with NvmeConfig.cmb or .pmr, which the host reaches at a BAR.
     * The host's address of BAR `bar`, or UINT64_MAX (needed with cmb_legacy).
     * The controller has written there.  The host may reach it from now on, or
     * no longer; at any time, with or without a change.  Writes that came
     * before are on stable storage; false: they may not be (needed with pmr).
     * The others are optional (NULL).
     */
    uint64_t (*bar_address)(void *opaque, unsigned bar);
    void (*bar_written)(void *opaque, unsigned bar, uint64_t offset,
                        uint64_t bytes);
    void (*bar_show)(void *opaque, unsigned bar, bool on);
    bool (*pmr_sync)(void *opaque);

    /* The tails of I/O submission queues are in shadow doorbells from now on,
     * or no longer.  Optional. */
    void (*shadows)(void *opaque, bool on);

    /*
     * Optional (NULL: the rules "surprise-remove" and "link-down" are refused).
     * The drive is pulled out of its slot, or the controller's link fails;
     * after for_ns it is back, 0: it stays away.  It happens after the call has
     * returned.
     */
    void (*unplug)(void *opaque, bool removed, uint64_t for_ns);

    /* Optional (NULL): told of every command, and of the parts of the latency
     * of each request to the drive that a command has made. */
    void (*trace)(void *opaque, const NvmeTrace *t);
    void (*trace_parts)(void *opaque, uint16_t sqid, uint16_t cid,
                        const SsdCompletion *c);

    /* Optional (NULL): told of what a user wants to know at once. */
    void (*notify)(void *opaque, NvmeTell what, uint64_t number,
                   uint64_t count);
} NvmeMachine;

/*
 * One transfer between host memory and the place where bytes rest.  Filled in
 * and owned by the controller until nvme_store_done().
 */
typedef enum NvmeStoreOp {
    NVME_STORE_READ,
    NVME_STORE_WRITE,
    NVME_STORE_ZERO,  /* reads as zeroes from now on; may free space.  The
                         store may do less than it was asked for, from the
                         beginning of the range on, and says how much in
                         bytes: all, or a multiple of the drive's unit > 0 */
    NVME_STORE_FLUSH, /* all WRITE and ZERO done so far are durable */
} NvmeStoreOp;

typedef struct NvmeStoreReq {
    NvmeStoreOp op;
    uint64_t offset; /* bytes from the start of the namespace */
    uint64_t bytes;  /* READ, WRITE, ZERO */
    bool lazy;       /* ZERO: nobody waits for it, and no data depends on it */
    /* READ, WRITE: memory, bytes long in all, in niov pieces; the pieces are as
     * they were when submit() returned until the request has ended. */
    const struct iovec *iov;
    unsigned niov;
    void *opaque;    /* the store's, free to use while it has the request */
} NvmeStoreReq;

typedef struct NvmeStore {
    /*
     * Start one request.  0: done already.  -EINPROGRESS: nvme_store_done()
     * will follow, from outside any controller call.  Other negative errno:
     * failed already.  Requests of one namespace may finish in any order; the
     * controller never has two in flight that overlap, except READs.
     */
    int (*submit)(void *opaque, NvmeStoreReq *req);
} NvmeStore;

/*
 * Atomic writes, as fields of Identify Controller and Identify Namespace have
 * them, in logical blocks of the drive; each + 1, and 0: as the drive has it.
 * Namespaces with larger blocks have the same bytes, or one block.
 */
typedef struct NvmeAtomic {
    uint32_t awun;
    uint32_t awupf;
    uint32_t nawun; /* these and the following: of each namespace */
    uint32_t nawupf;
    uint32_t nabsn;
    uint32_t nabspf;
    uint32_t nabo;
    bool dn; /* feature 0Ah: DN is set by default */
} NvmeAtomic;

typedef struct NvmeConfig {
    const char *serial;    /* 1..20 printable ASCII */
    bool serial_by_default; /* nvme_load() takes over the one that was saved */
    const char *model;     /* 1..40 printable ASCII */
    const char *firmware;  /* 1..8 printable ASCII */
    uint16_t cntlid;       /* controller identifier, 0..FFEFh */
    uint16_t pci_vid;
    uint16_t pci_ssvid;
    uint16_t n_queues;     /* I/O queue pairs, 1..64 */
    uint16_t n_vectors;    /* MSI-X vectors, 1..65 */
    uint32_t queue_size;   /* entries of the largest queue, 2..65536 */
    uint8_t mdts;          /* largest transfer, 2^mdts pages of 4 KiB; 1..10 */
    uint64_t eui64;        /* 0: none */
    bool write_through;    /* the volatile write cache is off until the guest
                              switches it on; no effect with buffer.plp */
    uint8_t firmware_slots; /* 1..7 */
    bool firmware_slot1_writable;
    uint32_t firmware_activation_ms; /* without a reset; 0..60000 */
    bool sgl;                        /* I/O commands may have SGLs */
    uint8_t *cmb;       /* memory of the controller memory buffer, at BAR 2; the
                           caller's, as long as the controller is there */
    uint64_t cmb_bytes; /* 1 MiB..1 GiB, a power of two; 0: there is none */
    const char *cmb_uses; /* sqs+cqs+lists+rds+wds; NULL: all */
    bool cmb_legacy;      /* always on at the BAR, as before NVMe 1.4 */
    uint8_t
        *pmr; /* memory of the persistent memory region, at BAR 4; likewise */
    uint64_t pmr_bytes; /* 64 KiB..1 TiB, a power of two; 0: there is none */
    /* Metadata of a logical block: */
    uint16_t metadata; /* bytes of each block of the drive: 0, 8, 16, 64; the
                          store has nvme_store_bytes() then.  0: none, and the
                          following are 0 */
    uint8_t pi;        /* type of protection information, 0..3 */
    bool pi_first;     /* in the first bytes; else the last */
    bool metadata_extended;  /* in the buffer of the data; else MPTR */
    uint8_t pi_guard;        /* bits, 16 or 64; 0: 16 */
    uint8_t pi_storage_bits; /* storage tag of formats with 64 bits, 0..48 */
    uint64_t nblocks; /* that the namespaces have together, in blocks of the
                         drive; 1..SsdInfo.nblocks */
    NvmeAtomic atomic;
    bool dsm_hints; /* context attributes of Dataset Management act */
    bool no_nodas;  /* Sanitize: No-Deallocate After Sanitize is inhibited */
    const char *namespaces; /* NULL: as host.namespaces has them, and without
                               that one, of all blocks, for good; else the host
                               manages them, and a new drive has these:
                               nvme_namespaces_help */
    uint64_t kv_cache;      /* bytes of pages that the index of a namespace of
                               key-value pairs has in the drive's memory */
    bool namespaces_fixed;  /* with namespaces: the host does not manage them */
    uint64_t backlog;      /* bytes that may wait for the store */
    uint16_t controllers;  /* the most that the NVM subsystem may have at a
                              time, 1..32; 0: 1 */
    /* Secondary controllers of the first one, which is their primary; with
     * controllers at most 32.  The following are 0 without them. */
    uint16_t secondaries;
    uint16_t vq_flexible; /* VQ resources (queue pairs, with those of admin
                             queues) that the host may distribute, 2..2015; 0:
                             the most of each secondary */
    uint16_t vi_flexible; /* VI resources (interrupt vectors), 1..2015; 0: the
                             same */
    uint16_t vq_per_secondary; /* the most of one, 2..65; 0: n_queues + 1 */
    uint16_t vi_per_secondary; /* 1..65; 0: n_vectors */
    const char *faults;  /* file of scripted faults (docs/faults.md), of which
                            the rules about commands, interrupts and controllers
                            apply; NULL or empty: none */
    uint64_t fault_seed; /* of their prob= */
} NvmeConfig;

/*
 * Bytes of the store: all blocks, then from the next multiple of 4096 on their
 * metadata, in the order of the blocks.  metadata: as in NvmeConfig.
 */
uint64_t nvme_store_bytes(uint64_t nblocks, uint32_t block_bytes,
                          uint16_t metadata);

/* The grammar of NvmeConfig.namespaces, for messages. */
extern const char nvme_namespaces_help[];

#define NVME_BACKLOG_MIN (1ULL << 20)
#define NVME_BACKLOG_MAX (1ULL << 40)
#define NVME_BACKLOG     (256ULL << 20) /* default */

#define NVME_KV_CACHE_MIN (256ULL << 10)
#define NVME_KV_CACHE_MAX (16ULL << 30)
#define NVME_KV_CACHE     (4ULL << 20) /* default */

/* The longest that a normal shutdown may take (RTD3E of Identify Controller). */
#define NVME_SHUTDOWN_MS 10000

/* Bytes of BAR 0 that hold registers and doorbells (power of two). */
#define NVME_REG_SIZE 8192

/*
 * cfg is copied; ssd, which must have been made with nvme_host_ops() and the
 * address of the controller's own slot, belongs to the caller.  So the order
 * is: nvme_new(), ssd_create(cfg, nvme_host_ops(), ctrl), nvme_attach().
 */
NvmeCtrl *nvme_new(const NvmeMachine *machine, const NvmeStore *store,
                   void *opaque);
const SsdHostOps *nvme_host_ops(void);

/* SsdTimelineOptions.queue_of, with any controller of the drive: the submission
 * queue | the controller's ID << 16; 0: the controller's own command. */
uint32_t nvme_queue_of(void *ctrl, uint64_t tag);

/* ssd_live_open() of the drive, with its queues (by number, those of all
 * controllers together; the admin queue is 0) and NVME_STATS.  After
 * nvme_attach(), once; ssd_live_close() comes before nvme_free(). */
bool nvme_live_open(NvmeCtrl *ctrl, const char *path, uint64_t host_ns,
                    GError **error);

/* Are the sizes and uses of cmb and pmr possible?  Their memory is not looked
 * at.  false: *error names the option and its range. */
bool nvme_memory_ok(const NvmeConfig *cfg, GError **error);

/* false and *error (option and range) if a field of cfg is out of range. */
bool nvme_attach(NvmeCtrl *ctrl, Ssd *ssd, const NvmeConfig *cfg,
                 GError **error);

/*
 * Of a new or a loaded drive, before it is used: these blocks of the drive hold
 * data.  Where no namespace has them, none gets them before they are trimmed.
 */
void nvme_preloaded(NvmeCtrl *ctrl, uint64_t lba, uint64_t nblocks);

/* The same of an image's data, at least one block, which the drive gets now, as
 * if written long ago, where it has none.  0, or a negative errno: it has no
 * room. */
int nvme_preload(NvmeCtrl *ctrl, uint64_t lba, uint64_t nblocks);

/*
 * Where the blocks of a namespace are in the drive, and how many, all in the
 * drive's blocks.  false: there is none, or they do not follow each other.
 */
bool nvme_namespace_place(const NvmeCtrl *ctrl, uint32_t nsid, uint64_t *first,
                          uint64_t *nblocks);

/*
 * With NvmeConfig.namespaces_fixed: a namespace that the drive has loses its
 * image, and gets another.  The controller is held and at rest
 * (nvme_settle()).
 *
 * remove: begins it, and nvme_settle() follows.  If it succeeds the store has
 * all data of the namespace, the drive has none, and nvme_namespace_place()
 * gives 0 blocks.  false: *error says why not.
 * insert: of one without blocks: nblocks 1..nvme_namespace_room(), in the
 * drive's blocks; data that they hold is preloaded.  new_identity: EUI-64 and
 * UUID are others than before.
 */
uint64_t nvme_namespace_room(const NvmeCtrl *ctrl, uint32_t nsid);
bool nvme_namespace_remove(NvmeCtrl *ctrl, uint32_t nsid, GError **error);
void nvme_namespace_insert(NvmeCtrl *ctrl, uint32_t nsid, uint64_t nblocks,
                           bool new_identity);

/*
 * Further controllers of the NVM subsystem that `first` was made with, up to
 * NvmeConfig.controllers.  A controller has the configuration of the first one,
 * but for its CNTLID, the memory of CMB and PMR, and the Host Memory Buffer,
 * which only the first one has.  All shared namespaces are attached to it.
 *
 * The controllers share one drive, one store and one clock.  So all calls for
 * any of them are serialised by the caller, with one lock.  nvme_run(),
 * nvme_next_event_ns(), nvme_store_done(), nvme_hold(), nvme_settle() and the
 * calls for power are for the whole subsystem, whichever controller is given;
 * nvme_reset(), the registers and nvme_pin_level() are for one controller.
 *
 * cntlid: 0..FFEFh, which no other controller has.  NULL: *error says why not.
 * To be removed with nvme_remove_controller() before nvme_free().  Its commands
 * end without a completion; what the drive has already, takes effect.
 */
NvmeCtrl *nvme_add_controller(NvmeCtrl *first, const NvmeMachine *machine,
                              void *opaque, uint16_t cntlid, GError **error);
void nvme_remove_controller(NvmeCtrl *ctrl);

/* The identifier of a controller; and the first one from `from` on, of 1..most
 * with 1 after most, that no controller of the subsystem has.  most is larger
 * than the number of controllers. */
uint16_t nvme_cntlid(const NvmeCtrl *ctrl);
uint16_t nvme_free_cntlid(const NvmeCtrl *first, uint32_t from, uint16_t most);

/*
 * The same for a secondary controller of virtual function vfn,
 * 1..NvmeConfig.secondaries, which has none yet.  It is Offline (CSTS.CFS, and
 * other registers are not there) until the host has assigned resources to it
 * with Virtualization Management, and has put it Online.
 */
NvmeCtrl *nvme_add_secondary(NvmeCtrl *first, const NvmeMachine *machine,
                             void *opaque, uint16_t cntlid, uint16_t vfn,
                             GError **error);

/* The virtual function of a secondary controller is enabled, as it is not in
 * the beginning; or it is no longer: the controller goes Offline. */
void nvme_secondary_enable(NvmeCtrl *ctrl, uint64_t now_ns, bool on);

/* Interrupt vectors that a controller may use now, at least 1.  Those of a
 * primary change in nvme_reset(), those of a secondary with its state. */
unsigned nvme_vectors(const NvmeCtrl *ctrl);

/* The most that the primary, and each of its secondaries, may ever have. */
unsigned nvme_primary_most_vectors(const NvmeCtrl *first);
unsigned nvme_secondary_most_vectors(const NvmeCtrl *first);

/*
 * Of a new drive, before its first command: write all that becomes durable, and
 * the I/O commands, to a file (docs/durable-log-format.md).  Metadata and the
 * marks of Write Uncorrectable are not in it.  false: *error says why not.
 * close: false if the file is not complete; nothing if there is no log.
 */
bool nvme_durable_log_open(NvmeCtrl *ctrl, const char *path, GError **error);
bool nvme_durable_log_close(NvmeCtrl *ctrl, GError **error);

/* No request may be at the store.  With the first controller, when there is no
 * other, the subsystem goes. */
void nvme_free(NvmeCtrl *ctrl);

/*
 * Registers and doorbells at offset 0..NVME_REG_SIZE-1.  Accesses that the
 * standard does not define read as 0 and are ignored when written.  A write
 * may leave work behind: call nvme_run() after it (a caller with a thread of
 * its own for the drive may leave that to the thread).
 */
uint64_t nvme_reg_read(NvmeCtrl *ctrl, uint64_t offset, unsigned size);
void nvme_reg_write(NvmeCtrl *ctrl, uint64_t now_ns, uint64_t offset,
                    uint64_t value, unsigned size);

/*
 * Do everything that can be done at now_ns: run the drive, post completions
 * and raise interrupts, look at (shadow) doorbells, fetch and submit commands.
 * true: it stopped early to bound its time (so many commands, so many bytes of
 * data), call it again.
 */
bool nvme_run(NvmeCtrl *ctrl, uint64_t now_ns);

/*
 * Scripted faults at run time: rules about commands, interrupts and controllers
 * (docs/faults.md), of any controller of the subsystem.  nvme_run() must
 * follow. Add one: its number, from 1; 0: *error is one line.  Remove one: what
 * it did to a controller ends; commands that it delays keep their instant. List
 * them: an array of {id, rule, matched, fired, lasts}.
 */
unsigned nvme_fault_add(NvmeCtrl *ctrl, uint64_t now_ns, const char *rule,
                        GError **error);
bool nvme_fault_remove(NvmeCtrl *ctrl, unsigned id, GError **error);
void nvme_faults_json(const NvmeCtrl *ctrl, JsonWriter *w, const char *key);

/* When nvme_run() should be called next if nothing else happens: now_ns while it
 * has more to do, later than now_ns after nvme_run(now_ns) has returned false. */
uint64_t nvme_next_event_ns(const NvmeCtrl *ctrl);

/* A request that submit() left at the store has ended; ret as there.  nvme_run()
 * must follow; it may follow several of these. */
void nvme_store_done(NvmeCtrl *ctrl, uint64_t now_ns, NvmeStoreReq *req,
                     int ret);

/* Requests at the store now. */
unsigned nvme_store_in_flight(const NvmeCtrl *ctrl);

/* PCI function reset, or reset of the machine; it ends an NVM Subsystem
 * Shutdown, too: as CC.EN 1 to 0, and registers
 * to their defaults.  The buffer keeps its data: the power is still on. */
void nvme_reset(NvmeCtrl *ctrl, uint64_t now_ns);

/*
 * Lose power: payload that the drive has not programmed is dropped.  Requests
 * at the store end normally, as the host machine's own writes would.  A scripted
 * fault that cuts the power of the drive does the same from inside nvme_run();
 * the registers then read as all ones until nvme_power_on().
 */
void nvme_power_cut(NvmeCtrl *ctrl, uint64_t now_ns);
void nvme_power_on(NvmeCtrl *ctrl, uint64_t now_ns);
bool nvme_powered(const NvmeCtrl *ctrl);

/*
 * Saving and moving.  While held the controller fetches no command; those that
 * it has go on.
 */
void nvme_hold(NvmeCtrl *ctrl, bool on);

/*
 * Of a controller that is held: let modelled time pass, from *now_ns on, until
 * it is at rest.  Then no command is in flight, their completions are in guest
 * memory (or wait for room in their queue), and all programmed data is in the
 * store.  The drive's buffer stays as it is.
 */
typedef enum NvmeSettled {
    NVME_SETTLED,      /* at rest; *now_ns is when */
    NVME_SETTLE_STORE, /* the store has requests: call again when they are done */
    NVME_SETTLE_NEVER, /* not by end_ns; *now_ns is how far it came */
} NvmeSettled;
NvmeSettled nvme_settle(NvmeCtrl *ctrl, uint64_t *now_ns, uint64_t end_ns);

/*
 * A machine that ends need not wait for its pace: have the store zero some
 * more of the trimmed ranges, held or not.  true: there is more; call again,
 * when requests at the store have ended.
 */
bool nvme_housekeep(NvmeCtrl *ctrl);

/* Data that the guest has written, the drive has programmed, and the store has
 * refused; try all of it again, from the next nvme_run() on. */
uint64_t nvme_refused_bytes(const NvmeCtrl *ctrl);
void nvme_retry(NvmeCtrl *ctrl);

/*
 * Save a controller at rest, and the others of its subsystem, without the drive
 * (ssd_save()), or load them: into a new one, attached to the drive that was
 * saved with it, and not enabled, to which others with the same CNTLIDs were
 * added.  After a load that failed they can only be removed and freed.  Guest
 * memory, and whether MSI-X is on, are the machine's.  Loading checks every
 * number. false: *error names in one line the fault of "it", the stream.
 */
bool nvme_save(const NvmeCtrl *ctrl, FILE *out, GError **error);
bool nvme_load(NvmeCtrl *ctrl, FILE *in, GError **error);

/*
 * The same of the namespaces alone, for a drive that is saved without its
 * controller: in its file, after it.  Loaded after nvme_attach(), before
 * anything else; a controller without NvmeConfig.namespaces has one.
 */
bool nvme_save_namespaces(const NvmeCtrl *ctrl, FILE *out, GError **error);
bool nvme_load_namespaces(NvmeCtrl *ctrl, FILE *in, GError **error);

/*
 * All that the controller keeps without power: the namespaces, if the host
 * manages them; saved features, firmware slots, and blocks that Write
 * Uncorrectable has marked.  nvme_has_kept(): would anything be saved?  Loaded
 * as the namespaces are; *namespaces: they were there.  A file that ends at
 * once is no error.
 */
bool nvme_has_kept(const NvmeCtrl *ctrl);
bool nvme_save_kept(const NvmeCtrl *ctrl, FILE *out, GError **error);
bool nvme_load_kept(NvmeCtrl *ctrl, FILE *in, bool *namespaces, GError **error);

/*
 * The clock of the controller and its drive ends after 213 days: set it back,
 * if nothing is in flight and no log or trace runs.  By how much; 0: not now.
 */
uint64_t nvme_rebase(NvmeCtrl *ctrl);

/* The level of the INTx pin that the machine was last told. */
bool nvme_pin_level(const NvmeCtrl *ctrl);

/* The modelled time that the controller has seen. */
uint64_t nvme_now_ns(const NvmeCtrl *ctrl);

/*
 * Lateness: how long after its modelled instant each command's completion was
 * posted, in ns.  Owned by the controller.
 */
/* With shadow doorbells: is the tail of this queue in guest memory another than
 * the one that was read last?  Changes nothing. */
bool nvme_tail_moved(NvmeCtrl *ctrl, unsigned sqid);
bool nvme_has_shadows(const NvmeCtrl *ctrl);

const Hist *nvme_lateness(const NvmeCtrl *ctrl);

/* docs/nvme-support.md: the supported commands and features, from the
 * controller's tables. */
void nvme_document(GString *out);

/* Append the members of the results schema that the controller knows. */
void nvme_stats_json(const NvmeCtrl *ctrl, JsonWriter *w, const char *key);

/* Append all that a running drive reports, as one object: the members of the
 * drive and of the controller, which vssd and machine made them, and the
 * options.  The last two cannot change and are written only once. */
void nvme_drive_stats_json(NvmeCtrl *ctrl, JsonWriter *w);

/* The controller's table, for docs/results.md. */
extern const StatTable nvme_stats;

/* Forget lateness and counters (not the SMART log): the warm-up is over. */
void nvme_reset_stats(NvmeCtrl *ctrl);

#endif
