/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-admin.c - registers and admin commands: what they do, and the exact
 * status of every field that is wrong.
 */
#include "host.h"

#define DNR NVME_SC_DNR
#define MORE NVME_SC_MORE

static Host *enabled(void)
{
    Host *h = host_new(NULL);

    host_enable(h);
    return h;
}

static HostCqe admin(Host *h, uint8_t opcode, uint32_t nsid, uint64_t prp1,
                     uint32_t dw10, uint32_t dw11)
{
    NvmeSqe sqe = host_sqe(opcode, nsid, prp1);

    sqe.dw[10] = dw10;
    sqe.dw[11] = dw11;
    return host_do(h, 0, &sqe);
}

static uint16_t admin_code(Host *h, uint8_t opcode, uint32_t nsid,
                           uint64_t prp1, uint32_t dw10, uint32_t dw11)
{
    HostCqe cqe = admin(h, opcode, nsid, prp1, dw10, dw11);

    if (cqe.status) { /* every failure is in the error log */
        g_assert_cmphex(cqe.status & MORE, ==, MORE);
    }
    return host_code(cqe.status);
}

/* ---- registers ---------------------------------------------------------- */

static void test_registers(void)
{
    Host *h = host_new(NULL);
    uint64_t cap = nvme_reg_read(h->ctrl, NVME_REG_CAP, 8);

    g_assert_cmpuint(cap & 0xffff, ==, 1023); /* MQES */
    g_assert_true(cap >> 16 & 1);             /* CQR */
    g_assert_cmpuint(cap >> 17 & 3, ==, 1);   /* AMS: weighted round robin */
    g_assert_cmpuint(cap >> 32 & 0xf, ==, 0); /* DSTRD */
    g_assert_true(cap >> 37 & 1);             /* NVM command set */
    g_assert_cmphex(host_read32(h, 4), ==, cap >> 32);
    g_assert_cmphex(host_read32(h, NVME_REG_VS), ==, 0x00020000);
    g_assert_cmpuint(cap >> 59 & 3, ==, 1); /* CRMS: with media */
    g_assert_cmpuint(host_read32(h, NVME_REG_CRTO), ==, cap >> 24 & 0xff);

    /* Both halves of a 64-bit register, and both at once. */
    host_write32(h, NVME_REG_ASQ, 0x12345fff);
    host_write32(h, NVME_REG_ASQ + 4, 0x9abcdef0);
    g_assert_cmphex(nvme_reg_read(h->ctrl, NVME_REG_ASQ, 8), ==,
                    0x9abcdef012345000ULL);
    nvme_reg_write(h->ctrl, 0, NVME_REG_ACQ, 0x1122334455667788ULL, 8);
    g_assert_cmphex(host_read32(h, NVME_REG_ACQ), ==, 0x55667000);
    g_assert_cmphex(host_read32(h, NVME_REG_ACQ + 4), ==, 0x11223344);

    /* Sizes and offsets that are not defined. */
    g_assert_cmphex(nvme_reg_read(h->ctrl, NVME_REG_VS, 2), ==, 0);
    g_assert_cmphex(nvme_reg_read(h->ctrl, NVME_REG_VS + 2, 4), ==, 0);
    g_assert_cmphex(nvme_reg_read(h->ctrl, NVME_REG_VS + 4, 8), ==, 0);
    g_assert_cmphex(nvme_reg_read(h->ctrl, 0x800, 4), ==, 0);
    g_assert_cmphex(nvme_reg_read(h->ctrl, NVME_REG_SIZE, 4), ==, 0);
    g_assert_cmphex(nvme_reg_read(h->ctrl, UINT64_MAX - 3, 4), ==, 0);
    nvme_reg_write(h->ctrl, 0, NVME_REG_AQA, 0x1f001f, 2);
    g_assert_cmphex(host_read32(h, NVME_REG_AQA), ==, 0);

    /* Masks are set and cleared by ones. */
    host_write32(h, NVME_REG_INTMS, 0x5);
    host_write32(h, NVME_REG_INTMS, 0x8);
    g_assert_cmphex(host_read32(h, NVME_REG_INTMC), ==, 0xd);
    host_write32(h, NVME_REG_INTMC, 0x4);
    g_assert_cmphex(host_read32(h, NVME_REG_INTMS), ==, 0x9);
    host_free(h);
}

static void test_frozen_while_enabled(void)
{
    Host *h = enabled();

    host_write32(h, NVME_REG_AQA, 0);
    host_write32(h, NVME_REG_ASQ, 0xdead0000);
    g_assert_cmphex(host_read32(h, NVME_REG_AQA), ==, 31 << 16 | 31);
    g_assert_cmphex(host_read32(h, NVME_REG_ASQ), ==, HOST_ADMIN_SQ);
    /* A controller reset keeps them, a function reset does not. */
    host_write32(h, NVME_REG_CC, 0);
    g_assert_cmphex(host_read32(h, NVME_REG_AQA), ==, 31 << 16 | 31);
    nvme_reset(h->ctrl, h->now_ns);
    g_assert_cmphex(host_read32(h, NVME_REG_AQA), ==, 0);
    g_assert_cmphex(host_read32(h, NVME_REG_CC), ==, 0);
    host_free(h);
}

/* Set-ups of the admin queues that cannot be: fatal, until it is reset. */
static void test_fatal(void)
{
    static const struct {
        uint32_t aqa;
        uint64_t asq;
        uint64_t acq;
        uint32_t cc;
    } bad[] = {
        {31 << 16 | 0, 0x1000, 0x2000, 0x00460001},
        {0 << 16 | 31, 0x1000, 0x2000, 0x00460001},
        {31 << 16 | 31, 0x1000, 0x2000, 0x00460011},   /* CSS 1 */
        {31 << 16 | 31, 0x1000, 0x2000, 0x00460071},   /* CSS 7 */
        {31 << 16 | 31, 0x1000, 0x2000, 0x00461001},   /* AMS 2 */
        {31 << 16 | 31, 0x10000, 0x20000, 0x00460281}, /* MPS 5 */
        {31 << 16 | 31, 0x1000, 0x2000, 0x00460081},   /* 8 KiB pages */
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        Host *h = host_new(NULL);

        host_write32(h, NVME_REG_AQA, bad[i].aqa);
        nvme_reg_write(h->ctrl, 0, NVME_REG_ASQ, bad[i].asq, 8);
        nvme_reg_write(h->ctrl, 0, NVME_REG_ACQ, bad[i].acq, 8);
        host_write32(h, NVME_REG_CC, bad[i].cc);
        host_run(h);
        g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_CFS);
        host_write32(h, NVME_REG_DOORBELLS, 1);
        host_run(h);
        host_write32(h, NVME_REG_CC, 0);
        g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, 0);
        host_enable(h);
        host_free(h);
    }
}

/* Admin queues outside the memory: found out when they are used. */
static void test_fatal_dma(void)
{
    for (unsigned which = 0; which < 2; which++) {
        Host *h = host_new(NULL);
        NvmeSqe sqe = host_sqe(NVME_ADM_IDENTIFY, 0, HOST_DATA);

        host_enable(h);
        host_write32(h, NVME_REG_CC, 0);
        nvme_reg_write(h->ctrl, 0, which ? NVME_REG_ACQ : NVME_REG_ASQ,
                       0xfffffffffffff000ULL, 8);
        host_write32(h, NVME_REG_CC, 0x00460001);
        h->q[0].sq_tail = 0;
        host_send(h, 0, &sqe);
        host_run(h);
        g_assert_true(host_read32(h, NVME_REG_CSTS) & NVME_CSTS_CFS);
        host_write32(h, NVME_REG_CC, 0);
        nvme_reg_write(h->ctrl, 0, NVME_REG_ASQ, HOST_ADMIN_SQ, 8);
        nvme_reg_write(h->ctrl, 0, NVME_REG_ACQ, HOST_ADMIN_CQ, 8);
        host_enable(h);
        host_free(h);
    }
}

static void test_shutdown(void)
{
    Host *h = enabled();

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    memset(h->ram + HOST_DATA, 0x5a, 4096);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 8, HOST_DATA), ==, 0);
    host_write32(h, NVME_REG_CC, 0x00464001);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==,
                    NVME_CSTS_RDY | NVME_CSTS_SHST_BUSY);
    while (host_step(h)) {
    }
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==,
                    NVME_CSTS_RDY | NVME_CSTS_SHST_DONE);
    g_assert_cmpuint(h->flushes, ==, 1);
    g_assert_cmpuint(h->disk[4095], ==, 0x5a);
    host_write32(h, NVME_REG_CC, 0);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, 0);
    host_free(h);
}

/* A reset in the middle of a shutdown: the next one is not done early. */
static void test_shutdown_reset(void)
{
    Host *h = host_new(&(HostOptions){ .slow = true });

    host_enable(h);
    host_write32(h, NVME_REG_CC, 0x00464001);
    host_write32(h, NVME_REG_CC, 0);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, 0);
    while (host_step(h)) {
    }
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, 0);
    host_enable(h);
    host_write32(h, NVME_REG_CC, 0x00468001); /* abrupt */
    while (host_step(h)) {
    }
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==,
                    NVME_CSTS_RDY | NVME_CSTS_SHST_DONE);
    host_free(h);
}

/* ---- identify ----------------------------------------------------------- */

static void test_identify_controller(void)
{
    Host *h = enabled();
    uint8_t *d = h->ram + HOST_DATA;

    g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 0, HOST_DATA, 1, 0), ==,
                    0);
    g_assert_cmphex(get_le16(d), ==, 0x1b36);
    g_assert_cmphex(get_le16(d + 2), ==, 0x1af4);
    g_assert_cmpmem(d + 4, 20, "TEST0001            ", 20);
    g_assert_cmpmem(d + 24, 40, "vssd test drive                         ",
                    40);
    g_assert_cmpmem(d + 64, 8, "1.0     ", 8);
    g_assert_cmpuint(d[77], ==, 7);
    g_assert_cmphex(get_le32(d + 80), ==, host_read32(h, NVME_REG_VS));
    g_assert_cmpuint(d[111], ==, 1); /* CNTRLTYPE */
    g_assert_cmphex(get_le16(d + 256), ==, 0x316);
    g_assert_cmpuint(d[259], ==, 3);
    g_assert_cmphex(d[512], ==, 0x66);
    g_assert_cmphex(d[513], ==, 0x44);
    g_assert_cmpuint(get_le32(d + 516), ==, 1);
    g_assert_cmphex(d[525], ==, 7);
    g_assert_cmpuint(get_le16(d + 526), ==, 7); /* AWUN: a unit */
    g_assert_cmpuint(get_le16(d + 528), ==, 0); /* AWUPF: a block */
    g_assert_true(g_str_has_prefix((char *)d + 768,
                                   "nqn.2014.08.org.nvmexpress:1b361af4TEST"));
    host_free(h);
}

static void test_identify_namespace(void)
{
    Host *h = host_new(&(HostOptions){ .nblocks = 12345 });
    uint8_t *d = h->ram + HOST_DATA;

    host_enable(h);
    g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 1, HOST_DATA, 0, 0), ==,
                    0);
    g_assert_cmpuint(get_le64(d), ==, 12345);
    g_assert_cmpuint(get_le64(d + 8), ==, 12345);
    g_assert_cmphex(d[24], ==, 0x16);
    g_assert_cmphex(d[33], ==, 0x09);
    g_assert_cmpuint(get_le16(d + 36), ==, 7);  /* NAWUPF */
    g_assert_cmpuint(get_le16(d + 44), ==, 7);  /* NABSPF */
    g_assert_cmpuint(get_le16(d + 68), ==, 7);  /* NPDG */
    g_assert_cmpuint(get_le16(d + 72), ==, 31); /* NOWS: a 16 KiB page */
    g_assert_cmphex(d[120], ==, 0x01);          /* EUI-64, big-endian */
    g_assert_cmphex(d[127], ==, 0xef);
    g_assert_cmpuint(d[130], ==, 9); /* LBADS */
    g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 1, HOST_DATA, 0x11, 0),
                    ==, 0);
    g_assert_cmpuint(get_le64(d), ==, 12345);
    host_free(h);
}

static void test_identify_lists(void)
{
    Host *h = enabled();
    uint8_t *d = h->ram + HOST_DATA;

    for (unsigned cns = 0x02; cns <= 0x10; cns += 0x0e) {
        g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 0, HOST_DATA, cns, 0),
                        ==, 0);
        g_assert_cmpuint(get_le32(d), ==, 1);
        g_assert_cmpuint(get_le32(d + 4), ==, 0);
        g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 1, HOST_DATA, cns, 0),
                        ==, 0);
        g_assert_cmpuint(get_le32(d), ==, 0);
        g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 0xfffffffe, HOST_DATA,
                                   cns, 0), ==, NVME_SC_INVALID_NSID);
    }
    g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 1, HOST_DATA, 3, 0), ==,
                    0);
    g_assert_cmpuint(d[0], ==, 1); /* EUI-64 */
    g_assert_cmpuint(d[1], ==, 8);
    g_assert_cmpuint(d[12], ==, 3); /* UUID */
    g_assert_cmpuint(d[13], ==, 16);
    g_assert_cmpuint(d[32], ==, 0); /* the end */
    g_assert_cmpuint(d[33], ==, 0);
    g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 0, HOST_DATA, 0x13, 0),
                    ==, 0);
    g_assert_cmpuint(get_le16(d), ==, 1);
    g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 1, HOST_DATA,
                               0x12 | 2 << 16, 0), ==, 0);
    g_assert_cmpuint(get_le16(d), ==, 0); /* none from 2 on */
    host_free(h);
}

static void test_identify_bad(void)
{
    Host *h = enabled();
    NvmeSqe sqe;

    g_assert_cmphex(admin(h, NVME_ADM_IDENTIFY, 0, HOST_DATA, 0x17, 0).status,
                    ==, NVME_SC_INVALID_FIELD | DNR | MORE);
    g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 0, HOST_DATA, 0, 0), ==,
                    NVME_SC_INVALID_NSID);
    g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 2, HOST_DATA, 0, 0), ==,
                    NVME_SC_INVALID_NSID);
    g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, NVME_NSID_ALL, HOST_DATA,
                               0, 0), ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 0, HOST_DATA, 3, 0), ==,
                    NVME_SC_INVALID_NSID);
    g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 2, HOST_DATA, 0x12, 0),
                    ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 0, HOST_DATA + 1, 1, 0),
                    ==, NVME_SC_PRP_OFFSET);
    g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 0, HOST_RAM_BYTES, 1, 0),
                    ==, NVME_SC_DATA_TRANSFER);
    /* The second page matters only if the data reaches it. */
    sqe = host_sqe(NVME_ADM_IDENTIFY, 0, HOST_DATA);
    sqe.dw[10] = 1;
    sqe.dw[8] = 0x123;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    sqe.dw[6] += 4;
    g_assert_cmphex(host_code(host_do(h, 0, &sqe).status), ==,
                    NVME_SC_PRP_OFFSET);
    sqe.dw[0] |= 1 << 8; /* fused */
    g_assert_cmphex(host_code(host_do(h, 0, &sqe).status), ==,
                    NVME_SC_INVALID_FIELD);
    sqe = host_sqe(NVME_ADM_IDENTIFY, 0, HOST_DATA);
    sqe.dw[0] |= 1 << 14; /* SGL */
    g_assert_cmphex(host_code(host_do(h, 0, &sqe).status), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(admin(h, 0x0d, 0, 0, 0, 0).status, ==,
                    NVME_SC_INVALID_OPCODE | DNR | MORE);
    g_assert_cmphex(admin_code(h, 0xff, 0, 0, 0, 0), ==,
                    NVME_SC_INVALID_OPCODE);
    host_free(h);
}

/* Structures of the NVM command set: the controller reports the limits of
 * Verify and Write Uncorrectable, and else takes what the fields allow. */
static void test_identify_nvm(void)
{
    Host *h = enabled();
    uint8_t *d = h->ram + HOST_DATA;
    static const uint8_t zeroes[4096];
    static const uint8_t limits[4096] = {7, 0, 7};
    NvmeSqe sqe;

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    for (unsigned cns = 5; cns <= 7; cns++) {
        g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 1, HOST_DATA, cns,
                                   1 << 24), ==, NVME_SC_INVALID_FIELD);
    }
    memset(d, 0xee, 4096);
    g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 0, HOST_DATA, 6, 0), ==, 0);
    g_assert_cmpmem(d, 4096, limits, 4096);
    memset(d, 0xee, 4096);
    g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 1, HOST_DATA, 5, 0), ==, 0);
    g_assert_cmpmem(d, 4096, zeroes, 4096);
    g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 2, HOST_DATA, 5, 0), ==,
                    NVME_SC_INVALID_NSID);
    g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 0, HOST_DATA, 7, 0), ==, 0);
    g_assert_cmpuint(get_le32(d), ==, 1);
    g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 1, HOST_DATA, 8, 0), ==, 0);
    g_assert_cmpuint(d[14], ==, 1); /* ready */
    g_assert_cmphex(admin_code(h, NVME_ADM_IDENTIFY, 0, HOST_DATA, 8, 0), ==,
                    NVME_SC_INVALID_NSID);
    /* As many ranges as there can be, each of all of the drive. */
    for (unsigned i = 0; i < 256; i++) {
        put_le64(d + 16 * i, (uint64_t)(h->nblocks) << 32);
        put_le64(d + 16 * i + 8, 0);
    }
    sqe = host_sqe(NVME_IO_DSM, 1, HOST_DATA);
    sqe.dw[10] = 255;
    sqe.dw[11] = 4;
    g_assert_cmphex(host_do(h, 1, &sqe).status, ==, 0);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE_ZEROES, 0,
                            (uint32_t)MIN(h->nblocks, 65536), 0), ==, 0);
    host_free(h);
}

static void probe(Host *h, uint8_t opcode, uint32_t nsid, uint32_t dw10,
                  uint32_t dw11)
{
    g_assert_cmphex(admin(h, opcode, nsid, HOST_DATA, dw10, dw11).status, ==, 0);
}

static void log_is_empty(Host *h)
{
    probe(h, NVME_ADM_GET_LOG_PAGE, NVME_NSID_ALL, 1023U << 16 | 0x01, 0);
    g_assert_cmpuint(get_le64(h->ram + HOST_DATA), ==, 0);
    probe(h, NVME_ADM_GET_LOG_PAGE, NVME_NSID_ALL, 127 << 16 | 0x02, 0);
    g_assert_cmpuint(get_le64(h->ram + HOST_DATA + 176), ==, 0);
}

/* What Linux 5.10 to 7.0 sends when it finds a controller, with options of the
 * drive that make it ask for more: nothing of it is refused, so that the error log
 * stays empty. */
static void linux_probes(const char *options)
{
    Host *h = host_new(&(HostOptions){ .set = options });
    bool fdp;

    host_enable(h);
    for (unsigned resets = 0; resets < 2; resets++) {
        /* nvme_init_ctrl_finish() */
        probe(h, NVME_ADM_IDENTIFY, 0, 0x01, 0);
        fdp = get_le32(h->ram + HOST_DATA + 96) & 1U << 19;
        probe(h, NVME_ADM_GET_LOG_PAGE, NVME_NSID_ALL, 1023U << 16 | 0x05, 0);
        probe(h, NVME_ADM_IDENTIFY, 0, 0x06, 0);
        memset(h->ram + HOST_DATA, 0, 8);
        probe(h, NVME_ADM_SET_FEATURES, 0, 0x0e, 0);
        /* Temperatures, of hwmon: both thresholds. */
        probe(h, NVME_ADM_GET_LOG_PAGE, NVME_NSID_ALL, 127 << 16 | 0x02, 0);
        probe(h, NVME_ADM_GET_FEATURES, 0, 0x04, 0);
        probe(h, NVME_ADM_GET_FEATURES, 0, 0x04, 1 << 20);
        g_assert_cmphex(host_shadow_config(h), ==, 0);
        probe(h, NVME_ADM_SET_FEATURES, 0, 0x07, 7 << 16 | 7);
        g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
        host_send(h, 0, &(NvmeSqe){ .dw = { NVME_ADM_ASYNC_EVENT } });
        host_run(h);
        probe(h, NVME_ADM_GET_LOG_PAGE, NVME_NSID_ALL, 127 << 16 | 0x03, 0);
        /* nvme_scan_work() */
        probe(h, NVME_ADM_IDENTIFY, 0, 0x02, 0);
        probe(h, NVME_ADM_IDENTIFY, 1, 0x03, 0);
        probe(h, NVME_ADM_IDENTIFY, 1, 0x08, 0);
        probe(h, NVME_ADM_IDENTIFY, 1, 0x00, 0);
        probe(h, NVME_ADM_IDENTIFY, 1, 0x05, 0);
        if (fdp) { /* nvme_query_fdp_info() */
            probe(h, NVME_ADM_GET_FEATURES, 0, 0x1d, 1);
            probe(h, NVME_ADM_GET_LOG_PAGE, NVME_NSID_ALL, 127 << 16 | 0x20,
                  1 << 16);
            g_assert_cmphex(host_do(h, 1, &(NvmeSqe){ .dw = {
                                NVME_IO_MGMT_RECEIVE, 1, [6] = HOST_DATA,
                                [10] = 1, [11] = 3 } }).status, ==, 0);
        }
        probe(h, NVME_ADM_IDENTIFY, 1, 0x02, 0);
        log_is_empty(h);
        host_write32(h, NVME_REG_CC, 0);
        h->cq[1].size = 0;
        host_enable(h);
    }
    host_free(h);
}

static void test_linux_probes(void)
{
    linux_probes(NULL);
    linux_probes("buffer.plp=on");
    linux_probes("streams.max=4;nand.blocks=64;ftl.op_percent=120%");
    linux_probes("fdp.ruhs=4;nand.blocks=64;ftl.op_percent=120%");
}

/* ---- features ----------------------------------------------------------- */

static HostCqe get_feature(Host *h, uint32_t dw10, uint32_t dw11)
{
    return admin(h, NVME_ADM_GET_FEATURES, 1, HOST_DATA, dw10, dw11);
}

static uint16_t set_feature(Host *h, uint32_t nsid, uint32_t dw10,
                            uint32_t dw11)
{
    return admin_code(h, NVME_ADM_SET_FEATURES, nsid, HOST_DATA, dw10, dw11);
}

static void test_features_values(void)
{
    /* id, default, a value to set */
    static const uint32_t row[][3] = {
        { 0x01, 5, 0x01020303 }, { 0x02, 0, 0x20 },      { 0x04, 343, 350 },
        { 0x05, 0, 0x1234 },     { 0x06, 1, 0 },         { 0x08, 0, 0x0203 },
        { 0x0a, 0, 1 },          { 0x0b, 0, 0x1f },
    };
    Host *h = enabled();

    for (unsigned i = 0; i < G_N_ELEMENTS(row); i++) {
        uint32_t id = row[i][0];
        uint32_t nsid = id == 5 ? 1 : 0;

        g_assert_cmphex(get_feature(h, id, 0).dw0, ==, row[i][1]);
        g_assert_cmphex(set_feature(h, nsid, id, row[i][2]), ==, 0);
        g_assert_cmphex(get_feature(h, id, 0).dw0, ==, row[i][2]);
        g_assert_cmphex(get_feature(h, id | 1 << 8, 0).dw0, ==, row[i][1]);
        g_assert_cmphex(get_feature(h, id | 2 << 8, 0).dw0, ==, row[i][1]);
        g_assert_cmphex(get_feature(h, id | 3 << 8, 0).dw0, ==,
                        id == 5   ? 7
                        : id == 2 ? 4
                                  : 5);
    }
    for (unsigned i = 0; i < 2; i++) { /* power state, timestamp */
        g_assert_cmphex(set_feature(h, 0, (i ? 0x0e : 0x02) | 1U << 31, 0), ==,
                        NVME_SC_FEATURE_NOT_SAVEABLE);
    }
    host_write32(h, NVME_REG_CC, 0);
    host_enable(h);
    for (unsigned i = 0; i < G_N_ELEMENTS(row); i++) {
        g_assert_cmphex(get_feature(h, row[i][0], 0).dw0, ==, row[i][1]);
    }
    host_free(h);
}

/* A machine that wants no volatile cache gets a drive whose cache is off. */
static void test_write_through(void)
{
    Host *h = host_new(&(HostOptions){ .write_through = true });

    host_enable(h);
    g_assert_cmphex(get_feature(h, 0x06, 0).dw0, ==, 0);
    g_assert_cmphex(get_feature(h, 0x06 | 1 << 8, 0).dw0, ==, 0); /* default */
    g_assert_cmphex(host_create_queues(h, 1, 1, 16), ==, 0);
    memset(h->ram + HOST_DATA, 0x5a, 4096);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 8, HOST_DATA), ==, 0);
    g_assert_cmpuint(h->disk[4095], ==, 0x5a); /* without a Flush */
    g_assert_cmphex(set_feature(h, 0, 0x06, 1), ==, 0);
    g_assert_cmphex(get_feature(h, 0x06, 0).dw0, ==, 1);
    host_free(h);

    /* With power-loss protection no cache is volatile. */
    h = host_new(&(HostOptions){ .write_through = true, .set = "buffer.plp=on" });
    host_enable(h);
    g_assert_cmphex(host_code(get_feature(h, 0x06, 0).status), ==,
                    NVME_SC_INVALID_FIELD);
    host_free(h);
}

static void test_features_bad(void)
{
    Host *h = enabled();

    g_assert_cmphex(host_code(get_feature(h, 0x0c, 0).status), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(host_code(get_feature(h, 0x06 | 4 << 8, 0).status), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set_feature(h, 0, 0x0c, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set_feature(h, 0, 0x02, 1), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set_feature(h, 1, 0x05, 1 << 17), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set_feature(h, 2, 0x05, 0), ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(set_feature(h, 1, 0x06, 0), ==, NVME_SC_FEATURE_NOT_NS);
    g_assert_cmphex(set_feature(h, 7, 0x06, 0), ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(set_feature(h, 0, 0x04, 1 << 16), ==,
                    NVME_SC_INVALID_FIELD); /* sensor 1 */
    g_assert_cmphex(set_feature(h, 0, 0x04, 2 << 20), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(host_code(get_feature(h, 0x04, 0xf << 16).status), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set_feature(h, 0, 0x09, 65), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(host_code(get_feature(h, 0x09, 65).status), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set_feature(h, 0, 0x09, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(host_code(admin(h, NVME_ADM_GET_FEATURES, 2, 0, 5, 0)
                                  .status), ==, NVME_SC_INVALID_NSID);
    host_free(h);
}

static void test_number_of_queues(void)
{
    Host *h = enabled();
    HostCqe cqe;

    g_assert_cmphex(set_feature(h, 0, 0x07, 0xffff0000), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set_feature(h, 0, 0x07, 0x0000ffff), ==,
                    NVME_SC_INVALID_FIELD);
    cqe = admin(h, NVME_ADM_SET_FEATURES, 0, 0, 0x07, 0x003f003f);
    g_assert_cmphex(cqe.status, ==, 0);
    g_assert_cmphex(cqe.dw0, ==, 0x00070007);
    g_assert_cmphex(get_feature(h, 0x07, 0).dw0, ==, 0x00070007);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    g_assert_cmphex(set_feature(h, 0, 0x07, 0x00010001), ==,
                    NVME_SC_COMMAND_SEQUENCE);
    host_free(h);
}

static void test_timestamp_and_host_id(void)
{
    Host *h = enabled();
    uint8_t *d = h->ram + HOST_DATA;

    g_assert_cmphex(get_feature(h, 0x0e, 0).status, ==, 0);
    g_assert_cmpuint(d[6], ==, 0);
    put_le64(d, 0x0000123456789abcULL);
    g_assert_cmphex(set_feature(h, 0, 0x0e, 0), ==, 0);
    host_sleep(h, 5000000);
    g_assert_cmphex(get_feature(h, 0x0e, 0).status, ==, 0);
    g_assert_cmphex(get_le64(d), ==, 0x0002123456789abcULL + 5);
    for (unsigned i = 0; i < 16; i++) {
        d[i] = i + 1;
    }
    g_assert_cmphex(set_feature(h, 0, 0x81, 1), ==, 0);
    memset(d, 0, 16);
    g_assert_cmphex(get_feature(h, 0x81, 0).status, ==, 0);
    g_assert_cmpuint(d[7], ==, 8);
    g_assert_cmpuint(d[8], ==, 0);
    g_assert_cmphex(get_feature(h, 0x81, 1).status, ==, 0);
    g_assert_cmpuint(d[15], ==, 16);
    host_free(h);
}

/* ---- logs --------------------------------------------------------------- */

static uint16_t get_log(Host *h, uint8_t id, uint32_t bytes, uint64_t offset)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_GET_LOG_PAGE, NVME_NSID_ALL, 0);
    uint32_t numd = bytes / 4 - 1;

    host_map(h, &sqe, HOST_DATA, bytes);
    sqe.dw[10] = id | (numd & 0xffff) << 16;
    sqe.dw[11] = numd >> 16;
    sqe.dw[12] = (uint32_t)offset;
    sqe.dw[13] = offset >> 32;
    return host_code(host_do(h, 0, &sqe).status);
}

static void test_error_log(void)
{
    Host *h = enabled();
    uint8_t *d = h->ram + HOST_DATA;
    NvmeSqe sqe;

    g_assert_cmphex(get_log(h, 1, 4096, 0), ==, 0);
    g_assert_cmpuint(get_le64(d), ==, 0);
    g_assert_cmphex(admin_code(h, 0xf0, 0, 0, 0, 0), ==,
                    NVME_SC_INVALID_OPCODE);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    sqe = host_rw(h, NVME_IO_READ, h->nblocks, 1, HOST_DATA);
    sqe.dw[0] |= 0x4321U << 16;
    g_assert_cmphex(host_do(h, 1, &sqe).status, ==,
                    NVME_SC_LBA_RANGE | DNR | MORE);
    g_assert_cmphex(get_log(h, 1, 4096, 0), ==, 0);
    g_assert_cmpuint(get_le64(d), ==, 2); /* newest first */
    g_assert_cmpuint(get_le16(d + 8), ==, 1);
    g_assert_cmphex(get_le16(d + 10), ==, 0x4321);
    g_assert_cmphex(get_le16(d + 12), ==,
                    (NVME_SC_LBA_RANGE | DNR | MORE) << 1);
    g_assert_cmpuint(get_le64(d + 16), ==, h->nblocks);
    g_assert_cmpuint(get_le32(d + 24), ==, 1);
    g_assert_cmpuint(get_le64(d + 64), ==, 1);
    g_assert_cmpuint(get_le64(d + 128), ==, 0);
    /* Its second entry alone, by offset. */
    g_assert_cmphex(get_log(h, 1, 64, 64), ==, 0);
    g_assert_cmpuint(get_le64(d), ==, 1);
    for (unsigned i = 0; i < 100; i++) {
        admin_code(h, 0xf0, 0, 0, 0, 0);
    }
    g_assert_cmphex(get_log(h, 1, 4096, 0), ==, 0);
    g_assert_cmpuint(get_le64(d), ==, 102);
    g_assert_cmpuint(get_le64(d + 63 * 64), ==, 39);
    host_free(h);
}

static void test_smart_log(void)
{
    Host *h = enabled();
    uint8_t *d = h->ram + HOST_DATA;

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    for (unsigned i = 0; i < 10; i++) {
        g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, i * 256, 256, HOST_DATA),
                        ==, 0);
    }
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 0, 8, HOST_DATA), ==, 0);
    g_assert_cmphex(host_io(h, 1, NVME_IO_COMPARE, 0, 8, HOST_DATA), ==, 0);
    g_assert_cmphex(get_log(h, 2, 512, 0), ==, 0);
    g_assert_cmpuint(d[0], ==, 0);
    g_assert_cmpuint(get_le16(d + 1), ==, 313);
    g_assert_cmpuint(get_le64(d + 32), ==, 1); /* 8 KiB, rounded up */
    g_assert_cmpuint(get_le64(d + 48), ==, 3); /* 2560 blocks */
    g_assert_cmpuint(get_le64(d + 64), ==, 2);
    g_assert_cmpuint(get_le64(d + 80), ==, 10);
    g_assert_cmpuint(get_le64(d + 112), ==, 1);
    g_assert_cmpuint(get_le64(d + 144), ==, 0);
    g_assert_cmpuint(get_le64(d + 176), ==, 0);
    /* A power cut is an unsafe shutdown, and a power cycle. */
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    host_sleep(h, 7200ULL * 1000000000);
    host_enable(h);
    g_assert_cmphex(get_log(h, 2, 512, 0), ==, 0);
    g_assert_cmpuint(get_le64(d + 112), ==, 2);
    g_assert_cmpuint(get_le64(d + 128), ==, 2);
    g_assert_cmpuint(get_le64(d + 144), ==, 1);
    host_free(h);
}

static void test_other_logs(void)
{
    Host *h = enabled();
    uint8_t *d = h->ram + HOST_DATA;

    g_assert_cmphex(get_log(h, 3, 512, 0), ==, 0);
    g_assert_cmpuint(d[0], ==, 1);
    g_assert_cmpmem(d + 8, 8, "1.0     ", 8);
    g_assert_cmphex(get_log(h, 5, 4096, 0), ==, 0);
    g_assert_cmphex(get_le32(d + 4 * NVME_ADM_IDENTIFY), ==, 1 | 1 << 21);
    g_assert_cmphex(get_le32(d + 4 * 0x0d), ==, 0);
    g_assert_cmphex(get_le32(d + 1024 + 4 * NVME_IO_WRITE), ==, 3 | 1 << 20);
    g_assert_cmphex(get_le32(d + 1024 + 4 * 0x06), ==, 0);

    /* Beyond the end: zeroes. */
    memset(d, 0xff, 8192);
    g_assert_cmphex(get_log(h, 3, 1024, 0), ==, 0);
    g_assert_cmpuint(d[0], ==, 1);
    g_assert_cmpuint(d[512], ==, 0);
    g_assert_cmpuint(d[1023], ==, 0);
    g_assert_cmpuint(d[1024], ==, 0xff);
    g_assert_cmphex(get_log(h, 3, 512, 512), ==, 0);
    g_assert_cmphex(get_log(h, 3, 512, 516), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(get_log(h, 3, 512, 2), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(get_log(h, 3, 512, 1ULL << 40), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(get_log(h, 4, 512, 0), ==, NVME_SC_INVALID_LOG_PAGE);
    /* More than MDTS. */
    g_assert_cmphex(get_log(h, 3, 0x80004, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(get_log(h, 3, 0x80000, 0), ==, 0);
    g_assert_cmphex(
        admin_code(h, NVME_ADM_GET_LOG_PAGE, 1, HOST_DATA, 2 | 127 << 16, 0),
        ==, 0);
    g_assert_cmphex(
        admin_code(h, NVME_ADM_GET_LOG_PAGE, 2, HOST_DATA, 2 | 127 << 16, 0),
        ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(admin_code(h, NVME_ADM_GET_LOG_PAGE, 0, HOST_DATA,
                               2 | 127 << 16, 0), ==, 0);
    g_assert_cmphex(admin_code(h, NVME_ADM_GET_LOG_PAGE, 0, HOST_DATA,
                               2 | 0xffffU << 16, 0xffff), ==,
                    NVME_SC_INVALID_FIELD);
    host_free(h);
}

/* ---- events, abort ------------------------------------------------------ */

static void test_events(void)
{
    Host *h = enabled();
    NvmeSqe aer = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);
    HostCqe cqe;
    uint16_t cid[4];

    for (unsigned i = 0; i < 4; i++) {
        cid[i] = host_send(h, 0, &aer);
    }
    g_assert_cmphex(host_do(h, 0, &aer).status, ==, NVME_SC_AER_LIMIT | MORE);

    host_write32(h, NVME_REG_DOORBELLS + 8 * 40, 1); /* no such queue */
    cqe = host_wait(h, 0);
    g_assert_cmpuint(cqe.cid, ==, cid[0]);
    g_assert_cmphex(cqe.status, ==, 0);
    g_assert_cmphex(cqe.dw0, ==, 0x00010000);
    /* Masked until the log is read, without RAE. */
    host_write32(h, NVME_REG_DOORBELLS + 8 * 40, 1);
    host_run(h);
    g_assert_false(host_poll(h, 0, &cqe));
    g_assert_cmphex(admin_code(h, NVME_ADM_GET_LOG_PAGE, 0, HOST_DATA,
                               1 | 1 << 15 | 15 << 16, 0), ==, 0);
    host_write32(h, NVME_REG_DOORBELLS, 32); /* the queue has 32 entries */
    host_run(h);
    g_assert_false(host_poll(h, 0, &cqe));
    g_assert_cmphex(admin_code(h, NVME_ADM_GET_LOG_PAGE, 0, HOST_DATA,
                               1 | 15 << 16, 0), ==, 0);
    host_write32(h, NVME_REG_DOORBELLS, 32);
    cqe = host_wait(h, 0);
    g_assert_cmpuint(cqe.cid, ==, cid[1]);
    g_assert_cmphex(cqe.dw0, ==, 0x00010100);

    /* A temperature threshold below the temperature. */
    g_assert_cmphex(set_feature(h, 0, 0x0b, 0x02), ==, 0);
    host_send(h, 0, &(NvmeSqe){ .dw = { NVME_ADM_SET_FEATURES, [10] = 0x04,
                                        [11] = 300 } });
    cqe = host_wait(h, 0);
    g_assert_cmpuint(cqe.cid, ==, cid[2]);
    g_assert_cmphex(cqe.dw0, ==, 0x00020101);
    cqe = host_wait(h, 0); /* the Set Features itself */
    g_assert_cmphex(cqe.status, ==, 0);
    g_assert_cmphex(get_log(h, 2, 512, 0), ==, 0);
    g_assert_cmphex(h->ram[HOST_DATA], ==, 0x02);

    /* The last one is aborted; there is nothing else to abort. */
    cqe = admin(h, NVME_ADM_ABORT, 0, 0, (uint32_t)cid[2] << 16, 0);
    g_assert_cmphex(cqe.dw0, ==, 1);
    host_send(h, 0, &(NvmeSqe){ .dw = { NVME_ADM_ABORT,
                                        [10] = (uint32_t)cid[3] << 16 } });
    cqe = host_wait(h, 0);
    g_assert_cmpuint(cqe.cid, ==, cid[3]);
    g_assert_cmphex(host_code(cqe.status), ==, NVME_SC_ABORT_REQUESTED);
    cqe = host_wait(h, 0);
    g_assert_cmphex(cqe.dw0, ==, 0);
    cqe = admin(h, NVME_ADM_ABORT, 0, 0, 0xffff, 0);
    g_assert_cmphex(cqe.status, ==, 0);
    g_assert_cmphex(cqe.dw0, ==, 1);
    host_free(h);
}

/* An event that happened while nobody asked is not lost. */
static void test_event_before_request(void)
{
    Host *h = enabled();
    HostCqe cqe;

    host_write32(h, NVME_REG_DOORBELLS + 8 * 40, 1);
    host_run(h);
    cqe = admin(h, NVME_ADM_ASYNC_EVENT, 0, 0, 0, 0);
    g_assert_cmphex(cqe.dw0, ==, 0x00010000);
    host_free(h);
}

static void test_config(void)
{
    Host *h = host_new(NULL);
    NvmeConfig good = {
        .serial = "S",
        .model = "M",
        .firmware = "F",
        .n_queues = 64,
        .n_vectors = 65,
        .queue_size = 65536,
        .mdts = 10,
        .nblocks = 1,
        .backlog = NVME_BACKLOG_MIN,
        .kv_cache = NVME_KV_CACHE,
        .firmware_slots = 7,
    };
    NvmeConfig bad[16];

    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        bad[i] = good;
    }
    bad[0].serial = "";
    bad[1].serial = "123456789012345678901";
    bad[2].model = "a\tb";
    bad[3].firmware = NULL;
    bad[4].n_queues = 65;
    bad[5].n_vectors = 0;
    bad[6].queue_size = 1;
    bad[7].mdts = 11;
    bad[8].nblocks = h->info->nblocks + 1;
    bad[9].backlog = NVME_BACKLOG_MIN - 1;
    bad[10].backlog = NVME_BACKLOG_MAX + 1;
    bad[11].firmware_slots = 8;
    bad[12].firmware_activation_ms = 60001;
    bad[13].firmware_slots = 0;
    bad[14].kv_cache = NVME_KV_CACHE_MIN - 1;
    bad[15].kv_cache = NVME_KV_CACHE_MAX + 1;
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_false(nvme_attach(h->ctrl, h->ssd, &bad[i], &error));
        g_assert_nonnull(error);
        g_assert_nonnull(strstr(error->message, "allowed"));
    }
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/admin/registers", test_registers);
    g_test_add_func("/nvme/admin/frozen", test_frozen_while_enabled);
    g_test_add_func("/nvme/admin/fatal", test_fatal);
    g_test_add_func("/nvme/admin/fatal-dma", test_fatal_dma);
    g_test_add_func("/nvme/admin/shutdown", test_shutdown);
    g_test_add_func("/nvme/admin/shutdown-reset", test_shutdown_reset);
    g_test_add_func("/nvme/admin/identify/controller",
                    test_identify_controller);
    g_test_add_func("/nvme/admin/identify/namespace", test_identify_namespace);
    g_test_add_func("/nvme/admin/identify/lists", test_identify_lists);
    g_test_add_func("/nvme/admin/identify/bad", test_identify_bad);
    g_test_add_func("/nvme/admin/identify/nvm", test_identify_nvm);
    g_test_add_func("/nvme/admin/linux-probes", test_linux_probes);
    g_test_add_func("/nvme/admin/features/values", test_features_values);
    g_test_add_func("/nvme/admin/write-through", test_write_through);
    g_test_add_func("/nvme/admin/features/bad", test_features_bad);
    g_test_add_func("/nvme/admin/features/queues", test_number_of_queues);
    g_test_add_func("/nvme/admin/features/data", test_timestamp_and_host_id);
    g_test_add_func("/nvme/admin/log/error", test_error_log);
    g_test_add_func("/nvme/admin/log/smart", test_smart_log);
    g_test_add_func("/nvme/admin/log/others", test_other_logs);
    g_test_add_func("/nvme/admin/events", test_events);
    g_test_add_func("/nvme/admin/event-before-request",
                    test_event_before_request);
    g_test_add_func("/nvme/admin/config", test_config);
    return g_test_run();
}
