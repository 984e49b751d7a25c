/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * health.c - critical warnings, and the SMART / Health Information log (clause
 * 5.14.1.2).
 *
 * Knows how the drive is; who is told of it is the business of events.c.
 */
#include "nvme-internal.h"
#include "health.h"
#include "request.h"

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

void nvme_fill_health_log(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
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
