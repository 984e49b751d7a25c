/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-fio.c - fio's I/O logs, versions 2 and 3 (fio manual, "Trace file
 * format").
 *
 * Version 2 has no times but "wait" lines; requests between two of them arrive
 * at once, and a log without any has no times.  Version 3 begins each line with
 * microseconds.
 */
#include <string.h>

#include "fields.h"
#include "simtime.h"
#include "trace.h"

#define HEADER "fio version "

#define MOST_AT_ONCE 64

typedef struct FioState {
    unsigned version;   /* 2 or 3; 0: the header has not been read */
    uint64_t waited_ns; /* version 2: sum of the waits so far */
    char name[256];     /* of the last request's file, if it fits */
    size_t name_len;
    uint64_t number; /* of that file */
} FioState;

static bool take_word(const char **s, const char **word, size_t *len)
{
    *word = *s;
    *s = field_word_end(*s);
    *len = (size_t)(*s - *word);
    return *len > 0;
}

static bool word_is(const char *word, size_t len, const char *what)
{
    return strlen(what) == len && memcmp(word, what, len) == 0;
}

static const char *header(FioState *state, const char *line)
{
    if (strcmp(line, HEADER "2 iolog") == 0) {
        state->version = 2;
    } else if (strcmp(line, HEADER "3 iolog") == 0) {
        state->version = 3;
    } else {
        return "the first line is not \"fio version 2 iolog\" or \"... 3\"";
    }
    return trace_skip;
}

static bool is_data(const char *word, size_t len, SsdOp *op)
{
    if (len > 1 && op_from_text(word, len, op)) {
        return true;
    }
    *op = SSD_OP_FLUSH;
    return word_is(word, len, "datasync") || word_is(word, len, "syncfs");
}

/* Files are told apart by a hash of their names.  Most requests are of the same
 * file as the one before. */
static uint64_t same_file_number(FioState *state, const char *name, size_t len)
{
    if (len != state->name_len || memcmp(name, state->name, len) != 0) {
        if (len > sizeof(state->name)) {
            return field_hash(name, len);
        }
        memcpy(state->name, name, len);
        state->name_len = len;
        state->number = field_hash(name, len);
    }
    return state->number;
}

/* A line that holds no request; s is behind its action. */
static const char *no_data(FioState *state, const char *action, size_t len,
                           const char *s, TraceRecord *out)
{
    uint64_t wait_ns;

    if (word_is(action, len, "add") || word_is(action, len, "open") ||
        word_is(action, len, "close")) {
        return trace_skip;
    }
    if (word_is(action, len, "sync_file_range")) {
        out->left = TRACE_LEFT_COMMANDS; /* of the page cache alone */
        return trace_left_out;
    }
    if (!word_is(action, len, "wait")) {
        return "the action is not read, write, trim, sync, datasync, syncfs, "
               "sync_file_range, wait, add, open or close";
    }
    if (!field_space(&s) || !field_time(&s, NS_PER_US, &wait_ns) ||
        wait_ns > UINT64_MAX / 2 - state->waited_ns) {
        return "wait without a number of microseconds";
    }
    state->waited_ns += wait_ns;
    return trace_skip;
}

static const char *fio_parse(void *opaque, const char *line, TraceRecord *out)
{
    FioState *state = opaque;
    const char *s = line;
    const char *name, *action;
    size_t len, action_len;

    if (!state->version) {
        return header(state, line);
    }
    if (state->version == 3 &&
        (!field_time(&s, NS_PER_US, &out->at_ns) || !field_space(&s))) {
        return "the line does not begin with microseconds";
    }
    if (!take_word(&s, &name, &len) || !field_space(&s) ||
        !take_word(&s, &action, &action_len)) {
        return "not: file action";
    }
    if (!is_data(action, action_len, &out->op)) {
        return no_data(state, action, action_len, s, out);
    }
    if (state->version == 2) {
        out->at_ns = state->waited_ns;
    }
    out->device = same_file_number(state, name, len);
    out->name = name;
    out->name_len = len;
    if (out->op == SSD_OP_FLUSH) {
        return NULL; /* the rest is ignored */
    }
    if (!field_space(&s) || !field_u64(&s, &out->offset) || !field_space(&s) ||
        !field_u64(&s, &out->nbytes) || !field_char(&s, '\0')) {
        return "not: file action offset length";
    }
    return NULL;
}

/* More requests than anybody means to come at once, and no wait between any? */
static bool fio_untimed(const TraceOptions *o, const char *head)
{
    g_auto(GStrv) lines = g_strsplit(head, "\n", -1);
    unsigned n_requests = 0;

    if (!g_str_has_prefix(head, HEADER "2") || strstr(head, " wait ")) {
        return false;
    }
    for (char **line = lines; *line; line++) {
        n_requests += strstr(*line, " read ") || strstr(*line, " write ") ||
                      strstr(*line, " trim ");
    }
    return n_requests > MOST_AT_ONCE;
}

static bool fio_detect(const char *head, size_t n)
{
    return g_str_has_prefix(head, HEADER);
}

const TraceFormat trace_fio = {
    .name = "fio",
    .help = "fio's iolog, version 2 or 3",
    .state_bytes = sizeof(FioState),
    .parse = fio_parse,
    .detect = fio_detect,
    .units = {NS_PER_US, 1, 1},
    .untimed = fio_untimed,
};
