/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ssd-options.h - the options of the drive above the array, one row each.
 *
 * X(type, ctype, field, key, min, max, default, names, help), and .check or
 * .then; see options.h.
 */
#ifndef VSSD_SSD_OPTIONS_H
#define VSSD_SSD_OPTIONS_H

#include <stdint.h>

#define SSD_OPTIONS(X)                                                         \
    X(U64, uint64_t, seed, "seed", 0, UINT64_MAX, "1", NULL,                   \
      "seed of everything random", .common = true)                             \
    X(STRING, char *, faults, "faults", 0, 0, NULL, NULL,                      \
      "file with scripted faults, one rule per line (docs/faults.md); "        \
      "empty: none")                                                           \
    X(SIZE, uint64_t, unit_bytes, "ftl.unit", 512, 262144, "4KiB", NULL,       \
      "mapping unit, a power of two up to the page size")                      \
    X(PPM, uint32_t, op_ppm, "ftl.op_percent", 0, 10000000, "7%", NULL,        \
      "over-provisioning: (physical - user capacity) / user capacity",         \
      .then = size_by_share, .common = true)                                   \
    X(SIZE, uint64_t, capacity, "ftl.capacity", 0, 4503599627370496, "0",      \
      NULL,                                                                    \
      "user capacity, instead of ftl.op_percent; 0: ftl.op_percent gives it",  \
      .common = true)                                                          \
    X(ENUM, uint32_t, mapper, "ftl.map", 0, 0, "page", ssd_map_name,           \
      "mapping scheme (docs/mapping.md); or so:FILE, a policy from outside: "  \
      "dftl with another order of its cache",                                  \
      .common = true)                                                          \
    X(SIZE, uint64_t, map_cache_bytes, "ftl.map_cache", 64, 1099511627776,     \
      "1MiB", NULL,                                                            \
      "dftl: DRAM for map entries, 8 bytes each (16 from 2^32 units on), in "  \
      "addition to buffer.size",                                               \
      .common = true)                                                          \
    X(SIZE, uint64_t, hmb_bytes, "ftl.hmb", 0, 1099511627776, "0", NULL,       \
      "dftl: host memory buffer for entries that leave ftl.map_cache, as "     \
      "large as there; 0: none")                                               \
    X(TIME, uint64_t, t_hmb_ps, "ftl.hmb_latency", 0, 1000000000, "1us", NULL, \
      "latency of a read of ftl.hmb, beyond its way over the link")            \
    X(U32, uint32_t, map_prefetch, "ftl.map_prefetch", 0, 65536, "0", NULL,    \
      "dftl: extra entries that a miss loads if the entry before it is "       \
      "cached")                                                                \
    X(U32, uint32_t, log_blocks, "ftl.log_blocks", 0, 65536, "0", NULL,        \
      "ftl.map=bast, fast: log blocks of each plane; 0: as many as the "       \
      "over-provisioning allows")                                              \
    X(ENUM, uint32_t, alloc, "ftl.alloc", 0, 0, "stripe", ssd_alloc_name,      \
      "page allocation; or so:FILE, a policy from outside", .common = true)    \
    X(ENUM, uint32_t, stripe, "ftl.stripe", 0, 0, "cwdp", ssd_stripe_name,     \
      "stripe order: channel, way (chip), die, plane, fastest first")          \
    X(PPM, uint32_t, dl_threshold_ppm, "ftl.dl_threshold", 0, 1000000, "90%",  \
      NULL,                                                                    \
      "ftl.alloc=dl skips a plane from this GC indicator on: the share of "    \
      "its room that is not in free blocks")                                   \
    X(U32, uint32_t, random_blocks, "ftl.random_blocks", 1, 65536, "16", NULL, \
      "open blocks of each plane, at most, with ftl.alloc=random-block; as "   \
      "many as the spare blocks allow: any block with a free page")            \
    X(PPM, uint32_t, slc_dynamic_ppm, "ftl.slc_dynamic", 0, 1000000, "0%",     \
      NULL,                                                                    \
      "share of each plane's blocks that the host may fill in SLC mode, at "   \
      "most, besides nand.slc_blocks (docs/slc-cache.md)",                     \
      .common = true)                                                          \
    X(PPM, uint32_t, slc_share_ppm, "ftl.slc_share", 0, 1000000, "100%", NULL, \
      "share of a plane's blocks without data in the native mode that these "  \
      "blocks may take: the cache shrinks as the drive fills")                 \
    X(STRING, char *, slc_streams, "ftl.slc_streams", 0, 0, "all", NULL,       \
      "streams whose writes go through the SLC cache: all, none, default "     \
      "(stream 0: writes that name none), or a list as 0/2-5",                 \
      .check = slc_streams_ok)                                                 \
    X(PPM, uint32_t, slc_fold_at_ppm, "ftl.slc_fold_at", 0, 1000000, "50%",    \
      NULL,                                                                    \
      "folding begins when a smaller share of a plane's SLC cache is left")    \
    X(TIME, uint64_t, t_slc_fold_ps, "ftl.slc_fold_delay", 0,                  \
      86400000000000000, "0ns", NULL,                                          \
      "the SLC cache is folded when no command has run for this time; 0: not " \
      "for that")                                                              \
    X(ENUM, uint32_t, slc_when_full, "ftl.slc_when_full", 0, 0, "direct",      \
      ssd_slc_when_full_name,                                                  \
      "writes of the host when the SLC cache is full. direct: to other "       \
      "blocks; fold: they wait for folding")                                   \
    X(ENUM, uint32_t, gc, "ftl.gc", 0, 0, "greedy", ssd_gc_name,               \
      "victim selection of GC; or so:FILE, a policy from outside",             \
      .common = true)                                                          \
    X(U32, uint32_t, gc_choices, "ftl.gc_choices", 1, 1024, "10", NULL,        \
      "blocks that ftl.gc=d-choices draws for each victim")                    \
    X(U32, uint32_t, gc_window, "ftl.gc_window", 1, 65536, "32", NULL,         \
      "oldest blocks from which ftl.gc=windowed-greedy selects")               \
    X(PPM, uint32_t, gc_low_ppm, "ftl.gc_low", 0, 500000, "1%", NULL,          \
      "GC of a plane starts at this share of free blocks (never below 2 "      \
      "blocks)",                                                               \
      .common = true, .running = true)                                         \
    X(PPM, uint32_t, gc_high_ppm, "ftl.gc_high", 0, 600000, "1.5%", NULL,      \
      "GC of a plane ends at this share of free blocks (always above "         \
      "ftl.gc_low)",                                                           \
      .running = true)                                                         \
    X(ENUM, uint32_t, gc_pace, "ftl.gc_pace", 0, 0, "late", ssd_gc_pace_name,  \
      "host writes while GC runs. late: a plane holds them when no more "      \
      "blocks are free than GC needs; even: also, they start at even "         \
      "distances, at the rate at which GC frees room, so that ftl.gc_low "     \
      "stays free")                                                            \
    X(TIME, uint64_t, t_urgent_ps, "ftl.gc_urgent", 0, 1000000000000, "0ns",   \
      NULL,                                                                    \
      "with ftl.gc_pace=even: while a host write waits longer for its turn, "  \
      "reads suspend nothing; 0: they may always")                             \
    X(TIME, uint64_t, t_gc_period_ps, "ftl.gc_period", 0, 3600000000000000,    \
      "0ns", NULL,                                                             \
      "at each multiple of this time GC starts in each plane with fewer free " \
      "blocks than ftl.gc_high; 0: only at ftl.gc_low")                        \
    X(PPM, uint32_t, gc_soft_ppm, "ftl.gc_soft", 0, 600000, "0%", NULL,        \
      "background GC of a plane continues up to this share of free blocks "    \
      "while the host is idle; 0: no background GC",                           \
      .common = true, .running = true)                                         \
    X(TIME, uint64_t, t_idle_ps, "ftl.idle", 0, 3600000000000000, "1ms", NULL, \
      "the host is idle after this time without a command; background work "   \
      "then starts (ftl.gc_soft, ftl.refresh_...)")                            \
    X(TIME, uint64_t, t_gc_page_ps, "ftl.gc_firmware", 0, 1000000000000,       \
      "0ns", NULL, "controller time of a page that GC reads", .running = true) \
    X(TIME, uint64_t, t_gc_unit_ps, "ftl.gc_firmware_unit", 0, 1000000000000,  \
      "0ns", NULL,                                                             \
      "controller time of each unit that GC copies, on top of "                \
      "ftl.gc_firmware",                                                       \
      .running = true)                                                         \
    X(BOOL, bool, gc_core, "ftl.gc_core", 0, 0, "off", NULL,                   \
      "GC has a core of its own, in addition to host.cores")                   \
    X(TIME, uint64_t, t_trim_unit_ps, "ftl.trim_unit", 0, 1000000000, "20ns",  \
      NULL, "time of each unit of a long TRIM (docs/timing-model.md)")         \
    X(TIME, uint64_t, latency_window_ps, "latency.window", 0,                  \
      3600000000000000, "0ns", NULL,                                           \
      "longest deterministic window of Predictable Latency Mode, in which "    \
      "the drive holds back GC and other work of its own; 0: the drive has "   \
      "no such mode (docs/latency.md)")                                        \
    X(PPM, uint32_t, latency_free_ppm, "latency.free", 0, 600000, "5%", NULL,  \
      "share of free blocks in each plane that GC prepares between two "       \
      "windows")                                                               \
    X(BOOL, bool, gc_preempt, "ftl.gc_preempt", 0, 0, "off", NULL,             \
      "GC starts no read or program in a die with waiting host reads, while "  \
      "the plane has more free blocks than GC needs")                          \
    X(ENUM, uint32_t, wear, "ftl.wear", 0, 0, "fifo", ssd_wear_name,           \
      "wear levelling. fifo: free blocks in the order in which they became "   \
      "free; dynamic: the least worn for the host, the most worn for GC; "     \
      "static: dynamic, and cold blocks are moved (docs/wear.md)",             \
      .common = true)                                                          \
    X(U32, uint32_t, wear_spread, "ftl.wear_spread", 1, 1000000, "20", NULL,   \
      "ftl.wear=static moves the least worn block of a plane when another "    \
      "is worn by this many cycles more")                                      \
    X(U32, uint32_t, refresh_reads, "ftl.refresh_reads", 0, 1000000000, "0",   \
      NULL,                                                                    \
      "refresh a block with more reads per page since its erase, as the "      \
      "drive counts them; 0: never")                                           \
    X(U32, uint32_t, refresh_hours, "ftl.refresh_hours", 0, 1000000, "0",      \
      NULL,                                                                    \
      "refresh a block with data older than this many powered hours; 0: "      \
      "never")                                                                 \
    X(U32, uint32_t, refresh_retries, "ftl.refresh_retries", 0, 64, "0", NULL, \
      "refresh a block of which one read needed this many read retries or "    \
      "more; 0: never")                                                        \
    X(U32, uint32_t, read_reclaim, "ftl.read_reclaim", 0, 79, "0", NULL,       \
      "refresh a block at once, also beside host commands, when a read of it " \
      "needed this many read retries or more; 0: never")                       \
    X(TIME, uint64_t, scan_interval_ps, "ftl.scan_interval", 1000000000,       \
      86400000000000000, "1min", NULL,                                         \
      "interval at which the idle drive searches for blocks to refresh")       \
    X(ENUM, uint32_t, recovery, "ftl.recovery", 0, 0, "capacitors",            \
      ssd_recovery_name,                                                       \
      "source of the map after a power cut. capacitors: kept; scan: all "      \
      "spare areas; checkpoint: a copy in NAND and the spare areas "           \
      "programmed since (docs/power.md)",                                      \
      .common = true)                                                          \
    X(U32, uint32_t, checkpoint_pages, "ftl.checkpoint_interval", 1,           \
      1000000000, "16384", NULL,                                               \
      "ftl.recovery=checkpoint: NAND programs of data from the start of one "  \
      "checkpoint to the start of the next")                                   \
    X(TIME, uint64_t, counters_interval_ps, "ftl.counters_interval", 0,        \
      86400000000000000, "0ns", NULL,                                          \
      "interval at which firmware saves the counters of SMART; a power cut "   \
      "takes them back to the last time (docs/power.md). 0: it takes nothing") \
    X(TIME, uint64_t, t_recovery_ps, "ftl.recovery_cpu", 0, 1000000000, "0ns", \
      NULL,                                                                    \
      "ftl.recovery=scan, checkpoint: controller time for each unit that a "   \
      "page read in recovery tells of, and for each blank page")               \
    X(BOOL, bool, hot_cold, "ftl.hot_cold", 0, 0, "off", NULL,                 \
      "the drive puts frequently written units into a stream of its own; "     \
      "excludes streams.max and fdp.ruhs")                                     \
    X(ENUM, uint32_t, placement, "ftl.placement", 0, 0, "host",                \
      ssd_placement_name,                                                      \
      "who assigns written units to streams; or so:FILE, a policy from "       \
      "outside, which excludes streams.max, fdp.ruhs and ftl.hot_cold")        \
    X(U32, uint32_t, superblock_width, "superblock.width", 1, 65536, "plane",  \
      ssd_planes_name,                                                         \
      "planes of a superblock, whose blocks are opened, chosen by GC and "     \
      "erased as one: plane, die, drive (or reclaim group), or a number",      \
      .common = true)                                                          \
    X(U32, uint32_t, superblock_row, "superblock.row", 1, 32, "plane",         \
      ssd_planes_name,                                                         \
      "planes where the host and GC program a page each at once, in the "      \
      "order of ftl.stripe; plane: each page by itself (docs/superblocks.md)", \
      .common = true)                                                          \
    X(TIME, uint64_t, row_wait_ps, "superblock.row_wait", 1000,                \
      10000000000000, "10ms", NULL,                                            \
      "a partly filled row is programmed after this time")                     \
    X(BOOL, bool, row_padding, "superblock.padding", 0, 0, "off", NULL,        \
      "a partly filled row of the host is programmed as a whole, with pages "  \
      "without data; off: only its pages with data are (docs/power.md)")       \
    X(BOOL, bool, parity, "superblock.parity", 0, 0, "off", NULL,              \
      "one die of a superblock holds the XOR of the others in each row; "      \
      "needs a superblock.row of one width, or of several (docs/parity.md)",   \
      .common = true)                                                          \
    X(BOOL, bool, close_open, "superblock.close_open", 0, 0, "off", NULL,      \
      "after a power cut the drive fills no block on that was open, but "      \
      "leaves it to GC")                                                       \
    X(U32, uint32_t, streams, "streams.max", 0, 63, "0", NULL,                 \
      "streams of the Streams directive that the host may have open; 0: "      \
      "none",                                                                  \
      .common = true)                                                          \
    X(U32, uint32_t, ruhs, "fdp.ruhs", 0, 64, "0", NULL,                       \
      "reclaim unit handles of Flexible Data Placement; 0: no FDP",            \
      .common = true)                                                          \
    X(U32, uint32_t, groups, "fdp.groups", 1, 64, "1", NULL,                   \
      "reclaim groups, equal sets of dies; fdp.ruhs handles in each, at most " \
      "64 together")                                                           \
    X(SIZE, uint64_t, ru_bytes, "fdp.ru_size", 0, 1099511627776, "0", NULL,    \
      "size of a reclaim unit, a multiple of one erase block in each plane "   \
      "of "                                                                    \
      "a reclaim group; 0: just that")                                         \
    X(TIME, uint64_t, ru_limit_ps, "fdp.ru_time_limit", 0, 86400000000000000,  \
      "0ns", NULL,                                                             \
      "time after which a partly written reclaim unit is closed, in whole "    \
      "seconds; 0: never")                                                     \
    X(STRING, char *, isolation, "fdp.isolation", 0, 0, NULL, NULL,            \
      "persistent or initial for each reclaim unit handle, with / between, "   \
      "the last one for all others; empty: by streams.gc",                     \
      .check = fdp_isolation_ok)                                               \
    X(STRING, char *, handles, "fdp.handles", 0, 0, NULL, NULL,                \
      "reclaim unit handles of each new namespace, as 0:1/2:3; the others "    \
      "and empty: all handles",                                                \
      .check = handles_ok)                                                     \
    X(BOOL, bool, zoned, "zones.enabled", 0, 0, "off", NULL,                   \
      "a zoned drive (NVMe Zoned Namespace Command Set): a zone is a block "   \
      "of each plane (docs/zones.md)",                                         \
      .common = true)                                                          \
    X(SIZE, uint64_t, zone_capacity, "zones.capacity", 0, 4503599627370496,    \
      "0", NULL,                                                               \
      "bytes that a zone holds, in whole mapping units; 0: a block of each "   \
      "plane")                                                                 \
    X(SIZE, uint64_t, zone_size, "zones.size", 0, 4503599627370496, "0", NULL, \
      "bytes from the start of a zone to that of the next one, a power of "    \
      "two; 0: the next one from zones.capacity on")                           \
    X(U32, uint32_t, zones_active, "zones.max_active", 0, 62, "0", NULL,       \
      "zones that may be active (open or closed); 0: as many as half of "      \
      "buffer.size has program units for")                                     \
    X(U32, uint32_t, zones_open, "zones.max_open", 0, 62, "0", NULL,           \
      "zones that may be open; 0: zones.max_active")                           \
    X(SIZE, uint64_t, zone_append, "zones.append_max", 0, 1073741824, "0",     \
      NULL,                                                                    \
      "bytes of the largest Zone Append, a power of two of 8 KiB or more; 0: " \
      "that of other commands")                                                \
    X(U32, uint32_t, zone_extension, "zones.extension", 0, 255, "0", NULL,     \
      "zone descriptor extension, in units of 64 bytes; 0: none")              \
    X(SIZE, uint64_t, zone_zrwa, "zones.zrwa", 0, 268435456, "0", NULL,        \
      "bytes of a Zone Random Write Area, in whole granules; 0: none")         \
    X(SIZE, uint64_t, zone_zrwa_granule, "zones.zrwa_granularity", 0,          \
      268435456, "0", NULL,                                                    \
      "granule in which a Zone Random Write Area is committed, in whole "      \
      "mapping units; 0: a program unit")                                      \
    X(U32, uint32_t, zones_zrwa, "zones.max_zrwa", 0, 62, "0", NULL,           \
      "zones that may have a Zone Random Write Area; 0: as many as half of "   \
      "buffer.size holds, less two, up to zones.max_active")                   \
    X(SIZE, uint64_t, zone_conventional, "zones.conventional", 0,              \
      4503599627370496, "0", NULL,                                             \
      "bytes behind the zones for namespaces without zones, in whole mapping " \
      "units; GC serves them alone; 0: none")                                  \
    X(BOOL, bool, zone_pads, "zones.finish_pads", 0, 0, "on", NULL,            \
      "Finish programs the rest of the zone's blocks with padding; off: the "  \
      "map says where the zone ends, and the rest stays unwritten")            \
    X(TIME, uint64_t, t_zone_record_ps, "zones.reset_record", 0,               \
      1000000000000, "0ns", NULL,                                              \
      "time of a Reset, of an empty zone, too, until a record of it is in "    \
      "NAND; 0: capacitors keep the record")                                   \
    X(TIME, uint64_t, t_zone_unit_ps, "zones.reset_unit", 0, 1000000000,       \
      "0ns", NULL,                                                             \
      "time of a Reset for each mapping unit in the zone, whose entry of the " \
      "map is cleared; 0: the map has one entry for the zone")                 \
    X(TIME, uint64_t, t_append_ps, "zones.append_time", 0, 1000000000000,      \
      "0ns", NULL,                                                             \
      "controller time in which a Zone Append gets its address, one append "   \
      "at a time in the whole drive, on top of that of a write")               \
    X(TIME, uint64_t, zone_finish_ps, "zones.finish_after", 0,                 \
      8640000000000000000, "0ns", NULL,                                        \
      "time, in whole seconds, after which the controller recommends to "      \
      "finish an active zone; 0: never")                                       \
    X(TIME, uint64_t, zone_finish_limit_ps, "zones.finish_limit", 0,           \
      8640000000000000000, "0ns", NULL,                                        \
      "time, in whole seconds, after which the controller then finishes the "  \
      "zone itself (FRL, Zone Active Excursion); 0: never")                    \
    X(TIME, uint64_t, zone_reset_ps, "zones.reset_after", 0,                   \
      8640000000000000000, "0ns", NULL,                                        \
      "time, in whole seconds, after which the controller recommends to "      \
      "reset a full zone; 0: never")                                           \
    X(ENUM, uint32_t, streams_gc, "streams.gc", 0, 0, "separate",              \
      ssd_streams_gc_name,                                                     \
      "GC keeps each stream (reclaim unit handle) in blocks of its own, or "   \
      "merges streams")                                                        \
    X(ENUM, uint32_t, buffer, "buffer.policy", 0, 0, "fifo", ssd_buffer_name,  \
      "replacement in the DRAM buffer; or so:FILE, a policy from outside",     \
      .common = true)                                                          \
    X(SIZE, uint64_t, buffer_bytes, "buffer.size", 4096, 1099511627776,        \
      "16MiB", NULL, "DRAM for data of the host; at least one NAND page",      \
      .common = true)                                                          \
    X(TIME, uint64_t, flush_interval_ps, "buffer.flush_interval", 0,           \
      3600000000000000, "0ns", NULL,                                           \
      "interval of a flush of all dirty units; 0: none", .running = true)      \
    X(BOOL, bool, plp, "buffer.plp", 0, 0, "off", NULL,                        \
      "power-loss protection: the buffer survives a power cut, so a flush "    \
      "does not wait, and no volatile cache is reported",                      \
      .common = true)                                                          \
    X(SIZE, uint64_t, atomic_bytes, "buffer.atomic", 0, 1073741824, "0", NULL, \
      "with buffer.plp: a write of up to this size enters the buffer as a "    \
      "whole, so that no power cut tears it; 0: unit by unit")                 \
    X(BOOL, bool, ignore_flush, "buffer.ignore_flush", 0, 0, "off", NULL,      \
      "a broken drive: flush and FUA complete, and nothing is durable; "       \
      "shows that a test notices (docs/power.md)")                             \
    X(TIME, uint64_t, t_buffer_ps, "buffer.access", 0, 1000000000, "500ns",    \
      NULL, "DRAM time of one mapping unit, whatever its size",                \
      .running = true)                                                         \
    X(SIZE, uint64_t, dram_word, "buffer.word", 1, 4096, "4", NULL,            \
      "bytes in a word of DRAM")                                               \
    X(TIME, uint64_t, t_dram_word_ps, "buffer.word_time", 0, 1000000, "0ns",   \
      NULL, "DRAM time of each word, on top of buffer.access")                 \
    X(U64, uint64_t, dram_mb_s, "buffer.mb_s", 0, 10000000, "0", NULL,         \
      "DRAM bandwidth for all host data, 10^6 bytes per second, in addition "  \
      "to buffer.access; 0: takes no time")                                    \
    X(BOOL, bool, dram_shared, "buffer.shared", 0, 0, "off", NULL,             \
      "buffer.mb_s also carries data that GC reads, translation pages, and "   \
      "all that is programmed")                                                \
    X(U32, uint32_t, map_bytes, "buffer.map_bytes", 0, 65536, "0", NULL,       \
      "bytes over buffer.mb_s to look up or change the map entry of a unit; "  \
      "0: none")                                                               \
    X(ENUM, uint32_t, free_at, "buffer.free_at", 0, 0, "program",              \
      ssd_free_at_name,                                                        \
      "when the slot of a dirty victim is free: after its program, or after "  \
      "its data has crossed the NAND bus")                                     \
    X(PPM, uint32_t, window_ppm, "buffer.window", 0, 1000000, "100%", NULL,    \
      "cflru, cflru-ef: least recently used share of the buffer in which "     \
      "clean units go first")                                                  \
    X(PPM, uint32_t, early_threshold_ppm, "buffer.early_threshold", 0,         \
      1000000, "80%", NULL,                                                    \
      "initial share of dirty units above which early flush starts")           \
    X(U32, uint32_t, early_adapt, "buffer.early_adapt", 0, 1000000000, "1000", \
      NULL,                                                                    \
      "host writes between two adjustments of buffer.early_threshold; 0: it "  \
      "is constant")                                                           \
    X(SIZE, uint64_t, group_bytes, "buffer.block", 0, 1099511627776, "0",      \
      NULL,                                                                    \
      "fab, bplru, clock-dnv: address range that is evicted together; 0: "     \
      "the size of an erase block")                                            \
    X(ENUM, uint32_t, complete_at, "host.complete_at", 0, 0, "buffer",         \
      ssd_complete_at_name,                                                    \
      "when a write completes: in the buffer, after its data has crossed "     \
      "the NAND bus, or programmed")                                           \
    X(U32, uint32_t, queue_depth, "host.queue_depth", 1, 65536, "1024", NULL,  \
      "host commands that the drive executes at a time")                       \
    X(STRING, char *, namespaces, "host.namespaces", 0, 0, NULL, NULL,         \
      "NVMe namespaces of a new drive, in the form of the property "           \
      "namespaces=, separated by /; that property takes precedence; "          \
      "empty: one namespace, which cannot be changed; vssd-sim ignores it")    \
    X(TIME, uint64_t, t_firmware_ps, "host.firmware", 0, 1000000000000, "3us", \
      NULL, "controller time of one command on one core", .common = true,      \
      .running = true)                                                         \
    X(TIME, uint64_t, t_unit_ps, "host.firmware_unit", 0, 1000000000000,       \
      "0ns", NULL,                                                             \
      "controller time of each mapping unit of a read or write, on top of "    \
      "host.firmware",                                                         \
      .running = true)                                                         \
    X(TIME, uint64_t, t_write_ps, "host.firmware_write", 0, 1000000000000,     \
      "0ns", NULL, "controller time of a write, on top of host.firmware",      \
      .running = true)                                                         \
    X(U32, uint32_t, most_iops, "host.max_iops", 0, 100000000, "0", NULL,      \
      "reads and writes that the controller starts in a second, at most, at "  \
      "even distances; 0: no limit")                                           \
    X(U32, uint32_t, most_write_iops, "host.max_write_iops", 0, 100000000,     \
      "0", NULL,                                                               \
      "of these, writes that leave the buffer for the array: as many as it "   \
      "holds start at once; 0: no limit of their own")                         \
    X(U32, uint32_t, most_write_mb_s, "host.max_write_mb_s", 0, 1000000, "0",  \
      NULL,                                                                    \
      "data of writes that the controller takes, 10^6 bytes per second; 0: "   \
      "no limit but the link's")                                               \
    X(TIME, uint64_t, t_map_miss_ps, "host.firmware_map_miss", 0,              \
      1000000000000, "0ns", NULL,                                              \
      "dftl: controller time of each read of a translation page that a "       \
      "command waits for")                                                     \
    X(TIME, uint64_t, t_complete_ps, "host.firmware_complete", 0,              \
      1000000000000, "0ns", NULL, "controller time of a completion")           \
    X(TIME, uint64_t, t_trim_ps, "host.firmware_trim", 0, 1000000000000,       \
      "0ns", NULL,                                                             \
      "controller time of a deallocated range, on top of host.firmware",       \
      .running = true)                                                         \
    X(TIME, uint64_t, t_trimmed_ps, "host.firmware_trim_unit", 0, 1000000000,  \
      "0ns", NULL,                                                             \
      "controller time of each unit of a deallocated range, mapped or not")    \
    X(TIME, uint64_t, t_flush_ps, "host.firmware_flush", 0, 1000000000000,     \
      "0ns", NULL, "controller time of a flush, on top of host.firmware",      \
      .running = true)                                                         \
    X(U32, uint32_t, cores, "host.cores", 0, 64, "0", NULL,                    \
      "controller cores, each with one command at a time; 0: no command "      \
      "waits for a core",                                                      \
      .common = true)                                                          \
    X(SIZE, uint64_t, read_ahead, "host.read_ahead", 0, 16777216, "0", NULL,   \
      "bytes that the drive reads ahead of each stream of reads, into DRAM "   \
      "beside the buffer; 0: none",                                            \
      .common = true)                                                          \
    X(U32, uint32_t, read_streams, "host.read_streams", 1, 64, "8", NULL,      \
      "streams of reads that host.read_ahead tells apart")                     \
    X(U32, uint32_t, read_ahead_after, "host.read_ahead_after", 1, 1000, "2",  \
      NULL, "reads in order after which a stream is read ahead")               \
    X(U32, uint32_t, pcie_gen, "host.pcie_gen", 0, 6, "0", NULL,               \
      "PCIe generation; with host.pcie_lanes it gives the link's rate, after " \
      "encoding; 0: host.link_mb_s gives it",                                  \
      .then = rate_by_generation, .common = true)                              \
    X(U32, uint32_t, pcie_lanes, "host.pcie_lanes", 1, 16, "4", NULL,          \
      "PCIe lanes", .common = true)                                            \
    X(U32, uint32_t, pcie_mps, "host.pcie_mps", 0, 4096, "0", NULL,            \
      "PCIe maximum payload size, a power of two from 128: packets of data "   \
      "have headers; 0: no headers are counted")                               \
    X(U32, uint32_t, pcie_mrrs, "host.pcie_mrrs", 128, 4096, "512", NULL,      \
      "PCIe maximum read request size, a power of two")                        \
    X(U32, uint32_t, pcie_rcb, "host.pcie_rcb", 0, 128, "0", NULL,             \
      "the host answers a read in packets of this size, 64 or 128 (read "      \
      "completion boundary); 0: of host.pcie_mps")                             \
    X(PPM, uint32_t, pcie_dllp_ppm, "host.pcie_dllp", 0, 500000, "0%", NULL,   \
      "share of the PCIe link that acknowledgements, flow control and skip "   \
      "ordered sets take")                                                     \
    X(TIME, uint64_t, t_round_trip_ps, "host.pcie_round_trip", 0, 1000000000,  \
      "0ns", NULL, "latency of a read of host memory, beyond its packets")     \
    X(BOOL, bool, pcie_nvme, "host.pcie_nvme", 0, 0, "off", NULL,              \
      "doorbells, queue entries, PRP lists and interrupts cross the link, "    \
      "too; needs host.pcie_mps")                                              \
    X(U64, uint64_t, link_mb_s, "host.link_mb_s", 0, 1000000, "3500", NULL,    \
      "host link, 10^6 bytes per second each way; 0: takes no time, "          \
      "or host.pcie_gen gives it",                                             \
      .then = rate_by_number)                                                  \
    X(U32, uint32_t, ambient_c, "thermal.ambient", 0, 100, "25", NULL,         \
      "temperature around the drive, in degrees Celsius")                      \
    X(DOUBLE, double, resistance, "thermal.resistance", 0, 1000, "0", NULL,    \
      "K/W from the drive to the ambient; 0: the temperature is not "          \
      "modelled (docs/thermal.md)")                                            \
    X(DOUBLE, double, capacitance, "thermal.capacitance", 0, 10000, "20",      \
      NULL, "J/K that warm the drive")                                         \
    X(U32, uint32_t, warning_c, "thermal.warning", 1, 200, "70", NULL,         \
      "composite temperature of the first warning, in degrees Celsius")        \
    X(U32, uint32_t, critical_c, "thermal.critical", 1, 200, "80", NULL,       \
      "critical composite temperature, in degrees Celsius")                    \
    X(U32, uint32_t, throttle1_c, "thermal.throttle_1", 0, 200, "0", NULL,     \
      "the drive slows down by thermal.slow_1 at this temperature; 0: never")  \
    X(U32, uint32_t, throttle2_c, "thermal.throttle_2", 0, 200, "0", NULL,     \
      "and by thermal.slow_2 at this one; 0: never")                           \
    X(PPM, uint32_t, slow1_ppm, "thermal.slow_1", 0, 999000, "50%", NULL,      \
      "share of the link's rate that the first step of throttling takes away") \
    X(PPM, uint32_t, slow2_ppm, "thermal.slow_2", 0, 999000, "90%", NULL,      \
      "share of the link's rate that the second step takes away")              \
    X(U32, uint32_t, hysteresis_c, "thermal.hysteresis", 0, 50, "3", NULL,     \
      "a step of throttling ends so many degrees below where it began")        \
    X(U32, uint32_t, active_mw, "power.active", 0, 100000, "0", NULL,          \
      "mW of controller and DRAM while a command runs; the array's energy is " \
      "in addition (nand.energy_...)")                                         \
    X(U32, uint32_t, idle_mw, "power.idle", 0, 100000, "0", NULL,              \
      "mW of controller and DRAM while no command runs, in a power state "     \
      "that "                                                                  \
      "takes commands")                                                        \
    X(STRING, char *, power_states, "power.states", 0, 0, NULL, NULL,          \
      "power states, mW:entry_us:exit_us or mW:entry_us:exit_us:idle each, "   \
      "with / between; empty: one that nothing depends on",                    \
      .check = power_states_ok)                                                \
    X(TIME, uint64_t, idle_after_ps, "power.idle_after", 0, 3600000000000000,  \
      "0ns", NULL,                                                             \
      "the drive enters its next idle power state after this time without a "  \
      "command, unless the host says otherwise; 0: never")

#endif
