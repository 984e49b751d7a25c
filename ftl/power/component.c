/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of power/. */
#include "check.h"
#include "component.h"
#include "media/faulty.h"
#include "power/power.h"

static bool create(Ssd *ssd, GError **error)
{
    (void)error;
    recovery_init(ssd);
    return true;
}

static void power_on(Ssd *ssd)
{
    if (saves(ssd)) {
        faulty_arm(ssd);
        recovery_start(ssd);
    } else {
        power_ready(ssd);
    }
}

/* ---- saved state --------------------------------------------------------- */

enum {
    N_CANDIDATES,
    N_PLANES,
    N_STEPS, /* a bound only */
    N_COUNTS,
};

static const StateRow power_rows[] = {
    STATE_POOL_ROW(Power, candidate, N_CANDIDATES),
    STATE_VALUE_ROW(Power, recovery.on),
    STATE_VALUE_ROW(Power, recovery.pad),
    STATE_COUNT_ROW(Power, recovery.step, N_STEPS),
    STATE_NUMBER_ROW(Power, recovery.n_reads),
    STATE_NUMBER_ROW(Power, recovery.n),
    STATE_VALUE_ROW(Power, recovery.start_ps),
    STATE_VALUE_ROW(Power, recovery.step_start_ps),
    STATE_VALUE_ROW(Power, recovery.most_ready_ps),
    STATE_VALUE_ROW(Power, recovery.low),
    STATE_NUMBER_ROW(Power, recovery.n_candidates),
    STATE_VALUE_ROW(Power, recovery.times),
    STATE_VALUE_ROW(Power, recovery.waiting),
    STATE_VALUE_ROW(Power, recovery.cpu_free_ps),
    STATE_VALUE_ROW(Power, recovery.cpu_ps),
    STATE_TABLE_ROW(Power, recovery_plane, N_PLANES),
};

static const StateStruct power_struct = STATE_STRUCT(Power, power_rows);

static const StateStruct *rows(unsigned i)
{
    static const StateStruct *const all[] = {&power_struct};

    return i < G_N_ELEMENTS(all) ? all[i] : NULL;
}

static void count(const Ssd *ssd, uint64_t *n)
{
    n[N_CANDIDATES] = ssd->power->recovery.n_candidates;
    n[N_PLANES] = ssd->l.n_planes;
    n[N_STEPS] = RECOVERY_STEPS;
}

static bool state(Ssd *ssd, State *s)
{
    uint64_t counts[N_COUNTS];

    if (!state_values(s, &power_struct, ssd->power)) {
        return false;
    }
    count(ssd, counts);
    return state_tables(s, &power_struct, ssd->power, counts);
}

/* ---- check --------------------------------------------------------------- */

static bool check(const Ssd *ssd, bool at_rest, GError **error)
{
    const Recovery *r = &ssd->power->recovery;

    CHECK(!at_rest || !saves(ssd) ||
              (r->n_reads == 0 && r->n_candidates == 0 &&
               r->waiting.head == NONE),
          "the recovery");
    return true;
}

/* ---- the table ----------------------------------------------------------- */

const Component power_component = {
    .create = create,
    .destroy = recovery_destroy,
    .power_settled = recovery_power_lost,
    .power_on = power_on,
    .rows = rows,
    .state = state,
    .check = check,
};
