/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fdp-events.c - events of Flexible Data Placement, which of them the host
 * wants (feature 1Eh), and their log page (Base 2.1, sections 5.1.12.1.31 and
 * 5.1.25.1.21).
 *
 * The host selects events for placement handles of a namespace.  The selection
 * is of the reclaim unit handle, whatever its group.
 *
 * Knows handles and logs; does not know why anything happens.
 */
#include "nvme-internal.h"
#include "placement/fdp-events.h"
#include "placement/fdp-handles.h"
#include "namespace/namespace.h"
#include "memory/prp.h"
#include "health/timestamp.h"

#define EVENT_PIV   1
#define EVENT_NSIDV 2
#define EVENT_LV    4

/* NvmeFdpEvent.ruh: the group is above the handle. */
#define GROUP_SHIFT 8

/* In ascending order; each has the bit of its place in NvmeFdp.wanted. */
static const uint8_t event_types[] = {
    NVME_FDP_NOT_FULLY_WRITTEN, NVME_FDP_TIME_LIMIT,  NVME_FDP_RESET,
    NVME_FDP_INVALID_PID,       NVME_FDP_REALLOCATED, NVME_FDP_IMPLICIT,
};

/* ---- which there are, and which are wanted ------------------------------- */

/* Media Reallocated is an event of initially isolated handles only. */
static bool is_supported(const NvmeCtrl *ctrl, uint8_t type)
{
    const SsdInfo *info = ssd_info(ctrl->ssd);

    switch (type) {
    case NVME_FDP_TIME_LIMIT:
        return info->ru_limit_s > 0;
    case NVME_FDP_RESET:
        return info->closes_open;
    case NVME_FDP_REALLOCATED:
        return !info->isolated;
    default:
        return true;
    }
}

/* The bit of a supported type; 0: there is no such type. */
static uint8_t bit_of(const NvmeCtrl *ctrl, uint8_t type)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(event_types); i++) {
        if (event_types[i] == type) {
            return is_supported(ctrl, type) ? (uint8_t)(1U << i) : 0;
        }
    }
    return 0;
}

/* Does the host want the event of the handle of the stream? */
static bool is_wanted(const NvmeCtrl *ctrl, uint8_t type, uint32_t stream)
{
    return ctrl->sub->fdp.ruhs && nvme_fdp_on(ctrl) &&
           ctrl->sub->fdp.wanted[stream % ctrl->sub->fdp.ruhs] &
               bit_of(ctrl, type);
}

static void add_event(NvmeCtrl *ctrl, NvmeFdpEvent event)
{
    unsigned kind =
        event.type & 0x80 ? NVME_FDP_CONTROLLER_LOG : NVME_FDP_HOST_LOG;
    NvmeFdpLog *log = &ctrl->sub->fdp.log[kind];

    nvme_timestamp(ctrl, &event.timestamp);
    log->event[log->nevents++ % NVME_FDP_EVENTS] = event;
}

static uint16_t place_of(const NvmeCtrl *ctrl, uint32_t stream)
{
    return (uint16_t)(stream / ctrl->sub->fdp.ruhs << GROUP_SHIFT |
                      stream % ctrl->sub->fdp.ruhs);
}

void nvme_fdp_note(NvmeCtrl *ctrl, uint8_t type, uint32_t nsid, uint32_t stream)
{
    uint16_t pid = 0;

    if (!is_wanted(ctrl, type, stream)) {
        return;
    }
    /* Whose namespace it is nobody can say of a handle that several have. */
    for (uint32_t i = nsid ? nsid : 1; i <= ctrl->sub->namespaces.n; i++) {
        if (nvme_fdp_pid_of(ctrl, nvme_ns_existing(ctrl, i), stream, &pid)) {
            nsid = i;
            break;
        }
    }
    add_event(ctrl, (NvmeFdpEvent){.type = type,
                                   .has_handle = true,
                                   .pid = pid,
                                   .ruh = place_of(ctrl, stream),
                                   .lba = nsid});
}

void nvme_fdp_note_invalid(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                           uint16_t pid, uint32_t stream)
{
    if (is_wanted(ctrl, NVME_FDP_INVALID_PID, stream)) {
        add_event(ctrl, (NvmeFdpEvent){.type = NVME_FDP_INVALID_PID,
                                       .has_handle = true,
                                       .pid = pid,
                                       .ruh = place_of(ctrl, stream),
                                       .lba = ns->nsid});
    }
}

/* Of any initially isolated handle, if the block has data of several. */
static bool wants_moves(const NvmeCtrl *ctrl, uint32_t stream)
{
    const SsdInfo *info = ssd_info(ctrl->ssd);
    bool wanted = false;

    if (stream < info->nstreams) {
        return info->initial >> stream % ctrl->sub->fdp.ruhs & 1 &&
               is_wanted(ctrl, NVME_FDP_REALLOCATED, stream);
    }
    for (unsigned ruh = 0; ruh < ctrl->sub->fdp.ruhs; ruh++) {
        wanted |= info->initial >> ruh & 1 &&
                  is_wanted(ctrl, NVME_FDP_REALLOCATED, ruh);
    }
    return wanted;
}

void nvme_fdp_moving(NvmeCtrl *ctrl, uint32_t stream, uint64_t lpn,
                     uint32_t nunits)
{
    uint64_t nblocks = (uint64_t)nunits * ctrl->unit_blocks;
    const NvmeNamespace *ns;
    uint16_t pid = 0;
    bool known;

    if (!ctrl->sub->fdp.ruhs || !wants_moves(ctrl, stream)) {
        return;
    }
    ns = nvme_ns_of_drive(ctrl, lpn * ctrl->unit_blocks);
    known = nvme_fdp_pid_of(ctrl, ns, stream, &pid);
    nblocks >>= ns ? ns->drive_shift : 0;
    add_event(ctrl, (NvmeFdpEvent){
                        .type = NVME_FDP_REALLOCATED,
                        .has_handle = known,
                        .pid = pid,
                        .ruh = known ? place_of(ctrl, stream) : 0,
                        .nblocks_moved = (uint16_t)MIN(nblocks, UINT16_MAX),
                        .lba = lpn * ctrl->unit_blocks,
                    });
}

/* ---- feature 1Eh --------------------------------------------------------- */

/* The handle that CDW11 names; false: there is none. */
static bool take_handle(const NvmeCtrl *ctrl, const NvmeRequest *req,
                        const NvmeSqe *sqe, unsigned *ruh)
{
    unsigned placement = sqe->dw[11] & 0xffff;

    if (!req->ns || placement >= nvme_fdp_n_handles(ctrl, req->ns)) {
        return false;
    }
    *ruh = nvme_fdp_handle(ctrl, req->ns, placement);
    return true;
}

/* A descriptor for each event that is supported, as many as there is room for.
 * By default none is wanted. */
uint16_t nvme_fdp_get_events(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe, bool current)
{
    NvmeFdpEventSupport d[G_N_ELEMENTS(event_types)];
    unsigned room = sqe->dw[11] >> 16 & 0xff;
    unsigned n = 0;
    unsigned ruh;

    if (!nvme_fdp_on(ctrl)) {
        return NVME_SC_FDP_DISABLED;
    }
    if (!take_handle(ctrl, req, sqe, &ruh)) {
        return NVME_SC_INVALID_FIELD;
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(event_types); i++) {
        uint8_t bit = bit_of(ctrl, event_types[i]);

        if (bit) {
            d[n].type = event_types[i];
            d[n++].attributes = current && ctrl->sub->fdp.wanted[ruh] & bit;
        }
    }
    req->dw0 = n;
    room = MIN(room, n);
    return room ? nvme_to_host(ctrl, sqe, d, room * sizeof(d[0])) : 0;
}

uint16_t nvme_fdp_set_events(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe)
{
    unsigned n = sqe->dw[11] >> 16 & 0xff;
    uint8_t bits = 0;
    uint8_t types[255];
    uint16_t status;
    unsigned ruh;

    if (!nvme_fdp_on(ctrl)) {
        return NVME_SC_FDP_DISABLED;
    }
    if (!take_handle(ctrl, req, sqe, &ruh) || n == 0) {
        return NVME_SC_INVALID_FIELD;
    }
    status = nvme_from_host(ctrl, sqe, types, n);
    for (unsigned i = 0; !status && i < n; i++) {
        uint8_t bit = bit_of(ctrl, types[i]);

        if (!bit) {
            return NVME_SC_INVALID_FIELD;
        }
        bits |= bit;
    }
    if (status) {
        return status;
    }
    if (sqe->dw[12] & 1) {
        ctrl->sub->fdp.wanted[ruh] |= bits;
    } else {
        ctrl->sub->fdp.wanted[ruh] &= (uint8_t)~bits;
    }
    return 0;
}

/* ---- log page 23h -------------------------------------------------------- */

static uint32_t nsid_of(const NvmeCtrl *ctrl, const NvmeFdpEvent *e)
{
    if (e->type == NVME_FDP_REALLOCATED) {
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
        .rgid = nvme_le16(e->ruh >> GROUP_SHIFT),
        .ruhid = nvme_le16(e->ruh & ((1U << GROUP_SHIFT) - 1)),
    };
    if (e->type == NVME_FDP_REALLOCATED) {
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
    const NvmeFdpLog *log = &ctrl->sub->fdp.log[sqe->dw[10] >> 8 & 1];
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
