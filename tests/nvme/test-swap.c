/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test-swap.c - a namespace that loses its image, and gets another. */
#include "host.h"

#include "ssd-power.h"

#define SECOND 2048 /* the drive's address of namespace 2 */

static const HostOptions two = {
    .namespaces = "1M;1M", .namespaces_fixed = true, .seed = 7};

static Host *start(void)
{
    Host *h = host_new(&two);

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    return h;
}

static uint16_t run(Host *h, uint8_t opcode, uint32_t nsid, uint64_t lba,
                    uint32_t nblocks)
{
    NvmeSqe sqe = host_rw(h, opcode, lba, nblocks, HOST_DATA);

    sqe.dw[1] = nsid;
    return host_code(host_do(h, 1, &sqe).status);
}

static void put(Host *h, uint32_t nsid, uint64_t lba, int byte)
{
    memset(host_ram(h, HOST_DATA, 4096), byte, 4096);
    g_assert_cmphex(run(h, NVME_IO_WRITE, nsid, lba, 8), ==, 0);
}

static void check(Host *h, uint32_t nsid, uint64_t lba, int byte)
{
    g_assert_cmphex(run(h, NVME_IO_READ, nsid, lba, 8), ==, 0);
    g_assert_cmphex(h->ram[HOST_DATA], ==, byte);
    g_assert_cmphex(h->ram[HOST_DATA + 4095], ==, byte);
}

static void identify(Host *h, uint32_t nsid, unsigned cns, uint8_t data[64])
{
    NvmeSqe sqe = host_sqe(NVME_ADM_IDENTIFY, nsid, HOST_DATA);

    sqe.dw[10] = cns;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    memcpy(data, host_ram(h, HOST_DATA, 64), 64);
}

static uint64_t blocks_of(Host *h, uint32_t nsid)
{
    uint64_t first, n;

    g_assert_true(nvme_namespace_place(h->ctrl, nsid, &first, &n));
    g_assert_cmpuint(first, ==, (nsid - 1) * SECOND);
    return n;
}

static void take_out(Host *h)
{
    GError *error = NULL;

    host_settle(h);
    g_assert_true(nvme_namespace_remove(h->ctrl, 2, &error));
    g_assert_no_error(error);
    host_settle(h);
    g_assert_cmpuint(blocks_of(h, 2), ==, 0);
}

static void put_in(Host *h, uint64_t nblocks, bool new_identity)
{
    nvme_namespace_insert(h->ctrl, 2, nblocks, new_identity);
    nvme_hold(h->ctrl, false);
}

/* The drive has nothing of it any more; the image has all, and nothing is done
 * to it later. */
static void test_data(void)
{
    Host *h = start();

    put(h, 1, 0, 1);
    put(h, 2, 0, 2);
    put(h, 2, 2040, 3);
    put(h, 2, 80, 4);
    take_out(h);
    g_assert_true(ssd_mapped(h->ssd, 0, NULL));
    g_assert_false(ssd_mapped(h->ssd, SECOND, NULL));
    g_assert_false(ssd_mapped(h->ssd, SECOND + 2040, NULL));
    g_assert_cmphex(*host_disk(h, SECOND * 512, 1), ==, 2);
    g_assert_cmphex(*host_disk(h, (SECOND + 2047) * 512, 1), ==, 3);
    nvme_hold(h->ctrl, false);
    g_assert_cmphex(run(h, NVME_IO_READ, 2, 0, 8), ==, NVME_SC_INVALID_FIELD);
    host_settle(h);
    put_in(h, 1024, false);
    check(h, 1, 0, 1);
    check(h, 2, 0, 0); /* it was not preloaded */
    g_assert_cmphex(run(h, NVME_IO_READ, 2, 1024, 8), ==, NVME_SC_LBA_RANGE);
    put(h, 2, 80, 5);
    check(h, 2, 80, 5);
    host_sleep(h, 10 * NS_PER_S);
    while (host_store_step(h)) {
    }
    g_assert_cmphex(*host_disk(h, SECOND * 512, 1), ==, 2);
    g_assert_cmphex(*host_disk(h, (SECOND + 2047) * 512, 1), ==, 3);
    host_free(h);
}

/* The host is told of both; EUI-64 and UUID stay, or are others. */
static void test_event(void)
{
    Host *h = start();
    NvmeSqe sqe = host_sqe(NVME_ADM_SET_FEATURES, 0, 0);
    uint8_t before[64], after[64];
    HostCqe cqe;

    identify(h, 2, 3, before);
    sqe.dw[10] = 0x0b;
    sqe.dw[11] = 1 << 8;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    sqe = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);
    host_send(h, 0, &sqe);
    take_out(h);
    nvme_hold(h->ctrl, false);
    host_run(h);
    g_assert_true(host_poll(h, 0, &cqe));
    g_assert_cmphex(cqe.dw0, ==, 0x040002); /* a notice, of log page 04h */
    host_settle(h);
    put_in(h, 2048, false);
    identify(h, 2, 3, after);
    g_assert_cmpmem(before, 36, after, 36);
    take_out(h);
    put_in(h, 2048, true);
    identify(h, 2, 3, after);
    g_assert_true(memcmp(before + 4, after + 4, 8)); /* EUI-64 */
    g_assert_true(memcmp(before + 16, after + 16, 16));
    host_free(h);
}

/* All controllers lose it, and have it again. */
static void test_controllers(void)
{
    HostOptions o = two;
    Host *h, *other;
    uint8_t data[64];

    o.controllers = 2;
    h = host_new(&o);
    host_enable(h);
    other = host_add(h, 7, NULL);
    host_enable(other);
    identify(other, 2, 0, data);
    g_assert_cmpuint(get_le64(data), ==, 2048);
    take_out(h);
    nvme_hold(h->ctrl, false);
    identify(other, 2, 0, data);
    g_assert_cmpuint(get_le64(data), ==, 0);
    host_settle(h);
    put_in(h, 1000, false);
    identify(other, 2, 0, data);
    g_assert_cmpuint(get_le64(data), ==, 1000);
    identify(h, 2, 0, data);
    g_assert_cmpuint(get_le64(data), ==, 1000);
    host_free(other);
    host_free(h);
}

/* A drive that was saved meanwhile. */
static void test_state(void)
{
    Host *h = start();
    GByteArray *drive, *ctrl;
    GError *error = NULL;
    Host *other;

    put(h, 1, 0, 1);
    take_out(h);
    host_save(h, &drive, &ctrl);
    other = host_load(&two, h, drive, ctrl, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(blocks_of(other, 2), ==, 0);
    g_assert_cmpuint(nvme_namespace_room(other->ctrl, 2), ==, 2048);
    put_in(other, 1000, false);
    put(other, 2, 0, 6);
    check(other, 2, 0, 6);
    g_byte_array_unref(drive);
    g_byte_array_unref(ctrl);
    host_free(other);
    host_free(h);
}

static void refused(Host *h, const char *why)
{
    GError *error = NULL;

    g_assert_false(nvme_namespace_remove(h->ctrl, 2, &error));
    g_assert_cmpstr(error->message, ==, why);
    g_error_free(error);
}

static void test_refused(void)
{
    Host *h = start();

    put(h, 2, 0, 1);
    host_settle(h);
    g_assert_true(nvme_namespace_remove(h->ctrl, 2, NULL));
    refused(h, "namespace 2: the drive is busy");
    host_settle(h);
    nvme_power_cut(h->ctrl, h->now_ns);
    refused(h, "namespace 2: the drive has no power");
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/swap/data", test_data);
    g_test_add_func("/nvme/swap/event", test_event);
    g_test_add_func("/nvme/swap/controllers", test_controllers);
    g_test_add_func("/nvme/swap/state", test_state);
    g_test_add_func("/nvme/swap/refused", test_refused);
    return g_test_run();
}
