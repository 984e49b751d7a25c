/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-zns.c - zones (Zoned Namespace Command Set 1.1): states, limits, write
 * pointers, reports, Zone Append, and what power cuts, resets and saved states
 * leave of them.
 */
#include "zoned.h"

#include "ssd-report.h"

/* ---- what the host reads ------------------------------------------------- */

static void test_identify(void)
{
    Host *h = start(GAPS);
    const uint8_t *d = h->ram + BUF;

    g_assert_cmphex(host_read32(h, NVME_REG_CAP + 4) >> 5 & 0xff, ==, 0x41);
    /* CNS 05h and 06h, CSI 2. */
    g_assert_cmphex(
        command(h, 0, NVME_ADM_IDENTIFY, 1, (uint32_t[]){5, 2U << 24, 0, 0})
            .status,
        ==, 0);
    g_assert_cmpuint(get_le32(d + 4), ==, 4 - 1);
    g_assert_cmpuint(get_le32(d + 8), ==, 3 - 1);
    g_assert_cmpuint(get_le64(d + 2816), ==, ZONE);
    g_assert_cmpuint(d[2816 + 8], ==, 1);
    g_assert_cmphex(
        command(h, 0, NVME_ADM_IDENTIFY, 0, (uint32_t[]){6, 2U << 24, 0, 0})
            .status,
        ==, 0);
    g_assert_cmpuint(d[0], ==, 4); /* ZASL: 64 KiB */
    g_assert_cmphex(
        command(h, 0, NVME_ADM_IDENTIFY, 0, (uint32_t[]){7, 2U << 24, 0, 0})
            .status,
        ==, 0);
    g_assert_cmpuint(get_le32(d), ==, 1);
    g_assert_cmphex(host_code(command(h, 0, NVME_ADM_IDENTIFY, 1,
                                      (uint32_t[]){5, 1U << 24, 0, 0})
                                  .status),
                    ==, NVME_SC_INVALID_FIELD);
    /* I/O command sets; descriptors. */
    command(h, 0, NVME_ADM_IDENTIFY, 0, (uint32_t[]){0xffff001c, 0, 0, 0});
    g_assert_cmphex(get_le64(d), ==, 5);
    command(h, 0, NVME_ADM_IDENTIFY, 1, (uint32_t[]){3, 0, 0, 0});
    while (d[0] && d[0] != 4) {
        d += 4 + d[1];
    }
    g_assert_cmphex(d[0], ==, 4);
    g_assert_cmphex(d[1], ==, 1);
    g_assert_cmphex(d[4], ==, 2);
    d = h->ram + BUF;
    /* Size and capacity; no commands apart from the write pointer. */
    command(h, 0, NVME_ADM_IDENTIFY, 1, (uint32_t[]){0, 0, 0, 0});
    g_assert_cmpuint(get_le64(d), ==, 17 * ZONE);
    g_assert_cmpuint(get_le64(d + 8), ==, 17 * 200);
    command(h, 0, NVME_ADM_IDENTIFY, 0, (uint32_t[]){1, 0, 0, 0});
    g_assert_cmphex(get_le16(d + 520), ==, 0xd1);
    g_assert_cmphex(get_le32(d + 92) >> 27 & 1, ==, 1);
    host_free(h);
}

static void test_effects(void)
{
    Host *h = start(ZONED);
    NvmeSqe sqe = host_sqe(NVME_ADM_GET_LOG_PAGE, 0, BUF);

    sqe.dw[10] = 1023U << 16 | 5;
    for (unsigned csi = 0; csi <= 2; csi += 2) {
        sqe.dw[14] = csi << 24;
        g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
        for (unsigned op = NVME_IO_ZONE_SEND; op <= NVME_IO_ZONE_APPEND; op++) {
            bool there = op != 0x7b && op != 0x7c && csi == 2;

            g_assert_cmpuint(get_le32(h->ram + BUF + 1024 + 4 * op) & 1, ==,
                             there);
        }
        g_assert_cmpuint(get_le32(h->ram + BUF + 1024 + 4 * NVME_IO_COPY), ==,
                         0);
    }
    g_assert_cmphex(host_code(host_io(h, 1, NVME_IO_WRITE_ZEROES, 0, 1, DATA)),
                    ==, NVME_SC_INVALID_OPCODE);
    host_free(h);
}

/* With DULBE: no data is behind the pointer, nor behind the capacity. */
static void test_unwritten(void)
{
    Host *h = start(GAPS);

    g_assert_cmphex(put(h, ZONE, 8), ==, 0);
    g_assert_cmphex(fetch(h, ZONE, 9), ==, 0);
    g_assert_cmphex(host_code(command(h, 0, NVME_ADM_SET_FEATURES, 1,
                                      (uint32_t[]){5, 1 << 16, 0, 0})
                                  .status),
                    ==, 0);
    g_assert_cmphex(fetch(h, ZONE, 8), ==, 0);
    g_assert_cmphex(fetch(h, ZONE, 9), ==, NVME_SC_UNWRITTEN);
    g_assert_cmphex(put(h, ZONE + 8, 92), ==, 0);
    g_assert_cmphex(put(h, ZONE + 100, 100), ==, 0);
    g_assert_cmphex(fetch(h, ZONE + 190, 10), ==, 0);
    g_assert_cmphex(fetch(h, ZONE + 190, 11), ==, NVME_SC_UNWRITTEN);
    g_assert_cmphex(fetch(h, ZONE + 210, 1), ==, NVME_SC_UNWRITTEN);
    host_free(h);
}

static void test_report(void)
{
    Host *h = start(GAPS);
    const uint8_t *d = h->ram + BUF;

    g_assert_cmphex(put(h, 2 * ZONE, 8), ==, 0);
    g_assert_cmphex(report(h, 0, 0, 0, false, 64 + 3 * 64), ==, 0);
    g_assert_cmpuint(get_le64(d), ==, 17);
    g_assert_cmphex(d[64], ==, 2);
    g_assert_cmphex(d[65], ==, EMPTY << 4);
    g_assert_cmpuint(get_le64(d + 64 + 8), ==, 200);
    g_assert_cmpuint(get_le64(d + 64 + 64 + 16), ==, ZONE);
    g_assert_cmpuint(get_le64(d + 64 + 64 + 24), ==, ZONE);
    g_assert_cmphex(d[64 + 128 + 1], ==, IMPLICIT << 4);
    g_assert_cmpuint(get_le64(d + 64 + 128 + 24), ==, 2 * ZONE + 8);
    /* Partial: those that fit; a filter; from within a zone. */
    g_assert_cmphex(report(h, 0, 0, 0, true, 64 + 3 * 64), ==, 0);
    g_assert_cmpuint(get_le64(d), ==, 3);
    g_assert_cmphex(report(h, 0, 0, 2, false, 256), ==, 0);
    g_assert_cmpuint(get_le64(d), ==, 1);
    g_assert_cmpuint(get_le64(d + 64 + 16), ==, 2 * ZONE);
    g_assert_cmphex(report(h, 16 * ZONE + 5, 0, 0, false, 256), ==, 0);
    g_assert_cmpuint(get_le64(d), ==, 1);
    g_assert_cmphex(report(h, 0, 0, 1, false, 64), ==, 0);
    g_assert_cmpuint(get_le64(d), ==, 16);
    /* Extended. */
    memset(host_ram(h, BUF, 64), 0x5a, 64);
    g_assert_cmphex(send(h, ZONE, EXTENSION), ==, 0);
    g_assert_cmphex(report(h, ZONE, 1, 0, true, 192), ==, 0);
    g_assert_cmpuint(get_le64(d), ==, 1);
    g_assert_cmphex(d[64 + 2], ==, 0x80);
    g_assert_cmphex(d[128], ==, 0x5a);
    g_assert_cmphex(d[191], ==, 0x5a);
    /* With the controller's advice (option 9h): it gives none. */
    g_assert_cmphex(report(h, 0, 0, 9, false, 256), ==, 0);
    g_assert_cmpuint(get_le64(d), ==, 0);
    /* Wrong. */
    g_assert_cmphex(report(h, 17 * ZONE, 0, 0, false, 256), ==,
                    NVME_SC_LBA_RANGE);
    g_assert_cmphex(report(h, 0, 2, 0, false, 256), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(report(h, 0, 0, 8, false, 256), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(report(h, 0, 0, 0, false, 60), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(report(h, 0, 0, 0, false, 1 << 20), ==,
                    NVME_SC_INVALID_FIELD);
    host_free(h);
}

/* ---- writes and reads ---------------------------------------------------- */

static void test_writes(void)
{
    Host *h = start(GAPS);

    mark(h, 1, 8);
    g_assert_cmphex(put(h, 1, 1), ==, NVME_SC_ZONE_INVALID_WRITE);
    g_assert_cmphex(put(h, 0, 8), ==, 0);
    g_assert_cmpuint(pointer(h, 0), ==, 8);
    g_assert_cmphex(put(h, 0, 8), ==, NVME_SC_ZONE_INVALID_WRITE);
    g_assert_cmphex(put(h, 9, 8), ==, NVME_SC_ZONE_INVALID_WRITE);
    mark(h, 2, 100);
    g_assert_cmphex(put(h, 8, 100), ==, 0);
    g_assert_cmphex(put(h, 108, 93), ==, NVME_SC_ZONE_BOUNDARY);
    g_assert_cmphex(put(h, ZONE - 1, 2), ==, NVME_SC_ZONE_BOUNDARY);
    /* Above the write pointer, and behind the capacity: zeroes. */
    g_assert_cmphex(fetch(h, 0, 128), ==, 0);
    g_assert_true(is_all(h, 1, 0, 8) && is_all(h, 2, 8, 100) &&
                  is_all(h, 0, 108, 20));
    g_assert_cmphex(put(h, 108, 92), ==, 0);
    g_assert_cmpuint(state(h, 0), ==, FULL);
    g_assert_cmphex(get_le64(zone(h, 0) + 24), ==, UINT64_MAX);
    g_assert_cmphex(put(h, 200, 1), ==, NVME_SC_ZONE_FULL);
    g_assert_cmphex(fetch(h, 180, 76), ==, 0);
    g_assert_true(is_all(h, 0, 20, 56));
    g_assert_cmphex(fetch(h, 210, 20), ==, 0);
    g_assert_true(is_all(h, 0, 0, 20));
    g_assert_cmphex(fetch(h, ZONE - 1, 2), ==, NVME_SC_ZONE_BOUNDARY);
    g_assert_cmphex(fetch(h, 17 * ZONE - 1, 2), ==, NVME_SC_LBA_RANGE);
    g_assert_cmphex(host_code(host_io(h, 1, NVME_IO_VERIFY, 0, 64, DATA)), ==,
                    0);
    g_assert_cmphex(host_code(host_io(h, 1, NVME_IO_VERIFY, ZONE - 1, 2, DATA)),
                    ==, NVME_SC_ZONE_BOUNDARY);
    /* The next zone begins where this one's capacity ends, in the drive. */
    mark(h, 7, 1);
    g_assert_cmphex(put(h, ZONE, 1), ==, 0);
    g_assert_cmphex(fetch(h, 199, 1), ==, 0);
    g_assert_true(is_all(h, 2, 0, 1));
    g_assert_cmphex(fetch(h, ZONE, 1), ==, 0);
    g_assert_true(is_all(h, 7, 0, 1));
    host_free(h);
}

static HostCqe append(Host *h, uint64_t lba, uint32_t n)
{
    NvmeSqe sqe = host_rw(h, NVME_IO_ZONE_APPEND, lba, n, DATA);

    return host_do(h, 1, &sqe);
}

static void test_append(void)
{
    Host *h = start(ZONED);

    for (uint32_t i = 0; i < 16; i++) {
        HostCqe cqe = append(h, 3 * ZONE, 16);

        g_assert_cmphex(cqe.status, ==, 0);
        g_assert_cmpuint(cqe.dw0, ==, 3 * ZONE + 16 * i);
    }
    g_assert_cmpuint(state(h, 3), ==, FULL);
    g_assert_cmphex(host_code(append(h, 3 * ZONE, 1).status), ==,
                    NVME_SC_ZONE_FULL);
    g_assert_cmphex(host_code(append(h, ZONE + 1, 1).status), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(host_code(append(h, ZONE, 17).status), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(put(h, ZONE, 100), ==, 0);
    g_assert_cmphex(put(h, ZONE + 100, 100), ==, 0);
    g_assert_cmphex(put(h, ZONE + 200, 50), ==, 0);
    g_assert_cmphex(host_code(append(h, ZONE, 7).status), ==,
                    NVME_SC_ZONE_BOUNDARY);
    g_assert_cmphex(append(h, ZONE, 6).dw0, ==, ZONE + 250);
    host_free(h);
}

/* Many appends at a time: each gets blocks of its own. */
static void test_append_many(void)
{
    Host *h = start(ZONED);
    bool seen[ZONE] = {false};

    for (unsigned i = 0; i < 32; i++) {
        NvmeSqe sqe;

        mark(h, (uint8_t)(i + 1), 8);
        sqe = host_rw(h, NVME_IO_ZONE_APPEND, 0, 8, DATA);
        host_send(h, 1, &sqe);
    }
    for (unsigned i = 0; i < 32; i++) {
        HostCqe cqe = host_wait(h, 1);

        g_assert_cmphex(cqe.status, ==, 0);
        g_assert_cmpuint(cqe.dw0 % 8, ==, 0);
        g_assert_false(seen[cqe.dw0]);
        seen[cqe.dw0] = true;
    }
    g_assert_cmpuint(state(h, 0), ==, FULL);
    host_free(h);
}

/* ---- states and limits --------------------------------------------------- */

static void test_states(void)
{
    Host *h = start(ZONED);

    g_assert_cmphex(send(h, 0, OPEN), ==, 0);
    g_assert_cmpuint(state(h, 0), ==, EXPLICIT);
    g_assert_cmphex(send(h, 0, OPEN), ==, 0);
    g_assert_cmphex(send(h, 0, CLOSE), ==, 0); /* without data */
    g_assert_cmpuint(state(h, 0), ==, CLOSED);
    g_assert_cmphex(send(h, 0, CLOSE), ==, 0);
    g_assert_cmphex(send(h, 0, RESET), ==, 0);
    g_assert_cmpuint(state(h, 0), ==, EMPTY);
    g_assert_cmphex(send(h, 0, CLOSE), ==, NVME_SC_ZONE_TRANSITION);
    g_assert_cmphex(put(h, 0, 4), ==, 0);
    g_assert_cmpuint(state(h, 0), ==, IMPLICIT);
    g_assert_cmphex(send(h, 0, OPEN), ==, 0);
    g_assert_cmpuint(state(h, 0), ==, EXPLICIT);
    g_assert_cmphex(put(h, 4, 4), ==, 0);
    g_assert_cmpuint(state(h, 0), ==, EXPLICIT);
    g_assert_cmphex(send(h, 0, CLOSE), ==, 0);
    g_assert_cmpuint(state(h, 0), ==, CLOSED);
    g_assert_cmphex(send(h, 0, CLOSE), ==, 0);
    g_assert_cmphex(put(h, 8, 4), ==, 0);
    g_assert_cmpuint(state(h, 0), ==, IMPLICIT);
    g_assert_cmphex(send(h, 0, FINISH), ==, 0);
    g_assert_cmpuint(state(h, 0), ==, FULL);
    g_assert_cmphex(send(h, 0, FINISH), ==, 0);
    g_assert_cmphex(send(h, 0, OPEN), ==, NVME_SC_ZONE_TRANSITION);
    g_assert_cmphex(send(h, 0, CLOSE), ==, NVME_SC_ZONE_TRANSITION);
    g_assert_cmphex(put(h, 12, 4), ==, NVME_SC_ZONE_FULL);
    g_assert_cmphex(send(h, 0, OFFLINE), ==, NVME_SC_ZONE_TRANSITION);
    g_assert_cmphex(send(h, 0, EXTENSION), ==, NVME_SC_ZONE_TRANSITION);
    g_assert_cmphex(send(h, 0, RESET), ==, 0);
    g_assert_cmpuint(state(h, 0), ==, EMPTY);
    g_assert_cmpuint(pointer(h, 0), ==, 0);
    g_assert_cmphex(send(h, 0, RESET), ==, 0);
    g_assert_cmphex(fetch(h, 0, 16), ==, 0);
    g_assert_true(is_all(h, 0, 0, 16));
    g_assert_cmphex(put(h, 0, 16), ==, 0);
    g_assert_cmphex(send(h, ZONE, FINISH), ==, 0); /* from Empty */
    g_assert_cmpuint(state(h, 1), ==, FULL);
    /* Wrong commands. */
    g_assert_cmphex(send(h, 1, RESET), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(send(h, 17 * ZONE, RESET), ==, NVME_SC_LBA_RANGE);
    g_assert_cmphex(send(h, 0, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(send(h, 0, 0x11), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(send(h, 0, EXTENSION | 0x100), ==, NVME_SC_INVALID_FIELD);
    host_free(h);
}

/* 4 active, 3 open. */
static void test_limits(void)
{
    Host *h = start(ZONED);

    for (unsigned i = 0; i < 3; i++) {
        g_assert_cmphex(put(h, i * ZONE, 4), ==, 0);
    }
    /* The controller closes the zone that it opened first. */
    g_assert_cmphex(put(h, 3 * ZONE, 4), ==, 0);
    g_assert_cmpuint(state(h, 0), ==, CLOSED);
    g_assert_cmpuint(state(h, 1), ==, IMPLICIT);
    g_assert_cmphex(put(h, 4 * ZONE, 4), ==, NVME_SC_TOO_MANY_ACTIVE);
    g_assert_cmphex(send(h, 4 * ZONE, OPEN), ==, NVME_SC_TOO_MANY_ACTIVE);
    g_assert_cmphex(send(h, 4 * ZONE, EXTENSION), ==, NVME_SC_TOO_MANY_ACTIVE);
    g_assert_cmphex(send(h, 0, OPEN), ==, 0);
    g_assert_cmphex(send(h, ZONE, OPEN), ==, 0);
    g_assert_cmphex(send(h, 2 * ZONE, OPEN), ==, 0);
    g_assert_cmpuint(state(h, 3), ==, CLOSED);
    g_assert_cmphex(put(h, 3 * ZONE + 4, 4), ==, NVME_SC_TOO_MANY_OPEN);
    g_assert_cmphex(send(h, 3 * ZONE, OPEN), ==, NVME_SC_TOO_MANY_OPEN);
    g_assert_cmphex(send(h, 0, OPEN | 0x100), ==, NVME_SC_TOO_MANY_OPEN);
    /* Finish and reset give resources back. */
    g_assert_cmphex(send(h, 0, FINISH), ==, 0);
    g_assert_cmphex(put(h, 3 * ZONE + 4, 4), ==, 0);
    g_assert_cmphex(send(h, ZONE, RESET), ==, 0);
    g_assert_cmphex(put(h, 4 * ZONE, 4), ==, 0);
    /* All. */
    g_assert_cmphex(send(h, 0, CLOSE | 0x100), ==, 0);
    g_assert_cmpuint(state(h, 4), ==, CLOSED);
    g_assert_cmphex(send(h, 0, OPEN | 0x100), ==, 0);
    g_assert_cmpuint(state(h, 4), ==, EXPLICIT);
    g_assert_cmphex(send(h, 0, FINISH | 0x100), ==, 0);
    g_assert_cmpuint(state(h, 4), ==, FULL);
    g_assert_cmphex(send(h, 0, RESET | 0x100), ==, 0);
    g_assert_cmphex(report(h, 0, 0, 1, false, 64), ==, 0);
    g_assert_cmpuint(get_le64(h->ram + BUF), ==, 17);
    host_free(h);
}

/* Every zone, many times over: nothing is copied, and the drive is never short
 * of room. */
static void test_churn(const void *set)
{
    Host *h = start(set);
    uint32_t capacity = (uint32_t)get_le64(zone(h, 0) + 8);
    SsdCounters c;

    for (unsigned round = 0; round < 80; round++) {
        unsigned i = round * 5 % 17;

        g_assert_cmphex(send(h, i * ZONE, RESET), ==, 0);
        for (uint32_t at = 0; at < capacity; at += 40) {
            uint32_t n = MIN(40, capacity - at);

            mark(h, (uint8_t)(round + 1), n);
            g_assert_cmphex(put(h, i * ZONE + at, n), ==, 0);
        }
        g_assert_cmpuint(state(h, i), ==, FULL);
        g_assert_cmphex(fetch(h, i * ZONE, 100), ==, 0);
        g_assert_true(is_all(h, (uint8_t)(round + 1), 0, 100));
    }
    ssd_get_counters(h->ssd, &c);
    g_assert_cmpuint(c.copied_units, ==, 0);
    g_assert_cmpuint(c.nand_programs, <=, c.host_bytes_written / 16384 + 80);
    host_free(h);
}

static uint64_t padded_units(const Host *h)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < ssd_info(h->ssd)->nstreams; i++) {
        SsdStreamCounters c;

        ssd_get_stream(h->ssd, i, &c);
        n += c.padded_units;
    }
    return n;
}

/* What Finish pads; the record of a Reset, also of an empty zone; the address
 * of an append. */
static void test_costs(void)
{
    Host *h = start(ZONED "zones.reset_record=2ms;zones.append_time=300us;");
    uint64_t before_ns;

    g_assert_cmphex(put(h, 0, 1), ==, 0);
    g_assert_cmphex(send(h, 0, FINISH), ==, 0);
    g_assert_cmpuint(padded_units(h), ==, ZONE - 1);
    g_assert_cmpuint(state(h, 0), ==, FULL);
    before_ns = h->now_ns;
    g_assert_cmphex(send(h, 5 * ZONE, RESET), ==, 0); /* it is empty */
    g_assert_cmpuint(h->now_ns - before_ns, >=, 2000000);
    g_assert_cmpuint(h->now_ns - before_ns, <, 2100000);
    g_assert_cmpuint(state(h, 5), ==, EMPTY);
    before_ns = h->now_ns;
    g_assert_cmphex(zone_io(h, NVME_IO_ZONE_APPEND, 5 * ZONE, 1), ==, 0);
    g_assert_cmpuint(h->now_ns - before_ns, >=, 300000);
    before_ns = h->now_ns;
    g_assert_cmphex(put(h, 5 * ZONE + 1, 1), ==, 0);
    g_assert_cmpuint(h->now_ns - before_ns, <, 200000);
    host_free(h);
    h = start(ZONED "zones.finish_pads=off;");
    g_assert_cmphex(put(h, 0, 1), ==, 0);
    g_assert_cmphex(send(h, 0, FINISH), ==, 0);
    g_assert_cmpuint(padded_units(h), ==, 3); /* of its page */
    host_free(h);
}

/* A reset waits for writes before it; a write meanwhile is refused. */
static void test_overlap(void)
{
    Host *h = start(ZONED);
    NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, 0, 64, DATA);
    NvmeSqe reset = host_sqe(NVME_IO_ZONE_SEND, 1, BUF);
    NvmeSqe late = host_rw(h, NVME_IO_WRITE, 0, 1, DATA);
    uint16_t cid[3];
    uint16_t status[3] = {0xffff, 0xffff, 0xffff};

    mark(h, 3, 64);
    reset.dw[13] = RESET;
    sqe.dw[0] |= 1U << 16;
    reset.dw[0] |= 2U << 16;
    late.dw[0] |= 3U << 16;
    host_put(h, 1, &sqe);
    host_put(h, 1, &reset);
    host_put(h, 1, &late);
    host_ring(h, 1);
    for (unsigned i = 0; i < 3; i++) {
        HostCqe cqe = host_wait(h, 1);

        cid[i] = cqe.cid;
        status[i] = host_code(cqe.status);
    }
    g_assert_cmpuint(cid[0], ==, 3);
    g_assert_cmphex(status[0], ==, NVME_SC_ZONE_INVALID_WRITE);
    g_assert_cmpuint(cid[1], ==, 1);
    g_assert_cmpuint(cid[2], ==, 2);
    g_assert_cmphex(status[1] | status[2], ==, 0);
    g_assert_cmpuint(state(h, 0), ==, EMPTY);
    g_assert_cmphex(fetch(h, 0, 64), ==, 0);
    g_assert_true(is_all(h, 0, 0, 64));
    host_free(h);
}

/* ---- power, resets, saved states ------------------------------------------
 */

static void cut(Host *h)
{
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    queues(h);
}

/* ZNS 2.1.1.3: a closed zone without data is active until it is reset, or the
 * subsystem is; the next cut has nothing to change. */
static void test_closed_empty(void)
{
    Host *h = start(ZONED);

    for (unsigned i = 0; i < 4; i++) {
        g_assert_cmphex(send(h, i * ZONE, OPEN), ==, 0);
        g_assert_cmphex(send(h, i * ZONE, CLOSE), ==, 0);
        g_assert_cmpuint(state(h, i), ==, CLOSED);
    }
    g_assert_cmphex(put(h, 0, 4), ==, 0);
    g_assert_cmphex(send(h, 4 * ZONE, OPEN), ==, NVME_SC_TOO_MANY_ACTIVE);
    for (unsigned n = 0; n < 2; n++) {
        cut(h);
        g_assert_cmpuint(state(h, 0), ==, CLOSED);
        for (unsigned i = 1; i < 4; i++) {
            g_assert_cmpuint(state(h, i), ==, EMPTY);
        }
    }
    for (unsigned i = 1; i < 4; i++) {
        g_assert_cmphex(send(h, i * ZONE, OPEN), ==, 0);
    }
    host_free(h);
}

/* Blocks below the write pointer that were acknowledged have their data; others
 * have it or zeroes; above it are zeroes. */
static void check_zone(Host *h, unsigned i, uint64_t wp, const bool *acked)
{
    g_assert_cmphex(fetch(h, i * ZONE, 128), ==, 0);
    for (uint32_t k = 0; k < 128; k++) {
        g_assert_true(k < wp && is_all(h, (uint8_t)(i + 1), k, 1) ? true
                      : k < wp ? !acked[k] && is_all(h, 0, k, 1)
                               : is_all(h, 0, k, 1));
    }
}

/*
 * Writes of random sizes to several zones, some in flight when the power goes.
 * Then the write pointer is behind all that was acknowledged, and not behind
 * more than was sent.
 */
static void test_power(void)
{
    Host *h = start(ZONED);
    uint32_t acked[4] = {0};
    static bool is_acked[4][ZONE];
    Prng rng;

    prng_seed(&rng, 3, 3);
    for (unsigned round = 0; round < 120; round++) {
        uint32_t sent[4];
        unsigned in_flight = 0;
        uint16_t of[64] = {0};
        uint32_t from[64] = {0};
        uint32_t len[64] = {0};

        memcpy(sent, acked, sizeof(sent));
        for (unsigned i = 0; i < 4; i++) {
            mark(h, (uint8_t)(i + 1), 64);
        }
        for (unsigned k = 0; k < 12; k++) {
            unsigned i = (unsigned)prng_below(&rng, 3);
            uint32_t n = 1 + (uint32_t)prng_below(&rng, 8);
            NvmeSqe sqe;
            uint16_t cid;

            if (sent[i] + n > ZONE) {
                continue;
            }
            memset(host_ram(h, DATA + k * 0x10000, n * 4096), (int)i + 1,
                   n * 4096);
            sqe = host_rw(h, NVME_IO_WRITE, i * ZONE + sent[i], n,
                          DATA + k * 0x10000);
            host_map_at(h, &sqe, HOST_LISTS + (k + 1) * 4096,
                        DATA + k * 0x10000, n * 4096);
            cid = host_send(h, 1, &sqe);
            of[cid % 64] = (uint16_t)i;
            from[cid % 64] = sent[i];
            len[cid % 64] = sent[i] + n;
            sent[i] += n;
            in_flight++;
        }
        for (unsigned k = (unsigned)prng_below(&rng, in_flight + 1); k; k--) {
            HostCqe cqe = host_wait(h, 1);
            unsigned i = of[cqe.cid % 64];

            g_assert_cmphex(cqe.status, ==, 0);
            acked[i] = MAX(acked[i], len[cqe.cid % 64]);
            for (uint32_t b = from[cqe.cid % 64]; b < len[cqe.cid % 64]; b++) {
                is_acked[i][b] = true;
            }
        }
        host_sleep(h, prng_below(&rng, 20000));
        cut(h);
        for (unsigned i = 0; i < 3; i++) {
            unsigned s = state(h, i);
            uint64_t wp = s == FULL ? ZONE : pointer(h, i);

            g_assert_true(s == FULL || s == CLOSED || s == EMPTY);
            g_assert_cmpuint(wp, >=, acked[i]);
            g_assert_cmpuint(wp, <=, sent[i]);
            check_zone(h, i, wp, is_acked[i]);
            acked[i] = (uint32_t)wp;
            if (wp > ZONE - 16) {
                g_assert_cmphex(send(h, i * ZONE, RESET), ==, 0);
                acked[i] = 0;
                memset(is_acked[i], 0, sizeof(is_acked[i]));
            }
        }
    }
    host_free(h);
}

/* The power goes during a reset: the zone is empty, and can be written. */
static void test_power_in_reset(void)
{
    for (unsigned at = 0; at < 40; at++) {
        Host *h = start(ZONED);
        NvmeSqe reset = host_sqe(NVME_IO_ZONE_SEND, 1, BUF);

        mark(h, 9, 100);
        g_assert_cmphex(put(h, 0, 100), ==, 0);
        g_assert_cmphex(put(h, 100, 100), ==, 0);
        reset.dw[13] = RESET;
        host_send(h, 1, &reset);
        host_sleep(h, at * 100000);
        cut(h);
        g_assert_cmpuint(state(h, 0), ==, EMPTY);
        g_assert_cmphex(fetch(h, 0, 128), ==, 0);
        g_assert_true(is_all(h, 0, 0, 128));
        g_assert_cmphex(put(h, 0, 100), ==, 0);
        host_free(h);
    }
}

/* Finish: its state survives; so do extensions. */
static void test_power_states(void)
{
    Host *h = start(GAPS);

    mark(h, 4, 8);
    g_assert_cmphex(put(h, 0, 8), ==, 0);
    g_assert_cmphex(send(h, 0, FINISH), ==, 0);
    g_assert_cmphex(send(h, ZONE, OPEN), ==, 0);
    memset(host_ram(h, BUF, 64), 0x77, 64);
    g_assert_cmphex(send(h, 2 * ZONE, EXTENSION), ==, 0);
    g_assert_cmphex(put(h, 3 * ZONE, 3), ==, 0);
    cut(h);
    g_assert_cmpuint(state(h, 0), ==, FULL);
    g_assert_cmpuint(state(h, 1), ==, EMPTY);
    g_assert_cmpuint(state(h, 2), ==, CLOSED);
    g_assert_cmpuint(state(h, 3), ==, CLOSED);
    g_assert_cmpuint(pointer(h, 3), ==, 3);
    g_assert_cmphex(report(h, 2 * ZONE, 1, 0, true, 192), ==, 0);
    g_assert_cmphex(h->ram[BUF + 128], ==, 0x77);
    /* An NVM Subsystem Reset closes zones, too; CC.EN does not. */
    g_assert_cmphex(send(h, 3 * ZONE, OPEN), ==, 0);
    host_write32(h, NVME_REG_CC, 0);
    queues(h);
    g_assert_cmpuint(state(h, 3), ==, EXPLICIT);
    host_write32(h, NVME_REG_NSSR, NVME_NSSR_VALUE);
    host_write32(h, NVME_REG_CSTS, NVME_CSTS_NSSRO);
    queues(h);
    g_assert_cmpuint(state(h, 3), ==, CLOSED);
    g_assert_cmpuint(pointer(h, 3), ==, 3);
    host_free(h);
}

/* A host that enables the NVM command set alone finds no namespace. */
static void test_nvm_only(void)
{
    Host *h = start(ZONED);

    host_write32(h, NVME_REG_CC, 0);
    host_write32(h, NVME_REG_CC, 0x00460001);
    host_run(h);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
    host_write32(h, NVME_REG_CC, 0);
    host_write32(h, NVME_REG_CC, 0x00460011); /* CSS 001b */
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS) & NVME_CSTS_CFS, ==,
                    NVME_CSTS_CFS);
    host_free(h);
}

static void test_saved(void)
{
    HostOptions o = {.set = GAPS, .block_bytes = 4096};
    Host *h = start(GAPS);
    GByteArray *drive, *ctrl;
    GError *error = NULL;

    mark(h, 4, 8);
    g_assert_cmphex(put(h, 0, 8), ==, 0);
    g_assert_cmphex(put(h, ZONE, 5), ==, 0);
    g_assert_cmphex(send(h, ZONE, FINISH), ==, 0);
    g_assert_cmphex(send(h, 2 * ZONE, OPEN), ==, 0);
    memset(host_ram(h, BUF, 64), 0x77, 64);
    g_assert_cmphex(send(h, 3 * ZONE, EXTENSION), ==, 0);
    host_settle(h);
    host_save(h, &drive, &ctrl);
    h = host_reload(&o, h, drive, ctrl, &error);
    g_assert_no_error(error);
    nvme_hold(h->ctrl, false);
    g_assert_cmpuint(state(h, 0), ==, IMPLICIT);
    g_assert_cmpuint(pointer(h, 0), ==, 8);
    g_assert_cmpuint(state(h, 1), ==, FULL);
    g_assert_cmpuint(state(h, 2), ==, EXPLICIT);
    g_assert_cmpuint(state(h, 3), ==, CLOSED);
    g_assert_cmphex(report(h, 3 * ZONE, 1, 0, true, 192), ==, 0);
    g_assert_cmphex(h->ram[BUF + 128], ==, 0x77);
    g_assert_cmphex(put(h, 8, 8), ==, 0);
    g_assert_cmphex(send(h, 4 * ZONE, OPEN), ==, 0);
    g_assert_cmphex(send(h, 5 * ZONE, OPEN), ==, NVME_SC_TOO_MANY_ACTIVE);
    g_byte_array_unref(drive);
    g_byte_array_unref(ctrl);
    host_free(h);
}

/* The drive takes no more data: the zone is read only; the host is told. */
static void test_worn(void)
{
    Host *h = start(ZONED "media.program_fail=1");
    NvmeSqe log = host_sqe(NVME_ADM_GET_LOG_PAGE, 1, BUF);
    NvmeSqe aer = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);
    uint16_t cid;
    unsigned n = 0;
    HostCqe cqe;

    command(h, 0, NVME_ADM_SET_FEATURES, 0, (uint32_t[]){0x0b, 1U << 27, 0, 0});
    cid = host_send(h, 0, &aer);
    while (n < 200 && put(h, n * 8 / ZONE * ZONE + n * 8 % ZONE, 8) == 0) {
        n++;
    }
    g_assert_cmpuint(n, <, 200);
    g_assert_cmpuint(state(h, n * 8 / ZONE), ==, READ_ONLY);
    cqe = host_wait(h, 0);
    g_assert_cmpuint(cqe.cid, ==, cid);
    g_assert_cmphex(cqe.dw0, ==, 0xbfef02);
    log.dw[10] = 1023U << 16 | 0xbf;
    g_assert_cmphex(host_do(h, 0, &log).status, ==, 0);
    g_assert_cmpuint(get_le16(h->ram + BUF), ==, 1);
    g_assert_cmpuint(get_le64(h->ram + BUF + 8), ==, n * 8 / ZONE * ZONE);
    g_assert_cmphex(host_do(h, 0, &log).status, ==, 0);
    g_assert_cmpuint(get_le16(h->ram + BUF), ==, 0);
    g_assert_cmphex(put(h, n * 8, 8), ==, NVME_SC_ZONE_READ_ONLY);
    g_assert_cmphex(send(h, n * 8 / ZONE * ZONE, RESET), ==,
                    NVME_SC_ZONE_TRANSITION);
    g_assert_cmphex(send(h, n * 8 / ZONE * ZONE, FINISH), ==,
                    NVME_SC_ZONE_TRANSITION);
    g_assert_cmphex(send(h, n * 8 / ZONE * ZONE, OPEN), ==,
                    NVME_SC_ZONE_TRANSITION);
    g_assert_cmphex(send(h, n * 8 / ZONE * ZONE, EXTENSION), ==,
                    NVME_SC_ZONE_TRANSITION);
    g_assert_cmphex(send(h, n * 8 / ZONE * ZONE, OFFLINE), ==, 0);
    g_assert_cmphex(fetch(h, n * 8 / ZONE * ZONE, 1), ==, NVME_SC_ZONE_OFFLINE);
    g_assert_cmphex(put(h, n * 8, 8), ==, NVME_SC_ZONE_OFFLINE);
    host_free(h);
    /* Nor can it finish a zone. */
    h = start(ZONED "media.program_fail=1");
    g_assert_cmphex(put(h, ZONE, 5), ==, 0);
    g_assert_cmphex(send(h, ZONE, FINISH), ==, NVME_SC_WRITE_FAULT);
    g_assert_cmpuint(state(h, 1), ==, READ_ONLY);
    host_free(h);
}

/* ---- several controllers ------------------------------------------------- */

/* A drive with two controllers, which a failing zone is told to. */
static Host *with_two(const char *set, Host **b)
{
    HostOptions o = {.set = set, .block_bytes = 4096, .controllers = 3};
    Host *h = host_new(&o);
    GError *error = NULL;

    queues(h);
    *b = host_add(h, 7, &error);
    g_assert_no_error(error);
    queues(*b);
    return h;
}

static unsigned changed_zones(Host *h)
{
    NvmeSqe log = host_sqe(NVME_ADM_GET_LOG_PAGE, 1, BUF);

    log.dw[10] = 1023U << 16 | 0xbf;
    g_assert_cmphex(host_do(h, 0, &log).status, ==, 0);
    return get_le16(h->ram + BUF);
}

/* They have the same zones, pointers and limits. */
static void test_shared(void)
{
    Host *b;
    Host *h = with_two(ZONED, &b);

    mark(h, 0x31, 8);
    g_assert_cmphex(put(h, 0, 8), ==, 0);
    mark(b, 0x32, 8);
    g_assert_cmphex(put(b, 0, 8), ==, NVME_SC_ZONE_INVALID_WRITE);
    g_assert_cmphex(put(b, 8, 8), ==, 0);
    g_assert_cmpuint(pointer(h, 0), ==, 16);
    g_assert_cmphex(fetch(h, 0, 16), ==, 0);
    g_assert_true(is_all(h, 0x31, 0, 8) && is_all(h, 0x32, 8, 8));
    for (unsigned i = 1; i < 3; i++) {
        g_assert_cmphex(send(i % 2 ? h : b, i * ZONE, OPEN), ==, 0);
    }
    g_assert_cmphex(send(h, 0, OPEN), ==, 0);
    g_assert_cmphex(send(b, 3 * ZONE, OPEN), ==, NVME_SC_TOO_MANY_OPEN);
    host_write32(b, NVME_REG_CC, 0); /* its reset changes no zone */
    g_assert_cmpuint(state(h, 2), ==, EXPLICIT);
    queues(b);
    g_assert_cmphex(send(b, 0, RESET), ==, 0);
    g_assert_cmpuint(state(h, 0), ==, EMPTY);
    host_free(b); /* while zones that it has opened are open */
    g_assert_cmpuint(state(h, 2), ==, EXPLICIT);
    g_assert_cmphex(put(h, 2 * ZONE, 8), ==, 0);
    host_free(h);
}

/* Each is told of the zones that have changed, and reads its own list. */
static void test_shared_log(void)
{
    Host *b, *c;
    Host *h = with_two(ZONED "media.program_fail=1", &b);
    unsigned n = 0;

    while (n < 200 && put(n % 2 ? h : b, n * 8, 8) == 0) {
        n++;
    }
    g_assert_cmpuint(n, <, 200);
    g_assert_cmpuint(changed_zones(h), ==, 1);
    g_assert_cmpuint(changed_zones(h), ==, 0);
    g_assert_cmpuint(changed_zones(b), ==, 1);
    g_assert_cmpuint(changed_zones(b), ==, 0);
    host_free(b);
    c = host_add(h, 9, NULL); /* it has changed before */
    queues(c);
    g_assert_cmpuint(changed_zones(c), ==, 0);
    host_free(c);
    host_free(h);
}

static uint16_t reservation(Host *h, uint8_t opcode, uint32_t dw10, uint64_t a,
                            uint64_t b)
{
    NvmeSqe sqe = host_sqe(opcode, 1, BUF);

    put_le64(host_ram(h, BUF, 8), a);
    put_le64(host_ram(h, BUF + 8, 8), b);
    sqe.dw[10] = dw10;
    return host_code(host_do(h, 1, &sqe).status);
}

/* Zone Management Send is a write, Receive is a read. */
static void test_reserved(void)
{
    Host *b;
    Host *h = with_two(ZONED, &b);

    g_assert_cmphex(put(h, 0, 8), ==, 0);
    g_assert_cmphex(reservation(h, NVME_IO_RESERVATION_REGISTER, 0, 0, 11), ==,
                    0);
    g_assert_cmphex(reservation(h, NVME_IO_RESERVATION_ACQUIRE,
                                NVME_RESERVATION_WE << 8, 11, 0),
                    ==, 0);
    g_assert_cmphex(put(b, 8, 8), ==, NVME_SC_RESERVATION_CONFLICT);
    g_assert_cmphex(send(b, 0, RESET), ==, NVME_SC_RESERVATION_CONFLICT);
    g_assert_cmphex(report(b, 0, 0, 0, true, 128), ==, 0);
    g_assert_cmphex(fetch(b, 0, 8), ==, 0);
    g_assert_cmphex(reservation(h, NVME_IO_RESERVATION_ACQUIRE,
                                NVME_RESERVATION_EA << 8 | 1, 11, 11),
                    ==, 0); /* from itself */
    g_assert_cmphex(report(b, 0, 0, 0, true, 128), ==,
                    NVME_SC_RESERVATION_CONFLICT);
    g_assert_cmphex(send(h, 0, RESET), ==, 0);
    host_free(b);
    host_free(h);
}

/* ---- random commands ----------------------------------------------------- */

/* Zones that are in one of the states, from a to b. */
static unsigned count(Host *h, unsigned a, unsigned b)
{
    unsigned n = 0;

    for (unsigned i = 0; i < 17; i++) {
        unsigned s = state(h, i);

        n += s >= a && s <= b;
    }
    return n;
}

/* A write moves the pointer by its blocks, and nothing else does but a reset.
 */
static void random_write(Host *h, Prng *rng, unsigned i)
{
    uint32_t n = 1 + (uint32_t)prng_below(rng, 16);
    unsigned before = state(h, i);
    uint64_t wp = before == FULL ? ZONE : pointer(h, i);
    bool appends = prng_below(rng, 3) == 0;
    uint64_t at =
        prng_below(rng, 8) ? MIN(wp, ZONE - 1) : prng_below(rng, ZONE);
    uint16_t status = appends ? host_code(append(h, i * ZONE, n).status)
                              : put(h, i * ZONE + at, n);
    unsigned after = state(h, i);
    uint64_t now = after == FULL ? ZONE : pointer(h, i);

    g_assert_cmpuint(now, ==, status ? wp : wp + n);
    g_assert_true(!status || after == before);
    g_assert_true(status || after == FULL || after == IMPLICIT ||
                  after == EXPLICIT);
}

static void random_send(Host *h, Prng *rng, unsigned i)
{
    static const unsigned actions[] = {CLOSE, FINISH,  OPEN,
                                       RESET, OFFLINE, EXTENSION};
    unsigned action = actions[prng_below(rng, G_N_ELEMENTS(actions))];
    unsigned before = state(h, i);
    uint16_t status = send(h, i * ZONE, action);
    unsigned after = state(h, i);

    if (status) {
        g_assert_cmpuint(after, ==, before);
    } else if (action == RESET) {
        g_assert_cmpuint(after, ==, EMPTY);
        g_assert_cmpuint(pointer(h, i), ==, 0);
    } else {
        g_assert_cmpuint(after, ==,
                         action == FINISH    ? FULL
                         : action == OFFLINE ? OFF
                         : action == OPEN    ? EXPLICIT
                                             : CLOSED);
    }
}

static void test_random(const void *set)
{
    Host *h = start(set);
    GError *error = NULL;
    Prng rng;

    prng_seed(&rng, 11, 11);
    for (unsigned round = 0; round < 4000; round++) {
        unsigned i = (unsigned)prng_below(&rng, 17);

        if (prng_below(&rng, 10) == 0) {
            random_send(h, &rng, i);
        } else {
            random_write(h, &rng, i % 5);
        }
        if (round % 100 == 0) {
            g_assert_cmpuint(count(h, IMPLICIT, EXPLICIT), <=, 3);
            g_assert_cmpuint(count(h, IMPLICIT, CLOSED), <=, 4);
        }
        if (round % 1000 == 500) {
            cut(h);
        }
    }
    ssd_check(h->ssd, &error);
    g_assert_no_error(error);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/zns/identify", test_identify);
    g_test_add_func("/zns/effects", test_effects);
    g_test_add_func("/zns/unwritten", test_unwritten);
    g_test_add_func("/zns/report", test_report);
    g_test_add_func("/zns/writes", test_writes);
    g_test_add_func("/zns/append", test_append);
    g_test_add_func("/zns/append-many", test_append_many);
    g_test_add_func("/zns/states", test_states);
    g_test_add_func("/zns/limits", test_limits);
    g_test_add_func("/zns/costs", test_costs);
    g_test_add_data_func("/zns/churn", ZONED, test_churn);
    g_test_add_data_func("/zns/churn-gaps", GAPS, test_churn);
    g_test_add_func("/zns/overlap", test_overlap);
    g_test_add_func("/zns/power", test_power);
    g_test_add_func("/zns/closed-empty", test_closed_empty);
    g_test_add_func("/zns/power-in-reset", test_power_in_reset);
    g_test_add_func("/zns/power-states", test_power_states);
    g_test_add_func("/zns/nvm-only", test_nvm_only);
    g_test_add_func("/zns/saved", test_saved);
    g_test_add_func("/zns/worn", test_worn);
    g_test_add_func("/zns/shared", test_shared);
    g_test_add_func("/zns/shared-log", test_shared_log);
    g_test_add_func("/zns/reserved", test_reserved);
    /* The drive may lose one block: with padding it programs more often. */
    g_test_add_data_func(
        "/zns/random", ZONED "zones.finish_pads=off;media.program_fail=0.001;",
        test_random);
    g_test_add_data_func("/zns/random-padded",
                         ZONED "media.program_fail=0.0002;", test_random);
    return g_test_run();
}
