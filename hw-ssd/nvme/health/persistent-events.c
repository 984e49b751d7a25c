/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * persistent-events.c - the Persistent Event log (Base 2.0, log page 0Dh).
 *
 * Events are kept without power, the newest 32 KiB of them.  The host reads a
 * reporting context: a copy of the log, which it establishes and releases.
 *
 * Knows the log; those who have an event know its data.
 */
#include "nvme-internal.h"
#include "health/health.h"
#include "health/persistent-events.h"
#include "queue/request.h"
#include "health/timestamp.h"

#include "simtime.h"

enum {
    READ = 0,
    ESTABLISH = 1,
    RELEASE = 2,
};

/* NVM Subsystem Hardware Error event: codes. */
#define CRITICAL_WARNING 0x06
#define UNSAFE_SHUTDOWN  0x08
#define MEDIA_STATUS     0x0a

/* ---- events -------------------------------------------------------------- */

static size_t event_bytes(const uint8_t *event)
{
    NvmePelEvent e;

    memcpy(&e, event, sizeof(e));
    return sizeof(e) + nvme_le16(e.el);
}

static void make_room(NvmeCtrl *ctrl, size_t n)
{
    NvmePersistentEvents *p = &ctrl->sub->pel;
    size_t drop = 0;

    while (p->bytes - drop + n > NVME_PEL_BYTES) {
        drop += event_bytes(ctrl->sub->pel_events + drop);
        p->n--;
    }
    p->bytes -= drop;
    memmove(ctrl->sub->pel_events, ctrl->sub->pel_events + drop, p->bytes);
}

void nvme_persistent_event(NvmeCtrl *ctrl, uint8_t type, const void *data,
                           size_t n)
{
    NvmePelEvent e = {
        .type = type,
        .revision = 1,
        .ehl = sizeof(e) - 3,
        .cntlid = nvme_le16(ctrl->cfg.cntlid),
        .el = nvme_le16((uint16_t)n),
    };

    nvme_timestamp(ctrl, &e.timestamp);
    make_room(ctrl, sizeof(e) + n);
    memcpy(ctrl->sub->pel_events + ctrl->sub->pel.bytes, &e, sizeof(e));
    memcpy(ctrl->sub->pel_events + ctrl->sub->pel.bytes + sizeof(e), data, n);
    ctrl->sub->pel.bytes += sizeof(e) + n;
    ctrl->sub->pel.n++;
}

static void hardware_event(NvmeCtrl *ctrl, uint16_t code, uint32_t info)
{
    NvmePelHardware e = {.code = nvme_le16(code), .info = nvme_le32(info)};

    nvme_persistent_event(ctrl, NVME_PEL_HARDWARE, &e, sizeof(e));
}

static void smart_event(NvmeCtrl *ctrl)
{
    static const NvmeSqe no_sqe;
    NvmeHealthLog h = {.critical_warning = 0};

    nvme_fill_health_log(ctrl, &no_sqe, 0, &h);
    nvme_persistent_event(ctrl, NVME_PEL_SMART, &h, sizeof(h));
}

void nvme_pel_ready(NvmeCtrl *ctrl)
{
    const NvmeFirmware *f = &ctrl->sub->firmware_store;
    NvmePelReset e = {
        .cntlid = nvme_le16(ctrl->cfg.cntlid),
        .power_cycle = nvme_le32((uint32_t)ctrl->sub->life.power_cycles),
        .power_on_ms = nvme_le64(ctrl->sub->now_ns / NS_PER_MS),
    };

    memcpy(e.revision, f->slot[f->active - 1].revision, sizeof(e.revision));
    nvme_timestamp(ctrl, &e.timestamp);
    nvme_persistent_event(ctrl, NVME_PEL_RESET, &e, sizeof(e));
    smart_event(ctrl);
}

void nvme_pel_unsafe_shutdown(NvmeCtrl *ctrl)
{
    hardware_event(ctrl, UNSAFE_SHUTDOWN, 0);
}

static void thermal_event(NvmeCtrl *ctrl)
{
    uint32_t k = nvme_kelvin(ctrl);
    uint32_t over = k - MIN(k, nvme_warning_k(ctrl));
    NvmePelThermal e = {.over = (uint8_t)MIN(over, UINT8_MAX)};

    nvme_persistent_event(ctrl, NVME_PEL_THERMAL, &e, sizeof(e));
}

static void look_at_warnings(NvmeCtrl *ctrl)
{
    uint8_t now = nvme_critical_warning(ctrl);
    uint8_t fresh = now & ~ctrl->sub->pel.warned;

    ctrl->sub->pel.warned = now;
    if (fresh & NVME_WARN_TEMPERATURE) {
        thermal_event(ctrl);
    }
    if (fresh & ~NVME_WARN_TEMPERATURE) {
        hardware_event(ctrl, CRITICAL_WARNING, now);
    }
    if (fresh) {
        smart_event(ctrl);
    }
}

void nvme_pel_note(NvmeCtrl *ctrl)
{
    NvmePersistentEvents *p = &ctrl->sub->pel;

    if (p->media_errors != ctrl->sub->life.media_errors) {
        p->media_errors = ctrl->sub->life.media_errors;
        hardware_event(ctrl, MEDIA_STATUS, 0);
    }
    if (p->health != ctrl->events.health) {
        p->health = ctrl->events.health;
        look_at_warnings(ctrl);
    }
}

/* ---- reporting contexts -------------------------------------------------- */

static void put_name(uint8_t *p, size_t n, const char *s)
{
    memset(p, ' ', n);
    memcpy(p, s, MIN(n, strlen(s)));
}

static void fill_header(NvmeCtrl *ctrl, NvmePelHeader *h)
{
    static const uint8_t types[] = {
        NVME_PEL_SMART,          NVME_PEL_FIRMWARE,     NVME_PEL_TIMESTAMP,
        NVME_PEL_RESET,          NVME_PEL_HARDWARE,     NVME_PEL_TELEMETRY,
        NVME_PEL_THERMAL,        NVME_PEL_FORMAT_START, NVME_PEL_FORMAT_END,
        NVME_PEL_SANITIZE_START, NVME_PEL_SANITIZE_END,
    };
    NvmeTimestamp now;

    nvme_timestamp(ctrl, &now);
    *h = (NvmePelHeader){
        .lid = 0x0d,
        .tnev = nvme_le32(ctrl->sub->pel.n),
        .tll = nvme_le64(ctrl->sub->pel.context_bytes),
        .rv = 1,
        .lhl = nvme_le16(sizeof(*h) - offsetof(NvmePelHeader, timestamp)),
        .poh = nvme_le128(ctrl->sub->now_ns / (3600 * NS_PER_S)),
        .pcc = nvme_le64(ctrl->sub->life.power_cycles),
        .vid = nvme_le16(ctrl->cfg.pci_vid),
        .ssvid = nvme_le16(ctrl->cfg.pci_ssvid),
        .generation = nvme_le16(ctrl->sub->pel.generation),
    };
    memcpy(&h->timestamp, &now, sizeof(now));
    put_name(h->sn, sizeof(h->sn), ctrl->cfg.serial);
    put_name(h->mn, sizeof(h->mn), ctrl->cfg.model);
    nvme_subnqn(ctrl, h->subnqn);
    for (unsigned i = 0; i < G_N_ELEMENTS(types); i++) {
        h->supported[types[i] / 8] |= (uint8_t)(1U << (types[i] % 8));
    }
    if (ctrl->sub->namespaces.managed) {
        h->supported[0] |= 1U << NVME_PEL_NAMESPACE;
    }
}

static void establish(NvmeCtrl *ctrl)
{
    NvmePelHeader h;

    ctrl->sub->pel.generation++;
    ctrl->sub->pel_owner = ctrl->index;
    ctrl->sub->pel.context_bytes = NVME_PEL_HEADER + ctrl->sub->pel.bytes;
    fill_header(ctrl, &h);
    memset(ctrl->sub->pel_context, 0, NVME_PEL_HEADER + NVME_PEL_BYTES);
    memcpy(ctrl->sub->pel_context, &h, sizeof(h));
    memcpy(ctrl->sub->pel_context + sizeof(h), ctrl->sub->pel_events,
           ctrl->sub->pel.bytes);
}

/* There is one context, of one controller. */
static bool has_context(const NvmeCtrl *ctrl)
{
    return ctrl->sub->pel.context_bytes && ctrl->sub->pel_owner == ctrl->index;
}

void nvme_pel_reset(NvmeCtrl *ctrl)
{
    if (has_context(ctrl)) {
        ctrl->sub->pel.context_bytes = 0;
    }
}

uint16_t nvme_pel_begin(NvmeCtrl *ctrl, const NvmeSqe *sqe, bool *only)
{
    unsigned action = sqe->dw[10] >> 8 & 3;

    if (action == RELEASE) {
        nvme_pel_reset(ctrl);
        *only = true;
        return 0;
    }
    if (action > RELEASE) {
        return NVME_SC_INVALID_FIELD;
    }
    if (action == READ ? !has_context(ctrl)
                       : ctrl->sub->pel.context_bytes != 0) {
        return NVME_SC_COMMAND_SEQUENCE;
    }
    if (action == ESTABLISH) {
        establish(ctrl);
    }
    return 0;
}

uint64_t nvme_pel_bytes(const NvmeCtrl *ctrl)
{
    return ctrl->sub->pel.context_bytes;
}

void nvme_fill_pel(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                   void *page)
{
    memcpy(page, ctrl->sub->pel_context + i * NVME_PEL_HEADER, NVME_PEL_HEADER);
}

bool nvme_pel_ok(const NvmeCtrl *ctrl)
{
    const NvmePersistentEvents *p = &ctrl->sub->pel;
    uint32_t at = 0;
    uint32_t n = 0;

    if (p->bytes > NVME_PEL_BYTES ||
        p->context_bytes > NVME_PEL_HEADER + NVME_PEL_BYTES) {
        return false;
    }
    while (at + sizeof(NvmePelEvent) <= p->bytes) {
        at += event_bytes(ctrl->sub->pel_events + at);
        n++;
    }
    return at == p->bytes && n == p->n;
}
