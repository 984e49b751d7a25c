/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvme-act-admin.c - actions: admin commands, queues made and deleted. */
#include "nvme-act.h"

/* ---- admin commands ------------------------------------------------------ */

/* data: two words that its buffer begins with, twice. */
static void send_admin(Guest *g, uint8_t opcode, uint8_t detail, uint32_t nsid,
                       uint64_t bytes, uint32_t dw10, uint32_t dw11,
                       uint32_t dw12, uint64_t data)
{
    NvmeSqe sqe = { .dw = { opcode, nsid } };
    Sent *s = guest_ready(g, 0) ? guest_slot(g, SENT_OTHER, detail) : NULL;

    if (!s) {
        return;
    }
    if (data) {
        put_le64(guest_to(g, s, 0, 8), data);
        put_le64(guest_to(g, s, 8, 8), data);
    }
    if (bytes) {
        guest_map(g, s, &sqe, bytes);
    }
    sqe.dw[10] = dw10;
    sqe.dw[11] = dw11;
    sqe.dw[12] = dw12;
    guest_send(g, s, 0, &sqe, true);
}

void act_identify(Guest *g, const FuzzAction *x)
{
    static const uint8_t cns[] = { 0x00, 0x01, 0x02, 0x03, 0x05, 0x06, 0x08,
                                   0x10, 0x11, 0x12, 0x13, 0x15, 0x16, 0x19,
                                   0x1c, 0xff };
    uint8_t c = cns[x->k % G_N_ELEMENTS(cns)];

    send_admin(g, NVME_ADM_IDENTIFY, c, nsid_of(byte_of(x->b, 0)), 4096,
               (uint32_t)x->a << 16 | c, x->b >> 8, 0, 0);
}

void act_log(Guest *g, const FuzzAction *x)
{
    static const uint8_t page[] = {
        0x01, 0x02, 0x03, 0x05, 0x06, 0x09, 0x0d, 0x20, 0x21, 0x22, 0x23,
        0xc0, 0xc1, 0xc2, 0x81, 0x00, 0x12, 0x13, 0x07, 0x08, 0x0a, 0x0b,
        0x0e, 0x07, 0x08, 0x0d, 0x0d, 0x0d, 0x03, 0x05, 0x06, 0x00};
    uint8_t lid = page[x->k % 16 + 16 * (x->b >> 31)];
    uint32_t dw10 = (uint32_t)x->a << 16 | (x->k & 0x10U) << 11 |
                    (x->k & 0x20U) << 3 | lid;

    send_admin(g, NVME_ADM_GET_LOG_PAGE, lid,
               x->k & 0x80 ? nsid_of(x->b) : NVME_NSID_ALL,
               (uint64_t)x->a * 4 + 4, dw10, x->k & 0x40 ? x->b : 1U << 16,
               x->k & 0x40 ? 0 : x->b & 0xffff, 0);
}

static const uint8_t features[] = {
    0x01, 0x02, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0e, 0x1d,
    0x1e, 0x81, 0x10, 0x00,
    /* With the highest bit of b. */
    0x0c, 0x0d, 0x0f, 0x13, 0x14, 0x16, 0x17, 0x18, 0x19, 0x0d, 0x0f, 0x13,
    0x14, 0x16, 0x04, 0x05};

static uint8_t feature_of(const FuzzAction *x)
{
    return features[x->k % 16 + 16 * (x->b >> 31)];
}

void act_get_feature(Guest *g, const FuzzAction *x)
{
    uint8_t fid = feature_of(x);

    send_admin(g, NVME_ADM_GET_FEATURES, fid, nsid_of(x->a), 4096,
               (uint32_t)(x->k >> 4 & 7) << 8 | fid, x->b, 0, 0);
}

/* With the cache off, or on again, the promise of a write changes: the honest
 * guest waits. */
static void set_cache(Guest *g, bool on)
{
    NvmeSqe sqe = { .dw = { NVME_ADM_SET_FEATURES, 0 } };
    Sent *s;

    if (!guest_ready(g, 0) || !(s = guest_slot(g, SENT_OTHER, 0x06))) {
        return;
    }
    sqe.dw[10] = 0x06;
    sqe.dw[11] = on;
    if (on) {
        g->cache_off = false;
    }
    if (guest_wait(g, guest_send(g, s, 0, &sqe, true))) {
        g->cache_off = !on;
    }
}

void act_set_feature(Guest *g, const FuzzAction *x)
{
    uint8_t fid = feature_of(x);
    uint32_t save = (uint32_t)(x->k >> 7) << 31;

    if (fid == 0x06 && g->honest) {
        set_cache(g, x->b & 1);
        return;
    }
    if (fid == 0x0f && g->honest) {
        return; /* it would have to keep the controller alive */
    }
    send_admin(g, NVME_ADM_SET_FEATURES, fid, nsid_of(x->a), 4096, save | fid,
               fid == 0x0f ? x->b & 0xffff : x->b, x->a >> 2 & 1,
               (uint64_t)x->b << 32 | (0x00800300U + x->a));
}

void act_abort(Guest *g, const FuzzAction *x)
{
    uint32_t dw10 = (uint32_t)x->a << 16 | x->k % GUEST_QUEUES;

    for (unsigned i = 0; i < GUEST_SENT && (g->honest || x->k & 0x80); i++) {
        Sent *s = &g->sent[(i + x->k) % GUEST_SENT];

        if (s->kind != SENT_NONE && s->kind != SENT_OTHER) {
            s->may_fail = true;
            dw10 = (uint32_t)s->cid << 16 | s->sqid;
            break;
        }
        if (i == GUEST_SENT - 1 && g->honest) {
            dw10 = 0xffff0000; /* none of its own */
        }
    }
    send_admin(g, NVME_ADM_ABORT, 0, 0, 0, dw10, 0, 0, 0);
}

void act_event(Guest *g, const FuzzAction *x)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);
    unsigned n = 0;
    Sent *s;

    for (unsigned i = 0; i < GUEST_SENT; i++) {
        n += g->sent[i].kind == SENT_EVENT;
    }
    if (!guest_ready(g, 0) || (g->honest && n == 3)) {
        return;
    }
    s = guest_slot(g, SENT_EVENT, 0);
    if (s) {
        s->may_fail = true;
        guest_send(g, s, 0, &sqe, true);
    }
}

/* All but the first, whose data is known. */
static uint32_t other_nsid(const Guest *g, const FuzzAction *x)
{
    return g->honest ? 2 + x->b % 5 : x->b % 9 == 8 ? NVME_NSID_ALL : x->b % 8;
}

static void write_other(Guest *g, uint32_t nsid, const FuzzAction *x)
{
    NvmeSqe sqe = host_sqe(NVME_IO_WRITE, nsid, 0);
    Sent *s = guest_ready(g, 1) ? guest_slot(g, SENT_OTHER, 0) : NULL;

    if (s) {
        guest_map(g, s, &sqe, 4 * 4096);
        sqe.dw[10] = x->a;
        sqe.dw[12] = 3;
        guest_send(g, s, 1, &sqe, true);
    }
}

/* Namespace Management and Attachment, protection, data of others. */
static void act_namespaces(Guest *g, const FuzzAction *x)
{
    uint32_t nsid = other_nsid(g, x);
    uint64_t list = 1 | 1U << 16; /* this controller */

    switch (x->k & 7) {
    case 0:
    case 1: /* size and capacity; NULL format, or what comes */
        send_admin(g, NVME_ADM_NS_MANAGEMENT, 0, 0, 4096, 0, 0, 0,
                   g->honest ? 1 + x->a % 512U : x->a | (uint64_t)x->b << 40);
        break;
    case 2:
        send_admin(g, NVME_ADM_NS_MANAGEMENT, 1, nsid, 0, 1, 0, 0, 0);
        break;
    case 3:
    case 4:
        send_admin(g, NVME_ADM_NS_ATTACHMENT, x->k & 1, nsid, 4096, x->k & 1, 0,
                   0, g->honest ? list : list + (x->a & 3));
        break;
    case 5:
        send_admin(g, NVME_ADM_SET_FEATURES, 0x84, nsid, 0, 0x84, x->a & 3, 0,
                   0);
        break;
    case 6:
        send_admin(g, NVME_ADM_GET_LOG_PAGE, 0x04, NVME_NSID_ALL, 4096,
                   0x03ff0004, 0, 0, 0);
        break;
    default:
        write_other(g, nsid, x);
    }
}

void act_directive(Guest *g, const FuzzAction *x)
{
    static const struct {
        uint8_t opcode, type, operation;
    } op[] = {
        { NVME_ADM_DIRECTIVE_RECEIVE, 0, 1 }, { NVME_ADM_DIRECTIVE_SEND, 0, 1 },
        { NVME_ADM_DIRECTIVE_RECEIVE, 1, 1 },
        { NVME_ADM_DIRECTIVE_RECEIVE, 1, 2 },
        { NVME_ADM_DIRECTIVE_RECEIVE, 1, 3 },
        { NVME_ADM_DIRECTIVE_SEND, 1, 1 }, { NVME_ADM_DIRECTIVE_SEND, 1, 2 },
        { NVME_ADM_DIRECTIVE_SEND, 2, 1 },
    };
    unsigned i = x->k % G_N_ELEMENTS(op);
    uint32_t numd = x->k & 0x40 ? x->b : 31;

    if (x->k & 0x80 && g->o.namespaces) {
        act_namespaces(g, x);
        return;
    }
    send_admin(g, op[i].opcode, (uint8_t)(op[i].type << 4 | op[i].operation),
               nsid_of(x->k >> 3 & (x->k & 0x20 ? 3 : 0)), GUEST_SLOT_BYTES,
               numd, (uint32_t)x->a << 16 | (uint32_t)op[i].type << 8 |
               op[i].operation, x->b, 0);
}

/* Commands that erase user data: an honest guest does not send them, since its
 * later commands would end early. */
static void act_erase(Guest *g, const FuzzAction *x)
{
    if (g->honest) {
        return;
    }
    if (x->k & 1) {
        send_admin(g, NVME_ADM_FORMAT, 0, nsid_of(x->b), 0, x->a, 0, 0, 0);
    } else {
        send_admin(g, NVME_ADM_SANITIZE, (uint8_t)(x->a & 7), 0, 0, x->a, x->b,
                   0, 0);
    }
}

static void act_lba_status(Guest *g, const FuzzAction *x)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_GET_LBA_STATUS, nsid_of(x->b), 0);
    Sent *s = guest_slot(g, SENT_OTHER, 0);

    if (s) {
        guest_map(g, s, &sqe, 4096);
        sqe.dw[10] = x->a;
        sqe.dw[12] = g->honest ? 1023 : x->b >> 8;
        sqe.dw[13] = (x->k & 0x10 ? 0x10U : 0x11U) << 24 | byte_of(x->b, 1);
        guest_send(g, s, 0, &sqe, true);
    }
}

/* Other commands: k 3:0 which; b: NSID 1:0, CDW11 31:8.  With secondary
 * controllers and k 7 to 11: one of these (nvme-act-vf.c). */
void act_admin(Guest *g, const FuzzAction *x)
{
    switch (x->k & 15) {
    case 0:
    case 1:
        send_admin(g, NVME_ADM_SELF_TEST, 0, nsid_of(x->b), 0, x->a & 0xf, 0, 0,
                   0);
        break;
    case 2:
    case 3:
    case 4: /* a piece; its beginning may be that of an image */
        send_admin(g, NVME_ADM_FIRMWARE_DOWNLOAD, 0, 0, GUEST_SLOT_BYTES,
                   x->k & 0x80 ? x->b >> 8 : 1023, (uint32_t)x->a % 8 * 1024, 0,
                   x->k & 0x40 ? 0x3130574644535356ULL : 0);
        break;
    case 5:
    case 6:
        send_admin(g, NVME_ADM_FIRMWARE_COMMIT, 0, 0, 0, x->a & 0x3f, 0, 0, 0);
        break;
    case 12:
    case 13:
        act_erase(g, x);
        break;
    case 14:
        act_lba_status(g, x);
        break;
    case 7:
    case 8:
    case 9:
    case 10:
    case 11:
        if (g->vf[0] && !g->honest) {
            act_secondaries(g, x);
            break;
        }
        /* fall through */
    default:
        send_admin(g, NVME_ADM_KEEP_ALIVE, 0, nsid_of(x->b), 0, x->a, 0, 0, 0);
        break;
    }
}

void act_shadow(Guest *g, const FuzzAction *x)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_DOORBELL_BUFFER, 0, HOST_SHADOW_DB);

    sqe.dw[8] = HOST_SHADOW_EI;
    if (g->honest || !g->h->q[0].sq_size) {
        g->shadow = true; /* from the next time on that it is enabled */
        return;
    }
    if (x->k & 3) {
        sqe.dw[6] = (uint32_t)address(x->k >> 2, x->a);
        sqe.dw[8] = x->k & 1 ? sqe.dw[6] : (uint32_t)address(x->b, 0);
    }
    guest_send(g, guest_slot(g, SENT_OTHER, 0), 0, &sqe, true);
    guest_run(g);
    for (unsigned i = 0; i < GUEST_QUEUES; i++) {
        g->h->q[i].shadow = true;
        g->h->cq[i].shadow = true;
    }
}

/* ---- queues -------------------------------------------------------------- */

static void create_hostile(Guest *g, unsigned id, unsigned cqid, unsigned size,
                           const FuzzAction *x)
{
    Host *h = g->h;
    NvmeSqe sqe = host_sqe(NVME_ADM_CREATE_CQ, 0,
                           HOST_QUEUES + (2 * cqid + 1) * 0x10000);

    if (!h->q[0].sq_size) {
        return;
    }
    sqe.dw[10] = (size - 1) << 16 | cqid;
    sqe.dw[11] = x->b;
    guest_send(g, guest_slot(g, SENT_OTHER, 0), 0, &sqe, true);
    h->cq[cqid] = (HostCqRing){ .addr = HOST_QUEUES + (2 * cqid + 1) * 0x10000,
                                .size = size, .phase = 1,
                                .shadow = h->q[0].shadow };
    sqe = host_sqe(NVME_ADM_CREATE_SQ, 0, HOST_QUEUES + 2 * id * 0x10000);
    sqe.dw[10] = (size - 1) << 16 | id;
    sqe.dw[11] = cqid << 16 | (x->k & 0x80 ? 0 : 1);
    guest_send(g, guest_slot(g, SENT_OTHER, 0), 0, &sqe, true);
    h->q[id] = (HostQueue){ .id = id, .cqid = cqid, .sq_size = size,
                            .sq_addr = HOST_QUEUES + 2 * id * 0x10000,
                            .shadow = h->q[0].shadow };
    guest_run(g);
}

void act_create(Guest *g, const FuzzAction *x)
{
    unsigned id = 1 + x->k % 3;
    unsigned cqid = 1 + x->k / 3 % 3;
    unsigned size = 2 + x->a % 63;

    if (!g->honest) {
        create_hostile(g, id, cqid, size, x);
        return;
    }
    id = MIN(id, g->o.n_queues);
    cqid = MIN(cqid, g->o.n_queues);
    if (guest_ready(g, 0) && !g->h->q[id].sq_size) {
        guest_create(g, id, cqid, size, (x->a >> 8) % 65);
    }
}

static bool delete(Guest *g, uint8_t opcode, unsigned id)
{
    NvmeSqe sqe = host_sqe(opcode, 0, 0);
    Sent *s = guest_slot(g, SENT_OTHER, 0);

    sqe.dw[10] = id;
    s = s ? guest_send(g, s, 0, &sqe, true) : NULL;
    return g->honest && guest_wait(g, s);
}

static bool cq_in_use(const Guest *g, unsigned id)
{
    for (unsigned i = 1; i < GUEST_QUEUES; i++) {
        if (g->h->q[i].sq_size && g->h->q[i].cqid == id) {
            return true;
        }
    }
    return false;
}

void act_delete(Guest *g, const FuzzAction *x)
{
    unsigned id = x->k % GUEST_QUEUES;
    bool cq = x->k & 4;
    HostQueue *q = &g->h->q[id];

    if (!g->honest) {
        delete(g, cq ? NVME_ADM_DELETE_CQ : NVME_ADM_DELETE_SQ, id);
        return;
    }
    if (id == 0 || !guest_ready(g, 0)) {
        return;
    }
    if (cq && g->h->cq[id].size && !cq_in_use(g, id)) {
        if (delete(g, NVME_ADM_DELETE_CQ, id)) {
            g->h->cq[id].size = 0;
        }
    } else if (!cq && q->sq_size) {
        for (unsigned i = 0; i < GUEST_SENT; i++) {
            g->sent[i].may_fail |= g->sent[i].sqid == id;
        }
        if (delete(g, NVME_ADM_DELETE_SQ, id)) {
            guest_poll_all(g);
            guest_forget(g, (int)id);
            q->sq_size = 0;
        }
    }
}
