/* SPDX-License-Identifier: GPL-2.0-or-later */
/* formats-blk.c - requests of the block layer: blktrace, blkparse, ftrace. */
#include "simtime.h"
#include "trace-checks.h"

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

    blk(a, big, 1, 0, 5, 1 << 26, 5);            /* a note of a process */
    blk(a, big, 2, 16, 4096, 1 | 2 << 16, 0);    /* queued */
    blk(a, big, 7000, 16, 4096, 7 | 2 << 16, 3); /* issued */
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
        t = open_text((char *)a->data, a->len - 1,
                      ((TraceOptions)TRACE_OPTIONS_INIT));
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
    static const char text[] = "8,0 0 1 0.0 1 D D 16 + 8 [x]\n"
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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/formats/blktrace", test_blktrace);
    g_test_add_func("/formats/kinds", test_kinds);
    g_test_add_func("/formats/letters", test_letters);
    g_test_add_func("/formats/actions", test_actions);
    g_test_add_func("/formats/events", test_events);
    g_test_add_func("/formats/events-again", test_events_again);
    g_test_add_func("/formats/letters-in-columns", test_letters_in_columns);
    g_test_add_func("/formats/late-request", test_late_request);
    g_test_add_func("/formats/requeued", test_requeued);
    g_test_add_func("/formats/categories", test_categories);
    return g_test_run();
}
