/* SPDX-License-Identifier: GPL-2.0-or-later */
/* admin.h - admin commands, for tests: data is at HOST_DATA. */
#ifndef VSSD_TESTS_NVME_ADMIN_H
#define VSSD_TESTS_NVME_ADMIN_H

#include "host.h"

/* A host with options, and a controller that is enabled. */
static inline Host *admin_host(const HostOptions *o)
{
    Host *h = host_new(o);

    host_enable(h);
    return h;
}

static inline uint8_t *admin_data(Host *h)
{
    return host_ram(h, HOST_DATA, 0x100000);
}

/* dw: CDW10 and following, six of them or NULL. */
static inline HostCqe admin_do(Host *h, uint8_t opcode, uint32_t nsid,
                               const uint32_t *dw, uint32_t bytes)
{
    NvmeSqe sqe = host_sqe(opcode, nsid, HOST_DATA);

    if (bytes) {
        host_map(h, &sqe, HOST_DATA, bytes);
    }
    for (unsigned i = 0; dw && i < 6; i++) {
        sqe.dw[10 + i] = dw[i];
    }
    return host_do(h, 0, &sqe);
}

#define ADMIN_DW(...) ((const uint32_t[6]){__VA_ARGS__})

static inline uint16_t admin_status(Host *h, uint8_t opcode, uint32_t nsid,
                                    const uint32_t *dw, uint32_t bytes)
{
    return host_code(admin_do(h, opcode, nsid, dw, bytes).status);
}

/* flags: LSP and RAE, bits 15:8 of CDW10. */
static inline uint16_t admin_log(Host *h, uint8_t lid, uint32_t flags,
                                 uint32_t bytes, uint64_t offset)
{
    uint32_t numd = bytes / 4 - 1;

    return admin_status(h, NVME_ADM_GET_LOG_PAGE, NVME_NSID_ALL,
                        ADMIN_DW(lid | flags << 8 | (numd & 0xffff) << 16,
                                 numd >> 16, (uint32_t)offset, offset >> 32),
                        bytes);
}

/* select: SEL, or the save bit as 1 << 23. */
static inline HostCqe admin_get_feature(Host *h, uint8_t fid, uint32_t select,
                                        uint32_t dw11)
{
    return admin_do(h, NVME_ADM_GET_FEATURES, 0,
                    ADMIN_DW(fid | select << 8, dw11), 4096);
}

static inline uint16_t admin_set_feature(Host *h, uint8_t fid, bool save,
                                         uint32_t dw11, uint32_t dw12)
{
    return admin_status(h, NVME_ADM_SET_FEATURES, 0,
                        ADMIN_DW(fid | (uint32_t)save << 31, dw11, dw12), 4096);
}

static inline void admin_identify(Host *h, uint8_t cns)
{
    g_assert_cmphex(admin_status(h, NVME_ADM_IDENTIFY, 0, ADMIN_DW(cns), 4096),
                    ==, 0);
}

#endif
