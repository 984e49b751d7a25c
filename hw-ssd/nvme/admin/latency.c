/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latency.c - Predictable Latency Mode (Base 2.0, Predictable Latency Mode;
 * features 13h and 14h, log pages 0Ah and 0Bh).
 *
 * Knows the windows of the NVM set as the host sees them: limits of a
 * deterministic window (DTWIN), what is left of them, events.  The drive holds
 * its own work back, and says when it cannot (ssd-window.h).
 *
 * DTWIN ends by itself when its time is over, when the host has read as much as
 * is typical, when the drive has no more room, or when it has work that cannot
 * wait.  Reads count in units of 4 KiB, writes in those of the set's optimal
 * write size, a NAND page.
 */
#include "nvme-internal.h"
#include "health/events.h"
#include "admin/latency.h"
#include "memory/prp.h"

#include "simtime.h"
#include "ssd-window.h"

#define LIMITS 3 /* bits 0 to 2 of events warn of these */
enum { READS, WRITES, TIME };

#define EVENT_EXCEEDED  (1U << 14) /* DTWIN ended: a limit */
#define EVENT_EXCURSION (1U << 15) /* DTWIN ended: work that cannot wait */
#define EVENTS          (7U | EVENT_EXCEEDED | EVENT_EXCURSION)

/* Window Select, and Status of log page 0Ah. */
enum { WINDOW_NONE, WINDOW_DTWIN, WINDOW_NDWIN };

#define READ_BYTES 4096

bool nvme_has_latency(const NvmeCtrl *ctrl)
{
    SsdWindowPlan plan;

    ssd_window_plan(ctrl->ssd, &plan);
    return plan.window_ns > 0;
}

static unsigned window_of(const NvmeCtrl *ctrl)
{
    return !ctrl->sub->latency.on     ? WINDOW_NONE
           : ctrl->sub->latency.dtwin ? WINDOW_DTWIN
                                      : WINDOW_NDWIN;
}

/* ---- limits -------------------------------------------------------------- */

static void get_typical(const NvmeCtrl *ctrl, uint64_t most[LIMITS])
{
    SsdWindowPlan plan;

    ssd_window_plan(ctrl->ssd, &plan);
    most[READS] = plan.read_bytes / READ_BYTES;
    most[WRITES] = plan.write_bytes / ssd_info(ctrl->ssd)->page_bytes;
    most[TIME] = plan.window_ns / NS_PER_MS;
}

/* A window that ended, or is still to come, has all of its reads and time. */
static void get_estimates(const NvmeCtrl *ctrl, const SsdWindowState *state,
                          uint64_t left[LIMITS])
{
    const NvmeLatency *l = &ctrl->sub->latency;
    uint64_t reads, ms;

    get_typical(ctrl, left);
    left[WRITES] = state->room_bytes / ssd_info(ctrl->ssd)->page_bytes;
    if (l->dtwin) {
        reads = (state->read_bytes - MIN(l->read_bytes, state->read_bytes)) /
                READ_BYTES;
        ms = (ctrl->sub->now_ns - l->began_ns) / NS_PER_MS;
        left[READS] -= MIN(reads, left[READS]);
        left[TIME] -= MIN(ms, left[TIME]);
    }
}

/* ---- events -------------------------------------------------------------- */

/* The set comes to log page 0Bh with the first of them. */
static void note(NvmeCtrl *ctrl, unsigned event)
{
    NvmeLatency *l = &ctrl->sub->latency;
    bool first = l->events == 0;

    if (!(l->wanted & event)) {
        return;
    }
    l->events |= (uint16_t)event;
    if (first) {
        nvme_notice_all(ctrl->sub, NVME_NOTICE_LATENCY);
    }
}

static void warn(NvmeCtrl *ctrl, const uint64_t left[LIMITS])
{
    NvmeLatency *l = &ctrl->sub->latency;

    for (unsigned i = 0; i < LIMITS; i++) {
        if (left[i] < l->threshold[i] && !(l->warned >> i & 1)) {
            l->warned |= (uint8_t)(1U << i);
            note(ctrl, 1U << i);
        }
    }
}

static void leave(NvmeCtrl *ctrl, unsigned event)
{
    ctrl->sub->latency.dtwin = false;
    ssd_set_window(ctrl->ssd, ctrl->sub->now_ns, SSD_WINDOW_PREPARE);
    note(ctrl, event);
}

void nvme_latency_look(NvmeCtrl *ctrl)
{
    SsdWindowState state;
    uint64_t left[LIMITS];

    if (!ctrl->sub->latency.dtwin || !ctrl->sub->powered ||
        !ssd_powered(ctrl->ssd)) {
        return;
    }
    ssd_window_state(ctrl->ssd, &state);
    get_estimates(ctrl, &state, left);
    warn(ctrl, left);
    if (state.end == SSD_WINDOW_END_URGENT) {
        leave(ctrl, EVENT_EXCURSION);
    } else if (state.now != SSD_WINDOW_HOLD || !left[READS] || !left[TIME]) {
        leave(ctrl, EVENT_EXCEEDED);
    }
}

uint64_t nvme_latency_ns(const NvmeCtrl *ctrl)
{
    const NvmeLatency *l = &ctrl->sub->latency;
    uint64_t most[LIMITS], ms;

    if (!l->dtwin) {
        return SSD_TIME_NEVER;
    }
    get_typical(ctrl, most);
    ms = most[TIME];
    if (!(l->warned >> TIME & 1) && l->threshold[TIME]) {
        ms -= MIN(l->threshold[TIME] - 1, ms);
    }
    return l->began_ns + ms * NS_PER_MS;
}

/* ---- feature 13h --------------------------------------------------------- */

static bool is_set(const NvmeSqe *sqe)
{
    return (sqe->dw[11] & 0xffff) == NVME_ONLY_SET;
}

uint16_t nvme_latency_get_config(NvmeCtrl *ctrl, NvmeRequest *req,
                                 const NvmeSqe *sqe, bool current)
{
    NvmeLatencyConfig c = {0};

    if (!is_set(sqe)) {
        return NVME_SC_INVALID_FIELD;
    }
    req->dw0 = current && ctrl->sub->latency.on;
    if (current) {
        c.events = nvme_le16(ctrl->sub->latency.wanted);
        for (unsigned i = 0; i < LIMITS; i++) {
            c.threshold[i] = nvme_le64(ctrl->sub->latency.threshold[i]);
        }
    }
    return nvme_to_host(ctrl, sqe, &c, sizeof(c));
}

static void turn_off(NvmeCtrl *ctrl)
{
    if (ctrl->sub->latency.on) {
        ssd_set_window(ctrl->ssd, ctrl->sub->now_ns, SSD_WINDOW_NONE);
    }
    ctrl->sub->latency = (NvmeLatency){.on = false};
}

uint16_t nvme_latency_set_config(NvmeCtrl *ctrl, NvmeRequest *req,
                                 const NvmeSqe *sqe)
{
    NvmeLatency *l = &ctrl->sub->latency;
    bool on = sqe->dw[12] & 1;
    NvmeLatencyConfig c;
    uint16_t status;

    if (!is_set(sqe) || sqe->dw[12] & ~1U) {
        return NVME_SC_INVALID_FIELD;
    }
    status = nvme_from_host(ctrl, sqe, &c, sizeof(c));
    if (!status && nvme_le16(c.events) & ~EVENTS) {
        status = NVME_SC_INVALID_FIELD;
    }
    if (status) {
        return status;
    }
    if (!on) {
        turn_off(ctrl);
    } else if (!l->on) {
        ssd_set_window(ctrl->ssd, ctrl->sub->now_ns, SSD_WINDOW_PREPARE);
    }
    l->on = on;
    l->wanted = nvme_le16(c.events);
    l->warned = 0;
    for (unsigned i = 0; i < LIMITS; i++) {
        l->threshold[i] = nvme_le64(c.threshold[i]);
    }
    return 0;
}

/* ---- feature 14h --------------------------------------------------------- */

uint16_t nvme_latency_get_window(NvmeCtrl *ctrl, NvmeRequest *req,
                                 const NvmeSqe *sqe, bool current)
{
    if (!is_set(sqe)) {
        return NVME_SC_INVALID_FIELD;
    }
    req->dw0 = current ? window_of(ctrl) : WINDOW_NONE;
    return 0;
}

static void enter(NvmeCtrl *ctrl)
{
    NvmeLatency *l = &ctrl->sub->latency;
    SsdWindowState state;

    ssd_set_window(ctrl->ssd, ctrl->sub->now_ns, SSD_WINDOW_HOLD);
    ssd_window_state(ctrl->ssd, &state);
    l->dtwin = true;
    nvme_upkeep_wake(ctrl->sub);
    l->began_ns = ctrl->sub->now_ns;
    l->read_bytes = state.read_bytes;
    l->warned = 0;
}

/* A window that the set is in goes on. */
uint16_t nvme_latency_set_window(NvmeCtrl *ctrl, NvmeRequest *req,
                                 const NvmeSqe *sqe)
{
    uint32_t window = sqe->dw[12];

    if (!is_set(sqe) || (window != WINDOW_DTWIN && window != WINDOW_NDWIN)) {
        return NVME_SC_INVALID_FIELD;
    }
    if (!ctrl->sub->latency.on) {
        return NVME_SC_COMMAND_SEQUENCE;
    }
    if (window == WINDOW_DTWIN && !ctrl->sub->latency.dtwin) {
        enter(ctrl);
    } else if (window == WINDOW_NDWIN && ctrl->sub->latency.dtwin) {
        leave(ctrl, 0);
    }
    return 0;
}

/* The set's mode ends with the last controller that is enabled. */
void nvme_latency_reset(NvmeCtrl *ctrl)
{
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        if (c != ctrl && c->regs.cc & NVME_CC_EN) {
            return;
        }
    }
    turn_off(ctrl);
}

/* ---- log pages ----------------------------------------------------------- */

uint16_t nvme_latency_begin_log(NvmeCtrl *ctrl, const NvmeSqe *sqe, bool *only)
{
    return sqe->dw[11] >> 16 == NVME_ONLY_SET ? 0 : NVME_SC_INVALID_FIELD;
}

void nvme_fill_latency(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                       void *page)
{
    NvmeLatencyLog *log = page;
    uint64_t typical[LIMITS], left[LIMITS];
    SsdWindowState state;
    SsdWindowPlan plan;

    ssd_window_plan(ctrl->ssd, &plan);
    ssd_window_state(ctrl->ssd, &state);
    get_typical(ctrl, typical);
    get_estimates(ctrl, &state, left);
    log->status = (uint8_t)window_of(ctrl);
    log->events = nvme_le16(ctrl->sub->latency.events);
    for (unsigned k = 0; k < LIMITS; k++) {
        log->typical[k] = nvme_le64(typical[k]);
        log->estimate[k] = nvme_le64(left[k]);
    }
    log->ndwin_high = nvme_le64(plan.prepare_ns / NS_PER_MS + 1);
    log->ndwin_low = nvme_le64(plan.prepare_least_ns / NS_PER_MS + 1);
}

void nvme_fill_latency_events(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                              uint64_t i, void *page)
{
    NvmeLatencyEventsLog *log = page;

    if (ctrl->sub->latency.events) {
        log->n = nvme_le64(1);
        log->set[0] = nvme_le16(NVME_ONLY_SET);
    }
}

void nvme_latency_clear(NvmeCtrl *ctrl)
{
    ctrl->sub->latency.events = 0;
}

/* ---- loading ------------------------------------------------------------- */

bool nvme_latency_ok(const NvmeCtrl *ctrl)
{
    const NvmeLatency *l = &ctrl->sub->latency;

    return l->on <= 1 && l->dtwin <= l->on && !(l->events & ~EVENTS) &&
           !(l->wanted & ~EVENTS) && l->began_ns <= ctrl->sub->now_ns &&
           (!l->on || nvme_has_latency(ctrl));
}
