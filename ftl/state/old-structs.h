/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * old-structs.h - elements of tables in streams of versions 1 and 2, in which
 * numbers of units and pages had 32 bits; structs in streams of versions 1 to
 * 3, in which sums of durations had 64.  Private to state.c.
 */
#ifndef VSSD_FTL_OLD_STRUCTS_H
#define VSSD_FTL_OLD_STRUCTS_H

#include "buffer/buffer-internal.h"
#include "journal/journal-internal.h"
#include "media/media-internal.h"
#include "nand-old-structs.h"
#include "thermal/thermal-internal.h"

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

typedef struct HostUseV3 {
    uint64_t busy_ps[N_HOST_PARTS];
    uint64_t wait_ps[N_HOST_PARTS];
    uint64_t gc_busy_ps;
} HostUseV3;

typedef struct HeatSumsV3 {
    uint64_t controller_nj, warning_ps, critical_ps;
    uint64_t throttled_ps[2], n_throttled[2];
    uint64_t n_wakes, wake_ps;
    uint64_t state_ps[SSD_POWER_STATES];
} HeatSumsV3;

typedef struct HeatV3 {
    uint64_t next_ps, charged_ps, step_fj, controller_fj, nand_nj;
    uint64_t rise_nk, most_rise_nk, peak_mw;
    HeatSumsV3 sums;
    uint64_t managed_ps[THERMAL_LEVELS], n_managed[THERMAL_LEVELS];
    uint32_t limit_k[THERMAL_LEVELS];
    uint32_t level, state, from, operational;
    uint64_t state_since_ps, idle_since_ps;
    uint32_t wanted, off, by_host, unused;
    IdleRule rule[THERMAL_STATES];
} HeatV3;

typedef struct CostSumsV3 {
    uint64_t n;
    uint64_t ps[N_COSTS];
} CostSumsV3;

typedef struct CounterSavesV3 {
    HostCounts saved, lost;
    uint64_t saved_ps, lost_ps, armed;
} CounterSavesV3;

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

#define USE(m)  STATE_MOVE(HostUseV3, HostUse, m)
#define SUMS(m) STATE_MOVE(HeatSumsV3, HeatSums, m)
#define HEAT(m) STATE_MOVE(HeatV3, Heat, m)
#define COST(m) STATE_MOVE(CostSumsV3, CostSums, m)
#define SAVE(m) STATE_MOVE(CounterSavesV3, CounterSaves, m)

static const StateMove use_moves[] = {
    USE(busy_ps),
    USE(wait_ps),
    USE(gc_busy_ps),
};

static const StateMove heat_sums_moves[] = {
    SUMS(controller_nj), SUMS(warning_ps),  SUMS(critical_ps),
    SUMS(throttled_ps),  SUMS(n_throttled), SUMS(n_wakes),
    SUMS(wake_ps),       SUMS(state_ps),
};

static const StateMove heat_moves[] = {
    HEAT(next_ps),
    HEAT(charged_ps),
    HEAT(step_fj),
    HEAT(controller_fj),
    HEAT(nand_nj),
    HEAT(rise_nk),
    HEAT(most_rise_nk),
    HEAT(peak_mw),
    HEAT(sums.controller_nj),
    HEAT(sums.warning_ps),
    HEAT(sums.critical_ps),
    HEAT(sums.throttled_ps),
    HEAT(sums.n_throttled),
    HEAT(sums.n_wakes),
    HEAT(sums.wake_ps),
    HEAT(sums.state_ps),
    HEAT(managed_ps),
    HEAT(n_managed),
    HEAT(limit_k),
    HEAT(level),
    HEAT(state),
    HEAT(from),
    HEAT(operational),
    HEAT(state_since_ps),
    HEAT(idle_since_ps),
    HEAT(wanted),
    HEAT(off),
    HEAT(by_host),
    HEAT(unused),
    HEAT(rule),
};

static const StateMove cost_moves[] = {
    COST(n),
    COST(ps),
};

static const StateMove counters_moves[] = {
    SAVE(saved), SAVE(lost), SAVE(saved_ps), SAVE(lost_ps), SAVE(armed),
};

#undef USE
#undef SUMS
#undef HEAT
#undef COST
#undef SAVE
#undef JOB
#undef SLOT
#undef PAGE
#undef FLIGHT

static const StateWas job_was = STATE_WAS(PageJobV2, job_moves);
static const StateWas slot_was = STATE_WAS(SlotV2, slot_moves);
static const StateWas saved_page_was = STATE_WAS(SavedPageV2, saved_page_moves);
static const StateWas saved_flight_was =
    STATE_WAS(SavedFlightV2, saved_flight_moves);
static const StateWas use_was = STATE_WAS(HostUseV3, use_moves);
static const StateWas heat_sums_was = STATE_WAS(HeatSumsV3, heat_sums_moves);
static const StateWas heat_was = STATE_WAS(HeatV3, heat_moves);
static const StateWas costs_was = STATE_WAS(CostSumsV3, cost_moves);
static const StateWas counters_was = STATE_WAS(CounterSavesV3, counters_moves);

#endif
