/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-clock-dnv.c - a clock of units, and a clock of blocks for the dirty ones
 * that it evicts.
 *
 * After D. H. Kang et al., "CLOCK-DNV: a write buffer algorithm for flash
 * storage devices of consumer electronics", IEEE Transactions on Consumer
 * Electronics 63(1), 2017: a write buffer of two memories, DRAM and
 * non-volatile, which makes sequential writes of random ones, and pads its
 * writes with dirty pages.  The text was not at hand; of it the abstract is
 * used, and the rest is ours:
 *
 *   first part   a clock of units; the hand gives a unit that was used since
 * its last visit another round; a clean one goes, a dirty one moves on second
 * part  a quarter of the buffer; a clock of blocks (buffer.block).  When it is
 * full, the first block in which nothing was used since the hand's last visit
 * leaves with all its dirty units, in the first part as well (dirty page
 * padding)
 *
 * The second memory is no safer here than the first: buffer.plp protects both
 * or none.  Unlike in a write buffer, data that is read is kept, in the first
 * part.
 */
#include "buffer/buffer-policy.h"
#include "ilist.h"

enum {
    FIRST,
    SECOND,
};

#define SECOND_SHARE 4 /* one in so many units */

/* Two links of a unit; for each block, of which there may be as many as units, its
 * number, a count, two links. */
#define OVERHEAD (8 + 16)

typedef struct Link { /* by slot: in its block's chain of dirty units */
    uint32_t newer, older;
    uint32_t block; /* + 1; 0: in none */
    uint8_t second; /* it is in the second part */
    uint8_t used;   /* in the first part, since the hand's last visit */
} Link;

typedef struct DnvBlock {
    IlistN dirty;            /* units, newest first */
    uint32_t n_second;       /* of them, in the second part */
    uint32_t next, prev;     /* in the clock, while n_second > 0 */
    uint32_t used;
} DnvBlock;

/* The state: then the blocks by number, and the links. */
typedef struct Dnv {
    Ilist clock;      /* of blocks; its hand is at the tail */
    uint32_t leaving; /* block of the victim that was named last, or none */
    uint32_t n_blocks;
    DnvBlock block[];
} Dnv;

/* ---- start --------------------------------------------------------------- */

static uint32_t n_blocks(const VssdShape *s)
{
    return (uint32_t)(s->units / s->buffer_block_units + 1);
}

static size_t dnv_bytes(const VssdShape *s)
{
    return sizeof(Dnv) + n_blocks(s) * sizeof(DnvBlock) +
           s->slot_numbers * sizeof(Link);
}

static void dnv_init(void *state, const VssdShape *s)
{
    Dnv *d = state;

    d->clock = ILIST_EMPTY;
    d->leaving = VSSD_NONE;
    d->n_blocks = n_blocks(s);
}

static Link *links_of(const Dnv *d)
{
    return (Link *)(d->block + d->n_blocks);
}

/* ---- the clock of blocks ------------------------------------------------- */

static IlistLinks block_links(const Dnv *d)
{
    return ILIST_LINKS(d->block, DnvBlock, next, prev);
}

static void clock_add(Dnv *d, uint32_t b)
{
    ilist_push_head(block_links(d), &d->clock, b);
}

static void clock_drop(Dnv *d, uint32_t b)
{
    ilist_remove(block_links(d), &d->clock, b);
}

/* A dirty unit moves to the second part. */
static void second_add(Dnv *d, uint32_t slot)
{
    Link *l = &links_of(d)[slot];
    DnvBlock *b = &d->block[l->block - 1];

    if (!l->second && b->n_second++ == 0) {
        b->used = false;
        clock_add(d, l->block - 1);
    }
    l->second = true;
}

static void second_drop(Dnv *d, uint32_t slot)
{
    Link *l = &links_of(d)[slot];

    if (l->second && --d->block[l->block - 1].n_second == 0) {
        clock_drop(d, l->block - 1);
    }
    l->second = false;
}

/* ---- chains of dirty units ----------------------------------------------- */

static IlistLinks chain_links(const Dnv *d)
{
    return ILIST_LINKS(links_of(d), Link, older, newer);
}

static void chain_add(VssdView *v, uint32_t slot)
{
    Dnv *d = v->state;
    Link *l = &links_of(d)[slot];
    uint32_t b =
        (uint32_t)(v->list->unit(v, slot) / v->shape->buffer_block_units);

    if (l->block == 0) {
        ilistn_push_head(chain_links(d), &d->block[b].dirty, slot);
        l->block = b + 1;
    }
}

static void chain_drop(VssdView *v, uint32_t slot)
{
    Dnv *d = v->state;
    Link *l = &links_of(d)[slot];

    second_drop(d, slot);
    if (l->block > 0) {
        ilistn_remove(chain_links(d), &d->block[l->block - 1].dirty, slot);
        l->block = 0;
    }
}

/* ---- calls of the buffer ------------------------------------------------ */

static void dnv_insert(VssdView *v, uint32_t slot)
{
    Dnv *d = v->state;

    links_of(d)[slot].used = false;
    if (!v->list->clean(v, slot)) {
        chain_add(v, slot);
    }
}

static void dnv_read(VssdView *v, uint32_t slot)
{
    Dnv *d = v->state;
    Link *l = &links_of(d)[slot];

    if (l->second) {
        d->block[l->block - 1].used = true;
    } else {
        l->used = true;
    }
}

static void dnv_written(VssdView *v, uint32_t slot)
{
    dnv_read(v, slot);
    chain_add(v, slot);
}

/* A clean unit is in the first part. */
static void dnv_cleaned(VssdView *v, uint32_t slot)
{
    chain_drop(v, slot);
    if (v->list->list_of(v, slot) == SECOND) {
        v->list->move(v, slot, FIRST);
    }
}

static void dnv_replaced(VssdView *v, uint32_t from, uint32_t to)
{
    Dnv *d = v->state;
    Link *link = links_of(d);

    chain_drop(v, to);
    link[to].used = link[from].used;
    link[to].second = link[from].second;
    if (link[from].block > 0) {
        ilist_replace(chain_links(d),
                      &d->block[link[from].block - 1].dirty.ends, from, to);
    }
    link[to].block = link[from].block;
    link[from].block = 0;
    link[from].second = false;
}

/* ---- victims ------------------------------------------------------------- */

/* The oldest unit of the block on which the hand comes to rest, or none. */
static uint32_t block_victim(Dnv *d)
{
    uint32_t b;

    while ((b = d->clock.tail) != VSSD_NONE && d->block[b].used) {
        d->block[b].used = false;
        clock_drop(d, b);
        clock_add(d, b);
    }
    d->leaving = b;
    return b == VSSD_NONE ? VSSD_NONE : d->block[b].dirty.tail;
}

static uint32_t dnv_victim(VssdView *v)
{
    Dnv *d = v->state;
    uint32_t most = v->shape->slots / SECOND_SHARE;
    uint32_t slot;

    d->leaving = VSSD_NONE;
    while (v->list->count(v, SECOND) < MAX(most, 1) &&
           (slot = v->list->oldest(v, FIRST)) != VSSD_NONE) {
        Link *l = &links_of(d)[slot];

        if (l->used) {
            l->used = false;
            v->list->move(v, slot, FIRST);
        } else if (l->block > 0) {
            v->list->move(v, slot, SECOND);
            second_add(d, slot);
        } else {
            return slot;
        }
    }
    return block_victim(d);
}

static uint32_t dnv_follows(VssdView *v, uint64_t unit)
{
    const Dnv *d = v->state;
    uint32_t b = (uint32_t)(unit / v->shape->buffer_block_units);

    return b == d->leaving && d->block[b].dirty.n > 0 ? d->block[b].dirty.tail
                                                      : VSSD_NONE;
}

/* ---- of a loaded state --------------------------------------------------- */

static bool chain_ok(const Dnv *d, uint32_t b, uint32_t n_links)
{
    const DnvBlock *x = &d->block[b];
    const Link *link = links_of(d);
    uint32_t second = 0;
    uint32_t newer = VSSD_NONE;
    uint32_t i = x->dirty.head;

    for (uint32_t k = 0; k < x->dirty.n; k++) {
        if (i >= n_links || link[i].block != b + 1 || link[i].newer != newer ||
            link[i].second > 1) {
            return false;
        }
        second += link[i].second;
        newer = i;
        i = link[i].older;
    }
    return second == x->n_second &&
           (x->dirty.n == 0 || (i == VSSD_NONE && x->dirty.tail == newer));
}

static bool clock_ok(const Dnv *d, uint32_t n)
{
    uint32_t prev = VSSD_NONE;
    uint32_t b = d->clock.head;

    for (uint32_t k = 0; k < n; k++) {
        if (b >= d->n_blocks || d->block[b].n_second == 0 ||
            d->block[b].prev != prev) {
            return false;
        }
        prev = b;
        b = d->block[b].next;
    }
    return b == VSSD_NONE && d->clock.tail == prev;
}

/* Each link of a block is in its chain, and each block with units in the second
 * part in the clock. */
static bool dnv_ok(const void *state, const VssdShape *s)
{
    const Dnv *d = state;
    uint64_t in_chains = 0;
    uint64_t n_links = 0;
    uint32_t n_second = 0;

    if (d->n_blocks != n_blocks(s)) {
        return false;
    }
    for (uint32_t b = 0; b < d->n_blocks; b++) {
        if (!chain_ok(d, b, s->slot_numbers)) {
            return false;
        }
        in_chains += d->block[b].dirty.n;
        n_second += d->block[b].n_second > 0;
    }
    for (uint32_t i = 0; i < s->slot_numbers; i++) {
        const Link *l = &links_of(d)[i];

        n_links += l->block > 0;
        if (l->block == 0 && l->second) {
            return false;
        }
    }
    return in_chains == n_links && clock_ok(d, n_second) &&
           (d->leaving == VSSD_NONE || d->leaving < d->n_blocks);
}

/* A slot is in the list of its part, and a dirty one in the chain of its block;
 * *linked counts those of chains. */
static bool part_fits(VssdView *v, uint32_t list, uint64_t *linked)
{
    const Link *link = links_of(v->state);
    uint32_t slot = v->list->oldest(v, list);

    for (; slot != VSSD_NONE; slot = v->list->newer(v, slot)) {
        const Link *l = &link[slot];
        uint64_t block =
            v->list->unit(v, slot) / v->shape->buffer_block_units + 1;

        if (l->second != (list == SECOND) ||
            l->block != (v->list->clean(v, slot) ? 0 : block)) {
            return false;
        }
        *linked += l->block > 0;
    }
    return true;
}

/* Each chained slot is listed. */
static bool dnv_fits(VssdView *v)
{
    const Link *link = links_of(v->state);
    uint64_t linked = 0;

    if (!part_fits(v, FIRST, &linked) || !part_fits(v, SECOND, &linked)) {
        return false;
    }
    for (uint32_t i = 0; i < v->shape->slot_numbers; i++) {
        linked -= link[i].block > 0;
    }
    return linked == 0;
}

BUFFER_POLICY(clock_dnv, "clock-dnv",
              "a cache whose dirty units, passed over by a clock, wait for "
              "others of their block and leave with them",
              .state_bytes = dnv_bytes, .init = dnv_init, .check = dnv_ok,
              BUFFER_PART(.slot_bytes = OVERHEAD, .insert = dnv_insert,
                          .written = dnv_written, .read = dnv_read,
                          .cleaned = dnv_cleaned, .removed = chain_drop,
                          .replaced = dnv_replaced, .victim = dnv_victim,
                          .follows = dnv_follows, .fits = dnv_fits));
