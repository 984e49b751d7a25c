/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-options.h - the options of the array, one row each.
 *
 * X(type, ctype, field, key, min, max, default, names, help), and .then; see
 * options.h.
 */
#ifndef VSSD_NAND_OPTIONS_H
#define VSSD_NAND_OPTIONS_H

#include <stdint.h>

#include "simtime.h"

#define NAND_OPTIONS(X)                                                        \
    X(U32, uint32_t, channels, "nand.channels", 1, 64, "8", NULL,              \
      "channels, each a bus of its own", .common = true)                       \
    X(U32, uint32_t, chips, "nand.chips", 1, 64, "2", NULL,                    \
      "chips (ways) per channel", .common = true)                              \
    X(U32, uint32_t, dies, "nand.dies", 1, 64, "2", NULL,                      \
      "dies (LUNs) per chip", .common = true)                                  \
    X(U32, uint32_t, planes, "nand.planes", 1, 16, "2", NULL,                  \
      "planes per die", .common = true)                                        \
    X(U32, uint32_t, blocks, "nand.blocks", 16, 1048576, "256", NULL,          \
      "blocks per plane", .common = true)                                      \
    X(U32, uint32_t, pages, "nand.pages", 4, 16384, "256", NULL,               \
      "pages per block", .common = true)                                       \
    X(SIZE, uint64_t, page_bytes, "nand.page_size", 512, 262144, "16KiB",      \
      NULL, "user bytes per page, a power of two", .common = true)             \
    X(ENUM, uint32_t, cell, "nand.cell", 0, 0, "slc", nand_cell_name,          \
      "bits per cell: a word line holds 1, 2, 3 or 4 pages, and page p of a "  \
      "block has type p modulo that number",                                   \
      .common = true)                                                          \
    X(TIME, uint64_t, t_read_ps, "nand.read", 0, 10000000000, "45us", NULL,    \
      "tR: array to page register; sets it for every page type",               \
      .then = one_read_time, .common = true)                                   \
    X(TIME, uint64_t, t_read2_ps, "nand.read_2", 0, 10000000000, NULL, NULL,   \
      "tR of the second page of a word line (MSB of MLC, CSB of TLC)")         \
    X(TIME, uint64_t, t_read3_ps, "nand.read_3", 0, 10000000000, NULL, NULL,   \
      "tR of the third page of a word line (MSB of TLC)")                      \
    X(TIME, uint64_t, t_read4_ps, "nand.read_4", 0, 10000000000, NULL, NULL,   \
      "tR of the fourth page of a word line (MSB of QLC)")                     \
    X(TIME, uint64_t, t_prog_ps, "nand.program", 0, 100000000000, "660us",     \
      NULL, "tPROG: page register to array; sets it for every page type",      \
      .then = one_program_time, .common = true)                                \
    X(TIME, uint64_t, t_prog2_ps, "nand.program_2", 0, 100000000000, NULL,     \
      NULL, "tPROG of the second page of a word line")                         \
    X(TIME, uint64_t, t_prog3_ps, "nand.program_3", 0, 100000000000, NULL,     \
      NULL, "tPROG of the third page of a word line")                          \
    X(TIME, uint64_t, t_prog4_ps, "nand.program_4", 0, 100000000000, NULL,     \
      NULL, "tPROG of the fourth page of a word line")                         \
    X(U32, uint32_t, slc_blocks, "nand.slc_blocks", 0, 65536, "0", NULL,       \
      "blocks per plane in SLC mode, a write cache in addition to the "        \
      "capacity; they have the pages of one page type")                        \
    X(TIME, uint64_t, t_slc_read_ps, "nand.slc_read", 0, 10000000000, "25us",  \
      NULL, "tR of a block in SLC mode")                                       \
    X(TIME, uint64_t, t_slc_prog_ps, "nand.slc_program", 0, 100000000000,      \
      "200us", NULL, "tPROG of a block in SLC mode")                           \
    X(TIME, uint64_t, t_erase_ps, "nand.erase", 0, 1000000000000, "3500us",    \
      NULL, "tBERS: block erase", .then = one_erase_time, .common = true)      \
    X(TIME, uint64_t, t_slc_erase_ps, "nand.slc_erase", 0, 1000000000000,      \
      NULL, NULL, "tBERS of a block in SLC mode; nand.erase sets it, too")     \
    X(PPM, uint32_t, program_wear_ppm, "nand.program_wear", 0, 900000, "0%",   \
      NULL,                                                                    \
      "by how much tPROG is shorter at media.rated_cycles, linear in "         \
      "program/erase cycles, and no shorter beyond")                           \
    X(PPM, uint32_t, erase_wear_ppm, "nand.erase_wear", 0, 10000000, "0%",     \
      NULL, "by how much tBERS is longer at media.rated_cycles, likewise")     \
    X(ENUM, uint32_t, interface, "nand.interface", 0, 0, "simple",             \
      nand_interface_name,                                                     \
      "simple: nand.command and a time per byte; else ONFI cycles, and "       \
      "setting it sets nand.bus_mt_s, too",                                    \
      .then = load_timing)                                                     \
    X(TIME, uint64_t, t_cmd_ps, "nand.command", 0, 1000000000, "200ns", NULL,  \
      "simple: command and address cycles of one operation on the bus")        \
    X(TIME, uint64_t, bus_ps_per_byte, "nand.bus_ns_per_byte", 0, 1000000,     \
      NULL, NULL, "bus time per byte; 0: a bus that takes no time",            \
      .then = rate_by_time)                                                    \
    X(U32, uint32_t, bus_mt_s, "nand.bus_mt_s", 0, 10000, "800", NULL,         \
      "mega-transfers per second; 0: nand.bus_ns_per_byte gives the rate",     \
      .then = rate_by_transfers, .common = true)                               \
    X(U32, uint32_t, bus_width, "nand.bus_width", 8, 16, "8", NULL,            \
      "bits per transfer, 8 or 16")                                            \
    X(BOOL, bool, status_poll, "nand.status_poll", 0, 0, "off", NULL,          \
      "a status read on the bus ends each array operation (ONFI cycles)")      \
    X(TIME, uint64_t, t_ecc_ps, "nand.ecc_decode", 0, 1000000000, "0ns", NULL, \
      "the channel's decoder takes this long for a codeword")                  \
    X(SIZE, uint64_t, codeword_bytes, "nand.ecc_codeword", 512, 16384, "2KiB", \
      NULL, "user bytes per codeword, a power of two up to a page")            \
    X(ENUM, uint32_t, lock, "nand.lock", 0, 0, "die", nand_lock_name,          \
      "unit of execution: the part of the array that runs one operation at "   \
      "a time")                                                                \
    X(BOOL, bool, multi_plane, "nand.multi_plane", 0, 0, "off", NULL,          \
      "waiting operations of one kind on different planes of a die run as "    \
      "one "                                                                   \
      "multi-plane command, if at the same page of their blocks")              \
    X(BOOL, bool, composite, "nand.composite", 0, 0, "off", NULL,              \
      "waiting programs, or erases, on different dies of a chip run as one "   \
      "command (SSDSim's interleave); needs nand.lock=chip")                   \
    X(BOOL, bool, gc_hold, "nand.gc_hold", 0, 0, "off", NULL,                  \
      "GC of a block is not interrupted: until it ends, nothing else begins "  \
      "on its channel (SSDSim); needs nand.lock=chip and "                     \
      "superblock.width=plane")                                                \
    X(BOOL, bool, independent_reads, "nand.independent_reads", 0, 0, "off",    \
      NULL, "multi-plane reads need not be of the same page")                  \
    X(BOOL, bool, async_reads, "nand.async_reads", 0, 0, "off", NULL,          \
      "reads of the planes of a die start and end independently of each "      \
      "other "                                                                 \
      "while the die neither programs nor erases")                             \
    X(BOOL, bool, one_shot, "nand.one_shot", 0, 0, "off", NULL,                \
      "all pages of a word line are programmed at once, in nand.program")      \
    X(BOOL, bool, copyback, "nand.copyback", 0, 0, "off", NULL,                \
      "GC moves fully valid pages inside a plane, without the bus")            \
    X(BOOL, bool, cache_read, "nand.cache_read", 0, 0, "off", NULL,            \
      "the next read runs in the array while data leaves the cache register")  \
    X(BOOL, bool, cache_program, "nand.cache_program", 0, 0, "off", NULL,      \
      "the next program's data is loaded while the array programs")            \
    X(BOOL, bool, register_hits, "nand.register_hits", 0, 0, "off", NULL,      \
      "a read of the page that its plane has read last takes no tR")           \
    X(U32, uint32_t, registers, "nand.registers", 1, 2, "2", NULL,             \
      "registers per plane; cache operations need 2")                          \
    X(ENUM, uint32_t, sched, "nand.schedule", 0, 0, "fifo", nand_sched_name,   \
      "which waiting operation a die takes next")                              \
    X(ENUM, uint32_t, arbitration, "nand.arbitration", 0, 0, "phase",          \
      nand_arbitration_name,                                                   \
      "order of a channel: phase by phase, or the data of all planes of a "    \
      "multi-plane read together, so that dies get out of step")               \
    X(TIME, uint64_t, write_deadline_ps, "nand.write_deadline", 0,             \
      1000000000000, "10ms", NULL,                                             \
      "read-first-deadline: a write that has waited longer goes first",        \
      .running = true)                                                         \
    X(ENUM, uint32_t, suspend, "nand.suspend", 0, 0, "off", nand_suspend_name, \
      "operations that a waiting read may suspend", .common = true,            \
      .running = true)                                                         \
    X(U32, uint32_t, suspend_limit, "nand.suspend_limit", 1, 1000, "4", NULL,  \
      "maximum number of suspensions of one operation", .running = true)       \
    X(TIME, uint64_t, t_suspend_ps, "nand.suspend_time", 0, 1000000000,        \
      "20us", NULL, "tESPD, tPSPD: suspend command to ready", .running = true) \
    X(TIME, uint64_t, t_resume_ps, "nand.resume_time", 0, 1000000000, "10us",  \
      NULL, "extra array time after each resume", .running = true)             \
    X(TIME, uint64_t, t_min_run_ps, "nand.suspend_min_run", 0, 10000000000,    \
      "50us", NULL, "an operation runs at least this long between suspends",   \
      .running = true)                                                         \
    X(U64, uint64_t, energy_read_nj, "nand.energy_read", 0, 1000000000, "0",   \
      NULL, "nJ of one page read in the array")                                \
    X(U64, uint64_t, energy_program_nj, "nand.energy_program", 0, 1000000000,  \
      "0", NULL, "nJ of one page programmed in the array")                     \
    X(U64, uint64_t, energy_erase_nj, "nand.energy_erase", 0, 1000000000, "0", \
      NULL, "nJ of one block erased")                                          \
    X(U64, uint64_t, energy_bus_pj, "nand.energy_bus", 0, 1000000, "0", NULL,  \
      "pJ of one byte of data over a channel")                                 \
    X(U32, uint32_t, history, "nand.history", 0, 1048576, "0", NULL,           \
      "past operations that a broken rule of the medium prints; 0: none")

const char *nand_cell_name(unsigned i);
const char *nand_interface_name(unsigned i);
const char *nand_lock_name(unsigned i);
const char *nand_sched_name(unsigned i);
const char *nand_arbitration_name(unsigned i);
const char *nand_suspend_name(unsigned i);

#endif
