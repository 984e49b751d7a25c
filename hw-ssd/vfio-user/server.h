/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server.h - vssd-server: the controller as a PCI device for any virtual
 * machine that speaks vfio-user.  Shared by its files:
 *
 *   main.c     options, signals, life and death
 *   drive.c    the model and its controller; state file, statistics
 *   control.c  the socket for ./vssd stat, fault, powercut and top
 *   client.c   the connection of the virtual machine, by libvfio-user
 *   swap.c     other images for namespaces
 *   rest.c     the drive comes to rest
 *   power.c    power cuts, and faults that take the drive away
 *   serve.c    who runs the controller, and when: event loop
 *   irq.c      interrupts
 *   files.c    logs and traces
 *   metadata.c the place of metadata in the image
 *   preload.c  data that is in the images
 *   image.c    payload in images
 *   file.c     an image that is a raw file
 *   nbd.c      an image behind a server of NBD
 *   guard.c    which messages reach the library
 *   memory.c   memory of the guest, for DMA
 *   bars.c     memory of the drive, for the guest
 *   pci.c      configuration space
 *   socket.c   UNIX sockets to listen on
 *   clock.c    time
 *   say.c      messages to the user
 *
 * A file calls files below it only (tests/components.py).
 *
 * Threads.  One thread, the main loop's, does all but image I/O.  Threads of
 * the image's pool know their job and the file, nothing else.  So the
 * controllers need no lock, and guest memory is unmapped between two runs of
 * them: no transfer is ever under way then.
 *
 * A drive (Server) has one model, one clock, its images, and a Function for
 * each controller: a socket, a client, a guest's memory.
 *
 * Clients.  Nothing that a client does ends the process, blocks it for longer
 * than GUARD_WAIT_MS, or makes it grow without bound.  A client that goes is
 * to the drive a reset of the PCI function: the power stays on.
 */
#ifndef VSSD_VFIO_USER_SERVER_H
#define VSSD_VFIO_USER_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "filelock.h"
#include "images.h"
#include "nvme-options.h"
#include "nvme.h"
#include "ssd.h"

/* As the in-tree device (hw-ssd/qemu/vssd.h): no ID of the PCI-SIG. */
#define PCI_VENDOR 0x1234
#define PCI_DEVICE 0x7653

/* BAR 0: registers and doorbells, the MSI-X table, its pending bits. */
#define MSIX_TABLE NVME_REG_SIZE
#define MSIX_PBA   (MSIX_TABLE + 0x1000)
#define BAR0_BYTES (MSIX_TABLE + 0x2000)

#define MAX_VECTORS 65

/* A PCI Express function has this much configuration space. */
#define CONFIG_BYTES 4096

/* What a client may keep the process waiting: for the rest of a message, or for
 * room in a socket that it does not read. */
#define GUARD_WAIT_MS 1000

/* Sockets, of a controller each. */
#define MAX_FUNCTIONS 32

/* Most ranges of guest memory that libvfio-user keeps. */
#define MAX_RANGES 16

typedef struct ServerOptions {
    NvmeOptions drive; /* as the properties of the in-tree device */
    char *profile;     /* path */
    char **images;     /* one: of the drive; else one of each namespace */
    char **sockets;    /* of a controller each */
    char *control;     /* NULL: none */
    char *pmr;         /* file of the persistent memory region, or NULL */
    char **set;        /* "key=value", or NULL */
    char *id;          /* of the drive at the control socket */
    int block;         /* bytes of a logical block */
} ServerOptions;

/* A range of guest memory; vaddr is NULL if the client did not share it. */
typedef struct MemoryRange {
    uint64_t start;
    uint64_t bytes;
    uint8_t *vaddr;
    bool readable, writable;
} MemoryRange;

/* Memory of the drive at a BAR; bytes is 0 if there is none. */
typedef struct DriveMemory {
    int fd;
    uint8_t *mem;
    uint64_t bytes;
    bool shown; /* the controller lets the guest have it */
} DriveMemory;

typedef struct Image Image; /* image.c */
typedef struct Server Server;
typedef struct Client Client;   /* client.c */
typedef struct Control Control; /* control.c */

/*
 * A controller of the drive, as one client has it: a PCI function, its
 * interrupts, and the guest's memory.  Opaque of NvmeMachine.
 */
typedef struct Function {
    Server *drive;
    NvmeCtrl *ctrl;
    const char *socket;

    /* memory.c */
    MemoryRange range[MAX_RANGES];
    unsigned n_ranges;
    unsigned last_range;
    uint64_t dma_refused; /* transfers to memory that is not there */

    /* bars.c; the first one's, others have none */
    DriveMemory cmb, pmr;

    /* pci.c */
    uint8_t config[CONFIG_BYTES];
    uint8_t wmask[CONFIG_BYTES]; /* bits that the guest may write */

    /* irq.c */
    uint64_t pending[(MAX_VECTORS + 63) / 64]; /* MSI-X vectors to send */
    bool pin, pin_sent, pin_masked;

    /* client.c */
    Client *client;
    struct vfu_ctx *ctx; /* the library's */
    bool attached;       /* a virtual machine is there */
    uint64_t clients;    /* that have been attached */
    uint64_t messages;   /* of all clients */
    uint64_t refused;    /* messages, by guard.c */

    /* power.c */
    bool link_down;
    guint link_timer; /* source; 0: none */
} Function;

struct Server {
    const ServerOptions *opt;
    GMainLoop *loop;

    /* drive.c; the first one is there as long as the drive */
    Function function[MAX_FUNCTIONS];
    unsigned n_functions;
    SsdConfig *cfg;
    Ssd *ssd;
    NvmeCtrl *ctrl; /* of the first, for calls for the whole drive */
    NvmeConfig nvme_cfg;
    FileLock *state_lock;
    uint64_t state_end; /* where the drive ends in the file that was loaded */
    char *faults;
    char *namespaces; /* of several images */

    /* clock.c */
    uint64_t epoch_ns; /* CLOCK_MONOTONIC at the drive's time 0 */
    uint64_t now_ns;

    /* serve.c */
    int timer_fd;
    uint64_t timer_ns;      /* its instant; SSD_TIME_NEVER: none */
    uint64_t timer_fire_ns; /* when it was set to fire, a little earlier */
    uint64_t lead_ns;
    guint more;        /* source: the rest of a run; 0: none */
    guint image_ended; /* source */
    bool stopped;      /* rest.c: its clock stands */
    bool held;         /* by the control socket: it fetches no command */

    /* image.c; places by drive.c, in bytes of the image until the namespaces
     * are known */
    Image *image;
    NvmeImages images;

    /* bars.c */
    FileLock *pmr_lock;

    /* files.c */
    guint live_timer; /* source; 0: there is no live view */

    /* power.c */
    bool power_off;
    guint power_timer; /* source; 0: none */

    /* control.c */
    Control *control;
};

/* Does the guest find no device: no power, no link? */
static inline bool vfio_is_absent(const Function *f)
{
    return f->drive->power_off || f->link_down;
}

/* ---- say.c --------------------------------------------------------------- */

/* One line on standard error. */
void vfio_say(const char *text);

/* ---- clock.c ------------------------------------------------------------- */

uint64_t vfio_host_ns(void);

/* The drive's clock. */
uint64_t vfio_now(Server *s);

/* ---- socket.c ------------------------------------------------------------ */

/* A UNIX socket at path, to listen on, where so many may wait; -1: *error is
 * one line that names `option`.  A socket that a dead process has left there is
 * removed. */
int listen_at(const char *option, const char *path, int most, GError **error);

/* The same without binding: may a socket be made there? */
bool free_path(const char *option, const char *path, GError **error);

/* ---- drive.c ------------------------------------------------------------- */

/* Make the drive, or load it from the state file; the image is open.  false:
 * *error is one line. */
bool vfio_drive_create(Server *s, GError **error);
void vfio_drive_destroy(Server *s);

/* The loop has ended: commands in flight and image I/O end, the drive loses its
 * power, and is saved.  false: *error says why it was not, or which data the
 * image has not taken. */
bool vfio_drive_finish(Server *s, GError **error);

/* ---- serve.c ------------------------------------------------------------- */

bool vfio_serve_init(Server *s, GError **error);
void vfio_serve_free(Server *s);

/* Run the controller until it has nothing to do now, within limits; the rest
 * follows from the main loop.  Sends interrupts. */
void vfio_serve_run(Server *s);

/* No further command is fetched; and again. */
void vfio_serve_hold(Server *s, bool on);

/* ---- rest.c -------------------------------------------------------------- */

/* No command is fetched, those in flight end in modelled time, and all requests
 * of the images; then the drive goes on. */
void vfio_rest_begin(Server *s);
void vfio_rest_end(Server *s);

/* Between the two: what has been begun since ends, too; or requests of the
 * images alone. */
void vfio_rest_settle(Server *s);
void vfio_rest_drain(Server *s);

/* Free what the guest has trimmed.  false: there was no time for all. */
bool vfio_rest_free_trimmed(Server *s);

/* ---- swap.c -------------------------------------------------------------- */

/* A namespace loses its image, or gets one: "N=FILE" or "N=FILE;identity=new".
 * false: *error is one line, which begins with "vssd: ". */
bool vfio_swap_remove(Server *s, uint64_t nsid, GError **error);
bool vfio_swap_insert(Server *s, const char *text, GError **error);

/* ---- client.c ------------------------------------------------------------ */

/* Listen on its socket.  false: *error is one line. */
bool vfio_client_init(Function *f, GError **error);
void vfio_client_free(Function *f);

/* ---- guard.c ------------------------------------------------------------- */

typedef enum Guard {
    GUARD_READY,   /* a whole message that the library may have */
    GUARD_NOTHING, /* wait for the socket */
    GUARD_PART,    /* the rest of a message is yet to come */
    GUARD_REFUSED, /* a message was answered with an error; look again */
    GUARD_BROKEN,  /* no message: end the connection */
} Guard;

/* What is to be done with the connection now. */
Guard vfio_guard_look(Function *f, int fd);

/* No more data from the client, none that came before: the library finds the
 * connection closed. */
void vfio_guard_shut(int fd);

/* ---- pci.c --------------------------------------------------------------- */

/* A function as after a reset. */
void vfio_pci_reset(Function *f);
void vfio_pci_read(Function *f, uint64_t offset, uint8_t *buf, size_t n);

/* What a write leads to. */
typedef enum PciAsks {
    PCI_ASKS_NOTHING,
    PCI_ASKS_RESET,      /* of the function */
    PCI_ASKS_INTERRUPTS, /* those that waited may be sent */
} PciAsks;

PciAsks vfio_pci_write(Function *f, uint64_t offset, const uint8_t *buf,
                       size_t n);

bool vfio_pci_msix_enabled(const Function *f);
bool vfio_pci_is_master(const Function *f);
bool vfio_pci_has_pin(const Function *f); /* it may be used */

/* The guest's address of BAR 0, 2 or 4; UINT64_MAX: it is switched off. */
uint64_t vfio_pci_bar_address(const Function *f, unsigned bar);

/* ---- irq.c --------------------------------------------------------------- */

/* Noted by the controller; send what may be sent. */
void vfio_irq_note_msix(Function *f, unsigned vector);
void vfio_irq_note_pin(Function *f, bool level);
void vfio_irq_deliver(Function *f);
void vfio_irq_deliver_all(Server *s);

/* The client masks or unmasks the pin, as it does until the guest has served an
 * interrupt. */
void vfio_irq_mask_pin(Function *f, bool masked);

/* ---- memory.c ------------------------------------------------------------ */

/* Once for the process: a client that makes its shared file shorter does not
 * end it. */
void vfio_memory_init(void);

/* Guest memory that the client gives, and takes back. */
void vfio_memory_map(Function *f, const MemoryRange *range);
void vfio_memory_unmap(Function *f, uint64_t start, uint64_t bytes);
bool vfio_memory_is_mapped(const Function *f, uint64_t start, uint64_t bytes);

/* NvmeMachine: 0, or -EFAULT if a byte is not in shared memory. */
int vfio_memory_read(void *function, uint64_t addr, void *buf, size_t len);
int vfio_memory_write(void *function, uint64_t addr, const void *buf,
                      size_t len);

/* ---- bars.c -------------------------------------------------------------- */

/* Before the controller is made, of which it fills in nvme_cfg. */
bool vfio_bars_open(Server *s, GError **error);
void vfio_bars_close(Server *s);

/* A message of the client: memory that is not shown reads as all ones. */
void vfio_bars_access(Function *f, unsigned bar, uint64_t offset, void *buf,
                      size_t n, bool write);

/* NvmeMachine. */
uint64_t vfio_bars_address(void *function, unsigned bar);
void vfio_bars_show(void *function, unsigned bar, bool on);
bool vfio_bars_sync(void *function);

/* ---- image.c ------------------------------------------------------------- */

/* Open all.  false: *error is one line; vfio_image_close() must follow. */
bool vfio_image_open(Server *s, GError **error);
void vfio_image_close(Server *s);
uint64_t vfio_image_bytes(const Server *s); /* of the first */

/* Has the image taken all of the guest's data?  refused: the bytes that the
 * controller still has.  false: *error is one line. */
bool vfio_image_kept(const Server *s, uint64_t refused, GError **error);

/* Readable when requests have ended. */
int vfio_image_fd(const Server *s);

/* Hand requests that have ended to the controller.  true: there were some. */
bool vfio_image_reap(Server *s);
/* Wait until a request has ended, or at most so long.  false: none has. */
bool vfio_image_wait(Server *s, int most_ms);

/* Requests at images that do not answer end with an error, now and later; a
 * file is waited for. */
void vfio_image_disconnect(Server *s);

/* An image that is open, as the user named it. */
const char *vfio_image_name(const Server *s, unsigned image);

/* Of a drive at rest, with several images: close one; its place has 0 bytes.
 * And open one in a place without: with at most room bytes, which are rounded
 * down to blocks in its place.  false: *error is one line. */
void vfio_image_remove(Server *s, unsigned image);
bool vfio_image_insert(Server *s, unsigned image, const char *name,
                       uint64_t room, GError **error);

/* The next range of an image from *at on that holds data: *at and *bytes;
 * false: there is none before the end.  *error: it cannot be asked. */
bool vfio_image_next_data(Server *s, unsigned image, uint64_t *at,
                          uint64_t *bytes, GError **error);

/* Read or write the first image, and wait: 0, or a negative errno. */
int vfio_image_move(Server *s, bool write, uint64_t at, void *buf, size_t n);

extern const NvmeStore vfio_image_store;

/* ---- preload.c ----------------------------------------------------------- */

/* Of all images, of which the drive has nblocks; or of one that was inserted.
 * false: *error is one line. */
bool vfio_preload(Server *s, uint64_t nblocks, GError **error);
bool vfio_preload_image(Server *s, unsigned image, GError **error);

/* ---- files.c ------------------------------------------------------------- */

/* Once the controller has its drive, before that is told of any data.  false:
 * *error is one line. */
bool vfio_files_open(Server *s, GError **error);

/* false: messages have said which of them is not complete. */
bool vfio_files_close(Server *s);

/* ---- metadata.c ---------------------------------------------------------- */

/* Before the guest runs: is the image divided so?  A new one is. */
bool vfio_metadata_open(Server *s, uint64_t nblocks, GError **error);

/* ---- power.c ------------------------------------------------------------- */

/* NvmeMachine. */
void vfio_power_lost(void *function);
void vfio_power_unplug(void *function, bool removed, uint64_t for_ns);

/* Of the control socket. */
void vfio_power_cut(Server *s);
void vfio_power_set(Server *s, bool on);

/* A reset of the function finds the power off, and switches it on; else it
 * resets the controller. */
void vfio_power_reset(Function *f);
void vfio_power_stop(Server *s);

/* ---- control.c ----------------------------------------------------------- */

bool vfio_control_init(Server *s, GError **error);
void vfio_control_free(Server *s);

#endif
