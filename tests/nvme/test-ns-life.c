/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-ns-life.c - namespaces of a new drive by its option host.namespaces.
 */
#include "erasing.h"
#include "ssd-setup.h"

/* ---- host.namespaces ----------------------------------------------------- */

/* NSZE; 0: there is no such namespace. */
static uint64_t blocks_of(Host *h, uint32_t nsid)
{
    NvmeIdNamespace id;
    uint16_t status = admin_status(h, NVME_ADM_IDENTIFY, nsid, ADMIN_DW(0x11),
                                   sizeof(id));

    g_assert_cmphex(status, ==, 0);
    memcpy(&id, admin_data(h), sizeof(id));
    return nvme_le64(id.nsze);
}

static uint64_t free_bytes(Host *h)
{
    admin_identify(h, 1);
    return get_le64(admin_data(h) + 296); /* UNVMCAP */
}

static void no_pin(void *opaque, bool level)
{
}

static bool no_msix(void *opaque)
{
    return false;
}

static void check_refused(const char *text)
{
    static const NvmeMachine machine = {.pin = no_pin, .msix_enabled = no_msix};
    static const NvmeStore store;
    SsdConfig *cfg = ssd_config_new();
    g_autofree char *set = g_strconcat("host.namespaces=", text, NULL);
    g_autofree char *start_of = g_strconcat(set, ": ", NULL);
    NvmeCtrl *ctrl = nvme_new(&machine, &store, NULL);
    NvmeConfig own = {
        .serial = "S",
        .model = "M",
        .firmware = "F",
        .n_queues = 1,
        .n_vectors = 1,
        .queue_size = 2,
        .mdts = 1,
        .backlog = NVME_BACKLOG,
        .kv_cache = NVME_KV_CACHE,
        .firmware_slots = 1,
    };
    GError *error = NULL;
    Ssd *ssd;

    ssd_config_set(cfg, set, &error);
    g_assert_no_error(error);
    ssd = ssd_create(cfg, nvme_host_ops(), ctrl, &error);
    g_assert_no_error(error);
    own.nblocks = ssd_info(ssd)->nblocks;
    g_assert_false(nvme_attach(ctrl, ssd, &own, &error));
    g_assert_true(g_str_has_prefix(error->message, start_of));
    g_assert_null(strchr(error->message, '\n'));
    g_error_free(error);
    nvme_free(ctrl);
    ssd_destroy(ssd);
    ssd_config_free(cfg);
}

/* A profile's option: where the property says nothing else, on a new drive. */
static void test_option(void)
{
    static const char *const bad[] = {"257", "x", "1M/x", "99999T"};
    Host *h = admin_host(
        &(HostOptions){.set = "host.namespaces=1M/2M:4096/rest"});

    g_assert_cmpuint(blocks_of(h, 1), ==, (1 << 20) / 512);
    g_assert_cmpuint(blocks_of(h, 2), ==, (2 << 20) / 4096);
    g_assert_cmpuint(blocks_of(h, 3), >, 0);
    g_assert_cmpuint(free_bytes(h), ==, 0);
    g_assert_cmphex(admin_status(h, NVME_ADM_NS_MANAGEMENT, 2, ADMIN_DW(1), 0),
                    ==, 0);
    g_assert_cmpuint(free_bytes(h), ==, 2 << 20);
    host_free(h);
    h = admin_host(
        &(HostOptions){.set = "host.namespaces=3", .namespaces = "2"});
    g_assert_cmpuint(blocks_of(h, 2), >, 0);
    g_assert_cmpuint(blocks_of(h, 3), ==, 0);
    host_free(h);
    h = admin_host(&(HostOptions){.set = "host.namespaces="}); /* none */
    g_assert_cmphex(admin_status(h, NVME_ADM_NS_MANAGEMENT, 1, ADMIN_DW(1), 0),
                    ==, NVME_SC_INVALID_OPCODE);
    host_free(h);
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        check_refused(bad[i]);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/ns-life/option", test_option);
    return g_test_run();
}
