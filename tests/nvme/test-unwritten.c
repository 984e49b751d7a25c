/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-unwritten.c - DULBE: reads of blocks without data fail, and no others.
 */
#include "admin.h"

#define DULBE   (1U << 16)
#define ALL     NVME_NSID_ALL
#define UNIT    8  /* blocks of 512 bytes */
#define BLOCKS  32 /* that are written: 4 units */
#define SOURCES (HOST_DATA + 0x10000)

static void set_dulbe(Host *h, uint32_t nsid, uint32_t value)
{
    g_assert_cmphex(
        admin_status(h, NVME_ADM_SET_FEATURES, nsid, ADMIN_DW(0x05, value), 0),
        ==, 0);
}

static Host *start(const HostOptions *o)
{
    Host *h = admin_host(o);

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    return h;
}

static uint16_t on(Host *h, uint32_t nsid, uint8_t opcode, uint64_t lba,
                   uint32_t n)
{
    NvmeSqe sqe = host_rw(h, opcode, lba, n, HOST_DATA);

    sqe.dw[1] = nsid;
    return host_code(host_do(h, 1, &sqe).status);
}

static uint16_t reads(Host *h, uint64_t lba, uint32_t n)
{
    return on(h, 1, NVME_IO_READ, lba, n);
}

static uint16_t copy(Host *h, uint64_t from, uint32_t n, uint64_t to)
{
    NvmeSqe sqe = host_sqe(NVME_IO_COPY, 1, SOURCES);
    uint8_t *p = host_ram(h, SOURCES, 32);

    memset(p, 0, 32);
    put_le64(p + 8, from);
    put_le16(p + 16, (uint16_t)(n - 1));
    host_map(h, &sqe, SOURCES, 32);
    sqe.dw[10] = (uint32_t)to;
    return host_code(host_do(h, 1, &sqe).status);
}

static void trim(Host *h, uint64_t lba, uint32_t n)
{
    NvmeSqe sqe = host_sqe(NVME_IO_DSM, 1, HOST_DATA);
    uint8_t *p = host_ram(h, HOST_DATA, 16);

    memset(p, 0, 16);
    put_le32(p + 4, n);
    put_le64(p + 8, lba);
    sqe.dw[11] = 4; /* deallocate */
    g_assert_cmphex(host_code(host_do(h, 1, &sqe).status), ==, 0);
}

/* The newest entry of the error log. */
static void logged(Host *h, uint64_t lba)
{
    g_assert_cmphex(admin_log(h, 1, 0, 64, 0), ==, 0);
    g_assert_cmphex(get_le16(admin_data(h) + 12) >> 1 & 0x7ff, ==,
                    NVME_SC_UNWRITTEN);
    g_assert_cmpuint(get_le64(admin_data(h) + 16), ==, lba);
}

static void test_reads(void)
{
    Host *h = start(&(HostOptions){.no_preload = true});

    g_assert_cmphex(on(h, 1, NVME_IO_WRITE, 0, BLOCKS), ==, 0);
    g_assert_cmphex(on(h, 1, NVME_IO_WRITE, 64, 1), ==, 0);
    g_assert_cmphex(reads(h, 0, 64), ==, 0); /* as long as it is off */
    set_dulbe(h, 1, DULBE);
    g_assert_cmphex(reads(h, 0, BLOCKS), ==, 0);
    g_assert_cmphex(reads(h, 64, UNIT), ==, 0); /* a unit is all or none */
    g_assert_cmphex(reads(h, 64, UNIT + 1), ==, NVME_SC_UNWRITTEN);
    logged(h, 64 + UNIT);
    g_assert_cmphex(reads(h, BLOCKS - 3, 7), ==, NVME_SC_UNWRITTEN);
    logged(h, BLOCKS);
    g_assert_cmphex(reads(h, 48, 1), ==, NVME_SC_UNWRITTEN);
    logged(h, 48);
    set_dulbe(h, 1, 1);
    g_assert_cmphex(reads(h, 48, 1), ==, 0);
    host_free(h);
}

static void test_commands(void)
{
    Host *h = start(&(HostOptions){.no_preload = true});

    set_dulbe(h, ALL, DULBE);
    g_assert_cmphex(on(h, 1, NVME_IO_COMPARE, 0, 1), ==, NVME_SC_UNWRITTEN);
    g_assert_cmphex(on(h, 1, NVME_IO_VERIFY, 0, 1), ==, NVME_SC_UNWRITTEN);
    g_assert_cmphex(copy(h, 0, UNIT, 256), ==, NVME_SC_UNWRITTEN);
    g_assert_cmphex(on(h, 1, NVME_IO_WRITE, 0, BLOCKS), ==, 0);
    g_assert_cmphex(on(h, 1, NVME_IO_COMPARE, 0, 1), ==, 0);
    g_assert_cmphex(on(h, 1, NVME_IO_VERIFY, 0, 1), ==, 0);
    g_assert_cmphex(copy(h, 0, UNIT, 256), ==, 0);
    g_assert_cmphex(reads(h, 256, UNIT), ==, 0);
    /* Deallocated: the whole units of a range. */
    trim(h, UNIT - 1, UNIT + 2);
    g_assert_cmphex(reads(h, 0, UNIT), ==, 0);
    g_assert_cmphex(reads(h, UNIT, UNIT), ==, NVME_SC_UNWRITTEN);
    g_assert_cmphex(reads(h, 2 * UNIT, UNIT), ==, 0);
    g_assert_cmphex(on(h, 1, NVME_IO_WRITE_ZEROES, 0, UNIT), ==, 0);
    g_assert_cmphex(reads(h, 0, 1), ==, NVME_SC_UNWRITTEN);
    g_assert_cmphex(on(h, 1, NVME_IO_WRITE_ZEROES, 2 * UNIT, 1), ==, 0);
    g_assert_cmphex(reads(h, 2 * UNIT, UNIT), ==, 0);
    host_free(h);
}

/* Each namespace has its own; a saved drive has it again. */
static void test_namespaces(void)
{
    const HostOptions o = {.namespaces = "2", .no_preload = true};
    Host *h = start(&o);
    GByteArray *drive, *ctrl;

    set_dulbe(h, 2, DULBE);
    g_assert_cmphex(on(h, 1, NVME_IO_READ, 0, 1), ==, 0);
    g_assert_cmphex(on(h, 2, NVME_IO_READ, 0, 1), ==, NVME_SC_UNWRITTEN);
    g_assert_cmphex(on(h, 2, NVME_IO_WRITE, 0, 1), ==, 0);
    g_assert_cmphex(on(h, 2, NVME_IO_READ, 0, 1), ==, 0);
    host_settle(h);
    host_save(h, &drive, &ctrl);
    h = host_reload(&o, h, drive, ctrl, NULL);
    nvme_hold(h->ctrl, false);
    g_assert_cmphex(on(h, 2, NVME_IO_READ, 8, 1), ==, NVME_SC_UNWRITTEN);
    g_byte_array_unref(drive);
    g_byte_array_unref(ctrl);
    host_free(h);
}

/* Of zones: test-zns.c. */
static void test_metadata(void)
{
    Host *h = start(&(HostOptions){.no_preload = true, .metadata = 8});

    set_dulbe(h, 1, DULBE);
    g_assert_cmphex(reads(h, 0, 1), ==, NVME_SC_UNWRITTEN);
    logged(h, 0);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/unwritten/reads", test_reads);
    g_test_add_func("/nvme/unwritten/commands", test_commands);
    g_test_add_func("/nvme/unwritten/namespaces", test_namespaces);
    g_test_add_func("/nvme/unwritten/metadata", test_metadata);
    return g_test_run();
}
