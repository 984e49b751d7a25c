/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state.c - saved drives: every member is listed, options are compared, and
 * damaged, forged or foreign states are refused.
 *
 * That a loaded drive, or a clone, goes on exactly as its original is the
 * business of test-swarm --copies.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <inttypes.h>
#include <math.h>

#include <glib/gstdio.h>
#include <unistd.h>

#include "buffer/buffer-internal.h"
#include "buffer/buffer-policy.h"
#include "component.h"
#include "journal/journal-internal.h"
#include "media/media-internal.h"
#include "outside.h"
#include "placement/placement-internal.h"
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "ssd-setup.h"
#include "thermal/thermal-internal.h"

#define SMALL "nand.blocks=26;nand.pages=4;buffer.size=64KiB;"

/* ---- the rows ------------------------------------------------------------ */

static void test_rows(void)
{
    for (unsigned i = 0; components_rows(i); i++) {
        const StateStruct *d = components_rows(i);
        const char *gap = state_gap(d);

        if (gap) {
            g_error("struct %s has a member, before %s, that the rows of its "
                    "state do not list (component.c in its folder, "
                    "nand/nand-state.c)",
                    d->name, gap);
        }
    }
}

typedef struct Pair {
    uint32_t a;
    uint32_t b;
    uint64_t c;
} Pair;

/* The test above can fail. */
static void test_gap(void)
{
    static const StateRow no_a[] = {
        STATE_NUMBER_ROW(Pair, b),
        STATE_VALUE_ROW(Pair, c),
    };
    static const StateRow no_b[] = {
        STATE_NUMBER_ROW(Pair, a),
        STATE_NUMBER_ROW(Pair, b),
    };
    const StateStruct first = {"Pair", no_a, 2, sizeof(Pair)};
    const StateStruct last = {"Pair", no_b, 2, sizeof(Pair)};

    g_assert_cmpstr(state_gap(&first), ==, "Pair.b");
    g_assert_cmpstr(state_gap(&last), ==, "end");
}

/* ---- a saved drive ------------------------------------------------------- */

static void ignore(void *opaque, uint64_t lpn, uint64_t version)
{
}

static const SsdHostOps host_ops = {.programmed = ignore, .superseded = ignore};

/* A used drive, at rest, with something in its buffer. */
static Ref *used(const char *options)
{
    g_autofree char *all = g_strconcat(SMALL, options, NULL);
    Ref *r = ref_new(ref_config(all), true);
    Prng rng;

    prng_seed(&rng, 3, 3);
    for (uint64_t i = 0; i < 4 * r->n_units; i++) {
        uint64_t lba = prng_below(&rng, r->n_units) * r->unit_blocks;

        ref_do(r, i % 40 ? SSD_OP_WRITE : SSD_OP_TRIM, lba, r->unit_blocks,
               false);
    }
    ref_drain(r);
    ref_do(r, SSD_OP_FLUSH, 0, 0, false);
    ref_drain(r);
    ref_do(r, SSD_OP_WRITE, 0, r->unit_blocks, false);
    ref_drain(r);
    g_assert_true(ssd_rest(r->ssd, NS_PER_S));
    r->now_ns = ssd_now_ns(r->ssd);
    g_assert_true(r->ssd->buffer->policy->write_through ||
                  r->ssd->buffer->n_free_slots < r->ssd->l.n_slots);
    return r;
}

static GByteArray *saved(const Ssd *ssd)
{
    GError *error = NULL;
    char *bytes = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&bytes, &n);
    GByteArray *all = g_byte_array_new();

    ssd_save(ssd, f, &error);
    g_assert_no_error(error);
    fclose(f);
    g_byte_array_append(all, (guint8 *)bytes, (guint)n);
    free(bytes);
    return all;
}

static Ssd *loaded(const SsdConfig *cfg, const GByteArray *bytes,
                   GError **error)
{
    FILE *f = fmemopen(bytes->data, bytes->len, "rb");
    Ssd *ssd = ssd_load(cfg, &host_ops, NULL, f, error);

    fclose(f);
    return ssd;
}

static void must_refuse(const SsdConfig *cfg, const GByteArray *bytes,
                        const char *why)
{
    GError *error = NULL;
    Ssd *ssd = loaded(cfg, bytes, &error);

    g_assert_null(ssd);
    g_assert_nonnull(error);
    g_assert_null(strchr(error->message, '\n'));
    if (why) {
        g_assert_nonnull(strstr(error->message, why));
    }
    g_error_free(error);
}

/* ---- states that fit ---------------------------------------------------- */

static void test_options(void)
{
    static const struct {
        const char *option;
        const char *refused; /* or NULL */
    } with[] = {
        {"nand.read=99us", NULL},
        {"ftl.gc=fifo", NULL},
        {"seed=99", NULL},
        {"buffer.flush_interval=1ms", NULL},
        {"nand.pages=5", "nand.pages=5"},
        {"ftl.op_percent=70%", "ftl.op_percent"},
        {"buffer.policy=lru", "buffer.policy"},
        {"ftl.map_cache=2MiB", "ftl.map_cache"},
        {"media.errors=on", "media.errors"},
    };
    Ref *r = used("");
    g_autoptr(GByteArray) bytes = saved(r->ssd);

    for (size_t i = 0; i < G_N_ELEMENTS(with); i++) {
        g_autofree char *all = g_strconcat(SMALL, with[i].option, NULL);
        SsdConfig *cfg = ref_config(all);

        if (with[i].refused) {
            must_refuse(cfg, bytes, with[i].refused);
        } else {
            GError *error = NULL;
            Ssd *ssd = loaded(cfg, bytes, &error);

            g_assert_no_error(error);
            ssd_destroy(ssd);
        }
        ssd_config_free(cfg);
    }
    ref_free(r);
}

/* Whatever the policy of the buffer keeps of its own is in the stream, and so in
 * one that is made of a drive that was loaded. */
static void test_policies(void)
{
    for (const VssdPolicy *const *p = buffer_policies; *p; p++) {
        g_autofree char *all = g_strdup_printf(
            "buffer.policy=%s;nand.blocks=60;buffer.block=32KiB", (*p)->name);
        Ref *r = used(all);
        g_autoptr(GByteArray) bytes = saved(r->ssd);
        g_autoptr(GByteArray) again = NULL;
        GError *error = NULL;
        Ssd *ssd = loaded(r->ssd->cfg, bytes, &error);
        Ssd *clone;

        g_assert_no_error(error);
        clone = ssd_clone(ssd, &host_ops, NULL, &error);
        g_assert_no_error(error);
        again = saved(clone);
        g_assert_cmpmem(bytes->data, bytes->len, again->data, again->len);
        ssd_destroy(clone);
        ssd_destroy(ssd);
        ref_free(r);
    }
}

/* What a policy keeps of its own is right for an empty buffer, not for this. */
static void test_other_slots(void)
{
    static const char *const policies[] = {"fab", "bplru", "clock-dnv"};

    for (size_t i = 0; i < G_N_ELEMENTS(policies); i++) {
        g_autofree char *all = g_strdup_printf(
            "buffer.policy=%s;nand.blocks=60;buffer.block=32KiB", policies[i]);
        Ref *r = used(all);
        g_autoptr(GByteArray) bytes = NULL;

        outside_reset(r->ssd->outside[VSSD_POLICY_BUFFER]);
        bytes = saved(r->ssd);
        must_refuse(r->ssd->cfg, bytes,
                    "the policy of the buffer knows other slots");
        ref_free(r);
    }
}

/* A thin drive costs memory for written units only. */
static void test_sparse(void)
{
    SsdConfig *cfg = ref_config("nand.blocks=4096;nand.pages=256");
    Ssd *ssd = ssd_create(cfg, NULL, NULL, NULL);
    g_autoptr(GByteArray) bytes = saved(ssd);

    g_assert_cmpuint(ssd_info(ssd)->memory_bytes, >, 30000000);
    g_assert_cmpuint(bytes->len, <, 1500000);
    ssd_destroy(ssd);
    ssd_config_free(cfg);
}

static void test_busy(void)
{
    Ref *r = used("");
    GError *error = NULL;
    FILE *f = fopen("/dev/null", "wb");

    ref_submit(r, SSD_OP_READ, 0, 1, false);
    g_assert_false(ssd_at_rest(r->ssd));
    g_assert_false(ssd_save(r->ssd, f, &error));
    g_assert_cmpstr(error->message, ==, "commands are in flight");
    g_error_free(error);
    fclose(f);
    ref_free(r);
}

/* ---- states that do not ------------------------------------------------- */

static void test_damage(void)
{
    Ref *r = used("");
    g_autoptr(GByteArray) bytes = saved(r->ssd);
    Prng rng;

    prng_seed(&rng, 1, 1);
    for (int i = 0; i < 400; i++) {
        uint64_t at = i < 100 ? (uint64_t)i : prng_below(&rng, bytes->len);
        uint8_t flip = (uint8_t)(1U << prng_below(&rng, 8));

        bytes->data[at] ^= flip;
        must_refuse(r->ssd->cfg, bytes, NULL);
        bytes->data[at] ^= flip;
    }
    for (int i = 0; i < 100; i++) {
        GByteArray cut = {
            .data = bytes->data,
            .len = i ? 1 + (guint)prng_below(&rng, bytes->len - 1)
                     : bytes->len - 1,
        };

        must_refuse(r->ssd->cfg, &cut, "it");
    }
    g_byte_array_append(bytes, (const guint8 *)"more", 4);
    must_refuse(r->ssd->cfg, bytes, "more after its end");
    g_byte_array_set_size(bytes, 4096);
    memset(bytes->data, 'x', bytes->len);
    must_refuse(r->ssd->cfg, bytes, "no saved drive");
    memcpy(bytes->data, "VSSDSTAT", STATE_SIGNATURE_BYTES);
    must_refuse(r->ssd->cfg, bytes,
                "it is of a version of vssd before 1.0: make it again");
    ref_free(r);
}

#define DAY_NS (86400 * NS_PER_S)

static void forge(GByteArray *bytes)
{
    uint64_t sum = state_sum(bytes->data, bytes->len - sizeof(sum));

    memcpy(bytes->data + bytes->len - sizeof(sum), &sum, sizeof(sum));
}

/* Where the text is in the stream. */
static guint8 *find_text(const GByteArray *bytes, const char *text)
{
    guint8 *at = memmem(bytes->data, bytes->len, text, strlen(text));

    g_assert_nonnull(at);
    return at;
}

/* A state of another build lacks an option of this one, or has other room. Each
 * is refused with the reason. */
static void test_other_build(void)
{
    const char *parity = "nand.channels=4;nand.chips=1;nand.dies=2;"
                         "nand.planes=1;nand.pages=16;nand.blocks=100;"
                         "ftl.op_percent=100%;ftl.map=dftl;ftl.map_cache=4KiB;"
                         "superblock.row=8;ftl.alloc=in-order;"
                         "superblock.width=drive;superblock.parity=";
    g_autofree char *without = g_strconcat(parity, "off", NULL);
    g_autofree char *with = g_strconcat(SMALL, parity, "on", NULL);
    SsdConfig *cfg = ref_config(with);
    Ref *r = used(without);
    g_autoptr(GByteArray) bytes = saved(r->ssd);
    g_autoptr(GByteArray) room = saved(r->ssd);
    guint8 *line = find_text(bytes, "latency.window=");
    /* As long, and the first of them may differ. */
    const char *is = "superblock.padding=off\nsuperblock.parity=off\n";
    const char *other = "superblock.padding=none\nsuperblock.parity=on\n";

    memset(line, '\n', strcspn((char *)line, "\n"));
    forge(bytes);
    must_refuse(r->ssd->cfg, bytes, "it does not say latency.window");

    memcpy(find_text(room, is), other, strlen(other));
    forge(room);
    must_refuse(cfg, room, "does not fit this drive");
    ssd_config_free(cfg);
    ref_free(r);
}

/* A member is refused for its type, as a value, in a struct that is one, and in
 * an element of a table; and for what the check of its component says. */
static void test_members(void)
{
    enum { NAME = 64, WORD = 8, LAST = NAME + WORD + 7 };
    static const struct {
        const char *row;
        size_t at; /* from the row on */
        guint8 value;
        const char *refused;
    } member[] = {
        {"Media.read_only", NAME + WORD, 2,
         "Media.read_only is neither on nor off"},
        {"PlacementPlane.gc", NAME + WORD + offsetof(GcLoad, active), 2,
         "GcLoad.active is neither on nor off"},
        /* behind the number of elements, and offset and length of a run */
        {"Media.block", NAME + 4 * WORD + offsetof(Block, bad), 2,
         "Block.bad is neither on nor off"},
        {"Placement.stripe_cursor", NAME + WORD, 200,
         "Placement.stripe_cursor is 200 of 2"},
        {"Plane.min_valid", NAME + WORD + 3, 1, "Plane.min_valid is "},
        {"Media.block", NAME + 4 * WORD + offsetof(Block, next) + 3, 0x7f,
         "Block.next is "},
        {"Ssd.powered_since_ps", LAST, 0x7f, "its time with power"},
        {"Controller.link_in_ps", LAST, 0x7f, "a time"},
        {"Plane.gc_high_blocks", NAME + WORD, 0, "plane 0: its room"},
        {"Journal.counters", NAME + WORD + offsetof(CounterSaves, armed), 1,
         "the event of the counters"},
        {"PlacementPlane.starved", NAME + WORD, 1, "planes without room"},
        {"Buffer.last_version", LAST, 1, "the version"},
        {"Map.n_trim_left", NAME + WORD, 1, "trims under way"},
        {"GcPlane.wear_due", NAME + WORD, 1, "plane 0: wear levelling"},
        {"Thermal.heat", NAME + WORD + offsetof(Heat, level), 9,
         "the temperature"},
        {"HostPath.gate_ps", LAST, 1, "a time of the power states"},
        {"Inspect.series", NAME + WORD + offsetof(Series, n) + 3, 1,
         "the series of free blocks"},
    };
    Ref *r = used("");

    for (size_t i = 0; i < G_N_ELEMENTS(member); i++) {
        g_autoptr(GByteArray) bytes = saved(r->ssd);
        guint8 *at = find_text(bytes, member[i].row) + member[i].at;

        g_assert_cmpuint(*at, !=, member[i].value);
        *at = member[i].value;
        forge(bytes);
        must_refuse(r->ssd->cfg, bytes, member[i].refused);
    }
    ref_free(r);
}

/* Brought to rest, it is right, and can be saved and loaded once more. */
static void comes_again(Ssd *ssd, const SsdConfig *cfg)
{
    g_autoptr(GByteArray) bytes = NULL;
    g_autoptr(GError) error = NULL;
    SsdCompletion done[32];
    Ssd *again;

    for (unsigned i = 0; i < 1000 && !ssd_rest(ssd, DAY_NS); i++) {
        ssd_advance(ssd, ssd_now_ns(ssd), done, G_N_ELEMENTS(done));
    }
    g_assert_true(ssd_at_rest(ssd) && ssd_ready(ssd));
    ssd_check(ssd, &error);
    g_assert_no_error(error);
    bytes = saved(ssd);
    again = loaded(cfg, bytes, &error);
    g_assert_no_error(error);
    ssd_destroy(again);
}

/* Whatever was taken for a drive must behave like one. */
static void use(Ssd *ssd, const SsdConfig *cfg, Prng *rng)
{
    const SsdInfo *info = ssd_info(ssd);
    uint64_t version = ssd_last_version(ssd);
    uint64_t now_ns = ssd_now_ns(ssd);
    g_autoptr(GString) stats = g_string_new(NULL);
    JsonWriter w = {.out = stats};
    SsdCompletion done[32];

    ssd_advance(ssd, now_ns, done, G_N_ELEMENTS(done));
    if (!ssd_powered(ssd)) {
        ssd_power_on(ssd, now_ns);
    }
    for (int i = 0; i < 300; i++) {
        SsdCmd cmd = {
            .tag = (uint64_t)i,
            .op = (SsdOp)prng_below(rng, SSD_OP_FLUSH + 1),
            .nblocks = 1,
            .version = version + 1 + (uint64_t)i,
        };

        cmd.lba = prng_below(rng, info->nblocks);
        now_ns += 20000;
        ssd_submit(ssd, now_ns, &cmd);
        ssd_advance(ssd, now_ns, done, G_N_ELEMENTS(done));
    }
    comes_again(ssd, cfg);
    now_ns = ssd_now_ns(ssd);
    ssd_power_cut(ssd, now_ns);
    ssd_power_on(ssd, now_ns + 5);
    ssd_stats_json(ssd, &w, NULL);
    comes_again(ssd, cfg);
}

/* Random changes under a checksum that is right. */
static void forged(const char *options, uint64_t n, uint64_t seed)
{
    Ref *r = used(options);
    g_autoptr(GByteArray) good = saved(r->ssd);
    uint64_t taken = 0;
    Prng rng;

    prng_seed(&rng, seed, 2);
    for (uint64_t i = 0; i < n; i++) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        GError *error = NULL;
        Ssd *ssd;

        g_byte_array_append(bytes, good->data, good->len);
        for (uint64_t k = prng_below(&rng, 3) + 1; k > 0; k--) {
            uint64_t at = 2500 + prng_below(&rng, bytes->len - 2500);

            switch (prng_below(&rng, 3)) {
            case 0:
                bytes->data[at] ^= (uint8_t)(1U << prng_below(&rng, 8));
                break;
            case 1:
                bytes->data[at] = (uint8_t)prng_u64(&rng);
                break;
            default:
                at = MIN(at, bytes->len - 4) & ~3ULL;
                memset(bytes->data + at, prng_below(&rng, 2) ? 0xff : 0, 4);
            }
        }
        forge(bytes);
        ssd = loaded(r->ssd->cfg, bytes, &error);
        g_assert_true(!ssd == !!error);
        g_clear_error(&error);
        if (ssd) {
            taken++;
            use(ssd, r->ssd->cfg, &rng);
            ssd_destroy(ssd);
        }
    }
    g_test_message("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                   " taken for drives", taken, n);
    ref_free(r);
}

/* The free list of a pool has all of its entries. */
static void test_forged_list(void)
{
    Ref *r = used("");
    Commands *c = &r->ssd->commands;
    GByteArray *bytes;

    g_assert_true(c->free_cmd != NONE);
    c->free_cmd = c->cmd[c->free_cmd].next;
    bytes = saved(r->ssd);
    must_refuse(r->ssd->cfg, bytes, "a list of free entries");
    g_byte_array_unref(bytes);
    ref_free(r);
}

static void test_forged(void)
{
    const char *n = g_getenv("VSSD_FUZZ_INPUTS");
    const char *seed = g_getenv("VSSD_SEED");
    uint64_t few = g_getenv("VSSD_LONG") ? 300 : 100;
    uint64_t inputs = n ? g_ascii_strtoull(n, NULL, 0) : few;
    uint64_t from = seed ? g_ascii_strtoull(seed, NULL, 0) : 1;

    forged("", inputs, from);
    forged("buffer.policy=cflru-ef-sc;nand.blocks=60;streams.max=2;"
           "buffer.flush_interval=1h;buffer.early_threshold=90%",
           inputs, from);
    forged("media.errors=on;media.base=1e-4;nand.slc_blocks=4;nand.cell=mlc;"
           "nand.pages=8;nand.blocks=60;buffer.plp=on",
           inputs, from);
    forged("ftl.recovery=checkpoint;ftl.checkpoint_interval=100;"
           "nand.blocks=60;streams.max=2;ftl.op_percent=120", inputs, from);
    forged("ftl.recovery=scan;nand.blocks=40", inputs, from);
    forged("ftl.map=dftl;ftl.map_cache=256;nand.blocks=60;nand.page_size=1KiB;"
           "ftl.unit=512;nand.ecc_codeword=512",
           inputs, from);
    for (const VssdPolicy *const *p = buffer_policies; *p; p++) {
        g_autofree char *all = g_strdup_printf(
            "buffer.policy=%s;buffer.block=32KiB;nand.blocks=60", (*p)->name);

        if ((*p)->state_bytes) {
            forged(all, inputs, from);
        }
    }
    forged("ftl.map=bast", inputs, from);
    forged("ftl.map=fast;ftl.log_blocks=4", inputs, from);
}

/* ---- files --------------------------------------------------------------- */

static void test_file(void)
{
    g_autofree char *dir = g_dir_make_tmp("vssd-state-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "drive.state", NULL);
    g_autofree char *nowhere = g_build_filename(dir, "no", "drive", NULL);
    Ref *r = used("");
    GError *error = NULL;
    Ssd *ssd = ssd_load_file(r->ssd->cfg, &host_ops, NULL, path, &error);

    g_assert_null(ssd);
    g_assert_nonnull(strstr(error->message, path));
    g_clear_error(&error);
    ssd_save_file(r->ssd, path, &error);
    g_assert_no_error(error);
    ssd = ssd_load_file(r->ssd->cfg, &host_ops, NULL, path, &error);
    g_assert_no_error(error);
    ssd_destroy(ssd);
    g_assert_false(ssd_save_file(r->ssd, nowhere, &error));
    g_assert_nonnull(strstr(error->message, "cannot be created"));
    g_clear_error(&error);
    /* A failed save leaves the old file, and nothing beside it. */
    ref_submit(r, SSD_OP_READ, 0, 1, false);
    g_assert_false(ssd_save_file(r->ssd, path, &error));
    g_clear_error(&error);
    ref_drain(r);
    ssd = ssd_load_file(r->ssd->cfg, &host_ops, NULL, path, &error);
    g_assert_no_error(error);
    ssd_destroy(ssd);
    ref_free(r);
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_cmpint(g_rmdir(dir), ==, 0);
}

/* In a folder that others can write, as a shared temporary one. */
static void test_file_of_others(void)
{
    g_autofree char *dir = g_dir_make_tmp("vssd-state-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "drive.state", NULL);
    g_autofree char *link = g_build_filename(dir, "link.state", NULL);
    g_autofree char *victim = g_build_filename(dir, "victim", NULL);
    Ref *r = used("");
    GError *error = NULL;
    GStatBuf st;

    /* Links planted at the names of new files are not followed. */
    for (unsigned i = 0; i < 2; i++) {
        g_autofree char *planted =
            i == 0 ? g_strdup_printf("%s.%d.new", path, (int)getpid())
                   : g_strdup_printf("%s.%d.0.new", path, (int)getpid());

        g_assert_cmpint(symlink(victim, planted), ==, 0);
        ssd_save_file(r->ssd, path, &error);
        g_assert_no_error(error);
        g_assert_false(g_file_test(victim, G_FILE_TEST_EXISTS));
        g_assert_true(g_file_test(planted, G_FILE_TEST_IS_SYMLINK));
        g_assert_cmpint(g_unlink(planted), ==, 0);
    }
    /* A state that is a link remains one, and the mode stays. */
    g_assert_cmpint(g_chmod(path, 0600), ==, 0);
    g_assert_cmpint(symlink("drive.state", link), ==, 0);
    ssd_save_file(r->ssd, link, &error);
    g_assert_no_error(error);
    g_assert_true(g_file_test(link, G_FILE_TEST_IS_SYMLINK));
    g_assert_cmpint(g_stat(path, &st), ==, 0);
    g_assert_cmphex(st.st_mode & 07777, ==, 0600);
    g_assert_cmpint(g_unlink(path), ==, 0);
    /* Behind a link to nothing a file is made; a folder is not replaced. */
    ssd_save_file(r->ssd, link, &error);
    g_assert_no_error(error);
    g_assert_true(g_file_test(link, G_FILE_TEST_IS_SYMLINK));
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_false(ssd_save_file(r->ssd, dir, &error));
    g_assert_nonnull(strstr(error->message, "state file "));
    g_clear_error(&error);
    ref_free(r);
    g_assert_cmpint(g_unlink(link), ==, 0);
    g_assert_cmpint(g_rmdir(dir), ==, 0);
}

/* ---- the kept state ------------------------------------------------------ */

/* Contents of a drive. */
static uint64_t contents(const Ssd *ssd)
{
    uint64_t hash = 0;

    for (uint64_t lba = 0; lba < ssd_info(ssd)->nblocks; lba++) {
        uint64_t version = 0;
        bool mapped = ssd_mapped(ssd, lba, &version);

        hash = (hash ^ (mapped ? version + 1 : 0)) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 29;
    }
    return hash;
}

/* One for each version of the format (docs/state-format.md). */
static const struct {
    const char *file;
    uint64_t contents;
} kept[] = {
    {"kept-1.state", 0x3bca39d8fbd42ade},
};

/* A drive of the version that this build writes: VSSD_KEEP=FILE. */
static void keep(const char *path)
{
    Ref *r = used("");
    GError *error = NULL;

    ssd_save_file(r->ssd, path, &error);
    g_assert_no_error(error);
    g_test_message("contents 0x%" PRIx64, contents(r->ssd));
    ref_free(r);
}

/* Sums of time agree with the operations that took it. */
static void check_times(const Ssd *ssd)
{
    const NandStats *s = nand_stats(ssd->nand);
    const NandConfig *c = &ssd->cfg->nand;
    TimeSum in_dies = 0;
    TimeSum in_array = 0;

    for (unsigned i = 0; i < NAND_N_CAUSES; i++) {
        TimeSum cell_ps = s->ops[NAND_READ][i] * c->t_read_ps +
                          s->ops[NAND_PROGRAM][i] * c->t_prog_ps +
                          s->ops[NAND_ERASE][i] * c->t_erase_ps;

        g_assert_true(s->time_ps[i][NAND_TIME_CELL] == cell_ps);
        in_array += cell_ps;
    }
    g_assert_true(in_array > 0);
    for (uint32_t i = 0; i < ssd->geo->n_dies; i++) {
        in_dies += nand_die_busy_ps(ssd->nand, i, ssd->now_ps);
    }
    g_assert_true(in_dies > in_array);
    g_assert_true(in_dies < (TimeSum)ssd->now_ps * ssd->geo->n_dies);
}

static void test_kept(void)
{
    if (g_getenv("VSSD_KEEP")) {
        keep(g_getenv("VSSD_KEEP"));
        return;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(kept); i++) {
        g_autofree char *path = g_build_filename(TEST_DIR, kept[i].file, NULL);
        SsdConfig *cfg = ref_config(SMALL);
        GError *error = NULL;
        Ssd *ssd = ssd_load_file(cfg, &host_ops, NULL, path, &error);
        uint64_t version;
        uint64_t now_ns;

        g_assert_no_error(error);
        g_assert_cmphex(contents(ssd), ==, kept[i].contents);
        check_times(ssd);
        version = ssd_last_version(ssd);
        now_ns = ssd_now_ns(ssd);
        for (uint64_t tag = 0; tag < 2000; tag++) {
            SsdCmd cmd = {
                .tag = tag,
                .version = version + tag + 1,
                .op = tag % 100 == 99 ? SSD_OP_FLUSH
                      : tag % 3 ? SSD_OP_WRITE : SSD_OP_READ,
                .lba = tag * 7919 % ssd_info(ssd)->nblocks,
                .nblocks = 1,
            };
            SsdCompletion done;

            g_assert_cmpint(ssd_submit(ssd, now_ns, &cmd), ==, 0);
            while (ssd_advance(ssd, now_ns, &done, 1) == 0) {
                now_ns = MAX(now_ns, ssd_next_event_ns(ssd));
            }
            g_assert_cmpint(done.status, ==, SSD_STATUS_OK);
        }
        ssd_check(ssd, &error);
        g_assert_no_error(error);
        ssd_destroy(ssd);
        ssd_config_free(cfg);
    }
}

/* ---- the clock ----------------------------------------------------------- */

/* After 200 days a drive is saved and loaded, again and again, and each time
 * its clock has gone back to the same base; its contents and counters continue.
 */
static void test_clock(void)
{
    Ref *r = used("media.errors=on;media.base=1e-4;ftl.refresh_hours=100000;");
    SsdConfig *cfg = r->ssd->cfg;
    Ssd *ssd = r->ssd;
    GError *error = NULL;

    for (int turn = 0; turn < 4; turn++) {
        uint64_t before_ns = ssd_now_ns(ssd);
        g_autofree char *path = NULL;
        SsdCompletion done[64];
        uint64_t held;
        Ssd *next;
        int fd = g_file_open_tmp("vssd-state-XXXXXX", &path, NULL);

        g_assert_cmpint(fd, >=, 0);
        close(fd);
        g_assert_cmpuint(before_ns, <=, SSD_BASE_NS);
        ssd_advance(ssd, before_ns + 200 * DAY_NS, done, G_N_ELEMENTS(done));
        g_assert_true(ssd_rest(ssd, DAY_NS));
        held = contents(ssd);
        ssd_save_file(ssd, path, &error);
        g_assert_no_error(error);
        next = ssd_load_file(cfg, &host_ops, NULL, path, &error);
        g_assert_no_error(error);
        g_assert_cmpint(g_unlink(path), ==, 0);
        g_assert_cmpuint(ssd_now_ns(next), ==, SSD_BASE_NS);
        g_assert_cmpuint(ssd_rebased_ns(next), ==,
                         ssd_now_ns(ssd) - SSD_BASE_NS);
        g_assert_cmphex(contents(next), ==, held);
        for (uint32_t b = 0; b < 4; b++) { /* data is as old as it was */
            double hours = nand_data_hours(ssd->nand, b, ssd->now_ps);

            g_assert_cmpfloat(fabs(nand_data_hours(next->nand, b,
                                                   next->now_ps) - hours), <,
                              0.001);
        }
        ssd_check(next, &error);
        g_assert_no_error(error);
        if (ssd != r->ssd) {
            ssd_destroy(ssd);
        }
        ssd = next;
    }
    ssd_destroy(ssd);
    ref_free(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/state/rows", test_rows);
    g_test_add_func("/state/gap", test_gap);
    g_test_add_func("/state/options", test_options);
    g_test_add_func("/state/policies", test_policies);
    g_test_add_func("/state/other-slots", test_other_slots);
    g_test_add_func("/state/sparse", test_sparse);
    g_test_add_func("/state/busy", test_busy);
    g_test_add_func("/state/damage", test_damage);
    g_test_add_func("/state/forged-list", test_forged_list);
    g_test_add_func("/state/forged", test_forged);
    g_test_add_func("/state/other-build", test_other_build);
    g_test_add_func("/state/members", test_members);
    g_test_add_func("/state/file", test_file);
    g_test_add_func("/state/file-of-others", test_file_of_others);
    g_test_add_func("/state/kept", test_kept);
    g_test_add_func("/state/clock", test_clock);
    return g_test_run();
}
