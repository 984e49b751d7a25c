/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * placement.h - commands of the host that the tests of directives and of FDP
 * share.
 */
#ifndef VSSD_TESTS_NVME_PLACEMENT_H
#define VSSD_TESTS_NVME_PLACEMENT_H

#include "host.h"

#define ALL NVME_NSID_ALL
#define BUF HOST_DATA

enum { IDENTIFY = NVME_DIR_IDENTIFY, STREAM = NVME_DIR_STREAMS,
       PLACEMENT = NVME_DIR_PLACEMENT };

static inline Host *start(const char *set)
{
    HostOptions o = { .set = set };
    Host *h = host_new(&o);

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    return h;
}

static inline HostCqe send_cmd(Host *h, unsigned queue, uint8_t opcode,
                               uint32_t nsid, uint32_t dw10, uint32_t dw11,
                               uint32_t dw12)
{
    NvmeSqe sqe = host_sqe(opcode, nsid, BUF);

    sqe.dw[10] = dw10;
    sqe.dw[11] = dw11;
    sqe.dw[12] = dw12;
    return host_do(h, queue, &sqe);
}

static inline uint16_t code(HostCqe cqe)
{
    return host_code(cqe.status);
}

/* Directive Receive of n dwords, after the buffer is filled with 0xee. */
static inline HostCqe receive(Host *h, uint32_t nsid, unsigned type, unsigned op,
                              uint32_t dwords, uint32_t dw12)
{
    memset(h->ram + BUF, 0xee, 8192);
    return send_cmd(h, 0, NVME_ADM_DIRECTIVE_RECEIVE, nsid, dwords - 1,
                    type << 8 | op, dw12);
}

static inline uint16_t send_dir(Host *h, uint32_t nsid, unsigned type,
                                unsigned op, uint16_t spec, uint32_t dw12)
{
    return code(send_cmd(h, 0, NVME_ADM_DIRECTIVE_SEND, nsid, 0,
                         (uint32_t)spec << 16 | type << 8 | op, dw12));
}

static inline uint16_t enable(Host *h, uint32_t nsid, unsigned type, bool on)
{
    return send_dir(h, nsid, IDENTIFY, NVME_DIR_SEND_ENABLE, 0, type << 8 | on);
}

static inline uint16_t get16(const Host *h, unsigned offset)
{
    return get_le16(h->ram + BUF + offset);
}

/* Write one unit with a directive. */
static inline uint16_t put(Host *h, uint64_t unit, unsigned type, uint16_t spec)
{
    uint32_t n = h->info->unit_bytes / h->info->block_bytes;
    NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, unit * n, n, BUF + 0x10000);

    sqe.dw[12] |= type << 20;
    sqe.dw[13] = (uint32_t)spec << 16;
    return code(host_do(h, 1, &sqe));
}

static inline uint32_t stream_of(Host *h, uint64_t unit)
{
    SsdPlace p;

    ssd_place(h->ssd, unit * (h->info->unit_bytes / h->info->block_bytes), &p);
    g_assert_true(p.mapped);
    return p.stream;
}

static inline uint64_t bytes_of(Host *h, uint32_t stream)
{
    SsdStreamCounters c;

    ssd_get_stream(h->ssd, stream, &c);
    return c.host_bytes_written;
}

static inline void identify(Host *h, uint32_t nsid, unsigned cns)
{
    memset(h->ram + BUF, 0xee, 8192);
    g_assert_cmphex(code(send_cmd(h, 0, NVME_ADM_IDENTIFY, nsid, cns, 0, 0)),
                    ==, 0);
}

static inline uint32_t effects(Host *h, unsigned opcode, bool io)
{
    g_assert_cmphex(code(send_cmd(h, 0, NVME_ADM_GET_LOG_PAGE, 0,
                                  1023U << 16 | 0x05, 0, 0)), ==, 0);
    return get_le32(h->ram + BUF + (io ? 1024 : 0) + 4 * opcode);
}

static inline uint16_t get_log(Host *h, unsigned lid, unsigned lsp, unsigned group)
{
    memset(h->ram + BUF, 0xee, 8192);
    return code(send_cmd(h, 0, NVME_ADM_GET_LOG_PAGE, 0,
                         1023U << 16 | lsp << 8 | lid, group << 16, 0));
}

#endif
