/* SPDX-License-Identifier: GPL-2.0-or-later */
/* buffer.h - slots, and the way from them to a programmed page. */
#ifndef VSSD_FTL_BUFFER_H
#define VSSD_FTL_BUFFER_H

#include "layers.h"
#if FTL_LAYER < FTL_BUFFER
#error "ftl/buffer is above this component: docs/architecture.md"
#endif

#include "buffer/buffer-policy.h"
#include "buffer/buffer-internal.h"
#include "media/media-internal.h"
#include "ssd-internal.h"

/* ---- buffer.c ---------------------------------------------------------- */

/* Empty, with the policy's lists. */
void buffer_create(Ssd *ssd);

/* A slot for the unit, to which the map leads from now on; there is room
 * (buffer_room()).  The caller gives it a state, then calls buffer_insert(). */
uint32_t slot_take(Ssd *ssd, uint32_t lpn, uint32_t stream);

/* The same, of a unit that is in NAND and is read now, for the command. */
uint32_t slot_load(Ssd *ssd, uint32_t cmd, uint32_t lpn, uint64_t version);

/* One operation reads several such slots for the command: it comes behind
 * `last` (NONE: it is the first). */
void slot_join_read(Ssd *ssd, uint32_t slot, uint32_t cmd, uint32_t last);

/* The slot has come, and is in the state it starts with. */
void buffer_insert(Ssd *ssd, uint32_t slot);

/* It is DIRTY, and is about to be programmed. */
void slot_leave_dirty(Ssd *ssd, uint32_t slot);

/* The same; it becomes part of a page on its way to NAND. */
void slot_program(Ssd *ssd, uint32_t slot);

/* Drop a slot without programming it, whatever lists it is in. */
void slot_free(Ssd *ssd, uint32_t slot);

/* The policy hears of a hit, by a read; by a write. */
void buffer_read_hit(Ssd *ssd, uint32_t slot);

/* A unit that is read is in NAND alone. */
void buffer_read_miss(Ssd *ssd);

/* Is there room for one more unit?  A clean slot may have to go. */
bool buffer_room(Ssd *ssd);

/* The command waits for room, last of all; the first one that waits no longer
 * does: which it was. */
void buffer_wait(Ssd *ssd, uint32_t cmd);
uint32_t buffer_end_wait(Ssd *ssd);

/* Versions of what the host writes grow. */
void buffer_new_version(Ssd *ssd, uint64_t version);

/* The command has taken room for one unit; has all the room it needs. */
void buffer_took(Ssd *ssd, uint32_t cmd);
void buffer_settle(Ssd *ssd, uint32_t cmd);

/* The command waits for room: choose victims for all that it needs.  true:
 * there is room for a unit at once. */
bool buffer_make_room(Ssd *ssd, uint32_t cmd);

/* A read from NAND for slots (the first of them) has ended. */
void buffer_loaded(Ssd *ssd, uint32_t slot, const NandOp *op);

/* No command is running: flush early what there is to. */
void buffer_idle(Ssd *ssd);

/* The host has written once more. */
void buffer_count_write(Ssd *ssd);

/* The command waits for the slot. */
void slot_wait(Ssd *ssd, uint32_t slot, uint32_t cmd, WaitFor what);

static inline bool buffer_keeps_reads(const Ssd *ssd)
{
    return ssd->buffer->policy->caches && !ssd->buffer->policy->writes_only;
}

static inline bool state_is_unsafe(unsigned state)
{
    return state > SLOT_CLEAN;
}

/* ---- unmap.c ----------------------------------------------------------- */

/* The slot of the buffered unit (a map entry) that remembers its copy in NAND.
 */
static inline const Slot *slot_oldest(const Ssd *ssd, uint32_t entry)
{
    const Slot *s = &ssd->buffer->slot[map_slot(entry)];

    return s->older != NONE ? &ssd->buffer->slot[s->older] : s;
}

/* That copy lies elsewhere now. */
void slot_moved(Ssd *ssd, uint32_t entry, uint32_t from_ppu, uint32_t to_ppu);

/* The buffered unit is trimmed. */
void slot_trim(Ssd *ssd, uint32_t lpn);

/* ---- kept.c ------------------------------------------------------------ */

/* The power has gone: with buffer.plp, remember the newest version of every
 * unit; it is back. */
void buffer_keep(Ssd *ssd);
void buffer_restore(Ssd *ssd);

/* ---- stream-queue.c ---------------------------------------------------- */

/* Is there a stream whose page goes to NAND next? */
bool queue_waits(const Ssd *ssd);

/* ---- write.c ----------------------------------------------------------- */

/* Put as much of the command into the buffer as has room.  true: all of it. */
bool write_insert(Ssd *ssd, uint32_t cmd);

/* Power is back: a unit that the buffer has kept is in it again, dirty. */
void write_restore(Ssd *ssd, const Slot *kept);
/* Give NAND every page that is due and that a plane accepts. */
void write_pump(Ssd *ssd);

void write_page_data_in(Ssd *ssd, uint32_t job);
void write_page_done(Ssd *ssd, uint32_t job);
void write_page_failed(Ssd *ssd, uint32_t job);

/* A page has been filled: count what a write buffer evicts, while commands wait
 * for room. */
void write_count_evictions(Ssd *ssd, uint32_t job);

/* A job of the host has its units (NONE: nothing in that place) and its page:
 * program it. */
void write_submit(Ssd *ssd, uint32_t job);

/* Barriers, and writes that wait for slots to be durable, end in vain. */
void write_fail_waiters(Ssd *ssd);

/* Start a barrier; cmd completes when it is reached.  cmd may be NONE. */
void write_barrier(Ssd *ssd, uint32_t cmd);

/* The command, a FLUSH with close, begins; and what it waited for has ended. */
void write_start_close(Ssd *ssd, uint32_t cmd);
void write_end_close(Ssd *ssd, uint32_t cmd);

/* The stream ends.  Its units belong to none from now on, rather than to the
 * next stream of that number. */
void write_disown(Ssd *ssd, uint32_t stream);

void write_flush_tick(Ssd *ssd);

/* Is what the host wrote not yet in NAND, and never will be? */
static inline bool write_flush_fails(const Ssd *ssd)
{
    return ssd->media->given_up && ssd->buffer->n_unsafe > 0;
}

/* ---- reports to the keeper of the payload ------------------------------ */

/* Flush and FUA have nothing to wait for, or do not care. */
static inline bool no_drain(const Ssd *ssd)
{
    return ssd->cfg->plp || ssd->cfg->ignore_flush;
}

/* With buffer.plp a unit is safe from the moment that the buffer has it, and
 * that is all that its keeper is told of it. */
static inline void tell_buffered(const Ssd *ssd, const Slot *s)
{
    if (ssd->client && ssd->cfg->plp) {
        ssd->client->programmed(ssd->client_opaque, s->lpn, s->version);
    }
}

static inline void tell_programmed(const Ssd *ssd, const Slot *s)
{
    if (ssd->client && !ssd->cfg->plp) {
        ssd->client->programmed(ssd->client_opaque, s->lpn, s->version);
    }
}

static inline void tell_superseded(const Ssd *ssd, const Slot *s)
{
    if (ssd->client && !ssd->cfg->plp) {
        ssd->client->superseded(ssd->client_opaque, s->lpn, s->version);
    }
}

#endif
