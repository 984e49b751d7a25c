/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tears.c - writes that a power cut tears inside of a mapping unit.
 *
 * A drive that promises less than a unit (NAWUPF) makes the blocks of a unit
 * durable in two parts.  Some are durable with the program of the unit, up to a
 * block that is drawn, or from it on.  The others are LATE: a power cut leaves
 * what was there before them.  They become durable with the next barrier of the
 * host, which acknowledges them, or when MOST_LATE other units have followed.
 *
 * It is a model of what is left, not of how a firmware comes to it: it takes no
 * time.  Knows nothing of which writes are promised whole (namespace/atomic.c).
 */
#include "payload-internal.h"
#include "ssd-save.h"

#define MOST_LATE 64
#define PURPOSE   0x74656172 /* of the draws */

void payload_set_tears(Payload *p, uint64_t seed)
{
    prng_seed(&p->tear_prng, seed, PURPOSE);
}

void payload_write_may_tear(PayloadEntry *list, uint32_t piece_blocks)
{
    for (PayloadEntry *e = list; e; e = e->next) {
        e->tear_blocks = (uint16_t)piece_blocks;
    }
}

/* It keeps these blocks only, or all but these. */
static void reduce(PayloadEntry *e, unsigned first, unsigned end, bool keep)
{
    for (unsigned b = 0; b < MASK_WORDS * 64; b++) {
        if (entry_has(e, b) && (b >= first && b < end) != keep) {
            bitmap_clear(e->valid, b);
            e->nvalid--;
        }
    }
}

/* These blocks of the entry are late. */
static void split(Payload *p, PayloadEntry *e, unsigned first, unsigned end)
{
    PayloadEntry *late = payload_entry_alloc(p, e->lpn);

    late->version = e->version;
    late->trim_seq = e->trim_seq;
    late->state = ENTRY_LATE;
    payload_merge(p, e, late);
    reduce(late, first, end, true);
    reduce(e, first, end, false);
    if (e->on_zeroes) {
        payload_fill_with_zeroes(p, e);
    }
    payload_chain_put_above(p, late, e);
    g_queue_push_tail_link(&p->late, &late->turn);
}

static void tear(Payload *p, PayloadEntry *e)
{
    unsigned pieces = e->count / e->tear_blocks;
    unsigned end = e->first + e->count;
    unsigned at =
        e->first + e->tear_blocks * (unsigned)prng_below(&p->tear_prng, pieces);

    if (at == e->first) {
        return; /* as a whole */
    }
    if (prng_below(&p->tear_prng, 2)) {
        split(p, e, at, end);
    } else {
        split(p, e, e->first, at);
    }
}

static void become_durable(Payload *p, PayloadEntry *e, uint64_t now_ns)
{
    e->state = ENTRY_READY;
    g_queue_push_tail_link(&p->ready, &e->turn);
    payload_due_push(p, &e->due);
    if (G_UNLIKELY(e->tear_blocks) && !p->held) {
        tear(p, e);
    }
    payload_absorb_older(p, e); /* what is below a late part, too */
    if (G_UNLIKELY(p->watched)) {
        payload_watch_entry(p, now_ns, e);
    }
}

static void end_first(Payload *p, uint64_t now_ns)
{
    PayloadEntry *e = p->late.head->data;

    payload_turn_leave(p, e);
    become_durable(p, e, now_ns);
}

void payload_entry_programmed(Payload *p, PayloadEntry *e, uint64_t now_ns)
{
    become_durable(p, e, now_ns);
    if (G_UNLIKELY(p->late.length > MOST_LATE)) {
        end_first(p, now_ns);
    }
}

void payload_end_tears(Payload *p)
{
    while (G_UNLIKELY(p->late.head)) {
        end_first(p, ssd_now_ns(p->ssd));
    }
}
