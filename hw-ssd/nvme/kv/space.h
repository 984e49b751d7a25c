/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * space.h - which units of a key-value namespace are in use.
 *
 * A unit that is released keeps its content until the tree without it is
 * durable: it is dead in the open epoch, dying while that is committed, and
 * free after it.
 */
#ifndef VSSD_NVME_KV_SPACE_H
#define VSSD_NVME_KV_SPACE_H

#include "rooms.h"
#if NVME_ROOM < ROOM_KV
#error "hw-ssd/nvme/kv is above this room: docs/architecture.md"
#endif

#include <stdbool.h>
#include <stdint.h>

#include "kv/format.h"

typedef struct KvSpace {
    uint64_t *used; /* bits by unit */
    uint32_t n;
    uint32_t n_free;
    uint32_t next; /* where the search begins */
    uint32_t n_dead;
    GArray *dead; /* KvExtent, as dying */
    GArray *dying;
} KvSpace;

/* All free but unit 0. */
void kv_space_init(KvSpace *s, uint32_t n);
void kv_space_free(KvSpace *s);

/* A run of 1..most free units; false: there is none. */
bool kv_space_take(KvSpace *s, uint32_t most, KvExtent *e);

/* They are in use, as the tree says; false: they are not units, or already
 * are. */
bool kv_space_mark(KvSpace *s, KvExtent e);

/* Taken in vain: no tree has them. */
void kv_space_give_back(KvSpace *s, KvExtent e);

/* The tree no longer has them. */
void kv_space_release(KvSpace *s, KvExtent e);

/* A commit begins, after the last one has ended: what is dead is dying.  It
 * ends: that is free, or, if it failed, dead again. */
void kv_space_commit(KvSpace *s);
void kv_space_committed(KvSpace *s, bool ok);

#endif
