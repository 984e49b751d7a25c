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
#include "placement/placement.h"
#include "ssd-internal.h"

/* Of one chip. */
typedef struct Chip {
    uint32_t load;  /* operations of its dies */
    bool accepting; /* one of its planes does */
} Chip;

static uint32_t chip_plane(const Ssd *ssd, uint32_t chip, uint32_t die)
{
    return (chip * ssd->cfg->nand.dies + die) * ssd->cfg->nand.planes;
}

static Chip look_at(const Ssd *ssd, uint32_t chip)
{
    const NandConfig *c = &ssd->cfg->nand;
    Chip result = {0};

    for (uint32_t die = 0; die < c->dies; die++) {
        uint32_t first = chip_plane(ssd, chip, die);

        result.load += nand_die_load(ssd->nand, first);
        for (uint32_t i = 0; i < c->planes; i++) {
            result.accepting |= plane_accepts(ssd, first + i);
        }
    }
    return result;
}

/* The chip in turn; busy counts for more on a channel that is busy, too. */
static uint32_t choose_chip(const Ssd *ssd)
{
    const NandConfig *c = &ssd->cfg->nand;
    uint64_t least = UINT64_MAX;
    uint32_t best = NONE;

    for (uint32_t i = 0; i < c->channels; i++) {
        uint32_t ch = (ssd->placement->channel_token + i) % c->channels;
        uint64_t busy = nand_channel_busy(ssd->nand, ch);

        for (uint32_t k = 0; k < c->chips; k++) {
            uint32_t chip = ch * c->chips +
                            (ssd->placement->chip_token[ch] + k) % c->chips;
            Chip x = look_at(ssd, chip);
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

/* The accepting plane of the chip in turn; there is one. */
static uint32_t choose_plane(Ssd *ssd, uint32_t chip)
{
    const NandConfig *c = &ssd->cfg->nand;

    for (uint32_t i = 0; i < c->dies; i++) {
        uint32_t die = (ssd->placement->die_token[chip] + i) % c->dies;
        uint32_t *token = &ssd->placement->plane_token[chip * c->dies + die];

        for (uint32_t k = 0; k < c->planes; k++) {
            uint32_t j = (*token + k) % c->planes;

            if (plane_accepts(ssd, chip_plane(ssd, chip, die) + j)) {
                *token = (j + 1) % c->planes;
                ssd->placement->die_token[chip] = (die + 1) % c->dies;
                return chip_plane(ssd, chip, die) + j;
            }
        }
    }
    g_assert_not_reached();
}

static uint32_t dynamic_pick(Ssd *ssd, uint64_t lpn)
{
    const NandConfig *c = &ssd->cfg->nand;
    uint32_t chip = choose_chip(ssd);

    (void)lpn;
    if (chip == NONE) {
        return NONE;
    }
    invariant(chip / c->chips < c->channels);
    ssd->placement->channel_token = (chip / c->chips + 1) % c->channels;
    ssd->placement->chip_token[chip / c->chips] = (chip + 1) % c->chips;
    return choose_plane(ssd, chip);
}

const AllocPolicy alloc_dynamic = {
    .name = "dynamic",
    .help = "idle channel, idle chip, then dies and planes in turn (SSDSim)",
    .depth = 2,
    .pick = dynamic_pick,
};
