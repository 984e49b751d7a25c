/* SPDX-License-Identifier: GPL-2.0-or-later */
/* formats.c - every trace format: found, read, damaged. */
#include "simtime.h"
#include "trace-order.h"
#include "trace-checks.h"

static const struct {
    const char *name; /* as detected */
    const char *text;
} texts[] = {
    {"msr", MSR},
    {"spc", "0,16,4096,w,5.000000\n0,2048,16384,R,5.001\n0,8,512,W,5.003000\n"},
    {"systor17", "Timestamp,Response,IOType,LUN,Offset,Size\n"
                 "1456095145.133076000,0.0008,W,0,8192,4096\n"
                 "1456095145.134076000,,R,0,1048576,16384\n"
                 "1456095145.136076000,0.1,W,0,4096,512\n"},
    {"blkparse",
     "  8,16   5        1     0.000000000 18615  Q   W 16 + 8 [java]\n"
     "  8,16   5        2     7.000000000 18615  D   W 16 + 8 [java]\n"
     "  8,16   5        3     7.000500000 18615  P   N [java]\n"
     "  8,16   1        1     7.001000000     0  D  RS 2048 + 32 [a b]\n"
     "  8,16   1        9     7.002000000     0  C  RS 2048 + 32 [0]\n"
     "  8,16   1       10     7.003000000     0  D  WS 8 + 1 [x]\n"
     "CPU5 (8,16):\n Reads Queued:           1,        4KiB\n"},
    {"fio", "fio version 2 iolog\n/dev/x add\n/dev/x open\n"
            "/dev/x write 8192 4096\n/dev/x wait 1000 0\n"
            "/dev/x read 1048576 16384\n/dev/x wait 2000 0\n"
            "/dev/x write 4096 512\n/dev/x close\n"},
    {"fio", "fio version 3 iolog\n1 /dev/x add\n2 /dev/x open\n"
            "100 /dev/x write 8192 4096\n1100 /dev/x read 1048576 16384\n"
            "3100 /dev/x write 4096 512\n3200 /dev/x close\n"},
    {"disksim", "640.875000\t0\t16\t8\t0\n641.875\t0\t2048\t32\t1\n"
                "643.875 0 8 1 0\n"},
    {"csv", "# made by hand\nhost,time_us,op,sector,bytes\n"
            "a,5,write,16,4096\nb,1005,R,2048,16384\nc,3005,W,8,512\n"},
    {"ftrace",
     "# tracer: nop\n#\n#  TASK-PID  CPU#  |||||  TIMESTAMP  FUNCTION\n"
     " fio: a.1-9   [003] d..1. 284731.190000: block_rq_insert: 259,0 W 4096 "
     "() 16 + 8 [fio]\n"
     " fio: a.1-9   [003] d..1. 284731.190000: block_rq_issue: 259,0 W 4096 "
     "() 16 + 8 [fio]\n"
     "CPU:3 [LOST 2 EVENTS]\n"
     "   fio 9 [003] 284731.191000:  block:block_rq_issue: 259,0 RM 16384 () "
     "2048 + 32 be,0,4 [a b]\n"
     "   <idle>-0  [003]  284731.192000: block_rq_complete:    259,0 R () "
     "2048 + 32 [0]\n"
     "   fio-9     [003]  284731.192500: nvme_setup_cmd:       nvme0: "
     "disk=nvme0n1, qid=1, cmdid=7, nsid=1, flags=0x0, meta=0x0, "
     "cmd=(nvme_cmd_write slba=8, len=0, ctrl=0x0, dsmgmt=0, reftag=0)\n"
     "   fio-9     [003]  284731.193000: block_rq_issue:       259,0 WS 512 () "
     "8 + 1 none,0,0 |8| [fio]\n"},
    {"ftrace",
     "cpus=8\n"
     " a-9 [001] ..... 10.019570: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=11, "
     "cmdid=5, nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_write slba=16, "
     "len=7, ctrl=0x0, dsmgmt=7, reftag=0)\n"
     " a-9 [001] ..... 10.020570: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=11, "
     "cmdid=6, nsid=0x1, flags=0x0, meta=0x0 cmd=(nvme_cmd_read slba=2048, "
     "len=31, ctrl=0x8000, dsmgmt=7, reftag=0)\n"
     " a-9 [001] ..... 10.021570: nvme_complete_rq: nvme0: disk=nvme0n1, "
     "qid=11, cmdid=6, res=0x0, retries=0, flags=0x0, status=0x0\n"
     " a-9 [001] ..... 10.022570: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=11, "
     "cmdid=7, nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_write slba=8, len=0, "
     "ctrl=0x0, dsmgmt=7, reftag=0)\n"},
    {"biosnoop",
     "Tracing block device I/O... Hit Ctrl-C to end.\n"
     "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)\n"
     "0.000000    jbd2/sda1-8    184    sda     W 16         4096      6.72\n"
     "0.001000    Web Content    18     sda     R 2048       16384     0.01\n"
     "0.002000    kworker/23:1   9126           R 18446744073709551615 0   1\n"
     "0.003000    ?              0      sda     W 8          512       0.61\n"},
    {"biosnoop",
     "TIME(s)  COMM  PID  DISK  T  SECTOR  BYTES  QUE(ms)  LAT(ms)\n"
     "7.0 a 1 nvme0n1 WS 16 4096 0.01 0.34\n"
     "7.001 a 1 nvme0n1 RA 2048 16384 0.01 0.34\n"
     "7.003 a b c 1 nvme0n1 W 8 512 0.01 0.34\n"},
    {"csv", "\"host\",\"time_us\",\"op\",\"sector\",\"bytes\"\n"
            "\"a,b\",5e0,\"WS\",\"16\",4.096e3\n"
            "c,1.005e+3,28,\"2048\",16384.00\nc,3005,2a,8.0,\"512\"\n"},
    {"spc", "0,16,4096,2a,5.0e0\n0, 2048, 16384, 28, 5.001\n"
            "0,8,5.12e2,WS,5.003000\n"},
    {"systor17", "1.456095145133076e9,0.0008,WSM,0,8192,4.096000e+03\n"
                 "\"1456095145.134076000\",,\"RA\",0,1048576,16384\n"
                 "1456095145.136076000,0.1,0x2a,0,4096,512\n"},
    {"msr", "1.28166372e17,h,0,W,8192,4.096e+3,1\n"
            "128166372000010000,h,0,\"RA\",\"1048576\",16384,1\n"
            "128166372000030000,h,0,\"Write\",4096,512,1\n"},
    {"csv", "time_ms;is_read;offset;sectors\n0;0;8192;8\n1.0;1;1048576;32\n"
            "3;0;4096;1\n"},
};

static void test_texts(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        TraceOptions o = TRACE_OPTIONS_INIT;
        Trace *t = open_text(texts[i].text, -1, o);

        g_test_message("%s", texts[i].name);
        g_assert_cmpstr(trace_format(t)->name, ==, texts[i].name);
        check_three(t);
        o.format = trace_format_find(texts[i].name);
        check_three(open_text(texts[i].text, -1, o));
    }
}

/* Of bpftrace: known, and refused with the reason. */
static void test_bpftrace(void)
{
    TraceOptions o = TRACE_OPTIONS_INIT;
    g_autoptr(GError) error = NULL;
    Trace *t = open_text("Attaching 4 probes...\n"
                         "TIME(ms)     COMM             PID    LAT(ms)\n"
                         "611          bash             4179         10\n",
                         -1, o);
    RequestSource s = trace_source(t);
    Request req;

    g_assert_true(trace_format(t) == &trace_biosnoop);
    g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_ERROR);
    g_assert_nonnull(strstr(error->message, ":2: no columns SECTOR and BYTES"));
    trace_close(t);
}

/* Tools print their recordings: the error says which one. */
static void test_recordings(void)
{
    TraceOptions o = TRACE_OPTIONS_INIT;
    static const struct {
        const char *begin;
        const char *says;
    } recording[] = {
        {"\027\010Dtracing6\0\0\0\b\0\0\0", "output of trace-cmd report"},
        {"PERFILE2h\0\0\0\0\0\0\0", "output of perf script"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(recording); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_null(trace_from_memory(recording[i].begin, 16, &o, &error));
        g_assert_nonnull(strstr(error->message, recording[i].says));
    }
}

/* Files of before version 1.0: by their content, and as what they were. */
static void test_early(void)
{
    static const struct {
        const char *begin;
        const TraceFormat *format;
    } early[] = {
        {"VSSDTRC1", NULL},
        {"VSSDTRC1", &trace_vssd},
        {"VSSDBIN1", NULL},
        {"VSSDBIN1", &trace_binary},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(early); i++) {
        TraceOptions o = TRACE_OPTIONS_INIT;
        g_autoptr(GError) error = NULL;
        char data[64] = "";
        RequestSource s;
        Request req;
        Trace *t;

        memcpy(data, early[i].begin, 8);
        o.format = early[i].format;
        t = trace_from_memory(data, sizeof(data), &o, &error);
        if (t) {
            s = trace_source(t);
            g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_ERROR);
            trace_close(t);
        }
        g_assert_nonnull(strstr(
            error->message, "of a version of vssd before 1.0: make it again"));
    }
}

/* ---- options ------------------------------------------------------------- */

static uint64_t count(const char *text, TraceOptions o, GError **error,
                      uint64_t *skipped, Request *last)
{
    Trace *t = open_text(text, -1, o);
    RequestSource s = trace_source(t);
    uint64_t n = 0;

    while (s.next(s.opaque, last, error) == REQUEST_OK) {
        n++;
    }
    *skipped = trace_n_skipped(t);
    trace_close(t);
    return n;
}

static void test_options(void)
{
    static const char damaged[] = MSR "rubbish\n" MSR "5,h,0,Read,1,0,1\n";
    g_autofree char *longer = g_strnfill(300000, 'x');
    g_autofree char *long_line = g_strconcat(MSR, longer, "\n" MSR, NULL);
    TraceOptions o = TRACE_OPTIONS_INIT;
    GError *error = NULL;
    uint64_t skipped;
    Request last;

    o.skip_bad = true;
    g_assert_cmpuint(count(damaged, o, &error, &skipped, &last), ==, 6);
    g_assert_cmpuint(skipped, ==, 2);
    g_assert_cmpuint(count(long_line, o, &error, &skipped, &last), ==, 6);
    g_assert_cmpuint(skipped, ==, 1);
    g_assert_no_error(error);

    o = ((TraceOptions)TRACE_OPTIONS_INIT);
    g_assert_cmpuint(count(damaged, o, &error, &skipped, &last), ==, 3);
    g_assert_nonnull(strstr(error->message, "memory:4: field 1"));
    g_clear_error(&error);

    o.scale_ppm = 2500000;
    count(MSR, o, &error, &skipped, &last);
    g_assert_cmpuint(last.at_ns, ==, 7500000);

    o = ((TraceOptions)TRACE_OPTIONS_INIT);
    o.format = &trace_ssdsim;
    o.device = "7";
    g_assert_cmpuint(count("0 7 16 8 0\n9 1 16 8 0\n12 7 8 8 1\n", o, &error,
                           &skipped, &last),
                     ==, 2);
    g_assert_cmpuint(last.at_ns, ==, 12);
    g_assert_cmpuint(count("0 1 16 8 0\n", o, &error, &skipped, &last), ==, 0);
    g_assert_nonnull(strstr(error->message, "no request for that --device"));
    g_clear_error(&error);

    o = ((TraceOptions)TRACE_OPTIONS_INIT);
    o.format = &trace_csv;
    o.columns = "time_ms,device,offset,size,is_read";
    check_three(open_text("5.0 0 8192 4096 0\n6.0 0 1048576 16384 1\n"
                          "8.000 0 4096 512 0\n",
                          -1, o));
}

/* Each device is a space of its own. */
static void test_devices(void)
{
    Trace *t = open_text("0,1,512,W,0.0\n9,1,512,W,0.1\n0,2,512,R,0.2\n", -1,
                         ((TraceOptions)TRACE_OPTIONS_INIT));
    RequestSource s = trace_source(t);
    static const uint32_t spaces[] = {0, 1, 0};
    Request req;

    for (size_t i = 0; i < G_N_ELEMENTS(spaces); i++) {
        g_assert_cmpint(s.next(s.opaque, &req, NULL), ==, REQUEST_OK);
        g_assert_cmpuint(req.space, ==, spaces[i]);
    }
    trace_close(t);
}

/* As the trace names a device, by number, or as the kernel does. */
static const struct {
    const char *text;
    const char *device;
    unsigned n;       /* requests */
    const char *says; /* if there are none: what there is */
} with_devices[] = {
#define BLK_DEVICES                                                            \
    "8,0 0 1 0.0 1 D R 0 + 8 [x]\n8,17 0 2 0.1 1 D R 0 + 8 [x]\n"              \
    "65,0 0 3 0.2 1 D R 0 + 8 [x]\n259,3 0 4 0.3 1 D R 0 + 8 [x]\n"            \
    "8,0 0 5 0.4 1 D R 0 + 8 [x]\n"
    {BLK_DEVICES, "8,0", 2, NULL},
    {BLK_DEVICES, "8:0", 2, NULL},
    {BLK_DEVICES, "sda", 2, NULL},
    {BLK_DEVICES, "/dev/sda", 2, NULL},
    {BLK_DEVICES, "8388608", 2, NULL},
    {BLK_DEVICES, "sdb1", 1, NULL},
    {BLK_DEVICES, "sdq", 1, NULL},
    {BLK_DEVICES, "259,3", 1, NULL},
    {BLK_DEVICES, "sdb", 0, "--device=sdb; it has 8,0, 8,17, 65,0, 259,3"},
    {BLK_DEVICES, "nvme0n1", 0, "it has 8,0, 8,17"},
    {BLK_DEVICES, "8", 0, "it has 8,0, 8,17"},
    {BLK_DEVICES, "", 0, "it has 8,0, 8,17"},
#define FIO_DEVICES                                                            \
    "fio version 3 iolog\n1 /dev/sda read 0 512\n2 /mnt/a.0 read 0 512\n"      \
    "3 /dev/sda read 0 512\n"
    {FIO_DEVICES, "sda", 2, NULL},
    {FIO_DEVICES, "/dev/sda", 2, NULL},
    {FIO_DEVICES, "/mnt/a.0", 1, NULL},
    {FIO_DEVICES, "a.0", 1, NULL},
    {FIO_DEVICES, "a", 0, "it has /dev/sda, /mnt/a.0"},
#define CSV_DEVICES                                                            \
    "time_ns,device,op,offset,size\n1,sda,R,0,512\n2,nvme0n1,R,0,512\n"        \
    "3,7,R,0,512\n4,\"sda\",R,0,512\n"
    {CSV_DEVICES, "sda", 2, NULL},
    {CSV_DEVICES, "nvme0n1", 1, NULL},
    {CSV_DEVICES, "7", 1, NULL},
    {CSV_DEVICES, "sdb", 0, "it has sda, nvme0n1, 7"},
#define MSR_DEVICES                                                            \
    "1,h,0,Read,0,512,1\n2,g,0,Read,0,512,1\n3,h,1,Read,0,512,1\n"             \
    "4,g,0,Read,0,512,1\n"
    {MSR_DEVICES, "0", 1, NULL},
    {MSR_DEVICES, "1", 1, NULL},
    {MSR_DEVICES, "g,0", 2, NULL},
    {MSR_DEVICES, "g,1", 0, "it has 0, g,0, 1"},
};

static void test_device_names(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(with_devices); i++) {
        TraceOptions o = TRACE_OPTIONS_INIT;
        g_autoptr(GError) error = NULL;
        uint64_t skipped;
        Request last;

        g_test_message("%s", with_devices[i].device);
        o.device = with_devices[i].device;
        g_assert_cmpuint(
            count(with_devices[i].text, o, &error, &skipped, &last), ==,
            with_devices[i].n);
        g_assert_true((error == NULL) == (with_devices[i].says == NULL));
        if (error) {
            g_assert_nonnull(strstr(error->message, with_devices[i].says));
        }
    }
}

/* How a device is named in results. */
static void test_named(void)
{
    static const struct {
        const char *text;
        const char *name; /* of the second device */
    } t[] = {{BLK_DEVICES, "8,17"},
             {FIO_DEVICES, "/mnt/a.0"},
             {CSV_DEVICES, "nvme0n1"},
             {MSR_DEVICES, "g,0"},
             {"0,1,512,W,0.0\n9,1,512,W,0.1\n", "9"}};

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        Trace *trace =
            open_text(t[i].text, -1, ((TraceOptions)TRACE_OPTIONS_INIT));
        RequestSource s = trace_source(trace);
        g_autofree char *name = NULL;
        Request req;

        for (uint32_t space = 0; space < 2; space++) {
            g_assert_cmpint(s.next(s.opaque, &req, NULL), ==, REQUEST_OK);
            g_assert_cmpuint(req.space, ==, space);
        }
        name = trace_device_name(trace, 1);
        g_assert_cmpstr(name, ==, t[i].name);
        trace_close(trace);
    }
}

/* In any number, in any order. */
static void test_many_devices(void)
{
    enum { N = 10000 };
    g_autoptr(GString) text = g_string_new(NULL);
    RequestSource s;
    Request req;
    Trace *t;

    for (unsigned i = 0; i < 2 * N; i++) {
        g_string_append_printf(text, "%u,1,512,W,0.0\n", i * 7919 % N);
    }
    t = open_text(text->str, -1, ((TraceOptions)TRACE_OPTIONS_INIT));
    s = trace_source(t);
    for (unsigned i = 0; i < 2 * N; i++) {
        g_assert_cmpint(s.next(s.opaque, &req, NULL), ==, REQUEST_OK);
        g_assert_cmpuint(req.space, ==, i % N);
    }
    g_assert_cmpuint(trace_device(t, 1), ==, 7919);
    trace_close(t);
}

static void test_unknown(void)
{
    TraceOptions o = TRACE_OPTIONS_INIT;
    static const char *const nonsense[] = {
        "hello\nworld\n", "1 2 3\n", "\x7f\x45LF\n\n", "a,b,c,d,e,f,g\n"};

    for (size_t i = 0; i < G_N_ELEMENTS(nonsense); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_null(trace_from_memory(nonsense[i], strlen(nonsense[i]), &o,
                                        &error));
        g_assert_nonnull(strstr(error->message, "--format="));
        g_assert_null(strchr(error->message, '\n'));
    }
}

#define MSR_HEADER                                                             \
    "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\r\n"
#define SYSTOR_HEADER "Timestamp,Response,IOType,LUN,Offset,Size\n"
#define BOM           "\xef\xbb\xbf"

/* Headers, alone and where files were put together; marks of editors. */
static void test_headers(void)
{
    static const struct {
        const char *format, *header, *lines;
        unsigned n;
    } t[] = {
        {"msr", MSR_HEADER, MSR, 3},
        {"msr", BOM MSR_HEADER, MSR, 3},
        {"msr", BOM, MSR, 3},
        {"systor17", SYSTOR_HEADER, "1.5,,R,0,0,512\n", 1},
        {"csv", "time_ns,op,offset,size\n", "1,R,0,512\n", 1},
        {"csv", "device,sector,bytes,op,time_s\n", "0,16,4096,w,5.0\n", 1},
        {"csv", BOM "time_ns,op,offset,size\n", "1,R,0,512\n", 1},
        {"csv", "time_ns,op,offset,size\n",
         "1,R,0,512\nTime_NS,OP,Offset,Size\n2,R,0,512\n", 2},
        {"fio", BOM "fio version 2 iolog\n", "f read 0 512\n", 1},
        {"spc", BOM "# a comment\n", "0,1,512,R,0\n", 1},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        for (unsigned times = 1; times <= 3; times += 2) {
            g_autoptr(GString) text = g_string_new(NULL);
            uint64_t skipped;
            GError *error = NULL;
            Trace *trace;
            Request last;

            for (unsigned k = 0; k < times; k++) {
                g_string_append(text, t[i].header);
                g_string_append(text, t[i].lines);
            }
            g_test_message("%s", text->str);
            trace =
                open_text(text->str, -1, ((TraceOptions)TRACE_OPTIONS_INIT));
            g_assert_cmpstr(trace_format(trace)->name, ==, t[i].format);
            trace_close(trace);
            g_assert_cmpuint(count(text->str,
                                   ((TraceOptions)TRACE_OPTIONS_INIT), &error,
                                   &skipped, &last),
                             ==, times * t[i].n);
            g_assert_no_error(error);
        }
    }
}

/* Comments and columns in any number before the first request. */
static void test_many(void)
{
    TraceOptions o = TRACE_OPTIONS_INIT;
    g_autoptr(GString) comments = g_string_new(NULL);
    g_autoptr(GString) header = g_string_new(NULL);
    g_autoptr(GString) line = g_string_new(NULL);
    g_autofree char *columns = NULL;

    for (unsigned i = 0; i < 100; i++) {
        g_string_append(comments, "# a comment\n\n");
        g_string_append_printf(header, "x%u,", i);
        g_string_append(line, "-,");
    }
    g_string_append(comments, MSR);
    check_three(open_text(comments->str, -1, o));
    columns = g_strdup_printf("%stime_ms,op,offset,size\n%s0,W,8192,4096\n"
                              "%s1,R,1048576,16384\n%s3,W,4096,512\n",
                              header->str, line->str, line->str, line->str);
    check_three(open_text(columns, -1, o));
}

/* A header that is known: the fault is that of a line. */
static void test_known_header(void)
{
    static const struct {
        const char *text;
        const char *says;
    } t[] = {
        {MSR_HEADER "rubbish\n", "memory:2: field 1"},
        {MSR_HEADER, "holds no request"},
        {SYSTOR_HEADER "rubbish\n", "memory:2: field 1"},
        {"time_ns,op,size\n1,R,512\n", "memory:1: no header that names"},
        {"time_ns,op,offset,size\nx\ny\nz\n", "memory:2: the time"},
        {"fio version 9 iolog\n", "memory:1: the first line"},
        {"time_ns,time_us,op,offset,size\n1,1,R,0,512\n",
         "memory:1: two columns are times: give the one that does not count"},
        {"time_ns,op,type,offset,size\n1,R,R,0,512\n",
         "memory:1: two columns are operations"},
        {"time_ns,op,is_read,offset,size\n1,R,0,0,512\n",
         "memory:1: two columns are operations"},
        {"time_ns,is_read,is_write,offset,size\n1,1,1,0,512\n",
         "memory:1: two columns are operations"},
        {"time_ns,op,offset,sector,size\n1,R,0,1,512\n",
         "memory:1: two columns are addresses"},
        {"time_ns,op,offset,size,sectors\n1,R,0,512,8\n",
         "memory:1: two columns are sizes"},
        {"time_ns,op,offset,size,disk,lun\n1,R,0,512,8,9\n",
         "memory:1: two columns are devices"},
        {"time_ns,op,offset,size\n1,R,0,512\ntime_ns,op,size,offset\n",
         "memory:3: another header than in the first line"},
        {"time_ns,op,offset,size\n1,R,0,512\ntime_ns,op,offset,size,device\n",
         "memory:3: another header than in the first line"},
        {"time_ns,op,offset,size\n1,R,0,512\ntime_us,is_read,page,pages\n",
         "memory:3: another header than in the first line"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        g_autoptr(GError) error = NULL;
        TraceOptions o = TRACE_OPTIONS_INIT;
        uint64_t skipped;
        Request last;

        o.skip_bad = strstr(t[i].says, "another header") != NULL;
        count(t[i].text, o, &error, &skipped, &last);
        g_assert_nonnull(error);
        g_assert_nonnull(strstr(error->message, t[i].says));
    }
}

/* A log without times is one only where times are of no use. */
static void test_untimed(void)
{
    static const struct {
        const char *text;
        bool untimed;
        unsigned n;
    } t[] = {
#define TEN                                                                    \
    "f read 0 512\nf write 0 512\nf trim 0 512\nf read 0 512\n"                \
    "f write 0 512\nf read 0 512\nf read 0 512\nf read 0 512\n"                \
    "f read 0 512\nf read 0 512\n"
        {"fio version 2 iolog\n" TEN TEN TEN TEN TEN TEN TEN, true, 70},
        {"fio version 2 iolog\n" TEN TEN TEN TEN TEN TEN, false, 60},
        {"fio version 2 iolog\n" TEN TEN TEN TEN TEN TEN TEN "f wait 5\n" TEN,
         false, 80},
        {"fio version 3 iolog\n1 f read 0 512\n1 f write 0 512\n", false, 2},
        {"# x\nop,offset,size\nR,0,512\nW,4096,512\n", true, 2},
        {"\"op\",\"offset\",\"size\"\nR,0,512\n", true, 1},
        {"op,offset,size,time_ns\nR,0,512,5\n", false, 1},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        TraceOptions o = TRACE_OPTIONS_INIT;
        g_autoptr(GError) error = NULL;
        Trace *trace =
            trace_from_memory(t[i].text, strlen(t[i].text), &o, &error);
        uint64_t skipped;
        Request last;

        g_assert_true((trace == NULL) == t[i].untimed);
        if (!trace) {
            g_assert_nonnull(strstr(error->message, "has no times"));
            g_clear_error(&error);
        }
        trace_close(trace);
        o.may_lack_times = true;
        g_assert_cmpuint(count(t[i].text, o, &error, &skipped, &last), ==,
                         t[i].n);
        g_assert_no_error(error);
    }
}

/* Every action of fio. */
static void test_fio_actions(void)
{
    static const char text[] =
        "fio version 3 iolog\n1 f add\n2 f open\n3 f write 0 4096\n"
        "4 f sync 0 0\n5 f datasync 0 0\n6 f syncfs 0 0\n"
        "7 f sync_file_range 0 4096\n8 f trim 0 4096\n9 f close\n";
    uint64_t left[TRACE_N_LEFT];
    g_autofree char *got =
        played(open_text(text, -1, ((TraceOptions)TRACE_OPTIONS_INIT)), left);

    g_assert_cmpstr(got, ==, "WFFFT");
    check_left(left, TRACE_LEFT_COMMANDS, 1);
}

/* A few lines out of order are counted, more than a tenth are a fault. */
static void test_unsorted(void)
{
    static const struct {
        unsigned n;     /* lines, in order */
        unsigned older; /* lines behind those */
        bool good;
    } t[] = {{91, 9, true},      {90, 10, true},    {89, 11, false},
             {1, 8, true},       {1, 9, false},     {3000, 300, true},
             {3000, 400, false}, {899, 3000, false}};

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        for (unsigned way = 0; way < 3; way++) {
            g_autoptr(GString) text = g_string_new(NULL);
            TraceOptions o = TRACE_OPTIONS_INIT;
            g_autoptr(GError) error = NULL;
            uint64_t skipped;
            Request last;
            uint64_t n;

            for (unsigned k = 0; k < t[i].n + t[i].older; k++) {
                g_string_append_printf(text, "0,1,512,R,%u.5\n",
                                       k < t[i].n ? k + 5 : 1);
            }
            o.skip_bad = way == 1;
            o.may_be_unsorted = way == 2;
            n = count(text->str, o, &error, &skipped, &last);
            if (t[i].good || way > 0) {
                g_assert_no_error(error);
                g_assert_cmpuint(n, ==, t[i].n + t[i].older);
                g_assert_cmpuint(skipped, ==, 0);
            } else {
                g_assert_nonnull(strstr(error->message, "sort the trace"));
                g_assert_true(g_str_has_prefix(error->message, "memory:"));
            }
        }
    }
}

/* Lines in the order in which requests end. */
static void test_late_lines(void)
{
    static const char text[] =
        SYSTOR_HEADER "100.004,0.001,R,0,512,512\n100.001,0.005,W,0,1024,512\n"
                      "100.001,0.005,W,1,1536,512\n\n100,0.006,R,0,2048,512\n"
                      "100.003,0.004,R,0,2560,0\n100.005,,R,0,3072,512\n";
    static const struct {
        uint64_t ms, offset;
        const char *where;
    } want[] = {
        {0, 2048, "memory:6"}, {1, 1024, "memory:3"}, {1, 1536, "memory:4"},
        {4, 512, "memory:2"},  {5, 3072, "memory:8"},
    };
    TraceOptions o = TRACE_OPTIONS_INIT;
    g_autoptr(GError) error = NULL;
    uint64_t skipped;
    RequestSource s;
    Request req;
    Trace *t;

    g_assert_cmpuint(count(text, o, &error, &skipped, &req), ==, 3);
    g_assert_nonnull(strstr(error->message, "memory:7: the size"));
    g_clear_error(&error);
    o.skip_bad = true;
    t = open_text(text, -1, o);
    s = trace_source(t);
    for (size_t i = 0; i < G_N_ELEMENTS(want); i++) {
        g_autofree char *where = NULL;

        g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_OK);
        where = s.where(s.opaque);
        g_assert_cmpuint(req.at_ns, ==, want[i].ms * 1000000);
        g_assert_cmpuint(req.offset, ==, want[i].offset);
        g_assert_cmpstr(where, ==, want[i].where);
    }
    g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_END);
    g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_END);
    g_assert_cmpuint(trace_n_disordered(t), ==, 0);
    g_assert_cmpuint(trace_n_skipped(t), ==, 1);
    g_assert_cmpuint(trace_first_ns(t), ==, 100 * NS_PER_S);
    g_assert_cmpuint(trace_newest_ns(t), ==, 100005000000);
    trace_close(t);
}

/* Lines that are older than all others, behind so many of those. */
static void test_too_late_lines(void)
{
    static const struct {
        unsigned behind, n_late;
        uint64_t disordered;
        bool good;
    } t[] = {{TRACE_ORDER_LINES - 1, 1, 0, true},
             {TRACE_ORDER_LINES, 1, 1, true},
             {TRACE_ORDER_LINES - 1, 1000, 0, true},
             {TRACE_ORDER_LINES, 1000, 1000, false}};

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        g_autoptr(GString) text = g_string_new(SYSTOR_HEADER);
        TraceOptions o = TRACE_OPTIONS_INIT;
        g_autoptr(GError) error = NULL;
        RequestSource s;
        RequestNext r;
        Request req;
        Trace *trace;

        for (unsigned k = 0; k < 2 * TRACE_ORDER_LINES; k++) {
            bool late = k >= t[i].behind && k < t[i].behind + t[i].n_late;

            g_string_append_printf(text, "%u,0.1,R,0,0,512\n",
                                   late ? 1 : k + 2);
        }
        trace = open_text(text->str, -1, o);
        s = trace_source(trace);
        do {
            r = s.next(s.opaque, &req, &error);
        } while (r == REQUEST_OK);
        g_assert_cmpint(r, ==, t[i].good ? REQUEST_END : REQUEST_ERROR);
        if (t[i].good) {
            g_assert_cmpuint(trace_n_disordered(trace), ==, t[i].disordered);
        } else {
            g_assert_nonnull(strstr(error->message, "sort the trace"));
        }
        trace_close(trace);
    }
}

/* Text of 16 bits a letter is refused in one line. */
static void test_utf16(void)
{
    static const char marked[] = "\xff\xfe"
                                 "1\0,\0h\0\n\0";
    static const char plain[] = "1\0,\0h\0\n\0";
    static const char big[] = "\xfe\xff\0001\0,\0h\0\n";
    static const struct {
        const char *text;
        size_t n;
    } t[] = {{marked, sizeof(marked) - 1},
             {plain, sizeof(plain) - 1},
             {big, sizeof(big) - 1}};

    for (size_t i = 0; i < 2 * G_N_ELEMENTS(t); i++) {
        TraceOptions o = TRACE_OPTIONS_INIT;
        g_autoptr(GError) error = NULL;

        o.format = i % 2 ? &trace_msr : NULL;
        g_assert_null(trace_from_memory(t[i / 2].text, t[i / 2].n, &o, &error));
        g_assert_nonnull(strstr(error->message, "UTF-16"));
    }
}

/* Messages of each format for lines that it cannot read. */
static void test_damage(void)
{
    static const struct {
        const TraceFormat *format;
        const char *text;
        const char *says;
    } t[] = {
        {&trace_spc, "x,1,512,R,0\n", ":1: field 1"},
        {&trace_spc, "0,-1,512,R,0\n", "field 2"},
        {&trace_spc, "0,99999999999999999999,512,R,0\n", "field 2"},
        {&trace_spc, "0,1,x,R,0\n", "field 3"},
        {&trace_spc, "0,1,512,RW,0\n", "field 4"},
        {&trace_spc, "0,1,512,R,\n", "field 5"},
        {&trace_spc, "0,1,0,R,1\n", "size is not 1..4294967295"},
        {&trace_systor17, "1,2,R,0,5\n", "field 5"},
        {&trace_systor17, "1,2,R,0,5,6,7\n", "field 6"},
        {&trace_ssdsim, "1 0 1 0 1\n", "field 4"},
        {&trace_ssdsim, "1.5 0 1 1 1\n", "whole nanoseconds"},
        {&trace_disksim, "1.5 0 1 1\n", "field 4"},
        {&trace_disksim, "1.5 0 1 1 1 1\n", "field 5"},
        {&trace_blkparse, "rubbish\n", "not: device cpu"},
        {&trace_blkparse,
         "8,0 0 1 0.0 1 D R x + 8 [x]\n"
         "8,0 0 1 0.0 1 D R 1 + 8 [x]\n",
         ":1: not: sector + sectors"},
        {&trace_blkparse, "8,0 0 1 0.0 1 D R 99999999999999999 + 8\n",
         "too large"},
        {&trace_ftrace, "rubbish\n", "not: task [cpu] seconds: event"},
        {&trace_ftrace, "x-1 [0] 1.0: block_rq_issue: 8 W 1 () 0 + 8 [x]\n",
         "without a device"},
        {&trace_ftrace, "x-1 [0] 1.0: block_rq_issue: 8,0 W 1 0 + 8 [x]\n",
         "is not: device RWBS"},
        {&trace_ftrace, "x-1 [0] 1.0: block_rq_issue: 8,0 W 1 () x + 8 [x]\n",
         "without: sector + sectors"},
        {&trace_ftrace, "x-1 [0] 1.0: nvme_setup_cmd: nvme0: qid=1\n",
         "without cmd=("},
        {&trace_ftrace,
         "x-1 [0] 1.0: nvme_setup_cmd: disk=a, cmd=(nvme_cmd_read len=7)\n",
         "without slba="},
        {&trace_ftrace,
         "x-1 [0] 1.0: nvme_setup_cmd: disk=a, "
         "cmd=(nvme_cmd_read slba=1, len=x)\n",
         "without len="},
        {&trace_biosnoop, "0.1 a 1 sda R 8 512 1.0\n", ":1: no header"},
        {&trace_biosnoop, "TIME(ms) DISK COMM PID LAT(ms)\n",
         ":1: no columns SECTOR and BYTES"},
        {&trace_biosnoop, "TIME(s) COMM PID T SECTOR BYTES LAT(ms)\n",
         "not: TIME(s) COMM"},
        {&trace_biosnoop,
         "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n0.1 a 1\n",
         "fewer fields"},
        {&trace_biosnoop,
         "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\nx a 1 sda R 8 512 "
         "1.0\n",
         ":2: field 1"},
        {&trace_biosnoop,
         "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n0.1 a 1 sda R x 512 "
         "1.0\n",
         "SECTOR is not"},
        {&trace_biosnoop,
         "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n0.1 a 1 sda R 8 - "
         "1.0\n",
         "BYTES is not"},
        {&trace_fio, "x\n", "first line"},
        {&trace_fio, "fio version 2 iolog\nf read 0\n", ":2: not: file"},
        {&trace_fio, "fio version 2 iolog\nf frob 0 1\n", "the action"},
        {&trace_fio, "fio version 3 iolog\nf read 0 1\n", "microseconds"},
        {&trace_csv, "time_ns,op,size\n", "no header"},
        {&trace_csv, "time_ns,op,offset,size\n1,R,2\n", ":2: fewer"},
        {&trace_csv, "time_ns,op,offset,size\n1,X,2,3\n", "the kind"},
        {&trace_csv, "time_ns,op,offset,size\n1,R,-2,3\n", "not a number"},
        {&trace_csv, "time_ns,op,offset,size,stream\n1,W,2,3,x\n",
         "not a number"},
        {&trace_csv, "time_ns,op,offset,size,stream\n1,W,2,3,64\n",
         ":2: the stream is not 0..63"},
        {&trace_blktrace,
         "rubbish that is longer than a record, for it to be "
         "read as one\n",
         "magic"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        TraceOptions o = TRACE_OPTIONS_INIT;
        g_autoptr(GError) error = NULL;
        uint64_t skipped;
        Request last;

        o.format = t[i].format;
        count(t[i].text, o, &error, &skipped, &last);
        if (!error || !strstr(error->message, t[i].says) ||
            strchr(error->message, '\n')) {
            g_error("\"%s\": \"%s\" should say \"%s\"", t[i].text,
                    error ? error->message : "nothing", t[i].says);
        }
    }
}

/* An option that a format does not use is refused. */
static void test_unused_options(void)
{
    static const struct {
        const TraceFormat *format;
        const char *text;
        const char *columns;
        char action;
        const char *says; /* NULL: it is used */
    } t[] = {
        {&trace_spc, "0,1,512,R,0\n", "time_ns,op,offset,size", 0,
         "--columns: not for memory, of format spc"},
        {&trace_spc, "0,1,512,R,0\n", NULL, 'Q', "--action: not for"},
        {NULL, "0,1,512,R,0\n", NULL, 'Q', "of format spc"},
        {&trace_csv, "1,R,0,512\n", "time_ns,op,offset,size", 0, NULL},
        {&trace_csv, "1,R,0,512\n", "time_ns,op,offset,size", 'D',
         "--action: not for"},
        {&trace_blkparse, "8,0 0 1 0.0 1 Q R 1 + 8 [x]\n", NULL, 'Q', NULL},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        TraceOptions o = TRACE_OPTIONS_INIT;
        g_autoptr(GError) error = NULL;
        Trace *trace;

        o.format = t[i].format;
        o.columns = t[i].columns;
        o.action = t[i].action;
        trace = trace_from_memory(t[i].text, strlen(t[i].text), &o, &error);
        g_assert_true((trace == NULL) == (t[i].says != NULL));
        if (t[i].says) {
            g_assert_nonnull(strstr(error->message, t[i].says));
        }
        trace_close(trace);
    }
}

/* Readings of one format, in turns: each keeps its own state. */
static void test_states(void)
{
    static const char text[] = "fio version 2 iolog\nf wait 5\n"
                               "f read 0 512\nf wait 5\nf read 0 512\n";
    Trace *trace[2];
    RequestSource s[2];

    for (int i = 0; i < 2; i++) {
        trace[i] = open_text(text, -1, ((TraceOptions)TRACE_OPTIONS_INIT));
        s[i] = trace_source(trace[i]);
    }
    for (uint64_t line = 0; line < 2; line++) {
        for (int i = 0; i < 2; i++) {
            Request req;

            g_assert_cmpint(s[i].next(s[i].opaque, &req, NULL), ==, REQUEST_OK);
            g_assert_cmpuint(req.at_ns, ==, line * 5000);
        }
    }
    for (int i = 0; i < 2; i++) {
        trace_close(trace[i]);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/formats/texts", test_texts);
    g_test_add_func("/formats/bpftrace", test_bpftrace);
    g_test_add_func("/formats/recordings", test_recordings);
    g_test_add_func("/formats/early", test_early);
    g_test_add_func("/formats/unused-options", test_unused_options);
    g_test_add_func("/formats/states", test_states);
    g_test_add_func("/formats/options", test_options);
    g_test_add_func("/formats/devices", test_devices);
    g_test_add_func("/formats/device-names", test_device_names);
    g_test_add_func("/formats/named", test_named);
    g_test_add_func("/formats/many-devices", test_many_devices);
    g_test_add_func("/formats/unknown", test_unknown);
    g_test_add_func("/formats/headers", test_headers);
    g_test_add_func("/formats/many", test_many);
    g_test_add_func("/formats/known-header", test_known_header);
    g_test_add_func("/formats/untimed", test_untimed);
    g_test_add_func("/formats/fio-actions", test_fio_actions);
    g_test_add_func("/formats/unsorted", test_unsorted);
    g_test_add_func("/formats/late-lines", test_late_lines);
    g_test_add_func("/formats/too-late-lines", test_too_late_lines);
    g_test_add_func("/formats/utf16", test_utf16);
    g_test_add_func("/formats/damage", test_damage);
    return g_test_run();
}
