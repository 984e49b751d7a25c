/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ref.h - a drive under test, and the reference model that knows the data that
 * a host may find on it.
 *
 * Per mapping unit the reference keeps the writes and trims that can still be
 * read, with the times at which the host submitted them and saw them complete.
 * One operation is over another if it was submitted after the other had
 * completed; operations in flight together may take effect in either order.
 *
 *   at any time     a unit holds an operation that no completed one is over;
 *   after a cut     a unit holds one that no durable one is over, never goes
 *                   back again, and holds exactly the version reported as
 *                   programmed (or nothing, if it was trimmed).
 *
 * Durable for the host: a completed FUA write, a write that had completed when
 * a completed Flush was submitted; a completed trim, if capacitors keep the
 * map, else one that had completed when a completed Flush was submitted.
 *
 * A broken expectation aborts with the expected and the found value.
 */
#ifndef VSSD_TESTS_FTL_REF_H
#define VSSD_TESTS_FTL_REF_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "prng.h"
#include "ssd.h"

/* How time passes between two commands. */
typedef enum RefPolling {
    REF_POLL_EXACT,  /* at every ssd_next_event_ns() */
    REF_POLL_COARSE, /* every 333 us, however much happens in between */
    REF_POLL_RANDOM,
    REF_POLL_NEVER, /* not at all: only ssd_submit() drives the drive */
    REF_N_POLLINGS,
    REF_POLL_EVENTS = REF_N_POLLINGS, /* at every event, background too */
} RefPolling;

/*
 * Bugs that can be planted between the reference and the drive, to see that
 * the reference finds them.
 */
typedef enum RefBug {
    REF_BUG_NONE,
    REF_BUG_WRONG_UNIT,  /* now and then a write goes to the unit beside */
    REF_BUG_LOST_TRIM,   /* now and then a trim is a read */
    REF_BUG_LOST_FLUSH,  /* a flush is a read: nothing becomes durable */
    REF_BUG_LOST_FUA,    /* the FUA bit is dropped */
    REF_BUG_LOST_REPORT, /* now and then "programmed" is not heard */
    REF_BUG_LATE,        /* completions say 1 ns more than they cost */
    REF_N_BUGS,
} RefBug;

typedef struct RefOp {
    uint64_t version;
    bool unmapped; /* a trim, or never written */
    bool durable;
    uint64_t submit_ns;
    uint64_t complete_ns; /* UINT64_MAX: not seen */
    uint64_t submit_seq;  /* Ref.seq at submission */
    uint64_t seen_seq;    /* Ref.seq when the completion was fetched */
} RefOp;

typedef struct RefFlight {
    bool used;
    bool aborted; /* ssd_abort() said it would be */
    SsdCmd cmd;
    uint64_t submit_ns;
    uint64_t submit_seq;
} RefFlight;

typedef struct Ref {
    Ssd *ssd;
    const SsdInfo *info;
    uint32_t unit_blocks;
    uint64_t n_units;
    uint64_t now_ns;
    uint64_t base_ns; /* by how much the drive's clock has been set back */
    uint64_t version;
    uint64_t seq; /* counts submissions and completions fetched */
    RefPolling polling;
    RefBug bug;
    bool faults; /* commands may fail, and the power may go */
    bool always_durable; /* host.complete_at=program, buffer.plp */
    bool trims_durable;  /* when they complete */
    unsigned recovery_cuts;  /* at which of the instants of the next recovery
                                the power goes again; 0: at none */
    unsigned recovery_looks; /* counts these instants */
    Prng recovery_rng; /* draws one now and then */
    uint32_t n_streams;  /* writes go to a random one below it; 1 (at first): */
    uint16_t stream;     /* to this one */
    bool inside;         /* data of reads and writes stays in the drive */
    bool close;          /* flushes are of this stream, which ends */
    bool erase;          /* trims are resets of a zone */
    Prng stream_rng;
    Prng poll_rng;
    Prng bug_rng;

    GArray **ops;      /* of RefOp, by unit */
    uint64_t *in_nand; /* by unit: last version reported as programmed */
    GHashTable *owed;  /* units of writes that must still be reported */
    RefFlight *flight; /* by tag */
    uint32_t n_flying;
    uint8_t in_cmb; /* SsdCmd.in_cmb of commands from now on */

    uint64_t last_complete_ns;
    uint64_t n_programmed; /* units */
    uint64_t n_superseded;
    uint64_t n_completed[SSD_N_OPS];
    /*
     * For tests that stop a run at an instant: 0, or where; once there, nothing
     * is submitted and no time passes.  instants, if not NULL, collects every
     * instant at which something happens.
     */
    uint64_t stop_ns;
    bool stopped;
    GArray *instants;

    /*
     * How often, in thousandths of the commands and power cuts, a copy takes
     * the place of the drive: one that was saved and loaded if it is at rest,
     * else a clone.  Every other time the drive's clock is set back before.
     */
    unsigned replace_permille;
    uint64_t n_cloned, n_loaded, n_rebased;
    Prng replace_rng;

    GArray *log;      /* of SsdCompletion, in order; NULL: not kept */
    GString *reports; /* of SsdHostOps, in order; NULL: not kept */
} Ref;

/* A configuration from "key=value;..." on top of small defaults. */
SsdConfig *ref_config(const char *options);

/* The next drive writes a trace (docs/traces.md) to this file; NULL: none. */
extern const char *ref_trace;

/* The drive alone, without a host that keeps its data, in blocks of 4 KiB; frees
 * the configuration. */
Ssd *ref_drive(SsdConfig *cfg);

/* The configuration must be good; the reference frees it. */
Ref *ref_new(SsdConfig *cfg, bool preload);
void ref_free(Ref *r);

/* 0, or the error of ssd_submit(). */
int ref_submit(Ref *r, SsdOp op, uint64_t lba, uint32_t nblocks, bool fua);

/* Submit, waiting for a place if need be. */
void ref_do(Ref *r, SsdOp op, uint64_t lba, uint32_t nblocks, bool fua);

/* Ask to abort a command that is in flight (any; none if there is none). */
bool ref_abort_one(Ref *r, Prng *rng);

/* Let time pass, in the reference's style of polling. */
void ref_pass(Ref *r, uint64_t ns);

/* Fetch completions. */
void ref_collect(Ref *r);

/* Wait for every command. */
void ref_drain(Ref *r);

/* Write, read, trim or flush and wait for it; the completion. */
SsdCompletion ref_one(Ref *r, SsdOp op, uint64_t lba, uint32_t nblocks,
                      bool fua);

/* A file with rules of faults=: its name, to be freed, and the file removed. */
char *ref_faults_file(const char *text);

/* Power off now and on again, and verify the data. */
void ref_power_cycle(Ref *r);

/* ssd_check(), and every unit against the reference. */
void ref_verify(Ref *r);

/* Drain, flush, verify; nothing may be owed any more. */
void ref_finish(Ref *r);

#endif
