/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-retry.c - read retry: levels of the read reference voltage.
 *
 * With wear and age the threshold voltages of cells shift, and with them the
 * reference voltage that reads fewest bits wrong.  A level is a step of that
 * voltage.  Knows no block; nand-reliability.c records which level helped.
 */
#include "nand-retry.h"

#include <math.h>

#include "invariant.h"

const char *nand_retry_memory_name(unsigned i)
{
    static const char *const names[] = {
        [RETRY_MEMORY_OFF] = "off",
        [RETRY_MEMORY_BLOCK] = "block",
        [RETRY_MEMORY_DIE] = "die",
    };

    return i < G_N_ELEMENTS(names) ? names[i] : NULL;
}

uint32_t retry_level(uint32_t first, uint32_t attempt, uint32_t most)
{
    uint32_t below = first;
    uint32_t above = most - first;
    uint32_t pairs = MIN(below, above);

    invariant(first <= most && attempt <= most);
    if (attempt > 2 * pairs) {
        return above > below ? attempt : most - attempt;
    }
    return attempt % 2 ? first + (attempt + 1) / 2 : first - attempt / 2;
}

double retry_best_level(const NandConfig *c, double wear, double t, double z)
{
    double best =
        c->shift_wear * wear + c->shift_ret * log1p(t) + c->shift_sigma * z;

    return MAX(best, 0);
}

/* The distance to the best level counts squared in the logarithm; at level 0
 * the factor is 1, since the RBER is given for reads without retry. */
double retry_level_factor(const NandConfig *c, double level, double best)
{
    return pow(c->shift_factor, level * (level - 2 * best));
}

uint32_t retry_nearest_level(const NandConfig *c, double best)
{
    return (uint32_t)MIN(floor(best + 0.5), c->retry_limit);
}
