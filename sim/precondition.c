/* SPDX-License-Identifier: GPL-2.0-or-later */
/* precondition.c - fill, then random overwrites until nothing changes. */
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

bool precondition(Ssd *ssd, uint64_t seed, Precondition *result,
                  Progress *progress, GError **error)
{
    const SsdInfo *info = ssd_info(ssd);
    Run r = {
        .ssd = ssd,
        .n_units = info->nblocks * info->block_bytes / info->unit_bytes,
        .unit_bytes = info->unit_bytes,
        .progress = progress,
        .error = error,
    };

    *result = (Precondition){.waf = 0};
    progress_expect(progress,
                    r.n_units + LEAST_WINDOWS * MAX(r.n_units / 2, 1));
    prng_seed(&r.rng, seed, PURPOSE_PRECONDITION);
    ssd_reset_stats(ssd);
    ssd_expect_full(ssd);
    if (!fill(&r) || !settle(&r, result)) {
        return false;
    }
    result->host_units = r.done;
    result->nand_pages = nand_bytes(&r) / info->page_bytes;
    result->nand_units = nand_bytes(&r) / info->unit_bytes;
    ssd_reset_stats(ssd);
    return true;
}
