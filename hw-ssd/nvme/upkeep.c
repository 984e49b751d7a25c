/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * upkeep.c - what the controller does now and then, at its own pace in modelled
 * time: the store gets rid of what was trimmed.
 *
 * Knows when; what is done is the payload's business.
 */
#include "nvme-internal.h"

#include "simtime.h"

#define HOUSEKEEP_NS NS_PER_MS

void nvme_upkeep(NvmeCtrl *ctrl)
{
    bool more;

    if (ctrl->now_ns < ctrl->upkeep_ns && ctrl->upkeep_ns != SSD_TIME_NEVER) {
        return;
    }
    more = payload_housekeep(ctrl->payload);
    ctrl->upkeep_ns = more ? ctrl->now_ns + HOUSEKEEP_NS : SSD_TIME_NEVER;
}

bool nvme_housekeep(NvmeCtrl *ctrl)
{
    payload_hold(ctrl->payload, false);
    payload_housekeep(ctrl->payload);
    payload_hold(ctrl->payload, ctrl->held);
    return payload_has_lazy(ctrl->payload);
}
