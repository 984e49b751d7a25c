/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * age-tree.h - the FULL block of a plane that scores most by age and valid
 * units, its own or, with superblock.width, those of its superblock.
 */
#ifndef VSSD_FTL_AGE_TREE_H
#define VSSD_FTL_AGE_TREE_H

#include "layers.h"
#if FTL_LAYER != FTL_GC && FTL_LAYER != FTL_ALL
#error "private to ftl/gc: docs/architecture.md"
#endif

#include <stdbool.h>
#include <stdint.h>

#include "ssd.h"
#include "vssd-policy.h"

typedef struct AgeTrees AgeTrees; /* Gc.age_trees; NULL: nothing needs them */

typedef double (*AgeScore)(VssdView *v, double age, double valid);

void age_trees_init(Ssd *ssd);
void age_trees_destroy(Ssd *ssd);

/* The lists of FULL blocks are others now. */
void age_trees_forget(Ssd *ssd);

/* With Gc.age_trees: a block has come to the end of Plane.by_age, leaves it,
 * has another number of valid units. */
void age_tree_append(Ssd *ssd, uint32_t plane, uint32_t block);
void age_tree_remove(Ssd *ssd, uint32_t plane, uint32_t block);
void age_tree_change(Ssd *ssd, uint32_t plane, uint32_t block);

/* With Gc.superblock_means: the slot of a FULL block is another one now; those
 * of all blocks of the plane are. */
void age_tree_new_slot(Ssd *ssd, uint32_t block);
void age_tree_new_slots(Ssd *ssd, uint32_t plane);

/* The block that gains a program's pages at least (gc_gains()) and scores most
 * by gc_valid() (VssdGcPolicy.score), the first of them in Plane.by_age; NONE:
 * there is none. */
uint32_t age_tree_best(Ssd *ssd, uint32_t plane, AgeScore score, VssdView *v);

/* With ftl.wear=static: of the first n blocks of Plane.by_age (all, if there
 * are fewer) the first of those that were erased least, if that is less than
 * limit; else NONE. */
uint32_t age_tree_least_erased(Ssd *ssd, uint32_t plane, uint32_t n,
                               uint32_t limit);

/* For ssd_check(). */
bool age_trees_check(const Ssd *ssd, GError **error);

#endif
