/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-data.c - every byte is what it should be, under a random load.
 *
 * A reference keeps, for each mapping unit, the list of changes since the last
 * point at which its content is known to be durable.  A read must return the
 * state after all of them; what a power cut leaves must be the state after a
 * first part of them, as a whole unit.  Commands in flight never overlap in
 * blocks (the standard gives no order then), but may share units.
 *
 * VSSD_SEED=n runs one seed; VSSD_OPS=n sets the operations of each seed.
 */
#include "host.h"
#include "ssd-report.h"

#define QD 24
#define MAX_BLOCKS 48
#define SLOT_BYTES (MAX_BLOCKS * 4096)

typedef struct Change {
    uint16_t first; /* blocks within the unit */
    uint16_t count;
    uint32_t value; /* 0: zeroes */
} Change;

typedef struct Unit {
    uint32_t *base; /* values that are durable, per block */
    GArray *changes;
} Unit;

typedef enum Kind { OP_READ, OP_WRITE, OP_ZEROES, OP_TRIM, OP_COMPARE,
                    OP_FLUSH } Kind;

typedef struct Op {
    bool busy;
    bool fua;
    Kind kind;
    uint16_t cid;
    uint64_t lba;
    uint32_t nblocks;
    uint32_t value;
} Op;

typedef struct Load {
    Host *h;
    Prng prng;
    uint32_t block_bytes;
    uint32_t unit_blocks;
    uint64_t nunits;
    Unit *units;
    uint8_t *locked; /* per block: by a command in flight */
    uint8_t *trimmed; /* per block: last by a TRIM, of which the store may not
                         know */
    Op op[QD];
    unsigned in_flight;
    uint32_t next_value;
    unsigned ncuts;
    bool flaky; /* the store refuses writes now and then */
} Load;

/* ---- patterns ----------------------------------------------------------- */

/* Each 8 bytes of a block tell where they belong and what was written. */
static void fill_block(Load *l, uint8_t *p, uint64_t lba, uint32_t value)
{
    for (uint32_t i = 0; i < l->block_bytes; i += 8) {
        put_le64(p + i, value ? (lba << 32 | value) ^ (uint64_t)i << 56 : 0);
    }
}

/* The value of a block; aborts the test if it is not one at all. */
static uint32_t block_value(Load *l, const uint8_t *p, uint64_t lba)
{
    uint32_t value = (uint32_t)get_le64(p);

    for (uint32_t i = 0; i < l->block_bytes; i += 8) {
        uint64_t want = value ? (lba << 32 | value) ^ (uint64_t)i << 56 : 0;

        g_assert_cmphex(get_le64(p + i), ==, want);
    }
    return value;
}

/* ---- the reference ------------------------------------------------------ */

/* The state of a unit after its first n changes. */
static void unit_state(const Load *l, const Unit *u, unsigned n, uint32_t *out)
{
    memcpy(out, u->base, l->unit_blocks * sizeof(*out));
    for (unsigned i = 0; i < n; i++) {
        const Change *c = &g_array_index(u->changes, Change, i);

        for (unsigned b = c->first; b < c->first + c->count; b++) {
            out[b] = c->value;
        }
    }
}

static void note_change(Load *l, uint64_t lba, uint32_t nblocks, uint32_t value)
{
    while (nblocks) {
        Unit *u = &l->units[lba / l->unit_blocks];
        Change c = { .first = lba % l->unit_blocks, .value = value };

        c.count = MIN(nblocks, l->unit_blocks - c.first);
        g_array_append_val(u->changes, c);
        lba += c.count;
        nblocks -= c.count;
    }
}

/* Everything acknowledged so far is durable; at rest only. */
static void note_durable(Load *l)
{
    for (uint64_t i = 0; i < l->nunits; i++) {
        Unit *u = &l->units[i];

        if (u->changes->len) {
            uint32_t state[64];

            unit_state(l, u, u->changes->len, state);
            memcpy(u->base, state, l->unit_blocks * sizeof(*state));
            g_array_set_size(u->changes, 0);
        }
    }
}

static uint32_t current(const Load *l, uint64_t lba)
{
    const Unit *u = &l->units[lba / l->unit_blocks];
    uint32_t state[64];

    unit_state(l, u, u->changes->len, state);
    return state[lba % l->unit_blocks];
}

/* ---- operations --------------------------------------------------------- */

static uint8_t *op_data(Load *l, const Op *op)
{
    return l->h->ram + HOST_DATA + (op - l->op) * SLOT_BYTES;
}

static bool lock(Load *l, uint64_t lba, uint32_t nblocks)
{
    for (uint32_t i = 0; i < nblocks; i++) {
        if (l->locked[lba + i]) {
            return false;
        }
    }
    memset(l->locked + lba, 1, nblocks);
    return true;
}

static void send_trim(Load *l, Op *op)
{
    NvmeSqe sqe = host_sqe(NVME_IO_DSM, 1, op_data(l, op) - l->h->ram);
    uint64_t first = (op->lba + l->unit_blocks - 1) / l->unit_blocks;
    uint64_t end = (op->lba + op->nblocks) / l->unit_blocks;

    sqe.dw[11] = 4;
    memset(op_data(l, op), 0, 16);
    put_le32(op_data(l, op) + 4, op->nblocks);
    put_le64(op_data(l, op) + 8, op->lba);
    if (end > first) {
        note_change(l, first * l->unit_blocks,
                    (end - first) * l->unit_blocks, 0);
        memset(l->trimmed + first * l->unit_blocks, 1,
               (end - first) * l->unit_blocks);
    }
    op->cid = host_send(l->h, 1, &sqe);
}

static void send_rw(Load *l, Op *op)
{
    static const uint8_t opcode[] = {
        [OP_READ] = NVME_IO_READ,
        [OP_WRITE] = NVME_IO_WRITE,
        [OP_ZEROES] = NVME_IO_WRITE_ZEROES,
        [OP_COMPARE] = NVME_IO_COMPARE,
    };
    uint8_t *data = op_data(l, op);
    NvmeSqe sqe = host_sqe(opcode[op->kind], 1, 0);
    uint64_t bytes = (uint64_t)op->nblocks * l->block_bytes;

    for (uint32_t i = 0; i < op->nblocks; i++) {
        uint32_t value = op->kind == OP_COMPARE ? current(l, op->lba + i)
                                                : op->value;

        fill_block(l, data + i * l->block_bytes, op->lba + i, value);
    }
    if (op->kind == OP_READ) {
        memset(data, 0xaa, bytes);
    }
    host_map(l->h, &sqe, data - l->h->ram, bytes);
    if (sqe.dw[8] == HOST_LISTS) { /* each operation a list of its own */
        uint64_t to = HOST_LISTS + (op - l->op + 1) * 4096;

        memcpy(l->h->ram + to, l->h->ram + HOST_LISTS, 4096);
        sqe.dw[8] = (uint32_t)to;
    }
    sqe.dw[10] = (uint32_t)op->lba;
    sqe.dw[12] = (op->nblocks - 1) | (op->fua ? 1U << 30 : 0);
    if (op->kind == OP_WRITE || op->kind == OP_ZEROES) {
        note_change(l, op->lba, op->nblocks, op->value);
        memset(l->trimmed + op->lba, 0, op->nblocks);
    }
    op->cid = host_send(l->h, 1, &sqe);
}

static void choose(Load *l, Op *op)
{
    uint64_t nblocks = l->nunits * l->unit_blocks;
    unsigned dice = prng_below(&l->prng, 100);

    op->nblocks = 1 + prng_below(&l->prng, dice % 3 ? 8 : MAX_BLOCKS);
    op->lba = prng_below(&l->prng, nblocks - op->nblocks);
    if (prng_below(&l->prng, 2)) { /* whole units, often */
        op->lba -= op->lba % l->unit_blocks;
        op->nblocks = MAX(op->nblocks / l->unit_blocks, 1) * l->unit_blocks;
    }
    op->kind = dice < 35 ? OP_READ : dice < 80 ? OP_WRITE
             : dice < 86 ? OP_ZEROES : dice < 96 ? OP_TRIM : OP_COMPARE;
    if (op->kind == OP_TRIM && prng_below(&l->prng, 4) == 0) { /* a large one */
        op->nblocks = nblocks / 2;
        op->lba = prng_below(&l->prng, nblocks / 2);
    }
    op->fua = prng_below(&l->prng, 20) == 0 && !l->flaky;
    op->value = op->kind == OP_ZEROES ? 0 : ++l->next_value;
}

static void start(Load *l, Op *op)
{
    choose(l, op);
    if (!lock(l, op->lba, op->nblocks)) {
        return;
    }
    op->busy = true;
    l->in_flight++;
    if (op->kind == OP_TRIM) {
        send_trim(l, op);
    } else {
        send_rw(l, op);
    }
}

static void finish(Load *l, const HostCqe *cqe)
{
    Op *op = l->op;

    while (!op->busy || op->cid != cqe->cid) {
        op++;
        g_assert_cmpint(op - l->op, <, QD);
    }
    g_assert_cmphex(cqe->status, ==, 0);
    for (uint32_t i = 0; i < op->nblocks && op->kind == OP_READ; i++) {
        uint32_t got = block_value(l, op_data(l, op) + i * l->block_bytes,
                                   op->lba + i);

        g_assert_cmphex(got, ==, current(l, op->lba + i));
    }
    memset(l->locked + op->lba, 0, op->nblocks);
    op->busy = false;
    l->in_flight--;
}

static void drain(Load *l)
{
    while (l->in_flight) {
        HostCqe cqe = host_wait(l->h, 1);

        finish(l, &cqe);
    }
}

/* ---- checks at rest ----------------------------------------------------- */

static void read_unit(Load *l, uint64_t unit, uint32_t *values)
{
    uint64_t lba = unit * l->unit_blocks;

    g_assert_cmphex(host_io(l->h, 1, NVME_IO_READ, lba, l->unit_blocks,
                            HOST_DATA), ==, 0);
    for (uint32_t b = 0; b < l->unit_blocks; b++) {
        values[b] = block_value(l, l->h->ram + HOST_DATA + b * l->block_bytes,
                                lba + b);
    }
}

static void check_all(Load *l)
{
    for (uint64_t i = 0; i < l->nunits; i++) {
        uint32_t got[64];
        uint32_t want[64];

        read_unit(l, i, got);
        unit_state(l, &l->units[i], l->units[i].changes->len, want);
        g_assert_cmpmem(got, l->unit_blocks * 4, want, l->unit_blocks * 4);
    }
}

static void refuse(Load *l, bool writes, bool zeroes)
{
    l->h->fail_writes = writes;
    l->h->fail_zeroes = zeroes;
}

static void flush(Load *l)
{
    drain(l);
    refuse(l, false, false);
    if (l->flaky) { /* what was refused a moment ago makes one Flush fail */
        host_flush(l->h, 1);
    }
    g_assert_cmphex(host_flush(l->h, 1), ==, 0);
    note_durable(l);
    for (uint64_t i = 0; i < l->nunits; i++) { /* and the host machine has it */
        for (uint32_t b = 0; b < l->unit_blocks; b++) {
            uint64_t lba = i * l->unit_blocks + b;
            uint32_t has = block_value(l, l->h->durable + lba * l->block_bytes,
                                       lba);

            if (!l->trimmed[lba]) {
                g_assert_cmphex(has, ==, l->units[i].base[b]);
            }
        }
    }
}

/* Zeroes that were found may be those of a TRIM. */
static void note_zeroes(Load *l, uint64_t unit, const uint32_t *got)
{
    for (uint32_t b = 0; b < l->unit_blocks; b++) {
        l->trimmed[unit * l->unit_blocks + b] = !got[b];
    }
}

/* What the cut left is the state after some of the changes; take it. */
static void check_after_cut(Load *l)
{
    for (uint64_t i = 0; i < l->nunits; i++) {
        Unit *u = &l->units[i];
        uint32_t got[64];
        uint32_t state[64];
        unsigned n = 0;

        read_unit(l, i, got);
        for (; n <= u->changes->len; n++) {
            unit_state(l, u, n, state);
            if (memcmp(state, got, l->unit_blocks * 4) == 0) {
                break;
            }
        }
        g_assert_cmpuint(n, <=, u->changes->len);
        note_zeroes(l, i, got);
        memcpy(u->base, got, l->unit_blocks * 4);
        g_array_set_size(u->changes, 0);
    }
}

static void bring_up(Load *l)
{
    memset(l->h->cq, 0, sizeof(l->h->cq));
    host_enable(l->h);
    g_assert_cmphex(host_create_queues(l->h, 1, 1, 64), ==, 0);
}

static void forget_in_flight(Load *l)
{
    memset(l->op, 0, sizeof(l->op));
    memset(l->locked, 0, l->nunits * l->unit_blocks);
    l->in_flight = 0;
}

static void power_cut(Load *l)
{
    Host *h = l->h;

    nvme_power_cut(h->ctrl, h->now_ns);
    forget_in_flight(l);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, 0xffffffff);
    host_sleep(h, 1000);
    nvme_power_on(h->ctrl, h->now_ns);
    bring_up(l);
    check_after_cut(l);
    check_all(l); /* it does not change again */
    l->ncuts++;
}

/* Of the changes that were under way, the first ones are done: keep those.  The
 * last state that fits, since a cut may still bring back those before it. */
static void check_after_reset(Load *l, const uint8_t *unknown)
{
    for (uint64_t i = 0; i < l->nunits; i++) {
        Unit *u = &l->units[i];
        uint32_t got[64];
        uint32_t state[64];
        unsigned n = u->changes->len + 1;

        read_unit(l, i, got);
        unit_state(l, u, u->changes->len, state);
        for (uint32_t b = 0; b < l->unit_blocks; b++) {
            /* What was acknowledged is there. */
            g_assert_true(unknown[i * l->unit_blocks + b] ||
                          got[b] == state[b]);
        }
        do {
            g_assert_cmpuint(n, >, 0);
            unit_state(l, u, --n, state);
        } while (memcmp(state, got, l->unit_blocks * 4) != 0);
        note_zeroes(l, i, got);
        g_array_set_size(u->changes, n);
    }
}

/* A reset drops commands, not what the buffer holds. */
static void reset(Load *l)
{
    Host *h = l->h;
    g_autofree uint8_t *unknown =
        g_memdup2(l->locked, l->nunits * l->unit_blocks);

    host_write32(h, NVME_REG_CC, 0);
    forget_in_flight(l);
    bring_up(l);
    host_sleep(h, 100000000); /* the orphans are done */
    check_after_reset(l, unknown);
}

/* Time to zero what was trimmed: data does not change by it. */
static void housekeeping(Load *l)
{
    Host *h = l->h;

    host_sleep(h, 5000000000);
    for (uint64_t lba = 0; lba < h->nblocks; lba++) {
        const uint8_t *disk = h->disk + lba * l->block_bytes;

        if (memcmp(disk, h->durable + lba * l->block_bytes,
                   l->block_bytes) != 0) {
            g_assert_cmphex(block_value(l, disk, lba), ==, 0);
            g_assert_true(l->trimmed[lba]);
        }
    }
}

/* A new process finds in the store what the old one left. */
static void restart(Load *l, const HostOptions *o)
{
    HostOptions again = *o;
    Host *h = l->h;

    if (l->flaky) {
        flush(l);
    }
    drain(l);
    host_write32(h, NVME_REG_CC, 0x00464001);
    while ((host_read32(h, NVME_REG_CSTS) & NVME_CSTS_SHST_MASK) !=
           NVME_CSTS_SHST_DONE) {
        host_step(h);
    }
    housekeeping(l);
    again.disk = g_memdup2(h->disk, h->disk_bytes);
    host_free(h);
    l->h = host_new(&again);
    memset(l->trimmed, 0, l->nunits * l->unit_blocks);
    note_durable(l);
    bring_up(l);
    check_all(l);
}

static void load_init(Load *l, const HostOptions *o, uint64_t seed)
{
    *l = (Load){ .h = host_new(o) };
    prng_seed(&l->prng, seed, 0xda7a);
    prng_seed(&l->h->prng, seed, 0x5707e);
    l->block_bytes = l->h->info->block_bytes;
    l->unit_blocks = l->h->info->unit_bytes / l->block_bytes;
    l->nunits = l->h->nblocks / l->unit_blocks;
    l->units = g_new0(Unit, l->nunits);
    l->locked = g_malloc0(l->nunits * l->unit_blocks);
    l->trimmed = g_malloc0(l->nunits * l->unit_blocks);
    for (uint64_t i = 0; i < l->nunits; i++) {
        l->units[i].base = g_new0(uint32_t, l->unit_blocks);
        l->units[i].changes = g_array_new(FALSE, FALSE, sizeof(Change));
    }
    bring_up(l);
}

static void load_free(Load *l)
{
    for (uint64_t i = 0; i < l->nunits; i++) {
        g_free(l->units[i].base);
        g_array_free(l->units[i].changes, TRUE);
    }
    g_free(l->units);
    g_free(l->locked);
    g_free(l->trimmed);
    host_free(l->h);
}

static void step(Load *l, const HostOptions *o, bool cuts)
{
    unsigned dice = prng_below(&l->prng, 4000);
    HostCqe cqe;

    if (l->flaky && dice >= 3980) {
        refuse(l, dice & 1, dice & 2);
    }
    if (dice < 8) {
        flush(l);
    } else if (dice < 11 && cuts) {
        power_cut(l);
    } else if (dice < 12 && cuts) {
        reset(l);
    } else if (dice < 13) {
        drain(l);
        check_all(l);
    } else if (dice < 14) {
        restart(l, o);
    } else if (dice < 2000 && l->in_flight < QD) {
        for (Op *op = l->op; op < l->op + QD; op++) {
            if (!op->busy) {
                start(l, op);
                break;
            }
        }
    } else if (dice < 3000) {
        host_step(l->h);
    }
    while (host_poll(l->h, 1, &cqe)) {
        finish(l, &cqe);
    }
}

static uint64_t from_env(const char *name, uint64_t otherwise)
{
    const char *s = g_getenv(name);

    return s ? g_ascii_strtoull(s, NULL, 0) : otherwise;
}

static void run(const HostOptions *o, uint64_t seed, bool cuts, bool flaky)
{
    uint64_t nops = from_env("VSSD_OPS", 12000);
    GError *error = NULL;
    Load l;

    g_test_message("VSSD_SEED=%" G_GUINT64_FORMAT, seed);
    load_init(&l, o, seed);
    l.flaky = flaky;
    for (uint64_t i = 0; i < nops; i++) {
        step(&l, o, cuts);
    }
    flush(&l);
    check_all(&l);
    if (cuts) {
        power_cut(&l);
    }
    g_assert_true(ssd_check(l.h->ssd, &error));
    g_assert_no_error(error);
    load_free(&l);
}

static void run_seeds_on(const HostOptions *o, bool cuts, bool flaky)
{
    uint64_t one = from_env("VSSD_SEED", 0);
    uint64_t n = from_env("VSSD_SEEDS", 6);

    for (uint64_t seed = one ? one : 1; seed <= (one ? one : n); seed++) {
        run(o, seed, cuts, flaky);
    }
}

static void run_seeds(const HostOptions *o, bool cuts)
{
    run_seeds_on(o, cuts, false);
}

static void test_fast_store(void)
{
    run_seeds(&(HostOptions){ .durable = true, .nblocks = 2048 }, false);
}

static void test_slow_store(void)
{
    run_seeds(&(HostOptions){ .durable = true, .nblocks = 2048, .slow = true },
              false);
}

static void test_power_fast(void)
{
    run_seeds(&(HostOptions){ .durable = true, .nblocks = 2048 }, true);
}

static void test_power_slow(void)
{
    run_seeds(&(HostOptions){ .durable = true, .nblocks = 2048, .slow = true },
              true);
}

/* Few units: everything happens to the same ones. */
static void test_crowded(void)
{
    run_seeds(&(HostOptions){ .durable = true, .nblocks = 256, .slow = true,
                              .set = "buffer.size=32KiB" }, true);
}

static void test_crowded_slowly(void)
{
    run_seeds(&(HostOptions){ .durable = true, .nblocks = 256, .slow = true,
                              .profile = "zero-latency" }, true);
}

static void test_4k_blocks(void)
{
    run_seeds(&(HostOptions){ .durable = true, .block_bytes = 4096,
                              .nblocks = 512, .slow = true }, true);
}

static void test_large_units(void)
{
    run_seeds(&(HostOptions){ .durable = true, .nblocks = 2048, .slow = true,
                              .set = "ftl.unit=16KiB" }, true);
}

/* The store refuses data, and takes it when it is asked again. */
static void test_flaky_store(void)
{
    run_seeds_on(&(HostOptions){ .durable = true, .nblocks = 1024,
                                 .slow = true }, false, true);
    run_seeds_on(&(HostOptions){ .durable = true, .nblocks = 1024 }, true,
                 true);
}

/* A power cut may undo a TRIM. */
static void test_scan(void)
{
    run_seeds(&(HostOptions){ .durable = true, .nblocks = 1024, .slow = true,
                              .set = "ftl.recovery=scan;ftl.op_percent=90%" },
              true);
}

static void test_shallow_drive(void)
{
    run_seeds(&(HostOptions){ .durable = true, .nblocks = 2048, .slow = true,
                              .set = "host.queue_depth=3" }, true);
}

static void test_no_latency(void)
{
    run_seeds(&(HostOptions){ .durable = true, .nblocks = 2048,
                              .profile = "zero-latency" }, true);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/data/fast-store", test_fast_store);
    g_test_add_func("/nvme/data/slow-store", test_slow_store);
    g_test_add_func("/nvme/data/power/fast-store", test_power_fast);
    g_test_add_func("/nvme/data/power/slow-store", test_power_slow);
    g_test_add_func("/nvme/data/crowded", test_crowded);
    g_test_add_func("/nvme/data/crowded-slowly", test_crowded_slowly);
    g_test_add_func("/nvme/data/4k-blocks", test_4k_blocks);
    g_test_add_func("/nvme/data/large-units", test_large_units);
    g_test_add_func("/nvme/data/flaky-store", test_flaky_store);
    g_test_add_func("/nvme/data/scan", test_scan);
    g_test_add_func("/nvme/data/shallow-drive", test_shallow_drive);
    g_test_add_func("/nvme/data/no-latency", test_no_latency);
    return g_test_run();
}
