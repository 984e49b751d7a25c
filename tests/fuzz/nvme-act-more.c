/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-act-more.c - actions: commands whose data stays in the drive, pairs of
 * commands, Cancel, commands with keys.
 */
#include "nvme-act.h"

#include "nvme-ledger.h"

#define COPY_MOST 64 /* blocks of an honest Copy */

static void set_range(Guest *g, Sent *s, NvmeSqe *sqe, const FuzzAction *x,
                      uint32_t most)
{
    uint32_t nblocks = (uint32_t)g->h->nblocks;

    s->lba = x->a % nblocks;
    s->n = 1 + x->b % most;
    if (g->honest) {
        s->n = MIN(s->n, nblocks - s->lba);
    }
    sqe->dw[10] = s->lba;
    sqe->dw[12] = s->n - 1;
}

static uint32_t most_blocks(const Guest *g)
{
    return MIN(4096U << g->o.mdts, GUEST_SLOT_BYTES) / g->h->info->block_bytes;
}

void act_verify(Guest *g, const FuzzAction *x)
{
    unsigned queue = act_io_queue(g, x->k);
    NvmeSqe sqe = {.dw = {NVME_IO_VERIFY, 1}};
    Sent *s = queue ? guest_slot(g, SENT_VERIFY, 0) : NULL;

    if (s) {
        set_range(g, s, &sqe, x, most_blocks(g));
        guest_send(g, s, queue, &sqe, true);
    }
}

void act_mark(Guest *g, const FuzzAction *x)
{
    unsigned queue = act_io_queue(g, x->k);
    NvmeSqe sqe = {.dw = {NVME_IO_WRITE_UNCORRECTABLE, 1}};
    Sent *s = queue ? guest_slot(g, SENT_WRITE, 0) : NULL;

    if (s) {
        set_range(g, s, &sqe, x, MIN(32, most_blocks(g)));
        s->stamp = LEDGER_MARK;
        guest_send(g, s, queue, &sqe, true);
    }
}

/* ---- Copy ---------------------------------------------------------------- */

static bool is_idle(const Guest *g)
{
    for (unsigned i = 0; i < GUEST_SENT; i++) {
        if (g->sent[i].kind != SENT_NONE && g->sent[i].kind != SENT_EVENT) {
            return false;
        }
    }
    return true;
}

/* What an honest guest knows of a Copy while nothing else is in flight. */
typedef struct Copied {
    uint32_t n;
    bool marked;
    uint64_t stamp[COPY_MOST];
} Copied;

static bool look_at_source(Copied *c, uint32_t lba, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!ledger_sure(lba + i, &c->stamp[c->n])) {
            return false;
        }
        c->marked |= c->stamp[c->n++] == LEDGER_MARK;
    }
    return true;
}

static void copy_and_judge(Guest *g, Sent *s, unsigned queue, NvmeSqe *sqe,
                           const Copied *c)
{
    uint32_t to = sqe->dw[10];
    uint32_t at = ledger_tick();
    bool ok, sure;

    for (uint32_t i = 0; i < c->n; i++) {
        ledger_write(to + i, 1, c->stamp[i], at);
    }
    s = guest_send(g, s, queue, sqe, true);
    ok = s && guest_wait(g, s);
    sure = s && g->powered && !g->drive.fails && !g->store_failed && !g->forged;
    for (uint32_t i = 0; i < c->n; i++) {
        ledger_written(to + i, 1, c->stamp[i], at, ok, false);
    }
    if (sure && s->kind == SENT_NONE && !s->aborted && ok == c->marked) {
        g_error("a Copy to %u, %u blocks, of which one is %smarked, ended with "
                "status %x",
                to, c->n, c->marked ? "" : "not ", s->status);
    }
}

void act_copy(Guest *g, const FuzzAction *x)
{
    unsigned queue = act_io_queue(g, x->k);
    unsigned nranges = (x->k >> 2 & 3) + 1;
    unsigned long_ranges = x->k >> 4 & 1 && !g->o.pi;
    uint32_t nblocks = (uint32_t)g->h->nblocks;
    uint32_t len = 1 + byte_of(x->b, 2) % (COPY_MOST / 4);
    uint32_t from = (x->b & 0xffff) % nblocks;
    NvmeSqe sqe = {.dw = {NVME_IO_COPY, 1}};
    Copied c = {0};
    Sent *s;

    guest_poll_all(g);
    if (!queue || (g->honest && !is_idle(g)) ||
        !(s = guest_slot(g, SENT_OTHER, 0))) {
        return;
    }
    sqe.dw[10] = x->a % nblocks;
    sqe.dw[12] = (nranges - 1) | long_ranges << 8;
    for (unsigned i = 0; i < nranges; i++, from += len + 3) {
        uint8_t *p = guest_to(g, s, i * (long_ranges ? 40 : 32), 40);
        bool fits =
            from + len <= nblocks &&
            (from + len <= sqe.dw[10] || from >= sqe.dw[10] + nranges * len);

        if (g->honest && (!fits || sqe.dw[10] + nranges * len > nblocks ||
                          nranges * len > most_blocks(g) ||
                          !look_at_source(&c, from, len))) {
            s->kind = SENT_NONE;
            return;
        }
        memset(p, 0, 40);
        put_le64(p + 8, from);
        put_le16(p + 16, (uint16_t)(len - 1));
    }
    guest_map(g, s, &sqe, nranges * 40);
    if (g->honest) {
        copy_and_judge(g, s, queue, &sqe, &c);
    } else {
        sqe.dw[12] |= x->k >> 5 << 9; /* any format */
        guest_send(g, s, queue, &sqe, true);
    }
}

/* ---- Compare and Write --------------------------------------------------- */

static void set_half(Guest *g, Sent *s, NvmeSqe *sqe, const FuzzAction *x,
                     bool same)
{
    uint32_t unit = g->h->info->unit_bytes / g->h->info->block_bytes;
    uint32_t first = x->a % (uint32_t)g->h->nblocks;

    s->lba = first;
    s->n = 1 + x->b % (unit - first % unit);
    s->n = (uint32_t)MIN(s->n, g->h->nblocks - first);
    s->may_fail = true;
    s->stamp = (uint64_t)++g->serial << 24;
    for (uint32_t i = 0; i < s->n; i++) {
        guest_fill(g, s, i, same ? ledger_newest(s->lba + i) : s->stamp + i);
    }
    guest_map(g, s, sqe, (uint64_t)s->n * g->h->info->block_bytes);
    sqe->dw[10] = s->lba;
    sqe->dw[12] = s->n - 1;
}

void act_fuse(Guest *g, const FuzzAction *x)
{
    unsigned queue = act_io_queue(g, x->k);
    NvmeSqe compare = {.dw = {NVME_IO_COMPARE | 1 << 8, 1}};
    NvmeSqe write = {.dw = {NVME_IO_WRITE | 2 << 8, 1}};
    Sent *first = queue ? guest_slot(g, SENT_COMPARE, 0) : NULL;
    Sent *second = first ? guest_slot(g, SENT_WRITE, 0) : NULL;

    if (!second) {
        if (first) {
            first->kind = SENT_NONE;
        }
        return;
    }
    set_half(g, first, &compare, x, x->k >> 7);
    set_half(g, second, &write, x, false);
    guest_send(g, first, queue, &compare, false);
    guest_send(g, second, queue, &write, false);
    if (g->h->q[queue].sq_size) {
        host_ring(g->h, queue);
    }
}

/* ---- Cancel -------------------------------------------------------------- */

void act_cancel(Guest *g, const FuzzAction *x)
{
    unsigned queue = act_io_queue(g, x->k);
    bool all = x->k >> 7;
    const Sent *meant = &g->sent[x->a % GUEST_SENT];
    NvmeSqe sqe = {.dw = {NVME_IO_CANCEL, x->k & 0x40 ? NVME_NSID_ALL : 1}};
    Sent *s = queue ? guest_slot(g, SENT_OTHER, 0) : NULL;

    if (!s) {
        return;
    }
    for (unsigned i = 0; i < GUEST_SENT; i++) {
        Sent *o = &g->sent[i];

        if (o != s && o->kind != SENT_NONE && o->sqid == queue) {
            o->may_fail |= all || o->cid == meant->cid;
        }
    }
    sqe.dw[10] = queue | (all ? 0xffffU : meant->cid) << 16;
    sqe.dw[11] = all;
    guest_send(g, s, queue, &sqe, true);
}

/* ---- key-value pairs ----------------------------------------------------- */

/* Few keys, so that commands meet; some are longer than a key may be. */
void act_key(Guest *g, const FuzzAction *x)
{
    static const uint8_t opcode[] = {
        NVME_KV_STORE,  NVME_KV_STORE, NVME_KV_STORE, NVME_KV_RETRIEVE,
        NVME_KV_DELETE, NVME_KV_EXIST, NVME_KV_LIST,  NVME_IO_FLUSH};
    unsigned queue = act_io_queue(g, x->k >> 3);
    NvmeSqe sqe = {.dw = {opcode[x->k & 7], 1}};
    Sent *s = queue ? guest_slot(g, SENT_OTHER, SENT_WITH_KEY) : NULL;
    uint32_t bytes = (x->b & 0xffffff) % (GUEST_SLOT_BYTES + 2);

    if (!s) {
        return;
    }
    sqe.dw[2] = x->a & 0x1ff;
    sqe.dw[10] = bytes;
    sqe.dw[11] = ((x->k >> 5) + 2 + (x->a >> 12)) | x->b >> 24 << 8;
    guest_map(g, s, &sqe, bytes);
    guest_send(g, s, queue, &sqe, true);
}
