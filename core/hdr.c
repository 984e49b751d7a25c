/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hdr.c - the encoding V2 of HdrHistogram ("V2EncodingCookieBase" and
 * "fillBufferFromCountsArray" of AbstractHistogram.java), and zlib streams of
 * stored blocks (RFC 1950, RFC 1951 section 3.2.4).
 */
#include "hdr.h"

#include <string.h>

#define COOKIE            0x1c849313u
#define COMPRESSED_COOKIE 0x1c849314u
#define DIGITS            2
#define SUB_BITS          8 /* 256 sub-buckets give two digits */
#define MOST              (1ULL << 55)

/* RFC 1950: CM 8, a window of 32 KiB, and a check of the two bytes. */
#define ZLIB_HEAD  0x7801
#define STORED_MAX 65535
#define ADLER_BASE 65521

static void put_be(GString *out, uint64_t v, unsigned bytes)
{
    while (bytes-- > 0) {
        g_string_append_c(out, (char)(v >> (8 * bytes)));
    }
}

/* ---- counts -------------------------------------------------------------- */

static unsigned index_of(uint64_t v)
{
    unsigned shift =
        64 - SUB_BITS - (unsigned)__builtin_clzll(v | ((1ULL << SUB_BITS) - 1));

    return ((shift + 1) << (SUB_BITS - 1)) + (unsigned)(v >> shift) -
           (1U << (SUB_BITS - 1));
}

/* ZigZag, then seven bits a byte, the lowest first.  The counts of a histogram
 * do not reach the 2^56 from which the format differs. */
static void put_signed(GString *out, int64_t v)
{
    uint64_t z = (uint64_t)v << 1 ^ (uint64_t)(v >> 63);

    while (z >= 0x80) {
        g_string_append_c(out, (char)(z | 0x80));
        z >>= 7;
    }
    g_string_append_c(out, (char)z);
}

/* Runs of zeros are their length, negative. */
static void put_counts(GString *out, const uint64_t *count, unsigned n)
{
    for (unsigned i = 0, run; i < n; i += MAX(run, 1)) {
        for (run = 0; i + run < n && count[i + run] == 0;) {
            run++;
        }
        put_signed(out, run > 1 ? -(int64_t)run : (int64_t)count[i]);
    }
}

static GString *encode(const Hist *h)
{
    unsigned n = index_of(MOST) + 1;
    g_autofree uint64_t *count = g_new0(uint64_t, n);
    GString *counts = g_string_new(NULL);
    GString *out = g_string_new(NULL);
    double one = 1;
    uint64_t ratio;

    for (unsigned i = 0; i < HIST_BUCKETS; i++) {
        if (h->bucket[i]) {
            count[index_of(MIN(hist_value(h, i), MOST))] += h->bucket[i];
        }
    }
    while (n > 0 && count[n - 1] == 0) {
        n--;
    }
    put_counts(counts, count, n);
    memcpy(&ratio, &one, sizeof(ratio));
    put_be(out, COOKIE, 4);
    put_be(out, counts->len, 4);
    put_be(out, 0, 4); /* normalizing index offset */
    put_be(out, DIGITS, 4);
    put_be(out, 1, 8); /* lowest and highest value, for all the same */
    put_be(out, MOST, 8);
    put_be(out, ratio, 8);
    g_string_append_len(out, counts->str, (gssize)counts->len);
    g_string_free(counts, TRUE);
    return out;
}

/* ---- the stream ---------------------------------------------------------- */

static uint32_t adler32(const GString *s)
{
    uint32_t a = 1, b = 0;

    for (size_t i = 0; i < s->len; i++) {
        a = (a + (uint8_t)s->str[i]) % ADLER_BASE;
        b = (b + a) % ADLER_BASE;
    }
    return b << 16 | a;
}

static GString *wrap(const GString *data)
{
    GString *out = g_string_new(NULL);

    put_be(out, ZLIB_HEAD, 2);
    for (size_t at = 0; at < data->len;) {
        size_t n = MIN(data->len - at, STORED_MAX);
        uint16_t size = GUINT16_TO_LE((uint16_t)n);
        uint16_t check = (uint16_t)~size;

        g_string_append_c(out, at + n == data->len); /* the last; stored */
        g_string_append_len(out, (const char *)&size, 2);
        g_string_append_len(out, (const char *)&check, 2);
        g_string_append_len(out, data->str + at, (gssize)n);
        at += n;
    }
    put_be(out, adler32(data), 4);
    return out;
}

/* ---- the log ------------------------------------------------------------- */

void hdr_log_begin(GString *out)
{
    g_string_append(out,
                    "#[Histogram log format version 1.3]\n"
                    "\"StartTimestamp\",\"Interval_Length\","
                    "\"Interval_Max\",\"Interval_Compressed_Histogram\"\n");
}

void hdr_log_add(GString *out, const char *tag, uint64_t from_ns,
                 uint64_t length_ns, const Hist *h)
{
    GString *plain = encode(h);
    GString *stream = wrap(plain);
    GString *all = g_string_new(NULL);
    g_autofree char *text = NULL;

    put_be(all, COMPRESSED_COOKIE, 4);
    put_be(all, stream->len, 4);
    g_string_append_len(all, stream->str, (gssize)stream->len);
    text = g_base64_encode((const guchar *)all->str, all->len);
    /* Seconds, and by the format's convention milliseconds. */
    g_string_append_printf(out, "Tag=%s,%.3f,%.3f,%.6f,%s\n", tag,
                           (double)from_ns / 1e9, (double)length_ns / 1e9,
                           (double)h->max / 1e6, text);
    g_string_free(all, TRUE);
    g_string_free(stream, TRUE);
    g_string_free(plain, TRUE);
}
