/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-state.c - controllers that are saved in the middle of their work and go
 * on elsewhere: every member is listed, the copy behaves as the original,
 * and a stream that is damaged, forged or foreign is refused or harmless.
 */
#include <malloc.h>
#include <stdlib.h>

#include "host.h"
#include "nvme-state.h"
#include "rest.h"
#include "simtime.h"
#include "ssd-report.h"

#define N_QUEUES 3
#define SQ_ENTRIES 16
#define CQ_ENTRIES 24 /* of one that serves two: may be full */

/* ---- the rows ----------------------------------------------------------- */

static void test_rows(void)
{
    for (unsigned i = 0; nvme_state_struct(i); i++) {
        const StateStruct *d = nvme_state_struct(i);
        const char *gap = state_gap(d);

        if (gap) {
            g_error("struct %s has a member, before %s, that the rows of its "
                    "state do not list (nvme-state.c, payload-state.c)",
                    d->name, gap);
        }
    }
}

/* ---- a guest that does anything ------------------------------------------ */

typedef struct Guest {
    Host *h;
    Prng rng;
    unsigned waiting[N_QUEUES + 1]; /* commands by queue */
    uint64_t seen; /* hash of all completions */
    uint64_t n_seen;
} Guest;

/* Two queues share a completion queue, the third has its own. */
static void open_queues(Guest *g, bool shadow)
{
    Host *h = g->h;

    host_enable(h);
    if (shadow) {
        g_assert_cmphex(host_shadow_config(h), ==, 0);
    }
    g_assert_cmphex(host_create_queues(h, 1, 1, CQ_ENTRIES), ==, 0);
    g_assert_cmphex(host_create_queues(h, 2, 1, SQ_ENTRIES), ==, 0);
    g_assert_cmphex(host_create_queues(h, 3, 3, SQ_ENTRIES), ==, 0);
}

static void note(Guest *g, uint64_t v)
{
    g->seen = (g->seen ^ v) * 0x9e3779b97f4a7c15ULL;
    g->seen ^= g->seen >> 29;
}

static void poll_all(Guest *g)
{
    HostCqe c;

    for (unsigned cq = 0; cq <= N_QUEUES; cq++) {
        while (cq != 2 && host_poll(g->h, cq, &c)) {
            note(g, g->h->now_ns);
            note(g, (uint64_t)c.dw0 << 32 | (uint64_t)c.cid << 16 | c.status);
            note(g, (uint64_t)c.sqid << 16 | c.sqhd);
            g_assert_cmpuint(g->waiting[c.sqid], >, 0);
            g->waiting[c.sqid]--;
            g->n_seen++;
        }
    }
}

static NvmeSqe random_io(Guest *g)
{
    static const uint8_t ops[] = {NVME_IO_READ, NVME_IO_WRITE, NVME_IO_WRITE,
                                  NVME_IO_WRITE, NVME_IO_COMPARE};
    uint32_t n = 1 + (uint32_t)prng_below(&g->rng, 40);
    uint64_t lba = prng_below(&g->rng, g->h->nblocks - n);
    uint64_t at = HOST_DATA + prng_below(&g->rng, 64) * 65536;
    NvmeSqe sqe;

    switch (prng_below(&g->rng, 8)) {
    case 0:
        return host_sqe(NVME_IO_FLUSH, 1, 0);
    case 1:
        sqe = host_sqe(NVME_IO_WRITE_ZEROES, 1, 0);
        sqe.dw[10] = (uint32_t)lba;
        sqe.dw[12] = n - 1;
        return sqe;
    default:
        put_le64(g->h->ram + at, prng_u64(&g->rng));
        sqe = host_rw(g->h, ops[prng_below(&g->rng, G_N_ELEMENTS(ops))], lba, n,
                      at);
        sqe.dw[12] |= prng_below(&g->rng, 8) == 0 ? 1U << 30 : 0;
        return sqe;
    }
}

static NvmeSqe random_admin(Guest *g)
{
    NvmeSqe sqe;

    if (prng_below(&g->rng, 2)) {
        return host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);
    }
    sqe = host_sqe(NVME_ADM_SET_FEATURES, 0, 0);
    sqe.dw[10] = prng_below(&g->rng, 2) ? 0x08 : 0x06; /* coalescing, cache */
    sqe.dw[11] = sqe.dw[10] == 0x08 ? (uint32_t)prng_below(&g->rng, 0x400)
                                    : (uint32_t)prng_below(&g->rng, 2);
    return sqe;
}

static void act(Guest *g, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned q = prng_below(&g->rng, 20)
                         ? 1 + (unsigned)prng_below(&g->rng, N_QUEUES)
                         : 0;

        if (g->waiting[q] < SQ_ENTRIES - 1) {
            NvmeSqe sqe = q ? random_io(g) : random_admin(g);

            host_send(g->h, q, &sqe);
            g->waiting[q]++;
        }
        host_run(g->h);
        for (uint64_t k = prng_below(&g->rng, 4); k > 0; k--) {
            host_step(g->h);
        }
        if (prng_below(&g->rng, 6) == 0) {
            poll_all(g);
        }
    }
}

/* ---- the copy behaves as the original ----------------------------------- */

static const struct {
    const char *name;
    HostOptions o;
    bool shadow;
} modes[] = {
    {"plain", {.profile = NULL}, false},
    {"shadow", {.profile = NULL}, true},
    {"pin", {.pin = true}, false},
    {"pin-shadow", {.pin = true}, true},
    {"slow-store", {.slow = true}, true},
    {"cache", {.set = "buffer.policy=lru;buffer.size=256KiB"}, true},
    {"protected", {.set = "buffer.plp=on"}, false},
    {"streams", {.set = "nand.blocks=64;ftl.op_percent=120%;streams.max=4", .slow = true}, true},
    {"placement", {.set = "nand.blocks=64;ftl.op_percent=120%;fdp.ruhs=4"}, false},
    {"few-places", {.set = "host.queue_depth=4"}, true},
    {"large-blocks", {.block_bytes = 4096, .n_queues = 4}, false},
};

static void compare(const Guest *a, const Guest *b)
{
    g_assert_cmpuint(a->n_seen, ==, b->n_seen);
    g_assert_cmphex(a->seen, ==, b->seen);
    g_assert_cmpuint(a->h->now_ns, ==, b->h->now_ns);
    g_assert_cmpint(a->h->pin, ==, b->h->pin);
    g_assert_cmpmem(a->h->msix_count, sizeof(a->h->msix_count),
                    b->h->msix_count, sizeof(b->h->msix_count));
    g_assert_cmpmem(a->h->ram, HOST_RAM_BYTES, b->h->ram, HOST_RAM_BYTES);
    g_assert_cmpmem(a->h->disk, a->h->disk_bytes, b->h->disk,
                    b->h->disk_bytes);
}

static char *stats_of(const Host *h)
{
    GString *text = g_string_new(NULL);
    JsonWriter w = {.out = text};

    nvme_stats_json(h->ctrl, &w, NULL);
    return g_string_free(text, FALSE);
}

static Guest copy_of(Guest *a, const HostOptions *o)
{
    g_autoptr(GByteArray) drive = NULL;
    g_autoptr(GByteArray) ctrl = NULL;
    GError *error = NULL;
    Guest b = *a;

    host_save(a->h, &drive, &ctrl);
    b.h = host_load(o, a->h, drive, ctrl, &error);
    g_assert_no_error(error);
    return b;
}

/* Repeated reports after a load equal those before. */
static void test_goes_on(gconstpointer data)
{
    unsigned m = GPOINTER_TO_UINT(data);
    const HostOptions *o = &modes[m].o;
    Guest a = {.h = host_new(o)};

    prng_seed(&a.rng, 7, m);
    open_queues(&a, modes[m].shadow);
    for (unsigned turn = 0; turn < 8; turn++) {
        g_autofree char *stats_a = NULL;
        g_autofree char *stats_b = NULL;
        Guest b;

        act(&a, 20 + 30 * turn);
        host_settle(a.h);
        g_assert_true(nvme_at_rest(a.h->ctrl));
        b = copy_of(&a, o);
        nvme_hold(a.h->ctrl, false);
        nvme_hold(b.h->ctrl, false);
        act(&a, 100);
        act(&b, 100);
        poll_all(&a);
        poll_all(&b);
        compare(&a, &b);
        stats_a = stats_of(a.h);
        stats_b = stats_of(b.h);
        g_assert_cmpstr(stats_a, ==, stats_b);
        host_free(a.h);
        a = b;
    }
    g_assert_cmpuint(a.n_seen, >, 500);
    host_free(a.h);
}

/* ---- nothing of the heap ------------------------------------------------- */

/* Where new memory has this byte. */
static void save_of(unsigned m, int fill, GByteArray **drive, GByteArray **ctrl)
{
    Guest a;

    mallopt(M_PERTURB, fill);
    a = (Guest){.h = host_new(&modes[m].o)};
    prng_seed(&a.rng, 11, m);
    open_queues(&a, modes[m].shadow);
    act(&a, 300);
    host_settle(a.h);
    host_save(a.h, drive, ctrl);
    host_free(a.h);
    mallopt(M_PERTURB, 0);
}

/*
 * The same work gives the same bytes, whatever the heap held before; but for
 * padding of structs, which clang leaves as it was.  With the address sanitizer
 * nothing can be told: mallopt() does not reach its heap.
 */
static void test_same_bytes(gconstpointer data)
{
    unsigned m = GPOINTER_TO_UINT(data);
    g_autoptr(GByteArray) drive_a = NULL;
    g_autoptr(GByteArray) drive_b = NULL;
    g_autoptr(GByteArray) ctrl_a = NULL;
    g_autoptr(GByteArray) ctrl_b = NULL;

#if defined(__clang__) || defined(__SANITIZE_ADDRESS__)
    g_test_skip("of builds by GCC without the address sanitizer");
    return;
#endif
    save_of(m, 1, &drive_a, &ctrl_a);
    save_of(m, 200, &drive_b, &ctrl_b);
    g_assert_cmpmem(drive_a->data, drive_a->len, drive_b->data, drive_b->len);
    g_assert_cmpmem(ctrl_a->data, ctrl_a->len, ctrl_b->data, ctrl_b->len);
}

/* ---- kept state, by example --------------------------------------------- */

static uint8_t *block_of(Host *h, uint64_t lba, uint64_t mark)
{
    uint8_t *p = h->ram + HOST_DATA;

    for (uint32_t i = 0; i < h->info->block_bytes; i += 8) {
        put_le64(p + i, mark << 32 | lba);
    }
    return p;
}

static void must_read(Host *h, uint64_t lba, uint64_t mark)
{
    uint8_t *p = h->ram + HOST_DATA;

    g_assert_cmphex(host_io(h, 1, NVME_IO_READ, lba, 1, HOST_DATA), ==, 0);
    g_assert_cmphex(get_le64(p), ==, mark ? mark << 32 | lba : 0);
    g_assert_cmphex(get_le64(p + h->info->block_bytes - 8), ==,
                    mark ? mark << 32 | lba : 0);
}

/* Data that only the overlay has travels, and is volatile afterwards as before.
 */
static void test_unflushed(void)
{
    const HostOptions o = {.set = "buffer.policy=lru"};
    Guest a = {.h = host_new(&o)};
    Host *h;

    open_queues(&a, false);
    for (uint64_t lba = 0; lba < 32; lba++) {
        block_of(a.h, lba, 1);
        g_assert_cmphex(host_io(a.h, 1, NVME_IO_WRITE, lba, 1, HOST_DATA), ==,
                        0);
    }
    host_flush(a.h, 1);
    for (uint64_t lba = 0; lba < 32; lba += 3) {
        block_of(a.h, lba, 2);
        g_assert_cmphex(host_io(a.h, 1, NVME_IO_WRITE, lba, 1, HOST_DATA), ==,
                        0);
    }
    host_settle(a.h);
    h = copy_of(&a, &o).h;
    host_free(a.h);
    nvme_hold(h->ctrl, false);
    for (uint64_t lba = 0; lba < 40; lba++) {
        must_read(h, lba, lba >= 32 ? 0 : lba % 3 == 0 ? 2 : 1);
    }
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    host_enable(h);
    h->cq[1].size = 0; /* as at the beginning */
    g_assert_cmphex(host_create_queues(h, 1, 1, SQ_ENTRIES), ==, 0);
    for (uint64_t lba = 0; lba < 40; lba++) {
        must_read(h, lba, lba >= 32 ? 0 : 1);
    }
    host_free(h);
}

/* Data that the store has refused is retried after the load. */
static void test_refused_by_store(void)
{
    const HostOptions o = {.set = "buffer.plp=on"};
    Guest a = {.h = host_new(&o)};
    Host *h;

    open_queues(&a, false);
    a.h->fail_writes = true;
    block_of(a.h, 5, 1);
    g_assert_cmphex(host_io(a.h, 1, NVME_IO_WRITE, 5, 1, HOST_DATA), !=, 0);
    host_settle(a.h);
    h = copy_of(&a, &o).h;
    host_free(a.h);
    h->fail_writes = false;
    nvme_hold(h->ctrl, false);
    must_read(h, 5, 1);
    g_assert_cmphex(host_flush(h, 1), ==, 0);
    g_assert_cmphex(get_le64(h->disk + 5 * h->info->block_bytes), ==,
                    1ULL << 32 | 5);
    host_free(h);
}

static void test_without_power(void)
{
    const HostOptions o = {.set = NULL};
    Guest a = {.h = host_new(&o)};
    Host *h;

    open_queues(&a, true);
    act(&a, 50);
    nvme_power_cut(a.h->ctrl, a.h->now_ns);
    host_settle(a.h);
    h = copy_of(&a, &o).h;
    host_free(a.h);
    nvme_hold(h->ctrl, false);
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, UINT32_MAX);
    nvme_power_on(h->ctrl, h->now_ns);
    host_enable(h);
    host_free(h);
}

/* A command in flight, or one of another controller, is no state to take. */
static void test_refusals(void)
{
    static const struct {
        HostOptions o;
        const char *why;
    } with[] = {
        {{.n_queues = 5}, "num_queues=8, this drive has num_queues=5"},
        {{.mdts = 6}, "mdts"},
        {{.nblocks = 100}, "blocks="},
        {{.set = "nand.pages=32"}, "nand.pages"},
        {{.block_bytes = 4096}, "logical blocks"},
    };
    const HostOptions o = {.set = NULL};
    Guest a = {.h = host_new(&o)};
    g_autoptr(GByteArray) drive = NULL;
    g_autoptr(GByteArray) ctrl = NULL;
    GError *error = NULL;
    NvmeSqe sqe;
    FILE *f = fopen("/dev/null", "wb");

    open_queues(&a, false);
    sqe = host_rw(a.h, NVME_IO_WRITE, 0, 8, HOST_DATA);
    host_send(a.h, 1, &sqe);
    host_run(a.h);
    g_assert_false(nvme_save(a.h->ctrl, f, &error));
    g_assert_cmpstr(error->message, ==, "commands are in flight");
    g_clear_error(&error);
    fclose(f);
    host_settle(a.h);
    host_save(a.h, &drive, &ctrl);
    for (size_t i = 0; i < G_N_ELEMENTS(with); i++) {
        g_assert_null(host_load(&with[i].o, a.h, drive, ctrl, &error));
        g_assert_nonnull(strstr(error->message, with[i].why));
        g_assert_null(strchr(error->message, '\n'));
        g_clear_error(&error);
    }
    host_free(a.h);
}

/* A held controller takes nothing, and everything afterwards. */
static void test_held(void)
{
    Guest a = {.h = host_new(NULL)};
    HostCqe c;
    NvmeSqe sqe;

    open_queues(&a, false);
    nvme_hold(a.h->ctrl, true);
    sqe = host_sqe(NVME_IO_FLUSH, 1, 0);
    host_send(a.h, 1, &sqe);
    host_sleep(a.h, NS_PER_S);
    g_assert_false(host_poll(a.h, 1, &c));
    nvme_hold(a.h->ctrl, false);
    c = host_wait(a.h, 1);
    g_assert_cmphex(c.status, ==, 0);
    host_free(a.h);
}

/* ---- forged streams ----------------------------------------------------- */

static Guest used(const HostOptions *o)
{
    Guest a = {.h = host_new(o)};

    prng_seed(&a.rng, 3, 3);
    open_queues(&a, true);
    act(&a, 200);
    for (unsigned i = 0; i < 3; i++) { /* and some that wait for events */
        NvmeSqe sqe = host_sqe(NVME_ADM_ASYNC_EVENT, 0, 0);

        host_send(a.h, 0, &sqe);
        a.waiting[0]++;
    }
    act(&a, 20);
    host_settle(a.h);
    return a;
}

static char *serial_of(Host *h)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_IDENTIFY, 0, HOST_DATA);

    nvme_hold(h->ctrl, false);
    sqe.dw[10] = 1;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    return g_strchomp(g_strndup((char *)h->ram + HOST_DATA + 4, 20));
}

/* A serial number that nobody chose gives way to the one that was saved: the
 * default of another version of vssd; one that somebody chose does not. */
static void test_serial(void)
{
    HostOptions o = { .serial = "vssd0" };
    Host *a = host_new(&o);
    g_autoptr(GByteArray) drive = NULL;
    g_autoptr(GByteArray) ctrl = NULL;
    g_autofree char *serial = NULL;
    GError *error = NULL;
    Host *b;

    host_enable(a);
    host_settle(a);
    host_save(a, &drive, &ctrl);
    o.serial = "vssd-04.0";
    g_assert_null(host_load(&o, a, drive, ctrl, &error));
    g_assert_cmpstr(error->message, ==, "it was saved with serial=vssd0, this "
                    "drive has serial=vssd-04.0");
    g_clear_error(&error);
    o.serial_by_default = true;
    b = host_load(&o, a, drive, ctrl, &error);
    g_assert_no_error(error);
    serial = serial_of(b);
    g_assert_cmpstr(serial, ==, "vssd0");
    host_free(b);
    host_free(a);
}

static void test_damage(void)
{
    const HostOptions o = {.set = NULL};
    Guest a = used(&o);
    g_autoptr(GByteArray) drive = NULL;
    g_autoptr(GByteArray) ctrl = NULL;
    GError *error = NULL;
    Prng rng;

    prng_seed(&rng, 1, 1);
    host_save(a.h, &drive, &ctrl);
    for (int i = 0; i < 60; i++) {
        uint64_t at = i < 20 ? (uint64_t)i * 8 : prng_below(&rng, ctrl->len);
        uint8_t flip = (uint8_t)(1U << prng_below(&rng, 8));

        ctrl->data[at] ^= flip;
        g_assert_null(host_load(&o, a.h, drive, ctrl, &error));
        g_assert_null(strchr(error->message, '\n'));
        g_clear_error(&error);
        ctrl->data[at] ^= flip;
    }
    for (int i = 0; i < 30; i++) {
        GByteArray cut = {
            .data = ctrl->data,
            .len = i ? 1 + (guint)prng_below(&rng, ctrl->len - 1)
                     : ctrl->len - 1,
        };

        g_assert_null(host_load(&o, a.h, drive, &cut, &error));
        g_clear_error(&error);
    }
    g_byte_array_append(ctrl, (const guint8 *)"more", 4);
    g_assert_null(host_load(&o, a.h, drive, ctrl, &error));
    g_assert_nonnull(strstr(error->message, "more after its end"));
    g_clear_error(&error);
    memcpy(ctrl->data, "VSSDNVME", STATE_SIGNATURE_BYTES);
    g_assert_null(host_load(&o, a.h, drive, ctrl, &error));
    g_assert_cmpstr(error->message, ==,
                    "it is of a version of vssd before 1.0: make it again");
    g_clear_error(&error);
    host_free(a.h);
}

static void forge(GByteArray *bytes, Prng *rng)
{
    uint64_t sum;

    for (uint64_t k = prng_below(rng, 3) + 1; k > 0; k--) {
        uint64_t at = 200 + prng_below(rng, bytes->len - 208);

        switch (prng_below(rng, 3)) {
        case 0:
            bytes->data[at] ^= (uint8_t)(1U << prng_below(rng, 8));
            break;
        case 1:
            bytes->data[at] = (uint8_t)prng_u64(rng);
            break;
        default:
            at = MIN(at, bytes->len - 12) & ~3ULL;
            memset(bytes->data + at, prng_below(rng, 2) ? 0xff : 0, 4);
        }
    }
    sum = state_sum(bytes->data, bytes->len - sizeof(sum));
    memcpy(bytes->data + bytes->len - sizeof(sum), &sum, sizeof(sum));
}

/* A controller from a forged stream: any result, but no crash. */
static void use(Host *h, Prng *rng)
{
    Guest g = {.h = h, .rng = *rng};

    nvme_hold(h->ctrl, false);
    for (unsigned i = 0; i < 60; i++) {
        NvmeSqe sqe = random_io(&g);

        host_send(h, 1 + i % N_QUEUES, &sqe);
        host_step(h);
    }
    for (unsigned i = 0; i < 200 && host_step(h); i++) {
    }
    g_free(stats_of(h));
    nvme_power_cut(h->ctrl, h->now_ns);
    nvme_power_on(h->ctrl, h->now_ns);
    host_write32(h, NVME_REG_CC, 0);
}

static void test_forged(void)
{
    const char *n = g_getenv("VSSD_FUZZ_INPUTS");
    const char *seed = g_getenv("VSSD_SEED");
    uint64_t inputs = n ? g_ascii_strtoull(n, NULL, 0) : 250;
    const HostOptions o = {.set = "nand.blocks=64;ftl.op_percent=120%;streams.max=4"};
    Guest a = used(&o);
    g_autoptr(GByteArray) drive = NULL;
    g_autoptr(GByteArray) good = NULL;
    uint64_t taken = 0;
    Prng rng;

    prng_seed(&rng, seed ? g_ascii_strtoull(seed, NULL, 0) : 1, 2);
    host_save(a.h, &drive, &good);
    for (uint64_t i = 0; i < inputs; i++) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        GError *error = NULL;
        Host *h;

        g_byte_array_append(bytes, good->data, good->len);
        forge(bytes, &rng);
        h = host_load(&o, a.h, drive, bytes, &error);
        g_assert_true(!h == !!error);
        g_clear_error(&error);
        if (h) {
            taken++;
            use(h, &rng);
            host_free(h);
        }
    }
    g_test_message("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " taken",
                   taken, inputs);
    host_free(a.h);
}

/* ---- the kept streams ---------------------------------------------------- */

static GByteArray *bytes_of(const char *version, const char *what)
{
    g_autofree char *name = g_strdup_printf("kept-%s.%s", version, what);
    g_autofree char *path = g_build_filename(TEST_DIR, name, NULL);
    char *bytes;
    gsize n;
    GError *error = NULL;

    g_file_get_contents(path, &bytes, &n, &error);
    g_assert_no_error(error);
    return g_byte_array_new_take((guint8 *)bytes, n);
}

/* VSSD_KEEP=DIRECTORY: streams as this build writes them, for a new version. */
static void keep(const char *dir)
{
    const HostOptions o = {.set = "buffer.size=64KiB"};
    Guest a = used(&o);
    g_autofree char *to_drive = g_strdup_printf("%s/kept-%d.drive", dir,
                                                STATE_VERSION);
    g_autofree char *to_ctrl = g_strdup_printf("%s/kept-%d.controller", dir,
                                               STATE_VERSION);
    g_autoptr(GByteArray) drive = NULL;
    g_autoptr(GByteArray) ctrl = NULL;
    GError *error = NULL;

    host_save(a.h, &drive, &ctrl);
    g_file_set_contents(to_drive, (char *)drive->data, drive->len, &error);
    g_assert_no_error(error);
    g_file_set_contents(to_ctrl, (char *)ctrl->data, ctrl->len, &error);
    g_assert_no_error(error);
    host_free(a.h);
}

/* They are loaded for ever, and the controller is of use: a guest that resets it
 * writes and reads. */
static void test_kept(void)
{
    const HostOptions o = {.set = "buffer.size=64KiB"};

    if (g_getenv("VSSD_KEEP")) {
        keep(g_getenv("VSSD_KEEP"));
        return;
    }
    for (unsigned v = 1; v <= STATE_VERSION; v++) {
        g_autofree char *version = g_strdup_printf("%u", v);
        g_autoptr(GByteArray) drive = bytes_of(version, "drive");
        g_autoptr(GByteArray) ctrl = bytes_of(version, "controller");
        Host *from = host_new(&o);
        GError *error = NULL;
        Host *h = host_load(&o, from, drive, ctrl, &error);

        g_assert_no_error(error);
        g_assert_cmphex(host_read32(h, NVME_REG_CSTS) & NVME_CSTS_RDY, ==, 1);
        nvme_hold(h->ctrl, false);
        host_write32(h, NVME_REG_CC, 0);
        host_enable(h);
        g_assert_cmphex(host_create_queues(h, 1, 1, SQ_ENTRIES), ==, 0);
        for (unsigned i = 0; i < 200; i++) {
            uint64_t lba = i * 7919 % (h->nblocks - 8);
            NvmeSqe sqe = host_rw(h, NVME_IO_WRITE, lba, 8, HOST_DATA);

            put_le64(h->ram + HOST_DATA, i);
            g_assert_cmphex(host_do(h, 1, &sqe).status, ==, 0);
            sqe = host_rw(h, NVME_IO_READ, lba, 8, HOST_DATA + 65536);
            g_assert_cmphex(host_do(h, 1, &sqe).status, ==, 0);
            g_assert_cmpuint(get_le64(h->ram + HOST_DATA + 65536), ==, i);
        }
        ssd_check(h->ssd, &error);
        g_assert_no_error(error);
        host_free(h);
        host_free(from);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/state/rows", test_rows);
    g_test_add_func("/nvme/state/held", test_held);
    for (unsigned i = 0; i < G_N_ELEMENTS(modes); i++) {
        g_autofree char *path =
            g_strdup_printf("/nvme/state/goes-on/%s", modes[i].name);
        g_autofree char *same =
            g_strdup_printf("/nvme/state/same-bytes/%s", modes[i].name);

        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_goes_on);
        g_test_add_data_func(same, GUINT_TO_POINTER(i), test_same_bytes);
    }
    g_test_add_func("/nvme/state/unflushed", test_unflushed);
    g_test_add_func("/nvme/state/refused-by-store", test_refused_by_store);
    g_test_add_func("/nvme/state/without-power", test_without_power);
    g_test_add_func("/nvme/state/refusals", test_refusals);
    g_test_add_func("/nvme/state/serial", test_serial);
    g_test_add_func("/nvme/state/damage", test_damage);
    g_test_add_func("/nvme/state/forged", test_forged);
    g_test_add_func("/nvme/state/kept", test_kept);
    return g_test_run();
}
