/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-zns-limits.c - limits of time of zones: what the controller recommends,
 * zones that it finishes itself, and how the host hears of it (Zoned Namespace
 * Command Set 1.1, 5.4 to 5.6, Figures 37 and 48).
 */
#include "zoned.h"

#define SECOND 1000000000ULL
#define LIMITS                                                                 \
    ZONED "zones.finish_after=10s;zones.finish_limit=10s;"                     \
          "zones.reset_after=30s;"

/* Zone Attributes, and the filter of the recommendations. */
enum { FINISHED = 1, SHOULD_FINISH = 2, SHOULD_RESET = 4, DESCRIBED = 0x80 };
#define ADVICE 9

/* At an instant that is no whole second. */
static Host *begin(const char *set)
{
    Host *h = start(set);

    host_sleep(h, SECOND / 100);
    return h;
}

static void until(Host *h, uint64_t second)
{
    g_assert_cmpuint(h->now_ns, <, second * SECOND);
    host_sleep(h, second * SECOND - h->now_ns);
}

/* Just before that second, and then just after its beginning. */
static void before(Host *h, uint64_t second)
{
    host_sleep(h, second * SECOND - SECOND / 1000 - h->now_ns);
}

static void cut(Host *h)
{
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    queues(h);
}

static unsigned attributes(Host *h, unsigned i)
{
    return zone(h, i)[2];
}

/* Zones that a report with the filter has, as bits. */
static uint32_t advised(Host *h)
{
    uint32_t zones = 0;

    g_assert_cmphex(report(h, 0, 0, ADVICE, true, 4096), ==, 0);
    for (uint64_t i = 0; i < get_le64(h->ram + BUF); i++) {
        zones |= 1U << get_le64(h->ram + BUF + 64 + i * 64 + 16) / ZONE;
    }
    return zones;
}

/* Zones of log page BFh, as bits, which the read clears. */
static uint32_t changed(Host *h)
{
    NvmeSqe log = host_sqe(NVME_ADM_GET_LOG_PAGE, 1, BUF);
    uint32_t zones = 0;

    log.dw[10] = 1023U << 16 | 0xbf;
    g_assert_cmphex(host_do(h, 0, &log).status, ==, 0);
    for (unsigned i = 0; i < get_le16(h->ram + BUF); i++) {
        zones |= 1U << get_le64(h->ram + BUF + 8 + i * 8) / ZONE;
    }
    return zones;
}

static void identify(const char *set, uint16_t zoc, uint32_t frl)
{
    Host *h = start(set);

    g_assert_cmphex(
        command(h, 0, NVME_ADM_IDENTIFY, 1, (uint32_t[]){5, 2U << 24, 0, 0})
            .status,
        ==, 0);
    g_assert_cmphex(get_le16(h->ram + BUF), ==, zoc);
    g_assert_cmpuint(get_le32(h->ram + BUF + 12), ==, 0); /* RRL */
    g_assert_cmpuint(get_le32(h->ram + BUF + 16), ==, frl);
    for (unsigned i = 20; i < 44; i++) {
        g_assert_cmpuint(h->ram[BUF + i], ==, 0);
    }
    host_free(h);
}

static void test_identify(void)
{
    identify(ZONED, 0, 0);
    identify(LIMITS, 2, 10);
    identify(ZONED "zones.finish_after=1s;zones.finish_limit=8640000s", 2,
             8640000);
    identify(ZONED "zones.finish_after=1s;zones.reset_after=1s", 0, 0);
}

/* Without the options time changes nothing, and nothing is to be done. */
static void test_none(void)
{
    Host *h = start(ZONED);

    g_assert_cmphex(put(h, 0, 8), ==, 0);
    g_assert_cmphex(put(h, ZONE, 8), ==, 0);
    g_assert_cmphex(send(h, ZONE, FINISH), ==, 0);
    host_sleep(h, 100000 * SECOND);
    g_assert_cmpuint(state(h, 0), ==, IMPLICIT);
    g_assert_cmphex(attributes(h, 0), ==, 0);
    g_assert_cmphex(attributes(h, 1), ==, 0);
    g_assert_cmphex(advised(h), ==, 0);
    g_assert_cmphex(changed(h), ==, 0);
    host_free(h);
}

/* The attributes come with their second, and go with the state. */
static void test_recommended(void)
{
    Host *h = begin(ZONED "zones.finish_after=10s;zones.reset_after=30s");
    NvmeSqe aer = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);
    HostCqe cqe;

    command(h, 0, NVME_ADM_SET_FEATURES, 0, (uint32_t[]){0x0b, 1U << 27, 0, 0});
    host_send(h, 0, &aer);
    g_assert_cmphex(put(h, 0, 8), ==, 0);
    g_assert_cmphex(send(h, ZONE, OPEN), ==, 0);
    before(h, 11);
    g_assert_cmphex(attributes(h, 0), ==, 0);
    g_assert_cmphex(send(h, ZONE, CLOSE), ==, 0); /* it stays active */
    g_assert_false(host_poll(h, 0, &cqe));
    until(h, 11);
    g_assert_true(host_poll(h, 0, &cqe));
    g_assert_cmphex(cqe.dw0, ==, 0xbfef02);
    g_assert_cmphex(attributes(h, 0), ==, SHOULD_FINISH);
    g_assert_cmphex(attributes(h, 1), ==, SHOULD_FINISH);
    g_assert_cmphex(attributes(h, 2), ==, 0);
    g_assert_cmphex(advised(h), ==, 3);
    g_assert_cmphex(changed(h), ==, 3);
    g_assert_cmphex(changed(h), ==, 0);
    g_assert_cmphex(put(h, 8, 8), ==, 0); /* it is only a recommendation */
    g_assert_cmphex(attributes(h, 0), ==, SHOULD_FINISH);
    g_assert_cmphex(send(h, 0, FINISH), ==, 0);
    g_assert_cmphex(send(h, ZONE, RESET), ==, 0);
    g_assert_cmphex(attributes(h, 0), ==, 0);
    g_assert_cmphex(attributes(h, 1), ==, 0);
    g_assert_cmphex(advised(h), ==, 0);
    before(h, 42);
    g_assert_cmphex(attributes(h, 0), ==, 0);
    until(h, 42);
    g_assert_cmphex(attributes(h, 0), ==, SHOULD_RESET);
    g_assert_cmpuint(state(h, 0), ==, FULL);
    g_assert_cmphex(advised(h), ==, 1);
    g_assert_cmphex(changed(h), ==, 1);
    g_assert_cmphex(fetch(h, 0, 16), ==, 0);
    g_assert_cmphex(send(h, 0, RESET), ==, 0);
    g_assert_cmphex(attributes(h, 0), ==, 0);
    host_sleep(h, 1000 * SECOND); /* an empty zone has no limit */
    g_assert_cmphex(changed(h), ==, 0);
    host_free(h);
}

/* The controller finishes active zones, whatever is in them. */
static void test_excursion(void)
{
    Host *h = begin(LIMITS);

    mark(h, 0x41, 8);
    g_assert_cmphex(put(h, 0, 8), ==, 0);
    g_assert_cmphex(send(h, ZONE, OPEN), ==, 0);
    memset(host_ram(h, BUF, 64), 0x77, 64);
    g_assert_cmphex(send(h, 2 * ZONE, EXTENSION), ==, 0);
    g_assert_cmphex(put(h, 3 * ZONE, 8), ==, 0);
    g_assert_cmphex(put(h, 4 * ZONE, 8), ==, NVME_SC_TOO_MANY_ACTIVE);
    before(h, 21);
    g_assert_cmphex(changed(h), ==, 0xf); /* of the recommendations */
    g_assert_cmpuint(state(h, 3), ==, IMPLICIT);
    until(h, 21);
    for (unsigned i = 0; i < 4; i++) {
        g_assert_cmpuint(state(h, i), ==, FULL);
        g_assert_cmphex(attributes(h, i), ==,
                        FINISHED | (i == 2 ? DESCRIBED : 0));
    }
    g_assert_cmphex(advised(h), ==, 0);
    g_assert_cmphex(changed(h), ==, 0xf);
    g_assert_cmphex(put(h, 8, 8), ==, NVME_SC_ZONE_FULL);
    g_assert_cmphex(fetch(h, 0, 16), ==, 0);
    g_assert_true(is_all(h, 0x41, 0, 8) && is_all(h, 0, 8, 8));
    for (unsigned i = 4; i < 8; i++) { /* their resources are free */
        g_assert_cmphex(put(h, i * ZONE, 8), ==, 0);
    }
    before(h, 51);
    g_assert_cmphex(attributes(h, 0), ==, FINISHED);
    until(h, 51);
    g_assert_cmphex(attributes(h, 0), ==, FINISHED | SHOULD_RESET);
    for (unsigned i = 0; i < 4; i++) {
        g_assert_cmphex(send(h, i * ZONE, RESET), ==, 0);
        g_assert_cmphex(attributes(h, i), ==, 0);
    }
    g_assert_cmphex(put(h, 0, 8), ==, 0);
    host_free(h);
}

/* Writes that wait for room in the buffer when the controller finishes their
 * zone end well. */
static void test_in_flight(void)
{
    Host *h = begin(LIMITS "nand.program=100ms;");
    unsigned sent = 0;
    unsigned done = 0;
    HostCqe cqe;

    mark(h, 0x42, 64);
    g_assert_cmphex(put(h, 0, 8), ==, 0);
    host_sleep(h, 21 * SECOND - SECOND / 10 - h->now_ns);
    for (unsigned i = 0; i < 3; i++) { /* they fill the buffer */
        g_assert_cmphex(put(h, ZONE + 64 * i, 64), ==, 0);
    }
    for (; sent < 16; sent++) {
        NvmeSqe sqe = host_sqe(NVME_IO_WRITE, 1, 0);

        host_map(h, &sqe, DATA, 8 * 4096);
        sqe.dw[10] = 8 * (sent + 1);
        sqe.dw[12] = 7;
        host_send(h, 1, &sqe);
    }
    g_assert_cmpuint(h->now_ns, <, 21 * SECOND);
    until(h, 21);
    while (host_poll(h, 1, &cqe)) {
        g_assert_cmphex(cqe.status, ==, 0);
        done++;
    }
    g_assert_cmpuint(done, <, sent);
    for (; done < sent; done++) {
        g_assert_cmphex(host_wait(h, 1).status, ==, 0);
    }
    host_sleep(h, 5 * SECOND);
    g_assert_cmpuint(state(h, 0), ==, FULL);
    g_assert_cmphex(attributes(h, 0), ==, FINISHED);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmphex(fetch(h, 64 * i, 64), ==, 0);
        g_assert_true(is_all(h, 0x42, 0, 64));
    }
    g_assert_cmphex(send(h, 0, RESET), ==, 0);
    host_free(h);
}

/* Time without power counts, and attributes survive it. */
static void test_power(void)
{
    Host *h = begin(LIMITS);

    g_assert_cmphex(put(h, 0, 8), ==, 0);
    g_assert_cmphex(put(h, ZONE, 8), ==, 0);
    g_assert_cmphex(send(h, ZONE, FINISH), ==, 0);
    until(h, 5);
    cut(h);
    g_assert_cmphex(attributes(h, 0), ==, 0);
    until(h, 11);
    g_assert_cmphex(attributes(h, 0), ==, SHOULD_FINISH);
    cut(h);
    g_assert_cmpuint(state(h, 0), ==, CLOSED);
    g_assert_cmphex(attributes(h, 0), ==, SHOULD_FINISH);
    nvme_power_cut(h->ctrl, h->now_ns);
    host_sleep(h, 30 * SECOND);
    nvme_power_on(h->ctrl, h->now_ns);
    queues(h);
    host_sleep(h, SECOND);
    g_assert_cmpuint(state(h, 0), ==, FULL);
    g_assert_cmphex(attributes(h, 0), ==, FINISHED);
    g_assert_cmphex(attributes(h, 1), ==, SHOULD_RESET);
    host_free(h);
}

static void test_saved(void)
{
    HostOptions o = {.set = LIMITS, .block_bytes = 4096};
    Host *h = begin(LIMITS);
    GByteArray *drive, *ctrl;
    GError *error = NULL;

    g_assert_cmphex(put(h, 0, 8), ==, 0);
    g_assert_cmphex(put(h, 3 * ZONE, 8), ==, 0);
    until(h, 15);
    g_assert_cmphex(put(h, ZONE, 8), ==, 0);
    until(h, 21);
    g_assert_cmphex(changed(h), ==, 1 | 8);
    host_sleep(h, SECOND / 100); /* its last pages are programmed */
    g_assert_cmphex(send(h, 3 * ZONE, RESET), ==, 0);
    host_settle(h);
    host_save(h, &drive, &ctrl);
    h = host_reload(&o, h, drive, ctrl, &error);
    g_assert_no_error(error);
    nvme_hold(h->ctrl, false);
    g_assert_cmphex(attributes(h, 0), ==, FINISHED);
    g_assert_cmphex(attributes(h, 1), ==, 0);
    host_sleep(h, 3 * SECOND);
    g_assert_cmphex(attributes(h, 1), ==, 0);
    host_sleep(h, 3 * SECOND); /* 6 s before, and these */
    g_assert_cmphex(attributes(h, 1), ==, SHOULD_FINISH);
    host_sleep(h, 11 * SECOND);
    g_assert_cmphex(attributes(h, 1), ==, FINISHED);
    g_byte_array_unref(drive);
    g_byte_array_unref(ctrl);
    host_free(h);
}

/* The clock is set back while a limit runs. */
static void test_rebase(void)
{
    Host *h = begin(LIMITS);
    uint64_t by_ns;

    host_sleep(h, 10000 * SECOND);
    g_assert_cmphex(put(h, 0, 8), ==, 0);
    host_sleep(h, 5 * SECOND);
    host_settle(h);
    by_ns = nvme_rebase(h->ctrl);
    g_assert_cmpuint(by_ns, >, 0);
    h->now_ns -= by_ns;
    nvme_hold(h->ctrl, false);
    host_sleep(h, 4 * SECOND);
    g_assert_cmphex(attributes(h, 0), ==, 0);
    host_sleep(h, 3 * SECOND);
    g_assert_cmphex(attributes(h, 0), ==, SHOULD_FINISH);
    host_free(h);
}

/* Each controller is told. */
static void test_shared(void)
{
    HostOptions o = {.set = LIMITS, .block_bytes = 4096, .controllers = 2};
    Host *h = host_new(&o);
    Host *b;

    queues(h);
    b = host_add(h, 7, NULL);
    queues(b);
    host_sleep(h, SECOND / 100);
    g_assert_cmphex(put(b, 0, 8), ==, 0);
    until(h, 11);
    g_assert_cmphex(changed(h), ==, 1);
    g_assert_cmphex(changed(b), ==, 1);
    g_assert_cmphex(attributes(b, 0), ==, SHOULD_FINISH);
    host_free(b);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/zns-limits/identify", test_identify);
    g_test_add_func("/zns-limits/none", test_none);
    g_test_add_func("/zns-limits/recommended", test_recommended);
    g_test_add_func("/zns-limits/excursion", test_excursion);
    g_test_add_func("/zns-limits/in-flight", test_in_flight);
    g_test_add_func("/zns-limits/power", test_power);
    g_test_add_func("/zns-limits/saved", test_saved);
    g_test_add_func("/zns-limits/rebase", test_rebase);
    g_test_add_func("/zns-limits/shared", test_shared);
    return g_test_run();
}
