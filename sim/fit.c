/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fit.c - choose keywords, measure their requests, correct.
 *
 * Sizes: two of them, mixed so that the mean is right.  Addresses: 4 KiB pages,
 * one hot zone of 1 %, or the zones that are given.  How much is touched
 * follows from the length of the run in no simple way, so the area is searched
 * for.
 */
#include "fit.h"

#include <math.h>
#include <string.h>

#include "workload.h"

#define SECTOR_BYTES 512
#define PAGE_BYTES   4096
#define ROUNDS       12

/* Measured per round; the touched area is a property of the whole run, so a
 * shorter look would not do. */
#define MAX_REQUESTS 30000000

#define FIT_DESC(...) OPT_ROW(FitTarget, __VA_ARGS__)

const OptDesc fit_options[] = {FIT_OPTIONS(FIT_DESC)};
const size_t fit_n_options = G_N_ELEMENTS(fit_options);

typedef struct Fit {
    FitTarget target;
    uint64_t n_reads, n_writes;
    uint64_t area_bytes; /* in which requests begin */
    uint64_t capacity_bytes;
    uint32_t block_bytes;
    uint64_t seed;
    Description got;
} Fit;

static bool refuse(GError **error, const char *what)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD, "fit: %s", what);
    return false;
}

static bool parse(FitTarget *t, const char *text, GError **error)
{
    g_auto(GStrv) words = g_strsplit_set(text, " \t\n,", -1);

    opt_set_defaults(t, fit_options, fit_n_options);
    for (char **p = words; *p; p++) {
        char *value = strchr(*p, '=');
        const OptDesc *d;

        if (**p == '\0') {
            continue;
        }
        if (value) {
            *value++ = '\0';
        }
        d = value ? opt_find(fit_options, fit_n_options, *p) : NULL;
        if (!d) {
            g_autofree char *what = g_strdup_printf(
                "no such attribute \"%s\" (vssd-sim fit --help lists them)",
                *p);

            return refuse(error, what);
        }
        if (!opt_set(t, d, value, error)) {
            g_prefix_error(error, "fit: ");
            return false;
        }
    }
    return true;
}

static bool check(Fit *f, GError **error)
{
    const FitTarget *t = &f->target;
    double bytes;

    if (t->read_sectors < 1 || t->write_sectors < 1 || t->scale <= 0) {
        return refuse(error, "read_sectors and write_sectors: allowed 1..65536;"
                             " scale: above 0");
    }
    if (t->spread && t->top_ppm) {
        return refuse(error, "top and spread say the same: give one of them");
    }
    if (t->write_spread && !t->spread) {
        return refuse(error, "write_spread: allowed with spread");
    }
    f->n_reads = (uint64_t)llround(t->scale * t->read_gb * 1e9 /
                                   (t->read_sectors * SECTOR_BYTES));
    f->n_writes = (uint64_t)llround(t->scale * t->written_gb * 1e9 /
                                    (t->write_sectors * SECTOR_BYTES));
    bytes = (t->read_gb + t->written_gb) * t->scale;
    if (f->n_reads + f->n_writes == 0) {
        return refuse(error, "read_gb and written_gb: one must be above 0");
    }
    if (f->n_reads + f->n_writes > MAX_REQUESTS) {
        return refuse(error, "more than 30 million requests: give a smaller "
                             "scale");
    }
    if (t->accessed_gb * 1e9 < PAGE_BYTES || t->accessed_gb > bytes * 1.001) {
        return refuse(error, "accessed_gb: must be given, and not above the "
                             "sum of read_gb and written_gb");
    }
    if (t->accessed_gb * 1e9 > (double)f->capacity_bytes) {
        return refuse(error, "accessed_gb is more than the drive's capacity "
                             "(--set nand.blocks=... makes it larger)");
    }
    return true;
}

/* Two sizes whose mix has the mean: a block or a page, and about twice the
 * mean. */
static void add_mix(GString *s, const Fit *f, double mean_bytes)
{
    uint64_t low = mean_bytes < 2.0 * PAGE_BYTES ? f->block_bytes : PAGE_BYTES;
    uint64_t high = (uint64_t)ceil(2 * mean_bytes / PAGE_BYTES) * PAGE_BYTES;
    double share = (mean_bytes - (double)low) / (double)(high - low);
    uint32_t ppm = (uint32_t)llround(CLAMP(share, 0, 1) * 1e6);

    if (low < PAGE_BYTES && mean_bytes < low) {
        ppm = 0;
    }
    if (ppm == 0 || ppm == 1000000) {
        g_string_append_printf(s, "%" G_GUINT64_FORMAT "/100",
                               ppm ? high : low);
        return;
    }
    g_string_append_printf(s,
                           "%" G_GUINT64_FORMAT "/%u.%04u:%" G_GUINT64_FORMAT
                           "/%u.%04u",
                           low, (1000000 - ppm) / 10000,
                           (1000000 - ppm) % 10000, high, ppm / 10000,
                           ppm % 10000);
}

static char *keywords(const Fit *f)
{
    const FitTarget *t = &f->target;
    GString *s = g_string_new("rw=randrw ");
    uint64_t n = f->n_reads + f->n_writes;
    uint32_t reads = (uint32_t)llround((double)f->n_reads * 1e6 / (double)n);

    g_string_append_printf(s, "rwmixread=%u.%04u%% bssplit=", reads / 10000,
                           reads % 10000);
    add_mix(s, f, t->read_sectors * SECTOR_BYTES);
    g_string_append_c(s, ',');
    add_mix(s, f, t->write_sectors * SECTOR_BYTES);
    g_string_append_printf(s,
                           " size=%" G_GUINT64_FORMAT
                           " number_ios=%" G_GUINT64_FORMAT
                           " seed=%" G_GUINT64_FORMAT,
                           f->area_bytes, n, f->seed);
    if (t->interval_s > 0) {
        g_string_append_printf(s,
                               " interval=%" G_GUINT64_FORMAT
                               "ns rate_process=poisson",
                               (uint64_t)llround(t->interval_s * 1e9));
    }
    if (t->spread) {
        g_string_append_printf(s, " random_distribution=%s%s%s", t->spread,
                               t->write_spread ? "," : "",
                               t->write_spread ? t->write_spread : "");
    } else if (t->top_ppm) {
        g_string_append_printf(s,
                               " random_distribution=zoned:%u.%04u/1:"
                               "%u.%04u/99",
                               t->top_ppm / 10000, t->top_ppm % 10000,
                               (1000000 - t->top_ppm) / 10000,
                               (1000000 - t->top_ppm) % 10000);
    }
    return g_string_free(s, FALSE);
}

static bool measure(Fit *f, GError **error)
{
    g_autofree char *text = keywords(f);
    Workload *w = workload_new(text, f->capacity_bytes, f->block_bytes,
                               f->seed, error);
    RequestSource source;
    bool ok;

    if (!w) {
        g_prefix_error(error, "fit: ");
        return false;
    }
    source = workload_source(w);
    ok = describe(&source, MAX_REQUESTS, &f->got, error);
    workload_free(w);
    return ok;
}

static uint64_t round_area(const Fit *f, double bytes)
{
    uint64_t least = 256 * (uint64_t)PAGE_BYTES;
    uint64_t most = f->capacity_bytes / PAGE_BYTES * PAGE_BYTES;
    uint64_t n = (uint64_t)CLAMP(bytes, 0, (double)most);

    return CLAMP(n / PAGE_BYTES * PAGE_BYTES, MIN(least, most), most);
}

/* The touched pages grow with the area: halve the interval in which it is. */
static bool search(Fit *f, GError **error)
{
    double wanted = f->target.accessed_gb * 1e9;
    double low = wanted / 2;
    double high = (double)f->capacity_bytes;

    for (int i = 0; i < ROUNDS; i++) {
        /* The first guess: all of it is touched. */
        double area = i == 0 ? wanted : i == 1 ? MIN(2 * wanted, high)
                                               : (low + high) / 2;

        f->area_bytes = round_area(f, area);
        if (!measure(f, error)) {
            return false;
        }
        if (fabs((double)f->got.accessed_bytes / wanted - 1) < 0.005) {
            return true;
        }
        if ((double)f->got.accessed_bytes < wanted) {
            low = area;
        } else {
            high = area;
        }
    }
    return true;
}

static void row(GString *out, const char *what, double asked, double got)
{
    g_string_append_printf(out, "  %-24s %14.4f %14.4f", what, asked, got);
    if (asked > 0) {
        g_string_append_printf(out, " %+8.2f %%", 100 * (got / asked - 1));
    }
    g_string_append_c(out, '\n');
}

static void tell(const Fit *f, const char *text, GString *out)
{
    const FitTarget *t = &f->target;
    const Description *d = &f->got;

    g_string_append_printf(out, "fit (synthetic): %s\n  %-24s %14s %14s\n",
                           text, "", "asked", "made");
    row(out, "read_gb", t->read_gb * t->scale,
        (double)d->bytes[SSD_OP_READ] / 1e9);
    row(out, "written_gb", t->written_gb * t->scale,
        (double)d->bytes[SSD_OP_WRITE] / 1e9);
    row(out, "accessed_gb", t->accessed_gb, (double)d->accessed_bytes / 1e9);
    if (d->n[SSD_OP_READ]) {
        row(out, "read_sectors", t->read_sectors,
            describe_mean_bytes(d, SSD_OP_READ) / SECTOR_BYTES);
    }
    if (d->n[SSD_OP_WRITE]) {
        row(out, "write_sectors", t->write_sectors,
            describe_mean_bytes(d, SSD_OP_WRITE) / SECTOR_BYTES);
    }
    row(out, "interval_s", t->interval_s, describe_mean_interval_s(d));
    row(out, "top (%)", t->top_ppm / 1e4, 100 * d->top_1pct);
}

char *fit_workload(const char *text, uint64_t capacity_bytes,
                   uint32_t block_bytes, uint64_t seed, GString *report,
                   GError **error)
{
    Fit f = {
        .capacity_bytes = capacity_bytes,
        .block_bytes = block_bytes,
        .seed = seed,
    };
    char *result = NULL;

    if (parse(&f.target, text, error) && check(&f, error) &&
        search(&f, error)) {
        result = keywords(&f);
        tell(&f, result, report);
    }
    opt_clear(&f.target, fit_options, fit_n_options);
    return result;
}
