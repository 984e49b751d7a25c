/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-self-test.c - Device Self-test: its reads and their time, progress,
 * abort, results over resets and power cycles, media that cannot be read.
 */
#include "admin.h"
#include "ssd-report.h"

#define S  1000000000ULL
#define MS 1000000ULL

static uint16_t self_test(Host *h, uint32_t nsid, uint32_t code)
{
    return admin_status(h, NVME_ADM_SELF_TEST, nsid, ADMIN_DW(code), 0);
}

static const NvmeSelfTestLog *get_log(Host *h)
{
    g_assert_cmphex(admin_log(h, 0x06, 0, sizeof(NvmeSelfTestLog), 0), ==, 0);
    return (const NvmeSelfTestLog *)admin_data(h);
}

static SsdCounters counters(const Host *h)
{
    SsdCounters c;

    ssd_get_counters(h->ssd, &c);
    return c;
}

static void write_all(Host *h)
{
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    for (uint64_t lba = 0; lba + 128 <= h->nblocks; lba += 128) {
        g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, lba, 128, HOST_DATA), ==,
                        0);
    }
    g_assert_cmphex(host_flush(h, 1), ==, 0);
}

/* Until it has ended; the time that it took. */
static uint64_t wait(Host *h, uint64_t most_ns)
{
    uint64_t begin_ns = h->now_ns;

    while (get_log(h)->current) {
        g_assert_cmpuint(h->now_ns - begin_ns, <, most_ns);
        host_sleep(h, 10 * MS);
    }
    return h->now_ns - begin_ns;
}

/* The extended test reads every page once; it takes the time of the reads, and
 * no counter of the host sees it. */
static void test_reads(void)
{
    Host *h = admin_host(&(HostOptions){.nblocks = 8192});
    SsdCounters before, after;
    uint64_t short_ns, long_ns;

    write_all(h);
    before = counters(h);
    g_assert_cmphex(self_test(h, NVME_NSID_ALL, 1), ==, 0);
    short_ns = wait(h, 10 * S);
    after = counters(h);
    g_assert_cmpuint(after.nand_reads - before.nand_reads, ==, 16);
    before = after;
    g_assert_cmphex(self_test(h, 1, 2), ==, 0);
    long_ns = wait(h, 10 * S);
    after = counters(h);
    g_assert_cmpuint(after.nand_reads - before.nand_reads, >=,
                     h->nblocks * 512 / h->info->page_bytes);
    g_assert_cmpuint(long_ns, >=, short_ns);
    g_assert_cmpuint(after.commands[SSD_OP_READ], ==, 0);
    g_assert_cmpuint(after.host_bytes_read, ==, 0);
    g_assert_cmphex(get_log(h)->result[0].status, ==, 0x20);
    g_assert_cmphex(get_log(h)->result[1].status, ==, 0x10);
    g_assert_cmphex(get_log(h)->result[2].status, ==, 0x0f);
    g_assert_cmpuint(get_log(h)->result[0].valid, ==, 0);
    /* Without a namespace it reads nothing. */
    before = after;
    g_assert_cmphex(self_test(h, 0, 2), ==, 0);
    wait(h, 10 * S);
    g_assert_cmpuint(counters(h).nand_reads, ==, before.nand_reads);
    host_free(h);
}

/* It is there in the background: commands go on, progress grows. */
static void test_progress(void)
{
    Host *h = admin_host(&(HostOptions){.nblocks = 16384});
    unsigned last = 0;
    unsigned steps = 0;

    write_all(h);
    g_assert_cmphex(self_test(h, 1, 2), ==, 0);
    g_assert_cmphex(self_test(h, 1, 1), ==, NVME_SC_SELF_TEST);
    g_assert_cmphex(self_test(h, 1, 2), ==, NVME_SC_SELF_TEST);
    g_assert_cmphex(
        admin_do(h, NVME_ADM_SELF_TEST, 1, ADMIN_DW(2), 0).status, ==,
        NVME_SC_SELF_TEST | NVME_SC_MORE); /* later it may: no DNR */
    host_sleep(h, 100 * MS);
    for (unsigned i = 0; get_log(h)->current; i++) {
        unsigned percent = get_log(h)->percent;

        g_assert_cmphex(get_log(h)->current, ==, 2);
        g_assert_cmpuint(percent, >=, last);
        g_assert_cmpuint(percent, <=, 100);
        steps += percent > last;
        last = percent;
        g_assert_cmphex(host_io(h, 1, NVME_IO_READ, i * 8 % 4096, 8, HOST_DATA),
                        ==, 0);
        host_sleep(h, MS);
    }
    g_assert_cmpuint(steps, >, 5);
    g_assert_cmphex(get_log(h)->result[0].status, ==, 0x20);
    admin_identify(h, 1);
    g_assert_true(get_le16(admin_data(h) + 256) & 1 << 4);
    g_assert_cmpuint(get_le16(admin_data(h) + 316), ==, 1); /* EDSTT */
    g_assert_cmpuint(admin_data(h)[318], ==, 1);            /* DSTO */
    host_free(h);
}

static void test_bad(void)
{
    Host *h = admin_host(NULL);
    static const uint8_t codes[] = {0x0, 0x3, 0xd, 0xe};

    for (unsigned i = 0; i < G_N_ELEMENTS(codes); i++) {
        g_assert_cmphex(self_test(h, 1, codes[i]), ==, NVME_SC_INVALID_FIELD);
    }
    g_assert_cmphex(self_test(h, 2, 1), ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(self_test(h, 0xfffffffe, 0xf), ==, NVME_SC_INVALID_NSID);
    /* Abort without a test does nothing. */
    g_assert_cmphex(self_test(h, 1, 0xf), ==, 0);
    g_assert_cmphex(get_log(h)->result[0].status, ==, 0x0f);
    host_free(h);
}

static void power_cycle(Host *h)
{
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    host_enable(h);
}

static void reset(Host *h)
{
    host_write32(h, NVME_REG_CC, 0);
    host_enable(h);
}

static Host *moved(Host *h, const HostOptions *o)
{
    GByteArray *drive;
    GByteArray *ctrl;
    GError *error = NULL;

    host_settle(h);
    host_save(h, &drive, &ctrl);
    h = host_reload(o, h, drive, ctrl, &error);
    g_assert_no_error(error);
    nvme_hold(h->ctrl, false);
    g_byte_array_unref(drive);
    g_byte_array_unref(ctrl);
    return h;
}

/* Abort, resets, power cycles and a move, at any time of a test. */
static void test_interrupted(void)
{
    const HostOptions o = {.nblocks = 16384};
    Host *h = admin_host(&o);

    write_all(h);
    for (unsigned i = 0; i < 12; i++) {
        uint64_t at_ns = 100 * MS + i * 234567;

        g_assert_cmphex(self_test(h, 1, 1 + i % 2), ==, 0);
        host_sleep(h, at_ns);
        g_assert_cmphex(self_test(h, 1, 0xf), ==, 0);
        g_assert_cmphex(get_log(h)->current, ==, 0);
        g_assert_cmphex(get_log(h)->result[0].status, ==, (1 + i % 2) << 4 | 1);
        /* A reset ends a short one. */
        g_assert_cmphex(self_test(h, 1, 1), ==, 0);
        host_sleep(h, at_ns % (30 * MS));
        reset(h);
        g_assert_cmphex(get_log(h)->current, ==, 0);
        g_assert_cmphex(get_log(h)->result[0].status, ==, 0x12);
        /* An extended one goes on. */
        g_assert_cmphex(self_test(h, 1, 2), ==, 0);
        host_sleep(h, at_ns);
        switch (i % 3) {
        case 0:
            reset(h);
            break;
        case 1:
            power_cycle(h);
            break;
        default:
            h = moved(h, &o);
            break;
        }
        g_assert_cmphex(get_log(h)->current, ==, 2);
        wait(h, 10 * S);
        g_assert_cmphex(get_log(h)->result[0].status, ==, 0x20);
        g_assert_cmphex(get_log(h)->result[1].status, ==, 0x12);
    }
    /* There are 36 results; the page has the last 20, also without power. */
    power_cycle(h);
    for (unsigned i = 0; i < 20; i++) {
        g_assert_cmphex(get_log(h)->result[i].status & 0xf, !=, 0xf);
    }
    host_free(h);
}

/* Each read of NAND fails: both tests say where. */
static void test_media(void)
{
    Host *h = admin_host(&(HostOptions){
        .nblocks = 8192,
        .set = "media.errors=on;media.base=0.05;media.retry_limit=0"});
    const NvmeSelfTestResult *r;

    write_all(h);
    for (unsigned code = 1; code <= 2; code++) {
        g_assert_cmphex(self_test(h, 1, code), ==, 0);
        wait(h, 100 * S);
        r = &get_log(h)->result[0];
        g_assert_cmphex(r->status, ==, code << 4 | 7);
        g_assert_cmpuint(r->segment, ==, 7);
        g_assert_cmphex(r->valid, ==, 0xf);
        g_assert_cmpuint(r->nsid, ==, 1);
        g_assert_cmpuint(r->lba, <, h->nblocks);
        g_assert_cmphex(r->sct << 8 | r->sc, ==, NVME_SC_UNRECOVERED_READ);
    }
    host_free(h);
}

/* A drive that takes no more data says so in its SMART log: that fails, too. */
static void test_read_only(void)
{
    Host *h = admin_host(
        &(HostOptions){.nblocks = 8192, .set = "media.program_fail=1"});
    const NvmeSelfTestResult *r;

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    for (unsigned i = 0; !ssd_read_only(h->ssd); i++) {
        g_assert_cmpuint(i, <, 1000);
        host_io(h, 1, NVME_IO_WRITE, i % 64 * 8, 8, HOST_DATA);
        host_flush(h, 1);
    }
    for (unsigned code = 1; code <= 2; code++) {
        g_assert_cmphex(self_test(h, 1, code), ==, 0);
        wait(h, 100 * S);
        r = &get_log(h)->result[0];
        g_assert_cmphex(r->status, ==, code << 4 | 7);
        g_assert_cmpuint(r->segment, ==, 2);
        g_assert_cmphex(r->valid & 7, ==, 0); /* no NSID, block, status */
    }
    host_free(h);
}

/* Of one namespace, and of all: chunks of one are not those of another. */
static void test_namespaces(void)
{
    static const uint32_t nsid[] = {1, 2, NVME_NSID_ALL, 0};
    Host *h = admin_host(&(HostOptions){.namespaces = "2M;4M"});
    uint64_t reads[4];

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    for (uint32_t i = 0; i < 6 << 20 >> 16; i++) {
        NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, i % 32 * 128, 128, HOST_DATA);

        sqe.dw[1] = i < 32 ? 1 : 2;
        sqe.dw[10] = (i < 32 ? i : i - 32) * 128;
        g_assert_cmphex(host_do(h, 1, &sqe).status, ==, 0);
    }
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    for (unsigned i = 0; i < 4; i++) {
        reads[i] = counters(h).nand_reads;
        g_assert_cmphex(self_test(h, nsid[i], 2), ==, 0);
        wait(h, 100 * S);
        g_assert_cmphex(get_log(h)->result[0].status, ==, 0x20);
        reads[i] = counters(h).nand_reads - reads[i];
    }
    g_assert_cmpuint(reads[0], ==, (2 << 20) / h->info->page_bytes);
    g_assert_cmpuint(reads[1], ==, 2 * reads[0]);
    g_assert_cmpuint(reads[2], ==, 3 * reads[0]);
    g_assert_cmpuint(reads[3], ==, 0); /* the controller alone */
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/self-test/reads", test_reads);
    g_test_add_func("/nvme/self-test/progress", test_progress);
    g_test_add_func("/nvme/self-test/bad", test_bad);
    g_test_add_func("/nvme/self-test/interrupted", test_interrupted);
    g_test_add_func("/nvme/self-test/media", test_media);
    g_test_add_func("/nvme/self-test/read-only", test_read_only);
    g_test_add_func("/nvme/self-test/namespaces", test_namespaces);
    return g_test_run();
}
