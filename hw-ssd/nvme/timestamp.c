/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timestamp.c - the controller's clock as the host has set it (clause 5.21.1.14).
 */
#include "nvme-internal.h"
#include "timestamp.h"

#define TIMESTAMP_BITS 48

void nvme_timestamp(const NvmeCtrl *ctrl, uint8_t *data)
{
    uint64_t ms = ctrl->timestamp_ms +
                  (ctrl->now_ns - ctrl->timestamp_at_ns) / 1000000;

    put_le64(data, ms & ((1ULL << TIMESTAMP_BITS) - 1));
    data[6] = ctrl->timestamp_set ? 1 << 1 : 0; /* origin */
}

void nvme_timestamp_set(NvmeCtrl *ctrl, const uint8_t *data)
{
    ctrl->timestamp_ms = get_le64(data) & ((1ULL << TIMESTAMP_BITS) - 1);
    ctrl->timestamp_at_ns = ctrl->now_ns;
    ctrl->timestamp_set = true;
}

void nvme_timestamp_reset(NvmeCtrl *ctrl)
{
    ctrl->timestamp_set = false;
    ctrl->timestamp_ms = 0;
    ctrl->timestamp_at_ns = ctrl->now_ns;
}
