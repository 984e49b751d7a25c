/* SPDX-License-Identifier: GPL-2.0-or-later */
/* formats-binary.c - binary formats, and packed files. */
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "simtime.h"
#include "trace-checks.h"

/* A record of vscsiStats. */
static void vscsi(GByteArray *a, unsigned version, uint64_t us, unsigned cmd,
                  uint64_t sector, uint32_t nbytes)
{
    if (version == 1) {
        put(a, 77, 4, false); /* serial number */
        put(a, nbytes, 4, false);
        put(a, 1, 4, false);
        put(a, cmd, 2, false);
        put(a, version << 8, 2, false);
    } else {
        put(a, cmd, 2, false);
        put(a, version << 8 | 1, 2, false);
        put(a, 77, 4, false);
        put(a, nbytes, 4, false);
        put(a, 1, 4, false);
    }
    put(a, sector, 8, false);
    put(a, us, 8, false);
    put(a, 333, version == 1 ? 0 : 8, false); /* response time */
}

static void test_vscsi(void)
{
    for (unsigned version = 1; version <= 2; version++) {
        g_autoptr(GByteArray) a = g_byte_array_new();
        TraceOptions o = TRACE_OPTIONS_INIT;
        uint64_t left[TRACE_N_LEFT];
        g_autofree char *got = NULL;
        GError *error = NULL;
        Trace *t;
        RequestSource s;
        Request req;

        vscsi(a, version, 5000000, 0x2a, 16, 4096);
        vscsi(a, version, 5001000, 0x88, 2048, 16384);
        vscsi(a, version, 5003000, 0x0a, 8, 512);
        t = open_text((char *)a->data, a->len, o);
        g_assert_true(trace_format(t) == &trace_vscsi);
        check_three(t);
        o.format = &trace_vscsi;
        check_three(open_text((char *)a->data, a->len, o));
        t = open_text((char *)a->data, a->len - 1, o);
        s = trace_source(t);
        while (s.next(s.opaque, &req, &error) == REQUEST_OK) {
        }
        g_assert_nonnull(strstr(error->message, ":3: the file ends within"));
        g_clear_error(&error);
        trace_close(t);

        vscsi(a, version, 5003000, 0x28, 8, 0); /* no data */
        t = open_text((char *)a->data, a->len, o);
        s = trace_source(t);
        while (s.next(s.opaque, &req, &error) == REQUEST_OK) {
        }
        g_assert_cmpuint(trace_n_left(t, TRACE_LEFT_EMPTY), ==, 1);
        trace_close(t);

        g_byte_array_set_size(a, 0);
        vscsi(a, version, 1, 0x28, 8, 4096);
        vscsi(a, version, 1, 0x12, 0, 36); /* INQUIRY */
        vscsi(a, version, 1, 0x35, 0, 0);
        vscsi(a, version, 1, 0xae, 8, 4096);
        got = played(open_text((char *)a->data, a->len, o), left);
        g_assert_cmpstr(got, ==, "RFW");
        check_left(left, TRACE_LEFT_COMMANDS, 1);
    }
}

static void test_vscsi_damage(void)
{
    g_autoptr(GByteArray) a = g_byte_array_new();
    TraceOptions o = TRACE_OPTIONS_INIT;
    g_autoptr(GError) error = NULL;
    Trace *t;
    RequestSource s;
    Request req;

    for (int i = 0; i < 9; i++) {
        vscsi(a, i < 8 ? 2 : 3, i, 0x28, 8, 4096);
    }
    t = open_text((char *)a->data, a->len, o);
    s = trace_source(t);
    while (s.next(s.opaque, &req, &error) == REQUEST_OK) {
    }
    g_assert_nonnull(strstr(error->message, ":9: a record of another version"));
    trace_close(t);
    g_clear_error(&error);
    o.format = &trace_vscsi;
    t = open_text(MSR, -1, o);
    s = trace_source(t);
    g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_ERROR);
    g_assert_nonnull(strstr(error->message, ":1: not records of vscsiStats"));
    trace_close(t);
}

/* A record of oracleGeneral. */
static void oracle(GByteArray *a, uint32_t s, uint64_t object, uint32_t nbytes,
                   int64_t next)
{
    put(a, s, 4, false);
    put(a, object, 8, false);
    put(a, nbytes, 4, false);
    put(a, (uint64_t)next, 8, false);
}

static void test_oracle(void)
{
    /* 7 grows, and gets another address; 9 shrinks, and does not. */
    static const Request want[] = {
        {0, 0, 100, SSD_OP_READ, false, 0, 0, 0, 0},
        {0, 4096, 5000, SSD_OP_READ, false, 0, 0, 0, 0},
        {NS_PER_S, 0, 4096, SSD_OP_READ, false, 0, 0, 0, 0},
        {NS_PER_S, 4096, 300, SSD_OP_READ, false, 0, 0, 0, 0},
        {3 * NS_PER_S, 12288, 4097, SSD_OP_READ, false, 0, 0, 0, 0},
        {3 * NS_PER_S, 12288, 100, SSD_OP_READ, false, 0, 0, 0, 0},
    };
    g_autoptr(GByteArray) a = g_byte_array_new();
    TraceOptions o = TRACE_OPTIONS_INIT;
    g_autoptr(GError) error = NULL;
    RequestSource s;
    Request req;
    Trace *t;

    oracle(a, 5, 7, 100, 2);
    oracle(a, 5, 9, 5000, 4);
    oracle(a, 6, 7, 4096, 5);
    oracle(a, 6, 8, 0, -1); /* empty: left out */
    oracle(a, 6, 9, 300, -1);
    oracle(a, 8, 7, 4097, 6);
    oracle(a, 8, 7, 100, INT64_MAX);
    for (unsigned cut = 0; cut < 2; cut++) {
        t = open_text((char *)a->data, a->len - cut, o);
        g_assert_true(trace_format(t) == &trace_oracleGeneral);
        s = trace_source(t);
        for (size_t i = 0; i < G_N_ELEMENTS(want) - cut; i++) {
            g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_OK);
            g_assert_cmpuint(req.at_ns, ==, want[i].at_ns);
            g_assert_cmpuint(req.offset, ==, want[i].offset);
            g_assert_cmpuint(req.nbytes, ==, want[i].nbytes);
            g_assert_cmpint(req.op, ==, SSD_OP_READ);
        }
        g_assert_cmpint(s.next(s.opaque, &req, &error), ==,
                        cut ? REQUEST_ERROR : REQUEST_END);
        g_assert_cmpuint(trace_n_left(t, TRACE_LEFT_EMPTY), ==, 1);
        trace_close(t);
    }
    g_assert_nonnull(strstr(error->message, ":7: the file ends within"));
}

/* Records whose next access is another object's, or earlier, are no trace. */
static void test_oracle_detect(void)
{
    static const struct {
        uint32_t s[2];
        int64_t next;
    } bad[] = {{{5, 6}, 1}, {{5, 6}, 0}, {{6, 5}, -1}, {{5, 6}, 1LL << 50}};

    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GByteArray) a = g_byte_array_new();
        TraceOptions o = TRACE_OPTIONS_INIT;
        g_autoptr(GError) error = NULL;

        oracle(a, bad[i].s[0], 7, 100, bad[i].next);
        oracle(a, bad[i].s[1], 8, 100, -1);
        g_assert_null(trace_from_memory(a->data, a->len, &o, &error));
        g_assert_nonnull(strstr(error->message, "--format="));
    }
}

/* ---- packed -------------------------------------------------------------- */

static size_t pack_gzip(const char *text, uint8_t *out, size_t room)
{
    z_stream z = {0};

    g_assert_cmpint(
        deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), ==,
        Z_OK);
    z.next_in = (Bytef *)text;
    z.avail_in = (uInt)strlen(text);
    z.next_out = out;
    z.avail_out = (uInt)room;
    g_assert_cmpint(deflate(&z, Z_FINISH), ==, Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

static size_t pack_xz(const char *text, uint8_t *out, size_t room)
{
    size_t n = 0;

    g_assert_cmpint(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL,
                                            (const uint8_t *)text, strlen(text),
                                            out, &n, room),
                    ==, LZMA_OK);
    return n;
}

static size_t pack_zstd(const char *text, uint8_t *out, size_t room)
{
    return ZSTD_compress(out, room, text, strlen(text), 3);
}

static const struct {
    const char *name;
    size_t (*pack)(const char *text, uint8_t *out, size_t room);
} packers[] = {{"gzip", pack_gzip}, {"xz", pack_xz}, {"zstd", pack_zstd}};

/* Read it all; NULL, or the fault. */
static char *read_packed(const uint8_t *data, size_t n, uint64_t *n_requests)
{
    TraceOptions o = TRACE_OPTIONS_INIT;
    g_autoptr(GError) error = NULL;
    Trace *t;
    RequestNext r;
    RequestSource s;
    Request req;

    o.format = &trace_msr;
    o.may_be_unsorted = true;
    t = trace_from_memory(data, n, &o, &error);
    *n_requests = 0;
    if (!t) {
        return g_strdup(error->message);
    }
    s = trace_source(t);
    while ((r = s.next(s.opaque, &req, &error)) == REQUEST_OK) {
        ++*n_requests;
    }
    trace_close(t);
    return r == REQUEST_ERROR ? g_strdup(error->message) : NULL;
}

/* More than a buffer, two parts one after the other, cut off, damaged. */
static void test_packed(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    size_t room = 1 << 20;
    g_autofree uint8_t *out = g_malloc(2 * room);
    uint64_t n;

    for (int i = 0; i < 20000; i++) {
        g_string_append(text, MSR);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(packers); i++) {
        size_t len = packers[i].pack(text->str, out, room);
        g_autofree char *whole = read_packed(out, len, &n);
        g_autofree char *cut = NULL;
        g_autofree char *twice = NULL;
        g_autofree char *torn = NULL;

        g_test_message("%s: %zu bytes", packers[i].name, len);
        g_assert_cmpstr(whole, ==, NULL);
        g_assert_cmpuint(n, ==, 60000);
        cut = read_packed(out, len - 9, &n);
        g_assert_nonnull(cut);
        g_assert_nonnull(strstr(cut, packers[i].name));
        memcpy(out + len, out, len);
        twice = read_packed(out, 2 * len, &n);
        g_assert_cmpstr(twice, ==, NULL);
        g_assert_cmpuint(n, ==, 120000);
        out[len / 2] ^= 0x55;
        torn = read_packed(out, len, &n);
        g_assert_nonnull(torn);
    }
}

/* Zeroes behind gzip data; frames of zstd to be skipped, first and between. */
static void test_padded(void)
{
    static const uint8_t skipped[] = {0x50, 0x2a, 0x4d, 0x18, 4, 0,
                                      0,    0,    1,    2,    3, 4};
    g_autoptr(GByteArray) a = g_byte_array_new();
    g_autofree uint8_t *zeroes = g_malloc0(200000);
    uint8_t out[4096];
    uint64_t n;
    size_t len = pack_gzip(MSR, out, sizeof(out));
    g_autofree char *fault = NULL;

    g_byte_array_append(a, out, (guint)len);
    g_byte_array_append(a, zeroes, 100);
    g_byte_array_append(a, out, (guint)len);
    g_byte_array_append(a, zeroes, 200000);
    fault = read_packed(a->data, a->len, &n);
    g_assert_cmpstr(fault, ==, NULL);
    g_assert_cmpuint(n, ==, 6);

    g_byte_array_set_size(a, 0);
    len = pack_zstd(MSR, out, sizeof(out));
    for (int i = 0; i < 3; i++) {
        g_byte_array_append(a, skipped, sizeof(skipped));
        a->data[a->len - sizeof(skipped)] |= (uint8_t)(5 * i);
        g_byte_array_append(a, out, (guint)len);
    }
    fault = read_packed(a->data, a->len, &n);
    g_assert_cmpstr(fault, ==, NULL);
    g_assert_cmpuint(n, ==, 9);
}

/* What is not unpacked is refused with the command that does. */
static void test_archives(void)
{
    static const struct {
        size_t at;
        const char *magic;
        const char *says;
    } t[] = {
        {0, "BZh91AY&SY", "packed by bzip2; unpack it on the way: bzcat "},
        {0, "\x04\x22\x4d\x18", "lz4 -dc"},
        {0, "\x02\x21\x4c\x18", "lz4 -dc"},
        {0, "Rar!\x1a\x07", "unrar p"},
        {0, "\x1f\x9d\x90", "gzip -dc"},
        {0, "PK\3\4", "a zip archive; unpack it on the way: unzip -p "},
        {257, "ustar  ", "tar -xOf 'memory' | ./vssd sim replay -"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        char data[1024] = "x";
        uint8_t out[1024];
        uint64_t n;
        g_autofree char *plain = NULL;
        g_autofree char *packed = NULL;

        memcpy(data + t[i].at, t[i].magic, strlen(t[i].magic));
        plain = read_packed((uint8_t *)data, sizeof(data), &n);
        g_assert_nonnull(plain);
        g_assert_nonnull(strstr(plain, t[i].says));
        packed = read_packed(
            out, ZSTD_compress(out, sizeof(out), data, sizeof(data), 3), &n);
        g_assert_cmpstr(packed, ==, plain);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/formats/oracle", test_oracle);
    g_test_add_func("/formats/oracle-detect", test_oracle_detect);
    g_test_add_func("/formats/vscsi", test_vscsi);
    g_test_add_func("/formats/vscsi-damage", test_vscsi_damage);
    g_test_add_func("/formats/packed", test_packed);
    g_test_add_func("/formats/padded", test_padded);
    g_test_add_func("/formats/archives", test_archives);
    return g_test_run();
}
