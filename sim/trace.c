/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace.c - read a trace file as a source of requests.
 *
 * Knows files, lines and arrival times; the formats know the fields.
 */
#include "trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "simtime.h"

#define LINE_MAX_BYTES    4096
#define READ_BUFFER_BYTES (256 * 1024)

const TraceFormat *const trace_formats[] = {&trace_msr, NULL};

struct Trace {
    const TraceFormat *format;
    FILE *f;
    char *path;
    char *buffer; /* of f */
    uint64_t line_number;
    uint64_t first_ticks;
    uint64_t last_ns;
    uint64_t n_disordered;
    bool begun;
    char line[LINE_MAX_BYTES];
};

const TraceFormat *trace_format_find(const char *name)
{
    for (unsigned i = 0; trace_formats[i]; i++) {
        if (strcmp(trace_formats[i]->name, name) == 0) {
            return trace_formats[i];
        }
    }
    return NULL;
}

Trace *trace_open(const char *path, const TraceFormat *format, GError **error)
{
    FILE *f = fopen(path, "r");
    Trace *t;

    if (!f) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE, "%s: %s", path,
                    g_strerror(errno));
        return NULL;
    }
    t = g_new0(Trace, 1);
    t->f = f;
    t->format = format;
    t->path = g_strdup(path);
    t->buffer = g_malloc(READ_BUFFER_BYTES);
    setvbuf(f, t->buffer, _IOFBF, READ_BUFFER_BYTES);
    return t;
}

void trace_close(Trace *t)
{
    if (t) {
        fclose(t->f);
        g_free(t->buffer);
        g_free(t->path);
        g_free(t);
    }
}

uint64_t trace_n_disordered(const Trace *t)
{
    return t->n_disordered;
}

static RequestNext damaged(const Trace *t, const char *reason, GError **error)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                "%s:%" G_GUINT64_FORMAT ": %s (%s: %s)", t->path,
                t->line_number, reason, t->format->name, t->format->help);
    return REQUEST_ERROR;
}

/* Take the line end off; false: there was none where one had to be. */
static bool chomp(Trace *t)
{
    size_t len = strlen(t->line);

    if (len == 0 || t->line[len - 1] != '\n') {
        return feof(t->f) && len > 0;
    }
    t->line[--len] = '\0';
    if (len > 0 && t->line[len - 1] == '\r') {
        t->line[len - 1] = '\0';
    }
    return true;
}

static RequestNext read_line(Trace *t, GError **error)
{
    do {
        if (!fgets(t->line, sizeof(t->line), t->f)) {
            if (ferror(t->f)) {
                g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE, "%s: %s",
                            t->path, g_strerror(errno));
                return REQUEST_ERROR;
            }
            return REQUEST_END;
        }
        t->line_number++;
        if (!chomp(t)) {
            return damaged(t, "the line is too long, or not text", error);
        }
    } while (t->line[0] == '\0' || t->line[0] == '#');
    return REQUEST_OK;
}

/* false: the arrival lies beyond what modelled time can hold. */
static bool arrival_ns(Trace *t, uint64_t ticks, uint64_t *at_ns)
{
    if (!t->begun) {
        t->begun = true;
        t->first_ticks = ticks;
    }
    if (ticks < t->first_ticks) {
        ticks = t->first_ticks;
    }
    if (ticks - t->first_ticks > SIM_MAX_NS / 2 / t->format->tick_ns) {
        return false;
    }
    *at_ns = (ticks - t->first_ticks) * t->format->tick_ns;
    return true;
}

static RequestNext trace_next(void *opaque, Request *req, GError **error)
{
    Trace *t = opaque;
    RequestNext r = read_line(t, error);
    TraceLine l = {0};
    const char *reason;

    if (r != REQUEST_OK) {
        return r;
    }
    reason = t->format->parse(t->line, &l);
    if (reason) {
        return damaged(t, reason, error);
    }
    if (!arrival_ns(t, l.ticks, &req->at_ns)) {
        return damaged(t, "arrives more than 100 days after the first line",
                       error);
    }
    if (l.ticks < t->first_ticks || req->at_ns < t->last_ns) {
        t->n_disordered++;
        req->at_ns = t->last_ns;
    }
    t->last_ns = req->at_ns;
    req->op = l.op;
    req->offset = l.offset;
    req->nbytes = l.nbytes;
    return REQUEST_OK;
}

static char *trace_where(void *opaque)
{
    Trace *t = opaque;

    return g_strdup_printf("%s:%" G_GUINT64_FORMAT, t->path, t->line_number);
}

RequestSource trace_source(Trace *t)
{
    return (RequestSource){
        .next = trace_next,
        .where = trace_where,
        .opaque = t,
    };
}
