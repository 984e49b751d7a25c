/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-guest.h - the guest of fuzz-nvme: commands in flight and their buffers,
 * time, and the checks at each step (the oracles).
 *
 * An honest guest keeps the rules of the standard.  Then each command must end,
 * once, and its data is checked (nvme-ledger.h).  Another one keeps none;
 * it knows its commands only to tell what was reached.
 */
#ifndef VSSD_TESTS_NVME_GUEST_H
#define VSSD_TESTS_NVME_GUEST_H

#include "host.h"
#include "nvme-drives.h"

#define GUEST_SENT 96         /* commands in flight that are known */
#define GUEST_SLOT_BYTES 0x20000 /* each has a buffer, and a page for its list */
#define GUEST_LIST_BYTES 0x2000
#define GUEST_QUEUES 4        /* the admin queue, and three */
#define GUEST_RANGES 8        /* of one Dataset Management command, honest */
#define GUEST_PATCHES 8
#define FUZZ_VFS         2
#define FUZZ_VF_CNTLID   10 /* of the first of them */

typedef enum SentKind {
    SENT_NONE, /* the slot is free */
    SENT_READ,
    SENT_WRITE,
    SENT_ZEROES,
    SENT_TRIM,
    SENT_COMPARE,
    SENT_VERIFY,
    SENT_FLUSH,
    SENT_EVENT,
    SENT_OTHER,
} SentKind;

/* Bits. */
typedef enum SentHint {
    SENT_HINT_FREQUENCY = 1,
    SENT_HINT_READS = 2,
} SentHint;

typedef struct Sent {
    SentKind kind;
    uint16_t sqid;
    uint16_t cid;
    uint8_t opcode;
    uint8_t detail; /* CNS, log page, feature; SENT_WITH_KEY */
    uint8_t hints;  /* SentHint, of Dataset Management, where they act */
    bool sgl;       /* its buffer is described by an SGL */
    bool scattered; /* its pages are in reverse order */
    bool fua;
    bool may_fail;  /* an error is no surprise */
    bool aborted;   /* with its queue: the drive may work on it until Delete I/O
                       SQ completes, but its buffer is the guest's again */
    uint16_t status; /* once it has ended */
    uint32_t lba;
    uint32_t n;
    uint32_t at; /* ledger_tick() */
    uint64_t stamp;
    unsigned nranges;
    struct {
        uint32_t lba, n;
        bool sure; /* whole units: they are zeroes afterwards */
    } range[3 * GUEST_RANGES];
} Sent;

typedef struct Patch {
    uint8_t dw;
    uint8_t how;
    uint32_t value;
} Patch;

typedef struct Guest {
    Host *h;
    Host *peer;         /* of another controller; NULL: there is none now */
    Host *vf[FUZZ_VFS]; /* of secondary controllers; NULL: there are none */
    HostOptions o;
    FuzzDrive drive;
    bool honest;
    bool shadow;      /* use shadow doorbells */
    bool shadow_on;   /* they have been set up */
    bool powered;
    bool store_failed; /* it has, or memory has changed: errors are no surprise */
    bool forged;      /* goes on from a stream that was changed */
    bool cache_off;   /* every write is durable when it completes */
    uint32_t page_bits;
    uint32_t serial;  /* of stamps */
    unsigned next_slot; /* not honest: taken in turn */
    Sent sent[GUEST_SENT];
    Patch patch[GUEST_PATCHES];
    unsigned npatches;
    size_t memory;    /* before the input, in bytes */
    size_t peak;      /* beyond that */
} Guest;

/* ---- time, and checks ----------------------------------------------- */

/* Memory that this process has from the heap and in tables, in bytes. */
size_t guest_memory(void);

/* nvme_run() until it has nothing more to do.  Afterwards the next event is in
 * the future. */
void guest_run(Guest *g);

/* The next event, of the drive or of the store.  false: there is none. */
bool guest_step(Guest *g);

/* So many steps, or until nothing moves. */
void guest_steps(Guest *g, unsigned n);

/* Time passes, with the events in it; a store that is slow stays so. */
void guest_sleep(Guest *g, uint64_t ns);

/* The other controller goes, if there is one (nvme-act-peer.c). */
void guest_pull_peer(Guest *g);

/* Of a drive with secondary controllers: hosts of them, Offline. */
void guest_add_vfs(Guest *g, Host *h);
void guest_pull_vfs(Guest *g);

/* ---- commands ------------------------------------------------------------ */

/* detail of a key-value command: opcodes have two meanings. */
#define SENT_WITH_KEY 1

/* A free slot; NULL: there is none.  kind and detail are set. */
Sent *guest_slot(Guest *g, SentKind kind, uint8_t detail);

/* Where byte pos of its buffer is, in guest memory.  Pieces of 4 KiB, aligned,
 * are contiguous. */
uint64_t guest_buffer(const Guest *g, const Sent *s, uint64_t pos);

/* The same, to be written, within a page of the guest or a contiguous piece. */
uint8_t *guest_to(Guest *g, const Sent *s, uint64_t pos, size_t len);

/* PRPs for the first bytes of its buffer. */
void guest_map(Guest *g, Sent *s, NvmeSqe *sqe, uint64_t bytes);

/* Stamps into the buffer: data to write, or to compare. */
void guest_fill(Guest *g, Sent *s, uint32_t i, uint64_t stamp);

/* Put it into the queue, if that exists and has room, after the patches; ring if
 * asked to.  NULL: no, and s is free again. */
Sent *guest_send(Guest *g, Sent *s, unsigned queue, NvmeSqe *sqe, bool ring);

/* Take at most so many completions of a queue; returns how many. */
unsigned guest_poll(Guest *g, unsigned cq, unsigned most);
unsigned guest_poll_all(Guest *g);

/* Until the command has ended.  true: with success.  An honest guest insists,
 * unless the power goes. */
bool guest_wait(Guest *g, Sent *s);

/* From now on check the controller's writes to memory. */
void guest_watch(Guest *g);

/* Commands in flight of a queue. */
unsigned guest_in_flight(const Guest *g, unsigned queue);

/* The queue (-1: all of them, with the controller) has gone.  Commands in
 * flight have had all the effect that it will have, and its buffers are the
 * guest's. */
void guest_forget(Guest *g, int queue);

/* ---- the controller ------------------------------------------------------ */

/* Enable it; sizes of the admin queues.  true: it is ready. */
bool guest_enable(Guest *g, unsigned page_bits, unsigned sq_size,
                  unsigned cq_size);

/* Create a pair, and wait for it.  true: it is there. */
bool guest_create(Guest *g, unsigned id, unsigned cqid, unsigned size,
                  unsigned vector);

/* An honest guest: powered, ready, with that queue.  false: not to be had. */
bool guest_ready(Guest *g, unsigned queue);

void guest_power_cut(Guest *g);
void guest_power_on(Guest *g);

/* The drive's tables are right, if it has power and is ready: before that they
 * are not complete (ssd.h). */
void guest_check_drive(Guest *g);

/* Look whether all is well; at_rest: bring everything to an end first, which takes
 * as long as some actions, and read all data. */
void guest_end(Guest *g, bool at_rest);

/* ---- what was reached ---------------------------------------------------- */

/* The command has ended without an error. */
void guest_reached(const Sent *s);

/* Zones as the limits of time have made them by now. */
void guest_reached_zones(const Guest *g);

/* NULL, or what no completion without an error was seen of, so far. */
const char *guest_unreached(void);

/* CC.CSS: all command sets, of a drive that has several. */
static inline uint32_t guest_sets(const Guest *g)
{
    return g->drive.zoned || g->drive.kv ? 0x60 : 0;
}

#endif
