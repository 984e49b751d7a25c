/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-atomic.c - atomic writes: what Identify promises, through power cuts and
 * beside reads.
 *
 * The crash campaign writes ranges of 512 bytes to 256 KiB that do not overlap,
 * many at a time, and cuts the power at a random instant.  After each cut all
 * blocks are read:
 *
 *   broken   a write that is promised whole is there in part
 *   lost     a write that was acknowledged as durable is not there as a whole
 *   alien    a block holds neither the old nor the new data
 *
 * must be 0 with every drive.  A write that is not promised may be torn; each
 * drive must be seen to tear such writes, and one that promises less than a
 * mapping unit to tear them inside of a unit.
 *
 * VSSD_CUTS=n sets the number of cuts of each drive.
 */
#include "host.h"

#define AREAS       8
#define AREA_BLOCKS 1024 /* of 512 bytes; a write is in the first half */
#define MOST_BLOCKS 512  /* 256 KiB */
#define UNIT        8
#define UNSET       0

/* ---- Identify and refusals ----------------------------------------------- */

typedef struct Fields {
    NvmeAtomic given; /* fields + 1 */
    const char *set;
    const char *namespaces;
    unsigned awun, awupf, nawun, nawupf, nabsn, nabspf, nabo; /* fields */
} Fields;

static void check_fields(const Fields *f)
{
    Host *h = host_new(&(HostOptions){
        .set = f->set, .atomic = f->given, .namespaces = f->namespaces});
    const uint8_t *d = h->ram + HOST_DATA;
    NvmeSqe sqe = host_sqe(NVME_ADM_IDENTIFY, 0, HOST_DATA);

    host_enable(h);
    sqe.dw[10] = 1;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    g_assert_cmpuint(get_le16(d + 526), ==, f->awun);
    g_assert_cmpuint(get_le16(d + 528), ==, f->awupf);
    sqe = host_sqe(NVME_ADM_IDENTIFY, 1, HOST_DATA);
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    g_assert_true(d[24] & 1 << 1); /* NSABP: the following are valid */
    g_assert_cmpuint(get_le16(d + 34), ==, f->nawun);
    g_assert_cmpuint(get_le16(d + 36), ==, f->nawupf);
    g_assert_cmpuint(get_le16(d + 40), ==, f->nabsn);
    g_assert_cmpuint(get_le16(d + 42), ==, f->nabo);
    g_assert_cmpuint(get_le16(d + 44), ==, f->nabspf);
    host_free(h);
}

#define WHOLE "buffer.plp=on;buffer.atomic=64KiB"

static void test_identify(void)
{
    static const Fields all[] = {
        {{UNSET}, NULL, NULL, 7, 0, 7, 7, 0, 7, 0},
        {{UNSET}, "ftl.unit=16KiB", NULL, 31, 0, 31, 31, 0, 31, 0},
        {{.nawupf = 1}, NULL, NULL, 7, 0, 7, 0, 0, 7, 0},
        {{.awun = 256, .nawupf = 4, .nabspf = 8},
         NULL,
         NULL,
         255,
         0,
         255,
         3,
         0,
         7,
         0},
        /* A buffer that keeps 64 KiB whole. */
        {{UNSET}, WHOLE, NULL, 127, 127, 127, 127, 0, 0, 0},
        {{.awupf = 32, .nawupf = 64, .nawun = 128},
         WHOLE,
         NULL,
         31,
         31,
         127,
         63,
         0,
         0,
         0},
        {{.awupf = 1, .nawupf = 32, .nabspf = 64, .nabo = 9, .nabsn = 64},
         WHOLE,
         NULL,
         7,
         0,
         31,
         31,
         63,
         63,
         8},
        {{UNSET}, WHOLE, "8MiB", 7, 0, 7, 7, 0, 7, 0},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(all); i++) {
        check_fields(&all[i]);
    }
}

static void test_refused(void)
{
    static const struct {
        NvmeAtomic given;
        const char *set;
        const char *says;
    } all[] = {
        {{.awupf = 8}, NULL, "atomic.awupf=7: a power cut leaves whole"},
        {{.nawupf = 9}, NULL, "atomic.nawupf=8: a power cut leaves whole"},
        {{.nawupf = 8, .nabspf = 1}, NULL, "atomic.nawupf=7: a power cut"},
        {{.nawupf = 8, .nabspf = 8, .nabo = 5},
         NULL,
         "atomic.nawupf=7: a power cut"},
        {{.awupf = 129}, WHOLE, "atomic.awupf=128: a power cut"},
        {{.awun = 4, .awupf = 8},
         WHOLE,
         "atomic.awun=3: must not be less than atomic.awupf=7"},
        {{.nawun = 4, .awun = 8},
         NULL,
         "atomic.nawun=3: must not be less than atomic.awun=7"},
        {{.nawupf = 4, .nabspf = 3},
         NULL,
         "atomic.nabspf=2: must not be less than atomic.nawupf=3"},
        {{.nabsn = 4},
         NULL,
         "atomic.nabsn=3: must not be less than atomic.nawun=7"},
        {{.nabo = 9}, NULL, "atomic.nabo=8: allowed up to"},
        {{.nawun = 65537}, NULL, "atomic.nawun=65536: allowed 0..65535"},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(all); i++) {
        GError *error = NULL;
        HostOptions o = {.set = all[i].set, .atomic = all[i].given};

        g_assert_false(host_try(&o, &error));
        g_assert_nonnull(strstr(error->message, all[i].says));
        g_error_free(error);
    }
}

/* Feature 0Ah: as given, until the host sets it. */
static void test_disable_normal(void)
{
    Host *h = host_new(&(HostOptions){.atomic = {.dn = true}});
    NvmeSqe sqe = host_sqe(NVME_ADM_GET_FEATURES, 0, 0);

    host_enable(h);
    for (unsigned sel = 0; sel < 3; sel++) { /* current, default, saved */
        HostCqe cqe;

        sqe.dw[10] = 0x0a | sel << 8;
        cqe = host_do(h, 0, &sqe);
        g_assert_cmphex(cqe.status, ==, 0);
        g_assert_cmpuint(cqe.dw0, ==, 1);
    }
    sqe = host_sqe(NVME_ADM_SET_FEATURES, 0, 0);
    sqe.dw[10] = 0x0a;
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    sqe = host_sqe(NVME_ADM_GET_FEATURES, 0, 0);
    sqe.dw[10] = 0x0a;
    g_assert_cmpuint(host_do(h, 0, &sqe).dw0, ==, 0);
    host_free(h);
}

/* ---- the crash campaign -------------------------------------------------- */

typedef struct Mode {
    const char *name;
    const char *set;
    NvmeAtomic given;
    const char *namespaces;
    uint32_t whole;    /* writes up to so many blocks are promised */
    uint32_t boundary; /* within this; 0: wherever they are */
    bool inside;       /* others are torn inside of units */
    bool kept;         /* an acknowledged write is durable */
    bool zeroes;       /* every other write is a Write Zeroes */
} Mode;

typedef struct Write {
    uint64_t lba;
    uint32_t n; /* 0: none */
    uint32_t version;
    uint16_t cid;
    bool acked;
    bool durable;
    bool fua;
    bool zeroes;
} Write;

typedef struct Crash {
    const Mode *mode;
    Host *h;
    Prng prng;
    uint32_t version;
    uint32_t *held; /* by block: its version; 0: zeroes */
    Write w[AREAS];
    unsigned n_promised, n_torn, n_inside, broken, lost, alien;
} Crash;

static uint64_t word(uint64_t lba, uint32_t version)
{
    return version ? lba << 32 | version : 0;
}

static uint32_t draw_length(Crash *c)
{
    static const uint32_t most[] = {UNIT, 2 * UNIT, 128, 140, MOST_BLOCKS};

    return 1 + (uint32_t)prng_below(
                   &c->prng, most[prng_below(&c->prng, G_N_ELEMENTS(most))]);
}

static void send_write(Crash *c, unsigned area)
{
    Write *w = &c->w[area];
    uint64_t at = HOST_DATA + (uint64_t)area * MOST_BLOCKS * 512;
    NvmeSqe sqe;

    *w = (Write){.n = draw_length(c),
                 .version = ++c->version,
                 .fua = prng_below(&c->prng, 6) == 0,
                 .zeroes = c->mode->zeroes && prng_below(&c->prng, 2)};
    w->lba = area * AREA_BLOCKS + prng_below(&c->prng, AREA_BLOCKS / 2);
    if (prng_below(&c->prng, 2)) {
        w->lba -= w->lba % UNIT;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        for (uint32_t k = 0; k < 512; k += 8) {
            put_le64(c->h->ram + at + i * 512 + k,
                     word(w->lba + i, w->version));
        }
    }
    sqe = host_sqe(w->zeroes ? NVME_IO_WRITE_ZEROES : NVME_IO_WRITE, 1, 0);
    if (!w->zeroes) {
        host_map_at(c->h, &sqe, HOST_LISTS + (area + 1) * 4096, at,
                    w->n * 512ULL);
    }
    sqe.dw[10] = (uint32_t)w->lba;
    sqe.dw[12] = (w->n - 1) | (w->fua ? 1U << 30 : 0);
    w->cid = host_send(c->h, 1, &sqe);
}

static void collect(Crash *c)
{
    HostCqe cqe;

    while (host_poll(c->h, 1, &cqe)) {
        g_assert_cmphex(cqe.status, ==, 0);
        for (unsigned i = 0; i < AREAS; i++) {
            Write *w = &c->w[i];

            if (w->n && w->cid == cqe.cid) {
                w->acked = true;
                w->durable = w->fua || c->mode->kept;
            }
        }
    }
}

/* Writes, and now and then a flush of those that were acknowledged. */
static void work(Crash *c)
{
    for (unsigned i = 0; i < AREAS; i++) {
        send_write(c, i);
    }
    for (uint64_t n = prng_below(&c->prng, 40); n > 0; n--) {
        host_step(c->h);
        collect(c);
    }
    if (prng_below(&c->prng, 4) == 0) {
        host_sleep(c->h, prng_below(&c->prng, 3000000));
        collect(c);
    }
    if (prng_below(&c->prng, 6) == 0) {
        bool acked[AREAS];

        for (unsigned i = 0; i < AREAS; i++) {
            acked[i] = c->w[i].acked;
        }
        g_assert_cmphex(host_flush(c->h, 2), ==, 0);
        collect(c);
        for (unsigned i = 0; i < AREAS; i++) {
            c->w[i].durable |= acked[i];
        }
    }
}

static bool is_promised(const Mode *m, const Write *w)
{
    return w->n == 1 ||
           (w->n <= m->whole &&
            (!m->boundary ||
             w->lba / m->boundary == (w->lba + w->n - 1) / m->boundary));
}

/* The version of a block: one of two. */
static uint32_t found(Crash *c, const Write *w, uint32_t i)
{
    uint64_t lba = w->lba + i;
    uint32_t new = w->zeroes ? 0 : w->version;
    const uint8_t *p = c->h->ram + HOST_DATA + (uint64_t)i * 512;
    uint32_t version = get_le64(p) == word(lba, new) ? new : c->held[lba];

    for (uint32_t k = 0; k < 512; k += 8) {
        c->alien += get_le64(p + k) != word(lba, version);
    }
    return version;
}

/* Blocks that were zeroes before a Write Zeroes tell nothing. */
static void judge(Crash *c, const Write *w)
{
    uint32_t new = w->zeroes ? 0 : w->version;
    uint32_t n_new = 0;
    uint32_t n_old = 0;
    bool inside = false;
    bool last = false;          /* the block before that tells is new */
    uint64_t unit = UINT64_MAX; /* and its unit */

    g_assert_cmphex(host_io(c->h, 1, NVME_IO_READ, w->lba, w->n, HOST_DATA), ==,
                    0);
    for (uint32_t i = 0; i < w->n; i++) {
        bool is_new = found(c, w, i) == new;

        if (c->held[w->lba + i] == new) {
            continue;
        }
        inside |= is_new != last && (w->lba + i) / UNIT == unit;
        last = is_new;
        unit = (w->lba + i) / UNIT;
        n_new += is_new;
        n_old += !is_new;
    }
    c->n_promised += is_promised(c->mode, w);
    c->lost += w->durable && n_old > 0;
    if (n_new > 0 && n_old > 0) {
        c->broken += is_promised(c->mode, w);
        c->n_torn++;
        c->n_inside += inside;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        c->held[w->lba + i] = found(c, w, i);
    }
}

static void bring_up(Crash *c)
{
    memset(c->h->cq, 0, sizeof(c->h->cq));
    host_enable(c->h);
    g_assert_cmphex(host_create_queues(c->h, 1, 1, 64), ==, 0);
    g_assert_cmphex(host_create_queues(c->h, 2, 2, 64), ==, 0);
}

static void cut(Crash *c)
{
    nvme_power_cut(c->h->ctrl, c->h->now_ns);
    host_sleep(c->h, 1000);
    nvme_power_on(c->h->ctrl, c->h->now_ns);
    bring_up(c);
    for (unsigned i = 0; i < AREAS; i++) {
        judge(c, &c->w[i]);
    }
}

/* What the store has where the drive has nothing: it is never to be seen. */
static uint8_t *old_disk(const Mode *m)
{
    Host *h = host_new(&(HostOptions){.set = m->set});
    uint8_t *disk = g_malloc(h->disk_bytes);

    memset(disk, 0xff, h->disk_bytes);
    host_free(h);
    return disk;
}

static void test_crash(gconstpointer data)
{
    const char *s = g_getenv("VSSD_CUTS");
    unsigned cuts = s ? (unsigned)g_ascii_strtoull(s, NULL, 0) : 150;
    const Mode *m = data;
    Crash c = {.mode = m};

    c.h = host_new(&(HostOptions){.set = m->set,
                                  .atomic = m->given,
                                  .namespaces = m->namespaces,
                                  .no_preload = true,
                                  .disk = old_disk(m)});
    c.held = g_new0(uint32_t, AREAS *AREA_BLOCKS);
    prng_seed(&c.prng, 3, 0xa70);
    bring_up(&c);
    for (unsigned i = 0; i < cuts; i++) {
        work(&c);
        cut(&c);
    }
    g_test_message("%u cuts, %u writes promised whole: %u broken, %u lost, %u "
                   "blocks alien; %u of all torn, %u inside of a unit",
                   cuts, c.n_promised, c.broken, c.lost, c.alien, c.n_torn,
                   c.n_inside);
    g_assert_cmpuint(c.broken, ==, 0);
    g_assert_cmpuint(c.lost, ==, 0);
    g_assert_cmpuint(c.alien, ==, 0);
    g_assert_cmpuint(c.n_promised, >, cuts / 5);
    g_assert_cmpuint(c.n_torn, >, 0);
    g_assert_true(m->inside == (c.n_inside > 0));
    host_free(c.h);
    g_free(c.held);
}

static const Mode modes[] = {
    {.name = "unit", .whole = UNIT, .boundary = UNIT},
    {.name = "large-unit",
     .set = "ftl.unit=16KiB",
     .whole = 32,
     .boundary = 32},
    {.name = "block", .given = {.nawupf = 1}, .whole = 1, .inside = true},
    {.name = "half-unit",
     .given = {.nawupf = 4},
     .whole = 4,
     .boundary = UNIT,
     .inside = true},
    {.name = "block-lru",
     .given = {.nawupf = 1},
     .whole = 1,
     .inside = true,
     .set = "buffer.policy=lru"},
    {.name = "block-checkpoint",
     .given = {.nawupf = 1},
     .whole = 1,
     .inside = true,
     .set = "ftl.recovery=checkpoint;ftl.checkpoint_interval=50;"
            "ftl.op_percent=90%"},
    {.name = "block-zeroes",
     .given = {.nawupf = 1},
     .whole = 1,
     .inside = true,
     .zeroes = true},
    {.name = "kept",
     .set = "buffer.size=160KiB;" WHOLE,
     .whole = 128,
     .kept = true},
    {.name = "kept-zeroes",
     .set = "buffer.size=160KiB;" WHOLE,
     .whole = 128,
     .kept = true,
     .zeroes = true},
    {.name = "kept-lru",
     .whole = 128,
     .kept = true,
     .set = "buffer.policy=lru;buffer.size=160KiB;" WHOLE},
    {.name = "kept-namespaces",
     .whole = 32,
     .boundary = 32,
     .kept = true,
     .given = {.nawupf = 32, .nabspf = 32},
     .namespaces = "8MiB/8MiB",
     .set = "nand.blocks=800;buffer.size=160KiB;" WHOLE},
};

/* ---- the log of durable data ----------------------------------------------
 */

typedef struct LogRecord {
    uint64_t at_ns;
    uint64_t lba;
    uint64_t n;
    uint8_t kind;
    const uint8_t *data; /* of kind 1; 2: zeroes */
} LogRecord;

static int by_instant(const void *a, const void *b)
{
    const LogRecord *x = a;
    const LogRecord *y = b;

    return x->at_ns != y->at_ns ? (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns)
                                : (x > y) - (x < y);
}

/* The blocks that the log has at an instant (docs/durable-log-format.md). */
static void read_log(const char *path, uint64_t until_ns, uint8_t *image)
{
    g_autofree char *text = NULL;
    GArray *all = g_array_new(FALSE, FALSE, sizeof(LogRecord));
    gsize len;

    g_assert_true(g_file_get_contents(path, &text, &len, NULL));
    for (gsize at = 32; at < len;) {
        const uint8_t *p = (uint8_t *)text + at;
        LogRecord r = {get_le64(p), get_le64(p + 8), get_le64(p + 16), p[24],
                       p + 32};

        at += 32 + (r.kind == 1 ? r.n * 512 : 0);
        g_array_append_val(all, r);
    }
    qsort(all->data, all->len, sizeof(LogRecord), by_instant);
    for (unsigned i = 0; i < all->len; i++) {
        const LogRecord *r = &g_array_index(all, LogRecord, i);

        if (r->at_ns > until_ns || r->lba >= AREAS * AREA_BLOCKS) {
            continue;
        }
        if (r->kind == 1) {
            memcpy(image + r->lba * 512, r->data, r->n * 512);
        } else if (r->kind == 2) {
            memset(image + r->lba * 512, 0,
                   MIN(r->n, AREAS * AREA_BLOCKS - r->lba) * 512);
        }
    }
    g_array_free(all, TRUE);
}

/* A Write, Write Zeroes, Dataset Management or Flush; ranges overlap. */
static void send_any(Host *h, Prng *prng, unsigned i)
{
    static const uint8_t opcode[] = {NVME_IO_WRITE, NVME_IO_WRITE,
                                     NVME_IO_WRITE, NVME_IO_WRITE_ZEROES,
                                     NVME_IO_DSM};
    uint64_t lba = prng_below(prng, AREA_BLOCKS);
    uint32_t n = 1 + (uint32_t)prng_below(prng, 48);
    uint64_t at = HOST_DATA + i % 64 * 0x10000;
    NvmeSqe sqe = host_sqe(opcode[prng_below(prng, sizeof(opcode))], 1, at);

    if (prng_below(prng, 60) == 0) {
        sqe = host_sqe(NVME_IO_FLUSH, 1, 0);
    } else if (nvme_sqe_opcode(&sqe) == NVME_IO_DSM) {
        memset(h->ram + at, 0, 16);
        put_le32(h->ram + at + 4, n);
        put_le64(h->ram + at + 8, lba);
        sqe.dw[11] = 4;
    } else {
        for (uint32_t k = 0; k < n * 512; k += 8) {
            put_le64(h->ram + at + k, (uint64_t)i << 32 | k);
        }
        host_map_at(h, &sqe, HOST_LISTS + (i % 64 + 1) * 4096, at, n * 512ULL);
        sqe.dw[10] = (uint32_t)lba;
        sqe.dw[12] = n - 1;
    }
    host_send(h, 1, &sqe);
}

static void bring_host_up(Host *h)
{
    memset(h->cq, 0, sizeof(h->cq));
    host_enable(h);
    g_assert_cmphex(host_create_queues(h, 1, 1, 64), ==, 0);
}

/* With tears: the log has, at the instant of a cut, all that it leaves. */
static void cut_and_compare(const char *path, const char *set, unsigned seed)
{
    Host *h = host_new(&(HostOptions){
        .atomic = {.nawupf = 1}, .seed = seed, .slow = seed % 2, .set = set});
    g_autofree uint8_t *image = g_malloc0(AREAS * AREA_BLOCKS * 512);
    Prng prng;
    HostCqe cqe;
    uint64_t cut_ns;

    prng_seed(&prng, seed, 0x109);
    g_assert_true(nvme_durable_log_open(h->ctrl, path, NULL));
    bring_host_up(h);
    for (unsigned i = 0; i < 200 + prng_below(&prng, 100); i++) {
        send_any(h, &prng, i);
        for (uint64_t n = prng_below(&prng, 8); n > 0; n--) {
            host_step(h);
        }
        while (host_poll(h, 1, &cqe)) {
            g_assert_cmphex(cqe.status, ==, 0);
        }
    }
    cut_ns = h->now_ns;
    nvme_power_cut(h->ctrl, cut_ns);
    g_assert_true(nvme_durable_log_close(h->ctrl, NULL));
    read_log(path, cut_ns, image);
    host_sleep(h, 1000);
    nvme_power_on(h->ctrl, h->now_ns);
    bring_host_up(h);
    for (uint64_t lba = 0; lba < AREA_BLOCKS + 48; lba++) {
        g_assert_cmphex(host_io(h, 1, NVME_IO_READ, lba, 1, HOST_DATA), ==, 0);
        g_assert_cmpmem(h->ram + HOST_DATA, 512, image + lba * 512, 512);
    }
    host_free(h);
}

static void test_log(void)
{
    static const char *const sets[] = {
        "buffer.size=64KiB", "buffer.policy=lru;buffer.size=64KiB",
        "ftl.unit=16KiB", "host.complete_at=program"};
    g_autofree char *dir = g_dir_make_tmp("vssd-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "log", NULL);
    const char *s = g_getenv("VSSD_CUTS");
    unsigned cuts = s ? (unsigned)g_ascii_strtoull(s, NULL, 0) : 80;

    for (unsigned seed = 1; seed <= cuts; seed++) {
        cut_and_compare(path, sets[seed / 2 % G_N_ELEMENTS(sets)], seed);
    }
    remove(path);
    remove(dir);
}

/* ---- reads beside writes ------------------------------------------------- */

#define READERS 4

typedef struct Beside {
    Host *h;
    Prng prng;
    uint32_t nsid;
    uint16_t cid[2 * READERS]; /* writers, then readers; 0: free */
    uint32_t version;
} Beside;

/* Allocate all that is left if n is 0; the NSID. */
static uint32_t create(Host *h, uint64_t n)
{
    uint8_t *d = host_ram(h, HOST_DATA, 4096);
    NvmeSqe sqe = host_sqe(NVME_ADM_NS_MANAGEMENT, 0, HOST_DATA);
    HostCqe cqe;

    if (!n) {
        NvmeSqe id = host_sqe(NVME_ADM_IDENTIFY, 0, HOST_DATA);

        id.dw[10] = 1;
        g_assert_cmphex(host_do(h, 0, &id).status, ==, 0);
        n = get_le64(d + 296) / 512; /* UNVMCAP */
    }
    memset(d, 0, 4096);
    put_le64(d, n);
    put_le64(d + 8, n);
    cqe = host_do(h, 0, &sqe);
    g_assert_cmphex(cqe.status, ==, 0);
    return cqe.dw0;
}

/* A namespace of every second granule, and what is behind them. */
static uint32_t create_scattered(Host *h)
{
    NvmeSqe sqe;
    uint32_t nsid;

    for (uint32_t i = 0; i < 160; i++) {
        create(h, UNIT);
    }
    for (uint32_t i = 2; i <= 160; i += 2) {
        sqe = host_sqe(NVME_ADM_NS_MANAGEMENT, i, 0);
        sqe.dw[10] = 1; /* delete */
        g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    }
    nsid = create(h, 0);
    sqe = host_sqe(NVME_ADM_NS_ATTACHMENT, nsid, HOST_DATA);
    memset(h->ram + HOST_DATA, 0, 4096);
    put_le16(h->ram + HOST_DATA, 1);
    put_le16(h->ram + HOST_DATA + 2, 1);
    g_assert_cmphex(host_do(h, 0, &sqe).status, ==, 0);
    return nsid;
}

static uint64_t place(unsigned i)
{
    return HOST_DATA + (uint64_t)i * MOST_BLOCKS * 512;
}

static void send_beside(Beside *b, unsigned i)
{
    bool reads = i >= READERS;
    NvmeSqe sqe = host_sqe(reads ? NVME_IO_READ : NVME_IO_WRITE, b->nsid, 0);

    if (!reads) {
        b->version++;
        for (uint32_t k = 0; k < MOST_BLOCKS * 512; k += 8) {
            put_le64(b->h->ram + place(i) + k, b->version);
        }
    }
    host_map_at(b->h, &sqe, HOST_LISTS + (i + 1) * 4096, place(i),
                MOST_BLOCKS * 512);
    sqe.dw[10] = 5; /* neither at a unit nor at a page */
    sqe.dw[12] = MOST_BLOCKS - 1;
    b->cid[i] = host_send(b->h, 1, &sqe);
}

static void end_beside(Beside *b, const HostCqe *cqe)
{
    unsigned i = 0;

    while (b->cid[i] != cqe->cid) {
        g_assert_cmpuint(++i, <, 2 * READERS);
    }
    g_assert_cmphex(cqe->status, ==, 0);
    b->cid[i] = 0;
    for (uint32_t k = 0; i >= READERS && k < MOST_BLOCKS * 512; k += 8) {
        g_assert_cmpuint(get_le64(b->h->ram + place(i) + k), ==,
                         get_le64(b->h->ram + place(i)));
    }
}

/*
 * Writes of 256 KiB to one range, and reads of it: each read finds the data of
 * one write, whether that is in the overlay, at the store or in both; also
 * where the range is in 65 pieces of the drive, which has places for 80.
 */
static void test_beside(gconstpointer scattered)
{
    Beside b = {.nsid = 1};
    HostCqe cqe;
    bool written = false;

    b.h = host_new(&(HostOptions){.slow = true,
                                  .set = "host.queue_depth=80",
                                  .namespaces = scattered,
                                  .atomic = {.awun = MOST_BLOCKS}});
    prng_seed(&b.prng, 2, 0xbe5);
    host_enable(b.h);
    if (scattered) {
        b.nsid = create_scattered(b.h);
    }
    g_assert_cmphex(host_create_queues(b.h, 1, 1, 64), ==, 0);
    while (b.version < 80) {
        unsigned i = (unsigned)prng_below(&b.prng, 2 * READERS);

        if (!b.cid[i] && (written || i < READERS)) {
            send_beside(&b, i);
        }
        if (prng_below(&b.prng, 2)) {
            host_step(b.h);
        } else if (prng_below(&b.prng, 3) == 0) {
            host_store_step(b.h);
        }
        while (host_poll(b.h, 1, &cqe)) {
            end_beside(&b, &cqe);
            written = true;
        }
    }
    host_free(b.h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/atomic/identify", test_identify);
    g_test_add_func("/nvme/atomic/refused", test_refused);
    g_test_add_func("/nvme/atomic/disable-normal", test_disable_normal);
    g_test_add_func("/nvme/atomic/log", test_log);
    g_test_add_data_func("/nvme/atomic/beside", NULL, test_beside);
    g_test_add_data_func("/nvme/atomic/beside-scattered", "0", test_beside);
    for (unsigned i = 0; i < G_N_ELEMENTS(modes); i++) {
        g_autofree char *path =
            g_strconcat("/nvme/atomic/crash/", modes[i].name, NULL);

        g_test_add_data_func(path, &modes[i], test_crash);
    }
    return g_test_run();
}
