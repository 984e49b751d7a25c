/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rest.c - bringing the controller to rest, so that it can be saved or moved.
 *
 * At rest every command that was fetched has its completion in guest memory,
 * but for Asynchronous Event Requests and for completions whose queue is full;
 * the store has all that the drive has programmed; and the drive is at rest.
 * Data in the drive's volatile buffer stays there, and its payload in the
 * overlay.
 *
 * Knows who may still have work to do; knows nothing of threads or saved
 * members (nvme-state.c).
 */
#include "nvme-internal.h"
#include "kv/kv-index.h"
#include "rest.h"
#include "ssd-save.h"

void nvme_hold(NvmeCtrl *ctrl, bool on)
{
    ctrl->sub->held = on;
    payload_hold(ctrl->payload, on);
}

static bool queues_at_rest(const NvmeCtrl *ctrl)
{
    for (unsigned i = 0; i < NVME_MAX_QUEUES; i++) {
        const NvmeSq *sq = &ctrl->queues.sq[i];

        for (const NvmeRequest *r = sq->list.sq_next;
             sq->live && r != &sq->list; r = r->sq_next) {
            if (!r->waiting && !r->posted) {
                return false;
            }
        }
    }
    return true;
}

static bool ctrls_at_rest(const NvmeSubsys *sub)
{
    NVME_FOR_EACH_CTRL(sub, c)
    {
        if (c->shutdown_req || c->lba_scan.command || !queues_at_rest(c)) {
            return false;
        }
    }
    return true;
}

bool nvme_at_rest(const NvmeCtrl *ctrl)
{
    return !ctrl->sub->slots.in_use && !ctrl->sub->requests.starved_first &&
           !ctrl->sub->erase_req && !ctrl->sub->drive_lost &&
           ctrls_at_rest(ctrl->sub) && nvme_kv_at_rest(ctrl->sub) &&
           payload_at_rest(ctrl->payload) && ssd_at_rest(ctrl->ssd);
}

NvmeSettled nvme_settle(NvmeCtrl *ctrl, uint64_t *now_ns, uint64_t end_ns)
{
    for (;;) {
        uint64_t at_ns = ssd_now_ns(ctrl->ssd);
        bool rested;

        while (nvme_run(ctrl, *now_ns)) {
        }
        if (nvme_at_rest(ctrl)) {
            return NVME_SETTLED;
        }
        if (nvme_store_in_flight(ctrl)) {
            return NVME_SETTLE_STORE;
        }
        if (ssd_at_rest(ctrl->ssd) || at_ns >= end_ns) {
            return NVME_SETTLE_NEVER;
        }
        rested = ssd_rest(ctrl->ssd, end_ns - at_ns);
        *now_ns = MAX(*now_ns, ssd_now_ns(ctrl->ssd)); /* either way */
        if (!rested && ssd_next_event_ns(ctrl->ssd) > end_ns) {
            return NVME_SETTLE_NEVER;
        }
    }
}
