/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steady.c - rounds of a run, and how much their values differ. */
#include "steady.h"

#include <math.h>
#include <glib.h>

#include "simtime.h"

static const char *const names[STEADY_N_METRICS] = {
    [STEADY_IOPS] = "iops",
    [STEADY_WAF] = "waf",
    [STEADY_LATENCY] = "latency",
};

const char *steady_metric_name(unsigned i)
{
    return i < STEADY_N_METRICS ? names[i] : NULL;
}

/* ---- rounds -------------------------------------------------------------- */

static uint64_t after(uint64_t now, uint64_t step)
{
    return step == UINT64_MAX ? step : now + step;
}

static void expect_next(Rounds *r, const SteadyMark *now)
{
    r->next_requests = after(now->n_requests, r->requests);
    r->next_bytes = after(now->written_bytes, r->bytes);
}

void rounds_begin(Rounds *r, uint64_t requests, uint64_t bytes,
                  const SteadyMark *now)
{
    *r = (Rounds){.mark = {*now}, .requests = requests, .bytes = bytes};
    expect_next(r, now);
}

static uint64_t twice(uint64_t step)
{
    return step == UINT64_MAX ? step : 2 * step;
}

static void thin_out(Rounds *r)
{
    r->n /= 2;
    for (unsigned i = 1; i <= r->n; i++) {
        r->mark[i] = r->mark[2 * i];
    }
    r->requests = twice(r->requests);
    r->bytes = twice(r->bytes);
}

void rounds_end(Rounds *r, const SteadyMark *now)
{
    r->mark[++r->n] = *now;
    if (r->n == STEADY_MOST_MARKS) {
        thin_out(r);
    }
    expect_next(r, now);
}

/* ---- values -------------------------------------------------------------- */

static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

static double value_of(const SteadyMark *a, const SteadyMark *b,
                       SteadyMetric metric)
{
    double n = (double)(b->n_requests - a->n_requests);

    switch (metric) {
    case STEADY_IOPS:
        return ratio(n * NS_PER_S, (double)(b->sim_ns - a->sim_ns));
    case STEADY_WAF:
        return ratio((double)(b->nand_bytes - a->nand_bytes),
                     (double)(b->host_bytes - a->host_bytes));
    default:
        return ratio(b->latency_ns - a->latency_ns, n);
    }
}

/* Of the line of least squares over 0, 1, ...: how much it rises from the first
 * value to the last. */
static double rise(const double *y, unsigned n)
{
    double middle = (n - 1) / 2.0;
    double xy = 0;
    double xx = 0;

    for (unsigned i = 0; i < n; i++) {
        xy += (i - middle) * y[i];
        xx += (i - middle) * (i - middle);
    }
    return xy / xx * (n - 1);
}

static void judge(Steadiness *s, SteadyMetric metric, const double *y)
{
    double least = y[0];
    double most = y[0];
    double mean = 0;

    for (unsigned i = 0; i < STEADY_ROUNDS; i++) {
        least = fmin(least, y[i]);
        most = fmax(most, y[i]);
        mean += y[i] / STEADY_ROUNDS;
    }
    s->range[metric] = ratio(most - least, mean);
    s->slope[metric] = ratio(fabs(rise(y, STEADY_ROUNDS)), mean);
}

/* Each of the five is of so many ends. */
static Steadiness of_five(const Rounds *r, unsigned each)
{
    const SteadyMark *from = &r->mark[r->n - STEADY_ROUNDS * each];
    const SteadyMark *to = &r->mark[r->n];
    Steadiness s = {.known = true};

    s.mean_requests =
        (double)(to->n_requests - from->n_requests) / STEADY_ROUNDS;
    s.mean_bytes =
        (double)(to->written_bytes - from->written_bytes) / STEADY_ROUNDS;
    for (unsigned m = 0; m < STEADY_N_METRICS; m++) {
        double y[STEADY_ROUNDS];

        for (unsigned i = 0; i < STEADY_ROUNDS; i++) {
            const SteadyMark *a = from + (size_t)i * each;

            y[i] = value_of(a, a + each, m);
        }
        judge(&s, m, y);
    }
    return s;
}

Steadiness rounds_steadiness(const Rounds *r)
{
    return r->n < STEADY_ROUNDS ? (Steadiness){.known = false}
                                : of_five(r, r->n / STEADY_ROUNDS);
}

Steadiness rounds_last_five(const Rounds *r)
{
    return r->n < STEADY_ROUNDS ? (Steadiness){.known = false} : of_five(r, 1);
}

double rounds_waf(const Rounds *r)
{
    return value_of(&r->mark[r->n - MIN(r->n, STEADY_ROUNDS)], &r->mark[r->n],
                    STEADY_WAF);
}

bool steady_in(const Steadiness *s, SteadyMetric m, double most_range,
               double most_slope)
{
    return isnan(s->range[m]) ||
           (s->range[m] <= most_range && s->slope[m] <= most_slope);
}
