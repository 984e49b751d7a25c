/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench.c - commands per second of the controller, the payload overlay and the
 * drive model together, in one process, without a guest.
 *
 * usage: nvme-bench [PROFILE [DEPTH [COMMANDS]]].  Random 4 KiB over the whole
 * drive, over a store that keeps nothing; the doorbell is rung for every
 * command.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "host.h"

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void send_one(Host *h, Prng *r, uint8_t opcode)
{
    uint64_t units = h->nblocks / 8;
    NvmeSqe sqe = host_rw(h, opcode, prng_below(r, units) * 8, 8, HOST_DATA);

    host_send(h, 1, &sqe);
}

static void measure(Host *h, const char *name, uint8_t opcode, unsigned depth,
                    uint64_t n)
{
    Prng r;
    HostCqe cqe;
    uint64_t sent = 0;
    uint64_t done = 0;
    double t0 = seconds();

    prng_seed(&r, 1, opcode);
    while (done < n) {
        while (sent < n && sent - done < depth) {
            send_one(h, &r, opcode);
            sent++;
        }
        host_step(h);
        while (host_poll(h, 1, &cqe)) {
            done++;
        }
    }
    t0 = seconds() - t0;
    printf("%s depth %u: %.0f commands/s, %.0f ns each\n", name, depth, n / t0,
           t0 * 1e9 / n);
}

int main(int argc, char **argv)
{
    HostOptions o = { .profile = argc > 1 ? argv[1] : "zero-latency" };
    unsigned depth = argc > 2 ? (unsigned)atoi(argv[2]) : 32;
    uint64_t n = argc > 3 ? strtoull(argv[3], NULL, 0) : 1000000;
    Host *h = host_new(&o);

    h->null_store = true;
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 1024), ==, 0);
    depth = MIN(MAX(depth, 1), 1000);
    measure(h, "write", NVME_IO_WRITE, depth, n);
    measure(h, "read ", NVME_IO_READ, depth, n);
    host_free(h);
    return 0;
}
