/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ssd.h - the one interface between a host front end and the modelled drive:
 * commands, power and streams.  ssd-setup.h has its configuration, ssd-save.h
 * its clock, saving and aging, ssd-report.h its statistics and logs.
 *
 * Time:    uint64_t nanoseconds since ssd_create(), named *_ns.  The drive
 *          reads no clock: the caller passes now_ns, which never decreases and
 *          stays below SIM_MAX_NS (213 days).
 * Polling: when and how often ssd_advance() runs changes no complete_ns.
 * Order:   results depend on (config, seed, calls) alone; events due at the
 *          same instant run in scheduling order.
 * Data:    none.  The caller keeps payload; SsdHostOps reports units that
 *          became durable or were superseded.
 * Threads: one thread per Ssd at a time; no globals, so many Ssds may coexist.
 * Errors:  0, or a negative errno the caller can act on.  The status for the
 *          host is SsdCompletion.status.  A broken precondition aborts.
 */
#ifndef VSSD_SSD_H
#define VSSD_SSD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <glib.h>

#define SSD_TIME_NEVER UINT64_MAX

typedef struct Ssd Ssd;
typedef struct SsdConfig SsdConfig; /* opaque to front ends; ssd-config.h */

/* ---- the drive ---------------------------------------------------------- */

/* Zones of a drive with zones.enabled; else all 0.  Sizes in blocks. */
typedef struct SsdZones {
    uint32_t n;          /* zone i has the blocks from i * capacity on */
    uint64_t capacity;   /* blocks of the drive in a zone */
    uint64_t size;       /* from a zone to the next one, as a host counts */
    uint32_t max_active; /* zones with a stream of their own */
    uint32_t max_open;
    uint32_t extension;      /* bytes of a zone descriptor extension */
    uint64_t append_bytes;   /* of the largest Zone Append; 0: no own limit */
    bool whole;              /* a full zone fills all of its erase blocks */
    bool records;            /* also the reset of an empty zone takes time */
    uint64_t zrwa;           /* blocks of a Zone Random Write Area; 0: none */
    uint64_t zrwa_granule;   /* blocks: what is committed is a multiple */
    uint32_t max_zrwa;       /* zones that may have one */
    uint32_t held_stream;    /* with zrwa: WRITEs of it stay in the buffer until
                                ssd_zone_commit() */
    uint64_t conventional;   /* blocks behind the zones, without any; a WRITE is
                                of them or of zones, and here its stream does
                                not matter; 0: none */
    uint32_t finish_s;       /* after that, an active zone should be finished;
                                0: never */
    uint32_t finish_limit_s; /* then the controller finishes it; 0: never */
    uint32_t reset_s; /* after that, a full zone should be reset; 0: never */
} SsdZones;

typedef struct SsdInfo {
    uint32_t block_bytes;  /* unit of SsdCmd.lba and .nblocks */
    uint32_t unit_bytes;   /* mapping unit: a power cut keeps or loses it
                              whole; a multiple of block_bytes */
    uint64_t nblocks;      /* user capacity; a multiple of a unit */
    uint64_t page_bytes;   /* NAND page */
    uint64_t raw_bytes;    /* physical capacity */
    uint64_t erase_bytes;  /* one erase block */
    uint32_t nstreams;     /* streams 0..nstreams-1 are told apart; 1: none */
    uint32_t host_streams; /* of those, how many the host may name: all, or with
                              ftl.hot_cold 1 */
    uint64_t hint_bytes;   /* a hint of ssd_expect_writes() acts on whole pieces
                              of the drive of that size; 0: there are no hints */
    uint32_t ruhs;    /* FDP: reclaim unit handles; 0: no FDP, stream 0 is data
                         without a stream */
    uint32_t groups;  /* FDP: reclaim groups; handle h of group g is stream
                         g * ruhs + h.  Else 1 */
    bool isolated;    /* GC keeps streams apart, all of them */
    uint64_t initial; /* the handles that GC does not keep apart, as bits: FDP's
                         initially isolated ones */
    uint32_t ru_limit_s;    /* FDP: time limit of a reclaim unit; 0: none */
    bool closes_open;       /* after a power cut no block is filled on */
    uint64_t program_bytes; /* that NAND programs at once, of one stream */
    uint64_t reclaim_bytes; /* of a reclaim unit: one of a stream's blocks in
                               each plane of its group, or more */
    const char *namespaces; /* host.namespaces; NULL: it is empty */
    uint32_t queue_depth;  /* commands in flight before -EBUSY */
    uint64_t memory_bytes; /* host memory that the model's tables may take */
    uint64_t preload_bytes; /* of that, after ssd_preload() of everything; more
                               as the drive is written */
    uint64_t longest_recovery_ns; /* ssd_recovery_ns() is below, however full the
                                     drive */
    bool keeps_buffer; /* buffer.plp: a completed WRITE survives a power cut */
    uint64_t atomic_bytes; /* of a WRITE that a power cut keeps or loses as a
                              whole; unit_bytes: only if it is of one unit */
    SsdZones zones;
} SsdInfo;

typedef enum SsdOp {
    SSD_OP_READ,
    SSD_OP_WRITE,
    SSD_OP_TRIM,     /* one range; the front end splits a DSM command.  From its
                        beginning on ssd_mapped() and later commands see it
                        done, although a large one takes many events */
    SSD_OP_FLUSH,    /* lba and nblocks ignored, as for SHUTDOWN */
    SSD_OP_SHUTDOWN, /* a flush that empties the buffer whatever buffer.plp and
                        buffer.ignore_flush say; then a checkpoint, with
                        ftl.recovery=checkpoint */
    SSD_N_OPS,
} SsdOp;

typedef enum SsdStatus {
    SSD_STATUS_OK,
    SSD_STATUS_UNRECOVERED_READ, /* READ: bad_lba, and maybe others, are lost */
    SSD_STATUS_WRITE_FAULT, /* WRITE, FLUSH, SHUTDOWN: the data that it waited
                               for will not be durable; of a WRITE some units
                               may be in the buffer */
    SSD_STATUS_READ_ONLY,   /* WRITE, TRIM: refused, without effect */
    SSD_STATUS_ABORTED,     /* by ssd_abort(), without effect */
    SSD_STATUS_POWER_LOSS,  /* in flight when the power went */
} SsdStatus;

/* Parts of a command that are in memory of the drive which the host reaches
 * through the link (controller memory buffer; data also in the persistent
 * memory region), as bits. */
enum {
    SSD_IN_CMB_ENTRY = 1,      /* its queue entry */
    SSD_IN_CMB_LIST = 2,       /* its list of pieces of memory */
    SSD_IN_CMB_DATA = 4,       /* READ, WRITE: its data */
    SSD_IN_CMB_COMPLETION = 8, /* the entry of its completion */
};

/* A host command.  ssd_submit() copies it; the caller may reuse it at once. */
typedef struct SsdCmd {
    uint64_t tag;     /* caller's cookie, unique among commands in flight */
    uint64_t version; /* WRITE: caller's counter, above that of every earlier
                         WRITE and ssd_last_version(), below 2^48; goes to the
                         spare area with each unit, and comes back in
                         SsdHostOps.  Not looked at if the drive has no host */
    SsdOp op;
    bool fua;        /* WRITE: complete only once durable */
    bool close;      /* FLUSH: of one stream, which ends with it; see below */
    bool inside;     /* READ, WRITE: the data stays in the drive, and nothing of
                        it crosses the host link; all else is the same, and it
                        overtakes no write before it */
    bool internal;   /* with inside: for the controller's own use, and no
                        statistic of the host counts it; not SHUTDOWN */
    uint16_t stream; /* WRITE, and FLUSH with close: placement, below
                        SsdInfo.host_streams; TRIM with erase */
    uint8_t metadata_bytes; /* READ, WRITE: of the host, of each block; they
                               cross the host link with it, and cost no more */
    uint8_t in_cmb : 4; /* SSD_IN_CMB_...: the drive does not fetch these parts
                           over the link, and the host writes them by posted
                           writes.  Changes the latency alone */
    bool erase : 1;  /* TRIM, with SsdInfo.zones: the stream, if there is one of
                        that number, ends; the command completes when the blocks
                        that the range leaves empty are erased */
    bool append : 1; /* WRITE, with SsdInfo.zones: the drive has chosen lba */
    uint32_t nblocks; /* count (1-based), in SsdInfo.block_bytes units */
    uint64_t lba;
} SsdCmd;

/*
 * A FLUSH with close moves a reclaim unit handle to its next reclaim unit.
 * From its beginning that one counts the writes (ssd_stream_room()). The
 * stream's data in the buffer is then programmed where the stream is; the
 * command completes after that, also with buffer.plp, and the stream's next
 * page goes to fresh blocks.  Units of other streams, and trims, it does not
 * make durable.  A WRITE that is in flight at the same time may go to either
 * place.
 *
 * With SsdInfo.zones, nblocks of it counts blocks that the stream's zone has
 * left: with zones.finish_pads the drive programs whole pages of them, without
 * data, before the command completes.
 */

/*
 * Where the latency of one command went, in ns.  Row by row these sum to
 * complete_ns - submit_ns exactly.  Of parallel parts, that of the part that
 * finished last is shown.
 */
#define SSD_COSTS(X)                                                           \
    X(firmware, "controller firmware, waiting for a core, or for recovery")    \
    X(link, "host link, waiting for it included")                              \
    X(buffer, "DRAM, waiting for it, and for room in the buffer")              \
    X(bus_wait, "waiting for a NAND channel")                                  \
    X(bus, "command, address and data on a NAND channel")                      \
    X(die_wait, "waiting for a die")                                           \
    X(cell, "array operation (tR, tPROG)")                                     \
    X(ecc, "ECC decoding, and waiting for the decoder")                        \
    X(gc_wait, "waiting for GC to free a block")                               \
    X(flush, "waiting for earlier writes to become durable")                   \
    X(map, "waiting for translation pages")

typedef struct SsdBreakdown {
#define SSD_COST_FIELD(name, help) uint64_t name##_ns;
    SSD_COSTS(SSD_COST_FIELD)
#undef SSD_COST_FIELD
} SsdBreakdown;

typedef struct SsdCompletion {
    uint64_t tag;
    uint64_t submit_ns;
    uint64_t complete_ns; /* submit_ns <= complete_ns <= now_ns of the call */
    SsdStatus status;
    uint64_t bad_lba; /* only for SSD_STATUS_UNRECOVERED_READ */
    SsdBreakdown cost;
} SsdCompletion;

/*
 * Reports of the drive to the keeper of the payload, per mapping unit: lpn
 * counts SsdInfo.unit_bytes.  Both are leaf calls: they run inside any call
 * that lets time pass (it has now_ns, or is ssd_rest()) and must not call the
 * same Ssd. Each unit of each WRITE that ssd_submit() took ends in exactly one
 * of:
 *
 *   programmed  the unit survives a power cut from now on: it is in NAND or,
 *               with SsdInfo.keeps_buffer, in the buffer;
 *   superseded  it will never be: a later WRITE or TRIM of the unit came
 *               first.  The later one carries the whole unit on: blocks of the
 *               unit that the later WRITE did not touch now belong to it;
 *   a power cut, which drops every unit not reported as programmed;
 *   the completion of its WRITE with SSD_STATUS_READ_ONLY or
 * SSD_STATUS_ABORTED: none of its units has entered the drive, and none is
 * reported.
 *
 * A drive that can program no more (worn out) keeps data that it could not
 * program in its buffer until the power goes; flushes and FUA writes that wait
 * for it end with SSD_STATUS_WRITE_FAULT.  So does a WRITE of which only some
 * units could enter the buffer: the others are not reported before the power
 * goes.
 *
 * For one lpn the calls come in the order of the versions.  A programmed() for
 * a unit that a TRIM, or a newer WRITE, has overtaken may still come, and is
 * true (recovery may find that version after a power cut).
 */
typedef struct SsdHostOps {
    void (*programmed)(void *opaque, uint64_t lpn, uint64_t version);
    void (*superseded)(void *opaque, uint64_t lpn, uint64_t version);
    /* Optional (NULL): the power has gone, by ssd_power_cut() or by a scripted
     * fault.  Of the latter the host learns only by this, by commands that end
     * with SSD_STATUS_POWER_LOSS, and by -ENODEV. */
    void (*power_lost)(void *opaque);
    /* Optional (NULL): GC, wear levelling or refresh has chosen a block of
     * the stream (SsdInfo.nstreams: one with units of several streams), and
     * moves its nunits > 0 valid units, of which lpn is one. */
    void (*moving)(void *opaque, uint32_t stream, uint64_t lpn,
                   uint32_t nunits);
    /* Optional (NULL): the host has filled the reclaim unit of the stream, and
     * the next one begins (ssd_stream_room()). */
    void (*unit_begun)(void *opaque, uint32_t stream);
    /* Optional (NULL): the reclaim group of the stream holds as much data as it
     * can, so what the buffer has of it goes to the same handle of the group
     * of the other stream. */
    void (*overflowed)(void *opaque, uint32_t stream, uint32_t other);
} SsdHostOps;

/*
 * host may be NULL.  Then, with ftl.recovery=capacitors, versions are not kept
 * (they cost 8 bytes for each physical unit) and ssd_power_cut() may not be used;
 * other ways to find the map need versions, and the drive counts them itself.
 * cfg is copied.  NULL: the configuration is refused, and *error says why.
 */
Ssd *ssd_create(const SsdConfig *cfg, const SsdHostOps *host, void *opaque,
                GError **error);
void ssd_destroy(Ssd *ssd);

const SsdInfo *ssd_info(const Ssd *ssd);

/*
 * Without modelled time, and before the first ssd_submit(): the blocks of the
 * range hold data, in version 0, as if written long ago.  For a drive that
 * starts from an image.  -EINVAL: beyond the capacity.
 */
int ssd_preload(Ssd *ssd, uint64_t lba, uint64_t nblocks);

/* All of the drive will be written by commands: its tables may take their
 * memory in large pages, which is faster.  Changes nothing else. */
void ssd_expect_full(Ssd *ssd);

/*
 * 0: exactly one completion will carry cmd->tag.  -EBUSY: SsdInfo.queue_depth
 * commands are in flight, retry after a completion.  -EINVAL: empty range, or
 * beyond the capacity, or no such stream.  -ENODEV: the power is off.  Runs
 * every event due by now_ns first.
 */
int ssd_submit(Ssd *ssd, uint64_t now_ns, const SsdCmd *cmd);

/* What is known of a command that will come. */
typedef enum SsdHint {
    SSD_HINT_COMES,  /* nothing else */
    SSD_HINT_READS,  /* it comes soon, and is no write */
    SSD_HINT_WRITES, /* it comes soon, and is one */
} SsdHint;

/*
 * A command for that block, below SsdInfo.nblocks, will come.  The drive has
 * its table entries fetched from memory meanwhile.  Changes nothing.
 */
void ssd_hint(const Ssd *ssd, uint64_t lba, SsdHint hint);

/* The host will read from that block on, in order: with host.read_ahead the
 * drive reads ahead of the first READ.  -EINVAL: beyond the capacity. */
int ssd_expect_reads(Ssd *ssd, uint64_t now_ns, uint64_t lba);

/* How often the host will write data, as it says itself. */
typedef enum SsdWriteRate {
    SSD_WRITES_UNKNOWN, /* it has not said */
    SSD_WRITES_SELDOM,
    SSD_WRITES_OFTEN,
} SsdWriteRate;

/*
 * With ftl.hot_cold: from now on writes of the range go to the stream of that
 * rate, however often they come; UNKNOWN: the drive counts them again.  A
 * policy of ftl.placement is told, too.  Without both nothing happens.  The
 * drive keeps one rate for each SsdInfo.hint_bytes, and pieces that the range
 * has only in part keep theirs.  A recovery from NAND (ftl.recovery) takes all
 * rates.  -EINVAL: beyond the capacity.  Runs every event due by now_ns first.
 */
int ssd_expect_writes(Ssd *ssd, uint64_t now_ns, uint64_t lba, uint64_t nblocks,
                      SsdWriteRate rate);

/*
 * Earliest instant ssd_advance() may return something, or SSD_TIME_NEVER.
 * A lower bound: waking then and getting 0 is normal, and makes progress.
 */
uint64_t ssd_next_event_ns(const Ssd *ssd);

/*
 * Run until ssd_advance() may return something or the power has gone, but no
 * further than until_ns, and only while commands are in flight.  Returns the
 * instant at which to call ssd_advance(), which may be after until_ns.  The
 * same as ssd_next_event_ns() and ssd_advance() in turns, and faster.
 */
uint64_t ssd_wait(Ssd *ssd, uint64_t until_ns);

/*
 * Run up to and including now_ns.  Store at most max completions, oldest
 * first; return how many.  Call again while it returns max.
 */
size_t ssd_advance(Ssd *ssd, uint64_t now_ns, SsdCompletion *done, size_t max);

/*
 * Is the unit that holds this block mapped, in the buffer or in NAND?  A block
 * that is not reads as zeroes, and costs no NAND time.  version, if not NULL,
 * is set to that of the newest WRITE taken (0: preloaded, or the drive has no
 * host).  Between a power cut and ssd_ready() it means nothing, unless
 * ftl.recovery=capacitors.
 */
bool ssd_mapped(const Ssd *ssd, uint64_t lba, uint64_t *version);

/*
 * Ask for a command to end early.  true: it will complete soon, with
 * SSD_STATUS_ABORTED (or SSD_STATUS_POWER_LOSS, if the power goes first) and no
 * effect; false: too late, it runs to its end.
 */
bool ssd_abort(Ssd *ssd, uint64_t now_ns, uint64_t tag);

/*
 * Lose power: commands in flight complete with SSD_STATUS_POWER_LOSS (fetch
 * them with ssd_advance()), data in the buffer is lost (unless
 * SsdInfo.keeps_buffer), pages being programmed are torn, blocks being erased
 * must be erased again.  With ftl.recovery=capacitors the map is kept, and a
 * unit that was being written reads as its previous version; else the drive has
 * only the data in NAND.  Until ssd_power_on(), ssd_submit() says -ENODEV.
 * The power must be on, unless the drive has scripted faults: nothing happens
 * if one of them has cut it before now_ns.
 */
void ssd_power_cut(Ssd *ssd, uint64_t now_ns);

/*
 * Power, which was off, is back.
 *
 * ftl.recovery=capacitors: the drive is ready at once.  A trim was durable when
 * it completed.  With buffer.plp the buffer is as it was, which takes no
 * modelled time either.
 *
 * scan, checkpoint: the drive reads NAND, in modelled time; commands
 * that come meanwhile wait (ssd_ready()).  Each unit is found in the newest
 * version that was programmed, as SsdHostOps has told.  A trim is durable when
 * a FLUSH or SHUTDOWN completes that was submitted after the trim had
 * completed; one that is not may be undone, but never does an older version
 * come back than one that was durable.
 */
void ssd_power_on(Ssd *ssd, uint64_t now_ns);

/* Is the power on, and has it found all that NAND holds?  Commands that come
 * earlier wait. */
bool ssd_ready(const Ssd *ssd);

/* Modelled time from the last ssd_power_on() until the drive was ready (0: it is
 * not, or was at once). */
uint64_t ssd_recovery_ns(const Ssd *ssd);

/* Is the power on?  A scripted fault may have cut it. */
bool ssd_powered(const Ssd *ssd);

/* ---- host memory (ftl.hmb) ----------------------------------------------- */

/*
 * Bytes of host memory that the drive uses for its map, at most; 0: none.  All
 * of them are there from the beginning, until the caller says how many there
 * are: 0 takes all back.  A power cut empties the memory.
 */
uint64_t ssd_host_memory(const Ssd *ssd);
void ssd_set_host_memory(Ssd *ssd, uint64_t now_ns, uint64_t bytes);

/* ---- streams ------------------------------------------------------------ */

/*
 * Writes and copies of one stream, in mapping units, since the drive was made.
 * A unit counts where it was written last: copies of GC stay in their stream.
 */
typedef struct SsdStreamCounters {
    uint64_t host_bytes_written;
    uint64_t host_units;   /* programmed for the host */
    uint64_t padded_units; /* programmed empty beside them */
    uint64_t copied_units; /* programmed again by GC */
    uint64_t victims;      /* blocks of the stream alone, chosen for GC */
    uint64_t victim_valid_units; /* in them when they were chosen */
    uint64_t erases;             /* of such blocks */
    /* All that NAND programmed for it: pages of the host and of GC with their
     * padding, and parity of its blocks.  media/programmed.c counts it; the sum
     * over all streams and nstreams is that of all programmed pages. */
    uint64_t nand_bytes_written;
} SsdStreamCounters;

/* stream < SsdInfo.nstreams; nstreams itself: what is of no single one, as
 * metadata, and blocks that GC filled from several streams. */
void ssd_get_stream(const Ssd *ssd, uint32_t stream, SsdStreamCounters *c);

/* Blocks that the stream has open now, for the host and for GC. */
uint32_t ssd_stream_open_blocks(const Ssd *ssd, uint32_t stream);

/*
 * Bytes that the host can write to the stream before it comes to the next
 * reclaim unit, one block to SsdInfo.reclaim_bytes.  Each block of each WRITE
 * counts, when the drive takes its data. Other programmed data does not:
 * padding, and the rest of units that were written in part.  So a reclaim unit
 * of a host that flushes often takes more than one erase block in each plane.
 */
uint64_t ssd_stream_room(const Ssd *ssd, uint32_t stream);

/*
 * The stream's next page goes to fresh blocks: those open for the host are
 * left as they are.  For a stream that ends, and whose number another one may
 * get: its data in the buffer belongs to stream 0 from now on (not with FDP,
 * where FLUSH with close is the way).
 */
void ssd_stream_close(Ssd *ssd, uint64_t now_ns, uint32_t stream);

/*
 * With SsdZones.zrwa: what the buffer has of the range in the held stream is
 * the stream's from now on, and goes to NAND as other data does.  Takes no
 * time. The caller sees that no more than max_zrwa areas stay in the buffer: a
 * buffer that is full of them takes no write.
 */
void ssd_zone_commit(Ssd *ssd, uint64_t now_ns, uint64_t lba, uint64_t nblocks,
                     uint32_t stream);

/* fdp.handles: the reclaim unit handles of the i-th namespace of a new drive,
 * in the order of its placement handles, into handle[64].  How many; with FDP.
 */
uint32_t ssd_placement_handles(const Ssd *ssd, uint32_t i, uint16_t *handle);

/* Where a block of the host is. */
typedef struct SsdPlace {
    bool mapped;
    bool in_nand;    /* the newest data is; else in the buffer */
    uint32_t stream; /* of the last WRITE, if mapped */
    /* If in_nand: */
    uint32_t erase_block;
    uint32_t page;         /* in it */
    uint32_t block_stream; /* whose units the erase block takes; nstreams: of
                              several */
} SsdPlace;

void ssd_place(const Ssd *ssd, uint64_t lba, SsdPlace *place);

#endif
