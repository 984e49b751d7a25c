/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-subsys.c - several controllers of one NVM subsystem: shared namespaces,
 * attachment, events, resets and shutdowns of one and of all, removal.
 */
#include "admin.h"
#include "forging.h"

#include "nvme-wire.h"

static Host *first_of(const HostOptions *o)
{
    Host *h = admin_host(o);

    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    return h;
}

static Host *add(Host *first, uint16_t cntlid)
{
    GError *error = NULL;
    Host *h = host_add(first, cntlid, &error);

    g_assert_no_error(error);
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    return h;
}

static Host *pair(Host **second, const char *namespaces)
{
    Host *h =
        first_of(&(HostOptions){.controllers = 4, .namespaces = namespaces});

    *second = add(h, 7);
    return h;
}

static void end(Host *h, Host *second)
{
    host_free(second);
    host_free(h);
}

static uint16_t write_one(Host *h, uint8_t value)
{
    memset(host_ram(h, HOST_DATA, 512), value, 512);
    return host_io(h, 1, NVME_IO_WRITE, 8, 1, HOST_DATA);
}

static uint16_t read_one(Host *h, uint8_t *value)
{
    uint16_t status;

    memset(host_ram(h, HOST_DATA, 512), 0, 512);
    status = host_io(h, 1, NVME_IO_READ, 8, 1, HOST_DATA);
    *value = h->ram[HOST_DATA + 511];
    return status;
}

/* ---- Identify ------------------------------------------------------------ */

static void assert_list(Host *h, uint8_t cns, uint32_t nsid, uint16_t from,
                        unsigned n, uint16_t a, uint16_t b)
{
    g_assert_cmphex(admin_status(h, NVME_ADM_IDENTIFY, nsid,
                                 ADMIN_DW(cns | (uint32_t)from << 16), 4096),
                    ==, 0);
    g_assert_cmpuint(get_le16(admin_data(h)), ==, n);
    g_assert_cmpuint(get_le16(admin_data(h) + 2), ==, a);
    g_assert_cmpuint(get_le16(admin_data(h) + 4), ==, b);
}

static void test_identify(void)
{
    Host *b;
    Host *h = pair(&b, NULL);

    admin_identify(h, 1);
    g_assert_cmphex(admin_data(h)[76], ==, 2); /* CMIC */
    g_assert_cmphex(get_le16(admin_data(h) + 78), ==, 1);
    admin_identify(b, 1);
    g_assert_cmphex(admin_data(b)[76], ==, 2);
    g_assert_cmphex(get_le16(admin_data(b) + 78), ==, 7);
    g_assert_cmphex(admin_status(b, NVME_ADM_IDENTIFY, 1, ADMIN_DW(0), 4096),
                    ==, 0);
    g_assert_cmphex(admin_data(b)[30], ==, 1); /* NMIC */
    assert_list(h, 0x13, 0, 0, 2, 1, 7);
    assert_list(b, 0x13, 0, 2, 1, 7, 0);
    assert_list(b, 0x12, 1, 0, 2, 1, 7);
    assert_list(b, 0x12, 1, 8, 0, 0, 0);
    end(h, b);
}

/* A subsystem of one looks as it did before there were several. */
static void test_alone(void)
{
    Host *h = first_of(NULL);
    GError *error = NULL;

    admin_identify(h, 1);
    g_assert_cmphex(admin_data(h)[76], ==, 0);
    g_assert_cmphex(admin_status(h, NVME_ADM_IDENTIFY, 1, ADMIN_DW(0), 4096),
                    ==, 0);
    g_assert_cmphex(admin_data(h)[30], ==, 0);
    g_assert_cmphex(host_read32(h, NVME_REG_CAP + 4) >> 26 & 1, ==, 0);
    g_assert_null(host_add(h, 2, &error));
    g_assert_cmpstr(error->message, ==,
                    "controller 2: the drive has controllers=1, and no place "
                    "is free");
    g_clear_error(&error);
    host_free(h);
}

static void refused(Host *h, uint16_t cntlid, const char *why)
{
    GError *error = NULL;

    g_assert_null(host_add(h, cntlid, &error));
    g_assert_nonnull(strstr(error->message, why));
    g_clear_error(&error);
}

static void test_refused(void)
{
    Host *h = first_of(&(HostOptions){.controllers = 2});
    GError *error = NULL;
    Host *b;

    refused(h, 1, "the drive has one of that number");
    refused(h, 0xfff0, "allowed 0..65519");
    b = add(h, 2);
    refused(h, 3, "no place is free");
    host_free(b);
    b = add(h, 3); /* the place is free again */
    end(h, b);
    g_assert_false(host_try(&(HostOptions){.controllers = 33}, &error));
    g_assert_cmpstr(error->message, ==, "controllers=33: allowed 1..32");
    g_clear_error(&error);
}

/* ---- data ---------------------------------------------------------------- */

static void test_shared_data(void)
{
    Host *b;
    Host *h = pair(&b, NULL);
    uint8_t v;

    for (unsigned i = 1; i < 40; i++) {
        g_assert_cmphex(write_one(i % 2 ? h : b, (uint8_t)i), ==, 0);
        g_assert_cmphex(read_one(i % 3 ? h : b, &v), ==, 0);
        g_assert_cmphex(v, ==, i);
    }
    end(h, b);
}

/* ---- resets -------------------------------------------------------------- */

static void send_write(Host *h)
{
    NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, 8, 1, HOST_DATA);

    host_send(h, 1, &sqe);
}

static void test_reset_of_one(void)
{
    Host *b;
    Host *h = pair(&b, NULL);
    HostCqe cqe;
    uint8_t v;

    g_assert_cmphex(write_one(b, 0x11), ==, 0);
    for (unsigned i = 0; i < 8; i++) {
        send_write(h);
        send_write(b);
    }
    nvme_run(h->ctrl, h->now_ns); /* fetched, and in the drive */
    host_write32(h, NVME_REG_CC, 0);
    for (unsigned i = 0; i < 8; i++) {
        cqe = host_wait(b, 1);
        g_assert_cmphex(cqe.status, ==, 0);
    }
    g_assert_false(host_poll(h, 1, &cqe));
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, 0);
    g_assert_cmphex(host_read32(b, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
    g_assert_cmphex(read_one(b, &v), ==, 0);
    host_enable(h);
    end(h, b);
}

/* One that is busy does not keep another one from becoming ready. */
static void test_ready_beside_another(void)
{
    Host *b;
    Host *h = pair(&b, NULL);

    host_write32(h, NVME_REG_CC, 0);
    send_write(b);
    nvme_run(b->ctrl, b->now_ns);
    host_write32(h, NVME_REG_CC, 0x00460001);
    nvme_run(b->ctrl, b->now_ns);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
    end(h, b);
}

static void test_subsystem_reset(void)
{
    Host *b;
    Host *h = pair(&b, NULL);
    uint8_t v;

    g_assert_cmphex(write_one(h, 0x22), ==, 0);
    send_write(h);
    host_write32(b, NVME_REG_NSSR, NVME_NSSR_VALUE);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_NSSRO);
    g_assert_cmphex(host_read32(b, NVME_REG_CSTS), ==, NVME_CSTS_NSSRO);
    g_assert_cmphex(host_read32(h, NVME_REG_CC), ==, 0);
    host_write32(h, NVME_REG_CSTS, NVME_CSTS_NSSRO);
    g_assert_cmphex(host_read32(b, NVME_REG_CSTS), ==, NVME_CSTS_NSSRO);
    host_write32(b, NVME_REG_CSTS, NVME_CSTS_NSSRO);
    memset(b->cq, 0, sizeof(b->cq));
    host_enable(b);
    g_assert_cmphex(host_create_queues(b, 1, 1, 64), ==, 0);
    g_assert_cmphex(read_one(b, &v), ==, 0);
    g_assert_cmphex(v, ==, 0x22);
    end(h, b);
}

/* ---- shutdowns ----------------------------------------------------------- */

static void await_shutdown(Host *h, uint32_t others)
{
    for (unsigned i = 0; i < 1000; i++) {
        if ((host_read32(h, NVME_REG_CSTS) & NVME_CSTS_SHST_MASK) ==
            NVME_CSTS_SHST_DONE) {
            break;
        }
        host_sleep(h, 1000000);
    }
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==,
                    NVME_CSTS_SHST_DONE | others);
}

static uint64_t unsafe_shutdowns(Host *h)
{
    g_assert_cmphex(admin_log(h, 2, 0, 512, 0), ==, 0);
    return get_le64(admin_data(h) + 144);
}

static void test_shutdown_of_one(void)
{
    Host *b;
    Host *h = pair(&b, NULL);
    uint8_t v;

    host_write32(h, NVME_REG_CC, 0x00464001); /* SHN 1 */
    await_shutdown(h, NVME_CSTS_RDY);
    g_assert_cmphex(host_read32(b, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
    g_assert_cmphex(write_one(b, 0x33), ==, 0);
    g_assert_cmphex(read_one(b, &v), ==, 0);
    g_assert_cmphex(v, ==, 0x33);
    /* The other one was in use: an unsafe shutdown, once. */
    nvme_power_cut(b->ctrl, b->now_ns);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, UINT32_MAX);
    nvme_power_on(b->ctrl, b->now_ns);
    host_enable(h);
    g_assert_cmpuint(unsafe_shutdowns(h), ==, 1);
    end(h, b);
}

static void subsystem_shutdown(uint32_t value)
{
    Host *b;
    Host *h = pair(&b, NULL);
    uint64_t cap = nvme_reg_read(h->ctrl, NVME_REG_CAP, 8);

    g_assert_cmphex(cap >> 58 & 1, ==, 1); /* NSSS */
    g_assert_cmphex(cap >> 46 & 3, ==, 3); /* CPS: the NVM subsystem */
    host_write32(h, NVME_REG_NSSD, 0x12345678);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
    g_assert_cmphex(write_one(b, 0x44), ==, 0);
    host_write32(h, NVME_REG_NSSD, value);
    await_shutdown(h, NVME_CSTS_RDY | NVME_CSTS_ST);
    await_shutdown(b, NVME_CSTS_RDY | NVME_CSTS_ST);
    /* A reset by CC.EN does not end it. */
    host_write32(b, NVME_REG_CC, 0);
    host_write32(b, NVME_REG_CC, 0x00460001);
    host_sleep(b, 1000000);
    g_assert_cmphex(host_read32(b, NVME_REG_CSTS), ==,
                    NVME_CSTS_SHST_DONE | NVME_CSTS_ST);
    host_write32(b, NVME_REG_NSSR, NVME_NSSR_VALUE);
    host_write32(h, NVME_REG_CSTS, NVME_CSTS_NSSRO);
    host_write32(b, NVME_REG_CSTS, NVME_CSTS_NSSRO);
    host_enable(h);
    host_enable(b);
    g_assert_cmpuint(unsafe_shutdowns(h), ==, 0);
    end(h, b);
}

static void test_nssd(void)
{
    subsystem_shutdown(NVME_NSSD_NORMAL);
    subsystem_shutdown(NVME_NSSD_ABRUPT);
}

/* ---- namespaces ---------------------------------------------------------- */

static uint16_t attach_to(Host *h, unsigned sel, uint32_t nsid, unsigned n,
                          uint16_t a, uint16_t b)
{
    uint8_t *p = admin_data(h);

    memset(p, 0, 4096);
    put_le16(p, (uint16_t)n);
    put_le16(p + 2, a);
    put_le16(p + 4, b);
    return admin_status(h, NVME_ADM_NS_ATTACHMENT, nsid, ADMIN_DW(sel), 4096);
}

static uint32_t create(Host *h, uint8_t nmic)
{
    uint8_t *p = admin_data(h);
    HostCqe cqe;

    memset(p, 0, 4096);
    put_le64(p, 1024);
    put_le64(p + 8, 1024);
    p[30] = nmic;
    cqe = admin_do(h, NVME_ADM_NS_MANAGEMENT, 0, ADMIN_DW(0), 4096);
    g_assert_cmphex(cqe.status, ==, 0);
    return cqe.dw0;
}

static uint32_t changed(Host *h)
{
    g_assert_cmphex(admin_log(h, 4, 0, 4096, 0), ==, 0);
    return get_le32(admin_data(h));
}

static void test_attachment(void)
{
    Host *b;
    Host *h = pair(&b, "0");
    uint32_t own = create(h, 0);
    uint32_t both = create(b, 1);

    g_assert_cmphex(attach_to(h, 0, own, 2, 1, 7), ==, NVME_SC_NS_PRIVATE);
    g_assert_cmphex(attach_to(h, 0, own, 1, 3, 0), ==, NVME_SC_CONTROLLER_LIST);
    g_assert_cmphex(attach_to(h, 0, both, 2, 7, 1), ==,
                    NVME_SC_CONTROLLER_LIST);
    g_assert_cmphex(attach_to(h, 0, both, 0, 0, 0), ==,
                    NVME_SC_CONTROLLER_LIST);
    g_assert_cmphex(attach_to(h, 0, own, 1, 7, 0), ==, 0); /* of the other */
    g_assert_cmphex(attach_to(b, 0, own, 1, 1, 0), ==, NVME_SC_NS_PRIVATE);
    g_assert_cmphex(attach_to(b, 0, own, 1, 7, 0), ==, NVME_SC_NS_ATTACHED);
    g_assert_cmpuint(changed(h), ==, 0);
    g_assert_cmpuint(changed(b), ==, own);
    assert_list(h, 0x12, own, 0, 1, 7, 0);
    g_assert_cmphex(attach_to(h, 0, both, 2, 1, 7), ==, 0);
    g_assert_cmpuint(changed(h), ==, both);
    g_assert_cmpuint(changed(b), ==, both);
    g_assert_cmphex(attach_to(h, 1, own, 2, 1, 7), ==, NVME_SC_NS_NOT_ATTACHED);
    g_assert_cmphex(attach_to(h, 1, both, 1, 7, 0), ==, 0);
    assert_list(b, 0x12, both, 0, 1, 1, 0);
    g_assert_cmpuint(changed(h), ==, 0);
    /* Deleted: told to those that had it. */
    g_assert_cmpuint(changed(b), ==, both);
    g_assert_cmphex(
        admin_status(b, NVME_ADM_NS_MANAGEMENT, both, ADMIN_DW(1), 0), ==, 0);
    g_assert_cmpuint(changed(h), ==, both);
    g_assert_cmpuint(changed(b), ==, 0);
    end(h, b);
}

/* The notice goes to each controller that the change is about. */
static void test_events(void)
{
    Host *b;
    Host *h = pair(&b, "1");
    NvmeSqe aer = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);
    HostCqe cqe;

    g_assert_cmphex(admin_set_feature(b, 0x0b, false, 1 << 8, 0), ==, 0);
    host_send(b, 0, &aer);
    g_assert_cmphex(attach_to(h, 1, 1, 1, 1, 0), ==, 0);
    g_assert_false(host_poll(b, 0, &cqe));
    g_assert_cmphex(attach_to(h, 1, 1, 1, 7, 0), ==, 0);
    cqe = host_wait(b, 0);
    g_assert_cmphex(cqe.dw0, ==, 0x040002);
    end(h, b);
}

/* ---- removal ------------------------------------------------------------- */

static void test_remove(void)
{
    Host *h = first_of(&(HostOptions){.controllers = 3});
    uint8_t v;

    for (unsigned i = 0; i < 20; i++) {
        Host *b = add(h, (uint16_t)(20 + i));
        Host *c = add(h, (uint16_t)(50 + i));
        Host *left;
        NvmeSqe test = host_sqe(NVME_ADM_SELF_TEST, 1, 0);

        test.dw[10] = 2;
        host_do(b, 0, &test);
        for (unsigned k = 0; k < 5; k++) {
            send_write(b);
            send_write(c);
        }
        if (i % 2) {
            nvme_run(h->ctrl, h->now_ns);
        }
        host_free(i % 4 < 2 ? b : c);
        left = i % 4 < 2 ? c : b;
        for (unsigned k = 0; k < 5; k++) {
            g_assert_cmphex(host_wait(left, 1).status, ==, 0);
        }
        g_assert_cmphex(write_one(h, (uint8_t)i), ==, 0);
        g_assert_cmphex(read_one(left, &v), ==, 0);
        host_free(left);
    }
    g_assert_cmphex(read_one(h, &v), ==, 0);
    assert_list(h, 0x13, 0, 0, 1, 1, 0);
    host_free(h);
}

/* ---- saving -------------------------------------------------------------- */

/* The second host of a pair, and its copy behind the loaded controller. */
typedef struct Moved {
    const Host *from;
    Host *to;
} Moved;

static void add_copy(Host *h, void *opaque, bool on)
{
    Moved *m = opaque;

    if (!on) {
        host_free(m->to);
        return;
    }
    m->to = host_add(h, 7, NULL);
    copy_host(m->to, m->from);
}

/* Each goes on with its own queues, features, events and namespaces. */
static void test_saving(void)
{
    HostOptions o = {.controllers = 4, .namespaces = "2"};
    GByteArray *drive, *ctrl;
    GError *error = NULL;
    Moved m = {0};
    Host *b, *c;
    Host *h = pair(&b, "2");
    NvmeSqe aer = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);
    HostCqe cqe;
    uint8_t v;

    g_assert_cmphex(write_one(b, 0x5a), ==, 0);
    g_assert_cmphex(attach_to(h, 1, 2, 1, 7, 0), ==, 0); /* not of b */
    g_assert_cmphex(admin_set_feature(b, 0x04, false, 300, 0), ==, 0);
    g_assert_cmphex(admin_set_feature(b, 0x0b, false, 1 << 8, 0), ==, 0);
    host_send(b, 0, &aer);
    host_run(b);
    host_settle(h);
    host_save(h, &drive, &ctrl);
    m.from = b;
    o.attached = add_copy;
    o.opaque = &m;
    c = host_load(&o, h, drive, ctrl, &error);
    g_assert_no_error(error);
    nvme_hold(c->ctrl, false);
    end(h, b);
    b = m.to;
    g_assert_cmphex(read_one(b, &v), ==, 0);
    g_assert_cmphex(v, ==, 0x5a);
    g_assert_cmphex(read_one(c, &v), ==, 0);
    g_assert_cmphex(v, ==, 0x5a);
    assert_list(c, 0x12, 1, 0, 2, 1, 7);
    assert_list(c, 0x12, 2, 0, 1, 1, 0);
    g_assert_cmpuint(admin_get_feature(b, 0x04, 0, 0).dw0, ==, 300);
    g_assert_cmpuint(admin_get_feature(c, 0x04, 0, 0).dw0, !=, 300);
    g_assert_cmphex(attach_to(c, 0, 2, 1, 7, 0), ==, 0);
    cqe = host_wait(b, 0); /* its request, from before */
    g_assert_cmphex(cqe.dw0, ==, 0x040002);
    g_byte_array_unref(drive);
    g_byte_array_unref(ctrl);
    end(c, b);
}

#define FORGED 60u

/* Anything in the part of the second one: any result, but no crash. */
static void test_forged(void)
{
    Moved m = {0};
    HostOptions o = {.controllers = 4, .attached = add_copy, .opaque = &m};
    GByteArray *drive, *alone, *good;
    Host *h = first_of(&o);
    unsigned taken = 0;
    Host *b;
    Prng rng;

    prng_seed(&rng, 1, 3);
    host_settle(h);
    host_save(h, &drive, &alone);
    nvme_hold(h->ctrl, false);
    g_byte_array_unref(drive);
    b = add(h, 7);
    m.from = b;
    host_settle(h);
    host_save(h, &drive, &good);
    g_assert_cmpuint(good->len, >, alone->len + 4096);
    for (unsigned i = 0; i < FORGED; i++) {
        GByteArray *bytes = g_byte_array_new();
        GError *error = NULL;
        Host *c;

        g_byte_array_append(bytes, good->data, good->len);
        forge(bytes, alone->len, &rng);
        c = host_load(&o, h, drive, bytes, &error);
        g_assert_true(!c == !!error);
        g_clear_error(&error);
        if (c) {
            taken++;
            nvme_hold(c->ctrl, false);
            send_write(m.to);
            send_write(c);
            for (unsigned k = 0; k < 100 && host_step(c); k++) {
            }
            nvme_power_cut(c->ctrl, c->now_ns);
            nvme_power_on(c->ctrl, c->now_ns);
            end(c, m.to);
        }
        g_byte_array_unref(bytes);
    }
    g_test_message("%u of %u taken", taken, FORGED);
    g_assert_cmpuint(taken, <, FORGED);
    g_byte_array_unref(drive);
    g_byte_array_unref(alone);
    g_byte_array_unref(good);
    end(h, b);
}

static void test_others_than_saved(void)
{
    HostOptions o = {.controllers = 4};
    GByteArray *drive, *ctrl;
    GError *error = NULL;
    Host *b;
    Host *h = pair(&b, NULL);

    host_settle(h);
    host_save(h, &drive, &ctrl);
    g_assert_null(host_load(&o, h, drive, ctrl, &error));
    g_assert_cmpstr(error->message, ==,
                    "it was saved with further_controllers=7, this drive has "
                    "it not");
    g_clear_error(&error);
    g_byte_array_unref(drive);
    g_byte_array_unref(ctrl);
    end(h, b);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/subsys/identify", test_identify);
    g_test_add_func("/nvme/subsys/alone", test_alone);
    g_test_add_func("/nvme/subsys/refused", test_refused);
    g_test_add_func("/nvme/subsys/shared-data", test_shared_data);
    g_test_add_func("/nvme/subsys/reset-of-one", test_reset_of_one);
    g_test_add_func("/nvme/subsys/ready-beside-another",
                    test_ready_beside_another);
    g_test_add_func("/nvme/subsys/subsystem-reset", test_subsystem_reset);
    g_test_add_func("/nvme/subsys/shutdown-of-one", test_shutdown_of_one);
    g_test_add_func("/nvme/subsys/nssd", test_nssd);
    g_test_add_func("/nvme/subsys/attachment", test_attachment);
    g_test_add_func("/nvme/subsys/events", test_events);
    g_test_add_func("/nvme/subsys/remove", test_remove);
    g_test_add_func("/nvme/subsys/saving", test_saving);
    g_test_add_func("/nvme/subsys/forged", test_forged);
    g_test_add_func("/nvme/subsys/others-than-saved", test_others_than_saved);
    return g_test_run();
}
