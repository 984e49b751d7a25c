/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-faults.c - scripted faults of commands, interrupts and controllers:
 * every action, every selector, every refusal; and that nothing is left after a
 * reset, a deleted queue, an abort and a save.
 */
#include <glib/gstdio.h>

#include "host.h"

#define MS 1000000ULL

static Host *ready(const HostOptions *o)
{
    Host *h = host_new(o);

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    g_assert_cmphex(host_create_queues(h, 2, 2, 64), ==, 0);
    return h;
}

static unsigned add(Host *h, const char *rule)
{
    GError *error = NULL;
    unsigned id = nvme_fault_add(h->ctrl, h->now_ns, rule, &error);

    g_assert_no_error(error);
    g_assert_cmpuint(id, >, 0);
    host_run(h);
    return id;
}

static void remove_rule(Host *h, unsigned id)
{
    GError *error = NULL;

    g_assert_true(nvme_fault_remove(h->ctrl, id, &error));
    g_assert_no_error(error);
    host_run(h);
}

static char *list(Host *h)
{
    GString *s = g_string_new(NULL);
    JsonWriter w = {.out = s};

    nvme_faults_json(h->ctrl, &w, NULL);
    return g_string_free(s, FALSE);
}

/* Send a read or a write of one block; its CID. */
static uint16_t send_one(Host *h, unsigned id, uint8_t opcode, uint64_t lba)
{
    NvmeSqe sqe = host_rw(h, opcode, lba, 1, HOST_DATA);
    uint16_t cid = host_send(h, id, &sqe);

    host_run(h);
    return cid;
}

static bool nothing_comes(Host *h, unsigned id, uint64_t ns)
{
    HostCqe cqe;

    host_sleep(h, ns);
    return !host_poll(h, id, &cqe);
}

static uint16_t read_one(Host *h, uint64_t lba)
{
    return host_io(h, 1, NVME_IO_READ, lba, 1, HOST_DATA);
}

/* ---- status ------------------------------------------------------------- */

static void test_status(void)
{
    Host *h = ready(NULL);

    add(h, "cmd=read -> status 2/81 once");
    g_assert_cmphex(read_one(h, 0), ==, 0x281 | NVME_SC_MORE);
    g_assert_cmphex(read_one(h, 0), ==, 0);
    add(h, "cmd=read -> status 0x0/0x6 dnr 2 times");
    g_assert_cmphex(read_one(h, 0), ==, 6 | NVME_SC_MORE | NVME_SC_DNR);
    g_assert_cmphex(read_one(h, 0), ==, 6 | NVME_SC_MORE | NVME_SC_DNR);
    g_assert_cmphex(read_one(h, 0), ==, 0);
    host_free(h);
}

/* A write that "succeeds" has not been done. */
static void test_status_of_success(void)
{
    Host *h = ready(NULL);

    memset(host_ram(h, HOST_DATA, 512), 1, 512);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 7, 1, HOST_DATA), ==, 0);
    add(h, "cmd=write -> status 0/0 once");
    memset(host_ram(h, HOST_DATA, 512), 2, 512);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 7, 1, HOST_DATA), ==, 0);
    g_assert_cmphex(read_one(h, 7), ==, 0);
    g_assert_cmphex(h->ram[HOST_DATA], ==, 1);
    host_free(h);
}

/* ---- durability ---------------------------------------------------------- */

static void cut(Host *h)
{
    nvme_power_cut(h->ctrl, h->now_ns);
    host_sleep(h, MS);
    nvme_power_on(h->ctrl, h->now_ns);
    memset(h->cq, 0, sizeof(h->cq));
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
}

/* Fill a block and wait; fua: with the bit. */
static void put(Host *h, uint64_t lba, uint8_t byte, bool fua)
{
    NvmeSqe sqe;

    memset(host_ram(h, HOST_DATA, 512), byte, 512);
    sqe = host_rw(h, NVME_IO_WRITE, lba, 1, HOST_DATA);
    sqe.dw[12] |= fua ? 1U << 30 : 0;
    g_assert_cmphex(host_do(h, 1, &sqe).status, ==, 0);
}

static uint8_t byte_at(Host *h, uint64_t lba)
{
    g_assert_cmphex(read_one(h, lba), ==, 0);
    return h->ram[HOST_DATA];
}

/* The second Flush succeeds and keeps nothing; the third one keeps all. */
static void test_ignore_flush(void)
{
    for (unsigned flushes = 1; flushes <= 3; flushes++) {
        Host *h = ready(NULL);

        add(h, "cmd=flush nth=2 -> ignore-flush");
        put(h, 0, 1, false);
        g_assert_cmphex(host_flush(h, 1), ==, 0);
        put(h, 8, 2, false);
        for (unsigned i = 1; i < flushes; i++) {
            g_assert_cmphex(host_flush(h, 1), ==, 0);
        }
        cut(h);
        g_assert_cmpuint(byte_at(h, 0), ==, 1);
        g_assert_cmpuint(byte_at(h, 8), ==, flushes == 3 ? 2 : 0);
        host_free(h);
    }
}

/* The second write with FUA is a plain one; those without are not counted. */
static void test_ignore_fua(void)
{
    Host *h = ready(NULL);

    add(h, "cmd=write nth=2 -> ignore-fua");
    put(h, 0, 1, true);
    put(h, 8, 2, false);
    put(h, 16, 3, true);
    cut(h);
    g_assert_cmpuint(byte_at(h, 0), ==, 1);
    g_assert_cmpuint(byte_at(h, 8), ==, 0);
    g_assert_cmpuint(byte_at(h, 16), ==, 0);
    put(h, 16, 4, true);
    cut(h);
    g_assert_cmpuint(byte_at(h, 16), ==, 4);
    host_free(h);
}

/* CRD only for a host that has enabled it; then Identify has the times. */
static void test_crd(void)
{
    Host *h = ready(NULL);
    NvmeSqe sqe = host_sqe(NVME_ADM_IDENTIFY, 0, HOST_DATA);

    sqe.dw[10] = 1;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    g_assert_cmphex(h->ram[HOST_DATA + 128], ==, 0);
    add(h, "cmd=read -> status 0/6 crd=3");
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    g_assert_cmpuint(h->ram[HOST_DATA + 128], ==, 1);
    g_assert_cmpuint(h->ram[HOST_DATA + 130], ==, 10);
    g_assert_cmpuint(h->ram[HOST_DATA + 132], ==, 50);
    g_assert_cmphex(read_one(h, 0), ==, 6 | NVME_SC_MORE);
    memset(host_ram(h, HOST_DATA, 512), 0, 512);
    host_ram(h, HOST_DATA, 1)[0] = 1; /* ACRE */
    sqe = host_sqe(NVME_ADM_SET_FEATURES, 0, HOST_DATA);
    sqe.dw[10] = 0x16;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    g_assert_cmphex(read_one(h, 0), ==, 6 | NVME_SC_MORE | 0x1800);
    host_free(h);
}

/* ---- selectors ---------------------------------------------------------- */

static void test_selectors(void)
{
    Host *h = ready(NULL);
    unsigned id = add(h, "cmd=read lba=8..15 -> status 0/6");
    NvmeSqe sqe;

    g_assert_cmphex(host_code(read_one(h, 7)), ==, 0);
    g_assert_cmphex(host_code(read_one(h, 8)), ==, 6);
    g_assert_cmphex(host_code(read_one(h, 15)), ==, 6);
    g_assert_cmphex(host_code(read_one(h, 16)), ==, 0);
    g_assert_cmphex(host_code(host_io(h, 1, NVME_IO_READ, 0, 9, HOST_DATA)), ==,
                    6);
    g_assert_cmphex(host_code(host_io(h, 1, NVME_IO_READ, 0, 8, HOST_DATA)), ==,
                    0);
    g_assert_cmphex(host_code(host_io(h, 1, NVME_IO_WRITE, 8, 1, HOST_DATA)),
                    ==, 0);
    remove_rule(h, id);
    g_assert_cmphex(read_one(h, 8), ==, 0);

    id = add(h, "cmd=any sqid=2 -> status 0/6");
    g_assert_cmphex(read_one(h, 0), ==, 0);
    g_assert_cmphex(host_code(host_flush(h, 2)), ==, 6);
    sqe = host_sqe(NVME_ADM_IDENTIFY, 0, HOST_DATA);
    sqe.dw[10] = 1;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    remove_rule(h, id);

    id = add(h, "cmd=admin:identify -> status 0/6 once");
    g_assert_cmphex(host_flush(h, 2), ==, 0);
    g_assert_cmphex(host_code(host_do(h, 0, &sqe).status), ==, 6);
    remove_rule(h, id);
    id = add(h, "cmd=admin:06 nsid=1 -> status 0/6");
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    remove_rule(h, id);

    id = add(h, "cmd=io:0x0 nth=3 -> status 0/6 2 times");
    for (unsigned i = 1; i <= 6; i++) {
        g_assert_cmphex(host_code(host_flush(h, 1)), ==,
                        i == 3 || i == 4 ? 6 : 0);
    }
    remove_rule(h, id);
    host_free(h);
}

static void test_times(void)
{
    Host *h = ready(NULL);
    g_autofree char *rule = NULL;

    add(h, "cmd=flush after=5ms -> status 0/6");
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    host_sleep(h, 5 * MS);
    g_assert_cmphex(host_code(host_flush(h, 1)), ==, 6);
    rule =
        g_strdup_printf("cmd=read time=%" G_GUINT64_FORMAT "ns -> status 0/6",
                        h->now_ns + (guint64)(3 * MS));
    add(h, rule);
    g_assert_cmphex(read_one(h, 1), ==, 0);
    host_sleep(h, 3 * MS);
    g_assert_cmphex(host_code(read_one(h, 1)), ==, 6);
    host_free(h);
}

/* The share is as asked for, and the same twice. */
static void test_prob(void)
{
    unsigned n[2] = {0};

    for (unsigned turn = 0; turn < 2; turn++) {
        Host *h = ready(NULL);

        add(h, "cmd=read prob=0.25 -> status 0/6");
        for (unsigned i = 0; i < 400; i++) {
            n[turn] += read_one(h, i % 8) != 0;
        }
        host_free(h);
    }
    g_assert_cmpuint(n[0], ==, n[1]);
    g_assert_cmpuint(n[0], >, 60);
    g_assert_cmpuint(n[0], <, 140);
}

/* All rules count; the first that fires acts. */
static void test_several(void)
{
    Host *h = ready(NULL);
    g_autofree char *found = NULL;

    add(h, "cmd=read -> status 0/6 once");
    add(h, "cmd=read nth=2 -> status 2/81");
    g_assert_cmphex(host_code(read_one(h, 0)), ==, 6);
    g_assert_cmphex(host_code(read_one(h, 0)), ==, 0x281);
    g_assert_cmphex(host_code(read_one(h, 0)), ==, 0);
    found = list(h);
    g_assert_cmpstr(found, ==,
                    "[{\"id\":1,\"rule\":\"cmd=read -> status 0/6 once\","
                    "\"matched\":3,\"fired\":1,\"lasts\":false},"
                    "{\"id\":2,\"rule\":\"cmd=read nth=2 -> status 2/81\","
                    "\"matched\":3,\"fired\":1,\"lasts\":false}]");
    remove_rule(h, 1);
    remove_rule(h, 2);
    g_assert_cmpuint(add(h, "cmd=read -> drop once"), ==, 3);
    host_free(h);
}

/* ---- commands that are lost or late -------------------------------------- */

static uint32_t abort_dw0(Host *h, unsigned sqid, uint16_t cid)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_ABORT, 0, 0);
    HostCqe cqe;

    sqe.dw[10] = sqid | (uint32_t)cid << 16;
    cqe = host_do(h, 0, &sqe);
    g_assert_cmphex(cqe.status, ==, 0);
    return cqe.dw0;
}

static void test_drop(void)
{
    Host *h = ready(NULL);
    uint16_t cid;

    memset(host_ram(h, HOST_DATA, 512), 3, 512);
    add(h, "cmd=write -> drop once");
    cid = send_one(h, 1, NVME_IO_WRITE, 5);
    g_assert_true(nothing_comes(h, 1, 50 * MS));
    g_assert_cmpuint(abort_dw0(h, 1, cid), ==, 1); /* not to be found */
    g_assert_cmphex(read_one(h, 5), ==, 0);
    g_assert_cmphex(h->ram[HOST_DATA], ==, 0);
    host_free(h);
}

static void test_drop_completion(void)
{
    Host *h = ready(NULL);

    memset(host_ram(h, HOST_DATA, 512), 3, 512);
    add(h, "cmd=write -> drop-completion once");
    send_one(h, 1, NVME_IO_WRITE, 5);
    g_assert_true(nothing_comes(h, 1, 50 * MS));
    memset(host_ram(h, HOST_DATA, 512), 0, 512);
    g_assert_cmphex(read_one(h, 5), ==, 0); /* it was done */
    g_assert_cmphex(h->ram[HOST_DATA], ==, 3);
    host_free(h);
}

static void test_delay(void)
{
    Host *h = ready(NULL);
    uint64_t from_ns;
    uint16_t late;
    HostCqe cqe;

    add(h, "cmd=read lba=3 -> delay 20ms");
    from_ns = h->now_ns;
    late = send_one(h, 1, NVME_IO_READ, 3);
    send_one(h, 1, NVME_IO_READ, 4);
    g_assert_cmphex(host_wait(h, 1).cid, !=, late);
    g_assert_cmpuint(h->now_ns, <, from_ns + 20 * MS);
    cqe = host_wait(h, 1);
    g_assert_cmphex(cqe.cid, ==, late);
    g_assert_cmphex(cqe.status, ==, 0);
    g_assert_cmpuint(h->now_ns, >=, from_ns + 20 * MS);
    g_assert_cmpuint(h->now_ns, <, from_ns + 21 * MS);
    host_free(h);
}

/* The rule goes, the command comes. */
static void test_delay_without_rule(void)
{
    Host *h = ready(NULL);
    unsigned id = add(h, "cmd=read -> delay 20ms");

    send_one(h, 1, NVME_IO_READ, 3);
    remove_rule(h, id);
    g_assert_true(nothing_comes(h, 1, 10 * MS));
    g_assert_cmphex(host_wait(h, 1).status, ==, 0);
    host_free(h);
}

static void test_delay_aborted(void)
{
    Host *h = ready(NULL);
    uint16_t cid;
    HostCqe cqe;

    add(h, "cmd=read -> delay 1000s");
    cid = send_one(h, 1, NVME_IO_READ, 3);
    g_assert_true(nothing_comes(h, 1, MS));
    g_assert_cmpuint(abort_dw0(h, 1, cid), ==, 0);
    cqe = host_wait(h, 1);
    g_assert_cmphex(cqe.cid, ==, cid);
    g_assert_cmphex(host_code(cqe.status), ==, NVME_SC_ABORT_REQUESTED);
    host_free(h);
}

static void enable_again(Host *h)
{
    host_write32(h, NVME_REG_CC, 0);
    host_run(h);
    memset(h->cq, 0, sizeof(h->cq));
    memset(host_ram(h, HOST_ADMIN_CQ, 0x1000), 0, 0x1000);
    host_enable(h);
    memset(host_ram(h, HOST_QUEUES, 8 * 65536), 0, 8 * 65536);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
}

/* Held commands go with their queue, with a reset, and with the power. */
static void test_delay_ends(void)
{
    Host *h = ready(NULL);
    unsigned id = add(h, "cmd=any -> delay 10ms");

    send_one(h, 2, NVME_IO_READ, 3);
    send_one(h, 2, NVME_IO_READ, 4);
    g_assert_cmphex(host_delete_queues(h, 2), ==, 0);
    send_one(h, 1, NVME_IO_READ, 3);
    enable_again(h);
    send_one(h, 1, NVME_IO_READ, 3);
    host_run(h);
    nvme_reset(h->ctrl, h->now_ns);
    host_sleep(h, 50 * MS);
    g_assert_cmpuint(nvme_next_event_ns(h->ctrl), ==, SSD_TIME_NEVER);
    enable_again(h);
    send_one(h, 1, NVME_IO_READ, 3);
    host_run(h);
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    enable_again(h);
    remove_rule(h, id);
    g_assert_cmphex(read_one(h, 3), ==, 0);
    g_assert_true(nothing_comes(h, 1, 50 * MS));
    host_free(h);
}

/* Freed with commands that are still held. */
static void test_delay_freed(void)
{
    Host *h = ready(NULL);

    add(h, "cmd=any -> delay 10s");
    send_one(h, 1, NVME_IO_WRITE, 3);
    host_run(h);
    host_free(h);
}

/* More commands than may wait: the others are not delayed. */
static void test_delay_bound(void)
{
    Host *h = host_new(NULL);
    HostCqe cqe;
    unsigned n = 0;

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 1024), ==, 0);
    g_assert_cmphex(host_create_queues(h, 2, 2, 1024), ==, 0);
    add(h, "cmd=read -> delay 10s");
    for (unsigned q = 1; q <= 2; q++) {
        for (unsigned i = 0; i < 1000; i++) {
            NvmeSqe sqe = host_rw(h, NVME_IO_READ, i, 1, HOST_DATA);

            host_put(h, q, &sqe);
        }
        host_ring(h, q);
    }
    host_sleep(h, 1000 * MS);
    while (host_poll(h, 1, &cqe) || host_poll(h, 2, &cqe)) {
        n++;
    }
    g_assert_cmpuint(n, ==, 2000 - 1024);
    host_sleep(h, 20000 * MS);
    while (host_poll(h, 1, &cqe) || host_poll(h, 2, &cqe)) {
        n++;
    }
    g_assert_cmpuint(n, ==, 2000);
    host_free(h);
}

/* The namespace may have gone while the command waited. */
static void test_delay_namespace_gone(void)
{
    HostOptions o = {.namespaces = "2"};
    Host *h = ready(&o);
    NvmeSqe sqe = host_rw(h, NVME_IO_READ, 3, 1, HOST_DATA);
    NvmeSqe del = host_sqe(NVME_ADM_NS_MANAGEMENT, 2, 0);

    add(h, "cmd=read nsid=2 -> delay 10ms");
    sqe.dw[1] = 2;
    host_send(h, 1, &sqe);
    host_run(h);
    del.dw[10] = 1;
    g_assert_cmphex(host_do(h, 0, &del).status, ==, 0);
    g_assert_cmphex(host_code(host_wait(h, 1).status), ==,
                    NVME_SC_INVALID_FIELD); /* it is inactive now */
    host_free(h);
}

/* A drive that is to be saved has no command that waits. */
static void test_delay_saved(void)
{
    Host *h = ready(NULL);
    HostCqe cqe;

    add(h, "cmd=read -> delay 1000s");
    send_one(h, 1, NVME_IO_READ, 3);
    host_run(h);
    host_settle(h);
    g_assert_true(host_poll(h, 1, &cqe));
    g_assert_cmphex(cqe.status, ==, 0);
    host_free(h);
}

/* ---- completions --------------------------------------------------------- */

static void test_duplicate(void)
{
    Host *h = ready(NULL);
    HostCqe a, b;

    add(h, "cmd=read -> duplicate once");
    send_one(h, 1, NVME_IO_READ, 3);
    a = host_wait(h, 1);
    b = host_wait(h, 1);
    g_assert_cmpmem(&a, sizeof(a), &b, sizeof(b));
    g_assert_true(nothing_comes(h, 1, MS));
    g_assert_cmphex(read_one(h, 3), ==, 0);
    host_free(h);
}

static void test_wrong_cid(void)
{
    Host *h = ready(NULL);
    uint16_t cid;

    add(h, "cmd=read -> wrong-cid once");
    cid = send_one(h, 1, NVME_IO_READ, 3);
    g_assert_cmphex(host_wait(h, 1).cid, ==, cid ^ 0xffff);
    g_assert_cmphex(read_one(h, 3), ==, 0);
    host_free(h);
}

static void test_wrong_sqhd(void)
{
    Host *h = ready(NULL);

    add(h, "cmd=read -> wrong-sqhd once");
    send_one(h, 1, NVME_IO_READ, 3);
    g_assert_cmphex(host_wait(h, 1).sqhd, ==, 0xfffe);
    host_free(h);
}

static uint16_t seen_phase;

/* Was the entry of queue 1 to be seen at any time? */
static void watch_phase(Host *h, uint64_t addr, size_t len)
{
    uint64_t at = h->cq[1].addr + h->cq[1].head * 16 + 14;

    if (addr <= at && at < addr + len + 16) {
        seen_phase |= h->ram[at] & 1;
    }
}

/* The entry is never seen, not even while it is written; so neither are those
 * behind it. */
static void test_bad_phase(void)
{
    Host *h = ready(NULL);
    uint64_t at = h->cq[1].addr + h->cq[1].head * 16;

    add(h, "cmd=read -> bad-phase once");
    seen_phase = 0;
    h->before_write = watch_phase;
    send_one(h, 1, NVME_IO_READ, 3);
    send_one(h, 1, NVME_IO_READ, 4);
    g_assert_true(nothing_comes(h, 1, 10 * MS));
    h->before_write = NULL;
    g_assert_cmphex(seen_phase, ==, 0);
    g_assert_cmphex(h->ram[at + 10], ==, 1); /* SQID: it is there */
    g_assert_cmphex(h->ram[at + 14] & 1, ==, 0);
    g_assert_cmphex(h->ram[at + 16 + 14] & 1, ==, 1);
    enable_again(h);
    g_assert_cmphex(read_one(h, 3), ==, 0);
    host_free(h);
}

/* ---- interrupts ---------------------------------------------------------- */

static void test_irq_drop(void)
{
    Host *h = ready(NULL);
    unsigned before = h->msix_count[1];

    add(h, "irq vector=1 -> drop once");
    g_assert_cmphex(read_one(h, 3), ==, 0);
    host_sleep(h, 10 * MS);
    g_assert_cmpuint(h->msix_count[1], ==, before);
    g_assert_cmphex(read_one(h, 3), ==, 0);
    g_assert_cmpuint(h->msix_count[1], ==, before + 1);
    host_free(h);
}

static void test_irq_spurious(void)
{
    Host *h = ready(NULL);
    unsigned one = h->msix_count[1], two = h->msix_count[2];

    add(h, "irq vector=1 nth=2 -> spurious");
    g_assert_cmphex(read_one(h, 3), ==, 0);
    g_assert_true(nothing_comes(h, 1, 10 * MS));
    g_assert_cmpuint(h->msix_count[1], ==, one + 1);
    g_assert_cmphex(read_one(h, 3), ==, 0);
    g_assert_true(nothing_comes(h, 1, 10 * MS));
    g_assert_cmpuint(h->msix_count[1], ==, one + 3);
    g_assert_cmpuint(h->msix_count[2], ==, two);
    host_free(h);
}

static void test_irq_storm(void)
{
    Host *h = ready(NULL);
    unsigned one = h->msix_count[1];
    unsigned id = add(h, "irq vector=1 -> storm 100 every 1ms once");

    g_assert_cmphex(read_one(h, 3), ==, 0);
    host_sleep(h, 50 * MS);
    g_assert_cmpuint(h->msix_count[1], >=, one + 49);
    g_assert_cmpuint(h->msix_count[1], <=, one + 52);
    host_sleep(h, 500 * MS);
    g_assert_cmpuint(h->msix_count[1], ==, one + 101);
    remove_rule(h, id);
    id = add(h, "irq vector=1 -> storm 100 every 1ms once");
    g_assert_cmphex(read_one(h, 3), ==, 0);
    remove_rule(h, id);
    one = h->msix_count[1];
    host_sleep(h, 50 * MS);
    g_assert_cmpuint(h->msix_count[1], ==, one);
    host_free(h);
}

/* ---- controllers --------------------------------------------------------- */

static void test_cfs(void)
{
    Host *h = ready(NULL);

    add(h, "ctrl -> cfs");
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==,
                    NVME_CSTS_RDY | NVME_CSTS_CFS);
    send_one(h, 1, NVME_IO_READ, 3);
    g_assert_true(nothing_comes(h, 1, 10 * MS));
    enable_again(h);
    g_assert_cmphex(read_one(h, 3), ==, 0);
    host_free(h);
}

static void test_cfs_later(void)
{
    Host *h = ready(NULL);

    add(h, "ctrl after=10ms -> cfs");
    g_assert_cmphex(read_one(h, 3), ==, 0);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
    host_sleep(h, 10 * MS);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==,
                    NVME_CSTS_RDY | NVME_CSTS_CFS);
    host_free(h);
}

static void test_stuck_rdy(void)
{
    Host *h = ready(NULL);
    unsigned id = add(h, "ctrl -> stuck-rdy");

    host_write32(h, NVME_REG_CC, 0);
    host_sleep(h, 10 * MS);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
    remove_rule(h, id);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, 0);
    add(h, "ctrl -> stuck-rdy for 20ms");
    host_write32(h, NVME_REG_AQA, 31 | 31 << 16);
    host_write32(h, NVME_REG_CC, 4 << 20 | 6 << 16 | 1);
    host_sleep(h, 10 * MS);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, 0);
    host_sleep(h, 11 * MS);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
    host_free(h);
}

static void test_stuck_shst(void)
{
    Host *h = ready(NULL);
    unsigned id = add(h, "ctrl -> stuck-shst");

    host_write32(h, NVME_REG_CC, host_read32(h, NVME_REG_CC) | 1 << 14);
    host_sleep(h, 100 * MS);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
    remove_rule(h, id);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==,
                    NVME_CSTS_RDY | NVME_CSTS_SHST_DONE);
    host_free(h);
}

static void test_unplug(void)
{
    Host *h = ready(NULL);

    add(h, "ctrl -> surprise-remove");
    g_assert_cmpuint(h->unplugged[1], ==, 1);
    g_assert_cmpuint(h->unplugged_ns, ==, 0);
    add(h, "ctrl -> link-down for 3s");
    g_assert_cmpuint(h->unplugged[0], ==, 1);
    g_assert_cmpuint(h->unplugged_ns, ==, 3000 * MS);
    host_sleep(h, 10 * MS);
    g_assert_cmpuint(h->unplugged[1], ==, 1);
    host_free(h);
}

/* ---- events and temperature ---------------------------------------------- */

static void send_aer(Host *h)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);

    host_send(h, 0, &sqe);
    host_run(h);
}

static void test_event(void)
{
    Host *h = ready(NULL);

    send_aer(h);
    add(h, "aer 1/0 log=2");
    g_assert_cmphex(host_wait(h, 0).dw0, ==, 0x020001);
    add(h, "ctrl -> aer 7/ff"); /* waits for a request */
    g_assert_true(nothing_comes(h, 0, MS));
    send_aer(h);
    g_assert_cmphex(host_wait(h, 0).dw0, ==, 0xff07);
    send_aer(h);
    g_assert_true(nothing_comes(h, 0, MS));
    host_free(h);
}

static unsigned smart_kelvin(Host *h)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_GET_LOG_PAGE, NVME_NSID_ALL, HOST_DATA);

    sqe.dw[10] = 2 | 127 << 16;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    return h->ram[HOST_DATA + 1] | h->ram[HOST_DATA + 2] << 8;
}

static void test_temperature(void)
{
    Host *h = ready(NULL);
    unsigned was = smart_kelvin(h);
    unsigned id = add(h, "temperature 95");
    NvmeSqe sqe = host_sqe(NVME_ADM_SET_FEATURES, 0, 0);

    g_assert_cmpuint(smart_kelvin(h), ==, 368);
    g_assert_cmphex(h->ram[HOST_DATA] & 2, ==, 2); /* critical warning */
    remove_rule(h, id);
    g_assert_cmpuint(smart_kelvin(h), ==, was);
    host_free(h);

    h = ready(NULL);
    sqe.dw[10] = 0x0b;
    sqe.dw[11] = 0xff; /* events of all warnings */
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    send_aer(h);
    add(h, "ctrl -> temperature 20 for 50ms");
    g_assert_cmpuint(smart_kelvin(h), ==, 293);
    host_sleep(h, 60 * MS);
    g_assert_cmpuint(smart_kelvin(h), ==, was);
    add(h, "temperature 95 for 1s");
    g_assert_cmphex(host_wait(h, 0).dw0, ==, 0x020101);
    host_free(h);
}

/* ---- refusals ------------------------------------------------------------ */

static const struct {
    const char *rule;
    const char *why;
} wrong[] = {
    {"cmd=read", "not a rule with"},
    {"on=read -> fail", "not a rule with"},
    {"cmd=3 -> cut power", "not a rule with"},
    {"", "not a rule with"},
    {"cmd=read -> ", "an action must follow"},
    {"cmd=read -> nonsense", "no such action of this rule (status, drop, "},
    {"cmd=nonsense -> drop", "cmd=nonsense: allowed any"},
    {"cmd=io:100 -> drop", "cmd=io:100: allowed"},
    {"cmd=admin:write -> drop", "cmd=admin:write: allowed"},
    {"cmd=read irq -> drop", "one of cmd=, irq and ctrl"},
    {"cmd=read cmd=write -> drop", "one of cmd=, irq and ctrl"},
    {"cmd=read word -> drop", "'word': not of the form"},
    {"cmd=read vector=1 -> drop", "vector=: no such selector"},
    {"irq lba=1 -> drop", "lba=: no such selector"},
    {"ctrl nth=1 -> cfs", "nth=: no such selector"},
    {"cmd=read nsid=0 -> drop", "allowed 1..1"},
    {"cmd=read nsid=2 -> drop", "allowed 1..1"},
    {"cmd=read sqid=9 -> drop", "allowed 0..8"},
    {"cmd=read ctrl=1 -> drop", "allowed 0..0"},
    {"irq vector=65 -> drop", "allowed 0..64"},
    {"cmd=read lba=5..3 -> drop", "the range ends before it begins"},
    {"cmd=read lba=99999999999 -> drop", "allowed 0.."},
    {"cmd=flush lba=1 -> drop", "has no range"},
    {"cmd=admin:identify lba=1 -> drop", "has no range"},
    {"cmd=read nth=0 -> drop", "allowed 1.."},
    {"cmd=read prob=0 -> drop", "allowed above 0, up to 1"},
    {"cmd=read prob=1.5 -> drop", "prob=1.5"},
    {"cmd=read time=x -> drop", "time=x"},
    {"cmd=read -> status", "SCT/SC must follow"},
    {"cmd=read -> status 2", "SCT/SC must follow"},
    {"cmd=read -> status 8/0", "SCT=8: allowed 0..7"},
    {"cmd=read -> status 0/100", "SC=100: allowed 0..ff"},
    {"cmd=read -> status 0/1 crd=4", "allowed 0..3"},
    {"cmd=read -> delay", "a time must follow"},
    {"cmd=read -> delay 0", "delay=0"},
    {"cmd=read -> drop 3", "allowed once, always, N times"},
    {"cmd=read -> drop 0 times", "times=0"},
    {"cmd=read -> drop once more", "'more': nothing may follow"},
    {"irq -> storm", "a number of interrupts must follow"},
    {"irq -> storm 1000001", "allowed 1..1000000"},
    {"irq -> storm 5 every 1ns", "every=1ns"},
    {"irq -> status 0/6",
     "no such action of this rule (drop, spurious, storm)"},
    {"ctrl -> drop", "no such action of this rule (cfs, "},
    {"ctrl -> cfs once", "nothing may follow"},
    {"ctrl -> stuck-rdy for", "a time must follow"},
    {"aer 8/0", "TYPE=8: allowed 0..7"},
    {"aer 1", "TYPE/INFO must follow"},
    {"aer 1/0 log=100", "log=100: allowed 0..ff"},
    {"temperature", "degrees Celsius must follow"},
    {"temperature 201", "allowed 0..200"},
    {"cmd=read -> drop\ncmd=write -> drop", "a rule is one line"},
};

static void test_refused(void)
{
    Host *h = ready(NULL);
    GError *error = NULL;
    g_autofree char *found = NULL;

    for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_assert_cmpuint(
            nvme_fault_add(h->ctrl, h->now_ns, wrong[i].rule, &error), ==, 0);
        g_assert_nonnull(error);
        if (!strstr(error->message, wrong[i].why) ||
            strchr(error->message, '\n')) {
            g_error("%s: %s", wrong[i].rule, error->message);
        }
        g_clear_error(&error);
    }
    g_assert_false(nvme_fault_remove(h->ctrl, 1, &error));
    g_assert_nonnull(strstr(error->message, "fault 1: there is no such rule"));
    g_clear_error(&error);
    found = list(h);
    g_assert_cmpstr(found, ==, "[]");
    for (unsigned i = 0; i < 256; i++) {
        add(h, "cmd=read lba=9 -> drop");
    }
    g_assert_cmpuint(
        nvme_fault_add(h->ctrl, h->now_ns, "cmd=read -> drop", &error), ==, 0);
    g_assert_nonnull(strstr(error->message, "more than 256 rules"));
    g_clear_error(&error);
    g_assert_cmphex(read_one(h, 3), ==, 0);
    host_free(h);
}

/* ---- files --------------------------------------------------------------- */

static char *file_of(const char *text)
{
    char *path = NULL;
    int fd = g_file_open_tmp("vssd-faults-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    g_close(fd, NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    return path;
}

/* One file has rules about NAND and about commands. */
static void test_file(void)
{
    g_autofree char *path = file_of("# both\n"
                                    "on=read lba=5 -> uncorrectable once\n"
                                    "cmd=read lba=6 -> status 0/6 once # here\n"
                                    "\n"
                                    "ctrl time=500s -> cfs\n");
    g_autofree char *set = g_strconcat("faults=", path, NULL);
    g_autofree char *found = NULL;
    Host *h = ready(&(HostOptions){.set = set, .faults = path});

    found = list(h);
    g_assert_nonnull(strstr(found, "\"id\":2"));
    g_assert_null(strstr(found, "\"id\":3"));
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 8, HOST_DATA), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(host_code(read_one(h, 5)), ==, 0x281);
    g_assert_cmphex(host_code(read_one(h, 6)), ==, 6);
    g_assert_cmphex(read_one(h, 6), ==, 0);
    g_unlink(path);
    host_free(h);
}

static void test_file_refused(void)
{
    g_autofree char *path = file_of("on=read -> uncorrectable once\n"
                                    "cmd=read sqid=77 -> drop\n");
    g_autofree char *want =
        g_strdup_printf("%s:2: sqid=77: allowed 0..8, it is above 8", path);
    GError *error = NULL;

    g_assert_false(host_try(&(HostOptions){.faults = path}, &error));
    g_assert_cmpstr(error->message, ==, want);
    g_clear_error(&error);
    g_unlink(path);
    g_assert_false(host_try(&(HostOptions){.faults = path}, &error));
    g_assert_nonnull(strstr(error->message, "faults="));
    g_clear_error(&error);
}

#define TEST(name, f) g_test_add_func("/nvme/faults/" name, f)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    TEST("status", test_status);
    TEST("status-of-success", test_status_of_success);
    TEST("crd", test_crd);
    TEST("selectors", test_selectors);
    TEST("times", test_times);
    TEST("prob", test_prob);
    TEST("several", test_several);
    TEST("drop", test_drop);
    TEST("drop-completion", test_drop_completion);
    TEST("delay", test_delay);
    TEST("delay-without-rule", test_delay_without_rule);
    TEST("delay-aborted", test_delay_aborted);
    TEST("delay-ends", test_delay_ends);
    TEST("delay-freed", test_delay_freed);
    TEST("delay-bound", test_delay_bound);
    TEST("delay-namespace-gone", test_delay_namespace_gone);
    TEST("delay-saved", test_delay_saved);
    TEST("duplicate", test_duplicate);
    TEST("wrong-cid", test_wrong_cid);
    TEST("ignore-flush", test_ignore_flush);
    TEST("ignore-fua", test_ignore_fua);
    TEST("wrong-sqhd", test_wrong_sqhd);
    TEST("bad-phase", test_bad_phase);
    TEST("irq-drop", test_irq_drop);
    TEST("irq-spurious", test_irq_spurious);
    TEST("irq-storm", test_irq_storm);
    TEST("cfs", test_cfs);
    TEST("cfs-later", test_cfs_later);
    TEST("stuck-rdy", test_stuck_rdy);
    TEST("stuck-shst", test_stuck_shst);
    TEST("unplug", test_unplug);
    TEST("event", test_event);
    TEST("temperature", test_temperature);
    TEST("refused", test_refused);
    TEST("file", test_file);
    TEST("file-refused", test_file_refused);
    return g_test_run();
}
