/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz-nvme.c - a guest made of bytes (nvme-input.h), in front of any drive.
 *
 * After each action the next event lies in the future (nvme-guest.c); after the
 * input the memory that it took and the CPU time are within the bounds below, a
 * reset brings a controller that works, and the drive's invariants hold.  An
 * honest guest's commands all end, and its data is what it wrote.  The store is
 * never asked for what is outside of it, nor for two things at once (host.c).
 *
 * With libFuzzer (clang, -fsanitize=fuzzer) this is the target, with the
 * mutator of nvme-mutate.c; without, see replay.c.
 */
#include "fuzz.h"

#include <errno.h>
#include <time.h>

#include "lazymem.h"
#include "nvme-guest.h"
#include "nvme-ledger.h"
#include "state.h"

/* Of one input.  Queues of three times 64 entries hold 24 MiB of data at most,
 * a tiny drive's tables and buffers are below a MiB. */
#define MOST_MEMORY (32U << 20)
#define MOST_LEFT   (1U << 20) /* beyond what there was before */
#define MOST_CPU_NS 5000000000ULL

bool fuzz_all_checks = true;

/* Blocks of all commands of a burst: how long an input takes goes by what it
 * makes the drive write. */
#define MOST_BURST 256

/* ---- fields ----------------------------------------------------------------- */

static unsigned byte_of(uint32_t v, unsigned i)
{
    return v >> (8 * i) & 0xff;
}

static uint32_t nsid_of(uint32_t k)
{
    static const uint32_t nsid[] = { 1, 0, NVME_NSID_ALL, 2 };

    return nsid[k & 3];
}

/* Addresses that matter. */
static uint64_t address(unsigned k, unsigned offset)
{
    static const uint64_t base[] = {
        HOST_DATA, HOST_DATA + GUEST_SLOT_BYTES, HOST_LISTS, HOST_LISTS + 4064,
        HOST_ADMIN_SQ, HOST_ADMIN_CQ, HOST_SHADOW_DB, HOST_SHADOW_EI,
        HOST_QUEUES, HOST_QUEUES + 0x20000, HOST_QUEUES + 0x30000,
        HOST_RAM_BYTES - 4096, HOST_RAM_BYTES, 0, 0xfffffffffffff000ULL,
        1ULL << 63,
    };

    return base[k % G_N_ELEMENTS(base)] + offset;
}

/* ---- guest memory that changes ---------------------------------------------- */

static void scramble(Host *h, uint64_t addr, size_t len)
{
    if (len >= 8 && addr < HOST_RAM_BYTES - len &&
        prng_below(&h->prng, 8) == 0) {
        addr += prng_below(&h->prng, len / 8) * 8;
        put_le64(host_ram(h, addr, 8), prng_u64(&h->prng));
    }
}

/* ---- time ------------------------------------------------------------------- */

static void act_run(Guest *g, const FuzzAction *x)
{
    guest_run(g);
}

static void act_steps(Guest *g, const FuzzAction *x)
{
    guest_steps(g, x->k % 64 + 1);
}

/* An hour at most: what the drive looks after meanwhile takes CPU time. */
static uint64_t time_of(const FuzzAction *x)
{
    return MIN((uint64_t)x->a << (x->k & 31), 3600000000000ULL);
}

static void act_sleep(Guest *g, const FuzzAction *x)
{
    guest_sleep(g, time_of(x));
}

static void act_idle(Guest *g, const FuzzAction *x)
{
    g->h->now_ns = MIN(g->h->now_ns + time_of(x), 1ULL << 53);
}

static void act_poll(Guest *g, const FuzzAction *x)
{
    guest_poll(g, x->k % GUEST_QUEUES, x->a ? x->a : 4096);
}

/* ---- I/O commands ----------------------------------------------------------- */

/* An I/O queue of the action, ready if the guest is honest; 0: none. */
static unsigned io_queue(Guest *g, unsigned k)
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
    return !(k & 0x80) ? k % 16 : !(k & 0x40) ? k % 64 : k * 2;
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

static void act_io(Guest *g, const FuzzAction *x)
{
    unsigned queue = io_queue(g, x->k >> 4 & 3);

    if (queue) {
        send_io(g, x, x->a, UINT32_MAX, queue, true);
    }
}

static void act_burst(Guest *g, const FuzzAction *x)
{
    unsigned queue = io_queue(g, x->k >> 4 & 3);
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

/* Deallocate makes the whole units of a range zeroes; what is left over may
 * become so, with the next range. */
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

static void act_dsm(Guest *g, const FuzzAction *x)
{
    unsigned queue = io_queue(g, x->b >> 24);
    unsigned n = g->honest ? x->k % GUEST_RANGES + 1U : x->k + 1U;
    uint32_t len = byte_of(x->b, 0) + 1;
    uint32_t stride = len + byte_of(x->b, 1);
    uint32_t attributes = byte_of(x->b, 2) & 0x80 ? byte_of(x->b, 2) & 7 : 4;
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
        put_le32(p, 0);
        put_le32(p + 4, len);
        put_le64(p + 8, lba);
    }
    if (!n) {
        s->kind = SENT_NONE;
        return;
    }
    guest_map(g, s, &sqe, n * 16);
    sqe.dw[10] = n - 1;
    sqe.dw[11] = attributes;
    guest_send(g, s, queue, &sqe, true);
}

static void act_flush(Guest *g, const FuzzAction *x)
{
    unsigned queue = io_queue(g, x->k);
    NvmeSqe sqe = host_sqe(NVME_IO_FLUSH, x->k & 0x40 ? NVME_NSID_ALL : 1, 0);
    Sent *s = queue ? guest_slot(g, SENT_FLUSH, 0) : NULL;

    if (s) {
        guest_send(g, s, queue, &sqe, true);
    }
}

static void act_manage(Guest *g, const FuzzAction *x)
{
    unsigned queue = io_queue(g, x->k >> 4);
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

/* ---- admin commands --------------------------------------------------------- */

/* data: two words that its buffer begins with, twice. */
static void send_admin(Guest *g, uint8_t opcode, uint8_t detail, uint32_t nsid,
                       uint64_t bytes, uint32_t dw10, uint32_t dw11,
                       uint32_t dw12, uint64_t data)
{
    NvmeSqe sqe = { .dw = { opcode, nsid } };
    Sent *s = guest_ready(g, 0) ? guest_slot(g, SENT_OTHER, detail) : NULL;

    if (!s) {
        return;
    }
    if (data) {
        put_le64(guest_to(g, s, 0, 8), data);
        put_le64(guest_to(g, s, 8, 8), data);
    }
    if (bytes) {
        guest_map(g, s, &sqe, bytes);
    }
    sqe.dw[10] = dw10;
    sqe.dw[11] = dw11;
    sqe.dw[12] = dw12;
    guest_send(g, s, 0, &sqe, true);
}

static void act_identify(Guest *g, const FuzzAction *x)
{
    static const uint8_t cns[] = { 0x00, 0x01, 0x02, 0x03, 0x05, 0x06, 0x08,
                                   0x10, 0x11, 0x12, 0x13, 0x15, 0x16, 0x19,
                                   0x1c, 0xff };
    uint8_t c = cns[x->k % G_N_ELEMENTS(cns)];

    send_admin(g, NVME_ADM_IDENTIFY, c, nsid_of(byte_of(x->b, 0)), 4096,
               (uint32_t)x->a << 16 | c, x->b >> 8, 0, 0);
}

static void act_log(Guest *g, const FuzzAction *x)
{
    static const uint8_t page[] = { 0x01, 0x02, 0x03, 0x05, 0x06, 0x09, 0x0d,
                                    0x20, 0x21, 0x22, 0x23, 0xc0, 0xc1, 0xc2,
                                    0x81, 0x00 };
    uint8_t lid = page[x->k % G_N_ELEMENTS(page)];
    uint32_t dw10 = (uint32_t)x->a << 16 | (x->k & 0x10U) << 11 |
                    (x->k & 0x20U) << 3 | lid;

    send_admin(g, NVME_ADM_GET_LOG_PAGE, lid,
               x->k & 0x80 ? nsid_of(x->b) : NVME_NSID_ALL,
               (uint64_t)x->a * 4 + 4, dw10, x->k & 0x40 ? x->b : 1U << 16,
               x->k & 0x40 ? 0 : x->b & 0xffff, 0);
}

static const uint8_t features[] = { 0x01, 0x02, 0x04, 0x05, 0x06, 0x07, 0x08,
                                    0x09, 0x0a, 0x0b, 0x0e, 0x1d, 0x1e, 0x81,
                                    0x10, 0x00 };

static void act_get_feature(Guest *g, const FuzzAction *x)
{
    uint8_t fid = features[x->k % G_N_ELEMENTS(features)];

    send_admin(g, NVME_ADM_GET_FEATURES, fid, nsid_of(x->a), 4096,
               (uint32_t)(x->k >> 4 & 7) << 8 | fid, x->b, 0, 0);
}

/* With the cache off, or on again, what a write promises changes: the honest
 * guest waits. */
static void set_cache(Guest *g, bool on)
{
    NvmeSqe sqe = { .dw = { NVME_ADM_SET_FEATURES, 0 } };
    Sent *s;

    if (!guest_ready(g, 0) || !(s = guest_slot(g, SENT_OTHER, 0x06))) {
        return;
    }
    sqe.dw[10] = 0x06;
    sqe.dw[11] = on;
    if (on) {
        g->cache_off = false;
    }
    if (guest_wait(g, guest_send(g, s, 0, &sqe, true))) {
        g->cache_off = !on;
    }
}

static void act_set_feature(Guest *g, const FuzzAction *x)
{
    uint8_t fid = features[x->k % G_N_ELEMENTS(features)];
    uint32_t save = (uint32_t)(x->k >> 7) << 31;

    if (fid == 0x06 && g->honest) {
        set_cache(g, x->b & 1);
        return;
    }
    send_admin(g, NVME_ADM_SET_FEATURES, fid, nsid_of(x->a), 4096, save | fid,
               x->b, x->a >> 2 & 1,
               (uint64_t)x->b << 32 | (0x00800300U + x->a));
}

static void act_abort(Guest *g, const FuzzAction *x)
{
    uint32_t dw10 = (uint32_t)x->a << 16 | x->k % GUEST_QUEUES;

    for (unsigned i = 0; i < GUEST_SENT && (g->honest || x->k & 0x80); i++) {
        Sent *s = &g->sent[(i + x->k) % GUEST_SENT];

        if (s->kind != SENT_NONE && s->kind != SENT_OTHER) {
            s->may_fail = true;
            dw10 = (uint32_t)s->cid << 16 | s->sqid;
            break;
        }
        if (i == GUEST_SENT - 1 && g->honest) {
            dw10 = 0xffff0000; /* none of its own */
        }
    }
    send_admin(g, NVME_ADM_ABORT, 0, 0, 0, dw10, 0, 0, 0);
}

static void act_event(Guest *g, const FuzzAction *x)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);
    unsigned n = 0;
    Sent *s;

    for (unsigned i = 0; i < GUEST_SENT; i++) {
        n += g->sent[i].kind == SENT_EVENT;
    }
    if (!guest_ready(g, 0) || (g->honest && n == 3)) {
        return;
    }
    s = guest_slot(g, SENT_EVENT, 0);
    if (s) {
        s->may_fail = true;
        guest_send(g, s, 0, &sqe, true);
    }
}

static void act_directive(Guest *g, const FuzzAction *x)
{
    static const struct {
        uint8_t opcode, type, operation;
    } op[] = {
        { NVME_ADM_DIRECTIVE_RECEIVE, 0, 1 }, { NVME_ADM_DIRECTIVE_SEND, 0, 1 },
        { NVME_ADM_DIRECTIVE_RECEIVE, 1, 1 },
        { NVME_ADM_DIRECTIVE_RECEIVE, 1, 2 },
        { NVME_ADM_DIRECTIVE_RECEIVE, 1, 3 },
        { NVME_ADM_DIRECTIVE_SEND, 1, 1 }, { NVME_ADM_DIRECTIVE_SEND, 1, 2 },
        { NVME_ADM_DIRECTIVE_SEND, 2, 1 },
    };
    unsigned i = x->k % G_N_ELEMENTS(op);
    uint32_t numd = x->k & 0x40 ? x->b : 31;

    send_admin(g, op[i].opcode, (uint8_t)(op[i].type << 4 | op[i].operation),
               nsid_of(x->k >> 3 & (x->k & 0x20 ? 3 : 0)), GUEST_SLOT_BYTES,
               numd, (uint32_t)x->a << 16 | (uint32_t)op[i].type << 8 |
               op[i].operation, x->b, 0);
}

static void act_shadow(Guest *g, const FuzzAction *x)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_DOORBELL_BUFFER, 0, HOST_SHADOW_DB);

    sqe.dw[8] = HOST_SHADOW_EI;
    if (g->honest || !g->h->q[0].sq_size) {
        g->shadow = true; /* from the next time on that it is enabled */
        return;
    }
    if (x->k & 3) {
        sqe.dw[6] = (uint32_t)address(x->k >> 2, x->a);
        sqe.dw[8] = x->k & 1 ? sqe.dw[6] : (uint32_t)address(x->b, 0);
    }
    guest_send(g, guest_slot(g, SENT_OTHER, 0), 0, &sqe, true);
    guest_run(g);
    for (unsigned i = 0; i < GUEST_QUEUES; i++) {
        g->h->q[i].shadow = true;
        g->h->cq[i].shadow = true;
    }
}

/* ---- queues ----------------------------------------------------------------- */

static void create_hostile(Guest *g, unsigned id, unsigned cqid, unsigned size,
                           const FuzzAction *x)
{
    Host *h = g->h;
    NvmeSqe sqe = host_sqe(NVME_ADM_CREATE_CQ, 0,
                           HOST_QUEUES + (2 * cqid + 1) * 0x10000);

    if (!h->q[0].sq_size) {
        return;
    }
    sqe.dw[10] = (size - 1) << 16 | cqid;
    sqe.dw[11] = x->b;
    guest_send(g, guest_slot(g, SENT_OTHER, 0), 0, &sqe, true);
    h->cq[cqid] = (HostCqRing){ .addr = HOST_QUEUES + (2 * cqid + 1) * 0x10000,
                                .size = size, .phase = 1,
                                .shadow = h->q[0].shadow };
    sqe = host_sqe(NVME_ADM_CREATE_SQ, 0, HOST_QUEUES + 2 * id * 0x10000);
    sqe.dw[10] = (size - 1) << 16 | id;
    sqe.dw[11] = cqid << 16 | (x->k & 0x80 ? 0 : 1);
    guest_send(g, guest_slot(g, SENT_OTHER, 0), 0, &sqe, true);
    h->q[id] = (HostQueue){ .id = id, .cqid = cqid, .sq_size = size,
                            .sq_addr = HOST_QUEUES + 2 * id * 0x10000,
                            .shadow = h->q[0].shadow };
    guest_run(g);
}

static void act_create(Guest *g, const FuzzAction *x)
{
    unsigned id = 1 + x->k % 3;
    unsigned cqid = 1 + x->k / 3 % 3;
    unsigned size = 2 + x->a % 63;

    if (!g->honest) {
        create_hostile(g, id, cqid, size, x);
        return;
    }
    id = MIN(id, g->o.n_queues);
    cqid = MIN(cqid, g->o.n_queues);
    if (guest_ready(g, 0) && !g->h->q[id].sq_size) {
        guest_create(g, id, cqid, size, (x->a >> 8) % 65);
    }
}

static bool delete(Guest *g, uint8_t opcode, unsigned id)
{
    NvmeSqe sqe = host_sqe(opcode, 0, 0);
    Sent *s = guest_slot(g, SENT_OTHER, 0);

    sqe.dw[10] = id;
    s = s ? guest_send(g, s, 0, &sqe, true) : NULL;
    return g->honest && guest_wait(g, s);
}

static bool cq_in_use(const Guest *g, unsigned id)
{
    for (unsigned i = 1; i < GUEST_QUEUES; i++) {
        if (g->h->q[i].sq_size && g->h->q[i].cqid == id) {
            return true;
        }
    }
    return false;
}

static void act_delete(Guest *g, const FuzzAction *x)
{
    unsigned id = x->k % GUEST_QUEUES;
    bool cq = x->k & 4;
    HostQueue *q = &g->h->q[id];

    if (!g->honest) {
        delete(g, cq ? NVME_ADM_DELETE_CQ : NVME_ADM_DELETE_SQ, id);
        return;
    }
    if (id == 0 || !guest_ready(g, 0)) {
        return;
    }
    if (cq && g->h->cq[id].size && !cq_in_use(g, id)) {
        if (delete(g, NVME_ADM_DELETE_CQ, id)) {
            g->h->cq[id].size = 0;
        }
    } else if (!cq && q->sq_size) {
        for (unsigned i = 0; i < GUEST_SENT; i++) {
            g->sent[i].may_fail |= g->sent[i].sqid == id;
        }
        if (delete(g, NVME_ADM_DELETE_SQ, id)) {
            guest_poll_all(g);
            guest_forget(g, (int)id);
            q->sq_size = 0;
        }
    }
}

/* ---- what no driver does ---------------------------------------------------- */

static void act_patch(Guest *g, const FuzzAction *x)
{
    if (g->npatches < GUEST_PATCHES) {
        g->patch[g->npatches++] = (Patch){ x->k & 15, x->k >> 4, x->b };
    }
}

static void act_raw(Guest *g, const FuzzAction *x)
{
    NvmeSqe sqe = { .dw = { x->k, nsid_of(x->a >> 2) } };
    uint64_t addr = address(x->a >> 4, 0);

    sqe.dw[6] = (uint32_t)addr;
    sqe.dw[7] = addr >> 32;
    addr = address(x->a >> 8, 0);
    sqe.dw[8] = (uint32_t)addr;
    sqe.dw[9] = addr >> 32;
    sqe.dw[10] = x->b;
    guest_send(g, guest_slot(g, SENT_OTHER, 0), x->a % GUEST_QUEUES, &sqe, true);
}

static void act_doorbell(Guest *g, const FuzzAction *x)
{
    host_write32(g->h, NVME_REG_DOORBELLS + 4 * (x->k % 140), x->b);
}

static void act_write_reg(Guest *g, const FuzzAction *x)
{
    static const uint16_t reg[] = { 0x00, 0x08, 0x0c, 0x10, 0x14, 0x1c, 0x20,
                                    0x24, 0x28, 0x2c, 0x30, 0x34, 0x38, 0x14 };

    nvme_reg_write(g->h->ctrl, g->h->now_ns, reg[x->k % G_N_ELEMENTS(reg)],
                   x->b | (uint64_t)x->a << 32, x->k & 0x80 ? 8 : 4);
}

static void act_any_reg(Guest *g, const FuzzAction *x)
{
    unsigned size = 1U << x->k % 4;
    uint64_t offset = x->k & 0x80 ? x->a : x->a % 0x40;

    nvme_reg_read(g->h->ctrl, offset, size);
    nvme_reg_write(g->h->ctrl, g->h->now_ns, offset, x->b, size);
}

static void act_memory(Guest *g, const FuzzAction *x)
{
    uint64_t addr = address(x->k, x->a);

    if (addr <= HOST_RAM_BYTES - 8) {
        put_le64(host_ram(g->h, addr, 8), x->b);
    }
}

/* ---- the store -------------------------------------------------------------- */

static void act_store_end(Guest *g, const FuzzAction *x)
{
    static const int errors[] = { 0, 0, -EIO, -ENOSPC };
    unsigned n = x->b % 64 + 1;
    int error = errors[x->k & 3];

    g->store_failed |= error && g->h->at_store->len;
    for (unsigned i = 0; i < n && g->h->at_store->len; i++) {
        host_store_finish(g->h, x->a % g->h->at_store->len, error);
    }
    guest_run(g);
}

static void act_store(Guest *g, const FuzzAction *x)
{
    Host *h = g->h;

    h->fail_writes = x->k & 1;
    h->fail_reads = x->k & 2;
    h->fail_flushes = x->k & 4;
    h->fail_zeroes = x->k & 8;
    h->slow = x->k & 32;
    h->before_read = x->k & 16 && !g->honest ? scramble : NULL;
    g->store_failed |= x->k & 15;
}

/* ---- the controller's life -------------------------------------------------- */

static void act_bring_up(Guest *g, const FuzzAction *x)
{
    unsigned sizes = x->a ? x->a : 0x1f1f;
    unsigned sq = MAX(byte_of(sizes, 0) % 32, g->honest ? 7 : 1) + 1;
    unsigned cq = MAX(byte_of(sizes, 1) % 32, g->honest ? 7 : 1) + 1;
    unsigned page = x->k & 7;
    Host *h = g->h;

    if (!g->powered || (g->honest && page > 4)) {
        return;
    }
    if (page <= 4 && !(x->k & 0x80)) {
        guest_enable(g, 12 + page, sq, cq);
        return;
    }
    if (g->honest) {
        return;
    }
    /* Something is wrong with it. */
    host_write32(h, NVME_REG_CC, 0);
    h->q[0] = (HostQueue){ .sq_addr = HOST_ADMIN_SQ, .sq_size = sq };
    h->cq[0] = (HostCqRing){ .addr = HOST_ADMIN_CQ, .size = cq, .phase = 1 };
    host_write32(h, NVME_REG_AQA, (cq - 1) << 16 | (sq - 1));
    nvme_reg_write(h->ctrl, h->now_ns, NVME_REG_ASQ,
                   x->k & 8 ? address(x->k >> 3, 0) : HOST_ADMIN_SQ, 8);
    nvme_reg_write(h->ctrl, h->now_ns, NVME_REG_ACQ,
                   x->k & 16 ? address(x->k >> 4, 0) : HOST_ADMIN_CQ, 8);
    host_write32(h, NVME_REG_CC, x->b ? x->b : 0x00460001 | page << 7);
    guest_run(g);
}

static void act_disable(Guest *g, const FuzzAction *x)
{
    host_write32(g->h, NVME_REG_CC, 0);
    guest_forget(g, -1);
    memset(g->h->q, 0, sizeof(g->h->q));
    memset(g->h->cq, 0, sizeof(g->h->cq));
    g->cache_off = false;
}

/* What completed before is durable after it. */
static void act_shutdown(Guest *g, const FuzzAction *x)
{
    uint32_t at = ledger_tick();
    uint32_t cc = host_read32(g->h, NVME_REG_CC);
    uint32_t done = 0;

    if (!g->powered || !(cc & NVME_CC_EN) || NVME_CC_SHN(cc)) {
        return;
    }
    host_write32(g->h, NVME_REG_CC, cc | (x->k & 1 ? 2U : 1U) << 14);
    for (unsigned i = 0, still = 0; i < 5000 && still < 2 && g->powered; i++) {
        done = host_read32(g->h, NVME_REG_CSTS) & NVME_CSTS_SHST_DONE;
        if (done) {
            break;
        }
        still = guest_step(g) ? 0 : still + 1;
    }
    if (!g->honest || g->forged || !g->powered) {
        return;
    }
    if (!done) {
        g_error("the controller does not shut down");
    }
    if (!g->drive.lies && !g->drive.fails && !g->store_failed) {
        ledger_flushed(at);
    }
    guest_poll_all(g);
}

static void act_reset(Guest *g, const FuzzAction *x)
{
    nvme_reset(g->h->ctrl, g->h->now_ns);
    guest_forget(g, -1);
    memset(g->h->q, 0, sizeof(g->h->q));
    memset(g->h->cq, 0, sizeof(g->h->cq));
    g->cache_off = false;
}

static void act_power(Guest *g, const FuzzAction *x)
{
    if (x->k & 1) {
        guest_power_cut(g);
    }
    if (x->k & 2) {
        guest_power_on(g);
    }
}

static void act_mask(Guest *g, const FuzzAction *x)
{
    host_write32(g->h, x->k & 1 ? NVME_REG_INTMC : NVME_REG_INTMS, x->b);
}

static void act_hold(Guest *g, const FuzzAction *x)
{
    nvme_hold(g->h->ctrl, x->k & 1);
    if (g->honest) {
        guest_steps(g, x->a % 32);
        nvme_hold(g->h->ctrl, false);
    }
}

/* ---- saving ----------------------------------------------------------------- */

/* A few bytes of a stream change, and its checksum agrees. */
static void forge(GByteArray *bytes, const FuzzAction *x)
{
    uint64_t at = (uint64_t)x->a * 13 % (bytes->len - 16);
    uint64_t sum;

    if (x->k & 8) {
        at &= ~7ULL;
        memcpy(bytes->data + at, &x->b, 4);
    } else {
        bytes->data[at] ^= (uint8_t)(x->b | 1);
    }
    if (x->k & 16) {
        return; /* a damaged one */
    }
    sum = state_sum(bytes->data, bytes->len - sizeof(sum));
    memcpy(bytes->data + bytes->len - sizeof(sum), &sum, sizeof(sum));
}

static bool settle(Guest *g)
{
    NvmeSettled how;
    unsigned n = 0;

    nvme_hold(g->h->ctrl, true);
    do {
        while (host_store_step(g->h)) {
        }
        how = nvme_settle(g->h->ctrl, &g->h->now_ns,
                          g->h->now_ns + 1000000000);
        g_assert_cmpuint(++n, <, 10000);
    } while (how == NVME_SETTLE_STORE);
    guest_run(g);
    return how == NVME_SETTLED;
}

static void act_reload(Guest *g, const FuzzAction *x)
{
    g_autoptr(GByteArray) drive = NULL;
    g_autoptr(GByteArray) ctrl = NULL;
    g_autoptr(GError) error = NULL;
    bool forged = !g->honest && x->k & 1;
    Host *h;

    if (!settle(g)) {
        nvme_hold(g->h->ctrl, false);
        return;
    }
    host_save(g->h, &drive, &ctrl);
    if (forged) {
        forge(x->k & 2 ? drive : ctrl, x);
    }
    h = host_reload(&g->o, g->h, drive, ctrl, &error);
    if (!h && !forged) {
        g_error("a controller at rest cannot be loaded: %s", error->message);
    }
    g_assert_true(!h == !!error);
    if (h) {
        g->h = h;
        g->forged |= forged;
        g->powered = nvme_powered(h->ctrl);
    }
    nvme_hold(g->h->ctrl, false);
}

/* ---- looking ---------------------------------------------------------------- */

static void no_unit(void *opaque, uint64_t lpn, uint64_t version)
{
}

/* A copy of the drive in the middle of its work is sound, and runs. */
static void look_at_clone(Guest *g)
{
    static const SsdHostOps ops = { .programmed = no_unit,
                                    .superseded = no_unit };
    g_autoptr(GError) error = NULL;
    SsdCompletion done[16];
    Ssd *copy = ssd_clone(g->h->ssd, &ops, NULL, &error);

    g_assert_no_error(error);
    for (unsigned i = 0; i < 20 && ssd_next_event_ns(copy) < 1ULL << 53; i++) {
        while (ssd_advance(copy, MAX(ssd_next_event_ns(copy), ssd_now_ns(copy)),
                           done, G_N_ELEMENTS(done)) ==
               G_N_ELEMENTS(done)) {
        }
    }
    ssd_destroy(copy);
}

static void act_look(Guest *g, const FuzzAction *x)
{
    GString *text = g_string_new(NULL);
    JsonWriter w = { .out = text };

    if (x->k & 1) {
        nvme_stats_json(g->h->ctrl, &w, NULL);
        ssd_stats_json(g->h->ssd, &w, NULL);
        if (x->k & 2) {
            nvme_reset_stats(g->h->ctrl);
            ssd_reset_stats(g->h->ssd);
        }
    }
    if (x->k & 4) {
        nvme_document(text);
    }
    if (x->k & 8) {
        look_at_clone(g);
    }
    if (x->k & 16) {
        guest_check_drive(g);
    }
    g_string_free(text, TRUE);
}

/* ---- the target ------------------------------------------------------------- */

#define FUZZ_ACT(name, fn) [FUZZ_##name] = act_##fn,
static void (*const actions[FUZZ_N_OPS])(Guest *g, const FuzzAction *x) = {
    FUZZ_OPS(FUZZ_ACT)
};
#undef FUZZ_ACT

static bool is_hostile(unsigned op)
{
    return op == FUZZ_IDLE || (op >= FUZZ_PATCH && op <= FUZZ_MEMORY);
}

/* What the drive and the store hold at the start. */
static void prepare(Host *h, void *opaque)
{
    const uint8_t *head = opaque;
    unsigned how = head[HEAD_CONTENT] & 7;
    uint32_t unit = h->info->unit_bytes / h->info->block_bytes;
    uint32_t nunits = (uint32_t)(h->nblocks / unit);
    g_autofree uint64_t *order = g_new(uint64_t, nunits + 1);
    uint32_t n = 0;

    if (head[HEAD_HOST] & FUZZ_HOST_OPLOG) {
        ssd_oplog_open(h->ssd, "/dev/null", NULL);
    }
    if (head[HEAD_HOST] & FUZZ_HOST_TRACE) {
        ssd_trace_open(h->ssd, "/dev/null", "fuzz", NULL);
    }
    for (uint32_t i = 0; i < nunits && how >= 2; i++) {
        bool known = how == 6 ? false : how == 2 ? i < nunits / 2
                                       : how == 5 ? i % 2 == 0 : true;

        for (uint32_t b = i * unit; b < (i + 1) * unit; b++) {
            uint32_t bytes = h->info->block_bytes;
            uint8_t *p = host_disk(h, (uint64_t)b * bytes, bytes);
            uint64_t stamp = 1ULL << 56 | b;

            put_le64(p, stamp);
            put_le64(p + bytes - 8, stamp);
            if (known) {
                ledger_preload(b, stamp);
            }
        }
        if (known) {
            g_assert_cmpint(ssd_preload(h->ssd, (uint64_t)i * unit, unit), ==,
                            0);
            order[n++] = (uint64_t)i * 7 % nunits;
        }
    }
    if (how == 4 || how == 7) { /* those are all known; some are written again */
        ssd_age(h->ssd, order, how == 4 ? n : n / 2);
    }
}

static void begin(Guest *g, const uint8_t *head)
{
    static const uint8_t mdts[] = { 5, 1, 3, 5 };
    static const uint8_t nqueues[] = { 8, 3, 64, 8 };
    uint8_t flags = head[HEAD_HOST];
    uint8_t shape = head[HEAD_SHAPE];
    uint64_t nblocks;
    static HostMemory *memory;

    memory = memory ? memory : host_memory_new(LEDGER_MOST_BLOCKS * 512);
    g_assert_true(!fuzz_all_checks || host_memory_clean(memory));
    memset(g, 0, sizeof(*g));
    g->drive = fuzz_drive(head);
    g->memory = guest_memory();
    g->page_bits = 12;
    g->powered = true;
    g->honest = flags & FUZZ_HOST_HONEST;
    g->shadow = flags & FUZZ_HOST_SHADOW;
    g->o = (HostOptions){
        .config = g->drive.config,
        .n_queues = nqueues[shape >> 2 & 3],
        .mdts = mdts[shape & 3],
        .pin = flags & FUZZ_HOST_PIN,
        .slow = flags & FUZZ_HOST_SLOW,
        .backlog = shape & 0x80 ? NVME_BACKLOG_MIN : 0,
        .write_through = shape & 0x40,
        .no_preload = true,
        .lent = memory,
        .prepare = prepare,
        .opaque = (void *)head,
    };
    nblocks = g->drive.nblocks;
    ledger_init((uint32_t)nblocks);
    g->o.nblocks = (shape >> 4 & 3) == 1   ? nblocks - 3
                   : (shape >> 4 & 3) == 2 ? nblocks / 2
                                           : nblocks;
    g->h = host_new(&g->o);
    guest_watch(g);
    if (!g->honest && !(flags & FUZZ_HOST_COLD)) {
        guest_enable(g, 12, 32, 32);
        for (unsigned i = 1; i <= 2 && g->powered; i++) {
            guest_create(g, i, i, 32, i);
        }
    }
}

static uint64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static FuzzAction action_at(const uint8_t *p, size_t n)
{
    uint8_t b[FUZZ_ACTION_BYTES] = { 0 };

    memcpy(b, p, MIN(n, sizeof(b)));
    return (FuzzAction){ b[0], b[1], get_le16(b + 2), get_le32(b + 4) };
}

const char *fuzz_unreached(void)
{
    return guest_unreached();
}

static bool one_in_eight(const uint8_t *data, size_t size)
{
    uint32_t hash = 2166136261; /* FNV-1a */

    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ data[i]) * 16777619;
    }
    return hash >> 29 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Guest guest;
    Guest *g = &guest;
    uint8_t head[FUZZ_HEAD_BYTES] = { 0 };
    uint64_t cpu = cpu_ns();
    size_t memory;

    memcpy(head, data, MIN(size, sizeof(head)));
    begin(g, head);
    g->all_checks = fuzz_all_checks || one_in_eight(data, size);
    for (size_t at = sizeof(head), n = 0; at < size && n < FUZZ_MOST_ACTIONS;
         at += FUZZ_ACTION_BYTES, n++) {
        FuzzAction x = action_at(data + at, size - at);
        unsigned op = x.op % FUZZ_N_OPS;

        if (!g->honest || !is_hostile(op)) {
            actions[op](g, &x);
        }
    }
    guest_end(g);
    g_assert_cmpuint(g->peak, <=, MOST_MEMORY);
    memory = g->memory;
    host_free(g->h);
    g_assert_cmpuint(guest_memory(), <=, memory + MOST_LEFT);
    g_assert_cmpuint(cpu_ns() - cpu, <=, MOST_CPU_NS);
    return 0;
}
