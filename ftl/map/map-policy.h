/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map-policy.h - mapping schemes: one const struct in one file
 * for each policy; policy.c lists them, docs/adding.md explains how to add one.
 */
#ifndef VSSD_FTL_MAP_POLICY_H
#define VSSD_FTL_MAP_POLICY_H

#include "layers.h"
#if FTL_LAYER < FTL_MAP
#error "ftl/map is above this component: docs/architecture.md"
#endif

#include "needs.h"
#include "placement/placement-internal.h"
#include "ssd-internal.h"

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
    MAP_MOVED,      /* by GC */
    MAP_TRIMMED,
} MapChange;

/*
 * A map that chooses the block of each page by itself, and empties blocks by
 * itself (a log-block map).  Required, all of them.
 */
typedef struct OwnBlocks {
    const Placer *placer; /* given to placement/ */

    /* Log blocks that it needs in a plane. */
    uint32_t least_logs;

    /* A log block (record) with room for a page of the host, or NONE: a merge
     * (merge_start()) or an erase comes first.  in_place: no unit of the page
     * is valid in NAND but those that it replaces, so that it may be where it
     * would be in a data block. */
    uint32_t (*log_for)(Ssd *ssd, const LogicalPage *at, bool in_place);

    CopyOps copies;

    /* Without modelled time: the place of a preloaded unit. */
    uint64_t (*preload)(Ssd *ssd, uint64_t lpn);
    /* The same: the page for lpn[0..n-1], and how many of them it takes (*used),
     * each at ppu[]; NONE: a merge or an erase has to end first.  It is there. */
    uint64_t (*age_page)(Ssd *ssd, const uint64_t *lpn, uint64_t n,
                         uint64_t *ppu, uint32_t *used);
    void (*age_done)(Ssd *ssd, uint64_t lpn);

    /* The power has gone: the program of the page was cut short; the work of
     * the planes is dropped. */
    void (*torn)(Ssd *ssd, uint64_t ppa);
    void (*planes_lost)(Ssd *ssd);
} OwnBlocks;

/*
 * The scheme of the map and its cost. L2p is the model's own map under every
 * policy: a policy defines the work of a drive to look it up.
 */
struct MapPolicy {
    const char *name;
    const char *help;

    uint32_t lacks;              /* SsdNeed bits: needs that exclude it */
    const OwnBlocks *own_blocks; /* or NULL: pages go where placement/ says, and
                                    gc/ empties blocks */
    bool in_nand; /* the map is in translation pages (SsdLayout) */

    /* All optional.  Map.policy_data is the policy's; init also sets the size
     * of its tables in the host's memory, Map.policy_bytes. */
    void (*init)(Ssd *ssd);
    void (*destroy)(Ssd *ssd);

    /* A READ or WRITE needs to know where its units are.  false: it waits, with
     * Cmd.map_pending above 0, and host_map_ready() comes when that is 0 again. */
    bool (*lookup)(Ssd *ssd, uint32_t cmd);

    /* With SSD_EVENT_CMD_HMB: what lookup has asked the host for is there. */
    void (*fetched)(Ssd *ssd, uint32_t cmd);

    /* Is it known where the unit is, without a lookup?  Missing: always. */
    bool (*knows)(const Ssd *ssd, uint64_t lpn);

    /* The unit's copy in NAND is at another place, or there is none any more; a
     * series of such changes (a victim has been emptied, a TRIM is done) ends.
     * Both must not start anything that takes effect at once. */
    void (*changed)(Ssd *ssd, uint64_t lpn, MapChange why);
    void (*changes_end)(Ssd *ssd);

    /* The plane has one more free block. */
    void (*room)(Ssd *ssd, uint32_t plane);

    /* Without modelled time: the unit is in NAND, as if written long ago, or just
     * now (aged). */
    void (*aged)(Ssd *ssd, uint64_t lpn, bool aged);

    /* The host has so many bytes of its memory for the policy now; what was in
     * the rest is lost. */
    void (*set_host_memory)(Ssd *ssd, uint64_t bytes);

    /* The contents of memory are lost; and (with ftl.recovery) the map has been
     * found in NAND: L2p is as it was found, and the drive continues. */
    void (*power_lost)(Ssd *ssd);
    void (*recovered)(Ssd *ssd);

    /* Required with Map.policy_data: save it, or load it into the tables of
     * init, and check every number (Component.check). */
    bool (*state)(Ssd *ssd, State *s);
    bool (*check)(const Ssd *ssd, bool at_rest, GError **error);

    /* Members of the object "map" of the statistics, from an Ssd *v; the
     * effect of a reset on them beside setting their counters to 0. */
    const StatTable *stats;
    void (*reset_stats)(Ssd *ssd);
};

extern const MapPolicy *const map_policies[]; /* NULL at the end */
extern const MapPolicy map_page;
extern const MapPolicy map_bast;
extern const MapPolicy map_fast;
extern const MapPolicy map_dftl;

#endif
