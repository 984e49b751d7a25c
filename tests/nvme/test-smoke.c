/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test-smoke.c - bring-up, identify, a queue pair, data there and back. */
#include <glib/gstdio.h>

#include "host.h"

static void test_bring_up(void)
{
    Host *h = host_new(NULL);
    NvmeSqe sqe;

    g_assert_cmphex(host_read32(h, NVME_REG_VS), ==, NVME_VERSION_2_0);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, 0);
    host_enable(h);
    sqe = host_sqe(NVME_ADM_IDENTIFY, 0, HOST_DATA);
    sqe.dw[10] = 1;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    g_assert_cmpmem(h->ram + HOST_DATA + 4, 8, "TEST0001", 8);
    host_write32(h, NVME_REG_CC, 0);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, 0);
    host_free(h);
}

static void test_read_write(void)
{
    Host *h = host_new(NULL);

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    for (unsigned i = 0; i < 65536; i++) {
        h->ram[HOST_DATA + i] = i * 7 + i / 256;
    }
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 3, 128, HOST_DATA), ==, 0);
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 3, 128, HOST_DATA + 0x10200),
                    ==, 0);
    g_assert_cmpmem(h->ram + HOST_DATA, 65536, h->ram + HOST_DATA + 0x10200,
                    65536);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmpuint(h->flushes, ==, 1);
    g_assert_cmpmem(h->disk + 3 * 512, 65536, h->ram + HOST_DATA, 65536);
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 3, 128, HOST_DATA + 0x20200),
                    ==, 0);
    g_assert_cmpmem(h->ram + HOST_DATA, 65536, h->ram + HOST_DATA + 0x20200,
                    65536);
    g_assert_cmpuint(h->msix_count[1], >=, 4);
    g_assert_cmpuint(h->dma_faults, ==, 0);
    host_free(h);
}

/* Rules of a file of faults; the drive has read it when this returns. */
static Host *faulty_host(const char *rules)
{
    g_autofree char *path = NULL;
    g_autofree char *set = NULL;
    Host *h;
    int fd = g_file_open_tmp("vssd-faults-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    g_close(fd, NULL);
    g_assert_true(g_file_set_contents(path, rules, -1, NULL));
    set = g_strconcat("faults=", path, NULL);
    h = host_new(&(HostOptions){.set = set});
    g_unlink(path);
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    return h;
}

/* A rule cuts the drive's power: the controller is gone with it, flushed data
 * is there afterwards, other data is not. */
static void test_drive_loses_power(void)
{
    Host *h = faulty_host("cmd=3 -> cut power");
    NvmeSqe sqe;

    memset(h->ram + HOST_DATA, 1, 4096);
    memset(h->ram + HOST_DATA + 4096, 2, 4096);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 8, HOST_DATA), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    sqe = host_sqe(NVME_IO_WRITE, 1, HOST_DATA + 4096);
    sqe.dw[12] = 7;
    host_send(h, 1, &sqe);
    while (nvme_powered(h->ctrl) && host_step(h)) {
    }
    g_assert_false(nvme_powered(h->ctrl));
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, 0xffffffff);
    host_sleep(h, 1000);
    nvme_power_on(h->ctrl, h->now_ns);
    memset(h->cq, 0, sizeof(h->cq));
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 0, 8, HOST_DATA + 4096), ==,
                    0);
    g_assert_cmpmem(h->ram + HOST_DATA, 4096, h->ram + HOST_DATA + 4096, 4096);
    host_free(h);
}

/* Unrecovered Read Error, and its block in the error log. */
static void test_unrecovered_read(void)
{
    Host *h = faulty_host("on=read lba=5 -> uncorrectable once");
    NvmeSqe sqe;
    uint64_t lba;

    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 8, HOST_DATA), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 0, 8, HOST_DATA) & 0x7ff, ==,
                    0x281);
    sqe = host_sqe(NVME_ADM_GET_LOG_PAGE, 0, HOST_DATA);
    sqe.dw[10] = 1 | 15 << 16;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    memcpy(&lba, h->ram + HOST_DATA + 16, sizeof(lba));
    g_assert_cmpuint(GUINT64_FROM_LE(lba), ==, 5);
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 0, 8, HOST_DATA), ==, 0);
    host_free(h);
}

/* The end of life shows in the SMART log. */
static void test_read_only(void)
{
    Host *h = faulty_host("on=program -> fail always");
    NvmeSqe sqe = host_sqe(NVME_ADM_GET_LOG_PAGE, 0, HOST_DATA);
    uint16_t status;

    sqe.dw[10] = 2 | 127 << 16;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    g_assert_cmphex(h->ram[HOST_DATA], ==, 0);
    g_assert_cmpuint(h->ram[HOST_DATA + 3], ==, 100);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 8, HOST_DATA), ==, 0);
    status = host_flush(h, 1);
    g_assert_cmphex(status & 0x7ff, ==, 0x280); /* Write Fault */
    status = host_io(h, 1, NVME_IO_WRITE, 0, 8, HOST_DATA);
    /* Attempted Write to Read Only Range */
    g_assert_cmphex(status & 0x7ff, ==, 0x182);
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    g_assert_cmphex(h->ram[HOST_DATA] & 9, ==, 9);
    g_assert_cmpuint(h->ram[HOST_DATA + 3], ==, 0);
    host_free(h);
}

/* Data of a Write in flight is visible to a Compare beside it.  The drive
 * refuses the Write: from then on the data before it is there, and stays. */
static void test_refused_beside_compare(void)
{
    Host *h = faulty_host("on=program -> fail always");
    uint64_t new = HOST_DATA + 4096;
    NvmeSqe write = host_rw(h, NVME_IO_WRITE, 0, 8, new);
    NvmeSqe compare = host_rw(h, NVME_IO_COMPARE, 0, 8, new);
    HostCqe first, second;

    memset(h->ram + HOST_DATA, 1, 4096);
    memset(h->ram + new, 2, 4096);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 8, HOST_DATA), ==, 0);
    g_assert_cmphex(host_flush(h, 1) & 0x7ff, ==, NVME_SC_WRITE_FAULT);
    host_put(h, 1, &write);
    host_put(h, 1, &compare);
    host_ring(h, 1);
    first = host_wait(h, 1);
    second = host_wait(h, 1);
    g_assert_cmphex(host_code(first.status) | host_code(second.status), ==,
                    NVME_SC_READ_ONLY);
    g_assert_cmphex(host_io(h, 1, NVME_IO_COMPARE, 0, 8, new) & 0x7ff, ==,
                    NVME_SC_COMPARE_FAILURE);
    g_assert_cmphex(host_io(h, 1, NVME_IO_COMPARE, 0, 8, HOST_DATA), ==, 0);
    host_free(h);
}

static void get_smart(Host *h)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_GET_LOG_PAGE, 0, HOST_DATA);

    sqe.dw[10] = 2 | 127 << 16;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
}

/* A drive is written until its blocks have gone: spare falls to nothing, use
 * rises beyond the rating, each warning comes in its turn, and then it can
 * only be read. */
static void test_wears_out(void)
{
    Host *h = host_new(&(HostOptions){
        .set = "nand.blocks=48;nand.pages=4;media.erase_fail=0.002;"
               "media.rated_cycles=40;media.fail_exp=4;media.start_cycles=10;"});
    const uint8_t *page = h->ram + HOST_DATA;
    uint8_t spare = 100;
    uint8_t used = 25;
    bool warned = false;
    uint16_t status = 0;

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    get_smart(h);
    g_assert_cmpuint(page[3], ==, 100);
    g_assert_cmpuint(page[5], ==, 25);
    for (uint64_t i = 0; i < 200000 && (status & 0x7ff) == 0; i++) {
        status = host_io(h, 1, NVME_IO_WRITE, i * 128 % 8192, 128, HOST_DATA);
        if (i % 16 == 0) {
            get_smart(h);
            g_assert_cmpuint(page[3], <=, spare);
            g_assert_cmpuint(page[5], >=, used);
            g_assert_true(!(page[0] & 8) || page[3] == 0);
            g_assert_true((page[0] & 1) == (page[3] < page[4]));
            warned |= (page[0] & 9) == 1;
            spare = page[3];
            used = page[5];
        }
    }
    /* Attempted Write to Read Only Range */
    g_assert_cmphex(status & 0x7ff, ==, 0x182);
    get_smart(h);
    g_test_message("percentage used at the end: %u", page[5]);
    g_assert_cmphex(page[0] & 9, ==, 9);
    g_assert_cmpuint(page[3], ==, 0);
    g_assert_cmpuint(page[5], >, 60);
    g_assert_true(warned);
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 0, 128, HOST_DATA), ==, 0);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/smoke/bring-up", test_bring_up);
    g_test_add_func("/nvme/smoke/read-write", test_read_write);
    g_test_add_func("/nvme/smoke/drive-loses-power", test_drive_loses_power);
    g_test_add_func("/nvme/smoke/unrecovered-read", test_unrecovered_read);
    g_test_add_func("/nvme/smoke/read-only", test_read_only);
    g_test_add_func("/nvme/smoke/refused-beside-compare",
                    test_refused_beside_compare);
    g_test_add_func("/nvme/smoke/wears-out", test_wears_out);
    return g_test_run();
}
