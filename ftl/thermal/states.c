/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * states.c - power states and the energy of the controller.
 *
 * A state takes commands, or is idle: then the drive leaves it with the next
 * command, which waits until the way into the state and out of it is over.  A
 * change of states is worked out when time has passed it (states_charge()), so
 * it takes no event.  NVM Express Base Specification 1.4, clauses 8.4 and
 * 5.21.1.12.
 *
 * Knows when commands begin and end; knows nothing of temperature.
 */
#include "thermal/states.h"

static const SsdPowerState *row(const Ssd *ssd, uint32_t state)
{
    return &ssd->thermal->table[state];
}

static bool takes_commands(const Ssd *ssd, uint32_t state)
{
    return ssd->thermal->n_states == 0 || !row(ssd, state)->idle;
}

/* ---- power --------------------------------------------------------------- */

/* In a state below the first the controller takes as much less as that state's
 * power is below the first one's. */
static uint64_t power_in(const Ssd *ssd, const Heat *h, uint32_t state)
{
    uint64_t mw =
        h->idle_since_ps == SIM_NEVER ? ssd->cfg->active_mw : ssd->cfg->idle_mw;

    if (!takes_commands(ssd, state)) {
        return row(ssd, state)->mw;
    }
    return state == 0 ? mw : mw * row(ssd, state)->mw / row(ssd, 0)->mw;
}

uint64_t states_mw(const Ssd *ssd, const Heat *h)
{
    if (h->off) {
        return 0;
    }
    return power_in(ssd, h,
                    h->charged_ps < h->state_since_ps ? h->from : h->state);
}

static void add_energy(Heat *h, unsigned __int128 fj)
{
    h->step_fj = (uint64_t)MIN(h->step_fj + fj, (unsigned __int128)UINT64_MAX);
    fj += h->controller_fj;
    h->sums.controller_nj += (uint64_t)(fj / 1000000);
    h->controller_fj = (uint64_t)(fj % 1000000);
}

/* ---- changes by themselves ---------------------------------------------- */

/* The rule of the present state; without the host's rules the drive goes from
 * each state to the next idle one. */
static IdleRule rule_of(const Ssd *ssd, const Heat *h)
{
    const Thermal *t = ssd->thermal;
    IdleRule own = {.after_ps = ssd->cfg->idle_after_ps, .state = h->state + 1};

    if (h->by_host) {
        return h->rule[h->state];
    }
    while (own.state < t->n_states && !t->table[own.state].idle) {
        own.state++;
    }
    own.after_ps = own.state < t->n_states ? own.after_ps : 0;
    return own;
}

static uint64_t rule_ps(const Ssd *ssd, const Heat *h)
{
    IdleRule rule;

    if (h->off || h->idle_since_ps == SIM_NEVER ||
        ssd->thermal->n_states == 0) {
        return SIM_NEVER;
    }
    rule = rule_of(ssd, h);
    return rule.after_ps
               ? MAX(h->idle_since_ps, h->state_since_ps) + rule.after_ps
               : SIM_NEVER;
}

uint64_t states_next_ps(const Ssd *ssd, const Heat *h)
{
    if (h->charged_ps < h->state_since_ps) {
        return h->state_since_ps;
    }
    return MAX(rule_ps(ssd, h), h->charged_ps);
}

static void enter(const Ssd *ssd, Heat *h, uint32_t state, uint64_t after_ps)
{
    h->from = h->charged_ps < h->state_since_ps ? h->from : h->state;
    h->state = state;
    h->state_since_ps = h->charged_ps + after_ps;
    if (takes_commands(ssd, state)) {
        h->operational = state;
    }
}

void states_charge(const Ssd *ssd, Heat *h, uint64_t until_ps)
{
    while (h->charged_ps < until_ps) {
        uint64_t next_ps = states_next_ps(ssd, h);
        uint64_t end_ps = MIN(until_ps, next_ps);
        uint64_t ps = end_ps - h->charged_ps;

        add_energy(h, (unsigned __int128)states_mw(ssd, h) * ps);
        h->sums.state_ps[h->state] += h->off ? 0 : ps;
        h->charged_ps = end_ps;
        if (rule_ps(ssd, h) <= end_ps && h->state_since_ps <= end_ps) {
            uint32_t state = rule_of(ssd, h).state;

            enter(ssd, h, state,
                  row(ssd, state)->entry_us * (PS_PER_NS * NS_PER_US));
        }
    }
}

/* ---- changes by others -------------------------------------------------- */

uint64_t states_wake(const Ssd *ssd, Heat *h)
{
    if (!takes_commands(ssd, h->state)) {
        uint64_t left_ps =
            h->state_since_ps - MIN(h->state_since_ps, h->charged_ps);

        enter(ssd, h, h->operational,
              left_ps + row(ssd, h->state)->exit_us * (PS_PER_NS * NS_PER_US));
        h->from = h->state; /* it works on its way up */
        h->sums.n_wakes++;
        h->sums.wake_ps += h->state_since_ps - h->charged_ps;
    }
    h->wanted = NONE;
    h->idle_since_ps = SIM_NEVER;
    return MAX(h->state_since_ps, h->charged_ps);
}

static void change(const Ssd *ssd, Heat *h, uint32_t state)
{
    if (state != h->state) {
        enter(ssd, h, state,
              (row(ssd, h->state)->exit_us + row(ssd, state)->entry_us) *
                  (PS_PER_NS * NS_PER_US));
    }
}

void states_quiet(const Ssd *ssd, Heat *h)
{
    h->idle_since_ps = h->charged_ps;
    if (h->wanted != NONE) {
        change(ssd, h, h->wanted);
        h->wanted = NONE;
    }
}

void states_set(const Ssd *ssd, Heat *h, uint32_t state)
{
    if (h->idle_since_ps == SIM_NEVER && !takes_commands(ssd, state)) {
        h->wanted = state;
    } else {
        h->wanted = NONE;
        change(ssd, h, state);
    }
}
