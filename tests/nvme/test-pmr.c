/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-pmr.c - the persistent memory region: registers, the barrier, data of
 * commands in it, resets and power cuts.
 */
#include "admin.h"

#define PMR_BYTES (1U << 16)
#define CBA       0x900000000ULL
#define EN        1U
#define CMSE      2U
#define NRDY      0x100U

static Host *new_host(void)
{
    return host_new(&(HostOptions){.pmr_bytes = PMR_BYTES, .sgl = true});
}

static void place(Host *h, uint64_t value)
{
    host_write32(h, NVME_REG_PMRMSCU, (uint32_t)(value >> 32));
    host_write32(h, NVME_REG_PMRMSCL, (uint32_t)value);
}

static Host *ready(void)
{
    Host *h = new_host();

    host_write32(h, NVME_REG_PMRCTL, EN);
    place(h, CBA | CMSE);
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    return h;
}

/* Base 2.1, 5.1.22: no Sanitize while the region is enabled, Exit Failure Mode
 * included. */
static void test_sanitize(void)
{
    Host *h = ready();

    for (uint32_t action = 1; action <= 4; action++) {
        g_assert_cmphex(
            admin_status(h, NVME_ADM_SANITIZE, 0, ADMIN_DW(action), 0), ==,
            NVME_SC_SANITIZE_PMR);
    }
    host_write32(h, NVME_REG_PMRCTL, 0);
    for (uint32_t action = 1; action <= 4; action += 3) {
        g_assert_cmphex(
            admin_status(h, NVME_ADM_SANITIZE, 0, ADMIN_DW(action), 0), ==, 0);
    }
    host_free(h);
}

static void test_registers(void)
{
    Host *h = new_host();

    g_assert_true(host_read32(h, NVME_REG_CAP + 4) >> 24 & 1);
    g_assert_cmphex(host_read32(h, NVME_REG_PMRCAP), ==, 0x1010898);
    g_assert_cmphex(host_read32(h, NVME_REG_PMRSTS), ==, NRDY);
    g_assert_false(h->bar_shown[4]);
    host_write32(h, NVME_REG_PMRCTL, UINT32_MAX);
    g_assert_cmphex(host_read32(h, NVME_REG_PMRCTL), ==, EN);
    g_assert_cmphex(host_read32(h, NVME_REG_PMRSTS), ==, 0);
    g_assert_true(h->bar_shown[4]);
    place(h, (UINT64_MAX & ~0xfffULL) | CMSE);
    g_assert_cmphex(host_read32(h, NVME_REG_PMRSTS), ==, 1 << 12);
    place(h, CBA | CMSE);
    g_assert_cmphex(host_read32(h, NVME_REG_PMRSTS), ==, 0);
    g_assert_cmphex(host_read32(h, NVME_REG_PMRMSCU), ==, CBA >> 32);
    g_assert_cmphex(host_read32(h, NVME_REG_PMRMSCL), ==, CMSE);
    g_assert_cmphex(host_read32(h, NVME_REG_PMREBS), ==, 0);
    g_assert_cmphex(host_read32(h, NVME_REG_PMRSWTP), ==, 0);
    host_write32(h, NVME_REG_PMRCTL, 0);
    g_assert_false(h->bar_shown[4]);
    host_free(h);

    h = host_new(NULL); /* without one */
    host_write32(h, NVME_REG_PMRCTL, EN);
    g_assert_cmphex(host_read32(h, NVME_REG_PMRCTL), ==, 0);
    g_assert_cmphex(host_read32(h, NVME_REG_PMRSTS), ==, 0);
    host_free(h);
}

/* A read of PMRSTS has the memory written out; a failure is told. */
static void test_barrier(void)
{
    Host *h = ready();

    g_assert_cmpuint(h->pmr_syncs, ==, 0);
    g_assert_cmphex(host_read32(h, NVME_REG_PMRSTS), ==, 0);
    g_assert_cmpuint(h->pmr_syncs, ==, 1);
    h->fail_syncs = true;
    g_assert_cmphex(host_read32(h, NVME_REG_PMRSTS), ==, 0x601);
    h->fail_syncs = false;
    g_assert_cmphex(host_read32(h, NVME_REG_PMRSTS), ==, 0x601);
    host_write32(h, NVME_REG_PMRCTL, 0);
    host_write32(h, NVME_REG_PMRCTL, EN);
    g_assert_cmphex(host_read32(h, NVME_REG_PMRSTS), ==, 0);
    host_free(h);
}

static uint16_t io_at(Host *h, uint8_t opcode, uint64_t addr, uint32_t nblocks)
{
    NvmeSqe sqe = host_rw(h, opcode, 0, nblocks, HOST_DATA);

    sqe.dw[6] = (uint32_t)addr;
    sqe.dw[7] = (uint32_t)(addr >> 32);
    return host_code(host_do(h, 1, &sqe).status);
}

/* Of two blocks; the descriptor's type. */
static uint16_t read_by_sgl(Host *h, uint64_t addr, uint32_t bytes,
                            uint8_t type)
{
    NvmeSqe sqe = host_rw(h, NVME_IO_READ, 0, 2, addr);

    sqe.dw[0] |= 1 << 14;
    sqe.dw[8] = bytes;
    sqe.dw[9] = (uint32_t)type << 24;
    return host_code(host_do(h, 1, &sqe).status);
}

static void test_data(void)
{
    Host *h = ready();
    NvmeSqe sqe = host_sqe(NVME_ADM_CREATE_CQ, 0, CBA);

    memset(h->pmr, 0x5a, 4096);
    g_assert_cmphex(io_at(h, NVME_IO_WRITE, CBA, 8), ==, 0);
    g_assert_cmphex(io_at(h, NVME_IO_READ, CBA + 0x8000, 8), ==, 0);
    g_assert_cmpmem(h->pmr + 0x8000, 4096, h->pmr, 4096);
    g_assert_cmphex(io_at(h, NVME_IO_READ, CBA + PMR_BYTES - 4096, 8), ==, 0);
    sqe.dw[10] = 2 | 63 << 16;
    sqe.dw[11] = 1;
    g_assert_cmphex(host_code(host_do(h, 0, &sqe).status), ==,
                    NVME_SC_INVALID_FIELD);
    /* Lists are not there: of PRPs, of SGL descriptors. */
    sqe = host_rw(h, NVME_IO_READ, 0, 32, HOST_DATA);
    sqe.dw[8] = (uint32_t)CBA;
    sqe.dw[9] = (uint32_t)(CBA >> 32);
    g_assert_cmphex(host_code(host_do(h, 1, &sqe).status), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(read_by_sgl(h, CBA, 16, 0x30), ==, NVME_SC_INVALID_FIELD);
    /* Data across its end. */
    g_assert_cmphex(read_by_sgl(h, CBA + PMR_BYTES - 512, 1024, 0), ==,
                    NVME_SC_INVALID_CMB);
    g_assert_cmphex(read_by_sgl(h, CBA + PMR_BYTES - 1024, 1024, 0), ==, 0);
    place(h, 0); /* not the controller's any more */
    g_assert_cmphex(io_at(h, NVME_IO_READ, CBA, 8), ==, NVME_SC_DATA_TRANSFER);
    host_free(h);
}

/* The content stays; the registers survive CC.EN alone. */
static void test_resets(void)
{
    Host *h = ready();

    h->pmr[100] = 9;
    host_write32(h, NVME_REG_CC, 0);
    g_assert_cmphex(host_read32(h, NVME_REG_PMRCTL), ==, EN);
    g_assert_cmphex(host_read32(h, NVME_REG_PMRMSCL), ==, CMSE);
    nvme_power_cut(h->ctrl, h->now_ns);
    g_assert_false(h->bar_shown[4]);
    nvme_power_on(h->ctrl, h->now_ns);
    g_assert_cmphex(host_read32(h, NVME_REG_PMRCTL), ==, 0);
    g_assert_cmphex(host_read32(h, NVME_REG_PMRSTS), ==, NRDY);
    host_write32(h, NVME_REG_PMRCTL, EN);
    g_assert_cmpint(h->pmr[100], ==, 9);
    nvme_reset(h->ctrl, h->now_ns);
    g_assert_cmphex(host_read32(h, NVME_REG_PMRCTL), ==, 0);
    g_assert_cmpint(h->pmr[100], ==, 9);
    host_free(h);
}

static void test_saved(void)
{
    HostOptions o = {.pmr_bytes = PMR_BYTES, .sgl = true};
    g_autoptr(GByteArray) drive = NULL;
    g_autoptr(GByteArray) ctrl = NULL;
    GError *error = NULL;
    Host *h = ready();
    Host *to;

    memset(h->pmr, 3, 4096);
    host_settle(h);
    host_save(h, &drive, &ctrl);
    to = host_load(&o, h, drive, ctrl, &error);
    g_assert_no_error(error);
    host_free(h);
    nvme_hold(to->ctrl, false);
    g_assert_true(to->bar_shown[4]);
    g_assert_cmphex(io_at(to, NVME_IO_WRITE, CBA, 8), ==, 0);
    g_assert_cmphex(io_at(to, NVME_IO_READ, HOST_DATA, 8), ==, 0);
    g_assert_cmpint(to->ram[HOST_DATA + 4095], ==, 3);
    host_free(to);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/pmr/sanitize", test_sanitize);
    g_test_add_func("/nvme/pmr/registers", test_registers);
    g_test_add_func("/nvme/pmr/barrier", test_barrier);
    g_test_add_func("/nvme/pmr/data", test_data);
    g_test_add_func("/nvme/pmr/resets", test_resets);
    g_test_add_func("/nvme/pmr/saved", test_saved);
    return g_test_run();
}
