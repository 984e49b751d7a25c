/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-verify.c - Verify and Write Uncorrectable: fields that are wrong, what
 * they cost, and marks on their way: in the buffer, in NAND, in the store,
 * overtaken, trimmed, lost with the power, saved.
 */
#include "host.h"

#define UNIT 8 /* blocks */

static Host *ready(const HostOptions *o)
{
    Host *h = host_new(o);

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 256), ==, 0);
    return h;
}

static uint16_t code(Host *h, uint8_t opcode, uint64_t lba, uint32_t nblocks)
{
    return host_code(host_io(h, 1, opcode, lba, nblocks, HOST_DATA));
}

static uint16_t mark(Host *h, uint64_t lba, uint32_t nblocks)
{
    return code(h, NVME_IO_WRITE_UNCORRECTABLE, lba, nblocks);
}

static uint16_t write_byte(Host *h, uint64_t lba, uint32_t nblocks, int byte)
{
    memset(host_ram(h, HOST_DATA, (size_t)nblocks * 512), byte,
           (size_t)nblocks * 512);
    return code(h, NVME_IO_WRITE, lba, nblocks);
}

/* Which of the 8 blocks can be read: a bit for each. */
static unsigned readable(Host *h, uint64_t lba)
{
    unsigned mask = 0;

    for (unsigned i = 0; i < UNIT; i++) {
        uint16_t c = code(h, NVME_IO_READ, lba + i, 1);

        g_assert_true(c == 0 || c == NVME_SC_UNRECOVERED_READ);
        g_assert_cmphex(code(h, NVME_IO_VERIFY, lba + i, 1), ==, c);
        mask |= (c == 0) << i;
    }
    return mask;
}

static void test_fields(void)
{
    static const uint8_t opcode[] = {NVME_IO_VERIFY,
                                     NVME_IO_WRITE_UNCORRECTABLE};
    Host *h = ready(&(HostOptions){.nblocks = 10000});

    for (unsigned i = 0; i < G_N_ELEMENTS(opcode); i++) {
        NvmeSqe sqe = host_rw(h, opcode[i], 0, 8, HOST_DATA);

        sqe.dw[1] = 2;
        g_assert_cmphex(host_code(host_do(h, 1, &sqe).status), ==,
                        NVME_SC_INVALID_NSID);
        g_assert_cmphex(code(h, opcode[i], 9993, 8), ==, NVME_SC_LBA_RANGE);
        g_assert_cmphex(code(h, opcode[i], 0, 1025), ==, NVME_SC_INVALID_FIELD);
        g_assert_cmphex(code(h, opcode[i], 0, 1024), ==, 0);
    }
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(code(h, NVME_IO_VERIFY, 1000, 100), ==,
                    NVME_SC_UNRECOVERED_READ);
    host_free(h);
}

/* ONCS, and the limits. */
static void test_identify(void)
{
    Host *h = ready(NULL);
    NvmeSqe sqe = host_sqe(NVME_ADM_IDENTIFY, 0, HOST_DATA);
    const NvmeIdNvmController *nvm = (void *)(h->ram + HOST_DATA);
    const NvmeIdController *id = (void *)(h->ram + HOST_DATA);

    sqe.dw[10] = 1;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    g_assert_cmphex(GUINT16_FROM_LE(id->oncs) & 0x82, ==, 0x82);
    sqe.dw[10] = 6;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    g_assert_cmpuint(nvm->vsl, ==, 7);
    g_assert_cmpuint(nvm->wusl, ==, 7);
    host_free(h);
}

static uint64_t latency(Host *h, uint8_t opcode)
{
    uint64_t from_ns = h->now_ns;

    g_assert_cmphex(code(h, opcode, 0, 256), ==, 0);
    return h->now_ns - from_ns;
}

/* Both cost what Read and Write cost, less the link: 128 KiB at 1 GB/s. */
static void test_cost(void)
{
    Host *h = ready(&(HostOptions){.set = "host.link_mb_s=1000"});
    uint64_t read_ns, write_ns;

    g_assert_cmphex(write_byte(h, 0, 256, 1), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    read_ns = latency(h, NVME_IO_READ);
    g_assert_cmpuint(read_ns - latency(h, NVME_IO_VERIFY), ==, 131072);
    write_ns = latency(h, NVME_IO_WRITE);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmpuint(write_ns - latency(h, NVME_IO_WRITE_UNCORRECTABLE), ==,
                     131072);
    host_free(h);
}

/* Blocks 2..4 of a unit with data; the others stay readable wherever it is. */
static void test_marks(void)
{
    Host *h = ready(&(HostOptions){.durable = true});

    g_assert_cmphex(write_byte(h, 800, UNIT, 0x55), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(mark(h, 802, 3), ==, 0);
    g_assert_cmphex(readable(h, 800), ==, 0xe3);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(readable(h, 800), ==, 0xe3);
    g_assert_cmphex(code(h, NVME_IO_COMPARE, 800, UNIT), ==,
                    NVME_SC_UNRECOVERED_READ);
    g_assert_cmphex(code(h, NVME_IO_READ, 805, 1), ==, 0);
    g_assert_cmpuint(h->ram[HOST_DATA], ==, 0x55);
    /* A write of one of them; data of another in the buffer. */
    g_assert_cmphex(write_byte(h, 803, 1, 0x66), ==, 0);
    g_assert_cmphex(readable(h, 800), ==, 0xeb);
    g_assert_cmphex(mark(h, 800, 1), ==, 0);
    g_assert_cmphex(write_byte(h, 802, 1, 0x77), ==, 0);
    g_assert_cmphex(readable(h, 800), ==, 0xee);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(readable(h, 800), ==, 0xee);
    /* A write of all of it; zeroes; deallocation. */
    g_assert_cmphex(write_byte(h, 800, UNIT, 1), ==, 0);
    g_assert_cmphex(readable(h, 800), ==, 0xff);
    g_assert_cmphex(mark(h, 800, UNIT), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(readable(h, 800), ==, 0);
    g_assert_cmphex(code(h, NVME_IO_WRITE_ZEROES, 800, UNIT), ==, 0);
    g_assert_cmphex(readable(h, 800), ==, 0xff);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(readable(h, 800), ==, 0xff);
    host_free(h);
}

/* The first bad block is in the error log; the SMART counter does not count
 * it: no data was lost. */
static void test_reported(void)
{
    Host *h = ready(NULL);
    NvmeSqe sqe = host_sqe(NVME_ADM_GET_LOG_PAGE, NVME_NSID_ALL, HOST_DATA);
    const NvmeErrorLogEntry *e = (void *)(h->ram + HOST_DATA);
    const NvmeHealthLog *health = (void *)(h->ram + HOST_DATA);

    g_assert_cmphex(mark(h, 83, 2), ==, 0);
    g_assert_cmphex(code(h, NVME_IO_READ, 80, 16), ==,
                    NVME_SC_UNRECOVERED_READ);
    sqe.dw[10] = 1 | 15 << 16;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    g_assert_cmpuint(GUINT64_FROM_LE(e->lba), ==, 83);
    sqe.dw[10] = 2 | 127 << 16;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    g_assert_cmpuint(GUINT64_FROM_LE(health->media_errors.low), ==, 0);
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

/* A mark is as durable as data: flushed, it survives; a write that clears it,
 * and is lost, leaves it. */
static void test_power_cut(void)
{
    Host *h = ready(&(HostOptions){.durable = true});

    g_assert_cmphex(write_byte(h, 160, UNIT, 1), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(mark(h, 160, 4), ==, 0);
    cut(h);
    g_assert_cmphex(readable(h, 160), ==, 0xff); /* not flushed: lost */
    g_assert_cmphex(mark(h, 160, 4), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    cut(h);
    g_assert_cmphex(readable(h, 160), ==, 0xf0);
    g_assert_cmphex(write_byte(h, 160, 2, 2), ==, 0);
    g_assert_cmphex(readable(h, 160), ==, 0xf3);
    cut(h);
    g_assert_cmphex(readable(h, 160), ==, 0xf0);
    host_free(h);
}

/* In the buffer, refused by the store, and in it: all are saved. */
static void test_saved(void)
{
    HostOptions o = {.nblocks = 4096};
    Host *h = ready(&o);
    GByteArray *drive, *ctrl;
    GError *error = NULL;

    g_assert_cmphex(mark(h, 8, 3), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(mark(h, 4093, 3), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    h->fail_writes = true;
    g_assert_cmphex(mark(h, 16, 2), ==, 0);
    g_assert_cmphex(host_code(host_flush(h, 1)), ==, NVME_SC_WRITE_FAULT);
    g_assert_cmphex(mark(h, 24, 1), ==, 0);
    host_settle(h);
    host_save(h, &drive, &ctrl);
    h = host_reload(&o, h, drive, ctrl, &error);
    g_assert_no_error(error);
    nvme_hold(h->ctrl, false);
    h->fail_writes = false;
    g_assert_cmphex(readable(h, 8), ==, 0xf8);
    g_assert_cmphex(readable(h, 4088), ==, 0x1f);
    g_assert_cmphex(readable(h, 16), ==, 0xfc);
    g_assert_cmphex(readable(h, 24), ==, 0xfe);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(readable(h, 16), ==, 0xfc);
    g_byte_array_free(drive, TRUE);
    g_byte_array_free(ctrl, TRUE);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/verify/fields", test_fields);
    g_test_add_func("/nvme/verify/identify", test_identify);
    g_test_add_func("/nvme/verify/cost", test_cost);
    g_test_add_func("/nvme/verify/marks", test_marks);
    g_test_add_func("/nvme/verify/reported", test_reported);
    g_test_add_func("/nvme/verify/power-cut", test_power_cut);
    g_test_add_func("/nvme/verify/saved", test_saved);
    return g_test_run();
}
