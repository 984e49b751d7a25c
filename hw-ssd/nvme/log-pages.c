/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log-pages.c - Get Log Page (clause 5.14), and the log of errors.
 *
 * A function fills a whole page; offset, length, the end of the page and the
 * transfer are handled once, for all of them.
 */
#include "nvme-internal.h"

#define LOG_MAX_BYTES 4096
#define ERROR_ENTRY_BYTES 64

typedef struct LogPage {
    uint8_t id;
    const char *name;
    uint32_t bytes;
    void (*fill)(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint8_t *page);
    int event; /* the type of events that reading it clears, or -1 */
    bool group; /* of an endurance group: only with FDP */
} LogPage;

/* ---- errors (01h) ------------------------------------------------------- */

void nvme_log_error(NvmeCtrl *ctrl, unsigned sqid, const NvmeRequest *req,
                    uint16_t status)
{
    NvmeErrorEntry *e = &ctrl->errors[ctrl->nerrors++ % NVME_ERROR_ENTRIES];

    *e = (NvmeErrorEntry){
        .count = ctrl->nerrors,
        .sqid = sqid,
        .cid = req ? req->cid : 0xffff,
        .status = status << 1,
        .location = 0xffff, /* not one parameter */
        .nsid = req ? req->nsid : 0,
        .lba = req && !req->admin ? req->lba : 0,
    };
}

static void fill_errors(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                        uint8_t *page)
{
    uint64_t n = MIN(ctrl->nerrors, NVME_ERROR_ENTRIES);

    for (uint64_t i = 0; i < n; i++) { /* the newest first */
        const NvmeErrorEntry *e =
            &ctrl->errors[(ctrl->nerrors - 1 - i) % NVME_ERROR_ENTRIES];
        uint8_t *p = page + i * ERROR_ENTRY_BYTES;

        put_le64(p, e->count);
        put_le16(p + 8, e->sqid);
        put_le16(p + 10, e->cid);
        put_le16(p + 12, e->status);
        put_le16(p + 14, e->location);
        put_le64(p + 16, e->lba);
        put_le32(p + 24, e->nsid);
    }
}

/* ---- SMART (02h) -------------------------------------------------------- */

uint8_t nvme_critical_warning(const NvmeCtrl *ctrl)
{
    uint8_t warning = 0;
    PayloadStats stats;

    payload_get_stats(ctrl->payload, &stats);
    if (NVME_TEMPERATURE_K >= ctrl->feature[NVME_FEAT_TEMP_OVER] ||
        NVME_TEMPERATURE_K <= ctrl->feature[NVME_FEAT_TEMP_UNDER]) {
        warning |= NVME_WARN_TEMPERATURE;
    }
    if (stats.units_failed) {
        warning |= NVME_WARN_RELIABILITY;
    }
    if (ssd_read_only(ctrl->ssd)) {
        warning |= NVME_WARN_READ_ONLY;
    }
    if (ssd_spare_percent(ctrl->ssd) < NVME_SPARE_THRESHOLD) {
        warning |= NVME_WARN_SPARE;
    }
    return warning;
}

/* Data units are thousands of 512 bytes, rounded up. */
static uint64_t data_units(uint64_t bytes)
{
    return (bytes + 511999) / 512000;
}

static void fill_smart(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                       uint8_t *page)
{
    SsdCounters c;

    ssd_get_counters(ctrl->ssd, &c);
    page[0] = nvme_critical_warning(ctrl);
    put_le16(page + 1, NVME_TEMPERATURE_K);
    page[3] = (uint8_t)c.spare_percent;
    page[4] = NVME_SPARE_THRESHOLD;
    page[5] = (uint8_t)MIN(c.percent_used, 255);
    put_le64(page + 32, data_units(c.host_bytes_read));
    put_le64(page + 48, data_units(c.host_bytes_written));
    put_le64(page + 64, c.commands[SSD_OP_READ]);
    put_le64(page + 80, c.commands[SSD_OP_WRITE]);
    put_le64(page + 96, nvme_busy_ns(ctrl) / 60000000000ULL); /* minutes */
    put_le64(page + 112, ctrl->power_cycles);
    put_le64(page + 128, ctrl->now_ns / 3600000000000ULL); /* hours */
    put_le64(page + 144, ctrl->unsafe_shutdowns);
    put_le64(page + 160, ctrl->media_errors);
    put_le64(page + 176, ctrl->nerrors);
}

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
    unsigned n;
    const NvmeCommand *c = nvme_admin_commands(&n);

    for (unsigned i = 0; i < n; i++) {
        put_le32(page + 4 * c[i].opcode, nvme_command_effects(ctrl, &c[i]));
    }
    c = nvme_io_commands(&n);
    for (unsigned i = 0; i < n; i++) {
        put_le32(page + 1024 + 4 * c[i].opcode, nvme_command_effects(ctrl, &c[i]));
    }
}

/* ---- the table ---------------------------------------------------------- */

static const LogPage log_pages[] = {
    { 0x01, "Error Information", NVME_ERROR_ENTRIES * ERROR_ENTRY_BYTES,
      fill_errors, NVME_EVENT_ERROR, false },
    { 0x02, "SMART / Health Information", 512, fill_smart, NVME_EVENT_SMART,
      false },
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
