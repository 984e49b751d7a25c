/* SPDX-License-Identifier: GPL-2.0-or-later */
/* setup-memory.c - does a filled drive fit into the memory of this machine? */
#include "setup-memory.h"
#include "options.h"

#include <string.h>

#define MEMINFO      "/proc/meminfo"
#define OF_THE_GROUP "/sys/fs/cgroup/memory.max" /* of a container */
#define FIELD        "MemAvailable:"
#define GIB          ((double)(1ULL << 30))
#define TIB          ((double)(1ULL << 40))
#define LEAST        (GIB / 16) /* less than this is there */

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

/* Bytes that a new process may touch without swap, by the kernel's estimate
 * and the limit of the control group; UINT64_MAX: nothing says so. */
static uint64_t available(void)
{
    return MIN(number_in(MEMINFO, FIELD, 1024), number_in(OF_THE_GROUP, "", 1));
}

bool setup_memory_suffices(const SsdInfo *info, uint64_t nblocks,
                           uint64_t bytes, const char *what,
                           const char *way_out, GError **error)
{
    double share = (double)nblocks / (double)info->nblocks;
    double need = share * (double)bytes;
    uint64_t free_bytes = need < LEAST ? UINT64_MAX : available();

    return need <= (double)free_bytes ||
           opt_fail(error, OPT_ERROR_COMBINATION,
                    "%s: %s of %.4g TiB needs %.1f GiB of memory, of which "
                    "%.1f GiB are free: %s",
                    what, nblocks < info->nblocks ? "data" : "a full drive",
                    (double)nblocks * (double)info->block_bytes / TIB,
                    need / GIB, (double)free_bytes / GIB, way_out);
}
