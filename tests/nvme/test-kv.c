/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-kv.c - the Key Value Command Set: each command and each status, a random
 * run against a model, the reads of NAND that a Retrieve costs, full
 * namespaces, and what else happens to namespaces.
 */
#include "key-value.h"

#include "kv/cache.h"

#define NSID 1

static Host *simple(void)
{
    return kv_host(&(HostOptions){.namespaces = "8M:kv;rest"});
}

/* ---- commands ------------------------------------------------------------ */

static void test_commands(void)
{
    static const uint32_t sizes[] = {0,    1,    511,   512,    513,      4096,
                                     4097, 8192, 65535, 200000, 512 << 10};
    Host *h = simple();

    g_assert_cmphex(kv_status(h, NSID, NVME_KV_EXIST, "a", 0, 0), ==,
                    NVME_SC_KEY_NOT_THERE);
    g_assert_cmphex(kv_status(h, NSID, NVME_KV_DELETE, "a", 0, 0), ==,
                    NVME_SC_KEY_NOT_THERE);
    g_assert_cmpuint(kv_retrieve(h, NSID, "a", 512), ==, UINT32_MAX);
    for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_assert_cmphex(kv_store(h, NSID, "a", i, sizes[i]), ==, 0);
        g_assert_cmphex(kv_status(h, NSID, NVME_KV_EXIST, "a", 0, 0), ==, 0);
        g_assert_cmpuint(kv_retrieve(h, NSID, "a", 512 << 10), ==, sizes[i]);
        g_assert_true(kv_is(h, HOST_DATA, i, sizes[i]));
        if (sizes[i] < 512 << 10) { /* no byte more */
            g_assert_cmphex(h->ram[HOST_DATA + sizes[i]], ==, 0xee);
        }
        /* a buffer that is too small, and none */
        *host_ram(h, HOST_DATA + 100, 1) = 0xa5;
        g_assert_cmpuint(kv_retrieve(h, NSID, "a", 100), ==, sizes[i]);
        g_assert_true(kv_is(h, HOST_DATA, i, MIN(100, sizes[i])));
        g_assert_cmphex(h->ram[HOST_DATA + 100], ==, 0xa5);
        g_assert_cmpuint(kv_do(h, NSID, NVME_KV_RETRIEVE, "a", 0, 0).dw0, ==,
                         sizes[i]);
    }
    g_assert_cmphex(kv_status(h, NSID, NVME_KV_DELETE, "a", 0, 0), ==, 0);
    g_assert_cmphex(kv_status(h, NSID, NVME_KV_DELETE, "a", 0, 0), ==,
                    NVME_SC_KEY_NOT_THERE);
    g_assert_cmpuint(kv_retrieve(h, NSID, "a", 512), ==, UINT32_MAX);
    host_free(h);
}

/* A key of 16 bytes, and keys that differ in length or in one byte only. */
static void test_keys(void)
{
    static const struct {
        const char *key;
        uint8_t bytes;
    } keys[] = {
        {"0123456789abcdef", 16},
        {"0123456789abcdeg", 16},
        {"0123456789abcde", 15},
        {"x", 1},
        {"x\0", 2},
        {"x\0\0", 3},
        {"\0", 1},
        {"\0\0", 2},
        {"x\0\0\0\0\0\0\0\0", 9},
        {"\xff\xff\xff\xff\xff\xff\xff\xff", 8},
    };
    Host *h = simple();

    for (unsigned i = 0; i < G_N_ELEMENTS(keys); i++) {
        NvmeSqe sqe = kv_sqe(h, NSID, NVME_KV_STORE, keys[i].key, keys[i].bytes,
                             0, 100 + i, HOST_DATA);

        kv_fill(h, HOST_DATA, i, 100 + i);
        g_assert_cmphex(host_do(h, 1, &sqe).status, ==, 0);
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(keys); i++) {
        NvmeSqe sqe = kv_sqe(h, NSID, NVME_KV_RETRIEVE, keys[i].key,
                             keys[i].bytes, 0, 512, HOST_DATA);

        /* bytes behind the key mean nothing */
        if (keys[i].bytes < 13) {
            sqe.dw[15] = 0x12345678;
        }
        g_assert_cmpuint(host_do(h, 1, &sqe).dw0, ==, 100 + i);
        g_assert_true(kv_is(h, HOST_DATA, i, 100 + i));
    }
    host_free(h);
}

static void test_options(void)
{
    Host *h = simple();

    g_assert_cmphex(
        kv_status(h, NSID, NVME_KV_STORE, "k", NVME_KV_STORE_MUST_EXIST, 10),
        ==, NVME_SC_KEY_NOT_THERE);
    g_assert_cmphex(kv_status(h, NSID, NVME_KV_EXIST, "k", 0, 0), ==,
                    NVME_SC_KEY_NOT_THERE);
    kv_fill(h, HOST_DATA, 1, 10);
    g_assert_cmphex(
        kv_status(h, NSID, NVME_KV_STORE, "k", NVME_KV_STORE_MUST_BE_NEW, 10),
        ==, 0);
    kv_fill(h, HOST_DATA, 2, 10);
    g_assert_cmphex(
        kv_status(h, NSID, NVME_KV_STORE, "k", NVME_KV_STORE_MUST_BE_NEW, 10),
        ==, NVME_SC_KEY_EXISTS);
    g_assert_cmpuint(kv_retrieve(h, NSID, "k", 512), ==, 10);
    g_assert_true(kv_is(h, HOST_DATA, 1, 10));
    kv_fill(h, HOST_DATA, 3, 20);
    g_assert_cmphex(kv_status(h, NSID, NVME_KV_STORE, "k",
                              NVME_KV_STORE_MUST_EXIST | NVME_KV_STORE_PLAIN,
                              20),
                    ==, 0);
    g_assert_cmphex(
        kv_status(h, NSID, NVME_KV_RETRIEVE, "k", NVME_KV_RETRIEVE_PLAIN, 512),
        ==, 0);
    g_assert_true(kv_is(h, HOST_DATA, 3, 20));
    host_free(h);
}

static uint16_t raw(Host *h, uint8_t opcode, uint32_t dw10, uint32_t dw11)
{
    NvmeSqe sqe = host_sqe(opcode, NSID, HOST_DATA);

    sqe.dw[2] = 'k';
    sqe.dw[10] = dw10;
    sqe.dw[11] = dw11;
    return host_code(host_do(h, 1, &sqe).status);
}

static void test_bad_fields(void)
{
    static const uint8_t opcodes[] = {NVME_KV_STORE, NVME_KV_RETRIEVE,
                                      NVME_KV_DELETE, NVME_KV_EXIST};
    Host *h = simple();
    NvmeSqe sqe;

    g_assert_cmphex(kv_store(h, NSID, "k", 1, 100), ==, 0);
    for (unsigned i = 0; i < G_N_ELEMENTS(opcodes); i++) {
        g_assert_cmphex(raw(h, opcodes[i], 16, 0), ==,
                        NVME_SC_INVALID_KEY_SIZE);
        g_assert_cmphex(raw(h, opcodes[i], 16, 17), ==,
                        NVME_SC_INVALID_KEY_SIZE);
        g_assert_cmphex(raw(h, opcodes[i], 16, 255), ==,
                        NVME_SC_INVALID_KEY_SIZE);
    }
    g_assert_cmphex(raw(h, NVME_KV_LIST, 16, 17), ==, NVME_SC_INVALID_KEY_SIZE);
    g_assert_cmphex(raw(h, NVME_KV_LIST, 3, 1), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(raw(h, NVME_KV_LIST, (512 << 10) + 1, 1), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(raw(h, NVME_KV_RETRIEVE, (512 << 10) + 1, 1), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(raw(h, NVME_KV_STORE, (512 << 10) + 1, 1), ==,
                    NVME_SC_INVALID_VALUE_SIZE);
    g_assert_cmphex(raw(h, NVME_KV_STORE, UINT32_MAX, 1), ==,
                    NVME_SC_INVALID_VALUE_SIZE);
    g_assert_cmphex(raw(h, NVME_KV_STORE, 16, 1 | 0x800), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(raw(h, NVME_KV_RETRIEVE, 16, 1 | 0x200), ==,
                    NVME_SC_INVALID_FIELD);
    /* memory that is not there, and a PRP that is none */
    sqe = kv_sqe(h, NSID, NVME_KV_STORE, "k", 1, 0, 16, 0x8000000000ULL);
    g_assert_cmphex(host_code(host_do(h, 1, &sqe).status), ==,
                    NVME_SC_DATA_TRANSFER);
    sqe = kv_sqe(h, NSID, NVME_KV_RETRIEVE, "k", 1, 0, 16, 0x8000000000ULL);
    g_assert_cmphex(host_code(host_do(h, 1, &sqe).status), ==,
                    NVME_SC_DATA_TRANSFER);
    sqe = kv_sqe(h, NSID, NVME_KV_STORE, "k", 1, 0, 8192, HOST_DATA);
    sqe.dw[8] |= 1;
    g_assert_cmphex(host_code(host_do(h, 1, &sqe).status), ==,
                    NVME_SC_PRP_OFFSET);
    /* nothing of it had an effect */
    g_assert_cmpuint(kv_retrieve(h, NSID, "k", 512), ==, 100);
    g_assert_true(kv_is(h, HOST_DATA, 1, 100));
    host_free(h);
}

/* Commands of the NVM set in a key-value namespace, and the other way round. */
static void test_other_sets(void)
{
    static const uint8_t nvm[] = {0x04, 0x05, 0x08, 0x09, 0x0c, 0x19,
                                  0x12, 0x1d, 0x79, 0x7a, 0x7d};
    Host *h = simple();

    for (unsigned i = 0; i < G_N_ELEMENTS(nvm); i++) {
        g_assert_cmphex(raw(h, nvm[i], 0, 0), ==, NVME_SC_INVALID_OPCODE);
    }
    g_assert_cmphex(kv_status(h, 2, NVME_KV_LIST, "k", 0, 512), ==,
                    NVME_SC_INVALID_OPCODE);
    g_assert_cmphex(kv_status(h, 2, NVME_KV_DELETE, "k", 0, 0), ==,
                    NVME_SC_INVALID_OPCODE);
    g_assert_cmphex(kv_status(h, 2, NVME_KV_EXIST, "k", 0, 0), ==,
                    NVME_SC_INVALID_OPCODE);
    g_assert_cmphex(kv_status(h, 3, NVME_KV_STORE, "k", 0, 512), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(kv_status(h, 0, NVME_KV_STORE, "k", 0, 512), ==,
                    NVME_SC_INVALID_NSID);
    kv_flush(h, NSID);
    kv_flush(h, 2);
    kv_flush(h, NVME_NSID_ALL);
    host_free(h);
}

/* ---- List ---------------------------------------------------------------- */

static void test_list(void)
{
    Host *h = simple();
    uint32_t n;

    g_assert_cmphex(kv_status(h, NSID, NVME_KV_LIST, "", 0, 4), ==, 0);
    g_assert_cmpuint(get_le32(h->ram + HOST_DATA), ==, 0);
    for (unsigned i = 0; i < 300; i++) {
        g_autofree char *key = g_strdup_printf("%03u", i * 7 % 300);

        g_assert_cmphex(kv_store(h, NSID, key, i, i), ==, 0);
    }
    /* all of them: entries of 8 bytes */
    g_assert_cmphex(kv_status(h, NSID, NVME_KV_LIST, "", 0, 4096), ==, 0);
    n = get_le32(h->ram + HOST_DATA);
    g_assert_cmpuint(n, ==, 300);
    for (unsigned i = 0; i < n; i++) {
        const uint8_t *e = h->ram + HOST_DATA + 4 + i * 8;
        g_autofree char *key = g_strdup_printf("%03u", i);

        g_assert_cmpuint(e[0] | e[1] << 8, ==, 3);
        g_assert_cmpmem(e + 2, 3, key, 3);
        g_assert_cmpuint(e[5] | e[6] | e[7], ==, 0);
    }
    /* from a key on, as many as there is room for */
    g_assert_cmphex(kv_status(h, NSID, NVME_KV_LIST, "150", 0, 4 + 8 * 5 + 7),
                    ==, 0);
    g_assert_cmpuint(get_le32(h->ram + HOST_DATA), ==, 5);
    g_assert_cmpmem(h->ram + HOST_DATA + 6, 3, "150", 3);
    /* a key that is not there: from the next one on */
    g_assert_cmphex(kv_status(h, NSID, NVME_KV_LIST, "1505", 0, 4096), ==, 0);
    g_assert_cmpuint(get_le32(h->ram + HOST_DATA), ==, 149);
    g_assert_cmpmem(h->ram + HOST_DATA + 6, 3, "151", 3);
    g_assert_cmphex(kv_status(h, NSID, NVME_KV_LIST, "3", 0, 4096), ==, 0);
    g_assert_cmpuint(get_le32(h->ram + HOST_DATA), ==, 0);
    host_free(h);
}

/* ---- Identify ------------------------------------------------------------ */

static uint16_t identify(Host *h, uint8_t cns, uint32_t nsid, uint8_t csi)
{
    memset(host_ram(h, HOST_DATA, 4096), 0xee, 4096);
    return admin_status(h, NVME_ADM_IDENTIFY, nsid,
                        ADMIN_DW(cns, (uint32_t)csi << 24), 4096);
}

static void test_identify(void)
{
    Host *h = simple();
    const NvmeIdKvNamespace *id = (const void *)(h->ram + HOST_DATA);
    const uint8_t *p = h->ram + HOST_DATA;

    g_assert_cmphex(host_read32(h, NVME_REG_CAP + 4) >> 5 & 0x41, ==, 0x41);
    g_assert_cmphex(identify(h, 0x05, 1, 1), ==, 0);
    g_assert_cmpuint(id->nsze, ==, 8 << 20);
    g_assert_cmpuint(id->nuse, ==, 0);
    g_assert_cmpuint(id->nkvf, ==, 0);
    g_assert_cmpuint(id->novg, ==, KV_UNIT);
    g_assert_cmpuint(id->kvf[0].kml, ==, 16);
    g_assert_cmpuint(id->kvf[0].vml, ==, 512 << 10);
    g_assert_cmpuint(id->kvf[0].mnk, ==, (8 << 20) / KV_UNIT);
    g_assert_cmphex(kv_store(h, NSID, "k", 1, 5000), ==, 0);
    g_assert_cmphex(identify(h, 0x1b, 1, 1), ==, 0);
    g_assert_cmpuint(id->nuse, ==, (1 + 1 + 2) * KV_UNIT);
    g_assert_cmphex(identify(h, 0x05, 2, 1), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(identify(h, 0x05, 1, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(identify(h, 0x00, 1, 0), ==, NVME_SC_WRONG_COMMAND_SET);
    g_assert_cmphex(identify(h, 0x05, 3, 1), ==, 0); /* zeroes */
    g_assert_cmphex(identify(h, 0x06, 0, 1), ==, 0);
    g_assert_cmphex(identify(h, 0x06, 0, 2), ==, NVME_SC_INVALID_FIELD);
    for (unsigned cns = 0x07; cns <= 0x1a; cns += 0x13) {
        g_assert_cmphex(identify(h, (uint8_t)cns, 0, 1), ==, 0);
        g_assert_cmpuint(get_le32(p), ==, 1);
        g_assert_cmpuint(get_le32(p + 4), ==, 0);
        g_assert_cmphex(identify(h, (uint8_t)cns, 0, 0), ==, 0);
        g_assert_cmpuint(get_le32(p), ==, 2);
        g_assert_cmpuint(get_le32(p + 4), ==, 0);
    }
    g_assert_cmphex(identify(h, 0x02, 0, 0), ==, 0);
    g_assert_cmpuint(get_le32(p), ==, 1);
    g_assert_cmpuint(get_le32(p + 4), ==, 2);
    g_assert_cmphex(identify(h, 0x08, 1, 0), ==, 0);
    g_assert_cmphex(identify(h, 0x1c, 0, 0) |
                        admin_status(h, NVME_ADM_IDENTIFY, 0,
                                     ADMIN_DW(0x1c | 0xffffU << 16), 4096),
                    !=, UINT16_MAX);
    g_assert_cmphex(get_le32(p), ==, 3);
    for (uint32_t nsid = 1; nsid <= 2; nsid++) { /* EUI64, UUID, CSI */
        g_assert_cmphex(identify(h, 0x03, nsid, 0), ==, 0);
        g_assert_cmpuint(p[12 + 20], ==, 4);
        g_assert_cmpuint(p[12 + 20 + 4], ==, nsid == 1);
    }
    /* the effects of its commands */
    g_assert_cmphex(admin_status(h, NVME_ADM_GET_LOG_PAGE, 0,
                                 ADMIN_DW(5 | 1023U << 16, 0, 0, 0, 1U << 24),
                                 4096),
                    ==, 0);
    g_assert_cmphex(get_le32(p + 1024 + 4 * NVME_KV_STORE) & 3, ==, 3);
    g_assert_cmphex(get_le32(p + 1024 + 4 * NVME_KV_LIST) & 3, ==, 1);
    g_assert_cmphex(get_le32(p + 1024 + 4 * NVME_IO_COMPARE), ==, 0);
    /* a host that knows the NVM set only finds none of key-value pairs */
    host_write32(h, NVME_REG_CC, 0);
    h->q[0] = (HostQueue){.sq_addr = HOST_ADMIN_SQ, .sq_size = 32};
    h->cq[0] = (HostCqRing){.addr = HOST_ADMIN_CQ, .size = 32, .phase = 1};
    memset(host_ram(h, HOST_ADMIN_CQ, 4096), 0, 4096);
    host_write32(h, NVME_REG_CC, 0x00460001);
    host_run(h);
    g_assert_cmphex(identify(h, 0x02, 0, 0), ==, 0);
    g_assert_cmpuint(get_le32(p), ==, 2);
    host_free(h);
}

/* Create with CSI 01h; bytes of the namespace. */
static HostCqe create_ns(Host *h, unsigned csi, uint64_t nsze, uint64_t ncap,
                         uint8_t flbas)
{
    NvmeIdNamespace id = {
        .nsze = nvme_le64(nsze),
        .ncap = nvme_le64(ncap),
        .flbas = flbas,
    };
    NvmeSqe sqe = host_sqe(NVME_ADM_NS_MANAGEMENT, 0, HOST_DATA);

    memcpy(host_ram(h, HOST_DATA, sizeof(id)), &id, sizeof(id));
    sqe.dw[11] = csi << 24;
    return host_do(h, 0, &sqe);
}

static uint16_t attach(Host *h, uint32_t nsid)
{
    memset(host_ram(h, HOST_DATA, 4096), 0, 4096);
    put_le16(h->ram + HOST_DATA, 1);
    put_le16(h->ram + HOST_DATA + 2, 1); /* the controller's identifier */
    return admin_status(h, NVME_ADM_NS_ATTACHMENT, nsid, ADMIN_DW(0), 4096);
}

static uint16_t create_code(Host *h, unsigned csi, uint64_t nsze, uint64_t ncap,
                            uint8_t flbas)
{
    return host_code(create_ns(h, csi, nsze, ncap, flbas).status);
}

/* By a host, beside namespaces of blocks; the drive has the command set because
 * its configuration names it. */
static void test_create_ns(void)
{
    Host *h = kv_host(&(HostOptions){.namespaces = "0:kv"});
    Host *plain = kv_host(&(HostOptions){.namespaces = "0"});
    const uint8_t *p = h->ram + HOST_DATA;
    HostCqe cqe;

    g_assert_cmphex(create_code(plain, 1, 8 << 20, 0, 0), ==,
                    NVME_SC_COMMAND_SET);
    host_free(plain);
    g_assert_cmphex(create_code(h, 2, 8 << 20, 0, 0), ==, NVME_SC_COMMAND_SET);
    g_assert_cmphex(create_code(h, 1, 0, 0, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(create_code(h, 1, 1 << 20, 0, 0), ==,
                    NVME_SC_INVALID_FIELD); /* too small */
    g_assert_cmphex(create_code(h, 1, 8 << 20, 8 << 20, 0), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(create_code(h, 1, 8 << 20, 0, 1), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(create_code(h, 1, 1ULL << 62, 0, 0), ==,
                    NVME_SC_INVALID_FIELD); /* more units than there may be */
    g_assert_cmphex(create_code(h, 1, 1ULL << 43, 0, 0), ==,
                    NVME_SC_NS_CAPACITY);
    g_assert_cmphex(admin_log(h, 0x01, 0, 64, 0), ==, 0);
    g_assert_cmpuint(get_le64(p + 32), ==, 1ULL << 43);
    g_assert_cmphex(create_code(h, 0, 16, 16, 0), ==, 0);
    cqe = create_ns(h, 1, (8 << 20) - 100, 0, 0); /* whole blocks */
    g_assert_cmphex(cqe.status, ==, 0);
    g_assert_cmpuint(cqe.dw0, ==, 2);
    g_assert_cmphex(attach(h, 2), ==, 0);
    g_assert_cmphex(identify(h, 0x05, 2, 1), ==, 0);
    g_assert_cmpuint(get_le64(p), ==, 8 << 20);
    g_assert_cmphex(identify(h, 0x07, 0, 1), ==, 0);
    g_assert_cmpuint(get_le32(p), ==, 2);
    g_assert_cmpuint(get_le32(p + 4), ==, 0);
    g_assert_cmphex(kv_store(h, 2, "mine", 5, 5000), ==, 0);
    kv_flush(h, 2);
    kv_cut(h);
    g_assert_cmpuint(kv_retrieve(h, 2, "mine", 8192), ==, 5000);
    g_assert_true(kv_is(h, HOST_DATA, 5, 5000));
    g_assert_cmphex(admin_status(h, NVME_ADM_NS_MANAGEMENT, 2, ADMIN_DW(1), 0),
                    ==, 0);
    cqe = create_ns(h, 1, 8 << 20, 0, 0); /* it begins empty */
    g_assert_cmpuint(cqe.dw0, ==, 2);
    g_assert_cmphex(attach(h, 2), ==, 0);
    g_assert_cmphex(kv_status(h, 2, NVME_KV_EXIST, "mine", 0, 0), ==,
                    NVME_SC_KEY_NOT_THERE);
    host_free(h);
}

static void test_profile(void)
{
    Host *h = simple();
    Host *plain = kv_host(&(HostOptions){.namespaces = "1"});

    g_assert_cmphex(admin_get_feature(h, 0x19, 0, 0).status, ==, 0);
    g_assert_cmphex(admin_get_feature(h, 0x19, 0, 0).dw0, ==, 0);
    g_assert_cmphex(admin_set_feature(h, 0x19, false, 0, 0), ==, 0);
    g_assert_cmphex(admin_set_feature(h, 0x19, false, 1, 0), ==,
                    NVME_SC_COMMAND_SETS);
    g_assert_cmphex(admin_set_feature(plain, 0x19, false, 0, 0), ==,
                    NVME_SC_INVALID_FIELD);
    host_free(plain);
    host_free(h);
}

static void test_config(void)
{
    static const char *const bad[] = {"1M:kv", "8M:kv:4096", "8M:kv+8",
                                      "8M:kvs"};

    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_false(host_try(&(HostOptions){.namespaces = bad[i]}, &error));
        g_assert_true(g_str_has_prefix(error->message, "namespaces="));
        g_assert_null(strchr(error->message, '\n'));
    }
    for (unsigned i = 0; i < 2; i++) {
        g_autoptr(GError) error = NULL;

        g_assert_false(host_try(&(HostOptions){.namespaces = "8M:kv",
                                               .kv_cache = i ? 1ULL << 40 : 1},
                                &error));
        g_assert_true(g_str_has_prefix(error->message, "kv_cache="));
    }
}

/* ---- against a model ----------------------------------------------------- */

#define N_KEYS 400
#define QD     16
#define SLOT   0x8000

typedef struct Op {
    uint16_t cid; /* 0: none */
    uint8_t opcode;
    uint8_t options;
    uint32_t key;
    uint32_t seed;
    uint32_t bytes;
} Op;

typedef struct Value {
    bool there;
    bool busy; /* one command at a time, so that the model knows the order */
    uint32_t seed;
    uint32_t bytes;
} Value;

typedef struct Run {
    Host *h;
    Prng prng;
    Value value[N_KEYS];
    Op op[QD];
    uint32_t seed;
    uint64_t done[0x20];
} Run;

static void send_op(Run *r, Op *op)
{
    static const uint8_t opcodes[] = {NVME_KV_STORE, NVME_KV_STORE,
                                      NVME_KV_RETRIEVE, NVME_KV_DELETE,
                                      NVME_KV_EXIST};
    uint64_t addr = HOST_DATA + (uint64_t)(op - r->op) * SLOT;
    g_autofree char *key = NULL;
    NvmeSqe sqe;

    op->key = (uint32_t)prng_below(&r->prng, N_KEYS);
    if (r->value[op->key].busy) {
        return;
    }
    op->opcode = opcodes[prng_below(&r->prng, G_N_ELEMENTS(opcodes))];
    op->bytes = (uint32_t)prng_below(&r->prng, 3 * KV_UNIT);
    op->seed = ++r->seed;
    op->options =
        op->opcode == NVME_KV_STORE ? (uint8_t)prng_below(&r->prng, 3) : 0;
    if (op->opcode == NVME_KV_STORE) {
        kv_fill(r->h, addr, op->seed, op->bytes);
    } else {
        op->bytes = op->opcode == NVME_KV_RETRIEVE ? SLOT : 0;
    }
    key = g_strdup_printf("%u-key", op->key);
    sqe = kv_sqe(r->h, NSID, op->opcode, key, (uint8_t)strlen(key), op->options,
                 op->bytes, addr);
    if (sqe.dw[8] == HOST_LISTS) {
        uint64_t to = HOST_LISTS + (op - r->op + 1) * 4096;

        memcpy(host_ram(r->h, to, 4096), r->h->ram + HOST_LISTS, 4096);
        sqe.dw[8] = (uint32_t)to;
    }
    r->value[op->key].busy = true;
    op->cid = host_send(r->h, 1, &sqe);
}

static uint16_t expected(const Op *op, const Value *v)
{
    if (op->opcode == NVME_KV_STORE) {
        return op->options & NVME_KV_STORE_MUST_EXIST && !v->there
                   ? NVME_SC_KEY_NOT_THERE
               : op->options & NVME_KV_STORE_MUST_BE_NEW && v->there
                   ? NVME_SC_KEY_EXISTS
                   : 0;
    }
    return v->there ? 0 : NVME_SC_KEY_NOT_THERE;
}

static void end_op(Run *r, const HostCqe *cqe)
{
    Op *op = r->op;
    Value *v;

    while (op->cid != cqe->cid) {
        op++;
        g_assert_cmpint(op - r->op, <, QD);
    }
    v = &r->value[op->key];
    g_assert_cmphex(host_code(cqe->status), ==, expected(op, v));
    r->done[op->opcode]++;
    if (!cqe->status && op->opcode == NVME_KV_STORE) {
        v->there = true;
        v->seed = op->seed;
        v->bytes = op->bytes;
    } else if (!cqe->status && op->opcode == NVME_KV_DELETE) {
        v->there = false;
    } else if (!cqe->status && op->opcode == NVME_KV_RETRIEVE) {
        g_assert_cmpuint(cqe->dw0, ==, v->bytes);
        g_assert_true(kv_is(r->h, HOST_DATA + (uint64_t)(op - r->op) * SLOT,
                            v->seed, v->bytes));
    }
    v->busy = false;
    op->cid = 0;
}

static void poll(Run *r)
{
    HostCqe cqe;

    while (host_poll(r->h, 1, &cqe)) {
        end_op(r, &cqe);
    }
}

static void drain(Run *r)
{
    bool busy;

    do {
        busy = false;
        poll(r);
        for (unsigned i = 0; i < QD; i++) {
            busy |= r->op[i].cid != 0;
        }
        g_assert_true(!busy || host_step(r->h));
    } while (busy);
}

static void check_all(Run *r)
{
    for (uint32_t i = 0; i < N_KEYS; i++) {
        g_autofree char *key = g_strdup_printf("%u-key", i);
        uint32_t bytes = kv_retrieve(r->h, NSID, key, SLOT);

        g_assert_cmpuint(bytes, ==,
                         r->value[i].there ? r->value[i].bytes : UINT32_MAX);
        if (r->value[i].there) {
            g_assert_true(kv_is(r->h, HOST_DATA, r->value[i].seed, bytes));
        }
    }
}

static void play(Run *r, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        Op *op = &r->op[prng_below(&r->prng, QD)];

        if (!op->cid) {
            send_op(r, op);
        }
        if (prng_below(&r->prng, 3) == 0) {
            host_step(r->h);
        }
        if (prng_below(&r->prng, 500) == 0) {
            drain(r);
            kv_flush(r->h, prng_below(&r->prng, 2) ? NSID : NVME_NSID_ALL);
        }
        poll(r);
    }
    drain(r);
}

static const char *const modes[] = {
    "", "buffer.plp=on", "host.complete_at=program", "buffer.size=64KiB"};

static void test_random(gconstpointer mode)
{
    Run r = {.h = kv_host(&(HostOptions){.namespaces = "12M:kv;rest",
                                         .set = mode,
                                         .kv_cache = 256 << 10})};

    prng_seed(&r.prng, 1, 0x6b7620);
    for (unsigned round = 0; round < 4; round++) {
        play(&r, 2500);
        check_all(&r);
        if (round % 2) {
            kv_flush(r.h, NSID);
            kv_cut(r.h);
            check_all(&r);
        }
    }
    g_assert_cmpuint(r.done[NVME_KV_STORE], >, 1000);
    g_assert_cmpuint(r.done[NVME_KV_DELETE], >, 500);
    host_free(r.h);
}

/* ---- reads --------------------------------------------------------------- */

static uint64_t reads_of(Host *h, const char *key, uint32_t room)
{
    uint64_t before = kv_counters(h).nand_reads;

    g_assert_cmpuint(kv_retrieve(h, NSID, key, room), !=, UINT32_MAX);
    return kv_counters(h).nand_reads - before;
}

/*
 * Keys that ascend fill their leaves, so the size of the index is known: 192
 * leaves, 2 inner pages above them, a root.  The mount reads each page once,
 * and the head record.  With a third of the leaves in the cache, the first one
 * has left it again; the pages above have not.  So the first lookup there reads
 * one page, and a Retrieve of another key of that leaf reads only its value:
 * one read for each page of NAND that it is in.
 */
static void test_reads(void)
{
    Host *h = kv_host(&(HostOptions){.namespaces = "rest:kv",
                                     .set = "nand.blocks=128",
                                     .kv_cache = 256 << 10});
    unsigned leaf = (KV_UNIT - 32) / 44;
    unsigned n = leaf * 192;
    uint64_t before;

    for (unsigned i = 0; i < n; i++) {
        g_autofree char *key = g_strdup_printf("%06u", i);
        uint32_t bytes = i == 1 ? KV_UNIT : i == 2 ? 16 * KV_UNIT : 0;

        g_assert_cmphex(kv_store(h, NSID, key, i, bytes), ==, 0);
    }
    kv_flush(h, NSID);
    kv_cut(h);
    before = kv_counters(h).nand_reads;
    g_assert_cmphex(kv_status(h, NSID, NVME_KV_EXIST, "000000", 0, 0), ==, 0);
    g_assert_cmpuint(kv_counters(h).nand_reads - before, ==,
                     (1 + 192 + 2 + 1) + 1);
    g_assert_cmpuint(reads_of(h, "000001", KV_UNIT), ==, 1);
    g_assert_cmpuint(reads_of(h, "000002", 64 << 10), ==, 16 / 4 + 1);
    host_free(h);
}

/* Index pages are programmed, and are no data of the host. */
static void test_waf(void)
{
    Host *h = simple();
    SsdCounters a, b;

    kv_flush(h, NSID);
    a = kv_counters(h);
    for (unsigned i = 0; i < 64; i++) {
        g_autofree char *key = g_strdup_printf("%u", i);

        g_assert_cmphex(kv_store(h, NSID, key, i, KV_UNIT), ==, 0);
    }
    kv_flush(h, NSID);
    b = kv_counters(h);
    g_assert_cmpuint(b.host_bytes_written - a.host_bytes_written, ==,
                     64 * KV_UNIT);
    /* a leaf and the head record */
    g_assert_cmpuint(b.nand_bytes_written - a.nand_bytes_written, >=,
                     (64 + 2) * KV_UNIT);
    host_free(h);
}

/* ---- full ---------------------------------------------------------------- */

static unsigned fill_up(Host *h, uint32_t bytes)
{
    unsigned n = 0;
    uint16_t status;

    do {
        g_autofree char *key = g_strdup_printf("f%u", n);

        status = kv_store(h, NSID, key, n, bytes);
        n += !status;
    } while (!status);
    g_assert_cmphex(status, ==, NVME_SC_CAPACITY_EXCEEDED);
    return n;
}

static void test_full(void)
{
    Host *h = simple();
    unsigned first = fill_up(h, 40000);
    unsigned n;

    g_assert_cmpuint(first, >, (8 << 20) / (10 * KV_UNIT) * 7 / 10);
    for (unsigned i = 0; i < first; i++) {
        g_autofree char *key = g_strdup_printf("f%u", i);

        g_assert_cmpuint(kv_retrieve(h, NSID, key, 65536), ==, 40000);
        g_assert_true(kv_is(h, HOST_DATA, i, 40000));
    }
    /* what is deleted comes back, and each second value leaves holes */
    for (unsigned i = 0; i < first; i += 2) {
        g_autofree char *key = g_strdup_printf("f%u", i);

        g_assert_cmphex(kv_status(h, NSID, NVME_KV_DELETE, key, 0, 0), ==, 0);
    }
    for (n = 0;
         kv_store(h, NSID, n % 2 ? "big1" : "big2", n, 400000) == 0 && n < 20;
         n++) {
    }
    g_assert_cmpuint(n, ==, 20);
    g_assert_cmpuint(kv_retrieve(h, NSID, "big1", 512 << 10), ==, 400000);
    g_assert_true(kv_is(h, HOST_DATA, 19, 400000));
    for (unsigned i = 1; i < first; i += 2) {
        g_autofree char *key = g_strdup_printf("f%u", i);

        g_assert_cmpuint(kv_retrieve(h, NSID, key, 65536), ==, 40000);
        g_assert_true(kv_is(h, HOST_DATA, i, 40000));
    }
    host_free(h);
}

/* Keys without values: as many as Identify says. */
static void test_most_keys(void)
{
    Host *h = kv_host(&(HostOptions){.namespaces = "4M:kv;rest"});

    g_assert_cmpuint(fill_up(h, 0), ==, (4 << 20) / KV_UNIT);
    host_free(h);
}

/* ---- other commands ------------------------------------------------------ */

static uint16_t format(Host *h, uint32_t nsid, uint32_t dw10)
{
    return admin_status(h, NVME_ADM_FORMAT, nsid, ADMIN_DW(dw10), 0);
}

static void test_format(void)
{
    Host *h = simple();

    for (unsigned round = 0; round < 3; round++) {
        g_assert_cmphex(kv_store(h, NSID, "k", 1, 10000), ==, 0);
        if (round) {
            kv_flush(h, NSID);
        }
        g_assert_cmphex(format(h, round == 2 ? NVME_NSID_ALL : NSID, 0), ==, 0);
        g_assert_cmpuint(kv_retrieve(h, NSID, "k", 512), ==, UINT32_MAX);
    }
    g_assert_cmphex(format(h, NSID, 1), ==, NVME_SC_INVALID_FORMAT);
    host_free(h);
}

static void test_sanitize(void)
{
    Host *h = simple();

    g_assert_cmphex(kv_store(h, NSID, "k", 1, 10000), ==, 0);
    kv_flush(h, NSID);
    g_assert_cmphex(admin_status(h, NVME_ADM_SANITIZE, 0,
                                 ADMIN_DW(3 | 1 << 4 | 1 << 9, 0xdeadbeef), 0),
                    ==, 0); /* overwrite; what it leaves is no index */
    while (kv_status(h, NSID, NVME_KV_EXIST, "k", 0, 0) ==
           NVME_SC_SANITIZE_IN_PROGRESS) {
        host_sleep(h, 1000000);
    }
    g_assert_cmpuint(kv_retrieve(h, NSID, "k", 512), ==, UINT32_MAX);
    g_assert_cmphex(kv_store(h, NSID, "k", 2, 10000), ==, 0);
    g_assert_cmpuint(kv_retrieve(h, NSID, "k", 65536), ==, 10000);
    g_assert_true(kv_is(h, HOST_DATA, 2, 10000));
    host_free(h);
}

/* Deleting it while commands are under way; its place is another's. */
static void test_delete_ns(void)
{
    Host *h = simple();
    NvmeSqe sqe;

    kv_fill(h, HOST_DATA, 1, 10000);
    g_assert_cmphex(kv_store(h, NSID, "k", 1, 10000), ==, 0);
    for (unsigned i = 0; i < 20; i++) {
        sqe = kv_sqe(h, NSID, i % 2 ? NVME_KV_STORE : NVME_KV_RETRIEVE, "k", 1,
                     0, 4096, HOST_DATA);
        host_send(h, 1, &sqe);
    }
    g_assert_cmphex(
        admin_status(h, NVME_ADM_NS_MANAGEMENT, NSID, ADMIN_DW(1), 0), ==, 0);
    for (unsigned i = 0; i < 20; i++) {
        host_wait(h, 1);
    }
    g_assert_cmphex(kv_status(h, NSID, NVME_KV_STORE, "k", 0, 512), ==,
                    NVME_SC_INVALID_FIELD);
    host_free(h);
}

/* The same at many instants of Stores and Deletes of several keys. */
static void test_delete_ns_any_time(void)
{
    for (unsigned steps = 0; steps < 120; steps += 3) {
        Host *h = simple();
        NvmeSqe sqe;

        for (unsigned i = 0; i < 20; i++) {
            g_autofree char *key = g_strdup_printf("%u", i % 10);

            sqe = kv_sqe(h, NSID, i % 4 == 3 ? NVME_KV_DELETE : NVME_KV_STORE,
                         key, 1, 0, 8192, HOST_DATA);
            host_send(h, 1, &sqe);
        }
        for (unsigned i = 0; i < steps && host_step(h); i++) {
        }
        g_assert_cmphex(
            admin_status(h, NVME_ADM_NS_MANAGEMENT, NSID, ADMIN_DW(1), 0), ==,
            0);
        for (unsigned i = 0; i < 20; i++) {
            host_wait(h, 1);
        }
        host_free(h);
    }
}

static void test_protect(void)
{
    Host *h = simple();

    g_assert_cmphex(kv_store(h, NSID, "k", 1, 100), ==, 0);
    g_assert_cmphex(
        admin_status(h, NVME_ADM_SET_FEATURES, NSID, ADMIN_DW(0x84, 1), 0), ==,
        0);
    g_assert_cmphex(kv_store(h, NSID, "k", 2, 100), ==, NVME_SC_NS_PROTECTED);
    g_assert_cmphex(kv_status(h, NSID, NVME_KV_DELETE, "k", 0, 0), ==,
                    NVME_SC_NS_PROTECTED);
    g_assert_cmpuint(kv_retrieve(h, NSID, "k", 512), ==, 100);
    g_assert_true(kv_is(h, HOST_DATA, 1, 100));
    host_free(h);
}

/* A controller reset ends commands, and loses nothing else. */
static void test_reset(void)
{
    Host *h = simple();
    NvmeSqe sqe;

    for (unsigned i = 0; i < 50; i++) {
        g_autofree char *key = g_strdup_printf("%u", i);

        g_assert_cmphex(kv_store(h, NSID, key, i, 3000), ==, 0);
    }
    for (unsigned i = 0; i < 20; i++) {
        sqe = kv_sqe(h, NSID, NVME_KV_STORE, "k", 1, 0, 4096, HOST_DATA);
        host_send(h, 1, &sqe);
    }
    host_step(h);
    host_write32(h, NVME_REG_CC, 0);
    kv_enable(h);
    for (unsigned i = 0; i < 50; i++) {
        g_autofree char *key = g_strdup_printf("%u", i);

        g_assert_cmpuint(kv_retrieve(h, NSID, key, 4096), ==, 3000);
        g_assert_true(kv_is(h, HOST_DATA, i, 3000));
    }
    g_assert_cmphex(kv_store(h, NSID, "k", 7, 100), ==, 0);
    host_free(h);
}

/* A normal shutdown is a Flush. */
static void test_shutdown(void)
{
    Host *h = simple();

    g_assert_cmphex(kv_store(h, NSID, "k", 1, 100), ==, 0);
    host_write32(h, NVME_REG_CC, 0x00460061 | 1 << 14);
    while ((host_read32(h, NVME_REG_CSTS) >> 2 & 3) != 2) {
        g_assert_true(host_step(h));
    }
    kv_cut(h);
    g_assert_cmpuint(kv_retrieve(h, NSID, "k", 512), ==, 100);
    g_assert_true(kv_is(h, HOST_DATA, 1, 100));
    host_free(h);
}

/* ---- an image that was changed ------------------------------------------- */

#define N_FORGED 200 /* keys: a root and several leaves */

typedef struct Forged {
    const char *name;
    void (*forge)(uint8_t *page);
    bool leaf;      /* the first one; else the root */
    bool keeps_crc; /* the checksum is not made right */
} Forged;

static KvLeafEntry *entry_of(uint8_t *page, unsigned i)
{
    return (KvLeafEntry *)(page + sizeof(KvPageHead)) + i;
}

static KvInnerEntry *child_of(uint8_t *page, unsigned i)
{
    return (KvInnerEntry *)(page + sizeof(KvPageHead)) + i;
}

static void forge_nothing(uint8_t *page)
{
}

static void forge_byte(uint8_t *page)
{
    page[100] ^= 1;
}

static void forge_long_key(uint8_t *page)
{
    entry_of(page, 0)->key.bytes = 200;
}

static void forge_order(uint8_t *page)
{
    KvLeafEntry first = *entry_of(page, 0);

    *entry_of(page, 0) = *entry_of(page, 1);
    *entry_of(page, 1) = first;
}

static void forge_value(uint8_t *page)
{
    entry_of(page, 0)->value.extent[0].unit = GUINT32_TO_LE(UINT32_MAX);
}

static void forge_child(uint8_t *page)
{
    child_of(page, 1)->child = GUINT32_TO_LE(UINT32_MAX);
}

static void forge_back(uint8_t *page)
{
    child_of(page, 1)->key = child_of(page, 0)->key;
}

static uint8_t *unit_of(uint8_t *disk, uint32_t unit)
{
    return disk + (size_t)GUINT32_FROM_LE(unit) * KV_UNIT;
}

static void forge(uint8_t *disk, const Forged *f)
{
    uint8_t *page = unit_of(disk, ((KvHead *)disk)->root);
    KvPageHead *head;

    if (f->leaf) {
        page = unit_of(disk, child_of(page, 0)->child);
    }
    head = (KvPageHead *)page;
    g_assert_cmpuint(GUINT16_FROM_LE(head->level), ==, !f->leaf);
    f->forge(page);
    if (!f->keeps_crc) {
        head->crc =
            GUINT64_TO_LE(kv_crc(page, KV_UNIT, offsetof(KvPageHead, crc)));
    }
}

/* All commands end, with an error; a Format makes it an empty namespace. */
static void test_forged(void)
{
    static const Forged all[] = {
        {"nothing", forge_nothing, false, false},
        {"checksum", forge_byte, false, true},
        {"leaf's checksum", forge_byte, true, true},
        {"long key", forge_long_key, true, false},
        {"order", forge_order, true, false},
        {"value", forge_value, true, false},
        {"child", forge_child, false, false},
        {"back", forge_back, false, false},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(all); i++) {
        uint16_t want = i ? NVME_SC_KV_UNRECOVERED : 0;
        HostOptions o = {.namespaces = "8M:kv;rest"};
        Host *h = kv_host(&o);

        for (unsigned k = 0; k < N_FORGED; k++) {
            g_autofree char *key = g_strdup_printf("%03u", k);

            g_assert_cmphex(kv_store(h, NSID, key, k, 100), ==, 0);
        }
        kv_flush(h, NSID);
        o.disk = g_memdup2(h->disk, h->disk_bytes);
        host_free(h);
        g_test_message("%s", all[i].name);
        forge(o.disk, &all[i]);
        h = kv_host(&o);
        g_assert_cmphex(kv_status(h, NSID, NVME_KV_RETRIEVE, "000", 0, 512), ==,
                        want);
        g_assert_cmphex(kv_status(h, NSID, NVME_KV_LIST, "", 0, 4096), ==,
                        want);
        g_assert_cmphex(kv_status(h, NSID, NVME_KV_STORE, "x", 0, 512), ==,
                        want);
        g_assert_cmphex(format(h, NSID, 0), ==, 0);
        g_assert_cmphex(kv_store(h, NSID, "000", 7, 512), ==, 0);
        g_assert_cmpuint(kv_retrieve(h, NSID, "000", 512), ==, 512);
        host_free(h);
    }
}

/* Saved and loaded: with what no Flush has made durable. */
static void test_state(void)
{
    HostOptions o = {.namespaces = "8M:kv;rest"};
    g_autoptr(GByteArray) drive = NULL;
    g_autoptr(GByteArray) ctrl = NULL;
    g_autoptr(GError) error = NULL;
    Host *h = kv_host(&o);

    for (unsigned i = 0; i < 200; i++) {
        g_autofree char *key = g_strdup_printf("%u", i);

        g_assert_cmphex(kv_store(h, NSID, key, i, 1000 + i), ==, 0);
    }
    host_settle(h);
    host_save(h, &drive, &ctrl);
    h = host_reload(&o, h, drive, ctrl, &error);
    g_assert_no_error(error);
    nvme_hold(h->ctrl, false);
    for (unsigned i = 0; i < 200; i++) {
        g_autofree char *key = g_strdup_printf("%u", i);

        g_assert_cmpuint(kv_retrieve(h, NSID, key, 4096), ==, 1000 + i);
        g_assert_true(kv_is(h, HOST_DATA, i, 1000 + i));
    }
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/kv/commands", test_commands);
    g_test_add_func("/nvme/kv/keys", test_keys);
    g_test_add_func("/nvme/kv/options", test_options);
    g_test_add_func("/nvme/kv/bad-fields", test_bad_fields);
    g_test_add_func("/nvme/kv/other-sets", test_other_sets);
    g_test_add_func("/nvme/kv/list", test_list);
    g_test_add_func("/nvme/kv/identify", test_identify);
    g_test_add_func("/nvme/kv/create-ns", test_create_ns);
    g_test_add_func("/nvme/kv/profile", test_profile);
    g_test_add_func("/nvme/kv/config", test_config);
    for (unsigned i = 0; i < G_N_ELEMENTS(modes); i++) {
        g_autofree char *path = g_strdup_printf("/nvme/kv/random/%u", i);

        g_test_add_data_func(path, modes[i], test_random);
    }
    g_test_add_func("/nvme/kv/reads", test_reads);
    g_test_add_func("/nvme/kv/waf", test_waf);
    g_test_add_func("/nvme/kv/full", test_full);
    g_test_add_func("/nvme/kv/most-keys", test_most_keys);
    g_test_add_func("/nvme/kv/format", test_format);
    g_test_add_func("/nvme/kv/sanitize", test_sanitize);
    g_test_add_func("/nvme/kv/delete-ns", test_delete_ns);
    g_test_add_func("/nvme/kv/delete-any-time", test_delete_ns_any_time);
    g_test_add_func("/nvme/kv/protect", test_protect);
    g_test_add_func("/nvme/kv/reset", test_reset);
    g_test_add_func("/nvme/kv/shutdown", test_shutdown);
    g_test_add_func("/nvme/kv/forged", test_forged);
    g_test_add_func("/nvme/kv/state", test_state);
    return g_test_run();
}
