/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log-pages.c - Get Log Page (clause 5.14).
 *
 * A function fills a whole page; offset, length, the end of the page and the
 * transfer are handled once, for all of them.
 */
#include "nvme-internal.h"
#include "command.h"
#include "error-log.h"
#include "events.h"
#include "fdp.h"
#include "health.h"
#include "log-pages.h"
#include "log-vendor.h"
#include "prp.h"

#define LOG_MAX_BYTES 4096

typedef struct LogPage {
    uint8_t id;
    const char *name;
    uint32_t bytes;
    void (*fill)(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint8_t *page);
    int event; /* the type of events that reading it clears, or -1 */
    bool group; /* of an endurance group: only with FDP */
} LogPage;

/* ---- firmware (03h), effects (05h) -------------------------------------- */

static void fill_firmware(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                          uint8_t *page)
{
    page[0] = 1; /* AFI: slot 1 runs */
    memset(page + 8, ' ', 8);
    memcpy(page + 8, ctrl->cfg.firmware, strlen(ctrl->cfg.firmware));
}

static void fill_effects(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                         uint8_t *page)
{
    for (unsigned admin = 0; admin < 2; admin++) {
        const NvmeCommandTable *t = ctrl->commands[admin];
        uint8_t *first = page + (admin ? 0 : 1024);

        for (unsigned i = 0; i < t->n; i++) {
            put_le32(first + 4 * t->row[i].opcode,
                     nvme_command_effects(ctrl, &t->row[i]));
        }
    }
}

/* ---- the table ---------------------------------------------------------- */

static const LogPage log_pages[] = {
    { 0x01, "Error Information", NVME_ERROR_ENTRIES * 64,
      nvme_fill_error_log, NVME_EVENT_ERROR, false },
    { 0x02, "SMART / Health Information", 512, nvme_fill_health_log,
      NVME_EVENT_SMART, false },
    { 0x03, "Firmware Slot Information", 512, fill_firmware, -1, false },
    { 0x05, "Commands Supported and Effects", 4096, fill_effects, -1,
      false },
    { 0x09, "Endurance Group Information (with fdp.ruhs)", 512,
      nvme_fdp_fill_group, -1, true },
    { 0x20, "FDP Configurations (with fdp.ruhs)", 512, nvme_fdp_fill_configs,
      -1, true },
    { 0x21, "Reclaim Unit Handle Usage (with fdp.ruhs)", 520,
      nvme_fdp_fill_usage, -1, true },
    { 0x22, "FDP Statistics (with fdp.ruhs)", 64, nvme_fdp_fill_statistics, -1,
      true },
    { 0x23, "FDP Events (with fdp.ruhs)", 4096, nvme_fdp_fill_events, -1,
      true },
};

static const LogPage *find_page(const NvmeCtrl *ctrl, uint8_t id)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(log_pages); i++) {
        if (log_pages[i].id == id &&
            (!log_pages[i].group || nvme_has_fdp(ctrl))) {
            return &log_pages[i];
        }
    }
    return NULL;
}

/* What is asked for beyond the end of the page is zeroes. */
static uint16_t send_page(NvmeCtrl *ctrl, const NvmeSqe *sqe,
                          const LogPage *log, uint64_t offset, uint64_t bytes)
{
    uint8_t page[LOG_MAX_BYTES] = { 0 };
    uint64_t n = MIN(bytes, log->bytes - offset);
    uint8_t *out = payload_buf_get(ctrl->payload, bytes);
    uint16_t status;

    log->fill(ctrl, sqe, page);
    memcpy(out, page + offset, n);
    memset(out + n, 0, bytes - n);
    status = nvme_to_host(ctrl, sqe, out, bytes);
    payload_buf_put(ctrl->payload, out, bytes);
    return status;
}

static uint16_t send_vendor_page(NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                 uint64_t whole, uint64_t offset,
                                 uint64_t bytes)
{
    uint64_t n = MIN(bytes, whole - offset);
    uint8_t *out = payload_buf_get(ctrl->payload, bytes);
    uint16_t status;

    nvme_vendor_log_read(ctrl, sqe->dw[10] & 0xff, offset, out, n);
    memset(out + n, 0, bytes - n);
    status = nvme_to_host(ctrl, sqe, out, bytes);
    payload_buf_put(ctrl->payload, out, bytes);
    return status;
}

uint16_t nvme_get_log_page(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe)
{
    const LogPage *log = find_page(ctrl, sqe->dw[10] & 0xff);
    uint64_t whole = log ? log->bytes
                         : nvme_vendor_log_bytes(ctrl, sqe->dw[10] & 0xff);
    uint64_t numd = (sqe->dw[10] >> 16) | (uint64_t)(sqe->dw[11] & 0xffff) << 16;
    uint64_t bytes = (numd + 1) * 4;
    uint64_t offset = nvme_sqe_u64(sqe, 12);
    bool retain = sqe->dw[10] >> 15 & 1;
    uint16_t status;

    if (whole == 0) {
        return NVME_SC_INVALID_LOG_PAGE;
    }
    /* One log for the whole controller: LPA bit 0 is 0. */
    if ((req->nsid && req->nsid != NVME_NSID_ALL) || offset % 4 ||
        offset > whole || bytes > ctrl->max_bytes) {
        return NVME_SC_INVALID_FIELD;
    }
    if (!log) {
        return send_vendor_page(ctrl, sqe, whole, offset, bytes);
    }
    if (log->group && sqe->dw[11] >> 16 != 1) {
        return NVME_SC_INVALID_FIELD; /* the only endurance group */
    }
    status = send_page(ctrl, sqe, log, offset, bytes);
    if (!status && !retain && log->event >= 0) {
        nvme_event_clear(ctrl, log->event);
    }
    return status;
}

void nvme_document_logs(GString *out)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(log_pages); i++) {
        g_string_append_printf(out, "| %02Xh | %s | %u |\n", log_pages[i].id,
                               log_pages[i].name, log_pages[i].bytes);
    }
    nvme_document_vendor_logs(out);
}
