/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-csv.c - columns with names: in the first line, or by --columns.
 *
 * Names say the unit, but for some that are refused unless --units decides;
 * columns of other names are passed over.  Separators are commas,
 * semicolons, tabs or spaces.
 */
#include <string.h>

#include "blk-kind.h"
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

/* Those that do not say the unit, and its usual values. */
static const struct {
    const char *name;
    const char *readings;
    const char *units; /* of --units */
} open_names[] = {
    {"time", "s or us", "time=s|us"},
    {"timestamp", "s or us", "time=s|us"},
    {"lba", "units of 512 or 4096 bytes", "address=512|4096"},
    {"length", "bytes or sectors", "size=1|512"},
    {"nblocks", "units of 512 or 4096 bytes", "size=512|4096"},
};

#define RENAME ": give the one that does not count another name"

/* More do not fit a line. */
#define CSV_FIELDS (INPUT_LINE_BYTES / 2)

typedef struct CsvState {
    const char *names; /* of the columns, from the options; NULL: the first
                          line has them */
    TraceUnits given;  /* from the options */
    TraceUnits units;  /* of the columns */
    bool headed;       /* column[] is known */
    unsigned n_columns;
    struct {
        uint8_t role; /* meaning of the column */
        uint64_t unit;
        uint64_t most; /* that a number of this unit may be */
    } column[CSV_FIELDS];
} CsvState;

static void csv_begin(void *opaque, const TraceOptions *o, const char *head,
                      size_t n)
{
    CsvState *state = opaque;

    state->names = o->columns;
    state->given = o->units;
}

static inline bool is_separator(char c)
{
    return c == ',' || c == ';' || c == '\t';
}

/* Behind a field: a space, a separator, or the end of the line. */
static inline bool is_end(char c)
{
    static const bool ends[256] = {
        ['\0'] = true, [' '] = true, [','] = true, [';'] = true, ['\t'] = true,
    };

    return ends[(unsigned char)c];
}

/* The end of the field at `p`. */
static inline const char *end_of(const char *p)
{
    while (!is_end(*p)) {
        p++;
    }
    return p;
}

/* The field after that which ends here; NULL: there is none left. */
static inline const char *after(const char *end)
{
    while (*end == ' ') {
        end++;
    }
    if (is_separator(*end)) {
        return end + 1;
    }
    return *end ? end : NULL;
}

/* Index in names[]; G_N_ELEMENTS(names): another name. */
static size_t find_name(const char *name, size_t len)
{
    for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
        if (strlen(names[k].name) == len &&
            g_ascii_strncasecmp(names[k].name, name, len) == 0) {
            return k;
        }
    }
    return G_N_ELEMENTS(names);
}

/* The unit of columns of a role; NULL: they have none. */
static uint64_t *unit_of(TraceUnits *units, unsigned role)
{
    return role == CSV_TIME     ? &units->time_ns
           : role == CSV_OFFSET ? &units->address_bytes
           : role == CSV_SIZE   ? &units->size_bytes
                                : NULL;
}

static void set_column(CsvState *state, unsigned i, const char *name,
                       size_t len)
{
    size_t k = find_name(name, len);
    uint64_t *given, *unit;

    state->column[i].role = CSV_IGNORED;
    if (k == G_N_ELEMENTS(names)) {
        return;
    }
    given = unit_of(&state->given, names[k].role);
    state->column[i].role = names[k].role;
    state->column[i].unit = given && *given ? *given : names[k].unit;
    state->column[i].most = UINT64_MAX / state->column[i].unit;
    unit = unit_of(&state->units, names[k].role);
    if (unit) {
        *unit = state->column[i].unit;
    }
}

/* How many columns have each role? */
static void read_names(CsvState *state, const char *line,
                       unsigned has[CSV_N_ROLES])
{
    const char *end;

    for (const char *s = line; s && state->n_columns < CSV_FIELDS;
         s = after(end)) {
        s += strspn(s, " ");
        end = end_of(s);
        set_column(state, state->n_columns, s, (size_t)(end - s));
        has[state->column[state->n_columns].role]++;
        state->n_columns++;
    }
}

static bool has_op(const unsigned has[CSV_N_ROLES])
{
    return has[CSV_OP] || has[CSV_READ] || has[CSV_WRITE];
}

/* Of columns that say the same, which counts?  NULL: there are none. */
static const char *find_twice(const unsigned has[CSV_N_ROLES])
{
    static const char *const faults[CSV_N_ROLES] = {
        [CSV_TIME] = "two columns are times" RENAME,
        [CSV_OP] = "two columns are operations" RENAME,
        [CSV_READ] = "two columns are operations" RENAME,
        [CSV_WRITE] = "two columns are operations" RENAME,
        [CSV_OFFSET] = "two columns are addresses" RENAME,
        [CSV_SIZE] = "two columns are sizes" RENAME,
        [CSV_DEVICE] = "two columns are devices" RENAME,
        [CSV_STREAM] = "two columns are streams" RENAME,
    };

    for (unsigned role = 0; role < CSV_N_ROLES; role++) {
        if (has[role] > 1 && faults[role]) {
            return faults[role];
        }
    }
    return has[CSV_OP] + has[CSV_READ] + has[CSV_WRITE] > 1 ? faults[CSV_OP]
                                                            : NULL;
}

/* NULL: the columns are known, and all that is needed is there.  Times are not:
 * csv_untimed(). */
static const char *read_columns(CsvState *state, const char *line)
{
    unsigned has[CSV_N_ROLES] = {0};
    const char *fault;

    read_names(state, line, has);
    fault = find_twice(has);
    if (!has[CSV_OFFSET] || !has[CSV_SIZE] || !has_op(has)) {
        fault = "no header that names op (or is_read, is_write), offset (or "
                "sector, page), size (or sectors, pages) and, but for "
                "--iodepth, time_ns (_us, _ms, _s)";
    }
    if (fault) {
        state->n_columns = 0;
        state->units = (TraceUnits){0};
        return fault;
    }
    state->headed = true;
    return NULL;
}

/* Names of columns, though some may be missing: two of those that are needed.
 */
static bool csv_headed(const char *line)
{
    g_autofree CsvState *state = g_new0(CsvState, 1);
    unsigned has[CSV_N_ROLES] = {0};

    read_names(state, line, has);
    return !!has[CSV_TIME] + !!has[CSV_OFFSET] + !!has[CSV_SIZE] +
               has_op(has) >=
           2;
}

/* Are the columns complete but for times? */
static bool csv_untimed(const TraceOptions *o, const char *head)
{
    g_autofree CsvState *state = g_new0(CsvState, 1);
    g_autofree char *first = trace_first_line(head);
    const char *line = o->columns ? o->columns : first;

    unsigned has[CSV_N_ROLES] = {0};

    if (line) {
        read_names(state, line, has);
    }
    return has[CSV_OFFSET] && has[CSV_SIZE] && has_op(has) && !has[CSV_TIME];
}

static const char *take_op(unsigned role, const char *text, size_t len,
                           TraceRecord *out)
{
    bool one = len == 1 && *text == '1';
    bool zero = len == 1 && *text == '0';

    if (role == CSV_OP) {
        return blk_word(text, len, "the kind is not read, write, trim or flush",
                        out);
    }
    out->op = one == (role == CSV_READ) ? SSD_OP_READ : SSD_OP_WRITE;
    return one || zero ? NULL : "is_read or is_write is not 0 or 1";
}

static const char *take_number(const CsvState *state, unsigned i,
                               const char **s, uint64_t *out)
{
    const char *text = *s;

    if (field_u64(s, out) && **s == '.') {
        *s += 1 + strspn(*s + 1, "0"); /* 512.0 */
    }
    if (*s == text || !is_end(**s) || *out > state->column[i].most) {
        return "an offset, a size or a stream is not a number";
    }
    *out *= state->column[i].unit;
    return NULL;
}

/* A number or a name. */
static const char *take_device(const char **s, TraceRecord *out)
{
    const char *text = *s;
    const char *end = end_of(text);

    if (!field_u64(s, &out->device) || *s != end) {
        out->name = text;
        out->name_len = (size_t)(end - text);
        out->device = field_hash(text, out->name_len);
        *s = end;
    }
    return *text == '"'  ? "a quote without its end"
           : end == text ? "a device without a name"
                         : NULL;
}

/* The field at *s, which is moved to the field's end. */
static const char *take_column(const CsvState *state, unsigned i,
                               const char **s, TraceRecord *out)
{
    const char *text = *s;

    switch (state->column[i].role) {
    case CSV_TIME:
        return field_time(s, state->column[i].unit, &out->at_ns) && is_end(**s)
                   ? NULL
                   : "the time is not a number";
    case CSV_OP:
    case CSV_READ:
    case CSV_WRITE:
        *s = end_of(text);
        return take_op(state->column[i].role, text, (size_t)(*s - text), out);
    case CSV_OFFSET:
        return take_number(state, i, s, &out->offset);
    case CSV_SIZE:
        return take_number(state, i, s, &out->nbytes);
    case CSV_DEVICE:
        return take_device(s, out);
    case CSV_STREAM:
        return take_number(state, i, s, &out->stream);
    default:
        *s = end_of(text);
        return *text == '"' ? "a quote without its end" : NULL;
    }
}

static const char *csv_parse(void *opaque, const char *line, TraceRecord *out)
{
    CsvState *state = opaque;
    const char *s = line;

    if (!state->headed) {
        const char *reason =
            read_columns(state, state->names ? state->names : line);

        if (reason || !state->names) {
            return reason ? reason : trace_skip;
        }
    }
    for (unsigned i = 0; i < state->n_columns; i++) {
        const char *reason;

        if (!s) {
            return "fewer fields than columns";
        }
        while (*s == ' ') {
            s++;
        }
        reason = take_column(state, i, &s, out);
        if (reason) {
            return reason;
        }
        s = after(s);
    }
    blk_complete(out);
    return NULL;
}

/* ---- more than one reading ----------------------------------------------- */

/* Adds the readings of a column to `out`, and what decides to `units`. */
static void doubt_name(const CsvState *state, const char *name, size_t len,
                       GString *out, GString *units)
{
    size_t k = find_name(name, len);
    TraceUnits given = state->given;
    uint64_t *unit =
        k < G_N_ELEMENTS(names) ? unit_of(&given, names[k].role) : NULL;

    if (!unit || *unit) {
        return;
    }
    /* Beside addresses in bytes, a length is in bytes. */
    if (strcmp(names[k].name, "length") == 0 &&
        state->units.address_bytes == 1) {
        return;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(open_names); i++) {
        if (strcmp(open_names[i].name, names[k].name) == 0) {
            g_string_append_printf(out, "%s%s may be in %s",
                                   out->len ? ", " : "", names[k].name,
                                   open_names[i].readings);
            g_string_append_printf(units, "%s%s", units->len ? "," : "",
                                   open_names[i].units);
        }
    }
}

/* The name of the format decides nothing: csv is of nobody. */
static char *csv_doubt(const TraceOptions *o, char *const *lines)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(GString) units = g_string_new(NULL);
    g_autofree CsvState *state = g_new0(CsvState, 1);
    const char *line = o->columns;
    const char *end;

    state->given = o->units;
    if (line) {
        read_columns(state, line);
    }
    for (unsigned i = 0; !line && lines[i]; i++) {
        line = read_columns(state, lines[i]) ? NULL : lines[i];
    }
    for (const char *s = line; s; s = after(end)) {
        s += strspn(s, " ");
        end = end_of(s);
        doubt_name(state, s, (size_t)(end - s), out, units);
    }
    return out->len
               ? g_strdup_printf("%s: --units=%s decides", out->str, units->str)
               : NULL;
}

static TraceUnits csv_units(const void *opaque)
{
    const CsvState *state = opaque;

    return state->units;
}

const TraceFormat trace_csv = {
    .name = "csv",
    .help = "columns with names: time_ns|time_us|time_ms|time_s, op|is_read, "
            "offset|sector, size|sectors, device, stream",
    .uses = TRACE_USES_COLUMNS | TRACE_USES_UNITS,
    .state_bytes = sizeof(CsvState),
    .parse = csv_parse,
    .untimed = csv_untimed,
    .headed = csv_headed,
    .begin = csv_begin,
    .since_ns = 315532800ULL * 1000000000, /* 1980 */
    .taken = csv_units,
    .doubt = csv_doubt,
};
