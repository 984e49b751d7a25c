/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check-medium.c - the contents of each page, and the place of each logical
 * unit. */
#include "check.h"

#include <string.h>

/* ---- the medium ---------------------------------------------------------- */

void set_pages(uint64_t first, uint32_t n, uint8_t state)
{
    memset(k.page + first, state, n);
}

void medium_read(const Op *op, uint64_t page)
{
    if (k.page[page] != HOLDS && k.page[page] != DESTROYED) {
        broken(page, op->owner, "read-unprogrammed",
               "page %u of block %u holds nothing", page_in_block(page),
               block_of(page));
    }
}

void medium_program(const Op *op, uint32_t n)
{
    Block *b = &k.block[block_of(op->page)];
    uint32_t page = page_in_block(op->page);

    if (b->erasing) {
        broken(op->page, 0, "erase-before-program",
               "block %u has not been erased since its erase was begun",
               block_of(op->page));
    }
    if (page + n > pages_of(op->page) || k.page[op->page] == WRITTEN_TO ||
        k.page[op->page] == HOLDS || k.page[op->page] == DESTROYED) {
        broken(op->page, 0, "erase-before-program",
               "page %u of block %u was programmed since the last erase", page,
               block_of(op->page));
    }
    if (page < b->low || page > b->high) {
        broken(op->page, 0, "page-order", "page %u of block %u, expected %u",
               page, block_of(op->page), b->low);
    }
    b->low = b->high = page + n;
    b->programs++;
    set_pages(op->page, n, WRITTEN_TO);
}

void medium_erase(const Op *op)
{
    Block *b = &k.block[block_of(op->page)];

    if (b->live) {
        broken(op->page, 0, "lost-data", "block %u holds %u units that are "
               "current", block_of(op->page), b->live);
    }
    if (b->programs || b->erase_running) {
        broken(op->page, 0, "erase-before-program",
               "block %u: %u programs and %u erases have not ended",
               block_of(op->page), b->programs, b->erase_running);
    }
    b->erasing = true;
    b->erase_running = true;
}

void medium_erased(const Op *op)
{
    Block *b = &k.block[block_of(op->page)];
    uint64_t first = first_page(block_of(op->page));

    *b = (Block){.live = b->live};
    set_pages(first, k.h.pages, ERASED);
    memset(k.content + first * k.units_per_page, 0,
           sizeof(Content) * k.h.pages * k.units_per_page);
}

/* ---- the map ------------------------------------------------------------- */

Lpn *lpn_of(uint64_t lpn)
{
    if (lpn >= k.h.user_units) {
        broken(NONE, 0, "map", "logical unit %" PRIu64 " of %" PRIu64, lpn,
               k.h.user_units);
    }
    return unit_at(lpn);
}

Lpn *any_unit(uint64_t lpn)
{
    return lpn - k.h.user_units < k.h.meta_units ? unit_at(lpn) : lpn_of(lpn);
}

bool is_buffered(const Lpn *l)
{
    return l->gen != l->clean;
}

static Block *block_of_ppu(uint64_t ppu)
{
    return &k.block[block_of(ppu / k.units_per_page)];
}

void map_set(Lpn *l, uint64_t ppu_plus_1)
{
    if (l->ppu) {
        block_of_ppu(l->ppu - 1)->live--;
    }
    l->ppu = ppu_plus_1;
    if (l->ppu) {
        block_of_ppu(l->ppu - 1)->live++;
    }
}

void unit_programmed(const Placed *p)
{
    Lpn *l = &k.lpn[p->lpn];

    k.content[p->ppu] = p->from != NONE
                            ? k.content[p->from]
                            : (Content){p->lpn + 1, p->gen, p->stream};
    if (p->from != NONE) {
        if (l->ppu == p->from + 1) {
            map_set(l, p->ppu + 1);
        }
        return;
    }
    if (l->trim_no > p->no) {
        return; /* trimmed on its way */
    }
    map_set(l, p->ppu + 1);
    if (l->gen == p->gen) {
        l->clean = p->gen;
    }
}

/* A program that failed: its units have to be placed again. */
void unit_failed(const Placed *p)
{
    Lpn *l = &k.lpn[p->lpn];

    if (p->lpn >= k.h.user_units && p->from == NONE) {
        return; /* the drive knows its own data */
    }
    if (p->from != NONE) {
        if (k.n_failed == FAILED_COPIES) {
            unreadable("more programs failed at a time than this can follow");
        }
        k.failed[k.n_failed++] = p->from;
        return;
    }
    l->failed = p->gen;
    l->dropped = l->trim_no > p->no;
}

/* Is the unit there copied again, because the first copy failed?  The host may
 * have written it again meanwhile. */
bool copied_again(uint64_t ppu)
{
    for (uint32_t i = 0; i < k.n_failed; i++) {
        if (k.failed[i] == ppu) {
            k.failed[i] = k.failed[--k.n_failed];
            return true;
        }
    }
    return false;
}
