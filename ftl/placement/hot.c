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
 * Knows also what the host says of it (ssd_expect_writes()), which then decides
 * in place of the counters.  The drive has HOT_PIECES entries for that, so one
 * stands for a piece of 2^hot_shift units, and a hint acts on whole pieces.
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
        ssd->placement->hot_rate = lazy_new(uint8_t, HOT_PIECES);
        while ((ssd->l.user_units - 1) >> ssd->placement->hot_shift >=
               HOT_PIECES) {
            ssd->placement->hot_shift++;
        }
    }
}

void hot_destroy(Ssd *ssd)
{
    lazy_free(ssd->placement->hot_count, ssd->l.n_hot,
              sizeof(*ssd->placement->hot_count));
    lazy_free(ssd->placement->hot_rate, HOT_PIECES,
              sizeof(*ssd->placement->hot_rate));
}

void hot_forget(Ssd *ssd)
{
    if (ssd->placement->hot_count) {
        lazy_clear(ssd->placement->hot_count, ssd->l.n_hot,
                   sizeof(*ssd->placement->hot_count));
        lazy_clear(ssd->placement->hot_rate, HOT_PIECES,
                   sizeof(*ssd->placement->hot_rate));
    }
    ssd->placement->hot_writes = 0;
}

void hot_expect(Ssd *ssd, uint64_t first, uint64_t end, uint8_t rate)
{
    Placement *p = ssd->placement;
    uint64_t more = (1ULL << p->hot_shift) - 1;
    uint64_t last = end == ssd->l.user_units ? end + more : end;

    invariant(p->hot_count && end <= ssd->l.user_units);
    for (uint64_t i = (first + more) >> p->hot_shift; i < last >> p->hot_shift;
         i++) {
        p->hot_rate[i] = rate;
    }
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
    if (lpn < ssd->l.user_units) {
        switch (ssd->placement->hot_rate[lpn >> ssd->placement->hot_shift]) {
        case SSD_WRITES_SELDOM:
            return 0;
        case SSD_WRITES_OFTEN:
            return HOT_STREAM;
        default:
            break;
        }
    }
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
