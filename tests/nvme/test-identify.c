/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-identify.c - Identify structures of formats (CNS 09h, 0Ah) and of
 * allocated namespaces of any command set (1Fh), against those of namespaces.
 */
#include "admin.h"
#include "kv-wire.h"
#include "nvme-wire.h"
#include "zone-wire.h"

#define ZONED                                                                  \
    "nand.blocks=24;ftl.op_percent=0%;buffer.size=1MiB;buffer.plp=on;"         \
    "ftl.alloc=in-order;zones.enabled=on;zones.max_active=4;"                  \
    "zones.extension=1"

static uint16_t identify(Host *h, uint8_t cns, uint32_t nsid, uint32_t csi,
                         uint32_t index, void *data)
{
    uint16_t status;

    memset(admin_data(h), 0xee, 4096);
    status = admin_status(h, NVME_ADM_IDENTIFY, nsid,
                          ADMIN_DW(cns, csi << 24 | index), 4096);
    if (!status) {
        memcpy(data, admin_data(h), 4096);
    }
    return status;
}

/* 09h and 0Ah say of each format what a namespace of it says, but for what is
 * of that namespace alone. */
static void test_formats(void)
{
    Host *h = admin_host(&(HostOptions){
        .metadata = 8,
        .namespaces = "1M:512;1M:4096;1M:4096+64:pi=2:guard=64:extended"});
    NvmeIdNamespace ns, format, of_all;
    NvmeIdNvmNamespace nvm, nvm_format;

    g_assert_cmphex(identify(h, 0, NVME_NSID_ALL, 0, 0, &of_all), ==, 0);
    g_assert_cmpuint(of_all.nlbaf, >, 8);
    for (uint32_t nsid = 1; nsid <= 3; nsid++) {
        g_assert_cmphex(identify(h, 0, nsid, 0, 0, &ns), ==, 0);
        g_assert_cmphex(identify(h, 9, 0, 0, ns.flbas & 0xf, &format), ==, 0);
        g_assert_cmpmem(format.lbaf, sizeof(ns.lbaf), ns.lbaf, sizeof(ns.lbaf));
        g_assert_cmphex(format.nsze, ==, 0);
        g_assert_cmphex(format.flbas, ==, 0);
        g_assert_cmphex(format.dps, ==, 0);
        g_assert_cmpuint(format.nlbaf, ==, ns.nlbaf);
        g_assert_cmphex(format.dpc, ==, ns.dpc);
        g_assert_cmphex(format.npwg, ==, ns.npwg);
        g_assert_cmphex(format.mssrl, ==, ns.mssrl);
        g_assert_cmphex(format.mcl, ==, ns.mcl);
        g_assert_cmphex(identify(h, 5, nsid, 0, 0, &nvm), ==, 0);
        g_assert_cmphex(identify(h, 10, 0, 0, ns.flbas & 0xf, &nvm_format), ==,
                        0);
        g_assert_cmphex(nvm_format.lbstm, ==, 0);
        g_assert_cmphex(nvm_format.pic, ==, nvm.pic);
        g_assert_cmpmem(nvm_format.elbaf, sizeof(nvm.elbaf), nvm.elbaf,
                        sizeof(nvm.elbaf));
    }
    /* 512 and 4096 bytes differ in what is counted in blocks. */
    g_assert_cmphex(identify(h, 9, 0, 0, 0, &format), ==, 0);
    g_assert_cmphex(identify(h, 9, 0, 0, 1, &ns), ==, 0);
    g_assert_cmpuint(GUINT16_FROM_LE(format.mssrl), ==,
                     8 * GUINT16_FROM_LE(ns.mssrl));
    for (uint8_t cns = 9; cns <= 10; cns++) {
        g_assert_cmphex(identify(h, cns, 0, 0, of_all.nlbaf, &ns), ==, 0);
        g_assert_cmphex(identify(h, cns, 0, 0, of_all.nlbaf + 1U, &ns), ==,
                        NVME_SC_INVALID_FIELD);
        g_assert_cmphex(identify(h, cns, 0, 0, 0x8000, &ns), ==,
                        NVME_SC_INVALID_FIELD);
    }
    /* No such command set. */
    g_assert_cmphex(identify(h, 10, 0, NVME_CSI_KV, 0, &ns), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(identify(h, 10, 0, NVME_CSI_ZONED, 0, &ns), ==,
                    NVME_SC_INVALID_FIELD);
    host_free(h);
}

static void test_zoned_format(void)
{
    Host *h = host_new(&(HostOptions){.set = ZONED, .block_bytes = 4096});
    NvmeIdZonedNamespace ns, format;
    NvmeIdNamespace id;

    host_enable(h);
    g_assert_cmphex(identify(h, 0, 1, 0, 0, &id), ==, 0);
    g_assert_cmphex(identify(h, 5, 1, NVME_CSI_ZONED, 0, &ns), ==, 0);
    g_assert_cmphex(identify(h, 10, 0, NVME_CSI_ZONED, id.flbas & 0xf, &format),
                    ==, 0);
    g_assert_cmpmem(&format, sizeof(format), &ns, sizeof(ns));
    g_assert_cmpuint(format.lbafe[id.flbas & 0xf].zdes, ==, 1);
    g_assert_cmphex(
        identify(h, 10, 0, NVME_CSI_ZONED, (id.flbas & 0xf) + 1U, &format), ==,
        NVME_SC_INVALID_FIELD);
    host_free(h);
}

static void test_kv_format(void)
{
    Host *h = admin_host(&(HostOptions){.namespaces = "8M:kv;rest"});
    NvmeIdKvNamespace ns, format;

    g_assert_cmphex(identify(h, 5, 1, NVME_CSI_KV, 0, &ns), ==, 0);
    g_assert_cmphex(identify(h, 10, 0, NVME_CSI_KV, 0, &format), ==, 0);
    g_assert_cmphex(format.novg, ==, ns.novg);
    g_assert_cmphex(format.kvf[0].kml, ==, ns.kvf[0].kml);
    g_assert_cmphex(format.kvf[0].vml, ==, ns.kvf[0].vml);
    g_assert_cmphex(format.kvf[0].mnk, ==, 0);
    g_assert_cmphex(format.nsze, ==, 0);
    g_assert_cmphex(identify(h, 10, 0, NVME_CSI_KV, 1, &format), ==,
                    NVME_SC_INVALID_FIELD);
    host_free(h);
}

/* 1Fh: attached or not; zeroes where there could be one.  08h: attached. */
static void test_allocated(void)
{
    Host *h = admin_host(&(HostOptions){.namespaces = "1M:512;1M:4096"});
    static const uint8_t zeroes[4096];
    uint8_t a[4096], b[4096];

    for (uint32_t nsid = 1; nsid <= 2; nsid++) {
        g_assert_cmphex(identify(h, 8, nsid, 0, 0, a), ==, 0);
        g_assert_cmphex(identify(h, 0x1f, nsid, 0, 0, b), ==, 0);
        g_assert_cmpmem(a, 4096, b, 4096);
        g_assert_cmpuint(b[14], ==, 1); /* ready */
    }
    g_assert_cmphex(identify(h, 1, 0, 0, 0, a), ==, 0);
    memset(admin_data(h), 0, 4096);
    put_le16(admin_data(h), 1);
    put_le16(admin_data(h) + 2, get_le16(a + 78)); /* CNTLID */
    g_assert_cmphex(
        admin_status(h, NVME_ADM_NS_ATTACHMENT, 2, ADMIN_DW(1), 4096), ==, 0);
    g_assert_cmphex(identify(h, 8, 2, 0, 0, a), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(identify(h, 0x1f, 2, 0, 0, a), ==, 0);
    g_assert_cmpmem(a, 4096, b, 4096);
    g_assert_cmphex(identify(h, 0x1f, 3, 0, 0, a), ==, 0);
    g_assert_cmpmem(a, 4096, zeroes, 4096);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmphex(identify(h, 0x1f, i ? NVME_NSID_ALL : 0, 0, 0, a), ==,
                        NVME_SC_INVALID_NSID);
    }
    host_free(h);
}

/* The values of 00h to 1Fh that nothing in the drive has: UUIDs of vendors,
 * domains, exported subsystems and their ports, and those that are reserved. */
static void test_others(void)
{
    static const uint8_t none[] = {0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
                                   0x17, 0x18, 0x1d, 0x1e};
    Host *h = admin_host(NULL);
    uint8_t data[4096];

    for (unsigned i = 0; i < sizeof(none); i++) {
        g_assert_cmphex(identify(h, none[i], 1, 0, 0, data), ==,
                        NVME_SC_INVALID_FIELD);
    }
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/identify/formats", test_formats);
    g_test_add_func("/nvme/identify/zoned-format", test_zoned_format);
    g_test_add_func("/nvme/identify/kv-format", test_kv_format);
    g_test_add_func("/nvme/identify/allocated", test_allocated);
    g_test_add_func("/nvme/identify/others", test_others);
    return g_test_run();
}
