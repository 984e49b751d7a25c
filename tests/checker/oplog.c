/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oplog.c - operation logs: clean ones pass the checker, and one that has a
 * single field changed does not.
 *
 * Knows the format (oplog.h) and runs vssd-oplog-check as a program, which the
 * environment names: VSSD_OPLOG_CHECK.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <glib/gstdio.h>

#include "nand.h"
#include "inspect/oplog.h"
#include "player.h"
#include "raw-record.h"
#include "ssd-config.h"
#include "ssd-report.h"
#include "ssd-setup.h"
#include "workload.h"

/* ---- making a log -------------------------------------------------------- */

static void play(Player *p, const Ssd *ssd, const char *text)
{
    const SsdInfo *info = ssd_info(ssd);
    GError *error = NULL;
    Workload *w = workload_new(text, info->nblocks * info->block_bytes,
                               info->block_bytes, 7, &error);
    RequestSource source;

    g_assert_no_error(error);
    source = workload_source(w);
    g_assert_true(player_run(p, &source, &error));
    g_assert_no_error(error);
    workload_free(w);
}

static void ignore_unit(void *opaque, uint64_t lpn, uint64_t version)
{
}

static const SsdHostOps host = {
    .programmed = ignore_unit,
    .superseded = ignore_unit,
};

/* Trims, flushes, FUA writes and power cuts, which the generator does not
 * make. */
static void play_odd(Ssd *ssd, bool cuts)
{
    const SsdInfo *info = ssd_info(ssd);
    uint64_t now = 10000 * NS_PER_S; /* long after what was played before */
    SsdCompletion done[64];
    uint64_t n_done = 0;
    uint64_t lba = 1;

    for (uint64_t i = 0; i < 4000; i++) {
        SsdCmd cmd = {
            .tag = i,
            .version = 1000000000 + i,
            .op = i % 37 == 36 ? SSD_OP_FLUSH : i % 5 == 4 ? SSD_OP_TRIM
                  : i % 2 ? SSD_OP_WRITE : SSD_OP_READ,
            .fua = i % 16 == 1,
            .lba = lba,
            .nblocks = 1 + i % 61,
        };

        if (cmd.op == SSD_OP_TRIM && i % 500 == 4) {
            cmd.nblocks = (uint32_t)(info->nblocks - lba) / 64 + 1;
        }
        if (info->host_streams > 1) {
            cmd.stream = (uint16_t)(i / 8 % info->host_streams);
            cmd.close = info->ruhs && i / 37 % 3; /* of flushes */
        }
        if (i % 301 == 300 && info->host_streams > 1 && !info->ruhs) {
            ssd_stream_close(ssd, now, i / 301 % info->host_streams);
        }

        lba = (lba * 2862933555777941757ULL + 3037000493ULL) %
              (info->nblocks - 64);
        now += i % 64 == 0 ? 5000000 : 1000;
        if (ssd_submit(ssd, now, &cmd) != 0) {
            n_done++;
        }
        n_done += ssd_advance(ssd, now, done, G_N_ELEMENTS(done));
        if (cuts && i % 97 == 96) {
            ssd_power_cut(ssd, now);
            ssd_power_on(ssd, now);
        }
    }
    while (n_done < 4000) {
        now = MAX(now, ssd_next_event_ns(ssd));
        n_done += ssd_advance(ssd, now, done, G_N_ELEMENTS(done));
    }
}

static char *log_path(void)
{
    char *path;
    int fd = g_file_open_tmp("vssd-oplog-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    return path;
}

/* Run a drive and leave its log at path. */
static void make_log(const char *profile, const char *set, PlayerFill fill,
                     bool cuts, const char *path)
{
    g_autofree char *ini = g_strdup_printf("%s/%s.ini", VSSD_PROFILE_DIR,
                                           profile);
    SsdConfig *cfg = ssd_config_new();
    PlayerConfig player = {.wrap = false};
    GError *error = NULL;
    Player *p;
    Ssd *ssd;

    ssd_config_load(cfg, ini, &error);
    g_assert_no_error(error);
    ssd_config_set(cfg, set, &error);
    g_assert_no_error(error);
    cfg->trim_group_shift = 1; /* trims in several steps */
    cfg->trim_step = 1;
    ssd = ssd_create(cfg, cuts ? &host : NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(ssd_oplog_open(ssd, path, &error));
    p = player_new(ssd, &player);
    g_assert_true(player_fill(p, fill, 3, &error));
    play(p, ssd, "rw=randrw bs=4k iodepth=16 number_ios=6000 fsync=100");
    play(p, ssd, "rw=rw bssplit=512/20:4k/30:64k/50 iodepth=4 number_ios=1000");
    if (cuts) { /* slow writes, so that blocks are emptied one by one */
        play(p, ssd, "rw=randwrite bs=4k rate_iops=4000 number_ios=1000");
    }
    play_odd(ssd, cuts);
    g_assert_true(ssd_check(ssd, &error));
    g_assert_no_error(error);
    g_assert_true(ssd_oplog_close(ssd, &error));
    player_free(p);
    ssd_destroy(ssd);
    ssd_config_free(cfg);
}

/* Exit status of the checker; *said is its output. */
static int check_log(const char *path, char **said)
{
    char *argv[] = {(char *)g_getenv("VSSD_OPLOG_CHECK"), (char *)path, NULL};
    g_autofree char *figures = NULL;
    GError *error = NULL;
    int status;

    g_assert_nonnull(argv[0]);
    g_spawn_sync(NULL, argv, NULL, 0, NULL, NULL, &figures, said, &status,
                 &error);
    g_assert_no_error(error);
    g_assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* ---- clean logs ---------------------------------------------------------- */

typedef struct Clean {
    const char *name;
    const char *profile;
    const char *set;
    PlayerFill fill;
    bool cuts;
} Clean;

/* The drive empties blocks by itself, too. */
#define UPKEEP                                                                 \
    "nand.blocks=48;ftl.op_percent=60%;nand.read=5us;nand.program=20us;"       \
    "nand.erase=50us;ftl.gc_soft=10%;ftl.idle=2us;ftl.gc_preempt=on;"          \
    "ftl.wear=static;ftl.wear_spread=1;media.errors=on;media.base=1e-4;"       \
    "media.preload_hours=5;ftl.refresh_hours=1;ftl.scan_interval=10ms;"
#define ONE_SHOT                                                               \
    "nand.cell=tlc;nand.one_shot=on;nand.pages=18;nand.slc_blocks=4"
#define SLC_CACHE                                                              \
    "nand.cell=tlc;nand.pages=18;ftl.slc_dynamic=60%;ftl.op_percent=60%;"      \
    "nand.blocks=48;ftl.slc_fold_delay=1ms;nand.slc_erase=1ms;"
#define PAIRED "nand.cell=tlc;nand.pages=18;nand.program_wear=10%;"
#define RICH "nand.multi_plane=on;nand.planes=2;nand.blocks=32;"                \
             "nand.channels=1;nand.dies=2;"

#define STREAMS RICH "nand.blocks=100;ftl.op_percent=70%;"

static const Clean cleans[] = {
    {"tiny", "tiny", "", PLAYER_FILL_RANDOM, false},
    {"empty", "tiny", "", PLAYER_FILL_NONE, false},
    {"preload", "tiny", "", PLAYER_FILL_PRELOAD, false},
    {"onfi", "tiny", "nand.interface=nv-ddr3;nand.status_poll=on",
     PLAYER_FILL_RANDOM, false},
    {"sdr", "tiny", "nand.interface=sdr", PLAYER_FILL_PRELOAD, false},
    {"chip", "tiny", "nand.lock=chip", PLAYER_FILL_RANDOM, false},
    {"plane", "tiny", "nand.lock=plane;nand.planes=2;nand.channels=1",
     PLAYER_FILL_RANDOM, false},
    {"multi-plane", "tiny", RICH, PLAYER_FILL_RANDOM, false},
    {"independent", "tiny", RICH "nand.independent_reads=on",
     PLAYER_FILL_RANDOM, false},
    {"async", "tiny", RICH "nand.async_reads=on", PLAYER_FILL_RANDOM, false},
    {"async-cache", "tiny",
     RICH "nand.async_reads=on;nand.cache_read=on;"
          "nand.suspend=both;nand.arbitration=group",
     PLAYER_FILL_RANDOM, false},
    {"async-cuts", "tiny", RICH "nand.async_reads=on", PLAYER_FILL_RANDOM,
     true},
    {"cache", "tiny", "nand.cache_read=on;nand.cache_program=on",
     PLAYER_FILL_RANDOM, false},
    {"cache-multi", "tiny", RICH "nand.cache_read=on;nand.cache_program=on",
     PLAYER_FILL_RANDOM, false},
    {"suspend", "tiny", "nand.suspend=both;nand.schedule=read-first",
     PLAYER_FILL_RANDOM, false},
    {"suspend-multi", "tiny", RICH "nand.suspend=both;nand.schedule=host-first",
     PLAYER_FILL_RANDOM, false},
    {"copyback", "tiny", "nand.copyback=on", PLAYER_FILL_RANDOM, false},
    {"one-shot", "tiny", "nand.cell=tlc;nand.one_shot=on;nand.pages=18",
     PLAYER_FILL_RANDOM, false},
    {"mlc", "tiny", "nand.cell=mlc;nand.read_2=80us;nand.program_2=900us",
     PLAYER_FILL_RANDOM, false},
    {"slc-mode", "tiny", "nand.cell=tlc;nand.pages=18;nand.slc_blocks=4",
     PLAYER_FILL_RANDOM, false},
    {"slc-mode-one-shot", "tiny",
     "nand.cell=tlc;nand.one_shot=on;nand.pages=18;nand.slc_blocks=4",
     PLAYER_FILL_RANDOM, false},
    {"slc-cache", "tiny", SLC_CACHE "nand.slc_blocks=2", PLAYER_FILL_NONE,
     false},
    {"power-cuts-slc-cache", "tiny",
     SLC_CACHE "nand.one_shot=on;ftl.slc_when_full=fold", PLAYER_FILL_NONE,
     true},
    {"power-cuts", "tiny", "", PLAYER_FILL_RANDOM, true},
    {"power-cuts-features", "tiny",
     RICH "nand.cache_program=on;"
          "nand.suspend=both;nand.copyback=on",
     PLAYER_FILL_RANDOM, true},
    {"power-cuts-one-shot", "tiny", ONE_SHOT, PLAYER_FILL_RANDOM, true},
    {"power-cuts-paired", "tiny", PAIRED "media.paired_pages=on",
     PLAYER_FILL_RANDOM, true},
    {"power-cuts-paired-copyback", "tiny",
     PAIRED "media.paired_pages=on;nand.copyback=on", PLAYER_FILL_RANDOM, true},
    {"power-cuts-backup", "tiny", PAIRED "media.paired_pages=backup",
     PLAYER_FILL_RANDOM, true},
    {"power-cuts-superblock", "tiny",
     RICH "ftl.alloc=in-order;superblock.width=drive", PLAYER_FILL_RANDOM,
     true},
    {"power-cuts-failures", "tiny",
     "media.program_fail=0.001;nand.blocks=48;"
     "media.erase_fail=0.001;ftl.op_percent=60%",
     PLAYER_FILL_RANDOM, true},
    {"power-cuts-protected", "tiny", "buffer.plp=on;ftl.unit=8KiB",
     PLAYER_FILL_RANDOM, true},
    {"dftl", "tiny", "ftl.map=dftl;ftl.map_cache=1KiB;ftl.op_percent=100%",
     PLAYER_FILL_RANDOM, false},
    {"dftl-preload", "tiny",
     "ftl.map=dftl;ftl.map_cache=1KiB;nand.copyback=on;"
     "ftl.op_percent=100%",
     PLAYER_FILL_PRELOAD, true},
    {"dftl-power-cuts-failures", "tiny",
     "ftl.map=dftl;ftl.map_cache=1KiB;"
     "media.program_fail=0.001;nand.blocks=48;ftl.op_percent=100%;"
     "media.erase_fail=0.001;ftl.unit=512;nand.page_size=2KiB;"
     "nand.ecc_codeword=512",
     PLAYER_FILL_RANDOM, true},
    {"ignored-flushes", "tiny", "buffer.ignore_flush=on", PLAYER_FILL_RANDOM,
     true},
    {"retry", "tiny",
     "media.errors=on;media.start_cycles=2500;"
     "media.preload_hours=2000;media.retry_time=20us;nand.ecc_decode=2us",
     PLAYER_FILL_PRELOAD, false},
    {"retry-features", "tiny",
     RICH "media.errors=on;media.start_cycles=2500;media.preload_hours=2000;"
          "nand.cache_read=on;nand.suspend=both",
     PLAYER_FILL_PRELOAD, false},
    {"failures", "tiny",
     "media.program_fail=0.002;media.erase_fail=0.001;"
     "media.factory_bad=2%;nand.blocks=48;ftl.op_percent=60%",
     PLAYER_FILL_RANDOM, false},
    {"failures-copyback", "tiny",
     "media.program_fail=0.001;nand.copyback=on;"
     "nand.blocks=48;ftl.op_percent=60%",
     PLAYER_FILL_RANDOM, false},
    {"failures-one-shot", "tiny",
     "media.program_fail=0.001;nand.blocks=48;"
     "nand.cell=tlc;nand.one_shot=on;nand.pages=18;nand.slc_blocks=4;"
     "ftl.op_percent=90%",
     PLAYER_FILL_RANDOM, false},
    {"upkeep", "tiny", UPKEEP, PLAYER_FILL_PRELOAD, false},
    {"power-cuts-upkeep", "tiny", UPKEEP "nand.copyback=on",
     PLAYER_FILL_PRELOAD, true},
    {"read-ahead", "tiny",
     "host.read_ahead=128KiB;host.read_ahead_after=1;nand.register_hits=on",
     PLAYER_FILL_RANDOM, false},
    {"power-cuts-read-ahead", "tiny",
     "host.read_ahead=64KiB;host.read_ahead_after=1;host.pcie_mps=256;"
     "host.pcie_nvme=on;host.firmware_complete=1us;ftl.gc_firmware=5us",
     PLAYER_FILL_RANDOM, true},
    {"ecc", "tiny", "nand.ecc_decode=10us", PLAYER_FILL_RANDOM, false},
    {"data-in", "tiny", "host.complete_at=data-in", PLAYER_FILL_RANDOM, false},
    {"at-program", "tiny", "host.complete_at=program", PLAYER_FILL_RANDOM,
     false},
    {"free-at-data-in", "tiny", "buffer.free_at=data-in", PLAYER_FILL_RANDOM,
     false},
    {"write-through", "tiny", "buffer.policy=none", PLAYER_FILL_RANDOM, false},
    {"lru", "tiny", "buffer.policy=lru;buffer.size=1MiB", PLAYER_FILL_RANDOM,
     false},
    {"cflru", "tiny",
     "buffer.policy=cflru;buffer.size=1MiB;buffer.window=50%;"
     "buffer.free_at=data-in",
     PLAYER_FILL_RANDOM, false},
    {"early-flush", "tiny",
     "buffer.policy=cflru-ef-sc;buffer.size=1MiB;"
     "buffer.early_threshold=20%",
     PLAYER_FILL_RANDOM, false},
    {"power-cuts-lru", "tiny", "buffer.policy=lru;buffer.size=1MiB",
     PLAYER_FILL_RANDOM, true},
    {"bast", "tiny", "ftl.map=bast;ftl.log_blocks=2", PLAYER_FILL_RANDOM,
     false},
    {"fast", "tiny", "ftl.map=fast", PLAYER_FILL_PRELOAD, false},
    {"bast-one-shot", "tiny",
     "ftl.map=bast;nand.cell=tlc;nand.one_shot=on;"
     "nand.pages=18",
     PLAYER_FILL_RANDOM, false},
    {"fast-multi-plane", "tiny", RICH "ftl.map=fast;ftl.log_blocks=2",
     PLAYER_FILL_RANDOM, false},
    {"power-cuts-bast", "tiny", "ftl.map=bast;ftl.log_blocks=1",
     PLAYER_FILL_RANDOM, true},
    {"power-cuts-fast", "tiny", "ftl.map=fast;ftl.log_blocks=3;ftl.unit=8KiB",
     PLAYER_FILL_RANDOM, true},
    {"streams", "tiny", STREAMS "streams.max=3", PLAYER_FILL_RANDOM, false},
    {"streams-merged", "tiny", STREAMS "streams.max=3;streams.gc=merge",
     PLAYER_FILL_RANDOM, true},
    {"fdp-failures", "tiny",
     STREAMS "fdp.ruhs=4;ftl.alloc=in-order;"
             "superblock.width=drive;media.program_fail=0.001",
     PLAYER_FILL_RANDOM, true},
    {"fdp", "tiny", STREAMS "fdp.ruhs=3", PLAYER_FILL_RANDOM, false},
    {"fdp-groups", "tiny", STREAMS "fdp.ruhs=2;fdp.groups=2",
     PLAYER_FILL_RANDOM, false},
    {"fdp-groups-merged", "tiny",
     STREAMS "fdp.ruhs=3;fdp.groups=2;fdp.isolation=initial;"
             "ftl.alloc=in-order",
     PLAYER_FILL_RANDOM, false},
    {"fdp-isolation", "tiny",
     STREAMS "fdp.ruhs=4;fdp.isolation=initial/persistent/initial",
     PLAYER_FILL_RANDOM, false},
    {"hot-cold", "tiny", STREAMS "ftl.hot_cold=on", PLAYER_FILL_RANDOM, true},
    {"zero", "zero-latency", "nand.blocks=16;nand.pages=16;ftl.op_percent=120",
     PLAYER_FILL_RANDOM, false},
};

static void test_clean(gconstpointer data)
{
    const Clean *c = data;
    g_autofree char *path = log_path();
    g_autofree char *said = NULL;
    int status;

    make_log(c->profile, c->set, c->fill, c->cuts, path);
    status = check_log(path, &said);
    g_unlink(path);
    g_assert_cmpstr(said, ==, "");
    g_assert_cmpint(status, ==, 0);
}

/* ---- one field changed --------------------------------------------------- */

static struct {
    char *bytes;
    gsize len;
    size_t n;
    uint32_t blocks; /* per plane */
    uint32_t pages;  /* per block */
    uint32_t units_per_page;
} log0;

static OplogRecord get(size_t i)
{
    return raw_get(log0.bytes, i);
}

static void load_log_of(const char *set, bool cuts)
{
    g_autofree char *path = log_path();
    uint32_t word;

    g_free(log0.bytes);
    make_log("tiny", set, PLAYER_FILL_RANDOM, cuts, path);
    g_assert_true(g_file_get_contents(path, &log0.bytes, &log0.len, NULL));
    g_unlink(path);
    log0.n = (log0.len - OPLOG_HEADER_BYTES) / OPLOG_RECORD_BYTES;
    memcpy(&word, log0.bytes + 32, 4);
    log0.blocks = word;
    memcpy(&word, log0.bytes + 36, 4);
    log0.pages = word;
    memcpy(&word, log0.bytes + 40, 4);
    log0.units_per_page = word;
    memcpy(&word, log0.bytes + 44, 4);
    log0.units_per_page /= word;
}

static void load_log(void)
{
    if (!log0.bytes) {
        load_log_of("", false);
    }
}

/* The first record from the middle of the log on, of a type, and with an `a`
 * (or any: -1). */
static size_t find_from(size_t i, OplogType type, int a)
{
    for (; i < log0.n; i++) {
        OplogRecord r = get(i);

        if (r.type == type && (a < 0 || r.a == a)) {
            return i;
        }
    }
    g_assert_not_reached();
}

static size_t find(OplogType type, int a)
{
    return find_from(log0.n / 2, type, a);
}

static void expect(size_t i, const OplogRecord *changed, const char *rule)
{
    g_autofree char *path = log_path();
    g_autofree char *said = NULL;
    g_autofree char *wanted = g_strdup_printf("broken rule: %s:", rule);
    g_autofree char *copy = g_memdup2(log0.bytes, log0.len);
    int status;

    raw_set(copy, i, changed);
    g_assert_true(g_file_set_contents(path, copy, (gssize)log0.len, NULL));
    status = check_log(path, &said);
    g_unlink(path);
    if (status != 1 || !g_str_has_prefix(said, wanted)) {
        g_test_message("expected %s; the checker said: %s", wanted, said);
    }
    g_assert_cmpint(status, ==, 1);
    g_assert_true(g_str_has_prefix(said, wanted));
}

/* A record, and the statement that changes one field of it. */
#define MUTATE(index, change, rule)                                            \
    do {                                                                       \
        size_t i_ = (index);                                                   \
        OplogRecord r = get(i_);                                               \
                                                                               \
        change;                                                                \
        expect(i_, &r, rule);                                                  \
    } while (0)

static void test_requests(void)
{
    load_log();
    MUTATE(find(OPLOG_CMD_DONE, 0), r.x += 100000, "request");
    MUTATE(find(OPLOG_CMD_DONE, 0), r.x = 1, "request");
    MUTATE(find(OPLOG_CMD, SSD_OP_READ), r.x = get(find(OPLOG_CMD, -1)).x - 1,
           "request");
    MUTATE(find(OPLOG_CMD, SSD_OP_READ), r.y = UINT64_MAX / 2, "request");
    MUTATE(log0.n - 1, r.c = 1, "request");
    MUTATE(find(OPLOG_LOOKUP, -1), r.c++, "request");
    MUTATE(find(OPLOG_BUFFER, -1), r.c++, "request");
    MUTATE(find(OPLOG_TRIM, -1), r.c++, "request");
}

/* A page that is lost for no reason; a read of one that is lost, which says
 * that all is well. */
static void test_paired(void)
{
    size_t i;
    OplogRecord lost;

    load_log_of(PAIRED "media.paired_pages=on", true);
    i = find_from(0, OPLOG_LOST_PAGE, -1);
    lost = get(i);
    MUTATE(i, r.c += 9, "paired-pages");
    MUTATE(i, r.c = lost.c / 3 * 3 + 2, "paired-pages");
    MUTATE(find_from(i, OPLOG_DONE, NAND_UNCORRECTABLE), r.a = 0,
           "paired-pages");
    g_clear_pointer(&log0.bytes, g_free);
}

static void test_slc_mode(void)
{
    const uint8_t slc = NAND_PROGRAM | OPLOG_SLC;
    size_t i;

    load_log_of(SLC_CACHE "nand.slc_blocks=2", false);
    i = find(OPLOG_SUBMIT, slc);
    MUTATE(i, r.a = NAND_PROGRAM, "slc-mode");
    while (get(i).c % 18 == 0) {
        i = find_from(i + 1, OPLOG_SUBMIT, slc);
    }
    MUTATE(i, r.a = NAND_PROGRAM, "slc-mode");
    i = find(OPLOG_SUBMIT, NAND_PROGRAM);
    while (get(i).c % 18 == 0) {
        i = find_from(i + 1, OPLOG_SUBMIT, NAND_PROGRAM);
    }
    MUTATE(i, r.a = slc, "slc-mode");
    g_clear_pointer(&log0.bytes, g_free);
}

static void test_bytes(void)
{
    load_log();
    MUTATE(find(OPLOG_CMD, SSD_OP_READ), r.c += 16, "bytes");
    MUTATE(find(OPLOG_CMD, SSD_OP_WRITE), r.c += 16, "bytes");
    MUTATE(find(OPLOG_SUBMIT, NAND_PROGRAM), r.bytes -= 4096, "bytes");
    for (size_t i = find(OPLOG_SUBMIT, NAND_READ);;
         i = find_from(i + 1, OPLOG_SUBMIT, NAND_READ)) {
        if (get(i).y) { /* for a command */
            MUTATE(i, r.bytes -= 512, "bytes");
            break;
        }
    }
    MUTATE(find(OPLOG_PLACE, 0), r.c ^= 64, "bytes");
}

static void test_map(void)
{
    load_log();
    MUTATE(find(OPLOG_LOOKUP, OPLOG_IN_NAND), r.y++, "map");
    MUTATE(find(OPLOG_LOOKUP, OPLOG_IN_NAND), r.a = OPLOG_IN_BUFFER, "map");
    MUTATE(find(OPLOG_LOOKUP, OPLOG_IN_BUFFER), r.a = OPLOG_UNMAPPED, "map");
    MUTATE(find(OPLOG_LOOKUP, OPLOG_IN_BUFFER), r.a = OPLOG_CACHED, "map");
    MUTATE(find(OPLOG_LOOKUP, OPLOG_IN_NAND), r.a = OPLOG_CACHED, "bytes");
    MUTATE(find(OPLOG_LOOKUP, OPLOG_UNMAPPED), r.a = OPLOG_IN_BUFFER, "map");
    MUTATE(find(OPLOG_PLACE, 1), r.x++, "map");
    MUTATE(find(OPLOG_PLACE, 1), r.y += 64 * log0.pages, "map");
    MUTATE(find(OPLOG_PLACE, 0), r.y += 64 * log0.pages, "map");
    MUTATE(find(OPLOG_PLACE, 0), r.y = UINT32_MAX, "map");
}

/* A unit that another page of the block, or its write, says to be of another
 * stream. */
static void test_streams(void)
{
    uint64_t half;
    size_t i;

    load_log_of(STREAMS "streams.max=3", false);
    MUTATE(find(OPLOG_PLACE, 0), r.b ^= 3, "stream");
    MUTATE(find(OPLOG_PLACE, 1), r.b ^= 3, "stream");
    for (i = find(OPLOG_PLACE, 0); get(i).b == 0 || get(i - 1).b != get(i).b ||
                                   get(i - 1).type != OPLOG_PLACE;) {
        i = find_from(i + 1, OPLOG_PLACE, 0);
    }
    MUTATE(i, r.b = 0, "stream");
    for (i = find(OPLOG_BUFFER, -1); get(i).b == 0;) {
        i = find_from(i + 1, OPLOG_BUFFER, -1);
    }
    MUTATE(i, r.b ^= 4, "stream");
    g_clear_pointer(&log0.bytes, g_free);
    /* A copy in a plane of another reclaim group. */
    load_log_of(STREAMS "fdp.ruhs=2;fdp.groups=2", false);
    i = find(OPLOG_PLACE, 1);
    half =
        2ULL * log0.blocks * log0.pages * log0.units_per_page; /* of 4 planes */
    MUTATE(i, r.y = (r.y + half) % (2 * half), "stream");
    g_clear_pointer(&log0.bytes, g_free);
}

/* Only equal data may take the place of a copy: not the next unit. */
static void test_take_back(void)
{
    load_log_of(ONE_SHOT, true);
    MUTATE(find_from(0, OPLOG_TAKE_BACK, -1), r.y++, "map");
    MUTATE(find_from(0, OPLOG_TAKE_BACK, -1), r.y = 0, "map");
    g_clear_pointer(&log0.bytes, g_free);
}

static void test_lost_data(void)
{
    uint64_t page;

    load_log();
    /* The erase goes to the block that was programmed last before it. */
    page = get(find(OPLOG_SUBMIT, NAND_PROGRAM)).c;
    MUTATE(find_from(find(OPLOG_SUBMIT, NAND_PROGRAM) + 2000, OPLOG_SUBMIT,
                     NAND_ERASE),
           r.c = page - page % log0.pages, "lost-data");
}

static void test_medium(void)
{
    size_t i = find(OPLOG_SUBMIT, NAND_PROGRAM);
    uint64_t page;

    load_log();
    while (get(i).c % log0.pages == 0 ||
           get(i).c % log0.pages == log0.pages - 1) {
        i = find_from(i + 1, OPLOG_SUBMIT, NAND_PROGRAM);
    }
    page = get(i).c;
    MUTATE(i, r.c++, "page-order");
    MUTATE(i, r.c -= r.c % log0.pages, "erase-before-program");
    MUTATE(find_from(i, OPLOG_SUBMIT, NAND_READ), r.c = page, /* just begun */
           "read-unprogrammed");
    MUTATE(find_from(i, OPLOG_SUBMIT, NAND_READ),
           r.c = page - page % log0.pages + log0.pages - 1,
           "read-unprogrammed");
    /* The end of an erase goes missing, so the next program is too early. */
    MUTATE(find(OPLOG_DONE, 0), r.x += 1000000, "operation");
}

static void test_operation(void)
{
    load_log();
    MUTATE(find(OPLOG_SPAN, NAND_SPAN_CELL), r.a = NAND_SPAN_GAP, "operation");
    MUTATE(find(OPLOG_SPAN, NAND_SPAN_OUT), r.a = NAND_SPAN_STATUS,
           "operation");
    MUTATE(find(OPLOG_SPAN, NAND_SPAN_IN), r.a = 99, "operation");
    MUTATE(find(OPLOG_SUBMIT, NAND_READ), r.c = UINT32_MAX, "operation");
    MUTATE(find(OPLOG_SUBMIT, NAND_READ), r.a = NAND_N_KINDS, "operation");
    MUTATE(find(OPLOG_SUBMIT, -1), r.x += 1000000, "operation");
}

static void test_time(void)
{
    load_log();
    MUTATE(find(OPLOG_SPAN, -1), r.at_ps = 1, "time");
    MUTATE(find(OPLOG_SPAN, NAND_SPAN_OUT), r.y = r.at_ps + 1, "time");
    MUTATE(find(OPLOG_SPAN, NAND_SPAN_IN), r.y = 0, "time");
    MUTATE(find(OPLOG_SPAN, NAND_SPAN_OUT), r.y = r.at_ps - 1, "duration");
    MUTATE(find(OPLOG_SPAN, NAND_SPAN_CELL), r.y = r.at_ps - 1, "duration");
    MUTATE(find(OPLOG_SPAN, NAND_SPAN_IN), r.b ^= 1, "resource");
    MUTATE(find(OPLOG_SPAN, NAND_SPAN_CELL), r.b ^= 1, "resource");
}

/* A transfer that began a picosecond before the bus was free. */
static size_t bus_in_use(void)
{
    uint64_t end[64] = {0};

    for (size_t i = 0; i < log0.n; i++) {
        OplogRecord r = get(i);

        if (r.type != OPLOG_SPAN || r.a > NAND_SPAN_OUT) {
            continue;
        }
        /* OUT comes long after the submission, so an earlier begin is not
         * before that. */
        if (r.a == NAND_SPAN_OUT && i > log0.n / 2 && r.y == end[r.b]) {
            return i;
        }
        end[r.b] = r.at_ps;
    }
    g_assert_not_reached();
}

/*
 * A span of an operation that was submitted while another was in the array of
 * its plane (a die of one plane here); *end: until when that was.
 */
static size_t array_in_use(NandSpan span, uint64_t *end)
{
    g_autoptr(GHashTable) ops = g_hash_table_new(NULL, NULL);
    uint64_t busy[64] = {0};
    size_t found = 0;

    for (size_t i = 0; i < log0.n && found == 0; i++) {
        OplogRecord r = get(i);
        gpointer id = GSIZE_TO_POINTER(r.x);
        size_t submit = GPOINTER_TO_SIZE(g_hash_table_lookup(ops, id));
        uint32_t plane;

        if (r.type == OPLOG_SUBMIT) {
            g_hash_table_insert(ops, id, GSIZE_TO_POINTER(i));
        }
        if (r.type != OPLOG_SPAN) {
            continue;
        }
        plane = (uint32_t)(get(submit).c / log0.pages / log0.blocks);
        if (i > log0.n / 2 && r.a == span &&
            get(submit).at_ps < busy[plane] - 1) {
            *end = busy[plane];
            found = i;
        }
        if (r.a == NAND_SPAN_CELL) {
            busy[plane] = r.at_ps;
        }
    }
    g_assert_cmpuint(found, >, 0);
    return found;
}

static void test_overlap(void)
{
    uint64_t end;
    size_t i;

    load_log();
    MUTATE(bus_in_use(), r.y--, "overlap");
    i = array_in_use(NAND_SPAN_CELL, &end);
    MUTATE(i, r.y = end - 1, "overlap");
    i = array_in_use(NAND_SPAN_IN, &end);
    MUTATE(i, r.y = end - 1, "overlap");
}

static void test_durability(void)
{
    load_log();
    MUTATE(find(OPLOG_CMD, SSD_OP_WRITE), r.a |= 0x80, "durability");
}

/* A command that is done before its time: the record of its end comes right after
 * that of its submission.  Does the checker find out? */
static bool finds_early_end(size_t cmd)
{
    uint64_t serial = get(cmd).x;
    size_t end = find_from(cmd, OPLOG_CMD_DONE, 0);
    g_autofree char *path = log_path();
    g_autofree char *said = NULL;
    g_autofree char *copy = NULL;
    OplogRecord r;
    int status;

    copy = g_memdup2(log0.bytes, log0.len);
    while (get(end).x != serial) {
        end = find_from(end + 1, OPLOG_CMD_DONE, 0);
    }
    for (size_t i = end; i > cmd + 1; i--) {
        r = get(i - 1);
        raw_set(copy, i, &r);
    }
    r = get(end);
    r.at_ps = get(cmd).at_ps;
    raw_set(copy, cmd + 1, &r);
    g_assert_true(g_file_set_contents(path, copy, (gssize)log0.len, NULL));
    status = check_log(path, &said);
    g_unlink(path);
    g_assert_true(status == 0 ||
                  g_str_has_prefix(said, "broken rule: durability:"));
    return status != 0;
}

static void test_flush(void)
{
    load_log();
    g_assert_true(finds_early_end(find(OPLOG_CMD, SSD_OP_FLUSH)));
}

/* The same of flushes that end a stream, if the buffer holds anything of it. */
static void test_close(void)
{
    unsigned found = 0;
    size_t i;

    load_log_of(STREAMS "fdp.ruhs=3", false);
    i = find(OPLOG_CMD, SSD_OP_FLUSH | 0x40);
    for (unsigned n = 0; n < 8; n++) {
        found += finds_early_end(i);
        i = find_from(i + 1, OPLOG_CMD, SSD_OP_FLUSH | 0x40);
    }
    g_test_message("%u of 8", found);
    g_assert_cmpuint(found, >=, 3);
}

static void test_format(void)
{
    g_autofree char *path = log_path();
    g_autofree char *said = NULL;
    g_autofree char *text = NULL;
    g_autofree char *refused = NULL;
    char early[OPLOG_HEADER_BYTES] = "";

    load_log();
    MUTATE(find(OPLOG_SPAN, -1), r.type = 200, "format");
    MUTATE(log0.n - 1, r.x--, "format");
    MUTATE(log0.n - 1, r.type = OPLOG_POWER_CUT, "format");
    /* Cut short; and no log at all. */
    g_assert_true(g_file_set_contents(path, log0.bytes,
                                      (gssize)log0.len - 48, NULL));
    g_assert_cmpint(check_log(path, &said), ==, 1);
    g_assert_true(g_str_has_prefix(said, "broken rule: format:"));
    g_assert_true(g_file_set_contents(path, "hello", -1, NULL));
    g_assert_cmpint(check_log(path, &text), ==, 2);
    memcpy(early, "VSSDLOG1", 8);
    g_assert_true(g_file_set_contents(path, early, sizeof(early), NULL));
    g_assert_cmpint(check_log(path, &refused), ==, 2);
    g_assert_nonnull(strstr(refused, "before 1.0: make it again\n"));
    g_unlink(path);
}

/* A rule that is broken inside the model comes with the block's history. */
static void test_history(void)
{
    g_autofree char *path = log_path();
    g_autofree char *said = NULL;
    size_t i = find(OPLOG_SUBMIT, NAND_PROGRAM);
    g_autofree char *copy = NULL;
    OplogRecord r;

    load_log();
    copy = g_memdup2(log0.bytes, log0.len);
    while (get(i).c % log0.pages < 2) {
        i = find_from(i + 1, OPLOG_SUBMIT, NAND_PROGRAM);
    }
    r = get(i);
    r.c -= r.c % log0.pages;
    raw_set(copy, i, &r);
    g_assert_true(g_file_set_contents(path, copy, (gssize)log0.len, NULL));
    g_assert_cmpint(check_log(path, &said), ==, 1);
    g_unlink(path);
    g_assert_nonnull(strstr(said, "history of block"));
    g_assert_nonnull(strstr(strstr(said, "history of block"), ": submit a=1"));
}

/* The checker begins with an empty drive: a log of another is refused. */
static void test_used_drive(void)
{
    g_autofree char *ini = g_strdup_printf("%s/tiny.ini", VSSD_PROFILE_DIR);
    g_autofree char *path = log_path();
    SsdConfig *cfg = ssd_config_new();
    GError *error = NULL;
    Ssd *ssd;

    g_assert_cmpint(g_unlink(path), ==, 0);
    ssd_config_load(cfg, ini, &error);
    g_assert_no_error(error);
    ssd = ssd_create(cfg, NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpint(ssd_preload(ssd, 0, 8), ==, 0);
    g_assert_false(ssd_oplog_open(ssd, path, &error));
    g_assert_error(error, OPT_ERROR, OPT_ERROR_COMBINATION);
    g_assert_nonnull(strstr(error->message, path));
    g_clear_error(&error);
    g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
    ssd_destroy(ssd);
    ssd_config_free(cfg);
}

/* A drive that did nothing: no rule is checked, so the log does not pass. */
static void test_nothing(void)
{
    static const PlayerFill fills[] = {PLAYER_FILL_NONE, PLAYER_FILL_PRELOAD};

    for (unsigned i = 0; i < G_N_ELEMENTS(fills); i++) {
        PlayerConfig player = {.wrap = false};
        g_autofree char *path = log_path();
        g_autofree char *said = NULL;
        SsdConfig *cfg = ssd_config_new();
        GError *error = NULL;
        Player *p;
        Ssd *ssd;
        int status;

        ssd_config_load(cfg, VSSD_PROFILE_DIR "/tiny.ini", &error);
        g_assert_no_error(error);
        ssd = ssd_create(cfg, NULL, NULL, &error);
        g_assert_no_error(error);
        g_assert_true(ssd_oplog_open(ssd, path, &error));
        p = player_new(ssd, &player);
        g_assert_true(player_fill(p, fills[i], 3, &error));
        g_assert_true(ssd_oplog_close(ssd, &error));
        player_free(p);
        ssd_destroy(ssd);
        ssd_config_free(cfg);
        status = check_log(path, &said);
        g_unlink(path);
        g_assert_cmpint(status, ==, 2);
        g_assert_nonnull(strstr(said, "no rule was checked"));
        g_assert_true(strchr(said, '\n') == said + strlen(said) - 1);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(cleans); i++) {
        g_autofree char *name = g_strdup_printf("/oplog/clean/%s",
                                                cleans[i].name);

        g_test_add_data_func(name, &cleans[i], test_clean);
    }
    load_log();
    g_test_add_func("/oplog/changed/requests", test_requests);
    g_test_add_func("/oplog/changed/slc-mode", test_slc_mode);
    g_test_add_func("/oplog/changed/bytes", test_bytes);
    g_test_add_func("/oplog/changed/map", test_map);
    g_test_add_func("/oplog/changed/paired", test_paired);
    g_test_add_func("/oplog/changed/streams", test_streams);
    g_test_add_func("/oplog/changed/take-back", test_take_back);
    g_test_add_func("/oplog/changed/lost-data", test_lost_data);
    g_test_add_func("/oplog/changed/medium", test_medium);
    g_test_add_func("/oplog/changed/operation", test_operation);
    g_test_add_func("/oplog/changed/time", test_time);
    g_test_add_func("/oplog/changed/overlap", test_overlap);
    g_test_add_func("/oplog/changed/durability", test_durability);
    g_test_add_func("/oplog/changed/flush", test_flush);
    g_test_add_func("/oplog/changed/close", test_close);
    g_test_add_func("/oplog/changed/format", test_format);
    g_test_add_func("/oplog/nothing", test_nothing);
    g_test_add_func("/oplog/history", test_history);
    g_test_add_func("/oplog/used-drive", test_used_drive);
    return g_test_run();
}
