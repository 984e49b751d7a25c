/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * health.c - critical warnings, and the SMART / Health Information log (LID
 * 02h).
 *
 * Knows the state of the drive.  events.c reports changes of it to the host.
 */
#include "nvme-internal.h"
#include "namespace/namespace.h"
#include "health/health.h"
#include "queue/request.h"

#include "simtime.h"
#include "ssd-report.h"

/* Of a drive without a model of it: all but the temperature is 0. */
static SsdHeat heat_of(const NvmeCtrl *ctrl)
{
    SsdHeat heat;

    if (!ssd_heat(ctrl->ssd, &heat)) {
        heat = (SsdHeat){
            .kelvin = NVME_TEMPERATURE_K,
            .warning_k = NVME_WCTEMP_K,
            .critical_k = NVME_CCTEMP_K,
        };
    }
    return heat;
}

uint32_t nvme_kelvin(const NvmeCtrl *ctrl)
{
    uint32_t fault_k = ctrl->sub->fault_kelvin; /* a scripted one */
    uint32_t kelvin = fault_k ? fault_k : ssd_kelvin(ctrl->ssd);

    return kelvin ? kelvin : NVME_TEMPERATURE_K;
}

uint32_t nvme_warning_k(const NvmeCtrl *ctrl)
{
    return heat_of(ctrl).warning_k;
}

uint32_t nvme_critical_k(const NvmeCtrl *ctrl)
{
    return heat_of(ctrl).critical_k;
}

uint8_t nvme_critical_warning(const NvmeCtrl *ctrl)
{
    uint8_t warning = 0;
    PayloadStats stats;

    payload_get_stats(ctrl->payload, &stats);
    if (nvme_kelvin(ctrl) >= ctrl->features.value[NVME_FEAT_TEMP_OVER] ||
        nvme_kelvin(ctrl) <= ctrl->features.value[NVME_FEAT_TEMP_UNDER]) {
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

/* The name that hosts make up for controllers of before 1.2.1; unique as long
 * as serial numbers are. */
void nvme_subnqn(const NvmeCtrl *ctrl, uint8_t *p)
{
    g_autofree char *nqn = g_strdup_printf(
        "nqn.2014.08.org.nvmexpress:%04x%04x%-20s%-40s", ctrl->cfg.pci_vid,
        ctrl->cfg.pci_ssvid, ctrl->cfg.serial, ctrl->cfg.model);

    memcpy(p, nqn, strlen(nqn));
}

/* Data units are thousands of 512 bytes, rounded up. */
static uint64_t data_units(uint64_t bytes)
{
    return (bytes + 511999) / 512000;
}

static void fill_heat(const NvmeCtrl *ctrl, NvmeHealthLog *h)
{
    SsdHeat heat = heat_of(ctrl);

    heat.kelvin =
        ctrl->sub->fault_kelvin ? ctrl->sub->fault_kelvin : heat.kelvin;
    h->temperature = nvme_le16((uint16_t)heat.kelvin);
    h->warning_minutes =
        nvme_le32((uint32_t)(heat.warning_ns / (60 * NS_PER_S)));
    h->critical_minutes =
        nvme_le32((uint32_t)(heat.critical_ns / (60 * NS_PER_S)));
    for (unsigned i = 0; i < 2; i++) {
        h->tmt_count[i] = nvme_le32((uint32_t)heat.n_managed[i]);
        h->tmt_seconds[i] =
            nvme_le32((uint32_t)(heat.managed_ns[i] / NS_PER_S));
    }
}

/* With LPA bit 0 the host's work is that of the namespace, if the host asks for
 * one; else that of the drive. */
static void count_host(const NvmeCtrl *ctrl, const NvmeSqe *sqe, SsdCounters *c)
{
    const NvmeNamespace *ns = nvme_ns_find(ctrl, sqe->dw[1]);

    if (ns && ctrl->sub->namespaces.managed) {
        c->host_bytes_read = ns->count.bytes[NVME_WORK_READ];
        c->host_bytes_written = ns->count.bytes[NVME_WORK_WRITE];
        c->commands[SSD_OP_READ] = ns->count.commands[NVME_WORK_READ];
        c->commands[SSD_OP_WRITE] = ns->count.commands[NVME_WORK_WRITE];
    }
}

void nvme_fill_health_log(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                          void *page)
{
    NvmeHealthLog *h = page;
    uint64_t lost_ns = ssd_uncounted_ns(ctrl->ssd);
    uint64_t on_ns = ctrl->sub->now_ns - MIN(ctrl->sub->now_ns, lost_ns);
    SsdCounters c;

    ssd_known_counters(ctrl->ssd, &c);
    h->critical_warning = nvme_critical_warning(ctrl);
    fill_heat(ctrl, h);
    h->available_spare = (uint8_t)c.spare_percent;
    h->spare_threshold = NVME_SPARE_THRESHOLD;
    h->percentage_used = (uint8_t)MIN(c.percent_used, 255);
    count_host(ctrl, sqe, &c);
    h->data_units_read = nvme_le128(data_units(c.host_bytes_read));
    h->data_units_written = nvme_le128(data_units(c.host_bytes_written));
    h->host_reads = nvme_le128(c.commands[SSD_OP_READ]);
    h->host_writes = nvme_le128(c.commands[SSD_OP_WRITE]);
    h->busy_minutes = nvme_le128(nvme_busy_ns(ctrl) / (60 * NS_PER_S));
    h->power_cycles = nvme_le128(ctrl->sub->life.power_cycles);
    h->power_on_hours = nvme_le128(on_ns / (3600 * NS_PER_S));
    h->unsafe_shutdowns = nvme_le128(ctrl->sub->life.unsafe_shutdowns);
    h->media_errors = nvme_le128(ctrl->sub->life.media_errors);
    h->error_entries = nvme_le128(ctrl->error_log.n);
}
