/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz-trace.c - trace files of anybody's.
 *
 * The first byte chooses the format (0: by the content), the second the
 * options; the rest is the file.  Every request is read, and a trace of the
 * project's own is also played exactly, on a small drive, and converted.  The
 * checks are that the process survives, that sanitizers are content, that an
 * error is told when something ended early, and that requests are within the
 * limits of trace.h and request.h.
 */
#include "fuzz.h"

#include <string.h>

#include "convert.h"
#include "replay.h"
#include "ssd-report.h"
#include "ssd-setup.h"
#include "trace.h"


#define MAX_REQUESTS 20000
#define SKIP_BAD 1
#define DEVICE_0 2
#define FASTER 4

/* The drive of the recordings in the corpus (vssd-sim run --profile tiny). */
static const char drive[] =
    "nand.channels=2;nand.dies=1;nand.blocks=40;nand.pages=16;"
    "nand.page_size=16KiB;ftl.op_percent=100%;buffer.size=256KiB;streams.max=2";

static const TraceFormat *format_of(uint8_t number)
{
    unsigned n = 0;

    while (trace_formats[n]) {
        n++;
    }
    number %= n + 1;
    return number ? trace_formats[number - 1] : NULL;
}

static void read_requests(Trace *t)
{
    RequestSource s = trace_source(t);
    g_autoptr(GError) error = NULL;
    uint64_t last_ns = 0;
    RequestNext r = REQUEST_OK;
    Request req;

    for (int i = 0; i < MAX_REQUESTS; i++) {
        r = s.next(s.opaque, &req, &error);
        if (r != REQUEST_OK) {
            break;
        }
        g_assert_cmpuint(req.at_ns, >=, last_ns);
        g_assert_cmpuint(req.offset, <=, 1ULL << 62);
        g_assert_cmpuint(req.nbytes, <=, UINT32_MAX);
        g_assert_true(req.nbytes > 0 || req.op == SSD_OP_FLUSH);
        g_assert_cmpuint(req.space, <, TRACE_MAX_DEVICES);
        last_ns = req.at_ns;
    }
    g_assert_true((r == REQUEST_ERROR) == (error != NULL));
}

static void as_trace(const uint8_t *data, size_t size, const TraceFormat *f,
                     unsigned flags)
{
    TraceOptions o = TRACE_OPTIONS_INIT;
    g_autoptr(GError) error = NULL;
    Trace *t;

    o.format = f;
    o.skip_bad = flags & SKIP_BAD;
    o.device = flags & DEVICE_0 ? "0" : NULL;
    o.scale_ppm = flags & FASTER ? 1 : 1000000;
    t = trace_from_memory(data, size, &o, &error);
    g_assert_true((t == NULL) == (error != NULL));
    if (t) {
        read_requests(t);
        trace_close(t);
    }
}

static Ssd *make_drive(uint32_t block_bytes)
{
    SsdConfig *cfg = ssd_config_new();
    GError *error = NULL;
    Ssd *ssd;

    ssd_config_set(cfg, drive, &error);
    g_assert_no_error(error);
    ssd_config_set_block_bytes(cfg, block_bytes, &error);
    g_assert_no_error(error);
    ssd = ssd_create(cfg, &replay_host, NULL, &error);
    g_assert_no_error(error);
    ssd_config_free(cfg);
    return ssd;
}

static void check(Recorded *r)
{
    Ssd *ssd = make_drive(recorded_state(r)->block_bytes);
    g_autofree PlayerResult *result = g_new0(PlayerResult, 1);
    PlayerConfig cfg = {0};
    g_autoptr(GError) error = NULL;
    g_autoptr(GError) broken = NULL;
    bool same = replay_check(r, ssd, &cfg, result, &error);

    g_assert_true(same == (error == NULL));
    if (ssd_powered(ssd)) {
        ssd_check(ssd, &broken);
    }
    g_assert_no_error(broken);
    ssd_destroy(ssd);
}

static void write_as(Recorded *r, ConvertFormat format)
{
    FILE *out = fopen("/dev/null", "w");
    g_autoptr(GError) error = NULL;
    uint64_t n_left_out;
    bool ok;

    g_assert_nonnull(out);
    ok = convert(r, format, out, &n_left_out, &error);
    g_assert_true(ok == (error == NULL));
    fclose(out);
}

static void as_recorded(const uint8_t *data, size_t size)
{
    for (int what = -1; what < CONVERT_N_FORMATS; what++) {
        g_autoptr(GError) error = NULL;
        Recorded *r = recorded_from_memory(data, size, &error);

        g_assert_true((r == NULL) == (error != NULL));
        if (!r) {
            return;
        }
        if (what < 0) {
            check(r);
        } else {
            write_as(r, what);
        }
        recorded_close(r);
    }
}

/* The corpus has files of all formats by hand. */
const char *fuzz_unreached(void)
{
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= 2) {
        as_trace(data + 2, size - 2, format_of(data[0]), data[1]);
        if (recorded_detect((const char *)data + 2, size - 2)) {
            as_recorded(data + 2, size - 2);
        }
    }
    return 0;
}
