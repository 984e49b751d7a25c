/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * policy.h - what a policy is, and which there are (policy.c lists them).
 *
 * One const struct in one file for each: victims of cleaning, page allocation,
 * buffer, map.  docs/adding.md tells how to add one.
 */
#ifndef VSSD_FTL_POLICY_H
#define VSSD_FTL_POLICY_H

#include "drive.h"

struct GcPolicy {
    const char *name;
    const char *help;
    /* Required.  A FULL block of the plane to clean (not one in SLC mode), or
     * NONE if none would gain anything.  Changes nothing but the order of
     * Plane.oldest.  Blocks that gain less than a program (gc_gains()) only if
     * there is no other.  How full a block is gc_valid() says: with ftl.gc_unit
     * that goes for all of its stripe. */
    uint32_t (*pick)(Ssd *ssd, uint32_t plane);

    /* Optional, for ssd_check().  Does pick find what a look at each block of the
     * plane does?  Changes nothing that is saved. */
    bool (*check)(Ssd *ssd, uint32_t plane, GError **error);
};

/* AllocPolicy.depth of a policy that does not look where there is room. */
#define ALLOC_DEEP 64

/* Does a policy go round the planes, and each stream so by itself
 * (alloc-rows.c)? */
typedef enum AllocRows {
    ROWS_NONE,
    ROWS_FREE,     /* what is busy is passed over */
    ROWS_IN_ORDER, /* what is busy is waited for */
} AllocRows;

struct AllocPolicy {
    const char *name;
    const char *help;
    uint32_t depth; /* programs of the host in flight per plane: 2 are one in
                       the array and one on the bus */
    bool by_lpn;    /* pick wants to know what is written */
    uint8_t rows;   /* AllocRows: of several streams; then pick is not asked */
    /* Required.  The plane for the next page of the host, among those that
     * accept one, or NONE: wait.  It may wait (by alloc_insist()) only for
     * something that is under way.  lpn is the first unit of the page, or NONE
     * without by_lpn.  May move its own cursor. */
    uint32_t (*pick)(Ssd *ssd, uint32_t lpn);
};

/*
 * Two kinds.  A write buffer (caches is false) holds only what is on its way to
 * NAND, in order of arrival, and gives units up as soon as they fill a page; it
 * needs no functions.  A cache is told of every slot that it may give up,
 * whatever its state, and is asked for one when there is no room; what is
 * written out stays, clean.  Everything must be done in time that does not grow
 * with the buffer.
 */
struct BufferPolicy {
    const char *name;
    const char *help;
    bool caches;
    bool write_through; /* a write completes when it is in NAND */
    bool writes_only;   /* of a cache: what is read is not kept */
    uint32_t overhead;  /* bytes of DRAM that it needs for each slot */

    /* Required of a cache.  A slot comes (slot_is_clean() says which kind); is
     * written again; leaves; the one to give up, which is then removed (NONE:
     * there is none). */
    void (*insert)(Ssd *ssd, uint32_t slot);
    void (*write_hit)(Ssd *ssd, uint32_t slot);
    void (*remove)(Ssd *ssd, uint32_t slot);
    uint32_t (*victim)(Ssd *ssd);

    /* Required of a cache.  The slot is read; goes to NAND without being given
     * up, and counts as clean from now on; to takes the place of from (a newer
     * version of the same unit; write_hit follows). */
    void (*read_hit)(Ssd *ssd, uint32_t slot);
    void (*cleaned)(Ssd *ssd, uint32_t slot);
    void (*replace)(Ssd *ssd, uint32_t from, uint32_t to);

    /* Optional.  Another slot that leaves with the victim that was of lpn, or
     * NONE: there is none left. */
    uint32_t (*mate)(Ssd *ssd, uint32_t lpn);

    /* Optional.  A DIRTY slot to be flushed while the drive is idle, or NONE;
     * it may move slots among its lists.  A batch of them is on its way. */
    uint32_t (*early)(Ssd *ssd);
    void (*early_sent)(Ssd *ssd);

    /* Optional.  The buffer is empty (also after a power cut); the drive ends. */
    void (*init)(Ssd *ssd);
    void (*destroy)(Ssd *ssd);

    /* Required with Ssd.policy_data: the rows of its struct; save it, or load it
     * into what init has made (core/state.h); can what was loaded be used by a
     * drive at rest, whose slots have been looked at? */
    const StateStruct *rows;
    bool (*state)(Ssd *ssd, State *s);
    bool (*sound)(const Ssd *ssd);
};

/* Where an lpn belongs under a log-block map. */
typedef struct LogicalPage {
    uint32_t plane;
    uint32_t logical; /* logical block */
    uint32_t page;    /* in it, in programs */
    uint32_t unit;    /* in that */
} LogicalPage;

/* Why a unit is somewhere else in NAND. */
typedef enum MapChange {
    MAP_PROGRAMMED, /* for the host */
    MAP_MOVED,      /* by cleaning */
    MAP_TRIMMED,
} MapChange;

/*
 * What is kept of where each unit is, and what that costs.  Ssd.map is the
 * model's own truth under every policy: a policy says what a drive has to do to
 * know it.
 */
struct MapPolicy {
    const char *name;
    const char *help;

    /* Of a log-block map; 0: it is none.  Log blocks that it needs in a plane. */
    uint32_t least_logs;
    /* Required of one.  A log block (record) with room for a page of the host, or
     * NONE: a merge (merge_start()) or an erase comes first.  in_place: nothing
     * of the page is valid in NAND but what it replaces, so that it may lie where
     * it would in a data block. */
    uint32_t (*log_for)(Ssd *ssd, const LogicalPage *at, bool in_place);
    bool in_nand; /* the map lies in translation pages (SsdLayout) */

    /* All optional.  Ssd.map_data is the policy's; init also says what its tables
     * take of the host's memory, in Ssd.map_bytes. */
    void (*init)(Ssd *ssd);
    void (*destroy)(Ssd *ssd);

    /* A READ or WRITE needs to know where its units are.  false: it waits, with
     * Cmd.map_pending above 0, and host_map_ready() comes when that is 0 again. */
    bool (*lookup)(Ssd *ssd, uint32_t cmd);

    /* The unit's copy in NAND is at another place, or there is none any more; a
     * series of such changes (a victim has been emptied, a TRIM is done) ends.
     * Both must not start anything that takes effect at once. */
    void (*changed)(Ssd *ssd, uint32_t lpn, MapChange why);
    void (*changes_end)(Ssd *ssd);

    /* The plane has one more free block. */
    void (*room)(Ssd *ssd, uint32_t plane);

    /* Without modelled time: the unit is in NAND, as if written long ago, or just
     * now (aged). */
    void (*aged)(Ssd *ssd, uint32_t lpn, bool aged);

    /* What memory held is gone. */
    void (*power_lost)(Ssd *ssd);

    /* Required with Ssd.map_data: save it, or load it into what init has made,
     * and check every number of it: what was loaded may be forged. */
    bool (*state)(Ssd *ssd, State *s);
    bool (*check)(const Ssd *ssd, GError **error);

    /* Append to the object "map" of the statistics; count anew. */
    void (*json)(const Ssd *ssd, JsonWriter *w);
    void (*reset_stats)(Ssd *ssd);
};

/* For policies that found nothing: the fewest valid units, whatever it gains. */
uint32_t gc_greedy_pick(Ssd *ssd, uint32_t plane);
/* With ftl.gc_unit: GcPolicy.check() of the stripe that it finds. */
bool gc_greedy_check(Ssd *ssd, uint32_t plane, GError **error);

extern const GcPolicy *const gc_policies[];       /* NULL at the end */
extern const AllocPolicy *const alloc_policies[]; /* NULL at the end */
extern const BufferPolicy *const buffer_policies[];
extern const MapPolicy *const map_policies[]; /* NULL at the end */

extern const GcPolicy gc_greedy;
extern const GcPolicy gc_cost_benefit;
extern const GcPolicy gc_fifo;
extern const GcPolicy gc_random;
extern const GcPolicy gc_d_choices;
extern const GcPolicy gc_windowed_greedy;
extern const AllocPolicy alloc_stripe;
extern const AllocPolicy alloc_static;
extern const AllocPolicy alloc_dynamic;
extern const AllocPolicy alloc_dl;
extern const AllocPolicy alloc_random;
extern const AllocPolicy alloc_superblock;
extern const MapPolicy map_page;
extern const MapPolicy map_bast;
extern const MapPolicy map_fast;
extern const MapPolicy map_dftl;
extern const BufferPolicy buf_fifo;
extern const BufferPolicy buf_none;
extern const BufferPolicy buf_lru;
extern const BufferPolicy buf_cflru;
extern const BufferPolicy buf_cflru_ef;
extern const BufferPolicy buf_cflru_ef_sc;
extern const BufferPolicy buf_fab;
extern const BufferPolicy buf_bplru;
extern const BufferPolicy buf_ccf_lru;
extern const BufferPolicy buf_prlru;
extern const BufferPolicy buf_clock_dnv;

#endif
