/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * payload.h - user data on its way between the guest and its resting place.
 *
 * Keeps, in units of the drive's mapping, guest data that the drive has not
 * programmed (lost in a power cut), and programmed data that the store does
 * not hold yet (not lost).  Knows nothing of NVMe: commands, queues
 * and guest memory are io.c's business.
 *
 * Order of things for a WRITE: payload_write_new(), fill the entries,
 * payload_write_commit(), ssd_submit().  For a TRIM: payload_trim_begin(),
 * ssd_submit(), payload_trim_end() when the drive has completed it.
 */
#ifndef VSSD_NVME_PAYLOAD_H
#define VSSD_NVME_PAYLOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "nvme.h"
#include "ssd.h"
#include "state.h"

typedef struct Payload Payload;
typedef struct PayloadEntry PayloadEntry;

/* One read of nblocks into buf; owned by the caller until it is done. */
typedef struct PayloadRead {
    uint64_t lba;
    uint32_t nblocks;
    uint8_t *buf;
    uint8_t *meta;      /* NULL, or so many bytes of payload_set_metadata() for
                           each block */
    size_t held_bytes;  /* of memory, while the store works on it */
    void *owner;        /* the caller's */
    unsigned in_flight; /* payload.c's */
    int ret;            /* 0 or -EIO */
    bool marked;        /* -EIO for a block that is marked uncorrectable: */
    uint64_t bad_lba;   /* the first of them */
} PayloadRead;

/* Waits until the store has all that the drive has programmed, and has flushed
 * it. */
typedef struct PayloadBarrier {
    GList link;
    uint64_t seq;
    int ret;
    bool unflushed; /* the caller's, before payload_barrier(): has it, is all */
    void *owner; /* the caller's */
} PayloadBarrier;

/* The first two are called from payload_pump() and payload_store_done() only.
 */
typedef struct PayloadClient {
    void (*read_done)(void *opaque, PayloadRead *rd);
    void (*barrier_done)(void *opaque, PayloadBarrier *b, int ret);
    /* After payload_watch(): from at_ns on, a power cut leaves this in the
     * blocks; data NULL: zeroes.  From payload_programmed() and
     * payload_trim_end(). */
    void (*durable)(void *opaque, uint64_t at_ns, uint64_t lba,
                    uint64_t nblocks, const uint8_t *data);
} PayloadClient;

typedef struct PayloadStats {
    uint64_t units;       /* in the overlay now */
    uint64_t units_peak;
    uint64_t units_failed; /* programmed, and the store refused them */
    uint64_t destaged_units;
    uint64_t zero_ranges; /* that the store has not zeroed yet */
    uint64_t backlog_bytes; /* data that waits for the store, or was refused */
    uint64_t backlog_peak_bytes;
    uint64_t store_reads;
    uint64_t store_writes;
    uint64_t store_zeroes;
    uint64_t store_flushes;
    uint64_t store_errors;
} PayloadStats;

/* store_opaque is handed to the store. */
Payload *payload_new(const NvmeStore *store, void *store_opaque,
                     const PayloadClient *client, void *client_opaque);

/* Once, before any other use: the drive, and the size the guest sees. */
void payload_attach(Payload *p, const Ssd *ssd, uint64_t nblocks);

/*
 * Once, after payload_attach(): each block of the drive has so many bytes of
 * metadata (0..64), which the store has from byte `base` on, one block behind
 * the other.  They are written, lost, freed and read with their block; where a
 * block reads as zeroes, they are zeroes.
 */
void payload_set_metadata(Payload *p, uint32_t bytes, uint64_t base);

/* Once, for payload_write_may_tear(): where it tears follows from the seed. */
void payload_set_tears(Payload *p, uint64_t seed);

/* Report all that becomes durable; before the first write. */
void payload_watch(Payload *p);

/* How much may wait for the store (backlog.c). */
void payload_set_limit(Payload *p, uint64_t bytes);
void payload_free(Payload *p);

/* Page-aligned memory for transfers; bytes up to 8 MiB. */
void *payload_buf_get(Payload *p, size_t bytes);
void payload_buf_put(Payload *p, void *buf, size_t bytes);

/* A command keeps such memory while the drive works; it counts as waiting for
 * the store until it is free. */
void payload_keep_bytes(Payload *p, size_t bytes);
void payload_free_bytes(Payload *p, size_t bytes);

/* A list of entries for the range, without data, not yet visible. */
PayloadEntry *payload_write_new(Payload *p, uint64_t lba, uint32_t nblocks);

/* The next piece of memory to fill, or NULL; *bytes is its length.  Start with
 * *cursor set to the list. */
uint8_t *payload_write_piece(Payload *p, PayloadEntry **cursor, size_t *bytes);

/* The same for their metadata, of a drive that has it. */
uint8_t *payload_write_meta(Payload *p, PayloadEntry **cursor, size_t *bytes);

/* In place of data: its blocks are uncorrectable until they are written again.
 */
void payload_write_mark(Payload *p, PayloadEntry *list);

/* A power cut may leave some blocks of each unit of the list, in pieces of so
 * many; after payload_set_tears(). */
void payload_write_may_tear(PayloadEntry *list, uint32_t piece_blocks);

/* Forget a list that was not committed. */
void payload_write_drop(Payload *p, PayloadEntry *list);

/* Make it visible to reads, as version. */
void payload_write_commit(Payload *p, PayloadEntry *list, uint64_t version);

/* A write that was committed has ended, in whatever way. */
void payload_write_end(Payload *p, uint64_t lba, uint32_t nblocks);

/* The drive refused the write, ended it without effect, or could not make it
 * durable. */
void payload_write_failed(Payload *p, uint64_t lba, uint32_t nblocks,
                          uint64_t version);

/* true: done, see rd->ret; false: client->read_done() will follow. */
bool payload_read(Payload *p, PayloadRead *rd);

/*
 * Whole units only; a number for it.  Only while there is room for one more: a
 * place gets free when a TRIM has ended, and payload_pump() has done with it.
 * ok: the drive has done it.  durable: its zeroes are data, as those of Write
 * Zeroes; else the store gets them when there is nothing better to do, and no
 * barrier waits for that.
 */
bool payload_trim_room(const Payload *p);
uint64_t payload_trim_begin(Payload *p, uint64_t lba, uint64_t nblocks);
void payload_trim_end(Payload *p, uint64_t end_ns, uint64_t id, bool ok,
                      bool durable);

/* Of a range of whole units that the drive has freed, at rest: the store need
 * not have zeroes there. */
void payload_forget_zeroes(Payload *p, uint64_t lba, uint64_t nblocks);

/* client->barrier_done() will follow, from the next payload_pump() at the
 * earliest. */
void payload_barrier(Payload *p, PayloadBarrier *b);

/* The reports of SsdHostOps. */
void payload_programmed(Payload *p, uint64_t now_ns, uint64_t lpn,
                        uint64_t version);
void payload_superseded(Payload *p, uint64_t lpn, uint64_t version);

/* Start all requests that can start at the store.  true: there is more to do,
 * call it again; it stopped to bound its time. */
bool payload_pump(Payload *p);

/*
 * Have the store zero some trimmed ranges, when there is time for it:
 * a few requests at a time.  Not while held.  true: more could be started soon.
 */
bool payload_housekeep(Payload *p);
bool payload_has_lazy(const Payload *p); /* is any left, or at the store? */
/* Is there a range, or anything that the store has refused? */
bool payload_wants_upkeep(const Payload *p);
void payload_hold(Payload *p, bool on);

void payload_store_done(Payload *p, NvmeStoreReq *req, int ret);
unsigned payload_store_in_flight(const Payload *p);

/* More waits for the store than may: take no more from the guest. */
bool payload_congested(Payload *p);

/* Data that the store has refused fills the limit: take no more data. */
bool payload_refuses(const Payload *p);

/* Has the store refused anything?  Then try some of it again; if the store takes
 * it, the rest follows.  A barrier tries all of it. */
bool payload_has_failed(const Payload *p);
void payload_probe(Payload *p);
void payload_retry(Payload *p); /* all of it */

/* Drop data that the drive has not programmed. */
void payload_power_cut(Payload *p);

/* Uncorrectable blocks that the store has. */
uint64_t payload_marked_blocks(const Payload *p);

void payload_get_stats(const Payload *p, PayloadStats *stats);

/* Units that are programmed, and that the store has refused. */
uint64_t payload_units_failed(const Payload *p);

/* Nothing is on its way to or from the store, and nobody waits for it. */
bool payload_at_rest(const Payload *p);

/* Save it at rest, or load it into a new one; checks every number. */
bool payload_state(Payload *p, State *s);
/* Uncorrectable blocks that the store has, alone. */
bool payload_marks_state(Payload *p, State *s);
const StateStruct *payload_state_struct(unsigned i); /* for a test */

#endif
