/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-kv-flush.c - Flush of all namespaces, while namespaces of key-value
 * pairs are deleted: each Flush ends, and what it has made durable stays.
 */
#include "key-value.h"

#define INSTANTS   150
#define INSTANT_NS 20000ULL

static void delete_ns(Host *h, uint32_t nsid)
{
    g_assert_cmphex(
        admin_status(h, NVME_ADM_NS_MANAGEMENT, nsid, ADMIN_DW(1), 0), ==, 0);
}

static uint16_t send_flush(Host *h, uint32_t nsid)
{
    NvmeSqe sqe = host_sqe(NVME_IO_FLUSH, nsid, 0);

    return host_send(h, 1, &sqe);
}

/* Of n commands; others end in whatever way. */
static uint16_t status_of(Host *h, uint16_t cid, unsigned n)
{
    uint16_t status = 0xffff;

    while (n--) {
        HostCqe cqe = host_wait(h, 1);

        status = cqe.cid == cid ? cqe.status : status;
    }
    return status;
}

static void store_all(Host *h, uint32_t last)
{
    for (uint32_t nsid = 1; nsid <= last; nsid++) {
        g_assert_cmphex(kv_store(h, nsid, "k", nsid, 5000), ==, 0);
    }
}

static void test_no_index_left(void)
{
    Host *h = kv_host(&(HostOptions){.namespaces = "4M:kv;rest"});

    store_all(h, 1);
    kv_flush(h, NVME_NSID_ALL);
    delete_ns(h, 1);
    host_sleep(h, 1000000000);
    kv_flush(h, NVME_NSID_ALL);
    host_free(h);
}

/* The Flush succeeds: the namespaces from the second on have what it made
 * durable. */
static void check(Host *h, uint16_t status, uint32_t last)
{
    g_assert_cmphex(status, ==, 0);
    kv_cut(h);
    for (uint32_t nsid = 2; nsid <= last; nsid++) {
        g_assert_cmpuint(kv_retrieve(h, nsid, "k", 8192), ==, 5000);
        g_assert_true(kv_is(h, HOST_DATA, nsid, 5000));
    }
}

/* The first namespace goes at any instant of the Flush. */
static void test_delete_during_flush(void)
{
    for (unsigned i = 0; i < INSTANTS; i++) {
        Host *h =
            kv_host(&(HostOptions){.namespaces = "4M:kv;4M:kv;4M:kv;rest"});
        uint16_t cid;

        store_all(h, 3);
        cid = send_flush(h, NVME_NSID_ALL);
        host_sleep(h, i * INSTANT_NS);
        delete_ns(h, 1);
        check(h, status_of(h, cid, 1), 3);
        host_free(h);
    }
}

/* A Flush comes while a namespace goes whose commit is under way. */
static void test_flush_after_delete(void)
{
    for (unsigned i = 0; i < INSTANTS; i++) {
        Host *h = kv_host(&(HostOptions){
            .namespaces = "4M:kv;4M:kv;rest",
            .slow = true,
        });
        NvmeSqe sqe = host_sqe(NVME_ADM_NS_MANAGEMENT, 1, 0);

        store_all(h, 2);
        send_flush(h, 1);
        for (unsigned k = 0; k < i % 15 && host_step(h); k++) {
        }
        sqe.dw[10] = 1; /* delete */
        host_send(h, 0, &sqe);
        for (unsigned k = 0; k < i / 15 && host_step(h); k++) {
        }
        check(h, status_of(h, send_flush(h, NVME_NSID_ALL), 2), 2);
        host_free(h);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/kv-flush/no-index-left", test_no_index_left);
    g_test_add_func("/nvme/kv-flush/delete-during-flush",
                    test_delete_during_flush);
    g_test_add_func("/nvme/kv-flush/flush-after-delete",
                    test_flush_after_delete);
    return g_test_run();
}
