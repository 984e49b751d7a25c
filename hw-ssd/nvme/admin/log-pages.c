/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log-pages.c - Get Log Page (Base 1.4, section 5.14).
 *
 * A page is a row of the table; offset, length, the end of the page and the
 * transfer are handled once, for all of them.
 */
#include "nvme-internal.h"
#include "placement/directives.h"
#include "admin/commands.h"
#include "queue/error-log.h"
#include "health/events.h"
#include "placement/fdp-events.h"
#include "placement/fdp-logs.h"
#include "admin/firmware.h"
#include "health/health.h"
#include "kv/kv.h"
#include "admin/latency.h"
#include "admin/log-pages.h"
#include "admin/lba-status.h"
#include "admin/log-vendor.h"
#include "namespace/namespace.h"
#include "admin/ns-admin.h"
#include "admin/nvme-features.h"
#include "health/persistent-events.h"
#include "memory/prp.h"
#include "reservation/reservation.h"
#include "erase/sanitize.h"
#include "health/self-test.h"
#include "admin/telemetry.h"
#include "vendor-log.h"
#include "zone/zone-report.h"
#include "zone-wire.h"

#define LOG_MAX_BYTES 4096 /* of an item */

/*
 * A page is an array of items of one size, each made when it is asked for, so
 * that a page may be larger than memory.  Most pages are one item.
 */
typedef struct LogPage {
    uint8_t id;
    const char *name;
    uint32_t bytes;                         /* of an item */
    uint64_t (*count)(const SsdInfo *info); /* of items; NULL: one */
    /* Fill item i, which is zeroed. */
    void (*fill)(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                 void *item);
    /* Optional: the page's bytes, at most that many; 0: not there yet. */
    uint64_t (*length)(const NvmeCtrl *ctrl);
    /* Optional: before it is read, or instead of that: *only is set. */
    uint16_t (*begin)(NvmeCtrl *ctrl, const NvmeSqe *sqe, bool *only);
    int event;  /* the type of events that reading it clears, or NONE */
    bool group; /* of the endurance group */
    bool fdp;   /* only with FDP */
    bool zoned; /* of one zoned namespace only */
    bool (*there)(const NvmeCtrl *ctrl); /* NULL: always */
    const char *help; /* after bytes, in docs/nvme-support.md */
} LogPage;

#define NONE (-1)

/* ---- commands supported and effects (05h, 13h) --------------------------- */

static uint32_t effects_of(const NvmeCtrl *ctrl, const NvmeCommand *c,
                           uint32_t scope)
{
    uint32_t effects = nvme_command_effects(ctrl, c);

    return nvme_le32(
        effects && !(effects & NVME_EFFECT_SCOPES) ? effects | scope : effects);
}

static void fill_effects(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                         void *page)
{
    bool kv = sqe->dw[14] >> 24 == 1 && ctrl->sub->namespaces.any_kv; /* CSI */
    const NvmeCommandTable *io = kv ? &nvme_kv_commands : ctrl->commands[0];
    const NvmeCommandTable *admin = ctrl->commands[1];
    bool zoned = sqe->dw[14] >> 24 == 2;
    NvmeEffectsLog *log = page;

    for (unsigned k = 0; k < admin->n; k++) {
        log->acs[admin->row[k].opcode] =
            effects_of(ctrl, &admin->row[k], NVME_EFFECT_SCOPE_CONTROLLER);
    }
    for (unsigned k = 0; k < io->n; k++) {
        if (io->row[k].effects & (zoned ? NVME_NOT_ZONED : NVME_ONLY_ZONED)) {
            continue; /* of the other command set */
        }
        log->iocs[io->row[k].opcode] =
            effects_of(ctrl, &io->row[k], NVME_EFFECT_SCOPE_NS);
    }
}

/* No command of the management interface is taken in band. */
static void fill_mi_effects(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                            uint64_t i, void *page)
{
}

static void fill_supported(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                           void *page);

/* ---- the table ---------------------------------------------------------- */

static const LogPage log_pages[] = {
    {.id = 0x00,
     .name = "Supported Log Pages",
     .bytes = sizeof(NvmeSupportedLogs),
     .fill = fill_supported,
     .event = NONE},
    {.id = 0x01,
     .name = "Error Information",
     .bytes = NVME_ERROR_ENTRIES * sizeof(NvmeErrorLogEntry),
     .fill = nvme_fill_error_log,
     .event = NVME_EVENT_ERROR},
    {.id = 0x02,
     .name = "SMART / Health Information",
     .bytes = sizeof(NvmeHealthLog),
     .fill = nvme_fill_health_log,
     .event = NVME_EVENT_SMART},
    {.id = 0x03,
     .name = "Firmware Slot Information",
     .bytes = sizeof(NvmeFirmwareLog),
     .fill = nvme_fill_firmware_log,
     .event = NONE},
    {.id = 0x04,
     .name = "Changed Namespace List (with namespaces=)",
     .bytes = sizeof(NvmeNamespaceList),
     .fill = nvme_ns_fill_changed,
     .event = NONE,
     .there = nvme_ns_managed},
    {.id = 0x05,
     .name = "Commands Supported and Effects",
     .bytes = sizeof(NvmeEffectsLog),
     .fill = fill_effects,
     .event = NONE},
    {.id = 0x06,
     .name = "Device Self-test",
     .bytes = sizeof(NvmeSelfTestLog),
     .fill = nvme_fill_self_test_log,
     .event = NONE},
    {.id = 0x07,
     .name = "Telemetry Host-Initiated",
     .bytes = NVME_TELEMETRY_BLOCK,
     .length = nvme_telemetry_host_bytes,
     .begin = nvme_telemetry_begin,
     .fill = nvme_fill_telemetry,
     .event = NONE,
     .help = " and blocks of three areas"},
    {.id = 0x08,
     .name = "Telemetry Controller-Initiated",
     .bytes = NVME_TELEMETRY_BLOCK,
     .length = nvme_telemetry_own_bytes,
     .begin = nvme_telemetry_begin,
     .fill = nvme_fill_telemetry,
     .event = NONE,
     .help = " and blocks of three areas"},
    {.id = 0x09,
     .name = "Endurance Group Information",
     .bytes = sizeof(NvmeEnduranceGroupLog),
     .fill = nvme_fdp_fill_group,
     .event = NONE,
     .group = true},
    {.id = NVME_LOG_LATENCY,
     .name = "Predictable Latency Per NVM Set (with latency.window)",
     .bytes = sizeof(NvmeLatencyLog),
     .begin = nvme_latency_begin_log,
     .fill = nvme_fill_latency,
     .event = NONE,
     .there = nvme_has_latency},
    {.id = 0x0b,
     .name = "Predictable Latency Event Aggregate (with latency.window)",
     .bytes = sizeof(NvmeLatencyEventsLog),
     .fill = nvme_fill_latency_events,
     .event = NONE,
     .there = nvme_has_latency},
    {.id = 0x0d,
     .name = "Persistent Event",
     .bytes = NVME_PEL_HEADER,
     .length = nvme_pel_bytes,
     .begin = nvme_pel_begin,
     .fill = nvme_fill_pel,
     .event = NONE,
     .help = " and events"},
    {.id = NVME_LOG_LBA_STATUS,
     .name = "LBA Status Information",
     .bytes = LOG_MAX_BYTES,
     .fill = nvme_fill_lba_status_log,
     .event = NONE},
    {.id = 0x12,
     .name = "Feature Identifiers Supported and Effects",
     .bytes = sizeof(NvmeFeatureEffectsLog),
     .fill = nvme_fill_feature_effects,
     .event = NONE},
    {.id = 0x13,
     .name = "NVMe-MI Commands Supported and Effects",
     .bytes = sizeof(NvmeMiEffectsLog),
     .fill = fill_mi_effects,
     .event = NONE},
    {.id = 0x20,
     .name = "FDP Configurations (with fdp.ruhs)",
     .bytes = NVME_FDP_CONFIGS_BYTES,
     .fill = nvme_fdp_fill_configs,
     .event = NONE,
     .group = true,
     .fdp = true},
    {.id = 0x21,
     .name = "Reclaim Unit Handle Usage (with fdp.ruhs)",
     .bytes = sizeof(NvmeFdpUsageHeader) + NVME_MAX_RUHS * sizeof(NvmeFdpUsage),
     .begin = nvme_fdp_begin_log,
     .fill = nvme_fdp_fill_usage,
     .event = NONE,
     .group = true,
     .fdp = true},
    {.id = 0x22,
     .name = "FDP Statistics (with fdp.ruhs)",
     .bytes = sizeof(NvmeFdpStatistics),
     .begin = nvme_fdp_begin_log,
     .fill = nvme_fdp_fill_statistics,
     .event = NONE,
     .group = true,
     .fdp = true},
    {.id = 0x23,
     .name = "FDP Events (with fdp.ruhs)",
     .bytes = sizeof(NvmeFdpEventsHeader) +
              NVME_FDP_EVENTS * sizeof(NvmeFdpEventEntry),
     .begin = nvme_fdp_begin_log,
     .fill = nvme_fdp_fill_events,
     .event = NONE,
     .group = true,
     .fdp = true},
    {.id = NVME_LOG_RESERVATION,
     .name = "Reservation Notification (with controllers=)",
     .bytes = sizeof(NvmeReservationLogPage),
     .fill = nvme_fill_reservation_log,
     .event = NONE,
     .there = nvme_has_reservations},
    {.id = NVME_LOG_SANITIZE,
     .name = "Sanitize Status",
     .bytes = sizeof(NvmeSanitizeLog),
     .fill = nvme_fill_sanitize_log,
     .event = NONE},
    {.id = 0xbf,
     .name = "Changed Zone List (with zones.enabled)",
     .bytes = sizeof(NvmeChangedZones),
     .fill = nvme_fill_changed_zones,
     .event = NONE,
     .zoned = true,
     .there = nvme_has_zones},
    {.id = VSSD_LOG_DRIVE,
     .name = "vssd: Drive and its counters",
     .bytes = sizeof(VssdLogDrive),
     .fill = nvme_vendor_fill_drive,
     .event = NONE},
    {.id = VSSD_LOG_STREAMS,
     .name = "vssd: Streams",
     .bytes = sizeof(VssdLogStream),
     .count = nvme_vendor_streams,
     .fill = nvme_vendor_fill_stream,
     .event = NONE,
     .help = " for each stream"},
    {.id = VSSD_LOG_PLACE,
     .name = "vssd: Places in NAND",
     .bytes = sizeof(VssdLogPlace),
     .count = nvme_vendor_units,
     .fill = nvme_vendor_fill_place,
     .event = NONE,
     .help = " for each mapping unit"},
};

static bool has_page(const NvmeCtrl *ctrl, const LogPage *log)
{
    return (!log->fdp || nvme_has_fdp(ctrl)) &&
           (!log->there || log->there(ctrl));
}

static const LogPage *find_page(const NvmeCtrl *ctrl, uint8_t id)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(log_pages); i++) {
        if (log_pages[i].id == id && has_page(ctrl, &log_pages[i])) {
            return &log_pages[i];
        }
    }
    return NULL;
}

/* Index offsets (IOS) are not supported: offsets are of bytes. */
static void fill_supported(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                           void *page)
{
    NvmeSupportedLogs *s = page;

    for (unsigned k = 0; k < G_N_ELEMENTS(log_pages); k++) {
        s->lid[log_pages[k].id] = nvme_le32(has_page(ctrl, &log_pages[k]));
    }
}

static uint64_t page_bytes(const NvmeCtrl *ctrl, const LogPage *log)
{
    if (log->length) {
        return log->length(ctrl);
    }
    return log->count ? log->count(ssd_info(ctrl->ssd)) * log->bytes
                      : log->bytes;
}

/* offset + bytes is within the page. */
static void read_page(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                      const LogPage *log, uint64_t offset, uint8_t *to,
                      uint64_t bytes)
{
    _Alignas(8) uint8_t item[LOG_MAX_BYTES];
    uint64_t end = offset + bytes;

    g_assert(log->bytes <= sizeof(item));
    while (offset < end) {
        uint64_t within = offset % log->bytes;
        uint64_t n = MIN(end - offset, log->bytes - within);

        memset(item, 0, log->bytes);
        log->fill(ctrl, sqe, offset / log->bytes, item);
        memcpy(to, item + within, n);
        to += n;
        offset += n;
    }
}

/* Bytes beyond the end of the page are zeroes. */
static uint16_t send_page(NvmeCtrl *ctrl, const NvmeSqe *sqe,
                          const LogPage *log, uint64_t offset, uint64_t bytes)
{
    uint64_t n = MIN(bytes, page_bytes(ctrl, log) - offset);
    uint8_t *out = payload_buf_get(ctrl->payload, bytes);
    uint16_t status;

    read_page(ctrl, sqe, log, offset, out, n);
    memset(out + n, 0, bytes - n);
    status = nvme_to_host(ctrl, sqe, out, bytes);
    payload_buf_put(ctrl->payload, out, bytes);
    return status;
}

/* A log of the whole controller takes each namespace that the host can name,
 * and is the same for all of them, as on other drives. */
static uint16_t check_log_nsid(const NvmeCtrl *ctrl, const NvmeRequest *req,
                               const LogPage *log)
{
    if (log->zoned) {
        return req->ns && req->ns->zone_size ? 0
                                             : nvme_ns_missing(ctrl, req->nsid);
    }
    return !req->nsid || req->nsid == NVME_NSID_ALL || req->ns
               ? 0
               : nvme_ns_missing(ctrl, req->nsid);
}

uint16_t nvme_get_log_page(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    const LogPage *log = find_page(ctrl, sqe->dw[10] & 0xff);
    uint64_t numd = (sqe->dw[10] >> 16) | (uint64_t)(sqe->dw[11] & 0xffff)
                                              << 16;
    uint64_t bytes = (numd + 1) * 4;
    uint64_t offset = nvme_sqe_u64(sqe, 12);
    bool retain = sqe->dw[10] >> 15 & 1;
    bool by_index = sqe->dw[14] >> 23 & 1; /* offset type */
    bool only = false;
    uint16_t status;

    if (!log) {
        return NVME_SC_INVALID_LOG_PAGE;
    }
    status = log->begin ? log->begin(ctrl, sqe, &only) : 0;
    if (!status && !only) {
        status = check_log_nsid(ctrl, req, log);
    }
    if (status || only) {
        return status;
    }
    if (offset % 4 || offset > page_bytes(ctrl, log) ||
        bytes > ctrl->max_bytes || by_index) {
        return NVME_SC_INVALID_FIELD;
    }
    if (log->group && sqe->dw[11] >> 16 != 1) {
        return NVME_SC_INVALID_FIELD; /* the only endurance group */
    }
    status = send_page(ctrl, sqe, log, offset, bytes);
    if (!status && !retain) {
        if (log->event != NONE) {
            nvme_event_clear(ctrl, log->event);
        }
        nvme_notice_clear(ctrl, log->id);
        if (log->id == 0x04) {
            nvme_ns_clear_changed(ctrl);
        }
        if (log->id == NVME_LOG_LATENCY) {
            nvme_latency_clear(ctrl);
        }
        if (log->id == NVME_LOG_RESERVATION) {
            nvme_reservation_log_next(ctrl);
        }
        if (log->id == 0x08) {
            nvme_telemetry_release(ctrl);
        }
        if (log->zoned) {
            nvme_clear_changed_zones(ctrl);
        }
    }
    return status;
}

void nvme_document_logs(GString *out)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(log_pages); i++) {
        const LogPage *log = &log_pages[i];

        g_string_append_printf(out, "| %02Xh | %s | %u%s |\n", log->id,
                               log->name, log->bytes,
                               log->help ? log->help : "");
    }
}
