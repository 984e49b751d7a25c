/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * old-structs.h - elements of tables in streams of versions 1 and 2, in which
 * numbers of units and pages had 32 bits; private to state.c.
 */
#ifndef VSSD_FTL_OLD_STRUCTS_H
#define VSSD_FTL_OLD_STRUCTS_H

#include "buffer/buffer-internal.h"
#include "journal/journal-internal.h"
#include "media/media-internal.h"

typedef struct PageJobV2 {
    uint32_t plane, ppa, n, next;
    uint8_t stream;
    bool gc, copyback;
    uint8_t state;
    bool meta;
    uint8_t owner;
    uint32_t meta_page;
} PageJobV2;

typedef struct SlotV2 {
    uint32_t lpn, next, prev, after, before, older, newer, old_entry;
    uint32_t waiters, epoch;
    uint64_t version;
    uint8_t state, stream;
    bool force, poison, whole, dead, listed, evict, sent, released, early;
    bool early_done;
    uint8_t list, writes;
} SlotV2;

typedef struct SavedPageV2 {
    uint32_t page, next;
    uint64_t seq, serial;
    bool queued, in_flight, changed;
    uint8_t pad[5];
} SavedPageV2;

typedef struct SavedFlightV2 {
    uint64_t serial, seq;
    uint32_t index, page;
    uint64_t low, ends;
} SavedFlightV2;

#define JOB(m)    STATE_MOVE(PageJobV2, PageJob, m)
#define SLOT(m)   STATE_MOVE(SlotV2, Slot, m)
#define PAGE(m)   STATE_MOVE(SavedPageV2, SavedPage, m)
#define FLIGHT(m) STATE_MOVE(SavedFlightV2, SavedFlight, m)

static const StateMove job_moves[] = {
    JOB(plane),    JOB(ppa),   JOB(n),    JOB(next),  JOB(stream),    JOB(gc),
    JOB(copyback), JOB(state), JOB(meta), JOB(owner), JOB(meta_page),
};

static const StateMove slot_moves[] = {
    SLOT(lpn),      SLOT(next),  SLOT(prev),       SLOT(after),   SLOT(before),
    SLOT(older),    SLOT(newer), SLOT(old_entry),  SLOT(waiters), SLOT(epoch),
    SLOT(version),  SLOT(state), SLOT(stream),     SLOT(force),   SLOT(poison),
    SLOT(whole),    SLOT(dead),  SLOT(listed),     SLOT(evict),   SLOT(sent),
    SLOT(released), SLOT(early), SLOT(early_done), SLOT(list),    SLOT(writes),
};

static const StateMove saved_page_moves[] = {
    PAGE(page),   PAGE(next),      PAGE(seq),     PAGE(serial),
    PAGE(queued), PAGE(in_flight), PAGE(changed),
};

static const StateMove saved_flight_moves[] = {
    FLIGHT(serial), FLIGHT(seq), FLIGHT(index),
    FLIGHT(page),   FLIGHT(low), FLIGHT(ends),
};

#undef JOB
#undef SLOT
#undef PAGE
#undef FLIGHT

#define WAS(old, moves) {sizeof(old), moves, G_N_ELEMENTS(moves)}

static const StateWas job_was = WAS(PageJobV2, job_moves);
static const StateWas slot_was = WAS(SlotV2, slot_moves);
static const StateWas saved_page_was = WAS(SavedPageV2, saved_page_moves);
static const StateWas saved_flight_was = WAS(SavedFlightV2, saved_flight_moves);

#undef WAS

#endif
