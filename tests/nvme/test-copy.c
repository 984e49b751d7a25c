/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-copy.c - the Copy command: limits and their statuses, formats of source
 * ranges, the data, what it costs, and ends of all kinds.
 */
#include "host.h"
#include "ssd-report.h"

#define LIST HOST_DATA /* source ranges */
#define DATA (HOST_DATA + 0x10000)
#define MOST 1024 /* blocks: MDTS is 512 KiB */

static Host *ready(const HostOptions *o)
{
    Host *h = host_new(o);

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 256), ==, 0);
    return h;
}

static void put_source(Host *h, unsigned i, unsigned format, uint64_t lba,
                       uint32_t nblocks)
{
    size_t step = format & 1 ? 40 : 32;
    uint8_t *p = host_ram(h, LIST + i * step, step);

    memset(p, 0, step);
    put_le32(p, format >= 2 ? 1 : 0xaaaaaaaa); /* reserved in 0h and 1h */
    put_le64(p + 8, lba);
    put_le16(p + 16, (uint16_t)(nblocks - 1));
}

static NvmeSqe copy_sqe(Host *h, uint64_t to, unsigned nranges, unsigned format)
{
    NvmeSqe sqe = host_sqe(NVME_IO_COPY, 1, LIST);

    host_map(h, &sqe, LIST, nranges * (format & 1 ? 40 : 32));
    sqe.dw[10] = (uint32_t)to;
    sqe.dw[11] = (uint32_t)(to >> 32);
    sqe.dw[12] = ((nranges - 1) & 0xff) | format << 8;
    return sqe;
}

static uint16_t do_code(Host *h, const NvmeSqe *sqe)
{
    return host_code(host_do(h, 1, sqe).status);
}

static uint16_t copy(Host *h, uint64_t to, unsigned nranges, unsigned format)
{
    NvmeSqe sqe = copy_sqe(h, to, nranges, format);

    return do_code(h, &sqe);
}

/* Each block gets its number. */
static void write_numbers(Host *h, uint64_t lba, uint32_t nblocks)
{
    for (uint32_t i = 0; i < nblocks; i++) {
        uint8_t *p = host_ram(h, DATA + i * 512, 512);

        memset(p, 0x5a, 512);
        put_le64(p, lba + i);
    }
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, lba, nblocks, DATA), ==, 0);
}

static void check_numbers(Host *h, uint64_t lba, uint32_t nblocks,
                          uint64_t number)
{
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, lba, nblocks, DATA), ==, 0);
    for (uint32_t i = 0; i < nblocks; i++) {
        g_assert_cmpuint(get_le64(h->ram + DATA + i * 512), ==, number + i);
        g_assert_cmphex(h->ram[DATA + i * 512 + 511], ==, 0x5a);
    }
}

static void test_fields(void)
{
    Host *h = ready(&(HostOptions){.nblocks = 10000});
    NvmeSqe sqe;

    put_source(h, 0, 0, 0, 8);
    sqe = copy_sqe(h, 8, 1, 0);
    g_assert_cmphex(do_code(h, &sqe), ==, 0);
    sqe.dw[1] = 2;
    g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_INVALID_NSID);
    for (unsigned format = 2; format < 16; format++) {
        g_assert_cmphex(copy(h, 8, 1, format), ==, NVME_SC_INVALID_FIELD);
    }
    /* Too many ranges, too long, too long together. */
    for (unsigned i = 0; i < 129; i++) {
        put_source(h, i, 0, i, 1);
    }
    g_assert_cmphex(copy(h, 1000, 128, 0), ==, 0);
    g_assert_cmphex(copy(h, 1000, 129, 0), ==, NVME_SC_COMMAND_SIZE);
    put_source(h, 0, 0, 0, MOST + 1);
    g_assert_cmphex(copy(h, 5000, 1, 0), ==, NVME_SC_COMMAND_SIZE);
    put_source(h, 0, 0, 0, MOST);
    g_assert_cmphex(copy(h, 5000, 1, 0), ==, 0);
    put_source(h, 1, 0, 2000, 1);
    g_assert_cmphex(copy(h, 5000, 2, 0), ==, NVME_SC_COMMAND_SIZE);
    /* Beyond the end, there and here. */
    put_source(h, 0, 0, 9999, 2);
    g_assert_cmphex(copy(h, 0, 1, 0), ==, NVME_SC_LBA_RANGE);
    put_source(h, 0, 0, UINT64_MAX, 1);
    g_assert_cmphex(copy(h, 0, 1, 0), ==, NVME_SC_LBA_RANGE);
    put_source(h, 0, 0, 0, 2);
    g_assert_cmphex(copy(h, 9999, 1, 0), ==, NVME_SC_LBA_RANGE);
    g_assert_cmphex(copy(h, UINT64_MAX, 1, 0), ==, NVME_SC_LBA_RANGE);
    /* Overlap. */
    put_source(h, 0, 0, 100, 8);
    put_source(h, 1, 0, 200, 8);
    g_assert_cmphex(copy(h, 207, 2, 0), ==, NVME_SC_OVERLAPPING_IO);
    g_assert_cmphex(copy(h, 85, 2, 0), ==, NVME_SC_OVERLAPPING_IO);
    g_assert_cmphex(copy(h, 208, 2, 0), ==, 0);
    g_assert_cmphex(copy(h, 84, 2, 0), ==, 0);
    /* The list. */
    sqe = copy_sqe(h, 300, 1, 0);
    sqe.dw[6] |= 1;
    g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_PRP_OFFSET);
    sqe = copy_sqe(h, 300, 1, 0);
    sqe.dw[6] = HOST_RAM_BYTES;
    g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_DATA_TRANSFER);
    host_free(h);
}

static void test_identify(void)
{
    Host *h = ready(NULL);
    NvmeSqe sqe = host_sqe(NVME_ADM_IDENTIFY, 1, HOST_DATA);
    const NvmeIdController *id = (void *)(h->ram + HOST_DATA);
    const NvmeIdNamespace *ns = (void *)(h->ram + HOST_DATA);

    sqe.dw[10] = 1;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    g_assert_cmphex(GUINT16_FROM_LE(id->oncs) & 0x100, ==, 0x100);
    g_assert_cmphex(GUINT16_FROM_LE(id->ocfs) & 3, ==, 3);
    sqe.dw[10] = 0;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    g_assert_cmpuint(GUINT16_FROM_LE(ns->mssrl), ==, MOST);
    g_assert_cmpuint(GUINT32_FROM_LE(ns->mcl), ==, MOST);
    g_assert_cmpuint(ns->msrc, ==, 127);
    host_free(h);
}

/* Formats 2h and 3h, once the host has enabled them: Host Behavior Support. */
static void test_namespace(void)
{
    Host *h = ready(NULL);

    write_numbers(h, 0, 16);
    for (unsigned enabled = 0; enabled < 4; enabled++) {
        NvmeSqe sqe = host_sqe(NVME_ADM_SET_FEATURES, 0, HOST_DATA + 0x4000);

        memset(host_ram(h, HOST_DATA + 0x4000, 512), 0, 512);
        put_le16(host_ram(h, HOST_DATA + 0x4004, 2), (uint16_t)(enabled << 2));
        sqe.dw[10] = 0x16;
        g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
        for (unsigned format = 2; format < 4; format++) {
            bool on = enabled >> (format - 2) & 1;
            uint64_t to = 100 * (2 * enabled + format);

            put_source(h, 0, format, 3, 9);
            g_assert_cmphex(copy(h, to, 1, format), ==,
                            on ? 0 : NVME_SC_INVALID_FIELD);
            if (on) {
                check_numbers(h, to, 9, 3);
                put_le32(host_ram(h, LIST, 4), 2);
                g_assert_cmphex(copy(h, to, 1, format), ==,
                                NVME_SC_INVALID_NSID);
            }
        }
    }
    host_free(h);
}

/* From the buffer, from NAND, from the store, in pieces that are not units. */
static void test_data(void)
{
    Host *h = ready(&(HostOptions){.slow = true, .durable = true});

    write_numbers(h, 100, 64);
    for (unsigned format = 0; format < 2; format++) {
        for (unsigned flushed = 0; flushed < 2; flushed++) {
            uint64_t to = 1003 + 200 * format + 100 * flushed;

            put_source(h, 0, format, 131, 3);
            put_source(h, 1, format, 100, 31);
            put_source(h, 2, format, 131, 9);
            g_assert_cmphex(copy(h, to, 3, format), ==, 0);
            check_numbers(h, to, 3, 131);
            check_numbers(h, to + 3, 40, 100);
            g_assert_cmphex(host_flush(h, 1), ==, 0);
            check_numbers(h, to + 3, 40, 100);
        }
    }
    /* Blocks that were never written are zeroes. */
    put_source(h, 0, 0, 5000, 8);
    g_assert_cmphex(copy(h, 100, 1, 0), ==, 0);
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 100, 9, DATA), ==, 0);
    g_assert_cmpuint(h->ram[DATA + 511], ==, 0);
    g_assert_cmpuint(get_le64(h->ram + DATA + 4096), ==, 108);
    host_free(h);
}

static uint64_t elapsed(Host *h, const NvmeSqe *sqe)
{
    uint64_t from_ns = h->now_ns;

    g_assert_cmphex(do_code(h, sqe), ==, 0);
    return h->now_ns - from_ns;
}

/* What a Read and a Write of it cost, less the link: 128 KiB each at 1 GB/s. */
static void test_cost(void)
{
    Host *h = ready(&(HostOptions){.set = "host.link_mb_s=1000"});
    SsdCounters before, after;
    NvmeSqe sqe;
    uint64_t read_ns, write_ns;

    write_numbers(h, 0, 256);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    sqe = host_rw(h, NVME_IO_READ, 0, 256, DATA);
    read_ns = elapsed(h, &sqe);
    sqe = host_rw(h, NVME_IO_WRITE, 256, 256, DATA);
    write_ns = elapsed(h, &sqe);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    put_source(h, 0, 0, 0, 256);
    sqe = copy_sqe(h, 512, 1, 0);
    ssd_get_counters(h->ssd, &before);
    g_assert_cmpuint(elapsed(h, &sqe), ==, read_ns + write_ns - 2 * 131072);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    ssd_get_counters(h->ssd, &after);
    g_assert_cmpuint(after.host_bytes_read - before.host_bytes_read, ==,
                     131072);
    g_assert_cmpuint(after.host_bytes_written - before.host_bytes_written, ==,
                     131072);
    host_free(h);
}

/* A marked source: nothing is written; dword 0 says that range 0 was not
 * copied. */
static void test_bad_source(void)
{
    Host *h = ready(NULL);
    NvmeSqe sqe;
    HostCqe c;

    write_numbers(h, 0, 64);
    write_numbers(h, 500, 8);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE_UNCORRECTABLE, 20, 1, DATA), ==,
                    0);
    put_source(h, 0, 0, 0, 4);
    put_source(h, 1, 0, 18, 4);
    sqe = copy_sqe(h, 500, 2, 0);
    c = host_do(h, 1, &sqe);
    g_assert_cmphex(host_code(c.status), ==, NVME_SC_UNRECOVERED_READ);
    g_assert_cmpuint(c.dw0, ==, 0);
    check_numbers(h, 500, 8, 500);
    host_free(h);
}

static void cut(Host *h)
{
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    memset(h->cq, 0, sizeof(h->cq));
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 256), ==, 0);
}

/* FUA: durable when it ends. */
static void test_fua(void)
{
    Host *h = ready(&(HostOptions){.durable = true});
    NvmeSqe sqe;

    write_numbers(h, 64, 16);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    put_source(h, 0, 0, 64, 16);
    sqe = copy_sqe(h, 0, 1, 0);
    sqe.dw[12] |= 1U << 30;
    g_assert_cmphex(do_code(h, &sqe), ==, 0);
    cut(h);
    check_numbers(h, 0, 16, 64);
    host_free(h);
}

/* The queue goes, or the power, or both, at every step. */
static void test_gone(void)
{
    for (unsigned steps = 0; steps < 16; steps++) {
        for (unsigned how = 0; how < 3; how++) {
            Host *h = ready(&(HostOptions){.slow = true});
            NvmeSqe sqe;

            write_numbers(h, 0, 32);
            g_assert_cmphex(host_flush(h, 1), ==, 0);
            put_source(h, 0, 0, 0, 7);
            put_source(h, 1, 0, 9, 9);
            sqe = copy_sqe(h, 64, 2, 0);
            host_send(h, 1, &sqe);
            nvme_run(h->ctrl, h->now_ns);
            for (unsigned i = 0; i < steps; i++) {
                host_step(h);
            }
            if (how == 0) {
                g_assert_cmphex(host_delete_queues(h, 1), ==, 0);
                g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
            } else {
                cut(h);
            }
            check_numbers(h, 0, 32, 0);
            host_free(h);
        }
    }
}

#define CUT_BLOCKS 480 /* several pages of each plane */
#define CUT_TO     1032

/* A cut after so many events of the drive: each mapping unit of the destination
 * is old or new, and new once the Copy, with FUA, has completed.  *done: it
 * has. Returns how many blocks are new. */
static unsigned cut_in_copy(const char *set, unsigned events, bool *done)
{
    Host *h = ready(&(HostOptions){.set = set, .durable = true});
    NvmeSqe sqe;
    HostCqe c;
    unsigned n_new = 0;

    write_numbers(h, 0, CUT_BLOCKS);
    write_numbers(h, CUT_TO - 8, CUT_BLOCKS + 16);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    put_source(h, 0, 0, 0, 304);
    put_source(h, 1, 0, 304, CUT_BLOCKS - 304);
    sqe = copy_sqe(h, CUT_TO, 2, 0);
    sqe.dw[12] |= 1U << 30;
    host_send(h, 1, &sqe);
    nvme_run(h->ctrl, h->now_ns);
    for (unsigned i = 0; i < events; i++) {
        host_step(h);
    }
    *done = host_poll(h, 1, &c);
    g_assert_true(!*done || host_code(c.status) == 0);
    cut(h);
    check_numbers(h, 0, CUT_BLOCKS, 0);
    check_numbers(h, CUT_TO - 8, 8, CUT_TO - 8);
    check_numbers(h, CUT_TO + CUT_BLOCKS, 8, CUT_TO + CUT_BLOCKS);
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, CUT_TO, CUT_BLOCKS, DATA), ==,
                    0);
    for (uint32_t i = 0; i < CUT_BLOCKS; i++) {
        uint64_t number = get_le64(h->ram + DATA + i * 512);
        uint64_t first = get_le64(h->ram + DATA + (i & ~7U) * 512);
        bool is_new = number == i;

        g_assert_true(is_new || (number == CUT_TO + i && !*done));
        g_assert_true(is_new == (first == (i & ~7U)));
        n_new += is_new;
    }
    host_free(h);
    return n_new;
}

/* At each instant of a Copy: reads, programs, completion. */
static void test_cuts(void)
{
    static const struct {
        const char *set;
        bool partly; /* pages end one after the other */
    } rows[] = {
        {NULL, true},
        {"buffer.plp=on", false},
        {"ftl.recovery=scan;ftl.op_percent=60", true},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        unsigned before = 0;
        unsigned partly = 0;
        bool done = false;

        for (unsigned events = 0; !done; events++) {
            unsigned n = cut_in_copy(rows[i].set, events, &done);

            before += n == 0;
            partly += n > 0 && n < CUT_BLOCKS;
            g_assert_cmpuint(events, <, 10000);
        }
        g_test_message("%u cuts before any unit, %u between", before, partly);
        g_assert_cmpuint(before, >, 0);
        g_assert_true(!rows[i].partly || partly > 0);
    }
}

/* As many as the queue takes, each of 512 KiB: the limit of the backlog holds.
 */
static void test_memory(void)
{
    Host *h = ready(&(HostOptions){.backlog = 4 << 20, .slow = true});
    NvmeSqe sqe;

    write_numbers(h, 0, MOST);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    put_source(h, 0, 0, 0, MOST);
    for (unsigned i = 0; i < 60; i++) {
        sqe = copy_sqe(h, MOST * (1 + i % 4), 1, 0);
        host_put(h, 1, &sqe);
    }
    host_ring(h, 1);
    nvme_run(h->ctrl, h->now_ns);
    for (unsigned i = 0; i < 60; i++) {
        g_assert_cmphex(host_wait(h, 1).status, ==, 0);
    }
    g_assert_cmpuint(nvme_refused_bytes(h->ctrl), ==, 0);
    check_numbers(h, MOST, MOST, 0);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/copy/fields", test_fields);
    g_test_add_func("/nvme/copy/identify", test_identify);
    g_test_add_func("/nvme/copy/namespace", test_namespace);
    g_test_add_func("/nvme/copy/data", test_data);
    g_test_add_func("/nvme/copy/cost", test_cost);
    g_test_add_func("/nvme/copy/bad-source", test_bad_source);
    g_test_add_func("/nvme/copy/fua", test_fua);
    g_test_add_func("/nvme/copy/gone", test_gone);
    g_test_add_func("/nvme/copy/cuts", test_cuts);
    g_test_add_func("/nvme/copy/memory", test_memory);
    return g_test_run();
}
