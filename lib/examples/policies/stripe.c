/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stripe.c - ftl.alloc=stripe as a policy from outside: pages go round the
 * planes that accept one.  (Of several streams ftl.alloc=stripe gives each its
 * own turns.)
 *
 *     cc -O2 -shared -fPIC $(pkg-config --cflags libvssd) stripe.c -o stripe.so
 */
#include <vssd-policy.h>

typedef struct Stripe {
    uint32_t cursor; /* position of the next plane */
} Stripe;

static size_t state_bytes(const VssdShape *shape)
{
    (void)shape;
    return sizeof(Stripe);
}

static bool state_ok(const void *state, const VssdShape *shape)
{
    const Stripe *s = state;

    return s->cursor < shape->planes;
}

static uint32_t stripe_pick(VssdView *v, uint64_t unit)
{
    Stripe *s = v->state;
    uint32_t position = v->alloc->next_accepting(v, s->cursor);

    (void)unit;
    if (position == VSSD_NONE) {
        return VSSD_NONE;
    }
    s->cursor = position + 1 == v->shape->planes ? 0 : position + 1;
    return v->alloc->stripe_plane(v, position);
}

static const VssdAllocPolicy stripe = {
    .size = sizeof(stripe),
    .depth = 2,
    .pick = stripe_pick,
};

const VssdPolicy vssd_policy = {
    .abi = VSSD_POLICY_ABI,
    .kind = VSSD_POLICY_ALLOC,
    .size = sizeof(vssd_policy),
    .name = "stripe",
    .help = "round the planes, busy ones left out",
    .state_bytes = state_bytes,
    .check = state_ok,
    .alloc = &stripe,
};
