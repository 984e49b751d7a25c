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
#include "buffer/buf-list.h"
#include "buffer/buffer-policy.h"
#include "buffer/slots.h"
#include "lazymem.h"
#include "ssd-internal.h"

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
    bool in;
} Link;

typedef struct DnvBlock {
    IlistN dirty;            /* units, newest first */
    uint32_t n_second;       /* of them, in the second part */
    uint32_t next, prev;     /* in the clock, while n_second > 0 */
    bool used;
} DnvBlock;

typedef struct Dnv {
    Link *link;
    DnvBlock *block; /* by number */
    uint32_t n_blocks;
    uint32_t per;        /* units in one */
    Ilist clock;         /* of blocks; its hand is at the tail */
    uint32_t most;       /* units in the second part */
    uint32_t leaving;    /* block of the victim that was named last, or NONE */
} Dnv;

/* ---- start --------------------------------------------------------------- */

static void dnv_destroy(Ssd *ssd)
{
    Dnv *d = ssd->buffer->policy_data;

    if (d) {
        lazy_free(d->block, d->n_blocks, sizeof(DnvBlock));
        g_free(d->link);
        g_free(d);
        ssd->buffer->policy_data = NULL;
    }
}

static void dnv_init(Ssd *ssd)
{
    Dnv *d = g_new0(Dnv, 1);

    dnv_destroy(ssd);
    d->per = ssd->cfg->group_bytes
                 ? (uint32_t)(ssd->cfg->group_bytes / ssd->cfg->unit_bytes)
                 : ssd->l.units_per_block;
    d->n_blocks = (uint32_t)(ssd->l.user_units / d->per + 1);
    d->block = lazy_new(DnvBlock, d->n_blocks);
    d->link = g_new0(Link, MAX(ssd->buffer->n_slot_records, ssd->l.n_slots));
    d->clock = ILIST_EMPTY;
    d->leaving = NONE;
    d->most = MAX(ssd->l.n_slots / SECOND_SHARE, 1);
    ssd->buffer->policy_data = d;
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

static DnvBlock *block_of(const Ssd *ssd, uint32_t slot)
{
    Dnv *d = ssd->buffer->policy_data;

    return &d->block[ssd->buffer->slot[slot].lpn / d->per];
}

static void second_count(Ssd *ssd, uint32_t slot, bool add)
{
    Dnv *d = ssd->buffer->policy_data;
    DnvBlock *b = block_of(ssd, slot);
    uint32_t number = (uint32_t)(b - d->block);

    if (add && b->n_second++ == 0) {
        b->used = false;
        clock_add(d, number);
    } else if (!add && --b->n_second == 0) {
        clock_drop(d, number);
    }
}

/* ---- chains of dirty units ----------------------------------------------- */

static IlistLinks chain_links(const Dnv *d)
{
    return ILIST_LINKS(d->link, Link, older, newer);
}

static void chain_add(Ssd *ssd, uint32_t slot)
{
    Dnv *d = ssd->buffer->policy_data;

    ilistn_push_head(chain_links(d), &block_of(ssd, slot)->dirty, slot);
    d->link[slot].in = true;
}

static void chain_drop(Ssd *ssd, uint32_t slot)
{
    Dnv *d = ssd->buffer->policy_data;

    ilistn_remove(chain_links(d), &block_of(ssd, slot)->dirty, slot);
    d->link[slot].in = false;
}

/* to takes the place of from. */
static void chain_replace(Ssd *ssd, uint32_t from, uint32_t to)
{
    Dnv *d = ssd->buffer->policy_data;

    ilist_replace(chain_links(d), &block_of(ssd, from)->dirty.ends, from, to);
    d->link[to].in = true;
    d->link[from].in = false;
}

static bool is_chained(const Ssd *ssd, uint32_t slot)
{
    const Dnv *d = ssd->buffer->policy_data;

    return d->link[slot].in;
}

/* ---- calls of the buffer ------------------------------------------------ */

static void dnv_insert(Ssd *ssd, uint32_t slot)
{
    ssd->buffer->slot[slot].writes = 0;
    lists_push(ssd, FIRST, slot);
    if (!slot_is_clean(&ssd->buffer->slot[slot])) {
        chain_add(ssd, slot);
    }
}

static void dnv_read_hit(Ssd *ssd, uint32_t slot)
{
    if (ssd->buffer->slot[slot].list == SECOND) {
        block_of(ssd, slot)->used = true;
    } else {
        ssd->buffer->slot[slot].writes = 1;
    }
}

static void dnv_write_hit(Ssd *ssd, uint32_t slot)
{
    dnv_read_hit(ssd, slot);
    if (!is_chained(ssd, slot)) {
        chain_add(ssd, slot);
    }
}

static void dnv_remove(Ssd *ssd, uint32_t slot)
{
    if (ssd->buffer->slot[slot].list == SECOND) {
        second_count(ssd, slot, false);
    }
    if (is_chained(ssd, slot)) {
        chain_drop(ssd, slot);
    }
    lists_remove(ssd, slot);
}

/* A clean unit is in the first part. */
static void dnv_cleaned(Ssd *ssd, uint32_t slot)
{
    if (is_chained(ssd, slot)) {
        chain_drop(ssd, slot);
    }
    if (ssd->buffer->slot[slot].list == SECOND) {
        second_count(ssd, slot, false);
        lists_move(ssd, FIRST, slot);
    }
}

static void dnv_replace(Ssd *ssd, uint32_t from, uint32_t to)
{
    if (is_chained(ssd, from)) {
        chain_replace(ssd, from, to);
    }
    lists_replace(ssd, from, to);
}

/* ---- victims ------------------------------------------------------------- */

/* The oldest unit of the block on which the hand comes to rest, or NONE. */
static uint32_t block_victim(Dnv *d)
{
    uint32_t b;

    while ((b = d->clock.tail) != NONE && d->block[b].used) {
        d->block[b].used = false;
        clock_drop(d, b);
        clock_add(d, b);
    }
    d->leaving = b;
    return b == NONE ? NONE : d->block[b].dirty.tail;
}

static uint32_t dnv_victim(Ssd *ssd)
{
    Dnv *d = ssd->buffer->policy_data;
    uint32_t slot;

    d->leaving = NONE;
    while (ssd->buffer->list[SECOND].n < d->most &&
           (slot = ssd->buffer->list[FIRST].tail) != NONE) {
        if (ssd->buffer->slot[slot].writes) {
            ssd->buffer->slot[slot].writes = 0;
            lists_touch(ssd, slot);
        } else if (is_chained(ssd, slot)) {
            lists_move(ssd, SECOND, slot);
            second_count(ssd, slot, true);
        } else {
            return slot;
        }
    }
    return block_victim(d);
}

static uint32_t dnv_in_group(Ssd *ssd, uint64_t lpn)
{
    const Dnv *d = ssd->buffer->policy_data;
    uint32_t b = (uint32_t)(lpn / d->per);

    return b == d->leaving && d->block[b].dirty.n > 0 ? d->block[b].dirty.tail
                                                      : NONE;
}

/* ---- saved --------------------------------------------------------------- */

enum {
    N_LINKS,
    N_BLOCKS,
    N_COUNTS,
};

static const StateRow dnv_rows[] = {
    STATE_TABLE_ROW(Dnv, link, N_LINKS), STATE_TABLE_ROW(Dnv, block, N_BLOCKS),
    STATE_KEPT_ROW(Dnv, n_blocks),       STATE_KEPT_ROW(Dnv, per),
    STATE_VALUE_ROW(Dnv, clock),         STATE_KEPT_ROW(Dnv, most),
    STATE_NUMBER_ROW(Dnv, leaving),
};

static const StateStruct dnv_struct = {"Dnv", dnv_rows, G_N_ELEMENTS(dnv_rows),
                                       sizeof(Dnv)};

static bool dnv_state(Ssd *ssd, State *s)
{
    Dnv *d = ssd->buffer->policy_data;
    const uint64_t counts[N_COUNTS] = {
        [N_LINKS] = MAX(ssd->buffer->n_slot_records, ssd->l.n_slots),
        [N_BLOCKS] = d->n_blocks,
    };

    return state_values(s, &dnv_struct, d) &&
           state_tables(s, &dnv_struct, d, counts);
}

static bool flag_ok(const bool *flag)
{
    uint8_t v;

    memcpy(&v, flag, 1);
    return v <= 1;
}

/* A link is that of a dirty unit; one in the second part has a link. */
static bool links_ok(const Ssd *ssd, const Dnv *d, uint64_t *n_links)
{
    for (uint32_t i = 0; i < ssd->buffer->n_slot_records; i++) {
        const Slot *s = &ssd->buffer->slot[i];
        bool listed = s->state != SLOT_FREE && s->listed;

        if (!flag_ok(&d->link[i].in) ||
            (d->link[i].in && (!listed || s->state != SLOT_DIRTY)) ||
            (listed && s->list == SECOND && !d->link[i].in)) {
            return false;
        }
        *n_links += d->link[i].in;
    }
    return true;
}

static bool chain_ok(const Ssd *ssd, const Dnv *d, uint32_t b)
{
    const DnvBlock *x = &d->block[b];
    uint32_t second = 0;
    uint32_t newer = NONE;
    uint32_t i = x->dirty.head;

    for (uint32_t k = 0; k < x->dirty.n; k++) {
        if (i >= ssd->buffer->n_slot_records || !d->link[i].in ||
            d->link[i].newer != newer ||
            ssd->buffer->slot[i].lpn / d->per != b) {
            return false;
        }
        second += ssd->buffer->slot[i].list == SECOND;
        newer = i;
        i = d->link[i].older;
    }
    return flag_ok(&x->used) && second == x->n_second &&
           (x->dirty.n == 0 || (i == NONE && x->dirty.tail == newer));
}

static bool clock_ok(const Dnv *d, uint32_t n)
{
    uint32_t prev = NONE;
    uint32_t b = d->clock.head;

    for (uint32_t k = 0; k < n; k++) {
        if (b >= d->n_blocks || d->block[b].n_second == 0 ||
            d->block[b].prev != prev) {
            return false;
        }
        prev = b;
        b = d->block[b].next;
    }
    return b == NONE && d->clock.tail == prev;
}

static bool dnv_sound(const Ssd *ssd)
{
    const Dnv *d = ssd->buffer->policy_data;
    uint64_t n_links = 0;
    uint64_t in_chains = 0;
    uint32_t n_second = 0;

    if (!links_ok(ssd, d, &n_links)) {
        return false;
    }
    for (uint32_t b = 0; b < d->n_blocks; b++) {
        if (!chain_ok(ssd, d, b)) {
            return false;
        }
        in_chains += d->block[b].dirty.n;
        n_second += d->block[b].n_second > 0;
    }
    return in_chains == n_links && clock_ok(d, n_second) &&
           (d->leaving == NONE || d->leaving < d->n_blocks);
}

const BufferPolicy buf_clock_dnv = {
    .name = "clock-dnv",
    .help =
        "a cache whose dirty units, passed over by a clock, wait for others "
        "of their block and leave with them",
    .caches = true,
    .overhead = OVERHEAD,
    .insert = dnv_insert,
    .write_hit = dnv_write_hit,
    .read_hit = dnv_read_hit,
    .remove = dnv_remove,
    .cleaned = dnv_cleaned,
    .replace = dnv_replace,
    .victim = dnv_victim,
    .in_group = dnv_in_group,
    .init = dnv_init,
    .destroy = dnv_destroy,
    .rows = &dnv_struct,
    .state = dnv_state,
    .sound = dnv_sound,
};
