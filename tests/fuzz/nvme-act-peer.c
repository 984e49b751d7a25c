/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-act-peer.c - actions: another controller of the drive, plugged and
 * pulled at any time, with a host of its own that nobody drives but this file;
 * and reservations, by either of the two.
 */
#include "nvme-act.h"

#define PEER_CNTLID 2
#define PEER_QUEUE  1
#define PEER_SIZE   32 /* entries of a queue */

enum { REGISTER_OPS = 3, ACQUIRE_OPS = 3, RELEASE_OPS = 2 };

void guest_pull_peer(Guest *g)
{
    if (g->peer) {
        host_free(g->peer);
        g->peer = NULL;
        g->memory -= HOST_RAM_BYTES;
        guest_run(g);
    }
}

static void plug(Guest *g)
{
    if (g->peer) {
        guest_pull_peer(g);
    } else {
        g->peer = host_add(g->h, PEER_CNTLID, NULL);
        g->memory += g->peer ? HOST_RAM_BYTES : 0; /* not the drive's */
    }
}

/* Registers and rings as host_enable() sets them, but the controller may say
 * no, now or at any time. */
static void enable(Host *p, uint32_t cc)
{
    memset(p->q, 0, sizeof(p->q));
    memset(p->cq, 0, sizeof(p->cq));
    p->q[0] = (HostQueue){.sq_addr = HOST_ADMIN_SQ, .sq_size = PEER_SIZE};
    p->cq[0] =
        (HostCqRing){.addr = HOST_ADMIN_CQ, .size = PEER_SIZE, .phase = 1};
    memset(host_ram(p, HOST_ADMIN_CQ, 4096), 0, 4096);
    host_write32(p, NVME_REG_AQA, (PEER_SIZE - 1) * 0x10001);
    nvme_reg_write(p->ctrl, p->now_ns, NVME_REG_ASQ, HOST_ADMIN_SQ, 8);
    nvme_reg_write(p->ctrl, p->now_ns, NVME_REG_ACQ, HOST_ADMIN_CQ, 8);
    host_write32(p, NVME_REG_CC, cc);
}

static void create_queues(Host *p)
{
    NvmeSqe sqe = {.dw = {NVME_ADM_CREATE_CQ}};

    if (!p->q[0].sq_size) {
        return;
    }
    p->q[PEER_QUEUE] = (HostQueue){
        .sq_addr = HOST_QUEUES, .sq_size = PEER_SIZE, .cqid = PEER_QUEUE};
    p->cq[PEER_QUEUE] =
        (HostCqRing){.addr = HOST_QUEUES + 4096, .size = PEER_SIZE, .phase = 1};
    memset(host_ram(p, HOST_QUEUES + 4096, 4096), 0, 4096);
    sqe.dw[6] = HOST_QUEUES + 4096;
    sqe.dw[10] = (PEER_SIZE - 1) << 16 | PEER_QUEUE;
    sqe.dw[11] = 1;
    host_send(p, 0, &sqe);
    sqe.dw[0] = NVME_ADM_CREATE_SQ;
    sqe.dw[6] = HOST_QUEUES;
    sqe.dw[11] = PEER_QUEUE << 16 | 1;
    host_send(p, 0, &sqe);
}

static void poll(Host *p)
{
    HostCqe cqe;

    for (unsigned id = 0; id <= PEER_QUEUE; id++) {
        for (unsigned n = 0; p->cq[id].size && n < 2 * PEER_SIZE; n++) {
            if (!host_poll(p, id, &cqe)) {
                break;
            }
        }
    }
}

/* Any command, with data at the usual place. */
static void send(Host *p, const FuzzAction *x)
{
    static const uint8_t admin[] = {
        NVME_ADM_IDENTIFY,     NVME_ADM_GET_LOG_PAGE, NVME_ADM_SET_FEATURES,
        NVME_ADM_GET_FEATURES, NVME_ADM_ASYNC_EVENT,  NVME_ADM_FORMAT,
        NVME_ADM_SANITIZE,     NVME_ADM_ABORT};
    static const uint8_t io[] = {
        NVME_IO_WRITE,        NVME_IO_READ,    NVME_IO_FLUSH, NVME_IO_DSM,
        NVME_IO_WRITE_ZEROES, NVME_IO_COMPARE, NVME_IO_COPY,  NVME_IO_VERIFY};
    unsigned id = x->k >> 3 & 1;
    NvmeSqe sqe = {.dw = {id ? io[x->k & 7] : admin[x->k & 7], nsid_of(x->a)}};

    if (p->q[id].sq_size) {
        sqe.dw[6] = HOST_DATA;
        sqe.dw[10] = x->b;
        sqe.dw[11] = id ? 0 : x->a >> 2;
        sqe.dw[12] = id ? x->a >> 2 & 15 : 0;
        host_send(p, id, &sqe);
    }
}

void act_peer(Guest *g, const FuzzAction *x)
{
    Host *p;

    if (x->k >> 5 == 0 && g->o.controllers > 1) {
        plug(g);
    }
    p = g->peer;
    if (!p) {
        return;
    }
    p->now_ns = g->h->now_ns;
    switch (x->k >> 5) {
    case 1:
        enable(p, 0x00460001 | (x->b & 0xc070));
        break;
    case 2:
        create_queues(p);
        break;
    case 3:
        host_write32(p, NVME_REG_CC, x->b);
        break;
    case 4:
        nvme_reset(p->ctrl, p->now_ns);
        break;
    case 5:
        poll(p);
        break;
    default:
        send(p, x);
    }
    guest_run(g);
}

/* ---- reservations -------------------------------------------------------- */

static NvmeSqe reservation(const FuzzAction *x)
{
    static const uint8_t opcode[] = {
        NVME_IO_RESERVATION_REGISTER, NVME_IO_RESERVATION_ACQUIRE,
        NVME_IO_RESERVATION_RELEASE, NVME_IO_RESERVATION_REPORT};
    static const uint8_t actions[] = {REGISTER_OPS, ACQUIRE_OPS, RELEASE_OPS,
                                      8};
    unsigned i = x->k & 3;
    NvmeSqe sqe = {.dw = {opcode[i], nsid_of(x->k >> 2)}};

    sqe.dw[10] = byte_of(x->b, 0) % (actions[i] + 1) |
                 (byte_of(x->b, 1) & 1) << 3 | byte_of(x->b, 2) % 8 << 8 |
                 (uint32_t)byte_of(x->b, 1) >> 6 << 30;
    if (i == 3) {
        sqe.dw[10] = x->b & 0xfff;
        sqe.dw[11] = x->b >> 16 & 1;
    }
    return sqe;
}

/* k 4: by the peer; a: the keys, of which there are few. */
void act_reserve(Guest *g, const FuzzAction *x)
{
    NvmeSqe sqe = reservation(x);
    Sent *s;

    if (x->k >> 4 & 1) {
        Host *p = g->peer;

        if (p && p->q[PEER_QUEUE].sq_size) {
            p->now_ns = g->h->now_ns;
            put_le64(host_ram(p, HOST_DATA, 8), x->a & 3);
            put_le64(host_ram(p, HOST_DATA + 8, 8), x->a >> 2 & 3);
            sqe.dw[6] = HOST_DATA;
            host_send(p, PEER_QUEUE, &sqe);
            guest_run(g);
            poll(p);
        }
        return;
    }
    s = guest_slot(g, SENT_OTHER, 0);
    if (s) {
        put_le64(guest_to(g, s, 0, 8), x->a & 3);
        put_le64(guest_to(g, s, 8, 8), x->a >> 2 & 3);
        guest_map(g, s, &sqe, 16384);
        guest_send(g, s, 1 + (x->k >> 5) % (GUEST_QUEUES - 1), &sqe, true);
    }
}
