/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-health.c - wear as the host hears of it: asynchronous events of the SMART
 * log, each once, masked until the log is read and by feature 0Bh.
 */
#include "host.h"

#define WEAK                                                                   \
    "nand.blocks=48;nand.pages=4;media.erase_fail=0.002;"                      \
    "media.rated_cycles=40;media.fail_exp=4;media.start_cycles=10;"

/* Dword 0 of the completion: log page, information, type. */
#define EVENT_RELIABILITY 0x00020001
#define EVENT_SPARE       0x00020201

#define READ_ONLY 0x182

/* Critical warnings of the SMART log. */
#define WARN_SPARE       0x01
#define WARN_TEMPERATURE 0x02
#define WARN_RELIABILITY 0x04
#define WARN_READ_ONLY   0x08

typedef struct Watch {
    Host *h;
    unsigned n;       /* events so far */
    uint32_t dw0[16]; /* of them */
    uint8_t smart[512];
} Watch;

static void take_event(Watch *w, const HostCqe *cqe)
{
    g_assert_cmphex(cqe->status, ==, 0);
    g_assert_cmpuint(w->n, <, G_N_ELEMENTS(w->dw0)); /* a storm */
    w->dw0[w->n++] = cqe->dw0;
}

static void ask(Watch *w)
{
    NvmeSqe aer = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);

    host_send(w->h, 0, &aer);
}

/* Events that have come; each is answered with a new request. */
static void look(Watch *w)
{
    HostCqe cqe;

    host_run(w->h);
    while (host_poll(w->h, 0, &cqe)) {
        take_event(w, &cqe);
        ask(w);
    }
}

/* An admin command; events may come before its completion. */
static uint16_t admin(Watch *w, const NvmeSqe *sqe)
{
    uint16_t cid = host_send(w->h, 0, sqe);
    HostCqe cqe = host_wait(w->h, 0);

    while (cqe.cid != cid) {
        take_event(w, &cqe);
        ask(w);
        cqe = host_wait(w->h, 0);
    }
    return host_code(cqe.status);
}

static void get_smart(Watch *w, bool retain)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_GET_LOG_PAGE, 0, HOST_DATA);

    sqe.dw[10] = 2 | 127 << 16 | (uint32_t)retain << 15;
    g_assert_cmphex(admin(w, &sqe), ==, 0);
    memcpy(w->smart, w->h->ram + HOST_DATA, sizeof(w->smart));
}

static void set_events(Watch *w, uint32_t bits)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_SET_FEATURES, 0, 0);

    sqe.dw[10] = 0x0b;
    sqe.dw[11] = bits;
    g_assert_cmphex(admin(w, &sqe), ==, 0);
}

static Watch *start(const char *options, unsigned n_requests)
{
    Watch *w = g_new0(Watch, 1);

    w->h = host_new(&(HostOptions){ .set = options });
    host_enable(w->h);
    g_assert_cmphex(host_create_queues(w->h, 1, 1, 64), ==, 0);
    for (unsigned i = 0; i < n_requests; i++) {
        ask(w);
    }
    return w;
}

static void end(Watch *w)
{
    host_free(w->h);
    g_free(w);
}

/* Write until there are n events or the drive takes no more; the last status. */
static uint16_t wear(Watch *w, unsigned n)
{
    uint16_t status = 0;

    for (uint64_t i = 0; i < 200000 && status == 0 && w->n < n; i++) {
        status = host_code(host_io(w->h, 1, NVME_IO_WRITE, i * 128 % 8192, 128,
                                   HOST_DATA));
        look(w);
    }
    return status;
}

/* A drive is worn out: one event when spare falls below its threshold, one when
 * the drive is read-only, each at once and no more of them. */
static void test_wear(void)
{
    Watch *w = start(WEAK, 4);

    set_events(w, 0x1f);
    g_assert_cmphex(wear(w, 1), ==, 0);
    g_assert_cmpuint(w->n, ==, 1);
    g_assert_cmphex(w->dw0[0], ==, EVENT_SPARE);
    get_smart(w, true);
    g_assert_cmphex(w->smart[0], ==, WARN_SPARE);
    g_assert_cmpuint(w->smart[3], <, w->smart[4]);
    get_smart(w, false);
    g_assert_cmpuint(w->n, ==, 1); /* the same warning is no news */
    g_assert_cmphex(wear(w, 2), ==, 0);
    g_assert_cmpuint(w->n, ==, 2);
    g_assert_cmphex(w->dw0[1], ==, EVENT_RELIABILITY);
    get_smart(w, false);
    g_assert_cmphex(w->smart[0], ==, WARN_SPARE | WARN_READ_ONLY);
    for (unsigned i = 0; i < 1000; i++) {
        g_assert_cmphex(host_code(host_io(w->h, 1, NVME_IO_WRITE, i * 8, 8,
                                          HOST_DATA)), ==, READ_ONLY);
        g_assert_cmphex(host_io(w->h, 1, NVME_IO_READ, i * 8, 8, HOST_DATA), ==,
                        0);
        look(w);
    }
    for (unsigned i = 0; i < 3; i++) {
        get_smart(w, false);
    }
    g_assert_cmpuint(w->n, ==, 2);
    end(w);
}

/* An event is masked until the log is read without RAE, and later events are
 * in that log. */
static void test_masked(void)
{
    Watch *w = start(WEAK, 4);

    set_events(w, 0x1f);
    wear(w, 1);
    g_assert_cmphex(w->dw0[0], ==, EVENT_SPARE);
    get_smart(w, true);
    g_assert_cmphex(wear(w, 2), ==, READ_ONLY); /* the host still writes */
    g_assert_cmpuint(w->n, ==, 1);
    get_smart(w, false);
    g_assert_cmphex(w->smart[0], ==, WARN_SPARE | WARN_READ_ONLY);
    look(w);
    g_assert_cmpuint(w->n, ==, 1);
    /* A warning that is switched off and on again is new. */
    set_events(w, 0);
    set_events(w, WARN_SPARE);
    look(w);
    g_assert_cmpuint(w->n, ==, 2);
    g_assert_cmphex(w->dw0[1], ==, EVENT_SPARE);
    end(w);
}

/* Only events that feature 0Bh enables are reported, and it may enable them
 * late. */
static void test_feature(void)
{
    Watch *w = start(WEAK, 4);

    g_assert_cmphex(wear(w, 1), ==, READ_ONLY);
    set_events(w, WARN_TEMPERATURE | WARN_RELIABILITY);
    look(w);
    g_assert_cmpuint(w->n, ==, 0);
    set_events(w, 0x1f);
    look(w);
    g_assert_cmpuint(w->n, ==, 1);
    g_assert_cmphex(w->dw0[0], ==, EVENT_RELIABILITY); /* the worse of two */
    end(w);
}

/* Nobody waits for the event: it is kept for the next request, unless the log
 * has been read meanwhile. */
static void test_late_request(void)
{
    Watch *w = start(WEAK, 0);

    set_events(w, 0x1f);
    g_assert_cmphex(wear(w, 1), ==, READ_ONLY);
    ask(w);
    look(w);
    g_assert_cmpuint(w->n, ==, 1);
    g_assert_cmphex(w->dw0[0], ==, EVENT_SPARE); /* what came first */
    end(w);

    w = start(WEAK, 0);
    set_events(w, 0x1f);
    g_assert_cmphex(wear(w, 1), ==, READ_ONLY);
    get_smart(w, false);
    ask(w);
    look(w);
    g_assert_cmpuint(w->n, ==, 0);
    end(w);
}

/* The store refuses data that the drive has programmed: an event, without a
 * Flush that would fail. */
static void test_store_fails(void)
{
    Watch *w = start("", 4);

    set_events(w, 0x1f);
    w->h->fail_writes = true;
    for (unsigned i = 0; i < 64 && !w->n; i++) {
        host_io(w->h, 1, NVME_IO_WRITE, i * 128, 128, HOST_DATA);
        look(w);
    }
    g_assert_cmpuint(w->n, ==, 1);
    g_assert_cmphex(w->dw0[0], ==, EVENT_RELIABILITY);
    end(w);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/health/wear", test_wear);
    g_test_add_func("/health/masked", test_masked);
    g_test_add_func("/health/feature", test_feature);
    g_test_add_func("/health/late-request", test_late_request);
    g_test_add_func("/health/store-fails", test_store_fails);
    return g_test_run();
}
