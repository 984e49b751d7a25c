/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hot.c - which units are written often (ftl.hot_cold).
 *
 * Knows how often, about, each unit was written lately: J.-W. Hsieh, T.-W. Kuo,
 * L.-P. Chang, "Efficient identification of hot data for flash memory storage
 * systems", ACM Transactions on Storage 2(1), 2006, section 3: two hash
 * functions lead to two counters of 4 bits, which each write of the unit counts
 * up; a unit is hot when the upper two bits of neither are 0; and now and then
 * all counters are halved.  The size of the table (SsdLayout.n_hot) and when
 * that is (after as many writes) are ours.
 *
 * Knows nothing of the place of a unit: hot units are a stream of their own
 * (streams.c), HOT_STREAM.
 */
#include "lazymem.h"
#include "placement/alloc-policy.h"
#include "placement/life.h"
#include "placement/placement.h"
#include "ssd-internal.h"

#define MOST 15 /* of a counter */
#define HOT  4  /* from here on */

void hot_init(Ssd *ssd)
{
    ssd->placement->chooses_stream =
        ssd->l.n_hot > 0 || ssd->placement->policy->draws_stream;
    if (ssd->l.n_hot > 0) {
        invariant(!ssd->placement->hot_count &&
                  (ssd->l.n_hot & (ssd->l.n_hot - 1)) == 0);
        ssd->placement->hot_count = lazy_new(uint8_t, ssd->l.n_hot);
    }
}

void hot_destroy(Ssd *ssd)
{
    lazy_free(ssd->placement->hot_count, ssd->l.n_hot,
              sizeof(*ssd->placement->hot_count));
}

void hot_forget(Ssd *ssd)
{
    if (ssd->placement->hot_count) {
        lazy_clear(ssd->placement->hot_count, ssd->l.n_hot,
                   sizeof(*ssd->placement->hot_count));
    }
    ssd->placement->hot_writes = 0;
}

/* Multiplicative hashing by two odd constants (Knuth, TAOCP 3, section 6.4). */
static uint8_t *counter(const Ssd *ssd, uint64_t lpn, unsigned k)
{
    static const uint64_t factor[] = {0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f};
    uint64_t hash = (lpn + 1) * factor[k];

    return &ssd->placement->hot_count[(hash >> 32) & (ssd->l.n_hot - 1)];
}

/* Only counters other than 0 are touched: the table costs memory where it is
 * used. */
static void halve(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->l.n_hot; i++) {
        if (ssd->placement->hot_count[i]) {
            ssd->placement->hot_count[i] >>= 1;
        }
    }
    ssd->placement->hot_writes = 0;
}

uint32_t hot_stream(const Ssd *ssd, uint64_t lpn)
{
    invariant(ssd->placement->hot_count);
    invariant(lpn < ssd->l.user_units + ssd->l.meta_units);
    return *counter(ssd, lpn, 0) >= HOT && *counter(ssd, lpn, 1) >= HOT
               ? HOT_STREAM
               : 0;
}

void hot_written(Ssd *ssd, uint64_t lpn)
{
    invariant(lpn < ssd->l.user_units + ssd->l.meta_units);
    for (unsigned k = 0; k < 2; k++) {
        uint8_t *n = counter(ssd, lpn, k);

        *n = MIN(*n + 1, MOST);
    }
    if (++ssd->placement->hot_writes >= ssd->l.n_hot) {
        halve(ssd);
    }
}
