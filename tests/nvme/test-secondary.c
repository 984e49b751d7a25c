/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-secondary.c - secondary controllers: states and registers, resets of
 * their own and of the primary, functions, removal, power cuts, data.
 */
#include "forging.h"
#include "secondaries.h"

/* ---- Offline ------------------------------------------------------------ */

static uint16_t write_one(Host *h, uint8_t value)
{
    memset(host_ram(h, HOST_DATA, 512), value, 512);
    return host_io(h, 1, NVME_IO_WRITE, 8, 1, HOST_DATA);
}

static uint8_t read_one(Host *h)
{
    memset(host_ram(h, HOST_DATA, 512), 0, 512);
    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, 8, 1, HOST_DATA), ==, 0);
    return h->ram[HOST_DATA + 511];
}

static void use(Host *h, Host *s, uint16_t cntlid)
{
    bring_online(h, cntlid, 2, 2);
    enable(s);
    g_assert_cmphex(host_create_queues(s, 1, 1, 64), ==, 0);
}

static void test_registers(void)
{
    Host *s[3];
    Host *h = family(s);

    for (uint64_t at = 0; at < NVME_REG_SIZE; at += 4) {
        g_assert_cmphex(host_read32(s[0], at), ==,
                        at == NVME_REG_CSTS ? NVME_CSTS_CFS : 0);
        host_write32(s[0], at, at == NVME_REG_NSSR ? NVME_NSSR_VALUE : ~0U);
    }
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
    use(h, s[0], FIRST);
    g_assert_cmphex(write_one(s[0], 0x11), ==, 0);
    g_assert_cmphex(read_one(h), ==, 0x11);
    g_assert_cmphex(write_one(h, 0x22), ==, 0);
    g_assert_cmphex(read_one(s[0]), ==, 0x22);
    end(h, s);
}

/* Its commands end without a completion; those of others go on. */
static void test_offline_in_flight(void)
{
    Host *s[3];
    Host *h = family(s);
    HostCqe cqe;

    for (unsigned k = 0; k < 6; k++) {
        NvmeSqe aer = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);

        use(h, s[0], FIRST);
        use(h, s[1], FIRST + 1);
        host_send(s[0], 0, &aer);
        for (unsigned i = 0; i < 8; i++) {
            NvmeSqe sqe = host_rw(s[0], NVME_IO_WRITE, 8, 1, HOST_DATA);

            host_send(s[0], 1, &sqe);
            host_send(s[1], 1, &sqe);
        }
        if (k % 2) {
            nvme_run(h->ctrl, h->now_ns);
        }
        must(h, OFFLINE, FIRST, 0, 0);
        g_assert_true(is_offline(s[0]));
        for (unsigned i = 0; i < 8; i++) {
            g_assert_cmphex(host_wait(s[1], 1).status, ==, 0);
        }
        must(h, OFFLINE, FIRST + 1, 0, 0);
    }
    g_assert_cmphex(write_one(h, 0x33), ==, 0);
    g_assert_false(host_poll(h, 1, &cqe));
    g_assert_cmphex(read_one(h), ==, 0x33);
    end(h, s);
}

/* A reset of its function, or by CC.EN, leaves a secondary Online. */
static void test_own_reset(void)
{
    Host *s[3];
    Host *h = family(s);

    use(h, s[0], FIRST);
    nvme_reset(s[0]->ctrl, s[0]->now_ns);
    g_assert_cmphex(host_read32(s[0], NVME_REG_CSTS), ==, 0);
    g_assert_cmphex(host_read32(s[0], NVME_REG_CC), ==, 0);
    enable(s[0]);
    host_write32(s[0], NVME_REG_CC, 0);
    enable(s[0]);
    g_assert_cmphex(host_create_queues(s[0], 1, 1, 64), ==, 0);
    g_assert_cmphex(write_one(s[0], 0x44), ==, 0);
    g_assert_cmpuint(list_of(h, 0).entry[0].scs, ==, 1);
    /* Of one that is Offline: it stays so, with its resources. */
    must(h, ASSIGN, FIRST + 1, VQ, 2);
    must(h, ASSIGN, FIRST + 1, VI, 1);
    nvme_reset(s[1]->ctrl, s[1]->now_ns);
    g_assert_true(is_offline(s[1]));
    must(h, ONLINE, FIRST + 1, 0, 0);
    enable(s[1]);
    end(h, s);
}

static void reset_by_cc(Host *h, Host *s)
{
    host_write32(h, NVME_REG_CC, 0);
}

static void reset_function(Host *h, Host *s)
{
    nvme_reset(h->ctrl, h->now_ns);
}

static void reset_subsystem(Host *h, Host *s)
{
    host_write32(s, NVME_REG_NSSR, NVME_NSSR_VALUE);
    host_write32(h, NVME_REG_CSTS, NVME_CSTS_NSSRO);
}

static void await_shutdown(Host *h)
{
    while ((host_read32(h, NVME_REG_CSTS) & NVME_CSTS_SHST_MASK) !=
           NVME_CSTS_SHST_DONE) {
        host_sleep(h, 1000000);
    }
}

static void shut_down(Host *h, Host *s)
{
    host_write32(h, NVME_REG_CC, 0x00464001); /* SHN 1 */
    g_assert_true(is_offline(s));
    must(h, ASSIGN, FIRST, VQ, 2);
    must(h, ASSIGN, FIRST, VI, 1);
    g_assert_cmphex(status_of(h, ONLINE, FIRST, 0, 0), ==,
                    NVME_SC_SECONDARY_STATE);
    await_shutdown(h);
    host_write32(h, NVME_REG_CC, 0);
}

static void shut_subsystem_down(Host *h, Host *s)
{
    host_write32(s, NVME_REG_NSSD, NVME_NSSD_NORMAL);
    await_shutdown(h);
    g_assert_true(is_offline(s));
    nvme_reset(h->ctrl, h->now_ns);
}

static void cut_power(Host *h, Host *s)
{
    nvme_power_cut(h->ctrl, h->now_ns);
    g_assert_cmphex(host_read32(s, NVME_REG_CSTS), ==, UINT32_MAX);
    nvme_power_on(h->ctrl, h->now_ns);
}

/* Whatever ends the primary puts its secondaries Offline. */
static void test_resets_of_primary(void)
{
    static void (*const end_primary[])(Host *h, Host *s) = {
        reset_by_cc, reset_function,      reset_subsystem,
        shut_down,   shut_subsystem_down, cut_power};
    Host *s[3];
    Host *h = family(s);

    for (unsigned i = 0; i < G_N_ELEMENTS(end_primary); i++) {
        g_assert_cmphex(write_one(h, (uint8_t)(0x50 + i)), ==, 0);
        g_assert_cmphex(host_flush(h, 1), ==, 0);
        use(h, s[0], FIRST);
        use(h, s[1], FIRST + 1);
        g_assert_cmphex(read_one(s[0]), ==, 0x50 + i);
        end_primary[i](h, s[0]);
        g_assert_true(is_offline(s[0]));
        g_assert_true(is_offline(s[1]));
        g_assert_true(is_offline(s[2]));
        enable(h);
        g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
        g_assert_cmpuint(capabilities(h).vq.assigned, ==, 0);
        g_assert_cmpuint(capabilities(h).vi.assigned, ==, 0);
        g_assert_cmphex(read_one(h), ==, 0x50 + i);
    }
    end(h, s);
}

/* A secondary that goes with a shutdown of its primary makes it no unsafe one.
 */
static void test_safe_shutdown(void)
{
    Host *s[3];
    Host *h = family(s);

    use(h, s[0], FIRST);
    g_assert_cmphex(write_one(s[0], 0x66), ==, 0);
    host_write32(h, NVME_REG_CC, 0x00464001);
    await_shutdown(h);
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    g_assert_cmphex(admin_log(h, 2, 0, 512, 0), ==, 0);
    g_assert_cmpuint(get_le64(admin_data(h) + 144), ==, 0);
    g_assert_cmphex(read_one(h), ==, 0x66);
    end(h, s);
}

/* ---- the function ------------------------------------------------------- */

static void test_function(void)
{
    Host *s[3];
    Host *h = family(s);

    use(h, s[0], FIRST);
    nvme_secondary_enable(s[0]->ctrl, s[0]->now_ns, false);
    g_assert_true(is_offline(s[0]));
    g_assert_cmpuint(capabilities(h).vq.assigned, ==, 0);
    must(h, ASSIGN, FIRST, VQ, 2);
    must(h, ASSIGN, FIRST, VI, 1);
    g_assert_cmphex(status_of(h, ONLINE, FIRST, 0, 0), ==,
                    NVME_SC_SECONDARY_STATE);
    nvme_secondary_enable(s[0]->ctrl, s[0]->now_ns, true);
    must(h, ONLINE, FIRST, 0, 0);
    enable(s[0]);
    end(h, s);
}

static void test_removal(void)
{
    Host *h = start(&options);

    for (unsigned k = 0; k < 8; k++) {
        Host *a = add(h, 1 + k % 3);
        Host *b = add(h, 1 + (k + 1) % 3);

        use(h, a, FIRST + k % 3);
        use(h, b, FIRST + (k + 1) % 3);
        for (unsigned i = 0; i < 5; i++) {
            NvmeSqe sqe = host_rw(a, NVME_IO_WRITE, 8, 1, HOST_DATA);

            host_send(a, 1, &sqe);
            host_send(b, 1, &sqe);
        }
        if (k % 2) {
            nvme_run(h->ctrl, h->now_ns);
        }
        host_free(a);
        g_assert_cmpuint(list_of(h, 0).n, ==, 1);
        g_assert_cmpuint(capabilities(h).vq.assigned, ==, 2);
        for (unsigned i = 0; i < 5; i++) {
            g_assert_cmphex(host_wait(b, 1).status, ==, 0);
        }
        host_free(b);
        g_assert_cmpuint(capabilities(h).vq.assigned, ==, 0);
    }
    g_assert_cmphex(write_one(h, 0x77), ==, 0);
    g_assert_cmphex(read_one(h), ==, 0x77);
    host_free(h);
}

/* Namespaces stay attached, whatever the state is. */
static void test_namespaces(void)
{
    Host *s[3];
    Host *h = family(s);

    use(h, s[0], FIRST);
    admin_identify(s[0], 2);
    g_assert_cmpuint(get_le32(admin_data(s[0])), ==, 1);
    must(h, OFFLINE, FIRST, 0, 0);
    g_assert_cmphex(admin_status(h, NVME_ADM_IDENTIFY, 1, ADMIN_DW(0x12), 4096),
                    ==, 0);
    g_assert_cmpuint(get_le16(admin_data(h)), ==, 4);
    g_assert_cmpuint(get_le16(admin_data(h) + 4), ==, FIRST);
    end(h, s);
}

/* ---- saving ------------------------------------------------------------- */

/* The hosts of the secondary controllers, and their copies. */
typedef struct Moved {
    Host *const *from;
    Host *to[3];
} Moved;

static void add_copies(Host *h, void *opaque, bool on)
{
    Moved *m = opaque;

    for (uint16_t i = 0; i < 3; i++) {
        if (on) {
            m->to[i] = add(h, i + 1);
            copy_host(m->to[i], m->from[i]);
        } else {
            host_free(m->to[i]);
        }
    }
}

/* The first one at work, the second with resources, the third without. */
static Host *family_at_work(Host *s[3])
{
    Host *h = family(s);

    must(h, ALLOCATE, PRIMARY, VI, 2);
    nvme_reset(h->ctrl, h->now_ns);
    enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    must(h, ALLOCATE, PRIMARY, VQ, 3);
    use(h, s[0], FIRST);
    must(h, ASSIGN, FIRST + 1, VQ, 3);
    g_assert_cmphex(write_one(s[0], 0x5a), ==, 0);
    return h;
}

static void test_saving(void)
{
    GByteArray *drive, *ctrl;
    GError *error = NULL;
    Host *s[3];
    Host *h = family_at_work(s);
    Moved m = {.from = s};
    HostOptions o = options;
    NvmeSecondaryList before, after;
    NvmeIdPrimary id = capabilities(h);
    Host *to;

    before = list_of(h, 0);
    host_settle(h);
    host_save(h, &drive, &ctrl);
    o.attached = add_copies;
    o.opaque = &m;
    to = host_load(&o, h, drive, ctrl, &error);
    g_assert_no_error(error);
    end(h, s);
    nvme_hold(to->ctrl, false);
    after = list_of(to, 0);
    g_assert_cmpmem(&after, sizeof(after), &before, sizeof(before));
    g_assert_cmpuint(after.entry[0].scs, ==, 1);
    g_assert_cmpuint(after.entry[1].nvq, ==, 3);
    g_assert_cmpuint(capabilities(to).vi.primary, ==, 2);
    g_assert_cmpuint(capabilities(to).vq.primary, ==, 0);
    g_assert_cmpuint(capabilities(to).vq.assigned, ==, id.vq.assigned);
    g_assert_cmpuint(nvme_vectors(to->ctrl), ==, 7);
    g_assert_cmphex(read_one(m.to[0]), ==, 0x5a); /* in its old queue */
    g_assert_true(is_offline(m.to[1]));
    use(to, m.to[2], FIRST + 2);
    g_assert_cmphex(read_one(m.to[2]), ==, 0x5a);
    nvme_reset(to->ctrl, to->now_ns);
    enable(to);
    g_assert_cmpuint(capabilities(to).vq.primary, ==, 3); /* as it was wanted */
    g_byte_array_unref(drive);
    g_byte_array_unref(ctrl);
    end(to, m.to);
}

static void test_other_resources(void)
{
    static const HostOptions others[] = {
        {.n_queues = 4, .n_vectors = 5, .secondaries = 3},
        {.n_queues = 4, .n_vectors = 5, .secondaries = 2, .controllers = 2},
        {.n_queues = 4, .n_vectors = 5, .controllers = 4},
    };
    GByteArray *drive, *ctrl;
    Host *h = start(&options);

    host_settle(h);
    host_save(h, &drive, &ctrl);
    for (unsigned i = 0; i < G_N_ELEMENTS(others); i++) {
        GError *error = NULL;

        g_assert_null(host_load(&others[i], h, drive, ctrl, &error));
        g_assert_nonnull(strstr(error->message, "sriov_vfs=3 vq=10,5 vi=9,4"));
        g_clear_error(&error);
    }
    g_byte_array_unref(drive);
    g_byte_array_unref(ctrl);
    host_free(h);
}

#define FORGED 24u

/* Anything in a stream: it is refused, or the drive is of use. */
static void test_forged(void)
{
    GByteArray *drive, *good;
    Host *s[3];
    Host *h = family_at_work(s);
    Moved m = {.from = s};
    HostOptions o = options;
    unsigned taken = 0;
    Prng rng;

    prng_seed(&rng, 17, 3);
    o.attached = add_copies;
    o.opaque = &m;
    host_settle(h);
    host_save(h, &drive, &good);
    for (unsigned i = 0; i < FORGED; i++) {
        GByteArray *bytes = g_byte_array_new();
        GError *error = NULL;
        Host *to;

        g_byte_array_append(bytes, good->data, good->len);
        forge(bytes, i % 2 ? good->len / 2 : 64, &rng);
        to = host_load(&o, h, drive, bytes, &error);
        g_assert_true(!to == !!error);
        g_clear_error(&error);
        if (to) {
            taken++;
            nvme_hold(to->ctrl, false);
            nvme_power_cut(to->ctrl, to->now_ns);
            nvme_power_on(to->ctrl, to->now_ns);
            enable(to);
            g_assert_cmphex(host_create_queues(to, 1, 1, 64), ==, 0);
            use(to, m.to[1], FIRST + 1);
            g_assert_cmphex(write_one(m.to[1], 0x66), ==, 0);
            end(to, m.to);
        }
        g_byte_array_unref(bytes);
    }
    g_assert_cmpuint(taken, <, FORGED);
    g_byte_array_unref(drive);
    g_byte_array_unref(good);
    end(h, s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define TEST(name, fn) g_test_add_func("/nvme/secondary/" name, fn)
    TEST("registers", test_registers);
    TEST("offline-in-flight", test_offline_in_flight);
    TEST("own-reset", test_own_reset);
    TEST("resets-of-primary", test_resets_of_primary);
    TEST("safe-shutdown", test_safe_shutdown);
    TEST("function", test_function);
    TEST("removal", test_removal);
    TEST("namespaces", test_namespaces);
    TEST("saving", test_saving);
    TEST("other-resources", test_other_resources);
    TEST("forged", test_forged);
    return g_test_run();
}
