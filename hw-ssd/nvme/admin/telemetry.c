/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * telemetry.c - Telemetry Host-Initiated and Controller-Initiated (Base 2.0,
 * log pages 07h and 08h; Telemetry).
 *
 * A capture has three areas, each with the one before: the vendor page C0h and
 * the SMART log; the statistics of the drive as JSON; the parts that bound the
 * drive, as text, and the error log.  The host asks for a capture; the
 * controller makes one of its own after an error of the media or with a
 * critical warning, and keeps it until the host has read it.
 *
 * Knows when to capture; others fill their pages.
 */
#include "nvme-internal.h"
#include "queue/error-log.h"
#include "health/events.h"
#include "health/health.h"
#include "admin/log-vendor.h"
#include "health/persistent-events.h"
#include "admin/telemetry.h"
#include "vendor-log.h"

#include "ssd-report.h"

#define LSP_CREATE 0x1

static uint8_t *data_of(const NvmeCtrl *ctrl, unsigned which)
{
    return ctrl->sub->telemetry_data + which * NVME_TELEMETRY_BYTES;
}

/* ---- a capture ----------------------------------------------------------- */

static uint16_t append(uint8_t *data, uint16_t last, const void *p, size_t n)
{
    size_t at = (size_t)last * NVME_TELEMETRY_BLOCK;
    size_t most = NVME_TELEMETRY_BYTES - NVME_TELEMETRY_BLOCK - at;

    n = MIN(n, most);
    memcpy(data + at, p, n);
    return (uint16_t)(last +
                      (n + NVME_TELEMETRY_BLOCK - 1) / NVME_TELEMETRY_BLOCK);
}

static uint16_t append_pages(const NvmeCtrl *ctrl, uint8_t *data)
{
    static const NvmeSqe no_sqe;
    VssdLogDrive drive = {.magic = ""};
    NvmeHealthLog health = {.critical_warning = 0};
    uint16_t last;

    nvme_vendor_fill_drive(ctrl, &no_sqe, 0, &drive);
    nvme_fill_health_log(ctrl, &no_sqe, 0, &health);
    last = append(data, 0, &drive, sizeof(drive));
    return append(data, last, &health, sizeof(health));
}

static uint16_t append_statistics(const NvmeCtrl *ctrl, uint8_t *data,
                                  uint16_t last)
{
    g_autoptr(GString) text = g_string_new(NULL);
    JsonWriter w = {.out = text};

    ssd_stats_json(ctrl->ssd, &w, NULL);
    return append(data, last, text->str, text->len);
}

static uint16_t append_details(const NvmeCtrl *ctrl, uint8_t *data,
                               uint16_t last)
{
    static const NvmeSqe no_sqe;
    NvmeErrorLogEntry entry[NVME_ERROR_ENTRIES] = {{0}};
    g_autoptr(GString) text = g_string_new(NULL);

    ssd_explain_text(ctrl->ssd, text);
    last = append(data, last, text->str, text->len);
    nvme_fill_error_log(ctrl, &no_sqe, 0, entry);
    return append(data, last, entry, sizeof(entry));
}

static void capture(NvmeCtrl *ctrl, unsigned which, const char *reason)
{
    NvmeTelemetryLog *log = &ctrl->sub->telemetry.log[which];
    uint8_t *data = data_of(ctrl, which);

    memset(data, 0, NVME_TELEMETRY_BYTES);
    log->last[0] = append_pages(ctrl, data);
    log->last[1] = append_statistics(ctrl, data, log->last[0]);
    log->last[2] = append_details(ctrl, data, log->last[1]);
    log->generation++;
    log->available = 1;
    g_strlcpy(log->reason, reason, sizeof(log->reason));
}

static void fill_header(const NvmeCtrl *ctrl, unsigned which,
                        NvmeTelemetryHeader *h)
{
    const NvmeTelemetryLog *log = &ctrl->sub->telemetry.log[which];
    const NvmeTelemetryLog *host =
        &ctrl->sub->telemetry.log[NVME_TELEMETRY_HOST];
    const NvmeTelemetryLog *own = &ctrl->sub->telemetry.log[NVME_TELEMETRY_OWN];

    h->lid = which == NVME_TELEMETRY_HOST ? 0x07 : 0x08;
    for (unsigned i = 0; i < sizeof(h->ieee); i++) {
        h->ieee[i] = (uint8_t)(ctrl->cfg.eui64 >> (40 + 8 * i));
    }
    for (unsigned i = 0; i < NVME_TELEMETRY_AREAS; i++) {
        h->dalb[i] = nvme_le16(log->last[i]);
    }
    h->host_generation = which == NVME_TELEMETRY_HOST ? host->generation : 0;
    h->available = own->available;
    h->generation = own->generation;
    memcpy(h->reason, log->reason, sizeof(log->reason));
}

/* ---- the controller's own ------------------------------------------------ */

static void event(NvmeCtrl *ctrl, unsigned which)
{
    NvmeTelemetryHeader h = {.lid = 0};

    fill_header(ctrl, which, &h);
    nvme_persistent_event(ctrl, NVME_PEL_TELEMETRY, &h, sizeof(h));
}

static void capture_own(NvmeCtrl *ctrl, const char *reason)
{
    if (!ctrl->sub->telemetry.log[NVME_TELEMETRY_OWN].available) {
        capture(ctrl, NVME_TELEMETRY_OWN, reason);
        event(ctrl, NVME_TELEMETRY_OWN);
        nvme_notice_all(ctrl->sub, NVME_NOTICE_TELEMETRY);
    }
}

static uint8_t warnings(const NvmeCtrl *ctrl)
{
    return nvme_critical_warning(ctrl) & ~NVME_WARN_TEMPERATURE;
}

void nvme_telemetry_note(NvmeCtrl *ctrl)
{
    NvmeTelemetry *t = &ctrl->sub->telemetry;

    if (t->media_errors != ctrl->sub->life.media_errors) {
        t->media_errors = ctrl->sub->life.media_errors;
        capture_own(ctrl, "media error");
    }
    if (t->health != ctrl->events.health) {
        uint8_t now = warnings(ctrl);

        t->health = ctrl->events.health;
        if (now & ~t->warned) {
            capture_own(ctrl, "critical warning");
        }
        t->warned = now;
    }
}

void nvme_telemetry_release(NvmeCtrl *ctrl)
{
    ctrl->sub->telemetry.log[NVME_TELEMETRY_OWN].available = 0;
}

/* ---- the pages ----------------------------------------------------------- */

static uint64_t bytes_of(const NvmeCtrl *ctrl, unsigned which)
{
    return (ctrl->sub->telemetry.log[which].last[2] + 1ULL) *
           NVME_TELEMETRY_BLOCK;
}

uint64_t nvme_telemetry_host_bytes(const NvmeCtrl *ctrl)
{
    return bytes_of(ctrl, NVME_TELEMETRY_HOST);
}

uint64_t nvme_telemetry_own_bytes(const NvmeCtrl *ctrl)
{
    return bytes_of(ctrl, NVME_TELEMETRY_OWN);
}

static unsigned which_log(const NvmeSqe *sqe)
{
    return (sqe->dw[10] & 0xff) == 0x07 ? NVME_TELEMETRY_HOST
                                        : NVME_TELEMETRY_OWN;
}

/* Whole blocks only. */
uint16_t nvme_telemetry_begin(NvmeCtrl *ctrl, const NvmeSqe *sqe, bool *only)
{
    uint32_t numd = (sqe->dw[10] >> 16) | (sqe->dw[11] & 0xffff) << 16;
    uint32_t lsp = sqe->dw[10] >> 8 & 0x7f;

    if (nvme_sqe_u64(sqe, 12) % NVME_TELEMETRY_BLOCK ||
        (numd + 1ULL) * 4 % NVME_TELEMETRY_BLOCK) {
        return NVME_SC_INVALID_FIELD;
    }
    if (which_log(sqe) == NVME_TELEMETRY_HOST && lsp & LSP_CREATE) {
        capture(ctrl, NVME_TELEMETRY_HOST, "host");
        event(ctrl, NVME_TELEMETRY_HOST);
    }
    return 0;
}

void nvme_fill_telemetry(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                         void *page)
{
    unsigned which = which_log(sqe);

    if (i == 0) {
        fill_header(ctrl, which, page);
    } else {
        memcpy(page, data_of(ctrl, which) + (i - 1) * NVME_TELEMETRY_BLOCK,
               NVME_TELEMETRY_BLOCK);
    }
}

bool nvme_telemetry_ok(const NvmeCtrl *ctrl)
{
    for (unsigned i = 0; i < NVME_TELEMETRY_LOGS; i++) {
        const NvmeTelemetryLog *log = &ctrl->sub->telemetry.log[i];

        if (log->last[0] > log->last[1] || log->last[1] > log->last[2] ||
            log->last[2] >= NVME_TELEMETRY_BYTES / NVME_TELEMETRY_BLOCK ||
            log->available > 1 || log->reason[sizeof(log->reason) - 1]) {
            return false;
        }
    }
    return true;
}
