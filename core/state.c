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
#include "signature.h"

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

bool state_signature(State *s, const char *signature, const char *none)
{
    char found[STATE_SIGNATURE_BYTES];
    uint64_t version = STATE_VERSION;

    memcpy(found, signature, sizeof(found));
    if (!state_bytes(s, found, sizeof(found))) {
        return false;
    }
    if (signature_is_early(found)) {
        return state_fail(s, "it is " SIGNATURE_EARLY);
    }
    if (memcmp(found, signature, sizeof(found)) != 0) {
        return state_fail(s, "%s", none);
    }
    return state_u64(s, &version) &&
           (version == STATE_VERSION ||
            state_fail(s,
                       "it is of version %" PRIu64
                       " of the format, this vssd knows version %d",
                       version, STATE_VERSION));
}

bool state_record(State *s, void *p, size_t n)
{
    uint64_t bytes = n;

    invariant(n > 0);
    return state_u64(s, &bytes) &&
           (bytes == n ||
            state_fail(s, "it is damaged, or of another version of vssd")) &&
           state_bytes(s, p, n);
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
    invariant(r->kind != STATE_UNSAVED);
    return r->kind == STATE_NUMBERS ? numtable_bytes(place)
           : is_table(r)            ? r->elem
                                    : r->bytes;
}

/* The row's name, and the bytes of the member or of its elements. */
static bool walk_name(State *s, const StateRow *r, uint64_t own_bytes)
{
    uint64_t bytes = own_bytes;
    char name[NAME_BYTES] = {0};
    size_t n = strlen(r->name);

    invariant(n < sizeof(name));
    memcpy(name, r->name, n);
    return state_bytes(s, name, sizeof(name)) && state_u64(s, &bytes) &&
           ((memcmp(name, r->name, n + 1) == 0 && bytes == own_bytes) ||
            state_fail(s,
                       "its %s does not fit this drive, or this version of "
                       "vssd",
                       r->name));
}

static bool save_table(State *s, const StateRow *r, void *member,
                       uint64_t bytes, uint64_t count)
{
    uint64_t n = member || r->kind == STATE_POOL ? count : 0;

    if (!state_u64(s, &n)) {
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

static bool load_table(State *s, const StateRow *r, void **member,
                       uint64_t count)
{
    bool pool = r->kind == STATE_POOL;
    uint64_t saved = 0;

    invariant(r->elem > 0);
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
    return saved == 0 || load_runs(s, *member, saved * r->elem);
}

static uint64_t number(const uint8_t *at, uint32_t bytes)
{
    return bytes == 1   ? *at
           : bytes == 2 ? *(const uint16_t *)at
           : bytes == 4 ? *(const uint32_t *)at
                        : *(const uint64_t *)at;
}

/* May the value at `at` be what it is?  bounded: their counts are known. */
static bool value_ok(State *s, const StateRow *r, const uint8_t *at,
                     bool bounded, const uint64_t *counts)
{
    bool has_bound = r->limit > STATE_BOOL;
    uint64_t bound;
    uint64_t v;

    if (r->limit == STATE_ANY || (has_bound && !bounded)) {
        return true;
    }
    invariant(r->bytes <= sizeof(v) && (counts || !has_bound));
    v = number(at, r->bytes);
    if (!has_bound) {
        return v <= 1 ||
               state_fail(s, "it is damaged: %s is neither on nor off",
                          r->name);
    }
    bound = counts[r->count];
    return v < bound || (r->limit == STATE_COUNT && v == bound) ||
           (r->limit == STATE_LINK && v == UINT32_MAX) ||
           state_fail(s, "it is damaged: %s is %" PRIu64 " of %" PRIu64,
                      r->name, v, bound);
}

static bool values_ok(State *s, const StateStruct *d, const uint8_t *at,
                      bool bounded, const uint64_t *counts)
{
    for (size_t i = 0; i < d->n_rows; i++) {
        const StateRow *r = &d->row[i];

        if (r->kind == STATE_VALUE &&
            !(r->of ? values_ok(s, r->of, at + r->offset, bounded, counts)
                    : value_ok(s, r, at + r->offset, bounded, counts))) {
            return false;
        }
    }
    return true;
}

/* The same of each element of a table; an untouched one is all zeroes. */
static bool elements_ok(State *s, const StateStruct *d, const uint8_t *first,
                        uint64_t n, const uint64_t *counts)
{
    bool ok = true;
    LazyWalk w;

    lazy_walk_begin(&w, first, n * d->bytes);
    for (uint64_t i = lazy_walk_index(&w, 0, d->bytes); i < n && ok;
         i = lazy_walk_index(&w, i + 1, d->bytes)) {
        ok = values_ok(s, d, first + i * d->bytes, true, counts);
    }
    lazy_walk_end(&w);
    return ok;
}

static bool walk_table(State *s, const StateRow *r, char *place,
                       const uint64_t *counts)
{
    NumTable *numbers = (NumTable *)place;
    void *member;
    bool ok;

    if (r->kind == STATE_NUMBERS) {
        return s->loading ? load_numbers(s, r, numbers)
                          : save_table(s, r, numbers->element,
                                       numtable_bytes(numbers), numbers->n);
    }
    memcpy(&member, place, sizeof(member));
    ok = s->loading ? load_table(s, r, &member, counts[r->count])
                    : save_table(s, r, member, r->elem, counts[r->count]);
    if (s->loading) {
        memcpy(place, &member, sizeof(member));
    }
    return ok && (!s->loading || !r->of || !member ||
                  elements_ok(s, r->of, member, counts[r->count], counts));
}

static bool walk_row(State *s, const StateRow *r, char *place,
                     const uint64_t *counts)
{
    return walk_name(s, r, own_size(r, place)) &&
           (is_table(r) ? walk_table(s, r, place, counts)
                        : state_bytes(s, place, r->bytes));
}

static bool walk_rows(State *s, const StateStruct *d, bool tables, void *base,
                      const uint64_t *counts)
{
    uint64_t own = 0;
    uint64_t n;

    for (size_t i = 0; i < d->n_rows; i++) {
        own += is_of(&d->row[i], tables);
    }
    n = own;
    if (!state_u64(s, &n)) {
        return false;
    }
    if (n != own) {
        return state_fail(s,
                          "it is damaged, or of another version of vssd "
                          "(%s)",
                          d->name);
    }
    for (size_t i = 0; i < d->n_rows; i++) {
        const StateRow *r = &d->row[i];

        if (is_of(r, tables) &&
            !walk_row(s, r, (char *)base + r->offset, counts)) {
            return false;
        }
    }
    return true;
}

bool state_values(State *s, const StateStruct *d, void *base)
{
    return walk_rows(s, d, false, base, NULL) &&
           (!s->loading || values_ok(s, d, base, false, NULL));
}

bool state_tables(State *s, const StateStruct *d, void *base,
                  const uint64_t *counts)
{
    return (!s->loading || values_ok(s, d, base, true, counts)) &&
           walk_rows(s, d, true, base, counts);
}

bool state_each(State *s, const StateStruct *d, void *first, uint64_t n,
                const uint64_t *counts)
{
    for (uint64_t i = 0; i < n; i++) {
        void *element = (char *)first + i * d->bytes;

        if (!state_values(s, d, element) ||
            !state_tables(s, d, element, counts)) {
            return false;
        }
    }
    return true;
}
