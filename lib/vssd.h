/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vssd.h - libvssd: a modelled SSD as a C library (docs/libvssd.md).
 *
 * Time:    uint64_t nanoseconds of modelled time, named *_ns.  The library
 * reads no clock: the caller passes now_ns, which must not decrease and is at
 *          most VSSD_TIME_MAX.
 * Results: they depend on profile, options, seed and calls alone.
 * Data:    the model holds none.
 * Threads: one thread per drive at a time; drives do not share anything.
 * Errors:  functions that return int give 0 or more, or a negative errno.
 *          vssd_message() has one line about the last error of a drive.  Calls
 *          that make a drive write that line into the caller's buffer.  No
 *          argument of a caller ends the process.
 * Growth:  callers pass the size of each struct that they know.  Later versions
 *          add members at the end only, and take 0 in them as "as before".
 */
#ifndef VSSD_H
#define VSSD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header.  It counts additions; the soname changes when a function or a
 * member goes. */
#define VSSD_ABI 3

/* Of the library that runs; at least VSSD_ABI if the program can be loaded. */
uint32_t vssd_abi(void);

/* "0.1.0"; static. */
const char *vssd_version(void);

/* The last instant of a drive (212 days); "no instant". */
#define VSSD_TIME_MAX   18360344073709550ULL
#define VSSD_TIME_NEVER UINT64_MAX

/* ---- a drive ------------------------------------------------------------- */

typedef struct VssdDrive VssdDrive;

enum {
    /* Keep the version of each unit, which vssd_power_cut() and
     * vssd_version_of() need: 8 bytes of memory for each physical unit. */
    VSSD_KEEP_VERSIONS = 1,
};

/* Policies of the caller's process, in place of a shared object
 * (vssd-policy.h).  They outlive the drive, its clones included. */
struct VssdPolicy;

typedef struct VssdSetup {
    size_t size;          /* sizeof(VssdSetup) */
    const char *profile;  /* a file, or the name of a shipped profile; NULL: the
                             defaults of docs/options.md */
    const char *options;  /* "key=value;key=value", or NULL */
    const uint64_t *seed; /* NULL: the profile's */
    uint32_t block_bytes; /* unit of lba and nblocks: 512 or 4096; 0: 512 */
    uint32_t flags;       /* VSSD_KEEP_VERSIONS */
    const struct VssdPolicy *const *policy; /* n_policies of them, or NULL */
    size_t n_policies;
} VssdSetup;

/*
 * A new drive into *drive; vssd_destroy() frees it.  -EINVAL: a profile, an
 * option or a policy is wrong; -EIO: a file cannot be read.  message, if
 * message_bytes is not 0, is then one line that names it, cut off if the buffer
 * is too small.
 */
int vssd_create(const VssdSetup *setup, VssdDrive **drive, char *message,
                size_t message_bytes);

/* NULL is permitted. */
void vssd_destroy(VssdDrive *drive);

/* The drive's last error in one line, or ""; valid until the next call. */
const char *vssd_message(const VssdDrive *drive);

typedef struct VssdInfo {
    size_t size;            /* in: sizeof(VssdInfo) */
    uint64_t nblocks;       /* user capacity, in blocks */
    uint64_t raw_bytes;     /* physical capacity */
    uint64_t page_bytes;    /* NAND page */
    uint64_t erase_bytes;   /* one erase block */
    uint64_t reclaim_bytes; /* of a reclaim unit */
    uint64_t memory_bytes;  /* host memory that the model may take */
    uint32_t block_bytes;   /* unit of lba and nblocks */
    uint32_t unit_bytes;    /* mapping unit */
    uint32_t streams;       /* that a write may name: 0..streams-1 */
    uint32_t queue_depth;   /* commands in flight, at most */
    uint64_t zone_blocks;   /* blocks of a zone, which follow each other without
                               gaps; 0: the drive has no zones */
} VssdInfo;

/* Fill the members that fit into info->size. -EINVAL: that is too small. */
int vssd_get_info(const VssdDrive *drive, VssdInfo *info);

/* ---- commands ------------------------------------------------------------ */

typedef enum VssdOp {
    VSSD_READ,
    VSSD_WRITE,
    VSSD_TRIM,
    VSSD_FLUSH,    /* lba and nblocks are ignored, as for the next one */
    VSSD_SHUTDOWN, /* a flush that also empties a buffer with capacitors */
    /* Of a drive with zones, instead of VSSD_TRIM; lba is any block of the
     * zone. VSSD_WRITE is at the write pointer. */
    VSSD_ZONE_APPEND, /* a write of nblocks, wherever the pointer is; bad_lba of
                         the completion says where */
    VSSD_ZONE_RESET,  /* nblocks is ignored, as for the next ones */
    VSSD_ZONE_FINISH,
    VSSD_ZONE_OPEN,
    VSSD_ZONE_CLOSE,
} VssdOp;

enum {
    VSSD_FUA = 1, /* of a write: it completes when it is durable */
};

typedef struct VssdRequest {
    uint64_t time_ns; /* vssd_play(): it starts at this instant or later */
    uint64_t lba;     /* block */
    uint32_t nblocks; /* 1 or more */
    uint16_t stream;  /* of a write; 0: none */
    uint8_t op;       /* VssdOp */
    uint8_t flags;    /* VSSD_FUA */
} VssdRequest;

typedef enum VssdStatus {
    VSSD_OK,
    VSSD_UNRECOVERED_READ, /* data of the block bad_lba is lost */
    VSSD_WRITE_FAULT,      /* it will not become durable */
    VSSD_READ_ONLY,        /* the drive takes no more writes */
    VSSD_ABORTED,          /* by vssd_abort() */
    VSSD_POWER_LOSS,       /* in flight when the power went */
} VssdStatus;

/* Parts of a latency, in the order of cost_ns; see vssd_cost_name(). */
#define VSSD_N_COSTS 11

typedef struct VssdCompletion {
    uint64_t tag; /* of vssd_submit(); vssd_play(): index of the request */
    uint64_t submit_ns;
    uint64_t complete_ns;
    uint64_t bad_lba; /* with VSSD_UNRECOVERED_READ; of VSSD_ZONE_APPEND: the
                         first block that it wrote */
    uint32_t status;  /* VssdStatus */
    uint32_t reserved;
    uint64_t cost_ns[VSSD_N_COSTS]; /* they add up to the latency */
} VssdCompletion;

/* A completion without costs, for arrays of many. */
#define VSSD_COMPLETION_SHORT offsetof(VssdCompletion, cost_ns)

/* "firmware", "link", ...; NULL from VSSD_N_COSTS on. */
const char *vssd_cost_name(unsigned i);

/*
 * Submit one command at now_ns.  tag must differ from those in flight.  time_ns
 * is ignored.  -EAGAIN: queue_depth commands are in flight, or the zone is
 * being reset or finished, or its reset or finish waits for writes in flight;
 * -EINVAL: the range, the stream, the operation or the instant; -EPERM: a rule
 * of zones; -ENODEV: the power is off.
 */
int vssd_submit(VssdDrive *drive, uint64_t now_ns, const VssdRequest *request,
                uint64_t tag);

/* Modelled time of the drive. */
uint64_t vssd_now(const VssdDrive *drive);

/* No completion comes before this instant; VSSD_TIME_NEVER: none will come. */
uint64_t vssd_next_event(const VssdDrive *drive);

/*
 * Let time pass until now_ns, and store at most max completions, oldest first.
 * completion_bytes is the size of an element of done: sizeof(VssdCompletion) or
 * VSSD_COMPLETION_SHORT.  Returns how many; call again while that is max.
 * -EINVAL: the instant or the size.
 */
int64_t vssd_advance(VssdDrive *drive, uint64_t now_ns, void *done, size_t max,
                     size_t completion_bytes);

/* Ask for a command to end early: 1, it will end with VSSD_ABORTED; 0, it is
 * too late for that, as always with zones. */
int vssd_abort(VssdDrive *drive, uint64_t now_ns, uint64_t tag);

/*
 * Play n requests, in their order, and wait until all have completed.  A
 * request starts at its time_ns, or as soon as fewer than depth commands are in
 * flight; 0: the drive's queue_depth.  done[i] is the completion of request i,
 * done may be NULL.  request_bytes and completion_bytes are the sizes of the
 * elements.
 *
 * Returns the number of requests that have completed.  It is below n if one is
 * wrong, or the power goes: vssd_message() says why.  -EBUSY: commands of
 * vssd_submit() are in flight.
 */
int64_t vssd_play(VssdDrive *drive, const void *requests, size_t request_bytes,
                  size_t n, uint32_t depth, void *done,
                  size_t completion_bytes);

/* ---- zones --------------------------------------------------------------- */

typedef enum VssdZoneState {
    VSSD_ZONE_IS_EMPTY,
    VSSD_ZONE_IS_IMPLICITLY_OPEN,
    VSSD_ZONE_IS_EXPLICITLY_OPEN,
    VSSD_ZONE_IS_CLOSED,
    VSSD_ZONE_IS_FULL,
} VssdZoneState;

typedef struct VssdZone {
    uint64_t start;   /* first block */
    uint64_t written; /* blocks, up to the write pointer */
    uint32_t state;   /* VssdZoneState */
    uint32_t reserved;
} VssdZone;

/* The zone of a block, with all commands that were submitted.  -ENOTSUP: the
 * drive has none; -EINVAL: the block. */
int vssd_get_zone(VssdDrive *drive, uint64_t lba, VssdZone *zone);

/* ---- the state of a drive ------------------------------------------------ */

/* Without modelled time, of a new drive (else -EBUSY): the blocks hold old
 * data; with zones, whole zones.  -ENOMEM: the tables of so much data do not
 * fit into the memory. */
int vssd_preload(VssdDrive *drive, uint64_t lba, uint64_t nblocks);

/* Without modelled time, at rest: write n mapping units in this order, with
 * allocation, garbage collection and wear.  -EBUSY: not at rest; -ENOTSUP: the
 * drive has zones. */
int vssd_age(VssdDrive *drive, const uint64_t *unit, size_t n);

/* Let time pass until the array does nothing, at most so long.  -ETIMEDOUT:
 * it still does; -EBUSY: completions wait for vssd_advance(). */
int vssd_rest(VssdDrive *drive, uint64_t most_ns);

/*
 * Save the drive exactly, at rest (else -EBUSY): into a file, which is either
 * the old one or the whole new one, or into *bytes (vssd_free()).  A file that
 * another drive will write (state= of a virtual machine) is left alone: -EIO.
 */
int vssd_save_file(VssdDrive *drive, const char *path);
int vssd_save(VssdDrive *drive, void **bytes, size_t *n);

/* The same drive again, with the same setup; some options may differ
 * (docs/state.md).  As vssd_create(). */
int vssd_load_file(const VssdSetup *setup, const char *path, VssdDrive **drive,
                   char *message, size_t message_bytes);
int vssd_load(const VssdSetup *setup, const void *bytes, size_t n,
              VssdDrive **drive, char *message, size_t message_bytes);

/* A copy of the drive as it is, commands in flight included; both complete
 * them. */
int vssd_clone(VssdDrive *drive, VssdDrive **copy);

/* With VSSD_KEEP_VERSIONS, and without zones (else -ENOTSUP): the power goes,
 * and commands in flight end with VSSD_POWER_LOSS; it comes back.  -EALREADY:
 * it is off, or on. */
int vssd_power_cut(VssdDrive *drive, uint64_t now_ns);
int vssd_power_on(VssdDrive *drive, uint64_t now_ns);

/* Is the power on, and the map found?  Commands that come earlier wait. */
bool vssd_ready(const VssdDrive *drive);

/* Is the block mapped, in buffer or NAND?  1 or 0. */
int vssd_mapped(VssdDrive *drive, uint64_t lba);

/* With VSSD_KEEP_VERSIONS (else -ENOTSUP): which write, counted from 1 over all
 * of vssd_submit() and vssd_play(), the unit of the block was last written by;
 * 0: preloaded.  -ENOENT: it is not mapped. */
int vssd_version_of(VssdDrive *drive, uint64_t lba, uint64_t *version);

/* ---- statistics ---------------------------------------------------------- */

/* The members of docs/results-drive.md as one JSON object (vssd_free()). */
char *vssd_stats_json(const VssdDrive *drive);

/* Counters and latencies begin again; wear does not. */
void vssd_reset_stats(VssdDrive *drive);

/* The value of an option as a user types it (vssd_free()), or NULL: there is no
 * such option. */
char *vssd_get_option(const VssdDrive *drive, const char *key);

/*
 * From vssd_now() on the option has this value, as if the drive had been made
 * with it; docs/watch.md lists those that may change.  -EINVAL: it may not, or
 * the value is wrong.
 */
int vssd_set(VssdDrive *drive, const char *key, const char *value);

/* All options, as the table of docs/options.md (vssd_free()). */
char *vssd_options_table(void);

/*
 * The live view (docs/live-format.md): pictures of the drive in a file, for
 * those who read it.  monotonic_ns reads CLOCK_MONOTONIC; while time passes in
 * the drive, vssd_advance() and vssd_play() call it now and then, from the
 * caller's thread, and make a picture if one is due.  path NULL: end the view,
 * with a last picture; vssd_destroy() does the same.  Clones have none.
 * -EBUSY: there is a view; -EINVAL: monotonic_ns is NULL; -EIO: the file.
 */
int vssd_live(VssdDrive *drive, const char *path,
              uint64_t (*monotonic_ns)(void));

/* One line about a policy from outside that broke a rule (vssd_free()), or
 * NULL: the drive goes on without it (docs/policies-outside.md). */
char *vssd_policy_fault(const VssdDrive *drive);

/* Check every invariant of the drive, slowly: 0, or -EIO and vssd_message(). */
int vssd_check(VssdDrive *drive);

/* Free what a function of this header returned.  NULL is permitted. */
void vssd_free(void *p);

#ifdef __cplusplus
}
#endif

#endif
