/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kv-index.h - the index of a key-value namespace in the drive.
 *
 * Its pages are units of the namespace.  The controller has a bounded number of
 * them in memory (NvmeConfig.kv_cache), and reads others from NAND.  A commit
 * makes all changes so far durable at once:
 *
 *   DRAIN   page writes of before the commit end
 *   PAGES   all changed pages are written, to units that no durable tree has
 *   FLUSH   these and the values become durable
 *   HEAD   the head record is written through, and leads to the new tree
 *   TRIM    units that the new tree does not have are deallocated
 *
 * Until HEAD has ended a power cut finds the tree of the last commit, whole.
 */
#ifndef VSSD_NVME_KV_INDEX_H
#define VSSD_NVME_KV_INDEX_H

#include "rooms.h"
#if NVME_ROOM < ROOM_KV
#error "hw-ssd/nvme/kv is above this room: docs/architecture.md"
#endif

#include "nvme-internal.h"
#include "kv/kv-wait.h"

typedef enum NvmeKvState {
    NVME_KV_COLD,     /* nothing is known of the tree */
    NVME_KV_MOUNTING, /* the drive reads all of it */
    NVME_KV_READY,
    NVME_KV_BROKEN, /* it is damaged; a format makes it an empty one */
} NvmeKvState;

typedef enum NvmeKvPhase {
    NVME_KV_IDLE,
    NVME_KV_DRAIN,
    NVME_KV_PAGES,
    NVME_KV_FLUSH,
    NVME_KV_HEAD,
    NVME_KV_TRIM,
} NvmeKvPhase;

struct NvmeKv {
    NvmeCtrl *ctrl;          /* the first one */
    const NvmeNamespace *ns; /* NULL: it is gone */
    KvSpace space;
    KvCache cache;
    KvTree tree;
    uint32_t unit_blocks; /* of the drive */
    uint32_t unit_bytes;
    uint32_t n_units;
    uint32_t value_most; /* bytes */
    uint32_t keys_most;
    uint32_t reserve; /* units that values do not get */
    uint32_t dirt;    /* pages that may change in an epoch */
    uint32_t turns;   /* commands that may look into the tree at a time */
    uint32_t in_turn;
    uint32_t jobs; /* requests of the index */
    uint8_t state; /* NvmeKvState */
    uint8_t phase; /* NvmeKvPhase */
    bool reset;    /* to be COLD when there are no jobs */
    bool stale;    /* the last head record could not be written */

    uint32_t pages_left; /* of the commit, in PAGES */
    uint32_t trimmed;    /* in TRIM: extents of space.dying */
    uint16_t commit_status;
    KvHead head;        /* of the commit */
    uint64_t closed;    /* epoch of the last commit that has begun */
    uint64_t committed; /* of the last one that is durable */
    uint64_t failed;
    uint16_t failed_status;

    uint8_t *unit; /* NVME_KV_MOUNTING: unit 0 */
    bool walking;
    KvPath walk;
    KvKey walk_key;
    KvExtent *walk_list;
    uint64_t walk_keys;
    uint32_t sweep; /* the next unit to look at */

    uint64_t lives;       /* how often what is in memory was lost */
    uint16_t lost_status; /* of commands that began before the last time */
    uint64_t seq;
    uint32_t n_ops;
    NvmeKvOp *waiting; /* the oldest first */
    NvmeKvOp *holders;
    uint64_t n_commits;
    uint64_t n_mounts;
};

/* Of the command's namespace, which is one of key-value pairs. */
NvmeKv *nvme_kv_of(NvmeCtrl *ctrl, const NvmeNamespace *ns);

/* Could a namespace of so many blocks of the drive be one?  NULL: yes; else why
 * not. */
const char *nvme_kv_refuses(const NvmeCtrl *ctrl, uint64_t drive_blocks);

/* Bytes of the longest value, and the most keys, of a namespace. */
uint32_t nvme_kv_value_most(const NvmeCtrl *ctrl);
uint32_t nvme_kv_keys_most(const NvmeCtrl *ctrl, const NvmeNamespace *ns);

/* A stage of all commands: the index is there. */
NvmeKvGo nvme_kv_stage_mount(NvmeCtrl *ctrl, NvmeKvOp *op);

/* A stage: the changes of op->epoch are durable. */
NvmeKvGo nvme_kv_stage_commit(NvmeCtrl *ctrl, NvmeKvOp *op);

/* Is anything not committed?  Begin a commit, unless one is under way. */
bool nvme_kv_is_dirty(const NvmeKv *kv);
void nvme_kv_commit(NvmeKv *kv);

/* With every run: go on with what waits; true: there was something. */
bool nvme_kv_look(NvmeSubsys *sub);

/* All is committed, and nothing is under way. */
bool nvme_kv_at_rest(const NvmeSubsys *sub);

/* Does an index work, of the namespace or, with NULL, of any one? */
bool nvme_kv_works(const NvmeSubsys *sub, const NvmeNamespace *ns);

/* Commit what has changed, of all namespaces; true: commits are under way.
 * NvmeSubsys.kv_after is called once when they have ended, well or not. */
bool nvme_kv_commit_all(NvmeSubsys *sub);

/* What is in memory is lost: of the namespace (NULL: of all).  Commands that
 * wait end with the status. */
void nvme_kv_forget(NvmeSubsys *sub, const NvmeNamespace *ns, uint16_t status);
/* And the namespace goes. */
void nvme_kv_detach(NvmeCtrl *ctrl, const NvmeNamespace *ns);
/* No request is in use any more. */
void nvme_kv_free_all(NvmeSubsys *sub);

#endif
