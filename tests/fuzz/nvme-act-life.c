/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-act-life.c - actions: behaviour of no driver, faults of the store,
 * resets and power, saving and loading, looking from outside.
 */
#include "nvme-act.h"

#include <errno.h>

#include "nvme-ledger.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "state.h"

/* ---- guest memory that changes ------------------------------------------- */

static void scramble(Host *h, uint64_t addr, size_t len)
{
    if (len >= 8 && addr < HOST_RAM_BYTES - len &&
        prng_below(&h->prng, 8) == 0) {
        addr += prng_below(&h->prng, len / 8) * 8;
        put_le64(host_ram(h, addr, 8), prng_u64(&h->prng));
    }
}

/* ---- behaviour of no driver --------------------------------------------- */

void act_patch(Guest *g, const FuzzAction *x)
{
    if (g->npatches < GUEST_PATCHES) {
        g->patch[g->npatches++] = (Patch){ x->k & 15, x->k >> 4, x->b };
    }
}

void act_raw(Guest *g, const FuzzAction *x)
{
    NvmeSqe sqe = { .dw = { x->k, nsid_of(x->a >> 2) } };
    uint64_t addr = address(x->a >> 4, 0);

    sqe.dw[6] = (uint32_t)addr;
    sqe.dw[7] = addr >> 32;
    addr = address(x->a >> 8, 0);
    sqe.dw[8] = (uint32_t)addr;
    sqe.dw[9] = addr >> 32;
    sqe.dw[10] = x->b;
    guest_send(g, guest_slot(g, SENT_OTHER, (uint8_t)x->b), x->a % GUEST_QUEUES,
               &sqe, true);
}

void act_doorbell(Guest *g, const FuzzAction *x)
{
    host_write32(g->h, NVME_REG_DOORBELLS + 4 * (x->k % 140), x->b);
}

void act_write_reg(Guest *g, const FuzzAction *x)
{
    static const uint16_t reg[] = { 0x00, 0x08, 0x0c, 0x10, 0x14, 0x1c, 0x20,
                                    0x24, 0x28, 0x2c, 0x30, 0x34, 0x38, 0x14 };

    nvme_reg_write(g->h->ctrl, g->h->now_ns, reg[x->k % G_N_ELEMENTS(reg)],
                   x->b | (uint64_t)x->a << 32, x->k & 0x80 ? 8 : 4);
}

void act_any_reg(Guest *g, const FuzzAction *x)
{
    unsigned size = 1U << x->k % 4;
    uint64_t offset = x->k & 0x80 ? x->a : x->a % 0x40;

    nvme_reg_read(g->h->ctrl, offset, size);
    nvme_reg_write(g->h->ctrl, g->h->now_ns, offset, x->b, size);
}

void act_memory(Guest *g, const FuzzAction *x)
{
    uint64_t addr = address(x->k, x->a);

    if (addr <= HOST_RAM_BYTES - 8) {
        put_le64(host_ram(g->h, addr, 8), x->b);
    }
}

/* ---- the store ----------------------------------------------------------- */

void act_store_end(Guest *g, const FuzzAction *x)
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

void act_store(Guest *g, const FuzzAction *x)
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

/* ---- the controller's life ----------------------------------------------- */

void act_bring_up(Guest *g, const FuzzAction *x)
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
    host_write32(h, NVME_REG_CC,
                 x->b ? x->b : 0x00460001 | page << 7 | guest_sets(g));
    guest_run(g);
}

void act_disable(Guest *g, const FuzzAction *x)
{
    host_write32(g->h, NVME_REG_CC, 0);
    guest_forget(g, -1);
    memset(g->h->q, 0, sizeof(g->h->q));
    memset(g->h->cq, 0, sizeof(g->h->cq));
    g->cache_off = false;
}

/* Earlier completed commands are durable after it. */
void act_shutdown(Guest *g, const FuzzAction *x)
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

void act_reset(Guest *g, const FuzzAction *x)
{
    nvme_reset(g->h->ctrl, g->h->now_ns);
    guest_forget(g, -1);
    memset(g->h->q, 0, sizeof(g->h->q));
    memset(g->h->cq, 0, sizeof(g->h->cq));
    g->cache_off = false;
}

void act_power(Guest *g, const FuzzAction *x)
{
    if (x->k & 1) {
        guest_power_cut(g);
    }
    if (x->k & 2) {
        guest_power_on(g);
    }
}

void act_mask(Guest *g, const FuzzAction *x)
{
    host_write32(g->h, x->k & 1 ? NVME_REG_INTMC : NVME_REG_INTMS, x->b);
}

void act_hold(Guest *g, const FuzzAction *x)
{
    nvme_hold(g->h->ctrl, x->k & 1);
    if (g->honest) {
        guest_steps(g, x->a % 32);
        nvme_hold(g->h->ctrl, false);
    }
}

/* ---- saving -------------------------------------------------------------- */

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

/* The hosts of secondary controllers come with the drive. */
static void attached(Host *h, void *opaque, bool on)
{
    if (on) {
        guest_add_vfs(opaque, h);
    } else {
        guest_pull_vfs(opaque);
    }
}

void act_reload(Guest *g, const FuzzAction *x)
{
    HostOptions o = g->o;
    g_autoptr(GByteArray) drive = NULL;
    g_autoptr(GByteArray) ctrl = NULL;
    g_autoptr(GError) error = NULL;
    bool forged = !g->honest && x->k & 1;
    Host *h;

    guest_pull_peer(g); /* its host is not saved */
    if (!settle(g)) {
        nvme_hold(g->h->ctrl, false);
        return;
    }
    host_save(g->h, &drive, &ctrl);
    if (forged) {
        forge(x->k & 2 ? drive : ctrl, x);
    }
    o.attached = attached;
    o.opaque = g;
    guest_pull_vfs(g); /* their memory is not saved */
    h = host_reload(&o, g->h, drive, ctrl, &error);
    if (!h) {
        guest_add_vfs(g, g->h);
    }
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

/* ---- looking ------------------------------------------------------------- */

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
        uint64_t now_ns = MAX(ssd_next_event_ns(copy), ssd_now_ns(copy));

        while (ssd_advance(copy, now_ns, done, G_N_ELEMENTS(done)) ==
               G_N_ELEMENTS(done)) {
        }
    }
    ssd_destroy(copy);
}

void act_look(Guest *g, const FuzzAction *x)
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
