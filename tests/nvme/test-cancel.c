/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-cancel.c - the Cancel command: fields that are wrong, one command, all
 * of a queue, and commands that are not meant.
 */
#include "host.h"

static Host *ready(const char *set)
{
    Host *h = host_new(&(HostOptions){.set = set});

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 256), ==, 0);
    g_assert_cmphex(host_create_queues(h, 2, 2, 256), ==, 0);
    return h;
}

static NvmeSqe cancel(uint16_t sqid, uint16_t cid, uint32_t action)
{
    NvmeSqe sqe = host_sqe(NVME_IO_CANCEL, 1, 0);

    sqe.dw[0] |= 0x7777U << 16;
    sqe.dw[10] = sqid | (uint32_t)cid << 16;
    sqe.dw[11] = action;
    return sqe;
}

static uint16_t code(Host *h, uint32_t nsid, uint16_t sqid, uint16_t cid,
                     uint32_t action)
{
    NvmeSqe sqe = cancel(sqid, cid, action);

    sqe.dw[1] = nsid;
    return host_code(host_do(h, 1, &sqe).status);
}

static void test_fields(void)
{
    Host *h = ready(NULL);

    g_assert_cmphex(code(h, 1, 1, 5, 0), ==, 0); /* no such command */
    g_assert_cmphex(code(h, NVME_NSID_ALL, 1, 0xffff, 1), ==, 0);
    g_assert_cmphex(code(h, 2, 1, 5, 0), ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(code(h, 1, 2, 5, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(code(h, 1, 1, 5, 1), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(code(h, 1, 1, 5, 2), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(code(h, 1, 1, 0x7777, 0), ==, NVME_SC_INVALID_CID);
    host_free(h);
}

/* Eight reads by queue 1, which the firmware has not begun, and one by queue 2;
 * how many end as aborted, and the count that Cancel returns. */
static unsigned aborted(uint16_t cid, uint32_t action, unsigned *deferred)
{
    Host *h = ready("host.firmware=50us;host.cores=1");
    NvmeSqe sqe;
    unsigned n = 0;

    for (unsigned i = 0; i < 8; i++) {
        sqe = host_rw(h, NVME_IO_READ, i, 1, HOST_DATA);
        sqe.dw[0] |= (0x1000U + i) << 16;
        host_put(h, 1, &sqe);
    }
    host_ring(h, 1);
    sqe = host_rw(h, NVME_IO_READ, 9, 1, HOST_DATA);
    sqe.dw[0] |= (uint32_t)(cid == 0xffff ? 1 : cid) << 16;
    host_send(h, 2, &sqe);
    nvme_run(h->ctrl, h->now_ns);
    sqe = cancel(1, cid, action);
    host_send(h, 1, &sqe);
    for (unsigned i = 0; i < 9; i++) {
        HostCqe c = host_wait(h, 1);

        if (c.cid == 0x7777) {
            g_assert_cmphex(c.status, ==, 0);
            g_assert_cmpuint(c.dw0 & 0xffff, ==, 0);
            *deferred = c.dw0 >> 16;
            continue;
        }
        n += host_code(c.status) == NVME_SC_ABORT_REQUESTED;
        g_assert_true(host_code(c.status) == 0 || action || c.cid == cid);
    }
    g_assert_cmphex(host_wait(h, 2).status, ==, 0); /* not of the queue */
    host_free(h);
    return n;
}

static void test_effect(void)
{
    unsigned deferred = 99;

    g_assert_cmpuint(aborted(0x1007, 0, &deferred), ==, 1);
    g_assert_cmpuint(deferred, ==, 1);
    g_assert_cmpuint(aborted(0x2000, 0, &deferred), ==, 0);
    g_assert_cmpuint(deferred, ==, 0);
    g_assert_cmpuint(aborted(0xffff, 1, &deferred), ==, 8);
    g_assert_cmpuint(deferred, ==, 8);
}

/* Sends four reads of namespace 1 and three of 2, and waits for so long; then
 * how many end as aborted, by namespace, and what Cancel says. */
static void both(uint32_t nsid, uint64_t wait_ns, unsigned n[3],
                 unsigned *deferred)
{
    Host *h = host_new(&(HostOptions){.set = "host.firmware=50us;host.cores=1",
                                      .namespaces = "2M;rest"});
    NvmeSqe sqe;

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    for (unsigned i = 0; i < 7; i++) {
        sqe = host_rw(h, NVME_IO_READ, i, 1, HOST_DATA);
        sqe.dw[1] = i < 4 ? 1 : 2;
        sqe.dw[0] |= (0x1000U * sqe.dw[1] + i) << 16;
        host_put(h, 1, &sqe);
    }
    host_ring(h, 1);
    nvme_run(h->ctrl, h->now_ns);
    h->now_ns += wait_ns;
    nvme_run(h->ctrl, h->now_ns);
    sqe = cancel(1, 0xffff, 1);
    sqe.dw[1] = nsid;
    host_send(h, 1, &sqe);
    n[1] = n[2] = 0;
    for (unsigned i = 0; i < 8; i++) {
        HostCqe c = host_wait(h, 1);

        if (c.cid == 0x7777) {
            g_assert_cmphex(c.status, ==, 0);
            *deferred = c.dw0 >> 16;
        } else {
            n[c.cid >> 12] += host_code(c.status) == NVME_SC_ABORT_REQUESTED;
        }
    }
    host_free(h);
}

/* Commands of other namespaces go on, and so do those that the drive has begun,
 * which Cancel does not count. */
static void test_namespaces(void)
{
    unsigned n[3];
    unsigned deferred = 99;

    both(1, 0, n, &deferred);
    g_assert_true(n[1] == 4 && n[2] == 0 && deferred == 4);
    both(2, 0, n, &deferred);
    g_assert_true(n[1] == 0 && n[2] == 3 && deferred == 3);
    both(NVME_NSID_ALL, 0, n, &deferred);
    g_assert_true(n[1] == 4 && n[2] == 3 && deferred == 7);
    both(NVME_NSID_ALL, 125000, n, &deferred);
    g_assert_cmpuint(n[1] + n[2], <, 7);
    g_assert_cmpuint(n[1] + n[2], >, 2);
    g_assert_cmpuint(deferred, ==, n[1] + n[2]);
}

/* What one Cancel has aborted the next one does not count. */
static void test_twice(void)
{
    Host *h = ready("host.firmware=50us;host.cores=1");
    NvmeSqe sqe;

    for (unsigned i = 0; i < 4; i++) {
        sqe = host_rw(h, NVME_IO_READ, i, 1, HOST_DATA);
        sqe.dw[0] |= (0x1000U + i) << 16;
        host_put(h, 1, &sqe);
    }
    for (unsigned i = 0; i < 2; i++) {
        sqe = cancel(1, 0xffff, 1);
        sqe.dw[0] -= i << 16;
        host_put(h, 1, &sqe);
    }
    host_ring(h, 1);
    for (unsigned i = 0; i < 6; i++) {
        HostCqe c = host_wait(h, 1);

        g_assert_cmphex(c.dw0, ==, c.cid == 0x7777 ? 4U << 16 : 0);
    }
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/cancel/fields", test_fields);
    g_test_add_func("/nvme/cancel/effect", test_effect);
    g_test_add_func("/nvme/cancel/namespaces", test_namespaces);
    g_test_add_func("/nvme/cancel/twice", test_twice);
    return g_test_run();
}
