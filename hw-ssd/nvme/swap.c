/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * swap.c - a namespace that is all of an image loses it, and gets another.
 *
 * Without an image the namespace has no blocks and is attached to no
 * controller; it keeps its place in the drive.  Hosts are told as by Namespace
 * Attachment: the Changed Namespace List and its asynchronous event (Base 2.1,
 * Notice: Attached Namespace Attribute Changed).
 *
 * Two requests of the drive's own do a removal: all data becomes durable, so
 * that the image has it; then the drive frees the blocks, as Namespace
 * Management's Delete does, but the image keeps what it holds.
 *
 * Knows the namespace and the drive; images.h knows images.
 */
#include "nvme-internal.h"
#include "erase/erase-job.h"
#include "health/events.h"
#include "namespace/lba-track.h"
#include "namespace/namespace.h"
#include "queue/request.h"
#include "queue/steps.h"
#include "reservation/reservation.h"
#include "rest.h"
#include "ssd-report.h"

#include "options.h"

uint64_t nvme_namespace_room(const NvmeCtrl *ctrl, uint32_t nsid)
{
    const NvmeNamespace *ns = nvme_ns_existing(ctrl, nsid);

    return ns ? ns->run : 0;
}

static NvmeRequest *begin(NvmeCtrl *ctrl, uint32_t nsid,
                          void (*done)(NvmeCtrl *ctrl, NvmeRequest *req))
{
    NvmeRequest *req = nvme_request_new(ctrl);

    req->admin = true;
    req->nsid = nsid;
    req->done = done;
    req->pending = 1;
    return req;
}

static void send(NvmeCtrl *ctrl, NvmeRequest *req)
{
    nvme_request_start(ctrl, req);
    nvme_request_part_done(ctrl, req);
}

/* Its blocks are free. */
static void freed(NvmeCtrl *ctrl, NvmeRequest *req)
{
    const NvmeNamespace *ns = nvme_ns_existing(ctrl, req->nsid);
    uint64_t room = nvme_namespace_room(ctrl, req->nsid);
    uint32_t seen = ns->attached;

    if (req->status) {
        return;
    }
    payload_forget_zeroes(ctrl->payload, ns->base, room);
    nvme_lba_forget(ctrl, ns->base, room);
    nvme_reservation_forget(ctrl, ns);
    nvme_ns_take_out(ctrl, ns);
    nvme_notice_ns(ctrl->sub, seen, req->nsid);
}

/* The image has all data. */
static void flushed(NvmeCtrl *ctrl, NvmeRequest *flush)
{
    const NvmeNamespace *ns = nvme_ns_existing(ctrl, flush->nsid);
    uint64_t left = nvme_namespace_room(ctrl, flush->nsid);
    uint64_t most = UINT32_MAX / ns->granule_blocks * ns->granule_blocks;
    uint64_t lba = ns->base;
    NvmeRequest *req;

    if (flush->status) {
        return;
    }
    req = begin(ctrl, flush->nsid, freed);
    while (left) {
        uint64_t n = MIN(left, most);

        nvme_add_step(req, SSD_OP_TRIM, lba, (uint32_t)n);
        lba += n;
        left -= n;
    }
    send(ctrl, req);
}

bool nvme_namespace_remove(NvmeCtrl *ctrl, uint32_t nsid, GError **error)
{
    const char *why = !nvme_powered(ctrl)        ? "the drive has no power"
                      : ssd_read_only(ctrl->ssd) ? "the drive is read-only"
                      : nvme_erase_is_on(ctrl)   ? "the drive erases its data"
                      : nvme_refused_bytes(ctrl) ? "an image has refused data"
                      : !nvme_at_rest(ctrl)      ? "the drive is busy"
                                                 : NULL;
    NvmeRequest *req;

    if (why) {
        return opt_fail(error, OPT_ERROR_COMBINATION, "namespace %u: %s", nsid,
                        why);
    }
    req = begin(ctrl, nsid, flushed);
    req->barrier = true;
    nvme_add_step(req, SSD_OP_SHUTDOWN, 0, 0);
    send(ctrl, req);
    return true;
}

void nvme_namespace_insert(NvmeCtrl *ctrl, uint32_t nsid, uint64_t nblocks,
                           bool new_identity)
{
    const NvmeNamespace *ns = nvme_ns_existing(ctrl, nsid);
    uint32_t ctrls = 0;

    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        if (ns->shared || c == &ctrl->sub->first) {
            ctrls |= 1U << c->index;
        }
    }
    nvme_ns_put_in(ctrl, ns, nblocks, new_identity);
    nvme_ns_set_attached(ctrl, ns, ctrls);
    nvme_notice_ns(ctrl->sub, ctrls, nsid);
}
