/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorded.h - read the project's own traces (docs/traces.md), which
 * ssd_trace_open() writes.
 *
 * The results are within the limits stated here, for any file.
 * One record is held at a time.
 */
#ifndef VSSD_SIM_RECORDED_H
#define VSSD_SIM_RECORDED_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "input.h"
#include "inspect/recording.h"
#include "ssd-power.h"

typedef struct RecordedItem {
    RecordingType type;
    SsdOp op;        /* CMD, DONE: only of CMD */
    bool fua;        /* CMD: only of writes */
    bool close;      /* CMD: only of flushes, which have a stream then */
    bool internal;   /* CMD: only of reads */
    bool inside;     /* CMD: only of reads and writes */
    uint16_t stream; /* CMD, CLOSE */
    SsdStatus status; /* DONE */
    uint64_t at_ns;   /* instant, at most 200 days; it never decreases.  Of
                         PRELOAD, DONE: that of the record before */
    uint64_t lba;     /* CMD, PRELOAD: with nblocks, within the drive */
    uint64_t nblocks; /* 1..2^32-1 for a CMD with a range */
    uint64_t serial;  /* CMD, DONE, ABORT: counts commands, from 1 */
    uint64_t latency_ns; /* DONE: at most 200 days */
    uint64_t bad_block;  /* DONE, UNRECOVERED_READ: from the command's lba on */
    uint64_t n_running;  /* END: commands that were still in flight */
    RecordingSetting setting; /* SETTING, with the meaning of number: */
    uint64_t number[3];       /* states below 32, ns, kelvins to 65535 */
} RecordedItem;

/* How far a file has been read; all zeroes at first. */
typedef struct RecordedState {
    uint32_t block_bytes; /* 512 or 4096 */
    uint64_t nblocks;     /* of the drive */
    bool used;            /* the drive was not new */
    bool ended;           /* RECORDING_END has been read */
    uint64_t last_ns;
    uint64_t n_cmds;
    uint64_t next_lba;
    uint64_t next_preload;
} RecordedState;

bool recorded_detect(const char *head, size_t n);

/*
 * The header.  text, if not NULL, gets the name of the profile (after "# ") and
 * the options, a line each.  INPUT_BAD: *reason names the fault, and nothing
 * after it can be read; so of recorded_next(), for which INPUT_END is the end
 * of the file, with RECORDING_END before it or not.
 */
InputRead recorded_head(RecordedState *s, Input *in, GString *text,
                        const char **reason, GError **error);
InputRead recorded_next(RecordedState *s, Input *in, RecordedItem *item,
                        const char **reason, GError **error);

/* ---- whole files --------------------------------------------------------- */

typedef struct Recorded Recorded;

/* NULL: the file cannot be read, or is no such trace; *error names it. */
Recorded *recorded_open(const char *path, GError **error);

/* The same from memory, which must outlive it; for tests. */
Recorded *recorded_from_memory(const void *data, size_t n, GError **error);
void recorded_close(Recorded *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Recorded, recorded_close)

/* Is it one?  false also if it cannot be read. */
bool recorded_is(const char *path);

const RecordedState *recorded_state(const Recorded *r);
const char *recorded_profile(const Recorded *r); /* name, for people */

/* The options and the block size of the recorded drive, into cfg; false: this
 * program does not know one of them. */
bool recorded_config(const Recorded *r, SsdConfig *cfg, GError **error);

/* true and *item; or false at the end, and when *error is set. */
bool recorded_read(Recorded *r, RecordedItem *item, GError **error);

/* Give the drive, which is new, the data of the recorded one at its start. */
bool recorded_preload(const char *path, Ssd *ssd, GError **error);

#endif
