/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * precondition.h - bring a drive to the steady state of random overwrites,
 * without modelled time (ssd_age()).
 */
#ifndef VSSD_SIM_PRECONDITION_H
#define VSSD_SIM_PRECONDITION_H

#include "json.h"
#include "progress.h"
#include "ssd.h"

typedef struct Precondition {
    uint64_t host_units;     /* written, the fill included */
    uint64_t nand_pages;     /* programmed */
    uint64_t nand_units;     /* in them */
    double capacities;       /* overwritten at random after the fill */
    double waf;              /* of the last two of them */
    bool converged;          /* it had ceased to change */
    /* The drive was laid out as copies of a model, of which the above is: the
     * model's part of the drive's units, and the part of these that was
     * overwritten then; 0: the drive was played itself. */
    double model_part;
    unsigned overwritten_percent;
} Precondition;

/*
 * Write every unit in order, then units at random, each as likely, until the
 * write amplification of two capacities differs by less than half a percent
 * from that of the two before, 40 capacities at most.  A large drive is laid
 * out as copies of one that was written so, if it has a model (ssd_model()).
 * Statistics of the drive start again; wear stays.  progress counts units; or
 * NULL.  false: the drive takes no more.
 */
bool precondition(Ssd *ssd, uint64_t seed, Precondition *result,
                  Progress *progress, GError **error);

#endif
