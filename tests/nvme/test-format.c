/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-format.c - Format NVM: formats and erases, one namespace and all, what
 * it costs and leaves, commands meanwhile, resets and power cuts at each
 * instant.
 */
#include "erasing.h"
#include "health/persistent-events.h"

#define SES(n) ((n) << 9)

static uint16_t format(Host *h, uint32_t nsid, uint32_t dw10)
{
    return admin_status(h, NVME_ADM_FORMAT, nsid, ADMIN_DW(dw10), 0);
}

static uint16_t send_format(Host *h, uint32_t nsid, uint32_t dw10)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_FORMAT, nsid, 0);

    sqe.dw[10] = dw10;
    return host_send(h, 0, &sqe);
}

static NvmeIdNamespace identify(Host *h, uint32_t nsid)
{
    NvmeIdNamespace id;

    g_assert_cmphex(admin_status(h, NVME_ADM_IDENTIFY, nsid, ADMIN_DW(0), 4096),
                    ==, 0);
    memcpy(&id, admin_data(h), sizeof(id));
    return id;
}

static uint32_t block_bytes(Host *h, uint32_t nsid)
{
    NvmeIdNamespace id = identify(h, nsid);

    return 1U << id.lbaf[id.flbas & 0xf].lbads;
}

static uint64_t bytes_of(Host *h, uint32_t nsid)
{
    return nvme_le64(identify(h, nsid).nsze) * block_bytes(h, nsid);
}

/* Two namespaces, full of marks. */
static Host *filled(const HostOptions *o)
{
    HostOptions own = o ? *o : (HostOptions){.namespaces = "2"};
    Host *h;

    own.namespaces = own.namespaces ? own.namespaces : "2";
    h = admin_host(&own);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    for (uint32_t nsid = 1; nsid <= 2; nsid++) {
        write_marks(h, nsid, bytes_of(h, nsid), block_bytes(h, nsid));
    }
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    return h;
}

/* Every block of the namespace has the word. */
static void all_are(Host *h, uint32_t nsid, uint64_t want)
{
    uint32_t bytes = block_bytes(h, nsid);
    uint64_t n = nvme_le64(identify(h, nsid).nsze);
    uint64_t word;

    all_have(h, nsid, n, bytes, want);
    g_assert_cmphex(read_word(h, nsid, n, bytes, &word), ==, NVME_SC_LBA_RANGE);
}

/* Marks in the store are those of one namespace alone. */
static void half_is_left(Host *h)
{
    g_assert_cmpuint(marks_in_store(h), ==, bytes_of(h, 2) / 8);
}

/* ---- the format ---------------------------------------------------------- */

static void test_formats(void)
{
    Host *h = filled(NULL);
    uint64_t bytes = bytes_of(h, 1);

    g_assert_cmphex(identify(h, 1).fpi, ==, 0x80);
    g_assert_cmphex(format(h, 1, 1), ==, 0);
    g_assert_cmphex(identify(h, 1).flbas, ==, 1);
    g_assert_cmpuint(block_bytes(h, 1), ==, 4096);
    g_assert_cmpuint(bytes_of(h, 1), ==, bytes);
    all_are(h, 1, 0);
    all_are(h, 2, MARK);
    half_is_left(h);
    write_marks(h, 1, bytes, 4096);
    all_are(h, 1, MARK);
    g_assert_cmphex(format(h, 1, 0), ==, 0);
    g_assert_cmpuint(block_bytes(h, 1), ==, 512);
    g_assert_cmpuint(bytes_of(h, 1), ==, bytes);
    all_are(h, 1, 0);
    power_cycle(h);
    all_are(h, 1, 0);
    all_are(h, 2, MARK);
    /* Both are in the list of changed ones until it is read. */
    g_assert_cmphex(admin_log(h, 0x04, 0, 4096, 0), ==, 0);
    g_assert_cmphex(get_le32(admin_data(h)), ==, 1);
    g_assert_cmphex(get_le32(admin_data(h) + 4), ==, 0);
    g_assert_cmpuint(persistent_events(h, NVME_PEL_FORMAT_START), ==, 2);
    g_assert_cmpuint(persistent_events(h, NVME_PEL_FORMAT_END), ==, 2);
    check_drive(h);
    host_free(h);
}

/* A block of 4 KiB that a namespace of 512 has only in part is its own. */
static void test_part(void)
{
    Host *h = admin_host(&(HostOptions){.namespaces = "1000K;4608"});

    g_assert_cmpuint(bytes_of(h, 2), ==, 4608);
    g_assert_cmphex(format(h, 2, 1), ==, 0);
    g_assert_cmpuint(bytes_of(h, 2), ==, 8192);
    g_assert_cmphex(format(h, 2, 0), ==, 0);
    g_assert_cmpuint(bytes_of(h, 2), ==, 8192);
    host_free(h);
}

static void test_all(void)
{
    Host *h = filled(NULL);

    g_assert_cmphex(format(h, NVME_NSID_ALL, 1 | SES(2)), ==, 0);
    for (uint32_t nsid = 1; nsid <= 2; nsid++) {
        g_assert_cmpuint(block_bytes(h, nsid), ==, 4096);
        all_are(h, nsid, 0);
    }
    g_assert_cmpuint(marks_in_store(h), ==, 0);
    host_free(h);
}

static void test_unmanaged(void)
{
    Host *h = admin_host(&(HostOptions){.nblocks = 4093});
    uint64_t word;

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    write_marks(h, 1, 4093 * 512, 512);
    g_assert_cmphex(format(h, 1, 1), ==, NVME_SC_INVALID_FORMAT);
    g_assert_cmphex(format(h, 1, SES(1)), ==, 0);
    for (uint64_t lba = 0; lba < 4093; lba++) {
        g_assert_cmphex(read_word(h, 1, lba, 512, &word), ==, 0);
        g_assert_cmphex(word, ==, 0);
    }
    g_assert_cmpuint(marks_in_store(h), ==, 0);
    check_drive(h);
    host_free(h);
}

/* ---- erases -------------------------------------------------------------- */

/* User Data Erase: all blocks of the array that held something; the data of the
 * other namespace moves. */
static void test_erase(void)
{
    Host *h = filled(NULL);
    SsdCounters before;
    uint64_t begin_ns;
    uint32_t used;

    ssd_purge(h->ssd, h->now_ns);
    used = ssd_purge_progress(h->ssd).total;
    ssd_purge_stop(h->ssd);
    before = counters(h);
    begin_ns = h->now_ns;
    g_assert_cmphex(format(h, 1, SES(1)), ==, 0);
    g_assert_cmpuint(counters(h).nand_erases - before.nand_erases, >=, used);
    g_assert_cmpuint(counters(h).copied_units - before.copied_units, >=,
                     bytes_of(h, 2) / h->info->unit_bytes);
    g_assert_cmpuint(h->now_ns - begin_ns, >=, used / 4 * 3 * MS);
    half_is_left(h);
    all_are(h, 1, 0);
    all_are(h, 2, MARK);
    check_drive(h);
    /* Without an erase, or with a new key: no block. */
    for (uint32_t ses = 0; ses <= 2; ses += 2) {
        write_marks(h, 1, bytes_of(h, 1), 512);
        g_assert_cmphex(host_flush(h, 1), ==, 0);
        before = counters(h);
        g_assert_cmphex(format(h, 1, SES(ses)), ==, 0);
        g_assert_cmpuint(counters(h).copied_units, ==, before.copied_units);
        half_is_left(h);
        all_are(h, 1, 0);
    }
    all_are(h, 2, MARK);
    check_drive(h);
    host_free(h);
}

/* ---- arguments ----------------------------------------------------------- */

static void test_bad(void)
{
    Host *h = admin_host(&(HostOptions){.namespaces = "2"});
    const NvmeIdController *id;

    g_assert_cmphex(format(h, 1, 2), ==, NVME_SC_INVALID_FORMAT);
    g_assert_cmphex(format(h, 1, 0xf), ==, NVME_SC_INVALID_FORMAT);
    g_assert_cmphex(format(h, 1, 1 << 12), ==, NVME_SC_INVALID_FORMAT);
    g_assert_cmphex(format(h, 1, 1 << 5), ==, NVME_SC_INVALID_FORMAT);
    g_assert_cmphex(format(h, 1, SES(3)), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(format(h, 0, 0), ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(format(h, 3, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(format(h, 257, 0), ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(
        admin_status(h, NVME_ADM_SET_FEATURES, 2, ADMIN_DW(0x84, 1), 0), ==, 0);
    g_assert_cmphex(format(h, 2, 0), ==, NVME_SC_NS_PROTECTED);
    g_assert_cmphex(format(h, NVME_NSID_ALL, 0), ==, NVME_SC_NS_PROTECTED);
    g_assert_cmphex(format(h, 1, 0), ==, 0);
    admin_identify(h, 1);
    id = (const void *)admin_data(h);
    g_assert_cmphex(id->fna, ==, 4);
    g_assert_cmphex(nvme_le16(id->oacs) & 2, ==, 2);
    g_assert_cmphex(admin_log(h, 0x05, 0, 4096, 0), ==, 0);
    g_assert_cmphex(get_le32(admin_data(h) + 4 * NVME_ADM_FORMAT), ==,
                    1 | 2 | 4 | 1 << 16 | 1 << 20);
    g_assert_cmphex(get_le32(admin_data(h) + 4 * NVME_ADM_SANITIZE), ==,
                    1 | 2 | 2 << 16 | 1 << 25);
    host_free(h);
}

/* ---- protection information ---------------------------------------------- */

#define MSET  (1U << 4)
#define PI(n) ((uint32_t)(n) << 5)
#define PIL   (1U << 8)

/* The number of the format with these blocks and metadata. */
static uint32_t format_with(Host *h, uint32_t bytes, uint16_t meta)
{
    NvmeIdNamespace id = identify(h, 1);

    for (uint32_t i = 0; i <= id.nlbaf; i++) {
        if (1U << id.lbaf[i].lbads == bytes &&
            nvme_le16(id.lbaf[i].ms) == meta) {
            return i;
        }
    }
    g_assert_not_reached();
}

/* Formats with metadata and protection information of each type: the namespace
 * has them, as its commands show, and no old block. */
static void test_protected(void)
{
    Host *h = filled(&(HostOptions){.namespaces = "2M;2M", .metadata = 8});
    uint32_t plain = format_with(h, 512, 0);
    uint32_t with = format_with(h, 512, 8);
    uint64_t word;

    g_assert_cmphex(format(h, 1, with | PI(4)), ==, NVME_SC_INVALID_FORMAT);
    g_assert_cmphex(format(h, 1, with | PI(7)), ==, NVME_SC_INVALID_FORMAT);
    g_assert_cmphex(format(h, 1, plain | PI(1)), ==, NVME_SC_INVALID_FORMAT);
    for (unsigned i = 0; i < 8; i++) {
        uint32_t mset = i & 4 ? MSET : 0;
        uint32_t pi = PI(i % 4) | (i % 4 ? PIL : 0);

        write_marks(h, 2, bytes_of(h, 2), 512);
        g_assert_cmphex(format(h, 1, with | mset | pi), ==, 0);
        g_assert_cmphex(identify(h, 1).flbas, ==, with | mset);
        g_assert_cmphex(identify(h, 1).dps, ==, i % 4 | (i % 4 ? 8 : 0));
        /* Blocks with metadata behind them are of 520 bytes. */
        if (!mset) {
            g_assert_cmphex(read_word(h, 1, 0, 512, &word), ==, 0);
            g_assert_cmphex(word, ==, 0);
        }
        power_cycle(h);
        g_assert_cmphex(identify(h, 1).dps, ==, i % 4 | (i % 4 ? 8 : 0));
        all_are(h, 2, MARK);
        half_is_left(h);
    }
    g_assert_cmphex(format(h, 1, plain), ==, 0);
    g_assert_cmphex(identify(h, 1).dps, ==, 0);
    g_assert_cmphex(identify(h, 1).flbas, ==, plain);
    all_are(h, 1, 0);
    all_are(h, 2, MARK);
    check_drive(h);
    host_free(h);
}

/* ---- what stands in its way ---------------------------------------------- */

/* A namespace is being deleted: Format may be sent again. */
static void test_after_delete(void)
{
    Host *h = filled(&(HostOptions){.namespaces = "2M;2M"});
    NvmeSqe delete = host_sqe(NVME_ADM_NS_MANAGEMENT, 2, 0);
    NvmeSqe sqe = host_sqe(NVME_ADM_FORMAT, 1, 0);

    delete.dw[10] = 1;
    host_put(h, 0, &delete);
    host_put(h, 0, &sqe);
    host_ring(h, 0);
    g_assert_cmphex(host_wait(h, 0).status, ==,
                    NVME_SC_COMMAND_SEQUENCE | NVME_SC_MORE);
    g_assert_cmphex(host_wait(h, 0).status, ==, 0);
    all_are(h, 1, MARK);
    g_assert_cmphex(format(h, 1, 0), ==, 0);
    all_are(h, 1, 0);
    host_free(h);
}

/* A drive at the end of its life keeps what it has. */
static void test_read_only(void)
{
    Host *h = admin_host(
        &(HostOptions){.namespaces = "2M;2M", .set = "media.program_fail=1"});

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    for (unsigned i = 0; !ssd_read_only(h->ssd); i++) {
        g_assert_cmpuint(i, <, 1000);
        host_io(h, 1, NVME_IO_WRITE, i % 64 * 8, 8, HOST_DATA);
        host_flush(h, 1);
    }
    g_assert_cmphex(format(h, 1, 0), ==, NVME_SC_READ_ONLY);
    g_assert_cmphex(format(h, NVME_NSID_ALL, SES(1)), ==, NVME_SC_READ_ONLY);
    g_assert_cmphex(admin_status(h, NVME_ADM_NS_MANAGEMENT, 1, ADMIN_DW(1), 0),
                    ==, NVME_SC_READ_ONLY);
    g_assert_cmpuint(block_bytes(h, 1), ==, 512);
    g_assert_cmpuint(persistent_events(h, NVME_PEL_FORMAT_START), ==, 0);
    host_free(h);
}

/* ---- meanwhile ----------------------------------------------------------- */

/* From the other namespace to the first one, by the second format of ranges. */
static HostCqe copy_from(Host *h, uint32_t nsid)
{
    NvmeSqe sqe = host_sqe(NVME_IO_COPY, 2, HOST_DATA);

    memset(admin_data(h), 0, 32);
    put_le32(admin_data(h), nsid);
    sqe.dw[12] = 2 << 8;
    return host_do(h, 1, &sqe);
}

static void test_meanwhile(void)
{
    Host *h = filled(NULL);
    uint16_t cid;
    uint64_t word;
    uint8_t last = 100;

    g_assert_cmphex(admin_status(h, NVME_ADM_SELF_TEST, 1, ADMIN_DW(2), 0), ==,
                    0);
    memset(admin_data(h), 0, 512);
    admin_data(h)[4] = 0xc; /* CDFE */
    g_assert_cmphex(admin_set_feature(h, 0x16, false, 0, 0), ==, 0);
    cid = send_format(h, 1, 1 | SES(1));
    host_sleep(h, 10 * MS);
    g_assert_cmphex(read_word(h, 1, 0, 512, &word), ==,
                    NVME_SC_FORMAT_IN_PROGRESS);
    g_assert_cmphex(read_word(h, 2, 0, 512, &word), ==, 0);
    g_assert_cmphex(word, ==, MARK);
    g_assert_cmphex(copy_from(h, 1).status, ==,
                    NVME_SC_FORMAT_IN_PROGRESS | NVME_SC_MORE);
    g_assert_cmphex(
        admin_status(h, NVME_ADM_SET_FEATURES, 2, ADMIN_DW(0x84, 1), 0), ==,
        NVME_SC_FORMAT_IN_PROGRESS);
    g_assert_cmphex(admin_set_feature(h, 0x06, false, 1, 0), ==, 0);
    for (unsigned i = 0; i < 4; i++) {
        NvmeSqe sqe = host_sqe(NVME_ADM_IDENTIFY, 1, HOST_DATA);
        uint8_t left;
        HostCqe cqe;

        host_map(h, &sqe, HOST_DATA, 4096);
        cqe = host_do(h, 0, &sqe);
        g_assert_cmphex(cqe.status, ==, 0);
        g_assert_cmpuint(cqe.cid, !=, cid);
        left = ((const NvmeIdNamespace *)admin_data(h))->fpi;
        g_assert_cmphex(left & 0x80, ==, 0x80);
        g_assert_cmpuint(left & 0x7f, >, 0);
        g_assert_cmpuint(left & 0x7f, <=, last);
        g_assert_cmphex(((const NvmeIdNamespace *)admin_data(h))->flbas, ==, 0);
        last = left & 0x7f;
        host_sleep(h, 3 * MS);
    }
    g_assert_cmpuint(last, <, 100);
    g_assert_cmphex(format(h, 2, 0), ==, NVME_SC_FORMAT_IN_PROGRESS);
    g_assert_cmphex(admin_status(h, NVME_ADM_SANITIZE, 0, ADMIN_DW(2), 0), ==,
                    NVME_SC_FORMAT_IN_PROGRESS);
    g_assert_cmphex(admin_status(h, NVME_ADM_NS_MANAGEMENT, 1, ADMIN_DW(1), 0),
                    ==, NVME_SC_FORMAT_IN_PROGRESS);
    g_assert_cmpuint(host_wait(h, 0).cid, ==, cid);
    all_are(h, 1, 0);
    g_assert_cmphex(admin_log(h, 0x06, 0, 32, 0), ==, 0);
    g_assert_cmphex(((const NvmeSelfTestLog *)admin_data(h))->result[0].status,
                    ==, 0x24);
    host_free(h);
}

/* A reset ends the command, not the format. */
static void test_resets(void)
{
    static void (*const reset[])(Host *) = {controller_reset, subsystem_reset,
                                            power_cycle};

    for (unsigned i = 0; i < G_N_ELEMENTS(reset); i++) {
        Host *h = filled(NULL);

        send_format(h, 1, 1 | SES(1));
        host_sleep(h, 5 * MS);
        reset[i](h);
        while (identify(h, 1).fpi != 0x80) {
            host_sleep(h, MS);
        }
        g_assert_cmpuint(block_bytes(h, 1), ==, 4096);
        all_are(h, 1, 0);
        all_are(h, 2, MARK);
        half_is_left(h);
        check_drive(h);
        host_free(h);
    }
}

/* After a cut at an instant the namespace is old and whole, or in progress and
 * then new and empty. */
static bool cut_at(const char *set, uint32_t dw10, Instant at)
{
    Host *h = filled(
        &(HostOptions){.namespaces = "2M;2M", .set = set, .durable = true});
    HostCqe cqe;
    bool old, ended;

    send_format(h, 1, dw10);
    reach(h, at);
    ended = host_poll(h, 0, &cqe);
    g_assert_true(!ended || cqe.status == 0);
    power_cycle(h);
    old = identify(h, 1).fpi == 0x80 && identify(h, 1).flbas == 0;
    while (identify(h, 1).fpi != 0x80) {
        uint64_t word;

        g_assert_cmphex(read_word(h, 1, 0, 512, &word), ==,
                        NVME_SC_FORMAT_IN_PROGRESS);
        host_sleep(h, 3 * MS);
    }
    if (old) {
        g_assert_false(ended || at.ns || at.events);
    } else {
        g_assert_cmpuint(block_bytes(h, 1), ==, 4096);
    }
    power_cycle(h);
    all_are(h, 1, old ? MARK : 0);
    all_are(h, 2, MARK);
    check_drive(h);
    host_free(h);
    return ended;
}

static void test_cuts(void)
{
    static const char *const sets[] = {
        NULL, "ftl.recovery=scan;ftl.op_percent=60",
        "ftl.recovery=checkpoint;ftl.op_percent=60", "buffer.plp=on"};

    for (unsigned i = 0; i < G_N_ELEMENTS(sets); i++) {
        for (uint32_t ses = 0; ses <= 2; ses++) {
            uint64_t most = ses == 1 ? 40 * MS : 2 * MS;

            for (uint64_t ns = 0; ns < most; ns += most / 12) {
                cut_at(sets[i], 1 | SES(ses), (Instant){.ns = ns});
            }
        }
    }
}

/* Between any two events of the drive, from the command to its end. */
static void test_instants(void)
{
    for (uint32_t ses = 0; ses <= 2; ses++) {
        unsigned n = 0;

        while (!cut_at("ftl.recovery=scan;ftl.op_percent=60", 1 | SES(ses),
                       (Instant){.events = n})) {
            g_assert_cmpuint(++n, <, 10000);
        }
        g_test_message("SES %u: %u instants", ses, n);
        g_assert_cmpuint(n, >, 0);
    }
}

/* The machine is saved while a format is in progress. */
static void test_moved(void)
{
    const HostOptions o = {.namespaces = "2"};
    Host *h = filled(&o);
    GByteArray *drive, *ctrl;
    GError *error = NULL;

    send_format(h, 1, 1 | SES(1));
    host_sleep(h, 5 * MS);
    host_settle(h);
    host_save(h, &drive, &ctrl);
    h = host_reload(&o, h, drive, ctrl, &error);
    g_assert_no_error(error);
    nvme_hold(h->ctrl, false);
    g_assert_cmphex(host_wait(h, 0).status, ==, 0);
    g_assert_cmpuint(block_bytes(h, 1), ==, 4096);
    all_are(h, 1, 0);
    all_are(h, 2, MARK);
    g_byte_array_unref(drive);
    g_byte_array_unref(ctrl);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/format/formats", test_formats);
    g_test_add_func("/nvme/format/part", test_part);
    g_test_add_func("/nvme/format/all", test_all);
    g_test_add_func("/nvme/format/unmanaged", test_unmanaged);
    g_test_add_func("/nvme/format/erase", test_erase);
    g_test_add_func("/nvme/format/bad", test_bad);
    g_test_add_func("/nvme/format/protected", test_protected);
    g_test_add_func("/nvme/format/after-delete", test_after_delete);
    g_test_add_func("/nvme/format/read-only", test_read_only);
    g_test_add_func("/nvme/format/meanwhile", test_meanwhile);
    g_test_add_func("/nvme/format/resets", test_resets);
    g_test_add_func("/nvme/format/cuts", test_cuts);
    g_test_add_func("/nvme/format/instants", test_instants);
    g_test_add_func("/nvme/format/moved", test_moved);
    return g_test_run();
}
