/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc-dynamic.c - the next idle channel, on it the next idle chip, and there
 * the dies and planes in turn.
 *
 * Source: Y. Hu et al., "Performance Impact and Interplay of SSD Parallelism
 * through Advanced Commands, Allocation Strategy and Data Granularity", ICS
 * 2011 (dynamic allocation), as in SSDSim: a token goes round the
 * channels, one round the chips of each channel, one round the dies of each
 * chip, one round the planes of each die.  Unlike there, a page does not wait
 * until something is idle: then the chip with the fewest operations takes it.
 */
#include "placement/alloc-policy.h"

/* Of one chip. */
typedef struct Chip {
    uint32_t load;  /* operations of its dies */
    bool accepting; /* one of its planes does */
} Chip;

/* The state: whose turn it is, of the channels, then of the chips of each
 * channel, the dies of each chip, the planes of each die. */
typedef struct Turns {
    uint32_t *channel, *chip, *die, *plane;
} Turns;

static uint32_t n_chips(const VssdShape *s)
{
    return s->channels * s->chips;
}

static size_t turn_bytes(const VssdShape *s)
{
    return (1 + s->channels + n_chips(s) * (1 + s->dies)) * sizeof(uint32_t);
}

static Turns turns_of(const VssdShape *s, const void *state)
{
    uint32_t *channel = (uint32_t *)state;

    return (Turns){channel, channel + 1, channel + 1 + s->channels,
                   channel + 1 + s->channels + n_chips(s)};
}

static bool all_below(const uint32_t *turn, uint32_t n, uint32_t end)
{
    for (uint32_t i = 0; i < n; i++) {
        if (turn[i] >= end) {
            return false;
        }
    }
    return true;
}

static bool turns_ok(const void *state, const VssdShape *s)
{
    Turns t = turns_of(s, state);

    return *t.channel < s->channels &&
           all_below(t.chip, s->channels, s->chips) &&
           all_below(t.die, n_chips(s), s->dies) &&
           all_below(t.plane, n_chips(s) * s->dies, s->die_planes);
}

static uint32_t chip_plane(const VssdShape *s, uint32_t chip, uint32_t die)
{
    return (chip * s->dies + die) * s->die_planes;
}

static Chip look_at(VssdView *v, uint32_t chip)
{
    const VssdShape *s = v->shape;
    Chip result = {0};

    for (uint32_t die = 0; die < s->dies; die++) {
        uint32_t first = chip_plane(s, chip, die);

        result.load += v->alloc->die_load(v, first);
        for (uint32_t i = 0; i < s->die_planes; i++) {
            result.accepting |= v->alloc->accepts(v, first + i);
        }
    }
    return result;
}

/* The chip in turn; busy counts for more on a channel that is busy, too. */
static uint32_t choose_chip(VssdView *v, const Turns *t)
{
    const VssdShape *s = v->shape;
    uint64_t least = UINT64_MAX;
    uint32_t best = VSSD_NONE;

    for (uint32_t i = 0; i < s->channels; i++) {
        uint32_t ch = (*t->channel + i) % s->channels;
        uint64_t busy = v->alloc->channel_busy(v, ch);

        for (uint32_t k = 0; k < s->chips; k++) {
            uint32_t chip = ch * s->chips + (t->chip[ch] + k) % s->chips;
            Chip x = look_at(v, chip);
            uint64_t cost = (uint64_t)x.load << 1 | busy;

            if (x.accepting && cost < least) {
                least = cost;
                best = chip;
            }
            if (best == chip && cost == 0) {
                return best;
            }
        }
    }
    return best;
}

/* The accepting plane of the chip in turn; VSSD_NONE: there is none. */
static uint32_t choose_plane(VssdView *v, const Turns *t, uint32_t chip)
{
    const VssdShape *s = v->shape;

    for (uint32_t i = 0; i < s->dies; i++) {
        uint32_t die = (t->die[chip] + i) % s->dies;
        uint32_t *turn = &t->plane[chip * s->dies + die];

        for (uint32_t k = 0; k < s->die_planes; k++) {
            uint32_t j = (*turn + k) % s->die_planes;

            if (v->alloc->accepts(v, chip_plane(s, chip, die) + j)) {
                *turn = (j + 1) % s->die_planes;
                t->die[chip] = (die + 1) % s->dies;
                return chip_plane(s, chip, die) + j;
            }
        }
    }
    return VSSD_NONE;
}

static uint32_t dynamic_pick(VssdView *v, uint64_t unit)
{
    const VssdShape *s = v->shape;
    Turns t = turns_of(s, v->state);
    uint32_t chip = choose_chip(v, &t);

    (void)unit;
    if (chip == VSSD_NONE) {
        return VSSD_NONE;
    }
    *t.channel = (chip / s->chips + 1) % s->channels;
    t.chip[chip / s->chips] = (chip + 1) % s->chips;
    return choose_plane(v, &t, chip);
}

ALLOC_POLICY(dynamic, "dynamic",
             "idle channel, idle chip, then dies and planes in turn (SSDSim)",
             .state_bytes = turn_bytes, .check = turns_ok,
             ALLOC_PART(.depth = 2, .pick = dynamic_pick));
