/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-supported.c - what the controller says that it supports, against what it
 * takes: log pages (00h), commands (05h), features (12h), command sets.
 */
#include "admin.h"

static uint32_t supported[3][256];

static void read_tables(Host *h)
{
    static const uint8_t lid[3] = {0x00, 0x05, 0x12};

    for (unsigned k = 0; k < 3; k++) {
        g_assert_cmphex(admin_log(h, lid[k], 0, 1024, 0), ==, 0);
        for (unsigned i = 0; i < 256; i++) {
            supported[k][i] = get_le32(admin_data(h) + 4 * i);
        }
    }
}

/* Options that bring commands, features and pages of their own. */
static const char *const drives[] = {
    NULL,
    "fdp.ruhs=4;nand.blocks=64;ftl.op_percent=120%",
    "streams.max=4;nand.blocks=64;ftl.op_percent=120%",
    "thermal.resistance=10",
};

/* Page 00h lists a page if and only if it is not an invalid one. */
static void test_logs(void)
{
    for (unsigned d = 0; d < G_N_ELEMENTS(drives); d++) {
        Host *h = admin_host(&(HostOptions){.set = drives[d]});

        read_tables(h);
        for (unsigned lid = 0; lid < 256; lid++) {
            bool is =
                admin_log(h, (uint8_t)lid, 0, 4, 0) != NVME_SC_INVALID_LOG_PAGE;

            g_assert_cmphex(supported[0][lid] & 1, ==, is);
        }
        g_assert_cmphex(supported[0][0x00], ==, 1);
        g_assert_cmphex(supported[0][0x20], ==, d == 1);
        host_free(h);
    }
}

static uint16_t log_of(Host *h, unsigned lid, uint32_t nsid)
{
    bool group = lid == 0x09 || (lid >= 0x20 && lid <= 0x23);

    return admin_status(
        h, NVME_ADM_GET_LOG_PAGE, nsid,
        ADMIN_DW(lid | 0xffU << 16, group ? 1 << 16 : lid == 0x0a), 1024);
}

/* A page takes a namespace that there is, also where the page has no form for
 * one; no other number. */
static void test_log_namespaces(void)
{
    static const struct {
        const char *namespaces;
        uint32_t valid, unused, none;
    } row[] = {{NULL, 1, 0, 2}, {"2", 2, 3, 257}};

    for (unsigned d = 0; d < G_N_ELEMENTS(drives) * G_N_ELEMENTS(row); d++) {
        unsigned r = d % G_N_ELEMENTS(row);
        Host *h =
            admin_host(&(HostOptions){.set = drives[d / G_N_ELEMENTS(row)],
                                      .namespaces = row[r].namespaces});

        read_tables(h);
        for (unsigned lid = 0; lid < 256; lid++) {
            if (!(supported[0][lid] & 1)) {
                continue;
            }
            if (lid == 0x0d) { /* establish its context */
                g_assert_cmphex(admin_log(h, 0x0d, 1, 512, 0), ==, 0);
            }
            g_assert_cmphex(log_of(h, lid, NVME_NSID_ALL), ==, 0);
            g_assert_cmphex(log_of(h, lid, 0), ==, 0);
            g_assert_cmphex(log_of(h, lid, row[r].valid), ==, 0);
            g_assert_cmphex(log_of(h, lid, row[r].none), ==,
                            NVME_SC_INVALID_NSID);
            g_assert_cmphex(log_of(h, lid, row[r].unused), ==,
                            row[r].unused ? NVME_SC_INVALID_FIELD : 0);
        }
        host_free(h);
    }
}

/* With one namespace the health of namespace 1 is that of the drive. */
static void test_health_of_one(void)
{
    Host *h = admin_host(NULL);
    uint8_t all[512];

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    for (unsigned i = 0; i < 5; i++) {
        g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, i * 8, 8, HOST_DATA), ==,
                        0);
    }
    g_assert_cmphex(log_of(h, 0x02, NVME_NSID_ALL), ==, 0);
    memcpy(all, admin_data(h), sizeof(all));
    g_assert_cmphex(log_of(h, 0x02, 1), ==, 0);
    g_assert_cmpmem(all, sizeof(all), admin_data(h), sizeof(all));
    g_assert_cmpuint(get_le64(all + 80), ==, 5); /* host writes */
    host_free(h);
}

/* Page 05h lists a command if and only if its opcode is valid, with a scope. */
static void test_commands(void)
{
    for (unsigned d = 0; d < G_N_ELEMENTS(drives); d++) {
        Host *h = admin_host(&(HostOptions){.set = drives[d]});

        read_tables(h);
        for (unsigned op = 0; op < 256; op++) {
            uint32_t e = supported[1][op];
            uint16_t code = 0;

            if (op == NVME_ADM_ASYNC_EVENT) {
                continue;
            }
            /* No namespace, no queue, nothing to do. */
            code = admin_status(h, (uint8_t)op, 0x12345,
                                ADMIN_DW(0xffffffff, 0xffffffff), 0);
            g_assert_cmphex(e & 1, ==, code != NVME_SC_INVALID_OPCODE);
            g_assert_true(!(e & 1) || e >> 20);
        }
        host_free(h);
    }
}

/* Page 12h lists a feature if and only if it can be read, with a scope. */
static void test_features(void)
{
    for (unsigned d = 0; d < G_N_ELEMENTS(drives); d++) {
        Host *h = admin_host(&(HostOptions){.set = drives[d]});

        read_tables(h);
        for (unsigned fid = 0; fid < 256; fid++) {
            uint32_t e = supported[2][fid];
            uint16_t code = admin_status(h, NVME_ADM_GET_FEATURES, 1,
                                         ADMIN_DW(fid | 3 << 8), 4096);

            g_assert_cmphex(e & 1, ==, code != NVME_SC_INVALID_FIELD);
            g_assert_cmphex(e >> 20 != 0, ==, e & 1);
        }
        g_assert_cmphex(supported[2][0x05], ==, 1 | 1 << 20);
        g_assert_cmphex(supported[2][0x07], ==, 1 | 1 << 21);
        host_free(h);
    }
}

static void test_command_sets(void)
{
    Host *h = admin_host(NULL);
    const uint8_t *d = admin_data(h);

    g_assert_cmphex(
        admin_status(h, NVME_ADM_IDENTIFY, 0, ADMIN_DW(0x1c | 1U << 16), 4096),
        ==, 0);
    g_assert_cmphex(get_le64(d), ==, 1);
    g_assert_cmphex(get_le64(d + 8), ==, 0);
    g_assert_cmphex(admin_status(h, NVME_ADM_IDENTIFY, 0,
                                 ADMIN_DW(0x1c | 0xffffU << 16), 4096),
                    ==, 0);
    g_assert_cmphex(
        admin_status(h, NVME_ADM_IDENTIFY, 0, ADMIN_DW(0x1c | 7U << 16), 4096),
        ==, NVME_SC_INVALID_FIELD);
    /* Of the management interface there is nothing; no page has an index. */
    g_assert_cmphex(admin_log(h, 0x13, 0, 4096, 0), ==, 0);
    g_assert_cmphex(get_le32(d), ==, 0);
    g_assert_cmphex(admin_status(h, NVME_ADM_GET_LOG_PAGE, 0,
                                 ADMIN_DW(0x13, 0, 0, 0, 1 << 23), 4),
                    ==, NVME_SC_INVALID_FIELD);
    host_free(h);
}

/* One NVM set of one endurance group, whose log has the drive's numbers. */
static void test_group(void)
{
    Host *h = admin_host(NULL);
    const uint8_t *d = admin_data(h);

    admin_identify(h, 1);
    g_assert_cmphex(get_le32(d + 96) & 0x14, ==, 0x14);
    g_assert_cmpuint(get_le16(d + 338), ==, 1); /* NSETIDMAX */
    g_assert_cmpuint(get_le16(d + 340), ==, 1); /* ENDGIDMAX */
    admin_identify(h, 0x04);
    g_assert_cmpuint(d[0], ==, 1);
    g_assert_cmpuint(get_le16(d + 128), ==, 1);
    g_assert_cmpuint(get_le16(d + 130), ==, 1);
    g_assert_cmpuint(get_le64(d + 144), ==, h->nblocks * 512);
    g_assert_cmphex(admin_status(h, NVME_ADM_IDENTIFY, 0, ADMIN_DW(4, 2), 4096),
                    ==, 0);
    g_assert_cmpuint(d[0], ==, 0);
    g_assert_cmphex(admin_status(h, NVME_ADM_IDENTIFY, 1, ADMIN_DW(0), 4096),
                    ==, 0);
    g_assert_cmpuint(get_le16(d + 100), ==, 1);
    g_assert_cmpuint(get_le16(d + 102), ==, 1);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    for (unsigned i = 0; i < 40; i++) {
        g_assert_cmphex(
            host_io(h, 1, NVME_IO_WRITE, i % 8 * 128, 128, HOST_DATA), ==, 0);
    }
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(admin_status(h, NVME_ADM_GET_LOG_PAGE, 0,
                                 ADMIN_DW(0x09 | 127 << 16, 1 << 16), 512),
                    ==, 0);
    g_assert_cmpuint(d[3], ==, 100);             /* spare */
    g_assert_cmpuint(get_le64(d + 64), ==, 1);   /* 10^9 bytes, rounded up */
    g_assert_cmpuint(get_le64(d + 80), ==, 1);   /* of the media */
    g_assert_cmpuint(get_le64(d + 112), ==, 40); /* writes */
    g_assert_cmphex(admin_status(h, NVME_ADM_GET_LOG_PAGE, 0,
                                 ADMIN_DW(0x09 | 127 << 16), 512),
                    ==, NVME_SC_INVALID_FIELD);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/supported/logs", test_logs);
    g_test_add_func("/nvme/supported/log-namespaces", test_log_namespaces);
    g_test_add_func("/nvme/supported/health-of-one", test_health_of_one);
    g_test_add_func("/nvme/supported/commands", test_commands);
    g_test_add_func("/nvme/supported/features", test_features);
    g_test_add_func("/nvme/supported/command-sets", test_command_sets);
    g_test_add_func("/nvme/supported/group", test_group);
    return g_test_run();
}
