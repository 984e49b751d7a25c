/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raid-plan.c - places of chunks, and whether a plan reads enough.
 *
 * Parity is checked by linear algebra over GF(2^8), with the polynomial and the
 * generator of Linux's RAID 6 (H. P. Anvin, "The mathematics of RAID-6"): a
 * chunk is a vector over the data chunks of its stripe.  What a plan computes
 * has to be in the span of what it reads, and of the new data.
 */
#include "raid-plan.h"

#include <string.h>
#include <glib.h>

#include "prng.h"

#define MOST 12 /* data chunks of the stripes that are checked */

typedef struct Vector {
    uint8_t x[MOST];
} Vector;

static uint8_t gf_multiply(uint8_t a, uint8_t b)
{
    uint8_t product = 0;

    for (; b; b >>= 1) {
        product ^= b & 1 ? a : 0;
        a = (uint8_t)(a << 1 ^ (a & 0x80 ? 0x1d : 0));
    }
    return product;
}

static uint8_t gf_invert(uint8_t a)
{
    uint8_t inverse = 1;

    for (unsigned i = 0; i < 254; i++) {
        inverse = gf_multiply(inverse, a);
    }
    return inverse;
}

/* A chunk over the data chunks of its stripe; only of those in `of`. */
static Vector chunk_vector(const RaidLayout *l, uint32_t role, uint64_t of)
{
    Vector v = {{0}};
    uint8_t power = 1;

    for (uint32_t k = 0; k < l->n_data; k++) {
        if (!(of >> k & 1)) {
            v.x[k] = 0;
        } else if (role < l->n_data) {
            v.x[k] = role == k;
        } else {
            v.x[k] = role == l->n_data || l->copies ? 1 : power;
        }
        power = gf_multiply(power, 2);
    }
    return v;
}

static bool reduce(const Vector *basis, const int *pivot, unsigned n, Vector *v)
{
    for (unsigned i = 0; i < n; i++) {
        uint8_t factor = v->x[pivot[i]];

        for (unsigned k = 0; k < MOST; k++) {
            v->x[k] ^= gf_multiply(factor, basis[i].x[k]);
        }
    }
    for (unsigned k = 0; k < MOST; k++) {
        if (v->x[k]) {
            return false;
        }
    }
    return true;
}

/* Is v in the span of the chunks that are known? */
static bool computable(const RaidLayout *l, uint64_t known, Vector v)
{
    Vector basis[64];
    int pivot[64];
    unsigned n = 0;

    for (uint32_t role = 0; role < l->width; role++) {
        Vector one = chunk_vector(l, role, UINT64_MAX);
        int p = 0;

        if (!(known >> role & 1) || reduce(basis, pivot, n, &one)) {
            continue;
        }
        while (!one.x[p]) {
            p++;
        }
        for (uint8_t scale = gf_invert(one.x[p]), k = 0; k < MOST; k++) {
            one.x[k] = gf_multiply(one.x[k], scale);
        }
        for (unsigned i = 0; i < n; i++) { /* the others are 0 there */
            uint8_t factor = basis[i].x[p];

            for (unsigned k = 0; k < MOST; k++) {
                basis[i].x[k] ^= gf_multiply(factor, one.x[k]);
            }
        }
        basis[n] = one;
        pivot[n++] = p;
    }
    return reduce(basis, pivot, n, &v);
}

/* ---- one column of a plan ------------------------------------------------ */

static uint64_t at(const GArray *parts, uint32_t block)
{
    uint64_t roles = 0;

    for (unsigned i = 0; i < parts->len; i++) {
        const RaidPart *p = &g_array_index(parts, RaidPart, i);

        if (block >= p->first && block < p->first + p->n) {
            g_assert_cmpuint(roles >> p->role & 1, ==, 0); /* once only */
            roles |= 1ULL << p->role;
        }
    }
    return roles;
}

/* The data chunks of which the range has that block. */
static uint64_t asked(const RaidLayout *l, uint64_t first, uint64_t n,
                      uint32_t block)
{
    uint64_t roles = 0;

    for (uint32_t k = 0; k < l->n_data; k++) {
        uint64_t b = (uint64_t)k * l->chunk_blocks + block;

        roles |= b >= first && b < first + n ? 1ULL << k : 0;
    }
    return roles;
}

static uint64_t bits(uint32_t n)
{
    return (1ULL << n) - 1;
}

static void check_read(const RaidLayout *l, const RaidChunks *c, uint64_t want,
                       uint64_t reads, uint64_t writes)
{
    g_assert_cmpuint(reads & ~c->readable, ==, 0);
    g_assert_cmpuint(writes & (c->readable | ~c->writable), ==, 0);
    for (uint32_t role = 0; role < l->width; role++) {
        if ((want | writes) >> role & 1) {
            g_assert_true(
                computable(l, reads, chunk_vector(l, role, UINT64_MAX)));
        }
    }
}

/* New parity is that of the new data, which is known, and of the data that
 * stays: the latter has to be computable from the old chunks that are read. */
static void check_write(const RaidLayout *l, const RaidChunks *c, uint64_t want,
                        uint64_t reads, uint64_t writes)
{
    uint64_t parity = bits(l->width) & ~bits(l->n_data);

    g_assert_cmpuint(reads & ~c->readable, ==, 0);
    if (!want) {
        g_assert_cmpuint(reads | writes, ==, 0);
        return;
    }
    g_assert_cmpuint(writes, ==, (want | parity) & c->writable);
    for (uint32_t role = l->n_data; role < l->width; role++) {
        if (writes >> role & 1) {
            g_assert_true(computable(l, reads, chunk_vector(l, role, ~want)));
        }
    }
}

/* ---- all of it ----------------------------------------------------------- */

static RaidLayout *some_layout(Prng *prng)
{
    static const char *const levels[] = {"1", "10", "5", "6"};
    g_autofree char *text = NULL;
    uint32_t pick = (uint32_t)prng_below(prng, 5);
    uint32_t n = 2 * (2 + (uint32_t)prng_below(prng, 4));
    uint32_t chunk = 1 + (uint32_t)prng_below(prng, 9);
    uint32_t spares = (uint32_t)prng_below(prng, 3);
    RaidLayout *l;

    if (pick < 4) {
        text = g_strdup(levels[pick]);
    } else {
        uint32_t data = 1 + (uint32_t)prng_below(prng, 5);
        uint32_t parity = 1 + (uint32_t)prng_below(prng, 2);

        text = g_strdup_printf("declustered:%u+%u", data, parity);
        n = (data + parity) * (1 + (uint32_t)prng_below(prng, 4)) + spares;
        n = n == 1 ? 2 : n;
    }
    l = raid_layout_new(text, n, spares, 4096, chunk, NULL);
    g_assert_nonnull(l);
    return l;
}

/* Random stripes, lost and unreadable chunks, ranges: what is needed is read,
 * and a plan fails only if more chunks are gone than parity makes up for. */
static void test_enough(void)
{
    unsigned n_lost = 0, n_kinds[RAID_N_UPDATES] = {0};
    RaidPlan plan;
    Prng prng;

    prng_seed(&prng, 1, 1);
    raid_plan_init(&plan);
    for (unsigned run = 0; run < 20000; run++) {
        g_autoptr(RaidLayout) l = some_layout(&prng);
        uint64_t blocks = (uint64_t)l->n_data * l->chunk_blocks;
        uint64_t first = prng_below(&prng, blocks);
        uint64_t n = 1 + prng_below(&prng, blocks - first);
        RaidChunks c = {.writable = bits(l->width)};
        bool write = prng_below(&prng, 2);
        unsigned left;

        for (uint32_t i = (uint32_t)prng_below(&prng, 4); i > 0; i--) {
            c.writable &= ~(1ULL << prng_below(&prng, l->width));
        }
        c.readable = c.writable;
        if (prng_below(&prng, 4) == 0) {
            c.readable &= ~(1ULL << prng_below(&prng, l->width));
        }
        left = (unsigned)__builtin_popcountll(c.readable);
        c.prefer = (uint32_t)prng_below(&prng, l->width);
        (write ? raid_plan_write : raid_plan_read)(l, &c, first, n, &plan);
        if (plan.lost) {
            n_lost++;
            g_assert_cmpuint(left, <, l->n_data);
            g_assert_cmpuint(plan.reads->len + plan.writes->len, ==, 0);
            continue;
        }
        n_kinds[plan.update] += write;
        for (uint32_t b = 0; b < l->chunk_blocks; b++) {
            uint64_t want = asked(l, first, n, b);

            (write ? check_write : check_read)(l, &c, want, at(plan.reads, b),
                                               at(plan.writes, b));
        }
    }
    raid_plan_clear(&plan);
    g_assert_cmpuint(n_lost, >, 100);
    for (unsigned i = 0; i < RAID_N_UPDATES; i++) {
        g_assert_cmpuint(n_kinds[i], >, 30);
    }
}

/* The fewest reads, by hand: 8 data chunks and P, Q; chunk of 8 blocks. */
static void test_fewest(void)
{
    g_autoptr(RaidLayout) l = raid_layout_new("6", 10, 0, 4096, 8, NULL);
    RaidChunks c = {bits(10), bits(10), 0};
    RaidPlan p;

    raid_plan_init(&p);
    raid_plan_write(l, &c, 0, 64, &p); /* all */
    g_assert_cmpint(p.update, ==, RAID_UPDATE_FULL);
    g_assert_cmpuint(p.reads->len, ==, 0);
    g_assert_cmpuint(p.writes->len, ==, 10);
    raid_plan_write(l, &c, 9, 2, &p); /* in one chunk: its old data, P, Q */
    g_assert_cmpint(p.update, ==, RAID_UPDATE_MODIFY);
    g_assert_cmpuint(p.reads->len, ==, 3);
    raid_plan_write(l, &c, 0, 48, &p); /* six chunks: the other two */
    g_assert_cmpint(p.update, ==, RAID_UPDATE_RECONSTRUCT);
    g_assert_cmpuint(p.reads->len, ==, 2);
    raid_plan_write(l, &c, 7, 2, &p); /* ends of two chunks: each by itself */
    g_assert_cmpint(p.update, ==, RAID_UPDATE_MODIFY);
    g_assert_cmpuint(p.reads->len, ==, 2 + 2 * 2);
    raid_plan_trim(l, &c, 0, 63, &p);
    g_assert_cmpuint(p.writes->len, ==, 0);
    raid_plan_trim(l, &c, 0, 64, &p);
    g_assert_cmpuint(p.writes->len, ==, 10);
    raid_plan_clear(&p);
}

/* ---- places -------------------------------------------------------------- */

/* All chunks of a row, spare ones included, are on drives of their own. */
static void test_distinct(void)
{
    Prng prng;

    prng_seed(&prng, 2, 1);
    for (unsigned run = 0; run < 500; run++) {
        g_autoptr(RaidLayout) l = some_layout(&prng);
        uint64_t row = prng_below(&prng, l->n_rows);
        uint64_t seen = 0;

        for (uint32_t i = 0; i < l->n_drives; i++) {
            uint32_t group = i / l->width;
            bool spare = group >= l->n_groups;
            uint32_t drive = raid_layout_home(
                l, row, spare ? 0 : group,
                spare ? l->width + i - l->n_groups * l->width : i % l->width);

            g_assert_cmpuint(drive, <, l->n_drives);
            g_assert_cmpuint(seen >> drive & 1, ==, 0);
            seen |= 1ULL << drive;
        }
    }
}

/* After each failure and its rebuild no chunk is on a failed drive, or on one
 * that has another chunk of its row; as long as there are spare chunks, none
 * is lost.  Drives that took chunks may fail, too. */
static void test_failures(void)
{
    Prng prng;

    prng_seed(&prng, 3, 1);
    for (unsigned run = 0; run < 2000; run++) {
        g_autoptr(RaidLayout) l = some_layout(&prng);
        uint64_t row = prng_below(&prng, l->n_rows);
        RaidFailure failure[4];
        uint32_t n = 0;
        uint64_t failed = 0;

        while (n < 4 && n < l->n_drives) {
            uint32_t drive = (uint32_t)prng_below(&prng, l->n_drives);
            uint64_t seen = 0;

            if (failed >> drive & 1) {
                continue;
            }
            failed |= 1ULL << drive;
            failure[n++] = (RaidFailure){drive, l->n_rows};
            for (uint32_t i = 0; i < l->n_groups * l->width; i++) {
                uint32_t at_drive = raid_layout_place(
                    l, failure, n, row, i / l->width, i % l->width);

                if (at_drive == RAID_NO_DRIVE) {
                    g_assert_cmpuint(n, >, l->n_spares);
                    continue;
                }
                g_assert_cmpuint(failed >> at_drive & 1, ==, 0);
                g_assert_cmpuint(seen >> at_drive & 1, ==, 0);
                seen |= 1ULL << at_drive;
            }
        }
    }
}

/* Each drive has its share of parity, and of a declustered array its share of
 * spare chunks. */
static void test_balance(void)
{
    g_autoptr(RaidLayout) five = raid_layout_new("5", 5, 0, 1000, 1, NULL);
    g_autoptr(RaidLayout) wide =
        raid_layout_new("declustered:4+1", 11, 1, 11 * 1280, 1, NULL);
    unsigned parity[5] = {0}, spare[11] = {0};

    for (uint64_t row = 0; row < five->n_rows; row++) {
        parity[raid_layout_home(five, row, 0, 4)]++;
    }
    for (uint64_t row = 0; row < wide->n_rows; row++) {
        spare[raid_layout_home(wide, row, 0, 5)]++;
    }
    for (unsigned i = 0; i < 5; i++) {
        g_assert_cmpuint(parity[i], ==, 200);
    }
    for (unsigned i = 0; i < 11; i++) { /* all rotations of all permutations */
        g_assert_cmpuint(spare[i], ==, 1280);
    }
}

/* Left-symmetric, by hand: rows of five drives. */
static void test_rotation(void)
{
    static const uint32_t home[3][5] = {/* roles 0..3, parity */
                                        {0, 1, 2, 3, 4},
                                        {4, 0, 1, 2, 3},
                                        {3, 4, 0, 1, 2}};
    g_autoptr(RaidLayout) l = raid_layout_new("5", 5, 0, 1000, 1, NULL);

    for (uint64_t row = 0; row < 3; row++) {
        for (uint32_t role = 0; role < 5; role++) {
            g_assert_cmpuint(raid_layout_home(l, row, 0, role), ==,
                             home[row][role]);
        }
    }
}

static void test_refused(void)
{
    static const struct {
        const char *level;
        uint32_t n, spares;
    } bad[] = {{"2", 4, 0},
               {"", 4, 0},
               {"5:4+1", 5, 0},
               {"1", 1, 0},
               {"5", 2, 0},
               {"6", 3, 0},
               {"10", 5, 0},
               {"0", 4, 1},
               {"5", 64, 1},
               {"declustered", 6, 0},
               {"declustered:4+3", 7, 0},
               {"declustered:4", 5, 0},
               {"declustered:4+1", 6, 0},
               {"declustered:0+1", 4, 0},
               {"declustered:4+1", 5, 5}};

    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_null(raid_layout_new(bad[i].level, bad[i].n, bad[i].spares,
                                      1000, 10, &error));
        g_assert_nonnull(error);
        g_assert_null(strchr(error->message, '\n'));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/raid-plan/enough", test_enough);
    g_test_add_func("/raid-plan/fewest", test_fewest);
    g_test_add_func("/raid-plan/distinct", test_distinct);
    g_test_add_func("/raid-plan/failures", test_failures);
    g_test_add_func("/raid-plan/balance", test_balance);
    g_test_add_func("/raid-plan/rotation", test_rotation);
    g_test_add_func("/raid-plan/refused", test_refused);
    return g_test_run();
}
