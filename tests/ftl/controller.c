/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * controller.c - cores, link and DRAM against sums worked out by hand.
 *
 * Times are those of ref-times.h.
 */
#include <math.h>
#include <string.h>

#include "controller/controller.h"
#include "inspect/inspect.h"
#include "ref-times.h"
#include "simtime.h"
#include "ssd-save.h"
#include "ssd-setup.h"

/* ---- cores --------------------------------------------------------------- */

/* F and the units before, K behind. */
static void test_unit_and_completion(void)
{
    Ref *r = ref_new(ref_config("host.firmware_unit=100ns;"
                                "host.firmware_complete=700ns"),
                     true);
    SsdCompletion c = ref_one(r, SSD_OP_READ, 5 * UNIT, UNIT, false);

    g_assert_cmpuint(latency(&c), ==, F + 100 + C + TR + U + L + 700);
    same_cost(&c, (SsdBreakdown){.firmware_ns = F + 100 + 700,
                                 .bus_ns = C + U,
                                 .cell_ns = TR,
                                 .link_ns = L});
    c = ref_one(r, SSD_OP_WRITE, 0, 4 * UNIT, false);
    g_assert_cmpuint(latency(&c), ==, F + 400 + 4 * L + 4 * B + 700);
    same_cost(&c, (SsdBreakdown){.firmware_ns = F + 400 + 700,
                                 .link_ns = 4 * L,
                                 .buffer_ns = 4 * B});
    ref_free(r);
}

/* TRIM: each range, each unit of it; flush.  Others take F. */
static void test_trim_and_flush(void)
{
    Ref *r = ref_new(ref_config("host.firmware_trim=1us;"
                                "host.firmware_trim_unit=5ns;"
                                "host.firmware_flush=9us"),
                     true);
    SsdCompletion c = ref_one(r, SSD_OP_TRIM, 0, 100 * UNIT, false);

    g_assert_cmpuint(latency(&c), ==, F + 1000 + 100 * 5);
    same_cost(&c, (SsdBreakdown){.firmware_ns = F + 1000 + 100 * 5});
    c = ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    g_assert_cmpuint(latency(&c), ==, F + 9000);
    c = ref_one(r, SSD_OP_READ, 0, UNIT, false);
    g_assert_cmpuint(latency(&c), ==, F + L);
    ref_free(r);
}

/* A long one: ftl.trim_unit for each unit of a group that holds something. */
static void test_trim_unit(void)
{
    SsdConfig *cfg = ref_config("ftl.trim_unit=30ns");
    SsdCompletion c;
    Ref *r;

    cfg->trim_group_shift = 3;
    cfg->trim_step = 1;
    r = ref_new(cfg, true);
    c = ref_one(r, SSD_OP_TRIM, 0, 80 * UNIT, false);
    g_assert_cmpuint(latency(&c), ==, F + 80 * 30);
    ref_free(r);
}

/* One core does all of it, one after another: no link, no DRAM. */
static void test_one_core(void)
{
    Ref *r = ref_new(ref_config("host.cores=1;host.firmware_unit=200ns;"
                                "host.firmware_complete=800ns;"
                                "host.link_mb_s=0"),
                     false);

    for (int i = 0; i < 32; i++) {
        ref_do(r, SSD_OP_READ, 0, 2 * UNIT, false);
    }
    ref_drain(r);
    g_assert_cmpuint(r->last_complete_ns, ==, 32 * (F + 2 * 200 + 800));
    g_assert_cmpuint(accounts_use(r->ssd).busy_ps[HOST_CORES], ==,
                     32 * (F + 2 * 200 + 800) * PS_PER_NS);
    ref_free(r);
}

/* Time of 16 commands at once, each of two units. */
static uint64_t time_of_16(const char *options, SsdOp op)
{
    Ref *r = ref_new(ref_config(options), false);
    uint64_t ns;

    for (int i = 0; i < 16; i++) {
        ref_do(r, op, 0, 2 * UNIT, false);
    }
    ref_drain(r);
    ns = r->last_complete_ns;
    ref_free(r);
    return ns;
}

/* Starts at even distances; the first one waits for nothing. */
static void test_limits(void)
{
    const char *iops = "host.link_mb_s=0;host.max_iops=50000";
    const char *both = "host.link_mb_s=0;host.max_iops=50000;"
                       "host.max_write_iops=10000";
    const char *small = "host.link_mb_s=0;host.max_iops=50000;"
                        "host.max_write_iops=10000;buffer.size=32KiB";
    const char *bytes = "host.link_mb_s=0;host.max_write_mb_s=100";

    g_assert_cmpuint(time_of_16(iops, SSD_OP_READ), ==, F + 15 * 20000);
    g_assert_cmpuint(time_of_16(iops, SSD_OP_WRITE), ==,
                     F + 15 * 20000 + 2 * B);
    g_assert_cmpuint(time_of_16(both, SSD_OP_READ), ==, F + 15 * 20000);
    /* The buffer holds all of them; four of them: */
    g_assert_cmpuint(time_of_16(both, SSD_OP_WRITE), ==,
                     F + 15 * 20000 + 2 * B);
    g_assert_cmpuint(time_of_16(small, SSD_OP_WRITE), ==,
                     F + 12 * 100000 + 2 * B);
    g_assert_cmpuint(time_of_16(bytes, SSD_OP_READ), ==, F);
    g_assert_cmpuint(time_of_16(bytes, SSD_OP_WRITE), ==,
                     F + 15 * 8192 * 10 + 2 * B);
    /* 10 / 3 ps a byte, no whole number: 409.59 ns */
    g_assert_cmpuint(time_of_16("host.link_mb_s=0;buffer.access=0;"
                                "host.max_write_mb_s=300000",
                                SSD_OP_WRITE),
                     ==, F + 410);
}

/* Writes wait for their limit when as many are under way as the buffer holds.
 * A read does not wait for it; the wait of a write is part of firmware. */
static void test_limit_of_writes(void)
{
    Ref *r = ref_new(ref_config("host.firmware_write=2us;host.link_mb_s=0;"
                                "host.max_iops=1000000;"
                                "host.max_write_iops=1000"),
                     false);
    SsdCompletion c;

    for (uint32_t i = 0; i < r->ssd->l.n_slots; i++) {
        c = ref_one(r, SSD_OP_WRITE, 0, UNIT, false);
        g_assert_cmpuint(latency(&c), ==, F + 2000 + B);
    }
    c = ref_one(r, SSD_OP_READ, 8 * UNIT, UNIT, false);
    g_assert_cmpuint(latency(&c), ==, F);
    c = ref_one(r, SSD_OP_WRITE, UNIT, UNIT, false);
    /* 1 ms after the start of the first one */
    g_assert_cmpuint(c.complete_ns, ==, F + 2000 + 1000000 + B);
    same_cost(&c,
              (SsdBreakdown){.firmware_ns = latency(&c) - B, .buffer_ns = B});
    ref_free(r);
}

static Ref *overwrite(const char *options)
{
    Ref *r = ref_new(ref_config(options), true);
    Prng rng;

    prng_seed(&rng, 1, 1);
    for (int i = 0; i < 4000; i++) {
        ref_do(r, SSD_OP_WRITE, prng_below(&rng, r->n_units) * UNIT, UNIT,
               false);
    }
    ref_finish(r);
    g_assert_true(ssd_rest(r->ssd, NS_PER_S)); /* GC, too, has ended */
    return r;
}

/* Statistics and --explain count the service from a reset on, also that of work
 * that was booked before it. */
static void test_busy_since_reset(void)
{
    const uint64_t work = F + 2 * 200 + 800;
    const uint64_t reset_ns = 10 * work + work / 2;
    Ref *r = ref_new(ref_config("host.cores=1;host.firmware_unit=200ns;"
                                "host.firmware_complete=800ns;"
                                "host.link_mb_s=0"),
                     false);
    DriveStats v;

    for (int i = 0; i < 16; i++) {
        ref_do(r, SSD_OP_READ, 0, 2 * UNIT, false);
    }
    ref_pass(r, reset_ns);
    g_assert_cmpuint(r->now_ns, ==, reset_ns);
    ssd_reset_stats(r->ssd);
    ref_drain(r);
    g_assert_cmpuint(r->last_complete_ns, ==, 16 * work);
    drive_stats_init(&v, r->ssd);
    g_assert_cmpuint(stat_of(r->ssd, "\"controller\":", "cores_busy_ns"), ==,
                     16 * work - reset_ns);
    g_assert_cmpfloat_with_epsilon(v.explain.stage[STAGE_CORES].utilization, 1,
                                   1e-9);
    drive_stats_clear(&v);
    ref_free(r);
}

/* Cores of which commands need none at the start are a stage, too. */
static void test_stage_without_start(void)
{
    Ref *r = ref_new(ref_config("host.firmware=0;host.cores=2;"
                                "host.firmware_complete=7us"),
                     false);
    Explain e;

    for (int i = 0; i < 32; i++) {
        ref_do(r, SSD_OP_READ, 0, UNIT, false);
    }
    ref_drain(r);
    explain_init(&e, r->ssd);
    g_assert_cmpuint(e.stage[STAGE_CORES].servers, ==, 2);
    g_assert_cmpfloat(e.stage[STAGE_CORES].utilization, >, 0.9);
    g_assert_cmpstr(e.bound_by, ==, "cores");
    ref_free(r);
    r = overwrite("host.cores=2;ftl.gc_core=on;ftl.gc_firmware=3us");
    explain_init(&e, r->ssd);
    g_assert_cmpuint(e.stage[STAGE_CORES].servers, ==, 3);
    ref_free(r);
    r = overwrite("ftl.gc_core=on;ftl.gc_firmware=3us"); /* no limit */
    explain_init(&e, r->ssd);
    g_assert_cmpuint(e.stage[STAGE_CORES].servers, ==, 0);
    ref_free(r);
}

/* A miss in the map cache: its read, then a core. */
static void test_map_miss(void)
{
    static const char dftl[] = "nand.blocks=60;ftl.map=dftl;ftl.map_cache=64;";
    Ref *r = ref_new(ref_config(dftl), true);
    SsdCompletion before = ref_one(r, SSD_OP_READ, 5 * UNIT, UNIT, false);
    SsdCompletion c;

    ref_free(r);
    r = ref_new(ref_config("nand.blocks=60;ftl.map=dftl;ftl.map_cache=64;"
                           "host.firmware_map_miss=2us"),
                true);
    c = ref_one(r, SSD_OP_READ, 5 * UNIT, UNIT, false);
    g_assert_cmpuint(before.cost.map_ns, >, TR);
    g_assert_cmpuint(latency(&c), ==, latency(&before) + 2000);
    g_assert_cmpuint(c.cost.map_ns, ==, before.cost.map_ns);
    g_assert_cmpuint(c.cost.firmware_ns, ==, F + 2000);
    c = ref_one(r, SSD_OP_READ, 5 * UNIT, UNIT, false); /* cached now */
    g_assert_cmpuint(c.cost.firmware_ns, ==, F);
    ref_free(r);
}

/* Firmware of GC: each page that it reads, and each unit in it. */
static void test_gc(void)
{
    Ref *r = overwrite("ftl.gc_firmware=3us");
    const NandStats *n = nand_stats(r->ssd->nand);

    g_assert_cmpuint(n->ops[NAND_READ][NAND_CAUSE_GC], >, 1000);
    g_assert_cmpuint(accounts_use(r->ssd).gc_busy_ps, ==,
                     n->ops[NAND_READ][NAND_CAUSE_GC] * 3000 * PS_PER_NS);
    ref_free(r);
    r = overwrite("ftl.gc_firmware_unit=1us");
    n = nand_stats(r->ssd->nand);
    g_assert_cmpuint(accounts_use(r->ssd).gc_busy_ps, >=,
                     r->ssd->inspect.count.gc_copied_units * 1000 * PS_PER_NS);
    ref_free(r);
}

/* GC takes a core from the host, unless it has its own. */
static void test_gc_core(void)
{
    uint64_t ns[3];
    const char *options[] = {
        "host.cores=1;",
        "host.cores=1;ftl.gc_firmware=400us;ftl.gc_core=on",
        "host.cores=1;ftl.gc_firmware=400us",
    };

    for (int i = 0; i < 3; i++) {
        Ref *r = overwrite(options[i]);
        const Hist *h = ssd_latency(r->ssd, SSD_OP_WRITE);

        ns[i] = (uint64_t)hist_mean(h);
        ref_free(r);
    }
    g_assert_cmpuint(ns[0], <, ns[1]);
    g_assert_cmpuint(ns[1], <, ns[2]);
}

/* ---- DRAM ---------------------------------------------------------------- */

#define R 1000ULL /* a unit at 4096 MB/s */
#define M 500ULL  /* a map entry of 2048 bytes */

/* The entry of a unit is moved before its data is. */
static void test_map_bytes(void)
{
    Ref *r =
        ref_new(ref_config("buffer.mb_s=4096;buffer.map_bytes=2048"), true);
    SsdCompletion c = ref_one(r, SSD_OP_READ, 5 * UNIT, UNIT, false);

    g_assert_cmpuint(latency(&c), ==, F + M + C + TR + U + R + L);
    same_cost(&c, (SsdBreakdown){.firmware_ns = F,
                                 .buffer_ns = M + R,
                                 .bus_ns = C + U,
                                 .cell_ns = TR,
                                 .link_ns = L});
    c = ref_one(r, SSD_OP_WRITE, 0, 2 * UNIT, false);
    g_assert_cmpuint(latency(&c), ==, F + 2 * L + 2 * (M + R) + B);
    same_cost(&c, (SsdBreakdown){.firmware_ns = F,
                                 .link_ns = 2 * L,
                                 .buffer_ns = 2 * (M + R) + B});
    ref_free(r);
}

/* All that is moved: units of the host, what GC has read, what is programmed.
 */
static void test_shared(void)
{
    Ref *r = overwrite("buffer.mb_s=4096;buffer.shared=on");
    const NandStats *n = nand_stats(r->ssd->nand);
    uint64_t gc_bytes = n->bus_bytes[NAND_CAUSE_GC] -
                        n->ops[NAND_PROGRAM][NAND_CAUSE_GC] * 16384;
    uint64_t programs = n->ops[NAND_PROGRAM][NAND_CAUSE_GC] +
                        n->ops[NAND_PROGRAM][NAND_CAUSE_HOST];
    uint64_t units = r->ssd->inspect.counters.host_units_written +
                     r->ssd->inspect.counters.host_units_read +
                     gc_bytes / 4096 + programs * 4;

    g_assert_cmpuint(gc_bytes / 4096, >, 1000);
    g_assert_cmpuint(accounts_use(r->ssd).busy_ps[HOST_DRAM], ==,
                     units * R * PS_PER_NS);
    ref_free(r);
    /* So slow that it is what the host waits for. */
    r = overwrite("buffer.mb_s=20;buffer.shared=on");
    n = nand_stats(r->ssd->nand);
    g_assert_cmpuint(accounts_use(r->ssd).busy_ps[HOST_DRAM], >,
                     r->last_complete_ns * PS_PER_NS * 8 / 10);
    ref_free(r);
}

/* ---- link ---------------------------------------------------------------- */

#define FAST "host.firmware=0;host.link_mb_s=0;buffer.access=0;"

/* Bytes per ns that the link carries: reads of nothing, writes into the buffer.
 */
static double rate(const char *options, SsdOp op, uint32_t blocks, int n)
{
    g_autofree char *all =
        g_strconcat(FAST "buffer.size=16MiB;nand.blocks=800;", options, NULL);
    Ref *r = ref_new(ref_config(all), false);
    double ns;

    for (int i = 0; i < n; i++) {
        ref_do(r, op, (uint64_t)i * blocks % (r->info->nblocks - blocks),
               blocks, false);
    }
    ref_drain(r);
    ns = (double)r->last_complete_ns;
    ref_free(r);
    return (double)n * blocks * 512 / ns;
}

static void near(double got, double want, double tolerance)
{
    if (fabs(got - want) > tolerance * want) {
        g_error("%g, expected %g", got, want);
    }
}

/* The formula of Neugebauer et al., section 3. */
static void test_pcie_rate(void)
{
    static const struct {
        const char *options;
        double raw; /* bytes per ns */
        double mps, cpl, write_header, completion_header;
    } link[] = {
        {"host.pcie_gen=3;host.pcie_mps=256", 8 * 4 / 8.0 * 128 / 130, 256, 256,
         24, 20},
        {"host.pcie_gen=4;host.pcie_mps=128;host.pcie_mrrs=128",
         16 * 4 / 8.0 * 128 / 130, 128, 128, 24, 20},
        {"host.pcie_gen=3;host.pcie_mps=512;host.pcie_rcb=64",
         8 * 4 / 8.0 * 128 / 130, 512, 64, 24, 20},
        {"host.pcie_gen=2;host.pcie_lanes=2;host.pcie_mps=256;host.pcie_dllp="
         "8.14%",
         5 * 2 / 8.0 * 8 / 10 * (1 - 0.0814), 256, 256, 24, 20},
        {"host.pcie_gen=6;host.pcie_mps=256", 64 * 4 / 8.0 * 236 / 256, 256,
         256, 16, 12},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(link); i++) {
        for (uint32_t blocks = UNIT; blocks <= 256; blocks *= 32) {
            int n = blocks == UNIT ? 2000 : 90;

            near(rate(link[i].options, SSD_OP_READ, blocks, n),
                 link[i].raw * link[i].mps /
                     (link[i].mps + link[i].write_header),
                 0.01);
            near(rate(link[i].options, SSD_OP_WRITE, blocks, n),
                 link[i].raw * link[i].cpl /
                     (link[i].cpl + link[i].completion_header),
                 0.01);
        }
    }
    /* The paper's figure: of the 62.96 Gb/s of generation 3 with 8 lanes, 57.88
     * are left for packets. */
    near(8 *
             rate("host.pcie_gen=3;host.pcie_lanes=8;host.pcie_mps=256;"
                  "host.pcie_dllp=8.14%",
                  SSD_OP_READ, 256, 90) *
             280 / 256,
         57.88, 0.01);
}

/* 4 bytes per ns, to have round numbers. */
#define WIRE FAST "host.link_mb_s=4000;host.pcie_mps=256;"

static uint64_t ns_of(uint64_t bytes)
{
    return (bytes + 3) / 4;
}

/* Requests of a write's data: they leave at once, the data comes after the
 * round trip. */
static void test_pcie_latency(void)
{
    Ref *r = ref_new(ref_config(WIRE "host.pcie_round_trip=500ns"), false);
    SsdCompletion c = ref_one(r, SSD_OP_WRITE, 0, UNIT, false);

    g_assert_cmpuint(latency(&c), ==, ns_of(24) + 500 + ns_of(4096 + 16 * 20));
    same_cost(&c, (SsdBreakdown){.link_ns = latency(&c)});
    c = ref_one(r, SSD_OP_READ, 4 * UNIT, UNIT, false);
    g_assert_cmpuint(latency(&c), ==, ns_of(4096 + 16 * 24));
    ref_free(r);
}

/* Doorbell, entry, data, entry of the completion, message. */
static void test_pcie_nvme(void)
{
    Ref *r = ref_new(ref_config(WIRE "host.pcie_round_trip=500ns;"
                                     "host.pcie_nvme=on"),
                     false);
    const uint64_t fetch = ns_of(28) + ns_of(24) + 500 + ns_of(84);
    const uint64_t end = ns_of(40 + 28);
    SsdCompletion c = ref_one(r, SSD_OP_READ, 0, UNIT, false);

    g_assert_cmpuint(latency(&c), ==, fetch + ns_of(4096 + 16 * 24) + end);
    same_cost(&c, (SsdBreakdown){.link_ns = latency(&c)});
    c = ref_one(r, SSD_OP_WRITE, 0, UNIT, false);
    g_assert_cmpuint(latency(&c), ==,
                     fetch + ns_of(24) + 500 + ns_of(4096 + 16 * 20) + end);
    c = ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    g_assert_cmpuint(c.cost.link_ns, ==, fetch + end);
    /* Four pages: a list of three PRPs, before the data of a write. */
    c = ref_one(r, SSD_OP_WRITE, 64 * UNIT, 4 * UNIT, false);
    g_assert_cmpuint(latency(&c), ==,
                     fetch + ns_of(24) + 500 + ns_of(3 * 8 + 20) + ns_of(24) +
                         500 + ns_of(4 * (4096 + 16 * 20)) + end);
    ref_free(r);
}

/* A command whose entry is fetched between two long transfers does not let the
 * second one begin before the first has ended. */
static void test_pcie_between(void)
{
    Ref *r =
        ref_new(ref_config(WIRE "host.pcie_nvme=on;buffer.size=1MiB"), false);
    const uint64_t data = ns_of(32 * (4096 + 16 * 20));

    ref_submit(r, SSD_OP_WRITE, 0, 32 * UNIT, false);
    r->now_ns = 2000;
    ref_submit(r, SSD_OP_READ, 64 * UNIT, UNIT, false);
    r->now_ns = 3000;
    ref_submit(r, SSD_OP_WRITE, 32 * UNIT, 32 * UNIT, false);
    ref_drain(r);
    g_assert_cmpuint(data, >, 30000);
    g_assert_cmpuint(r->last_complete_ns, >=, 2 * data);
    g_assert_cmpuint(r->last_complete_ns, <, 2 * data + 3000);
    ref_free(r);
}

/* Parts in a controller memory buffer are posted writes: without requests and
 * round trips.  Data of a read does not cross the link. */
static void test_cmb(void)
{
    Ref *r = ref_new(ref_config(WIRE "host.pcie_round_trip=500ns;"
                                     "host.pcie_nvme=on"),
                     false);
    const uint64_t fetch = ns_of(28) + ns_of(24) + 500 + ns_of(84);
    const uint64_t entry = ns_of(88) + ns_of(28);
    const uint64_t list = ns_of(24) + 500 + ns_of(3 * 8 + 20);
    const uint64_t data = ns_of(24) + 500 + ns_of(4 * (4096 + 16 * 20));
    const uint64_t posted = ns_of(4 * (4096 + 16 * 24));
    const uint64_t end = ns_of(40 + 28);
    static const uint8_t parts[] = {15, SSD_IN_CMB_ENTRY, SSD_IN_CMB_LIST,
                                    SSD_IN_CMB_DATA, SSD_IN_CMB_COMPLETION};
    const uint64_t want[] = {
        entry + ns_of(48) + posted + ns_of(28), entry + list + data + end,
        fetch + ns_of(48) + data + end,         fetch + list + posted + end,
        fetch + list + data + ns_of(28),
    };
    SsdCompletion c;

    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++) {
        r->in_cmb = parts[i];
        c = ref_one(r, SSD_OP_WRITE, 64 * UNIT, 4 * UNIT, false);
        g_assert_cmpuint(latency(&c), ==, want[i]);
        same_cost(&c, (SsdBreakdown){.link_ns = latency(&c)});
    }
    r->in_cmb = 15;
    c = ref_one(r, SSD_OP_READ, 0, UNIT, false);
    g_assert_cmpuint(latency(&c), ==, entry + ns_of(28));
    c = ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    g_assert_cmpuint(c.cost.link_ns, ==, entry + ns_of(28));
    ref_free(r);
}

/* Data of a write in the buffer moves three times, that of a read once. */
static void test_cmb_dram(void)
{
    Ref *r = ref_new(ref_config(FAST "buffer.mb_s=1000"), false);
    const uint64_t move = 4096;
    SsdCompletion c = ref_one(r, SSD_OP_WRITE, 0, UNIT, false);
    uint64_t plain = c.cost.link_ns + c.cost.buffer_ns;

    r->in_cmb = SSD_IN_CMB_DATA;
    c = ref_one(r, SSD_OP_WRITE, 64 * UNIT, UNIT, false);
    g_assert_cmpuint(c.cost.link_ns + c.cost.buffer_ns, ==, plain + 2 * move);
    ref_free(r);
}

static void test_refused(void)
{
    refused("host.pcie_mps=200", "host.pcie_mps=200: must be a power of two");
    refused("host.pcie_mps=64", "host.pcie_mps=64: must be a power of two, at "
                                "least 128");
    refused("host.pcie_mps=256;host.pcie_mrrs=300", "host.pcie_mrrs=300");
    refused("host.pcie_mps=256;host.pcie_rcb=32", "host.pcie_rcb=32");
    refused("host.pcie_nvme=on", "host.pcie_nvme=on: needs host.pcie_mps");
    refused("ftl.hmb=1MiB", "ftl.hmb=1048576: must be 0 or at least 64, and "
                            "needs ftl.map=dftl");
    refused("buffer.shared=on", "buffer.shared=on: needs buffer.mb_s");
    refused("buffer.map_bytes=64", "buffer.map_bytes=64: needs buffer.mb_s");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/controller/unit", test_unit_and_completion);
    g_test_add_func("/controller/trim-flush", test_trim_and_flush);
    g_test_add_func("/controller/trim-unit", test_trim_unit);
    g_test_add_func("/controller/one-core", test_one_core);
    g_test_add_func("/controller/limits", test_limits);
    g_test_add_func("/controller/limit-of-writes", test_limit_of_writes);
    g_test_add_func("/controller/since-reset", test_busy_since_reset);
    g_test_add_func("/controller/no-start", test_stage_without_start);
    g_test_add_func("/controller/map-miss", test_map_miss);
    g_test_add_func("/controller/gc", test_gc);
    g_test_add_func("/controller/gc-core", test_gc_core);
    g_test_add_func("/controller/map-bytes", test_map_bytes);
    g_test_add_func("/controller/shared", test_shared);
    g_test_add_func("/controller/pcie-rate", test_pcie_rate);
    g_test_add_func("/controller/pcie-latency", test_pcie_latency);
    g_test_add_func("/controller/pcie-nvme", test_pcie_nvme);
    g_test_add_func("/controller/pcie-between", test_pcie_between);
    g_test_add_func("/controller/cmb", test_cmb);
    g_test_add_func("/controller/cmb-dram", test_cmb_dram);
    g_test_add_func("/controller/refused", test_refused);
    return g_test_run();
}
