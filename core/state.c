/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state.c - iterate over rows, save or load them.
 *
 * A table goes as runs of bytes that are not all zero: offset, length, bytes;
 * so a table of which little is used takes little room, in the file and, loaded
 * into a lazy one (lazymem.h), in memory.
 */
#include "state.h"
#include "numtable.h"
#include "invariant.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>

#include "lazymem.h"
#include "simtime.h"

/* Runs of zeroes are found in pieces of this size; runs end at the larger one.
 */
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

/* ---- the stream ---------------------------------------------------------- */

void state_begin(State *s, FILE *file, bool loading)
{
    invariant(file);
    *s = (State){
        .file = file,
        .loading = loading,
        .version = STATE_VERSION,
        .newest = STATE_VERSION,
        .hash = FIRST_HASH,
    };
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
    return fwrite(p, n, 1, s->file) == 1 ||
           state_fail(s, "it cannot be written: %s", g_strerror(errno));
}

bool state_bytes(State *s, void *p, size_t n)
{
    size_t words = n / sizeof(uint64_t) * sizeof(uint64_t);
    uint8_t rest[sizeof(uint64_t)] = {0};

    invariant(n == 0 || p);
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

bool state_version(State *s)
{
    uint64_t found = s->version;

    if (!state_u64(s, &found)) {
        return false;
    }
    if (s->loading && (found == 0 || found > s->newest)) {
        return state_fail(s, "it is of version %" PRIu64
                          " of the format, this vssd knows versions up to %"
                          PRIu64, found, s->newest);
    }
    s->version = found;
    return true;
}

/* May something of this size be read into own_bytes? */
static bool size_fits(const State *s, uint64_t bytes, uint64_t own_bytes,
                      unsigned grown)
{
    invariant(own_bytes > 0);
    return bytes == own_bytes || (bytes < own_bytes && s->version < grown);
}

bool state_record(State *s, void *p, size_t n, unsigned grown)
{
    uint64_t bytes = n;

    invariant(n > 0);
    if (!state_u64(s, &bytes)) {
        return false;
    }
    if (!size_fits(s, bytes, n, grown)) {
        return state_fail(s, "it is damaged, or of another version of vssd");
    }
    memset((char *)p + bytes, 0, n - bytes);
    return state_bytes(s, p, bytes);
}

bool state_text(State *s, char **text, size_t most)
{
    uint64_t n = s->loading ? 0 : strlen(*text);

    invariant(s->loading || *text);
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
    if (!s->error && s->loading && !s->more && fgetc(s->file) != EOF) {
        state_fail(s, "it is damaged: there is more after its end");
    }
    if (s->error) {
        g_set_error_literal(error, STATE_ERROR, 0, s->error);
        g_clear_pointer(&s->error, g_free);
        return false;
    }
    return true;
}

/* ---- tables -------------------------------------------------------------- */

static bool is_zero(const uint8_t *p, size_t n)
{
    return n == 0 || (*p == 0 && memcmp(p, p + 1, n - 1) == 0);
}

/* Where the next run begins, and its length; n: there is none. */
static size_t find_run(LazyWalk *w, const uint8_t *p, size_t from, size_t n,
                       size_t *length)
{
    size_t end;

    invariant(from <= n);
    while (from < n && is_zero(p + from, MIN(PIECE, n - from))) {
        size_t next = lazy_walk_next(w, from + PIECE);

        from = next < n ? next / PIECE * PIECE : n; /* where runs begin */
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
    LazyWalk walk;

    invariant(!s->loading && (n == 0 || p));
    lazy_walk_begin(&walk, p, n);
    for (size_t at = find_run(&walk, p, 0, n, &length); at < n;
         at = find_run(&walk, p, at + length, n, &length)) {
        run[0] = at;
        run[1] = length;
        state_bytes(s, run, sizeof(run));
        state_bytes(s, p + at, length);
    }
    lazy_walk_end(&walk);
    run[0] = UINT64_MAX;
    run[1] = 0;
    state_bytes(s, run, sizeof(run));
}

/* Pages that are zero already stay untouched. */
static void clear(LazyWalk *w, uint8_t *p, size_t from, size_t to)
{
    for (from = lazy_walk_until(w, from, to); from < to;
         from = lazy_walk_until(w, from + MIN(PIECE, to - from), to)) {
        size_t n = MIN(PIECE, to - from);

        if (!is_zero(p + from, n)) {
            memset(p + from, 0, n);
        }
    }
}

static bool load_each_run(State *s, LazyWalk *walk, uint8_t *p, size_t n)
{
    uint8_t nowhere[MOST_RUN];
    size_t at = 0;

    invariant(s->loading);
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
            clear(walk, p, at, run[0]);
        }
        if (!state_bytes(s, p ? p + run[0] : nowhere, run[1])) {
            return false;
        }
        at = run[0] + run[1];
    }
    if (p) {
        clear(walk, p, at, n);
    }
    return true;
}

/* p may be NULL: then the bytes are only read. */
static bool load_runs(State *s, uint8_t *p, size_t n)
{
    LazyWalk walk;
    bool ok;

    lazy_walk_begin(&walk, p, n);
    ok = load_each_run(s, &walk, p, n);
    lazy_walk_end(&walk);
    return ok;
}

/* ---- rows ---------------------------------------------------------------- */

#define NAME_BYTES 64
#define MOST_ROWS 4096
#define MOST_SKIPPED (1U << 24)

static bool is_table(const StateRow *r)
{
    return r->kind == STATE_TABLE || r->kind == STATE_POOL ||
           r->kind == STATE_NUMBERS;
}

static bool is_of(const StateRow *r, bool tables)
{
    return tables ? is_table(r) : r->kind == STATE_VALUE;
}

/* Bytes of the member at `place`, or of its elements. */
static uint64_t own_size(const StateRow *r, const void *place)
{
    invariant(r->kind != STATE_KEPT);
    return r->kind == STATE_NUMBERS ? numtable_bytes(place)
           : is_table(r)            ? r->elem
                                    : r->bytes;
}

static bool save_name(State *s, const StateRow *r, uint64_t bytes)
{
    char name[NAME_BYTES] = {0};

    invariant(strlen(r->name) < sizeof(name));
    memcpy(name, r->name, strlen(r->name));
    return state_bytes(s, name, sizeof(name)) && state_u64(s, &bytes);
}

/* The row of that name, from the place on where it is expected; -1: none. */
static ssize_t find_row(const StateStruct *d, bool tables, size_t from,
                        const char *name)
{
    for (size_t k = 0; k < d->n_rows; k++) {
        size_t i = (from + k) % d->n_rows;

        if (is_of(&d->row[i], tables) && strcmp(d->row[i].name, name) == 0) {
            return (ssize_t)i;
        }
    }
    return -1;
}

/* Members that this build no longer has. */
static bool skip(State *s, bool table, uint64_t bytes)
{
    uint8_t nowhere[256];
    uint64_t n = 0;

    if (table) {
        return state_u64(s, &n) &&
               ((bytes > 0 && n <= UINT64_MAX / 2 / bytes) ||
                state_fail(s, "it is damaged")) &&
               (n == 0 || load_runs(s, NULL, n * bytes));
    }
    if (bytes > MOST_SKIPPED) {
        return state_fail(s, "it is damaged");
    }
    for (; bytes > 0; bytes -= MIN(bytes, sizeof(nowhere))) {
        if (!state_bytes(s, nowhere, MIN(bytes, sizeof(nowhere)))) {
            return false;
        }
    }
    return true;
}

/* Was the member, or were its elements, of another form? */
static bool is_old(const State *s, const StateRow *r)
{
    return (r->was || r->widened) && s->version < r->grown;
}

/* Of a number of so many bytes, half as many. */
static uint64_t narrow_size(uint64_t bytes)
{
    invariant(bytes == sizeof(int64_t) || bytes == sizeof(TimeSum));
    return bytes / 2;
}

/* Of the member, or of an element, in its old form. */
static uint64_t old_size(const StateRow *r, uint64_t own_bytes)
{
    return r->was ? r->was->bytes : narrow_size(own_bytes);
}

/* A number had 32 bits. */
static void widen_number(uint8_t *to, const uint8_t *from)
{
    int32_t was;
    int64_t number;

    memcpy(&was, from, sizeof(was));
    number = was;
    memcpy(to, &number, sizeof(number));
}

/* Sums had 64 bits; these are so many bytes of them. */
static void widen_sums(uint8_t *to, const uint8_t *from, size_t bytes)
{
    invariant(bytes % sizeof(uint64_t) == 0);
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        uint64_t was;
        TimeSum sum;

        memcpy(&was, from + at, sizeof(was));
        sum = was;
        memcpy(to + 2 * at, &sum, sizeof(sum));
    }
}

static void widen(uint8_t *to, const uint8_t *from, size_t bytes)
{
    if (bytes == sizeof(int32_t)) {
        widen_number(to, from);
    } else {
        widen_sums(to, from, bytes);
    }
}

static void move_members(const StateWas *was, uint8_t *to, const uint8_t *from)
{
    for (size_t i = 0; i < was->n_moves; i++) {
        const StateMove *m = &was->move[i];

        if (m->bytes == m->to_bytes) {
            memcpy(to + m->to, from + m->from, m->bytes);
        } else {
            invariant(m->to_bytes == 2 * m->bytes);
            widen(to + m->to, from + m->from, m->bytes);
        }
    }
}

/* An element that was smaller: what it did not have is 0. */
static void grow(const StateRow *r, uint8_t *to, const uint8_t *from,
                 uint64_t own, uint64_t bytes)
{
    memset(to, 0, own);
    if (r->widened) {
        widen(to, from, bytes);
    } else if (r->was) {
        move_members(r->was, to, from);
    } else {
        memcpy(to, from, bytes);
    }
}

static bool load_small(State *s, const StateRow *r, uint8_t *to, uint64_t n,
                       uint64_t bytes)
{
    uint8_t *all = lazy_alloc(n, bytes);
    bool ok = load_runs(s, all, n * bytes);

    for (uint64_t i = 0; ok && i < n; i++) {
        grow(r, to + i * r->elem, all + i * bytes, r->elem, bytes);
    }
    lazy_free(all, n, bytes);
    return ok;
}

static bool save_table(State *s, const StateRow *r, void *member,
                       uint64_t bytes, uint64_t count)
{
    uint64_t n = member || r->kind == STATE_POOL ? count : 0;

    invariant(is_table(r));
    if (!save_name(s, r, bytes) || !state_u64(s, &n)) {
        return false;
    }
    if (n > 0) {
        save_runs(s, member, n * bytes);
    }
    return !s->error;
}

static bool load_numbers(State *s, const StateRow *r, NumTable *t)
{
    uint64_t saved = 0;

    if (!state_u64(s, &saved)) {
        return false;
    }
    if (saved != t->n) {
        return state_fail(s, "its %s does not fit this drive", r->name);
    }
    return load_runs(s, t->element, saved * numtable_bytes(t));
}

static bool load_table(State *s, const StateRow *r, uint64_t bytes,
                       void **member, uint64_t count)
{
    bool pool = r->kind == STATE_POOL;
    uint64_t saved = 0;

    invariant(is_table(r) && r->elem > 0);
    if (!state_u64(s, &saved)) {
        return false;
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
    if (saved == 0) {
        return true;
    }
    return !*member || (bytes == r->elem && !is_old(s, r))
               ? load_runs(s, *member, saved * bytes)
               : load_small(s, r, *member, saved, bytes);
}

/* A value of another form. */
static bool load_old_value(State *s, const StateRow *r, uint64_t bytes,
                           uint8_t *place)
{
    g_autofree uint8_t *old = g_malloc0(old_size(r, r->bytes));
    bool ok = state_bytes(s, old, bytes);

    grow(r, place, old, r->bytes, bytes);
    return ok;
}

/* May a stream have so many bytes for the row, or for an element of it? */
static bool row_fits(const State *s, const StateRow *r, uint64_t bytes,
                     uint64_t own_bytes)
{
    if (!is_old(s, r)) {
        return size_fits(s, bytes, own_bytes, r->grown);
    }
    return bytes == old_size(r, own_bytes) ||
           (r->kind == STATE_VALUE && r->was && bytes < r->was->bytes &&
            s->version < r->was->grown);
}

static bool load_row(State *s, const StateRow *r, uint64_t bytes, void *base,
                     const uint64_t *counts)
{
    char *place = (char *)base + r->offset;
    void *member;
    bool ok;

    if (!row_fits(s, r, bytes, own_size(r, place))) {
        return state_fail(s, "its %s does not fit this drive, or this version of "
                          "vssd", r->name);
    }
    if (r->kind == STATE_NUMBERS) {
        return load_numbers(s, r, (NumTable *)place);
    }
    if (!is_table(r)) {
        if (is_old(s, r)) {
            return load_old_value(s, r, bytes, (uint8_t *)place);
        }
        memset(place + bytes, 0, r->bytes - bytes);
        return state_bytes(s, place, bytes);
    }
    memcpy(&member, place, sizeof(member));
    ok = load_table(s, r, bytes, &member, counts[r->count]);
    memcpy(place, &member, sizeof(member));
    return ok;
}

/* Rows of the stream, in any order; which have come, as flags. */
static bool load_rows(State *s, const StateStruct *d, bool tables, void *base,
                      const uint64_t *counts, bool *come)
{
    uint64_t n = 0;
    size_t next = 0;

    if (!state_u64(s, &n) || n > MOST_ROWS) {
        return state_fail(s, "it is damaged (%s)", d->name);
    }
    for (uint64_t k = 0; k < n; k++) {
        char name[NAME_BYTES];
        uint64_t bytes = 0;
        ssize_t i;

        if (!state_bytes(s, name, sizeof(name)) || !state_u64(s, &bytes)) {
            return false;
        }
        name[NAME_BYTES - 1] = '\0';
        i = find_row(d, tables, next, name);
        if ((i < 0 && s->version == s->newest) || (i >= 0 && come[i])) {
            return state_fail(s, "it is damaged (%s)", d->name);
        }
        if (i < 0 ? !skip(s, tables, bytes)
                  : !load_row(s, &d->row[i], bytes, base, counts)) {
            return false;
        }
        if (i >= 0) {
            come[i] = true;
            next = (size_t)i + 1;
        }
    }
    return true;
}

static bool load_all(State *s, const StateStruct *d, bool tables, void *base,
                     const uint64_t *counts)
{
    g_autofree bool *come = g_new0(bool, d->n_rows);

    if (!load_rows(s, d, tables, base, counts, come)) {
        return false;
    }
    for (size_t i = 0; i < d->n_rows; i++) {
        const StateRow *r = &d->row[i];

        if (is_of(r, tables) && !come[i] && !r->optional &&
            r->since <= s->version) {
            return state_fail(s, "it is damaged: it has no %s", r->name);
        }
    }
    return true;
}

static bool save_all(State *s, const StateStruct *d, bool tables, void *base,
                     const uint64_t *counts)
{
    uint64_t n = 0;

    for (size_t i = 0; i < d->n_rows; i++) {
        n += is_of(&d->row[i], tables);
    }
    state_u64(s, &n);
    for (size_t i = 0; !s->error && i < d->n_rows; i++) {
        const StateRow *r = &d->row[i];
        char *place = (char *)base + r->offset;
        void *member;

        if (!is_of(r, tables)) {
            continue;
        }
        if (!tables) {
            save_name(s, r, r->bytes);
            state_bytes(s, place, r->bytes);
        } else {
            uint64_t elements = r->kind == STATE_NUMBERS
                                    ? ((NumTable *)place)->n
                                    : counts[r->count];

            memcpy(&member, place, sizeof(member));
            save_table(s, r, member, own_size(r, place), elements);
        }
    }
    return !s->error;
}

bool state_values(State *s, const StateStruct *d, void *base)
{
    return s->loading ? load_all(s, d, false, base, NULL)
                      : save_all(s, d, false, base, NULL);
}

bool state_tables(State *s, const StateStruct *d, void *base,
                  const uint64_t *counts)
{
    return s->loading ? load_all(s, d, true, base, counts)
                      : save_all(s, d, true, base, counts);
}
