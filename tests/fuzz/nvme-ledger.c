/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvme-ledger.c - see nvme-ledger.h. */
#include "nvme-ledger.h"

#include <inttypes.h>
#include <string.h>
#include <glib.h>

#define MOST 10 /* writes that are known of one block */

/* One write of a block.  Times are ticks; 0: not yet. */
typedef struct Write {
    uint64_t stamp;
    uint32_t begun;
    uint32_t ended;
    uint32_t over; /* a later write has replaced it: reads that begin from now
                      on do not find it */
    bool gone;     /* and that one is durable: no power cut brings it back */
} Write;

typedef struct Block {
    uint8_t n;
    bool any;          /* too much has happened: it may read as anything */
    /* Replaced writes are no longer in the list, the last of them was replaced
     * then (0: none): of all of them, and of those that are not gone. */
    uint32_t dropped;
    uint32_t lost;
    Write w[MOST];
} Block;

static Block block[LEDGER_MOST_BLOCKS];
static uint32_t nblocks;
static uint32_t clock_ticks;

static Block *block_at(uint32_t lba)
{
    g_assert_cmpuint(lba, <, nblocks);
    return &block[lba];
}

static void begin_block(Block *b)
{
    b->n = 1;
    b->any = false;
    b->dropped = 0;
    b->lost = 0;
    b->w[0] = (Write){ .begun = 1, .ended = 1 };
}

void ledger_init(uint32_t n)
{
    g_assert_cmpuint(n, <=, LEDGER_MOST_BLOCKS);
    nblocks = n;
    clock_ticks = 1;
    for (uint32_t i = 0; i < n; i++) {
        begin_block(&block[i]);
    }
}

void ledger_preload(uint32_t lba, uint64_t stamp)
{
    block_at(lba)->w[0].stamp = stamp;
}

uint32_t ledger_tick(void)
{
    return ++clock_ticks;
}

static void forget(Block *b, unsigned i)
{
    b->w[i] = b->w[--b->n];
}

/* Room for one more: those that are replaced go, and count as lost. */
static void make_room(Block *b)
{
    for (unsigned i = 0; i < b->n;) {
        if (b->w[i].over) {
            b->dropped = MAX(b->dropped, b->w[i].over);
            b->lost = b->w[i].gone ? b->lost : MAX(b->lost, b->w[i].over);
            forget(b, i);
        } else {
            i++;
        }
    }
    if (b->n == MOST) {
        b->any = true;
        b->n = 0;
    }
}

static uint64_t stamp_of(uint64_t stamp, uint32_t i)
{
    return stamp && stamp != LEDGER_MARK ? stamp + i : stamp;
}

void ledger_write(uint32_t lba, uint32_t n, uint64_t stamp, uint32_t at)
{
    for (uint32_t i = 0; i < n; i++) {
        Block *b = block_at(lba + i);

        if (b->n == MOST) {
            make_room(b);
        }
        b->w[b->n++] = (Write){ .stamp = stamp_of(stamp, i), .begun = at };
    }
}

/* w has ended well: writes that ended before it began are replaced. */
static void replace_older(Block *b, const Write *w, bool durable, uint32_t now)
{
    for (unsigned i = 0; i < b->n; i++) {
        Write *o = &b->w[i];

        if (o != w && o->ended && o->ended < w->begun) {
            o->over = o->over ? o->over : now;
            o->gone |= durable;
        }
    }
}

void ledger_written(uint32_t lba, uint32_t n, uint64_t stamp, uint32_t at,
                    bool ok, bool durable)
{
    uint32_t now = ledger_tick();

    for (uint32_t i = 0; i < n; i++) {
        Block *b = block_at(lba + i);

        for (unsigned k = 0; k < b->n; k++) {
            Write *w = &b->w[k];

            if (!w->ended && w->begun == at && w->stamp == stamp_of(stamp, i)) {
                w->ended = now;
                if (ok) {
                    replace_older(b, w, durable, now);
                }
                break;
            }
        }
    }
}

void ledger_flushed(uint32_t at)
{
    for (uint32_t i = 0; i < nblocks; i++) {
        Block *b = &block[i];

        b->lost = b->lost < at ? 0 : b->lost;
        for (unsigned k = 0; k < b->n; k++) {
            b->w[k].gone |= b->w[k].over && b->w[k].over < at;
        }
    }
}

/* The write that a read submitted at `at` has found by its stamp, or NULL.  Of
 * several, zeroes for example, it may be any: this is the one that ends last,
 * and so the last that a later write replaces. */
static Write *found_by(Block *b, uint64_t stamp, uint32_t at)
{
    Write *found = NULL;

    for (unsigned i = 0; i < b->n; i++) {
        Write *w = &b->w[i];

        if (w->stamp == stamp && (!w->over || w->over > at) &&
            (!found || !w->ended ||
             (found->ended && w->ended > found->ended))) {
            found = w;
        }
    }
    return found;
}

/* The block holds w, or another write of that stamp that has ended before it:
 * writes that were replaced before the read began are not there any more.
 * While w is in flight it may still fail, and nothing follows. */
static void settle_on(Block *b, const Write *w, uint32_t at, uint32_t now)
{
    if (!w->ended || w->ended >= at) {
        return;
    }
    for (unsigned i = 0; i < b->n; i++) {
        Write *o = &b->w[i];

        if (o != w && o->ended && o->ended < at && !o->over) {
            o->over = now;
        }
    }
}

bool ledger_read(uint32_t lba, uint64_t stamp, uint32_t at)
{
    Block *b = block_at(lba);
    Write *w = found_by(b, stamp, at);

    if (b->any || at < b->dropped) {
        return true;
    }
    if (w) {
        settle_on(b, w, at, clock_ticks);
    }
    return w != NULL;
}

bool ledger_may_read(uint32_t lba, uint64_t stamp, uint32_t at)
{
    Block *b = block_at(lba);

    return b->any || at < b->dropped || found_by(b, stamp, at);
}

bool ledger_sure(uint32_t lba, uint64_t *stamp)
{
    const Block *b = block_at(lba);
    unsigned n = 0;

    for (unsigned i = 0; i < b->n; i++) {
        if (!b->w[i].over) {
            *stamp = b->w[i].stamp;
            n++;
        }
    }
    return !b->any && n == 1;
}

uint64_t ledger_newest(uint32_t lba)
{
    const Block *b = block_at(lba);

    return b->n ? b->w[b->n - 1].stamp : 0;
}

void ledger_cut(void)
{
    uint32_t now = ledger_tick();

    for (uint32_t i = 0; i < nblocks; i++) {
        Block *b = &block[i];

        b->any |= b->lost != 0;
        for (unsigned k = 0; k < b->n;) {
            if (b->w[k].gone) {
                forget(b, k);
                continue;
            }
            b->w[k].ended = b->w[k].ended ? b->w[k].ended : now;
            b->w[k].over = 0;
            k++;
        }
    }
}

char *ledger_explain(uint32_t lba)
{
    const Block *b = block_at(lba);
    GString *s = g_string_new(NULL);

    g_string_append_printf(s, "block %u, now %u, may be", lba, clock_ticks);
    for (unsigned i = 0; i < b->n; i++) {
        const Write *w = &b->w[i];

        g_string_append_printf(s, " %" PRIx64 " (%u..%u, over %u%s)", w->stamp,
                               w->begun, w->ended, w->over,
                               w->gone ? ", gone" : "");
    }
    return g_string_free(s, FALSE);
}
