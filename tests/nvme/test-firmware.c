/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-firmware.c - firmware images: pieces, slots, activation with and without
 * a reset, power cuts, and the status of everything that is wrong.
 */
#include "admin.h"
#include "nvme-firmware.h"

#define MS 1000000ULL

#define IMAGE 10240 /* bytes: two units and a half */

/* As zlib's crc32(). */
static uint32_t crc32_of(const uint8_t *p, size_t n)
{
    uint32_t crc = 0xffffffff;

    while (n--) {
        crc ^= *p++;
        for (unsigned k = 0; k < 8; k++) {
            crc = (crc >> 1) ^ (0xedb88320 & (0 - (crc & 1)));
        }
    }
    return ~crc;
}

static void make_image(uint8_t *image, const char *revision, uint32_t flags)
{
    VssdFirmwareHead head = {.magic = "VSSDFW0", .flags = flags};

    memcpy(head.magic, VSSD_FIRMWARE_MAGIC, 8);
    memset(head.revision, ' ', 8);
    memcpy(head.revision, revision, strlen(revision));
    for (unsigned i = 0; i < IMAGE; i++) {
        image[i] = (uint8_t)(i * 7 + revision[0]);
    }
    head.bytes = IMAGE;
    head.crc = crc32_of(image + sizeof(head), IMAGE - sizeof(head));
    memcpy(image, &head, sizeof(head));
}

static uint16_t piece(Host *h, const uint8_t *image, uint32_t at,
                      uint32_t bytes)
{
    memcpy(admin_data(h), image + at, bytes);
    return admin_status(h, NVME_ADM_FIRMWARE_DOWNLOAD, 0,
                        ADMIN_DW(bytes / 4 - 1, at / 4), bytes);
}

/* All pieces, the last one first. */
static void download(Host *h, const char *revision, uint32_t flags)
{
    uint8_t image[IMAGE];

    make_image(image, revision, flags);
    g_assert_cmphex(piece(h, image, 8192, 2048), ==, 0);
    g_assert_cmphex(piece(h, image, 0, 4096), ==, 0);
    g_assert_cmphex(piece(h, image, 4096, 4096), ==, 0);
}

static uint16_t commit(Host *h, unsigned action, unsigned slot)
{
    return admin_status(h, NVME_ADM_FIRMWARE_COMMIT, 0,
                        ADMIN_DW(action << 3 | slot), 0);
}

static void check(Host *h, uint8_t afi, const char *revision)
{
    admin_identify(h, 1);
    g_assert_cmpmem(admin_data(h) + 64, strlen(revision), revision,
                    strlen(revision));
    g_assert_cmphex(admin_log(h, 0x03, 0, 512, 0), ==, 0);
    g_assert_cmphex(admin_data(h)[0], ==, afi);
}

static void check_slot(Host *h, unsigned n, const char *revision)
{
    g_assert_cmphex(admin_log(h, 0x03, 0, 512, 0), ==, 0);
    g_assert_cmpmem(admin_data(h) + 8 * n, 8, revision, 8);
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

static void subsystem_reset(Host *h)
{
    host_write32(h, NVME_REG_NSSR, 0x12345678); /* not the value: nothing */
    g_assert_true(host_read32(h, NVME_REG_CSTS) & NVME_CSTS_RDY);
    host_write32(h, NVME_REG_NSSR, NVME_NSSR_VALUE);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_NSSRO);
    g_assert_cmphex(host_read32(h, NVME_REG_CC), ==, 0);
    g_assert_cmphex(host_read32(h, NVME_REG_AQA), ==, 0);
    nvme_reset(h->ctrl, h->now_ns); /* it stays until the host has seen it */
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_NSSRO);
    host_write32(h, NVME_REG_CSTS, NVME_CSTS_NSSRO);
    host_enable(h);
}

static void test_identify(void)
{
    Host *h = admin_host(NULL);
    const uint8_t *d = admin_data(h);

    check(h, 0x01, "1.0     ");
    check_slot(h, 1, "1.0     ");
    check_slot(h, 2, "\0\0\0\0\0\0\0\0");
    admin_identify(h, 1);
    g_assert_cmphex(d[260], ==, 3 << 1 | 1 | 1 << 4); /* FRMW */
    g_assert_cmpuint(d[319], ==, 1);                  /* FWUG */
    g_assert_cmpuint(get_le16(d + 270), ==, 0);       /* MTFA */
    g_assert_true(get_le16(d + 256) & 1 << 2);
    g_assert_true(get_le32(d + 92) & 1 << 9);
    g_assert_true(nvme_reg_read(h->ctrl, NVME_REG_CAP, 8) >> 36 & 1);
    host_free(h);
    h = admin_host(&(HostOptions){.firmware_slots = 7,
                                  .firmware_slot1_writable = true,
                                  .firmware_activation_ms = 1234});
    d = admin_data(h);
    admin_identify(h, 1);
    g_assert_cmphex(d[260], ==, 7 << 1 | 1 << 4);
    g_assert_cmpuint(get_le16(d + 270), ==, 13);
    host_free(h);
}

/* Actions 0 to 2: nothing runs before a reset, then the chosen slot does. */
static void test_reset(void)
{
    Host *h = admin_host(NULL);

    download(h, "2.0", 0);
    g_assert_cmphex(commit(h, 0, 2), ==, 0);
    check(h, 0x01, "1.0");
    check_slot(h, 2, "2.0     ");
    reset(h);
    check(h, 0x01, "1.0");
    g_assert_cmphex(commit(h, 2, 2), ==, 0);
    check(h, 0x21, "1.0");
    reset(h);
    check(h, 0x02, "2.0");
    download(h, "3.0", 0);
    g_assert_cmphex(commit(h, 1, 0), ==, 0); /* any: the third is free */
    check(h, 0x32, "2.0");
    check_slot(h, 3, "3.0     ");
    power_cycle(h);
    check(h, 0x03, "3.0");
    /* The slot whose image waits gets another one. */
    g_assert_cmphex(commit(h, 2, 1), ==, 0);
    check(h, 0x13, "3.0");
    reset(h);
    check(h, 0x01, "1.0");
    download(h, "4.0", 0);
    g_assert_cmphex(commit(h, 1, 2), ==, 0);
    download(h, "5.0", 0);
    g_assert_cmphex(commit(h, 0, 2), ==, 0);
    check(h, 0x01, "1.0");
    reset(h);
    check(h, 0x01, "1.0");
    host_free(h);
}

/* Base 2.1, 5.1.22: Sanitize waits for a pending activation, as its Commit
 * said; Exit Failure Mode, too. */
static void check_sanitize(Host *h, uint16_t code)
{
    for (uint32_t action = 1; action <= 4; action++) {
        g_assert_cmphex(
            admin_status(h, NVME_ADM_SANITIZE, 0, ADMIN_DW(action), 0), ==,
            code);
    }
}

/* Images that take a certain reset. */
static void test_kinds_of_reset(void)
{
    Host *h = admin_host(NULL);

    download(h, "C", VSSD_FIRMWARE_CONVENTIONAL_RESET);
    g_assert_cmphex(commit(h, 1, 2), ==, NVME_SC_FW_CONVENTIONAL_RESET);
    check_sanitize(h, NVME_SC_FW_CONVENTIONAL_RESET);
    reset(h);
    check(h, 0x21, "1.0");
    nvme_reset(h->ctrl, h->now_ns);
    host_enable(h);
    check(h, 0x02, "C");
    download(h, "S", VSSD_FIRMWARE_SUBSYSTEM_RESET);
    g_assert_cmphex(commit(h, 3, 3), ==, NVME_SC_FW_SUBSYSTEM_RESET);
    check_sanitize(h, NVME_SC_FW_SUBSYSTEM_RESET);
    nvme_reset(h->ctrl, h->now_ns);
    host_enable(h);
    check(h, 0x32, "C");
    subsystem_reset(h);
    check(h, 0x03, "S");
    g_assert_cmphex(commit(h, 2, 2), ==, NVME_SC_FW_CONVENTIONAL_RESET);
    power_cycle(h);
    check(h, 0x02, "C");
    download(h, "R", VSSD_FIRMWARE_RESET);
    g_assert_cmphex(commit(h, 3, 3), ==, NVME_SC_FW_RESET);
    check_sanitize(h, NVME_SC_FW_RESET);
    check(h, 0x32, "C");
    reset(h);
    check(h, 0x03, "R");
    download(h, "P", VSSD_FIRMWARE_PROHIBITED);
    g_assert_cmphex(commit(h, 3, 2), ==, NVME_SC_FW_PROHIBITED);
    check(h, 0x03, "R");
    host_free(h);
}

/* Without a reset: the host is told before, and the controller takes no command
 * for as long as the option says. */
static void test_now(void)
{
    for (unsigned ms = 0; ms <= 500; ms += 500) {
        Host *h = admin_host(&(HostOptions){.firmware_activation_ms = ms});
        NvmeSqe aer = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);
        NvmeSqe sqe = host_sqe(NVME_ADM_FIRMWARE_COMMIT, 0, 0);
        NvmeSqe late = host_sqe(NVME_ADM_KEEP_ALIVE, 0, 0);
        uint16_t cid = 0;
        uint64_t begin_ns;
        HostCqe cqe;

        g_assert_cmphex(admin_set_feature(h, 0x0b, false, 1 << 9, 0), ==, 0);
        cid = host_send(h, 0, &aer);
        host_run(h);
        download(h, "2.0", 0);
        begin_ns = h->now_ns;
        sqe.dw[10] = 3 << 3 | 2;
        sqe.dw[0] |= 0x777U << 16;
        host_send(h, 0, &sqe);
        cqe = host_wait(h, 0);
        g_assert_cmpuint(cqe.cid, ==, cid);
        g_assert_cmphex(cqe.dw0, ==, 0x00030102);
        host_run(h);
        if (ms) {
            g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==,
                            NVME_CSTS_RDY | NVME_CSTS_PP);
            late.dw[0] |= 0x888U << 16;
            host_send(h, 0, &late);
            host_sleep(h, (ms - 1) * MS);
            g_assert_false(host_poll(h, 0, &cqe));
        }
        cqe = host_wait(h, 0);
        g_assert_cmphex(cqe.cid, ==, 0x777);
        g_assert_cmphex(cqe.status, ==, 0);
        g_assert_cmpuint(h->now_ns - begin_ns, >=, ms * MS);
        g_assert_cmpuint(h->now_ns - begin_ns, <=, (ms + 5) * MS);
        g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
        if (ms) {
            g_assert_cmphex(host_wait(h, 0).cid, ==, 0x888);
        }
        check(h, 0x02, "2.0");
        /* The same of a slot that has an image; page 03h was read above. */
        cid = host_send(h, 0, &aer);
        host_run(h);
        sqe.dw[10] = 3 << 3 | 1;
        host_send(h, 0, &sqe);
        g_assert_cmphex(host_wait(h, 0).cid, ==, cid);
        g_assert_cmphex(host_wait(h, 0).cid, ==, 0x777);
        check(h, 0x01, "1.0");
        host_free(h);
    }
}

/* Resets, cuts and a move while it is being activated. */
static void test_activation_ends(void)
{
    for (unsigned i = 0; i < 4; i++) {
        HostOptions o = {.firmware_activation_ms = 1000};
        Host *h = admin_host(&o);
        NvmeSqe sqe = host_sqe(NVME_ADM_FIRMWARE_COMMIT, 0, 0);

        download(h, "2.0", 0);
        sqe.dw[10] = 3 << 3 | 2;
        host_send(h, 0, &sqe);
        host_run(h);
        g_assert_true(host_read32(h, NVME_REG_CSTS) & NVME_CSTS_PP);
        if (i == 0) {
            reset(h);
        } else if (i == 1) {
            power_cycle(h);
        } else if (i == 2) {
            subsystem_reset(h);
        } else {
            GByteArray *drive, *ctrl;
            GError *error = NULL;

            host_settle(h);
            host_save(h, &drive, &ctrl);
            h = host_reload(&o, h, drive, ctrl, &error);
            g_assert_no_error(error);
            nvme_hold(h->ctrl, false);
            g_byte_array_unref(drive);
            g_byte_array_unref(ctrl);
            g_assert_cmphex(host_wait(h, 0).status, ==, 0);
        }
        check(h, 0x02, "2.0");
        host_free(h);
    }
}

static void test_bad_pieces(void)
{
    Host *h = admin_host(NULL);
    uint8_t image[IMAGE];

    make_image(image, "2.0", 0);
    g_assert_cmphex(piece(h, image, 2048, 4096), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(piece(h, image, 0, 4096), ==, 0);
    g_assert_cmphex(piece(h, image, 0, 4096), ==, NVME_SC_OVERLAPPING_RANGE);
    g_assert_cmphex(piece(h, image, 0, 8192), ==, NVME_SC_OVERLAPPING_RANGE);
    g_assert_cmphex(piece(h, image, 8192, 2048), ==, 0);
    /* Only the last one is short: none comes behind it, none before it. */
    g_assert_cmphex(admin_status(h, NVME_ADM_FIRMWARE_DOWNLOAD, 0,
                                 ADMIN_DW(1023, 3 * 1024), 4096),
                    ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(piece(h, image, 4096, 2048), ==, NVME_SC_INVALID_FIELD);
    /* A gap. */
    g_assert_cmphex(commit(h, 0, 2), ==, NVME_SC_FW_IMAGE);
    check_slot(h, 2, "\0\0\0\0\0\0\0\0");
    /* That has dropped the pieces. */
    g_assert_cmphex(commit(h, 0, 2), ==, NVME_SC_FW_IMAGE);
    download(h, "2.0", 0);
    g_assert_cmphex(commit(h, 0, 2), ==, 0);
    /* Beyond the largest image, and more than MDTS. */
    g_assert_cmphex(admin_status(h, NVME_ADM_FIRMWARE_DOWNLOAD, 0,
                                 ADMIN_DW(1023, 1 << 18), 4096),
                    ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(admin_status(h, NVME_ADM_FIRMWARE_DOWNLOAD, 0,
                                 ADMIN_DW(0xffffffff, 0), 4096),
                    ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(admin_status(h, NVME_ADM_FIRMWARE_DOWNLOAD, 0,
                                 ADMIN_DW(1023, 0xfffffc00), 4096),
                    ==, NVME_SC_INVALID_FIELD);
    host_free(h);
}

static void test_bad_commits(void)
{
    Host *h = admin_host(NULL);

    for (unsigned action = 4; action < 8; action++) {
        g_assert_cmphex(commit(h, action, 2), ==, NVME_SC_INVALID_FIELD);
    }
    download(h, "2.0", 0);
    g_assert_cmphex(commit(h, 0, 1), ==, NVME_SC_FW_SLOT); /* read only */
    g_assert_cmphex(commit(h, 0, 4), ==, NVME_SC_FW_SLOT);
    g_assert_cmphex(commit(h, 0, 7), ==, NVME_SC_FW_SLOT);
    g_assert_cmphex(commit(h, 2, 0), ==, NVME_SC_FW_SLOT);
    g_assert_cmphex(commit(h, 2, 3), ==, NVME_SC_FW_IMAGE); /* empty */
    g_assert_cmphex(commit(h, 0, 3), ==, 0);                /* still there */
    g_assert_cmphex(commit(h, 3, 0), ==, NVME_SC_FW_SLOT);
    g_assert_cmphex(commit(h, 3, 2), ==, NVME_SC_FW_IMAGE);
    check(h, 0x01, "1.0");
    host_free(h);
}

/* Every field of the head counts, and every byte of the content. */
static void test_bad_images(void)
{
    Host *h = admin_host(NULL);
    static const unsigned at[] = {0,  7,  8,  15, 18,   19,
                                  20, 24, 27, 64, 5000, IMAGE - 1};

    for (unsigned i = 0; i < G_N_ELEMENTS(at); i++) {
        uint8_t image[IMAGE];

        make_image(image, "2.0", 0);
        image[at[i]] ^= 0x80;
        for (unsigned k = 0; k < IMAGE; k += 4096) {
            g_assert_cmphex(piece(h, image, k, MIN(4096, IMAGE - k)), ==, 0);
        }
        g_assert_cmphex(commit(h, 1, 2), ==, NVME_SC_FW_IMAGE);
        check(h, 0x01, "1.0");
    }
    host_free(h);
}

/* Power fails, or the controller moves, between pieces, and between download
 * and commit: slots keep their images. */
static void test_power(void)
{
    HostOptions o = {.firmware_slot1_writable = true};
    Host *h = admin_host(&o);
    GByteArray *drive, *ctrl;
    GError *error = NULL;
    uint8_t image[IMAGE];

    download(h, "2.0", 0);
    g_assert_cmphex(commit(h, 3, 1), ==, 0); /* in place of the one that runs */
    check(h, 0x01, "2.0");
    download(h, "3.0", 0);
    power_cycle(h);
    g_assert_cmphex(commit(h, 1, 2), ==, NVME_SC_FW_IMAGE);
    download(h, "3.0", 0);
    reset(h);
    g_assert_cmphex(commit(h, 1, 2), ==, NVME_SC_FW_IMAGE);
    check(h, 0x01, "2.0");
    make_image(image, "4.0", 0);
    g_assert_cmphex(piece(h, image, 0, 8192), ==, 0);
    host_settle(h);
    host_save(h, &drive, &ctrl);
    h = host_reload(&o, h, drive, ctrl, &error);
    g_assert_no_error(error);
    nvme_hold(h->ctrl, false);
    g_assert_cmphex(piece(h, image, 8192, 2048), ==, 0);
    g_assert_cmphex(commit(h, 1, 2), ==, 0);
    check(h, 0x21, "2.0");
    power_cycle(h);
    check(h, 0x02, "4.0");
    g_byte_array_unref(drive);
    g_byte_array_unref(ctrl);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/firmware/identify", test_identify);
    g_test_add_func("/nvme/firmware/reset", test_reset);
    g_test_add_func("/nvme/firmware/kinds-of-reset", test_kinds_of_reset);
    g_test_add_func("/nvme/firmware/now", test_now);
    g_test_add_func("/nvme/firmware/activation-ends", test_activation_ends);
    g_test_add_func("/nvme/firmware/bad-pieces", test_bad_pieces);
    g_test_add_func("/nvme/firmware/bad-commits", test_bad_commits);
    g_test_add_func("/nvme/firmware/bad-images", test_bad_images);
    g_test_add_func("/nvme/firmware/power", test_power);
    return g_test_run();
}
