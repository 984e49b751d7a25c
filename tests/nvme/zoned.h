/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zoned.h - a host of a zoned drive, for test-zns.c and test-zrwa.c. */
#ifndef VSSD_TESTS_NVME_ZONED_H
#define VSSD_TESTS_NVME_ZONED_H

#include "host.h"

#define BUF  HOST_DATA
#define DATA (HOST_DATA + 0x100000)

/* A zone has 256 blocks of 4 KiB; 17 zones, 4 active, 3 open. */
#define ZONED                                                                  \
    "nand.blocks=24;ftl.op_percent=0%;buffer.size=1MiB;buffer.plp=on;"         \
    "ftl.alloc=in-order;zones.enabled=on;zones.max_active=4;"                  \
    "zones.max_open=3;zones.append_max=64KiB;zones.extension=1;"
#define GAPS ZONED "zones.capacity=800KiB;"
#define ZONE 256

enum { CLOSE = 1, FINISH, OPEN, RESET, OFFLINE, EXTENSION = 0x10 };
enum {
    EMPTY = 1,
    IMPLICIT,
    EXPLICIT,
    CLOSED,
    READ_ONLY = 0xd,
    FULL,
    OFF,
};

static inline void queues(Host *h)
{
    memset(h->cq, 0, sizeof(h->cq));
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
}

static inline Host *start(const char *set)
{
    HostOptions o = {.set = set, .block_bytes = 4096};
    Host *h = host_new(&o);

    queues(h);
    return h;
}

static inline HostCqe command(Host *h, unsigned queue, uint8_t opcode,
                              uint32_t nsid, const uint32_t dw[4])
{
    NvmeSqe sqe = host_sqe(opcode, nsid, BUF);

    for (unsigned i = 0; i < 4; i++) {
        sqe.dw[10 + i] = dw[i];
    }
    return host_do(h, queue, &sqe);
}

static inline uint16_t send(Host *h, uint64_t lba, unsigned action)
{
    return host_code(command(h, 1, NVME_IO_ZONE_SEND, 1,
                             (uint32_t[]){(uint32_t)lba, 0, 0, action})
                         .status);
}

/* In blocks of the zoned namespace, whatever those of the drive are. */
static inline uint16_t zone_io(Host *h, uint8_t opcode, uint64_t lba,
                               uint32_t n)
{
    NvmeSqe sqe = host_sqe(opcode, 1, 0);

    host_map(h, &sqe, DATA, (uint64_t)n * 4096);
    sqe.dw[10] = (uint32_t)lba;
    sqe.dw[12] = n - 1;
    return host_code(host_do(h, 1, &sqe).status);
}

static inline uint16_t put(Host *h, uint64_t lba, uint32_t n)
{
    return zone_io(h, NVME_IO_WRITE, lba, n);
}

static inline uint16_t fetch(Host *h, uint64_t lba, uint32_t n)
{
    memset(host_ram(h, DATA, n * 4096), 0xee, n * 4096);
    return zone_io(h, NVME_IO_READ, lba, n);
}

/* Report from lba on; status. */
static inline uint16_t report(Host *h, uint64_t lba, unsigned action,
                              unsigned filter, bool partial, uint32_t bytes)
{
    memset(host_ram(h, BUF, 4096), 0xee, 4096);
    return host_code(
        command(h, 1, NVME_IO_ZONE_RECEIVE, 1,
                (uint32_t[]){(uint32_t)lba, 0, bytes / 4 - 1,
                             action | filter << 8 | (uint32_t)partial << 16})
            .status);
}

static inline const uint8_t *zone(Host *h, unsigned i)
{
    g_assert_cmphex(report(h, i * ZONE, 0, 0, true, 128), ==, 0);
    g_assert_cmpuint(get_le64(h->ram + BUF), ==, 1);
    return h->ram + BUF + 64;
}

static inline unsigned state(Host *h, unsigned i)
{
    return zone(h, i)[1] >> 4;
}

/* In blocks from the start of the zone. */
static inline uint64_t pointer(Host *h, unsigned i)
{
    return get_le64(zone(h, i) + 24) - i * ZONE;
}

static inline void mark(Host *h, uint8_t with, uint32_t n)
{
    memset(host_ram(h, DATA, n * 4096), with, n * 4096);
}

static inline bool is_all(const Host *h, uint8_t what, uint32_t first,
                          uint32_t n)
{
    for (uint32_t i = first * 4096; i < (first + n) * 4096; i++) {
        if (h->ram[DATA + i] != what) {
            return false;
        }
    }
    return true;
}

#endif
