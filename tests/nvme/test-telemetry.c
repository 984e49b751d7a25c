/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-telemetry.c - captures that the host asks for, and the controller's own.
 */
#include "admin.h"
#include "vendor-log.h"

#define CREATE 1
#define RETAIN 0x80

static const uint8_t *page(Host *h, uint8_t lid, uint32_t flags, uint32_t bytes,
                           uint64_t offset)
{
    g_assert_cmphex(admin_log(h, lid, flags, bytes, offset), ==, 0);
    return admin_data(h);
}

static uint16_t read_code(Host *h, uint64_t lba)
{
    return host_code(host_io(h, 1, NVME_IO_READ, lba, 8, HOST_DATA));
}

static unsigned last_of(const uint8_t *header, unsigned area)
{
    return get_le16(header + 6 + 2 * area);
}

static void write_some(Host *h)
{
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    for (unsigned i = 0; i < 100; i++) {
        g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, i * 8, 8, HOST_DATA), ==,
                        0);
    }
    g_assert_cmphex(host_flush(h, 1), ==, 0);
}

/* The areas hold the numbers of the moment, until the next capture. */
static void test_host(void)
{
    Host *h = admin_host(NULL);
    const uint8_t *d = page(h, 0x07, 0, 512, 0);
    unsigned last[4] = {0};
    VssdLogDrive drive;
    g_autofree char *json = NULL;

    g_assert_cmphex(d[0], ==, 0x07);
    g_assert_cmpuint(last_of(d, 3), ==, 0);
    g_assert_cmpuint(d[381], ==, 0);
    write_some(h);
    d = page(h, 0x07, CREATE, 512, 0);
    g_assert_cmpuint(d[381], ==, 1);
    for (unsigned i = 1; i <= 3; i++) {
        last[i] = last_of(d, i);
        g_assert_cmpuint(last[i], >, last[i - 1]);
    }
    g_assert_cmpuint(last[1], ==, 2);
    for (unsigned i = 0; i < 2; i++) { /* a write in between changes nothing */
        d = page(h, 0x07, 0, 1024, 512);
        memcpy(&drive, d, sizeof(drive));
        g_assert_cmpmem(drive.magic, sizeof(drive.magic), VSSD_LOG_MAGIC,
                        sizeof(drive.magic));
        g_assert_cmpuint(GUINT64_FROM_LE(drive.host_bytes_written), ==,
                         100 * 4096);
        g_assert_cmpuint(get_le64(d + 512 + 80), ==, 100); /* SMART: writes */
        g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE, 0, 8, HOST_DATA), ==, 0);
    }
    d = page(h, 0x07, 0, (last[2] - last[1]) * 512, 512 + last[1] * 512);
    g_assert_cmpuint(d[0], ==, '{');
    json = g_strndup((const char *)d, (last[2] - last[1]) * 512);
    g_assert_nonnull(strstr(json, "\"waf\""));
    d = page(h, 0x07, 0, 4096, (last[3] - 7) * 512);
    g_assert_cmphex(admin_log(h, 0x07, 0, 512, (last[3] + 2) * 512), ==,
                    NVME_SC_INVALID_FIELD);
    d = page(h, 0x07, CREATE, 1536, 0);
    g_assert_cmpuint(d[381], ==, 2);
    memcpy(&drive, d + 512, sizeof(drive));
    g_assert_cmpuint(GUINT64_FROM_LE(drive.host_bytes_written), ==, 102 * 4096);
    admin_identify(h, 1);
    g_assert_true(admin_data(h)[261] & 1 << 3);
    host_free(h);
}

static void test_bad(void)
{
    Host *h = admin_host(NULL);

    for (uint8_t lid = 7; lid <= 8; lid++) {
        g_assert_cmphex(admin_log(h, lid, CREATE, 256, 0), ==,
                        NVME_SC_INVALID_FIELD);
        g_assert_cmphex(admin_log(h, lid, 0, 512, 256), ==,
                        NVME_SC_INVALID_FIELD);
        g_assert_cmphex(admin_log(h, lid, 0, 512, 1024), ==,
                        NVME_SC_INVALID_FIELD);
    }
    g_assert_cmpuint(page(h, 0x07, 0, 512, 0)[381], ==, 0); /* none */
    host_free(h);
}

/* The first error of the media is captured, with a notice; the next one only
 * after the host has read the log without Retain Asynchronous Event. */
static void test_own(void)
{
    HostOptions o = {.set =
                         "media.errors=on;media.base=0.05;media.retry_limit=0"};
    Host *h = admin_host(&o);
    NvmeSqe aer = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);
    GByteArray *drive, *ctrl;
    GError *error = NULL;
    const uint8_t *d;
    uint16_t cid;

    d = page(h, 0x08, 0, 512, 0);
    g_assert_cmphex(d[0], ==, 0x08);
    g_assert_cmpuint(d[382], ==, 0);
    g_assert_cmphex(admin_set_feature(h, 0x0b, false, 1 << 10, 0), ==, 0);
    cid = host_send(h, 0, &aer);
    host_run(h);
    write_some(h);
    g_assert_cmphex(read_code(h, 0), ==, NVME_SC_UNRECOVERED_READ);
    {
        HostCqe cqe = host_wait(h, 0);

        g_assert_cmpuint(cqe.cid, ==, cid);
        g_assert_cmphex(cqe.dw0, ==, 0x00080202);
    }
    g_assert_cmphex(read_code(h, 8), ==, NVME_SC_UNRECOVERED_READ);
    d = page(h, 0x08, RETAIN, 512, 0);
    g_assert_cmpuint(d[382], ==, 1);
    g_assert_cmpuint(d[383], ==, 1);
    g_assert_cmpstr((const char *)d + 384, ==, "media error");
    d = page(h, 0x08, RETAIN, 1536, 0);
    g_assert_cmpuint(get_le64(d + 1024 + 160), ==, 1); /* SMART: media errors */
    /* Without power, and in another machine. */
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    host_enable(h);
    host_settle(h);
    host_save(h, &drive, &ctrl);
    h = host_reload(&o, h, drive, ctrl, &error);
    g_assert_no_error(error);
    nvme_hold(h->ctrl, false);
    g_byte_array_unref(drive);
    g_byte_array_unref(ctrl);
    d = page(h, 0x08, 0, 1536, 0);
    g_assert_cmpuint(get_le64(d + 1024 + 160), ==, 1);
    d = page(h, 0x08, 0, 512, 0);
    g_assert_cmpuint(d[382], ==, 0); /* it has been read */
    h->cq[1].size = 0;
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    g_assert_cmphex(read_code(h, 0), ==, NVME_SC_UNRECOVERED_READ);
    d = page(h, 0x07, 0, 512, 0); /* the host's log says so, too */
    g_assert_cmpuint(d[382], ==, 1);
    g_assert_cmpuint(d[383], ==, 2);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/telemetry/host", test_host);
    g_test_add_func("/nvme/telemetry/bad", test_bad);
    g_test_add_func("/nvme/telemetry/own", test_own);
    return g_test_run();
}
