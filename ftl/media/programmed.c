/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * programmed.c - how much the array has programmed for each stream.
 *
 * Knows whose a unit is by the spare area beside it; does not know which
 * component sent the page, nor why.
 */
#include "media/programmed.h"

#include "media/blocks.h"
#include "media/spare.h"

void programmed_init(Ssd *ssd)
{
    ssd->media->programmed = g_new0(uint64_t, ssd->l.n_streams + 1);
    ssd->media->programmed_base = g_new0(uint64_t, ssd->l.n_streams + 1);
}

void programmed_destroy(Ssd *ssd)
{
    g_free(ssd->media->programmed);
    g_free(ssd->media->programmed_base);
}

void programmed_reset(Ssd *ssd)
{
    memcpy(ssd->media->programmed_base, ssd->media->programmed,
           (ssd->l.n_streams + 1) * sizeof(uint64_t));
}

/* Whose the unit is: padding and parity are of the stream of their block. */
static uint32_t stream_of(const Ssd *ssd, uint64_t ppu, uint32_t block)
{
    if (numtable_get(&ssd->media->spare_lpn, ppu) == SPARE_NONE) {
        return block_stream(ssd, block);
    }
    return unit_is_meta(ssd, ppu) ? ssd->l.n_streams : unit_stream(ssd, ppu);
}

/* All units are of stream 0: the drive has no further one, and no pages of its
 * own. */
static bool of_one_stream(const Ssd *ssd)
{
    return ssd->l.n_streams == 1 && ssd->l.meta_units == 0 &&
           ssd->l.n_saved == 0;
}

void programmed_count(Ssd *ssd, const NandOp *op)
{
    uint32_t block = page_block(ssd, op->ppa.page);
    uint32_t n = op->kind == NAND_PROGRAM
                     ? block_program_units(ssd, op->ppa.page)
                     : ssd->l.units_per_page;
    uint64_t first = page_ppu(ssd, op->ppa.page);

    invariant(op->kind == NAND_PROGRAM || op->kind == NAND_COPYBACK);
    if (op->cause == NAND_CAUSE_META || op->cause == NAND_CAUSE_MAP) {
        ssd->media->programmed[ssd->l.n_streams] += n; /* the drive's own */
        return;
    }
    if (of_one_stream(ssd)) {
        ssd->media->programmed[0] += n;
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        ssd->media->programmed[stream_of(ssd, first + i, block)]++;
    }
}

uint64_t programmed_units(const Ssd *ssd, uint32_t stream)
{
    invariant(stream <= ssd->l.n_streams);
    return ssd->media->programmed[stream];
}

uint64_t programmed_since(const Ssd *ssd, uint32_t stream)
{
    return programmed_units(ssd, stream) - ssd->media->programmed_base[stream];
}
