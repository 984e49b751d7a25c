/* SPDX-License-Identifier: GPL-2.0-or-later */
/* formats.c - every trace format: found, read, damaged, packed. */
#include <string.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "simtime.h"
#include "trace-order.h"
#include "trace.h"

/* Three requests that every format can say: a write, a read 1 ms later, and a
 * write 2 ms after that. */
static const Request wanted[] = {
    {0, 8192, 4096, SSD_OP_WRITE, false, 0, 0},
    {1000000, 1048576, 16384, SSD_OP_READ, false, 0, 0},
    {3000000, 4096, 512, SSD_OP_WRITE, false, 0, 0},
};

#define MSR                                                                    \
    "128166372000000000,h,0,Write,8192,4096,1\n"                               \
    "128166372000010000,h,0,Read,1048576,16384,1\n"                            \
    "128166372000030000,h,0,Write,4096,512,1\n"

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

static Trace *open_text(const char *text, gssize n, TraceOptions o)
{
    GError *error = NULL;
    Trace *t = trace_from_memory(text, n < 0 ? strlen(text) : (size_t)n, &o,
                                 &error);

    g_assert_no_error(error);
    g_assert_nonnull(t);
    return t;
}

static void check_three(Trace *t)
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

/* ---- blktrace ------------------------------------------------------------ */

static void put(GByteArray *a, uint64_t v, unsigned nbytes, bool big)
{
    for (unsigned i = 0; i < nbytes; i++) {
        unsigned at = big ? nbytes - 1 - i : i;
        uint8_t byte = at < sizeof(v) ? v >> 8 * at : 0;

        g_byte_array_append(a, &byte, 1);
    }
}

/* One struct blk_io_trace with more bytes behind it. */
static void blk(GByteArray *a, bool big, uint64_t ns, uint64_t sector,
                uint32_t nbytes, uint32_t action, unsigned more)
{
    put(a, 0x65617407, 4, big);
    put(a, 1, 4, big);
    put(a, ns, 8, big);
    put(a, sector, 8, big);
    put(a, nbytes, 4, big);
    put(a, action, 4, big);
    put(a, 4711, 4, big);
    put(a, 8 << 20 | 16, 4, big);
    put(a, 3, 4, big);
    put(a, 0, 2, big);
    put(a, more, 2, big);
    put(a, 0, more, big);
}

static GByteArray *blk_three(bool big)
{
    GByteArray *a = g_byte_array_new();

    blk(a, big, 1, 0, 5, 1 << 26, 5);             /* a note of a process */
    blk(a, big, 2, 16, 4096, 1 | 2 << 16, 0);     /* queued */
    blk(a, big, 7000, 16, 4096, 7 | 2 << 16, 3);  /* issued */
    blk(a, big, 1007000, 2048, 16384, 7 | 1 << 16, 0);
    blk(a, big, 1008000, 2048, 16384, 8 | 1 << 16, 0); /* completed */
    blk(a, big, 3007000, 8, 512, 7 | 2 << 16, 0);
    return a;
}

static void test_blktrace(void)
{
    for (int big = 0; big < 2; big++) {
        g_autoptr(GByteArray) a = blk_three(big);
        TraceOptions o = TRACE_OPTIONS_INIT;
        GError *error = NULL;
        Trace *t = open_text((char *)a->data, a->len, o);
        RequestSource s;
        Request req;

        g_assert_true(trace_format(t) == &trace_blktrace);
        check_three(t);
        o.action = 'C';
        t = open_text((char *)a->data, a->len, o);
        s = trace_source(t);
        g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_OK);
        g_assert_cmpint(req.op, ==, SSD_OP_READ);
        g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_END);
        trace_close(t);
        t = open_text((char *)a->data, a->len - 1, ((TraceOptions)TRACE_OPTIONS_INIT));
        s = trace_source(t);
        for (int i = 0; i < 2; i++) {
            g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_OK);
        }
        g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_ERROR);
        g_assert_nonnull(strstr(error->message, "ends within a record"));
        g_clear_error(&error);
        trace_close(t);
    }
}

/* Discards, flushes, FUA. */
static void test_kinds(void)
{
    static const char text[] =
        "8,0 0 1 0.0 1 D D 16 + 8 [x]\n"
        "8,0 0 2 0.1 1 D WFS 32 + 8 [x]\n"
        "8,0 0 3 0.2 1 D FWS 0 + 0 [x]\n"
        "8,0 0 4 0.3 1 D FN [x]\n"
        "8,0 0 5 0.4 1 D RA 8 + 8 [x]\n";
    static const struct {
        SsdOp op;
        bool fua;
    } want[] = {{SSD_OP_TRIM, false},
                {SSD_OP_WRITE, true},
                {SSD_OP_FLUSH, false},
                {SSD_OP_FLUSH, false},
                {SSD_OP_READ, false}};
    Trace *t = open_text(text, -1, ((TraceOptions)TRACE_OPTIONS_INIT));
    RequestSource s = trace_source(t);
    GError *error = NULL;
    Request req;

    for (size_t i = 0; i < G_N_ELEMENTS(want); i++) {
        g_assert_cmpint(s.next(s.opaque, &req, &error), ==, REQUEST_OK);
        g_assert_cmpint(req.op, ==, want[i].op);
        g_assert_cmpint(req.fua, ==, want[i].fua);
    }
    trace_close(t);
}

/* What a trace becomes: R, W, T (TRIM) and F (flush) in order, ! for FUA. */
static char *played(Trace *t, uint64_t left[TRACE_N_LEFT])
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
static void check_left(const uint64_t left[TRACE_N_LEFT], TraceLeft kind,
                       uint64_t n)
{
    for (unsigned i = 0; i < TRACE_N_LEFT; i++) {
        g_assert_cmpuint(left[i], ==, i == kind ? n : 0);
    }
}

#define PLAYED TRACE_N_LEFT /* nothing is left out */

/* Each letter of RWBS, alone and with others. */
static const struct {
    const char *text; /* from RWBS on */
    const char *played;
    TraceLeft left;
} with_letters[] = {
    {"R 0 + 8", "R", PLAYED},
    {"RA 0 + 8", "R", PLAYED},
    {"RS 0 + 8", "R", PLAYED},
    {"RM 0 + 8", "R", PLAYED},
    {"RASM 0 + 8", "R", PLAYED},
    {"RF 0 + 8", "R", PLAYED},
    {"FR 0 + 8", "FR", PLAYED},
    {"W 0 + 8", "W", PLAYED},
    {"WS 0 + 8", "W", PLAYED},
    {"WSM 0 + 8", "W", PLAYED},
    {"WSU 0 + 8", "W", PLAYED},
    {"WF 0 + 8", "W!", PLAYED},
    {"WFS 0 + 8", "W!", PLAYED},
    {"WFSM 0 + 8", "W!", PLAYED},
    {"WSF 0 + 8", "W!", PLAYED},
    {"WBS 0 + 8", "W!", PLAYED},
    {"FW 0 + 8", "FW", PLAYED},
    {"FWS 0 + 8", "FW", PLAYED},
    {"FWSM 0 + 8", "FW", PLAYED},
    {"FWF 0 + 8", "FW!", PLAYED},
    {"FWFS 0 + 8", "FW!", PLAYED},
    {"FWFSM 0 + 8", "FW!", PLAYED},
    {"FWFASM 0 + 8", "FW!", PLAYED},
    {"D 0 + 8", "T", PLAYED},
    {"DS 0 + 8", "T", PLAYED},
    {"DE 0 + 8", "T", PLAYED},
    {"DES 0 + 8", "T", PLAYED},
    {"FD 0 + 8", "FT", PLAYED},
    {"WZ 0 + 8", "T", PLAYED},
    {"WZS 0 + 8", "T", PLAYED},
    {"F [x]", "F", PLAYED},
    {"F 0 + 0 [x]", "F", PLAYED},
    {"F 0 + 8 [x]", "F", PLAYED},
    {"FF 0 + 0 [x]", "F", PLAYED},
    {"FF 0 + 8 [x]", "F", PLAYED},
    {"FS [x]", "F", PLAYED},
    {"FN [x]", "F", PLAYED},
    {"FWS [x]", "F", PLAYED},
    {"FWFSM 0 + 0 [x]", "F", PLAYED},
    {"FWS 0 [0]", "F", PLAYED},
    {"ZA 0 + 8", "W", PLAYED},
    {"ZAS 0 + 8", "W", PLAYED},
    {"ZAF 0 + 8", "W!", PLAYED},
    {"FZAS 0 + 8", "FW", PLAYED},
    {"ZR 0 + 8", "T", PLAYED},
    {"ZRS 0 + 8", "T", PLAYED},
    {"ZR 0 + 0", "", TRACE_LEFT_EMPTY},
    {"ZRA 0 + 0", "", TRACE_LEFT_ZONES},
    {"ZRAS 0 + 524288", "", TRACE_LEFT_ZONES},
    {"ZO 0 + 524288", "", TRACE_LEFT_ZONES},
    {"ZC 0 + 524288", "", TRACE_LEFT_ZONES},
    {"ZF 0 + 524288", "", TRACE_LEFT_ZONES},
    {"ZFS 0 + 524288", "", TRACE_LEFT_ZONES},
    {"N 0 + 8", "", TRACE_LEFT_COMMANDS},
    {"N [x]", "", TRACE_LEFT_COMMANDS},
    {"NS 0 + 0", "", TRACE_LEFT_COMMANDS},
    {"R 36 (12 00 00 00 24 00 ..) [x]", "", TRACE_LEFT_COMMANDS},
    {"WS 512 (85 06 2c 00 ..) [x]", "", TRACE_LEFT_COMMANDS},
    {"R (a1 08 2e ..) [0]", "", TRACE_LEFT_COMMANDS},
    {"R 36 [x]", "", TRACE_LEFT_COMMANDS},
    {"R [x]", "", TRACE_LEFT_EMPTY},
    {"W 64 + 0 [x]", "", TRACE_LEFT_EMPTY},
    {"D 64 + 0 [x]", "", TRACE_LEFT_EMPTY},
    {"Z 0 + 8", "", TRACE_LEFT_UNKNOWN},
    {"ZX 0 + 8", "", TRACE_LEFT_UNKNOWN},
    {"S 0 + 8", "", TRACE_LEFT_UNKNOWN},
    {"RW 0 + 8", "", TRACE_LEFT_UNKNOWN},
    {"Wq 0 + 8", "", TRACE_LEFT_UNKNOWN},
    {"X 0 + 8", "", TRACE_LEFT_UNKNOWN},
};

static void test_letters(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(with_letters); i++) {
        g_autofree char *text = g_strdup_printf("8,0 0 1 0.0 1 D R 0 + 8 [x]\n"
                                                "8,0 0 2 0.1 1 D %s\n",
                                                with_letters[i].text);
        g_autofree char *want = g_strconcat("R", with_letters[i].played, NULL);
        uint64_t left[TRACE_N_LEFT];
        g_autofree char *got = played(
            open_text(text, -1, ((TraceOptions)TRACE_OPTIONS_INIT)), left);

        g_test_message("%s", with_letters[i].text);
        g_assert_cmpstr(got, ==, want);
        check_left(left, with_letters[i].left, 1);
    }
}

/* The same letters in the column of the operation, also in lower case. */
static void test_letters_in_columns(void)
{
    static const struct {
        const char *word, *size, *played;
        TraceLeft left;
    } t[] = {
        {"RA", "4096", "R", PLAYED},
        {"RF", "4096", "R", PLAYED},
        {"WSM", "4096", "W", PLAYED},
        {"WFS", "4096", "W!", PLAYED},
        {"wfsm", "4096", "W!", PLAYED},
        {"FW", "4096", "FW", PLAYED},
        {"FWS", "4096", "FW", PLAYED},
        {"FWFS", "4096", "FW!", PLAYED},
        {"FWFSM", "4096", "FW!", PLAYED},
        {"FWS", "0", "F", PLAYED},
        {"FF", "0", "F", PLAYED},
        {"FN", "0", "F", PLAYED},
        {"F", "0", "F", PLAYED},
        {"D", "4096", "T", PLAYED},
        {"DS", "4096", "T", PLAYED},
        {"DE", "4096", "T", PLAYED},
        {"FDS", "4096", "FT", PLAYED},
        {"WZS", "4096", "T", PLAYED},
        {"ZF", "4096", "", TRACE_LEFT_ZONES},
        {"N", "4096", "", TRACE_LEFT_COMMANDS},
    };
    static const struct {
        const char *format, *first, *begin, *between, *end;
        bool size_first;
    } f[] = {
        {"csv", "time_ns,op,offset,size\n0,R,0,4096\n", "1,", ",0,", "\n",
         false},
        {"csv", "time_ns,size,op,offset\n0,4096,R,0\n", "1,", ",", ",0\n",
         true},
        {"msr", "1,h,0,R,0,4096,1\n", "2,h,0,", ",0,", ",1\n", false},
        {"spc", "0,0,4096,R,0\n", "0,0,", ",", ",1\n", true},
        {"systor17", "1.5,,R,0,0,4096\n", "2.5,,", ",0,0,", "\n", false},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(t) * G_N_ELEMENTS(f); i++) {
        const size_t k = i / G_N_ELEMENTS(f), n = i % G_N_ELEMENTS(f);
        TraceOptions o = TRACE_OPTIONS_INIT;
        g_autoptr(GString) text = g_string_new(f[n].first);
        g_autofree char *want = g_strconcat("R", t[k].played, NULL);
        g_autofree char *got = NULL;
        uint64_t left[TRACE_N_LEFT];

        g_string_append_printf(
            text, "%s%s%s%s%s", f[n].begin,
            f[n].size_first ? t[k].size : t[k].word, f[n].between,
            f[n].size_first ? t[k].word : t[k].size, f[n].end);
        g_test_message("%s", text->str);
        o.format = trace_format_find(f[n].format);
        got = played(open_text(text->str, -1, o), left);
        g_assert_cmpstr(got, ==, want);
        check_left(left, t[k].left, 1);
    }
}

/* Each action, of blkparse and of the binary. */
static const struct {
    const char *text;
    unsigned number; /* 0: text alone */
    TraceLeft left;
} with_actions[] = {
    {"Q", 1, TRACE_LEFT_STAGES},
    {"M", 2, TRACE_LEFT_STAGES},
    {"F", 3, TRACE_LEFT_STAGES},
    {"G", 4, TRACE_LEFT_STAGES},
    {"S", 5, TRACE_LEFT_STAGES},
    {"R", 6, TRACE_LEFT_STAGES},
    {"D", 7, PLAYED},
    {"C", 8, TRACE_LEFT_STAGES},
    {"P", 9, TRACE_LEFT_NOTES},
    {"U", 10, TRACE_LEFT_NOTES},
    {"UT", 11, TRACE_LEFT_NOTES},
    {"T", 0, TRACE_LEFT_NOTES},
    {"I", 12, TRACE_LEFT_STAGES},
    {"X", 13, TRACE_LEFT_STAGES},
    {"B", 14, TRACE_LEFT_STAGES},
    {"A", 15, TRACE_LEFT_STAGES},
    {"a", 16, TRACE_LEFT_STAGES},
    {"d", 17, TRACE_LEFT_NOTES},
    {"ZP", 18, TRACE_LEFT_STAGES},
    {"ZU", 19, TRACE_LEFT_STAGES},
    {"ZM", 20, TRACE_LEFT_ZONES},
    {"m", 0, TRACE_LEFT_NOTES},
    {"?", 21, TRACE_LEFT_UNKNOWN},
    {"DX", 255, TRACE_LEFT_UNKNOWN},
};

static void test_actions(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(with_actions); i++) {
        g_autofree char *text =
            g_strdup_printf("8,0 0 1 0.0 1 D W 0 + 8 [x]\n"
                            "8,0 0 2 0.1 1 %s W 0 + 8 [x]\n",
                            with_actions[i].text);
        g_autoptr(GByteArray) a = g_byte_array_new();
        TraceOptions o = TRACE_OPTIONS_INIT;
        const char *want = with_actions[i].left == PLAYED ? "WW" : "W";
        uint64_t left[TRACE_N_LEFT];
        g_autofree char *got = played(open_text(text, -1, o), left);
        g_autofree char *binary = NULL;

        g_test_message("%s", with_actions[i].text);
        g_assert_cmpstr(got, ==, want);
        check_left(left, with_actions[i].left, 1);
        if (!with_actions[i].number) {
            continue;
        }
        blk(a, false, 1, 16, 4096, 7 | 2 << 16, 0);
        blk(a, false, 2, 16, 4096, with_actions[i].number | 2 << 16, 0);
        blk(a, false, 3, 16, 4096, with_actions[i].number | 0x100 | 2 << 16, 8);
        binary = played(open_text((char *)a->data, a->len, o), left);
        g_assert_cmpstr(binary, ==,
                        with_actions[i].left == PLAYED ? "WWW" : "W");
        check_left(left, with_actions[i].left, 2);
    }
}

/* Events of the kernel's trace buffer, from "event:" on. */
static const struct {
    const char *text;
    const char *played;
    TraceLeft left;
} with_events[] = {
    {"block_rq_issue: 8,0 FWFS 4096 () 0 + 8 [x]", "FW!", PLAYED},
    {"block_rq_issue: 8,0 FF 0 () 0 + 0 [x]", "F", PLAYED},
    {"block_rq_issue: 8,0 D 4096 () 0 + 8 be,0,4 [x]", "T", PLAYED},
    {"block_rq_issue: 8,0 R 36 (12 00 00 00 24 00) 0 + 0 [x]", "",
     TRACE_LEFT_COMMANDS},
    {"block_rq_issue: 8,0 N 36 () 0 + 0 [x]", "", TRACE_LEFT_COMMANDS},
    {"block_rq_issue: 8,0 ? 36 () 0 + 8 [x]", "", TRACE_LEFT_UNKNOWN},
    {"block_rq_issue: 8,0 R 0 () 0 + 0 [x]", "", TRACE_LEFT_EMPTY},
    {"block_rq_insert: 8,0 R 4096 () 0 + 8 [x]", "", TRACE_LEFT_STAGES},
    {"block_rq_complete: 8,0 R () 0 + 8 [0]", "", TRACE_LEFT_STAGES},
    {"block_plug: [x]", "", TRACE_LEFT_STAGES},
    {"sched_switch: prev_comm=x", "", TRACE_LEFT_NOTES},
#define NVME(cmd)                                                              \
    "nvme_setup_cmd: nvme0: disk=nvme0n1, qid=1, cmdid=7, nsid=1, flags=0x0, " \
    "meta=0x0, cmd=(" cmd ")"
    {NVME("nvme_cmd_write slba=8, len=7, ctrl=0x4000, dsmgmt=0, reftag=0"),
     "W!", PLAYED},
    {NVME("nvme_cmd_read slba=8, len=7, ctrl=0x4000, dsmgmt=0, reftag=0"), "R",
     PLAYED},
    {NVME("nvme_cmd_zone_append slba=8, len=7, ctrl=0x0, dsmgmt=0, reftag=0"),
     "W", PLAYED},
    {NVME("nvme_cmd_write_zeroes slba=8, len=7, ctrl=0x0, dsmgmt=0, reftag=0"),
     "T", PLAYED},
    {NVME("nvme_cmd_flush cdw10=00 00 00 00"), "F", PLAYED},
    {NVME("nvme_cmd_dsm nr=0, attributes=4"), "", TRACE_LEFT_COMMANDS},
    {NVME("nvme_cmd_zone_mgmt_send slba=0, zsa=1, all=0"), "",
     TRACE_LEFT_ZONES},
    {"nvme_setup_cmd: nvme0: qid=0, cmdid=6, nsid=0, flags=0x0, meta=0x0, "
     "cmd=(nvme_admin_identify cns=1, ctrlid=0)",
     "", TRACE_LEFT_COMMANDS},
    {"nvme_sq: nvme0: disk=nvme0n1, qid=1, head=79, tail=79", "",
     TRACE_LEFT_STAGES},
};

static void test_events(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(with_events); i++) {
        g_autofree char *text =
            g_strdup_printf(" x-1 [0] .... 1.5: %s\n", with_events[i].text);
        bool block = g_str_has_prefix(with_events[i].text, "nvme_") == 0;
        g_autofree char *whole = g_strconcat(
            " y-1 [0] .... 1.0: ",
            block ? "block_rq_issue: 8,0 R 4096 () 0 + 8 [x]\n"
                  : NVME("nvme_cmd_read slba=0, len=7, ctrl=0x0") "\n",
            text, NULL);
        g_autofree char *want = g_strconcat("R", with_events[i].played, NULL);
        uint64_t left[TRACE_N_LEFT];
        g_autofree char *got = played(
            open_text(whole, -1, ((TraceOptions)TRACE_OPTIONS_INIT)), left);

        g_test_message("%s", with_events[i].text);
        g_assert_cmpstr(got, ==, want);
        check_left(left, with_events[i].left, 1);
    }
}

/* A request that the device did not take is one. */
static void test_events_again(void)
{
    static const char text[] =
        "x-1 [0] 1.0: block_rq_issue: 8,0 W 4096 () 0 + 8 [x]\n"
        "x-1 [0] 1.1: block_rq_requeue: 8,0 W () 0 + 8 [0]\n"
        "x-1 [0] 1.2: block_rq_issue: 8,0 W 4096 () 0 + 8 [x]\n";
    uint64_t left[TRACE_N_LEFT];
    g_autofree char *got =
        played(open_text(text, -1, ((TraceOptions)TRACE_OPTIONS_INIT)), left);

    g_assert_cmpstr(got, ==, "W");
    check_left(left, TRACE_LEFT_STAGES, 2);
}

/* Many records before the first request, and none of another format. */
static void test_late_request(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    uint64_t left[TRACE_N_LEFT];
    g_autofree char *got = NULL;
    Trace *t;

    for (unsigned i = 0; i < 100; i++) {
        g_string_append_printf(text, "  8,16   0 %8u 0.%09u 0  m   N cfq %u\n",
                               i, i, i);
    }
    g_string_append(text, "  8,16   0      200 1.0 18615  D   W 16 + 8 [x]\n");
    t = open_text(text->str, -1, ((TraceOptions)TRACE_OPTIONS_INIT));
    g_assert_true(trace_format(t) == &trace_blkparse);
    got = played(t, left);
    g_assert_cmpstr(got, ==, "W");
    check_left(left, TRACE_LEFT_NOTES, 100);
}

/* A request that the device did not take is one, however often it is sent. */
static void test_requeued(void)
{
    static const char text[] = "8,0 0 1 0.0 1 D W 0 + 8 [x]\n"
                               "8,0 0 2 0.1 1 R W 0 + 8 [0]\n"
                               "8,1 0 3 0.2 1 D W 0 + 8 [x]\n"
                               "8,0 0 4 0.3 1 D R 8 + 8 [x]\n"
                               "8,0 0 5 0.4 1 D W 0 + 8 [x]\n"
                               "8,0 0 6 0.5 1 R W 0 + 8 [0]\n"
                               "8,0 0 7 0.6 1 D W 0 + 8 [x]\n"
                               "8,0 0 8 0.7 1 D W 0 + 8 [x]\n";
    static const uint32_t action[] = {7, 6, 7, 7};
    g_autoptr(GByteArray) a = g_byte_array_new();
    TraceOptions o = TRACE_OPTIONS_INIT;
    uint64_t left[TRACE_N_LEFT];
    g_autofree char *got = played(open_text(text, -1, o), left);
    g_autofree char *binary = NULL;

    g_assert_cmpstr(got, ==, "WWRW");
    check_left(left, TRACE_LEFT_STAGES, 4);
    for (size_t i = 0; i < G_N_ELEMENTS(action); i++) {
        blk(a, false, i, 16, 4096, action[i] | 2 << 16, 0);
    }
    binary = played(open_text((char *)a->data, a->len, o), left);
    g_assert_cmpstr(binary, ==, "WW");
    check_left(left, TRACE_LEFT_STAGES, 2);
}

/* struct blk_io_trace2. */
static void blk2(GByteArray *a, bool big, uint64_t sector, uint32_t nbytes,
                 uint64_t action, unsigned more)
{
    put(a, 0x65617408, 4, big);
    put(a, 1, 4, big);
    put(a, 1000, 8, big);
    put(a, sector, 8, big);
    put(a, nbytes, 4, big);
    put(a, 4711, 4, big);
    put(a, action, 8, big);
    put(a, 8 << 20 | 16, 4, big);
    put(a, 3, 4, big);
    put(a, 0, 2, big);
    put(a, more, 2, big);
    put(a, 0, 12, big);
    put(a, 0, more, big);
}

#define IS(bit) (1ULL << (16 + (bit)))

/* Each category of the binary, of version 7 as far as it has it, and of 8. */
static const struct {
    uint64_t is;
    uint32_t nbytes;
    const char *played;
    TraceLeft left;
} with_categories[] = {
    {IS(0), 4096, "R", PLAYED},
    {IS(1), 4096, "W", PLAYED},
    {IS(2), 0, "F", PLAYED},
    {IS(2) | IS(0), 0, "F", PLAYED},
    {IS(2) | IS(1), 0, "F", PLAYED},
    {IS(2) | IS(1), 4096, "FW", PLAYED},
    {IS(2) | IS(1) | IS(15), 4096, "FW!", PLAYED},
    {IS(3) | IS(1), 4096, "W", PLAYED}, /* SYNC */
    {IS(4) | IS(1), 4096, "W", PLAYED}, /* QUEUE */
    {IS(5) | IS(1), 4096, "W", PLAYED}, /* REQUEUE */
    {IS(6) | IS(1), 4096, "W", PLAYED}, /* ISSUE */
    {IS(7) | IS(1), 4096, "W", PLAYED}, /* COMPLETE */
    {IS(8) | IS(1), 4096, "W", PLAYED}, /* FS */
    {IS(9) | IS(0), 36, "", TRACE_LEFT_COMMANDS},
    {IS(9) | IS(1), 4096, "", TRACE_LEFT_COMMANDS},
    {IS(9) | IS(0), 0, "", TRACE_LEFT_COMMANDS},
    {IS(10), 0, "", TRACE_LEFT_NOTES},
    {IS(11) | IS(0), 4096, "R", PLAYED}, /* AHEAD */
    {IS(12) | IS(1), 4096, "W", PLAYED}, /* META */
    {IS(13) | IS(1), 4096, "T", PLAYED},
    {IS(13) | IS(2) | IS(1), 4096, "FT", PLAYED},
    {IS(14) | IS(0), 4096, "R", PLAYED}, /* DRV_DATA */
    {IS(15) | IS(1), 4096, "W!", PLAYED},
    {IS(0), 0, "", TRACE_LEFT_EMPTY},
    {IS(1), 0, "", TRACE_LEFT_EMPTY},
    {IS(8), 4096, "", TRACE_LEFT_UNKNOWN},
    {IS(16) | IS(1), 4096, "W", PLAYED},
    {IS(16) | IS(0), 4096, "W", PLAYED},
    {IS(17) | IS(1), 4096, "T", PLAYED},
    {IS(17), 0, "", TRACE_LEFT_EMPTY},
    {IS(18) | IS(1), 0, "", TRACE_LEFT_ZONES},
    {IS(19) | IS(0), 4096, "", TRACE_LEFT_ZONES},
    {IS(20) | IS(0), 4096, "", TRACE_LEFT_ZONES},
    {IS(21) | IS(1), 4096, "", TRACE_LEFT_ZONES},
    {IS(22) | IS(1), 4096, "T", PLAYED},
};

static void test_categories(void)
{
    for (size_t i = 0; i < 4 * G_N_ELEMENTS(with_categories); i++) {
        size_t k = i / 4;
        bool big = i & 1;
        bool second = i & 2;
        g_autoptr(GByteArray) a = g_byte_array_new();
        g_autofree char *want =
            g_strconcat("R", with_categories[k].played, "R", NULL);
        TraceOptions o = TRACE_OPTIONS_INIT;
        uint64_t left[TRACE_N_LEFT];
        g_autofree char *got = NULL;

        if (second) {
            blk2(a, big, 0, 4096, 7 | IS(0), 0);
            blk2(a, big, 0, with_categories[k].nbytes,
                 7 | with_categories[k].is, 5);
            blk2(a, big, 0, 4096, 7 | IS(0), 3);
        } else if (with_categories[k].is <= UINT32_MAX) {
            blk(a, big, 1, 0, 4096, 7 | 1 << 16, 0);
            blk(a, big, 1, 0, with_categories[k].nbytes,
                (uint32_t)(7 | with_categories[k].is), 5);
            blk(a, big, 1, 0, 4096, 7 | 1 << 16, 3);
        } else {
            continue;
        }
        g_test_message("%" G_GINT64_MODIFIER "x", with_categories[k].is);
        got = played(open_text((char *)a->data, a->len, o), left);
        g_assert_cmpstr(got, ==, want);
        check_left(left, with_categories[k].left, 1);
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

/* ---- other binaries ------------------------------------------------------ */

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
        {0, 0, 100, SSD_OP_READ, false, 0, 0},
        {0, 4096, 5000, SSD_OP_READ, false, 0, 0},
        {NS_PER_S, 0, 4096, SSD_OP_READ, false, 0, 0},
        {NS_PER_S, 4096, 300, SSD_OP_READ, false, 0, 0},
        {3 * NS_PER_S, 12288, 4097, SSD_OP_READ, false, 0, 0},
        {3 * NS_PER_S, 12288, 100, SSD_OP_READ, false, 0, 0},
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

    g_assert_cmpint(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8,
                                 Z_DEFAULT_STRATEGY),
                    ==, Z_OK);
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
                                            (const uint8_t *)text,
                                            strlen(text), out, &n, room),
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
    g_test_add_func("/formats/blktrace", test_blktrace);
    g_test_add_func("/formats/kinds", test_kinds);
    g_test_add_func("/formats/letters", test_letters);
    g_test_add_func("/formats/actions", test_actions);
    g_test_add_func("/formats/events", test_events);
    g_test_add_func("/formats/events-again", test_events_again);
    g_test_add_func("/formats/letters-in-columns", test_letters_in_columns);
    g_test_add_func("/formats/bpftrace", test_bpftrace);
    g_test_add_func("/formats/recordings", test_recordings);
    g_test_add_func("/formats/oracle", test_oracle);
    g_test_add_func("/formats/oracle-detect", test_oracle_detect);
    g_test_add_func("/formats/vscsi", test_vscsi);
    g_test_add_func("/formats/vscsi-damage", test_vscsi_damage);
    g_test_add_func("/formats/late-request", test_late_request);
    g_test_add_func("/formats/requeued", test_requeued);
    g_test_add_func("/formats/categories", test_categories);
    g_test_add_func("/formats/unused-options", test_unused_options);
    g_test_add_func("/formats/doubts", test_doubts);
    g_test_add_func("/formats/units", test_units);
    g_test_add_func("/formats/states", test_states);
    g_test_add_func("/formats/packed", test_packed);
    g_test_add_func("/formats/padded", test_padded);
    g_test_add_func("/formats/archives", test_archives);
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
