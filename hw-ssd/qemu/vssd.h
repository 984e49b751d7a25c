/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vssd.h - the QEMU device in front of the controller: the drive, and what its
 * files share.
 *
 * Its files stand on floors, and call files of their own floor and below:
 *
 *   device    vssd.c (the drive: properties, life and death), vssd-ctrl.c
 *             (further controllers of it), migration.c
 *   function  function.c (PCI functions, one for each controller), sriov.c
 *   machine   machine.c (what the controller calls), memory.c (BARs of its
 *             own), stats.c, swap.c and running.c (QOM properties)
 *   files     state.c, file-lock.c, and logs
 *   power     power.c, faults.c, slot.c
 *   serve     serve.c (registers and threads), kick.c, wake.c, rest.c
 *   store     store.c, store-end.c, preload.c, nodes.c, metadata.c
 *   run       run.c (running the controller), store-done.c, lead.c
 *   irq       irq.c, irqfd.c, hold.c
 *   base      drive-lock.c, clock.c, events.c (messages to the monitor),
 * exit.c, qom.c (what properties begin and end with)
 *
 * Its parts are structs, each with a header and files that alone write it:
 * VssdServe, VssdClock, VssdIrq, VssdPower, VssdStore, VssdFiles, VssdMemory.
 * tests/components.py has the floors and the writers.
 *
 * Ownership.  A drive (VssdDev) has one model, one store, one clock, one lock
 * and one thread.  Each of its controllers has a PCI function (VssdFunction):
 * registers, interrupts, and the address space of its DMA.  VssdDev is also the
 * device of the first function.  A call for the whole NVM subsystem takes
 * VssdDev.ctrl, a call for one controller takes VssdFunction.ctrl.
 *
 * Threads.  The controllers have no thread of their own: whoever holds
 * VssdServe.lock may run them.  These do:
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
 * Lock order: BQL, then VssdServe.lock.  No thread that holds lock may wait for
 * the BQL; interrupts are noted under lock and sent after it (irq.c).  The
 * controller's callbacks (DMA, interrupts, store) run under lock.  DMA reaches
 * RAM only; so without an IOMMU it runs no other device's code.
 * Functions assert what they need held: vssd_has_lock(), bql_locked().
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

#include "nvme-options.h"
#include "nvme.h"
#include "ssd-report.h"
#include "ssd.h"
#include "vssd-clock.h"
#include "vssd-files.h"
#include "vssd-irq.h"
#include "vssd-power.h"
#include "vssd-serve.h"
#include "vssd-store.h"

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

/* Of poll_max_us=. */
#define VSSD_POLL_MAX_US 100

/* Of irq_hold_us=. */
#define VSSD_HOLD_MAX_US 10000
#define VSSD_HOLD_AUTO   UINT32_MAX

/* Of sriov_vfs=. */
#define VSSD_MAX_VFS 31

/* A controller of the drive, as the PCI bus has it.  Opaque of NvmeMachine. */
struct VssdFunction {
    PCIDevice parent_obj;

    VssdDev *drive; /* NULL: it has gone */
    NvmeCtrl *ctrl;
    QTAILQ_ENTRY(VssdFunction) next;
    MemoryRegion bar0;
    MemoryRegion regs;
    bool off_bus;    /* atomic: unplugged, so no DMA, no message, and no use of
                        the PCI function */
    bool link_down;  /* atomic; a scripted fault: nobody reaches it */
    bool link_asked; /* it is to go down */
    unsigned n_vectors; /* of its MSI-X table; 0: as NvmeOptions.num_vectors */

    /* irq.c */
    uint64_t irq_vectors[VSSD_IRQ_WORDS]; /* atomic */
    bool pin_level;                       /* atomic */
    bool pin_fell;                        /* atomic; since it was sent */
    bool pin_sent;

    /* kick.c */
    VssdKick *kick; /* by submission queue; NULL: no eventfds */
    bool kicks_on;
    bool kicks_wanted; /* atomic; the guest has shadow doorbells */

    /* irqfd.c */
    VssdIrqfd *irqfd; /* by vector; NULL: none */
    unsigned n_irqfds;

    /* hold.c */
    VssdHold hold[VSSD_MAX_VECTORS]; /* by submission queue */
    unsigned hold_sqid;     /* whose doorbell is being written; 0: of none */
    uint64_t hold_begin_ns; /* when that began */
    unsigned hold_ended;    /* commands since then that took no time */
    bool hold_others;       /* and others */
};

struct VssdFunctionClass {
    PCIDeviceClass parent_class;

    /* The function has left its bus, and nobody works for the drive. */
    void (*end)(VssdFunction *f);
};

/* Properties of `-device vssd`, as the user gave them. */
typedef struct VssdProperties {
    NvmeOptions opt;
    BlockConf conf;
    BlockConf more[NVME_MAX_IMAGES - 1]; /* drive2= and following */
    char *profile;
    char *options;
    IOThread *iothread; /* the user's, or NULL */
    uint8_t spin_cpu;   /* percent of a core */
    OnOffAuto ioeventfd;
    OnOffAuto irqfd;
    uint8_t doorbell_threads;
    uint32_t poll_max_us;
    uint32_t irq_hold_us;       /* 0: interrupts are not held */
    uint16_t sriov_vfs;         /* virtual functions; 0: none */
    uint16_t sriov_vq_flexible; /* these four: 0: by sriov_vfs */
    uint16_t sriov_vi_flexible;
    uint16_t sriov_vq_per_vf;
    uint16_t sriov_vi_per_vf;
    HostMemoryBackend *pmr; /* NULL: no persistent memory region */
    char *faults;           /* file of the option faults=, or NULL */
} VssdProperties;

/* memory.c; BARs of the controller memory buffer and the persistent region. */
typedef struct VssdMemory {
    MemoryRegion cmb;
    bool has_cmb;
    MemoryRegion *pmr_region; /* of the backend, or NULL */
    unsigned bars_shown;      /* atomic; bits by BAR */
    QEMUBH *bh;
} VssdMemory;

struct VssdDev {
    VssdFunction fn; /* of the first controller */
    VssdProperties prop;
    bool serial_by_default;
    uint16_t cntlid;
    QTAILQ_HEAD(, VssdFunction) functions; /* vssd_function_join(), _part() */

    VssdMemory memory;
    VssdServe serve;
    VssdClock clock;
    VssdIrq irq;
    VssdPower power;
    VssdStore store;
    VssdFiles file;

    NvmeCtrl *ctrl; /* the first, for calls for all */
    Ssd *ssd;
    SsdConfig *cfg; /* their sources */
    NvmeConfig nvme_cfg;

    /* migration.c */
    Error *migration_blocker;
    VMChangeStateEntry *run_change;
    Notifier shutdown_notifier;
    bool incoming; /* the drive is yet to come */

    /* sriov.c */
    bool has_vfs;                   /* they have been made */
    VssdFunction *vf[VSSD_MAX_VFS]; /* by number; all of them, or none */
};

/* ---- exit.c ------------------------------------------------------------- */

/* Data, or a file of the drive, has been lost, and a message has said which:
 * QEMU ends as it would, and its status is not 0. */
void vssd_end_as_failure(void);

/* ---- machine.c ---------------------------------------------------------- */

extern const NvmeMachine vssd_machine;

/* The first controller, of a drive that begins or is being loaded. */
NvmeCtrl *vssd_new_controller(VssdDev *s);

/* Warn when one breaks a rule: of a model that is new, or was loaded. */
void vssd_watch_policies(VssdDev *s);

/* ---- function.c --------------------------------------------------------- */

/* Configuration space, BARs, MSI-X; the drive's properties are checked. */
bool vssd_function_init(VssdFunction *f, Error **errp);
/* Registers that the bus must get back while the function is there. */
void vssd_function_take_back(VssdFunction *f);

/* One of the drive's, with this controller; and no longer. */
void vssd_function_join(VssdFunction *f, NvmeCtrl *ctrl);
void vssd_function_part(VssdFunction *f);

/* A further controller is removed, and with it the function's reference to
 * the drive. */
void vssd_function_leave(VssdFunction *f);

/* The place in the PCI tree, as QEMU writes it; g_free().  And the controller
 * identifier that follows from it, which another place may have, too. */
char *vssd_function_path(VssdFunction *f);
uint16_t vssd_function_cntlid(VssdFunction *f);

/* The drive goes; the function is left without it, and the bus still has it. */
void vssd_function_strand(VssdFunction *f);

/* PCIDeviceClass.exit of all functions. */
void vssd_function_exit(PCIDevice *pci);

/* ---- sriov.c ------------------------------------------------------------- */

/* Is there a bus for virtual functions, if the drive is to have any? */
bool vssd_sriov_check(VssdDev *s, Error **errp);

/* Vectors that the first controller may ever have; it is attached. */
unsigned vssd_sriov_most_vectors(VssdDev *s);

/* Make them, disabled.  The drive leaves its bus, and they with it. */
bool vssd_sriov_init(VssdDev *s, Error **errp);
void vssd_sriov_stop(VssdDev *s);

/* Another controller of the virtual function, for a drive that is loaded. */
NvmeCtrl *vssd_sriov_add(VssdFunction *f, NvmeCtrl *first, GError **error);

/* A subsection of the drive's. */
extern const VMStateDescription vssd_sriov_vmstate;

/* ---- memory.c ----------------------------------------------------------- */

/* Make the memory and tell nvme_cfg of it, before the controller is made;
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

/* ---- events.c ----------------------------------------------------------- */

void vssd_event_power(VssdFunction *f, bool on);
void vssd_event_notify(void *opaque, NvmeTell what, uint64_t number,
                       uint64_t count); /* NvmeMachine.notify */

/* ---- migration.c -------------------------------------------------------- */

extern const VMStateDescription vssd_vmstate;

/* Before the serving begins; when the device goes. */
bool vssd_migration_init(VssdDev *s, Error **errp);
void vssd_migration_stop(VssdDev *s);

/* ---- stats.c ------------------------------------------------------------ */

/* A command has ended; for query-blockstats. */
void vssd_account(VssdDev *s, const NvmeTrace *t);

void vssd_stats_class_init(ObjectClass *klass);

/* ---- swap.c ------------------------------------------------------------- */

void vssd_swap_class_init(ObjectClass *klass);

/* ---- qom.c --------------------------------------------------------------- */

/* For a property of `what`: the drive's lock.  false with *errp: the device is
 * not realized, or the drive is busy. */
bool vssd_lock_for(VssdDev *s, const char *what, Error **errp);

/* The text, which is JSON, is the property's value. */
void vssd_visit_json(const char *text, Visitor *v, const char *name,
                     Error **errp);

/* ---- running.c ---------------------------------------------------------- */

void vssd_running_class_init(ObjectClass *klass);

#endif
