/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout.c - prints the sizes of vssd.h's structs and the places of their
 * members, for lib/libvssd.abi. */
#include <stddef.h>
#include <stdio.h>
#include <vssd.h>

#define STRUCT(type) printf("%s %zu\n", #type, sizeof(type));
#define MEMBER(type, m)                                                        \
    printf("%s.%s %zu %zu\n", #type, #m, offsetof(type, m),                    \
           sizeof(((type *)0)->m));
#define CONSTANT(name) printf("%s %llu\n", #name, (unsigned long long)(name));

int main(void)
{
    CONSTANT(VSSD_TIME_MAX)
    CONSTANT(VSSD_TIME_NEVER)
    CONSTANT(VSSD_KEEP_VERSIONS)
    CONSTANT(VSSD_SHUTDOWN)
    CONSTANT(VSSD_FUA)
    CONSTANT(VSSD_POWER_LOSS)
    CONSTANT(VSSD_N_COSTS)
    CONSTANT(VSSD_COMPLETION_SHORT)
    STRUCT(VssdSetup)
    MEMBER(VssdSetup, size)
    MEMBER(VssdSetup, profile)
    MEMBER(VssdSetup, options)
    MEMBER(VssdSetup, seed)
    MEMBER(VssdSetup, block_bytes)
    MEMBER(VssdSetup, flags)
    MEMBER(VssdSetup, policy)
    MEMBER(VssdSetup, n_policies)
    STRUCT(VssdInfo)
    MEMBER(VssdInfo, size)
    MEMBER(VssdInfo, nblocks)
    MEMBER(VssdInfo, raw_bytes)
    MEMBER(VssdInfo, page_bytes)
    MEMBER(VssdInfo, erase_bytes)
    MEMBER(VssdInfo, reclaim_bytes)
    MEMBER(VssdInfo, memory_bytes)
    MEMBER(VssdInfo, block_bytes)
    MEMBER(VssdInfo, unit_bytes)
    MEMBER(VssdInfo, streams)
    MEMBER(VssdInfo, queue_depth)
    MEMBER(VssdInfo, zone_blocks)
    STRUCT(VssdRequest)
    MEMBER(VssdRequest, time_ns)
    MEMBER(VssdRequest, lba)
    MEMBER(VssdRequest, nblocks)
    MEMBER(VssdRequest, stream)
    MEMBER(VssdRequest, op)
    MEMBER(VssdRequest, flags)
    STRUCT(VssdCompletion)
    MEMBER(VssdCompletion, tag)
    MEMBER(VssdCompletion, submit_ns)
    MEMBER(VssdCompletion, complete_ns)
    MEMBER(VssdCompletion, bad_lba)
    MEMBER(VssdCompletion, status)
    MEMBER(VssdCompletion, reserved)
    MEMBER(VssdCompletion, cost_ns)
    CONSTANT(VSSD_ZONE_CLOSE)
    CONSTANT(VSSD_ZONE_IS_FULL)
    STRUCT(VssdZone)
    MEMBER(VssdZone, start)
    MEMBER(VssdZone, written)
    MEMBER(VssdZone, state)
    MEMBER(VssdZone, reserved)
    return 0;
}
