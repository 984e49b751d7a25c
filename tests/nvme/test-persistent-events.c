/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-persistent-events.c - the Persistent Event log: events, reporting
 * contexts, its bound, power cycles.
 */
#include "admin.h"
#include "health/persistent-events.h"

#define LID 0x0d

#define READ      0
#define ESTABLISH 1
#define RELEASE   2

typedef struct Log {
    NvmePelHeader header;
    unsigned n;
    struct {
        NvmePelEvent head;
        uint8_t data[512];
    } event[2048];
} Log;

static Log pel;

/* A context from its beginning to its end, in pieces of 4096 bytes. */
static void read_log(Host *h)
{
    g_autofree uint8_t *all = g_malloc0(1 << 20);
    uint64_t bytes, at = 512;

    g_assert_cmphex(admin_log(h, LID, ESTABLISH, 512, 0), ==, 0);
    memcpy(&pel.header, admin_data(h), 512);
    bytes = pel.header.tll;
    g_assert_cmpuint(bytes, <=, 65536);
    for (uint64_t i = 0; i < bytes; i += 4096) {
        g_assert_cmphex(admin_log(h, LID, READ, 4096, i), ==, 0);
        memcpy(all + i, admin_data(h), 4096);
    }
    g_assert_cmphex(admin_log(h, LID, RELEASE, 4, 0), ==, 0);
    for (pel.n = 0; at < bytes; pel.n++) {
        NvmePelEvent *e = &pel.event[pel.n].head;

        memcpy(e, all + at, sizeof(*e));
        g_assert_cmpuint(e->ehl, ==, 21);
        memcpy(pel.event[pel.n].data, all + at + 24, e->el);
        at += 24 + e->el;
    }
    g_assert_cmpuint(at, ==, bytes);
    g_assert_cmpuint(pel.n, ==, pel.header.tnev);
}

static unsigned count(uint8_t type)
{
    unsigned n = 0;

    for (unsigned i = 0; i < pel.n; i++) {
        n += pel.event[i].head.type == type;
    }
    return n;
}

/* Data of the last event of the type. */
static const void *last(uint8_t type)
{
    for (unsigned i = pel.n; i-- > 0;) {
        if (pel.event[i].head.type == type) {
            return pel.event[i].data;
        }
    }
    g_assert_not_reached();
}

static void reset(Host *h)
{
    host_write32(h, NVME_REG_CC, 0);
    host_enable(h);
}

static void power_cycle(Host *h)
{
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    host_enable(h);
}

static void test_header(void)
{
    Host *h = admin_host(NULL);

    read_log(h);
    g_assert_cmphex(pel.header.lid, ==, LID);
    g_assert_cmpuint(pel.header.lhl, ==, 492);
    g_assert_cmpuint(pel.header.generation, ==, 1);
    g_assert_cmpuint(pel.header.pcc, ==, 1);
    g_assert_cmpmem(pel.header.sn, 8, "TEST0001", 8);
    g_assert_cmphex(pel.header.supported[0], ==, 0xbe);
    g_assert_cmphex(pel.header.supported[1], ==, 0x37);
    g_assert_cmpuint(pel.n, ==, 2); /* ready, and SMART */
    g_assert_cmphex(pel.event[0].head.type, ==, NVME_PEL_RESET);
    g_assert_cmphex(pel.event[1].head.type, ==, NVME_PEL_SMART);
    admin_identify(h, 1);
    g_assert_true(admin_data(h)[261] & 1 << 4);
    g_assert_cmpuint(get_le32(admin_data(h) + 352), ==, 1); /* PELS */
    host_free(h);
}

/* Establish, read, release: each once, in this order. */
static void test_contexts(void)
{
    Host *h = admin_host(NULL);

    g_assert_cmphex(admin_log(h, LID, READ, 512, 0), ==,
                    NVME_SC_COMMAND_SEQUENCE);
    g_assert_cmphex(admin_log(h, LID, RELEASE, 512, 0), ==, 0);
    g_assert_cmphex(admin_log(h, LID, 3, 512, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(admin_log(h, LID, ESTABLISH, 512, 0), ==, 0);
    g_assert_cmphex(admin_log(h, LID, ESTABLISH, 512, 0), ==,
                    NVME_SC_COMMAND_SEQUENCE);
    g_assert_cmphex(admin_log(h, LID, READ, 512, 1 << 20), ==,
                    NVME_SC_INVALID_FIELD);
    /* An event does not change the context. */
    memset(admin_data(h), 0, 8);
    g_assert_cmphex(admin_set_feature(h, 0x0e, false, 0, 0), ==, 0);
    g_assert_cmphex(admin_log(h, LID, READ, 512, 0), ==, 0);
    g_assert_cmpuint(get_le32(admin_data(h) + 4), ==, 2);
    g_assert_cmphex(admin_log(h, LID, RELEASE, 512, 0), ==, 0);
    g_assert_cmphex(admin_log(h, LID, ESTABLISH, 512, 0), ==, 0);
    g_assert_cmpuint(get_le32(admin_data(h) + 4), ==, 3);
    reset(h); /* releases it */
    g_assert_cmphex(admin_log(h, LID, READ, 512, 0), ==,
                    NVME_SC_COMMAND_SEQUENCE);
    read_log(h);
    g_assert_cmpuint(pel.header.generation, ==, 3);
    host_free(h);
}

/* Resets, power, time, firmware, telemetry. */
static void test_events(void)
{
    Host *h = admin_host(NULL);
    const NvmePelTimestamp *ts;
    const NvmePelFirmware *fw;
    const NvmePelHardware *hw;
    const NvmePelReset *on;

    put_le64(admin_data(h), 0x123456789aULL);
    g_assert_cmphex(admin_set_feature(h, 0x0e, false, 0, 0), ==, 0);
    host_sleep(h, 3000000000);
    put_le64(admin_data(h), 0x223456789aULL);
    g_assert_cmphex(admin_set_feature(h, 0x0e, false, 0, 0), ==, 0);
    g_assert_cmphex(
        admin_status(h, NVME_ADM_FIRMWARE_COMMIT, 0, ADMIN_DW(1 << 3 | 2), 0),
        ==, NVME_SC_FW_IMAGE);
    g_assert_cmphex(admin_log(h, 0x07, 1, 512, 0), ==, 0);
    power_cycle(h);
    reset(h);
    read_log(h);
    g_assert_cmpuint(count(NVME_PEL_TIMESTAMP), ==, 2);
    ts = last(NVME_PEL_TIMESTAMP);
    g_assert_cmpuint(get_le64((const uint8_t *)&ts->previous) &
                         0xffffffffffffULL,
                     ==, 0x123456789aULL + 3000);
    g_assert_cmpuint(ts->ms_since_reset, >=, 3000);
    fw = last(NVME_PEL_FIRMWARE);
    g_assert_cmpmem(fw->old_revision, 8, "1.0     ", 8);
    g_assert_cmpuint(fw->action, ==, 1);
    g_assert_cmpuint(fw->slot, ==, 2);
    g_assert_cmphex(fw->sct << 8 | fw->sc, ==, NVME_SC_FW_IMAGE);
    g_assert_cmphex(*(const uint8_t *)last(NVME_PEL_TELEMETRY), ==, 0x07);
    hw = last(NVME_PEL_HARDWARE);
    g_assert_cmphex(hw->code, ==, 8); /* unsafe shutdown */
    g_assert_cmpuint(count(NVME_PEL_RESET), ==, 3);
    on = last(NVME_PEL_RESET);
    g_assert_cmpuint(on->power_cycle, ==, 2);
    g_assert_cmpmem(on->revision, 8, "1.0     ", 8);
    host_free(h);
}

/* Errors of the media, and a temperature above its threshold. */
static void test_health(void)
{
    Host *h = admin_host(&(HostOptions){
        .set = "media.errors=on;media.base=0.05;media.retry_limit=0"});
    const NvmePelHardware *hw;

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 8, HOST_DATA), ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(host_code(host_io(h, 1, NVME_IO_READ, 0, 8, HOST_DATA)), ==,
                    NVME_SC_UNRECOVERED_READ);
    read_log(h);
    hw = last(NVME_PEL_HARDWARE);
    g_assert_cmphex(hw->code, ==, 0x0a);
    host_free(h);

    h = admin_host(&(HostOptions){
        .set = "thermal.resistance=10;thermal.ambient=75;thermal.warning=70"});
    host_sleep(h, 100000000000);
    read_log(h);
    g_assert_cmpuint(count(NVME_PEL_THERMAL), ==, 1);
    g_assert_cmpuint(*(const uint8_t *)last(NVME_PEL_THERMAL), >=, 4);
    g_assert_cmpuint(count(NVME_PEL_SMART), >=, 2);
    host_free(h);
}

/* It stays bounded, keeps the newest events, and moves with the controller. */
static void test_bound(void)
{
    Host *h = admin_host(NULL);
    GByteArray *drive, *ctrl;
    GError *error = NULL;

    for (unsigned i = 0; i < 200; i++) {
        reset(h);
    }
    read_log(h);
    g_assert_cmpuint(pel.header.tll, <=, 512 + NVME_PEL_BYTES);
    g_assert_cmpuint(pel.header.tll, >, NVME_PEL_BYTES - 1024);
    g_assert_cmpuint(count(NVME_PEL_RESET), <, 100);
    put_le64(admin_data(h), 7);
    g_assert_cmphex(admin_set_feature(h, 0x0e, false, 0, 0), ==, 0);
    g_assert_cmphex(admin_log(h, LID, ESTABLISH, 512, 0), ==, 0);
    host_settle(h);
    host_save(h, &drive, &ctrl);
    h = host_reload(&(HostOptions){0}, h, drive, ctrl, &error);
    g_assert_no_error(error);
    nvme_hold(h->ctrl, false);
    g_assert_cmphex(admin_log(h, LID, READ, 512, 0), ==, 0);
    g_assert_cmphex(admin_log(h, LID, RELEASE, 512, 0), ==, 0);
    read_log(h);
    g_assert_cmphex(pel.event[pel.n - 1].head.type, ==, NVME_PEL_TIMESTAMP);
    g_byte_array_unref(drive);
    g_byte_array_unref(ctrl);
    host_free(h);
}

static void manage(Host *h, unsigned sel, uint32_t nsid, uint32_t bytes)
{
    g_assert_cmphex(
        admin_status(h, NVME_ADM_NS_MANAGEMENT, nsid, ADMIN_DW(sel), bytes), ==,
        0);
}

/* Create, delete, delete all. */
static void test_namespaces(void)
{
    Host *h = admin_host(&(HostOptions){.namespaces = "2M;1M"});
    NvmePelNamespace e;
    NvmeIdNamespace id = {
        .nsze = nvme_le64(1024), .ncap = nvme_le64(1024), .nmic = 1};

    manage(h, 1, 2, 0);
    read_log(h);
    g_assert_cmphex(pel.header.supported[0], ==, 0xfe);
    g_assert_cmpuint(count(NVME_PEL_NAMESPACE), ==, 1);
    memcpy(&e, last(NVME_PEL_NAMESPACE), sizeof(e));
    g_assert_cmpuint(e.cdw10, ==, 1);
    g_assert_cmpuint(e.nsid, ==, 2);
    g_assert_cmpuint(e.nsze, ==, 2048);
    memcpy(admin_data(h), &id, sizeof(id));
    manage(h, 0, 0, 4096);
    read_log(h);
    memcpy(&e, last(NVME_PEL_NAMESPACE), sizeof(e));
    g_assert_cmpuint(e.cdw10, ==, 0);
    g_assert_cmpuint(e.nsid, ==, 2);
    g_assert_cmpuint(e.nsze, ==, 1024);
    g_assert_cmpuint(e.ncap, ==, 1024);
    g_assert_cmpuint(e.nmic, ==, 1);
    g_assert_cmphex(admin_status(h, NVME_ADM_NS_MANAGEMENT, 9, ADMIN_DW(1), 0),
                    !=, 0); /* a failure is no change */
    manage(h, 1, NVME_NSID_ALL, 0);
    read_log(h);
    memcpy(&e, last(NVME_PEL_NAMESPACE), sizeof(e));
    g_assert_cmpuint(count(NVME_PEL_NAMESPACE), ==, 3);
    g_assert_cmphex(e.nsid, ==, NVME_NSID_ALL);
    g_assert_cmpuint(e.nsze, ==, 0);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/persistent-events/header", test_header);
    g_test_add_func("/nvme/persistent-events/contexts", test_contexts);
    g_test_add_func("/nvme/persistent-events/events", test_events);
    g_test_add_func("/nvme/persistent-events/health", test_health);
    g_test_add_func("/nvme/persistent-events/bound", test_bound);
    g_test_add_func("/nvme/persistent-events/namespaces", test_namespaces);
    return g_test_run();
}
