/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ftl.h - what the files of ftl/ offer each other; drive.h has the structs, and
 * policy.h the policies.  Log-block maps (hybrid.h), what NAND keeps for a return
 * of power (saved.h) and the map on demand (dftl.h) have headers of their own.
 *
 * One struct per noun, one file per noun:
 *
 *   ssd.c      create, event loop, the calls of ssd.h
 *   host.c     commands: link, firmware, reads, completions
 *   write.c    buffer slots: from a host write to a programmed page
 *   buffer.c   what stays in the buffer, and what leaves it when
 *   map.c      logical unit -> slot or physical unit
 *   trim.c     TRIM, in bounded steps
 *   meta.c     pages of the drive's own in NAND
 *   block.c    blocks and planes: free, open, full; valid units
 *   alloc.c    the stripe, and how to insist on a plane
 *   streams.c  placement streams: what waits for each, its accounts
 *   hot.c      which units are written often
 *   gc.c       cleaning: when, and the copy loop
 *   gc-unit.c  blocks of several planes that are cleaned together
 *   hybrid.c   log-block maps: data blocks, log blocks, where a page goes
 *   merge.c    how log blocks are emptied, in place of cleaning
 *   hybrid-check.c  what their books must be like
 *   background.c  what the drive does while the host is silent
 *   refresh.c  which blocks are to be written anew
 *   wear.c     wear levelling
 *   bad-blocks.c  what becomes of blocks and pages whose program or erase fails
 *   faulty.c   scripted faults that name logical blocks, commands or a time
 *   power.c    power cut and return; preload
 *   saved.c    pages that tell of the logical units, for a return of power
 *   saved-room.c  the blocks that hold them
 *   recovery.c what the drive finds in NAND when the power is back
 *   oplog.c    the operation log
 *   state.c    save, load and clone: every member of these structs, as rows
 *   state-check.c  what a loaded state must be like
 *   state-file.c   such a state in a file
 *   age.c      writes without modelled time, for a drive that starts used
 *   recording.c  what the host did, as a trace
 *   dftl.c     the map on demand: a cache of it, translation pages in NAND;
 *              cmt.c, dftl-state.c
 *   accounts.c time and energy of the array
 *   numbers.c  valid units, wear and free blocks, for the statistics
 *   policy.c   the lists of policies; one policy per file gc-*, alloc-*, buf-*,
 *              map-*
 *
 * Numbers: lpn counts mapping units of the host, ppu those of the array:
 * ppu = page * units_per_page + unit within the page.
 */
#ifndef VSSD_FTL_H
#define VSSD_FTL_H

#include "policy.h"

/* ---- map.c ------------------------------------------------------------------- */

static inline bool map_is_buffered(uint32_t entry)
{
    return entry & MAP_BUFFERED;
}

static inline uint32_t map_slot(uint32_t entry)
{
    return entry & ~MAP_BUFFERED;
}

static inline bool unit_is_valid(const Ssd *ssd, uint32_t ppu)
{
    return ssd->valid[ppu / 64] >> (ppu % 64) & 1;
}

static inline uint32_t ppu_page(const Ssd *ssd, uint32_t ppu)
{
    return ppu >> ssd->page_units_shift;
}

/* Does the map lead to something?  A TRIM under way may have overtaken it
 * (trim_covers()). */
static inline bool map_holds(const Ssd *ssd, uint32_t lpn)
{
    uint32_t entry = ssd->map[lpn];

    return map_is_buffered(entry) ? !ssd->slot[map_slot(entry)].dead
                                  : entry != 0;
}

/* The newest version of lpn that the map knows; 0 if unmapped. */
uint64_t map_version(const Ssd *ssd, uint32_t lpn);

/* Trim: lpn reads as unmapped from now on. */
void map_trim(Ssd *ssd, uint32_t lpn);

/* The map entry of the copy in NAND that is current (0: none). */
uint32_t map_nand_entry(const Ssd *ssd, uint32_t lpn);

/* The mapping scheme hears that the unit's copy in NAND is elsewhere. */
static inline void map_changed(Ssd *ssd, uint32_t lpn, MapChange why)
{
    if (ssd->mapper->changed && lpn < ssd->l.user_units) {
        ssd->mapper->changed(ssd, lpn, why);
    }
}

static inline void map_changes_end(Ssd *ssd)
{
    if (ssd->mapper->changes_end) {
        ssd->mapper->changes_end(ssd);
    }
}

/* A victim has been erased, or would have been. */
static inline void map_room(Ssd *ssd, uint32_t plane)
{
    map_changes_end(ssd);
    if (ssd->mapper->room) {
        ssd->mapper->room(ssd, plane);
    }
}

/* Let the copy of a unit that cleaning has moved be the current one, if the
 * old one still is; true: it was. */
bool map_move(Ssd *ssd, uint32_t from_ppu, uint32_t to_ppu);

/* ---- meta.c ------------------------------------------------------------------- */

/* Is the unit, which holds something, the drive's own? */
static inline bool unit_is_meta(const Ssd *ssd, uint32_t ppu)
{
    return spare_lpn(ssd, ppu) >= ssd->l.user_units;
}

/* The map index of the first unit of a page of metadata. */
static inline uint32_t meta_lpn(const Ssd *ssd, uint32_t page)
{
    return (uint32_t)ssd->l.user_units + page * ssd->l.units_per_program;
}

/* Has the page ever been programmed? */
static inline bool meta_in_nand(const Ssd *ssd, uint32_t page)
{
    return ssd->map[meta_lpn(ssd, page)] != 0;
}

/* The plane where the page lies. */
static inline uint32_t meta_plane(const Ssd *ssd, uint32_t page)
{
    return ssd->stripe_plane[page % ssd->l.n_planes];
}

/* Nothing is under way (at creation, and when the power has gone). */
void meta_init(Ssd *ssd);

/*
 * Write a page of metadata: it waits for room in its plane, then is programmed;
 * a program that fails is done again.  The owner hears when the program begins
 * (what it holds is what is known then; again, if it has failed), and when it is
 * durable: until then a power cut finds the older copy.  One write of a page at
 * a time.
 */
void meta_write(Ssd *ssd, uint32_t page, MetaOwner owner);

/* Read n units of a page that is in NAND, from the unit first on; the owner hears
 * of the end. */
void meta_read(Ssd *ssd, uint32_t page, uint32_t first, uint32_t n,
               MetaOwner owner, uint32_t cookie);

/* Without modelled time: the page was written long ago, or just now (aged).
 * Nothing if it is in NAND already, or its plane has no room. */
void meta_preload(Ssd *ssd, uint32_t page, MetaOwner owner, bool aged);

/* Program what waits and has room. */
void meta_pump(Ssd *ssd, uint32_t plane);

void meta_page_done(Ssd *ssd, uint32_t job);
void meta_page_failed(Ssd *ssd, uint32_t job);
void meta_read_done(Ssd *ssd, const NandOp *op);

/* Does one wait that will get no block before cleaning has made more room?  Unlike
 * the host, metadata takes no block in SLC mode, however many are free. */
static inline bool meta_is_short(const Ssd *ssd, const Plane *p)
{
    return p->meta_wait.head != NONE && p->n_free <= plane_reserve(ssd, p);
}

/* Does a page wait for room? */
bool meta_waits(const Ssd *ssd);

/* The drive programs no more: what waits ends as if it were durable. */
void meta_give_up(Ssd *ssd);

/* ---- block.c ------------------------------------------------------------------ */

/* Entries of Plane.staged. */
static inline uint32_t plane_staged_room(const Ssd *ssd)
{
    return (GC_READS_PER_PLANE + ssd->l.n_gc_classes) *
           ssd->l.units_per_program;
}

void block_init(Ssd *ssd);
void block_destroy(Ssd *ssd);

/* Take the next page (the pages of one program) of the plane's open block of
 * that kind and stream (OPEN_GC: class), opening a free block if need be.  NONE:
 * there is no block that this kind may take. */
uint32_t block_take_page(Ssd *ssd, uint32_t plane, OpenKind kind,
                         uint32_t stream);
/* A free block (BLOCK_MAPPED from now on), for what the host writes or for
 * copies; NONE: there is none. */
uint32_t block_take_free(Ssd *ssd, uint32_t plane, OpenKind kind);
bool block_can_take_page(const Ssd *ssd, uint32_t plane, OpenKind kind,
                         uint32_t stream);

/* Take no more pages of an open block: it is FULL once its programs have
 * ended. */
void block_close(Ssd *ssd, uint32_t plane, Open *open);

static inline uint32_t open_index(const Ssd *ssd, OpenKind kind,
                                  uint32_t stream)
{
    switch (kind) {
    case OPEN_HOST:
        return stream;
    case OPEN_META:
        return ssd->l.n_streams + ssd->l.n_gc_classes;
    default:
        return ssd->l.n_streams + stream;
    }
}

/* Work out anew what Plane.n_host_open counts. */
void plane_count_open(Ssd *ssd, uint32_t plane);

/* A unit of a programmed page became current, or stopped being so. */
void block_set_valid(Ssd *ssd, uint32_t ppu);
void block_clear_valid(Ssd *ssd, uint32_t ppu);

/* A program of the block has ended. */
void block_page_done(Ssd *ssd, uint32_t block);

void block_start_victim(Ssd *ssd, uint32_t block);

/* Erase a block that is open or FULL and holds nothing valid. */
void block_discard(Ssd *ssd, uint32_t block);

/* more: another block of the die is erased next, at once, by the same command
 * if there are such. */
void block_start_erase(Ssd *ssd, uint32_t block, NandCause cause, bool more);
void block_erased(Ssd *ssd, uint32_t block);

/* The block is good for nothing any more: out of every list.  It is ERASING,
 * or VICTIM and empty. */
void block_retire(Ssd *ssd, uint32_t block);

/* One block less for the capacity of its plane. */
void block_count_lost(Ssd *ssd, uint32_t block);

/* A program of the block failed: close it, and empty it when it is FULL. */
void block_mark_bad(Ssd *ssd, uint32_t block);


/* Put a block whose cleaning or filling was cut short back among the FULL. */
void block_make_full(Ssd *ssd, uint32_t block);

/* After a power cut: every block but bad ones and those of saved.c is LOST, and
 * in no list; one is found again, as the array has it, and filled on by open (an
 * open_index()) if that is not NONE.  Those of a plane come in the order in which
 * they were filled. */
void block_forget_all(Ssd *ssd);
void block_found(Ssd *ssd, uint32_t block, uint32_t open);

/* A FULL block goes to the end of the list by age. */
void block_renew(Ssd *ssd, uint32_t block);

/* Work out anew whether the allocator may give the plane a page. */
void plane_update(Ssd *ssd, uint32_t plane);

/* ---- alloc.c ------------------------------------------------------------------ */

/* Streams of the seed; see prng_seed(). */
#define PURPOSE_ALLOC 0x66746c2d616c6c6fULL
#define PURPOSE_GC    0x66746c2d67632d76ULL

void alloc_init(Ssd *ssd);
void alloc_destroy(Ssd *ssd);

/* The plane for the next page of a stream; see AllocPolicy.pick(). */
uint32_t alloc_pick(Ssd *ssd, uint32_t lpn, uint32_t stream);

/* Something is under way in the plane that may make it accept a page. */
bool alloc_will_change(const Plane *p);

/* The first position of the stripe at from, or after it and round, whose plane
 * accepts a page; NONE: there is none. */
uint32_t alloc_next(const Ssd *ssd, uint32_t from);

/* The plane, if it accepts a page; NONE, while something under way there may
 * change that; else the next one in the stripe that does, or NONE. */
uint32_t alloc_insist(Ssd *ssd, uint32_t plane);

/* Ssd.alloc_waits_for is not NONE: is there still something to wait for? */
void alloc_look_again(Ssd *ssd);

/* ---- alloc-rows.c ---------------------------------------------------------------- */

/* With l.row_planes. */
void rows_init(Ssd *ssd);
void rows_destroy(Ssd *ssd);

/* Where a stream begins. */
uint32_t rows_first(const Ssd *ssd, uint32_t stream);

/* As alloc_pick().  Then: the next plane of the same row, if it accepts a page;
 * NONE: the row has no other, or it waits for that one. */
uint32_t rows_pick(Ssd *ssd, uint32_t stream);
uint32_t rows_more(Ssd *ssd, uint32_t stream);

/* ---- hot.c ---------------------------------------------------------------------- */

/* With ftl.hot_cold: the stream of units that are written often; the others are
 * of stream 0, and the host names none. */
#define HOT_STREAM 1

void hot_init(Ssd *ssd);
void hot_destroy(Ssd *ssd);
void hot_forget(Ssd *ssd);

/* The stream of the unit.  It has been written. */
uint32_t hot_stream(const Ssd *ssd, uint32_t lpn);
void hot_written(Ssd *ssd, uint32_t lpn);

/* ---- streams.c ------------------------------------------------------------------ */

void stream_init(Ssd *ssd);
void stream_destroy(Ssd *ssd);

/* Nothing is in the buffer. */
void stream_forget_slots(Ssd *ssd);

/* A slot has become DIRTY; leaves.  Whether it is due must not change between
 * the two but by stream_make_due() and stream_all_due(). */
void stream_insert(Ssd *ssd, uint32_t slot);
void stream_remove(Ssd *ssd, uint32_t slot);

/* A slot, DIRTY or not, belongs to another stream now. */
void stream_change(Ssd *ssd, uint32_t slot, uint32_t stream);

/* Set one of the slot's flags that make it due, be it DIRTY or not yet. */
void stream_make_due(Ssd *ssd, uint32_t slot, bool *flag);

/* Every DIRTY slot is of an earlier epoch now, and due. */
void stream_all_due(Ssd *ssd);

/* The stream whose page goes to NAND next, or NONE. */
uint32_t stream_ready(Ssd *ssd);

/* The lists of the streams were loaded. */
void stream_note_slots(Ssd *ssd);

/* Is there enough for another page of the row that the stream has begun? */
bool stream_goes_on(const Ssd *ssd, uint32_t stream);

/* Is there a stream whose page goes to NAND? */
bool stream_waits(const Ssd *ssd);

/* The host has written so many of its blocks to the stream. */
void stream_wrote(Ssd *ssd, uint32_t stream, uint64_t nblocks);

/* The command, a FLUSH with close, begins; and what it waited for has ended. */
void stream_start_close(Ssd *ssd, uint32_t cmd);
void stream_end_close(Ssd *ssd, uint32_t cmd);

/* Which DIRTY slot of the stream goes next; NONE: there is none. */
uint32_t stream_pick(const Ssd *ssd, uint32_t stream);

static inline uint32_t unit_stream(const Ssd *ssd, uint32_t ppu)
{
    return ssd->spare_stream ? ssd->spare_stream[ppu] : 0;
}

/* Units of different classes do not meet in a page of cleaning. */
static inline uint32_t gc_class(const Ssd *ssd, uint32_t ppu);

/* The stream whose account pays for a copy of the unit. */
uint32_t stream_account(const Ssd *ssd, uint32_t ppu);
/* The power has gone: what NAND did not come to end, the job's page and erases,
 * goes out of the accounts again, as NAND has not counted it. */
void stream_uncount_page(Ssd *ssd, uint32_t j);
void stream_uncount_erases(Ssd *ssd);
void stream_reset_stats(Ssd *ssd);
void stream_json(const Ssd *ssd, JsonWriter *w);

/* ---- buffer.c ------------------------------------------------------------------ */

/* Empty, with the policy's lists. */
void buffer_create(Ssd *ssd);

/* A slot for the unit, to which the map leads from now on; there is room
 * (buffer_room()).  The caller gives it a state, then calls buffer_insert(). */
uint32_t slot_take(Ssd *ssd, uint32_t lpn, uint32_t stream);

/* The slot has come, and is in the state it starts with. */
void buffer_insert(Ssd *ssd, uint32_t slot);

/* The slot holds data that NAND does not, from now on. */
void slot_unsafe(Ssd *ssd, uint32_t slot);

void slot_make_dirty(Ssd *ssd, uint32_t slot);
void slot_leave_dirty(Ssd *ssd, uint32_t slot);

/* PROGRAMMING: the unit is in NAND, as the map entry says; it may stay. */
void slot_cleaned(Ssd *ssd, uint32_t slot, uint32_t entry);

/* PROGRAMMING: its data is in the array's registers. */
void slot_sent(Ssd *ssd, uint32_t slot);

/* A command waits for it: it is due. */
void slot_force(Ssd *ssd, uint32_t slot);

/* Drop a slot without programming it, whatever lists it is in. */
void slot_free(Ssd *ssd, uint32_t slot);

/* The policy hears of a hit. */
void buffer_read_hit(Ssd *ssd, uint32_t slot);
void buffer_write_hit(Ssd *ssd, uint32_t slot);

/* newer is a later version of older, which is PROGRAMMING. */
void buffer_replace(Ssd *ssd, uint32_t older, uint32_t newer);

/* Is there room for one more unit?  A clean slot may have to go. */
bool buffer_room(Ssd *ssd);

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

void slot_wait(Ssd *ssd, uint32_t slot, uint32_t cmd, WaitFor what);
void slot_tell_waiters(Ssd *ssd, uint32_t waiter);

static inline bool buffer_keeps_reads(const Ssd *ssd)
{
    return ssd->buf->caches && !ssd->buf->writes_only;
}

static inline bool state_is_unsafe(unsigned state)
{
    return state > SLOT_CLEAN;
}

/* For a policy: nothing more need be done to give it up. */
static inline bool slot_is_clean(const Slot *s)
{
    return s->state == SLOT_CLEAN || s->state == SLOT_LOADING ||
           s->state == SLOT_PROGRAMMING;
}

static inline bool slot_must(const Ssd *ssd, const Slot *s)
{
    return s->force || s->evict || s->epoch != ssd->cur_epoch;
}

/* Due as a victim and for no other reason: it may wait for others. */
static inline bool slot_only_victim(const Ssd *ssd, const Slot *s)
{
    return s->evict && !s->force && s->epoch == ssd->cur_epoch;
}

/* ---- write.c ------------------------------------------------------------------- */

/* Put as much of the command into the buffer as has room.  true: all of it. */
bool write_insert(Ssd *ssd, uint32_t cmd);

/* Power is back: a unit that the buffer has kept is in it again, dirty. */
void write_restore(Ssd *ssd, const Slot *kept);
/* Give NAND every page that is due and that a plane accepts. */
void write_pump(Ssd *ssd);

void write_page_data_in(Ssd *ssd, uint32_t job);
void write_page_done(Ssd *ssd, uint32_t job);

/* A FILLING slot has been read, or what is wanted of it. */
void write_filled(Ssd *ssd, uint32_t slot, bool bad);

/* Choose a page of the plane for a job of the host, units for it if it has none
 * yet, and program it. */
void write_send(Ssd *ssd, uint32_t job, uint32_t plane);

/* A job of the host has its units (NONE: nothing in that place) and its page:
 * program it. */
void write_submit(Ssd *ssd, uint32_t job);

/* Gather a page of what is due and program it in the plane. */
void write_send_page(Ssd *ssd, uint32_t plane, uint32_t stream);

/* Barriers, and writes that wait for slots to be durable, end in vain. */
void write_fail_waiters(Ssd *ssd);

/* Start a barrier; cmd completes when it is reached.  cmd may be NONE. */
void write_barrier(Ssd *ssd, uint32_t cmd);

void write_flush_tick(Ssd *ssd);

/* The slot begins, and ceases, to count for the current barrier. */
void write_join_epoch(Ssd *ssd, Slot *s);
void write_leave_epoch(Ssd *ssd, Slot *s);

/* Complete the barriers that have been reached. */
void write_epochs_advance(Ssd *ssd);

uint32_t job_take(Ssd *ssd);
void job_give(Ssd *ssd, uint32_t job);

static inline uint32_t *job_units(Ssd *ssd, uint32_t job)
{
    return &ssd->job_unit[(size_t)job * ssd->l.units_per_program];
}

/* The slot of unit k of a page of the host; NULL: the page is empty there. */
static inline Slot *job_slot(Ssd *ssd, uint32_t job, uint32_t k)
{
    uint32_t i = job_units(ssd, job)[k];

    return i == NONE ? NULL : &ssd->slot[i];
}

/* ---- gc.c ----------------------------------------------------------------------- */

/* Look whether the plane needs cleaning, and go on with it. */
void gc_kick(Ssd *ssd, uint32_t plane);

/* Reads of the host on the die have ended: cleaning that had yielded to them
 * goes on. */
void gc_resume(Ssd *ssd, uint32_t page);

/* Clean a block of the plane, if one gains, however many are free; nothing, as
 * long as the plane is at it. */
void gc_force(Ssd *ssd, uint32_t plane);
void gc_read_done(Ssd *ssd, const NandOp *op);
void gc_page_done(Ssd *ssd, uint32_t job);
void gc_erase_done(Ssd *ssd, uint32_t block);

/* An empty victim need wait no longer (saved_holds()). */
void gc_release(Ssd *ssd, uint32_t block);

/* A FULL block of the plane at random that gains; NONE: many draws found none. */
uint32_t gc_draw(Ssd *ssd, uint32_t plane);

/* ---- gc-unit.c: does nothing without ftl.gc_unit ---------------------------------- */

void unit_init(Ssd *ssd);
void unit_destroy(Ssd *ssd);

/* The planes that clean together with this one: first..end - 1. */
uint32_t unit_first_plane(const Ssd *ssd, uint32_t plane);
uint32_t unit_end_plane(const Ssd *ssd, uint32_t plane);

/* The block has been opened; is erased or retired, and of no stripe any more. */
void unit_opened(Ssd *ssd, uint32_t block, uint32_t open);
void unit_leave(Ssd *ssd, uint32_t block);

/* Valid units, the mean over the stripe; all of a block, if not every block of
 * it is FULL. */
double unit_mean_valid(const Ssd *ssd, uint32_t block);

/* Has a plane not yet begun with what it was called to? */
bool unit_is_called(const Ssd *ssd, uint32_t plane);

/* The block is a victim: the other planes shall empty theirs of the stripe. */
void unit_call(Ssd *ssd, uint32_t block);

/* The block is about to be a victim, called for or not. */
void unit_taken(Ssd *ssd, uint32_t block);

/* The victim that the plane was called to take, or NONE. */
uint32_t unit_answer(Ssd *ssd, uint32_t plane);

/* A victim is empty: true, it waits for others of its stripe; else erase it, and
 * those that have waited for it. */
bool unit_holds(Ssd *ssd, uint32_t block);
void unit_erase(Ssd *ssd, uint32_t block);

/* The plane is short of room: erase what waits; nothing of it waits any more. */
void unit_release(Ssd *ssd, uint32_t plane);
void unit_hold_none(Ssd *ssd, uint32_t plane);

/* Count anew who is called and what waits: blocks and planes are others now. */
void unit_count(Ssd *ssd);

/* Do copies go to whichever plane of the die is behind, so that multi-plane
 * commands can program them? */
bool unit_goes_by_die(const Ssd *ssd);

/* The plane where the next page of copies from this one goes. */
uint32_t unit_destination(const Ssd *ssd, uint32_t plane, uint32_t class);

/* For ssd_check(). */
bool unit_check(const Ssd *ssd, GError **error);

/* A job's page failed: it is programmed again elsewhere in its plane, or, if
 * the drive has given up, forgotten. */
void gc_page_failed(Ssd *ssd, uint32_t job);

/* Does the operation belong to emptying a block? */
static inline bool cause_is_cleaning(unsigned cause)
{
    return cause == NAND_CAUSE_GC || cause == NAND_CAUSE_WEAR ||
           cause == NAND_CAUSE_REFRESH || cause == NAND_CAUSE_MERGE;
}

/* Spare area and accounts of a unit that is copied. */
void gc_copy_spare(Ssd *ssd, uint32_t from, uint32_t to);

/* ---- background.c --------------------------------------------------------------- */

typedef enum BackgroundEvent {
    BACKGROUND_IDLE,
    BACKGROUND_SCAN,
} BackgroundEvent;

/* No command runs, from now on. */
void background_quiet(Ssd *ssd);

/* A command has come, or the power has gone. */
void background_stop(Ssd *ssd);
void background_power_lost(Ssd *ssd);

void background_event(Ssd *ssd, BackgroundEvent event);

/* A block of the plane to be emptied while the host is silent, and why; NONE:
 * there is none. */
uint32_t background_victim(Ssd *ssd, uint32_t plane, NandCause *cause);

void background_json(const Ssd *ssd, JsonWriter *w);

/* ---- refresh.c ------------------------------------------------------------------- */

/* One of ftl.refresh_... is set; else the rest does nothing, and refresh_read() and
 * refresh_needs() must not be called. */
bool refresh_is_on(const Ssd *ssd);
void refresh_init(Ssd *ssd);
void refresh_destroy(Ssd *ssd);

/* What happens to blocks: it is opened; what it holds was there when the drive
 * was made; a read of it has ended; a page of one is copied inside the array to
 * another, which is open. */
void refresh_opened(Ssd *ssd, uint32_t block);
void refresh_preloaded(Ssd *ssd, uint32_t block);
void refresh_read(Ssd *ssd, const NandOp *op);
void refresh_copied(Ssd *ssd, uint32_t from, uint32_t to);

/* Is the block, which is FULL, to be written anew? */
bool refresh_needs(const Ssd *ssd, uint32_t block);

void refresh_power_lost(Ssd *ssd);
void refresh_power_on(Ssd *ssd);

/* ---- wear.c ----------------------------------------------------------------------- */

void wear_init(Ssd *ssd);
void wear_destroy(Ssd *ssd);

/* Free lists and erases are others now: a state was loaded, the power was cut. */
void wear_forget(Ssd *ssd);

/* The free block of the plane that is to be opened next; there is one. */
uint32_t wear_choose_free(Ssd *ssd, uint32_t plane, OpenKind kind);

/* A block, not in SLC mode, has come to the end of the free list; has left it. */
void wear_freed(Ssd *ssd, uint32_t block);
void wear_taken(Ssd *ssd, uint32_t block);

/* A block of the plane has been erased. */
void wear_erased(Ssd *ssd, uint32_t block);

/* A FULL block of the plane that is so little worn that what it holds is to go
 * elsewhere, or NONE. */
uint32_t wear_victim(Ssd *ssd, uint32_t plane);

/* For ssd_check(). */
bool wear_check(const Ssd *ssd, uint32_t plane, GError **error);

/* Share of the rated erases that the blocks have seen on average: erases are
 * those of all blocks but the ones in SLC mode, which are a cache. */
uint32_t wear_percent_used(const Ssd *ssd, uint64_t erases);

/* ---- bad-blocks.c --------------------------------------------------------------- */

/* Do factory bad blocks leave every plane enough?  *error names the plane. */
bool bad_enough_left(const Ssd *ssd, GError **error);

/* How much room a plane has, with the blocks that are left. */
void plane_size(Ssd *ssd, uint32_t plane);

void bad_program_done(Ssd *ssd, uint32_t job);
void bad_erase_done(Ssd *ssd, uint32_t block);

/* Something has ended: is there still a way on for what waits?  If not, give
 * up. */
void bad_look_for_way(Ssd *ssd);

/* Give NAND the pages of the host that failed; false: no plane takes one. */
bool bad_redo(Ssd *ssd);

/* Is what the host wrote not yet in NAND, and never will be? */
bool bad_flush_fails(const Ssd *ssd);

void job_fifo_push(Ssd *ssd, JobFifo *f, uint32_t job);
uint32_t job_fifo_pop(Ssd *ssd, JobFifo *f);

/* ---- faulty.c ---------------------------------------------------------------------- */

/* nand_submit(), after the rules that name LBAs. */
void faulty_submit(Ssd *ssd, NandOp *op);

/* Array found a rule that cuts the power. */
void faulty_cut(void *opaque);

/* Wait for the next rule that cuts the power by the clock; the same, when there
 * may be one that was waited for. */
void faulty_arm(Ssd *ssd);
void faulty_rearm(Ssd *ssd);

/* Those that hold some of the blocks first..last of the host, if the unit holds
 * any (by its spare area); else 0. */
uint64_t unit_lba_parts(const Ssd *ssd, uint32_t ppu, uint64_t first,
                        uint64_t last);

/* The first of a unit's blocks that is in one of the parts (at least one is). */
uint64_t unit_first_lba(const Ssd *ssd, uint32_t ppu, uint64_t parts);

/* ---- reports to the keeper of the payload ------------------------------------ */

/* Flush and FUA have nothing to wait for, or do not care. */
static inline bool no_drain(const Ssd *ssd)
{
    return ssd->cfg->plp || ssd->cfg->ignore_flush;
}

/* With buffer.plp a unit is safe from the moment that the buffer has it, and
 * that is all that its keeper is told of it. */
static inline void tell_buffered(const Ssd *ssd, const Slot *s)
{
    if (ssd->host && ssd->cfg->plp) {
        ssd->host->programmed(ssd->opaque, s->lpn, s->version);
    }
}

static inline void tell_programmed(const Ssd *ssd, const Slot *s)
{
    if (ssd->host && !ssd->cfg->plp) {
        ssd->host->programmed(ssd->opaque, s->lpn, s->version);
    }
}

static inline void tell_superseded(const Ssd *ssd, const Slot *s)
{
    if (ssd->host && !ssd->cfg->plp) {
        ssd->host->superseded(ssd->opaque, s->lpn, s->version);
    }
}

/* ---- power.c ---------------------------------------------------------------------- */

/* ssd_power_cut() at Ssd.now_ps. */
void power_lost(Ssd *ssd);

/* Erase the block that cleaning opened last; the plane has no free block, no
 * operation in flight, and no victim.  Sets Ssd.read_only if it cannot be. */
void power_take_back(Ssd *ssd, uint32_t plane);

/* The power is on and the map is there: the drive goes on. */
void power_ready(Ssd *ssd);

/* ---- host.c --------------------------------------------------------------------- */

void host_init_link(Ssd *ssd);
void host_start(Ssd *ssd, uint32_t cmd);

/* The drive is ready, for which the command has waited. */
void host_start_now(Ssd *ssd, uint32_t cmd);
void host_data(Ssd *ssd, uint32_t cmd);
void host_done(Ssd *ssd, uint32_t cmd);
void host_read_done(Ssd *ssd, uint32_t cmd, const NandOp *op);

/* Writes that wait for room will get none. */
void host_fail_waiting(Ssd *ssd);

/* The command need wait no longer for one of its slots. */
void host_slot_settled(Ssd *ssd, uint32_t cmd);
/* A READ: a unit that another one was loading is there, or cannot be read. */
void host_load_settled(Ssd *ssd, uint32_t cmd, uint32_t lpn, bool bad);
/* The command knows where its units are (Cmd.map_pending is 0 again). */
void host_map_ready(Ssd *ssd, uint32_t cmd);
/* Slots have become free: go on with the writes that wait for them. */
void host_room(Ssd *ssd);

/* Account the time since the last mark to a cost. */
void host_account(Ssd *ssd, Cmd *c, CostIndex cost);

/* End the command now. */
void host_finish(Ssd *ssd, uint32_t cmd, SsdStatus status);

void fifo_push(Ssd *ssd, CmdFifo *f, uint32_t cmd);
void fifo_push_front(Ssd *ssd, CmdFifo *f, uint32_t cmd);
uint32_t fifo_pop(Ssd *ssd, CmdFifo *f);

/* ---- trim.c --------------------------------------------------------------------- */

void trim_init(Ssd *ssd);
void trim_destroy(Ssd *ssd);
uint32_t trim_words(const Ssd *ssd); /* of Ssd.group_used and trim_left */

/* The TRIM begins to act; the next step of those under way; they are no more. */
void trim_start(Ssd *ssd, uint32_t cmd);
void trim_event(Ssd *ssd);
void trim_power_lost(Ssd *ssd);

/* The map is about to hold something of the unit. */
static inline void trim_note_used(Ssd *ssd, uint32_t lpn)
{
    uint32_t group = lpn >> ssd->trim_shift;

    ssd->group_used[group / 64] |= 1ULL << (group % 64);
}

/* Is the unit trimmed, while the map does not say so yet? */
bool trim_covers(const Ssd *ssd, uint32_t lpn);

/* The map is about to be asked for units first..last, or changed. */
void trim_settle(Ssd *ssd, uint64_t first, uint64_t last);

static inline void trim_before(Ssd *ssd, uint64_t first, uint64_t last)
{
    if (G_UNLIKELY(ssd->n_trim_left > 0)) {
        trim_settle(ssd, first, last);
    }
}

bool trim_check(const Ssd *ssd, GError **error);

/* ---- accounts.c ------------------------------------------------------------------ */

/* Count from now on. */
void accounts_reset(Ssd *ssd);

/* Append to the object "nand" of the statistics. */
void accounts_json(const Ssd *ssd, JsonWriter *w);

/* ---- numbers.c ------------------------------------------------------------------- */

/* Begin the series anew. */
void numbers_reset(Ssd *ssd);

/* The number of free blocks has changed, and Series.next_ps has come. */
void numbers_sample(Ssd *ssd);

/* The buffer has changed, or is about to, and Series.next_ps has come. */
void numbers_sample_buffer(Ssd *ssd);
void numbers_buffer_json(const Ssd *ssd, JsonWriter *w);

static inline void note_buffer(Ssd *ssd)
{
    if (ssd->now_ps >= ssd->buffer_series.next_ps) {
        numbers_sample_buffer(ssd);
    }
}

/* A block is to be cleaned. */
void numbers_victim(Ssd *ssd, uint32_t block);

/* Append to the objects "gc" and "nand" of the statistics. */
void numbers_gc_json(const Ssd *ssd, JsonWriter *w);
void numbers_wear_json(const Ssd *ssd, JsonWriter *w);

/* ---- age.c ---------------------------------------------------------------------- */

/* true: no time passes, and the operation will end by itself. */
bool age_takes(Ssd *ssd, const NandOp *op);
void age_destroy(Ssd *ssd);

/* Is a drive being aged: do operations end without time? */
bool age_is_on(const Ssd *ssd);

/* ---- dftl.c ----------------------------------------------------------------------- */

/* Of translation pages, from meta.c: one is about to be programmed; has been;
 * the part that the cookie says has been read. */
void dftl_page_begins(Ssd *ssd, uint32_t page);
void dftl_page_written(Ssd *ssd, uint32_t page);
void dftl_page_read(Ssd *ssd, uint32_t cookie);

extern const StateStruct dftl_struct, cmt_struct;

/* ---- state.c -------------------------------------------------------------------- */

/* The structs whose members are listed to be saved, for a test; NULL past the
 * last. */
const StateStruct *ssd_state_struct(unsigned i);

/* ---- clock.c --------------------------------------------------------------------- */

/* The drive has just been loaded from a stream that was kept. */
void ssd_rebase_loaded(Ssd *ssd);

/* ---- ssd.c ----------------------------------------------------------------------- */

/* Run every event due by now_ns. */
void ssd_run(Ssd *ssd, uint64_t now_ns);

/* Empty buffer, no barrier, no page on its way. */
void ssd_init_buffer(Ssd *ssd);

static inline uint32_t block_plane(const Ssd *ssd, uint32_t block)
{
    return block / ssd->geo->blocks_per_plane;
}

static inline uint32_t page_block(const Ssd *ssd, uint32_t page)
{
    return page / ssd->geo->pages_per_block;
}

/* Units of one program of the block that holds the page. */
static inline uint32_t block_program_units(const Ssd *ssd, uint32_t page)
{
    return ssd->l.units_per_page *
           nand_block_program(ssd->geo, page_block(ssd, page));
}

static inline uint32_t ppu_block(const Ssd *ssd, uint32_t ppu)
{
    return page_block(ssd, ppu_page(ssd, ppu));
}

/* What wear levelling moves is cold: it does not meet what cleaning copies; nor
 * does metadata. */
static inline uint32_t gc_class(const Ssd *ssd, uint32_t ppu)
{
    if (ssd->l.meta_units > 0 && unit_is_meta(ssd, ppu)) {
        return ssd->l.meta_class;
    }
    if (ssd->l.cold_class != NONE &&
        ssd->block[ppu_block(ssd, ppu)].cause == NAND_CAUSE_WEAR) {
        return ssd->l.cold_class;
    }
    return ssd->l.n_stream_classes > 1 ? ssd->spare_stream[ppu] : 0;
}

/* Are blocks chosen by their stripes? */
static inline bool gc_by_stripe(const Ssd *ssd)
{
    return ssd->mate && !ssd->gc_alone;
}

/* Valid units of a FULL block as a policy sees them. */
static inline double gc_valid(const Ssd *ssd, uint32_t block)
{
    return gc_by_stripe(ssd) ? unit_mean_valid(ssd, block)
                             : ssd->block[block].valid;
}

/* Is there a FULL block that costs no copy, nor does its stripe? */
static inline bool gc_costs_nothing(const Ssd *ssd, const Plane *p)
{
    return p->bucket[0] != NONE && gc_valid(ssd, p->bucket[0]) == 0;
}

/* Other planes have not yet begun with the last stripe. */
static inline bool gc_waits_for_unit(const Ssd *ssd, uint32_t plane)
{
    return ssd->mate && unit_is_called(ssd, plane);
}

/* What a page of the host takes of PlaneGc.credit. */
static inline uint64_t gc_price(const Ssd *ssd)
{
    return (uint64_t)ssd->l.units_per_program << 16;
}

/* Must the host wait until cleaning has gained as much as a page takes? */
static inline bool gc_holds_host(const Ssd *ssd, const Plane *p)
{
    return p->gc.active && p->gc.credit < gc_price(ssd) &&
           p->gc.reads + p->gc.programs + p->erases + p->gc.trims > 0;
}

/* The host has taken a page of the plane. */
static inline void gc_charge_host(const Ssd *ssd, Plane *p)
{
    p->gc.credit -= MIN(p->gc.credit, gc_price(ssd));
}

/* Does cleaning the block give back a program's pages at least? */
static inline bool gc_gains(const Ssd *ssd, uint32_t block)
{
    uint32_t most = ssd->l.units_per_block - ssd->l.units_per_program;

    return ssd->block[block].valid <= most &&
           (!gc_by_stripe(ssd) || gc_valid(ssd, block) <= most);
}

#endif
