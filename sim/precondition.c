/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * precondition.c - fill, then random overwrites until nothing changes.
 *
 * A large drive is laid out as copies of a small one that was treated so
 * (ssd_model()), then a part of it is overwritten: what the copies had in
 * common, as how far their open blocks are filled, becomes different.
 */
#include "precondition.h"

#include <math.h>

#include "prng.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "workload.h"

#define PURPOSE_PRECONDITION 0x7072652d636f6e64ULL

#define BATCH 1024
#define MOST_CAPACITIES 40
#define TOLERANCE 0.005

/* Units of a drive that takes longer to play than to lay out. */
#define LARGE_UNITS         (1ULL << 22)
/* Of its units so many are overwritten then. */
#define OVERWRITTEN_PERCENT 2

/* Write amplification is taken over windows of half a capacity; two capacities
 * are compared with the two before. */
#define WINDOWS_COMPARED 4
#define LEAST_WINDOWS    (2 * WINDOWS_COMPARED)

typedef struct Run {
    Ssd *ssd;
    uint64_t n_units; /* of the drive */
    uint64_t unit_bytes;
    Prng rng;
    uint64_t lpn[BATCH];
    uint64_t done;
    Progress *progress;
    GError **error;
} Run;

static bool put(Run *r, uint64_t n)
{
    int ret = ssd_age(r->ssd, r->lpn, n);

    if (ret < 0) {
        g_set_error(r->error, SIM_ERROR, SIM_ERROR_DRIVE,
                    "preconditioning: the drive refused a write after %"
                    G_GUINT64_FORMAT " units: %s", r->done, g_strerror(-ret));
        return false;
    }
    r->done += n;
    progress_add(r->progress, n);
    return true;
}

static bool fill(Run *r)
{
    for (uint64_t at = 0; at < r->n_units;) {
        uint64_t n = MIN(BATCH, r->n_units - at);

        for (uint64_t i = 0; i < n; i++) {
            r->lpn[i] = at++;
        }
        if (!put(r, n)) {
            return false;
        }
    }
    return true;
}

static bool overwrite(Run *r, uint64_t left)
{
    while (left > 0) {
        uint64_t n = MIN(BATCH, left);

        for (uint64_t i = 0; i < n; i++) {
            r->lpn[i] = prng_below(&r->rng, r->n_units);
        }
        if (!put(r, n)) {
            return false;
        }
        left -= n;
    }
    return true;
}

static uint64_t nand_bytes(const Run *r)
{
    SsdCounters c;

    ssd_get_counters(r->ssd, &c);
    return c.nand_bytes_written;
}

/* Of WINDOWS_COMPARED windows that end with the last. */
static double mean_waf(const double *waf, unsigned last)
{
    double sum = 0;

    for (unsigned i = 0; i < WINDOWS_COMPARED; i++) {
        sum += waf[last - i];
    }
    return sum / WINDOWS_COMPARED;
}

static bool settle(Run *r, Precondition *p)
{
    double waf[2 * MOST_CAPACITIES];
    uint64_t window = MAX(r->n_units / 2, 1);
    unsigned k;

    for (k = 0; k < G_N_ELEMENTS(waf) && !p->converged; k++) {
        uint64_t before = nand_bytes(r);

        if (k >= LEAST_WINDOWS) {
            progress_expect(r->progress, window);
        }
        if (!overwrite(r, window)) {
            return false;
        }
        waf[k] = (double)(nand_bytes(r) - before) /
                 (double)(window * r->unit_bytes);
        if (k + 1 >= LEAST_WINDOWS) {
            p->waf = mean_waf(waf, k);
            p->converged = fabs(p->waf - mean_waf(waf, k - WINDOWS_COMPARED)) <
                           TOLERANCE * p->waf;
        }
    }
    p->capacities = (double)k / 2;
    return true;
}

/* To the steady state, write by write. */
static bool play(Run *r, Precondition *p)
{
    const SsdInfo *info = ssd_info(r->ssd);

    progress_expect(r->progress,
                    r->n_units + LEAST_WINDOWS * MAX(r->n_units / 2, 1));
    if (!fill(r) || !settle(r, p)) {
        return false;
    }
    p->host_units = r->done;
    p->nand_pages = nand_bytes(r) / info->page_bytes;
    p->nand_units = nand_bytes(r) / info->unit_bytes;
    return true;
}

static Run run_of(Ssd *ssd, uint64_t seed, Progress *progress, GError **error)
{
    const SsdInfo *info = ssd_info(ssd);
    Run r = {
        .ssd = ssd,
        .n_units = info->nblocks * info->block_bytes / info->unit_bytes,
        .unit_bytes = info->unit_bytes,
        .progress = progress,
        .error = error,
    };

    prng_seed(&r.rng, seed, PURPOSE_PRECONDITION);
    ssd_reset_stats(ssd);
    ssd_expect_full(ssd);
    return r;
}

/* The drive as copies of its model, which has been played. */
static bool lay_out(Run *r, const Run *model, Precondition *p)
{
    int ret = ssd_age_as(r->ssd, model->ssd);

    if (ret < 0) {
        g_set_error(r->error, SIM_ERROR, SIM_ERROR_DRIVE,
                    "preconditioning: the drive cannot be laid out: %s",
                    g_strerror(-ret));
        return false;
    }
    p->model_part = (double)model->n_units / (double)r->n_units;
    p->overwritten_percent = OVERWRITTEN_PERCENT;
    progress_expect(r->progress, r->n_units * OVERWRITTEN_PERCENT / 100);
    return overwrite(r, r->n_units * OVERWRITTEN_PERCENT / 100);
}

bool precondition(Ssd *ssd, uint64_t seed, Precondition *result,
                  Progress *progress, GError **error)
{
    Run r = run_of(ssd, seed, progress, error);
    Ssd *model = r.n_units >= LARGE_UNITS ? ssd_model(ssd) : NULL;
    bool ok;

    *result = (Precondition){.waf = 0};
    if (model) {
        Run m = run_of(model, seed, progress, error);

        ok = play(&m, result) && lay_out(&r, &m, result);
        ssd_destroy(model);
    } else {
        ok = play(&r, result);
    }
    ssd_reset_stats(ssd);
    return ok;
}
