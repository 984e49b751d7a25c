/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-features.c - saved values of features, and features of the host itself.
 */
#include "admin.h"

#define SEL_DEFAULT 1
#define SEL_SAVED   2

static void cycle(Host *h, bool power)
{
    if (power) {
        nvme_power_cut(h->ctrl, h->now_ns);
        nvme_power_on(h->ctrl, h->now_ns);
    } else {
        host_write32(h, NVME_REG_CC, 0);
    }
    host_enable(h);
}

static uint32_t value(Host *h, uint8_t fid, uint32_t select, uint32_t dw11)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_GET_FEATURES, fid == 5, HOST_DATA);
    HostCqe cqe;

    sqe.dw[10] = fid | select << 8;
    sqe.dw[11] = dw11;
    cqe = host_do(h, 0, &sqe);
    g_assert_cmphex(cqe.status, ==, 0);
    return cqe.dw0;
}

static uint16_t set(Host *h, uint8_t fid, bool save, uint32_t dw11)
{
    return admin_status(h, NVME_ADM_SET_FEATURES, fid == 5,
                        ADMIN_DW(fid | (uint32_t)save << 31, dw11), 0);
}

/* Saved, and loaded in place of the controller. */
static Host *moved(Host *h)
{
    GByteArray *drive;
    GByteArray *ctrl;
    GError *error = NULL;

    host_settle(h);
    host_save(h, &drive, &ctrl);
    h = host_reload(&(HostOptions){0}, h, drive, ctrl, &error);
    g_assert_no_error(error);
    nvme_hold(h->ctrl, false);
    g_byte_array_unref(drive);
    g_byte_array_unref(ctrl);
    return h;
}

/* A saved value comes back after a reset and without power; one that is only
 * set does not; the default stays as it is. */
static void test_saved(void)
{
    /* id, default, saved, set afterwards */
    static const uint32_t row[][4] = {
        {0x01, 5, 0x01020303, 0x02}, {0x04, 343, 350, 345},
        {0x05, 0, 0x1234, 0x4321},   {0x06, 1, 0, 1},
        {0x08, 0, 0x0203, 0x0101},   {0x0a, 0, 1, 0},
        {0x0b, 0, 0x1f, 0x01},
    };
    Host *h = admin_host(NULL);

    for (unsigned i = 0; i < G_N_ELEMENTS(row); i++) {
        g_assert_cmphex(value(h, row[i][0], SEL_SAVED, 0), ==, row[i][1]);
        g_assert_cmphex(set(h, row[i][0], true, row[i][2]), ==, 0);
        g_assert_cmphex(set(h, row[i][0], false, row[i][3]), ==, 0);
        g_assert_cmphex(value(h, row[i][0], 0, 0), ==, row[i][3]);
    }
    for (unsigned k = 0; k < 4; k++) {
        for (unsigned i = 0; i < G_N_ELEMENTS(row); i++) {
            g_assert_cmphex(value(h, row[i][0], SEL_SAVED, 0), ==, row[i][2]);
            g_assert_cmphex(value(h, row[i][0], SEL_DEFAULT, 0), ==, row[i][1]);
            g_assert_cmphex(value(h, row[i][0], 0, 0), ==, row[i][k ? 2 : 3]);
        }
        cycle(h, k & 1);
    }
    /* The under temperature threshold is saved for itself. */
    g_assert_cmphex(set(h, 0x04, true, 1 << 20 | 270), ==, 0);
    cycle(h, true);
    g_assert_cmphex(value(h, 0x04, 0, 1 << 20), ==, 270);
    g_assert_cmphex(value(h, 0x04, 0, 0), ==, 350);
    /* A value that is refused is not saved. */
    g_assert_cmphex(set(h, 0x08, true, 1 << 16), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(value(h, 0x08, SEL_SAVED, 0), ==, 0x0203);
    /* Saved values move with the controller. */
    h = moved(h);
    cycle(h, true);
    g_assert_cmphex(value(h, 0x08, 0, 0), ==, 0x0203);
    host_free(h);
}

/* Limits of the temperature that are saved hold after a reset: the statistics
 * of the drive count the time at them. */
static void test_saved_heat(void)
{
    static const char options[] =
        "thermal.resistance=10;thermal.ambient=25;thermal.capacitance=10";
    Host *h = admin_host(&(HostOptions){.set = options});
    uint32_t dw11 = 280U << 16 | 300;
    const uint8_t *d = admin_data(h);

    g_assert_cmphex(set(h, 0x10, true, 300U << 16 | 280), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(set(h, 0x10, true, dw11), ==, 0);
    cycle(h, true);
    g_assert_cmphex(value(h, 0x10, 0, 0), ==, dw11);
    host_sleep(h, 2000000000);
    g_assert_cmphex(admin_log(h, 0x02, 0, 512, 0), ==, 0);
    g_assert_cmpuint(get_le32(d + 216) + get_le32(d + 220), >, 0);
    host_free(h);
}

static void test_host_behavior(void)
{
    Host *h = admin_host(NULL);
    uint8_t *d = admin_data(h);

    memset(d, 0xee, 512);
    g_assert_cmphex(admin_get_feature(h, 0x16, 0, 0).status, ==, 0);
    g_assert_cmpuint(d[0], ==, 0);
    memset(d, 0, 512);
    d[0] = 1;
    g_assert_cmphex(admin_set_feature(h, 0x16, false, 0, 0), ==, 0);
    d[0] = 2;
    g_assert_cmphex(admin_set_feature(h, 0x16, false, 0, 0), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(admin_set_feature(h, 0x16, true, 0, 0), ==,
                    NVME_SC_FEATURE_NOT_SAVEABLE);
    d[0] = 0;
    g_assert_cmphex(admin_get_feature(h, 0x16, 0, 0).status, ==, 0);
    g_assert_cmpuint(d[0], ==, 1);
    g_assert_cmphex(admin_get_feature(h, 0x16, SEL_DEFAULT, 0).status, ==, 0);
    g_assert_cmpuint(d[0], ==, 0);
    cycle(h, false);
    g_assert_cmphex(admin_get_feature(h, 0x16, 0, 0).status, ==, 0);
    g_assert_cmpuint(d[0], ==, 0);
    host_free(h);
}

/* ---- Keep Alive ---------------------------------------------------------- */

#define S 1000000000ULL

static void test_keep_alive(void)
{
    Host *h = admin_host(NULL);
    const uint8_t *d = admin_data(h);

    admin_identify(h, 1);
    g_assert_cmpuint(get_le16(d + 320), ==, 10); /* KAS: a second */
    host_sleep(h, 1000 * S);                     /* off */
    g_assert_cmphex(set(h, 0x0f, true, 1000), ==, NVME_SC_FEATURE_NOT_SAVEABLE);
    g_assert_cmphex(set(h, 0x0f, false, UINT32_MAX), ==,
                    NVME_SC_KEEP_ALIVE_INVALID);
    g_assert_cmphex(set(h, 0x0f, false, 4001), ==, 0);
    g_assert_cmpuint(value(h, 0x0f, 0, 0), ==, 5000);
    for (unsigned i = 0; i < 10; i++) {
        host_sleep(h, 4 * S);
        g_assert_cmphex(admin_status(h, NVME_ADM_KEEP_ALIVE, 0, NULL, 0), ==,
                        0);
    }
    host_sleep(h, 4 * S);
    g_assert_cmphex(value(h, 0x0f, 0, 0), ==, 5000); /* no Keep Alive */
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
    host_sleep(h, 2 * S);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==,
                    NVME_CSTS_RDY | NVME_CSTS_CFS);
    host_write32(h, NVME_REG_CC, 0);
    host_enable(h);
    g_assert_cmpuint(value(h, 0x0f, 0, 0), ==, 0);
    g_assert_cmphex(admin_log(h, 0x01, 0, 64, 0), ==, 0);
    g_assert_cmphex(get_le16(d + 8), ==, 0xffff);
    g_assert_cmphex(get_le16(d + 12) >> 1, ==, NVME_SC_KEEP_ALIVE_EXPIRED);
    host_sleep(h, 100 * S);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
    /* It restarts where the controller goes. */
    g_assert_cmphex(set(h, 0x0f, false, 3000), ==, 0);
    host_sleep(h, 2 * S);
    h = moved(h);
    host_sleep(h, 2 * S);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
    host_sleep(h, 2 * S);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==,
                    NVME_CSTS_RDY | NVME_CSTS_CFS);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/features/saved", test_saved);
    g_test_add_func("/nvme/features/saved-heat", test_saved_heat);
    g_test_add_func("/nvme/features/host-behavior", test_host_behavior);
    g_test_add_func("/nvme/features/keep-alive", test_keep_alive);
    return g_test_run();
}
