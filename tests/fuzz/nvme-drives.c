/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-drives.c - from the head of an input to a drive.
 *
 * A drive is a row of a table, with policies and features on top of it.
 * Conflicting options are left out.  The drives are tiny: one command may fill
 * one, and a thousand are made in a second.  Configurations are kept, since
 * making one takes as long as running an input.
 */
#include "nvme-drives.h"
#include "ssd-setup.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEPT 16384 /* configurations */

/* 2 x 18 blocks of 4 pages of 4 KiB; 64 units for the host. */
#define BASE                                                                   \
    "nand.channels=1;nand.chips=1;nand.dies=2;nand.planes=1;nand.blocks=18;"   \
    "nand.pages=4;nand.page_size=4KiB;nand.read=50us;nand.program=500us;"      \
    "nand.erase=3ms;nand.bus_mt_s=400;ftl.op_percent=125%;buffer.size=32KiB;" \
    "host.queue_depth=64;"

static const char *const drives[] = {
    "",
    "nand.blocks=28;ftl.op_percent=150%;ftl.map=dftl;ftl.map_cache=64",
    "nand.page_size=512;nand.ecc_codeword=512;ftl.unit=512;nand.pages=8;nand."
    "blocks=64;"
    "ftl.op_percent=200%;ftl.map=dftl;ftl.map_cache=128;ftl.map_prefetch=4;"
    "buffer.size=8KiB",
    "ftl.map=bast;ftl.log_blocks=2",
    "ftl.map=fast",
    "nand.blocks=20;ftl.op_percent=150%;ftl.recovery=scan",
    "nand.blocks=20;ftl.op_percent=150%;ftl.recovery=checkpoint;"
    "ftl.checkpoint_interval=8",
    "nand.blocks=32;ftl.op_percent=200%;streams.max=2",
    "nand.blocks=24;ftl.op_percent=150%;streams.max=3;streams.gc=merge",
    "nand.blocks=26;ftl.op_percent=150%;fdp.ruhs=2",
    "nand.blocks=24;ftl.op_percent=150%;fdp.ruhs=3;streams.gc=merge",
    "buffer.plp=on",
    "nand.dies=1;nand.planes=2;nand.multi_plane=on;superblock.width=drive;"
    "ftl.alloc=in-order;nand.blocks=20",
    "nand.dies=2;nand.planes=2;nand.multi_plane=on;superblock.width=die;"
    "nand.independent_reads=on;nand.blocks=18",
    "nand.cell=mlc;nand.slc_blocks=4;nand.pages=8;nand.blocks=24",
    "nand.cell=tlc;nand.one_shot=on;nand.pages=12;nand.program=1500us",
    "nand.copyback=on;nand.page_size=8KiB",
    "nand.page_size=16KiB;ftl.gc_high=10%",
    "nand.read=0;nand.program=0;nand.erase=0;nand.command=0;nand.bus_mt_s=0;"
    "nand.bus_ns_per_byte=0;buffer.access=0;host.firmware=0;host.link_mb_s=0",
    "host.complete_at=program;host.cores=1;host.pcie_gen=3;nand.blocks=20",
    "host.complete_at=data-in;buffer.free_at=data-in",
    "nand.blocks=26;ftl.op_percent=150%;ftl.hot_cold=on",
    "nand.blocks=26;ftl.op_percent=150%;ftl.wear=static;ftl.wear_spread=1",
    "media.errors=on;ftl.refresh_reads=1;ftl.refresh_hours=1;"
    "ftl.scan_interval=10s;ftl.idle=100us;nand.blocks=24",
    "buffer.ignore_flush=on",
    "ftl.gc_soft=15%;ftl.gc_preempt=on;ftl.idle=50us;nand.blocks=24",
    "nand.page_size=8KiB;ftl.unit=8KiB;host.queue_depth=2",
    "nand.page_size=512;nand.ecc_codeword=512;ftl.unit=512;buffer.size=4KiB;"
    "nand.blocks=24;ftl.op_percent=150%",
    "nand.blocks=24;ftl.op_percent=150%;fdp.ruhs=2;buffer.plp=on;"
    "streams.gc=merge",
    "nand.dies=1;nand.channels=2;nand.chips=2;ftl.stripe=pwcd;nand.history=16",
    "nand.blocks=26;ftl.op_percent=150%;fdp.ruhs=2;fdp.groups=2;"
    "fdp.isolation=persistent/initial;fdp.ru_time_limit=1s;"
    "fdp.handles=1:0/1",
};

/* The last values of HEAD_DRIVE, so that inputs made before keep their drives.
 * cmb: the host's controller memory buffer; kv: a key-value namespace; hints:
 * dsm_hints; heats: sanitize_nodas=off. */
static const struct {
    const char *options;
    bool cmb, kv, both, hints, heats;
} later[] = {
    {"nand.blocks=28;ftl.op_percent=150%;ftl.map=dftl;ftl.map_cache=64;"
     "ftl.hmb=64KiB;thermal.resistance=10;power.states=8000:0:0/10:10:50:idle",
     .heats = true},
    {"nand.blocks=26;ftl.op_percent=150%;ftl.hot_cold=on;"
     "host.read_ahead=32KiB;host.read_ahead_after=1",
     .hints = true},
    {"nand.blocks=24;ftl.op_percent=0%;buffer.plp=on;ftl.alloc=in-order;"
     "zones.enabled=on;zones.extension=1;zones.max_active=3;zones.max_open=2;"
     "zones.finish_after=1s;zones.finish_limit=2s;zones.reset_after=3s",
     .cmb = false},
    {"nand.blocks=36;ftl.op_percent=0%;buffer.plp=on;ftl.alloc=in-order;"
     "zones.enabled=on;zones.extension=1;zones.max_active=3;zones.max_open=2;"
     "zones.conventional=256KiB",
     .both = true},
    {"nand.pages=64;nand.blocks=16;ftl.capacity=4MiB", .kv = true},
    {"nand.blocks=40;latency.window=5ms;latency.free=20%", .cmb = false},
    {"nand.blocks=40;buffer.flush_interval=1ms;ftl.gc_soft=15%;ftl.idle=50us;"
     "latency.window=1ms;latency.free=20%",
     .cmb = true},
    {"nand.blocks=24;ftl.op_percent=0%;buffer.plp=on;ftl.alloc=in-order;"
     "zones.enabled=on;zones.extension=1;zones.max_active=3;zones.max_open=2",
     .cmb = false},
    {"nand.blocks=24;ftl.op_percent=0%;buffer.plp=on;ftl.alloc=in-order;"
     "zones.enabled=on;buffer.size=96KiB;zones.zrwa=8KiB;"
     "zones.zrwa_granularity=4KiB;zones.max_active=4;zones.max_zrwa=2",
     .cmb = true},
    {"nand.blocks=26;ftl.op_percent=150%;fdp.ruhs=2;fdp.groups=2;"
     "fdp.isolation=initial;fdp.handles=0/1",
     .cmb = true},
};

#define LATER (256 - G_N_ELEMENTS(later))

static unsigned drive_of(const uint8_t *head)
{
    return head[HEAD_DRIVE] >= LATER
               ? head[HEAD_DRIVE]
               : head[HEAD_DRIVE] % (unsigned)G_N_ELEMENTS(drives);
}

static const char *options_of(const uint8_t *head)
{
    unsigned i = drive_of(head);

    return i >= LATER ? later[i - LATER].options : drives[i];
}

unsigned fuzz_n_drives(void)
{
    return G_N_ELEMENTS(drives);
}

/* ---- policies and features on top --------------------------------------- */

static const char *const cleaning[] = {
    "", "ftl.gc=cost-benefit;", "ftl.gc=d-choices;ftl.gc_choices=2;",
    "ftl.gc=fifo;", "ftl.gc=random;", "ftl.gc=windowed-greedy;ftl.gc_window=4;",
    "", "seed=7;",
};
static const char *const allocation[] = {
    "",
    "",
    "ftl.alloc=static;",
    "ftl.alloc=dynamic;",
    "ftl.alloc=dl;ftl.dl_threshold=60%;",
    "ftl.alloc=random;",
    "ftl.alloc=in-order;",
    "",
};
static const char *const levelling[] = {
    "", "", "ftl.wear=dynamic;", "ftl.wear=static;ftl.wear_spread=1;",
};
static const char *const buffers[] = {
    "",
    "",
    "buffer.policy=none;",
    "buffer.policy=lru;",
    "buffer.policy=cflru;buffer.window=50%;",
    "buffer.policy=cflru-ef;",
    "buffer.policy=cflru-ef-sc;",
    "buffer.policy=ccf-lru;",
    "buffer.policy=fab;",
    "buffer.policy=bplru;",
    "buffer.policy=clock-dnv;",
    "buffer.policy=prlru;",
    "buffer.policy=prlru-ef;",
    "buffer.policy=lru;host.complete_at=program;",
    "buffer.policy=clock-dnv;buffer.window=30%;",
    "",
    "buffer.policy=lru;",
};
static const char *const schedules[] = {
    "", "nand.schedule=read-first;",
    "nand.schedule=read-first-deadline;nand.write_deadline=1ms;",
    "nand.schedule=host-first;",
};
static const char *const suspends[] = {
    "", "nand.suspend=erase;", "nand.suspend=program;",
    "nand.suspend=both;nand.suspend_min_run=1us;",
};
static const char *const media[] = {
    "", "", "", "media.errors=on;media.start_cycles=2000;media.off_hours=100;",
    "media.errors=on;media.base=0.006;media.retry_time=60us;"
    "nand.ecc_decode=2us;",
    "media.program_fail=0.03;", "media.erase_fail=0.05;",
    "media.program_fail=0.02;media.erase_fail=0.1;media.factory_bad=4%;"
    "media.rated_cycles=2;media.fail_exp=1;",
};

static const char *const scripts[] = {
    NULL,
    NULL,
    "on=program nth=5 -> fail once\non=program nth=20 -> fail 3 times\n",
    "on=erase nth=2 -> fail once\non=read nth=4 -> uncorrectable\n",
    "on=read lba=8..23 -> uncorrectable\non=read cause=gc nth=3 -> latency x20\n",
    "op=60 -> cut power\nop=200 -> cut power\n",
    "cmd=9 -> cut power\n",
    "time=3ms -> cut power\n",
    "time=2ms -> latency x10 for 5ms\non=program nth=3 -> latency x1000\n",
    "on=program die=1 -> fail always\n",
    "on=erase -> fail always\n",
    "on=program cause=gc nth=2 -> fail once\non=erase nth=3 -> cut power\n",
    "on=program nth=30 -> cut power\non=read nth=50 -> cut power\n",
    "on=read nth=2 -> uncorrectable 9 times\non=any page=3 nth=7 -> latency x3\n",
    "on=program cause=meta nth=2 -> fail once\n"
    "on=program cause=map nth=3 -> cut power\n",
    "on=program -> fail always\n",
};

/* The scripts as files without a name, for the option faults=. */
static const char *script_path(unsigned i)
{
    static char *path[G_N_ELEMENTS(scripts)];

    if (!path[i]) {
        int fd = memfd_create("faults", 0);
        size_t n = strlen(scripts[i]);

        g_assert_cmpint(fd, >=, 0);
        g_assert_cmpint(write(fd, scripts[i], n), ==, n);
        path[i] = g_strdup_printf("/proc/self/fd/%d", fd);
    }
    return path[i];
}

static unsigned script_of(const uint8_t *head)
{
    return head[HEAD_MEDIA] >> 3 & 15;
}

/* ---- putting it together ------------------------------------------------- */

static void add_buffer(GString *s, uint8_t flags)
{
    g_string_append(s, buffers[flags & 15]);
    if (flags & FUZZ_BUFFER_LARGE) {
        g_string_append(s, "buffer.size=96KiB;");
    }
    if (flags & FUZZ_BUFFER_INTERVAL) {
        g_string_append(s, "buffer.flush_interval=1ms;");
    }
    if (flags & FUZZ_BUFFER_EARLY) {
        g_string_append(s, "buffer.early_threshold=20%;buffer.early_adapt=4;");
    }
    if (flags & FUZZ_BUFFER_GROUP) {
        g_string_append(s, "buffer.block=16KiB;");
    }
}

static void add_array(GString *s, uint8_t flags)
{
    g_string_append(s, schedules[flags & 3]);
    g_string_append(s, suspends[flags >> 2 & 3]);
    if (flags & FUZZ_ARRAY_PLANE_LOCK) {
        g_string_append(s, "nand.lock=plane;");
    }
    if (flags & FUZZ_ARRAY_CACHE) {
        g_string_append(s, "nand.cache_read=on;nand.cache_program=on;");
    }
    if (flags & FUZZ_ARRAY_ONFI) {
        g_string_append(s, "nand.interface=nv-ddr3;nand.status_poll=on;");
    }
    if (flags & FUZZ_ARRAY_SLOW_LINK) {
        g_string_append(s, "host.link_mb_s=50;buffer.mb_s=100;");
    }
}

/* The groups that a configuration may have, in the order in which they are
 * added; a group that does not go with those before it is left out. */
enum { GROUPS = 7 };

static char *group_of(const uint8_t *head, unsigned i)
{
    GString *s = g_string_new(NULL);

    switch (i) {
    case 0:
        g_string_append(s, BASE);
        g_string_append(s, options_of(head));
        break;
    case 1:
        g_string_append(s, cleaning[head[HEAD_POLICY] & 7]);
        break;
    case 2:
        g_string_append(s, allocation[head[HEAD_POLICY] >> 3 & 7]);
        break;
    case 3:
        g_string_append(s, levelling[head[HEAD_POLICY] >> 6]);
        break;
    case 4:
        add_buffer(s, head[HEAD_BUFFER]);
        break;
    case 5:
        add_array(s, head[HEAD_ARRAY]);
        break;
    default:
        g_string_append(s, media[head[HEAD_MEDIA] & 7]);
        if (scripts[script_of(head)]) {
            g_string_append_printf(s, "faults=%s;",
                                   script_path(script_of(head)));
        }
    }
    return g_string_free(s, FALSE);
}

/* NULL: they do not go together. */
static SsdConfig *config_of(const uint8_t *head, unsigned groups,
                            uint64_t *nblocks)
{
    bool large = head[HEAD_HOST] & FUZZ_HOST_LARGE_BLOCKS;
    SsdConfig *cfg = ssd_config_new();
    GError *error = NULL;
    Ssd *ssd;

    ssd_config_set_block_bytes(cfg, 512, &error);
    g_assert_no_error(error);
    for (unsigned i = 0; i < GROUPS; i++) {
        g_autofree char *options = groups >> i & 1 ? group_of(head, i) : NULL;

        if (options && !ssd_config_set(cfg, options, &error)) {
            g_error("a drive of the table: %s", error->message);
        }
    }
    if (large) {
        ssd_config_set_block_bytes(cfg, 4096, &error);
        g_assert_no_error(error);
    }
    if (large && !ssd_config_check(cfg, NULL)) {
        ssd_config_set_block_bytes(cfg, 512, &error);
    }
    ssd = ssd_create(cfg, NULL, NULL, &error); /* some say no only then */
    if (!ssd) {
        if (groups == 1) {
            g_error("drive %u: %s", drive_of(head), error->message);
        }
        g_clear_error(&error);
        ssd_config_free(cfg);
        return NULL;
    }
    *nblocks = ssd_info(ssd)->nblocks;
    ssd_destroy(ssd);
    return cfg;
}

static SsdConfig *make_config(const uint8_t *head, uint64_t *nblocks)
{
    SsdConfig *cfg = config_of(head, (1U << GROUPS) - 1, nblocks);
    unsigned groups = 1;

    for (unsigned i = 1; !cfg && i < GROUPS; i++) {
        SsdConfig *more = config_of(head, groups | 1U << i, nblocks);

        groups |= more ? 1U << i : 0;
        ssd_config_free(more);
    }
    return cfg ? cfg : config_of(head, groups, nblocks);
}

static uint64_t key_of(const uint8_t *head)
{
    uint64_t key = head[HEAD_HOST] & FUZZ_HOST_LARGE_BLOCKS;

    key = key << 8 | drive_of(head);
    key = key << 8 | head[HEAD_POLICY];
    key = key << 8 | head[HEAD_BUFFER];
    key = key << 8 | head[HEAD_ARRAY];
    return key << 8 | (head[HEAD_MEDIA] & 0x7f);
}

static bool is_on(const SsdConfig *cfg, const char *key)
{
    g_autofree char *value = ssd_config_get(cfg, key);

    return strcmp(value, "on") == 0;
}

typedef struct Kept {
    SsdConfig *config;
    FuzzDrive drive;
} Kept;

static void kept_free(void *opaque)
{
    Kept *k = opaque;

    ssd_config_free(k->config);
    g_free(k);
}

static Kept *make_kept(const uint8_t *head)
{
    Kept *k = g_new0(Kept, 1);

    k->config = make_config(head, &k->drive.nblocks);
    k->drive.config = k->config;
    k->drive.lies = is_on(k->config, "buffer.ignore_flush");
    k->drive.fails = head[HEAD_MEDIA] & 0x7f ||
                     is_on(k->config, "media.errors");
    k->drive.timed = drive_of(head) != 18;
    k->drive.zoned = is_on(k->config, "zones.enabled");
    k->drive.cmb = drive_of(head) >= LATER && later[drive_of(head) - LATER].cmb;
    k->drive.kv = drive_of(head) >= LATER && later[drive_of(head) - LATER].kv;
    k->drive.both =
        drive_of(head) >= LATER && later[drive_of(head) - LATER].both;
    k->drive.hints =
        drive_of(head) >= LATER && later[drive_of(head) - LATER].hints;
    k->drive.heats =
        drive_of(head) >= LATER && later[drive_of(head) - LATER].heats;
    return k;
}

FuzzDrive fuzz_drive(const uint8_t *head)
{
    static GHashTable *kept;
    uint64_t key = key_of(head);
    Kept *k;

    if (!kept) {
        kept = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                     kept_free);
    }
    k = g_hash_table_lookup(kept, &key);
    if (!k) {
        if (g_hash_table_size(kept) >= KEPT) {
            g_hash_table_remove_all(kept);
        }
        k = make_kept(head);
        g_hash_table_insert(kept, g_memdup2(&key, sizeof(key)), k);
    }
    return k->drive;
}
