/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * erase-job.h - the one job that removes user data from the drive, for Format
 * NVM and Sanitize (erase-job.c).
 */
#ifndef VSSD_NVME_ERASE_JOB_H
#define VSSD_NVME_ERASE_JOB_H

#include "rooms.h"
#if NVME_ROOM < ROOM_ERASE
#error "hw-ssd/nvme/erase is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

static inline bool nvme_erase_is_on(const NvmeCtrl *ctrl)
{
    return ctrl->sub->erase.phase != NVME_ERASE_NONE;
}

/* Does the job format this namespace?  NVME_NSID_ALL: any. */
static inline bool nvme_is_formatting(const NvmeCtrl *ctrl, uint32_t nsid)
{
    const NvmeEraseJob *job = &ctrl->sub->erase;

    return job->phase != NVME_ERASE_NONE && !job->sanitize &&
           (job->nsid == nsid || job->nsid == NVME_NSID_ALL ||
            nsid == NVME_NSID_ALL);
}

/* Begin a job; there is none. */
void nvme_erase_start(NvmeCtrl *ctrl, const NvmeEraseJob *job);

/* Go on, if it can; true: something has happened.  When it is to be called
 * again, at the latest. */
bool nvme_erase_look(NvmeCtrl *ctrl);
uint64_t nvme_erase_ns(const NvmeCtrl *ctrl);

/* The share that is done, of 65536; never less than before. */
uint32_t nvme_erase_progress(const NvmeCtrl *ctrl);

/* Modelled time of an erase of all blocks, and of so many passes over them. */
uint64_t nvme_erase_estimate_ns(const NvmeCtrl *ctrl, bool purges,
                                unsigned passes);

/* The power has returned: an interrupted job goes on by itself. */
void nvme_erase_power_on(NvmeCtrl *ctrl);

/* Of a stream that was loaded. */
bool nvme_erase_ok(const NvmeCtrl *ctrl);

/*
 * erase-state.c: a format or a sanitize operation in progress, and the last one
 * that has ended, beside a saved drive; if there was one (kept-state.c).
 */
bool nvme_has_erasure(const NvmeCtrl *ctrl);
bool nvme_save_erasure(const NvmeCtrl *ctrl, FILE *out, GError **error);
bool nvme_load_erasure(NvmeCtrl *ctrl, FILE *in, GError **error);

#endif
