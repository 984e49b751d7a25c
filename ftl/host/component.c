/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of host/. */
#include "check.h"
#include "component.h"
#include "host/ahead.h"
#include "host/host.h"

static bool create(Ssd *ssd, GError **error)
{
    (void)error;
    ssd->commands.ops = &host_cmd_ops;
    ssd->host->done = IFIFO_EMPTY;
    ahead_init(ssd);
    return true;
}

/* Every command that has not ended fails. */
static void fail_commands(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->commands.n_cmds; i++) {
        Cmd *c = &ssd->commands.cmd[i];

        if (c->phase == CMD_SUBMITTED || c->phase == CMD_RUNNING ||
            c->phase == CMD_ENDING) {
            for (int k = 0; k < N_COSTS; k++) {
                c->cost_ps[k] = 0;
            }
            c->cost_ps[COST_firmware] = ssd->now_ps - c->submit_ps;
            cmd_finish(ssd, i, SSD_STATUS_POWER_LOSS);
        }
    }
}

static void power_dropped(Ssd *ssd)
{
    fail_commands(ssd);
    ahead_forget(ssd);
}

/* ---- saved state --------------------------------------------------------- */

enum {
    N_AHEAD_STREAMS,
    N_AHEAD_UNITS,
    N_AHEAD_WAITERS,
    N_COUNTS,
};

static const StateRow host_rows[] = {
    STATE_UNSAVED_ROW(HostPath, gate),
    STATE_VALUE_ROW(HostPath, done),
    STATE_UNSAVED_ROW(HostPath, ahead.n_streams),
    STATE_TABLE_ROW(HostPath, ahead.stream, N_AHEAD_STREAMS),
    STATE_TABLE_ROW(HostPath, ahead.unit, N_AHEAD_UNITS),
    STATE_POOL_ROW(HostPath, ahead.waiter, N_AHEAD_WAITERS),
    STATE_NUMBER_ROW(HostPath, ahead.n_waiters),
    STATE_LINK_ROW(HostPath, ahead.free_waiter, N_AHEAD_WAITERS),
    STATE_VALUE_ROW(HostPath, room_busy_ps),
    STATE_VALUE_ROW(HostPath, room_wait_ps),
    STATE_VALUE_ROW(HostPath, room_since_ps),
    STATE_VALUE_ROW(HostPath, gate_ps),
    STATE_VALUE_ROW(HostPath, pace_ps),
};

static const StateStruct host_struct = STATE_STRUCT(HostPath, host_rows);

static const StateStruct *rows(unsigned i)
{
    static const StateStruct *const all[] = {&host_struct};

    return i < G_N_ELEMENTS(all) ? all[i] : NULL;
}

static void count(const Ssd *ssd, uint64_t *n)
{
    n[N_AHEAD_STREAMS] = ssd->host->ahead.n_streams;
    n[N_AHEAD_UNITS] = (uint64_t)ssd->host->ahead.n_streams * ahead_window(ssd);
    n[N_AHEAD_WAITERS] = ssd->host->ahead.n_waiters;
}

static bool state(Ssd *ssd, State *s)
{
    uint64_t counts[N_COUNTS];

    if (!state_values(s, &host_struct, ssd->host)) {
        return false;
    }
    count(ssd, counts);
    return state_tables(s, &host_struct, ssd->host, counts);
}

/* ---- check --------------------------------------------------------------- */

static bool check(const Ssd *ssd, bool at_rest, GError **error)
{
    const Ahead *a = &ssd->host->ahead;

    if (at_rest) {
        CHECK(ssd->host->gate_ps <= ssd->now_ps + MOST_BUSY_PS,
              "a time of the power states");
        for (unsigned i = 0; i < N_PACES; i++) {
            CHECK(ssd->host->pace_ps[i] <= ssd->now_ps + MOST_BUSY_PS,
                  "a limit of commands");
        }
        CHECK_POOL(a->free_waiter, a->n_waiters, a->waiter, true);
        for (uint32_t i = 0; i < a->n_streams; i++) {
            CHECK(a->stream[i].loading == 0, "read-ahead");
        }
    }
    return ahead_check(ssd, error);
}

/* ---- the table ----------------------------------------------------------- */

const Component host_component = {
    .create = create,
    .destroy = ahead_destroy,
    .power_dropped = power_dropped,
    .power_settled = host_power_lost,
    .rows = rows,
    .state = state,
    .check = check,
};
