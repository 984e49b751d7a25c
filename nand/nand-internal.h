/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nand-internal.h - what the files of nand/ share. */
#ifndef VSSD_NAND_INTERNAL_H
#define VSSD_NAND_INTERNAL_H

#include "nand.h"
#include "nand-faults.h"
#include "nand-reliability.h"
#include "nand-sched.h"
#include "nand-timing.h"

#define NONE UINT32_MAX

typedef enum Phase {
    PHASE_FREE, /* the pool entry holds no operation */
    PHASE_DIE_WAIT,
    PHASE_TURN, /* granted; another member of the group has its bus phase */
    PHASE_BUS_WAIT,
    PHASE_BUS,
    PHASE_LOADED, /* cache program: loaded, waits for the array */
    PHASE_GAP,    /* tDBSY before its turn */
    PHASE_CELL,
    PHASE_SUSPENDING,
    PHASE_SUSPENDED,
    PHASE_READY, /* out of the array; the cache register is taken */
    PHASE_ECC,   /* out of the die; being decoded */
    N_PHASES,
} Phase;

/* What the channel is asked for. */
typedef enum Step {
    STEP_IN, /* command and address, and the data of a program */
    STEP_STATUS,
    STEP_OUT, /* the data of a read */
} Step;

typedef enum NandLock {
    NAND_LOCK_DIE,
    NAND_LOCK_PLANE,
    NAND_LOCK_CHIP,
} NandLock;

typedef enum NandSuspend {
    NAND_SUSPEND_OFF,
    NAND_SUSPEND_ERASE,
    NAND_SUSPEND_PROGRAM,
    NAND_SUSPEND_BOTH,
} NandSuspend;

/* Operations in a queue, linked through NandOp.next. */
typedef struct OpList {
    uint32_t head;
    uint32_t tail;
} OpList;

/* See nand.c; each place names a group by its leader, or NONE. */
typedef struct Unit {
    OpList waiting;
    uint32_t array;
    uint32_t loading;
    uint32_t out; /* the member whose data leaves */
    uint32_t suspended;
} Unit;

typedef struct Die {
    uint32_t load;    /* operations submitted and not done */
    uint32_t holders; /* of those, granted */
    uint32_t host_reads; /* submitted and not done */
    uint64_t since_ps;
    uint64_t busy_ps;
} Die;

typedef struct Channel {
    OpList waiting;
    OpList commands; /* wait, too, and carry no data: they go first */
    uint32_t owner; /* operation on the bus, or NONE */
    uint64_t busy_ps;  /* what owner asked for included */
    uint64_t until_ps; /* while there is an owner: when it ends */
    uint64_t ecc_free_ps; /* when the decoder has done what it has */
} Channel;

typedef struct BlockWear {
    uint16_t next_page; /* as nand_next_page() */
    uint16_t in_array;  /* programs queued or running */
    uint32_t erase_count;
} BlockWear;

typedef struct NandHistory NandHistory;

struct Nand {
    NandConfig cfg;
    NandGeometry geo;
    NandTiming timing;
    const SchedPolicy *sched;
    uint32_t planes_per_channel;
    uint32_t planes_per_unit;
    uint32_t n_units;
    EventQueue *q;
    NandDone *done;
    NandDone *data_in; /* or NULL */
    void *opaque;

    NandOp *op; /* pool; index is the operation's name */
    uint32_t n_op;
    uint32_t free_op;

    Unit *unit;
    Die *die;
    Channel *channel;
    uint64_t *plane_busy_ps;
    BlockWear *block;
    NandMedia *media; /* NULL: the medium has no errors */
    Faults *faults;   /* the owner's; NULL: none */
    void (*cut)(void *opaque);
    uint32_t load; /* operations submitted and not done */
    NandStats stats;
    uint64_t last_id;
    const NandWatch *watch; /* or NULL */
    void *watch_opaque;
    NandHistory *history; /* or NULL; nand-history.c */
};

/* nand-watch.c: the phase of op ends now; n->watch is set. */
void nand_watch_phase(const Nand *n, const NandOp *op, uint64_t now_ps);

/* nand-history.c: the operations of late, for nand.history. */
NandHistory *nand_history_new(uint32_t n_ops);
void nand_history_free(NandHistory *h);
void nand_history_submit(NandHistory *h, const NandOp *op, uint64_t now_ps);
void nand_history_done(NandHistory *h, const NandOp *op, uint64_t now_ps);

/* What is remembered of operations on a block, oldest first, a line each. */
char *nand_history_of_block(const NandHistory *h, const NandGeometry *g,
                            uint32_t block);

/* nand-rules.c: the medium's book-keeping. */
void nand_rules_submit(Nand *n, const NandOp *op, uint64_t now_ps);
void nand_rules_done(Nand *n, const NandOp *op, uint64_t now_ps);
void nand_rules_power_cut(Nand *n);

#endif
