/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of host/. */
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

const Component host_component = {
    .create = create,
    .destroy = ahead_destroy,
    .power_dropped = power_dropped,
    .power_settled = host_power_lost,
};
