/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-binary.c - the binary form of requests (binary.h): read and written.
 */
#include <errno.h>
#include <string.h>

#include "binary.h"
#include "signature.h"

typedef struct BinaryState {
    bool headed; /* the header has been read */
    bool ended;  /* the last record has been read */
    uint64_t n;  /* requests so far */
    uint64_t sum;
    uint32_t n_devices;
    uint64_t device[BINARY_MAX_DEVICES];
} BinaryState;

static const SsdOp op_of[] = {
    [BINARY_READ] = SSD_OP_READ,
    [BINARY_WRITE] = SSD_OP_WRITE,
    [BINARY_TRIM] = SSD_OP_TRIM,
    [BINARY_FLUSH] = SSD_OP_FLUSH,
};

/* The same both ways. */
static void swap_record(BinaryRecord *r)
{
    r->at_ns = GUINT64_FROM_LE(r->at_ns);
    r->offset = GUINT64_FROM_LE(r->offset);
    r->nbytes = GUINT32_FROM_LE(r->nbytes);
    r->kind = GUINT16_FROM_LE(r->kind);
    r->stream = GUINT16_FROM_LE(r->stream);
}

static void make_header(uint8_t h[BINARY_HEADER_BYTES])
{
    memset(h, 0, BINARY_HEADER_BYTES);
    memcpy(h, BINARY_SIGNATURE, strlen(BINARY_SIGNATURE));
    h[strlen(BINARY_SIGNATURE)] = BINARY_RECORD_BYTES;
}

/* ---- reading ------------------------------------------------------------- */

static InputRead read_header(BinaryState *s, Input *in, const char **reason,
                             GError **error)
{
    uint8_t h[BINARY_HEADER_BYTES];
    uint8_t known[BINARY_HEADER_BYTES];
    InputRead r = input_bytes(in, h, sizeof(h), error);

    s->headed = true;
    s->sum = BINARY_SUM_FIRST;
    if (r == INPUT_BAD) {
        *reason = "the file ends within its header";
        return r;
    }
    make_header(known);
    if (r == INPUT_OK && memcmp(h, known, sizeof(h)) != 0) {
        *reason = signature_is_early(h) ? SIGNATURE_EARLY
                                        : "not a binary trace of version 1";
        return INPUT_BAD;
    }
    return r;
}

/* NULL, or why the last record is wrong. */
static const char *last_record(BinaryState *s, const BinaryRecord *r, Input *in,
                               InputRead *result, GError **error)
{
    uint8_t more;

    s->ended = true;
    *result = INPUT_BAD;
    if (r->at_ns != s->n || r->offset != s->sum || r->nbytes || r->stream ||
        r->kind != BINARY_END) {
        return "the records are not those that were written: damaged";
    }
    *result = input_bytes(in, &more, 1, error);
    return *result == INPUT_OK ? "bytes behind the last record" : NULL;
}

/* NULL, trace_skip, or the fault. */
static const char *take_record(BinaryState *s, const BinaryRecord *r,
                               TraceRecord *out)
{
    unsigned kind = r->kind & BINARY_KIND_MASK;
    uint32_t device = r->kind >> BINARY_DEVICE_SHIFT;

    if (G_UNLIKELY(kind == BINARY_DEVICE)) {
        if (device != s->n_devices) {
            return "a device out of order";
        }
        s->device[s->n_devices++] = r->offset;
        return trace_skip;
    }
    if (device >= s->n_devices || kind > BINARY_FLUSH) {
        return "a record of no known kind or device";
    }
    s->n++;
    out->at_ns = r->at_ns;
    out->offset = r->offset;
    out->nbytes = r->nbytes;
    out->op = op_of[kind];
    out->fua = r->kind & BINARY_FUA;
    out->device = s->device[device];
    out->stream = r->stream;
    return NULL;
}

static InputRead binary_read(void *opaque, Input *in, TraceRecord *out,
                             const char **reason, GError **error)
{
    BinaryState *s = opaque;
    BinaryRecord r;
    InputRead got = INPUT_OK;

    if (G_UNLIKELY(!s->headed)) {
        got = read_header(s, in, reason, error);
        if (got != INPUT_OK) {
            return got;
        }
    }
    if (s->ended) {
        return INPUT_END;
    }
    got = input_bytes(in, &r, sizeof(r), error);
    if (G_UNLIKELY(got != INPUT_OK)) {
        if (got != INPUT_ERROR) {
            s->ended = true;
            *reason = "the file ends before its last record";
            got = INPUT_BAD;
        }
        return got;
    }
    swap_record(&r);
    if (G_UNLIKELY((r.kind & BINARY_KIND_MASK) == BINARY_END)) {
        *reason = last_record(s, &r, in, &got, error);
        return *reason ? INPUT_BAD : got;
    }
    s->sum = binary_sum(s->sum, &r);
    *reason = take_record(s, &r, out);
    return INPUT_OK;
}

static bool binary_detect(const char *head, size_t n)
{
    return n >= 8 && signature_is(head, BINARY_SIGNATURE);
}

const TraceFormat trace_binary = {
    .name = "binary",
    .help = "requests in binary, written by vssd-sim convert --to binary",
    .state_bytes = sizeof(BinaryState),
    .read = binary_read,
    .detect = binary_detect,
    .units = {1, 1, 1},
};

/* ---- writing ------------------------------------------------------------- */

typedef struct Writer {
    FILE *out;
    uint64_t sum;
    uint64_t n;
    uint32_t n_devices;
    uint32_t n_held;
    BinaryRecord held[1024]; /* not yet written */
} Writer;

static void put_held(Writer *w)
{
    fwrite(w->held, sizeof(*w->held), w->n_held, w->out);
    w->n_held = 0;
}

static void put(Writer *w, BinaryRecord r)
{
    w->sum = binary_sum(w->sum, &r);
    swap_record(&r);
    w->held[w->n_held++] = r;
    if (w->n_held == G_N_ELEMENTS(w->held)) {
        put_held(w);
    }
}

static void put_request(Writer *w, const BinaryDevices *devices,
                        const Request *req)
{
    uint32_t space = devices ? req->space : 0;
    static const uint8_t kind_of[SSD_N_OPS] = {
        [SSD_OP_READ] = BINARY_READ,
        [SSD_OP_WRITE] = BINARY_WRITE,
        [SSD_OP_TRIM] = BINARY_TRIM,
        [SSD_OP_FLUSH] = BINARY_FLUSH,
    };

    while (w->n_devices <= space) {
        uint32_t i = w->n_devices++;

        put(w, (BinaryRecord){
                   .offset = devices ? devices->number(devices->opaque, i) : 0,
                   .kind = (uint16_t)(BINARY_DEVICE | i << BINARY_DEVICE_SHIFT),
               });
    }
    put(w,
        (BinaryRecord){
            .at_ns = req->at_ns,
            .offset = req->offset,
            .nbytes = (uint32_t)req->nbytes,
            .kind = (uint16_t)(kind_of[req->op] | (req->fua ? BINARY_FUA : 0) |
                               space << BINARY_DEVICE_SHIFT),
            .stream = req->stream,
        });
    w->n++;
}

static void put_end(Writer *w)
{
    put(w, (BinaryRecord){.at_ns = w->n, .offset = w->sum, .kind = BINARY_END});
    put_held(w);
}

static bool device_fits(const Request *req, GError **error)
{
    if (req->space >= BINARY_MAX_DEVICES) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                    "a binary trace has at most %d devices, and this one has "
                    "more",
                    BINARY_MAX_DEVICES);
        return false;
    }
    return true;
}

bool binary_write(const RequestSource *from, const BinaryDevices *devices,
                  FILE *out, GError **error)
{
    g_autofree Writer *w = g_new0(Writer, 1);
    uint8_t header[BINARY_HEADER_BYTES];
    RequestNext next;
    Request req;

    w->out = out;
    w->sum = BINARY_SUM_FIRST;
    make_header(header);
    fwrite(header, sizeof(header), 1, out);
    while ((next = from->next(from->opaque, &req, error)) == REQUEST_OK &&
           !(from->runtime_ns && req.at_ns >= from->runtime_ns)) {
        if (devices && !device_fits(&req, error)) {
            return false;
        }
        put_request(w, devices, &req);
    }
    if (next == REQUEST_ERROR) {
        return false;
    }
    put_end(w);
    if (fflush(out) != 0 || ferror(out)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                    "the binary trace cannot be written: %s",
                    g_strerror(errno));
        return false;
    }
    return true;
}
