/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hybrid.h - log-block maps: where their pages go, and merges. */
#ifndef VSSD_FTL_HYBRID_H
#define VSSD_FTL_HYBRID_H

#include "layers.h"
#if FTL_LAYER != FTL_MAP && FTL_LAYER != FTL_ALL
#error "private to ftl/map: docs/architecture.md"
#endif

#include "map/map-policy.h"
#include "map/map.h"
#include "ssd-internal.h"

/* ---- hybrid.c ------------------------------------------------------------ */

/* Shared by log-block maps: members of OwnBlocks and MapPolicy. */
#define HYBRID_OWN_BLOCKS                                                      \
    .placer = &hybrid_placer,                                                  \
    .copies = {merge_read_done, merge_page_done, merge_erase_done},            \
    .preload = hybrid_preload,                                                 \
    .age_page = hybrid_age_page, .age_done = hybrid_age_done,                  \
    .torn = hybrid_torn, .planes_lost = hybrid_planes_lost
#define HYBRID_POLICY                                                          \
    .init = hybrid_init, .destroy = hybrid_destroy, .check = hybrid_check
/* They place pages and empty blocks by themselves, and need blocks that last.
 */
#define HYBRID_LACKS                                                           \
    (NEED_ALLOC | NEED_GC | NEED_SUPERBLOCKS | NEED_BACKGROUND |               \
     NEED_STATIC_WEAR | NEED_REFRESH | NEED_STREAMS | NEED_SLC |               \
     NEED_COPYBACK | NEED_BAD_BLOCKS | NEED_RECOVERY | NEED_CLOSE)

extern const Placer hybrid_placer;

void hybrid_init(Ssd *ssd);
void hybrid_destroy(Ssd *ssd);

LogicalPage logical_place(const Ssd *ssd, uint64_t lpn);

/* The lpn at a place in a logical block, or NONE: beyond the capacity. */
uint64_t logical_lpn(const Ssd *ssd, uint32_t logical, uint32_t page,
                     uint32_t unit);

/* Programs that a block takes, and those that it has had. */
static inline uint32_t hybrid_block_programs(const Ssd *ssd)
{
    return ssd->geo->pages_per_block / ssd->l.pages_per_program;
}

static inline uint32_t hybrid_next(const Ssd *ssd, uint32_t block)
{
    return nand_next_page(ssd->nand, block) / ssd->l.pages_per_program;
}

/* The next page of a block, to be programmed at once. */
uint64_t hybrid_take_page(Ssd *ssd, uint32_t block);

/* A log block of the plane, for one logical block or (NONE) for any: at the new
 * end of the plane's list, or beside it; NONE: there is no free block now. */
uint32_t log_open(Ssd *ssd, uint32_t plane, uint32_t logical, bool listed);

/* To the new end of the list. */
void log_renew(Ssd *ssd, uint32_t plane, uint32_t log);

/* The record is free; its block is the caller's. */
void log_release(Ssd *ssd, uint32_t plane, uint32_t log);

static inline bool log_has_room(const Ssd *ssd, uint32_t log)
{
    invariant(log < ssd->l.n_planes * ssd->l.log_blocks);
    return hybrid_next(ssd, ssd->map->log_block[log].block) <
           hybrid_block_programs(ssd);
}

/* The hooks of OwnBlocks. */
uint64_t hybrid_preload(Ssd *ssd, uint64_t lpn);
uint64_t hybrid_age_page(Ssd *ssd, const uint64_t *lpn, uint64_t n,
                         uint64_t *ppu, uint32_t *used);
void hybrid_age_done(Ssd *ssd, uint64_t lpn);
void hybrid_torn(Ssd *ssd, uint64_t ppa);
void hybrid_planes_lost(Ssd *ssd);

/* The hooks of MapPolicy. */
bool hybrid_check(const Ssd *ssd, bool at_rest, GError **error);

/* ---- merge.c ------------------------------------------------------------- */

/* Empty the log block, as soon as the host's programs in the plane have ended. */
void merge_start(Ssd *ssd, uint32_t plane, uint32_t log);

/* They may have. */
void merge_host_quiet(Ssd *ssd, uint32_t plane);

static inline bool merge_active(const Ssd *ssd, uint32_t plane)
{
    return ssd->map->plane[plane].logs.merge.log != NONE;
}

void merge_read_done(Ssd *ssd, const NandOp *op);
void merge_page_done(Ssd *ssd, uint32_t job);
void merge_erase_done(Ssd *ssd, uint32_t block);

/* The plane merges nothing. */
void merge_forget(Merge *m);
uint64_t merge_logs_in_use(const Ssd *ssd); /* in all planes */

#endif
