/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * age-tree.h - the FULL block of a plane that scores most by age and valid units.
 */
#ifndef VSSD_FTL_AGE_TREE_H
#define VSSD_FTL_AGE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "ssd.h"

typedef struct AgeTrees AgeTrees; /* Ssd.age_trees; NULL: the policy needs none */

void age_trees_init(Ssd *ssd);
void age_trees_destroy(Ssd *ssd);
bool age_trees_wanted(const Ssd *ssd);

/* The lists of FULL blocks are others now. */
void age_trees_forget(Ssd *ssd);

/* With Ssd.age_trees: a block has come to the end of Plane.oldest, leaves it, has
 * another number of valid units. */
void age_tree_append(Ssd *ssd, uint32_t plane, uint32_t block);
void age_tree_remove(Ssd *ssd, uint32_t plane, uint32_t block);
void age_tree_change(Ssd *ssd, uint32_t plane, uint32_t block);

/* The block that gains a program's pages at least and has the highest
 * age_tree_score() (gc-cost-benefit.c), the first of them in Plane.oldest; NONE:
 * there is none. */
uint32_t age_tree_best(Ssd *ssd, uint32_t plane);

#endif
