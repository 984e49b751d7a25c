/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lba-status.c - the Get LBA Status command and the LBA Status Information log
 * (Base 1.4, Get LBA Status command; log page 0Eh; feature 15h).
 *
 * The command reports blocks that the controller tracks (lba-track.c), or first
 * reads the range through the drive, without the host link, and so finds
 * others. A piece of the range that cannot be read is read again block by
 * block.
 *
 * An event tells of new blocks, not more often than feature 15h says.
 */
#include "nvme-internal.h"
#include "health/events.h"
#include "admin/lba-status.h"
#include "namespace/lba-track.h"
#include "namespace/namespace.h"
#include "memory/prp.h"
#include "queue/request.h"
#include "simtime.h"
#include "queue/steps.h"

#define TYPE_SCAN    0x10
#define TYPE_TRACKED 0x11

/* Completion Condition. */
#define CMPC_FULL 1 /* the list is as long as the host wants it at most */
#define CMPC_DONE 2

#define STATUS_MAY_BE_LOST 1 /* bits 2:0 */

#define CHUNK_BYTES (256U << 10)
#define TICK_NS     (100 * NS_PER_MS) /* of LSIRI */

/* ---- the list ------------------------------------------------------------ */

/* The part of a tracked range that is of the namespace, in its blocks. */
static bool part_of(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                    const NvmeLbaRange *r, uint64_t *first, uint64_t *end)
{
    if (nvme_ns_of_drive(ctrl, r->lba) != ns) {
        return false;
    }
    *first = nvme_ns_from_drive(ns, r->lba);
    *end = nvme_ns_from_drive(ns, r->end - 1) + 1;
    return true;
}

/* What the host asks for: blocks of the namespace, and room for descriptors. */
typedef struct Wanted {
    uint64_t first;
    uint64_t end;
    uint64_t room;
} Wanted;

static Wanted wanted(const NvmeNamespace *ns, const NvmeSqe *sqe)
{
    uint64_t first = nvme_sqe_slba(sqe);
    uint64_t n = sqe->dw[13] & 0xffff;
    uint64_t bytes = ((uint64_t)sqe->dw[12] + 1) * 4;

    return (Wanted){
        .first = first,
        .end = n ? MIN(first + n, ns->nblocks) : ns->nblocks,
        .room = bytes < sizeof(NvmeLbaStatusHead)
                    ? 0
                    : (bytes - sizeof(NvmeLbaStatusHead)) /
                          sizeof(NvmeLbaStatusEntry),
    };
}

static uint16_t answer(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                       const NvmeSqe *sqe)
{
    struct {
        NvmeLbaStatusHead head;
        NvmeLbaStatusEntry entry[NVME_LBA_RANGES];
    } data = {.head = {.cmpc = CMPC_DONE}};
    Wanted w = wanted(ns, sqe);
    uint64_t bytes = ((uint64_t)sqe->dw[12] + 1) * 4;
    uint32_t n = 0;

    for (uint32_t i = 0; i < ctrl->sub->lba_track.n; i++) {
        uint64_t first, end;

        if (!part_of(ctrl, ns, &ctrl->sub->lba_track.range[i], &first, &end) ||
            end <= w.first || first >= w.end) {
            continue;
        }
        if (n == w.room) {
            data.head.cmpc = CMPC_FULL;
            break;
        }
        first = MAX(first, w.first);
        end = MIN(end, w.end);
        data.entry[n++] = (NvmeLbaStatusEntry){
            .dslba = nvme_le64(first),
            .nlb = nvme_le32((uint32_t)(end - first)),
            .status = STATUS_MAY_BE_LOST,
        };
    }
    data.head.nlsd = nvme_le32(n);
    return nvme_to_host_padded(ctrl, sqe, &data, sizeof(data), bytes);
}

/* ---- the scan ------------------------------------------------------------ */

static void scan_over(NvmeCtrl *ctrl, uint16_t status)
{
    NvmeLbaScan *s = &ctrl->lba_scan;
    NvmeRequest *cmd = s->command;

    s->command = NULL;
    if (!status && cmd->sq) {
        status = answer(ctrl, cmd->ns, &s->sqe);
    }
    cmd->status = cmd->status ? cmd->status : status;
    nvme_request_part_done(ctrl, cmd);
}

static void read_done(NvmeCtrl *ctrl, NvmeRequest *req)
{
    NvmeLbaScan *s = &ctrl->lba_scan;

    if (s->read != req) {
        return; /* of a scan that has ended */
    }
    s->read = NULL;
    if (req->status == NVME_SC_UNRECOVERED_READ && s->n > 1) {
        s->fine_end = s->next + s->n; /* again, block by block */
        return;
    }
    s->status = req->status == NVME_SC_UNRECOVERED_READ ? 0 : req->status;
    s->next += s->n;
}

static void read_next(NvmeCtrl *ctrl)
{
    NvmeLbaScan *s = &ctrl->lba_scan;
    NvmeRequest *req = nvme_request_new(ctrl);
    uint64_t lba;

    s->n = s->next < s->fine_end
               ? 1
               : MIN(CHUNK_BYTES >> ctrl->block_shift, s->end - s->next);
    s->n = nvme_ns_piece(s->command->ns, s->next, s->n, &lba);
    req->admin = true;
    req->internal = true;
    req->done = read_done;
    req->pending = 1;
    s->read = req;
    nvme_add_step(req, SSD_OP_READ, lba, (uint32_t)s->n);
    nvme_request_start(ctrl, req);
    nvme_request_part_done(ctrl, req);
}

static void start_scan(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    Wanted w = wanted(req->ns, sqe);

    nvme_upkeep_wake(ctrl->sub);
    ctrl->lba_scan = (NvmeLbaScan){
        .command = req,
        .next = w.first << req->ns->drive_shift,
        .end = w.end << req->ns->drive_shift,
        .sqe = *sqe,
    };
    req->pending++; /* until scan_over() */
}

static bool scan_goes_on(NvmeCtrl *ctrl)
{
    NvmeLbaScan *s = &ctrl->lba_scan;

    if (!s->command || s->read) {
        return false;
    }
    if (s->status || s->next >= s->end || !s->command->sq ||
        !s->command->ns->exists) {
        scan_over(ctrl, s->status);
    } else {
        read_next(ctrl);
    }
    return true;
}

void nvme_lba_status_power_lost(NvmeCtrl *ctrl)
{
    ctrl->lba_scan.read = NULL;
    if (ctrl->lba_scan.command) {
        scan_over(ctrl, NVME_SC_POWER_LOSS);
    }
}

/* ---- the command --------------------------------------------------------- */

uint16_t nvme_get_lba_status(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe)
{
    unsigned type = sqe->dw[13] >> 24;

    if (!req->ns) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    if ((type != TYPE_SCAN && type != TYPE_TRACKED) ||
        ((uint64_t)sqe->dw[12] + 1) * 4 > ctrl->max_bytes) {
        return NVME_SC_INVALID_FIELD;
    }
    if (nvme_sqe_slba(sqe) >= req->ns->nblocks ||
        (sqe->dw[13] & 0xffff) > req->ns->nblocks - nvme_sqe_slba(sqe)) {
        return NVME_SC_LBA_RANGE;
    }
    if (type == TYPE_TRACKED) {
        return answer(ctrl, req->ns, sqe);
    }
    if (ctrl->lba_scan.command) {
        return NVME_SC_COMMAND_SEQUENCE; /* one at a time */
    }
    start_scan(ctrl, req, sqe);
    return 0;
}

/* ---- events -------------------------------------------------------------- */

static uint64_t event_ns(const NvmeCtrl *ctrl)
{
    uint32_t interval =
        ctrl->features.value[NVME_FEAT_LBA_STATUS] & 0xffff; /* LSIRI */

    return ctrl->sub->lba_track.told_ns
               ? ctrl->sub->lba_track.told_ns + interval * TICK_NS
               : 0;
}

static bool may_tell(const NvmeCtrl *ctrl)
{
    return ctrl->sub->lba_track.fresh && nvme_running(ctrl);
}

bool nvme_lba_status_look(NvmeCtrl *ctrl)
{
    bool any = scan_goes_on(ctrl);

    if (may_tell(ctrl) && ctrl->sub->now_ns >= event_ns(ctrl)) {
        nvme_lba_told(ctrl);
        nvme_notice_all(ctrl->sub, NVME_NOTICE_LBA_STATUS);
    }
    return any;
}

uint64_t nvme_lba_status_ns(const NvmeCtrl *ctrl)
{
    return G_UNLIKELY(may_tell(ctrl)) ? MAX(event_ns(ctrl), ctrl->sub->now_ns)
                                      : SSD_TIME_NEVER;
}

/* ---- the log ------------------------------------------------------------- */

/* Tracked ranges of a namespace from the header on; how many. */
static uint32_t put_ranges(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                           NvmeLbaLogRange *out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < ctrl->sub->lba_track.n; i++) {
        uint64_t first, end;

        if (part_of(ctrl, ns, &ctrl->sub->lba_track.range[i], &first, &end)) {
            out[n++] = (NvmeLbaLogRange){
                .rslba = nvme_le64(first),
                .rnlb = nvme_le32((uint32_t)(end - first)),
            };
        }
    }
    return n;
}

void nvme_fill_lba_status_log(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                              uint64_t i, void *page)
{
    NvmeLbaLogHead *head = page;
    uint8_t *at = (uint8_t *)page + sizeof(*head);
    uint32_t elements = 0;
    uint64_t blocks = 0;

    for (uint32_t k = 0; k < ctrl->sub->lba_track.n; k++) {
        blocks += ctrl->sub->lba_track.range[k].end -
                  ctrl->sub->lba_track.range[k].lba;
    }
    for (uint32_t k = 0; k < ctrl->sub->namespaces.n; k++) {
        const NvmeNamespace *ns = &ctrl->sub->namespaces.table[k];
        NvmeLbaLogElement *e = (void *)at;
        uint32_t n = 0;

        if (nvme_is_attached(ctrl, ns)) {
            n = put_ranges(ctrl, ns, (void *)(at + sizeof(*e)));
        }
        if (n) {
            e->neid = nvme_le32(ns->nsid);
            e->nlrd = nvme_le32(n);
            e->ratype = TYPE_TRACKED;
            at += sizeof(*e) + n * sizeof(NvmeLbaLogRange);
            elements++;
        }
    }
    head->lslplen = nvme_le32((uint32_t)(at - (uint8_t *)page));
    head->nlslne = nvme_le32(elements);
    head->estulb = nvme_le32((uint32_t)MIN(blocks, UINT32_MAX));
    head->lsgc = nvme_le16(ctrl->sub->lba_track.generation);
}
