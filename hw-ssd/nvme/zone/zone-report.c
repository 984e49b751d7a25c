/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zone-report.c - what the host reads about zones: the Zone Management Receive
 * command (Zoned Namespace Command Set 1.1, section 3.4.2), Identify structures
 * (4.1.5), and the Changed Zone List log page (4.1.4).
 *
 * Knows the forms of the standard; changes no zone.
 */
#include "nvme-internal.h"
#include "namespace/namespace.h"
#include "memory/prp.h"
#include "zone/zone-report.h"
#include "zone-wire.h"
#include "zone/zones.h"

/* Zone Receive Action. */
enum { RECEIVE_REPORT, RECEIVE_EXTENDED };

/* Zone Receive Action Specific field: the states that it selects. */
static const uint8_t filter_state[] = {
    0, /* all */
    ZONE_EMPTY, ZONE_IMPLICIT,  ZONE_EXPLICIT, ZONE_CLOSED,
    ZONE_FULL,  ZONE_READ_ONLY, ZONE_OFFLINE,  0, /* reserved */
    0, /* those that the controller recommends to finish or to reset */
};

#define FILTER_RESERVED 8
#define FILTER_ADVICE   9

#define TYPE_SEQUENTIAL 2
#define HAS_EXTENSION   0x80
#define HAS_ZRWA        0x08 /* ZRWAV */
#define ZOC_EXCURSIONS  0x02 /* Zone Active Excursions */

static bool has_pointer(const NvmeZone *zone)
{
    return zone->base.state != ZONE_FULL &&
           zone->base.state != ZONE_READ_ONLY &&
           zone->base.state != ZONE_OFFLINE;
}

static void put_zone(const NvmeCtrl *ctrl, uint32_t i, NvmeZoneDescriptor *d)
{
    const NvmeZone *zone = &ctrl->sub->zones.zone[i];
    uint64_t start = nvme_zone_start(ctrl, i);

    *d = (NvmeZoneDescriptor){
        .zt = TYPE_SEQUENTIAL,
        .zs = (uint8_t)(zone->base.state << 4),
        /* The time limit is that of FRL: ZAI is 0. */
        .za = (zone->described ? HAS_EXTENSION : 0) |
              (zone->zrwa ? HAS_ZRWA : 0) | zone->advice,
        .zcap = nvme_le64(ctrl->sub->zones.capacity),
        .zslba = nvme_le64(start),
        .wp = nvme_le64(has_pointer(zone) ? start + zone->wp : UINT64_MAX),
    };
}

static bool selects(unsigned filter, const NvmeZone *zone)
{
    if (filter == FILTER_ADVICE) {
        return zone->advice &
               (NVME_ZONE_SHOULD_FINISH | NVME_ZONE_SHOULD_RESET);
    }
    return !filter || zone->base.state == filter_state[filter];
}

/* Zones from i on that the filter takes, as many as fit into n bytes; how many
 * there are: of those, or of all. */
static uint64_t put_zones(const NvmeCtrl *ctrl, uint32_t i, unsigned filter,
                          bool extended, bool partial, uint8_t *to, size_t n)
{
    size_t more = extended ? ctrl->sub->zones.extension_bytes : 0;
    uint64_t found = 0;

    for (; i < ctrl->sub->zones.n; i++) {
        NvmeZoneDescriptor d;

        if (!selects(filter, &ctrl->sub->zones.zone[i])) {
            continue;
        }
        if (n < sizeof(d) + more) {
            if (partial) {
                break;
            }
            n = 0;
            found++;
            continue;
        }
        put_zone(ctrl, i, &d);
        memcpy(to, &d, sizeof(d));
        if (more && ctrl->sub->zones.zone[i].described) {
            memcpy(to + sizeof(d), ctrl->sub->zones.extension + i * more, more);
        }
        to += sizeof(d) + more;
        n -= sizeof(d) + more;
        found++;
    }
    return found;
}

uint16_t nvme_zone_receive(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint64_t lba = nvme_sqe_slba(sqe);
    uint64_t bytes = ((uint64_t)sqe->dw[12] + 1) * 4;
    unsigned action = sqe->dw[13] & 0xff;
    unsigned filter = sqe->dw[13] >> 8 & 0xff;
    bool partial = sqe->dw[13] >> 16 & 1;
    bool extended = action == RECEIVE_EXTENDED;
    NvmeZoneReportHeader header = {.nr_zones = 0};
    uint16_t status;
    uint8_t *out;

    if (!req->ns) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    if (action > RECEIVE_EXTENDED || filter >= G_N_ELEMENTS(filter_state) ||
        filter == FILTER_RESERVED ||
        (extended && !ctrl->sub->zones.extension_bytes) ||
        bytes < sizeof(header) || bytes > ctrl->max_bytes) {
        return NVME_SC_INVALID_FIELD;
    }
    if (!nvme_ns_has(req->ns, lba, 1)) {
        return NVME_SC_LBA_RANGE;
    }
    out = payload_buf_get(ctrl->payload, bytes);
    memset(out, 0, bytes);
    header.nr_zones = nvme_le64(
        put_zones(ctrl, nvme_zone_of(ctrl, lba), filter, extended, partial,
                  out + sizeof(header), bytes - sizeof(header)));
    memcpy(out, &header, sizeof(header));
    status = nvme_to_host(ctrl, sqe, out, bytes);
    payload_buf_put(ctrl->payload, out, bytes);
    return status;
}

/* ---- Identify ------------------------------------------------------------ */

uint64_t nvme_zone_append_most(const NvmeCtrl *ctrl)
{
    return ctrl->sub->zones.append_bytes
               ? MIN(ctrl->sub->zones.append_bytes, ctrl->max_bytes)
               : ctrl->max_bytes;
}

/* A read of two zones fails. */
static void put_zoned(const NvmeCtrl *ctrl, unsigned format,
                      NvmeIdZonedNamespace *id)
{
    id->mar = nvme_le32(ctrl->sub->zones.table.max_active - 1);
    id->mor = nvme_le32(ctrl->sub->zones.table.max_open - 1);
    id->zoc = nvme_le16(ctrl->sub->zones.finish_limit_s ? ZOC_EXCURSIONS : 0);
    /* Figure 48: RRL and FRL count from the recommendation on, up to what the
     * controller does itself.  It resets no zone: there is no RRL. */
    id->frl = nvme_le32(ctrl->sub->zones.finish_limit_s);
    if (ctrl->sub->zones.zrwa) {
        id->ozcs = nvme_le16(1 << 1); /* ZRWASUP */
        id->numzrwa = nvme_le32(ctrl->sub->zones.max_zrwa);
        id->zrwafg = nvme_le16((uint16_t)ctrl->sub->zones.zrwa_granule);
        id->zrwasz = nvme_le16((uint16_t)ctrl->sub->zones.zrwa);
        id->zrwacap = 1; /* explicit commits */
    }
    id->lbafe[format].zsze = nvme_le64(ctrl->sub->zones.size);
    id->lbafe[format].zdes = (uint8_t)(ctrl->sub->zones.extension_bytes / 64);
}

uint16_t nvme_identify_zoned_namespace(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                       void *data)
{
    const NvmeNamespace *ns = (sqe->dw[10] & 0xff) == 0x1b
                                  ? nvme_ns_existing(ctrl, sqe->dw[1])
                                  : nvme_ns_find(ctrl, sqe->dw[1]);

    if (!ns) {
        return nvme_ns_identify_missing(ctrl, sqe);
    }
    if (!ns->zone_size) {
        return NVME_SC_INVALID_FIELD;
    }
    put_zoned(ctrl, ns->format, data);
    return 0;
}

uint16_t nvme_identify_zoned_format(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                    void *data)
{
    int format = nvme_ns_zoned_format(ctrl);

    if ((int)(sqe->dw[11] & 0xffff) != format) {
        return NVME_SC_INVALID_FIELD;
    }
    put_zoned(ctrl, (unsigned)format, data);
    return 0;
}

uint16_t nvme_identify_zoned_controller(const NvmeCtrl *ctrl,
                                        const NvmeSqe *sqe, void *data)
{
    NvmeIdZonedController *id = data;

    /* 0: the limit of MDTS */
    id->zasl = nvme_zone_append_most(ctrl) == ctrl->max_bytes
                   ? 0
                   : (uint8_t)g_bit_nth_lsf(
                         ctrl->sub->zones.append_bytes >> NVME_PAGE_BITS, -1);
    return 0;
}

/* ---- log page BFh -------------------------------------------------------- */

bool nvme_has_zones(const NvmeCtrl *ctrl)
{
    return ctrl->sub->zones.n > 0;
}

void nvme_fill_changed_zones(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                             uint64_t at, void *page)
{
    NvmeChangedZones *log = page;
    uint32_t most = G_N_ELEMENTS(log->zslba);
    uint32_t n = 0;

    for (uint32_t i = 0; i < ctrl->sub->zones.n && n <= most; i++) {
        if (ctrl->sub->zones.zone[i].changed >> ctrl->index & 1) {
            if (n < most) {
                log->zslba[n] = nvme_le64(nvme_zone_start(ctrl, i));
            }
            n++;
        }
    }
    if (n > most) { /* too many to name them */
        memset(log->zslba, 0, sizeof(log->zslba));
    }
    log->n = nvme_le16((uint16_t)(n > most ? 0xffff : n));
}

void nvme_clear_changed_zones(NvmeCtrl *ctrl)
{
    for (uint32_t i = 0; i < ctrl->sub->zones.n; i++) {
        ctrl->sub->zones.zone[i].changed &= ~(1U << ctrl->index);
    }
}
