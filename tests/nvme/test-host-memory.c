/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-host-memory.c - the Host Memory Buffer: the drive uses it while it is
 * enabled, and the status of every field that is wrong.
 */
#include "admin.h"
#include "ssd-report.h"

#define FID  0x0d
#define LIST (HOST_DATA + 0x80000)
#define PAGE 4096

#define DRIVE                                                                  \
    "ftl.map=dftl;ftl.map_cache=4KiB;ftl.hmb=128KiB;ftl.hmb_latency=2us;"      \
    "nand.blocks=64;ftl.op_percent=120%;"

static void put_piece(Host *h, unsigned i, uint64_t at, uint32_t pages)
{
    uint8_t *p = host_ram(h, LIST + 16 * i, 16);

    memset(p, 0, 16);
    put_le64(p, at);
    put_le32(p + 8, pages);
}

static uint16_t set(Host *h, uint32_t dw11, uint32_t pages, uint64_t list,
                    uint32_t entries)
{
    return admin_status(
        h, NVME_ADM_SET_FEATURES, 0,
        ADMIN_DW(FID, dw11, pages, (uint32_t)list, list >> 32, entries), 0);
}

static uint64_t member(const Host *h, const char *name)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autofree char *key = g_strdup_printf("\"%s\":", name);
    JsonWriter w = {.out = text};
    const char *at;

    ssd_stats_json(h->ssd, &w, NULL);
    at = strstr(text->str, key);
    g_assert_nonnull(at);
    return g_ascii_strtoull(at + strlen(key), NULL, 10);
}

/* Two pieces, 32 pages. */
static void enable(Host *h)
{
    put_piece(h, 0, HOST_DATA + 0x100000, 16);
    put_piece(h, 1, HOST_DATA + 0x200000, 16);
    g_assert_cmphex(set(h, 1, 32, LIST, 2), ==, 0);
}

static void read_all(Host *h)
{
    for (unsigned k = 0; k < 2; k++) {
        for (uint64_t lba = 0; lba + 8 <= MIN(h->nblocks, 16384); lba += 8) {
            g_assert_cmphex(host_io(h, 1, NVME_IO_READ, lba, 8, HOST_DATA), ==,
                            0);
        }
    }
}

static void test_use(void)
{
    Host *h = admin_host(&(HostOptions){.set = DRIVE});
    const uint8_t *d = admin_data(h);
    uint64_t hits;

    admin_identify(h, 1);
    g_assert_cmpuint(get_le32(d + 272), ==, 32); /* HMPRE */
    g_assert_cmpuint(get_le32(d + 276), ==, 16); /* HMMIN */
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    for (uint64_t lba = 0; lba + 128 <= MIN(h->nblocks, 16384); lba += 128) {
        g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, lba, 128, HOST_DATA), ==,
                        0);
    }
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    read_all(h);
    g_assert_cmpuint(member(h, "hmb_used"), ==, 0);
    g_assert_cmpuint(member(h, "hmb_hits"), ==, 0);
    enable(h);
    g_assert_cmphex(admin_get_feature(h, FID, 0, 0).dw0, ==, 1);
    g_assert_cmpuint(get_le32(d), ==, 32);
    g_assert_cmphex(get_le64(d + 4), ==, LIST);
    g_assert_cmpuint(get_le32(d + 12), ==, 2);
    read_all(h);
    hits = member(h, "hmb_hits");
    g_assert_cmpuint(member(h, "hmb_used"), >, 0);
    g_assert_cmpuint(hits, >, 0);
    g_assert_cmphex(set(h, 0, 0, 0, 0), ==, 0);
    g_assert_cmpuint(member(h, "hmb_used"), ==, 0);
    read_all(h);
    g_assert_cmpuint(member(h, "hmb_hits"), ==, hits);
    /* Half of it, returned; a reset takes it back. */
    put_piece(h, 0, HOST_DATA + 0x100000, 16);
    g_assert_cmphex(set(h, 3, 16, LIST, 1), ==, 0);
    read_all(h);
    g_assert_cmpuint(member(h, "hmb_used"), <=, 16 * PAGE / 8);
    g_assert_cmpuint(member(h, "hmb_used"), >, 0);
    host_write32(h, NVME_REG_CC, 0);
    g_assert_cmpuint(member(h, "hmb_used"), ==, 0);
    host_enable(h);
    g_assert_cmphex(admin_get_feature(h, FID, 0, 0).dw0, ==, 0);
    host_free(h);
}

static void test_bad(void)
{
    Host *h = admin_host(&(HostOptions){.set = DRIVE});

    put_piece(h, 0, HOST_DATA + 0x100000, 16);
    put_piece(h, 1, HOST_DATA + 0x200000, 16);
    g_assert_cmphex(set(h, 1 | 1 << 3, 32, LIST, 2), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set(h, 1, 32, LIST, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set(h, 1, 32, LIST, 1025), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set(h, 1, 32, LIST + 8, 2), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set(h, 1, 15, LIST, 2), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set(h, 1, 33, LIST, 2), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set(h, 1, 32, 1ULL << 60, 2), ==, NVME_SC_DATA_TRANSFER);
    put_piece(h, 1, HOST_DATA + 0x200010, 16);
    g_assert_cmphex(set(h, 1, 32, LIST, 2), ==, NVME_SC_INVALID_FIELD);
    put_piece(h, 1, HOST_DATA + 0x200000, 0);
    g_assert_cmphex(set(h, 1, 16, LIST, 2), ==, NVME_SC_INVALID_FIELD);
    put_piece(h, 1, 0xfffffffffffff000ULL, 16);
    g_assert_cmphex(set(h, 1, 32, LIST, 2), ==, NVME_SC_INVALID_FIELD);
    enable(h);
    g_assert_cmphex(set(h, 1, 32, LIST, 2), ==, NVME_SC_COMMAND_SEQUENCE);
    g_assert_cmphex(admin_set_feature(h, FID, true, 0, 0), ==,
                    NVME_SC_FEATURE_NOT_SAVEABLE);
    host_free(h);
    h = admin_host(NULL); /* a drive without ftl.hmb */
    admin_identify(h, 1);
    g_assert_cmpuint(get_le32(admin_data(h) + 272), ==, 0);
    g_assert_cmphex(set(h, 0, 0, 0, 0), ==, NVME_SC_INVALID_FIELD);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/host-memory/use", test_use);
    g_test_add_func("/nvme/host-memory/bad", test_bad);
    return g_test_run();
}
