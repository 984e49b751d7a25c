/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * payload-internal.h - the structures of the overlay, for payload.c (what is
 * in it) and destage.c (its way to the store).
 */
#ifndef VSSD_NVME_PAYLOAD_INTERNAL_H
#define VSSD_NVME_PAYLOAD_INTERNAL_H

#include "payload.h"

#define MASK_WORDS 8 /* 256 KiB units of 512-byte blocks */

/* Transfer buffers: powers of two from 4 KiB to 8 MiB. */
#define BUF_CLASSES 12

typedef enum EntryState {
    ENTRY_DIRTY,
    ENTRY_READY,
    ENTRY_STALLED,
    ENTRY_WRITING,
    ENTRY_FAILED,
    ENTRY_TRIM,
} EntryState;

/* A place in the queue of what is to reach the store. */
typedef struct Due {
    GList link;
    uint64_t seq;
} Due;

struct PayloadEntry {
    PayloadEntry *hnext; /* of the newest entry of a chain: the next chain */
    PayloadEntry *newer;
    PayloadEntry *older;
    PayloadEntry *next; /* in a list before commit, in a group, free */
    uint64_t lpn;
    uint64_t version; /* TRIM: id */
    uint8_t *data;    /* a whole unit */
    uint8_t state;
    bool dead;         /* WRITING, and trimmed meanwhile */
    bool absorbed;     /* holds blocks of older entries */
    bool write_failed; /* WRITING: a part of it was refused */
    uint16_t first;    /* before commit: the blocks that the WRITE covers */
    uint16_t count;
    uint16_t nvalid;
    uint16_t writes; /* requests at the store */
    uint64_t valid[MASK_WORDS];
    GList turn; /* in ready, stalled or failed */
    Due due;
};

typedef struct ZeroRange {
    uint64_t lpn;
    uint64_t nunits;
    bool started;
    GList link; /* in zeroes */
    Due due;
} ZeroRange;

typedef struct Job {
    NvmeStoreReq req; /* first: the store hands it back */
    GList link;       /* in reads or writes, or free */
    uint64_t first_lpn;
    uint64_t last_lpn;
    union {
        PayloadRead *rd;
        PayloadEntry *group;
        ZeroRange *zero;
    };
    bool copied; /* WRITE: req.buf is a transfer buffer */
} Job;

typedef struct Slab {
    PayloadEntry *entries;
    uint8_t *data;
} Slab;

struct Payload {
    const NvmeStore *store;
    void *store_opaque;
    const PayloadClient *client;
    void *client_opaque;

    const Ssd *ssd;
    uint64_t nblocks;
    uint32_t block_bytes;
    uint32_t unit_bytes;
    uint32_t unit_blocks;

    PayloadEntry **hash;
    unsigned hash_bits;
    size_t nchains;
    PayloadEntry *free_entries;
    GArray *slabs;
    void *free_bufs[BUF_CLASSES];
    unsigned nfree_bufs[BUF_CLASSES];
    GQueue free_jobs;

    GQueue ready;
    GQueue stalled;
    GQueue failed;
    GQueue zeroes;
    GQueue due;
    uint64_t next_seq;
    uint64_t next_trim_id;

    GQueue reads;  /* Jobs at the store */
    GQueue writes; /* WRITE and ZERO */
    unsigned nwrites;
    unsigned nzeroes;
    unsigned in_flight;

    GQueue barriers;   /* wait for what is due */
    GQueue flush_next; /* wait for the next FLUSH */
    GQueue flushing;   /* wait for the one at the store */
    GQueue flushed;    /* done, to be told */
    bool flush_in_flight;
    bool store_dirty; /* something was written since the last FLUSH began */
    bool zero_lost;   /* a ZERO failed since the last barrier was told */

    PayloadStats stats;
};

static inline uint32_t blocks_of_unit(const Payload *p, uint64_t lpn)
{
    return MIN(p->unit_blocks, p->nblocks - lpn * p->unit_blocks);
}

static inline bool entry_full(const Payload *p, const PayloadEntry *e)
{
    return e->nvalid == blocks_of_unit(p, e->lpn);
}

static inline bool entry_has(const PayloadEntry *e, unsigned block)
{
    return e->valid[block / 64] >> (block % 64) & 1;
}

static inline bool entry_waits(const PayloadEntry *e)
{
    return e->state == ENTRY_READY || e->state == ENTRY_STALLED;
}

/* payload.c */
PayloadEntry *payload_entry_alloc(Payload *p, uint64_t lpn);
void payload_chain_push(Payload *p, PayloadEntry *e); /* as the newest */
PayloadEntry *payload_chain_newest(const Payload *p, uint64_t lpn);
void payload_entry_free(Payload *p, PayloadEntry *e);
void payload_chain_remove(Payload *p, PayloadEntry *e);
/* d takes over the place of from, which leaves. */
void payload_due_inherit(Payload *p, Due *d, Due *from);
/* Leave ready, stalled or failed. */
void payload_turn_leave(Payload *p, PayloadEntry *e);
void payload_due_push(Payload *p, Due *d);
/* Copy the blocks that only the older entry has. */
void payload_merge(Payload *p, const PayloadEntry *from, PayloadEntry *to);
bool payload_zeroes_cover(const Payload *p, uint64_t first, uint64_t last);

/* destage.c */
/* count blocks from the first-th of the read. */
void payload_read_from_store(Payload *p, PayloadRead *rd, uint32_t first,
                             uint32_t count);
void payload_free_jobs(Payload *p);

#endif
