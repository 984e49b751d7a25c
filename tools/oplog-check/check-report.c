/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check-report.c - report of a broken rule, with the operations in flight. */
#include "check.h"

#include <stdarg.h>
#include <stdlib.h>

/* ---- reporting ----------------------------------------------------------- */

uint32_t block_of(uint64_t page)
{
    return (uint32_t)(page / k.h.pages);
}

uint64_t first_page(uint32_t block)
{
    return (uint64_t)block * k.h.pages;
}

uint32_t page_in_block(uint64_t page)
{
    return (uint32_t)(page % k.h.pages);
}

/* A block in SLC mode has fewer pages, and takes them one by one. */
static bool is_slc(uint64_t page)
{
    return block_of(page) % k.h.blocks < k.h.slc_blocks ||
           k.block[block_of(page)].slc;
}

uint32_t pages_of(uint64_t page)
{
    return is_slc(page) ? k.h.slc_pages : k.h.pages;
}

/* Pages that the operation programs. */
uint32_t programs(const Op *op)
{
    return op->kind == COPYBACK || is_slc(op->page) ? 1
                                                    : k.h.pages_per_program;
}

static void print_record(uint64_t no, const Record *r)
{
    static const char *const types[N_TYPES] = {
        "?",         "submit",       "span",      "done",
        "command",   "command done", "buffer",    "place",
        "lookup",    "trim",         "preload",   "preload page",
        "power cut", "end",          "take back", "restore",
        "lost page"};

    fprintf(stderr,
            "  record %" PRIu64 " at %" PRIu64 " ps: %s a=%u b=%u c=%" PRIu64
            " x=%" PRIu64 " y=%" PRIu64 " bytes=%u\n",
            no, r->at, types[r->type < N_TYPES ? r->type : 0], r->a, r->b, r->c,
            r->x, r->y, r->bytes);
}

/* Does the record name one of the operations, or the command? */
static bool concerns(const Record *r, const uint64_t *ids, unsigned n,
                     uint64_t serial)
{
    bool of_op = r->type == SUBMIT || r->type == SPAN || r->type == DONE;
    bool of_cmd = r->type == CMD || r->type == CMD_DONE || r->type == BUFFER ||
                  r->type == LOOKUP || r->type == TRIM;

    for (unsigned i = 0; of_op && i < n; i++) {
        if (ids[i] == r->x) {
            return true;
        }
    }
    return of_cmd && serial && r->x == serial;
}

/* The last records of the operations on the page's block, and of the command. */
static void print_history(uint64_t page, uint64_t serial)
{
    uint64_t ids[HISTORY_LINES];
    unsigned n_ids = 0;
    uint64_t first = k.no > HISTORY ? k.no - HISTORY + 1 : 1;
    uint64_t keep[HISTORY_LINES];
    unsigned n = 0;

    for (uint64_t i = k.no; i >= first && n_ids < HISTORY_LINES; i--) {
        const Record *r = &k.ring[i % HISTORY];

        if (r->type == SUBMIT && page != NONE &&
            block_of(r->c) == block_of(page)) {
            ids[n_ids++] = r->x;
        }
    }
    for (uint64_t i = k.no; i >= first && n < HISTORY_LINES; i--) {
        if (concerns(&k.ring[i % HISTORY], ids, n_ids, serial)) {
            keep[n++] = i;
        }
    }
    while (n-- > 0) {
        print_record(keep[n], &k.ring[keep[n] % HISTORY]);
    }
}

void broken(uint64_t page, uint64_t serial, const char *rule,
            const char *format, ...)
{
    va_list ap;

    fprintf(stderr, "broken rule: %s: record %" PRIu64 " at %" PRIu64 " ps: ",
            rule, k.no, k.r.at);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    print_record(k.no, &k.r);
    if (page != NONE) {
        fprintf(stderr, "history of block %u:\n", block_of(page));
    }
    print_history(page, serial);
    exit(1);
}

void unreadable(const char *what)
{
    fprintf(stderr, "vssd-oplog-check: %s\n", what);
    exit(2);
}

void *take(uint64_t n, size_t bytes)
{
    void *p = calloc(n ? n : 1, bytes);

    if (!p) {
        unreadable("not enough memory for a drive of this size");
    }
    return p;
}

/* ---- operations and commands in flight ----------------------------------- */

Op **op_place(uint64_t id)
{
    Op **p = &k.op[id % BUCKETS];

    while (*p && (*p)->id != id) {
        p = &(*p)->next;
    }
    return p;
}

Op *op_find(uint64_t id)
{
    Op *op = *op_place(id);

    if (!op) {
        broken(NONE, 0, "operation", "operation %" PRIu64 " is not in flight",
               id);
    }
    return op;
}

void op_drop(uint64_t id)
{
    Op **p = op_place(id);
    Op *op = *p;

    *p = op->next;
    free(op->placed);
    free(op);
}

Cmd **cmd_place(uint64_t serial)
{
    Cmd **p = &k.cmd[serial % BUCKETS];

    while (*p && (*p)->serial != serial) {
        p = &(*p)->next;
    }
    return p;
}

Cmd *cmd_find(uint64_t serial)
{
    Cmd *c = *cmd_place(serial);

    if (!c) {
        broken(NONE, serial, "request", "command %" PRIu64 " is not in flight",
               serial);
    }
    return c;
}
