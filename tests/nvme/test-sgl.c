/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-sgl.c - scatter gather lists: each type of descriptor, lists of every
 * shape, the status of each fault, and hostile lists.
 */
#include "host.h"
#include "prng.h"

#define LIST HOST_LISTS
#define DATA (HOST_DATA + 0x100000)

static Host *ready(bool sgl)
{
    Host *h = host_new(&(HostOptions){.sgl = sgl});

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 256), ==, 0);
    return h;
}

static void put(Host *h, uint64_t at, unsigned type, uint64_t addr,
                uint32_t len)
{
    uint8_t *p = host_ram(h, at, 16);

    put_le64(p, addr);
    put_le32(p + 8, len);
    put_le32(p + 12, type << 28);
}

static NvmeSqe sgl(uint8_t opcode, uint64_t lba, uint32_t nblocks,
                   unsigned type, uint64_t addr, uint32_t len)
{
    NvmeSqe sqe = {.dw = {opcode | 1 << 14, 1}};

    sqe.dw[6] = (uint32_t)addr;
    sqe.dw[7] = (uint32_t)(addr >> 32);
    sqe.dw[8] = len;
    sqe.dw[9] = type << 28;
    sqe.dw[10] = (uint32_t)lba;
    sqe.dw[12] = nblocks - 1;
    return sqe;
}

static uint16_t code(Host *h, NvmeSqe sqe)
{
    return host_code(host_do(h, 1, &sqe).status);
}

/* A list of segments that begins at LIST: its descriptors are at `at`. */
static uint16_t read_list(Host *h, uint32_t nblocks, unsigned type,
                          unsigned ndescriptors)
{
    return code(h,
                sgl(NVME_IO_READ, 0, nblocks, type, LIST, ndescriptors * 16));
}

static void fill(Host *h, uint64_t addr, uint32_t bytes, unsigned seed)
{
    Prng r;
    uint8_t *p = host_ram(h, addr, bytes);

    prng_seed(&r, seed, 1);
    for (uint32_t i = 0; i < bytes; i++) {
        p[i] = (uint8_t)prng_below(&r, 256);
    }
}

/* Pieces of any size and address, in segments of any length: what is written
 * is read again, by a list of another shape. */
static void put_pieces(Host *h, Prng *r, uint64_t data, uint32_t bytes,
                       NvmeSqe *sqe)
{
    uint64_t at = LIST + 16 * prng_below(r, 9);
    uint64_t segment = at;
    uint64_t link = 0; /* the descriptor that leads to this segment; 0: SQE */

    while (true) {
        unsigned n = 1 + (unsigned)prng_below(r, 90);
        bool last;

        for (unsigned i = 0; i < n && bytes; i++, at += 16) {
            uint32_t len = (uint32_t)prng_below(r, MIN(bytes, 900) + 1);

            len = i == n - 1 && prng_below(r, 3) == 0 ? bytes : len;
            put(h, at, NVME_SGL_DATA, data, len);
            data += len;
            bytes -= len;
        }
        last = !bytes;
        if (link) {
            put(h, link, last ? NVME_SGL_LAST : NVME_SGL_SEGMENT, segment,
                (uint32_t)(at - segment) + (last ? 0 : 16));
        } else {
            NvmeSqe s =
                sgl(0, 0, 1, last ? NVME_SGL_LAST : NVME_SGL_SEGMENT, segment,
                    (uint32_t)(at - segment) + (last ? 0 : 16));

            memcpy(&sqe->dw[6], &s.dw[6], 16);
            sqe->dw[0] |= 1 << 14;
        }
        if (last) {
            return;
        }
        link = at;
        segment = at += 16 + 16 * prng_below(r, 4);
    }
}

static void test_shapes(void)
{
    Host *h = ready(true);
    Prng r;

    prng_seed(&r, 7, 7);
    for (unsigned i = 0; i < 200; i++) {
        uint32_t n = 1 + (uint32_t)prng_below(&r, 100);
        NvmeSqe sqe = {.dw = {NVME_IO_WRITE, 1, [10] = i, [12] = n - 1}};
        uint32_t odd = (uint32_t)prng_below(&r, 5000);

        fill(h, DATA + odd, n * 512, i);
        put_pieces(h, &r, DATA + odd, n * 512, &sqe);
        g_assert_cmphex(code(h, sqe), ==, 0);
        memset(host_ram(h, DATA + 0x80000, n * 512), 0, n * 512);
        sqe = (NvmeSqe){.dw = {NVME_IO_READ, 1, [10] = i, [12] = n - 1}};
        put_pieces(h, &r, DATA + 0x80000, n * 512, &sqe);
        g_assert_cmphex(code(h, sqe), ==, 0);
        g_assert_cmpmem(h->ram + DATA + 0x80000, n * 512, h->ram + DATA + odd,
                        n * 512);
        sqe.dw[0] ^= NVME_IO_READ ^ NVME_IO_COMPARE;
        g_assert_cmphex(code(h, sqe), ==, 0);
    }
    host_free(h);
}

/* One data block in the entry; longer than the data; too short. */
static void test_entry(void)
{
    Host *h = ready(true);

    fill(h, DATA + 3, 4096, 1);
    g_assert_cmphex(code(h, sgl(NVME_IO_WRITE, 0, 8, 0, DATA + 3, 4096)), ==,
                    0);
    memset(host_ram(h, DATA + 0x2000, 8192), 0xee, 8192);
    g_assert_cmphex(code(h, sgl(NVME_IO_READ, 0, 8, 0, DATA + 0x2001, 5000)),
                    ==, 0);
    g_assert_cmpmem(h->ram + DATA + 0x2001, 4096, h->ram + DATA + 3, 4096);
    g_assert_cmphex(h->ram[DATA + 0x3001], ==, 0xee);
    g_assert_cmphex(code(h, sgl(NVME_IO_READ, 0, 8, 0, DATA, 4095)), ==,
                    NVME_SC_SGL_LENGTH);
    g_assert_cmphex(code(h, sgl(NVME_IO_READ, 0, 8, 0, UINT64_MAX - 99, 4096)),
                    ==, NVME_SC_DATA_TRANSFER);
    g_assert_cmphex(code(h, sgl(NVME_IO_READ, 0, 8, 0, HOST_RAM_BYTES, 4096)),
                    ==, NVME_SC_DATA_TRANSFER);
    host_free(h);
}

/* A read of which the host wants some; from the host it stands for nothing. */
static void test_bucket(void)
{
    Host *h = ready(true);

    fill(h, DATA, 4096, 2);
    g_assert_cmphex(code(h, sgl(NVME_IO_WRITE, 0, 8, 0, DATA, 4096)), ==, 0);
    memset(host_ram(h, DATA + 0x2000, 4096), 0, 4096);
    put(h, LIST, NVME_SGL_BUCKET, 0, 1000);
    put(h, LIST + 16, NVME_SGL_DATA, DATA + 0x2000, 96);
    put(h, LIST + 32, NVME_SGL_BUCKET, DATA + 0x2060, 3000);
    g_assert_cmphex(read_list(h, 8, NVME_SGL_LAST, 3), ==, 0);
    g_assert_cmpmem(h->ram + DATA + 0x2000, 96, h->ram + DATA + 1000, 96);
    g_assert_cmpuint(h->ram[DATA + 0x2060] | h->ram[DATA + 0x2061], ==, 0);
    g_assert_cmphex(code(h, sgl(NVME_IO_READ, 0, 8, 1, 0, 4096)), ==, 0);
    put(h, LIST, NVME_SGL_BUCKET, 0, 1000);
    put(h, LIST + 16, NVME_SGL_DATA, DATA, 4096);
    g_assert_cmphex(code(h, sgl(NVME_IO_WRITE, 16, 8, NVME_SGL_LAST, LIST, 32)),
                    ==, 0);
    g_assert_cmphex(code(h, sgl(NVME_IO_COMPARE, 16, 8, 0, DATA, 4096)), ==, 0);
    host_free(h);
}

static void test_faults(void)
{
    Host *h = ready(true);
    NvmeSqe sqe = sgl(NVME_IO_READ, 0, 8, 0, DATA, 4096);

    sqe.dw[9] |= 1 << 24; /* an offset */
    g_assert_cmphex(code(h, sqe), ==, NVME_SC_SGL_TYPE);
    for (unsigned type = NVME_SGL_KEYED; type < 16; type++) {
        g_assert_cmphex(code(h, sgl(NVME_IO_READ, 0, 8, type, DATA, 4096)), ==,
                        NVME_SC_SGL_TYPE);
    }
    /* Lengths of segments. */
    for (unsigned type = NVME_SGL_SEGMENT; type <= NVME_SGL_LAST; type++) {
        g_assert_cmphex(code(h, sgl(NVME_IO_READ, 0, 8, type, LIST, 0)), ==,
                        NVME_SC_SGL_SEGMENT);
        g_assert_cmphex(code(h, sgl(NVME_IO_READ, 0, 8, type, LIST, 24)), ==,
                        NVME_SC_SGL_SEGMENT);
        g_assert_cmphex(
            code(h, sgl(NVME_IO_READ, 0, 8, type, HOST_RAM_BYTES, 16)), ==,
            NVME_SC_DATA_TRANSFER);
    }
    /* A segment in a last segment; not at the end; in the middle of another
     * read of the list. */
    put(h, LIST, NVME_SGL_SEGMENT, LIST, 16);
    g_assert_cmphex(read_list(h, 8, NVME_SGL_LAST, 1), ==, NVME_SC_SGL_SEGMENT);
    put(h, LIST, NVME_SGL_LAST, LIST, 16);
    g_assert_cmphex(read_list(h, 8, NVME_SGL_LAST, 1), ==, NVME_SC_SGL_SEGMENT);
    put(h, LIST + 16, NVME_SGL_DATA, DATA, 4096);
    g_assert_cmphex(read_list(h, 8, NVME_SGL_SEGMENT, 2), ==,
                    NVME_SC_SGL_COUNT);
    for (unsigned i = 0; i < 64; i++) {
        put(h, LIST + 16 * i, NVME_SGL_DATA, DATA, 1);
    }
    put(h, LIST + 16 * 63, NVME_SGL_LAST, LIST, 16);
    g_assert_cmphex(read_list(h, 8, NVME_SGL_SEGMENT, 65), ==,
                    NVME_SC_SGL_COUNT);
    /* Less than the data. */
    g_assert_cmphex(read_list(h, 8, NVME_SGL_LAST, 63), ==, NVME_SC_SGL_LENGTH);
    g_assert_cmphex(read_list(h, 8, NVME_SGL_SEGMENT, 63), ==,
                    NVME_SC_SGL_LENGTH);
    /* A wrong type behind the data is not looked at. */
    put(h, LIST, NVME_SGL_DATA, DATA, 4096);
    put(h, LIST + 16, NVME_SGL_KEYED, DATA, 4096);
    g_assert_cmphex(read_list(h, 8, NVME_SGL_LAST, 2), ==, 0);
    put(h, LIST, NVME_SGL_DATA, DATA, 4095);
    g_assert_cmphex(read_list(h, 8, NVME_SGL_LAST, 2), ==, NVME_SC_SGL_TYPE);
    /* PSDT. */
    sqe = sgl(NVME_IO_READ, 0, 8, 0, DATA, 4096);
    sqe.dw[0] ^= 3 << 14; /* 10b */
    g_assert_cmphex(code(h, sqe), ==, 0);
    sqe.dw[0] |= 1 << 14; /* 11b */
    g_assert_cmphex(code(h, sqe), ==, NVME_SC_INVALID_FIELD);
    host_free(h);
}

/* Lists that lead to themselves, and very long ones, end soon. */
static void test_hostile(void)
{
    Host *h = ready(true);
    unsigned before = h->dma_reads;

    put(h, LIST, NVME_SGL_SEGMENT, LIST, 16);
    g_assert_cmphex(read_list(h, 8, NVME_SGL_SEGMENT, 1), ==,
                    NVME_SC_SGL_COUNT);
    put(h, LIST, NVME_SGL_DATA, DATA, 0);
    put(h, LIST + 16, NVME_SGL_SEGMENT, LIST, 32);
    g_assert_cmphex(read_list(h, 8, NVME_SGL_SEGMENT, 2), ==,
                    NVME_SC_SGL_COUNT);
    g_assert_cmpuint(h->dma_reads - before, <, 1600);
    memset(host_ram(h, LIST, 0x8000), 0, 0x8000);
    before = h->dma_reads;
    g_assert_cmphex(
        code(h, sgl(NVME_IO_READ, 0, 8, NVME_SGL_LAST, LIST, 0xfffffff0)), ==,
        NVME_SC_SGL_COUNT);
    g_assert_cmpuint(h->dma_reads - before, <, 20);
    /* As many pieces as there may be. */
    for (unsigned i = 0; i < 1024; i++) {
        put(h, LIST + 16 * i, NVME_SGL_DATA, DATA + 8 * i, 4);
    }
    g_assert_cmphex(read_list(h, 8, NVME_SGL_LAST, 1024), ==, 0);
    put(h, LIST, NVME_SGL_DATA, DATA, 3);
    g_assert_cmphex(read_list(h, 8, NVME_SGL_LAST, 1025), ==,
                    NVME_SC_SGL_COUNT);
    host_free(h);
}

/* Commands with lists of their own; admin commands; a controller without. */
static void test_others(void)
{
    Host *h = ready(true);
    NvmeSqe sqe = sgl(NVME_IO_DSM, 0, 1, 0, DATA, 16);
    const NvmeIdController *id = (void *)(h->ram + HOST_DATA);

    sqe.dw[11] = 4;
    memset(host_ram(h, DATA, 32), 0, 32);
    put_le32(host_ram(h, DATA + 4, 4), 8);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 16, HOST_DATA), ==, 0);
    g_assert_cmphex(code(h, sqe), ==, 0);
    g_assert_false(ssd_mapped(h->ssd, 0, NULL));
    g_assert_true(ssd_mapped(h->ssd, 8, NULL));
    sqe = host_sqe(NVME_ADM_IDENTIFY, 0, HOST_DATA);
    sqe.dw[10] = 1;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    g_assert_cmphex(GUINT32_FROM_LE(id->sgls), ==, 0x50001);
    sqe.dw[0] |= 1 << 14;
    g_assert_cmphex(host_code(host_do(h, 0, &sqe).status), ==,
                    NVME_SC_INVALID_FIELD);
    host_free(h);
    h = ready(false);
    id = (void *)(h->ram + HOST_DATA);
    sqe.dw[0] = NVME_ADM_IDENTIFY;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    g_assert_cmphex(GUINT32_FROM_LE(id->sgls), ==, 0);
    g_assert_cmphex(code(h, sgl(NVME_IO_READ, 0, 8, 0, DATA, 4096)), ==,
                    NVME_SC_INVALID_FIELD);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/sgl/shapes", test_shapes);
    g_test_add_func("/nvme/sgl/entry", test_entry);
    g_test_add_func("/nvme/sgl/bucket", test_bucket);
    g_test_add_func("/nvme/sgl/faults", test_faults);
    g_test_add_func("/nvme/sgl/hostile", test_hostile);
    g_test_add_func("/nvme/sgl/others", test_others);
    return g_test_run();
}
