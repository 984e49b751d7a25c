/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fdp.c - Flexible Data Placement (Base 2.2, clauses 8.1.10, 7.3, 7.4, 5.1.12
 * and 5.1.25): one endurance group, one configuration, one reclaim group.
 *
 * Knows placement identifiers and what the host is told.  A placement handle of
 * the namespace is the reclaim unit handle of the same number, and that is the
 * drive's stream of that number; a reclaim unit is a block of it in each plane.
 */
#include "nvme-internal.h"
#include "fdp.h"
#include "health.h"
#include "prp.h"
#include "request.h"
#include "timestamp.h"

#define CONFIG_HEADER_BYTES 16
#define CONFIG_BYTES 64
#define RUH_BYTES 4
#define USAGE_BYTES 8
#define STATUS_HEADER_BYTES 16
#define STATUS_BYTES 32
#define EVENT_BYTES 64

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

/* Data is reallocated if handles isolate it only at first (clause
 * 5.1.12.1.31.2.1); elsewhere the last one of the table is not to be had. */
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

    nvme_timestamp(ctrl, event.timestamp);
    log->event[log->nevents++ % NVME_FDP_EVENTS] = event;
}

void nvme_fdp_moving(NvmeCtrl *ctrl, uint32_t stream, uint64_t lpn,
                     uint32_t nunits)
{
    const NvmeFdp *f = &ctrl->fdp;
    uint64_t nblocks = (uint64_t)nunits * ctrl->unit_blocks;

    if (!f->ruhs || ssd_info(ctrl->ssd)->isolated ||
        !is_wanted(f, EVENT_MEDIA_REALLOCATED, stream)) {
        return;
    }
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
uint16_t nvme_fdp_place(NvmeCtrl *ctrl, uint16_t pid)
{
    if (pid < ctrl->fdp.ruhs) {
        return pid;
    }
    if (is_wanted(&ctrl->fdp, EVENT_INVALID_PID, 0)) {
        add_event(ctrl, (NvmeFdpEvent){ .type = EVENT_INVALID_PID,
                                        .has_handle = true, .pid = pid });
    }
    return 0;
}

/* ---- I/O Management ----------------------------------------------------- */

uint16_t nvme_io_mgmt_receive(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe)
{
    uint8_t d[STATUS_HEADER_BYTES + NVME_MAX_RUHS * STATUS_BYTES] = { 0 };
    size_t n = STATUS_HEADER_BYTES + ctrl->fdp.ruhs * STATUS_BYTES;
    uint8_t operation = sqe->dw[10];

    if (!nvme_is_io_nsid(req->nsid)) {
        return NVME_SC_INVALID_NSID;
    }
    if (operation > 1) {
        return NVME_SC_INVALID_FIELD;
    }
    if (operation == 0) {
        return 0; /* no action */
    }
    put_le16(d + 14, ctrl->fdp.ruhs);
    for (unsigned i = 0; i < ctrl->fdp.ruhs; i++) {
        uint8_t *p = d + STATUS_HEADER_BYTES + i * STATUS_BYTES;

        put_le16(p, i);     /* placement identifier */
        put_le16(p + 2, i); /* reclaim unit handle */
        put_le64(p + 8, ssd_stream_room(ctrl->ssd, i) / ctrl->block_bytes);
    }
    return nvme_to_host_padded(ctrl, sqe, d, n, ((uint64_t)sqe->dw[11] + 1) * 4);
}

/*
 * What was written by the handle belongs to the reclaim unit that it is in now:
 * the drive programs there what the buffer still holds of it, and the command ends
 * when that is done.
 */
static void update_handle(NvmeCtrl *ctrl, NvmeRequest *req, uint16_t pid)
{
    NvmeStep *step = nvme_add_step(req, SSD_OP_FLUSH, 0, 0);

    step->close = true;
    step->stream = pid;
    if (ssd_stream_room(ctrl->ssd, pid) < ssd_info(ctrl->ssd)->reclaim_bytes &&
        is_wanted(&ctrl->fdp, EVENT_NOT_FULLY_WRITTEN, pid)) {
        add_event(ctrl, (NvmeFdpEvent){ .type = EVENT_NOT_FULLY_WRITTEN,
                                        .has_handle = true, .pid = pid,
                                        .ruh = pid });
    }
}

uint16_t nvme_io_mgmt_send(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe)
{
    uint8_t pids[2 * NVME_MAX_RUHS];
    unsigned n = (sqe->dw[10] >> 16) + 1;
    uint8_t operation = sqe->dw[10];
    uint16_t status;

    if (!nvme_is_io_nsid(req->nsid)) {
        return NVME_SC_INVALID_NSID;
    }
    if (operation > 1 || (operation == 1 && n > ctrl->fdp.ruhs)) {
        return NVME_SC_INVALID_FIELD;
    }
    if (operation == 0) {
        return 0;
    }
    status = nvme_from_host(ctrl, sqe, pids, 2 * n);
    for (unsigned i = 0; !status && i < n; i++) {
        if (get_le16(pids + 2 * i) >= ctrl->fdp.ruhs) {
            status = NVME_SC_INVALID_FIELD;
        }
    }
    if (!status && n > NVME_STEPS_SMALL) {
        req->steps = g_new(NvmeStep, n);
    }
    for (unsigned i = 0; !status && i < n; i++) {
        update_handle(ctrl, req, get_le16(pids + 2 * i));
    }
    return status;
}

/* ---- features ----------------------------------------------------------- */

uint16_t nvme_fdp_get_mode(NvmeCtrl *ctrl, NvmeRequest *req,
                           const NvmeSqe *sqe)
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
    uint8_t d[2 * G_N_ELEMENTS(event_types)];

    if (handle >= ctrl->fdp.ruhs) {
        return NVME_SC_INVALID_FIELD;
    }
    for (unsigned i = 0; i < n; i++) {
        d[2 * i] = event_types[i];
        d[2 * i + 1] = current ? ctrl->fdp.wanted[handle] >> i & 1 : 0;
    }
    req->dw0 = n;
    room = MIN(room, n);
    return room ? nvme_to_host(ctrl, sqe, d, 2 * room) : 0;
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

void nvme_fdp_fill_group(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                         uint8_t *page)
{
    SsdCounters c;

    ssd_get_counters(ctrl->ssd, &c);
    page[0] = nvme_critical_warning(ctrl) &
              (NVME_WARN_SPARE | NVME_WARN_RELIABILITY | NVME_WARN_READ_ONLY);
    page[3] = (uint8_t)c.spare_percent;
    page[4] = NVME_SPARE_THRESHOLD;
    page[5] = (uint8_t)MIN(c.percent_used, 255);
    put_le64(page + 48, billions(c.host_bytes_read));
    put_le64(page + 64, billions(c.host_bytes_written));
    put_le64(page + 80, billions(c.nand_bytes_written));
    put_le64(page + 96, c.commands[SSD_OP_READ]);
    put_le64(page + 112, c.commands[SSD_OP_WRITE]);
    put_le64(page + 128, ctrl->media_errors);
    put_le64(page + 144, ctrl->nerrors);
    put_le64(page + 160, ctrl->cfg.nblocks * ctrl->block_bytes); /* TEGCAP */
}

void nvme_fdp_fill_configs(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                           uint8_t *page)
{
    const SsdInfo *info = ssd_info(ctrl->ssd);
    unsigned n = ctrl->fdp.ruhs;
    unsigned bytes = CONFIG_BYTES + n * RUH_BYTES;
    uint8_t *d = page + CONFIG_HEADER_BYTES;

    put_le16(page, 0); /* one configuration */
    put_le32(page + 4, CONFIG_HEADER_BYTES + bytes);
    put_le16(d, bytes);
    /* Valid; a volatile write cache, or none; RGIF 0: the placement identifier
     * is a handle. */
    d[2] = 1 << 7 | (info->keeps_buffer ? 0 : 1 << 4);
    put_le32(d + 4, 1);        /* reclaim groups */
    put_le16(d + 8, n);        /* reclaim unit handles */
    put_le16(d + 10, n - 1);   /* MAXPIDS */
    put_le32(d + 12, 1);       /* namespaces */
    put_le64(d + 16, info->reclaim_bytes); /* RUNS */
    for (unsigned i = 0; i < n; i++) {
        d[CONFIG_BYTES + i * RUH_BYTES] = info->isolated
                                              ? RUHT_PERSISTENTLY_ISOLATED
                                              : RUHT_INITIALLY_ISOLATED;
    }
}

void nvme_fdp_fill_usage(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                         uint8_t *page)
{
    put_le16(page, ctrl->fdp.ruhs);
    for (unsigned i = 0; i < ctrl->fdp.ruhs; i++) {
        page[USAGE_BYTES + i * USAGE_BYTES] = RUHA_HOST_SPECIFIED;
    }
}

/* Bytes since the drive was made: written by the host, to media, erased. */
void nvme_fdp_fill_statistics(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                              uint8_t *page)
{
    const SsdInfo *info = ssd_info(ctrl->ssd);
    uint64_t host = 0;
    uint64_t units = 0;
    uint64_t erases = 0;

    for (unsigned i = 0; i <= info->nstreams; i++) {
        SsdStreamCounters c;

        ssd_get_stream(ctrl->ssd, i, &c);
        host += c.host_bytes_written;
        units += c.host_units + c.padded_units + c.copied_units;
        erases += c.erases;
    }
    put_le64(page, host);
    put_le64(page + 16, units * info->unit_bytes);
    put_le64(page + 32, erases * info->erase_bytes);
}

static void put_event(uint8_t *p, const NvmeFdpEvent *e)
{
    p[0] = e->type;
    p[1] = EVENT_NSIDV | (e->has_handle ? EVENT_PIV | EVENT_LV : 0);
    put_le16(p + 2, e->pid);
    memcpy(p + 4, e->timestamp, sizeof(e->timestamp));
    put_le32(p + 12, 1); /* the namespace */
    if (e->type == EVENT_MEDIA_REALLOCATED) { /* NVM command set, 4.1.4.7 */
        p[16] = 1;                            /* LBAV */
        put_le16(p + 18, e->nblocks_moved);
        put_le64(p + 20, e->lba);
    }
    put_le16(p + 34, e->ruh); /* of reclaim group 0 */
}

/* LSP bit 0: those for the host, or those of the controller.  The oldest comes
 * first. */
void nvme_fdp_fill_events(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                          uint8_t *page)
{
    const NvmeFdpLog *log = &ctrl->fdp.log[sqe->dw[10] >> 8 & 1];
    unsigned n = (unsigned)MIN(log->nevents, NVME_FDP_EVENTS);

    put_le32(page, n);
    for (unsigned i = 0; i < n; i++) {
        put_event(page + EVENT_BYTES + i * EVENT_BYTES,
                  &log->event[(log->nevents - n + i) % NVME_FDP_EVENTS]);
    }
}
