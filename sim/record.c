/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.c - lines of commands, rows of intervals.
 *
 * An interval is counted by when requests complete.  The drive's own counters
 * are read at the first completion after its end.
 */
#include "record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "filelock.h"
#include "run-stats.h"
#include "simtime.h"
#include "ssd-report.h"

typedef struct Interval {
    uint64_t n;
    uint64_t read_bytes, written_bytes;
    TimeSum latency_ns; /* sum */
    uint64_t max_ns;
    uint64_t programs, erases; /* of the array */
    uint64_t copied_units;     /* by GC */
} Interval;

struct Record {
    const Ssd *ssd;
    FILE *csv;
    FileLock *lock; /* of the csv */
    char *path;
    uint64_t n_lines;

    uint64_t interval_ns;
    GArray *intervals; /* Interval */
    Interval now;
    uint64_t end_ns; /* of the interval */
    uint64_t programs_before, erases_before, copied_before;
    bool too_long;
};

static const char *const op_names[SSD_N_OPS] = {
    [SSD_OP_READ] = "read",         [SSD_OP_WRITE] = "write",
    [SSD_OP_TRIM] = "trim",         [SSD_OP_FLUSH] = "flush",
    [SSD_OP_SHUTDOWN] = "shutdown",
};

static const char *const status_names[] = {
    [SSD_STATUS_OK] = "ok",
    [SSD_STATUS_UNRECOVERED_READ] = "unrecovered_read",
    [SSD_STATUS_WRITE_FAULT] = "write_fault",
    [SSD_STATUS_READ_ONLY] = "read_only",
    [SSD_STATUS_ABORTED] = "aborted",
    [SSD_STATUS_POWER_LOSS] = "power_loss",
    [PLAYER_STATUS_RULE] = "rule",
};

const char *record_op_name(SsdOp op)
{
    return op_names[op];
}

const char *record_status_name(unsigned status)
{
    return status_names[status];
}

/* ---- lines --------------------------------------------------------------- */

static bool cannot_write(const Record *r, GError **error)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE, "%s: %s", r->path,
                g_strerror(errno));
    return false;
}

static bool open_csv(Record *r, const char *path, GError **error)
{
    r->path = g_strdup(path);
    r->csv = filelock_open(path, &r->lock, error);
    if (!r->csv) {
        g_prefix_error(error, "--csv ");
        return false;
    }
    fputs("n,op,offset,bytes,arrival_ns,submit_ns,complete_ns,latency_ns,"
          "status,queue_ns"
#define RECORD_COLUMN(name, help) "," #name "_ns"
          SSD_COSTS(RECORD_COLUMN)
#undef RECORD_COLUMN
          "\n",
          r->csv);
    return true;
}

/* Digits of v before *p; moves *p. */
static void put_u64(char **p, uint64_t v)
{
    char digits[20];
    int n = 0;

    do {
        digits[n++] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    *(*p)++ = ',';
    while (n > 0) {
        *(*p)++ = digits[--n];
    }
}

static void put_text(char **p, const char *text)
{
    *(*p)++ = ',';
    p[0] = stpcpy(*p, text);
}

static void write_line(Record *r, const PlayerDone *d)
{
    const SsdCompletion *c = d->completion;
    char line[1024];
    char *p = line;

    put_u64(&p, r->n_lines++);
    put_text(&p, op_names[d->req->op]);
    put_u64(&p, d->req->offset);
    put_u64(&p, d->req->nbytes);
    put_u64(&p, d->arrival_ns);
    put_u64(&p, c->submit_ns - d->start_ns);
    put_u64(&p, c->complete_ns - d->start_ns);
    put_u64(&p, c->complete_ns - d->start_ns - d->arrival_ns);
    put_text(&p, status_names[d->status]);
    put_u64(&p, c->submit_ns - d->start_ns - d->arrival_ns);
#define RECORD_COST(name, help) put_u64(&p, c->cost.name##_ns);
    SSD_COSTS(RECORD_COST)
#undef RECORD_COST
    *p++ = '\n';
    fwrite(line + 1, 1, (size_t)(p - line - 1), r->csv); /* no first comma */
}

/* ---- series -------------------------------------------------------------- */

static void end_interval(Record *r)
{
    SsdCounters c;

    if (r->intervals->len == RECORD_MAX_INTERVALS) {
        r->too_long = true;
        return;
    }
    ssd_get_counters(r->ssd, &c);
    r->now.programs = c.nand_programs - r->programs_before;
    r->now.erases = c.nand_erases - r->erases_before;
    r->programs_before = c.nand_programs;
    r->erases_before = c.nand_erases;
    r->now.copied_units = c.copied_units - r->copied_before;
    r->copied_before = c.copied_units;
    g_array_append_val(r->intervals, r->now);
    r->now = (Interval){0};
    r->end_ns += r->interval_ns;
}

static void count_request(Record *r, const PlayerDone *d)
{
    uint64_t at_ns = d->completion->complete_ns - d->start_ns;
    uint64_t latency_ns = at_ns - d->arrival_ns;

    while (at_ns >= r->end_ns && !r->too_long) {
        end_interval(r);
    }
    r->now.n++;
    r->now.read_bytes += d->req->op == SSD_OP_READ ? d->req->nbytes : 0;
    r->now.written_bytes += d->req->op == SSD_OP_WRITE ? d->req->nbytes : 0;
    r->now.latency_ns += latency_ns;
    r->now.max_ns = MAX(r->now.max_ns, latency_ns);
}

/* ---- the record ---------------------------------------------------------- */

Record *record_open(const char *csv_path, uint64_t interval_ns, const Ssd *ssd,
                    GError **error)
{
    Record *r = g_new0(Record, 1);

    r->ssd = ssd;
    r->interval_ns = r->end_ns = interval_ns;
    r->intervals = g_array_new(FALSE, FALSE, sizeof(Interval));
    if (csv_path && !open_csv(r, csv_path, error)) {
        record_free(r);
        return NULL;
    }
    return r;
}

void record_done(void *opaque, const PlayerDone *d)
{
    Record *r = opaque;

    if (r->csv) {
        write_line(r, d);
    }
    if (r->interval_ns) {
        count_request(r, d);
    }
}

bool record_end(Record *r, GError **error)
{
    if (r->interval_ns && r->now.n) {
        end_interval(r);
    }
    if (r->too_long) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "--series: more than %d intervals; take longer ones",
                    RECORD_MAX_INTERVALS);
        return false;
    }
    if (r->csv) {
        FILE *f = g_steal_pointer(&r->csv);
        bool failed = ferror(f);

        if (fclose(f) != 0 || failed) {
            return cannot_write(r, error);
        }
    }
    return true;
}

void record_free(Record *r)
{
    if (r) {
        if (r->csv) {
            fclose(r->csv);
        }
        filelock_release(r->lock);
        g_array_free(r->intervals, TRUE);
        g_free(r->path);
        g_free(r);
    }
}

/* ---- telling ------------------------------------------------------------- */

static const Interval *interval(const Record *r, unsigned i)
{
    return &g_array_index(r->intervals, Interval, i);
}

static uint64_t mean_ns(const Interval *v)
{
    return v->n ? (uint64_t)(v->latency_ns / v->n) : 0;
}

static bool has_series(const void *ctx)
{
    const Record *r = ctx;

    return r->interval_ns != 0;
}

static unsigned n_intervals(const void *ctx)
{
    const Record *r = ctx;

    return r->intervals->len;
}

static const StatWhen when_series = {"with `--series`", has_series};

static const StatSet sets[] = {
    {"interval", "each interval of modelled time, from the start of the run", 0,
     NULL, n_intervals},
};

#define SERIES_GET(type, id, path, unit, when, value, help)                    \
    STAT_FUNCTION(Record, type, id, value)

SERIES_STATS(SERIES_GET)

static const StatRow rows[] = {SERIES_STATS(RUN_STATS_ROW)};

const StatTable series_stats = {rows, G_N_ELEMENTS(rows), sets,
                                G_N_ELEMENTS(sets)};

void record_json(const Record *r, JsonWriter *w)
{
    stats_write(&series_stats, r, w);
}

void record_text(const Record *r, GString *out)
{
    if (!r->interval_ns) {
        return;
    }
    g_string_append_printf(out, "%12s %12s %12s %12s %12s %12s\n", "to s",
                           "requests/s", "MB/s read", "MB/s written",
                           "mean us", "max us");
    for (unsigned i = 0; i < r->intervals->len; i++) {
        const Interval *v = interval(r, i);
        double s = (double)r->interval_ns / NS_PER_S;

        g_string_append_printf(
            out, "%12.3f %12.1f %12.3f %12.3f %12.1f %12.1f\n", s * (i + 1),
            (double)v->n / s, (double)v->read_bytes / s / 1e6,
            (double)v->written_bytes / s / 1e6,
            v->n ? (double)v->latency_ns / (double)v->n / NS_PER_US : 0,
            (double)v->max_ns / NS_PER_US);
    }
}
