/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-queues.c - queues: any mapping, hostile doorbells, shadow doorbells in
 * every order, full completion queues, interrupts, deletion under load.
 */
#include "host.h"

static Host *enabled(const HostOptions *o)
{
    Host *h = host_new(o);

    host_enable(h);
    return h;
}

static uint16_t create_cq(Host *h, uint32_t qid, uint32_t size, uint64_t addr,
                          uint32_t dw11)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_CREATE_CQ, 0, addr);

    sqe.dw[10] = (size - 1) << 16 | qid;
    sqe.dw[11] = dw11;
    return host_code(host_do(h, 0, &sqe).status);
}

static uint16_t create_sq(Host *h, uint32_t qid, uint32_t size, uint64_t addr,
                          uint32_t dw11)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_CREATE_SQ, 0, addr);

    sqe.dw[10] = (size - 1) << 16 | qid;
    sqe.dw[11] = dw11;
    return host_code(host_do(h, 0, &sqe).status);
}

static uint16_t delete(Host *h, uint8_t opcode, uint32_t qid)
{
    NvmeSqe sqe = host_sqe(opcode, 0, 0);

    sqe.dw[10] = qid;
    return host_code(host_do(h, 0, &sqe).status);
}

/* ---- creation and deletion ---------------------------------------------- */

static void test_create_bad(void)
{
    Host *h = enabled(NULL);
    uint64_t at = HOST_QUEUES;

    g_assert_cmphex(create_cq(h, 0, 64, at, 3), ==, NVME_SC_QID_INVALID);
    g_assert_cmphex(create_cq(h, 9, 64, at, 3), ==, NVME_SC_QID_INVALID);
    g_assert_cmphex(create_cq(h, 0xffff, 64, at, 3), ==, NVME_SC_QID_INVALID);
    g_assert_cmphex(create_cq(h, 1, 1, at, 3), ==, NVME_SC_QUEUE_SIZE);
    g_assert_cmphex(create_cq(h, 1, 1025, at, 3), ==, NVME_SC_QUEUE_SIZE);
    g_assert_cmphex(create_cq(h, 1, 64, at, 2), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(create_cq(h, 1, 64, at + 8, 3), ==, NVME_SC_PRP_OFFSET);
    g_assert_cmphex(create_cq(h, 1, 64, at, 3 | 65 << 16), ==,
                    NVME_SC_INTERRUPT_VECTOR);
    g_assert_cmphex(create_cq(h, 1, 1024, at, 3 | 64U << 16), ==, 0);
    g_assert_cmphex(create_cq(h, 1, 64, at, 3), ==, NVME_SC_QID_INVALID);

    g_assert_cmphex(create_sq(h, 0, 64, at, 1 | 1 << 16), ==,
                    NVME_SC_QID_INVALID);
    g_assert_cmphex(create_sq(h, 9, 64, at, 1 | 1 << 16), ==,
                    NVME_SC_QID_INVALID);
    g_assert_cmphex(create_sq(h, 1, 1, at, 1 | 1 << 16), ==,
                    NVME_SC_QUEUE_SIZE);
    g_assert_cmphex(create_sq(h, 1, 1025, at, 1 | 1 << 16), ==,
                    NVME_SC_QUEUE_SIZE);
    g_assert_cmphex(create_sq(h, 1, 64, at, 1 << 16), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(create_sq(h, 1, 64, at + 16, 1 | 1 << 16), ==,
                    NVME_SC_PRP_OFFSET);
    g_assert_cmphex(create_sq(h, 1, 64, at, 1), ==, NVME_SC_QID_INVALID);
    g_assert_cmphex(create_sq(h, 1, 64, at, 1 | 9 << 16), ==,
                    NVME_SC_QID_INVALID);
    g_assert_cmphex(create_sq(h, 1, 64, at, 1 | 2 << 16), ==,
                    NVME_SC_CQ_INVALID);
    g_assert_cmphex(create_sq(h, 8, 1024, at, 1 | 1 << 16), ==, 0);
    g_assert_cmphex(create_sq(h, 8, 64, at, 1 | 1 << 16), ==,
                    NVME_SC_QID_INVALID);

    g_assert_cmphex(delete(h, NVME_ADM_DELETE_CQ, 0), ==, NVME_SC_QID_INVALID);
    g_assert_cmphex(delete(h, NVME_ADM_DELETE_CQ, 2), ==, NVME_SC_QID_INVALID);
    g_assert_cmphex(delete(h, NVME_ADM_DELETE_CQ, 0xffff), ==,
                    NVME_SC_QID_INVALID);
    g_assert_cmphex(delete(h, NVME_ADM_DELETE_CQ, 1), ==,
                    NVME_SC_QUEUE_DELETION);
    g_assert_cmphex(delete(h, NVME_ADM_DELETE_SQ, 0), ==, NVME_SC_QID_INVALID);
    g_assert_cmphex(delete(h, NVME_ADM_DELETE_SQ, 1), ==, NVME_SC_QID_INVALID);
    g_assert_cmphex(delete(h, NVME_ADM_DELETE_SQ, 8), ==, 0);
    g_assert_cmphex(delete(h, NVME_ADM_DELETE_CQ, 1), ==, 0);
    host_free(h);
}

/* Entry sizes that CC does not announce. */
static void test_entry_sizes(void)
{
    Host *h = host_new(NULL);

    host_enable(h);
    host_write32(h, NVME_REG_CC, 0);
    memset(h->ram + HOST_ADMIN_CQ, 0, 4096);
    h->q[0].sq_tail = 0;
    h->cq[0].head = 0;
    host_write32(h, NVME_REG_CC, 0x00000001);
    g_assert_cmphex(create_cq(h, 1, 64, HOST_QUEUES, 3), ==,
                    NVME_SC_QUEUE_SIZE);
    host_write32(h, NVME_REG_CC, 0x00400001);
    g_assert_cmphex(create_cq(h, 1, 64, HOST_QUEUES, 3), ==, 0);
    g_assert_cmphex(create_sq(h, 1, 64, HOST_QUEUES, 1 | 1 << 16), ==,
                    NVME_SC_QUEUE_SIZE);
    host_free(h);
}

static void write_and_read(Host *h, unsigned id, uint64_t lba, uint8_t pattern)
{
    memset(h->ram + HOST_DATA, pattern, 4096);
    memset(h->ram + HOST_DATA + 4096, 0, 4096);
    g_assert_cmphex(host_io(h, id, NVME_IO_WRITE, lba, 8, HOST_DATA), ==, 0);
    g_assert_cmphex(host_io(h, id, NVME_IO_READ, lba, 8, HOST_DATA + 4096), ==,
                    0);
    g_assert_cmpmem(h->ram + HOST_DATA, 4096, h->ram + HOST_DATA + 4096, 4096);
}

static void test_mapping(void)
{
    Host *h = enabled(NULL);

    /* Four submission queues to two completion queues, crossed over. */
    g_assert_cmphex(host_create_queues(h, 1, 5, 16), ==, 0);
    g_assert_cmphex(host_create_queues(h, 2, 3, 32), ==, 0);
    g_assert_cmphex(host_create_queues(h, 3, 5, 64), ==, 0);
    g_assert_cmphex(host_create_queues(h, 8, 3, 2), ==, 0);
    for (unsigned round = 0; round < 100; round++) {
        write_and_read(h, 1, round * 8, round + 1);
        write_and_read(h, 2, round * 8, round + 2);
        write_and_read(h, 3, round * 8, round + 3);
        write_and_read(h, 8, round * 8, round + 4);
    }
    g_assert_cmpuint(h->msix_count[5], ==, 400);
    g_assert_cmpuint(h->msix_count[3], ==, 400);
    g_assert_cmpuint(h->msix_count[1], ==, 0);
    host_free(h);
}

static void test_64_pairs(void)
{
    Host *h = enabled(&(HostOptions){ .n_queues = 64 });

    for (unsigned id = 1; id <= 64; id++) { /* id of the pair reversed */
        g_assert_cmphex(host_create_queues(h, id, 65 - id, 16), ==, 0);
    }
    for (unsigned id = 1; id <= 64; id++) {
        write_and_read(h, id, id * 8, id);
    }
    for (unsigned id = 1; id <= 64; id++) {
        g_assert_cmphex(host_delete_queues(h, id), ==, 0);
    }
    host_free(h);
}

/* Deleted with commands under way: each is answered, or dropped without a
 * completion as the standard allows; none is answered twice, and the drive
 * survives. */
static void test_delete_under_load(void)
{
    Host *h = enabled(&(HostOptions){ .slow = true });

    for (unsigned round = 0; round < 20; round++) {
        g_autoptr(GHashTable) waits = g_hash_table_new(NULL, NULL);
        HostCqe cqe;

        g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
        for (unsigned i = 0; i < 20; i++) {
            NvmeSqe sqe = host_rw(h, i % 2 ? NVME_IO_READ : NVME_IO_WRITE,
                                  i * 64, 64, HOST_DATA);

            g_hash_table_add(waits, GUINT_TO_POINTER(host_send(h, 1, &sqe)));
        }
        host_run(h); /* all are fetched */
        for (unsigned i = 0; i < round; i++) {
            host_step(h);
        }
        g_assert_cmphex(delete(h, NVME_ADM_DELETE_SQ, 1), ==, 0);
        while (host_poll(h, 1, &cqe)) {
            g_assert_true(cqe.status == 0 ||
                          host_code(cqe.status) == NVME_SC_ABORT_SQ_DELETED);
            g_assert_true(
                g_hash_table_remove(waits, GUINT_TO_POINTER(cqe.cid)));
        }
        g_assert_cmpuint(g_hash_table_size(waits), ==, 0);
        g_assert_cmphex(delete(h, NVME_ADM_DELETE_CQ, 1), ==, 0);
        h->cq[1].size = 0;
        while (host_step(h)) {
        }
        g_assert_cmpuint(nvme_store_in_flight(h->ctrl), ==, 0);
    }
    host_free(h);
}

/*
 * The drive's part of a deleted queue's commands takes effect before the
 * Delete ends, or never: later reads do not change.
 */
static void test_delete_settles(void)
{
    Host *h = enabled(&(HostOptions){ .set = "nand.blocks=64;ftl.map=dftl;ftl.map_cache=64;" });
    unsigned changed = 0;
    unsigned drive_was_late = 0;

    for (unsigned round = 0; round < 200; round++) {
        uint64_t lba = round * 8 % 1024;
        NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, lba, 8, HOST_DATA);
        uint64_t before_ns = h->now_ns;
        uint8_t first[4096];
        HostCqe cqe;

        g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
        g_assert_cmphex(host_create_queues(h, 2, 2, 64), ==, 0);
        memset(h->ram + HOST_DATA, round + 1, 4096);
        for (unsigned i = 0; i < 8; i++) {
            host_send(h, 1, &sqe);
        }
        host_run(h);
        for (unsigned i = 0; i < round % 8; i++) {
            host_step(h);
        }
        before_ns = h->now_ns;
        g_assert_cmphex(delete(h, NVME_ADM_DELETE_SQ, 1), ==, 0);
        drive_was_late += h->now_ns > before_ns;
        while (host_poll(h, 1, &cqe)) {
        }
        g_assert_cmphex(host_io(h, 2, NVME_IO_READ, lba, 8, HOST_DATA + 4096),
                        ==, 0);
        memcpy(first, h->ram + HOST_DATA + 4096, 4096);
        while (host_step(h)) {
        }
        g_assert_cmphex(host_io(h, 2, NVME_IO_READ, lba, 8, HOST_DATA + 4096),
                        ==, 0);
        changed += memcmp(first, h->ram + HOST_DATA + 4096, 4096) != 0;
        g_assert_cmphex(delete(h, NVME_ADM_DELETE_CQ, 1), ==, 0);
        h->cq[1].size = 0;
        g_assert_cmphex(host_delete_queues(h, 2), ==, 0);
    }
    g_assert_cmpuint(changed, ==, 0);
    g_assert_cmpuint(drive_was_late, >, 0);
    host_free(h);
}

/* Two queues with work for the same completion queue: how many of queue 2's
 * commands are among the first 32 of both? */
static unsigned share_of_queue_2(uint32_t arbitration)
{
    Host *h = enabled(&(HostOptions){ .profile = "zero-latency",
                                      .nblocks = 1024 });
    NvmeSqe sqe = host_sqe(NVME_ADM_SET_FEATURES, 0, 0);
    unsigned n = 0;

    sqe.dw[10] = 1;
    sqe.dw[11] = arbitration;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    g_assert_cmphex(host_create_queues(h, 1, 3, 256), ==, 0);
    g_assert_cmphex(host_create_queues(h, 2, 3, 256), ==, 0);
    for (unsigned id = 1; id <= 2; id++) {
        for (unsigned i = 0; i < 100; i++) {
            sqe = host_rw(h, NVME_IO_READ, i, 1, HOST_DATA);
            host_put(h, id, &sqe);
        }
        host_ring(h, id);
    }
    for (unsigned i = 0; i < 32; i++) {
        n += host_wait(h, 3).sqid == 2;
    }
    host_free(h);
    return n;
}

static void test_arbitration(void)
{
    unsigned all = share_of_queue_2(7); /* no limit: one queue, then another */

    g_assert_true(all == 0 || all == 32);
    g_assert_cmpuint(share_of_queue_2(0), ==, 16);
    g_assert_cmpuint(share_of_queue_2(3), ==, 16);
}

/* Weighted round robin: a queue of each class, all for completion queue 6. */
static Host *weighted(uint32_t arbitration)
{
    Host *h =
        enabled(&(HostOptions){.profile = "zero-latency", .nblocks = 1024});
    NvmeSqe sqe = host_sqe(NVME_ADM_SET_FEATURES, 0, 0);

    sqe.dw[10] = 1;
    sqe.dw[11] = arbitration;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    host_write32(h, NVME_REG_CC, host_read32(h, NVME_REG_CC) | 1 << 11);
    g_assert_cmphex(host_create_queues(h, 6, 6, 512), ==, 0);
    for (unsigned id = 1; id <= 4; id++) {
        h->q[id] = (HostQueue){
            .id = id,
            .cqid = 6,
            .sq_size = 128,
            .sq_addr = HOST_QUEUES + id * 0x20000,
        };
        sqe = host_sqe(NVME_ADM_CREATE_SQ, 0, h->q[id].sq_addr);
        sqe.dw[10] = id | 127 << 16;
        sqe.dw[11] = 1 | (id - 1) << 1 | 6 << 16; /* urgent is 0 */
        g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    }
    return h;
}

static void put_reads(Host *h, unsigned id, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        NvmeSqe sqe = host_rw(h, NVME_IO_READ, i, 1, HOST_DATA);

        host_put(h, id, &sqe);
    }
    host_ring(h, id);
}

static void test_weighted(void)
{
    static const struct {
        uint32_t arbitration;
        unsigned want[4]; /* by class, of the first 100 */
    } row[] = {
        {0x03010000, {30, 40, 20, 10}}, /* bursts of 1; 4 : 2 : 1 */
        {0x03010007, {30, 40, 20, 10}}, /* of any size */
        {0x00000000, {30, 24, 23, 23}}, /* 1 : 1 : 1 */
        {0xffffff05, {30, 70, 0, 0}},   /* 256 each, bursts of 32 */
    };

    for (unsigned k = 0; k < G_N_ELEMENTS(row); k++) {
        Host *h = weighted(row[k].arbitration);
        unsigned n[4] = {0};

        for (unsigned id = 1; id <= 4; id++) {
            put_reads(h, 5 - id, 5 - id == 1 ? 30 : 100);
        }
        for (unsigned i = 0; i < 100; i++) {
            HostCqe c = host_wait(h, 6);

            g_assert_true(i >= 30 || c.sqid == 1); /* urgent: first */
            n[c.sqid - 1]++;
        }
        for (unsigned i = 0; i < 4; i++) {
            g_assert_cmpuint(n[i], ==, row[k].want[i]);
        }
        while (host_poll(h, 6, &(HostCqe){0}) || host_step(h)) {
        }
        host_free(h);
    }
}

/* ---- doorbells ---------------------------------------------------------- */

static void test_hostile_doorbells(void)
{
    Host *h = enabled(NULL);

    g_assert_cmphex(host_create_queues(h, 1, 1, 16), ==, 0);
    for (unsigned i = 0; i < 1024; i++) { /* every register, bad values */
        host_write32(h, NVME_REG_DOORBELLS + 4 * i, 0xffffffff);
        host_write32(h, NVME_REG_DOORBELLS + 4 * i, 16);
        nvme_reg_write(h->ctrl, h->now_ns, NVME_REG_DOORBELLS + 4 * i, 7, 1);
    }
    host_write32(h, NVME_REG_DOORBELLS + 12, 5); /* nothing was posted */
    host_run(h);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
    write_and_read(h, 1, 0, 1);
    host_free(h);
}

/* A completion queue that the guest does not empty holds commands back, and
 * loses none. */
static void test_full_cq(void)
{
    for (unsigned shadow = 0; shadow < 2; shadow++) {
        Host *h = enabled(NULL);
        NvmeSqe sqe;
        unsigned got = 0;
        HostCqe cqe;

        if (shadow) {
            g_assert_cmphex(host_shadow_config(h), ==, 0);
        }
        g_assert_cmphex(host_create_queues(h, 1, 2, 4), ==, 0);
        h->q[2] = h->q[1];
        h->cq[3].size = 0;
        g_assert_cmphex(host_create_queues(h, 3, 2, 256), ==, 0);
        for (unsigned i = 0; i < 200; i++) {
            sqe = host_rw(h, NVME_IO_READ, i, 1, HOST_DATA);
            host_put(h, 3, &sqe);
        }
        host_ring(h, 3);
        while (host_step(h)) {
        }
        while (got < 200) {
            if (host_poll(h, 2, &cqe)) {
                g_assert_cmphex(cqe.status, ==, 0);
                got++;
            } else {
                host_step(h);
            }
        }
        while (host_step(h)) {
        }
        g_assert_false(host_poll(h, 2, &cqe));
        host_free(h);
    }
}

/*
 * Commands that were not fetched while completions waited for room are fetched
 * when these have left, though nobody rings for them: with shadow doorbells the
 * guest has no reason to.  Here the controller runs when it is rung, only.
 */
static void test_fetch_after_full_cq(void)
{
    Host *h = enabled(&(HostOptions){ .profile = "zero-latency",
                                      .nblocks = 1024 });
    NvmeSqe sqe;
    unsigned got = 0;
    HostCqe cqe;

    g_assert_cmphex(host_shadow_config(h), ==, 0);
    g_assert_cmphex(host_create_queues(h, 1, 2, 32), ==, 0);
    g_assert_cmphex(host_create_queues(h, 3, 2, 256), ==, 0);
    sqe = host_rw(h, NVME_IO_READ, 0, 1, HOST_DATA);
    for (unsigned i = 0; i < 40; i++) {
        host_put(h, 3, &sqe);
    }
    host_ring(h, 3);
    while (got < 40) {
        if (host_poll(h, 2, &cqe)) {
            got++;
        } else {
            g_assert_true(h->kicked); /* else: nothing will ever happen */
            h->kicked = false;
            host_run(h);
        }
    }
    host_free(h);
}

/* ---- shadow doorbells --------------------------------------------------- */

static void test_shadow_bad(void)
{
    Host *h = enabled(NULL);
    NvmeSqe sqe = host_sqe(NVME_ADM_DOORBELL_BUFFER, 0, HOST_SHADOW_DB + 8);

    sqe.dw[8] = HOST_SHADOW_EI;
    g_assert_cmphex(host_code(host_do(h, 0, &sqe).status), ==,
                    NVME_SC_PRP_OFFSET);
    sqe.dw[6] = HOST_SHADOW_DB;
    sqe.dw[8] = HOST_SHADOW_EI + 4;
    g_assert_cmphex(host_code(host_do(h, 0, &sqe).status), ==,
                    NVME_SC_PRP_OFFSET);
    sqe.dw[8] = HOST_SHADOW_DB;
    g_assert_cmphex(host_code(host_do(h, 0, &sqe).status), ==,
                    NVME_SC_INVALID_FIELD);
    sqe.dw[8] = 0xfffff000;
    g_assert_cmphex(host_code(host_do(h, 0, &sqe).status), ==,
                    NVME_SC_DATA_TRANSFER);
    host_free(h);
}

/* Two queues and the buffer, in every order; then they go, and come back. */
static void test_shadow_orders(void)
{
    for (unsigned order = 0; order < 3; order++) {
        Host *h = enabled(NULL);

        for (unsigned i = 0; i < 3; i++) {
            if (i == order) {
                g_assert_cmphex(host_shadow_config(h), ==, 0);
            }
            if (i < 2) {
                g_assert_cmphex(host_create_queues(h, i + 1, i + 1, 8), ==, 0);
                write_and_read(h, i + 1, 0, 1);
                write_and_read(h, 1, 8, 2);
                write_and_read(h, i + 1, 16, 3);
            }
        }
        for (unsigned round = 0; round < 30; round++) {
            write_and_read(h, 1 + round % 2, 8 * round, round);
        }
        g_assert_cmphex(host_delete_queues(h, 1), ==, 0);
        write_and_read(h, 2, 0, 9);
        g_assert_cmphex(host_create_queues(h, 1, 1, 16), ==, 0);
        for (unsigned round = 0; round < 30; round++) {
            write_and_read(h, 1 + round % 2, 8 * round, round);
        }
        host_free(h);
    }
}

static unsigned doorbells(Host *h)
{
    g_autoptr(GString) s = g_string_new(NULL);
    JsonWriter w = { .out = s };
    const char *at;

    nvme_stats_json(h->ctrl, &w, NULL);
    at = strstr(s->str, "\"doorbell_writes\":");
    g_assert_nonnull(at);
    return strtoul(at + strlen("\"doorbell_writes\":"), NULL, 10);
}

/* One doorbell per burst, and none missed. */
static void test_shadow_bursts(void)
{
    Host *h = enabled(NULL);
    unsigned before;
    HostCqe cqe;

    g_assert_cmphex(host_shadow_config(h), ==, 0);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    before = doorbells(h);
    for (unsigned i = 0; i < 20; i++) {
        for (unsigned k = 0; k < 5; k++) {
            NvmeSqe sqe = host_rw(h, NVME_IO_READ, i, 1, HOST_DATA);

            host_send(h, 1, &sqe);
        }
        for (unsigned k = 0; k < 5; k++) {
            cqe = host_wait(h, 1);
            g_assert_cmphex(cqe.status, ==, 0);
        }
    }
    /* And one or two for the heads, which come around. */
    g_assert_cmpuint(doorbells(h) - before, >=, 20);
    g_assert_cmpuint(doorbells(h) - before, <=, 22);
    host_free(h);
}

static unsigned racing;

/* The guest's other processor is faster: just before EventIdx of queue 1 is
 * written it sends a command, and sees the old EventIdx: no doorbell. */
static void race(Host *h, uint64_t addr, size_t len)
{
    NvmeSqe sqe = host_rw(h, NVME_IO_READ, 0, 1, HOST_DATA);

    if (addr == HOST_SHADOW_EI + 8 && racing) {
        racing--;
        sqe.dw[0] |= 0x7777U << 16;
        host_send(h, 1, &sqe);
    }
}

static void test_shadow_race(void)
{
    Host *h = enabled(&(HostOptions){ .profile = "zero-latency",
                                      .nblocks = 1024 });
    NvmeSqe sqe = host_rw(h, NVME_IO_READ, 0, 1, HOST_DATA);
    unsigned before;
    HostCqe cqe;

    g_assert_cmphex(host_shadow_config(h), ==, 0);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    before = doorbells(h);
    racing = 10;
    h->before_write = race;
    host_send(h, 1, &sqe);
    host_run(h); /* until it says that there is nothing left to do */
    for (unsigned i = 0; i < 11; i++) {
        g_assert_true(host_poll(h, 1, &cqe));
    }
    h->before_write = NULL;
    g_assert_cmpuint(racing, ==, 0);
    g_assert_cmpuint(doorbells(h), ==, before + 1);
    host_free(h);
}

/* A driver that uses the shadow of the admin queue, too, and sends one command
 * after the other without waiting: EventIdx has each of them rung. */
static void test_shadow_admin(void)
{
    Host *h = enabled(NULL);
    NvmeSqe sqe = host_sqe(NVME_ADM_GET_FEATURES, 0, 0);
    HostCqe cqe;

    sqe.dw[10] = 7;
    g_assert_cmphex(host_shadow_config(h), ==, 0);
    for (unsigned round = 0; round < 40; round++) {
        for (unsigned i = 0; i < 3; i++) {
            host_send(h, 0, &sqe); /* nvme_run() comes after the last one */
        }
        host_run(h);
        for (unsigned i = 0; i < 3; i++) {
            g_assert_true(host_poll(h, 0, &cqe));
            g_assert_cmphex(cqe.status, ==, 0);
        }
    }
    host_free(h);
}

/* A driver that clears the shadow of a queue, whose memory it has taken back,
 * before it deletes the queue (libvfn): no entry is fetched. */
static void test_shadow_given_up(void)
{
    Host *h = enabled(NULL);
    HostCqe cqe;

    g_assert_cmphex(host_shadow_config(h), ==, 0);
    for (unsigned round = 0; round < 12; round++) {
        g_assert_cmphex(host_create_queues(h, 1, 1, 8), ==, 0);
        for (unsigned i = 0; i <= round % 3; i++) {
            g_assert_cmphex(host_flush(h, 1), ==, 0);
        }
        put_le32(h->ram + HOST_SHADOW_DB + 8, 0);
        g_assert_cmphex(host_delete_queues(h, 1), ==, 0);
        g_assert_false(host_poll(h, 1, &cqe));
    }
    host_free(h);
}

/* A shadow entry with nonsense in it: an event, no harm, and it recovers. */
static void test_shadow_nonsense(void)
{
    Host *h = enabled(NULL);

    g_assert_cmphex(host_shadow_config(h), ==, 0);
    g_assert_cmphex(host_create_queues(h, 1, 1, 16), ==, 0);
    put_le32(h->ram + HOST_SHADOW_DB + 8, 0xdeadbeef);
    put_le32(h->ram + HOST_SHADOW_DB + 12, 77);
    host_write32(h, NVME_REG_DOORBELLS + 8, 3000);
    host_run(h);
    put_le32(h->ram + HOST_SHADOW_DB + 8, 0);
    put_le32(h->ram + HOST_SHADOW_DB + 12, 0);
    host_run(h);
    write_and_read(h, 1, 0, 1);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
    host_free(h);
}

/* A guest that set the buffer up and goes on ringing the registers alone. */
static void test_shadow_unused(void)
{
    Host *h = enabled(NULL);

    g_assert_cmphex(host_create_queues(h, 1, 1, 8), ==, 0);
    write_and_read(h, 1, 0, 1);
    g_assert_cmphex(host_shadow_config(h), ==, 0);
    h->q[1].shadow = false;
    h->cq[1].shadow = false;
    for (unsigned i = 0; i < 30; i++) {
        write_and_read(h, 1, i, i);
    }
    host_free(h);
}

/* A doorbell while no DMA is possible is not lost: the command cannot be
 * fetched, and the controller says so. */
static void test_shadow_no_dma(void)
{
    Host *h = enabled(NULL);
    NvmeSqe sqe;

    g_assert_cmphex(host_shadow_config(h), ==, 0);
    g_assert_cmphex(host_create_queues(h, 1, 1, 8), ==, 0);
    write_and_read(h, 1, 0, 1);
    sqe = host_rw(h, NVME_IO_READ, 0, 1, HOST_DATA);
    host_put(h, 1, &sqe);
    h->no_bus_master = true;
    host_ring(h, 1);
    host_run(h);
    g_assert_true(host_read32(h, NVME_REG_CSTS) & NVME_CSTS_CFS);
    h->no_bus_master = false;
    host_write32(h, NVME_REG_CC, 0);
    host_enable(h);
    host_free(h);
}

/* ---- interrupts --------------------------------------------------------- */

static void test_pin(void)
{
    for (unsigned shadow = 0; shadow < 2; shadow++) {
        Host *h = enabled(&(HostOptions){ .pin = true });
        unsigned rises;
        NvmeSqe sqe;
        HostCqe cqe;

        if (shadow) {
            g_assert_cmphex(host_shadow_config(h), ==, 0);
        }
        g_assert_cmphex(create_cq(h, 1, 64, HOST_QUEUES, 3 | 1 << 16), ==,
                        NVME_SC_INTERRUPT_VECTOR);
        g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
        g_assert_false(h->pin);
        sqe = host_rw(h, NVME_IO_READ, 0, 1, HOST_DATA);
        host_send(h, 1, &sqe);
        host_send(h, 1, &sqe);
        while (host_step(h)) {
        }
        g_assert_true(h->pin);
        host_write32(h, NVME_REG_INTMS, 1);
        g_assert_false(h->pin);
        host_write32(h, NVME_REG_INTMC, 1);
        g_assert_true(h->pin);
        rises = h->n_pin_rises;
        g_assert_true(host_poll(h, 1, &cqe));
        host_run(h);
        g_assert_true(h->pin); /* one is left, which raises it again */
        g_assert_cmpuint(h->n_pin_rises, ==, rises + 1);
        g_assert_true(host_poll(h, 1, &cqe));
        host_run(h);
        g_assert_false(h->pin);
        host_send(h, 1, &sqe);
        while (host_step(h)) {
        }
        g_assert_true(h->pin);
        host_write32(h, NVME_REG_CC, 0);
        g_assert_false(h->pin);
        host_free(h);
    }
}

static void test_no_interrupt(void)
{
    Host *h = enabled(NULL);
    unsigned before;

    g_assert_cmphex(create_cq(h, 1, 64, HOST_QUEUES + 0x30000, 1 | 1 << 16),
                    ==, 0);
    h->cq[1] = (HostCqRing){ .addr = HOST_QUEUES + 0x30000, .size = 64,
                             .phase = 1 };
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    before = h->msix_count[1];
    write_and_read(h, 1, 0, 1);
    g_assert_cmpuint(h->msix_count[1], ==, before);
    host_free(h);
}

static void test_coalescing(void)
{
    Host *h = enabled(&(HostOptions){ .profile = "zero-latency",
                                      .nblocks = 1024 });
    NvmeSqe sqe = host_sqe(NVME_ADM_SET_FEATURES, 0, 0);
    NvmeSqe rd;

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    g_assert_cmphex(host_create_queues(h, 2, 2, 64), ==, 0);
    sqe.dw[10] = 0x08;
    sqe.dw[11] = 5 << 8 | 3; /* 500 us, 4 completions */
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    sqe.dw[10] = 0x09;
    sqe.dw[11] = 1 << 16 | 2; /* not vector 2 */
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    rd = host_rw(h, NVME_IO_READ, 0, 1, HOST_DATA);
    for (unsigned i = 0; i < 3; i++) {
        host_send(h, 1, &rd);
        host_send(h, 2, &rd);
        host_run(h);
    }
    g_assert_cmpuint(h->msix_count[1], ==, 0);
    g_assert_cmpuint(h->msix_count[2], ==, 3);
    host_send(h, 1, &rd);
    host_run(h);
    g_assert_cmpuint(h->msix_count[1], ==, 1);
    host_send(h, 1, &rd);
    host_run(h);
    g_assert_cmpuint(h->msix_count[1], ==, 1);
    g_assert_cmpuint(nvme_next_event_ns(h->ctrl), ==, h->now_ns + 500000);
    host_sleep(h, 499999);
    g_assert_cmpuint(h->msix_count[1], ==, 1);
    host_sleep(h, 1);
    g_assert_cmpuint(h->msix_count[1], ==, 2);
    host_free(h);
}

/* A queue in memory that is not there is fatal when it is used. */
static void test_queue_outside_memory(void)
{
    for (unsigned which = 0; which < 2; which++) {
        Host *h = enabled(NULL);
        uint64_t gone = 1ULL << 60;

        g_assert_cmphex(create_cq(h, 1, 64, which ? gone : HOST_QUEUES, 3), ==,
                        0);
        g_assert_cmphex(create_sq(h, 1, 64, which ? HOST_QUEUES : gone,
                                  1 | 1 << 16), ==, 0);
        memset(h->ram + HOST_QUEUES, 0, 64);
        host_write32(h, NVME_REG_DOORBELLS + 8, 1);
        while (host_step(h)) {
        }
        g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==,
                        NVME_CSTS_RDY | NVME_CSTS_CFS);
        host_write32(h, NVME_REG_CC, 0);
        host_enable(h);
        host_free(h);
    }
}

typedef struct Order {
    uint64_t cq; /* where the queue is */
    unsigned published;
} Order;

static Order order;

/*
 * A DMA write that turns the phase bit of the entry at the guest's head: the
 * entry is there already, but for its last dword, and so is the data.
 */
static void look_at_order(Host *h, uint64_t addr, size_t len)
{
    uint64_t head = order.cq + h->cq[1].head * 16;
    const uint8_t *cqe = h->ram + head;

    if (addr > head + 12 || addr + len < head + 16) {
        return;
    }
    if (len > 4) { /* the entries: not yet valid */
        g_assert_cmpuint(cqe[14] & 1, !=, h->cq[1].phase);
        return;
    }
    g_assert_cmphex(addr, ==, head + 12);
    g_assert_cmpuint(cqe[14] & 1, !=, h->cq[1].phase);
    g_assert_cmpuint(get_le16(cqe + 10), ==, 1); /* SQID */
    g_assert_cmphex(h->ram[HOST_DATA], ==, 0x77);
    order.published++;
}

/* A processor with a weak order of memory relies on the phase being written
 * last. */
static void test_order_of_completion(void)
{
    Host *h = enabled(&(HostOptions){ .profile = "zero-latency",
                                      .nblocks = 1024 });
    NvmeSqe sqe;
    HostCqe cqe;

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    memset(h->ram + HOST_DATA, 0x77, 4096);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 8, HOST_DATA), ==, 0);
    order = (Order){ .cq = h->cq[1].addr };
    h->before_write = look_at_order;
    for (unsigned round = 0; round < 40; round++) {
        memset(h->ram + HOST_DATA, 0, 4096);
        for (unsigned i = 0; i < 5; i++) {
            sqe = host_rw(h, NVME_IO_READ, 0, 8, HOST_DATA);
            host_put(h, 1, &sqe);
        }
        host_ring(h, 1);
        host_run(h);
        g_assert_cmpuint(order.published, ==, round + 1);
        for (unsigned i = 0; i < 5; i++) {
            g_assert_true(host_poll(h, 1, &cqe));
            g_assert_cmphex(cqe.status, ==, 0);
        }
    }
    host_free(h);
}

/* Completions wait for their interrupt when the controller fails: that is
 * no event of the future any more. */
static void test_coalescing_and_fatal(void)
{
    Host *h = enabled(&(HostOptions){ .profile = "zero-latency",
                                      .nblocks = 1024 });
    NvmeSqe sqe = host_sqe(NVME_ADM_SET_FEATURES, 0, 0);

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    g_assert_cmphex(create_sq(h, 2, 64, 1ULL << 60, 1 | 1 << 16), ==, 0);
    sqe.dw[10] = 0x08;
    sqe.dw[11] = 5 << 8 | 3; /* 500 us, 4 completions */
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    sqe = host_rw(h, NVME_IO_READ, 0, 1, HOST_DATA);
    host_send(h, 1, &sqe);
    host_run(h);
    host_write32(h, NVME_REG_DOORBELLS + 16, 1);
    host_run(h);
    g_assert_true(host_read32(h, NVME_REG_CSTS) & NVME_CSTS_CFS);
    h->now_ns += 1000000;
    host_run(h); /* which looks at the next event */
    host_write32(h, NVME_REG_CC, 0);
    host_enable(h);
    host_free(h);
}

/* Queues that are on top of each other: nonsense, and no crash. */
static void test_overlapping_queues(void)
{
    Host *h = enabled(NULL);

    g_assert_cmphex(create_cq(h, 1, 64, HOST_QUEUES, 3), ==, 0);
    g_assert_cmphex(create_sq(h, 1, 64, HOST_QUEUES, 1 | 1 << 16), ==, 0);
    g_assert_cmphex(create_sq(h, 2, 64, HOST_ADMIN_CQ, 1 | 1 << 16), ==, 0);
    host_write32(h, NVME_REG_DOORBELLS + 8, 63);
    host_write32(h, NVME_REG_DOORBELLS + 16, 63);
    for (unsigned i = 0; i < 1000 && host_step(h); i++) {
    }
    host_write32(h, NVME_REG_CC, 0);
    host_enable(h);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/queues/create-bad", test_create_bad);
    g_test_add_func("/nvme/queues/entry-sizes", test_entry_sizes);
    g_test_add_func("/nvme/queues/mapping", test_mapping);
    g_test_add_func("/nvme/queues/64-pairs", test_64_pairs);
    g_test_add_func("/nvme/queues/delete-under-load", test_delete_under_load);
    g_test_add_func("/nvme/queues/delete-settles", test_delete_settles);
    g_test_add_func("/nvme/queues/arbitration", test_arbitration);
    g_test_add_func("/nvme/queues/weighted", test_weighted);
    g_test_add_func("/nvme/queues/hostile-doorbells", test_hostile_doorbells);
    g_test_add_func("/nvme/queues/full-cq", test_full_cq);
    g_test_add_func("/nvme/queues/fetch-after-full-cq",
                    test_fetch_after_full_cq);
    g_test_add_func("/nvme/queues/shadow/bad", test_shadow_bad);
    g_test_add_func("/nvme/queues/shadow/orders", test_shadow_orders);
    g_test_add_func("/nvme/queues/shadow/bursts", test_shadow_bursts);
    g_test_add_func("/nvme/queues/shadow/race", test_shadow_race);
    g_test_add_func("/nvme/queues/shadow/admin", test_shadow_admin);
    g_test_add_func("/nvme/queues/shadow/given-up", test_shadow_given_up);
    g_test_add_func("/nvme/queues/shadow/nonsense", test_shadow_nonsense);
    g_test_add_func("/nvme/queues/shadow/unused", test_shadow_unused);
    g_test_add_func("/nvme/queues/shadow/no-dma", test_shadow_no_dma);
    g_test_add_func("/nvme/queues/pin", test_pin);
    g_test_add_func("/nvme/queues/no-interrupt", test_no_interrupt);
    g_test_add_func("/nvme/queues/coalescing", test_coalescing);
    g_test_add_func("/nvme/queues/order-of-completion",
                    test_order_of_completion);
    g_test_add_func("/nvme/queues/coalescing-and-fatal",
                    test_coalescing_and_fatal);
    g_test_add_func("/nvme/queues/outside-memory", test_queue_outside_memory);
    g_test_add_func("/nvme/queues/overlapping", test_overlapping_queues);
    return g_test_run();
}
