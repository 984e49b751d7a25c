/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vssd-store.h - block nodes, and the payload in them (nodes.c, metadata.c,
 * store-done.c, store.c, store-end.c, preload.c).
 */
#ifndef VSSD_QEMU_STORE_H
#define VSSD_QEMU_STORE_H

#include "qemu/osdep.h"
#include "qemu/notify.h"
#include "qemu/thread.h"
#include "qemu/timer.h"
#include "system/block-backend.h"

#include "images.h"
#include "nvme.h"

typedef struct VssdDev VssdDev;
typedef struct VssdFunction VssdFunction;

/* A request of the controller. */
typedef struct VssdJob VssdJob;

typedef enum VssdJobState {
    JOB_STARTING, /* inside submit() */
    JOB_WAITING,  /* submit() has said -EINPROGRESS */
    JOB_ENDED,    /* ret is valid */
} VssdJobState;

struct VssdJob {
    VssdDev *dev;
    NvmeStoreReq *req;
    VssdJobState state;
    bool parked;
    BlockBackend *blk; /* that has ended with an error */
    int ret;
};

typedef struct VssdStore {
    BlockBackend *blk[NVME_MAX_IMAGES]; /* of the images */
    NvmeImages images;

    /* store.c */
    unsigned jobs_in_flight; /* atomic */
    GSList *done_jobs;       /* ended while this thread held the lock */
    QemuMutex parked_lock;   /* innermost */
    GSList *parked;    /* under parked_lock: refused, wait for the machine */
    unsigned n_parked; /* atomic */
    QEMUTimer *parked_timer;
    bool ends;                /* atomic: no machine will go on */
    BlockBackend *refused_by; /* that refused data last, and why */
    int refused_errno;
} VssdStore;

/* ---- nodes.c ------------------------------------------------------------ */

/* drive= is open: open drive2= and following, if there are any. */
bool vssd_nodes_open(VssdDev *s, Error **errp);
bool vssd_nodes_set_context(VssdDev *s, AioContext *ctx, Error **errp);

/* Of several nodes: NvmeConfig.namespaces (g_free), or NULL and *errp. */
char *vssd_nodes_namespaces(VssdDev *s, Error **errp);

/* The controller has its namespaces.  false: they do not fit the nodes, and
 * *error says why of "it". */
bool vssd_nodes_place(VssdDev *s, const NvmeCtrl *ctrl, GError **error);

/* Has a namespace, which has a node of its own, an image now, or none?  Else
 * *errp. */
bool vssd_nodes_check(VssdDev *s, uint64_t nsid, bool has, Error **errp);

/* Image i, from 0, of several has gone: its namespace has no blocks.  Another
 * one, by the name of its block node, is in its place, and has so many bytes,
 * at most room; 0: *errp. */
void vssd_nodes_remove(VssdDev *s, unsigned i);
uint64_t vssd_nodes_insert(VssdDev *s, unsigned i, const char *node,
                           uint64_t room, Error **errp);

/* A drive of a state file was saved without some of its images: they are in. */
void vssd_nodes_refill(VssdDev *s);

/* ---- store-done.c ------------------------------------------------------- */

/* Hand a request that has ended to the controller; and all that
 * ended meanwhile.  true: there were some. */
void vssd_job_finish(VssdDev *s, VssdJob *job);
bool vssd_store_reap(VssdDev *s);

/* ---- store.c ------------------------------------------------------------ */

extern const NvmeStore vssd_store;

/* Of a failed drive: refused requests end, and the node gets no more requests.
 */
void vssd_store_drop(VssdDev *s);

/* Before any request and after the last. */
void vssd_store_init(VssdDev *s);
void vssd_store_stop(VssdDev *s);

/* Requests at the node, without those that were refused and wait for the
 * machine to go on; are there any of these?  It goes on: ask the node again. */
bool vssd_store_is_busy(VssdDev *s);
bool vssd_store_has_parked(VssdDev *s);
void vssd_store_restart(VssdDev *s);

/* Wait until no request is in flight. */
void vssd_store_wait(VssdDev *s);

/* ---- store-end.c -------------------------------------------------------- */

/* Wait; requests that were refused end, too, with success or not. */
void vssd_store_drain(VssdDev *s);

/* Of a drive that ends and is held: retry the requests that the
 * node has refused, and free the trimmed ranges, as far as that can be
 * done in so long.  Lost data is reported. */
void vssd_store_finish(VssdDev *s, unsigned most_ms);

/* ---- preload.c ---------------------------------------------------------- */

/* Before the guest runs: tell the drive which parts of the node
 * hold data.  *data_bytes: how many. */
bool vssd_store_preload(VssdDev *s, uint64_t nblocks, uint64_t *data_bytes,
                        Error **errp);
/* The same of image i, of a drive at rest. */
bool vssd_store_preload_image(VssdDev *s, unsigned i, Error **errp);

/* ---- metadata.c --------------------------------------------------------- */

/* Before the guest runs: is the image divided so?  A new one is. */
bool vssd_metadata_open(VssdDev *s, uint64_t nblocks, Error **errp);

#endif
