/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run-stats.h - the results of a run of vssd-sim, one row each, in the order of
 * the JSON text; see core/stats.h.
 *
 * C(id, path, unit, help): a counter that this row makes: PlayerResult.id.
 * V(type, id, path, unit, when, value, help): in RUN_STATS a value of a
 * RunStats *v, in INFO_STATS of an InfoStats *v (result.c), in SERIES_STATS of
 * a Record *v (record.c), in SOURCE_STATS of a Source *v (source.c).
 */
#ifndef VSSD_SIM_RUN_STATS_H
#define VSSD_SIM_RUN_STATS_H

#define RUN_STATS(C, V)                                                        \
    V(U64, schema_version, "schema_version", "", NULL, RESULT_SCHEMA_VERSION,  \
      "version of the schema; a changed meaning raises it")                    \
    V(STRING, profile, "profile", "", NULL, v->run->profile,                   \
      "name of the profile, as given")                                         \
    V(U64, seed, "seed", "", NULL, v->run->seed,                               \
      "seed of the drive and of the workload")                                 \
    V(PART, about, "+", "", NULL, STAT_MEMBERS(about_write, NULL),             \
      "of vssd and the machine")                                               \
    V(PART, options, "options.+", "", NULL,                                    \
      STAT_MEMBERS(options_part, array_drive(v->run->array, 0)),               \
      "of the options")                                                        \
    V(PART, source, "+", "", NULL, STAT_MEMBERS(source_part, v->run->source),  \
      "of the source")                                                         \
    V(STRING, fill, "fill", "", NULL, v->run->fill,                            \
      "initial state of the drive: `none`, `preload`, `seq` or `random` "      \
      "(`vssd-sim run --help`)")                                               \
    V(U64, block_bytes, "block_bytes", "bytes", NULL, v->info->block_bytes,    \
      "logical block")                                                         \
    V(U64, capacity_bytes, "capacity_bytes", "bytes", NULL,                    \
      v->info->nblocks * v->info->block_bytes, "user capacity")                \
    C(n_warm_up, "warm_up", "requests",                                        \
      "requests that completed before the measurement began (`--warm-up`); "   \
      "nothing below counts them")                                             \
    C(n_requests, "requests", "requests", "requests completed since then")     \
    C(n_errors, "errors", "requests",                                          \
      "of these, with a status other than success")                            \
    V(U64, errors_by_status, "errors_by_status.<error>", "requests", NULL,     \
      v->r->n_status[SSD_STATUS_OK + 1 + at[0]],                               \
      "errors by status; they add up to `errors`")                             \
    C(n_waited, "waited", "requests",                                          \
      "requests that found all `host.queue_depth` places taken and waited at " \
      "the host")                                                              \
    C(n_wrapped, "wrapped", "requests",                                        \
      "requests beyond the drive that `--wrap` folded into it")                \
    C(kept_trim_bytes, "kept_trim_bytes", "bytes",                             \
      "of TRIMs, in blocks of the drive that a TRIM covers in part: nothing "  \
      "of these is trimmed")                                                   \
    C(n_power_cuts, "power_cuts", "",                                          \
      "power cuts by scripted faults; power returned at once, and commands "   \
      "in flight are among `errors`")                                          \
    C(n_dropped, "dropped", "requests",                                        \
      "requests that rules of `faults` dropped: they never ended, and "        \
      "`requests` does not count them ([faults.md](faults.md))")               \
    V(STRING, rule, "faults[rule].rule", "", &when_rules,                      \
      rule_of(v, at[0])->text, "the rule")                                     \
    V(U64, rule_matched, "faults[rule].matched", "requests", &when_rules,      \
      rule_of(v, at[0])->n_matched,                                            \
      "requests that its selectors matched, of the whole run")                 \
    V(U64, rule_fired, "faults[rule].fired", "requests", &when_rules,          \
      rule_of(v, at[0])->n_fired, "of these, on which it acted")               \
    V(BOOL, checked, "checked", "", NULL, v->run->checked,                     \
      "each completion equals the recorded one (`--check`, "                   \
      "[traces.md](traces.md))")                                               \
    V(BOOL, stopped, "stopped", "", NULL, v->run->stopped,                     \
      "SIGINT or SIGTERM ended the run early: no more requests were sent, "    \
      "those in flight completed, and the exit status is 130 or 143")          \
    V(DOUBLE, wall_s, "wall_s", "s", NULL, (double)v->run->wall_ns / NS_PER_S, \
      "wall-clock time of the run without the fill")                           \
    V(DOUBLE, per_s_wall, "requests_per_s_wall", "1/s", NULL,                  \
      per_second(v->r->n_requests, v->run->wall_ns),                           \
      "speed of the simulation")                                               \
    V(DOUBLE, cpu_s, "cpu_s", "s", NULL, (double)v->run->cpu_ns / NS_PER_S,    \
      "CPU time of the run without the fill")                                  \
    V(DOUBLE, per_s_cpu, "requests_per_s_cpu", "1/s", NULL,                    \
      per_second(v->r->n_requests, v->run->cpu_ns),                            \
      "speed by CPU time: less dependent on the machine's load")               \
    V(U64, peak_rss, "peak_rss_bytes", "bytes", NULL, v->run->peak_rss_bytes,  \
      "largest resident size of the process")                                  \
    V(U64, sim_ns, "sim_ns", "ns", NULL, v->r->sim_ns,                         \
      "from the start of the run, or the end of its warm-up, to its last "     \
      "completion")                                                            \
    V(DOUBLE, iops, "iops", "1/s", NULL,                                       \
      per_second(v->r->n_requests, v->r->sim_ns),                              \
      "`requests` per second of `sim_ns`")                                     \
    V(DOUBLE, read_rate, "bytes_per_s.read", "bytes/s", NULL,                  \
      per_second(v->r->bytes[SSD_OP_READ], v->r->sim_ns),                      \
      "host bytes read per second of `sim_ns`")                                \
    V(DOUBLE, write_rate, "bytes_per_s.write", "bytes/s", NULL,                \
      per_second(v->r->bytes[SSD_OP_WRITE], v->r->sim_ns),                     \
      "host bytes written per second of `sim_ns`")                             \
    V(HIST, latency, "latency_ns.<request>", "ns", NULL,                       \
      at[0] ? &v->r->latency[shown[at[0] - 1]] : v->all,                       \
      "from arrival to completion; includes the wait for a place in the "      \
      "drive's queue")                                                         \
    V(STRING, steady, "steady.verdict", "", NULL, verdict_names[v->verdict],   \
      "`steady`: five rounds keep to the SNIA's limits (range 0.2, slope "     \
      "0.1), each of one drive write or more, if there are writes; `flat`: "   \
      "they do, but are shorter; `changing`: they do not; `short`: there are " \
      "no five rounds ([state.md](state.md#is-it-steady))")                    \
    V(U64, steady_waited, "steady.rounds_before", "rounds", NULL,              \
      v->run->wait ? v->run->wait->rounds->n : 0,                              \
      "rounds before the run (`--until-steady`), of which the last five "      \
      "count; 0: five rounds of the run count")                                \
    V(DOUBLE, steady_requests, "steady.round_requests", "requests", NULL,      \
      v->five.mean_requests, "of such a round, on average")                    \
    V(DOUBLE, steady_writes, "steady.round_drive_writes", "ratio", NULL,       \
      v->five.mean_bytes / span_of(v),                                         \
      "bytes that such a round writes, as a share of those that the load "     \
      "touches")                                                               \
    V(DOUBLE, steady_range, "steady.range.<judged>", "ratio", NULL,            \
      v->five.range[at[0]],                                                    \
      "largest less smallest value of the five rounds, as a share of their "   \
      "mean")                                                                  \
    V(DOUBLE, steady_slope, "steady.slope.<judged>", "ratio", NULL,            \
      v->five.slope[at[0]],                                                    \
      "rise or fall of the line that fits the five values best, as a share "   \
      "of their mean")                                                         \
    V(PART, series, "+", "", NULL, STAT_MEMBERS(series_part, v->run->record),  \
      "of the series")                                                         \
    V(U64, windows_n, "windows.count", "", &when_windows, v->run->windows->n,  \
      "windows ([traces.md](traces.md))")                                      \
    V(U64, windows_requests, "windows.requests", "requests", &when_windows,    \
      v->run->windows->cfg.requests, "`--window`")                             \
    V(U64, windows_overlap, "windows.overlap", "requests", &when_windows,      \
      v->run->windows->cfg.overlap, "`--overlap`")                             \
    V(U64, windows_jobs, "windows.jobs", "", &when_windows,                    \
      v->run->windows->cfg.jobs, "`--jobs`")                                   \
    V(U64, windows_twice, "windows.played_twice", "requests", &when_windows,   \
      v->run->windows->n_outside,                                              \
      "requests that were also played outside of their window")                \
    V(DOUBLE, windows_pass, "windows.pass_cpu_s", "s", &when_windows,          \
      (double)v->run->windows->pass_cpu_ns / NS_PER_S,                         \
      "CPU time of the pass without time, with reading the trace")             \
    V(DOUBLE, windows_share, "windows.pass_share", "ratio", &when_windows,     \
      windows_pass_share(v->run->windows),                                     \
      "of it in that of a run in one piece: of the windows less the requests " \
      "that were played twice")                                                \
    V(DOUBLE, windows_most, "windows.most_times", "ratio", &when_windows,      \
      most_times(v->run->windows),                                             \
      "as fast as in one piece on any number of cores, at most: the inverse")  \
    V(U64, windows_seam, "windows.seam.requests", "requests", &when_windows,   \
      v->run->windows->seam.overlap.n,                                         \
      "requests of the second halves of all overlaps")                         \
    V(DOUBLE, windows_mean, "windows.seam.mean_error", "ratio", &when_windows, \
      windows_mean_error(v->run->windows),                                     \
      "how much larger their mean latency was in the overlap than in the "     \
      "window that counts them")                                               \
    V(DOUBLE, windows_p99, "windows.seam.p99_error", "ratio", &when_windows,   \
      windows_quantile_error(v->run->windows, 990000), "the same of p99")      \
    V(PART, windows_drive, "+", "", &when_windows,                             \
      STAT_MEMBERS(windows_part, v), "of the drive")                           \
    V(PART, one_drive, "+", "", &when_one,                                     \
      STAT_MEMBERS(drive_part, array_drive(v->run->array, 0)), "of the drive") \
    V(U64, stripe_bytes, "stripe_bytes", "bytes", &when_several,               \
      array_stripe_bytes(v->run->array), "`--stripe`")                         \
    RAID_STATS(V)                                                              \
    V(PART, each_drive, "drives[drive].+", "", &when_several,                  \
      STAT_MEMBERS(drive_part, array_drive(v->run->array, at[0])),             \
      "of each drive")

/* Of an array with redundancy. */
#define RAID_STATS(V)                                                          \
    V(STRING, raid_level, "raid.level", "", &when_raid,                        \
      raid_level_name(layout(v)->level), "`--raid`, without the shape")        \
    V(U64, raid_width, "raid.stripe_chunks", "chunks", &when_raid,             \
      layout(v)->width, "chunks of a stripe, with parity or copies")           \
    V(U64, raid_data, "raid.data_chunks", "chunks", &when_raid,                \
      layout(v)->n_data, "of these, data")                                     \
    V(U64, raid_spares, "raid.spares", "", &when_raid, layout(v)->n_spares,    \
      "`--spares`")                                                            \
    V(U64, raid_updates, "raid.stripe_writes.<update>", "stripes", &when_raid, \
      v->raid.updates[at[0]],                                                  \
      "writes by how they get the parity; of several ways in one stripe, the " \
      "one that reads most")                                                   \
    V(U64, raid_reads, "raid.drive_reads", "commands", &when_raid,             \
      v->raid.parts_read, "reads of drives for requests")                      \
    V(U64, raid_writes, "raid.drive_writes", "commands", &when_raid,           \
      v->raid.parts_written, "writes of drives for requests")                  \
    V(U64, raid_rebuilt_reads, "raid.computed_reads", "stripes", &when_raid,   \
      v->raid.rebuilt_reads,                                                   \
      "reads whose data was computed from other chunks")                       \
    V(U64, raid_repaired, "raid.repaired", "ranges", &when_raid,               \
      v->raid.repaired,                                                        \
      "ranges that a drive could not read, computed and written again")        \
    V(U64, raid_lock_waits, "raid.lock_waits", "stripes", &when_raid,          \
      v->raid.lock_waits,                                                      \
      "operations that waited for another one on the same stripe")             \
    V(U64, raid_ignored, "raid.ignored_trim_bytes", "bytes", &when_raid,       \
      v->raid.ignored_trim_bytes,                                              \
      "of TRIMs that cover a stripe with parity in part: nothing is trimmed")  \
    V(U64, raid_failed, "raid.failed_drives", "", &when_raid,                  \
      v->raid.n_failed, "drives that failed")                                  \
    V(U64, raid_lost, "raid.lost_stripes", "stripes", &when_raid,              \
      v->raid.lost,                                                            \
      "operations of requests with more lost chunks than parity")              \
    V(BOOL, raid_rebuilding, "raid.rebuild.active", "", &when_raid,            \
      v->raid.rebuilding, "SIGINT or SIGTERM ended the run during a rebuild")  \
    V(U64, raid_rebuild_ns, "raid.rebuild.ns", "ns", &when_raid,               \
      v->raid.rebuild_ns,                                                      \
      "time with a rebuild under way; the run waits for its end")              \
    V(U64, raid_rebuilt, "raid.rebuild.bytes", "bytes", &when_raid,            \
      v->raid.rebuilt_bytes, "written to spare chunks")                        \
    V(U64, raid_lost_chunks, "raid.rebuild.lost_chunks", "chunks", &when_raid, \
      v->raid.lost_chunks, "that could not be computed")                       \
    V(U64, raid_unspared, "raid.rebuild.unspared_chunks", "chunks",            \
      &when_raid, v->raid.unspared_chunks,                                     \
      "that have no spare chunk, and stay lost")

#define SOURCE_STATS(V)                                                        \
    V(STRING, trace, "trace", "", &when_trace, v->name,                        \
      "the files, as given (`vssd-sim replay`), joined by ` + `")              \
    V(STRING, join, "join", "", &when_trace,                                   \
      traces_join(v->traces) < N_JOINS ? join_name(traces_join(v->traces))     \
                                       : "",                                   \
      "how several traces belong together: `clock`, `append` or `apart` "      \
      "([traces.md](traces.md)); empty with one")                              \
    V(U64, missing_parts, "missing_parts", "files", &when_trace,               \
      source_n_missing(v),                                                     \
      "files of the same recording of blktrace that were not given, as far "   \
      "as can be seen")                                                        \
    V(STRING, remap, "remap", "", &when_trace,                                 \
      traces_remap_name(traces_remap(v->traces)),                              \
      "change of the addresses ([traces.md](traces.md))")                      \
    V(U64, retime, "retime", "", &when_trace, v->from.cfg.retime,              \
      "change of the times: the k of Dk, or 0")                                \
    V(DOUBLE, from_s, "from_s", "s", &when_trace,                              \
      (double)v->from.cfg.reading.from_ns / 1e9,                               \
      "`--from`: requests before were left out")                               \
    V(U64, repeat, "repeat", "passes", &when_trace,                            \
      MAX(v->from.cfg.reading.repeat, 1), "over the traces (`--repeat`)")      \
    V(DOUBLE, sample_percent, "sample_percent", "%", &when_trace,              \
      v->from.cfg.reading.sample_ppm                                           \
          ? (double)v->from.cfg.reading.sample_ppm / 1e4                       \
          : 100.0,                                                             \
      "of the addresses (`--sample`)")                                         \
    V(STRING, stream_map, "stream_map", "", &when_trace,                       \
      v->from.stream_map ? v->from.stream_map : "",                            \
      "`--stream-map`, or empty ([streams.md](streams.md))")                   \
    V(DOUBLE, time_scale, "time_scale", "", &when_trace,                       \
      (double)v->from.cfg.options.scale_ppm / 1e6, "factor of the times")      \
    V(U64, disordered, "disordered", "lines", &when_trace,                     \
      traces_n_disordered(v->traces),                                          \
      "trace lines older than the line before; they arrive together with "     \
      "that one")                                                              \
    V(U64, skipped, "skipped", "lines", &when_trace,                           \
      traces_n_skipped(v->traces),                                             \
      "damaged trace lines that `--skip-bad` passed over")                     \
    V(U64, left_stages, "left_out.stages", "records", &when_trace,             \
      traces_n_left(v->traces, TRACE_LEFT_STAGES),                             \
      "trace records of other stages of a request than the one that "          \
      "counts; left out")                                                      \
    V(U64, left_notes, "left_out.notes", "records", &when_trace,               \
      traces_n_left(v->traces, TRACE_LEFT_NOTES),                              \
      "trace records of processes, messages and plugs; left out")              \
    V(U64, left_zones, "left_out.zones", "records", &when_trace,               \
      traces_n_left(v->traces, TRACE_LEFT_ZONES),                              \
      "trace records that open, close or finish a zone or reset all "          \
      "zones; left out")                                                       \
    V(U64, left_commands, "left_out.commands", "records", &when_trace,         \
      traces_n_left(v->traces, TRACE_LEFT_COMMANDS),                           \
      "trace records of commands that are no reads or writes, as "             \
      "those passed through; left out")                                        \
    V(U64, left_empty, "left_out.empty", "records", &when_trace,               \
      traces_n_left(v->traces, TRACE_LEFT_EMPTY),                              \
      "trace records of requests without data; left out")                      \
    V(U64, left_unknown, "left_out.unknown", "records", &when_trace,           \
      traces_n_left(v->traces, TRACE_LEFT_UNKNOWN),                            \
      "trace records of an action or a letter that is not known; left "        \
      "out")                                                                   \
    V(PART, taken, "+", "", &when_trace, STAT_MEMBERS(taken_part, v),          \
      "how each trace was read")                                               \
    V(STRING, workload, "workload", "", &when_workload, v->name,               \
      "the keywords, as given (`vssd-sim run --workload`)")                    \
    V(BOOL, synthetic_fit, "synthetic_fit", "", &when_workload,                \
      v->report != NULL, "`vssd-sim fit` made the workload")

#define TAKEN_STATS(V)                                                         \
    V(STRING, taken_format, "traces[trace].format", "", &when_trace,           \
      trace_format(taken(v, at))->name,                                        \
      "format that the file was read as ([traces.md](traces.md))")             \
    V(STRING, taken_time, "traces[trace].time_unit", "", &when_trace,          \
      trace_units_time(trace_units(taken(v, at)).time_ns),                     \
      "unit of its times: `ns`, `100ns`, `us`, `ms` or `s`")                   \
    V(U64, taken_address, "traces[trace].address_bytes", "bytes", &when_trace, \
      trace_units(taken(v, at)).address_bytes, "unit of its addresses")        \
    V(U64, taken_size, "traces[trace].size_bytes", "bytes", &when_trace,       \
      trace_units(taken(v, at)).size_bytes, "unit of its sizes")               \
    V(U64, taken_n_devices, "traces[trace].n_devices", "", &when_trace,        \
      trace_n_devices(taken(v, at)), "number of its devices that were taken")  \
    V(STRING, taken_devices, "traces[trace].devices", "", &when_trace,         \
      taken_devices(v, taken(v, at)),                                          \
      "these devices, as `--device` takes them; the first 16")

#define SERIES_STATS(V)                                                        \
    V(U64, interval, "series.interval_ns", "ns", &when_series, v->interval_ns, \
      "the interval")                                                          \
    V(U64, requests, "series.requests[interval]", "requests", &when_series,    \
      interval(v, at[0])->n, "completed in the interval")                      \
    V(U64, bytes_read, "series.bytes_read[interval]", "bytes", &when_series,   \
      interval(v, at[0])->read_bytes, "read in the interval")                  \
    V(U64, bytes_written, "series.bytes_written[interval]", "bytes",           \
      &when_series, interval(v, at[0])->written_bytes,                         \
      "written in the interval")                                               \
    V(U64, mean_ns, "series.mean_ns[interval]", "ns", &when_series,            \
      mean_ns(interval(v, at[0])),                                             \
      "mean latency of these requests; 0 without any")                         \
    V(U64, max_ns, "series.max_ns[interval]", "ns", &when_series,              \
      interval(v, at[0])->max_ns, "longest latency; 0 without any")            \
    V(U64, nand_programs, "series.nand_programs[interval]", "pages",           \
      &when_series, interval(v, at[0])->programs,                              \
      "programs of the array, up to the first completion after the interval")  \
    V(U64, nand_erases, "series.nand_erases[interval]", "blocks",              \
      &when_series, interval(v, at[0])->erases,                                \
      "erases of the array, up to the first completion after the interval")    \
    V(U64, copied_units, "series.copied_units[interval]", "units",             \
      &when_series, interval(v, at[0])->copied_units,                          \
      "mapping units copied by GC, up to the first completion after the "      \
      "interval")

#define INFO_STATS(V)                                                          \
    V(U64, info_version, "schema_version", "", NULL, RESULT_SCHEMA_VERSION,    \
      "version of the schema")                                                 \
    V(STRING, info_profile, "profile", "", NULL, v->profile,                   \
      "name of the profile, as given")                                         \
    V(U64, info_capacity, "capacity_bytes", "bytes", NULL,                     \
      v->info->nblocks * v->info->block_bytes, "user capacity")                \
    V(U64, info_block, "block_bytes", "bytes", NULL, v->info->block_bytes,     \
      "logical block")                                                         \
    V(U64, info_nblocks, "nblocks", "logical blocks", NULL, v->info->nblocks,  \
      "logical blocks")                                                        \
    V(U64, info_unit, "unit_bytes", "bytes", NULL, v->info->unit_bytes,        \
      "mapping unit")                                                          \
    V(U64, info_page, "page_bytes", "bytes", NULL, v->info->page_bytes,        \
      "physical page")                                                         \
    V(U64, info_erase, "erase_bytes", "bytes", NULL, v->info->erase_bytes,     \
      "erase block")                                                           \
    V(U64, info_raw, "raw_bytes", "bytes", NULL, v->info->raw_bytes,           \
      "physical capacity")                                                     \
    V(U64, info_nstreams, "nstreams", "", NULL, v->info->nstreams, "streams")  \
    V(U64, info_depth, "queue_depth", "commands", NULL, v->info->queue_depth,  \
      "commands that the drive executes at a time")                            \
    V(U64, info_memory, "memory_bytes", "bytes", NULL, v->info->memory_bytes,  \
      "host memory of the model's tables")

/* Rows of these tables. */
#define RUN_STATS_ROW(type, id, path, unit, when, value, help)                 \
    STAT_ROW(type, id, path, unit, RUN, when, help)
#define RUN_STATS_COUNTER(id, path, unit, help)                                \
    STAT_ROW(COUNTER, id, path, unit, RUN, NULL, help)

#endif
