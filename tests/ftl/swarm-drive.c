/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * swarm-drive.c - the options of a random drive: geometry (tiny: full in a
 * moment), times, policies, faults.
 */
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer/buffer-policy.h"
#include "gc/gc-policy.h"
#include "placement/alloc-policy.h"
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-setup.h"
#include "superblock-config.h"
#include "swarm-drive.h"

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
    /* random-block comes by set_random_block(): seeds keep their meaning. */
    while (alloc_policies[n_alloc] &&
           !alloc_policies[n_alloc]->alloc->draws_block) {
        n_alloc++;
    }
    put_name(s, "ftl.gc", gc_policies[prng_below(r, n_gc)]->name);
    put_name(s, "ftl.alloc", alloc_policies[prng_below(r, n_alloc)]->name);
    prng_below(r, 1); /* was the buffer's: seeds keep their meaning */
}

/* The buffer's policy and its options, from a stream of their own. */
static void draw_buffer(Draws *d, GString *s)
{
    Prng *r = &d->buffer;
    size_t n = 0;
    size_t i;

    while (buffer_policies[n]) {
        n++;
    }
    i = prng_below(r, n);
    if (d->bug && buffer_policies[i]->buffer->write_through) {
        i = 0; /* it hides the bugs about flush and FUA, too */
    }
    put_name(s, "buffer.policy", buffer_policies[i]->name);
    put_name(
        s, "buffer.free_at",
        ssd_free_at_name(!strstr(s->str, "plp=on") && prng_below(r, 3) == 0));
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
    g_string_append_printf(
        s, "nand.blocks=%" PRIu64 ";%s=%" PRIu64 ";streams.gc=%s;",
        60 + prng_below(r, 40), key, n, merge ? "merge" : "separate");
}

/* Wear levelling, and work in the background, from a stream of their own. */
static void draw_upkeep(Prng *r, GString *s)
{
    put_name(s, "ftl.wear", ssd_wear_name((unsigned)prng_below(r, 3)));
    put(s, "ftl.wear_spread", 1 + prng_below(r, 8));
    /* Many streams leave no more room. */
    put(s, "ftl.gc_soft",
        strstr(s->str, "streams.gc") ? ONE_OF(r, 0, 10) : ONE_OF(r, 0, 10, 30));
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
        s,
        "ftl.map=%s;ftl.alloc=stripe;ftl.gc=greedy;ftl.gc_soft=0;"
        "superblock.width=plane;"
        "ftl.gc_preempt=off;ftl.refresh_reads=0;ftl.refresh_hours=0;"
        "streams.max=0;fdp.ruhs=0;nand.slc_blocks=0;nand.copyback=off;"
        "media.program_fail=0;media.erase_fail=0;ftl.wear=%s;",
        fast ? "fast" : "bast", ssd_wear_name((unsigned)prng_below(r, 2)));
    put(s, "ftl.log_blocks",
        fast ? ONE_OF(r, 0, 0, 2, 3, 5) : ONE_OF(r, 0, 0, 1, 2, 4));
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

/* The width of superblocks, from a stream of its own. */
static void draw_width(uint64_t seed, GString *s)
{
    Prng r;

    prng_seed(&r, seed, DRAW_WIDTH);
    put_name(s, "superblock.width",
             ssd_planes_name((unsigned)ONE_OF(&r, 0, 1, 2, 2)));
}

/* The map in NAND, from a stream of its own.  Small pages, so that there are
 * many of them. */
static void draw_dftl(const Draws *d, GString *s)
{
    Prng r;

    prng_seed(&r, d->seed, DRAW_DFTL);
    if (prng_below(&r, 4) != 0 && !d->only_dftl) {
        return;
    }
    put_name(s, "ftl.map", "dftl");
    put(s, "nand.blocks",
        (strstr(s->str, "streams.gc") ? 100 : 40) + prng_below(&r, 100));
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
    if (strstr(s->str, "media.errors=on") &&
        !strstr(s->str, "ftl.log_blocks")) {
        uint64_t limit = 1 + prng_below(&r, 4);

        put(s, "media.retry_limit", limit);
        put(s, "ftl.refresh_retries", prng_below(&r, limit + 1));
    }
}

/* A dynamic SLC cache, or another policy of a static one, from a stream of its
 * own; with cells of several bits where the drive has none. */
static void draw_slc_cache(uint64_t seed, GString *s)
{
    Prng r;
    const char *blocks =
        g_strrstr(s->str, "nand.slc_blocks="); /* that counts */
    bool is_static = blocks && !g_str_has_prefix(blocks, "nand.slc_blocks=0");

    prng_seed(&r, seed, DRAW_SLC_CACHE);
    if (prng_below(&r, 3) != 0 || strstr(s->str, "ftl.log_blocks")) {
        return;
    }
    if (!strstr(s->str, "nand.cell")) {
        put_name(s, "nand.cell", "tlc");
        put(s, "nand.pages", 12);
        put(s, "nand.slc_read", 20000);
        put(s, "nand.slc_program", 100000);
        is_static = false;
    } else {
        put(s, "nand.pages", 12);
    }
    if (prng_below(&r, 4) || !is_static) {
        put(s, "ftl.slc_dynamic", ONE_OF(&r, 10, 25, 50, 100));
        put(s, "ftl.slc_share", ONE_OF(&r, 10, 50, 100));
    }
    put(s, "ftl.slc_fold_at", ONE_OF(&r, 5, 50, 100));
    put(s, "ftl.slc_fold_delay", ONE_OF(&r, 0, 1000, 1000000, 20000000));
    put_name(s, "ftl.slc_when_full", prng_below(&r, 2) ? "fold" : "direct");
    put(s, "nand.slc_erase", ONE_OF(&r, 0, 1000000));
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

/* GC that has its channel alone, where everything else allows it. */
static void set_hold(SsdConfig *cfg, Prng *r)
{
    bool with = prng_below(r, 2);

    cfg->nand.gc_hold = with;
    if (with && !ssd_config_check(cfg, NULL)) {
        cfg->nand.gc_hold = false;
    }
}

/* Rows of several planes, where the policies and the number of dies allow them.
 */
static void set_row(SsdConfig *cfg, const Draws *d)
{
    const uint64_t seed = d->seed;
    uint32_t dies = cfg->nand.channels * cfg->nand.chips * cfg->nand.dies;
    uint64_t n, wait_us, pads;
    Prng r;

    prng_seed(&r, seed, DRAW_ROW);
    n = ONE_OF(&r, 0, 1, 1, 2, 4);
    if (d->only_parity) {
        n = dies % 4 == 0 ? 4 : 2;
        cfg->alloc = ssd_alloc_in_rows(cfg->alloc) ? cfg->alloc : 0;
    }
    wait_us = ONE_OF(&r, 1, 300, 10000);
    pads = ONE_OF(&r, 0, 0, 1);
    if (n > 0 && dies % n == 0 && n * cfg->nand.planes > 1 &&
        ssd_alloc_in_rows(cfg->alloc) && !ssd_map_least_logs(cfg->mapper)) {
        g_autofree char *options = g_strdup_printf(
            "superblock.row=%" PRIu64 ";superblock.row_wait=%" PRIu64
            "us;superblock.padding=%s;",
            n * cfg->nand.planes, wait_us, pads ? "on" : "off");
        bool ok = ssd_config_set(cfg, options, NULL);

        g_assert_true(ok);
    }
    set_hold(cfg, &r);
}

/* Random blocks and regular times of GC, where the drive can have them. */
static void set_random_block(SsdConfig *cfg, uint64_t seed)
{
    g_autofree char *before =
        g_strdup_printf("ftl.alloc=%s", ssd_alloc_name(cfg->alloc));
    uint64_t n, period_us;
    Prng r;

    prng_seed(&r, seed, DRAW_RANDOM_BLOCK);
    n = 1 + prng_below(&r, 4);
    period_us = ONE_OF(&r, 0, 0, 0, 100, 3000);
    if (!ssd_map_least_logs(cfg->mapper) && !cfg->zoned) {
        cfg->t_gc_period_ps = period_us * 1000 * PS_PER_NS;
    }
    if (prng_below(&r, 2) && strcmp(before, "ftl.alloc=random") == 0) {
        g_autofree char *options = g_strdup_printf(
            "ftl.alloc=random-block;ftl.random_blocks=%" PRIu64, n);

        if (!ssd_config_set(cfg, options, NULL) ||
            !ssd_config_check(cfg, NULL)) {
            bool ok = ssd_config_set(cfg, before, NULL);

            g_assert_true(ok);
        }
    }
    if (!ssd_map_least_logs(cfg->mapper) && !cfg->zoned &&
        prng_below(&r, 4) == 0) {
        cfg->gc_pace = SSD_GC_PACE_EVEN;
    }
}

/* Units of a superblock over all planes that are not parity. */
static uint64_t superblock_units(const SsdConfig *cfg)
{
    const NandConfig *n = &cfg->nand;
    uint64_t planes = (uint64_t)n->channels * n->chips * n->dies * n->planes;
    uint64_t units = n->pages * (n->page_bytes / cfg->unit_bytes);
    uint32_t parity_dies = superblock_parity_dies(cfg);

    return planes * (parity_dies ? units - units / parity_dies : units);
}

/* Reclaim groups and isolation by handle, of a drive with FDP that can have
 * them. */
static void set_groups(SsdConfig *cfg, uint64_t seed)
{
    uint32_t dies = cfg->nand.channels * cfg->nand.chips * cfg->nand.dies;
    uint64_t n, isolation;
    Prng r;

    prng_seed(&r, seed, DRAW_GROUPS);
    n = ONE_OF(&r, 1, 2, 2, 4);
    isolation = prng_below(&r, 4);
    if (cfg->ruhs && dies % n == 0 && ssd_alloc_in_rows(cfg->alloc) &&
        dies / n * cfg->nand.planes % superblock_row(cfg) == 0) {
        cfg->groups = (uint32_t)n;
    }
    cfg->ru_bytes = cfg->ruhs ? superblock_units(cfg) / cfg->groups *
                                    cfg->unit_bytes * prng_below(&r, 3)
                              : 0;
    if (cfg->ruhs > 1 && isolation > 1) {
        bool ok =
            ssd_config_set(cfg,
                           isolation == 2 ? "fdp.isolation=persistent/initial"
                                          : "fdp.isolation=initial/persistent",
                           NULL);

        g_assert_true(ok);
    }
}

static char *rules_file; /* of the drive drawn last */

static void remove_rules(void)
{
    if (rules_file) {
        g_unlink(rules_file);
        g_clear_pointer(&rules_file, g_free);
    }
}

/* A die fails. Copies of the drive read the file again. */
static void set_dead_die(SsdConfig *cfg, Prng *r)
{
    uint32_t dies = cfg->nand.channels * cfg->nand.chips * cfg->nand.dies;
    uint64_t die = prng_below(r, dies);
    g_autofree char *rule =
        g_strdup_printf("time=%" PRIu64 "us die=%" PRIu64 " -> dead\n",
                        1 + prng_below(r, 200000), die);
    g_autofree char *option = NULL;
    bool ok;

    if (!rules_file) {
        atexit(remove_rules);
    }
    remove_rules();
    rules_file = ref_faults_file(rule);
    option = g_strdup_printf("faults=%s", rules_file);
    ok = ssd_config_set(cfg, option, NULL);
    g_assert_true(ok);
}

/* Superblocks of some dies in place of all, where there are superblocks. */
static void set_dies(SsdConfig *cfg, uint64_t seed)
{
    uint32_t all = superblock_width(cfg) / cfg->nand.planes;
    Prng r;
    uint64_t n;

    prng_seed(&r, seed, DRAW_DIES);
    n = 1 + prng_below(&r, MAX(all, 1));
    if (all > 1 && all % n == 0 && !cfg->parity) {
        g_autofree char *option =
            g_strdup_printf("superblock.width=%" PRIu64, n * cfg->nand.planes);
        bool ok = ssd_config_set(cfg, option, NULL);

        g_assert_true(ok);
    }
}

/* Streams of the host that go past the SLC cache. */
static void set_slc_streams(SsdConfig *cfg, uint64_t seed)
{
    uint32_t n = cfg->ruhs ? cfg->ruhs : cfg->streams + 1 + cfg->hot_cold;
    g_autofree char *list = NULL;
    uint64_t kind, from;
    Prng r;

    prng_seed(&r, seed, DRAW_SLC_STREAMS);
    kind = prng_below(&r, 5);
    from = prng_below(&r, n);
    list = g_strdup_printf("%" PRIu64 "-%" PRIu64, from,
                           from + prng_below(&r, n - from));
    if ((cfg->nand.slc_blocks || cfg->slc_dynamic_ppm) && kind > 0) {
        g_autofree char *option = g_strdup_printf(
            "ftl.slc_streams=%s%s",
            kind == 1   ? "none"
            : kind == 2 ? "default"
                        : list,
            cfg->slc_when_full == SSD_SLC_FOLD ? ";ftl.alloc=stripe" : "");
        bool ok = ssd_config_set(cfg, option, NULL);

        g_assert_true(ok);
    }
}

/* Parity over rows of two dies or more, and the options that it needs. */
static void set_parity(SsdConfig *cfg, const Draws *d)
{
    const uint64_t seed = d->seed;
    uint32_t dies = superblock_row(cfg) / cfg->nand.planes; /* of a row */
    uint32_t programs;
    uint64_t n;
    bool slc;
    Prng r, with;

    prng_seed(&r, seed, DRAW_PARITY);
    n = dies >> prng_below(&r, 2);
    n = d->only_parity ? MAX(n, MIN(dies, 2)) : n;
    if (n >= 2 && (prng_below(&r, 3) > 0 || d->only_parity)) {
        const char *wear = prng_below(&r, 2) ? "fifo" : "dynamic";

        programs =
            cfg->nand.pages / (cfg->nand.one_shot ? cfg->nand.cell + 1 : 1);
        prng_seed(&with, seed, DRAW_PARITY_WITH);
        slc = prng_below(&with, 2);
        wear = prng_below(&with, 3) ? wear : "static";
        g_autofree char *options = g_strdup_printf(
            "superblock.parity=on;superblock.width=%" PRIu64
            ";nand.copyback=off;ftl.wear=%s;nand.pages=%u%s",
            n * cfg->nand.planes, wear,
            programs % n == 0 ? cfg->nand.pages
            : slc             ? 24
                              : 8,
            slc ? ""
                : ";nand.slc_blocks=0;ftl.slc_dynamic=0;ftl.slc_share=100%;"
                  "ftl.slc_when_full=direct;ftl.slc_fold_delay=0");
        bool ok = ssd_config_set(cfg, options, NULL);

        g_assert_true(ok);
        if (prng_below(&r, 4) == 0) {
            set_dead_die(cfg, &r);
        }
    }
}

/* Zones, and the options that they need. */
static void set_zones(SsdConfig *cfg, const Draws *d)
{
    uint64_t active, capacity, plain, granule, area, unit, row, slots;
    g_autofree char *options = NULL;
    Prng r;
    bool ok;

    prng_seed(&r, d->seed, DRAW_ZONES);
    /* A protected buffer hides the bugs about flush and FUA. */
    if ((prng_below(&r, 6) != 4 && !d->only_zones) || d->bug || d->only_dftl ||
        d->only_logs || d->no_zones) {
        return;
    }
    ok = ssd_config_set(
        cfg,
        "zones.enabled=on;buffer.plp=on;ftl.alloc=in-order;ftl.map=page;"
        "ftl.hmb=0;ftl.log_blocks=0;ftl.recovery=capacitors;"
        "buffer.policy=fifo;buffer.free_at=program;buffer.flush_interval=0;"
        "host.complete_at=buffer;superblock.padding=off;streams.max=0;"
        "fdp.ruhs=0;fdp.groups=1;fdp.ru_size=0;fdp.isolation=;ftl.hot_cold=off;"
        "nand.slc_blocks=0;ftl.slc_dynamic=0;ftl.slc_share=100%;"
        "ftl.slc_when_full=direct;"
        "ftl.slc_fold_delay=0;ftl.slc_streams=all;ftl.gc_soft=0;"
        "ftl.gc_period=0;ftl.gc_pace=late;ftl.refresh_reads=0;ftl.refresh_"
        "hours=0;"
        "ftl.refresh_retries=0;ftl.read_reclaim=0;ftl.op_percent=0",
        NULL);
    g_assert_true(ok);
    cfg->unit_bytes = MIN(cfg->unit_bytes, 4096);
    cfg->wear = cfg->wear == SSD_WEAR_STATIC ? SSD_WEAR_DYNAMIC : cfg->wear;
    active = 1 + prng_below(&r, 4);
    capacity = superblock_units(cfg) * ONE_OF(&r, 100, 100, 40, 90, 150) / 100;
    plain = superblock_units(cfg) * ONE_OF(&r, 0, 0, 1, 3);
    granule = 1 + prng_below(&r, 4);
    area = granule * ONE_OF(&r, 0, 0, 1, 3);
    area = MIN(area, capacity / granule * granule);
    unit = cfg->unit_bytes;
    row = (uint64_t)superblock_row(cfg) * (cfg->nand.page_bytes / unit) *
          (cfg->nand.one_shot ? cfg->nand.cell + 1 : 1);
    slots = 2 * MAX(active * row, 5 * area) * (1 + prng_below(&r, 3));
    options = g_strdup_printf(
        "zones.max_active=%" PRIu64 ";zones.capacity=%" PRIu64
        ";zones.conventional=%" PRIu64 ";zones.zrwa=%" PRIu64
        ";zones.zrwa_granularity=%" PRIu64 ";buffer.size=%" PRIu64,
        active, capacity * unit, plain * unit, area * unit,
        area ? granule * unit : 0,
        MAX(slots * (unit + ssd_buffer_overhead(cfg)), 4096));
    ok = ssd_config_set(cfg, options, NULL);
    g_assert_true(ok);
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
        put_on_off(s, "superblock.close_open", &r);
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

void draws_seed(Draws *d)
{
    const uint64_t seed = d->seed;

    prng_seed(&d->drive, seed, DRAW_DRIVE);
    prng_seed(&d->media, seed, DRAW_MEDIA);
    prng_seed(&d->streams, seed, DRAW_STREAMS);
    prng_seed(&d->buffer, seed, DRAW_BUFFER);
    prng_seed(&d->upkeep, seed, DRAW_UPKEEP);
    prng_seed(&d->recovery, seed, DRAW_RECOVERY);
    prng_seed(&d->logs, seed, DRAW_LOGS);
    prng_seed(&d->host, seed, DRAW_HOST);
}

/* The options that differ from their defaults, whoever has set them. */
static void print_options(const SsdConfig *cfg)
{
    g_autoptr(GString) all = g_string_new(NULL);
    g_autoptr(GString) usual = g_string_new(NULL);
    g_auto(GStrv) lines = NULL;
    g_auto(GStrv) defaults = NULL;
    SsdConfig *fresh = ssd_config_new();

    ssd_config_print(cfg, all);
    ssd_config_print(fresh, usual);
    ssd_config_free(fresh);
    lines = g_strsplit(all->str, "\n", -1);
    defaults = g_strsplit(usual->str, "\n", -1);
    fputs("# ", stderr);
    for (size_t i = 0; lines[i]; i++) {
        if (strcmp(lines[i], defaults[i]) != 0) {
            fprintf(stderr, "%s;", lines[i]);
        }
    }
    fputc('\n', stderr);
}

/* Windows of predictable latency, with the least room that the drive can have
 * for them. */
static void set_window(SsdConfig *cfg, uint64_t seed)
{
    bool ok = false;
    Prng r;

    prng_seed(&r, seed, DRAW_WINDOW);
    if (prng_below(&r, 5)) {
        return;
    }
    for (unsigned percent = 3; percent < 60 && !ok; percent++) {
        g_autofree char *options =
            g_strdup_printf("latency.window=10ms;latency.free=%u%%", percent);

        ok = ssd_config_set(cfg, options, NULL) && ssd_config_check(cfg, NULL);
    }
    if (!ok) {
        ok = ssd_config_set(cfg, "latency.window=0;latency.free=5%", NULL);
        g_assert_true(ok);
    }
}

/* The drive with options of the command line, and a larger spare part if it
 * needs one; as it was, if it cannot have them. */
static SsdConfig *with_set(SsdConfig *cfg, Draws *d)
{
    SsdConfig *with = ssd_config_copy(cfg);
    bool ok = ssd_config_set(with, d->set, NULL);

    for (unsigned op = 40; ok && !ssd_config_check(with, NULL); op += 40) {
        g_autofree char *more = g_strdup_printf("ftl.op_percent=%u", op);

        ok = ssd_config_set(with, more, NULL);
    }
    d->has_set = ok;
    ssd_config_free(ok ? cfg : with);
    return ok ? with : cfg;
}

/* A drive that fits together: the spare part is raised until it does. */
SsdConfig *draw_config(Draws *d, bool verbose)
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
    if (!d->bug && prng_below(&d->media, 5) == 1) {
        g_string_append(errors, "buffer.plp=on;");
    }
    if (prng_below(&d->streams, 3) == 0) {
        draw_streams(&d->streams, errors);
    }
    draw_buffer(d, errors);
    if (prng_below(&d->upkeep, 2)) {
        draw_upkeep(&d->upkeep, errors);
    }
    draw_width(d->seed, errors);
    draw_dftl(d, errors);
    if ((prng_below(&d->logs, 6) == 0 && !d->only_dftl) || d->only_logs) {
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
    draw_slc_cache(d->seed, errors);
    options = g_strdup(errors->str);
    cfg = ref_config(options);
    set_row(cfg, d);
    set_random_block(cfg, d->seed);
    set_parity(cfg, d);
    set_groups(cfg, d->seed);
    set_dies(cfg, d->seed);
    set_slc_streams(cfg, d->seed);
    set_zones(cfg, d);

    if (d->seed % 2 && !ref_trace) { /* trims in several steps */
        cfg->trim_group_shift = (uint32_t)(d->seed % 4);
        cfg->trim_step = 1 + (uint32_t)(d->seed / 4 % 3);
    }
    cfg->wide_tables = d->seed / 2 % 2;
    g_assert_true(ssd_config_set_block_bytes(cfg, block_bytes, NULL));
    if (!ssd_config_check(cfg, NULL)) {
        g_assert_true(ssd_config_set_block_bytes(cfg, 512, NULL));
    }
    while (!ssd_config_check(cfg, NULL)) {
        g_autofree char *more = g_strdup_printf("ftl.op_percent=%u", op += 40);
        bool ok = ssd_config_set(cfg, more, NULL);

        if (!ok) { /* too few blocks to set some apart for saved pages */
            op = 0;
            ok = cfg->recovery != SSD_RECOVERY_CAPACITORS &&
                 ssd_config_set(cfg, "ftl.recovery=capacitors", NULL);
        }
        g_assert_true(ok); /* nothing is left to change */
    }
    set_window(cfg, d->seed);
    if (d->set) {
        cfg = with_set(cfg, d);
    }
    if (verbose) {
        print_options(cfg);
    }
    return cfg;
}
