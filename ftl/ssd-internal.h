/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ssd-internal.h - the drive: its components, clock and events; private to
 * ftl/.
 *
 * Each component is a folder.  Calls run down this list:
 *
 *   power/      power cut and return, recovery
 *   host/       commands: submission, reads, completions
 *   thermal/    temperature, power states
 *   gc/         garbage collection, wear levelling, refresh, background
 *   map/        logical unit -> slot or physical unit; TRIM, DFTL, log blocks
 *   buffer/     slots, buffer policies, flush barriers
 *   placement/  streams, hot units, allocation policies
 *   journal/    the drive's own pages in NAND
 *   media/      blocks, planes, spare areas, page programs in flight
 *   controller/ cores, host link, DRAM
 *
 * Beside them: inspect/ (statistics, operation log, recording), state/ (save,
 * load, clone, age), and ssd.c with the calls of ssd.h.
 */
#ifndef VSSD_FTL_SSD_INTERNAL_H
#define VSSD_FTL_SSD_INTERNAL_H

#include "layers.h"
#include "commands-internal.h"
#include "inspect/inspect-internal.h"
#include "l2p.h"
#include "preloaded.h"
#include "settle.h"
#include "ssd-window.h"

/* Those who empty blocks hear of the ends of their operations: gc/, or a map that
 * empties blocks by itself.  Required, all of them. */
typedef struct CopyOps {
    /* A read of a block that is being emptied. */
    void (*read_done)(Ssd *ssd, const NandOp *op);
    /* A program of a page of copies. */
    void (*page_done)(Ssd *ssd, uint32_t job);
    /* Any erase. */
    void (*erase_done)(Ssd *ssd, uint32_t block);
} CopyOps;

struct Ssd {
    /* The components, from bottom to top (drive.h). */
    OF_CONTROLLER Controller *controller;
    OF_MEDIA Media *media;
    OF_JOURNAL Journal *journal;
    OF_PLACEMENT Placement *placement;
    OF_BUFFER Buffer *buffer;
    OF_MAP Map *map;
    OF_GC Gc *gc;
    OF_THERMAL Thermal *thermal;
    OF_HOST HostPath *host;
    OF_POWER Power *power;

    SsdConfig *cfg;
    SsdLayout l;
    SsdInfo info;
    const SsdHostOps *client;
    void *client_opaque;
    const CopyOps *copies;
    /* Of map/: map_nand_entry(), for those below. */
    uint64_t (*nand_entry)(const Ssd *ssd, uint64_t lpn);
    EventQueue events;
    Nand *nand;
    const NandGeometry *geo;
    uint64_t now_ps;
    uint64_t origin_ps;  /* when the clock first was 0: minus the sum of all
                            ssd_rebase(), modulo 2^64 */
    uint64_t rebased_ns; /* by how much the clock was last set back */
    bool powered;
    SsdWindow window; /* of predictable latency (gc/hold.c) */
    SsdWindowEnd window_end;
    uint64_t powered_ns;       /* with power, up to powered_since_ps */
    uint64_t powered_since_ps; /* the last return of power; or cut, while off */
    /* Shifts, because units, pages and blocks are counted all the time. */
    unsigned unit_shift;       /* bytes to units */
    unsigned block_shift;      /* host blocks to units */
    unsigned page_units_shift; /* physical units to pages */
    uint64_t first_unit_parts; /* unit_parts() of a page's first unit */
    Age *age;   /* or NULL: ssd_age() has not been called */
    Outside *outside[VSSD_POLICY_KINDS]; /* policies; NULL: it needs none */
    void (*on_policy_fault)(void *opaque, const char *line); /* or NULL */
    void *policy_fault_opaque;

    Commands commands;
    L2p l2p;
    Preloaded preloaded;
    Work work;
    Inspect inspect;
};

/* The next multiple of a period, on the clock as it was never set back. */
static inline uint64_t next_multiple_ps(const Ssd *ssd, uint64_t period_ps)
{
    return ssd->now_ps + period_ps - (ssd->now_ps - ssd->origin_ps) % period_ps;
}

/* Cookie of a read for a buffer slot: this and the slot. */
#define COOKIE_SLOT 0x80000000U

static inline uint64_t ppu_page(const Ssd *ssd, uint64_t ppu)
{
    return ppu >> ssd->page_units_shift;
}

/* Is the map found again in NAND after a power cut? */
static inline bool saves(const Ssd *ssd)
{
    return ssd->l.n_saved > 0;
}

static inline bool has_checkpoints(const Ssd *ssd)
{
    return ssd->cfg->recovery == SSD_RECOVERY_CHECKPOINT;
}

/* The drive has just been loaded from a stream that was kept. */
void ssd_rebase_loaded(Ssd *ssd);

/* ---- ssd.c ------------------------------------------------------------- */

/* Run every event due by now_ns. */
void ssd_run(Ssd *ssd, uint64_t now_ns);

static inline uint32_t block_plane(const Ssd *ssd, uint32_t block)
{
    return nand_block_plane(ssd->geo, block);
}

static inline uint32_t page_block(const Ssd *ssd, uint64_t page)
{
    return nand_page_block(ssd->geo, page);
}

/* Units of one program of the block that holds the page. */
static inline uint32_t block_program_units(const Ssd *ssd, uint64_t page)
{
    return ssd->l.units_per_page *
           nand_block_program(ssd->geo, page_block(ssd, page));
}

/* The first unit of a page, of a block. */
static inline uint64_t page_ppu(const Ssd *ssd, uint64_t page)
{
    return page << ssd->page_units_shift;
}

static inline uint64_t block_ppu(const Ssd *ssd, uint32_t block)
{
    return (uint64_t)block * ssd->l.units_per_block;
}

static inline uint32_t ppu_block(const Ssd *ssd, uint64_t ppu)
{
    return page_block(ssd, ppu_page(ssd, ppu));
}

#endif
