/* SPDX-License-Identifier: GPL-2.0-or-later */
/* traces.c - merging, layout and re-timing of traces. */
#include "traces.h"

#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <glib/gstdio.h>

#include "prng.h"

static char *dir;

/* A trace in SSDSim's format. */
static char *write_trace(const char *name, const char *text)
{
    char *path = g_build_filename(dir, name, NULL);

    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    return path;
}

static GArray *read_all(const TracesConfig *cfg)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(Request));
    GError *error = NULL;
    Traces *t = traces_open(cfg, &error);
    RequestNext r;
    RequestSource s;
    Request req;

    g_assert_no_error(error);
    s = traces_source(t);
    while ((r = s.next(s.opaque, &req, &error)) == REQUEST_OK) {
        g_array_append_val(all, req);
    }
    g_assert_no_error(error);
    g_assert_cmpint(r, ==, REQUEST_END);
    traces_close(t);
    return all;
}

static TracesConfig config(const char *const *paths)
{
    TracesConfig cfg = {
        .paths = paths,
        .options = TRACE_OPTIONS_INIT,
        .seed = 5,
    };

    cfg.options.format = &trace_ssdsim;
    return cfg;
}

static const Request *at(const GArray *a, unsigned i)
{
    g_assert_cmpuint(i, <, a->len);
    return &g_array_index(a, Request, i);
}

#define MIB (1ULL << 20)

static void test_merge(void)
{
    /* Extents: 3 MiB + 4 KiB (so the next begins at 4 MiB), and 8 KiB. */
    g_autofree char *one = write_trace("one", "10 0 8 8 0\n30 0 6144 8 1\n"
                                              "50 0 8 8 0\n");
    g_autofree char *two = write_trace("two", "7 0 0 8 0\n17 0 8 8 1\n"
                                              "67 0 0 8 0\n");
    const char *paths[] = {one, two, NULL};
    static const Request want[] = {
        {0, 4096, 4096, SSD_OP_WRITE, false, 0, 0, 0, 0},
        {0, 4 * MIB, 4096, SSD_OP_WRITE, false, 1, 0, 0, 0},
        {10, 4 * MIB + 4096, 4096, SSD_OP_READ, false, 1, 0, 0, 0},
        {20, 3 * MIB, 4096, SSD_OP_READ, false, 0, 0, 0, 0},
        {40, 4096, 4096, SSD_OP_WRITE, false, 0, 0, 0, 0},
        {60, 4 * MIB, 4096, SSD_OP_WRITE, false, 1, 0, 0, 0},
    };
    TracesConfig cfg = config(paths);
    GArray *all;

    cfg.remap = TRACES_REMAP_BESIDE;
    all = read_all(&cfg);
    g_assert_cmpuint(all->len, ==, G_N_ELEMENTS(want));
    for (unsigned i = 0; i < all->len; i++) {
        g_assert_cmpuint(at(all, i)->at_ns, ==, want[i].at_ns);
        g_assert_cmpuint(at(all, i)->offset, ==, want[i].offset);
        g_assert_cmpint(at(all, i)->op, ==, want[i].op);
        g_assert_cmpuint(at(all, i)->space, ==, want[i].space);
    }
    g_array_free(all, TRUE);

    /* Touched: chunks 1 and 768 of the one, 0 and 1 of the other. */
    cfg.remap = TRACES_REMAP_COMPACT;
    all = read_all(&cfg);
    g_assert_cmpuint(at(all, 0)->offset, ==, 0);
    g_assert_cmpuint(at(all, 1)->offset, ==, 2 * 4096);
    g_assert_cmpuint(at(all, 2)->offset, ==, 3 * 4096);
    g_assert_cmpuint(at(all, 3)->offset, ==, 4096);
    g_array_free(all, TRUE);

    cfg.remap = TRACES_REMAP_NONE;
    all = read_all(&cfg);
    g_assert_cmpuint(at(all, 1)->offset, ==, 0);
    g_array_free(all, TRUE);
}

/* Devices of one trace are at the same addresses only when that is asked. */
static void test_beside(void)
{
    g_autofree char *path = write_trace("one", "10 3 0 8 0\n20 3 8 8 0\n"
                                               "30 5 0 8 0\n40 3 0 8 0\n"
                                               "50 4 8 8 1\n");
    const char *paths[] = {path, NULL};
    static const struct {
        unsigned remap;
        uint32_t retime;
        const char *device;
        TracesRemap taken;
        unsigned n;
        uint64_t offset[5];
    } want[] = {
        {TRACES_N_REMAPS,
         0,
         NULL,
         TRACES_REMAP_BESIDE,
         5,
         {0, 4096, MIB, 0, 2 * MIB + 4096}},
        {TRACES_N_REMAPS,
         1,
         NULL,
         TRACES_REMAP_BESIDE,
         5,
         {0, 4096, MIB, 0, 2 * MIB + 4096}},
        {TRACES_REMAP_MODULO,
         0,
         NULL,
         TRACES_REMAP_MODULO,
         5,
         {0, 4096, MIB, 0, 2 * MIB + 4096}},
        {TRACES_REMAP_BESIDE,
         0,
         NULL,
         TRACES_REMAP_BESIDE,
         5,
         {0, 4096, MIB, 0, 2 * MIB + 4096}},
        {TRACES_REMAP_NONE,
         0,
         NULL,
         TRACES_REMAP_NONE,
         5,
         {0, 4096, 0, 0, 4096}},
        {TRACES_N_REMAPS, 0, "3", TRACES_REMAP_NONE, 3, {0, 4096, 0}},
        {TRACES_N_REMAPS, 1, "3", TRACES_REMAP_NONE, 3, {0, 4096, 0}},
    };

    for (size_t w = 0; w < G_N_ELEMENTS(want); w++) {
        TracesConfig cfg = config(paths);
        GError *error = NULL;
        Traces *t;
        RequestSource s;
        Request req;

        cfg.remap = want[w].remap;
        cfg.retime = want[w].retime;
        cfg.options.device = want[w].device;
        t = traces_open(&cfg, &error);
        g_assert_no_error(error);
        s = traces_source(t);
        for (unsigned i = 0; i < want[w].n; i++) {
            g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_OK);
            g_assert_cmpuint(req.offset, ==, want[w].offset[i]);
        }
        g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_END);
        g_assert_cmpint(traces_remap(t), ==, want[w].taken);
        traces_close(t);
    }
}

/* On one clock, and one after the other: the same device of both. */
static void test_join(void)
{
    g_autofree char *one = write_trace("one", "10 3 8 8 0\n30 4 16 8 0\n");
    g_autofree char *two = write_trace("two", "5 4 24 8 0\n25 3 32 8 0\n");
    const char *paths[] = {one, two, NULL};
    static const struct {
        Join join;
        uint64_t at_ns[4];
        uint64_t page[4];
        uint32_t space[4];
    } want[] = {
        {JOIN_APART, {0, 0, 20, 20}, {1, 3, 2, 4}, {0, 1, 2, 3}},
        {JOIN_CLOCK, {0, 5, 20, 25}, {3, 1, 4, 2}, {0, 1, 1, 0}},
        {JOIN_APPEND, {0, 20, 20, 40}, {1, 2, 3, 4}, {0, 1, 1, 0}},
        {N_JOINS, {0, 0, 20, 20}, {1, 3, 2, 4}, {0, 1, 2, 3}},
    };

    for (size_t w = 0; w < G_N_ELEMENTS(want); w++) {
        TracesConfig cfg = config(paths);
        GArray *all;

        cfg.join = want[w].join;
        all = read_all(&cfg);
        g_assert_cmpuint(all->len, ==, 4);
        for (unsigned i = 0; i < all->len; i++) {
            g_assert_cmpuint(at(all, i)->at_ns, ==, want[w].at_ns[i]);
            g_assert_cmpuint(at(all, i)->offset, ==, want[w].page[i] * 4096);
            g_assert_cmpuint(at(all, i)->space, ==, want[w].space[i]);
        }
        g_array_free(all, TRUE);
    }
}

/* Requests stay in one piece and in order, whatever is left out. */
static void test_compact(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autofree char *path = NULL;
    const char *paths[2] = {NULL};
    g_autoptr(GHashTable) image = g_hash_table_new(NULL, NULL);
    TracesConfig cfg;
    GArray *plain, *compact;
    uint64_t highest = 0;
    Prng r;

    prng_seed(&r, 1, 1);
    for (int i = 0; i < 3000; i++) {
        uint64_t sector = prng_below(&r, 1 << 24);
        uint64_t n = 1 + prng_below(&r, 64);

        g_string_append_printf(text, "%d 0 %u %u 0\n", i, (unsigned)sector,
                               (unsigned)n);
    }
    path = write_trace("random", text->str);
    paths[0] = path;
    cfg = config(paths);
    plain = read_all(&cfg);
    cfg.remap = TRACES_REMAP_COMPACT;
    compact = read_all(&cfg);
    g_assert_cmpuint(plain->len, ==, compact->len);
    for (unsigned i = 0; i < plain->len; i++) {
        const Request *a = at(plain, i);
        const Request *b = at(compact, i);

        g_assert_cmpuint(a->nbytes, ==, b->nbytes);
        g_assert_cmpuint(a->offset % 4096, ==, b->offset % 4096);
        for (uint64_t c = 0; c <= (a->offset % 4096 + a->nbytes - 1) / 4096;
             c++) {
            gpointer from = GUINT_TO_POINTER(a->offset / 4096 + c + 1);
            gpointer to = GUINT_TO_POINTER(b->offset / 4096 + c + 1);
            gpointer before = g_hash_table_lookup(image, from);

            g_assert_true(!before || before == to);
            g_hash_table_insert(image, from, to);
        }
        highest = MAX(highest, b->offset + b->nbytes);
    }
    /* As many chunks as were touched, no gap. */
    g_assert_cmpuint((highest + 4095) / 4096, ==, g_hash_table_size(image));
    g_array_free(plain, TRUE);
    g_array_free(compact, TRUE);
}

/* ---- re-timing ----------------------------------------------------------- */

#define N_WRITES 4001

/* Writes in bursts at any time, a read every 10 us. */
static char *bursts(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    uint64_t at_ns = 0;
    unsigned writes = 0;
    Prng r;

    prng_seed(&r, 2, 2);
    while (writes < N_WRITES) {
        at_ns += 5000;
        if (at_ns % 10000 == 0) {
            g_string_append_printf(text, "%u 0 800000 8 1\n", (unsigned)at_ns);
        }
        for (uint64_t n = prng_below(&r, 3); n > 0 && writes < N_WRITES; n--) {
            g_string_append_printf(text, "%u 0 %u 8 0\n", (unsigned)at_ns,
                                   8 * writes++);
        }
    }
    return write_trace("bursts", text->str);
}

static void check_retimed(const GArray *before, const GArray *after, unsigned k)
{
    uint64_t first_ns = UINT64_MAX, last_ns = 0, span_ns;
    unsigned reads = 0, writes = 0, old_reads = 0, batch = 0, largest = 0;
    uint64_t batch_ns = UINT64_MAX;

    for (unsigned i = 0; i < before->len; i++) {
        if (at(before, i)->op == SSD_OP_WRITE) {
            first_ns = MIN(first_ns, at(before, i)->at_ns);
            last_ns = at(before, i)->at_ns;
        }
    }
    span_ns = last_ns - first_ns;
    g_assert_cmpuint(before->len, ==, after->len);
    for (unsigned i = 0; i < after->len; i++) {
        const Request *r = at(after, i);

        g_assert_true(i == 0 || r->at_ns >= at(after, i - 1)->at_ns);
        if (r->op == SSD_OP_READ) {
            while (at(before, old_reads)->op != SSD_OP_READ) {
                old_reads++;
            }
            g_assert_cmpuint(r->at_ns, ==, at(before, old_reads++)->at_ns);
            reads++;
            continue;
        }
        g_assert_cmpuint(r->offset, ==, 4096ULL * writes);
        if (r->at_ns != batch_ns) {
            /* A batch of N is followed by N mean intervals. */
            uint64_t want = first_ns + (uint64_t)((unsigned __int128)writes *
                                                  span_ns / (N_WRITES - 1));

            g_assert_cmpuint(r->at_ns, ==, want);
            batch_ns = r->at_ns;
            batch = 0;
        }
        batch++;
        largest = MAX(largest, batch);
        writes++;
    }
    g_assert_cmpuint(writes, ==, N_WRITES);
    g_assert_cmpuint(reads, >, 100);
    g_assert_cmpuint(largest, ==, k);
}

static void test_retime(void)
{
    g_autofree char *path = bursts();
    const char *paths[] = {path, NULL};
    TracesConfig cfg = config(paths);
    GArray *before = read_all(&cfg);

    for (unsigned k = 1; k <= 64; k *= 4) {
        GArray *after;

        cfg.retime = k;
        after = read_all(&cfg);
        check_retimed(before, after, k);
        g_array_free(after, TRUE);
    }
    g_array_free(before, TRUE);
}

/* ---- a window, passes, a sample ------------------------------------------ */

static void test_window(void)
{
    g_autofree char *path = write_trace("one", "10 0 8 8 0\n30 0 16 8 1\n"
                                               "50 0 24 8 0\n");
    const char *paths[] = {path, NULL};
    /* From 15 on, twice; the second pass begins when the first ended. */
    static const Request want[] = {
        {5, 8192, 4096, SSD_OP_READ, false, 0, 0, 0, 0},
        {25, 12288, 4096, SSD_OP_WRITE, false, 0, 0, 0, 0},
        {30, 8192, 4096, SSD_OP_READ, false, 0, 0, 0, 0},
        {50, 12288, 4096, SSD_OP_WRITE, false, 0, 0, 0, 0},
    };
    TracesConfig cfg = config(paths);
    GError *error = NULL;
    GArray *all;
    Traces *t;
    RequestSource s;
    Request req;

    cfg.reading = (ReadingConfig){.from_ns = 15, .repeat = 2};
    for (unsigned how = 0; how < 2; how++) {
        /* Laid out, the part before the window takes no room. */
        uint64_t less = how ? 8192 : 0;

        cfg.remap = how ? TRACES_REMAP_COMPACT : TRACES_REMAP_NONE;
        all = read_all(&cfg);
        g_assert_cmpuint(all->len, ==, G_N_ELEMENTS(want));
        for (unsigned i = 0; i < all->len; i++) {
            g_assert_cmpuint(at(all, i)->at_ns, ==, want[i].at_ns);
            g_assert_cmpuint(at(all, i)->offset, ==, want[i].offset - less);
            g_assert_cmpint(at(all, i)->op, ==, want[i].op);
        }
        g_array_free(all, TRUE);
    }
    cfg.remap = TRACES_REMAP_NONE;
    cfg.options.scale_ppm = 2000000; /* the window is of the trace's own time */
    all = read_all(&cfg);
    g_assert_cmpuint(all->len, ==, 4);
    g_assert_cmpuint(at(all, 3)->at_ns, ==, 100);
    g_array_free(all, TRUE);

    cfg.reading.from_ns = 41;
    t = traces_open(&cfg, &error);
    g_assert_no_error(error);
    s = traces_source(t);
    g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_ERROR);
    g_assert_nonnull(strstr(error->message, "after --from"));
    g_clear_error(&error);
    traces_close(t);
}

/* All requests of a chunk or none; as many chunks as asked for; a smaller
 * sample is part of a larger one. */
static void test_sample(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GHashTable) larger = g_hash_table_new(NULL, NULL);
    g_autofree char *path = NULL;
    const char *paths[2] = {NULL};
    TracesConfig cfg;
    GArray *half, *tenth;

    for (int i = 0; i < 20000; i++) {
        g_string_append_printf(text, "%d 0 %d 1 %d\n", i,
                               8 * (i % 10000) + i % 8, i % 2);
    }
    path = write_trace("random", text->str);
    paths[0] = path;
    cfg = config(paths);
    cfg.reading.sample_ppm = 500000;
    half = read_all(&cfg);
    cfg.reading.sample_ppm = 100000;
    tenth = read_all(&cfg);
    for (unsigned i = 0; i < half->len; i++) {
        g_hash_table_add(larger, GUINT_TO_POINTER(at(half, i)->offset / 4096));
    }
    g_assert_cmpuint(half->len, ==, 2 * g_hash_table_size(larger));
    g_assert_cmpuint(half->len, >, 9500);
    g_assert_cmpuint(half->len, <, 10500);
    g_assert_cmpuint(tenth->len, >, 1800);
    g_assert_cmpuint(tenth->len, <, 2200);
    for (unsigned i = 0; i < tenth->len; i++) {
        g_assert_true(g_hash_table_contains(
            larger, GUINT_TO_POINTER(at(tenth, i)->offset / 4096)));
    }
    g_array_free(half, TRUE);
    g_array_free(tenth, TRUE);
}

static void test_errors(void)
{
    g_autofree char *good = write_trace("good", "1 0 8 8 0\n");
    g_autofree char *bad = write_trace("bad", "1 0 8 8 0\n2 0 x 8 0\n");
    const char *missing[] = {good, "/nowhere/trace", NULL};
    const char *damaged[] = {good, bad, NULL};
    TracesConfig cfg = config(missing);
    GError *error = NULL;

    g_assert_null(traces_open(&cfg, &error));
    g_assert_nonnull(strstr(error->message, "/nowhere/trace"));
    g_clear_error(&error);
    cfg = config(damaged);
    cfg.remap = TRACES_REMAP_COMPACT;
    g_assert_null(traces_open(&cfg, &error));
    g_assert_nonnull(strstr(error->message, "bad:2: field 3"));
    g_clear_error(&error);
    cfg.options.skip_bad = true;
    g_array_free(read_all(&cfg), TRUE);
}

/* A pipe is read once; what needs more is refused before that. */
static void test_pipe(void)
{
    g_autofree char *path = g_build_filename(dir, "pipe", NULL);
    const char *const paths[] = {path, NULL};
    static const struct {
        TracesRemap remap;
        uint32_t retime;
        const char *says;
    } t[] = {{TRACES_REMAP_COMPACT, 0, "--remap=beside or compact needs two"},
             {TRACES_REMAP_BESIDE, 0, "--remap=beside or compact needs two"},
             {TRACES_REMAP_NONE, 8, "--retime needs two readings"}};

    g_assert_cmpint(mkfifo(path, 0600), ==, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        TracesConfig cfg = config(paths);
        g_autoptr(GError) error = NULL;

        cfg.remap = t[i].remap;
        cfg.retime = t[i].retime;
        g_assert_null(traces_open(&cfg, &error)); /* and does not wait */
        g_assert_nonnull(strstr(error->message, t[i].says));
    }
    g_unlink(path);
}

int main(int argc, char **argv)
{
    int ret;

    g_test_init(&argc, &argv, NULL);
    dir = g_dir_make_tmp("vssd-traces-XXXXXX", NULL);
    g_assert_nonnull(dir);
    g_test_add_func("/traces/merge", test_merge);
    g_test_add_func("/traces/beside", test_beside);
    g_test_add_func("/traces/join", test_join);
    g_test_add_func("/traces/compact", test_compact);
    g_test_add_func("/traces/retime", test_retime);
    g_test_add_func("/traces/window", test_window);
    g_test_add_func("/traces/sample", test_sample);
    g_test_add_func("/traces/errors", test_errors);
    g_test_add_func("/traces/pipe", test_pipe);
    ret = g_test_run();
    for (const char *const *name =
             (const char *const[]){"one", "two", "random", "bursts", "good",
                                   "bad", NULL};
         *name; name++) {
        g_autofree char *path = g_build_filename(dir, *name, NULL);

        g_unlink(path);
    }
    g_rmdir(dir);
    g_free(dir);
    return ret;
}
