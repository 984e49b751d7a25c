/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spread.c - uniform, zipf and zoned positions.
 *
 * Zipf: rejection-inversion (W. Hoermann, G. Derflinger, "Rejection-inversion
 * to generate variates from monotone discrete distributions", ACM TOMACS 6(3),
 * 1996); no table, whatever n is.
 */
#include "spread.h"

#include <math.h>
#include <string.h>
#include <glib.h>

#include "options.h"

/* ---- parsing ------------------------------------------------------------- */

static bool parse_theta(Spread *s, const char *text)
{
    char *end;

    s->theta = g_ascii_strtod(text, &end);
    s->kind = SPREAD_ZIPF;
    return end != text && *end == '\0' && s->theta > 0 && s->theta <= 10;
}

static bool parse_percent(const char *text, uint32_t *ppm)
{
    const OptDesc d = {.key = "", .type = OPT_PPM, .max = 1000000};

    return opt_set(ppm, &d, text, NULL);
}

static bool parse_zones(Spread *s, const char *text)
{
    g_auto(GStrv) parts = g_strsplit(text, ":", -1);
    uint32_t access = 0;
    uint32_t area = 0;

    s->kind = SPREAD_ZONED;
    s->n_zones = 0;
    for (char **p = parts; *p; p++) {
        g_auto(GStrv) f = g_strsplit(*p, "/", 3);
        uint32_t a, b;

        if (s->n_zones == SPREAD_MAX_ZONES || g_strv_length(f) != 2 ||
            !parse_percent(f[0], &a) || !parse_percent(f[1], &b) || b == 0) {
            return false;
        }
        access += a;
        area += b;
        s->zone[s->n_zones++] = (SpreadZone){access, area};
    }
    return access == 1000000 && area == 1000000;
}

const char *spread_parse(Spread *s, const char *text)
{
    *s = (Spread){.kind = SPREAD_UNIFORM};
    if (strcmp(text, "random") == 0 ||
        (g_str_has_prefix(text, "zipf:") && parse_theta(s, text + 5)) ||
        (g_str_has_prefix(text, "zoned:") && parse_zones(s, text + 6))) {
        return NULL;
    }
    return "allowed random, zipf:THETA (0 < THETA <= 10), "
           "zoned:ACCESS/AREA:... in percent, each summing to 100";
}

/* ---- zipf ---------------------------------------------------------------- */

/* Integral of x^-theta. */
static double integral(const Spread *s, double x)
{
    double e = 1 - s->theta;

    return fabs(e) < 1e-9 ? log(x) : (pow(x, e) - 1) / e;
}

static double integral_inverse(const Spread *s, double y)
{
    double e = 1 - s->theta;

    return fabs(e) < 1e-9 ? exp(y) : pow(MAX(1 + y * e, 0), 1 / e);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

static void prepare(Spread *s, uint64_t n)
{
    s->n = n;
    s->step = (uint64_t)((double)n * 0.6180339887498949) | 1;
    while (common_divisor(s->step, n) != 1) {
        s->step++;
    }
    s->h_first = integral(s, 1.5) - 1;
    s->h_last = integral(s, (double)n + 0.5);
    s->shift = 2 - integral_inverse(s, integral(s, 2.5) - pow(2, -s->theta));
}

/* 1..n; 1 is the hottest. */
static uint64_t draw_rank(const Spread *s, Prng *r)
{
    for (;;) {
        double u = s->h_last + prng_double(r) * (s->h_first - s->h_last);
        double x = integral_inverse(s, u);
        uint64_t k = x < 1 ? 1 : (uint64_t)(x + 0.5);

        k = CLAMP(k, 1, s->n);
        if ((double)k - x <= s->shift ||
            u >= integral(s, (double)k + 0.5) - pow((double)k, -s->theta)) {
            return k;
        }
    }
}

/* ---- drawing ------------------------------------------------------------- */

static uint64_t draw_zoned(const Spread *s, Prng *r, uint64_t n)
{
    uint64_t access = prng_below(r, 1000000);
    unsigned i = 0;
    uint64_t begin, end;

    while (access >= s->zone[i].access_ppm) {
        i++;
    }
    begin = i ? (uint64_t)((unsigned __int128)n * s->zone[i - 1].area_ppm /
                           1000000)
              : 0;
    end = (uint64_t)((unsigned __int128)n * s->zone[i].area_ppm / 1000000);
    if (end <= begin) {
        return MIN(begin, n - 1); /* the zone is less than one position */
    }
    return begin + prng_below(r, end - begin);
}

uint64_t spread_draw(Spread *s, Prng *r, uint64_t n)
{
    switch (s->kind) {
    case SPREAD_ZONED:
        return draw_zoned(s, r, n);
    case SPREAD_ZIPF:
        if (s->n != n) {
            prepare(s, n);
        }
        return (uint64_t)((unsigned __int128)(draw_rank(s, r) - 1) * s->step %
                          n);
    default:
        return prng_below(r, n);
    }
}
