/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz-nvme.c - a hostile guest made of bytes.
 *
 * The input is a list of actions: register accesses, doorbells, commands that
 * are half right, writes to guest memory, time, ends of store requests, power
 * cuts, resets.  What is checked is that the process lives, that sanitizers
 * are content, that the store is never asked for what is outside of it or for
 * two things at once (host.c), and that the drive's invariants hold at the end.
 *
 * With libFuzzer (clang, -fsanitize=fuzzer) this is the target; without, see
 * replay.c.
 */
#include "host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Input {
    const uint8_t *p;
    size_t n;
} Input;

#define MAX_ACTIONS 400

static uint64_t take(Input *in, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < bytes && in->n; i++) {
        v |= (uint64_t)*in->p++ << (8 * i);
        in->n--;
    }
    return v;
}

/* ---- guest memory that changes ------------------------------------------ */

static void scramble(Host *h, uint64_t addr, size_t len)
{
    if (len >= 8 && addr < HOST_RAM_BYTES - len &&
        prng_below(&h->prng, 8) == 0) {
        put_le64(h->ram + addr + prng_below(&h->prng, len / 8) * 8,
                 prng_u64(&h->prng));
    }
}

/* ---- addresses that matter ---------------------------------------------- */

static uint64_t address(Input *in)
{
    static const uint64_t base[] = {
        HOST_DATA, HOST_DATA + 0x10000, HOST_LISTS, HOST_LISTS + 4088,
        HOST_ADMIN_SQ, HOST_ADMIN_CQ, HOST_SHADOW_DB, HOST_SHADOW_EI,
        HOST_QUEUES, HOST_QUEUES + 0x20000, HOST_QUEUES + 0x30000,
        HOST_RAM_BYTES - 4096, HOST_RAM_BYTES, 0, 0xfffffffffffff000ULL,
        1ULL << 63,
    };
    uint8_t k = take(in, 1);

    return base[k % G_N_ELEMENTS(base)] + (k & 0x80 ? take(in, 2) : 0);
}

static void put_address(NvmeSqe *sqe, unsigned dw, uint64_t addr)
{
    sqe->dw[dw] = (uint32_t)addr;
    sqe->dw[dw + 1] = addr >> 32;
}

/* ---- actions ------------------------------------------------------------ */

static void act_bring_up(Host *h, Input *in)
{
    host_write32(h, NVME_REG_CC, 0);
    memset(h->q, 0, sizeof(h->q));
    memset(h->cq, 0, sizeof(h->cq));
    h->q[0] = (HostQueue){ .sq_addr = HOST_ADMIN_SQ, .sq_size = 32 };
    h->cq[0] = (HostCqRing){ .addr = HOST_ADMIN_CQ, .size = 32, .phase = 1 };
    memset(h->ram + HOST_ADMIN_CQ, 0, 4096);
    host_write32(h, NVME_REG_AQA, 31 << 16 | 31);
    nvme_reg_write(h->ctrl, h->now_ns, NVME_REG_ASQ, HOST_ADMIN_SQ, 8);
    nvme_reg_write(h->ctrl, h->now_ns, NVME_REG_ACQ, HOST_ADMIN_CQ, 8);
    host_write32(h, NVME_REG_CC, 0x00460001);
}

static void act_create_pair(Host *h, Input *in)
{
    unsigned k = take(in, 1);
    unsigned id = 1 + k % 3;
    unsigned cqid = 1 + k / 3 % 3;
    unsigned size = 2 + take(in, 1) % 63;
    NvmeSqe sqe;

    if (!h->q[0].sq_size) {
        return;
    }
    h->cq[cqid] = (HostCqRing){
        .addr = HOST_QUEUES + (2 * cqid + 1) * 0x10000,
        .size = size, .phase = 1, .shadow = h->q[0].shadow,
    };
    h->q[id] = (HostQueue){
        .id = id, .cqid = cqid, .sq_size = size,
        .sq_addr = HOST_QUEUES + 2 * id * 0x10000, .shadow = h->q[0].shadow,
    };
    sqe = host_sqe(NVME_ADM_CREATE_CQ, 0, h->cq[cqid].addr);
    sqe.dw[10] = (size - 1) << 16 | cqid;
    sqe.dw[11] = 3;
    host_send(h, 0, &sqe);
    sqe = host_sqe(NVME_ADM_CREATE_SQ, 0, h->q[id].sq_addr);
    sqe.dw[10] = (size - 1) << 16 | id;
    sqe.dw[11] = cqid << 16 | 1;
    host_send(h, 0, &sqe);
    nvme_run(h->ctrl, h->now_ns);
}

static void act_admin(Host *h, Input *in)
{
    static const uint8_t opcode[] = {
        NVME_ADM_DELETE_SQ, NVME_ADM_CREATE_SQ, NVME_ADM_GET_LOG_PAGE,
        NVME_ADM_DELETE_CQ, NVME_ADM_CREATE_CQ, NVME_ADM_IDENTIFY,
        NVME_ADM_ABORT, NVME_ADM_SET_FEATURES, NVME_ADM_GET_FEATURES,
        NVME_ADM_ASYNC_EVENT, NVME_ADM_DOORBELL_BUFFER, 0x7f,
    };
    NvmeSqe sqe = { .dw = { opcode[take(in, 1) % G_N_ELEMENTS(opcode)] } };

    sqe.dw[1] = (uint32_t)(int8_t)take(in, 1);
    put_address(&sqe, 6, address(in));
    put_address(&sqe, 8, address(in));
    sqe.dw[10] = take(in, 4);
    sqe.dw[11] = take(in, 4);
    if (sqe.dw[10] & 1 << 30) {
        sqe.dw[12] = take(in, 2);
    }
    if (h->q[0].sq_size) {
        host_send(h, 0, &sqe);
    }
}

static void act_io(Host *h, Input *in)
{
    uint8_t k = take(in, 1);
    uint8_t flags = take(in, 1);
    unsigned id = 1 + flags % 3;
    NvmeSqe sqe = { .dw = { k & 0xf } };
    uint64_t lba = take(in, 2) % 1100;
    uint32_t n = take(in, 1);

    sqe.dw[1] = k & 0x10 ? 1 : k & 0x20 ? NVME_NSID_ALL : 1;
    if (flags & 0x40) {
        host_map(h, &sqe, address(in) % (HOST_LISTS - 0x200000),
                 (uint64_t)(n + 1) * h->info->block_bytes);
    } else {
        put_address(&sqe, 6, address(in));
        put_address(&sqe, 8, address(in));
    }
    sqe.dw[10] = (uint32_t)lba;
    sqe.dw[11] = k & 0x80 ? 4 : 0;
    sqe.dw[12] = n | (flags & 0x80 ? 1U << 30 : 0);
    if ((k & 0xf) == NVME_IO_DSM) {
        sqe.dw[10] = n % 8;
        sqe.dw[11] = 4;
    }
    if (h->q[id].sq_size) {
        host_send(h, id, &sqe);
    }
}

/* Directives, I/O management, and writes of both kinds with a directive. */
static void act_placement(Host *h, Input *in)
{
    static const uint8_t opcode[] = {
        NVME_ADM_DIRECTIVE_SEND, NVME_ADM_DIRECTIVE_RECEIVE, NVME_IO_WRITE,
        NVME_IO_WRITE_ZEROES, NVME_IO_MGMT_RECEIVE, NVME_IO_MGMT_SEND,
    };
    uint8_t k = take(in, 1);
    unsigned kind = k % G_N_ELEMENTS(opcode);
    unsigned id = kind < 2 ? 0 : 1 + (k >> 3) % 3;
    NvmeSqe sqe = { .dw = { opcode[kind], k & 0x40 ? NVME_NSID_ALL : 1 } };
    uint8_t lba = take(in, 1);

    host_map(h, &sqe, HOST_DATA, 8192);
    sqe.dw[10] = kind < 2 ? 31 : kind > 3 ? (uint32_t)take(in, 1) << 16 | 1
                                          : lba;
    sqe.dw[11] = kind < 2 ? (uint32_t)take(in, 3) : kind == 4 ? 31 : 0;
    sqe.dw[12] = kind < 2 ? (uint32_t)take(in, 2)
                          : 7 | (uint32_t)(take(in, 1) & 3) << 20;
    sqe.dw[13] = (uint32_t)take(in, 1) << 16;
    if (h->q[id].sq_size) {
        host_send(h, id, &sqe);
    }
}

/* Log pages 20h to 23h and features 1Dh and 1Eh of FDP. */
static void act_fdp(Host *h, Input *in)
{
    static const uint8_t opcode[] = {
        NVME_ADM_GET_LOG_PAGE, NVME_ADM_GET_FEATURES, NVME_ADM_SET_FEATURES,
    };
    uint8_t k = take(in, 1);
    unsigned kind = k % G_N_ELEMENTS(opcode);
    NvmeSqe sqe = { .dw = { opcode[kind], kind ? 1 : 0 } };

    host_map(h, &sqe, HOST_DATA, 8192);
    sqe.dw[10] = kind ? 0x1dU + (k >> 4 & 1)
                      : (uint32_t)take(in, 1) << 16 | (k & 0x80) << 1 |
                            (0x20U + (k >> 4 & 3));
    sqe.dw[11] = kind ? (uint32_t)take(in, 3) : (uint32_t)take(in, 1) << 16;
    sqe.dw[12] = (uint32_t)take(in, 1) << 2;
    if (kind) {
        sqe.dw[12] >>= 2;
    }
    if (h->q[0].sq_size) {
        host_send(h, 0, &sqe);
    }
}

static void act_reg_write(Host *h, Input *in)
{
    static const uint16_t reg[] = { 0x00, 0x08, 0x0c, 0x10, 0x14, 0x1c, 0x20,
                                    0x24, 0x28, 0x2c, 0x30, 0x34, 0x38, 0x40 };
    uint8_t k = take(in, 1);

    nvme_reg_write(h->ctrl, h->now_ns, reg[k % G_N_ELEMENTS(reg)], take(in, 8),
                   k & 0x80 ? 8 : 4);
}

static void act_any_reg(Host *h, Input *in)
{
    uint64_t offset = take(in, 2);
    unsigned size = 1U << take(in, 1) % 4;

    nvme_reg_read(h->ctrl, offset, size);
    nvme_reg_write(h->ctrl, h->now_ns, offset, take(in, 4), size);
}

static void act_doorbell(Host *h, Input *in)
{
    host_write32(h, NVME_REG_DOORBELLS + 4 * (take(in, 1) % 10), take(in, 2));
}

static void act_memory(Host *h, Input *in)
{
    uint64_t addr = address(in);
    uint64_t v = take(in, 8);

    if (addr <= HOST_RAM_BYTES - 8) {
        put_le64(h->ram + addr, v);
    }
}

static void act_shadow(Host *h, Input *in)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_DOORBELL_BUFFER, 0, HOST_SHADOW_DB);

    sqe.dw[8] = HOST_SHADOW_EI;
    if (!h->q[0].sq_size) {
        return;
    }
    host_send(h, 0, &sqe);
    nvme_run(h->ctrl, h->now_ns);
    for (unsigned i = 0; i < 4; i++) {
        h->q[i].shadow = true;
        h->cq[i].shadow = true;
    }
}

static void act_run(Host *h, Input *in)
{
    nvme_run(h->ctrl, h->now_ns);
}

static void act_steps(Host *h, Input *in)
{
    unsigned n = take(in, 1) % 16;

    for (unsigned i = 0; i < n; i++) {
        host_step(h);
    }
}

static void act_store(Host *h, Input *in)
{
    host_store_step(h);
}

static void act_poll(Host *h, Input *in)
{
    unsigned id = take(in, 1) % 4;
    HostCqe cqe;

    while (h->cq[id].size && host_poll(h, id, &cqe)) {
    }
}

static void act_power(Host *h, Input *in)
{
    uint8_t k = take(in, 1);

    if (k & 1) {
        nvme_power_cut(h->ctrl, h->now_ns);
    }
    if (k & 2) {
        nvme_power_on(h->ctrl, h->now_ns);
    }
    if (k & 4) {
        nvme_reset(h->ctrl, h->now_ns);
    }
}

/* Time passes and the controller is left alone. */
static void act_idle(Host *h, Input *in)
{
    h->now_ns += (uint64_t)take(in, 1) << 10;
}

static void act_failures(Host *h, Input *in)
{
    uint8_t k = take(in, 1);

    h->fail_writes = k & 1;
    h->fail_reads = k & 2;
    h->fail_flushes = k & 4;
    h->fail_zeroes = k & 8;
    h->before_read = k & 16 ? scramble : NULL;
    h->slow = k & 32;
}

static void (*const actions[])(Host *h, Input *in) = {
    act_bring_up, act_create_pair, act_admin,   act_io,      act_reg_write,
    act_any_reg,  act_doorbell,    act_memory,  act_shadow,  act_run,
    act_steps,    act_store,       act_poll,    act_power,   act_idle,
    act_failures, act_io,          act_placement, act_steps, act_fdp,
};

static void settle(Host *h)
{
    h->before_read = NULL;
    /* What is refused is tried again for ever. */
    h->fail_writes = h->fail_zeroes = false;
    nvme_reset(h->ctrl, h->now_ns);
    for (unsigned i = 0; i < 100000 && host_step(h); i++) {
    }
    g_assert_cmpuint(nvme_store_in_flight(h->ctrl), ==, 0);
}

static GString *options_of(uint8_t mode)
{
    GString *s = g_string_new(mode & 8 ? "host.queue_depth=2;" : "");

    if (mode & 0xc0 && !(mode & 16)) {
        g_string_append(s, "nand.blocks=64;ftl.op_percent=120%;");
        g_string_append(s, mode & 64 ? "streams.max=3;" : "fdp.ruhs=3;");
    }
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Input in = { data, size };
    uint8_t mode = take(&in, 1);
    g_autoptr(GString) set = options_of(mode);
    HostOptions o = {
        .nblocks = mode & 1 ? 1024 : 1021,
        .pin = mode & 2,
        .slow = mode & 4,
        .set = set->str,
        .profile = mode & 16 ? "zero-latency" : NULL,
        .mdts = 5,
    };
    Host *h = host_new(&o);

    if (!(mode & 32)) {
        act_bring_up(h, &in);
    }
    for (unsigned i = 0; i < MAX_ACTIONS && in.n; i++) {
        actions[take(&in, 1) % G_N_ELEMENTS(actions)](h, &in);
    }
    settle(h);
    if (!(mode & 16)) {
        g_assert_true(ssd_check(h->ssd, NULL));
    }
    host_free(h);
    return 0;
}
