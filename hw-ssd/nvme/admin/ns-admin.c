/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ns-admin.c - Namespace Management and Attachment (Base 1.4, sections 5.20 and
 * 5.19), and features of a namespace.
 *
 * A namespace that is deleted is gone at once; its granules are dirty.  Then,
 * in the same command, they are freed: commands that the drive already works on
 * end, the drive trims all that is dirty, makes that durable, and the granules
 * are free.  Only free ones become part of a namespace.  If a reset or a power
 * cut ends this early, the next Create that needs them frees them.
 *
 * One command at a time creates or deletes.  Another one that comes meanwhile
 * ends with Command Sequence Error, and may be sent again.
 */
#include "nvme-internal.h"
#include "health/events.h"
#include "placement/fdp-handles.h"
#include "kv/kv-index.h"
#include "namespace/namespace.h"
#include "admin/ns-admin.h"
#include "health/persistent-events.h"
#include "memory/prp.h"
#include "queue/request.h"
#include "queue/steps.h"
#include "reservation/reservation.h"
#include "ssd-report.h"
#include "zone/zone-send.h"
#include "zone/zones.h"

#define SEL_CREATE 0
#define SEL_DELETE 1
#define SEL_ATTACH 0
#define SEL_DETACH 1

bool nvme_ns_managed(const NvmeCtrl *ctrl)
{
    return ctrl->sub->namespaces.managed;
}

void nvme_ns_clear_changed(NvmeCtrl *ctrl)
{
    memset(ctrl->changed_ns, 0, sizeof(ctrl->changed_ns));
}

void nvme_ns_fill_changed(const NvmeCtrl *ctrl, const NvmeSqe *sqe, uint64_t i,
                          void *page)
{
    NvmeNamespaceList *list = page;
    unsigned n = 0;

    for (uint32_t k = 0; k < NVME_MAX_NAMESPACES; k++) {
        if (ctrl->changed_ns[k / 64] >> k % 64 & 1) {
            list->nsid[n++] = nvme_le32(k + 1);
        }
    }
}

/* Persistent events: a namespace has come, or all of nsid go. */
static void report_change(NvmeCtrl *ctrl, unsigned sel, uint32_t nsid,
                          const NvmeNamespace *ns)
{
    NvmePelNamespace e = {.cdw10 = nvme_le32(sel), .nsid = nvme_le32(nsid)};

    if (ns) {
        e.nsze = nvme_le64(ns->nblocks);
        e.ncap = e.nsze;
        e.flbas = ns->format;
        e.nmic = ns->shared;
        e.nvmsetid = nvme_le16(NVME_ONLY_SET);
    }
    nvme_persistent_event(ctrl, NVME_PEL_NAMESPACE, &e, sizeof(e));
}

/* ---- dirty granules ------------------------------------------------------ */

static uint16_t commit(NvmeCtrl *ctrl, NvmeRequest *req);
static uint16_t freed(NvmeCtrl *ctrl, NvmeRequest *req);
static uint16_t create(NvmeCtrl *ctrl, NvmeRequest *req);

/* The drive works on nothing of a namespace that is gone. */
static uint16_t trim(NvmeCtrl *ctrl, NvmeRequest *req)
{
    const NvmeNamespaces *all = &ctrl->sub->namespaces;
    uint64_t most = UINT32_MAX / all->granule_blocks;

    for (uint32_t i = 0; i < all->n_granules;) {
        uint32_t first = i++;

        if (all->owner[first] != NVME_GRANULE_DIRTY) {
            continue;
        }
        while (i < all->n_granules && i - first < most &&
               all->owner[i] == NVME_GRANULE_DIRTY) {
            i++;
        }
        nvme_add_step(req, SSD_OP_TRIM,
                      all->base + (uint64_t)first * all->granule_blocks,
                      (i - first) * all->granule_blocks)
            ->zeroes = true;
    }
    req->then = commit;
    return 0;
}

/* A trim is durable after a flush.  SHUTDOWN is one that no option switches
 * off. */
static uint16_t commit(NvmeCtrl *ctrl, NvmeRequest *req)
{
    nvme_add_step(req, SSD_OP_SHUTDOWN, 0, 0);
    req->then = freed;
    return 0;
}

static uint16_t freed(NvmeCtrl *ctrl, NvmeRequest *req)
{
    nvme_ns_regrant(ctrl, NVME_GRANULE_DIRTY, NVME_GRANULE_FREE);
    nvme_ns_job_end(ctrl->sub);
    return ctrl->sub->ns_wanted.nblocks ? create(ctrl, req) : 0;
}

/* Commands of namespaces that are gone: what the drive has not got, it does not
 * get, and they do not go on. */
static void cancel_of(NvmeCtrl *ctrl)
{
    for (unsigned i = 0; i <= ctrl->queues.max_sqid; i++) {
        const NvmeSq *sq = &ctrl->queues.sq[i];

        for (NvmeRequest *r = sq->list.sq_next; sq->live && r != &sq->list;
             r = r->sq_next) {
            if (r->ns && !r->ns->exists &&
                (r->next_step < r->nsteps || r->then)) {
                nvme_request_cancel_steps(ctrl, r);
                r->status = r->status ? r->status : NVME_SC_INVALID_FIELD;
            }
        }
    }
}

static void cancel(NvmeSubsys *sub)
{
    NVME_FOR_EACH_CTRL(sub, c)
    {
        cancel_of(c);
    }
}

/* Their numbers may be used again. */
static void forget(NvmeCtrl *ctrl)
{
    for (unsigned i = 0; i <= ctrl->queues.max_sqid; i++) {
        const NvmeSq *sq = &ctrl->queues.sq[i];

        for (NvmeRequest *r = sq->list.sq_next; sq->live && r != &sq->list;
             r = r->sq_next) {
            if (r->ns && !r->ns->exists) {
                r->ns = NULL;
            }
        }
    }
}

static uint16_t drained(NvmeCtrl *ctrl, NvmeRequest *req)
{
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        forget(c);
    }
    return trim(ctrl, req);
}

/* Does the drive work on a command of a namespace that is gone? */
static bool is_in_drive(const NvmeCtrl *ctrl)
{
    if (nvme_has_both(ctrl) && !ctrl->sub->namespaces.zoned &&
        nvme_zones_are_busy(ctrl)) {
        return true;
    }
    for (uint32_t i = 0; i < ctrl->sub->slots.n; i++) {
        const NvmeRequest *req = ctrl->sub->slots.slot[i].req;

        if (req && req->ns && !req->ns->exists) {
            return true;
        }
    }
    return false;
}

void nvme_ns_drained(NvmeCtrl *ctrl)
{
    NvmeRequest *job = ctrl->sub->ns_job.req;

    if (!is_in_drive(ctrl)) {
        nvme_ns_job_drained(ctrl->sub);
        nvme_request_part_done(job->ctrl, job);
    }
}

static void free_dirty(NvmeCtrl *ctrl, NvmeRequest *req)
{
    nvme_ns_job_begin(req);
    req->barrier = true; /* no old data is left in the store */
    req->ns = NULL;
    req->then = drained;
    cancel(ctrl->sub);
    if (is_in_drive(ctrl)) {
        nvme_ns_job_wait(req); /* for nvme_ns_drained() */
    }
}

/* ---- Namespace Management ------------------------------------------------ */

/* ns_wanted in granules that are free; they suffice. */
static uint16_t create(NvmeCtrl *ctrl, NvmeRequest *req)
{
    const NvmeNsForm *form = &ctrl->sub->ns_wanted;
    const NvmeNamespace *ns;
    uint32_t nsid = 1;

    while (nvme_ns_existing(ctrl, nsid)) {
        nsid++;
    }
    ns = nvme_ns_create(ctrl, nsid, form);
    if (form->zoned) {
        nvme_zones_give(ctrl, ns);
    }
    report_change(ctrl, SEL_CREATE, nsid, ns);
    nvme_fdp_give_list(ctrl, nsid);
    req->dw0 = nsid;
    return 0;
}

/* Fields that this drive knows only as 0. */
static bool unsupported(const NvmeCtrl *ctrl, const NvmeIdNamespace *id)
{
    return id->nmic > 1 || id->anagrpid ||
           nvme_le16(id->nvmsetid) > NVME_ONLY_SET ||
           nvme_le16(id->endgid) > NVME_ONLY_GROUP;
}

/* Of logical blocks. */
static uint16_t check_blocks(const NvmeCtrl *ctrl, const NvmeIdNamespace *id)
{
    uint16_t status;

    if (id->flbas & 0x60) {
        return NVME_SC_INVALID_FORMAT;
    }
    status = nvme_ns_check_protection(ctrl, id->flbas & 0xf, id->flbas & 0x10,
                                      id->dps);
    if (status) {
        return status;
    }
    if (nvme_le64(id->ncap) > nvme_le64(id->nsze)) {
        return NVME_SC_INVALID_FIELD;
    }
    return nvme_le64(id->ncap) < nvme_le64(id->nsze) ? NVME_SC_NS_THIN : 0;
}

/* Of key-value pairs: NSZE has bytes, and the fields of blocks are 0. */
static uint16_t check_pairs(const NvmeCtrl *ctrl, const NvmeIdNamespace *id)
{
    uint64_t bytes = nvme_le64(id->nsze);

    return id->ncap || id->flbas || id->dps ||
                   nvme_kv_refuses(ctrl, bytes >> ctrl->block_shift)
               ? NVME_SC_INVALID_FIELD
               : 0;
}

/* Insufficient Capacity: the error log has the bytes that it needs. */
static uint16_t no_room(NvmeRequest *req, unsigned __int128 bytes)
{
    req->specific = bytes > UINT64_MAX ? UINT64_MAX : (uint64_t)bytes;
    return NVME_SC_NS_CAPACITY;
}

/* In whole granules. */
static uint16_t no_granules(const NvmeCtrl *ctrl, NvmeRequest *req,
                            uint64_t nblocks, unsigned format)
{
    unsigned __int128 bytes =
        (unsigned __int128)nblocks * nvme_ns_format(ctrl, format);
    uint64_t granule = nvme_ns_granule_bytes(ctrl);

    return no_room(req, (bytes + granule - 1) / granule * granule);
}

/* All zones: NSZE has their addresses, and NCAP as many or their capacity. */
static uint16_t check_zones(const NvmeCtrl *ctrl, NvmeRequest *req,
                            const NvmeIdNamespace *id)
{
    const NvmeZones *z = &ctrl->sub->zones;
    uint64_t nsze = nvme_le64(id->nsze);
    uint64_t ncap = nvme_le64(id->ncap);

    if (id->flbas != nvme_ns_zoned_format(ctrl)) {
        return NVME_SC_INVALID_FORMAT;
    }
    if (ctrl->sub->namespaces.zoned || nsze > z->n * z->size) {
        return no_room(
            req, (unsigned __int128)(nsze / z->size + (nsze % z->size != 0)) *
                     z->capacity * nvme_ns_format(ctrl, id->flbas));
    }
    return id->dps || nsze < z->n * z->size ||
                   (ncap != nsze && ncap != z->n * z->capacity)
               ? NVME_SC_INVALID_FIELD
               : 0;
}

static uint16_t check_create(const NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeIdNamespace *id, unsigned csi)
{
    uint32_t nsid = 1;
    uint16_t status;

    if (unsupported(ctrl, id) || !id->nsze) {
        return NVME_SC_INVALID_FIELD;
    }
    status = csi == NVME_CSI_KV      ? check_pairs(ctrl, id)
             : csi == NVME_CSI_ZONED ? check_zones(ctrl, req, id)
                                     : check_blocks(ctrl, id);
    if (status) {
        return status;
    }
    while (nsid <= ctrl->sub->namespaces.n && nvme_ns_existing(ctrl, nsid)) {
        nsid++;
    }
    return nsid > ctrl->sub->namespaces.n ? NVME_SC_NS_UNAVAILABLE : 0;
}

/* Whole blocks of the drive that have so many bytes; it may be UINT64_MAX. */
static uint64_t blocks_of(const NvmeCtrl *ctrl, uint64_t bytes)
{
    return (bytes >> ctrl->block_shift) + (bytes % ctrl->block_bytes != 0);
}

static uint16_t manage_create(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe)
{
    NvmeNsForm *form = &ctrl->sub->ns_wanted;
    uint64_t n_free = nvme_ns_count(ctrl, NVME_GRANULE_FREE);
    unsigned csi = sqe->dw[11] >> 24;
    bool kv = csi == NVME_CSI_KV;
    bool zoned = csi == NVME_CSI_ZONED;
    NvmeIdNamespace id;
    uint64_t need;
    uint16_t status;

    if (csi != NVME_CSI_NVM && !(kv && ctrl->sub->namespaces.any_kv) &&
        !(zoned && nvme_has_both(ctrl))) {
        return NVME_SC_COMMAND_SET;
    }
    status = nvme_from_host(ctrl, sqe, &id, sizeof(id));
    if (!status) {
        status = check_create(ctrl, req, &id, csi);
    }
    if (!status) {
        status = nvme_fdp_take_list(ctrl, &id);
    }
    if (status) {
        return status;
    }
    *form = (NvmeNsForm){
        .nblocks =
            kv ? blocks_of(ctrl, nvme_le64(id.nsze)) : nvme_le64(id.nsze),
        .format = id.flbas & 0xf,
        .extended = id.flbas & 0x10,
        .dps = id.dps,
        .shared = id.nmic & 1,
        .kv = kv,
        .zoned = zoned,
    };
    need = zoned ? 0 : nvme_ns_granules(ctrl, form->nblocks, form->format);
    if (zoned && nvme_zones_are_busy(ctrl)) { /* with the data of another */
        free_dirty(ctrl, req);
        return 0;
    }
    if (need <= n_free) {
        return create(ctrl, req);
    }
    if (need == UINT64_MAX ||
        need > n_free + nvme_ns_count(ctrl, NVME_GRANULE_DIRTY)) {
        return no_granules(ctrl, req, form->nblocks, form->format);
    }
    free_dirty(ctrl, req);
    return 0;
}

static void drop(NvmeCtrl *ctrl, const NvmeNamespace *ns)
{
    bool zoned = ns->zone_size > 0;

    nvme_reservation_forget(ctrl, ns);
    nvme_kv_detach(ctrl, ns);
    nvme_ns_delete(ctrl, ns);
    if (zoned) {
        nvme_zones_drop(ctrl);
    }
}

/* FFFFFFFFh: all. */
static uint16_t manage_delete(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe)
{
    const NvmeNamespaces *all = &ctrl->sub->namespaces;
    uint32_t first = req->nsid == NVME_NSID_ALL ? 1 : req->nsid;
    uint32_t last = req->nsid == NVME_NSID_ALL ? all->n : req->nsid;

    if (req->nsid != NVME_NSID_ALL && !nvme_ns_existing(ctrl, req->nsid)) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    for (uint32_t nsid = first; nsid <= last; nsid++) {
        const NvmeNamespace *ns = nvme_ns_existing(ctrl, nsid);

        if (ns && ns->protect) {
            return NVME_SC_NS_PROTECTED;
        }
    }
    if (ssd_read_only(ctrl->ssd)) {
        return NVME_SC_READ_ONLY; /* it could not trim */
    }
    report_change(
        ctrl, SEL_DELETE, req->nsid,
        req->nsid == NVME_NSID_ALL ? NULL : nvme_ns_existing(ctrl, req->nsid));
    for (uint32_t nsid = first; nsid <= last; nsid++) {
        const NvmeNamespace *ns = nvme_ns_existing(ctrl, nsid);
        uint32_t seen = ns ? ns->attached : 0;

        if (ns) {
            drop(ctrl, ns);
        }
        nvme_notice_ns(ctrl->sub, seen, nsid);
    }
    ctrl->sub->ns_wanted.nblocks = 0;
    free_dirty(ctrl, req);
    return 0;
}

uint16_t nvme_ns_management(NvmeCtrl *ctrl, NvmeRequest *req,
                            const NvmeSqe *sqe)
{
    unsigned sel = sqe->dw[10] & 0xf;

    if (sel > SEL_DELETE) {
        return NVME_SC_INVALID_FIELD;
    }
    if (ctrl->sub->ns_job.req) {
        return NVME_SC_COMMAND_SEQUENCE;
    }
    return sel == SEL_CREATE ? manage_create(ctrl, req, sqe)
                             : manage_delete(ctrl, req, sqe);
}

/* ---- Namespace Attachment ------------------------------------------------ */

/* The controllers of the list, as bits; 0: it is empty, not in ascending order,
 * or names one that there is not. */
static uint32_t listed(const NvmeSubsys *sub, const NvmeIdList *list)
{
    uint16_t n = nvme_le16(list->n);
    uint32_t ctrls = 0;

    if (n > G_N_ELEMENTS(list->id)) {
        return 0;
    }
    for (unsigned i = 0; i < n; i++) {
        const NvmeCtrl *c = nvme_find_ctrl(sub, nvme_le16(list->id[i]));

        if (!c || (i && nvme_le16(list->id[i]) <= nvme_le16(list->id[i - 1]))) {
            return 0;
        }
        ctrls |= 1U << c->index;
    }
    return ctrls;
}

static uint16_t check_attach(const NvmeNamespace *ns, uint32_t ctrls, bool on)
{
    if (!ctrls) {
        return NVME_SC_CONTROLLER_LIST;
    }
    if (!on) {
        return ctrls & ~ns->attached ? NVME_SC_NS_NOT_ATTACHED : 0;
    }
    if (ctrls & ns->attached) {
        return NVME_SC_NS_ATTACHED;
    }
    return !ns->shared && (ns->attached || ctrls & (ctrls - 1))
               ? NVME_SC_NS_PRIVATE
               : 0;
}

uint16_t nvme_ns_attachment(NvmeCtrl *ctrl, NvmeRequest *req,
                            const NvmeSqe *sqe)
{
    unsigned sel = sqe->dw[10] & 0xf;
    const NvmeNamespace *ns = nvme_ns_existing(ctrl, req->nsid);
    NvmeIdList list;
    uint32_t ctrls;
    uint16_t status;

    if (sel > SEL_DETACH) {
        return NVME_SC_INVALID_FIELD;
    }
    if (!ns) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    status = nvme_from_host(ctrl, sqe, &list, sizeof(list));
    if (status) {
        return status;
    }
    ctrls = listed(ctrl->sub, &list);
    status = check_attach(ns, ctrls, sel == SEL_ATTACH);
    if (!status) {
        nvme_ns_set_attached(ctrl, ns, ns->attached ^ ctrls);
        nvme_notice_ns(ctrl->sub, ctrls, req->nsid);
    }
    return status;
}

/* ---- features ------------------------------------------------------------ */

/* The attached namespaces that a Set Features command is about, one after the
 * other. */
static const NvmeNamespace *next_of(NvmeCtrl *ctrl, const NvmeRequest *req,
                                    const NvmeNamespace *last)
{
    if (req->nsid != NVME_NSID_ALL) {
        return last ? NULL : req->ns;
    }
    for (uint32_t i = last ? last->nsid : 0; i < ctrl->sub->namespaces.n; i++) {
        if (nvme_is_attached(ctrl, &ctrl->sub->namespaces.table[i])) {
            return &ctrl->sub->namespaces.table[i];
        }
    }
    return NULL;
}

uint16_t nvme_ns_get_protect(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe, bool current)
{
    req->dw0 = current ? req->ns->protect : NVME_PROTECT_NONE;
    return 0;
}

/* What the drive has cached of the namespace becomes durable. */
uint16_t nvme_ns_set_protect(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe)
{
    unsigned state = sqe->dw[11] & 7;
    const NvmeNamespace *ns = NULL;

    if (state >= NVME_N_PROTECTS || sqe->dw[11] >> 3) {
        return NVME_SC_INVALID_FIELD;
    }
    while ((ns = next_of(ctrl, req, ns))) {
        if (ns->protect >= NVME_PROTECT_POWER_CYCLE && state != ns->protect) {
            return NVME_SC_FEATURE_NOT_CHANGEABLE;
        }
    }
    while ((ns = next_of(ctrl, req, ns))) {
        if (state && nvme_is_zoned(ns)) {
            nvme_zones_protect(ctrl, req);
        }
        nvme_ns_protect(ctrl, ns, state);
    }
    if (state) {
        req->barrier = true;
        nvme_add_step(req, SSD_OP_FLUSH, 0, 0);
    }
    return 0;
}

uint16_t nvme_ns_get_recovery(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe, bool current)
{
    req->dw0 = current ? req->ns->error_recovery : 0;
    return 0;
}

uint16_t nvme_ns_set_recovery(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe)
{
    const NvmeNamespace *ns = NULL;

    if (sqe->dw[11] & ~(uint32_t)(NVME_DULBE | UINT16_MAX)) {
        return NVME_SC_INVALID_FIELD;
    }
    while ((ns = next_of(ctrl, req, ns))) {
        nvme_ns_recover(ctrl, ns, sqe->dw[11]);
    }
    ctrl->features.value[NVME_FEAT_ERROR_RECOVERY] = sqe->dw[11];
    return 0;
}

void nvme_ns_reset(NvmeCtrl *ctrl)
{
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        if (c != ctrl && nvme_running(c)) {
            return; /* it has set them */
        }
    }
    for (uint32_t i = 0; i < ctrl->sub->namespaces.n; i++) {
        nvme_ns_recover(ctrl, &ctrl->sub->namespaces.table[i],
                        ctrl->features.value[NVME_FEAT_ERROR_RECOVERY]);
    }
}

void nvme_ns_power_on(NvmeCtrl *ctrl)
{
    for (uint32_t i = 0; i < ctrl->sub->namespaces.n; i++) {
        const NvmeNamespace *ns = &ctrl->sub->namespaces.table[i];

        if (ns->protect == NVME_PROTECT_POWER_CYCLE) {
            nvme_ns_protect(ctrl, ns, NVME_PROTECT_NONE);
        }
    }
}
