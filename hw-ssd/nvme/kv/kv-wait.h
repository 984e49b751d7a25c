/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kv-wait.h - commands of a key-value namespace that wait for something: a
 * page, a commit, another command for the same key.
 */
#ifndef VSSD_NVME_KV_WAIT_H
#define VSSD_NVME_KV_WAIT_H

#include "rooms.h"
#if NVME_ROOM < ROOM_KV
#error "hw-ssd/nvme/kv is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"
#include "kv/tree.h"

typedef struct NvmeKv NvmeKv;

typedef enum NvmeKvReason {
    NVME_KV_RUNS,
    NVME_KV_FOR_MOUNT,
    NVME_KV_FOR_KEY,  /* another command has it */
    NVME_KV_FOR_TURN, /* as many as the cache bears look into the tree */
    NVME_KV_FOR_PAGE, /* NvmeKvOp.path.unit */
    NVME_KV_FOR_FRAME,
    NVME_KV_FOR_COMMIT,
} NvmeKvReason;

/* What a stage of a command wants. */
typedef enum NvmeKvGo {
    NVME_KV_NEXT,  /* the next stage, now */
    NVME_KV_WAIT,  /* nvme_kv_wait() was called: this stage again */
    NVME_KV_STEPS, /* the next stage after the request's steps */
    NVME_KV_JUMP,  /* the stage that NvmeKvOp.stage is set to, now */
    NVME_KV_END,   /* it ends with NvmeKvOp.status */
} NvmeKvGo;

typedef struct NvmeKvOp NvmeKvOp;
typedef NvmeKvGo (*NvmeKvStage)(NvmeCtrl *ctrl, NvmeKvOp *op);

/* A command, from its first stage to its end; NvmeRequest.kv. */
struct NvmeKvOp {
    NvmeKvOp *next; /* of NvmeKv.waiting, or of NvmeSubsys.kv_ready; by seq */
    NvmeKvOp *next_holder; /* of NvmeKv.holders */
    NvmeKv *kv;
    NvmeRequest *req;
    const NvmeKvStage *stage;   /* ends with NULL */
    const NvmeKvStage *if_gone; /* it goes on there when the namespace of the
                                   index is deleted; NULL: it ends */
    uint64_t seq;
    uint64_t life; /* NvmeKv.lives when it began */
    uint8_t waits; /* NvmeKvReason */
    bool ready;    /* in NvmeSubsys.kv_ready */
    bool changes;  /* no other command may have the key meanwhile */
    bool holds;    /* the key */
    bool turn;
    uint16_t status;
    /* The command: */
    KvKey key;
    uint8_t options;
    uint32_t host_bytes; /* value size, or size of the host's buffer */
    KvPath path;
    KvValue value;  /* that the key has */
    KvExtent *list; /* g_new: its extents, or those of the new value */
    KvExtent *old;  /* g_new: its extents, when it gets a new value */
    uint32_t n;
    uint32_t n_old;
    bool taken;     /* list: no tree has them yet */
    uint64_t epoch; /* of the change */
    uint8_t *out;   /* List: payload_buf_get(), as NvmeRequest.buf */
    uint32_t out_bytes;
};

/* The command of a request, whose stages begin when dispatch.c has it. */
NvmeKvOp *nvme_kv_op_new(NvmeKv *kv, NvmeRequest *req,
                         const NvmeKvStage *stage);

/* NvmeRequest.then */
uint16_t nvme_kv_go(NvmeCtrl *ctrl, NvmeRequest *req);

NvmeKvGo nvme_kv_wait(NvmeKvOp *op, NvmeKvReason reason);

/* As a KvResult says.  KV_OK, KV_ABSENT: NEXT. */
NvmeKvGo nvme_kv_as(NvmeKvOp *op, KvResult r);

static inline NvmeKvGo nvme_kv_end(NvmeKvOp *op, uint16_t status)
{
    op->status = status;
    return NVME_KV_END;
}

/* Those that wait for it go on with the next nvme_kv_look().  unit: of a page
 */
void nvme_kv_wake(NvmeKv *kv, NvmeKvReason reason, uint32_t unit);

/* What is in memory is lost: all commands end with the status, those that work
 * after their steps; but those that go on without the index (if_gone). */
void nvme_kv_end_all(NvmeKv *kv, uint16_t status);

/* Go on with those that were woken; true: there was one. */
bool nvme_kv_run_ready(NvmeSubsys *sub);

/* Stages of all commands with a key: the key is free of other commands that
 * may not run beside this one, and it is its turn. */
NvmeKvGo nvme_kv_stage_key(NvmeCtrl *ctrl, NvmeKvOp *op);
NvmeKvGo nvme_kv_stage_turn(NvmeCtrl *ctrl, NvmeKvOp *op);

/* It looks into the tree no longer. */
void nvme_kv_leave_tree(NvmeKvOp *op);

#endif
