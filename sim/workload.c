/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workload.c - parse fio's keywords, draw requests.
 *
 * One generator of random numbers per purpose, so that a change of the mix
 * leaves the addresses as they were.
 */
#include "workload.h"

#include <string.h>

#include "nearest.h"
#include "prng.h"
#include "simtime.h"
#include "spread.h"
#include "zone-writer.h"
#include "zoned.h"

#define MAX_SIZES 64

enum {
    DRAW_ADDRESS = 1,
    DRAW_DIRECTION,
    DRAW_SIZE,
    DRAW_ARRIVAL,
    DRAW_RANDOM,
    DRAW_READ_ADDRESS,
    N_DRAWS,
};

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

#define WORKLOAD_DESC(...) OPT_ROW(WorkloadConfig, __VA_ARGS__)

const OptDesc workload_options[] = {WORKLOAD_OPTIONS(WORKLOAD_DESC)};
const size_t workload_n_options = G_N_ELEMENTS(workload_options);

typedef struct SizeShare {
    uint64_t nbytes;
    uint32_t ppm_end; /* sum of the shares up to this one */
} SizeShare;

typedef struct SizeMix {
    SizeShare size[MAX_SIZES];
    unsigned n;
} SizeMix;

struct Workload {
    WorkloadConfig cfg;
    const RwKind *kind;
    uint32_t block_bytes;
    uint64_t offset; /* of the part that is touched, bytes */
    uint64_t size;   /* of it */
    SizeMix sizes[2]; /* of writes in [1] */
    uint64_t align;   /* of random addresses */
    Spread spread[2]; /* of writes in [1] */
    Arrivals arrivals;
    bool open_loop;
    uint64_t seed;
    ZoneWriter zones;

    Prng address;
    Prng direction;
    Prng which_size;
    Prng whether_random;
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

/*
 * fio's manual, "Parameter types", with kb_base=1024, its default: the prefixes
 * are the other way round than in SI and IEC 80000-13, so that 4k and 4kb are
 * 4096 and 4kib is 4000; in any case of letters.  fio reads 4ki as 4096, where
 * its manual says 4000: it is refused.  Times: bare numbers are seconds.
 */
static const struct FioUnit {
    const char *fio;
    const char *ours;
} fio_sizes[] = {
    {"", "B"},      {"b", "B"},     {"k", "KiB"},  {"kb", "KiB"},
    {"m", "MiB"},   {"mb", "MiB"},  {"g", "GiB"},  {"gb", "GiB"},
    {"t", "TiB"},   {"tb", "TiB"},  {"kib", "KB"}, {"mib", "MB"},
    {"gib", "GB"},  {"tib", "TB"},  {NULL, NULL},
}, fio_times[] = {
    {"", "s"},      {"sec", "s"},   {"m", "min"},  {"msec", "ms"},
    {"usec", "us"}, {NULL, NULL},
};

/* The value as options.h spells it, g_free(); NULL: a size that fio's manual does
 * not know, or a fraction of one. */
static char *translate(const OptDesc *d, const char *value)
{
    bool is_size = d->type == OPT_SIZE;
    const struct FioUnit *units = is_size                 ? fio_sizes
                                  : d->type == OPT_TIME ? fio_times
                                                        : NULL;
    int len = (int)strspn(value, is_size ? "0123456789" : "0123456789.");

    for (; units && len && units->fio; units++) {
        if (g_ascii_strcasecmp(value + len, units->fio) == 0) {
            return g_strdup_printf("%.*s%s", len, value, units->ours);
        }
    }
    return is_size ? NULL : g_strdup(value);
}

static bool bad_keyword(GError **error, const char *key, const char *value,
                        const char *allowed)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD, "%s=%s: %s", key, value,
                allowed);
    return false;
}

static bool set_keyword(WorkloadConfig *cfg, const OptDesc *d,
                        const char *value, GError **error)
{
    g_autofree char *house = NULL;

    if (d->type == OPT_SIZE) {
        return workload_size(d->key, value, d->min, d->max,
                             (void *)((char *)cfg + d->offset), error);
    }
    house = translate(d, value);
    return opt_set(cfg, d, house, error);
}

bool workload_bytes(const char *text, uint64_t *out)
{
    const OptDesc d = {.key = "", .type = OPT_SIZE, .max = UINT64_MAX};
    g_autofree char *house = translate(&d, text);

    return house && opt_set(out, &d, house, NULL);
}

/* Why is it no size? */
static char *no_size(const char *value)
{
    const char *unit = value + strspn(value, "0123456789");
    bool known = unit == value || !g_ascii_isalpha(*unit);

    for (const struct FioUnit *u = fio_sizes; u->fio && !known; u++) {
        known = g_ascii_strcasecmp(unit, u->fio) == 0;
    }
    return known ? g_strdup("as in 4k (4096) or 4kib (4000); units are k, m, "
                            "g, t")
                 : g_strdup_printf("as in 4k (4096) or 4kib (4000); units are "
                                   "k, m, g, t, not '%s'",
                                   unit);
}

bool workload_size(const char *key, const char *value, uint64_t least,
                   uint64_t most, uint64_t *out, GError **error)
{
    g_autofree char *why = NULL;
    g_autofree char *allowed = NULL;
    uint64_t bytes;

    if (!workload_bytes(value, &bytes)) {
        why = no_size(value);
    } else if (bytes < least || bytes > most) {
        why = g_strdup_printf("it is %s %" G_GUINT64_FORMAT,
                              bytes < least ? "below" : "above",
                              bytes < least ? least : most);
    } else {
        *out = bytes;
        return true;
    }
    allowed = g_strdup_printf("allowed %" G_GUINT64_FORMAT
                              "..%" G_GUINT64_FORMAT " bytes, %s",
                              least, most, why);
    return bad_keyword(error, key, value, allowed);
}

/* Bytes, or a percentage of the capacity rounded down to a block. */
static bool parse_extent(const char *key, const char *text, uint64_t capacity,
                         uint32_t block_bytes, uint64_t *out, GError **error)
{
    const OptDesc percent = {.key = key, .type = OPT_PPM, .max = 1000000};
    uint32_t ppm;

    if (g_str_has_suffix(text, "%")) {
        if (!opt_set(&ppm, &percent, text, error)) {
            return false;
        }
        *out = (uint64_t)((unsigned __int128)capacity * ppm / 1000000);
        *out -= *out % block_bytes;
        return true;
    }
    if (!workload_bytes(text, out)) {
        g_autofree char *why = no_size(text);
        g_autofree char *allowed =
            g_strdup_printf("allowed bytes, %s, or 0%%..100%%", why);

        return bad_keyword(error, key, text, allowed);
    }
    return true;
}

/* ---- sizes --------------------------------------------------------------- */

static bool add_size(Workload *w, SizeMix *mix, const char *part,
                     uint32_t *total, GError **error)
{
    g_auto(GStrv) f = g_strsplit(part, "/", 3);
    const OptDesc percent = {
        .key = "", .type = OPT_PPM, .min = 1, .max = 1000000};
    SizeShare *s = &mix->size[mix->n];
    uint32_t share;

    if (mix->n == MAX_SIZES) {
        return bad_keyword(error, "bssplit", w->cfg.bssplit,
                           "allowed up to 64 sizes");
    }
    if (g_strv_length(f) != 2 || !workload_bytes(f[0], &s->nbytes) ||
        s->nbytes == 0 || !opt_set(&share, &percent, f[1], NULL)) {
        return bad_keyword(error, "bssplit", w->cfg.bssplit,
                           "allowed size/percent:size/percent..., as in "
                           "4k/70:64k/30");
    }
    *total += share;
    s->ppm_end = *total;
    mix->n++;
    return true;
}

static bool parse_mix(Workload *w, SizeMix *mix, const char *text,
                      GError **error)
{
    g_auto(GStrv) parts = g_strsplit(text, ":", -1);
    uint32_t total = 0;

    for (char **p = parts; *p; p++) {
        if (!add_size(w, mix, *p, &total, error)) {
            return false;
        }
    }
    if (total != 1000000) {
        return bad_keyword(error, "bssplit", w->cfg.bssplit,
                           "the shares must add up to 100");
    }
    return true;
}

static bool parse_sizes(Workload *w, GError **error)
{
    g_auto(GStrv) kinds = NULL;

    if (!w->cfg.bssplit) {
        w->sizes[0] = (SizeMix){{{w->cfg.bs, 1000000}}, 1};
        w->sizes[1] = w->sizes[0];
        return true;
    }
    kinds = g_strsplit(w->cfg.bssplit, ",", 3);
    if (g_strv_length(kinds) > 2) {
        return bad_keyword(error, "bssplit", w->cfg.bssplit,
                           "allowed one comma: sizes of reads, of writes");
    }
    return parse_mix(w, &w->sizes[0], kinds[0] ? kinds[0] : "", error) &&
           parse_mix(w, &w->sizes[1], kinds[0] && kinds[1] ? kinds[1]
                     : kinds[0] ? kinds[0] : "", error);
}

static bool check_size(Workload *w, uint64_t nbytes, GError **error)
{
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
    return !allowed || bad_keyword(error, w->cfg.bssplit ? "bssplit" : "bs",
                                   text, allowed);
}

/* Every size is a multiple of a block and fits; random addresses are multiples
 * of the smallest, as fio's blockalign is. */
static bool check_sizes(Workload *w, GError **error)
{
    w->align = UINT64_MAX;
    for (unsigned k = 0; k < 2; k++) {
        for (unsigned i = 0; i < w->sizes[k].n; i++) {
            if (!check_size(w, w->sizes[k].size[i].nbytes, error)) {
                return false;
            }
            w->align = MIN(w->align, w->sizes[k].size[i].nbytes);
        }
    }
    return true;
}

/* ---- parsing ------------------------------------------------------------- */

/* The preset's keywords come first, wherever it is named. */
static const char *preset_keywords(const char *text)
{
    g_auto(GStrv) words = g_strsplit_set(text, " \t\n", -1);

    for (char **p = words; *p; p++) {
        for (unsigned i = 0; g_str_has_prefix(*p, "preset=") && preset_name(i);
             i++) {
            if (strcmp(*p + strlen("preset="), preset_name(i)) == 0) {
                return presets[i].keywords;
            }
        }
    }
    return "";
}

static bool no_keyword(const char *word, GError **error)
{
    Nearest near_one = nearest_to(word);
    g_autofree char *hint = NULL;

    for (size_t i = 0; i < workload_n_options; i++) {
        nearest_try(&near_one, workload_options[i].key);
    }
    hint = nearest_hint(&near_one, "");
    g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                "workload: unknown keyword \"%s\"%s (vssd-sim run --help lists "
                "them)",
                word, hint);
    return false;
}

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
            return no_keyword(*p, error);
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
        w->size = capacity - w->offset; /* as fio: the rest */
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

/* ---- the rest of the keywords -------------------------------------------- */

static bool parse_rate(Workload *w, GError **error)
{
    const WorkloadConfig *c = &w->cfg;
    uint64_t mean_ps = c->interval_ps;

    if (c->rate_iops && c->interval_ps) {
        return bad_keyword(error, "interval", "...",
                           "allowed only without rate_iops");
    }
    if (c->rate_iops) {
        mean_ps = NS_PER_S * PS_PER_NS / c->rate_iops;
    }
    if (c->rate_process == ARRIVALS_PARETO && c->rate_alpha <= 1) {
        return bad_keyword(error, "rate_alpha", "1", "allowed above 1");
    }
    w->open_loop = mean_ps > 0;
    arrivals_init(&w->arrivals, c->rate_process, MAX(mean_ps, 1), c->on_ps,
                  c->off_ps, c->rate_alpha, w->seed, DRAW_ARRIVAL);
    return true;
}

static bool parse_spread(Workload *w, GError **error)
{
    g_auto(GStrv) kinds = g_strsplit(w->cfg.distribution, ",", 3);
    const char *reads = kinds[0] ? kinds[0] : "";
    const char *allowed = spread_parse(&w->spread[0], reads);

    if (!allowed) {
        allowed = spread_parse(&w->spread[1],
                               kinds[0] && kinds[1] ? kinds[1] : reads);
    }
    if (!allowed && g_strv_length(kinds) > 2) {
        allowed = "allowed one comma: where reads go, where writes go";
    }
    return !allowed || bad_keyword(error, "random_distribution",
                                   w->cfg.distribution, allowed);
}

char *workload_text(const char *text, GError **error)
{
    g_autofree char *contents = NULL;
    g_auto(GStrv) lines = NULL;

    if (text[0] != '@') {
        return g_strdup(text);
    }
    if (!g_file_get_contents(text + 1, &contents, NULL, error)) {
        return NULL;
    }
    lines = g_strsplit(contents, "\n", -1);
    for (char **line = lines; *line; line++) {
        (*line)[strcspn(*line, "#")] = '\0';
    }
    return g_strjoinv(" ", lines);
}

char *workload_describe(const Workload *w)
{
    GString *s = g_string_new(NULL);

    for (size_t i = 0; i < workload_n_options; i++) {
        const OptDesc *d = &workload_options[i];
        g_autofree char *value = opt_get(&w->cfg, d);
        bool extent = strcmp(d->key, "size") == 0;

        if (extent || strcmp(d->key, "offset") == 0) {
            g_string_append_printf(s, "%s=%" G_GUINT64_FORMAT " ", d->key,
                                   extent ? w->size : w->offset);
        } else if (d->type == OPT_SIZE) {
            uint64_t nbytes = *(const uint64_t *)(const void *)
                ((const char *)&w->cfg + d->offset);

            g_string_append_printf(s, "%s=%" G_GUINT64_FORMAT " ", d->key,
                                   nbytes);
        } else if (strcmp(d->key, "seed") == 0) {
            g_string_append_printf(s, "seed=%" G_GUINT64_FORMAT " ", w->seed);
        } else if (strcmp(d->key, "preset") != 0 && value && *value) {
            g_string_append_printf(s, "%s=%s ", d->key, value);
        }
    }
    g_string_truncate(s, s->len - 1);
    return g_string_free(s, FALSE);
}

/* The generators of random numbers; `from` sets those of one run apart from
 * those of another. */
static void seed_draws(Workload *w, uint64_t from)
{
    /* Reads go elsewhere than writes of the same seed: else they would find the
     * units in the order in which they were written. */
    bool writes = w->kind->mixed || w->kind->op != SSD_OP_READ;

    prng_seed(&w->address, w->seed,
              from + (writes ? DRAW_ADDRESS : DRAW_READ_ADDRESS));
    prng_seed(&w->direction, w->seed, from + DRAW_DIRECTION);
    prng_seed(&w->which_size, w->seed, from + DRAW_SIZE);
    prng_seed(&w->whether_random, w->seed, from + DRAW_RANDOM);
    prng_seed(&w->arrivals.draw, w->seed, from + DRAW_ARRIVAL);
}

Workload *workload_new(const char *text, uint64_t capacity_bytes,
                       uint32_t block_bytes, uint64_t seed, GError **error)
{
    Workload *w = g_new0(Workload, 1);

    w->block_bytes = block_bytes;
    opt_set_defaults(&w->cfg, workload_options, workload_n_options);
    if (!parse_keywords(w, preset_keywords(text), error) ||
        !parse_keywords(w, text, error) || !parse_sizes(w, error) ||
        !parse_region(w, capacity_bytes, error) || !check_sizes(w, error)) {
        workload_free(w);
        return NULL;
    }
    w->kind = &rw_kinds[w->cfg.rw];
    w->seed = w->cfg.seed ? w->cfg.seed : seed;
    if (!parse_rate(w, error) || !parse_spread(w, error)) {
        workload_free(w);
        return NULL;
    }
    if (!w->cfg.number_ios && !w->cfg.io_size && !w->cfg.runtime_ps) {
        w->cfg.io_size = w->size;
    }
    seed_draws(w, 0);
    return w;
}

Workload *workload_before(const Workload *w, WorkloadBefore what)
{
    g_autofree char *text = workload_describe(w);
    Workload *before =
        workload_new(text, w->offset + w->size, w->block_bytes, w->seed, NULL);

    g_assert(before); /* the text is that of a workload */
    before->cfg.number_ios = before->cfg.io_size = before->cfg.runtime_ps = 0;
    seed_draws(before, (uint64_t)what * N_DRAWS);
    return before;
}

/* ---- zones --------------------------------------------------------------- */

static const char *zone_keyword(const WorkloadConfig *c)
{
    return c->zone_append       ? "zone_append"
           : c->finish_after    ? "finish_after"
           : c->open_zones != 1 ? "max_open_zones"
                                : NULL;
}

/* Each TRIM is that of a whole zone. */
static bool reset_zones(Workload *w, uint64_t zone_bytes, GError **error)
{
    uint64_t first = (w->offset + zone_bytes - 1) / zone_bytes;
    uint64_t end = (w->offset + w->size) / zone_bytes;

    if (end <= first) {
        return bad_keyword(error, "size", w->cfg.size, "holds no whole zone");
    }
    w->offset = first * zone_bytes;
    w->size = (end - first) * zone_bytes;
    w->align = zone_bytes;
    w->sizes[0] = (SizeMix){{{zone_bytes, 1000000}}, 1};
    return true;
}

bool workload_set_zones(Workload *w, uint64_t zone_bytes, GError **error)
{
    const WorkloadConfig *c = &w->cfg;
    const char *key = zone_keyword(c);
    bool writes = w->kind->mixed || w->kind->op == SSD_OP_WRITE;

    if (zone_bytes == 0) {
        return !key || bad_keyword(error, key, "...",
                                   "needs a drive with zones (docs/zones.md)");
    }
    if (w->kind->op == SSD_OP_TRIM) {
        return reset_zones(w, zone_bytes, error);
    }
    if (!writes) {
        return true;
    }
    if (c->bssplit || zone_bytes % c->bs) {
        return bad_keyword(error, c->bssplit ? "bssplit" : "bs",
                           c->bssplit ? c->bssplit : "...",
                           "writes to zones need one size, which divides that "
                           "of a zone");
    }
    return zone_writer_init(&w->zones, zone_bytes, w->offset, w->size,
                            c->open_zones, c->finish_after) ||
           bad_keyword(error, "size", c->size,
                       "holds fewer whole zones than max_open_zones");
}

/* The next write of the zones. */
static uint64_t zone_offset(Workload *w, uint64_t nbytes)
{
    ZoneWriter *z = &w->zones;
    uint32_t place = w->kind->random && !w->kind->mixed
                         ? (uint32_t)prng_below(&w->address, z->n_places)
                         : z->turn;

    z->turn = (place + 1) % z->n_places;
    return zone_writer_next(z, place, nbytes);
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
    return prng_below(&w->direction, 1000000) < w->cfg.rwmixread_ppm
               ? SSD_OP_READ
               : SSD_OP_WRITE;
}

static uint64_t draw_size(Workload *w, SsdOp op)
{
    const SizeMix *mix = &w->sizes[op == SSD_OP_WRITE];
    uint64_t ppm;
    unsigned i = 0;

    if (mix->n == 1) {
        return mix->size[0].nbytes;
    }
    ppm = prng_below(&w->which_size, 1000000);
    while (ppm >= mix->size[i].ppm_end) {
        i++;
    }
    return mix->size[i].nbytes;
}

static bool draw_random(Workload *w)
{
    return w->kind->random &&
           (w->cfg.random_ppm == 1000000 ||
            prng_below(&w->whether_random, 1000000) < w->cfg.random_ppm);
}

static uint64_t draw_offset(Workload *w, SsdOp op, uint64_t nbytes)
{
    Spread *spread = &w->spread[op == SSD_OP_WRITE];
    uint64_t at = w->next_offset;

    if (draw_random(w)) {
        uint64_t last = w->size / w->align - 1;

        /* The same choice of places for every size, so that the hot area does
         * not depend on it; the largest sizes move down from the end. */
        at = spread->kind == SPREAD_UNIFORM
                 ? prng_below(&w->address, (w->size - nbytes) / w->align + 1)
                 : spread_draw(spread, &w->address, last + 1);
        at = MIN(at * w->align, (w->size - nbytes) / w->align * w->align);
    }
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

static uint64_t arrival_ns(Workload *w)
{
    return w->open_loop ? arrivals_next_ns(&w->arrivals) : 0;
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
        *req = (Request){.op = SSD_OP_FLUSH, .at_ns = arrival_ns(w)};
        return REQUEST_OK;
    }
    if (c->io_size && w->bytes_done >= c->io_size) {
        return REQUEST_END;
    }
    *req = (Request){.at_ns = arrival_ns(w)};
    if (zone_writer_finish(&w->zones, &req->offset)) {
        req->op = SSD_OP_FLUSH;
        req->act = ZONE_FINISH;
        w->n_done++;
        return REQUEST_OK;
    }
    req->op = draw_op(w);
    req->nbytes = draw_size(w, req->op);
    if (req->op == SSD_OP_WRITE && w->zones.zone_bytes) {
        req->act = c->zone_append ? ZONE_APPEND : ZONE_PLAIN;
        req->offset = zone_offset(w, req->nbytes);
    } else {
        req->offset = w->offset + draw_offset(w, req->op, req->nbytes);
    }
    w->n_done++;
    w->bytes_done += req->nbytes;
    w->writes_since_flush += req->op == SSD_OP_WRITE;
    return REQUEST_OK;
}

uint64_t workload_span(const Workload *w)
{
    return w->size;
}

bool workload_writes(const Workload *w)
{
    return w->kind->mixed ? w->cfg.rwmixread_ppm < 1000000
                          : w->kind->op == SSD_OP_WRITE;
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
        .iodepth = w->open_loop ? 0 : w->cfg.iodepth,
        .runtime_ns = w->cfg.runtime_ps / PS_PER_NS,
    };
}
