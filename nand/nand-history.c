/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-history.c - a ring of the operations of late.
 *
 * A report of a broken rule of the medium includes them (nand.history). Knows
 * requested operations and their times; knows no
 * rules.
 */
#include "nand-internal.h"
#include "ring.h"

#include <inttypes.h>

/* A line for each operation; at most so many. */
#define MOST_LINES 32

typedef struct Entry {
    uint64_t at_ps;
    uint64_t id; /* 0: nothing yet */
    uint64_t page;
    uint64_t from;
    uint8_t kind;
    uint8_t cause;
    bool done;
} Entry;

struct NandHistory {
    uint32_t n;
    uint32_t next;
    Entry entry[];
};

NandHistory *nand_history_new(uint32_t n_ops)
{
    NandHistory *h = NULL;

    if (n_ops) {
        /* Submission and end of each operation are entries of their own. */
        h = g_malloc0(sizeof(*h) + 2 * n_ops * sizeof(h->entry[0]));
        h->n = 2 * n_ops;
    }
    return h;
}

void nand_history_free(NandHistory *h)
{
    g_free(h);
}

void nand_history_rebase(NandHistory *h, uint64_t by_ps)
{
    for (uint32_t i = 0; i < h->n; i++) {
        h->entry[i].at_ps -= MIN(h->entry[i].at_ps, by_ps);
    }
}

static void add(NandHistory *h, const NandOp *op, bool done, uint64_t now_ps)
{
    invariant(h->next < h->n);
    h->entry[h->next] = (Entry){
        .at_ps = now_ps,
        .id = op->id,
        .page = op->ppa.page,
        .from = op->from.page,
        .kind = (uint8_t)op->kind,
        .cause = (uint8_t)op->cause,
        .done = done,
    };
    h->next = ring_after(h->next, h->n);
}

void nand_history_submit(NandHistory *h, const NandOp *op, uint64_t now_ps)
{
    add(h, op, false, now_ps);
}

void nand_history_done(NandHistory *h, const NandOp *op, uint64_t now_ps)
{
    add(h, op, true, now_ps);
}

static bool concerns(const Entry *e, const NandGeometry *g, uint32_t block)
{
    return e->id &&
           (e->page / g->pages_per_block == block ||
            (e->kind == NAND_COPYBACK && nand_page_block(g, e->from) == block));
}

static void print_entry(GString *s, const Entry *e, const NandGeometry *g)
{
    static const char *const kind[] = {"read", "program", "erase", "copyback"};
    static const char *const cause[] = {
#define CAUSE_NAME(upper, lower) #lower,
        NAND_CAUSES(CAUSE_NAME)
#undef CAUSE_NAME
    };

    g_string_append_printf(s, "\n  %" PRIu64 ".%03u ns: operation %" PRIu64
                           ", %s",
                           (uint64_t)(e->at_ps / PS_PER_NS),
                           (unsigned)(e->at_ps % PS_PER_NS), e->id,
                           kind[e->kind]);
    if (e->kind != NAND_ERASE) {
        g_string_append_printf(s, " of page %u",
                               nand_page_in_block(g, e->page));
    }
    if (e->kind == NAND_COPYBACK) {
        g_string_append_printf(s, " from block %u page %u",
                               nand_page_block(g, e->from),
                               nand_page_in_block(g, e->from));
    }
    g_string_append_printf(s, " (%s) %s", cause[e->cause],
                           e->done ? "done" : "submitted");
}

char *nand_history_of_block(const NandHistory *h, const NandGeometry *g,
                            uint32_t block)
{
    GString *s = g_string_new(NULL);
    uint32_t skip = 0;

    invariant(block < g->n_blocks);
    if (!h) {
        g_string_append(s, " (nand.history=1000 tells what went before)");
        return g_string_free(s, FALSE);
    }
    for (uint32_t k = 0; k < h->n; k++) {
        skip += concerns(&h->entry[k], g, block);
    }
    skip = skip > MOST_LINES ? skip - MOST_LINES : 0;
    g_string_append_printf(s, "; block %u of late:", block);
    for (uint32_t k = 0; k < h->n; k++) {
        const Entry *e = &h->entry[(h->next + k) % h->n];

        if (!concerns(e, g, block)) {
            continue;
        }
        if (skip > 0) {
            invariant(skip > 0);
            skip--;
        } else {
            print_entry(s, e, g);
        }
    }
    return g_string_free(s, FALSE);
}
