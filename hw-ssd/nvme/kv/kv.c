/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kv.c - the commands of the Key Value Command Set (Key Value Command Set
 * Specification 1.0, chapter 3), and its Identify structures.
 *
 * A value has whole units of its own.  Store writes them first, then the key
 * leads to them; so the old value is there until the new one is.  With a
 * volatile write cache the change is durable with the next commit: by Flush, at
 * shutdown, or when the index needs one.  Without it, each Store and Delete
 * waits for a commit, which others share.
 */
#include "nvme-internal.h"
#include "queue/cancel.h"
#include "data/data.h"
#include "erase/format.h"
#include "kv/kv.h"
#include "kv/kv-index.h"
#include "kv-wire.h"
#include "namespace/namespace.h"
#include "memory/prp.h"
#include "queue/request.h"
#include "reservation/reservation.h"

/* Extents that one epoch may leave. */
#define DEAD_MOST 4096

/* ---- fields -------------------------------------------------------------- */

/* Key bytes 0 to 7 are in dwords 2 and 3, the others in 14 and 15. */
static uint16_t take_key(NvmeKvOp *op, const NvmeSqe *sqe, unsigned least)
{
    static const uint8_t dword[] = {2, 3, 14, 15};
    unsigned bytes = sqe->dw[11] & 0xff;

    if (bytes < least || bytes > KV_KEY_BYTES) {
        return NVME_SC_INVALID_KEY_SIZE;
    }
    for (unsigned i = 0; i < bytes; i++) {
        op->key.byte[i] = (uint8_t)(sqe->dw[dword[i / 4]] >> i % 4 * 8);
    }
    op->key.bytes = (uint8_t)bytes;
    op->options = sqe->dw[11] >> 8 & 0xff;
    op->host_bytes = sqe->dw[10];
    return 0;
}

/* Memory for so many bytes of the command, until it ends. */
static void get_buf(NvmeCtrl *ctrl, NvmeRequest *req, size_t bytes)
{
    req->buf_bytes = bytes;
    req->buf = payload_buf_get(ctrl->payload, bytes);
    req->buf_done = 0;
    req->read_for = NVME_READ_TO_COPY;
    payload_keep_bytes(ctrl->payload, bytes);
}

static size_t whole_blocks(const NvmeCtrl *ctrl, uint32_t bytes)
{
    return (size_t)(((uint64_t)bytes + ctrl->block_bytes - 1) >>
                    ctrl->block_shift)
           << ctrl->block_shift;
}

static NvmeKvOp *op_begin(NvmeCtrl *ctrl, NvmeRequest *req,
                          const NvmeKvStage *stage)
{
    return nvme_kv_op_new(nvme_kv_of(ctrl, req->ns), req, stage);
}

/* ---- the index ----------------------------------------------------------- */

/* Where the extents of a value are noted. */
static KvExtent *new_list(const NvmeKvOp *op)
{
    return g_new(KvExtent, kv_list_room(op->kv->unit_bytes));
}

/* The key must be there. */
static NvmeKvGo stage_find(NvmeCtrl *ctrl, NvmeKvOp *op)
{
    KvResult r = kv_tree_find(&op->kv->tree, &op->key, &op->path, &op->value);

    return r == KV_ABSENT ? nvme_kv_end(op, NVME_SC_KEY_NOT_THERE)
                          : nvme_kv_as(op, r);
}

static bool is_crowded(const NvmeKv *kv)
{
    return kv->tree.n_fresh + kv_tree_reserve(&kv->tree) > kv->dirt ||
           kv->space.dead->len > DEAD_MOST;
}

/* Units become free with a commit, if any will. */
static NvmeKvGo wait_for_units(NvmeKvOp *op)
{
    NvmeKv *kv = op->kv;

    if (kv->phase == NVME_KV_IDLE) {
        if (!kv->space.dead->len || kv->stale) {
            return nvme_kv_end(op, NVME_SC_CAPACITY_EXCEEDED);
        }
        nvme_kv_commit(kv);
    }
    return nvme_kv_wait(op, NVME_KV_FOR_COMMIT);
}

/* After kv_tree_find(): all that a change of the key needs. */
static NvmeKvGo prepare(NvmeKvOp *op)
{
    NvmeKv *kv = op->kv;
    KvResult r = KV_OK;

    op->n_old = 0;
    op->old = op->old ? op->old : new_list(op);
    if (op->path.found) {
        r = kv_tree_extents(&kv->tree, &op->value, &op->path, op->old,
                            &op->n_old);
    }
    if (!r && is_crowded(kv)) {
        if (kv->stale && kv->phase == NVME_KV_IDLE) {
            return nvme_kv_end(op, kv->failed_status);
        }
        nvme_kv_commit(kv);
        return nvme_kv_wait(op, NVME_KV_FOR_COMMIT);
    }
    r = r ? r : kv_tree_prepare(&kv->tree, &op->path);
    return r == KV_FULL ? wait_for_units(op) : nvme_kv_as(op, r);
}

static void changed(NvmeKvOp *op)
{
    op->epoch = op->kv->tree.epoch;
    nvme_kv_leave_tree(op);
}

/* Is a change durable before the host is told?  See nvme_set_durability(). */
static NvmeKvGo stage_durable(NvmeCtrl *ctrl, NvmeKvOp *op)
{
    bool volatile_cache = ctrl->features.value[NVME_FEAT_VWC] & 1 &&
                          !ssd_info(ctrl->ssd)->keeps_buffer;

    return volatile_cache ? NVME_KV_NEXT : nvme_kv_stage_commit(ctrl, op);
}

/* ---- Store --------------------------------------------------------------- */

/* The options, before anything is written. */
static NvmeKvGo stage_may_store(NvmeCtrl *ctrl, NvmeKvOp *op)
{
    KvResult r;

    if (!(op->options &
          (NVME_KV_STORE_MUST_EXIST | NVME_KV_STORE_MUST_BE_NEW))) {
        nvme_kv_leave_tree(op);
        return NVME_KV_NEXT;
    }
    r = kv_tree_find(&op->kv->tree, &op->key, &op->path, NULL);
    if (r == KV_OK && op->options & NVME_KV_STORE_MUST_BE_NEW) {
        return nvme_kv_end(op, NVME_SC_KEY_EXISTS);
    }
    if (r == KV_ABSENT && op->options & NVME_KV_STORE_MUST_EXIST) {
        return nvme_kv_end(op, NVME_SC_KEY_NOT_THERE);
    }
    if (r == KV_OK || r == KV_ABSENT) {
        nvme_kv_leave_tree(op);
    }
    return nvme_kv_as(op, r);
}

static void take_units(NvmeKvOp *op, uint32_t want)
{
    op->list = new_list(op);
    op->taken = true;
    while (want && kv_space_take(&op->kv->space, want, &op->list[op->n])) {
        want -= op->list[op->n++].n;
    }
    g_assert(!want);
}

static NvmeKvGo stage_write(NvmeCtrl *ctrl, NvmeKvOp *op)
{
    NvmeKv *kv = op->kv;
    uint64_t left = whole_blocks(ctrl, op->host_bytes) >> ctrl->block_shift;
    uint32_t want = (uint32_t)((left + kv->unit_blocks - 1) / kv->unit_blocks);

    if (want && kv->space.n_free < want + kv->reserve) {
        return wait_for_units(op);
    }
    take_units(op, want);
    for (uint32_t i = 0; i < op->n; i++) {
        uint64_t n = MIN((uint64_t)op->list[i].n * kv->unit_blocks, left);
        uint16_t status = nvme_add_write(
            ctrl, op->req, (uint64_t)op->list[i].unit * kv->unit_blocks, n,
            NVME_FROM_HOST_BUFFER);

        if (status) {
            return nvme_kv_end(op, status);
        }
        left -= n;
    }
    nvme_request_put_bufs(ctrl, op->req);
    return want ? NVME_KV_STEPS : NVME_KV_NEXT;
}

static NvmeKvGo stage_store(NvmeCtrl *ctrl, NvmeKvOp *op)
{
    KvTree *t = &op->kv->tree;
    KvResult r = kv_tree_find(t, &op->key, &op->path, &op->value);
    NvmeKvGo go;

    if (r == KV_ABSENT && t->n_keys >= op->kv->keys_most) {
        return nvme_kv_end(op, NVME_SC_CAPACITY_EXCEEDED);
    }
    go = r == KV_OK || r == KV_ABSENT ? prepare(op) : nvme_kv_as(op, r);
    if (go != NVME_KV_NEXT) {
        return go;
    }
    if (op->path.found) {
        kv_tree_release(t, &op->value, op->old, op->n_old);
    }
    kv_tree_put(t, &op->path, &op->key, op->host_bytes, op->list, op->n);
    op->taken = false;
    changed(op);
    return NVME_KV_NEXT;
}

static const NvmeKvStage store_stages[] = {
    nvme_kv_stage_mount, nvme_kv_stage_key, nvme_kv_stage_turn,
    stage_may_store,     stage_write,       nvme_kv_stage_turn,
    stage_store,         stage_durable,     NULL,
};

static uint16_t receive_value(NvmeCtrl *ctrl, NvmeRequest *req,
                              const NvmeSqe *sqe, uint32_t bytes)
{
    uint16_t status;

    if (!bytes) {
        return 0;
    }
    status = nvme_map(ctrl, &req->sg, sqe, bytes, false);
    if (status) {
        return status;
    }
    get_buf(ctrl, req, whole_blocks(ctrl, bytes));
    memset(req->buf + bytes, 0, req->buf_bytes - bytes);
    return nvme_sg_read(ctrl, &req->sg, req->buf, bytes);
}

static uint16_t store(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    NvmeKvOp *op = op_begin(ctrl, req, store_stages);
    uint16_t status = take_key(op, sqe, 1);

    op->changes = true;
    req->bytes = op->host_bytes;
    if (status) {
        return status;
    }
    if (op->host_bytes > op->kv->value_most) {
        return NVME_SC_INVALID_VALUE_SIZE;
    }
    if (op->options & ~(NVME_KV_STORE_MUST_EXIST | NVME_KV_STORE_MUST_BE_NEW |
                        NVME_KV_STORE_PLAIN)) {
        return NVME_SC_INVALID_FIELD;
    }
    return receive_value(ctrl, req, sqe, op->host_bytes);
}

/* ---- Retrieve ------------------------------------------------------------ */

/* As much of the value as the host has room for. */
static NvmeKvGo stage_read(NvmeCtrl *ctrl, NvmeKvOp *op)
{
    NvmeRequest *req = op->req;
    uint32_t bytes = MIN(op->host_bytes, op->value.bytes);
    uint64_t left = whole_blocks(ctrl, bytes) >> ctrl->block_shift;
    g_autofree NvmeRange *range = NULL;
    KvResult r;
    uint32_t n = 0;

    op->list = op->list ? op->list : new_list(op);
    r = kv_tree_extents(&op->kv->tree, &op->value, &op->path, op->list, &op->n);
    if (r) {
        return nvme_kv_as(op, r);
    }
    nvme_kv_leave_tree(op);
    req->dw0 = op->value.bytes;
    req->bytes = bytes;
    if (!bytes) {
        return NVME_KV_NEXT;
    }
    range = g_new(NvmeRange, op->n);
    for (; left; n++) {
        uint64_t blocks = (uint64_t)op->list[n].n * op->kv->unit_blocks;

        range[n] = (NvmeRange){
            req->ns,
            (uint64_t)op->list[n].unit * op->kv->unit_blocks,
            MIN(blocks, left),
        };
        left -= range[n].nblocks;
    }
    req->buf_bytes = whole_blocks(ctrl, bytes);
    req->buf = payload_buf_get(ctrl->payload, req->buf_bytes);
    req->read_for = NVME_READ_VALUE;
    nvme_start_reads(ctrl, req, range, n);
    return NVME_KV_STEPS;
}

static const NvmeKvStage retrieve_stages[] = {
    nvme_kv_stage_mount, nvme_kv_stage_key, nvme_kv_stage_turn,
    stage_find,          stage_read,        NULL,
};

static uint16_t check_buffer(NvmeCtrl *ctrl, NvmeRequest *req,
                             const NvmeSqe *sqe, uint32_t bytes)
{
    if (bytes > ctrl->max_bytes) {
        return NVME_SC_INVALID_FIELD;
    }
    return bytes ? nvme_map(ctrl, &req->sg, sqe, bytes, true) : 0;
}

static uint16_t retrieve(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    NvmeKvOp *op = op_begin(ctrl, req, retrieve_stages);
    uint16_t status = take_key(op, sqe, 1);

    if (!status && op->options & ~NVME_KV_RETRIEVE_PLAIN) {
        status = NVME_SC_INVALID_FIELD;
    }
    return status ? status : check_buffer(ctrl, req, sqe, op->host_bytes);
}

/* ---- Exist, Delete ------------------------------------------------------- */

static const NvmeKvStage exist_stages[] = {
    nvme_kv_stage_mount,
    nvme_kv_stage_key,
    nvme_kv_stage_turn,
    stage_find,
    NULL,
};

static uint16_t exist(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    return take_key(op_begin(ctrl, req, exist_stages), sqe, 1);
}

static NvmeKvGo stage_delete(NvmeCtrl *ctrl, NvmeKvOp *op)
{
    NvmeKvGo go = stage_find(ctrl, op);

    go = go == NVME_KV_NEXT ? prepare(op) : go;
    if (go == NVME_KV_NEXT) {
        kv_tree_release(&op->kv->tree, &op->value, op->old, op->n_old);
        kv_tree_remove(&op->kv->tree, &op->path);
        changed(op);
    }
    return go;
}

static const NvmeKvStage delete_stages[] = {
    nvme_kv_stage_mount, nvme_kv_stage_key, nvme_kv_stage_turn,
    stage_delete,        stage_durable,     NULL,
};

static uint16_t delete (NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    NvmeKvOp *op = op_begin(ctrl, req, delete_stages);

    op->changes = true;
    return take_key(op, sqe, 1);
}

/* ---- List ---------------------------------------------------------------- */

#define LIST_HEAD 4 /* the number of keys */

/* false: the host has no room for it. */
static bool put_key(NvmeKvOp *op, const KvKey *key)
{
    uint32_t bytes = (2U + key->bytes + 3) & ~3U;
    uint8_t *p = op->req->buf + op->out_bytes;

    if (bytes > op->host_bytes - op->out_bytes) {
        return false;
    }
    memset(p, 0, bytes);
    put_le16(p, key->bytes);
    memcpy(p + 2, key->byte, key->bytes);
    op->out_bytes += bytes;
    op->n++;
    return true;
}

static NvmeKvGo stage_list(NvmeCtrl *ctrl, NvmeKvOp *op)
{
    bool room = true;
    KvKey next;
    KvResult r;

    do {
        r = kv_tree_seek(&op->kv->tree, &op->key, &op->path, &next);
        if (r != KV_OK && r != KV_ABSENT) {
            return nvme_kv_as(op, r);
        }
        for (uint32_t i = r ? 0 : op->path.at[op->path.n - 1];
             !r && room && i < kv_leaf_entries(&op->path); i++) {
            const KvKey *key = &kv_leaf_entry(&op->path, i)->key;

            if (!kv_key_ok(key)) {
                return nvme_kv_as(op, KV_DAMAGED);
            }
            room = put_key(op, key);
        }
        op->key = next;
    } while (room && next.bytes);
    put_le32(op->req->buf, op->n);
    op->req->bytes = op->out_bytes;
    return nvme_kv_end(
        op, nvme_sg_write(ctrl, &op->req->sg, op->req->buf, op->out_bytes));
}

static const NvmeKvStage list_stages[] = {
    nvme_kv_stage_mount,
    nvme_kv_stage_turn,
    stage_list,
    NULL,
};

/* Key length 0: from the first key on. */
static uint16_t list(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    NvmeKvOp *op = op_begin(ctrl, req, list_stages);
    uint16_t status = take_key(op, sqe, 0);

    if (!status && op->host_bytes < LIST_HEAD) {
        status = NVME_SC_INVALID_FIELD;
    }
    if (!status) {
        status = check_buffer(ctrl, req, sqe, op->host_bytes);
    }
    if (!status) {
        get_buf(ctrl, req, op->host_bytes);
        op->out_bytes = LIST_HEAD;
    }
    return status;
}

/* ---- Flush --------------------------------------------------------------- */

/* What has changed so far; nothing if the index is lost, whose commit does not
 * end. */
static NvmeKvGo stage_note(NvmeCtrl *ctrl, NvmeKvOp *op)
{
    const NvmeKv *kv = op->kv;

    op->epoch = kv->reset                   ? 0
                : nvme_kv_is_dirty(kv)      ? kv->tree.epoch
                : kv->phase != NVME_KV_IDLE ? kv->closed
                                            : 0;
    return NVME_KV_NEXT;
}

static NvmeKvGo stage_flush(NvmeCtrl *ctrl, NvmeKvOp *op)
{
    op->req->barrier = true;
    nvme_add_step(op->req, SSD_OP_FLUSH, 0, 0);
    return NVME_KV_STEPS;
}

static const NvmeKvStage flush_stages[] = {
    stage_note,
    nvme_kv_stage_commit,
    stage_flush,
    NULL,
};

static uint16_t flush(NvmeCtrl *ctrl, NvmeRequest *req, const NvmeSqe *sqe)
{
    op_begin(ctrl, req, flush_stages);
    return 0;
}

static NvmeKvGo stage_next_index(NvmeCtrl *ctrl, NvmeKvOp *op);
static NvmeKvGo stage_again(NvmeCtrl *ctrl, NvmeKvOp *op);

static const NvmeKvStage flush_all_stages[] = {
    stage_next_index, stage_note,  nvme_kv_stage_commit,
    stage_again,      stage_flush, NULL,
};
#define STAGE_FLUSH 4

/* The index behind that of the command, which is not freed meanwhile; others
 * may be.  op->n is 0 before the first one. */
static NvmeKvGo stage_next_index(NvmeCtrl *ctrl, NvmeKvOp *op)
{
    GPtrArray *all = ctrl->sub->kv_all;
    unsigned i = 0;

    if (!g_ptr_array_find(all, op->kv, &i)) {
        g_assert_not_reached();
    }
    i += op->n;
    op->n = 1;
    if (i == all->len) {
        op->stage = &flush_all_stages[STAGE_FLUSH];
        return NVME_KV_JUMP;
    }
    op->kv->n_ops--;
    op->kv = g_ptr_array_index(all, i);
    op->kv->n_ops++;
    op->life = op->kv->lives;
    return NVME_KV_NEXT;
}

static NvmeKvGo stage_again(NvmeCtrl *ctrl, NvmeKvOp *op)
{
    op->stage = flush_all_stages;
    return NVME_KV_JUMP;
}

uint16_t nvme_kv_flush_all(NvmeCtrl *ctrl, NvmeRequest *req)
{
    nvme_kv_op_new(g_ptr_array_index(ctrl->sub->kv_all, 0), req,
                   flush_all_stages)
        ->if_gone = flush_all_stages;
    return 0;
}

/* ---- the table ----------------------------------------------------------- */

static const NvmeCommand kv_commands[] = {
    {.opcode = NVME_IO_FLUSH,
     .name = "Flush",
     .run = flush,
     .effects = NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_DATA,
     .work = NVME_WORK_FLUSH,
     .help = "commits the index"},
    {.opcode = NVME_KV_STORE,
     .name = "Store",
     .run = store,
     .effects = NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_DATA,
     .work = NVME_WORK_WRITE,
     .help = "only if the key exists, only if it does not; no compression; "
             "always durable while the volatile write cache is off"},
    {.opcode = NVME_KV_RETRIEVE,
     .name = "Retrieve",
     .run = retrieve,
     .effects = NVME_EFFECT_SUPPORTED,
     .work = NVME_WORK_READ,
     .help = "dword 0: size of the value, of which the host gets as much as "
             "its buffer takes"},
    {.opcode = NVME_KV_LIST,
     .name = "List",
     .run = list,
     .effects = NVME_EFFECT_SUPPORTED,
     .work = NVME_WORK_READ,
     .help = "in the order of the keys' bytes, from a key on; key length 0: "
             "from the first"},
    {.opcode = NVME_KV_DELETE,
     .name = "Delete",
     .run = delete,
     .effects = NVME_EFFECT_SUPPORTED | NVME_EFFECT_CHANGES_DATA,
     .work = NVME_WORK_WRITE,
     .help = "always durable while the volatile write cache is off"},
    {.opcode = NVME_KV_EXIST,
     .name = "Exist",
     .run = exist,
     .effects = NVME_EFFECT_SUPPORTED,
     .work = NVME_WORK_READ,
     .help = "of one key"},
    {.opcode = NVME_IO_RESERVATION_REGISTER,
     .name = "Reservation Register",
     .run = nvme_reservation_register,
     .effects = NVME_EFFECT_SUPPORTED | NVME_ONLY_MULTI,
     .help = "as on other namespaces, and the next three"},
    {.opcode = NVME_IO_RESERVATION_REPORT,
     .name = "Reservation Report",
     .run = nvme_reservation_report,
     .effects = NVME_EFFECT_SUPPORTED | NVME_ONLY_MULTI,
     .help = ""},
    {.opcode = NVME_IO_RESERVATION_ACQUIRE,
     .name = "Reservation Acquire",
     .run = nvme_reservation_acquire,
     .effects = NVME_EFFECT_SUPPORTED | NVME_ONLY_MULTI,
     .help = ""},
    {.opcode = NVME_IO_RESERVATION_RELEASE,
     .name = "Reservation Release",
     .run = nvme_reservation_release,
     .effects = NVME_EFFECT_SUPPORTED | NVME_ONLY_MULTI,
     .help = ""},
    {.opcode = NVME_IO_CANCEL,
     .name = "Cancel",
     .run = nvme_cancel,
     .effects = NVME_EFFECT_SUPPORTED,
     .help = "as on other namespaces"},
};

const NvmeCommandTable nvme_kv_commands = {kv_commands,
                                           G_N_ELEMENTS(kv_commands)};

/* ---- Identify ------------------------------------------------------------ */

static uint64_t bytes_in_use(const NvmeNamespace *ns)
{
    const NvmeKv *kv = ns->index;

    return kv && kv->state == NVME_KV_READY
               ? ((uint64_t)kv->tree.value_units + kv->tree.n_pages + 1) *
                     kv->unit_bytes
               : 0;
}

static void put_format(const NvmeCtrl *ctrl, NvmeIdKvNamespace *id)
{
    id->novg = nvme_le32(ssd_info(ctrl->ssd)->unit_bytes);
    id->kvf[0].kml = nvme_le16(KV_KEY_BYTES);
    id->kvf[0].vml = nvme_le32(nvme_kv_value_most(ctrl));
}

uint16_t nvme_identify_kv_namespace(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                    void *data)
{
    const NvmeNamespace *ns = (sqe->dw[10] & 0xff) == 0x1b
                                  ? nvme_ns_existing(ctrl, sqe->dw[1])
                                  : nvme_ns_find(ctrl, sqe->dw[1]);
    NvmeIdKvNamespace *id = data;

    if (!ns) {
        return nvme_ns_identify_missing(ctrl, sqe);
    }
    if (!ns->kv) {
        return NVME_SC_INVALID_FIELD;
    }
    id->nsze = nvme_le64(ns->nblocks << ns->block_shift);
    id->nuse = nvme_le64(bytes_in_use(ns));
    id->nmic = ns->shared;
    id->rescap = nvme_has_reservations(ctrl) ? 0xff : 0;
    id->fpi = nvme_format_progress(ctrl, ns->nsid);
    id->nsattr = ns->protect != NVME_PROTECT_NONE;
    id->nvmsetid = nvme_le16(NVME_ONLY_SET);
    id->endgid = nvme_le16(NVME_ONLY_GROUP);
    for (unsigned i = 0; i < sizeof(id->eui64); i++) {
        id->eui64[i] = (uint8_t)(ns->eui64 >> (56 - 8 * i));
    }
    put_format(ctrl, id);
    id->kvf[0].mnk = nvme_le32(nvme_kv_keys_most(ctrl, ns));
    return 0;
}

/* The most keys are those of a namespace, by its size. */
uint16_t nvme_identify_kv_format(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                 void *data)
{
    if (sqe->dw[11] & 0xffff) {
        return NVME_SC_INVALID_FIELD;
    }
    put_format(ctrl, data);
    return 0;
}

/* All of it is reserved, or vendor specific. */
uint16_t nvme_identify_kv_controller(const NvmeCtrl *ctrl, const NvmeSqe *sqe,
                                     void *data)
{
    return 0;
}
