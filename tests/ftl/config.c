/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config.c - profiles and options: a fault is named in one line, and
 * every option changes something that a host can see.
 */
#include <unistd.h>
#include <string.h>
#include <glib/gstdio.h>

#include "options.h"
#include "ref.h"
#include "ssd-config.h"
#include "ssd-report.h"
#include "ssd-setup.h"

/* ---- every option, from the printed configuration -------------------- */

static char **printed(const SsdConfig *cfg)
{
    g_autoptr(GString) s = g_string_new(NULL);

    ssd_config_print(cfg, s);
    g_assert_true(g_str_has_suffix(s->str, "\n"));
    g_string_truncate(s, s->len - 1);
    return g_strsplit(s->str, "\n", -1);
}

static char *key_of(const char *line)
{
    const char *equals = strchr(line, '=');

    g_assert_nonnull(equals);
    return g_strndup(line, (gsize)(equals - line));
}

static void refuse(const char *options, const char *start, const char *says)
{
    g_autoptr(GError) error = NULL;
    SsdConfig *cfg = ssd_config_new();
    bool set = ssd_config_set(cfg, options, &error);

    g_assert_false(set && ssd_config_check(cfg, &error));
    if (!g_str_has_prefix(error->message, start) ||
        !strstr(error->message, says) || strchr(error->message, '\n')) {
        g_error("%s: says \"%s\", should start \"%s\" and say \"%s\"", options,
                error->message, start, says);
    }
    g_assert_true(!set || !ssd_create(cfg, NULL, NULL, NULL));
    ssd_config_free(cfg);
}

/* A value that no option takes is refused with the key, it, and the range. */
static void test_malformed(void)
{
    static const char *const bad[] = {"bogus!", "-1", "", "1e999",
                                      "99999999999999999999999999"};
    SsdConfig *cfg = ssd_config_new();
    g_auto(GStrv) lines = printed(cfg);

    g_assert_cmpuint(g_strv_length(lines), >, 20);
    for (char **l = lines; *l; l++) {
        g_autofree char *key = key_of(*l);

        if (strcmp(key, "faults") == 0 || strcmp(key, "host.namespaces") == 0) {
            continue; /* a file name; what the controller reads: any text */
        }
        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
            g_autofree char *set = g_strconcat(key, "=", bad[i], NULL);
            g_autofree char *start = g_strconcat(set, ": allowed ", NULL);
            g_autoptr(GError) error = NULL;

            if (!*bad[i] && (strcmp(key, "power.states") == 0 ||
                             strcmp(key, "fdp.isolation") == 0 ||
                             strcmp(key, "fdp.handles") == 0)) {
                continue; /* none */
            }
            g_assert_false(ssd_config_set(cfg, set, &error));
            g_assert_true(g_str_has_prefix(error->message, start));
        }
    }
    ssd_config_free(cfg);
}

/* Printed and read back, a configuration is unchanged. */
static void test_print(void)
{
    SsdConfig *a = ref_config("buffer.flush_interval=1.5ms;seed=77;"
                              "nand.bus_ns_per_byte=1.25;ftl.gc_low=0.5%");
    SsdConfig *b = ssd_config_new();
    g_auto(GStrv) lines = printed(a);

    for (char **l = lines; *l; l++) {
        g_autofree char *key = key_of(*l);
        g_autofree char *value = ssd_config_get(a, key);
        g_autofree char *again = NULL;

        g_assert_cmpstr(value, ==, *l + strlen(key) + 1);
        if (strcmp(*l, "nand.bus_mt_s=0") != 0) {
            g_assert_true(ssd_config_set(b, *l, NULL));
        }
        again = ssd_config_get(b, key);
        g_assert_cmpstr(value, ==, again);
    }
    g_assert_null(ssd_config_get(a, "nand.channel"));
    ssd_config_free(a);
    ssd_config_free(b);
}

static unsigned rows_before(const char *text, const char *end)
{
    const char *at = strstr(text, end);
    unsigned n = 0;

    g_assert_nonnull(at);
    for (const char *row = text; (row = strstr(row, "\n| `")) && row < at;
         row++) {
        n++;
    }
    return n;
}

static void test_documented(void)
{
    g_autoptr(GString) doc = g_string_new(NULL);
    SsdConfig *cfg = ssd_config_new();
    g_auto(GStrv) lines = printed(cfg);

    ssd_config_document(doc);
    for (char **l = lines; *l; l++) {
        g_autofree char *key = key_of(*l);
        g_autofree char *row = g_strdup_printf("| `%s` |", key);

        g_assert_nonnull(strstr(doc->str, row));
    }
    /* The reference begins with a table that can be learnt. */
    g_assert_cmpuint(rows_before(doc->str, "## Expert options"), ==, 40);
    ssd_config_free(cfg);
}

/* ---- values out of range, and conflicts ---------------------- */

static void test_ranges(void)
{
    refuse("nand.channels=65", "nand.channels=65: allowed ", "1..64");
    refuse("nand.channels=0", "nand.channels=0: allowed ", "1..64");
    refuse("nand.chips=65", "nand.chips=65", "1..64");
    refuse("nand.dies=65", "nand.dies=65", "1..64");
    refuse("nand.planes=17", "nand.planes=17", "1..16");
    refuse("nand.pages=16385", "nand.pages=16385", "16384");
    refuse("nand.page_size=256", "nand.page_size=256", "512B");
    refuse("nand.read=11ms", "nand.read=11ms", "10ms");
    refuse("ftl.unit=256", "ftl.unit=256", "512B");
    refuse("ftl.gc=best", "ftl.gc=best", "greedy");
    refuse("fdp.groups=0", "fdp.groups=0", "1..64");
    refuse("fdp.isolation=some", "fdp.isolation=some",
           "persistent and initial");
    refuse("fdp.handles=64", "fdp.handles=64", "0..63");
    refuse("fdp.handles=1:1", "fdp.handles=1:1", "each once");
#define DIES                                                                   \
    "nand.channels=2;nand.chips=1;nand.dies=2;nand.planes=1;"                  \
    "ftl.op_percent=90%;nand.blocks=100;nand.pages=16;"                        \
    "nand.page_size=16KiB;"
    refuse(DIES "fdp.groups=2", "fdp.groups: ", "needs fdp.ruhs");
    refuse(DIES "fdp.ru_size=1MiB", "fdp.ru_size: ", "needs fdp.ruhs");
    refuse(DIES "fdp.ruhs=2;fdp.groups=3", "fdp.groups=3: ", "of dies, 4");
    refuse(DIES "fdp.ruhs=40;fdp.groups=2", "fdp.groups=2: ", "allowed 1..1");
    refuse(DIES "fdp.ruhs=2;fdp.groups=2;ftl.alloc=random",
           "fdp.groups=2: ", "ftl.alloc=stripe or in-order");
    refuse(DIES "fdp.ruhs=2;fdp.groups=2;superblock.row=4",
           "superblock.row=4: ", "2 planes of the reclaim group");
    refuse(DIES "fdp.ruhs=2;fdp.ru_size=1000000",
           "fdp.ru_size=1000000: ", "multiple of 1048576");
    refuse(DIES "fdp.ruhs=2;fdp.ru_size=101MiB",
           "fdp.ru_size=105906176: ", "at most 104857600");
    refuse(DIES "fdp.ruhs=2;fdp.ru_time_limit=1ms",
           "fdp.ru_time_limit: ", "whole seconds");
    refuse(DIES "fdp.ruhs=2;fdp.isolation=initial/initial/initial",
           "fdp.isolation=initial/initial/initial: ", "1..2");
    refuse(DIES "fdp.ruhs=2;fdp.handles=0/2", "fdp.handles=0/2: ", "0..1");
#undef DIES
    refuse("ftl.alloc=best", "ftl.alloc=best", "stripe");
    refuse("ftl.random_blocks=65537", "ftl.random_blocks=65537", "1..65536");
    refuse("ftl.alloc=random-block;ftl.random_blocks=64",
           "ftl.random_blocks=64", "ftl.op_percent");
    refuse("ftl.alloc=random-block;streams.max=2", "ftl.alloc=random-block",
           "streams.max=0");
    refuse("ftl.alloc=random-block;ftl.random_blocks=2;superblock.width=die;"
           "nand.planes=2;ftl.op_percent=50%",
           "ftl.alloc=random-block", "superblock.width=plane");
    refuse("ftl.map=fast;ftl.gc_period=1s", "ftl.map=fast", "ftl.gc_period");
    refuse("nand.lock=chip;nand.gc_hold=on;superblock.width=drive",
           "nand.gc_hold=on", "superblock.width=plane");
    refuse("ftl.gc_pace=best", "ftl.gc_pace=best", "late, even");
    refuse("ftl.map=fast;ftl.gc_pace=even", "ftl.map=fast", "ftl.gc_pace");
    refuse("superblock.width=best", "superblock.width=best",
           "plane, die, drive");
    refuse("ftl.map=best", "ftl.map=best", "page, dftl");
    refuse("ftl.map_cache=32", "ftl.map_cache=32", "64B");
    refuse("ftl.wear=best", "ftl.wear=best", "fifo, dynamic, static");
    refuse("ftl.wear_spread=0", "ftl.wear_spread=0", "1..1000000");
    refuse("buffer.policy=best", "buffer.policy=best", "fifo");
    refuse("buffer.free_at=best", "buffer.free_at=best", "data-in");
    refuse("buffer.window=101%", "buffer.window=101%", "100%");
    refuse("buffer.word=0", "buffer.word=0", "1B");
    refuse("buffer.block=6KiB", "buffer.block=6144", "ftl.unit=4096");
    refuse("buffer.atomic=8KiB", "buffer.atomic=8192", "needs buffer.plp=on");
    refuse("buffer.plp=on;buffer.size=64KiB;buffer.atomic=33KiB",
           "buffer.atomic=33792", "0..32768");
    refuse("buffer.size=1KiB", "buffer.size=1KiB", "4KiB");
    refuse("host.complete_at=never", "host.complete_at=never",
           "buffer, data-in, program");
    refuse("host.queue_depth=0", "host.queue_depth=0", "1..65536");
    refuse("media.base=1.5", "media.base=1.5", "0..1");
    refuse("media.wear=nan", "media.wear=nan", "0..1");
    refuse("media.wear_exp=17", "media.wear_exp=17", "0..16");
    refuse("media.block_sigma=5", "media.block_sigma=5", "0..4");
    refuse("media.layer_factor=0.5", "media.layer_factor=0.5", "1..1000");
    refuse("media.soft_reads=16", "media.soft_reads=16", "0..15");
    refuse("media.retry_memory=plane", "media.retry_memory=plane",
           "off, block, die");
    refuse("nand.program_wear=91%", "nand.program_wear=91%", "0%..90%");
}

/* Sizes of superblocks and rows; the drive has 16 dies of two planes. */
static void refuse_superblocks(void)
{
#define EACH "nand.channels=4;nand.chips=2;nand.dies=2;nand.planes=2;"
#define WIDE EACH "superblock.width=4;superblock.parity=on;superblock.row=4;"
    static const char parity[] = "superblock.parity=on";

    refuse(EACH "superblock.width=3", "superblock.width=3: ", "of 2 planes");
    refuse(EACH "nand.planes=4;superblock.width=2",
           "superblock.width=2: ", "of 4 planes");
    refuse(EACH "superblock.width=12", "superblock.width=12: ", "32 planes");
    refuse(EACH "superblock.width=64", "superblock.width=64: ", "of the drive");
    refuse("superblock.width=0", "superblock.width=0",
           "plane, die, drive, 1..");
    refuse(EACH "superblock.row=6", "superblock.row=6: ", "32 planes");
    refuse(EACH "nand.dies=4;superblock.row=drive",
           "superblock.row=64: ", "at most 32");
    refuse("superblock.row=33", "superblock.row=33", "1..32");
    refuse("superblock.padding=on", "superblock.padding=on", "superblock.row");
    refuse("superblock.row_wait=0", "superblock.row_wait=0", "1ns");
    refuse("superblock.row=2;ftl.alloc=static", "superblock.row=2",
           "ftl.alloc");
    refuse("superblock.row=2;ftl.map=bast", "ftl.map=bast", "superblock.row");
    refuse("superblock.width=2;ftl.map=bast", "ftl.map=bast",
           "superblock.width");
    refuse(EACH "superblock.parity=on", parity, "2 dies or more");
    refuse(EACH "superblock.width=die;superblock.row=die;superblock.parity=on",
           parity, "2 dies or more");
    refuse(EACH "superblock.width=4;superblock.parity=on", parity, "it is 1)");
    refuse(WIDE "superblock.width=8", parity, "it is 4)");
    refuse(WIDE "nand.pages=15", parity, "of a block, 15");
    refuse(WIDE "nand.copyback=on", parity, "nand.copyback");
#undef WIDE
#undef EACH
}

/* Each key that was replaced is refused with the one to write instead. */
static void test_replaced(void)
{
    static const char *const keys[][2] = {
        {"ftl.superpage=1", "superblock.row"},
        {"ftl.superpage_wait=1ms", "superblock.row_wait"},
        {"ftl.flush_pad=on", "superblock.padding"},
        {"ftl.rain=4", "superblock.parity=on and superblock.width"},
        {"ftl.gc_unit=die", "superblock.width"},
        {"ftl.close_open=on", "superblock.close_open"},
    };

    refuse("ftl.alloc=superblock", "ftl.alloc=superblock: is now ",
           "ftl.alloc=in-order");

    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        g_autofree char *key = key_of(keys[i][0]);
        g_autofree char *start = g_strconcat(key, ": is now ", NULL);

        refuse(keys[i][0], start, keys[i][1]);
    }
}

static void test_combinations(void)
{
    refuse("nand.page_size=12KiB", "nand.page_size=12288", "power of two");
    refuse("ftl.unit=12KiB", "ftl.unit=12288", "power of two");
    refuse("ftl.unit=32KiB", "ftl.unit=32768", "nand.page_size=16384");
    refuse("nand.chips=64;nand.dies=64;nand.channels=64", "nand.channels x",
           "65536");
    refuse("nand.channels=64;nand.dies=64;nand.blocks=1048576;nand.pages=16384",
           "nand.blocks=1048576", "1073741824");
    refuse("nand.channels=64;nand.dies=4;nand.blocks=1048576;nand.pages=16384",
           "nand: ", "1099511627775");
    refuse("nand.channels=8;nand.dies=4;nand.blocks=1048576;nand.pages=4096;"
           "ftl.unit=512",
           "ftl.unit=512", "1099511627775");
    refuse("nand.blocks=65536;nand.pages=4096;ftl.map=dftl;"
           "ftl.map_cache=32GiB",
           "ftl.map_cache", "2147483647");
    refuse("nand.blocks=65536;nand.pages=4096;ftl.map=dftl;ftl.hmb=32GiB",
           "ftl.hmb", "2147483647");
    refuse("ftl.op_percent=0%", "ftl.op_percent=0", "spare blocks");
    refuse("nand.blocks=64;ftl.op_percent=20%;ftl.map=dftl",
           "ftl.op_percent=20", "ftl.map=page");
    refuse("nand.blocks=32;ftl.op_percent=7%", "ftl.op_percent=7",
           "spare blocks");
    refuse("nand.page_size=64KiB;buffer.size=32KiB", "buffer.size=32768",
           "65536");
    refuse("ftl.gc_high=50%", "ftl.gc_high", "ftl.op_percent");
    refuse("ftl.gc_soft=50%", "ftl.gc_soft", "ftl.op_percent");
    refuse("ftl.slc_dynamic=10%", "ftl.slc_dynamic", "nand.cell");
    refuse("nand.cell=tlc;nand.pages=9;ftl.slc_dynamic=10%", "ftl.slc_dynamic",
           "nand.pages");
    refuse("ftl.slc_fold_delay=1s", "ftl.slc_fold_delay", "nand.slc_blocks");
    refuse("ftl.slc_share=99%", "ftl.slc_share", "ftl.slc_dynamic");
    refuse("ftl.slc_when_full=fold", "ftl.slc_when_full", "nand.slc_blocks");
    refuse("ftl.slc_streams=some", "ftl.slc_streams=some", "default");
    refuse("ftl.slc_streams=", "ftl.slc_streams=", "default");
    refuse("ftl.slc_streams=5-3", "ftl.slc_streams=5-3", "0..63");
    refuse("ftl.slc_streams=1-2-3", "ftl.slc_streams=1-2-3", "0..63");
    refuse("ftl.slc_streams=64", "ftl.slc_streams=64", "0..63");
    refuse("ftl.slc_streams=0/", "ftl.slc_streams=0/", "0..63");
    refuse("ftl.slc_streams=0", "ftl.slc_streams=0", "nand.slc_blocks");
    refuse("nand.cell=tlc;nand.pages=12;ftl.slc_dynamic=10%;"
           "ftl.op_percent=90%;streams.max=3;ftl.slc_streams=2/4",
           "ftl.slc_streams=2/4", "0..3");
    refuse("nand.cell=tlc;nand.pages=12;ftl.slc_dynamic=10%;"
           "ftl.op_percent=90%;streams.max=3;ftl.slc_streams=2;"
           "ftl.slc_when_full=fold;ftl.alloc=dynamic",
           "ftl.slc_streams=2", "ftl.alloc");
    refuse("nand.cell=tlc;nand.pages=12;ftl.slc_dynamic=10%;"
           "ftl.slc_when_full=fold;ftl.slc_fold_at=0%",
           "ftl.slc_when_full=fold", "ftl.slc_fold_at");
    refuse("nand.cell=tlc;nand.pages=12;ftl.slc_dynamic=10%;ftl.map=bast",
           "ftl.map=bast", "ftl.slc_dynamic");
    refuse_superblocks();
    refuse("ftl.capacity=2KiB", "ftl.capacity=2048", "ftl.unit=4096");
    refuse("nand.blocks=64;ftl.capacity=64GiB", "ftl.capacity=68719476736",
           "spare blocks");
    refuse("nand.blocks=64;ftl.op_percent=20%;ftl.wear=static",
           "ftl.op_percent=20", "ftl.wear=static");
    refuse("ftl.refresh_reads=5", "ftl.refresh_reads=5", "media.errors=on");
    refuse("ftl.refresh_hours=5", "ftl.refresh_hours=5", "media.errors=on");
    refuse("ftl.refresh_retries=5", "ftl.refresh_retries=5", "media.errors=on");
    refuse("media.errors=on;ftl.refresh_retries=6", "ftl.refresh_retries=6",
           "media.retry_limit=5");
    refuse("ftl.read_reclaim=5", "ftl.read_reclaim=5", "media.errors=on");
    refuse("media.errors=on;ftl.read_reclaim=6", "ftl.read_reclaim=6",
           "media.retry_limit=5");
    refuse("media.paired_pages=on", "media.paired_pages=on: ", "nand.cell=mlc");
    refuse("nand.cell=tlc;nand.pages=258;nand.one_shot=on;"
           "media.paired_pages=backup",
           "media.paired_pages=backup: ", "nand.one_shot=off");
    refuse("media.retry_memory=die",
           "media.retry_memory=die: ", "media.retry_levels=on");
    refuse("media.errors=on;ftl.map=fast;ftl.read_reclaim=2",
           "ftl.map=fast: ", "not with ftl.read_reclaim=2");
    refuse("nand.page_size=64KiB;buffer.size=64KiB;buffer.policy=cflru-ef-sc",
           "buffer.size=65536", "65600");
    refuse("ftl.unit=512;buffer.size=1TiB", "buffer.size", "16777216");
    refuse("buffer.plp=on;buffer.ignore_flush=on", "buffer.ignore_flush=on: ",
           "buffer.plp=on");
    refuse("ftl.map=bast;ftl.recovery=scan",
           "ftl.map=bast: ", "not with ftl.recovery=scan");
    refuse("ftl.map=bast;superblock.close_open=on",
           "ftl.map=bast: ", "not with superblock.close_open=on");
    refuse("buffer.plp=on;ftl.recovery=scan", "ftl.recovery=scan: ",
           "buffer.plp=on");
    refuse("buffer.plp=on;buffer.free_at=data-in", "buffer.free_at=data-in: ",
           "buffer.plp=on");
    refuse("media.errors=on;nand.ecc_codeword=512;media.ecc_bits=4096",
           "media.ecc_bits: ", "nand.ecc_codeword");
    refuse("faults=/nonexistent", "faults=/nonexistent: ", "No such file");
}

static void test_syntax(void)
{
    refuse("nand.channels", "nand.channels: ", "key=value");
    refuse("=5", ": no such option", "docs/options.md");
    refuse("nand.channel=5", "nand.channel: no such option",
           "; did you mean nand.channels? (");
    refuse("NAND.channels=5", "NAND.channels: no such option",
           "; did you mean nand.channels? (");
    refuse("nand.channels=2;;ftl.gx=1", "ftl.gx: no such option", "");
}

/* Spaces and empty parts are fine; parts before a bad one stay applied. */
static void test_set(void)
{
    SsdConfig *cfg = ssd_config_new();
    g_autofree char *channels = NULL;
    g_autofree char *dies = NULL;

    g_assert_true(ssd_config_set(cfg, "", NULL));
    g_assert_true(ssd_config_set(cfg, ";; nand.channels = 3 ;;", NULL));
    g_assert_false(ssd_config_set(cfg, "nand.dies=5;x=1;nand.dies=6", NULL));
    channels = ssd_config_get(cfg, "nand.channels");
    dies = ssd_config_get(cfg, "nand.dies");
    g_assert_cmpstr(channels, ==, "3");
    g_assert_cmpstr(dies, ==, "5");
    ssd_config_free(cfg);
}

static void test_block_bytes(void)
{
    SsdConfig *cfg = ssd_config_new();
    g_autoptr(GError) error = NULL;

    g_assert_true(ssd_config_set_block_bytes(cfg, 512, NULL));
    g_assert_true(ssd_config_set_block_bytes(cfg, 4096, NULL));
    g_assert_false(ssd_config_set_block_bytes(cfg, 1024, &error));
    g_assert_nonnull(strstr(error->message, "512, 4096"));
    g_assert_true(ssd_config_set(cfg, "ftl.unit=512", NULL));
    g_assert_false(ssd_config_check(cfg, NULL));
    ssd_config_free(cfg);
}

/* ---- profiles ------------------------------------------------------------ */

static bool load(const char *text, GError **error)
{
    g_autofree char *path = NULL;
    SsdConfig *cfg = ssd_config_new();
    int fd = g_file_open_tmp("vssd-test-XXXXXX.ini", &path, NULL);
    bool ok;

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    ok = ssd_config_load(cfg, path, error);
    g_unlink(path);
    ssd_config_free(cfg);
    g_assert_true(ok || strstr((*error)->message, path));
    g_assert_true(ok || !strchr((*error)->message, '\n'));
    return ok;
}

static void refuse_profile(const char *text, const char *says)
{
    g_autoptr(GError) error = NULL;

    g_assert_false(load(text, &error));
    if (!strstr(error->message, says)) {
        g_error("\"%s\" should say \"%s\"", error->message, says);
    }
}

static void test_profiles(void)
{
    GError *error = NULL;
    SsdConfig *cfg = ssd_config_new();

    load("# nothing\n", &error);
    g_assert_no_error(error);
    load("[drive]\nseed = 5\n[nand]\nread = 1 us\n[ftl]\nop_percent=7\n",
         &error);
    g_assert_no_error(error);
    refuse_profile("[nand]\nchannels = 65\n", "nand.channels=65: allowed");
    refuse_profile("[nand]\nchanels = 5\n", "nand.chanels: no such option");
    refuse_profile(
        "[flash]\nchannels = 5\n",
        "flash.channels: no such option; did you mean nand.channels?");
    refuse_profile("[drive]\nnand = 5\n", "nand: no such option");
    refuse_profile("channels = 5\n", "");
    refuse_profile("[nand\nchannels = 5\n", "");
    refuse_profile("[nand]\nchannels\n", "");
    refuse_profile("[nand]\nread = \xff\xfe\n", "nand.read=");
    g_assert_false(ssd_config_load(cfg, "/nowhere/at/all.ini", &error));
    g_assert_nonnull(strstr(error->message, "/nowhere/at/all.ini"));
    g_clear_error(&error);
    g_assert_false(ssd_config_load(cfg, "/", &error));
    g_clear_error(&error);
    ssd_config_free(cfg);
}

/* Every shipped profile makes a drive. */
static void test_shipped(void)
{
    const char *dir_name = g_getenv("VSSD_PROFILES");
    GDir *dir = g_dir_open(dir_name, 0, NULL);
    const char *name;
    int n = 0;

    g_assert_nonnull(dir);
    while ((name = g_dir_read_name(dir))) {
        g_autofree char *path = g_build_filename(dir_name, name, NULL);
        SsdConfig *cfg = ssd_config_new();
        GError *error = NULL;
        Ssd *ssd;

        if (g_str_has_suffix(name, ".ini")) {
            ssd_config_load(cfg, path, &error);
            g_assert_no_error(error);
            ssd = ssd_create(cfg, NULL, NULL, &error);
            g_assert_no_error(error);
            ssd_destroy(ssd);
            n++;
        }
        ssd_config_free(cfg);
    }
    g_dir_close(dir);
    g_assert_cmpint(n, >=, 4);
}

/* ---- every option does something ----------------------------------------- */

#define BASE                                                                   \
    "nand.blocks=140;nand.pages=4;ftl.op_percent=60%;ftl.gc_low=2%;"           \
    "ftl.gc_high=10%;buffer.size=128KiB;buffer.flush_interval=10ms;"

/* All that a host and its statistics can tell of one fixed run. */
static char *observe(const char *options, int n_requests)
{
    g_autofree char *all = g_strconcat(BASE, options, NULL);
    Ref *r = ref_new(ref_config(all), true);
    GString *s = g_string_new(NULL);
    JsonWriter w = {.out = s};
    Prng rng;

    r->faults = true; /* reads may be uncorrectable */
    r->n_streams = r->info->host_streams;
    prng_seed(&rng, 4, 4);
    for (int i = 0; i < n_requests; i++) {
        uint32_t n = 8 * (1 + (uint32_t)prng_below(&rng, 4));
        uint64_t lba = prng_below(&rng, 20000) % (r->info->nblocks - n);

        ref_do(r, i % 5 == 4 ? SSD_OP_READ : SSD_OP_WRITE, lba, n,
               i % 997 == 0);
        if (i % 7 == 0) {
            ref_pass(r, 200000);
        }
    }
    for (uint32_t i = 0; i < 40; i++) { /* two streams of reads */
        ref_do(r, SSD_OP_READ,
               r->info->nblocks / 16 * 8 * (i % 2) + 8 * (i / 2), 8, false);
        ref_drain(r);
    }
    ref_do(r, SSD_OP_TRIM, 0, 800, false);
    ref_finish(r);
    ssd_stats_json_drive(r->ssd, &w);
    g_string_append_printf(s, " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT,
                           r->info->nblocks, r->last_complete_ns);
    stats_write(&hist_stats, ssd_latency(r->ssd, SSD_OP_WRITE), &w);
    stats_write(&hist_stats, ssd_latency(r->ssd, SSD_OP_READ), &w);
    ref_free(r);
    return g_string_free(s, FALSE);
}

/* A change, and the options that it needs to matter. */
typedef struct Change {
    const char *change;
    const char *with;
} Change;

#define ONFI "nand.interface=nv-ddr3;"
#define TLC "nand.cell=tlc;nand.pages=6;ftl.op_percent=90%;"
#define QLC "nand.cell=qlc;nand.pages=8;"
#define PLANES "nand.planes=2;nand.multi_plane=on;ftl.op_percent=90%;"
#define PARALLEL                                                               \
    "nand.channels=2;nand.chips=2;nand.dies=2;nand.planes=2;nand.blocks=40;"
#define SUSPEND "nand.suspend=both;nand.suspend_min_run=0;"

#define SPARE "ftl.op_percent=90%;"
#define EARLY "buffer.policy=cflru-ef;buffer.flush_interval=0;"

/* So fast that the host's pauses are pauses. */
#define SILENT                                                                 \
    "ftl.idle=50us;nand.channels=8;nand.blocks=35;nand.program=50us;"          \
    "nand.erase=50us;"
#define AGES                                                                   \
    "media.errors=on;media.base=1e-4;media.preload_hours=1000;"                \
    "ftl.scan_interval=5ms;"
#define COLD "nand.blocks=200;ftl.wear_spread=2;" /* part is never written */

#define ERRORS "media.errors=on;media.base=7e-3;media.retry_factor=0.98;"
#define OLD ERRORS "media.start_cycles=100;media.preload_hours=1000;"
#define READ_OFTEN ERRORS "media.start_cycles=100;media.disturb=1e-5;"
#define SLC TLC "nand.pages=12;nand.slc_blocks=8;"
#define LEVELS                                                                 \
    "media.errors=on;media.base=6e-3;media.start_cycles=1500;"                 \
    "media.preload_hours=1000;media.retry_limit=8;media.shift_factor=1.01;"
#define SOFT ERRORS "media.retry_limit=1;media.soft_reads=2;"
#define WORN "media.program_fail=0.0003;media.start_cycles=4000;"

/* 5 ms until it is warm: load and pauses show. */
#define HOT                                                                    \
    "thermal.resistance=5;thermal.capacitance=0.001;power.active=8000;"        \
    "power.idle=1000;"
#define POWER_STATES "power.states=8000:0:0/10:10:50:idle;"

static const Change changes[] = {
    {"thermal.ambient=30", HOT},
    {"thermal.resistance=5", "power.active=8000;"},
    {"thermal.capacitance=0.002", HOT "thermal.warning=50;"},
    {"thermal.warning=50", HOT},
    {"thermal.critical=51", HOT "thermal.warning=50;"},
    {"thermal.throttle_1=50", HOT},
    {"thermal.throttle_2=50", HOT},
    {"thermal.slow_1=99%", HOT "thermal.throttle_1=30;"},
    {"thermal.slow_2=99%", HOT "thermal.throttle_2=30;"},
    {"thermal.hysteresis=20", /* programs heat, and throttling stops them */
     "thermal.resistance=5;thermal.capacitance=0.001;"
     "nand.energy_program=3000000;thermal.throttle_1=60;thermal.slow_1=99.9%;"},
    {"power.active=8000", ""},
    {"power.idle=1000", ""},
    {"power.states=8000:0:0/10:10:50:idle", ""},
    {"power.idle_after=20us", SILENT POWER_STATES},
    {"seed=2", ERRORS},
    {"media.errors=on", "media.base=7e-3;"},
    {"media.base=6.8e-3", ERRORS},
    {"media.wear=1e-10", ERRORS "media.start_cycles=1000;"},
    {"media.wear_exp=2.2", ERRORS "media.start_cycles=1000;"},
    {"media.retention=1e-4", OLD},
    {"media.retention_pe_exp=0.5", OLD},
    {"media.retention_exp=0.7", OLD},
    {"media.retention_unit=12h", OLD},
    {"media.disturb=2e-5", READ_OFTEN},
    {"media.disturb_pe_exp=0.5", READ_OFTEN},
    {"media.disturb_exp=1", READ_OFTEN},
    {"media.ecc_bits=122", ERRORS},
    {"media.retry_limit=1", ERRORS},
    {"media.retry_factor=0.9", ERRORS},
    {"media.retry_time=10us", ERRORS},
    {"media.start_cycles=1000", ERRORS},
    {"media.preload_hours=2000", OLD},
    {"media.retry_levels=on", LEVELS},
    {"media.shift_wear=1", LEVELS "media.retry_levels=on;"},
    {"media.shift_retention=2", LEVELS "media.retry_levels=on;"},
    {"media.shift_sigma=1", LEVELS "media.retry_levels=on;"},
    {"media.shift_factor=1.02", LEVELS "media.retry_levels=on;"},
    {"media.retry_memory=block", LEVELS "media.retry_levels=on;"},
    {"media.retry_memory=die", LEVELS "media.retry_levels=on;"},
    {"media.soft_reads=2", ERRORS "media.retry_limit=1;"},
    {"media.soft_time=10us", SOFT},
    {"media.soft_factor=0.95", SOFT "media.base=8e-3;"},
    {"media.block_sigma=0.2", ERRORS},
    {"media.die_sigma=0.2", ERRORS},
    {"media.layer_factor=3", ERRORS},
    {"media.layers=2", ERRORS "media.layer_factor=3;"},
    {"media.type_2=1.2", TLC ERRORS},
    {"media.type_3=1.2", TLC ERRORS},
    {"media.type_4=1.2", QLC ERRORS},
    {"media.temperature=55", OLD},
    {"media.reference_temperature=25", OLD},
    {"media.activation_energy=0.5", OLD "media.temperature=55;"},
    {"media.paired_pages=backup", TLC},
    {"media.slc_factor=1", SLC ERRORS},
    {"media.slc_rated_cycles=2000", SLC WORN},
    {"media.program_fail=0.001", ""},
    {"media.erase_fail=0.003", ""},
    {"media.rated_cycles=2000", WORN},
    {"media.fail_exp=8", WORN},
    {"media.factory_bad=1%", ""},
    {"streams.max=3", SPARE},
    {"ftl.hot_cold=on", SPARE},
    {"fdp.ruhs=3", SPARE},
    {"fdp.groups=2", PARALLEL "ftl.op_percent=90%;fdp.ruhs=2;"},
    {"fdp.isolation=persistent/initial", SPARE "fdp.ruhs=3;"},
    {"streams.gc=merge", SPARE "streams.max=3;"},
    {"ftl.unit=8KiB", ""},
    {"ftl.op_percent=55%", ""},
    {"ftl.capacity=10MiB", ""},
    {"ftl.gc_soft=15%", SILENT},
    {"ftl.gc_period=1ms", "ftl.gc_high=5%;"},
    {"ftl.idle=200us", SILENT "ftl.gc_soft=15%;"},
    {"ftl.gc_preempt=on", ""},
    {"ftl.wear=dynamic", ""},
    {"ftl.wear=static", COLD "ftl.wear=dynamic;"},
    {"ftl.wear_spread=4", COLD "ftl.wear=static;"},
    {"ftl.refresh_reads=1", SILENT AGES},
    {"ftl.refresh_hours=100", SILENT AGES},
    {"ftl.refresh_retries=1", SILENT AGES "media.base=6e-3;"},
    {"ftl.read_reclaim=1", AGES "media.base=6e-3;"},
    {"ftl.scan_interval=1ms", SILENT AGES "ftl.refresh_reads=1;"},
    {"ftl.recovery=scan", ""},
    {"ftl.recovery=checkpoint", ""},
    {"ftl.checkpoint_interval=100", "ftl.recovery=checkpoint;"},
    {"ftl.map=dftl", ""},
    {"ftl.map_cache=1KiB", "ftl.map=dftl;ftl.map_cache=4KiB;"},
    {"ftl.hmb=8KiB", "ftl.map=dftl;ftl.map_cache=4KiB;"},
    {"ftl.hmb_latency=3us", "ftl.map=dftl;ftl.map_cache=4KiB;ftl.hmb=8KiB;"},
    {"ftl.map_prefetch=8", "ftl.map=dftl;ftl.map_cache=4KiB;"},
    {"ftl.alloc=static", PARALLEL},
    {"ftl.alloc=dynamic", PARALLEL},
    {"ftl.alloc=dl", PARALLEL},
    {"ftl.alloc=random", PARALLEL},
    {"ftl.alloc=random-block", SPARE PARALLEL "ftl.random_blocks=2;"},
    {"ftl.random_blocks=3",
     SPARE PARALLEL "ftl.random_blocks=2;ftl.alloc=random-block;"},
    {"ftl.alloc=in-order", PARALLEL},
    {"ftl.stripe=pdwc", PARALLEL},
    {"ftl.dl_threshold=20%", PARALLEL "ftl.alloc=dl;"},
    {"ftl.gc=cost-benefit", ""},
    {"ftl.gc=fifo", ""},
    {"ftl.gc=random", ""},
    {"ftl.gc=d-choices", ""},
    {"ftl.gc=windowed-greedy", ""},
    {"superblock.width=die", PARALLEL},
    {"superblock.width=4", PARALLEL},
    {"superblock.width=drive", PARALLEL},
    {"ftl.gc_choices=2", "ftl.gc=d-choices;"},
    {"ftl.gc_window=4", "ftl.gc=windowed-greedy;"},
    {"ftl.gc_low=8%", ""},
    {"ftl.gc_high=5%", ""},
    {"ftl.gc_pace=even", ""},
    {"ftl.gc_urgent=1us", "ftl.gc_pace=even;nand.suspend=both;"},
    {"buffer.size=256KiB", ""},
    {"buffer.access=1us", ""},
    {"buffer.policy=none", ""},
    {"buffer.policy=lru", ""},
    {"buffer.policy=cflru", "buffer.policy=lru;"},
    {"buffer.policy=cflru-ef", "buffer.policy=cflru;buffer.flush_interval=0;"},
    {"buffer.policy=cflru-ef-sc", EARLY},
    {"buffer.policy=fab", "buffer.policy=lru;"},
    {"buffer.policy=bplru", "buffer.policy=fab;"},
    {"buffer.policy=ccf-lru", "buffer.policy=lru;"},
    {"buffer.policy=prlru", "buffer.policy=lru;"},
    {"buffer.policy=prlru-ef", "buffer.policy=prlru;buffer.flush_interval=0;"},
    {"buffer.policy=clock-dnv", "buffer.policy=fab;"},
    {"buffer.block=16KiB", "buffer.policy=fab;"},
    {"buffer.word_time=15ns", ""},
    {"buffer.word=8", "buffer.word_time=15ns;"},
    {"buffer.mb_s=1600", ""},
    {"buffer.shared=on", "buffer.mb_s=1600;"},
    {"buffer.map_bytes=64", "buffer.mb_s=1600;"},
    {"buffer.free_at=data-in", ""},
    {"buffer.window=30%", "buffer.policy=cflru;"},
    {"buffer.early_threshold=20%", EARLY},
    {"buffer.early_adapt=100", EARLY},
    {"buffer.flush_interval=0", ""},
    {"buffer.plp=on", ""}, /* FUA waits for nothing; and power.c */
    {"buffer.atomic=32KiB", "buffer.plp=on;buffer.size=64KiB;"},
    {"host.complete_at=program", ""},
    {"host.queue_depth=2", ""},
    {"host.firmware=4us", ""},
    {"host.link_mb_s=2000", ""},
    {"nand.channels=1", ""},
    {"nand.chips=2", ""},
    {"nand.dies=2", ""},
    {"nand.planes=2", ""},
    {"nand.blocks=150", ""},
    {"nand.pages=8", ""},
    {"nand.page_size=32KiB", ""},
    {"nand.read=51us", ""},
    {"nand.program=501us", ""},
    {"nand.erase=4ms", ""},
    {"nand.program_wear=20%", "media.rated_cycles=20;"},
    {"nand.erase_wear=20%", "media.rated_cycles=20;"},
    {"nand.command=300ns", ""},
    {"nand.bus_mt_s=401", ""},
    {"nand.bus_ns_per_byte=3", ""},
    {"host.cores=1", "host.firmware=20us;"},
    {"host.firmware_unit=200ns", ""},
    {"host.firmware_write=1us", ""},
    {"host.max_iops=1000", ""},
    {"host.max_write_iops=1000", ""},
    {"host.max_write_mb_s=1", ""},
    {"host.read_ahead=64KiB", ""},
    {"host.read_streams=1", "host.read_ahead=64KiB;"},
    {"host.read_ahead_after=3", "host.read_ahead=64KiB;"},
    {"host.firmware_map_miss=1us", "ftl.map=dftl;ftl.map_cache=4KiB;"},
    {"host.firmware_complete=1us", ""},
    {"host.firmware_flush=10us", ""},
    {"host.firmware_trim=10us", ""},
    {"host.firmware_trim_unit=100ns", ""},
    {"ftl.gc_firmware=10us", ""},
    {"ftl.gc_firmware_unit=10us", ""},
    {"ftl.gc_core=on", "ftl.gc_firmware=10us;"},
    {"host.pcie_gen=1", ""},
    {"host.pcie_lanes=1", "host.pcie_gen=1;"},
    {"host.pcie_mps=256", ""},
    {"host.pcie_mrrs=128", "host.pcie_mps=256;"},
    {"host.pcie_rcb=64", "host.pcie_mps=256;"},
    {"host.pcie_dllp=8%", ""},
    {"host.pcie_round_trip=600ns", ""},
    {"host.pcie_nvme=on", "host.pcie_mps=256;"},
    {"nand.cell=mlc", "nand.read_2=90us;"},
    {"nand.read_2=90us", TLC},
    {"nand.read_3=90us", TLC},
    {"nand.read_4=90us", QLC},
    {"nand.program_2=900us", TLC},
    {"nand.program_3=900us", TLC},
    {"nand.program_4=900us", QLC},
    {"nand.slc_blocks=4", TLC "nand.pages=12;"},
    {"nand.slc_read=60us", SLC},
    {"nand.slc_program=300us", SLC},
    {"nand.slc_erase=9ms", SLC},
    {"ftl.slc_fold_at=95%", SLC},
    {"ftl.slc_when_full=fold", SLC},
    {"ftl.slc_dynamic=30%", TLC "nand.pages=12;"},
    {"ftl.slc_streams=none", SLC},
    {"ftl.slc_share=5%", TLC "nand.pages=12;ftl.slc_dynamic=30%;"},
    {"nand.interface=nv-ddr3", ""},
    {"nand.bus_width=16", ""},
    {"nand.status_poll=on", ONFI},
    {"nand.ecc_decode=1us", ""},
    {"nand.ecc_codeword=4KiB", "nand.ecc_decode=20us;"},
    {"nand.lock=plane", "nand.planes=2;ftl.op_percent=90%;"},
    {"nand.multi_plane=on", "nand.planes=2;ftl.op_percent=90%;"},
    {"nand.gc_hold=on", PARALLEL "nand.lock=chip;"
                                 "ftl.op_percent=90%;"},
    {"nand.composite=on", PARALLEL "nand.dies=2;nand.lock=chip;"
                                   "ftl.op_percent=90%;"},
    {"nand.independent_reads=on", PLANES},
    {"superblock.row=die", PLANES},
    {"superblock.row_wait=1us", PLANES "superblock.row=die;"},
    {"superblock.padding=on", PLANES "superblock.row=die;"},
    {"superblock.parity=on", PARALLEL "ftl.op_percent=90%;superblock.row=4;"
                                      "superblock.width=4;"},
    {"nand.async_reads=on", PLANES},
    {"nand.arbitration=group", PLANES},
    {"nand.one_shot=on", TLC "nand.pages=12;"},
    {"nand.copyback=on", "ftl.unit=16KiB;"},
    {"nand.cache_read=on", ""},
    {"nand.register_hits=on", ""},
    {"nand.cache_program=on", ""},
    {"nand.schedule=read-first", ""},
    {"ftl.map=bast", ""},
    {"ftl.map=fast", ""},
    {"ftl.map=fast", "ftl.map=bast;"},
    {"ftl.log_blocks=3", "ftl.map=bast;"},
    {"ftl.log_blocks=3", "ftl.map=fast;"},
    {"ftl.stripe=wcdp", PARALLEL "ftl.op_percent=90%;ftl.map=fast;"},
    {"ftl.wear=dynamic", "ftl.map=fast;"},
    {"nand.write_deadline=100us", "nand.schedule=read-first-deadline;"},
    {"nand.suspend=both", ""},
    {"nand.suspend_limit=1", SUSPEND},
    {"nand.suspend_time=50us", SUSPEND},
    {"nand.resume_time=100us", SUSPEND},
    {"nand.suspend_min_run=300us", SUSPEND},
    {"nand.energy_read=5000", ""},
    {"nand.energy_program=5000", ""},
    {"nand.energy_erase=5000", "ftl.op_percent=90%;nand.blocks=24;"},
    {"nand.energy_bus=5", ""},
};

/*
 * Options with one value only, so far; options that only allow others
 * (registers); options that show when a rule is broken (history) or after hours
 * without power (off_hours: tests/nand both); the seed, which is the
 * generator's (tests/sim): the drive itself draws only with media.* options.
 */
static const char *const no_choice[] = {"seed", "nand.registers",
                                        "media.off_hours", "nand.history"};

static bool has_row(const char *key)
{
    g_autofree char *start = g_strconcat(key, "=", NULL);

    for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
        if (g_str_has_prefix(changes[i].change, start)) {
            return true;
        }
    }
    return false;
}

static bool covered(const char *key)
{
    for (size_t i = 0; i < G_N_ELEMENTS(no_choice); i++) {
        if (strcmp(no_choice[i], key) == 0) {
            return true;
        }
    }
    return has_row(key) || strcmp(key, "faults") == 0 || /* failures.c */
           strcmp(key, "ftl.placement") == 0 ||          /* outside.c */
           strcmp(key, "ftl.trim_unit") == 0 ||          /* controller.c */
           strcmp(key, "ftl.slc_fold_delay") == 0 ||     /* slc-cache.c */
           strcmp(key, "buffer.ignore_flush") == 0 ||    /* power.c */
           strcmp(key, "superblock.close_open") == 0 ||  /* likewise, both */
           strcmp(key, "ftl.recovery_cpu") == 0 ||
           strcmp(key, "fdp.ru_size") == 0 || /* test-fdp-groups.c, these */
           strcmp(key, "fdp.ru_time_limit") == 0 ||
           strcmp(key, "fdp.handles") == 0 ||
           strcmp(key, "host.namespaces") == 0 || /* nvme/test-ns-life.c */
           g_str_has_prefix(key, "zones.") ||     /* zones.c, nvme/test-zns.c */
           g_str_has_prefix(key, "latency.") ||   /* windows.c */
           strcmp(key, "ftl.counters_interval") == 0; /* counters.c */
}

/* An enumeration without a row in changes[] must have one value. */
static void check_no_choice(const char *key)
{
    g_autofree char *set = g_strconcat(key, "=?", NULL);
    SsdConfig *cfg = ssd_config_new();
    GError *error = NULL;

    g_assert_false(ssd_config_set(cfg, set, &error));
    if (!has_row(key) && strchr(error->message, ',')) {
        g_error("%s: has a choice now, give it a row in changes[]",
                error->message);
    }
    g_clear_error(&error);
    ssd_config_free(cfg);
}

static bool value_has_row(const char *key, const char *value)
{
    g_autofree char *set = g_strconcat(key, "=", value, NULL);

    for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
        if (strcmp(changes[i].change, set) == 0) {
            return true;
        }
    }
    return false;
}

/* Each policy that is listed must be seen to differ from the default one. */
static void test_every_policy(void)
{
    static const struct {
        const char *key;
        const char *(*name)(unsigned i);
    } lists[] = {
        {"ftl.gc", ssd_gc_name},
        {"ftl.alloc", ssd_alloc_name},
        {"ftl.map", ssd_map_name},
        {"buffer.policy", ssd_buffer_name},
    };
    SsdConfig *cfg = ssd_config_new();

    for (size_t k = 0; k < G_N_ELEMENTS(lists); k++) {
        g_autofree char *is = ssd_config_get(cfg, lists[k].key);

        for (unsigned i = 0; lists[k].name(i); i++) {
            const char *name = lists[k].name(i);

            if (strcmp(name, is) != 0 && !value_has_row(lists[k].key, name)) {
                g_error("%s has a choice more, %s: give it a row in changes[]",
                        lists[k].key, name);
            }
        }
    }
    ssd_config_free(cfg);
}

/* What most options change is seen in the first run; what GC, wear and ages
 * change, in the second. */
static const int run_requests[] = {1500, 12000};

/* What observe() found; each is run once. */
static const char *observed(GHashTable *all, const char *options, size_t run)
{
    g_autofree char *key = g_strdup_printf("%zu %s", run, options);
    const char *found = g_hash_table_lookup(all, key);

    if (!found) {
        found = observe(options, run_requests[run]);
        g_hash_table_insert(all, g_steal_pointer(&key), (char *)found);
    }
    return found;
}

static bool differ(GHashTable *all, const char *one, const char *other)
{
    for (size_t run = 0; run < G_N_ELEMENTS(run_requests); run++) {
        if (strcmp(observed(all, one, run), observed(all, other, run)) != 0) {
            return true;
        }
    }
    return false;
}

static void test_every_option(void)
{
    g_autoptr(GHashTable) all =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    SsdConfig *cfg = ssd_config_new();
    g_auto(GStrv) lines = printed(cfg);
    g_autofree char *again = observe("", run_requests[1]);

    g_assert_cmpstr(observed(all, "", 1), ==, again);
    for (char **l = lines; *l; l++) {
        g_autofree char *key = key_of(*l);

        if (!covered(key)) {
            g_error("option %s: no test shows that it does anything", key);
        }
    }
    for (size_t i = 1; i < G_N_ELEMENTS(no_choice); i++) {
        check_no_choice(no_choice[i]);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
        const Change *c = &changes[i];
        g_autofree char *both = g_strconcat(c->with, c->change, NULL);

        if (!differ(all, c->with, both)) {
            g_error("option %s changes nothing", c->change);
        }
    }
    ssd_config_free(cfg);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/config/malformed", test_malformed);
    g_test_add_func("/config/print", test_print);
    g_test_add_func("/config/documented", test_documented);
    g_test_add_func("/config/ranges", test_ranges);
    g_test_add_func("/config/combinations", test_combinations);
    g_test_add_func("/config/replaced", test_replaced);
    g_test_add_func("/config/syntax", test_syntax);
    g_test_add_func("/config/set", test_set);
    g_test_add_func("/config/block-bytes", test_block_bytes);
    g_test_add_func("/config/profiles", test_profiles);
    g_test_add_func("/config/shipped", test_shipped);
    g_test_add_func("/config/every-option", test_every_option);
    g_test_add_func("/config/every-policy", test_every_policy);
    return g_test_run();
}
