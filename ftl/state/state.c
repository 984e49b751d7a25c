/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state.c - a drive as a stream of bytes, and back: save, load, clone.
 *
 * The one place that iterates over the whole state of a drive.  Each struct
 * that is not plain data has its members listed as rows (core/state.h), all of
 * them: a test finds one that is missing.  Structs in tables (Slot, Block,
 * Cmd...) go as they are and must hold no pointer.
 *
 * An iteration takes the whole state, commands in flight included: that is a
 * clone. A stream that is kept holds a drive at rest (ssd_at_rest()), which a
 * reader can check (state-check.c); docs/state-format.md has the rule.
 */
#include "bitmap.h"
#include "buffer/buffer-policy.h"
#include "buffer/stream-queue.h"
#include "controller/controller.h"
#include "gc/gc.h"
#include "host/ahead.h"
#include "host/host.h"
#include "inspect/inspect.h"
#include "journal/journal.h"
#include "map/map-policy.h"
#include "outside.h"
#include "map/map.h"
#include "media/faulty.h"
#include "media/life.h"
#include "media/plain.h"
#include "media/spare.h"
#include "power/power.h"
#include "drive.h"
#include "ssd-internal.h"
#include "state/drive-rows.h"
#include "state/drive-state.h"
#include "state/planes.h"
#include "state/state-check.h"
#include "ssd-save.h"
#include "ssd-setup.h"
#include "thermal/thermal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGNATURE       "vssdSTAT"
#define BYTE_ORDER_MARK 0x0102030405060708ULL
#define MOST_TEXT (1U << 20)

/* Sizes of the tables. */
enum {
    N_MAP_UNITS,
    N_GROUP_WORDS,
    N_RAW_UNITS,
    N_PAGES,
    N_CANDIDATES,
    N_SAVED,
    N_SAVED_FLIGHTS,
    N_SAVED_FLYING,
    N_VALID_WORDS,
    N_PAGE_WORDS,
    N_REBUILDS,
    N_BLOCKS,
    N_HOT,
    N_HOT_PIECES,
    N_LOGICAL_BLOCKS,
    N_LOG_BLOCKS,
    N_PLANES,
    N_PLANE_WORDS,
    N_OPENS,
    N_DIES,
    N_SLOTS,
    N_STREAMS,
    N_ROW_STREAMS,
    N_HISTS,
    N_CORES,
    N_COPIES,
    N_AHEAD_STREAMS,
    N_AHEAD_UNITS,
    N_AHEAD_WAITERS,
    N_WAITERS,
    N_EPOCHS,
    N_KEPT,
    N_JOBS,
    N_JOB_UNITS,
    N_CMDS,
    N_META_READS,
    N_BUSY,
    N_EVENTS,
    N_COUNTS,
};

static const StateRow ssd_rows[] = {
    /* The components, from bottom to top. */
    KEPT(ssd.controller),
    KEPT(ssd.media),
    KEPT(ssd.journal),
    KEPT(ssd.placement),
    KEPT(ssd.buffer),
    KEPT(ssd.map),
    KEPT(ssd.gc),
    KEPT(ssd.thermal),
    KEPT(ssd.host),
    KEPT(ssd.power),
    KEPT(ssd.cfg),
    KEPT(ssd.l),
    KEPT(ssd.info),
    KEPT(ssd.client),
    KEPT(ssd.client_opaque),
    KEPT(ssd.copies),
    KEPT(ssd.nand_entry),
    KEPT(ssd.events), /* these two have rows of their own */
    KEPT(ssd.nand),
    KEPT(ssd.geo),
    VALUE(ssd.now_ps),
    VALUE(ssd.origin_ps),
    KEPT(ssd.rebased_ns),
    VALUE(ssd.powered),
    VALUE(ssd.window),
    VALUE(ssd.window_end),
    VALUE(ssd.powered_ns),
    VALUE(ssd.powered_since_ps),
    KEPT(ssd.unit_shift),
    KEPT(ssd.block_shift),
    KEPT(ssd.page_units_shift),
    KEPT(ssd.first_unit_parts),
    KEPT(ssd.age),     /* empty, but during ssd_age() */
    KEPT(ssd.outside), /* outside_state() */
    KEPT(ssd.on_policy_fault),
    KEPT(ssd.policy_fault_opaque),
    KEPT(ssd.commands.ops),
    POOL(ssd.commands.cmd, N_CMDS),
    VALUE(ssd.commands.n_cmds),
    VALUE(ssd.commands.free_cmd),
    VALUE(ssd.commands.last_serial),
    VALUE(ssd.commands.running),
    VALUE(ssd.commands.submitted),
    NUMBERS(ssd.l2p.entry),
    VALUE(ssd.l2p.mapped_units),
    KEPT(ssd.l2p.group_shift),
    TABLE(ssd.l2p.group_used, N_GROUP_WORDS),
    KEPT(ssd.work), /* none, but during an event */
    TABLE(ssd.inspect.latency, N_HISTS),
    VALUE(ssd.inspect.counters),
    VALUE(ssd.inspect.nand_base),
    VALUE(ssd.inspect.use_base),
    VALUE(ssd.inspect.heat_base),
    VALUE(ssd.inspect.costs),
    POOL(ssd.inspect.busy_base, N_BUSY),
    VALUE(ssd.inspect.stats_since_ps),
    VALUE(ssd.inspect.series),
    VALUE(ssd.inspect.buffer_series),
    /* clang-format off */
    SSD_STATS(COUNTER, SUM, NO_COUNTER, NO_COUNTER)
    /* clang-format on */
    KEPT(ssd.inspect.log),
    KEPT(ssd.inspect.recording),
    KEPT(ssd.inspect.timeline),
    VALUE(controller.link_in_ps),
    VALUE(controller.link_out_ps),
    VALUE(controller.dram_in_ps),
    VALUE(controller.dram_free_ps),
    TABLE(controller.core_ps, N_CORES),
    VALUE(controller.gc_core_ps),
    POOL(controller.copy, N_COPIES),
    VALUE(controller.n_copies),
    VALUE(controller.free_copy),
    VALUE(controller.pending),
    KEPT(controller.link_num),
    KEPT(controller.link_den),
    KEPT(controller.dram_unit_ps),
    KEPT(controller.dram_move_ps),
    KEPT(controller.dram_map_ps),
    VALUE(controller.use),
    KEPT(media.client),
    KEPT(media.index),
    KEPT(media.saved),
    KEPT(media.faults), /* has rows of its own */
    KEPT(media.may_fail),
    VALUE(media.cut_due),
    VALUE(media.read_only),
    VALUE(media.cannot_program),
    KEPT(media.free_for_gc),
    VALUE(media.n_factory_bad),
    VALUE(media.n_grown_bad),
    VALUE(media.preload_next),
    VALUE(media.preload_left),
    NUMBERS(media.spare_lpn),
    TABLE(media.spare_version, N_RAW_UNITS),
    TABLE(media.spare_stream, N_RAW_UNITS),
    TABLE(media.spare_seq, N_PAGES),
    VALUE(media.prog_seq),
    TABLE(media.valid, N_VALID_WORDS),
    TABLE(media.block, N_BLOCKS),
    KEPT(media.plane), /* has rows of its own */
    KEPT(media.plain_valid),
    KEPT(media.stripe_plane),
    KEPT(media.stripe_pos),
    POOL(media.job, N_JOBS),
    POOL(media.job_unit, N_JOB_UNITS),
    VALUE(media.n_jobs),
    VALUE(media.free_job),
    KEPT(media.superblocks.plane),
    KEPT(media.superblocks.place),
    TABLE(media.superblocks.serial, N_OPENS),
    TABLE(media.superblocks.newest, N_OPENS),
    TABLE(media.superblocks.next, N_BLOCKS),
    TABLE(media.parity.filled, N_BLOCKS),
    TABLE(media.parity.state, N_BLOCKS),
    TABLE(media.parity.bare, N_PAGE_WORDS),
    KEPT(media.parity.instant), /* false, but during a call */
    TABLE(media.lost_dies.failures, N_DIES),
    TABLE(media.lost_dies.lost, N_DIES),
    VALUE(media.lost_dies.n),
    VALUE(media.lost_dies.more_share),
    VALUE(media.lost_dies.since_ps),
    POOL(media.rebuilds.rebuild, N_REBUILDS),
    VALUE(media.rebuilds.n),
    VALUE(media.rebuilds.free),
    VALUE(media.rebuilds.under_way),
    KEPT(journal.plane), /* these have rows of their own */
    KEPT(journal.client),
    TABLE(journal.floor, N_MAP_UNITS),
    TABLE(journal.saved, N_MAP_UNITS),
    TABLE(journal.saved_page, N_SAVED),
    TABLE(journal.saved_flight, N_SAVED_FLIGHTS),
    TABLE(journal.saved_in_flight, N_SAVED_FLYING),
    TABLE(journal.saved_open, N_PLANES),
    VALUE(journal.saved_low),
    VALUE(journal.saved_queue),
    POOL(journal.meta_read, N_META_READS),
    VALUE(journal.n_meta_reads),
    VALUE(journal.free_meta_read),
    VALUE(journal.meta_version),
    VALUE(journal.counters),
    KEPT(placement.plane),
    KEPT(placement.policy),
    KEPT(placement.placer),
    TABLE(placement.accepting, N_PLANE_WORDS),
    VALUE(placement.stripe_cursor),
    KEPT(placement.row_blocked), /* only saves a search */
    KEPT(placement.changes),
    VALUE(placement.alloc_chosen),
    VALUE(placement.alloc_waits_for),
    VALUE(placement.rng),
    TABLE(placement.hot_count, N_HOT),
    VALUE(placement.hot_writes),
    KEPT(placement.hot_shift),
    TABLE(placement.hot_rate, N_HOT_PIECES),
    KEPT(placement.chooses_stream),
    VALUE(placement.n_starved),
    TABLE(placement.stream, N_STREAMS),
    KEPT(buffer.client),
    KEPT(buffer.policy),
    TABLE(buffer.slot, N_SLOTS),
    KEPT(buffer.n_slot_records),
    VALUE(buffer.free_slot),
    VALUE(buffer.n_free_slots),
    VALUE(buffer.n_released),
    VALUE(buffer.n_unsafe),
    VALUE(buffer.n_dirty),
    VALUE(buffer.n_must),
    VALUE(buffer.list),
    KEPT(buffer.policy_data), /* BufferPolicy.state */
    VALUE(buffer.n_evicting),
    VALUE(buffer.n_victims),
    VALUE(buffer.n_promised),
    VALUE(buffer.early),
    VALUE(buffer.last_version),
    VALUE(buffer.waiting),
    VALUE(buffer.pump_waits),
    VALUE(buffer.stream_cursor),
    KEPT(buffer.dirty_streams), /* follows from the streams */
    VALUE(buffer.stall_ps),
    VALUE(buffer.stalled_since_ps),
    VALUE(buffer.redo),
    POOL(buffer.waiter, N_WAITERS),
    VALUE(buffer.n_waiters),
    VALUE(buffer.free_waiter),
    POOL(buffer.epoch, N_EPOCHS),
    VALUE(buffer.epoch_mask),
    VALUE(buffer.first_epoch),
    VALUE(buffer.cur_epoch),
    VALUE(buffer.tick_armed),
    TABLE(buffer.row_wait, N_ROW_STREAMS),
    POOL(buffer.kept, N_KEPT),
    VALUE(buffer.n_kept),
    VALUE(buffer.stats),
    KEPT(map.policy),
    TABLE(map.trim_left, N_GROUP_WORDS),
    VALUE(map.n_trim_left),
    VALUE(map.trims),
    KEPT(map.reset_of), /* no command waits, at rest */
    KEPT(map.resets),
    KEPT(map.policy_data), /* MapPolicy.state */
    KEPT(map.policy_bytes),
    TABLE(map.data_block, N_LOGICAL_BLOCKS),
    TABLE(map.log_of, N_LOGICAL_BLOCKS),
    TABLE(map.log_block, N_LOG_BLOCKS),
    KEPT(map.plane),
    KEPT(map.origins), /* MapPlane.origin */
    VALUE(map.merge_stats),
    KEPT(gc.plane),
    KEPT(gc.off),
    KEPT(gc.age_trees), /* derived again, and so are the next five */
    KEPT(gc.superblock_means),
    KEPT(gc.slot_client),
    KEPT(gc.wear),
    KEPT(gc.wear_order),
    KEPT(gc.wear_size),
    VALUE(gc.rng),
    KEPT(gc.unit_called), /* counted again, and so is the next */
    KEPT(gc.held_first),
    TABLE(gc.row_wait, N_PLANES),
    KEPT(gc.called), /* these two are false, but during a call */
    KEPT(gc.alone),
    VALUE(gc.background),
    KEPT(gc.period_armed), /* derived from the events */
    TABLE(gc.history, N_BLOCKS),
    VALUE(gc.background_stats),
    KEPT(gc.purge), /* begins again (ssd_purge()) */
    KEPT(thermal.on),
    KEPT(thermal.heats),
    KEPT(thermal.n_states),
    KEPT(thermal.table),
    KEPT(thermal.step_ps),
    KEPT(thermal.decay),
    KEPT(thermal.mk_per_w),
    VALUE(thermal.heat),
    KEPT(host.gate),
    VALUE(host.done),
    KEPT(host.ahead.n_streams),
    TABLE(host.ahead.stream, N_AHEAD_STREAMS),
    TABLE(host.ahead.unit, N_AHEAD_UNITS),
    POOL(host.ahead.waiter, N_AHEAD_WAITERS),
    VALUE(host.ahead.n_waiters),
    VALUE(host.ahead.free_waiter),
    VALUE(host.room_busy_ps),
    VALUE(host.room_wait_ps),
    VALUE(host.room_since_ps),
    VALUE(host.gate_ps),
    POOL(power.candidate, N_CANDIDATES),
    VALUE(power.recovery),
    TABLE(power.recovery_plane, N_PLANES),
};

static const StateRow event_rows[] = {
    STATE_POOL_ROW(EventQueue, heap, N_EVENTS),
    STATE_VALUE_ROW(EventQueue, n),
    STATE_KEPT_ROW(EventQueue, capacity),
    STATE_VALUE_ROW(EventQueue, next_seq),
    STATE_KEPT_ROW(EventQueue, has_first),
    STATE_KEPT_ROW(EventQueue, first),
    STATE_KEPT_ROW(EventQueue, next_ps),
};

/* Of a script of faults: its progress so far, not the rules' text. */
enum {
    N_RULES,
    N_FAULT_COUNTS,
};

static const StateRow fault_rows[] = {
    STATE_TABLE_ROW(Faults, rule, N_RULES),
    STATE_VALUE_ROW(Faults, n_rules),
    STATE_KEPT_ROW(Faults, lba_rule),
    STATE_KEPT_ROW(Faults, n_lba_rules),
    STATE_VALUE_ROW(Faults, n_ops),
    STATE_VALUE_ROW(Faults, n_cmds),
};

#define STRUCT(type, rows) {#type, rows, G_N_ELEMENTS(rows), sizeof(type)}

static const StateStruct ssd_struct = STRUCT(Drive, ssd_rows);
static const StateStruct event_struct = STRUCT(EventQueue, event_rows);
static const StateStruct fault_struct = STRUCT(Faults, fault_rows);

const StateStruct *ssd_state_struct(unsigned i)
{
    static const StateStruct *const own[] = {
        &ssd_struct,          &event_struct,
        &fault_struct,        &dftl_struct,
        &cmt_struct,          &state_media_plane,
        &state_journal_plane, &state_placement_plane,
        &state_gc_plane,      &state_map_plane,
    };

    if (i < G_N_ELEMENTS(own)) {
        return own[i];
    }
    i -= G_N_ELEMENTS(own);
    for (const BufferPolicy *const *p = buffer_policies; *p; p++) {
        if ((*p)->rows && i-- == 0) {
            return (*p)->rows;
        }
    }
    return nand_state_struct(i);
}

/* ---- configuration of the saved drive ----------------------------------- */

/*
 * Options of times, and others that do not affect saved members. A drive may
 * continue with other values.
 */
static bool may_differ(const char *key)
{
    static const char *const names[] = {
        "seed",
        "faults",
        "ftl.gc",
        "ftl.gc_choices",
        "ftl.gc_window",
        "ftl.map_prefetch",
        "superblock.padding",
        "ftl.gc_core",
        "latency.free",
        "host.namespaces",
        "host.pcie_mps",
        "host.pcie_mrrs",
        "host.pcie_rcb",
        "host.pcie_dllp",
        "host.pcie_nvme",
        "buffer.shared",
        "buffer.map_bytes",
        "buffer.word",
        "buffer.mb_s",
        "host.pcie_gen",
        "host.pcie_lanes",
        "host.link_mb_s",
        "nand.schedule",
        "nand.history",
        "nand.bus_mt_s",
        "nand.bus_width",
        "nand.interface",
        "nand.arbitration",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (strcmp(key, names[i]) == 0) {
            return true;
        }
    }
    /* Temperature, power and throttling go on from where they were. */
    return g_str_has_prefix(key, "thermal.") ||
           g_str_has_prefix(key, "power.") || ssd_config_is_time(key);
}

/* line: of the saved drive; own: of this one. */
static bool same_option(State *s, const char *line, const char *own)
{
    size_t n = strcspn(own, "=");
    g_autofree char *key = g_strndup(own, n);

    if (strcspn(line, "=") != n || strncmp(line, own, n) != 0) {
        return state_fail(s,
                          "it does not say %s: it is damaged, or of another "
                          "version of vssd",
                          key);
    }
    return strcmp(line, own) == 0 || may_differ(key) ||
           state_fail(s,
                      "it was saved with %s, this drive has %s: %s must be "
                      "the same",
                      line, own, key);
}

static bool same_options(State *s, const char *text, const char *own)
{
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    g_auto(GStrv) mine = g_strsplit(own, "\n", -1);
    size_t i = 0;

    for (; mine[i] && line[i]; i++) {
        if (!same_option(s, line[i], mine[i])) {
            return false;
        }
    }
    return !mine[i] == !line[i] ||
           state_fail(s, "it is damaged, or of another version of vssd");
}

/* Every option, as text; and the size of logical blocks. */
static bool walk_config(State *s, const SsdConfig *cfg)
{
    g_autoptr(GString) own = g_string_new(NULL);
    g_autofree char *text = NULL;
    uint64_t block_bytes = cfg->block_bytes;

    ssd_config_print(cfg, own);
    text = s->loading ? NULL : g_strdup(own->str);
    if (!state_text(s, &text, MOST_TEXT) || !state_u64(s, &block_bytes)) {
        return false;
    }
    if (block_bytes != cfg->block_bytes) {
        return state_fail(s, "it was saved with logical blocks of %" PRIu64
                          " bytes, this drive has %u",
                          block_bytes, cfg->block_bytes);
    }
    return same_options(s, text, own->str);
}

static bool walk_head(State *s, const SsdConfig *cfg)
{
    uint64_t order = BYTE_ORDER_MARK;

    if (!state_signature(s, SIGNATURE,
                         "it is no saved drive (vssd-sim run --save-state and "
                         "vssd age make one)") ||
        !state_u64(s, &order)) {
        return false;
    }
    if (order != BYTE_ORDER_MARK) {
        return state_fail(s, "it was saved on a machine of other byte order");
    }
    return walk_config(s, cfg);
}

/* ---- iteration ---------------------------------------------------------- */

static bool walk_events(State *s, EventQueue *q)
{
    uint64_t counts[N_COUNTS] = {0};

    eventq_gather(q);
    if (!state_values(s, &event_struct, q)) {
        return false;
    }
    counts[N_EVENTS] = q->n;
    if (!state_tables(s, &event_struct, q, counts)) {
        return false;
    }
    if (s->loading) {
        q->capacity = MAX(q->n, 64);
        q->heap = g_renew(Event, q->heap, q->capacity);
        eventq_changed(q);
    }
    return true;
}

/* Another script, or none, begins at its beginning. */
static bool walk_faults(State *s, Ssd *ssd, bool *same)
{
    Faults none = {.rule = NULL};
    Faults *f = ssd->media->faults ? ssd->media->faults : &none;
    Faults saved = *f;
    uint64_t counts[N_FAULT_COUNTS];
    g_autofree char *text = s->loading ? NULL : g_strdup(ssd->cfg->faults);

    if (!s->loading && !text) {
        text = g_strdup("");
    }
    if (!state_text(s, &text, MOST_TEXT) ||
        !state_values(s, &fault_struct, &saved)) {
        return false;
    }
    *same = strcmp(text, ssd->cfg->faults ? ssd->cfg->faults : "") == 0 &&
            saved.n_rules == f->n_rules;
    counts[N_RULES] = saved.n_rules;
    saved.rule = *same ? f->rule : NULL;
    if (!state_tables(s, &fault_struct, &saved, counts)) {
        return false;
    }
    if (*same) {
        *f = saved;
    }
    return true;
}

static void count(const Ssd *ssd, bool busy, uint64_t *n)
{
    const NandGeometry *g = ssd->geo;

    n[N_MAP_UNITS] = ssd->l.user_units + ssd->l.meta_units;
    n[N_GROUP_WORDS] = trim_words(ssd);
    n[N_RAW_UNITS] = ssd->l.raw_units;
    n[N_PAGES] = g->n_pages;
    n[N_CANDIDATES] = ssd->power->recovery.n_candidates;
    n[N_SAVED] = ssd->l.n_saved;
    n[N_SAVED_FLIGHTS] = ssd->l.n_saved_flights;
    n[N_SAVED_FLYING] = (uint64_t)ssd->l.n_saved_flights * ssd->l.saved_units;
    n[N_VALID_WORDS] = bitmap_words(ssd->l.raw_units);
    n[N_PAGE_WORDS] = bitmap_words(g->n_pages);
    n[N_REBUILDS] = ssd->media->rebuilds.n;
    n[N_BLOCKS] = g->n_blocks;
    n[N_HOT] = ssd->l.n_hot;
    n[N_HOT_PIECES] = HOT_PIECES;
    n[N_LOGICAL_BLOCKS] = (uint64_t)ssd->l.n_planes * ssd->l.logical_blocks;
    n[N_LOG_BLOCKS] = (uint64_t)ssd->l.n_planes * ssd->l.log_blocks;
    n[N_PLANES] = ssd->l.n_planes;
    n[N_PLANE_WORDS] = bitmap_words(ssd->l.n_planes);
    n[N_OPENS] = (uint64_t)ssd->l.n_planes * ssd->l.n_open;
    n[N_DIES] = g->n_dies;
    n[N_SLOTS] = ssd->buffer->n_slot_records;
    n[N_STREAMS] = ssd->l.n_streams + 1;
    n[N_ROW_STREAMS] = ssd->l.n_streams;
    n[N_HISTS] = SSD_N_OPS + 1;
    n[N_CORES] = MAX(ssd->cfg->cores, 1);
    n[N_AHEAD_STREAMS] = ssd->host->ahead.n_streams;
    n[N_AHEAD_UNITS] = (uint64_t)ssd->host->ahead.n_streams * ahead_window(ssd);
    n[N_AHEAD_WAITERS] = ssd->host->ahead.n_waiters;
    n[N_COPIES] = ssd->controller->n_copies;
    n[N_WAITERS] = ssd->buffer->n_waiters;
    n[N_EPOCHS] = (uint64_t)ssd->buffer->epoch_mask + 1;
    n[N_KEPT] = ssd->buffer->n_kept;
    n[N_JOBS] = ssd->media->n_jobs;
    n[N_JOB_UNITS] = (uint64_t)ssd->media->n_jobs * ssd->l.units_per_program;
    n[N_CMDS] = ssd->commands.n_cmds;
    n[N_META_READS] = ssd->journal->n_meta_reads;
    n[N_BUSY] = busy ? g->n_channels + g->n_dies + g->n_planes : 0;
}

static bool walk_policy(State *s, Ssd *ssd)
{
    invariant(!ssd->buffer->policy_data == !ssd->buffer->policy->state);
    return !ssd->buffer->policy->state || ssd->buffer->policy->state(ssd, s);
}

/* A reader without versions skips those that there are. */
static bool walk_versions(State *s, const Ssd *ssd)
{
    uint64_t there = ssd->media->spare_version != NULL;

    return state_u64(s, &there) &&
           (there || !ssd->media->spare_version ||
            state_fail(s, "it was saved without versions, which this use of the "
                       "drive needs"));
}

static bool walk(State *s, Ssd *ssd)
{
    uint64_t counts[N_COUNTS];
    uint64_t busy = ssd->inspect.busy_base != NULL;
    bool same_faults = true;

    if (!s->loading && ssd->thermal->on) {
        thermal_steps(ssd); /* those that are over go by the present options */
    }
    if (!walk_head(s, ssd->cfg) || !walk_versions(s, ssd) ||
        !state_values(s, &ssd_struct, ssd) || !state_u64(s, &busy)) {
        return false;
    }
    count(ssd, busy, counts);
    if (!state_tables(s, &ssd_struct, ssd, counts) || !state_planes(ssd, s) ||
        !walk_policy(s, ssd) ||
        (ssd->map->policy->state && !ssd->map->policy->state(ssd, s)) ||
        !outside_state(ssd, s) || !walk_events(s, &ssd->events) ||
        !walk_faults(s, ssd, &same_faults) || !nand_state(ssd->nand, s)) {
        return false;
    }
    if (s->loading) {
        thermal_loaded(ssd);
        plain_loaded(ssd);
        gc_forget(ssd);
        queue_note_slots(ssd);
        unit_count(ssd);
    }
    if (!same_faults) {
        faulty_rearm(ssd);
    }
    return true;
}

/* ---- the calls of ssd.h -------------------------------------------------- */

uint64_t ssd_now_ns(const Ssd *ssd)
{
    return ssd->now_ps / PS_PER_NS;
}

uint64_t ssd_last_version(const Ssd *ssd)
{
    return ssd->buffer->last_version;
}

bool ssd_rest(Ssd *ssd, uint64_t most_ns)
{
    uint64_t end_ns = ssd_now_ns(ssd) + most_ns;

    while (!ssd_at_rest(ssd)) {
        uint64_t next_ps = eventq_next_ps(&ssd->events);

        if (ssd->host->done.head != NONE || next_ps == SIM_NEVER ||
            sim_ceil_ns(next_ps) > end_ns) {
            return false;
        }
        ssd_run(ssd, sim_ceil_ns(next_ps));
    }
    return true;
}

bool ssd_save(const Ssd *ssd, FILE *out, GError **error)
{
    State s;

    if (!ssd_at_rest(ssd)) {
        g_set_error_literal(error, STATE_ERROR, 0,
                            ssd->media->cannot_program
                                ? "the drive has failed, with data that it "
                                  "cannot program in its buffer"
                                : "commands are in flight");
        return false;
    }
    state_begin(&s, out, false);
    walk(&s, (Ssd *)ssd); /* saving changes nothing */
    return state_end(&s, error);
}

static Ssd *load(const SsdConfig *cfg, const SsdHostOps *host, void *opaque,
                 FILE *in, bool more, GError **error)
{
    Ssd *ssd = ssd_create(cfg, host, opaque, error);
    State s;

    if (!ssd) {
        return NULL;
    }
    state_begin(&s, in, true);
    s.more = more;
    walk(&s, ssd);
    if (!state_end(&s, error)) {
        ssd_destroy(ssd);
        return NULL;
    }
    return ssd;
}

static Ssd *load_checked(const SsdConfig *cfg, const SsdHostOps *host,
                         void *opaque, FILE *in, bool more, GError **error)
{
    Ssd *ssd = load(cfg, host, opaque, in, more, error);

    if (ssd && !ssd_state_check(ssd, error)) {
        ssd_destroy(ssd);
        return NULL;
    }
    if (ssd) {
        ssd_rebase_loaded(ssd);
    }
    return ssd;
}

Ssd *ssd_load(const SsdConfig *cfg, const SsdHostOps *host, void *opaque,
              FILE *in, GError **error)
{
    return load_checked(cfg, host, opaque, in, false, error);
}

Ssd *ssd_load_first(const SsdConfig *cfg, const SsdHostOps *host, void *opaque,
                    FILE *in, GError **error)
{
    return load_checked(cfg, host, opaque, in, true, error);
}

Ssd *ssd_clone(const Ssd *ssd, const SsdHostOps *host, void *opaque,
               GError **error)
{
    char *bytes = NULL;
    size_t n = 0;
    FILE *file = open_memstream(&bytes, &n);
    Ssd *copy = NULL;
    State s;
    bool ok;

    invariant(file);
    state_begin(&s, file, false);
    walk(&s, (Ssd *)ssd);
    ok = state_end(&s, error);
    fclose(file);
    if (ok) {
        file = fmemopen(bytes, n, "rb");
        invariant(file);
        copy = load(ssd->cfg, host, opaque, file, false, error);
        fclose(file);
    }
    free(bytes);
    return copy;
}
