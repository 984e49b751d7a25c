/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-latency.c - Predictable Latency Mode: features 13h and 14h, log pages
 * 0Ah and 0Bh, the notice, and the ways in which DTWIN ends.
 */
#include "admin.h"

#include "nvme-wire.h"
#include "ssd-report.h"
#include "ssd-window.h"

#define CONFIG 0x13
#define WINDOW 0x14
#define LOG    0x0a
#define EVENTS 0x0b
enum { NONE, DTWIN, NDWIN };
enum { READS = 1, WRITES = 2, TIME = 4, EXCEEDED = 1 << 14 };

#define MS  1000000ULL
/* Of tiny: 4 planes; 2000 ms, 8 free blocks in each plane. */
#define SET "nand.blocks=100;latency.window=2s;latency.free=8%;"

static Host *start(const char *set)
{
    Host *h = admin_host(&(HostOptions){.set = set});

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    return h;
}

/* threshold: of reads, writes, ms. */
static uint16_t configure(Host *h, bool on, uint16_t events,
                          const uint64_t threshold[3])
{
    uint8_t *d = admin_data(h);

    memset(d, 0, 512);
    put_le16(d, events);
    for (unsigned i = 0; threshold && i < 3; i++) {
        put_le64(d + 32 + 8 * i, threshold[i]);
    }
    return admin_set_feature(h, CONFIG, false, 1, on);
}

static uint16_t enter(Host *h, unsigned window)
{
    return admin_set_feature(h, WINDOW, false, 1, window);
}

static unsigned window(Host *h)
{
    HostCqe cqe = admin_get_feature(h, WINDOW, 0, 1);

    g_assert_cmphex(cqe.status, ==, 0);
    return cqe.dw0;
}

/* Log page of the set; flags: bit 7 RAE. */
static const uint8_t *look(Host *h, uint8_t lid, unsigned set, uint16_t status,
                           bool retain)
{
    memset(admin_data(h), 0xee, 4096);
    g_assert_cmphex(
        admin_status(
            h, NVME_ADM_GET_LOG_PAGE, NVME_NSID_ALL,
            ADMIN_DW(lid | (uint32_t)retain << 15 | 127U << 16, set << 16),
            512),
        ==, status);
    return h->ram + HOST_DATA;
}

static const uint8_t *set_log(Host *h)
{
    return look(h, LOG, 1, 0, true);
}

static bool holds(const Host *h)
{
    SsdWindowState s;

    ssd_window_state(h->ssd, &s);
    return s.now == SSD_WINDOW_HOLD;
}

static void fill(Host *h)
{
    uint64_t n = h->nblocks / 32;

    for (uint64_t i = 0; i < 2 * n; i++) {
        uint64_t at = prng_below(&h->prng, n) * 32;

        g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, at, 32, HOST_DATA), ==, 0);
    }
}

/* ---- what there is ------------------------------------------------------- */

static void test_identify(void)
{
    Host *h = start(SET);

    admin_identify(h, 1);
    g_assert_cmpuint(get_le32(h->ram + HOST_DATA + 92) >> 12 & 1, ==, 1);
    g_assert_cmpuint(get_le32(h->ram + HOST_DATA + 96) >> 5 & 1, ==, 1);
    host_free(h);
    h = start("");
    admin_identify(h, 1);
    g_assert_cmpuint(get_le32(h->ram + HOST_DATA + 92) >> 12 & 1, ==, 0);
    g_assert_cmpuint(get_le32(h->ram + HOST_DATA + 96) >> 5 & 1, ==, 0);
    g_assert_cmphex(configure(h, true, 0, NULL), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(enter(h, DTWIN), ==, NVME_SC_INVALID_FIELD);
    look(h, LOG, 1, NVME_SC_INVALID_LOG_PAGE, true);
    look(h, EVENTS, 0, NVME_SC_INVALID_LOG_PAGE, true);
    host_free(h);
}

static void test_features(void)
{
    Host *h = start(SET);
    const uint64_t threshold[] = {5, 6, 7};

    g_assert_cmpuint(window(h), ==, NONE);
    g_assert_cmphex(enter(h, DTWIN), ==, NVME_SC_COMMAND_SEQUENCE);
    g_assert_cmphex(configure(h, true, 8, NULL), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(admin_set_feature(h, CONFIG, false, 2, 1), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(admin_set_feature(h, CONFIG, false, 1, 2), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(admin_set_feature(h, CONFIG, true, 1, 1), ==,
                    NVME_SC_FEATURE_NOT_SAVEABLE);
    g_assert_cmphex(configure(h, true, READS | EXCEEDED, threshold), ==, 0);
    g_assert_cmpuint(window(h), ==, NDWIN);
    g_assert_cmphex(admin_set_feature(h, WINDOW, false, 1, 3), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(admin_set_feature(h, WINDOW, false, 0, DTWIN), ==,
                    NVME_SC_INVALID_FIELD);
    memset(admin_data(h), 0xee, 512);
    g_assert_cmpuint(admin_get_feature(h, CONFIG, 0, 1).dw0, ==, 1);
    g_assert_cmphex(get_le16(h->ram + HOST_DATA), ==, READS | EXCEEDED);
    for (unsigned i = 0; i < 3; i++) {
        g_assert_cmpuint(get_le64(h->ram + HOST_DATA + 32 + 8 * i), ==,
                         threshold[i]);
    }
    g_assert_cmphex(host_code(admin_get_feature(h, CONFIG, 0, 2).status), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmpuint(admin_get_feature(h, CONFIG, 1, 1).dw0, ==, 0);
    g_assert_cmphex(enter(h, DTWIN), ==, 0);
    g_assert_cmpuint(window(h), ==, DTWIN);
    g_assert_cmphex(enter(h, NDWIN), ==, 0);
    g_assert_cmpuint(window(h), ==, NDWIN);
    g_assert_cmphex(host_code(admin_get_feature(h, WINDOW, 0, 2).status), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(enter(h, DTWIN), ==, 0);
    g_assert_true(holds(h));
    g_assert_cmphex(configure(h, false, 0, NULL), ==, 0); /* off, in DTWIN */
    g_assert_false(holds(h));
    g_assert_cmpuint(window(h), ==, NONE);
    g_assert_cmphex(enter(h, DTWIN), ==, NVME_SC_COMMAND_SEQUENCE);
    g_assert_cmphex(configure(h, true, 0, NULL), ==, 0);
    g_assert_cmphex(enter(h, DTWIN), ==, 0);
    host_write32(h, NVME_REG_CC, 0); /* a reset: the mode is off */
    host_enable(h);
    g_assert_cmpuint(window(h), ==, NONE);
    g_assert_cmphex(enter(h, DTWIN), ==, NVME_SC_COMMAND_SEQUENCE);
    host_free(h);
}

static void test_log(void)
{
    Host *h = start(SET);
    const uint8_t *d = set_log(h);
    SsdWindowPlan plan;

    ssd_window_plan(h->ssd, &plan);
    g_assert_cmpuint(d[0], ==, NONE);
    /* 4 dies, each with a read in 50 us. */
    g_assert_cmpuint(get_le64(d + 32), ==, 4 * 2000000 / 50);
    /* 8 free blocks, one for GC, one that ends the window; 16 pages each. */
    g_assert_cmpuint(get_le64(d + 40), ==, 4 * (8 - 1 - 1) * 16);
    g_assert_cmpuint(get_le64(d + 48), ==, 2000);
    g_assert_cmpuint(get_le64(d + 56), ==, plan.prepare_ns / MS + 1);
    g_assert_cmpuint(get_le64(d + 64), ==, plan.prepare_least_ns / MS + 1);
    g_assert_cmpuint(plan.prepare_ns, ==, 7 * plan.prepare_least_ns);
    look(h, LOG, 0, NVME_SC_INVALID_FIELD, true);
    look(h, LOG, 2, NVME_SC_INVALID_FIELD, true);
    configure(h, true, 0, NULL);
    g_assert_cmpuint(set_log(h)[0], ==, NDWIN);
    enter(h, DTWIN);
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 0, 64, HOST_DATA), ==, 0);
    host_sleep(h, 100 * MS);
    d = set_log(h);
    g_assert_cmpuint(d[0], ==, DTWIN);
    g_assert_cmpuint(get_le64(d + 128), ==, 4 * 2000000 / 50 - 8);
    g_assert_cmpuint(get_le64(d + 144), <=, 1900);
    g_assert_cmpuint(get_le64(d + 144), >, 1890);
    host_free(h);
}

/* ---- how DTWIN ends ------------------------------------------------------ */

static void aer(Host *h)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);

    g_assert_cmphex(admin_set_feature(h, 0x0b, false, 1 << 12, 0), ==, 0);
    host_send(h, 0, &sqe);
}

static void expect_event(Host *h, uint16_t events)
{
    HostCqe cqe;
    const uint8_t *d;

    g_assert_true(host_poll(h, 0, &cqe));
    g_assert_cmphex(cqe.dw0, ==, 0x0b0402);
    d = look(h, EVENTS, 0, 0, false);
    g_assert_cmpuint(get_le64(d), ==, 1);
    g_assert_cmpuint(get_le16(d + 8), ==, 1);
    g_assert_cmphex(get_le16(set_log(h) + 2), ==, events);
    look(h, LOG, 1, 0, false);
    g_assert_cmphex(get_le16(set_log(h) + 2), ==, 0);
    g_assert_cmpuint(get_le64(look(h, EVENTS, 0, 0, true)), ==, 0);
}

static void test_time(void)
{
    Host *h = start(SET);
    HostCqe cqe;

    aer(h);
    configure(h, true, TIME | EXCEEDED, (const uint64_t[]){0, 0, 500});
    enter(h, DTWIN);
    host_sleep(h, 1499 * MS);
    g_assert_false(host_poll(h, 0, &cqe));
    host_sleep(h, 10 * MS);
    expect_event(h, TIME);
    aer(h);
    g_assert_cmpuint(window(h), ==, DTWIN);
    host_sleep(h, 480 * MS);
    g_assert_cmpuint(window(h), ==, DTWIN);
    host_sleep(h, 20 * MS);
    expect_event(h, EXCEEDED);
    g_assert_cmpuint(window(h), ==, NDWIN);
    host_free(h);
}

/* Events that the host does not want are not noted. */
static void test_reads(void)
{
    Host *h = start(SET "latency.window=1ms");
    HostCqe cqe;

    aer(h);
    configure(h, true, READS, (const uint64_t[]){60, 0, 0});
    enter(h, DTWIN); /* 80 reads of 4 KiB */
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 0, 20 * 8, HOST_DATA), ==, 0);
    g_assert_false(host_poll(h, 0, &cqe));
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 0, 8, HOST_DATA), ==, 0);
    g_assert_true(holds(h));
    expect_event(h, READS);
    enter(h, NDWIN);
    enter(h, DTWIN);
    for (int i = 0; i < 2; i++) {
        g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 0, 40 * 8, HOST_DATA), ==,
                        0);
    }
    g_assert_cmpuint(window(h), ==, NDWIN);
    g_assert_cmphex(get_le16(set_log(h) + 2), ==, READS);
    host_free(h);
}

/* No copy is programmed before the drive has used what it said it had. */
static void test_writes(void)
{
    Host *h = start(SET "latency.window=1h");
    SsdCounters before, now;
    uint64_t room, page = 0;

    fill(h);
    aer(h);
    configure(h, true, WRITES | EXCEEDED, (const uint64_t[]){0, 100, 0});
    host_sleep(h, 5000 * MS);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    host_sleep(h, 1000 * MS);
    enter(h, DTWIN);
    room = get_le64(set_log(h) + 136);
    g_assert_cmpuint(room, >=, 4 * (8 - 1 - 1) * 16);
    ssd_get_counters(h->ssd, &before);
    while (page < room) {
        uint64_t at = prng_below(&h->prng, h->nblocks / 32) * 32;

        g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, at, 32, HOST_DATA), ==, 0);
        page++;
    }
    ssd_get_counters(h->ssd, &now);
    g_assert_cmpuint(now.nand_erases, ==, before.nand_erases);
    g_assert_cmpuint(now.nand_programs, <=, before.nand_programs + room);
    g_assert_true(holds(h));
    expect_event(h, WRITES);
    aer(h);
    for (; holds(h); page++) {
        uint64_t at = prng_below(&h->prng, h->nblocks / 32) * 32;

        g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, at, 32, HOST_DATA), ==, 0);
        g_assert_cmpuint(page, <, 2 * room);
    }
    expect_event(h, EXCEEDED);
    host_sleep(h, 5000 * MS);
    ssd_get_counters(h->ssd, &now);
    g_assert_cmpuint(now.nand_erases, >, before.nand_erases);
    host_free(h);
}

static void test_power(void)
{
    Host *h = start(SET);
    SsdWindowState s;

    configure(h, true, 0, NULL);
    enter(h, DTWIN);
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    host_enable(h);
    g_assert_cmpuint(window(h), ==, NONE);
    ssd_window_state(h->ssd, &s);
    g_assert_cmpint(s.now, ==, SSD_WINDOW_NONE);
    host_free(h);
}

/* A saved controller goes on with its window. */
static void test_saved(void)
{
    HostOptions o = {.set = SET};
    Host *h = start(SET);
    GByteArray *drive, *ctrl;
    GError *error = NULL;

    configure(h, true, TIME, (const uint64_t[]){0, 0, 500});
    enter(h, DTWIN);
    host_sleep(h, 300 * MS);
    host_settle(h);
    host_save(h, &drive, &ctrl);
    h = host_reload(&o, h, drive, ctrl, &error);
    g_assert_no_error(error);
    nvme_hold(h->ctrl, false);
    g_assert_cmpuint(window(h), ==, DTWIN);
    g_assert_cmpuint(get_le64(set_log(h) + 144), <=, 1700);
    host_sleep(h, 1300 * MS);
    g_assert_cmphex(get_le16(set_log(h) + 2), ==, TIME);
    host_sleep(h, 500 * MS);
    g_assert_cmpuint(window(h), ==, NDWIN);
    g_byte_array_unref(drive);
    g_byte_array_unref(ctrl);
    host_free(h);
}

/* A reset of one controller leaves the mode on, one of both ends it. */
static void test_several_controllers(void)
{
    Host *h = admin_host(&(HostOptions){.set = SET, .controllers = 2});
    GError *error = NULL;
    Host *b = host_add(h, 7, &error);

    g_assert_no_error(error);
    host_enable(b);
    g_assert_cmphex(configure(b, true, 0, NULL), ==, 0);
    g_assert_cmphex(enter(h, DTWIN), ==, 0);
    g_assert_cmpuint(window(b), ==, DTWIN);
    host_write32(b, NVME_REG_CC, 0);
    g_assert_cmpuint(window(h), ==, DTWIN);
    g_assert_true(holds(h));
    host_write32(h, NVME_REG_CC, 0);
    g_assert_false(holds(h));
    host_enable(h);
    g_assert_cmpuint(window(h), ==, NONE);
    host_free(b);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/latency/identify", test_identify);
    g_test_add_func("/nvme/latency/features", test_features);
    g_test_add_func("/nvme/latency/log", test_log);
    g_test_add_func("/nvme/latency/time", test_time);
    g_test_add_func("/nvme/latency/reads", test_reads);
    g_test_add_func("/nvme/latency/writes", test_writes);
    g_test_add_func("/nvme/latency/power", test_power);
    g_test_add_func("/nvme/latency/saved", test_saved);
    g_test_add_func("/nvme/latency/several-controllers",
                    test_several_controllers);
    return g_test_run();
}
