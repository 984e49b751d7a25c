/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-csv.c - columns with names: in the first line, or by --columns.
 *
 * Names say the unit; columns of other names are passed over.  Separators are
 * commas, semicolons, tabs or spaces.
 */
#include <string.h>

#include "fields.h"
#include "simtime.h"
#include "trace.h"

enum {
    CSV_IGNORED,
    CSV_TIME,
    CSV_OP,
    CSV_OFFSET,
    CSV_SIZE,
    CSV_DEVICE,
    CSV_READ,  /* 1: a read, 0: a write */
    CSV_WRITE, /* the other way round */
    CSV_STREAM,
    CSV_N_ROLES,
};

static const struct {
    const char *name;
    uint8_t role;
    uint64_t unit; /* ns, or bytes */
} names[] = {
    {"time_ns", CSV_TIME, 1},
    {"time_us", CSV_TIME, NS_PER_US},
    {"time_ms", CSV_TIME, NS_PER_MS},
    {"time_s", CSV_TIME, NS_PER_S},
    {"time", CSV_TIME, NS_PER_S},
    {"timestamp", CSV_TIME, NS_PER_S},
    {"op", CSV_OP, 1},
    {"type", CSV_OP, 1},
    {"iotype", CSV_OP, 1},
    {"is_read", CSV_READ, 1},
    {"is_write", CSV_WRITE, 1},
    {"offset", CSV_OFFSET, 1},
    {"offset_bytes", CSV_OFFSET, 1},
    {"sector", CSV_OFFSET, TRACE_SECTOR_BYTES},
    {"lba", CSV_OFFSET, TRACE_SECTOR_BYTES},
    {"page", CSV_OFFSET, 4096},
    {"size", CSV_SIZE, 1},
    {"bytes", CSV_SIZE, 1},
    {"length", CSV_SIZE, 1},
    {"size_bytes", CSV_SIZE, 1},
    {"sectors", CSV_SIZE, TRACE_SECTOR_BYTES},
    {"nblocks", CSV_SIZE, TRACE_SECTOR_BYTES},
    {"pages", CSV_SIZE, 4096},
    {"device", CSV_DEVICE, 1},
    {"disk", CSV_DEVICE, 1},
    {"lun", CSV_DEVICE, 1},
    {"stream", CSV_STREAM, 1},
};

#define CSV_FIELDS 32

typedef struct CsvState {
    const char *names; /* of the columns, from the options; NULL: the first
                          line has them */
    bool headed;       /* column[] is known */
    unsigned n_columns;
    struct {
        uint8_t role; /* meaning of the column */
        uint64_t unit;
    } column[CSV_FIELDS];
} CsvState;

static void csv_begin(void *opaque, const TraceOptions *o, const char *head,
                      size_t n)
{
    CsvState *state = opaque;

    state->names = o->columns;
}

static inline bool is_separator(char c)
{
    return c == ',' || c == ';' || c == '\t';
}

/* The next field; NULL: there is none left. */
static const char *take_field(const char **s, size_t *len)
{
    const char *p = *s;
    const char *end;

    if (!p) {
        return NULL;
    }
    while (*p == ' ') {
        p++;
    }
    for (end = p; *end && *end != ' ' && !is_separator(*end); end++) {
    }
    *len = (size_t)(end - p);
    while (*end == ' ') {
        end++;
    }
    if (is_separator(*end)) {
        end++;
        *s = end;
    } else {
        *s = *end ? end : NULL;
    }
    return p;
}

static void set_column(CsvState *state, unsigned i, const char *name,
                       size_t len)
{
    for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
        if (strlen(names[k].name) == len &&
            g_ascii_strncasecmp(names[k].name, name, len) == 0) {
            state->column[i].role = names[k].role;
            state->column[i].unit = names[k].unit;
        }
    }
}

/* NULL: the columns are known, and all that is needed is there. */
static const char *read_columns(CsvState *state, const char *line)
{
    const char *s = line;
    const char *name;
    size_t len;
    bool has[CSV_N_ROLES] = {false};

    while (state->n_columns < CSV_FIELDS && (name = take_field(&s, &len))) {
        set_column(state, state->n_columns, name, len);
        has[state->column[state->n_columns].role] = true;
        state->n_columns++;
    }
    if (!has[CSV_TIME] || !has[CSV_OFFSET] || !has[CSV_SIZE] ||
        (!has[CSV_OP] && !has[CSV_READ] && !has[CSV_WRITE])) {
        state->n_columns = 0;
        return "no header that names time_ns (_us, _ms, _s), op (or is_read, "
               "is_write), offset (or sector, page) and size (or sectors, "
               "pages)";
    }
    state->headed = true;
    return NULL;
}

static const char *take_op(unsigned role, const char *text, size_t len,
                           SsdOp *op)
{
    bool one = len == 1 && *text == '1';
    bool zero = len == 1 && *text == '0';

    if (role == CSV_OP) {
        return op_from_text(text, len, op) ? NULL
                                           : "the kind is not read, write, "
                                             "trim or flush";
    }
    *op = one == (role == CSV_READ) ? SSD_OP_READ : SSD_OP_WRITE;
    return one || zero ? NULL : "is_read or is_write is not 0 or 1";
}

static const char *take_number(CsvState *state, unsigned i, const char *text,
                               size_t len, uint64_t *out)
{
    const char *s = text;

    if (!field_u64(&s, out) || s != text + len ||
        *out > UINT64_MAX / state->column[i].unit) {
        return "an offset, a size, a device or a stream is not a number";
    }
    *out *= state->column[i].unit;
    return NULL;
}

static const char *take_column(CsvState *state, unsigned i, const char *text,
                               size_t len, TraceRecord *out)
{
    const char *s = text;

    switch (state->column[i].role) {
    case CSV_TIME:
        return field_time(&s, state->column[i].unit, &out->at_ns) &&
                       s == text + len
                   ? NULL
                   : "the time is not a number";
    case CSV_OP:
    case CSV_READ:
    case CSV_WRITE:
        return take_op(state->column[i].role, text, len, &out->op);
    case CSV_OFFSET:
        return take_number(state, i, text, len, &out->offset);
    case CSV_SIZE:
        return take_number(state, i, text, len, &out->nbytes);
    case CSV_DEVICE:
        return take_number(state, i, text, len, &out->device);
    case CSV_STREAM:
        return take_number(state, i, text, len, &out->stream);
    default:
        return NULL;
    }
}

static const char *csv_parse(void *opaque, const char *line, TraceRecord *out)
{
    CsvState *state = opaque;
    const char *s = line;
    const char *text;
    size_t len;

    if (!state->headed) {
        const char *reason =
            read_columns(state, state->names ? state->names : line);

        if (reason || !state->names) {
            return reason ? reason : trace_skip;
        }
    }
    for (unsigned i = 0; i < state->n_columns; i++) {
        const char *reason;

        text = take_field(&s, &len);
        if (!text) {
            return "fewer fields than columns";
        }
        reason = take_column(state, i, text, len, out);
        if (reason) {
            return reason;
        }
    }
    return NULL;
}

const TraceFormat trace_csv = {
    .name = "csv",
    .help = "columns with names: time_ns|time_us|time_ms|time_s, op|is_read, "
            "offset|sector, size|sectors, device, stream",
    .uses = TRACE_USES_COLUMNS,
    .state_bytes = sizeof(CsvState),
    .parse = csv_parse,
    .begin = csv_begin,
};
