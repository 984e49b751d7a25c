/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-kept.c - what the controller keeps without power, beside a saved drive:
 * saved features, firmware slots, marks of Write Uncorrectable, namespaces.
 */
#include "admin.h"
#include "nvme-firmware.h"

#define IMAGE 4096

static Host *ready(const HostOptions *o)
{
    Host *h = admin_host(o);

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    return h;
}

static void save(Host *h, char **bytes, size_t *n)
{
    GError *error = NULL;
    FILE *f = open_memstream(bytes, n);

    g_assert_true(nvme_save_kept(h->ctrl, f, &error));
    g_assert_no_error(error);
    fclose(f);
}

static bool load(Host *h, char *bytes, size_t n, bool *namespaces,
                 GError **error)
{
    FILE *f = n ? fmemopen(bytes, n, "rb") : fopen("/dev/null", "rb");
    bool ok = nvme_load_kept(h->ctrl, f, namespaces, error);

    fclose(f);
    return ok;
}

static uint32_t crc32_of(const uint8_t *p, size_t n)
{
    uint32_t crc = ~0U;

    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (unsigned k = 0; k < 8; k++) {
            crc = (crc >> 1) ^ (0xedb88320 & (0 - (crc & 1)));
        }
    }
    return ~crc;
}

/* In slot 2. */
static void put_firmware(Host *h)
{
    VssdFirmwareHead head = {.bytes = IMAGE};
    uint8_t *image = admin_data(h);

    memset(image, 5, IMAGE);
    memcpy(head.magic, VSSD_FIRMWARE_MAGIC, 8);
    memcpy(head.revision, "kept2.0 ", 8);
    head.crc = crc32_of(image + sizeof(head), IMAGE - sizeof(head));
    memcpy(image, &head, sizeof(head));
    g_assert_cmphex(admin_status(h, NVME_ADM_FIRMWARE_DOWNLOAD, 0,
                                 ADMIN_DW(IMAGE / 4 - 1, 0), IMAGE),
                    ==, 0);
    g_assert_cmphex(
        admin_status(h, NVME_ADM_FIRMWARE_COMMIT, 0, ADMIN_DW(2), 0), ==,
        0); /* keep it, do not activate it */
}

static void change(Host *h)
{
    g_assert_cmphex(admin_set_feature(h, 0x08, true, 0x0203, 0), ==, 0);
    put_firmware(h);
    g_assert_cmphex(
        admin_status(h, NVME_ADM_FIRMWARE_COMMIT, 0, ADMIN_DW(2 << 3 | 2), 0),
        ==, 0);
    g_assert_cmphex(host_io(h, 1, NVME_IO_WRITE_UNCORRECTABLE, 8, 8, HOST_DATA),
                    ==, 0);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
}

static void check(Host *h)
{
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    g_assert_cmphex(admin_get_feature(h, 0x08, 0, 0).dw0, ==, 0x0203);
    g_assert_cmphex(admin_get_feature(h, 0x08, 2, 0).dw0, ==, 0x0203);
    admin_identify(h, 1);
    g_assert_cmpmem(admin_data(h) + 64, 8, "kept2.0 ", 8);
    g_assert_cmphex(host_code(host_io(h, 1, NVME_IO_READ, 15, 1, HOST_DATA)),
                    ==, NVME_SC_UNRECOVERED_READ);
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 16, 1, HOST_DATA), ==, 0);
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 7, 1, HOST_DATA), ==, 0);
}

static void test_round_trip(void)
{
    Host *h = ready(NULL);
    GError *error = NULL;
    char *bytes = NULL;
    uint8_t *disk;
    bool namespaces;
    size_t n = 0;

    g_assert_false(nvme_has_kept(h->ctrl));
    change(h);
    g_assert_true(nvme_has_kept(h->ctrl));
    save(h, &bytes, &n);
    disk = g_malloc0(h->disk_bytes);
    memset(disk, 1, 16 * 512); /* the drive holds data there */
    host_free(h);
    h = host_new(&(HostOptions){.disk = disk});
    g_assert_true(load(h, bytes, n, &namespaces, &error));
    g_assert_false(namespaces);
    check(h);
    host_free(h);
    free(bytes);
}

/* Behind the namespaces; each of the three alone. */
static void test_parts(void)
{
    for (unsigned i = 0; i < 4; i++) {
        HostOptions o = {.namespaces = i == 3 ? "2" : NULL};
        Host *h = ready(&o);
        GError *error = NULL;
        char *bytes = NULL;
        bool namespaces;
        size_t n = 0;

        g_assert_true(nvme_has_kept(h->ctrl) == (i == 3));
        switch (i) {
        case 0:
            g_assert_cmphex(admin_set_feature(h, 0x08, true, 0x0203, 0), ==, 0);
            break;
        case 1:
            put_firmware(h);
            break;
        default:
            g_assert_cmphex(
                host_io(h, 1, NVME_IO_WRITE_UNCORRECTABLE, 8, 8, HOST_DATA), ==,
                0);
            g_assert_cmphex(host_flush(h, 1), ==, 0);
        }
        g_assert_true(nvme_has_kept(h->ctrl));
        save(h, &bytes, &n);
        host_free(h);
        h = host_new(&o);
        g_assert_true(load(h, bytes, n, &namespaces, &error));
        g_assert_true(namespaces == (i == 3));
        g_assert_true(nvme_has_kept(h->ctrl));
        host_free(h);
        free(bytes);
    }
}

/* The signatures of before version 1.0, at the beginning and behind a part. */
static void test_early(void)
{
    static const char *const early[] = {"VSSDNS\0\0", "VSSDKEPT",  "VSSDFDP\0",
                                        "VSSDERA\0",  "VSSDRSV\0", "VSSDVIR\0"};

    for (size_t i = 0; i < G_N_ELEMENTS(early); i++) {
        Host *h = ready(NULL);
        g_autoptr(GError) error = NULL;
        char *bytes = NULL;
        bool namespaces;
        size_t n = 0;

        change(h);
        save(h, &bytes, &n);
        host_free(h);
        bytes = g_realloc(bytes, n + 8);
        memcpy(bytes + (i % 2 ? 0 : n), early[i], 8);
        h = host_new(NULL);
        g_assert_false(load(h, bytes, n + 8, &namespaces, &error));
        g_assert_cmpstr(error->message, ==,
                        "it is of a version of vssd before 1.0: make it again");
        host_free(h);
        free(bytes);
    }
}

/* Nothing; other bytes; each bit that is turned; a cut; fewer slots. */
static void test_damaged(void)
{
    Host *h = ready(NULL);
    GError *error = NULL;
    char *bytes = NULL;
    bool namespaces;
    size_t n = 0;

    g_assert_true(load(h, NULL, 0, &namespaces, &error));
    change(h);
    save(h, &bytes, &n);
    host_free(h);
    for (size_t i = 0; i < n; i += 1 + i / 8) {
        h = host_new(NULL);
        bytes[i] ^= 0x10;
        g_assert_false(load(h, bytes, n, &namespaces, &error));
        g_assert_nonnull(error);
        g_clear_error(&error);
        bytes[i] ^= 0x10;
        if (i) {
            g_assert_false(load(h, bytes, i, &namespaces, &error));
            g_clear_error(&error);
        }
        host_free(h);
    }
    h = host_new(&(HostOptions){.firmware_slots = 1});
    g_assert_false(load(h, bytes, n, &namespaces, &error));
    g_assert_nonnull(strstr(error->message, "firmware slots"));
    g_clear_error(&error);
    host_free(h);
    free(bytes);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/kept/round-trip", test_round_trip);
    g_test_add_func("/nvme/kept/parts", test_parts);
    g_test_add_func("/nvme/kept/early", test_early);
    g_test_add_func("/nvme/kept/damaged", test_damaged);
    return g_test_run();
}
