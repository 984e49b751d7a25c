/* SPDX-License-Identifier: GPL-2.0-or-later */
/* formats-units.c - units that a trace leaves open, or that are given. */
#include "simtime.h"
#include "trace-checks.h"
#include "trace-units.h"

/* Whole times, bytes or sectors, and columns that do not name a unit: refused
 * with the readings, unless --units or the name of a format decides. */
static void test_doubts(void)
{
#define TWO_TIMES                                                              \
    "memory: whole times may be in ms (--format=disksim), in ns (--format="
#define TWO_FINE                                                               \
    "memory: times with so many digits may be in ms (--units=time=ms) or in s"
#define TWO_SIZES                                                              \
    "in sectors (--units=address=512,size=512) or in bytes (--units=address=1"
#define OPEN_TIME "time may be in s or us"
    static const struct {
        const char *text;
        const char *says; /* NULL: read */
        TraceUnits units;
        const TraceFormat *format;
        const char *columns;
    } t[] = {
        {.text = "0 0 16 8 0\n5 0 2048 32 1\n", TWO_TIMES},
        {.text = "0 0 16 8 0\n5 0 2048 32 1\n", NULL, {.time_ns = 1000}},
        {.text = "0 0 16 8 0\n5 0 2048 32 1\n", NULL, {0}, &trace_disksim},
        {.text = "0 0 16 8 0\n5 0 2048 32 1\n", NULL, {0}, &trace_mqsim},
        {.text = "77000\t0\t16\t8\t0\n", "in us (--units=time=us)"},
        {.text = "0 0 16 8 0\n0.5 0 2048 32 1\n"},
        {.text = "0 0 16 8 0\n5 0 2 32 1\n0.5 0 1 1 1\n"},
        {.text = "640.875000 0 16 8 0\n"},
        {.text = "242.504709548 0 16 8 0\n", TWO_FINE},
        {.text = "0.000000000 0 16 8 0\n0.500000000 0 1 1 1\n", TWO_FINE},
        {.text = "0.000000 0 16 8 0\n0.000250 0 1 1 1\n", TWO_FINE},
        {.text = "0.000250 0 1 1 1\n", NULL, {.time_ns = 1000000000}},
        {.text = "0.000250 0 1 1 1\n", NULL, {0}, &trace_disksim},
        {.text = "0.500 0 4096 8192 0\n0.501 0 0 512 1\n", TWO_SIZES},
        {.text = "0.500 0 4096 8192 0\n", NULL, {0, 1, 1}},
        {.text = "0.500 0 4096 8192 0\n0.501 0 0 8 1\n"},
        {.text = "5 0 4096 8192 0\n", "; addresses and sizes may be"},
        {.text = "time,op,offset,size\n0,R,0,512\n",
         "memory: time may be in s or us: --units=time=s|us decides"},
        {.text = "time,op,offset,size\n0,R,0,512\n",
         OPEN_TIME,
         {0},
         &trace_csv},
        {.text = "no head\nTime,op,offset,size\n0,R,0,1\n",
         OPEN_TIME,
         {0},
         &trace_csv},
        {.text = "0,R,0,1\n",
         OPEN_TIME,
         {0},
         &trace_csv,
         "time,op,offset,size"},
        {.text = "0,R,0,1\n", NULL, {0}, &trace_csv, "time_ms,op,offset,size"},
        {.text = "Timestamp;op;sector;sectors\n0;R;0;1\n",
         "timestamp may be in s or us"},
        {.text = "time_us,op,lba,size\n0,R,0,512\n",
         "memory: lba may be in units of 512 or 4096 bytes"},
        {.text = "time_us,op,offset,nblocks\n0,R,0,1\n",
         "nblocks may be in units of 512 or 4096 bytes"},
        {.text = "time_us,op,sector,length\n0,R,0,1\n",
         "length may be in bytes or sectors: --units=size=1|512"},
        {.text = "time_us,op,offset,length\n0,R,0,1\n"},
        {.text = "time,op,lba,nblocks\n0,R,0,1\n",
         ": --units=time=s|us,address=512|4096,size=512|4096 decides"},
        {.text = "time,op,lba,nblocks\n0,R,0,1\n",
         "memory: nblocks may",
         {1, 512, 0}},
        {.text = "time,op,lba,nblocks\n0,R,0,1\n", NULL, {1, 512, 512}},
        {.text = "# note\ntime_us,op,sector,bytes\n0,R,0,512\n"},
        {.text = "1,h,0,Read,0,1,5\n",
         "--units: not for memory, of format msr",
         {.time_ns = 1}},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        TraceOptions o = TRACE_OPTIONS_INIT;
        g_autoptr(GError) error = NULL;
        Trace *trace;

        o.columns = t[i].columns;
        o.format = t[i].format;
        o.units = t[i].units;
        trace = trace_from_memory(t[i].text, strlen(t[i].text), &o, &error);
        g_test_message("%s%s", t[i].text, error ? error->message : "");
        g_assert_true((trace == NULL) == (t[i].says != NULL));
        if (t[i].says) {
            g_assert_nonnull(strstr(error->message, t[i].says));
        }
        trace_close(trace);
    }
}

/* The second request of a text: its time, address and size; and the units. */
static void test_units(void)
{
#define FIVE "0 0 0 8 0\n7 0 16 8 0\n"
#define OPEN "time,op,lba,nblocks\n0,R,0,1\n7,R,16,8\n"
    static const struct {
        const char *want;
        const char *text;
        TraceUnits units;
        const TraceFormat *format; /* NULL: detected */
    } t[] = {
        {.want = "7 8192 4096, 1 512 512", FIVE, {0}, &trace_ssdsim},
        {.want = "7 8192 4096, 1 512 512", FIVE, {0}, &trace_mqsim},
        {.want = "7000000 8192 4096, 1000000 512 512",
         FIVE,
         {0},
         &trace_disksim},
        {.want = "7000 8192 4096, 1000 512 512", FIVE, {.time_ns = 1000}},
        {.want = "250000000 8192 4096, 1000000000 512 512",
         "0 0 0 8 0\n0.25 0 16 8 0\n",
         {.time_ns = 1000000000},
         &trace_mqsim},
        {.want = "7500000 8192 512, 1000000 1 1",
         "0.0 0 0 4096 0\n7.5 0 8192 512 0\n",
         {0, 1, 1}},
        {.want = "7500000 8192 8192, 1000000 512 4096",
         "0.0 0 0 1 0\n7.5 0 16 2 0\n",
         {0, 0, 4096}},
        {.want = "7000000000 8192 4096, 1000000000 512 512",
         OPEN,
         {1000000000, 512, 512}},
        {.want = "7000 65536 32768, 1000 4096 4096", OPEN, {1000, 4096, 4096}},
        {.want = "7000 8192 8, 1000 512 1",
         "time_us,op,sector,bytes\n0,R,0,1\n7,R,16,8\n"},
        {.want = "700 8192 512, 100 1 1",
         "1,h,0,Read,0,512,5\n8,h,0,Read,8192,512,5\n"},
        {.want = "500000000 8192 512, 1000000000 512 1",
         "0,0,512,R,0\n0,16,512,R,0.5\n"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        TraceOptions o = TRACE_OPTIONS_INIT;
        g_autofree char *found = NULL;
        Request req;
        RequestSource s;
        Trace *trace;
        TraceUnits u;

        o.format = t[i].format;
        o.units = t[i].units;
        trace = open_text(t[i].text, -1, o);
        s = trace_source(trace);
        for (int n = 0; n < 2; n++) {
            g_assert_cmpint(s.next(s.opaque, &req, NULL), ==, REQUEST_OK);
        }
        u = trace_units(trace);
        found = g_strdup_printf("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
                                " %" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT
                                " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT,
                                req.at_ns, req.offset, req.nbytes, u.time_ns,
                                u.address_bytes, u.size_bytes);
        g_assert_cmpstr(found, ==, t[i].want);
        g_assert_cmpuint(trace_n_devices(trace), ==, 1);
        trace_close(trace);
    }
}

/* The option --units: each unit once. */
static void test_option(void)
{
    static const char *const wrong[] = {
        "", "time=us,time=us", "size=512,size=1", "time=10ns", "size=0", "us",
    };
    g_autoptr(GError) error = NULL;
    TraceUnits u;

    g_assert_true(trace_units_read("size=512,time=100ns", &u, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(u.time_ns, ==, 100);
    g_assert_cmpuint(u.size_bytes, ==, 512);
    g_assert_cmpuint(u.address_bytes, ==, 0);
    g_assert_cmpstr(trace_units_time(100), ==, "100ns");
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_assert_false(trace_units_read(wrong[i], &u, &error));
        g_assert_nonnull(error);
        g_clear_error(&error);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/formats/doubts", test_doubts);
    g_test_add_func("/formats/units", test_units);
    g_test_add_func("/formats/option", test_option);
    return g_test_run();
}
