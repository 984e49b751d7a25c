/* SPDX-License-Identifier: GPL-2.0-or-later */
/* aged-ops.h - operations without modelled time; see state/age.c. */
#ifndef VSSD_FTL_AGED_OPS_H
#define VSSD_FTL_AGED_OPS_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "ssd-internal.h"

/* Operations that have been submitted and not ended, in order. */
struct Age {
    NandOp *op; /* ring of capacity, a power of two */
    uint32_t capacity;
    uint32_t first, n;
    bool on;
};

/* true: no time passes, and the operation will end by itself. */
bool age_takes(Ssd *ssd, const NandOp *op);
void age_destroy(Ssd *ssd);

/* An operation of the array takes place at once.  Of a program the spare areas
 * are as they will be. */
void age_op(Ssd *ssd, const NandOp *op);

/* Is a drive being aged: do operations end without time? */
bool age_is_on(const Ssd *ssd);

#endif
