/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buffer.h - commands that write: room in the buffer, flush barriers.
 *
 * For host/.
 */
#ifndef VSSD_FTL_BUFFER_H
#define VSSD_FTL_BUFFER_H

#include "layers.h"
#if FTL_LAYER < FTL_BUFFER
#error "ftl/buffer is above this component: docs/architecture.md"
#endif

#include "buffer/buffer-internal.h"
#include "media/media-internal.h"
#include "ssd-internal.h"
#include "media/media.h"

/* ---- room ---------------------------------------------------------------- */

/* Is there room for one more unit?  A clean slot may have to go. */
bool buffer_room(Ssd *ssd);

/* Does nothing wait, and is there room for so many units in free slots, whose
 * room is no other unit's? */
bool buffer_is_open(const Ssd *ssd, uint64_t units);

/* As buffer_wait() and buffer_end_wait(), where nothing waits. */
void buffer_pass(Ssd *ssd, uint32_t cmd);

/* Is there room for all units of a write that enters as a whole
 * (buffer.atomic)? true of other commands. */
bool buffer_takes_whole(const Ssd *ssd, const Cmd *c);

/* The command waits for room: choose victims for all that it needs.  true: it
 * can go on at once. */
bool buffer_make_room(Ssd *ssd, uint32_t cmd);

/* The command waits for room, last of all; the first one that waits no longer
 * does: which it was. */
void buffer_wait(Ssd *ssd, uint32_t cmd);
uint32_t buffer_end_wait(Ssd *ssd);

/* The command has all the room that it needs. */
void buffer_settle(Ssd *ssd, uint32_t cmd);

/* ---- writes -------------------------------------------------------------- */

/* Versions of host writes grow. */
void buffer_new_version(Ssd *ssd, uint64_t version);

/* Put as much of the command into the buffer as has room.  true: all of it. */
bool write_insert(Ssd *ssd, uint32_t cmd);

/* The host has written once more. */
void buffer_count_write(Ssd *ssd);

/* ---- flush --------------------------------------------------------------- */

/* Start a barrier; cmd completes when it is reached.  cmd may be NONE. */
void write_barrier(Ssd *ssd, uint32_t cmd);

/* The command, a FLUSH with close, begins; and its wait has ended. */
void write_start_close(Ssd *ssd, uint32_t cmd);
void write_end_close(Ssd *ssd, uint32_t cmd);

/* Is there host data that is not in NAND, and never will be? */
static inline bool write_flush_fails(const Ssd *ssd)
{
    return media_cannot_program(ssd) && ssd->buffer->n_unsafe > 0;
}

/* Flush and FUA have nothing to wait for, or do not care. */
static inline bool no_drain(const Ssd *ssd)
{
    return ssd->cfg->plp || ssd->cfg->ignore_flush;
}

#endif
