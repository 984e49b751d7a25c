/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reset.c - disabling and resetting one controller, and what that does to the
 * secondary controllers of a primary (Base 2.1, 8.2.6, Virtualization
 * Enhancements).
 *
 * Knows what a reset ends and what it sets back; knows no registers but their
 * defaults, and not why a reset comes.
 */
#include "nvme-internal.h"
#include "health/events.h"
#include "memory/cmb.h"
#include "admin/firmware.h"
#include "admin/nvme-features.h"
#include "health/persistent-events.h"
#include "memory/pmr.h"
#include "queue/queue.h"
#include "registers/registers.h"
#include "admin/reset.h"
#include "reservation/reservation.h"
#include "admin/secondary.h"
#include "health/self-test.h"
#include "placement/streams.h"
#include "health/timestamp.h"

static void disable(NvmeCtrl *ctrl)
{
    bool ended = ctrl->regs.csts & NVME_CSTS_ST;
    uint32_t kept =
        NVME_CSTS_NSSRO | NVME_CSTS_ST | (ended ? NVME_CSTS_SHST_MASK : 0);

    nvme_self_test_reset(ctrl);
    nvme_pel_reset(ctrl);
    nvme_reservations_reset(ctrl);
    nvme_events_forget(ctrl); /* closing the queues frees the requests */
    nvme_queues_close(ctrl);
    ctrl->shutdown_req = ended ? ctrl->shutdown_req : NULL;
    ctrl->shutdown_waits &= ended;
    nvme_csts_clear(ctrl, ~kept);
    nvme_firmware_reset(ctrl, NVME_RESET_CONTROLLER);
    ctrl->enabling = false;
    nvme_regs_disable(ctrl);
    nvme_features_reset(ctrl);
    nvme_streams_reset(ctrl);
}

static void reset(NvmeCtrl *ctrl)
{
    nvme_csts_clear(ctrl, NVME_CSTS_ST);
    disable(ctrl);
    nvme_firmware_reset(ctrl, NVME_RESET_CONVENTIONAL);
    nvme_regs_reset(ctrl);
    nvme_cmb_reset(ctrl);
    nvme_pmr_reset(ctrl);
    nvme_timestamp_reset(ctrl);
    memset(ctrl->features.host_id, 0, sizeof(ctrl->features.host_id));
    ctrl->features.host_id_extended = false;
}

/* ---- secondary controllers ---------------------------------------------- */

void nvme_secondary_offline(NvmeSecondary *s)
{
    nvme_secondary_release(s);
    if (s->online) {
        s->online = false;
        s->ctrl->shutdown_clean = true;
        reset(s->ctrl);
    }
}

void nvme_secondary_online(NvmeSecondary *s)
{
    if (!s->online) {
        s->online = true;
        reset(s->ctrl);
        nvme_secondary_use(s);
    }
}

void nvme_secondaries_offline(NvmeSubsys *sub)
{
    for (unsigned i = 0; i < sub->virtualization.n; i++) {
        nvme_secondary_offline(&sub->virtualization.secondary[i]);
    }
}

/* ---- one controller, and those that depend on it ------------------------ */

void nvme_disable(NvmeCtrl *ctrl)
{
    disable(ctrl);
    if (ctrl == &ctrl->sub->first) {
        nvme_secondaries_offline(ctrl->sub);
    }
}

void nvme_reset(NvmeCtrl *ctrl, uint64_t now_ns)
{
    ctrl->sub->now_ns = MAX(now_ns, ctrl->sub->now_ns);
    reset(ctrl);
    if (ctrl == &ctrl->sub->first) {
        nvme_secondaries_offline(ctrl->sub);
        nvme_primary_apply(ctrl->sub);
    }
}
