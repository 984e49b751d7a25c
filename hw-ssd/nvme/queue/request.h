/* SPDX-License-Identifier: GPL-2.0-or-later */
/* request.h - the record of a command: memory, steps, buffers. */
#ifndef VSSD_NVME_REQUEST_H
#define VSSD_NVME_REQUEST_H

#include "rooms.h"
#if NVME_ROOM < ROOM_QUEUE
#error "hw-ssd/nvme/queue is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"

void nvme_requests_init(NvmeCtrl *ctrl);
/* Free those that are in use: the drive, or a barrier, would have ended them.
 */
void nvme_requests_free_used(NvmeCtrl *ctrl);
void nvme_requests_destroy(NvmeCtrl *ctrl); /* their memory, at the end */

NvmeRequest *nvme_request_new(NvmeCtrl *ctrl);
void nvme_request_free(NvmeCtrl *ctrl, NvmeRequest *req);

/* The command came through this queue. */
void nvme_request_link(NvmeSq *sq, NvmeRequest *req);

/* The room that asked for it (NvmeRequest.ends) hears of the end. */
static inline void nvme_request_tell_end(NvmeCtrl *ctrl, NvmeRequest *req)
{
    void (*ends)(NvmeCtrl *ctrl, NvmeRequest *req) = req->ends;

    if (G_UNLIKELY(ends)) {
        req->ends = NULL;
        ends(ctrl, req);
    }
}

/* Its reads of the payload: one for each piece. */
static inline PayloadRead *nvme_request_reads(NvmeRequest *req)
{
    return G_UNLIKELY(req->reads) ? req->reads : &req->rd;
}

/* Its queue goes away: it ends without a completion. */
void nvme_request_orphan(NvmeCtrl *ctrl, NvmeRequest *req);

/* Until it ends, fetch.c takes no other command that may change its range. */
void nvme_request_lock(NvmeCtrl *ctrl, NvmeRequest *req);

/* Of the drive's blocks; valid until the next one is added. */
NvmeStep *nvme_add_step(NvmeRequest *req, SsdOp op, uint64_t lba,
                        uint32_t nblocks);

/* Steps that the drive has not got will not be done. */
void nvme_request_cancel_steps(NvmeCtrl *ctrl, NvmeRequest *req);

/* Its data has been moved: give the buffers back. */
void nvme_request_put_bufs(NvmeCtrl *ctrl, NvmeRequest *req);

/* The command creates or deletes namespaces: until it ends no other one does.
 */
void nvme_ns_job_begin(NvmeRequest *req);
void nvme_ns_job_end(NvmeSubsys *sub);
/* It waits, as one part more, until the drive has no command of those that are
 * gone. */
void nvme_ns_job_wait(NvmeRequest *req);
void nvme_ns_job_drained(NvmeSubsys *sub);

/* For how long an I/O command was in flight (SMART: controller busy time). */
uint64_t nvme_busy_ns(const NvmeCtrl *ctrl);

/* The controller goes: its requests belong to another one, and nobody waits for
 * those that it has made for itself. */
void nvme_requests_pass(NvmeCtrl *from, NvmeCtrl *to);

#endif
