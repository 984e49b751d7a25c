/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvme-guest.c - see nvme-guest.h. */
#include "nvme-guest.h"

#include <inttypes.h>
#include <malloc.h>

#include "lazymem.h"
#include "nvme-ledger.h"
#include "nvme-protect.h"
#include "simtime.h"
#include "ssd-report.h"

/*
 * Bounds.  nvme_run() does 256 commands at a time, and 3 queues have at most 4096
 * entries each; an idle drive has an event in a millisecond or so, and a
 * command of this guest needs far fewer than a thousand; of the slowest ones the
 * drive may have 64 when it is reset, of 256 units each.
 */
#define MOST_RUNS  1000
#define MOST_STEPS 100000
#define MOST_NS    (1ULL << 53) /* 104 days: the model's clock ends at 213 */

#define POISON 0xbad0bad0bad0bad0ULL

/* ---- memory -------------------------------------------------------------- */

/* Of the address sanitizer; other builds do not have it. */
extern size_t __sanitizer_get_current_allocated_bytes(void)
    __attribute__((weak));

size_t guest_memory(void)
{
    size_t heap = __sanitizer_get_current_allocated_bytes
                      ? __sanitizer_get_current_allocated_bytes()
                      : 0;

    if (!heap) {
        struct mallinfo2 m = mallinfo2();

        heap = m.uordblks + m.hblkhd;
    }
    return heap + lazy_bytes();
}

/* ---- buffers ------------------------------------------------------------- */

static unsigned index_of(const Guest *g, const Sent *s)
{
    return (unsigned)(s - g->sent);
}

uint64_t guest_buffer(const Guest *g, const Sent *s, uint64_t pos)
{
    uint64_t page = 1ULL << g->page_bits;
    uint64_t at = pos;

    if (s->scattered) {
        at = GUEST_SLOT_BYTES - page - pos / page * page + pos % page;
    }
    return HOST_DATA + (uint64_t)index_of(g, s) * GUEST_SLOT_BYTES +
           at % GUEST_SLOT_BYTES;
}

uint8_t *guest_to(Guest *g, const Sent *s, uint64_t pos, size_t len)
{
    return host_ram(g->h, guest_buffer(g, s, pos), len);
}

/* A descriptor for each page; a few are alone in their segment. */
static void map_sgl(Guest *g, Sent *s, NvmeSqe *sqe, uint64_t bytes)
{
    uint64_t list = HOST_LISTS + index_of(g, s) * GUEST_LIST_BYTES;
    unsigned n = (unsigned)((MIN(bytes, GUEST_SLOT_BYTES) + 4095) / 4096);
    unsigned first = n > 3 ? 3 : 0; /* then a segment that is the last */
    uint64_t at = list;

    for (unsigned i = 0; i < n; i++, at += 16) {
        if (first && i == first) {
            put_le64(host_ram(g->h, at, 8), at + 16);
            put_le32(host_ram(g->h, at + 8, 4), (n - i) * 16);
            put_le32(host_ram(g->h, at + 12, 4), NVME_SGL_LAST << 28);
            at += 16;
        }
        put_le64(host_ram(g->h, at, 8), guest_buffer(g, s, i * 4096ULL));
        put_le32(host_ram(g->h, at + 8, 4),
                 (uint32_t)MIN(bytes - i * 4096ULL, 4096));
        put_le32(host_ram(g->h, at + 12, 4), NVME_SGL_DATA << 28);
    }
    sqe->dw[0] |= 1 << 14;
    sqe->dw[6] = (uint32_t)list;
    sqe->dw[7] = list >> 32;
    sqe->dw[8] = first ? (first + 1) * 16 : n * 16;
    sqe->dw[9] = (uint32_t)(first ? NVME_SGL_SEGMENT : NVME_SGL_LAST) << 28;
}

/* A scattered one has its list at the end of a page of lists, so that it goes on
 * in the next. */
void guest_map(Guest *g, Sent *s, NvmeSqe *sqe, uint64_t bytes)
{
    uint64_t page = 1ULL << g->page_bits;
    uint64_t list = HOST_LISTS + index_of(g, s) * GUEST_LIST_BYTES;
    uint64_t at = s->scattered && page == 4096 ? list + 4096 - 32 : list;
    uint64_t n = (MIN(bytes, GUEST_SLOT_BYTES) + page - 1) / page;
    uint64_t prp1 = guest_buffer(g, s, 0);
    uint64_t prp2 = n == 2 ? guest_buffer(g, s, page) : n > 2 ? at : 0;

    if (s->sgl) {
        map_sgl(g, s, sqe, bytes);
        return;
    }
    for (uint64_t i = 1; n > 2 && i < n; i++) {
        if (at == list + 4088 && i + 1 < n && page == 4096) {
            put_le64(host_ram(g->h, at, 8), list + 4096);
            at = list + 4096;
        }
        put_le64(host_ram(g->h, at, 8), guest_buffer(g, s, i * page));
        at += 8;
    }
    sqe->dw[6] = (uint32_t)prp1;
    sqe->dw[7] = prp1 >> 32;
    sqe->dw[8] = (uint32_t)prp2;
    sqe->dw[9] = prp2 >> 32;
}

/* The first and the last 8 bytes of a block are its stamp. */
void guest_fill(Guest *g, Sent *s, uint32_t i, uint64_t stamp)
{
    uint32_t bytes = g->h->info->block_bytes;
    uint8_t *p = guest_to(g, s, (uint64_t)i * bytes, bytes);

    put_le64(p, stamp);
    put_le64(p + bytes - 8, stamp);
}

static void clear_buffer(Guest *g, Sent *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        guest_fill(g, s, i, POISON);
    }
}

/* ---- commands that end --------------------------------------------------- */

static void wrong_data(const Sent *s, uint32_t lba, uint64_t first,
                       uint64_t last)
{
    g_autofree char *may = ledger_explain(lba);

    g_error("a command %02Xh of %u, %u blocks, begun at %u, found %" PRIx64
            " .. %" PRIx64 ": %s", s->opcode, s->lba, s->n, s->at, first, last,
            may);
}

static void check_data(Guest *g, Sent *s)
{
    uint32_t bytes = g->h->info->block_bytes;

    for (uint32_t i = 0; i < s->n; i++) {
        const uint8_t *p = g->h->ram +
                           guest_buffer(g, s, (uint64_t)i * bytes);
        uint64_t first = get_le64(p);
        uint64_t last = get_le64(p + bytes - 8);

        if (first != last || !ledger_read(s->lba + i, first, s->at)) {
            wrong_data(s, s->lba + i, first, last);
        }
    }
}

static bool is_write(const Sent *s)
{
    return s->kind == SENT_WRITE || s->kind == SENT_ZEROES ||
           s->kind == SENT_TRIM;
}

static void end_write(Guest *g, Sent *s, bool ok)
{
    bool durable = s->fua && !g->drive.lies;

    if (s->kind != SENT_TRIM) {
        ledger_written(s->lba, s->n, s->stamp, s->at, ok, durable);
    }
    for (unsigned i = 0; i < s->nranges; i++) {
        ledger_written(s->range[i].lba, s->range[i].n, 0, s->at,
                       ok && s->range[i].sure, false);
    }
}

static bool may_be_marked(const Sent *s)
{
    bool reads = s->kind == SENT_READ || s->kind == SENT_COMPARE ||
                 s->kind == SENT_VERIFY;

    for (uint32_t i = 0; reads && i < s->n; i++) {
        if (ledger_may_read(s->lba + i, LEDGER_MARK, s->at)) {
            return true;
        }
    }
    return false;
}

/* Checks of the honest guest at a command's end. */
static void judge(Guest *g, Sent *s, uint16_t status)
{
    bool ok = host_code(status) == 0;

    if (host_code(status) == NVME_SC_UNRECOVERED_READ && may_be_marked(s)) {
        return;
    }
    if (!ok && !s->may_fail && !g->drive.fails && !g->store_failed &&
        s->kind != SENT_OTHER) {
        g_error("a command %02Xh of %u, %u blocks, ended with status %x",
                s->opcode, s->lba, s->n, status);
    }
    if (is_write(s)) {
        end_write(g, s, ok);
    } else if (s->kind == SENT_FLUSH && ok && !g->drive.lies) {
        ledger_flushed(s->at);
    } else if (ok && (s->kind == SENT_READ || s->kind == SENT_COMPARE)) {
        check_data(g, s);
    }
}

static void resolve(Guest *g, Sent *s, uint16_t status)
{
    s->status = status;
    s->aborted = host_code(status) == NVME_SC_ABORT_SQ_DELETED;
    if (s->aborted) {
        return; /* guest_forget() ends it */
    }
    if (g->honest && !g->forged) {
        judge(g, s, status);
    }
    if (host_code(status) == 0) {
        guest_reached(s);
    }
    guest_reached_zones(g); /* the next limit may change them again */
    s->kind = SENT_NONE;
}

static Sent *find(Guest *g, uint16_t sqid, uint16_t cid)
{
    for (unsigned i = 0; i < GUEST_SENT; i++) {
        Sent *s = &g->sent[i];

        if (s->kind != SENT_NONE && !s->aborted && s->sqid == sqid &&
            s->cid == cid) {
            return s;
        }
    }
    return NULL;
}

unsigned guest_poll(Guest *g, unsigned cq, unsigned most)
{
    HostCqe c;
    unsigned n = 0;

    for (; n < most && g->h->cq[cq].size && host_poll(g->h, cq, &c); n++) {
        Sent *s = find(g, c.sqid, c.cid);

        if (s) {
            resolve(g, s, c.status);
        } else if (g->honest && !g->forged) {
            g_error("completion queue %u: command %u of queue %u is not in "
                    "flight", cq, c.cid, c.sqid);
        }
    }
    return n;
}

unsigned guest_poll_all(Guest *g)
{
    unsigned n = 0;

    for (unsigned i = 0; i < GUEST_QUEUES; i++) {
        n += guest_poll(g, i, 4096);
    }
    return n;
}

void guest_forget(Guest *g, int queue)
{
    for (unsigned i = 0; i < GUEST_SENT; i++) {
        Sent *s = &g->sent[i];

        if (s->kind == SENT_NONE || (queue >= 0 && s->sqid != queue)) {
            continue;
        }
        if (g->honest && is_write(s)) {
            end_write(g, s, false);
        }
        s->kind = SENT_NONE;
    }
}

/* An honest guest's buffer is written while a command that reads into it is in
 * flight, and at no other time. */
static void look_at_dma(Host *h, uint64_t addr, size_t len)
{
    const Guest *g = h->user;
    uint64_t first = (addr - HOST_DATA) / GUEST_SLOT_BYTES;
    const Sent *s;

    if (addr < HOST_DATA || first >= GUEST_SENT || !g->honest || g->forged) {
        return;
    }
    s = &g->sent[first];
    if ((s->kind != SENT_READ && s->kind != SENT_OTHER) || s->aborted ||
        (addr + len - 1 - HOST_DATA) / GUEST_SLOT_BYTES != first) {
        g_error("%zu bytes are written to %" PRIx64 ", where no command reads",
                len, addr);
    }
}

void guest_watch(Guest *g)
{
    g->h->user = g;
    g->h->before_write = look_at_dma;
}

unsigned guest_in_flight(const Guest *g, unsigned queue)
{
    unsigned n = 0;

    for (unsigned i = 0; i < GUEST_SENT; i++) {
        n += g->sent[i].kind != SENT_NONE && g->sent[i].sqid == queue;
    }
    return n;
}

/* ---- time ---------------------------------------------------------------- */

static void no_queues(Guest *g)
{
    memset(g->h->q, 0, sizeof(g->h->q));
    memset(g->h->cq, 0, sizeof(g->h->cq));
    g->cache_off = false;
    g->shadow_on = false;
    g->page_bits = 12;
}

/* The guest loses its power with the drive, or its scripted faults. */
static void look_at_power(Guest *g)
{
    if (g->powered && !nvme_powered(g->h->ctrl)) {
        guest_poll_all(g);
        guest_forget(g, -1);
        ledger_cut();
        no_queues(g);
        g->powered = false;
    }
}

static void look_at_memory(Guest *g)
{
    size_t now = guest_memory();

    g->peak = MAX(g->peak, now > g->memory ? now - g->memory : 0);
}

void guest_run(Guest *g)
{
    Host *h = g->h;
    uint64_t next;
    unsigned n = 0;

    while (nvme_run(h->ctrl, h->now_ns)) {
        g_assert_cmpuint(++n, <, MOST_RUNS);
    }
    next = nvme_next_event_ns(h->ctrl);
    if (next <= h->now_ns) {
        g_error("nvme_run() has no more to do at %" PRIu64 " ns, and the next "
                "event is at %" PRIu64 " ns", h->now_ns, next);
    }
    look_at_power(g);
}

/* A step of a controller that has nothing to do now. */
static bool advance(Guest *g)
{
    Host *h = g->h;
    uint64_t next = nvme_next_event_ns(h->ctrl);

    if (h->at_store->len &&
        (next == SSD_TIME_NEVER || prng_below(&h->prng, 4) == 0)) {
        host_store_step(h);
        guest_run(g);
        return true;
    }
    if (next == SSD_TIME_NEVER || next > MOST_NS) {
        return false;
    }
    h->now_ns = MAX(h->now_ns, next);
    guest_run(g);
    return true;
}

bool guest_step(Guest *g)
{
    guest_run(g);
    return advance(g);
}

void guest_steps(Guest *g, unsigned n)
{
    guest_run(g);
    while (n-- && advance(g)) {
    }
    look_at_memory(g);
}

void guest_sleep(Guest *g, uint64_t ns)
{
    Host *h = g->h;
    uint64_t until = MIN(h->now_ns + ns, MOST_NS);

    guest_run(g);
    for (unsigned i = 0; i < 200; i++) {
        uint64_t next = nvme_next_event_ns(h->ctrl);

        if (next > until) {
            break;
        }
        h->now_ns = MAX(h->now_ns, next);
        guest_run(g);
    }
    h->now_ns = MAX(h->now_ns, until);
    guest_run(g);
}

/* ---- sending ------------------------------------------------------------- */

Sent *guest_slot(Guest *g, SentKind kind, uint8_t detail)
{
    Sent *s = NULL;

    for (unsigned i = 0; g->honest && i < GUEST_SENT && !s; i++) {
        s = g->sent[i].kind == SENT_NONE ? &g->sent[i] : NULL;
    }
    if (!g->honest) {
        s = &g->sent[g->next_slot++ % GUEST_SENT];
    }
    if (s) {
        *s = (Sent){ .kind = kind, .detail = detail, .sqid = UINT16_MAX };
    }
    return s;
}

static void patch(Guest *g, NvmeSqe *sqe)
{
    for (unsigned i = 0; i < g->npatches; i++) {
        uint32_t *dw = &sqe->dw[g->patch[i].dw % 16];

        switch (g->patch[i].how & 3) {
        case 0:
            *dw = g->patch[i].value;
            break;
        case 1:
            *dw ^= g->patch[i].value;
            break;
        case 2:
            *dw |= g->patch[i].value;
            break;
        default:
            *dw += g->patch[i].value;
        }
    }
    g->npatches = 0;
}

/* Before the command can be seen. */
static void begin(Guest *g, Sent *s)
{
    s->at = ledger_tick();
    if (s->kind == SENT_WRITE || s->kind == SENT_ZEROES) {
        ledger_write(s->lba, s->n, s->stamp, s->at);
    }
    for (unsigned i = 0; i < s->nranges; i++) {
        ledger_write(s->range[i].lba, s->range[i].n, 0, s->at);
    }
    if (s->kind == SENT_READ) {
        clear_buffer(g, s);
    }
}

Sent *guest_send(Guest *g, Sent *s, unsigned queue, NvmeSqe *sqe, bool ring)
{
    HostQueue *q = &g->h->q[queue];

    if (!q->sq_size ||
        (g->honest && guest_in_flight(g, queue) >= q->sq_size - 1)) {
        s->kind = SENT_NONE;
        return NULL;
    }
    s->sqid = (uint16_t)queue;
    s->opcode = nvme_sqe_opcode(sqe);
    s->fua |= g->cache_off;
    if (queue && g->o.pi) {
        fuzz_protect(sqe);
    }
    if (g->honest) {
        begin(g, s);
    } else {
        patch(g, sqe);
    }
    s->cid = (uint16_t)(g->h->next_cid = g->h->next_cid % 0xffff + 1);
    if (!nvme_sqe_cid(sqe)) {
        sqe->dw[0] |= (uint32_t)s->cid << 16;
    }
    host_put(g->h, queue, sqe);
    if (ring) {
        host_ring(g->h, queue);
    }
    return s;
}

bool guest_wait(Guest *g, Sent *s)
{
    uint16_t cid = s ? s->cid : 0;

    if (!s) {
        return false;
    }
    guest_run(g);
    for (unsigned i = 0, still = 0; i < MOST_STEPS && still < 2; i++) {
        bool moved = guest_poll_all(g) > 0;

        if (s->kind == SENT_NONE || s->cid != cid) {
            return g->powered && host_code(s->status) == 0;
        }
        if (moved) {
            guest_run(g);
        }
        moved |= advance(g);
        still = moved ? 0 : still + 1;
    }
    if (s->kind != SENT_NONE && g->honest && !g->forged) {
        g_error("a command %02Xh of queue %u, %u, %u blocks, never ends",
                s->opcode, s->sqid, s->lba, s->n);
    }
    return false;
}

/* ---- the controller ------------------------------------------------------ */

bool guest_enable(Guest *g, unsigned page_bits, unsigned sq_size,
                  unsigned cq_size)
{
    Host *h = g->h;
    unsigned i = 0;
    uint32_t csts;

    host_write32(h, NVME_REG_CC, 0);
    guest_forget(g, -1);
    no_queues(g);
    h->q[0] = (HostQueue){ .sq_addr = HOST_ADMIN_SQ, .sq_size = sq_size };
    h->cq[0] = (HostCqRing){ .addr = HOST_ADMIN_CQ, .size = cq_size,
                             .phase = 1 };
    if (page_bits > 12) { /* those are aligned for small pages only */
        h->q[0].sq_addr = 0x20000;
        h->cq[0].addr = 0x40000;
    }
    g->page_bits = page_bits;
    memset(host_ram(h, h->cq[0].addr, cq_size * 16), 0, cq_size * 16);
    host_write32(h, NVME_REG_AQA, (cq_size - 1) << 16 | (sq_size - 1));
    nvme_reg_write(h->ctrl, h->now_ns, NVME_REG_ASQ, h->q[0].sq_addr, 8);
    nvme_reg_write(h->ctrl, h->now_ns, NVME_REG_ACQ, h->cq[0].addr, 8);
    host_write32(h, NVME_REG_CC,
                 0x00460001 | (page_bits - 12) << 7 | guest_sets(g));
    for (unsigned still = 0; i < MOST_STEPS && still < 2; i++) {
        if (!g->powered || host_read32(h, NVME_REG_CSTS) & NVME_CSTS_RDY) {
            break;
        }
        still = guest_step(g) ? 0 : still + 1;
    }
    csts = host_read32(h, NVME_REG_CSTS);
    csts &= g->honest ? UINT32_MAX : ~NVME_CSTS_SHST_MASK;
    if (g->powered && csts != NVME_CSTS_RDY && !g->forged) {
        g_error("enabled, and CSTS is %x after %u steps", csts, i);
    }
    if (g->honest && g->powered && g->shadow && page_bits == 12) {
        NvmeSqe sqe = host_sqe(NVME_ADM_DOORBELL_BUFFER, 0, HOST_SHADOW_DB);
        Sent *s = guest_slot(g, SENT_OTHER, 0);

        sqe.dw[8] = HOST_SHADOW_EI;
        /* Those of the admin queue go by registers (docs/nvme-support.md). */
        g->shadow_on = guest_wait(g, guest_send(g, s, 0, &sqe, true));
    }
    return g->powered;
}

static bool create(Guest *g, unsigned opcode, uint64_t addr, uint32_t dw10,
                   uint32_t dw11)
{
    NvmeSqe sqe = host_sqe(opcode, 0, addr);
    Sent *s = guest_slot(g, SENT_OTHER, 0);

    sqe.dw[10] = dw10;
    sqe.dw[11] = dw11;
    return s && guest_wait(g, guest_send(g, s, 0, &sqe, true));
}

bool guest_create(Guest *g, unsigned id, unsigned cqid, unsigned size,
                  unsigned vector)
{
    Host *h = g->h;
    uint64_t cq_addr = HOST_QUEUES + (2 * cqid + 1) * 0x10000;
    uint64_t sq_addr = HOST_QUEUES + 2 * id * 0x10000;
    bool shadow = g->shadow_on || h->q[0].shadow;

    if (!h->cq[cqid].size) {
        memset(host_ram(h, cq_addr, size * 16), 0, size * 16);
        if (!create(g, NVME_ADM_CREATE_CQ, cq_addr, (size - 1) << 16 | cqid,
                    (h->msix_on ? vector << 16 : 0) | 3)) {
            return false;
        }
        h->cq[cqid] = (HostCqRing){ .addr = cq_addr, .size = size, .phase = 1,
                                    .shadow = shadow };
    }
    if (!create(g, NVME_ADM_CREATE_SQ, sq_addr, (size - 1) << 16 | id,
                cqid << 16 | 1)) {
        return false;
    }
    h->q[id] = (HostQueue){ .id = id, .cqid = cqid, .sq_size = size,
                            .sq_addr = sq_addr, .shadow = shadow };
    return true;
}

bool guest_ready(Guest *g, unsigned queue)
{
    if (!g->honest) {
        return true;
    }
    guest_power_on(g);
    if (!(host_read32(g->h, NVME_REG_CSTS) & NVME_CSTS_RDY) ||
        host_read32(g->h, NVME_REG_CSTS) & NVME_CSTS_SHST_MASK ||
        !g->h->q[0].sq_size) {
        if (!guest_enable(g, 12, 32, 32)) {
            return false;
        }
    }
    return !queue || g->h->q[queue].sq_size ||
           guest_create(g, queue, queue, 16, queue);
}

void guest_power_cut(Guest *g)
{
    nvme_power_cut(g->h->ctrl, g->h->now_ns);
    look_at_power(g);
}

void guest_power_on(Guest *g)
{
    if (!nvme_powered(g->h->ctrl)) {
        nvme_power_on(g->h->ctrl, g->h->now_ns);
        g->powered = true;
    }
}

/* ---- the end ------------------------------------------------------------- */

static void drain(Guest *g)
{
    for (unsigned i = 0, still = 0; i < MOST_STEPS && still < 2; i++) {
        bool busy = g->h->at_store->len || nvme_store_in_flight(g->h->ctrl);
        bool moved = guest_poll_all(g) > 0;

        for (unsigned q = 0; q < GUEST_QUEUES; q++) {
            for (unsigned k = 0; k < GUEST_SENT; k++) {
                const Sent *s = &g->sent[k];

                busy |= s->kind != SENT_NONE && s->kind != SENT_EVENT &&
                        s->sqid == q && g->h->q[q].sq_size;
            }
        }
        if (!busy) {
            break;
        }
        moved |= guest_step(g);
        still = moved ? 0 : still + 1;
    }
}

static void all_must_have_ended(Guest *g)
{
    for (unsigned i = 0; i < GUEST_SENT; i++) {
        const Sent *s = &g->sent[i];

        if (s->kind != SENT_NONE && s->kind != SENT_EVENT) {
            g_error("a command %02Xh of queue %u, %u, %u blocks, has not ended",
                    s->opcode, s->sqid, s->lba, s->n);
        }
    }
}

/* Every block is read: it must hold what it may. */
static void read_all(Guest *g)
{
    uint32_t at_once = MIN(GUEST_SLOT_BYTES, 4096U << g->o.mdts) /
                       g->h->info->block_bytes;

    for (uint32_t lba = 0; lba < g->h->nblocks; lba += at_once) {
        Sent *s;
        NvmeSqe sqe = host_sqe(NVME_IO_READ, 1, 0);
        uint32_t n = (uint32_t)MIN(at_once, g->h->nblocks - lba);

        if (!guest_ready(g, 1)) {
            if (g->powered) {
                g_error("no queue to be had");
            }
            lba -= at_once; /* a scripted fault: again */
            continue;
        }
        s = guest_slot(g, SENT_READ, 0);
        g_assert_nonnull(s);
        s->lba = lba;
        s->n = n;
        guest_map(g, s, &sqe, (uint64_t)s->n * g->h->info->block_bytes);
        sqe.dw[10] = lba;
        sqe.dw[12] = s->n - 1;
        if (!guest_wait(g, guest_send(g, s, 1, &sqe, true)) && !g->powered) {
            lba -= at_once;
        }
    }
}

/* Whatever has happened, a reset brings a controller that works. */
static void come_back(Guest *g)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_IDENTIFY, 0, 0);
    Sent *s;

    nvme_reset(g->h->ctrl, g->h->now_ns);
    guest_forget(g, -1);
    g->honest = true; /* from now on: the ledger has no earlier commands of a
                         hostile one */
    g->shadow = false;
    g->npatches = 0;
    no_queues(g);
    do {
        guest_power_on(g);
    } while (!guest_ready(g, 0));
    sqe.dw[10] = 1;
    s = guest_slot(g, SENT_OTHER, 1);
    guest_map(g, s, &sqe, 4096);
    s = guest_send(g, s, 0, &sqe, true);
    if (!guest_wait(g, s) && g->powered) {
        g_error("after a reset Identify ends with status %x", s->status);
    }
}

void guest_check_drive(Guest *g)
{
    g_autoptr(GError) error = NULL;

    if (g->drive.timed && ssd_ready(g->h->ssd)) {
        ssd_check(g->h->ssd, &error);
        g_assert_no_error(error);
    }
}

/* A drive in recovery gets ready, unless the power went or a
 * forged clock is at its end. */
static void wait_for_drive(Guest *g)
{
    for (unsigned i = 0; i < MOST_STEPS && g->powered; i++) {
        if (ssd_ready(g->h->ssd)) {
            return;
        }
        if (!guest_step(g)) {
            break;
        }
    }
    if (g->powered && !g->forged) {
        g_error("the drive does not get ready");
    }
}

/* Commands in flight end, or go with the controller. */
static void come_to_rest(Guest *g)
{
    Host *h = g->h;

    if (g->honest && !g->forged) {
        drain(g);
        all_must_have_ended(g);
        read_all(g);
    }
    if (!g->forged) { /* a forged clock may be at its end */
        come_back(g);
    }
    nvme_reset(h->ctrl, h->now_ns);
    for (unsigned i = 0; i < MOST_STEPS && nvme_store_in_flight(h->ctrl); i++) {
        host_store_step(h);
        guest_run(g);
    }
    g_assert_cmpuint(nvme_store_in_flight(h->ctrl), ==, 0);
    wait_for_drive(g);
}

void guest_end(Guest *g, bool at_rest)
{
    Host *h = g->h;

    h->before_read = NULL;
    h->fail_reads = h->fail_writes = h->fail_flushes = h->fail_zeroes = false;
    nvme_hold(h->ctrl, false);
    guest_run(g);
    guest_pull_peer(g);
    if (at_rest) {
        come_to_rest(g);
    }
    look_at_memory(g);
    guest_check_drive(g);
}
