/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-power.c - temperature and power states as a host sees them: Identify,
 * features 02h, 04h, 0Ch and 10h, the SMART log and its events.
 *
 * The drive takes 8 W while it works and 1 W else; R C is 50 ms, and 8 W make
 * it 40 K warmer than the 25 degrees around it.
 */
#include "host.h"
#include "nvme-internal.h"
#include "simtime.h"

#define HEAT                                                                   \
    "thermal.resistance=5;thermal.capacitance=0.01;power.active=8000;"         \
    "power.idle=8000;thermal.warning=60;thermal.critical=62;"
#define STATES                                                                 \
    "power.states=8000:0:0/3335:0:0/105:1000:2000:idle/5:4000:9000:idle;"

#define MS NS_PER_MS

#define EVENT_TEMPERATURE 0x00020101

static Host *start(const char *options)
{
    Host *h = host_new(&(HostOptions){.set = options});

    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    return h;
}

static HostCqe admin(Host *h, uint8_t opcode, uint32_t dw10, uint32_t dw11)
{
    NvmeSqe sqe = host_sqe(opcode, 0, HOST_DATA);

    sqe.dw[10] = dw10;
    sqe.dw[11] = dw11;
    return host_do(h, 0, &sqe);
}

static uint16_t set(Host *h, uint32_t id, uint32_t value)
{
    return host_code(admin(h, NVME_ADM_SET_FEATURES, id, value).status);
}

static uint32_t get(Host *h, uint32_t id)
{
    HostCqe cqe = admin(h, NVME_ADM_GET_FEATURES, id, 0);

    g_assert_cmphex(cqe.status, ==, 0);
    return cqe.dw0;
}

static const NvmeIdController *identify(Host *h)
{
    g_assert_cmphex(admin(h, NVME_ADM_IDENTIFY, 1, 0).status, ==, 0);
    return (const void *)(h->ram + HOST_DATA);
}

static const NvmeHealthLog *smart(Host *h)
{
    g_assert_cmphex(admin(h, NVME_ADM_GET_LOG_PAGE, 2 | 127 << 16, 0).status,
                    ==, 0);
    return (const void *)(h->ram + HOST_DATA);
}

/* How long a Flush of an empty buffer takes. */
static uint64_t flush_ns(Host *h)
{
    uint64_t from_ns = h->now_ns;

    g_assert_cmphex(host_flush(h, 1), ==, 0);
    return h->now_ns - from_ns;
}

/* ---- Identify ----------------------------------------------------------- */

static void test_identify(void)
{
    Host *h = start(HEAT STATES);
    const NvmeIdController *id = identify(h);

    g_assert_cmpuint(id->npss, ==, 3);
    g_assert_cmpuint(id->apsta, ==, 1);
    g_assert_cmpuint(GUINT16_FROM_LE(id->wctemp), ==, 333);
    g_assert_cmpuint(GUINT16_FROM_LE(id->cctemp), ==, 335);
    g_assert_cmpuint(GUINT16_FROM_LE(id->hctma), ==, 1);
    g_assert_cmpuint(GUINT16_FROM_LE(id->mxtmt), ==, 335);
    g_assert_cmpuint(GUINT16_FROM_LE(id->psd[0].mp), ==, 800);
    g_assert_cmpuint(id->psd[0].flags, ==, 0);
    g_assert_cmpuint(GUINT16_FROM_LE(id->psd[1].mp), ==, 33350);
    g_assert_cmpuint(id->psd[1].flags, ==, 1); /* of 0.1 mW */
    g_assert_cmpuint(GUINT16_FROM_LE(id->psd[2].mp), ==, 1050);
    g_assert_cmpuint(id->psd[2].flags, ==, 3); /* and takes no commands */
    g_assert_cmpuint(GUINT32_FROM_LE(id->psd[2].enlat), ==, 1000);
    g_assert_cmpuint(GUINT32_FROM_LE(id->psd[2].exlat), ==, 2000);
    g_assert_cmpuint(id->psd[3].rwl, ==, 3);
    host_free(h);

    h = start("");
    id = identify(h);
    g_assert_cmpuint(id->npss, ==, 0);
    g_assert_cmpuint(id->apsta, ==, 0);
    g_assert_cmpuint(id->hctma, ==, 0);
    g_assert_cmpuint(GUINT16_FROM_LE(id->psd[0].mp), ==, 800);
    g_assert_cmphex(set(h, 0x0c, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set(h, 0x10, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmpuint(GUINT16_FROM_LE(smart(h)->temperature), ==, 313);
    host_free(h);
}

/* ---- power states ------------------------------------------------------- */

static void test_set_state(void)
{
    Host *h = start(STATES);
    uint64_t plain = flush_ns(h);

    g_assert_cmphex(set(h, 0x02, 4), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set(h, 0x02, 0x100), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set(h, 0x02, 0x22), ==, 0);
    g_assert_cmphex(get(h, 0x02), ==, 0x22);
    host_sleep(h, 5 * MS);
    g_assert_cmpuint(flush_ns(h), ==, plain + 2 * MS);
    g_assert_cmphex(get(h, 0x02), ==, 0x20); /* where it is now */
    g_assert_cmpuint(flush_ns(h), ==, plain);
    g_assert_cmphex(get(h, 0x02 | 1 << 8), ==, 0);
    g_assert_cmphex(set(h, 0x02, 3), ==, 0);
    host_write32(h, NVME_REG_CC, 0);
    host_enable(h);
    g_assert_cmphex(get(h, 0x02), ==, 0);
    host_free(h);
}

static void put_entry(Host *h, unsigned i, uint32_t state, uint32_t ms)
{
    put_le64(host_ram(h, HOST_DATA + 8 * i, 8), state << 3 | (uint64_t)ms << 8);
}

static void test_apst(void)
{
    Host *h = start(STATES);
    uint64_t plain = flush_ns(h);

    memset(host_ram(h, HOST_DATA, 256), 0, 256);
    put_entry(h, 0, 1, 10); /* takes commands */
    g_assert_cmphex(set(h, 0x0c, 1), ==, NVME_SC_INVALID_FIELD);
    put_entry(h, 0, 2, 10);
    put_entry(h, 2, 2, 10); /* leads nowhere */
    g_assert_cmphex(set(h, 0x0c, 1), ==, NVME_SC_INVALID_FIELD);
    put_entry(h, 2, 3, 20);
    g_assert_cmphex(set(h, 0x0c, 2), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set(h, 0x0c, 1), ==, 0);
    memset(host_ram(h, HOST_DATA, 256), 0xff, 256);
    g_assert_cmphex(get(h, 0x0c), ==, 1);
    g_assert_cmphex(get_le64(h->ram + HOST_DATA), ==, 2 << 3 | 10 << 8);
    g_assert_cmphex(get_le64(h->ram + HOST_DATA + 8), ==, 0);

    flush_ns(h);
    host_sleep(h, 9 * MS);
    g_assert_cmpuint(flush_ns(h), ==, plain);
    host_sleep(h, 12 * MS);
    g_assert_cmphex(get(h, 0x02), ==, 2);
    g_assert_cmpuint(flush_ns(h), ==, plain + 2 * MS);
    host_sleep(h, 100 * MS);
    g_assert_cmphex(get(h, 0x02), ==, 3);
    g_assert_cmpuint(flush_ns(h), ==, plain + 9 * MS);

    memset(host_ram(h, HOST_DATA, 256), 0, 256);
    g_assert_cmphex(set(h, 0x0c, 0), ==, 0);
    host_sleep(h, 100 * MS);
    g_assert_cmphex(get(h, 0x02), ==, 0);
    host_free(h);
}

/* The drive's own rule holds until the host has one, and again after a reset.
 */
static void test_own_rule(void)
{
    Host *h = start(STATES "power.idle_after=10ms");

    flush_ns(h);
    host_sleep(h, 15 * MS);
    g_assert_cmphex(get(h, 0x02), ==, 2);
    memset(host_ram(h, HOST_DATA, 256), 0, 256);
    g_assert_cmphex(set(h, 0x0c, 0), ==, 0);
    flush_ns(h);
    host_sleep(h, 100 * MS);
    g_assert_cmphex(get(h, 0x02), ==, 0);
    host_write32(h, NVME_REG_CC, 0);
    host_enable(h);
    host_sleep(h, 100 * MS);
    g_assert_cmphex(get(h, 0x02), ==, 3);
    host_free(h);
}

/* ---- temperature -------------------------------------------------------- */

/* 60 degrees after 50 ms x ln 8, as a host that waits for it hears; then each
 * degree is in the log. */
static void test_warning(void)
{
    Host *h = start(HEAT);
    NvmeSqe aer = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);
    HostCqe cqe;

    g_assert_cmphex(set(h, 0x0b, NVME_WARN_TEMPERATURE), ==, 0);
    g_assert_cmphex(get(h, 0x04), ==, 333);
    host_send(h, 0, &aer);
    while (h->now_ns < 103 * MS) {
        host_sleep(h, MS);
        host_run(h);
        g_assert_false(host_poll(h, 0, &cqe));
    }
    g_assert_cmphex(smart(h)->critical_warning, ==, 0);
    host_sleep(h, 105 * MS - h->now_ns);
    host_run(h);
    g_assert_true(host_poll(h, 0, &cqe));
    g_assert_cmphex(cqe.dw0, ==, EVENT_TEMPERATURE);
    g_assert_cmphex(smart(h)->critical_warning, ==, NVME_WARN_TEMPERATURE);
    g_assert_cmpuint(GUINT16_FROM_LE(smart(h)->temperature), ==, 333);
    host_sleep(h, 1000 * MS);
    g_assert_cmpuint(GUINT16_FROM_LE(smart(h)->temperature), ==, 338);
    host_sleep(h, 180 * NS_PER_S);
    g_assert_cmpuint(GUINT32_FROM_LE(smart(h)->warning_minutes), ==, 3);
    g_assert_cmpuint(GUINT32_FROM_LE(smart(h)->critical_minutes), ==, 3);
    host_free(h);
}

static void test_hctm(void)
{
    Host *h = start(HEAT);
    uint32_t limits = 313 << 16 | 328;

    g_assert_cmphex(set(h, 0x10, 328 << 16 | 313), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set(h, 0x10, 272 << 16), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set(h, 0x10, 336), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set(h, 0x10, limits), ==, 0);
    g_assert_cmphex(get(h, 0x10), ==, limits);
    host_sleep(h, 40 * MS); /* 47 degrees */
    g_assert_cmpuint(GUINT32_FROM_LE(smart(h)->tmt_count[0]), ==, 1);
    g_assert_cmpuint(GUINT32_FROM_LE(smart(h)->tmt_count[1]), ==, 0);
    host_sleep(h, 5 * NS_PER_S);
    g_assert_cmpuint(GUINT32_FROM_LE(smart(h)->tmt_count[1]), ==, 1);
    g_assert_cmpuint(GUINT32_FROM_LE(smart(h)->tmt_seconds[1]), ==, 4);
    host_write32(h, NVME_REG_CC, 0);
    host_enable(h);
    g_assert_cmphex(get(h, 0x10), ==, 0);
    host_sleep(h, 5 * NS_PER_S);
    g_assert_cmpuint(GUINT32_FROM_LE(smart(h)->tmt_seconds[1]), ==, 4);
    host_free(h);
}

/* ---- saved -------------------------------------------------------------- */

/* A machine that moves keeps its power state, its table and its temperature. */
static void test_saved(void)
{
    const HostOptions o = {.set = HEAT STATES};
    Host *h = start(HEAT STATES);
    uint64_t plain = flush_ns(h);
    g_autoptr(GByteArray) drive = NULL;
    g_autoptr(GByteArray) ctrl = NULL;
    GError *error = NULL;
    Host *to;
    uint16_t kelvin;

    memset(host_ram(h, HOST_DATA, 256), 0, 256);
    put_entry(h, 0, 2, 10);
    g_assert_cmphex(set(h, 0x0c, 1), ==, 0);
    g_assert_cmphex(set(h, 0x02, 3), ==, 0);
    host_sleep(h, 20 * MS);
    kelvin = GUINT16_FROM_LE(smart(h)->temperature);
    host_save(h, &drive, &ctrl);
    to = host_load(&o, h, drive, ctrl, &error);
    g_assert_no_error(error);
    host_free(h);
    nvme_hold(to->ctrl, false);
    g_assert_cmphex(get(to, 0x02), ==, 3);
    g_assert_cmpuint(GUINT16_FROM_LE(smart(to)->temperature), ==, kelvin);
    g_assert_cmpuint(flush_ns(to), ==, plain + 9 * MS);
    host_sleep(to, 30 * MS);
    g_assert_cmphex(get(to, 0x02), ==, 2);
    g_assert_cmphex(get(to, 0x0c), ==, 1);
    host_free(to);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/power/identify", test_identify);
    g_test_add_func("/power/set-state", test_set_state);
    g_test_add_func("/power/apst", test_apst);
    g_test_add_func("/power/own-rule", test_own_rule);
    g_test_add_func("/power/warning", test_warning);
    g_test_add_func("/power/hctm", test_hctm);
    g_test_add_func("/power/saved", test_saved);
    return g_test_run();
}
