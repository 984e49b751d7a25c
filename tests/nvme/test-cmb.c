/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-cmb.c - the controller memory buffer: registers, what may be in it, its
 * content in resets and power cuts, its cost in the model, and bad places.
 */
#include "host.h"
#include "simtime.h"

#define CMB_BYTES (1U << 20)
#define CBA       0x800000000ULL /* no RAM there */
#define CRE       1U
#define CMSE      2U

/* Places in the buffer. */
#define SQ   0x0000
#define CQ   0x4000
#define LIST 0x8000
#define DATA 0x10000

static Host *new_host(const HostOptions *more)
{
    HostOptions o = more ? *more : (HostOptions){.sgl = false};

    o.cmb_bytes = CMB_BYTES;
    return host_new(&o);
}

static void set_msc(Host *h, uint64_t value)
{
    host_write32(h, NVME_REG_CMBMSC, (uint32_t)value);
    host_write32(h, NVME_REG_CMBMSC + 4, (uint32_t)(value >> 32));
}

static Host *ready(const HostOptions *more)
{
    Host *h = new_host(more);

    set_msc(h, CBA | CRE | CMSE);
    host_enable(h);
    return h;
}

static uint16_t create(Host *h, uint8_t opcode, uint64_t addr, uint32_t size)
{
    NvmeSqe sqe = host_sqe(opcode, 0, addr);

    sqe.dw[10] = 1 | (size - 1) << 16;
    sqe.dw[11] = opcode == NVME_ADM_CREATE_SQ ? 1 | 1 << 16 : 3;
    return host_code(host_do(h, 0, &sqe).status);
}

/* ---- registers ----------------------------------------------------------- */

static void test_registers(void)
{
    Host *h = new_host(NULL);

    g_assert_true(host_read32(h, NVME_REG_CAP + 4) >> 25 & 1);
    g_assert_cmphex(host_read32(h, NVME_REG_CMBSZ), ==, 0);
    g_assert_false(h->bar_shown[2]);
    set_msc(h, CRE);
    g_assert_true(h->bar_shown[2]);
    g_assert_cmphex(host_read32(h, NVME_REG_CMBLOC), ==, 0x42);
    g_assert_cmphex(host_read32(h, NVME_REG_CMBSZ), ==, 0x10001f);
    set_msc(h, (UINT64_MAX & ~0xfffULL) | CRE | CMSE); /* beyond the end */
    g_assert_cmphex(host_read32(h, NVME_REG_CMBSTS), ==, 1);
    set_msc(h, CBA | 0xffc | CRE | CMSE);
    g_assert_cmphex(host_read32(h, NVME_REG_CMBSTS), ==, 0);
    g_assert_cmphex(host_read32(h, NVME_REG_CMBMSC), ==, CRE | CMSE);
    g_assert_cmphex(host_read32(h, NVME_REG_CMBMSC + 4), ==, CBA >> 32);
    set_msc(h, 0);
    g_assert_cmphex(host_read32(h, NVME_REG_CMBLOC), ==, 0);
    g_assert_false(h->bar_shown[2]);
    host_free(h);

    h = host_new(NULL); /* without one */
    set_msc(h, CBA | CRE | CMSE);
    g_assert_false(host_read32(h, NVME_REG_CAP + 4) >> 25 & 1);
    g_assert_cmphex(host_read32(h, NVME_REG_CMBMSC), ==, 0);
    g_assert_cmphex(host_read32(h, NVME_REG_CMBSZ), ==, 0);
    host_free(h);
}

/* Before NVMe 1.4: always on, at the address of the BAR. */
static void test_legacy(void)
{
    Host *h = new_host(&(HostOptions){.cmb_legacy = true});

    g_assert_false(host_read32(h, NVME_REG_CAP + 4) >> 25 & 1);
    g_assert_cmphex(host_read32(h, NVME_REG_CMBSZ), ==, 0x10001f);
    g_assert_true(h->bar_shown[2]);
    h->bar_address[2] = UINT64_MAX;
    host_enable(h);
    h->bar_address[2] = CBA;
    g_assert_cmphex(create(h, NVME_ADM_CREATE_CQ, CBA + CQ, 64), ==, 0);
    g_assert_cmphex(create(h, NVME_ADM_CREATE_SQ, CBA + SQ, 64), ==, 0);
    host_free(h);
}

/* ---- uses ---------------------------------------------------------------- */

static void fill(uint8_t *p, size_t n, unsigned seed)
{
    Prng r;

    prng_seed(&r, seed, 1);
    for (size_t i = 0; i < n; i++) {
        p[i] = (uint8_t)prng_below(&r, 256);
    }
}

/* A command whose entry, list, data and completion are in the buffer. */
static void put_entry(Host *h, unsigned slot, uint8_t opcode, uint64_t list,
                      uint64_t data)
{
    NvmeSqe sqe = {.dw = {opcode | 7U << 16, 1}};
    unsigned pages = 4;

    for (unsigned i = 1; i < pages; i++) {
        uint8_t *p =
            list >= CBA ? h->cmb + (list - CBA) : host_ram(h, list, CMB_BYTES);

        put_le64(p + (i - 1) * 8, data + i * 4096);
    }
    sqe.dw[6] = (uint32_t)data;
    sqe.dw[7] = (uint32_t)(data >> 32);
    sqe.dw[8] = (uint32_t)list;
    sqe.dw[9] = (uint32_t)(list >> 32);
    sqe.dw[12] = pages * 8 - 1;
    memcpy(h->cmb + SQ + slot * 64, &sqe, 64);
}

/* The status in slot i of the completion queue, and when it came. */
static uint16_t run_entry(Host *h, unsigned slot, uint64_t *ns)
{
    const uint8_t *cqe = h->cmb + CQ + slot * 16;
    uint64_t begin_ns = h->now_ns;

    host_write32(h, NVME_REG_DOORBELLS + 8, slot + 1);
    host_run(h);
    while (!(cqe[14] & 1)) {
        g_assert_true(host_step(h));
    }
    if (ns) {
        *ns = h->now_ns - begin_ns;
    }
    host_write32(h, NVME_REG_DOORBELLS + 12, slot + 1);
    return host_code((uint16_t)(cqe[14] | cqe[15] << 8) >> 1);
}

static void open_queues(Host *h)
{
    g_assert_cmphex(create(h, NVME_ADM_CREATE_CQ, CBA + CQ, 64), ==, 0);
    g_assert_cmphex(create(h, NVME_ADM_CREATE_SQ, CBA + SQ, 64), ==, 0);
}

static void test_all_inside(void)
{
    Host *h = ready(NULL);
    unsigned reads;

    open_queues(h);
    reads = h->dma_reads;
    fill(h->cmb + DATA, 16384, 1);
    put_entry(h, 0, NVME_IO_WRITE, CBA + LIST, CBA + DATA);
    g_assert_cmphex(run_entry(h, 0, NULL), ==, 0);
    put_entry(h, 1, NVME_IO_READ, CBA + LIST, CBA + DATA + 0x8000);
    g_assert_cmphex(run_entry(h, 1, NULL), ==, 0);
    g_assert_cmpmem(h->cmb + DATA, 16384, h->cmb + DATA + 0x8000, 16384);
    g_assert_cmpuint(h->dma_reads, ==, reads); /* nothing from the host */
    g_assert_cmpuint(h->bar_writes, >, 0);
    host_free(h);
}

/* Data and lists may each be in one kind of memory only; a queue and its
 * commands' data in different ones. */
static void test_mixed(void)
{
    Host *h = ready(NULL);
    uint8_t *list;

    open_queues(h);
    put_entry(h, 0, NVME_IO_WRITE, HOST_LISTS, CBA + DATA);
    g_assert_cmphex(run_entry(h, 0, NULL), ==, 0);
    put_entry(h, 1, NVME_IO_WRITE, CBA + LIST, HOST_DATA);
    g_assert_cmphex(run_entry(h, 1, NULL), ==, 0);
    put_entry(h, 2, NVME_IO_WRITE, CBA + LIST, HOST_DATA);
    list = h->cmb + LIST;
    put_le64(list + 8, CBA + DATA);
    g_assert_cmphex(run_entry(h, 2, NULL), ==, NVME_SC_INVALID_CMB);
    put_entry(h, 3, NVME_IO_READ, CBA + LIST, CBA + DATA);
    put_le64(list + 16, CBA + CMB_BYTES); /* the page behind the end */
    g_assert_cmphex(run_entry(h, 3, NULL), ==, NVME_SC_INVALID_CMB);
    host_free(h);
}

/* A queue across the border, or in a buffer that takes none. */
static void test_queues(void)
{
    Host *h = ready(NULL);

    g_assert_cmphex(create(h, NVME_ADM_CREATE_CQ, CBA + CMB_BYTES - 4096, 512),
                    ==, NVME_SC_INVALID_CMB);
    g_assert_cmphex(create(h, NVME_ADM_CREATE_CQ, CBA - 4096, 512), ==,
                    NVME_SC_INVALID_CMB);
    g_assert_cmphex(create(h, NVME_ADM_CREATE_CQ, CBA + CMB_BYTES - 4096, 256),
                    ==, 0);
    host_free(h);

    h = ready(&(HostOptions){.cmb_uses = "sqs"});
    g_assert_cmphex(host_read32(h, NVME_REG_CMBSZ), ==, 0x100001);
    g_assert_cmphex(create(h, NVME_ADM_CREATE_CQ, CBA + CQ, 64), ==,
                    NVME_SC_INVALID_CMB);
    g_assert_cmphex(create(h, NVME_ADM_CREATE_CQ, HOST_QUEUES, 64), ==, 0);
    g_assert_cmphex(create(h, NVME_ADM_CREATE_SQ, CBA + SQ, 64), ==, 0);
    host_free(h);
}

static uint16_t io_at(Host *h, uint8_t opcode, uint64_t addr, uint32_t nblocks)
{
    NvmeSqe sqe = host_rw(h, opcode, 0, nblocks, HOST_DATA);

    sqe.dw[6] = (uint32_t)addr;
    sqe.dw[7] = (uint32_t)(addr >> 32);
    return host_code(host_do(h, 1, &sqe).status);
}

/* Each bit of CMBSZ that is missing. */
static void test_refused_uses(void)
{
    static const char *const uses[] = {"cqs+sqs+lists+rds", "wds"};

    for (unsigned i = 0; i < G_N_ELEMENTS(uses); i++) {
        Host *h = ready(&(HostOptions){.cmb_uses = uses[i]});
        NvmeSqe sqe;

        g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
        g_assert_cmphex(io_at(h, NVME_IO_WRITE, CBA + DATA, 8), ==,
                        i ? 0 : NVME_SC_INVALID_CMB);
        g_assert_cmphex(io_at(h, NVME_IO_READ, CBA + DATA, 8), ==,
                        i ? NVME_SC_INVALID_CMB : 0);
        sqe = host_rw(h, NVME_IO_READ, 0, 32, HOST_DATA);
        sqe.dw[8] = (uint32_t)(CBA + LIST);
        sqe.dw[9] = (uint32_t)((CBA + LIST) >> 32);
        for (unsigned k = 0; k < 3; k++) {
            put_le64(h->cmb + LIST + 8 * k, HOST_DATA + 4096 * (k + 1));
        }
        g_assert_cmphex(host_code(host_do(h, 1, &sqe).status), ==,
                        i ? NVME_SC_INVALID_CMB : 0);
        host_free(h);
    }
}

/* Admin data, and the admin queues. */
static void test_admin(void)
{
    Host *h = ready(NULL);
    NvmeSqe sqe = host_sqe(NVME_ADM_IDENTIFY, 0, CBA + DATA);

    sqe.dw[10] = 1;
    g_assert_cmphex(host_code(host_do(h, 0, &sqe).status), ==, 0);
    g_assert_cmpint(h->cmb[DATA + 4], ==, 'T');
    host_free(h);

    h = new_host(&(HostOptions){.cmb_uses = "cqs"});
    set_msc(h, CBA | CRE | CMSE);
    host_write32(h, NVME_REG_AQA, 31 << 16 | 31);
    host_write32(h, NVME_REG_ASQ, 0);
    host_write32(h, NVME_REG_ASQ + 4, CBA >> 32);
    host_write32(h, NVME_REG_ACQ, HOST_ADMIN_CQ);
    host_write32(h, NVME_REG_CC, 4 << 20 | 6 << 16 | 1);
    host_run(h);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_CFS);
    host_free(h);
}

/* ---- resets, power, saving ----------------------------------------------- */

static void test_resets(void)
{
    Host *h = ready(NULL);

    fill(h->cmb, 64, 3);
    h->cmb[CMB_BYTES - 1] = 7;
    host_write32(h, NVME_REG_CC, 0);
    g_assert_cmphex(host_read32(h, NVME_REG_CMBMSC), ==, CRE | CMSE);
    g_assert_true(h->bar_shown[2]);
    nvme_reset(h->ctrl, h->now_ns); /* of the function */
    g_assert_cmphex(host_read32(h, NVME_REG_CMBMSC), ==, 0);
    g_assert_false(h->bar_shown[2]);
    g_assert_cmpint(h->cmb[CMB_BYTES - 1], ==, 7);
    set_msc(h, CBA | CRE | CMSE);
    nvme_power_cut(h->ctrl, h->now_ns);
    g_assert_false(h->bar_shown[2]);
    g_assert_cmpint(h->cmb[CMB_BYTES - 1], ==, 0);
    nvme_power_on(h->ctrl, h->now_ns);
    g_assert_cmphex(host_read32(h, NVME_REG_CMBMSC), ==, 0);
    g_assert_false(h->bar_shown[2]);
    host_free(h);
}

static void test_saved(void)
{
    HostOptions o = {.cmb_bytes = CMB_BYTES};
    g_autoptr(GByteArray) drive = NULL;
    g_autoptr(GByteArray) ctrl = NULL;
    GError *error = NULL;
    Host *h = ready(NULL);
    Host *to;

    open_queues(h);
    fill(h->cmb + DATA, 16384, 5);
    put_entry(h, 0, NVME_IO_WRITE, CBA + LIST, CBA + DATA);
    g_assert_cmphex(run_entry(h, 0, NULL), ==, 0);
    host_settle(h);
    host_save(h, &drive, &ctrl);
    to = host_load(&o, h, drive, ctrl, &error);
    g_assert_no_error(error);
    host_free(h);
    nvme_hold(to->ctrl, false);
    g_assert_true(to->bar_shown[2]);
    put_entry(to, 1, NVME_IO_COMPARE, CBA + LIST, CBA + DATA);
    g_assert_cmphex(run_entry(to, 1, NULL), ==, 0);
    host_free(to);

    h = ready(NULL);
    host_settle(h);
    g_byte_array_unref(g_steal_pointer(&drive));
    g_byte_array_unref(g_steal_pointer(&ctrl));
    host_save(h, &drive, &ctrl);
    g_assert_null(
        host_load(&(HostOptions){.sgl = false}, h, drive, ctrl, &error));
    g_assert_nonnull(strstr(error->message, "cmb=1048576"));
    g_error_free(error);
    host_free(h);
}

/* ---- timing -------------------------------------------------------------- */

#define LINK                                                                   \
    "host.pcie_gen=3;host.pcie_lanes=1;host.pcie_mps=256;host.pcie_rcb=64;"    \
    "host.pcie_mrrs=512;host.pcie_round_trip=1us;host.pcie_nvme=on"

/* How long a write (and a read of cached data) takes with its parts there. */
static uint64_t write_ns(uint64_t sq, uint64_t list, uint64_t data,
                         uint8_t opcode)
{
    Host *h = ready(&(HostOptions){.set = LINK});
    NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, 0, 32, HOST_DATA);
    uint64_t begin_ns;

    g_assert_cmphex(create(h, NVME_ADM_CREATE_CQ, HOST_QUEUES, 64), ==, 0);
    g_assert_cmphex(create(h, NVME_ADM_CREATE_SQ, sq, 64), ==, 0);
    for (unsigned i = 0; i < 2; i++) {
        uint8_t *p =
            list >= CBA ? h->cmb + (list - CBA) : host_ram(h, list, 4096);

        sqe.dw[0] = (i ? opcode : NVME_IO_WRITE) | (i + 1) << 16;
        sqe.dw[6] = (uint32_t)data;
        sqe.dw[7] = (uint32_t)(data >> 32);
        sqe.dw[8] = (uint32_t)list;
        sqe.dw[9] = (uint32_t)(list >> 32);
        for (unsigned k = 1; k < 4; k++) {
            put_le64(p + (k - 1) * 8, data + k * 4096);
        }
        memcpy(sq >= CBA ? h->cmb + (sq - CBA) + 64 * i
                         : host_ram(h, sq + 64 * i, 64),
               &sqe, 64);
        begin_ns = h->now_ns;
        host_write32(h, NVME_REG_DOORBELLS + 8, i + 1);
        host_run(h);
        while (!(h->ram[HOST_QUEUES + 16 * i + 14] & 1)) {
            g_assert_true(host_step(h));
        }
    }
    begin_ns = h->now_ns - begin_ns;
    host_free(h);
    return begin_ns;
}

/* Each part that is in the buffer saves a round trip of a write; a read saves
 * the transfer. */
static void test_timing(void)
{
    const uint64_t q = HOST_QUEUES + 0x8000;
    uint64_t none = write_ns(q, HOST_LISTS, HOST_DATA, NVME_IO_WRITE);
    uint64_t entry = write_ns(CBA + SQ, HOST_LISTS, HOST_DATA, NVME_IO_WRITE);
    uint64_t list = write_ns(q, CBA + LIST, HOST_DATA, NVME_IO_WRITE);
    uint64_t data = write_ns(q, HOST_LISTS, CBA + DATA, NVME_IO_WRITE);
    uint64_t all = write_ns(CBA + SQ, CBA + LIST, CBA + DATA, NVME_IO_WRITE);
    uint64_t bytes_ns = 16384 * 8 / 8; /* at 8 GT/s, roughly */

    g_assert_cmpuint(none - entry, >=, 1000);
    g_assert_cmpuint(none - entry, <, 1100);
    g_assert_cmpuint(none - list, >=, 1000);
    g_assert_cmpuint(none - list, <, 1100);
    g_assert_cmpuint(none - data, >=, 1000);
    g_assert_cmpuint(none - data, <, 1000 + bytes_ns / 2);
    g_assert_cmpuint(none - all, >=, 3000);
    none = write_ns(q, HOST_LISTS, HOST_DATA, NVME_IO_READ);
    data = write_ns(q, HOST_LISTS, CBA + DATA, NVME_IO_READ);
    g_assert_cmpuint(none - data, >=, bytes_ns);
}

/* ---- options ------------------------------------------------------------- */

static void refused(const NvmeConfig *cfg, const char *text)
{
    Host *h = host_new(NULL);
    NvmeCtrl *other = nvme_new(NULL, NULL, NULL);
    NvmeConfig c = *cfg;
    GError *error = NULL;

    c.serial = c.model = c.firmware = "x";
    c.n_queues = c.n_vectors = c.mdts = c.firmware_slots = 1;
    c.queue_size = 2;
    c.backlog = NVME_BACKLOG;
    c.kv_cache = NVME_KV_CACHE;
    c.nblocks = 8;
    g_assert_false(nvme_attach(other, h->ssd, &c, &error));
    g_assert_cmpstr(error->message, ==, text);
    g_error_free(error);
    nvme_free(other);
    host_free(h);
}

static void test_options(void)
{
    uint8_t mem[1];

    refused(&(NvmeConfig){.cmb = mem, .cmb_bytes = 3 << 20},
            "cmb=3145728: allowed 1M..1G, a power of two");
    refused(&(NvmeConfig){.cmb = mem, .cmb_bytes = 1 << 19},
            "cmb=524288: allowed 1M..1G, a power of two");
    refused(&(NvmeConfig){.cmb_uses = "sqs"},
            "cmb_uses=sqs: it needs cmb=SIZE");
    refused(&(NvmeConfig){.cmb_legacy = true},
            "legacy_cmb=on: it needs cmb=SIZE");
    refused(
        &(NvmeConfig){.cmb = mem, .cmb_bytes = 1 << 20, .cmb_uses = "sqs+sqs"},
        "cmb_uses=sqs+sqs: allowed are some of sqs+cqs+lists+rds+wds, each "
        "once");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/cmb/registers", test_registers);
    g_test_add_func("/nvme/cmb/legacy", test_legacy);
    g_test_add_func("/nvme/cmb/all-inside", test_all_inside);
    g_test_add_func("/nvme/cmb/mixed", test_mixed);
    g_test_add_func("/nvme/cmb/queues", test_queues);
    g_test_add_func("/nvme/cmb/refused-uses", test_refused_uses);
    g_test_add_func("/nvme/cmb/admin", test_admin);
    g_test_add_func("/nvme/cmb/resets", test_resets);
    g_test_add_func("/nvme/cmb/saved", test_saved);
    g_test_add_func("/nvme/cmb/timing", test_timing);
    g_test_add_func("/nvme/cmb/options", test_options);
    return g_test_run();
}
