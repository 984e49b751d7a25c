/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timestamp.c - the controller's clock as the host has set it (Base 1.4,
 * section 5.21.1.14, Timestamp).
 */
#include "nvme-internal.h"
#include "health/timestamp.h"

#include "simtime.h"

#define ORIGIN_SET_FEATURES 1

void nvme_timestamp(const NvmeCtrl *ctrl, NvmeTimestamp *data)
{
    uint64_t ms = nvme_le64(
        ctrl->features.timestamp_ms +
        (ctrl->sub->now_ns - ctrl->features.timestamp_at_ns) / NS_PER_MS);

    *data = (NvmeTimestamp){
        .attributes =
            ctrl->features.timestamp_set ? ORIGIN_SET_FEATURES << 1 : 0,
    };
    memcpy(data->ms, &ms, sizeof(data->ms));
}

void nvme_timestamp_set(NvmeCtrl *ctrl, const NvmeTimestamp *data)
{
    uint64_t ms = 0;

    memcpy(&ms, data->ms, sizeof(data->ms));
    ctrl->features.timestamp_ms = nvme_le64(ms);
    ctrl->features.timestamp_at_ns = ctrl->sub->now_ns;
    ctrl->features.timestamp_set = true;
}

void nvme_timestamp_reset(NvmeCtrl *ctrl)
{
    ctrl->features.timestamp_set = false;
    ctrl->features.timestamp_ms = 0;
    ctrl->features.timestamp_at_ns = ctrl->sub->now_ns;
}
