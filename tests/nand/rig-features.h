/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rig-features.h - for tests of features of the array: its times, and when its
 * operations must end.
 *
 * With the rig's options: command C = 200 ns; a byte takes 2.5 ns, so a page
 * X = 40960 ns; tR = 50000, tPROG = 500000, tBERS = 3000000 ns; tDBSY = 500 and
 * tCBSY = 1000 ns.  Planes 0 and 1 are one die.
 */
#ifndef VSSD_TESTS_NAND_RIG_FEATURES_H
#define VSSD_TESTS_NAND_RIG_FEATURES_H

#include "rig.h"

#define C     200ULL
#define X     40960ULL
#define TR    50000ULL
#define TPROG 500000ULL
#define TBERS 3000000ULL
#define TDBSY 500ULL
#define TCBSY 1000ULL
#define PAGE  16384

/* When the operation on that page ended, in ps. */
static inline uint64_t done_ps(const Rig *r, NandOpKind kind, uint32_t page)
{
    for (unsigned i = 0; i < r->n_done; i++) {
        if (r->done[i].kind == kind && r->done[i].ppa.page == page) {
            return r->done_ps[i];
        }
    }
    g_assert_not_reached();
}

static inline void expect_done(const Rig *r, NandOpKind kind, uint32_t page,
                               uint64_t ns)
{
    g_assert_cmpuint(done_ps(r, kind, page), ==, ns * PS_PER_NS);
}

/* The times of every operation sum to its latency; then the rig goes. */
static inline void finish(Rig *r)
{
    for (unsigned i = 0; i < r->n_done; i++) {
        uint64_t sum_ps = 0;

        for (int t = 0; t < NAND_N_TIMES; t++) {
            sum_ps += r->done[i].time_ps[t];
        }
        g_assert_cmpuint(sum_ps, ==, r->done_ps[i] - r->done[i].submit_ps);
    }
    rig_free(r);
}

static inline void submit_as(Rig *r, uint64_t now_ns, NandOpKind kind,
                             NandCause cause, uint32_t page, uint32_t from)
{
    NandOp op = {
        .kind = kind,
        .cause = cause,
        .ppa = {page},
        .from = {from},
        .bytes = PAGE,
    };

    nand_submit(r->nand, &op, now_ns * PS_PER_NS);
}

/* Keeps the die busy until C + TR + X, so that what follows waits together. */
static inline uint64_t busy_die(Rig *r)
{
    rig_preload(r, 0, 9, 1);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 9, 0), PAGE);
    return C + TR + X;
}

#endif
