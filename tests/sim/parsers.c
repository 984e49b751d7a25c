/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parsers.c - every parser of text, fed with damaged versions of good input.
 *
 * A seeded generator cuts, repeats, swaps and overwrites bytes.  Whatever comes
 * out, a parser either takes it or names the fault in one line; a result must
 * be usable.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <glib/gstdio.h>

#include "prng.h"
#include "ssd-setup.h"
#include "trace.h"
#include "workload.h"

#define ROUNDS 4000

static char *temp_path(const char *suffix)
{
    g_autofree char *pattern =
        g_strconcat("vssd-parsers-XXXXXX.", suffix, NULL);
    char *path;
    int fd = g_file_open_tmp(pattern, &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    return path;
}

static void damage_once(GString *s, Prng *r)
{
    static const char tokens[] = "0123456789-+.,;=/:%[]#ekKMGiBmuns\r\n\t \xff";
    gsize at = prng_below(r, s->len + 1);
    gsize most = 1 + prng_below(r, 8);
    gsize n = MIN(most, s->len - at);
    char token = tokens[prng_below(r, sizeof(tokens))]; /* NUL too */

    switch (prng_below(r, 4)) {
    case 0:
        g_string_erase(s, (gssize)at, (gssize)n);
        break;
    case 1:
        g_string_insert_c(s, (gssize)at, token);
        break;
    case 2:
        if (at < s->len) {
            s->str[at] = token;
        }
        break;
    default: {
        g_autofree char *copy = g_strndup(s->str + at, n);

        g_string_insert_len(s, (gssize)prng_below(r, s->len + 1), copy,
                            (gssize)strlen(copy));
        break;
    }
    }
}

static GString *damaged(const char *good, Prng *r)
{
    GString *s = g_string_new(good);
    uint64_t n = prng_below(r, 6);

    for (uint64_t i = 0; i < n; i++) {
        damage_once(s, r);
    }
    return s;
}

/* Without g_file_set_contents()'s fsync. */
static void write_file(const char *path, const GString *s)
{
    FILE *f = fopen(path, "w");

    g_assert_nonnull(f);
    g_assert_cmpuint(fwrite(s->str, 1, s->len, f), ==, s->len);
    fclose(f);
}

static void one_line(const GError *error)
{
    g_assert_nonnull(error);
    g_assert_true(error->message[0] != '\0');
    g_assert_null(strchr(error->message, '\n'));
}

static void no_line_ends(GString *s)
{
    g_strdelimit(s->str, "\r\n", ' ');
}

/* An option string; an accepted configuration makes a drive. */
static void test_options(void)
{
    static const char good[] =
        "nand.channels=2;nand.blocks=24;nand.pages=8;nand.read=50us;"
        "nand.page_size=16KiB;ftl.op_percent=60.5%;buffer.size=1.5MiB;"
        "host.complete_at=program;seed=7";
    unsigned taken = 0;
    Prng r;

    prng_seed(&r, 1, 1);
    for (int i = 0; i < ROUNDS; i++) {
        g_autoptr(GString) s = damaged(good, &r);
        g_autoptr(GError) error = NULL;
        SsdConfig *cfg = ssd_config_new();

        no_line_ends(s);
        if (!ssd_config_set(cfg, s->str, &error)) {
            one_line(error);
        } else if (!ssd_config_check(cfg, &error)) {
            one_line(error);
        } else {
            Ssd *ssd = ssd_create(cfg, NULL, NULL, &error);

            g_assert_no_error(error);
            ssd_destroy(ssd);
            taken++;
        }
        ssd_config_free(cfg);
    }
    g_assert_cmpuint(taken, >, ROUNDS / 20);
    g_assert_cmpuint(taken, <, ROUNDS);
}

static void test_profile(void)
{
    static const char good[] =
        "# A drive\n[drive]\nseed = 5\n[nand]\nchannels = 2\nblocks = 24\n"
        "read = 50us\n[ftl]\nop_percent = 60%\ngc = greedy\n[host]\n"
        "complete_at = buffer\n";
    g_autofree char *path = temp_path("ini");
    unsigned taken = 0;
    Prng r;

    prng_seed(&r, 2, 2);
    for (int i = 0; i < ROUNDS / 4; i++) {
        g_autoptr(GString) s = damaged(good, &r);
        g_autoptr(GError) error = NULL;
        SsdConfig *cfg = ssd_config_new();

        write_file(path, s);
        if (ssd_config_load(cfg, path, &error)) {
            taken++;
        } else {
            one_line(error);
            g_assert_nonnull(strstr(error->message, path));
        }
        ssd_config_free(cfg);
    }
    g_unlink(path);
    g_assert_cmpuint(taken, >, ROUNDS / 80);
}

/* Keywords; accepted ones yield requests inside the drive. */
static void test_workload(void)
{
    static const char good[] =
        "rw=randrw bssplit=4k/70:64k/30 iodepth=8 rwmixread=70 size=50% "
        "offset=1m number_ios=100 runtime=2s fsync=3 io_size=1g";
    const uint64_t capacity = 64ULL << 20;
    unsigned taken = 0;
    Prng r;

    prng_seed(&r, 3, 3);
    for (int i = 0; i < ROUNDS; i++) {
        g_autoptr(GString) s = damaged(good, &r);
        g_autoptr(GError) error = NULL;
        Workload *w;
        RequestSource source;
        Request req;

        no_line_ends(s);
        w = workload_new(s->str, capacity, 512, 1, &error);
        if (!w) {
            one_line(error);
            continue;
        }
        taken++;
        source = workload_source(w);
        for (int k = 0; k < 50; k++) {
            if (source.next(source.opaque, &req, &error) != REQUEST_OK) {
                break;
            }
            g_assert_cmpuint(req.offset % 512, ==, 0);
            g_assert_cmpuint(req.nbytes % 512, ==, 0);
            g_assert_cmpuint(req.nbytes, <=, capacity);
            g_assert_cmpuint(req.offset, <=, capacity - req.nbytes);
            g_assert_true(req.nbytes > 0 || req.op == SSD_OP_FLUSH);
        }
        g_assert_no_error(error);
        workload_free(w);
    }
    g_assert_cmpuint(taken, >, ROUNDS / 20);
}

static const TraceOptions msr = {.format = &trace_msr, .scale_ppm = 1000000};

/* A trace; times never go back, sizes are never 0. */
static void test_trace(void)
{
    static const char good[] =
        "128166372000000000,test,0,Write,0,4096,100\n"
        "128166372000000500,test,0,Read,8192,16384,200\r\n"
        "128166372000000400,test,0,Write,4096,512,300\n";
    g_autofree char *path = temp_path("csv");
    unsigned whole = 0;
    Prng r;

    prng_seed(&r, 4, 4);
    for (int i = 0; i < ROUNDS / 4; i++) {
        g_autoptr(GString) s = damaged(good, &r);
        g_autoptr(GError) error = NULL;
        RequestSource source;
        RequestNext next;
        uint64_t last_ns = 0;
        Request req;
        Trace *t;

        write_file(path, s);
        t = trace_open(path, &msr, &error);
        g_assert_no_error(error);
        source = trace_source(t);
        while ((next = source.next(source.opaque, &req, &error)) ==
               REQUEST_OK) {
            g_assert_cmpuint(req.at_ns, >=, last_ns);
            g_assert_cmpuint(req.nbytes, >, 0);
            last_ns = req.at_ns;
        }
        if (next == REQUEST_ERROR) {
            one_line(error);
        } else {
            g_assert_no_error(error);
            whole++;
        }
        trace_close(t);
    }
    g_unlink(path);
    g_assert_cmpuint(whole, >, ROUNDS / 80);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/parsers/options", test_options);
    g_test_add_func("/parsers/profile", test_profile);
    g_test_add_func("/parsers/workload", test_workload);
    g_test_add_func("/parsers/trace", test_trace);
    return g_test_run();
}
