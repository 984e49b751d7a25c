/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-crash.c - software that relies on Flush, FUA and write-through, and a
 * power that goes at random instants.
 *
 * Two programs share the drive.  The log writes a transaction of one to three
 * mapping units, waits, flushes, waits: the transaction is acknowledged.  The
 * files overwrite random units, many at a time, and sync now and then: what had
 * completed before the sync is durable after it.  After each cut every unit is
 * read:
 *
 *   torn     its blocks are not all of one write
 *   stale    it is older than its durable version
 *   alien    it holds what was never written there
 *   lost     an acknowledged transaction is not there as a whole
 *
 * must be 0 with every drive but one that ignores flushes, where the same run
 * must find losses, and one that promises 512 bytes (atomic.nawupf=0), where it
 * must find torn units: the check can fail.
 *
 * A cut is one of the drive, or the end of the process: the next one finds in
 * the store what this one's had (as after SIGKILL), or what it had flushed (as
 * when the host machine goes down, too).
 *
 * VSSD_CUTS=n sets the number of cuts of each drive.
 */
#include "host.h"

#define N_BLOCKS   2048 /* of 512 bytes: 256 units of 4 KiB */
#define LOG_UNITS  48   /* the log is a ring */
#define MAX_TXN    3
#define QD         12
#define SLOT_BYTES 0x10000

typedef struct Unit {
    uint32_t submitted; /* versions; 0: never written, zeroes */
    uint32_t acked;
    uint32_t durable;
    bool busy; /* a write of it is in flight */
} Unit;

typedef enum Kind { IDLE, FILE_WRITE, FILE_SYNC, LOG_WRITE, LOG_SYNC } Kind;

typedef struct Op {
    Kind kind;
    uint16_t cid;
    uint32_t first, n; /* units */
    uint32_t version;
    uint32_t *synced; /* SYNC: acked versions at its submission */
} Op;

typedef struct Txn {
    uint32_t first, n;
    uint32_t version;
} Txn;

typedef struct Mode {
    const char *name;
    const char *set;
    bool slow;
    bool fua;      /* instead of Flush */
    bool no_cache; /* Set Features 06h: off */
    bool kill;     /* end the process, the host machine stays up */
    bool host_dies;
    bool acked_is_durable;
    bool lies;
    bool tears; /* it promises 512 bytes: units may be torn */
    uint32_t block_bytes;
} Mode;

typedef struct Crash {
    const Mode *mode;
    Host *h;
    Prng prng;
    uint32_t unit_blocks;
    uint32_t n_units;
    Unit *unit;
    Op op[QD]; /* the log's is op[0] */
    uint32_t version;
    uint32_t log_at;  /* next unit of the log */
    GArray *txns;     /* acknowledged and not yet overwritten */
    uint64_t n_txns;
    unsigned n_cuts, torn, stale, alien, lost;
} Crash;

/* ---- contents ------------------------------------------------------------ */

static uint64_t word(uint32_t unit, uint32_t version, uint32_t i)
{
    return version ? ((uint64_t)unit << 32 | version) ^ (uint64_t)i << 48 : 0;
}

static void fill(Crash *c, uint8_t *p, uint32_t unit, uint32_t version)
{
    for (uint32_t i = 0; i < c->h->info->unit_bytes; i += 8) {
        put_le64(p + i, word(unit, version, i));
    }
}

/* The version of a unit's content; sets *torn if it is not of one version. */
static uint32_t version_of(Crash *c, const uint8_t *p, uint32_t unit,
                           bool *torn)
{
    uint32_t version = (uint32_t)get_le64(p);

    *torn = false;
    for (uint32_t i = 0; i < c->h->info->unit_bytes; i += 8) {
        *torn |= get_le64(p + i) != word(unit, version, i);
    }
    return version;
}

/* ---- the two programs ---------------------------------------------------- */

static uint8_t *op_data(Crash *c, const Op *op)
{
    return c->h->ram + HOST_DATA + (size_t)(op - c->op) * SLOT_BYTES;
}

static void send_write(Crash *c, Op *op)
{
    uint32_t unit_bytes = c->h->info->unit_bytes;
    uint8_t *data = op_data(c, op);
    NvmeSqe sqe = host_sqe(NVME_IO_WRITE, 1, 0);

    op->version = ++c->version;
    for (uint32_t i = 0; i < op->n; i++) {
        Unit *u = &c->unit[op->first + i];

        fill(c, data + i * unit_bytes, op->first + i, op->version);
        u->submitted = op->version;
        u->busy = true;
    }
    host_map(c->h, &sqe, data - c->h->ram, (uint64_t)op->n * unit_bytes);
    if (sqe.dw[8] == HOST_LISTS) { /* each operation a list of its own */
        uint64_t to = HOST_LISTS + (op - c->op + 1) * 4096;

        memcpy(c->h->ram + to, c->h->ram + HOST_LISTS, 4096);
        sqe.dw[8] = (uint32_t)to;
    }
    sqe.dw[10] = op->first * c->unit_blocks;
    sqe.dw[12] = (op->n * c->unit_blocks - 1) |
                 (c->mode->fua && op->kind == LOG_WRITE ? 1U << 30 : 0);
    op->cid = host_send(c->h, 1, &sqe);
}

static void send_sync(Crash *c, Op *op)
{
    NvmeSqe sqe = host_sqe(NVME_IO_FLUSH, 1, 0);

    op->synced = g_new(uint32_t, c->n_units);
    for (uint32_t i = 0; i < c->n_units; i++) {
        op->synced[i] = c->unit[i].acked;
    }
    op->cid = host_send(c->h, 1, &sqe);
}

/* Transactions whose units are written again are no longer asked for. */
static void forget_txns(Crash *c, uint32_t first, uint32_t n)
{
    for (unsigned i = c->txns->len; i-- > 0;) {
        const Txn *t = &g_array_index(c->txns, Txn, i);

        if (t->first < first + n && first < t->first + t->n) {
            g_array_remove_index(c->txns, i);
        }
    }
}

static void start_txn(Crash *c, Op *op)
{
    op->kind = LOG_WRITE;
    op->n = 1 + (uint32_t)prng_below(&c->prng, MAX_TXN);
    if (c->log_at + op->n > LOG_UNITS) {
        c->log_at = 0;
    }
    op->first = c->log_at;
    c->log_at += op->n;
    forget_txns(c, op->first, op->n);
    send_write(c, op);
}

static void start_file_op(Crash *c, Op *op)
{
    if (prng_below(&c->prng, 40) == 0) {
        op->kind = FILE_SYNC;
        send_sync(c, op);
        return;
    }
    op->n = 1 + (uint32_t)prng_below(&c->prng, 4);
    op->first = LOG_UNITS + (uint32_t)prng_below(&c->prng, c->n_units -
                                                               LOG_UNITS -
                                                               op->n);
    for (uint32_t i = 0; i < op->n; i++) {
        if (c->unit[op->first + i].busy) {
            return;
        }
    }
    op->kind = FILE_WRITE;
    send_write(c, op);
}

static void txn_acked(Crash *c, Op *op)
{
    Txn t = {op->first, op->n, op->version};

    g_array_append_val(c->txns, t);
    c->n_txns++;
    op->kind = IDLE;
}

static void write_done(Crash *c, Op *op)
{
    bool durable = c->mode->acked_is_durable ||
                   (c->mode->fua && op->kind == LOG_WRITE);

    for (uint32_t i = 0; i < op->n; i++) {
        Unit *u = &c->unit[op->first + i];

        u->busy = false;
        u->acked = op->version;
        if (durable) {
            u->durable = op->version;
        }
    }
    if (op->kind == FILE_WRITE) {
        op->kind = IDLE;
    } else if (durable) {
        txn_acked(c, op);
    } else {
        op->kind = LOG_SYNC;
        send_sync(c, op);
    }
}

static void sync_done(Crash *c, Op *op)
{
    for (uint32_t i = 0; i < c->n_units; i++) {
        c->unit[i].durable = MAX(c->unit[i].durable, op->synced[i]);
    }
    g_clear_pointer(&op->synced, g_free);
    if (op->kind == LOG_SYNC) {
        txn_acked(c, op);
    } else {
        op->kind = IDLE;
    }
}

static void finish(Crash *c, const HostCqe *cqe)
{
    Op *op = c->op;

    while (op->kind == IDLE || op->cid != cqe->cid) {
        op++;
        g_assert_cmpint(op - c->op, <, QD);
    }
    g_assert_cmphex(cqe->status, ==, 0);
    if (op->synced) {
        sync_done(c, op);
    } else {
        write_done(c, op);
    }
}

static void work(Crash *c)
{
    uint64_t n = 20 + prng_below(&c->prng, 700);
    HostCqe cqe;

    for (uint64_t i = 0; i < n; i++) {
        Op *op = &c->op[prng_below(&c->prng, QD)];

        if (op->kind == IDLE && op == c->op) {
            start_txn(c, op);
        } else if (op->kind == IDLE) {
            start_file_op(c, op);
        }
        if (prng_below(&c->prng, 3) == 0) {
            host_step(c->h);
        } else if (prng_below(&c->prng, 20) == 0) {
            host_sleep(c->h, prng_below(&c->prng, 2000000));
        }
        while (host_poll(c->h, 1, &cqe)) {
            finish(c, &cqe);
        }
    }
}

/* ---- cuts ---------------------------------------------------------------- */

static void bring_up(Crash *c)
{
    memset(c->h->cq, 0, sizeof(c->h->cq));
    host_enable(c->h);
    g_assert_cmphex(host_create_queues(c->h, 1, 1, 64), ==, 0);
    if (c->mode->no_cache) {
        NvmeSqe sqe = host_sqe(NVME_ADM_SET_FEATURES, 0, 0);

        sqe.dw[10] = 6;
        g_assert_cmphex(host_do(c->h, 0, &sqe).status, ==, 0);
    }
}

static Host *new_host(const Mode *m, uint8_t *disk)
{
    return host_new(&(HostOptions){
        .set = m->set,
        .slow = m->slow,
        .durable = m->host_dies,
        .disk = disk,
        .block_bytes = m->block_bytes,
        .atomic = {.nawupf = m->tears},
        .nblocks = N_BLOCKS * 512 / (m->block_bytes ? m->block_bytes : 512),
    });
}

static void end_process(Crash *c)
{
    uint8_t *disk = g_memdup2(c->mode->host_dies ? c->h->durable : c->h->disk,
                              c->h->disk_bytes);
    uint64_t draws = prng_below(&c->prng, 1U << 30);

    host_free(c->h);
    c->h = new_host(c->mode, disk);
    prng_seed(&c->h->prng, draws, 0x5707e);
}

static void cut(Crash *c)
{
    if (c->mode->kill || c->mode->host_dies) {
        end_process(c);
    } else {
        nvme_power_cut(c->h->ctrl, c->h->now_ns);
        host_sleep(c->h, 1000);
        nvme_power_on(c->h->ctrl, c->h->now_ns);
    }
    for (Op *op = c->op; op < c->op + QD; op++) {
        g_free(op->synced);
        *op = (Op){.kind = IDLE};
    }
    bring_up(c);
    c->n_cuts++;
}

/* Read a unit, judge it, and take what it holds as given from now on. */
static uint32_t check_unit(Crash *c, uint32_t i)
{
    Unit *u = &c->unit[i];
    uint32_t found;
    bool torn;

    g_assert_cmphex(host_io(c->h, 1, NVME_IO_READ, i * c->unit_blocks,
                            c->unit_blocks, HOST_DATA), ==, 0);
    found = version_of(c, c->h->ram + HOST_DATA, i, &torn);
    c->torn += torn;
    c->stale += !torn && found < u->durable;
    c->alien += !torn && found > u->submitted;
    *u = (Unit){.submitted = found, .acked = found, .durable = found};
    return found;
}

static void check(Crash *c)
{
    g_autofree uint32_t *found = g_new(uint32_t, c->n_units);

    for (uint32_t i = 0; i < c->n_units; i++) {
        found[i] = check_unit(c, i);
    }
    for (unsigned i = 0; i < c->txns->len; i++) {
        const Txn *t = &g_array_index(c->txns, Txn, i);
        bool whole = true;

        for (uint32_t k = 0; k < t->n; k++) {
            whole &= found[t->first + k] == t->version;
        }
        c->lost += !whole;
    }
    if (c->mode->lies) { /* count each loss once */
        g_array_set_size(c->txns, 0);
    }
}

/* ---- the runs ------------------------------------------------------------ */

static void run(Crash *c, const Mode *m, unsigned cuts)
{
    *c = (Crash){.mode = m, .h = new_host(m, NULL)};
    prng_seed(&c->prng, 1, 0xc4a5);
    c->unit_blocks = c->h->info->unit_bytes / c->h->info->block_bytes;
    c->n_units = (uint32_t)(c->h->nblocks / c->unit_blocks);
    c->unit = g_new0(Unit, c->n_units);
    c->txns = g_array_new(FALSE, FALSE, sizeof(Txn));
    bring_up(c);
    while (c->n_cuts < cuts) {
        work(c);
        cut(c);
        check(c);
    }
    host_free(c->h);
    g_free(c->unit);
    g_array_free(c->txns, TRUE);
}

static const Mode modes[] = {
    {.name = "flush"},
    {.name = "flush-slow-store", .slow = true},
    {.name = "fua", .fua = true},
    {.name = "write-through", .no_cache = true, .acked_is_durable = true},
    {.name = "at-program",
     .set = "host.complete_at=program",
     .acked_is_durable = true},
    {.name = "protected", .set = "buffer.plp=on", .acked_is_durable = true},
    {.name = "protected-slow-store",
     .set = "buffer.plp=on",
     .slow = true,
     .acked_is_durable = true},
    {.name = "small-buffer", .set = "buffer.size=32KiB", .slow = true},
    {.name = "periodic-flush", .set = "buffer.flush_interval=1ms"},
    {.name = "lru", .set = "buffer.policy=lru;buffer.size=256KiB"},
    {.name = "early-flush",
     .slow = true,
     .set = "buffer.policy=cflru-ef-sc;buffer.size=256KiB;"
            "buffer.early_threshold=10%"},
    {.name = "whole-blocks",
     .set = "buffer.policy=fab;buffer.size=256KiB;buffer.block=32KiB"},
    {.name = "cached-kill",
     .kill = true,
     .slow = true,
     .set = "buffer.policy=clock-dnv;buffer.size=256KiB;buffer.block=32KiB"},
    {.name = "large-units", .set = "ftl.unit=16KiB", .slow = true},
    {.name = "4k-blocks", .block_bytes = 4096},
    {.name = "kill", .kill = true, .slow = true},
    {.name = "kill-protected",
     .set = "buffer.plp=on",
     .kill = true,
     .slow = true,
     .acked_is_durable = true},
    {.name = "host-dies", .host_dies = true, .slow = true},
    {.name = "tears", .tears = true},
    {.name = "tears-slow-store", .tears = true, .slow = true},
    {.name = "tears-fua", .tears = true, .fua = true},
    {.name = "tears-write-through",
     .tears = true,
     .no_cache = true,
     .acked_is_durable = true},
    {.name = "tears-lru",
     .tears = true,
     .slow = true,
     .set = "buffer.policy=lru;buffer.size=256KiB"},
    {.name = "tears-kill", .tears = true, .kill = true, .slow = true},
    {.name = "tears-host-dies", .tears = true, .host_dies = true, .slow = true},
    {.name = "scan", .set = "ftl.recovery=scan;ftl.op_percent=90%"},
    {.name = "scan-kill",
     .kill = true,
     .set = "ftl.recovery=scan;ftl.op_percent=90%"},
    {.name = "checkpoint",
     .set = "ftl.recovery=checkpoint;"
            "ftl.checkpoint_interval=50;ftl.op_percent=90%"},
    {.name = "ignored-flush", .set = "buffer.ignore_flush=on", .lies = true},
    {.name = "ignored-fua",
     .set = "buffer.ignore_flush=on",
     .fua = true,
     .lies = true},
    {.name = "ignored-kill",
     .set = "buffer.ignore_flush=on",
     .kill = true,
     .slow = true,
     .lies = true},
};

static void test_mode(gconstpointer data)
{
    const Mode *m = data;
    const char *s = g_getenv("VSSD_CUTS");
    unsigned cuts = s ? (unsigned)g_ascii_strtoull(s, NULL, 0) : 60;
    Crash c;

    run(&c, m, cuts);
    g_test_message("%u cuts, %" G_GUINT64_FORMAT " transactions acknowledged: "
                   "%u lost, units %u torn, %u stale, %u alien",
                   c.n_cuts, c.n_txns, c.lost, c.torn, c.stale, c.alien);
    g_assert_cmpuint(c.n_txns, >, 2 * c.n_cuts);
    g_assert_true(m->tears == (c.torn > 0));
    g_assert_cmpuint(c.alien, ==, 0);
    if (m->lies) {
        g_assert_cmpuint(c.lost, >, 0);
        g_assert_cmpuint(c.stale, >, 0);
    } else {
        g_assert_cmpuint(c.lost, ==, 0);
        g_assert_cmpuint(c.stale, ==, 0);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(modes); i++) {
        g_autofree char *path = g_strconcat("/nvme/crash/", modes[i].name,
                                            NULL);

        g_test_add_data_func(path, &modes[i], test_mode);
    }
    return g_test_run();
}
