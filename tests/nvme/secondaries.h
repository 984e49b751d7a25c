/* SPDX-License-Identifier: GPL-2.0-or-later */
/* secondaries.h - a drive with three secondary controllers, for tests. */
#ifndef VSSD_TESTS_NVME_SECONDARIES_H
#define VSSD_TESTS_NVME_SECONDARIES_H

#include "admin.h"

#include "nvme-wire.h"

enum { ALLOCATE = 1, OFFLINE = 7, ASSIGN = 8, ONLINE = 9 };
enum { VQ, VI };

#define PRIMARY 1  /* CNTLID of the first controller */
#define FIRST   10 /* CNTLID of virtual function 1 */

static const HostOptions options = {
    .n_queues = 4,
    .n_vectors = 5,
    .secondaries = 3,
    .vq_flexible = 10,
    .vi_flexible = 9,
    .vq_per_secondary = 5,
    .vi_per_secondary = 4,
};

static inline Host *start(const HostOptions *o)
{
    Host *h = admin_host(o);

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    return h;
}

static inline Host *add(Host *first, uint16_t vfn)
{
    GError *error = NULL;
    Host *h = host_add_secondary(first, FIRST - 1 + vfn, vfn, &error);

    g_assert_no_error(error);
    return h;
}

/* The primary and three secondary controllers, Offline. */
static inline Host *family(Host *s[3])
{
    Host *h = start(&options);

    for (uint16_t i = 0; i < 3; i++) {
        s[i] = add(h, i + 1);
    }
    return h;
}

static inline void end(Host *h, Host *s[3])
{
    for (unsigned i = 0; i < 3; i++) {
        host_free(s[i]);
    }
    host_free(h);
}

static inline HostCqe manage(Host *h, unsigned act, uint16_t cntlid,
                             unsigned type, unsigned n)
{
    return admin_do(h, NVME_ADM_VIRTUALIZATION, 0,
                    ADMIN_DW(act | type << 8 | (uint32_t)cntlid << 16, n), 0);
}

static inline uint16_t status_of(Host *h, unsigned act, uint16_t cntlid,
                                 unsigned type, unsigned n)
{
    return host_code(manage(h, act, cntlid, type, n).status);
}

static inline void must(Host *h, unsigned act, uint16_t cntlid, unsigned type,
                        unsigned n)
{
    HostCqe cqe = manage(h, act, cntlid, type, n);

    g_assert_cmphex(cqe.status, ==, 0);
    g_assert_cmpuint(cqe.dw0, ==, act == ALLOCATE || act == ASSIGN ? n : 0);
}

static inline void bring_online(Host *h, uint16_t cntlid, unsigned vq,
                                unsigned vi)
{
    must(h, ASSIGN, cntlid, VQ, vq);
    must(h, ASSIGN, cntlid, VI, vi);
    must(h, ONLINE, cntlid, 0, 0);
}

/* A driver finds it as after a reset, maybe one of the subsystem. */
static inline void enable(Host *h)
{
    host_write32(h, NVME_REG_CSTS, NVME_CSTS_NSSRO);
    memset(h->cq, 0, sizeof(h->cq));
    memset(h->q, 0, sizeof(h->q));
    host_enable(h);
}

static inline bool is_offline(Host *h)
{
    return host_read32(h, NVME_REG_CSTS) == NVME_CSTS_CFS &&
           nvme_reg_read(h->ctrl, NVME_REG_CAP, 8) == 0;
}

static inline NvmeIdPrimary capabilities(Host *h)
{
    NvmeIdPrimary id;

    admin_identify(h, 0x14);
    memcpy(&id, admin_data(h), sizeof(id));
    return id;
}

static inline NvmeSecondaryList list_of(Host *h, uint16_t from)
{
    NvmeSecondaryList list;

    g_assert_cmphex(admin_status(h, NVME_ADM_IDENTIFY, 0,
                                 ADMIN_DW(0x15 | (uint32_t)from << 16), 4096),
                    ==, 0);
    memcpy(&list, admin_data(h), sizeof(list));
    return list;
}

#endif
