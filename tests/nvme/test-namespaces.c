/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-namespaces.c - several namespaces: their configuration, management and
 * attachment, addresses, write protection, statistics, and power cuts at each
 * instant of a Delete and of a Create.
 *
 * The property tests keep a copy of what each namespace should hold.
 */
#include "host.h"

#include <stdlib.h>

#include "nvme-wire.h"
#include "simtime.h"
#include "ssd-save.h"

#define MiB   (1024 * 1024ULL)
#define BLOCK 512
#define ALL   0xffffffffU

static void bring_up(Host *h)
{
    memset(h->cq, 0, sizeof(h->cq));
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
}

static Host *start(const HostOptions *o)
{
    Host *h = host_new(o);

    bring_up(h);
    return h;
}

static Host *with(const char *namespaces)
{
    return start(&(HostOptions){.namespaces = namespaces});
}

static HostCqe admin(Host *h, uint8_t opcode, uint32_t nsid, uint32_t dw10,
                     uint32_t dw11, uint64_t prp)
{
    NvmeSqe sqe = host_sqe(opcode, nsid, prp);

    sqe.dw[10] = dw10;
    sqe.dw[11] = dw11;
    return host_do(h, 0, &sqe);
}

static uint16_t code(HostCqe cqe)
{
    return host_code(cqe.status);
}

/* ---- Identify ------------------------------------------------------------ */

static void *page(Host *h)
{
    return h->ram + HOST_DATA;
}

static uint16_t identify(Host *h, uint8_t cns, uint32_t nsid)
{
    memset(host_ram(h, HOST_DATA, 4096), 0xee, 4096);
    return code(admin(h, NVME_ADM_IDENTIFY, nsid, cns, 0, HOST_DATA));
}

static NvmeIdController controller(Host *h)
{
    NvmeIdController id;

    g_assert_cmphex(identify(h, 1, 0), ==, 0);
    memcpy(&id, page(h), sizeof(id));
    return id;
}

static uint64_t le64_of(NvmeLe128 v)
{
    uint64_t low;

    memcpy(&low, &v, sizeof(low));
    return GUINT64_FROM_LE(low);
}

static NvmeIdNamespace namespace(Host *h, uint8_t cns, uint32_t nsid)
{
    NvmeIdNamespace id;

    g_assert_cmphex(identify(h, cns, nsid), ==, 0);
    memcpy(&id, page(h), sizeof(id));
    return id;
}

/* "1 2 5": the list that begins after nsid. */
static char *list(Host *h, uint8_t cns, uint32_t nsid)
{
    GString *s = g_string_new(NULL);

    g_assert_cmphex(identify(h, cns, nsid), ==, 0);
    for (unsigned i = 0; i < 1024; i++) {
        uint32_t n = get_le32(h->ram + HOST_DATA + 4 * i);

        if (!n) {
            break;
        }
        g_string_append_printf(s, "%s%u", i ? " " : "", n);
    }
    return g_string_free(s, FALSE);
}

static void check_list(Host *h, uint8_t cns, uint32_t nsid, const char *want)
{
    g_autofree char *have = list(h, cns, nsid);

    g_assert_cmpstr(have, ==, want);
}

static uint64_t unallocated(Host *h)
{
    return le64_of(controller(h).unvmcap);
}

static uint64_t total(Host *h)
{
    return le64_of(controller(h).tnvmcap);
}

/* ---- management ---------------------------------------------------------- */

static HostCqe create_with(Host *h, const NvmeIdNamespace *id)
{
    memcpy(host_ram(h, HOST_DATA, 4096), id, sizeof(*id));
    return admin(h, NVME_ADM_NS_MANAGEMENT, 0, 0, 0, HOST_DATA);
}

static HostCqe create(Host *h, uint64_t nblocks, uint8_t format)
{
    NvmeIdNamespace id = {
        .nsze = nvme_le64(nblocks),
        .ncap = nvme_le64(nblocks),
        .flbas = format,
    };

    return create_with(h, &id);
}

static uint16_t delete (Host *h, uint32_t nsid)
{
    return code(admin(h, NVME_ADM_NS_MANAGEMENT, nsid, 1, 0, 0));
}

static uint16_t attach(Host *h, uint32_t nsid, unsigned sel)
{
    uint8_t *p = host_ram(h, HOST_DATA, 4096);

    memset(p, 0, 4096);
    put_le16(p, 1);
    put_le16(p + 2, 1);
    return code(admin(h, NVME_ADM_NS_ATTACHMENT, nsid, sel, 0, HOST_DATA));
}

static uint32_t create_attached(Host *h, uint64_t nblocks, uint8_t format)
{
    HostCqe cqe = create(h, nblocks, format);

    g_assert_cmphex(code(cqe), ==, 0);
    g_assert_cmphex(attach(h, cqe.dw0, 0), ==, 0);
    return cqe.dw0;
}

/* ---- data ---------------------------------------------------------------- */

static uint16_t rw(Host *h, uint8_t opcode, uint32_t nsid, uint64_t lba,
                   uint32_t nblocks, uint32_t block_bytes)
{
    NvmeSqe sqe = host_sqe(opcode, nsid, HOST_DATA);

    host_map(h, &sqe, HOST_DATA, (uint64_t)nblocks * block_bytes);
    sqe.dw[10] = (uint32_t)lba;
    sqe.dw[11] = (uint32_t)(lba >> 32);
    sqe.dw[12] = nblocks - 1;
    return code(host_do(h, 1, &sqe));
}

static uint16_t put(Host *h, uint32_t nsid, uint64_t lba, uint32_t nblocks,
                    uint8_t byte)
{
    memset(host_ram(h, HOST_DATA, nblocks * BLOCK), byte, nblocks * BLOCK);
    return rw(h, NVME_IO_WRITE, nsid, lba, nblocks, BLOCK);
}

static void check(Host *h, uint32_t nsid, uint64_t lba, uint32_t nblocks,
                  uint8_t byte)
{
    uint32_t bytes = nblocks * BLOCK;
    uint8_t *p = host_ram(h, HOST_DATA, bytes);

    memset(p, 0xee, bytes);
    g_assert_cmphex(rw(h, NVME_IO_READ, nsid, lba, nblocks, BLOCK), ==, 0);
    g_assert_cmphex(*p, ==, byte);
    g_assert_true(memcmp(p, p + 1, bytes - 1) == 0);
}

/* ---- configuration ------------------------------------------------------- */

static void test_one(void)
{
    Host *h = start(NULL);
    NvmeIdController id = controller(h);

    g_assert_cmpuint(nvme_le32(id.nn), ==, 1);
    g_assert_cmphex(nvme_le16(id.oacs) & 1 << 3, ==, 0);
    g_assert_cmphex(id.nwpc, ==, 0);
    g_assert_cmphex(id.lpa & 1, ==, 0);
    g_assert_cmpuint(le64_of(id.tnvmcap), ==, 0);
    g_assert_cmphex(delete (h, 1), ==, NVME_SC_INVALID_OPCODE);
    g_assert_cmphex(attach(h, 1, 1), ==, NVME_SC_INVALID_OPCODE);
    g_assert_cmphex(identify(h, 0x16, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(identify(h, 0, ALL), ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(code(admin(h, NVME_ADM_GET_FEATURES, 1, 0x84, 0, 0)), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(
        code(admin(h, NVME_ADM_GET_LOG_PAGE, 0, 4 | 0xff << 16, 0, HOST_DATA)),
        ==, NVME_SC_INVALID_LOG_PAGE);
    host_free(h);
}

static void test_equal(void)
{
    Host *h = with("4");
    NvmeIdController id = controller(h);
    uint64_t part = total(h) / 4 / 4096 * 8;

    g_assert_cmpuint(nvme_le32(id.nn), ==, 256);
    g_assert_cmphex(nvme_le16(id.oacs) & 1 << 3, ==, 1 << 3);
    g_assert_cmphex(nvme_le32(id.oaes) & 1 << 8, ==, 1 << 8);
    g_assert_cmphex(nvme_le32(id.ctratt) & 1 << 7, ==, 1 << 7);
    g_assert_cmphex(id.nwpc, ==, 7);
    g_assert_cmphex(id.lpa & 1, ==, 1);
    check_list(h, 0x02, 0, "1 2 3 4");
    check_list(h, 0x10, 2, "3 4");
    for (uint32_t nsid = 1; nsid <= 4; nsid++) {
        NvmeIdNamespace ns = namespace(h, 0, nsid);

        g_assert_cmpuint(nvme_le64(ns.nsze), ==, part);
        g_assert_cmpuint(ns.nlbaf, ==, 1);
        g_assert_cmpuint(ns.lbaf[0].lbads, ==, 9);
        g_assert_cmpuint(ns.lbaf[1].lbads, ==, 12);
        g_assert_cmpuint(le64_of(ns.nvmcap), ==, part * 512);
    }
    g_assert_cmpuint(unallocated(h), ==, total(h) - 4 * part * 512);
    g_assert_cmphex(identify(h, 0x16, 0), ==, 0);
    g_assert_cmpuint(get_le64(h->ram + HOST_DATA + 32), ==, 4096);
    host_free(h);
}

/* Sizes and formats; the identifiers differ. */
static void test_sizes(void)
{
    Host *h = with("1M;4M:4096;rest");
    NvmeIdNamespace a = namespace(h, 0, 1);
    NvmeIdNamespace b = namespace(h, 0, 2);
    NvmeIdNamespace c = namespace(h, 0, 3);
    NvmeIdNamespace any = namespace(h, 0, ALL);
    uint8_t ids[2][64];

    g_assert_cmpuint(nvme_le64(a.nsze), ==, 2048);
    g_assert_cmpuint(nvme_le64(b.nsze), ==, 1024);
    g_assert_cmpuint(b.flbas, ==, 1);
    g_assert_cmpuint(nvme_le16(b.npwg), ==, 0);
    g_assert_cmpuint(nvme_le16(a.npwg), ==, 7);
    g_assert_cmpuint(nvme_le64(c.nsze) * 512, ==, total(h) - 5 * MiB);
    g_assert_cmpuint(unallocated(h), ==, 0);
    g_assert_cmpuint(any.nlbaf, ==, 1);
    g_assert_cmpuint(any.nsze, ==, 0);
    g_assert_cmpmem(a.eui64, 7, b.eui64, 7);
    g_assert_cmpuint(a.eui64[7] + 1, ==, b.eui64[7]);
    for (uint32_t nsid = 1; nsid <= 2; nsid++) {
        g_assert_cmphex(identify(h, 3, nsid), ==, 0);
        memcpy(ids[nsid - 1], page(h), sizeof(ids[0]));
    }
    g_assert_true(memcmp(ids[0] + 16, ids[1] + 16, 16) != 0); /* UUID */
    /* Each has its own blocks. */
    for (uint32_t nsid = 1; nsid <= 3; nsid += 2) {
        g_assert_cmphex(put(h, nsid, 0, 64, (uint8_t)nsid), ==, 0);
    }
    check(h, 1, 0, 64, 1);
    check(h, 3, 0, 64, 3);
    g_assert_cmphex(put(h, 1, 2040, 9, 1), ==, NVME_SC_LBA_RANGE);
    g_assert_cmphex(rw(h, NVME_IO_WRITE, 2, 1023, 1, 4096), ==, 0);
    g_assert_cmphex(rw(h, NVME_IO_WRITE, 2, 1024, 1, 4096), ==,
                    NVME_SC_LBA_RANGE);
    host_free(h);
}

static void test_none(void)
{
    Host *h = with("0");

    check_list(h, 0x02, 0, "");
    check_list(h, 0x10, 0, "");
    g_assert_cmpuint(unallocated(h), ==, total(h));
    g_assert_cmpuint(namespace(h, 0, 1).nsze, ==, 0);
    g_assert_cmphex(rw(h, NVME_IO_READ, 1, 0, 1, 512), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(rw(h, NVME_IO_READ, 257, 0, 1, 512), ==,
                    NVME_SC_INVALID_NSID);
    host_free(h);
}

static void no_pin(void *opaque, bool level)
{
}

static bool no_msix(void *opaque)
{
    return false;
}

static const NvmeMachine no_machine = {.pin = no_pin, .msix_enabled = no_msix};
static const NvmeStore no_store;

/* One line that names the option, for each text that is no configuration. */
static void test_refused(void)
{
    static const char *const bad[] = {
        "",        "x",       "257",        "1M;", "1M;x",   "1X",
        "4:999",   "1M:512x", "1000",       "1T",  "100",    "99999999999999T",
        "rest;1M", "-1",      "1M;rest;1M", "1M:", "5M;;5M", "100K:4096;513",
    };
    Host *h = host_new(NULL);

    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        NvmeCtrl *ctrl = nvme_new(&no_machine, &no_store, NULL);
        NvmeConfig cfg = {
            .serial = "S",
            .model = "M",
            .firmware = "F",
            .n_queues = 1,
            .n_vectors = 1,
            .queue_size = 2,
            .mdts = 1,
            .backlog = NVME_BACKLOG,
            .kv_cache = NVME_KV_CACHE,
            .nblocks = h->nblocks,
            .namespaces = bad[i],
            .firmware_slots = 1,
        };
        g_autoptr(GError) error = NULL;
        g_autofree char *start_of = g_strdup_printf("namespaces=%s: ", bad[i]);

        if (strcmp(bad[i], "100") == 0) { /* is one */
            g_assert_true(nvme_attach(ctrl, h->ssd, &cfg, &error));
        } else {
            g_assert_false(nvme_attach(ctrl, h->ssd, &cfg, &error));
            g_assert_nonnull(error);
            g_assert_true(g_str_has_prefix(error->message, start_of));
            g_assert_null(strchr(error->message, '\n'));
        }
        nvme_free(ctrl);
    }
    host_free(h);
}

/* ---- statuses ------------------------------------------------------------ */

/* Base 5.23: the newest entry of the error log has the bytes of the namespace
 * for which there is no room, in whole granules. */
static void needs(Host *h, uint64_t bytes)
{
    const uint8_t *p = h->ram + HOST_DATA;

    g_assert_cmphex(
        code(admin(h, NVME_ADM_GET_LOG_PAGE, ALL, 1 | 31 << 16, 0, HOST_DATA)),
        ==, 0);
    g_assert_cmphex(get_le16(p + 12) >> 1 & NVME_SC_CODE_MASK, ==,
                    NVME_SC_NS_CAPACITY);
    g_assert_cmphex(get_le64(p + 32), ==, bytes);
}

static void test_create(void)
{
    static const struct {
        NvmeIdNamespace id;
        uint16_t status;
    } bad[] = {
        {{.nsze = 8, .ncap = 8, .flbas = 2}, NVME_SC_INVALID_FORMAT},
        {{.nsze = 8, .ncap = 8, .flbas = 0x20}, NVME_SC_INVALID_FORMAT},
        {{.nsze = 8, .ncap = 8, .dps = 1}, NVME_SC_INVALID_FORMAT},
        {{.nsze = 8, .ncap = 8, .nmic = 2}, NVME_SC_INVALID_FIELD},
        {{.nsze = 8, .ncap = 8, .anagrpid = 1}, NVME_SC_INVALID_FIELD},
        {{.nsze = 8, .ncap = 8, .nvmsetid = 2}, NVME_SC_INVALID_FIELD},
        {{.nsze = 8, .ncap = 8, .endgid = 2}, NVME_SC_INVALID_FIELD},
        {{.nsze = 0, .ncap = 0}, NVME_SC_INVALID_FIELD},
        {{.nsze = 8, .ncap = 16}, NVME_SC_INVALID_FIELD},
        {{.nsze = 16, .ncap = 8}, NVME_SC_NS_THIN},
        {{.nsze = ~0ULL, .ncap = ~0ULL}, NVME_SC_NS_CAPACITY},
        {{.nsze = 1 << 20, .ncap = 1 << 20}, NVME_SC_NS_CAPACITY},
        {{.nsze = 8192, .ncap = 8192, .flbas = 1}, NVME_SC_NS_CAPACITY},
    };
    Host *h = with("0");
    uint64_t all = total(h);

    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        NvmeIdNamespace id = bad[i].id;

        id.nsze = nvme_le64(id.nsze);
        id.ncap = nvme_le64(id.ncap);
        id.endgid = nvme_le16(id.endgid);
        id.nvmsetid = nvme_le16(id.nvmsetid);
        g_assert_cmphex(code(create_with(h, &id)), ==, bad[i].status);
    }
    g_assert_cmphex(code(admin(h, NVME_ADM_NS_MANAGEMENT, 0, 2, 0, HOST_DATA)),
                    ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(
        code(admin(h, NVME_ADM_NS_MANAGEMENT, 0, 0, 1U << 24, HOST_DATA)), ==,
        NVME_SC_COMMAND_SET);
    check_list(h, 0x10, 0, "");
    for (uint32_t i = 1; i <= 256; i++) { /* 8 blocks, 1 granule each */
        HostCqe cqe = create(h, 1 + i % 8, 0);

        g_assert_cmphex(code(cqe), ==, 0);
        g_assert_cmpuint(cqe.dw0, ==, i);
    }
    g_assert_cmphex(code(create(h, 8, 0)), ==, NVME_SC_NS_UNAVAILABLE);
    g_assert_cmpuint(unallocated(h), ==, all - 256 * 4096);
    g_assert_cmphex(delete (h, 7), ==, 0);
    g_assert_cmphex(delete (h, 7), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(delete (h, 0), ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(delete (h, 257), ==, NVME_SC_INVALID_NSID);
    g_assert_cmpuint(create(h, 8, 0).dw0, ==, 7);
    g_assert_cmphex(delete (h, ALL), ==, 0);
    g_assert_cmphex(delete (h, ALL), ==, 0);
    check_list(h, 0x10, 0, "");
    g_assert_cmpuint(unallocated(h), ==, all);
    g_assert_cmpuint(create(h, all / 512, 0).dw0, ==, 1);
    g_assert_cmphex(code(create(h, 1, 0)), ==, NVME_SC_NS_CAPACITY);
    needs(h, 4096);
    g_assert_cmphex(code(create(h, 9, 0)), ==, NVME_SC_NS_CAPACITY);
    needs(h, 8192);
    g_assert_cmphex(code(create(h, 9, 1)), ==, NVME_SC_NS_CAPACITY);
    needs(h, 9 * 4096);
    g_assert_cmphex(code(create(h, 1ULL << 40, 0)), ==, NVME_SC_NS_CAPACITY);
    needs(h, 1ULL << 49);
    g_assert_cmphex(code(create(h, ~0ULL, 0)), ==, NVME_SC_NS_CAPACITY);
    needs(h, ~0ULL); /* the most that the field can say */
    g_assert_cmphex(delete (h, 7), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(
        code(admin(h, NVME_ADM_GET_LOG_PAGE, ALL, 1 | 31 << 16, 0, HOST_DATA)),
        ==, 0);
    g_assert_cmpuint(get_le64(h->ram + HOST_DATA + 32), ==, 0);
    host_free(h);
}

static uint16_t attach_list(Host *h, unsigned n, unsigned a, unsigned b)
{
    uint8_t *p = host_ram(h, HOST_DATA, 4096);

    memset(p, 0, 4096);
    put_le16(p, (uint16_t)n);
    put_le16(p + 2, (uint16_t)a);
    put_le16(p + 4, (uint16_t)b);
    return code(admin(h, NVME_ADM_NS_ATTACHMENT, 1, 0, 0, HOST_DATA));
}

static void test_attach(void)
{
    Host *h = with("0");

    g_assert_cmpuint(create(h, 64, 0).dw0, ==, 1);
    check_list(h, 0x02, 0, "");
    check_list(h, 0x10, 0, "1");
    g_assert_cmpuint(namespace(h, 0, 1).nsze, ==, 0);
    g_assert_cmpuint(nvme_le64(namespace(h, 0x11, 1).nsze), ==, 64);
    g_assert_cmphex(identify(h, 0x12, 1), ==, 0);
    g_assert_cmpuint(get_le16(h->ram + HOST_DATA), ==, 0);
    g_assert_cmphex(put(h, 1, 0, 8, 1), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(attach(h, 1, 1), ==, NVME_SC_NS_NOT_ATTACHED);
    g_assert_cmphex(attach(h, 1, 2), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(attach(h, 2, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(attach(h, 0, 0), ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(attach(h, ALL, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(attach_list(h, 0, 1, 0), ==, NVME_SC_CONTROLLER_LIST);
    g_assert_cmphex(attach_list(h, 1, 2, 0), ==, NVME_SC_CONTROLLER_LIST);
    g_assert_cmphex(attach_list(h, 2, 1, 2), ==, NVME_SC_CONTROLLER_LIST);
    g_assert_cmphex(attach_list(h, 4000, 1, 2), ==, NVME_SC_CONTROLLER_LIST);
    g_assert_cmphex(attach_list(h, 1, 1, 0), ==, 0);
    g_assert_cmphex(attach(h, 1, 0), ==, NVME_SC_NS_ATTACHED);
    g_assert_cmphex(identify(h, 0x12, 1), ==, 0);
    g_assert_cmpuint(get_le16(h->ram + HOST_DATA), ==, 1);
    check_list(h, 0x02, 0, "1");
    g_assert_cmphex(put(h, 1, 0, 8, 0x77), ==, 0);
    g_assert_cmphex(attach(h, 1, 1), ==, 0);
    g_assert_cmphex(put(h, 1, 0, 8, 1), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(attach(h, 1, 0), ==, 0);
    check(h, 1, 0, 8, 0x77);
    host_free(h);
}

/* ---- events -------------------------------------------------------------- */

static void read_changed(Host *h, bool retain, const char *want)
{
    g_autoptr(GString) have = g_string_new(NULL);

    g_assert_cmphex(code(admin(h, NVME_ADM_GET_LOG_PAGE, 0,
                               4 | retain << 15 | 0x3ffU << 16, 0, HOST_DATA)),
                    ==, 0);
    for (unsigned i = 0; get_le32(h->ram + HOST_DATA + 4 * i); i++) {
        g_string_append_printf(have, "%s%u", i ? " " : "",
                               get_le32(h->ram + HOST_DATA + 4 * i));
    }
    g_assert_cmpstr(have->str, ==, want);
}

static void test_events(void)
{
    Host *h = with("2");
    NvmeSqe aer = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);
    HostCqe cqe;

    /* Not wanted: it is in the log only. */
    host_send(h, 0, &aer);
    g_assert_cmphex(attach(h, 2, 1), ==, 0);
    g_assert_false(host_poll(h, 0, &cqe));
    read_changed(h, true, "2");
    read_changed(h, false, "2");
    read_changed(h, false, "");
    g_assert_cmphex(code(admin(h, NVME_ADM_SET_FEATURES, 0, 0x0b, 1 << 8, 0)),
                    ==, 0);
    memset(host_ram(h, HOST_DATA, 4096), 0, 4096);
    put_le16(host_ram(h, HOST_DATA, 2), 1);
    put_le16(host_ram(h, HOST_DATA + 2, 2), 1);
    {
        NvmeSqe sqe = host_sqe(NVME_ADM_NS_ATTACHMENT, 2, HOST_DATA);
        uint16_t cid = host_send(h, 0, &sqe);
        HostCqe first = host_wait(h, 0);
        HostCqe second = host_wait(h, 0);

        cqe = first.cid == cid ? second : first;
    }
    g_assert_cmphex(cqe.dw0, ==, 2 | 0 << 8 | 4 << 16);
    g_assert_cmphex(delete (h, 1), ==, 0); /* masked until the page is read */
    host_send(h, 0, &aer);
    host_run(h);
    g_assert_false(host_poll(h, 0, &cqe));
    read_changed(h, false, "1 2");
    read_changed(h, false, "");
    host_free(h);
}

/* ---- write protection ---------------------------------------------------- */

static uint16_t protect(Host *h, uint32_t nsid, uint32_t state)
{
    return code(admin(h, NVME_ADM_SET_FEATURES, nsid, 0x84, state, 0));
}

static uint32_t protection(Host *h, uint32_t nsid)
{
    HostCqe cqe = admin(h, NVME_ADM_GET_FEATURES, nsid, 0x84, 0, 0);

    g_assert_cmphex(code(cqe), ==, 0);
    return cqe.dw0;
}

static uint16_t deallocate(Host *h, uint32_t nsid, uint64_t lba, uint32_t n,
                           bool ad)
{
    NvmeSqe sqe = host_sqe(NVME_IO_DSM, nsid, HOST_DATA);
    uint8_t *p = host_ram(h, HOST_DATA, 16);

    put_le32(p, 0);
    put_le32(p + 4, n);
    put_le64(p + 8, lba);
    sqe.dw[11] = ad ? 4 : 0;
    return code(host_do(h, 1, &sqe));
}

static void refuses_writes(Host *h, uint32_t nsid)
{
    g_assert_cmphex(put(h, nsid, 0, 8, 1), ==, NVME_SC_NS_PROTECTED);
    g_assert_cmphex(rw(h, NVME_IO_WRITE_ZEROES, nsid, 0, 8, 512), ==,
                    NVME_SC_NS_PROTECTED);
    g_assert_cmphex(deallocate(h, nsid, 0, 8, true), ==, NVME_SC_NS_PROTECTED);
    g_assert_cmphex(deallocate(h, nsid, 0, 8, false), ==, 0);
    g_assert_cmphex(delete (h, nsid), ==, NVME_SC_NS_PROTECTED);
    g_assert_cmphex(delete (h, ALL), ==, NVME_SC_NS_PROTECTED);
    g_assert_cmphex(rw(h, NVME_IO_FLUSH, nsid, 0, 1, 512), ==, 0);
    check(h, nsid, 0, 8, 0x31);
    g_assert_cmpuint(namespace(h, 0, nsid).nsattr, ==, 1);
}

static void cycle(Host *h)
{
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    bring_up(h);
}

static void test_protect(void)
{
    Host *h = with("2");

    for (uint32_t nsid = 1; nsid <= 2; nsid++) {
        g_assert_cmphex(put(h, nsid, 0, 8, 0x31), ==, 0);
    }
    g_assert_cmphex(protect(h, 1, 4), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(protect(h, 1, 8), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(protect(h, 3, 1), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(protect(h, 1, 1), ==, 0);
    refuses_writes(h, 1);
    g_assert_cmphex(put(h, 2, 0, 8, 0x31), ==, 0);
    nvme_reset(h->ctrl, h->now_ns);
    bring_up(h);
    g_assert_cmpuint(protection(h, 1), ==, 1);
    cycle(h); /* what was cached when it was protected is durable */
    refuses_writes(h, 1);
    g_assert_cmphex(protect(h, 1, 0), ==, 0);
    g_assert_cmphex(put(h, 1, 0, 8, 0x31), ==, 0);
    g_assert_cmphex(protect(h, 1, 2), ==, 0);
    g_assert_cmphex(protect(h, 1, 2), ==, 0);
    g_assert_cmphex(protect(h, 1, 0), ==, NVME_SC_FEATURE_NOT_CHANGEABLE);
    g_assert_cmphex(protect(h, ALL, 1), ==, NVME_SC_FEATURE_NOT_CHANGEABLE);
    g_assert_cmpuint(protection(h, 2), ==, 0);
    refuses_writes(h, 1);
    cycle(h);
    g_assert_cmpuint(protection(h, 1), ==, 0);
    g_assert_cmphex(put(h, 2, 0, 8, 0x31), ==, 0);
    g_assert_cmphex(protect(h, ALL, 3), ==, 0);
    cycle(h);
    refuses_writes(h, 2);
    g_assert_cmphex(protect(h, 2, 1), ==, NVME_SC_FEATURE_NOT_CHANGEABLE);
    host_free(h);
}

/* ---- statistics ---------------------------------------------------------- */

static void test_statistics(void)
{
    Host *h = with("2");
    NvmeHealthLog log;

    for (unsigned i = 0; i < 5; i++) {
        g_assert_cmphex(put(h, 2, 1000 * i, 1000, 1), ==, 0);
    }
    check(h, 2, 0, 1000, 1);
    check(h, 1, 0, 8, 0);
    g_assert_cmphex(put(h, 2, 1 << 30, 1, 1), ==, NVME_SC_LBA_RANGE);
    for (uint32_t nsid = 0; nsid <= 2; nsid++) {
        g_assert_cmphex(code(admin(h, NVME_ADM_GET_LOG_PAGE, nsid,
                                   2 | 0x7fU << 16, 0, HOST_DATA)),
                        ==, 0);
        memcpy(&log, page(h), sizeof(log));
        g_assert_cmpuint(le64_of(log.host_writes), ==, nsid == 1 ? 0 : 5);
        g_assert_cmpuint(le64_of(log.host_reads), ==, nsid == 0 ? 2 : 1);
        g_assert_cmpuint(le64_of(log.data_units_written), ==,
                         nsid == 1 ? 0 : 5);
    }
    g_assert_cmphex(
        code(admin(h, NVME_ADM_GET_LOG_PAGE, 3, 2 | 0x7fU << 16, 0, HOST_DATA)),
        ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(
        code(admin(h, NVME_ADM_GET_LOG_PAGE, 1, 1 | 0x7fU << 16, 0, HOST_DATA)),
        ==, 0); /* of the controller */
    host_free(h);
}

/* ---- a deleted namespace ------------------------------------------------- */

/* Of a namespace as large as the drive: no byte that is not 0. */
static void all_zero(Host *h, uint32_t nsid, uint64_t nblocks)
{
    for (uint64_t at = 0; at < nblocks; at += 1000) {
        check(h, nsid, at, (uint32_t)MIN(1000, nblocks - at), 0);
    }
}

/* Commands are in flight when their namespace goes: some in the drive, some
 * not, with a slow store. */
static void test_delete_busy(void)
{
    for (unsigned slow = 0; slow < 2; slow++) {
        Host *h = start(&(HostOptions){.namespaces = "2", .slow = slow});
        uint64_t nblocks = total(h) / 512;
        NvmeSqe sqe;
        unsigned n = 0, deleted = 0;
        HostCqe cqe;

        memset(host_ram(h, HOST_DATA, 1 << 19), 0x99, 1 << 19);
        for (unsigned i = 0; i < 60; i++) {
            sqe = host_rw(h, NVME_IO_WRITE, 1000 * i % 9000, 1000, HOST_DATA);
            host_put(h, 1, &sqe);
        }
        host_ring(h, 1);
        sqe = host_sqe(NVME_ADM_NS_MANAGEMENT, 1, 0);
        sqe.dw[10] = 1;
        host_send(h, 0, &sqe);
        while (n < 60 || !deleted) {
            host_step(h);
            while (host_poll(h, 1, &cqe)) {
                g_assert_true(cqe.status == 0 ||
                              host_code(cqe.status) == NVME_SC_INVALID_FIELD);
                n++;
            }
            while (host_poll(h, 0, &cqe)) {
                g_assert_cmphex(cqe.status, ==, 0);
                deleted++;
            }
        }
        g_assert_cmphex(delete (h, 2), ==, 0);
        all_zero(h, create_attached(h, nblocks, 0), nblocks);
        host_free(h);
    }
}

static const char *const drives[] = {
    "ftl.recovery=capacitors;ftl.op_percent=60%",
    "ftl.recovery=capacitors;buffer.plp=on",
    "ftl.recovery=scan;ftl.op_percent=60%",
    "ftl.recovery=checkpoint;ftl.op_percent=60%",
    "ftl.recovery=scan;ftl.op_percent=60%;buffer.ignore_flush=on",
};

/* The power goes so long after the Delete began; then another namespace takes
 * all that is there.  Returns whether the Delete had ended. */
static bool cut_in_delete(const char *drive, uint64_t after_ns, bool slow)
{
    Host *h =
        start(&(HostOptions){.namespaces = "2", .set = drive, .slow = slow});
    uint64_t nblocks = total(h) / 512;
    NvmeSqe sqe = host_sqe(NVME_ADM_NS_MANAGEMENT, 1, 0);
    HostCqe cqe;
    bool ended;
    uint64_t end_ns;

    g_assert_cmphex(put(h, 2, 0, 512, 0x22), ==, 0);
    for (unsigned i = 0; i < 8; i++) {
        g_assert_cmphex(put(h, 1, 1000 * i, 1000, 0x11), ==, 0);
    }
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(put(h, 1, 0, 64, 0x12), ==, 0); /* only in the buffer */
    sqe.dw[10] = 1;
    host_send(h, 0, &sqe);
    end_ns = h->now_ns + after_ns;
    host_run(h);
    while (nvme_next_event_ns(h->ctrl) <= end_ns) {
        h->now_ns = MAX(h->now_ns, nvme_next_event_ns(h->ctrl));
        host_run(h);
        if (slow) {
            host_store_step(h);
        }
    }
    h->now_ns = MAX(h->now_ns, end_ns);
    host_run(h);
    ended = host_poll(h, 0, &cqe);
    nvme_power_cut(h->ctrl, h->now_ns);
    while (host_store_step(h)) {
    }
    nvme_power_on(h->ctrl, h->now_ns);
    bring_up(h);
    check_list(h, 0x10, 0, "2");
    check(h, 2, 512, 8, 0);
    g_assert_cmpuint(unallocated(h), >=, total(h) / 2);
    g_assert_cmpuint(create_attached(h, 9000, 0), ==, 1);
    all_zero(h, 1, 9000);
    g_assert_cmphex(put(h, 1, 0, 8, 0x55), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    if (!strstr(drive, "ignore_flush")) {
        cycle(h);
        check(h, 1, 0, 8, 0x55);
        all_zero(h, 2, 0);
        check(h, 1, 8, 1000, 0); /* still */
    }
    g_assert_cmphex(delete (h, ALL), ==, 0);
    cycle(h);
    all_zero(h, create_attached(h, nblocks, 0), nblocks);
    host_free(h);
    return ended;
}

static void test_delete_cut(void)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(drives); i++) {
        unsigned n = 0;

        /* From ever longer ones, to one that comes too late. */
        for (uint64_t ns = 0; n < 2; ns = ns ? ns * 5 / 4 : 500) {
            n += cut_in_delete(drives[i], ns, i == 2);
            g_assert_cmpuint(ns, <, 100 * NS_PER_S);
        }
    }
}

/* A namespace that was created, and data that was flushed, are there after a
 * cut; it comes while the Create trims. */
static void test_create_cut(void)
{
    for (uint64_t ns = 500; ns < 200 * NS_PER_MS; ns *= 2) {
        Host *h = start(&(HostOptions){.namespaces = "2",
                                       .set = "ftl.recovery=scan;"
                                              "ftl.op_percent=60%"});
        uint64_t nblocks = total(h) / 512;
        NvmeSqe sqe = host_sqe(NVME_ADM_NS_MANAGEMENT, ALL, 0);
        NvmeIdNamespace id = {.nsze = nvme_le64(nblocks),
                              .ncap = nvme_le64(nblocks)};
        HostCqe cqe;
        bool created;

        for (unsigned i = 0; i < 8; i++) {
            g_assert_cmphex(put(h, 1, 1000 * i, 1000, 0x11), ==, 0);
        }
        g_assert_cmphex(host_flush(h, 1), ==, 0);
        sqe.dw[10] = 1;
        host_send(h, 0, &sqe);
        host_run(h);
        cycle(h); /* nothing is clean */
        memcpy(host_ram(h, HOST_DATA, 4096), &id, sizeof(id));
        sqe = host_sqe(NVME_ADM_NS_MANAGEMENT, 0, HOST_DATA);
        host_send(h, 0, &sqe);
        host_sleep(h, ns);
        created = host_poll(h, 0, &cqe);
        g_assert_true(!created || cqe.dw0 == 1);
        cycle(h);
        check_list(h, 0x10, 0, created ? "1" : "");
        if (created) {
            g_assert_cmphex(attach(h, 1, 0), ==, 0);
        } else {
            g_assert_cmpuint(create_attached(h, nblocks, 0), ==, 1);
        }
        all_zero(h, 1, nblocks);
        host_free(h);
    }
}

/* One at a time; a reset ends it early. */
static void test_one_at_a_time(void)
{
    Host *h = with("2");
    NvmeSqe sqe = host_sqe(NVME_ADM_NS_MANAGEMENT, 1, 0);
    HostCqe a, b;

    g_assert_cmphex(put(h, 1, 0, 1000, 0x11), ==, 0);
    sqe.dw[10] = 1;
    host_put(h, 0, &sqe);
    sqe.dw[1] = 2;
    host_put(h, 0, &sqe);
    host_ring(h, 0);
    a = host_wait(h, 0);
    b = host_wait(h, 0);
    g_assert_cmphex(host_code(a.status), ==, NVME_SC_COMMAND_SEQUENCE);
    g_assert_cmphex(a.status & NVME_SC_DNR, ==, 0);
    g_assert_cmphex(b.status, ==, 0);
    host_send(h, 0, &sqe);
    host_run(h);
    nvme_reset(h->ctrl, h->now_ns);
    bring_up(h);
    check_list(h, 0x10, 0, "");
    g_assert_cmpuint(unallocated(h), ==, total(h));
    all_zero(h, create_attached(h, total(h) / 512, 0), 9000);
    host_free(h);
}

/* ---- pieces -------------------------------------------------------------- */

#define MODEL_NS    12
#define MODEL_BYTES (1 << 20)

typedef struct Model {
    bool there;
    uint32_t block_bytes;
    uint64_t nblocks;
    uint8_t *data;
} Model;

typedef struct World {
    Host *h;
    HostOptions o;
    Prng r;
    Model ns[MODEL_NS + 1];
} World;

static void model_create(World *w)
{
    unsigned format = (unsigned)prng_below(&w->r, 2);
    uint32_t block_bytes = format ? 4096 : 512;
    uint64_t n = 1 + prng_below(&w->r, MODEL_BYTES / block_bytes);
    HostCqe cqe = create(w->h, n, (uint8_t)format);
    uint16_t status = host_code(cqe.status);
    Model *m;

    if (status) {
        g_assert_true(status == NVME_SC_NS_CAPACITY);
        return;
    }
    g_assert_cmphex(attach(w->h, cqe.dw0, 0), ==, 0);
    g_assert_cmpuint(cqe.dw0, <=, MODEL_NS);
    m = &w->ns[cqe.dw0];
    g_assert_false(m->there);
    *m = (Model){true, block_bytes, n, g_malloc0(n * block_bytes)};
}

static void model_io(World *w, uint32_t nsid)
{
    Model *m = &w->ns[nsid];
    uint64_t lba = prng_below(&w->r, m->nblocks);
    uint32_t most =
        (uint32_t)MIN(m->nblocks - lba, (256 << 10) / m->block_bytes);
    uint32_t n = 1 + (uint32_t)prng_below(&w->r, most);
    uint8_t *at = m->data + lba * m->block_bytes;
    size_t bytes = (size_t)n * m->block_bytes;
    uint8_t *ram = host_ram(w->h, HOST_DATA, bytes);
    uint64_t unit = 4096;
    uint64_t first, end;

    switch (prng_below(&w->r, 5)) {
    case 0:
    case 1:
        for (size_t i = 0; i < bytes; i += 8) {
            put_le64(ram + i, prng_below(&w->r, UINT64_MAX));
        }
        memcpy(at, ram, bytes);
        g_assert_cmphex(rw(w->h, NVME_IO_WRITE, nsid, lba, n, m->block_bytes),
                        ==, 0);
        break;
    case 2:
        memset(at, 0, bytes);
        g_assert_cmphex(
            rw(w->h, NVME_IO_WRITE_ZEROES, nsid, lba, n, m->block_bytes), ==,
            0);
        break;
    case 3:
        first = ((uint64_t)(at - m->data) + unit - 1) / unit * unit;
        end = ((uint64_t)(at - m->data) + bytes) / unit * unit;
        if (end > first) {
            memset(m->data + first, 0, end - first);
        }
        g_assert_cmphex(deallocate(w->h, nsid, lba, n, true), ==, 0);
        break;
    default:
        memcpy(ram, at, bytes);
        g_assert_cmphex(rw(w->h, NVME_IO_COMPARE, nsid, lba, n, m->block_bytes),
                        ==, 0);
        ram[prng_below(&w->r, bytes)] ^= 1;
        g_assert_cmphex(rw(w->h, NVME_IO_COMPARE, nsid, lba, n, m->block_bytes),
                        ==, NVME_SC_COMPARE_FAILURE);
    }
}

static void model_check(World *w)
{
    for (uint32_t nsid = 1; nsid <= MODEL_NS; nsid++) {
        Model *m = &w->ns[nsid];
        uint64_t step = (512 << 10) / (m->there ? m->block_bytes : 1);

        for (uint64_t lba = 0; m->there && lba < m->nblocks; lba += step) {
            uint64_t n = MIN(step, m->nblocks - lba);

            g_assert_cmphex(
                rw(w->h, NVME_IO_READ, nsid, lba, (uint32_t)n, m->block_bytes),
                ==, 0);
            g_assert_cmpmem(w->h->ram + HOST_DATA, n * m->block_bytes,
                            m->data + lba * m->block_bytes, n * m->block_bytes);
        }
    }
}

/* The controller moves; its namespaces go with it. */
static void model_move(World *w)
{
    g_autoptr(GError) error = NULL;
    GByteArray *drive = NULL;
    GByteArray *ctrl = NULL;
    Host *to;

    host_settle(w->h);
    host_save(w->h, &drive, &ctrl);
    w->o.namespaces = "0";
    to = host_reload(&w->o, w->h, drive, ctrl, &error);
    g_assert_no_error(error);
    nvme_hold(to->ctrl, false);
    w->h = to;
    g_byte_array_unref(drive);
    g_byte_array_unref(ctrl);
}

static void model_delete(World *w, uint32_t nsid)
{
    g_assert_cmphex(delete (w->h, nsid), ==, 0);
    g_free(w->ns[nsid].data);
    w->ns[nsid].there = false;
}

/* Namespaces come and go, so that they are in pieces. */
static void test_pieces(void)
{
    for (unsigned seed = 1; seed <= 4; seed++) {
        World w = {.o = {.namespaces = "0",
                         .slow = seed % 2,
                         .set = "nand.blocks=32;ftl.op_percent=60%"}};

        w.h = start(&w.o);
        prng_seed(&w.r, seed, 0x4a5);
        for (unsigned i = 0; i < 600; i++) {
            uint32_t nsid = 1 + (uint32_t)prng_below(&w.r, MODEL_NS);

            if (prng_below(&w.r, 40) == 0) {
                model_check(&w);
                model_move(&w);
            }
            if (!w.ns[nsid].there) {
                model_create(&w);
            } else if (prng_below(&w.r, 12) == 0) {
                model_delete(&w, nsid);
            } else {
                model_io(&w, nsid);
            }
        }
        model_check(&w);
        for (uint32_t nsid = 1; nsid <= MODEL_NS; nsid++) {
            if (w.ns[nsid].there) {
                model_delete(&w, nsid);
            }
        }
        g_assert_cmpuint(unallocated(w.h), ==, total(w.h));
        host_free(w.h);
    }
}

/* A namespace of every second granule: each command is of many pieces. */
static void test_scattered(void)
{
    Host *h = with("0");
    uint64_t n = 0;
    uint32_t nsid;

    for (uint32_t i = 1; i <= 256; i++) {
        g_assert_cmpuint(create(h, 8, 0).dw0, ==, i);
    }
    g_assert_cmpuint(unallocated(h) % 4096, ==, 0);
    for (uint32_t i = 2; i <= 256; i += 2) {
        g_assert_cmphex(delete (h, i), ==, 0);
        n += 8;
    }
    n += (unallocated(h) - n * 512) / 512; /* all that is left */
    nsid = create_attached(h, n, 0);
    for (uint64_t at = 0; at < 1024; at++) {
        g_assert_cmphex(put(h, nsid, at, 1, (uint8_t)at), ==, 0);
    }
    for (uint64_t at = 0; at < 1024; at++) {
        check(h, nsid, at, 1, (uint8_t)at);
    }
    g_assert_cmphex(put(h, nsid, 3, 1000, 0x42), ==, 0);
    check(h, nsid, 3, 1000, 0x42);
    check(h, nsid, 2, 1, 2);
    g_assert_cmphex(rw(h, NVME_IO_WRITE_ZEROES, nsid, 5, 999, 512), ==, 0);
    check(h, nsid, 5, 999, 0);
    check(h, nsid, 4, 1, 0x42);
    for (uint32_t i = 1; i <= 255; i += 2) { /* the others are untouched */
        if (i != nsid) {
            g_assert_cmphex(attach(h, i, 0), ==, 0);
            check(h, i, 0, 8, 0);
        }
    }
    host_free(h);
}

/* ---- saving -------------------------------------------------------------- */

static bool load_namespaces(Host *h, char *bytes, size_t n, GError **error)
{
    FILE *f = fmemopen(bytes, n, "rb");
    bool ok = nvme_load_namespaces(h->ctrl, f, error);

    fclose(f);
    return ok;
}

/* Alone, beside the drive; each bit of it that is turned is found. */
static void test_saved_alone(void)
{
    Host *h = with("1M;2M:4096");
    GError *error = NULL;
    char *bytes = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&bytes, &n);

    g_assert_cmphex(attach(h, 1, 1), ==, 0);
    g_assert_cmphex(protect(h, 2, 3), ==, 0);
    g_assert_true(nvme_save_namespaces(h->ctrl, f, &error));
    fclose(f);
    host_free(h);
    h = host_new(&(HostOptions){.namespaces = "7"});
    g_assert_true(load_namespaces(h, bytes, n, &error));
    host_enable(h);
    check_list(h, 0x02, 0, "2");
    check_list(h, 0x10, 0, "1 2");
    g_assert_cmpuint(protection(h, 2), ==, 3);
    g_assert_cmpuint(nvme_le64(namespace(h, 0, 2).nsze), ==, 512);
    host_free(h);
    for (size_t i = 0; i < n; i += 1 + i / 8) {
        h = host_new(&(HostOptions){.namespaces = "7"});
        bytes[i] ^= 0x10;
        g_assert_false(load_namespaces(h, bytes, n, &error));
        g_assert_nonnull(error);
        g_clear_error(&error);
        bytes[i] ^= 0x10;
        host_free(h);
    }
    h = host_new(NULL);
    g_assert_false(load_namespaces(h, bytes, n, &error));
    g_assert_nonnull(strstr(error->message, "namespaces="));
    g_clear_error(&error);
    host_free(h);
    free(bytes);
}

/* ---- Error Recovery ------------------------------------------------------ */

static uint32_t recovery(Host *h, uint32_t nsid)
{
    return admin(h, NVME_ADM_GET_FEATURES, nsid, 0x05, 0, 0).dw0;
}

static void test_recovery(void)
{
    Host *h = with("3");

    g_assert_cmphex(code(admin(h, NVME_ADM_SET_FEATURES, 2, 0x05, 77, 0)), ==,
                    0);
    g_assert_cmpuint(recovery(h, 1), ==, 0);
    g_assert_cmpuint(recovery(h, 2), ==, 77);
    g_assert_cmphex(code(admin(h, NVME_ADM_SET_FEATURES, ALL, 0x05, 5, 0)), ==,
                    0);
    g_assert_cmpuint(recovery(h, 3), ==, 5);
    g_assert_cmphex(code(admin(h, NVME_ADM_SET_FEATURES, 2, 0x05, 1 << 17, 0)),
                    ==, NVME_SC_INVALID_FIELD);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/namespaces/one", test_one);
    g_test_add_func("/nvme/namespaces/equal", test_equal);
    g_test_add_func("/nvme/namespaces/sizes", test_sizes);
    g_test_add_func("/nvme/namespaces/none", test_none);
    g_test_add_func("/nvme/namespaces/refused", test_refused);
    g_test_add_func("/nvme/namespaces/create", test_create);
    g_test_add_func("/nvme/namespaces/attach", test_attach);
    g_test_add_func("/nvme/namespaces/events", test_events);
    g_test_add_func("/nvme/namespaces/protect", test_protect);
    g_test_add_func("/nvme/namespaces/statistics", test_statistics);
    g_test_add_func("/nvme/namespaces/delete-busy", test_delete_busy);
    g_test_add_func("/nvme/namespaces/delete-cut", test_delete_cut);
    g_test_add_func("/nvme/namespaces/create-cut", test_create_cut);
    g_test_add_func("/nvme/namespaces/one-at-a-time", test_one_at_a_time);
    g_test_add_func("/nvme/namespaces/pieces", test_pieces);
    g_test_add_func("/nvme/namespaces/scattered", test_scattered);
    g_test_add_func("/nvme/namespaces/saved-alone", test_saved_alone);
    g_test_add_func("/nvme/namespaces/error-recovery", test_recovery);
    return g_test_run();
}
