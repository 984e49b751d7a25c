/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of thermal/. */
#include "check.h"
#include "component.h"
#include "thermal/thermal.h"

static bool create(Ssd *ssd, GError **error)
{
    (void)error;
    thermal_init(ssd);
    return true;
}

static void power_settled(Ssd *ssd)
{
    thermal_power(ssd, false);
}

static void power_on(Ssd *ssd)
{
    thermal_power(ssd, true);
}

/* ---- saved state --------------------------------------------------------- */

static const StateRow thermal_rows[] = {
    STATE_UNSAVED_ROW(Thermal, on),       STATE_UNSAVED_ROW(Thermal, heats),
    STATE_UNSAVED_ROW(Thermal, n_states), STATE_UNSAVED_ROW(Thermal, table),
    STATE_UNSAVED_ROW(Thermal, step_ps),  STATE_UNSAVED_ROW(Thermal, decay),
    STATE_UNSAVED_ROW(Thermal, mk_per_w), STATE_VALUE_ROW(Thermal, heat),
};

static const StateStruct thermal_struct = STATE_STRUCT(Thermal, thermal_rows);

static const StateStruct *rows(unsigned i)
{
    static const StateStruct *const all[] = {&thermal_struct};

    return i < G_N_ELEMENTS(all) ? all[i] : NULL;
}

static bool state(Ssd *ssd, State *s)
{
    if (!s->loading && ssd->thermal->on) {
        thermal_steps(ssd); /* those that are over go by the present options */
    }
    if (!state_values(s, &thermal_struct, ssd->thermal) ||
        !state_tables(s, &thermal_struct, ssd->thermal, NULL)) {
        return false;
    }
    if (s->loading) {
        thermal_loaded(ssd);
    }
    return true;
}

/* ---- check --------------------------------------------------------------- */

static bool check(const Ssd *ssd, bool at_rest, GError **error)
{
    const Heat *h = &ssd->thermal->heat;
    uint64_t most_ps = ssd->now_ps + MOST_BUSY_PS;

    if (!at_rest) {
        return true;
    }
    /* thermal_loaded() has looked at the states. */
    CHECK(h->state_since_ps <= most_ps && h->idle_since_ps <= ssd->now_ps &&
              h->charged_ps <= ssd->now_ps && h->next_ps >= h->charged_ps &&
              h->off <= 1 && h->by_host <= 1,
          "a time of the power states");
    CHECK(!ssd->thermal->on ||
              h->next_ps - h->charged_ps <= ssd->thermal->step_ps,
          "a time of the temperature");
    CHECK(h->rise_nk <= HEAT_MOST_NK && h->most_rise_nk <= HEAT_MOST_NK &&
              h->level <= THERMAL_LEVELS && h->limit_k[0] <= UINT16_MAX &&
              h->limit_k[1] <= UINT16_MAX && h->controller_fj < 1000000,
          "the temperature");
    for (unsigned i = 0; i < THERMAL_STATES; i++) {
        CHECK(h->rule[i].after_ps <= MOST_BUSY_PS * 24, "a power state");
    }
    return true;
}

/* ---- the table ----------------------------------------------------------- */

const Component thermal_component = {
    .create = create,
    .power_settled = power_settled,
    .power_on = power_on,
    .reset_stats = thermal_reset_peak,
    .rows = rows,
    .state = state,
    .check = check,
};
