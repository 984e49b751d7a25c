/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-kv-power.c - key-value namespaces and power cuts.
 *
 * instants: a Store and a Delete of two keys, and the Flush behind them, are
 * cut every 2 microseconds.  Each of the keys then has its old or its new
 * state, as a whole; with the Flush completed it has the new one.  All others
 * are as they were.
 *
 * random: many keys, several commands at a time, cuts anywhere.  A key has the
 * state of its last durable command, or of a later one.
 */
#include "key-value.h"

#define NSID   1
#define N_KEYS 150
#define QD     8
#define SLOT   0x8000

typedef struct Mode {
    const char *name;
    const char *set;
    bool slow;    /* the store ends requests later, in any order */
    bool at_once; /* what has completed is durable */
    bool kill;    /* the process ends in place of the power */
} Mode;

static const Mode modes[] = {
    {.name = "flush"},
    {.name = "slow-store", .slow = true},
    {.name = "protected", .set = "buffer.plp=on", .at_once = true},
    {.name = "protected-kill",
     .set = "buffer.plp=on",
     .at_once = true,
     .slow = true,
     .kill = true},
    {.name = "kill", .slow = true, .kill = true},
    {.name = "small-buffer", .set = "buffer.size=64KiB"},
    {.name = "scan", .set = "ftl.recovery=scan;ftl.op_percent=90%"},
    {.name = "checkpoint",
     .set = "ftl.recovery=checkpoint;"
            "ftl.checkpoint_interval=50;ftl.op_percent=90%"},
    {.name = "large-units", .set = "ftl.unit=16KiB;nand.blocks=128"},
};

static Host *make(const Mode *m, uint8_t *disk)
{
    return kv_host(&(HostOptions){
        .namespaces = "rest:kv",
        .set = m->set,
        .slow = m->slow,
        .disk = disk,
        .kv_cache = 1 << 20,
    });
}

/* The power, or the process: it finds in the store what this one's had. */
static Host *cut(const Mode *m, Host *h)
{
    uint8_t *disk;

    if (!m->kill) {
        kv_cut(h);
        return h;
    }
    disk = g_memdup2(h->disk, h->disk_bytes);
    host_free(h);
    return make(m, disk);
}

static char *name_of(uint32_t i)
{
    return g_strdup_printf("key%u", i);
}

/* ---- each instant -------------------------------------------------------- */

#define N_OTHERS   120
#define INSTANT_NS 2000
#define OLD        7000
#define NEW        9000

/* One Flush of a namespace with N_OTHERS keys, and two more. */
static Host *begin(const Mode *m)
{
    Host *h = make(m, NULL);

    for (uint32_t i = 0; i < N_OTHERS; i++) {
        g_autofree char *key = name_of(i);

        g_assert_cmphex(kv_store(h, NSID, key, i, 500 + 50 * i), ==, 0);
    }
    return h;
}

/* Both keys have their old value, durably. */
static void restore(Host *h)
{
    g_assert_cmphex(kv_store(h, NSID, "stored", 1000, OLD), ==, 0);
    g_assert_cmphex(kv_store(h, NSID, "deleted", 1001, OLD), ==, 0);
    kv_flush(h, NSID);
}

static void send_both(Host *h, uint32_t seed)
{
    NvmeSqe sqe;

    kv_fill(h, HOST_DATA, seed, NEW);
    sqe = kv_sqe(h, NSID, NVME_KV_STORE, "stored", 6, 0, NEW, HOST_DATA);
    host_send(h, 1, &sqe);
    sqe = kv_sqe(h, NSID, NVME_KV_DELETE, "deleted", 7, 0, 0, 0);
    host_send(h, 1, &sqe);
}

/* true: the new state. */
static bool is_new(Host *h, const char *key, uint32_t seed, bool deletes)
{
    uint32_t bytes = kv_retrieve(h, NSID, key, SLOT);

    if (bytes == OLD) {
        g_assert_true(kv_is(h, HOST_DATA, deletes ? 1001 : 1000, OLD));
        return false;
    }
    g_assert_cmpuint(bytes, ==, deletes ? UINT32_MAX : NEW);
    g_assert_true(deletes || kv_is(h, HOST_DATA, seed, NEW));
    return true;
}

static void check_others(Host *h)
{
    for (uint32_t i = 0; i < N_OTHERS; i++) {
        g_autofree char *key = name_of(i);

        g_assert_cmpuint(kv_retrieve(h, NSID, key, SLOT), ==, 500 + 50 * i);
        g_assert_true(kv_is(h, HOST_DATA, i, 500 + 50 * i));
    }
}

/* Cut after n times INSTANT_NS; true: all had completed before. */
static bool cut_after(const Mode *m, Host **h, unsigned n, unsigned *seen)
{
    uint32_t seed = 2000 + n;
    unsigned done = 0; /* Store, Delete, Flush */
    bool stored, deleted;
    HostCqe cqe;

    restore(*h);
    send_both(*h, seed);
    for (unsigned i = 0; i < n && done < 3; i++) {
        host_sleep(*h, INSTANT_NS);
        if (m->slow) {
            host_store_step(*h);
        }
        while (host_poll(*h, 1, &cqe)) {
            g_assert_cmphex(cqe.status, ==, 0);
            if (++done == 2) {
                NvmeSqe sqe = host_sqe(NVME_IO_FLUSH, NSID, 0);

                host_send(*h, 1, &sqe);
            }
        }
    }
    *h = cut(m, *h);
    stored = is_new(*h, "stored", seed, false);
    deleted = is_new(*h, "deleted", seed, true);
    if (done == 3 || (m->at_once && done == 2)) {
        g_assert_true(stored && deleted);
    }
    *seen |= 1U << (stored + 2 * deleted);
    check_others(*h);
    return done == 3;
}

static void test_instants(gconstpointer data)
{
    const Mode *m = data;
    Host *h = begin(m);
    unsigned seen = 0;
    unsigned n = 0;

    while (!cut_after(m, &h, n, &seen)) {
        n++;
        g_assert_cmpuint(n, <, 5000);
    }
    g_test_message("%u instants, seen %x", n, seen);
    g_assert_cmphex(seen & 9, ==, 9); /* both as before; both new */
    host_free(h);
}

/* ---- random -------------------------------------------------------------- */

typedef struct State {
    uint32_t seed; /* 0: no such key */
    uint32_t bytes;
} State;

typedef struct Key {
    GArray *state;  /* State: the durable one, and those since then */
    uint32_t acked; /* of them: the last that completed */
    bool busy;
} Key;

typedef struct Op {
    uint16_t cid;
    uint32_t key;
    bool flush;
    uint32_t *synced;
} Op;

typedef struct Run {
    const Mode *mode;
    Host *h;
    Prng prng;
    Key key[N_KEYS];
    Op op[QD];
    uint32_t seed;
} Run;

static void send_change(Run *r, Op *op)
{
    uint64_t addr = HOST_DATA + (uint64_t)(op - r->op) * SLOT;
    bool deletes = prng_below(&r->prng, 3) == 0;
    Key *k;
    State s = {0};
    g_autofree char *key = NULL;
    NvmeSqe sqe;

    op->key = (uint32_t)prng_below(&r->prng, N_KEYS);
    k = &r->key[op->key];
    if (k->busy ||
        (deletes && !g_array_index(k->state, State, k->state->len - 1).seed)) {
        return;
    }
    key = name_of(op->key);
    if (!deletes) {
        s.seed = ++r->seed;
        s.bytes = 1 + (uint32_t)prng_below(&r->prng, 20000);
        kv_fill(r->h, addr, s.seed, s.bytes);
    }
    sqe = kv_sqe(r->h, NSID, deletes ? NVME_KV_DELETE : NVME_KV_STORE, key,
                 (uint8_t)strlen(key), 0, s.bytes, addr);
    if (sqe.dw[8] == HOST_LISTS) {
        uint64_t to = HOST_LISTS + (op - r->op + 1) * 4096;

        memcpy(host_ram(r->h, to, 4096), r->h->ram + HOST_LISTS, 4096);
        sqe.dw[8] = (uint32_t)to;
    }
    g_array_append_val(k->state, s);
    k->busy = true;
    op->cid = host_send(r->h, 1, &sqe);
}

static void send_flush(Run *r, Op *op)
{
    NvmeSqe sqe = host_sqe(NVME_IO_FLUSH, NSID, 0);

    op->flush = true;
    op->synced = g_new(uint32_t, N_KEYS);
    for (unsigned i = 0; i < N_KEYS; i++) {
        op->synced[i] = r->key[i].acked;
    }
    op->cid = host_send(r->h, 1, &sqe);
}

/* States before this one are no longer possible. */
static void make_durable(Run *r, uint32_t i, uint32_t state)
{
    g_array_remove_range(r->key[i].state, 0, state);
    r->key[i].acked -= state;
    for (unsigned k = 0; k < QD; k++) {
        if (r->op[k].synced) {
            r->op[k].synced[i] -= MIN(state, r->op[k].synced[i]);
        }
    }
}

static void end_op(Run *r, const HostCqe *cqe)
{
    Op *op = r->op;

    while (!op->cid || op->cid != cqe->cid) {
        op++;
        g_assert_cmpint(op - r->op, <, QD);
    }
    g_assert_cmphex(cqe->status, ==, 0);
    if (op->flush) {
        g_autofree uint32_t *synced = g_steal_pointer(&op->synced);

        for (unsigned i = 0; i < N_KEYS; i++) {
            make_durable(r, i, synced[i]);
        }
    } else {
        Key *k = &r->key[op->key];

        k->busy = false;
        k->acked = k->state->len - 1;
        if (r->mode->at_once) {
            make_durable(r, op->key, k->acked);
        }
    }
    *op = (Op){0};
}

static void work(Run *r)
{
    uint64_t n = 20 + prng_below(&r->prng, 400);
    HostCqe cqe;

    for (uint64_t i = 0; i < n; i++) {
        Op *op = &r->op[prng_below(&r->prng, QD)];
        bool flushes = false;

        for (unsigned k = 0; k < QD; k++) {
            flushes |= r->op[k].flush;
        }
        if (!op->cid && !flushes && prng_below(&r->prng, 30) == 0) {
            send_flush(r, op);
        } else if (!op->cid) {
            send_change(r, op);
        }
        if (prng_below(&r->prng, 3) == 0) {
            host_step(r->h);
        }
        while (host_poll(r->h, 1, &cqe)) {
            end_op(r, &cqe);
        }
    }
}

static void check(Run *r)
{
    for (uint32_t i = 0; i < N_KEYS; i++) {
        g_autofree char *key = name_of(i);
        uint32_t bytes = kv_retrieve(r->h, NSID, key, SLOT);
        GArray *states = r->key[i].state;
        State found = {0};
        bool ok = false;

        for (unsigned k = 0; k < states->len && !ok; k++) {
            State s = g_array_index(states, State, k);

            ok = s.seed ? bytes == s.bytes &&
                              kv_is(r->h, HOST_DATA, s.seed, s.bytes)
                        : bytes == UINT32_MAX;
            found = s;
        }
        if (!ok) {
            g_error("%s: %u bytes, %u states possible", key, bytes,
                    states->len);
        }
        g_array_set_size(states, 1);
        g_array_index(states, State, 0) = found;
        r->key[i].acked = 0;
        r->key[i].busy = false;
    }
}

static void test_random(gconstpointer data)
{
    const Mode *m = data;
    const char *s = g_getenv("VSSD_CUTS");
    unsigned cuts = s ? (unsigned)g_ascii_strtoull(s, NULL, 0) : 40;
    Run r = {.mode = m, .h = make(m, NULL)};

    prng_seed(&r.prng, 1, 0x6b7670);
    for (unsigned i = 0; i < N_KEYS; i++) {
        State none = {0};

        r.key[i].state = g_array_new(FALSE, FALSE, sizeof(State));
        g_array_append_val(r.key[i].state, none);
    }
    for (unsigned n = 0; n < cuts; n++) {
        uint64_t draws = r.h->prng.s[0];

        work(&r);
        r.h = cut(m, r.h);
        if (m->kill) {
            prng_seed(&r.h->prng, draws, 0x5707e);
        }
        for (unsigned k = 0; k < QD; k++) {
            g_free(r.op[k].synced);
            r.op[k] = (Op){0};
        }
        check(&r);
    }
    for (unsigned i = 0; i < N_KEYS; i++) {
        g_array_free(r.key[i].state, TRUE);
    }
    g_assert_cmpuint(r.seed, >, 10 * cuts);
    host_free(r.h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(modes); i++) {
        g_autofree char *a =
            g_strconcat("/nvme/kv-power/instants/", modes[i].name, NULL);
        g_autofree char *b =
            g_strconcat("/nvme/kv-power/random/", modes[i].name, NULL);

        g_test_add_data_func(a, &modes[i], test_instants);
        g_test_add_data_func(b, &modes[i], test_random);
    }
    return g_test_run();
}
