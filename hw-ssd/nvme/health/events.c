/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events.c - Asynchronous Event Requests (Base 1.4, section 5.2).
 *
 * An event waits for a request, a request for an event.  Once an event of a
 * type has been reported, that type is masked until the guest reads the log
 * page that goes with it, without Retain Asynchronous Event.  An event whose
 * page is read before there was a request for it is never reported.
 */
#include "nvme-internal.h"
#include "queue/error-log.h"
#include "health/events.h"
#include "health/health.h"
#include "ssd-report.h"
#include "queue/steps.h"

/* The log page to read, by type of event. */
static const uint8_t event_log_page[NVME_EVENT_TYPES] = {
    [NVME_EVENT_ERROR] = 0x01,
    [NVME_EVENT_SMART] = 0x02,
};

#define TYPE_NOTICE 2
#define TYPE_IO     6 /* I/O Command specific status */

/* Of a notice: type, information, its bit in feature 0Bh (ALWAYS: it has none),
 * log page to read. */
#define ALWAYS 0xff
static const struct {
    uint8_t type;
    uint8_t info;
    uint8_t bit;
    uint8_t lid;
} notices[NVME_N_NOTICES] = {
    [NVME_NOTICE_FIRMWARE] = {TYPE_NOTICE, 0x01, 9, 0x03},
    [NVME_NOTICE_TELEMETRY] = {TYPE_NOTICE, 0x02, 10, 0x08},
    [NVME_NOTICE_LATENCY] = {TYPE_NOTICE, 0x04, 12, 0x0b},
    [NVME_NOTICE_NAMESPACES] = {TYPE_NOTICE, 0x00, 8, 0x04},
    [NVME_NOTICE_SANITIZED] = {TYPE_IO, 0x01, ALWAYS, NVME_LOG_SANITIZE},
    [NVME_NOTICE_DEALLOCATED] = {TYPE_IO, 0x02, ALWAYS, NVME_LOG_SANITIZE},
    [NVME_NOTICE_LBA_STATUS] = {TYPE_NOTICE, 0x05, 13, NVME_LOG_LBA_STATUS},
    [NVME_NOTICE_ZONES] = {TYPE_NOTICE, 0xef, 27, 0xbf},
    [NVME_NOTICE_RESERVATION] = {TYPE_IO, 0x00, ALWAYS, NVME_LOG_RESERVATION},
};

/* There is a request, and the event waits for one. */
static bool may_report(const NvmeCtrl *ctrl, bool pending, bool masked)
{
    return ctrl->events.naer && pending && !masked;
}

static void report(NvmeCtrl *ctrl, uint32_t dw0, uint32_t dw1)
{
    NvmeRequest *req = ctrl->events.aer[0];

    ctrl->events.naer--;
    memmove(&ctrl->events.aer[0], &ctrl->events.aer[1],
            ctrl->events.naer * sizeof(req));
    req->waiting = false;
    req->dw0 = dw0;
    req->dw1 = dw1;
    nvme_request_complete(ctrl, req);
}

void nvme_deliver_events(NvmeCtrl *ctrl)
{
    NvmeEvents *e = &ctrl->events;

    for (unsigned type = 0; type < NVME_EVENT_TYPES; type++) {
        if (may_report(ctrl, e->pending[type], e->masked[type])) {
            e->pending[type] = false;
            e->masked[type] = true;
            report(ctrl,
                   type | (uint32_t)e->info[type] << 8 |
                       (uint32_t)event_log_page[type] << 16,
                   0);
        }
    }
    for (unsigned i = 0; i < NVME_N_NOTICES; i++) {
        if (may_report(ctrl, ctrl->notices.pending[i],
                       ctrl->notices.masked[i])) {
            ctrl->notices.pending[i] = false;
            ctrl->notices.masked[i] = true;
            report(ctrl,
                   notices[i].type | (uint32_t)notices[i].info << 8 |
                       (uint32_t)notices[i].lid << 16,
                   i == NVME_NOTICE_ZONES); /* NSID, of the only namespace */
        }
    }
}

void nvme_notice(NvmeCtrl *ctrl, unsigned notice)
{
    bool wanted =
        notices[notice].bit == ALWAYS ||
        ctrl->features.value[NVME_FEAT_EVENTS] >> notices[notice].bit & 1;

    if (wanted && !ctrl->notices.masked[notice]) {
        ctrl->notices.pending[notice] = true;
        nvme_deliver_events(ctrl);
    }
}

void nvme_notice_ns(NvmeSubsys *sub, uint32_t ctrls, uint32_t nsid)
{
    nvme_notify(&sub->first, NVME_TELL_NAMESPACE, nsid, 1);
    NVME_FOR_EACH_CTRL(sub, c)
    {
        if (ctrls >> c->index & 1) {
            c->changed_ns[(nsid - 1) / 64] |= 1ULL << (nsid - 1) % 64;
            nvme_notice(c, NVME_NOTICE_NAMESPACES);
        }
    }
}

void nvme_notice_all(NvmeSubsys *sub, unsigned notice)
{
    NVME_FOR_EACH_CTRL(sub, c)
    {
        nvme_notice(c, notice);
    }
}

void nvme_notice_clear(NvmeCtrl *ctrl, uint8_t lid)
{
    for (unsigned i = 0; i < NVME_N_NOTICES; i++) {
        if (notices[i].lid == lid) {
            ctrl->notices.pending[i] = false;
            ctrl->notices.masked[i] = false;
        }
    }
}

void nvme_events_reset(NvmeCtrl *ctrl)
{
    ctrl->events.warned = 0;
    memset(ctrl->events.pending, 0, sizeof(ctrl->events.pending));
    memset(ctrl->events.masked, 0, sizeof(ctrl->events.masked));
    memset(&ctrl->notices, 0, sizeof(ctrl->notices));
}

void nvme_events_forget(NvmeCtrl *ctrl)
{
    ctrl->events.naer = 0;
}

uint16_t nvme_async_event(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    if (ctrl->events.naer == NVME_AERL) {
        return NVME_SC_AER_LIMIT;
    }
    req->waiting = true;
    req->pending = 0;
    ctrl->events.aer[ctrl->events.naer++] = req;
    return 0;
}

void nvme_event(NvmeCtrl *ctrl, unsigned type, unsigned info)
{
    if (ctrl->events.pending[type] || ctrl->events.masked[type]) {
        return;
    }
    if (type == NVME_EVENT_ERROR) { /* it is to be found in its log */
        nvme_log_error(ctrl, 0xffff, NULL, NVME_SC_INVALID_FIELD);
    }
    ctrl->events.pending[type] = true;
    ctrl->events.info[type] = info;
    nvme_deliver_events(ctrl);
}

bool nvme_event_raw(NvmeCtrl *ctrl, uint32_t dw0)
{
    bool any = ctrl->events.naer > 0;

    if (any) {
        report(ctrl, dw0, 0);
    }
    return any;
}

void nvme_event_clear(NvmeCtrl *ctrl, unsigned type)
{
    ctrl->events.pending[type] = false;
    ctrl->events.masked[type] = false;
}

bool nvme_event_abort(NvmeCtrl *ctrl, NvmeRequest *req)
{
    for (unsigned i = 0; i < ctrl->events.naer; i++) {
        if (ctrl->events.aer[i] == req) {
            ctrl->events.naer--;
            memmove(&ctrl->events.aer[i], &ctrl->events.aer[i + 1],
                    (ctrl->events.naer - i) * sizeof(req));
            req->waiting = false;
            req->status = NVME_SC_ABORT_REQUESTED;
            nvme_request_complete(ctrl, req);
            return true;
        }
    }
    return false;
}

/* One event reports all: the log page has every warning. The event has the
 * type of the worst one. */
static unsigned smart_info(uint8_t warning)
{
    if (warning & (NVME_WARN_RELIABILITY | NVME_WARN_READ_ONLY)) {
        return NVME_EVENT_SMART_RELIABILITY;
    }
    return warning & NVME_WARN_SPARE ? NVME_EVENT_SMART_SPARE
                                     : NVME_EVENT_SMART_TEMPERATURE;
}

void nvme_check_health(NvmeCtrl *ctrl)
{
    uint8_t warning =
        nvme_critical_warning(ctrl) & ctrl->features.value[NVME_FEAT_EVENTS];
    uint8_t fresh = warning & ~ctrl->events.warned;

    ctrl->events.warned = warning;
    if (fresh) {
        nvme_event(ctrl, NVME_EVENT_SMART, smart_info(fresh));
    }
}

static void health_changed(NvmeCtrl *ctrl, uint64_t health)
{
    ctrl->events.health = health;
    nvme_check_health(ctrl);
    if (ssd_read_only(ctrl->ssd) && !ctrl->sub->told_read_only) {
        ctrl->sub->told_read_only = true;
        nvme_notify(ctrl, NVME_TELL_READ_ONLY, 0, 1);
    }
}

void nvme_look_at_health(NvmeSubsys *sub)
{
    uint64_t kelvin =
        sub->fault_kelvin ? sub->fault_kelvin : ssd_kelvin(sub->first.ssd);
    uint64_t health = ssd_health(sub->first.ssd) << 1 |
                      (payload_units_failed(sub->first.payload) != 0) |
                      kelvin << 48;

    NVME_FOR_EACH_CTRL(sub, c)
    {
        if (health != c->events.health) {
            health_changed(c, health);
        }
    }
}
