/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-store.c - commands that wait for the store, and those that do not:
 * ranges that a TRIM leaves to be zeroed, data that the store is slow with or
 * refuses, and how much of all this there may be.
 */
#include "host.h"
#include "ssd-report.h"

#include <time.h>

#define UNIT 8 /* blocks of 512 bytes */

static Host *ready(const HostOptions *o)
{
    Host *h = host_new(o);

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 1024), ==, 0);
    return h;
}

static uint64_t stat(Host *h, const char *name)
{
    g_autoptr(GString) s = g_string_new(NULL);
    g_autofree char *key = g_strdup_printf("\"%s\":", name);
    JsonWriter w = { .out = s };
    const char *at;

    nvme_stats_json(h->ctrl, &w, NULL);
    at = strstr(s->str, key);
    g_assert_nonnull(at);
    return g_ascii_strtoull(at + strlen(key), NULL, 10);
}

static uint64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* Let the drive work; of the store only requests that are no ZERO end. */
static void run_without_zeroes(Host *h, uint64_t ns)
{
    uint64_t until = h->now_ns + ns;

    for (;;) {
        host_run(h);
        if (host_store_end(h, NVME_STORE_READ) ||
            host_store_end(h, NVME_STORE_WRITE) ||
            host_store_end(h, NVME_STORE_FLUSH)) {
            continue;
        }
        if (nvme_next_event_ns(h->ctrl) > until) {
            break;
        }
        h->now_ns = nvme_next_event_ns(h->ctrl);
    }
    h->now_ns = until;
}

/* The command must end by then, with success. */
static void do_without_zeroes(Host *h, const NvmeSqe *sqe)
{
    HostCqe cqe;

    host_send(h, 1, sqe);
    run_without_zeroes(h, 1000000000);
    g_assert_true(host_poll(h, 1, &cqe));
    g_assert_cmphex(cqe.status, ==, 0);
}

static void write_without_zeroes(Host *h, uint64_t lba, uint32_t nblocks,
                                 uint8_t value)
{
    NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, lba, nblocks, HOST_DATA);

    memset(h->ram + HOST_DATA, value, (size_t)nblocks * 512);
    do_without_zeroes(h, &sqe);
    do_without_zeroes(h, &(NvmeSqe){ .dw = { NVME_IO_FLUSH, 1 } });
}

/* All bytes of the blocks, as a read finds them, are value. */
static void check_read(Host *h, uint64_t lba, uint32_t nblocks, uint8_t value)
{
    NvmeSqe sqe = host_rw(h, NVME_IO_READ, lba, nblocks, HOST_DATA + 0x100000);

    memset(h->ram + HOST_DATA + 0x100000, 0xee, (size_t)nblocks * 512);
    do_without_zeroes(h, &sqe);
    for (size_t i = 0; i < (size_t)nblocks * 512; i++) {
        g_assert_cmphex(h->ram[HOST_DATA + 0x100000 + i], ==, value);
    }
}

static void check_disk(Host *h, uint64_t lba, uint32_t nblocks, uint8_t value)
{
    for (size_t i = 0; i < (size_t)nblocks * 512; i++) {
        g_assert_cmphex(h->disk[lba * 512 + i], ==, value);
    }
}

/* Ranges are in guest memory already. */
static NvmeSqe dsm(unsigned nranges)
{
    NvmeSqe sqe = host_sqe(NVME_IO_DSM, 1, HOST_DATA + 0x200000);

    sqe.dw[10] = nranges - 1;
    sqe.dw[11] = 4;
    return sqe;
}

static void put_range(Host *h, unsigned i, uint64_t lba, uint32_t nblocks)
{
    uint8_t *r = h->ram + HOST_DATA + 0x200000 + 16 * i;

    memset(r, 0, 16);
    put_le32(r + 4, nblocks);
    put_le64(r + 8, lba);
}

static void trim(Host *h, uint64_t lba, uint32_t nblocks)
{
    NvmeSqe sqe = dsm(1);

    put_range(h, 0, lba, nblocks);
    do_without_zeroes(h, &sqe);
}

static void shut_down(Host *h)
{
    host_write32(h, NVME_REG_CC, 0x00464001);
    run_without_zeroes(h, 1000000000);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS) & NVME_CSTS_SHST_MASK, ==,
                    NVME_CSTS_SHST_DONE);
}

/* ---- ranges -------------------------------------------------------------- */

/* Flush, FUA, reads and a shutdown come and go while the store is at a hole. */
static void test_nobody_waits_for_a_hole(void)
{
    Host *h = ready(&(HostOptions){ .slow = true });
    NvmeSqe fua = host_rw(h, NVME_IO_WRITE, 1024, 8, HOST_DATA);

    write_without_zeroes(h, 0, 512, 0x11);
    trim(h, 0, 512);
    run_without_zeroes(h, 10000000);
    g_assert_cmpuint(host_at_store(h, NVME_STORE_ZERO), ==, 1);
    do_without_zeroes(h, &(NvmeSqe){ .dw = { NVME_IO_FLUSH, 1 } });
    fua.dw[12] |= 1U << 30;
    do_without_zeroes(h, &fua);
    check_read(h, 0, 512, 0);
    check_disk(h, 0, 512, 0x11);
    shut_down(h);
    g_assert_cmpuint(host_at_store(h, NVME_STORE_ZERO), ==, 1);
    host_sleep(h, 1000000000);
    check_disk(h, 0, 512, 0);
    g_assert_cmpuint(stat(h, "zero_ranges"), ==, 0);
    host_free(h);
}

/* Zeroes that the host has written are durable after a Flush. */
static void test_flush_waits_for_written_zeroes(void)
{
    Host *h = ready(&(HostOptions){ .slow = true, .durable = true });
    NvmeSqe zero = host_rw(h, NVME_IO_WRITE_ZEROES, 0, 512, HOST_DATA);
    HostCqe cqe;

    write_without_zeroes(h, 0, 512, 0x11);
    do_without_zeroes(h, &zero);
    host_send(h, 1, &(NvmeSqe){ .dw = { NVME_IO_FLUSH, 1 } });
    run_without_zeroes(h, 1000000000);
    g_assert_false(host_poll(h, 1, &cqe));
    check_read(h, 0, 512, 0);
    g_assert_cmphex(host_wait(h, 1).status, ==, 0);
    g_assert_cmpuint(h->durable[0] | h->durable[511 * 512], ==, 0);
    host_free(h);
}

/* A write takes its units out of a range that is still to be zeroed; the rest
 * of a unit is zeroes, in the store too. */
static void test_write_takes_units_out(void)
{
    Host *h = ready(&(HostOptions){ .slow = true });

    write_without_zeroes(h, 0, 1024, 0x11);
    trim(h, 0, 64); /* keeps the store busy */
    run_without_zeroes(h, 10000000);
    g_assert_cmpuint(host_at_store(h, NVME_STORE_ZERO), ==, 1);
    trim(h, 256, 256);
    write_without_zeroes(h, 320, 8, 0x22);
    write_without_zeroes(h, 331, 2, 0x33);
    g_assert_cmpuint(host_at_store(h, NVME_STORE_ZERO), ==, 1);
    check_disk(h, 256, 64, 0x11);
    check_disk(h, 320, 8, 0x22);
    check_disk(h, 328, 3, 0);
    check_disk(h, 331, 2, 0x33);
    check_disk(h, 333, 3, 0);
    check_disk(h, 336, 176, 0x11);
    check_read(h, 256, 64, 0);
    check_read(h, 320, 8, 0x22);
    g_assert_cmpuint(stat(h, "zero_ranges"), ==, 3);
    host_sleep(h, 1000000000);
    check_disk(h, 0, 64, 0);
    check_disk(h, 256, 64, 0);
    check_disk(h, 320, 8, 0x22);
    check_disk(h, 331, 2, 0x33);
    check_disk(h, 336, 176, 0);
    check_disk(h, 512, 512, 0x11);
    g_assert_cmpuint(stat(h, "zero_ranges"), ==, 0);
    host_free(h);
}

/* A TRIM, and on its heels a write of a part of a unit that holds data: in the
 * store, or also in the drive's buffer.  The rest of the unit is zeroes. */
static void trim_and_write(uint32_t ntrimmed, bool buffered)
{
    Host *h = ready(&(HostOptions){ .slow = true });
    NvmeSqe tr = dsm(1);
    NvmeSqe wr = host_rw(h, NVME_IO_WRITE, 2, 2, HOST_DATA);
    HostCqe cqe;

    write_without_zeroes(h, 0, 1024, 0x11);
    trim(h, 896, 8); /* keeps the store busy */
    run_without_zeroes(h, 10000000);
    g_assert_cmpuint(host_at_store(h, NVME_STORE_ZERO), ==, 1);
    if (buffered) {
        memset(h->ram + HOST_DATA, 0x33, 1024);
        g_assert_cmphex(host_do(h, 1, &wr).status, ==, 0);
    }
    wr = host_rw(h, NVME_IO_WRITE, 5, 2, HOST_DATA);
    memset(h->ram + HOST_DATA, 0x22, 1024);
    put_range(h, 0, 0, ntrimmed);
    host_put(h, 1, &tr);
    host_put(h, 1, &wr);
    host_ring(h, 1);
    run_without_zeroes(h, 1000000000);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_true(host_poll(h, 1, &cqe));
        g_assert_cmphex(cqe.status, ==, 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        check_read(h, 0, 5, 0);
        check_read(h, 5, 2, 0x22);
        check_read(h, 7, 9, 0);
        do_without_zeroes(h, &(NvmeSqe){ .dw = { NVME_IO_FLUSH, 1 } });
    }
    host_sleep(h, 1000000000);
    check_disk(h, 0, 5, 0);
    check_disk(h, 5, 2, 0x22);
    check_disk(h, 7, 9, 0);
    host_free(h);
}

static void test_trim_and_write(void)
{
    for (unsigned i = 0; i < 4; i++) {
        trim_and_write(i & 1 ? 1024 : 64, i & 2);
    }
}

/* Adjacent ranges become one, in whatever order they come. */
static void test_ranges_join(void)
{
    Host *h = ready(&(HostOptions){ .slow = true });

    write_without_zeroes(h, 0, 1024, 0x11);
    trim(h, 0, 8);
    run_without_zeroes(h, 10000000);
    trim(h, 512, 8);
    trim(h, 528, 8);
    g_assert_cmpuint(stat(h, "zero_ranges"), ==, 3);
    trim(h, 520, 8);
    g_assert_cmpuint(stat(h, "zero_ranges"), ==, 2);
    trim(h, 256, 512);
    g_assert_cmpuint(stat(h, "zero_ranges"), ==, 2);
    host_sleep(h, 1000000000);
    check_disk(h, 248, 8, 0x11);
    check_disk(h, 256, 512, 0);
    check_disk(h, 768, 8, 0x11);
    host_free(h);
}

/* Every second unit is trimmed, and the store does nothing. */
static void trim_every_second(Host *h, uint64_t from, unsigned n)
{
    for (unsigned at = 0; at < n; at += 256) {
        NvmeSqe sqe = dsm(256);

        for (unsigned i = 0; i < 256; i++) {
            put_range(h, i, from + (at + i) * 2ULL * UNIT, UNIT);
        }
        do_without_zeroes(h, &sqe);
    }
}

static uint64_t cost_of_reads(Host *h)
{
    uint64_t t0 = cpu_ns();

    for (unsigned i = 0; i < 200; i++) {
        NvmeSqe sqe = host_rw(h, NVME_IO_READ, i * 1024ULL, 1024, HOST_DATA);

        do_without_zeroes(h, &sqe);
    }
    return cpu_ns() - t0;
}

/* A list of 16384 ranges would make the reads some hundred times as slow. */
static void test_many_ranges(void)
{
    Host *h = ready(&(HostOptions){ .profile = "zero-latency", .slow = true,
                                    .nblocks = 1 << 20 });
    uint64_t few, many;

    trim_every_second(h, 0, 256);
    few = cost_of_reads(h);
    trim_every_second(h, 4096, 16384);
    g_assert_cmpuint(stat(h, "zero_ranges"), ==, 16640);
    many = cost_of_reads(h);
    g_test_message("256 ranges: %" G_GUINT64_FORMAT " us, 16640 ranges: %"
                   G_GUINT64_FORMAT " us", few / 1000, many / 1000);
    g_assert_cmpuint(many, <, 8 * few);
    host_free(h);
}

/* A hole that cannot be made is no error of anybody; zeroes that were written
 * are. */
static void test_refused_ranges(void)
{
    Host *h = ready(NULL);

    memset(h->ram + HOST_DATA, 0x11, 0x20000);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 256, HOST_DATA), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    h->fail_zeroes = true;
    trim(h, 0, 64);
    host_sleep(h, 10000000);
    check_disk(h, 0, 64, 0x11);
    check_read(h, 0, 64, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE_ZEROES, 128, 64, HOST_DATA), ==,
                    0);
    g_assert_cmphex(host_code(host_flush(h, 1)), ==, NVME_SC_WRITE_FAULT);
    g_assert_cmphex(host_code(host_flush(h, 1)), ==, NVME_SC_WRITE_FAULT);
    check_read(h, 128, 64, 0);
    h->fail_zeroes = false;
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    check_disk(h, 128, 64, 0);
    host_sleep(h, 100000000);
    check_disk(h, 0, 64, 0);
    check_disk(h, 64, 64, 0x11);
    g_assert_cmpuint(stat(h, "zero_ranges"), ==, 0);
    host_free(h);
}

/* Saved before the store has zeroed it, a range is zeroed after the load. */
static void test_ranges_are_saved(void)
{
    HostOptions o = { .slow = true };
    Host *h = ready(&o);
    Host *again;
    GByteArray *drive, *ctrl;
    GError *error = NULL;

    write_without_zeroes(h, 0, 512, 0x11);
    trim(h, 0, 8);
    run_without_zeroes(h, 10000000);
    trim(h, 256, 64);
    host_settle(h);
    check_disk(h, 256, 64, 0x11);
    host_save(h, &drive, &ctrl);
    again = host_load(&o, h, drive, ctrl, &error);
    g_assert_no_error(error);
    nvme_hold(again->ctrl, false);
    g_assert_cmpuint(stat(again, "zero_ranges"), ==, 1);
    host_sleep(again, 1000000000);
    check_disk(again, 256, 64, 0);
    check_disk(again, 320, 64, 0x11);
    g_byte_array_unref(drive);
    g_byte_array_unref(ctrl);
    host_free(again);
    host_free(h);
}

/* ---- Dataset Management -------------------------------------------------- */

static uint64_t trims_of(Host *h)
{
    SsdCounters c;

    ssd_get_counters(h->ssd, &c);
    return c.commands[SSD_OP_TRIM];
}

/* Ranges that overlap or touch are one, in whatever order they are named. */
static void test_dsm_merges(void)
{
    Host *h = ready(&(HostOptions){ .slow = true });
    NvmeSqe sqe = dsm(5);

    write_without_zeroes(h, 0, 1024, 0x11);
    put_range(h, 0, 512, 64);
    put_range(h, 1, 108, 92); /* 100..300 in three parts */
    put_range(h, 2, 0, 0);
    put_range(h, 3, 200, 100);
    put_range(h, 4, 100, 20);
    do_without_zeroes(h, &sqe);
    g_assert_cmpuint(trims_of(h), ==, 2);
    check_read(h, 100, 4, 0x11);
    check_read(h, 104, 192, 0);
    check_read(h, 296, 216, 0x11);
    check_read(h, 512, 64, 0);
    check_read(h, 576, 448, 0x11);
    host_free(h);
}

/* 256 times the whole drive, with data in the overlay that the store is slow to
 * take: one TRIM, and no memory for it. */
static void test_dsm_whole_drive(void)
{
    Host *h = ready(&(HostOptions){ .profile = "zero-latency", .slow = true,
                                    .nblocks = 1 << 20 });
    NvmeSqe sqe = dsm(256);
    uint64_t peak;

    for (unsigned i = 0; i < 64; i++) {
        NvmeSqe wr = host_rw(h, NVME_IO_WRITE, i * 1024, 1024, HOST_DATA);

        host_send(h, 1, &wr);
    }
    host_run(h);
    g_assert_cmpuint(stat(h, "units"), ==, 64 * 1024 / UNIT);
    peak = stat(h, "units_peak");
    for (unsigned i = 0; i < 256; i++) {
        put_range(h, i, 0, 1 << 20);
    }
    host_send(h, 1, &sqe);
    host_run(h);
    g_assert_cmpuint(trims_of(h), ==, 1);
    g_assert_cmpuint(stat(h, "units_peak"), ==, peak);
    /* Data at the store is still there: 16 MiB. */
    g_assert_cmpuint(stat(h, "units"), <=, 4096);
    g_assert_cmpuint(stat(h, "zero_ranges"), ==, 1);
    while (host_store_end(h, NVME_STORE_WRITE)) {
        host_run(h);
    }
    g_assert_cmpuint(stat(h, "units"), ==, 0);
    check_read(h, 0, 1024, 0);
    host_free(h);
}

/* The same at 1 TiB, over 128 MiB in the drive's buffer; and ranges that do not
 * touch, which are as many TRIMs.  The bounds are those of a slow machine. */
static void test_dsm_tebibyte(void)
{
    uint64_t nblocks = 1ULL << 31;
    Host *h = host_new(&(HostOptions){
        .profile = "zero-latency",
        .set = "nand.blocks=72000;ftl.capacity=1TiB;buffer.size=256MiB;"
               "nand.program=10ms",
        .nblocks = nblocks, .disk = g_malloc0(1), .no_preload = true });

    h->null_store = true;
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 1024), ==, 0);
    for (unsigned part = 0; part < 2; part++) {
        NvmeSqe sqe = dsm(256);
        uint64_t t0, ns;

        for (unsigned i = 0; i < 256; i++) {
            g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, i * (nblocks / 256),
                                    1024, HOST_DATA), ==, 0);
            put_range(h, i, part ? i * (nblocks / 256) : 0,
                      part ? nblocks / 256 - 8 : (uint32_t)nblocks);
        }
        t0 = cpu_ns();
        g_assert_cmphex(host_do(h, 1, &sqe).status, ==, 0);
        host_run(h);
        ns = cpu_ns() - t0;
        g_test_message("256 ranges%s: %" G_GUINT64_FORMAT " us, %"
                       G_GUINT64_FORMAT " units left",
                       part ? " that do not touch" : " of all", ns / 1000,
                       stat(h, "units"));
        g_assert_cmpuint(ns, <, 2000000000);
        g_assert_cmpuint(stat(h, "units"), ==, 0);
        g_assert_cmpuint(stat(h, "units_peak"), <=, 256 * 1024 / UNIT);
    }
    host_free(h);
}

/* As many TRIMs in flight as a guest likes; all of them end. */
static void test_many_trims(void)
{
    Host *h = ready(&(HostOptions){ .slow = true });
    unsigned n = 0;
    HostCqe cqe;

    write_without_zeroes(h, 0, 1024, 0x11);
    for (unsigned i = 0; i < 256; i++) {
        put_range(h, i, i * 16, UNIT);
    }
    for (unsigned i = 0; i < 8; i++) {
        NvmeSqe sqe = dsm(256);

        host_send(h, 1, &sqe);
    }
    run_without_zeroes(h, 1000000000);
    while (host_poll(h, 1, &cqe)) {
        g_assert_cmphex(cqe.status, ==, 0);
        n++;
    }
    g_assert_cmpuint(n, ==, 8);
    check_read(h, 0, 8, 0);
    check_read(h, 8, 8, 0x11);
    check_read(h, 1008, 8, 0);
    check_read(h, 1016, 8, 0x11);
    host_free(h);
}

/* ---- the limit ----------------------------------------------------------- */

#define MIB (1ULL << 20)

/* All completions that there are; returns how many. */
static unsigned poll_all(Host *h, uint16_t status)
{
    unsigned n = 0;
    HostCqe cqe;

    while (host_poll(h, 1, &cqe)) {
        g_assert_cmphex(host_code(cqe.status), ==, status);
        n++;
    }
    return n;
}

/* Of a store that does nothing: no more than the limit and one command, and the
 * admin queue goes on. */
static void check_stuck(Host *h, uint64_t limit, uint64_t command)
{
    NvmeSqe identify = host_sqe(NVME_ADM_IDENTIFY, 0, HOST_DATA + 0x800000);
    uint64_t until = h->now_ns + 1000000000;

    do {
        host_run(h);
        h->now_ns = MIN(nvme_next_event_ns(h->ctrl), until);
    } while (h->now_ns < until);
    g_assert_cmpuint(stat(h, "backlog_bytes"), >, limit);
    g_assert_cmpuint(stat(h, "backlog_peak_bytes"), <=, limit + command);
    identify.dw[10] = 1;
    g_assert_cmphex(host_do(h, 0, &identify).status, ==, 0);
}

/* 300 reads of 4 MiB, which would take 1.2 GiB. */
static void test_limit_reads(void)
{
    Host *h = ready(&(HostOptions){ .profile = "zero-latency", .mdts = 10,
                                    .nblocks = 1 << 17, .backlog = 8 * MIB });
    NvmeSqe rd;
    unsigned done = 0;

    memset(h->ram + HOST_DATA, 0x42, 4 * MIB);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 8192, HOST_DATA), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    rd = host_rw(h, NVME_IO_READ, 0, 8192, HOST_DATA + 0x800000);
    h->slow = true;
    for (unsigned i = 0; i < 300; i++) {
        host_put(h, 1, &rd);
    }
    host_ring(h, 1);
    check_stuck(h, 8 * MIB, 4 * MIB + MIB);
    g_assert_cmpuint(host_at_store(h, NVME_STORE_READ), ==, 2);
    while (done < 300) {
        g_assert_true(host_store_end(h, NVME_STORE_READ));
        host_run(h);
        done += poll_all(h, 0);
        g_assert_cmpuint(h->at_store->len, <=, 3);
    }
    g_assert_cmpint(memcmp(h->ram + HOST_DATA, h->ram + HOST_DATA + 0x800000,
                           4 * MIB), ==, 0);
    g_assert_cmpuint(stat(h, "backlog_bytes"), ==, 0);
    host_free(h);
}

/* A small read costs more than its data. */
static void test_limit_small_reads(void)
{
    Host *h = ready(&(HostOptions){ .backlog = MIB });
    NvmeSqe rd = host_rw(h, NVME_IO_READ, 0, 1, HOST_DATA);
    unsigned done = 0;

    write_without_zeroes(h, 0, 8, 0x42);
    h->slow = true;
    for (unsigned i = 0; i < 1000; i++) {
        host_put(h, 1, &rd);
    }
    host_ring(h, 1);
    check_stuck(h, MIB, 20 * 1024);
    g_assert_cmpuint(h->at_store->len, <, 70);
    while (done < 1000) {
        g_assert_true(host_step(h));
        done += poll_all(h, 0);
    }
    host_free(h);
}

/* A reset takes the commands away; their requests at the store still count. */
static void test_limit_and_reset(void)
{
    Host *h = ready(&(HostOptions){ .backlog = MIB });
    NvmeSqe rd = host_rw(h, NVME_IO_READ, 0, 1, HOST_DATA);

    write_without_zeroes(h, 0, 8, 0x42);
    h->slow = true;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 200; i++) {
            host_put(h, 1, &rd);
        }
        host_ring(h, 1);
        check_stuck(h, MIB, 20 * 1024);
        host_write32(h, NVME_REG_CC, 0);
        memset(h->cq, 0, sizeof(h->cq));
        host_enable(h);
        g_assert_cmphex(host_create_queues(h, 1, 1, 1024), ==, 0);
    }
    while (host_store_step(h)) {
    }
    g_assert_cmpuint(stat(h, "backlog_bytes"), ==, 0);
    check_read(h, 0, 8, 0x42);
    host_free(h);
}

/* Data that the drive has programmed, and data that it has not. */
static void test_limit_writes(void)
{
    static const char *const set[] = { NULL, "host.complete_at=program" };

    for (unsigned k = 0; k < 4; k++) {
        Host *h = ready(&(HostOptions){
            .profile = k & 2 ? NULL : "zero-latency", .set = set[k & 1],
            .slow = true, .backlog = 2 * MIB });
        unsigned done = 0;

        for (unsigned i = 0; i < 64; i++) {
            NvmeSqe wr = host_rw(h, NVME_IO_WRITE, i * 128, 128, HOST_DATA);

            host_put(h, 1, &wr);
        }
        host_put(h, 1, &(NvmeSqe){ .dw = { NVME_IO_FLUSH, 1 } });
        host_ring(h, 1);
        check_stuck(h, 2 * MIB, k & 1 ? 3 * MIB : MIB);
        while (done < 65) {
            g_assert_true(host_step(h));
            done += poll_all(h, 0);
        }
        host_free(h);
    }
}

/* Barriers take memory, too. */
static void test_limit_flushes(void)
{
    Host *h = ready(&(HostOptions){ .slow = true, .backlog = MIB });
    NvmeSqe fl = host_sqe(NVME_IO_FLUSH, 1, 0);
    unsigned done = 0;

    for (unsigned i = 0; i < 4000; i += 1000) {
        for (unsigned k = 0; k < 1000; k++) {
            host_put(h, 1, &fl);
        }
        host_ring(h, 1);
        host_sleep(h, 0);
        h->slow = false;
        while (host_store_step(h)) {
        }
        host_sleep(h, 1000000000);
        done += poll_all(h, 0);
        h->slow = true;
    }
    g_assert_cmpuint(done, ==, 4000);
    host_free(h);
}

/* ---- a store that refuses ------------------------------------------------ */

static void fill(Host *h, unsigned at, uint8_t value)
{
    memset(h->ram + HOST_DATA, value, 65536);
    g_assert_cmpuint(at, <, 1024);
}

static uint16_t write_64k(Host *h, unsigned i)
{
    fill(h, i, (uint8_t)(i + 1));
    return host_code(host_io(h, 1, NVME_IO_WRITE, i * 128, 128, HOST_DATA));
}

/* Writes are acknowledged up to the limit, and then fail; acknowledged data is
 * there, and reaches the store when that takes data again. */
static void refused(bool slow, bool flush)
{
    Host *h = ready(&(HostOptions){ .profile = "zero-latency", .slow = slow,
                                    .nblocks = 1 << 17, .backlog = 2 * MIB });
    unsigned taken = 0;

    h->fail_writes = true;
    for (unsigned i = 0; i < 128; i++) { /* 8 MiB */
        uint16_t status = write_64k(h, i);

        g_assert_true(status == 0 || status == NVME_SC_WRITE_FAULT);
        g_assert_true(status || taken == i); /* never again */
        taken += !status;
        host_sleep(h, 1000000);
    }
    g_test_message("%u writes of 64 KiB acknowledged", taken);
    g_assert_cmpuint(taken, >=, 32);
    g_assert_cmpuint(taken, <, 120);
    g_assert_cmpuint(stat(h, "backlog_peak_bytes"), <, 3 * MIB);
    g_assert_cmphex(host_code(host_flush(h, 1)), ==, NVME_SC_WRITE_FAULT);
    g_assert_cmphex(write_64k(h, taken), ==, NVME_SC_WRITE_FAULT);
    for (unsigned i = 0; i < taken; i++) {
        check_read(h, i * 128, 128, (uint8_t)(i + 1));
    }
    check_read(h, taken * 128, 128, 0);
    h->fail_writes = false;
    if (flush) {
        g_assert_cmphex(host_flush(h, 1), ==, 0);
    } else {
        host_sleep(h, 21000000000); /* it finds out by itself */
    }
    g_assert_cmpuint(stat(h, "units_failed"), ==, 0);
    for (unsigned i = 0; i < taken; i++) {
        check_disk(h, i * 128, 128, (uint8_t)(i + 1));
    }
    g_assert_cmphex(write_64k(h, taken), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    check_disk(h, taken * 128, 128, (uint8_t)(taken + 1));
    host_free(h);
}

static void test_refused_flush(void)
{
    refused(false, true);
    refused(true, true);
}

static void test_refused_alone(void)
{
    refused(false, false);
    refused(true, false);
}

/* A TRIM makes room. */
static void test_refused_trim(void)
{
    Host *h = ready(&(HostOptions){ .profile = "zero-latency",
                                    .nblocks = 1 << 17, .backlog = 2 * MIB });
    unsigned i = 0;

    h->fail_writes = true;
    while (write_64k(h, i) == 0) {
        i++;
        host_sleep(h, 1000000);
    }
    g_assert_cmphex(write_64k(h, i), ==, NVME_SC_WRITE_FAULT);
    trim(h, 0, i * 128);
    g_assert_cmpuint(stat(h, "units_failed"), <=, 1024); /* of the buffer */
    g_assert_cmphex(write_64k(h, i), ==, 0);
    host_free(h);
}

/* A shutdown, a reset and a power cut do not wait for a store that refuses. */
static void test_refused_end(void)
{
    Host *h = ready(&(HostOptions){ .backlog = MIB });

    h->fail_writes = true;
    g_assert_cmphex(write_64k(h, 0), ==, 0);
    shut_down(h);
    host_write32(h, NVME_REG_CC, 0);
    memset(h->cq, 0, sizeof(h->cq));
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    check_read(h, 0, 128, 1);
    nvme_power_cut(h->ctrl, h->now_ns);
    host_sleep(h, 1000);
    nvme_power_on(h->ctrl, h->now_ns);
    memset(h->cq, 0, sizeof(h->cq));
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    check_read(h, 0, 128, 1);
    host_settle(h);
    nvme_hold(h->ctrl, false);
    check_read(h, 0, 128, 1);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/store/ranges/flush", test_nobody_waits_for_a_hole);
    g_test_add_func("/nvme/store/ranges/written-zeroes",
                    test_flush_waits_for_written_zeroes);
    g_test_add_func("/nvme/store/ranges/write", test_write_takes_units_out);
    g_test_add_func("/nvme/store/ranges/trim-and-write", test_trim_and_write);
    g_test_add_func("/nvme/store/ranges/join", test_ranges_join);
    g_test_add_func("/nvme/store/ranges/many", test_many_ranges);
    g_test_add_func("/nvme/store/ranges/refused", test_refused_ranges);
    g_test_add_func("/nvme/store/ranges/saved", test_ranges_are_saved);
    g_test_add_func("/nvme/store/dsm/merge", test_dsm_merges);
    g_test_add_func("/nvme/store/dsm/whole-drive", test_dsm_whole_drive);
    g_test_add_func("/nvme/store/dsm/tebibyte", test_dsm_tebibyte);
    g_test_add_func("/nvme/store/dsm/many", test_many_trims);
    g_test_add_func("/nvme/store/limit/reads", test_limit_reads);
    g_test_add_func("/nvme/store/limit/small-reads", test_limit_small_reads);
    g_test_add_func("/nvme/store/limit/reset", test_limit_and_reset);
    g_test_add_func("/nvme/store/limit/writes", test_limit_writes);
    g_test_add_func("/nvme/store/limit/flushes", test_limit_flushes);
    g_test_add_func("/nvme/store/refused/flush", test_refused_flush);
    g_test_add_func("/nvme/store/refused/alone", test_refused_alone);
    g_test_add_func("/nvme/store/refused/trim", test_refused_trim);
    g_test_add_func("/nvme/store/refused/end", test_refused_end);
    return g_test_run();
}
