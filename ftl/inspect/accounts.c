/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accounts.c - where the time of the array and of the controller went, and the
 * array's energy, since the last reset.
 *
 * Knows the counters and their start; knows nothing of why an
 * operation was done but its cause.  Busy and idle of a resource add up to the
 * time elapsed; docs/results-drive.md has the other sums.
 */
#include "host/host.h"
#include "inspect/inspect.h"
#include "ssd-internal.h"
#include "ssd-report.h"

#include <string.h>

/* ---- busy time ----------------------------------------------------------- */

static TimeSum *busy_new(const Ssd *ssd, NandBusy *b)
{
    const NandGeometry *g = ssd->geo;
    TimeSum *all = g_new0(TimeSum, g->n_channels + g->n_dies + g->n_planes);

    *b = (NandBusy){
        .channel = all,
        .die = all + g->n_channels,
        .plane = all + g->n_channels + g->n_dies,
    };
    return all;
}

void accounts_reset(Ssd *ssd)
{
    NandBusy busy;

    g_free(ssd->inspect.busy_base);
    ssd->inspect.busy_base = busy_new(ssd, &busy);
    nand_get_busy(ssd->nand, ssd->now_ps, &busy);
}

static double utilization(const TimeSum *busy_ps, uint32_t n,
                          TimeSum elapsed_ps)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        sum += (double)busy_ps[i];
    }
    return elapsed_ps ? sum / (double)elapsed_ps / n : 0;
}

void accounts_busy(const Ssd *ssd, NandBusy *b)
{
    const NandGeometry *g = ssd->geo;
    TimeSum *all = busy_new(ssd, b);

    nand_get_busy(ssd->nand, ssd->now_ps, b);
    if (ssd->inspect.busy_base) {
        for (uint32_t i = 0; i < g->n_channels + g->n_dies + g->n_planes; i++) {
            all[i] -= ssd->inspect.busy_base[i];
        }
    }
}

void ssd_utilization(const Ssd *ssd, double *bus, double *die)
{
    TimeSum elapsed_ps = stats_elapsed_ps(ssd);
    NandBusy busy;

    accounts_busy(ssd, &busy);
    *bus = utilization(busy.channel, ssd->geo->n_channels, elapsed_ps);
    *die = utilization(busy.die, ssd->geo->n_dies, elapsed_ps);
    g_free(busy.channel);
}

static TimeSum since(TimeSum now_ps, TimeSum base_ps)
{
    return now_ps - MIN(now_ps, base_ps);
}

HostUse accounts_use(const Ssd *ssd)
{
    const HostUse *base = &ssd->inspect.use_base;
    HostUse u = host_use(ssd);

    for (unsigned i = 0; i < N_HOST_PARTS; i++) {
        u.busy_ps[i] = since(u.busy_ps[i], base->busy_ps[i]);
        u.wait_ps[i] = since(u.wait_ps[i], base->wait_ps[i]);
    }
    u.gc_busy_ps = since(u.gc_busy_ps, base->gc_busy_ps);
    return u;
}

/* ---- energy -------------------------------------------------------------- */

static uint64_t ops_since(const Ssd *ssd, NandOpKind kind, NandCause cause)
{
    invariant(kind < NAND_N_KINDS && cause < NAND_N_CAUSES);
    return nand_stats(ssd->nand)->ops[kind][cause] -
           ssd->inspect.nand_base.ops[kind][cause];
}

/* A copyback reads a page and programs one. */
Energy accounts_energy(const Ssd *ssd, NandCause cause)
{
    const NandConfig *c = &ssd->cfg->nand;
    uint64_t copies = ops_since(ssd, NAND_COPYBACK, cause);
    uint64_t reads = ops_since(ssd, NAND_READ, cause) + copies;
    uint64_t programs = ops_since(ssd, NAND_PROGRAM, cause) + copies;
    uint64_t bytes = nand_stats(ssd->nand)->bus_bytes[cause] -
                     ssd->inspect.nand_base.bus_bytes[cause];

    return (Energy){
        .read = (double)reads * (double)c->energy_read_nj,
        .program = (double)programs * (double)c->energy_program_nj,
        .erase = (double)ops_since(ssd, NAND_ERASE, cause) *
                 (double)c->energy_erase_nj,
        .bus = (double)bytes * (double)c->energy_bus_pj / 1000,
    };
}

double accounts_total(const Energy *e)
{
    return e->read + e->program + e->erase + e->bus;
}
