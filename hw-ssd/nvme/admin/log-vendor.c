/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log-vendor.c - the vendor-specific log pages (vendor-log.h): internals that
 * a real drive does not report.
 *
 * Functions for rows of the table in log-pages.c.
 */
#include "nvme-internal.h"
#include "placement/fdp-handles.h"
#include "admin/log-vendor.h"
#include "namespace/namespace.h"
#include "ssd-report.h"
#include "vendor-log.h"

/* ---- C0h: the drive ----------------------------------------------------- */

static void fill_counters(const SsdCounters *c, VssdLogDrive *d)
{
    d->read_only = GUINT32_TO_LE(c->read_only);
    d->host_bytes_read = GUINT64_TO_LE(c->host_bytes_read);
    d->host_bytes_written = GUINT64_TO_LE(c->host_bytes_written);
    d->nand_reads = GUINT64_TO_LE(c->nand_reads);
    d->nand_programs = GUINT64_TO_LE(c->nand_programs);
    d->nand_erases = GUINT64_TO_LE(c->nand_erases);
    d->nand_bytes_written = GUINT64_TO_LE(c->nand_bytes_written);
    d->read_retries = GUINT64_TO_LE(c->read_retries);
    d->uncorrectable_reads = GUINT64_TO_LE(c->uncorrectable_reads);
    d->program_failures = GUINT64_TO_LE(c->program_failures);
    d->erase_failures = GUINT64_TO_LE(c->erase_failures);
    d->grown_bad_blocks = GUINT64_TO_LE(c->grown_bad_blocks);
    d->max_erase_count = GUINT64_TO_LE(c->max_erase_count);
    d->mean_erase_count_milli =
        GUINT64_TO_LE((uint64_t)(c->mean_erase_count * 1000));
    d->waf_milli = GUINT64_TO_LE((uint64_t)(c->waf * 1000));
    d->spare_percent = GUINT64_TO_LE(c->spare_percent);
}

void nvme_vendor_fill_drive(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                            uint64_t i, void *item)
{
    const SsdInfo *info = ssd_info(ctrl->ssd);
    VssdLogDrive *d = item;
    SsdCounters c;

    memcpy(d->magic, VSSD_LOG_MAGIC, sizeof(d->magic));
    d->version = GUINT16_TO_LE(VSSD_LOG_VERSION);
    d->nstreams = GUINT16_TO_LE(info->nstreams);
    d->block_bytes = GUINT32_TO_LE(info->block_bytes);
    d->unit_bytes = GUINT32_TO_LE(info->unit_bytes);
    d->page_bytes = GUINT32_TO_LE(info->page_bytes);
    d->erase_bytes = GUINT64_TO_LE(info->erase_bytes);
    d->raw_bytes = GUINT64_TO_LE(info->raw_bytes);
    d->units =
        GUINT64_TO_LE(info->nblocks * info->block_bytes / info->unit_bytes);
    ssd_get_counters(ctrl->ssd, &c);
    fill_counters(&c, d);
}

/* ---- C1h: its streams --------------------------------------------------- */

uint64_t nvme_vendor_streams(const SsdInfo *info)
{
    return info->nstreams + 1ULL;
}

/* By which number a host knows a stream of the drive now. */
static uint16_t host_id(const NvmeCtrl *ctrl, uint64_t stream)
{
    uint16_t id = 0;

    if (ctrl->sub->fdp.ruhs && nvme_fdp_pid_of(ctrl, nvme_ns_existing(ctrl, 1),
                                               (uint32_t)stream, &id)) {
        return id; /* of the first namespace */
    }
    if (stream > 0 && stream <= ctrl->sub->streams.max) {
        id = ctrl->sub->streams.stream[stream - 1].id;
    }
    return id ? id : VSSD_LOG_NO_ID;
}

void nvme_vendor_fill_stream(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                             uint64_t i, void *item)
{
    VssdLogStream *s = item;
    SsdStreamCounters c;

    ssd_get_stream(ctrl->ssd, (uint32_t)i, &c);
    s->stream = GUINT16_TO_LE((uint16_t)i);
    s->id = GUINT16_TO_LE(host_id(ctrl, i));
    if (i < ssd_info(ctrl->ssd)->nstreams) {
        s->open_blocks =
            GUINT32_TO_LE(ssd_stream_open_blocks(ctrl->ssd, (uint32_t)i));
    }
    s->host_bytes_written = GUINT64_TO_LE(c.host_bytes_written);
    s->host_units = GUINT64_TO_LE(c.host_units);
    s->padded_units = GUINT64_TO_LE(c.padded_units);
    s->copied_units = GUINT64_TO_LE(c.copied_units);
    s->victims = GUINT64_TO_LE(c.victims);
    s->victim_valid_units = GUINT64_TO_LE(c.victim_valid_units);
    s->erases = GUINT64_TO_LE(c.erases);
    s->nand_bytes_written = GUINT64_TO_LE(c.nand_bytes_written);
}

/* ---- C2h: where units are ----------------------------------------------- */

uint64_t nvme_vendor_units(const SsdInfo *info)
{
    return info->nblocks * info->block_bytes / info->unit_bytes;
}

void nvme_vendor_fill_place(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                            uint64_t i, void *item)
{
    const SsdInfo *info = ssd_info(ctrl->ssd);
    VssdLogPlace *p = item;
    SsdPlace place;

    ssd_place(ctrl->ssd, i * info->unit_bytes / info->block_bytes, &place);
    if (!place.mapped) {
        return; /* VSSD_PLACE_NOWHERE */
    }
    p->where = place.in_nand ? VSSD_PLACE_NAND : VSSD_PLACE_BUFFER;
    p->stream = GUINT16_TO_LE(place.stream);
    if (place.in_nand) {
        p->erase_block = GUINT32_TO_LE(place.erase_block);
        p->page = GUINT32_TO_LE(place.page);
        p->block_stream = GUINT16_TO_LE(place.block_stream);
    }
}
