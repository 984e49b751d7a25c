/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test-smoke.c - bring-up, identify, a queue pair, data there and back. */
#include "host.h"

static void test_bring_up(void)
{
    Host *h = host_new(NULL);
    NvmeSqe sqe;

    g_assert_cmphex(host_read32(h, NVME_REG_VS), ==, NVME_VERSION_1_4);
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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/smoke/bring-up", test_bring_up);
    g_test_add_func("/nvme/smoke/read-write", test_read_write);
    return g_test_run();
}
