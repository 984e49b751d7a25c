/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * presets.c - workloads that papers describe.
 *
 * S. Zertal, "A Data Layout Strategy to Enhance the Internal SSD Parallelism",
 * IJAEE 5(1), 2015, section IV: OLTP, and five scientific traces of which Table
 * I gives ratio and pattern.  The paper says of their sizes that all from 1 KiB
 * to 2 MiB occur, and nothing of their rates: shares and rate are ours.
 */
#include "presets.h"

#include <stddef.h>

#define NONE_KEYWORDS ""

#define ZERTAL "number_ios=250000 rate_process=poisson "

#define SCIENTIFIC                                                             \
    ZERTAL "rate_iops=100 "                                                    \
           "bssplit=1k/25:2k/20:4k/20:8k/10:16k/8:32k/5:64k/4:128k/3:256k/2:"  \
           "512k/1:1m/1:2m/1 "

const Preset presets[] = {
    {"none", "no preset", NONE_KEYWORDS},
    {"oltp", "67 % reads of 4 KiB, random, 1600 a second (Zertal 2015)",
     ZERTAL "rw=randrw rwmixread=67 bs=4k rate_iops=1600"},
    {"s1", "scientific: 51 % reads, sequential, 1 KiB to 2 MiB (Zertal 2015)",
     SCIENTIFIC "rw=rw rwmixread=51"},
    {"s2", "scientific: 50 % reads, sequential", SCIENTIFIC
     "rw=rw rwmixread=50"},
    {"s3", "scientific: 14 % reads, random", SCIENTIFIC
     "rw=randrw rwmixread=14"},
    {"s4", "scientific: 67 % reads, random", SCIENTIFIC
     "rw=randrw rwmixread=67"},
    {"s5", "scientific: writes, random", SCIENTIFIC "rw=randwrite"},
    {NULL, NULL, NULL},
};

const char *preset_name(unsigned i)
{
    return i < sizeof(presets) / sizeof(presets[0]) ? presets[i].name : NULL;
}
