/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * protected.h - a namespace with metadata, for the tests of metadata and of
 * protection information: forms of it, commands, and a reference for its
 * content.
 *
 * The reference works bit by bit, and knows nothing of the controller's code.
 */
#ifndef VSSD_TESTS_NVME_PROTECTED_H
#define VSSD_TESTS_NVME_PROTECTED_H

#include "host.h"

#include "nvme-wire.h"

#define DATA  HOST_DATA
#define META  0x1800000U
#define LIST  0x1e00000U
#define GUARD 4
#define APP   2
#define REF   1
#define ALL   7
#define ACT   8
#define STC   (1U << 24)

/* ---- CRCs, bit by bit
 * ---------------------------------------------------------------- */

static inline uint16_t slow_crc16(uint16_t crc, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n * 8; i++) {
        bool bit = (p[i / 8] >> (7 - i % 8) & 1) ^ crc >> 15;

        crc = (uint16_t)(crc << 1 ^ (bit ? 0x8bb7 : 0));
    }
    return crc;
}

static inline uint64_t slow_crc64(uint64_t crc, const uint8_t *p, size_t n)
{
    crc = ~crc;
    for (size_t i = 0; i < n * 8; i++) {
        bool bit = (p[i / 8] >> i % 8 & 1) ^ (crc & 1);

        crc = crc >> 1 ^ (bit ? 0x9a6c9329ac4bc9b5ULL : 0);
    }
    return ~crc;
}

/* ---- drives -------------------------------------------------------------- */

typedef struct Form {
    const char *name;
    HostOptions o;
} Form;

static const Form forms[] = {
    {"512+8-type1", {.metadata = 8, .pi = 1}},
    {"512+8-type1-extended",
     {.metadata = 8, .pi = 1, .metadata_extended = true}},
    {"512+16-type2-first", {.metadata = 16, .pi = 2, .pi_first = true}},
    {"512+64-type3", {.metadata = 64, .pi = 3}},
    {"512+64-type1-extended-first",
     {.metadata = 64, .pi = 1, .pi_first = true, .metadata_extended = true}},
    {"512+16-no-pi", {.metadata = 16}},
    {"4096+8-type1", {.metadata = 8, .pi = 1, .block_bytes = 4096}},
    {"4096+16-type1-guard64",
     {.metadata = 16, .pi = 1, .pi_guard = 64, .block_bytes = 4096}},
    {"4096+64-type2-guard64-sts16",
     {.metadata = 64,
      .pi = 2,
      .pi_guard = 64,
      .pi_storage_bits = 16,
      .block_bytes = 4096,
      .metadata_extended = true}},
    {"4096+16-type3-guard64-sts8",
     {.metadata = 16,
      .pi = 3,
      .pi_guard = 64,
      .pi_storage_bits = 8,
      .block_bytes = 4096}},
};

/* A namespace, and the tags that commands to it have. */
typedef struct Dev {
    Host *h;
    HostOptions o;
    uint32_t block;
    uint32_t meta;
    uint32_t pi; /* bytes */
    uint32_t at; /* of protection information, in the metadata */
    uint16_t app;
    uint16_t mask;
    uint64_t storage;
    uint64_t ref; /* type 2 and 3: of block 0 */
} Dev;

static inline void describe(Dev *d, const HostOptions *o)
{
    d->o = *o;
    d->block = o->block_bytes ? o->block_bytes : 512;
    d->meta = o->metadata;
    d->pi = o->pi ? o->pi_guard == 64 ? 16 : 8 : 0;
    d->at = o->pi_first ? 0 : d->meta - d->pi;
    d->app = 0x1234;
    d->mask = 0xffff;
    d->storage = o->pi_storage_bits ? 0x5a : 0;
    d->ref = o->pi == 1 ? 0 : 0x100;
}

static inline void bring_up(Host *h)
{
    memset(h->cq, 0, sizeof(h->cq));
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 256), ==, 0);
}

static inline Dev start(const HostOptions *o)
{
    Dev d = {.h = host_new(o)};

    describe(&d, o);
    bring_up(d.h);
    return d;
}

static inline bool strips(const Dev *d, unsigned prinfo)
{
    return d->pi && prinfo & ACT && d->meta == d->pi;
}

static inline uint64_t ref_of(const Dev *d, uint64_t lba)
{
    return d->o.pi == 3 ? d->ref : d->ref + lba;
}

static inline uint64_t space_of(const Dev *d, uint64_t lba)
{
    unsigned bits = d->o.pi_guard == 64 ? 48 : 32;

    return d->storage << (bits - d->o.pi_storage_bits) | ref_of(d, lba);
}

/* The buffers of a command: at DATA and at META. */
static inline uint8_t *data_of(const Dev *d, uint32_t i)
{
    size_t step = d->block + (d->o.metadata_extended ? d->meta : 0);

    return d->h->ram + DATA + i * step;
}

static inline uint8_t *meta_of(const Dev *d, uint32_t i)
{
    return d->o.metadata_extended ? data_of(d, i) + d->block
                                  : d->h->ram + META + (size_t)i * d->meta;
}

static inline NvmeSqe rw(const Dev *d, uint8_t opcode, uint64_t lba, uint32_t n,
                         unsigned prinfo)
{
    bool extended = d->o.metadata_extended && !strips(d, prinfo);
    NvmeSqe sqe = host_sqe(opcode, 1, DATA);

    if (opcode != NVME_IO_VERIFY && opcode != NVME_IO_WRITE_ZEROES) {
        host_map(d->h, &sqe, DATA,
                 (uint64_t)n * (d->block + (extended ? d->meta : 0)));
    }
    sqe.dw[4] = META;
    sqe.dw[10] = (uint32_t)lba;
    sqe.dw[11] = (uint32_t)(lba >> 32);
    sqe.dw[12] = (n - 1) | prinfo << 26;
    sqe.dw[14] = (uint32_t)space_of(d, lba);
    sqe.dw[3] = (uint32_t)(space_of(d, lba) >> 32);
    sqe.dw[15] = d->app | (uint32_t)d->mask << 16;
    return sqe;
}

static inline uint16_t run(const Dev *d, const NvmeSqe *sqe)
{
    return host_code(host_do(d->h, 1, sqe).status);
}

static inline uint16_t io(const Dev *d, uint8_t opcode, uint64_t lba,
                          uint32_t n, unsigned prinfo)
{
    NvmeSqe sqe = rw(d, opcode, lba, n, prinfo);

    return run(d, &sqe);
}

/* PRCHK of all that the type allows. */
static inline unsigned all_of(const Dev *d)
{
    return d->o.pi == 3 ? GUARD | APP : ALL;
}

/* ---- the reference ------------------------------------------------------- */

static inline void put_be(uint8_t *p, unsigned n, uint64_t v)
{
    while (n--) {
        p[n] = (uint8_t)v;
        v >>= 8;
    }
}

static inline void put_tuple(const Dev *d, const uint8_t *data, uint8_t *meta,
                             uint16_t app, uint64_t space)
{
    uint8_t *p = meta + d->at;

    if (d->o.pi_guard == 64) {
        put_be(p, 8, slow_crc64(slow_crc64(0, data, d->block), meta, d->at));
        put_be(p + 8, 2, app);
        put_be(p + 10, 6, space);
    } else if (d->pi) {
        put_be(p, 2, slow_crc16(slow_crc16(0, data, d->block), meta, d->at));
        put_be(p + 2, 2, app);
        put_be(p + 4, 4, space);
    }
}

/* Content number `seed` of a block. */
static inline void fill(const Dev *d, uint8_t *data, uint8_t *meta,
                        uint64_t lba, uint64_t seed)
{
    for (uint32_t i = 0; i < d->block; i += 8) {
        put_le64(data + i, seed * 0x9e3779b97f4a7c15ULL + lba + i);
    }
    for (uint32_t i = 0; i < d->meta; i += 8) {
        put_le64(meta + i, seed * 0xbf58476d1ce4e5b9ULL + lba + i);
    }
    put_tuple(d, data, meta, d->app, space_of(d, lba));
}

static inline void fill_buffer(const Dev *d, uint64_t lba, uint32_t n,
                               uint64_t seed)
{
    for (uint32_t i = 0; i < n; i++) {
        fill(d, data_of(d, i), meta_of(d, i), lba + i, seed);
    }
}

static inline void clear_buffer(const Dev *d, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        memset(data_of(d, i), 0xee, d->block);
        memset(meta_of(d, i), 0xee, d->meta);
    }
}

static inline void check_buffer(const Dev *d, uint64_t lba, uint32_t n,
                                uint64_t seed)
{
    g_autofree uint8_t *data = g_malloc(d->block);
    g_autofree uint8_t *meta = g_malloc(d->meta);

    for (uint32_t i = 0; i < n; i++) {
        fill(d, data, meta, lba + i, seed);
        g_assert_cmpmem(data_of(d, i), d->block, data, d->block);
        g_assert_cmpmem(meta_of(d, i), d->meta, meta, d->meta);
    }
}

static inline void write_seed(const Dev *d, uint64_t lba, uint32_t n,
                              uint64_t seed)
{
    fill_buffer(d, lba, n, seed);
    g_assert_cmphex(io(d, NVME_IO_WRITE, lba, n, all_of(d)), ==, 0);
}

static inline void check_seed(const Dev *d, uint64_t lba, uint32_t n,
                              uint64_t seed)
{
    clear_buffer(d, n);
    g_assert_cmphex(io(d, NVME_IO_READ, lba, n, all_of(d)), ==, 0);
    check_buffer(d, lba, n, seed);
}

/* Data and metadata of blocks that were never written, or are deallocated. */
static inline void check_deallocated(const Dev *d, uint64_t lba, uint32_t n)
{
    clear_buffer(d, n);
    g_assert_cmphex(io(d, NVME_IO_READ, lba, n, all_of(d)), ==, 0);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < d->block; k++) {
            g_assert_cmphex(data_of(d, i)[k], ==, 0);
        }
        for (uint32_t k = 0; k < d->meta; k++) {
            bool pi = k - d->at < d->pi;

            g_assert_cmphex(meta_of(d, i)[k], ==, pi ? 0xff : 0);
        }
    }
}

/* The newest entry of the error log. */
static inline void check_error(const Dev *d, uint16_t status, uint64_t lba)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_GET_LOG_PAGE, 0xffffffff, LIST);
    const NvmeErrorLogEntry *e = (void *)(d->h->ram + LIST);

    sqe.dw[10] = 1 | 15U << 16;
    g_assert_cmphex(host_do(d->h, 0, &sqe).status, ==, 0);
    g_assert_cmphex(host_code(GUINT16_FROM_LE(e->status) >> 1), ==, status);
    g_assert_cmpuint(GUINT64_FROM_LE(e->lba), ==, lba);
}

static inline void trim(const Dev *d, uint64_t lba, uint32_t n)
{
    NvmeSqe sqe = host_sqe(NVME_IO_DSM, 1, LIST);

    memset(d->h->ram + LIST, 0, 16);
    put_le32(d->h->ram + LIST + 4, n);
    put_le64(d->h->ram + LIST + 8, lba);
    sqe.dw[11] = 4;
    g_assert_cmphex(run(d, &sqe), ==, 0);
}

static inline void zeroes(const Dev *d, uint64_t lba, uint32_t n,
                          unsigned prinfo, bool deac)
{
    NvmeSqe sqe = rw(d, NVME_IO_WRITE_ZEROES, lba, n, prinfo);

    sqe.dw[12] |= deac ? 1U << 25 : 0;
    g_assert_cmphex(run(d, &sqe), ==, 0);
}

static inline void check_zero_pi(const Dev *d, uint64_t lba, uint32_t n)
{
    g_autofree uint8_t *zero = g_malloc0(d->block);
    g_autofree uint8_t *meta = g_malloc0(d->meta);

    clear_buffer(d, n);
    g_assert_cmphex(io(d, NVME_IO_READ, lba, n, all_of(d)), ==, 0);
    for (uint32_t i = 0; i < n; i++) {
        put_tuple(d, zero, meta, d->app, space_of(d, lba + i));
        g_assert_cmpmem(data_of(d, i), d->block, zero, d->block);
        g_assert_cmpmem(meta_of(d, i), d->meta, meta, d->meta);
    }
}

static inline void add(const char *what, void (*f)(gconstpointer))
{
    for (unsigned i = 0; i < G_N_ELEMENTS(forms); i++) {
        g_autofree char *path =
            g_strdup_printf("/nvme/%s/%s", what, forms[i].name);

        g_test_add_data_func(path, &forms[i], f);
    }
}

#endif
