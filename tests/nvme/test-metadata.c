/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-metadata.c - metadata goes the way of its block: through the buffer and
 * the store, freed, marked, lost with the power, saved, and beside namespaces
 * of another form.
 */
#include "protected.h"

#define N_MODEL 512 /* blocks of the random test */

static void test_freed(gconstpointer form)
{
    const HostOptions *o = &((const Form *)form)->o;
    Dev d = start(o);

    write_seed(&d, 0, 64, 1);
    g_assert_cmphex(host_flush(d.h, 1), ==, 0);
    trim(&d, 16, 16);
    check_deallocated(&d, 16, 16);
    zeroes(&d, 35, 3, 0, false);
    check_deallocated(&d, 35, 3);
    zeroes(&d, 40, 16, 0, true);
    check_deallocated(&d, 40, 16);
    write_seed(&d, 17, 1, 2);
    check_deallocated(&d, 16, 1);
    check_seed(&d, 17, 1, 2);
    g_assert_cmphex(host_flush(d.h, 1), ==, 0);
    host_sleep(d.h, 1000000000);
    check_seed(&d, 0, 16, 1);
    check_deallocated(&d, 16, 1);
    check_seed(&d, 17, 1, 2);
    check_deallocated(&d, 18, 14);
    if (o->pi) {
        zeroes(&d, 3, 30, ACT, false);
        check_zero_pi(&d, 3, 30);
        g_assert_cmphex(host_flush(d.h, 1), ==, 0);
        check_zero_pi(&d, 3, 30);
        zeroes(&d, 8, 8, ACT, true);
        check_deallocated(&d, 8, 8);
    }
    g_assert_cmphex(io(&d, NVME_IO_WRITE_UNCORRECTABLE, 60, 1, 0), ==, 0);
    g_assert_cmphex(io(&d, NVME_IO_READ, 60, 1, 0), ==,
                    NVME_SC_UNRECOVERED_READ);
    write_seed(&d, 60, 1, 4);
    check_seed(&d, 60, 1, 4);
    host_free(d.h);
}

/* ---- a model ------------------------------------------------------------- */

/* What each block should hold: content number; 0: deallocated; or zeroes with
 * protection information. */
#define ZERO_PI UINT64_MAX

typedef struct Model {
    Dev d;
    Prng prng;
    uint64_t want[N_MODEL];
    uint64_t next;
} Model;

static void check_model(Model *m)
{
    for (uint64_t lba = 0; lba < N_MODEL; lba++) {
        if (m->want[lba] == ZERO_PI) {
            check_zero_pi(&m->d, lba, 1);
        } else if (m->want[lba]) {
            check_seed(&m->d, lba, 1, m->want[lba]);
        } else {
            check_deallocated(&m->d, lba, 1);
        }
    }
}

static void set_model(Model *m, uint64_t lba, uint32_t n, uint64_t seed)
{
    for (uint32_t i = 0; i < n; i++) {
        m->want[lba + i] = seed;
    }
}

static void step_model(Model *m)
{
    uint32_t n = 1 + (uint32_t)prng_below(&m->prng, 40);
    uint64_t lba = prng_below(&m->prng, N_MODEL - n);
    uint32_t unit = m->d.h->info->unit_bytes / m->d.block;

    switch (prng_below(&m->prng, 8)) {
    case 0:
        lba = lba / unit * unit;
        trim(&m->d, lba, unit);
        set_model(m, lba, unit, 0);
        break;
    case 1:
        zeroes(&m->d, lba, n, 0, false);
        set_model(m, lba, n, 0);
        break;
    case 2:
        zeroes(&m->d, lba, n, m->d.pi ? ACT : 0, false);
        set_model(m, lba, n, m->d.pi ? ZERO_PI : 0);
        break;
    case 3:
        g_assert_cmphex(host_flush(m->d.h, 1), ==, 0);
        break;
    default:
        write_seed(&m->d, lba, n, ++m->next);
        set_model(m, lba, n, m->next);
        break;
    }
}

static void test_model(gconstpointer form)
{
    HostOptions o = ((const Form *)form)->o;
    Model m = {.next = 0};

    o.set = "buffer.size=64KiB";
    o.slow = true;
    m.d = start(&o);
    prng_seed(&m.prng, 1, 4711);
    for (unsigned i = 0; i < 300; i++) {
        step_model(&m);
        if (i % 100 == 99) {
            check_model(&m);
        }
    }
    host_free(m.d.h);
}

/* ---- power, and the end of the process ----------------------------------- */

/* Many writes are in flight when the power goes.  Each block then is of one of
 * them, data and metadata together: a tuple that is not of its block would be
 * found.  What was flushed is there. */
static void test_power_cut(gconstpointer set)
{
    HostOptions o = {.metadata = 8, .pi = 1, .set = set, .slow = true};
    Dev d = start(&o);
    Prng prng;
    HostCqe cqe;

    prng_seed(&prng, 1, 99);
    for (uint64_t round = 1; round <= 40; round++) {
        write_seed(&d, 0, 8, round);
        g_assert_cmphex(host_flush(d.h, 1), ==, 0);
        for (unsigned i = 0; i < 20; i++) {
            uint64_t lba = 8 + prng_below(&prng, 400);
            NvmeSqe sqe = rw(&d, NVME_IO_WRITE, lba, 16, ALL);

            fill_buffer(&d, lba, 16, round * 100 + i);
            host_send(d.h, 1, &sqe);
            nvme_run(d.h->ctrl, d.h->now_ns);
            if (prng_below(&prng, 3) == 0) {
                host_step(d.h);
            }
        }
        host_sleep(d.h, prng_below(&prng, 2000000));
        nvme_power_cut(d.h->ctrl, d.h->now_ns);
        while (host_store_step(d.h)) {
        }
        while (host_poll(d.h, 1, &cqe)) {
        }
        nvme_power_on(d.h->ctrl, d.h->now_ns);
        bring_up(d.h);
        check_seed(&d, 0, 8, round);
        g_assert_cmphex(io(&d, NVME_IO_READ, 8, 420, ALL), ==, 0);
    }
    host_free(d.h);
}

/* The next process finds the store; and one that gets the saved controller. */
static void test_kept(void)
{
    const HostOptions o = {.metadata = 16, .pi = 1, .set = "buffer.size=64KiB"};
    Dev d = start(&o);
    g_autoptr(GByteArray) drive = NULL;
    g_autoptr(GByteArray) ctrl = NULL;
    HostOptions other = o;
    GError *error = NULL;
    uint8_t *disk;

    write_seed(&d, 0, 100, 3);
    g_assert_cmphex(host_flush(d.h, 1), ==, 0);
    disk = g_memdup2(d.h->disk, d.h->disk_bytes);
    write_seed(&d, 50, 3, 4); /* in the buffer */
    host_settle(d.h);
    host_save(d.h, &drive, &ctrl);
    other.metadata = 8;
    g_assert_null(host_load(&other, d.h, drive, ctrl, &error));
    g_assert_nonnull(strstr(error->message, "metadata=16"));
    g_clear_error(&error);
    other = (HostOptions){.set = o.set, .nblocks = 0};
    g_assert_null(host_load(&other, d.h, drive, ctrl, &error));
    g_assert_nonnull(strstr(error->message, "metadata=16"));
    g_clear_error(&error);
    d.h = host_reload(&o, d.h, drive, ctrl, &error);
    g_assert_no_error(error);
    nvme_hold(d.h->ctrl, false);
    check_seed(&d, 0, 50, 3);
    check_seed(&d, 50, 3, 4);
    check_seed(&d, 53, 47, 3);
    host_free(d.h);
    other = o;
    other.disk = disk;
    d = start(&other);
    check_seed(&d, 0, 100, 3);
    host_free(d.h);
}

/* Namespaces of several forms in one drive do not share metadata; the host
 * makes one. */
static void test_namespaces(void)
{
    HostOptions o = {.metadata = 8, .pi = 1, .namespaces = "1M:512;1M"};
    Host *h = host_new(&o);
    NvmeIdNamespace id = {.nsze = nvme_le64(256),
                          .ncap = nvme_le64(256),
                          .flbas = 5, /* 4096 + 64 */
                          .dps = 1};
    Dev d = {.h = h};
    NvmeSqe sqe;

    bring_up(h);
    memcpy(h->ram + LIST, &id, sizeof(id));
    sqe = host_sqe(NVME_ADM_NS_MANAGEMENT, 0, LIST);
    g_assert_cmphex(host_do(h, 0, &sqe).dw0, ==, 3);
    memset(h->ram + LIST, 0, 4096);
    put_le16(h->ram + LIST, 1);
    put_le16(h->ram + LIST + 2, 1);
    sqe = host_sqe(NVME_ADM_NS_ATTACHMENT, 3, LIST);
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    describe(&d, &(HostOptions){.metadata = 64, .pi = 1, .block_bytes = 4096});
    for (unsigned i = 0; i < 2; i++) {
        fill_buffer(&d, 3, 5, 1);
        sqe = rw(&d, NVME_IO_WRITE, 3, 5, ALL);
        sqe.dw[1] = 3;
        g_assert_cmphex(run(&d, &sqe), ==, 0);
        g_assert_cmphex(host_flush(h, 1), ==, 0);
        clear_buffer(&d, 5);
        sqe = rw(&d, NVME_IO_READ, 3, 5, ALL);
        sqe.dw[1] = 3;
        g_assert_cmphex(run(&d, &sqe), ==, 0);
        check_buffer(&d, 3, 5, 1);
        /* The next namespace has no metadata. */
        g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 2040, 8, DATA), ==, 0);
    }
    describe(&d, &o);
    fill_buffer(&d, 0, 8, 2);
    sqe = rw(&d, NVME_IO_WRITE, 0, 8, ALL);
    sqe.dw[1] = 2;
    g_assert_cmphex(run(&d, &sqe), ==, 0);
    host_free(h);
}

/* Sanitize writes a pattern: no block gets the metadata of data before it. */
static void test_overwritten(void)
{
    Dev d = start(&(HostOptions){.metadata = 16});
    NvmeSqe sqe = host_sqe(NVME_ADM_SANITIZE, 0, 0);
    uint16_t status;

    for (uint64_t lba = 0; lba < 512; lba += 64) {
        write_seed(&d, lba, 64, 1);
    }
    g_assert_cmphex(host_flush(d.h, 1), ==, 0);
    sqe.dw[10] = 3 | 1 << 4 | 1 << 9; /* Overwrite, one pass, not deallocated */
    sqe.dw[11] = 0x01234567;
    g_assert_cmphex(host_do(d.h, 0, &sqe).status, ==, 0);
    do {
        host_sleep(d.h, 1000000);
        clear_buffer(&d, 64);
        status = io(&d, NVME_IO_READ, 0, 64, 0);
    } while (status == NVME_SC_SANITIZE_IN_PROGRESS);
    g_assert_cmphex(status, ==, 0);
    for (uint32_t i = 0; i < 64; i++) {
        g_assert_cmphex(get_le32(data_of(&d, i)), ==, 0x01234567);
        for (uint32_t k = 0; k < d.meta; k++) {
            g_assert_cmphex(meta_of(&d, i)[k], ==, 0);
        }
    }
    host_free(d.h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    add("metadata/freed", test_freed);
    add("metadata/model", test_model);
    g_test_add_data_func("/nvme/metadata/power-cut/plain", "buffer.size=64KiB",
                         test_power_cut);
    g_test_add_data_func("/nvme/metadata/power-cut/scan",
                         "buffer.size=64KiB;ftl.recovery=scan;nand.blocks=64",
                         test_power_cut);
    g_test_add_data_func("/nvme/metadata/power-cut/plp",
                         "buffer.size=64KiB;buffer.plp=on", test_power_cut);
    g_test_add_func("/nvme/metadata/kept", test_kept);
    g_test_add_func("/nvme/metadata/namespaces", test_namespaces);
    g_test_add_func("/nvme/metadata/overwritten", test_overwritten);
    return g_test_run();
}
