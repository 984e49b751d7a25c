/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-reservation.c - reservations: the four commands, access by type,
 * relation and command, notifications, preemption, persistence.
 */
#include "admin.h"
#include "kept.h"

#include "nvme-wire.h"

#define KEY(i)  (0x1000 + (i))
#define N_HOSTS 3

enum { REGISTER, UNREGISTER, REPLACE };
enum { ACQUIRE, PREEMPT, PREEMPT_AND_ABORT };
enum { RELEASE, CLEAR };
enum { HOLDER, REGISTRANT, STRANGER };

#define IEKEY      8
#define CONFLICT   NVME_SC_RESERVATION_CONFLICT
#define MOST_HOSTS 64 /* of a namespace */
#define MOST_NOTES 64 /* in the log of a controller */
#define FIRST_PTPL (3U << 30)

static void try_host_id(Host *h, unsigned id, bool extended, uint16_t want)
{
    memset(admin_data(h), 0, 16);
    admin_data(h)[0] = (uint8_t)id;
    g_assert_cmphex(admin_set_feature(h, 0x81, false, extended, 0), ==, want);
}

static void set_host_id(Host *h, unsigned id, bool extended)
{
    try_host_id(h, id, extended, 0);
}

static void bring_up(Host *h, unsigned id)
{
    memset(h->cq, 0, sizeof(h->cq));
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
    if (id) {
        set_host_id(h, id, false);
    }
}

static Host *first_of(const char *namespaces)
{
    Host *h =
        host_new(&(HostOptions){.controllers = 8, .namespaces = namespaces});

    bring_up(h, 0x10);
    return h;
}

static Host *add(Host *first, uint16_t cntlid, unsigned id)
{
    GError *error = NULL;
    Host *h = host_add(first, cntlid, &error);

    g_assert_no_error(error);
    bring_up(h, id);
    return h;
}

static void three(Host *h[N_HOSTS])
{
    h[0] = first_of(NULL);
    h[1] = add(h[0], 2, 0x20);
    h[2] = add(h[0], 3, 0x30);
}

static void end(Host *h[N_HOSTS])
{
    host_free(h[2]);
    host_free(h[1]);
    host_free(h[0]);
}

static uint16_t command(Host *h, uint8_t opcode, uint32_t dw10, uint64_t a,
                        uint64_t b)
{
    NvmeSqe sqe = host_sqe(opcode, 1, HOST_DATA);

    put_le64(host_ram(h, HOST_DATA, 8), a);
    put_le64(host_ram(h, HOST_DATA + 8, 8), b);
    sqe.dw[10] = dw10;
    return host_code(host_do(h, 1, &sqe).status);
}

static uint16_t reg(Host *h, uint32_t dw10, uint64_t key, uint64_t new_key)
{
    return command(h, NVME_IO_RESERVATION_REGISTER, dw10, key, new_key);
}

static uint16_t acq(Host *h, uint32_t dw10, unsigned type, uint64_t key,
                    uint64_t other)
{
    return command(h, NVME_IO_RESERVATION_ACQUIRE, dw10 | type << 8, key,
                   other);
}

static uint16_t rel(Host *h, uint32_t dw10, unsigned type, uint64_t key)
{
    return command(h, NVME_IO_RESERVATION_RELEASE, dw10 | type << 8, key, 0);
}

/* The report's data, of 4096 bytes. */
static const uint8_t *report(Host *h, bool extended)
{
    NvmeSqe sqe = host_sqe(NVME_IO_RESERVATION_REPORT, 1, HOST_DATA);

    sqe.dw[10] = 1023;
    sqe.dw[11] = extended;
    memset(host_ram(h, HOST_DATA, 4096), 0xee, 4096);
    g_assert_cmphex(host_do(h, 1, &sqe).status, ==, 0);
    return h->ram + HOST_DATA;
}

static void assert_report(Host *h, uint32_t gen, unsigned type, unsigned n)
{
    const uint8_t *p = report(h, false);

    g_assert_cmpuint(get_le32(p), ==, gen);
    g_assert_cmpuint(p[4], ==, type);
    g_assert_cmpuint(get_le16(p + 5), ==, n);
}

/* A notification, and that there is no other. */
static void assert_note(Host *h, unsigned type)
{
    g_assert_cmphex(admin_log(h, 0x80, 0, 64, 0), ==, 0);
    g_assert_cmpuint(admin_data(h)[8], ==, type);
    if (type) {
        g_assert_cmpuint(admin_data(h)[9], ==, 0);
        g_assert_cmpuint(get_le32(admin_data(h) + 12), ==, 1);
        assert_note(h, 0);
    }
}

/* ---- access -------------------------------------------------------------- */

typedef struct Io {
    uint8_t opcode;
    bool write;
} Io;

static uint16_t do_dsm(Host *h)
{
    NvmeSqe sqe = host_sqe(NVME_IO_DSM, 1, HOST_DATA);

    memset(host_ram(h, HOST_DATA, 16), 0, 16);
    put_le32(host_ram(h, HOST_DATA + 4, 4), 8);
    sqe.dw[11] = 4;
    return host_code(host_do(h, 1, &sqe).status);
}

static uint16_t do_copy(Host *h)
{
    NvmeSqe sqe = host_sqe(NVME_IO_COPY, 1, HOST_DATA);

    memset(host_ram(h, HOST_DATA, 32), 0, 32);
    put_le16(host_ram(h, HOST_DATA + 16, 2), 7);
    sqe.dw[10] = 64;
    return host_code(host_do(h, 1, &sqe).status);
}

static uint16_t do_io(Host *h, uint8_t opcode)
{
    switch (opcode) {
    case NVME_IO_DSM:
        return do_dsm(h);
    case NVME_IO_COPY:
        return do_copy(h);
    case NVME_IO_FLUSH:
        return host_code(host_flush(h, 1));
    default:
        memset(host_ram(h, HOST_DATA, 4096), 0, 4096);
        return host_code(host_io(h, 1, opcode, 0, 8, HOST_DATA));
    }
}

/* Base 2.0, Reservations: Command Behavior in the Presence of a Reservation. */
static bool allowed(unsigned type, unsigned relation, bool write)
{
    static const struct {
        bool read[3]; /* by relation */
        bool write[3];
    } table[] = {
        [NVME_RESERVATION_NONE] = {{1, 1, 1}, {1, 1, 1}},
        [NVME_RESERVATION_WE] = {{1, 1, 1}, {1, 0, 0}},
        [NVME_RESERVATION_EA] = {{1, 0, 0}, {1, 0, 0}},
        [NVME_RESERVATION_WERO] = {{1, 1, 1}, {1, 1, 0}},
        [NVME_RESERVATION_EARO] = {{1, 1, 0}, {1, 1, 0}},
        [NVME_RESERVATION_WEAR] = {{1, 1, 1}, {1, 1, 0}},
        [NVME_RESERVATION_EAAR] = {{1, 1, 0}, {1, 1, 0}},
    };

    return write ? table[type].write[relation] : table[type].read[relation];
}

static void assert_access(Host *h, unsigned type, unsigned relation)
{
    static const Io all[] = {
        {NVME_IO_WRITE, true},
        {NVME_IO_WRITE_ZEROES, true},
        {NVME_IO_DSM, true},
        {NVME_IO_COPY, true},
        {NVME_IO_FLUSH, true},
        {NVME_IO_READ, false},
        {NVME_IO_COMPARE, false},
        {NVME_IO_VERIFY, false},
        {NVME_IO_WRITE_UNCORRECTABLE, true},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(all); i++) {
        uint16_t status = do_io(h, all[i].opcode);
        bool may = allowed(type, relation, all[i].write);

        g_test_message("type %u, relation %u, opcode %02x: %03x", type,
                       relation, all[i].opcode, status);
        g_assert_cmphex(status, ==, may ? 0 : CONFLICT);
        if (may && all[i].opcode == NVME_IO_WRITE_UNCORRECTABLE) {
            g_assert_cmphex(do_io(h, NVME_IO_WRITE), ==, 0);
        }
    }
    g_assert_cmphex(admin_status(h, NVME_ADM_FORMAT, 1, ADMIN_DW(0), 0), ==,
                    allowed(type, relation, true) ? 0 : CONFLICT);
    g_assert_cmphex(
        admin_status(h, NVME_ADM_FORMAT, NVME_NSID_ALL, ADMIN_DW(0), 0), ==,
        allowed(type, relation, true) ? 0 : CONFLICT);
    if (!allowed(type, relation, true)) {
        g_assert_cmphex(admin_status(h, NVME_ADM_SANITIZE, 0, ADMIN_DW(4), 0),
                        ==, CONFLICT);
    }
}

static void test_access(void)
{
    Host *h[N_HOSTS];

    three(h);
    for (unsigned type = 0; type <= NVME_RESERVATION_EAAR; type++) {
        g_assert_cmphex(reg(h[0], REGISTER, 0, KEY(0)), ==, 0);
        g_assert_cmphex(reg(h[1], REGISTER, 0, KEY(1)), ==, 0);
        if (type) {
            g_assert_cmphex(acq(h[0], ACQUIRE, type, KEY(0), 0), ==, 0);
        }
        for (unsigned i = 0; i < N_HOSTS; i++) {
            assert_access(h[i], type, i);
        }
        g_assert_cmphex(rel(h[0], CLEAR, 0, KEY(0)), ==, 0);
        assert_access(h[2], NVME_RESERVATION_NONE, STRANGER);
    }
    end(h);
}

/* Format 2h: one range of 8 blocks of that namespace, into namespace 2. */
static uint16_t copy_from(Host *h, uint32_t nsid)
{
    NvmeSqe sqe = host_sqe(NVME_IO_COPY, 2, HOST_DATA);

    memset(host_ram(h, HOST_DATA, 32), 0, 32);
    put_le32(host_ram(h, HOST_DATA, 4), nsid);
    put_le16(host_ram(h, HOST_DATA + 16, 2), 7);
    sqe.dw[10] = 64;
    sqe.dw[12] = 2 << 8;
    return host_code(host_do(h, 1, &sqe).status);
}

static uint16_t delete_ns(Host *h, uint32_t nsid)
{
    return admin_status(h, NVME_ADM_NS_MANAGEMENT, nsid, ADMIN_DW(1), 0);
}

/* The source of a Copy is read, and Delete writes, with all namespaces that it
 * is for. */
static void test_other_namespaces(void)
{
    Host *h0 = first_of("256K;256K");
    Host *h1 = add(h0, 2, 0x20);

    memset(admin_data(h1), 0, 512);
    admin_data(h1)[4] = 1 << 2; /* CDFE */
    g_assert_cmphex(admin_set_feature(h1, 0x16, false, 0, 0), ==, 0);
    g_assert_cmphex(copy_from(h1, 1), ==, 0);
    g_assert_cmphex(reg(h0, REGISTER, 0, KEY(0)), ==, 0);
    g_assert_cmphex(acq(h0, ACQUIRE, NVME_RESERVATION_WE, KEY(0), 0), ==, 0);
    g_assert_cmphex(copy_from(h1, 1), ==, 0);
    g_assert_cmphex(delete_ns(h1, 1), ==, CONFLICT);
    g_assert_cmphex(rel(h0, RELEASE, NVME_RESERVATION_WE, KEY(0)), ==, 0);
    g_assert_cmphex(acq(h0, ACQUIRE, NVME_RESERVATION_EA, KEY(0), 0), ==, 0);
    g_assert_cmphex(copy_from(h1, 1), ==, CONFLICT);
    g_assert_cmphex(copy_from(h1, 2), ==, 0);
    g_assert_cmphex(delete_ns(h1, 1), ==, CONFLICT);
    g_assert_cmphex(delete_ns(h1, NVME_NSID_ALL), ==, CONFLICT);
    g_assert_cmphex(delete_ns(h1, 2), ==, 0);
    g_assert_cmphex(delete_ns(h0, 1), ==, 0);
    host_free(h1);
    host_free(h0);
}

/* ---- the commands -------------------------------------------------------- */

static void test_register(void)
{
    Host *h[N_HOSTS];

    three(h);
    assert_report(h[0], 0, 0, 0);
    g_assert_cmphex(reg(h[0], REGISTER, 0, 0), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(reg(h[0], 3, 0, 1), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(reg(h[0], 1U << 30, 0, 1), ==, NVME_SC_INVALID_FIELD);
    g_assert_cmphex(reg(h[0], REGISTER, 0, KEY(0)), ==, 0);
    g_assert_cmphex(reg(h[0], REGISTER, 0, KEY(0)), ==, 0); /* the same */
    g_assert_cmphex(reg(h[0], REGISTER, 0, KEY(1)), ==, CONFLICT);
    g_assert_cmphex(reg(h[1], REPLACE, 0, KEY(1)), ==, CONFLICT);
    g_assert_cmphex(reg(h[1], UNREGISTER, KEY(0), 0), ==, CONFLICT);
    g_assert_cmphex(reg(h[0], REPLACE, KEY(1), KEY(2)), ==, CONFLICT);
    g_assert_cmphex(reg(h[0], REPLACE, KEY(0), KEY(2)), ==, 0);
    g_assert_cmphex(reg(h[0], REPLACE | IEKEY, 0, KEY(3)), ==, 0);
    assert_report(h[1], 4, 0, 1);
    g_assert_cmphex(reg(h[0], UNREGISTER, KEY(0), 0), ==, CONFLICT);
    g_assert_cmphex(reg(h[0], UNREGISTER, KEY(3), 0), ==, 0);
    g_assert_cmphex(acq(h[0], ACQUIRE, 1, KEY(3), 0), ==, CONFLICT);
    assert_report(h[1], 5, 0, 0);
    end(h);
}

static void test_acquire_and_release(void)
{
    Host *h[N_HOSTS];

    three(h);
    for (unsigned type = 1; type <= NVME_RESERVATION_EAAR; type++) {
        bool all = type >= NVME_RESERVATION_WEAR;
        unsigned released = type >= NVME_RESERVATION_WERO ? 2 : 0;

        g_assert_cmphex(reg(h[0], REGISTER, 0, KEY(0)), ==, 0);
        g_assert_cmphex(reg(h[1], REGISTER, 0, KEY(1)), ==, 0);
        g_assert_cmphex(acq(h[0], ACQUIRE, 0, KEY(0), 0), ==,
                        NVME_SC_INVALID_FIELD);
        g_assert_cmphex(acq(h[0], ACQUIRE, 7, KEY(0), 0), ==,
                        NVME_SC_INVALID_FIELD);
        g_assert_cmphex(acq(h[0], ACQUIRE, type, KEY(1), 0), ==, CONFLICT);
        g_assert_cmphex(acq(h[2], ACQUIRE, type, 0, 0), ==, CONFLICT);
        g_assert_cmphex(rel(h[0], RELEASE, type, KEY(0)), ==, 0); /* none */
        g_assert_cmphex(acq(h[0], ACQUIRE, type, KEY(0), 0), ==, 0);
        g_assert_cmphex(acq(h[0], ACQUIRE, type, KEY(0), 0), ==, 0);
        g_assert_cmphex(acq(h[0], ACQUIRE, type % 6 + 1, KEY(0), 0), ==,
                        CONFLICT);
        g_assert_cmphex(acq(h[1], ACQUIRE, type, KEY(1), 0), ==,
                        all ? 0 : CONFLICT);
        g_assert_cmpuint(report(h[2], false)[4], ==, type);
        g_assert_cmphex(rel(h[1], RELEASE, type % 6 + 1, KEY(1)), ==,
                        all ? NVME_SC_INVALID_FIELD : 0);
        g_assert_cmphex(rel(h[2], RELEASE, type, 0), ==, CONFLICT);
        g_assert_cmphex(rel(h[0], 2, type, KEY(0)), ==, NVME_SC_INVALID_FIELD);
        g_assert_cmpuint(report(h[2], false)[4], ==, type);
        g_assert_cmphex(rel(h[0], RELEASE, type, KEY(0)), ==, 0);
        g_assert_cmpuint(report(h[2], false)[4], ==, 0);
        assert_note(h[0], 0);
        assert_note(h[1], released);
        /* The holder leaves; with all registrants, the last one. */
        g_assert_cmphex(acq(h[0], ACQUIRE, type, KEY(0), 0), ==, 0);
        g_assert_cmphex(reg(h[0], UNREGISTER, KEY(0), 0), ==, 0);
        g_assert_cmpuint(report(h[2], false)[4], ==, all ? type : 0);
        assert_note(h[1], all ? 0 : released);
        g_assert_cmphex(reg(h[1], UNREGISTER, KEY(1), 0), ==, 0);
        g_assert_cmpuint(report(h[2], false)[4], ==, 0);
    }
    end(h);
}

/* Other identifiers of the same hosts: first none, then of the other size. */
static void to_extended(Host *h[N_HOSTS], Host *second, bool extended)
{
    for (unsigned i = 0; i < N_HOSTS; i++) {
        set_host_id(h[i], 0, extended);
    }
    set_host_id(second, 0x10, extended);
    for (unsigned i = 0; i < N_HOSTS; i++) {
        set_host_id(h[i], 0x10 * (i + 1), extended);
    }
}

static void test_report(void)
{
    Host *h[N_HOSTS];
    Host *second; /* of the host of h[0] */
    const uint8_t *p;
    NvmeSqe sqe = host_sqe(NVME_IO_RESERVATION_REPORT, 1, HOST_DATA);

    three(h);
    second = add(h[0], 9, 0x10);
    g_assert_cmphex(reg(h[0], REGISTER | FIRST_PTPL, 0, KEY(0)), ==, 0);
    g_assert_cmphex(reg(h[1], REGISTER, 0, KEY(1)), ==, 0);
    g_assert_cmphex(acq(second, ACQUIRE, 2, KEY(0), 0), ==, 0);
    g_assert_cmphex(do_io(h[0], NVME_IO_WRITE), ==, 0); /* one host */
    p = report(h[2], false);
    g_assert_cmpuint(get_le16(p + 5), ==, 3);
    g_assert_cmpuint(p[9], ==, 1); /* PTPLS */
    g_assert_cmpuint(get_le16(p + 24), ==, 1);
    g_assert_cmpuint(p[26], ==, 1); /* holds */
    g_assert_cmphex(get_le64(p + 32), ==, 0x10);
    g_assert_cmphex(get_le64(p + 40), ==, KEY(0));
    g_assert_cmpuint(get_le16(p + 48), ==, 9);
    g_assert_cmpuint(get_le16(p + 72), ==, 2);
    g_assert_cmpuint(p[74], ==, 0);
    g_assert_cmphex(get_le64(p + 96), ==, 0);
    /* The structure is that of the identifier's size. */
    sqe.dw[11] = 1;
    g_assert_cmphex(host_code(host_do(h[2], 1, &sqe).status), ==,
                    NVME_SC_HOST_ID_FORMAT);
    to_extended(h, second, true);
    p = report(h[2], true);
    g_assert_cmpuint(get_le16(p + 64), ==, 1);
    g_assert_cmphex(get_le64(p + 72), ==, KEY(0));
    g_assert_cmphex(p[80], ==, 0x10);
    g_assert_cmphex(p[128 + 16], ==, 0x10);
    sqe.dw[11] = 0;
    g_assert_cmphex(host_code(host_do(h[2], 1, &sqe).status), ==,
                    NVME_SC_HOST_ID_FORMAT);
    to_extended(h, second, false);
    host_free(second);
    host_free(h[1]); /* it stays registered, without a controller */
    p = report(h[2], false);
    g_assert_cmpuint(get_le16(p + 5), ==, 2);
    g_assert_cmphex(get_le16(p + 48), ==, 0xffff);
    host_free(h[2]);
    host_free(h[0]);
}

/* Base 2.1, 5.1.25.1.28: 64 and 128 bits at a time on different controllers. */
static void test_host_id_sizes(void)
{
    Host *h[N_HOSTS];
    Host *late;

    three(h);
    try_host_id(h[2], 0x30, true, NVME_SC_HOST_ID_FORMAT);
    try_host_id(h[2], 0x77, true, NVME_SC_HOST_ID_FORMAT);
    g_assert_cmphex(admin_get_feature(h[2], 0x81, 0, 0).status, ==, 0);
    g_assert_cmphex(admin_data(h[2])[0], ==, 0x30); /* it keeps its own */
    late = add(h[0], 9, 0);
    try_host_id(late, 0x40, true, NVME_SC_HOST_ID_FORMAT);
    set_host_id(late, 0, true); /* none, of either size */
    set_host_id(late, 0x40, false);
    host_free(late); /* one that has left is not in use */
    set_host_id(h[0], 0, false);
    set_host_id(h[1], 0, false);
    set_host_id(h[2], 0x30, true); /* its own identifier of the other size */
    try_host_id(h[1], 0x20, false, NVME_SC_HOST_ID_FORMAT);
    set_host_id(h[1], 0x20, true);
    end(h);
}

/* ---- preempting ---------------------------------------------------------- */

static void test_preempt(void)
{
    Host *h[N_HOSTS];

    three(h);
    for (unsigned i = 0; i < N_HOSTS; i++) {
        g_assert_cmphex(reg(h[i], REGISTER, 0, KEY(i)), ==, 0);
    }
    g_assert_cmphex(acq(h[0], ACQUIRE, 1, KEY(0), 0), ==, 0);
    g_assert_cmphex(acq(h[1], PREEMPT, 1, KEY(1), 0), ==,
                    NVME_SC_INVALID_FIELD);
    g_assert_cmphex(acq(h[1], PREEMPT, 1, KEY(1), 77), ==, CONFLICT);
    g_assert_cmphex(acq(h[1], PREEMPT, 1, KEY(0), KEY(0)), ==, CONFLICT);
    /* Of another registrant: the reservation stays. */
    g_assert_cmphex(acq(h[1], PREEMPT, 2, KEY(1), KEY(2)), ==, 0);
    assert_note(h[2], 1);
    assert_note(h[0], 0);
    assert_report(h[0], 4, 1, 2);
    g_assert_cmphex(reg(h[2], REGISTER, 0, KEY(2)), ==, 0);
    /* Of the holder, with another type. */
    g_assert_cmphex(acq(h[1], PREEMPT, 3, KEY(1), KEY(0)), ==, 0);
    assert_note(h[0], 1);
    assert_note(h[1], 0);
    assert_note(h[2], 2);
    assert_report(h[0], 6, 3, 2);
    g_assert_cmphex(do_io(h[0], NVME_IO_WRITE), ==, CONFLICT);
    g_assert_cmphex(do_io(h[1], NVME_IO_WRITE), ==, 0);
    /* Of all registrants. */
    g_assert_cmphex(acq(h[1], PREEMPT, 5, KEY(1), KEY(1)), ==, 0);
    assert_note(h[2], 2);
    assert_report(h[0], 7, 5, 2);
    g_assert_cmphex(acq(h[2], PREEMPT, 1, KEY(2), 0), ==, 0);
    assert_note(h[1], 1);
    assert_report(h[0], 8, 1, 1);
    g_assert_cmphex(do_io(h[2], NVME_IO_WRITE), ==, 0);
    g_assert_cmphex(do_io(h[1], NVME_IO_WRITE), ==, CONFLICT);
    /* Clear. */
    g_assert_cmphex(reg(h[0], REGISTER, 0, KEY(0)), ==, 0);
    g_assert_cmphex(rel(h[0], CLEAR, 0, KEY(0)), ==, 0);
    assert_note(h[2], 3);
    assert_note(h[0], 0);
    assert_report(h[0], 10, 0, 0);
    end(h);
}

/*
 * A host that names its own key: the holder keeps it, and takes the reservation
 * from itself; another registrant loses it, with all that have the same one,
 * and is not told.
 */
static void test_preempt_own(void)
{
    Host *h[N_HOSTS];

    three(h);
    g_assert_cmphex(reg(h[0], REGISTER, 0, KEY(0)), ==, 0);
    g_assert_cmphex(reg(h[1], REGISTER, 0, KEY(1)), ==, 0);
    g_assert_cmphex(reg(h[2], REGISTER, 0, KEY(1)), ==, 0); /* the same key */
    g_assert_cmphex(acq(h[0], ACQUIRE, 1, KEY(0), 0), ==, 0);
    g_assert_cmphex(acq(h[0], PREEMPT, 3, KEY(0), KEY(0)), ==, 0);
    assert_report(h[0], 4, 3, 3);
    assert_note(h[0], 0);
    assert_note(h[1], 2);
    assert_note(h[2], 2);
    g_assert_cmphex(acq(h[1], PREEMPT, 1, KEY(1), KEY(1)), ==, 0);
    assert_report(h[0], 5, 3, 1);
    assert_note(h[1], 0);
    assert_note(h[2], 1);
    assert_note(h[0], 0);
    g_assert_cmphex(acq(h[1], ACQUIRE, 1, KEY(1), 0), ==, CONFLICT);
    g_assert_cmphex(do_io(h[1], NVME_IO_WRITE), ==, CONFLICT);
    /* Without a holder, too. */
    g_assert_cmphex(rel(h[0], RELEASE, 3, KEY(0)), ==, 0);
    g_assert_cmphex(acq(h[0], PREEMPT_AND_ABORT, 1, KEY(0), KEY(0)), ==, 0);
    assert_report(h[0], 6, 0, 0);
    end(h);
}

/* Of a reservation of all registrants: it ends with the last of them. */
static void test_preempt_own_of_all(void)
{
    Host *h[N_HOSTS];

    three(h);
    g_assert_cmphex(reg(h[0], REGISTER, 0, KEY(0)), ==, 0);
    g_assert_cmphex(reg(h[1], REGISTER, 0, KEY(1)), ==, 0);
    g_assert_cmphex(acq(h[0], ACQUIRE, 6, KEY(0), 0), ==, 0);
    g_assert_cmphex(acq(h[0], PREEMPT, 6, KEY(0), KEY(0)), ==, 0);
    assert_report(h[2], 3, 6, 1);
    g_assert_cmphex(do_io(h[0], NVME_IO_READ), ==, CONFLICT);
    g_assert_cmphex(do_io(h[1], NVME_IO_READ), ==, 0);
    g_assert_cmphex(acq(h[1], PREEMPT, 6, KEY(1), KEY(1)), ==, 0);
    assert_report(h[2], 4, 0, 0);
    g_assert_cmphex(do_io(h[2], NVME_IO_WRITE), ==, 0);
    end(h);
}

/* The preempted host's commands have ended when Preempt and Abort has. */
static void test_preempt_and_abort(void)
{
    Host *h[N_HOSTS];
    unsigned aborted = 0;
    unsigned preempted = 0;
    HostCqe cqe;

    three(h);
    g_assert_cmphex(reg(h[0], REGISTER, 0, KEY(0)), ==, 0);
    g_assert_cmphex(reg(h[1], REGISTER, 0, KEY(1)), ==, 0);
    g_assert_cmphex(acq(h[0], ACQUIRE, 1, KEY(0), 0), ==, 0);
    for (unsigned i = 0; i < 40; i++) {
        NvmeSqe sqe =
            host_rw(h[0], NVME_IO_WRITE, 64 * i, 64, HOST_DATA + 65536);

        host_send(h[0], 1, &sqe);
    }
    nvme_run(h[0]->ctrl, h[0]->now_ns);
    g_assert_cmphex(acq(h[1], PREEMPT_AND_ABORT, 1, KEY(1), KEY(0)), ==, 0);
    for (unsigned i = 0; i < 40; i++) {
        cqe = host_wait(h[0], 1);
        if (cqe.status) {
            uint16_t code = host_code(cqe.status);

            g_assert_true(code == NVME_SC_PREEMPT_ABORT || code == CONFLICT);
            g_assert_cmphex(cqe.status & NVME_SC_DNR, ==, 0);
            preempted += code == NVME_SC_PREEMPT_ABORT;
            aborted++;
        }
    }
    g_assert_cmpuint(aborted, >, 0);
    g_assert_cmpuint(preempted, >, 0);
    g_assert_cmphex(do_io(h[0], NVME_IO_WRITE), ==, CONFLICT);
    /* Queues that go meanwhile, of either side. */
    for (unsigned i = 0; i < 8; i++) {
        NvmeSqe sqe =
            host_rw(h[1], NVME_IO_WRITE, 64 * i, 64, HOST_DATA + 65536);

        host_send(h[1], 1, &sqe);
    }
    g_assert_cmphex(reg(h[2], REGISTER, 0, KEY(2)), ==, 0);
    put_le64(host_ram(h[2], HOST_DATA, 8), KEY(2));
    put_le64(host_ram(h[2], HOST_DATA + 8, 8), KEY(1));
    {
        NvmeSqe sqe = host_sqe(NVME_IO_RESERVATION_ACQUIRE, 1, HOST_DATA);

        sqe.dw[10] = PREEMPT_AND_ABORT | 1 << 8;
        host_send(h[2], 1, &sqe);
    }
    nvme_run(h[1]->ctrl, h[1]->now_ns);
    g_assert_cmphex(host_delete_queues(h[1], 1), ==, 0);
    g_assert_cmphex(host_wait(h[2], 1).status, ==, 0);
    end(h);
}

/* ---- notifications ------------------------------------------------------- */

static void test_notification(void)
{
    Host *h[N_HOSTS];
    NvmeSqe aer = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);
    NvmeSqe set = host_sqe(NVME_ADM_SET_FEATURES, 1, 0);
    HostCqe cqe;

    three(h);
    for (unsigned i = 0; i < N_HOSTS; i++) {
        g_assert_cmphex(reg(h[i], REGISTER, 0, KEY(i)), ==, 0);
    }
    host_send(h[1], 0, &aer);
    set.dw[10] = 0x82;
    set.dw[11] = 1;
    g_assert_cmphex(host_code(host_do(h[2], 0, &set).status), ==,
                    NVME_SC_INVALID_FIELD);
    set.dw[11] = 1 << 2; /* RESREL */
    g_assert_cmphex(host_do(h[2], 0, &set).status, ==, 0);
    for (unsigned i = 0; i < 3; i++) {
        g_assert_cmphex(acq(h[0], ACQUIRE, 3, KEY(0), 0), ==, 0);
        g_assert_cmphex(rel(h[0], RELEASE, 3, KEY(0)), ==, 0);
    }
    cqe = host_wait(h[1], 0);
    g_assert_cmphex(cqe.dw0, ==, 0x800006);
    assert_note(h[2], 0); /* masked */
    for (unsigned i = 0; i < 3; i++) {
        g_assert_cmphex(admin_log(h[1], 0x80, 0, 64, 0), ==, 0);
        g_assert_cmpuint(get_le64(admin_data(h[1])), ==, i + 1);
        g_assert_cmpuint(admin_data(h[1])[9], ==, 2 - i);
        if (i < 2) { /* there is more: the next event */
            host_send(h[1], 0, &aer);
            g_assert_cmphex(host_wait(h[1], 0).dw0, ==, 0x800006);
        }
    }
    assert_note(h[1], 0);
    /* Of more than the log has room for, the oldest are lost. */
    for (unsigned i = 0; i < MOST_NOTES + 2; i++) {
        g_assert_cmphex(acq(h[0], ACQUIRE, 3, KEY(0), 0), ==, 0);
        g_assert_cmphex(rel(h[0], RELEASE, 3, KEY(0)), ==, 0);
    }
    g_assert_cmphex(admin_log(h[1], 0x80, 0, 64, 0), ==, 0);
    g_assert_cmpuint(get_le64(admin_data(h[1])), ==, 3 + 2 + 1);
    g_assert_cmpuint(admin_data(h[1])[9], ==, MOST_NOTES - 1);
    /* The mask is of one controller. */
    for (unsigned i = 1; i < N_HOSTS; i++) {
        NvmeSqe get = host_sqe(NVME_ADM_GET_FEATURES, 1, 0);

        get.dw[10] = 0x82;
        g_assert_cmphex(host_do(h[i], 0, &get).dw0, ==, i == 2 ? 1 << 2 : 0);
        get.dw[10] |= 1 << 8; /* the default */
        g_assert_cmphex(host_do(h[i], 0, &get).dw0, ==, 0);
    }
    end(h);
}

/* The drive keeps 64 hosts of a namespace. */
static void test_many(void)
{
    Host *h = first_of(NULL);

    for (unsigned i = 0; i < MOST_HOSTS; i++) {
        set_host_id(h, 1 + i, false);
        g_assert_cmphex(reg(h, REGISTER, 0, KEY(i)), ==, 0);
    }
    set_host_id(h, 1 + MOST_HOSTS, false);
    g_assert_cmphex(reg(h, REGISTER, 0, KEY(1)), ==, NVME_SC_INTERNAL);
    assert_report(h, MOST_HOSTS, 0, MOST_HOSTS);
    set_host_id(h, 1, false);
    g_assert_cmphex(reg(h, UNREGISTER, KEY(0), 0), ==, 0);
    set_host_id(h, 1 + MOST_HOSTS, false);
    g_assert_cmphex(reg(h, REGISTER, 0, KEY(1)), ==, 0);
    host_free(h);
}

/* ---- resets and power ---------------------------------------------------- */

static void test_resets(void)
{
    Host *h[N_HOSTS];
    Host *other;

    three(h);
    set_host_id(h[2], 0, false);
    other = add(h[0], 9, 0); /* not the same host as that of h[2] */
    g_assert_cmphex(reg(h[0], REGISTER, 0, KEY(0)), ==, 0);
    g_assert_cmphex(reg(h[2], REGISTER, 0, KEY(2)), ==, 0);
    g_assert_cmphex(acq(h[0], ACQUIRE, 3, KEY(0), 0), ==, 0);
    g_assert_cmphex(reg(other, UNREGISTER, KEY(2), 0), ==, CONFLICT);
    g_assert_cmphex(do_io(other, NVME_IO_WRITE), ==, CONFLICT);
    g_assert_cmphex(do_io(h[2], NVME_IO_WRITE), ==, 0);
    host_free(other);
    assert_report(h[1], 2, 3, 2);
    host_write32(h[0], NVME_REG_CC, 0);
    assert_report(h[1], 2, 3, 2);
    host_write32(h[2], NVME_REG_CC, 0); /* a host of its own: it is gone */
    assert_report(h[1], 2, 3, 1);
    host_free(h[2]);
    host_free(h[1]);
    host_free(h[0]);
}

static void cut(Host *h)
{
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
}

static void set_ptpl(Host *h, bool on)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_SET_FEATURES, 1, 0);

    sqe.dw[10] = 0x83;
    sqe.dw[11] = on;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    sqe.dw[0] = NVME_ADM_GET_FEATURES;
    g_assert_cmphex(host_do(h, 0, &sqe).dw0, ==, on);
}

static void test_power(void)
{
    for (unsigned ptpl = 0; ptpl < 2; ptpl++) {
        Host *h = first_of(NULL);
        Host *b = add(h, 2, 0x20);

        set_ptpl(h, ptpl);
        g_assert_cmphex(reg(h, REGISTER, 0, KEY(0)), ==, 0);
        g_assert_cmphex(acq(h, ACQUIRE, 1, KEY(0), 0), ==, 0);
        cut(h);
        bring_up(h, 0x10);
        bring_up(b, 0x20);
        g_assert_cmpuint(report(b, false)[4], ==, ptpl);
        g_assert_cmphex(do_io(b, NVME_IO_WRITE), ==, ptpl ? CONFLICT : 0);
        g_assert_cmphex(do_io(h, NVME_IO_WRITE), ==, 0);
        host_free(b);
        host_free(h);
    }
}

static void test_kept(void)
{
    Host *h = first_of(NULL);
    const HostOptions two = {.controllers = 2};
    GError *error = NULL;
    char *bytes;
    size_t n;

    g_assert_false(nvme_has_kept(h->ctrl));
    g_assert_cmphex(reg(h, REGISTER | FIRST_PTPL, 0, KEY(0)), ==, 0);
    g_assert_cmphex(acq(h, ACQUIRE, 2, KEY(0), 0), ==, 0);
    g_assert_true(nvme_has_kept(h->ctrl));
    bytes = kept_save(h, &n);
    host_free(h);
    kept_is_checked(&two, bytes, n);
    kept_is_refused(NULL, bytes, n,
                    "its drive has reservations: give controllers=2 or more");
    h = kept_load(&two, bytes, n, &error);
    g_assert_no_error(error);
    free(bytes);
    bring_up(h, 0x20);
    assert_report(h, 1, 2, 1);
    g_assert_cmphex(do_io(h, NVME_IO_READ), ==, CONFLICT);
    set_host_id(h, 0x10, false);
    g_assert_cmphex(do_io(h, NVME_IO_READ), ==, 0);
    host_free(h);
}

/* A subsystem of one controller has none of it. */
static void test_alone(void)
{
    Host *h = host_new(NULL);

    bring_up(h, 0x10);
    g_assert_cmphex(reg(h, REGISTER, 0, KEY(0)), ==, NVME_SC_INVALID_OPCODE);
    g_assert_cmphex(admin_log(h, 0x80, 0, 64, 0), ==, NVME_SC_INVALID_LOG_PAGE);
    admin_identify(h, 1);
    g_assert_cmphex(get_le16(admin_data(h) + 520) >> 5 & 1, ==, 0);
    host_free(h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/reservation/alone", test_alone);
    g_test_add_func("/nvme/reservation/access", test_access);
    g_test_add_func("/nvme/reservation/other-namespaces",
                    test_other_namespaces);
    g_test_add_func("/nvme/reservation/register", test_register);
    g_test_add_func("/nvme/reservation/acquire", test_acquire_and_release);
    g_test_add_func("/nvme/reservation/report", test_report);
    g_test_add_func("/nvme/reservation/host-id-sizes", test_host_id_sizes);
    g_test_add_func("/nvme/reservation/preempt", test_preempt);
    g_test_add_func("/nvme/reservation/preempt-own", test_preempt_own);
    g_test_add_func("/nvme/reservation/preempt-own-of-all",
                    test_preempt_own_of_all);
    g_test_add_func("/nvme/reservation/preempt-and-abort",
                    test_preempt_and_abort);
    g_test_add_func("/nvme/reservation/notification", test_notification);
    g_test_add_func("/nvme/reservation/many", test_many);
    g_test_add_func("/nvme/reservation/resets", test_resets);
    g_test_add_func("/nvme/reservation/power", test_power);
    g_test_add_func("/nvme/reservation/kept", test_kept);
    return g_test_run();
}
