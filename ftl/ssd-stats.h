/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ssd-stats.h - the statistics of the drive, one row each, in the order of the
 * JSON text; see core/stats.h.
 *
 * C(id, path, unit, help)
 *     A counter that this row makes: Inspect.count.id, from 0, reset with the
 *     others and saved with the drive.  path is NULL for one that other rows
 *     use, and that is not shown.
 * T(id, path, help)
 *     The same of a sum of durations, in ns: a TimeSum.
 * P(id, path, unit, when, place, help)
 *     A counter at a place of its component, which saves it (ftl/state/); reset
 *     with the others.
 * V(type, id, path, unit, reset, when, value, help)
 *     A value of a DriveStats *v (inspect/inspect.h).
 *
 * To add a counter, add a C row and count: ssd->inspect.count.id++.
 */
#ifndef VSSD_SSD_STATS_H
#define VSSD_SSD_STATS_H

#define SSD_STATS(C, T, P, V)                                                  \
    P(host_bytes_read, "host_bytes_read", "bytes", NULL,                       \
      &v->ssd->inspect.counters.host_bytes_read,                               \
      "data of accepted reads, in whole logical blocks")                       \
    P(host_bytes_written, "host_bytes_written", "bytes", NULL,                 \
      &v->ssd->inspect.counters.host_bytes_written,                            \
      "data of accepted writes, in whole logical blocks")                      \
    V(DOUBLE, waf, "waf", "ratio", PER_BYTE, NULL, v->c.waf,                   \
      "bytes programmed into NAND per byte written by the host; 0 before the " \
      "first write")                                                           \
    V(DOUBLE, waf_by_cause, "waf_by_cause.<cause>", "ratio", PER_BYTE, NULL,   \
      waf_of(v, at[0]), "its part of that cause; the parts add up to `waf`")   \
    V(U64, reads, "nand.reads", "pages", RESET, NULL, v->c.nand_reads,         \
      "reads of the array")                                                    \
    V(U64, programs, "nand.programs", "pages", RESET, NULL,                    \
      v->c.nand_programs, "programs of the array")                             \
    V(U64, erases, "nand.erases", "blocks", RESET, NULL, v->c.nand_erases,     \
      "erases of the array")                                                   \
    V(U64, cause_reads, "nand.by_cause.<cause>.reads", "pages", RESET, NULL,   \
      ops_of(v->ssd, NAND_READ, at[0]),                                        \
      "those of that cause; reads that complete a partly written unit are "    \
      "the host's")                                                            \
    V(U64, cause_programs, "nand.by_cause.<cause>.programs", "pages", RESET,   \
      NULL, ops_of(v->ssd, NAND_PROGRAM, at[0]), "those of that cause")        \
    V(U64, cause_erases, "nand.by_cause.<cause>.erases", "blocks", RESET,      \
      NULL, ops_of(v->ssd, NAND_ERASE, at[0]), "those of that cause")          \
    V(U64, joined_reads, "nand.multi_plane.reads", "pages", RESET, NULL,       \
      joined_of(v->ssd, NAND_READ),                                            \
      "those of `nand.reads` in multi-plane commands (option "                 \
      "`nand.multi_plane`)")                                                   \
    V(U64, joined_programs, "nand.multi_plane.programs", "pages", RESET, NULL, \
      joined_of(v->ssd, NAND_PROGRAM),                                         \
      "those of `nand.programs` in multi-plane commands")                      \
    V(U64, joined_erases, "nand.multi_plane.erases", "blocks", RESET, NULL,    \
      joined_of(v->ssd, NAND_ERASE),                                           \
      "those of `nand.erases` in multi-plane commands")                        \
    C(register_hits, "nand.register_hits", "pages",                            \
      "reads of a page that was in the register of its plane "                 \
      "(`nand.register_hits`)")                                                \
    V(U64, max_erase_count, "nand.max_erase_count", "erases", LIFE, NULL,      \
      v->c.max_erase_count, "of the most worn block")                          \
    V(DOUBLE, mean_erase_count, "nand.mean_erase_count", "erases", LIFE, NULL, \
      v->c.mean_erase_count, "mean of all blocks")                             \
    V(U64, percent_used, "nand.percent_used", "%", LIFE, NULL,                 \
      v->c.percent_used,                                                       \
      "mean erases of the blocks but `nand.slc_blocks`, with "                 \
      "`media.start_cycles`, relative to `media.rated_cycles`; erases in SLC " \
      "mode count `media.rated_cycles` / `media.slc_rated_cycles`. Of "        \
      "`nand.slc_blocks`, relative to that, if it is more")                    \
    V(U64, slc_programs, "nand.slc_programs", "pages", RESET, NULL,            \
      nand_stats(v->ssd->nand)->slc_programs -                                 \
          v->ssd->inspect.nand_base.slc_programs,                              \
      "those of `nand.programs` to blocks in SLC mode")                        \
    V(U64, slc_erases, "nand.slc_erases", "blocks", RESET, NULL,               \
      nand_stats(v->ssd->nand)->slc_erases -                                   \
          v->ssd->inspect.nand_base.slc_erases,                                \
      "those of `nand.erases` of blocks in SLC mode")                          \
    V(U64, wear_min, "nand.erase_counts.min", "erases", LIFE, NULL,            \
      wear_at(v, 0, 1),                                                        \
      "distribution of the erase counts of blocks that are not bad: the "      \
      "least")                                                                 \
    V(U64, wear_p10, "nand.erase_counts.p10", "erases", LIFE, NULL,            \
      wear_at(v, 1, 10), "10 % of these blocks have at most this many")        \
    V(U64, wear_p50, "nand.erase_counts.p50", "erases", LIFE, NULL,            \
      wear_at(v, 1, 2), "the median")                                          \
    V(U64, wear_p90, "nand.erase_counts.p90", "erases", LIFE, NULL,            \
      wear_at(v, 9, 10), "90 % of these blocks have at most this many")        \
    V(U64, wear_max, "nand.erase_counts.max", "erases", LIFE, NULL,            \
      wear_at(v, 1, 1), "the most")                                            \
    V(DOUBLE, wear_stddev, "nand.erase_counts.stddev", "erases", LIFE, NULL,   \
      numbers_deviation(v->wear, v->n_wear), "the standard deviation")         \
    V(DOUBLE, bus_utilization, "nand.bus_utilization", "ratio", RESET, NULL,   \
      v->bus, "mean share of the time in which channels were busy")            \
    V(DOUBLE, die_utilization, "nand.die_utilization", "ratio", RESET, NULL,   \
      v->die, "mean share of the time in which dies were busy")                \
    V(TIME, busy_channel, "nand.busy_ns.channel[channel]", "ns", RESET, NULL,  \
      v->busy.channel[at[0]] / PS_PER_NS, "busy time: transfers")              \
    V(TIME, busy_die, "nand.busy_ns.die[die]", "ns", RESET, NULL,              \
      v->busy.die[at[0]] / PS_PER_NS,                                          \
      "busy time: operations on any part of the die")                          \
    V(TIME, busy_plane, "nand.busy_ns.plane[plane]", "ns", RESET, NULL,        \
      v->busy.plane[at[0]] / PS_PER_NS, "busy time of the plane's array")      \
    V(TIME, die_idle, "nand.die_idle_ns[die]", "ns", RESET, NULL,              \
      v->elapsed_ns - v->busy.die[at[0]] / PS_PER_NS,                          \
      "idle time; with `nand.busy_ns.die[die]` it adds up to "                 \
      "`nand.elapsed_ns`")                                                     \
    V(U64, elapsed, "nand.elapsed_ns", "ns", RESET, NULL, v->elapsed_ns,       \
      "time since the last reset")                                             \
    V(TIME, time_ns, "nand.time_ns.<cause>.<phase>", "ns", RESET, NULL,        \
      time_of(v->ssd, at[0], at[1]) / PS_PER_NS,                               \
      "time of ended operations of that cause. With no operation in flight, "  \
      "the sum of `bus` over all causes is the busy time of all channels, "    \
      "and that of `cell` is the busy time of all planes and tDBSY")           \
    V(DOUBLE, energy_by_cause, "nand.energy_nj.by_cause.<cause>", "nJ", RESET, \
      NULL, accounts_total(&v->energy[at[0]]),                                 \
      "energy of the operations of that cause; 0 if the profile gives no "     \
      "`nand.energy_...`")                                                     \
    V(DOUBLE, energy_read, "nand.energy_nj.read", "nJ", RESET, NULL,           \
      v->energy_sum.read, "pages read times `nand.energy_read`")               \
    V(DOUBLE, energy_program, "nand.energy_nj.program", "nJ", RESET, NULL,     \
      v->energy_sum.program, "pages programmed times `nand.energy_program`")   \
    V(DOUBLE, energy_erase, "nand.energy_nj.erase", "nJ", RESET, NULL,         \
      v->energy_sum.erase, "blocks erased times `nand.energy_erase`")          \
    V(DOUBLE, energy_bus, "nand.energy_nj.bus", "nJ", RESET, NULL,             \
      v->energy_sum.bus, "bytes over the channels times `nand.energy_bus`")    \
    V(DOUBLE, energy_total, "nand.energy_nj.total", "nJ", RESET, NULL,         \
      accounts_total(&v->energy_sum), "sum of these four")                     \
    V(DOUBLE, mean_w, "power.mean_w", "W", RESET, &when_power, mean_w(v),      \
      "mean power of array, controller and DRAM")                              \
    V(DOUBLE, peak_w, "power.peak_w", "W", PEAK, &when_power,                  \
      (double)v->heat->peak_mw / 1000,                                         \
      "largest mean power of a step of the model, at most 100 ms")             \
    V(DOUBLE, controller_nj, "power.energy_nj.controller", "nJ", RESET,        \
      &when_power, v->controller_nj,                                           \
      "of `power.active`, `power.idle` and the power states")                  \
    V(DOUBLE, nand_nj, "power.energy_nj.nand", "nJ", RESET, &when_power,       \
      v->nand_nj, "`nand.energy_nj.total`")                                    \
    V(DOUBLE, nj_per_byte, "power.nj_per_host_byte", "nJ/byte", RESET,         \
      &when_power, nj_per_byte(v),                                             \
      "both, per byte that the host read or wrote; 0 without any")             \
    V(U64, power_state, "power.state", "", NOW, &when_power, v->heat->state,   \
      "power state")                                                           \
    V(TIME, state_ns, "power.state_ns[state]", "ns", RESET, &when_power,       \
      v->heat->sums.state_ps[at[0]] / PS_PER_NS, "time in it")                 \
    V(U64, n_wakes, "power.wake_ups", "", RESET, &when_power,                  \
      v->heat->sums.n_wakes, "commands that ended an idle power state")        \
    V(TIME, wake_ns, "power.wake_ns", "ns", RESET, &when_power,                \
      v->heat->sums.wake_ps / PS_PER_NS,                                       \
      "time that they waited for that, in all")                                \
    V(DOUBLE, celsius, "thermal.celsius", "C", NOW, &when_heat,                \
      thermal_celsius(v->ssd, v->heat->rise_nk), "composite temperature")      \
    V(DOUBLE, most_celsius, "thermal.max_celsius", "C", LIFE, &when_heat,      \
      thermal_celsius(v->ssd, v->heat->most_rise_nk), "the most")              \
    V(TIME, warning_ns, "thermal.warning_ns", "ns", RESET, &when_heat,         \
      v->heat->sums.warning_ps / PS_PER_NS,                                    \
      "time at `thermal.warning` or above")                                    \
    V(TIME, critical_ns, "thermal.critical_ns", "ns", RESET, &when_heat,       \
      v->heat->sums.critical_ps / PS_PER_NS,                                   \
      "time at `thermal.critical` or above")                                   \
    V(TIME, throttle1_ns, "thermal.throttle_1_ns", "ns", RESET, &when_heat,    \
      v->heat->sums.throttled_ps[0] / PS_PER_NS,                               \
      "time in the first step of throttling")                                  \
    V(TIME, throttle2_ns, "thermal.throttle_2_ns", "ns", RESET, &when_heat,    \
      v->heat->sums.throttled_ps[1] / PS_PER_NS, "time in the second step")    \
    V(U64, throttled1, "thermal.throttle_1_entries", "", RESET, &when_heat,    \
      v->heat->sums.n_throttled[0],                                            \
      "how often the first step began from none")                              \
    V(U64, throttled2, "thermal.throttle_2_entries", "", RESET, &when_heat,    \
      v->heat->sums.n_throttled[1], "how often the second step began")         \
    V(STRING, bound_by, "explain.bound_by", "", RESET, NULL,                   \
      v->explain.bound_by,                                                     \
      "the bottleneck of the drive: the stage that is busy for 75 % of "       \
      "the time or more, and more than the others; else `one_die` or "         \
      "`one_channel` that is busy for 90 % or more; else `buffer`, if "        \
      "commands wait for room in it; else `latency`: too few commands are "    \
      "in flight")                                                             \
    V(DOUBLE, in_flight, "explain.commands_in_flight", "commands", RESET,      \
      NULL, v->explain.in_flight, "mean number of commands in the drive")      \
    V(U64, stage_servers, "explain.stages.<stage>.servers", "", FIXED, NULL,   \
      v->explain.stage[at[0]].servers,                                         \
      "how many work side by side; 0: the stage takes no time, or has no "     \
      "limit")                                                                 \
    V(DOUBLE, stage_busy, "explain.stages.<stage>.utilization", "ratio",       \
      RESET, NULL, v->explain.stage[at[0]].utilization,                        \
      "mean share of the time in which they were busy; of the buffer, in "     \
      "which a command waited for room")                                       \
    V(DOUBLE, stage_most, "explain.stages.<stage>.busiest", "ratio", RESET,    \
      NULL, v->explain.stage[at[0]].busiest,                                   \
      "that of the busiest channel or die; of other stages the mean")          \
    V(DOUBLE, stage_wait, "explain.stages.<stage>.queueing_ns", "ns", RESET,   \
      NULL, v->explain.stage[at[0]].wait_ns,                                   \
      "mean time that a command waited for the stage. Of channels and dies, "  \
      "as in the command's latency; of ECC, of all pages read per command")    \
    V(DOUBLE, work, "explain.work_by_cause.<cause>", "ratio", RESET, NULL,     \
      v->explain.work[at[0]],                                                  \
      "share of the array and bus time of all operations")                     \
    V(DOUBLE, mean_cost, "explain.latency_ns.<cost>", "ns", RESET, NULL,       \
      v->explain.cost_ns[at[0]],                                               \
      "mean part of the latency of a command; they add up to the mean")        \
    V(U64, slc_size, "slc.size_bytes", "bytes", NOW, &when_slc, v->slc.size,   \
      "capacity of the SLC cache, which depends on how full the drive is")     \
    V(U64, slc_used, "slc.used_bytes", "bytes", NOW, &when_slc, v->slc.used,   \
      "size of its blocks that are not free")                                  \
    V(U64, slc_left, "slc.free_bytes", "bytes", NOW, &when_slc, v->slc.left,   \
      "size of the blocks that the host can still open in SLC mode")           \
    C(slc_host_units, "slc.host_units", "units",                               \
      "units of the host programmed into the SLC cache")                       \
    C(slc_direct_units, "slc.direct_units", "units",                           \
      "units of the host programmed beside it, of a drive that has one")       \
    C(slc_folded_units, "slc.folded_units", "units",                           \
      "valid units moved out of it")                                           \
    C(slc_folds_demand, "slc.folds.demand", "blocks",                          \
      "its blocks that were emptied for room, in the cache or for GC")         \
    C(slc_folds_idle, "slc.folds.idle", "blocks",                              \
      "its blocks that were emptied in idle time (`ftl.slc_fold_delay`)")      \
    V(U64, read_retries, "media.read_retries", "reads", RESET, NULL,           \
      v->c.read_retries, "read retries, of any cause")                         \
    V(U64, uncorrectable_reads, "media.uncorrectable_reads", "pages", RESET,   \
      NULL, v->c.uncorrectable_reads,                                          \
      "page reads that failed in the end, of any cause")                       \
    V(U64, reads_by_retries, "media.reads_by_retries[retries]", "reads",       \
      RESET, NULL, retried_of(v->ssd, at[0]),                                  \
      "reads with that many retries, soft reads included")                     \
    V(U64, soft_decodes, "media.soft_decodes", "reads", RESET, NULL,           \
      nand_stats(v->ssd->nand)->soft_decodes -                                 \
          v->ssd->inspect.nand_base.soft_decodes,                              \
      "reads that needed soft decoding (`media.soft_reads`)")                  \
    V(U64, level_hits, "media.level_hits", "reads", RESET, NULL,               \
      nand_stats(v->ssd->nand)->level_hits -                                   \
          v->ssd->inspect.nand_base.level_hits,                                \
      "reads that began at a recorded level other than 0 "                     \
      "(`media.retry_memory`) and needed no retry")                            \
    V(U64, level_misses, "media.level_misses", "reads", RESET, NULL,           \
      nand_stats(v->ssd->nand)->level_misses -                                 \
          v->ssd->inspect.nand_base.level_misses,                              \
      "those that did")                                                        \
    V(U64, lost_pages, "media.lost_pages", "pages", RESET, NULL,               \
      nand_stats(v->ssd->nand)->lost_pages -                                   \
          v->ssd->inspect.nand_base.lost_pages,                                \
      "pages that a torn program of their word line destroyed in a power cut " \
      "(`media.paired_pages=on`)")                                             \
    V(U64, backups, "media.backups", "pages", RESET, NULL,                     \
      nand_stats(v->ssd->nand)->backups - v->ssd->inspect.nand_base.backups,   \
      "pages copied before a program of their word line "                      \
      "(`media.paired_pages=backup`)")                                         \
    V(U64, program_failures, "media.program_failures", "programs", RESET,      \
      NULL, v->c.program_failures, "programs of the array that failed")        \
    V(U64, erase_failures, "media.erase_failures", "erases", RESET, NULL,      \
      v->c.erase_failures, "erases of the array that failed")                  \
    V(U64, factory_bad_blocks, "media.factory_bad_blocks", "blocks", LIFE,     \
      NULL, v->c.factory_bad_blocks, "bad blocks from the factory")            \
    V(U64, grown_bad_blocks, "media.grown_bad_blocks", "blocks", LIFE, NULL,   \
      v->c.grown_bad_blocks, "bad blocks that were retired later")             \
    V(U64, spare_percent, "media.spare_percent", "%", NOW, NULL,               \
      v->c.spare_percent,                                                      \
      "share left of the blocks that the worst plane can lose before the "     \
      "drive is read-only")                                                    \
    V(BOOL, read_only, "media.read_only", "", NOW, NULL, v->c.read_only,       \
      "the drive refuses writes ([reliability.md](reliability.md))")           \
    C(rows_host_filled, "rows.host.filled", "rows",                            \
      "rows of the host that were programmed at once "                         \
      "(`superblock.row`)")                                                    \
    C(rows_host_short, "rows.host.short", "rows",                              \
      "those of which only a part was: after a wait, for a flush or "          \
      "eviction, "                                                             \
      "or because a plane was busy or behind")                                 \
    C(rows_host_padded, "rows.host.padded_pages", "pages",                     \
      "pages without data in them (`superblock.padding`); their units are in " \
      "`buffer.padded_units`, too")                                            \
    C(rows_host_timeouts, "rows.host.timeouts", "waits",                       \
      "ends of `superblock.row_wait`")                                         \
    T(rows_host_wait_ns, "rows.host.wait_ns",                                  \
      "sum over rows of the time from their first unit, or the "               \
      "stream's last program, to their program")                               \
    C(rows_gc_filled, "rows.gc.filled", "rows", "the same of GC")              \
    C(rows_gc_short, "rows.gc.short", "rows", "the same of GC")                \
    C(rows_gc_timeouts, "rows.gc.timeouts", "waits", "the same of GC")         \
    T(rows_gc_wait_ns, "rows.gc.wait_ns",                                      \
      "sum of the time in which a plane had a page of copies and waited for "  \
      "those of the other planes")                                             \
    C(parity_pages, "parity.pages", "pages",                                   \
      "programs of parity (`superblock.parity`), which count as the host's "   \
      "or GC's, as their stripes")                                             \
    C(parity_short, "parity.short_stripes", "stripes",                         \
      "parity programmed before all pages of the stripe were")                 \
    C(parity_late_pages, "parity.late_pages", "pages",                         \
      "pages programmed after the parity of their stripe, and without cover")  \
    C(parity_early_erases, "parity.early_erases", "blocks",                    \
      "blocks erased while others of their superblock held data")              \
    V(U64, parity_unprotected, "parity.unprotected_units", "units", NOW, NULL, \
      parity_unprotected_units(v->ssd),                                        \
      "valid units in superblocks that have lost a block so")                  \
    V(U64, parity_open, "parity.open_stripes", "stripes", NOW, NULL,           \
      parity_open_stripes(v->ssd),                                             \
      "stripes whose parity is in the controller's memory")                    \
    C(parity_rebuild_reads, "parity.rebuild_reads", "pages",                   \
      "reads of the rest of a stripe; of the cause of the read that failed")   \
    C(parity_rebuilt, "parity.rebuilt_reads", "reads",                         \
      "reads that failed, and whose data was rebuilt")                         \
    C(parity_lost, "parity.lost_reads", "reads",                               \
      "reads that failed, and whose data could not be rebuilt")                \
    V(U64, parity_lost_dies, "parity.lost_dies", "dies", NOW, NULL,            \
      v->ssd->media->lost_dies.n, "dies that have failed")                     \
    T(parity_die_ns, "parity.die_rebuild_ns",                                  \
      "time from the loss of a die until its data is in others, summed over "  \
      "dies")                                                                  \
    C(gc_victims, "gc.victims", "blocks",                                      \
      "victims of GC, and of bad-block handling")                              \
    C(gc_copied_units, "gc.copied_units", "units",                             \
      "units copied for any cause, metadata and merges included")              \
    C(gc_superblocks, "gc.superblocks", "superblocks",                         \
      "superblocks chosen as victims (`superblock.width`)")                    \
    C(gc_superblock_blocks, "gc.superblock_blocks", "blocks",                  \
      "blocks in these")                                                       \
    V(U64, free_blocks, "gc.free_blocks", "blocks", NOW, NULL,                 \
      numbers_free_blocks(v->ssd), "free blocks of all planes")                \
    V(U64, mapped_units, "gc.mapped_units", "units", NOW, NULL,                \
      v->ssd->l2p.mapped_units, "units with data")                             \
    C(gc_victim_units, NULL, "units", "units of victims")                      \
    C(gc_victim_valid, NULL, "units", "of them, valid when chosen")            \
    V(DOUBLE, victim_valid_mean, "gc.victim_valid_mean", "ratio", RESET, NULL, \
      numbers_victim_mean(v->ssd),                                             \
      "mean share of valid units in a victim when it was chosen; a good "      \
      "policy keeps it low")                                                   \
    V(U64, full_blocks_by_valid, "gc.full_blocks_by_valid[tenth]", "blocks",   \
      NOW, NULL, v->full_by_valid[at[0]],                                      \
      "full blocks (log-block map: blocks in use) by their share of valid "    \
      "units")                                                                 \
    V(U64, free_blocks_at, "gc.free_blocks_over_time[sample][0]", "ns",        \
      COURSE, NULL, v->ssd->inspect.series.point[at[0]].at_ns,                 \
      "time since the last reset. A sample is taken when the number changes, " \
      "at most once per millisecond. When 128 are full, every other one is "   \
      "dropped and the minimum interval doubles")                              \
    V(U64, free_blocks_then, "gc.free_blocks_over_time[sample][1]", "blocks",  \
      COURSE, NULL, v->ssd->inspect.series.point[at[0]].value[0],              \
      "free blocks at that time")                                              \
    P(merges, "merges.<merge>.merges", "blocks", NULL,                         \
      &v->ssd->map->merge_stats.merges[at[0]],                                 \
      "merges of logical blocks by a log-block map; else 0 "                   \
      "([mapping.md](mapping.md))")                                            \
    P(merge_pages, "merges.<merge>.copied_pages", "pages", NULL,               \
      &v->ssd->map->merge_stats.copied_pages[at[0]],                           \
      "programs of pages with data")                                           \
    P(merge_units, "merges.<merge>.copied_units", "units", NULL,               \
      &v->ssd->map->merge_stats.copied_units[at[0]],                           \
      "units of these pages that were still valid at the end")                 \
    P(merge_padded, "merges.padded_pages", "pages", NULL,                      \
      &v->ssd->map->merge_stats.padded_pages,                                  \
      "pages that merges programmed without data, to reach the next one")      \
    P(logs_emptied, "merges.random_logs_emptied", "blocks", NULL,              \
      &v->ssd->map->merge_stats.emptied, "random log blocks emptied")          \
    P(logs_opened, "merges.logs_opened", "blocks", NULL,                       \
      &v->ssd->map->merge_stats.logs, "log blocks opened")                     \
    V(U64, logs_in_use, "merges.logs_in_use", "blocks", NOW, NULL,             \
      merge_logs_in_use(v->ssd), "log blocks with data in all planes")         \
    V(U64, log_blocks, "merges.log_blocks", "blocks", FIXED, NULL,             \
      (uint64_t)v->ssd->l.log_blocks * v->ssd->l.n_planes,                     \
      "the maximum of `merges.logs_in_use`")                                   \
    P(soft_victims, "background.soft_victims", "blocks", NULL,                 \
      &v->ssd->gc->background_stats.soft_victims, "victims of background GC")  \
    P(wear_victims, "background.wear_victims", "blocks", NULL,                 \
      &v->ssd->gc->background_stats.wear_victims,                              \
      "victims of wear levelling ([wear.md](wear.md))")                        \
    P(refresh_victims, "background.refresh_victims", "blocks", NULL,           \
      &v->ssd->gc->background_stats.refresh_victims, "victims of refresh")     \
    C(reclaim_victims, "background.reclaim_victims", "blocks",                 \
      "of these, because of a read with many retries (`ftl.read_reclaim`)")    \
    P(yields, "background.yields", "", NULL,                                   \
      &v->ssd->gc->background_stats.yields,                                    \
      "times that GC waited for reads of the host (`ftl.gc_preempt`)")         \
    C(windows, "background.windows", "",                                       \
      "deterministic windows that began (`latency.window`)")                   \
    C(windows_ended, "background.windows_ended", "",                           \
      "those that the drive ended by itself, for want of room or for work "    \
      "that could not wait")                                                   \
    V(U64, recoveries, "recovery.count", "", LIFE, &when_recovers,             \
      v->ssd->power->recovery.n, "recoveries after a power cut")               \
    V(U64, ready, "recovery.ready_ns", "ns", NOW, &when_recovers,              \
      ssd_recovery_ns(v->ssd),                                                 \
      "time from the last return of power until ready")                        \
    V(U64, max_ready, "recovery.max_ready_ns", "ns", LIFE, &when_recovers,     \
      sim_ceil_ns(v->ssd->power->recovery.most_ready_ps), "the longest one")   \
    V(STRING, step_name, "recovery.steps[step].step", "", FIXED,               \
      &when_recovers, recovery_step_name(v->ssd, at[0]), "name of the step")   \
    V(U64, step_ns, "recovery.steps[step].ns", "ns", NOW, &when_recovers,      \
      sim_ceil_ns(v->ssd->power->recovery.times.step_ps[at[0]]),               \
      "its time in the last recovery")                                         \
    V(U64, step_reads, "recovery.steps[step].reads", "pages", NOW,             \
      &when_recovers, v->ssd->power->recovery.times.step_reads[at[0]],         \
      "its reads of NAND pages")                                               \
    V(U64, recovery_cpu, "recovery.cpu_ns", "ns", NOW, &when_recovers,         \
      v->ssd->power->recovery.cpu_ps / PS_PER_NS,                              \
      "controller time in the last recovery (`ftl.recovery_cpu`)")             \
    V(U64, counters_lost, "counters.lost_bytes_written", "bytes", RESET,       \
      &when_saves_counters, v->ssd->journal->counters.lost.bytes_written,      \
      "bytes of the host that power cuts took from the counters of SMART")     \
    V(U64, counters_lost_ns, "counters.lost_ns", "ns", LIFE,                   \
      &when_saves_counters, ssd_uncounted_ns(v->ssd),                          \
      "time with power that they took")                                        \
    V(STRING, buffer_policy, "buffer.policy", "", FIXED, NULL,                 \
      v->ssd->outside[VSSD_POLICY_BUFFER]->policy->name,                       \
      "option `buffer.policy` of the run")                                     \
    V(U64, hits, "buffer.hits", "units", RESET, NULL, buffer_hits(v->ssd),     \
      "`buffer.read_hits` + `buffer.write_hits`")                              \
    V(U64, misses, "buffer.misses", "units", RESET, NULL,                      \
      buffer_misses(v->ssd), "`buffer.read_misses` + `buffer.write_misses`")   \
    P(read_hits, "buffer.read_hits", "units", NULL,                            \
      &v->ssd->buffer->stats.read_hits, "units read from the buffer")          \
    P(read_misses, "buffer.read_misses", "units", NULL,                        \
      &v->ssd->buffer->stats.read_misses, "units read from NAND")              \
    P(write_hits, "buffer.write_hits", "units", NULL,                          \
      &v->ssd->buffer->stats.write_hits, "units overwritten in the buffer")    \
    P(write_misses, "buffer.write_misses", "units", NULL,                      \
      &v->ssd->buffer->stats.write_misses,                                     \
      "units written without a copy in the buffer")                            \
    P(clean_evictions, "buffer.clean_evictions", "units", NULL,                \
      &v->ssd->buffer->stats.clean_evictions, "clean victims; caches only")    \
    P(dirty_evictions, "buffer.dirty_evictions", "units", NULL,                \
      &v->ssd->buffer->stats.dirty_evictions,                                  \
      "dirty victims, which were programmed first; with `fifo` and `none`, "   \
      "units programmed while a write waited for room")                        \
    P(early_flushes, "buffer.early_flushes", "units", NULL,                    \
      &v->ssd->buffer->stats.early_flushes, "units programmed by early flush") \
    P(rewrites_after_flush, "buffer.rewrites_after_flush", "units", NULL,      \
      &v->ssd->buffer->stats.rewrites_after_flush,                             \
      "early-flushed units that the host wrote again while they were in the "  \
      "buffer")                                                                \
    V(DOUBLE, threshold, "buffer.threshold", "ratio", NOW, NULL,               \
      v->ssd->buffer->early.threshold_ppm / 1e6,                               \
      "threshold of early flush (starts at `buffer.early_threshold`)")         \
    V(U64, buffer_units, "buffer.units", "units", FIXED, NULL,                 \
      v->ssd->l.n_slots, "size of the buffer, in mapping units")               \
    V(U64, units_used, "buffer.units_used", "units", NOW, NULL,                \
      v->ssd->l.n_slots - v->ssd->buffer->n_free_slots, "units in use")        \
    V(U64, units_dirty, "buffer.units_dirty", "units", NOW, NULL,              \
      v->ssd->buffer->n_unsafe, "dirty units")                                 \
    C(padded_units, "buffer.padded_units", "units",                            \
      "units of programmed pages without data")                                \
    V(U64, buffer_at, "buffer.over_time.at_ns[point]", "ns", COURSE, NULL,     \
      v->ssd->inspect.buffer_series.point[at[0]].at_ns,                        \
      "times since the last reset; at most 128, as in "                        \
      "`gc.free_blocks_over_time`: at a command or the end of a page "         \
      "program, at most once per millisecond")                                 \
    V(U64, then_dirty, "buffer.over_time.units_dirty[point]", "units", COURSE, \
      NULL, buffer_then(v, at[0], 0), "`buffer.units_dirty` at that time")     \
    V(DOUBLE, then_threshold, "buffer.over_time.threshold[point]", "ratio",    \
      COURSE, NULL, (double)buffer_then(v, at[0], 1) / 1e6,                    \
      "`buffer.threshold` at that time")                                       \
    V(U64, then_hits, "buffer.over_time.hits[point]", "units", COURSE, NULL,   \
      buffer_then(v, at[0], 2), "`buffer.hits` at that time")                  \
    V(U64, then_misses, "buffer.over_time.misses[point]", "units", COURSE,     \
      NULL, buffer_then(v, at[0], 3), "`buffer.misses` at that time")          \
    V(U64, then_clean, "buffer.over_time.clean_evictions[point]", "units",     \
      COURSE, NULL, buffer_then(v, at[0], 4),                                  \
      "`buffer.clean_evictions` at that time")                                 \
    V(U64, then_evicted, "buffer.over_time.dirty_evictions[point]", "units",   \
      COURSE, NULL, buffer_then(v, at[0], 5),                                  \
      "`buffer.dirty_evictions` at that time")                                 \
    V(U64, then_early, "buffer.over_time.early_flushes[point]", "units",       \
      COURSE, NULL, buffer_then(v, at[0], 6),                                  \
      "`buffer.early_flushes` at that time")                                   \
    V(U64, then_rewrites, "buffer.over_time.rewrites_after_flush[point]",      \
      "units", COURSE, NULL, buffer_then(v, at[0], 7),                         \
      "`buffer.rewrites_after_flush` at that time")                            \
    V(TIME, cores_busy, "controller.cores_busy_ns", "ns", RESET, NULL,         \
      v->use.busy_ps[HOST_CORES] / PS_PER_NS,                                  \
      "time of firmware on all cores (`host.firmware`, `ftl.gc_firmware` and " \
      "the like)")                                                             \
    V(TIME, gc_core_busy, "controller.gc_busy_ns", "ns", RESET, NULL,          \
      v->use.gc_busy_ps / PS_PER_NS,                                           \
      "of that, for GC; without `ftl.gc_core` it counts when a core is "       \
      "assigned")                                                              \
    V(TIME, link_in_busy, "controller.link_in_busy_ns", "ns", RESET, NULL,     \
      v->use.busy_ps[HOST_LINK_IN] / PS_PER_NS,                                \
      "transfers over the host link, toward the drive")                        \
    V(TIME, link_out_busy, "controller.link_out_busy_ns", "ns", RESET, NULL,   \
      v->use.busy_ps[HOST_LINK_OUT] / PS_PER_NS, "transfers toward the host")  \
    V(TIME, dram_busy, "controller.dram_busy_ns", "ns", RESET, NULL,           \
      v->use.busy_ps[HOST_DRAM] / PS_PER_NS,                                   \
      "writes that enter DRAM; with `buffer.mb_s`, all data that DRAM moves")  \
    C(read_ahead_units, "read_ahead.units", "units",                           \
      "units read ahead of streams of reads (`host.read_ahead`)")              \
    C(read_ahead_hits, "read_ahead.hits", "units",                             \
      "units that reads found there, or on the way there")                     \
    C(read_ahead_wasted, "read_ahead.wasted", "units",                         \
      "units read ahead that were dropped before any read found them")         \
    V(STRING, map_scheme, "map.scheme", "", FIXED, NULL,                       \
      v->ssd->map->policy->name, "option `ftl.map` of the run")                \
    V(PART, map_part, "map.+", "", NOW, NULL,                                  \
      ((StatPart){map_part, v->ssd, v->ssd->map->policy->stats}),              \
      "of the map")                                                            \
    V(U64, stream_id, "streams[stream].id", "", FIXED, NULL, at[0],            \
      "number of the stream ([streams.md](streams.md)), or cold (0) and hot "  \
      "(1) with `ftl.hot_cold`")                                               \
    V(U64, stream_bytes, "streams[stream].host_bytes_written", "bytes", RESET, \
      NULL, stream_since(v->ssd, at[0]).host_bytes_written,                    \
      "bytes that the host wrote to it")                                       \
    V(U64, stream_units, "streams[stream].host_units", "units", RESET, NULL,   \
      stream_since(v->ssd, at[0]).host_units, "units programmed for the host") \
    V(U64, stream_padded, "streams[stream].padded_units", "units", RESET,      \
      NULL, stream_since(v->ssd, at[0]).padded_units,                          \
      "units programmed without data")                                         \
    V(U64, stream_copied, "streams[stream].copied_units", "units", RESET,      \
      NULL, stream_since(v->ssd, at[0]).copied_units,                          \
      "units programmed by GC")                                                \
    V(DOUBLE, stream_waf, "streams[stream].waf", "ratio", RESET, NULL,         \
      stream_waf_of(v->ssd, at[0]),                                            \
      "its `media_bytes_written` per byte written by the host")                \
    V(U64, stream_dirty, "streams[stream].units_dirty", "units", NOW, NULL,    \
      v->ssd->placement->stream[at[0]].queue.n_unsafe,                         \
      "dirty units in the buffer")                                             \
    V(U64, stream_open, "streams[stream].open_blocks", "blocks", NOW, NULL,    \
      ssd_stream_open_blocks(v->ssd, at[0]), "open blocks")                    \
    V(U64, stream_group, "streams[stream].reclaim_group", "", FIXED, NULL,     \
      stream_group(v->ssd, at[0]), "reclaim group of FDP; 0 without FDP")      \
    V(U64, stream_handle, "streams[stream].handle", "", FIXED, NULL,           \
      at[0] % v->ssd->l.n_handles,                                             \
      "reclaim unit handle of FDP; else the number of the stream")             \
    V(U64, stream_media, "streams[stream].media_bytes_written", "bytes",       \
      RESET, NULL, stream_since(v->ssd, at[0]).nand_bytes_written,             \
      "bytes that NAND programmed for it: pages of the host and of GC with "   \
      "their padding, and parity of its blocks")                               \
    V(U64, stream_victims, "streams[stream].victims", "blocks", RESET, NULL,   \
      stream_since(v->ssd, at[0]).victims,                                     \
      "blocks of this stream only, chosen by GC")                              \
    V(U64, stream_erases, "streams[stream].erases", "blocks", RESET, NULL,     \
      stream_since(v->ssd, at[0]).erases,                                      \
      "blocks of this stream only, erased")                                    \
    V(DOUBLE, stream_invalid, "streams[stream].invalid_at_erase", "ratio",     \
      RESET, NULL, stream_invalid_share(v->ssd, at[0]),                        \
      "share of invalid units in such victims when they were chosen")          \
    C(overflowed_units, "fdp.overflowed_units", "units",                       \
      "units in the buffer that went to another reclaim group because "        \
      "theirs was full")                                                       \
    C(mixed_pages, "streams_merged.mixed_pages", "pages",                      \
      "pages with several streams")                                            \
    V(U64, merged_victims, "streams_merged.victims", "blocks", RESET, NULL,    \
      stream_since(v->ssd, v->ssd->l.n_streams).victims,                       \
      "victims: blocks that GC filled from several streams, and blocks with "  \
      "metadata")                                                              \
    V(U64, merged_media, "streams_merged.media_bytes_written", "bytes", RESET, \
      NULL, stream_since(v->ssd, v->ssd->l.n_streams).nand_bytes_written,      \
      "bytes that NAND programmed for no single stream: metadata, padding "    \
      "and parity of blocks with several streams")                             \
    V(U64, merged_erases, "streams_merged.erases", "blocks", RESET, NULL,      \
      stream_since(v->ssd, v->ssd->l.n_streams).erases,                        \
      "erases of such blocks")                                                 \
    V(DOUBLE, merged_invalid, "streams_merged.invalid_at_erase", "ratio",      \
      RESET, NULL, stream_invalid_share(v->ssd, v->ssd->l.n_streams),          \
      "share of invalid units in such victims when they were chosen")

/* QEMU has no simulator around the drive: these come first there. */
#define SSD_HEAD_STATS(V)                                                      \
    V(U64, schema_version, "schema_version", "", FIXED, NULL, 1,               \
      "version of the schema; a changed meaning raises it")                    \
    V(STRING, profile, "profile", "", FIXED, NULL,                             \
      v->ssd->cfg->profile ? v->ssd->cfg->profile : "",                        \
      "name of the profile, as given")                                         \
    V(U64, seed, "seed", "", FIXED, NULL, v->ssd->cfg->seed,                   \
      "seed of the drive")                                                     \
    V(U64, requests, "requests", "commands", RESET, NULL,                      \
      v->ssd->inspect.latency[SSD_N_OPS].n, "commands that the drive ended")   \
    V(U64, sim_ns, "sim_ns", "ns", RESET, NULL, v->elapsed_ns,                 \
      "time since the last reset")                                             \
    V(DOUBLE, iops, "iops", "1/s", RESET, NULL, iops_of(v),                    \
      "`requests` per second of `sim_ns`")                                     \
    V(HIST, latency, "latency_ns.<op>", "ns", RESET, NULL,                     \
      &v->ssd->inspect.latency[SSD_N_OPS - at[0]],                             \
      "from the submission to the drive, so it excludes waits in the guest")

#endif
