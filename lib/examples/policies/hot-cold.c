/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hot-cold.c - ftl.hot_cold=on as a policy from outside: units that are written
 * often are a stream of their own.
 *
 * Source: J.-W. Hsieh, T.-W. Kuo, L.-P. Chang, "Efficient identification of hot
 * data for flash memory storage systems", ACM Transactions on Storage 2(1),
 * 2006, section 3: two hash functions lead to two counters of 4 bits; a unit is
 * hot when the upper two bits of neither are 0; now and then all counters are
 * halved.  What the host says of a unit decides in place of the counters.
 *
 *     cc -O2 -shared -fPIC $(pkg-config --cflags libvssd) hot-cold.c -o
 * hot-cold.so
 */
#include <vssd-policy.h>

#define MOST 15 /* of a counter */
#define HOT  4  /* from here on */

enum { COLD_STREAM, HOT_STREAM };

typedef struct Counters {
    uint64_t writes; /* since they were halved */
    uint8_t count[];
} Counters;

/* A power of two, 1024 or more. */
static uint32_t n_counters(const VssdShape *shape)
{
    uint32_t n = 1024;

    while (n < shape->units && n < 1U << 26) {
        n *= 2;
    }
    return n;
}

static size_t state_bytes(const VssdShape *shape)
{
    return sizeof(Counters) + n_counters(shape);
}

/* Multiplicative hashing by two odd constants (Knuth, TAOCP 3, section 6.4). */
static uint8_t *counter(VssdView *v, uint64_t unit, unsigned k)
{
    static const uint64_t factor[] = {0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f};
    Counters *c = v->state;
    uint64_t hash = (unit + 1) * factor[k];

    return &c->count[(hash >> 32) & (n_counters(v->shape) - 1)];
}

static uint32_t hot_stream(VssdView *v, uint64_t unit)
{
    VssdWriteRate said = v->placement->expected(v, unit);

    if (said != VSSD_WRITES_UNKNOWN) {
        return said == VSSD_WRITES_OFTEN ? HOT_STREAM : COLD_STREAM;
    }
    return *counter(v, unit, 0) >= HOT && *counter(v, unit, 1) >= HOT
               ? HOT_STREAM
               : COLD_STREAM;
}

static void hot_wrote(VssdView *v, uint64_t unit, uint32_t stream)
{
    Counters *c = v->state;

    (void)stream;
    for (unsigned k = 0; k < 2; k++) {
        uint8_t *n = counter(v, unit, k);

        *n = *n < MOST ? *n + 1 : MOST;
    }
    if (++c->writes >= n_counters(v->shape)) {
        for (uint32_t i = 0; i < n_counters(v->shape); i++) {
            c->count[i] >>= 1;
        }
        c->writes = 0;
    }
}

static const VssdPlacementPolicy hot_cold = {
    .size = sizeof(hot_cold),
    .streams = 2,
    .stream = hot_stream,
    .wrote = hot_wrote,
};

const VssdPolicy vssd_policy = {
    .abi = VSSD_POLICY_ABI,
    .kind = VSSD_POLICY_PLACEMENT,
    .size = sizeof(vssd_policy),
    .name = "hot-cold",
    .help = "units that are written often into a stream of their own",
    .state_bytes = state_bytes,
    .placement = &hot_cold,
};
