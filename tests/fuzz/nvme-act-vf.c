/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvme-act-vf.c - actions of a drive with secondary controllers: Virtualization
 * Management, their functions, and hosts of them that keep no rules.
 */
#include "nvme-act.h"

static const uint16_t ids[] = {FUZZ_VF_CNTLID, FUZZ_VF_CNTLID + 1, 1, 12};

/* ACT, RT and NR, mostly possible ones. */
static void manage(Guest *g, const FuzzAction *x)
{
    static const uint8_t acts[] = {1, 7, 8, 8, 8, 9, 9, 0};
    NvmeSqe sqe = {.dw = {NVME_ADM_VIRTUALIZATION}};
    Sent *s = guest_slot(g, SENT_OTHER, acts[x->a >> 1 & 7]);

    if (s) {
        sqe.dw[10] = acts[x->a >> 1 & 7] | (byte_of(x->b, 0) & 7U) << 8 |
                     (uint32_t)ids[x->b >> 8 & 3] << 16;
        sqe.dw[11] = x->b >> 31 ? x->b >> 16 : x->b >> 16 & 7;
        guest_send(g, s, 0, &sqe, true);
    }
}

static void bring_up(Host *h)
{
    h->q[0] = (HostQueue){.sq_addr = HOST_ADMIN_SQ, .sq_size = 32};
    host_write32(h, NVME_REG_CC, 0);
    host_write32(h, NVME_REG_AQA, 31 << 16 | 31);
    nvme_reg_write(h->ctrl, h->now_ns, NVME_REG_ASQ, HOST_ADMIN_SQ, 8);
    nvme_reg_write(h->ctrl, h->now_ns, NVME_REG_ACQ, HOST_ADMIN_CQ, 8);
    host_write32(h, NVME_REG_CC, 0x00460001);
}

/* Any command, in queue 0 or 1; nobody looks at its completion. */
static void send_any(Host *h, const FuzzAction *x)
{
    NvmeSqe sqe =
        host_sqe(byte_of(x->b, 0), nsid_of(byte_of(x->b, 1)), HOST_DATA);
    unsigned queue = x->a >> 1 & 1;

    sqe.dw[10] = x->b >> 16;
    sqe.dw[11] = x->a >> 2;
    if (!h->q[queue].sq_size) {
        return;
    }
    host_send(h, queue, &sqe);
}

static void make_queues(Host *h)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_CREATE_CQ, 0, HOST_QUEUES + 0x30000);

    if (!h->q[0].sq_size) {
        return;
    }
    sqe.dw[10] = 31 << 16 | 1;
    sqe.dw[11] = 3;
    host_send(h, 0, &sqe);
    sqe = host_sqe(NVME_ADM_CREATE_SQ, 0, HOST_QUEUES + 0x20000);
    sqe.dw[10] = 31 << 16 | 1;
    sqe.dw[11] = 1 << 16 | 1;
    host_send(h, 0, &sqe);
    h->q[1] = (HostQueue){
        .id = 1, .cqid = 1, .sq_addr = HOST_QUEUES + 0x20000, .sq_size = 32};
}

void guest_add_vfs(Guest *g, Host *h)
{
    for (uint16_t i = 0; i < g->o.secondaries; i++) {
        g->vf[i] = host_add_secondary(h, FUZZ_VF_CNTLID + i, i + 1, NULL);
    }
}

void guest_pull_vfs(Guest *g)
{
    for (unsigned i = 0; i < g->o.secondaries; i++) {
        host_free(g->vf[i]);
        g->vf[i] = NULL;
    }
}

/* k 7:4 what; a 0 which secondary. */
void act_secondaries(Guest *g, const FuzzAction *x)
{
    Host *h = g->vf[x->a & 1];

    h->now_ns = g->h->now_ns;
    switch (x->k >> 4) {
    case 8:
        nvme_secondary_enable(h->ctrl, h->now_ns, x->a & 2);
        break;
    case 9:
        nvme_reset(h->ctrl, h->now_ns);
        break;
    case 10:
        host_write32(h, (uint64_t)x->a & ~3ULL, x->b);
        break;
    case 11:
        bring_up(h);
        break;
    case 12:
        make_queues(h);
        break;
    case 13:
    case 14:
        send_any(h, x);
        break;
    default:
        manage(g, x);
    }
    guest_run(g);
}
