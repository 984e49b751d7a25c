/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-rber.c - the formulas of wear: raw bit error rate, codewords, failures.
 *
 * Pure functions of the options and their arguments; they know no block and no
 * time.
 *
 * Raw bit error rate: the additive power laws of wear, retention and disturb of
 * B. S. Kim, J. Choi, S. L. Min, "Design Tradeoffs for SSD Reliability", FAST
 * 2019.  Bits of a codeword fail independently.
 */
#include "nand-rber.h"

#include <math.h>

/* factor * a^x, where factor 0 switches the term off. */
static double power_term(double factor, double a, double x)
{
    return factor > 0 ? factor * pow(a, x) : 0;
}

RberWear media_rber_wear(const NandConfig *c, double cycles)
{
    return (RberWear){
        .wear = power_term(c->rber_wear, cycles, c->rber_wear_exp),
        .retention = power_term(c->rber_ret, cycles, c->rber_ret_pe_exp),
        .disturb = power_term(c->rber_dist, cycles, c->rber_dist_pe_exp),
    };
}

double media_rber_at(const NandConfig *c, const RberWear *w, double t,
                     double reads)
{
    double p = c->rber_base + w->wear +
               power_term(w->retention, t, c->rber_ret_exp) +
               power_term(w->disturb, reads, c->rber_dist_exp);

    return MIN(p, 0.5);
}

double media_rber(const NandConfig *c, double cycles, double t, double reads)
{
    RberWear wear = media_rber_wear(c, cycles);

    return media_rber_at(c, &wear, t, reads);
}

static double log_choose(double n, double k)
{
    int sign; /* lgamma() would keep it in a global */

    return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) -
           lgamma_r(n - k + 1, &sign);
}

/* Probability of exactly k of n. */
static double binomial(double n, double k, double p)
{
    return exp(log_choose(n, k) + k * log(p) + (n - k) * log1p(-p));
}

/*
 * Summed from the term next to the limit outwards, on the side where terms
 * shrink; a term that no longer changes the sum ends it.
 */
double media_tail(uint32_t n, uint32_t correctable, double p)
{
    double odds = p / (1 - p);
    double sum = 0;
    double term;

    if (p <= 0 || correctable >= n) {
        return 0;
    }
    if (p >= 1) {
        return 1;
    }
    if (n * p < correctable + 1.0) {
        term = binomial(n, correctable + 1.0, p);
        for (double k = correctable + 1.0; k <= n && sum + term > sum; k++) {
            sum += term;
            term *= odds * (n - k) / (k + 1);
        }
        return sum;
    }
    term = binomial(n, correctable, p);
    for (double k = correctable; k >= 0 && sum + term > sum; k--) {
        sum += term;
        term *= k / (odds * (n - k + 1));
    }
    return MAX(1 - sum, 0);
}

#define BOLTZMANN_EV 8.617333262e-5 /* per kelvin; CODATA 2018 */
#define ZERO_C       273.15

double media_arrhenius(const NandConfig *c)
{
    double from = c->reference_c + ZERO_C;
    double to = c->temperature_c + ZERO_C;

    return exp(c->activation_ev / BOLTZMANN_EV * (1 / from - 1 / to));
}

double media_fail(const NandConfig *c, double base, double cycles,
                  uint32_t rated_cycles)
{
    double growth = rated_cycles ? pow(cycles / rated_cycles, c->fail_exp) : 0;

    return MIN(base * (1 + growth), 1);
}
