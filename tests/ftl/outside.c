/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outside.c - policies from outside: those of lib/examples do the same as the
 * listed ones, to the nanosecond; broken ones end in one line, and the drive
 * goes on.
 */
#include <stdio.h>
#include <string.h>

#include "buffer/buffer-policy.h"
#include "gc/gc-policy.h"
#include "placement/alloc-policy.h"
#include "outside.h"
#include "prng.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "ssd-setup.h"

#define DRIVE                                                                  \
    "nand.channels=2;nand.chips=1;nand.dies=2;nand.planes=1;nand.blocks=64;"   \
    "nand.pages=16;nand.page_size=16KiB;ftl.op_percent=50%;"                   \
    "buffer.size=256KiB;seed=3;"

#define PLAYED 60000 /* requests: GC is at work */

static char *folder; /* of the shared objects */

static SsdConfig *config(const char *options)
{
    SsdConfig *cfg = ssd_config_new();
    GError *error = NULL;

    ssd_config_set(cfg, DRIVE, &error);
    g_assert_no_error(error);
    ssd_config_set(cfg, options, &error);
    g_assert_no_error(error);
    return cfg;
}

static Ssd *drive(const char *options)
{
    SsdConfig *cfg = config(options);
    GError *error = NULL;
    Ssd *ssd = ssd_create(cfg, NULL, NULL, &error);

    g_assert_no_error(error);
    ssd_config_free(cfg);
    return ssd;
}

/* Reads and writes of a unit at random, seven of ten in a quarter, eight at a
 * time.  A hash of all completions. */
static uint64_t play(Ssd *ssd, uint64_t seed, unsigned n)
{
    uint64_t units = ssd_info(ssd)->nblocks / 8;
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    unsigned in_flight = 0, sent = 0;
    Prng r;

    prng_seed(&r, seed, 1);
    while (sent < n || in_flight > 0) {
        SsdCompletion c[8];
        size_t got;

        while (sent < n && in_flight < 8) {
            uint64_t of = prng_below(&r, 10) < 7 ? units / 4 : units;
            SsdCmd cmd = {
                .tag = sent,
                .op = prng_below(&r, 3) ? SSD_OP_WRITE : SSD_OP_READ,
                .lba = prng_below(&r, of) * 8,
                .nblocks = 8,
            };

            g_assert_cmpint(ssd_submit(ssd, ssd_now_ns(ssd), &cmd), ==, 0);
            sent++;
            in_flight++;
        }
        got = ssd_advance(ssd, MAX(ssd_next_event_ns(ssd), ssd_now_ns(ssd)), c,
                          G_N_ELEMENTS(c));
        for (size_t i = 0; i < got; i++) {
            hash = (hash ^ c[i].tag) * 1099511628211u;
            hash = (hash ^ c[i].complete_ns) * 1099511628211u;
        }
        in_flight -= got;
    }
    return hash;
}

static uint64_t played(const char *options)
{
    SsdCounters c;
    Ssd *ssd = drive(options);
    uint64_t hash = play(ssd, 5, PLAYED);
    GError *error = NULL;

    g_assert_null(ssd_policy_fault(ssd));
    ssd_get_counters(ssd, &c);
    g_assert_cmpuint(c.nand_erases, >, 100);
    g_assert_cmpuint(c.copied_units, >, 1000);
    ssd_check(ssd, &error);
    g_assert_no_error(error);
    ssd_destroy(ssd);
    return hash;
}

/* ---- examples ------------------------------------------------------------ */

static const struct {
    const char *name, *key, *listed;
    const char *more;
} examples[] = {
    {"greedy", "ftl.gc", "ftl.gc=greedy", ""},
    {"greedy", "ftl.gc", "ftl.gc=greedy",
     "superblock.width=drive;superblock.row=plane;"},
    {"stripe", "ftl.alloc", "ftl.alloc=stripe", ""},
    {"lru", "buffer.policy", "buffer.policy=lru", ""},
    {"slru-map", "ftl.map", "ftl.map=dftl", "ftl.map_cache=1KiB;"},
    {"hot-cold", "ftl.placement", "ftl.hot_cold=on", ""},
};

static char *outside_option(const char *key, const char *file)
{
    return g_strdup_printf("%s=so:%s/%s.so;", key, folder, file);
}

static void test_examples(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(examples); i++) {
        g_autofree char *option =
            outside_option(examples[i].key, examples[i].name);
        g_autofree char *outside = g_strconcat(examples[i].more, option, NULL);
        g_autofree char *listed =
            g_strconcat(examples[i].more, examples[i].listed, NULL);

        g_assert_cmpuint(played(outside), ==, played(listed));
    }
}

/* A path with a '/' needs no "so:"; the option says it; a listed one ends it.
 */
static void test_option(void)
{
    g_autofree char *path = g_strdup_printf("%s/greedy.so", folder);
    g_autofree char *plain = g_strconcat("ftl.gc=", path, NULL);
    g_autofree char *want = g_strconcat("so:", path, NULL);
    SsdConfig *cfg = config(plain);
    g_autofree char *value = ssd_config_get(cfg, "ftl.gc");
    g_autofree char *after = NULL;
    g_autoptr(GString) all = g_string_new(NULL);

    g_assert_cmpstr(value, ==, want);
    ssd_config_print(cfg, all);
    g_assert_nonnull(strstr(all->str, want));
    g_assert_true(ssd_config_set(cfg, "ftl.gc=greedy", NULL));
    after = ssd_config_get(cfg, "ftl.gc");
    g_assert_cmpstr(after, ==, "greedy");
    g_assert_null(cfg->outside[VSSD_POLICY_GC]);
    ssd_config_free(cfg);
}

/* Copies of a drive, and drives that were saved, go on as it does. */
static void test_states(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(examples); i++) {
        g_autofree char *option =
            outside_option(examples[i].key, examples[i].name);
        g_autofree char *options = g_strconcat(examples[i].more, option, NULL);
        SsdConfig *cfg = config(options);
        Ssd *ssd = drive(options);
        GError *error = NULL;
        FILE *file = tmpfile();
        Ssd *copy, *loaded;
        uint64_t hash;

        play(ssd, 5, 40000);
        copy = ssd_clone(ssd, NULL, NULL, &error);
        g_assert_no_error(error);
        hash = play(ssd, 6, 5000);
        g_assert_cmpuint(play(copy, 6, 5000), ==, hash);
        g_assert_true(ssd_rest(ssd, 100 * NS_PER_S));
        g_assert_true(ssd_save(ssd, file, &error));
        rewind(file);
        loaded = ssd_load(cfg, NULL, NULL, file, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(play(ssd, 7, 5000), ==, play(loaded, 7, 5000));
        fclose(file);
        ssd_config_free(cfg);
        ssd_destroy(ssd);
        ssd_destroy(copy);
        ssd_destroy(loaded);
    }
}

/* Of the victim alone a drive may change the policy when it is loaded. */
static void test_other_policy(void)
{
    g_autofree char *gc = outside_option("ftl.gc", "greedy");
    g_autofree char *lru = outside_option("buffer.policy", "lru");
    const char *const from[] = {gc, lru};
    const char *const to[] = {"ftl.gc=fifo", "buffer.policy=cflru"};

    for (size_t i = 0; i < G_N_ELEMENTS(from); i++) {
        SsdConfig *cfg = config(to[i]);
        Ssd *ssd = drive(from[i]);
        GError *error = NULL;
        FILE *file = tmpfile();
        Ssd *loaded;

        play(ssd, 5, 40000);
        g_assert_true(ssd_rest(ssd, 100 * NS_PER_S));
        g_assert_true(ssd_save(ssd, file, NULL));
        rewind(file);
        loaded = ssd_load(cfg, NULL, NULL, file, &error);
        if (i == 0) {
            g_assert_no_error(error);
            play(loaded, 6, 3000);
            ssd_destroy(loaded);
        } else {
            g_assert_nonnull(strstr(error->message, "must be the same"));
            g_error_free(error);
        }
        fclose(file);
        ssd_config_free(cfg);
        ssd_destroy(ssd);
    }
}

/* ---- broken ones --------------------------------------------------------- */

static void test_refused(void)
{
    static const struct {
        const char *file, *key, *says;
    } bad[] = {
        {"broken-1", "ftl.gc",
         "is a policy of ABI version 2, this vssd has version 1"},
        {"broken-2", "ftl.gc", "has no vssd_policy.gc.pick"},
        {"broken-3", "ftl.gc", "has no vssd_policy.gc"},
        {"broken-4", "ftl.gc", "vssd_policy.name: allowed"},
        {"broken-5", "ftl.gc", "vssd_policy.kind=5: allowed 0..4"},
        {"lru", "ftl.gc", "is a policy of the kind buffer, not gc"},
        {"greedy", "buffer.policy", "is a policy of the kind gc, not buffer"},
        {"none", "ftl.alloc", "there is no such file"},
        {"empty", "ftl.alloc", "empty.so: "},
        {"nothing", "ftl.alloc", "exports no vssd_policy"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *option = outside_option(bad[i].key, bad[i].file);
        SsdConfig *cfg = config("");
        g_autofree char *before = ssd_config_get(cfg, bad[i].key);
        g_autofree char *after = NULL;
        g_autoptr(GError) error = NULL;

        g_assert_false(ssd_config_set(cfg, option, &error));
        g_assert_true(g_str_has_prefix(error->message, bad[i].key));
        if (!strstr(error->message, bad[i].says)) {
            g_error("%s: not in: %s", bad[i].says, error->message);
        }
        g_assert_null(strchr(error->message, '\n'));
        after = ssd_config_get(cfg, bad[i].key);
        g_assert_cmpstr(after, ==, before);
        ssd_config_free(cfg);
    }
}

static unsigned n_told;

static void told(void *opaque, const char *line)
{
    g_assert_cmpstr(opaque, ==, "x");
    g_assert_true(g_str_has_prefix(line, "policy "));
    n_told++;
}

static void test_broken(void)
{
    static const struct {
        const char *key, *says;
        unsigned breaks;
    } bad[] = {
        {"ftl.gc", "state_bytes() said 268435457", 6},
        {"ftl.gc", "pick() with the block 256: there are 256", 10},
        {"ftl.gc", "which is no candidate of plane", 11},
        {"ftl.gc", "pick() said none for plane", 12},
        {"ftl.gc", "valid() with block 263: there are 256", 13},
        {"ftl.gc", "of its own will, in two lines", 14},
        {"ftl.gc", "best() without score()", 15},
        {"ftl.alloc", "pick() with the plane 4: there are 4", 20},
        {"ftl.alloc", "which accepts no page", 21},
        {"ftl.alloc", "pick() said none, although plane", 22},
        {"buffer.policy", "victim() with the slot 1000000: there are", 30},
        {"buffer.policy", "which is pinned or free", 31},
        {"buffer.policy", "victim() said none, although slot", 32},
        {"buffer.policy", "follows() with the slot", 33},
        {"buffer.policy", "move() with list 4: there are 4", 34},
        {"buffer.policy", "early() with the slot", 35},
        {"buffer.policy", "lists() said 0", 36},
        {"ftl.placement", "stream() with the result 2: there are 2", 40},
        {"ftl.map", "which is not in the cache", 50},
        {"ftl.map", "victim() said entry 4294967295", 51},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *file = g_strdup_printf("broken-%u", bad[i].breaks);
        g_autofree char *option = outside_option(bad[i].key, file);
        g_autofree char *options =
            g_strconcat("ftl.map_cache=1KiB;", option, NULL);
        g_autofree char *path = g_strdup_printf("%s/%s.so", folder, file);
        g_autofree char *fault = NULL;
        GError *error = NULL;
        Ssd *ssd = drive(options);

        n_told = 0;
        ssd_on_policy_fault(ssd, told, "x");
        play(ssd, 5, PLAYED); /* nothing is lost */
        fault = ssd_policy_fault(ssd);
        if (!fault || !strstr(fault, bad[i].says)) {
            g_error("%s of %s: not in: %s", bad[i].says, file,
                    fault ? fault : "nothing");
        }
        g_assert_nonnull(strstr(fault, path));
        g_assert_null(strchr(fault, '\n'));
        /* Some are found before anybody is told. */
        g_assert_cmpuint(n_told, ==,
                         bad[i].breaks == 6 || bad[i].breaks == 36 ? 0 : 1);
        ssd_check(ssd, &error);
        g_assert_no_error(error);
        ssd_destroy(ssd);
    }
}

/* ---- of the process ------------------------------------------------------ */

static uint32_t oldest(VssdView *v, uint32_t plane)
{
    uint32_t block = v->gc->oldest(v, plane);

    ++*(unsigned *)v->context;
    while (block != VSSD_NONE && !v->gc->gains(v, block)) {
        block = v->gc->newer(v, block);
    }
    return block;
}

static void test_of_process(void)
{
    unsigned calls = 0;
    const VssdGcPolicy gc = {.size = sizeof(gc), .pick = oldest};
    VssdPolicy policy = {
        .abi = VSSD_POLICY_ABI,
        .kind = VSSD_POLICY_GC,
        .size = sizeof(policy),
        .name = "oldest",
        .context = &calls,
        .gc = &gc,
    };
    SsdConfig *cfg = config("");
    g_autofree char *value = NULL;
    GError *error = NULL;
    Ssd *ssd;

    g_assert_true(ssd_config_set_policy(cfg, &policy, NULL));
    value = ssd_config_get(cfg, "ftl.gc");
    g_assert_cmpstr(value, ==, "call:oldest");
    ssd = ssd_create(cfg, NULL, NULL, &error);
    g_assert_no_error(error);
    play(ssd, 5, PLAYED);
    g_assert_cmpuint(calls, >, 10);
    g_assert_null(ssd_policy_fault(ssd));
    ssd_destroy(ssd);
    policy.abi++;
    g_assert_false(ssd_config_set_policy(cfg, &policy, &error));
    g_assert_nonnull(strstr(error->message, "ABI version 2"));
    g_clear_error(&error);
    ssd_config_free(cfg);
}

/* A listed policy does the same as one of the process. */
static void play_listed(const VssdPolicy *policy, const char *key)
{
    g_autofree char *option = g_strdup_printf("%s=%s", key, policy->name);
    SsdConfig *cfg = config("");
    GError *error = NULL;
    Ssd *ssd;

    g_assert_true(ssd_config_set_policy(cfg, policy, NULL));
    ssd = ssd_create(cfg, NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(play(ssd, 5, PLAYED), ==, played(option));
    ssd_check(ssd, &error);
    g_assert_no_error(error);
    ssd_destroy(ssd);
    ssd_config_free(cfg);
}

static void test_listed(void)
{
    for (size_t i = 0; gc_policies[i]; i++) {
        play_listed(gc_policies[i], "ftl.gc");
    }
    for (size_t i = 0; alloc_policies[i]; i++) {
        if (!alloc_policies[i]->alloc->draws_block) {
            play_listed(alloc_policies[i], "ftl.alloc");
        }
    }
    for (size_t i = 0; buffer_policies[i]; i++) {
        if (buffer_policies[i]->buffer->victim) {
            play_listed(buffer_policies[i], "buffer.policy");
        }
    }
}

/* A candidate that gains, at random. */
static uint32_t drawn(VssdView *v, uint32_t plane)
{
    uint32_t found = VSSD_NONE;
    uint64_t n = 0;

    for (uint32_t b = v->gc->oldest(v, plane); b != VSSD_NONE;
         b = v->gc->newer(v, b)) {
        if (v->gc->gains(v, b) && v->random(v, ++n) == 0) {
            found = b;
        }
    }
    return found;
}

/* Random numbers follow from the seed, and go on in a copy. */
static void test_random(void)
{
    const VssdGcPolicy gc = {.size = sizeof(gc), .pick = drawn};
    const VssdPolicy policy = {
        .abi = VSSD_POLICY_ABI,
        .kind = VSSD_POLICY_GC,
        .size = sizeof(policy),
        .name = "drawn",
        .gc = &gc,
    };
    uint64_t hash[3];

    for (unsigned i = 0; i < 3; i++) {
        SsdConfig *cfg = config(i == 2 ? "seed=4" : "");
        GError *error = NULL;
        Ssd *ssd, *copy;

        g_assert_true(ssd_config_set_policy(cfg, &policy, NULL));
        ssd = ssd_create(cfg, NULL, NULL, &error);
        g_assert_no_error(error);
        play(ssd, 5, 40000);
        copy = ssd_clone(ssd, NULL, NULL, &error);
        g_assert_no_error(error);
        hash[i] = play(ssd, 6, 10000);
        g_assert_cmpuint(play(copy, 6, 10000), ==, hash[i]);
        g_assert_null(ssd_policy_fault(ssd));
        ssd_destroy(ssd);
        ssd_destroy(copy);
        ssd_config_free(cfg);
    }
    g_assert_cmpuint(hash[0], ==, hash[1]);
    g_assert_cmpuint(hash[0], !=, hash[2]);
}

/* Options that do not go together, by both names. */
static void test_combinations(void)
{
    static const char *const more[] = {"streams.max=2;", "ftl.hot_cold=on;",
                                       "fdp.ruhs=2;", "ftl.map=bast;"};

    for (size_t i = 0; i < G_N_ELEMENTS(more); i++) {
        g_autofree char *option = outside_option("ftl.placement", "hot-cold");
        g_autofree char *options = g_strconcat(more[i], option, NULL);
        SsdConfig *cfg = config(options);
        g_autoptr(GError) error = NULL;

        g_assert_false(ssd_config_check(cfg, &error));
        g_assert_nonnull(strstr(error->message, "ftl.placement"));
        ssd_config_free(cfg);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    folder = g_canonicalize_filename(g_getenv("VSSD_POLICIES"), NULL);
    g_test_add_func("/outside/examples", test_examples);
    g_test_add_func("/outside/option", test_option);
    g_test_add_func("/outside/states", test_states);
    g_test_add_func("/outside/other-policy", test_other_policy);
    g_test_add_func("/outside/refused", test_refused);
    g_test_add_func("/outside/broken", test_broken);
    g_test_add_func("/outside/of-process", test_of_process);
    g_test_add_func("/outside/listed", test_listed);
    g_test_add_func("/outside/random", test_random);
    g_test_add_func("/outside/combinations", test_combinations);
    return g_test_run();
}
