/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-fdp-groups.c - Flexible Data Placement with several reclaim groups,
 * reclaim units of any size, isolation by handle, placement handles of
 * namespaces, and what survives a power cut and a move.
 */
#include "placement.h"
#include "ssd-report.h"

#define SPARE        "nand.blocks=64;ftl.op_percent=150%;"
#define TWO          SPARE "fdp.ruhs=2;fdp.groups=2"
#define PLANE_BLOCKS 64
#define PAGES        16
#define PAGE         16384
#define ERASE_BLOCK  (PAGES * PAGE)

static const SsdInfo *info(Host *h)
{
    return ssd_info(h->ssd);
}

static uint64_t n_units(Host *h)
{
    return h->nblocks * h->info->block_bytes / h->info->unit_bytes;
}

static SsdPlace place_of(Host *h, uint64_t unit)
{
    SsdPlace p;

    ssd_place(h->ssd, unit * (h->info->unit_bytes / h->info->block_bytes), &p);
    return p;
}

static HostCqe status_of(Host *h, uint32_t nsid)
{
    memset(h->ram + BUF, 0xee, 8192);
    return send_cmd(h, 1, NVME_IO_MGMT_RECEIVE, nsid, 1, 1023, 0);
}

/* RUAMW, of the i-th descriptor. */
static uint64_t room(Host *h, unsigned i)
{
    g_assert_cmphex(code(status_of(h, 1)), ==, 0);
    g_assert_cmpuint(i, <, get16(h, 14));
    return get_le64(h->ram + BUF + 16 + 32 * i + 8);
}

static uint16_t update(Host *h, uint16_t pid)
{
    put_le16(h->ram + BUF, pid);
    return code(send_cmd(h, 1, NVME_IO_MGMT_SEND, 1, 1, 0, 0));
}

static uint16_t want(Host *h, unsigned handle, unsigned type)
{
    h->ram[BUF] = (uint8_t)type;
    return code(
        send_cmd(h, 0, NVME_ADM_SET_FEATURES, 1, 0x1e, 1U << 16 | handle, 1));
}

/* Events of the log; the last one is at *e. */
static unsigned n_events(Host *h, unsigned kind, const uint8_t **e)
{
    unsigned n;

    g_assert_cmphex(get_log(h, 0x23, kind, 1), ==, 0);
    n = get_le32(h->ram + BUF);
    *e = h->ram + BUF + 64 * n;
    return n;
}

/* ---- reclaim groups ------------------------------------------------------ */

static void test_configs(void)
{
    Host *h = start(TWO);
    const uint8_t *d = h->ram + BUF;

    g_assert_cmphex(get_log(h, 0x20, 0, 1), ==, 0);
    g_assert_cmpuint(get_le16(d), ==, 2 - 1);
    g_assert_cmpuint(get_le32(d + 4), ==, 16 + 72 + 72);
    for (unsigned i = 0; i < 2; i++) {
        const uint8_t *c = d + 16 + 72 * i;

        g_assert_cmpuint(get_le16(c), ==, 72);
        g_assert_cmphex(c[2], ==, 0x91);              /* valid, cache, RGIF 1 */
        g_assert_cmpuint(get_le32(c + 4), ==, 2);     /* NRG */
        g_assert_cmpuint(get_le16(c + 8), ==, 2 - i); /* NRUH */
        g_assert_cmpuint(get_le16(c + 10), ==, 2 * (2 - i) - 1);
        g_assert_cmpuint(get_le64(c + 16), ==, 2 * ERASE_BLOCK);
        g_assert_cmphex(c[64], ==, 2);
    }
    g_assert_cmphex(code(status_of(h, 1)), ==, 0);
    g_assert_cmpuint(get16(h, 14), ==, 4);
    for (unsigned i = 0; i < 4; i++) { /* handle 0 of both groups, handle 1 */
        g_assert_cmphex(get16(h, 16 + 32 * i), ==, (i & 1) << 15 | i / 2);
        g_assert_cmphex(get16(h, 16 + 32 * i + 2), ==, i / 2);
        g_assert_cmpuint(get_le64(h->ram + BUF + 16 + 32 * i + 8), ==,
                         2 * ERASE_BLOCK / h->info->block_bytes);
    }
    host_free(h);
}

static const char *const layouts[] = {
    "fdp.ruhs=2;fdp.groups=2;",
    "fdp.ruhs=1;fdp.groups=4;",
    "fdp.ruhs=2;fdp.groups=2;streams.gc=merge;ftl.alloc=in-order;",
    "fdp.ruhs=2;fdp.groups=2;nand.planes=2;nand.dies=1;superblock.width=die;",
    "fdp.ruhs=2;fdp.groups=2;ftl.wear=static;ftl.wear_spread=2;",
    "fdp.ruhs=2;fdp.groups=2;superblock.width=drive;",
    "fdp.ruhs=2;fdp.groups=2;superblock.row=2;superblock.width=drive;",
    ("fdp.ruhs=2;fdp.groups=2;superblock.row=2;superblock.width=2;"
     "superblock.parity=on;"),
};

/* Data of a group is on its dies alone, also after GC has moved it. */
static void test_dies(void)
{
    for (unsigned k = 0; k < G_N_ELEMENTS(layouts); k++) {
        g_autofree char *set = g_strconcat(SPARE, layouts[k], NULL);
        Host *h = start(set);
        unsigned groups = info(h)->groups;
        unsigned bits = groups == 4 ? 2 : 1;
        unsigned planes = 4 / groups;
        uint64_t n = n_units(h);
        uint64_t copied = 0;
        Prng rng;

        prng_seed(&rng, 5, k);
        for (uint64_t i = 0; i < 5 * n; i++) {
            uint64_t unit = i < n ? i : prng_below(&rng, n);
            unsigned handle = unit / groups % info(h)->ruhs;
            uint16_t pid = (uint16_t)(unit % groups << (16 - bits) | handle);

            g_assert_cmphex(put(h, unit, PLACEMENT, pid), ==, 0);
        }
        g_assert_cmphex(host_flush(h, 1), ==, 0);
        for (uint64_t i = 0; i < n; i++) {
            SsdPlace p = place_of(h, i);

            g_assert_true(p.in_nand);
            g_assert_cmpuint(p.stream / info(h)->ruhs, ==, i % groups);
            g_assert_cmpuint(p.erase_block / PLANE_BLOCKS / planes, ==,
                             i % groups);
        }
        for (unsigned i = 0; i < info(h)->nstreams; i++) {
            SsdStreamCounters c;

            ssd_get_stream(h->ssd, i, &c);
            copied += c.copied_units;
        }
        g_assert_cmpuint(copied, >, n / 10);
        g_assert_true(ssd_check(h->ssd, NULL));
        host_free(h);
    }
}

/* A host that names one group for all data gets all of the drive: what the
 * group cannot hold is elsewhere, and an event says so. */
static void test_overflow(void)
{
    Host *h = start(TWO);
    uint64_t n = n_units(h);
    uint64_t in_group[2] = {0, 0};
    uint64_t spilled = 0;
    const uint8_t *e;

    g_assert_cmphex(want(h, 1, 0x81), ==, 0);
    for (uint64_t i = 0; i < 2 * n; i++) {
        g_assert_cmphex(put(h, i % n, PLACEMENT, 1), ==, 0);
    }
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    for (uint64_t i = 0; i < n; i++) {
        in_group[place_of(h, i).erase_block / PLANE_BLOCKS / 2]++;
        spilled += place_of(h, i).stream == 3;
    }
    g_assert_cmpuint(in_group[0] + in_group[1], ==, n);
    g_assert_cmpuint(in_group[0], >=, n / 2);
    g_assert_cmpuint(in_group[1], >, 0);
    g_assert_cmpuint(in_group[1], ==, spilled);
    g_assert_cmpuint(n_events(h, 0, &e), ==, 63);
    g_assert_cmphex(e[0], ==, 0x81);
    g_assert_cmpuint(get_le16(e + 2), ==, 1);  /* PID */
    g_assert_cmpuint(get_le16(e + 32), ==, 0); /* group */
    g_assert_cmpuint(get_le16(e + 34), ==, 1); /* handle */
    g_assert_false(ssd_read_only(h->ssd));
    g_assert_true(ssd_check(h->ssd, NULL));
    host_free(h);
}

/* Data without an identifier goes to handle 0 of each group. */
static void test_default_group(void)
{
    Host *h = start(TWO);
    uint64_t n = n_units(h);
    uint64_t in_group[2] = {0, 0};
    const uint8_t *e;

    for (uint64_t i = 0; i < n; i++) {
        g_assert_cmphex(put(h, i, 0, 0), ==, 0);
        in_group[place_of(h, i).stream / 2]++;
        g_assert_cmpuint(place_of(h, i).stream % 2, ==, 0);
    }
    g_assert_cmpuint(in_group[0], >, n / 3);
    g_assert_cmpuint(in_group[1], >, n / 3);
    g_assert_cmphex(want(h, 0, 0x03), ==, 0);
    g_assert_cmphex(put(h, 0, PLACEMENT, 0x8002), ==, 0); /* no such handle */
    g_assert_cmpuint(place_of(h, 0).stream % 2, ==, 0);
    g_assert_cmpuint(n_events(h, 1, &e), ==, 1);
    g_assert_cmphex(e[0], ==, 0x03);
    g_assert_cmphex(get_le16(e + 2), ==, 0x8002);
    g_assert_cmpuint(get_le16(e + 32), ==, place_of(h, 0).stream / 2);
    g_assert_cmphex(update(h, 0x8001), ==, 0);
    g_assert_cmphex(update(h, 0x8002), ==, NVME_SC_INVALID_FIELD);
    host_free(h);
}

/* ---- closed forms -------------------------------------------------------- */

/* Data of one handle lives long, that of the other one short; each is written
 * over in its order, a whole reclaim unit at a time.  Nothing is copied. */
static void test_lifetimes(void)
{
    Host *h = start("nand.blocks=64;ftl.op_percent=400%;fdp.ruhs=2;"
                    "ftl.alloc=in-order");
    uint64_t ru = info(h)->reclaim_bytes / h->info->unit_bytes;
    uint64_t n_long = (n_units(h) / ru - 2) * ru;
    uint64_t written[2] = {0, 0};

    for (uint64_t i = 0; i < 8 * n_long; i++) {
        g_assert_cmphex(put(h, i % n_long, PLACEMENT, 0), ==, 0);
        for (unsigned k = 0; k < 3; k++) {
            g_assert_cmphex(
                put(h, n_long + (3 * i + k) % (2 * ru), PLACEMENT, 1), ==, 0);
        }
        written[0]++;
        written[1] += 3;
    }
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    for (unsigned i = 0; i < 2; i++) {
        SsdStreamCounters c;

        ssd_get_stream(h->ssd, i, &c);
        g_assert_cmpuint(c.copied_units, ==, 0);
        g_assert_cmpuint(c.padded_units, ==, 0);
        g_assert_cmpuint(c.host_units, ==, written[i]); /* WAF 1 */
        g_assert_cmpuint(c.erases, >, 0);
    }
    g_assert_cmphex(get_log(h, 0x22, 0, 1), ==, 0);
    g_assert_cmpuint(get_le64(h->ram + BUF), ==,
                     get_le64(h->ram + BUF + 16)); /* HBMW is MBMW */
    host_free(h);
}

/* fdp.ru_size: RUAMW counts to it, and the next unit begins with an event. */
static void test_ru_size(void)
{
    for (unsigned k = 1; k <= 3; k++) {
        g_autofree char *set =
            g_strdup_printf("%s;fdp.ru_size=%u", TWO, k * 2 * ERASE_BLOCK);
        Host *h = start(set);
        uint64_t full = k * 2 * ERASE_BLOCK / h->info->block_bytes;
        uint64_t ru = k * 2 * ERASE_BLOCK / h->info->unit_bytes;
        const uint8_t *e;

        g_assert_cmphex(want(h, 1, 0x81), ==, 0);
        for (uint64_t i = 0; i < ru; i++) {
            g_assert_cmpuint(room(h, 3), ==, full - i * full / ru);
            g_assert_cmpuint(room(h, 2), ==, full); /* of the other group */
            g_assert_cmpuint(n_events(h, 0, &e), ==, 0);
            g_assert_cmphex(put(h, i, PLACEMENT, 0x8001), ==, 0);
        }
        g_assert_cmpuint(room(h, 3), ==, full);
        g_assert_cmpuint(n_events(h, 0, &e), ==, 1);
        g_assert_cmphex(e[0], ==, 0x81);
        g_assert_cmphex(get_le16(e + 2), ==, 0x8001);
        g_assert_cmpuint(get_le16(e + 32), ==, 1);
        g_assert_cmpuint(get_le16(e + 34), ==, 1);
        g_assert_cmphex(put(h, 0, PLACEMENT, 0x8001), ==, 0);
        g_assert_cmphex(update(h, 0x8001), ==, 0);
        g_assert_cmpuint(room(h, 3), ==, full);
        host_free(h);
    }
}

/* ---- isolation by handle ------------------------------------------------- */

static void test_isolation(void)
{
    Host *h = start("nand.blocks=64;ftl.op_percent=120%;fdp.ruhs=3;"
                    "fdp.isolation=initial/persistent/initial");
    uint64_t n = n_units(h);
    unsigned mixed = 0;
    Prng rng;

    g_assert_cmphex(get_log(h, 0x20, 0, 1), ==, 0);
    for (unsigned i = 0; i < 3; i++) {
        g_assert_cmphex(h->ram[BUF + 16 + 64 + 4 * i], ==, i == 1 ? 2 : 1);
    }
    g_assert_cmphex(want(h, 1, 0x80), ==, 0); /* which has no such events */
    prng_seed(&rng, 9, 9);
    for (uint64_t i = 0; i < 4 * n; i++) {
        uint64_t unit = i < n ? i : prng_below(&rng, n);

        g_assert_cmphex(put(h, unit, PLACEMENT, (uint16_t)(unit % 3)), ==, 0);
    }
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    for (uint64_t i = 0; i < n; i++) {
        SsdPlace p = place_of(h, i);

        g_assert_cmpuint(p.stream, ==, i % 3);
        if (i % 3 == 1) {
            g_assert_cmpuint(p.block_stream, ==, 1);
        } else {
            g_assert_cmpuint(p.block_stream, !=, 1);
            mixed += p.block_stream == info(h)->nstreams;
        }
    }
    g_assert_cmpuint(mixed, >, 0);
    g_assert_cmphex(get_log(h, 0x23, 0, 1), ==, 0);
    g_assert_cmpuint(get_le32(h->ram + BUF), ==, 0);
    g_assert_true(ssd_check(h->ssd, NULL));
    host_free(h);
}

/* ---- the time limit ------------------------------------------------------ */

static uint32_t seconds_left(Host *h)
{
    g_assert_cmphex(code(status_of(h, 1)), ==, 0);
    return get_le32(h->ram + BUF + 16 + 4);
}

static void test_time_limit(void)
{
    Host *h = start(SPARE "fdp.ruhs=2;fdp.ru_time_limit=10s");
    uint64_t full = 4 * ERASE_BLOCK / h->info->block_bytes;
    uint64_t unit = h->info->unit_bytes / h->info->block_bytes;
    const uint8_t *e;

    g_assert_cmphex(get_log(h, 0x20, 0, 1), ==, 0);
    g_assert_cmpuint(get_le32(h->ram + BUF + 16 + 24), ==, 10); /* ERUTL */
    g_assert_cmphex(want(h, 0, 0x01), ==, 0);
    g_assert_cmpuint(seconds_left(h), ==, 10);
    g_assert_cmphex(put(h, 0, PLACEMENT, 0), ==, 0);
    host_sleep(h, 4000000000);
    g_assert_cmpuint(seconds_left(h), ==, 6);
    g_assert_cmphex(put(h, 1, PLACEMENT, 0), ==, 0);
    g_assert_cmpuint(room(h, 0), ==, full - 2 * unit);
    host_sleep(h, 6100000000);
    g_assert_cmpuint(seconds_left(h), ==, 0);
    g_assert_cmpuint(n_events(h, 1, &e), ==, 0);
    g_assert_cmphex(put(h, 2, PLACEMENT, 0), ==, 0);
    g_assert_cmpuint(n_events(h, 1, &e), ==, 1);
    g_assert_cmphex(e[0], ==, 0x01);
    g_assert_cmpuint(room(h, 0), ==, full - unit);
    g_assert_cmpuint(seconds_left(h), ==, 10);
    host_free(h);
}

/* ---- namespaces ---------------------------------------------------------- */

static HostCqe create(Host *h, unsigned n, const uint16_t *handle)
{
    uint8_t *p = host_ram(h, BUF, 4096);

    memset(p, 0, 4096);
    put_le64(p, 64);
    put_le64(p + 8, 64);
    put_le16(p + 392, (uint16_t)n);
    for (unsigned i = 0; i < MIN(n, 128); i++) {
        put_le16(p + 512 + 2 * i, handle ? handle[i] : 0);
    }
    return send_cmd(h, 0, NVME_ADM_NS_MANAGEMENT, 0, 0, 0, 0);
}

static void attach(Host *h, uint32_t nsid)
{
    uint8_t *p = host_ram(h, BUF, 4096);

    memset(p, 0, 4096);
    put_le16(p, 1);
    put_le16(p + 2, 1);
    g_assert_cmphex(code(send_cmd(h, 0, NVME_ADM_NS_ATTACHMENT, nsid, 0, 0, 0)),
                    ==, 0);
}

static uint16_t delete_all(Host *h)
{
    return code(send_cmd(h, 0, NVME_ADM_NS_MANAGEMENT, ALL, 1, 0, 0));
}

static Host *managed(const char *set, const char *namespaces)
{
    HostOptions o = {.set = set, .namespaces = namespaces};
    Host *h = host_new(&o);

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    return h;
}

static void usage(Host *h, const char *want_ruha)
{
    g_assert_cmphex(get_log(h, 0x21, 0, 1), ==, 0);
    g_assert_cmpuint(get_le16(h->ram + BUF), ==, strlen(want_ruha));
    for (unsigned i = 0; want_ruha[i]; i++) {
        g_assert_cmpuint(h->ram[BUF + 8 + 8 * i], ==, want_ruha[i] - '0');
    }
}

static uint16_t put_to(Host *h, uint32_t nsid, uint64_t lba, uint16_t pid)
{
    NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, lba, 8, BUF + 0x10000);

    sqe.dw[1] = nsid;
    sqe.dw[12] |= PLACEMENT << 20;
    sqe.dw[13] = (uint32_t)pid << 16;
    return code(host_do(h, 1, &sqe));
}

static void test_lists(void)
{
    Host *h = managed(SPARE "fdp.ruhs=4", "0");
    const uint16_t good[] = {2, 0};
    const uint16_t twice[] = {1, 3, 1};
    const uint16_t none[] = {1, 4};
    const uint16_t taken[] = {1};

    usage(h, "0000");
    g_assert_cmphex(code(create(h, 3, twice)), ==, NVME_SC_PLACEMENT_LIST);
    g_assert_cmphex(code(create(h, 2, none)), ==, NVME_SC_PLACEMENT_LIST);
    g_assert_cmphex(code(create(h, 5, NULL)), ==, NVME_SC_PLACEMENT_LIST);
    g_assert_cmphex(code(create(h, 65535, NULL)), ==, NVME_SC_PLACEMENT_LIST);
    g_assert_cmpuint(create(h, 2, good).dw0, ==, 1);
    usage(h, "1010");
    g_assert_cmpuint(create(h, 0, NULL).dw0, ==, 2); /* the controller's */
    usage(h, "1210");
    g_assert_cmphex(code(create(h, 1, taken)), ==, NVME_SC_PLACEMENT_LIST);
    attach(h, 1);
    attach(h, 2);
    g_assert_cmphex(code(status_of(h, 1)), ==, 0);
    g_assert_cmpuint(get16(h, 14), ==, 2);
    g_assert_cmpuint(get16(h, 16 + 2), ==, 2);
    g_assert_cmpuint(get16(h, 16 + 32), ==, 1);
    g_assert_cmpuint(get16(h, 16 + 32 + 2), ==, 0);
    g_assert_cmphex(code(status_of(h, 2)), ==, 0);
    g_assert_cmpuint(get16(h, 14), ==, 1);
    g_assert_cmpuint(get16(h, 16 + 2), ==, 1);
    /* Handle 0 of a namespace is where data goes that names none. */
    g_assert_cmphex(put_to(h, 1, 0, 1), ==, 0);
    g_assert_cmphex(put_to(h, 1, 8, 2), ==, 0);
    g_assert_cmphex(put_to(h, 2, 0, 0), ==, 0);
    g_assert_cmpuint(bytes_of(h, 0), ==, 4096);
    g_assert_cmpuint(bytes_of(h, 2), ==, 4096);
    g_assert_cmpuint(bytes_of(h, 1), ==, 4096);
    /* Events are of the namespace's handles. */
    g_assert_cmphex(want(h, 2, 0x03), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(delete_all(h), ==, 0);
    usage(h, "0000");
    host_free(h);
}

static HostCqe mode(Host *h, uint32_t dw12)
{
    return send_cmd(h, 0, NVME_ADM_SET_FEATURES, 0, 0x1d, 1, dw12);
}

static uint32_t mode_now(Host *h)
{
    return send_cmd(h, 0, NVME_ADM_GET_FEATURES, 0, 0x1d, 1, 0).dw0;
}

static void test_mode(void)
{
    Host *h = managed(SPARE "fdp.ruhs=4", "1");
    const uint16_t handle[] = {1, 2};

    g_assert_cmphex(mode_now(h), ==, 1);
    g_assert_cmphex(code(mode(h, 0)), ==, NVME_SC_COMMAND_SEQUENCE);
    g_assert_cmphex(delete_all(h), ==, 0);
    g_assert_cmphex(code(mode(h, 1 | 3 << 8)), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(code(mode(h, 0)), ==, 0);
    g_assert_cmphex(mode_now(h), ==, 0);
    g_assert_cmphex(get_log(h, 0x20, 0, 1), ==, 0);
    for (unsigned lid = 0x21; lid <= 0x23; lid++) {
        g_assert_cmphex(get_log(h, lid, 0, 1), ==, NVME_SC_FDP_DISABLED);
    }
    g_assert_cmphex(code(create(h, 1, handle)), ==, NVME_SC_FDP_DISABLED);
    g_assert_cmpuint(create(h, 0, NULL).dw0, ==, 1);
    attach(h, 1);
    g_assert_cmphex(code(status_of(h, 1)), ==, NVME_SC_FDP_DISABLED);
    g_assert_cmphex(update(h, 0), ==, NVME_SC_FDP_DISABLED);
    g_assert_cmphex(want(h, 0, 0x03), ==, NVME_SC_FDP_DISABLED);
    g_assert_cmphex(put_to(h, 1, 0, 1), ==, 0); /* both fields are ignored */
    g_assert_cmphex(put(h, 0, 0, 1), ==, 0);
    g_assert_cmphex(code(receive(h, 1, IDENTIFY, 1, 1024, 0)), ==, 0);
    g_assert_cmphex(h->ram[BUF], ==, 1);
    g_assert_cmphex(h->ram[BUF + 32], ==, 1);
    g_assert_cmphex(delete_all(h), ==, 0);
    g_assert_cmphex(code(mode(h, 1 | 1 << 8)), ==, 0); /* two handles */
    g_assert_cmphex(mode_now(h), ==, 0x101);
    usage(h, "00");
    g_assert_cmphex(code(create(h, 2, handle)), ==, NVME_SC_PLACEMENT_LIST);
    g_assert_cmpuint(create(h, 1, handle).dw0, ==, 1);
    usage(h, "01");
    host_free(h);
}

/* fdp.handles: a list for each of the first namespaces. */
static void test_handles_option(void)
{
    Host *h = managed(SPARE "fdp.ruhs=4;fdp.handles=3/1:0", "3");

    g_assert_cmphex(code(status_of(h, 1)), ==, 0);
    g_assert_cmpuint(get16(h, 14), ==, 1);
    g_assert_cmpuint(get16(h, 16 + 2), ==, 3);
    g_assert_cmphex(code(status_of(h, 2)), ==, 0);
    g_assert_cmpuint(get16(h, 14), ==, 2);
    g_assert_cmpuint(get16(h, 16 + 2), ==, 1);
    g_assert_cmpuint(get16(h, 16 + 32 + 2), ==, 0);
    g_assert_cmphex(code(status_of(h, 3)), ==, 0);
    g_assert_cmpuint(get16(h, 14), ==, 4);
    usage(h, "1111");
    g_assert_cmphex(put_to(h, 2, 0, 0), ==, 0);
    g_assert_cmpuint(bytes_of(h, 1), ==, 4096);
    /* Data Placement is a matter of each namespace. */
    g_assert_cmphex(enable(h, 1, PLACEMENT, false), ==, 0);
    g_assert_cmphex(put_to(h, 2, 8, 1), ==, 0);
    g_assert_cmpuint(bytes_of(h, 0), ==, 4096);
    g_assert_cmphex(put_to(h, 1, 0, 9), ==, 0);
    g_assert_cmpuint(bytes_of(h, 3), ==, 4096);
    host_free(h);
}

/* ---- power and state ----------------------------------------------------- */

/* With superblock.close_open a power cut ends all reclaim units that were
 * begun. */
static void test_power_cut(void)
{
    Host *h = start(TWO ";ftl.recovery=scan;superblock.close_open=on");
    uint64_t full = 2 * ERASE_BLOCK / h->info->block_bytes;
    const uint8_t *e;

    g_assert_cmphex(want(h, 1, 0x02), ==, 0);
    g_assert_cmphex(put(h, 0, PLACEMENT, 0x8001), ==, 0);
    g_assert_cmphex(put(h, 1, PLACEMENT, 0x8000), ==, 0); /* not wanted */
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    h->cq[1].size = 0;
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    g_assert_cmpuint(n_events(h, 1, &e), ==, 1);
    g_assert_cmphex(e[0], ==, 0x02);
    g_assert_cmphex(get_le16(e + 2), ==, 0x8001);
    g_assert_cmpuint(room(h, 3), ==, full);
    g_assert_cmpuint(place_of(h, 0).stream, ==, 3);
    g_assert_cmpuint(place_of(h, 0).erase_block / PLANE_BLOCKS / 2, ==, 1);
    host_free(h);
}

/* Without it a handle fills its unit on, and data stays in its group. */
static void test_power_cut_kept(void)
{
    Host *h = start(TWO ";ftl.recovery=checkpoint");
    uint64_t full = 2 * ERASE_BLOCK / h->info->block_bytes;
    uint64_t unit = h->info->unit_bytes / h->info->block_bytes;
    uint64_t n = n_units(h);

    for (uint64_t i = 0; i < 3 * n; i++) {
        g_assert_cmphex(
            put(h, i % n, PLACEMENT, (uint16_t)(i % 2 << 15 | i / 2 % 2)), ==,
            0);
    }
    g_assert_cmphex(update(h, 0x8001), ==, 0);
    g_assert_cmphex(put(h, n - 1, PLACEMENT, 0x8001), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    h->cq[1].size = 0;
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    g_assert_cmpuint(room(h, 3), ==, full - unit);
    for (uint64_t i = 0; i < n - 1; i++) {
        g_assert_cmpuint(place_of(h, i).erase_block / PLANE_BLOCKS / 2, ==,
                         i % 2);
    }
    g_assert_true(ssd_check(h->ssd, NULL));
    host_free(h);
}

static void save_to(Host *h, FILE *f)
{
    GError *error = NULL;

    g_assert_true(nvme_save_kept(h->ctrl, f, &error));
    g_assert_no_error(error);
    rewind(f);
}

/* A controller that moves, and a drive that is saved without its controller:
 * lists, the mode, selected events and logs come along. */
static void test_state(void)
{
    const HostOptions o = {.set = SPARE "fdp.ruhs=4;fdp.groups=2",
                           .namespaces = "0"};
    Host *h = managed(o.set, "0");
    const uint16_t handle[] = {1, 0};
    g_autoptr(GByteArray) drive = NULL;
    g_autoptr(GByteArray) ctrl = NULL;
    GError *error = NULL;
    FILE *f = tmpfile();
    const uint8_t *e;
    bool namespaces;
    Host *other;

    g_assert_cmphex(code(mode(h, 1 | 1 << 8)), ==, 0);
    g_assert_cmpuint(create(h, 2, handle).dw0, ==, 1);
    attach(h, 1);
    g_assert_cmphex(want(h, 0, 0x03), ==, 0);
    g_assert_cmphex(put_to(h, 1, 0, 7), ==, 0);
    g_assert_cmpuint(n_events(h, 1, &e), ==, 1);
    host_save(h, &drive, &ctrl);
    save_to(h, f);
    other = host_load(&o, h, drive, ctrl, &error);
    g_assert_no_error(error);
    host_free(h);
    nvme_hold(other->ctrl, false);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmphex(mode_now(other), ==, 0x101);
        usage(other, "11");
        g_assert_cmpuint(n_events(other, 1, &e), ==, 1);
        g_assert_cmphex(get_le16(e + 2), ==, 7);
        g_assert_cmphex(code(status_of(other, 1)), ==, 0);
        g_assert_cmpuint(get16(other, 14), ==, 4);
        g_assert_cmpuint(get16(other, 16 + 2), ==, 1);
        if (i == 0) {
            host_free(other);
            other = host_new(&o);
            g_assert_true(nvme_load_kept(other->ctrl, f, &namespaces, &error));
            g_assert_no_error(error);
            g_assert_true(namespaces);
            host_enable(other);
            g_assert_cmphex(host_create_queues(other, 1, 1, 64), ==, 0);
        }
    }
    host_free(other);
    fclose(f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fdp-groups/configs", test_configs);
    g_test_add_func("/fdp-groups/dies", test_dies);
    g_test_add_func("/fdp-groups/overflow", test_overflow);
    g_test_add_func("/fdp-groups/default-group", test_default_group);
    g_test_add_func("/fdp-groups/lifetimes", test_lifetimes);
    g_test_add_func("/fdp-groups/ru-size", test_ru_size);
    g_test_add_func("/fdp-groups/isolation", test_isolation);
    g_test_add_func("/fdp-groups/time-limit", test_time_limit);
    g_test_add_func("/fdp-groups/lists", test_lists);
    g_test_add_func("/fdp-groups/mode", test_mode);
    g_test_add_func("/fdp-groups/handles-option", test_handles_option);
    g_test_add_func("/fdp-groups/power-cut", test_power_cut);
    g_test_add_func("/fdp-groups/power-cut-kept", test_power_cut_kept);
    g_test_add_func("/fdp-groups/state", test_state);
    return g_test_run();
}
