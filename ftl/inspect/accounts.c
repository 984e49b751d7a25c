/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accounts.c - where the array's time and energy went, since the last reset.
 *
 * Knows what is counted and when counting began; knows nothing of why an
 * operation was done but its cause.  Busy and idle of a resource add up to the
 * time elapsed; docs/results.md says what else adds up.
 */
#include "inspect/inspect.h"
#include "ssd-internal.h"

#include <string.h>

static const char *const cause_names[NAND_N_CAUSES] = {
#define CAUSE_NAME(upper, lower) [NAND_CAUSE_##upper] = #lower,
    NAND_CAUSES(CAUSE_NAME)
#undef CAUSE_NAME
};

/* ---- busy time ------------------------------------------------------------- */

static uint64_t *busy_new(const Ssd *ssd, NandBusy *b)
{
    const NandGeometry *g = ssd->geo;
    uint64_t *all = g_new0(uint64_t, g->n_channels + g->n_dies + g->n_planes);

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

static void busy_list(JsonWriter *w, const char *key, const uint64_t *ps,
                      uint32_t n)
{
    json_open(w, key, '[');
    for (uint32_t i = 0; i < n; i++) {
        json_u64(w, NULL, ps[i] / PS_PER_NS);
    }
    json_close(w, ']');
}

static double utilization(const uint64_t *busy_ps, uint32_t n,
                          uint64_t elapsed_ps)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        sum += (double)busy_ps[i];
    }
    return elapsed_ps ? sum / (double)elapsed_ps / n : 0;
}

/* Busy since the last reset; free it with g_free(b->channel). */
static void busy_since(const Ssd *ssd, NandBusy *b)
{
    const NandGeometry *g = ssd->geo;
    uint64_t *all = busy_new(ssd, b);

    nand_get_busy(ssd->nand, ssd->now_ps, b);
    if (ssd->inspect.busy_base) {
        for (uint32_t i = 0; i < g->n_channels + g->n_dies + g->n_planes; i++) {
            all[i] -= ssd->inspect.busy_base[i];
        }
    }
}

void ssd_utilization(const Ssd *ssd, double *bus, double *die)
{
    uint64_t elapsed_ps = ssd->now_ps - ssd->inspect.stats_since_ps;
    NandBusy busy;

    busy_since(ssd, &busy);
    *bus = utilization(busy.channel, ssd->geo->n_channels, elapsed_ps);
    *die = utilization(busy.die, ssd->geo->n_dies, elapsed_ps);
    g_free(busy.channel);
}

static void busy_json(const Ssd *ssd, JsonWriter *w)
{
    const NandGeometry *g = ssd->geo;
    uint64_t elapsed_ns =
        (ssd->now_ps - ssd->inspect.stats_since_ps) / PS_PER_NS;
    double bus;
    double die;
    NandBusy busy;

    busy_since(ssd, &busy);
    ssd_utilization(ssd, &bus, &die);
    json_double(w, "bus_utilization", bus);
    json_double(w, "die_utilization", die);
    json_open(w, "busy_ns", '{');
    busy_list(w, "channel", busy.channel, g->n_channels);
    busy_list(w, "die", busy.die, g->n_dies);
    busy_list(w, "plane", busy.plane, g->n_planes);
    json_close(w, '}');
    json_open(w, "die_idle_ns", '[');
    for (uint32_t i = 0; i < g->n_dies; i++) {
        json_u64(w, NULL, elapsed_ns - busy.die[i] / PS_PER_NS);
    }
    json_close(w, ']');
    json_u64(w, "elapsed_ns", elapsed_ns);
    g_free(busy.channel);
}

/* ---- time of operations ------------------------------------------------------ */

static void time_json(const Ssd *ssd, JsonWriter *w)
{
    const NandStats *s = nand_stats(ssd->nand);

    json_open(w, "time_ns", '{');
    for (int c = 0; c < NAND_N_CAUSES; c++) {
        json_open(w, cause_names[c], '{');
#define TIME_JSON(upper, lower)                                                \
    json_u64(w, #lower,                                                        \
             (s->time_ps[c][NAND_TIME_##upper] -                               \
              ssd->inspect.nand_base.time_ps[c][NAND_TIME_##upper]) /          \
                 PS_PER_NS);
        NAND_TIMES(TIME_JSON)
#undef TIME_JSON
        json_close(w, '}');
    }
    json_close(w, '}');
}

/* ---- energy -------------------------------------------------------------------- */

typedef struct Energy {
    double read, program, erase, bus; /* nJ */
} Energy;

static uint64_t ops_since(const Ssd *ssd, NandOpKind kind, int cause)
{
    return nand_stats(ssd->nand)->ops[kind][cause] -
           ssd->inspect.nand_base.ops[kind][cause];
}

/* Of the operations of a cause that have ended; a copyback reads a page and
 * programs one. */
static Energy energy_of(const Ssd *ssd, int cause)
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

static double total(const Energy *e)
{
    return e->read + e->program + e->erase + e->bus;
}

static void energy_json(const Ssd *ssd, JsonWriter *w)
{
    Energy sum = {0};

    json_open(w, "energy_nj", '{');
    json_open(w, "by_cause", '{');
    for (int c = 0; c < NAND_N_CAUSES; c++) {
        Energy e = energy_of(ssd, c);

        json_double(w, cause_names[c], total(&e));
        sum.read += e.read;
        sum.program += e.program;
        sum.erase += e.erase;
        sum.bus += e.bus;
    }
    json_close(w, '}');
    json_double(w, "read", sum.read);
    json_double(w, "program", sum.program);
    json_double(w, "erase", sum.erase);
    json_double(w, "bus", sum.bus);
    json_double(w, "total", total(&sum));
    json_close(w, '}');
}

void accounts_json(const Ssd *ssd, JsonWriter *w)
{
    busy_json(ssd, w);
    time_json(ssd, w);
    energy_json(ssd, w);
}
