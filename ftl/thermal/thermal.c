/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thermal.c - the temperature of the drive, and throttling.
 *
 * One thermal resistance R to the ambient and one capacitance C.  With a power
 * P that is constant in a step of length t, the rise above the ambient goes to
 *
 *     P R + (rise - P R) exp(-t / (R C))
 *
 * which is the exact solution of C rise' = P - rise / R.  Steps are on a grid,
 * of R C / 1024 and at most 100 ms each, and are worked out when an event, or a
 * call of the host, has passed their end: all that the array has done since the
 * last step was in the one that ended first.  So neither polling nor reading
 * the temperature changes anything.  Numbers are integers.
 *
 * Knows energies (nand_stats(), states.c); knows nothing of commands but that
 * they come and end.
 */
#include <string.h>

#include "thermal/states.h"
#include "thermal/thermal.h"

#define MOST_STEP_PS  (PS_PER_NS * NS_PER_MS * 100)
#define LEAST_STEP_PS (PS_PER_NS * NS_PER_US)
#define STEPS_IN_RC   1024
#define NK_PER_K      1000000000ULL
#define ZERO_C_K      273
#define ONE_Q60       (1ULL << 60)

/* ---- creation ------------------------------------------------------------ */

/* exp(-x) for x = a / b of at most 1: the Taylor series, in 2^-60. */
static uint64_t decay_of(uint64_t a, uint64_t b)
{
    uint64_t x = (uint64_t)(((unsigned __int128)a << 60) / b);
    uint64_t term = ONE_Q60;
    uint64_t plus = 0;
    uint64_t minus = 0;

    for (unsigned k = 1; term > 0; k++) {
        *(k % 2 ? &plus : &minus) += term;
        term = (uint64_t)(((unsigned __int128)term * x >> 60) / k);
    }
    return plus - minus;
}

static void init_rates(Thermal *t, const SsdConfig *cfg)
{
    uint64_t mj_per_k = (uint64_t)(cfg->capacitance * 1000 + 0.5);
    uint64_t rc_ps;

    t->mk_per_w = (uint64_t)(cfg->resistance * 1000 + 0.5);
    t->heats = t->mk_per_w > 0;
    t->step_ps = MOST_STEP_PS;
    if (t->heats) {
        rc_ps = t->mk_per_w * mj_per_k * (PS_PER_NS * NS_PER_US);
        t->step_ps = CLAMP(rc_ps / STEPS_IN_RC, LEAST_STEP_PS, MOST_STEP_PS);
        t->decay = decay_of(t->step_ps, MAX(rc_ps, t->step_ps));
    }
}

void thermal_init(Ssd *ssd)
{
    const SsdConfig *cfg = ssd->cfg;
    Thermal *t = ssd->thermal;

    thermal_states(cfg->power_states, t->table, &t->n_states, NULL);
    init_rates(t, cfg);
    t->on = t->heats || t->n_states || cfg->active_mw || cfg->idle_mw;
    t->heat.next_ps = t->on ? t->step_ps : SIM_NEVER;
    t->heat.wanted = NONE;
}

/* ---- energy and heat ----------------------------------------------------- */

/* nJ of the array, since the drive was made. */
static uint64_t nand_energy_nj(const Ssd *ssd)
{
    const NandConfig *c = &ssd->cfg->nand;
    const NandStats *s = nand_stats(ssd->nand);
    unsigned __int128 nj = 0;
    uint64_t bytes = 0;

    for (unsigned i = 0; i < NAND_N_CAUSES; i++) {
        uint64_t copies = s->ops[NAND_COPYBACK][i];

        nj += (unsigned __int128)(s->ops[NAND_READ][i] + copies) *
              c->energy_read_nj;
        nj += (unsigned __int128)(s->ops[NAND_PROGRAM][i] + copies) *
              c->energy_program_nj;
        nj += (unsigned __int128)s->ops[NAND_ERASE][i] * c->energy_erase_nj;
        bytes += s->bus_bytes[i];
    }
    nj += (unsigned __int128)bytes * c->energy_bus_pj / 1000;
    return (uint64_t)MIN(nj, (unsigned __int128)UINT64_MAX);
}

/* fJ in a step: mW are fJ / ps, and mW x mK / W are uK. */
static uint64_t rise_of(const Thermal *t, unsigned __int128 step_fj)
{
    unsigned __int128 uw = step_fj * 1000 / t->step_ps;

    uw = MIN(uw, (unsigned __int128)UINT64_MAX);
    return (uint64_t)MIN(uw * t->mk_per_w, (unsigned __int128)HEAT_MOST_NK);
}

static uint64_t toward(uint64_t from, uint64_t to, uint64_t decay)
{
    uint64_t gap = from > to ? from - to : to - from;
    uint64_t left = (uint64_t)((unsigned __int128)gap * decay >> 60);

    return from > to ? to + left : to - left;
}

/* The rise at which the composite temperature is that. */
static uint64_t rise_at(const Ssd *ssd, uint64_t kelvin)
{
    uint64_t ambient_k = ssd->cfg->ambient_c + ZERO_C_K;

    return kelvin > ambient_k ? (kelvin - ambient_k) * NK_PER_K : 0;
}

/* ---- throttling ---------------------------------------------------------- */

static bool host_limits(const Heat *h)
{
    return h->limit_k[0] || h->limit_k[1];
}

/* Kelvin from which the level holds; 0: never. */
static uint64_t limit_of(const Ssd *ssd, const Heat *h, unsigned level)
{
    const uint32_t own_c[] = {ssd->cfg->throttle1_c, ssd->cfg->throttle2_c};

    if (host_limits(h)) {
        return h->limit_k[level - 1];
    }
    return own_c[level - 1] ? own_c[level - 1] + ZERO_C_K : 0;
}

/* Above its limit a level holds until the temperature is thermal.hysteresis
 * below it. */
static bool level_holds(const Ssd *ssd, const Heat *h, unsigned level)
{
    uint64_t limit_k = limit_of(ssd, h, level);
    uint64_t back_k = h->level >= level ? ssd->cfg->hysteresis_c : 0;

    return limit_k &&
           h->rise_nk >= rise_at(ssd, limit_k - MIN(limit_k, back_k));
}

static void set_level(const Ssd *ssd, Heat *h)
{
    unsigned level = THERMAL_LEVELS;

    while (level > 0 && !level_holds(ssd, h, level)) {
        level--;
    }
    if (level > h->level) {
        h->sums.n_throttled[level - 1]++;
        h->n_managed[level - 1] += host_limits(h);
    }
    h->level = level;
}

uint32_t thermal_share(const Ssd *ssd)
{
    const Thermal *t = ssd->thermal;
    const uint32_t slow_ppm[] = {0, ssd->cfg->slow1_ppm, ssd->cfg->slow2_ppm};
    uint32_t share = 1000000 - slow_ppm[t->heat.level];

    if (t->n_states && t->heat.operational) {
        share = (uint32_t)((uint64_t)share * t->table[t->heat.operational].mw /
                           t->table[0].mw);
    }
    return MAX(share, 1);
}

/* ---- steps --------------------------------------------------------------- */

/* So many steps, in which nothing has changed, are over. */
static void count_time(const Ssd *ssd, Heat *h, uint64_t ps)
{
    const Thermal *t = ssd->thermal;

    if (t->heats &&
        h->rise_nk >= rise_at(ssd, ssd->cfg->warning_c + ZERO_C_K)) {
        h->sums.warning_ps += ps;
    }
    if (t->heats &&
        h->rise_nk >= rise_at(ssd, ssd->cfg->critical_c + ZERO_C_K)) {
        h->sums.critical_ps += ps;
    }
    if (h->level) {
        h->sums.throttled_ps[h->level - 1] += ps;
        h->managed_ps[h->level - 1] += host_limits(h) ? ps : 0;
    }
}

static void one_step(const Ssd *ssd, Heat *h)
{
    const Thermal *t = ssd->thermal;
    uint64_t nand_nj = nand_energy_nj(ssd);
    unsigned __int128 fj =
        (unsigned __int128)(nand_nj - MIN(nand_nj, h->nand_nj)) * 1000000;

    states_charge(ssd, h, h->next_ps);
    fj += h->step_fj;
    h->step_fj = 0;
    h->nand_nj = nand_nj;
    h->peak_mw = MAX(h->peak_mw, (uint64_t)MIN(fj / t->step_ps,
                                               (unsigned __int128)UINT64_MAX));
    count_time(ssd, h, t->step_ps);
    if (t->heats) {
        h->rise_nk = toward(h->rise_nk, rise_of(t, fj), t->decay);
        h->most_rise_nk = MAX(h->most_rise_nk, h->rise_nk);
        set_level(ssd, h);
    }
    h->next_ps += t->step_ps;
}

/* While the power is constant and the temperature has followed it, all steps
 * are the same. */
static void skip_steps(const Ssd *ssd, Heat *h, uint64_t now_ps)
{
    const Thermal *t = ssd->thermal;
    uint64_t mw = states_mw(ssd, h);
    uint64_t until_ps = MIN(now_ps, states_next_ps(ssd, h));
    unsigned __int128 fj = (unsigned __int128)mw * t->step_ps;
    uint64_t n;

    if (until_ps < h->next_ps || (t->heats && rise_of(t, fj) != h->rise_nk)) {
        return;
    }
    n = (until_ps - h->next_ps) / t->step_ps + 1;
    h->peak_mw = MAX(h->peak_mw, mw);
    states_charge(ssd, h, h->next_ps + (n - 1) * t->step_ps);
    h->step_fj = 0;
    count_time(ssd, h, n * t->step_ps);
    h->next_ps += n * t->step_ps;
}

static void advance(const Ssd *ssd, Heat *h, uint64_t now_ps)
{
    while (h->next_ps <= now_ps) {
        one_step(ssd, h);
        skip_steps(ssd, h, now_ps);
    }
    states_charge(ssd, h, now_ps);
}

void thermal_steps(Ssd *ssd)
{
    advance(ssd, &ssd->thermal->heat, ssd->now_ps);
}

Heat thermal_now(const Ssd *ssd)
{
    Heat h = ssd->thermal->heat;

    if (ssd->thermal->on) {
        advance(ssd, &h, ssd->now_ps);
    }
    return h;
}

void thermal_reset_peak(Ssd *ssd)
{
    if (ssd->thermal->on) {
        thermal_steps(ssd);
        ssd->thermal->heat.peak_mw = 0;
    }
}

double thermal_celsius(const Ssd *ssd, uint64_t rise_nk)
{
    return ssd->cfg->ambient_c + (double)rise_nk / NK_PER_K;
}

/* ---- calls of host and power --------------------------------------- */

uint64_t thermal_command(Ssd *ssd)
{
    thermal_steps(ssd);
    return states_wake(ssd, &ssd->thermal->heat);
}

void thermal_quiet(Ssd *ssd)
{
    thermal_steps(ssd);
    states_quiet(ssd, &ssd->thermal->heat);
}

void thermal_power(Ssd *ssd, bool on)
{
    Heat *h = &ssd->thermal->heat;

    if (!ssd->thermal->on) {
        return;
    }
    thermal_steps(ssd);
    h->off = !on;
    h->state = 0;
    h->from = 0;
    h->operational = 0;
    h->state_since_ps = ssd->now_ps;
    h->idle_since_ps = ssd->now_ps;
    h->wanted = NONE;
    h->by_host = 0;
    memset(h->limit_k, 0, sizeof(h->limit_k));
    if (on && ssd->cfg->nand.off_hours) {
        h->rise_nk = 0; /* it has been off for long */
        h->level = 0;
    }
}

void thermal_aged(Ssd *ssd)
{
    if (ssd->thermal->on) {
        ssd->thermal->heat.nand_nj = nand_energy_nj(ssd);
    }
}

static void heat_begin(Ssd *ssd)
{
    Heat *h = &ssd->thermal->heat;

    h->next_ps = ssd->now_ps + ssd->thermal->step_ps;
    h->charged_ps = ssd->now_ps;
    h->state_since_ps = ssd->now_ps;
    h->idle_since_ps = ssd->now_ps;
    h->nand_nj = nand_energy_nj(ssd);
}

void thermal_loaded(Ssd *ssd)
{
    Thermal *t = ssd->thermal;
    Heat *h = &t->heat;

    if (!t->on) {
        h->next_ps = SIM_NEVER;
        return;
    }
    if (h->next_ps == SIM_NEVER || h->next_ps > ssd->now_ps + t->step_ps) {
        heat_begin(ssd);
    }
    if (h->state >= MAX(t->n_states, 1) || h->from >= MAX(t->n_states, 1) ||
        h->operational >= MAX(t->n_states, 1) ||
        !(t->n_states == 0 || !t->table[h->operational].idle)) {
        h->state = h->from = h->operational = 0;
        h->by_host = 0;
    }
    for (unsigned i = 0; i < THERMAL_STATES; i++) {
        h->by_host &= h->rule[i].state < MAX(t->n_states, 1);
    }
    h->wanted = NONE;
}

void thermal_rebase(Ssd *ssd, uint64_t by_ps)
{
    Heat *h = &ssd->thermal->heat;

    if (!ssd->thermal->on) {
        return;
    }
    thermal_steps(ssd);
    h->next_ps -= by_ps;
    h->charged_ps -= by_ps;
    h->state_since_ps -= MIN(h->state_since_ps, by_ps);
    if (h->idle_since_ps != SIM_NEVER) {
        h->idle_since_ps -= MIN(h->idle_since_ps, by_ps);
    }
}

/* ---- calls of ssd.h ------------------------------------------------------ */

const SsdPowerState *ssd_power_states(const Ssd *ssd, uint32_t *n)
{
    *n = ssd->thermal->n_states;
    return ssd->thermal->table;
}

uint32_t ssd_power_state(const Ssd *ssd)
{
    return thermal_now(ssd).state;
}

void thermal_set_state(Ssd *ssd, uint32_t state)
{
    if (ssd->powered && state < ssd->thermal->n_states) {
        thermal_steps(ssd);
        states_set(ssd, &ssd->thermal->heat, state);
    }
}

void thermal_set_rules(Ssd *ssd, const SsdIdleRule *rule)
{
    Heat *h = &ssd->thermal->heat;

    if (!ssd->powered || ssd->thermal->n_states == 0) {
        return;
    }
    thermal_steps(ssd);
    h->by_host = rule != NULL;
    for (uint32_t i = 0; rule && i < ssd->thermal->n_states; i++) {
        bool leads_down = rule[i].state > i &&
                          rule[i].state < ssd->thermal->n_states &&
                          ssd->thermal->table[rule[i].state].idle;

        h->rule[i] = (IdleRule){
            .after_ps = leads_down ? rule[i].after_ns * PS_PER_NS : 0,
            .state = leads_down ? rule[i].state : 0,
        };
    }
}

void thermal_set_limits(Ssd *ssd, const uint32_t kelvin[2])
{
    if (ssd->powered && ssd->thermal->heats) {
        thermal_steps(ssd);
        memcpy(ssd->thermal->heat.limit_k, kelvin,
               sizeof(ssd->thermal->heat.limit_k));
        set_level(ssd, &ssd->thermal->heat);
    }
}

uint32_t ssd_kelvin(const Ssd *ssd)
{
    const Heat *h = &ssd->thermal->heat;
    uint64_t k = ssd->cfg->ambient_c + ZERO_C_K;

    if (!ssd->thermal->heats) {
        return 0;
    }
    k += (ssd->now_ps < h->next_ps ? h->rise_nk : thermal_now(ssd).rise_nk) /
         NK_PER_K;
    return (uint32_t)MIN(k, UINT16_MAX);
}

bool ssd_heat(const Ssd *ssd, SsdHeat *heat)
{
    Heat h = thermal_now(ssd);

    *heat = (SsdHeat){
        .kelvin = ssd_kelvin(ssd),
        .warning_k = ssd->cfg->warning_c + ZERO_C_K,
        .critical_k = ssd->cfg->critical_c + ZERO_C_K,
        .warning_ns = (uint64_t)(h.sums.warning_ps / PS_PER_NS),
        .critical_ns = (uint64_t)(h.sums.critical_ps / PS_PER_NS),
    };
    for (unsigned i = 0; i < THERMAL_LEVELS; i++) {
        heat->n_managed[i] = h.n_managed[i];
        heat->managed_ns[i] = (uint64_t)(h.managed_ps[i] / PS_PER_NS);
    }
    return ssd->thermal->heats;
}
