/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-fused.c - Compare and Write: broken pairs, pairs that straddle the end
 * of a queue, their effect and order, other commands between the two, and
 * queues that go meanwhile.
 */
#include "host.h"

#define OLD (HOST_DATA)
#define NEW (HOST_DATA + 0x1000)
#define GOT (HOST_DATA + 0x2000)

static Host *ready(const HostOptions *o, uint32_t size)
{
    Host *h = host_new(o);

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, size), ==, 0);
    g_assert_cmphex(host_create_queues(h, 2, 2, size), ==, 0);
    return h;
}

static NvmeSqe half(Host *h, uint8_t opcode, unsigned fuse, uint64_t lba,
                    uint32_t nblocks)
{
    NvmeSqe sqe =
        host_rw(h, opcode, lba, nblocks, opcode == NVME_IO_COMPARE ? OLD : NEW);

    sqe.dw[0] |= fuse << 8;
    return sqe;
}

/* Both, by one doorbell; the status of each. */
static void send_both(Host *h, NvmeSqe first, NvmeSqe second)
{
    host_put(h, 1, &first);
    host_put(h, 1, &second);
    host_ring(h, 1);
}

static void do_both(Host *h, NvmeSqe first, NvmeSqe second, uint16_t want1,
                    uint16_t want2)
{
    bool pair = nvme_sqe_fuse(&first) && nvme_sqe_fuse(&second);

    first.dw[0] |= 0x1111U << 16;
    second.dw[0] |= 0x2222U << 16;
    send_both(h, first, second);
    for (unsigned i = 0; i < 2; i++) {
        HostCqe c = host_wait(h, 1);

        g_assert_true(!pair || c.cid == (i ? 0x2222 : 0x1111)); /* in order */
        g_assert_cmphex(host_code(c.status), ==,
                        c.cid == 0x1111 ? want1 : want2);
    }
}

static void pair(Host *h, uint64_t lba, uint32_t nblocks, uint16_t want1,
                 uint16_t want2)
{
    do_both(h, half(h, NVME_IO_COMPARE, 1, lba, nblocks),
            half(h, NVME_IO_WRITE, 2, lba, nblocks), want1, want2);
}

static void fill(Host *h, uint64_t addr, int byte)
{
    memset(host_ram(h, addr, 4096), byte, 4096);
}

static int byte_at(Host *h, uint64_t lba)
{
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, lba, 1, GOT), ==, 0);
    return h->ram[GOT];
}

static void test_swap(void)
{
    Host *h = ready(&(HostOptions){.slow = true}, 256);

    fill(h, OLD, 0);
    fill(h, NEW, 1);
    pair(h, 40, 8, 0, 0);
    g_assert_cmpint(byte_at(h, 47), ==, 1);
    fill(h, NEW, 2);
    pair(h, 40, 8, NVME_SC_COMPARE_FAILURE, NVME_SC_FAILED_FUSED);
    g_assert_cmpint(byte_at(h, 40), ==, 1);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    fill(h, OLD, 1);
    pair(h, 41, 3, 0, 0);
    g_assert_cmpint(byte_at(h, 40), ==, 1);
    g_assert_cmpint(byte_at(h, 43), ==, 2);
    host_free(h);
}

static void test_broken(void)
{
    Host *h = ready(NULL, 256);
    NvmeSqe compare = half(h, NVME_IO_COMPARE, 1, 0, 8);
    NvmeSqe write = half(h, NVME_IO_WRITE, 2, 0, 8);
    NvmeSqe plain = host_rw(h, NVME_IO_READ, 0, 1, GOT);
    NvmeSqe sqe;

    g_assert_cmphex(host_code(host_do(h, 1, &compare).status), ==,
                    NVME_SC_MISSING_FUSED);
    g_assert_cmphex(host_code(host_do(h, 1, &write).status), ==,
                    NVME_SC_MISSING_FUSED);
    do_both(h, compare, plain, NVME_SC_MISSING_FUSED, 0);
    do_both(h, plain, write, 0, NVME_SC_MISSING_FUSED);
    do_both(h, write, compare, NVME_SC_MISSING_FUSED, NVME_SC_MISSING_FUSED);
    do_both(h, half(h, NVME_IO_WRITE, 1, 0, 8),
            half(h, NVME_IO_COMPARE, 2, 0, 8), NVME_SC_INVALID_FIELD,
            NVME_SC_INVALID_FIELD);
    do_both(h, compare, half(h, NVME_IO_READ, 2, 0, 8), NVME_SC_INVALID_FIELD,
            NVME_SC_INVALID_FIELD);
    do_both(h, compare, half(h, NVME_IO_WRITE, 2, 8, 8), NVME_SC_INVALID_FIELD,
            NVME_SC_INVALID_FIELD);
    do_both(h, compare, half(h, NVME_IO_WRITE, 2, 0, 7), NVME_SC_INVALID_FIELD,
            NVME_SC_INVALID_FIELD);
    sqe = write;
    sqe.dw[1] = 2;
    do_both(h, compare, sqe, NVME_SC_INVALID_FIELD, NVME_SC_INVALID_FIELD);
    sqe = write;
    sqe.dw[0] |= 3 << 8;
    g_assert_cmphex(host_code(host_do(h, 1, &sqe).status), ==,
                    NVME_SC_INVALID_FIELD);
    pair(h, 4, 8, NVME_SC_ATOMIC_UNIT, NVME_SC_FAILED_FUSED);
    pair(h, h->nblocks, 8, NVME_SC_LBA_RANGE, NVME_SC_FAILED_FUSED);
    /* The second is wrong by itself. */
    fill(h, OLD, 0);
    sqe = write;
    sqe.dw[6] |= 1; /* PRP1 */
    do_both(h, compare, sqe, 0, NVME_SC_PRP_OFFSET);
    /* Not of the admin queue. */
    sqe = host_sqe(NVME_ADM_IDENTIFY, 0, HOST_DATA);
    sqe.dw[0] |= 1 << 8;
    sqe.dw[10] = 1;
    g_assert_cmphex(host_code(host_do(h, 0, &sqe).status), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmpint(byte_at(h, 0), ==, 0);
    host_free(h);
}

/* The two are the last and the first entry; entries before them, so that the
 * controller's read of the queue ends between them. */
static void test_straddle(void)
{
    for (unsigned before = 0; before < 40; before++) {
        Host *h = ready(NULL, 24);

        fill(h, OLD, 0);
        fill(h, NEW, 9);
        for (unsigned i = 0; i < before; i++) {
            g_assert_cmpint(byte_at(h, i), ==, 0);
        }
        for (unsigned i = 0; i < before % 18; i++) {
            NvmeSqe sqe = host_rw(h, NVME_IO_READ, 100 + i, 1, GOT);

            host_put(h, 1, &sqe);
        }
        send_both(h, half(h, NVME_IO_COMPARE, 1, 8, 8),
                  half(h, NVME_IO_WRITE, 2, 8, 8));
        for (unsigned i = 0; i < before % 18 + 2; i++) {
            g_assert_cmphex(host_wait(h, 1).status, ==, 0);
        }
        g_assert_cmpint(byte_at(h, 8), ==, 9);
        host_free(h);
    }
}

/* Writers of the range by another queue, at every step of the pair; one that
 * comes between the two would be overwritten. */
static void test_atomic(void)
{
    static const uint8_t opcode[] = {NVME_IO_WRITE, NVME_IO_WRITE_ZEROES,
                                     NVME_IO_WRITE_UNCORRECTABLE};

    for (unsigned steps = 0; steps < 12; steps++) {
        for (unsigned k = 0; k < G_N_ELEMENTS(opcode); k++) {
            Host *h = ready(&(HostOptions){.slow = true}, 64);
            NvmeSqe other = host_rw(h, opcode[k], 16, 8, GOT);
            unsigned ok = 0;
            HostCqe c;
            uint16_t code;

            fill(h, OLD, 3);
            g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 16, 8, OLD), ==, 0);
            g_assert_cmphex(host_flush(h, 1), ==, 0);
            fill(h, NEW, 4);
            fill(h, GOT, 5);
            send_both(h, half(h, NVME_IO_COMPARE, 1, 16, 8),
                      half(h, NVME_IO_WRITE, 2, 16, 8));
            nvme_run(h->ctrl, h->now_ns);
            for (unsigned i = 0; i < steps; i++) {
                host_step(h);
            }
            host_send(h, 2, &other);
            for (unsigned i = 0; i < 2; i++) {
                c = host_wait(h, 1);
                ok += host_code(c.status) == 0;
            }
            g_assert_cmpuint(ok, ==, 2);
            g_assert_cmphex(host_wait(h, 2).status, ==, 0);
            code = host_code(host_io(h, 1, NVME_IO_READ, 16, 8, GOT));
            g_assert_cmphex(code, ==, k == 2 ? NVME_SC_UNRECOVERED_READ : 0);
            g_assert_cmpuint(h->ram[GOT], ==, k == 1 ? 0 : 5);
            host_free(h);
        }
    }
}

/* Other ranges do not wait, and reads of this one do not. */
static void test_others(void)
{
    Host *h = ready(&(HostOptions){.slow = true}, 64);
    NvmeSqe sqe;

    fill(h, OLD, 0);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 16, 8, OLD), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    send_both(h, half(h, NVME_IO_COMPARE, 1, 16, 8),
              half(h, NVME_IO_WRITE, 2, 16, 8));
    nvme_run(h->ctrl, h->now_ns);
    g_assert_cmpuint(host_at_store(h, NVME_STORE_READ), ==, 1);
    sqe = host_rw(h, NVME_IO_WRITE, 24, 8, NEW);
    host_send(h, 2, &sqe);
    sqe = host_rw(h, NVME_IO_READ, 16, 8, GOT);
    host_send(h, 2, &sqe);
    nvme_run(h->ctrl, h->now_ns);
    g_assert_cmpuint(host_at_store(h, NVME_STORE_READ), ==, 2);
    sqe = host_rw(h, NVME_IO_WRITE, 23, 1, NEW);
    host_send(h, 2, &sqe);
    for (unsigned i = 0; i < 3; i++) {
        g_assert_cmphex(host_wait(h, 2).status, ==, 0);
    }
    host_free(h);
}

/* The queue goes, or the controller, or the power, at every step. */
static void test_gone(void)
{
    for (unsigned steps = 0; steps < 12; steps++) {
        for (unsigned how = 0; how < 3; how++) {
            Host *h = ready(&(HostOptions){.slow = steps % 2}, 64);

            fill(h, OLD, 0);
            fill(h, NEW, 7);
            send_both(h, half(h, NVME_IO_COMPARE, 1, 16, 8),
                      half(h, NVME_IO_WRITE, 2, 16, 8));
            nvme_run(h->ctrl, h->now_ns);
            for (unsigned i = 0; i < steps; i++) {
                host_step(h);
            }
            if (how == 0) {
                g_assert_cmphex(host_delete_queues(h, 1), ==, 0);
            } else {
                if (how == 1) {
                    host_write32(h, NVME_REG_CC, 0);
                } else {
                    nvme_power_cut(h->ctrl, h->now_ns);
                    nvme_power_on(h->ctrl, h->now_ns);
                }
                memset(h->cq, 0, sizeof(h->cq));
                host_enable(h);
            }
            g_assert_cmphex(host_create_queues(h, 3, 3, 64), ==, 0);
            g_assert_cmphex(host_io(h, 3, NVME_IO_WRITE, 16, 8, OLD), ==, 0);
            g_assert_cmphex(host_io(h, 3, NVME_IO_READ, 16, 8, GOT), ==, 0);
            g_assert_cmpuint(h->ram[GOT], ==, 0);
            host_free(h);
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/fused/swap", test_swap);
    g_test_add_func("/nvme/fused/broken", test_broken);
    g_test_add_func("/nvme/fused/straddle", test_straddle);
    g_test_add_func("/nvme/fused/atomic", test_atomic);
    g_test_add_func("/nvme/fused/others", test_others);
    g_test_add_func("/nvme/fused/gone", test_gone);
    return g_test_run();
}
