/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-ns-commands.c - Copy, Verify, Write Uncorrectable and Compare and Write
 * in a namespace that is in many pieces in the drive, and Copy between
 * namespaces.
 */
#include "host.h"

#define BLOCK  512
#define PIECES 64
#define LIST   (HOST_DATA + 0x100000)

static HostCqe admin(Host *h, uint8_t opcode, uint32_t nsid, uint32_t dw10)
{
    NvmeSqe sqe = host_sqe(opcode, nsid, HOST_DATA);

    sqe.dw[10] = dw10;
    return host_do(h, 0, &sqe);
}

static uint32_t create(Host *h, uint64_t nblocks)
{
    uint8_t *p = memset(host_ram(h, HOST_DATA, 4096), 0, 4096);
    HostCqe cqe;

    put_le64(p, nblocks);
    put_le64(p + 8, nblocks);
    cqe = admin(h, NVME_ADM_NS_MANAGEMENT, 0, 0);
    g_assert_cmphex(cqe.status, ==, 0);
    p = memset(host_ram(h, HOST_DATA, 4096), 0, 4096);
    put_le16(p, 1);
    put_le16(p + 2, 1);
    g_assert_cmphex(admin(h, NVME_ADM_NS_ATTACHMENT, cqe.dw0, 0).status, ==, 0);
    return cqe.dw0;
}

static void delete (Host *h, uint32_t nsid)
{
    g_assert_cmphex(admin(h, NVME_ADM_NS_MANAGEMENT, nsid, 1).status, ==, 0);
}

/* Namespace 1 has the first granule, of 8 blocks, and every second one; so has
 * 2, of *nblocks blocks, in a piece for each 8 of the first ones. */
static Host *scattered(uint64_t *nblocks, const char *set)
{
    Host *h = host_new(&(HostOptions){.namespaces = "0", .set = set});

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    for (uint32_t i = 1; i <= 2 * PIECES; i++) {
        g_assert_cmpuint(create(h, 8), ==, i);
    }
    for (uint32_t i = 2; i <= 2 * PIECES; i += 2) {
        delete (h, i);
    }
    *nblocks = h->drive_blocks / 8 * 8 - PIECES * 8; /* all that is free */
    g_assert_cmpuint(create(h, *nblocks), ==, 2);
    return h;
}

static NvmeSqe rw(Host *h, uint8_t opcode, uint32_t nsid, uint64_t lba,
                  uint32_t nblocks)
{
    NvmeSqe sqe = host_rw(h, opcode, lba, nblocks, HOST_DATA);

    sqe.dw[1] = nsid;
    return sqe;
}

static uint16_t run(Host *h, uint8_t opcode, uint32_t nsid, uint64_t lba,
                    uint32_t nblocks)
{
    NvmeSqe sqe = rw(h, opcode, nsid, lba, nblocks);

    return host_code(host_do(h, 1, &sqe).status);
}

/* Block i has byte first + i. */
static void fill(Host *h, uint32_t nblocks, unsigned first)
{
    for (uint32_t i = 0; i < nblocks; i++) {
        memset(host_ram(h, HOST_DATA + i * BLOCK, BLOCK), (uint8_t)(first + i),
               BLOCK);
    }
}

static void put(Host *h, uint32_t nsid, uint64_t lba, uint32_t nblocks,
                unsigned first)
{
    fill(h, nblocks, first);
    g_assert_cmphex(run(h, NVME_IO_WRITE, nsid, lba, nblocks), ==, 0);
}

static void check(Host *h, uint32_t nsid, uint64_t lba, uint32_t nblocks,
                  unsigned first)
{
    g_assert_cmphex(run(h, NVME_IO_READ, nsid, lba, nblocks), ==, 0);
    for (uint32_t i = 0; i < nblocks * BLOCK; i++) {
        g_assert_cmphex(h->ram[HOST_DATA + i], ==,
                        (uint8_t)(first + i / BLOCK));
    }
}

/* The others have what they had: zeroes, and no mark. */
static void others_untouched(Host *h)
{
    for (uint32_t i = 1; i < 2 * PIECES; i += 2) {
        g_assert_cmphex(run(h, NVME_IO_READ, i, 0, 8), ==, 0);
        for (uint32_t k = 0; k < 8 * BLOCK; k++) {
            g_assert_cmphex(h->ram[HOST_DATA + k], ==, 0);
        }
    }
}

static void source(Host *h, unsigned i, uint32_t nsid, uint64_t lba,
                   uint32_t nblocks)
{
    uint8_t *p = memset(host_ram(h, LIST + i * 32, 32), 0, 32);

    put_le32(p, nsid);
    put_le64(p + 8, lba);
    put_le16(p + 16, (uint16_t)(nblocks - 1));
}

static uint16_t copy(Host *h, uint32_t nsid, uint64_t to, unsigned n,
                     unsigned format)
{
    NvmeSqe sqe = host_sqe(NVME_IO_COPY, nsid, LIST);

    sqe.dw[10] = (uint32_t)to;
    sqe.dw[12] = (n - 1) | format << 8;
    return host_code(host_do(h, 1, &sqe).status);
}

static void test_copy(void)
{
    uint64_t nblocks;
    Host *h = scattered(&nblocks, NULL);

    put(h, 2, 3, 200, 1);
    source(h, 0, 0, 5, 50);
    source(h, 1, 0, 101, 60);
    g_assert_cmphex(copy(h, 2, 301, 2, 0), ==, 0);
    check(h, 2, 301, 50, 3);
    check(h, 2, 351, 60, 99);
    check(h, 2, 3, 200, 1);
    source(h, 0, 0, nblocks - 3, 4);
    g_assert_cmphex(copy(h, 2, 0, 1, 0), ==, NVME_SC_LBA_RANGE);
    others_untouched(h);
    host_free(h);
}

/* Format 2h: from namespaces to one another. */
static void test_copy_between(void)
{
    uint64_t nblocks;
    Host *h = scattered(&nblocks, NULL);

    memset(host_ram(h, HOST_DATA, 512), 0, 512);
    put_le16(host_ram(h, HOST_DATA + 4, 2), 1 << 2);
    g_assert_cmphex(admin(h, NVME_ADM_SET_FEATURES, 0, 0x16).status, ==, 0);
    put(h, 2, 0, 100, 7);
    source(h, 0, 2, 13, 7);
    g_assert_cmphex(copy(h, 5, 1, 1, 2), ==, 0);
    check(h, 5, 1, 7, 20);
    source(h, 0, 5, 1, 7);
    source(h, 1, 2, 0, 20);
    source(h, 2, 7, 0, 8);
    g_assert_cmphex(copy(h, 2, 501, 3, 2), ==, 0);
    check(h, 2, 501, 7, 20);
    check(h, 2, 508, 20, 7);
    /* An LBA that both have is no overlap. */
    source(h, 0, 2, 0, 8);
    g_assert_cmphex(copy(h, 5, 0, 1, 2), ==, 0);
    check(h, 5, 0, 8, 7);
    g_assert_cmphex(copy(h, 2, 4, 1, 2), ==, NVME_SC_OVERLAPPING_IO);
    source(h, 0, 7, 1, 8);
    g_assert_cmphex(copy(h, 2, 0, 1, 2), ==, NVME_SC_LBA_RANGE);
    source(h, 0, 200, 0, 8);
    g_assert_cmphex(copy(h, 2, 0, 1, 2), ==, NVME_SC_INVALID_FIELD);
    source(h, 0, 9999, 0, 8);
    g_assert_cmphex(copy(h, 2, 0, 1, 2), ==, NVME_SC_INVALID_NSID);
    host_free(h);
}

/* Exactly the blocks [first, first + n) of 2 are marked. */
static void marked(Host *h, uint64_t first, uint32_t n)
{
    for (uint64_t lba = first - 20; lba < first + n + 20; lba++) {
        bool in = lba >= first && lba < first + n;
        uint16_t want = in ? NVME_SC_UNRECOVERED_READ : 0;

        g_assert_cmphex(run(h, NVME_IO_VERIFY, 2, lba, 1), ==, want);
        g_assert_cmphex(run(h, NVME_IO_READ, 2, lba, 1), ==, want);
    }
}

/* In the buffer, and in the store; then the namespace is deleted, and made
 * again. */
static void test_marks(void)
{
    for (unsigned flush = 0; flush < 2; flush++) {
        uint64_t nblocks;
        Host *h = scattered(&nblocks, NULL);

        put(h, 2, 0, 300, 1);
        g_assert_cmphex(run(h, NVME_IO_VERIFY, 2, 0, 300), ==, 0);
        g_assert_cmphex(run(h, NVME_IO_WRITE_UNCORRECTABLE, 2, 93, 70), ==, 0);
        if (flush) {
            g_assert_cmphex(host_flush(h, 1), ==, 0);
        }
        marked(h, 93, 70);
        g_assert_cmphex(run(h, NVME_IO_VERIFY, 2, 0, 300), ==,
                        NVME_SC_UNRECOVERED_READ);
        /* The error log names the first of them in the namespace. */
        admin(h, NVME_ADM_GET_LOG_PAGE, 0, 15 << 16 | 1);
        g_assert_cmpuint(get_le64(h->ram + HOST_DATA + 16), ==, 93);
        g_assert_cmpuint(get_le32(h->ram + HOST_DATA + 24), ==, 2);
        source(h, 0, 0, 80, 40);
        g_assert_cmphex(copy(h, 2, 400, 1, 0), ==, NVME_SC_UNRECOVERED_READ);
        others_untouched(h);
        put(h, 2, 93, 9, 94);
        marked(h, 102, 61);
        check(h, 2, 0, 102, 1);
        delete (h, 2);
        g_assert_cmpuint(create(h, nblocks), ==, 2);
        for (uint64_t lba = 0; lba < 300; lba++) {
            g_assert_cmphex(run(h, NVME_IO_VERIFY, 2, lba, 1), ==, 0);
        }
        g_assert_cmphex(run(h, NVME_IO_VERIFY, 2, 0, 500), ==, 0);
        host_free(h);
    }
}

/* Fused, within a unit, of each piece. */
static void test_fused(void)
{
    uint64_t nblocks;
    Host *h = scattered(&nblocks, NULL);

    put(h, 2, 0, 200, 1);
    for (uint64_t lba = 0; lba < 200; lba += 8) {
        NvmeSqe first = rw(h, NVME_IO_COMPARE, 2, lba, 8);
        NvmeSqe second = rw(h, NVME_IO_WRITE, 2, lba, 8);

        fill(h, 16, (unsigned)lba + 1);
        host_map(h, &second, HOST_DATA + 8 * BLOCK, 8 * BLOCK);
        first.dw[0] |= 1 << 8;
        second.dw[0] |= 2 << 8;
        host_put(h, 1, &first);
        host_put(h, 1, &second);
        host_ring(h, 1);
        g_assert_cmphex(host_wait(h, 1).status, ==, 0);
        g_assert_cmphex(host_wait(h, 1).status, ==, 0);
        check(h, 2, lba, 8, (unsigned)lba + 9);
    }
    others_untouched(h);
    host_free(h);
}

/* The namespace goes while the drive reads what is to be copied, or compared:
 * no command of it goes on. */
static void test_deleted(void)
{
    for (unsigned steps = 0; steps < 40; steps++) {
        uint64_t nblocks;
        Host *h = scattered(&nblocks, NULL);
        NvmeSqe sqe = host_sqe(NVME_IO_COPY, 2, LIST);
        NvmeSqe first = rw(h, NVME_IO_COMPARE, 2, 0, 8);
        NvmeSqe second = rw(h, NVME_IO_WRITE, 2, 0, 8);
        unsigned n = 0;
        HostCqe cqe;

        put(h, 2, 0, 200, 1);
        g_assert_cmphex(host_flush(h, 1), ==, 0);
        source(h, 0, 0, 0, 200);
        sqe.dw[10] = 300;
        host_put(h, 1, &sqe);
        first.dw[0] |= 1 << 8;
        second.dw[0] |= 2 << 8;
        host_put(h, 1, &first);
        host_put(h, 1, &second);
        host_ring(h, 1);
        for (unsigned i = 0; i < steps; i++) {
            host_step(h);
        }
        delete (h, 2);
        while (n < 3) {
            host_step(h);
            n += host_poll(h, 1, &cqe);
        }
        g_assert_cmpuint(create(h, nblocks), ==, 2);
        for (uint64_t lba = 0; lba < 504; lba += 8) {
            g_assert_cmphex(run(h, NVME_IO_READ, 2, lba, 8), ==, 0);
            g_assert_cmphex(h->ram[HOST_DATA], ==, 0);
        }
        host_free(h);
    }
}

/* Namespaces that the host does not manage, and their places in the drive. */
static void test_fixed(void)
{
    Host *h = host_new(
        &(HostOptions){.namespaces = "1M;1M", .namespaces_fixed = true});
    uint64_t first, n;

    g_assert_true(nvme_namespace_place(h->ctrl, 1, &first, &n));
    g_assert_cmpuint(first, ==, 0);
    g_assert_cmpuint(n, ==, 2048);
    g_assert_true(nvme_namespace_place(h->ctrl, 2, &first, &n));
    g_assert_cmpuint(first, ==, 2048);
    g_assert_false(nvme_namespace_place(h->ctrl, 3, &first, &n));
    g_assert_false(nvme_namespace_place(h->ctrl, 0, &first, &n));
    host_enable(h);
    g_assert_cmphex(host_code(admin(h, NVME_ADM_NS_MANAGEMENT, 2, 1).status),
                    ==, NVME_SC_INVALID_OPCODE);
    g_assert_cmphex(host_code(admin(h, NVME_ADM_NS_ATTACHMENT, 2, 1).status),
                    ==, NVME_SC_INVALID_OPCODE);
    admin(h, NVME_ADM_IDENTIFY, 0, 1);
    g_assert_cmphex(h->ram[HOST_DATA + 256] & 8, ==, 0);
    host_free(h);
    h = scattered(&n, NULL);
    g_assert_false(nvme_namespace_place(h->ctrl, 2, &first, &n));
    host_free(h);
}

static uint32_t stream_of(Host *h, uint32_t nsid, uint64_t drive_lba)
{
    NvmeSqe sqe = rw(h, NVME_IO_WRITE, nsid, 0, 8);
    SsdPlace p;

    g_assert_cmphex(host_do(h, 1, &sqe).status, ==, 0);
    ssd_place(h->ssd, drive_lba, &p);
    g_assert_true(p.mapped);
    return p.stream;
}

/* Access Frequency of the first n blocks: frequent writes. */
static void say_often(Host *h, uint32_t nsid, uint32_t n)
{
    NvmeSqe sqe = host_sqe(NVME_IO_DSM, nsid, HOST_DATA);

    memset(host_ram(h, HOST_DATA, 4096), 0, 4096);
    put_le32(h->ram + HOST_DATA, 4);
    put_le32(h->ram + HOST_DATA + 4, n);
    host_map(h, &sqe, HOST_DATA, 16);
    g_assert_cmphex(host_do(h, 1, &sqe).status, ==, 0);
}

/* A hint about blocks is of their namespace, wherever these are in the drive,
 * and goes with it. */
static void test_hints(void)
{
    Host *h = host_new(&(HostOptions){
        .namespaces = "0",
        .dsm_hints = true,
        .set = "ftl.hot_cold=on;ftl.op_percent=90%",
    });
    uint32_t piece = (uint32_t)(h->info->hint_bytes / BLOCK);

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    g_assert_cmpuint(create(h, piece), ==, 1);
    g_assert_cmpuint(create(h, piece), ==, 2);
    say_often(h, 2, piece);
    g_assert_cmpuint(stream_of(h, 1, 0), ==, 0);
    g_assert_cmpuint(stream_of(h, 2, piece), ==, 1);
    delete (h, 2);
    g_assert_cmpuint(create(h, piece), ==, 2);
    g_assert_cmpuint(stream_of(h, 2, piece), ==, 0);
    say_often(h, 2, piece);
    g_assert_cmpuint(stream_of(h, 2, piece), ==, 1);
    g_assert_cmphex(admin(h, NVME_ADM_FORMAT, 2, 0).status, ==, 0);
    g_assert_cmpuint(stream_of(h, 2, piece), ==, 0);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/ns-commands/copy", test_copy);
    g_test_add_func("/nvme/ns-commands/copy-between", test_copy_between);
    g_test_add_func("/nvme/ns-commands/marks", test_marks);
    g_test_add_func("/nvme/ns-commands/fused", test_fused);
    g_test_add_func("/nvme/ns-commands/deleted", test_deleted);
    g_test_add_func("/nvme/ns-commands/fixed", test_fixed);
    g_test_add_func("/nvme/ns-commands/hints", test_hints);
    return g_test_run();
}
