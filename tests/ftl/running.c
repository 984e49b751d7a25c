/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * running.c - options that change while the drive runs, and the gate.
 *
 * One schedule of commands with fixed times is played to drives.  A drive whose
 * option changed must go on as one that was made with it; a drive behind a gate
 * as one without.
 */
#include <string.h>
#include <unistd.h>

#include "buffer/buffer-internal.h"
#include "inspect/inspect.h"
#include "prng.h"
#include "ssd-config.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-running.h"
#include "ssd-save.h"
#include "ssd-setup.h"

#define N 6000

#define SMALL                                                                  \
    "nand.channels=2;nand.chips=1;nand.dies=2;nand.planes=2;nand.blocks=60;"   \
    "nand.pages=8;nand.page_size=4KiB;nand.read=50us;nand.program=400us;"      \
    "nand.erase=3ms;buffer.size=256KiB;ftl.op_percent=70%;ftl.gc_low=6%;"      \
    "ftl.gc_high=8%;host.queue_depth=512;"

/* Each option that may change: another value, and options that it acts with. */
static const struct {
    const char *key, *value, *with;
} changes[] = {
    {"ftl.gc_low", "12%", "ftl.gc_high=14%"},
    {"ftl.gc_high", "16%", ""},
    {"ftl.gc_soft", "15%", "ftl.idle=20us"},
    {"ftl.gc_firmware", "30us", ""},
    {"ftl.gc_firmware_unit", "30us", ""},
    {"buffer.flush_interval", "1ms", ""},
    {"buffer.access", "2us", ""},
    {"host.firmware", "9us", ""},
    {"host.firmware_unit", "9us", ""},
    {"host.firmware_write", "9us", ""},
    {"host.firmware_trim", "9us", ""},
    {"host.firmware_flush", "9us", ""},
    {"nand.write_deadline", "1ms", "nand.schedule=read-first-deadline"},
    {"nand.suspend", "both", ""},
    {"nand.suspend_limit", "1", "nand.suspend=both"},
    {"nand.suspend_time", "60us", "nand.suspend=both"},
    {"nand.resume_time", "60us", "nand.suspend=both"},
    {"nand.suspend_min_run", "0ns", "nand.suspend=both"},
};

/* ---- drives and their commands ------------------------------------------- */

static void ignore(void *opaque, uint64_t lpn, uint64_t version)
{
}

static const SsdHostOps host_ops = {.programmed = ignore, .superseded = ignore};

typedef struct Play {
    Ssd *ssd;
    Prng rng;
    uint64_t now_ns;
    unsigned n; /* commands so far */
    GArray *done;
} Play;

static SsdConfig *config(const char *more)
{
    g_autofree char *options = g_strconcat(SMALL, more, NULL);
    SsdConfig *cfg = ssd_config_new();
    GError *error = NULL;

    ssd_config_set(cfg, options, &error);
    g_assert_no_error(error);
    return cfg;
}

static Play *play_of(Ssd *ssd)
{
    Play *p = g_new0(Play, 1);

    p->ssd = ssd;
    p->now_ns = ssd_now_ns(ssd);
    prng_seed(&p->rng, 7, 7);
    p->done = g_array_new(false, false, sizeof(SsdCompletion));
    return p;
}

static Play *play_new(const char *more)
{
    SsdConfig *cfg = config(more);
    GError *error = NULL;
    Ssd *ssd = ssd_create(cfg, &host_ops, NULL, &error);
    Play *p;

    g_assert_no_error(error);
    p = play_of(ssd);
    ssd_config_free(cfg);
    return p;
}

/* The same, full of data. */
static Play *play_full(const char *more)
{
    Play *p = play_new(more);

    ssd_preload(p->ssd, 0, ssd_info(p->ssd)->nblocks);
    return p;
}

static void play_free(Play *p)
{
    ssd_destroy(p->ssd);
    g_array_unref(p->done);
    g_free(p);
}

static void fetch(Play *p)
{
    SsdCompletion done[64];
    size_t n;

    do {
        n = ssd_advance(p->ssd, p->now_ns, done, G_N_ELEMENTS(done));
        g_array_append_vals(p->done, done, (guint)n);
    } while (n == G_N_ELEMENTS(done));
}

/* A random command, and the time until the next one; now and then a pause. */
static void step(Play *p)
{
    static const SsdOp ops[] = {SSD_OP_READ, SSD_OP_READ, SSD_OP_WRITE,
                                SSD_OP_WRITE, SSD_OP_WRITE};
    const SsdInfo *info = ssd_info(p->ssd);
    uint32_t blocks = info->unit_bytes / info->block_bytes;
    uint64_t unit = prng_below(&p->rng, info->nblocks / blocks);
    unsigned rare = (unsigned)prng_below(&p->rng, 60);
    SsdCmd cmd = {.op = rare == 0   ? SSD_OP_FLUSH
                        : rare == 1 ? SSD_OP_TRIM
                                    : ops[prng_below(&p->rng, 5)],
                  .lba = unit * blocks,
                  .nblocks = blocks,
                  .tag = p->n,
                  .version = ssd_last_version(p->ssd) + 1};

    p->n++;
    ssd_submit(p->ssd, p->now_ns, &cmd); /* -EBUSY: there are too many */
    p->now_ns += prng_below(&p->rng, rare == 2 ? 20000000 : 300000);
    fetch(p);
}

static void go_on(Play *p, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        step(p);
    }
}

static void come_to_rest(Play *p)
{
    SsdCmd flush = {.op = SSD_OP_FLUSH, .tag = p->n++};

    ssd_submit(p->ssd, p->now_ns, &flush);
    p->now_ns += NS_PER_S;
    fetch(p);
    g_assert_true(ssd_rest(p->ssd, NS_PER_S));
    p->now_ns = ssd_now_ns(p->ssd);
}

static void set(Ssd *ssd, const char *key, const char *value)
{
    GError *error = NULL;

    ssd_set_option(ssd, key, value, &error);
    g_assert_no_error(error);
}

static bool same(const Play *a, const Play *b)
{
    return a->done->len == b->done->len &&
           memcmp(a->done->data, b->done->data,
                  a->done->len * sizeof(SsdCompletion)) == 0;
}

/* ---- a drive made with the option ---------------------------------------- */

static void test_listed(void)
{
    JsonWriter w = {.out = g_string_new(NULL)};
    Play *p = play_full("");

    ssd_running_options_json(p->ssd, &w, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
        g_autofree char *key = g_strdup_printf("\"%s\":{", changes[i].key);
        char *at = strstr(w.out->str, key);

        g_assert_nonnull(at);
        *at = ' ';
    }
    g_assert_null(strstr(w.out->str, "\"nand."));
    g_assert_null(strstr(w.out->str, "\"ftl."));
    g_assert_null(strstr(w.out->str, "\"host."));
    g_assert_null(strstr(w.out->str, "\"buffer."));
    g_string_free(w.out, TRUE);
    play_free(p);
}

static void test_from_the_start(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
        g_autofree char *made = g_strdup_printf(
            "%s;%s=%s", changes[i].with, changes[i].key, changes[i].value);
        Play *a = play_full(made);
        Play *b = play_full(changes[i].with);
        Play *c = play_full(changes[i].with);
        g_autofree char *value = NULL;

        set(b->ssd, changes[i].key, changes[i].value);
        value = ssd_get_option(b->ssd, changes[i].key, NULL);
        g_assert_cmpstr(value, ==, changes[i].value);
        go_on(a, N);
        go_on(b, N);
        go_on(c, N);
        if (!same(a, b) || same(a, c)) {
            g_error("%s: %s", changes[i].key,
                    same(a, c) ? "does nothing" : "another run");
        }
        play_free(a);
        play_free(b);
        play_free(c);
    }
}

/* The drive goes on as one with the option that is loaded from its state. */
static void check_loaded(Play *p, const char *key, const char *value,
                         const char *with)
{
    g_autofree char *made = g_strdup_printf("%s;%s=%s", with, key, value);
    SsdConfig *cfg = config(ssd_config_is_time(key) ? made : with);
    GError *error = NULL;
    char *bytes = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&bytes, &n);
    Play *loaded;

    ssd_save(p->ssd, f, &error);
    g_assert_no_error(error);
    fclose(f);
    f = fmemopen(bytes, n, "rb");
    loaded = play_of(ssd_load(cfg, &host_ops, NULL, f, &error));
    g_assert_no_error(error);
    fclose(f);
    free(bytes);
    ssd_config_free(cfg);
    set(p->ssd, key, value);
    if (!ssd_config_is_time(key)) {
        set(loaded->ssd, key, value);
    }
    loaded->rng = p->rng;
    loaded->n = p->n;
    g_array_set_size(p->done, 0);
    go_on(p, N / 2);
    go_on(loaded, N / 2);
    g_assert_true(same(p, loaded));
    play_free(loaded);
}

static void test_from_a_state(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
        Play *p = play_full(changes[i].with);

        go_on(p, N / 2);
        come_to_rest(p);
        check_loaded(p, changes[i].key, changes[i].value, changes[i].with);
        play_free(p);
    }
}

/* ---- at any time --------------------------------------------------------- */

static const char *drives[] = {
    "",
    "nand.multi_plane=on",
    "nand.suspend=erase;nand.cache_read=on",
    "nand.schedule=read-first;nand.async_reads=on",
    "media.errors=on;media.program_fail=0.0002;nand.cell=mlc;nand.suspend=both",
};

static void change_one(Ssd *ssd, Prng *rng, bool back)
{
    size_t i = prng_below(rng, G_N_ELEMENTS(changes));
    g_autofree char *was = ssd_get_option(ssd, changes[i].key, NULL);

    /* Refused while others do not go with it: gc_low above gc_high. */
    ssd_set_option(ssd, changes[i].key, changes[i].value, NULL);
    if (back) {
        set(ssd, changes[i].key, was);
    }
}

/* Commands are in flight.  A clone is made from the options as they are now. */
static void test_at_any_time(void)
{
    for (size_t d = 0; d < G_N_ELEMENTS(drives); d++) {
        Play *p = play_full(drives[d]);
        Prng rng;

        prng_seed(&rng, 5, d);
        for (unsigned i = 0; i < 40; i++) {
            GError *error = NULL;
            Play *copy;

            go_on(p, (unsigned)prng_below(&rng, 200));
            change_one(p->ssd, &rng, false);
            g_assert_true(ssd_check(p->ssd, NULL));
            copy = play_of(ssd_clone(p->ssd, &host_ops, NULL, &error));
            g_assert_no_error(error);
            copy->rng = p->rng;
            copy->n = p->n;
            copy->now_ns = p->now_ns;
            g_array_set_size(p->done, 0);
            go_on(p, 100);
            go_on(copy, 100);
            g_assert_true(same(p, copy));
            play_free(copy);
        }
        come_to_rest(p);
        play_free(p);
    }
}

/* There and back again at one instant; and to the value that there is. */
static void test_no_change(void)
{
    Play *a = play_full("ftl.gc_soft=9%;buffer.flush_interval=2ms");
    Play *b = play_full("ftl.gc_soft=9%;buffer.flush_interval=2ms");
    Prng rng;

    prng_seed(&rng, 6, 6);
    for (unsigned i = 0; i < 100; i++) {
        g_autofree char *was = NULL;
        size_t k = i % G_N_ELEMENTS(changes);

        go_on(a, 50);
        go_on(b, 50);
        was = ssd_get_option(b->ssd, changes[k].key, NULL);
        set(b->ssd, changes[k].key, was);
    }
    g_assert_true(same(a, b));
    play_free(a);
    play_free(b);
}

/* No command comes any more: the option acts by itself. */
static void test_idle(void)
{
    Play *p = play_full("ftl.unit=2KiB");
    SsdCmd write = {.op = SSD_OP_WRITE, .nblocks = 4, .tag = N};
    SsdWritten before, after;

    go_on(p, N / 2);
    come_to_rest(p);
    write.version = ssd_last_version(p->ssd) + 1;
    g_assert_cmpint(ssd_submit(p->ssd, p->now_ns, &write), ==, 0);
    p->now_ns += 10 * NS_PER_MS;
    fetch(p);
    g_assert_cmpuint(p->ssd->buffer->n_dirty, ==, 1);
    set(p->ssd, "buffer.flush_interval", "1ms");
    p->now_ns += 10 * NS_PER_MS;
    fetch(p);
    g_assert_cmpuint(p->ssd->buffer->n_dirty, ==, 0);
    ssd_get_written(p->ssd, &before);
    set(p->ssd, "ftl.gc_soft", "19%");
    p->now_ns += NS_PER_S;
    fetch(p);
    ssd_get_written(p->ssd, &after);
    g_assert_cmpuint(after.free_blocks, >, before.free_blocks);
    play_free(p);
}

/* ---- refusals ------------------------------------------------------------ */

static void refused(Ssd *ssd, const char *key, const char *value,
                    const char *line)
{
    g_autofree char *was = ssd_get_option(ssd, key, NULL);
    g_autofree char *now = NULL;
    g_autoptr(GError) error = NULL;

    g_assert_false(ssd_set_option(ssd, key, value, &error));
    g_assert_true(g_str_has_prefix(error->message, line));
    g_assert_null(strchr(error->message, '\n'));
    now = ssd_get_option(ssd, key, NULL);
    g_assert_cmpstr(was, ==, now);
}

static void test_refused(void)
{
    Play *p = play_new("");
    Play *held = play_full("nand.lock=chip;nand.gc_hold=on");
    g_autofree char *path =
        g_build_filename(g_get_tmp_dir(), "vssd-XXXXXX", NULL);
    int fd = g_mkstemp(path);

    refused(p->ssd, "nand.dies", "4", "nand.dies: does not change while");
    refused(p->ssd, "no.such", "1", "no.such: no such option");
    refused(p->ssd, "ftl.gc_low", "90%", "ftl.gc_low=90%: allowed 0%..50%");
    refused(p->ssd, "ftl.gc_high", "60%", "ftl.gc_high: ");
    refused(held->ssd, "nand.suspend", "both", "nand.gc_hold=on: needs ");
    g_assert_true(ssd_oplog_open(p->ssd, path, NULL));
    refused(p->ssd, "host.firmware", "1us",
            "host.firmware: an operation log or a trace is being written");
    g_assert_true(ssd_oplog_close(p->ssd, NULL));
    ssd_power_cut(p->ssd, p->now_ns);
    refused(p->ssd, "host.firmware", "1us", "host.firmware: the drive is off");
    g_assert_cmpint(close(fd), ==, 0);
    g_assert_cmpint(unlink(path), ==, 0);
    play_free(p);
    play_free(held);
}

/* ---- the gate ------------------------------------------------------------ */

typedef struct Watcher {
    Ssd *ssd;
    SsdMoment last;
    uint64_t n;
    bool changes; /* an option, once */
} Watcher;

static void pass(void *opaque, const SsdMoment *next)
{
    Watcher *w = opaque;

    g_assert_cmpuint(next->at_ns, >=, w->last.at_ns);
    g_assert_cmpuint(next->commands, >=, w->last.commands);
    g_assert_cmpuint(next->victims, >=, w->last.victims);
    w->last = *next;
    if (++w->n == 500 && w->changes) {
        set(w->ssd, "buffer.flush_interval", "0ns");
    }
}

static void test_gate(void)
{
    Play *a = play_full("");
    Play *b = play_full("");
    Watcher w = {.ssd = b->ssd};

    ssd_set_gate(b->ssd, pass, &w);
    go_on(a, N);
    go_on(b, N);
    g_assert_true(same(a, b));
    g_assert_cmpuint(w.n, >, 2 * N);
    g_assert_cmpuint(w.last.commands, >, N / 2);
    g_assert_cmpuint(w.last.victims, >, 10);
    g_assert_cmpuint(w.last.power_cuts, ==, 0);
    ssd_power_cut(b->ssd, b->now_ns);
    ssd_power_on(b->ssd, b->now_ns);
    go_on(b, 5);
    g_assert_cmpuint(w.last.power_cuts, ==, 1);
    w.n = 0;
    ssd_set_gate(b->ssd, NULL, NULL);
    go_on(b, 5);
    g_assert_cmpuint(w.n, ==, 0);
    play_free(a);
    play_free(b);
}

/* The gate takes the event away that it was asked about: a flush. */
static void test_gate_changes(void)
{
    Play *p = play_full("buffer.flush_interval=1us");
    Watcher w = {.ssd = p->ssd, .changes = true};

    ssd_set_gate(p->ssd, pass, &w);
    go_on(p, N);
    g_assert_cmpuint(w.n, >, 500);
    g_assert_true(ssd_check(p->ssd, NULL));
    play_free(p);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/running/listed", test_listed);
    g_test_add_func("/running/from-the-start", test_from_the_start);
    g_test_add_func("/running/from-a-state", test_from_a_state);
    g_test_add_func("/running/at-any-time", test_at_any_time);
    g_test_add_func("/running/no-change", test_no_change);
    g_test_add_func("/running/idle", test_idle);
    g_test_add_func("/running/refused", test_refused);
    g_test_add_func("/running/gate", test_gate);
    g_test_add_func("/running/gate-changes", test_gate_changes);
    return g_test_run();
}
