/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-faults.h - scripted faults: rules that say which operation goes wrong,
 * and how.  docs/faults.md has the grammar.
 *
 * Knows operations of the array by kind, cause and place, and counts them;
 * knows nothing of the meaning of effects (nand.c), nor of mapping: rules that
 * name an LBA are matched by the owner, through faults_lba_*().
 */
#ifndef VSSD_NAND_FAULTS_H
#define VSSD_NAND_FAULTS_H

#include "nand.h"

/* Limits of the places in a file; counts. */
typedef struct FaultLimits {
    uint32_t n_channels;
    uint32_t n_dies;         /* in the whole array */
    uint32_t planes_per_die; /* planes are counted in their die, */
    uint32_t blocks_per_plane; /* blocks in their plane, */
    uint32_t pages_per_block;  /* pages in their block */
    uint64_t n_lbas;
} FaultLimits;

typedef struct FaultPlace {
    NandOpKind kind;
    NandCause cause;
    uint32_t channel;
    uint32_t die;
    uint32_t plane;
    uint32_t block;
    uint32_t page;
} FaultPlace;

/* Where an operation is (or would be) done. */
FaultPlace nand_place(const Nand *nand, const NandOp *op);

/* Effects of all rules that match; several rules add up. */
typedef struct FaultEffect {
    bool fail;
    bool uncorrectable;
    bool cut;
    uint32_t stretch_milli; /* 0: none */
} FaultEffect;

#define FAULTS_MAX_RULES 4096
#define FAULTS_MAX_BYTES (1U << 20)

/* Read a file, or a text that errors call `name`.  NULL: *error is
 * "name:line: reason". */
Faults *faults_load(const char *path, const FaultLimits *limits,
                    GError **error);
Faults *faults_parse(const char *text, size_t len, const char *name,
                     const FaultLimits *limits, GError **error);
void faults_free(Faults *f);
/* Has it no rule? */
bool faults_is_empty(const Faults *f);

/*
 * Is the line a rule about commands of the host, interrupts or a controller?
 * One of its selectors is cmd= with a name, irq or ctrl, or it begins with aer
 * or temperature.  faults_parse() skips such lines: who has a controller reads
 * them.
 */
bool faults_is_host_rule(const char *line);

/* An operation of the array is submitted: count it and apply the rules without
 * an LBA. */
void faults_op(Faults *f, const FaultPlace *place, uint64_t now_ps,
               FaultEffect *e);

/*
 * The i-th rule that names LBAs, and could fire for the operation that will be
 * the next one for faults_op(): its range.  false: it could not.  Call
 * faults_lba_match() if the operation touches the range.
 */
unsigned faults_lba_rules(const Faults *f);
bool faults_lba_range(const Faults *f, unsigned i, const FaultPlace *place,
                      uint64_t now_ps, uint64_t *first, uint64_t *last);
void faults_lba_match(Faults *f, unsigned i, uint64_t now_ps, FaultEffect *e);

/* A host command is submitted: count it.  true: a rule cuts the power. */
bool faults_cmd(Faults *f, uint64_t now_ps);

/* The first instant after now_ps at which a rule cuts the power by time alone,
 * or SIM_NEVER. */
uint64_t faults_next_cut_ps(const Faults *f, uint64_t now_ps);

/* Array time of an operation that starts now, under "latency ... for" rules. */
uint64_t faults_stretch(const Faults *f, const FaultPlace *place,
                        uint64_t now_ps, uint64_t ps);

/* ps times milli thousandths, rounded up. */
uint64_t fault_stretch(uint64_t ps, uint32_t milli);

/* The caller's clock is set back: rules that name a time, or act for a while, count
 * from the same instants as before. */
void faults_rebase(Faults *f, uint64_t by_ps);

/* Can any rule make a program or an erase fail? */
bool faults_may_fail(const Faults *f);

/* ---- shared by nand-faults.c and nand-faults-file.c ---------------------- */

typedef enum FaultAction {
    FAULT_FAIL,
    FAULT_UNCORRECTABLE,
    FAULT_LATENCY,
    FAULT_CUT,
    FAULT_DEAD,
} FaultAction;

/* Inclusive; everything if !given. */
typedef struct FaultRange {
    uint64_t first, last;
    bool given;
} FaultRange;

typedef struct FaultRule {
    unsigned line;
    uint32_t kinds;  /* bits by NandOpKind */
    uint32_t causes; /* bits by NandCause */
    bool on;         /* on= or cause= was given */
    FaultRange channel, die, plane, block, page, lba;
    FaultRange nth, op, cmd; /* single numbers, from 1 */
    FaultRange time;         /* first: not before, in ps */
    FaultAction action;
    uint64_t times;        /* how often it fires */
    bool times_given;
    uint32_t stretch_milli;
    uint64_t for_ps;       /* latency; 0: for the operation alone */

    uint64_t n_matched;
    uint64_t n_fired;
    uint64_t window_from_ps; /* latency ... for: window_from <= now < until */
    uint64_t window_until_ps;
} FaultRule;

struct Faults {
    FaultRule *rule;
    unsigned n_rules;
    unsigned *lba_rule; /* indices of the rules with lba= */
    unsigned n_lba_rules;
    uint64_t n_ops;
    uint64_t n_cmds;
};

#endif
