/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fdp.c - Flexible Data Placement (Base 2.2, sections 8.1.10, 7.3, 7.4, 5.1.12
 * and 5.1.25): one endurance group, one configuration, one reclaim group.
 *
 * Knows placement identifiers and reports to the host.  A placement handle of
 * the namespace is the reclaim unit handle of the same number, and that is the
 * drive's stream of that number; a reclaim unit is a block of it in each plane.
 */
#include "nvme-internal.h"
#include "fdp.h"
#include "health.h"
#include "namespace.h"
#include "prp.h"
#include "request.h"
#include "ssd-report.h"
#include "timestamp.h"

#define RUHT_INITIALLY_ISOLATED 1
#define RUHT_PERSISTENTLY_ISOLATED 2
#define RUHA_HOST_SPECIFIED 1

/* Events that this controller has; from 80h on its own, the others for the
 * host. */
enum {
    EVENT_NOT_FULLY_WRITTEN = 0x00,
    EVENT_INVALID_PID = 0x03,
    EVENT_MEDIA_REALLOCATED = 0x80,
};
static const uint8_t event_types[] = { EVENT_NOT_FULLY_WRITTEN,
                                       EVENT_INVALID_PID,
                                       EVENT_MEDIA_REALLOCATED };

#define EVENT_PIV 1
#define EVENT_NSIDV 2
#define EVENT_LV 4

/* ---- events ------------------------------------------------------------- */

static unsigned event_bit(uint8_t type)
{
    unsigned i = 0;

    while (i < G_N_ELEMENTS(event_types) && event_types[i] != type) {
        i++;
    }
    return i;
}

/* Media Reallocated (Base 2.1, section 5.1.12.1.31.2.1), the last of the table,
 * is an event of initially isolated handles only. */
static unsigned n_event_types(const NvmeCtrl *ctrl)
{
    return G_N_ELEMENTS(event_types) - ssd_info(ctrl->ssd)->isolated;
}

/* Does the host want the event of this handle; ruhs: of any? */
static bool is_wanted(const NvmeFdp *f, uint8_t type, unsigned ruh)
{
    unsigned bits = ruh < f->ruhs ? f->wanted[ruh] : 0;

    for (unsigned i = 0; ruh == f->ruhs && i < f->ruhs; i++) {
        bits |= f->wanted[i];
    }
    return bits >> event_bit(type) & 1;
}

static void add_event(NvmeCtrl *ctrl, NvmeFdpEvent event)
{
    unsigned kind = event.type & 0x80 ? NVME_FDP_CONTROLLER_LOG
                                      : NVME_FDP_HOST_LOG;
    NvmeFdpLog *log = &ctrl->fdp.log[kind];

    nvme_timestamp(ctrl, &event.timestamp);
    log->event[log->nevents++ % NVME_FDP_EVENTS] = event;
}

void nvme_fdp_moving(NvmeCtrl *ctrl, uint32_t stream, uint64_t lpn,
                     uint32_t nunits)
{
    const NvmeFdp *f = &ctrl->fdp;

    /* a drive that is aged before it has a controller has no handles */
    if (!f->ruhs || ssd_info(ctrl->ssd)->isolated ||
        !is_wanted(f, EVENT_MEDIA_REALLOCATED, stream)) {
        return;
    }
    const NvmeNamespace *ns = nvme_ns_of_drive(ctrl, lpn * ctrl->unit_blocks);
    uint64_t nblocks = (uint64_t)nunits * ctrl->unit_blocks;

    nblocks >>= ns ? ns->drive_shift : 0;
    add_event(ctrl, (NvmeFdpEvent){
        .type = EVENT_MEDIA_REALLOCATED,
        .has_handle = stream < f->ruhs,
        .pid = stream < f->ruhs ? (uint16_t)stream : 0,
        .ruh = stream < f->ruhs ? (uint16_t)stream : 0,
        .nblocks_moved = (uint16_t)MIN(nblocks, UINT16_MAX),
        .lba = lpn * ctrl->unit_blocks,
    });
}

/* ---- writes ------------------------------------------------------------- */

/* An identifier that does not exist goes where one goes that is not given. */
uint16_t nvme_fdp_place(NvmeCtrl *ctrl, uint32_t nsid, uint16_t pid)
{
    if (pid < ctrl->fdp.ruhs) {
        return pid;
    }
    if (is_wanted(&ctrl->fdp, EVENT_INVALID_PID, 0)) {
        add_event(ctrl, (NvmeFdpEvent){.type = EVENT_INVALID_PID,
                                       .has_handle = true,
                                       .pid = pid,
                                       .lba = nsid});
    }
    return 0;
}

/* ---- I/O Management ----------------------------------------------------- */

uint16_t nvme_io_mgmt_receive(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe)
{
    struct {
        NvmeRuhStatusHeader header;
        NvmeRuhStatus handle[NVME_MAX_RUHS];
    } d = { .header = { .nruhsd = nvme_le16(ctrl->fdp.ruhs) } };
    size_t n = sizeof(d.header) + ctrl->fdp.ruhs * sizeof(d.handle[0]);
    uint8_t operation = sqe->dw[10];

    if (!req->ns) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    if (operation > 1) {
        return NVME_SC_INVALID_FIELD;
    }
    if (operation == 0) {
        return 0; /* no action */
    }
    for (unsigned i = 0; i < ctrl->fdp.ruhs; i++) {
        uint64_t room = ssd_stream_room(ctrl->ssd, i) >> req->ns->block_shift;

        d.handle[i] = (NvmeRuhStatus){
            .pid = nvme_le16(i),
            .ruhid = nvme_le16(i),
            .ruamw = nvme_le64(room),
        };
    }
    return nvme_to_host_padded(ctrl, sqe, &d, n, ((uint64_t)sqe->dw[11] + 1) * 4);
}

/*
 * Data written by the handle belongs to the current reclaim unit: the drive
 * programs there the part that the buffer still holds, and the command ends
 * when that is done.
 */
static void update_handle(NvmeCtrl *ctrl, NvmeRequest *req, uint16_t pid)
{
    NvmeStep *step = nvme_add_step(req, SSD_OP_FLUSH, 0, 0);

    step->close = true;
    step->stream = pid;
    if (ssd_stream_room(ctrl->ssd, pid) < ssd_info(ctrl->ssd)->reclaim_bytes &&
        is_wanted(&ctrl->fdp, EVENT_NOT_FULLY_WRITTEN, pid)) {
        add_event(ctrl, (NvmeFdpEvent){.type = EVENT_NOT_FULLY_WRITTEN,
                                       .has_handle = true,
                                       .pid = pid,
                                       .ruh = pid,
                                       .lba = req->nsid});
    }
}

uint16_t nvme_io_mgmt_send(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe)
{
    uint16_t pids[NVME_MAX_RUHS];
    unsigned n = (sqe->dw[10] >> 16) + 1;
    uint8_t operation = sqe->dw[10];
    uint16_t status;

    if (!req->ns) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    if (operation > 1 || (operation == 1 && n > ctrl->fdp.ruhs)) {
        return NVME_SC_INVALID_FIELD;
    }
    if (operation == 0) {
        return 0;
    }
    status = nvme_from_host(ctrl, sqe, pids, n * sizeof(pids[0]));
    for (unsigned i = 0; !status && i < n; i++) {
        if (nvme_le16(pids[i]) >= ctrl->fdp.ruhs) {
            status = NVME_SC_INVALID_FIELD;
        }
    }
    for (unsigned i = 0; !status && i < n; i++) {
        update_handle(ctrl, req, nvme_le16(pids[i]));
    }
    return status;
}

/* ---- features ----------------------------------------------------------- */

uint16_t nvme_fdp_get_mode(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe, bool current)
{
    if ((sqe->dw[11] & 0xffff) != 1) {
        return NVME_SC_INVALID_FIELD;
    }
    req->dw0 = 1; /* enabled, configuration 0 */
    return 0;
}

/* Not while the group has a namespace, and it always has. */
uint16_t nvme_fdp_set_mode(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe)
{
    return (sqe->dw[11] & 0xffff) == 1 ? NVME_SC_COMMAND_SEQUENCE
                                       : NVME_SC_INVALID_FIELD;
}

/* A descriptor for each event that is supported, as many as there is room for.
 * By default none is wanted. */
uint16_t nvme_fdp_get_events(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe, bool current)
{
    unsigned handle = sqe->dw[11] & 0xffff;
    unsigned room = sqe->dw[11] >> 16 & 0xff;
    unsigned n = n_event_types(ctrl);
    NvmeFdpEventSupport d[G_N_ELEMENTS(event_types)];

    if (handle >= ctrl->fdp.ruhs) {
        return NVME_SC_INVALID_FIELD;
    }
    for (unsigned i = 0; i < n; i++) {
        d[i].type = event_types[i];
        d[i].attributes = current ? ctrl->fdp.wanted[handle] >> i & 1 : 0;
    }
    req->dw0 = n;
    room = MIN(room, n);
    return room ? nvme_to_host(ctrl, sqe, d, room * sizeof(d[0])) : 0;
}

uint16_t nvme_fdp_set_events(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe)
{
    unsigned handle = sqe->dw[11] & 0xffff;
    unsigned n = sqe->dw[11] >> 16 & 0xff;
    uint8_t bits = 0;
    uint8_t types[255];
    uint16_t status;

    if (handle >= ctrl->fdp.ruhs || n == 0) {
        return NVME_SC_INVALID_FIELD;
    }
    status = nvme_from_host(ctrl, sqe, types, n);
    for (unsigned i = 0; !status && i < n; i++) {
        unsigned bit = event_bit(types[i]);

        if (bit >= n_event_types(ctrl)) {
            return NVME_SC_INVALID_FIELD;
        }
        bits |= 1U << bit;
    }
    if (status) {
        return status;
    }
    if (sqe->dw[12] & 1) {
        ctrl->fdp.wanted[handle] |= bits;
    } else {
        ctrl->fdp.wanted[handle] &= ~bits;
    }
    return 0;
}

/* ---- log pages ---------------------------------------------------------- */

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
    g->media_errors = nvme_le128(ctrl->life.media_errors);
    g->error_entries = nvme_le128(ctrl->error_log.n);
    g->tegcap = nvme_le128(ctrl->cfg.nblocks * ctrl->block_bytes);
}

/* One configuration: one reclaim group, one namespace. */
void nvme_fdp_fill_configs(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                           void *page)
{
    struct {
        NvmeFdpConfigsHeader header;
        NvmeFdpConfig config;
        NvmeFdpHandle handle[];
    } *d = page;
    const SsdInfo *info = ssd_info(ctrl->ssd);
    unsigned n = ctrl->fdp.ruhs;
    unsigned bytes = sizeof(d->config) + n * sizeof(d->handle[0]);

    d->header.n = nvme_le16(1 - 1);
    d->header.bytes = nvme_le32(sizeof(d->header) + bytes);
    d->config = (NvmeFdpConfig){
        .bytes = nvme_le16(bytes),
        /* Valid; a volatile write cache, or none; RGIF 0: the placement
         * identifier is a handle. */
        .fdpa = 1 << 7 | (info->keeps_buffer ? 0 : 1 << 4),
        .nrg = nvme_le32(1),
        .nruh = nvme_le16(n),
        .maxpids = nvme_le16(n - 1),
        .nns = nvme_le32(1),
        .runs = nvme_le64(info->reclaim_bytes),
    };
    for (unsigned k = 0; k < n; k++) {
        d->handle[k].ruht = info->isolated ? RUHT_PERSISTENTLY_ISOLATED
                                           : RUHT_INITIALLY_ISOLATED;
    }
}

void nvme_fdp_fill_usage(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                         void *page)
{
    struct {
        NvmeFdpUsageHeader header;
        NvmeFdpUsage handle[];
    } *d = page;

    d->header.nruh = nvme_le16(ctrl->fdp.ruhs);
    for (unsigned k = 0; k < ctrl->fdp.ruhs; k++) {
        d->handle[k].ruha = RUHA_HOST_SPECIFIED;
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

static uint32_t nsid_of(const NvmeCtrl *ctrl, const NvmeFdpEvent *e)
{
    if (e->type == EVENT_MEDIA_REALLOCATED) {
        const NvmeNamespace *ns = nvme_ns_of_drive(ctrl, e->lba);

        return ns ? ns->nsid : 0;
    }
    return e->lba ? (uint32_t)e->lba : 1;
}

static void put_event(const NvmeCtrl *ctrl, NvmeFdpEventEntry *p,
                      const NvmeFdpEvent *e)
{
    *p = (NvmeFdpEventEntry){
        .type = e->type,
        .flags = EVENT_NSIDV | (e->has_handle ? EVENT_PIV | EVENT_LV : 0),
        .pid = nvme_le16(e->pid),
        .timestamp = e->timestamp,
        .nsid = nvme_le32(nsid_of(ctrl, e)),
        .ruhid = nvme_le16(e->ruh), /* of reclaim group 0 */
    };
    if (e->type == EVENT_MEDIA_REALLOCATED) {
        p->moved.flags = 1; /* LBAV */
        p->moved.nlbam = nvme_le16(e->nblocks_moved);
        p->moved.lba = nvme_le64(
            nvme_ns_from_drive(nvme_ns_of_drive(ctrl, e->lba), e->lba));
    }
}

/* LSP bit 0: those for the host, or those of the controller.  The oldest comes
 * first. */
void nvme_fdp_fill_events(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                          void *page)
{
    const NvmeFdpLog *log = &ctrl->fdp.log[sqe->dw[10] >> 8 & 1];
    unsigned n = (unsigned)MIN(log->nevents, NVME_FDP_EVENTS);
    struct {
        NvmeFdpEventsHeader header;
        NvmeFdpEventEntry event[NVME_FDP_EVENTS];
    } *d = page;

    d->header.n = nvme_le32(n);
    for (unsigned k = 0; k < n; k++) {
        put_event(ctrl, &d->event[k],
                  &log->event[(log->nevents - n + k) % NVME_FDP_EVENTS]);
    }
}
