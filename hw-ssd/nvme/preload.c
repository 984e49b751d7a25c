/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * preload.c - data that an image holds when the drive gets it: it is on the
 * drive, as if written long ago.
 *
 * Knows ranges of blocks; the front ends know what their images hold.
 */
#include <errno.h>

#include "nvme-internal.h"
#include "namespace/namespace.h"
#include "simtime.h"
#include "ssd-save.h"

#define AGE_BATCH 1024

static int age(Ssd *ssd, const uint64_t *lpn, uint64_t n)
{
    int ret = n > 0 ? ssd_age(ssd, lpn, n) : 0;

    if (ret == -EBUSY && ssd_rest(ssd, 10 * NS_PER_S)) {
        ret = ssd_age(ssd, lpn, n);
    }
    return ret;
}

/* A drive that is not new may hold them already; the others were written to the
 * image without the drive. */
static int hold(Ssd *ssd, uint64_t first, uint64_t n)
{
    const SsdInfo *info = ssd_info(ssd);
    uint64_t per_unit = info->unit_bytes / info->block_bytes;
    uint64_t lpn[AGE_BATCH];
    unsigned k = 0;
    int ret = 0;

    if (ssd_last_version(ssd) == 0 && ssd_now_ns(ssd) == 0) {
        return ssd_preload(ssd, first, n);
    }
    for (uint64_t u = first / per_unit;
         u <= (first + n - 1) / per_unit && ret == 0; u++) {
        if (!ssd_mapped(ssd, u * per_unit, NULL)) {
            lpn[k++] = u;
        }
        if (k == AGE_BATCH) {
            ret = age(ssd, lpn, k);
            k = 0;
        }
    }
    return ret < 0 ? ret : age(ssd, lpn, k);
}

void nvme_preloaded(NvmeCtrl *ctrl, uint64_t lba, uint64_t nblocks)
{
    /* ssd_age() gives the blocks versions of its own. */
    ctrl->sub->next_version = ssd_last_version(ctrl->ssd);
    nvme_ns_preloaded(ctrl, lba, nblocks);
}

int nvme_preload(NvmeCtrl *ctrl, uint64_t lba, uint64_t nblocks)
{
    int ret = hold(ctrl->ssd, lba, nblocks);

    nvme_preloaded(ctrl, lba, nblocks);
    return ret;
}
