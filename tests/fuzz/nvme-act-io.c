/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvme-act-io.c - actions: time passes, I/O commands. */
#include "nvme-act.h"

#include "nvme-ledger.h"

/* Blocks of all commands of a burst: the time of an input depends on the
 * writes of the drive. */
#define MOST_BURST 256

/* ---- time ---------------------------------------------------------------- */

void act_run(Guest *g, const FuzzAction *x)
{
    guest_run(g);
}

void act_steps(Guest *g, const FuzzAction *x)
{
    guest_steps(g, x->k % 64 + 1);
}

/* An hour at most: background work of the drive takes CPU time. */
static uint64_t time_of(const FuzzAction *x)
{
    return MIN((uint64_t)x->a << (x->k & 31), 3600000000000ULL);
}

void act_sleep(Guest *g, const FuzzAction *x)
{
    guest_sleep(g, time_of(x));
}

void act_idle(Guest *g, const FuzzAction *x)
{
    g->h->now_ns = MIN(g->h->now_ns + time_of(x), 1ULL << 53);
}

void act_poll(Guest *g, const FuzzAction *x)
{
    guest_poll(g, x->k % GUEST_QUEUES, x->a ? x->a : 4096);
}

/* ---- I/O commands -------------------------------------------------------- */

unsigned act_io_queue(Guest *g, unsigned k)
{
    unsigned id = 1 + k % (GUEST_QUEUES - 1);

    id = MIN(id, g->o.n_queues);
    return guest_ready(g, id) ? id : 0;
}

static void put_data(Guest *g, Sent *s, unsigned kind)
{
    s->stamp = (uint64_t)++g->serial << 24;
    for (uint32_t i = 0; i < s->n; i++) {
        bool same = kind == FUZZ_IO_SAME && g->honest;

        guest_fill(g, s, i, same ? ledger_newest(s->lba + i) : s->stamp + i);
    }
}

/* Half of the commands are small, a quarter is large. */
static uint32_t blocks_of(unsigned k)
{
    return !(k & 0x80) ? k % 16 : !(k & 0x40) ? k % 64 : k % 64 * 3;
}

static bool send_io(Guest *g, const FuzzAction *x, uint32_t lba,
                    uint32_t most_blocks, unsigned queue, bool ring)
{
    static const uint8_t opcode[] = { NVME_IO_READ, NVME_IO_WRITE,
                                      NVME_IO_COMPARE, NVME_IO_WRITE_ZEROES,
                                      NVME_IO_COMPARE };
    static const SentKind kind_of[] = { SENT_READ, SENT_WRITE, SENT_COMPARE,
                                        SENT_ZEROES, SENT_COMPARE };
    unsigned kind = (x->k & 15) % FUZZ_IO_KINDS;
    uint32_t bytes = g->h->info->block_bytes;
    uint32_t most = MIN(MIN(4096U << g->o.mdts, GUEST_SLOT_BYTES) / bytes,
                        most_blocks);
    Sent *s = guest_slot(g, kind_of[kind], 0);
    NvmeSqe sqe = { .dw = { opcode[kind], 1 } };

    if (!s) {
        return false;
    }
    s->n = 1 + blocks_of(byte_of(x->b, 0)) % most;
    s->lba = lba % (uint32_t)g->h->nblocks;
    if (g->honest) {
        s->n = (uint32_t)MIN(s->n, g->h->nblocks - s->lba);
    }
    s->scattered = x->k >> 7;
    s->sgl = byte_of(x->b, 1) >> 6 & 1;
    s->fua = x->k >> 6 & 1 && kind != FUZZ_IO_READ;
    s->may_fail = s->kind == SENT_COMPARE;
    if (kind != FUZZ_IO_READ && kind != FUZZ_IO_ZEROES) {
        put_data(g, s, kind);
    }
    guest_map(g, s, &sqe, (uint64_t)s->n * bytes);
    sqe.dw[10] = s->lba;
    sqe.dw[12] = (s->n - 1) | (uint32_t)(x->k >> 6 & 1) << 30;
    if (opcode[kind] == NVME_IO_WRITE || opcode[kind] == NVME_IO_WRITE_ZEROES) {
        sqe.dw[12] |= (byte_of(x->b, 1) & 3U) << 20;
        sqe.dw[13] = (x->b >> 16) << 16;
        s->may_fail |= byte_of(x->b, 1) & 3; /* a directive that is off */
    }
    return guest_send(g, s, queue, &sqe, ring);
}

void act_io(Guest *g, const FuzzAction *x)
{
    unsigned queue = act_io_queue(g, x->k >> 4 & 3);

    if (queue) {
        send_io(g, x, x->a, UINT32_MAX, queue, true);
    }
}

void act_burst(Guest *g, const FuzzAction *x)
{
    unsigned queue = act_io_queue(g, x->k >> 4 & 3);
    unsigned n = (x->a >> 12) + 2;
    uint32_t stride = byte_of(x->b, 0) + 1;

    for (unsigned i = 0; queue && i < n; i++) {
        if (!send_io(g, x, (x->a & 0xfff) + i * stride, MOST_BURST / n, queue,
                     false)) {
            break;
        }
    }
    if (queue && g->h->q[queue].sq_size) {
        host_ring(g->h, queue);
    }
}

static void add_range(Sent *s, uint32_t first, uint32_t end, bool sure)
{
    if (end > first) {
        s->range[s->nranges].lba = first;
        s->range[s->nranges].n = end - first;
        s->range[s->nranges++].sure = sure;
    }
}

/* Deallocate makes the whole units of a range zeroes; the rest may become so,
 * with the next range. */
static void note_trim(Guest *g, Sent *s, uint32_t lba, uint32_t n)
{
    uint32_t unit = g->h->info->unit_bytes / g->h->info->block_bytes;
    uint32_t first = (lba + unit - 1) / unit * unit;
    uint32_t end = (lba + n) / unit * unit;

    if (end <= first) {
        add_range(s, lba, lba + n, false);
        return;
    }
    add_range(s, lba, first, false);
    add_range(s, first, end, true);
    add_range(s, end, lba + n, false);
}

/* Context Attributes: Access Frequency, some of its values reserved; with
 * Sequential Read Range all others, too. */
#define SEQUENTIAL_READ 0x100U
#define OTHER_HINTS     0xff000630U

static uint32_t hints_of(unsigned bits)
{
    return (bits & 7) | (bits & 8 ? SEQUENTIAL_READ | OTHER_HINTS : 0);
}

void act_dsm(Guest *g, const FuzzAction *x)
{
    unsigned queue = act_io_queue(g, x->b >> 24);
    unsigned n = g->honest ? x->k % GUEST_RANGES + 1U : x->k + 1U;
    uint32_t len = byte_of(x->b, 0) + 1;
    uint32_t stride = len + byte_of(x->b, 1);
    uint32_t attributes = byte_of(x->b, 2) & 0x80 ? byte_of(x->b, 2) & 7 : 4;
    uint32_t hints = hints_of(byte_of(x->b, 2) >> 3);
    Sent *s = queue ? guest_slot(g, SENT_TRIM, 0) : NULL;
    NvmeSqe sqe = { .dw = { NVME_IO_DSM, 1 } };

    if (!s) {
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        uint64_t lba = x->a + (uint64_t)i * stride;
        uint8_t *p = guest_to(g, s, i * 16, 16);

        if (g->honest) {
            if (lba + len > g->h->nblocks) {
                n = i;
                break;
            }
            if (attributes & 4) {
                note_trim(g, s, (uint32_t)lba, len);
            }
        }
        put_le32(p, hints);
        put_le32(p + 4, len);
        put_le64(p + 8, lba);
    }
    if (!n) {
        s->kind = SENT_NONE;
        return;
    }
    if (g->drive.hints && !(attributes & 4)) {
        s->hints |= hints & 7 ? SENT_HINT_FREQUENCY : 0;
        s->hints |= hints & SEQUENTIAL_READ ? SENT_HINT_READS : 0;
    }
    guest_map(g, s, &sqe, n * 16);
    sqe.dw[10] = n - 1;
    sqe.dw[11] = attributes;
    guest_send(g, s, queue, &sqe, true);
}

void act_flush(Guest *g, const FuzzAction *x)
{
    unsigned queue = act_io_queue(g, x->k);
    NvmeSqe sqe = host_sqe(NVME_IO_FLUSH, x->k & 0x40 ? NVME_NSID_ALL : 1, 0);
    Sent *s = queue ? guest_slot(g, SENT_FLUSH, 0) : NULL;

    if (s) {
        guest_send(g, s, queue, &sqe, true);
    }
}

void act_manage(Guest *g, const FuzzAction *x)
{
    unsigned queue = act_io_queue(g, x->k >> 4);
    bool send = x->k & 1;
    Sent *s = queue ? guest_slot(g, SENT_OTHER, 0) : NULL;
    NvmeSqe sqe = { .dw = { send ? NVME_IO_MGMT_SEND : NVME_IO_MGMT_RECEIVE,
                            nsid_of(x->k >> 2) } };

    if (!s) {
        return;
    }
    for (unsigned i = 0; i < 4; i++) {
        put_le16(guest_to(g, s, 2 * i, 2), byte_of(x->b, i));
    }
    guest_map(g, s, &sqe, send ? 8 : (uint64_t)x->a * 4 + 4);
    sqe.dw[10] = (x->k & 2 ? 0 : 1) | (uint32_t)(send ? x->a : 0) << 16;
    sqe.dw[11] = send ? 0 : x->a;
    guest_send(g, s, queue, &sqe, true);
}
