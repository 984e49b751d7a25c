/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spare.c - spare areas: the data beside each unit in NAND.
 *
 * Knows the names of units after a power cut; does not know which copy of it is
 * the current one.
 */
#include "lazymem.h"
#include "inspect/inspect.h"
#include "inspect/oplog.h"
#include "media/spare.h"
#include "ssd-internal.h"

void spare_init(Ssd *ssd)
{
    Media *m = ssd->media;

    invariant(!m->spare_lpn.element);
    m->spare_lpn = numtable_new(ssd->l.raw_units, ssd->l.wide);
    if (ssd->client || saves(ssd)) {
        m->spare_version = lazy_new(uint64_t, ssd->l.raw_units);
    }
    if (ssd->l.n_streams > 1) {
        m->spare_stream = lazy_new(uint8_t, ssd->l.raw_units);
    }
    if (saves(ssd)) {
        m->spare_seq = lazy_new(uint64_t, ssd->geo->n_pages);
    }
}

void spare_destroy(Ssd *ssd)
{
    Media *m = ssd->media;

    numtable_free(&m->spare_lpn);
    lazy_free(m->spare_version, ssd->l.raw_units, sizeof(*m->spare_version));
    lazy_free(m->spare_stream, ssd->l.raw_units, sizeof(*m->spare_stream));
    lazy_free(m->spare_seq, ssd->geo->n_pages, sizeof(*m->spare_seq));
}

void spare_computed(Ssd *ssd)
{
    invariant(ssd->preloaded.on);
    numtable_set_first(&ssd->media->spare_lpn, preloaded_spare,
                       &ssd->preloaded);
}

void spare_write_lpns(Ssd *ssd, uint64_t ppu, uint64_t lpn, uint32_t n)
{
    numtable_count_up(&ssd->media->spare_lpn, ppu, n, lpn + 1);
}

void spare_write(Ssd *ssd, uint64_t ppu, uint64_t lpn, uint64_t version,
                 uint32_t stream)
{
    Media *m = ssd->media;

    numtable_set(&m->spare_lpn, ppu, lpn + 1);
    if (m->spare_version) {
        m->spare_version[ppu] = version;
    }
    if (m->spare_stream) {
        m->spare_stream[ppu] = (uint8_t)stream;
    }
}

void spare_blank(Ssd *ssd, uint64_t first, uint32_t n)
{
    numtable_fill(&ssd->media->spare_lpn, first, n, SPARE_NONE);
}

void spare_poison(Ssd *ssd, uint64_t ppu)
{
    NumTable *t = &ssd->media->spare_lpn;

    invariant(numtable_get(t, ppu) != SPARE_NONE);
    numtable_set(t, ppu, numtable_get(t, ppu) | ~t->mask);
}

void spare_copy(Ssd *ssd, uint64_t from, uint64_t to)
{
    Media *m = ssd->media;

    oplog_unit(ssd->inspect.log, OPLOG_PLACE, 1, unit_stream(ssd, from),
               spare_lpn(ssd, from), ssd->now_ps, from, to);
    numtable_set(&m->spare_lpn, to, numtable_get(&m->spare_lpn, from));
    if (m->spare_version) {
        m->spare_version[to] = m->spare_version[from];
    }
    if (m->spare_stream) {
        m->spare_stream[to] = m->spare_stream[from];
    }
}

void spare_tear(Ssd *ssd, uint64_t page, uint32_t n)
{
    invariant(page + n <= ssd->geo->n_pages);
    for (uint32_t i = 0; ssd->media->spare_seq && i < n; i++) {
        ssd->media->spare_seq[page + i] = 0;
    }
}

void spare_wipe_block(Ssd *ssd, uint32_t block)
{
    invariant(block < ssd->geo->n_blocks);
    spare_blank(ssd, block_ppu(ssd, block), ssd->l.units_per_block);
    spare_tear(ssd, nand_block_page(ssd->geo, block),
               ssd->geo->pages_per_block);
}

/* ---- when a page was programmed ----------------------------------------- */

uint64_t seq_next(Ssd *ssd)
{
    invariant(ssd->media->prog_seq < SEQ_MASK);
    return ++ssd->media->prog_seq;
}

void seq_found(Ssd *ssd, uint64_t seq)
{
    invariant(seq <= SEQ_MASK);
    ssd->media->prog_seq = MAX(ssd->media->prog_seq, seq);
}

void seq_forget(Ssd *ssd)
{
    ssd->media->prog_seq = 0;
}

void spare_stamp_seq(Ssd *ssd, uint64_t page, uint32_t n, uint64_t open)
{
    uint64_t seq = seq_next(ssd) | open << SEQ_BITS;

    invariant(open < ssd->l.n_open && page + n <= ssd->geo->n_pages);
    for (uint32_t i = 0; i < n; i++) {
        ssd->media->spare_seq[page + i] = seq;
    }
}
