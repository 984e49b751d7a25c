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
 * reader can check (state-check.c); docs/state.md has the rule.
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
#include "state/old-structs.h"
#include "state/planes.h"
#include "state/state-check.h"
#include "ssd-save.h"
#include "ssd-setup.h"
#include "thermal/thermal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "VSSDSTAT"
#define OLD_MAGIC "VSSDSTA1" /* had no version */
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
    N_CHANNELS,
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
    KEPT(ssd.controller, controller_component),
    KEPT(ssd.media, media_component),
    KEPT(ssd.journal, journal_component),
    KEPT(ssd.placement, placement_component),
    KEPT(ssd.buffer, buffer_component),
    KEPT(ssd.map, map_component),
    KEPT(ssd.gc, gc_component),
    KEPT(ssd.thermal, thermal_component),
    KEPT(ssd.host, host_component),
    KEPT(ssd.power, power_component),
    KEPT(ssd.cfg, cfg),
    KEPT(ssd.l, l),
    KEPT(ssd.info, info),
    KEPT(ssd.client, host),
    KEPT(ssd.client_opaque, opaque),
    KEPT(ssd.copies, copies),
    KEPT(ssd.nand_entry, nand_entry),
    KEPT(ssd.events, events), /* these two have rows of their own */
    KEPT(ssd.nand, nand),
    KEPT(ssd.geo, geo),
    VALUE(ssd.now_ps, now_ps),
    {MEMBER(ssd.origin_ps, origin_ps), .kind = STATE_VALUE, .optional = true},
    KEPT(ssd.rebased_ns, rebased_ns),
    VALUE(ssd.powered, power_on),
    {MEMBER(ssd.window, window), .kind = STATE_VALUE, .optional = true},
    {MEMBER(ssd.window_end, window_end), .kind = STATE_VALUE, .optional = true},
    VALUE(ssd.powered_ns, powered_ns),
    VALUE(ssd.powered_since_ps, powered_since_ps),
    KEPT(ssd.unit_shift, unit_shift),
    KEPT(ssd.block_shift, block_shift),
    KEPT(ssd.page_units_shift, page_units_shift),
    KEPT(ssd.first_unit_parts, first_unit_parts),
    KEPT(ssd.age, age),         /* empty, but during ssd_age() */
    KEPT(ssd.outside, outside), /* outside_state() */
    KEPT(ssd.on_policy_fault, on_policy_fault),
    KEPT(ssd.policy_fault_opaque, policy_fault_opaque),
    KEPT(ssd.commands.ops, cmd_ops),
    POOL_GROWN(3, ssd.commands.cmd, cmd, N_CMDS),
    VALUE(ssd.commands.n_cmds, n_cmds),
    VALUE(ssd.commands.free_cmd, free_cmd),
    VALUE(ssd.commands.last_serial, last_serial),
    VALUE(ssd.commands.running, running),
    VALUE(ssd.commands.submitted, submitted),
    NUMBERS(ssd.l2p.entry, map),
    VALUE(ssd.l2p.mapped_units, mapped_units),
    KEPT(ssd.l2p.group_shift, trim_shift),
    TABLE(ssd.l2p.group_used, group_used, N_GROUP_WORDS),
    KEPT(ssd.work, work), /* none, but during an event */
    TABLE(ssd.inspect.latency, latency, N_HISTS),
    VALUE(ssd.inspect.counters, counters),
    VALUE_WAS(4, ssd.inspect.nand_base, nand_base, &nand_stats_was),
    VALUE_SINCE_WAS(3, 4, ssd.inspect.use_base, use_base, &use_was),
    VALUE_SINCE_WAS(3, 4, ssd.inspect.heat_base, heat_base, &heat_sums_was),
    VALUE_SINCE_WAS(3, 4, ssd.inspect.costs, costs, &costs_was),
    POOL_WIDENED(4, ssd.inspect.busy_base, busy_base, N_BUSY),
    VALUE_WIDENED(4, ssd.inspect.stats_since_ps, stats_since_ps),
    VALUE(ssd.inspect.series, series),
    VALUE(ssd.inspect.buffer_series, buffer_series),
    /* clang-format off */
    SSD_STATS(COUNTER, SUM, NO_COUNTER, NO_COUNTER)
    /* clang-format on */
    KEPT(ssd.inspect.log, log),
    KEPT(ssd.inspect.recording, recording),
    KEPT(ssd.inspect.timeline, timeline),
    VALUE(controller.link_in_ps, link_in_ps),
    VALUE(controller.link_out_ps, link_out_ps),
    VALUE(controller.dram_in_ps, dram_in_ps),
    VALUE(controller.dram_free_ps, dram_free_ps),
    TABLE(controller.core_ps, core_ps, N_CORES),
    VALUE_SINCE(3, controller.gc_core_ps, gc_core_ps),
    POOL_SINCE(3, controller.copy, copy, N_COPIES),
    VALUE_SINCE(3, controller.n_copies, n_copies),
    VALUE_SINCE(3, controller.free_copy, free_copy),
    VALUE_SINCE(3, controller.pending, pending),
    KEPT(controller.link_num, link_num),
    KEPT(controller.link_den, link_den),
    KEPT(controller.dram_unit_ps, dram_unit_ps),
    KEPT(controller.dram_move_ps, dram_move_ps),
    KEPT(controller.dram_map_ps, dram_map_ps),
    VALUE_SINCE_WAS(3, 4, controller.use, controller_use, &use_was),
    KEPT(media.client, media_client),
    KEPT(media.index, full_index),
    KEPT(media.saved, saved_client),
    KEPT(media.faults, faults), /* has rows of its own */
    KEPT(media.may_fail, may_fail),
    VALUE(media.cut_due, cut_due),
    VALUE(media.read_only, read_only),
    VALUE(media.given_up, given_up),
    KEPT(media.free_for_gc, free_for_gc),
    VALUE(media.n_factory_bad, n_factory_bad),
    VALUE(media.n_grown_bad, n_grown_bad),
    VALUE_WIDENED(3, media.preload_next, preload_next),
    VALUE(media.preload_left, preload_left),
    NUMBERS(media.spare_lpn, spare_lpn),
    TABLE(media.spare_version, spare_version, N_RAW_UNITS),
    TABLE(media.spare_stream, spare_stream, N_RAW_UNITS),
    TABLE(media.spare_seq, spare_seq, N_PAGES),
    VALUE(media.prog_seq, prog_seq),
    TABLE(media.valid, valid, N_VALID_WORDS),
    TABLE(media.block, block, N_BLOCKS),
    KEPT(media.plane, plane), /* has rows of its own */
    KEPT(media.plain_valid, plain_valid),
    KEPT(media.stripe_plane, stripe_plane),
    KEPT(media.stripe_pos, stripe_pos),
    POOL_WAS(3, media.job, job, N_JOBS, &job_was),
    POOL_WIDENED(3, media.job_unit, job_unit, N_JOB_UNITS),
    VALUE(media.n_jobs, n_jobs),
    VALUE(media.free_job, free_job),
    KEPT(media.rain.die_at, rain_die_at),
    KEPT(media.rain.die, rain_die),
    TABLE_SINCE(3, media.rain.serial, rain_serial, N_OPENS),
    TABLE_SINCE(3, media.rain.newest, rain_newest, N_OPENS),
    TABLE_SINCE(3, media.rain.mate, rain_mate, N_BLOCKS),
    TABLE_SINCE(3, media.rain.filled, rain_filled, N_BLOCKS),
    TABLE_SINCE(3, media.rain.state, rain_state, N_BLOCKS),
    TABLE_SINCE(3, media.rain.bare, rain_bare, N_PAGE_WORDS),
    TABLE_SINCE(3, media.rain.failures, rain_failures, N_DIES),
    TABLE_SINCE(3, media.rain.lost, rain_lost_die, N_DIES),
    VALUE_SINCE(3, media.rain.n_lost, rain_n_lost),
    VALUE_SINCE(3, media.rain.more_share, rain_more_share),
    VALUE_SINCE(3, media.rain.lost_since_ps, rain_lost_since_ps),
    KEPT(media.rain.instant, rain_instant), /* false, but during a call */
    POOL_SINCE(3, media.rain.rebuild, rebuild, N_REBUILDS),
    VALUE_SINCE(3, media.rain.n_rebuilds, n_rebuilds),
    VALUE_SINCE(3, media.rain.free_rebuild, free_rebuild),
    VALUE_SINCE(3, media.rain.rebuilding, rebuilding),
    KEPT(journal.plane, journal_plane), /* these have rows of their own */
    KEPT(journal.client, meta_client),
    TABLE(journal.floor, floor, N_MAP_UNITS),
    TABLE(journal.saved, saved, N_MAP_UNITS),
    TABLE_WAS(3, journal.saved_page, saved_page, N_SAVED, &saved_page_was),
    TABLE_WAS(3, journal.saved_flight, saved_flight, N_SAVED_FLIGHTS,
              &saved_flight_was),
    TABLE(journal.saved_in_flight, saved_flying, N_SAVED_FLYING),
    TABLE(journal.saved_open, saved_open, N_PLANES),
    VALUE(journal.saved_low, saved_low),
    VALUE(journal.saved_queue, saved_queue),
    POOL(journal.meta_read, meta_read, N_META_READS),
    VALUE(journal.n_meta_reads, n_meta_reads),
    VALUE(journal.free_meta_read, free_meta_read),
    VALUE(journal.meta_version, meta_version),
    {MEMBER(journal.counters, counter_saves), .kind = STATE_VALUE,
     .optional = true, .grown = 4, .was = &counters_was},
    KEPT(placement.plane, placement_plane),
    KEPT(placement.policy, alloc),
    KEPT(placement.placer, placer),
    TABLE(placement.accepting, accepting, N_PLANE_WORDS),
    VALUE(placement.stripe_cursor, stripe_cursor),
    KEPT(placement.row_plane, row_plane),
    KEPT(placement.row_at, row_at),
    KEPT(placement.row_blocked, row_blocked), /* only saves a search */
    KEPT(placement.changes, changes),
    VALUE(placement.alloc_chosen, alloc_chosen),
    VALUE(placement.alloc_waits_for, alloc_waits_for),
    VALUE(placement.channel_token, channel_token),
    TABLE(placement.chip_token, chip_token, N_CHANNELS),
    TABLE(placement.die_token, die_token, N_DIES),
    TABLE(placement.plane_token, plane_token, N_DIES),
    VALUE(placement.rng, alloc_rng),
    TABLE(placement.hot_count, hot_count, N_HOT),
    VALUE(placement.hot_writes, hot_writes),
    KEPT(placement.hot_shift, hot_shift),
    {MEMBER(placement.hot_rate, hot_rate), .kind = STATE_TABLE,
     .elem = sizeof(uint8_t), .count = N_HOT_PIECES, .optional = true},
    KEPT(placement.chooses_stream, chooses_stream),
    VALUE(placement.n_starved, n_starved),
    TABLE(placement.stream, stream, N_STREAMS),
    KEPT(buffer.client, buffer_client),
    KEPT(buffer.policy, buf),
    TABLE_WAS(3, buffer.slot, slot, N_SLOTS, &slot_was),
    KEPT(buffer.n_slot_records, n_slot_records),
    VALUE(buffer.free_slot, free_slot),
    VALUE(buffer.n_free_slots, n_free_slots),
    VALUE(buffer.n_released, n_released),
    VALUE(buffer.n_unsafe, n_unsafe),
    VALUE(buffer.n_dirty, n_dirty),
    VALUE(buffer.n_must, n_must),
    VALUE(buffer.list, list),
    KEPT(buffer.policy_data, policy_data), /* BufferPolicy.state */
    VALUE(buffer.n_evicting, n_evicting),
    VALUE(buffer.n_victims, n_victims),
    VALUE(buffer.n_promised, n_promised),
    VALUE(buffer.early, early),
    VALUE(buffer.last_version, last_version),
    VALUE(buffer.waiting, waiting),
    VALUE(buffer.pump_waits, pump_waits),
    VALUE(buffer.stream_cursor, stream_cursor),
    KEPT(buffer.dirty_streams, dirty_streams), /* follows from the streams */
    VALUE(buffer.stall_ps, stall_ps),
    VALUE(buffer.stalled_since_ps, stalled_since_ps),
    VALUE(buffer.redo, redo),
    POOL(buffer.waiter, waiter, N_WAITERS),
    VALUE(buffer.n_waiters, n_waiters),
    VALUE(buffer.free_waiter, free_waiter),
    POOL(buffer.epoch, epoch, N_EPOCHS),
    VALUE(buffer.epoch_mask, epoch_mask),
    VALUE(buffer.first_epoch, first_epoch),
    VALUE(buffer.cur_epoch, cur_epoch),
    VALUE(buffer.tick_armed, tick_armed),
    TABLE_SINCE(3, buffer.row_wait, buffer_row_wait, N_ROW_STREAMS),
    POOL_WAS(3, buffer.kept, kept, N_KEPT, &slot_was),
    VALUE(buffer.n_kept, n_kept),
    VALUE(buffer.stats, buffer_stats),
    KEPT(map.policy, mapper),
    TABLE(map.trim_left, trim_left, N_GROUP_WORDS),
    VALUE(map.n_trim_left, n_trim_left),
    VALUE(map.trims, trims),
    KEPT(map.reset_of, reset_of), /* no command waits, at rest */
    KEPT(map.resets, resets),
    KEPT(map.policy_data, map_data), /* MapPolicy.state */
    KEPT(map.policy_bytes, map_bytes),
    TABLE(map.data_block, data_block, N_LOGICAL_BLOCKS),
    TABLE(map.log_of, log_of, N_LOGICAL_BLOCKS),
    TABLE(map.log_block, log_block, N_LOG_BLOCKS),
    KEPT(map.plane, map_plane),
    KEPT(map.origins, map_origins), /* MapPlane.origin */
    VALUE(map.merge_stats, merge_stats),
    KEPT(gc.policy, gc),
    KEPT(gc.plane, gc_plane),
    KEPT(gc.off, gc_off),
    KEPT(gc.age_trees, age_trees), /* derived again, and so are the next five */
    KEPT(gc.stripe_means, stripe_means),
    KEPT(gc.slot_client, slot_client),
    KEPT(gc.wear, wear),
    KEPT(gc.wear_order, wear_order),
    KEPT(gc.wear_size, wear_size),
    VALUE(gc.rng, gc_rng),
    TABLE(gc.mate, mate, N_BLOCKS),
    TABLE(gc.stripe_serial, stripe_serial, N_OPENS),
    TABLE(gc.stripe_block, stripe_block, N_OPENS),
    KEPT(gc.unit_called, unit_called), /* counted again, and so is the next */
    KEPT(gc.held_first, held_first),
    TABLE_SINCE(3, gc.row_wait, gc_row_wait, N_PLANES),
    KEPT(gc.called, gc_called), /* these two are false, but during a call */
    KEPT(gc.alone, gc_alone),
    VALUE_GROWN(3, gc.background, background),
    KEPT(gc.period_armed, gc_period_armed), /* derived from the events */
    TABLE(gc.history, history, N_BLOCKS),
    VALUE(gc.background_stats, background_stats),
    KEPT(gc.purge, gc_purge), /* begins again (ssd_purge()) */
    KEPT(thermal.on, heat_on),
    KEPT(thermal.heats, heats),
    KEPT(thermal.n_states, n_power_states),
    KEPT(thermal.table, power_states),
    KEPT(thermal.step_ps, heat_step_ps),
    KEPT(thermal.decay, heat_decay),
    KEPT(thermal.mk_per_w, mk_per_w),
    VALUE_SINCE_WAS(3, 4, thermal.heat, heat, &heat_was),
    KEPT(host.gate, gate),
    VALUE(host.done, done),
    KEPT(host.ahead.n_streams, ahead_streams),
    TABLE_SINCE(3, host.ahead.stream, ahead_stream, N_AHEAD_STREAMS),
    TABLE_SINCE(3, host.ahead.unit, ahead_unit, N_AHEAD_UNITS),
    POOL_SINCE(3, host.ahead.waiter, ahead_waiter, N_AHEAD_WAITERS),
    VALUE_SINCE(3, host.ahead.n_waiters, n_ahead_waiters),
    VALUE_SINCE(3, host.ahead.free_waiter, free_ahead_waiter),
    VALUE_SINCE_WIDENED(3, 4, host.room_busy_ps, room_busy_ps),
    VALUE_SINCE_WIDENED(3, 4, host.room_wait_ps, room_wait_ps),
    VALUE_SINCE(3, host.room_since_ps, room_since_ps),
    VALUE_SINCE(3, host.gate_ps, gate_ps),
    POOL_WIDENED(3, power.candidate, doubt, N_CANDIDATES),
    VALUE_GROWN(3, power.recovery, recovery),
    TABLE(power.recovery_plane, recovery_plane, N_PLANES),
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
        &state_plane_v1,
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
        "ftl.flush_pad",
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

static bool same_option(State *s, const SsdConfig *cfg, const char *line)
{
    g_auto(GStrv) part = g_strsplit(line, "=", 2);
    g_autofree char *now = part[0] ? ssd_config_get(cfg, part[0]) : NULL;

    if (!now || !part[1]) {
        return state_fail(s, "it is damaged, or of another version of vssd");
    }
    if (strcmp(now, part[1]) != 0 && !may_differ(part[0])) {
        return state_fail(s, "it was saved with %s, this drive has %s=%s: "
                          "%.40s must be the same",
                          line, part[0], now, part[0]);
    }
    return true;
}

/* An option that came after the stream was written: it was then as the default is,
 * and must be so now. */
static bool new_option(State *s, const SsdConfig *defaults, char **saved,
                       const char *line)
{
    g_auto(GStrv) part = g_strsplit(line, "=", 2);
    g_autofree char *start = g_strconcat(part[0], "=", NULL);
    g_autofree char *value = NULL;

    for (char **l = saved; *l; l++) {
        if (g_str_has_prefix(*l, start)) {
            return true;
        }
    }
    if (s->version == s->newest) {
        return state_fail(s,
                          "it does not say %.40s: it is damaged, or of a "
                          "version of vssd in development",
                          part[0]);
    }
    value = ssd_config_get(defaults, part[0]);
    if (!value || strcmp(value, part[1]) == 0 || may_differ(part[0])) {
        return true;
    }
    return state_fail(s, "it was saved before there was %.40s, this drive has "
                      "%.80s: %.40s=%.40s in the saved state",
                      part[0], line, part[0], value);
}

/* Every option, as text; and the size of logical blocks. */
static bool walk_config(State *s, const SsdConfig *cfg, bool *outside)
{
    g_autoptr(GString) own = g_string_new(NULL);
    g_autofree char *text = NULL;
    g_auto(GStrv) line = NULL;
    uint64_t block_bytes = cfg->block_bytes;

    ssd_config_print(cfg, own);
    text = s->loading ? NULL : g_strdup(own->str);
    if (!state_text(s, &text, MOST_TEXT) || !state_u64(s, &block_bytes)) {
        return false;
    }
    *outside = strstr(text, "=so:") || strstr(text, "=call:");
    if (block_bytes != cfg->block_bytes) {
        return state_fail(s, "it was saved with logical blocks of %" PRIu64
                          " bytes, this drive has %u",
                          block_bytes, cfg->block_bytes);
    }
    if (strcmp(text, own->str) == 0) {
        return true;
    }
    line = g_strsplit(text, "\n", -1);
    for (char **l = line; *l; l++) {
        if (**l && !same_option(s, cfg, *l)) {
            return false;
        }
    }
    if (s->loading) {
        SsdConfig *defaults = ssd_config_new();
        g_auto(GStrv) mine = g_strsplit(own->str, "\n", -1);

        for (char **l = mine; *l && !s->error; l++) {
            if (**l) {
                new_option(s, defaults, line, *l);
            }
        }
        ssd_config_free(defaults);
    }
    return !s->error;
}

/* outside: does the stream have policies from outside? */
static bool walk_head(State *s, const SsdConfig *cfg, bool *outside)
{
    char magic[8];
    uint64_t order = BYTE_ORDER_MARK;

    memcpy(magic, MAGIC, sizeof(magic));
    if (!state_bytes(s, magic, sizeof(magic)) || !state_u64(s, &order)) {
        return false;
    }
    if (memcmp(magic, OLD_MAGIC, sizeof(magic)) == 0) {
        return state_fail(s, "it was saved before states had versions; such "
                          "files cannot be loaded any more");
    }
    if (memcmp(magic, MAGIC, sizeof(magic)) != 0) {
        return state_fail(s, "it is no saved drive (vssd-sim run --save-state "
                             "and vssd age make one)");
    }
    if (order != BYTE_ORDER_MARK) {
        return state_fail(s, "it was saved on a machine of other byte order");
    }
    return state_version(s) && walk_config(s, cfg, outside);
}

/* ---- iteration ---------------------------------------------------------- */

/* Before version 3 an event's kind had 4 bits. */
static void widen_kinds(EventQueue *q)
{
    for (size_t i = 0; i < q->n; i++) {
        uint32_t what = q->heap[i].what;

        q->heap[i].what = what >> 4 << EVENT_KIND_BITS | (what & 15);
    }
}

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
    if (s->loading && s->version < 3) {
        widen_kinds(q);
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
    n[N_REBUILDS] = ssd->media->rain.n_rebuilds;
    n[N_BLOCKS] = g->n_blocks;
    n[N_HOT] = ssd->l.n_hot;
    n[N_HOT_PIECES] = HOT_PIECES;
    n[N_LOGICAL_BLOCKS] = (uint64_t)ssd->l.n_planes * ssd->l.logical_blocks;
    n[N_LOG_BLOCKS] = (uint64_t)ssd->l.n_planes * ssd->l.log_blocks;
    n[N_PLANES] = ssd->l.n_planes;
    n[N_PLANE_WORDS] = bitmap_words(ssd->l.n_planes);
    n[N_OPENS] = (uint64_t)ssd->l.n_planes * ssd->l.n_open;
    n[N_CHANNELS] = g->n_channels;
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
    bool outside = false;

    if (!s->loading && ssd->thermal->on) {
        thermal_steps(ssd); /* those that are over go by the present options */
    }
    if (!walk_head(s, ssd->cfg, &outside) || !walk_versions(s, ssd) ||
        !state_values(s, &ssd_struct, ssd) || !state_u64(s, &busy)) {
        return false;
    }
    count(ssd, busy, counts);
    if (!state_tables(s, &ssd_struct, ssd, counts) || !state_planes(ssd, s) ||
        !walk_policy(s, ssd) ||
        (ssd->map->policy->state && !ssd->map->policy->state(ssd, s)) ||
        !outside_state(ssd, s, outside) || !walk_events(s, &ssd->events) ||
        !walk_faults(s, ssd, &same_faults) || !nand_state(ssd->nand, s)) {
        return false;
    }
    if (s->loading) {
        thermal_loaded(ssd, s->version >= 3);
        block_loaded(ssd, s->version < 3);
        plain_loaded(ssd);
        gc_forget(ssd);
        queue_note_slots(ssd);
        unit_count(ssd);
    }
    if (s->loading && s->version < 4) {
        numbers_loaded_v3(ssd);
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
                            ssd->media->given_up
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
