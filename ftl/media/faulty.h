/* SPDX-License-Identifier: GPL-2.0-or-later */
/* faulty.h - operations of the array, with scripted faults. */
#ifndef VSSD_FTL_FAULTY_H
#define VSSD_FTL_FAULTY_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "media/media-internal.h"
#include "ssd-internal.h"

/* nand_submit(), after the rules that name LBAs. */
void faulty_submit(Ssd *ssd, NandOp *op);

/* The host has submitted a command: does a rule cut the power now? */
bool faulty_cmd(Ssd *ssd);

/* Array found a rule that cuts the power. */
void faulty_cut(void *opaque);

/* Wait for the next rule that cuts the power by the clock; the same, when there
 * may be one that was waited for. */
void faulty_arm(Ssd *ssd);
void faulty_rearm(Ssd *ssd);

/* Those that hold some of the blocks first..last of the host, if the unit holds
 * any (by its spare area); else 0. */
uint64_t unit_lba_parts(const Ssd *ssd, uint64_t ppu, uint64_t first,
                        uint64_t last);

/* The first of a unit's blocks that is in one of the parts (at least one is).
 */
uint64_t unit_first_lba(const Ssd *ssd, uint64_t ppu, uint64_t parts);

#endif
