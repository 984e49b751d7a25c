/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace.c - the MSR reader: good lines, and every kind of damage. */
#include "trace.h"

#include <string.h>
#include <unistd.h>
#include <glib/gstdio.h>

static const TraceOptions msr = {.format = &trace_msr, .scale_ppm = 1000000};

#define GOOD "128166372000000000,h,0,Write,0,4096,1\n"

/* One name, which others cannot guess; unlinked after each use. */
static char *temp_path(void)
{
    static char *path;

    if (!path) {
        int fd = g_file_open_tmp("vssd-trace-XXXXXX.csv", &path, NULL);

        g_assert_cmpint(fd, >=, 0);
        close(fd);
    }
    return g_strdup(path);
}

/* Read a trace from text; the requests, and the result at the end. */
static RequestNext read_all(const char *text, gssize len, Request *req,
                            size_t max, size_t *n, GError **error)
{
    g_autofree char *path = temp_path();
    RequestNext r = REQUEST_OK;
    RequestSource s;
    Trace *t;

    g_assert_true(g_file_set_contents(path, text, len, NULL));
    t = trace_open(path, &msr, error);
    g_assert_nonnull(t);
    s = trace_source(t);
    for (*n = 0; *n < max; (*n)++) {
        r = s.next(s.opaque, &req[*n], error);
        if (r != REQUEST_OK) {
            break;
        }
    }
    trace_close(t);
    g_unlink(path);
    return r;
}

static void test_file(void)
{
    const char *dir = g_getenv("VSSD_TEST_DATA");
    g_autofree char *path = g_build_filename(dir, "small-msr.csv", NULL);
    g_autofree char *where = NULL;
    g_autofree char *want = g_strconcat(path, ":4", NULL);
    static const Request wanted[] = {
        {0, 0, 4096, SSD_OP_WRITE, false, 0, 0, 0, 0},
        {50000, 8192, 16384, SSD_OP_READ, false, 0, 0, 0, 0},
        {50000, 4096, 512, SSD_OP_WRITE, false, 0, 0, 0,
         0}, /* older than the one before */
        {1000000, 1048576, 1024, SSD_OP_READ, false, 0, 0, 0, 0},
    };
    GError *error = NULL;
    Trace *t = trace_open(path, &msr, &error);
    RequestSource s;
    Request req;

    g_assert_no_error(error);
    s = trace_source(t);
    g_assert_cmpuint(s.iodepth, ==, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++) {
        g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_OK);
        g_assert_cmpuint(req.at_ns, ==, wanted[i].at_ns);
        g_assert_cmpuint(req.offset, ==, wanted[i].offset);
        g_assert_cmpuint(req.nbytes, ==, wanted[i].nbytes);
        g_assert_cmpint(req.op, ==, wanted[i].op);
    }
    where = s.where(s.opaque);
    g_assert_cmpstr(where, ==, want);
    g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_END);
    g_assert_cmpuint(trace_n_disordered(t), ==, 1);
    trace_close(t);
}

static void damaged_n(const char *text, gssize len, unsigned line,
                      const char *says)
{
    g_autofree char *path = temp_path();
    g_autofree char *start = g_strdup_printf("%s:%u: ", path, line);
    g_autoptr(GError) error = NULL;
    Request req[8];
    size_t n;

    g_assert_cmpint(read_all(text, len, req, 8, &n, &error), ==, REQUEST_ERROR);
    if (!g_str_has_prefix(error->message, start) ||
        !strstr(error->message, says) || strchr(error->message, '\n')) {
        g_error("\"%s\" should start \"%s\" and say \"%s\"", error->message,
                start, says);
    }
    g_assert_cmpuint(n, ==, line - 1);
}

static void damaged(const char *text, unsigned line, const char *says)
{
    damaged_n(text, -1, line, says);
}

static void test_damaged(void)
{
    g_autofree char *longer = g_strnfill(10000, '1');
    g_autofree char *too_long = g_strconcat(GOOD, longer, "\n", NULL);

    damaged("x", 1, "field 1");
    damaged(GOOD ",h,0,Write,0,4096,1\n", 2, "field 1");
    damaged("-5,h,0,Write,0,4096,1\n", 1, "field 1");
    damaged("5\n", 1, "field 1");
    damaged("5,\n", 1, "fewer than 7");
    damaged("99999999999999999999,h,0,Write,0,4096,1\n", 1, "field 1");
    damaged("5,h,x,Write,0,4096,1\n", 1, "field 3");
    damaged("5,h,0,Erase,0,4096,1\n", 1, "field 4");
    damaged("5,h,0,Write\n", 1, "field 4");
    damaged("5,h,0,Write,0x5,4096,1\n", 1, "field 5");
    damaged("5,h,0,Write,-1,4096,1\n", 1, "field 5");
    damaged("5,h,0,Write,0,0,1\n", 1, "field 6");
    damaged("5,h,0,Write,0,5000000000,1\n", 1, "field 6");
    damaged("5,h,0,Write,0,4096\n", 1, "field 6");
    damaged("5,h,0,Write,0,4096,\n", 1, "field 7");
    damaged("5,h,0,Write,0,4096,1,2\n", 1, "field 7");
    damaged(GOOD "5,h,0,Write,0,40", 2, "field 6"); /* cut off */
    damaged(GOOD "138166372000000000,h,0,Read,0,4096,1\n", 2, "10 years");
    damaged(too_long, 2, "too long");
    damaged_n("5,h\0,0,Write,0,4096,1\n", 22, 1, "not text");
    damaged_n("\0\n", 2, 1, "not text");
}

/* Line ends of DOS, a last line without one, comments and empty lines. */
static void test_lenient(void)
{
    Request req[8];
    GError *error = NULL;
    size_t n;

    g_assert_cmpint(read_all("# comment\n\n5,h,0,WRITE,0,512,1\r\n"
                             "6,host with spaces,0,Read,512,512,1",
                             -1, req, 8, &n, &error),
                    ==, REQUEST_END);
    g_assert_no_error(error);
    g_assert_cmpuint(n, ==, 2);
    g_assert_cmpuint(req[1].at_ns, ==, 100);
    g_assert_cmpuint(req[1].offset, ==, 512);
}

/* Nothing to play is no result of nothing. */
static void test_empty(void)
{
    static const char *const texts[] = {
        "", "# a comment\n", "\n\n",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        Request req[8];
        g_autoptr(GError) error = NULL;
        size_t n;

        g_assert_cmpint(read_all(texts[i], -1, req, 8, &n, &error), ==,
                        REQUEST_ERROR);
        g_assert_error(error, SIM_ERROR, SIM_ERROR_TRACE);
        g_assert_nonnull(strstr(error->message, ": holds no request"));
    }
}

/* Lines older than the very first arrive at 0, and are counted. */
static void test_before_first(void)
{
    Request req[8];
    GError *error = NULL;
    size_t n;

    g_assert_cmpint(read_all("50,h,0,Read,0,512,1\n5,h,0,Read,0,512,1\n"
                             "51,h,0,Read,0,512,1\n",
                             -1, req, 8, &n, &error),
                    ==, REQUEST_END);
    g_assert_cmpuint(req[0].at_ns, ==, 0);
    g_assert_cmpuint(req[1].at_ns, ==, 0);
    g_assert_cmpuint(req[2].at_ns, ==, 100);
}

static void test_no_file(void)
{
    GError *error = NULL;

    g_assert_null(trace_open("/nowhere/x.csv", &msr, &error));
    g_assert_nonnull(strstr(error->message, "/nowhere/x.csv"));
    g_clear_error(&error);
    g_assert_null(trace_format_find("nosuch"));
    g_assert_true(trace_format_find("msr") == &trace_msr);
}

/* A directory opens and does not read. */
static void test_directory(void)
{
    GError *error = NULL;
    Trace *t = trace_open("/", &msr, &error);
    RequestSource s;
    Request req;

    if (t) {
        s = trace_source(t);
        g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_ERROR);
        trace_close(t);
    }
    g_assert_nonnull(error);
    g_clear_error(&error);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/trace/file", test_file);
    g_test_add_func("/trace/damaged", test_damaged);
    g_test_add_func("/trace/lenient", test_lenient);
    g_test_add_func("/trace/empty", test_empty);
    g_test_add_func("/trace/before-first", test_before_first);
    g_test_add_func("/trace/no-file", test_no_file);
    g_test_add_func("/trace/directory", test_directory);
    return g_test_run();
}
