/* SPDX-License-Identifier: GPL-2.0-or-later */
/* journal.h - the drive's own pages. */
#ifndef VSSD_FTL_JOURNAL_H
#define VSSD_FTL_JOURNAL_H

#include "layers.h"
#if FTL_LAYER < FTL_JOURNAL
#error "ftl/journal is above this component: docs/architecture.md"
#endif

#include "media/media.h"
#include "media/mirror.h"
#include "journal/journal-internal.h"
#include "ssd-internal.h"

/* ---- meta.c ------------------------------------------------------------ */

/* The map index of the first unit of a page of metadata. */
static inline uint64_t meta_lpn(const Ssd *ssd, uint32_t page)
{
    return ssd->l.user_units + (uint64_t)page * ssd->l.units_per_program;
}

/* Is this copy of a page (mirror.h) in NAND? */
static inline bool meta_copy_in_nand(const Ssd *ssd, uint32_t copy)
{
    return l2p_get(&ssd->l2p, meta_lpn(ssd, copy)) != 0;
}

/* Is the page in NAND, in one copy at least? */
static inline bool meta_in_nand(const Ssd *ssd, uint32_t page)
{
    return meta_copy_in_nand(ssd, page) ||
           (mirror_is_on(ssd) && meta_copy_in_nand(ssd, mirror_of(ssd, page)));
}

/* The plane of the page, or of its second copy. */
static inline uint32_t meta_plane(const Ssd *ssd, uint32_t page)
{
    uint32_t first = mirror_first(ssd, page);
    uint32_t plane = ssd->media->stripe_plane[first % ssd->l.n_planes];

    return page == first ? plane : mirror_plane(ssd, plane);
}

/* With ftl.recovery: a page of metadata in NAND knows of all programs up to
 * this count, and maybe of some after it. */
uint64_t meta_low_seq(const Ssd *ssd, uint32_t page);

/* The preload has ended: pages of metadata know of it. */
void meta_preloaded(Ssd *ssd);

void meta_create(Ssd *ssd);
void meta_set_client(Ssd *ssd, MetaOwner owner, const MetaClient *client);
void meta_destroy(Ssd *ssd);

/* Nothing is under way (at creation, and when the power has gone). */
void meta_init(Ssd *ssd);

/*
 * Write a page of metadata: it waits for room in its plane, then is programmed;
 * a program that fails is done again.  The owner is notified when the program
 * begins (it holds the state of that instant; again, if it has failed), and
 * when it is durable: until then a power cut finds the older copy.  One write
 * of a page at a time.
 */
void meta_write(Ssd *ssd, uint32_t page, MetaOwner owner);

/* Read n units of a page that is in NAND, from the unit first on; the owner hears
 * of the end. */
void meta_read(Ssd *ssd, uint32_t page, uint32_t first, uint32_t n,
               MetaOwner owner, uint32_t cookie);

/* Without modelled time: the page was written long ago, or just now (aged).
 * Nothing if it is in NAND already, or its plane has no room. */
void meta_preload(Ssd *ssd, uint32_t page, MetaOwner owner, bool aged);

/* Program waiting pages that have room. */
void meta_pump(Ssd *ssd, uint32_t plane);

void meta_page_done(Ssd *ssd, uint32_t job);
void meta_page_failed(Ssd *ssd, uint32_t job);
void meta_read_done(Ssd *ssd, const NandOp *op);

/* Does one wait that will get no block before GC has made more room?  Unlike
 * the host, metadata takes no block in SLC mode, however many are free. */
static inline bool meta_is_short(const Ssd *ssd, uint32_t plane)
{
    return ssd->journal->plane[plane].wait.head != NONE &&
           plane_is_short(ssd, plane_at(ssd, plane));
}

/* With superblock.parity.  Dies have failed, or had before the power went:
 * copies there are lost, and no more are written to them. */
void meta_dies_lost(Ssd *ssd);

/* Does a page wait for room? */
bool meta_waits(const Ssd *ssd);

/* The drive programs no more: waiting pages end as if they were durable. */
void meta_give_up(Ssd *ssd);

/* ---- check.c ------------------------------------------------------------- */

/* Component.check. */
bool journal_check(const Ssd *ssd, bool at_rest, GError **error);

/* saved-check.c: its part for saved pages, of a drive at rest. */
bool saved_check(const Ssd *ssd, GError **error);

#endif
