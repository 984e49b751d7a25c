/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fdp-logs.c - log pages of Flexible Data Placement but for its events: 20h to
 * 22h, and 09h of the endurance group (Base 2.1, section 5.1.12.1).
 *
 * Knows how they look.
 */
#include "nvme-internal.h"
#include "placement/fdp-handles.h"
#include "placement/fdp-logs.h"
#include "health/health.h"
#include "ssd-report.h"

#define RUHT_INITIALLY_ISOLATED    1
#define RUHT_PERSISTENTLY_ISOLATED 2

/* 10^9 bytes, rounded up. */
static uint64_t billions(uint64_t bytes)
{
    return bytes / 1000000000 + (bytes % 1000000000 != 0);
}

void nvme_fdp_fill_group(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                         void *page)
{
    NvmeEnduranceGroupLog *g = page;
    SsdCounters c;

    ssd_get_counters(ctrl->ssd, &c);
    g->critical_warning =
        nvme_critical_warning(ctrl) &
        (NVME_WARN_SPARE | NVME_WARN_RELIABILITY | NVME_WARN_READ_ONLY);
    g->available_spare = (uint8_t)c.spare_percent;
    g->spare_threshold = NVME_SPARE_THRESHOLD;
    g->percentage_used = (uint8_t)MIN(c.percent_used, 255);
    g->data_units_read = nvme_le128(billions(c.host_bytes_read));
    g->data_units_written = nvme_le128(billions(c.host_bytes_written));
    g->media_units_written = nvme_le128(billions(c.nand_bytes_written));
    g->host_reads = nvme_le128(c.commands[SSD_OP_READ]);
    g->host_writes = nvme_le128(c.commands[SSD_OP_WRITE]);
    g->media_errors = nvme_le128(ctrl->sub->life.media_errors);
    g->error_entries = nvme_le128(ctrl->error_log.n);
    g->tegcap = nvme_le128(ctrl->cfg.nblocks * ctrl->block_bytes);
}

/* A configuration; how many bytes it has. */
static unsigned put_config(const NvmeCtrl *ctrl, unsigned i, uint8_t *to)
{
    const SsdInfo *info = ssd_info(ctrl->ssd);
    unsigned n = nvme_fdp_config_ruhs(ctrl, i);
    NvmeFdpConfig *config = (NvmeFdpConfig *)to;
    NvmeFdpHandle *handle = (NvmeFdpHandle *)(config + 1);
    unsigned bytes = sizeof(*config) + n * sizeof(*handle);

    bytes = (bytes + 7) / 8 * 8;
    *config = (NvmeFdpConfig){
        .bytes = nvme_le16(bytes),
        /* Valid; a volatile write cache, or none; RGIF. */
        .fdpa = (uint8_t)(1 << 7 | (info->keeps_buffer ? 0 : 1 << 4) |
                          nvme_fdp_rgif(ctrl)),
        .nrg = nvme_le32(info->groups),
        .nruh = nvme_le16(n),
        .maxpids = nvme_le16(n * info->groups - 1),
        .nns = nvme_le32(ctrl->sub->namespaces.n),
        .runs = nvme_le64(info->reclaim_bytes),
        .erutl = nvme_le32(info->ru_limit_s),
    };
    for (unsigned k = 0; k < n; k++) {
        handle[k].ruht = info->initial >> k & 1 ? RUHT_INITIALLY_ISOLATED
                                                : RUHT_PERSISTENTLY_ISOLATED;
    }
    return bytes;
}

void nvme_fdp_fill_configs(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                           void *page)
{
    NvmeFdpConfigsHeader *header = page;
    unsigned n = nvme_fdp_n_configs(ctrl);
    unsigned bytes = sizeof(*header);

    for (unsigned k = 0; k < n; k++) {
        bytes += put_config(ctrl, k, (uint8_t *)page + bytes);
    }
    g_assert(bytes <= NVME_FDP_CONFIGS_BYTES);
    header->n = nvme_le16(n - 1);
    header->bytes = nvme_le32(bytes);
}

uint16_t nvme_fdp_begin_log(NvmeCtrl *ctrl, const NvmeSqe *sqe, bool *only)
{
    return nvme_fdp_on(ctrl) ? 0 : NVME_SC_FDP_DISABLED;
}

void nvme_fdp_fill_usage(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                         void *page)
{
    struct {
        NvmeFdpUsageHeader header;
        NvmeFdpUsage handle[];
    } *d = page;

    d->header.nruh = nvme_le16(nvme_fdp_ruhs(ctrl));
    for (unsigned k = 0; k < nvme_fdp_ruhs(ctrl); k++) {
        d->handle[k].ruha = (uint8_t)nvme_fdp_ruha(ctrl, k);
    }
}

/* Since the drive was made. */
void nvme_fdp_fill_statistics(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                              uint64_t i, void *page)
{
    const SsdInfo *info = ssd_info(ctrl->ssd);
    NvmeFdpStatistics *d = page;
    uint64_t host = 0;
    uint64_t units = 0;
    uint64_t erases = 0;

    for (unsigned k = 0; k <= info->nstreams; k++) {
        SsdStreamCounters c;

        ssd_get_stream(ctrl->ssd, k, &c);
        host += c.host_bytes_written;
        units += c.host_units + c.padded_units + c.copied_units;
        erases += c.erases;
    }
    d->hbmw = nvme_le128(host);
    d->mbmw = nvme_le128(units * info->unit_bytes);
    d->mbe = nvme_le128(erases * info->erase_bytes);
}
