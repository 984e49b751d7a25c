/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workload.c - parse fio's keywords, draw requests.
 *
 * One generator of random numbers per purpose, so that a change of the mix
 * leaves the addresses as they were.
 */
#include "workload.h"

#include <string.h>

#include "prng.h"
#include "simtime.h"

#define MAX_SIZES 64

enum { DRAW_ADDRESS = 1, DRAW_DIRECTION, DRAW_SIZE };

typedef struct RwKind {
    const char *name;
    bool random;
    bool mixed; /* reads and writes, by rwmixread; else op */
    SsdOp op;
} RwKind;

static const RwKind rw_kinds[] = {
    {"read", false, false, SSD_OP_READ},
    {"write", false, false, SSD_OP_WRITE},
    {"randread", true, false, SSD_OP_READ},
    {"randwrite", true, false, SSD_OP_WRITE},
    {"rw", false, true, SSD_OP_READ},
    {"readwrite", false, true, SSD_OP_READ},
    {"randrw", true, true, SSD_OP_READ},
    {"trim", false, false, SSD_OP_TRIM},
    {"randtrim", true, false, SSD_OP_TRIM},
};

static const char *workload_rw_name(unsigned i)
{
    return i < G_N_ELEMENTS(rw_kinds) ? rw_kinds[i].name : NULL;
}

#define WORKLOAD_DESC(type, ctype, field, key, min, max, def, names, help)     \
    {key,   OPT_##type, offsetof(WorkloadConfig, field), min, max, def,        \
     names, help},

const OptDesc workload_options[] = {WORKLOAD_OPTIONS(WORKLOAD_DESC)};
const size_t workload_n_options = G_N_ELEMENTS(workload_options);

typedef struct SizeShare {
    uint64_t nbytes;
    uint32_t percent_end; /* sum of the shares up to this one */
} SizeShare;

struct Workload {
    WorkloadConfig cfg;
    const RwKind *kind;
    uint32_t block_bytes;
    uint64_t offset; /* of the part that is touched, bytes */
    uint64_t size;   /* of it */
    SizeShare sizes[MAX_SIZES];
    unsigned n_sizes;
    uint64_t align; /* of random addresses */

    Prng address;
    Prng direction;
    Prng which_size;
    uint64_t next_offset; /* sequential, relative to offset */
    uint64_t n_done;
    uint64_t bytes_done;
    uint64_t writes_since_flush;
};

GQuark sim_error_quark(void)
{
    return g_quark_from_static_string("vssd-sim");
}

/* ---- fio's spelling of numbers ------------------------------------------ */

/* fio counts k, m, g, t as powers of 1024: "4k" is what options.h calls 4KiB.
 * Bare numbers of runtime are seconds and "m" is minutes. */
static char *translate(const OptDesc *d, const char *value)
{
    size_t len = strlen(value);
    char last = len > 1 ? g_ascii_tolower(value[len - 1]) : 0;
    bool digit_before = len > 1 && g_ascii_isdigit(value[len - 2]);

    if (d->type == OPT_SIZE && digit_before && strchr("kmgt", last) && last) {
        return g_strdup_printf("%.*s%ciB", (int)len - 1, value,
                               g_ascii_toupper(last));
    }
    if (d->type == OPT_TIME && strspn(value, "0123456789.") == len) {
        return g_strconcat(value, "s", NULL);
    }
    if (d->type == OPT_TIME && digit_before && last == 'm') {
        return g_strconcat(value, "in", NULL);
    }
    return g_strdup(value);
}

static bool set_keyword(WorkloadConfig *cfg, const OptDesc *d,
                        const char *value, GError **error)
{
    g_autofree char *house = translate(d, value);

    return opt_set(cfg, d, house, error);
}

static bool bad_keyword(GError **error, const char *key, const char *value,
                        const char *allowed)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD, "%s=%s: %s", key, value,
                allowed);
    return false;
}

static bool parse_bytes(const char *text, uint64_t *out)
{
    const OptDesc d = {.key = "", .type = OPT_SIZE, .max = UINT64_MAX};
    g_autofree char *house = translate(&d, text);

    return opt_set(out, &d, house, NULL);
}

/* Bytes, or a percentage of the capacity rounded down to a block. */
static bool parse_extent(const char *key, const char *text, uint64_t capacity,
                         uint32_t block_bytes, uint64_t *out, GError **error)
{
    const OptDesc percent = {.key = "", .type = OPT_PPM, .max = 1000000};
    uint32_t ppm;

    if (g_str_has_suffix(text, "%")) {
        if (!opt_set(&ppm, &percent, text, NULL)) {
            return bad_keyword(error, key, text, "allowed 0%..100%");
        }
        *out = (uint64_t)((unsigned __int128)capacity * ppm / 1000000);
        *out -= *out % block_bytes;
        return true;
    }
    if (!parse_bytes(text, out)) {
        return bad_keyword(error, key, text,
                           "allowed bytes, as in 64m, or 0%..100%");
    }
    return true;
}

/* ---- sizes --------------------------------------------------------------- */

static bool add_size(Workload *w, const char *part, uint32_t *total,
                     GError **error)
{
    g_auto(GStrv) f = g_strsplit(part, "/", 3);
    const OptDesc percent = {.key = "", .type = OPT_U32, .min = 1, .max = 100};
    SizeShare *s = &w->sizes[w->n_sizes];
    uint32_t share;

    if (w->n_sizes == MAX_SIZES) {
        return bad_keyword(error, "bssplit", w->cfg.bssplit,
                           "allowed up to 64 sizes");
    }
    if (g_strv_length(f) != 2 || !parse_bytes(f[0], &s->nbytes) ||
        s->nbytes == 0 || !opt_set(&share, &percent, f[1], NULL)) {
        return bad_keyword(error, "bssplit", w->cfg.bssplit,
                           "allowed size/percent:size/percent..., as in "
                           "4k/70:64k/30");
    }
    *total += share;
    s->percent_end = *total;
    w->n_sizes++;
    return true;
}

static bool parse_sizes(Workload *w, GError **error)
{
    g_auto(GStrv) parts = NULL;
    uint32_t total = 0;

    if (!w->cfg.bssplit) {
        w->sizes[0] = (SizeShare){w->cfg.bs, 100};
        w->n_sizes = 1;
        return true;
    }
    parts = g_strsplit(w->cfg.bssplit, ":", -1);
    for (char **p = parts; *p; p++) {
        if (!add_size(w, *p, &total, error)) {
            return false;
        }
    }
    if (total != 100) {
        return bad_keyword(error, "bssplit", w->cfg.bssplit,
                           "the shares must add up to 100");
    }
    return true;
}

/* Every size is a multiple of a block and fits; random addresses are multiples
 * of the smallest, as fio's blockalign is. */
static bool check_sizes(Workload *w, GError **error)
{
    w->align = UINT64_MAX;
    for (unsigned i = 0; i < w->n_sizes; i++) {
        uint64_t nbytes = w->sizes[i].nbytes;
        g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, nbytes);
        g_autofree char *allowed = NULL;

        if (nbytes % w->block_bytes) {
            allowed = g_strdup_printf("must be a multiple of the drive's block "
                                      "of %u bytes",
                                      w->block_bytes);
        } else if (nbytes > w->size) {
            allowed = g_strdup_printf("is more than size=%" G_GUINT64_FORMAT,
                                      w->size);
        }
        if (allowed) {
            return bad_keyword(error, w->cfg.bssplit ? "bssplit" : "bs", text,
                               allowed);
        }
        w->align = MIN(w->align, nbytes);
    }
    return true;
}

/* ---- parsing ------------------------------------------------------------- */

static bool parse_keywords(Workload *w, const char *text, GError **error)
{
    g_auto(GStrv) words = g_strsplit_set(text, " \t\n", -1);

    for (char **p = words; *p; p++) {
        char *value = strchr(*p, '=');
        const OptDesc *d;

        if (**p == '\0') {
            continue;
        }
        if (!value) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                        "workload: \"%s\" is not keyword=value", *p);
            return false;
        }
        *value++ = '\0';
        d = opt_find(workload_options, workload_n_options, *p);
        if (!d) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                        "workload: unknown keyword \"%s\" (vssd-sim --help "
                        "lists them)",
                        *p);
            return false;
        }
        if (!set_keyword(&w->cfg, d, value, error)) {
            return false;
        }
    }
    return true;
}

static bool parse_region(Workload *w, uint64_t capacity, GError **error)
{
    const WorkloadConfig *c = &w->cfg;

    if (!parse_extent("offset", c->offset, capacity, w->block_bytes, &w->offset,
                      error) ||
        !parse_extent("size", c->size, capacity, w->block_bytes, &w->size,
                      error)) {
        return false;
    }
    if (w->offset % w->block_bytes || w->offset >= capacity) {
        return bad_keyword(error, "offset", c->offset,
                           "must be a whole block below the drive's capacity");
    }
    if (strcmp(c->size, "100%") == 0) {
        w->size = capacity - w->offset; /* as fio: what is left */
    }
    if (w->size % w->block_bytes || w->size == 0 ||
        w->size > capacity - w->offset) {
        g_autofree char *allowed = g_strdup_printf(
            "allowed multiples of %u bytes up to %" G_GUINT64_FORMAT,
            w->block_bytes, capacity - w->offset);

        return bad_keyword(error, "size", c->size, allowed);
    }
    return true;
}

Workload *workload_new(const char *text, uint64_t capacity_bytes,
                       uint32_t block_bytes, uint64_t seed, GError **error)
{
    Workload *w = g_new0(Workload, 1);

    w->block_bytes = block_bytes;
    opt_set_defaults(&w->cfg, workload_options, workload_n_options);
    if (!parse_keywords(w, text, error) || !parse_sizes(w, error) ||
        !parse_region(w, capacity_bytes, error) || !check_sizes(w, error)) {
        workload_free(w);
        return NULL;
    }
    w->kind = &rw_kinds[w->cfg.rw];
    if (!w->cfg.number_ios && !w->cfg.io_size && !w->cfg.runtime_ps) {
        w->cfg.io_size = w->size;
    }
    prng_seed(&w->address, seed, DRAW_ADDRESS);
    prng_seed(&w->direction, seed, DRAW_DIRECTION);
    prng_seed(&w->which_size, seed, DRAW_SIZE);
    return w;
}

void workload_free(Workload *w)
{
    if (w) {
        opt_clear(&w->cfg, workload_options, workload_n_options);
        g_free(w);
    }
}

/* ---- requests ------------------------------------------------------------ */

static SsdOp draw_op(Workload *w)
{
    if (!w->kind->mixed) {
        return w->kind->op;
    }
    return prng_below(&w->direction, 100) < w->cfg.rwmixread ? SSD_OP_READ
                                                             : SSD_OP_WRITE;
}

static uint64_t draw_size(Workload *w)
{
    uint64_t percent;
    unsigned i = 0;

    if (w->n_sizes == 1) {
        return w->sizes[0].nbytes;
    }
    percent = prng_below(&w->which_size, 100);
    while (percent >= w->sizes[i].percent_end) {
        i++;
    }
    return w->sizes[i].nbytes;
}

static uint64_t draw_offset(Workload *w, uint64_t nbytes)
{
    uint64_t at;

    if (w->kind->random) {
        at = prng_below(&w->address, (w->size - nbytes) / w->align + 1);
        return at * w->align;
    }
    at = w->next_offset;
    if (at + nbytes > w->size) {
        at = 0;
    }
    w->next_offset = at + nbytes;
    return at;
}

static bool flush_due(Workload *w)
{
    return w->cfg.fsync && w->writes_since_flush >= w->cfg.fsync;
}

static RequestNext workload_next(void *opaque, Request *req, GError **error)
{
    Workload *w = opaque;
    const WorkloadConfig *c = &w->cfg;

    if (c->number_ios && w->n_done >= c->number_ios) {
        return REQUEST_END;
    }
    if (flush_due(w)) {
        w->writes_since_flush = 0;
        w->n_done++;
        *req = (Request){.op = SSD_OP_FLUSH};
        return REQUEST_OK;
    }
    if (c->io_size && w->bytes_done >= c->io_size) {
        return REQUEST_END;
    }
    req->at_ns = 0;
    req->op = draw_op(w);
    req->nbytes = draw_size(w);
    req->offset = w->offset + draw_offset(w, req->nbytes);
    w->n_done++;
    w->bytes_done += req->nbytes;
    w->writes_since_flush += req->op == SSD_OP_WRITE;
    return REQUEST_OK;
}

static char *workload_where(void *opaque)
{
    Workload *w = opaque;

    return g_strdup_printf("workload: request %" G_GUINT64_FORMAT, w->n_done);
}

RequestSource workload_source(Workload *w)
{
    return (RequestSource){
        .next = workload_next,
        .where = workload_where,
        .opaque = w,
        .iodepth = w->cfg.iodepth,
        .runtime_ns = w->cfg.runtime_ps / PS_PER_NS,
    };
}
