/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fdp.c - Flexible Data Placement (Base 2.2, sections 8.1.10, 7.3, 7.4 and
 * 5.1.25): where a Write goes, reclaim units of handles, and feature 1Dh.
 *
 * Knows the streams of the drive that handles are: handle h of reclaim group g
 * is stream g * fdp.ruhs + h.  Lists of namespaces are in fdp-handles.c, events
 * in fdp-events.c.
 */
#include "nvme-internal.h"
#include "placement/fdp.h"
#include "placement/fdp-events.h"
#include "placement/fdp-handles.h"
#include "namespace/namespace.h"
#include "memory/prp.h"
#include "queue/request.h"

/* ---- reclaim units ------------------------------------------------------- */

static uint64_t room_of(const NvmeCtrl *ctrl, uint32_t stream)
{
    return ssd_stream_room(ctrl->ssd, stream);
}

static bool is_begun(const NvmeCtrl *ctrl, uint32_t stream)
{
    return room_of(ctrl, stream) < ssd_info(ctrl->ssd)->reclaim_bytes;
}

/* How long the host may fill its reclaim unit on; 0: no longer. */
static uint64_t time_left_ns(const NvmeCtrl *ctrl, uint32_t stream)
{
    uint64_t limit_ns = (uint64_t)ssd_info(ctrl->ssd)->ru_limit_s * 1000000000;
    uint64_t age_ns =
        ctrl->sub->now_ns - ctrl->sub->fdp_units->began_ns[stream];

    return is_begun(ctrl, stream) ? limit_ns - MIN(limit_ns, age_ns) : limit_ns;
}

/* A Write for the stream has come.  It does not go to a reclaim unit that has
 * passed its time limit. */
static void use_unit(NvmeCtrl *ctrl, const NvmeNamespace *ns, uint32_t stream)
{
    if (!ssd_info(ctrl->ssd)->ru_limit_s) {
        return;
    }
    if (is_begun(ctrl, stream)) {
        if (time_left_ns(ctrl, stream) > 0) {
            return;
        }
        nvme_fdp_note(ctrl, NVME_FDP_TIME_LIMIT, ns->nsid, stream);
        ssd_stream_close(ctrl->ssd, ctrl->sub->now_ns, stream);
    }
    ctrl->sub->fdp_units->began_ns[stream] = ctrl->sub->now_ns;
}

void nvme_fdp_unit_begun(NvmeCtrl *ctrl, uint32_t stream)
{
    if (ctrl->sub->fdp.ruhs) {
        ctrl->sub->fdp_units->began_ns[stream] = ctrl->sub->now_ns;
        nvme_fdp_note(ctrl, NVME_FDP_IMPLICIT, 0, stream);
    }
}

void nvme_fdp_overflowed(NvmeCtrl *ctrl, uint32_t stream)
{
    if (ctrl->sub->fdp.ruhs) {
        nvme_fdp_note(ctrl, NVME_FDP_IMPLICIT, 0, stream);
    }
}

void nvme_fdp_power_on(NvmeCtrl *ctrl)
{
    const SsdInfo *info = ssd_info(ctrl->ssd);

    for (uint32_t i = 0; ctrl->sub->fdp.ruhs && info->closes_open &&
                         i < info->groups * info->ruhs;
         i++) {
        if (is_begun(ctrl, i)) {
            nvme_fdp_note(ctrl, NVME_FDP_RESET, 0, i);
            ssd_stream_close(ctrl->ssd, ctrl->sub->now_ns, i);
        }
    }
}

/* ---- writes ------------------------------------------------------------- */

/* Data without an identifier goes to placement handle 0, and the controller
 * selects the group: in turns by address, in pieces of that size. */
#define GROUP_PIECE (1U << 20)

static uint16_t default_stream(const NvmeCtrl *ctrl, const NvmeRequest *req)
{
    uint64_t at = (req->lba << req->ns->block_shift) / GROUP_PIECE + req->nsid;
    unsigned group = (unsigned)(at % ssd_info(ctrl->ssd)->groups);
    unsigned ruh = nvme_fdp_n_handles(ctrl, req->ns)
                       ? nvme_fdp_handle(ctrl, req->ns, 0)
                       : 0;

    return (uint16_t)(group * ctrl->sub->fdp.ruhs + ruh);
}

uint16_t nvme_fdp_place_default(NvmeCtrl *ctrl, const NvmeRequest *req)
{
    uint16_t stream = default_stream(ctrl, req);

    use_unit(ctrl, req->ns, stream);
    return stream;
}

/* An identifier that does not exist goes where one goes that is not given. */
uint16_t nvme_fdp_place(NvmeCtrl *ctrl, const NvmeRequest *req, uint16_t pid)
{
    uint16_t stream;

    if (!nvme_fdp_stream(ctrl, req->ns, pid, &stream)) {
        stream = default_stream(ctrl, req);
        nvme_fdp_note_invalid(ctrl, req->ns, pid, stream);
    }
    use_unit(ctrl, req->ns, stream);
    return stream;
}

/* ---- I/O Management ----------------------------------------------------- */

static void put_status(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                       uint16_t pid, NvmeRuhStatus *d)
{
    uint16_t stream = 0;

    nvme_fdp_stream(ctrl, ns, pid, &stream);
    *d = (NvmeRuhStatus){
        .pid = nvme_le16(pid),
        .ruhid = nvme_le16(stream % ctrl->sub->fdp.ruhs),
        .earutr = nvme_le32(
            (uint32_t)((time_left_ns(ctrl, stream) + 999999999) / 1000000000)),
        .ruamw = nvme_le64(room_of(ctrl, stream) >> ns->block_shift),
    };
}

uint16_t nvme_io_mgmt_receive(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe)
{
    struct {
        NvmeRuhStatusHeader header;
        NvmeRuhStatus handle[NVME_MAX_RUHS];
    } d = {.header = {.nruhsd = 0}};
    uint8_t operation = sqe->dw[10];
    unsigned n = 0;

    if (!req->ns) {
        return req->nsid == NVME_NSID_ALL ? NVME_SC_INVALID_NSID
                                          : nvme_ns_missing(ctrl, req->nsid);
    }
    if (operation > 1) {
        return NVME_SC_INVALID_FIELD;
    }
    if (operation == 0) {
        return 0; /* no action */
    }
    if (!nvme_fdp_on(ctrl)) {
        return NVME_SC_FDP_DISABLED;
    }
    for (unsigned i = 0; i < nvme_fdp_n_handles(ctrl, req->ns); i++) {
        for (unsigned g = 0; g < ssd_info(ctrl->ssd)->groups; g++) {
            put_status(ctrl, req->ns, nvme_fdp_pid(ctrl, g, i), &d.handle[n++]);
        }
    }
    d.header.nruhsd = nvme_le16(n);
    return nvme_to_host_padded(ctrl, sqe, &d,
                               sizeof(d.header) + n * sizeof(d.handle[0]),
                               ((uint64_t)sqe->dw[11] + 1) * 4);
}

/*
 * Data written by the handle belongs to the current reclaim unit: the drive
 * programs there the part that the buffer still holds, and the command ends
 * when that is done.
 */
static void update_handle(NvmeCtrl *ctrl, NvmeRequest *req, uint16_t stream)
{
    NvmeStep *step = nvme_add_step(req, SSD_OP_FLUSH, 0, 0);

    step->close = true;
    step->stream = stream;
    if (is_begun(ctrl, stream)) {
        nvme_fdp_note(ctrl, NVME_FDP_NOT_FULLY_WRITTEN, req->nsid, stream);
    }
}

uint16_t nvme_io_mgmt_send(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint16_t pids[NVME_MAX_RUHS];
    uint16_t stream[NVME_MAX_RUHS];
    unsigned n = (sqe->dw[10] >> 16) + 1;
    uint8_t operation = sqe->dw[10];
    uint16_t status;

    if (!req->ns) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    if (operation == 1 && !nvme_fdp_on(ctrl)) {
        return NVME_SC_FDP_DISABLED;
    }
    if (operation > 1 ||
        (operation == 1 &&
         n > nvme_fdp_ruhs(ctrl) * ssd_info(ctrl->ssd)->groups)) {
        return NVME_SC_INVALID_FIELD;
    }
    if (operation == 0) {
        return 0;
    }
    status = nvme_from_host(ctrl, sqe, pids, n * sizeof(pids[0]));
    for (unsigned i = 0; !status && i < n; i++) {
        if (!nvme_fdp_stream(ctrl, req->ns, nvme_le16(pids[i]), &stream[i])) {
            status = NVME_SC_INVALID_FIELD;
        }
    }
    for (unsigned i = 0; !status && i < n; i++) {
        update_handle(ctrl, req, stream[i]);
    }
    return status;
}

/* ---- feature 1Dh --------------------------------------------------------- */

uint16_t nvme_fdp_get_mode(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe,
                           bool current)
{
    if ((sqe->dw[11] & 0xffff) != NVME_ONLY_GROUP) {
        return NVME_SC_INVALID_FIELD;
    }
    req->dw0 = 1; /* enabled, configuration 0 */
    if (current) {
        req->dw0 = nvme_fdp_on(ctrl) | (uint32_t)ctrl->sub->fdp_units->config
                                           << 8;
    }
    return 0;
}

static bool has_namespace(const NvmeCtrl *ctrl)
{
    for (uint32_t nsid = 1; nsid <= ctrl->sub->namespaces.n; nsid++) {
        if (nvme_ns_existing(ctrl, nsid)) {
            return true;
        }
    }
    return false;
}

/* Not while the group has a namespace. */
uint16_t nvme_fdp_set_mode(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    unsigned config = sqe->dw[12] >> 8 & 0xff;

    if ((sqe->dw[11] & 0xffff) != NVME_ONLY_GROUP) {
        return NVME_SC_INVALID_FIELD;
    }
    if (has_namespace(ctrl)) {
        return NVME_SC_COMMAND_SEQUENCE;
    }
    if (config >= nvme_fdp_n_configs(ctrl)) {
        return NVME_SC_INVALID_FIELD;
    }
    ctrl->sub->fdp_units->disabled = !(sqe->dw[12] & 1);
    ctrl->sub->fdp_units->config = (uint8_t)config;
    return 0;
}
