/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-pi.c - protection information: CRCs against published check values; each
 * form of it, transferred, made and checked by each command; fields that are
 * wrong, options, Identify.
 */
#include "protected.h"

#include "crc.h"

/* Check values of the catalogues of CRCs: CRC-16/T10-DIF and CRC-64/NVME, and
 * of 4096 bytes of zeroes and of FFh in the NVM Command Set Specification 1.0,
 * 64b CRC test cases. */
static void test_crc(void)
{
    uint8_t buf[4096 + 8];
    Prng prng;

    g_assert_cmphex(crc16_t10dif(0, "123456789", 9), ==, 0xd0db);
    g_assert_cmphex(crc64_nvme(0, "123456789", 9), ==, 0xae8b14860a799888ULL);
    memset(buf, 0, 4096);
    g_assert_cmphex(crc64_nvme(0, buf, 4096), ==, 0x6482d367eb22b64eULL);
    memset(buf, 0xff, 4096);
    g_assert_cmphex(crc64_nvme(0, buf, 4096), ==, 0xc0ddba7302eca3acULL);
    prng_seed(&prng, 1, 17);
    for (unsigned i = 0; i < sizeof(buf); i++) {
        buf[i] = (uint8_t)prng_below(&prng, 256);
    }
    for (unsigned n = 0; n < 100; n++) {
        unsigned at = n % 9;
        unsigned first = n / 3;

        g_assert_cmphex(crc16_t10dif(0, buf + at, n), ==,
                        slow_crc16(0, buf + at, n));
        g_assert_cmphex(crc64_nvme(0, buf + at, n), ==,
                        slow_crc64(0, buf + at, n));
        g_assert_cmphex(
            crc64_nvme(crc64_nvme(0, buf, first), buf + first, n - first), ==,
            slow_crc64(0, buf, n));
        g_assert_cmphex(
            crc16_t10dif(crc16_t10dif(0, buf, first), buf + first, n - first),
            ==, slow_crc16(0, buf, n));
    }
}

/* ---- each format --------------------------------------------------------- */

static void test_transfer(gconstpointer form)
{
    const HostOptions *o = &((const Form *)form)->o;
    Dev d = start(o);

    check_deallocated(&d, 0, 24);
    write_seed(&d, 3, 30, 1);
    check_seed(&d, 3, 30, 1);
    write_seed(&d, 5, 1, 2); /* a part of a unit, in the buffer */
    check_seed(&d, 5, 1, 2);
    check_seed(&d, 6, 10, 1);
    g_assert_cmphex(host_flush(d.h, 1), ==, 0);
    check_seed(&d, 3, 2, 1);
    check_seed(&d, 5, 1, 2);
    write_seed(&d, 20, 1, 3); /* on a unit in the store */
    g_assert_cmphex(host_flush(d.h, 1), ==, 0);
    check_seed(&d, 6, 14, 1);
    check_seed(&d, 20, 1, 3);
    check_seed(&d, 21, 12, 1);
    check_deallocated(&d, 0, 3);
    g_assert_cmphex(io(&d, NVME_IO_VERIFY, 0, 40, all_of(&d)), ==, 0);
    host_free(d.h);
}

/* PRACT: made by the drive; and stripped, if it is all of the metadata. */
static void test_act(gconstpointer form)
{
    const HostOptions *o = &((const Form *)form)->o;
    Dev d = start(o);

    if (!o->pi) {
        host_free(d.h);
        return;
    }
    fill_buffer(&d, 8, 16, 5);
    if (strips(&d, ACT)) {
        for (uint32_t i = 0; i < 16; i++) {
            memmove(d.h->ram + DATA + i * d.block, data_of(&d, i), d.block);
        }
    } else {
        for (uint32_t i = 0; i < 16; i++) {
            memset(meta_of(&d, i) + d.at, 0xcc, d.pi); /* is replaced */
        }
    }
    g_assert_cmphex(io(&d, NVME_IO_WRITE, 8, 16, ACT), ==, 0);
    check_seed(&d, 8, 16, 5);
    clear_buffer(&d, 16);
    d.h->ram[DATA + 16 * d.block] = 0xee;
    g_assert_cmphex(io(&d, NVME_IO_READ, 8, 16, ACT | all_of(&d)), ==, 0);
    if (!strips(&d, ACT)) {
        check_buffer(&d, 8, 16, 5);
    } else {
        g_autofree uint8_t *data = g_malloc(d.block);
        g_autofree uint8_t *meta = g_malloc(d.meta);

        for (uint32_t i = 0; i < 16; i++) {
            fill(&d, data, meta, 8 + i, 5);
            g_assert_cmpmem(d.h->ram + DATA + i * d.block, d.block, data,
                            d.block);
        }
        g_assert_cmphex(d.h->ram[DATA + 16 * d.block], ==, 0xee);
    }
    host_free(d.h);
}

/* One byte of block 2 is wrong: `where` counts from the beginning of the block,
 * and on in its metadata. */
static void spoil(const Dev *d, uint32_t where)
{
    uint8_t *p = where < d->block ? data_of(d, 2) + where
                                  : meta_of(d, 2) + where - d->block;

    *p ^= 0x10;
}

/* A write that is checked is refused; one that is not is found by a read. */
static void check_spoilt(const Dev *d, uint32_t where, unsigned prchk,
                         uint16_t status)
{
    static const uint8_t reads[] = {NVME_IO_READ, NVME_IO_VERIFY};

    write_seed(d, 40, 4, 7);
    fill_buffer(d, 40, 4, 8);
    spoil(d, where);
    g_assert_cmphex(io(d, NVME_IO_WRITE, 40, 4, prchk), ==, status);
    check_error(d, status, 42);
    check_seed(d, 40, 4, 7);
    fill_buffer(d, 40, 4, 8);
    spoil(d, where);
    g_assert_cmphex(io(d, NVME_IO_WRITE, 40, 4, all_of(d) & ~prchk), ==, 0);
    for (unsigned i = 0; i < G_N_ELEMENTS(reads); i++) {
        g_assert_cmphex(io(d, reads[i], 40, 4, prchk), ==, status);
        check_error(d, status, 42);
        g_assert_cmphex(io(d, reads[i], 40, 4, all_of(d) & ~prchk), ==, 0);
        g_assert_cmphex(io(d, reads[i], 40, 2, prchk), ==, 0);
    }
    if (!d->o.metadata_extended && strips(d, ACT)) {
        g_assert_cmphex(io(d, NVME_IO_READ, 40, 4, ACT | prchk), ==, status);
    }
}

/* Media and Data Integrity Errors of the SMART log. */
static uint64_t media_errors(const Dev *d)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_GET_LOG_PAGE, 0xffffffff, LIST);

    sqe.dw[10] = 2 | 127U << 16;
    g_assert_cmphex(host_do(d->h, 0, &sqe).status, ==, 0);
    return get_le64(d->h->ram + LIST + 160);
}

static void test_checks(gconstpointer form)
{
    const HostOptions *o = &((const Form *)form)->o;
    Dev d = start(o);
    uint32_t tuple = d.block + d.at;
    uint32_t app = tuple + (d.pi == 16 ? 8 : 2);
    NvmeSqe sqe;

    if (!o->pi) {
        host_free(d.h);
        return;
    }
    g_assert_cmpuint(media_errors(&d), ==, 0);
    check_spoilt(&d, 100, GUARD, NVME_SC_GUARD);
    g_assert_cmpuint(media_errors(&d), >=, 2); /* a Read, a Verify */
    check_spoilt(&d, tuple + 1, GUARD, NVME_SC_GUARD);
    check_spoilt(&d, app, APP, NVME_SC_APP_TAG);
    if (d.at) { /* metadata before it is covered */
        check_spoilt(&d, d.block, GUARD, NVME_SC_GUARD);
    }
    if (o->pi != 3) {
        check_spoilt(&d, tuple + d.pi - 1, REF, NVME_SC_REF_TAG);
    }
    d.mask = 0xff00; /* the rest of the application tag is not compared */
    write_seed(&d, 40, 4, 1);
    d.app ^= 0x77;
    g_assert_cmphex(io(&d, NVME_IO_READ, 40, 4, APP), ==, 0);
    d.app ^= 0x7700;
    g_assert_cmphex(io(&d, NVME_IO_READ, 40, 4, APP), ==, NVME_SC_APP_TAG);
    d.app ^= 0x7777;
    sqe = rw(&d, NVME_IO_READ, 40, 4, 0);
    sqe.dw[3] ^=
        1U << 15; /* the first bit of the storage tag, if there is one */
    sqe.dw[12] |= STC;
    g_assert_cmphex(run(&d, &sqe), ==,
                    o->pi_storage_bits ? NVME_SC_STORAGE_TAG : 0);
    sqe.dw[12] &= ~STC;
    g_assert_cmphex(run(&d, &sqe), ==, 0);
    host_free(d.h);
}

/* Application tag FFFFh: nothing is checked; type 3 wants FFh in the other
 * tags, too. */
static void test_escape(gconstpointer form)
{
    const HostOptions *o = &((const Form *)form)->o;
    Dev d = start(o);
    unsigned tag = d.at + (d.pi == 16 ? 8 : 2);

    if (!o->pi) {
        host_free(d.h);
        return;
    }
    fill_buffer(&d, 0, 1, 9);
    spoil(&(Dev){.h = d.h, .o = d.o, .block = d.block}, 0);
    memset(meta_of(&d, 0) + d.at, 0x77, d.pi);
    memset(meta_of(&d, 0) + tag, 0xff, 2);
    g_assert_cmphex(io(&d, NVME_IO_WRITE, 0, 1, all_of(&d)), ==,
                    o->pi == 3 ? NVME_SC_GUARD : 0);
    memset(meta_of(&d, 0) + tag, 0xff, d.pi == 16 ? 8 : 6);
    g_assert_cmphex(io(&d, NVME_IO_WRITE, 0, 1, all_of(&d)), ==, 0);
    g_assert_cmphex(io(&d, NVME_IO_READ, 0, 1, all_of(&d)), ==, 0);
    g_assert_cmphex(meta_of(&d, 0)[d.at], ==, 0x77);
    host_free(d.h);
}

static void test_compare(gconstpointer form)
{
    const HostOptions *o = &((const Form *)form)->o;
    Dev d = start(o);

    write_seed(&d, 10, 8, 1);
    fill_buffer(&d, 10, 8, 1);
    g_assert_cmphex(io(&d, NVME_IO_COMPARE, 10, 8, all_of(&d)), ==, 0);
    spoil(&d, 99);
    g_assert_cmphex(io(&d, NVME_IO_COMPARE, 10, 8, 0), ==,
                    NVME_SC_COMPARE_FAILURE);
    spoil(&d, 99);
    if (d.meta > d.pi) { /* metadata counts, protection information does not */
        unsigned other = d.o.pi_first ? d.pi : 0;

        spoil(&d, d.block + other);
        g_assert_cmphex(io(&d, NVME_IO_COMPARE, 10, 8, 0), ==,
                        NVME_SC_COMPARE_FAILURE);
        spoil(&d, d.block + other);
    }
    if (d.pi) {
        spoil(&d, d.block + d.at);
        g_assert_cmphex(io(&d, NVME_IO_COMPARE, 10, 8, all_of(&d)), ==, 0);
        g_assert_cmphex(io(&d, NVME_IO_COMPARE, 10, 8, ACT), ==,
                        NVME_SC_INVALID_PI);
        d.app ^= 1;
        g_assert_cmphex(io(&d, NVME_IO_COMPARE, 10, 8, APP), ==,
                        NVME_SC_APP_TAG);
    }
    host_free(d.h);
}

/* Copy of n blocks from lba. */
static NvmeSqe copy_sqe(const Dev *d, uint64_t to, uint64_t from, uint32_t n,
                        unsigned read_info, unsigned write_info)
{
    uint8_t *e = d->h->ram + LIST;
    bool wide = d->o.pi_guard == 64;
    NvmeSqe sqe = rw(d, NVME_IO_VERIFY, to, 1, write_info);

    memset(e, 0, 40);
    put_le64(e + 8, from);
    put_le16(e + 16, (uint16_t)(n - 1));
    if (wide) {
        put_be(e + 30, 6, space_of(d, from));
    } else {
        put_le32(e + 24, (uint32_t)space_of(d, from));
    }
    put_le16(e + (wide ? 36 : 28), d->app);
    put_le16(e + (wide ? 38 : 30), d->mask);
    sqe.dw[0] = NVME_IO_COPY;
    sqe.dw[6] = LIST;
    sqe.dw[7] = 0;
    sqe.dw[12] = write_info << 26 | read_info << 12 | (uint32_t)wide << 8;
    return sqe;
}

static void test_copy(gconstpointer form)
{
    const HostOptions *o = &((const Form *)form)->o;
    Dev d = start(o);
    unsigned check = all_of(&d);
    uint64_t to = 200;
    NvmeSqe sqe;

    write_seed(&d, 50, 20, 6);
    if (!o->pi) {
        sqe = copy_sqe(&d, to, 50, 20, 0, 0);
        g_assert_cmphex(run(&d, &sqe), ==, 0);
        clear_buffer(&d, 20);
        g_assert_cmphex(io(&d, NVME_IO_READ, to, 20, 0), ==, 0);
        check_buffer(&d, 50, 20, 6);
        host_free(d.h);
        return;
    }
    sqe = copy_sqe(&d, to, 50, 20, ACT | check, ACT);
    g_assert_cmphex(run(&d, &sqe), ==, 0);
    g_assert_cmphex(io(&d, NVME_IO_READ, to, 20, check), ==, 0);
    g_assert_cmpmem(meta_of(&d, 3), d.at, meta_of(&d, 3), d.at);
    g_assert_cmphex(io(&d, NVME_IO_VERIFY, to, 20, check), ==, 0);
    /* As it is: then its reference tags are those of the source. */
    sqe = copy_sqe(&d, to + 40, 50, 20, check, GUARD | APP);
    g_assert_cmphex(run(&d, &sqe), ==, 0);
    clear_buffer(&d, 20);
    g_assert_cmphex(io(&d, NVME_IO_READ, to + 40, 20, GUARD | APP), ==, 0);
    check_buffer(&d, 50, 20, 6);
    if (o->pi != 3) {
        g_assert_cmphex(io(&d, NVME_IO_READ, to + 40, 20, REF), ==,
                        NVME_SC_REF_TAG);
        sqe = copy_sqe(&d, to + 80, 50, 20, check, REF);
        g_assert_cmphex(run(&d, &sqe), ==, NVME_SC_REF_TAG);
        check_deallocated(&d, to + 80, 20);
    }
    sqe = copy_sqe(&d, to, 50, 20, ACT, 0);
    g_assert_cmphex(run(&d, &sqe), ==, NVME_SC_INVALID_FIELD);
    sqe = copy_sqe(&d, to, 50, 20, 0, 0);
    sqe.dw[12] ^= 1 << 8;
    g_assert_cmphex(run(&d, &sqe), ==, NVME_SC_INVALID_FORMAT);
    d.app ^= 1;
    sqe = copy_sqe(&d, to, 50, 20, APP | ACT, ACT);
    g_assert_cmphex(run(&d, &sqe), ==, NVME_SC_APP_TAG);
    check_error(&d, NVME_SC_APP_TAG, 50);
    host_free(d.h);
}

/* ---- fields -------------------------------------------------------------- */

static void test_fields(void)
{
    Dev d = start(&(HostOptions){.metadata = 8, .pi = 1});
    NvmeSqe sqe;

    write_seed(&d, 8, 4, 1);
    sqe = rw(&d, NVME_IO_READ, 8, 4, REF);
    sqe.dw[14]++;
    g_assert_cmphex(run(&d, &sqe), ==, NVME_SC_INVALID_PI);
    sqe.dw[12] &= ~(REF << 26);
    g_assert_cmphex(run(&d, &sqe), ==, 0);
    sqe = rw(&d, NVME_IO_WRITE, 8, 4, ACT | REF);
    sqe.dw[14]--;
    g_assert_cmphex(run(&d, &sqe), ==, NVME_SC_INVALID_PI);
    g_assert_cmphex(io(&d, NVME_IO_VERIFY, 8, 4, ACT), ==, NVME_SC_INVALID_PI);
    sqe = rw(&d, NVME_IO_READ, 8, 4, 0);
    sqe.dw[4] |= 2;
    g_assert_cmphex(run(&d, &sqe), ==, NVME_SC_INVALID_FIELD);
    sqe.dw[4] = HOST_RAM_BYTES - 8;
    g_assert_cmphex(run(&d, &sqe), ==, NVME_SC_DATA_TRANSFER);
    sqe.dw[4] = 0xfffffffc;
    sqe.dw[5] = 0xffffffff;
    g_assert_cmphex(run(&d, &sqe), ==, NVME_SC_DATA_TRANSFER);
    sqe.dw[12] |= ACT << 26; /* no metadata is transferred */
    g_assert_cmphex(run(&d, &sqe), ==, 0);
    host_free(d.h);

    d = start(&(HostOptions){.metadata = 8, .pi = 3});
    g_assert_cmphex(io(&d, NVME_IO_READ, 8, 4, REF), ==, NVME_SC_INVALID_PI);
    host_free(d.h);

    /* MDTS counts the metadata of extended blocks; WZSL. */
    d = start(&(HostOptions){
        .metadata = 8, .pi = 1, .metadata_extended = true, .mdts = 1});
    g_assert_cmphex(io(&d, NVME_IO_READ, 0, 16, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(io(&d, NVME_IO_READ, 0, 15, 0), ==, 0);
    g_assert_cmphex(io(&d, NVME_IO_READ, 0, 16, ACT), ==, 0);
    g_assert_cmphex(io(&d, NVME_IO_WRITE_ZEROES, 0, 17, ACT), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(io(&d, NVME_IO_WRITE_ZEROES, 0, 16, ACT), ==, 0);
    host_free(d.h);

    /* Without protection information PRINFO is ignored. */
    d = start(&(HostOptions){.metadata = 8});
    fill_buffer(&d, 0, 4, 1);
    g_assert_cmphex(io(&d, NVME_IO_WRITE, 0, 4, ACT | ALL), ==, 0);
    clear_buffer(&d, 4);
    g_assert_cmphex(io(&d, NVME_IO_READ, 0, 4, ACT | ALL), ==, 0);
    check_buffer(&d, 0, 4, 1);
    host_free(d.h);
}

/* Options that are refused, each with a line that names it. */
static void test_options(void)
{
    static const struct {
        HostOptions o;
        const char *says;
    } bad[] = {
        {{.metadata = 4}, "metadata=4: allowed 0, 8, 16, 64"},
        {{.metadata = 8, .pi = 4}, "pi=4: allowed 0..3"},
        {{.pi = 1}, "need metadata"},
        {{.metadata = 8, .pi_guard = 32}, "pi_guard=32: allowed 16, 64"},
        {{.metadata = 16, .pi_guard = 64}, "pi_guard=64: allowed with"},
        {{.metadata = 8, .pi_storage_bits = 49}, "pi_sts=49: allowed 0..48"},
        {{.namespaces = "1:512+8"}, "metadata= is 0"},
        {{.metadata = 8, .namespaces = "1:512+16"}, "namespaces=1:512+16"},
        {{.metadata = 8, .namespaces = "1:512:pi=1"}, "namespaces="},
        {{.metadata = 8, .namespaces = "1:512+8:pi=4"}, "namespaces="},
        {{.metadata = 8, .namespaces = "1:512+8:guard=64"}, "namespaces="},
        {{.metadata = 8, .namespaces = "1:512+8:last"}, "namespaces="},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        GError *error = NULL;

        g_assert_false(host_try(&bad[i].o, &error));
        if (!strstr(error->message, bad[i].says)) {
            g_error("'%s' does not say '%s'", error->message, bad[i].says);
        }
        g_clear_error(&error);
    }
}

static void identify(Host *h, uint8_t cns, uint32_t nsid, void *to)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_IDENTIFY, nsid, LIST);

    sqe.dw[10] = cns;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    memcpy(to, h->ram + LIST, 4096);
}

static void test_identify(void)
{
    static const struct {
        uint16_t ms;
        uint8_t lbads;
        uint32_t elbaf;
    } want[] = {
        {0, 9, 0},
        {0, 12, 0},
        {8, 9, 0},
        {8, 12, 0},
        {16, 12, 0},
        {64, 12, 0},
        {16, 12, 2U << 7 | 16},
        {64, 12, 2U << 7 | 16},
        {16, 12, 2U << 9 | 3U << 7 | 16}, /* qualified */
        {64, 12, 2U << 9 | 3U << 7 | 16},
    };
    Host *h = host_new(&(HostOptions){
        .metadata = 8,
        .pi_storage_bits = 16,
        .sgl = true,
        .namespaces = "1M:512;1M:4096+64:pi=2:guard=64:first:extended;1M"});
    NvmeIdController ctrl;
    NvmeIdNvmController nvm_ctrl;
    NvmeIdNvmNamespace nvm;
    NvmeIdNamespace id;

    bring_up(h);
    identify(h, 1, 0, &ctrl);
    g_assert_cmphex(GUINT32_FROM_LE(ctrl.ctratt) >> 15 & 1, ==, 1);
    g_assert_cmphex(GUINT32_FROM_LE(ctrl.sgls), ==, 0xf0001);
    identify(h, 6, 0, &nvm_ctrl);
    g_assert_cmpuint(nvm_ctrl.wzsl, ==, 7);
    identify(h, 0, 2, &id);
    identify(h, 5, 2, &nvm);
    g_assert_cmpuint(id.nlbaf, ==, G_N_ELEMENTS(want) - 1);
    for (unsigned i = 0; i < G_N_ELEMENTS(want); i++) {
        g_assert_cmpuint(GUINT16_FROM_LE(id.lbaf[i].ms), ==, want[i].ms);
        g_assert_cmpuint(id.lbaf[i].lbads, ==, want[i].lbads);
        g_assert_cmphex(GUINT32_FROM_LE(nvm.elbaf[i]), ==, want[i].elbaf);
    }
    g_assert_cmphex(id.flbas, ==, 0x17);
    g_assert_cmphex(id.mc, ==, 3);
    g_assert_cmphex(id.dpc, ==, 0x1f);
    g_assert_cmphex(id.dps, ==, 2 | 8);
    g_assert_cmphex(GUINT64_FROM_LE(nvm.lbstm), ==, 0xffff);
    g_assert_cmphex(nvm.pic, ==, 0xc);
    identify(h, 0, 1, &id);
    g_assert_cmphex(id.flbas, ==, 0);
    g_assert_cmphex(id.dps, ==, 0);
    identify(h, 0, 3, &id);
    g_assert_cmphex(id.flbas, ==, 2);
    host_free(h);
}

/* A qualified format has a storage tag, with pi_sts or without; the word of
 * namespaces= chooses it. */
static void test_qualified(void)
{
    static const uint8_t sts[] = {0, 24};

    for (unsigned i = 0; i < G_N_ELEMENTS(sts); i++) {
        Host *h = host_new(
            &(HostOptions){.metadata = 8,
                           .pi_storage_bits = sts[i],
                           .namespaces = "1M:4096+16:pi=2:guard=64:qualified;"
                                         "1M:4096+16:pi=2:guard=64"});
        NvmeIdNvmNamespace nvm;
        NvmeIdNamespace id;
        uint64_t mask = sts[i] ? 0xffffff : 0xffff;

        bring_up(h);
        for (uint32_t nsid = 1; nsid <= 2; nsid++) {
            uint32_t pif = nsid == 1 ? 2U << 9 | 3U << 7 : 2U << 7;

            identify(h, 0, nsid, &id);
            identify(h, 5, nsid, &nvm);
            g_assert_cmphex(GUINT32_FROM_LE(nvm.elbaf[id.flbas]) & ~0x7fU, ==,
                            pif);
            g_assert_cmphex(GUINT64_FROM_LE(nvm.lbstm), ==,
                            nsid == 1 || sts[i] ? mask : 0);
        }
        host_free(h);
    }
}

/* The metadata by an SGL, in pieces. */
static void test_sgl(void)
{
    Dev d = start(&(HostOptions){.metadata = 8, .pi = 1, .sgl = true});
    uint8_t *list = d.h->ram + LIST;
    NvmeSqe sqe;

    for (unsigned pass = 0; pass < 2; pass++) {
        fill_buffer(&d, 8, 16, 4);
        if (pass) {
            clear_buffer(&d, 16);
        }
        memset(list, 0, 64);
        put_le64(list, LIST + 16); /* a last segment of two pieces */
        put_le32(list + 8, 32);
        list[15] = 0x30;
        put_le64(list + 16, META);
        put_le32(list + 24, 50);
        put_le64(list + 32, META + 50);
        put_le32(list + 40, 78);
        sqe = rw(&d, pass ? NVME_IO_READ : NVME_IO_WRITE, 8, 16, ALL);
        sqe.dw[0] |= 2U << 14;
        sqe.dw[4] = LIST;
        sqe.dw[6] = DATA;
        sqe.dw[8] = 16 * 512;
        sqe.dw[9] = 0;
        g_assert_cmphex(run(&d, &sqe), ==, 0);
        check_buffer(&d, 8, 16, 4);
    }
    put_le32(list + 40, 77);
    g_assert_cmphex(run(&d, &sqe), ==, NVME_SC_SGL_META_LENGTH);
    sqe.dw[4] = HOST_RAM_BYTES;
    g_assert_cmphex(run(&d, &sqe), ==, NVME_SC_DATA_TRANSFER);
    host_free(d.h);
}

static uint64_t read_ns(const Dev *d, unsigned prinfo)
{
    uint64_t before = d->h->now_ns;

    g_assert_cmphex(io(d, NVME_IO_READ, 0, 64, prinfo), ==, 0);
    return d->h->now_ns - before;
}

/* Metadata that is transferred takes its time on the host link: 1/64 more. */
static void test_link(void)
{
    Dev d = start(
        &(HostOptions){.metadata = 8, .pi = 1, .set = "host.link_mb_s=10"});
    uint64_t with, without;

    write_seed(&d, 0, 64, 1);
    g_assert_cmphex(host_flush(d.h, 1), ==, 0);
    host_sleep(d.h, 1000000000);
    without = read_ns(&d, ACT);
    host_sleep(d.h, 1000000000);
    with = read_ns(&d, 0);
    g_assert_cmpuint(with - without, ==, 64 * 8 * 100); /* 100 ns a byte */
    host_free(d.h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/pi/crc", test_crc);
    add("pi/transfer", test_transfer);
    add("pi/act", test_act);
    add("pi/checks", test_checks);
    add("pi/escape", test_escape);
    add("pi/compare", test_compare);
    add("pi/copy", test_copy);
    g_test_add_func("/nvme/pi/fields", test_fields);
    g_test_add_func("/nvme/pi/options", test_options);
    g_test_add_func("/nvme/pi/identify", test_identify);
    g_test_add_func("/nvme/pi/qualified", test_qualified);
    g_test_add_func("/nvme/pi/sgl", test_sgl);
    g_test_add_func("/nvme/pi/link", test_link);
    return g_test_run();
}
