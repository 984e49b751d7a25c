/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kv-index.c - the index of a key-value namespace: its pages in the drive and
 * the payload, commits, and finding it again after the power was off.
 *
 * When the power returns, the first command waits until the drive has read the
 * tree: all its pages, once.  They say which units are in use.  Others that
 * hold something, of changes that were not committed, are deallocated.
 *
 * Knows requests of its own; knows nothing of commands (kv.c).
 */
#include "nvme-internal.h"
#include "data/data.h"
#include "kv/kv-index.h"
#include "namespace/namespace.h"
#include "queue/request.h"
#include "queue/steps.h"

#include "bitmap.h"

#define TRIMS_AT_ONCE 64

#define VALUE_MOST  (2U << 20)
#define PAGES_AHEAD 16
#define UNITS_MIN   1024
#define UNITS_MOST  UINT32_MAX

typedef struct Job {
    NvmeKv *kv;
    KvPage *page;
    void (*ended)(NvmeKv *kv, KvPage *page, uint16_t status);
} Job;

static void walk(NvmeKv *kv);
static void drained(NvmeKv *kv);
static void sweep(NvmeKv *kv);

/* ---- requests of the index ----------------------------------------------- */

static void become_cold(NvmeKv *kv);

static uint16_t read_error(const NvmeRequest *req)
{
    return !req->status && req->rd.ret ? NVME_SC_UNRECOVERED_READ : req->status;
}

static void job_done(NvmeCtrl *ctrl, NvmeRequest *req)
{
    Job job = *(Job *)req->job;

    g_free(req->job);
    req->job = NULL;
    job.kv->jobs--;
    job.ended(job.kv, job.page, read_error(req));
    if (job.kv->reset && !job.kv->jobs) {
        become_cold(job.kv);
    }
}

static NvmeRequest *begin_job(NvmeKv *kv, KvPage *page,
                              void (*ended)(NvmeKv *, KvPage *, uint16_t))
{
    NvmeRequest *req = nvme_request_new(kv->ctrl);
    Job *job = g_new(Job, 1);

    *job = (Job){kv, page, ended};
    req->admin = true;
    req->internal = true;
    req->ns = kv->ns;
    req->nsid = kv->ns->nsid;
    req->job = job;
    req->done = job_done;
    req->pending = 1;
    kv->jobs++;
    return req;
}

static void send_job(NvmeRequest *req, uint16_t status)
{
    if (status) {
        nvme_request_cancel_steps(req->ctrl, req);
        req->status = status;
    }
    nvme_request_start(req->ctrl, req);
    nvme_request_part_done(req->ctrl, req);
}

static void read_unit(NvmeRequest *req, const NvmeKv *kv, uint32_t unit,
                      uint8_t *to)
{
    NvmeRange range = {
        kv->ns,
        (uint64_t)unit * kv->unit_blocks,
        kv->unit_blocks,
    };

    req->buf = to;
    nvme_start_reads(kv->ctrl, req, &range, 1);
    req->buf = NULL; /* not the payload's to free */
}

static uint16_t write_unit(NvmeRequest *req, const NvmeKv *kv, uint32_t unit,
                           uint8_t *from)
{
    uint16_t status;

    req->buf = from;
    req->buf_done = 0;
    status = nvme_add_write(kv->ctrl, req, (uint64_t)unit * kv->unit_blocks,
                            kv->unit_blocks, NVME_FROM_BUFFER);
    req->buf = NULL;
    return status;
}

static void add_trim(NvmeRequest *req, const NvmeKv *kv, KvExtent e)
{
    uint64_t first = (uint64_t)e.unit * kv->unit_blocks;
    uint64_t left = (uint64_t)e.n * kv->unit_blocks;

    while (left) {
        uint64_t most = UINT32_MAX / kv->unit_blocks * kv->unit_blocks;
        uint64_t lba;
        uint64_t n = nvme_ns_piece(kv->ns, first, MIN(left, most), &lba);

        nvme_add_step(req, SSD_OP_TRIM, lba, (uint32_t)n);
        first += n;
        left -= n;
    }
}

/* ---- pages --------------------------------------------------------------- */

static void page_loaded(NvmeKv *kv, KvPage *page, uint16_t status)
{
    uint32_t unit = page->unit;

    kv_cache_loaded(&kv->cache, page, status == 0);
    if (kv->reset) {
        return;
    }
    nvme_kv_wake(kv, NVME_KV_FOR_PAGE, unit);
    nvme_kv_wake(kv, NVME_KV_FOR_FRAME, 0);
    if (kv->state == NVME_KV_MOUNTING && !kv->walking) {
        walk(kv);
    }
}

static void load(void *opaque, KvPage *page)
{
    NvmeKv *kv = opaque;
    NvmeRequest *req = begin_job(kv, page, page_loaded);

    read_unit(req, kv, page->unit, page->data);
    send_job(req, 0);
}

static void pages_done(NvmeKv *kv);

static void page_stored(NvmeKv *kv, KvPage *page, uint16_t status)
{
    bool committing = page->committing;

    kv_cache_stored(&kv->cache, page, status == 0);
    if (kv->reset) {
        return;
    }
    nvme_kv_wake(kv, NVME_KV_FOR_FRAME, 0);
    if (committing) {
        kv->commit_status = kv->commit_status ? kv->commit_status : status;
        if (--kv->pages_left == 0) {
            pages_done(kv);
        }
    } else if (kv->phase == NVME_KV_DRAIN) {
        drained(kv);
    }
}

static void store(void *opaque, KvPage *page)
{
    NvmeKv *kv = opaque;
    NvmeRequest *req = begin_job(kv, page, page_stored);

    send_job(req, write_unit(req, kv, page->unit, page->data));
}

static const KvBacking backing = {
    .load = load,
    .store = store,
};

/* ---- commits ------------------------------------------------------------- */

bool nvme_kv_is_dirty(const NvmeKv *kv)
{
    return kv->state == NVME_KV_READY && (kv->tree.changed || kv->stale);
}

static void commit_ended(NvmeKv *kv, uint16_t status)
{
    kv_space_committed(&kv->space, status == 0);
    kv->phase = NVME_KV_IDLE;
    kv->stale = status != 0;
    if (status) {
        kv->failed = kv->closed;
        kv->failed_status = status;
    } else {
        kv->committed = kv->closed;
        kv->n_commits++;
    }
    nvme_kv_wake(kv, NVME_KV_FOR_COMMIT, 0); /* may begin the next one */
}

/* That some unit was not deallocated costs no more than its room in NAND. */
static void trim_some(NvmeKv *kv, KvPage *page, uint16_t status)
{
    NvmeRequest *req;

    if (kv->reset) {
        return;
    }
    if (kv->trimmed == kv->space.dying->len) {
        commit_ended(kv, 0);
        return;
    }
    req = begin_job(kv, NULL, trim_some);
    while (kv->trimmed < kv->space.dying->len && req->nsteps < TRIMS_AT_ONCE) {
        add_trim(req, kv,
                 g_array_index(kv->space.dying, KvExtent, kv->trimmed));
        kv->trimmed++;
    }
    send_job(req, 0);
}

static void head_written(NvmeKv *kv, KvPage *page, uint16_t status)
{
    if (kv->reset) {
        return;
    }
    if (status) {
        commit_ended(kv, status);
        return;
    }
    kv->phase = NVME_KV_TRIM;
    kv->trimmed = 0;
    trim_some(kv, NULL, 0);
}

static void write_head(NvmeKv *kv)
{
    NvmeRequest *req = begin_job(kv, NULL, head_written);
    g_autofree uint8_t *unit = g_malloc0(kv->unit_bytes);
    uint16_t status;

    memcpy(unit, &kv->head, sizeof(kv->head));
    status = write_unit(req, kv, 0, unit);
    req->fua = true;
    req->barrier = true;
    send_job(req, status);
}

static void flushed(NvmeKv *kv, KvPage *page, uint16_t status)
{
    if (kv->reset) {
        return;
    }
    if (status) {
        commit_ended(kv, status);
        return;
    }
    kv->phase = NVME_KV_HEAD;
    write_head(kv);
}

static void pages_done(NvmeKv *kv)
{
    NvmeRequest *req;

    if (kv->commit_status) {
        commit_ended(kv, kv->commit_status);
        return;
    }
    kv->phase = NVME_KV_FLUSH;
    req = begin_job(kv, NULL, flushed);
    req->barrier = true; /* the store has the pages before the head record */
    nvme_add_step(req, SSD_OP_FLUSH, 0, 0);
    send_job(req, 0);
}

static KvHead make_head(const NvmeKv *kv)
{
    KvHead s = {
        .magic = GUINT64_TO_LE(KV_HEAD_MAGIC),
        .epoch = GUINT64_TO_LE(kv->tree.epoch),
        .n_keys = GUINT64_TO_LE(kv->tree.n_keys),
        .version = GUINT32_TO_LE(KV_HEAD_VERSION),
        .unit_bytes = GUINT32_TO_LE(kv->unit_bytes),
        .n_units = GUINT32_TO_LE(kv->n_units),
        .root = GUINT32_TO_LE(kv->tree.root),
        .height = GUINT32_TO_LE(kv->tree.height),
        .n_pages = GUINT32_TO_LE(kv->tree.n_pages),
        .value_units = GUINT32_TO_LE(kv->tree.value_units),
    };

    s.crc = GUINT64_TO_LE(
        kv_crc((const uint8_t *)&s, sizeof(s), offsetof(KvHead, crc)));
    return s;
}

/* No page is being written: the epoch ends here. */
static void drained(NvmeKv *kv)
{
    if (kv->cache.n_writing) {
        return;
    }
    kv->cache.hold = false;
    kv->phase = NVME_KV_PAGES;
    kv->commit_status = 0;
    kv->head = make_head(kv);
    kv->closed = kv->tree.epoch;
    kv_space_commit(&kv->space);
    kv_tree_begin_epoch(&kv->tree);
    kv->pages_left = 1;
    for (uint32_t i = 0; i < kv->cache.n && !kv->reset; i++) {
        KvPage *page = &kv->cache.page[i];

        if (page->dirty) {
            page->committing = true;
            kv->pages_left++;
            kv_cache_store(&kv->cache, page);
        }
    }
    if (--kv->pages_left == 0 && !kv->reset) {
        pages_done(kv);
    }
}

void nvme_kv_commit(NvmeKv *kv)
{
    if (kv->phase == NVME_KV_IDLE) {
        kv->phase = NVME_KV_DRAIN;
        kv->cache.hold = true;
        drained(kv);
    }
}

NvmeKvGo nvme_kv_stage_commit(NvmeCtrl *ctrl, NvmeKvOp *op)
{
    NvmeKv *kv = op->kv;

    if (kv->committed >= op->epoch) {
        return NVME_KV_NEXT;
    }
    if (kv->failed >= op->epoch) {
        return nvme_kv_end(op, kv->failed_status);
    }
    nvme_kv_commit(kv);
    return kv->committed >= op->epoch ? NVME_KV_NEXT
                                      : nvme_kv_wait(op, NVME_KV_FOR_COMMIT);
}

/* ---- mount --------------------------------------------------------------- */

static void mount_ended(NvmeKv *kv, NvmeKvState state)
{
    kv_path_clear(&kv->tree, &kv->walk);
    g_clear_pointer(&kv->walk_list, g_free);
    g_clear_pointer(&kv->unit, g_free);
    kv->state = (uint8_t)state;
    kv->n_mounts++;
    nvme_kv_wake(kv, NVME_KV_FOR_MOUNT, 0);
}

static void mount_failed(NvmeKv *kv)
{
    mount_ended(kv, NVME_KV_BROKEN);
    kv->ctrl->sub->life.media_errors++;
}

static bool is_mapped(const NvmeKv *kv, uint32_t unit)
{
    uint64_t lba;

    nvme_ns_piece(kv->ns, (uint64_t)unit * kv->unit_blocks, 1, &lba);
    return ssd_mapped(kv->ctrl->ssd, lba, NULL);
}

/* Units that hold something and are in no tree, a few at a time. */
static void swept(NvmeKv *kv, KvPage *page, uint16_t status)
{
    if (!kv->reset) {
        sweep(kv);
    }
}

static void sweep(NvmeKv *kv)
{
    NvmeRequest *req = NULL;

    while (kv->sweep < kv->n_units && (!req || req->nsteps < TRIMS_AT_ONCE)) {
        KvExtent e = {kv->sweep, 0};

        while (e.unit + e.n < kv->n_units && e.n < UNITS_MIN &&
               !bitmap_test(kv->space.used, e.unit + e.n) &&
               is_mapped(kv, e.unit + e.n)) {
            e.n++;
        }
        if (e.n) {
            req = req ? req : begin_job(kv, NULL, swept);
            add_trim(req, kv, e);
        }
        kv->sweep += MAX(e.n, 1);
    }
    if (req) {
        send_job(req, 0);
    } else {
        mount_ended(kv, NVME_KV_READY);
    }
}

static void mark_pages(NvmeKv *kv)
{
    for (uint32_t i = 0; i < kv->walk.n; i++) {
        uint32_t unit = kv->walk.page[i]->unit;

        if (!bitmap_test(kv->space.used, unit)) {
            kv_space_mark(&kv->space, (KvExtent){unit, 1});
        }
    }
}

/* The leaves behind this one. */
static void read_ahead(NvmeKv *kv, const KvPath *path)
{
    const KvPage *above = path->n ? path->page[path->n - 1] : NULL;
    uint32_t first, n;

    if (!above || GUINT16_FROM_LE(kv_page_head(above)->level) != 1) {
        return;
    }
    first = path->at[path->n - 1] + 1U;
    n = MIN(GUINT16_FROM_LE(kv_page_head(above)->n), first + PAGES_AHEAD);
    for (uint32_t i = first; i < n && kv->cache.n > 4 * PAGES_AHEAD; i++) {
        const KvInnerEntry *e =
            (const KvInnerEntry *)(above->data + sizeof(KvPageHead)) + i;
        uint32_t unit = GUINT32_FROM_LE(e->child);

        if (unit && unit < kv->n_units) {
            kv_cache_prefetch(&kv->cache, unit);
        }
    }
}

/* The units of an entry's value. */
static KvResult mark_value(NvmeKv *kv, const KvLeafEntry *e)
{
    KvValue v = kv_leaf_value(e);
    uint32_t n;
    KvResult r = kv_tree_extents(&kv->tree, &v, &kv->walk, kv->walk_list, &n);

    for (uint32_t i = 0; i < n && !r; i++) {
        r = kv_space_mark(&kv->space, kv->walk_list[i]) ? KV_OK : KV_DAMAGED;
    }
    if (!r && v.list && !kv_space_mark(&kv->space, (KvExtent){v.list, 1})) {
        r = KV_DAMAGED;
    }
    return r;
}

/* A page with the right checksum may be forged. */
static bool is_in_order(const KvPath *path, uint32_t i)
{
    const KvKey *key = &kv_leaf_entry(path, i)->key;

    return kv_key_ok(key) &&
           (i == 0 ||
            kv_key_compare(&kv_leaf_entry(path, i - 1)->key, key) < 0);
}

/* The entries of a leaf; walk_key: the one that it has come to. */
static KvResult walk_leaf(NvmeKv *kv)
{
    uint32_t leaf = kv->walk.n - 1;
    KvResult r = KV_OK;

    mark_pages(kv);
    for (uint32_t i = kv->walk.at[leaf]; i < kv_leaf_entries(&kv->walk) && !r;
         i++) {
        const KvLeafEntry *e = kv_leaf_entry(&kv->walk, i);

        if (!is_in_order(&kv->walk, i)) {
            return KV_DAMAGED;
        }
        kv->walk_key = e->key;
        r = mark_value(kv, e);
        kv->walk_keys += r == KV_OK;
    }
    return r;
}

static void walk_ended(NvmeKv *kv)
{
    if (kv->walk_keys != kv->tree.n_keys) {
        mount_failed(kv);
        return;
    }
    kv_path_clear(&kv->tree, &kv->walk);
    kv->sweep = 1;
    sweep(kv);
}

static void walk(NvmeKv *kv)
{
    KvKey next;
    KvResult r;

    if (kv->sweep) {
        return; /* a page that was read ahead */
    }
    kv->walking = true;
    do {
        r = kv_tree_seek(&kv->tree, &kv->walk_key, &kv->walk, &next);
        if (r == KV_WAIT_PAGE) {
            read_ahead(kv, &kv->walk);
        }
        if (r == KV_OK) {
            r = walk_leaf(kv);
        }
        if (r == KV_OK && next.bytes) {
            r = kv_key_compare(&kv->walk_key, &next) < 0 ? KV_OK : KV_DAMAGED;
            kv->walk_key = next;
        }
    } while (r == KV_OK && next.bytes);
    kv->walking = false;
    if (r == KV_OK || r == KV_ABSENT) {
        walk_ended(kv);
    } else if (r == KV_DAMAGED) {
        mount_failed(kv);
    }
}

/* Other data than that of a key-value namespace is none. */
static NvmeKvState take_head(NvmeKv *kv)
{
    KvHead s;
    KvTree *t = &kv->tree;

    memcpy(&s, kv->unit, sizeof(s));
    if (GUINT64_FROM_LE(s.magic) != KV_HEAD_MAGIC) {
        return NVME_KV_READY;
    }
    if (GUINT64_FROM_LE(s.crc) !=
            kv_crc((const uint8_t *)&s, sizeof(s), offsetof(KvHead, crc)) ||
        GUINT32_FROM_LE(s.version) != KV_HEAD_VERSION ||
        GUINT32_FROM_LE(s.unit_bytes) != kv->unit_bytes ||
        GUINT32_FROM_LE(s.n_units) != kv->n_units ||
        GUINT32_FROM_LE(s.height) > KV_HEIGHT) {
        return NVME_KV_BROKEN;
    }
    t->root = GUINT32_FROM_LE(s.root);
    t->height = GUINT32_FROM_LE(s.height);
    t->n_pages = GUINT32_FROM_LE(s.n_pages);
    t->value_units = GUINT32_FROM_LE(s.value_units);
    t->n_keys = GUINT64_FROM_LE(s.n_keys);
    t->epoch = GUINT64_FROM_LE(s.epoch) + 1;
    kv->committed = t->epoch - 1;
    return NVME_KV_MOUNTING;
}

static void head_read(NvmeKv *kv, KvPage *page, uint16_t status)
{
    NvmeKvState next;

    if (kv->reset) {
        return;
    }
    next = status ? NVME_KV_BROKEN : take_head(kv);
    if (next == NVME_KV_BROKEN) {
        mount_failed(kv);
    } else {
        walk(kv);
    }
}

static void mount(NvmeKv *kv)
{
    NvmeRequest *req;

    kv->state = NVME_KV_MOUNTING;
    kv_space_free(&kv->space);
    kv_space_init(&kv->space, kv->n_units);
    kv->tree = (KvTree){
        .cache = &kv->cache,
        .space = &kv->space,
        .epoch = 1,
    };
    kv->committed = kv->closed = kv->failed = 0;
    kv->stale = false;
    kv->walk_key = (KvKey){0};
    kv->walk_keys = 0;
    kv->walk_list = g_new(KvExtent, kv_list_room(kv->unit_bytes));
    kv->sweep = 0;
    if (!is_mapped(kv, 0)) {
        walk(kv);
        return;
    }
    kv->unit = g_malloc0(kv->unit_bytes);
    req = begin_job(kv, NULL, head_read);
    read_unit(req, kv, 0, kv->unit);
    send_job(req, 0);
}

NvmeKvGo nvme_kv_stage_mount(NvmeCtrl *ctrl, NvmeKvOp *op)
{
    NvmeKv *kv = op->kv;

    if (kv->state == NVME_KV_COLD && !kv->reset && kv->ns) {
        mount(kv);
    }
    if (kv->state == NVME_KV_READY) {
        return NVME_KV_NEXT;
    }
    return kv->state == NVME_KV_BROKEN ? nvme_kv_end(op, NVME_SC_KV_UNRECOVERED)
                                       : nvme_kv_wait(op, NVME_KV_FOR_MOUNT);
}

/* ---- life ---------------------------------------------------------------- */

static void become_cold(NvmeKv *kv)
{
    kv_path_clear(&kv->tree, &kv->walk);
    kv_cache_drop(&kv->cache);
    kv_space_free(&kv->space);
    kv->tree = (KvTree){.cache = &kv->cache, .space = &kv->space};
    g_clear_pointer(&kv->walk_list, g_free);
    g_clear_pointer(&kv->unit, g_free);
    kv->cache.hold = false;
    kv->reset = kv->stale = false;
    kv->phase = NVME_KV_IDLE;
    kv->state = NVME_KV_COLD;
    nvme_kv_wake(kv, NVME_KV_FOR_MOUNT, 0);
}

static void forget(NvmeKv *kv, uint16_t status)
{
    nvme_kv_end_all(kv, status);
    kv->state = NVME_KV_COLD;
    kv->reset = true;
    if (!kv->jobs) {
        become_cold(kv);
    }
}

void nvme_kv_forget(NvmeSubsys *sub, const NvmeNamespace *ns, uint16_t status)
{
    for (unsigned i = 0; sub->kv_all && i < sub->kv_all->len; i++) {
        NvmeKv *kv = g_ptr_array_index(sub->kv_all, i);

        if (kv->ns && (!ns || kv->ns == ns)) {
            forget(kv, status);
        }
    }
}

static void free_kv(void *p)
{
    NvmeKv *kv = p;

    kv_cache_free(&kv->cache);
    kv_space_free(&kv->space);
    g_free(kv->walk_list);
    g_free(kv->unit);
    g_free(kv);
}

void nvme_kv_detach(NvmeCtrl *ctrl, const NvmeNamespace *ns)
{
    NvmeKv *kv = ns->index;

    if (kv) {
        kv->ns = NULL;
        forget(kv, NVME_SC_INVALID_FIELD);
        nvme_ns_set_index(ctrl, ns, NULL);
    }
}

void nvme_kv_free_all(NvmeSubsys *sub)
{
    if (sub->kv_all) {
        g_ptr_array_free(sub->kv_all, TRUE);
        sub->kv_all = NULL;
    }
}

/* ---- set-up -------------------------------------------------------------- */

const char *nvme_kv_refuses(const NvmeCtrl *ctrl, uint64_t drive_blocks)
{
    uint64_t units = drive_blocks / ctrl->unit_blocks;

    return ctrl->sub->zones.n > 0
               ? "key-value pairs do not go with zones.enabled=on"
           : ssd_info(ctrl->ssd)->unit_bytes < KV_UNIT_MIN
               ? "key-value namespaces need ftl.unit of at least 4 KiB"
           : units < UNITS_MIN || units > UNITS_MOST
               ? "a key-value namespace has 1024 to 4294967295 mapping units"
               : NULL;
}

uint32_t nvme_kv_value_most(const NvmeCtrl *ctrl)
{
    uint32_t unit = ssd_info(ctrl->ssd)->unit_bytes;
    uint64_t listed = (uint64_t)kv_list_room(unit) * unit;

    return (uint32_t)MIN(MIN(ctrl->max_bytes, VALUE_MOST), listed);
}

static uint32_t units_of(const NvmeCtrl *ctrl, const NvmeNamespace *ns)
{
    return (uint32_t)((ns->nblocks << ns->drive_shift) / ctrl->unit_blocks);
}

uint32_t nvme_kv_keys_most(const NvmeCtrl *ctrl, const NvmeNamespace *ns)
{
    return units_of(ctrl, ns);
}

/* A lookup pins a page of each level, a change needs as many frames again. */
static uint32_t turns_of(uint32_t frames)
{
    return MAX(frames / (4 * KV_HEIGHT), 1);
}

NvmeKv *nvme_kv_of(NvmeCtrl *ctrl, const NvmeNamespace *ns)
{
    NvmeSubsys *sub = ctrl->sub;
    uint32_t unit_bytes = ssd_info(ctrl->ssd)->unit_bytes;
    uint32_t frames;
    NvmeKv *kv = ns->index;

    if (kv) {
        return kv;
    }
    kv = g_new0(NvmeKv, 1);
    kv->ctrl = &sub->first;
    kv->ns = ns;
    kv->unit_blocks = ctrl->unit_blocks;
    kv->unit_bytes = unit_bytes;
    kv->n_units = units_of(ctrl, ns);
    kv->value_most = nvme_kv_value_most(ctrl);
    kv->keys_most = nvme_kv_keys_most(ctrl, ns);
    frames = (uint32_t)MIN(ctrl->cfg.kv_cache / unit_bytes, kv->n_units);
    frames = MAX(frames, 8 * KV_HEIGHT);
    kv_cache_init(&kv->cache, frames, unit_bytes, &backing, kv);
    kv->turns = turns_of(frames);
    kv->dirt = MIN(frames / 2, kv->n_units / 16);
    kv->reserve = 2 * kv->dirt + 8 * KV_HEIGHT;
    kv->tree = (KvTree){.cache = &kv->cache, .space = &kv->space};
    nvme_ns_set_index(ctrl, ns, kv);
    if (!sub->kv_all) {
        sub->kv_all = g_ptr_array_new_with_free_func(free_kv);
    }
    g_ptr_array_add(sub->kv_all, kv);
    return kv;
}

/* ---- the whole drive ----------------------------------------------------- */

static bool is_idle(const NvmeKv *kv)
{
    return !kv->jobs && kv->phase == NVME_KV_IDLE;
}

bool nvme_kv_works(const NvmeSubsys *sub, const NvmeNamespace *ns)
{
    bool works = false;

    for (unsigned i = 0; sub->kv_all && i < sub->kv_all->len; i++) {
        const NvmeKv *kv = g_ptr_array_index(sub->kv_all, i);

        works |= (!ns || kv->ns == ns) && !is_idle(kv);
    }
    return works;
}

/* What could not be committed, and has not changed since, does not keep the
 * drive from its rest. */
static bool must_commit(const NvmeKv *kv)
{
    return nvme_kv_is_dirty(kv) && kv->ns && is_idle(kv) &&
           (kv->tree.changed || kv->failed < kv->closed);
}

bool nvme_kv_at_rest(const NvmeSubsys *sub)
{
    for (unsigned i = 0; sub->kv_all && i < sub->kv_all->len; i++) {
        const NvmeKv *kv = g_ptr_array_index(sub->kv_all, i);

        if (!is_idle(kv) || must_commit(kv)) {
            return false;
        }
    }
    return true;
}

bool nvme_kv_commit_all(NvmeSubsys *sub)
{
    bool any = false;

    for (unsigned i = 0; sub->kv_all && i < sub->kv_all->len; i++) {
        NvmeKv *kv = g_ptr_array_index(sub->kv_all, i);

        if (must_commit(kv)) {
            nvme_kv_commit(kv);
        }
        any |= kv->ns && (!is_idle(kv) || must_commit(kv));
    }
    return any;
}

/* Namespaces that are gone, and nobody works on.  The others keep their order,
 * in which a Flush of all goes through them. */
static void free_gone(NvmeSubsys *sub)
{
    for (unsigned i = sub->kv_all->len; i-- > 0;) {
        NvmeKv *kv = g_ptr_array_index(sub->kv_all, i);

        if (!kv->ns && !kv->jobs && !kv->n_ops) {
            g_ptr_array_remove_index(sub->kv_all, i);
        }
    }
    if (!sub->kv_all->len) {
        nvme_kv_free_all(sub);
    }
}

bool nvme_kv_look(NvmeSubsys *sub)
{
    bool any = nvme_kv_run_ready(sub);

    free_gone(sub);
    if (sub->held) {
        nvme_kv_commit_all(sub);
    }
    if (sub->kv_after && !nvme_kv_commit_all(sub)) {
        void (*after)(NvmeSubsys *sub) = sub->kv_after;

        sub->kv_after = NULL;
        after(sub);
        any = true;
    }
    return any;
}
