/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check-ops.c - records of operations: submitted, a span, done. */
#include "check.h"

#include <string.h>

/* ---- records: operations ------------------------------------------------- */

void check_page(uint64_t page)
{
    if (page >= k.pages) {
        broken(NONE, 0, "operation", "page %" PRIu64 " of %" PRIu64, page,
               k.pages);
    }
}

static void claim_placed(Op *op, uint32_t pages)
{
    uint64_t first = op->page * k.units_per_page;
    uint64_t end = first + (uint64_t)pages * k.units_per_page;

    for (uint32_t i = 0; i < k.n_pending; i++) {
        if (k.pending[i].ppu < first || k.pending[i].ppu >= end) {
            broken(op->page, 0, "map",
                   "unit %" PRIu64 " was placed at %" PRIu64
                   ", outside the page that is programmed",
                   k.pending[i].lpn, k.pending[i].ppu);
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

/* The first program of an erased block says its mode, the others keep it. */
static void check_mode(uint64_t page, bool slc)
{
    Block *b = &k.block[block_of(page)];

    if (page % k.h.pages == 0) {
        b->slc = slc;
    }
    if (b->slc != slc ||
        (!slc && block_of(page) % k.h.blocks < k.h.slc_blocks)) {
        broken(page, 0, "slc-mode",
               "a program%s in SLC mode of a block that is"
               "%s",
               slc ? "" : " not", slc ? " not" : "");
    }
}

void on_submit(const Record *r)
{
    Op **p = op_place(r->x);
    bool modes = k.h.flags & FLAG_MODES;
    uint8_t kind = modes ? r->a & 0x7f : r->a;
    Op *op;

    if (kind >= N_KINDS || *p) {
        broken(NONE, 0, "operation", "operation %" PRIu64 " of kind %u%s", r->x,
               r->a, *p ? " is in flight already" : "");
    }
    check_page(r->c);
    if (modes && (kind == PROGRAM || kind == COPYBACK)) {
        check_mode(r->c, r->a >> 7);
    }
    op = take(1, sizeof(*op));
    op->id = r->x;
    op->no = k.no;
    op->kind = kind;
    op->page = r->c;
    op->bytes = r->bytes;
    op->submitted = r->at;
    *p = op;
    k.n_ops[op->kind]++;
    switch (op->kind) {
    case READ:
        op->owner = r->y;
        begin_read(op);
        break;
    case ERASE:
        medium_erase(op);
        break;
    default:
        op->from = r->y;
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
    uint32_t page = page_in_block(op->page);

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

void on_span(const Record *r)
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
    set_pages(op->page, pages,
              failed ? TORN
              : op->kind == COPYBACK && k.page[op->from] == DESTROYED
                  ? DESTROYED
                  : HOLDS);
    for (uint32_t i = 0; i < op->n_placed; i++) {
        if (failed) {
            unit_failed(&op->placed[i]);
        } else {
            unit_programmed(&op->placed[i]);
        }
    }
}

void on_done(const Record *r)
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
        if (!failed && k.page[op->page] == DESTROYED) {
            broken(op->page, op->owner, "paired-pages",
                   "page %u of block %u "
                   "was destroyed, and is read without an error",
                   page_in_block(op->page), block_of(op->page));
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
