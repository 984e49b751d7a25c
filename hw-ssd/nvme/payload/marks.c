/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * marks.c - blocks that the host has made uncorrectable.
 *
 * Write Uncorrectable is a write whose blocks carry a mark in place of data.
 * While the blocks are in the overlay the mark is in their entry, so it moves,
 * is overtaken, and is lost in a power cut as data is.  The marks of blocks
 * that have come to the store are here, a bit for each block: the store itself
 * has no place for them.
 *
 * A guest can use one bit of memory for each block of the drive.
 */
#include "payload-internal.h"

#include "lazymem.h"

#include <string.h>

static size_t n_words(const Payload *p)
{
    return bitmap_words(p->nblocks);
}

bool payload_marks_find(const Payload *p, uint64_t first, uint64_t nblocks,
                        uint64_t *lba)
{
    if (p->nmarks == 0) {
        return false;
    }
    *lba = bitmap_next(p->marks, first, first + nblocks);
    return *lba < first + nblocks;
}

void payload_marks_put(Payload *p, uint64_t lba, bool marked)
{
    g_assert(lba < p->nblocks);
    if (!p->marks) {
        p->marks = lazy_new(uint64_t, n_words(p));
    }
    p->nmarks -= bitmap_test(p->marks, lba);
    p->nmarks += marked;
    bitmap_put(p->marks, lba, marked);
}

void payload_marks_written(Payload *p, const PayloadEntry *e)
{
    uint64_t lba = e->lpn * p->unit_blocks;

    for (unsigned b = 0; b < p->unit_blocks; b++) {
        if (entry_has(e, b)) {
            payload_marks_put(p, lba + b, bitmap_test(e->marked, b));
        }
    }
}

void payload_marks_zeroed(Payload *p, uint64_t lpn, uint64_t nunits)
{
    uint64_t lba = lpn * p->unit_blocks;
    uint64_t end = MIN(lba + nunits * p->unit_blocks, p->nblocks);

    while (lba < end && payload_marks_find(p, lba, end - lba, &lba)) {
        payload_marks_put(p, lba++, false);
    }
}

uint64_t payload_marked_blocks(const Payload *p)
{
    return p->nmarks;
}

void payload_marks_free(Payload *p)
{
    if (p->marks) {
        lazy_free(p->marks, n_words(p), sizeof(*p->marks));
    }
}

void payload_write_mark(Payload *p, PayloadEntry *list)
{
    for (PayloadEntry *e = list; e; e = e->next) {
        memset(e->data + (size_t)e->first * p->block_bytes, 0,
               (size_t)e->count * p->block_bytes);
        memcpy(e->marked, e->valid, sizeof(e->marked));
        e->has_marks = true;
    }
}
