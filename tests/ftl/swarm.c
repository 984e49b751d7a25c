/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * swarm.c - random drives under random hosts, each from one seed.
 *
 *   test-swarm [--seed N] [--runs N] [--commands N] [--bug NAME] [--file FILE]
 *              [--copies] [--dftl] [--logs] [--trace FILE]
 *
 * One seed picks geometry (tiny: full in a moment), times, policies, the mix of
 * commands, aborts, power cuts and the style of polling.  The line that repeats
 * a run is printed before it starts.  --file replays the seeds of a file, one a
 * line.  --bug plants a bug between the reference model and the drive: with
 * --seed that run shows how it is found; without, each seed runs in a process
 * of its own, and at least a quarter of them must find it.  --copies runs each
 * seed twice, once with copies that take the place of the drive now and then:
 * clones, and drives saved and loaded; all that is seen must be the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buffer/buffer-policy.h"
#include "gc/gc-policy.h"
#include "media/media-internal.h"
#include "placement/alloc-policy.h"
#include "ref.h"
#include "ssd-config.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-setup.h"

static const char *const bug_names[REF_N_BUGS] = {
    [REF_BUG_NONE] = "none",           [REF_BUG_WRONG_UNIT] = "wrong-unit",
    [REF_BUG_LOST_TRIM] = "lost-trim", [REF_BUG_LOST_FLUSH] = "lost-flush",
    [REF_BUG_LOST_FUA] = "lost-fua",   [REF_BUG_LOST_REPORT] = "lost-report",
    [REF_BUG_LATE] = "late",
};

enum {
    DRAW_DRIVE = 1,
    DRAW_HOST,
    DRAW_ABORT,
    DRAW_MEDIA,
    DRAW_STREAMS,
    DRAW_BUFFER,
    DRAW_UPKEEP = 20,
    DRAW_GC_UNIT = 30,
    DRAW_DFTL = 41,
    DRAW_RECOVERY = 50,
    DRAW_LOGS = 52,
    DRAW_HOT = 60,
    DRAW_SLC = 70,
    DRAW_DRAM,
    DRAW_ROWS,
    DRAW_SUPERPAGE,
    DRAW_CELLS,
    DRAW_HEAT,
    DRAW_POWER,
    DRAW_CONTROLLER = 80,
    DRAW_HMB,
};

typedef struct Mix {
    unsigned read, write, trim, flush; /* weights */
    unsigned fua_percent;
    unsigned abort_percent;
    unsigned cut_permille;
    unsigned hot_percent; /* of commands, on a tenth of the drive */
    unsigned idle_percent;
    uint64_t max_think_ns;
    uint64_t max_idle_ns;
    uint32_t max_blocks;
    bool whole_units;
} Mix;

static gint64 opt_seed = -1;
static int opt_runs = 40;
static int opt_commands = 6000;
static char *opt_bug;
static char *opt_file;
static gboolean opt_copies;
static char *opt_trace;
static gboolean opt_logs;
static gboolean opt_dftl;

/* ---- the drive ---------------------------------------------------------- */

static uint64_t one_of(Prng *r, const uint64_t *v, size_t n)
{
    return v[prng_below(r, n)];
}

#define ONE_OF(r, ...)                                                         \
    one_of(r, (const uint64_t[]){__VA_ARGS__},                                 \
           sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* One draw to a statement: the order in which a compiler evaluates arguments is
 * its own, and a seed must mean the same drive everywhere. */
/* Times in nanoseconds. */
static void put(GString *s, const char *key, uint64_t value)
{
    g_string_append_printf(s, "%s=%" PRIu64 "%s;", key, value,
                           ssd_config_is_time(key) ? "ns" : "");
}

static void put_name(GString *s, const char *key, const char *name)
{
    g_string_append_printf(s, "%s=%s;", key, name);
}

static void put_on_off(GString *s, const char *key, Prng *r)
{
    put_name(s, key, prng_below(r, 2) ? "on" : "off");
}

static void draw_geometry(Prng *r, GString *s, uint64_t *page_bytes)
{
    /* Few planes of many blocks can do with little over-provisioning. */
    bool tall = prng_below(r, 2);
    uint64_t blocks = (tall ? 100 : 18) + prng_below(r, 24);
    uint64_t most_spare = prng_below(r, 2) ? 3 : blocks - 15;
    uint64_t spare = 9 + prng_below(r, most_spare);
    uint64_t most = tall ? 1 : 2;
    uint64_t unit_bytes;

    *page_bytes = ONE_OF(r, 4096, 4096, 8192, 16384, 16384);
    unit_bytes = ONE_OF(r, 512, 4096, 4096, 4096, 8192, 16384);
    put(s, "nand.channels", 1 + prng_below(r, 2));
    put(s, "nand.chips", 1 + prng_below(r, most));
    put(s, "nand.dies", 1 + prng_below(r, most));
    put(s, "nand.planes", 1 + prng_below(r, 2));
    put(s, "nand.blocks", blocks);
    put(s, "nand.pages", 4 + prng_below(r, tall ? 3 : 9));
    put(s, "nand.page_size", *page_bytes);
    put(s, "ftl.unit", CLAMP(unit_bytes, *page_bytes / 8, *page_bytes));
    put(s, "ftl.op_percent", MIN(spare * 100 / (blocks - spare) + 1, 1000));
}

static void draw_times(Prng *r, GString *s)
{
    put(s, "nand.read", ONE_OF(r, 0, 1, 40000, 60001));
    put(s, "nand.program", ONE_OF(r, 0, 7, 200000, 700000));
    put(s, "nand.erase", ONE_OF(r, 0, 11, 1000000, 3500003));
    put(s, "nand.command", ONE_OF(r, 0, 1, 200));
    put_name(s, "nand.bus_ns_per_byte", prng_below(r, 3) ? "1.251" : "0");
    put(s, "host.firmware", ONE_OF(r, 0, 1, 4000));
    put(s, "host.link_mb_s", ONE_OF(r, 0, 1000, 3501));
    put(s, "buffer.access", ONE_OF(r, 0, 333, 500));
}

static void draw_policies(Prng *r, GString *s)
{
    size_t n_gc = 0;
    size_t n_alloc = 0;

    while (gc_policies[n_gc]) {
        n_gc++;
    }
    while (alloc_policies[n_alloc]) {
        n_alloc++;
    }
    put_name(s, "ftl.gc", gc_policies[prng_below(r, n_gc)]->name);
    put_name(s, "ftl.alloc", alloc_policies[prng_below(r, n_alloc)]->name);
    prng_below(r, 1); /* was the buffer's: seeds keep their meaning */
}

/* The buffer's policy and its options, from a stream of their own. */
static void draw_buffer(Prng *r, GString *s)
{
    size_t n = 0;
    size_t i;

    while (buffer_policies[n]) {
        n++;
    }
    i = prng_below(r, n);
    if (opt_bug && buffer_policies[i]->write_through) {
        i = 0; /* it hides the bugs about flush and FUA, too */
    }
    put_name(s, "buffer.policy", buffer_policies[i]->name);
    put_name(s, "buffer.free_at",
             ssd_free_at_name(!strstr(s->str, "plp=on") &&
                              prng_below(r, 3) == 0));
    put(s, "buffer.window", ONE_OF(r, 0, 10, 50, 100, 100));
    put(s, "buffer.early_threshold", ONE_OF(r, 0, 10, 50, 80));
    put(s, "buffer.early_adapt", ONE_OF(r, 0, 10, 100));
    if (prng_below(r, 2)) {
        put(s, "buffer.block", ONE_OF(r, 0, 16384, 65536));
    }
}

/* Features of the array that go together; planes says whether there are two. */
static void draw_array(Prng *r, GString *s, bool planes)
{
    bool multi = prng_below(r, 2) && planes;
    uint64_t kind = prng_below(r, 3); /* one-shot, copyback, neither */

    put_name(s, "nand.schedule", nand_sched_name((unsigned)prng_below(r, 4)));
    put(s, "nand.write_deadline", ONE_OF(r, 0, 100000, 10000000));
    put_on_off(s, "nand.cache_read", r);
    put_on_off(s, "nand.cache_program", r);
    put_name(s, "nand.suspend", nand_suspend_name((unsigned)prng_below(r, 4)));
    put(s, "nand.suspend_limit", 1 + prng_below(r, 4));
    put(s, "nand.suspend_min_run", ONE_OF(r, 0, 50000));
    put(s, "nand.ecc_decode", ONE_OF(r, 0, 0, 1000, 30000));
    put(s, "host.cores", ONE_OF(r, 0, 0, 1, 3));
    if (multi) {
        put_name(s, "nand.multi_plane", "on");
        put_on_off(s, "nand.independent_reads", r);
    } else {
        put_name(s, "nand.lock", nand_lock_name((unsigned)prng_below(r, 3)));
    }
    if (prng_below(r, 3) == 0) {
        put_name(s, "nand.interface",
                 nand_interface_name(1 + (unsigned)prng_below(r, 5)));
        put_on_off(s, "nand.status_poll", r);
    }
    if (kind == 0) {
        put_name(s, "nand.cell", "mlc");
        put_name(s, "nand.one_shot", "on");
        put(s, "nand.pages", 8);
        put(s, "nand.slc_blocks", ONE_OF(r, 0, 0, 1, 3));
    } else if (kind == 1) {
        put_name(s, "nand.copyback", "on");
        put_name(s, "nand.cell", "tlc");
        put(s, "nand.read_2", 70000);
    }
}

static char *draw_drive(Prng *r)
{
    GString *s = g_string_new(NULL);
    uint64_t page_bytes;

    draw_geometry(r, s, &page_bytes);
    draw_times(r, s);
    draw_policies(r, s);
    /* A little more, for a policy that keeps records there. */
    put(s, "buffer.size", page_bytes * (2 + prng_below(r, 40)) + 384);
    put(s, "buffer.flush_interval", ONE_OF(r, 0, 0, 100000, 5000000));
    put_name(s, "host.complete_at",
             ssd_complete_at_name((unsigned)ONE_OF(r, 0, 0, 0, 1, 2)));
    put(s, "host.queue_depth", ONE_OF(r, 1, 2, 8, 32, 64));
    if (prng_below(r, 2)) {
        draw_array(r, s, strstr(s->str, "nand.planes=2") != NULL);
    }
    return g_string_free(s, FALSE);
}

/* A medium with errors, from a stream of its own. */
static void draw_media(Prng *r, GString *s)
{
    if (prng_below(r, 2)) {
        put_name(s, "media.errors", "on");
        put_name(s, "media.base", prng_below(r, 2) ? "6.8e-3" : "7.5e-3");
        put_name(s, "media.retry_factor", "0.97");
        put(s, "media.retry_limit", prng_below(r, 5));
    }
    if (prng_below(r, 2)) {
        put_name(s, "media.program_fail",
                 prng_below(r, 2) ? "0.0005" : "0.005");
        put_name(s, "media.erase_fail", prng_below(r, 2) ? "0.0005" : "0.01");
    }
}

/* Streams or reclaim units, from a stream of their own. */
static void draw_streams(Prng *r, GString *s)
{
    uint64_t n = 1 + prng_below(r, 6);
    const char *key = prng_below(r, 2) ? "streams.max" : "fdp.ruhs";
    bool merge = prng_below(r, 2);

    /* Blocks enough to set some apart for each. */
    g_string_append_printf(s, "nand.blocks=%" PRIu64 ";%s=%" PRIu64
                           ";streams.gc=%s;",
                           60 + prng_below(r, 40), key, n,
                           merge ? "merge" : "separate");
}

/* Wear levelling, and work in the background, from a stream of their own. */
static void draw_upkeep(Prng *r, GString *s)
{
    put_name(s, "ftl.wear", ssd_wear_name((unsigned)prng_below(r, 3)));
    put(s, "ftl.wear_spread", 1 + prng_below(r, 8));
    /* Many streams leave no more room. */
    put(s, "ftl.gc_soft", strstr(s->str, "streams.gc") ? ONE_OF(r, 0, 10)
                                                       : ONE_OF(r, 0, 10, 30));
    put(s, "ftl.idle", ONE_OF(r, 0, 50000, 1000000));
    put_on_off(s, "ftl.gc_preempt", r);
    if (strstr(s->str, "media.errors=on")) {
        put(s, "ftl.refresh_reads", ONE_OF(r, 0, 1, 3));
        put(s, "ftl.refresh_hours", ONE_OF(r, 0, 1, 30));
        put(s, "media.preload_hours", ONE_OF(r, 0, 2, 40));
        put(s, "media.off_hours", ONE_OF(r, 0, 2, 40));
        put(s, "ftl.scan_interval", ONE_OF(r, 1000000, 20000000));
    }
}

/* A log-block map, from a stream of its own, and conflicting options back at
 * their defaults. */
static void draw_logs(Prng *r, GString *s)
{
    bool fast = prng_below(r, 2);

    g_string_append_printf(
        s, "ftl.map=%s;ftl.alloc=stripe;ftl.gc=greedy;ftl.gc_soft=0;"
        "ftl.gc_unit=plane;"
        "ftl.gc_preempt=off;ftl.refresh_reads=0;ftl.refresh_hours=0;"
        "streams.max=0;fdp.ruhs=0;nand.slc_blocks=0;nand.copyback=off;"
        "media.program_fail=0;media.erase_fail=0;ftl.wear=%s;",
        fast ? "fast" : "bast", ssd_wear_name((unsigned)prng_below(r, 2)));
    put(s, "ftl.log_blocks", fast ? ONE_OF(r, 0, 0, 2, 3, 5)
                                  : ONE_OF(r, 0, 0, 1, 2, 4));
}

/* The drive's own stream, where the host has none. */
static void draw_hot(uint64_t seed, GString *s)
{
    Prng r;

    prng_seed(&r, seed, DRAW_HOT);
    if (prng_below(&r, 5) == 0 && !strstr(s->str, "streams.") &&
        !strstr(s->str, "ftl.log_blocks")) {
        g_string_append(s, "ftl.hot_cold=on;");
        put(s, "nand.blocks", 100 + prng_below(&r, 60)); /* some for each */
    }
}

/* The unit of GC, from a stream of its own. */
static void draw_gc_unit(uint64_t seed, GString *s)
{
    Prng r;

    prng_seed(&r, seed, DRAW_GC_UNIT);
    put_name(s, "ftl.gc_unit", ssd_gc_unit_name((unsigned)ONE_OF(&r, 0, 1, 2, 2)));
}

/* The map in NAND, from a stream of its own.  Small pages, so that there are
 * many of them. */
static void draw_dftl(uint64_t seed, GString *s)
{
    Prng r;

    prng_seed(&r, seed, DRAW_DFTL);
    if (prng_below(&r, 4) != 0 && !opt_dftl) {
        return;
    }
    put_name(s, "ftl.map", "dftl");
    put(s, "nand.blocks", (strstr(s->str, "streams.gc") ? 100 : 40) +
                              prng_below(&r, 100));
    put(s, "ftl.map_cache", ONE_OF(&r, 64, 128, 1024, 8192, 1048576));
    put(s, "ftl.map_prefetch", ONE_OF(&r, 0, 0, 1, 8, 1000));
    if (prng_below(&r, 3)) {
        put(s, "nand.page_size", ONE_OF(&r, 512, 1024, 2048));
        put(s, "ftl.unit", 512);
        put(s, "buffer.size", 8192 << prng_below(&r, 4));
        put(s, "buffer.block", 0);
        put(s, "nand.ecc_codeword", 512);
    }
}

/* Where the map is found after a power cut, from a stream of its own. */
static void draw_recovery(Prng *r, GString *s)
{
    if (!strstr(s->str, "plp=on") && !strstr(s->str, "ftl.log_blocks") &&
        prng_below(r, 3) == 0) {
        put_name(s, "ftl.recovery", prng_below(r, 3) ? "checkpoint" : "scan");
        put(s, "ftl.checkpoint_interval", ONE_OF(r, 1, 10, 100, 1000));
    }
}

/* Blocks in SLC mode also where a program takes one page, and failures that are
 * possible but do not come; from a stream of its own. */
static void draw_slc(uint64_t seed, GString *s)
{
    Prng r;

    prng_seed(&r, seed, DRAW_SLC);
    if (prng_below(&r, 4) == 0 && !strstr(s->str, "ftl.log_blocks")) {
        g_string_append(s, "nand.cell=mlc;nand.pages=8;");
        put(s, "nand.slc_blocks", 1 + prng_below(&r, 4));
        put_name(s, "media.slc_factor", prng_below(&r, 2) ? "1" : "0.9");
    }
    if (prng_below(&r, 4) == 0 && !strstr(s->str, "media.program_fail") &&
        !strstr(s->str, "ftl.log_blocks")) {
        put_name(s, "media.erase_fail", "1e-15");
    }
    if (strstr(s->str, "media.errors=on") && !strstr(s->str, "ftl.log_blocks")) {
        uint64_t limit = 1 + prng_below(&r, 4);

        put(s, "media.retry_limit", limit);
        put(s, "ftl.refresh_retries", prng_below(&r, limit + 1));
    }
}

/* The rate of DRAM, from a stream of its own. */
static void draw_dram(uint64_t seed, GString *s)
{
    Prng r;

    prng_seed(&r, seed, DRAW_DRAM);
    put(s, "buffer.mb_s", ONE_OF(&r, 0, 0, 37, 1600));
    if (!strstr(s->str, "buffer.mb_s=0;")) {
        put_on_off(s, "buffer.shared", &r);
        put(s, "buffer.map_bytes", ONE_OF(&r, 0, 64, 4096));
    }
}

/* Rows of pages across planes, and what the array does beside multi-plane
 * commands, from a stream of their own. */
static void draw_rows(uint64_t seed, GString *s)
{
    Prng r;

    prng_seed(&r, seed, DRAW_ROWS);
    put_name(s, "nand.arbitration", prng_below(&r, 2) ? "phase" : "group");
    if (strstr(s->str, "nand.planes=2") && !strstr(s->str, "nand.lock=chip") &&
        !strstr(s->str, "nand.lock=plane")) {
        put_on_off(s, "nand.async_reads", &r);
    }
}

/* Superpages, where the policies and the number of dies allow them. */
static void set_superpage(SsdConfig *cfg, uint64_t seed)
{
    uint32_t dies = cfg->nand.channels * cfg->nand.chips * cfg->nand.dies;
    uint64_t n, wait_us;
    Prng r;

    prng_seed(&r, seed, DRAW_SUPERPAGE);
    n = ONE_OF(&r, 0, 1, 1, 2, 4);
    wait_us = ONE_OF(&r, 1, 300, 10000);
    if (n > 0 && dies % n == 0 && n * cfg->nand.planes > 1 &&
        ssd_alloc_in_rows(cfg->alloc) && !ssd_map_least_logs(cfg->mapper)) {
        g_autofree char *options = g_strdup_printf(
            "ftl.superpage=%" PRIu64 ";ftl.superpage_wait=%" PRIu64 "us;", n,
            wait_us);
        bool ok = ssd_config_set(cfg, options, NULL);

        g_assert_true(ok);
    }
}

/* Errors that belong to places and levels, and what follows from them. */
static void draw_cells(uint64_t seed, const char *drive, GString *s)
{
    Prng r;

    prng_seed(&r, seed, DRAW_CELLS);
    if (prng_below(&r, 3) == 0) {
        put(s, "nand.program_wear", ONE_OF(&r, 0, 20, 90));
        put(s, "nand.erase_wear", ONE_OF(&r, 0, 50, 1000));
        put(s, "media.rated_cycles", ONE_OF(&r, 0, 3, 3000));
    }
    if (prng_below(&r, 3) == 0 && !strstr(drive, "nand.one_shot=on") &&
        !strstr(drive, "nand.cell") && !strstr(s->str, "nand.cell")) {
        put_name(s, "nand.cell", "mlc");
        put_name(s, "media.paired_pages", prng_below(&r, 2) ? "on" : "backup");
    }
    put(s, "ftl.recovery_cpu", ONE_OF(&r, 0, 0, 100, 30000));
    if (!strstr(s->str, "ftl.log_blocks")) {
        put_on_off(s, "ftl.close_open", &r);
    }
    if (!strstr(s->str, "media.errors=on") || prng_below(&r, 2)) {
        return;
    }
    put_name(s, "media.block_sigma", prng_below(&r, 2) ? "0.3" : "0");
    put_name(s, "media.die_sigma", prng_below(&r, 2) ? "0.1" : "0");
    put(s, "media.layer_factor", ONE_OF(&r, 1, 2, 5));
    put(s, "media.layers", ONE_OF(&r, 0, 2));
    put_name(s, "media.type_2", prng_below(&r, 2) ? "1.1" : "1");
    put(s, "media.temperature", ONE_OF(&r, 40, 60));
    put(s, "media.soft_reads", 2);
    put(s, "media.soft_time", ONE_OF(&r, 0, 1, 50000));
    if (prng_below(&r, 2)) {
        put_name(s, "media.retry_levels", "on");
        put_name(s, "media.shift_sigma", "0.5");
        put_name(s, "media.retry_memory",
                 nand_retry_memory_name((unsigned)prng_below(&r, 3)));
    }
    if (!strstr(s->str, "ftl.log_blocks")) {
        put(s, "ftl.read_reclaim", ONE_OF(&r, 0, 1, 2));
    }
}

/* Temperature and power states, from a stream of their own. */
static void draw_heat(uint64_t seed, GString *s)
{
    Prng r;

    prng_seed(&r, seed, DRAW_HEAT);
    if (prng_below(&r, 4)) {
        return;
    }
    put(s, "thermal.resistance", ONE_OF(&r, 0, 5, 20));
    put_name(s, "thermal.capacitance", prng_below(&r, 2) ? "0.001" : "0.1");
    put(s, "power.active", ONE_OF(&r, 0, 2000, 8000));
    put(s, "power.idle", ONE_OF(&r, 0, 500));
    put(s, "nand.energy_program", ONE_OF(&r, 0, 100000));
    if (strstr(s->str, "thermal.resistance=0")) {
        put_name(s, "power.states", "500:0:0/10:10:20:idle");
    } else {
        put(s, "host.link_mb_s", 1000);
        put(s, "thermal.throttle_1", ONE_OF(&r, 0, 30, 40));
        put(s, "thermal.throttle_2", ONE_OF(&r, 0, 45, 60));
        put_name(s, "power.states",
                 "8000:0:0/500:0:100/50:100:400:idle/"
                 "5:1000:3000:idle");
    }
    put(s, "power.idle_after", ONE_OF(&r, 0, 20000, 3000000));
}

/* Map entries in host memory, from a stream of their own. */
static void draw_hmb(uint64_t seed, GString *s)
{
    Prng r;

    prng_seed(&r, seed, DRAW_HMB);
    if (strstr(s->str, "ftl.map=dftl") && !strstr(s->str, "ftl.log_blocks")) {
        put(s, "ftl.hmb", ONE_OF(&r, 0, 64, 1024, 65536));
        put(s, "ftl.hmb_latency", ONE_OF(&r, 0, 1, 2000));
    }
}

/* Costs of firmware and packets, from a stream of their own. */
static void draw_controller(uint64_t seed, GString *s)
{
    Prng r;
    uint64_t mps;

    prng_seed(&r, seed, DRAW_CONTROLLER);
    if (prng_below(&r, 3) != 0) {
        return;
    }
    mps = ONE_OF(&r, 0, 128, 512);
    put(s, "host.firmware_unit", ONE_OF(&r, 0, 1, 300));
    put(s, "host.firmware_map_miss", ONE_OF(&r, 0, 1, 5000));
    put(s, "host.firmware_complete", ONE_OF(&r, 0, 1, 2000));
    put(s, "host.firmware_trim", ONE_OF(&r, 0, 1000));
    put(s, "host.firmware_trim_unit", ONE_OF(&r, 0, 10));
    put(s, "host.firmware_flush", ONE_OF(&r, 0, 10000));
    put(s, "ftl.gc_firmware", ONE_OF(&r, 0, 1, 20000));
    put(s, "ftl.gc_firmware_unit", ONE_OF(&r, 0, 1, 3000));
    put_on_off(s, "ftl.gc_core", &r);
    put_on_off(s, "nand.register_hits", &r);
    put(s, "host.pcie_mps", mps);
    put(s, "host.pcie_rcb", ONE_OF(&r, 0, 64, 128));
    put(s, "host.pcie_round_trip", ONE_OF(&r, 0, 700));
    if (prng_below(&r, 2)) {
        put(s, "host.read_ahead", ONE_OF(&r, 131072, 262144, 1048576));
        put(s, "host.read_streams", ONE_OF(&r, 1, 2, 8));
        put(s, "host.read_ahead_after", ONE_OF(&r, 1, 1, 2));
    }
    if (mps > 0) {
        put_on_off(s, "host.pcie_nvme", &r);
    }
}

/* Random numbers of one seed, a stream for each thing: an addition to one does
 * not change the others. */
typedef struct Draws {
    uint64_t seed;
    Prng drive, media, streams, buffer, upkeep, recovery, logs, host;
} Draws;

static void draws_seed(Draws *d, uint64_t seed)
{
    d->seed = seed;
    prng_seed(&d->drive, seed, DRAW_DRIVE);
    prng_seed(&d->media, seed, DRAW_MEDIA);
    prng_seed(&d->streams, seed, DRAW_STREAMS);
    prng_seed(&d->buffer, seed, DRAW_BUFFER);
    prng_seed(&d->upkeep, seed, DRAW_UPKEEP);
    prng_seed(&d->recovery, seed, DRAW_RECOVERY);
    prng_seed(&d->logs, seed, DRAW_LOGS);
    prng_seed(&d->host, seed, DRAW_HOST);
}

/* A drive that fits together: the spare part is raised until it does. */
static SsdConfig *make_drive(Draws *d, bool verbose)
{
    g_autofree char *drive = draw_drive(&d->drive);
    g_autoptr(GString) errors = g_string_new(NULL);
    g_autofree char *options = NULL;
    SsdConfig *cfg;
    uint32_t block_bytes = prng_below(&d->drive, 2) ? 512 : 4096;
    unsigned op = 0;

    if (prng_below(&d->media, 3) == 0) {
        draw_media(&d->media, errors);
    }
    /* A protected buffer hides the bugs about flush and FUA. */
    if (!opt_bug && prng_below(&d->media, 5) == 1) {
        g_string_append(errors, "buffer.plp=on;");
    }
    if (prng_below(&d->streams, 3) == 0) {
        draw_streams(&d->streams, errors);
    }
    draw_buffer(&d->buffer, errors);
    if (prng_below(&d->upkeep, 2)) {
        draw_upkeep(&d->upkeep, errors);
    }
    draw_gc_unit(d->seed, errors);
    draw_dftl(d->seed, errors);
    if ((prng_below(&d->logs, 6) == 0 && !opt_dftl) || opt_logs) {
        draw_logs(&d->logs, errors);
    }
    draw_recovery(&d->recovery, errors);
    draw_hot(d->seed, errors);
    draw_slc(d->seed, errors);
    draw_dram(d->seed, errors);
    draw_cells(d->seed, drive, errors);
    draw_heat(d->seed, errors);
    g_string_prepend(errors, drive);
    draw_rows(d->seed, errors);
    draw_controller(d->seed, errors);
    draw_hmb(d->seed, errors);
    options = g_strdup(errors->str);
    cfg = ref_config(options);
    set_superpage(cfg, d->seed);

    if (d->seed % 2 && !ref_trace) { /* trims in several steps */
        cfg->trim_group_shift = (uint32_t)(d->seed % 4);
        cfg->trim_step = 1 + (uint32_t)(d->seed / 4 % 3);
    }
    g_assert_true(ssd_config_set_block_bytes(cfg, block_bytes, NULL));
    if (!ssd_config_check(cfg, NULL)) {
        g_assert_true(ssd_config_set_block_bytes(cfg, 512, NULL));
    }
    while (!ssd_config_check(cfg, NULL)) {
        g_autofree char *more = g_strdup_printf("ftl.op_percent=%u", op += 40);
        bool ok = ssd_config_set(cfg, more, NULL);

        if (!ok) { /* too few blocks to set some apart for saved pages */
            op = 0;
            ok = ssd_config_set(cfg, "ftl.recovery=capacitors", NULL);
        }
        g_assert_true(ok);
    }
    if (verbose) {
        fprintf(stderr, "# %sftl.superpage=%u\n", options, cfg->superpage);
    }
    return cfg;
}

/* ---- the host ------------------------------------------------------------ */

static void draw_mix(Prng *r, const Ref *ref, Mix *m)
{
    uint64_t sizes[] = {1, ref->unit_blocks, 4 * ref->unit_blocks,
                        64 * ref->unit_blocks};

    m->read = (unsigned)prng_below(r, 40);
    m->write = 20 + (unsigned)prng_below(r, 60);
    m->trim = (unsigned)prng_below(r, 3) * 8;
    m->flush = (unsigned)prng_below(r, 3) * 3;
    m->fua_percent = (unsigned)ONE_OF(r, 0, 0, 5, 50);
    m->abort_percent = (unsigned)ONE_OF(r, 0, 0, 3);
    m->cut_permille = (unsigned)ONE_OF(r, 0, 2, 10);
    m->hot_percent = (unsigned)ONE_OF(r, 0, 50, 90);
    m->idle_percent = (unsigned)ONE_OF(r, 0, 1, 5);
    m->max_think_ns = ONE_OF(r, 1, 3000, 100000);
    m->max_idle_ns = ONE_OF(r, 1000000, 50000000);
    m->max_blocks = (uint32_t)one_of(r, sizes, G_N_ELEMENTS(sizes));
    m->whole_units = prng_below(r, 2);
    m->max_blocks = (uint32_t)MIN(m->max_blocks, ref->info->nblocks);
}

static SsdOp draw_op(Prng *r, const Mix *m)
{
    uint64_t x = prng_below(r, m->read + m->write + m->trim + m->flush);

    if (x < m->read) {
        return SSD_OP_READ;
    }
    x -= m->read;
    if (x < m->write) {
        return SSD_OP_WRITE;
    }
    x -= m->write;
    if (x < m->trim) {
        return SSD_OP_TRIM;
    }
    return prng_below(r, 20) ? SSD_OP_FLUSH : SSD_OP_SHUTDOWN;
}

static void one_command(Ref *ref, Prng *r, const Mix *m)
{
    uint32_t ub = ref->unit_blocks;
    uint32_t n = 1 + (uint32_t)prng_below(r, m->max_blocks);
    uint64_t space = ref->info->nblocks;
    SsdOp op = draw_op(r, m);
    uint64_t lba;

    if (prng_below(r, 100) < m->hot_percent) {
        space = MAX(space / 10, n);
    }
    if (op == SSD_OP_TRIM) {
        n = (uint32_t)MIN(n * 4ULL, ref->info->nblocks);
    }
    lba = prng_below(r, MAX(space, n) - n + 1);
    if (m->whole_units) {
        lba -= lba % ub;
        n = (n + ub - 1) / ub * ub;
    }
    ref_do(ref, op, lba, n, prng_below(r, 100) < m->fua_percent);
}

static void pass_time(Ref *ref, Prng *r, const Mix *m)
{
    if (prng_below(r, 100) < m->idle_percent) {
        ref_pass(ref, prng_below(r, m->max_idle_ns));
    } else if (prng_below(r, 2)) {
        ref_pass(ref, prng_below(r, m->max_think_ns));
    }
}

/* Now and then the host sets a power state, idle rules or thermal limits. */
static void set_power(Ref *ref, Prng *r)
{
    const uint32_t limits[] = {300 + (uint32_t)prng_below(r, 20),
                               320 + (uint32_t)prng_below(r, 20)};
    SsdIdleRule rule[SSD_POWER_STATES] = {{0}};
    uint64_t now_ns = ref->now_ns - ref->base_ns;
    uint32_t n;

    ssd_power_states(ref->ssd, &n);
    if (n == 0 || prng_below(r, 200)) {
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        rule[i].state = (uint32_t)prng_below(r, n);
        rule[i].after_ns = prng_below(r, 3) * 50000;
    }
    switch (prng_below(r, 4)) {
    case 0:
        ssd_set_power_state(ref->ssd, now_ns, rule[0].state);
        break;
    case 1:
        ssd_set_idle_rules(ref->ssd, now_ns, rule);
        break;
    case 2:
        ssd_set_idle_rules(ref->ssd, now_ns, NULL);
        break;
    default:
        ssd_set_heat_limits(ref->ssd, now_ns, limits);
    }
}

static void play(Ref *ref, Prng *r, uint64_t seed)
{
    Prng abort_rng, power_rng;
    Mix m;

    draw_mix(r, ref, &m);
    prng_seed(&abort_rng, seed, DRAW_ABORT);
    prng_seed(&power_rng, seed, DRAW_POWER);
    for (int i = 0; i < opt_commands; i++) {
        one_command(ref, r, &m);
        if (prng_below(r, 100) < m.abort_percent) {
            ref_abort_one(ref, &abort_rng);
        }
        set_power(ref, &power_rng);
        pass_time(ref, r, &m);
        if (prng_below(r, 1000) < m.cut_permille) {
            ref_power_cycle(ref);
        }
        if (i % 97 == 0) {
            ref_verify(ref);
        }
    }
    ref_finish(ref);
    ref_power_cycle(ref);
    ref_finish(ref);
}

/* Everything that a host sees of a run. */
typedef struct Seen {
    GArray *log;
    GString *reports;
    GString *stats;
    uint64_t n_cloned, n_loaded, n_rebased;
} Seen;

static void keep(Ref *ref, Seen *seen)
{
    JsonWriter w = {.out = g_string_new(NULL)};

    ssd_stats_json(ref->ssd, &w, NULL);
    *seen = (Seen){
        .log = g_steal_pointer(&ref->log),
        .reports = g_steal_pointer(&ref->reports),
        .stats = w.out,
        .n_cloned = ref->n_cloned,
        .n_loaded = ref->n_loaded,
        .n_rebased = ref->n_rebased,
    };
}

static void forget(Seen *seen)
{
    g_array_free(seen->log, true);
    g_string_free(seen->reports, true);
    g_string_free(seen->stats, true);
}

/* A drive dies of blocks that go bad, and of nothing else. */
static void check_life(const Ref *ref)
{
    SsdCounters c;

    ssd_get_counters(ref->ssd, &c);
    if (c.read_only && c.grown_bad_blocks == 0) {
        g_error("read-only, and no block has gone bad");
    }
}

/* seen: NULL, or the data to fill in, with copies as often as permille says. */
static void run_and_see(uint64_t seed, RefBug bug, unsigned copies_permille,
                        Seen *seen)
{
    SsdConfig *cfg;
    Draws draws;
    Ref *ref;
    bool verbose = opt_seed >= 0;

    printf("# test-swarm --seed %" PRIu64 " --commands %d --bug %s%s\n", seed,
           opt_commands, bug_names[bug],
           opt_logs ? " --logs" : opt_dftl ? " --dftl" : "");
    fflush(stdout);
    draws_seed(&draws, seed);
    cfg = make_drive(&draws, verbose);
    ref = ref_new(cfg, prng_below(&draws.drive, 2));
    ref->n_streams = ref->info->host_streams;
    ref->faults = ref->ssd->cfg->nand.errors || ref->ssd->media->may_fail ||
                  ref->ssd->cfg->nand.paired_pages;
    ref->bug = bug;
    ref->replace_permille = copies_permille;
    ref->recovery_rng = draws.recovery;
    if (seen) {
        ref->log = g_array_new(false, false, sizeof(SsdCompletion));
        ref->reports = g_string_new(NULL);
    }
    ref->polling = (RefPolling)prng_below(&draws.drive, REF_N_POLLINGS);
    play(ref, &draws.host, seed);
    check_life(ref);
    if (verbose) {
        SsdCounters c;

        ssd_get_counters(ref->ssd, &c);
        fprintf(stderr,
                "# %" PRIu64 " units, polling %d: %" PRIu64 " writes, %" PRIu64
                " programs, %" PRIu64 " erases, waf %.2f\n",
                ref->n_units, ref->polling, ref->n_completed[SSD_OP_WRITE],
                c.nand_programs, c.nand_erases, c.waf);
    }
    if (seen) {
        keep(ref, seen);
    }
    ref_free(ref);
}

/* Member by member: the bytes between them may have any value. */
static void same_log(const GArray *a, const GArray *b)
{
    g_assert_cmpuint(a->len, ==, b->len);
    for (unsigned i = 0; i < a->len; i++) {
        const SsdCompletion *x = &g_array_index(a, SsdCompletion, i);
        const SsdCompletion *y = &g_array_index(b, SsdCompletion, i);

        g_assert_cmpuint(x->tag, ==, y->tag);
        g_assert_cmpuint(x->submit_ns, ==, y->submit_ns);
        g_assert_cmpuint(x->complete_ns, ==, y->complete_ns);
        g_assert_cmpint(x->status, ==, y->status);
        g_assert_cmpuint(x->bad_lba, ==, y->bad_lba);
        g_assert_cmpmem(&x->cost, sizeof(x->cost), &y->cost, sizeof(y->cost));
    }
}

static uint64_t n_copies, n_rebased; /* in all runs */

static void run_with_copies(uint64_t seed, RefBug bug)
{
    Seen plain, copied;

    run_and_see(seed, bug, 0, &plain);
    run_and_see(seed, bug, 5, &copied);
    printf("# %" PRIu64 " times cloned, %" PRIu64 " times saved and loaded, "
           "%" PRIu64 " times set back\n",
           copied.n_cloned, copied.n_loaded, copied.n_rebased);
    n_copies += copied.n_cloned + copied.n_loaded;
    n_rebased += copied.n_rebased;
    same_log(plain.log, copied.log);
    g_assert_cmpstr(plain.reports->str, ==, copied.reports->str);
    g_assert_cmpstr(plain.stats->str, ==, copied.stats->str);
    forget(&plain);
    forget(&copied);
}

static void run(uint64_t seed, RefBug bug)
{
    if (opt_copies) {
        run_with_copies(seed, bug);
    } else {
        run_and_see(seed, bug, 0, NULL);
    }
}

/* ---- the command --------------------------------------------------------- */

static void replay(const char *path)
{
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;
    GError *error = NULL;

    g_file_get_contents(path, &text, NULL, &error);
    g_assert_no_error(error);
    lines = g_strsplit(text, "\n", -1);
    for (char **l = lines; *l; l++) {
        if (g_ascii_isdigit(**l)) {
            run(g_ascii_strtoull(*l, NULL, 10), REF_BUG_NONE);
        }
    }
}

static RefBug find_bug(void)
{
    for (int i = 0; opt_bug && i < REF_N_BUGS; i++) {
        if (strcmp(bug_names[i], opt_bug) == 0) {
            return i;
        }
    }
    if (opt_bug) {
        g_error("--bug=%s: no such bug", opt_bug);
    }
    return REF_BUG_NONE;
}

/* true: a process of its own ran the seed and failed. */
static bool finds(uint64_t seed, RefBug bug)
{
    int status;
    pid_t child = fork();

    g_assert_cmpint(child, >=, 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) {
            _exit(EXIT_SUCCESS); /* counts as not found */
        }
        run(seed, bug);
        _exit(EXIT_SUCCESS);
    }
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    return !WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS;
}

static int canary(RefBug bug)
{
    int found = 0;

    for (int i = 1; i <= opt_runs; i++) {
        found += finds((uint64_t)i, bug);
    }
    printf("# %s: %d of %d seeds found it\n", bug_names[bug], found, opt_runs);
    return found * 4 >= opt_runs ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    const GOptionEntry entries[] = {
        {"seed", 0, 0, G_OPTION_ARG_INT64, &opt_seed, "run this one", "N"},
        {"runs", 0, 0, G_OPTION_ARG_INT, &opt_runs, "run seeds 1..N", "N"},
        {"commands", 0, 0, G_OPTION_ARG_INT, &opt_commands, "per run", "N"},
        {"bug", 0, 0, G_OPTION_ARG_STRING, &opt_bug, "plant a bug", "NAME"},
        {"file", 0, 0, G_OPTION_ARG_FILENAME, &opt_file, "replay", "FILE"},
        {"copies", 0, 0, G_OPTION_ARG_NONE, &opt_copies,
         "and again with copies of the drive", NULL},
        {"logs", 0, 0, G_OPTION_ARG_NONE, &opt_logs,
         "each drive has a log-block map", NULL},
        {"dftl", 0, 0, G_OPTION_ARG_NONE, &opt_dftl,
         "each drive has its map in NAND", NULL},
        {"trace", 0, 0, G_OPTION_ARG_FILENAME, &opt_trace,
         "write a trace of the run (docs/traces.md)", "FILE"},
        {.long_name = NULL},
    };
    GOptionContext *ctx = g_option_context_new(NULL);
    GError *error = NULL;
    RefBug bug;

    g_option_context_add_main_entries(ctx, entries, NULL);
    g_option_context_parse(ctx, &argc, &argv, &error);
    g_assert_no_error(error);
    g_option_context_free(ctx);
    ref_trace = opt_trace;
    bug = find_bug();
    /* A failure aborts; a core file of each would help nobody. */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (opt_seed >= 0) {
        run((uint64_t)opt_seed, bug);
        return EXIT_SUCCESS;
    }
    if (bug != REF_BUG_NONE) {
        return canary(bug);
    }
    if (opt_file) {
        replay(opt_file);
    }
    for (int i = 1; i <= opt_runs; i++) {
        run((uint64_t)i, REF_BUG_NONE);
    }
    g_assert_true(!opt_copies || (n_copies > 0 && (opt_logs || n_rebased > 0)));
    return EXIT_SUCCESS;
}
