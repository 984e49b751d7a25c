/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * payload-internal.h - the structures of the overlay, for the files of this
 * folder only.
 *
 * payload.c: contents of a block.  destage.c: the way to the store.  tears.c:
 * writes that a power cut tears.  trims.c and zeroes.c: ranges without data.
 * marks.c: uncorrectable blocks.  entries.c: entries, their chains and queues.
 * buffers.c: memory for transfers.  backlog.c: how much may wait.
 */
#ifndef VSSD_NVME_PAYLOAD_INTERNAL_H
#define VSSD_NVME_PAYLOAD_INTERNAL_H

#include "rooms.h"
#if NVME_ROOM != ROOM_PAYLOAD
#error "private to hw-ssd/nvme/payload: docs/architecture.md"
#endif

#include "bitmap.h"
#include "payload.h"
#include "prng.h"

#define MASK_WORDS 8 /* 256 KiB units of 512-byte blocks */

/* Transfer buffers: powers of two from 4 KiB to 8 MiB. */
#define BUF_CLASSES 12

typedef enum EntryState {
    ENTRY_DIRTY,
    ENTRY_LATE,
    ENTRY_READY,
    ENTRY_STALLED,
    ENTRY_WRITING,
    ENTRY_FAILED,
} EntryState;

/* A place in the queue to the store. */
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
    uint64_t version;
    uint64_t trim_seq; /* of the newest TRIM that its chain knows of */
    uint8_t *data;     /* a whole unit */
    uint8_t *meta;     /* of a whole unit; NULL: the drive has none */
    uint8_t state;
    bool dead;         /* trimmed; goes to the store, or is there already */
    bool absorbed;     /* holds blocks of older entries */
    bool on_zeroes;    /* without it the unit reads as zeroes, and no older entry */
    bool write_failed; /* WRITING: a part of it was refused */
    bool probe;        /* failed before; others wait for how it goes now */
    uint16_t first;    /* the blocks that the WRITE covers */
    uint16_t count;
    uint16_t tear_blocks; /* a power cut may tear it at a multiple; 0: not */
    uint16_t nvalid;
    uint16_t writes; /* requests at the store */
    uint64_t valid[MASK_WORDS];
    bool has_marks;              /* of valid blocks; else marked is all 0 */
    uint64_t marked[MASK_WORDS]; /* uncorrectable: a read of them fails */
    GList turn;                  /* in late, ready, stalled or failed */
    Due due;
};

/* zeroes.c */
typedef struct ZeroRange {
    uint64_t lpn;
    uint64_t nunits;
    bool durable;
    bool started; /* at the store */
    bool failed;
    bool is_due;
    GSequenceIter *at; /* in zeroes */
    GList turn;        /* in due_zeroes or failed_zeroes */
    Due due;
} ZeroRange;

/* trims.c */
#define MAX_TRIMS 64

typedef struct Trim {
    uint8_t state;
    uint64_t lpn;
    uint64_t nunits;
    uint64_t version; /* of the newest write before it */
    uint64_t seq;     /* DONE: counts those that are done */
    size_t left;      /* DONE: buckets of the hash */
} Trim;

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
    bool lazy;           /* ZERO: of a lazy range */
    bool meta;           /* ZERO: of the metadata; the blocks follow */
    struct iovec *piece; /* req.iov; kept for the next request */
    unsigned room;       /* of piece */
} Job;

typedef struct Slab {
    PayloadEntry *entries;
    uint8_t *data;
    uint8_t *meta;
} Slab;

struct Payload {
    const NvmeStore *store;
    void *store_opaque;
    const PayloadClient *client;
    void *client_opaque;

    bool watched; /* payload_watch() */

    const Ssd *ssd;
    uint64_t nblocks;
    uint32_t block_bytes;
    uint32_t unit_bytes;
    uint32_t unit_blocks;
    uint32_t meta_bytes; /* of a block; 0: none */
    uint64_t meta_base;  /* in the store */

    PayloadEntry **hash;
    unsigned hash_bits;
    size_t nchains;
    PayloadEntry *free_entries;
    GArray *slabs;
    void *free_bufs[BUF_CLASSES];
    unsigned nfree_bufs[BUF_CLASSES];
    GQueue free_jobs;

    GQueue late; /* the oldest first */
    Prng tear_prng;
    GQueue ready;
    GQueue stalled;
    GQueue failed;
    unsigned ndead; /* in ready and stalled */
    GQueue due;
    uint64_t next_seq;
    uint64_t last_version; /* of all writes */

    GSequence *zeroes; /* ZeroRanges, in order */
    uint64_t nzeroes;
    GQueue due_zeroes;
    GQueue failed_zeroes;
    uint64_t nlost; /* of those, durable */
    uint64_t next_lazy; /* where to go on */

    Trim trims[MAX_TRIMS];
    unsigned ntrims;
    unsigned trims_used; /* those behind are free */
    unsigned trims_done;
    uint64_t trim_seq;
    size_t sweep_at;
    unsigned sweep_bits; /* hash_bits, as sweep_at and Trim.left know it */

    GQueue reads;  /* Jobs at the store */
    GQueue writes; /* WRITE and ZERO */
    unsigned nwrites;
    unsigned nzeroing; /* ZEROs at the store */
    unsigned nlazy;    /* those of lazy ranges */
    uint64_t *marks; /* by block: uncorrectable in the store; NULL: none was */
    uint64_t nmarks;
    unsigned in_flight;
    bool held;

    GQueue barriers;   /* wait for due entries */
    GQueue flush_next; /* wait for the next FLUSH */
    GQueue flushing;   /* wait for the one at the store */
    GQueue flushed;    /* done, to be told */
    bool flush_in_flight;
    bool store_dirty; /* something was written since the last FLUSH began */

    uint64_t limit_bytes; /* backlog.c */
    uint64_t command_units; /* of writes that have not ended */
    uint64_t kept_bytes;    /* payload_keep_bytes() */
    uint64_t nreads;        /* that wait for the store */
    uint64_t read_bytes;

    PayloadStats stats;
};

static inline uint32_t blocks_of_unit(const Payload *p, uint64_t lpn)
{
    return MIN(p->unit_blocks, p->nblocks - lpn * p->unit_blocks);
}

/* Metadata of so many blocks. */
static inline uint64_t meta_of(const Payload *p, uint64_t nblocks)
{
    return nblocks * p->meta_bytes;
}

/* watch.c: an entry, or a range that a TRIM has freed, has become durable. */
void payload_watch_entry(Payload *p, uint64_t at_ns, const PayloadEntry *e);
void payload_watch_trim(Payload *p, uint64_t at_ns, const Trim *t);

static inline bool entry_full(const Payload *p, const PayloadEntry *e)
{
    return e->nvalid == blocks_of_unit(p, e->lpn);
}

static inline bool entry_has(const PayloadEntry *e, unsigned block)
{
    return bitmap_test(e->valid, block);
}

static inline bool entry_waits(const PayloadEntry *e)
{
    return e->state == ENTRY_READY || e->state == ENTRY_STALLED;
}

/* The blocks first..first + count - 1 are valid from now on. */
static inline void entry_add(PayloadEntry *e, unsigned first, unsigned count)
{
    for (unsigned b = first; b < first + count; b++) {
        e->nvalid += !bitmap_test(e->valid, b);
        bitmap_set(e->valid, b);
    }
}

static inline size_t hash_index(const Payload *p, uint64_t lpn)
{
    /* Fibonacci hashing (Knuth, TAOCP vol. 3, 6.4). */
    return lpn * 0x9e3779b97f4a7c15ULL >> (64 - p->hash_bits);
}

/* Where the pointer to the newest entry of lpn is, or would be. */
static inline PayloadEntry **chain_slot(const Payload *p, uint64_t lpn)
{
    PayloadEntry **slot = &p->hash[hash_index(p, lpn)];

    while (*slot && (*slot)->lpn != lpn) {
        slot = &(*slot)->hnext;
    }
    return slot;
}

static inline PayloadEntry *chain_newest(const Payload *p, uint64_t lpn)
{
    return *chain_slot(p, lpn);
}

/*
 * From the lowest file to the highest; calls run upward in this list, that is,
 * a file calls those above it here (tests/components.py).
 */

/* backlog.c */
uint64_t payload_backlog_bytes(const Payload *p);
void payload_read_waits(Payload *p, const PayloadRead *rd);
void payload_read_ends(Payload *p, const PayloadRead *rd);
/* The store takes none, and there are more than may wait. */
bool payload_too_many_ranges(const Payload *p);

/* marks.c */
/* Does the store have an uncorrectable one of these blocks?  Then *lba is the
 * first. */
bool payload_marks_find(const Payload *p, uint64_t first, uint64_t nblocks,
                        uint64_t *lba);
void payload_marks_put(Payload *p, uint64_t lba, bool marked);
/* The store has the blocks of the entry; has zeroes in these units. */
void payload_marks_written(Payload *p, const PayloadEntry *e);
void payload_marks_zeroed(Payload *p, uint64_t lpn, uint64_t nunits);
void payload_marks_free(Payload *p);

/* buffers.c */
void payload_bufs_free(Payload *p);

/* entries.c */
PayloadEntry *payload_entry_alloc(Payload *p, uint64_t lpn);
void payload_entry_free(Payload *p, PayloadEntry *e);
void payload_entries_free(Payload *p); /* all memory of theirs */
void payload_chain_push(Payload *p, PayloadEntry *e); /* as the newest */
/* As the next one that is newer than `older`. */
void payload_chain_put_above(Payload *p, PayloadEntry *e, PayloadEntry *older);
void payload_chain_remove(Payload *p, PayloadEntry *e);
void payload_due_push(Payload *p, Due *d);
/* d takes over the place of from, which leaves. */
void payload_due_inherit(Payload *p, Due *d, Due *from);
/* Leave late, ready, stalled or failed. */
void payload_turn_leave(Payload *p, PayloadEntry *e);
/* Entries that waited may go now. */
void payload_unstall(Payload *p);
/* Remove an entry that is not at the store, whatever its state. */
void payload_entry_drop(Payload *p, PayloadEntry *e);
/* Copy the blocks that only the older entry has. */
void payload_merge(Payload *p, const PayloadEntry *from, PayloadEntry *to);
/* Blocks that it does not have are zeroes from now on. */
void payload_fill_with_zeroes(Payload *p, PayloadEntry *e);

/* zeroes.c */
void payload_zeroes_add(Payload *p, uint64_t lpn, uint64_t nunits,
                        bool durable);
/* At rest one that is durable has failed. */
void payload_zeroes_load(Payload *p, uint64_t lpn, uint64_t nunits,
                         bool durable);
void payload_zeroes_free(Payload *p);
/* Is any of these units in a range?  Then it reads as zeroes. */
bool payload_zeroes_cover(const Payload *p, uint64_t first, uint64_t last);
/* May the unit be written?  If so, and take_out, no range has it any more. */
bool payload_zeroes_give_way(Payload *p, uint64_t lpn, bool take_out);
/* The first lazy range that ends behind lpn, or NULL. */
ZeroRange *payload_zeroes_next_lazy(const Payload *p, uint64_t lpn);
/* Its first units, at most so many, are at the store from now on. */
ZeroRange *payload_zeroes_begin(Payload *p, ZeroRange *z, uint64_t most);
/* done: how many of its units, if ret is 0; the rest waits again. */
void payload_zeroes_ended(Payload *p, ZeroRange *z, uint64_t done, int ret);
void payload_zeroes_retry(Payload *p); /* all that has failed */

/* trims.c */
/* Is the drive at a TRIM of the unit that came between the two versions? */
bool payload_trim_between(const Payload *p, uint64_t lpn, uint64_t older,
                          uint64_t newer);
/* A durable entry takes over the blocks that older entries of its unit still
 * hold. */
void payload_absorb_older(Payload *p, PayloadEntry *e);
/* Apply the TRIMs that are done to the chain: it may lose entries, or end.  To
 * be called before a chain is looked at, while trims_done is not 0. */
void payload_chain_look(Payload *p, uint64_t lpn);
/* Apply the TRIMs that are done to some more chains. */
void payload_sweep(Payload *p);

/* tears.c */
/* The drive has programmed it: it is READY, or what a cut leaves of it is. */
void payload_entry_programmed(Payload *p, PayloadEntry *e, uint64_t now_ns);
/* What is late is durable now. */
void payload_end_tears(Payload *p);

/* destage.c */
/* count blocks from the first-th of the read. */
void payload_read_from_store(Payload *p, PayloadRead *rd, uint32_t first,
                             uint32_t count);
void payload_free_jobs(Payload *p);

#endif
