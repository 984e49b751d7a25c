/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * upkeep.c - periodic work of the controller in modelled time: the store frees
 * trimmed ranges, and gets refused data again; the host keeps the controller
 * alive; limits of zones end.
 *
 * Knows the times; the payload does the work.
 */
#include "nvme-internal.h"
#include "cmd-faults.h"
#include "erase/erase-job.h"
#include "admin/firmware.h"
#include "erase/format.h"
#include "health/keep-alive.h"
#include "admin/latency.h"
#include "admin/lba-status.h"
#include "erase/sanitize.h"
#include "health/self-test.h"
#include "upkeep.h"
#include "zone/zone-send.h"

#include "simtime.h"

#define HOUSEKEEP_NS   NS_PER_MS
#define RETRY_FIRST_NS (100 * NS_PER_MS)
#define RETRY_MOST_NS  (10 * NS_PER_S)

static bool is_time(const NvmeCtrl *ctrl, uint64_t at_ns)
{
    return at_ns == SSD_TIME_NEVER || ctrl->sub->now_ns >= at_ns;
}

/* First soon, then ever more rarely. */
static void retry(NvmeCtrl *ctrl)
{
    if (!payload_has_failed(ctrl->payload)) {
        if (!payload_store_in_flight(ctrl->payload)) { /* all is well again */
            ctrl->sub->upkeep.retry_wait_ns = 0;
        }
        ctrl->sub->upkeep.retry_ns = SSD_TIME_NEVER;
        return;
    }
    if (!is_time(ctrl, ctrl->sub->upkeep.retry_ns)) {
        return;
    }
    if (ctrl->sub->upkeep.retry_ns != SSD_TIME_NEVER && !ctrl->sub->held) {
        payload_probe(ctrl->payload);
    }
    ctrl->sub->upkeep.retry_wait_ns =
        ctrl->sub->upkeep.retry_wait_ns
            ? MIN(2 * ctrl->sub->upkeep.retry_wait_ns, RETRY_MOST_NS)
            : RETRY_FIRST_NS;
    ctrl->sub->upkeep.retry_ns =
        ctrl->sub->now_ns + ctrl->sub->upkeep.retry_wait_ns;
}

/* Is any other part at work?  With most hosts none is, most of the time. */
static bool others_work(const NvmeSubsys *sub)
{
    if (sub->activation || sub->activation_ns != SSD_TIME_NEVER ||
        sub->faults || nvme_zones_due_ns(sub) != SSD_TIME_NEVER ||
        sub->latency.dtwin || sub->lba_track.fresh ||
        nvme_erase_is_on(&sub->first)) {
        return true;
    }
    NVME_FOR_EACH_CTRL(sub, c)
    {
        if (c->keep_alive_ns != SSD_TIME_NEVER || c->self_test.code ||
            c->lba_scan.command) {
            return true;
        }
    }
    return false;
}

static bool look_at_others(NvmeCtrl *ctrl)
{
    bool any = false;

    if (!others_work(ctrl->sub)) {
        ctrl->sub->upkeep.idle = true;
        return false;
    }
    any |= nvme_firmware_look(ctrl);
    any |= nvme_faults_look(ctrl->sub);
    any |= nvme_zones_due_look(ctrl);
    nvme_latency_look(ctrl);
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        nvme_keep_alive_look(c);
        any |= nvme_self_test_look(c);
        any |= nvme_lba_status_look(c);
    }
    if (nvme_erase_is_on(ctrl)) {
        any |= nvme_erase_look(ctrl);
        any |= nvme_format_look(ctrl);
        any |= nvme_sanitize_look(ctrl);
    }
    return any;
}

static uint64_t others_ns(const NvmeCtrl *ctrl)
{
    uint64_t next_ns = MIN(ctrl->sub->activation_ns, nvme_erase_ns(ctrl));

    next_ns = MIN(next_ns, nvme_latency_ns(ctrl));
    next_ns = MIN(next_ns, nvme_faults_ns(ctrl->sub));
    next_ns = MIN(next_ns, nvme_zones_due_ns(ctrl->sub));
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        next_ns = MIN(next_ns, c->keep_alive_ns);
        next_ns = MIN(next_ns, nvme_self_test_ns(c));
        next_ns = MIN(next_ns, nvme_lba_status_ns(c));
    }
    return next_ns;
}

bool nvme_upkeep_work(NvmeCtrl *ctrl)
{
    NvmeUpkeep *u = &ctrl->sub->upkeep;
    bool any;

    if (is_time(ctrl, u->housekeep_ns)) {
        u->housekeep_ns = payload_housekeep(ctrl->payload)
                              ? ctrl->sub->now_ns + HOUSEKEEP_NS
                              : SSD_TIME_NEVER;
    }
    retry(ctrl);
    any = !u->idle && look_at_others(ctrl);
    u->quiet = u->idle && u->housekeep_ns == SSD_TIME_NEVER &&
               u->retry_ns == SSD_TIME_NEVER && !u->retry_wait_ns;
    return any;
}

uint64_t nvme_upkeep_ns(const NvmeCtrl *ctrl)
{
    uint64_t own_ns =
        MIN(ctrl->sub->upkeep.housekeep_ns, ctrl->sub->upkeep.retry_ns);

    return G_UNLIKELY(!ctrl->sub->upkeep.idle) ? MIN(own_ns, others_ns(ctrl))
                                               : own_ns;
}

bool nvme_housekeep(NvmeCtrl *ctrl)
{
    payload_hold(ctrl->payload, false);
    payload_housekeep(ctrl->payload);
    payload_hold(ctrl->payload, ctrl->sub->held);
    return payload_has_lazy(ctrl->payload);
}

uint64_t nvme_refused_bytes(const NvmeCtrl *ctrl)
{
    PayloadStats stats;

    payload_get_stats(ctrl->payload, &stats);
    return stats.units_failed * ssd_info(ctrl->ssd)->unit_bytes;
}

void nvme_retry(NvmeCtrl *ctrl)
{
    payload_retry(ctrl->payload);
}
