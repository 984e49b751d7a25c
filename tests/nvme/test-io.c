/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-io.c - I/O commands: fields that are wrong, PRPs in every shape, cache
 * and durability, stores that fail, aborts, resets with commands under way,
 * and guest memory that changes while it is read.
 */
#include "host.h"
#include "ssd-report.h"

static Host *ready(const HostOptions *o)
{
    Host *h = host_new(o);

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 256), ==, 0);
    return h;
}

static uint16_t do_code(Host *h, const NvmeSqe *sqe)
{
    return host_code(host_do(h, 1, sqe).status);
}

/* ---- fields ------------------------------------------------------------- */

static void test_bad_fields(void)
{
    static const uint8_t ranged[] = { NVME_IO_READ, NVME_IO_WRITE,
                                      NVME_IO_COMPARE, NVME_IO_WRITE_ZEROES };
    Host *h = ready(&(HostOptions){ .nblocks = 10000 });

    for (unsigned i = 0; i < G_N_ELEMENTS(ranged); i++) {
        NvmeSqe good = host_rw(h, ranged[i], 0, 8, HOST_DATA);
        NvmeSqe sqe = good;

        g_assert_cmphex(do_code(h, &sqe), ==, 0);
        sqe.dw[1] = 0;
        g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_INVALID_NSID);
        sqe.dw[1] = 2;
        g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_INVALID_NSID);
        sqe.dw[1] = NVME_NSID_ALL;
        g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_INVALID_FIELD);
        sqe = good;
        sqe.dw[10] = 9993; /* one block too far */
        g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_LBA_RANGE);
        sqe.dw[10] = 9992;
        g_assert_cmphex(do_code(h, &sqe), ==, 0);
        sqe.dw[10] = 0xffffffff;
        sqe.dw[11] = 0xffffffff;
        g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_LBA_RANGE);
        sqe = good;
        sqe.dw[12] |= 1U << 31; /* LR: a hint */
        g_assert_cmphex(do_code(h, &sqe), ==, 0);
        sqe = good;
        sqe.dw[0] |= 1 << 8; /* fused */
        g_assert_cmphex(do_code(h, &sqe), ==,
                        ranged[i] == NVME_IO_COMPARE ? NVME_SC_MISSING_FUSED
                                                     : NVME_SC_INVALID_FIELD);
        sqe = good;
        sqe.dw[0] |= 2 << 14; /* SGL */
        g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_INVALID_FIELD);
        sqe = good;
        sqe.dw[12] = 1024; /* 1025 blocks: MDTS is 512 KiB */
        g_assert_cmphex(do_code(h, &sqe), ==,
                        ranged[i] == NVME_IO_WRITE_ZEROES
                            ? 0 : NVME_SC_INVALID_FIELD);
    }
    g_assert_cmphex(do_code(h, &(NvmeSqe){.dw = {0x06, 1}}), ==,
                    NVME_SC_INVALID_OPCODE);
    g_assert_cmphex(do_code(h, &(NvmeSqe){ .dw = { 0x7f, 1 } }), ==,
                    NVME_SC_INVALID_OPCODE);
    g_assert_cmphex(do_code(h, &(NvmeSqe){ .dw = { NVME_IO_FLUSH, 0 } }), ==,
                    NVME_SC_INVALID_NSID);
    g_assert_cmphex(do_code(h, &(NvmeSqe){ .dw = { NVME_IO_FLUSH, 2 } }), ==,
                    NVME_SC_INVALID_NSID);
    g_assert_cmphex(do_code(h, &(NvmeSqe){ .dw = { NVME_IO_FLUSH,
                                                   NVME_NSID_ALL } }), ==, 0);
    host_free(h);
}

static void put_range(Host *h, unsigned i, uint64_t lba, uint32_t nblocks)
{
    uint8_t *r = h->ram + HOST_DATA + i * 16;

    memset(r, 0, 16);
    put_le32(r + 4, nblocks);
    put_le64(r + 8, lba);
}

/* PRINFO of a namespace without protection information: whatever is set there
 * (fio sets PRACT) changes nothing. */
static void test_prinfo(void)
{
    Host *h = ready(NULL);
    uint8_t *data = h->ram + HOST_DATA;

    for (uint32_t prinfo = 1; prinfo < 16; prinfo++) {
        NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, 8 * prinfo, 8, HOST_DATA);

        memset(data, (int)prinfo, 4096);
        sqe.dw[12] |= prinfo << 26;
        g_assert_cmphex(do_code(h, &sqe), ==, 0);
        sqe.dw[0] = NVME_IO_COMPARE;
        g_assert_cmphex(do_code(h, &sqe), ==, 0);
        memset(data, 0, 4096);
        g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_COMPARE_FAILURE);
        sqe.dw[0] = NVME_IO_READ;
        g_assert_cmphex(do_code(h, &sqe), ==, 0);
        g_assert_cmpuint(data[0], ==, prinfo);
        g_assert_cmpuint(data[4095], ==, prinfo);
        sqe.dw[0] = NVME_IO_WRITE_ZEROES;
        g_assert_cmphex(do_code(h, &sqe), ==, 0);
        sqe.dw[0] = NVME_IO_READ;
        g_assert_cmphex(do_code(h, &sqe), ==, 0);
        g_assert_cmpuint(data[0], ==, 0);
    }
    host_free(h);
}

static void test_dsm(void)
{
    Host *h = ready(&(HostOptions){ .nblocks = 10001 });
    NvmeSqe sqe = host_sqe(NVME_IO_DSM, 1, HOST_DATA);
    uint8_t *d = h->ram + HOST_DATA + 0x10000;

    memset(d, 0x77, 512 * 512);
    for (unsigned i = 0; i < 8; i++) {
        g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, i * 512, 512,
                                HOST_DATA + 0x10000), ==, 0);
    }
    for (unsigned i = 0; i < 256; i++) {
        put_range(h, i, i * 16, 8);
    }
    sqe.dw[10] = 255;
    g_assert_cmphex(do_code(h, &sqe), ==, 0); /* no attribute: nothing */
    g_assert_true(ssd_mapped(h->ssd, 0, NULL));
    sqe.dw[11] = 4;
    g_assert_cmphex(do_code(h, &sqe), ==, 0);
    for (unsigned i = 0; i < 256; i++) {
        g_assert_false(ssd_mapped(h->ssd, i * 16, NULL));
        g_assert_true(ssd_mapped(h->ssd, i * 16 + 8, NULL));
    }
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 0, 16, HOST_DATA + 0x10000),
                    ==, 0);
    g_assert_cmpuint(d[0], ==, 0);
    g_assert_cmpuint(d[4095], ==, 0);
    g_assert_cmpuint(d[4096], ==, 0x77);
    /* A range that covers no whole unit, an empty one, one that does not fit. */
    put_range(h, 0, 9, 14);
    put_range(h, 1, 10001, 0);
    sqe.dw[10] = 1;
    g_assert_cmphex(do_code(h, &sqe), ==, 0);
    g_assert_true(ssd_mapped(h->ssd, 8, NULL));
    put_range(h, 1, 10001, 1);
    g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_LBA_RANGE);
    put_range(h, 1, UINT64_MAX, UINT32_MAX);
    g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_LBA_RANGE);
    sqe.dw[1] = 2;
    g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_INVALID_NSID);
    sqe = host_sqe(NVME_IO_DSM, 1, HOST_RAM_BYTES);
    g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_DATA_TRANSFER);
    host_free(h);
}

/* The drive deallocates whole units, whether it is asked to (DEAC) or not; they
 * take no room, and all of the range reads as zeroes. */
static void test_write_zeroes(void)
{
    Host *h = ready(NULL);
    const uint8_t *d = h->ram + HOST_DATA;

    for (unsigned deac = 0; deac < 2; deac++) {
        NvmeSqe sqe = host_rw(h, NVME_IO_WRITE_ZEROES, 5, 22, HOST_DATA);

        memset(host_ram(h, HOST_DATA, 32 * 512), 0x11, 32 * 512);
        g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 32, HOST_DATA), ==, 0);
        sqe.dw[12] |= deac << 25;
        g_assert_cmphex(do_code(h, &sqe), ==, 0);
        for (unsigned lba = 0; lba < 32; lba++) {
            g_assert_true(ssd_mapped(h->ssd, lba, NULL) ==
                          (lba < 8 || lba >= 24));
        }
        g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 0, 32, HOST_DATA), ==, 0);
        for (unsigned lba = 0; lba < 32; lba++) {
            g_assert_cmphex(d[lba * 512], ==, lba >= 5 && lba < 27 ? 0 : 0x11);
        }
    }
    host_free(h);
}

/* The last unit of the namespace is not a whole one. */
/* The instants of the records of `type` in a log without data: the last one. */
static uint64_t logged_ns(const char *path, uint8_t type)
{
    g_autofree char *bytes = NULL;
    gsize n;
    uint64_t ns = UINT64_MAX;

    g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
    for (gsize at = 32; at < n; at += 32) {
        if ((uint8_t)bytes[at + 24] == type) {
            memcpy(&ns, bytes + at, sizeof(ns));
        }
    }
    return GUINT64_FROM_LE(ns);
}

/* A controller that looks late: the TRIM became durable when the model had done
 * it, though the end of a read is in the log before that. */
static void test_durable_log_late(void)
{
    const uint64_t late_ns = 20000000;
    Host *h = host_new(&(HostOptions){.nblocks = 10000});
    g_autofree char *dir = g_dir_make_tmp("vssd-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "log", NULL);
    NvmeSqe read = host_rw(h, NVME_IO_READ, 512, 1, HOST_DATA + 0x10000);
    NvmeSqe trim = host_sqe(NVME_IO_DSM, 1, HOST_DATA);
    uint64_t begin_ns;

    g_assert_true(nvme_durable_log_open(h->ctrl, path, NULL));
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 256), ==, 0);
    put_range(h, 0, 0, 8);
    trim.dw[11] = 4;
    host_send(h, 1, &read);
    host_send(h, 1, &trim);
    begin_ns = h->now_ns;
    nvme_run(h->ctrl, begin_ns);
    h->now_ns += late_ns;
    nvme_run(h->ctrl, h->now_ns);
    host_wait(h, 1);
    host_wait(h, 1);
    g_assert_true(nvme_durable_log_close(h->ctrl, NULL));
    g_assert_cmpuint(logged_ns(path, 2) - begin_ns, <,
                     late_ns / 2); /* zeroes */
    g_assert_cmpuint(logged_ns(path, 3) - begin_ns, <, late_ns / 2); /* start */
    g_assert_cmpuint(logged_ns(path, 4) - begin_ns, >=, late_ns);    /* end */
    host_free(h);
    remove(path);
    remove(dir);
}

static void test_odd_end(void)
{
    Host *h = ready(&(HostOptions){ .nblocks = 10001, .durable = true });
    uint8_t *d = h->ram + HOST_DATA;

    memset(d, 0x33, 512);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 10000, 1, HOST_DATA), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmpuint(h->disk[10000 * 512], ==, 0x33);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE_ZEROES, 9000, 1001, HOST_DATA),
                    ==, 0);
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 10000, 1, HOST_DATA), ==, 0);
    g_assert_cmpuint(d[0], ==, 0);
    put_range(h, 0, 9992, 9);
    g_assert_cmphex(do_code(h, &(NvmeSqe){ .dw = { NVME_IO_DSM, 1, [6] =
                                                       HOST_DATA, [11] = 4 } }),
                    ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    host_free(h);
}

/* Unmapped blocks read as zeroes, even if the store holds data there; a
 * write to a part of such a unit makes the rest of it zeroes. */
static void test_unmapped(void)
{
    Host *h = host_new(NULL);
    HostOptions o = { .no_preload = true, .disk = g_malloc(h->disk_bytes) };
    uint8_t *d;

    memset(o.disk, 0xff, h->disk_bytes);
    host_free(h);
    h = ready(&o);
    d = h->ram + HOST_DATA;
    memset(d, 0x11, 8192);
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 0, 16, HOST_DATA), ==, 0);
    g_assert_cmpuint(d[0], ==, 0);
    g_assert_cmpuint(d[8191], ==, 0);
    memset(d, 0x22, 512);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 3, 1, HOST_DATA), ==, 0);
    for (unsigned round = 0; round < 2; round++) {
        memset(d, 0x11, 4096);
        g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 0, 8, HOST_DATA), ==, 0);
        g_assert_cmpuint(d[1535], ==, 0);
        g_assert_cmpuint(d[1536], ==, 0x22);
        g_assert_cmpuint(d[2047], ==, 0x22);
        g_assert_cmpuint(d[2048], ==, 0);
        g_assert_cmpuint(d[4095], ==, 0);
        g_assert_cmphex(host_flush(h, 1), ==, 0);
    }
    g_assert_cmpuint(h->disk[0], ==, 0);
    g_assert_cmpuint(h->disk[4095], ==, 0);
    g_assert_cmpuint(h->disk[4096], ==, 0xff);
    host_free(h);
}

static void test_compare(void)
{
    Host *h = ready(NULL);

    memset(h->ram + HOST_DATA, 0x11, 8192);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 4, 16, HOST_DATA), ==, 0);
    g_assert_cmphex(host_io(h, 1, NVME_IO_COMPARE, 4, 16, HOST_DATA), ==, 0);
    h->ram[HOST_DATA + 8191]++;
    g_assert_cmphex(host_io(h, 1, NVME_IO_COMPARE, 4, 16, HOST_DATA), ==,
                    NVME_SC_COMPARE_FAILURE | NVME_SC_DNR | NVME_SC_MORE);
    g_assert_cmphex(host_io(h, 1, NVME_IO_COMPARE, 4, 15, HOST_DATA), ==, 0);
    host_free(h);
}

/* ---- PRPs --------------------------------------------------------------- */

static void test_prp_shapes(void)
{
    Host *h = ready(&(HostOptions){ .mdts = 10 });
    uint64_t to = HOST_DATA + 0x600000;

    for (unsigned i = 0; i < 5 << 20; i++) {
        h->ram[HOST_DATA + i] = i * 13 + (i >> 9);
    }
    for (unsigned k = 0; k < 12; k++) { /* 512 bytes to 1 MiB and a list of two
                                           pages, at odd offsets */
        uint32_t n = 1U << k;
        uint64_t from = HOST_DATA + 512 * k + 4 * k;

        g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 3, n, from), ==, 0);
        memset(h->ram + to, 0, n * 512 + 4096);
        g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 3, n, to + 8 * k), ==, 0);
        g_assert_cmpmem(h->ram + from, n * 512, h->ram + to + 8 * k, n * 512);
        g_assert_cmpuint(h->ram[to + 8 * k + n * 512], ==, 0);
    }
    host_free(h);
}

/* 2048 blocks in pages that are in memory in reverse order, and lists that
 * begin in the middle of a page and go on elsewhere. */
static void test_prp_scattered(void)
{
    Host *h = ready(&(HostOptions){ .mdts = 10 });
    NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, 0, 4096, HOST_DATA);
    uint8_t *list1 = h->ram + HOST_LISTS + 4096 - 64; /* 7 and a pointer */
    uint8_t *list2 = h->ram + HOST_LISTS + 0x8000;
    unsigned page = 0;

    for (unsigned i = 0; i < 512; i++) {
        memset(h->ram + HOST_DATA + i * 4096, i, 4096);
    }
    sqe.dw[6] = HOST_DATA + 511 * 4096;
    sqe.dw[8] = HOST_LISTS + 4096 - 64;
    for (page = 1; page <= 7; page++) {
        put_le64(list1 + 8 * (page - 1), HOST_DATA + (511 - page) * 4096);
    }
    put_le64(list1 + 56, HOST_LISTS + 0x8000);
    for (; page < 512; page++) {
        put_le64(list2 + 8 * (page - 8), HOST_DATA + (511 - page) * 4096);
    }
    g_assert_cmphex(do_code(h, &sqe), ==, 0);
    g_assert_cmphex(do_code(h, &sqe), ==,
                    0); /* with memory that the first freed */
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    for (unsigned i = 0; i < 512; i++) {
        g_assert_cmpuint(h->disk[i * 4096], ==, (511 - i) & 0xff);
        g_assert_cmpuint(h->disk[i * 4096 + 4095], ==, (511 - i) & 0xff);
    }
    host_free(h);
}

/* Lists that end with their page, of whole pages and of a part: the last entry
 * is one like the others.  What it would point to is no list. */
static void test_prp_full_list(void)
{
    Host *h = ready(&(HostOptions){.mdts = 10});

    for (unsigned n = 2; n <= 256; n *= 2) { /* entries */
        for (unsigned less = 0; less < 2; less++) {
            uint64_t list = HOST_LISTS + 4096 - 8 * n;
            NvmeSqe sqe =
                host_rw(h, NVME_IO_WRITE, 0, 8 * (n + 1) - less, HOST_DATA);

            memset(h->ram + HOST_DATA, 0x11, (n + 2) * 4096);
            put_le64(h->ram + HOST_LISTS + 4096, 0x1111);
            for (unsigned i = 0; i < n; i++) {
                put_le64(h->ram + list + 8 * i, HOST_DATA + 4096 * (i + 1));
            }
            sqe.dw[8] = (uint32_t)list;
            g_assert_cmphex(do_code(h, &sqe), ==, 0);
        }
    }
    host_free(h);
}

static void test_prp_bad(void)
{
    Host *h = ready(&(HostOptions){ .mdts = 10 });
    NvmeSqe big = host_rw(h, NVME_IO_WRITE, 0, 64, HOST_DATA);
    uint8_t *list = h->ram + HOST_LISTS;
    NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, 0, 8, HOST_DATA);

    sqe.dw[6] |= 2; /* not a dword */
    g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_PRP_OFFSET);
    sqe = host_rw(h, NVME_IO_WRITE, 0, 16, HOST_DATA);
    sqe.dw[8] |= 4; /* PRP2 is a page: no offset */
    g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_PRP_OFFSET);
    sqe = big;
    sqe.dw[8] |= 4; /* a list: qword */
    g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_PRP_OFFSET);
    sqe = big;
    put_le64(list + 8, HOST_DATA + 0x2008);
    g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_PRP_OFFSET);
    put_le64(list + 8, HOST_RAM_BYTES);
    g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_DATA_TRANSFER);
    put_le64(list + 8, 0xfffffffffffff000ULL);
    put_le64(list + 16, 0);
    g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_DATA_TRANSFER);
    sqe.dw[9] = 0xffff0000; /* the list itself is not there */
    g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_DATA_TRANSFER);
    /* A list whose last entry points to itself, at the end of a page. */
    sqe = host_rw(h, NVME_IO_READ, 0, 8192, HOST_DATA);
    sqe.dw[8] = HOST_LISTS + 4088;
    put_le64(list + 4088, HOST_LISTS);
    for (unsigned i = 0; i < 511; i++) {
        put_le64(list + 8 * i, HOST_LISTS);
    }
    do_code(h, &sqe); /* whatever it says, it ends */
    put_le64(list + 4088, HOST_LISTS + 4088);
    g_assert_cmphex(do_code(h, &sqe), ==, NVME_SC_PRP_OFFSET);
    /* A write that failed has changed nothing. */
    memset(h->ram + HOST_DATA, 0xee, 4096);
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 0, 8, HOST_DATA), ==, 0);
    g_assert_cmpuint(h->ram[HOST_DATA], ==, 0);
    host_free(h);
}

/* Memory pages of 64 KiB. */
static void test_large_pages(void)
{
    Host *h = host_new(&(HostOptions){ .mdts = 10 });
    NvmeSqe sqe;

    host_write32(h, NVME_REG_AQA, 31 << 16 | 31);
    nvme_reg_write(h->ctrl, 0, NVME_REG_ASQ, 0x10000, 8);
    nvme_reg_write(h->ctrl, 0, NVME_REG_ACQ, 0x20000, 8);
    host_write32(h, NVME_REG_CC, 0x00460201);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
    h->q[0] = (HostQueue){ .sq_addr = 0x10000, .sq_size = 32 };
    h->cq[0] = (HostCqRing){ .addr = 0x20000, .size = 32, .phase = 1 };
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    sqe = host_sqe(NVME_IO_WRITE, 1, HOST_DATA + 0x1000);
    sqe.dw[8] = HOST_DATA + 0x30000; /* the second page of 64 KiB */
    sqe.dw[12] = 128 - 1;
    memset(h->ram + HOST_DATA + 0x1000, 1, 0xf000);
    memset(h->ram + HOST_DATA + 0x30000, 2, 0x1000);
    g_assert_cmphex(do_code(h, &sqe), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmpuint(h->disk[0], ==, 1);
    g_assert_cmpuint(h->disk[0xefff], ==, 1);
    g_assert_cmpuint(h->disk[0xf000], ==, 2);
    g_assert_cmpuint(h->disk[0xffff], ==, 2);
    host_free(h);
}

/* ---- guest memory that changes ------------------------------------------ */

/* Each read of memory finds something else: nothing read before may be relied
 * on, and nothing may be read twice. */
static void scramble(Host *h, uint64_t addr, size_t len)
{
    if (prng_below(&h->prng, 4) == 0 && addr >= HOST_QUEUES && len >= 8) {
        uint64_t at = addr + prng_below(&h->prng, len / 8) * 8;

        if (at + 8 <= HOST_RAM_BYTES) {
            put_le64(h->ram + at, prng_u64(&h->prng));
        }
    }
}

static void test_changing_memory(void)
{
    Host *h = ready(NULL);

    h->before_read = scramble;
    for (unsigned i = 0; i < 20000; i++) {
        NvmeSqe sqe = host_rw(h, prng_below(&h->prng, 10),
                              prng_below(&h->prng, 1000),
                              1 + prng_below(&h->prng, 200), HOST_DATA);
        HostCqe cqe;

        host_send(h, 1, &sqe);
        if (i % 4 == 3) {
            while (host_step(h)) {
            }
            while (host_poll(h, 1, &cqe)) {
            }
        }
    }
    h->before_read = NULL;
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    host_free(h);
}

/* ---- cache and durability ----------------------------------------------- */

static void set_feature(Host *h, uint32_t id, uint32_t value)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_SET_FEATURES, 0, 0);

    sqe.dw[10] = id;
    sqe.dw[11] = value;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
}

static void cut(Host *h)
{
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    memset(h->cq, 0, sizeof(h->cq));
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 256), ==, 0);
}

static uint8_t first_byte(Host *h, uint64_t lba)
{
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, lba, 1, HOST_DATA + 0x4000),
                    ==, 0);
    return h->ram[HOST_DATA + 0x4000];
}

/* Power-loss protection: no volatile cache, nothing to switch off, and
 * completed writes are in the store. */
static void test_protected(void)
{
    Host *h = ready(&(HostOptions){ .set = "buffer.plp=on", .slow = true });
    NvmeSqe sqe = host_sqe(NVME_ADM_IDENTIFY, 0, HOST_DATA);

    sqe.dw[10] = 1;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    g_assert_cmphex(h->ram[HOST_DATA + 525], ==, 6);
    for (unsigned op = NVME_ADM_SET_FEATURES; op <= NVME_ADM_GET_FEATURES;
         op++) {
        sqe = host_sqe((uint8_t)op, 0, 0);
        sqe.dw[10] = 6;
        g_assert_cmphex(host_code(host_do(h, 0, &sqe).status), ==,
                        NVME_SC_INVALID_FIELD);
    }
    memset(h->ram + HOST_DATA, 0x21, 4096);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 3, 2, HOST_DATA), ==, 0);
    g_assert_cmpuint(h->disk[3 * 512], ==, 0x21);
    g_assert_cmpuint(h->flushes, ==, 0);
    cut(h);
    g_assert_cmpuint(first_byte(h, 3), ==, 0x21);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmpuint(h->flushes, ==, 1);
    host_free(h);
}

static void test_cache(void)
{
    Host *h = ready(NULL);
    NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, 8, 8, HOST_DATA);
    unsigned flushes;

    memset(h->ram + HOST_DATA, 0x21, 4096);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 8, HOST_DATA), ==, 0);
    cut(h);
    g_assert_cmpuint(first_byte(h, 0), ==, 0); /* it was in the cache only */

    g_assert_cmpuint(h->flushes, ==, 0);
    sqe.dw[12] |= 1U << 30; /* FUA */
    g_assert_cmphex(do_code(h, &sqe), ==, 0);
    g_assert_cmpuint(h->flushes, ==, 1);
    cut(h);
    g_assert_cmpuint(first_byte(h, 8), ==, 0x21);

    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 16, 8, HOST_DATA), ==, 0);
    set_feature(h, 6, 0); /* writes the contents of the cache */
    cut(h);
    g_assert_cmpuint(first_byte(h, 16), ==, 0x21);

    set_feature(h, 6, 0);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 24, 8, HOST_DATA), ==, 0);
    flushes = h->flushes;
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE_ZEROES, 8, 8, HOST_DATA), ==,
                    0);
    g_assert_cmpuint(h->flushes, ==, flushes + 1);
    cut(h);
    g_assert_cmpuint(first_byte(h, 24), ==, 0x21);
    g_assert_cmpuint(first_byte(h, 8), ==, 0);
    host_free(h);
}

/* A write takes the time of the profile, and a flush more. */
static void test_latency(void)
{
    Host *h = ready(NULL);
    uint64_t t0;

    memset(h->ram + HOST_DATA, 1, 4096);
    t0 = h->now_ns;
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 8, HOST_DATA), ==, 0);
    g_assert_cmpuint(h->now_ns - t0, <, 20000);
    t0 = h->now_ns;
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmpuint(h->now_ns - t0, >, 500000); /* tPROG of the profile */
    t0 = h->now_ns;
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 0, 8, HOST_DATA), ==, 0);
    g_assert_cmpuint(h->now_ns - t0, >, 50000); /* tR */
    g_assert_cmpuint(h->now_ns - t0, <, 100000);
    /* This caller is never late. */
    g_assert_cmpuint(nvme_lateness(h->ctrl)->n, ==, 3);
    g_assert_cmpuint(nvme_lateness(h->ctrl)->max, ==, 0);
    host_free(h);
}

/* ---- the store fails ---------------------------------------------------- */

static uint8_t critical_warning(Host *h)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_GET_LOG_PAGE, NVME_NSID_ALL,
                           HOST_DATA + 0x8000);

    sqe.dw[10] = 2 | 127 << 16;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    return h->ram[HOST_DATA + 0x8000];
}

static void test_store_write_fails(void)
{
    for (unsigned slow = 0; slow < 2; slow++) {
        Host *h = ready(&(HostOptions){ .slow = slow });
        NvmeSqe aer = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);
        HostCqe cqe;

        set_feature(h, 0x0b, 0xff);
        host_send(h, 0, &aer);
        h->fail_writes = true;
        memset(h->ram + HOST_DATA, 0x42, 65536);
        g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 5, 100, HOST_DATA), ==,
                        0);
        g_assert_cmphex(host_code(host_flush(h, 1)), ==, NVME_SC_WRITE_FAULT);
        cqe = host_wait(h, 0);
        g_assert_cmphex(cqe.dw0, ==, 0x00020001);
        g_assert_cmphex(critical_warning(h), ==, 0x04);
        g_assert_cmpuint(first_byte(h, 5), ==, 0x42); /* still there */
        g_assert_cmphex(host_code(host_flush(h, 1)), ==, NVME_SC_WRITE_FAULT);
        /* Written again: the new data counts. */
        memset(h->ram + HOST_DATA, 0x43, 4096);
        g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 8, 4, HOST_DATA), ==, 0);
        g_assert_cmphex(host_code(host_flush(h, 1)), ==, NVME_SC_WRITE_FAULT);
        h->fail_writes = false;
        g_assert_cmphex(host_flush(h, 1), ==, 0);
        g_assert_cmphex(critical_warning(h), ==, 0);
        g_assert_cmpuint(h->disk[5 * 512], ==, 0x42);
        g_assert_cmpuint(h->disk[8 * 512], ==, 0x43);
        g_assert_cmpuint(h->disk[12 * 512], ==, 0x42);
        g_assert_cmpuint(h->disk[104 * 512], ==, 0x42);
        g_assert_cmpuint(h->disk[105 * 512], ==, 0);
        g_assert_cmphex(host_flush(h, 1), ==, 0);
        host_free(h);
    }
}

static void test_store_read_fails(void)
{
    Host *h = ready(NULL);

    memset(h->ram + HOST_DATA, 0x42, 4096);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 8, HOST_DATA), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    h->fail_reads = true;
    g_assert_cmphex(host_code(host_io(h, 1, NVME_IO_READ, 0, 8, HOST_DATA)),
                    ==, NVME_SC_UNRECOVERED_READ);
    g_assert_cmphex(host_code(host_io(h, 1, NVME_IO_COMPARE, 0, 8, HOST_DATA)),
                    ==, NVME_SC_UNRECOVERED_READ);
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 64, 8, HOST_DATA), ==, 0);
    h->fail_reads = false;
    g_assert_cmpuint(first_byte(h, 0), ==, 0x42);
    host_free(h);
}

static void test_store_flush_fails(void)
{
    Host *h = ready(NULL);

    memset(h->ram + HOST_DATA, 0x42, 4096);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 8, HOST_DATA), ==, 0);
    h->fail_flushes = true;
    g_assert_cmphex(host_code(host_flush(h, 1)), ==, NVME_SC_WRITE_FAULT);
    g_assert_cmphex(host_code(host_flush(h, 1)), ==, NVME_SC_WRITE_FAULT);
    h->fail_flushes = false;
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    h->fail_zeroes = true;
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE_ZEROES, 0, 8, HOST_DATA), ==,
                    0);
    g_assert_cmphex(host_code(host_flush(h, 1)), ==, NVME_SC_WRITE_FAULT);
    host_free(h);
}

/* ---- abort and reset ---------------------------------------------------- */

static void test_abort(void)
{
    Host *h = ready(NULL);
    NvmeSqe sqe;
    HostCqe cqe;
    uint16_t cid;

    memset(h->ram + HOST_DATA, 0x42, 4096);
    sqe = host_rw(h, NVME_IO_WRITE, 0, 8, HOST_DATA);
    cid = host_send(h, 1, &sqe);
    host_run(h);
    sqe = host_sqe(NVME_ADM_ABORT, 0, 0);
    sqe.dw[10] = (uint32_t)cid << 16 | 1;
    g_assert_cmphex(host_do(h, 0, &sqe).dw0, ==, 0);
    cqe = host_wait(h, 1);
    g_assert_cmpuint(cqe.cid, ==, cid);
    g_assert_cmphex(cqe.status, ==, NVME_SC_ABORT_REQUESTED | NVME_SC_MORE);
    g_assert_cmpuint(first_byte(h, 0), ==, 0); /* it had no effect */
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmpuint(h->disk[0], ==, 0);
    g_assert_cmphex(host_do(h, 0, &sqe).dw0, ==, 1); /* it is gone */
    host_free(h);
}

/* After CC.EN = 0, memory of the guest is the guest's. */
static void test_reset_in_flight(void)
{
    for (unsigned steps = 0; steps < 12; steps++) {
        Host *h = ready(&(HostOptions){ .slow = true });
        NvmeSqe sqe;
        g_autofree uint8_t *before = NULL;

        memset(h->ram + HOST_DATA, 0x5a, 0x40000);
        g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 512, HOST_DATA), ==,
                        0);
        g_assert_cmphex(host_flush(h, 1), ==, 0);
        memset(h->ram + HOST_DATA, 0, 0x40000);
        for (unsigned i = 0; i < 32; i++) {
            sqe = host_rw(h, i % 3 ? NVME_IO_READ : NVME_IO_WRITE, 8 * i, 64,
                          HOST_DATA + 0x10000 * i);
            host_send(h, 1, &sqe);
        }
        host_send(h, 1, &(NvmeSqe){ .dw = { NVME_IO_FLUSH, 1 } });
        for (unsigned i = 0; i < steps; i++) {
            host_step(h);
        }
        host_write32(h, NVME_REG_CC, 0);
        before = g_memdup2(h->ram, HOST_RAM_BYTES);
        while (host_step(h)) {
        }
        g_assert_cmpint(memcmp(before, h->ram, HOST_RAM_BYTES), ==, 0);
        memset(h->cq, 0, sizeof(h->cq));
        host_enable(h);
        g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
        g_assert_cmphex(host_flush(h, 1), ==, 0);
        host_free(h);
    }
}

/* The work of one run is bounded. */
static void test_bounded_run(void)
{
    Host *h = host_new(&(HostOptions){ .profile = "zero-latency",
                                       .nblocks = 1024 });
    NvmeSqe sqe;
    unsigned runs = 1;

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 1024), ==, 0);
    sqe = host_rw(h, NVME_IO_READ, 0, 1, HOST_DATA);
    for (unsigned i = 0; i < 1000; i++) {
        host_put(h, 1, &sqe);
    }
    host_ring(h, 1);
    while (nvme_run(h->ctrl, h->now_ns)) {
        g_assert_cmpuint(nvme_next_event_ns(h->ctrl), ==, h->now_ns);
        runs++;
    }
    g_assert_cmpuint(runs, >=, 4);
    g_assert_cmpuint(runs, <, 10);
    host_free(h);
}

/* So are the bytes that it moves, whatever the size of a command. */
static void test_bounded_bytes(void)
{
    Host *h = host_new(&(HostOptions){ .profile = "zero-latency",
                                       .nblocks = 16384, .mdts = 10 });
    uint32_t nblocks = (4U << 20) / 512;
    NvmeSqe sqe;
    unsigned runs = 0;
    bool more;

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    sqe = host_rw(h, NVME_IO_READ, 0, nblocks, HOST_DATA);
    for (unsigned i = 0; i < 40; i++) {
        host_put(h, 1, &sqe);
    }
    host_ring(h, 1);
    do {
        unsigned before = h->dma_writes;

        more = nvme_run(h->ctrl, h->now_ns);
        /* A piece of memory is a page, here, or a whole transfer. */
        g_assert_cmpuint(h->dma_writes - before, <=, 1100);
        runs++;
    } while (more);
    g_assert_cmpuint(runs, >=, 40);
    for (unsigned i = 0; i < 40; i++) {
        g_assert_cmphex(host_wait(h, 1).status, ==, 0);
    }
    host_free(h);
}

static uint64_t units_in_overlay(Host *h)
{
    g_autoptr(GString) s = g_string_new(NULL);
    JsonWriter w = { .out = s };
    const char *at;

    nvme_stats_json(h->ctrl, &w, NULL);
    at = strstr(s->str, "\"units\":");
    g_assert_nonnull(at);
    return g_ascii_strtoull(at + strlen("\"units\":"), NULL, 10);
}

/* Let the drive work while the store does nothing. */
static void drive_only(Host *h, uint64_t ns)
{
    uint64_t until = h->now_ns + ns;

    host_run(h);
    while (nvme_next_event_ns(h->ctrl) <= until) {
        h->now_ns = nvme_next_event_ns(h->ctrl);
        host_run(h);
    }
    h->now_ns = until;
}

static unsigned at_store(Host *h, NvmeStoreOp op)
{
    unsigned n = 0;

    for (unsigned i = 0; i < h->at_store->len; i++) {
        const NvmeStoreReq *req = g_ptr_array_index(h->at_store, i);

        n += req->op == op;
    }
    return n;
}

/*
 * A read is at the store; the unit is written, twice, and flushed, twice.  The
 * writes wait for the read, the flushes for the writes, also the flush of the
 * first write, whose place the second one has taken.
 */
static void test_order_at_store(void)
{
    Host *h = ready(&(HostOptions){ .slow = true });
    NvmeSqe wr = host_rw(h, NVME_IO_WRITE, 0, 8, HOST_DATA);
    NvmeSqe rd = host_rw(h, NVME_IO_READ, 0, 8, HOST_DATA + 0x10000);
    NvmeSqe fl = host_sqe(NVME_IO_FLUSH, 1, 0);
    HostCqe cqe;

    memset(h->ram + HOST_DATA, 0x11, 4096);
    g_assert_cmphex(host_do(h, 1, &wr).status, ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    host_send(h, 1, &rd);
    drive_only(h, 1000000);
    g_assert_cmpuint(at_store(h, NVME_STORE_READ), ==, 1);
    for (unsigned i = 2; i <= 3; i++) {
        memset(h->ram + HOST_DATA, i * 0x11, 4096);
        host_send(h, 1, &wr);
        drive_only(h, 30000); /* into the buffer */
        host_send(h, 1, &fl);
        drive_only(h, 100000000);
        g_assert_cmpuint(h->at_store->len, ==, 1); /* all wait for the read */
        g_assert_true(host_poll(h, 1, &cqe)); /* but the write itself */
        g_assert_false(host_poll(h, 1, &cqe));
    }
    host_store_step(h);
    g_assert_cmpuint(h->ram[HOST_DATA + 0x10000], ==, 0x11);
    drive_only(h, 1000000);
    g_assert_cmpuint(at_store(h, NVME_STORE_WRITE), ==, 1);
    g_assert_cmpuint(at_store(h, NVME_STORE_FLUSH), ==, 0);
    host_store_step(h);
    g_assert_cmpuint(h->disk[0], ==, 0x33);
    g_assert_cmpuint(at_store(h, NVME_STORE_FLUSH), ==, 1);
    for (unsigned i = 0; i < 3; i++) { /* the read and the flushes */
        g_assert_cmphex(host_wait(h, 1).status, ==, 0);
    }
    host_free(h);
}

/* Programmed data survives a power cut, however slow the store is; other data
 * does not. */
static void test_cut_with_backlog(void)
{
    Host *h = ready(&(HostOptions){ .slow = true });
    NvmeSqe wr = host_rw(h, NVME_IO_WRITE, 0, 8, HOST_DATA);
    NvmeSqe rd = host_rw(h, NVME_IO_READ, 0, 8, HOST_DATA + 0x10000);

    memset(h->ram + HOST_DATA, 0x11, 4096);
    g_assert_cmphex(host_do(h, 1, &wr).status, ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    host_send(h, 1, &rd); /* keeps the next one from the store */
    host_run(h);
    memset(h->ram + HOST_DATA, 0x22, 4096);
    host_send(h, 1, &wr);
    drive_only(h, 30000);
    host_send(h, 1, &(NvmeSqe){ .dw = { NVME_IO_FLUSH, 1 } });
    drive_only(h, 100000000);
    memset(h->ram + HOST_DATA, 0x33, 4096);
    host_send(h, 1, &wr);
    drive_only(h, 30000);
    g_assert_cmpuint(at_store(h, NVME_STORE_WRITE), ==, 0);
    cut(h);
    g_assert_cmpuint(first_byte(h, 0), ==, 0x22);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmpuint(h->disk[0], ==, 0x22);
    host_free(h);
}

/* A drive that is faster than the store: the overlay does not grow without
 * end, and goes on when the store does. */
static void test_store_too_slow(void)
{
    Host *h = ready(&(HostOptions){ .profile = "zero-latency",
                                    .slow = true, .nblocks = 1 << 20,
                                    .backlog = 64 << 20 });
    unsigned sent = 0;
    unsigned done = 0;
    HostCqe cqe;

    for (unsigned i = 0; i < 1000; i++) { /* 500 MiB */
        NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, i * 1024, 1024, HOST_DATA);

        if (sent - done < 200) {
            host_send(h, 1, &sqe);
            sent++;
        }
        host_run(h);
        while (host_poll(h, 1, &cqe)) {
            done++;
        }
    }
    g_assert_cmpuint(sent - done, >, 100); /* it stopped taking them */
    g_assert_cmpuint(units_in_overlay(h), <, 40000); /* 160 MiB */
    while (done < sent) {
        host_wait(h, 1);
        done++;
    }
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmpuint(units_in_overlay(h), ==, 0);
    host_free(h);
}

/* Sequential Read Range: the drive reads ahead before the first read; not of a
 * range without the attribute, nor with the hints off. */
static void test_dsm_hints(void)
{
    for (unsigned i = 0; i < 3; i++) {
        Host *h = ready(&(HostOptions){.set = "host.read_ahead=256KiB",
                                       .dsm_hints = i < 2});
        NvmeSqe sqe = host_sqe(NVME_IO_DSM, 1, HOST_DATA);
        SsdCounters before, after;

        for (unsigned k = 0; k < 16; k++) {
            g_assert_cmphex(
                host_io(h, 1, NVME_IO_WRITE, k * 512, 512, HOST_DATA + 0x10000),
                ==, 0);
        }
        g_assert_cmphex(host_flush(h, 1), ==, 0);
        put_range(h, 0, 512, 2048);
        put_le32(h->ram + HOST_DATA, i == 0 ? 0x100 : 0x200);
        sqe.dw[11] = 1; /* IDR */
        host_map(h, &sqe, HOST_DATA, 16);
        ssd_get_counters(h->ssd, &before);
        g_assert_cmphex(host_do(h, 1, &sqe).status, ==, 0);
        host_sleep(h, 10000000);
        ssd_get_counters(h->ssd, &after);
        if (i == 0) {
            g_assert_cmpuint(after.nand_reads - before.nand_reads, >=,
                             (128U << 10) / h->info->page_bytes);
            before = after;
            g_assert_cmphex(
                host_io(h, 1, NVME_IO_READ, 512, 8, HOST_DATA + 0x10000), ==,
                0);
            ssd_get_counters(h->ssd, &after);
        }
        g_assert_cmpuint(after.nand_reads, ==, before.nand_reads);
        host_free(h);
    }
}

/* A range of namespace 1 with an attribute, by Dataset Management. */
static void send_hint(Host *h, uint64_t lba, uint32_t nblocks, uint32_t what)
{
    NvmeSqe sqe = host_sqe(NVME_IO_DSM, 1, HOST_DATA);

    put_range(h, 0, lba, nblocks);
    put_le32(h->ram + HOST_DATA, what);
    host_map(h, &sqe, HOST_DATA, 16);
    g_assert_cmphex(host_do(h, 1, &sqe).status, ==, 0);
}

static uint32_t stream_of(Host *h, uint64_t lba)
{
    SsdPlace p;

    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, lba, 8, HOST_DATA), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    ssd_place(h->ssd, lba, &p);
    g_assert_true(p.mapped);
    return p.stream;
}

/* Access Frequency: the first write of a unit goes to the stream of what the
 * host has said about it. */
static void test_dsm_frequency(void)
{
    static const struct {
        uint32_t attributes;
        uint32_t stream; /* of writes behind it */
    } said[] = {
        {4, 1}, {0, 1}, {6, 1}, {0xf, 1},   {2, 0},     {5, 1},
        {3, 0}, {4, 1}, {1, 0}, {0x230, 0}, {0x704, 1},
    };

    for (unsigned i = 0; i <= G_N_ELEMENTS(said); i++) {
        bool on = i < G_N_ELEMENTS(said); /* the last one: without dsm_hints */
        Host *h = ready(&(HostOptions){
            .set = "ftl.hot_cold=on;ftl.op_percent=90%", .dsm_hints = on});
        uint32_t piece = (uint32_t)(h->info->hint_bytes / 512);
        uint32_t want = on ? said[i].stream : 0;

        for (unsigned k = 0; k < i + on; k++) {
            send_hint(h, piece, 2 * piece, said[k].attributes);
        }
        g_assert_cmpuint(stream_of(h, piece), ==, want);
        g_assert_cmpuint(stream_of(h, 3 * piece - 8), ==, want);
        g_assert_cmpuint(stream_of(h, 0), ==, 0);
        g_assert_cmpuint(stream_of(h, 3 * piece), ==, 0);
        host_free(h);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/io/bad-fields", test_bad_fields);
    g_test_add_func("/nvme/io/prinfo", test_prinfo);
    g_test_add_func("/nvme/io/write-zeroes", test_write_zeroes);
    g_test_add_func("/nvme/io/dsm", test_dsm);
    g_test_add_func("/nvme/io/dsm-hints", test_dsm_hints);
    g_test_add_func("/nvme/io/dsm-frequency", test_dsm_frequency);
    g_test_add_func("/nvme/io/durable-log-late", test_durable_log_late);
    g_test_add_func("/nvme/io/odd-end", test_odd_end);
    g_test_add_func("/nvme/io/unmapped", test_unmapped);
    g_test_add_func("/nvme/io/compare", test_compare);
    g_test_add_func("/nvme/io/prp/shapes", test_prp_shapes);
    g_test_add_func("/nvme/io/prp/scattered", test_prp_scattered);
    g_test_add_func("/nvme/io/prp/full-list", test_prp_full_list);
    g_test_add_func("/nvme/io/prp/bad", test_prp_bad);
    g_test_add_func("/nvme/io/prp/large-pages", test_large_pages);
    g_test_add_func("/nvme/io/changing-memory", test_changing_memory);
    g_test_add_func("/nvme/io/cache", test_cache);
    g_test_add_func("/nvme/io/protected", test_protected);
    g_test_add_func("/nvme/io/latency", test_latency);
    g_test_add_func("/nvme/io/store/write-fails", test_store_write_fails);
    g_test_add_func("/nvme/io/store/read-fails", test_store_read_fails);
    g_test_add_func("/nvme/io/store/flush-fails", test_store_flush_fails);
    g_test_add_func("/nvme/io/store/order", test_order_at_store);
    g_test_add_func("/nvme/io/store/cut", test_cut_with_backlog);
    g_test_add_func("/nvme/io/store/too-slow", test_store_too_slow);
    g_test_add_func("/nvme/io/abort", test_abort);
    g_test_add_func("/nvme/io/reset-in-flight", test_reset_in_flight);
    g_test_add_func("/nvme/io/bounded-run", test_bounded_run);
    g_test_add_func("/nvme/io/bounded-bytes", test_bounded_bytes);
    return g_test_run();
}
