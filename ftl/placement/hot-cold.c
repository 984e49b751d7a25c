/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hot-cold.c - units that are written often are a stream of their own
 * (ftl.hot_cold).
 *
 * Knows how often, about, each unit was written lately: J.-W. Hsieh, T.-W. Kuo,
 * L.-P. Chang, "Efficient identification of hot data for flash memory storage
 * systems", ACM Transactions on Storage 2(1), 2006, section 3: two hash
 * functions lead to two counters of 4 bits, which each write of the unit counts
 * up; a unit is hot when the upper two bits of neither are 0; and now and then
 * all counters are halved.  The size of the table and when that is (after as
 * many writes) are ours.  What the host says of a unit decides in place of the
 * counters.
 */
#include "placement/placement.h"

#define MOST          15 /* of a counter */
#define HOT           4  /* from here on */
#define MOST_COUNTERS (1U << 26)

enum { COLD_STREAM, HOT_STREAM };

typedef struct Counters {
    uint32_t writes; /* since they were halved */
    uint32_t n;      /* a power of two */
    uint8_t count[];
} Counters;

static uint32_t n_counters(const VssdShape *s)
{
    uint32_t n = 1024;

    while (n < s->units && n < MOST_COUNTERS) {
        n *= 2;
    }
    return n;
}

static size_t hot_bytes(const VssdShape *s)
{
    return sizeof(Counters) + n_counters(s);
}

static void hot_init(void *state, const VssdShape *s)
{
    Counters *c = state;

    c->n = n_counters(s);
}

static bool hot_ok(const void *state, const VssdShape *s)
{
    const Counters *c = state;

    return c->n == n_counters(s);
}

/* Multiplicative hashing by two odd constants (Knuth, TAOCP 3, section 6.4). */
static uint8_t *counter(Counters *c, uint64_t unit, unsigned k)
{
    static const uint64_t factor[] = {0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f};
    uint64_t hash = (unit + 1) * factor[k];

    return &c->count[(hash >> 32) & (c->n - 1)];
}

/* Only counters other than 0 are touched: the table costs memory where it is
 * used. */
static void halve(Counters *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->count[i]) {
            c->count[i] >>= 1;
        }
    }
    c->writes = 0;
}

static uint32_t hot_stream(VssdView *v, uint64_t unit)
{
    switch (v->placement->expected(v, unit)) {
    case VSSD_WRITES_SELDOM:
        return COLD_STREAM;
    case VSSD_WRITES_OFTEN:
        return HOT_STREAM;
    default:
        return *counter(v->state, unit, 0) >= HOT &&
                       *counter(v->state, unit, 1) >= HOT
                   ? HOT_STREAM
                   : COLD_STREAM;
    }
}

static void hot_wrote(VssdView *v, uint64_t unit, uint32_t stream)
{
    Counters *c = v->state;

    (void)stream;
    for (unsigned k = 0; k < 2; k++) {
        uint8_t *n = counter(c, unit, k);

        *n = MIN(*n + 1, MOST);
    }
    if (++c->writes >= c->n) {
        halve(c);
    }
}

const VssdPolicy placement_hot_cold = {
    .abi = VSSD_POLICY_ABI,
    .kind = VSSD_POLICY_PLACEMENT,
    .size = sizeof(VssdPolicy),
    .name = "hot-cold",
    .help = "units that are written often into a stream of their own",
    .state_bytes = hot_bytes,
    .init = hot_init,
    .check = hot_ok,
    .placement =
        &(const VssdPlacementPolicy){
            .size = sizeof(VssdPlacementPolicy),
            .streams = 2,
            .stream = hot_stream,
            .wrote = hot_wrote,
        },
};
