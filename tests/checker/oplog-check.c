/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oplog-check.c - vssd-oplog-check: is what an operation log tells possible?
 *
 * Reads the format of docs/oplog.md and follows it with book-keeping of its
 * own: which page holds what, where each logical unit is, who holds each
 * channel, unit and plane.  It includes nothing of the model, on purpose: a
 * mistake in the model must not be made twice.
 *
 * Exit status: 0, every rule holds; 1, one is broken (its name and the history
 * of the block or the command are printed); 2, the file cannot be read.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define RECORD_BYTES 32
#define HEADER_BYTES 128
#define HISTORY (1U << 17) /* records looked through when a rule is broken */
#define HISTORY_LINES 40
#define BUCKETS (1U << 16)
#define FAILED_COPIES 65536

enum { SUBMIT = 1, SPAN, DONE, CMD, CMD_DONE, BUFFER, PLACE, LOOKUP, TRIM,
       PRELOAD, PRELOAD_PAGE, POWER_CUT, END, TAKE_BACK, RESTORE, N_TYPES };
enum { READ, PROGRAM, ERASE, COPYBACK, N_KINDS };
enum { IN = 1, STATUS, OUT, CELL, GAP, SUSPEND, ECC, N_SPANS };
enum { CMD_READ, CMD_WRITE, CMD_TRIM, CMD_FLUSH, CMD_SHUTDOWN, N_CMDS };
enum { UNMAPPED, BUFFERED, IN_NAND, CACHED };
enum { LOCK_DIE, LOCK_PLANE, LOCK_CHIP };
enum { FLAG_CACHE = 1, FLAG_SUSPEND = 2, FLAG_MULTI = 4, FLAG_INDEPENDENT = 8,
       FLAG_AT_PROGRAM = 16, FLAG_NO_DRAIN = 32, FLAG_KEEPS = 64 };
enum { ERASED, WRITTEN_TO, HOLDS, TORN }; /* a page */

typedef struct Record {
    uint8_t type, a;
    uint16_t b;
    uint32_t c;
    uint64_t at, x, y;
} Record;

typedef struct Header {
    uint32_t channels, chips, dies, planes, blocks, pages, page_bytes;
    uint32_t unit_bytes, block_bytes, pages_per_program, lock, flags;
    uint32_t mt_s, width;
    uint64_t ps_per_byte, read_ps, prog_ps, erase_ps, user_units;
    uint32_t slc_blocks, slc_pages; /* the first blocks of each plane */
} Header;

/* A unit that a program puts into its page. */
typedef struct Placed {
    uint32_t lpn, ppu;
    uint32_t from; /* a copy: where it was; else NONE */
    uint32_t gen;  /* of the unit in the buffer */
    uint64_t no;   /* of the record */
} Placed;

typedef struct Op {
    struct Op *next;
    uint64_t id, submitted;
    uint64_t no;
    uint32_t page, from, bytes, owner, group;
    uint8_t kind;
    bool holds; /* its unit */
    uint32_t n_span[N_SPANS];
    uint64_t cell_ps;
    Placed *placed;
    uint32_t n_placed;
} Op;

typedef struct Cmd {
    struct Cmd *next;
    uint64_t serial, lba, submitted;
    uint64_t no; /* of the record */
    uint32_t nblocks;
    uint8_t op;
    bool fua;
    uint64_t units; /* entered or looked up so far */
    uint64_t in_nand;
    uint64_t bytes; /* of NAND reads for it */
    uint32_t reads; /* in flight */
} Cmd;

typedef struct Block {
    uint32_t low, high; /* the next program goes to a page from low to high */
    uint32_t programs;  /* in flight */
    uint32_t live;      /* units that the map needs */
    uint32_t cell_page; /* the last program in the array, + 1 */
    bool erasing;       /* or to be erased again */
    bool erase_running;
} Block;

/* What has held a resource last. */
typedef struct Held {
    uint64_t end;       /* of the last group */
    uint64_t other_end; /* of the groups before it */
    uint32_t group;
} Held;

typedef struct Unit {
    Held cell;
    uint32_t holder; /* group */
    uint32_t n_holders;
    uint64_t released;
} Unit;

/* A logical unit.  Its buffer is told apart by generations. */
typedef struct Lpn {
    uint32_t ppu;    /* + 1; 0: not in NAND */
    uint32_t from;   /* + 1; what ppu is a copy of; 0: of nothing */
    uint32_t gen;    /* entered the buffer */
    uint32_t placed; /* generation that a page was given */
    uint32_t clean;  /* generation that is durable, or dropped */
    uint32_t serial; /* of the command of gen */
    uint32_t failed; /* generation whose program failed, to be placed again */
    bool dropped;    /* trimmed meanwhile: it will be stale */
    bool kept;       /* was in the buffer when the power went */
    bool seen;       /* written or read since the power came: may be cached */
    uint64_t trim_no;
} Lpn;

/* Buffered units in the order in which they came. */
typedef struct Entered {
    uint64_t no;
    uint32_t lpn, gen;
} Entered;

typedef struct Check {
    FILE *file;
    Header h;
    uint32_t planes, units, planes_per_unit, planes_per_channel;
    uint32_t units_per_page, blocks_per_unit; /* host blocks per unit */
    uint64_t pages, ppus;

    Block *block;
    uint8_t *page;
    Unit *unit;
    Held *plane;
    uint64_t *channel_end;
    Lpn *lpn;
    Op *op[BUCKETS];
    Cmd *cmd[BUCKETS];
    uint64_t n_cmds; /* in flight */

    Placed *pending; /* placed, program not yet submitted */
    uint32_t n_pending, max_pending;
    uint32_t failed[FAILED_COPIES]; /* where the units came from */
    uint32_t n_failed;
    Entered *fifo;
    uint64_t fifo_head, fifo_tail, fifo_size;

    Record *ring;
    Record r;    /* the present record */
    uint64_t no; /* its number, from 1 */
    uint64_t now;
    bool ended;

    uint64_t n_ops[N_KINDS], n_done_cmds, entered, rewritten, trimmed, placed;
    uint64_t copied, padded, cuts;
    uint64_t n_kept; /* units that must still be restored */
} Check;

static Check k;

/* ---- reporting ------------------------------------------------------------ */

static uint32_t block_of(uint32_t page)
{
    return page / k.h.pages;
}

/* A block in SLC mode has fewer pages, and takes them one by one. */
static bool is_slc(uint32_t page)
{
    return block_of(page) % k.h.blocks < k.h.slc_blocks;
}

static uint32_t pages_of(uint32_t page)
{
    return is_slc(page) ? k.h.slc_pages : k.h.pages;
}

/* Pages that the operation programs. */
static uint32_t programs(const Op *op)
{
    return op->kind == COPYBACK || is_slc(op->page) ? 1
                                                    : k.h.pages_per_program;
}

static void print_record(uint64_t no, const Record *r)
{
    static const char *const types[N_TYPES] = {
        "?", "submit", "span", "done", "command", "command done", "buffer",
        "place", "lookup", "trim", "preload", "preload page", "power cut",
        "end"};

    fprintf(stderr, "  record %" PRIu64 " at %" PRIu64 " ps: %s a=%u b=%u c=%u "
            "x=%" PRIu64 " y=%" PRIu64 "\n", no, r->at,
            types[r->type < N_TYPES ? r->type : 0], r->a, r->b, r->c, r->x,
            r->y);
}

/* Does the record tell of one of the operations, or of the command? */
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
static void print_history(uint32_t page, uint64_t serial)
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

static void broken(uint32_t page, uint64_t serial, const char *rule,
                   const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));

static void broken(uint32_t page, uint64_t serial, const char *rule,
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

static void unreadable(const char *what)
{
    fprintf(stderr, "vssd-oplog-check: %s\n", what);
    exit(2);
}

static void *take(uint64_t n, size_t bytes)
{
    void *p = calloc(n ? n : 1, bytes);

    if (!p) {
        unreadable("not enough memory for a drive of this size");
    }
    return p;
}

/* ---- operations and commands in flight -------------------------------------- */

static Op **op_place(uint64_t id)
{
    Op **p = &k.op[id % BUCKETS];

    while (*p && (*p)->id != id) {
        p = &(*p)->next;
    }
    return p;
}

static Op *op_find(uint64_t id)
{
    Op *op = *op_place(id);

    if (!op) {
        broken(NONE, 0, "operation", "operation %" PRIu64 " is not in flight",
               id);
    }
    return op;
}

static void op_drop(uint64_t id)
{
    Op **p = op_place(id);
    Op *op = *p;

    *p = op->next;
    free(op->placed);
    free(op);
}

static Cmd **cmd_place(uint64_t serial)
{
    Cmd **p = &k.cmd[serial % BUCKETS];

    while (*p && (*p)->serial != serial) {
        p = &(*p)->next;
    }
    return p;
}

static Cmd *cmd_find(uint64_t serial)
{
    Cmd *c = *cmd_place(serial);

    if (!c) {
        broken(NONE, serial, "request", "command %" PRIu64 " is not in flight",
               serial);
    }
    return c;
}

/* ---- the medium ------------------------------------------------------------- */

static void set_pages(uint32_t first, uint32_t n, uint8_t state)
{
    memset(k.page + first, state, n);
}

static void medium_read(const Op *op, uint32_t page)
{
    if (k.page[page] != HOLDS) {
        broken(page, op->owner, "read-unprogrammed",
               "page %u of block %u holds nothing", page % k.h.pages,
               block_of(page));
    }
}

static void medium_program(const Op *op, uint32_t n)
{
    Block *b = &k.block[block_of(op->page)];
    uint32_t page = op->page % k.h.pages;

    if (b->erasing) {
        broken(op->page, 0, "erase-before-program",
               "block %u has not been erased since its erase was begun",
               block_of(op->page));
    }
    if (page + n > pages_of(op->page) || k.page[op->page] == WRITTEN_TO ||
        k.page[op->page] == HOLDS) {
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

static void medium_erase(const Op *op)
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

static void medium_erased(const Op *op)
{
    Block *b = &k.block[block_of(op->page)];

    *b = (Block){.live = b->live};
    set_pages(block_of(op->page) * k.h.pages, k.h.pages, ERASED);
}

/* ---- the map ---------------------------------------------------------------- */

static Lpn *lpn_of(uint32_t lpn)
{
    if (lpn >= k.h.user_units) {
        broken(NONE, 0, "map", "logical unit %u of %" PRIu64, lpn,
               k.h.user_units);
    }
    return &k.lpn[lpn];
}

static bool is_buffered(const Lpn *l)
{
    return l->gen != l->clean;
}

static Block *block_of_ppu(uint32_t ppu)
{
    return &k.block[block_of(ppu / k.units_per_page)];
}

static void map_set(Lpn *l, uint32_t ppu_plus_1)
{
    if (l->ppu) {
        block_of_ppu(l->ppu - 1)->live--;
    }
    l->ppu = ppu_plus_1;
    l->from = 0;
    if (l->ppu) {
        block_of_ppu(l->ppu - 1)->live++;
    }
}

static void unit_programmed(const Placed *p)
{
    Lpn *l = &k.lpn[p->lpn];

    if (p->from != NONE) {
        if (l->ppu == p->from + 1) {
            map_set(l, p->ppu + 1);
            l->from = p->from + 1;
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
static void unit_failed(const Placed *p)
{
    Lpn *l = &k.lpn[p->lpn];

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
 * have written it anew meanwhile. */
static bool copied_again(uint64_t ppu)
{
    for (uint32_t i = 0; i < k.n_failed; i++) {
        if (k.failed[i] == ppu) {
            k.failed[i] = k.failed[--k.n_failed];
            return true;
        }
    }
    return false;
}

/* ---- resources --------------------------------------------------------------- */

static uint32_t plane_of(uint32_t page)
{
    return block_of(page) / k.h.blocks;
}

/* Something of the group holds it; others must have let go before. */
static bool hold(Held *h, uint32_t group, uint64_t from, uint64_t to)
{
    if (h->group != group) {
        h->other_end = h->end > h->other_end ? h->end : h->other_end;
        h->group = group;
        h->end = 0;
    }
    if (from < h->other_end && to > from) {
        return false;
    }
    h->end = to > h->end ? to : h->end;
    return true;
}

static void hold_bus(const Op *op, uint64_t from)
{
    uint64_t *end = &k.channel_end[k.r.b];

    if (from < *end && k.r.at > from) {
        broken(op->page, op->owner, "overlap", "channel %u: a transfer from %"
               PRIu64 " ps on, while another lasts until %" PRIu64 " ps",
               k.r.b, from, *end);
    }
    *end = k.r.at;
}

static void hold_array(const Op *op, uint64_t from)
{
    uint32_t plane = plane_of(op->page);
    Unit *u = &k.unit[plane / k.planes_per_unit];

    if (!hold(&u->cell, op->group, from, k.r.at)) {
        broken(op->page, op->owner, "overlap", "unit %u: the array works from %"
               PRIu64 " ps on, for another until %" PRIu64 " ps",
               plane / k.planes_per_unit, from, u->cell.other_end);
    }
    /* In a command, too, each plane has one operation. */
    if (!hold(&k.plane[plane], (uint32_t)op->id, from, k.r.at)) {
        broken(op->page, op->owner, "overlap", "plane %u: two operations at "
               "once, from %" PRIu64 " ps on", plane, from);
    }
}

/* Without cache and suspend, a unit belongs to one command from its first bus
 * cycle to the last. */
static void hold_unit(Op *op, uint64_t from)
{
    Unit *u = &k.unit[plane_of(op->page) / k.planes_per_unit];

    if (k.h.flags & (FLAG_CACHE | FLAG_SUSPEND) || op->holds) {
        return;
    }
    if (u->n_holders > 0 ? u->holder != op->group : from < u->released) {
        broken(op->page, op->owner, "overlap", "unit %u belongs to the command "
               "of operation %u until %" PRIu64 " ps",
               plane_of(op->page) / k.planes_per_unit, u->holder,
               u->n_holders ? k.r.at : u->released);
    }
    op->holds = true;
    u->holder = op->group;
    u->n_holders++;
}

static void let_go(Op *op)
{
    Unit *u = &k.unit[plane_of(op->page) / k.planes_per_unit];

    if (op->holds) {
        op->holds = false;
        u->n_holders--;
        u->released = k.r.at;
    }
}

/* ---- records: operations ------------------------------------------------------ */

static void check_page(uint32_t page)
{
    if (page >= k.pages) {
        broken(NONE, 0, "operation", "page %u of %" PRIu64, page, k.pages);
    }
}

static void claim_placed(Op *op, uint32_t pages)
{
    uint64_t first = (uint64_t)op->page * k.units_per_page;
    uint64_t end = first + (uint64_t)pages * k.units_per_page;

    for (uint32_t i = 0; i < k.n_pending; i++) {
        if (k.pending[i].ppu < first || k.pending[i].ppu >= end) {
            broken(op->page, 0, "map", "unit %u was placed at %u, outside the "
                   "page that is programmed", k.pending[i].lpn,
                   k.pending[i].ppu);
        }
    }
    op->n_placed = k.n_pending;
    op->placed = take(k.n_pending, sizeof(Placed));
    memcpy(op->placed, k.pending, k.n_pending * sizeof(Placed));
    k.padded += end - first - k.n_pending;
    k.n_pending = 0;
}

static void begin_program(Op *op)
{
    bool copyback = op->kind == COPYBACK;
    uint32_t pages = programs(op);

    if (copyback) {
        check_page(op->from);
        medium_read(op, op->from);
        if (plane_of(op->from) != plane_of(op->page)) {
            broken(op->page, 0, "operation", "copyback from plane %u to %u",
                   plane_of(op->from), plane_of(op->page));
        }
    } else if (op->bytes != k.h.page_bytes) {
        broken(op->page, 0, "bytes", "%u bytes to program, a page has %u",
               op->bytes, k.h.page_bytes);
    }
    medium_program(op, pages);
    claim_placed(op, pages);
}

static void begin_read(Op *op)
{
    medium_read(op, op->page);
    if (op->bytes > k.h.page_bytes) {
        broken(op->page, op->owner, "bytes", "%u bytes to read, a page has %u",
               op->bytes, k.h.page_bytes);
    }
    if (op->owner) {
        Cmd *c = cmd_find(op->owner);

        c->bytes += op->bytes;
        c->reads++;
    }
}

static void on_submit(const Record *r)
{
    Op **p = op_place(r->x);
    Op *op;

    if (r->a >= N_KINDS || *p) {
        broken(NONE, 0, "operation", "operation %" PRIu64 " of kind %u%s", r->x,
               r->a, *p ? " is in flight already" : "");
    }
    check_page(r->c);
    op = take(1, sizeof(*op));
    op->id = r->x;
    op->no = k.no;
    op->kind = r->a;
    op->page = r->c;
    op->bytes = (uint32_t)r->y;
    op->submitted = r->at;
    *p = op;
    k.n_ops[op->kind]++;
    switch (op->kind) {
    case READ:
        op->owner = (uint32_t)(r->y >> 32);
        begin_read(op);
        break;
    case ERASE:
        medium_erase(op);
        break;
    default:
        op->from = (uint32_t)(r->y >> 32);
        begin_program(op);
        break;
    }
    if (k.n_pending > 0) {
        broken(op->page, 0, "map", "units were placed, but no program follows");
    }
}

/* The bus is not faster than its rate. */
static uint64_t least_transfer_ps(uint64_t bytes)
{
    uint64_t transfers = bytes / (k.h.width / 8);

    return k.h.mt_s ? transfers * 1000000 / k.h.mt_s
                    : transfers * k.h.ps_per_byte;
}

static void check_transfer(const Op *op, uint64_t ps)
{
    uint64_t bytes = 0;

    if (op->kind == READ && k.r.a == OUT) {
        bytes = op->bytes;
    } else if (op->kind == PROGRAM && k.r.a == IN) {
        bytes = (uint64_t)op->bytes * programs(op);
    }
    if (ps < least_transfer_ps(bytes)) {
        broken(op->page, op->owner, "duration", "%" PRIu64 " bytes cross the "
               "bus in %" PRIu64 " ps, at least %" PRIu64, bytes, ps,
               least_transfer_ps(bytes));
    }
}

static void check_cell(Op *op, uint64_t from)
{
    Block *b = &k.block[block_of(op->page)];
    uint32_t page = op->page % k.h.pages;

    op->cell_ps += k.r.at - from;
    if (op->kind == READ || (op->kind == COPYBACK && op->n_span[CELL] == 0)) {
        medium_read(op, op->kind == READ ? op->page : op->from);
    } else if (op->kind != ERASE && op->n_span[CELL] == (op->kind == COPYBACK)) {
        if (page < b->cell_page) {
            broken(op->page, 0, "page-order", "page %u of block %u comes into "
                   "the array after page %u", page, block_of(op->page),
                   b->cell_page - 1);
        }
        b->cell_page = page + 1;
    }
}

static void check_resource(const Op *op)
{
    bool of_plane = k.r.a == CELL || k.r.a == GAP || k.r.a == SUSPEND;
    uint32_t plane = plane_of(op->page);
    uint32_t expected = of_plane ? plane : plane / k.planes_per_channel;

    if (k.r.b != expected) {
        broken(op->page, op->owner, "resource", "%s %u, the page is in %u",
               of_plane ? "plane" : "channel", k.r.b, expected);
    }
}

static void on_span(const Record *r)
{
    Op *op = op_find(r->x);
    uint64_t from = r->y;

    if (r->a == 0 || r->a >= N_SPANS || (r->a == OUT && op->kind != READ)) {
        broken(op->page, op->owner, "operation", "span %u of kind %u", r->a,
               op->kind);
    }
    if (from > r->at || from < op->submitted) {
        broken(op->page, op->owner, "time", "from %" PRIu64 " ps, submitted at "
               "%" PRIu64 " ps", from, op->submitted);
    }
    check_resource(op);
    op->group = r->c;
    if (r->a != ECC) {
        hold_unit(op, from);
    }
    switch (r->a) {
    case IN:
    case STATUS:
    case OUT:
        hold_bus(op, from);
        check_transfer(op, r->at - from);
        break;
    case CELL:
        check_cell(op, from);
        hold_array(op, from);
        break;
    case SUSPEND:
        hold_array(op, from);
        break;
    default:
        break;
    }
    op->n_span[r->a]++;
    if (r->a == OUT) {
        let_go(op);
    }
}

/* Every phase has been, and the array took its time. */
static void check_complete(const Op *op)
{
    const uint64_t least[N_KINDS] = {
        [READ] = k.h.read_ps,
        [PROGRAM] = k.h.prog_ps,
        [ERASE] = k.h.erase_ps,
        [COPYBACK] = k.h.read_ps + k.h.prog_ps,
    };
    uint32_t twice = op->kind == COPYBACK ? 2 : 1;

    if (op->n_span[IN] < twice || op->n_span[CELL] < twice ||
        (op->kind == READ && op->n_span[OUT] == 0)) {
        broken(op->page, op->owner, "operation", "operation %" PRIu64
               " ends after %u command, %u array and %u output phases", op->id,
               op->n_span[IN], op->n_span[CELL], op->n_span[OUT]);
    }
    if (op->cell_ps < least[op->kind]) {
        broken(op->page, op->owner, "duration", "operation %" PRIu64 " was in "
               "the array for %" PRIu64 " ps, at least %" PRIu64, op->id,
               op->cell_ps, least[op->kind]);
    }
}

static void end_program(const Op *op, bool failed)
{
    uint32_t pages = programs(op);

    k.block[block_of(op->page)].programs--;
    set_pages(op->page, pages, failed ? TORN : HOLDS);
    for (uint32_t i = 0; i < op->n_placed; i++) {
        if (failed) {
            unit_failed(&op->placed[i]);
        } else {
            unit_programmed(&op->placed[i]);
        }
    }
}

static void on_done(const Record *r)
{
    Op *op = op_find(r->x);
    bool failed = r->a != 0;

    check_complete(op);
    let_go(op);
    switch (op->kind) {
    case READ:
        if (op->owner) {
            cmd_find(op->owner)->reads--;
        }
        break;
    case ERASE:
        if (failed) {
            k.block[block_of(op->page)].erase_running = false;
        } else {
            medium_erased(op);
        }
        break;
    default:
        end_program(op, failed);
        break;
    }
    op_drop(op->id);
}

/* ---- records: commands and units ---------------------------------------------- */

static void on_cmd(const Record *r)
{
    Cmd **p = cmd_place(r->x);
    uint8_t op = r->a & 0x7f;
    Cmd *c;

    if (op >= N_CMDS || *p) {
        broken(NONE, r->x, "request", "command %" PRIu64 "%s", r->x,
               *p ? " is in flight already" : " is of no known kind");
    }
    if (k.n_kept) {
        broken(NONE, r->x, "durability", "%" PRIu64 " units of the protected "
               "buffer did not survive the power cut", k.n_kept);
    }
    if (op < CMD_FLUSH && (r->c == 0 || (r->y + r->c - 1) / k.blocks_per_unit >=
                                            k.h.user_units)) {
        broken(NONE, r->x, "request", "blocks %" PRIu64 "..%" PRIu64
               " lie outside the drive", r->y, r->y + r->c - 1);
    }
    c = take(1, sizeof(*c));
    c->serial = r->x;
    c->op = op;
    c->fua = r->a >> 7;
    c->nblocks = r->c;
    c->lba = r->y;
    c->submitted = r->at;
    c->no = k.no;
    *p = c;
    k.n_cmds++;
}

static uint64_t first_unit(const Cmd *c)
{
    return c->lba / k.blocks_per_unit;
}

static uint64_t last_unit(const Cmd *c)
{
    return (c->lba + c->nblocks - 1) / k.blocks_per_unit;
}

/* Is a unit that entered the buffer before the record still only there? */
static const Entered *oldest_buffered(void)
{
    while (k.fifo_head < k.fifo_tail) {
        const Entered *e = &k.fifo[k.fifo_head % k.fifo_size];

        if (k.lpn[e->lpn].gen == e->gen && is_buffered(&k.lpn[e->lpn])) {
            return e;
        }
        k.fifo_head++;
    }
    return NULL;
}

static void check_durable(const Cmd *c)
{
    const Entered *e;

    if ((c->op == CMD_FLUSH && !(k.h.flags & FLAG_NO_DRAIN)) ||
        c->op == CMD_SHUTDOWN) {
        e = oldest_buffered();
        if (e && e->no < c->no) {
            broken(NONE, c->serial, "durability", "the flush is done, unit %u "
                   "of record %" PRIu64 " is in the buffer", e->lpn, e->no);
        }
    }
    if (c->op != CMD_WRITE ||
        (!(k.h.flags & FLAG_AT_PROGRAM) &&
         (!c->fua || k.h.flags & FLAG_NO_DRAIN))) {
        return;
    }
    for (uint64_t u = first_unit(c); u <= last_unit(c); u++) {
        if (is_buffered(&k.lpn[u]) &&
            k.lpn[u].serial == (uint32_t)c->serial) {
            broken(NONE, c->serial, "durability", "the write is done, its unit "
                   "%" PRIu64 " is in the buffer", u);
        }
    }
}

/* How many units the command must touch; a trim only those wholly inside. */
static uint64_t units_of(const Cmd *c)
{
    uint64_t first;
    uint64_t end;

    switch (c->op) {
    case CMD_READ:
    case CMD_WRITE:
        return last_unit(c) - first_unit(c) + 1;
    case CMD_TRIM:
        first = (c->lba + k.blocks_per_unit - 1) / k.blocks_per_unit;
        end = (c->lba + c->nblocks) / k.blocks_per_unit;
        return end > first ? end - first : 0;
    default:
        return 0;
    }
}

static void check_bytes(const Cmd *c)
{
    uint64_t units = units_of(c);

    if (c->units != units) {
        broken(NONE, c->serial, "bytes", "command %" PRIu64 " is done after %"
               PRIu64 " units of %" PRIu64, c->serial, c->units, units);
    }
    if (c->bytes != c->in_nand * k.h.unit_bytes || c->reads) {
        broken(NONE, c->serial, "bytes", "command %" PRIu64 ": %" PRIu64
               " units in NAND, %" PRIu64 " bytes read, %u reads in flight",
               c->serial, c->in_nand, c->bytes, c->reads);
    }
}

static void on_cmd_done(const Record *r)
{
    Cmd **p = cmd_place(r->x);
    Cmd *c = cmd_find(r->x);

    if (r->a == 0) {
        check_bytes(c);
        check_durable(c);
    }
    *p = c->next;
    free(c);
    k.n_cmds--;
    k.n_done_cmds++;
}

/* The next unit of the command, in order. */
static Cmd *next_unit(const Record *r, unsigned op, uint64_t first)
{
    Cmd *c = cmd_find(r->x);

    if (c->op != op || r->c != first + c->units) {
        broken(NONE, r->x, "request", "unit %u is not the next of command %"
               PRIu64, r->c, r->x);
    }
    c->units++;
    return c;
}

static void fifo_push(uint32_t lpn, uint32_t gen)
{
    oldest_buffered();
    if (k.fifo_tail - k.fifo_head == k.fifo_size) {
        uint64_t size = k.fifo_size ? k.fifo_size * 2 : 1024;
        Entered *fifo = take(size, sizeof(*fifo));

        for (uint64_t i = k.fifo_head; i < k.fifo_tail; i++) {
            fifo[i % size] = k.fifo[i % k.fifo_size];
        }
        free(k.fifo);
        k.fifo = fifo;
        k.fifo_size = size;
    }
    k.fifo[k.fifo_tail++ % k.fifo_size] = (Entered){k.no, lpn, gen};
}

static void on_buffer(const Record *r)
{
    Cmd *c = cmd_find(r->x);
    Lpn *l = lpn_of(r->c);

    next_unit(r, CMD_WRITE, first_unit(c));
    k.entered++;
    k.rewritten += l->placed != l->gen;
    l->placed = l->gen++; /* what was not placed yet never will be */
    l->serial = (uint32_t)r->x;
    l->seen = true;
    fifo_push(r->c, l->gen);
}

static void add_pending(Placed p)
{
    if (k.n_pending == k.max_pending) {
        k.max_pending = k.max_pending ? 2 * k.max_pending : 64;
        k.pending = realloc(k.pending, k.max_pending * sizeof(Placed));
        if (!k.pending) {
            unreadable("not enough memory");
        }
    }
    k.pending[k.n_pending++] = p;
}

/* A unit whose program failed goes to another page. */
static void place_again(const Record *r, Lpn *l)
{
    add_pending((Placed){
        .lpn = r->c,
        .ppu = (uint32_t)r->y,
        .from = NONE,
        .gen = l->failed,
        .no = l->dropped ? 0 : k.no,
    });
    l->failed = 0;
}

static void on_place(const Record *r)
{
    Lpn *l = lpn_of(r->c);
    bool copy = r->a == 1;

    if (r->y >= k.ppus || (copy && r->x >= k.ppus)) {
        broken(NONE, 0, "map", "physical unit %" PRIu64 " of %" PRIu64, r->y,
               k.ppus);
    }
    if (copy && !copied_again(r->x) && l->ppu != r->x + 1) {
        broken((uint32_t)(r->x / k.units_per_page), 0, "map", "unit %u is "
               "copied from %" PRIu64 ", it is at %d", r->c, r->x,
               (int)l->ppu - 1);
    }
    if (!copy && l->failed) {
        place_again(r, l);
        return;
    }
    if (!copy && l->placed == l->gen) {
        broken((uint32_t)(r->y / k.units_per_page), 0, "bytes", "unit %u is "
               "programmed, but nothing of it is in the buffer", r->c);
    }
    if (!copy) {
        l->placed = l->gen;
        k.placed++;
    } else {
        k.copied++;
    }
    add_pending((Placed){
        .lpn = r->c,
        .ppu = (uint32_t)r->y,
        .from = copy ? (uint32_t)r->x : NONE,
        .gen = l->gen,
        .no = k.no,
    });
}

static void on_lookup(const Record *r)
{
    static const char *const name[] = {"unmapped", "in the buffer", "in NAND",
                                       "in NAND and cached"};
    Lpn *l = lpn_of(r->c);
    Cmd *c = cmd_find(r->x);
    unsigned where = is_buffered(l) ? BUFFERED : l->ppu ? IN_NAND : UNMAPPED;
    bool cached = r->a == CACHED && where == IN_NAND && l->seen;

    next_unit(r, CMD_READ, first_unit(c));
    if (!cached && (r->a != where || (where == IN_NAND && r->y + 1 != l->ppu))) {
        broken(l->ppu ? (l->ppu - 1) / k.units_per_page : NONE, r->x, "map",
               "unit %u was found %s at %" PRIu64 ", it is %s at %d%s", r->c,
               name[r->a & 3], r->y, name[where], (int)l->ppu - 1,
               r->a == CACHED && !l->seen ? ", never read or written" : "");
    }
    c->in_nand += where == IN_NAND && !cached;
    l->seen = l->seen || where == IN_NAND;
}

static void on_trim(const Record *r)
{
    Cmd *c = cmd_find(r->x);
    Lpn *l = lpn_of(r->c);

    next_unit(r, CMD_TRIM,
              (c->lba + k.blocks_per_unit - 1) / k.blocks_per_unit);
    k.trimmed += l->placed != l->gen;
    l->placed = l->gen;
    l->clean = l->gen;
    l->dropped = true;
    l->trim_no = k.no;
    map_set(l, 0);
}

/* The original must still be there: the copy came from it. */
static void on_take_back(const Record *r)
{
    Lpn *l = lpn_of(r->c);

    if (r->y >= k.ppus || k.page[r->y / k.units_per_page] != HOLDS ||
        l->from != r->y + 1) {
        broken(NONE, 0, "map", "unit %u is taken back to %" PRIu64
               ", but was not copied from there", r->c, r->y);
    }
    map_set(l, (uint32_t)r->y + 1);
}

/* What a protected buffer held is in it again. */
static void on_restore(const Record *r)
{
    Lpn *l = lpn_of(r->c);

    if (!l->kept) {
        broken(NONE, 0, "durability", "unit %u was not in a protected buffer "
               "when the power went", r->c);
    }
    l->kept = false;
    k.n_kept--;
    k.entered++;
    l->placed = l->gen++;
    l->serial = 0;
    fifo_push(r->c, l->gen);
}

static void on_preload(const Record *r)
{
    Lpn *l = lpn_of(r->c);

    if (r->y >= k.ppus || k.page[r->y / k.units_per_page] != HOLDS || l->ppu) {
        broken(NONE, 0, "map", "unit %u cannot have been at %" PRIu64
               " from the beginning", r->c, r->y);
    }
    map_set(l, (uint32_t)r->y + 1);
}

static void on_preload_page(const Record *r)
{
    Block *b;

    check_page(r->c);
    b = &k.block[block_of(r->c)];
    if (b->low != r->c % k.h.pages) {
        broken(r->c, 0, "page-order", "page %u of block %u, expected %u",
               r->c % k.h.pages, block_of(r->c), b->low);
    }
    b->low = ++b->high;
    b->cell_page = b->low;
    k.page[r->c] = HOLDS;
}

/* ---- power cut ---------------------------------------------------------------- */

/* A program that was stopped may or may not have touched its pages. */
static void cut_op(const Op *op)
{
    Block *b = &k.block[block_of(op->page)];
    uint32_t page = op->page % k.h.pages;

    if (op->kind == ERASE) {
        b->erase_running = false;
    } else if (op->kind != READ) {
        b->programs--;
        b->low = page < b->low ? page : b->low;
        set_pages(op->page, programs(op), TORN);
    }
}

static void on_power_cut(void)
{
    for (uint32_t i = 0; i < BUCKETS; i++) {
        while (k.op[i]) {
            cut_op(k.op[i]);
            op_drop(k.op[i]->id);
        }
        for (Cmd *c = k.cmd[i]; c; c = c->next) {
            c->reads = 0;
        }
    }
    for (uint64_t u = 0; u < k.h.user_units; u++) {
        k.lpn[u].kept = k.h.flags & FLAG_KEEPS && is_buffered(&k.lpn[u]);
        k.n_kept += k.lpn[u].kept;
        k.lpn[u].clean = k.lpn[u].placed = k.lpn[u].gen;
        k.lpn[u].failed = 0;
        k.lpn[u].seen = false;
    }
    k.n_failed = 0;
    for (uint32_t i = 0; i < k.units; i++) {
        k.unit[i] = (Unit){.holder = NONE, .cell = {.group = NONE}};
    }
    for (uint32_t i = 0; i < k.planes; i++) {
        k.plane[i] = (Held){.group = NONE};
    }
    k.n_pending = 0;
    k.cuts++;
}

/* ---- the file ------------------------------------------------------------------- */

static void on_end(const Record *r)
{
    if (r->x != k.no - 1) {
        broken(NONE, 0, "format", "%" PRIu64 " records, the log says %" PRIu64,
               k.no - 1, r->x);
    }
    if (r->c != k.n_cmds) {
        broken(NONE, 0, "request", "%" PRIu64 " commands have not completed, "
               "the drive says %u", k.n_cmds, r->c);
    }
    k.ended = true;
}

static void handle(const Record *r)
{
    if (r->at < k.now) {
        broken(NONE, 0, "time", "time goes back from %" PRIu64 " ps", k.now);
    }
    if (k.ended) {
        broken(NONE, 0, "format", "the log has ended already");
    }
    k.now = r->at;
    switch (r->type) {
    case SUBMIT:
        on_submit(r);
        break;
    case SPAN:
        on_span(r);
        break;
    case DONE:
        on_done(r);
        break;
    case CMD:
        on_cmd(r);
        break;
    case CMD_DONE:
        on_cmd_done(r);
        break;
    case BUFFER:
        on_buffer(r);
        break;
    case PLACE:
        on_place(r);
        break;
    case LOOKUP:
        on_lookup(r);
        break;
    case TRIM:
        on_trim(r);
        break;
    case PRELOAD:
        on_preload(r);
        break;
    case PRELOAD_PAGE:
        on_preload_page(r);
        break;
    case POWER_CUT:
        on_power_cut();
        break;
    case TAKE_BACK:
        on_take_back(r);
        break;
    case RESTORE:
        on_restore(r);
        break;
    case END:
        on_end(r);
        break;
    default:
        broken(NONE, 0, "format", "there is no record of type %u", r->type);
    }
}

static uint64_t get(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;

    while (bytes-- > 0) {
        v = v << 8 | p[bytes];
    }
    return v;
}

static bool header_is_bad(void)
{
    const Header *h = &k.h;
    uint64_t planes = (uint64_t)h->channels * h->chips * h->dies * h->planes;

    return planes == 0 || planes > 65536 || h->blocks == 0 || h->pages == 0 ||
           h->blocks > 1U << 24 || h->pages > 1U << 20 ||
           planes * h->blocks * h->pages > 1ULL << 31 || h->block_bytes == 0 ||
           h->unit_bytes < h->block_bytes || h->page_bytes < h->unit_bytes ||
           h->pages_per_program == 0 || h->lock > LOCK_CHIP || h->width < 8 ||
           h->user_units > 1ULL << 31 || h->slc_blocks > h->blocks ||
           h->slc_pages > h->pages;
}

static void read_header(void)
{
    uint8_t head[HEADER_BYTES];
    uint32_t *word = &k.h.channels;
    uint64_t *wide = &k.h.ps_per_byte;

    if (fread(head, sizeof(head), 1, k.file) != 1 ||
        memcmp(head, "VSSDLOG1", 8) != 0 || get(head + 8, 4) != HEADER_BYTES ||
        get(head + 12, 4) != RECORD_BYTES) {
        unreadable("not an operation log of this version");
    }
    for (unsigned i = 0; i < 14; i++) {
        word[i] = (uint32_t)get(head + 16 + 4 * i, 4);
    }
    for (unsigned i = 0; i < 5; i++) {
        wide[i] = get(head + 72 + 8 * i, 8);
    }
    k.h.slc_blocks = (uint32_t)get(head + 112, 4);
    k.h.slc_pages = (uint32_t)get(head + 116, 4);
    if (header_is_bad()) {
        unreadable("the header describes no possible drive");
    }
}

static void set_up(void)
{
    const Header *h = &k.h;

    k.planes_per_channel = h->chips * h->dies * h->planes;
    k.planes = h->channels * k.planes_per_channel;
    k.planes_per_unit = h->lock == LOCK_CHIP   ? h->planes * h->dies
                        : h->lock == LOCK_DIE ? h->planes
                                               : 1;
    k.units = k.planes / k.planes_per_unit;
    k.units_per_page = h->page_bytes / h->unit_bytes;
    k.blocks_per_unit = h->unit_bytes / h->block_bytes;
    k.pages = (uint64_t)k.planes * h->blocks * h->pages;
    k.ppus = k.pages * k.units_per_page;
    k.block = take(k.pages / h->pages, sizeof(Block));
    k.page = take(k.pages, 1);
    k.unit = take(k.units, sizeof(Unit));
    k.plane = take(k.planes, sizeof(Held));
    k.channel_end = take(h->channels, sizeof(uint64_t));
    k.lpn = take(h->user_units, sizeof(Lpn));
    k.ring = take(HISTORY, sizeof(Record));
    for (uint32_t i = 0; i < k.units; i++) {
        k.unit[i].cell.group = k.unit[i].holder = NONE;
    }
    for (uint32_t i = 0; i < k.planes; i++) {
        k.plane[i].group = NONE;
    }
}

static void read_records(void)
{
    uint8_t p[RECORD_BYTES];
    size_t n;

    while ((n = fread(p, 1, sizeof(p), k.file)) == sizeof(p)) {
        k.r = (Record){
            .type = p[0],
            .a = p[1],
            .b = (uint16_t)get(p + 2, 2),
            .c = (uint32_t)get(p + 4, 4),
            .at = get(p + 8, 8),
            .x = get(p + 16, 8),
            .y = get(p + 24, 8),
        };
        k.no++;
        k.ring[k.no % HISTORY] = k.r;
        handle(&k.r);
    }
    if (ferror(k.file)) {
        unreadable("the log cannot be read");
    }
    if (n != 0 || !k.ended) {
        broken(NONE, 0, "format", "the log is cut short");
    }
}

int main(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] == '-') {
        fprintf(stderr, "usage: vssd-oplog-check LOG  (vssd-sim --oplog LOG "
                        "writes one)\n");
        return 2;
    }
    k.file = fopen(argv[1], "rb");
    if (!k.file) {
        perror(argv[1]);
        return 2;
    }
    read_header();
    set_up();
    read_records();
    printf("%" PRIu64 " records, %" PRIu64 " commands; %" PRIu64 " reads, %"
           PRIu64 " programs, %" PRIu64 " erases, %" PRIu64 " copybacks, %"
           PRIu64 " power cuts; every rule holds\n",
           k.no, k.n_done_cmds, k.n_ops[READ], k.n_ops[PROGRAM], k.n_ops[ERASE],
           k.n_ops[COPYBACK], k.cuts);
    printf("units: %" PRIu64 " written = %" PRIu64 " programmed + %" PRIu64
           " rewritten in the buffer + %" PRIu64 " trimmed there + those still "
           "in it; %" PRIu64 " copied, %" PRIu64 " padding\n",
           k.entered, k.placed, k.rewritten, k.trimmed, k.copied, k.padded);
    return 0;
}
