/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vssd.h - the QEMU device in front of the controller: shared by its files.
 *
 *   vssd.c   the drive: properties, life and death
 *   vssd-ctrl.c further controllers of it
 *   function.c  PCI functions, one for each controller of the drive
 *   sriov.c  virtual functions, one for each secondary controller
 *   serve.c  who runs the controller, and when
 *   wake.c   waiting for the instant of a completion
 *   kick.c   doorbells as eventfds
 *   irqfd.c  messages as eventfds
 *   hold.c   one interrupt for several commands that take no time
 *   memory.c memory of the drive at BARs of its own
 *   irq.c    how an interrupt reaches the guest without waiting for anybody
 *   nodes.c  the block nodes
 *   store.c  payload in a block node
 *   metadata.c  where metadata is in it
 *   stats.c  statistics as QOM properties
 *   power.c  power cuts, as the machine sees them
 *   faults.c scripted faults at run time
 *   lock.c   files that are the drive's alone
 *   oplog.c  the drive's operation log
 *   timeline.c  the drive's work over time
 *
 * Ownership.  A drive (VssdDev) has one model, one store, one clock, one lock
 * and one thread.  Each of its controllers has a PCI function (VssdFunction):
 * registers, interrupts, and the address space of its DMA.  VssdDev is also the
 * device of the first function.  A call for the whole NVM subsystem takes
 * VssdDev.ctrl, a call for one controller takes VssdFunction.ctrl.
 *
 * Threads.  The controllers have no thread of their own: whoever holds
 * VssdDev.lock may run them.  These do:
 *
 *   a vCPU         in a register or doorbell write (holds the BQL): commands
 *                  that cost no modelled time end before the guest's store
 *                  instruction does, without any thread being woken;
 *   the IOThread   when modelled time has come, or a block request has ended;
 *   the main loop  when a block request that a vCPU started has ended.
 *
 * With -icount there is no IOThread: everything runs in the main loop's
 * context (timers included), and block requests are awaited where they start,
 * so host speed cannot show in virtual time.
 *
 * Behind a virtual IOMMU the controller runs with the BQL only (with_bql): in a
 * vCPU's register write, or in the main loop, timers included.  DMA is then
 * translated by the IOMMU's code, which reports faults to the guest, by an
 * interrupt or through a virtqueue, and all that belongs to the BQL.  Where
 * this code comes back to the drive's registers, it is turned away
 * (vssd_lock()). Block requests go to the node's own thread.
 *
 * Lock order: BQL, then VssdDev.lock.  No thread that holds lock may wait for
 * the BQL; interrupts are noted under lock and sent after it (irq.c).  The
 * controller's callbacks (DMA, interrupts, store) run under lock.  DMA reaches
 * RAM only; so without an IOMMU it runs no other device's code.
 */
#ifndef VSSD_QEMU_VSSD_H
#define VSSD_QEMU_VSSD_H

#include "qemu/osdep.h"
#include "block/aio.h"
#include "hw/block/block.h"
#include "hw/pci/pci_device.h"
#include "qemu/main-loop.h"
#include "qemu/notify.h"
#include "qemu/thread.h"
#include "qemu/timer.h"
#include "qom/object.h"
#include "system/hostmem.h"
#include "system/iothread.h"

#include "filelock.h"
#include "nvme.h"
#include "ssd.h"
#include "ssd-report.h"

#define TYPE_VSSD_FUNCTION "vssd-function" /* abstract */
OBJECT_DECLARE_TYPE(VssdFunction, VssdFunctionClass, VSSD_FUNCTION)

#define TYPE_VSSD "vssd"
OBJECT_DECLARE_SIMPLE_TYPE(VssdDev, VSSD)

/*
 * No vendor ID of the PCI-SIG: QEMU uses 0x1234 for devices of its own (VGA,
 * edu), so no driver has a quirk for it.  Drivers bind by class code.
 */
#define VSSD_PCI_VENDOR_ID 0x1234
#define VSSD_PCI_DEVICE_ID 0x7653

/* The greatest identifier that the standard allows a controller. */
#define VSSD_MAX_CNTLID 0xffef

/* BAR 0: registers and doorbells, the MSI-X table, its pending bits. */
#define VSSD_MSIX_TABLE NVME_REG_SIZE
#define VSSD_MSIX_PBA   (VSSD_MSIX_TABLE + 0x1000)
#define VSSD_BAR0_SIZE  (VSSD_MSIX_TABLE + 0x2000)

/* MSI-X: the admin queue and 64 I/O queues. */
#define VSSD_MAX_VECTORS 65
#define VSSD_IRQ_WORDS DIV_ROUND_UP(VSSD_MAX_VECTORS, 64)

/* Block nodes, of a namespace each. */
#define VSSD_MAX_NODES 8

/* Of poll_max_us=, doorbell_threads=. */
#define VSSD_POLL_MAX_US          100
#define VSSD_MAX_DOORBELL_THREADS 8

/* Of irq_hold_us=. */
#define VSSD_HOLD_MAX_US 10000
#define VSSD_HOLD_AUTO   UINT32_MAX

/* vCPUs that have an estimate of their own; others share. */
#define VSSD_WAKE_CPUS 64

/* Of sriov_vfs=. */
#define VSSD_MAX_VFS 31

typedef struct VssdNode {
    BlockBackend *blk;
    uint64_t start; /* in the drive, in bytes */
    uint64_t bytes;
} VssdNode;

/* A part of a range of the drive, in one node. */
typedef struct VssdPiece {
    BlockBackend *blk;
    uint64_t offset; /* in the node */
    uint64_t bytes;  /* of the range */
    uint64_t there;  /* of these, from the beginning, in the node; no namespace
                        has the others */
} VssdPiece;

typedef struct VssdJob VssdJob; /* store.c */
typedef struct VssdKick VssdKick;   /* kick.c */
typedef struct VssdIrqfd VssdIrqfd; /* irqfd.c */

/* Interrupts of a submission queue that are held (hold.c). */
typedef struct VssdHold {
    uint32_t held;  /* commands that have ended and were not signalled */
    uint16_t burst; /* signalled together; 1: none is held */
    uint32_t since; /* commands since the burst changed */
    uint16_t gap;   /* commands until it is to grow */
    bool probing;   /* it has grown, and was not yet reached */
} VssdHold;

/* A controller of the drive, as the PCI bus has it.  Opaque of NvmeMachine. */
struct VssdFunction {
    PCIDevice parent_obj;

    VssdDev *drive; /* BQL; NULL: it has gone */
    NvmeCtrl *ctrl; /* under lock */
    QTAILQ_ENTRY(VssdFunction) next;
    MemoryRegion bar0;
    MemoryRegion regs;
    bool off_bus;   /* atomic; set under lock: unplugged, so no DMA, no message,
                       and no use of the PCI function */
    bool link_down; /* atomic; a scripted fault: nobody reaches it */
    bool link_asked;    /* under lock: it is to go down */
    unsigned n_vectors; /* of its MSI-X table; 0: as VssdDev.num_vectors */

    /* irq.c */
    uint64_t irq_vectors[VSSD_IRQ_WORDS]; /* atomic */
    bool pin_level;                       /* atomic */
    bool pin_fell;                        /* atomic; since it was sent */
    bool pin_sent;                        /* BQL */

    /* kick.c */
    VssdKick *kick;    /* BQL; by submission queue; NULL: no eventfds */
    bool kicks_on;     /* BQL */
    bool kicks_wanted; /* atomic; the guest has shadow doorbells */

    /* irqfd.c */
    VssdIrqfd *irqfd; /* BQL and lock to change it; by vector; NULL: none */
    unsigned n_irqfds;

    /* hold.c; under lock */
    VssdHold hold[VSSD_MAX_VECTORS]; /* by submission queue */
    unsigned hold_sqid;     /* whose doorbell is being written; 0: of none */
    uint64_t hold_begin_ns; /* when that began */
    unsigned hold_ended;    /* commands since then that took no time */
    bool hold_others;       /* and others */
};

struct VssdFunctionClass {
    PCIDeviceClass parent_class;

    /* BQL: the function has left its bus, and nobody works for the drive. */
    void (*end)(VssdFunction *f);
};

struct VssdDev {
    VssdFunction fn; /* of the first controller */

    /* properties */
    BlockConf conf;
    BlockConf more[VSSD_MAX_NODES - 1]; /* drive2= and following */
    char *profile;
    char *options;
    char *state; /* file, or NULL */
    char *oplog; /* file of the operation log, or NULL */
    char *durable_log; /* file of the log of durable data, or NULL */
    char *timeline;    /* file, or NULL */
    char *timeline_option[SSD_TIMELINE_OPTIONS]; /* or NULL */
    char *serial;
    char *model;
    IOThread *iothread; /* the user's, or NULL */
    uint16_t num_queues;
    uint16_t num_vectors; /* 0: num_queues + 1 */
    uint32_t queue_size;
    uint8_t mdts;
    uint64_t eui64;
    uint8_t spin_cpu; /* percent of a core */
    OnOffAuto ioeventfd;
    OnOffAuto irqfd;
    uint8_t doorbell_threads;
    uint32_t poll_max_us;
    uint32_t irq_hold_us; /* 0: interrupts are not held */
    bool sgl;
    uint16_t metadata; /* bytes of a block; 0: none */
    uint8_t pi;
    char *pi_at;       /* "first", "last"; NULL: last */
    char *metadata_at; /* "separate", "extended"; NULL: separate */
    uint8_t pi_guard;
    uint8_t pi_sts;
    uint64_t backlog;
    uint64_t kv_cache;
    uint8_t fw_slots;
    bool fw_slot1_read_only;
    uint32_t fw_activation_ms;
    bool sanitize_nodas;
    bool dsm_hints;
    uint16_t sriov_vfs;         /* virtual functions; 0: none */
    uint16_t sriov_vq_flexible; /* these four: 0: by sriov_vfs */
    uint16_t sriov_vi_flexible;
    uint16_t sriov_vq_per_vf;
    uint16_t sriov_vi_per_vf;
    char *namespaces;         /* NULL: one, for good */
    uint16_t controllers;     /* the most at a time */
    uint32_t power_return_ms; /* 0: it stays off until a reset */
    char *trace_path; /* trace=FILE, or NULL */
    uint64_t cmb_bytes; /* 0: no controller memory buffer */
    char *cmb_uses;     /* NULL: all */
    bool legacy_cmb;
    HostMemoryBackend *pmr; /* NULL: no persistent memory region */

    bool serial_by_default;
    uint16_t cntlid;

    QTAILQ_HEAD(, VssdFunction) functions; /* BQL and lock to change it */

    /* memory.c */
    MemoryRegion cmb;
    bool has_cmb;
    MemoryRegion *pmr_region; /* of the backend, or NULL */
    unsigned bars_shown;      /* atomic; bits by BAR */
    QEMUBH *memory_bh;

    /* serve.c: who runs the controller */
    QemuMutex lock;
    void *owner;         /* atomic; names the thread that holds lock */
    AioContext *ctx;     /* block requests; timers, unless with_bql */
    AioContext *run_ctx; /* timers, the rest of a run */
    IOThread *own_iothread;
    bool icount;
    bool with_bql; /* run_ctx is the main loop's, and all that run it have the BQL */
    Notifier machine_done;
    bool online;         /* false before realize has ended and in unrealize */
    QEMUTimer *timer;    /* in run_ctx */
    uint64_t timer_ns;   /* atomic; its instant; SSD_TIME_NEVER: none */
    uint64_t timer_fire_ns; /* when it was set to fire, a little earlier */
    int64_t epoch_ns;    /* QEMU_CLOCK_VIRTUAL at the drive's time 0; set under
                            lock, atomic for those that read it without */
    uint64_t now_ns;     /* the last instant given to the controller */
    QEMUBH *run_bh;      /* in run_ctx */

    /* wake.c; under lock, if nothing else is said */
    bool spin;        /* before an instant; fixed when the machine is there */
    uint64_t lead_ns; /* how late a timer wakes its thread */
    uint64_t
        wake_ns[VSSD_WAKE_CPUS]; /* how late a sleeping vCPU wakes; by index */
    bool target_slept;           /* the vCPU of irq_cpu, at the last instant */
    bool handed;                 /* atomic; a vCPU waits */
    int64_t handed_ns;           /* since when, host time; by who set handed */
    int64_t spin_left_ns;        /* that may be spun; below 0: not now */
    int64_t spin_seen_ns;        /* host time, when that was counted */
    int64_t spun_ns;             /* atomic; not yet counted */
    uint64_t spun_all_ns;        /* counted */

    /* under lock */
    NvmeCtrl *ctrl; /* the first, for calls for all */
    Ssd *ssd;
    SsdConfig *cfg; /* their sources */
    NvmeConfig nvme_cfg;
    bool stopped; /* with the machine: nobody runs the controller */

    /* migration.c */
    Error *migration_blocker;
    VMChangeStateEntry *run_change;
    bool incoming; /* the drive is yet to come */

    /* kick.c, irqfd.c; fixed when the drive is there */
    bool kicks;
    bool irqfds;
    IOThread *kick_thread[VSSD_MAX_DOORBELL_THREADS];

    /* hold.c; under lock */
    QEMUTimer *hold_timer; /* in run_ctx; NULL: nothing is held */
    bool hold_armed;
    uint64_t
        hold_until_ns; /* atomic; set under lock: sent then, at the latest */

    /* Of the vCPU that rang last: index, or -1; how often in a row, up to
     * ALONE_MIN. */
    int hold_cpu;
    uint16_t hold_alone;

    /* irq.c */
    bool irq_noted;     /* atomic; by one of the functions */
    bool irq_scheduled; /* atomic */
    bool irq_sending;   /* BQL */
    int irq_cpu; /* atomic; index of the vCPU that last rang, or -1 */
    QEMUBH *irq_bh;

    /* power.c */
    bool power_off;          /* atomic */
    QEMUTimer *power_timer;  /* main loop: power comes back */
    bool slots_were_ready;   /* main loop: when the timer last looked */
    QEMUBH *power_bh;        /* main loop: show that it has gone */
    bool power_showing;      /* BQL */

    /* faults.c */
    char *faults;          /* file of the option faults=, or NULL */
    QEMUBH *fault_bh;      /* main loop */
    QEMUTimer *link_timer; /* main loop: links come back */
    uint64_t link_ns;      /* under lock, these three */
    bool remove_asked;
    uint64_t remove_ns;

    /* state.c */
    VMChangeStateEntry *vm_change;
    BlockBackend *refused_by; /* that refused data last, and why; under lock */
    int refused_errno;
    Notifier exit_notifier;
    bool state_saved;
    bool state_lost;    /* it could not be saved, and nothing has run since */
    uint64_t state_end; /* where the drive ends in the file that was loaded; 0:
                           none was */

    /* lock.c */
    FileLock *state_lock; /* NULL: it is elsewhere, or there is no file */
    FileLock *pmr_lock;
    unsigned lock_tries; /* to take them back */
    QEMUTimer *lock_timer;
    VMChangeStateEntry *lock_change;
    Notifier lock_exit;

    /* oplog.c */
    Notifier oplog_exit; /* QEMU ends: complete the log */

    /* durable.c */
    Notifier durable_exit;

    /* timeline.c */
    Notifier timeline_exit; /* QEMU ends: write the file */

    /* recording.c */
    Notifier trace_exit;

    /* sriov.c */
    bool has_vfs;                   /* they have been made */
    VssdFunction *vf[VSSD_MAX_VFS]; /* by number; all of them, or none */

    /* nodes.c */
    VssdNode node[VSSD_MAX_NODES]; /* one: of all namespaces */
    unsigned n_nodes;

    /* store.c */
    unsigned jobs_in_flight; /* atomic */
    GSList *done_jobs;       /* under lock: ended while this thread held it */
    QemuMutex parked_lock;   /* innermost */
    GSList *parked;          /* under parked_lock: refused, wait for the machine */
    unsigned n_parked;       /* atomic */
    QEMUTimer *parked_timer;
    bool store_ends;         /* atomic: no machine will go on */
    Notifier shutdown_notifier;
};

/* ---- serve.c ------------------------------------------------------------ */

extern const MemoryRegionOps vssd_reg_ops;

/* Serve, as soon as the machine is complete: only then the devices above the
 * drive's bus are known.  Set up and tear down timer and bottom half.  stop
 * fetches no further command, waits for requests at the store, and returns when
 * no thread runs the controller and none will. */
void vssd_serve_init(VssdDev *s);
void vssd_serve_stop(VssdDev *s);

/* false: the calling thread holds the lock already (nested event loop, or DMA and
 * messages that led to other devices and back). */
bool vssd_lock(VssdDev *s);
/* Send the interrupts that were noted, after the lock has been let go. */
void vssd_unlock(VssdDev *s);
/* Send none: somebody will. */
void vssd_unlock_quietly(VssdDev *s);

/* May this thread run the controller? */
bool vssd_may_run(VssdDev *s);

/* BQL held: may the function join the drive?  Not if only it is behind an
 * IOMMU: the drive is served without the BQL then. */
bool vssd_serve_admits(VssdFunction *f);

/* BQL held: the function leaves its bus.  When it returns, no thread is in the
 * middle of a DMA of it, but for the calling one, and none begins another. */
void vssd_leave_bus(VssdFunction *f);

/* BQL held: does this thread work for the drive further up its stack?  Then
 * nothing of the drive may be freed. */
bool vssd_is_inside(VssdDev *s);

/* Lock held: run the controller until it has nothing to do now, within
 * limits; the rest goes to the thread of run_ctx.  While the machine is
 * stopped: at the instant of its stop, to the end. */
void vssd_run(VssdDev *s);

/* Lock not held, in a thread that may: run the controller once. */
void vssd_serve(VssdDev *s);

/* The same, soon, in the thread of run_ctx. */
void vssd_run_later(VssdDev *s);

/* The machine stops: lock held.  It goes on, and the drive's clock with it: lock
 * not held. */
void vssd_serve_pause(VssdDev *s);
void vssd_serve_resume(VssdDev *s);

/* Lock held: the drive's clock. */
uint64_t vssd_now(VssdDev *s);

/* Lock held: the instant of the timer has come. */
void vssd_serve_due(VssdDev *s);

/* ---- wake.c ------------------------------------------------------------- */

/* The drive's clock, without the lock. */
uint64_t vssd_clock_ns(VssdDev *s);

/* Lock held: how many ns before its instant the timer has to fire. */
uint64_t vssd_wake_lead(VssdDev *s);

/* The thread of the timer, lock not held: wait until its instant.  false: a
 * vCPU waits, and serves then. */
bool vssd_wake_wait(VssdDev *s);

/* ---- kick.c ------------------------------------------------------------- */

/* Of NvmeMachine; opaque is the VssdFunction. */
void vssd_kick_shadows(void *opaque, bool on);

/* BQL: the threads, once VssdDev.ctx is chosen; the eventfds of a function,
 * when run_ctx is known.  part: lock not held, not inside; when it returns, no
 * thread serves the function's eventfds. */
bool vssd_kick_init(VssdDev *s, Error **errp);
void vssd_kick_stop(VssdDev *s);
void vssd_kick_join(VssdFunction *f);
void vssd_kick_part(VssdFunction *f);

/* ---- irqfd.c ------------------------------------------------------------ */

/* BQL: check the property; the events of a function, which has its MSI-X table.
 */
bool vssd_irqfd_init(VssdDev *s, Error **errp);
void vssd_irqfd_join(VssdFunction *f);
void vssd_irqfd_part(VssdFunction *f);

/* Lock held: signal what was noted, as far as events reach the guest. */
void vssd_irqfd_signal(VssdDev *s);

/* BQL held: the machine has stopped. */
void vssd_irqfd_flush(VssdDev *s);

/* ---- hold.c ------------------------------------------------------------- */

/* Lock held: a register is being written, the doorbell of this submission
 * queue, or 0.  A command has ended.  The write has had its effects: is the
 * interrupt to be held?  Then it will be sent in irq_hold_us= at the latest. */
void vssd_hold_begin(VssdFunction *f, unsigned sqid);
void vssd_hold_ended(VssdFunction *f, const NvmeTrace *t);
bool vssd_hold(VssdFunction *f);

void vssd_hold_init(VssdFunction *f);
/* run_ctx is known; stop: in its thread. */
void vssd_hold_start(VssdDev *s);
/* The machine stops: lock held.  What is held is sent when it is let go. */
void vssd_hold_pause(VssdDev *s);
void vssd_hold_stop(VssdDev *s);

/* ---- function.c --------------------------------------------------------- */

extern const NvmeMachine vssd_machine;

/* Configuration space, BARs, MSI-X; the drive's properties are checked. */
bool vssd_function_init(VssdFunction *f, Error **errp);
/* Registers that the bus must get back while the function is there. */
void vssd_function_take_back(VssdFunction *f);

/* BQL, lock held: one of the drive's, with this controller; and no longer. */
void vssd_function_join(VssdFunction *f, NvmeCtrl *ctrl);
void vssd_function_part(VssdFunction *f);

/* BQL: a further controller is removed, and with it the function's reference to
 * the drive. */
void vssd_function_leave(VssdFunction *f);

/* The place in the PCI tree, as QEMU writes it; g_free().  And the controller
 * identifier that follows from it, which another place may have, too. */
char *vssd_function_path(VssdFunction *f);
uint16_t vssd_function_cntlid(VssdFunction *f);

/* BQL held, not inside: the drive goes; the function is left without it, and
 * the bus still has it. */
void vssd_function_strand(VssdFunction *f);

/* PCIDeviceClass.exit of all functions. */
void vssd_function_exit(PCIDevice *pci);

/* ---- sriov.c ------------------------------------------------------------- */

/* Is there a bus for virtual functions, if the drive is to have any? */
bool vssd_sriov_check(VssdDev *s, Error **errp);

/* Vectors that the first controller may ever have; it is attached. */
unsigned vssd_sriov_most_vectors(VssdDev *s);

/* BQL: make them, disabled.  The drive leaves its bus, and they with it. */
bool vssd_sriov_init(VssdDev *s, Error **errp);
void vssd_sriov_stop(VssdDev *s);

/* Another controller of the virtual function, for a drive that is loaded. */
NvmeCtrl *vssd_sriov_add(VssdFunction *f, NvmeCtrl *first, GError **error);

/* A subsection of the drive's. */
extern const VMStateDescription vssd_sriov_vmstate;

/* BQL, lock held: of a virtual function, which VF Enable may have enabled or
 * disabled. */
void vssd_sriov_reset(VssdFunction *f);

/* ---- memory.c ----------------------------------------------------------- */

/* BQL: make the memory and tell nvme_cfg of it, before the controller is made;
 * register the BARs; let go of it when nobody runs the controller. */
bool vssd_memory_init(VssdDev *s, Error **errp);
void vssd_memory_add_bars(VssdDev *s);
void vssd_memory_stop(VssdDev *s);

/* Of NvmeMachine; opaque is the VssdFunction. */
uint64_t vssd_memory_address(void *opaque, unsigned bar);
void vssd_memory_written(void *opaque, unsigned bar, uint64_t offset,
                         uint64_t bytes);
void vssd_memory_show(void *opaque, unsigned bar, bool on);
bool vssd_memory_sync(void *opaque);

/* ---- irq.c -------------------------------------------------------------- */

/* Lock held, or BQL. */
void vssd_irq_msix(VssdFunction *f, unsigned vector);
void vssd_irq_pin(VssdFunction *f, bool level);

/* Lock not held: send the noted interrupts of all functions, from here if this
 * thread holds the BQL, else from a thread that may take it. */
void vssd_irq_deliver(VssdDev *s);
void vssd_irq_init(VssdDev *s);
/* BQL held. */
void vssd_irq_send_msix(VssdFunction *f, unsigned vector);
/* The vCPU that rang last, or the first one.  Any thread. */
CPUState *vssd_irq_target(VssdDev *s);
void vssd_irq_stop(VssdDev *s); /* BQL held */

/* BQL held: the guest wrote the PCI command register; messages that waited for
 * bus mastering go out. */
void vssd_irq_command_written(VssdFunction *f);

/* Lock held: the drive was loaded.  What was noted is of the one before. */
void vssd_irq_loaded(VssdFunction *f);

/* ---- nodes.c ------------------------------------------------------------ */

/* drive= is open: open drive2= and following, if there are any. */
bool vssd_nodes_open(VssdDev *s, Error **errp);
bool vssd_nodes_set_context(VssdDev *s, AioContext *ctx, Error **errp);

/* Of several nodes: NvmeConfig.namespaces (g_free), or NULL and *errp. */
char *vssd_nodes_namespaces(VssdDev *s, Error **errp);

/* The controller has its namespaces.  false: they do not fit the nodes, and
 * *error says why of "it". */
bool vssd_nodes_place(VssdDev *s, const NvmeCtrl *ctrl, GError **error);

/* The first part of a range of the drive. */
VssdPiece vssd_nodes_find(VssdDev *s, uint64_t offset, uint64_t bytes);

/* ---- store.c ------------------------------------------------------------ */

extern const NvmeStore vssd_store;

/* Lock held: hand requests that ended meanwhile to the controller.  true: there
 * were some. */
bool vssd_store_reap(VssdDev *s);

/* Of a failed drive: refused requests end, and the node gets no more requests.
 */
void vssd_store_drop(VssdDev *s);

/* BQL, before any request and after the last. */
void vssd_store_init(VssdDev *s);
void vssd_store_stop(VssdDev *s);

/* Requests at the node, without those that were refused and wait for the machine
 * to go on; are there any of these?  It goes on: ask the node again. */
bool vssd_store_is_busy(VssdDev *s);
bool vssd_store_has_parked(VssdDev *s);
void vssd_store_restart(VssdDev *s); /* main loop */

/* Main loop: wait until no request is in flight; lock not held.  drain: those
 * that were refused end, too, with success or not. */
void vssd_store_wait(VssdDev *s);
void vssd_store_drain(VssdDev *s);

/* Main loop, of a drive that ends and is held: retry the requests that the
 * node has refused, and free the trimmed ranges, as far as that can be
 * done in so long.  Lost data is reported. */
void vssd_store_finish(VssdDev *s, unsigned most_ms);

/* Main loop, before the guest runs: tell the drive which parts of the node
 * hold data.  *data_bytes: how many. */
bool vssd_store_preload(VssdDev *s, uint64_t nblocks, uint64_t *data_bytes,
                        Error **errp);

/* ---- metadata.c --------------------------------------------------------- */

/* Blocks of the drive for which the image has room, with their metadata. */
uint64_t vssd_metadata_blocks(uint64_t image_bytes, uint32_t block_bytes,
                              uint16_t metadata);

/* Before the guest runs: is the image divided so?  A new one is. */
bool vssd_metadata_open(VssdDev *s, uint64_t nblocks, Error **errp);

/* ---- power.c ------------------------------------------------------------ */

/* Lock held: the controller of the function has lost its power, as all have. */
void vssd_power_lost(VssdFunction *f);

/* BQL: the drive goes, and the slot of the function shows it. */
void vssd_power_show_gone(VssdFunction *f);

/* BQL and lock held: a reset finds the power off. */
void vssd_power_restore(VssdDev *s);

void vssd_power_init(VssdDev *s);
void vssd_power_stop(VssdDev *s); /* BQL held */
void vssd_power_class_init(ObjectClass *klass);

/* BQL held, lock not: it loses its power as if it were pulled out; it is back
 * after for_ns, 0: when told. */
void vssd_power_remove(VssdDev *s, uint64_t for_ns);

/* BQL held, lock not: the slots of functions with link_down show it; these are
 * there again.  false: the guest has not yet switched off a slot; try later. */
void vssd_power_links_lost(VssdDev *s);
bool vssd_power_links_back(VssdDev *s);

/* ---- faults.c ------------------------------------------------------------ */

/* Of NvmeMachine; opaque is the VssdFunction. */
void vssd_faults_unplug(void *opaque, bool removed, uint64_t for_ns);

/* BQL held: links that are down come back as soon as the guest is ready. */
void vssd_faults_links_back(VssdDev *s);

void vssd_faults_init(VssdDev *s);
void vssd_faults_stop(VssdDev *s); /* BQL held */
void vssd_faults_class_init(ObjectClass *klass);

/* ---- state.c ------------------------------------------------------------ */

/* It has not come yet, or has gone to another QEMU. */
bool vssd_is_elsewhere(const VssdDev *s);

/* The drive of state=FILE, if the file is there, with its power on. */
bool vssd_state_exists(const VssdDev *s);
Ssd *vssd_state_load(VssdDev *s, const SsdConfig *cfg, GError **error);
/* Once the controller has its drive: what it keeps without power. */
bool vssd_state_load_kept(VssdDev *s, GError **error);
void vssd_state_set_clock(VssdDev *s);

/* Save it when the machine ends; when the device is unplugged, and the serving
 * has ended. */
void vssd_state_init(VssdDev *s);
void vssd_state_stop(VssdDev *s);

/* ---- lock.c ------------------------------------------------------------- */

/* BQL, these all.  Nobody else may use the files that go with the drive; it is
 * so already, or there are none: true. */
bool vssd_files_lock(VssdDev *s, GError **error);
void vssd_files_unlock(VssdDev *s);
void vssd_files_pass(VssdDev *s); /* the drive goes to another QEMU, perhaps */
void vssd_files_init(VssdDev *s);
void vssd_files_stop(VssdDev *s);

/* ---- oplog.c ------------------------------------------------------------ */

/* Before the drive is told of any data. */
bool vssd_oplog_open(VssdDev *s, Error **errp);
void vssd_oplog_init(VssdDev *s);
void vssd_oplog_stop(VssdDev *s);

/* ---- durable.c ---------------------------------------------------------- */

/* Do the properties agree?  Then, before the first command: false: the file of
 * durable_log= cannot be written. */
bool vssd_durable_check(VssdDev *s, Error **errp);
bool vssd_durable_open(VssdDev *s, Error **errp);
void vssd_durable_init(VssdDev *s);
void vssd_durable_stop(VssdDev *s);

/* ---- events.c ----------------------------------------------------------- */

/* Any thread. */
void vssd_event_power(VssdFunction *f, bool on);
void vssd_event_notify(void *opaque, NvmeTell what, uint64_t number,
                       uint64_t count); /* NvmeMachine.notify */

/* ---- timeline.c --------------------------------------------------------- */

/* After vssd_oplog_open(): not both. */
bool vssd_timeline_open(VssdDev *s, Error **errp);
void vssd_timeline_init(VssdDev *s);
void vssd_timeline_stop(VssdDev *s);

/* ---- vssd.c ------------------------------------------------------------- */

/* Warn when one breaks a rule: of a model that is new, or was loaded. */
void vssd_watch_policies(VssdDev *s);

/* ---- recording.c -------------------------------------------------------- */

/* The drive is new; false: the file of trace= cannot be written. */
bool vssd_recording_begin(VssdDev *s, Error **errp);
void vssd_recording_flush(VssdDev *s); /* lock held */
void vssd_recording_end(VssdDev *s);   /* nothing runs the controller */

/* ---- migration.c -------------------------------------------------------- */

extern const VMStateDescription vssd_vmstate;

/* Before the serving begins; when the device goes. */
/* Of a drive that is stopped, lock not held: wait until no request is at the
 * store.  with_time: modelled time passes, until the drive is at rest. */
void vssd_settle(VssdDev *s, bool with_time);

bool vssd_migration_init(VssdDev *s, Error **errp);
void vssd_migration_stop(VssdDev *s);

/* ---- vssd.c ------------------------------------------------------------- */

/* Data, or a file of the drive, has been lost, and a message has said which:
 * QEMU ends as it would, and its status is not 0. */
void vssd_end_as_failure(void);

/* One more, for a drive that is being loaded. */
NvmeCtrl *vssd_new_controller(VssdDev *s);

/* ---- stats.c ------------------------------------------------------------ */

/* Lock held: a command has ended; for query-blockstats. */
void vssd_account(VssdDev *s, const NvmeTrace *t);

void vssd_stats_class_init(ObjectClass *klass);

#endif
