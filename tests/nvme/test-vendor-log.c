/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-vendor-log.c - the vendor-specific log pages report the drive's state,
 * in whole and in pieces.
 */
#include "host.h"
#include "ssd-report.h"
#include "vendor-log.h"

#define STREAMS "nand.blocks=64;ftl.op_percent=120%;streams.max=4"

static Host *start(void)
{
    HostOptions o = { .set = STREAMS };
    Host *h = host_new(&o);
    NvmeSqe sqe = host_sqe(NVME_ADM_DIRECTIVE_SEND, NVME_NSID_ALL, 0);

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    sqe.dw[11] = NVME_DIR_IDENTIFY << 8 | NVME_DIR_SEND_ENABLE;
    sqe.dw[12] = NVME_DIR_STREAMS << 8 | 1;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    return h;
}

static uint16_t get(Host *h, uint8_t id, uint64_t offset, uint32_t bytes)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_GET_LOG_PAGE, NVME_NSID_ALL, 0);

    memset(h->ram + HOST_DATA, 0xee, bytes + 64);
    host_map(h, &sqe, HOST_DATA, bytes);
    sqe.dw[10] = id | (bytes / 4 - 1) << 16;
    sqe.dw[12] = (uint32_t)offset;
    sqe.dw[13] = offset >> 32;
    return host_code(host_do(h, 0, &sqe).status);
}

/* Write a unit to a stream of the host. */
static void put(Host *h, uint64_t unit, uint16_t id)
{
    uint32_t n = h->info->unit_bytes / h->info->block_bytes;
    NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, unit * n, n, HOST_DATA + 0x10000);

    sqe.dw[12] |= (id ? NVME_DIR_STREAMS : 0) << 20;
    sqe.dw[13] = (uint32_t)id << 16;
    g_assert_cmphex(host_do(h, 1, &sqe).status, ==, 0);
}

static const uint8_t *data(const Host *h)
{
    return h->ram + HOST_DATA;
}

static uint64_t units(const Host *h)
{
    return h->nblocks * h->info->block_bytes / h->info->unit_bytes;
}

static void test_drive(void)
{
    Host *h = start();
    const VssdLogDrive *d = (const void *)data(h);
    SsdCounters c;

    for (unsigned i = 0; i < 100; i++) {
        put(h, i, 0);
    }
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(get(h, VSSD_LOG_DRIVE, 0, sizeof(*d)), ==, 0);
    ssd_get_counters(h->ssd, &c);
    g_assert_cmpmem(d->magic, 4, "VSSD", 4);
    g_assert_cmpuint(GUINT16_FROM_LE(d->version), ==, VSSD_LOG_VERSION);
    g_assert_cmpuint(GUINT16_FROM_LE(d->nstreams), ==, 5);
    g_assert_cmpuint(GUINT32_FROM_LE(d->unit_bytes), ==, h->info->unit_bytes);
    g_assert_cmpuint(GUINT64_FROM_LE(d->erase_bytes), ==, h->info->erase_bytes);
    g_assert_cmpuint(GUINT64_FROM_LE(d->units), ==, units(h));
    g_assert_cmpuint(GUINT64_FROM_LE(d->host_bytes_written), ==,
                     100 * h->info->unit_bytes);
    g_assert_cmpuint(GUINT64_FROM_LE(d->nand_programs), ==, c.nand_programs);
    g_assert_cmpuint(c.nand_programs, >, 0);
    g_assert_cmpuint(GUINT64_FROM_LE(d->waf_milli), ==,
                     (uint64_t)(c.waf * 1000));
    host_free(h);
}

/* Those of all streams are the drive's. */
static void check_nand_bytes(Host *h, const VssdLogStream *s)
{
    uint64_t sum = 0;
    SsdCounters c;

    ssd_get_counters(h->ssd, &c);
    for (unsigned i = 0; i < 6; i++) {
        uint64_t bytes = GUINT64_FROM_LE(s[i].nand_bytes_written);

        g_assert_cmpuint(bytes, ==,
                         (GUINT64_FROM_LE(s[i].host_units) +
                          GUINT64_FROM_LE(s[i].padded_units)) *
                             h->info->unit_bytes);
        g_assert_cmpuint(bytes > 0, ==, i < 3);
        sum += bytes;
    }
    g_assert_cmpuint(sum, ==, c.nand_bytes_written);
}

static void test_streams(void)
{
    Host *h = start();
    const VssdLogStream *s = (const void *)data(h);

    for (unsigned i = 0; i < 57; i++) {
        put(h, i, i % 3 == 0 ? 0 : i % 3 == 1 ? 700 : 9);
    }
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(get(h, VSSD_LOG_STREAMS, 0, 6 * sizeof(*s)), ==, 0);
    for (unsigned i = 0; i < 6; i++) {
        bool used = i < 3;

        g_assert_cmpuint(GUINT16_FROM_LE(s[i].stream), ==, i);
        g_assert_cmpuint(GUINT64_FROM_LE(s[i].host_units), ==, used ? 19 : 0);
        g_assert_cmpuint(GUINT64_FROM_LE(s[i].host_bytes_written), ==,
                         used ? 19 * h->info->unit_bytes : 0);
        g_assert_cmpuint(GUINT32_FROM_LE(s[i].open_blocks) > 0, ==, used);
    }
    check_nand_bytes(h, s);
    g_assert_cmpuint(GUINT16_FROM_LE(s[0].id), ==, VSSD_LOG_NO_ID);
    g_assert_cmpuint(GUINT16_FROM_LE(s[1].id), ==, 700);
    g_assert_cmpuint(GUINT16_FROM_LE(s[2].id), ==, 9);
    g_assert_cmpuint(GUINT16_FROM_LE(s[3].id), ==, VSSD_LOG_NO_ID);
    host_free(h);
}

static void test_places(void)
{
    Host *h = start();
    const VssdLogPlace *p = (const void *)data(h);
    uint32_t block[3];

    for (unsigned i = 0; i < 30; i++) {
        put(h, 1000 + i, (uint16_t)(i % 3));
    }
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    put(h, 1029, 0); /* again, and not flushed: in the buffer */
    g_assert_cmphex(get(h, VSSD_LOG_PLACE, 999 * sizeof(*p), 32 * sizeof(*p)),
                    ==, 0);
    g_assert_cmpuint(p[0].where, ==, VSSD_PLACE_NOWHERE);
    g_assert_cmpuint(p[31].where, ==, VSSD_PLACE_NOWHERE);
    g_assert_cmpuint(p[30].where, ==, VSSD_PLACE_BUFFER);
    for (unsigned i = 0; i < 29; i++) {
        const VssdLogPlace *e = &p[1 + i];
        SsdPlace want;

        ssd_place(h->ssd, (1000 + i) * (h->info->unit_bytes /
                                        h->info->block_bytes), &want);
        g_assert_cmpuint(e->where, ==, VSSD_PLACE_NAND);
        g_assert_cmpuint(GUINT16_FROM_LE(e->stream), ==, i % 3);
        g_assert_cmpuint(GUINT16_FROM_LE(e->block_stream), ==, i % 3);
        g_assert_cmpuint(GUINT32_FROM_LE(e->erase_block), ==, want.erase_block);
        g_assert_cmpuint(GUINT32_FROM_LE(e->page), ==, want.page);
        block[i % 3] = GUINT32_FROM_LE(e->erase_block);
    }
    g_assert_cmpuint(block[0], !=, block[1]);
    g_assert_cmpuint(block[1], !=, block[2]);
    host_free(h);
}

/* Any piece equals that part of the whole. */
static void test_pieces(void)
{
    Host *h = start();
    uint8_t whole[1024];

    for (unsigned i = 0; i < 64; i++) {
        put(h, i, (uint16_t)(i % 4));
    }
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(get(h, VSSD_LOG_PLACE, 0, sizeof(whole)), ==, 0);
    memcpy(whole, data(h), sizeof(whole));
    for (unsigned from = 0; from < 64; from += 4) {
        g_assert_cmphex(get(h, VSSD_LOG_PLACE, from, 500), ==, 0);
        g_assert_cmpmem(data(h), 500, whole + from, 500);
        g_assert_cmphex(data(h)[500], ==, 0xee);
    }
    host_free(h);
}

static void test_ends(void)
{
    Host *h = start();
    uint64_t end = units(h) * sizeof(VssdLogPlace);
    static const uint8_t zeroes[64];

    put(h, units(h) - 1, 1);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(get(h, VSSD_LOG_PLACE, end - 16, 80), ==, 0);
    g_assert_cmpuint(data(h)[0], ==, VSSD_PLACE_NAND);
    g_assert_cmpmem(data(h) + 16, 64, zeroes, 64);
    g_assert_cmphex(get(h, VSSD_LOG_PLACE, end, 16), ==, 0);
    g_assert_cmphex(get(h, VSSD_LOG_PLACE, end + 4, 16), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(get(h, VSSD_LOG_PLACE, UINT64_MAX - 3, 16), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(get(h, VSSD_LOG_PLACE, 2, 16), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(get(h, VSSD_LOG_STREAMS, 6 * 128, 64), ==, 0);
    g_assert_cmpmem(data(h), 64, zeroes, 64);
    g_assert_cmphex(get(h, VSSD_LOG_STREAMS, 7 * 128, 64), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(get(h, VSSD_LOG_PLACE + 1, 0, 64), ==,
                    NVME_SC_INVALID_LOG_PAGE);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/vendor-log/drive", test_drive);
    g_test_add_func("/nvme/vendor-log/streams", test_streams);
    g_test_add_func("/nvme/vendor-log/places", test_places);
    g_test_add_func("/nvme/vendor-log/pieces", test_pieces);
    g_test_add_func("/nvme/vendor-log/ends", test_ends);
    return g_test_run();
}
