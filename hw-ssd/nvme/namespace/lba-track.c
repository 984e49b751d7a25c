/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lba-track.c - blocks that the controller knows it may not be able to read:
 * those of reads that have failed, and those that the host has made
 * uncorrectable.
 *
 * Ranges of the drive's blocks, in their order, disjoint, and as few as fit:
 * when the list is full, the first one goes.  A write or a trim takes blocks
 * out.
 */
#include "nvme-internal.h"
#include "namespace/lba-track.h"
#include "namespace/namespace.h"

static void remove_at(NvmeLbaTrack *t, uint32_t i)
{
    t->n--;
    memmove(&t->range[i], &t->range[i + 1], (t->n - i) * sizeof(t->range[0]));
}

static void insert_at(NvmeLbaTrack *t, uint32_t i, uint64_t lba, uint64_t end)
{
    if (t->n == NVME_LBA_RANGES) {
        remove_at(t, 0);
        i -= i > 0;
    }
    memmove(&t->range[i + 1], &t->range[i], (t->n - i) * sizeof(t->range[0]));
    t->range[i] = (NvmeLbaRange){lba, end};
    t->n++;
}

/* Ranges that touch become one within a namespace, where they touch, too. */
static bool joins(const NvmeCtrl *ctrl, const NvmeLbaRange *r, uint64_t lba,
                  uint64_t end)
{
    return (r->lba < end && lba < r->end) ||
           ((r->lba == end || r->end == lba) &&
            nvme_ns_of_drive(ctrl, r->lba) == nvme_ns_of_drive(ctrl, lba));
}

void nvme_lba_note(NvmeCtrl *ctrl, uint64_t lba, uint32_t nblocks)
{
    NvmeLbaTrack *t = &ctrl->sub->lba_track;
    uint64_t end = lba + nblocks;
    uint32_t i = 0;

    while (i < t->n && t->range[i].lba < end &&
           !joins(ctrl, &t->range[i], lba, end)) {
        i++;
    }
    if (i < t->n && t->range[i].lba <= lba && end <= t->range[i].end) {
        return; /* known */
    }
    while (i < t->n && joins(ctrl, &t->range[i], lba, end)) {
        lba = MIN(lba, t->range[i].lba);
        end = MAX(end, t->range[i].end);
        remove_at(t, i);
    }
    insert_at(t, i, lba, end);
    t->fresh = true;
    nvme_upkeep_wake(ctrl->sub);
}

void nvme_lba_forget_range(NvmeCtrl *ctrl, uint64_t lba, uint64_t nblocks)
{
    NvmeLbaTrack *t = &ctrl->sub->lba_track;
    uint64_t end = lba + nblocks;

    for (uint32_t i = 0; i < t->n;) {
        NvmeLbaRange r = t->range[i];

        if (r.end <= lba || r.lba >= end) {
            i++;
            continue;
        }
        remove_at(t, i);
        if (r.lba < lba) {
            insert_at(t, i++, r.lba, lba);
        }
        if (r.end > end) {
            insert_at(t, i++, end, r.end);
        }
    }
}

void nvme_lba_told(NvmeCtrl *ctrl)
{
    ctrl->sub->lba_track.fresh = false;
    ctrl->sub->lba_track.told_ns = ctrl->sub->now_ns;
    ctrl->sub->lba_track.generation++;
}

bool nvme_lba_track_ok(const NvmeCtrl *ctrl)
{
    const NvmeLbaTrack *t = &ctrl->sub->lba_track;

    if (t->n > NVME_LBA_RANGES || t->fresh > 1 ||
        t->told_ns > ctrl->sub->now_ns) {
        return false;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->range[i].lba >= t->range[i].end ||
            t->range[i].end > ssd_info(ctrl->ssd)->nblocks ||
            (i && t->range[i - 1].end > t->range[i].lba)) {
            return false;
        }
    }
    return true;
}
