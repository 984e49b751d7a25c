/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.c - parse and print option values by their table rows.
 *
 * Numbers are read as exact decimals (integer part and up to 18 fractional
 * digits), never through floating point, so "1.1us" is 1,100,000 ps exactly;
 * OPT_DOUBLE is for probabilities and exponents.
 */
#include "options.h"
#include "invariant.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct Suffix {
    const char *name;
    uint64_t scale;
} Suffix;

/* Largest first, so that printing finds the widest exact unit, or B. */
static const Suffix size_suffixes[] = {
    {"TiB", 1ULL << 40},
    {"GiB", 1ULL << 30},
    {"MiB", 1ULL << 20},
    {"KiB", 1ULL << 10},
    {"TB", 1000000000000},
    {"GB", 1000000000},
    {"MB", 1000000},
    {"KB", 1000},
    {"B", 1},
    {"", 1},
    {"T", 1ULL << 40},
    {"G", 1ULL << 30},
    {"M", 1ULL << 20},
    {"K", 1ULL << 10},
    {NULL, 0},
};

static const Suffix time_suffixes[] = {
    {"h", 3600000000000000},
    {"min", 60000000000000},
    {"s", 1000000000000},
    {"ms", 1000000000},
    {"us", 1000000},
    {"ns", 1000},
    {"ps", 1},
    {NULL, 0},
};

/* Of keys that name their unit. */
static const Suffix ns_suffixes[] = {
    {"h", 3600000000000000}, {"min", 60000000000000}, {"s", 1000000000000},
    {"ms", 1000000000},      {"us", 1000000},         {"ns", 1000},
    {"ps", 1},               {"", 1000},              {NULL, 0},
};

static const Suffix ppm_suffixes[] = {{"%", 10000}, {"", 10000}, {NULL, 0}};

static const Suffix no_suffixes[] = {{"", 1}, {NULL, 0}};

GQuark opt_error_quark(void)
{
    return g_quark_from_static_string("vssd-option");
}

bool opt_fail(GError **error, OptError code, const char *format, ...)
{
    va_list ap;
    g_autofree char *message = NULL;

    va_start(ap, format);
    message = g_strdup_vprintf(format, ap);
    va_end(ap);
    g_set_error_literal(error, OPT_ERROR, (int)code, message);
    return false;
}

static const Suffix *suffixes_of(OptType type)
{
    switch (type) {
    case OPT_SIZE:
        return size_suffixes;
    case OPT_TIME:
        return time_suffixes;
    case OPT_PPM:
        return ppm_suffixes;
    default:
        return no_suffixes;
    }
}

const OptDesc *opt_find(const OptDesc *table, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(table[i].key, key) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

static const Suffix *find_suffix(const Suffix *suffixes, const char *name)
{
    for (const Suffix *x = suffixes; x->name; x++) {
        if (g_ascii_strcasecmp(x->name, name) == 0) {
            return x;
        }
    }
    return NULL;
}

/* "12.5us" -> 12500000 with time_suffixes; false: malformed or not exact. */
static bool parse_scaled(const char *s, const Suffix *suffixes, uint64_t *out)
{
    unsigned __int128 value = 0;
    unsigned __int128 divisor = 1;
    bool digits = false;
    bool fraction = false;
    const Suffix *x;

    for (; g_ascii_isdigit(*s) || (*s == '.' && !fraction) || *s == '_'; s++) {
        if (*s == '.') {
            fraction = true;
            continue;
        }
        if (*s == '_') {
            if (!digits) {
                return false;
            }
            continue;
        }
        digits = true;
        value = value * 10 + (unsigned)(*s - '0');
        divisor *= fraction ? 10 : 1;
        if (value > UINT64_MAX || divisor > 1000000000000000000ULL) {
            return false;
        }
    }
    while (*s == ' ') {
        s++;
    }
    if (!digits) {
        return false;
    }
    x = find_suffix(suffixes, s);
    if (!x) {
        return false;
    }
    value *= x->scale;
    if (value % divisor || value / divisor > UINT64_MAX) {
        return false;
    }
    *out = (uint64_t)(value / divisor);
    return true;
}

static char *print_scaled(OptType type, uint64_t v)
{
    const Suffix *x = suffixes_of(type);

    if (type == OPT_PPM) {
        g_autofree char *s = g_strdup_printf("%" PRIu64 ".%04" PRIu64,
                                             v / 10000, v % 10000);
        size_t len = strlen(s);

        while (s[len - 1] == '0') {
            s[--len] = '\0';
        }
        if (s[len - 1] == '.') {
            s[--len] = '\0';
        }
        return g_strconcat(s, "%", NULL);
    }
    if (v == 0 && type == OPT_TIME) {
        return g_strdup("0ns");
    }
    while (v == 0 ? x->scale != 1 : v % x->scale != 0) {
        x++;
    }
    return g_strdup_printf("%" PRIu64 "%s", v / x->scale, x->name);
}

static bool is_bare(const char *value)
{
    return *value && strspn(value, "0123456789._ ") == strlen(value);
}

static bool bad_value(const OptDesc *d, const char *value, GError **error)
{
    g_autofree char *range = opt_range(d);

    return opt_fail(error, OPT_ERROR_VALUE, "%s=%s: allowed %s", d->key, value,
                    range);
}

/* A number that is below the row's range (order < 0) or above it. */
static bool beyond(const OptDesc *d, const char *value, int order,
                   GError **error)
{
    g_autofree char *range = opt_range(d);
    g_autofree char *bound = print_scaled(d->type, order < 0 ? d->min : d->max);

    return opt_fail(error, OPT_ERROR_VALUE, "%s=%s: allowed %s, it is %s %s",
                    d->key, value, range, order < 0 ? "below" : "above", bound);
}

/* "ps, ns, us", as a message lists them. */
static char *unit_names(OptType type)
{
    GString *s = g_string_new(NULL);

    for (const Suffix *x = suffixes_of(type); x->name; x++) {
        if (*x->name) {
            g_string_prepend(s, s->len ? ", " : "");
            g_string_prepend(s, x->name);
        }
    }
    return g_string_free(s, FALSE);
}

/* A text that is no number with a unit of the type. */
static bool no_number(const OptDesc *d, const char *value, GError **error)
{
    const char *unit = value + strspn(value, "0123456789._ ");
    g_autofree char *range = opt_range(d);
    g_autofree char *units = unit_names(d->type);

    if (d->type == OPT_TIME && is_bare(value)) {
        return opt_fail(error, OPT_ERROR_VALUE,
                        "%s=%s: allowed with a unit (%s), %s", d->key, value,
                        units, range);
    }
    if (unit == value || !g_ascii_isalpha(*unit) ||
        find_suffix(suffixes_of(d->type), unit)) {
        return bad_value(d, value, error);
    }
    return opt_fail(error, OPT_ERROR_VALUE, "%s=%s: allowed %s, %s%s%s%s",
                    d->key, value, range, *units ? "no unit is '" : "without '",
                    unit, *units ? "': " : "'", units);
}

static bool parse_bool(const char *value, bool *out)
{
    static const char *const words[] = {"off", "on",    "no", "yes",
                                        "false", "true", "0",  "1"};

    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        if (g_ascii_strcasecmp(words[i], value) == 0) {
            *out = i % 2;
            return true;
        }
    }
    return false;
}

/* A time without a unit is a mistake; 0 is the same in all of them. */
static bool parse_amount(const OptDesc *d, const char *value, uint64_t *out)
{
    if (d->type != OPT_TIME) {
        return parse_scaled(value, suffixes_of(d->type), out);
    }
    if (strstr(d->key, "_ns")) {
        return parse_scaled(value, ns_suffixes, out);
    }
    return parse_scaled(value, time_suffixes, out) ||
           (parse_scaled(value, no_suffixes, out) && *out == 0);
}

static bool set_number(void *field, const OptDesc *d, const char *value,
                       GError **error)
{
    uint64_t v;

    if (!parse_amount(d, value, &v)) {
        return no_number(d, value, error);
    }
    if (v < d->min || v > d->max) {
        return beyond(d, value, v < d->min ? -1 : 1, error);
    }
    if (d->type == OPT_U32 || d->type == OPT_PPM) {
        invariant(v <= UINT32_MAX);
        *(uint32_t *)field = (uint32_t)v;
    } else {
        *(uint64_t *)field = v;
    }
    return true;
}

/* The index of a name of the row, or -1. */
static int name_index(const OptDesc *d, const char *value)
{
    for (unsigned i = 0; d->name_at && d->name_at(i); i++) {
        if (strcmp(d->name_at(i), value) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static bool set_named(uint32_t *field, const OptDesc *d, const char *value,
                      GError **error)
{
    int i = name_index(d, value);

    if (i >= 0) {
        *field = d->type == OPT_ENUM ? (uint32_t)i : OPT_NAMED(i);
    }
    return i >= 0 || (d->type == OPT_ENUM ? bad_value(d, value, error)
                                          : set_number(field, d, value, error));
}

static bool set_double(double *field, const OptDesc *d, const char *value,
                       GError **error)
{
    char *end;
    double v = g_ascii_strtod(value, &end);

    if (end == value || *end != '\0' || !isfinite(v)) {
        return bad_value(d, value, error);
    }
    if (v < (double)d->min || v > (double)d->max) {
        return beyond(d, value, v < (double)d->min ? -1 : 1, error);
    }
    *field = v;
    return true;
}

static char *print_double(double v)
{
    char buf[G_ASCII_DTOSTR_BUF_SIZE];

    return g_strdup(g_ascii_dtostr(buf, sizeof(buf), v));
}

static bool store(void *field, const OptDesc *d, const char *value,
                  GError **error)
{
    switch (d->type) {
    case OPT_U32:
    case OPT_ENUM:
        return set_named(field, d, value, error);
    case OPT_U64:
    case OPT_SIZE:
    case OPT_TIME:
    case OPT_PPM:
        return set_number(field, d, value, error);
    case OPT_DOUBLE:
        return set_double(field, d, value, error);
    case OPT_BOOL:
        return parse_bool(value, field) || bad_value(d, value, error);
    case OPT_STRING:
        if (d->check && !d->check(value, error)) {
            return false;
        }
        g_free(*(char **)field);
        *(char **)field = g_strdup(value);
        return true;
    }
    g_assert_not_reached();
}

bool opt_set(void *base, const OptDesc *d, const char *value, GError **error)
{
    bool ok = store((char *)base + d->offset, d, value, error);

    if (ok && d->then) {
        d->then(base);
    }
    return ok;
}

void opt_set_defaults(void *base, const OptDesc *table, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        GError *error = NULL;
        bool ok = true;

        if (table[i].def) {
            ok = opt_set(base, &table[i], table[i].def, &error);
        }
        if (!ok) {
            g_error("default of %s", error->message); /* a bug in the table */
        }
    }
}

void opt_copied(void *base, const OptDesc *table, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (table[i].type == OPT_STRING) {
            char **text = (char **)((char *)base + table[i].offset);

            *text = g_strdup(*text);
        }
    }
}

void opt_clear(void *base, const OptDesc *table, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (table[i].type == OPT_STRING) {
            g_clear_pointer((char **)((char *)base + table[i].offset), g_free);
        }
    }
}

const char *opt_name_of(const OptDesc *d, uint32_t value)
{
    return d->name_at && value > d->max ? d->name_at(UINT32_MAX - value) : NULL;
}

static char *print_u32(const OptDesc *d, uint32_t value)
{
    const char *name = opt_name_of(d, value);

    return name ? g_strdup(name) : print_scaled(d->type, value);
}

char *opt_get(const void *base, const OptDesc *d)
{
    const void *field = (const char *)base + d->offset;

    switch (d->type) {
    case OPT_U32:
        return print_u32(d, *(const uint32_t *)field);
    case OPT_PPM:
        return print_scaled(d->type, *(const uint32_t *)field);
    case OPT_U64:
    case OPT_SIZE:
    case OPT_TIME:
        return print_scaled(d->type, *(const uint64_t *)field);
    case OPT_DOUBLE:
        return print_double(*(const double *)field);
    case OPT_BOOL:
        return g_strdup(*(const bool *)field ? "on" : "off");
    case OPT_ENUM:
        return g_strdup(d->name_at(*(const uint32_t *)field));
    case OPT_STRING:
        return g_strdup(*(char *const *)field ? *(char *const *)field : "");
    }
    g_assert_not_reached();
}

/* The names, with commas; NULL: it has none. */
static char *all_names(const OptDesc *d)
{
    GString *s = g_string_new(NULL);

    for (unsigned i = 0; d->name_at && d->name_at(i); i++) {
        g_string_append_printf(s, "%s%s", i ? ", " : "", d->name_at(i));
    }
    return g_string_free(s, s->len == 0);
}

char *opt_range(const OptDesc *d)
{
    g_autofree char *names = all_names(d);
    g_autofree char *low = NULL;
    g_autofree char *high = NULL;

    switch (d->type) {
    case OPT_BOOL:
        return g_strdup("on, off");
    case OPT_STRING:
        return g_strdup("any text");
    case OPT_ENUM:
        return g_steal_pointer(&names);
    default:
        low = print_scaled(d->type, d->min);
        high = print_scaled(d->type, d->max);
        return names ? g_strdup_printf("%s, %s..%s", names, low, high)
                     : g_strdup_printf("%s..%s", low, high);
    }
}
