/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deal.c - consecutive units go to different dies, although each die is
 * programmed a word line at a time (nand.one_shot).
 *
 * A row takes units from the head of its stream's queue.  So before rows begin,
 * the units for them are put into the order in which rows will take them: the
 * first page of each plane of the first row's dies, then its second page, and
 * so on (row_dealt_page()).  A read of some pages in order then finds each on
 * another die.  Without nand.one_shot a program is one page, and the order of
 * ftl.stripe does that by itself.
 *
 * Knows the queue of fresh units, and whether they follow each other; units
 * that something waits for go in their own order.  Which plane takes a row is
 * placement/'s.
 */
#include "buffer/deal.h"

#include "buffer/buffer-internal.h"
#include "buffer/stream-queue.h"
#include "media/row.h"
#include "ssd-internal.h"

/* Walks the list in its new order, and links it. */
typedef struct Relink {
    Ssd *ssd;
    uint32_t last; /* slot, or NONE at the head */
    SlotList *list;
} Relink;

static void relink(Relink *r, uint32_t slot)
{
    Slot *s = r->ssd->buffer->slot;

    if (slot != NONE) {
        s[slot].before = r->last;
    }
    if (r->last == NONE) {
        r->list->head = slot;
    } else {
        s[r->last].after = slot;
    }
    r->last = slot;
}

/* Units of a die's planes, one program of each after the other. */
static void deal_die(Relink *r, const RowDeal *d, uint32_t die,
                     const uint32_t *order)
{
    uint32_t n = r->ssd->l.units_per_page;

    for (uint32_t plane = 0; plane < d->planes; plane++) {
        for (uint32_t page = 0; page < d->pages; page++) {
            uint32_t from = row_dealt_page(d, die, plane, page) * n;

            for (uint32_t i = from; i < from + n; i++) {
                relink(r, order[i]);
            }
        }
    }
}

/* The first units of the queue, for so many rows. */
static void deal(Ssd *ssd, StreamQueue *q, uint32_t rows)
{
    uint32_t units = rows * ssd->l.deal_units;
    RowDeal d = row_deal(ssd, rows);
    Relink r = {.ssd = ssd, .last = NONE, .list = &q->fresh};
    uint32_t *order = ssd->buffer->deal;
    uint32_t slot = q->fresh.head;

    for (uint32_t i = 0; i < units; i++) {
        order[i] = slot;
        slot = ssd->buffer->slot[slot].after;
    }
    for (uint32_t die = 0; die < d.dies; die++) {
        deal_die(&r, &d, die, order);
    }
    if (slot == NONE) {
        q->fresh.tail = r.last;
    }
    relink(&r, slot);
    q->n_dealt = units;
}

#define SEEN 8

/* Do some of the first units follow each other?  Those of random writes have no
 * order to keep, and stay as they are. */
static bool in_order(const Ssd *ssd, const StreamQueue *q)
{
    uint64_t lpn[SEEN];
    uint32_t slot = q->fresh.head;

    for (uint32_t n = 0; n < SEEN && slot != NONE; n++) {
        lpn[n] = ssd->buffer->slot[slot].lpn;
        for (uint32_t i = 0; i < n; i++) {
            if (lpn[n] == lpn[i] + 1 || lpn[i] == lpn[n] + 1) {
                return true;
            }
        }
        slot = ssd->buffer->slot[slot].after;
    }
    return false;
}

void deal_out(Ssd *ssd, uint32_t stream, uint64_t page)
{
    StreamQueue *q = stream_queue(ssd, stream);
    uint32_t rows;

    invariant(stream < ssd->l.n_streams && page < ssd->geo->n_pages);
    if (!ssd->buffer->deal || deal_goes_on(ssd, q) || q->due.n > 0 ||
        q->fresh.n < ssd->l.deal_units ||
        block_program_units(ssd, page) < ssd->l.units_per_program) {
        return;
    }
    rows = MIN(ssd->l.deal_rows, q->fresh.n / ssd->l.deal_units);
    if (in_order(ssd, q)) {
        deal(ssd, q, rows);
    } else {
        q->n_dealt = rows * ssd->l.deal_units;
    }
}
