/* SPDX-License-Identifier: GPL-2.0-or-later */
/* aged.h - drives that are written without modelled time (ssd_age()). */
#ifndef VSSD_TESTS_FTL_AGED_H
#define VSSD_TESTS_FTL_AGED_H

#include "prng.h"
#include "ssd-internal.h"
#include "ssd-save.h"

/* Each unit once, in order. */
static inline void aged_fill(Ssd *ssd)
{
    uint64_t n = ssd->l.user_units;
    g_autofree uint64_t *lpn = g_new(uint64_t, n);

    for (uint64_t i = 0; i < n; i++) {
        lpn[i] = i;
    }
    g_assert_cmpint(ssd_age(ssd, lpn, n), ==, 0);
}

/* n units, each as likely. */
static inline void aged_overwrite(Ssd *ssd, uint64_t n, Prng *rng)
{
    g_autofree uint64_t *lpn = g_new(uint64_t, n);

    for (uint64_t i = 0; i < n; i++) {
        lpn[i] = prng_below(rng, ssd->l.user_units);
    }
    g_assert_cmpint(ssd_age(ssd, lpn, n), ==, 0);
}

#endif
