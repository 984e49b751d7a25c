/* SPDX-License-Identifier: GPL-2.0-or-later */
/* key-value.h - commands of the Key Value Command Set, for tests. */
#ifndef VSSD_TESTS_NVME_KEY_VALUE_H
#define VSSD_TESTS_NVME_KEY_VALUE_H

#include "admin.h"
#include "kv-wire.h"
#include "ssd-report.h"

#define KV_UNIT 4096

/* The entry alone.  bytes: value size, or size of the buffer at addr. */
static inline NvmeSqe kv_sqe(Host *h, uint32_t nsid, uint8_t opcode,
                             const void *key, uint8_t key_bytes,
                             uint8_t options, uint32_t bytes, uint64_t addr)
{
    NvmeSqe sqe = host_sqe(opcode, nsid, 0);
    uint8_t k[16] = {0};

    memcpy(k, key, MIN(key_bytes, 16));
    if (bytes) {
        host_map(h, &sqe, addr, bytes);
    }
    sqe.dw[2] = get_le32(k);
    sqe.dw[3] = get_le32(k + 4);
    sqe.dw[14] = get_le32(k + 8);
    sqe.dw[15] = get_le32(k + 12);
    sqe.dw[10] = bytes;
    sqe.dw[11] = key_bytes | options << 8;
    return sqe;
}

static inline HostCqe kv_do(Host *h, uint32_t nsid, uint8_t opcode,
                            const char *key, uint8_t options, uint32_t bytes)
{
    NvmeSqe sqe = kv_sqe(h, nsid, opcode, key, (uint8_t)strlen(key), options,
                         bytes, HOST_DATA);

    return host_do(h, 1, &sqe);
}

static inline uint16_t kv_status(Host *h, uint32_t nsid, uint8_t opcode,
                                 const char *key, uint8_t options,
                                 uint32_t bytes)
{
    return host_code(kv_do(h, nsid, opcode, key, options, bytes).status);
}

/* The content of a value: different in each byte's neighbourhood. */
static inline uint8_t kv_byte(uint32_t seed, uint32_t i)
{
    return (uint8_t)((seed * 2654435761U + i * 40503U) >> 13);
}

static inline void kv_fill(Host *h, uint64_t addr, uint32_t seed, uint32_t n)
{
    uint8_t *p = host_ram(h, addr, n);

    for (uint32_t i = 0; i < n; i++) {
        p[i] = kv_byte(seed, i);
    }
}

static inline bool kv_is(const Host *h, uint64_t addr, uint32_t seed,
                         uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (h->ram[addr + i] != kv_byte(seed, i)) {
            return false;
        }
    }
    return true;
}

static inline uint16_t kv_store(Host *h, uint32_t nsid, const char *key,
                                uint32_t seed, uint32_t bytes)
{
    kv_fill(h, HOST_DATA, seed, bytes);
    return kv_status(h, nsid, NVME_KV_STORE, key, 0, bytes);
}

/* Its size, and all of it is there; UINT32_MAX: there is no such key. */
static inline uint32_t kv_retrieve(Host *h, uint32_t nsid, const char *key,
                                   uint32_t room)
{
    HostCqe cqe;

    memset(host_ram(h, HOST_DATA, room), 0xee, room);
    cqe = kv_do(h, nsid, NVME_KV_RETRIEVE, key, 0, room);
    if (host_code(cqe.status) == NVME_SC_KEY_NOT_THERE) {
        return UINT32_MAX;
    }
    g_assert_cmphex(cqe.status, ==, 0);
    return cqe.dw0;
}

static inline void kv_flush(Host *h, uint32_t nsid)
{
    NvmeSqe sqe = host_sqe(NVME_IO_FLUSH, nsid, 0);

    g_assert_cmphex(host_do(h, 1, &sqe).status, ==, 0);
}

static inline void kv_enable(Host *h)
{
    memset(h->cq, 0, sizeof(h->cq));
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 256), ==, 0);
}

static inline Host *kv_host(const HostOptions *o)
{
    Host *h = host_new(o);

    kv_enable(h);
    return h;
}

static inline void kv_cut(Host *h)
{
    nvme_power_cut(h->ctrl, h->now_ns);
    host_sleep(h, 1000);
    nvme_power_on(h->ctrl, h->now_ns);
    kv_enable(h);
}

static inline SsdCounters kv_counters(const Host *h)
{
    SsdCounters c;

    ssd_get_counters(h->ssd, &c);
    return c;
}

#endif
