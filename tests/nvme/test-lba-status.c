/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-lba-status.c - Get LBA Status and log page 0Eh: blocks of Write
 * Uncorrectable, reads of the media that fail, scans, events, namespaces.
 */
#include <unistd.h>

#include "erasing.h"

#define SCAN    0x10
#define TRACKED 0x11

typedef struct Answer {
    NvmeLbaStatusHead head;
    NvmeLbaStatusEntry entry[64];
} Answer;

static uint16_t ask(Host *h, uint32_t nsid, unsigned type, uint64_t lba,
                    uint32_t n, uint32_t bytes)
{
    return admin_status(h, NVME_ADM_GET_LBA_STATUS, nsid,
                        ADMIN_DW((uint32_t)lba, (uint32_t)(lba >> 32),
                                 bytes / 4 - 1, n | type << 24),
                        bytes);
}

static const Answer *get(Host *h, uint32_t nsid, unsigned type, uint64_t lba,
                         uint32_t n)
{
    g_assert_cmphex(ask(h, nsid, type, lba, n, sizeof(Answer)), ==, 0);
    return (const void *)admin_data(h);
}

static void is_entry(const NvmeLbaStatusEntry *e, uint64_t lba, uint32_t n)
{
    g_assert_cmpuint(e->dslba, ==, lba);
    g_assert_cmpuint(e->nlb, ==, n);
    g_assert_cmpuint(e->status, ==, 1);
}

static uint16_t mark(Host *h, uint32_t nsid, uint64_t lba, uint32_t n)
{
    NvmeSqe sqe = host_rw(h, NVME_IO_WRITE_UNCORRECTABLE, lba, n, HOST_DATA);

    sqe.dw[1] = nsid;
    return host_code(host_do(h, 1, &sqe).status);
}

static Host *start(const HostOptions *o)
{
    Host *h = admin_host(o);

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    return h;
}

/* ---- blocks that the host has made so ------------------------------------ */

static void test_marks(void)
{
    Host *h = start(NULL);
    const Answer *a;

    g_assert_cmpuint(get(h, 1, TRACKED, 0, 0)->head.nlsd, ==, 0);
    g_assert_cmpuint(get(h, 1, SCAN, 0, 0)->head.nlsd, ==, 0);
    g_assert_cmphex(mark(h, 1, 100, 20), ==, 0);
    g_assert_cmphex(mark(h, 1, 300, 4), ==, 0);
    a = get(h, 1, TRACKED, 0, 0);
    g_assert_cmpuint(a->head.nlsd, ==, 2);
    g_assert_cmpuint(a->head.cmpc, ==, 2);
    is_entry(&a->entry[0], 100, 20);
    is_entry(&a->entry[1], 300, 4);
    /* A part of them; less than there are. */
    a = get(h, 1, TRACKED, 110, 5);
    g_assert_cmpuint(a->head.nlsd, ==, 1);
    is_entry(&a->entry[0], 110, 5);
    g_assert_cmphex(ask(h, 1, TRACKED, 0, 0, 24), ==, 0);
    a = (const void *)admin_data(h);
    g_assert_cmpuint(a->head.nlsd, ==, 1);
    g_assert_cmpuint(a->head.cmpc, ==, 1);
    g_assert_cmphex(ask(h, 1, TRACKED, 0, 0, 4), ==, 0);
    /* Writes and trims take blocks out. */
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 104, 8, HOST_DATA), ==, 0);
    a = get(h, 1, TRACKED, 0, 0);
    g_assert_cmpuint(a->head.nlsd, ==, 3);
    is_entry(&a->entry[0], 100, 4);
    is_entry(&a->entry[1], 112, 8);
    g_assert_cmphex(admin_status(h, NVME_ADM_FORMAT, 1, NULL, 0), ==, 0);
    g_assert_cmpuint(get(h, 1, TRACKED, 0, 0)->head.nlsd, ==, 0);
    host_free(h);
}

/* More than the list has room for. */
static void test_many(void)
{
    Host *h = start(NULL);
    const Answer *a;

    for (uint32_t i = 0; i < 80; i++) {
        g_assert_cmphex(mark(h, 1, i * 16, 1), ==, 0);
    }
    a = get(h, 1, TRACKED, 0, 0);
    g_assert_cmpuint(a->head.nlsd, ==, 64);
    is_entry(&a->entry[63], 79 * 16, 1);
    host_free(h);
}

static void test_bad(void)
{
    Host *h = start(&(HostOptions){.namespaces = "2"});

    g_assert_cmphex(ask(h, 1, 0, 0, 0, 24), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(ask(h, 1, 0x12, 0, 0, 24), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(ask(h, 3, SCAN, 0, 0, 24), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(ask(h, 300, SCAN, 0, 0, 24), ==, NVME_SC_INVALID_NSID);
    g_assert_cmphex(ask(h, 1, SCAN, UINT64_MAX, 0, 24), ==, NVME_SC_LBA_RANGE);
    g_assert_cmphex(ask(h, 1, SCAN, h->nblocks, 1, 24), ==, NVME_SC_LBA_RANGE);
    g_assert_cmphex(admin_status(h, NVME_ADM_GET_LBA_STATUS, 1,
                                 ADMIN_DW(0, 0, UINT32_MAX, SCAN << 24), 0),
                    ==, NVME_SC_INVALID_FIELD);
    admin_identify(h, 1);
    g_assert_true(get_le16(admin_data(h) + 256) & 1 << 9);
    host_free(h);
}

/* ---- media --------------------------------------------------------------- */

static Host *faulty(const char *rule)
{
    g_autofree char *path = NULL;
    g_autofree char *set = NULL;
    int fd = g_file_open_tmp("vssd-faults-XXXXXX", &path, NULL);
    Host *h;

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    g_assert_true(g_file_set_contents(path, rule, -1, NULL));
    set = g_strdup_printf("faults=%s", path);
    h = start(&(HostOptions){.set = set});
    unlink(path);
    write_marks(h, 1, 1 << 20, 512);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    return h;
}

/* A read that fails is noted, a scan finds the others, and costs reads. */
static void test_media(void)
{
    Host *h = faulty("on=read lba=1000..1007 -> uncorrectable\n"
                     "on=read lba=1500 -> uncorrectable\n");
    uint64_t reads = counters(h).nand_reads;
    uint64_t word;
    const Answer *a;

    g_assert_cmphex(read_word(h, 1, 1003, 512, &word), ==,
                    NVME_SC_UNRECOVERED_READ);
    a = get(h, 1, TRACKED, 0, 0);
    g_assert_cmpuint(a->head.nlsd, ==, 1);
    g_assert_cmpuint(a->entry[0].dslba, <=, 1003);
    a = get(h, 1, SCAN, 0, 0);
    g_assert_cmpuint(a->head.nlsd, ==, 2);
    g_assert_cmpuint(a->entry[0].dslba, ==, 1000);
    g_assert_cmpuint(a->entry[0].nlb, ==, 8);
    g_assert_cmpuint(a->entry[1].dslba, ==, 1500);
    g_assert_cmpuint(counters(h).nand_reads - reads, >=,
                     (1 << 20) / h->info->page_bytes);
    g_assert_cmpuint(counters(h).host_bytes_read, <=, 512);
    /* What is written again can be read. */
    write_marks(h, 1, 1 << 20, 512);
    g_assert_cmpuint(get(h, 1, TRACKED, 0, 0)->head.nlsd, ==, 0);
    host_free(h);
}

/* ---- the log and its event ----------------------------------------------- */

static void test_log(void)
{
    Host *h = start(&(HostOptions){.namespaces = "2"});
    NvmeSqe sqe = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);
    const NvmeLbaLogHead *head = (const void *)(h->ram + HOST_DATA);
    const uint8_t *at = h->ram + HOST_DATA + sizeof(*head);
    uint16_t cid;
    HostCqe cqe;

    g_assert_cmphex(admin_set_feature(h, 0x0b, false, 1 << 13, 0), ==, 0);
    g_assert_cmphex(admin_set_feature(h, 0x15, false, 1 << 16, 0), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(admin_set_feature(h, 0x15, true, 20, 0), ==, 0); /* 2 s */
    cid = host_send(h, 0, &sqe);
    g_assert_cmphex(mark(h, 2, 8, 3), ==, 0);
    cqe = host_wait(h, 0);
    g_assert_cmpuint(cqe.cid, ==, cid);
    g_assert_cmphex(cqe.dw0, ==, 0x0e0502);
    g_assert_cmphex(admin_log(h, 0x0e, 0, 4096, 0), ==, 0);
    g_assert_cmpuint(head->lslplen, ==, 48);
    g_assert_cmpuint(head->nlslne, ==, 1);
    g_assert_cmpuint(head->estulb, ==, 3);
    g_assert_cmpuint(head->lsgc, ==, 1);
    g_assert_cmpuint(((const NvmeLbaLogElement *)at)->neid, ==, 2);
    g_assert_cmpuint(((const NvmeLbaLogElement *)at)->nlrd, ==, 1);
    g_assert_cmphex(((const NvmeLbaLogElement *)at)->ratype, ==, TRACKED);
    at += 16;
    g_assert_cmpuint(((const NvmeLbaLogRange *)at)->rslba, ==, 8);
    g_assert_cmpuint(((const NvmeLbaLogRange *)at)->rnlb, ==, 3);
    /* The next one comes after the interval. */
    cid = host_send(h, 0, &sqe);
    g_assert_cmphex(mark(h, 1, 0, 1), ==, 0);
    host_sleep(h, 1900 * MS);
    g_assert_false(host_poll(h, 0, &cqe));
    host_sleep(h, 200 * MS);
    cqe = host_wait(h, 0);
    g_assert_cmpuint(cqe.cid, ==, cid);
    g_assert_cmphex(admin_log(h, 0x0e, 0, 4096, 0), ==, 0);
    g_assert_cmpuint(head->nlslne, ==, 2);
    g_assert_cmpuint(head->lsgc, ==, 2);
    power_cycle(h); /* feature 15h is saved, and so is the list */
    g_assert_cmphex(admin_get_feature(h, 0x15, 0, 0).dw0, ==, 20);
    g_assert_cmphex(admin_log(h, 0x0e, 0, 4096, 0), ==, 0);
    g_assert_cmpuint(head->nlslne, ==, 2);
    host_free(h);
}

static void put_scan(Host *h)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_GET_LBA_STATUS, 1, HOST_DATA);

    sqe.dw[12] = 1023;
    sqe.dw[13] = (uint32_t)SCAN << 24;
    host_put(h, 0, &sqe);
}

/* There is one scan at a time: another one may be sent again later. */
static void test_two_scans(void)
{
    Host *h = start(NULL);

    write_marks(h, 1, 1 << 20, 512);
    put_scan(h);
    put_scan(h);
    host_ring(h, 0);
    g_assert_cmphex(host_wait(h, 0).status, ==,
                    NVME_SC_COMMAND_SEQUENCE | NVME_SC_MORE);
    g_assert_cmphex(host_wait(h, 0).status, ==, 0);
    g_assert_cmpuint(get(h, 1, SCAN, 0, 0)->head.nlsd, ==, 0);
    host_free(h);
}

/* A reset in the middle of a scan, and one at each instant of it. */
static void test_interrupted(void)
{
    for (uint64_t ns = 0; ns < 4 * MS; ns += 313000) {
        Host *h = faulty("on=read lba=1000..1007 -> uncorrectable\n");
        NvmeSqe sqe = host_sqe(NVME_ADM_GET_LBA_STATUS, 1, HOST_DATA);

        host_map(h, &sqe, HOST_DATA, 4096);
        sqe.dw[12] = 1023;
        sqe.dw[13] = (uint32_t)SCAN << 24;
        host_send(h, 0, &sqe);
        host_sleep(h, ns);
        if (ns % 2) {
            controller_reset(h);
        } else {
            power_cycle(h);
        }
        g_assert_cmpuint(get(h, 1, SCAN, 0, 0)->head.nlsd, ==, 1);
        host_free(h);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/lba-status/marks", test_marks);
    g_test_add_func("/nvme/lba-status/many", test_many);
    g_test_add_func("/nvme/lba-status/bad", test_bad);
    g_test_add_func("/nvme/lba-status/media", test_media);
    g_test_add_func("/nvme/lba-status/log", test_log);
    g_test_add_func("/nvme/lba-status/two-scans", test_two_scans);
    g_test_add_func("/nvme/lba-status/interrupted", test_interrupted);
    return g_test_run();
}
