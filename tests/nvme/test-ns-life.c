/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-ns-life.c - namespaces of a new drive by its option host.namespaces; a
 * power cut at each event of the drive while one is deleted or created.
 */
#include "erasing.h"
#include "ssd-setup.h"

/* ---- host.namespaces ----------------------------------------------------- */

/* NSZE; 0: there is no such namespace. */
static uint64_t blocks_of(Host *h, uint32_t nsid)
{
    NvmeIdNamespace id;
    uint16_t status =
        admin_status(h, NVME_ADM_IDENTIFY, nsid, ADMIN_DW(0x11), sizeof(id));

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
    Host *h =
        admin_host(&(HostOptions){.set = "host.namespaces=1M/2M:4096/rest"});

    g_assert_cmpuint(blocks_of(h, 1), ==, (1 << 20) / 512);
    g_assert_cmpuint(blocks_of(h, 2), ==, (2 << 20) / 4096);
    g_assert_cmpuint(blocks_of(h, 3), >, 0);
    g_assert_cmpuint(free_bytes(h), ==, 0);
    g_assert_cmphex(admin_status(h, NVME_ADM_NS_MANAGEMENT, 2, ADMIN_DW(1), 0),
                    ==, 0);
    g_assert_cmpuint(free_bytes(h), ==, 2 << 20);
    host_free(h);
    h = admin_host(&(HostOptions){.set = "host.namespaces=1m/1.5MiB/rest"});
    g_assert_cmpuint(blocks_of(h, 1), ==, (1 << 20) / 512);
    g_assert_cmpuint(blocks_of(h, 2), ==, (3 << 19) / 512);
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

/* ---- each instant -------------------------------------------------------- */

#define DRIVE "ftl.recovery=scan;ftl.op_percent=60"
#define SIZE  (1U << 20)

static void attach(Host *h, uint32_t nsid)
{
    memset(admin_data(h), 0, 4096);
    put_le16(admin_data(h), 1);
    put_le16(admin_data(h) + 2, 1);
    g_assert_cmphex(
        admin_status(h, NVME_ADM_NS_ATTACHMENT, nsid, ADMIN_DW(0), 4096), ==,
        0);
}

/* Of all that is free; at HOST_DATA. */
static NvmeSqe creation(Host *h)
{
    uint64_t n = free_bytes(h) / 512;
    NvmeSqe sqe = host_sqe(NVME_ADM_NS_MANAGEMENT, 0, HOST_DATA);

    memset(admin_data(h), 0, 4096);
    put_le64(admin_data(h), n);
    put_le64(admin_data(h) + 8, n);
    return sqe;
}

/* No word of it is a mark. */
static void is_clean(Host *h, uint32_t nsid)
{
    all_have(h, nsid, blocks_of(h, nsid), 512, 0);
}

/* A drive with data in two namespaces; Delete of the first was sent to it. */
static Host *deleting(void)
{
    Host *h = admin_host(
        &(HostOptions){.namespaces = "1M;rest", .set = DRIVE, .durable = true});
    NvmeSqe sqe = host_sqe(NVME_ADM_NS_MANAGEMENT, 1, 0);

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    write_marks(h, 1, SIZE, 512);
    write_marks(h, 2, SIZE, 512);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    sqe.dw[10] = 1;
    host_send(h, 0, &sqe);
    return h;
}

/* The first namespace, made again, has nothing of the old one; the second has
 * all that it had. */
static void check_and_free(Host *h)
{
    uint64_t word;

    attach(h, 1);
    is_clean(h, 1);
    g_assert_cmphex(read_word(h, 2, 0, 512, &word), ==, 0);
    g_assert_cmphex(word, ==, MARK);
    check_drive(h);
    host_free(h);
}

/* Namespace 1 is full of marks, and the power goes so many events after its
 * Delete began: it is whole, or gone.  Then another one takes its place.
 * true: the Delete had ended. */
static bool cut_in_delete(unsigned events)
{
    Host *h = deleting();
    NvmeSqe sqe;
    bool ended, gone;
    uint64_t word;
    HostCqe cqe;

    reach(h, (Instant){.events = events});
    ended = host_poll(h, 0, &cqe);
    g_assert_true(!ended || cqe.status == 0);
    power_cycle(h);
    gone = !blocks_of(h, 1);
    if (!gone) { /* the command was not taken */
        g_assert_cmpuint(events, ==, 0);
        g_assert_cmphex(read_word(h, 1, SIZE / 512 - 1, 512, &word), ==, 0);
        g_assert_cmphex(word, ==, MARK);
        g_assert_cmphex(
            admin_status(h, NVME_ADM_NS_MANAGEMENT, 1, ADMIN_DW(1), 0), ==, 0);
    }
    g_assert_cmpuint(free_bytes(h), ==, SIZE);
    sqe = creation(h);
    cqe = host_do(h, 0, &sqe);
    g_assert_cmphex(cqe.status, ==, 0);
    g_assert_cmpuint(cqe.dw0, ==, 1);
    check_and_free(h);
    return ended;
}

static void test_delete(void)
{
    unsigned n = 0;

    while (!cut_in_delete(n)) {
        g_assert_cmpuint(++n, <, 10000);
    }
    g_test_message("%u instants", n);
    g_assert_cmpuint(n, >, 0);
}

/* A cut in a Delete has left dirty granules; the power goes again so many
 * events after a Create began, which trims them: the namespace is there and
 * clean, or not.  true: the Create had ended. */
static bool cut_in_create(unsigned events)
{
    Host *h = deleting();
    NvmeSqe sqe;
    HostCqe cqe;
    bool ended;

    nvme_run(h->ctrl, h->now_ns); /* it is taken, and gets no further */
    power_cycle(h);
    sqe = creation(h);
    host_send(h, 0, &sqe);
    reach(h, (Instant){.events = events});
    ended = host_poll(h, 0, &cqe);
    g_assert_true(!ended || (cqe.status == 0 && cqe.dw0 == 1));
    power_cycle(h);
    if (!blocks_of(h, 1)) {
        g_assert_false(ended);
        g_assert_cmpuint(free_bytes(h), ==, SIZE);
        sqe = creation(h);
        g_assert_cmpuint(host_do(h, 0, &sqe).dw0, ==, 1);
    }
    check_and_free(h);
    return ended;
}

static void test_create(void)
{
    unsigned n = 0;

    while (!cut_in_create(n)) {
        g_assert_cmpuint(++n, <, 10000);
    }
    g_test_message("%u instants", n);
    g_assert_cmpuint(n, >, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/ns-life/option", test_option);
    g_test_add_func("/nvme/ns-life/delete", test_delete);
    g_test_add_func("/nvme/ns-life/create", test_create);
    return g_test_run();
}
