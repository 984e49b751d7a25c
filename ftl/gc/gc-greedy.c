/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-greedy.c - the block with the fewest valid units is the next victim.
 *
 * Source: M. Rosenblum, J. Ousterhout, "The design and implementation of a
 * log-structured file system", ACM TOCS 10(1), 1992, section 3.5 (greedy).
 */
#include "gc/gc-policy.h"

static uint32_t greedy_pick(VssdView *v, uint32_t plane)
{
    return v->gc->least(v, plane);
}

GC_POLICY(greedy, "greedy", "the block with the fewest valid units",
          .pick = greedy_pick);
