/* SPDX-License-Identifier: GPL-2.0-or-later */
/* describe.c - count the requests of a source. */
#include "describe.h"

#include "remap.h"
#include "simtime.h"

#define PAGE_BYTES 4096

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

double describe_mean_bytes(const Description *d, SsdOp op)
{
    return ratio((double)d->bytes[op], (double)d->n[op]);
}

double describe_mean_interval_s(const Description *d)
{
    return d->n_requests > 1
               ? (double)d->span_ns / NS_PER_S / (double)(d->n_requests - 1)
               : 0;
}

/* ---- reading ------------------------------------------------------------- */

typedef struct Counting {
    Remap *touched;
    GHashTable *starts; /* page -> number of requests */
    uint64_t next;      /* where the last request ended */
    uint32_t next_space;
    uint64_t n_sequential;
} Counting;

static gpointer start_key(const Request *r)
{
    uint64_t page = r->offset / PAGE_BYTES;

    return (gpointer)(uintptr_t)(page ^ (uint64_t)r->space << 44);
}

static void count_request(Counting *c, Description *d, const Request *r)
{
    gpointer key = start_key(r);
    uintptr_t n = (uintptr_t)g_hash_table_lookup(c->starts, key);

    d->n_requests++;
    d->n[r->op]++;
    d->bytes[r->op] += r->nbytes;
    d->span_ns = r->at_ns;
    if (r->op != SSD_OP_READ && r->op != SSD_OP_WRITE) {
        return;
    }
    d->highest = MAX(d->highest, r->offset + r->nbytes);
    remap_note(c->touched, r->space, r->offset, r->nbytes);
    g_hash_table_insert(c->starts, key, (gpointer)(n + 1));
    c->n_sequential += r->offset == c->next && r->space == c->next_space &&
                       d->n_requests > 1;
    c->next = r->offset + r->nbytes;
    c->next_space = r->space;
}

static int falling(const void *a, const void *b)
{
    uintptr_t x = *(const uintptr_t *)a;
    uintptr_t y = *(const uintptr_t *)b;

    return x > y ? -1 : x < y;
}

/* Share of the requests at the most used hundredth of the pages. */
static double top_share(GHashTable *starts, uint64_t n_requests)
{
    guint n = g_hash_table_size(starts);
    g_autofree uintptr_t *counts = g_new(uintptr_t, MAX(n, 1));
    GHashTableIter it;
    gpointer value;
    uint64_t top = 0;
    guint i = 0;

    g_hash_table_iter_init(&it, starts);
    while (g_hash_table_iter_next(&it, NULL, &value)) {
        counts[i++] = (uintptr_t)value;
    }
    qsort(counts, n, sizeof(*counts), falling);
    for (i = 0; i < MAX(n / 100, MIN(n, 1)); i++) {
        top += counts[i];
    }
    return ratio((double)top, (double)n_requests);
}

bool describe(const RequestSource *source, uint64_t max, Description *d,
              GError **error)
{
    Counting c = {
        .touched = remap_new(PAGE_BYTES),
        .starts = g_hash_table_new(g_direct_hash, g_direct_equal),
    };
    RequestNext r = REQUEST_END;
    uint64_t n_data;
    Request req;

    *d = (Description){0};
    while (d->n_requests < max &&
           (r = source->next(source->opaque, &req, error)) == REQUEST_OK) {
        count_request(&c, d, &req);
    }
    n_data = d->n[SSD_OP_READ] + d->n[SSD_OP_WRITE];
    remap_close(c.touched);
    d->accessed_bytes = remap_bytes(c.touched);
    d->n_starts = g_hash_table_size(c.starts);
    d->top_1pct = top_share(c.starts, n_data);
    d->sequential = ratio((double)c.n_sequential, (double)n_data);
    remap_free(c.touched);
    g_hash_table_destroy(c.starts);
    return r != REQUEST_ERROR;
}

/* ---- telling ------------------------------------------------------------- */

void describe_json(const Description *d, JsonWriter *w)
{
    json_u64(w, "requests", d->n_requests);
    json_u64(w, "reads", d->n[SSD_OP_READ]);
    json_u64(w, "writes", d->n[SSD_OP_WRITE]);
    json_u64(w, "trims", d->n[SSD_OP_TRIM]);
    json_u64(w, "flushes", d->n[SSD_OP_FLUSH]);
    json_u64(w, "read_bytes", d->bytes[SSD_OP_READ]);
    json_u64(w, "written_bytes", d->bytes[SSD_OP_WRITE]);
    json_double(w, "mean_read_bytes", describe_mean_bytes(d, SSD_OP_READ));
    json_double(w, "mean_write_bytes", describe_mean_bytes(d, SSD_OP_WRITE));
    json_u64(w, "accessed_bytes", d->accessed_bytes);
    json_u64(w, "highest_byte", d->highest);
    json_u64(w, "span_ns", d->span_ns);
    json_double(w, "mean_interval_s", describe_mean_interval_s(d));
    json_u64(w, "start_pages", d->n_starts);
    json_double(w, "top_1pct", d->top_1pct);
    json_double(w, "sequential", d->sequential);
}

void describe_text(const Description *d, GString *out)
{
    double read = (double)d->bytes[SSD_OP_READ];
    double written = (double)d->bytes[SSD_OP_WRITE];

    g_string_append_printf(
        out,
        "%" G_GUINT64_FORMAT " requests: %" G_GUINT64_FORMAT
        " reads, %" G_GUINT64_FORMAT " writes, %" G_GUINT64_FORMAT
        " trims, %" G_GUINT64_FORMAT " flushes, in %.3f s (mean interval %.6g "
        "s)\n",
        d->n_requests, d->n[SSD_OP_READ], d->n[SSD_OP_WRITE],
        d->n[SSD_OP_TRIM], d->n[SSD_OP_FLUSH], (double)d->span_ns / NS_PER_S,
        describe_mean_interval_s(d));
    g_string_append_printf(
        out,
        "%.3f GB read, %.3f GB written (%.1f %% reads by volume); mean read "
        "%.2f, mean write %.2f sectors\n",
        read / 1e9, written / 1e9, 100 * ratio(read, read + written),
        describe_mean_bytes(d, SSD_OP_READ) / 512,
        describe_mean_bytes(d, SSD_OP_WRITE) / 512);
    g_string_append_printf(
        out,
        "%.3f GB accessed; 1 %% of %" G_GUINT64_FORMAT
        " start pages takes %.1f %% of the requests; %.1f %% go on where the "
        "one before ended\n",
        (double)d->accessed_bytes / 1e9, d->n_starts, 100 * d->top_1pct,
        100 * d->sequential);
}
