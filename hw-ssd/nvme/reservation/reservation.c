/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reservation.c - reservations of namespaces (Base 2.0, Reservations; Host
 * Identifier).
 *
 * A host registers a key with a namespace, and may then acquire the
 * reservation.  A host is known by its Host Identifier.  One of 0h is of its
 * controller alone, and its registrations end with a reset of that controller.
 *
 * Knows registrants, holders and who may do what; knows nothing of data.
 */
#include "nvme-internal.h"
#include "health/events.h"
#include "namespace/namespace.h"
#include "memory/prp.h"
#include "queue/request.h"
#include "reservation/reservation.h"
#include "queue/steps.h"

/* Actions of the commands. */
enum { REGISTER, UNREGISTER, REPLACE };
enum { ACQUIRE, PREEMPT, PREEMPT_AND_ABORT };
enum { RELEASE, CLEAR };

#define DW10_ACTION(dw10) ((dw10) & 7)
#define DW10_IEKEY(dw10)  ((dw10) >> 3 & 1)
#define DW10_RTYPE(dw10)  ((dw10) >> 8 & 0xff)
#define DW10_CPTPL(dw10)  ((dw10) >> 30)
#define DW11_EDS          1

enum { CPTPL_KEEP = 0, CPTPL_RESERVED = 1, CPTPL_OFF = 2, CPTPL_ON = 3 };

/* Types of notifications; their bit in feature 82h has that number. */
enum {
    REGISTRATION_PREEMPTED = 1,
    RESERVATION_RELEASED = 2,
    RESERVATION_PREEMPTED = 3,
};
#define MASK_BITS 0xe

#define NO_CNTLID 0xffff

bool nvme_has_reservations(const NvmeCtrl *ctrl)
{
    return ctrl->sub->reservations != NULL;
}

void nvme_reservations_init(NvmeSubsys *sub)
{
    if (nvme_is_multi(&sub->first)) {
        sub->reservations = g_new0(NvmeReservation, NVME_MAX_NAMESPACES);
    }
}

void nvme_reservations_free(NvmeSubsys *sub)
{
    g_free(sub->reservations);
}

/* ---- registrants --------------------------------------------------------- */

static NvmeReservation *of(const NvmeCtrl *ctrl, const NvmeNamespace *ns)
{
    return &ctrl->sub->reservations[ns->nsid - 1];
}

static bool is_zero(const uint8_t *id)
{
    static const uint8_t zeroes[16];

    return memcmp(id, zeroes, sizeof(zeroes)) == 0;
}

/* Is it the host of the controller? */
static bool is_host_of(const NvmeRegistrant *r, const NvmeCtrl *ctrl)
{
    return r->used &&
           memcmp(r->host_id, ctrl->features.host_id, sizeof(r->host_id)) ==
               0 &&
           (!is_zero(r->host_id) || r->cntlid == ctrl->cfg.cntlid);
}

static NvmeRegistrant *find(NvmeReservation *res, const NvmeCtrl *ctrl)
{
    for (unsigned i = 0; i < NVME_MAX_REGISTRANTS; i++) {
        if (is_host_of(&res->registrant[i], ctrl)) {
            return &res->registrant[i];
        }
    }
    return NULL;
}

/* The registrant, if the command has its key; NULL: Reservation Conflict. */
static NvmeRegistrant *find_by_key(NvmeReservation *res, const NvmeCtrl *ctrl,
                                   uint64_t key)
{
    NvmeRegistrant *r = find(res, ctrl);

    return r && r->key == key ? r : NULL;
}

static unsigned n_registrants(const NvmeReservation *res)
{
    unsigned n = 0;

    for (unsigned i = 0; i < NVME_MAX_REGISTRANTS; i++) {
        n += res->registrant[i].used;
    }
    return n;
}

static bool of_all_registrants(unsigned type)
{
    return type == NVME_RESERVATION_WEAR || type == NVME_RESERVATION_EAAR;
}

/* Not only the holder has access: the others are told when it ends. */
static bool gives_access(unsigned type)
{
    return type >= NVME_RESERVATION_WERO;
}

static bool holds(const NvmeReservation *res, const NvmeRegistrant *r)
{
    return res->type && r && (of_all_registrants(res->type) || r->holds);
}

static void set_type(NvmeSubsys *sub, NvmeReservation *res, uint8_t type)
{
    sub->n_reserved += (type != 0) - (res->type != 0);
    res->type = type;
}

static void set_holder(NvmeSubsys *sub, NvmeReservation *res,
                       NvmeRegistrant *holder, uint8_t type)
{
    for (unsigned i = 0; i < NVME_MAX_REGISTRANTS; i++) {
        res->registrant[i].holds = false;
    }
    set_type(sub, res, type);
    if (holder) {
        holder->holds = !of_all_registrants(type);
    }
}

/* ---- notifications ------------------------------------------------------- */

static void notify_ctrl(NvmeCtrl *c, uint32_t nsid, unsigned type)
{
    NvmeReservationLog *log = &c->reservation_log;

    if (log->mask[nsid - 1] >> type & 1) {
        return;
    }
    if (log->n == NVME_RESERVATION_ENTRIES) { /* the oldest is lost */
        memmove(log->entry, log->entry + 1, --log->n * sizeof(log->entry[0]));
    }
    log->count = log->count == UINT64_MAX ? 1 : log->count + 1;
    log->entry[log->n++] = (NvmeReservationEntry){
        .count = log->count,
        .nsid = nsid,
        .type = (uint8_t)type,
    };
    nvme_notice(c, NVME_NOTICE_RESERVATION);
}

/* The registrant's controllers. */
static void notify(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                   const NvmeRegistrant *r, unsigned type)
{
    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        if (is_host_of(r, c) && nvme_is_attached(c, ns)) {
            notify_ctrl(c, ns->nsid, type);
        }
    }
}

static void notify_others(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                          const NvmeRegistrant *but, unsigned type)
{
    NvmeReservation *res = of(ctrl, ns);

    for (unsigned i = 0; i < NVME_MAX_REGISTRANTS; i++) {
        if (res->registrant[i].used && &res->registrant[i] != but) {
            notify(ctrl, ns, &res->registrant[i], type);
        }
    }
}

void nvme_fill_reservation_log(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                               uint64_t i, void *page)
{
    const NvmeReservationLog *log = &ctrl->reservation_log;
    NvmeReservationLogPage *p = page;

    if (log->n) {
        p->count = nvme_le64(log->entry[0].count);
        p->type = log->entry[0].type;
        p->more = (uint8_t)(log->n - 1);
        p->nsid = nvme_le32(log->entry[0].nsid);
    }
}

void nvme_reservation_log_next(NvmeCtrl *ctrl)
{
    NvmeReservationLog *log = &ctrl->reservation_log;

    if (log->n) {
        memmove(log->entry, log->entry + 1, --log->n * sizeof(log->entry[0]));
    }
    if (log->n) {
        nvme_notice(ctrl, NVME_NOTICE_RESERVATION);
    }
}

/* ---- Reservation Register ------------------------------------------------ */

static uint16_t add_registrant(NvmeCtrl *ctrl, NvmeReservation *res,
                               uint64_t key)
{
    NvmeRegistrant *r = find(res, ctrl);

    if (r) {
        return r->key == key ? 0 : NVME_SC_RESERVATION_CONFLICT;
    }
    for (unsigned i = 0; i < NVME_MAX_REGISTRANTS; i++) {
        r = &res->registrant[i];
        if (!r->used) {
            *r = (NvmeRegistrant){
                .used = true,
                .key = key,
                .cntlid = ctrl->cfg.cntlid,
            };
            memcpy(r->host_id, ctrl->features.host_id, sizeof(r->host_id));
            return 0;
        }
    }
    return NVME_SC_INTERNAL; /* more hosts than the drive can keep */
}

/* The reservation goes with its holder, or with the last registrant. */
static void remove_registrant(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                              NvmeRegistrant *r)
{
    NvmeReservation *res = of(ctrl, ns);
    bool held = holds(res, r);
    unsigned type = res->type;

    r->used = false;
    if (!held || (of_all_registrants(type) && n_registrants(res))) {
        return;
    }
    set_holder(ctrl->sub, res, NULL, 0);
    if (gives_access(type)) {
        notify_others(ctrl, ns, r, RESERVATION_RELEASED);
    }
}

static uint16_t do_register(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                            uint32_t dw10, uint64_t key, uint64_t new_key)
{
    NvmeReservation *res = of(ctrl, ns);
    NvmeRegistrant *r;

    if (DW10_ACTION(dw10) != UNREGISTER && !new_key) {
        return NVME_SC_INVALID_FIELD;
    }
    if (DW10_ACTION(dw10) == REGISTER) {
        return add_registrant(ctrl, res, new_key);
    }
    /* Only here may a command ignore the key (Base 2.1, 7.5 to 7.7, IEKEY). */
    r = DW10_IEKEY(dw10) ? find(res, ctrl) : find_by_key(res, ctrl, key);
    if (!r) {
        return NVME_SC_RESERVATION_CONFLICT;
    }
    if (DW10_ACTION(dw10) == REPLACE) {
        r->key = new_key;
    } else {
        remove_registrant(ctrl, ns, r);
    }
    return 0;
}

uint16_t nvme_reservation_register(NvmeCtrl *ctrl, NvmeRequest *req,
                                   const NvmeSqe *sqe)
{
    uint32_t dw10 = sqe->dw[10];
    uint64_t key[2];
    uint16_t status;

    if (!req->ns) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    if (DW10_ACTION(dw10) > REPLACE || DW10_CPTPL(dw10) == CPTPL_RESERVED) {
        return NVME_SC_INVALID_FIELD;
    }
    status = nvme_from_host(ctrl, sqe, key, sizeof(key));
    if (!status) {
        status = do_register(ctrl, req->ns, dw10, nvme_le64(key[0]),
                             nvme_le64(key[1]));
    }
    if (!status) {
        NvmeReservation *res = of(ctrl, req->ns);

        res->generation++;
        if (DW10_CPTPL(dw10) != CPTPL_KEEP) {
            res->ptpl = DW10_CPTPL(dw10) == CPTPL_ON;
        }
    }
    return status;
}

/* ---- Reservation Acquire ------------------------------------------------- */

/* Commands of the host for the namespace: those that the drive has not begun
 * are aborted, and `req` waits for the others. */
static void abort_of(NvmeCtrl *c, const NvmeNamespace *ns, NvmeRequest *req)
{
    for (unsigned i = 1; i <= c->queues.max_sqid; i++) {
        const NvmeSq *sq = &c->queues.sq[i];

        for (NvmeRequest *r = sq->list.sq_next; sq->live && r != &sq->list;
             r = r->sq_next) {
            if (r == req || r->ns != ns || r->posted || r->deletion) {
                continue;
            }
            if (nvme_request_abort(c, r)) {
                r->status = NVME_SC_PREEMPT_ABORT;
            }
            if (r->in_drive) {
                r->deletion = req;
                req->pending++;
            }
        }
    }
}

static void abort_commands(const NvmeRegistrant *r, NvmeRequest *req)
{
    NVME_FOR_EACH_CTRL(req->ctrl->sub, c)
    {
        if (is_host_of(r, c)) {
            abort_of(c, req->ns, req);
        }
    }
}

/*
 * All registrants with the key, or all (key 0), but for `kept`, lose their
 * registration; how many have that key, `kept` included.  The host of the
 * command is not told: it knows.
 */
static unsigned unregister_all(NvmeCtrl *ctrl, NvmeRequest *req,
                               const NvmeRegistrant *kept, uint64_t key,
                               bool aborts)
{
    NvmeReservation *res = of(ctrl, req->ns);
    unsigned n = 0;

    for (unsigned i = 0; i < NVME_MAX_REGISTRANTS; i++) {
        NvmeRegistrant *r = &res->registrant[i];

        if (!r->used || (key && r->key != key)) {
            continue;
        }
        n++;
        if (r == kept) {
            continue;
        }
        if (!is_host_of(r, ctrl)) {
            notify(ctrl, req->ns, r, REGISTRATION_PREEMPTED);
        }
        if (aborts) {
            abort_commands(r, req);
        }
        r->used = false;
    }
    return n;
}

/* Does the key name the holder?  0 names all holders of a reservation of all
 * registrants. */
static bool names_holder(const NvmeReservation *res, uint64_t key)
{
    if (of_all_registrants(res->type)) {
        return key == 0;
    }
    for (unsigned i = 0; res->type && i < NVME_MAX_REGISTRANTS; i++) {
        const NvmeRegistrant *r = &res->registrant[i];

        if (r->used && r->holds && r->key == key) {
            return true;
        }
    }
    return false;
}

/*
 * Base 2.0, Preempting a Reservation or Registration: only a host that takes
 * the reservation, be it from itself, keeps its registration.  Where the key is
 * not the holder's, all registrants with that key are unregistered, the host of
 * the command among them.
 */
static uint16_t preempt(NvmeCtrl *ctrl, NvmeRequest *req, NvmeRegistrant *own,
                        uint64_t key, uint8_t type, bool aborts)
{
    NvmeReservation *res = of(ctrl, req->ns);
    bool takes = names_holder(res, key);
    uint8_t old = res->type;

    if (!key && !of_all_registrants(old)) {
        return NVME_SC_INVALID_FIELD;
    }
    if (!unregister_all(ctrl, req, takes ? own : NULL, key, aborts)) {
        return NVME_SC_RESERVATION_CONFLICT;
    }
    if (takes) {
        set_holder(ctrl->sub, res, own, type);
        if (type != old) {
            notify_others(ctrl, req->ns, own, RESERVATION_RELEASED);
        }
    } else if (!n_registrants(res)) {
        set_holder(ctrl->sub, res, NULL, 0); /* that of all registrants */
    }
    res->generation++;
    return 0;
}

static uint16_t acquire(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                        NvmeRegistrant *own, uint8_t type)
{
    NvmeReservation *res = of(ctrl, ns);

    if (!res->type) {
        set_holder(ctrl->sub, res, own, type);
        return 0;
    }
    return holds(res, own) && res->type == type ? 0
                                                : NVME_SC_RESERVATION_CONFLICT;
}

uint16_t nvme_reservation_acquire(NvmeCtrl *ctrl, NvmeRequest *req,
                                  const NvmeSqe *sqe)
{
    uint32_t dw10 = sqe->dw[10];
    unsigned type = DW10_RTYPE(dw10);
    NvmeRegistrant *own;
    uint64_t key[2];
    uint16_t status;

    if (!req->ns) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    if (DW10_ACTION(dw10) > PREEMPT_AND_ABORT || DW10_IEKEY(dw10) || !type ||
        type > NVME_RESERVATION_EAAR) {
        return NVME_SC_INVALID_FIELD;
    }
    status = nvme_from_host(ctrl, sqe, key, sizeof(key));
    if (status) {
        return status;
    }
    own = find_by_key(of(ctrl, req->ns), ctrl, nvme_le64(key[0]));
    if (!own) {
        return NVME_SC_RESERVATION_CONFLICT;
    }
    return DW10_ACTION(dw10) == ACQUIRE
               ? acquire(ctrl, req->ns, own, (uint8_t)type)
               : preempt(ctrl, req, own, nvme_le64(key[1]), (uint8_t)type,
                         DW10_ACTION(dw10) == PREEMPT_AND_ABORT);
}

/* ---- Reservation Release ------------------------------------------------- */

static uint16_t release(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                        const NvmeRegistrant *own, unsigned type)
{
    NvmeReservation *res = of(ctrl, ns);

    if (!holds(res, own)) {
        return 0;
    }
    if (type != res->type) {
        return NVME_SC_INVALID_FIELD;
    }
    set_holder(ctrl->sub, res, NULL, 0);
    if (gives_access(type)) {
        notify_others(ctrl, ns, own, RESERVATION_RELEASED);
    }
    return 0;
}

static void clear(NvmeCtrl *ctrl, const NvmeNamespace *ns,
                  const NvmeRegistrant *own)
{
    NvmeReservation *res = of(ctrl, ns);

    notify_others(ctrl, ns, own, RESERVATION_PREEMPTED);
    set_holder(ctrl->sub, res, NULL, 0);
    memset(res->registrant, 0, sizeof(res->registrant));
    res->generation++;
}

uint16_t nvme_reservation_release(NvmeCtrl *ctrl, NvmeRequest *req,
                                  const NvmeSqe *sqe)
{
    uint32_t dw10 = sqe->dw[10];
    const NvmeRegistrant *own;
    uint64_t key;
    uint16_t status;

    if (!req->ns) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    if (DW10_ACTION(dw10) > CLEAR || DW10_IEKEY(dw10)) {
        return NVME_SC_INVALID_FIELD;
    }
    status = nvme_from_host(ctrl, sqe, &key, sizeof(key));
    if (status) {
        return status;
    }
    own = find_by_key(of(ctrl, req->ns), ctrl, nvme_le64(key));
    if (!own) {
        return NVME_SC_RESERVATION_CONFLICT;
    }
    if (DW10_ACTION(dw10) == RELEASE) {
        return release(ctrl, req->ns, own, DW10_RTYPE(dw10));
    }
    clear(ctrl, req->ns, own);
    return 0;
}

/* ---- Reservation Report -------------------------------------------------- */

/* The head of the extended data structure is as long as its entries; the other
 * structure ends its head before the reserved bytes. */
#define HEAD_BYTES offsetof(NvmeReservationHead, reserved24)
#define REPORT_MOST                                                            \
    (sizeof(NvmeReservationHead) +                                             \
     (NVME_MAX_CTRLS + NVME_MAX_REGISTRANTS) * sizeof(NvmeReservationExt))

static void put_entry(const NvmeReservation *res, const NvmeRegistrant *r,
                      uint16_t cntlid, bool extended, uint8_t *p)
{
    if (extended) {
        NvmeReservationExt e = {
            .cntlid = nvme_le16(cntlid),
            .rcsts = holds(res, r),
            .rkey = nvme_le64(r->key),
        };

        memcpy(e.hostid, r->host_id, sizeof(e.hostid));
        memcpy(p, &e, sizeof(e));
    } else {
        NvmeReservationCtrl e = {
            .cntlid = nvme_le16(cntlid),
            .rcsts = holds(res, r),
            .rkey = nvme_le64(r->key),
        };

        memcpy(&e.hostid, r->host_id, sizeof(e.hostid));
        memcpy(p, &e, sizeof(e));
    }
}

/* One entry for each controller of the host; FFFFh: it has none now. */
static unsigned put_host(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                         const NvmeRegistrant *r, bool extended, uint8_t *p)
{
    size_t bytes =
        extended ? sizeof(NvmeReservationExt) : sizeof(NvmeReservationCtrl);
    const NvmeReservation *res = of(ctrl, ns);
    unsigned n = 0;

    NVME_FOR_EACH_CTRL(ctrl->sub, c)
    {
        if (is_host_of(r, c) && nvme_is_attached(c, ns)) {
            put_entry(res, r, c->cfg.cntlid, extended, p + n++ * bytes);
        }
    }
    if (!n) {
        put_entry(res, r, NO_CNTLID, extended, p + n++ * bytes);
    }
    return n;
}

static void fill_report(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                        bool extended, uint8_t *out)
{
    size_t head = extended ? sizeof(NvmeReservationHead) : HEAD_BYTES;
    size_t bytes =
        extended ? sizeof(NvmeReservationExt) : sizeof(NvmeReservationCtrl);
    NvmeReservation *res = of(ctrl, ns);
    NvmeReservationHead h = {
        .gen = nvme_le32(res->generation),
        .rtype = res->type,
        .ptpls = res->ptpl,
    };
    uint16_t n = 0;

    for (unsigned i = 0; i < NVME_MAX_REGISTRANTS; i++) {
        const NvmeRegistrant *r = &res->registrant[i];

        if (r->used) {
            n += put_host(ctrl, ns, r, extended, out + head + n * bytes);
        }
    }
    h.regctl = nvme_le16(n);
    memcpy(out, &h, HEAD_BYTES);
}

uint16_t nvme_reservation_report(NvmeCtrl *ctrl, NvmeRequest *req,
                                 const NvmeSqe *sqe)
{
    bool extended = sqe->dw[11] & DW11_EDS;
    uint64_t bytes = ((uint64_t)sqe->dw[10] + 1) * 4;
    g_autofree uint8_t *out = NULL;

    if (!req->ns) {
        return nvme_ns_missing(ctrl, req->nsid);
    }
    /* Base 2.1, 7.8: the structure is that of the Host Identifier's size. */
    if (extended != ctrl->features.host_id_extended) {
        return NVME_SC_HOST_ID_FORMAT;
    }
    if (bytes > ctrl->max_bytes) {
        return NVME_SC_INVALID_FIELD;
    }
    out = g_malloc0(MAX(bytes, REPORT_MOST));
    fill_report(ctrl, req->ns, extended, out);
    return nvme_to_host(ctrl, sqe, out, bytes);
}

/* ---- access -------------------------------------------------------------- */

bool nvme_reservation_allows(const NvmeCtrl *ctrl, const NvmeNamespace *ns,
                             bool write)
{
    NvmeReservation *res = of(ctrl, ns);
    const NvmeRegistrant *own = find(res, ctrl);

    if (holds(res, own) || (own && gives_access(res->type))) {
        return true;
    }
    switch (res->type) {
    case NVME_RESERVATION_NONE:
        return true;
    case NVME_RESERVATION_WE:
    case NVME_RESERVATION_WERO:
    case NVME_RESERVATION_WEAR:
        return !write;
    default:
        return false;
    }
}

/* Of a command that is for one namespace, or for all that the subsystem has. */
static bool may_change(const NvmeCtrl *ctrl, uint32_t nsid)
{
    for (uint32_t i = 0; i < ctrl->sub->namespaces.n; i++) {
        const NvmeNamespace *ns = &ctrl->sub->namespaces.table[i];

        if (ns->exists && (nsid == NVME_NSID_ALL || nsid == ns->nsid) &&
            !nvme_reservation_allows(ctrl, ns, true)) {
            return false;
        }
    }
    return true;
}

static bool admin_conflicts(const NvmeCtrl *ctrl, const NvmeRequest *req,
                            const NvmeSqe *sqe)
{
    switch (req->opcode) {
    case NVME_ADM_FORMAT:
        return !may_change(ctrl, req->nsid);
    case NVME_ADM_SANITIZE:
        return !may_change(ctrl, NVME_NSID_ALL);
    case NVME_ADM_NS_MANAGEMENT: /* Delete */
        return (sqe->dw[10] & 0xf) == 1 && !may_change(ctrl, req->nsid);
    default:
        return false;
    }
}

/* Commands that have no work of their kind, and act on data or read about it
 * (Base 2.0, Command Behavior in the Presence of a Reservation; Zoned Namespace
 * Command Set 1.1, the same). */
static NvmeWork work_of(const NvmeRequest *req, NvmeWork work)
{
    if (work != NVME_WORK_NONE || req->ns->kv) {
        return work;
    }
    switch (req->opcode) {
    case NVME_IO_MGMT_SEND:
    case NVME_IO_ZONE_SEND:
        return NVME_WORK_WRITE;
    case NVME_IO_ZONE_RECEIVE:
        return NVME_WORK_READ;
    default:
        return NVME_WORK_NONE;
    }
}

uint16_t nvme_reservation_check(const NvmeCtrl *ctrl, const NvmeRequest *req,
                                NvmeWork work, const NvmeSqe *sqe)
{
    bool conflict;

    if (req->admin) {
        conflict = admin_conflicts(ctrl, req, sqe);
    } else if (!req->ns || work_of(req, work) == NVME_WORK_NONE) {
        conflict = false;
    } else {
        conflict = !nvme_reservation_allows(
            ctrl, req->ns, work_of(req, work) != NVME_WORK_READ);
    }
    return conflict ? NVME_SC_RESERVATION_CONFLICT : 0;
}

/* ---- the ends of registrations ------------------------------------------- */

static void forget_all(NvmeSubsys *sub, NvmeReservation *res)
{
    set_type(sub, res, 0);
    *res = (NvmeReservation){.ptpl = res->ptpl};
}

void nvme_reservation_forget(NvmeCtrl *ctrl, const NvmeNamespace *ns)
{
    if (nvme_has_reservations(ctrl)) {
        of(ctrl, ns)->ptpl = false;
        forget_all(ctrl->sub, of(ctrl, ns));
    }
}

void nvme_reservations_reset(NvmeCtrl *ctrl)
{
    memset(&ctrl->reservation_log, 0, sizeof(ctrl->reservation_log));
    if (!nvme_has_reservations(ctrl) || !is_zero(ctrl->features.host_id)) {
        return;
    }
    for (uint32_t i = 0; i < ctrl->sub->namespaces.n; i++) {
        const NvmeNamespace *ns = &ctrl->sub->namespaces.table[i];
        NvmeRegistrant *r = ns->exists ? find(of(ctrl, ns), ctrl) : NULL;

        if (r) {
            remove_registrant(ctrl, ns, r);
        }
    }
}

void nvme_reservations_power_on(NvmeSubsys *sub)
{
    for (uint32_t i = 0; sub->reservations && i < NVME_MAX_NAMESPACES; i++) {
        if (!sub->reservations[i].ptpl) {
            forget_all(sub, &sub->reservations[i]);
        }
    }
}

/* ---- features ------------------------------------------------------------ */

/* The namespaces that a Set Features command is about. */
static bool is_meant(const NvmeCtrl *ctrl, const NvmeRequest *req, uint32_t i)
{
    const NvmeNamespace *ns = &ctrl->sub->namespaces.table[i];

    return nvme_is_attached(ctrl, ns) &&
           (req->nsid == NVME_NSID_ALL || req->ns == ns);
}

uint16_t nvme_reservation_get_mask(NvmeCtrl *ctrl, NvmeRequest *req,
                                   const NvmeSqe *sqe, bool current)
{
    req->dw0 = current ? ctrl->reservation_log.mask[req->ns->nsid - 1] : 0;
    return 0;
}

uint16_t nvme_reservation_set_mask(NvmeCtrl *ctrl, NvmeRequest *req,
                                   const NvmeSqe *sqe)
{
    if (sqe->dw[11] & ~MASK_BITS) {
        return NVME_SC_INVALID_FIELD;
    }
    for (uint32_t i = 0; i < ctrl->sub->namespaces.n; i++) {
        if (is_meant(ctrl, req, i)) {
            ctrl->reservation_log.mask[i] = (uint8_t)sqe->dw[11];
        }
    }
    return 0;
}

uint16_t nvme_reservation_get_ptpl(NvmeCtrl *ctrl, NvmeRequest *req,
                                   const NvmeSqe *sqe, bool current)
{
    req->dw0 = current ? of(ctrl, req->ns)->ptpl : 0;
    return 0;
}

uint16_t nvme_reservation_set_ptpl(NvmeCtrl *ctrl, NvmeRequest *req,
                                   const NvmeSqe *sqe)
{
    if (sqe->dw[11] & ~1U) {
        return NVME_SC_INVALID_FIELD;
    }
    for (uint32_t i = 0; i < ctrl->sub->namespaces.n; i++) {
        if (is_meant(ctrl, req, i)) {
            ctrl->sub->reservations[i].ptpl = sqe->dw[11] & 1;
        }
    }
    return 0;
}

/* ---- a stream that was loaded -------------------------------------------- */

static bool reservation_ok(const NvmeReservation *res, bool exists)
{
    unsigned n = 0;
    unsigned holders = 0;

    for (unsigned i = 0; i < NVME_MAX_REGISTRANTS; i++) {
        const NvmeRegistrant *r = &res->registrant[i];

        if (r->used > 1 || r->holds > 1 || (r->holds && !r->used)) {
            return false;
        }
        n += r->used;
        holders += r->holds;
    }
    return res->type <= NVME_RESERVATION_EAAR && res->ptpl <= 1 &&
           (exists || !n) && (!res->type || n) &&
           holders == (res->type && !of_all_registrants(res->type));
}

bool nvme_reservations_ok(const NvmeCtrl *ctrl)
{
    const NvmeReservationLog *log = &ctrl->reservation_log;

    for (uint32_t i = 0; ctrl->sub->reservations && i < NVME_MAX_NAMESPACES;
         i++) {
        if (!reservation_ok(&ctrl->sub->reservations[i],
                            nvme_ns_existing(ctrl, i + 1) != NULL)) {
            return false;
        }
    }
    return log->n <= NVME_RESERVATION_ENTRIES;
}

void nvme_reservations_loaded(NvmeSubsys *sub)
{
    sub->n_reserved = 0;
    for (uint32_t i = 0; sub->reservations && i < NVME_MAX_NAMESPACES; i++) {
        sub->n_reserved += sub->reservations[i].type != 0;
    }
}
