/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-sanitize.c - Sanitize: each action, its cost, what it leaves, the log,
 * commands meanwhile, resets and power cuts at each instant, failures.
 */
#include <unistd.h>

#include "erasing.h"
#include "health/persistent-events.h"

#define BLOCK 512

enum { EXIT = 1, ERASE = 2, OVERWRITE = 3, CRYPTO = 4 };

#define AUSE   (1U << 3)
#define NDAS   (1U << 9)
#define INVERT (1U << 8)

static uint16_t sanitize(Host *h, uint32_t dw10, uint32_t pattern)
{
    return admin_status(h, NVME_ADM_SANITIZE, 0, ADMIN_DW(dw10, pattern), 0);
}

static const NvmeSanitizeLog *get_log(Host *h)
{
    g_assert_cmphex(admin_log(h, NVME_LOG_SANITIZE, 0, 512, 0), ==, 0);
    return (const NvmeSanitizeLog *)admin_data(h);
}

static unsigned status_of(Host *h)
{
    return get_log(h)->sstat & 7;
}

/* Until it has ended; the time. */
static uint64_t wait_end(Host *h)
{
    uint64_t begin_ns = h->now_ns;
    uint16_t last = 0;

    while (status_of(h) == 2) {
        uint16_t now = get_log(h)->sprog;

        g_assert_cmpuint(now, >=, last);
        g_assert_cmpuint(now, <, 0xffff);
        last = now;
        host_sleep(h, MS);
        g_assert_cmpuint(h->now_ns - begin_ns, <, 600 * S);
    }
    g_assert_cmphex(get_log(h)->sprog, ==, 0xffff);
    return h->now_ns - begin_ns;
}

static Host *filled(const HostOptions *o)
{
    Host *h = admin_host(o);

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    write_marks(h, 1, h->nblocks * BLOCK, BLOCK);
    write_marks(h, 1, h->nblocks * BLOCK / 2, BLOCK);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    return h;
}

/* All blocks have the word. */
static void all_are(Host *h, uint64_t want)
{
    all_have(h, 1, h->nblocks, BLOCK, want);
}

/* Blocks that hold something, of the array. */
static uint32_t used_blocks(Host *h)
{
    uint32_t n;

    ssd_purge(h->ssd, h->now_ns);
    n = ssd_purge_progress(h->ssd).total;
    ssd_purge_stop(h->ssd);
    return n;
}

/* ---- actions ------------------------------------------------------------- */

static void test_block_erase(void)
{
    Host *h = filled(NULL);
    uint32_t used = used_blocks(h);
    SsdCounters before = counters(h);
    uint64_t took;

    g_assert_cmpuint(marks_in_store(h), >, 0);
    g_assert_cmphex(get_log(h)->sstat, ==, 0);
    g_assert_cmphex(sanitize(h, ERASE, 0), ==, 0);
    g_assert_cmpuint(status_of(h), ==, 2);
    took = wait_end(h);
    g_assert_cmphex(get_log(h)->sstat, ==, 1 | 1 << 8);
    g_assert_cmphex(get_log(h)->scdw10, ==, ERASE);
    g_assert_cmpuint(counters(h).nand_erases - before.nand_erases, >=, used);
    g_assert_cmpuint(counters(h).nand_programs, ==, before.nand_programs);
    g_assert_cmpuint(took, >=, used / 4 * 3 * MS); /* planes, tBERS */
    g_assert_cmpuint(took, <=, (uint64_t)get_log(h)->block_erase_s * S);
    g_assert_cmpuint(used_blocks(h), ==, 0);
    g_assert_cmpuint(marks_in_store(h), ==, 0);
    all_are(h, 0);
    write_marks(h, 1, BLOCK * 8, BLOCK);
    g_assert_cmphex(get_log(h)->sstat, ==, 1);
    g_assert_cmpuint(persistent_events(h, NVME_PEL_SANITIZE_START), ==, 1);
    g_assert_cmpuint(persistent_events(h, NVME_PEL_SANITIZE_END), ==, 1);
    check_drive(h);
    host_free(h);
}

/* The map goes, no block is erased for it. */
static void test_crypto(void)
{
    Host *h = filled(NULL);
    uint64_t erases = counters(h).nand_erases;

    g_assert_cmphex(sanitize(h, CRYPTO | NDAS, 0), ==, 0);
    wait_end(h);
    g_assert_cmphex(get_log(h)->sstat, ==, 1 | 1 << 8);
    g_assert_cmpuint(counters(h).nand_erases, ==, erases);
    g_assert_cmpuint(marks_in_store(h), ==, 0);
    all_are(h, 0);
    check_drive(h);
    host_free(h);
}

/* Each pass programs all of the user capacity. */
static void test_overwrite(void)
{
    static const struct {
        uint32_t dw10;
        unsigned passes;
        uint64_t at_end;
    } cases[] = {
        {OVERWRITE | 1 << 4, 1, 0},
        {OVERWRITE | 1 << 4 | NDAS, 1, 0x0123456701234567},
        {OVERWRITE | 2 << 4 | NDAS | INVERT, 2, 0xfedcba98fedcba98},
        {OVERWRITE | 3 << 4 | NDAS | INVERT, 3, 0x0123456701234567},
        {OVERWRITE | 3 << 4 | NDAS, 3, 0x0123456701234567},
        {OVERWRITE, 16, 0},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        Host *h = filled(NULL);
        SsdCounters before = counters(h);
        uint64_t programs;

        g_assert_cmphex(sanitize(h, cases[i].dw10, 0x01234567), ==, 0);
        wait_end(h);
        g_assert_cmphex(get_log(h)->sstat, ==,
                        1 | cases[i].passes << 3 | 1 << 8);
        programs = counters(h).nand_programs - before.nand_programs;
        g_assert_cmpuint(programs, >=,
                         cases[i].passes * h->nblocks * BLOCK /
                             h->info->page_bytes);
        g_assert_cmpuint(marks_in_store(h), ==, 0);
        all_are(h, cases[i].at_end);
        if (!(cases[i].dw10 & NDAS)) {
            g_assert_cmpuint(used_blocks(h), ==, 0);
        }
        check_drive(h);
        host_free(h);
    }
}

/* ---- commands ------------------------------------------------------------ */

static void test_bad(void)
{
    static const uint32_t bad[] = {0, 5, 6, 7};
    Host *h = admin_host(&(HostOptions){.namespaces = "2"});

    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_assert_cmphex(sanitize(h, bad[i], 0), ==, NVME_SC_INVALID_FIELD);
    }
    g_assert_cmphex(sanitize(h, EXIT, 0), ==, 0);
    g_assert_cmpuint(status_of(h), ==, 0);
    admin_identify(h, 1);
    g_assert_cmphex(((const NvmeIdController *)admin_data(h))->sanicap, ==,
                    7 | 1 << 30);
    g_assert_cmphex(
        admin_status(h, NVME_ADM_SET_FEATURES, 2, ADMIN_DW(0x84, 1), 0), ==, 0);
    g_assert_cmphex(sanitize(h, ERASE, 0), ==, NVME_SC_NS_PROTECTED);
    host_free(h);
}

/* What is processed while an operation is in progress. */
static void test_meanwhile(void)
{
    Host *h = filled(NULL);
    uint64_t word;

    g_assert_cmphex(sanitize(h, ERASE, 0), ==, 0);
    g_assert_cmphex(read_word(h, 1, 0, BLOCK, &word), ==,
                    NVME_SC_SANITIZE_IN_PROGRESS);
    g_assert_cmphex(host_code(host_io(h, 1, NVME_IO_WRITE, 0, 8, HOST_DATA)),
                    ==, NVME_SC_SANITIZE_IN_PROGRESS);
    g_assert_cmphex(host_code(host_flush(h, 1)), ==,
                    NVME_SC_SANITIZE_IN_PROGRESS);
    g_assert_cmphex(sanitize(h, ERASE, 0), ==, NVME_SC_SANITIZE_IN_PROGRESS);
    g_assert_cmphex(admin_status(h, NVME_ADM_FORMAT, 1, NULL, 0), ==,
                    NVME_SC_SANITIZE_IN_PROGRESS);
    g_assert_cmphex(admin_status(h, NVME_ADM_SELF_TEST, 1, ADMIN_DW(1), 0), ==,
                    NVME_SC_SANITIZE_IN_PROGRESS);
    g_assert_cmphex(admin_log(h, 0x06, 0, 512, 0), ==,
                    NVME_SC_SANITIZE_IN_PROGRESS);
    g_assert_cmphex(admin_log(h, 0x02, 0, 512, 0), ==, 0);
    admin_identify(h, 1);
    g_assert_cmphex(admin_set_feature(h, 0x08, false, 0, 0), ==, 0);
    g_assert_cmpuint(status_of(h), ==, 2);
    wait_end(h);
    all_are(h, 0);
    host_free(h);
}

/* Commands in progress end before it: their data goes with the rest. */
static void test_in_flight(void)
{
    Host *h = filled(NULL);
    NvmeSqe sqe = host_sqe(NVME_ADM_SANITIZE, 0, 0);
    unsigned n = 0;
    HostCqe cqe;

    for (unsigned i = 0; i < 32; i++) {
        NvmeSqe w = host_rw(h, NVME_IO_WRITE, i * 64, 64, HOST_DATA);

        host_map(h, &w, HOST_DATA, 64 * BLOCK);
        host_send(h, 1, &w);
    }
    sqe.dw[10] = ERASE;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    wait_end(h);
    while (n < 32) {
        cqe = host_wait(h, 1);
        g_assert_true(cqe.status == 0 ||
                      host_code(cqe.status) == NVME_SC_SANITIZE_IN_PROGRESS);
        n++;
    }
    g_assert_cmpuint(used_blocks(h), ==, 0);
    all_are(h, 0);
    host_free(h);
}

static void test_event(void)
{
    Host *h = filled(NULL);
    NvmeSqe sqe = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);
    uint16_t cid = host_send(h, 0, &sqe);
    HostCqe cqe;

    g_assert_cmphex(admin_status(h, NVME_ADM_SELF_TEST, 1, ADMIN_DW(2), 0), ==,
                    0);
    g_assert_cmphex(sanitize(h, ERASE, 0), ==, 0);
    cqe = host_wait(h, 0);
    g_assert_cmpuint(cqe.cid, ==, cid);
    g_assert_cmphex(cqe.dw0, ==, 0x810106);
    g_assert_cmpuint(status_of(h), ==, 1);
    /* The self-test that ran ended with it. */
    g_assert_cmphex(admin_log(h, 0x06, 0, 32, 0), ==, 0);
    g_assert_cmphex(((const NvmeSelfTestLog *)admin_data(h))->result[0].status,
                    ==, 0x29);
    host_free(h);
}

/* sanitize_nodas=off. */
static void test_inhibited(void)
{
    Host *h = filled(&(HostOptions){.no_nodas = true});
    NvmeSqe sqe = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);
    uint16_t cid = host_send(h, 0, &sqe);
    HostCqe cqe;

    g_assert_cmphex(sanitize(h, OVERWRITE | 1 << 4 | NDAS, 7), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(admin_set_feature(h, 0x17, true, 2, 0), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(admin_set_feature(h, 0x17, true, 1, 0), ==, 0);
    controller_reset(h);
    g_assert_cmphex(admin_get_feature(h, 0x17, 0, 0).dw0, ==, 1);
    cid = host_send(h, 0, &sqe);
    g_assert_cmphex(sanitize(h, OVERWRITE | 1 << 4 | NDAS, 7), ==, 0);
    cqe = host_wait(h, 0);
    g_assert_cmpuint(cqe.cid, ==, cid);
    g_assert_cmphex(cqe.dw0, ==, 0x810206);
    g_assert_cmphex(get_log(h)->sstat, ==, 4 | 1 << 3 | 1 << 8);
    all_are(h, 0);
    host_free(h);
}

/* ---- resets and power ---------------------------------------------------- */

static void test_resets(void)
{
    static void (*const reset[])(Host *) = {controller_reset, subsystem_reset,
                                            power_cycle};

    for (unsigned i = 0; i < G_N_ELEMENTS(reset); i++) {
        Host *h = filled(NULL);

        g_assert_cmphex(sanitize(h, ERASE, 0), ==, 0);
        for (unsigned k = 0; k < 3; k++) {
            host_sleep(h, 5 * MS);
            reset[i](h);
            g_assert_cmpuint(status_of(h), ==, 2);
        }
        wait_end(h);
        g_assert_cmphex(get_log(h)->sstat, ==, 1 | 1 << 8);
        g_assert_cmpuint(used_blocks(h), ==, 0);
        g_assert_cmpuint(marks_in_store(h), ==, 0);
        all_are(h, 0);
        check_drive(h);
        host_free(h);
    }
}

/* A cut after so long: the host finds the operation in progress or ended, never
 * old data after the end. */
static bool cut_at(const char *set, uint32_t dw10, Instant at, uint64_t at_end)
{
    Host *h = filled(&(HostOptions){.nblocks = 4096, .set = set});
    uint64_t word;
    bool ended;

    g_assert_cmphex(sanitize(h, dw10, 0x01010101), ==, 0);
    reach(h, at);
    power_cycle(h);
    ended = status_of(h) != 2;
    for (unsigned i = 0; status_of(h) == 2; i++) {
        g_assert_cmphex(read_word(h, 1, i % 4096, BLOCK, &word), ==,
                        NVME_SC_SANITIZE_IN_PROGRESS);
        host_sleep(h, 10 * MS);
        g_assert_cmpuint(i, <, 10000);
    }
    g_assert_cmpuint(get_log(h)->sstat & 7, ==, 1);
    power_cycle(h); /* and nothing comes back */
    g_assert_cmpuint(marks_in_store(h), ==, 0);
    all_are(h, at_end);
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
        for (uint64_t ns = 0; ns < 40 * MS; ns += 2 * MS + 777) {
            cut_at(sets[i], ERASE, (Instant){.ns = ns}, 0);
        }
        for (uint64_t ns = 0; ns < 400 * MS; ns += 49 * MS) {
            cut_at(sets[i], OVERWRITE | 1 << 4 | NDAS, (Instant){.ns = ns},
                   0x0101010101010101);
        }
        cut_at(sets[i], CRYPTO, (Instant){.ns = 0}, 0);
        cut_at(sets[i], CRYPTO, (Instant){.ns = 30000}, 0);
    }
}

/* Between any two events of the drive, from the command to the end of the
 * operation. */
static void test_instants(void)
{
    static const struct {
        uint32_t dw10;
        uint64_t at_end;
    } rows[] = {
        {ERASE, 0},
        {CRYPTO, 0},
        {OVERWRITE | 1 << 4 | NDAS, 0x0101010101010101},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        unsigned n = 0;

        while (!cut_at("ftl.recovery=scan;ftl.op_percent=60", rows[i].dw10,
                       (Instant){.events = n}, rows[i].at_end)) {
            g_assert_cmpuint(++n, <, 10000);
        }
        g_test_message("%u: %u instants", i, n);
        g_assert_true(n > 0 || rows[i].dw10 == CRYPTO);
    }
}

/* ---- a saved controller -------------------------------------------------- */

static void test_moved(void)
{
    Host *h = filled(NULL);
    GByteArray *drive, *ctrl;
    GError *error = NULL;

    g_assert_cmphex(sanitize(h, OVERWRITE | 2 << 4, 5), ==, 0);
    for (unsigned i = 0; i < 8; i++) {
        Host *to;

        host_sleep(h, 20 * MS);
        host_settle(h);
        host_save(h, &drive, &ctrl);
        to = host_reload(&(HostOptions){.nblocks = 0}, h, drive, ctrl, &error);
        g_assert_no_error(error);
        h = to;
        nvme_hold(h->ctrl, false);
        g_byte_array_unref(drive);
        g_byte_array_unref(ctrl);
    }
    wait_end(h);
    g_assert_cmphex(get_log(h)->sstat, ==, 1 | 2 << 3 | 1 << 8);
    all_are(h, 0);
    g_assert_cmpuint(used_blocks(h), ==, 0);
    host_free(h);
}

/* Beside a saved drive: the operation goes on where the next process has it. */
static void test_kept(void)
{
    Host *h = filled(NULL);
    FILE *f = tmpfile();
    GError *error = NULL;
    bool namespaces;

    g_assert_false(nvme_has_kept(h->ctrl));
    g_assert_cmphex(sanitize(h, ERASE, 0), ==, 0);
    host_sleep(h, 5 * MS);
    nvme_power_cut(h->ctrl, h->now_ns);
    g_assert_true(nvme_has_kept(h->ctrl));
    g_assert_true(nvme_save_kept(h->ctrl, f, &error));
    for (long at = 0; at < 60; at += 3) { /* a byte is another one */
        int c;

        fseek(f, at, SEEK_SET);
        c = fgetc(f);
        fseek(f, at, SEEK_SET);
        fputc(c ^ 0x81, f);
        rewind(f);
        g_assert_false(nvme_load_kept(h->ctrl, f, &namespaces, &error));
        g_assert_nonnull(error);
        g_clear_error(&error);
        fseek(f, at, SEEK_SET);
        fputc(c, f);
    }
    rewind(f);
    g_assert_true(nvme_load_kept(h->ctrl, f, &namespaces, &error));
    g_assert_false(namespaces);
    fclose(f);
    nvme_power_on(h->ctrl, h->now_ns);
    enable_again(h);
    g_assert_cmpuint(status_of(h), ==, 2);
    wait_end(h);
    g_assert_cmpuint(used_blocks(h), ==, 0);
    all_are(h, 0);
    host_free(h);
}

/* ---- failures ------------------------------------------------------------ */

static Host *failing(uint32_t dw10)
{
    g_autofree char *path = NULL;
    g_autofree char *set = NULL;
    int fd = g_file_open_tmp("vssd-faults-XXXXXX", &path, NULL);
    static const char rule[] = "on=erase cause=refresh nth=3 -> fail once\n";
    Host *h;

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    g_assert_true(g_file_set_contents(path, rule, -1, NULL));
    set = g_strdup_printf("faults=%s", path);
    h = filled(&(HostOptions){.set = set});
    unlink(path);
    g_assert_cmphex(sanitize(h, dw10, 0), ==, 0);
    wait_end(h);
    g_assert_cmpuint(status_of(h), ==, 3);
    return h;
}

static void test_restricted(void)
{
    Host *h = failing(ERASE);
    uint64_t word;

    g_assert_cmphex(read_word(h, 1, 0, BLOCK, &word), ==,
                    NVME_SC_SANITIZE_FAILED);
    g_assert_cmphex(sanitize(h, EXIT, 0), ==, NVME_SC_SANITIZE_FAILED);
    g_assert_cmphex(sanitize(h, ERASE | AUSE, 0), ==, NVME_SC_SANITIZE_FAILED);
    power_cycle(h);
    g_assert_cmphex(read_word(h, 1, 0, BLOCK, &word), ==,
                    NVME_SC_SANITIZE_FAILED);
    g_assert_cmphex(admin_status(h, NVME_ADM_FORMAT, 1, NULL, 0), ==,
                    NVME_SC_SANITIZE_FAILED);
    g_assert_cmphex(sanitize(h, ERASE, 0), ==, 0);
    wait_end(h);
    g_assert_cmpuint(status_of(h), ==, 1);
    all_are(h, 0);
    host_free(h);
}

static void test_unrestricted(void)
{
    Host *h = failing(ERASE | AUSE);
    uint64_t word;

    g_assert_cmphex(read_word(h, 1, 0, BLOCK, &word), ==,
                    NVME_SC_SANITIZE_FAILED);
    g_assert_cmphex(sanitize(h, EXIT, 0), ==, 0);
    g_assert_cmpuint(status_of(h), ==, 3);
    all_are(h, 0);
    host_free(h);
}

/* An overwrite that the store refuses fails, once as much is waiting as may. */
static void test_store_refuses(void)
{
    Host *h = filled(&(HostOptions){.backlog = NVME_BACKLOG_MIN});

    h->fail_writes = true;
    g_assert_cmphex(sanitize(h, OVERWRITE | AUSE | 1 << 4, 0x5a5a5a5a), ==, 0);
    wait_end(h);
    g_assert_cmpuint(status_of(h), ==, 3);
    g_assert_cmpuint(nvme_refused_bytes(h->ctrl), >=, NVME_BACKLOG_MIN);
    g_assert_cmpuint(nvme_refused_bytes(h->ctrl), <, 3 * NVME_BACKLOG_MIN);
    h->fail_writes = false;
    g_assert_cmphex(sanitize(h, EXIT, 0), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(sanitize(h, OVERWRITE | 1 << 4, 0x5a5a5a5a), ==, 0);
    wait_end(h);
    g_assert_cmpuint(status_of(h), ==, 1);
    g_assert_cmpuint(marks_in_store(h), ==, 0);
    check_drive(h);
    host_free(h);
}

/* ---- drives -------------------------------------------------------------- */

/* Every way to keep blocks has to let them go. */
static void test_drives(void)
{
    static const char *const sets[] = {
        "superblock.width=die;nand.planes=2;nand.multi_plane=on",
        ("superblock.row=8;superblock.width=drive;nand.planes=2;"
         "nand.multi_plane=on"),
        ("superblock.row=8;superblock.width=8;superblock.parity=on;nand.planes="
         "2;"
         "nand.multi_plane=on;ftl.op_percent=100"),
        ("superblock.row=2;superblock.width=2;superblock.parity=on;"
         "ftl.op_percent=100"),
        "ftl.map=dftl;ftl.map_cache=64KiB;ftl.op_percent=90",
        "nand.cell=tlc;nand.pages=24;nand.slc_blocks=4;ftl.op_percent=60",
        "nand.cell=tlc;nand.pages=24;ftl.slc_dynamic=10%;ftl.op_percent=60",
        "streams.max=2;streams.gc=merge;ftl.op_percent=100",
        "ftl.wear=static;ftl.op_percent=90",
        "nand.copyback=on",
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(sets); i++) {
        Host *h = filled(&(HostOptions){.set = sets[i]});
        bool meta = strstr(sets[i], "dftl") != NULL;

        g_test_message("%s", sets[i]);
        g_assert_cmphex(sanitize(h, ERASE, 0), ==, 0);
        wait_end(h);
        g_assert_cmphex(get_log(h)->sstat, ==, 1 | 1 << 8);
        if (!meta) {
            g_assert_cmpuint(used_blocks(h), ==, 0);
        }
        all_are(h, 0);
        check_drive(h);
        write_marks(h, 1, h->nblocks * BLOCK, BLOCK);
        all_are(h, MARK);
        check_drive(h);
        host_free(h);
    }
}

/* Log-block maps cannot erase all: only the key can go. */
static void test_crypto_only(void)
{
    Host *h = filled(&(HostOptions){.set = "ftl.map=fast"});

    admin_identify(h, 1);
    g_assert_cmphex(((const NvmeIdController *)admin_data(h))->sanicap, ==,
                    1 | 1 << 30);
    g_assert_cmphex(sanitize(h, ERASE, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(sanitize(h, OVERWRITE, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(sanitize(h, CRYPTO, 0), ==, 0);
    wait_end(h);
    g_assert_cmpuint(status_of(h), ==, 1);
    all_are(h, 0);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/sanitize/block-erase", test_block_erase);
    g_test_add_func("/nvme/sanitize/crypto", test_crypto);
    g_test_add_func("/nvme/sanitize/overwrite", test_overwrite);
    g_test_add_func("/nvme/sanitize/bad", test_bad);
    g_test_add_func("/nvme/sanitize/meanwhile", test_meanwhile);
    g_test_add_func("/nvme/sanitize/in-flight", test_in_flight);
    g_test_add_func("/nvme/sanitize/event", test_event);
    g_test_add_func("/nvme/sanitize/inhibited", test_inhibited);
    g_test_add_func("/nvme/sanitize/resets", test_resets);
    g_test_add_func("/nvme/sanitize/cuts", test_cuts);
    g_test_add_func("/nvme/sanitize/instants", test_instants);
    g_test_add_func("/nvme/sanitize/moved", test_moved);
    g_test_add_func("/nvme/sanitize/kept", test_kept);
    g_test_add_func("/nvme/sanitize/restricted", test_restricted);
    g_test_add_func("/nvme/sanitize/unrestricted", test_unrestricted);
    g_test_add_func("/nvme/sanitize/store-refuses", test_store_refuses);
    g_test_add_func("/nvme/sanitize/drives", test_drives);
    g_test_add_func("/nvme/sanitize/crypto-only", test_crypto_only);
    return g_test_run();
}
