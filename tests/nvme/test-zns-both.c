/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-zns-both.c - a drive with zones and a space behind them
 * (zones.conventional): namespaces of both kinds, their commands and
 * management, and what power cuts and saved states leave of both.
 */
#include "zoned.h"

#include "kept.h"
#include "ssd-report.h"

/* 36 blocks, 8 of them spare, 4 of the space without zones. */
#define N_ZONES 24
#define BOTH                                                                   \
    "nand.blocks=36;ftl.op_percent=0%;buffer.size=1MiB;buffer.plp=on;"         \
    "ftl.alloc=in-order;zones.enabled=on;zones.max_active=4;"                  \
    "zones.max_open=3;zones.extension=1;zones.conventional=4MiB;"
#define PLAIN_BYTES (4U << 20)

static Host *both(const char *namespaces, uint32_t block_bytes)
{
    HostOptions o = {
        .set = BOTH,
        .block_bytes = block_bytes,
        .namespaces = namespaces,
    };
    Host *h = host_new(&o);

    queues(h);
    return h;
}

static void cut(Host *h)
{
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    queues(h);
}

/* With bytes of data at DATA. */
static NvmeSqe rw(Host *h, uint8_t opcode, uint32_t nsid, uint64_t lba,
                  uint32_t n, uint32_t bytes)
{
    NvmeSqe sqe = host_sqe(opcode, nsid, 0);

    host_map(h, &sqe, DATA, bytes);
    sqe.dw[10] = (uint32_t)lba;
    sqe.dw[11] = lba >> 32;
    sqe.dw[12] = n - 1;
    return sqe;
}

static uint16_t io(Host *h, uint8_t opcode, uint32_t nsid, uint64_t lba,
                   uint32_t n, uint32_t bytes)
{
    NvmeSqe sqe = rw(h, opcode, nsid, lba, n, bytes);

    return host_code(host_do(h, 1, &sqe).status);
}

static uint16_t identify(Host *h, uint8_t cns, uint32_t nsid, unsigned csi)
{
    memset(host_ram(h, BUF, 4096), 0xee, 4096);
    return host_code(command(h, 0, NVME_ADM_IDENTIFY, nsid,
                             (uint32_t[]){cns, csi << 24, 0, 0})
                         .status);
}

/* The list has these NSIDs; 0: none. */
static void check_list(Host *h, uint8_t cns, unsigned csi, uint32_t first,
                       uint32_t second)
{
    g_assert_cmphex(identify(h, cns, 0, csi), ==, 0);
    g_assert_cmpuint(get_le32(h->ram + BUF), ==, first);
    g_assert_cmpuint(get_le32(h->ram + BUF + 4), ==, second);
}

static unsigned csi_of(Host *h, uint32_t nsid)
{
    const uint8_t *d = h->ram + BUF;

    g_assert_cmphex(identify(h, 3, nsid, 0), ==, 0);
    while (d[0] && d[0] != 4) {
        d += 4 + d[1];
    }
    g_assert_cmphex(d[0], ==, 4);
    return d[4];
}

/* ---- what the host reads ------------------------------------------------- */

static void test_identify(void)
{
    Host *h = both(NULL, 512);
    const uint8_t *d = h->ram + BUF;

    check_list(h, 0x02, 0, 1, 2);
    check_list(h, 0x10, 0, 1, 2);
    check_list(h, 0x07, 0, 2, 0);
    check_list(h, 0x07, 2, 1, 0);
    check_list(h, 0x1a, 0, 2, 0);
    check_list(h, 0x1a, 2, 1, 0);
    g_assert_cmpuint(csi_of(h, 1), ==, 2);
    g_assert_cmpuint(csi_of(h, 2), ==, 0);
    /* Blocks of 4 KiB, in both. */
    g_assert_cmphex(identify(h, 0, 1, 0), ==, 0);
    g_assert_cmpuint(get_le64(d), ==, N_ZONES * ZONE);
    g_assert_cmpuint(get_le64(d + 8), ==, N_ZONES * ZONE);
    g_assert_cmpuint(d[26] & 0xf, ==, 1);
    g_assert_cmpuint(get_le64(d + 48), ==, N_ZONES * ZONE * 4096ULL);
    g_assert_cmphex(identify(h, 0, 2, 0), ==, 0);
    g_assert_cmpuint(get_le64(d), ==, PLAIN_BYTES / 4096);
    g_assert_cmpuint(get_le64(d + 8), ==, PLAIN_BYTES / 4096);
    g_assert_cmpuint(d[26] & 0xf, ==, 1);
    g_assert_cmphex(identify(h, 5, 1, 2), ==, 0);
    g_assert_cmpuint(get_le64(d + 2816 + 16), ==, ZONE);
    g_assert_cmphex(identify(h, 0x1b, 1, 2), ==, 0);
    g_assert_cmphex(identify(h, 5, 2, 2), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(identify(h, 5, 2, 0), ==, 0);
    g_assert_cmphex(identify(h, 6, 0, 2), ==, 0);
    g_assert_cmphex(identify(h, 8, 1, 0), ==, 0);
    g_assert_cmphex(identify(h, 8, 2, 0), ==, 0);
    g_assert_cmphex(identify(h, 1, 0, 0), ==, 0);
    g_assert_cmphex(get_le16(d + 520) & 0x10c, ==, 0x10c); /* DSM ... Copy */
    g_assert_cmpuint(get_le64(d + 280), ==,
                     N_ZONES * ZONE * 4096ULL + PLAIN_BYTES);
    g_assert_cmpuint(get_le64(d + 296), ==, 0);
    host_free(h);
}

static void test_effects(void)
{
    Host *h = both(NULL, 512);
    NvmeSqe sqe = host_sqe(NVME_ADM_GET_LOG_PAGE, 0, BUF);

    sqe.dw[10] = 1023U << 16 | 5;
    for (unsigned csi = 0; csi <= 2; csi += 2) {
        const uint8_t *iocs = h->ram + BUF + 1024;

        sqe.dw[14] = csi << 24;
        g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
        g_assert_cmpuint(get_le32(iocs + 4 * NVME_IO_ZONE_APPEND) & 1, ==,
                         csi == 2);
        g_assert_cmpuint(get_le32(iocs + 4 * NVME_IO_COPY) & 1, ==, csi == 0);
        g_assert_cmpuint(get_le32(iocs + 4 * NVME_IO_WRITE) & 1, ==, 1);
    }
    host_free(h);
}

/* A host that knows the NVM Command Set alone has the other namespace. */
static void test_nvm_only(void)
{
    Host *h = both(NULL, 512);

    host_write32(h, NVME_REG_CC, 0);
    host_write32(h, NVME_REG_CC, 0x00460001);
    memset(h->cq, 0, sizeof(h->cq));
    h->q[0] = (HostQueue){.sq_addr = HOST_ADMIN_SQ, .sq_size = 32};
    h->cq[0] = (HostCqRing){.addr = HOST_ADMIN_CQ, .size = 32, .phase = 1};
    memset(host_ram(h, HOST_ADMIN_CQ, 4096), 0, 4096);
    host_run(h);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
    check_list(h, 0x02, 0, 2, 0);
    host_free(h);
}

/* ---- commands ------------------------------------------------------------ */

static void test_commands(void)
{
    Host *h = both("zoned;rest", 512); /* the second in blocks of 512 bytes */

    mark(h, 7, 8);
    g_assert_cmphex(put(h, 0, 1), ==, 0);
    g_assert_cmphex(io(h, NVME_IO_WRITE, 1, 1, 3, 3 * 4096), ==, 0);
    g_assert_cmphex(io(h, NVME_IO_WRITE, 2, 100, 8, 4096), ==, 0);
    g_assert_cmphex(io(h, NVME_IO_WRITE, 2, 3, 8, 4096), ==, 0);
    /* Commands of the other command set. */
    g_assert_cmphex(io(h, NVME_IO_ZONE_APPEND, 2, 0, 1, 512), ==,
                    NVME_SC_INVALID_OPCODE);
    g_assert_cmphex(host_code(command(h, 1, NVME_IO_ZONE_SEND, 2,
                                      (uint32_t[]){0, 0, 0, RESET})
                                  .status),
                    ==, NVME_SC_INVALID_OPCODE);
    g_assert_cmphex(host_code(command(h, 1, NVME_IO_ZONE_RECEIVE, 2,
                                      (uint32_t[]){0, 0, 63, 0})
                                  .status),
                    ==, NVME_SC_INVALID_OPCODE);
    g_assert_cmphex(io(h, NVME_IO_WRITE_ZEROES, 1, 0, 1, 512), ==,
                    NVME_SC_INVALID_OPCODE);
    g_assert_cmphex(io(h, NVME_IO_WRITE_ZEROES, 2, 100, 4, 512), ==, 0);
    g_assert_cmphex(
        host_code(
            command(h, 0, NVME_ADM_FORMAT, 2, (uint32_t[]){0, 0, 0, 0}).status),
        ==, NVME_SC_INVALID_OPCODE);
    /* Neither sees the other's blocks; a write is where it was. */
    g_assert_cmphex(io(h, NVME_IO_READ, 2, 100, 8, 4096), ==, 0);
    for (unsigned i = 0; i < 4096; i++) {
        g_assert_cmpuint(h->ram[DATA + i], ==, i < 2048 ? 0 : 7);
    }
    g_assert_cmphex(fetch(h, 0, 8), ==, 0);
    g_assert_true(is_all(h, 7, 0, 4) && is_all(h, 0, 4, 4));
    g_assert_cmpuint(pointer(h, 0), ==, 4);
    g_assert_cmphex(io(h, NVME_IO_READ, 2, PLAIN_BYTES / 512, 1, 512), ==,
                    NVME_SC_LBA_RANGE);
    g_assert_cmphex(send(h, 0, RESET), ==, 0);
    g_assert_cmphex(io(h, NVME_IO_READ, 2, 3, 8, 4096), ==, 0);
    g_assert_true(is_all(h, 7, 0, 1));
    g_assert_cmphex(io(h, NVME_IO_FLUSH, NVME_NSID_ALL, 0, 1, 512), ==, 0);
    host_free(h);
}

static uint16_t copy_from(Host *h, uint32_t nsid, uint64_t from, uint32_t n,
                          uint32_t to_nsid, uint64_t to)
{
    NvmeSqe sqe = host_sqe(NVME_IO_COPY, to_nsid, BUF);
    uint8_t *p = host_ram(h, BUF, 32);

    memset(p, 0, 32);
    put_le32(p, nsid);
    put_le64(p + 8, from);
    p[16] = (uint8_t)(n - 1);
    sqe.dw[10] = (uint32_t)to;
    sqe.dw[12] = 2 << 8;
    return host_code(host_do(h, 1, &sqe).status);
}

/* From a zone to the other namespace. */
static void test_copy(void)
{
    Host *h = both(NULL, 4096);
    NvmeSqe sqe = host_sqe(NVME_ADM_SET_FEATURES, 0, BUF);

    memset(host_ram(h, BUF, 512), 0, 512);
    h->ram[BUF + 4] = 1 << 2 | 1 << 3; /* CDFE */
    sqe.dw[10] = 0x16;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    mark(h, 9, 8);
    g_assert_cmphex(put(h, ZONE, 8), ==, 0);
    g_assert_cmphex(copy_from(h, 1, ZONE + 2, 8, 2, 50), ==, 0);
    g_assert_cmphex(io(h, NVME_IO_READ, 2, 50, 8, 8 * 4096), ==, 0);
    g_assert_true(is_all(h, 9, 0, 6) && is_all(h, 0, 6, 2));
    /* Two zones; to a zone; in the other namespace alone. */
    g_assert_cmphex(copy_from(h, 1, ZONE - 2, 4, 2, 50), ==,
                    NVME_SC_ZONE_BOUNDARY);
    g_assert_cmphex(copy_from(h, 2, 50, 4, 1, 0), ==, NVME_SC_INVALID_OPCODE);
    g_assert_cmphex(copy_from(h, 2, 50, 4, 2, 200), ==, 0);
    host_free(h);
}

/* ---- management ---------------------------------------------------------- */

static HostCqe create(Host *h, uint64_t nsze, uint64_t ncap, uint8_t format,
                      unsigned csi)
{
    uint8_t *id = host_ram(h, BUF, 4096);

    memset(id, 0, 4096);
    put_le64(id, nsze);
    put_le64(id + 8, ncap);
    id[26] = format;
    return command(h, 0, NVME_ADM_NS_MANAGEMENT, 0,
                   (uint32_t[]){0, csi << 24, 0, 0});
}

static uint16_t create_zoned(Host *h)
{
    uint8_t format = h->info->block_bytes == 4096 ? 0 : 1;

    return host_code(
        create(h, N_ZONES * ZONE, N_ZONES * ZONE, format, 2).status);
}

static uint16_t delete_ns(Host *h, uint32_t nsid)
{
    return host_code(
        command(h, 0, NVME_ADM_NS_MANAGEMENT, nsid, (uint32_t[]){1, 0, 0, 0})
            .status);
}

static void attach(Host *h, uint32_t nsid)
{
    uint8_t *list = host_ram(h, BUF, 4096);
    uint16_t cntlid;

    g_assert_cmphex(identify(h, 1, 0, 0), ==, 0);
    cntlid = get_le16(list + 78);
    memset(list, 0, 4096);
    list[0] = 1;
    put_le16(list + 2, cntlid);
    g_assert_cmphex(
        command(h, 0, NVME_ADM_NS_ATTACHMENT, nsid, (uint32_t[]){0, 0, 0, 0})
            .status,
        ==, 0);
}

/* Each zone is empty and reads as zeroes. */
static void check_empty(Host *h)
{
    for (unsigned i = 0; i < N_ZONES; i++) {
        g_assert_cmpuint(state(h, i), ==, EMPTY);
        g_assert_cmphex(fetch(h, i * ZONE, 64), ==, 0);
        g_assert_true(is_all(h, 0, 0, 64));
    }
}

static void fill_some(Host *h)
{
    for (unsigned i = 0; i < 6; i++) {
        mark(h, 0xaa, 64);
        g_assert_cmphex(put(h, i * ZONE, 64), ==, 0);
        if (i % 2) {
            g_assert_cmphex(send(h, i * ZONE, FINISH), ==, 0);
        }
    }
    memset(host_ram(h, BUF, 64), 0x77, 64);
    g_assert_cmphex(send(h, 7 * ZONE, EXTENSION), ==, 0);
}

/* Command Specific Information of the newest error. */
static uint64_t needed(Host *h)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_GET_LOG_PAGE, 0, BUF);

    sqe.dw[10] = 1 | 15 << 16;
    g_assert_cmphex(host_code(host_do(h, 0, &sqe).status), ==, 0);
    return get_le64(h->ram + BUF + 32);
}

static void test_manage(void)
{
    Host *h = both("zoned;2M;rest", 512);
    uint64_t zoned;
    HostCqe cqe;

    check_list(h, 0x07, 0, 2, 3);
    fill_some(h);
    mark(h, 0x55, 4);
    g_assert_cmphex(io(h, NVME_IO_WRITE, 2, 0, 8, 4096), ==, 0);
    g_assert_cmphex(io(h, NVME_IO_WRITE, 3, 0, 8, 4096), ==, 0);
    g_assert_cmphex(create_zoned(h), ==, NVME_SC_NS_CAPACITY);
    g_assert_cmphex(identify(h, 0, 1, 0), ==, 0);
    zoned = get_le64(h->ram + BUF + 48); /* NVMCAP */
    g_assert_cmpuint(needed(h), ==, zoned);
    g_assert_cmphex(delete_ns(h, 1), ==, 0);
    check_list(h, 0x02, 0, 2, 3);
    g_assert_cmphex(identify(h, 1, 0, 0), ==, 0);
    g_assert_cmpuint(get_le64(h->ram + BUF + 296), ==, N_ZONES * ZONE * 4096);
    /* Not all zones, too many, another format, another command set. */
    cqe = create(h, (N_ZONES - 1) * ZONE, (N_ZONES - 1) * ZONE, 1, 2);
    g_assert_cmphex(host_code(cqe.status), ==, NVME_SC_INVALID_FIELD);
    cqe = create(h, (N_ZONES + 1) * ZONE, (N_ZONES + 1) * ZONE, 1, 2);
    g_assert_cmphex(host_code(cqe.status), ==, NVME_SC_NS_CAPACITY);
    g_assert_cmpuint(needed(h), ==, zoned / N_ZONES * (N_ZONES + 1));
    cqe = create(h, N_ZONES * ZONE, N_ZONES * ZONE, 0, 2);
    g_assert_cmphex(host_code(cqe.status), ==, NVME_SC_INVALID_FORMAT);
    cqe = create(h, N_ZONES * ZONE, 5, 1, 2);
    g_assert_cmphex(host_code(cqe.status), ==, NVME_SC_INVALID_FIELD);
    cqe = create(h, 4096, 4096, 0, 1);
    g_assert_cmphex(host_code(cqe.status), ==, NVME_SC_COMMAND_SET);
    g_assert_cmphex(create_zoned(h), ==, 0);
    attach(h, 1);
    check_empty(h);
    fill_some(h);
    /* The others go and come; the zones stay. */
    g_assert_cmphex(io(h, NVME_IO_READ, 2, 0, 8, 4096), ==, 0);
    g_assert_true(is_all(h, 0x55, 0, 1));
    g_assert_cmphex(delete_ns(h, 2), ==, 0);
    g_assert_cmphex(delete_ns(h, 3), ==, 0);
    cqe = create(h, PLAIN_BYTES / 4096, PLAIN_BYTES / 4096, 1, 0);
    g_assert_cmphex(cqe.status, ==, 0);
    g_assert_cmpuint(cqe.dw0, ==, 2);
    attach(h, 2);
    g_assert_cmphex(io(h, NVME_IO_READ, 2, 0, 4, 4 * 4096), ==, 0);
    g_assert_true(is_all(h, 0, 0, 4));
    g_assert_cmpuint(pointer(h, 0), ==, 64);
    /* All. */
    g_assert_cmphex(delete_ns(h, NVME_NSID_ALL), ==, 0);
    check_list(h, 0x10, 0, 0, 0);
    g_assert_cmphex(create_zoned(h), ==, 0);
    attach(h, 1);
    check_empty(h);
    host_free(h);
}

static uint16_t protect(Host *h, uint32_t nsid, uint32_t state)
{
    uint32_t dw[4] = {0x84, state};

    return host_code(command(h, 0, NVME_ADM_SET_FEATURES, nsid, dw).status);
}

/* ZNS 2.1.1.3: active zones become Full when the namespace is protected; their
 * data stays, and an open zone has lost nothing that was written. */
static void test_protect(void)
{
    Host *h = both("zoned;rest", 512);

    fill_some(h); /* 0, 2, 4 open, 1, 3, 5 full, 7 closed */
    g_assert_cmphex(send(h, 0, OPEN), ==, 0);
    g_assert_cmphex(send(h, 2 * ZONE, CLOSE), ==, 0);
    for (unsigned n = 0; n < 2; n++) { /* the second time changes nothing */
        g_assert_cmphex(protect(h, 2, n), ==, 0);
        g_assert_cmpuint(state(h, 0), ==, EXPLICIT);
    }
    for (unsigned n = 0; n < 2; n++) {
        g_assert_cmphex(protect(h, 1, 1), ==, 0);
        for (unsigned i = 0; i < N_ZONES; i++) {
            g_assert_cmpuint(state(h, i), ==, i < 6 || i == 7 ? FULL : EMPTY);
        }
    }
    g_assert_cmphex(put(h, 9 * ZONE, 1), ==, NVME_SC_NS_PROTECTED);
    g_assert_cmphex(send(h, 0, RESET), ==, NVME_SC_NS_PROTECTED);
    cut(h);
    g_assert_cmpuint(state(h, 0), ==, FULL);
    g_assert_cmphex(fetch(h, 0, 64), ==, 0);
    g_assert_true(is_all(h, 0xaa, 0, 64));
    g_assert_cmphex(protect(h, 1, 0), ==, 0);
    g_assert_cmphex(send(h, 0, RESET), ==, 0);
    g_assert_cmphex(put(h, 0, 1), ==, 0);
    host_free(h);
}

/* Commands are in flight when the zoned namespace is deleted. */
static void test_delete_busy(void)
{
    for (unsigned at = 0; at < 24; at++) {
        Host *h = both(NULL, 4096);
        NvmeSqe sqe = host_sqe(NVME_IO_ZONE_SEND, 1, BUF);
        unsigned n = 0;

        fill_some(h);
        for (unsigned i = 8; i < 11; i++, n++) {
            NvmeSqe w = rw(h, NVME_IO_WRITE, 1, i * ZONE, 32, 32 * 4096);

            host_send(h, 1, &w);
        }
        sqe.dw[10] = at % 2 ? 0 : 2 * ZONE;
        sqe.dw[13] = at % 2 ? RESET : FINISH;
        host_send(h, 1, &sqe);
        host_sleep(h, at * 20000);
        g_assert_cmphex(delete_ns(h, 1), ==, 0);
        for (n++; n; n--) {
            host_wait(h, 1);
        }
        g_assert_cmphex(create_zoned(h), ==, 0);
        attach(h, 1);
        check_empty(h);
        host_free(h);
    }
}

/* The power goes during a Delete: nobody finds what the zones had. */
static void test_delete_power(void)
{
    for (unsigned at = 0; at < 36; at++) {
        Host *h = both(NULL, 4096);
        NvmeSqe sqe = host_sqe(NVME_ADM_NS_MANAGEMENT, 1, 0);
        unsigned left = 20;
        uint16_t status;

        fill_some(h);
        sqe.dw[10] = 1;
        host_send(h, 0, &sqe);
        host_sleep(h, at * 100000);
        cut(h);
        g_assert_cmphex(identify(h, 0x10, 0, 0), ==, 0);
        if (get_le32(h->ram + BUF) == 1) { /* the command had not begun */
            g_assert_cmphex(delete_ns(h, 1), ==, 0);
        }
        do {
            status = create_zoned(h);
        } while (status == NVME_SC_COMMAND_SEQUENCE && left--);
        g_assert_cmphex(status, ==, 0);
        attach(h, 1);
        check_empty(h);
        g_assert_cmphex(put(h, 0, 8), ==, 0);
        host_free(h);
    }
}

static void check_refused(const char *namespaces, const char *why)
{
    HostOptions o = {.set = BOTH, .namespaces = namespaces};
    GError *error = NULL;

    g_assert_false(host_try(&o, &error));
    g_assert_nonnull(strstr(error->message, why));
    g_clear_error(&error);
}

static void test_configuration(void)
{
    HostOptions o = {.set = ZONED, .block_bytes = 4096, .namespaces = "2"};
    HostOptions small = {.set = BOTH, .nblocks = 24 * ZONE * 8 + 7};
    GError *error = NULL;
    Host *h;

    check_refused("zoned;zoned", "there is one set of zones");
    check_refused("zoned;1M:kv", "not go with zones.enabled=on");
    check_refused("0:kv", "not go with zones.enabled=on");
    check_refused("zoned;5M", "the drive has 4194304 bytes");
    check_refused("zone", "allowed are");
    g_assert_false(host_try(&o, &error));
    g_assert_cmpstr(error->message, ==,
                    "namespaces=2: with zones.enabled=on it needs "
                    "zones.conventional");
    g_clear_error(&error);
    g_assert_false(host_try(&small, &error));
    g_assert_cmpstr(error->message, ==,
                    "zones.conventional: the image has 49159 blocks, the zones "
                    "alone take 49152");
    g_clear_error(&error);
    /* No zoned namespace yet; the zones are there for one. */
    h = both("4", 512);
    check_list(h, 0x07, 2, 0, 0);
    g_assert_cmphex(create_zoned(h), ==, 0);
    attach(h, 5);
    check_list(h, 0x07, 2, 5, 0);
    host_free(h);
    /* In any place; a smaller image has all zones. */
    h = both("1M;zoned;rest", 512);
    check_list(h, 0x07, 2, 2, 0);
    check_list(h, 0x07, 0, 1, 3);
    host_free(h);
    h = host_new(&(HostOptions){.set = BOTH, .nblocks = 24 * ZONE * 8 + 800});
    queues(h);
    g_assert_cmphex(identify(h, 0, 2, 0), ==, 0);
    g_assert_cmpuint(get_le64(h->ram + BUF), ==, 100); /* of 4 KiB */
    host_free(h);
}

/* ---- both, at random ----------------------------------------------------- */

#define N_PLAIN (PLAIN_BYTES / 4096)
#define BUSY    3 /* zones that are written */

/* What the host knows: the last value of each block that was acknowledged, and
 * one that may be there instead. */
typedef struct World {
    Host *h;
    Prng rng;
    uint8_t plain[N_PLAIN];
    bool unsure[N_PLAIN];
    uint32_t acked[BUSY];
    unsigned value;
} World;

typedef struct Sent {
    bool plain;
    uint32_t zone;
    uint32_t first, n;
    uint8_t value;
} Sent;

#define IN_FLIGHT 16

static void send_one(World *w, unsigned k, Sent *s, uint32_t *sent,
                     uint16_t *cid)
{
    uint64_t at = DATA + k * 0x10000;
    NvmeSqe sqe = host_sqe(NVME_IO_WRITE, 1, 0);
    uint64_t lba;

    s->n = 1 + (uint32_t)prng_below(&w->rng, 8);
    s->plain = prng_below(&w->rng, 2);
    s->value = (uint8_t)(1 + ++w->value % 250);
    s->zone = (uint32_t)prng_below(&w->rng, BUSY);
    s->first =
        s->plain ? (uint32_t)prng_below(&w->rng, N_PLAIN - 8) : sent[s->zone];
    if (s->plain) {
        lba = s->first;
        sqe.dw[1] = 2;
        for (uint32_t i = s->first; i < s->first + s->n; i++) {
            w->unsure[i] = true;
        }
    } else {
        s->value = (uint8_t)(s->zone + 1);
        lba = s->zone * ZONE + s->first;
        sent[s->zone] += s->n;
    }
    memset(host_ram(w->h, at, s->n * 4096), s->value, s->n * 4096);
    host_map_at(w->h, &sqe, HOST_LISTS + (k + 1) * 4096, at, s->n * 4096);
    sqe.dw[10] = (uint32_t)lba;
    sqe.dw[12] = s->n - 1;
    *cid = host_send(w->h, 1, &sqe);
}

static void check_world(World *w, const uint32_t *sent)
{
    for (uint32_t i = 0; i < N_PLAIN; i += 32) {
        g_assert_cmphex(io(w->h, NVME_IO_READ, 2, i, 32, 32 * 4096), ==, 0);
        for (uint32_t k = 0; k < 32; k++) {
            g_assert_true(w->unsure[i + k] ||
                          is_all(w->h, w->plain[i + k], k, 1));
            if (w->unsure[i + k]) { /* what is there now stays */
                w->plain[i + k] = w->h->ram[DATA + k * 4096];
                w->unsure[i + k] = false;
                g_assert_true(is_all(w->h, w->plain[i + k], k, 1));
            }
        }
    }
    for (uint32_t z = 0; z < BUSY; z++) {
        unsigned s = state(w->h, z);
        uint64_t wp = s == FULL ? ZONE : pointer(w->h, z);

        g_assert_cmpuint(wp, >=, w->acked[z]);
        g_assert_cmpuint(wp, <=, sent[z]);
        g_assert_cmphex(fetch(w->h, z * ZONE, 128), ==, 0);
        for (uint32_t k = 0; k < MIN(128, w->acked[z]); k++) {
            g_assert_true(is_all(w->h, (uint8_t)(z + 1), k, 1));
        }
        w->acked[z] = (uint32_t)wp;
        if (wp > ZONE - IN_FLIGHT * 8) {
            g_assert_cmphex(send(w->h, z * ZONE, RESET), ==, 0);
            w->acked[z] = 0;
        }
    }
}

/* Writes to both, some in flight when the power goes: what was acknowledged is
 * there.  Blocks that had several writes in flight may have any of them. */
static void test_power(void)
{
    World *w = g_new0(World, 1);

    w->h = both(NULL, 4096);
    prng_seed(&w->rng, 5, 5);
    for (unsigned round = 0; round < 100; round++) {
        Sent s[IN_FLIGHT];
        uint16_t cid[IN_FLIGHT];
        uint32_t sent[BUSY];
        unsigned waits = (unsigned)prng_below(&w->rng, IN_FLIGHT + 1);
        bool in_order[BUSY] = {true, true, true};
        bool done[IN_FLIGHT] = {false};

        memcpy(sent, w->acked, sizeof(sent));
        for (unsigned k = 0; k < IN_FLIGHT; k++) {
            send_one(w, k, &s[k], sent, &cid[k]);
        }
        while (waits--) {
            HostCqe cqe = host_wait(w->h, 1);

            g_assert_cmphex(cqe.status, ==, 0);
            for (unsigned k = 0; k < IN_FLIGHT; k++) {
                done[k] |= cid[k] == cqe.cid;
            }
        }
        for (unsigned k = 0; k < IN_FLIGHT; k++) {
            bool alone = done[k] && s[k].plain;

            for (unsigned o = 0; o < IN_FLIGHT && alone; o++) {
                alone = o == k || !s[o].plain ||
                        s[o].first >= s[k].first + s[k].n ||
                        s[k].first >= s[o].first + s[o].n;
            }
            for (uint32_t i = 0; i < s[k].n && alone; i++) {
                w->plain[s[k].first + i] = s[k].value;
                w->unsure[s[k].first + i] = false;
            }
            if (!s[k].plain) {
                in_order[s[k].zone] &= done[k];
                if (in_order[s[k].zone]) {
                    w->acked[s[k].zone] = s[k].first + s[k].n;
                }
            }
        }
        host_sleep(w->h, prng_below(&w->rng, 30000));
        cut(w->h);
        check_world(w, sent);
    }
    host_free(w->h);
    g_free(w);
}

/* ---- saved states -------------------------------------------------------- */

static void test_saved(void)
{
    HostOptions o = {
        .set = BOTH, .block_bytes = 512, .namespaces = "zoned;1M;rest"};
    Host *h = both("zoned;1M;rest", 512);
    GByteArray *drive, *ctrl;
    GError *error = NULL;

    fill_some(h);
    mark(h, 0x55, 4);
    g_assert_cmphex(io(h, NVME_IO_WRITE, 3, 8, 8, 4096), ==, 0);
    host_settle(h);
    host_save(h, &drive, &ctrl);
    h = host_reload(&o, h, drive, ctrl, &error);
    g_assert_no_error(error);
    nvme_hold(h->ctrl, false);
    check_list(h, 0x07, 2, 1, 0);
    check_list(h, 0x07, 0, 2, 3);
    g_assert_cmpuint(pointer(h, 2), ==, 64);
    g_assert_cmpuint(state(h, 1), ==, FULL);
    g_assert_cmphex(io(h, NVME_IO_READ, 3, 8, 8, 4096), ==, 0);
    g_assert_true(is_all(h, 0x55, 0, 1));
    g_assert_cmphex(delete_ns(h, 1), ==, 0);
    g_assert_cmphex(create_zoned(h), ==, 0);
    attach(h, 1);
    check_empty(h);
    g_byte_array_unref(drive);
    g_byte_array_unref(ctrl);
    host_free(h);
}

/* state=FILE: namespaces, also without the zoned one. */
static void test_kept(void)
{
    HostOptions o = {
        .set = BOTH, .block_bytes = 4096, .namespaces = "zoned;1M;rest"};
    Host *h = both(o.namespaces, 4096);
    GError *error = NULL;
    char *bytes;
    size_t n;

    g_assert_cmphex(put(h, 0, 8), ==, 0);
    for (unsigned round = 0; round < 2; round++) {
        bytes = kept_save(h, &n);
        host_free(h);
        kept_is_checked(&o, bytes, n);
        h = kept_load(&o, bytes, n, &error);
        g_assert_no_error(error);
        free(bytes);
        queues(h);
        check_list(h, 0x10, 0, round ? 2 : 1, round ? 3 : 2);
        if (!round) {
            check_list(h, 0x07, 2, 1, 0);
            g_assert_cmphex(delete_ns(h, 1), ==, 0);
        }
    }
    g_assert_cmphex(create_zoned(h), ==, 0);
    attach(h, 1);
    check_empty(h);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/zns-both/identify", test_identify);
    g_test_add_func("/zns-both/effects", test_effects);
    g_test_add_func("/zns-both/nvm-only", test_nvm_only);
    g_test_add_func("/zns-both/commands", test_commands);
    g_test_add_func("/zns-both/copy", test_copy);
    g_test_add_func("/zns-both/manage", test_manage);
    g_test_add_func("/zns-both/protect", test_protect);
    g_test_add_func("/zns-both/delete-busy", test_delete_busy);
    g_test_add_func("/zns-both/delete-power", test_delete_power);
    g_test_add_func("/zns-both/configuration", test_configuration);
    g_test_add_func("/zns-both/power", test_power);
    g_test_add_func("/zns-both/saved", test_saved);
    g_test_add_func("/zns-both/kept", test_kept);
    return g_test_run();
}
