/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-options.h - the options of the array, one row each.
 *
 * X(type, ctype, field, key, min, max, default, names, help); see options.h.
 */
#ifndef VSSD_NAND_OPTIONS_H
#define VSSD_NAND_OPTIONS_H

#include <stdint.h>

#include "simtime.h"

#define NAND_OPTIONS(X)                                                        \
    X(U32, uint32_t, channels, "nand.channels", 1, 64, "8", NULL,              \
      "channels, each a bus of its own")                                       \
    X(U32, uint32_t, chips, "nand.chips", 1, 64, "2", NULL,                    \
      "chips (ways) per channel")                                              \
    X(U32, uint32_t, dies, "nand.dies", 1, 64, "2", NULL,                      \
      "dies (LUNs) per chip; each does one array operation at a time")         \
    X(U32, uint32_t, planes, "nand.planes", 1, 16, "2", NULL,                  \
      "planes per die")                                                        \
    X(U32, uint32_t, blocks, "nand.blocks", 16, 1048576, "256", NULL,           \
      "blocks per plane")                                                      \
    X(U32, uint32_t, pages, "nand.pages", 4, 16384, "256", NULL,               \
      "pages per block")                                                       \
    X(SIZE, uint64_t, page_bytes, "nand.page_size", 512, 262144, "16KiB",      \
      NULL, "user bytes per page, a power of two")                             \
    X(TIME, uint64_t, t_read_ps, "nand.read", 0, 10000000000, "45us", NULL,    \
      "tR: array to page register")                                            \
    X(TIME, uint64_t, t_prog_ps, "nand.program", 0, 100000000000, "660us",     \
      NULL, "tPROG: page register to array")                                   \
    X(TIME, uint64_t, t_erase_ps, "nand.erase", 0, 1000000000000, "3500us",    \
      NULL, "tBERS: block erase")                                              \
    X(TIME, uint64_t, t_cmd_ps, "nand.command", 0, 1000000000, "200ns", NULL,  \
      "command and address cycles of one operation on the bus")                \
    X(TIME, uint64_t, bus_ps_per_byte, "nand.bus_ns_per_byte", 0, 1000000,     \
      NULL, NULL, "bus time per byte; 0: a bus that takes no time")            \
    X(U32, uint32_t, bus_mt_s, "nand.bus_mt_s", 0, 10000, "800", NULL,         \
      "mega-transfers per second of an 8-bit bus; 0: nand.bus_ns_per_byte "    \
      "says it")

#endif
