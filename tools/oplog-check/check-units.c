/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check-units.c - records of commands, units and power cuts. */
#include "check.h"

#include <stdlib.h>

/* ---- records: commands and units ----------------------------------------- */

void on_cmd(const Record *r)
{
    Cmd **p = cmd_place(r->x);
    uint8_t op = r->a & 0x1f;
    Cmd *c;

    if (op >= N_CMDS || *p || (r->a & 0x40 && op != CMD_FLUSH)) {
        broken(NONE, r->x, "request", "command %" PRIu64 "%s", r->x,
               *p ? " is in flight already" : " is of no known kind");
    }
    if (k.n_kept) {
        broken(NONE, r->x, "durability", "%" PRIu64 " units of the protected "
               "buffer did not survive the power cut", k.n_kept);
    }
    if (op < CMD_FLUSH &&
        (r->c == 0 || r->c > UINT32_MAX ||
         (r->y + r->c - 1) / k.blocks_per_unit >= k.h.user_units)) {
        broken(NONE, r->x, "request", "blocks %" PRIu64 "..%" PRIu64
               " lie outside the drive", r->y, r->y + r->c - 1);
    }
    c = take(1, sizeof(*c));
    c->serial = r->x;
    c->op = op;
    c->fua = r->a >> 7;
    c->close = r->a >> 6 & 1;
    c->stream = r->b;
    c->nblocks = (uint32_t)r->c;
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

/* The units that the stream had in the buffer when the command came have left
 * it. */
static void check_closed(const Cmd *c)
{
    for (uint64_t i = k.fifo_head; i < k.fifo_tail; i++) {
        const Entered *e = &k.fifo[i % k.fifo_size];
        const Lpn *l = &k.lpn[e->lpn];

        if (e->no < c->no && l->gen == e->gen && is_buffered(l) &&
            l->stream == c->stream) {
            broken(NONE, c->serial, "durability",
                   "stream %u has ended, its unit "
                   "%" PRIu64 " of record %" PRIu64 " is in the buffer",
                   c->stream, e->lpn, e->no);
        }
    }
}

static void check_durable(const Cmd *c)
{
    const Entered *e;

    if (c->close) {
        check_closed(c);
        return;
    }
    if ((c->op == CMD_FLUSH && !(k.h.flags & FLAG_NO_DRAIN)) ||
        c->op == CMD_SHUTDOWN) {
        e = oldest_buffered();
        if (e && e->no < c->no) {
            broken(NONE, c->serial, "durability",
                   "the flush is done, unit %" PRIu64 " of record %" PRIu64
                   " is in the buffer",
                   e->lpn, e->no);
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

/* How many units the command must touch. */
static uint64_t units_of(const Cmd *c)
{
    bool data = c->op == CMD_READ || c->op == CMD_WRITE;

    return data ? last_unit(c) - first_unit(c) + 1 : 0;
}

/* The units that a trim must unmap: those wholly inside. */
static uint64_t first_trimmed(const Cmd *c)
{
    return (c->lba + k.blocks_per_unit - 1) / k.blocks_per_unit;
}

static uint64_t end_trimmed(const Cmd *c)
{
    return (c->lba + c->nblocks) / k.blocks_per_unit;
}

/* In any order, and maybe on behalf of another trim of the same unit. */
static void check_trimmed(const Cmd *c)
{
    uint64_t u;

    if (!all_trimmed(first_trimmed(c), end_trimmed(c), c->no, &u)) {
        broken(NONE, c->serial, "request",
               "the trim is done, unit %" PRIu64 " was not unmapped", u);
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

void on_cmd_done(const Record *r)
{
    Cmd **p = cmd_place(r->x);
    Cmd *c = cmd_find(r->x);

    if (r->a == 0) {
        check_bytes(c);
        check_durable(c);
        if (c->op == CMD_TRIM) {
            check_trimmed(c);
        }
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
        broken(NONE, r->x, "request",
               "unit %" PRIu64 " is not the next of "
               "command %" PRIu64,
               r->c, r->x);
    }
    c->units++;
    return c;
}

static void fifo_push(uint64_t lpn, uint32_t gen)
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

void on_buffer(const Record *r)
{
    Cmd *c = cmd_find(r->x);
    Lpn *l = lpn_of(r->c);

    next_unit(r, CMD_WRITE, first_unit(c));
    k.entered++;
    k.rewritten += l->placed != l->gen;
    l->placed = l->gen++; /* units without a place will never get one */
    l->serial = (uint32_t)r->x;
    l->stream = r->b;
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

/* Host pages and blocks hold one stream each; all units of a page are in the
 * same block. */
static void check_block_stream(const Record *r)
{
    uint64_t page = r->y / k.units_per_page;
    Block *b = &k.block[block_of(page)];

    if (b->stream && b->stream != r->b + 1U) {
        broken(page, 0, "stream",
               "unit %" PRIu64 " of stream %u in block %u, "
               "which is of stream %u",
               r->c, r->b, block_of(page), b->stream - 1);
    }
    b->stream = r->b + 1U;
}

/* With several reclaim groups a stream is a handle of a group.  A write whose
 * group is full goes to the same handle of another one. */
static bool is_overflow(uint32_t stream, uint32_t named)
{
    uint32_t handles = k.h.flags >> 16 & 0xff;

    return handles && stream % handles == named % handles;
}

/* All data of a group is in its planes, copies included. */
static void check_group(const Record *r)
{
    uint32_t handles = k.h.flags >> 16 & 0xff;
    uint32_t groups = k.h.flags >> 24;
    uint64_t page = r->y / k.units_per_page;
    uint32_t planes = k.h.channels * k.h.chips * k.h.dies * k.h.planes;
    uint32_t plane = block_of(page) / k.h.blocks;

    if (handles && groups && plane / (planes / groups) != r->b / handles) {
        broken(page, 0, "stream",
               "unit %" PRIu64 " of stream %u, reclaim group %u, is in "
               "plane %u",
               r->c, r->b, r->b / handles, plane);
    }
}

/* A unit is of the stream that its last write named, or of none (0) if that has
 * been closed meanwhile. */
static void check_unit_stream(const Record *r, const Lpn *l)
{
    if (r->b && r->b != l->stream && !is_overflow(r->b, l->stream)) {
        broken(NONE, 0, "stream",
               "unit %" PRIu64 " is programmed as stream "
               "%u's, it was written to stream %u",
               r->c, r->b, l->stream);
    }
}

/* GC changes no unit's stream. */
static void check_copy_stream(const Record *r)
{
    const Content *from = &k.content[r->x];

    if (r->c < k.h.user_units && from->lpn && r->b != from->stream) {
        broken(r->x / k.units_per_page, 0, "stream",
               "unit %" PRIu64 " is copied as stream %u's, it is of stream %u",
               r->c, r->b, from->stream);
    }
}

/* A unit whose program failed goes to another page. */
static void place_again(const Record *r, Lpn *l)
{
    add_pending((Placed){
        .lpn = r->c,
        .ppu = r->y,
        .from = NONE,
        .gen = l->failed,
        .stream = r->b,
        .no = l->dropped ? 0 : k.no,
    });
    l->failed = 0;
}

/* A unit of the drive's own: it comes from no buffer. */
static void place_meta(const Record *r)
{
    if (r->c < k.h.user_units) {
        broken(r->y / k.units_per_page, 0, "map",
               "unit %" PRIu64 " is "
               "the user's, and is programmed as the drive's own",
               r->c);
    }
    k.meta++;
    add_pending((Placed){
        .lpn = r->c,
        .ppu = r->y,
        .from = NONE,
        .no = k.no,
    });
}

void on_place(const Record *r)
{
    bool copy = r->a == 1;
    Lpn *l = copy || r->a == 2 ? any_unit(r->c) : lpn_of(r->c);

    if (r->y >= k.ppus || (copy && r->x >= k.ppus)) {
        broken(NONE, 0, "map", "physical unit %" PRIu64 " of %" PRIu64, r->y,
               k.ppus);
    }
    if (copy && !copied_again(r->x) && l->ppu != r->x + 1) {
        broken(r->x / k.units_per_page, 0, "map",
               "unit %" PRIu64 " is "
               "copied from %" PRIu64 ", it is at %" PRId64,
               r->c, r->x, (int64_t)l->ppu - 1);
    }
    if (r->a == 2) {
        place_meta(r);
        return;
    }
    check_group(r);
    if (copy) {
        check_copy_stream(r);
    } else {
        check_block_stream(r);
    }
    if (!copy && l->failed) {
        place_again(r, l);
        return;
    }
    if (!copy && l->placed == l->gen) {
        broken(r->y / k.units_per_page, 0, "bytes",
               "unit %" PRIu64
               " is programmed, but nothing of it is in the buffer",
               r->c);
    }
    if (!copy) {
        check_unit_stream(r, l);
        l->placed = l->gen;
        k.placed++;
    } else {
        k.copied++;
    }
    add_pending((Placed){
        .lpn = r->c,
        .ppu = r->y,
        .from = copy ? r->x : NONE,
        .gen = l->gen,
        .stream = r->b,
        .no = k.no,
    });
}

void on_lookup(const Record *r)
{
    static const char *const name[] = {"unmapped", "in the buffer", "in NAND",
                                       "in NAND and cached"};
    Lpn *l = lpn_of(r->c);
    Cmd *c = r->x ? cmd_find(r->x) : NULL; /* NULL: it is read ahead */
    unsigned where = is_buffered(l) ? BUFFERED : l->ppu ? IN_NAND : UNMAPPED;
    bool cached = r->a == CACHED && where == IN_NAND && l->seen;

    if (c) {
        next_unit(r, CMD_READ, first_unit(c));
        c->in_nand += where == IN_NAND && !cached;
    }
    if (!cached && (r->a != where || (where == IN_NAND && r->y + 1 != l->ppu))) {
        broken(l->ppu ? (l->ppu - 1) / k.units_per_page : NONE, r->x, "map",
               "unit %" PRIu64 " was found %s at %" PRIu64
               ", it is %s at %" PRId64 "%s",
               r->c, name[r->a & 3], r->y, name[where], (int64_t)l->ppu - 1,
               r->a == CACHED && !l->seen ? ", never read or written" : "");
    }
    l->seen = l->seen || where == IN_NAND;
}

void on_trim(const Record *r)
{
    const Cmd *c = cmd_find(r->x);

    if (c->op != CMD_TRIM || r->c < first_trimmed(c) ||
        r->c >= end_trimmed(c) || r->y >= end_trimmed(c) - r->c) {
        broken(NONE, r->x, "request",
               "units %" PRIu64 " to %" PRIu64 " are not command %" PRIu64
               "'s to unmap",
               r->c, r->c + r->y, r->x);
    }
    trim_units(r->c, r->c + r->y);
}

/* The source must hold the data of the unit: the copy came from it, perhaps by
 * other copies. */
void on_take_back(const Record *r)
{
    Lpn *l = any_unit(r->c);

    if (r->y >= k.ppus || !l->ppu ||
        (k.page[r->y / k.units_per_page] != HOLDS &&
         k.page[r->y / k.units_per_page] != DESTROYED) ||
        k.content[r->y].lpn != r->c + 1 ||
        k.content[r->y].gen != k.content[l->ppu - 1].gen) {
        broken(NONE, 0, "map",
               "unit %" PRIu64 " is taken back to %" PRIu64
               ", which does not hold the same",
               r->c, r->y);
    }
    map_set(l, r->y + 1);
}

/* A protected buffer holds its units again. */
void on_restore(const Record *r)
{
    Lpn *l = lpn_of(r->c);

    if (!l->kept) {
        broken(NONE, 0, "durability",
               "unit %" PRIu64 " was not in a protected "
               "buffer when the power went",
               r->c);
    }
    l->kept = false;
    k.n_kept--;
    k.entered++;
    l->placed = l->gen++;
    l->serial = 0;
    fifo_push(r->c, l->gen);
}

void on_preload(const Record *r)
{
    Lpn *l = any_unit(r->c);

    if (r->y >= k.ppus || k.page[r->y / k.units_per_page] != HOLDS || l->ppu) {
        broken(NONE, 0, "map",
               "unit %" PRIu64 " cannot have been at %" PRIu64
               " from the beginning",
               r->c, r->y);
    }
    k.content[r->y] = (Content){r->c + 1, 0, 0};
    map_set(l, r->y + 1);
}

void on_preload_page(const Record *r)
{
    Block *b;

    check_page(r->c);
    b = &k.block[block_of(r->c)];
    if (b->low != page_in_block(r->c)) {
        broken(r->c, 0, "page-order", "page %u of block %u, expected %u",
               page_in_block(r->c), block_of(r->c), b->low);
    }
    b->low = ++b->high;
    b->cell_page = b->low;
    k.page[r->c] = HOLDS;
}

/* ---- power cut ----------------------------------------------------------- */

/* A program that was stopped may or may not have touched its pages. */
static void cut_op(const Op *op)
{
    Block *b = &k.block[block_of(op->page)];
    uint32_t page = page_in_block(op->page);

    if (op->kind == ERASE) {
        b->erase_running = false;
    } else if (op->kind != READ) {
        b->programs--;
        b->low = page < b->low ? page : b->low;
        set_pages(op->page, programs(op), TORN);
    }
}

/* A later page of the word line was being programmed when the power went. */
void on_lost_page(const Record *r)
{
    uint32_t page = page_in_block(r->c);
    uint32_t n = k.h.paired;
    bool torn = false;

    check_page(r->c);
    if (k.page[r->c] == DESTROYED) {
        return;
    }
    for (uint32_t i = page + 1; n && i < k.h.pages && i / n == page / n; i++) {
        torn |= k.page[r->c - page + i] == TORN;
    }
    if (!torn || (k.page[r->c] != HOLDS && k.page[r->c] != TORN) ||
        block_of(r->c) % k.h.blocks < k.h.slc_blocks) {
        broken(r->c, 0, "paired-pages",
               "page %u of block %u is lost, but no "
               "program of its word line was stopped",
               page, block_of(r->c));
    }
    if (k.page[r->c] == HOLDS) {
        k.page[r->c] = DESTROYED;
    }
}

static void unit_lost_power(Lpn *l)
{
    l->kept = k.h.flags & FLAG_KEEPS && is_buffered(l);
    k.n_kept += l->kept;
    l->clean = l->placed = l->gen;
    l->failed = 0;
    l->seen = false;
}

void on_power_cut(void)
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
    each_touched(unit_lost_power);
    k.n_failed = 0;
    for (uint32_t i = 0; i < k.units; i++) {
        k.unit[i] = (Unit){.holder = NONE, .cell = {.group = NONE}};
    }
    for (uint32_t i = 0; i < k.planes; i++) {
        k.plane[i] = (Held){.group = NONE};
        k.reads[i] = (Unit){.holder = NONE};
    }
    k.n_pending = 0;
    k.cuts++;
}
