/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-fields-sets.c - the status of each bad field of data pointers and of
 * what a drive has by option: SGLs, Copy across namespaces, zones, key-value
 * pairs, reservations, FDP, secondary controllers, the Host Memory Buffer.
 *
 * Rows on SGLs, reservations and I/O Management were compared with the text of
 * Base; the others with the clauses that the code cites.
 */
#include "fields.h"
#include "key-value.h"
#include "zoned.h"

enum { GET = NVME_ADM_GET_FEATURES, SET = NVME_ADM_SET_FEATURES };

/* ---- data pointers ------------------------------------------------------- */

static void put_prp(Host *h, unsigned i, uint64_t at)
{
    put_le64(host_ram(h, HOST_LISTS + 8 * i, 8), at);
}

/* Base 4.3.1, PRP entries and lists. */
static void test_prp(void)
{
#define TWO_PAGES   .dw = {0, 0, 15}
#define THREE_PAGES .dw = {0, 0, 23}
    static const Row io[] = {
        {.opcode = NVME_IO_READ,
         .nsid = 1,
         TWO_PAGES,
         .prp2 = HOST_DATA + 4096 + 512,
         .code = NVME_SC_PRP_OFFSET},
        {.opcode = NVME_IO_WRITE,
         .nsid = 1,
         TWO_PAGES,
         .prp2 = HOST_DATA + 4096 + 4,
         .code = NVME_SC_PRP_OFFSET},
        {.opcode = NVME_IO_READ,
         .nsid = 1,
         TWO_PAGES,
         .prp2 = HOST_RAM_BYTES,
         .code = NVME_SC_DATA_TRANSFER},
        /* The first entry has an offset; then the transfer has two more. */
        {.opcode = NVME_IO_READ,
         .nsid = 1,
         TWO_PAGES,
         .prp1 = HOST_DATA + 512,
         .prp2 = HOST_LISTS + 4,
         .code = NVME_SC_PRP_OFFSET},
        {.opcode = NVME_IO_WRITE,
         .nsid = 1,
         THREE_PAGES,
         .prp2 = HOST_LISTS + 2,
         .code = NVME_SC_PRP_OFFSET},
        {.opcode = NVME_IO_READ,
         .nsid = 1,
         THREE_PAGES,
         .prp2 = HOST_RAM_BYTES,
         .code = NVME_SC_DATA_TRANSFER},
        /* Of the list: a good entry, then one with an offset. */
        {.opcode = NVME_IO_READ,
         .nsid = 1,
         THREE_PAGES,
         .prp2 = HOST_LISTS,
         .code = NVME_SC_PRP_OFFSET},
        {.opcode = NVME_IO_WRITE,
         .nsid = 1,
         THREE_PAGES,
         .prp2 = HOST_LISTS + 16,
         .code = NVME_SC_DATA_TRANSFER},
        /* A list that ends at its page has a pointer to the next one last. */
        {.opcode = NVME_IO_READ,
         .nsid = 1,
         THREE_PAGES,
         .prp2 = HOST_LISTS + 4096 - 8,
         .code = NVME_SC_PRP_OFFSET},
        {.opcode = NVME_IO_DSM,
         .nsid = 1,
         .dw = {255, 4},
         .prp1 = HOST_DATA + 2048,
         .prp2 = HOST_DATA + 4096 + 8,
         .code = NVME_SC_PRP_OFFSET},
    };
    static const Row admin[] = {
        {.opcode = NVME_ADM_IDENTIFY,
         .dw = {1},
         .prp1 = HOST_DATA + 512,
         .prp2 = HOST_DATA + 4096 + 512,
         .code = NVME_SC_PRP_OFFSET},
        {.opcode = NVME_ADM_GET_LOG_PAGE,
         .nsid = ALL,
         .dw = {0x01 | 1023 << 16},
         .prp1 = HOST_DATA + 4,
         .prp2 = HOST_DATA + 4096 + 4,
         .code = NVME_SC_PRP_OFFSET},
        {.opcode = NVME_ADM_FIRMWARE_DOWNLOAD,
         .dw = {2047},
         .prp2 = HOST_DATA + 4096 + 4,
         .code = NVME_SC_PRP_OFFSET},
    };
    Host *h = ready(NULL);

    put_prp(h, 0, HOST_DATA + 4096);
    put_prp(h, 1, HOST_DATA + 8192 + 512);
    put_prp(h, 2, HOST_DATA + 4096);
    put_prp(h, 3, HOST_RAM_BYTES);
    put_prp(h, 511, HOST_LISTS + 8);
    CHECK(h, 1, io);
    CHECK(h, 0, admin);
    host_free(h);
}

typedef struct Descriptor {
    uint64_t addr;
    uint32_t length;
    uint8_t id;
    uint16_t code;
} Descriptor;

enum {
    SGL_DATA = 0x00,
    SGL_BUCKET = 0x10,
    SGL_SEGMENT = 0x20,
    SGL_LAST = 0x30,
};

static uint16_t read_by(Host *h, const Descriptor *d, uint32_t n)
{
    NvmeSqe sqe = host_sqe(NVME_IO_READ, 1, d->addr);

    sqe.dw[0] |= 1 << 14;
    sqe.dw[8] = d->length;
    sqe.dw[9] = (uint32_t)d->id << 24;
    sqe.dw[12] = n - 1;
    return host_do(h, 1, &sqe).status;
}

static void check_sgl(Host *h, const Descriptor *d, uint32_t n)
{
    uint16_t want =
        d->code ? d->code | NVME_SC_MORE | NVME_SC_DNR : NVME_SC_SUCCESS;

    g_assert_cmphex(read_by(h, d, n), ==, want);
    if (want) {
        g_assert_cmphex(admin_log(h, 0x01, 0, 64, 0), ==, 0);
        g_assert_cmphex(get_le16(admin_data(h) + 12) >> 1, ==, want);
    }
}

/* Base 4.3.2, SGL descriptors. */
static void test_sgl(void)
{
    static const Descriptor row[] = {
        {HOST_DATA, 512, 0x00, 0},
        {HOST_DATA, 511, 0x00, NVME_SC_SGL_LENGTH}, /* less than the data */
        {HOST_DATA, 0, 0x00, NVME_SC_SGL_LENGTH},
        {HOST_DATA, 512, 0x01, NVME_SC_SGL_TYPE}, /* offset: not of PCIe */
        {HOST_DATA, 512, 0x0a, NVME_SC_SGL_TYPE},
        {HOST_DATA, 512, 0x40, NVME_SC_SGL_TYPE}, /* keyed */
        {HOST_DATA, 512, 0x50, NVME_SC_SGL_TYPE}, /* transport */
        {HOST_DATA, 512, 0x60, NVME_SC_SGL_TYPE}, /* reserved */
        {HOST_DATA, 512, 0xf0, NVME_SC_SGL_TYPE},
        {HOST_LISTS, 0, 0x20, NVME_SC_SGL_SEGMENT}, /* not a multiple of 16 */
        {HOST_LISTS, 15, 0x30, NVME_SC_SGL_SEGMENT},
        {HOST_LISTS, 24, 0x30, NVME_SC_SGL_SEGMENT},
        {HOST_LISTS + 4, 16, 0x20, NVME_SC_SGL_SEGMENT}, /* not of a qword */
        {HOST_LISTS + 1, 16, 0x30, NVME_SC_SGL_SEGMENT},
        {HOST_LISTS, 16, 0x32, NVME_SC_SGL_TYPE},
        {HOST_RAM_BYTES, 16, 0x30, NVME_SC_DATA_TRANSFER},
    };
    Host *h = ready(&(HostOptions){.sgl = true});

    for (unsigned i = 0; i < G_N_ELEMENTS(row); i++) {
        check_sgl(h, &row[i], 1);
    }
    host_free(h);
}

/* Base 4.2.3, Generic Command Status Values, 0Dh to 11h: what a segment may
 * have, and where. */
static void test_sgl_list(void)
{
    static const struct {
        Descriptor first;
        Descriptor at[3]; /* in the segment */
    } row[] = {
        {{HOST_LISTS, 32, SGL_LAST, 0},
         {{HOST_DATA, 512, SGL_DATA, 0}, {HOST_DATA, 512, SGL_DATA, 0}}},
        {{HOST_LISTS, 48, SGL_SEGMENT, 0},
         {{HOST_DATA, 512, SGL_DATA, 0},
          {0, 256, SGL_BUCKET, 0},
          {HOST_DATA, 256, SGL_DATA, 0}}},
        {{HOST_LISTS, 32, SGL_LAST, NVME_SC_SGL_LENGTH},
         {{HOST_DATA, 512, SGL_DATA, 0}, {HOST_DATA, 500, SGL_DATA, 0}}},
        /* Not the last of its segment. */
        {{HOST_LISTS, 32, SGL_SEGMENT, NVME_SC_SGL_COUNT},
         {{HOST_LISTS + 64, 16, SGL_SEGMENT, 0}, {HOST_DATA, 1024, 0, 0}}},
        {{HOST_LISTS, 32, SGL_SEGMENT, NVME_SC_SGL_COUNT},
         {{HOST_LISTS + 64, 16, SGL_LAST, 0}, {HOST_DATA, 1024, 0, 0}}},
        {{HOST_LISTS, 48, SGL_SEGMENT, NVME_SC_SGL_COUNT},
         {{HOST_DATA, 512, SGL_DATA, 0},
          {HOST_LISTS + 64, 16, SGL_LAST, 0},
          {HOST_DATA, 512, SGL_DATA, 0}}},
        /* In the last segment. */
        {{HOST_LISTS, 32, SGL_LAST, NVME_SC_SGL_SEGMENT},
         {{HOST_DATA, 512, SGL_DATA, 0}, {HOST_LISTS + 64, 16, SGL_LAST, 0}}},
        {{HOST_LISTS, 16, SGL_LAST, NVME_SC_SGL_SEGMENT},
         {{HOST_LISTS + 64, 16, SGL_SEGMENT, 0}}},
        /* It leads to itself. */
        {{HOST_LISTS, 16, SGL_SEGMENT, NVME_SC_SGL_COUNT},
         {{HOST_LISTS, 16, SGL_SEGMENT, 0}}},
        {{HOST_LISTS, 16, SGL_SEGMENT, NVME_SC_SGL_SEGMENT},
         {{HOST_LISTS + 8, 8, SGL_LAST, 0}}},
        {{HOST_LISTS, 16, SGL_SEGMENT, NVME_SC_SGL_SEGMENT},
         {{HOST_LISTS + 2, 16, SGL_LAST, 0}}},
        {{HOST_LISTS, 32, SGL_LAST, NVME_SC_SGL_TYPE},
         {{HOST_DATA, 512, SGL_DATA, 0}, {HOST_DATA, 512, 0x40, 0}}},
        {{HOST_LISTS, 32, SGL_LAST, NVME_SC_SGL_TYPE},
         {{HOST_DATA, 512, SGL_DATA, 0}, {HOST_DATA, 512, 0x11, 0}}},
        {{HOST_LISTS, 16, SGL_SEGMENT, NVME_SC_DATA_TRANSFER},
         {{HOST_RAM_BYTES, 16, SGL_LAST, 0}}},
    };
    Host *h = ready(&(HostOptions){.sgl = true});

    for (unsigned i = 0; i < G_N_ELEMENTS(row); i++) {
        for (unsigned k = 0; k < 3; k++) {
            uint8_t *p = host_ram(h, HOST_LISTS + 16 * k, 16);

            memset(p, 0, 16);
            put_le64(p, row[i].at[k].addr);
            put_le32(p + 8, row[i].at[k].length);
            p[15] = row[i].at[k].id;
        }
        check_sgl(h, &row[i].first, 2);
    }
    host_free(h);
}

/* ---- Copy ---------------------------------------------------------------- */

/* NVM 3.3.2: formats 2h and 3h (Base 5.1.25.1.14, CDFE), limits. */
static void test_copy(void)
{
    /* Two ranges of 600 blocks each: MCL is 1024. */
    static const char long_sum[] = "00000000000000000000000000000000"
                                   "57020000000000000000000000000000"
                                   "00000000000000000000000000000000"
                                   "5702";
    static const Row before[] = {
        ROW(NVME_IO_COPY, 1, (16, 0, 2 << 8), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_COPY, 1, (16, 0, 3 << 8), NVME_SC_INVALID_FIELD),
        ROW_DATA(NVME_IO_COPY, 1, (2000, 0, 1), NVME_SC_COMMAND_SIZE, long_sum),
        ROW_DATA(NVME_IO_COPY, 1, (16, 0, 1 << 8), NVME_SC_LBA_RANGE,
                 "0000000000000000ffffffffffffffff"),
        ROW(NVME_IO_COPY, 1, (UINT32_MAX, UINT32_MAX), NVME_SC_LBA_RANGE),
        /* 128 ranges, of two pages. */
        {.opcode = NVME_IO_COPY,
         .nsid = 1,
         .dw = {16, 0, 127},
         .prp1 = HOST_DATA + 2048,
         .prp2 = HOST_DATA + 4096 + 8,
         .code = NVME_SC_PRP_OFFSET},
    };
    static const Row enable[] = {
        ROW_DATA(SET, 0, (0x16), 0, "000000000c00"),
    };
    static const Row after[] = {
        ROW(NVME_IO_COPY, 1, (16, 0, 2 << 8), NVME_SC_INVALID_NSID), /* 0 */
        ROW_DATA(NVME_IO_COPY, 1, (16, 0, 2 << 8), NVME_SC_INVALID_NSID,
                 "01010000"),
        ROW_DATA(NVME_IO_COPY, 1, (16, 0, 3 << 8), NVME_SC_INVALID_FIELD,
                 "05000000"), /* not active */
        ROW_DATA(NVME_IO_COPY, 1, (16, 0, 2 << 8), NVME_SC_INVALID_FIELD,
                 "ffffffff"),
        ROW_DATA(NVME_IO_COPY, 1, (16, 0, 2 << 8), NVME_SC_INCOMPATIBLE_NS,
                 "03000000"), /* blocks of 4 KiB */
        ROW_DATA(NVME_IO_COPY, 1, (16, 0, 2 << 8), NVME_SC_LBA_RANGE,
                 "0200000000000000ffffffffffffff00"),
        ROW_DATA(NVME_IO_COPY, 1, (0, 0, 2 << 8), NVME_SC_OVERLAPPING_IO,
                 "01000000"),
        ROW_DATA(NVME_IO_COPY, 1, (0, 0, 2 << 8), 0, "02000000"),
        ROW_DATA(NVME_IO_COPY, 1, (0, 0, 4 << 8), NVME_SC_INVALID_FIELD,
                 "02000000"),
    };
    Host *h = ready(&(HostOptions){.namespaces = "8M:512;8M:512;rest:4096"});

    CHECK(h, 1, before);
    CHECK(h, 0, enable);
    CHECK(h, 1, after);
    host_free(h);
}

/* ---- metadata ------------------------------------------------------------ */

/* Base 4.1, MPTR; NVM 5.2.1 and 5.3: the namespaces have 8 bytes of metadata,
 * and protection information of type 1. */
static void test_metadata(void)
{
    enum { MANAGE = NVME_ADM_NS_MANAGEMENT };
    static const Row admin[] = {
        /* DPS: type, and reserved bits. */
        ROW_DATA(MANAGE, 0, (0), NVME_SC_INVALID_FIELD,
                 "0100000000000000010000000000000000000000000000000000010000"
                 "04"),
        ROW_DATA(MANAGE, 0, (0), NVME_SC_INVALID_FIELD,
                 "0100000000000000010000000000000000000000000000000000010000"
                 "11"),
        /* FLBAS: metadata behind the blocks of a format without any. */
        ROW_DATA(MANAGE, 0, (0), NVME_SC_INVALID_FORMAT,
                 "010000000000000001000000000000000000000000000000000010"),
    };
    Host *h =
        ready(&(HostOptions){.namespaces = "8M;8M", .metadata = 8, .pi = 1});
    NvmeSqe sqe = host_rw(h, NVME_IO_READ, 0, 1, HOST_DATA);

    CHECK(h, 0, admin);
    for (unsigned i = 0; i < 4; i++) {
        sqe.dw[4] = HOST_DATA + 8192 + i; /* of a dword */
        g_assert_cmphex(host_do(h, 1, &sqe).status, ==,
                        i ? NVME_SC_INVALID_FIELD | NVME_SC_MORE | NVME_SC_DNR
                          : 0);
    }
    sqe.dw[4] = 0xfffffffc;
    sqe.dw[5] = UINT32_MAX;
    g_assert_cmphex(host_do(h, 1, &sqe).status, ==,
                    NVME_SC_DATA_TRANSFER | NVME_SC_MORE | NVME_SC_DNR);
    host_free(h);
}

/* ---- key-value pairs ----------------------------------------------------- */

/* KV 3.2. */
static void test_key_value(void)
{
    enum { KEY = 1 }; /* one byte of 0 */
    static const Row row[] = {
        ROW(NVME_KV_LIST, 2, (0, 1), NVME_SC_INVALID_OPCODE), /* another set */
        ROW(NVME_IO_DSM, 1, (0), NVME_SC_INVALID_OPCODE),
        ROW(NVME_KV_STORE, 0, (0, 1), NVME_SC_INVALID_NSID),
        ROW(NVME_KV_STORE, 257, (0, 1), NVME_SC_INVALID_NSID),
        ROW(NVME_KV_STORE, 3, (0, 1), NVME_SC_INVALID_FIELD),
        ROW(NVME_KV_STORE, ALL, (0, 1), NVME_SC_INVALID_FIELD),
        ROW(NVME_KV_STORE, 1, (0, 0), NVME_SC_INVALID_KEY_SIZE),
        ROW(NVME_KV_STORE, 1, (0, 17), NVME_SC_INVALID_KEY_SIZE),
        ROW(NVME_KV_STORE, 1, (0, 255), NVME_SC_INVALID_KEY_SIZE),
        ROW(NVME_KV_RETRIEVE, 1, (0, 0), NVME_SC_INVALID_KEY_SIZE),
        ROW(NVME_KV_DELETE, 1, (0, 0), NVME_SC_INVALID_KEY_SIZE),
        ROW(NVME_KV_DELETE, 1, (0, 17), NVME_SC_INVALID_KEY_SIZE),
        ROW(NVME_KV_EXIST, 1, (0, 0), NVME_SC_INVALID_KEY_SIZE),
        ROW(NVME_KV_EXIST, 1, (0, 17), NVME_SC_INVALID_KEY_SIZE),
        ROW(NVME_KV_LIST, 1, (4096, 17), NVME_SC_INVALID_KEY_SIZE),
        /* Options: reserved ones, in turn. */
        ROW(NVME_KV_STORE, 1, (8, KEY | 0x80 << 8), NVME_SC_INVALID_FIELD),
        ROW(NVME_KV_STORE, 1, (8, KEY | 0x08 << 8), NVME_SC_INVALID_FIELD),
        ROW(NVME_KV_RETRIEVE, 1, (8, KEY | 0x80 << 8), NVME_SC_INVALID_FIELD),
        /* Sizes of values and of buffers. */
        ROW(NVME_KV_STORE, 1, (UINT32_MAX, KEY), NVME_SC_INVALID_VALUE_SIZE),
        ROW(NVME_KV_RETRIEVE, 1, (UINT32_MAX, KEY), NVME_SC_INVALID_FIELD),
        ROW(NVME_KV_LIST, 1, (UINT32_MAX, KEY), NVME_SC_INVALID_FIELD),
        ROW(NVME_KV_LIST, 1, (0, KEY), NVME_SC_INVALID_FIELD),
        ROW_AT(NVME_KV_STORE, 1, (8, KEY), NVME_SC_PRP_OFFSET, HOST_DATA + 1),
        ROW_AT(NVME_KV_LIST, 1, (64, KEY), NVME_SC_PRP_OFFSET, HOST_DATA + 1),
        ROW(NVME_KV_RETRIEVE, 1, (0, KEY), NVME_SC_KEY_NOT_THERE),
        ROW(NVME_KV_DELETE, 1, (0, KEY), NVME_SC_KEY_NOT_THERE),
        ROW(NVME_KV_EXIST, 1, (0, KEY), NVME_SC_KEY_NOT_THERE),
        ROW(NVME_KV_STORE, 1, (8, KEY | 1 << 8),
            NVME_SC_KEY_NOT_THERE),                  /* it must exist */
        ROW(NVME_KV_STORE, 1, (8, KEY | 2 << 8), 0), /* it must not */
        ROW(NVME_KV_STORE, 1, (8, KEY | 2 << 8), NVME_SC_KEY_EXISTS),
        ROW_AT(NVME_KV_RETRIEVE, 1, (8, KEY), NVME_SC_PRP_OFFSET,
               HOST_DATA + 1),
        ROW(NVME_KV_EXIST, 1, (0, KEY), 0),
    };
    /* They are no source of a Copy (CDFE). */
    static const Row enable[] = {
        ROW_DATA(SET, 0, (0x16), 0, "000000000c00"),
    };
    static const Row copy[] = {
        ROW_DATA(NVME_IO_COPY, 2, (16, 0, 2 << 8), NVME_SC_INCOMPATIBLE_NS,
                 "01000000"),
    };
    Host *h = kv_host(&(HostOptions){.namespaces = "8M:kv;rest"});

    CHECK(h, 1, row);
    CHECK(h, 0, enable);
    CHECK(h, 1, copy);
    host_free(h);
}

/* ---- zones --------------------------------------------------------------- */

/* ZNS 3.4. */
static void test_zones(void)
{
    static const Row row[] = {
        ROW(NVME_IO_DSM, 1, (0), NVME_SC_INVALID_OPCODE),
        ROW(NVME_IO_COPY, 1, (0), NVME_SC_INVALID_OPCODE),
        ROW(NVME_IO_ZONE_SEND, 1, (0, 0, 0, 0),
            NVME_SC_INVALID_FIELD), /* ZSA */
        ROW(NVME_IO_ZONE_SEND, 1, (0, 0, 0, 6), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_ZONE_SEND, 1, (0, 0, 0, 0x12), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_ZONE_SEND, 1, (0, 0, 0, 0xff), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_ZONE_SEND, 1, (0, 0, 0, 0x106), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_ZONE_SEND, 1, (0, 0, 0, 0x110),
            NVME_SC_INVALID_FIELD), /* Select All of a descriptor */
        ROW(NVME_IO_ZONE_SEND, 1, (1, 0, 0, 3),
            NVME_SC_INVALID_FIELD), /* ZSLBA */
        ROW(NVME_IO_ZONE_SEND, 1, (0, 1U << 30, 0, 3), NVME_SC_LBA_RANGE),
        ROW(NVME_IO_ZONE_SEND, 0, (0, 0, 0, 3), NVME_SC_INVALID_NSID),
        ROW(NVME_IO_ZONE_SEND, 2, (0, 0, 0, 3), NVME_SC_INVALID_NSID),
        ROW(NVME_IO_ZONE_SEND, ALL, (0, 0, 0, 3), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_ZONE_SEND, 1, (0, 0, 0, 1), NVME_SC_ZONE_TRANSITION),
        ROW(NVME_IO_ZONE_SEND, 1, (0, 0, 0, 5), NVME_SC_ZONE_TRANSITION),
        ROW_AT(NVME_IO_ZONE_SEND, 1, (0, 0, 0, 0x10), NVME_SC_PRP_OFFSET,
               HOST_DATA + 1),
        ROW(NVME_IO_ZONE_RECEIVE, 1, (0, 0, 15, 2),
            NVME_SC_INVALID_FIELD), /* ZRA */
        ROW(NVME_IO_ZONE_RECEIVE, 1, (0, 0, 15, 0xff), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_ZONE_RECEIVE, 1, (0, 0, 15, 0x800),
            NVME_SC_INVALID_FIELD), /* ZRASF */
        ROW(NVME_IO_ZONE_RECEIVE, 1, (0, 0, 15, 0x900), 0),
        ROW(NVME_IO_ZONE_RECEIVE, 1, (0, 0, 15, 0xa00), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_ZONE_RECEIVE, 1, (0, 0, 15, 0xf00), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_ZONE_RECEIVE, 1, (0, 0, 1 << 20, 0),
            NVME_SC_INVALID_FIELD), /* more than MDTS */
        ROW(NVME_IO_ZONE_RECEIVE, 1, (0, 1U << 30, 15), NVME_SC_LBA_RANGE),
        ROW(NVME_IO_ZONE_RECEIVE, 0, (0, 0, 15), NVME_SC_INVALID_NSID),
        ROW(NVME_IO_ZONE_RECEIVE, ALL, (0, 0, 15), NVME_SC_INVALID_FIELD),
        ROW_AT(NVME_IO_ZONE_RECEIVE, 1, (0, 0, 15), NVME_SC_PRP_OFFSET,
               HOST_DATA + 1),
        ROW(NVME_IO_ZONE_APPEND, 1, (1, 0, 0), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_ZONE_APPEND, 1, (0, 0, 16), NVME_SC_INVALID_FIELD), /*ZASL*/
        ROW(NVME_IO_ZONE_APPEND, 1, (0, 1U << 30, 0), NVME_SC_LBA_RANGE),
        ROW(NVME_IO_ZONE_APPEND, 0, (0, 0, 0), NVME_SC_INVALID_NSID),
        ROW(NVME_IO_WRITE, 1, (1, 0, 0), NVME_SC_ZONE_INVALID_WRITE),
        ROW(NVME_IO_WRITE_ZEROES, 1, (0, 0, 0), NVME_SC_INVALID_OPCODE),
        ROW(NVME_IO_WRITE, 1, (ZONE, 1U << 30, 0), NVME_SC_LBA_RANGE),
        ROW(NVME_IO_READ, 1, (ZONE - 1, 0, 1), NVME_SC_ZONE_BOUNDARY),
        /* Limits: three open, four active. */
        ROW(NVME_IO_ZONE_SEND, 1, (0 * ZONE, 0, 0, 3), 0),
        ROW(NVME_IO_ZONE_SEND, 1, (1 * ZONE, 0, 0, 3), 0),
        ROW(NVME_IO_ZONE_SEND, 1, (2 * ZONE, 0, 0, 3), 0),
        ROW(NVME_IO_ZONE_SEND, 1, (3 * ZONE, 0, 0, 3), NVME_SC_TOO_MANY_OPEN),
        ROW(NVME_IO_WRITE, 1, (3 * ZONE, 0, 0), NVME_SC_TOO_MANY_OPEN),
        ROW(NVME_IO_ZONE_APPEND, 1, (3 * ZONE, 0, 0), NVME_SC_TOO_MANY_OPEN),
        ROW(NVME_IO_ZONE_SEND, 1, (0, 0, 0, 1), 0), /* to Closed */
        ROW(NVME_IO_ZONE_SEND, 1, (3 * ZONE, 0, 0, 3), 0),
        ROW(NVME_IO_ZONE_SEND, 1, (1 * ZONE, 0, 0, 1), 0),
        ROW(NVME_IO_ZONE_SEND, 1, (4 * ZONE, 0, 0, 3), NVME_SC_TOO_MANY_ACTIVE),
        ROW(NVME_IO_WRITE, 1, (4 * ZONE, 0, 0), NVME_SC_TOO_MANY_ACTIVE),
        ROW(NVME_IO_ZONE_SEND, 1, (4 * ZONE, 0, 0, 0x10),
            NVME_SC_TOO_MANY_ACTIVE),
        /* A descriptor is of an empty zone. */
        ROW(NVME_IO_ZONE_SEND, 1, (3 * ZONE, 0, 0, 0x10),
            NVME_SC_ZONE_TRANSITION),
        ROW(NVME_IO_ZONE_SEND, 1, (0, 0, 0, 2), 0), /* to Full */
        ROW(NVME_IO_WRITE, 1, (0, 0, 0), NVME_SC_ZONE_FULL),
        ROW(NVME_IO_ZONE_APPEND, 1, (0, 0, 0), NVME_SC_ZONE_FULL),
        ROW(NVME_IO_ZONE_SEND, 1, (0, 0, 0, 3), NVME_SC_ZONE_TRANSITION),
        ROW(NVME_IO_ZONE_SEND, 1, (0, 0, 0, 1), NVME_SC_ZONE_TRANSITION),
        /* Without a random write area. */
        ROW(NVME_IO_ZONE_SEND, 1, (5 * ZONE, 0, 0, 0x203),
            NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_ZONE_SEND, 1, (5 * ZONE, 0, 0, 0x11),
            NVME_SC_INVALID_FIELD),
    };
    static const Row without_extension[] = {
        ROW(NVME_IO_ZONE_SEND, 1, (0, 0, 0, 0x10), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_ZONE_RECEIVE, 1, (0, 0, 15, 1), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_ZONE_RECEIVE, 1, (0, 0, 0, 0),
            NVME_SC_INVALID_FIELD), /* no room for the header */
    };
    static const Row admin[] = {
        ROW(NVME_ADM_IDENTIFY, 0, (0x05, 2 << 24), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, 2, (0x05, 2 << 24), NVME_SC_INVALID_NSID),
        ROW(NVME_ADM_IDENTIFY, ALL, (0x05, 2 << 24), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, 0, (0x0a, 2 << 24 | 9), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_FORMAT, 1, (0), NVME_SC_INVALID_OPCODE),
        ROW(NVME_ADM_SANITIZE, 0, (2), NVME_SC_INVALID_OPCODE),
        ROW(NVME_ADM_GET_LOG_PAGE, ALL, (0xbf | 15 << 16),
            NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_GET_LOG_PAGE, 2, (0xbf | 15 << 16), NVME_SC_INVALID_NSID),
    };
    Host *h = ready(&(HostOptions){.set = ZONED, .block_bytes = 4096});

    CHECK(h, 1, row);
    CHECK(h, 0, admin);
    host_free(h);
    h = ready(
        &(HostOptions){.set = ZONED "zones.extension=0", .block_bytes = 4096});
    CHECK(h, 1, without_extension);
    host_free(h);
}

/* ---- reservations -------------------------------------------------------- */

enum {
    REG = NVME_IO_RESERVATION_REGISTER,
    ACQ = NVME_IO_RESERVATION_ACQUIRE,
    REL = NVME_IO_RESERVATION_RELEASE,
    REPORT = NVME_IO_RESERVATION_REPORT,
};

#define CONFLICT (NVME_SC_RESERVATION_CONFLICT | RETRY)
#define IEKEY    8
#define TYPE(t)  ((t) << 8)
#define KEY_ONE  "0100000000000000"
#define KEY_TWO  "0200000000000000"
#define NO_KEY   "0000000000000000"

/* Base 7.5 to 7.8, 8.1.22. */
static void test_reservations(void)
{
    static const uint8_t opcode[] = {REG, ACQ, REL, REPORT};
    static const Row row[] = {
        ROW(REG, 1, (3), NVME_SC_INVALID_FIELD), /* RREGA */
        ROW(REG, 1, (7), NVME_SC_INVALID_FIELD),
        ROW(REG, 1, (1U << 30), NVME_SC_INVALID_FIELD), /* CPTPL */
        ROW(REG, 1, (0), NVME_SC_INVALID_FIELD),        /* NRKEY 0 */
        ROW_AT(REG, 1, (0), NVME_SC_PRP_OFFSET, HOST_DATA + 1),
        /* By a host without a registration. */
        ROW_DATA(REG, 1, (1), CONFLICT, KEY_ONE),
        ROW_DATA(REG, 1, (2), CONFLICT, KEY_ONE KEY_TWO),
        ROW_DATA(ACQ, 1, (TYPE(1)), CONFLICT, KEY_ONE),
        ROW_DATA(REL, 1, (TYPE(1)), CONFLICT, KEY_ONE),
        ROW_DATA(REL, 1, (1), CONFLICT, KEY_ONE),
        ROW_DATA(REG, 1, (0), 0, NO_KEY KEY_ONE),
        ROW_DATA(REG, 1, (0), 0, NO_KEY KEY_ONE), /* the same again */
        ROW_DATA(REG, 1, (0), CONFLICT, NO_KEY KEY_TWO),
        ROW_DATA(REG, 1, (2), CONFLICT, KEY_TWO KEY_ONE),
        ROW_DATA(REG, 1, (2 | IEKEY), 0, KEY_TWO KEY_ONE),
        ROW_DATA(ACQ, 1, (3 | TYPE(1)), NVME_SC_INVALID_FIELD, KEY_ONE),
        ROW_DATA(ACQ, 1, (7 | TYPE(1)), NVME_SC_INVALID_FIELD, KEY_ONE),
        ROW_DATA(ACQ, 1, (TYPE(0)), NVME_SC_INVALID_FIELD, KEY_ONE),
        ROW_DATA(ACQ, 1, (TYPE(7)), NVME_SC_INVALID_FIELD, KEY_ONE),
        ROW_DATA(ACQ, 1, (TYPE(255)), NVME_SC_INVALID_FIELD, KEY_ONE),
        ROW_DATA(ACQ, 1, (IEKEY | TYPE(1)), NVME_SC_INVALID_FIELD, KEY_ONE),
        ROW_DATA(ACQ, 1, (TYPE(1)), CONFLICT, KEY_TWO),
        ROW_DATA(ACQ, 1, (1 | TYPE(1)), NVME_SC_INVALID_FIELD, KEY_ONE NO_KEY),
        ROW_DATA(ACQ, 1, (1 | TYPE(1)), CONFLICT, KEY_ONE KEY_TWO),
        ROW_AT(ACQ, 1, (TYPE(1)), NVME_SC_PRP_OFFSET, HOST_DATA + 1),
        ROW_DATA(ACQ, 1, (TYPE(1)), 0, KEY_ONE),
        ROW_DATA(ACQ, 1, (TYPE(2)), CONFLICT, KEY_ONE), /* another type */
        ROW_DATA(REL, 1, (2 | TYPE(1)), NVME_SC_INVALID_FIELD, KEY_ONE),
        ROW_DATA(REL, 1, (7 | TYPE(1)), NVME_SC_INVALID_FIELD, KEY_ONE),
        ROW_DATA(REL, 1, (IEKEY | TYPE(1)), NVME_SC_INVALID_FIELD, KEY_ONE),
        ROW_DATA(REL, 1, (1 | IEKEY), NVME_SC_INVALID_FIELD, KEY_ONE),
        ROW_DATA(REL, 1, (TYPE(2)), NVME_SC_INVALID_FIELD, KEY_ONE),
        ROW_DATA(REL, 1, (TYPE(1)), CONFLICT, KEY_TWO),
        ROW_AT(REL, 1, (TYPE(1)), NVME_SC_PRP_OFFSET, HOST_DATA + 1),
        ROW_DATA(REL, 1, (TYPE(1)), 0, KEY_ONE),
        ROW_DATA(REL, 1, (TYPE(1)), 0, KEY_ONE), /* none is held */
        /* The structure is that of the Host Identifier's size. */
        ROW(REPORT, 1, (15, 1), NVME_SC_HOST_ID_FORMAT),
        ROW(REPORT, 1, (15, 0), 0),
        ROW(REPORT, 1, (1 << 20, 0), NVME_SC_INVALID_FIELD), /* MDTS */
        ROW_AT(REPORT, 1, (15, 0), NVME_SC_PRP_OFFSET, HOST_DATA + 1),
    };
    /* Base 5.1.25.1.28 to 5.1.25.1.30. */
    static const Row features[] = {
        ROW(SET, 1, (0x82, 1), NVME_SC_INVALID_FIELD), /* reserved */
        ROW(SET, 1, (0x82, 0x10), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, (0x82, 2), NVME_SC_INVALID_NSID),
        ROW(SET, 257, (0x82, 2), NVME_SC_INVALID_NSID),
        ROW(SET, 3, (0x82, 2), NVME_SC_INVALID_FIELD),
        ROW(GET, ALL, (0x82), NVME_SC_INVALID_FIELD),
        ROW(SET, 1, (0x82 | 1U << 31, 2), NVME_SC_FEATURE_NOT_SAVEABLE),
        ROW(SET, 1, (0x83, 2), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, (0x83, 1), NVME_SC_INVALID_NSID),
        ROW(SET, 3, (0x83, 1), NVME_SC_INVALID_FIELD),
        ROW(GET, 0, (0x83), NVME_SC_INVALID_NSID),
        ROW(GET, ALL, (0x83), NVME_SC_INVALID_FIELD),
        ROW_DATA(SET, 0, (0x81, 1), 0, "11"), /* 128 bits */
        ROW(SET, 1, (0x81, 0), NVME_SC_FEATURE_NOT_NS),
        ROW(SET, 0, (0x81 | 1U << 31, 0), NVME_SC_FEATURE_NOT_SAVEABLE),
        ROW_AT(SET, 0, (0x81, 0), NVME_SC_PRP_OFFSET, HOST_DATA + 1),
        ROW_AT(GET, 0, (0x81, 1), NVME_SC_PRP_OFFSET, HOST_DATA + 1),
    };
    static const Row extended[] = {
        ROW(REPORT, 1, (15, 0), NVME_SC_HOST_ID_FORMAT),
        ROW(REPORT, 1, (15, 1), 0),
    };
    static const Row without[] = {
        ROW(REG, 1, (0), NVME_SC_INVALID_OPCODE),
        ROW(ACQ, 1, (TYPE(1)), NVME_SC_INVALID_OPCODE),
        ROW(REL, 1, (TYPE(1)), NVME_SC_INVALID_OPCODE),
        ROW(REPORT, 1, (15), NVME_SC_INVALID_OPCODE),
    };
    Host *h = ready(&(HostOptions){.controllers = 2, .namespaces = "2"});

    for (unsigned i = 0; i < G_N_ELEMENTS(opcode); i++) {
        const Row nsid[] = {
            ROW(opcode[i], 0, (0), NVME_SC_INVALID_NSID),
            ROW(opcode[i], 257, (0), NVME_SC_INVALID_NSID),
            ROW(opcode[i], 3, (0), NVME_SC_INVALID_FIELD),
            ROW(opcode[i], ALL, (0), NVME_SC_INVALID_FIELD),
        };

        CHECK(h, 1, nsid);
    }
    CHECK(h, 1, row);
    CHECK(h, 0, features);
    CHECK(h, 1, extended);
    host_free(h);
    h = ready(NULL);
    CHECK(h, 1, without);
    host_free(h);
}

/* ---- placement ----------------------------------------------------------- */

/* Base 7.3, 7.4, 5.1.25.1.20, 5.1.25.1.21, 8.1.10: two groups of two handles;
 * an identifier has its group in bit 15. */
static void test_placement(void)
{
    enum { RECEIVE = NVME_IO_MGMT_RECEIVE, SEND = NVME_IO_MGMT_SEND };
    static const Row row[] = {
        ROW(RECEIVE, 1, (2, 15), NVME_SC_INVALID_FIELD), /* MO */
        ROW(RECEIVE, 1, (0xff, 15), NVME_SC_INVALID_FIELD),
        ROW(RECEIVE, 0, (1, 15), NVME_SC_INVALID_NSID),
        ROW(RECEIVE, ALL, (1, 15), NVME_SC_INVALID_NSID),
        ROW(RECEIVE, 257, (1, 15), NVME_SC_INVALID_NSID),
        ROW(RECEIVE, 3, (1, 15), NVME_SC_INVALID_FIELD),
        ROW(RECEIVE, 1, (1, 1 << 20), NVME_SC_INVALID_FIELD), /* MDTS */
        ROW_AT(RECEIVE, 1, (1, 15), NVME_SC_PRP_OFFSET, HOST_DATA + 1),
        ROW(RECEIVE, 1, (0, 15), 0),
        ROW(SEND, 1, (2), NVME_SC_INVALID_FIELD), /* MO */
        ROW(SEND, 1, (0xff), NVME_SC_INVALID_FIELD),
        ROW(SEND, 0, (1), NVME_SC_INVALID_NSID),
        ROW(SEND, 257, (1), NVME_SC_INVALID_NSID),
        ROW(SEND, 3, (1), NVME_SC_INVALID_FIELD),
        ROW(SEND, 1, (1 | 4 << 16), NVME_SC_INVALID_FIELD), /* NPID */
        ROW(SEND, 1, (1 | 0xffffU << 16), NVME_SC_INVALID_FIELD),
        ROW_DATA(SEND, 1, (1), NVME_SC_INVALID_FIELD, "0200"), /* handle */
        ROW_DATA(SEND, 1, (1), NVME_SC_INVALID_FIELD, "0280"),
        ROW_DATA(SEND, 1, (1 | 1 << 16), NVME_SC_INVALID_FIELD, "0000ff00"),
        ROW_DATA(SEND, 1, (1 | 1 << 16), 0, "00000180"),
        ROW_AT(SEND, 1, (1), NVME_SC_PRP_OFFSET, HOST_DATA + 1),
        ROW(SEND, 1, (0), 0),
        /* An identifier that does not exist is no error; a type is. */
        ROW(NVME_IO_WRITE, 1, (0, 0, 2 << 20, 0xff << 16), 0),
        ROW(NVME_IO_WRITE, 1, (0, 0, 3 << 20), NVME_SC_INVALID_FIELD),
        ROW(NVME_IO_WRITE, 1, (0, 0, 1 << 20), NVME_SC_INVALID_FIELD),
    };
    static const Row admin[] = {
        ROW(GET, 0, (0x1d, 0), NVME_SC_INVALID_FIELD), /* ENDGID */
        ROW(GET, 0, (0x1d, 2), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, (0x1d, 2, 1), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, (0x1d, 1, 0), NVME_SC_COMMAND_SEQUENCE | RETRY),
        ROW(SET, 0, (0x1d | 1U << 31, 1, 0), NVME_SC_FEATURE_NOT_SAVEABLE),
        ROW(SET, 1, (0x1d, 1, 0), NVME_SC_FEATURE_NOT_NS),
        ROW(GET, 1, (0x1e, 2 | 6 << 16), NVME_SC_INVALID_FIELD), /* handle */
        ROW(GET, 0, (0x1e, 6 << 16), NVME_SC_INVALID_NSID),
        ROW(GET, 3, (0x1e, 6 << 16), NVME_SC_INVALID_FIELD),
        ROW_DATA(SET, 1, (0x1e, 2 | 1 << 16, 1), NVME_SC_INVALID_FIELD, "00"),
        ROW(SET, 1, (0x1e, 0, 1), NVME_SC_INVALID_FIELD), /* no event */
        ROW_DATA(SET, 1, (0x1e, 1 << 16, 1), NVME_SC_INVALID_FIELD, "7f"),
        ROW_DATA(SET, 1, (0x1e, 2 << 16, 1), NVME_SC_INVALID_FIELD, "00ff"),
        ROW(SET, 0, (0x1e, 1 << 16, 1), NVME_SC_INVALID_NSID),
        ROW_AT(SET, 1, (0x1e, 1 << 16, 1), NVME_SC_PRP_OFFSET, HOST_DATA + 1),
        /* Logs: the endurance group. */
        ROW(NVME_ADM_GET_LOG_PAGE, 0, (0x20 | 15 << 16, 0),
            NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_GET_LOG_PAGE, 0, (0x21 | 15 << 16, 2 << 16),
            NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_GET_LOG_PAGE, 0, (0x22 | 15 << 16, 0xffffU << 16),
            NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_GET_LOG_PAGE, 0, (0x23 | 15 << 16, 0),
            NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_GET_LOG_PAGE, 0, (0x20 | 15 << 16, 1 << 16), 0),
    };
    /* Once there is no namespace, it can be disabled. */
    static const Row disable[] = {
        ROW(NVME_ADM_NS_MANAGEMENT, ALL, (1), 0),
        ROW(SET, 0, (0x1d, 1, 1 | 9 << 8), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, (0x1d, 1, 0), 0),
        ROW_DATA(NVME_ADM_NS_MANAGEMENT, 0, (0), 0,
                 "00080000000000000008000000000000"),
        ROW_DATA(NVME_ADM_NS_ATTACHMENT, 1, (0), 0, "01000100"),
        ROW(GET, 1, (0x1e, 6 << 16), NVME_SC_FDP_DISABLED),
        ROW_DATA(SET, 1, (0x1e, 1 << 16, 1), NVME_SC_FDP_DISABLED, "00"),
        ROW(NVME_ADM_GET_LOG_PAGE, 0, (0x21 | 15 << 16, 1 << 16),
            NVME_SC_FDP_DISABLED),
    };
    static const Row disabled[] = {
        ROW(RECEIVE, 1, (1, 15), NVME_SC_FDP_DISABLED),
        ROW(SEND, 1, (1), NVME_SC_FDP_DISABLED),
    };
    static const Row without[] = {
        ROW(RECEIVE, 1, (1, 15), NVME_SC_INVALID_OPCODE),
        ROW(SEND, 1, (1), NVME_SC_INVALID_OPCODE),
    };
    Host *h = ready(&(HostOptions){
        .namespaces = "2",
        .set = "nand.blocks=64;ftl.op_percent=150%;fdp.ruhs=2;fdp.groups=2"});

    CHECK(h, 1, row);
    CHECK(h, 0, admin);
    CHECK(h, 0, disable);
    CHECK(h, 1, disabled);
    host_free(h);
    h = ready(NULL);
    CHECK(h, 1, without);
    host_free(h);
}

/* ---- secondary controllers ----------------------------------------------- */

/* Base 5.2.6: the primary controller is 1, its secondary one 10; ten flexible
 * queues, of which one controller may have five, and nine vectors. */
static void test_virtualization(void)
{
    enum { VIRT = NVME_ADM_VIRTUALIZATION, SECONDARY = 10 << 16 };
    enum { FREE = 1 << 16, VI = 1 << 8, ASSIGN = 8, ONLINE = 9 };
    static const Row row[] = {
        ROW(VIRT, 0, (0), NVME_SC_INVALID_FIELD), /* ACT */
        ROW(VIRT, 0, (2), NVME_SC_INVALID_FIELD),
        ROW(VIRT, 0, (6), NVME_SC_INVALID_FIELD),
        ROW(VIRT, 0, (0xa), NVME_SC_INVALID_FIELD),
        ROW(VIRT, 0, (0xf), NVME_SC_INVALID_FIELD),
        /* CNTLID: of another kind, or of none. */
        ROW(VIRT, 0, (1 | SECONDARY, 1), NVME_SC_CONTROLLER_ID),
        ROW(VIRT, 0, (1 | 99 << 16, 1), NVME_SC_CONTROLLER_ID),
        ROW(VIRT, 0, (7 | FREE), NVME_SC_CONTROLLER_ID),
        ROW(VIRT, 0, (ASSIGN | FREE, 1), NVME_SC_CONTROLLER_ID),
        ROW(VIRT, 0, (ASSIGN | 11 << 16, 1), NVME_SC_CONTROLLER_ID),
        ROW(VIRT, 0, (ONLINE | 0xffffU << 16), NVME_SC_CONTROLLER_ID),
        /* RT */
        ROW(VIRT, 0, (1 | 2 << 8 | FREE, 1), NVME_SC_RESOURCE_ID),
        ROW(VIRT, 0, (ASSIGN | 7 << 8 | SECONDARY, 1), NVME_SC_RESOURCE_ID),
        /* NR */
        ROW(VIRT, 0, (ASSIGN | SECONDARY, 6), NVME_SC_RESOURCE_COUNT),
        ROW(VIRT, 0, (ASSIGN | SECONDARY, 0xffff), NVME_SC_RESOURCE_COUNT),
        ROW(VIRT, 0, (ASSIGN | VI | SECONDARY, 5), NVME_SC_RESOURCE_COUNT),
        ROW(VIRT, 0, (1 | FREE, 0xffff), NVME_SC_RESOURCE_COUNT),
        /* State: without resources; and after Online. */
        ROW(VIRT, 0, (ONLINE | SECONDARY), NVME_SC_SECONDARY_STATE),
        ROW(VIRT, 0, (ASSIGN | SECONDARY, 2), 0),
        ROW(VIRT, 0, (ONLINE | SECONDARY), NVME_SC_SECONDARY_STATE),
        ROW(VIRT, 0, (ASSIGN | VI | SECONDARY, 1), 0),
        ROW(VIRT, 0, (ONLINE | SECONDARY), 0),
        ROW(VIRT, 0, (ASSIGN | SECONDARY, 3), NVME_SC_SECONDARY_STATE),
        ROW(VIRT, 0, (7 | SECONDARY), 0),
    };
    static const Row without[] = {
        ROW(VIRT, 0, (1 | FREE, 1), NVME_SC_INVALID_OPCODE),
        ROW(NVME_ADM_IDENTIFY, 0, (0x14), NVME_SC_INVALID_FIELD),
        ROW(NVME_ADM_IDENTIFY, 0, (0x15), NVME_SC_INVALID_FIELD),
    };
    GError *error = NULL;
    Host *h = ready(&(HostOptions){.n_queues = 4,
                                   .n_vectors = 5,
                                   .secondaries = 1,
                                   .vq_flexible = 10,
                                   .vi_flexible = 9,
                                   .vq_per_secondary = 5,
                                   .vi_per_secondary = 4});
    Host *s = host_add_secondary(h, 10, 1, &error);

    g_assert_no_error(error);
    CHECK(h, 0, row);
    host_free(s);
    host_free(h);
    h = ready(NULL);
    CHECK(h, 0, without);
    host_free(h);
}

/* ---- the Host Memory Buffer ---------------------------------------------- */

#define LIST (HOST_DATA + 0x80000)

static void put_piece(Host *h, unsigned i, uint64_t at, uint32_t pages)
{
    uint8_t *p = host_ram(h, LIST + 16 * i, 16);

    put_le64(p, at);
    put_le64(p + 8, pages);
}

/* Base 5.1.25.2.3: EHM, HSIZE, HMDLLA, HMDLEC; pages of 4 KiB. */
static void test_host_memory(void)
{
#define HMB(bits, pages, list, entries)                                        \
    (0x0d, bits, pages, (uint32_t)(list), (uint32_t)((uint64_t)(list) >> 32),  \
     entries)
    static const Row row[] = {
        ROW(SET, 0, HMB(8, 32, LIST, 2), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, HMB(1U << 31, 32, LIST, 2), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, HMB(1, 32, LIST, 0), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, HMB(1, 32, LIST, 1025), NVME_SC_INVALID_FIELD), /* HMMAXD */
        ROW(SET, 0, HMB(1, 15, LIST, 1), NVME_SC_INVALID_FIELD),    /* HMMIN */
        ROW(SET, 0, HMB(1, 32, LIST + 8, 2), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, HMB(1, 31, LIST, 2), NVME_SC_INVALID_FIELD), /* the sum */
        ROW(SET, 0, HMB(1, 33, LIST, 2), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, HMB(1, 48, LIST, 3), NVME_SC_INVALID_FIELD), /* BADD */
        ROW(SET, 0, HMB(1, 32, LIST + 48, 2), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, HMB(1, 32, HOST_RAM_BYTES, 2), NVME_SC_DATA_TRANSFER),
        ROW(SET, 0, HMB(1, 32, 1ULL << 60, 2), NVME_SC_DATA_TRANSFER),
        ROW(SET, 1, HMB(1, 32, LIST, 2), NVME_SC_FEATURE_NOT_NS),
        ROW(SET, 0, (0x0d | 1U << 31, 1), NVME_SC_FEATURE_NOT_SAVEABLE),
        ROW(SET, 0, HMB(1, 32, LIST, 2), 0),
        ROW(SET, 0, HMB(1, 32, LIST, 2),
            NVME_SC_COMMAND_SEQUENCE | RETRY), /* it is enabled */
        ROW_AT(GET, 0, (0x0d), NVME_SC_PRP_OFFSET, HOST_DATA + 1),
        ROW(SET, 0, (0x0d, 0), 0),
    };
    static const Row without[] = {
        ROW(GET, 0, (0x0d), NVME_SC_INVALID_FIELD),
        ROW(SET, 0, (0x0d, 0), NVME_SC_INVALID_FIELD),
    };
    Host *h = ready(
        &(HostOptions){.set = "ftl.map=dftl;ftl.map_cache=4KiB;ftl.hmb=128KiB;"
                              "nand.blocks=64;ftl.op_percent=120%"});

    put_piece(h, 0, HOST_DATA + 0x100000, 16);
    put_piece(h, 1, HOST_DATA + 0x200000, 16);
    put_piece(h, 2, HOST_DATA + 0x300200, 16); /* not at a page */
    put_piece(h, 3, HOST_DATA + 0x300000, 32);
    put_piece(h, 4, HOST_DATA + 0x400000, 0); /* of no page */
    CHECK(h, 0, row);
    host_free(h);
    h = ready(NULL);
    CHECK(h, 0, without);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/fields/prp", test_prp);
    g_test_add_func("/nvme/fields/sgl", test_sgl);
    g_test_add_func("/nvme/fields/sgl-list", test_sgl_list);
    g_test_add_func("/nvme/fields/copy", test_copy);
    g_test_add_func("/nvme/fields/metadata", test_metadata);
    g_test_add_func("/nvme/fields/key-value", test_key_value);
    g_test_add_func("/nvme/fields/zones", test_zones);
    g_test_add_func("/nvme/fields/reservations", test_reservations);
    g_test_add_func("/nvme/fields/placement", test_placement);
    g_test_add_func("/nvme/fields/virtualization", test_virtualization);
    g_test_add_func("/nvme/fields/host-memory", test_host_memory);
    return g_test_run();
}
