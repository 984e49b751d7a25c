/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-composite.c - composite commands (nand.composite): programs, or erases,
 * on several dies of a chip that run as one command.
 *
 * Source: Y. Hu et al., "Performance Impact and Interplay of SSD Parallelism
 * through Advanced Commands, Allocation Strategy and Data Granularity", ICS
 * 2011, section 2.2 (interleave, and interleave with two planes), as in SSDSim:
 * an idle chip takes waiting writes for its dies; their data crosses the
 * channel in turn, and all dies program from the end of the last transfer on.
 * There a chip is locked as a whole, which is nand.lock=chip.  SSDSim 2.1
 * never issues composite reads, so reads do not join here.
 *
 * With nand.multi_plane each die takes part with all planes whose first waiting
 * page is at the same place of its block: no page is wasted.  That is the
 * "selective" multi-plane of I. Shin, Electronics Letters 54(2), 2018, with a
 * limit of no wasted page.  Without it, each die takes part with one page.
 *
 * Knows which planes may take part; the phases of a command are nand.c's.
 */
#include "nand-internal.h"

/* The first waiting operation of a die that may join, or NONE. */
static uint32_t first_of_die(const Nand *n, uint32_t leader,
                             NandFirstJoinable *first_joinable, uint32_t die)
{
    uint32_t first = die * n->geo.planes_per_die;
    uint32_t best = NONE;

    for (uint32_t p = first; p < first + n->geo.planes_per_die; p++) {
        uint32_t i = first_joinable(n, leader, p);

        if (i != NONE && (best == NONE || n->op[i].order < n->op[best].order)) {
            best = i;
        }
    }
    return best;
}

/* May they be one multi-plane command of their die? */
static bool same_page(const Nand *n, uint32_t i, uint32_t k)
{
    return n->op[i].kind == NAND_ERASE ||
           nand_page_in_block(&n->geo, n->op[i].ppa.page) ==
               nand_page_in_block(&n->geo, n->op[k].ppa.page);
}

/* Add what a die contributes beside its first operation. */
static uint32_t add_planes(const Nand *n, uint32_t leader,
                           NandFirstJoinable *first_joinable, uint32_t first,
                           uint32_t *joined, uint32_t found)
{
    uint32_t begin = n->op[first].die * n->geo.planes_per_die;

    for (uint32_t p = begin; p < begin + n->geo.planes_per_die; p++) {
        uint32_t i =
            p == n->op[first].plane ? NONE : first_joinable(n, leader, p);

        if (i != NONE && same_page(n, i, first)) {
            invariant(found < NAND_MOST_JOINED);
            joined[found++] = i;
        }
    }
    return found;
}

uint32_t nand_composite_joinable(const Nand *n, uint32_t leader,
                                 NandFirstJoinable *first_joinable,
                                 uint32_t *joined)
{
    uint32_t dies = n->planes_per_unit / n->geo.planes_per_die;
    uint32_t begin = n->op[leader].unit * dies;
    uint32_t found = 0;

    invariant(n->cfg.composite && n->op[leader].kind != NAND_READ);
    for (uint32_t die = begin; die < begin + dies; die++) {
        bool own = die == n->op[leader].die;
        uint32_t first =
            own ? leader : first_of_die(n, leader, first_joinable, die);

        if (first == NONE) {
            continue;
        }
        if (!own) {
            invariant(found < NAND_MOST_JOINED);
            joined[found++] = first;
        }
        if (n->cfg.multi_plane) {
            found = add_planes(n, leader, first_joinable, first, joined, found);
        }
    }
    return found;
}
