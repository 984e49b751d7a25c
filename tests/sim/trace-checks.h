/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-checks.h - what the tests of trace formats share: traces from memory,
 * three requests that every format can say, and what a trace becomes.
 */
#ifndef TESTS_SIM_TRACE_CHECKS_H
#define TESTS_SIM_TRACE_CHECKS_H

#include <string.h>

#include "trace.h"

/* Three requests that every format can say: a write, a read 1 ms later, and a
 * write 2 ms after that. */
static const Request wanted[] = {
    {0, 8192, 4096, SSD_OP_WRITE, false, 0, 0, 0, 0},
    {1000000, 1048576, 16384, SSD_OP_READ, false, 0, 0, 0, 0},
    {3000000, 4096, 512, SSD_OP_WRITE, false, 0, 0, 0, 0},
};

#define MSR                                                                    \
    "128166372000000000,h,0,Write,8192,4096,1\n"                               \
    "128166372000010000,h,0,Read,1048576,16384,1\n"                            \
    "128166372000030000,h,0,Write,4096,512,1\n"

static inline Trace *open_text(const char *text, gssize n, TraceOptions o)
{
    GError *error = NULL;
    Trace *t =
        trace_from_memory(text, n < 0 ? strlen(text) : (size_t)n, &o, &error);

    g_assert_no_error(error);
    g_assert_nonnull(t);
    return t;
}

static inline void check_three(Trace *t)
{
    RequestSource s = trace_source(t);
    GError *error = NULL;
    Request req;

    for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++) {
        g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_OK);
        g_assert_cmpuint(req.at_ns, ==, wanted[i].at_ns);
        g_assert_cmpuint(req.offset, ==, wanted[i].offset);
        g_assert_cmpuint(req.nbytes, ==, wanted[i].nbytes);
        g_assert_cmpint(req.op, ==, wanted[i].op);
        g_assert_cmpuint(req.space, ==, 0);
    }
    g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_END);
    g_assert_no_error(error);
    trace_close(t);
}

static inline void put(GByteArray *a, uint64_t v, unsigned nbytes, bool big)
{
    for (unsigned i = 0; i < nbytes; i++) {
        unsigned at = big ? nbytes - 1 - i : i;
        uint8_t byte = at < sizeof(v) ? v >> 8 * at : 0;

        g_byte_array_append(a, &byte, 1);
    }
}

/* What a trace becomes: R, W, T (TRIM) and F (flush) in order, ! for FUA. */
static inline char *played(Trace *t, uint64_t left[TRACE_N_LEFT])
{
    static const char letters[] = {[SSD_OP_READ] = 'R',
                                   [SSD_OP_WRITE] = 'W',
                                   [SSD_OP_TRIM] = 'T',
                                   [SSD_OP_FLUSH] = 'F'};
    GString *out = g_string_new(NULL);
    RequestSource s = trace_source(t);
    GError *error = NULL;
    Request req;

    while (s.next(s.opaque, &req, &error) == REQUEST_OK) {
        g_string_append_c(out, letters[req.op]);
        g_string_append(out, req.fua ? "!" : "");
        g_assert_true(req.op == SSD_OP_FLUSH || req.nbytes == 4096);
    }
    g_assert_no_error(error);
    for (unsigned i = 0; i < TRACE_N_LEFT; i++) {
        left[i] = trace_n_left(t, i);
    }
    trace_close(t);
    return g_string_free(out, FALSE);
}

/* n of this kind were left out, and none of another. */
static inline void check_left(const uint64_t left[TRACE_N_LEFT], TraceLeft kind,
                              uint64_t n)
{
    for (unsigned i = 0; i < TRACE_N_LEFT; i++) {
        g_assert_cmpuint(left[i], ==, i == kind ? n : 0);
    }
}

#define PLAYED TRACE_N_LEFT /* nothing is left out */

#endif
