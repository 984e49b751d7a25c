/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zone-send.c - the Zone Management Send command (Zoned Namespace Command Set
 * 1.1, section 3.4.3), and the same work for zones without a command.
 *
 * A reset is a TRIM of the zone that ends when its blocks are erased; a finish
 * closes the zone's stream, whose waiting units are programmed, and padding
 * behind them.  zones.c knows the states.
 */
#include "nvme-internal.h"
#include "health/events.h"
#include "namespace/namespace.h"
#include "memory/prp.h"
#include "queue/request.h"
#include "queue/steps.h"
#include "zone/zone-send.h"
#include "zone/zones.h"

/* Zone Send Action. */
enum {
    SEND_CLOSE = 0x01,
    SEND_FINISH = 0x02,
    SEND_OPEN = 0x03,
    SEND_RESET = 0x04,
    SEND_OFFLINE = 0x05,
    SEND_SET_EXTENSION = 0x10,
    SEND_COMMIT = 0x11, /* Flush Explicit ZRWA Range */
};

#define ALLOCATE_ZRWA (1U << 9) /* ZRWAA, of Open */

/* ---- steps --------------------------------------------------------------- */

static void add_reset(NvmeCtrl *ctrl, NvmeRequest *req, uint32_t i,
                      uint16_t stream)
{
    uint64_t capacity = ctrl->sub->zones.capacity
                        << ctrl->sub->zones.drive_shift;
    NvmeStep *step =
        nvme_add_step(req, SSD_OP_TRIM, i * capacity, (uint32_t)capacity);

    step->zone = i + 1;
    step->erase = true;
    step->stream = stream;
}

/* The drive may pad so many blocks. */
static void add_finish(NvmeRequest *req, uint32_t i, uint16_t stream,
                       uint64_t nblocks)
{
    NvmeStep *step = nvme_add_step(req, SSD_OP_FLUSH, 0, (uint32_t)nblocks);

    step->zone = i + 1;
    step->close = true;
    step->stream = stream;
}

/* ---- actions ------------------------------------------------------------- */

static uint16_t do_finish(NvmeCtrl *ctrl, NvmeRequest *req, uint32_t i)
{
    const NvmeZones *z = &ctrl->sub->zones;
    uint64_t left = (z->capacity - z->zone[i].wp) << z->drive_shift;
    uint16_t stream;
    uint16_t status = nvme_zone_finish(ctrl, i, &stream);

    if (!status && stream != ZONE_NO_STREAM) {
        add_finish(req, i, stream, left);
    }
    return status;
}

static uint16_t do_reset(NvmeCtrl *ctrl, NvmeRequest *req, uint32_t i)
{
    uint16_t stream = ZONE_NO_STREAM;
    bool any;
    uint16_t status = nvme_zone_reset(ctrl, i, &stream, &any);

    if (!status && any) {
        add_reset(ctrl, req, i, stream);
    }
    return status;
}

static uint16_t do_open(NvmeCtrl *ctrl, NvmeRequest *req, uint32_t i)
{
    return nvme_zone_open(ctrl, i);
}

static uint16_t do_close(NvmeCtrl *ctrl, NvmeRequest *req, uint32_t i)
{
    return nvme_zone_close(ctrl, i);
}

static uint16_t do_offline(NvmeCtrl *ctrl, NvmeRequest *req, uint32_t i)
{
    return nvme_zone_offline(ctrl, i);
}

#define BIT(state) (1U << (state))
#define IS_OPEN    (BIT(ZONE_IMPLICIT) | BIT(ZONE_EXPLICIT))

/* What an action does to a zone, and to which zones with Select All. */
typedef struct Action {
    uint8_t code;
    uint32_t all; /* states, as bits */
    uint16_t (*run)(NvmeCtrl *ctrl, NvmeRequest *req, uint32_t i);
} Action;

static const Action actions[] = {
    {SEND_CLOSE, IS_OPEN, do_close},
    {SEND_FINISH, IS_OPEN | BIT(ZONE_CLOSED), do_finish},
    {SEND_OPEN, BIT(ZONE_CLOSED), do_open},
    {SEND_RESET, IS_OPEN | BIT(ZONE_CLOSED) | BIT(ZONE_FULL), do_reset},
    {SEND_OFFLINE, BIT(ZONE_READ_ONLY), do_offline},
};

/* Is there room for all closed zones to be opened? */
static uint16_t check_open_all(const NvmeCtrl *ctrl)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < ctrl->sub->zones.n; i++) {
        n += ctrl->sub->zones.zone[i].base.state == ZONE_CLOSED ||
             ctrl->sub->zones.zone[i].base.state == ZONE_EXPLICIT;
    }
    return n > ctrl->sub->zones.table.max_open ? NVME_SC_TOO_MANY_OPEN : 0;
}

/* A zone with a reset or a finish under way is passed over: it comes to that
 * state by itself. */
static uint16_t run_all(NvmeCtrl *ctrl, NvmeRequest *req, const Action *a)
{
    uint16_t status = a->code == SEND_OPEN ? check_open_all(ctrl) : 0;

    for (uint32_t i = 0; !status && i < ctrl->sub->zones.n; i++) {
        const NvmeZone *zone = &ctrl->sub->zones.zone[i];

        if (a->all >> zone->base.state & 1 && !zone->resetting &&
            !zone->finishing) {
            status = a->run(ctrl, req, i);
        }
    }
    return status;
}

static uint16_t set_extension(NvmeCtrl *ctrl, const NvmeSqe *sqe, uint32_t i)
{
    uint8_t data[255 * 64];
    size_t n = ctrl->sub->zones.extension_bytes;
    uint16_t status;

    if (n == 0) {
        return NVME_SC_INVALID_FIELD;
    }
    status = nvme_from_host(ctrl, sqe, data, n);
    if (!status) {
        status = nvme_zone_describe(ctrl, i);
    }
    if (!status) {
        memcpy(ctrl->sub->zones.extension + i * n, data, n);
    }
    return status;
}

uint16_t nvme_zone_send(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    uint64_t lba = nvme_sqe_slba(sqe);
    uint8_t code = sqe->dw[13] & 0xff;
    bool all = sqe->dw[13] >> 8 & 1;

    if (!req->ns) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    if (!all && !nvme_ns_has(req->ns, lba, 1)) {
        return NVME_SC_LBA_RANGE;
    }
    if (!all && lba % ctrl->sub->zones.size && code != SEND_COMMIT) {
        return NVME_SC_INVALID_FIELD;
    }
    if (req->ns->protect) {
        return NVME_SC_NS_PROTECTED;
    }
    if (code == SEND_SET_EXTENSION && !all) {
        return set_extension(ctrl, sqe, nvme_zone_of(ctrl, lba));
    }
    if (code == SEND_COMMIT && !all) {
        return nvme_zone_commit(ctrl, nvme_zone_of(ctrl, lba),
                                lba % ctrl->sub->zones.size);
    }
    if (code == SEND_OPEN && sqe->dw[13] & ALLOCATE_ZRWA) {
        return all ? NVME_SC_INVALID_FIELD
                   : nvme_zone_open_zrwa(ctrl, nvme_zone_of(ctrl, lba));
    }
    for (unsigned k = 0; k < G_N_ELEMENTS(actions); k++) {
        if (actions[k].code == code) {
            return all ? run_all(ctrl, req, &actions[k])
                       : actions[k].run(ctrl, req, nvme_zone_of(ctrl, lba));
        }
    }
    return NVME_SC_INVALID_FIELD;
}

void nvme_zones_protect(NvmeCtrl *ctrl, NvmeRequest *req)
{
    static const Action finish = {SEND_FINISH, IS_OPEN | BIT(ZONE_CLOSED),
                                  do_finish};

    run_all(ctrl, req, &finish); /* these states can all be finished */
}

/* ---- without a command --------------------------------------------------- */

/* The request is of no queue; it frees itself.  Of a finish, padding may be
 * there already, or nobody waits for it. */
static void start_job(NvmeCtrl *ctrl, uint32_t i)
{
    NvmeZone *zone = &ctrl->sub->zones.zone[i];
    NvmeRequest *req = nvme_request_new(ctrl);

    req->admin = true;
    req->pending = 1;
    zone->job = true;
    if (zone->resetting) {
        add_reset(ctrl, req, i, zone->base.stream);
    } else {
        add_finish(req, i, zone->base.stream, 0);
    }
    nvme_request_start(ctrl, req);
    nvme_request_part_done(ctrl, req);
}

void nvme_zones_look(NvmeCtrl *ctrl)
{
    uint32_t i = 0;

    if (ctrl->sub->zones.work && ctrl->sub->powered && ssd_powered(ctrl->ssd)) {
        while (nvme_zones_next_job(ctrl, &i)) {
            start_job(ctrl, i++);
        }
    }
    if (ctrl->sub->zones.report) {
        ctrl->sub->zones.report = false;
        nvme_notice_all(ctrl->sub, NVME_NOTICE_ZONES);
    }
}

/* ---- limits of time ------------------------------------------------------ */

uint64_t nvme_zones_due_ns(const NvmeSubsys *sub)
{
    return sub->zones.n && sub->powered ? sub->zones.due_ns : SSD_TIME_NEVER;
}

bool nvme_zones_due_look(NvmeCtrl *ctrl)
{
    NvmeZones *z = &ctrl->sub->zones;
    uint64_t now_ns = ctrl->sub->now_ns;

    if (now_ns < nvme_zones_due_ns(ctrl->sub) || !ssd_powered(ctrl->ssd)) {
        return false;
    }
    z->due_ns = SSD_TIME_NEVER;
    for (uint32_t i = 0; i < z->n; i++) {
        while (nvme_zone_due_ns(z, &z->zone[i]) <= now_ns) {
            nvme_zone_overdue(ctrl, i);
        }
        z->due_ns = MIN(z->due_ns, nvme_zone_due_ns(z, &z->zone[i]));
    }
    return z->report;
}
