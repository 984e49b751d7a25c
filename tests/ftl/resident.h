/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resident.h - large drives, and the memory that they take of this process. */
#ifndef VSSD_TESTS_FTL_RESIDENT_H
#define VSSD_TESTS_FTL_RESIDENT_H

#include <stdio.h>
#include <unistd.h>

#include "ref.h"

#define MIB (1ULL << 20)
#define GIB (1ULL << 30)

static inline uint64_t resident_bytes(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long long total, resident;

    g_assert_nonnull(f);
    g_assert_cmpint(fscanf(f, "%llu %llu", &total, &resident), ==, 2);
    fclose(f);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static inline Ssd *drive(const char *options)
{
    return ref_drive(ref_config(options));
}

#endif
