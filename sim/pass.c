/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pass.c - requests without time. */
#include "pass.h"

#include <errno.h>

#include "request.h"
#include "simtime.h"
#include "ssd-save.h"

/* Units that are written at once; the last page of them is filled up. */
#define BATCH 8192

/* Background work after a TRIM ends within this time. */
#define MOST_REST_NS (3600 * NS_PER_S)

struct Pass {
    Ssd *ssd;
    uint64_t blocks; /* of a unit */
    uint64_t lpn[BATCH];
    unsigned n;
};

Pass *pass_new(Ssd *ssd)
{
    const SsdInfo *info = ssd_info(ssd);
    Pass *p = g_new(Pass, 1);

    p->ssd = ssd;
    p->blocks = info->unit_bytes / info->block_bytes;
    p->n = 0;
    return p;
}

void pass_free(Pass *p)
{
    g_free(p);
}

static bool refused(int r, GError **error)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_DRIVE,
                r == -EBUSY ? "--window: the drive's buffer holds data from "
                              "before the run: %s"
                            : "--window: the drive takes no more: %s",
                g_strerror(-r));
    return false;
}

bool pass_end(Pass *p, GError **error)
{
    int r = p->n ? ssd_age(p->ssd, p->lpn, p->n) : 0;

    p->n = 0;
    return r == 0 || refused(r, error);
}

static bool take_write(Pass *p, const SsdCmd *cmd, GError **error)
{
    uint64_t last = (cmd->lba + cmd->nblocks - 1) / p->blocks;

    for (uint64_t lpn = cmd->lba / p->blocks; lpn <= last; lpn++) {
        if (p->n == BATCH && !pass_end(p, error)) {
            return false;
        }
        p->lpn[p->n++] = lpn;
    }
    return true;
}

static bool take_trim(Pass *p, const SsdCmd *cmd, GError **error)
{
    SsdCompletion done;
    uint64_t now_ns;
    int r;

    if (cmd->nblocks == 0) {
        return true;
    }
    if (!pass_end(p, error)) {
        return false;
    }
    now_ns = ssd_now_ns(p->ssd);
    r = ssd_submit(p->ssd, now_ns, cmd);
    while (r == 0 && ssd_advance(p->ssd, now_ns, &done, 1) == 0) {
        now_ns = ssd_next_event_ns(p->ssd);
    }
    return (r == 0 && ssd_rest(p->ssd, MOST_REST_NS)) || refused(r, error);
}

bool pass_take(Pass *p, const SsdCmd *cmd, GError **error)
{
    return cmd->op == SSD_OP_TRIM ? take_trim(p, cmd, error)
                                  : take_write(p, cmd, error);
}
