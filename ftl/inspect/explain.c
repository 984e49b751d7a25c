/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explain.c - the bottleneck of the drive: utilization of each stage, the time
 * that commands wait for it, and the one that is busiest.
 *
 * Knows the accounts of busy time that others keep; keeps none of its own, and
 * estimates nothing.  The drive is bound by a stage that works nearly all of
 * the time.  If none does, the host keeps too few commands in flight, and the
 * latency of each bounds the rate.
 */
#include "buffer/buffer.h"
#include "controller/controller-internal.h"
#include "inspect/explain.h"
#include "inspect/inspect.h"
#include "ssd-internal.h"

#include <string.h>

#define BUSY     0.75 /* of all servers of a stage: it bounds the drive */
#define BUSY_ONE 0.9  /* of one of them: that one does */

const char *stage_name(unsigned i)
{
    static const char *const names[] = {
#define STAGE_NAME(upper, lower, text) #lower,
        STAGES(STAGE_NAME)
#undef STAGE_NAME
    };

    return i < N_STAGES ? names[i] : NULL;
}

/* ---- the stages ---------------------------------------------------------- */

static double share(TimeSum ps, uint64_t servers, TimeSum elapsed_ps)
{
    double whole = (double)servers * (double)elapsed_ps;

    return whole > 0 ? MIN((double)ps / whole, 1) : 0;
}

static Stage server(TimeSum busy_ps, uint32_t servers, TimeSum elapsed_ps)
{
    double mean = share(busy_ps, servers, elapsed_ps);

    return (Stage){.servers = servers, .utilization = mean, .busiest = mean};
}

static Stage array_stage(const TimeSum *busy_ps, uint32_t n, TimeSum elapsed_ps)
{
    TimeSum sum_ps = 0;
    uint32_t most = 0;
    Stage s;

    for (uint32_t i = 0; i < n; i++) {
        sum_ps += busy_ps[i];
        most = busy_ps[i] > busy_ps[most] ? i : most;
    }
    s = server(sum_ps, n, elapsed_ps);
    s.busiest = share(busy_ps[most], 1, elapsed_ps);
    s.which = most;
    return s;
}

static void host_stages(Explain *e, const Ssd *ssd, TimeSum elapsed_ps)
{
    static const StageKind stage_of[N_HOST_PARTS] = {
        [HOST_LINK_IN] = STAGE_LINK_IN, [HOST_LINK_OUT] = STAGE_LINK_OUT,
        [HOST_CORES] = STAGE_CORES,     [HOST_DRAM] = STAGE_DRAM,
        [HOST_BUFFER] = STAGE_BUFFER,
    };
    const SsdConfig *cfg = ssd->cfg;
    uint32_t link = ssd->controller->link_den != 0;
    const uint32_t servers[N_HOST_PARTS] = {
        [HOST_LINK_IN] = link,
        [HOST_LINK_OUT] = link,
        [HOST_CORES] = cfg->cores ? cfg->cores + cfg->gc_core : 0,
        [HOST_DRAM] = ssd->controller->dram_unit_ps != 0,
        [HOST_BUFFER] = 1,
    };
    HostUse use = accounts_use(ssd);
    double n = (double)MAX(ssd->inspect.costs.n, 1);

    for (unsigned i = 0; i < N_HOST_PARTS; i++) {
        Stage *s = &e->stage[stage_of[i]];

        *s = server(use.busy_ps[i], servers[i], elapsed_ps);
        s->wait_ns = (double)use.wait_ps[i] / PS_PER_NS / n;
    }
}

static void array_stages(Explain *e, const Ssd *ssd, TimeSum elapsed_ps)
{
    const NandStats *now = nand_stats(ssd->nand);
    const NandStats *base = &ssd->inspect.nand_base;
    bool ecc = ssd->cfg->nand.t_ecc_ps != 0;
    NandBusy busy;

    accounts_busy(ssd, &busy);
    e->stage[STAGE_CHANNELS] =
        array_stage(busy.channel, ssd->geo->n_channels, elapsed_ps);
    e->stage[STAGE_DIES] = array_stage(busy.die, ssd->geo->n_dies, elapsed_ps);
    g_free(busy.channel);
    e->stage[STAGE_ECC] = server(now->ecc_busy_ps - base->ecc_busy_ps,
                                 ecc ? ssd->geo->n_channels : 0, elapsed_ps);
    e->stage[STAGE_CHANNELS].wait_ns = e->cost_ns[COST_bus_wait];
    e->stage[STAGE_DIES].wait_ns = e->cost_ns[COST_die_wait];
    e->stage[STAGE_ECC].wait_ns =
        (double)(now->ecc_wait_ps - base->ecc_wait_ps) / PS_PER_NS /
        (double)MAX(ssd->inspect.costs.n, 1);
}

/* Of the time in which operations hold dies: array and bus. */
static void work_by_cause(Explain *e, const Ssd *ssd)
{
    const NandStats *now = nand_stats(ssd->nand);
    const NandStats *base = &ssd->inspect.nand_base;
    double sum = 0;

    for (unsigned c = 0; c < NAND_N_CAUSES; c++) {
        e->work[c] = (double)(now->time_ps[c][NAND_TIME_CELL] -
                              base->time_ps[c][NAND_TIME_CELL] +
                              now->time_ps[c][NAND_TIME_BUS] -
                              base->time_ps[c][NAND_TIME_BUS]);
        sum += e->work[c];
    }
    for (unsigned c = 0; c < NAND_N_CAUSES && sum > 0; c++) {
        e->work[c] /= sum;
    }
}

static void latency_parts(Explain *e, const Ssd *ssd, TimeSum elapsed_ps)
{
    const CostSums *c = &ssd->inspect.costs;
    double n = (double)MAX(c->n, 1);

    for (unsigned i = 0; i < N_COSTS; i++) {
        e->cost_ns[i] = (double)c->ps[i] / PS_PER_NS / n;
        e->latency_ns += e->cost_ns[i];
    }
    e->in_flight = elapsed_ps ? e->latency_ns * (double)c->n * PS_PER_NS /
                                    (double)elapsed_ps
                              : 0;
}

/* ---- the verdict --------------------------------------------------------- */

/* The buffer serves nobody: a wait for room is a wait for dies. */
static bool is_server(unsigned stage)
{
    return stage != STAGE_BUFFER;
}

static StageKind busiest_stage(const Explain *e)
{
    unsigned best = 0;

    for (unsigned i = 1; i < N_STAGES; i++) {
        if (is_server(i) &&
            e->stage[i].utilization > e->stage[best].utilization) {
            best = i;
        }
    }
    return best;
}

static const char *verdict(const Explain *e)
{
    StageKind best = busiest_stage(e);

    if (e->stage[best].utilization >= BUSY) {
        return stage_name(best);
    }
    if (e->stage[STAGE_DIES].busiest >= BUSY_ONE) {
        return "one_die";
    }
    if (e->stage[STAGE_CHANNELS].busiest >= BUSY_ONE) {
        return "one_channel";
    }
    return e->stage[STAGE_BUFFER].utilization >= BUSY ? "buffer" : "latency";
}

void explain_init(Explain *e, const Ssd *ssd)
{
    TimeSum elapsed_ps = stats_elapsed_ps(ssd);

    *e = (Explain){.in_flight = 0};
    latency_parts(e, ssd, elapsed_ps);
    host_stages(e, ssd, elapsed_ps);
    array_stages(e, ssd, elapsed_ps);
    work_by_cause(e, ssd);
    e->bound_by = verdict(e);
}

/* ---- text ---------------------------------------------------------------- */

static const char *const stage_texts[] = {
#define STAGE_TEXT(upper, lower, text) text,
    STAGES(STAGE_TEXT)
#undef STAGE_TEXT
};

static const char *const cost_names[] = {
#define COST_NAME(name, help) #name,
    SSD_COSTS(COST_NAME)
#undef COST_NAME
};

static const char *const cause_names[] = {
#define CAUSE_NAME(upper, lower) #lower,
    NAND_CAUSES(CAUSE_NAME)
#undef CAUSE_NAME
};

/* The work of the dies that is not for the host. */
static void add_causes(const Explain *e, GString *out)
{
    const char *before = ", of that ";

    for (unsigned c = 0; c < NAND_N_CAUSES; c++) {
        if (c != NAND_CAUSE_HOST && e->work[c] >= 0.005) {
            g_string_append_printf(out, "%s%.0f %% %s", before,
                                   100 * e->work[c],
                                   c == NAND_CAUSE_GC ? "GC" : cause_names[c]);
            before = ", ";
        }
    }
}

static void add_latency(const Explain *e, GString *out)
{
    unsigned most = 0;

    for (unsigned i = 1; i < N_COSTS; i++) {
        most = e->cost_ns[i] > e->cost_ns[most] ? i : most;
    }
    g_string_append_printf(
        out,
        "bound by latency: %.1f commands in flight keep no stage busy; of "
        "%.1f us each, %.1f us are %s\n",
        e->in_flight, e->latency_ns / 1000, e->cost_ns[most] / 1000,
        cost_names[most]);
}

static void add_one(const Stage *s, const char *what, GString *out)
{
    g_string_append_printf(out,
                           "bound by one %s: %s %u is %.0f %% busy, the mean "
                           "is %.0f %%",
                           what, what, s->which, 100 * s->busiest,
                           100 * s->utilization);
}

static void add_verdict(const Explain *e, GString *out)
{
    StageKind best = busiest_stage(e);

    if (strcmp(e->bound_by, "latency") == 0) {
        add_latency(e, out);
        return;
    }
    if (strcmp(e->bound_by, "one_channel") == 0) {
        add_one(&e->stage[STAGE_CHANNELS], "channel", out);
    } else if (strcmp(e->bound_by, "one_die") == 0) {
        add_one(&e->stage[STAGE_DIES], "die", out);
        add_causes(e, out);
    } else if (strcmp(e->bound_by, "buffer") == 0) {
        g_string_append_printf(
            out,
            "bound by room in the buffer: a command waits for it in %.0f %% of "
            "the time, and nothing that empties it is always busy",
            100 * e->stage[STAGE_BUFFER].utilization);
    } else {
        g_string_append_printf(out, "bound by %s: %.0f %% busy",
                               stage_texts[best],
                               100 * e->stage[best].utilization);
        if (best == STAGE_DIES) {
            add_causes(e, out);
        }
    }
    g_string_append_c(out, '\n');
}

static void add_stage(const Explain *e, unsigned i, GString *out)
{
    const Stage *s = &e->stage[i];

    if (s->servers == 0) {
        g_string_append_printf(out, "  %-28s %8s %8s %8s\n", stage_texts[i],
                               "-", "-", "-");
        return;
    }
    g_string_append_printf(out, "  %-28s %8.1f %8.1f %8.1f", stage_texts[i],
                           100 * s->utilization, 100 * s->busiest,
                           s->wait_ns / 1000);
    if (i == STAGE_CHANNELS || i == STAGE_DIES) {
        g_string_append_printf(out, "  busiest: %u of %u", s->which,
                               s->servers);
    }
    g_string_append_c(out, '\n');
}

void ssd_explain_text(const Ssd *ssd, GString *out)
{
    Explain e;

    explain_init(&e, ssd);
    g_string_append_printf(out, "  %-28s %8s %8s %8s\n", "stage", "busy %",
                           "most %", "wait us");
    for (unsigned i = 0; i < N_STAGES; i++) {
        add_stage(&e, i, out);
    }
    add_verdict(&e, out);
}
