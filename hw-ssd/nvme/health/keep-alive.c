/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keep-alive.c - the Keep Alive command and its timer (Base 2.0, Keep Alive;
 * feature 0Fh, Keep Alive Timer).
 *
 * Knows the timer.  It runs only once the host has set it: without Keep Alive
 * until its end, the controller takes no more commands and sets CSTS.CFS, until
 * it is reset.
 */
#include "nvme-internal.h"
#include "queue/error-log.h"
#include "health/keep-alive.h"
#include "registers/registers.h"

#include "simtime.h"

static uint64_t timeout_ns(const NvmeCtrl *ctrl)
{
    return ctrl->features.value[NVME_FEAT_KATO] * NS_PER_MS;
}

void nvme_keep_alive_start(NvmeCtrl *ctrl)
{
    ctrl->keep_alive_ns = timeout_ns(ctrl)
                              ? ctrl->sub->now_ns + timeout_ns(ctrl)
                              : SSD_TIME_NEVER;
    nvme_upkeep_wake(ctrl->sub);
}

uint16_t nvme_keep_alive(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    nvme_keep_alive_start(ctrl);
    return 0;
}

void nvme_keep_alive_look(NvmeCtrl *ctrl)
{
    if (ctrl->sub->now_ns < ctrl->keep_alive_ns) {
        return;
    }
    ctrl->keep_alive_ns = SSD_TIME_NEVER;
    if (nvme_running(ctrl)) {
        nvme_log_error(ctrl, 0xffff, NULL, NVME_SC_KEEP_ALIVE_EXPIRED);
        nvme_set_fatal(ctrl);
    }
}
