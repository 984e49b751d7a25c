/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-biosnoop.c - biosnoop's columns, of bcc and of libbpf-tools.
 *
 * A header names the columns: "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)",
 * and others behind.  A line is printed, and has its time, when a request ends;
 * so it arrives then, and not LAT(ms) earlier: the times stay in order.
 * biosnoop of bpftrace has neither sector nor size, and is refused.
 */
#include <string.h>

#include "blk-kind.h"
#include "fields.h"
#include "simtime.h"

#define MAX_WORDS 32

typedef struct Word {
    const char *text;
    size_t n;
} Word;

typedef struct BiosnoopState {
    bool headed;
    uint64_t unit_ns;  /* of the first column */
    unsigned n_behind; /* columns behind T, which are single words */
    unsigned sector;   /* of those */
    unsigned bytes;
} BiosnoopState;

static bool word_is(const Word *w, const char *what)
{
    return strlen(what) == w->n && memcmp(w->text, what, w->n) == 0;
}

/* The words of a line; as many as fit. */
static unsigned split(const char *line, Word words[MAX_WORDS])
{
    unsigned n = 0;

    for (const char *s = field_skip_space(line); *s && n < MAX_WORDS;
         s = field_skip_space(s)) {
        const char *end = field_word_end(s);

        words[n++] = (Word){s, (size_t)(end - s)};
        s = end;
    }
    return n;
}

static bool all_digits(const Word *w)
{
    for (size_t i = 0; i < w->n; i++) {
        if (field_digit(w->text + i) > 9) {
            return false;
        }
    }
    return w->n > 0;
}

/* ---- the header ---------------------------------------------------------- */

/* "TIME(s)", "TIME(ms)" and a process: of a header. */
static bool is_header(const char *line)
{
    return strncmp(line, "TIME(", strlen("TIME(")) == 0 &&
           strstr(line, "COMM") && strstr(line, "PID");
}

static unsigned find_word(const Word *words, unsigned n, const char *name)
{
    unsigned i = 0;

    while (i < n && !word_is(&words[i], name)) {
        i++;
    }
    return i;
}

static const char *take_header(BiosnoopState *state, const char *line)
{
    Word words[MAX_WORDS];
    unsigned n = split(line, words);
    unsigned kind = find_word(words, n, "T");
    unsigned sector = find_word(words, n, "SECTOR");
    unsigned bytes = find_word(words, n, "BYTES");

    if (sector == n || bytes == n) {
        return "no columns SECTOR and BYTES, as in bpftrace's biosnoop: where "
               "requests went is not known; use bcc's biosnoop, or ftrace";
    }
    if (kind == 0 || kind == n || sector < kind || bytes < kind ||
        !word_is(&words[kind - 1], "DISK") ||
        (!word_is(&words[0], "TIME(s)") && !word_is(&words[0], "TIME(ms)"))) {
        return "not: TIME(s) COMM PID DISK T SECTOR BYTES";
    }
    state->headed = true;
    state->unit_ns = word_is(&words[0], "TIME(s)") ? NS_PER_S : NS_PER_MS;
    state->n_behind = n - kind - 1;
    state->sector = sector - kind - 1;
    state->bytes = bytes - kind - 1;
    return trace_skip;
}

/* ---- requests ------------------------------------------------------------ */

static bool word_u64(const Word *w, uint64_t *out)
{
    const char *s = w->text;

    return field_u64(&s, out) && s == w->text + w->n;
}

/* Words of COMM may have spaces between, and DISK may be empty: columns count
 * from the end. */
static const char *take_request(const BiosnoopState *state, const char *line,
                                TraceRecord *out)
{
    Word words[MAX_WORDS];
    unsigned n = split(line, words);
    unsigned kind; /* number of the word that is T */
    const char *s;
    const char *letters;
    uint64_t sector, nbytes;
    BlkRequest is;

    if (n < state->n_behind + 4) {
        return "fewer fields than columns";
    }
    kind = n - state->n_behind - 1;
    s = words[0].text;
    if (!field_time(&s, state->unit_ns, &out->at_ns) ||
        s != words[0].text + words[0].n) {
        return "field 1 is not a time";
    }
    if (!word_u64(&words[kind + 1 + state->sector], &sector)) {
        return "SECTOR is not a number";
    }
    if (!word_u64(&words[kind + 1 + state->bytes], &nbytes)) {
        return "BYTES is not a number";
    }
    if (all_digits(&words[kind - 1])) { /* the PID: no disk */
        return blk_leave(out, TRACE_LEFT_COMMANDS);
    }
    out->device = field_hash(words[kind - 1].text, words[kind - 1].n);
    out->name = words[kind - 1].text;
    out->name_len = words[kind - 1].n;
    letters = words[kind].text;
    is = blk_kind(&letters);
    return blk_to_record(&is, sector, nbytes, out);
}

static const char *biosnoop_parse(void *opaque, const char *line,
                                  TraceRecord *out)
{
    BiosnoopState *state = opaque;
    const char *s = field_skip_space(line);

    if (is_header(s)) {
        return take_header(state, s);
    }
    if (strncmp(s, "Tracing ", strlen("Tracing ")) == 0 ||
        strncmp(s, "Attaching ", strlen("Attaching ")) == 0) {
        return trace_skip;
    }
    return state->headed ? take_request(state, line, out)
                         : "no header TIME(s) COMM PID DISK T SECTOR BYTES";
}

/* A header among the first lines. */
static bool biosnoop_detect(const char *head, size_t n)
{
    const char *s = head;

    for (int i = 0; s && i < 4; i++) {
        g_autofree char *line = g_strndup(s, strcspn(s, "\n"));

        if (is_header(line)) {
            return strstr(line, "LAT(ms)") != NULL;
        }
        s = strchr(s, '\n');
        s = s ? s + 1 : NULL;
    }
    return false;
}

static TraceUnits biosnoop_units(const void *opaque)
{
    const BiosnoopState *state = opaque;

    return (TraceUnits){state->unit_ns, TRACE_SECTOR_BYTES, 1};
}

const TraceFormat trace_biosnoop = {
    .name = "biosnoop",
    .help = "bcc's biosnoop: TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)",
    .state_bytes = sizeof(BiosnoopState),
    .parse = biosnoop_parse,
    .detect = biosnoop_detect,
    .taken = biosnoop_units,
};
