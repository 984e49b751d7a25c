/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of controller/. */
#include "check.h"
#include "component.h"
#include "controller/controller-private.h"
#include "controller/controller.h"

static bool create(Ssd *ssd, GError **error)
{
    (void)error;
    controller_init(ssd);
    return true;
}

/* ---- saved state --------------------------------------------------------- */

enum {
    N_CORES,
    N_COPIES,
    N_COUNTS,
};

static const StateRow controller_rows[] = {
    STATE_VALUE_ROW(Controller, link_in_ps),
    STATE_VALUE_ROW(Controller, link_out_ps),
    STATE_VALUE_ROW(Controller, dram_in_ps),
    STATE_VALUE_ROW(Controller, dram_free_ps),
    STATE_TABLE_ROW(Controller, core_ps, N_CORES),
    STATE_VALUE_ROW(Controller, gc_core_ps),
    STATE_POOL_ROW(Controller, copy, N_COPIES),
    STATE_NUMBER_ROW(Controller, n_copies),
    STATE_LINK_ROW(Controller, free_copy, N_COPIES),
    STATE_NUMBER_ROW(Controller, pending),
    STATE_UNSAVED_ROW(Controller, link_num),
    STATE_UNSAVED_ROW(Controller, link_den),
    STATE_UNSAVED_ROW(Controller, dram_unit_ps),
    STATE_UNSAVED_ROW(Controller, dram_move_ps),
    STATE_UNSAVED_ROW(Controller, dram_map_ps),
    STATE_VALUE_ROW(Controller, use),
};

static const StateStruct controller_struct =
    STATE_STRUCT(Controller, controller_rows);

static const StateStruct *rows(unsigned i)
{
    static const StateStruct *const all[] = {&controller_struct};

    return i < G_N_ELEMENTS(all) ? all[i] : NULL;
}

static void count(const Ssd *ssd, uint64_t *n)
{
    n[N_CORES] = MAX(ssd->cfg->cores, 1);
    n[N_COPIES] = ssd->controller->n_copies;
}

static bool state(Ssd *ssd, State *s)
{
    uint64_t counts[N_COUNTS];

    if (!state_values(s, &controller_struct, ssd->controller)) {
        return false;
    }
    count(ssd, counts);
    return state_tables(s, &controller_struct, ssd->controller, counts);
}

/* ---- check --------------------------------------------------------------- */

static bool check(const Ssd *ssd, bool at_rest, GError **error)
{
    const Controller *c = ssd->controller;
    uint64_t most_ps = ssd->now_ps + MOST_BUSY_PS;

    if (!at_rest) {
        return true;
    }
    CHECK(c->link_in_ps <= most_ps && c->link_out_ps <= most_ps &&
              c->dram_in_ps <= most_ps && c->dram_free_ps <= most_ps &&
              c->gc_core_ps <= most_ps,
          "a time");
    for (uint32_t i = 0; i < MAX(ssd->cfg->cores, 1); i++) {
        CHECK(c->core_ps[i] <= most_ps, "a time");
    }
    CHECK_POOL(c->free_copy, c->n_copies, c->copy, c->pending == 0);
    return true;
}

/* ---- the table ----------------------------------------------------------- */

static void options_changed(Ssd *ssd, const SsdConfig *before)
{
    (void)before;
    dram_init(ssd);
}

const Component controller_component = {
    .create = create,
    .destroy = controller_destroy,
    .options_changed = options_changed,
    .power_settled = controller_power_lost,
    .rows = rows,
    .state = state,
    .check = check,
};
