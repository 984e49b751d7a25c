/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-zrwa.c - Zone Random Write Areas (Zoned Namespace Command Set 1.1):
 * writes in any order, commits, limits, and what power cuts and saved states
 * leave of them.
 */
#include "zoned.h"

/* 16 blocks, committed by 4; two zones at most. */
#define AREA                                                                   \
    ZONED "zones.zrwa=64KiB;zones.zrwa_granularity=16KiB;zones.max_zrwa=2;"
#define COMMIT 0x11
#define ZRWAA  (1U << 9)

static uint16_t write_as(Host *h, uint8_t with, uint64_t lba, uint32_t n)
{
    mark(h, with, n);
    return put(h, lba, n);
}

static bool reads_as(Host *h, uint8_t what, uint64_t lba, uint32_t n)
{
    return fetch(h, lba, n) == 0 && is_all(h, what, 0, n);
}

static bool has_area(Host *h, unsigned i)
{
    return zone(h, i)[2] & 0x08;
}

static void test_area_identify(void)
{
    Host *h = start(AREA);
    const uint8_t *d = h->ram + BUF;

    command(h, 0, NVME_ADM_IDENTIFY, 1, (uint32_t[]){5, 2U << 24, 0, 0});
    g_assert_cmphex(get_le16(d + 2), ==, 2);
    g_assert_cmpuint(get_le32(d + 44), ==, 2);
    g_assert_cmpuint(get_le16(d + 48), ==, 4);
    g_assert_cmpuint(get_le16(d + 50), ==, 16);
    g_assert_cmpuint(d[52], ==, 1);
    host_free(h);
    h = start(ZONED);
    d = h->ram + BUF;
    command(h, 0, NVME_ADM_IDENTIFY, 1, (uint32_t[]){5, 2U << 24, 0, 0});
    g_assert_cmphex(get_le16(d + 2), ==, 0);
    g_assert_cmphex(send(h, 0, OPEN | ZRWAA), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(send(h, 3, COMMIT), ==, NVME_SC_INVALID_FIELD);
    host_free(h);
}

/* In the area the host writes where it likes, and again; the pointer moves by
 * commits. */
static void test_area_writes(void)
{
    Host *h = start(AREA);

    g_assert_cmphex(send(h, 0, OPEN | ZRWAA), ==, 0);
    g_assert_true(has_area(h, 0));
    g_assert_cmpuint(state(h, 0), ==, EXPLICIT);
    g_assert_cmphex(write_as(h, 1, 12, 4), ==, 0);
    g_assert_cmphex(write_as(h, 2, 0, 8), ==, 0);
    g_assert_cmphex(write_as(h, 3, 4, 4), ==, 0);
    g_assert_cmpuint(pointer(h, 0), ==, 0);
    g_assert_true(reads_as(h, 2, 0, 4) && reads_as(h, 3, 4, 4));
    g_assert_true(reads_as(h, 0, 8, 4) && reads_as(h, 1, 12, 4));
    g_assert_cmphex(
        command(h, 1, NVME_IO_ZONE_APPEND, 1, (uint32_t[]){0, 0, 0, 0}).status &
            0x7ff,
        ==, NVME_SC_ZONE_INVALID_OP);
    /* Commits: whole granules, in the area. */
    g_assert_cmphex(send(h, 2, COMMIT), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(send(h, 19, COMMIT), ==, NVME_SC_ZONE_BOUNDARY);
    g_assert_cmphex(send(h, ZONE + 3, COMMIT), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(send(h, 3, COMMIT | 1 << 8), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(send(h, 7, COMMIT), ==, 0);
    g_assert_cmpuint(pointer(h, 0), ==, 8);
    g_assert_cmphex(send(h, 7, COMMIT), ==, NVME_SC_ZONE_BOUNDARY);
    g_assert_cmphex(write_as(h, 4, 4, 1), ==, NVME_SC_ZONE_INVALID_WRITE);
    /* The area is 8..23; a write to 27 commits one granule. */
    g_assert_cmphex(write_as(h, 4, 38, 3), ==, NVME_SC_ZONE_INVALID_WRITE);
    g_assert_cmphex(write_as(h, 5, 24, 3), ==, 0);
    g_assert_cmpuint(pointer(h, 0), ==, 12);
    g_assert_cmphex(write_as(h, 6, 11, 1), ==, NVME_SC_ZONE_INVALID_WRITE);
    g_assert_cmphex(write_as(h, 6, 12, 4), ==, 0);
    g_assert_true(reads_as(h, 6, 12, 4) && reads_as(h, 5, 24, 3));
    g_assert_true(reads_as(h, 3, 4, 4));
    host_free(h);
}

static void test_area_limits(void)
{
    Host *h = start(AREA);

    g_assert_cmphex(send(h, 0, OPEN | ZRWAA), ==, 0);
    g_assert_cmphex(send(h, 0, OPEN | ZRWAA), ==, 0); /* it has one */
    g_assert_cmphex(put(h, ZONE, 3), ==, 0);
    g_assert_cmphex(send(h, ZONE, OPEN | ZRWAA), ==, NVME_SC_ZONE_NO_ZRWA);
    g_assert_cmphex(put(h, ZONE + 3, 1), ==, 0);
    g_assert_cmphex(send(h, ZONE, OPEN | ZRWAA), ==, 0);
    g_assert_cmphex(send(h, 2 * ZONE, OPEN | ZRWAA), ==, NVME_SC_ZONE_NO_ZRWA);
    g_assert_cmphex(send(h, 0, OPEN | ZRWAA | 1 << 8), ==,
                    NVME_SC_INVALID_FIELD);
    /* A closed zone keeps its area; Finish and Reset give it back. */
    g_assert_cmphex(send(h, 0, CLOSE), ==, 0);
    g_assert_cmpuint(state(h, 0), ==, CLOSED);
    g_assert_true(has_area(h, 0));
    g_assert_cmphex(send(h, 2 * ZONE, OPEN | ZRWAA), ==, NVME_SC_ZONE_NO_ZRWA);
    g_assert_cmphex(write_as(h, 7, 4, 4), ==, 0);
    g_assert_cmphex(send(h, 0, FINISH), ==, 0);
    g_assert_false(has_area(h, 0));
    g_assert_true(reads_as(h, 7, 4, 4) && reads_as(h, 0, 0, 4));
    g_assert_cmphex(send(h, 2 * ZONE, OPEN | ZRWAA), ==, 0);
    g_assert_cmphex(write_as(h, 8, ZONE + 8, 4), ==, 0);
    g_assert_cmphex(send(h, ZONE, RESET), ==, 0);
    g_assert_false(has_area(h, 1));
    g_assert_true(reads_as(h, 0, ZONE, 16));
    g_assert_cmphex(send(h, 3 * ZONE, OPEN | ZRWAA), ==, 0);
    host_free(h);
    /* A commit opens its zone; three may be open. */
    h = start(AREA);
    g_assert_cmphex(send(h, 0, OPEN | ZRWAA), ==, 0);
    g_assert_cmphex(write_as(h, 1, 0, 4), ==, 0);
    g_assert_cmphex(send(h, 0, CLOSE), ==, 0);
    for (unsigned i = 1; i <= 3; i++) {
        g_assert_cmphex(send(h, i * ZONE, OPEN), ==, 0);
    }
    g_assert_cmphex(send(h, 3, COMMIT), ==, NVME_SC_TOO_MANY_OPEN);
    g_assert_cmpuint(pointer(h, 0), ==, 0);
    g_assert_cmphex(send(h, 3 * ZONE, CLOSE), ==, 0);
    g_assert_cmphex(send(h, 3, COMMIT), ==, 0);
    g_assert_cmpuint(state(h, 0), ==, IMPLICIT);
    g_assert_cmpuint(pointer(h, 0), ==, 4);
    host_free(h);
    /* The area ends with the capacity of its zone: 200 blocks. */
    h = start(AREA "zones.capacity=800KiB;");
    for (unsigned at = 0; at < 192; at += 8) {
        g_assert_cmphex(put(h, at, 8), ==, 0);
    }
    g_assert_cmphex(send(h, 0, OPEN | ZRWAA), ==, 0);
    g_assert_cmphex(put(h, 196, 5), ==, NVME_SC_ZONE_BOUNDARY);
    g_assert_cmphex(put(h, 196, 4), ==, 0);
    host_free(h);
}

/* A zone that is written to its end, in places; then the next one. */
static void test_area_full(void)
{
    Host *h = start(AREA);

    for (unsigned i = 0; i < 3; i++) {
        uint64_t start_of = i * ZONE;

        g_assert_cmphex(send(h, start_of, OPEN | ZRWAA), ==, 0);
        for (unsigned at = 0; at < ZONE; at += 8) {
            g_assert_cmphex(
                write_as(h, (uint8_t)(at | 1), start_of + at + 2, 6), ==, 0);
            g_assert_cmphex(write_as(h, (uint8_t)(at | 2), start_of + at, 4),
                            ==, 0);
        }
        g_assert_cmpuint(pointer(h, i), ==, ZONE - 16);
        g_assert_cmphex(put(h, start_of + ZONE - 2, 4), ==,
                        NVME_SC_ZONE_BOUNDARY);
        g_assert_cmphex(send(h, start_of + ZONE - 1, COMMIT), ==, 0);
        g_assert_cmpuint(state(h, i), ==, FULL);
        g_assert_false(has_area(h, i));
        host_sleep(h, 100000000);
        for (unsigned at = 0; at < ZONE; at += 8) {
            g_assert_true(reads_as(h, (uint8_t)(at | 2), start_of + at, 4));
            g_assert_true(reads_as(h, (uint8_t)(at | 1), start_of + at + 4, 4));
        }
    }
    host_free(h);
}

/* What was acknowledged is there, and the zone goes on. */
static void test_area_power(void)
{
    Host *h = start(AREA);

    g_assert_cmphex(send(h, 0, OPEN | ZRWAA), ==, 0);
    g_assert_cmphex(write_as(h, 1, 8, 8), ==, 0);
    g_assert_cmphex(write_as(h, 2, 16, 8), ==, 0); /* commits 0..7 */
    for (int i = 0; i < 8; i++) {                  /* in flight */
        NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, 24 + 8 * i, 8, DATA);

        host_send(h, 1, &sqe);
    }
    nvme_run(h->ctrl, h->now_ns);
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    queues(h);
    g_assert_cmpuint(state(h, 0), ==, CLOSED);
    g_assert_true(has_area(h, 0));
    g_assert_cmpuint(pointer(h, 0), >, 24);
    g_assert_cmpuint(pointer(h, 0) % 4, ==, 0);
    g_assert_true(reads_as(h, 1, 8, 8) && reads_as(h, 2, 16, 8));
    g_assert_cmphex(write_as(h, 3, pointer(h, 0) + 4, 4), ==, 0);
    g_assert_cmphex(send(h, 0, FINISH), ==, 0);
    g_assert_true(reads_as(h, 1, 8, 8) && reads_as(h, 2, 16, 8));
    host_free(h);
}

static void test_area_saved(void)
{
    HostOptions o = {.set = AREA, .block_bytes = 4096};
    Host *h = start(AREA);
    GByteArray *drive, *ctrl;
    GError *error = NULL;

    g_assert_cmphex(send(h, 0, OPEN | ZRWAA), ==, 0);
    g_assert_cmphex(write_as(h, 1, 4, 8), ==, 0);
    host_settle(h);
    host_save(h, &drive, &ctrl);
    h = host_reload(&o, h, drive, ctrl, &error);
    g_assert_no_error(error);
    nvme_hold(h->ctrl, false);
    g_assert_true(has_area(h, 0));
    g_assert_cmphex(write_as(h, 2, 4, 4), ==, 0);
    g_assert_cmphex(send(h, 7, COMMIT), ==, 0);
    g_assert_true(reads_as(h, 2, 4, 4) && reads_as(h, 1, 8, 4));
    g_byte_array_unref(drive);
    g_byte_array_unref(ctrl);
    host_free(h);
}

/* Many writes in flight, of which each commits: the buffer never stands full
 * of what nobody commits. */
static void test_area_load(void)
{
    Host *h = start(AREA "buffer.size=512KiB;");
    unsigned sent = 0, done = 0;
    HostCqe cqe;

    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmphex(send(h, i * ZONE, OPEN | ZRWAA), ==, 0);
    }
    while (done < 2 * ZONE / 4) {
        while (sent < 2 * ZONE / 4 && sent - done < 40) {
            uint64_t lba = sent % 2 * ZONE + sent / 2 * 4;
            NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, lba, 4, DATA);

            host_send(h, 1, &sqe);
            sent++;
        }
        cqe = host_wait(h, 1);
        g_assert_cmphex(host_code(cqe.status), ==, 0);
        done++;
    }
    g_assert_cmpuint(pointer(h, 0), ==, ZONE - 16);
    g_assert_cmpuint(pointer(h, 1), ==, ZONE - 16);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/zrwa/identify", test_area_identify);
    g_test_add_func("/zrwa/writes", test_area_writes);
    g_test_add_func("/zrwa/limits", test_area_limits);
    g_test_add_func("/zrwa/full", test_area_full);
    g_test_add_func("/zrwa/power", test_area_power);
    g_test_add_func("/zrwa/saved", test_area_saved);
    g_test_add_func("/zrwa/load", test_area_load);
    return g_test_run();
}
