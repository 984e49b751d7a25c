/* SPDX-License-Identifier: GPL-2.0-or-later */
/* binary.c - binary traces: every request comes back, every damage is found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binary.h"

/* All kinds, FUA, two devices, a flush. */
static const char text[] = "8,0 0 1 5.0 1 D W 16 + 8 [x]\n"
                           "8,0 0 2 5.1 1 D WFS 32 + 8 [x]\n"
                           "8,16 0 3 5.2 1 D R 4096 + 8388607 [x]\n"
                           "8,0 0 4 5.2 1 D D 8 + 1024 [x]\n"
                           "8,16 0 5 5.3 1 D FN [x]\n"
                           "8,0 0 6 5.4 1 D R 9007199254740991 + 8 [x]\n";

static Trace *open_memory(const void *data, size_t n, const char *device,
                          GError **error)
{
    TraceOptions o = TRACE_OPTIONS_INIT;

    o.device = device;
    return trace_from_memory(data, n, &o, error);
}

static uint64_t number(const void *opaque, uint32_t space)
{
    return trace_device(opaque, space);
}

static char *to_binary(const char *from, size_t *n)
{
    GError *error = NULL;
    Trace *t = open_memory(from, strlen(from), NULL, &error);
    char *out = NULL;
    FILE *f = open_memstream(&out, n);
    RequestSource s;
    bool ok;

    g_assert_no_error(error);
    s = trace_source(t);
    ok = binary_write(&s, &(BinaryDevices){number, t}, f, &error);
    g_assert_no_error(error);
    g_assert_true(ok);
    fclose(f);
    trace_close(t);
    return out;
}

static void check_same(const char *device)
{
    size_t n;
    char *binary = to_binary(text, &n);
    Trace *a = open_memory(text, strlen(text), device, NULL);
    Trace *b = open_memory(binary, n, device, NULL);
    RequestSource sa = trace_source(a);
    RequestSource sb = trace_source(b);
    RequestNext next;

    g_assert_true(trace_format(b) == &trace_binary);
    do {
        Request x, y;
        RequestNext other;

        memset(&x, 0, sizeof(x));
        memset(&y, 0, sizeof(y));
        next = sa.next(sa.opaque, &x, NULL);
        other = sb.next(sb.opaque, &y, NULL);
        g_assert_cmpint(next, ==, other);
        g_assert_cmpmem(&x, sizeof(x), &y, sizeof(y));
    } while (next == REQUEST_OK);
    g_assert_cmpint(next, ==, REQUEST_END);
    g_assert_cmpint(sb.next(sb.opaque, &(Request){0}, NULL), ==, REQUEST_END);
    trace_close(a);
    trace_close(b);
    free(binary);
}

/* As text and in binary the requests are the same, of one device, too. */
static void test_same(void)
{
    check_same(NULL);
    check_same("8,16");
}

/* The layout that the page gives. */
static void test_layout(void)
{
    size_t n;
    char *b = to_binary("time_ns,device,sector,sectors,is_read\n"
                        "1000,3,16,8,0\n1250,3,2048,1,1\n",
                        &n);
    static const uint8_t want[] = {
        'v',
        's',
        's',
        'd',
        'B',
        'I',
        'N',
        '1',
        24,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        /* device 0 is 3 */
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        3,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        4,
        0,
        0,
        0,
        /* a write of 4096 bytes at 8192; 250 ns later a read of 512 */
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        32,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        16,
        0,
        0,
        1,
        0,
        0,
        0,
        250,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        16,
        0,
        0,
        0,
        0,
        0,
        0,
        2,
        0,
        0,
        0,
        0,
        0,
        0,
        /* two requests; the sum follows */
        2,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
    };

    g_assert_cmpuint(n, ==, 32 + 4 * 24);
    g_assert_cmpmem(b, sizeof(want), want, sizeof(want));
    free(b);
}

/* Read all of it; NULL, or the fault. */
static char *read_all(const void *data, size_t n)
{
    g_autoptr(GError) error = NULL;
    Trace *t = open_memory(data, n, NULL, &error);
    RequestNext next = REQUEST_ERROR;

    if (t) {
        RequestSource s = trace_source(t);
        Request req;

        while ((next = s.next(s.opaque, &req, &error)) == REQUEST_OK) {
        }
        trace_close(t);
    }
    g_assert_true((next == REQUEST_ERROR) == (error != NULL));
    if (error) {
        g_assert_null(strchr(error->message, '\n'));
    }
    return error ? g_strdup(error->message) : NULL;
}

/* A bit is changed, anywhere; the file is cut, anywhere; or has more. */
static void test_damage(void)
{
    size_t n;
    char *b = to_binary(text, &n);

    g_assert_null(read_all(b, n));
    for (size_t i = 0; i < n * 8; i++) {
        g_autofree char *fault = NULL;

        b[i / 8] ^= (char)(1 << i % 8);
        fault = read_all(b, n);
        g_assert_nonnull(fault);
        b[i / 8] ^= (char)(1 << i % 8);
    }
    for (size_t i = 0; i < n; i++) {
        g_autofree char *fault = read_all(b, i);

        g_assert_nonnull(fault);
    }
    b = realloc(b, n + 1);
    b[n] = 0;
    {
        g_autofree char *fault = read_all(b, n + 1);

        g_assert_nonnull(strstr(fault, "behind the last record"));
    }
    free(b);
}

/* Records in another order, or twice. */
static void test_order(void)
{
    const size_t at = BINARY_HEADER_BYTES;
    size_t n;
    char *b = to_binary(text, &n);

    for (size_t i = at; i + BINARY_RECORD_BYTES < n; i += BINARY_RECORD_BYTES) {
        g_autofree char *copy = g_memdup2(b, n);
        g_autofree char *fault = NULL;

        memcpy(copy + i, b + i + BINARY_RECORD_BYTES, BINARY_RECORD_BYTES);
        fault = read_all(copy, n);
        g_assert_nonnull(fault);
    }
    free(b);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/binary/same", test_same);
    g_test_add_func("/binary/layout", test_layout);
    g_test_add_func("/binary/damage", test_damage);
    g_test_add_func("/binary/order", test_order);
    return g_test_run();
}
