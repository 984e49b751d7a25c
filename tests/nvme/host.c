/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host.c - a machine and a driver around the controller; see host.h. */
#include "host.h"

#include <errno.h>
#include <stdlib.h>

#include "lazymem.h"
#include "simtime.h"
#include "ssd-save.h"
#include "ssd-setup.h"

/* ---- memory -------------------------------------------------------------- */

HostMemory *host_memory_new(uint64_t disk_bytes)
{
    HostMemory *m = g_new0(HostMemory, 1);

    g_assert_cmpuint(disk_bytes % HOST_PAGE, ==, 0);
    m->ram = lazy_alloc(1, HOST_RAM_BYTES);
    m->ram_used = g_malloc0(HOST_RAM_BYTES / HOST_PAGE);
    m->disk = lazy_alloc(1, disk_bytes);
    m->disk_used = g_malloc0(disk_bytes / HOST_PAGE);
    m->disk_bytes = disk_bytes;
    return m;
}

static bool all_zero(const uint8_t *p, uint64_t n)
{
    return *p == 0 && memcmp(p, p + 1, n - 1) == 0;
}

bool host_memory_clean(const HostMemory *m)
{
    return all_zero(m->ram, HOST_RAM_BYTES) && all_zero(m->disk, m->disk_bytes);
}

static void mark(uint8_t *used, uint64_t at, size_t len)
{
    if (len) {
        memset(used + at / HOST_PAGE, 1,
               (at + len - 1) / HOST_PAGE - at / HOST_PAGE + 1);
    }
}

static void clear(uint8_t *p, uint8_t *used, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes / HOST_PAGE; i++) {
        if (used[i]) {
            memset(p + i * HOST_PAGE, 0, HOST_PAGE);
            used[i] = 0;
        }
    }
}

uint8_t *host_ram(Host *h, uint64_t addr, size_t len)
{
    if (h->lent) {
        mark(h->lent->ram_used, addr, len);
    }
    return h->ram + addr;
}

uint8_t *host_disk(Host *h, uint64_t offset, size_t len)
{
    if (h->lent) {
        mark(h->lent->disk_used, offset, len);
    }
    return h->disk + offset;
}

/* ---- the machine -------------------------------------------------------- */

static bool in_ram(uint64_t addr, size_t len)
{
    return addr < HOST_RAM_BYTES && len <= HOST_RAM_BYTES - addr;
}

static int dma_read(void *opaque, uint64_t addr, void *buf, size_t len)
{
    Host *h = opaque;

    h->dma_reads++;
    if (h->before_read) {
        h->before_read(h, addr, len);
    }
    if (h->no_bus_master) {
        return -EIO;
    }
    if (!in_ram(addr, len)) {
        h->dma_faults++;
        return -EFAULT;
    }
    memcpy(buf, h->ram + addr, len);
    return 0;
}

static int dma_write(void *opaque, uint64_t addr, const void *buf, size_t len)
{
    Host *h = opaque;

    h->dma_writes++;
    if (h->before_write) {
        h->before_write(h, addr, len);
    }
    if (h->no_bus_master) {
        return -EIO;
    }
    if (!in_ram(addr, len)) {
        h->dma_faults++;
        return -EFAULT;
    }
    memcpy(host_ram(h, addr, len), buf, len);
    return 0;
}

static void msix(void *opaque, unsigned vector)
{
    Host *h = opaque;

    g_assert_true(h->msix_on);
    g_assert_cmpuint(vector, <, 65);
    h->msix_count[vector]++;
}

static void pin(void *opaque, bool level)
{
    Host *h = opaque;

    g_assert_true(h->pin != level);
    g_assert_true(!h->msix_on || !level);
    h->pin = level;
    h->n_pin_rises += level;
}

static bool msix_enabled(void *opaque)
{
    Host *h = opaque;

    return h->msix_on;
}

static uint64_t bar_address(void *opaque, unsigned bar)
{
    return ((Host *)opaque)->bar_address[bar];
}

static void bar_written(void *opaque, unsigned bar, uint64_t offset,
                        uint64_t bytes)
{
    Host *h = opaque;
    uint64_t size = bar == 2 ? h->cmb_bytes : h->pmr_bytes;

    g_assert_true(bar == 2 || bar == 4);
    g_assert_true(offset <= size && bytes <= size - offset);
    h->bar_writes++;
}

static void bar_show(void *opaque, unsigned bar, bool on)
{
    ((Host *)opaque)->bar_shown[bar] = on;
}

static bool pmr_sync(void *opaque)
{
    Host *h = opaque;

    h->pmr_syncs++;
    return !h->fail_syncs;
}

static void unplug(void *opaque, bool removed, uint64_t for_ns)
{
    Host *h = opaque;

    h->unplugged[removed]++;
    h->unplugged_ns = for_ns;
}

static const NvmeMachine machine = {
    .dma_read = dma_read,
    .dma_write = dma_write,
    .msix = msix,
    .pin = pin,
    .msix_enabled = msix_enabled,
    .bar_address = bar_address,
    .bar_written = bar_written,
    .bar_show = bar_show,
    .pmr_sync = pmr_sync,
    .unplug = unplug,
};

/* ---- the store ---------------------------------------------------------- */

/* Now and then a store does a part of what it was asked for. */
static uint64_t zero_part(Host *h, const NvmeStoreReq *req)
{
    uint64_t units = req->bytes / h->info->unit_bytes;

    return prng_below(&h->prng, 4) || units < 2
               ? req->bytes
               : (1 + prng_below(&h->prng, units - 1)) * h->info->unit_bytes;
}

/* Between the store's memory and that of a request. */
static void move(const NvmeStoreReq *req, uint8_t *at)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < req->niov; i++) {
        if (req->op == NVME_STORE_READ) {
            memcpy(req->iov[i].iov_base, at + bytes, req->iov[i].iov_len);
        } else {
            memcpy(at + bytes, req->iov[i].iov_base, req->iov[i].iov_len);
        }
        bytes += req->iov[i].iov_len;
    }
    g_assert_cmpuint(bytes, ==, req->bytes);
}

/* Do the work of a request; returns what its end is to say. */
static int store_do(Host *h, NvmeStoreReq *req)
{
    g_assert_cmpuint(req->offset, <=, h->disk_bytes);
    g_assert_cmpuint(req->bytes, <=, h->disk_bytes - req->offset);
    switch (req->op) {
    case NVME_STORE_READ:
        if (h->fail_reads) {
            return -EIO;
        }
        move(req, h->disk + req->offset);
        return 0;
    case NVME_STORE_WRITE:
        if (h->fail_writes) {
            return -EIO;
        }
        move(req, host_disk(h, req->offset, req->bytes));
        return 0;
    case NVME_STORE_ZERO:
        if (h->fail_zeroes) {
            return -EIO;
        }
        req->bytes = zero_part(h, req);
        memset(host_disk(h, req->offset, req->bytes), 0, req->bytes);
        return 0;
    case NVME_STORE_FLUSH:
        if (h->fail_flushes) {
            return -EIO;
        }
        h->flushes++;
        if (h->durable) {
            memcpy(h->durable, h->disk, h->disk_bytes);
        }
        return 0;
    }
    g_assert_not_reached();
}

/* The contract: no two overlap, except reads. */
static void check_overlap(Host *h, const NvmeStoreReq *req)
{
    for (unsigned i = 0; i < h->at_store->len; i++) {
        const NvmeStoreReq *o = g_ptr_array_index(h->at_store, i);

        if (o->op == NVME_STORE_READ && req->op == NVME_STORE_READ) {
            continue;
        }
        g_assert_true(o->offset + o->bytes <= req->offset ||
                      req->offset + req->bytes <= o->offset);
    }
}

static int store_submit(void *opaque, NvmeStoreReq *req)
{
    Host *h = opaque;

    if (h->null_store) {
        return 0;
    }
    check_overlap(h, req);
    if (!h->slow) {
        return store_do(h, req);
    }
    g_ptr_array_add(h->at_store, req);
    return -EINPROGRESS;
}

void host_store_finish(Host *h, unsigned i, int error)
{
    NvmeStoreReq *req = g_ptr_array_remove_index_fast(h->at_store, i);

    nvme_store_done(h->ctrl, h->now_ns, req, error ? error : store_do(h, req));
    nvme_run(h->ctrl, h->now_ns);
}

bool host_store_step(Host *h)
{
    if (!h->at_store->len) {
        return false;
    }
    host_store_finish(h, (unsigned)prng_below(&h->prng, h->at_store->len), 0);
    return true;
}

unsigned host_at_store(const Host *h, NvmeStoreOp op)
{
    unsigned n = 0;

    for (unsigned i = 0; i < h->at_store->len; i++) {
        const NvmeStoreReq *req = g_ptr_array_index(h->at_store, i);

        n += req->op == op;
    }
    return n;
}

bool host_store_end(Host *h, NvmeStoreOp op)
{
    for (unsigned i = 0; i < h->at_store->len; i++) {
        NvmeStoreReq *req = g_ptr_array_index(h->at_store, i);

        if (req->op == op) {
            g_ptr_array_remove_index(h->at_store, i);
            nvme_store_done(h->ctrl, h->now_ns, req, store_do(h, req));
            return true;
        }
    }
    return false;
}

static const NvmeStore store = { .submit = store_submit };

/* ---- life --------------------------------------------------------------- */

static SsdConfig *drive_config(const HostOptions *o)
{
    SsdConfig *cfg = ssd_config_new();
    GError *error = NULL;
    g_autofree char *path = NULL;

    path = g_strdup_printf("%s/%s.ini", PROFILE_DIR,
                           o->profile ? o->profile : "tiny");
    ssd_config_load(cfg, path, &error);
    g_assert_no_error(error);
    ssd_config_set_block_bytes(cfg, o->block_bytes ? o->block_bytes : 512,
                               &error);
    g_assert_no_error(error);
    if (o->set) {
        ssd_config_set(cfg, o->set, &error);
        g_assert_no_error(error);
    }
    return cfg;
}

static Ssd *make_drive(Host *h, const HostOptions *o)
{
    SsdConfig *own = o->config ? NULL : drive_config(o);
    GError *error = NULL;
    Ssd *ssd;

    ssd = ssd_create(own ? own : o->config, nvme_host_ops(), h->ctrl, &error);
    g_assert_no_error(error);
    ssd_config_free(own);
    return ssd;
}

/* Units of a given store that are not all zeroes hold data. */
static void preload(Host *h)
{
    uint64_t unit = h->info->unit_bytes;
    uint64_t n = unit / h->info->block_bytes;

    uint64_t end = h->drive_blocks * h->info->block_bytes;

    for (uint64_t at = 0; at + unit <= end; at += unit) {
        bool data = h->disk[at] ||
                    memcmp(h->disk + at, h->disk + at + 1, unit - 1);

        if (data) {
            g_assert_cmpint(ssd_preload(h->ssd, at / unit * n, n), ==, 0);
        }
    }
}

static bool attach(Host *h, const HostOptions *o, GError **error)
{
    NvmeConfig cfg = {
        .serial = o->serial ? o->serial : "TEST0001",
        .serial_by_default = o->serial_by_default,
        .cntlid = 1,
        .write_through = o->write_through,
        .sgl = o->sgl,
        .cmb = h->cmb,
        .cmb_bytes = o->cmb_bytes,
        .cmb_uses = o->cmb_uses,
        .cmb_legacy = o->cmb_legacy,
        .pmr = h->pmr,
        .pmr_bytes = o->pmr_bytes,
        .metadata = o->metadata,
        .pi = o->pi,
        .pi_first = o->pi_first,
        .metadata_extended = o->metadata_extended,
        .pi_guard = o->pi_guard,
        .pi_storage_bits = o->pi_storage_bits,
        .model = "vssd test drive",
        .firmware = "1.0",
        .pci_vid = 0x1b36,
        .pci_ssvid = 0x1af4,
        .n_queues = o->n_queues ? o->n_queues : 8,
        .n_vectors = o->n_vectors ? o->n_vectors : 65,
        .queue_size = 1024,
        .mdts = o->mdts ? o->mdts : 7,
        .eui64 = 0x0123456789abcdefULL,
        .nblocks = h->drive_blocks,
        .faults = o->faults,
        .namespaces = o->namespaces,
        .namespaces_fixed = o->namespaces_fixed,
        .no_nodas = o->no_nodas,
        .atomic = o->atomic,
        .fault_seed = o->seed,
        .dsm_hints = o->dsm_hints,
        .kv_cache = o->kv_cache ? o->kv_cache : NVME_KV_CACHE,
        .controllers = o->controllers,
        .secondaries = o->secondaries,
        .vq_flexible = o->vq_flexible,
        .vi_flexible = o->vi_flexible,
        .vq_per_secondary = o->vq_per_secondary,
        .vi_per_secondary = o->vi_per_secondary,
        .backlog = o->backlog ? o->backlog : NVME_BACKLOG,
        .firmware_slots = o->firmware_slots ? o->firmware_slots : 3,
        .firmware_slot1_writable = o->firmware_slot1_writable,
        .firmware_activation_ms = o->firmware_activation_ms,
    };

    return nvme_attach(h->ctrl, h->ssd, &cfg, error);
}

static Host *make(const HostOptions *o, GError **error)
{
    Host *h = g_new0(Host, 1);

    h->lent = o->lent;
    h->ram = h->lent ? h->lent->ram : lazy_alloc(1, HOST_RAM_BYTES);
    h->cmb_bytes = o->cmb_bytes;
    h->cmb = h->cmb_bytes ? g_malloc0(h->cmb_bytes) : NULL;
    h->pmr_bytes = o->pmr_bytes;
    h->pmr = h->pmr_bytes ? g_malloc0(h->pmr_bytes) : NULL;
    h->at_store = g_ptr_array_new();
    h->msix_on = !o->pin;
    h->slow = o->slow;
    prng_seed(&h->prng, 1, 0x405);
    h->ctrl = nvme_new(&machine, &store, h);
    h->ssd = make_drive(h, o);
    h->info = ssd_info(h->ssd);
    h->nblocks = o->nblocks ? o->nblocks : h->info->nblocks;
    h->drive_blocks = o->namespaces ? h->info->nblocks : h->nblocks;
    h->disk_bytes =
        nvme_store_bytes(h->drive_blocks, h->info->block_bytes, o->metadata);
    g_assert_true(!h->lent || h->disk_bytes <= h->lent->disk_bytes);
    h->disk = o->disk ? o->disk
              : h->lent ? h->lent->disk : g_malloc0(h->disk_bytes);
    if (o->disk && !o->no_preload) {
        preload(h);
    }
    if (o->durable) {
        h->durable = g_malloc0(h->disk_bytes);
        memcpy(h->durable, h->disk, h->disk_bytes);
    }
    if (o->prepare) {
        o->prepare(h, o->opaque);
    }
    if (!attach(h, o, error)) {
        host_free(h);
        return NULL;
    }
    return h;
}

Host *host_new(const HostOptions *o)
{
    static const HostOptions defaults;
    GError *error = NULL;
    Host *h = make(o ? o : &defaults, &error);

    g_assert_no_error(error);
    return h;
}

/* Of a further controller, without it. */
static Host *make_added(Host *first, uint16_t cntlid)
{
    Host *h = g_new0(Host, 1);

    h->first = first;
    h->ram = lazy_alloc(1, HOST_RAM_BYTES);
    h->at_store = g_ptr_array_new();
    h->msix_on = true;
    h->ssd = first->ssd;
    h->info = first->info;
    h->nblocks = first->nblocks;
    h->drive_blocks = first->drive_blocks;
    h->now_ns = first->now_ns;
    prng_seed(&h->prng, 1, cntlid);
    return h;
}

static Host *keep_added(Host *h)
{
    if (!h->ctrl) {
        host_free(h);
        return NULL;
    }
    return h;
}

Host *host_add(Host *first, uint16_t cntlid, GError **error)
{
    Host *h = make_added(first, cntlid);

    h->ctrl = nvme_add_controller(first->ctrl, &machine, h, cntlid, error);
    return keep_added(h);
}

Host *host_add_secondary(Host *first, uint16_t cntlid, uint16_t vfn,
                         GError **error)
{
    Host *h = make_added(first, cntlid);

    h->ctrl = nvme_add_secondary(first->ctrl, &machine, h, cntlid, vfn, error);
    if (h->ctrl) {
        nvme_secondary_enable(h->ctrl, h->now_ns, true);
    }
    return keep_added(h);
}

static void free_added(Host *h)
{
    if (h->ctrl) {
        nvme_remove_controller(h->ctrl);
    }
    g_ptr_array_free(h->at_store, TRUE);
    lazy_free(h->ram, 1, HOST_RAM_BYTES);
    g_free(h);
}

bool host_try(const HostOptions *o, GError **error)
{
    Host *h = make(o, error);

    if (h) {
        host_free(h);
    }
    return h != NULL;
}

/* ---- saving ------------------------------------------------------------- */

static FILE *begin_save(char **bytes, size_t *n)
{
    FILE *f = open_memstream(bytes, n);

    g_assert_nonnull(f);
    return f;
}

static GByteArray *end_save(FILE *f, char **bytes, size_t *n)
{
    fclose(f);
    return g_byte_array_new_take((guint8 *)*bytes, *n);
}

void host_settle(Host *h)
{
    NvmeSettled how;

    nvme_hold(h->ctrl, true);
    do {
        while (host_store_step(h)) {
        }
        how = nvme_settle(h->ctrl, &h->now_ns, h->now_ns + NS_PER_S);
    } while (how == NVME_SETTLE_STORE);
    g_assert_cmpint(how, ==, NVME_SETTLED);
}

void host_save(Host *h, GByteArray **drive, GByteArray **ctrl)
{
    GError *error = NULL;
    char *bytes = NULL;
    size_t n = 0;
    FILE *f = begin_save(&bytes, &n);

    ssd_save(h->ssd, f, &error);
    g_assert_no_error(error);
    *drive = end_save(f, &bytes, &n);
    f = begin_save(&bytes, &n);
    nvme_save(h->ctrl, f, &error);
    g_assert_no_error(error);
    *ctrl = end_save(f, &bytes, &n);
}

static bool load_both(Host *h, const HostOptions *o, const GByteArray *drive,
                      const GByteArray *ctrl, GError **error)
{
    SsdConfig *own = o->config ? NULL : drive_config(o);
    FILE *f = fmemopen(drive->data, drive->len, "rb");
    bool ok;

    h->ssd = ssd_load(own ? own : o->config, nvme_host_ops(), h->ctrl, f,
                      error);
    fclose(f);
    ssd_config_free(own);
    if (!h->ssd || !attach(h, o, error)) {
        return false;
    }
    h->info = ssd_info(h->ssd);
    if (o->attached) {
        o->attached(h, o->opaque, true);
    }
    f = fmemopen(ctrl->data, ctrl->len, "rb");
    ok = nvme_load(h->ctrl, f, error);
    fclose(f);
    nvme_hold(h->ctrl, true);
    if (o->attached && !ok) {
        o->attached(h, o->opaque, false);
    }
    return ok;
}

/* Another host has it. */
static void leave_memory(Host *h)
{
    h->lent = NULL;
    h->ram = NULL;
    h->disk = NULL;
    h->durable = NULL;
}

/* What is around the controller is that of `from`, memory and store included. */
static Host *load(const HostOptions *o, const Host *from,
                  const GByteArray *drive, const GByteArray *ctrl,
                  GError **error)
{
    Host *h = g_new(Host, 1);

    *h = *from;
    h->nblocks = o->nblocks ? o->nblocks : from->nblocks;
    h->drive_blocks = o->namespaces ? from->drive_blocks : h->nblocks;
    h->at_store = g_ptr_array_new();
    h->cmb = from->cmb ? g_memdup2(from->cmb, from->cmb_bytes) : NULL;
    h->pmr = from->pmr ? g_memdup2(from->pmr, from->pmr_bytes) : NULL;
    h->ssd = NULL;
    h->ctrl = nvme_new(&machine, &store, h);
    if (load_both(h, o, drive, ctrl, error)) {
        h->pin = nvme_pin_level(h->ctrl); /* as hw-ssd/qemu does */
        return h;
    }
    leave_memory(h);
    host_free(h);
    return NULL;
}

Host *host_load(const HostOptions *o, const Host *from, const GByteArray *drive,
                const GByteArray *ctrl, GError **error)
{
    Host *h = load(o, from, drive, ctrl, error);

    if (h) {
        h->lent = NULL;
        h->ram = lazy_alloc(1, HOST_RAM_BYTES);
        memcpy(h->ram, from->ram, HOST_RAM_BYTES);
        h->disk = g_memdup2(from->disk, from->disk_bytes);
        h->durable = NULL;
    }
    return h;
}

Host *host_reload(const HostOptions *o, Host *from, const GByteArray *drive,
                  const GByteArray *ctrl, GError **error)
{
    Host *h = load(o, from, drive, ctrl, error);

    if (h) {
        leave_memory(from);
        host_free(from);
    }
    return h;
}

void host_free(Host *h)
{
    if (h->first) {
        free_added(h);
        return;
    }
    while (host_store_step(h)) {
    }
    nvme_free(h->ctrl);
    if (h->ssd) {
        ssd_destroy(h->ssd);
    }
    g_ptr_array_free(h->at_store, TRUE);
    if (h->lent) {
        clear(h->ram, h->lent->ram_used, HOST_RAM_BYTES);
        clear(h->disk, h->lent->disk_used, h->lent->disk_bytes);
    } else {
        lazy_free(h->ram, 1, HOST_RAM_BYTES);
        g_free(h->disk);
    }
    g_free(h->durable);
    g_free(h->cmb);
    g_free(h->pmr);
    g_free(h);
}

/* ---- time --------------------------------------------------------------- */

uint32_t host_read32(Host *h, uint64_t offset)
{
    return nvme_reg_read(h->ctrl, offset, 4);
}

void host_write32(Host *h, uint64_t offset, uint32_t value)
{
    h->kicked = true;
    nvme_reg_write(h->ctrl, h->now_ns, offset, value, 4);
}

/* A machine that sleeps until the next event must not find it in the past. */
void host_run(Host *h)
{
    while (nvme_run(h->ctrl, h->now_ns)) {
    }
    g_assert_cmpuint(nvme_next_event_ns(h->ctrl), >, h->now_ns);
}

bool host_step(Host *h)
{
    uint64_t next;

    host_run(h);
    next = nvme_next_event_ns(h->ctrl);
    /* A slow store is slower than the drive. */
    if (h->at_store->len &&
        (next == SSD_TIME_NEVER || prng_below(&h->prng, 4) == 0)) {
        return host_store_step(h);
    }
    if (next == SSD_TIME_NEVER) {
        return false;
    }
    h->now_ns = MAX(h->now_ns, next);
    host_run(h);
    return true;
}

void host_sleep(Host *h, uint64_t ns)
{
    uint64_t until = h->now_ns + ns;

    for (;;) {
        uint64_t next;

        host_run(h);
        while (host_store_step(h)) {
        }
        next = nvme_next_event_ns(h->ctrl);
        if (next > until) {
            break;
        }
        h->now_ns = MAX(h->now_ns, next);
    }
    h->now_ns = until;
    host_run(h);
}

/* ---- the driver --------------------------------------------------------- */

void host_enable(Host *h)
{
    h->q[0] = (HostQueue){ .sq_addr = HOST_ADMIN_SQ, .sq_size = 32 };
    h->cq[0] = (HostCqRing){ .addr = HOST_ADMIN_CQ, .size = 32, .phase = 1 };
    memset(host_ram(h, HOST_ADMIN_CQ, 4096), 0, 4096);
    host_write32(h, NVME_REG_AQA, 31 << 16 | 31);
    nvme_reg_write(h->ctrl, h->now_ns, NVME_REG_ASQ, HOST_ADMIN_SQ, 8);
    nvme_reg_write(h->ctrl, h->now_ns, NVME_REG_ACQ, HOST_ADMIN_CQ, 8);
    /* All command sets, if there are several (CAP.CSS), as Linux does. */
    host_write32(h, NVME_REG_CC,
                 host_read32(h, NVME_REG_CAP + 4) >> 11 & 1 ? 0x00460061
                                                            : 0x00460001);
    host_run(h);
    while (host_read32(h, NVME_REG_CSTS) == 0) {
        host_sleep(h, 100000);
    }
    g_assert_cmphex(host_read32(h, NVME_REG_CSTS), ==, NVME_CSTS_RDY);
}

static uint64_t doorbell(unsigned index)
{
    return NVME_REG_DOORBELLS + 4 * index;
}

/*
 * Shadow doorbells as Base 1.4, section 7.13, has them: write the value, then
 * ring if it passes EventIdx.
 */
static void ring(Host *h, bool shadow, unsigned index, uint32_t value)
{
    uint16_t old;
    uint16_t event;

    if (!shadow) {
        host_write32(h, doorbell(index), value);
        return;
    }
    old = get_le32(h->ram + HOST_SHADOW_DB + 4 * index);
    put_le32(host_ram(h, HOST_SHADOW_DB + 4 * index, 4), value);
    event = get_le32(h->ram + HOST_SHADOW_EI + 4 * index);
    if ((uint16_t)(value - event - 1) < (uint16_t)(value - old)) {
        host_write32(h, doorbell(index), value);
    }
}

void host_put(Host *h, unsigned id, const NvmeSqe *sqe)
{
    HostQueue *q = &h->q[id];
    uint8_t *to = host_ram(h, q->sq_addr + q->sq_tail * 64, 64);

    for (unsigned i = 0; i < 16; i++) {
        put_le32(to + 4 * i, sqe->dw[i]);
    }
    q->sq_tail = (q->sq_tail + 1) % q->sq_size;
}

void host_ring(Host *h, unsigned id)
{
    ring(h, h->q[id].shadow, 2 * id, h->q[id].sq_tail);
}

uint16_t host_send(Host *h, unsigned id, const NvmeSqe *sqe)
{
    NvmeSqe s = *sqe;

    if (!nvme_sqe_cid(&s)) {
        h->next_cid = h->next_cid == 0xffff ? 1 : h->next_cid + 1;
        s.dw[0] |= (uint32_t)h->next_cid << 16;
    }
    host_put(h, id, &s);
    host_ring(h, id);
    return nvme_sqe_cid(&s);
}

bool host_poll(Host *h, unsigned cqid, HostCqe *cqe)
{
    HostCqRing *cq = &h->cq[cqid];
    const uint8_t *p = h->ram + cq->addr + cq->head * 16;
    uint16_t status = get_le16(p + 14);

    if ((status & 1) != cq->phase) {
        return false;
    }
    *cqe = (HostCqe){
        .dw0 = get_le32(p),
        .sqhd = get_le16(p + 8),
        .sqid = get_le16(p + 10),
        .cid = get_le16(p + 12),
        .status = status >> 1,
    };
    if (++cq->head == cq->size) {
        cq->head = 0;
        cq->phase ^= 1;
    }
    ring(h, cq->shadow, 2 * cqid + 1, cq->head);
    return true;
}

HostCqe host_wait(Host *h, unsigned cqid)
{
    HostCqe cqe;

    host_run(h);
    while (!host_poll(h, cqid, &cqe)) {
        bool moved = host_step(h);

        if (!moved) {
            g_error("completion queue %u: nothing will ever come", cqid);
        }
    }
    return cqe;
}

HostCqe host_do(Host *h, unsigned id, const NvmeSqe *sqe)
{
    uint16_t cid = host_send(h, id, sqe);
    HostCqe cqe = host_wait(h, h->q[id].cqid);

    g_assert_cmphex(cqe.cid, ==, cid);
    g_assert_cmpuint(cqe.sqid, ==, id);
    return cqe;
}

uint16_t host_code(uint16_t status)
{
    return status & NVME_SC_CODE_MASK;
}

/* ---- commands ----------------------------------------------------------- */

NvmeSqe host_sqe(uint8_t opcode, uint32_t nsid, uint64_t prp1)
{
    NvmeSqe sqe = { .dw = { [0] = opcode, [1] = nsid } };

    sqe.dw[6] = (uint32_t)prp1;
    sqe.dw[7] = prp1 >> 32;
    return sqe;
}

void host_map(Host *h, NvmeSqe *sqe, uint64_t addr, uint64_t bytes)
{
    host_map_at(h, sqe, HOST_LISTS, addr, bytes);
}

/* PRPs for a buffer that is contiguous. */
void host_map_at(Host *h, NvmeSqe *sqe, uint64_t at_list, uint64_t addr,
                 uint64_t bytes)
{
    uint64_t first = 4096 - addr % 4096;
    uint64_t prp2 = 0;

    sqe->dw[6] = (uint32_t)addr;
    sqe->dw[7] = addr >> 32;
    if (bytes > first + 4096) {
        uint8_t *list = host_ram(h, at_list, (bytes / 4096 + 2) * 8);

        for (uint64_t at = first; at < bytes; at += 4096) {
            if ((list - h->ram) % 4096 == 4088 && bytes - at > 4096) {
                put_le64(list, list - h->ram + 8);
                list += 8;
            }
            put_le64(list, addr + at);
            list += 8;
        }
        prp2 = at_list;
    } else if (bytes > first) {
        prp2 = addr + first;
    }
    sqe->dw[8] = (uint32_t)prp2;
    sqe->dw[9] = prp2 >> 32;
}

uint16_t host_create_queues(Host *h, unsigned id, unsigned cqid, uint32_t size)
{
    NvmeSqe sqe;
    uint16_t status;
    bool shadow = h->q[0].shadow; /* set when the driver uses shadows */

    if (!h->cq[cqid].size) {
        h->cq[cqid] = (HostCqRing){
            .addr = HOST_QUEUES + (2 * cqid + 1) * 0x10000,
            .size = size,
            .phase = 1,
            .shadow = shadow,
        };
        memset(host_ram(h, h->cq[cqid].addr, size * 16), 0, size * 16);
        sqe = host_sqe(NVME_ADM_CREATE_CQ, 0, h->cq[cqid].addr);
        sqe.dw[10] = (size - 1) << 16 | cqid;
        sqe.dw[11] = (h->msix_on ? cqid << 16 : 0) | 3;
        status = host_do(h, 0, &sqe).status;
        if (status) {
            h->cq[cqid].size = 0;
            return status;
        }
    }
    h->q[id] = (HostQueue){
        .id = id,
        .cqid = cqid,
        .sq_addr = HOST_QUEUES + 2 * id * 0x10000,
        .sq_size = size,
        .shadow = shadow,
    };
    sqe = host_sqe(NVME_ADM_CREATE_SQ, 0, h->q[id].sq_addr);
    sqe.dw[10] = (size - 1) << 16 | id;
    sqe.dw[11] = cqid << 16 | 1;
    return host_do(h, 0, &sqe).status;
}

uint16_t host_delete_queues(Host *h, unsigned id)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_DELETE_SQ, 0, 0);
    uint16_t status;

    sqe.dw[10] = id;
    status = host_do(h, 0, &sqe).status;
    if (status) {
        return status;
    }
    sqe = host_sqe(NVME_ADM_DELETE_CQ, 0, 0);
    sqe.dw[10] = h->q[id].cqid;
    status = host_do(h, 0, &sqe).status;
    h->cq[h->q[id].cqid].size = 0;
    return status;
}

NvmeSqe host_rw(Host *h, uint8_t opcode, uint64_t lba, uint32_t nblocks,
                uint64_t addr)
{
    NvmeSqe sqe = host_sqe(opcode, 1, 0);

    host_map(h, &sqe, addr, (uint64_t)nblocks * h->info->block_bytes);
    sqe.dw[10] = (uint32_t)lba;
    sqe.dw[11] = lba >> 32;
    sqe.dw[12] = nblocks - 1;
    return sqe;
}

uint16_t host_io(Host *h, unsigned id, uint8_t opcode, uint64_t lba,
                 uint32_t nblocks, uint64_t addr)
{
    NvmeSqe sqe = host_rw(h, opcode, lba, nblocks, addr);

    return host_do(h, id, &sqe).status;
}

uint16_t host_flush(Host *h, unsigned id)
{
    NvmeSqe sqe = host_sqe(NVME_IO_FLUSH, 1, 0);

    return host_do(h, id, &sqe).status;
}

/* From now on the driver uses shadow doorbells, for queues that exist too. */
uint16_t host_shadow_config(Host *h)
{
    NvmeSqe sqe = host_sqe(NVME_ADM_DOORBELL_BUFFER, 0, HOST_SHADOW_DB);
    uint16_t status;

    sqe.dw[8] = HOST_SHADOW_EI;
    status = host_do(h, 0, &sqe).status;
    for (unsigned i = 0; i < 65 && !status; i++) {
        h->q[i].shadow = true;
        h->cq[i].shadow = true;
    }
    return status;
}
