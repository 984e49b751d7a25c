/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory.c - does a filled drive fit into the memory of this machine? */
#include "memory.h"

#include <string.h>

#include "player.h"

#define MEMINFO      "/proc/meminfo"
#define OF_THE_GROUP "/sys/fs/cgroup/memory.max" /* of a container */
#define FIELD        "MemAvailable:"
#define GIB          ((double)(1ULL << 30))
#define TIB          ((double)(1ULL << 40))

/* A number behind the text; UINT64_MAX: there is none, as in "max". */
static uint64_t number_in(const char *path, const char *behind, uint64_t unit)
{
    g_autofree char *text = NULL;
    const char *at;
    uint64_t n;

    if (!g_file_get_contents(path, &text, NULL, NULL)) {
        return UINT64_MAX;
    }
    at = strstr(text, behind);
    if (!at) {
        return UINT64_MAX;
    }
    at += strlen(behind);
    at += strspn(at, " ");
    if (!g_ascii_isdigit(*at)) {
        return UINT64_MAX;
    }
    n = g_ascii_strtoull(at, NULL, 10);
    return n > UINT64_MAX / unit ? UINT64_MAX : n * unit;
}

uint64_t memory_available(void)
{
    return MIN(number_in(MEMINFO, FIELD, 1024), number_in(OF_THE_GROUP, "", 1));
}

bool memory_suffices(const SsdInfo *info, uint64_t available, const char *what,
                     GError **error)
{
    if (info->memory_bytes <= available) {
        return true;
    }
    g_set_error(error, SIM_ERROR, SIM_ERROR_DRIVE,
                "%s: a full drive of %.4g TiB needs %.1f GiB of memory, of "
                "which %.1f GiB are free: give --fill=none, or a smaller drive "
                "with fewer nand.blocks",
                what, (double)info->nblocks * (double)info->block_bytes / TIB,
                (double)info->memory_bytes / GIB, (double)available / GIB);
    return false;
}
