/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state.c - walk over rows, save or load them.
 *
 * A table goes as runs of bytes that are not all zero: offset, length, bytes;
 * so a table of which little is used takes little room, in the file and, loaded
 * into a lazy one (lazymem.h), in memory.
 */
#include "state.h"

#include <stdarg.h>
#include <string.h>

/* Zeroes are looked for in pieces of this size; runs end at the larger one. */
#define PIECE 4096
#define MOST_RUN 65536

#define FIRST_HASH 0x76737364

G_DEFINE_QUARK(vssd-state-error-quark, state_error)

const char *state_gap(const StateStruct *d)
{
    size_t at = 0;

    for (size_t i = 0; i < d->n_rows; i++) {
        const StateRow *r = &d->row[i];

        if ((at + r->align - 1) / r->align * r->align != r->offset) {
            return r->name;
        }
        at = r->offset + r->bytes;
    }
    return d->bytes - at < sizeof(uint64_t) ? NULL : "end";
}

/* ---- the stream ------------------------------------------------------------- */

void state_begin(State *s, FILE *file, bool loading)
{
    *s = (State){.file = file, .loading = loading, .hash = FIRST_HASH};
}

bool state_fail(State *s, const char *format, ...)
{
    va_list ap;

    if (!s->error) {
        va_start(ap, format);
        s->error = g_strdup_vprintf(format, ap);
        va_end(ap);
    }
    return false;
}

/* A change of any one word changes the sum: each step can be undone. */
static uint64_t add_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
    return hash ^ hash >> 29;
}

/* n is a multiple of a word. */
static uint64_t add_words(uint64_t hash, const void *p, size_t n)
{
    for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
        uint64_t word;

        memcpy(&word, (const uint8_t *)p + i, sizeof(word));
        hash = add_word(hash, word);
    }
    return hash;
}

uint64_t state_sum(const void *p, size_t n)
{
    return add_words(FIRST_HASH, p, n);
}

static bool raw(State *s, void *p, size_t n)
{
    if (s->error) {
        return false;
    }
    if (n == 0) {
        return true;
    }
    if (s->loading) {
        return fread(p, n, 1, s->file) == 1 || state_fail(s, "it is cut short");
    }
    return fwrite(p, n, 1, s->file) == 1 || state_fail(s, "it cannot be written");
}

bool state_bytes(State *s, void *p, size_t n)
{
    size_t words = n / sizeof(uint64_t) * sizeof(uint64_t);
    uint8_t rest[sizeof(uint64_t)] = {0};

    if (!raw(s, p, words)) {
        return false;
    }
    s->hash = add_words(s->hash, p, words);
    if (n > words) {
        memcpy(rest, (uint8_t *)p + words, n - words);
        if (!raw(s, rest, sizeof(rest))) {
            return false;
        }
        memcpy((uint8_t *)p + words, rest, n - words);
        s->hash = add_words(s->hash, rest, sizeof(rest));
    }
    return true;
}

bool state_u64(State *s, uint64_t *v)
{
    return state_bytes(s, v, sizeof(*v));
}

/* The stream must say the same. */
static bool same(State *s, uint64_t v, const char *of)
{
    uint64_t found = v;

    return state_u64(s, &found) &&
           (found == v ||
            state_fail(s, "its %s does not fit this drive, or this version of "
                       "vssd", of));
}

static bool same_name(State *s, const char *name)
{
    char found[64] = {0};

    g_assert(strlen(name) < sizeof(found));
    memcpy(found, name, strlen(name));
    return state_bytes(s, found, sizeof(found)) &&
           (memcmp(found, name, strlen(name) + 1) == 0 ||
            state_fail(s, "it is damaged, or of another version of vssd (at "
                       "%s)", name));
}

bool state_text(State *s, char **text, size_t most)
{
    uint64_t n = s->loading ? 0 : strlen(*text);

    if (!state_u64(s, &n)) {
        return false;
    }
    if (n > most) {
        return state_fail(s, "it is damaged");
    }
    if (s->loading) {
        *text = g_malloc0(n + 1);
    }
    return state_bytes(s, *text, n);
}

bool state_end(State *s, GError **error)
{
    uint64_t sum = s->hash;

    if (!s->error && raw(s, &sum, sizeof(sum)) && sum != s->hash) {
        state_fail(s, "it is damaged: the checksum is wrong");
    }
    if (!s->error && s->loading && fgetc(s->file) != EOF) {
        state_fail(s, "it is damaged: there is more after its end");
    }
    if (s->error) {
        g_set_error_literal(error, STATE_ERROR, 0, s->error);
        g_clear_pointer(&s->error, g_free);
        return false;
    }
    return true;
}

/* ---- tables ------------------------------------------------------------------ */

static bool is_zero(const uint8_t *p, size_t n)
{
    return n == 0 || (*p == 0 && memcmp(p, p + 1, n - 1) == 0);
}

/* Where the next run begins, and its length; n: there is none. */
static size_t find_run(const uint8_t *p, size_t from, size_t n, size_t *length)
{
    size_t end;

    while (from < n && is_zero(p + from, MIN(PIECE, n - from))) {
        from += PIECE;
    }
    if (from >= n) {
        return n;
    }
    end = from;
    while (end < n && end - from < MOST_RUN &&
           !is_zero(p + end, MIN(PIECE, n - end))) {
        end += PIECE;
    }
    *length = MIN(end, n) - from;
    return from;
}

static void save_runs(State *s, uint8_t *p, size_t n)
{
    uint64_t run[2] = {UINT64_MAX, 0};
    size_t length = 0;

    for (size_t at = find_run(p, 0, n, &length); at < n;
         at = find_run(p, at + length, n, &length)) {
        run[0] = at;
        run[1] = length;
        state_bytes(s, run, sizeof(run));
        state_bytes(s, p + at, length);
    }
    run[0] = UINT64_MAX;
    run[1] = 0;
    state_bytes(s, run, sizeof(run));
}

/* Pages that are zero already stay untouched. */
static void clear(uint8_t *p, size_t from, size_t to)
{
    for (; from < to; from += MIN(PIECE, to - from)) {
        size_t n = MIN(PIECE, to - from);

        if (!is_zero(p + from, n)) {
            memset(p + from, 0, n);
        }
    }
}

/* p may be NULL: then the bytes are only read. */
static bool load_runs(State *s, uint8_t *p, size_t n)
{
    uint8_t nowhere[MOST_RUN];
    size_t at = 0;

    for (;;) {
        uint64_t run[2];

        if (!state_bytes(s, run, sizeof(run))) {
            return false;
        }
        if (run[0] == UINT64_MAX) {
            break;
        }
        if (run[0] < at || run[0] > n || run[1] == 0 || run[1] > MOST_RUN ||
            run[1] > n - run[0]) {
            return state_fail(s, "it is damaged");
        }
        if (p) {
            clear(p, at, run[0]);
        }
        if (!state_bytes(s, p ? p + run[0] : nowhere, run[1])) {
            return false;
        }
        at = run[0] + run[1];
    }
    if (p) {
        clear(p, at, n);
    }
    return true;
}

/* ---- rows -------------------------------------------------------------------- */

bool state_values(State *s, const StateStruct *d, void *base)
{
    for (size_t i = 0; i < d->n_rows; i++) {
        const StateRow *r = &d->row[i];

        if (r->kind == STATE_VALUE &&
            (!same_name(s, r->name) || !same(s, r->bytes, r->name) ||
             !state_bytes(s, (char *)base + r->offset, r->bytes))) {
            return false;
        }
    }
    return true;
}

static bool one_table(State *s, const StateRow *r, void **member, uint64_t count)
{
    bool pool = r->kind == STATE_POOL;
    uint64_t saved = *member || pool ? count : 0;

    if (!same_name(s, r->name) || !same(s, r->elem, r->name) ||
        !state_u64(s, &saved)) {
        return false;
    }
    if (!s->loading) {
        if (saved > 0) {
            save_runs(s, *member, saved * r->elem);
        }
        return !s->error;
    }
    if (pool && (count > STATE_POOL_MOST || saved != count)) {
        return state_fail(s, "it is damaged (%s)", r->name);
    }
    if (pool) {
        g_free(*member);
        *member = count ? g_malloc0_n(count, r->elem) : NULL;
    }
    if (*member ? saved != count : saved > UINT64_MAX / 2 / r->elem) {
        return state_fail(s, "its %s does not fit this drive", r->name);
    }
    return saved == 0 || load_runs(s, *member, saved * r->elem);
}

bool state_tables(State *s, const StateStruct *d, void *base,
                  const uint64_t *counts)
{
    for (size_t i = 0; i < d->n_rows; i++) {
        const StateRow *r = &d->row[i];
        void *member;

        if (r->kind != STATE_TABLE && r->kind != STATE_POOL) {
            continue;
        }
        memcpy(&member, (char *)base + r->offset, sizeof(member));
        if (!one_table(s, r, &member, counts[r->count])) {
            memcpy((char *)base + r->offset, &member, sizeof(member));
            return false;
        }
        memcpy((char *)base + r->offset, &member, sizeof(member));
    }
    return true;
}
