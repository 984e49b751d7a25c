/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-virtualization.c - Virtualization Management: the actions and their
 * errors, the sums of resources, queues and vectors by resources, Identify.
 */
#include "kept.h"
#include "secondaries.h"

/* ---- Identify ----------------------------------------------------------- */

static void test_capabilities(void)
{
    Host *s[3];
    Host *h = family(s);
    NvmeIdPrimary id = capabilities(h);

    g_assert_cmpuint(id.cntlid, ==, PRIMARY);
    g_assert_cmphex(id.crt, ==, 3);
    g_assert_cmpuint(id.vq.total, ==, 10);
    g_assert_cmpuint(id.vq.assigned, ==, 0);
    g_assert_cmpuint(id.vq.primary, ==, 0);
    g_assert_cmpuint(id.vq.private, ==, 5);
    g_assert_cmpuint(id.vq.most, ==, 5);
    g_assert_cmpuint(id.vq.granularity, ==, 1);
    g_assert_cmpuint(id.vi.total, ==, 9);
    g_assert_cmpuint(id.vi.private, ==, 5);
    g_assert_cmpuint(id.vi.most, ==, 4);
    must(h, ASSIGN, FIRST + 1, VQ, 3);
    must(h, ASSIGN, FIRST + 1, VI, 2);
    must(h, ASSIGN, FIRST + 2, VQ, 1);
    id = capabilities(h);
    g_assert_cmpuint(id.vq.assigned, ==, 4);
    g_assert_cmpuint(id.vi.assigned, ==, 2);
    end(h, s);
}

static void test_list(void)
{
    Host *s[3];
    Host *h = family(s);
    NvmeSecondaryList list = list_of(h, 0);

    g_assert_cmpuint(list.n, ==, 3);
    for (unsigned i = 0; i < 3; i++) {
        g_assert_cmpuint(list.entry[i].scid, ==, FIRST + i);
        g_assert_cmpuint(list.entry[i].pcid, ==, PRIMARY);
        g_assert_cmpuint(list.entry[i].scs, ==, 0);
        g_assert_cmpuint(list.entry[i].vfn, ==, i + 1);
        g_assert_cmpuint(list.entry[i].nvq, ==, 0);
    }
    g_assert_cmpuint(list.entry[3].scid, ==, 0);
    bring_online(h, FIRST + 1, 4, 2);
    list = list_of(h, FIRST + 1);
    g_assert_cmpuint(list.n, ==, 2);
    g_assert_cmpuint(list.entry[0].scid, ==, FIRST + 1);
    g_assert_cmpuint(list.entry[0].scs, ==, 1);
    g_assert_cmpuint(list.entry[0].nvq, ==, 4);
    g_assert_cmpuint(list.entry[0].nvi, ==, 2);
    g_assert_cmpuint(list_of(h, FIRST + 3).n, ==, 0);
    g_assert_cmpuint(list_of(h, 0xffff).n, ==, 0);
    end(h, s);
}

/* In the order of identifiers, whatever that of the functions is. */
static void test_list_order(void)
{
    static const uint16_t id[] = {30, 7, 20};
    Host *h = start(&options);
    Host *s[3];
    NvmeSecondaryList list;

    for (uint16_t i = 0; i < 3; i++) {
        s[i] = host_add_secondary(h, id[i], i + 1, NULL);
        g_assert_nonnull(s[i]);
    }
    list = list_of(h, 0);
    g_assert_cmpuint(list.n, ==, 3);
    g_assert_cmpuint(list.entry[0].scid, ==, 7);
    g_assert_cmpuint(list.entry[0].vfn, ==, 2);
    g_assert_cmpuint(list.entry[1].scid, ==, 20);
    g_assert_cmpuint(list.entry[2].scid, ==, 30);
    g_assert_cmpuint(list.entry[2].vfn, ==, 1);
    end(h, s);
}

static void assert_offers(Host *h, bool primary, bool secondary)
{
    uint32_t effects;

    admin_identify(h, 1);
    g_assert_cmphex(get_le16(admin_data(h) + 256) >> 7 & 1, ==, primary);
    g_assert_cmphex(admin_data(h)[76] >> 2 & 1, ==, secondary);
    g_assert_cmphex(admin_log(h, 5, 0, 1024, 0), ==, 0);
    effects = get_le32(admin_data(h) + 4 * NVME_ADM_VIRTUALIZATION);
    g_assert_cmphex(effects, ==, primary ? 1 | 1U << 25 : 0);
    for (uint8_t cns = 0x14; cns <= 0x15; cns++) {
        g_assert_cmphex(
            admin_status(h, NVME_ADM_IDENTIFY, 0, ADMIN_DW(cns), 4096), ==,
            primary ? 0 : NVME_SC_INVALID_FIELD);
    }
    if (!primary) {
        g_assert_cmphex(status_of(h, OFFLINE, FIRST, 0, 0), ==,
                        NVME_SC_INVALID_OPCODE);
    }
}

static void test_offered(void)
{
    Host *s[3];
    Host *h = start(NULL);

    assert_offers(h, false, false);
    host_free(h);
    h = family(s);
    assert_offers(h, true, false);
    admin_identify(h, 1);
    g_assert_cmphex(admin_data(h)[76], ==, 2); /* CMIC */
    bring_online(h, FIRST, 2, 1);
    enable(s[0]);
    assert_offers(s[0], false, true);
    end(h, s);
}

/* ---- options ------------------------------------------------------------ */

static void test_options(void)
{
    static const struct {
        HostOptions o;
        const char *why;
    } bad[] = {
        {{.secondaries = 32}, "sriov_vfs=32: allowed 0..31"},
        {{.secondaries = 31, .controllers = 2}, "sriov_vfs=31: allowed 0..30"},
        {{.vq_flexible = 4}, "sriov_vq_flexible=4: needs sriov_vfs"},
        {{.vi_per_secondary = 4}, "sriov_vi_per_vf=4: needs sriov_vfs"},
        {{.secondaries = 1, .vq_per_secondary = 1},
         "sriov_vq_per_vf=1: allowed 2..65"},
        {{.secondaries = 1, .vq_per_secondary = 66},
         "sriov_vq_per_vf=66: allowed 2..65"},
        {{.secondaries = 1, .vi_per_secondary = 66},
         "sriov_vi_per_vf=66: allowed 1..65"},
        {{.secondaries = 1, .vq_flexible = 1},
         "sriov_vq_flexible=1: allowed 2..2015"},
        {{.secondaries = 1, .vi_flexible = 2016},
         "sriov_vi_flexible=2016: allowed 1..2015"},
        {{.secondaries = 2, .vq_flexible = 4, .vq_per_secondary = 5},
         "sriov_vq_per_vf=5: more than sriov_vq_flexible=4"},
    };
    GError *error = NULL;

    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_assert_false(host_try(&bad[i].o, &error));
        g_assert_cmpstr(error->message, ==, bad[i].why);
        g_clear_error(&error);
    }
}

/* By default each secondary may have as much as the primary has. */
static void test_defaults(void)
{
    Host *h = start(&(HostOptions){.n_queues = 4, .secondaries = 2});
    NvmeIdPrimary id = capabilities(h);

    g_assert_cmpuint(id.vq.total, ==, 10);
    g_assert_cmpuint(id.vq.most, ==, 5);
    g_assert_cmpuint(id.vi.total, ==, 130);
    g_assert_cmpuint(id.vi.most, ==, 65);
    g_assert_cmpuint(list_of(h, 0).n, ==, 0); /* none was added */
    host_free(h);
    h = start(
        &(HostOptions){.secondaries = 1, .vq_flexible = 3, .vi_flexible = 2});
    id = capabilities(h);
    g_assert_cmpuint(id.vq.most, ==, 3);
    g_assert_cmpuint(id.vi.most, ==, 2);
    host_free(h);
}

static void test_places(void)
{
    Host *s[3];
    Host *h = family(s);
    GError *error = NULL;
    Host *other;

    g_assert_null(host_add(h, 50, &error));
    g_assert_cmpstr(error->message, ==,
                    "controller 50: the drive has controllers=1, and no place "
                    "is free");
    g_clear_error(&error);
    host_free(s[1]);
    g_assert_cmpuint(list_of(h, 0).n, ==, 2);
    g_assert_null(host_add_secondary(h, FIRST, 2, &error));
    g_assert_cmpstr(error->message, ==,
                    "controller 10: the drive has one of that number");
    g_clear_error(&error);
    s[1] = add(h, 2);
    end(h, s);
    /* One that is no secondary is no primary either. */
    h = start(&(HostOptions){.secondaries = 1, .controllers = 2});
    other = host_add(h, 50, NULL);
    g_assert_nonnull(other);
    host_enable(other);
    assert_offers(other, false, false);
    g_assert_cmphex(status_of(h, ONLINE, 50, 0, 0), ==, NVME_SC_CONTROLLER_ID);
    host_free(other);
    host_free(h);
}

/* ---- the command -------------------------------------------------------- */

static void test_bad_fields(void)
{
    Host *s[3];
    Host *h = family(s);

    for (unsigned act = 0; act < 16; act++) {
        if (act == ALLOCATE || act == OFFLINE || act == ASSIGN ||
            act == ONLINE) {
            continue;
        }
        g_assert_cmphex(status_of(h, act, FIRST, 0, 0), ==,
                        NVME_SC_INVALID_FIELD);
    }
    g_assert_cmphex(status_of(h, ALLOCATE, FIRST, VQ, 0), ==,
                    NVME_SC_CONTROLLER_ID);
    g_assert_cmphex(status_of(h, OFFLINE, PRIMARY, 0, 0), ==,
                    NVME_SC_CONTROLLER_ID);
    g_assert_cmphex(status_of(h, ONLINE, PRIMARY, 0, 0), ==,
                    NVME_SC_CONTROLLER_ID);
    g_assert_cmphex(status_of(h, ASSIGN, PRIMARY, VQ, 2), ==,
                    NVME_SC_CONTROLLER_ID);
    g_assert_cmphex(status_of(h, ASSIGN, FIRST + 3, VQ, 2), ==,
                    NVME_SC_CONTROLLER_ID);
    g_assert_cmphex(status_of(h, ONLINE, 0xffff, 0, 0), ==,
                    NVME_SC_CONTROLLER_ID);
    for (unsigned type = 2; type < 8; type++) {
        g_assert_cmphex(status_of(h, ALLOCATE, PRIMARY, type, 1), ==,
                        NVME_SC_RESOURCE_ID);
        g_assert_cmphex(status_of(h, ASSIGN, FIRST, type, 1), ==,
                        NVME_SC_RESOURCE_ID);
        must(h, OFFLINE, FIRST, type, 0); /* of no resource */
    }
    end(h, s);
}

static void test_assign(void)
{
    Host *s[3];
    Host *h = family(s);

    g_assert_cmphex(status_of(h, ASSIGN, FIRST, VQ, 6), ==,
                    NVME_SC_RESOURCE_COUNT);
    g_assert_cmphex(status_of(h, ASSIGN, FIRST, VI, 5), ==,
                    NVME_SC_RESOURCE_COUNT);
    g_assert_cmphex(status_of(h, ASSIGN, FIRST, VQ, 0xffff), ==,
                    NVME_SC_RESOURCE_COUNT);
    must(h, ASSIGN, FIRST, VQ, 5);
    must(h, ASSIGN, FIRST + 1, VQ, 4);
    g_assert_cmphex(status_of(h, ASSIGN, FIRST + 2, VQ, 2), ==,
                    NVME_SC_RESOURCE_ID);
    must(h, ASSIGN, FIRST + 2, VQ, 1);
    /* Its own count as free; nothing may be taken from others. */
    g_assert_cmphex(status_of(h, ASSIGN, FIRST + 1, VQ, 5), ==,
                    NVME_SC_RESOURCE_ID);
    must(h, ASSIGN, FIRST, VQ, 3);
    must(h, ASSIGN, FIRST + 1, VQ, 5);
    must(h, ASSIGN, FIRST + 1, VQ, 5);
    must(h, ASSIGN, FIRST, VQ, 0);
    g_assert_cmpuint(capabilities(h).vq.assigned, ==, 6);
    g_assert_cmpuint(capabilities(h).vi.assigned, ==, 0);
    end(h, s);
}

static void test_online_needs(void)
{
    Host *s[3];
    Host *h = family(s);

    g_assert_cmphex(status_of(h, ONLINE, FIRST, 0, 0), ==,
                    NVME_SC_SECONDARY_STATE);
    must(h, ASSIGN, FIRST, VQ, 2);
    g_assert_cmphex(status_of(h, ONLINE, FIRST, 0, 0), ==,
                    NVME_SC_SECONDARY_STATE);
    must(h, ASSIGN, FIRST, VI, 1);
    must(h, ASSIGN, FIRST, VQ, 1);
    g_assert_cmphex(status_of(h, ONLINE, FIRST, 0, 0), ==,
                    NVME_SC_SECONDARY_STATE);
    must(h, ASSIGN, FIRST, VQ, 2);
    must(h, ONLINE, FIRST, 0, 0);
    must(h, ONLINE, FIRST, 0, 0); /* again is no error */
    g_assert_cmphex(status_of(h, ASSIGN, FIRST, VQ, 3), ==,
                    NVME_SC_SECONDARY_STATE);
    g_assert_cmphex(status_of(h, ASSIGN, FIRST, VI, 0), ==,
                    NVME_SC_SECONDARY_STATE);
    must(h, OFFLINE, FIRST, 0, 0);
    must(h, OFFLINE, FIRST, 0, 0);
    g_assert_cmpuint(capabilities(h).vq.assigned, ==, 0);
    /* Offline takes the resources of one that is Offline, too. */
    must(h, ASSIGN, FIRST, VQ, 2);
    must(h, OFFLINE, FIRST, 0, 0);
    g_assert_cmpuint(capabilities(h).vq.assigned, ==, 0);
    end(h, s);
}

/* Of thousands of commands: what each controller has, beside a model. */
static void test_sums(void)
{
    Host *s[3];
    Host *h = family(s);
    static const unsigned total[2] = {10, 9}, most[2] = {5, 4};
    unsigned has[3][2] = {0}, primary[2] = {0}, wanted[2] = {0};
    bool online[3] = {0};

    for (unsigned k = 0; k < 4000; k++) {
        unsigned act = (unsigned)prng_below(&h->prng, 16);
        unsigned i = (unsigned)prng_below(&h->prng, 3);
        unsigned type = (unsigned)prng_below(&h->prng, 2);
        unsigned n = (unsigned)prng_below(&h->prng, 12);
        unsigned sum = primary[type];
        NvmeSecondaryList list;
        NvmeIdPrimary id;
        uint16_t status = 0;

        for (unsigned c = 0; c < 3; c++) {
            sum += has[c][type];
        }
        if (act < 8) {
            status = online[i]        ? NVME_SC_SECONDARY_STATE
                     : n > most[type] ? NVME_SC_RESOURCE_COUNT
                     : sum - has[i][type] + n > total[type]
                         ? NVME_SC_RESOURCE_ID
                         : 0;
            g_assert_cmphex(status_of(h, ASSIGN, FIRST + i, type, n), ==,
                            status);
            has[i][type] = status ? has[i][type] : n;
        } else if (act < 11) {
            bool ready = online[i] || (has[i][VQ] >= 2 && has[i][VI] >= 1);

            g_assert_cmphex(status_of(h, ONLINE, FIRST + i, 0, 0), ==,
                            ready ? 0 : NVME_SC_SECONDARY_STATE);
            online[i] |= ready;
        } else if (act < 13) {
            must(h, OFFLINE, FIRST + i, 0, 0);
            memset(has[i], 0, sizeof(has[i]));
            online[i] = false;
        } else if (act < 15) {
            status = n > total[type] ? NVME_SC_RESOURCE_COUNT
                     : sum - primary[type] + n > total[type]
                         ? NVME_SC_RESOURCE_ID
                         : 0;
            g_assert_cmphex(status_of(h, ALLOCATE, PRIMARY, type, n), ==,
                            status);
            wanted[type] = status ? wanted[type] : n;
        } else if (prng_below(&h->prng, 8) == 0) {
            nvme_reset(h->ctrl, h->now_ns);
            enable(h);
            memset(has, 0, sizeof(has));
            memset(online, 0, sizeof(online));
            memcpy(primary, wanted, sizeof(primary));
        }
        id = capabilities(h);
        g_assert_cmpuint(id.vq.primary, ==, primary[VQ]);
        g_assert_cmpuint(id.vi.primary, ==, primary[VI]);
        g_assert_cmpuint(id.vq.assigned, ==,
                         has[0][VQ] + has[1][VQ] + has[2][VQ]);
        g_assert_cmpuint(id.vi.assigned, ==,
                         has[0][VI] + has[1][VI] + has[2][VI]);
        list = list_of(h, 0);
        for (unsigned c = 0; c < 3; c++) {
            g_assert_cmpuint(list.entry[c].nvq, ==, has[c][VQ]);
            g_assert_cmpuint(list.entry[c].nvi, ==, has[c][VI]);
            g_assert_cmpuint(list.entry[c].scs, ==, online[c]);
            g_assert_true(is_offline(s[c]) == !online[c]);
        }
    }
    end(h, s);
}

/* ---- queues and vectors ------------------------------------------------- */

static uint16_t create_cq(Host *h, unsigned id, unsigned vector)
{
    return admin_status(h, NVME_ADM_CREATE_CQ, 0,
                        ADMIN_DW(63 << 16 | id, vector << 16 | 3), 4096);
}

static void assert_limits(Host *h, unsigned queues, unsigned vectors)
{
    g_assert_cmphex(admin_get_feature(h, 7, 0, 0).dw0, ==,
                    (queues - 1) * 0x10001);
    g_assert_cmpuint(nvme_vectors(h->ctrl), ==, vectors);
    for (unsigned q = 1; q <= queues; q++) {
        g_assert_cmphex(host_create_queues(h, q, 1, 64), ==, 0);
    }
    g_assert_cmphex(admin_status(h, NVME_ADM_CREATE_SQ, 0,
                                 ADMIN_DW(63 << 16 | (queues + 1), 1 << 16 | 1),
                                 4096),
                    ==, NVME_SC_QID_INVALID);
    g_assert_cmphex(create_cq(h, queues + 1, 0), ==, NVME_SC_QID_INVALID);
    g_assert_cmphex(create_cq(h, 2, vectors), ==, NVME_SC_INTERRUPT_VECTOR);
    g_assert_cmphex(create_cq(h, 2, vectors - 1), ==, 0);
    g_assert_cmphex(
        admin_status(h, NVME_ADM_GET_FEATURES, 0, ADMIN_DW(9, vectors), 0), ==,
        NVME_SC_INVALID_FIELD);
    g_assert_cmphex(
        admin_status(h, NVME_ADM_GET_FEATURES, 0, ADMIN_DW(9, vectors - 1), 0),
        ==, 0);
}

static void test_limits(void)
{
    Host *s[3];
    Host *h = family(s);

    g_assert_cmpuint(nvme_vectors(s[0]->ctrl), ==, 1);
    bring_online(h, FIRST, 4, 2);
    enable(s[0]);
    assert_limits(s[0], 3, 2);
    must(h, OFFLINE, FIRST, 0, 0);
    g_assert_cmpuint(nvme_vectors(s[0]->ctrl), ==, 1);
    bring_online(h, FIRST, 5, 4);
    enable(s[0]);
    assert_limits(s[0], 4, 4);
    end(h, s);
}

/* A reset by CC.EN changes nothing, another does; without power it is kept. */
static void test_primary(void)
{
    Host *s[3];
    Host *h = family(s);

    g_assert_cmphex(status_of(h, ALLOCATE, PRIMARY, VQ, 11), ==,
                    NVME_SC_RESOURCE_COUNT);
    must(h, ASSIGN, FIRST, VQ, 5);
    g_assert_cmphex(status_of(h, ALLOCATE, PRIMARY, VQ, 6), ==,
                    NVME_SC_RESOURCE_ID);
    must(h, ALLOCATE, PRIMARY, VQ, 3);
    must(h, ALLOCATE, PRIMARY, VI, 2);
    g_assert_cmpuint(capabilities(h).vq.primary, ==, 0);
    host_write32(h, NVME_REG_CC, 0);
    enable(h);
    g_assert_cmpuint(capabilities(h).vq.primary, ==, 0);
    assert_limits(h, 4, 5);
    nvme_reset(h->ctrl, h->now_ns);
    enable(h);
    g_assert_cmpuint(capabilities(h).vq.primary, ==, 3);
    g_assert_cmpuint(capabilities(h).vi.primary, ==, 2);
    assert_limits(h, 7, 7);
    must(h, ASSIGN, FIRST, VQ, 5);
    g_assert_cmphex(status_of(h, ASSIGN, FIRST + 1, VQ, 3), ==,
                    NVME_SC_RESOURCE_ID);
    must(h, ALLOCATE, PRIMARY, VQ, 1);
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    enable(h);
    g_assert_cmpuint(capabilities(h).vq.primary, ==, 1);
    g_assert_cmpuint(capabilities(h).vi.primary, ==, 2);
    assert_limits(h, 5, 7);
    end(h, s);
}

/* A further controller has the queues of the configuration, whatever the host
 * has given the primary. */
static void test_further(void)
{
    Host *h = start(&(HostOptions){
        .n_queues = 4, .n_vectors = 5, .secondaries = 1, .controllers = 2});
    Host *other;

    must(h, ALLOCATE, PRIMARY, VQ, 2);
    must(h, ALLOCATE, PRIMARY, VI, 2);
    nvme_reset(h->ctrl, h->now_ns);
    other = host_add(h, 50, NULL);
    g_assert_nonnull(other);
    enable(other);
    assert_limits(other, 4, 5);
    enable(h);
    assert_limits(h, 6, 7);
    host_free(other);
    host_free(h);
}

/* A primary cannot use more than 64 pairs and 65 vectors. */
static void test_primary_most(void)
{
    Host *h = start(
        &(HostOptions){.n_queues = 60, .n_vectors = 61, .secondaries = 2});

    g_assert_cmphex(status_of(h, ALLOCATE, PRIMARY, VQ, 5), ==,
                    NVME_SC_RESOURCE_COUNT);
    g_assert_cmphex(status_of(h, ALLOCATE, PRIMARY, VI, 5), ==,
                    NVME_SC_RESOURCE_COUNT);
    must(h, ALLOCATE, PRIMARY, VQ, 4);
    must(h, ALLOCATE, PRIMARY, VI, 4);
    nvme_reset(h->ctrl, h->now_ns);
    enable(h);
    assert_limits(h, 64, 65);
    host_free(h);
}

/* The allocation of the primary, beside a drive that is saved. */
static void test_kept(void)
{
    Host *h = start(&options);
    GError *error = NULL;
    char *bytes;
    size_t n;

    g_assert_false(nvme_has_kept(h->ctrl));
    must(h, ALLOCATE, PRIMARY, VI, 9);
    must(h, ALLOCATE, PRIMARY, VQ, 2);
    g_assert_true(nvme_has_kept(h->ctrl));
    bytes = kept_save(h, &n);
    host_free(h);
    kept_is_checked(&options, bytes, n);
    kept_is_refused(&(HostOptions){.secondaries = 1, .vi_flexible = 8}, bytes,
                    n, "more flexible resources");
    kept_is_refused(NULL, bytes, n,
                    "its drive has secondary controllers: give sriov_vfs=");
    h = kept_load(&options, bytes, n, &error);
    g_assert_no_error(error);
    free(bytes);
    enable(h);
    g_assert_cmpuint(capabilities(h).vi.primary, ==, 9);
    assert_limits(h, 6, 14);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define TEST(name, fn) g_test_add_func("/nvme/virtualization/" name, fn)
    TEST("capabilities", test_capabilities);
    TEST("list", test_list);
    TEST("list-order", test_list_order);
    TEST("offered", test_offered);
    TEST("options", test_options);
    TEST("defaults", test_defaults);
    TEST("places", test_places);
    TEST("bad-fields", test_bad_fields);
    TEST("assign", test_assign);
    TEST("online-needs", test_online_needs);
    TEST("sums", test_sums);
    TEST("limits", test_limits);
    TEST("primary", test_primary);
    TEST("further", test_further);
    TEST("primary-most", test_primary_most);
    TEST("kept", test_kept);
    return g_test_run();
}
