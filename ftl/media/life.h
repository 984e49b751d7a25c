/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * life.h - blocks and planes from set-up to power loss.
 *
 * For ssd.c and state/ (set-up, load), for power/ (cut and recovery), and for
 * components that register their callbacks at set-up.
 */
#ifndef VSSD_FTL_MEDIA_LIFE_H
#define VSSD_FTL_MEDIA_LIFE_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "media/media-internal.h"
#include "ssd-internal.h"

/* ---- set-up ------------------------------------------------------------ */

/* When the drive is made: who chooses and empties blocks, and (or NULL) who has
 * an index of the FULL ones or keeps saved pages. */
void media_set_client(Ssd *ssd, const MediaClient *client);
void media_set_index(Ssd *ssd, const FullIndex *index);
void media_set_saved(Ssd *ssd, const SavedClient *saved);

void block_init(Ssd *ssd);
void block_destroy(Ssd *ssd);

void stripe_init(Ssd *ssd);
void stripe_destroy(Ssd *ssd);

/* Do factory bad blocks leave every plane enough?  *error names the plane. */
bool bad_enough_left(const Ssd *ssd, GError **error);

/* ---- preload ------------------------------------------------------------ */

/* n units of a block are valid that preloaded.h, or state/model.c, has placed:
 * count them. */
void block_count_preloaded(Ssd *ssd, uint32_t block, uint32_t n);

/* The open block of the plane goes on by so many programs of preloaded data,
 * and is not full then. */
void block_preload(Ssd *ssd, uint32_t plane, uint32_t open, uint32_t programs);

/* ---- power -------------------------------------------------------------- */

/* The power has gone: planes do nothing, and pages on their way are torn.  With
 * a map that survives, open blocks go on where the array is, and victims are
 * FULL. */
void media_power_lost(Ssd *ssd);
void media_settle_blocks(Ssd *ssd);

/* After a power cut, or on a drive without data (state/model.c): every block
 * but bad ones and those of saved.c is LOST, and in no list; one is found
 * again, as the array has it, and filled on by open (an open_index()) if that
 * is not NONE.  Those of a plane come in the order in which they were filled.
 */
void block_forget_all(Ssd *ssd);
void block_found(Ssd *ssd, uint32_t block, uint32_t open);

/* ---- check.c ------------------------------------------------------------- */

/* Component.check. */
bool media_check(const Ssd *ssd, bool at_rest, GError **error);

#endif
