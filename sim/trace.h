/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace.h - one block trace, read record by record.
 *
 * A format is one row: a name, a test of a file's first bytes, and a parser of
 * one line or one binary record.  The reader holds one record at a time, so
 * memory does not depend on the length of the trace.  traces.h merges traces
 * and changes addresses and times.
 */
#ifndef VSSD_SIM_TRACE_H
#define VSSD_SIM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <glib.h>

#include "input.h"
#include "request.h"
#include "trace-units.h"

/* A trace may name so many devices, and no more. */
#define TRACE_MAX_DEVICES (1U << 20)

#define TRACE_SECTOR_BYTES 512

/* Streams that a trace may name: 0..TRACE_MAX_STREAMS - 1. */
#define TRACE_MAX_STREAMS 64

/* Records that are no request of the device: counted, and left out.
 * X(UPPER, name, told, help); told: in the summary, too. */
#define TRACE_LEFTS(X)                                                         \
    X(STAGES, stages, false,                                                   \
      "of stages of a request other than the one that counts (`--action`)")    \
    X(NOTES, notes, false, "of processes, messages and plugs")                 \
    X(ZONES, zones, true,                                                      \
      "that open, close or finish a zone, or reset all zones")                 \
    X(COMMANDS, commands, true,                                                \
      "of commands that are no reads or writes, such as those passed through") \
    X(EMPTY, empty, true, "of requests without data")                          \
    X(UNKNOWN, unknown, true, "of an action or a letter that is not known")

typedef enum TraceLeft {
#define TRACE_LEFT_ENUM(upper, name, told, help) TRACE_LEFT_##upper,
    TRACE_LEFTS(TRACE_LEFT_ENUM)
#undef TRACE_LEFT_ENUM
        TRACE_N_LEFT,
} TraceLeft;

/* One record. */
typedef struct TraceRecord {
    uint64_t at_ns; /* by the trace's own clock */
    uint64_t offset;
    uint64_t nbytes; /* 1..4294967295; 0: FLUSH */
    uint64_t device; /* a number that distinguishes devices of the trace */
    const char *name; /* of the device, valid as the line is; NULL: none */
    size_t name_len;
    SsdOp op;
    bool fua;
    uint64_t stream; /* of a write; 0: none */
    bool flush_before; /* a FLUSH comes at the same instant, before it */
    TraceLeft left;    /* with trace_left_out */
} TraceRecord;

/* Result of a parser for a line that is no request and no damage. */
extern const char trace_skip[];

/* The same for a record that is counted by its TraceRecord.left. */
extern const char trace_left_out[];

typedef struct TraceOptions TraceOptions;

/* What the first bytes say of where a file comes from. */
typedef struct TraceOrigin {
    bool dated; /* times are of the clock of everybody */
    char host[64];
    bool of_one_cpu; /* blktrace: the records are of cpu alone */
    uint32_t cpu;
    uint64_t device; /* of the first record, with of_one_cpu */
    char action;     /* blktrace: as TraceOptions, the one that counts */
} TraceOrigin;

/* Options that only some formats understand. */
enum {
    TRACE_USES_COLUMNS = 1 << 0,
    TRACE_USES_ACTION = 1 << 1,
    TRACE_USES_UNITS = 1 << 2,
};

/*
 * state is the parser's memory between lines, a struct of the format's
 * own file: zeroes at first, one for each reading of a file, and freed with
 * g_free(), after .end.
 */
typedef struct TraceFormat {
    const char *name;
    const char *help;
    unsigned uses;      /* TRACE_USES_*; the reader refuses the others */
    size_t state_bytes; /* size of the state; 0: none, and state is NULL */
    /* Exactly one of the two.  NULL: *out is complete; trace_skip or
     * trace_left_out; else the fault, in a few words.  A line has no line end.
     */
    const char *(*parse)(void *state, const char *line, TraceRecord *out);
    /* INPUT_OK with *reason NULL, trace_skip or trace_left_out: as above.
     * INPUT_BAD with *reason: nothing after this can be read. */
    InputRead (*read)(void *state, Input *in, TraceRecord *out,
                      const char **reason, GError **error);
    /* Required with read, else optional: does the file begin like this format?
     * Without it, the first lines are parsed. */
    bool (*detect)(const char *head, size_t n);
    /* Optional: do the first bytes say that requests have no times? */
    bool (*untimed)(const TraceOptions *o, const char *head);
    /* Optional: is this a line of names of columns as only this format has it?
     * A file that begins with one is of this format, whatever follows. */
    bool (*headed)(const char *line);
    /* Lines come when requests end, with the times at which they began: they
     * are put in order (trace-order.h).  Only with parse, and without names of
     * devices. */
    bool ends;
    bool kernel_devices; /* numbers of devices are major << 20 | minor */
    /* Optional: set up the parser by the options and the first bytes.  The
     * options outlive the state. */
    void (*begin)(void *state, const TraceOptions *o, const char *head,
                  size_t n);
    /* Optional: free what the state owns. */
    void (*end)(void *state);
    /* Of lines whose times are dates: no real one is older.  0: each file may
     * have a clock of its own. */
    uint64_t since_ns;
    unsigned host_field; /* of lines: commas before the host; 0: none */
    /* Optional: *out is empty at first. */
    void (*origin)(const char *head, size_t n, TraceOrigin *out);
    /* One of the two: the units of the format, or those of a reading, which are
     * 0 as long as they are not known. */
    TraceUnits units;
    TraceUnits (*taken)(const void *state);
    /* Optional, for the first lines that are no comments, up to NULL: NULL, or
     * the readings between which the user must choose, and by which option;
     * g_free() it. */
    char *(*doubt)(const TraceOptions *o, char *const *lines);
} TraceFormat;

/* Every format, in the order in which they are tried: a strict one before a
 * lenient one.  X(name), for the TraceFormat trace_<name>. */
#define TRACE_FORMATS(X)                                                       \
    X(vssd)                                                                    \
    X(blktrace)                                                                \
    X(fio)                                                                     \
    X(msr)                                                                     \
    X(systor17)                                                                \
    X(spc)                                                                     \
    X(disksim)                                                                 \
    X(ssdsim)                                                                  \
    X(blkparse)                                                                \
    X(csv)                                                                     \
    X(mqsim)                                                                   \
    X(binary)                                                                  \
    X(ftrace)                                                                  \
    X(vscsi)                                                                   \
    X(biosnoop)                                                                \
    X(oracleGeneral)

#define TRACE_FORMAT_DECLARE(name) extern const TraceFormat trace_##name;
TRACE_FORMATS(TRACE_FORMAT_DECLARE)
#undef TRACE_FORMAT_DECLARE

/* The same, NULL at the end. */
extern const TraceFormat *const trace_formats[];

/* A comment, or an empty line. */
static inline bool trace_is_blank(const char *line)
{
    return line[0] == '\0' || line[0] == '#';
}

/* The first lines that are not blank; field_line() of each. g_ptr_array_free().
 */
GPtrArray *trace_sample(const char *head);

/* For the hooks of formats: the first line that is no comment, as parse() gets
 * it; g_free().  NULL: there is none. */
char *trace_first_line(const char *head);

/* NULL: no such format. */
const TraceFormat *trace_format_find(const char *name);

struct TraceOptions {
    const TraceFormat *format; /* NULL: by the first bytes */
    const char *columns;       /* of csv, when the file has no header */
    TraceUnits units;          /* of csv and columns without a name */
    char action;               /* D, Q or C of blktrace; 0: D if there is any */
    bool skip_bad;             /* count damaged lines and go on */
    bool may_lack_times;
    bool may_be_unsorted;      /* beyond the share that tools leave */
    bool may_be_empty;         /* a file without a request just ends */
    const char *device;        /* only that one, as people name it */
    uint64_t scale_ppm;        /* of times; 1000000: as they are */
    unsigned n_streams;        /* of stream[]; 0: streams as they are */
    uint16_t stream[TRACE_MAX_STREAMS]; /* new number of each stream */
};

#define TRACE_OPTIONS_INIT {.scale_ppm = 1000000}

typedef struct Trace Trace;

/*
 * NULL: the file cannot be read, or its format is not known, leaves a unit
 * open, or does not use an option that was given; *error names it.
 * The first request arrives at 0.  A line older than the one before it arrives
 * with that one (capture tools merge several processors' logs) and is counted;
 * more than a tenth of such lines are a fault.  TraceFormat.ends: this holds of
 * lines in the order in which they come out of trace-order.h.
 * Strings of options must outlive the trace.
 */
Trace *trace_open(const char *path, const TraceOptions *options,
                  GError **error);

/* The same from memory, which must outlive it; for tests. */
Trace *trace_from_memory(const void *data, size_t n,
                         const TraceOptions *options, GError **error);
void trace_close(Trace *t);

/* Request.space is the number of the device, in the order in which they first
 * appeared.  A damaged line is a REQUEST_ERROR that names file, line and
 * reason, unless skip_bad is set. */
RequestSource trace_source(Trace *t);

const TraceFormat *trace_format(const Trace *t);

/* Taken for this trace; 0: not known as long as no line has been read. */
TraceUnits trace_units(const Trace *t);

/* Devices that have appeared. */
uint32_t trace_n_devices(const Trace *t);

/* The trace's own number of the device of Request.space, which has appeared,
 * and how people name it; g_free(). */
uint64_t trace_device(const Trace *t, uint32_t space);
char *trace_device_name(const Trace *t, uint32_t space);

/* Is there not one byte?  Then the format is not known. */
bool trace_is_void(const Trace *t);

const TraceOrigin *trace_origin(const Trace *t);

/* Before the first request: as if opened with these options. */
bool trace_change(Trace *t, const TraceOptions *options, GError **error);

/* By the trace's own clock: the first request, and the newest so far. */
uint64_t trace_first_ns(const Trace *t);
uint64_t trace_newest_ns(const Trace *t);

uint64_t trace_n_disordered(const Trace *t);
uint64_t trace_n_skipped(const Trace *t);
uint64_t trace_n_left(const Trace *t, TraceLeft left);

#endif
